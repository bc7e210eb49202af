"""Measures how often the harnesses of violations with threads fail natively."""

import argparse
import json
import os
import re
import shlex
import subprocess
import tempfile
from pathlib import Path

from benchtool import tables

ROOT = Path(__file__).resolve().parents[2]

DESCRIPTION = """\
Reads the results of `scripts/batch run` for tasks with threads. Each violation that agrees with the label is found again with --harness, compiled with
the command at the top of the harness, and run several times. A run counts as failed if the program ends with an error or a signal within 20 s."""

LIMIT = 20


def main(argv):
    p = argparse.ArgumentParser(prog="scripts/bench-schedules", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("results", nargs="+", type=Path, help="result files of `scripts/batch run`")
    p.add_argument("--folder", type=Path, required=True, help="the folder of the tasks in the results")
    p.add_argument("--proviso", type=Path, default=ROOT / "target/release/proviso")
    p.add_argument("--timeout", type=int, default=30, metavar="SECS", help="the limit for finding a violation (30)")
    p.add_argument("--runs", type=int, default=10, metavar="N", help="runs of each harness (10)")
    options = p.parse_args(argv)
    rows = []
    for path in options.results:
        results = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        found = [r for r in results if r.get("status") == "correct-false"]
        rows += [(r["property"], r["task"], *measured(options, r["task"], r["property"])) for r in found]
    print(tables.head("property", ["violations", "with harness", f"{options.runs} of {options.runs} runs fail", "some", "none"]))
    for name in sorted({row[0] for row in rows}):
        failed = [failed for of, _, failed, _ in rows if of == name]
        ran = [n for n in failed if n is not None]
        cells = [len(failed), len(ran), sum(n == options.runs for n in ran), sum(0 < n < options.runs for n in ran), ran.count(0)]
        print(tables.row(name, cells))
    for name, task, failed, reason in rows:
        if failed != options.runs:
            print(f"{task} ({name}): {reason or f'{failed} of {options.runs}'}")
    return 0


def measured(options, task, checked):
    """Returns the number of runs that fail and no reason, or `None` and the reason why there is no harness to run."""
    with tempfile.TemporaryDirectory() as folder:
        harness = Path(folder) / "harness.c"
        command = [options.proviso.resolve(), "verify", options.folder / task, "--property", checked, "--timeout", options.timeout, "--harness", harness]
        subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if not harness.exists():
            return None, "no harness"
        compiler = re.search(r"^ \*\s+(clang-\d+ .*?) && ", harness.read_text(encoding="utf-8"), re.MULTILINE)
        if compiler is None:
            return None, "the harness has no command"
        # Names in the command are relative to the current folder.
        arguments = shlex.split(compiler.group(1))
        built = subprocess.run([*arguments, "-o", f"{folder}/program"], capture_output=True, text=True, check=False)
        if built.returncode != 0:
            return None, "does not compile: " + built.stderr.strip().splitlines()[0]
        return sum(fails(Path(folder) / "program") for _ in range(options.runs)), None


def fails(program):
    env = {**os.environ, "LSAN_OPTIONS": "use_stacks=0:use_registers=0"}
    try:
        done = subprocess.run([program], cwd=program.parent, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode != 0
