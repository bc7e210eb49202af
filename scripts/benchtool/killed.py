"""Compares a batch that is killed at random times, or whose workers are, with an undisturbed batch."""

import argparse
import contextlib
import functools
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from batchtool import cluster, results
from releasetool import smoke

ROOT = Path(__file__).resolve().parents[2]

DESCRIPTION = """\
Runs a batch to its end, kills it (SIGKILL) at random times, and compares its results with those of an undisturbed batch: --expected is
a result file of the same command.

  scripts/batch run --index INDEX.tsv --timeout 10 -j 2 --out whole.jsonl
  scripts/bench-killed --expected whole.jsonl --out killed.jsonl -- --index INDEX.tsv --timeout 10 -j 2
  scripts/bench-killed --expected whole.jsonl --out dask.jsonl --workers 4 --archive proviso.tar.xz -- --index INDEX.tsv --timeout 10

With --workers N, a Dask scheduler and N worker processes on this machine run the batch. Workers are killed, and another one is started
for each. With --archive, the file system of the workers contains only this release (unpacked), the programs, libraries and headers of
the system, and Dask, but no sources, build tree and tasks (this needs the permission to mount).

A task near its time limit may have different results in two runs, so each difference is printed with both times. The exit code is 1 if
a difference is not one between a verdict and a timeout, or if a task does not have exactly one result."""


def main(argv):
    p = argparse.ArgumentParser(prog="scripts/bench-killed", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--expected", required=True, metavar="FILE")
    p.add_argument("--out", required=True, metavar="FILE", help="result file, which must not exist yet")
    p.add_argument("--times", type=int, default=10, metavar="N")
    p.add_argument("--between", type=float, nargs=2, default=(5, 120), metavar="SECS", help="minimal and maximal time between two kills (5 120)")
    p.add_argument("--seed", type=int, default=None)
    p.add_argument("--workers", type=int, default=0, metavar="N")
    p.add_argument("--archive", metavar="FILE")
    p.add_argument("batch", nargs="+", help="arguments of batch run")
    options = p.parse_args(argv)
    if Path(options.out).exists():
        p.error(f"{options.out} exists")
    if options.archive and not options.workers:
        p.error("--archive is of --workers")
    if options.workers:
        cluster.need_dask()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
    random.seed(seed)
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        hit = (on_cluster if options.workers else on_this_machine)(options, stack)
    print(f"seed {seed}: {hit} kills at work, {time.monotonic() - began:.0f} s")
    return compare(options.expected, options.out)


def on_this_machine(options, _):
    """Returns how often the batch was running when it was killed."""
    command = batch(options)
    for hit in range(options.times):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(random.uniform(*options.between))
            return hit
        process.kill()
        process.wait()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    return options.times


def on_cluster(options, stack):
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    workers_own = of_archive(options.archive, folder / "root") if options.archive else {}

    def start(role, *arguments, python=sys.executable, **named):
        words = [python, "-m", "distributed.cli.dask_" + role, *map(str, arguments), "--no-dashboard"]
        process = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **named)
        stack.callback(process.wait)
        stack.callback(process.kill)
        return process

    contact = folder / "scheduler.json"
    start("scheduler", "--port", 0, "--host", "127.0.0.1", "--scheduler-file", contact)
    while not (contact.exists() and contact.read_text().endswith("}")):
        time.sleep(0.1)
    address = json.loads(contact.read_text())["address"]

    def worker():
        return start("worker", address, "--nthreads", 1, "--no-nanny", "--local-directory", "/tmp" if workers_own else folder, **workers_own)

    workers = [worker() for _ in range(options.workers)]
    client = subprocess.Popen([*batch(options), "--cluster", address], stdout=subprocess.DEVNULL)
    for hit in range(options.times):
        with contextlib.suppress(subprocess.TimeoutExpired):
            client.wait(random.uniform(*options.between))
            return hit
        victim = random.randrange(len(workers))
        workers[victim].kill()
        workers[victim] = worker()
    client.wait()
    return options.times


def of_archive(archive, root):
    """Returns the arguments for starting a worker whose file system contains only the archive, the system and Dask."""
    (root / "opt/proviso").mkdir(parents=True)
    subprocess.run(["tar", "xf", archive, "-C", root / "opt/proviso", "--strip-components=1"], check=True)
    dask = Path(importlib.util.find_spec("distributed").origin).parents[1]
    named = {
        "env": {"PATH": "/opt/proviso/bin:/usr/bin:/bin", "PYTHONPATH": "/opt/dask", "HOME": "/tmp"},
        "preexec_fn": functools.partial(smoke.confine, root, [(dask, "opt/dask")]),
    }
    python = "/usr/bin/python3"
    subprocess.run([python, "-c", "import distributed"], check=True, **named)
    return named | {"python": python}


def batch(options):
    return [sys.executable, str(ROOT / "scripts/batch"), "run", "--out", options.out, "--no-report", *options.batch]


def compare(expected, found):
    """Prints the differences. Returns 1 if one of them is not caused by the time limit."""
    with open(found) as file:
        lines = [json.loads(line) for line in file if line.endswith("}\n")]
    keys = [(line["task"], line["property"]) for line in lines if "task" in line and "step" not in line]
    twice = len(keys) - len(set(keys))
    (_, whole), (_, killed) = results.load(expected), results.load(found)
    missing = whole.keys() - killed.keys()
    def said(results, key):
        return results[key]["verdict"].partition("(timeout")[0]

    differ = sorted(key for key in whole.keys() & killed.keys() if said(whole, key) != said(killed, key))
    bad = 0
    for key in differ:
        pair = whole[key], killed[key]
        unexplained = not any(result["reason"].startswith("timeout") for result in pair)
        bad += unexplained
        how = " -> ".join(f"{result['verdict']} in {result['wall']:.1f} s" for result in pair)
        print(f"{'DIFFERS ' if unexplained else ''}{' '.join(key)}: {how}")
    print(f"{len(whole)} tasks; {twice} results twice, {len(missing)} missing; {len(differ)} differ, {bad} of them not by the time limit")
    return 1 if bad or twice or missing else 0
