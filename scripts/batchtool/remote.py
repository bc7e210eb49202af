"""The functions that a Dask worker calls, in the copy of this program that the client sent."""

import os
import shutil
import tempfile
import threading
import time

from . import command
from .ranges import Step
from .tasks import Task


BUDGET = 0.5  # seconds for the steps in one future
STOPS = {}  # the stop events of running futures, by key


def execute(steps, tool, files, key):
    """Returns the results of the steps (`command.run`) in their order. If the time did not suffice, the last steps have no results.
    `files`: contents by absolute path, used if a file is missing or differs on this machine."""
    tool, results, start = command.Tool(**tool), [], time.monotonic()
    if not tool.template:
        tool.proviso = find(tool.proviso, tool.build)
    STOPS[key] = stop = threading.Event()
    try:
        with Files(files, tool.folder) as root:
            # The working folder is the same relative to the files, so that messages contain the same file names.
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
    """A context manager that returns the folder below which the files and the working folder lie, or "" if all files of this
    machine have the expected contents."""

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
    """Stops the running steps of the futures with these keys, because their results are not needed."""
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
    """Returns the path of proviso on this machine: the same path, $PROVISO, or proviso on the PATH. It must be the same build as that
    of the batch: one file must not contain results of different builds, and other builds may divide tasks into other ranges."""
    candidates = [proviso, os.environ.get("PROVISO"), shutil.which("proviso")]
    found = [path for path in candidates if path and os.access(path, os.X_OK)]
    for path in found:
        if command.build_of(path) == build:
            return path
    if found:
        raise FileNotFoundError(f"{', '.join(found)} of this worker is another build than {proviso} of the batch")
    raise FileNotFoundError(f"this worker has no file {proviso}, no $PROVISO and no proviso on its PATH")


def without(root, value):
    """Returns the result with the original file names."""
    if isinstance(value, str):
        return value.replace(root, "")
    if isinstance(value, dict):
        return {key: without(root, inner) for key, inner in value.items()}
    return [without(root, inner) for inner in value] if isinstance(value, list) else value


def keep(content):
    """Returns its argument. As a future, the content is sent to a worker once, and Dask recomputes it if all workers with it are lost."""
    return content
