"""Runs a command under limits, and several commands in parallel."""

import contextlib
import os
import resource
import select
import signal
import subprocess
import tempfile
import threading
import time
from collections import deque
from dataclasses import dataclass, replace

from . import cgroups, processes

LOOK = 0.05  # seconds between two measurements of a command's memory and processor time, if a measurement is cheap
LOOKING = 0.02  # maximal share of the time for measurements: with many processes on the machine, measurements are rarer
LOOK_AT_GROUP = 0.2  # seconds between two measurements if the kernel limits memory
TAIL = 16384  # bytes kept of each output


@dataclass
class Limits:
    wall: float  # seconds, including the grace period
    cpu: float | None  # seconds
    memory: int  # bytes
    cgroups: bool = False  # whether to use control groups if this process may create them
    asks: float = 0  # seconds between an interrupt (Ctrl-C) at the limit of processor time and the kill; 0: kill without an interrupt


@dataclass
class Outcome:
    exit: int | None  # exit code, None when a signal ended it
    signal: int | None
    killed: str  # "", "timeout", "cpu time", "out of memory" or "interrupted"
    wall: float
    cpu: float
    rss: int  # bytes
    stdout: str  # the last TAIL bytes
    stderr: str


def run(command, limits, stop=None, cwd=None):
    """Runs the command in a new session. Kills all its processes at a limit, and the remaining ones after the command has ended."""
    group = cgroups.Group(limits.memory) if limits.cgroups and cgroups.parents() else None
    try:
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            start = time.monotonic()
            child = subprocess.Popen(
                group.wrap(command) if group else command, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                start_new_session=True, cwd=cwd, env=processes.environment(),
            )
            try:
                killed, peak, status, usage = watch(child, limits, start, stop, group)
                wall = time.monotonic() - start
            finally:
                kill_session(child.pid)  # processes that the command left running
                if child.returncode is None:
                    child.returncode = 0  # reaped in `watch`
            cpu = usage.ru_utime + usage.ru_stime
            if group:
                group.kill()
                cpu, peak = group.cpu_seconds(), group.peak() or peak
                if not killed and group.ran_out_of_memory():
                    killed = "out of memory"
            code = os.waitstatus_to_exitcode(status)
            return Outcome(
                exit=code if code >= 0 else None,
                signal=-code if code < 0 else None,
                killed=killed,
                wall=wall,
                cpu=cpu,
                rss=max(peak, usage.ru_maxrss * 1024),
                stdout=read_tail(out),
                stderr=read_tail(err),
            )
    finally:
        if group:
            group.close()


def watch(child, limits, start, stop, group):
    """Waits for the child. Returns (the reason for killing it or "", peak memory in bytes, exit status, resource usage)."""
    if not group:
        # The loop below measures the session. This limit applies to a jump between two measurements.
        with contextlib.suppress(OSError):
            backstop = 2 * limits.memory + (1 << 30)
            resource.prlimit(child.pid, resource.RLIMIT_AS, (backstop, backstop))
    killed, peak = "", 0
    handle = os.pidfd_open(child.pid)
    try:
        ends = select.poll()
        ends.register(handle, select.POLLIN)
        pause = LOOK_AT_GROUP if group else LOOK / 4
        while True:
            left = limits.wall - (time.monotonic() - start)
            if ends.poll(1000 * min(pause, max(left, 0.001))):
                _, status, usage = os.wait4(child.pid, 0)
                return killed, peak, status, usage
            if killed:
                continue
            before = time.thread_time()
            rss, cpu = (0, group.cpu_seconds() if limits.cpu else 0) if group else session_usage(child.pid)
            peak = max(peak, rss)
            if time.monotonic() - start > limits.wall:
                killed = "timeout"
            elif limits.cpu is not None and cpu > limits.cpu and limits.asks:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGINT)
                limits = replace(limits, cpu=None, wall=time.monotonic() - start + limits.asks)
            elif limits.cpu is not None and cpu > limits.cpu:
                killed = "cpu time"
            elif rss > limits.memory:
                killed = "out of memory"
            elif stop is not None and stop.is_set():
                killed = "interrupted"
            if killed:
                kill_session(child.pid)
                if group:
                    group.kill()
            if not group:
                cost = (time.thread_time() - before) / LOOKING
                pause = min(10 * LOOK, max(cost, min(LOOK, pause * 1.5)))
    finally:
        os.close(handle)


def kill_session(leader):
    """Kills all processes of a session, including other process groups: a verifier may start another verifier in its own group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    for pid, fields in sessions():
        if int(fields[3]) == leader:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def session_usage(session):
    """Returns the resident bytes and CPU seconds of the live processes of a session."""
    rss = ticks = 0
    for _, fields in sessions():
        if int(fields[3]) == session:
            rss += int(fields[21])
            ticks += sum(map(int, fields[11:15]))
    return rss * os.sysconf("SC_PAGE_SIZE"), ticks / os.sysconf("SC_CLK_TCK")


def sessions():
    """Yields all live processes, each with its fields in /proc/PID/stat from the state on: state ppid pgrp session ..."""
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as file:
                    # After the command in parentheses.
                    yield int(entry), file.read().rpartition(b")")[2].split()
            except OSError:
                continue


def read_tail(file):
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - TAIL))
    return file.read().decode(errors="replace")


def in_threads(work, count):
    """Calls `work(stop)` in `count` threads. An exception in one of them, or Ctrl-C, sets `stop`, which ends all threads."""
    stop, failures = threading.Event(), []

    def guarded():
        try:
            work(stop)
        except BaseException as error:  # handed to the main thread
            failures.append(error)
            stop.set()

    threads = [threading.Thread(target=guarded) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        stop.set()
        for thread in threads:
            thread.join()
        raise
    if failures:
        raise failures[0]


def run_all(jobs, run_one, workers, done):
    """Calls `run_one(job, stop)` for all jobs, with `workers` in parallel. Calls `done(job, result)` after each, never in parallel."""
    queue, lock = deque(jobs), threading.Lock()

    def work(stop):
        while not stop.is_set():
            with lock:
                if not queue:
                    return
                job = queue.popleft()
            result = run_one(job, stop)
            with lock:
                if not stop.is_set():
                    done(job, result)

    in_threads(work, workers)
