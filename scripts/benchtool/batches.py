"""Measures the overhead of batches, with a command that does nothing as the verifier."""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from batchtool import cluster
from batchtool.report import table

ROOT = Path(__file__).resolve().parents[2]

DESCRIPTION = """\
Runs `true` as the verifier of many programs: in a loop (bare), as a batch on this machine, and as a batch with Dask; and submits the same number of
empty functions to Dask's scheduler. Wall time is per task and slot: the time of the whole run, including its start and end, times the number of slots,
divided by the number of tasks. Processor time is that of all processes. The last columns are without the cost of `true` itself.

On a machine with other work, processor time and the comparison within one run are more meaningful than wall time."""


def main(argv):
    p = argparse.ArgumentParser(prog="scripts/bench-batch", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tasks", type=int, default=10_000, metavar="N")
    p.add_argument("--slots", type=int, default=2, metavar="N", help="number of tasks that run in parallel")
    p.add_argument("--only", action="append", choices=("polling", "cgroups", "dask", "empty"))
    options = p.parse_args(argv)
    wanted = options.only or ["polling", "cgroups", "dask", "empty"]
    if {"dask", "empty"} & set(wanted):
        cluster.need_dask()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "tasks").mkdir()
        for n in range(options.tasks):
            (folder / f"tasks/t{n}.c").write_text(f"int main(void) {{ return {n}; }}\n")
        count = min(options.tasks, 2000)
        bare = measured(count, 1, lambda: [subprocess.run(["/bin/true"], stdin=subprocess.DEVNULL) for _ in range(count)])
        rows = [["bare", count, 1, *shown(bare), "", ""]]

        def batch(*how):
            command = [sys.executable, ROOT / "scripts/batch", "run", folder / "tasks", "--out", folder / f"{how[-1]}.jsonl"]
            command += ["--tool-cmd", "/bin/true {file}", "--no-report", *how]
            subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        ways = {
            "polling": lambda: batch("-j", options.slots, "--limit-by", "polling"),
            "cgroups": lambda: batch("-j", options.slots, "--limit-by", "cgroups"),
            "dask": lambda: batch("--limit-by", "polling", "--cluster", f"local:{options.slots}"),
            "empty": lambda: empty(options.tasks, options.slots),
        }
        for name in wanted:
            try:
                found = measured(options.tasks, options.slots, ways[name])
            except subprocess.CalledProcessError as error:
                print(f"bench-batch: {name}: exit {error.returncode}", file=sys.stderr)
                continue
            over = ["", ""] if name == "empty" else shown([a - b for a, b in zip(found, bare)])
            rows.append([name, options.tasks, options.slots, *shown(found), *over])
            print(table(HEADER, rows[-1:]), file=sys.stderr, flush=True)
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors")
    print(table(HEADER, rows))
    return 0


HEADER = ["ms a task", "tasks", "slots", "wall", "cpu", "wall over bare", "cpu over bare"]


def measured(count, slots, work):
    """Returns the wall and processor time for a task in seconds."""
    def cpu():
        return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))

    wall, before = time.monotonic(), cpu()
    work()
    return [(time.monotonic() - wall) * slots / count, (cpu() - before) / count]


def shown(seconds):
    return [f"{1000 * s:.1f}" for s in seconds]


def empty(count, slots):
    """Submits functions that do nothing in the same way as a batch: some for each thread at a time."""
    import distributed

    with cluster.connect(distributed, f"local:{slots}") as client:
        running = distributed.as_completed(loop=client.loop)
        started = 0
        while started < count or not running.is_empty():
            while started < count and running.count() < 4 * cluster.AHEAD * slots:
                running.add(client.submit(nothing, started, pure=False))
                started += 1
            next(running).release()


def nothing(number):
    return number
