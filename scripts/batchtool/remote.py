"""What a Dask worker runs. It comes to the worker by value, and brings the rest of this program along: a worker needs Python, Dask
and proviso only."""

import hashlib
import importlib
import os
import sys
import tempfile


def execute(program, digest, task, tool, files):
    """The result of a task (`command.run`). `files`: contents by absolute path, used where they are not there or differ."""
    command, tasks = load(program, digest)
    tool, task = command.Tool(**tool), tasks.Task(**task)
    if not tool.template:
        tool.proviso = find(tool.proviso)
    with tempfile.TemporaryDirectory(prefix="proviso-files-") as root:
        if not all(same(path, content) for path, content in files.items()):
            for path, content in files.items():
                os.makedirs(os.path.dirname(root + path), exist_ok=True)
                with open(root + path, "wb") as file:
                    file.write(content)
            task.files = [root + path for path in map(str, task.files)]
            task.property_file = task.property_file and root + str(task.property_file)
        else:
            root = ""
        result = command.run(task, tool)
        return without(root, result) if root else result


def load(program, digest):
    """The modules `command` and `tasks` of this version of the program."""
    found = sys.modules.get("batchtool")
    archive = os.path.join(tempfile.gettempdir(), f"batchtool-{os.getuid()}-{digest}.zip")
    if found is None or getattr(found, "digest", digest) != digest:
        if not same(archive, program):
            new = f"{archive}.{os.getpid()}"
            with open(new, "wb") as file:
                file.write(program)
            os.replace(new, archive)
        for name in [name for name in sys.modules if name.partition(".")[0] == "batchtool"]:
            del sys.modules[name]
        sys.path.insert(0, archive)
        importlib.import_module("batchtool").digest = digest
    return importlib.import_module("batchtool.command"), importlib.import_module("batchtool.tasks")


def same(path, content):
    try:
        with open(path, "rb") as file:
            return file.read() == content
    except OSError:
        return False


def find(proviso):
    """The command of this machine: under the same name, that of $PROVISO, or on the PATH."""
    import shutil

    for path in (proviso, os.environ.get("PROVISO"), shutil.which("proviso")):
        if path and os.access(path, os.X_OK):
            return path
    raise FileNotFoundError(f"there is no {proviso} on this worker, $PROVISO is not set, and no proviso is on its PATH")


def without(root, value):
    """The result with the names of files as they were given."""
    if isinstance(value, str):
        return value.replace(root, "")
    if isinstance(value, dict):
        return {key: without(root, inner) for key, inner in value.items()}
    return [without(root, inner) for inner in value] if isinstance(value, list) else value


def keep(content):
    """Data as a future of its own: it goes to a worker once, and is made again where all that had it are gone."""
    return content


def digest_of(content):
    return hashlib.sha256(content).hexdigest()[:16]
