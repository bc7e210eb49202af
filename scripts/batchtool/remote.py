"""What a Dask worker runs, in the copy of this program that the client sent."""

import os
import shutil
import tempfile
import threading
import time

from . import command
from .ranges import Step
from .tasks import Task


BUDGET = 0.5  # seconds for steps that share a future
STOPS = {}  # of what runs, by the key of its future


def execute(steps, tool, files, key):
    """The results of steps (`command.run`), in their order; of the first ones, where there was no time for all. `files`: contents by absolute
    path, used where they are not there or differ."""
    tool, results, start = command.Tool(**tool), [], time.monotonic()
    if not tool.template:
        tool.proviso = find(tool.proviso, tool.build)
    STOPS[key] = stop = threading.Event()
    try:
        with Files(files, tool.folder) as root:
            # What is said of files is said as it would be there.
            tool.folder = root + tool.folder
            while len(results) < len(steps) and (not results or time.monotonic() < start + BUDGET):
                results.append(run(steps[len(results)], tool, stop, root))
        return results
    finally:
        del STOPS[key]


def run(step, tool, stop, root):
    step = Step(**step | {"task": Task(**step["task"])})
    if not root:
        return command.run(step, tool, stop)
    step.task.files = [root + path for path in map(str, step.task.files)]
    step.task.property_file = step.task.property_file and root + str(step.task.property_file)
    return without(root, command.run(step, tool, stop))


class Files:
    """What a context stands for is the folder below which the files lie and the working folder, "" where they are in their places."""

    def __init__(self, files, working):
        self.files, self.working, self.folder = files, working, None

    def __enter__(self):
        if all(same(path, content) for path, content in self.files.items()):
            return ""
        self.folder = tempfile.TemporaryDirectory(prefix="proviso-files-")
        root = self.folder.name
        os.makedirs(root + self.working, exist_ok=True)
        for path, content in self.files.items():
            os.makedirs(os.path.dirname(root + path), exist_ok=True)
            with open(root + path, "wb") as file:
                file.write(content)
        return root

    def __exit__(self, *_):
        if self.folder:
            self.folder.cleanup()


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
