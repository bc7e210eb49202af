"""Result files in the format JSON lines. The first line describes the run, each further line is the result of a task. If a task has
several results, the last one counts. The line of a task with ranges follows the lines of its steps.

Several batches may use one file at the same time, on one machine or on machines that share a file system with locks. A line is
appended in one write under a lock, and a batch runs a task only while it holds the lock of the task. The system releases the locks
of a process that ends, so a killed batch leaves no locks behind."""

import fcntl
import hashlib
import json
import os
import struct
import threading
from collections import Counter
from pathlib import Path

from .verdict import POINTS

# Locks are on bytes far beyond the end of the file: one for appending, and one for each task.
APPENDING = 1 << 60
TASKS = 1 << 61


class ResultsError(Exception):
    """A result file that cannot be used."""


def load(path):
    """Returns (header, {key: result})."""
    ledger = Ledger.read(path)
    return ledger.header, ledger.finished


class Ledger:
    """A result file that is open for reading and appending."""

    def __init__(self, path, flags):
        self.path = path
        self.file = os.open(path, flags | os.O_CLOEXEC, 0o666)
        self.header, self.finished, self.driver = {}, {}, None
        self.steps = {}  # the entries of steps of unfinished tasks with ranges, by key
        self.at, self.rest, self.lines = 0, b"", 0
        self.mutex = threading.RLock()
        self.claimed = set()

    @classmethod
    def read(cls, path):
        ledger = cls(path, os.O_RDONLY)
        try:
            ledger.catch_up()
            return ledger
        finally:
            ledger.close()

    @classmethod
    def append(cls, path, header):
        """Opens or creates the file."""
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        ledger = cls(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        with ledger.locked(APPENDING):
            ledger.catch_up()
            if not ledger.header:
                ledger.write(header)
                ledger.catch_up()
        return ledger

    def close(self):
        os.close(self.file)

    def catch_up(self):
        """Reads the lines that this or another batch appended since the last call."""
        with self.mutex:
            while chunk := os.pread(self.file, 1 << 20, self.at):
                self.at += len(chunk)
                *lines, self.rest = (self.rest + chunk).split(b"\n")
                for line in lines:
                    self.lines += 1
                    if line:
                        self.take(line)

    def take(self, line):
        try:
            entry = json.loads(line)
        except ValueError:
            if line.startswith(b"{"):
                return  # an incomplete line: its writer was killed, or the disk was full; the task is run again
            raise ResultsError(f"{self.path}:{self.lines}: not a result line") from None
        if "task" in entry:
            key = (entry["task"], entry["property"])
            if "step" in entry:
                self.steps.setdefault(key, []).append(entry)
            else:
                self.steps.pop(key, None)
                self.finished[key] = entry
        elif "batch" in entry or "bench" in entry:
            self.header = entry
        elif "driver" in entry:
            self.driver = entry["driver"]
        else:
            raise ResultsError(f"{self.path}:{self.lines}: not a result line")

    def add(self, entry):
        """Appends an entry. It is in the file when this returns."""
        with self.mutex, self.locked(APPENDING):
            self.write(entry)

    def write(self, entry):
        line = json.dumps(entry, ensure_ascii=False).encode() + b"\n"
        size = os.fstat(self.file).st_size
        if size and os.pread(self.file, 1, size - 1) != b"\n":
            line = b"\n" + line  # the last line is incomplete
        written = os.write(self.file, line)
        if written != len(line):
            raise ResultsError(f"{self.path}: the disk is full")

    def claim(self, key):
        """Locks a task for this process. Returns whether it succeeded: another process may run the task."""
        with self.mutex:
            if not self.lock(place(key), fcntl.F_WRLCK, wait=False):
                return False
            self.claimed.add(key)
            return True

    def release(self, key):
        with self.mutex:
            if key in self.claimed:
                self.claimed.remove(key)
                self.lock(place(key), fcntl.F_UNLCK)

    def lock(self, byte, kind, wait=True):
        """Locks or unlocks a byte of the file. Returns whether it succeeded. The lock belongs to the open file, not to the process, so
        closing another descriptor of the same file does not release it."""
        command = fcntl.F_OFD_SETLKW if wait else fcntl.F_OFD_SETLK
        try:
            fcntl.fcntl(self.file, command, struct.pack("hhqqi4x", kind, os.SEEK_SET, byte, 1, 0))
            return True
        except BlockingIOError:
            return False
        except PermissionError:  # some file systems report a conflicting lock so
            return False

    def locked(self, byte):
        return Locked(self, byte)


class Locked:
    def __init__(self, ledger, byte):
        self.ledger, self.byte = ledger, byte

    def __enter__(self):
        self.ledger.lock(self.byte, fcntl.F_WRLCK)

    def __exit__(self, *_):
        self.ledger.lock(self.byte, fcntl.F_UNLCK)


def place(key):
    """Returns the byte for the lock of a task. Two tasks with the same byte are not run at the same time, which does no harm."""
    return TASKS + int.from_bytes(hashlib.sha256("\0".join(key).encode()).digest()[:7], "big")


def score(results):
    return sum(POINTS[r["status"]] for r in results)


def best_score(results):
    return sum({"true": 2, "false": 1}.get(r["expected"], 0) for r in results)


def normalised_score(results):
    """Returns the normalised score of SV-COMP: each category has the same weight, independent of its number of tasks."""
    results = [r for r in results if r["expected"] in ("true", "false")]
    sizes = Counter((r["property"], r["category"]) for r in results)
    if not sizes:
        return 0.0
    share = sum(POINTS[r["status"]] / sizes[r["property"], r["category"]] for r in results)
    return share * len(results) / len(sizes)
