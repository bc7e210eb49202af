"""Compares the verdict of Proviso with the native runs of a program."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from batchtool import runner

from .native import MACHINE, SHARED

MEMORY = 3 << 30


@dataclass
class Verdict:
    options: list
    line: str  # the verdict line
    exit: object
    wall: float
    stderr: str

    @property
    def answer(self):
        return self.line.split("(")[0]


def analyses(proviso):
    text = subprocess.run([proviso, "verify", "--list-analyses"], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in text.splitlines() if line and not line.startswith(" ")]


ASSERTIONS = ["--property", "unreach-call"]
DEFAULT = []  # assertions, memory and undefined behaviour
TERMINATION = ["--property", "termination"]
MEMORY_CHECK = ["--check", "memory"]


def ask(proviso, file, question, options, timeout):
    command = [proviso, "verify", str(file), *question, "--color", "never", "--timeout", str(timeout), *options]
    # Proviso should report by itself that the memory is exhausted.
    command += ["--memory-limit", str(MEMORY // (1 << 20) * 3 // 4)]
    limits = runner.Limits(wall=3 * timeout + 30, cpu=None, memory=MEMORY)
    outcome = runner.run(command, limits)
    lines = outcome.stdout.strip().splitlines()
    line = lines[-1] if lines else ""
    if outcome.killed:
        line = f"KILLED({outcome.killed})"
    return Verdict(options, line, outcome.exit, outcome.wall, outcome.stderr)


def complaint(verdict, holds):
    """Returns what is wrong with a verdict, or `None` if it is correct. UNKNOWN is never wrong."""
    expected = {"TRUE": 0, "FALSE": 1, "UNKNOWN": 2}
    if verdict.answer not in expected or verdict.exit != expected[verdict.answer] or "internal error" in verdict.line:
        return f"crash: {verdict.line} (exit {verdict.exit})"
    if verdict.answer == ("FALSE" if holds else "TRUE"):
        return f"wrong: {verdict.answer}, but the truth is {'TRUE' if holds else 'FALSE'}"
    return None


def reproduces(program, file, harness, folder: Path, flags=()):
    """Checks whether the program with the harness fails natively."""
    binary = folder / "reproduced"
    # The first lines of the harness contain this command.
    renamed = re.findall(r"-D\w+=proviso_\w+", Path(harness).read_text(errors="replace"))
    command = ["clang-19", "-O0", *SHARED, *MACHINE[program.bits], *renamed, *flags, "-o", str(binary), str(file), str(harness), "-lm"]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode != 0:
        return f"the harness does not compile: {made.stderr[-400:]}"
    try:
        run = subprocess.run([str(binary)], stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
    except subprocess.TimeoutExpired:
        return "the harness does not end"
    text = run.stderr.decode(errors="replace")
    failed = "is called" in text or "Assertion" in text or "assertion" in text or "rror: " in text or "ERROR: " in text or run.returncode == -6
    return None if failed else f"the harness does not reproduce it (exit {run.returncode}): {text[-300:]}"
