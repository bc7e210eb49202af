"""What a Dask worker runs, in the copy of this program that the client sent."""

import os
import shutil
import tempfile
import threading

from . import command
from .ranges import Step
from .tasks import Task


STOPS = {}  # of what runs, by the key of its future


def execute(step, tool, files, key):
    """The result of a step (`command.run`). `files`: contents by absolute path, used where they are not there or differ."""
    tool, task = command.Tool(**tool), Task(**step["task"])
    step = Step(**step | {"task": task})
    if not tool.template:
        tool.proviso = find(tool.proviso, tool.build)
    STOPS[key] = stop = threading.Event()
    try:
        if all(same(path, content) for path, content in files.items()):
            return command.run(step, tool, stop)
        with tempfile.TemporaryDirectory(prefix="proviso-files-") as root:
            for path, content in files.items():
                os.makedirs(os.path.dirname(root + path), exist_ok=True)
                with open(root + path, "wb") as file:
                    file.write(content)
            task.files = [root + path for path in map(str, task.files)]
            task.property_file = task.property_file and root + str(task.property_file)
            return without(root, command.run(step, tool, stop))
    finally:
        del STOPS[key]


def stop(keys):
    """Ends what runs here under these keys: nobody needs it any more."""
    for key in keys:
        if key in STOPS:
            STOPS[key].set()


def same(path, content):
    try:
        with open(path, "rb") as file:
            return file.read() == content
    except OSError:
        return False


def find(proviso, build):
    """The command of this machine: under the same name, that of $PROVISO, or on the PATH. Results of other builds would be wrong in the file,
    and their ranges would not be the same."""
    candidates = [proviso, os.environ.get("PROVISO"), shutil.which("proviso")]
    found = [path for path in candidates if path and os.access(path, os.X_OK)]
    for path in found:
        if command.build_of(path) == build:
            return path
    if found:
        raise FileNotFoundError(f"{', '.join(found)} of this worker is another build than {proviso} of the batch")
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
