"""Measures the time of the front-end from bitcode to control-flow automata (reading, verifying, linking and lowering), and the time of
clang -O0 -g for creating the bitcode. Times are processor time in seconds, the best of some runs."""

import argparse
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from batchtool.report import table
from .slicing import PROGRAMS, REPOSITORY, load


def main(arguments):
    parser = argparse.ArgumentParser(prog="scripts/bench-lowering", description=__doc__)
    parser.add_argument("programs", type=Path, nargs="?", default=PROGRAMS, help="a list as in slicer/benches/programs.toml")
    parser.add_argument("--only", metavar="NAME", help="only programs whose name contains this")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="take the fastest of N runs [5]")
    parser.add_argument("--target", type=Path, default=REPOSITORY / "target", help="the target folder of cargo")
    parser.add_argument("--lower", type=Path, help="the built example `lower` of frontend-llvm")
    options = parser.parse_args(arguments)
    example = options.lower or options.target / "release" / "examples" / "lower"
    build = ["cargo", "build", "--release", "-q", "-p", "frontend-llvm", "--example", "lower", "--target-dir", options.target]
    if not options.lower:
        subprocess.run(build, check=True, cwd=REPOSITORY)
    rows = []
    for program in load(options.programs):
        if options.only and options.only.lower() not in program["name"].lower():
            continue
        rows.append(measure(program, example, options.repeat))
        print(f"{program['name']}: done", file=sys.stderr)
    print(table(["program", "lines", "edges", "clang/s", "front-end/s", "ratio", "MB"], rows))


def measure(program, example, repeat):
    """Returns the lines of source, the edges, the seconds of clang and of the front-end, their ratio, and the peak memory."""
    lines = sum(Path(file).read_bytes().count(b"\n") for file in program["files"])
    with tempfile.TemporaryDirectory() as folder:
        bitcode = []
        clang = 0.0
        for n, file in enumerate(program["files"]):
            bitcode.append(f"{folder}/{n}.bc")
            command = ["clang-19", "-O0", "-g", "-w", "-c", "-emit-llvm", *program["clang"], file, "-o", bitcode[-1]]
            clang += min(processor_time(command) for _ in range(repeat))
        command = [example, "--no-models", *bitcode]
        lowering = min(processor_time(command) for _ in range(repeat))
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    edges = int(re.search(r"(\d+) edges", done.stdout)[1])
    memory = int(re.search(r"peak memory (\d+) kB", done.stdout)[1]) // 1024
    return [program["name"], lines, edges, f"{clang:.2f}", f"{lowering:.2f}", f"{lowering / clang:.2f}", memory]


def processor_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
