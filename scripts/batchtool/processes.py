"""Ends processes whose batch has ended. The environment of each command, and so of its child processes, contains the mark of the
batch. If a batch is killed, its watchdog kills the processes with its mark at once. If the watchdog is killed as well, the next
batch kills them."""

import contextlib
import functools
import os
import signal
import socket
import subprocess
import sys

VARIABLE = "PROVISO_BATCH"


def started(pid):
    """Returns the start time of a process in ticks since the boot. Together with it, a process number is unique."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        return int(file.read().rpartition(b")")[2].split()[19])


def mark():
    """Returns the mark of this process."""
    return f"{socket.gethostname()}:{os.getpid()}:{started(os.getpid())}"


def has_ended(owner):
    """Returns whether the process of a mark has ended. Processes on other machines count as running."""
    host, pid, start = owner.rsplit(":", 2)
    if host != socket.gethostname():
        return False
    try:
        return started(int(pid)) != int(start)
    except OSError:
        return True


def sweep(owner=None):
    """Kills the processes with the mark `owner`, or by default the processes of all batches that have ended."""
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
    """Returns the environment of commands. The first call starts the watchdog."""
    owner = mark()
    code = f"import sys; sys.path.insert(0, {str(os.path.dirname(__file__))!r}); import processes; processes.watch({owner!r})"
    # Its standard input reaches its end when this process ends, for whatever reason.
    watchdog = subprocess.Popen(
        [sys.executable, "-B", "-S", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )
    environment.keep = watchdog
    return {**os.environ, VARIABLE: owner}


def watch(owner):
    sys.stdin.read()
    # Twice, because a process may just be starting during the first sweep.
    sweep(owner)
    sweep(owner)
