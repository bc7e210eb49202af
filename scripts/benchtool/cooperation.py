"""Measures the tasks that analyses solve in cooperation, and prints tables in the layout of the papers.

Limits are on processor time, so other work on the machine does not change the solved tasks. OUT contains the results; results in it
are not computed again.

  ranges  compositions of ranges and their parts (Haltermann, Jakobs, Richter, Wehrheim, FASE 2023, Tables 1 and 2)
  pairs   a second verifier on the residual program of a first one, by reducer (Beyer, Jakobs: FRed, SEFM 2020, Table 1): the tasks that it
          solves, and in brackets those that neither verifier solves alone in the time of both
  gains   the tasks that compositions solve and no analysis solves alone in the same time, by default of those in open.tsv, which the default
          strategy does not decide in 10 s. An analysis runs alone only on tasks that a composition solves
  sizes   the size of the residual program relative to the program, by reducer (FRed, Fig. 6)
"""

import argparse
import contextlib
import csv
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from batchtool import runner

from . import tables

ROOT = Path(__file__).resolve().parents[2]
SPLITTERS = ["Lb3", "Lb10", "Rdm", "Rdm9"]
# Compositions, with the analyses that they consist of.
RANGED = {
    "Table 1: symbolic execution": {"symex": ["symex"]}
    | {f"Ra-2Se-{s}": ["symex"] for s in SPLITTERS}
    | {f"Ra-3Se-{s}": ["symex"] for s in ("Lb", "Rdm", "Rdm9")},
    "Table 2: bounded model checking": {"bmc": ["bmc"]} | {f"Ra-2bmc-{s}": ["bmc"] for s in SPLITTERS},
    "Table 2: symbolic execution and predicates": {"symex": ["symex"], "predicate": ["predicate"]}
    | {f"Ra-Se-Pred-{s}": ["symex", "predicate"] for s in SPLITTERS},
}
VERIFIERS = ["symex", "predicate", "value"]
ALONE = ["default", "symex", "predicate", "value", "value-predicate", "bmc", "k-induction", "invariants"]
# In the syntax that `options` parses.
TOGETHER = "Ra-2Se-Lb3; Ra-Se-Pred-Lb3; symex + predicate; predicate + symex; value + nlh: predicate; cc-gia"
REDUCERS = ["parcomp", "cfa", "lh", "lhc", "lhb", "lhbc", "nlh"]
EXTERNAL = ("esbmc", "klee")
PROPERTY = ["--property", "unreach-call"]


def options(name):
    """Returns the options for an analysis, a composition of ranges, `FIRST + REDUCER: SECOND`, or component CEGAR."""
    if name in ("cc-gia", "cc-wit"):
        return [f"--{name}"]
    if name.startswith("Ra-"):
        return ["--ranged", name]
    first, plus, then = name.partition(" + ")
    return ["--analysis", first, *(["--then", then] if plus else [])]


def ranges(args):
    names = list(dict.fromkeys(n for compositions in RANGED.values() for n in compositions))
    chosen = [n.strip() for n in args.names.split(";")] if args.names else names
    for name in chosen:
        run = ["run", "--proviso", args.proviso, "--index", args.suite / "INDEX.tsv", "--only", args.only, "--property", "unreach-call"]
        # The limit on wall time ends runs that hang.
        limits = ["--no-report", "--timeout", args.cpu * 8, "--cpu-limit", args.cpu, "--jobs", 1, "--out", tables.file_of(args.out, name), "--", *options(name)]
        print(name, file=sys.stderr)
        if subprocess.run([ROOT / "scripts/batch", *map(str, run + limits)], stdout=subprocess.DEVNULL, check=False).returncode > 2:
            return 1
    known = {n: tables.results(tables.file_of(args.out, n)) for n in names if tables.file_of(args.out, n).exists()}
    parts = {n: p for compositions in RANGED.values() for n, p in compositions.items()}
    for name in chosen:
        missing = [n for n in parts.get(name, []) if n not in known]
        if missing or name not in parts:
            text = f"there are no results of its parts in {args.out}: --names '{';'.join(missing)}'" if missing else "the papers have none of this name"
            print(f"{name} is in no table: {text}", file=sys.stderr)
    for title, compositions in RANGED.items():
        if not any(n in known and all(p in known for p in of) for n, of in compositions.items()):
            continue
        print("\n".join([*tables.gains(title, compositions, known, args.cpu), ""]))
    return 0


def measured(command, cpu, gently=False):
    """Runs a command. Returns its standard output and its processor time in seconds, including that of other tools. At the limit, the
    command is interrupted (`gently`) or killed."""
    with tempfile.TemporaryFile() as out:
        begin = os.times()
        child = subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL, start_new_session=True)
        told, last = None, time.monotonic() + 60 + 30 * cpu
        while child.poll() is None:
            time.sleep(0.1)
            if told is None and runner.session_usage(child.pid)[1] > cpu:
                told = time.monotonic()
                os.kill(child.pid, signal.SIGINT if gently else signal.SIGKILL)
            if time.monotonic() > (last if told is None else told + 60):
                child.kill()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        end = os.times()
        out.seek(0)
        text = out.read().decode(errors="replace")
    return text, end.children_user + end.children_system - begin.children_user - begin.children_system


def read_list(path, suite):
    """Yields the lines of a list: a task of the suite, or `paths/FILE.c` of this repository with options of clang."""
    for line in path.read_text(encoding="utf-8").splitlines():
        name, *options = line.split()
        if not name.startswith("#"):
            yield [str(ROOT / "scripts/benchtool" / name if name.startswith("paths/") else suite / name), *options]


def verdict_of(text):
    last = (text.strip().splitlines() or [""])[-1]
    return next((v for v in ("TRUE", "FALSE", "UNKNOWN") if last.startswith(v)), "ERROR")


class Results:
    """The results of runs, stored in a file."""

    def __init__(self, path):
        self.path = path
        rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        self.known = {tuple(r["run"]): (r["verdict"], r["cpu"]) for r in rows}

    def of(self, run, command, cpu, gently=False):
        if run not in self.known:
            text, spent = measured(command, cpu, gently)
            self.known[run] = (verdict_of(text) if spent <= cpu + 0.5 or gently else "UNKNOWN", round(spent, 3))
            with self.path.open("a", encoding="utf-8") as out:
                out.write(json.dumps({"run": run, "verdict": self.known[run][0], "cpu": self.known[run][1]}) + "\n")
        return self.known[run][0]


def second(verifier):
    return ["--external", verifier, "--first-for", "0"] if verifier in EXTERNAL else ["--analysis", verifier]


def pairs(args):
    """Runs each first verifier once, as in the paper, and each second one on the residual programs of the first one."""
    args.out.mkdir(parents=True, exist_ok=True)
    results = Results(args.out / "pairs.jsonl")
    tasks = read_tasks(args)
    of_each = [pair.split("+") for pair in args.pairs.split()]
    wrong = set()
    for first in dict.fromkeys(pair[0] for pair in of_each):
        left = []
        for task, expected in tasks:
            condition = args.out / "conditions" / first / (task.replace("/", "+") + ".txt")
            condition.parent.mkdir(parents=True, exist_ok=True)
            command = [args.proviso, "verify", *PROPERTY, "--analysis", first, "--save-condition", condition, args.suite / task]
            verdict = results.of((first, "", "", task), command, args.first, gently=True)
            if verdict in ("TRUE", "FALSE"):
                wrong |= {(first, task)} if verdict.lower() != expected else set()
            elif condition.exists():
                left.append((task, expected, condition))
        unsolved = len(left)
        # Without an accepting state, no part of the program is verified, so these tasks are not counted.
        left = [(t, e, c) for t, e, c in left if " accepting" in c.read_text()]
        print(f"\n**{first}**, {args.first:g} s: {unsolved} of {len(tasks)} tasks are unsolved, {len(left)} of these partly verified:\n")
        columns = [v for f, v, _ in of_each if f == first]
        print(tables.head("then", columns))
        by = {}
        for reducer in ["the whole program", *REDUCERS]:
            for f, verifier, which in of_each:
                if f != first or reducer in REDUCERS and which != "all" and reducer not in which.split(","):
                    continue
                for task, expected, condition in left:
                    how = [] if reducer not in REDUCERS else ["--resume", condition, "--reducer", reducer]
                    command = [args.proviso, "verify", *PROPERTY, *second(verifier), *how, args.suite / task]
                    key = (first, reducer, verifier, task) if how else ("", "", verifier, task)
                    # Alone, a verifier has the time of both.
                    verdict = results.of(key, command, args.cpu + (0 if how else args.first), verifier in EXTERNAL)
                    if verdict.lower() == expected:
                        by.setdefault((reducer, verifier), set()).add(task)
                    elif verdict in ("TRUE", "FALSE"):
                        wrong.add((first, reducer, verifier, task))
                by.setdefault((reducer, verifier), set())
            whole = {v: by.get(("the whole program", v), set()) for v in columns}
            alone = {v: found | whole.get(first, set()) for v, found in whole.items()}
            cells = [f"{len(by[reducer, v])} ({len(by[reducer, v] - alone[v])})" if (reducer, v) in by else "" for v in columns]
            print(tables.row(reducer, cells), flush=True)
        for verifier in columns:
            of = {r: by[r, verifier] for r in REDUCERS if (r, verifier) in by}
            for reducer, found in of.items():
                only = found.difference(*(o for r, o in of.items() if r != reducer)) if len(of) > 1 else set()
                for task in sorted(only):
                    print(f"\nonly {reducer} lets {verifier} solve {task}")
    for run in sorted(wrong):
        print("unlike the label:", *run, file=sys.stderr)
    return 0


def gains(args):
    args.out.mkdir(parents=True, exist_ok=True)
    results = Results(args.out / "gains.jsonl")
    tasks, wrong = read_tasks(args), set()

    def solves(name, task, expected):
        command = [args.proviso, "verify", *PROPERTY, "--cpu-limit", args.cpu, *options(name), args.suite / task]
        verdict = results.of((name, task), command, args.cpu + 1)
        if verdict in ("TRUE", "FALSE") and verdict.lower() != expected:
            wrong.add((name, task))
        return verdict.lower() == expected

    names = [n.strip() for n in (args.names or TOGETHER).split(";")]
    # All compositions run on a task before the next task, so that the results of an interrupted run are comparable.
    solved = {t: [n for n in names if solves(n, t, e)] for t, e in tasks}
    alone = {t: [n for n in ALONE if solves(n, t, e)] for t, e in tasks if solved[t]}
    print(tables.head(f"{len(tasks)} tasks, {args.cpu:g} s", ["solved", "by no analysis alone"]))
    for name in names:
        found = [t for t, _ in tasks if name in solved[t]]
        print(tables.row(name, [len(found), sum(not alone[t] for t in found)]))
    for task in alone:
        print(f"\n{task}: {', '.join(solved[task])}; alone: {', '.join(alone[task]) or 'none'}")
    for run in sorted(wrong):
        print("unlike the label:", *run, file=sys.stderr)
    return 0


def read_tasks(args):
    names = {line.split("\t")[0].strip() for line in args.only.read_text(encoding="utf-8").splitlines()}
    with (args.suite / "INDEX.tsv").open(encoding="utf-8") as index:
        rows = [r for r in csv.DictReader(index, delimiter="\t") if r["property"] == "unreach-call" and r["path"] in names]
    return [(r["path"], r["expected"]) for r in rows]


def sizes(args):
    ratios = {reducer: [] for reducer in REDUCERS}
    with tempfile.TemporaryDirectory() as work:
        condition, rest = Path(work) / "condition", Path(work) / "rest.c"
        for task, _ in read_tasks(args):
            first = [args.proviso, "verify", *PROPERTY, "--analysis", "symex", "--save-condition", condition, args.suite / task]
            text, _ = measured(first, args.first, gently=True)
            if verdict_of(text) != "UNKNOWN" or " accepting" not in condition.read_text():
                continue  # nothing is left, or nothing was done
            for reducer in REDUCERS:
                command = [args.proviso, "reduce", *PROPERTY, "--condition", condition, "--reducer", reducer, args.suite / task, "-o", rest]
                said = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300, check=False)
                found = re.search(r"([0-9.]+) times the program's", said.stdout + said.stderr)
                if found:
                    ratios[reducer].append(float(found[1]))
                else:
                    print(f"{task}, {reducer}: {(said.stderr.strip().splitlines() or ['nothing said'])[-1]}", file=sys.stderr)
    print(tables.head("reducer", ["residual programs", "median", "largest"]))
    for reducer, found in ratios.items():
        if found:
            print(tables.row(reducer, [len(found), f"{statistics.median(found):.2f}", f"{max(found):.2f}"]))
    return 0


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench-cooperation", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("ranges", "pairs", "gains", "sizes"))
    parser.add_argument("suite", type=Path, help="a folder with INDEX.tsv")
    parser.add_argument("out", type=Path, help="a folder for results")
    parser.add_argument("--only", type=Path, help="the tasks, in the first column [200 of all categories, analyses.tsv; for gains open.tsv]")
    parser.add_argument("--proviso", default=ROOT / "target/release/proviso")
    parser.add_argument("--cpu", type=float, help="seconds of processor time for a task, or for the second of two [2; for gains 10]")
    parser.add_argument("--first", type=float, default=1, help="seconds of processor time for the first of two [1]")
    parser.add_argument("--names", help=f"only these configurations, separated by semicolons [for gains {TOGETHER}]")
    every = " ".join(f"{a}+{b}+{'all' if (a, b) == ('symex', 'predicate') else 'parcomp'}" for a in VERIFIERS for b in VERIFIERS)
    parser.add_argument("--pairs", default=every, help=f"FIRST+SECOND+REDUCERS of each pair; REDUCERS separated by commas, or all [{every}]")
    args = parser.parse_args()
    args.only = args.only or ROOT / "scripts/benchtool" / ("open.tsv" if args.what == "gains" else "analyses.tsv")
    args.cpu = args.cpu or (10 if args.what == "gains" else 2)
    return {"ranges": ranges, "pairs": pairs, "gains": gains, "sizes": sizes}[args.what](args)
