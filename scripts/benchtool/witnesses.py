"""Verifies tasks with a witness, validates each witness from the file alone, and mutants of it, which must not be confirmed.

Mutants that are wrong for sure: an invariant that holds, negated (where its loop is reached at all), and a target on a line
without the error. So a mutant that is confirmed is a wrong answer of the validator, or a loop that no execution reaches.
"""

import argparse
import json
import random
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path

from batchtool import runner, tasks
from batchtool.report import table
from batchtool.verdict import of_proviso

REPOSITORY = Path(__file__).resolve().parents[2]
GRACE = 5  # seconds a run may take beyond its time limit


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="scripts/bench-witnesses", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--index", type=Path, required=True, help="a list of tasks, as for scripts/bench")
    parser.add_argument("--property", action="append", help="tasks of this property [unreach-call]")
    parser.add_argument("--expected", choices=["true", "false"], help="tasks with this label only")
    parser.add_argument("--sample", type=int, metavar="N", help="so many tasks only, always the same")
    parser.add_argument("--timeout", type=float, default=10, metavar="SECONDS", help="of each run [10]")
    parser.add_argument("--mutants", type=int, default=0, metavar="N", help="of each witness [0]")
    parser.add_argument("--proviso", type=Path, default=REPOSITORY / "target" / "release" / "proviso")
    parser.add_argument("--check", type=Path, metavar="SCRIPT", help="also run this check of the format: SCRIPT WITNESS FILE")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.jsonl", help="a line a task; tasks in it are not run again")
    options = parser.parse_args(arguments)
    chosen = tasks.read_index(options.index)
    chosen = [t for t in chosen if t.property in (options.property or ["unreach-call"])]
    if options.expected:
        chosen = [t for t in chosen if t.expected == options.expected]
    if options.sample:
        chosen = tasks.sample(chosen, options.sample, seed=0)
    done = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.exists() else []
    known = {(d["name"], d["property"]) for d in done}
    with options.out.open("a") as out:
        for task in chosen:
            if task.key in known:
                continue
            record = examine(task, options)
            done.append(record)
            print(json.dumps(record), file=out, flush=True)
            print(f"{record['verdict'] or record['reason']}: {record.get('confirmed', '-')}  {task.name}", file=sys.stderr)
    report(done)
    return int(any(m["confirmed"] for d in done for m in d.get("mutants", [])))


def proviso(options, *arguments):
    """What a run of the command says: (verdict, reason)."""
    command = [options.proviso, *arguments, "--timeout", f"{options.timeout:g}"]
    outcome = runner.run([str(c) for c in command], runner.Limits(options.timeout + GRACE, None, 8 << 30))
    return of_proviso(outcome)


def examine(task, options):
    """One task: its verdict, whether its witness is confirmed, and which mutants of it are."""
    record = {"name": task.name, "property": task.property, "category": task.category, "expected": task.expected}
    with tempfile.TemporaryDirectory() as folder:
        witness = Path(folder) / "witness.yml"
        clang = [f"--error-function={task.error_function}"] if task.error_function and task.property == "unreach-call" else []
        clang += ["--data-model", task.data_model]
        files = [*task.files, *task.cflags]
        asked = ["--property", task.property_file] if task.property_file else []
        verdict, reason = proviso(options, "verify", *files, *asked, *clang, "--witness", witness)
        record |= {"verdict": verdict if verdict[:1] in ("T", "F") else "", "reason": reason or verdict}
        if not record["verdict"]:
            return record
        if not witness.exists() or not witness.stat().st_size:
            return record | {"confirmed": "no witness"}
        text = witness.read_text()
        record["invariants"] = text.count("- invariant:")
        if options.check:
            check = runner.run(["python3", str(options.check), str(witness), str(task.files[0])], runner.Limits(60, None, 1 << 30))
            record["format"] = "" if check.exit == 0 else (check.stdout + check.stderr).strip()[-300:]
        said, why = proviso(options, "validate", witness, *files, *clang)
        record["confirmed"] = "yes" if said == record["verdict"] else why or said
        record["mutants"] = []
        if record["confirmed"] == "yes":
            for kind, mutant in mutants(text, task, options.mutants):
                witness.write_text(mutant)
                said, why = proviso(options, "validate", witness, *files, *clang)
                record["mutants"].append({"kind": kind, "said": said or why, "confirmed": said == record["verdict"]})
    return record


def mutants(text, task, count):
    """Up to `count` wrong versions of a witness, with what was done to each."""
    dice = random.Random(task.name)
    found = []
    # Each invariant of its own: negated, it cannot hold where the loop is reached.
    for match in re.finditer(r"^(\s*value: )(.*)$", text, re.MULTILINE):
        value = match[2].strip()
        if "\\result" in value or "invariant_set" not in text:
            continue
        bare = value[1:-1].replace("''", "'") if value[0] == value[-1] == "'" else value.strip('"')
        negated = "'!(" + bare.replace("'", "''") + ")'"
        found.append(("negated", text[: match.start(2)] + negated + text[match.end(2) :]))
    if "violation_sequence" in text:
        # The target: the last waypoint.
        line = list(re.finditer(r"^(\s*line: )(\d+)$", text, re.MULTILINE))[-1]
        source = task.files[0].read_text(errors="replace").splitlines()
        quiet = [n for n, code in enumerate(source, 1) if code.strip() in ("}", "", "{")]
        for number in dice.sample(quiet, min(count, len(quiet))):
            found.append(("moved", text[: line.start(2)] + str(number) + text[line.end(2) :]))
    dice.shuffle(found)
    return found[:count]


def report(records):
    rows = []
    groups = sorted({(r["property"], r["verdict"].partition("(")[0]) for r in records if r["verdict"]})
    for property, word in groups:
        group = [r for r in records if r["property"] == property and r["verdict"].startswith(word)]
        confirmed = sum(r["confirmed"] == "yes" for r in group)
        tried = [m for r in group for m in r.get("mutants", [])]
        rows.append([
            property, word, len(group), sum(r["confirmed"] != "no witness" for r in group),
            sum(r.get("invariants", 0) > 0 for r in group), sum(bool(r.get("format")) for r in group),
            confirmed, f"{100 * confirmed / len(group):.0f}", len(tried), sum(m["confirmed"] for m in tried),
        ])
    header = ["property", "verdict", "tasks", "witness", "with invariants", "malformed", "confirmed", "%", "mutants", "confirmed"]
    print(table(header, rows))
    why = Counter(r["confirmed"][:100] for r in records if r.get("confirmed") not in (None, "yes"))
    for reason, count in why.most_common():
        print(f"{count:4}  {reason}")
