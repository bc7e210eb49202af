"""Control groups, where this process may make them: the kernel then counts and limits what a command uses together with all
that it starts, at no cost. Version 2 needs a group of our own (`systemd-run --user --scope -p Delegate=yes scripts/batch ...`),
version 1 the right to make groups below ours."""

import contextlib
import functools
import os
import signal
import time
import uuid
from pathlib import Path

# Puts itself into the groups whose files come first, then becomes the command.
ENTER = 'while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done; shift; exec "$@"'


@functools.cache
def parents():
    """(version, the folder to make groups for memory in, that for processor time), or None."""
    try:
        mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
        own = dict(line.split(":", 2)[1:] for line in Path("/proc/self/cgroup").read_text().splitlines())
    except (OSError, ValueError):
        return None
    v1 = {}
    for _, point, kind, options, *_ in mounts:
        if kind == "cgroup":
            for name in {"memory", "cpuacct"} & set(options.split(",")):
                path = next((own[names] for names in own if name in names.split(",")), "/")
                v1[name] = Path(point + path)
    if {"memory", "cpuacct"} <= v1.keys():
        if all(os.access(folder, os.W_OK) for folder in v1.values()):
            return 1, v1["memory"], v1["cpuacct"]
        return None
    for _, point, kind, *_ in mounts:
        if kind == "cgroup2":
            folder = delegated(Path(point + own.get("", "/")))
            return (2, folder, folder) if folder else None
    return None


def delegated(folder):
    """The folder of version 2 if groups in it can have limits. A group with limits for those in it has no processes of its own,
    so this one moves to a group beside those of the commands."""
    try:
        if not {"memory", "cpu"} <= set((folder / "cgroup.controllers").read_text().split()):
            return None
        inner = folder / f"batch-{os.getpid()}-{uuid.uuid4().hex}"
        inner.mkdir()
        (inner / "cgroup.procs").write_text(str(os.getpid()))
        (folder / "cgroup.subtree_control").write_text("+memory +cpu")
        return folder
    except OSError:
        return None


class Group:
    """The group of one command; a context, at whose end nothing in it runs any more."""

    def __init__(self, memory):
        self.version, memory_folder, cpu_folder = parents()
        # Process numbers come again, in containers often, and what was killed leaves its groups behind.
        name = f"task-{os.getpid()}-{uuid.uuid4().hex}"
        self.memory, self.cpu = memory_folder / name, cpu_folder / name
        for folder in {self.memory, self.cpu}:
            folder.mkdir()
        if self.version == 2:
            limits = {"memory.max": memory, "memory.swap.max": 0, "memory.oom.group": 1}
        else:
            limits = {"memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes": memory}
        for file, value in limits.items():
            with contextlib.suppress(OSError):  # no accounting of swap
                (self.memory / file).write_text(str(value))

    def wrap(self, command):
        files = [str(folder / "cgroup.procs") for folder in {self.memory, self.cpu}]
        return ["/bin/sh", "-c", ENTER, "sh", *files, "--", *command]

    def cpu_seconds(self):
        if self.version == 2:
            return int(field(self.cpu / "cpu.stat", "usage_usec")) / 1e6
        return int((self.cpu / "cpuacct.usage").read_text()) / 1e9

    def peak(self):
        """Bytes at most, 0 where the kernel does not say."""
        try:
            return int((self.memory / ("memory.peak" if self.version == 2 else "memory.max_usage_in_bytes")).read_text())
        except OSError:
            return 0

    def ran_out_of_memory(self):
        file = "memory.events" if self.version == 2 else "memory.oom_control"
        return field(self.memory / file, "oom_kill") != "0"

    def kill(self):
        if self.version == 2:
            with contextlib.suppress(OSError):
                (self.memory / "cgroup.kill").write_text("1")
                return
        with contextlib.suppress(OSError):
            for pid in (self.memory / "cgroup.procs").read_text().split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)

    def close(self):
        for folder in {self.cpu, self.memory}:
            for attempt in range(600):
                self.kill()
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    # What was killed takes its time to go, on a machine with other work more than some slices.
                    time.sleep(0 if attempt < 100 else 0.01)


def field(path, name):
    """The value of a line `name value`."""
    with contextlib.suppress(OSError):
        for line in path.read_text().splitlines():
            if line.startswith(name + " "):
                return line.split()[1]
    return "0"
