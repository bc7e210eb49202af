"""The truth about a program: it is compiled natively and run on every combination of its inputs."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from .program import C_TYPE

# The machine that Proviso models.
MACHINE = {64: ["-m64"], 32: ["-m32", "-msse2", "-mfpmath=sse"]}
SHARED = ["-w", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", "-std=gnu17"]

# Runs the program in a process of its own for each vector of inputs, and prints how it ends and what it observes.
DRIVER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <math.h>
#include <limits.h>
extern int program_main(void);
static int vector, calls;
static long long *results;
static int sizes[] = {%(sizes)s 1};
static int chosen(void) {
    int rest = vector;
    for (int i = 0; i < calls; i++) rest /= sizes[i];
    return rest %% sizes[calls++];
}
%(inputs)s
void observe(int n, long long value) { results[n] = value; results[15] = 1; }
void reach_error(void) { _exit(97); }
void __VERIFIER_assume(int holds) { if (!holds) _exit(99); }
int main(void) {
    int count = 1;
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) count *= sizes[i];
    results = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (vector = 0; vector < count; vector++) {
        memset(results, 0, 4096);
        if (%(pure)d) {
            calls = 0;
            program_main();
            printf("0 1");
            for (int n = 0; n < 8; n++) printf(" %%lld", results[n]);
            printf("\\n");
            continue;
        }
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            signal(SIGALRM, SIG_DFL);
            alarm(%(alarm)d);
            if (!freopen("/dev/null", "r", stdin) || !freopen("/dev/null", "w", stdout)) _exit(98);
            program_main();
            exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        printf("%%d %%d", WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status), (int)results[15]);
        for (int n = 0; n < 8; n++) printf(" %%lld", results[n]);
        printf("\\n");
    }
    return 0;
}
"""

SIGALRM = 14
FAULT = 96  # how a run ends of which a sanitizer says something


class Unfit(Exception):
    """The program does not compile, or its behaviour is not defined: nothing can be learned from it."""


@dataclass
class Run:
    """What one vector of inputs leads to."""

    inputs: tuple  # C expressions
    ends: bool  # or it goes on for ever
    reached: bool  # the end of main; else it left earlier
    results: tuple


def driver(program):
    inputs = []
    for kind in dict.fromkeys(i.kind for i in program.inputs):
        cases = "".join(
            f"    case {n}: {{ static const {C_TYPE[kind]} v[] = {{{', '.join(i.values)}}}; return v[c]; }}\n"
            for n, i in enumerate(program.inputs)
            if i.kind == kind
        )
        inputs.append(
            f"{C_TYPE[kind]} __VERIFIER_nondet_{kind}(void) {{\n"
            f"    int n = calls, c = chosen();\n    switch (n) {{\n{cases}    }}\n    _exit(98);\n}}\n"
        )
    sizes = "".join(f"{len(i.values)}, " for i in program.inputs)
    return DRIVER % {"sizes": sizes, "inputs": "".join(inputs), "alarm": 1 if program.may_hang else 3, "pure": program.pure}


def uses(program):
    """Statements in which each result is used."""
    return [f"if ({r}) {{ }}" for r in program.results]


def compile_and_run(program, compiler, flags, folder, name, observe=None):
    text, main = folder / "native.c", folder / "driver.c"
    observe = observe or [f"observe({n}, {r});" for n, r in enumerate(program.results)]
    text.write_text("extern void observe(int, long long);\n" + program.render(observe))
    main.write_text(driver(program))
    binary = folder / name
    command = [compiler, "-O0", *SHARED, *MACHINE[64 if "-fsanitize=memory" in flags else program.bits], *flags, "-o", str(binary)]
    made = subprocess.run(
        [*command, "-Dmain=program_main", "-c", str(text), "-o", str(folder / "native.o")], capture_output=True, text=True
    )
    if made.returncode == 0:
        made = subprocess.run([*command, str(main), str(folder / "native.o"), "-lm"], capture_output=True, text=True)
    if made.returncode != 0:
        raise Unfit("does not compile: " + made.stderr[-2000:])
    try:
        environment = {"ASAN_OPTIONS": f"detect_leaks=0:allocator_may_return_null=1:exitcode={FAULT}", "MSAN_OPTIONS": f"exitcode={FAULT}", "PATH": "/usr/bin:/bin"}
        run = subprocess.run([str(binary)], capture_output=True, text=True, timeout=90, env=environment)
    except subprocess.TimeoutExpired:
        raise Unfit("takes too long natively") from None
    if run.returncode != 0:
        raise Unfit(f"undefined: ends with {run.returncode}: {run.stderr[:300]}")
    return [tuple(map(int, line.split())) for line in run.stdout.splitlines()], run.stderr


def vectors(program):
    """The inputs in the order of the driver: the first varies fastest."""
    found = [()]
    for i in program.inputs:
        found = [(*v, value) for value in i.values for v in found]
    return found


def reads_uninitialised(program, folder):
    """Whether something is read that was never written. The other sanitizers do not see it."""
    try:
        runs, errors = compile_and_run(program, "clang-19", ["-fsanitize=memory", "-fno-sanitize-recover=all"], folder, "memory")
    except Unfit:
        return False
    return "uninitialized" in errors


SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fsanitize-address-use-after-return=always", "-g1"]


# What goes wrong in these no sanitizer sees: more arguments than there are, and reads in the C library that are not intercepted.
UNSEEN = ("va_arg(", "strtok_r(", "strtoul(s", "strtoull(s")


def faults(program, folder: Path):
    """What the sanitizers say of the first vector of inputs at which they say anything; `None` where they never do."""
    program.pure = False
    if any(word in program.render([]) for word in UNSEEN):
        raise Unfit("the sanitizers do not look into it")
    # With the rules of C: overflow is no wrap-around.
    flags = [*SANITIZERS, "-fno-wrapv", "-fstrict-aliasing"]
    runs, errors = compile_and_run(program, "clang-19", flags, folder, "sanitized")
    if any(end == -SIGALRM for end, *_ in runs) or "stack-overflow" in errors:
        raise Unfit("does not end")
    if not any(end == FAULT for end, *_ in runs):
        return None
    return next((line for line in errors.splitlines() if "rror: " in line), "a fault")


def uninitialised(program, folder: Path):
    """What MemorySanitizer says of the first vector of inputs at which it says anything, of programs of which the others say nothing."""
    if program.bits != 64 or faults(program, folder):
        raise Unfit("undefined otherwise")
    flags = ["-fsanitize=memory", "-fno-sanitize-recover=all", "-g1"]
    runs, errors = compile_and_run(program, "clang-19", flags, folder, "memory", uses(program))
    if not any(end == FAULT for end, *_ in runs):
        return None
    return next((line for line in errors.splitlines() if "uninitialized" in line), "a use")


def endless(program, folder: Path):
    """Whether some vector of inputs leads to a run that does not come to an end in a while."""
    program.pure, program.may_hang = False, True
    # What C leaves undefined, overflow included, is no question of ends.
    flags = [*SANITIZERS, "-fno-wrapv"]
    runs, errors = compile_and_run(program, "clang-19", flags, folder, "sanitized")
    if "stack-overflow" in errors:
        return True
    if any(end == FAULT for end, *_ in runs):
        raise Unfit("undefined")
    return any(end == -SIGALRM for end, *_ in runs)


def truth(program, folder: Path):
    """A `Run` for every vector of inputs."""
    plain, _ = compile_and_run(program, "clang-19", [], folder, "plain")
    count = len(program.results)
    hang = {SIGALRM} if program.may_hang else set()
    for end, *_ in plain:
        if end == 99:
            raise AssertionError("an input is not in its domain")
        if end == 97 or -end not in hang and end < 0:
            raise Unfit(f"ends with {end}")
    if program.defined:
        flags = ["-fsanitize=undefined,address", "-fno-sanitize-recover=all", "-g1"]
        checked, errors = compile_and_run(program, "clang-19", flags, folder, "checked")
        if [(end, done, *r[:count]) for end, done, *r in checked] != [(end, done, *r[:count]) for end, done, *r in plain]:
            raise Unfit("undefined: " + next((line for line in errors.splitlines() if "rror" in line), errors[-200:]))
    if program.portable:
        other, _ = compile_and_run(program, "gcc", [], folder, "other")
        if [(end, done, *r[:count]) for end, done, *r in other] != [(end, done, *r[:count]) for end, done, *r in plain]:
            raise Unfit("gcc and clang differ")
    runs = []
    for inputs, (end, done, *results) in zip(vectors(program), plain, strict=True):
        runs.append(Run(inputs, end >= 0, bool(done), tuple(results[:count])))
    return runs
