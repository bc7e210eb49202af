"""Result files: JSON lines, the first about the run, then one a task; of several for the same
task the last counts."""

import json
from pathlib import Path

from .verdict import POINTS


class ResultsError(Exception):
    """A result file that cannot be used."""


def load(path):
    """(header, {key: result})."""
    header, results = {}, {}
    text = Path(path).read_text(encoding="utf-8")
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            if number == len(lines):
                continue  # cut off in the middle of writing
            raise ResultsError(f"{path}:{number}: not a result line") from None
        if "bench" in entry:
            header = entry
        elif "task" in entry:
            results[(entry["task"], entry["property"])] = entry
        else:
            raise ResultsError(f"{path}:{number}: not a result line")
    return header, results


class Writer:
    """Appends to a result file; every line is on disk before the next task starts."""

    def __init__(self, path, header):
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file = open(path, "a+b")
        size = self.file.seek(0, 2)
        if size == 0:
            self.write(header)
        else:
            self.file.seek(size - 1)
            if self.file.read(1) != b"\n":
                self._drop_cut_off_line()

    def _drop_cut_off_line(self):
        self.file.seek(0)
        whole = self.file.read().rfind(b"\n") + 1
        self.file.truncate(whole)
        self.file.seek(0, 2)

    def write(self, entry):
        self.file.write(json.dumps(entry, ensure_ascii=False).encode() + b"\n")
        self.file.flush()

    def close(self):
        self.file.close()


def score(results):
    return sum(POINTS[r["status"]] for r in results)


def best_score(results):
    return sum({"true": 2, "false": 1}.get(r["expected"], 0) for r in results)
