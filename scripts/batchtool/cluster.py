"""Batches on a Dask cluster (https://distributed.dask.org): a task is a future, or each of its ranges is one; short tasks share one. Workers need Python, Dask and proviso (the
release archive will do), nothing of this program, which is sent to them; and the tasks' files, which are sent where they are
not there."""

import hashlib
import importlib
import importlib.util
import json
import logging
import math
import os
import re
import sys
import tempfile
import time
import zipfile
from collections import Counter, deque
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

from . import command
from .tasks import TaskError

WAIT = 0.5  # seconds between looks whether another batch is done with a task
AHEAD = 3  # futures given out for each thread of the workers, so that none waits for the next
GROWTH = 10  # seconds of work given out for each: a cluster that adapts holds 5 to be enough for one, and grows as long as it sees more
FAR = 2000  # futures that are given out for growth
SHARE = 32  # tasks in one future at most
PACE = 0.1  # of the latest task in the mean time of tasks
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
    # What Dask logs of workers that come and go is no news; those that it starts here take this from the environment.
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "critical")
    import distributed

    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
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
        self.given = {}  # (steps, future) of what is given out, by the key of the future
        self.returned = deque()  # groups of steps to give out again
        self.lost = Counter()  # how often a worker was killed at a step
        self.kept = {}  # futures of what tasks share, by content
        self.window, self.looked = 0, 0.0
        self.mean = math.inf  # seconds that tasks take

    def drive(self):
        self.fill()
        while self.given or not self.work.is_over():
            if self.given:
                self.finish(*next(self.running))
            else:
                time.sleep(WAIT)
            self.fill()

    def fill(self):
        """Gives out as much as the workers take."""
        if time.monotonic() > self.looked + 2:
            self.looked = time.monotonic()
            workers = self.client.scheduler_info()["workers"].values()
            threads = sum(worker["nthreads"] for worker in workers)
            growth = int(threads * GROWTH / max(self.mean, self.remote.BUDGET))
            self.window = max(AHEAD * threads, 8, min(growth, FAR))
        while len(self.given) < self.window:
            steps = self.returned.popleft() if self.returned else self.group()
            if not steps:
                return
            self.submit(steps)

    def group(self):
        """The steps of the next future: several where tasks take so little time that giving them out would take as long."""
        steps, most = [], min(SHARE, self.remote.BUDGET / max(self.mean, 1e-3))
        while not steps or len(steps) < most:
            step = self.work.next()
            if step is None:
                break
            steps.append(step)
            if step.name:  # may have to be ended before others
                break
        return steps

    def submit(self, steps):
        sent, files = [], {}
        for step in steps:
            sent.append(described(step))
            for path, content in sources(step.task).items():
                files[path] = content if len(content) < SMALL else self.keep(content)
        # The same question has the same name, so that a client that is started again finds what runs already.
        attempts = [self.lost[step.task.key, step.name] for step in steps]
        what = json.dumps([sent, self.tool, self.remote.__name__, attempts], default=str)
        key = f"proviso-{digest_of(what.encode())}"
        future = self.client.submit(self.remote.execute, sent, self.tool, files, key, key=key)
        self.given[key] = steps, future
        self.running.add(future)

    def end(self, keys):
        """Ends what is given out and needed no more, and what runs of it."""
        self.client.cancel([self.given[key][1] for key in keys])
        self.client.run(self.remote.stop, keys, wait=False, on_error="ignore")

    def keep(self, content):
        name = digest_of(content)
        if name not in self.kept:
            if len(self.kept) > KEPT:
                self.kept.pop(next(iter(self.kept)))  # stays as long as a task needs it
            self.kept[name] = self.client.submit(self.remote.keep, content, key=f"file-{name}")
        return self.kept[name]

    def finish(self, future, results):
        steps, _ = self.given.pop(future.key)
        if len(steps) == 1 and self.work.is_decided(steps[0]):
            return
        # Results are here whatever has become of the future since: it is "lost" when its worker is killed after it gave them.
        if isinstance(results, list):
            for step, result in zip(steps, results):
                self.put(step, result)
            # Those that the worker did not come to: its tasks take longer than was thought.
            self.returned.extend([step] for step in steps[len(results) :])
        elif future.status == "error":
            self.failed(steps, future.exception())
        else:
            raise TaskError(f"{steps[0].task.name} on the cluster: {future.status}; the same command goes on from here")

    def failed(self, steps, error):
        from distributed.scheduler import KilledWorker

        if not isinstance(error, KilledWorker):
            raise TaskError(f"{steps[0].task.name} on the cluster: {error}") from error
        for step in steps:
            self.killed(step)

    def put(self, step, result):
        if result is not None:
            self.mean = result["wall"] if self.mean == math.inf else (1 - PACE) * self.mean + PACE * result["wall"]
        self.work.put(step, result)
        if step.name:
            unneeded = [key for key, (others, _) in self.given.items() if others[0].task.key == step.task.key and self.work.is_decided(others[0])]
            if unneeded:
                self.end(unneeded)

    def killed(self, step):
        """Workers were killed at the step, or at those that it shared a future with; it gets one of its own."""
        self.lost[step.task.key, step.name] += 1
        if self.lost[step.task.key, step.name] <= command.RETRIES:
            self.returned.append([step])
        else:
            self.put(step, command.lost(step, "its workers were killed time and again"))


def described(step):
    """The step as data, with files by absolute names."""
    data, task = asdict(step), step.task
    data["task"]["files"] = [os.path.abspath(f) for f in task.files]
    if task.property_file:
        data["task"]["property_file"] = os.path.abspath(task.property_file)
    return data


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
