"""What a Dask worker runs, in the copy of this program that the client sent."""

import os
import shutil
import tempfile

from . import command
from .tasks import Task


def execute(task, tool, files):
    """The result of a task (`command.run`). `files`: contents by absolute path, used where they are not there or differ."""
    tool, task = command.Tool(**tool), Task(**task)
    if not tool.template:
        tool.proviso = find(tool.proviso)
    if all(same(path, content) for path, content in files.items()):
        return command.run(task, tool)
    with tempfile.TemporaryDirectory(prefix="proviso-files-") as root:
        for path, content in files.items():
            os.makedirs(os.path.dirname(root + path), exist_ok=True)
            with open(root + path, "wb") as file:
                file.write(content)
        task.files = [root + path for path in map(str, task.files)]
        task.property_file = task.property_file and root + str(task.property_file)
        return without(root, command.run(task, tool))


def same(path, content):
    try:
        with open(path, "rb") as file:
            return file.read() == content
    except OSError:
        return False


def find(proviso):
    """The command of this machine: under the same name, that of $PROVISO, or on the PATH."""
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
