"""Verifies tasks, validates their witnesses, and validates mutants of the witnesses, which must not be confirmed.

Most mutants are certainly wrong (see benchtool/mutants.py): if the validator confirms one, its answer is wrong, or no execution reaches
the loop. If it confirms an invariant that was tightened, a person must check the invariant. A weakened invariant still holds.

  scripts/bench-witnesses --index corpus/INDEX.tsv --property no-overflow --sample 60 --mutants 4 --out w.jsonl \\
      --check "python3 check_witness.py --program {file} {witness}" \\
      --validator "esbmc --validate-{kind}-witness --witness {witness} {file} --{bits} --k-induction --timeout 10"
"""

import argparse
import json
import re
import shlex
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from batchtool import runner, tasks
from batchtool.report import table
from batchtool.verdict import of_proviso

from benchtool.mutants import WRONG, mutants

REPOSITORY = Path(__file__).resolve().parents[2]
LOOP = re.compile(r"\b(for|while)\s*\((?!\s*0\s*\))")
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
GRACE = 5  # seconds that a run may take beyond its limit
WAITING = 10  # the ratio of the limits on wall time and processor time


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="scripts/bench-witnesses", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--index", type=Path, required=True, help="a list of tasks, as for scripts/bench")
    parser.add_argument("--property", action="append", help="tasks of this property [unreach-call]")
    parser.add_argument("--expected", choices=["true", "false"], help="only tasks with this expected verdict")
    parser.add_argument("--sample", type=int, metavar="N", help="only N tasks, chosen at random with a fixed seed")
    parser.add_argument("--cpu-limit", type=float, default=10, metavar="SECONDS", help="processor time of each run [10]")
    parser.add_argument("--format", choices=["yaml", "graphml"], default="yaml", help="the format of witnesses [yaml]")
    parser.add_argument("--mutants", type=int, default=0, metavar="N", help="the number of mutants of each witness [0]")
    parser.add_argument("--proviso", type=Path, default=REPOSITORY / "target" / "release" / "proviso")
    parser.add_argument(
        "--check", metavar="COMMAND", help="also run this check of the format; {witness} and {file} are placeholders for the witness and the program"
    )
    parser.add_argument(
        "--validator", metavar="COMMAND",
        help="also run this validator, which prints VERIFICATION SUCCESSFUL or FAILED; {kind} is correctness or violation, {bits} 32 or 64",
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="also store the witnesses in this folder")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.jsonl", help="the result file with a line for each task; tasks in it are not run again")
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
    return int(any(is_wrong(m) for d in done for m in d.get("mutants", [])))


def proviso(options, *arguments):
    """Runs the command. Returns (verdict, reason)."""
    command = [options.proviso, *arguments[:1], "--cpu-limit", f"{options.cpu_limit:g}", *arguments[1:]]
    outcome = runner.run([str(c) for c in command], limits(options))
    return of_proviso(outcome)


def examine(task, options):
    """Returns the record of a task: its verdict, whether its witness is confirmed, and which mutants are confirmed."""
    record = {"name": task.name, "property": task.property, "category": task.category, "expected": task.expected}
    with tempfile.TemporaryDirectory() as folder:
        witness = Path(folder) / "witness.yml"
        clang = [f"--error-function={task.error_function}"] if task.error_function and task.property == "unreach-call" else []
        clang += ["--data-model", task.data_model] if task.data_model else []
        clang += ["--", *task.cflags] if task.cflags else []
        files = task.files
        asked = ["--property", task.property_file or task.property]
        option = "--graphml" if options.format == "graphml" else "--witness"
        verdict, reason = proviso(options, "verify", *files, *asked, option, witness, *clang)
        record |= {"verdict": verdict if verdict[:1] in ("T", "F") else "", "reason": reason or verdict}
        if not record["verdict"]:
            return record
        record["loops"] = any(LOOP.search(NO_CODE.sub(" ", f.read_text(errors="replace"))) for f in task.files)
        if not witness.exists() or not witness.stat().st_size:
            return record | {"confirmed": "no witness"}
        text = witness.read_text()
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            (options.keep / f"{task.name.replace('/', '@')}.{task.property}{witness.suffix}").write_text(text)
        record["invariants"] = text.count("- invariant:") + text.count('<data key="invariant">')
        if options.check:
            check = external(options.check, task, witness, verdict, runner.Limits(60, None, 8 << 30))
            record["format"] = "" if check.exit == 0 else (check.stdout + check.stderr).strip()[-300:]
        if options.validator:
            record["validator"] = opinion(external(options.validator, task, witness, verdict, limits(options)))
        start = time.monotonic()
        said, why = proviso(options, "validate", witness, *files, *clang)
        record["seconds"] = round(time.monotonic() - start, 2)
        record["confirmed"] = "yes" if said == record["verdict"] else why or said
        record["mutants"] = []
        if record["confirmed"] == "yes":
            for kind, instead, mutant in mutants(text, task, options.mutants):
                witness.write_text(mutant)
                said, why = proviso(options, "validate", witness, *files, *clang)
                found = {"kind": kind, "instead": instead, "said": why or said, "confirmed": said == record["verdict"]}
                record["mutants"].append(found)
    return record


def is_wrong(mutant):
    """Returns whether the answer for a mutant is certainly wrong."""
    if mutant["kind"] == "weakened":
        return "does not hold" in mutant["said"] or mutant["said"].startswith("FALSE")
    return mutant["kind"] in WRONG and mutant["confirmed"]


def limits(options):
    return runner.Limits(WAITING * options.cpu_limit, options.cpu_limit + GRACE, 8 << 30)


def external(command, task, witness, verdict, limits):
    """Runs a command line from an option."""
    fill = {
        "witness": witness, "file": task.files[0], "bits": 32 if task.data_model == "ILP32" else 64,
        "kind": "correctness" if verdict == "TRUE" else "violation",
    }
    return runner.run([part.format(**fill) for part in shlex.split(command)], limits)


def opinion(outcome):
    """Returns the answer of another validator as a word."""
    found = re.search("VERIFICATION (SUCCESSFUL|FAILED)", outcome.stdout + outcome.stderr)
    return found[1].lower() if found else outcome.killed or "nothing"


def report(records):
    rows = []
    groups = sorted({(r["property"], r["verdict"].partition("(")[0]) for r in records if r["verdict"]})
    for property, word in groups:
        group = [r for r in records if r["property"] == property and r["verdict"].startswith(word)]
        rows.append([property, word, *counts(group)])
        if word == "TRUE":
            rows.append([property, "TRUE, loops", *counts([r for r in group if r.get("loops")])])
    header = ["property", "verdict", "tasks", "witness", "with invariants", "malformed", "confirmed", "%", "mutants", "wrong"]
    print(table(header, rows))
    others = Counter((r["verdict"].partition("(")[0], r["validator"]) for r in records if r.get("validator"))
    for (word, said), count in sorted(others.items()):
        print(f"{count:4}  {word}, the other validator: {said}")
    tried = [(r["name"], m) for r in records for m in r.get("mutants", [])]
    kinds = sorted({m["kind"] for _, m in tried})
    rows = [[k, sum(m["kind"] == k for _, m in tried), sum(m["confirmed"] for _, m in tried if m["kind"] == k)] for k in kinds]
    print(table(["mutants", "tried", "confirmed"], rows))
    for name, mutant in tried:
        if is_wrong(mutant) or mutant["kind"] == "narrowed" and mutant["confirmed"]:
            print(f"{'wrong' if is_wrong(mutant) else 'to look at'}: {name}: {mutant['kind']}, {mutant['instead']}: {mutant['said']}")
    why = Counter(r["confirmed"][:100] for r in records if r.get("confirmed") not in (None, "yes"))
    for reason, count in why.most_common():
        print(f"{count:4}  {reason}")


def counts(group):
    confirmed = sum(r["confirmed"] == "yes" for r in group)
    tried = [m for r in group for m in r.get("mutants", [])]
    return [
        len(group), sum(r["confirmed"] != "no witness" for r in group), sum(r.get("invariants", 0) > 0 for r in group),
        sum(bool(r.get("format")) for r in group), confirmed, f"{100 * confirmed / max(len(group), 1):.0f}",
        len(tried), sum(is_wrong(m) for m in tried),
    ]
