"""Generates tests for programs, runs each test natively, and counts the covered branches with gcov.

A driver defines the `__VERIFIER_nondet_*` functions, and so passes the inputs of a test to the program. The table has a row for each program:
the branches, the tests, and the processor time for generating them. The branches are those that gcov counts in the program's own file: both sides
of each branch in gcc's -O0 code. A program that cannot be compiled and linked is listed below the table.

`--against` adds other tools, with the same programs and the same time: `cotest` (testgen --cotest), `tester` (symbolic execution alone,
without proofs), random bytes, AFL++ (`afl-cc` and `afl-fuzz`, from one seed of 64 zero bytes; the inputs in its corpus, its crashes and its
hangs count as tests), and KLEE (with the `clang` and `llvm-link` of its LLVM).

`--run` is for programs that take arguments, environment variables, standard input and files. Their tests are run by `proviso testgen --run`, which
reports the lines and branches that llvm-cov counts. `--against afl` fuzzes their arguments and standard input.
"""

import argparse
import json
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

from batchtool import runner, tasks
from batchtool.report import table
from benchtool import programs

REPOSITORY = Path(__file__).resolve().parents[2]
GRACE = 5  # the time in seconds that a run may take beyond its limit
WAITING = 10  # the limit of the wall time, as a multiple of that of the processor time
OF_TEST = 0.1  # the processor time in seconds of a native run of a test: it covers its branches soon, and some programs do not terminate

INTEGERS = {
    "bool": "_Bool", "_Bool": "_Bool", "char": "char", "schar": "signed char", "uchar": "unsigned char", "short": "short",
    "ushort": "unsigned short", "int": "int", "uint": "unsigned", "unsigned": "unsigned", "long": "long",
    "ulong": "unsigned long", "longlong": "long long", "ulonglong": "unsigned long long", "size_t": "__SIZE_TYPE__",
    "S8": "signed char", "U8": "unsigned char", "S16": "short", "U16": "unsigned short", "S32": "int", "U32": "unsigned",
    "S64": "long long", "U64": "unsigned long long", "u8": "unsigned char", "u16": "unsigned short", "u32": "unsigned",
    "loff_t": "long long", "sector_t": "unsigned long", "pthread_t": "unsigned long", "unsigned_char": "unsigned char",
    "unsigned_int": "unsigned", "unsigned_long": "unsigned long",
}
FLOATS = {"float": "float", "double": "double"}
# Branches that a run covers count even if a signal ends the run.
DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
extern void __gcov_dump(void);
static char line_[400];
static void bytes_(void *to, unsigned size) { if (fread(to, 1, size, stdin) < size) { } }
static const char *next_(void) { return fgets(line_, sizeof line_, stdin) ? line_ : "0"; }
static void dumped_(int s) { (void)s; __gcov_dump(); _exit(9); }
__attribute__((constructor)) static void catch_(void) {
    int all[] = {SIGABRT, SIGSEGV, SIGFPE, SIGBUS, SIGVTALRM, SIGALRM, SIGILL};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) signal(all[i], dumped_);
    struct itimerval most = {{0, 0}, {0, %d}};
    setitimer(ITIMER_VIRTUAL, &most, 0);
    alarm(%d);
}
""" % (OF_TEST * 1_000_000, GRACE)


# Inputs are symbolic, in the order in which their bytes are read natively.
SYMBOLIC = """
extern void klee_make_symbolic(void *, __SIZE_TYPE__, const char *);
extern void klee_silent_exit(int);
extern void exit(int);
#define bytes_(to, size) klee_make_symbolic(to, size, "input")
#define _exit(status) ((status) == 8 ? klee_silent_exit(0) : exit(status))
static void __gcov_dump(void) {}
"""

# The addresses at which KLEE places the objects of a 32-bit program: below 4 GB.
PLACES = {"globals": "0x10000", "constants": "0x40020000", "heap": "0x80030000", "stack": "0xc0040000"}
LOW = [option for part, at in PLACES.items() for option in (f"--kdalloc-{part}-start-address={at}", f"--kdalloc-{part}-size=1")]


def defines(source, name):
    """Returns whether the C source defines the function: a block follows its parameters. (In `if (f(x)) {`, a block follows a call.)"""
    return re.search(r"\b%s\s*\((?:[^(){};]|\([^(){};]*\))*\)\s*\{" % name, source) is not None


def declared(source, name):
    """Returns the key in INTEGERS for the result of a function that the program declares, or an empty string."""
    found = re.search(r"^\s*(?:extern\s+)?((?:\w+\s+)+)%s\s*\(" % name, source, re.MULTILINE)
    return next((kind for kind, c in INTEGERS.items() if found and c == " ".join(found[1].split())), "")


def driver(source, raw=False):
    """Returns C code that defines the input functions of the program. They read lines of text, or with `raw` the bytes of values. After the
    end of the input, all values are zero."""
    fuzzed = DRIVER.replace("extern void __gcov_dump(void);", "static void __gcov_dump(void) {}")
    code = [{"fuzzed": fuzzed, "symbolic": SYMBOLIC}.get(raw, DRIVER)]
    called = set(re.findall(r"\b(__VERIFIER_\w+)\s*\(", source))
    for name in sorted(called):
        if defines(source, name):
            continue
        kind = name.removeprefix("__VERIFIER_nondet_")
        if kind != name and kind not in INTEGERS and kind not in FLOATS:
            kind = declared(source, name)
        if raw and (kind in INTEGERS or kind in FLOATS):
            kind = INTEGERS.get(kind) or FLOATS[kind]
            # A truth value is the lowest bit of a byte.
            value = "{ char b = 0; bytes_(&b, 1); return b & 1; }" if kind == "_Bool" else f"{{ {kind} v = 0; bytes_(&v, sizeof v); return v; }}"
            code.append(f"{kind} {name}(void) {value}")
        elif kind in INTEGERS:
            code.append(f"{INTEGERS[kind]} {name}(void) {{ const char *t = next_(); "
                        f"return ({INTEGERS[kind]})(*t == '-' ? strtoll(t, 0, 0) : strtoull(t, 0, 0)); }}")
        elif kind in FLOATS:
            code.append(f"{FLOATS[kind]} {name}(void) {{ return ({FLOATS[kind]})strtod(next_(), 0); }}")
        elif name == "__VERIFIER_assume":
            code.append("void __VERIFIER_assume(int c) { if (!c) { __gcov_dump(); _exit(8); } }")
        elif name == "__VERIFIER_error":
            code.append("void __VERIFIER_error(void) { __gcov_dump(); _exit(7); }")
        elif name == "__VERIFIER_assert":
            code.append("void __VERIFIER_assert(int c) { if (!c) { __gcov_dump(); _exit(7); } }")
    if re.search(r"\breach_error\s*\(", source) and not defines(source, "reach_error"):
        code.append("void reach_error(void) { __gcov_dump(); _exit(7); }")
    return "\n".join(code) + "\n"


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="scripts/bench-tests", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE.c", help="programs")
    parser.add_argument("--index", type=Path, help="a list of tasks, as for scripts/bench: of it those that take inputs")
    parser.add_argument("--sample", type=int, default=30, metavar="N", help="so many of the list, always the same; 0 for all [30]")
    parser.add_argument("--only", type=Path, metavar="LIST", help="of the list those that this file names in its first column")
    parser.add_argument("--cpu-limit", type=float, default=10, metavar="SECONDS", help="processor time of each for each program [10]")
    parser.add_argument("--proviso", type=Path, default=REPOSITORY / "target" / "release" / "proviso")
    parser.add_argument("--against", action="append", choices=[t for t in TOOLS if t != "testgen"], default=[], help="also measure these")
    parser.add_argument("--out", type=Path, metavar="FILE.jsonl", help="a line a program; programs in it are not measured again")
    parser.add_argument("--run", action="store_true", help="programs that take their inputs from the system: coverage by testgen --run")
    parser.add_argument("--list", action="append", type=Path, default=[], metavar="FILE.tsv",
                        help="with --run, further programs: a name, a tab, and the arguments of testgen")
    parser.add_argument("--coreutils", nargs="+", metavar=("FOLDER", "PROGRAM"),
                        help="with --run, these programs of GNU coreutils, which is built in FOLDER")
    options = parser.parse_args(arguments)
    if options.run:
        if set(options.against) - {"afl"}:
            parser.error("--run has only --against afl")
        return programs.main(options)
    chosen = [(f.stem, f, "") for f in options.files]
    if options.index:
        chosen += of_index(options)
    if not chosen:
        parser.error("no programs: FILE.c or --index")
    missing = [n for tool, n in (("klee", "klee"), ("afl", "afl-fuzz")) if tool in options.against and not shutil.which(n)]
    if missing:
        parser.error(f"not in PATH: {missing[0]}")
    rows = []
    if options.out and options.out.exists():
        rows = [json.loads(line) for line in options.out.read_text().splitlines()]
    names = {name for name, *_ in chosen}
    rows = [row for row in rows if row["name"] in names]
    known = {row["name"] for row in rows}
    for name, file, model in chosen:
        if name not in known:
            row = {"name": name, **examine(file, model, options)}
            print(json.dumps(row), file=sys.stderr)
            rows.append(row)
            if options.out:
                with options.out.open("a") as out:
                    print(json.dumps(row), file=out)
    report(rows, ["testgen", *options.against])
    return 0


def report(rows, tools):
    """Prints a table with a row for each program, and a table with the sums."""
    failed, rows = [r for r in rows if "failed" in r], [r for r in rows if "failed" not in r]
    header = ["program", "lines", "branches", "unreachable", *(f"{t}{what}" for t in tools for what in ("", " tests"))]
    cells = [[r["name"], r["lines"], r["branches"], r["testgen"]["unreachable"], *(r[t][k] for t in tools for k in ("taken", "tests"))] for r in rows]
    print(table(header, cells))
    sums = []
    for tool in tools:
        own = [(r[tool], r["testgen"], r["branches"]) for r in rows]
        shares = [100 * o["taken"] / n for o, _, n in own if n]
        goals = [[o[key] for o, *_ in own] for key in ("goals", "covered", "unreachable") if "goals" in own[0][0]] if own else []
        sums.append([
            tool, sum(o["taken"] for o, *_ in own), f"{statistics.mean(shares):.1f}" if shares else "-", sum(o["tests"] for o, *_ in own),
            f"{sum(o['cpu'] for o, *_ in own):.0f}", sum(o["taken"] < t["taken"] for o, t, _ in own), sum(o["taken"] > t["taken"] for o, t, _ in own),
            *(map(sum, goals) if goals else ["", "", ""]),
        ])
    print(f"{len(rows)} programs, {sum(r['branches'] for r in rows)} branches")
    print(table(["", "taken", "% on average", "tests", "CPU s", "fewer than testgen", "more", "goals", "covered", "proved unreachable"], sums))
    for row in failed:
        print(f"not measured: {row['name']}: {row['failed']}")


def of_index(options):
    """Returns the programs in the index that have one file, read inputs, and have 30 to 3,000 lines, each once."""
    found, seen = [], set()
    only = {line.split("\t")[0] for line in options.only.read_text().splitlines()} if options.only else None
    for task in tasks.read_index(options.index):
        if only is not None and task.name not in only:
            continue
        if task.property != "unreach-call" or len(task.files) != 1 or task.files[0] in seen:
            continue
        seen.add(task.files[0])
        text = task.files[0].read_text(errors="replace")
        # With --only, the user has selected the programs, so programs of all sizes are used.
        is_chosen = only is not None or 30 <= text.count("\n") <= 3000
        if is_chosen and "__VERIFIER_nondet_" in text and "nondet_pointer" not in text:
            found.append(task)
    found = tasks.sample(found, options.sample, seed=0) if options.sample else found
    return [(t.name, t.files[0], t.data_model) for t in found]


@dataclass
class Program:
    """A program to test, with the folder and the time for its tests."""

    file: Path
    source: str
    flags: list  # of compilers
    folder: Path
    proviso: Path
    seconds: float  # of processor time

    def run(self, command, cwd=None, memory=8 << 30):
        """Runs a test generator under its limits."""
        limits = runner.Limits(WAITING * self.seconds + GRACE, self.seconds, memory, asks=GRACE)
        return runner.run([str(c) for c in command], limits, cwd=cwd)


def examine(file, model, options):
    """Generates tests for one program with each tool. Returns the row for the table: the branches that gcov counts, and the results of the tools."""
    source = file.read_text(errors="replace")
    with tempfile.TemporaryDirectory() as name:
        # Without 32-bit libraries, all programs are built for the native word size. AFL++ often has only a 64-bit runtime, so with AFL++
        # all tools use the native word size, too.
        flags = ["-m32"] if model == "ILP32" and "afl" not in options.against and has_32_bit() else []
        program = Program(file.resolve(), source, flags, Path(name), options.proviso, options.cpu_limit)
        row = {"lines": source.count("\n")}
        for tool in ["testgen", *options.against]:
            (program.folder / "program.gcda").unlink(missing_ok=True)
            try:
                row[tool] = TOOLS[tool](program)
            except subprocess.CalledProcessError as error:
                return {"failed": f"{tool}: " + (error.stderr.strip().splitlines() or ["?"])[0][-160:]}
            if "failed" in row[tool]:
                return {"failed": f"{tool}: {row[tool]['failed']}"}
            taken = counted(program.folder)
            row["branches"], row[tool]["taken"] = len(taken), sum(taken)
        return row


def ours(*how):
    """Returns a function that generates tests with `proviso testgen` and these options."""

    def make(program):
        folder = program.folder
        native(folder, program.file, driver(program.source), program.flags)
        suite, result = folder / "suite", folder / "result.json"
        result.unlink(missing_ok=True)
        # The data model of testgen must be that of the native program.
        sizes = ["--data-model", "ILP32" if program.flags else "LP64"]
        command = [program.proviso, "testgen", program.file, "-o", suite, "--json", result, *sizes, *how]
        # testgen ends by itself shortly before the limit at which all tools are killed.
        outcome = program.run([*command, "--cpu-limit", f"{0.97 * program.seconds:g}"])
        if not result.exists():
            return {"failed": (outcome.stderr or outcome.stdout).strip()[-200:] or outcome.killed or "testgen gave nothing"}
        said = json.loads(result.read_text())
        tests = sorted(suite.glob("testcase-*.xml"))
        for test in tests:
            values = [e.text or "0" for e in ElementTree.parse(test).getroot().iter("input")]
            run_once(folder, ("\n".join(values) + "\n").encode())
        return {
            "tests": len(tests), "cpu": outcome.cpu, "goals": len(said["goals"]), "covered": said["covered"],
            "unreachable": said["unreachable"],
        }

    return make


def native(folder, file, code, flags, compiler="gcc", coverage=("--coverage",)):
    """Builds the program together with a driver (`code`)."""
    (folder / "driver.c").write_text(code)
    build = [compiler, "-w", "-O0", *flags]
    for step in ([*build, *coverage, "-c", file, "-o", "program.o"], [*build, "-c", "driver.c", "-o", "driver.o"],
                 [*build, *coverage, "program.o", "driver.o", "-lm", "-o", "native"]):
        subprocess.run(step, cwd=folder, capture_output=True, text=True, timeout=60, check=True)


def run_once(folder, data):
    try:
        subprocess.run(["./native"], cwd=folder, input=data, capture_output=True, timeout=2 * GRACE)
    except subprocess.TimeoutExpired:
        pass


def counted(folder):
    """Returns for each branch of the program whether a run covered it."""
    said = subprocess.run(["gcov", "-b", "-c", "-t", "program.o"], cwd=folder, capture_output=True, text=True,
                          errors="replace", timeout=60)
    branches = re.findall(r"^branch\s+\d+ (?:taken (\d+)|never executed)", said.stdout, re.MULTILINE)
    return [bool(b) and int(b) > 0 for b in branches]


def at_random(program):
    """Runs the program on random bytes until the time limit."""
    native(program.folder, program.file, driver(program.source, raw=True), program.flags)
    dice, start, tests = random.Random(0), children(), 0
    end = time.monotonic() + WAITING * program.seconds
    while children() - start < program.seconds and time.monotonic() < end:
        run_once(program.folder, dice.randbytes(4096))
        tests += 1
    return {"tests": tests, "cpu": children() - start}


def children():
    """Returns the processor time in seconds of all child processes that have ended."""
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def fuzzed(program):
    """Runs AFL++ until the time limit, then runs the program for gcov on the inputs that it found."""
    native(program.folder, program.file, driver(program.source, raw=True), program.flags)
    other = program.folder / "fuzzed"
    (other / "seeds").mkdir(parents=True)
    (other / "seeds" / "zeros").write_bytes(bytes(64))
    native(other, program.file, driver(program.source, raw="fuzzed"), program.flags, "afl-cc", ())
    settings = ("AFL_SKIP_CPUFREQ", "AFL_NO_UI", "AFL_NO_AFFINITY", "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES")
    command = ["env", *(f"{name}=1" for name in settings), "afl-fuzz", "-i", "seeds", "-o", "out", "--", "./native"]
    outcome = program.run(command, cwd=other)
    found = [f for kind in ("queue", "crashes", "hangs") for f in sorted((other / "out" / "default" / kind).glob("id*"))]
    for file in found:
        run_once(program.folder, file.read_bytes())
    return {"tests": len(found), "cpu": outcome.cpu}


def executed(program):
    """Runs KLEE until the time limit, then runs the program for gcov on the tests that it wrote."""
    native(program.folder, program.file, driver(program.source, raw=True), program.flags)
    other = program.folder / "executed"
    other.mkdir()
    (other / "driver.c").write_text(driver(program.source, raw="symbolic"))
    said = subprocess.run(["klee", "--version"], capture_output=True, text=True, check=True).stdout
    version = re.search(r"LLVM version (\d+)", said)[1]
    build = [f"clang-{version}", "-c", "-emit-llvm", "-g", "-O1", "-Xclang", "-disable-llvm-passes", "-w", *program.flags]
    for step in ([*build, program.file, "-o", "program.bc"], [*build, "driver.c", "-o", "driver.bc"],
                 [f"llvm-link-{version}", "program.bc", "driver.bc", "-o", "all.bc"]):
        subprocess.run(step, cwd=other, capture_output=True, text=True, timeout=60, check=True)
    # KLEE reserves terabytes of address space.
    command = ["klee", *(LOW if program.flags else []), "--max-memory=4000", "--only-output-states-covering-new", "--output-dir=out", "all.bc"]
    outcome = program.run(command, cwd=other, memory=1 << 45)
    found = sorted((other / "out").glob("*.ktest"))
    # For 32-bit programs, KLEE fails after it has written all tests. So a failure counts only if there are no tests.
    if not found and (outcome.exit or outcome.killed):
        return {"failed": outcome.killed or outcome.stderr.strip()[-200:]}
    for file in found:
        run_once(program.folder, inputs_of(file.read_bytes()))
    return {"tests": len(found), "cpu": outcome.cpu}


def inputs_of(ktest):
    """Returns the bytes of all objects in a test of KLEE. The file contains: magic, version, arguments, two numbers, and objects with their names."""
    at = 9

    def number():
        nonlocal at
        at += 4
        return int.from_bytes(ktest[at - 4 : at], "big")

    def text():
        nonlocal at
        length = number()
        at += length
        return ktest[at - length : at]

    for _ in range(number()):
        text()
    number(), number()
    return b"".join((text(), text())[1] for _ in range(number()))


TOOLS = {
    "testgen": ours(), "cotest": ours("--cotest"), "tester": ours("--analysis", "symex"),
    "random": at_random, "afl": fuzzed, "klee": executed,
}


def has_32_bit():
    """Returns whether this machine can link 32-bit programs."""
    if not hasattr(has_32_bit, "known"):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "p.c").write_text("#include <stdio.h>\nint main(void) { return 0; }\n")
            built = subprocess.run(["gcc", "-m32", "--coverage", "p.c"], cwd=folder, capture_output=True, timeout=60)
            has_32_bit.known = built.returncode == 0
    return has_32_bit.known
