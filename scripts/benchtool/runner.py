"""Runs one command under limits, and many of them side by side."""

import contextlib
import os
import resource
import signal
import subprocess
import tempfile
import threading
import time
from collections import deque
from dataclasses import dataclass

POLL = 0.05  # seconds between looks at a running process
TAIL = 16384  # bytes kept of each output


@dataclass
class Limits:
    wall: float  # seconds, with the grace
    cpu: float | None  # seconds
    memory: int  # bytes


@dataclass
class Outcome:
    exit: int | None  # exit code, None when a signal ended it
    signal: int | None
    killed: str  # "", "timeout", "cpu time", "out of memory" or "interrupted"
    wall: float
    cpu: float
    rss: int  # bytes
    stdout: str  # the ends of both
    stderr: str


def run(command, limits, stop=None):
    """Runs the command in a process group of its own, which is killed past a limit and cleaned
    up in any case."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        )
        try:
            # The sum of the group is watched below; this is for a jump between two looks.
            with contextlib.suppress(OSError):
                backstop = 2 * limits.memory + (1 << 30)
                resource.prlimit(child.pid, resource.RLIMIT_AS, (backstop, backstop))
            killed, peak = "", 0
            pause = 0.002
            while True:
                pid, status, usage = os.wait4(child.pid, os.WNOHANG)
                if pid:
                    break
                wall = time.monotonic() - start
                rss, cpu = group_usage(child.pid)
                peak = max(peak, rss)
                if not killed:
                    if wall > limits.wall:
                        killed = "timeout"
                    elif limits.cpu is not None and cpu > limits.cpu:
                        killed = "cpu time"
                    elif rss > limits.memory:
                        killed = "out of memory"
                    elif stop is not None and stop.is_set():
                        killed = "interrupted"
                    if killed:
                        kill_group(child.pid)
                time.sleep(pause)
                pause = min(POLL, pause * 1.5)
            wall = time.monotonic() - start
        finally:
            kill_group(child.pid)  # what it may have left running
            if child.returncode is None:
                child.returncode = 0  # reaped above
        code = os.waitstatus_to_exitcode(status)
        return Outcome(
            exit=code if code >= 0 else None,
            signal=-code if code < 0 else None,
            killed=killed,
            wall=wall,
            cpu=usage.ru_utime + usage.ru_stime,
            rss=max(peak, usage.ru_maxrss * 1024),
            stdout=read_tail(out),
            stderr=read_tail(err),
        )


def kill_group(group):
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def group_usage(group):
    """Resident bytes and CPU seconds of the live processes of a session."""
    rss = ticks = 0
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", "rb") as file:
                # After the command in parentheses: state ppid pgrp session ...
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == group:
            rss += int(fields[21])
            ticks += sum(map(int, fields[11:15]))
    return rss * os.sysconf("SC_PAGE_SIZE"), ticks / os.sysconf("SC_CLK_TCK")


def read_tail(file):
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - TAIL))
    return file.read().decode(errors="replace")


def run_all(jobs, run_one, workers, done):
    """Calls `run_one(job, stop)` for all jobs, some at a time, and `done(job, result)` for each
    as it ends, one at a time. An exception in either, Ctrl-C included, ends everything."""
    queue, lock, stop = deque(jobs), threading.Lock(), threading.Event()
    failure = []

    def work():
        while not stop.is_set():
            with lock:
                if not queue:
                    return
                job = queue.popleft()
            try:
                result = run_one(job, stop)
                with lock:
                    if not stop.is_set():
                        done(job, result)
            except BaseException as error:  # handed to the main thread
                failure.append(error)
                stop.set()

    threads = [threading.Thread(target=work) for _ in range(workers)]
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
    if failure:
        raise failure[0]
