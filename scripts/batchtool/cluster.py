"""Batches on a Dask cluster (https://distributed.dask.org): a task is a future, or each of its ranges is one. Workers need Python, Dask and proviso (the
release archive will do), nothing of this program, which is sent to them; and the tasks' files, which are sent where they are
not there."""

import hashlib
import importlib
import importlib.util
import json
import os
import re
import sys
import tempfile
import time
import zipfile
from collections import Counter
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

from . import command
from .tasks import TaskError

WAIT = 0.5  # seconds between looks whether another batch is done with a task
AHEAD = 3  # tasks given out for each thread of the workers, so that none waits for the next
SMALL = 1 << 15  # bytes that are sent along with the task, not as a future of their own
KEPT = 500  # such futures
PACKAGE = Path(__file__).parent
REQUIREMENTS = PACKAGE / "requirements-dask.txt"


def need_dask():
    """Goes on with the Python that has Dask, where this one does not."""
    if importlib.util.find_spec("distributed") is not None:
        return
    other = PACKAGE.parents[1] / ".deps" / "dask" / "bin" / "python3"  # made by setup-deps
    if not other.is_file() or Path(sys.prefix) == other.parents[1]:
        raise TaskError(f"--cluster needs Dask: python3 -m pip install -r {REQUIREMENTS}")
    os.execv(other, [str(other), *sys.argv])


def run(work, tool, address):
    import distributed

    with connect(distributed, address) as client, tempfile.TemporaryDirectory() as folder:
        try:
            Cluster(client, work, tool, send(client, folder)).drive()
        except (distributed.comm.CommClosedError, OSError) as error:
            raise TaskError(f"the scheduler is gone ({error}); the same command goes on from here") from error


def send(client, folder):
    """Sends this program to the scheduler and its workers, those that come later as well; the module for them. It goes by a name that
    no other version has, so that a cluster may serve several."""
    sources = {path.name: path.read_bytes() for path in sorted(PACKAGE.glob("*.py"))}
    name = f"batchtool_{digest_of(b''.join(sources.values()))}"
    archive = os.path.join(folder, f"{name}.zip")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for source, content in sources.items():
            file.writestr(f"{name}/{source}", content)
    client.upload_file(archive)
    sys.path.insert(0, archive)
    return importlib.import_module(f"{name}.remote")


def digest_of(content):
    return hashlib.sha256(content).hexdigest()[:16]


def connect(distributed, address):
    if not address.startswith("local:"):
        try:
            return distributed.Client(address, timeout=20, set_as_default=False)
        except (OSError, ValueError) as error:
            raise TaskError(f"--cluster {address}: there is no scheduler ({error})") from error
    found = re.fullmatch(r"local:(?:(\d+)-)?([1-9]\d*)", address)
    if not found:
        raise TaskError(f"--cluster {address}: expected local:N workers, or local:MIN-MAX as there is work")
    least, most = found.groups()
    cluster = distributed.LocalCluster(
        n_workers=int(least or most), threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    )
    if least:
        cluster.adapt(minimum=int(least), maximum=int(most))
    client = distributed.Client(cluster, set_as_default=False)
    return ClosesBoth(client, cluster)


class ClosesBoth:
    def __init__(self, client, cluster):
        self.client, self.cluster = client, cluster

    def __enter__(self):
        return self.client

    def __exit__(self, *_):
        self.client.close()
        self.cluster.close()


class Cluster:
    """Keeps the workers of a client busy. One that is lost costs its tasks' time: they are given out again."""

    def __init__(self, client, work, tool, remote):
        from distributed import as_completed

        self.client, self.work, self.tool, self.remote = client, work, asdict(tool), remote
        self.running = as_completed(loop=client.loop, with_results=True, raise_errors=False)
        self.steps, self.lost = {}, Counter()  # given out, by the key of the future; how often a worker was killed at it
        self.kept = {}  # futures of what tasks share, by content
        self.window, self.looked = 0, 0.0

    def drive(self):
        self.fill()
        while self.steps or not self.work.is_over():
            if self.steps:
                self.finish(*next(self.running))
            else:
                time.sleep(WAIT)
            self.fill()

    def fill(self):
        """Gives out as many steps as the workers take."""
        if time.monotonic() > self.looked + 2:
            self.looked = time.monotonic()
            workers = self.client.scheduler_info()["workers"].values()
            self.window = max(AHEAD * sum(worker["nthreads"] for worker in workers), 8)
        while len(self.steps) < self.window:
            step = self.work.next()
            if step is None:
                return
            self.submit(step)

    def submit(self, step):
        task = step.task
        sent = asdict(step)
        sent["task"]["files"] = [os.path.abspath(f) for f in task.files]
        if task.property_file:
            sent["task"]["property_file"] = os.path.abspath(task.property_file)
        files = {path: content if len(content) < SMALL else self.keep(content) for path, content in sources(task).items()}
        # The same question has the same name, so that a client that is started again finds what runs already.
        what = json.dumps([sent, self.tool, self.remote.__name__, self.lost[task.key, step.name]], default=str)
        key = f"proviso-{digest_of(what.encode())}"
        future = self.client.submit(self.remote.execute, sent, self.tool, files, key, key=key)
        self.steps[key] = step, future
        self.running.add(future)

    def end(self, steps):
        """Ends what is given out and needed no more, and what runs of it."""
        self.client.cancel([self.steps[key][1] for key in steps])
        self.client.run(self.remote.stop, steps, wait=False, on_error="ignore")

    def keep(self, content):
        name = digest_of(content)
        if name not in self.kept:
            if len(self.kept) > KEPT:
                self.kept.pop(next(iter(self.kept)))  # stays as long as a task needs it
            self.kept[name] = self.client.submit(self.remote.keep, content, key=f"file-{name}")
        return self.kept[name]

    def finish(self, future, result):
        from distributed.scheduler import KilledWorker

        step, _ = self.steps.pop(future.key)
        task = step.task
        if self.work.is_decided(step):
            return
        if future.status == "finished":
            self.work.put(step, result)
            unneeded = [key for key, (other, _) in self.steps.items() if other.task.key == task.key and self.work.is_decided(other)]
            if unneeded:
                self.end(unneeded)
        elif future.status == "error" and isinstance(future.exception(), KilledWorker):
            self.lost[task.key, step.name] += 1
            if self.lost[task.key, step.name] <= command.RETRIES:
                self.submit(step)
            else:
                self.work.put(step, command.lost(step, "its workers were killed time and again"))
        elif future.status == "error":
            error = future.exception()
            raise TaskError(f"{task.name} on the cluster: {error}") from error
        else:
            raise TaskError(f"{task.name} on the cluster: {future.status}; the same command goes on from here")


def sources(task):
    """The contents of the task's files and of what they include by name, by absolute path."""
    found, todo = {}, [Path(os.path.abspath(f)) for f in task.files]
    if task.property_file and Path(task.property_file).is_file():
        todo.append(Path(os.path.abspath(task.property_file)))
    while todo:
        path = todo.pop()
        if str(path) in found or not path.is_file():
            continue
        found[str(path)], included = read(path)
        todo += [Path(os.path.normpath(path.parent / name)) for name in included]
    return found


@lru_cache(maxsize=1000)
def read(path):
    content = path.read_bytes()
    return content, [name.decode(errors="replace") for name in re.findall(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', content, re.M)]
