"""Fuzzes a program that takes arguments and standard input with AFL++, and measures the coverage of the inputs that it finds.

An input has arguments, each with a zero byte at its end, then an empty argument, then standard input. A wrapper around `main` sets both. The
fuzzer starts with one empty input. It does not create files or environment variables.
"""

import subprocess
import tempfile
from pathlib import Path

from batchtool import runner

MOST_ARGUMENTS = 30
OF_TEST = 1  # the time in seconds of a native run on one input
GRACE = 20  # the time in seconds in which the fuzzer ends
SETTINGS = ("AFL_SKIP_CPUFREQ", "AFL_NO_UI", "AFL_NO_AFFINITY", "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES", "AFL_SKIP_CRASHES")

WRAPPER = """
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
extern int program_main(int argc, char **argv, char **envp);
static char input[1 << 16];
int main(int argc, char **argv, char **envp) {
    char *arguments[%d + 2] = {"program"};
    long size = 0, n;
    while ((n = read(0, input + size, sizeof input - 1 - size)) > 0)
        size += n;
    char *at = input, *end = input + size;
    for (argc = 1; argc <= %d && at < end && *at; at += strlen(at) + 1)
        arguments[argc++] = at;
    at += at < end;
    int in = memfd_create("stdin", 0);
    if (at < end && write(in, at, end - at) != end - at)
        return 99;
    lseek(in, 0, SEEK_SET);
    dup2(in, 0);
    close(in);
    return program_main(argc, arguments, envp);
}
""" % (MOST_ARGUMENTS, MOST_ARGUMENTS)


def build(compiler, options, arguments, folder, place, name):
    """Builds the program with the wrapper. The arguments are those of testgen: C files and options of the compiler, relative to the folder."""
    wrapper = place / "wrapper.c"
    wrapper.write_text(WRAPPER)
    plain = [compiler, "-w", "-c", wrapper, "-o", place / "wrapper.o"]
    program = [compiler, "-w", "-g", "-O0", *options, "-Dmain=program_main", *arguments, place / "wrapper.o", "-o", place / name]
    for command in (plain, program):
        subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=300)
    return place / name


def fuzz(arguments, folder, seconds):
    """Returns the lines and branches of the first C file that the inputs cover, the number of inputs, and the processor time of the fuzzer."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        try:
            program = build("afl-cc", [], arguments, folder, place, "fuzzed")
            counting = ["-fprofile-instr-generate", "-fcoverage-mapping", "-mllvm", "-runtime-counter-relocation"]
            counted = build("clang-19", counting, arguments, folder, place, "counted")
        except subprocess.CalledProcessError as error:
            return {"failed": error.stderr.strip()[-300:]}
        (place / "seeds").mkdir()
        # AFL++ rejects a seed of no bytes. This one has no arguments and an empty standard input.
        (place / "seeds" / "empty").write_bytes(b"\0")
        here = place / "here"
        here.mkdir()
        command = ["env", *(f"{setting}=1" for setting in SETTINGS), "afl-fuzz", "-i", place / "seeds", "-o", place / "out", "--", program]
        limits = runner.Limits(20 * seconds + GRACE, seconds, 8 << 30, asks=GRACE)
        outcome = runner.run([str(c) for c in command], limits, cwd=here)
        found = [f for kind in ("queue", "crashes", "hangs") for f in sorted((place / "out" / "default" / kind).glob("id*"))]
        if not found:
            return {"failed": (outcome.stdout + outcome.stderr).strip()[-300:]}
        first = next((folder / argument).resolve() for argument in arguments if argument.endswith(".c"))
        return {**coverage(counted, found, first, place), "tests": len(found), "cpu": outcome.cpu}


def coverage(program, inputs, file, place):
    """Runs the program on all inputs. Returns the covered lines and branches of the file, as llvm-cov counts them."""
    profiles = place / "profiles"
    profiles.mkdir()
    for number, path in enumerate(inputs):
        with path.open("rb") as data, tempfile.TemporaryDirectory(dir=place) as here:
            environment = {"LLVM_PROFILE_FILE": f"{profiles}/{number}.profraw%c"}
            try:
                subprocess.run([program], cwd=here, stdin=data, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=OF_TEST)
            except subprocess.TimeoutExpired:
                pass
    merged = place / "merged"
    written = sorted(profiles.iterdir())
    subprocess.run(["llvm-profdata-19", "merge", "-sparse", *written, "-o", merged], check=True, capture_output=True)
    export = ["llvm-cov-19", "export", "--format=lcov", program, "-instr-profile", merged]
    return counts_in(subprocess.run(export, check=True, capture_output=True, text=True).stdout, file)


def counts_in(lcov, file):
    """Reads the counts of a file."""
    counts, is_file = {"DA": [], "BRDA": []}, False
    for line in lcov.splitlines():
        key, _, value = line.partition(":")
        if key == "SF":
            is_file = Path(value).resolve() == file
        elif is_file and key in counts:
            counts[key].append(value.rpartition(",")[2] not in ("0", "-"))
    return {name: {"covered": sum(counts[key]), "total": len(counts[key])} for name, key in (("lines", "DA"), ("branches", "BRDA"))}
