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
from .command import Tool, build_of
from .ranges import Plan

ROOT = Path(__file__).resolve().parents[2]

IN_RELEASE = Path(__file__).parts[-4:-1] == ("lib", "proviso", "batchtool")
NAME = "proviso-batch" if IN_RELEASE else "scripts/batch"

DESCRIPTION = f"""\
Runs proviso (or another verifier) over many programs, and says how it did.

  {NAME} run src/*.c --property no-overflow --out a.jsonl
  {NAME} run build/compile_commands.json --entries all --out b.jsonl
  {NAME} run src/*.c --out a.jsonl -- -I include   # options of `proviso verify`, of the compiler too
  {NAME} run sets/ReachSafety-Loops.set --timeout 60 --out c.jsonl -- --seed 7
  {NAME} run hard.yml --ranges lb3,lb10 --cluster local:4 --out d.jsonl
  {NAME} run nightly.toml                # a run definition: see `run --help`
  {NAME} report a.jsonl
  {NAME} compare old.jsonl new.jsonl     # regressions first; the exit code says whether there are any
  {NAME} page symex=a.jsonl value=b.jsonl --out results.html
  {NAME} export b.jsonl --format sarif --out findings.sarif

A run that was stopped, by whatever means, goes on by the same command. Several may work on one result file."""

RUN_EPILOG = f"""\
Inputs are task definitions (.yml), categories (.set), folders of them, lists (.tsv with a header line, --index), C files and
bitcode, archives, objects and programs as `proviso verify` takes them, and compile_commands.json. Everything after -- is passed on to the verifier. Lists have the columns path (of a .yml or a
C file, relative to the list) and property, and may have expected (true, false), category, subproperty, data_model, error_fn
and extra_cflags; - is nothing.

In the template of --tool-cmd these are replaced: {{file}} {{files}} {{task}} {{property}} {{property_file}} {{data_model}} {{bits}}
{{error_function}} {{timeout}} {{memory}}; an example for ESBMC:
  --tool-cmd 'esbmc {{files}} --{{bits}} --k-induction --unlimited-goto-unwind'

{definition.__doc__}
Exit code: 0 all is well, 1 a wrong verdict, or a violation where none was expected, 2 a crash, or a program that does not
compile, 64 wrong usage, 130 interrupted."""


def parser():
    raw = argparse.RawDescriptionHelpFormatter
    p = argparse.ArgumentParser(prog=NAME, description=DESCRIPTION, formatter_class=raw)
    commands = p.add_subparsers(dest="command", required=True, metavar="|".join(COMMANDS))
    add_run(commands.add_parser("run", help="run tasks", epilog=RUN_EPILOG, formatter_class=raw))

    q = commands.add_parser("report", help="sum up result files")
    q.add_argument("file", nargs="+")
    q.add_argument("--property", action="append")
    q.add_argument("--by", choices=("category", "folder"), default="category")

    c = commands.add_parser("compare", help="what changed between two runs", description=COMPARE, formatter_class=raw)
    c.add_argument("old")
    c.add_argument("new")
    c.add_argument("--property", action="append")
    c.add_argument("--fail-on", metavar="KINDS", default="wrong,violation,crash", help="default: wrong,violation,crash")

    d = commands.add_parser("plot", help="several runs in a table and a quantile plot")
    d.add_argument("file", nargs="+", metavar="[NAME=]FILE", help="result files, with names for them")
    d.add_argument("--out", metavar="SVG", help="where to draw the quantile plot")
    d.add_argument("--by-category", dest="by", action="store_true", help="also what each solved of each category, and in what time")
    d.add_argument("--property", action="append")

    h = commands.add_parser("page", help="runs as a page for a browser: tables, plots, filters")
    h.add_argument("file", nargs="+", metavar="[NAME=]FILE", help="result files, with names for them")
    h.add_argument("--out", required=True, metavar="HTML")
    h.add_argument("--property", action="append")

    e = commands.add_parser("export", help="results in another format")
    e.add_argument("file")
    e.add_argument("--format", choices=sorted(export.FORMATS), required=True,
                   help="csv; junit: for continuous integration; sarif: all violations, for code hosts; benchexec: for table-generator")
    e.add_argument("--out", metavar="FILE", help="default: standard output")
    e.add_argument("--property", action="append")
    return p


COMPARE = """\
What changed between two runs, regressions first. Exit code 1 if there is a regression of these kinds (--fail-on):
  wrong      a verdict that contradicts the label
  violation  a violation in a program without a label
  crash      the verifier crashed
  lost       solved before, not now
  slower     more than a second and half as much again"""


def add_run(r):
    r.add_argument("tasks", nargs="*", help="task files, categories, folders, C files, compile_commands.json, or one run definition (.toml)")
    r.add_argument("--out", help="result file (JSON lines), appended to")
    r.add_argument("--index", action="append", default=[], metavar="TSV", help="list of tasks with their attributes")
    choose = r.add_argument_group("which of them")
    choose.add_argument("--property", action="append", help="only this property (may be repeated); of programs without a task definition: "
                        "what to ask")
    choose.add_argument("--entries", action="append", default=[], metavar="WHICH", help="functions of a compile_commands.json, an archive, an object or a C file to start "
                        "with: main (default), all others (all), those that differ from a revision of git (changed:REVISION), "
                        "NAME, FILE.c:NAME, or a file with a list of them")
    choose.add_argument("--linked", action="store_true", help="with the functions of the project's other files, not one file alone")
    choose.add_argument("--category", action="append", metavar="GLOB", help="only such categories")
    choose.add_argument("--match", action="append", metavar="GLOB", help="only tasks of such names")
    choose.add_argument("--expected", choices=("true", "false"))
    choose.add_argument("--only", metavar="FILE", help="only tasks named in the first column of this file")
    choose.add_argument("--sample", type=int, metavar="N", help="N of the tasks, always the same")
    choose.add_argument("--sample-seed", type=int, default=0, metavar="N", help="other N of the tasks")
    choose.add_argument("--retry", action="append", default=[], metavar="STATUS",
                        help="run again what ended so: unknown, error, wrong-true, ...")
    limit = r.add_argument_group("limits")
    limit.add_argument("--timeout", type=float, default=60, metavar="SECS", help="wall time told to the tool (60)")
    limit.add_argument("--grace", type=float, default=5, metavar="SECS", help="killed this long after it (5)")
    limit.add_argument("--cpu-limit", type=float, metavar="SECS", help="killed past this CPU time")
    limit.add_argument("--memory", type=int, default=4000, metavar="MB", help="for each task (4000)")
    limit.add_argument("--limit-by", choices=("auto", "cgroups", "polling"), default="auto",
                       help="control groups where there are any (auto), or looks at the processes")
    where = r.add_argument_group("where")
    where.add_argument("--jobs", "-j", type=int, default=os.cpu_count(), metavar="N", help="tasks at a time")
    where.add_argument("--cluster", metavar="ADDRESS", help="on a Dask cluster: tcp://HOST:PORT, local:N workers, or local:MIN-MAX as there is work "
                       "(docs/guide/clusters.md)")
    where.add_argument("--ranges", metavar="HOW", help="divide each task at test cases (proviso split --by) into ranges that run side by side: "
                       "SPLITTERS such as lb3,lb10, or 'lb3: symex | predicate' with an analysis for each range")
    tool = r.add_argument_group("the tool")
    tool.add_argument("--proviso", default=None, metavar="FILE", help="default: target/release/proviso, or that of the archive this is in")
    tool.add_argument("--cache", metavar="FOLDER", help="proofs and violations by content of the program: what was verified is not run again")
    tool.add_argument("--tool-cmd", metavar="TEMPLATE", default="", help="run another verifier")
    tool.add_argument("--tool-true", metavar="REGEX", default=r"^(TRUE|VERIFICATION SUCCESSFUL)$",
                      help="a line by which it says TRUE")
    tool.add_argument("--tool-false", metavar="REGEX", default=r"^(FALSE\b.*|VERIFICATION FAILED)$")
    tool.add_argument("--mix", action="store_true", help="append although the file is from another build or limits")
    r.add_argument("--no-report", action="store_true", help="only the last line of the report")


def main(argv):
    passed_on = []
    if "--" in argv:
        at = argv.index("--")
        argv, passed_on = argv[:at], argv[at + 1 :]
    try:
        options = parser().parse_args(argv)
        if passed_on and options.command != "run":
            raise tasks.TaskError("only `run` passes options on")
        if options.command == "run":
            return run(options, passed_on)
        return COMMANDS[options.command](options)
    except SystemExit as error:
        return 64 if error.code == 2 else error.code
    except (tasks.TaskError, results.ResultsError, OSError) as error:
        print(f"batch: error: {error}", file=sys.stderr)
        return 64
    except KeyboardInterrupt:
        print("\nbatch: interrupted; the same command goes on from here", file=sys.stderr)
        return 130


def run(options, passed_on):
    if [Path(name).suffix for name in options.tasks] == [".toml"]:
        return run_definition(options.tasks[0], passed_on)
    if not options.out:
        raise tasks.TaskError("--out FILE names the file for results")
    if options.cluster:
        cluster.need_dask()
    if options.ranges and (options.cache or options.tool_cmd):
        raise tasks.TaskError("--ranges goes neither with --cache nor with --tool-cmd")
    tool = tool_of(options, passed_on)
    header = header_of(tool) | {"ranges": options.ranges}
    under = hashlib.sha256(json.dumps([header[k] for k in DECISIVE]).encode()).hexdigest()[:16]
    plan = Plan.parse(options.ranges, under) if options.ranges else None
    chosen = selected(options, passed_on)
    # Ended otherwise, it would have to be found by the watchdog what is still running.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    ledger = results.Ledger.append(options.out, header)
    different = [k for k in DECISIVE if header.get(k) != ledger.header.get(k)]
    if different and not options.mix:
        raise results.ResultsError(
            f"{options.out} was made with another {', '.join(different)}: name another file, or add to it with --mix"
        )
    for key in [k for k, r in ledger.finished.items() if r["status"] in options.retry]:
        del ledger.finished[key]
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


def run_definition(path, passed_on):
    """Runs of a definition, one after the other; the worst exit code, wrong verdicts before crashes."""
    codes = []
    for name, words, its_own in definition.arguments(path):
        print(f"{name}:", file=sys.stderr)
        options = parser().parse_args(["run", *words])
        codes.append(run(options, its_own + passed_on))
    return 1 if 1 in codes else max(codes)


def selected(options, passed_on=()):
    request = request_of(options, passed_on)
    chosen = tasks.read_paths(options.tasks, options.property, lambda path: project.read(path, request), bool(options.entries))
    for index in options.index:
        chosen += tasks.read_index(index)
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
    chosen = list({t.key: t for t in chosen}.values())
    if options.sample is not None:
        chosen = tasks.sample(chosen, options.sample, options.sample_seed)
    only_changes = options.entries and all(entry.startswith("changed:") for entry in options.entries)
    if not chosen and not only_changes:
        raise tasks.TaskError("no tasks: see --help for how to name them")
    return chosen


def request_of(options, passed_on):
    compiling = compiler_options(passed_on)
    return project.Request(str(proviso_path(options)), options.property, options.entries, options.linked, options.jobs, compiling)


def compiler_options(words):
    """Those of the options passed on that say how files are compiled."""
    found, words = [], iter(words)
    for word in words:
        if word in ("-I", "-D", "-p", "--build", "--std"):
            found += [word, next(words, "")]
        elif word.startswith(("-I", "-D", "-U", "-std=", "--std=", "-m", "-f", "--build=", "--32", "--64")):
            found.append(word)
    return found


def proviso_path(options):
    """The command that is asked for, else that of the archive or build tree that this is in."""
    if options.proviso:
        return Path(options.proviso)
    if IN_RELEASE:
        return ROOT.parent / "bin" / "proviso"
    return ROOT / (os.environ.get("CARGO_TARGET_DIR") or "target") / "release" / "proviso"


def tool_of(options, passed_on):
    path = proviso_path(options)
    if not options.tool_cmd and not path.is_file():
        raise tasks.TaskError(f"{path} is not there: scripts/setup builds it, or --proviso FILE")
    if options.limit_by == "cgroups" and not options.cluster and not cgroups.parents():
        raise tasks.TaskError("there are no control groups that this process may use")
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


# What must be the same for results to be put into one file.
DECISIVE = ("timeout", "memory", "cpu_limit", "options", "tool", "build", "ranges")


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
    """The machine that starts the batch. Others may join."""
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
    """(name, results) of `NAME=FILE` or `FILE`."""
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
        raise tasks.TaskError(f"--fail-on: there is no kind {', '.join(unknown)}")
    old, new = load_filtered(options.old, options), load_filtered(options.new, options)
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
