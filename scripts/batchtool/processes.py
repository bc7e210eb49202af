"""Processes that must not outlive the batch they belong to. Each command carries the batch's mark in its environment, and
so does what it starts; whoever finds a mark of a batch that has ended, kills the process. A watchdog does so at once
where a batch is killed; the next batch does where the watchdog was killed as well."""

import contextlib
import functools
import os
import signal
import socket
import subprocess
import sys

VARIABLE = "PROVISO_BATCH"


def started(pid):
    """When a process started, in ticks since the machine did: with it a process number is unique."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        return int(file.read().rpartition(b")")[2].split()[19])


def mark():
    """The mark of this process."""
    return f"{socket.gethostname()}:{os.getpid()}:{started(os.getpid())}"


def has_ended(owner):
    """Whether the process that a mark names has ended; of another machine nobody knows."""
    host, pid, start = owner.rsplit(":", 2)
    if host != socket.gethostname():
        return False
    try:
        return started(int(pid)) != int(start)
    except OSError:
        return True


def sweep(owner=None):
    """Kills what a batch that has ended left running: that of the mark, or of any."""
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/environ", "rb") as file:
                text = file.read()
        except OSError:
            continue
        found = (b"\0" + text).partition(f"\0{VARIABLE}=".encode())[2].partition(b"\0")[0].decode(errors="replace")
        if found.count(":") >= 2 and (found == owner if owner else has_ended(found)):
            with contextlib.suppress(OSError):
                os.kill(int(entry), signal.SIGKILL)


@functools.cache
def environment():
    """The environment of commands; starts the watchdog the first time."""
    owner = mark()
    code = f"import sys; sys.path.insert(0, {str(os.path.dirname(__file__))!r}); import processes; processes.watch({owner!r})"
    # Its standard input ends when this process does, whatever the reason.
    watchdog = subprocess.Popen(
        [sys.executable, "-B", "-S", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )
    environment.keep = watchdog
    return {**os.environ, VARIABLE: owner}


def watch(owner):
    sys.stdin.read()
    # Twice: what is about to be started may not be there yet.
    sweep(owner)
    sweep(owner)
