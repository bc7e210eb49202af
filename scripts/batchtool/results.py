"""Result files: JSON lines, the first about the run, then one a task; of several for the same task the last counts. Before the line of
a task in ranges come those of its steps.

Several batches may work on one file at once, on one machine or on several that share a file system with locks: a line is
appended in one write under a lock, and a task is run only by who holds the lock of its name. Locks go with their process,
so nothing is left to clean up when one is killed."""

import fcntl
import hashlib
import json
import os
import struct
import threading
from collections import Counter
from pathlib import Path

from .verdict import POINTS

# Locks are bytes far behind the end of the file: one for appending, one for each task.
APPENDING = 1 << 60
TASKS = 1 << 61


class ResultsError(Exception):
    """A result file that cannot be used."""


def load(path):
    """(header, {key: result})."""
    ledger = Ledger.read(path)
    return ledger.header, ledger.finished


class Ledger:
    """A result file that is read, and appended to."""

    def __init__(self, path, flags):
        self.path = path
        self.file = os.open(path, flags | os.O_CLOEXEC, 0o666)
        self.header, self.finished, self.driver = {}, {}, None
        self.steps = {}  # of tasks in ranges that are not finished: their lines, by key
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
        """Opens or makes the file."""
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
        """Reads what was appended since the last time, by whomever."""
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
                return  # its writer was killed, or the disk was full; the task is run again
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
        """Appends a line; it is in the file when this returns."""
        with self.mutex, self.locked(APPENDING):
            self.write(entry)

    def write(self, entry):
        line = json.dumps(entry, ensure_ascii=False).encode() + b"\n"
        size = os.fstat(self.file).st_size
        if size and os.pread(self.file, 1, size - 1) != b"\n":
            line = b"\n" + line  # after a line that was cut off
        written = os.write(self.file, line)
        if written != len(line):
            raise ResultsError(f"{self.path}: the disk is full")

    def claim(self, key):
        """Whether this process may run the task now: it has no result, and nobody else is at it."""
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
        """Whether it was locked. The lock is that of the open file, not of the process, and other opens of it do not end it."""
        command = fcntl.F_OFD_SETLKW if wait else fcntl.F_OFD_SETLK
        try:
            fcntl.fcntl(self.file, command, struct.pack("hhqqi4x", kind, os.SEEK_SET, byte, 1, 0))
            return True
        except BlockingIOError:
            return False
        except PermissionError:  # what it is on some file systems
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
    """The byte that stands for a task. Two tasks with one byte are only not run at the same time."""
    return TASKS + int.from_bytes(hashlib.sha256("\0".join(key).encode()).digest()[:7], "big")


def score(results):
    return sum(POINTS[r["status"]] for r in results)


def best_score(results):
    return sum({"true": 2, "false": 1}.get(r["expected"], 0) for r in results)


def normalised_score(results):
    """As SV-COMP sums up categories: each counts as much as the others, however many tasks it has."""
    results = [r for r in results if r["expected"] in ("true", "false")]
    sizes = Counter((r["property"], r["category"]) for r in results)
    if not sizes:
        return 0.0
    share = sum(POINTS[r["status"]] / sizes[r["property"], r["category"]] for r in results)
    return share * len(results) / len(sizes)
