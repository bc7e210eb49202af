"""Generates tests for programs that take arguments, environment variables, standard input and files, and runs them natively.

The numbers are those of `proviso testgen --run`: lines and branches of the first C file as llvm-cov counts them in the native runs, and the
goals of testgen. Goals that are `beyond` were reached, but only with values that no test determines.
`broken` counts the places that a test covers in the interpreter but not natively: a defect of Proviso, unless the program depends on what no
test determines. A failed program is listed below the table.

`--against afl` also fuzzes each program with AFL++, for the same processor time (`benchtool/fuzzing.py`).
"""

import json
import resource
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from batchtool.report import table
from benchtool import coreutils, fuzzing

GRACE = 300  # the wall time in seconds for building the program and for the native runs, beyond the limit of the search
WAITING = 20  # the limit of the wall time of the search, as a multiple of that of the processor time
COLUMNS = ("lines", "branches", "goals", "covered", "unreachable", "beyond", "open", "tests", "broken", "CPU s")


def of_list(path):
    """Returns the programs in a list: a name, a tab, and the arguments of testgen, relative to the folder of the list."""
    rows = [line.split("\t") for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    return [(name, shlex.split(arguments), path.resolve().parent) for name, arguments in rows]


def measure(name, arguments, folder, options):
    """Generates the tests of one program and runs them. Returns a row of the table."""
    with tempfile.TemporaryDirectory() as place:
        result, suite = Path(place) / "result.json", Path(place) / "suite"
        command = [options.proviso.resolve(), "testgen", *arguments, "-o", suite, "--json", result, "--run", "--cpu-limit", f"{options.cpu_limit:g}"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=WAITING * options.cpu_limit + GRACE)
        except subprocess.TimeoutExpired:
            return {"name": name, "failed": "does not end"}
        if not result.exists():
            return {"name": name, "failed": (done.stderr or done.stdout).strip()[-300:] or f"exit {done.returncode}"}
        said = json.loads(result.read_text())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    native = said["native"]
    return {
        "name": name, **own(native, arguments, folder), "goals": len(said["goals"]),
        "covered": said["covered"], "unreachable": said["unreachable"], "tests": said["tests"], "runs": said["runs"],
        "beyond": sum(goal["beyond"] for goal in said["goals"]),
        "open": [f"{place['file']}:{place['line']}: {goal['condition']}" if (place := goal["location"]) else goal["condition"]
                 for goal in said["goals"] if goal["status"] == "open" and not goal["beyond"]],
        "broken": native["broken"], "cpu": sum(after[:2]) - sum(before[:2]),
    }


def own(native, arguments, folder):
    """Returns the lines and branches of the first C file: the program without the files of its library."""
    first = next((folder / argument for argument in arguments if argument.endswith(".c")), None)
    file = next((file for file in native["files"] if first and (folder / file["file"]).resolve() == first.resolve()), native)
    return {"lines": file["lines"], "branches": file["branches"]}


def fuzz(row, arguments, folder, options):
    """Adds the results of AFL++ to a row."""
    fuzzed = fuzzing.fuzz(arguments, folder, options.cpu_limit)
    return {**row, **({"failed": f"afl: {fuzzed['failed']}"} if "failed" in fuzzed else {"afl": fuzzed})}


def share(part):
    return f"{part['covered']}/{part['total']}"


def total(parts):
    return f"{sum(part['covered'] for part in parts)}/{sum(part['total'] for part in parts)}"


def report(rows):
    """Prints a table with a row for each program, and a row with the sums."""
    failed, rows = [row for row in rows if "failed" in row], [row for row in rows if "failed" not in row]
    is_fuzzed = any("afl" in row for row in rows)
    header = ["program", *COLUMNS, *(["AFL++ lines", "AFL++ branches", "AFL++ inputs"] if is_fuzzed else [])]
    cells = [[row["name"], share(row["lines"]), share(row["branches"]), row["goals"], row["covered"], row["unreachable"], row["beyond"], len(row["open"]),
              row["tests"], len(row["broken"]), f"{row['cpu']:.1f}",
              *([share(row["afl"]["lines"]), share(row["afl"]["branches"]), row["afl"]["tests"]] if is_fuzzed else [])] for row in rows]
    sums = [total([row[key] for row in rows]) for key in ("lines", "branches")]
    sums += [sum(row[key] for row in rows) for key in ("goals", "covered", "unreachable", "beyond")]
    sums += [sum(len(row["open"]) for row in rows), sum(row["tests"] for row in rows), sum(len(row["broken"]) for row in rows)]
    sums.append(f"{sum(row['cpu'] for row in rows):.1f}")
    if is_fuzzed:
        sums += [total([row["afl"][key] for row in rows]) for key in ("lines", "branches")]
        sums.append(sum(row["afl"]["tests"] for row in rows))
    print(table(header, [*cells, [f"{len(rows)} programs", *sums]]))
    for name, lines in (("", [row["lines"] for row in rows]), (" by AFL++", [row["afl"]["lines"] for row in rows if is_fuzzed])):
        if lines:
            print(f"line coverage{name} on average: {sum(100 * part['covered'] / part['total'] for part in lines) / len(lines):.1f} %")
    for row in rows:
        for goal in row["open"]:
            print(f"open in {row['name']}: {goal}")
        for broken in row["broken"]:
            print(f"broken in {row['name']}: test {broken['test']} {broken['file']}:{broken['line']}: {broken['goals']}")
    for row in failed:
        print(f"not measured: {row['name']}: {row['failed']}")


def main(options):
    chosen = [(file.stem, [file.name], file.resolve().parent) for file in options.files]
    for path in options.list:
        chosen += of_list(path)
    if options.coreutils:
        folder, *names = options.coreutils
        chosen += coreutils.programs(Path(folder).resolve(), names)
    rows = []
    for name, arguments, folder in chosen:
        row = measure(name, arguments, folder, options)
        if "afl" in options.against and "failed" not in row:
            row = fuzz(row, arguments, folder, options)
        print(json.dumps(row), file=sys.stderr)
        rows.append(row)
        if options.out:
            with options.out.open("a") as out:
                print(json.dumps(row), file=out)
    report(rows)
    return 0
