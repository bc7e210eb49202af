"""Control groups, if this process may create them. The kernel then measures and limits the resources of a command and of all
processes that it starts. Version 2 needs a delegated group (`systemd-run --user --scope -p Delegate=yes scripts/batch ...`),
version 1 the permission to create groups below the group of this process."""

import contextlib
import functools
import os
import signal
import time
import uuid
from pathlib import Path

# A shell script that adds itself to the groups (the arguments before `--` are their files), then executes the command.
ENTER = 'while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done; shift; exec "$@"'


@functools.cache
def parents():
    """Returns (version, the parent folder of groups for memory, the parent folder of groups for processor time), or None."""
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
    """Returns the folder of a group of version 2 if groups in it can have limits, else None. A group that limits its subgroups
    must not contain processes, so this process moves to a subgroup."""
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
    """The group of one command. `close` kills all processes in it and removes it."""

    def __init__(self, memory):
        self.version, memory_folder, cpu_folder = parents()
        # A process number alone is not unique: numbers are reused, and a killed batch leaves its groups behind.
        name = f"task-{os.getpid()}-{uuid.uuid4().hex}"
        self.memory, self.cpu = memory_folder / name, cpu_folder / name
        for folder in {self.memory, self.cpu}:
            folder.mkdir()
        if self.version == 2:
            limits = {"memory.max": memory, "memory.swap.max": 0, "memory.oom.group": 1}
        else:
            limits = {"memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes": memory}
        for file, value in limits.items():
            with contextlib.suppress(OSError):  # the kernel does not account for swap
                (self.memory / file).write_text(str(value))

    def wrap(self, command):
        files = [str(folder / "cgroup.procs") for folder in {self.memory, self.cpu}]
        return ["/bin/sh", "-c", ENTER, "sh", *files, "--", *command]

    def cpu_seconds(self):
        if self.version == 2:
            return int(field(self.cpu / "cpu.stat", "usage_usec")) / 1e6
        return int((self.cpu / "cpuacct.usage").read_text()) / 1e9

    def peak(self):
        """Returns the peak memory in bytes, 0 if the kernel does not report it."""
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
                    # Killed processes need some time to end, on a busy machine more than a few time slices.
                    time.sleep(0 if attempt < 100 else 0.01)


def field(path, name):
    """Returns the value in the line `name value` of a file."""
    with contextlib.suppress(OSError):
        for line in path.read_text().splitlines():
            if line.startswith(name + " "):
                return line.split()[1]
    return "0"
