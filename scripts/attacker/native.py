"""Compiles a program natively and runs it on every combination of its inputs."""

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
FAULT = 96  # the exit code of a run in which a sanitizer reports an error


class Unfit(Exception):
    """The program does not compile, or has undefined behaviour, so it has no correct verdict."""


@dataclass
class Run:
    """The native run on one vector of inputs."""

    inputs: tuple  # C expressions
    ends: bool  # whether the run ends
    reached: bool  # whether the run reaches the end of main
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
    """Returns statements that branch on each result, so that MemorySanitizer reports uninitialised ones."""
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
    """Returns all vectors of inputs in the order of the driver. The first input varies fastest."""
    found = [()]
    for i in program.inputs:
        found = [(*v, value) for value in i.values for v in found]
    return found


def reads_uninitialised(program, folder):
    """Returns whether a run reads uninitialised memory, which the other sanitizers do not detect."""
    try:
        runs, errors = compile_and_run(program, "clang-19", ["-fsanitize=memory", "-fno-sanitize-recover=all"], folder, "memory")
    except Unfit:
        return False
    return "uninitialized" in errors


SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fsanitize-address-use-after-return=always", "-g1"]


# Sanitizers do not detect errors in these: reads of more variadic arguments than were passed, and reads by library functions that they do
# not intercept.
UNSEEN = ("va_arg(", "strtok_r(", "strtoul(s", "strtoull(s")


def faults(program, folder: Path):
    """Returns the first report of a sanitizer in the runs on all inputs, or `None`."""
    program.pure = False
    if any(word in program.render([]) for word in UNSEEN):
        raise Unfit("the sanitizers do not look into it")
    # Signed overflow is undefined, as in C.
    flags = [*SANITIZERS, "-fno-wrapv", "-fstrict-aliasing"]
    runs, errors = compile_and_run(program, "clang-19", flags, folder, "sanitized")
    if any(end == -SIGALRM for end, *_ in runs) or "stack-overflow" in errors:
        raise Unfit("does not end")
    if not any(end == FAULT for end, *_ in runs):
        return None
    return next((line for line in errors.splitlines() if "rror: " in line), "a fault")


def uninitialised(program, folder: Path):
    """Returns the first report of MemorySanitizer, for programs without reports of the other sanitizers."""
    if program.bits != 64 or faults(program, folder):
        raise Unfit("undefined otherwise")
    flags = ["-fsanitize=memory", "-fno-sanitize-recover=all", "-g1"]
    runs, errors = compile_and_run(program, "clang-19", flags, folder, "memory", uses(program))
    if not any(end == FAULT for end, *_ in runs):
        return None
    return next((line for line in errors.splitlines() if "uninitialized" in line), "a use")


def endless(program, folder: Path):
    """Returns whether some run does not end within a time limit."""
    program.pure, program.may_hang = False, True
    # Programs with undefined behaviour, including overflow, have no correct verdict on termination.
    flags = [*SANITIZERS, "-fno-wrapv"]
    runs, errors = compile_and_run(program, "clang-19", flags, folder, "sanitized")
    if "stack-overflow" in errors:
        return True
    if any(end == FAULT for end, *_ in runs):
        raise Unfit("undefined")
    return any(end == -SIGALRM for end, *_ in runs)


def truth(program, folder: Path):
    """Returns a `Run` for each vector of inputs."""
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
