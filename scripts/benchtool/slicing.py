"""Runs `proviso slice` on programs and reports the sizes of slices, and the time and memory for computing them."""

import argparse
import glob
import json
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from . import growth
from batchtool.report import table

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAMS = REPOSITORY / "slicer" / "benches" / "programs.toml"
# The phases in the output of `proviso slice`, and the columns that contain the sums of their times.
PHASES = {
    "points-to": "points-to",
    "reachability": "graph",
    "memory_regions": "mod-ref",
    "mod-ref": "mod-ref",
    "dependence_graph": "graph",
    "backward_walk": "walk",
    "building_the_slice": "walk",
}
COLUMNS = ["points-to", "mod-ref", "graph", "walk"]


def main(arguments):
    parser = argparse.ArgumentParser(prog="scripts/bench-slicer", description=__doc__)
    parser.add_argument("--proviso", type=Path, default=REPOSITORY / "target" / "release" / "proviso")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="limit for each slice [600]")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="take the fastest of N runs [1]")
    commands = parser.add_subparsers(required=True)
    sub = commands.add_parser("table", help="slice real programs and print a table")
    sub.add_argument("programs", type=Path, nargs="?", default=PROGRAMS, help="a list as in slicer/benches/programs.toml")
    sub.add_argument("--only", metavar="NAME", help="only programs whose name contains this")
    sub.add_argument("--option", action="append", default=[], help="an option for proviso slice")
    sub.set_defaults(run=print_table)
    sub = commands.add_parser("growth", help="slice programs of growing size, fit the exponent and draw a plot")
    sub.add_argument("--sizes", default="1000,3000,10000,30000,100000,300000,1000000", help="instructions")
    sub.add_argument("--copies-of", metavar="NAME", help="use copies of this program instead of random programs (csmith)")
    sub.add_argument("--programs", type=Path, default=PROGRAMS)
    sub.add_argument("--criterion", help="slicing criterion [the result of main, for random programs; otherwise the first criterion of the program]")
    sub.add_argument("--cache", type=Path, help="a folder for the generated programs")
    sub.add_argument("--option", action="append", default=[], help="an option for proviso slice")
    sub.add_argument("-o", "--output", type=Path, default=Path("growth.svg"), metavar="FILE.svg")
    sub.set_defaults(run=growth.run)
    options = parser.parse_args(arguments)
    return options.run(options) or 0


def expand(pattern, folder):
    """Returns the files that match a pattern with `~`, `*` and `{a,b}`."""
    braces = re.search(r"\{([^}]*)\}", pattern)
    if braces:
        alternatives = [pattern[: braces.start()] + a + pattern[braces.end() :] for a in braces[1].split(",")]
        return [file for a in alternatives for file in expand(a, folder)]
    return sorted(glob.glob(str(folder / Path(pattern).expanduser())))


def clang_options(program, folder):
    """Expands patterns in include folders."""
    found = []
    for option in program.get("clang", []):
        folders = expand(option[2:], folder) if option.startswith("-I") else []
        found.append("-I" + folders[0] if folders else option)
    return found


def load(path):
    """Returns the programs of a list, with their files."""
    for program in tomllib.loads(path.read_text())["program"]:
        files = [expand(pattern, path.parent) for pattern in program["files"]]
        if not all(files):
            print(f"{program['name']}: no sources; cargo fetch {program.get('crate', 'them')}", file=sys.stderr)
            continue
        program["files"] = sum(files, [])
        program["clang"] = clang_options(program, path.parent)
        yield program


def slice_once(options, files, criterion, clang=()):
    """Returns the JSON result of a run, with its wall time in `wall`, or None if there is no result."""
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        command = [options.proviso, "slice", *files, "--criterion", criterion, "--json", result.name, *options.option]
        command += ["--", *clang] if clang else []
        start = time.monotonic()
        try:
            done = subprocess.run(command, timeout=options.timeout, capture_output=True, text=True)
        except subprocess.TimeoutExpired:
            return None
        wall = time.monotonic() - start
        if done.returncode != 0:
            print(f"{criterion}: {done.stderr.strip()[-600:]}", file=sys.stderr)
            return None
        found = json.loads(Path(result.name).read_text())
    found["wall"] = wall
    found["phases"] = {c: sum(found["seconds"].get(p, 0) for p, column in PHASES.items() if column == c) for c in COLUMNS}
    found["slicing"] = sum(found["phases"].values())
    return found


def slice_best(options, *arguments):
    """Returns the fastest of some runs."""
    runs = [slice_once(options, *arguments) for _ in range(options.repeat)]
    return min((r for r in runs if r), key=lambda r: r["slicing"], default=None)


def print_table(options):
    rows = []
    for program in load(options.programs):
        if options.only and options.only.lower() not in program["name"].lower():
            continue
        for criterion in program["criteria"]:
            found = slice_best(options, program["files"], criterion, program["clang"])
            rows.append([f"{program['name']}: {criterion}", *row(found)])
            print(f"{program['name']} {criterion}: {'done' if found else 'failed'}", file=sys.stderr)
    header = ["program and criterion", "instr.", "kept", "%", "functions", "kept", "lines", "kept"]
    print(table(header + [f"{c}/s" for c in COLUMNS] + ["slicing/s", "all/s", "MB"], rows))


def row(found):
    if not found:
        return ["-"] * (7 + len(COLUMNS) + 3)
    before, after = found["before"], found["after"]
    instructions = before["size"]["instructions"], after["size"]["instructions"]
    return [
        *instructions,
        f"{100 * instructions[1] / max(1, instructions[0]):.0f}",
        before["size"]["functions"],
        after["size"]["functions"],
        before["lines"],
        after["lines"],
        *(f"{found['phases'][c]:.2f}" for c in COLUMNS),
        f"{found['slicing']:.2f}",
        f"{found['wall']:.1f}",
        found["peak_memory_mb"],
    ]
