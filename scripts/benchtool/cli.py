"""The command line of `scripts/bench`."""

import argparse
import fnmatch
import hashlib
import os
import shlex
import signal
import sys
import time
from collections import Counter
from pathlib import Path

from . import export, quantiles, report, results, runner, tasks, verdict

ROOT = Path(__file__).resolve().parent.parent.parent

DESCRIPTION = """\
Runs proviso (or another verifier) over SV-COMP tasks, and says how it did.

  scripts/bench run --index LIST.tsv --out a.jsonl --property unreach-call --timeout 10
  scripts/bench run FOLDER TASK.yml --out b.jsonl -- --seed 7
  scripts/bench report a.jsonl
  scripts/bench compare a.jsonl b.jsonl
  scripts/bench plot symex=a.jsonl value=b.jsonl --out quantiles.svg
  scripts/bench export a.jsonl --format junit --out report.xml

Stopped runs go on where they were: the same command again skips what is in the file."""

RUN_EPILOG = """\
Everything after -- is passed on to proviso. In the template of --tool-cmd these are replaced:
{file} {files} {task} {property} {property_file} {data_model} {bits} {error_function} {timeout}
{memory}; an example for ESBMC:
  --tool-cmd 'esbmc {files} --{bits} --k-induction --unlimited-goto-unwind'

Exit code: 0 all is well, 1 a wrong verdict, 2 a crash, 64 wrong usage, 130 interrupted."""


def parser():
    raw = argparse.RawDescriptionHelpFormatter
    p = argparse.ArgumentParser(prog="scripts/bench", description=DESCRIPTION, formatter_class=raw)
    commands = p.add_subparsers(dest="command", required=True, metavar="run|report|compare|plot|export")

    r = commands.add_parser("run", help="run tasks", epilog=RUN_EPILOG, formatter_class=raw)
    r.add_argument("tasks", nargs="*", help="task files (.yml), folders, lists (.set)")
    r.add_argument("--out", required=True, help="result file (JSON lines), appended to")
    r.add_argument("--index", action="append", default=[], metavar="TSV", help="list of tasks with their attributes")
    choose = r.add_argument_group("which of them")
    choose.add_argument("--property", action="append", help="only this property (may be repeated)")
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
    limit.add_argument("--jobs", "-j", type=int, default=os.cpu_count(), metavar="N", help="tasks at a time")
    tool = r.add_argument_group("the tool")
    tool.add_argument("--proviso", default=None, metavar="FILE", help="default: target/release/proviso")
    tool.add_argument("--tool-cmd", metavar="TEMPLATE", help="run another verifier")
    tool.add_argument("--tool-true", metavar="REGEX", default=r"^(TRUE|VERIFICATION SUCCESSFUL)$",
                      help="a line by which it says TRUE")
    tool.add_argument("--tool-false", metavar="REGEX", default=r"^(FALSE\b.*|VERIFICATION FAILED)$")
    tool.add_argument("--mix", action="store_true", help="append although the file is from another build or limits")
    r.add_argument("--no-report", action="store_true", help="only the last line of the report")

    q = commands.add_parser("report", help="sum up result files")
    q.add_argument("file", nargs="+")
    q.add_argument("--property", action="append")
    q.add_argument("--by", choices=("category", "folder"), default="category")

    c = commands.add_parser("compare", help="what changed between two runs")
    c.add_argument("old")
    c.add_argument("new")
    c.add_argument("--property", action="append")

    d = commands.add_parser("plot", help="several runs in a table and a quantile plot")
    d.add_argument("file", nargs="+", metavar="[NAME=]FILE", help="result files, with names for them")
    d.add_argument("--out", metavar="SVG", help="where to draw the quantile plot")
    d.add_argument("--by-category", dest="by", action="store_true", help="also what each solved of each category, and in what time")
    d.add_argument("--property", action="append")

    e = commands.add_parser("export", help="results in another format")
    e.add_argument("file")
    e.add_argument("--format", choices=sorted(export.FORMATS), required=True,
                   help="csv; junit: for continuous integration; benchexec: for table-generator")
    e.add_argument("--out", metavar="FILE", help="default: standard output")
    e.add_argument("--property", action="append")
    return p


def main(argv):
    passed_on = []
    if "--" in argv:
        at = argv.index("--")
        argv, passed_on = argv[:at], argv[at + 1 :]
    if argv and argv[0] not in ("run", "report", "compare", "plot", "export", "-h", "--help"):
        argv = ["run"] + argv
    try:
        options = parser().parse_args(argv)
        if passed_on and options.command != "run":
            raise tasks.TaskError("only `run` passes options on")
        return {"run": run, "report": show, "compare": compare, "plot": draw, "export": write}[options.command](options, passed_on)
    except SystemExit as error:
        return 64 if error.code == 2 else error.code
    except (tasks.TaskError, results.ResultsError, OSError) as error:
        print(f"bench: error: {error}", file=sys.stderr)
        return 64
    except KeyboardInterrupt:
        print("\nbench: interrupted; the same command goes on from here", file=sys.stderr)
        return 130


def selected(options):
    chosen = tasks.read_paths(options.tasks)
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
    if not chosen:
        raise tasks.TaskError("no tasks: see --help for how to name them")
    return chosen


def proviso_path(options):
    if options.proviso:
        return Path(options.proviso)
    target = os.environ.get("CARGO_TARGET_DIR") or "target"
    return ROOT / target / "release" / "proviso"


def command_of(task, options, passed_on):
    if options.tool_cmd:
        values = {
            "file": str(task.files[0]),
            "task": task.name,
            "property": task.property,
            "property_file": str(task.property_file),
            "data_model": task.data_model,
            "bits": "32" if task.data_model == "ILP32" else "64",
            "error_function": task.error_function or "reach_error",
            "timeout": f"{options.timeout:g}",
            "memory": str(options.memory),
        }
        words = []
        for word in shlex.split(options.tool_cmd):
            if word == "{files}":
                words += map(str, task.files)
                continue
            for name, value in values.items():
                word = word.replace("{" + name + "}", value)
            words.append(word)
        return words + passed_on
    command = [str(proviso_path(options)), "verify"]
    known = task.property_file and task.property_file.is_file()
    command += ["--property", str(task.property_file) if known else task.property]
    if task.error_function and task.property == "unreach-call":
        command += ["--error-function", task.error_function]
    command += ["--data-model", task.data_model]
    command += ["--timeout", f"{options.timeout:g}", "--memory-limit", str(options.memory)]
    command += passed_on + [str(f) for f in task.files]
    return command + (["--"] + task.cflags if task.cflags else [])


def header_of(options, passed_on):
    """What must be the same for results to be put into one file."""
    header = {
        "bench": 1,
        "timeout": options.timeout,
        "memory": options.memory,
        "cpu_limit": options.cpu_limit,
        "options": passed_on,
    }
    if options.tool_cmd:
        header["tool"] = options.tool_cmd
    else:
        path = proviso_path(options)
        if not path.is_file():
            raise tasks.TaskError(f"{path} is not there: scripts/setup builds it, or --proviso FILE")
        header["tool"] = "proviso"
        header["build"] = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    return header


def result_of(task, outcome, options):
    if options.tool_cmd:
        said, reason = verdict.of_tool(outcome, options.tool_true, options.tool_false, task.property)
    else:
        said, reason = verdict.of_proviso(outcome)
    result = {
        "task": task.name,
        "property": task.property,
        "category": task.category,
        "expected": task.expected,
        "subproperty": task.subproperty,
        "verdict": said,
        "status": verdict.judge(said, task, any_subproperty=bool(options.tool_cmd)),
        "reason": reason,
        "exit": outcome.exit if outcome.signal is None else -outcome.signal,
        "wall": round(outcome.wall, 3),
        "cpu": round(outcome.cpu, 3),
        "rss_mb": round(outcome.rss / 1e6, 1),
    }
    if result["status"] == "error":
        result["tail"] = (outcome.stdout[-1000:] + "\n" + outcome.stderr[-3000:]).strip()
    return result


class Progress:
    """One line that is rewritten on a terminal; now and then a line elsewhere."""

    def __init__(self, total):
        self.total, self.done, self.status = total, 0, Counter()
        self.start = self.last = time.monotonic()

    def add(self, result):
        self.done += 1
        self.status[result["status"]] += 1
        tty = sys.stderr.isatty()
        clear = "\r\033[K" if tty else ""
        if result["status"] in report.WRONG or report.is_crash(result):
            what = "WRONG " + result["verdict"] if result["verdict"] else result["reason"]
            print(f"{clear}{result['task']} {result['property']}: {what}", file=sys.stderr)
        now = time.monotonic()
        if not tty and now - self.last < 60 and self.done < self.total:
            return
        self.last = now
        left = (now - self.start) / self.done * (self.total - self.done)
        s = self.status
        line = (
            f"[{self.done}/{self.total}] true {s['correct-true']}, false {s['correct-false']}, "
            f"wrong {s['wrong-true'] + s['wrong-false']}, unknown {s['unknown']}, "
            f"none {s['error']}; {left / 60:.0f} min left"
        )
        end = "" if tty and self.done < self.total else "\n"
        print(clear + line, end=end, file=sys.stderr, flush=True)


def run(options, passed_on):
    chosen = selected(options)
    header = header_of(options, passed_on)
    finished = {}
    if Path(options.out).exists() and Path(options.out).stat().st_size:
        old, finished = results.load(options.out)
        different = [k for k in header if header[k] != old.get(k)]
        if different and not options.mix:
            raise results.ResultsError(
                f"{options.out} was made with another {', '.join(different)}: "
                "name another file, or add to it with --mix"
            )
    finished = {k: r for k, r in finished.items() if r["status"] not in options.retry}
    todo = [t for t in chosen if t.key not in finished]
    if len(todo) < len(chosen):
        print(f"{len(chosen) - len(todo)} of {len(chosen)} tasks are done already", file=sys.stderr)
    # A tenth more than the tool is told, which should be the one to stop.
    limits = runner.Limits(options.timeout + options.grace, options.cpu_limit, (options.memory << 20) * 11 // 10)
    # Ended otherwise, it would leave the tools running, which are in groups of their own.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    writer = results.Writer(options.out, header)
    progress = Progress(len(todo))

    def run_one(task, stop):
        return result_of(task, runner.run(command_of(task, options, passed_on), limits, stop), options)

    def done(task, result):
        writer.write(result)
        progress.add(result)

    try:
        runner.run_all(todo, run_one, max(1, options.jobs), done)
    finally:
        writer.close()
    _, everything = results.load(options.out)
    mine = [everything[t.key] for t in chosen]
    text = report.summary(mine)
    print(text.rpartition("\n\n")[2] if options.no_report else text)
    return exit_code(mine)


def exit_code(mine):
    if any(r["status"] in report.WRONG for r in mine):
        return 1
    return 2 if any(map(report.is_crash, mine)) else 0


def load_filtered(path, options):
    _, loaded = results.load(path)
    return {k: r for k, r in loaded.items() if not options.property or k[1] in options.property}


def show(options, _):
    mine = {}
    for path in options.file:
        mine.update(load_filtered(path, options))
    mine = list(mine.values())
    if options.by == "folder":
        for r in mine:
            r["category"] = str(Path(r["task"]).parent)
    print(report.summary(mine))
    return exit_code(mine)


def compare(options, _):
    text, newly_wrong = report.comparison(load_filtered(options.old, options), load_filtered(options.new, options))
    print(text)
    return 1 if newly_wrong else 0


def draw(options, _):
    runs = []
    for word in options.file:
        name, equals, path = word.partition("=")
        path = path if equals else word
        runs.append((name if equals else Path(path).stem, load_filtered(path, options)))
    print(quantiles.side_by_side(runs))
    print("\n" + quantiles.capabilities(runs))
    if options.by:
        print("\n" + quantiles.by_category(runs))
    if options.out:
        Path(options.out).write_text(quantiles.plot(runs), encoding="utf-8")
    return 0


def write(options, _):
    header, _ = results.load(options.file)
    mine = list(load_filtered(options.file, options).values())
    text = export.FORMATS[options.format](header, mine)
    if options.out:
        Path(options.out).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    return 0
