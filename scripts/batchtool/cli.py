"""The command line of `scripts/batch`."""

import argparse
import fnmatch
import hashlib
import json
import os
import platform
import re
import signal
import sys
import time
from pathlib import Path

from . import batch, cgroups, cluster, definition, export, page, project, quantiles, report, results, tasks
from .command import Tool, build_of, refusal
from .ranges import Plan

ROOT = Path(__file__).resolve().parents[2]

IN_RELEASE = Path(__file__).parts[-4:-1] == ("lib", "proviso", "batchtool")
NAME = "proviso-batch" if IN_RELEASE else "scripts/batch"

DESCRIPTION = f"""\
Runs proviso (or another verifier) on many programs, and reports the results.

  {NAME} run src/*.c --property no-overflow --out a.jsonl
  {NAME} run build/compile_commands.json --entries all --out b.jsonl
  {NAME} run src/*.c --out a.jsonl -- -I include   # after --: options of `proviso verify` and of the compiler
  {NAME} run sets/ReachSafety-Loops.set --timeout 60 --out c.jsonl -- --seed 7
  {NAME} run hard.yml --ranges lb3,lb10 --cluster local:4 --out d.jsonl
  {NAME} run nightly.toml                # a run definition: see `run --help`
  {NAME} report a.jsonl
  {NAME} compare old.jsonl new.jsonl     # regressions first; exit code 1 if there are any
  {NAME} page symex=a.jsonl value=b.jsonl --out results.html
  {NAME} export b.jsonl --format sarif --out findings.sarif

To continue a run that was stopped, for whatever reason, give the same command again. Several runs at the same time may use one
result file."""

RUN_EPILOG = f"""\
Inputs are task definitions (.yml), categories (.set), folders with either, lists (.tsv with a header line, --index),
compile_commands.json, and C files, bitcode, archives, objects and programs as `proviso verify` accepts them. Everything after --
is passed to the verifier. A list has the columns path (of a .yml or a C file, relative to the list) and property, and optionally
expected (true, false), category, subproperty, data_model, error_fn and extra_cflags; the value - stands for an empty one.

The template of --tool-cmd may contain these placeholders: {{file}} {{files}} {{task}} {{property}} {{property_file}}
{{data_model}} {{bits}} {{error_function}} {{timeout}} {{memory}}; an example for ESBMC:
  --tool-cmd 'esbmc {{files}} --{{bits}} --k-induction --unlimited-goto-unwind'

{definition.__doc__}
Exit code: 0 none of the following, 1 a wrong verdict, or a violation in a program without an expected verdict, 2 a crash, or a
program that does not compile, 64 wrong usage, 130 interrupted."""


def parser():
    raw = argparse.RawDescriptionHelpFormatter
    p = argparse.ArgumentParser(prog=NAME, description=DESCRIPTION, formatter_class=raw)
    commands = p.add_subparsers(dest="command", required=True, metavar="|".join(COMMANDS))
    add_run(commands.add_parser("run", help="run tasks", epilog=RUN_EPILOG, formatter_class=raw))

    q = commands.add_parser("report", help="summarise result files")
    q.add_argument("file", nargs="+")
    q.add_argument("--property", action="append")
    q.add_argument("--by", choices=("category", "folder"), default="category")

    c = commands.add_parser("compare", help="list the changes between two runs", description=COMPARE, formatter_class=raw)
    c.add_argument("old")
    c.add_argument("new")
    c.add_argument("--property", action="append")
    c.add_argument("--fail-on", metavar="KINDS", default="wrong,violation,crash", help="default: wrong,violation,crash")

    d = commands.add_parser("plot", help="compare several runs in a table and a quantile plot")
    d.add_argument("file", nargs="+", metavar="[NAME=]FILE", help="result files, optionally with names for the runs")
    d.add_argument("--out", metavar="SVG", help="write the quantile plot to this file")
    d.add_argument("--by-category", dest="by", action="store_true", help="also print the solved tasks and the time per run and category")
    d.add_argument("--property", action="append")

    h = commands.add_parser("page", help="write runs as an HTML page with tables, plots and filters")
    h.add_argument("file", nargs="+", metavar="[NAME=]FILE", help="result files, optionally with names for the runs")
    h.add_argument("--out", required=True, metavar="HTML")
    h.add_argument("--property", action="append")

    e = commands.add_parser("export", help="write results in another format")
    e.add_argument("file")
    e.add_argument("--format", choices=sorted(export.FORMATS), required=True,
                   help="csv; junit (for continuous integration); sarif (all violations, for code hosts); benchexec (for table-generator)")
    e.add_argument("--out", metavar="FILE", help="default: standard output")
    e.add_argument("--property", action="append")
    return p


COMPARE = """\
Lists the changes between two runs, regressions first. The exit code is 1 if there is a regression of a kind in --fail-on:
  wrong      the verdict contradicts the expected one
  violation  a violation in a program without an expected verdict
  crash      the verifier crashed
  lost       solved in the old run, not in the new one
  slower     more than a second and more than 50 % slower"""


def add_run(r):
    r.add_argument("tasks", nargs="*", help="task files, categories, folders, C files, compile_commands.json, or one run definition (.toml)")
    r.add_argument("--out", help="append results to this file (JSON lines)")
    r.add_argument("--index", action="append", default=[], metavar="TSV", help="run the tasks of this list")
    choose = r.add_argument_group("selection of tasks")
    choose.add_argument("--property", action="append", help="only this property (may be repeated); for programs without a task "
                        "definition: verify this property")
    choose.add_argument("--entries", action="append", default=[], metavar="WHICH", help="entry functions of a compile_commands.json, "
                        "an archive, an object or a C file: main (default), all others (all), those that differ from a revision of "
                        "git (changed:REVISION), NAME, FILE.c:NAME, or a file with a list of them")
    choose.add_argument("--linked", action="store_true", help="link each file with the other files of the project")
    choose.add_argument("--category", action="append", metavar="GLOB", help="only categories that match")
    choose.add_argument("--match", action="append", metavar="GLOB", help="only tasks with names that match")
    choose.add_argument("--expected", choices=("true", "false"))
    choose.add_argument("--only", metavar="FILE", help="only tasks named in the first column of this file")
    choose.add_argument("--sample", type=int, metavar="N", help="only N of the tasks, chosen at random with a fixed seed")
    choose.add_argument("--sample-seed", type=int, default=0, metavar="N", help="the seed of --sample (0)")
    choose.add_argument("--retry", action="append", default=[], metavar="STATUS",
                        help="run tasks with this result again: unknown, error, wrong-true, ...")
    limit = r.add_argument_group("limits")
    limit.add_argument("--timeout", type=float, default=60, metavar="SECS", help="limit on wall time, passed to the verifier (60)")
    limit.add_argument("--grace", type=float, default=5, metavar="SECS", help="time after this limit until the verifier is killed (5)")
    limit.add_argument("--cpu-limit", type=float, metavar="SECS", help="kill the verifier after this CPU time")
    limit.add_argument("--memory", type=int, default=4000, metavar="MB", help="limit on memory of each task (4000)")
    limit.add_argument("--limit-by", choices=("auto", "cgroups", "polling"), default="auto",
                       help="measure and limit with control groups or by polling the processes; auto: control groups if available")
    where = r.add_argument_group("place of execution")
    where.add_argument("--jobs", "-j", type=int, default=os.cpu_count(), metavar="N", help="number of tasks that run at the same time")
    where.add_argument("--cluster", metavar="ADDRESS", help="run on a Dask cluster: tcp://HOST:PORT, local:N for N workers on this machine, or "
                       "local:MIN-MAX for a number of workers that depends on the load (docs/guide/clusters.md)")
    where.add_argument("--ranges", metavar="HOW", help="divide the paths of each task at test cases (proviso split --by) into ranges "
                       "that run in parallel: SPLITTERS such as lb3,lb10, or 'lb3: symex | predicate' with an analysis for each range")
    tool = r.add_argument_group("the verifier")
    tool.add_argument("--proviso", default=None, metavar="FILE", help="default: target/release/proviso, or bin/proviso in a release")
    tool.add_argument("--cache", metavar="FOLDER", help="store proofs and violations here, by the content of the program, and reuse them")
    tool.add_argument("--tool-cmd", metavar="TEMPLATE", default="", help="the command line of another verifier")
    tool.add_argument("--tool-true", metavar="REGEX", default=r"^(TRUE|VERIFICATION SUCCESSFUL)$",
                      help="the line of its output that stands for TRUE")
    tool.add_argument("--tool-false", metavar="REGEX", default=r"^(FALSE\b.*|VERIFICATION FAILED)$",
                      help="the line of its output that stands for FALSE")
    tool.add_argument("--mix", action="store_true", help="append to a file with results of another build or of other limits")
    r.add_argument("--no-report", action="store_true", help="print only the last line of the report")


def main(argv):
    passed_on = []
    if "--" in argv:
        at = argv.index("--")
        argv, passed_on = argv[:at], argv[at + 1 :]
    try:
        options = parser().parse_args(argv)
        if passed_on and options.command != "run":
            raise tasks.TaskError("options after -- are allowed with `run` only")
        if options.command == "run" and [Path(name).suffix for name in options.tasks] == [".toml"]:
            [path] = options.tasks
            return run_definition(path, [word for word in argv[1:] if word != path], passed_on)
        if options.command == "run":
            return run(options, passed_on)
        return COMMANDS[options.command](options)
    except SystemExit as error:
        return 64 if error.code == 2 else error.code
    except BrokenPipeError:
        # The reader of the output, such as `head`, has ended. Python must not write the rest at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (tasks.TaskError, results.ResultsError, OSError) as error:
        of_file = isinstance(error, OSError) and error.filename
        print(f"batch: error: {f'{error.filename}: {error.strerror}' if of_file else error}", file=sys.stderr)
        return 64
    except KeyboardInterrupt:
        print("\nbatch: interrupted; the same command continues the run", file=sys.stderr)
        return 130


def run(options, passed_on):
    if not options.out:
        raise tasks.TaskError("--out FILE is required: the file for results")
    if options.cluster:
        cluster.need_dask()
    if options.ranges and (options.cache or options.tool_cmd):
        raise tasks.TaskError("--ranges cannot be combined with --cache or --tool-cmd")
    tool = tool_of(options, passed_on)
    header = header_of(tool) | {"ranges": options.ranges}
    under = hashlib.sha256(json.dumps([header[k] for k in DECISIVE]).encode()).hexdigest()[:16]
    plan = Plan.parse(options.ranges, under) if options.ranges else None
    chosen = selected(options, passed_on)
    refused = refusal(tool, {t.property for t in chosen if not (t.property_file and t.property_file.is_file())}, plan)
    if refused:
        raise tasks.TaskError(refused)
    # SIGTERM is handled like an interrupt: otherwise only the watchdog would end the verifiers that still run.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    ledger = results.Ledger.append(options.out, header)
    different = [k for k in DECISIVE if header.get(k) != ledger.header.get(k)]
    if different and not options.mix:
        raise results.ResultsError(
            f"{options.out} contains results of other settings ({', '.join(different)}): name another file, or append with --mix"
        )
    for key in [k for k, r in ledger.finished.items() if r["status"] in options.retry]:
        del ledger.finished[key]
    changed = [t.key for t in chosen if ledger.finished.get(t.key, {}).get("content", t.content) != t.content]
    if changed:
        print(f"{len(changed)} of {len(chosen)} tasks are run again: their files have changed", file=sys.stderr)
    for key in changed:
        del ledger.finished[key]
    for task in (t for t in chosen if t.key in ledger.steps):
        steps = ledger.steps[task.key]
        ledger.steps[task.key] = [step for step in steps if step.get("content", task.content) == task.content]
    todo = [t for t in chosen if t.key not in ledger.finished]
    if len(todo) < len(chosen):
        print(f"{len(chosen) - len(todo)} of {len(chosen)} tasks are done already", file=sys.stderr)
    try:
        batch.run(batch.Work(ledger, todo, batch.Progress(len(todo)), plan), tool, max(1, options.jobs), options.cluster)
    finally:
        ledger.close()
    _, everything = results.load(options.out)
    mine = [everything[t.key] for t in chosen]
    text = report.summary(mine) if mine else "no function has changed"
    print(text.rpartition("\n\n")[2] if options.no_report else text)
    return exit_code(mine)


def run_definition(path, overriding, passed_on):
    """Performs the runs of a definition one after the other; returns the worst exit code (1, wrong verdicts, is worse than 2). The
    options `overriding` are those of the command line."""
    codes = []
    for name, words, its_own in definition.arguments(path):
        print(f"{name}:", file=sys.stderr)
        options = parser().parse_args(["run", *words, *overriding])
        codes.append(run(options, its_own + passed_on))
    return 1 if 1 in codes else max(codes)


def selected(options, passed_on=()):
    request = request_of(options, passed_on)
    chosen = tasks.read_paths(options.tasks, options.property, lambda path: project.read(path, request), bool(options.entries))
    for index in options.index:
        chosen += tasks.read_index(index)
    named = len(chosen)
    if options.property:
        chosen = [t for t in chosen if t.property in options.property]
    if options.category:
        chosen = [t for t in chosen if any(fnmatch.fnmatchcase(t.category, g) for g in options.category)]
    if options.match:
        chosen = [t for t in chosen if any(fnmatch.fnmatchcase(t.name, g) for g in options.match)]
    if options.expected:
        chosen = [t for t in chosen if t.expected == options.expected]
    if options.only:
        lines = Path(options.only).read_text(encoding="utf-8").splitlines()
        names = {line.split("\t")[0].strip() for line in lines}
        chosen = [t for t in chosen if t.name in names]
    chosen = tasks.distinct(chosen)
    if options.sample is not None:
        chosen = tasks.sample(chosen, options.sample, options.sample_seed)
    only_changes = options.entries and all(entry.startswith("changed:") for entry in options.entries)
    if not chosen and not only_changes:
        why = f"the options select none of {named}" if named else "see --help for how to name them"
        raise tasks.TaskError(f"no tasks: {why}")
    return chosen


def request_of(options, passed_on):
    compiling = compiler_options(passed_on)
    return project.Request(str(proviso_path(options)), options.property, options.entries, options.linked, options.jobs, compiling)


def compiler_options(words):
    """The compiler options among the options that are passed to the verifier."""
    found, words = [], iter(words)
    for word in words:
        if word in ("-I", "-D", "-p", "--build", "--std"):
            found += [word, next(words, "")]
        elif word.startswith(("-I", "-D", "-U", "-std=", "--std=", "-m", "-f", "--build=", "--32", "--64")):
            found.append(word)
    return found


def proviso_path(options):
    """The command of --proviso, else the command in the release or build tree that contains this file."""
    if options.proviso:
        return Path(options.proviso)
    if IN_RELEASE:
        return ROOT.parent / "bin" / "proviso"
    return ROOT / (os.environ.get("CARGO_TARGET_DIR") or "target") / "release" / "proviso"


def tool_of(options, passed_on):
    path = proviso_path(options)
    if not options.tool_cmd and not path.is_file():
        raise tasks.TaskError(f"{path} does not exist: build it with scripts/setup, or give --proviso FILE")
    if options.limit_by == "cgroups" and not options.cluster and not cgroups.parents():
        raise tasks.TaskError("--limit-by cgroups: this process may not create control groups")
    return Tool(
        proviso=os.path.abspath(path),
        build="" if options.tool_cmd else build_of(path),
        template=options.tool_cmd,
        says_true=options.tool_true,
        says_false=options.tool_false,
        options=passed_on,
        timeout=options.timeout,
        grace=options.grace,
        cpu_limit=options.cpu_limit,
        memory=options.memory,
        cgroups=options.limit_by != "polling",
        cache=os.path.abspath(options.cache) if options.cache else "",
        folder=os.getcwd(),
    )


# The fields of the header that must be equal for all results in one file.
DECISIVE = ("timeout", "memory", "cpu_limit", "options", "tool", "build", "ranges")


def differing_settings(old, new):
    """The settings of DECISIVE, and the machine, that differ between two headers: triples (name, old, new) of texts."""

    def shown(value):
        if isinstance(value, dict):
            value = value.get("name")
        text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
        return "none" if value in (None, [], "") else text

    names = [*DECISIVE, "host"]
    return [(name, a, b) for name in names for a, b in [(shown(old.get(name)), shown(new.get(name)))] if a != b]


def header_of(tool):
    return {
        "batch": 1,
        "date": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "timeout": tool.timeout,
        "memory": tool.memory,
        "cpu_limit": tool.cpu_limit,
        "options": tool.options,
        "tool": tool.template or "proviso",
        "build": tool.build or None,
        "host": host(),
    }


def host():
    """A description of the machine that starts the batch (other machines may take part in it)."""
    cpus = re.search(r"^model name\s*: (.*)", Path("/proc/cpuinfo").read_text(), re.M)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "name": platform.node(), "system": f"{platform.system()} {platform.release()}", "cpu": cpus[1] if cpus else platform.machine(),
        "cores": os.cpu_count(), "memory": memory >> 20,
    }


def exit_code(mine):
    if any(r["status"] in report.WRONG or report.is_violation(r) for r in mine):
        return 1
    return 2 if any(report.is_crash(r) or report.is_refused(r) for r in mine) else 0


def load_filtered(path, options):
    _, loaded = results.load(path)
    return {k: r for k, r in loaded.items() if not options.property or k[1] in options.property}


def named_runs(options):
    """A pair (name, results) for each `NAME=FILE` or `FILE`; the default name is the stem of the file."""
    runs = []
    for word in options.file:
        name, equals, path = word.partition("=")
        path = path if equals else word
        runs.append((name if equals else Path(path).stem, load_filtered(path, options)))
    return runs


def show(options):
    mine = {}
    for path in options.file:
        mine.update(load_filtered(path, options))
    mine = list(mine.values())
    if options.by == "folder":
        for r in mine:
            r["category"] = str(Path(r["task"]).parent)
    print(report.summary(mine))
    return exit_code(mine)


def compare(options):
    kinds = options.fail_on.split(",")
    unknown = set(kinds) - {name for name, *_ in report.REGRESSIONS}
    if unknown:
        raise tasks.TaskError(f"--fail-on: unknown kind {', '.join(unknown)}")
    old, new = load_filtered(options.old, options), load_filtered(options.new, options)
    different = differing_settings(*(results.load(path)[0] for path in (options.old, options.new)))
    if different:
        lines = ["note: the batches were run with different settings, so the changes may come from these:"]
        print("\n".join(lines + [f"  {name}: {a} -> {b}" for name, a, b in different]) + "\n")
    print(report.comparison(old, new))
    found = report.regressions(old, new)
    return 1 if any(found[kind] for kind in kinds) else 0


def draw(options):
    runs = named_runs(options)
    print(quantiles.side_by_side(runs))
    print("\n" + quantiles.capabilities(runs))
    if options.by:
        print("\n" + quantiles.by_category(runs))
    if options.out:
        Path(options.out).write_text(quantiles.plot(runs), encoding="utf-8")
    return 0


def write_page(options):
    Path(options.out).write_text(page.of(named_runs(options)), encoding="utf-8")
    return 0


def write(options):
    ledger = results.Ledger.read(options.file)
    mine = [r for k, r in sorted(ledger.finished.items()) if not options.property or k[1] in options.property]
    text = export.FORMATS[options.format](ledger, mine)
    if options.out:
        Path(options.out).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0


COMMANDS = {"run": run, "report": show, "compare": compare, "plot": draw, "page": write_page, "export": write}
