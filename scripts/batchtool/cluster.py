"""Runs batches on a Dask cluster (https://distributed.dask.org). Each task, or each range of a task, is a future; short tasks
share a future. A worker needs Python, Dask and proviso (a release archive suffices). The client sends this program to the
workers, and the files of tasks to workers that do not have them."""

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

WAIT = 0.5  # seconds between two checks whether another batch has finished a task
AHEAD = 3  # submitted futures for each thread of the workers, so that no thread waits for its next future
GROWTH = 10  # seconds of submitted work for each thread: an adaptive cluster adds workers if there is more than 5 s for each
FAR = 2000  # maximal number of futures that are submitted to make the cluster grow
SHARE = 32  # maximal number of tasks in one future
PACE = 0.1  # weight of the latest task in the mean time of tasks
SMALL = 1 << 15  # smaller files (bytes) are sent with the task, others as separate futures
KEPT = 500  # maximal number of such futures
PACKAGE = Path(__file__).parent
REQUIREMENTS = PACKAGE / "requirements-dask.txt"


def need_dask():
    """Restarts this program with the Python of .deps if the current Python has no Dask."""
    if importlib.util.find_spec("distributed") is not None:
        return
    other = PACKAGE.parents[1] / ".deps" / "dask" / "bin" / "python3"  # made by setup-deps
    if not other.is_file() or Path(sys.prefix) == other.parents[1]:
        raise TaskError(f"--cluster needs Dask: python3 -m pip install -r {REQUIREMENTS}")
    os.execv(other, [str(other), *sys.argv])


def run(work, tool, address):
    # Suppress Dask's messages about workers that join and leave. Local workers read this setting from the environment.
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "critical")
    import distributed

    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    with connect(distributed, address) as client, tempfile.TemporaryDirectory() as folder:
        try:
            Cluster(client, work, tool, send(client, folder)).drive()
        except (distributed.comm.CommClosedError, OSError) as error:
            raise TaskError(f"lost the connection to the scheduler ({error}); the same command continues the run") from error


def send(client, folder):
    """Sends this program to the scheduler and its workers, including later workers. Returns the module that runs there. Its name
    contains a digest of the sources, so that a cluster can serve several versions."""
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
            raise TaskError(f"--cluster {address}: cannot connect to a scheduler ({error})") from error
    found = re.fullmatch(r"local:(?:(\d+)-)?([1-9]\d*)", address)
    if not found:
        raise TaskError(f"--cluster {address}: expected local:N for N workers, or local:MIN-MAX for a number that depends on the load")
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
    """Keeps the workers of a client busy. The tasks of a lost worker are submitted again."""

    def __init__(self, client, work, tool, remote):
        from distributed import as_completed

        self.client, self.work, self.tool, self.remote = client, work, asdict(tool), remote
        self.running = as_completed(loop=client.loop, with_results=True, raise_errors=False)
        self.given = {}  # the submitted (steps, future), by the key of the future
        self.returned = deque()  # groups of steps to submit again
        self.lost = Counter()  # the number of workers that were killed during a step
        self.kept = {}  # futures of the files that tasks share, by content
        self.window, self.looked = 0, 0.0
        self.mean = math.inf  # mean time of tasks in seconds

    def drive(self):
        self.fill()
        while self.given or not self.work.is_over():
            if self.given:
                self.finish(*next(self.running))
            else:
                time.sleep(WAIT)
            self.fill()

    def fill(self):
        """Submits futures until the window is full or no steps are left."""
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
        """Returns the steps of the next future: several if tasks are so short that submitting each would take as long as running it."""
        steps, most = [], min(SHARE, self.remote.BUDGET / max(self.mean, 1e-3))
        while not steps or len(steps) < most:
            step = self.work.next()
            if step is None:
                break
            steps.append(step)
            if step.name:  # a step of a divided task may be cancelled, so it shares its future with no later step
                break
        return steps

    def submit(self, steps):
        sent, files = [], {}
        for step in steps:
            sent.append(described(step))
            for path, content in sources(step.task).items():
                files[path] = content if len(content) < SMALL else self.keep(content)
        # Equal steps have equal keys, so a client that is started again finds the futures that already run.
        attempts = [self.lost[step.task.key, step.name] for step in steps]
        what = json.dumps([sent, self.tool, self.remote.__name__, attempts], default=str)
        key = f"proviso-{digest_of(what.encode())}"
        future = self.client.submit(self.remote.execute, sent, self.tool, files, key, key=key)
        self.given[key] = steps, future
        self.running.add(future)

    def end(self, keys):
        """Cancels these futures and stops their running steps."""
        self.client.cancel([self.given[key][1] for key in keys])
        self.client.run(self.remote.stop, keys, wait=False, on_error="ignore")

    def keep(self, content):
        name = digest_of(content)
        if name not in self.kept:
            if len(self.kept) > KEPT:
                self.kept.pop(next(iter(self.kept)))  # the cluster keeps it as long as a task needs it
            self.kept[name] = self.client.submit(self.remote.keep, content, key=f"file-{name}")
        return self.kept[name]

    def finish(self, future, results):
        steps, _ = self.given.pop(future.key)
        if len(steps) == 1 and self.work.is_decided(steps[0]):
            return
        # The results may be present although the status is "lost": the worker was killed after it had returned them.
        if isinstance(results, list):
            for step, result in zip(steps, results):
                self.put(step, result)
            # The worker did not run the other steps, because its tasks take longer than expected.
            self.returned.extend([step] for step in steps[len(results) :])
        elif future.status == "error":
            self.failed(steps, future.exception())
        else:
            raise TaskError(f"{steps[0].task.name} on the cluster: {future.status}; the same command continues the run")

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
        """Handles a step whose workers were killed during it or during a step in the same future: submits it in a separate future."""
        self.lost[step.task.key, step.name] += 1
        if self.lost[step.task.key, step.name] <= command.RETRIES:
            self.returned.append([step])
        else:
            self.put(step, command.lost(step, "its workers were killed time and again"))


def described(step):
    """Returns the step as data with absolute paths."""
    data, task = asdict(step), step.task
    data["task"]["files"] = [os.path.abspath(f) for f in task.files]
    if task.property_file:
        data["task"]["property_file"] = os.path.abspath(task.property_file)
    return data


def sources(task):
    """Returns the contents of the task's files and of the files that they include (`#include "..."`), by absolute path."""
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
