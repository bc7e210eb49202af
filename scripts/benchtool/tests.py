"""Makes tests for programs, runs each test natively, and has gcov count which branches they take.

A test is given to the program by a driver that defines the `__VERIFIER_nondet_*` functions. What a program cannot be
compiled and linked with is no row of the table but a line below it. Branches are gcov's, of the program's own file: each way
out of a condition that gcc's -O0 code has. Beside them stands what testgen says itself: goals that it covered, and those
that it proved no test can cover; and what others reach in the same time on the same program, with `--against`: random bytes, AFL++
(`afl-cc` and `afl-fuzz`, from one seed of 64 zero bytes), whose corpus, crashes and hangs are run for gcov like tests, or KLEE (with the
`clang` and `llvm-link` of its LLVM), of whose tests the same is true.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from batchtool import runner, tasks
from batchtool.report import table

REPOSITORY = Path(__file__).resolve().parents[2]
GRACE = 5  # seconds a run may take beyond its time limit
OF_TEST = 5  # seconds a test may run natively

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
#include <unistd.h>
extern void __gcov_dump(void);
static char line_[400];
static void bytes_(void *to, unsigned size) { if (fread(to, 1, size, stdin) < size) { } }
static const char *next_(void) { return fgets(line_, sizeof line_, stdin) ? line_ : "0"; }
static void dumped_(int s) { (void)s; __gcov_dump(); _exit(9); }
__attribute__((constructor)) static void catch_(void) {
    int all[] = {SIGABRT, SIGSEGV, SIGFPE, SIGBUS, SIGALRM, SIGILL};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) signal(all[i], dumped_);
    alarm(%d);
}
""" % OF_TEST


# Inputs are symbolic, in the order in which their bytes are read natively.
SYMBOLIC = """
extern void klee_make_symbolic(void *, __SIZE_TYPE__, const char *);
extern void klee_silent_exit(int);
extern void exit(int);
#define bytes_(to, size) klee_make_symbolic(to, size, "input")
#define _exit(status) ((status) == 8 ? klee_silent_exit(0) : exit(status))
static void __gcov_dump(void) {}
"""


def driver(source, raw=False):
    """C that defines what the program takes inputs by: lines of text, or the bytes of values; zero behind the end."""
    fuzzed = DRIVER.replace("extern void __gcov_dump(void);", "static void __gcov_dump(void) {}")
    code = [{"fuzzed": fuzzed, "symbolic": SYMBOLIC}.get(raw, DRIVER)]
    called = set(re.findall(r"\b(__VERIFIER_\w+)\s*\(", source))
    for name in sorted(called):
        if re.search(r"\b%s\s*\([^;{]*\)\s*\{" % name, source):
            continue  # the program has its own
        kind = name.removeprefix("__VERIFIER_nondet_")
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
    if re.search(r"\breach_error\s*\(", source) and not re.search(r"\breach_error\s*\([^;{]*\)\s*\{", source):
        code.append("void reach_error(void) { __gcov_dump(); _exit(7); }")
    return "\n".join(code) + "\n"


def main(arguments):
    parser = argparse.ArgumentParser(
        prog="scripts/bench-tests", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE.c", help="programs")
    parser.add_argument("--index", type=Path, help="a list of tasks, as for scripts/bench: of it those that take inputs")
    parser.add_argument("--sample", type=int, default=30, metavar="N", help="so many of the list, always the same [30]")
    parser.add_argument("--timeout", type=float, default=10, metavar="SECONDS", help="of testgen for each program [10]")
    parser.add_argument("--proviso", type=Path, default=REPOSITORY / "target" / "release" / "proviso")
    parser.add_argument("--against", action="append", choices=["random", "afl", "klee"], default=[], help="also measure these, for as long")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows")
    options = parser.parse_args(arguments)
    chosen = [(f.stem, f, "") for f in options.files]
    if options.index:
        chosen += of_index(options)
    if not chosen:
        parser.error("no programs: FILE.c or --index")
    rows, failed = [], []
    for name, file, model in chosen:
        row = examine(file, model, options)
        print(f"{name}: {row}", file=sys.stderr)
        (failed if "failed" in row else rows).append({"name": name, **row})
    others = options.against
    print(table(
        ["program", "lines", "tests", "branches", "taken", "%", "goals", "covered", "unreachable", "open", *others],
        [[r["name"], r["lines"], r["tests"], r["branches"], r["taken"], percent(r), r["goals"], r["covered"],
          r["unreachable"], r["goals"] - r["covered"] - r["unreachable"], *(r[o] for o in others)] for r in rows],
    ))
    total = {key: sum(r[key] for r in rows) for key in ("branches", "taken", "goals", "covered", "unreachable")}
    if rows:
        mean = sum(100 * r["taken"] / r["branches"] for r in rows if r["branches"]) / max(1, sum(bool(r["branches"]) for r in rows))
        print(f"{len(rows)} programs: {total['taken']} of {total['branches']} branches ({percent(total)} %), {mean:.1f} % on average; "
              f"of {total['goals']} goals {total['covered']} covered, {total['unreachable']} proved unreachable")
    for other in others:
        less, more = sum(r[other] < r["taken"] for r in rows), sum(r[other] > r["taken"] for r in rows)
        print(f"{other}: {sum(r[other] for r in rows)} branches; fewer in {less} programs, more in {more}")
    for row in failed:
        print(f"not measured: {row['name']}: {row['failed']}")
    if options.json:
        options.json.write_text(json.dumps(rows + failed, indent=1) + "\n")
    return 0


def percent(row):
    return f"{100 * row['taken'] / row['branches']:.1f}" if row["branches"] else "-"


def of_index(options):
    """Programs of one file that take inputs, of 30 to 3,000 lines, each once."""
    found, seen = [], set()
    for task in tasks.read_index(options.index):
        if task.property != "unreach-call" or len(task.files) != 1 or task.files[0] in seen:
            continue
        seen.add(task.files[0])
        text = task.files[0].read_text(errors="replace")
        if 30 <= text.count("\n") <= 3000 and "__VERIFIER_nondet_" in text and "nondet_pointer" not in text:
            found.append(task)
    return [(t.name, t.files[0], t.data_model) for t in tasks.sample(found, options.sample, seed=0)]


def examine(file, model, options):
    """Tests for one program, and what gcov says of them."""
    source = file.read_text(errors="replace")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        suite, result = folder / "suite", folder / "result.json"
        limits = runner.Limits(options.timeout + GRACE, None, 8 << 30)
        # The machine runs what it is told: native sizes where there are libraries for no others.
        # AFL++ often has a runtime of 64 bits only; then all are measured with these sizes.
        flags = ["-m32"] if model == "ILP32" and "afl" not in options.against and has_32_bit() else []
        # What testgen takes for the sizes of types must be what the native program has.
        sizes = ["--data-model", "ILP32" if flags else "LP64"]
        command = [options.proviso, "testgen", file, "-o", suite, "--timeout", f"{options.timeout:g}", "--json", result, *sizes]
        outcome = runner.run([str(c) for c in command], limits)
        if not result.exists():
            return {"failed": (outcome.stderr or outcome.stdout).strip()[-200:] or "testgen gave nothing"}
        said = json.loads(result.read_text())
        try:
            native(folder, file, driver(source), flags)
        except subprocess.CalledProcessError as error:
            return {"failed": "gcc: " + (error.stderr.strip().splitlines() or ["?"])[0][-160:]}
        tests = sorted(suite.glob("testcase-*.xml"))
        for test in tests:
            values = [e.text or "0" for e in ElementTree.parse(test).getroot().iter("input")]
            run_once(folder, ("\n".join(values) + "\n").encode())
        branches = counted(folder)
        row = {
            "lines": source.count("\n"), "tests": len(tests), "branches": len(branches), "taken": sum(branches),
            "goals": len(said["goals"]), "covered": said["covered"], "unreachable": said["unreachable"],
        }
        for other in options.against:
            (folder / "program.gcda").unlink(missing_ok=True)
            try:
                native(folder, file, driver(source, raw=True), flags)
                OTHERS[other](folder, file, source, options.timeout, flags)
            except subprocess.CalledProcessError as error:
                return {"failed": f"{other}: " + (error.stderr.strip().splitlines() or ["?"])[0][-160:]}
            row[other] = sum(counted(folder))
        return row


def native(folder, file, code, flags, compiler="gcc", coverage=("--coverage",)):
    """Builds the program with what gives it inputs."""
    (folder / "driver.c").write_text(code)
    build = [compiler, "-w", "-O0", *flags]
    for step in ([*build, *coverage, "-c", str(file.resolve()), "-o", "program.o"], [*build, "-c", "driver.c", "-o", "driver.o"],
                 [*build, *coverage, "program.o", "driver.o", "-lm", "-o", "native"]):
        subprocess.run(step, cwd=folder, capture_output=True, text=True, timeout=60, check=True)


def run_once(folder, data):
    try:
        subprocess.run(["./native"], cwd=folder, input=data, capture_output=True, timeout=OF_TEST + GRACE)
    except subprocess.TimeoutExpired:
        pass


def counted(folder):
    """For each branch of the program, whether it was taken."""
    said = subprocess.run(["gcov", "-b", "-c", "-t", "program.o"], cwd=folder, capture_output=True, text=True,
                          errors="replace", timeout=60)
    branches = re.findall(r"^branch\s+\d+ (?:taken (\d+)|never executed)", said.stdout, re.MULTILINE)
    return [bool(b) and int(b) > 0 for b in branches]


def at_random(folder, file, source, seconds, flags):
    """Runs on random bytes until the time is over."""
    dice, end = random.Random(0), time.monotonic() + seconds
    while time.monotonic() < end:
        run_once(folder, dice.randbytes(4096))


def fuzzed(folder, file, source, seconds, flags):
    """Runs for gcov on what AFL++ found in the time."""
    other = folder / "fuzzed"
    (other / "seeds").mkdir(parents=True)
    (other / "seeds" / "zeros").write_bytes(bytes(64))
    native(other, file, driver(source, raw="fuzzed"), flags, "afl-cc", ())
    environment = os.environ | {
        name: "1" for name in ("AFL_SKIP_CPUFREQ", "AFL_NO_UI", "AFL_NO_AFFINITY", "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES")
    }
    command = ["afl-fuzz", "-V", f"{seconds:g}", "-i", "seeds", "-o", "out", "--", "./native"]
    subprocess.run(command, cwd=other, env=environment, capture_output=True, timeout=seconds + 60)
    for kind in ("queue", "crashes", "hangs"):
        for found in sorted((other / "out" / "default" / kind).glob("id*")):
            run_once(folder, found.read_bytes())


def executed(folder, file, source, seconds, flags):
    """Runs for gcov on the tests that KLEE wrote in the time."""
    other = folder / "executed"
    other.mkdir()
    (other / "driver.c").write_text(driver(source, raw="symbolic"))
    said = subprocess.run(["klee", "--version"], capture_output=True, text=True, check=True).stdout
    version = re.search(r"LLVM version (\d+)", said)[1]
    build = [f"clang-{version}", "-c", "-emit-llvm", "-g", "-O1", "-Xclang", "-disable-llvm-passes", "-w", *flags]
    for step in ([*build, str(file.resolve()), "-o", "program.bc"], [*build, "driver.c", "-o", "driver.bc"],
                 [f"llvm-link-{version}", "program.bc", "driver.bc", "-o", "all.bc"]):
        subprocess.run(step, cwd=other, capture_output=True, text=True, timeout=60, check=True)
    limits = [f"--max-time={seconds:g}s", "--max-memory=4000", "--only-output-states-covering-new"]
    subprocess.run(["klee", *limits, "--output-dir=out", "all.bc"], cwd=other, capture_output=True, timeout=seconds + 60)
    for found in sorted((other / "out").glob("*.ktest")):
        run_once(folder, inputs_of(found.read_bytes()))


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


OTHERS = {"random": at_random, "afl": fuzzed, "klee": executed}


def has_32_bit():
    """Whether programs of 32 bits can be linked here."""
    if not hasattr(has_32_bit, "known"):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "p.c").write_text("#include <stdio.h>\nint main(void) { return 0; }\n")
            built = subprocess.run(["gcc", "-m32", "--coverage", "p.c"], cwd=folder, capture_output=True, timeout=60)
            has_32_bit.known = built.returncode == 0
    return has_32_bit.known
