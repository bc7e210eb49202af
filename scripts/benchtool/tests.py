"""Makes tests for programs, runs each test natively, and has gcov count which branches they take.

A test is given to the program by a driver that defines the `__VERIFIER_nondet_*` functions. What a program cannot be
compiled and linked with is no row of the table but a line below it. Branches are gcov's, of the program's own file: each way
out of a condition that gcc's -O0 code has. Beside them stand the tests, and the processor time that making them took.

`--against` names others that are given the same program and as much time: `cotest` (testgen --cotest), `tester` (symbolic execution alone,
without proofs), random bytes, AFL++ (`afl-cc` and `afl-fuzz`, from one seed of 64 zero bytes), whose corpus, crashes and
hangs are run for gcov like tests, and KLEE (with the `clang` and `llvm-link` of its LLVM).
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

REPOSITORY = Path(__file__).resolve().parents[2]
GRACE = 5  # seconds a run may take beyond its time limit
WAITING = 10  # times as much wall time as processor time
OF_TEST = 0.1  # seconds of processor time that a test may run natively: what it covers it covers at once, and some programs have no end

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
# Also when a signal ends the program, what was covered counts.
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

# Where KLEE may have the objects of a program of 32 bits: below 4 GB.
PLACES = {"globals": "0x10000", "constants": "0x40020000", "heap": "0x80030000", "stack": "0xc0040000"}
LOW = [option for part, at in PLACES.items() for option in (f"--kdalloc-{part}-start-address={at}", f"--kdalloc-{part}-size=1")]


def defines(source, name):
    """Whether C has that function's body: its parameters, and not the condition that a call of it stands in, are followed by a block."""
    return re.search(r"\b%s\s*\((?:[^(){};]|\([^(){};]*\))*\)\s*\{" % name, source) is not None


def declared(source, name):
    """The name of the type that a declaration gives, for a type of the program's own."""
    found = re.search(r"^\s*(?:extern\s+)?((?:\w+\s+)+)%s\s*\(" % name, source, re.MULTILINE)
    return next((kind for kind, c in INTEGERS.items() if found and c == " ".join(found[1].split())), "")


def driver(source, raw=False):
    """C that defines what the program takes inputs by: lines of text, or the bytes of values; zero behind the end."""
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
            # One bit decides a truth value.
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
    options = parser.parse_args(arguments)
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
    """Each program, and the sums."""
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
    """Programs of one file that take inputs, of 30 to 3,000 lines, each once."""
    found, seen = [], set()
    only = {line.split("\t")[0] for line in options.only.read_text().splitlines()} if options.only else None
    for task in tasks.read_index(options.index):
        if only is not None and task.name not in only:
            continue
        if task.property != "unreach-call" or len(task.files) != 1 or task.files[0] in seen:
            continue
        seen.add(task.files[0])
        text = task.files[0].read_text(errors="replace")
        # A list of one's own says itself which sizes are wanted.
        is_chosen = only is not None or 30 <= text.count("\n") <= 3000
        if is_chosen and "__VERIFIER_nondet_" in text and "nondet_pointer" not in text:
            found.append(task)
    found = tasks.sample(found, options.sample, seed=0) if options.sample else found
    return [(t.name, t.files[0], t.data_model) for t in found]


@dataclass
class Program:
    """What tests are made for, and where."""

    file: Path
    source: str
    flags: list  # of compilers
    folder: Path
    proviso: Path
    seconds: float  # of processor time

    def run(self, command, cwd=None, memory=8 << 30):
        """Runs who makes tests."""
        limits = runner.Limits(WAITING * self.seconds + GRACE, self.seconds, memory, asks=GRACE)
        return runner.run([str(c) for c in command], limits, cwd=cwd)


def examine(file, model, options):
    """Tests for one program, and what gcov says of them."""
    source = file.read_text(errors="replace")
    with tempfile.TemporaryDirectory() as name:
        # The machine runs what it is told: native sizes where there are libraries for no others.
        # AFL++ often has a runtime of 64 bits only; then all are measured with these sizes.
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
    """Our own test generator, with these options."""

    def make(program):
        folder = program.folder
        native(folder, program.file, driver(program.source), program.flags)
        suite, result = folder / "suite", folder / "result.json"
        result.unlink(missing_ok=True)
        # What testgen takes for the sizes of types must be what the native program has.
        sizes = ["--data-model", "ILP32" if program.flags else "LP64"]
        command = [program.proviso, "testgen", program.file, "-o", suite, "--json", result, *sizes, *how]
        # It ends by itself; past that, as others.
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
    """Builds the program with what gives it inputs."""
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
    """For each branch of the program, whether it was taken."""
    said = subprocess.run(["gcov", "-b", "-c", "-t", "program.o"], cwd=folder, capture_output=True, text=True,
                          errors="replace", timeout=60)
    branches = re.findall(r"^branch\s+\d+ (?:taken (\d+)|never executed)", said.stdout, re.MULTILINE)
    return [bool(b) and int(b) > 0 for b in branches]


def at_random(program):
    """Runs on random bytes until the time is over."""
    native(program.folder, program.file, driver(program.source, raw=True), program.flags)
    dice, start, tests = random.Random(0), children(), 0
    end = time.monotonic() + WAITING * program.seconds
    while children() - start < program.seconds and time.monotonic() < end:
        run_once(program.folder, dice.randbytes(4096))
        tests += 1
    return {"tests": tests, "cpu": children() - start}


def children():
    """Processor time of all that was waited for."""
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def fuzzed(program):
    """Runs for gcov on what AFL++ found in the time."""
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
    """Runs for gcov on the tests that KLEE wrote in the time."""
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
    # It reserves terabytes of addresses.
    command = ["klee", *(LOW if program.flags else []), "--max-memory=4000", "--only-output-states-covering-new", "--output-dir=out", "all.bc"]
    outcome = program.run(command, cwd=other, memory=1 << 45)
    found = sorted((other / "out").glob("*.ktest"))
    # Of 32 bits it fails when all tests are written.
    if not found and (outcome.exit or outcome.killed):
        return {"failed": outcome.killed or outcome.stderr.strip()[-200:]}
    for file in found:
        run_once(program.folder, inputs_of(file.read_bytes()))
    return {"tests": len(found), "cpu": outcome.cpu}


def inputs_of(ktest):
    """The bytes of all objects of one of KLEE's tests: magic, version, arguments, two numbers, and objects with their names."""
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
    """Whether programs of 32 bits can be linked here."""
    if not hasattr(has_32_bit, "known"):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "p.c").write_text("#include <stdio.h>\nint main(void) { return 0; }\n")
            built = subprocess.run(["gcc", "-m32", "--coverage", "p.c"], cwd=folder, capture_output=True, timeout=60)
            has_32_bit.known = built.returncode == 0
    return has_32_bit.known
