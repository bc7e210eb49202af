"""Tests of scripts/batch with a made-up verifier, which misbehaves on demand. `python3 -m unittest discover tests/batch`."""

import collections
import contextlib
import dataclasses
import html
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import unittest.mock
import xml.etree.ElementTree as ET
from pathlib import Path

sys.dont_write_bytecode = True
SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "batch"
sys.path.insert(0, str(SCRIPT.parent))

from batchtool import cgroups, cli, cluster, command, project, ranges, remote, report, results, runner, tasks, verdict  # noqa: E402

# A shell starts a background process, and so its children, with interrupts ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Obeys the first line of the program: prints it as the verdict, or misbehaves.
FAKE_VERIFIER = """\
#!/bin/bash
case " $* " in *" misspelt "*) echo "error: there is no misspelt" >&2; exit 64 ;; esac
for last; do :; done
read -r _ order <"$last"
if [ "$1" = split ]; then
    case $order in RANGES*) echo one >"$5/bound-1.xml"; echo two >"$5/bound-2.xml"; exit 0 ;; esac
    exit 2
fi
case $order in
RANGES*)
    # The order contains a word for each range.
    [[ " $* " =~ --range\ ([^ ,]*),([^ ]*) ]] || exit 9
    case ${BASH_REMATCH[1]} in -) n=1 ;; *) case $(<"${BASH_REMATCH[1]}") in one) n=2 ;; two) n=3 ;; esac ;; esac
    [[ " $* " =~ --analysis\ ([^ ]*) ]] && analysis=-${BASH_REMATCH[1]}
    echo "$n$analysis" >>"$last.ranges"
    set -- $order
    shift "$n"
    case $1 in
    proved) echo "UNKNOWN(proved within the range: no more)"; exit 3 ;;
    slow) sleep 0.5; echo "UNKNOWN(proved within the range: no more)"; exit 3 ;;
    unknown) echo "UNKNOWN(range $n)"; exit 2 ;;
    false) echo "FALSE(unreach-call)"; exit 1 ;;
    crash) exit 101 ;;
    hang) echo $$ >"$last.pid"; sleep 100 ;;
    esac ;;
esac
case $order in
TRUE) echo "noise"; echo TRUE; exit 0 ;;
VACUOUS) echo "warning: nothing was checked: no call of f can be reached from main" >&2; echo TRUE; exit 0 ;;
FALSE*) echo "$order"; exit 1 ;;
UNKNOWN*) echo "$order"; exit 2 ;;
CRASH) echo "thread main panicked at x.rs" >&2; exit 101 ;;
SEGV) kill -SEGV $$ ;;
MUTE) exit 0 ;;
LIAR) echo TRUE; exit 1 ;;
HANG) trap '' TERM; sleep 100 & echo $! >"$last.pid"; wait; sleep 100 ;;
HOG) exec python3 -c 'x = bytearray(300_000_000); import time; time.sleep(100)' ;;
KILLED-ONCE) [ -e "$last.met" ] && { echo TRUE; exit 0; }; touch "$last.met"; kill -KILL $$ ;;
KILLED) kill -TERM $$ ;;
BUSY) while :; do :; done ;;
SLOW) echo $$ >>"$last.runs"; sleep 0.3; echo TRUE; exit 0 ;;
ARGS) echo "UNKNOWN($*)"; exit 2 ;;
HEADER) printf '%s\n' "error: clang cannot compile $last" "$last:1:10: fatal error: 'part.h' file not found" >&2; exit 65 ;;
ENTRY) echo "error: the program defines no function 'main'" >&2; exit 64 ;;
esac
"""


class Fixture(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)
        self.verifier = self.dir / "verifier"
        self.verifier.write_text(FAKE_VERIFIER)
        self.verifier.chmod(0o755)
        (self.dir / "unreach-call.prp").write_text("CHECK( init(main()), LTL(G ! call(reach_error())) )\n")
        (self.dir / "valid-memsafety.prp").write_text("CHECK( init(main()), LTL(G valid-free) )\n")

    def task(self, name, order, expected, property="unreach-call", subproperty=None, model="ILP32"):
        path = self.dir / "tasks" / f"{name}.yml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".c").write_text(f"// {order}\nint main(void) {{}}\n")
        prp = os.path.relpath(self.dir / f"{property}.prp", path.parent)
        text = f"""\
            format_version: '2.0'
            # a comment: with a colon
            input_files: '{path.stem}.c'   # and another

            properties:
              - property_file: {prp}
                expected_verdict: {expected}
            """
        text = textwrap.dedent(text)
        if subproperty:
            text += f"    subproperty: {subproperty}\n"
        text += f'options:\n  language: "C"\n  data_model: {model}\n'
        path.write_text(text)
        return path

    def batch(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cli.main(list(map(str, arguments)))
        return code, out.getvalue(), err.getvalue()

    def run_batch(self, *arguments):
        return self.batch(
            "run", self.dir / "tasks", "--out", self.dir / "out.jsonl",
            "--proviso", self.verifier, "-j", 2, *arguments,
        )

    def statuses(self):
        _, loaded = results.load(self.dir / "out.jsonl")
        return {Path(name).stem: r["status"] for (name, _), r in loaded.items()}

    def result(self, stem):
        _, loaded = results.load(self.dir / "out.jsonl")
        return next(r for (name, _), r in loaded.items() if Path(name).stem == stem)

    def write(self, name, entries):
        path = self.dir / name
        lines = [{"bench": 1}]
        for task, (said, status, wall) in entries.items():
            lines.append({
                "task": task, "property": "unreach-call", "category": "c", "expected": "true",
                "subproperty": "", "verdict": said, "status": status, "reason": "r", "exit": 0,
                "wall": wall, "cpu": wall, "rss_mb": 1,
            })
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path


class Running(Fixture):
    def test_verdicts_are_judged(self):
        self.task("a/t1", "TRUE", "true")
        self.task("a/t2", "TRUE", "false")
        self.task("a/f1", "FALSE(unreach-call)", "false")
        self.task("a/f2", "FALSE(unreach-call)", "true")
        self.task("b/u", "UNKNOWN(loop bound 17 reached)", "true")
        self.task("b/m1", "FALSE(valid-deref)", "false", "valid-memsafety", "valid-deref")
        self.task("b/m2", "FALSE(valid-free)", "false", "valid-memsafety", "valid-deref")
        code, out, _ = self.run_batch()
        self.assertEqual(code, 1)
        self.assertEqual(
            self.statuses(),
            {
                "t1": "correct-true", "t2": "wrong-true", "f1": "correct-false", "f2": "wrong-false",
                "u": "unknown", "m1": "correct-false", "m2": "wrong-false",
            },
        )
        self.assertIn("loop bound N reached", out)
        self.assertIn("WRONG: 3", out)
        self.assertIn("a/t2.yml unreach-call: TRUE, expected false", out)
        self.assertIn("solved 3 of 7 (1 TRUE, 2 FALSE), wrong 3, unknown 1", out)
        self.assertIn(f"score {2 + 1 + 1 - 32 - 16 - 16} of {2 + 1 + 1 + 2 + 2 + 1 + 1}", out)

    def test_crashes_are_found(self):
        for name in ("CRASH", "SEGV", "MUTE", "LIAR"):
            self.task(f"c/{name}", name, "true")
        self.task("c/fine", "TRUE", "true")
        code, out, _ = self.run_batch()
        self.assertEqual(code, 2)
        reasons = {name: self.result(name)["reason"] for name in ("CRASH", "SEGV", "MUTE", "LIAR")}
        self.assertEqual(
            reasons,
            {
                "CRASH": "crash: exit 101", "SEGV": "crash: signal 11",
                "MUTE": "no verdict: exit 0", "LIAR": "crash: TRUE but exit 1",
            },
        )
        self.assertIn("crashes: 4", out)
        self.assertIn("panicked at x.rs", out)

    def test_crashes_with_one_cause_are_one_entry(self):
        for name in ("a", "b", "c"):
            self.task(name, "CRASH", "true")
        _, out, _ = self.run_batch()
        self.assertIn("a.yml unreach-call, and 2 more: crash: exit 101\n      thread main panicked", out)
        self.assertEqual(out.count("panicked"), 1)

    def test_programs_with_one_name_in_two_folders_are_two_tasks(self):
        for folder, order in (("one", "TRUE"), ("two", "FALSE(address)")):
            (self.dir / folder).mkdir()
            (self.dir / folder / "same.c").write_text(f"// {order}\n")
        common = ["--out", self.dir / "out.jsonl", "--proviso", self.verifier]
        _, out, _ = self.batch("run", self.dir / "one", self.dir / "two", *common)
        self.assertIn("violated 1, proved 1 of 2", out)
        with contextlib.chdir(self.dir / "two"):
            code, _, err = self.batch("run", self.dir / "one", "same.c", *common)
        self.assertEqual(code, 64)
        self.assertIn("two programs are named same.c: ", err)

    def test_files_that_cannot_be_read_are_named(self):
        code, _, err = self.batch("report", self.dir / "none.jsonl")
        self.assertEqual((code, err), (64, f"batch: error: {self.dir}/none.jsonl: No such file or directory\n"))

    def test_options_that_select_nothing_are_named(self):
        self.task("a", "TRUE", "true")
        code, _, err = self.run_batch("--match", "b*")
        self.assertEqual((code, err), (64, "batch: error: no tasks: the options select none of 1\n"))

    def test_runs_that_are_killed_have_a_remedy(self):
        self.task("a", "BUSY", "true")
        _, out, _ = self.run_batch("--cpu-limit", "0.3")
        self.assertIn("help: --cpu-limit kills a run; with -- --cpu-limit SECONDS, proviso itself ends it", out)

    def test_proofs_of_nothing_are_listed(self):
        for name, order in (("vacuous", "VACUOUS"), ("proved", "TRUE")):
            self.task(name, order, "true")
        _, out, _ = self.run_batch()
        self.assertIn("TRUE because nothing was checked: 1\n  vacuous.yml unreach-call: no call of f can be reached from main\n", out)
        self.assertNotIn("nothing_checked", self.result("proved"))

    def test_mistakes_of_the_command_line_are_refused_at_once(self):
        program = self.dir / "a.c"
        program.write_text("int main(void) { return 0; }\n")
        common = ["run", program, "--out", self.dir / "out.jsonl", "--proviso", self.verifier]
        ranges = (["--ranges", "misspelt"], ["--ranges", "lb3: symex | misspelt"])
        for words in (["--property", "misspelt"], ["--property", "unreach-call", "--", "misspelt"], *ranges):
            code, out, err = self.batch(*common, *words)
            self.assertEqual((code, out, err), (64, "", "batch: error: there is no misspelt\n"))
            self.assertFalse((self.dir / "out.jsonl").exists())
        self.verifier.write_text("#!/bin/sh\necho 'a library is missing' >&2; exit 127\n")
        code, _, err = self.batch(*common)
        self.assertEqual((code, err), (64, "batch: error: a library is missing\n"))

    def test_programs_that_do_not_compile_are_no_crashes(self):
        for name in ("one", "two"):
            (self.dir / f"{name}.c").write_text("// HEADER\n")
        (self.dir / "three.c").write_text("// ENTRY\n")
        programs = [self.dir / f"{name}.c" for name in ("one", "two", "three")]
        code, out, err = self.batch("run", *programs, "--out", self.dir / "out.jsonl", "--proviso", self.verifier)
        self.assertEqual(code, 2)
        self.assertIn("no verdict 3 (2 did not compile, 0 crashed)", out)
        self.assertNotIn("crashes:", out)
        self.assertIn("one.c:1:10: fatal error: 'part.h' file not found", out)
        self.assertIn("-- -I FOLDER", out)
        self.assertEqual(self.result("three")["reason"], "no function to start with: the program defines no function 'main'")
        self.assertIn("did not compile 2", err)
        self.assertIn("--entries all", out)

    def test_verdicts_without_a_label_are_counted_as_what_they_are(self):
        for name, order in (("one", "TRUE"), ("two", "FALSE(address)"), ("three", "FALSE(null)"), ("four", "UNKNOWN(x)")):
            (self.dir / f"{name}.c").write_text(f"// {order}\n")
        programs = sorted(self.dir.glob("*.c"))
        code, out, err = self.batch("run", *programs, "--out", self.dir / "out.jsonl", "--proviso", self.verifier)
        self.assertEqual(code, 1)
        self.assertIn("[4/4] violated 2, proved 1, unknown 1;", err)
        self.assertIn("violated 2, proved 1 of 4, unknown 1, no verdict 0", out)
        self.assertNotIn("wrong", out)
        self.assertIn("two.c default: FALSE(address)", err)

    def test_time_and_memory_are_limited_by_looking(self):
        self.time_and_memory_are_limited("polling")

    def test_a_worker_without_control_groups_limits_by_looking(self):
        with unittest.mock.patch.object(cgroups, "parents", lambda: None):
            outcome = runner.run(["sleep", "20"], runner.Limits(0.3, None, 1 << 30, cgroups=True))
        self.assertEqual(outcome.killed, "timeout")

    @unittest.skipUnless(cgroups.parents(), "there are no control groups to use")
    def test_time_and_memory_are_limited_by_control_groups(self):
        def groups():
            return {p for folder in cgroups.parents()[1:] for p in folder.glob(f"task-{os.getpid()}-*")}

        # Groups that a killed batch with the same process number left behind are not removed and do no harm.
        left = groups()
        self.time_and_memory_are_limited("cgroups")
        self.assertEqual(groups(), left)

    @unittest.skipUnless(cgroups.parents(), "there are no control groups to use")
    def test_groups_that_others_left_are_not_in_the_way(self):
        # Two processes with the same number, as in two containers. The first is killed and leaves its groups behind.
        make = "import os; os.getpid = lambda: 1; from batchtool import cgroups; group = cgroups.Group(1 << 30); print(group.memory, group.cpu)"
        for _ in range(2):
            made = subprocess.run(
                [sys.executable, "-c", make], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(SCRIPT.parent)},
            )
            for folder in set(made.stdout.split()):
                self.addCleanup(os.rmdir, folder)
            self.assertEqual(made.stderr, "")

    def time_and_memory_are_limited(self, how):
        hang = self.task("l/hang", "HANG", "true")
        self.task("l/hog", "HOG", "true")
        start = time.monotonic()
        code, _, _ = self.run_batch("--timeout", 1, "--grace", 0.5, "--memory", 200, "--limit-by", how)
        self.assertLess(time.monotonic() - start, 20)
        self.assertEqual(code, 0)
        self.assertEqual(self.result("hang")["reason"], "timeout")
        self.assertEqual(self.result("hog")["reason"], "out of memory")
        # The processes that it had started have ended too.
        pid = int(hang.with_suffix(".c.pid").read_text())
        for _ in range(100):
            if not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text().split()[2]:
                break
            time.sleep(0.05)
        else:
            self.fail(f"process {pid} is still there")

    def test_a_rerun_does_only_what_is_missing(self):
        self.task("r/one", "TRUE", "true")
        self.run_batch()
        self.task("r/two", "TRUE", "true")
        _, out, err = self.run_batch()
        self.assertIn("1 of 2 tasks are done already", err)
        self.assertIn("[1/1]", err)
        self.assertIn("solved 2 of 2", out)

    def test_a_cut_off_line_is_run_again(self):
        self.task("r/one", "TRUE", "true")
        self.task("r/two", "TRUE", "true")
        self.run_batch("-j", 1)
        path = self.dir / "out.jsonl"
        path.write_bytes(path.read_bytes()[:-10])
        _, out, err = self.run_batch()
        self.assertIn("1 of 2 tasks are done already", err)
        self.assertIn("solved 2 of 2", out)
        self.assertEqual(self.statuses(), {"one": "correct-true", "two": "correct-true"})

    def test_a_changed_program_is_run_again(self):
        self.task("r/one", "TRUE", "true")
        self.task("r/two", "TRUE", "true")
        self.run_batch()
        self.task("r/one", "FALSE(unreach-call)", "true")
        _, out, err = self.run_batch()
        self.assertIn("1 of 2 tasks are run again: their files have changed", err)
        self.assertIn("1 of 2 tasks are done already", err)
        self.assertEqual(self.statuses(), {"one": "wrong-false", "two": "correct-true"})

    def test_retry_by_status(self):
        self.task("r/one", "UNKNOWN(early)", "true")
        self.task("r/two", "TRUE", "true")
        self.run_batch()
        self.task("r/one", "TRUE", "true")
        _, out, err = self.run_batch("--retry", "unknown")
        self.assertIn("1 of 2 tasks are done already", err)
        self.assertIn("solved 2 of 2", out)

    def test_other_limits_or_builds_are_not_mixed(self):
        self.task("r/one", "TRUE", "true")
        self.run_batch("--timeout", 5)
        code, _, err = self.run_batch("--timeout", 6)
        self.assertEqual(code, 64)
        self.assertIn("other settings (timeout)", err)
        self.verifier.write_text(FAKE_VERIFIER + "# changed\n")
        code, _, err = self.run_batch("--timeout", 5)
        self.assertEqual(code, 64)
        self.assertIn("other settings (build)", err)
        self.assertEqual(self.run_batch("--timeout", 5, "--mix")[0], 0)

    def test_the_command_line_of_the_verifier(self):
        self.task("x/args", "ARGS", "true", model="LP64")
        index = self.dir / "list.tsv"
        index.write_text(
            "path\tproperty\tcategory\texpected\tdata_model\terror_fn\textra_cflags\n"
            "tasks/x/args.yml\tunreach-call\tkind\tfalse\tLP64\tassert\t-DA -DB\n"
        )
        out = self.dir / "i.jsonl"
        self.batch("run", "--index", index, "--out", out, "--proviso", self.verifier,
                   "--timeout", 7, "--memory", 900, "--", "--seed", "3")
        ((_, result),) = results.load(out)[1].items()
        # The fake verifier takes the last argument as the program. Here it is -DB, so the command line is built and checked directly.
        self.assertEqual((result["category"], result["expected"]), ("kind", "false"))
        options = cli.parser().parse_args(
            ["run", "--index", str(index), "--out", "x", "--proviso", str(self.verifier), "--timeout", "7", "--memory", "900"]
        )
        (task,) = cli.selected(options)
        folder = self.dir / "tasks" / "x"
        self.assertEqual(
            cli.tool_of(options, ["--seed", "3"]).command(ranges.Step(task)),
            [str(self.verifier), "verify", "--property", str(folder / "../../unreach-call.prp"),
             "--error-function", "__assert_fail", "--data-model", "LP64", "--timeout", "7",
             "--memory-limit", "900", "--seed", "3", str(folder / "args.c"), "--", "-DA", "-DB"],
        )

    def test_another_tool(self):
        self.task("p/yes", "TRUE", "true")
        self.task("p/no", "FALSE(unreach-call)", "false")
        code, out, _ = self.run_batch("--tool-cmd", f"{self.verifier} --{{bits}} {{file}}")
        self.assertEqual(code, 0)
        self.assertIn("solved 2 of 2 (1 TRUE, 1 FALSE)", out)

    def test_choice_of_tasks(self):
        for name, expected in (("a/one", "true"), ("a/two", "false"), ("b/three", "true")):
            self.task(name, "UNKNOWN(x)", expected)
        self.assertIn("of 2 ", self.run_batch("--category", "a")[1])
        self.assertIn("of 1 ", self.run_batch("--category", "a", "--expected", "true")[1])
        self.assertIn("of 1 ", self.run_batch("--match", "*three*")[1])
        self.assertIn("of 2 ", self.run_batch("--sample", 2)[1])
        self.assertEqual(self.run_batch("--property", "termination")[0], 64)


class Robustness(Fixture):
    def test_what_somebody_else_kills_is_run_again(self):
        self.task("k/once", "KILLED-ONCE", "true")
        self.task("k/always", "KILLED", "true")
        self.run_batch()
        self.assertEqual(self.result("once")["attempts"], 2)
        self.assertEqual(self.statuses(), {"once": "correct-true", "always": "error"})
        self.assertEqual(self.result("always")["reason"], "killed from outside 3 times")

    def batch_process(self):
        command = [sys.executable, SCRIPT, "run", self.dir / "tasks", "--out", self.dir / "out.jsonl", "--proviso", self.verifier, "-j2"]
        with (self.dir / "errors").open("a") as errors:
            return subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=errors)

    def test_batches_share_one_result_file(self):
        names = [f"s{n}" for n in range(12)]
        for name in names:
            self.task(f"s/{name}", "SLOW", "true")
        batches = [self.batch_process() for _ in range(3)]
        self.assertEqual([b.wait(120) for b in batches], [0, 0, 0], (self.dir / "errors").read_text())
        lines = [json.loads(line) for line in (self.dir / "out.jsonl").read_text().splitlines()]
        self.assertEqual(sorted(Path(line["task"]).stem for line in lines if "task" in line), sorted(names))
        for name in names:
            self.assertEqual(len((self.dir / f"tasks/s/{name}.c.runs").read_text().split()), 1)

    def test_nothing_outlives_a_batch_that_is_killed(self):
        hang = self.task("l/hang", "HANG", "true")
        batch, file = self.batch_process(), hang.with_suffix(".c.pid")
        wait_until(lambda: file.exists() and file.read_text())
        batch.kill()
        batch.wait(60)
        pid = int(file.read_text())
        wait_until(lambda: not alive(pid))

    def test_an_interrupt_ends_what_runs_and_is_no_result(self):
        hang, quick = self.task("i/hang", "HANG", "true"), self.task("i/aquick", "TRUE", "true")
        batch, file = self.batch_process(), hang.with_suffix(".c.pid")
        wait_until(lambda: file.exists() and file.read_text() and quick.stem in (self.dir / "out.jsonl").read_text())
        batch.send_signal(signal.SIGINT)
        self.assertNotEqual(batch.wait(60), 0)
        pid = int(file.read_text())
        wait_until(lambda: not alive(pid))
        lines = [json.loads(line) for line in (self.dir / "out.jsonl").read_text().splitlines()]
        self.assertEqual([Path(line["task"]).stem for line in lines if "task" in line], ["aquick"])

    def test_many_append_at_once(self):
        path = self.dir / "many.jsonl"
        code = (
            "import sys; from batchtool.results import Ledger; l = Ledger.append(sys.argv[1], {'batch': 1})\n"
            "for n in range(200): l.add({'task': f'{sys.argv[2]}-{n}', 'property': 'p', 'text': 'x' * 5000})"
        )
        command = [sys.executable, "-c", code, str(path)]
        writers = [subprocess.Popen([*command, str(n)], cwd=SCRIPT.parent) for n in range(4)]
        self.assertEqual([w.wait(120) for w in writers], [0] * 4)
        header, found = results.load(path)
        self.assertEqual((header, len(found)), ({"batch": 1}, 800))
        self.assertEqual(len(path.read_text().splitlines()), 801)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition):
    for _ in range(400):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it does not come about")


class Ranges(Fixture):
    def ran(self, stem):
        return sorted((self.dir / f"tasks/r/{stem}.c.ranges").read_text().split())

    def test_what_is_joined(self):
        for stem, order, expected in (
            ("proved", "proved proved proved", "true"), ("false", "proved unknown false", "false"), ("unknown", "proved unknown proved", "true"),
            ("crash", "proved crash unknown", "true"), ("both", "crash false proved", "false"),
        ):
            self.task(f"r/{stem}", f"RANGES {order}", expected)
        self.task("r/whole", "TRUE", "true")
        code, out, _ = self.run_batch("--ranges", "lb3,lb10")
        self.assertEqual(code, 2)
        self.assertEqual(self.statuses(), {
            "proved": "correct-true", "false": "correct-false", "unknown": "unknown", "crash": "error", "both": "correct-false", "whole": "correct-true",
        })
        self.assertEqual(self.result("proved")["verdict"], "TRUE")
        self.assertEqual([r["range"] for r in self.result("proved")["ranges"]], ["range 1 of 3", "range 2 of 3", "range 3 of 3"])
        self.assertEqual(self.result("unknown")["reason"], "range 2")
        self.assertEqual(self.result("crash")["reason"], "crash: exit 101")
        self.assertEqual(self.result("whole")["ranges"], [])
        self.assertIn("solved 4 of 6 (2 TRUE, 2 FALSE), wrong 0, unknown 1, no verdict 1 (1 crashed)", out)

    def test_a_violation_ends_the_other_ranges(self):
        path = self.task("r/one", "RANGES hang hang false", "false")
        start = time.monotonic()
        self.assertEqual(self.run_batch("--ranges", "lb3,lb10", "-j", 3)[0], 0)
        self.assertLess(time.monotonic() - start, 50)
        self.assertEqual(self.statuses(), {"one": "correct-false"})
        self.assertFalse(alive(int(path.with_suffix(".c.pid").read_text())))

    def test_an_analysis_for_each_range(self):
        self.task("r/one", "RANGES proved proved proved", "true")
        self.assertEqual(self.run_batch("--ranges", "lb3,lb10: symex | predicate | value")[0], 0)
        self.assertEqual(self.ran("one"), ["1-symex", "2-predicate", "3-value"])
        for wrong in (["--ranges", "lb3: symex"], ["--ranges", "lb3: symex |"], ["--ranges", ","], ["--ranges", "lb3", "--cache", "c"]):
            self.assertEqual(self.run_batch(*wrong)[0], 64)

    def test_ranges_that_are_done_are_not_run_again(self):
        self.task("r/one", "RANGES slow slow slow", "true")
        command = [sys.executable, SCRIPT, "run", self.dir / "tasks", "--out", self.dir / "out.jsonl", "--proviso", self.verifier, "-j1", "--ranges", "lb3,lb10"]
        batch, out = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL), self.dir / "out.jsonl"
        wait_until(lambda: out.exists() and "range 1 of 3" in out.read_text())
        batch.kill()
        batch.wait(60)
        # A line of another build is not used for the ranges of this build.
        with open(out, "a") as file:
            file.write('{"step": "range 3 of 3", "under": "another", "task": "r/one.yml", "property": "unreach-call", "verdict": "UNKNOWN(x)", "exit": 3}\n')
        self.assertEqual(self.run_batch("--ranges", "lb3,lb10")[0], 0)
        self.assertEqual(self.statuses(), {"one": "correct-true"})
        self.assertEqual(self.ran("one").count("1"), 1)
        self.assertIn("3", self.ran("one"))
        self.assertEqual(self.run_batch("--ranges", "lb3")[0], 64)


class Inputs(Fixture):
    def test_categories_programs_and_lists(self):
        self.task("a/one", "TRUE", "true")
        self.task("a/two", "FALSE(unreach-call)", "false")
        (self.dir / "tasks/C.Loops.set").write_text("# a comment\na/*.yml\n")
        self.batch("run", self.dir / "tasks/C.Loops.set", "--out", self.dir / "out.jsonl", "--proviso", self.verifier)
        self.assertEqual(self.result("one")["category"], "Loops")
        (self.dir / "list.tsv").write_text("path\tproperty\texpected\ntasks/a/one.c\tno-overflow\tfalse\n")
        out = self.dir / "programs.jsonl"
        code, text, _ = self.batch(
            "run", self.dir / "list.tsv", self.dir / "tasks/a/two.c", "--property", "no-overflow", "--out", out, "--proviso", self.verifier
        )
        found = {Path(name).name: r["status"] for (name, _), r in results.load(out)[1].items()}
        # two.c has no expected verdict.
        self.assertEqual(found, {"one.c": "wrong-true", "two.c": "unjudged"})
        self.assertEqual(code, 1)
        self.assertIn("violations: 1", text)

    def test_categories_ask_what_their_names_say(self):
        task = self.task("a/one", "TRUE", "true")
        task.write_text(task.read_text().replace("options:", "  - property_file: ../../no-overflow.prp\n    expected_verdict: true\noptions:"))
        for name, expected in (
            ("ReachSafety-Loops", ["unreach-call"]), ("C.NoOverflows-Main", ["no-overflow"]), ("SoftwareSystems-uthash-ReachSafety", ["unreach-call"]),
            ("Mine", ["unreach-call", "no-overflow"]),
        ):
            file = self.dir / f"{name}.set"
            file.write_text("tasks/**/*.yml\n")
            self.assertEqual([t.property for t in tasks.read_paths([file], None, None)], expected, name)
        file.write_text("tasks/**/*.yml\nnosuch/*.yml\n")
        code, _, err = self.batch("run", file, "--out", self.dir / "out.jsonl", "--proviso", self.verifier)
        self.assertEqual(code, 0)
        self.assertIn("Mine.set:2: no file matches nosuch/*.yml", err)

    def test_run_definitions(self):
        self.task("a/one", "TRUE", "true")
        self.task("a/two", "UNKNOWN(x)", "true")
        (self.dir / "runs.toml").write_text(
            f"tasks = ['tasks']\nproviso = '{self.verifier}'\ntimeout = 7\nproperty = ['unreach-call']\n"
            "[[run]]\nname = 'all'\n[[run]]\nname = 'some'\ntimeout = 3\nmatch = '*one*'\noptions = ['--seed', 7]\n"
        )
        code, out, _ = self.batch("run", self.dir / "runs.toml")
        self.assertEqual(code, 0)
        self.assertIn("solved 1 of 2", out)
        self.assertIn("solved 1 of 1", out)
        header, found = results.load(self.dir / "runs.results/some.jsonl")
        self.assertEqual((header["timeout"], header["options"], len(found)), (3.0, ["--seed", "7"], 1))
        # Options of the command line override those of the file.
        _, out, err = self.batch("run", self.dir / "runs.toml", "--proviso", self.dir / "none")
        self.assertIn(f"{self.dir}/none does not exist", out + err)
        for text, message in (("tasks = 3 4", "runs.toml: "), ("[[run]]\nnome = 'x'\n", "needs a name"), ("nosuch = 1\n", "")):
            (self.dir / "runs.toml").write_text(text)
            code, _, err = self.batch("run", self.dir / "runs.toml")
            self.assertEqual(code, 64)
            self.assertIn(message, err)

    def test_changed_lines(self):
        git = ["git", "-C", self.dir, "-c", "user.name=x", "-c", "user.email=x@example.org"]
        (self.dir / "a.c").write_text("".join(f"int f{n}(void) {{ return {n}; }}\n" for n in range(9)))
        for words in (["init", "-q"], ["add", "a.c"], ["commit", "-qm", "x"]):
            subprocess.run([*git, *words], check=True, timeout=60)
        text = (self.dir / "a.c").read_text().replace("return 3", "return 4").replace("int f6(void) { return 6; }\n", "")
        (self.dir / "a.c").write_text(text)
        here = os.getcwd()
        os.chdir(self.dir)
        try:
            found = project.changed_lines("HEAD")
        finally:
            os.chdir(here)
        self.assertEqual(found, {os.path.realpath(self.dir / "a.c"): [(4, 4), (6, 6)]})


class Comparing(Fixture):
    def test_differences(self):
        old = self.write("old", {
            "same": ("TRUE", "correct-true", 1.0),
            "slow": ("TRUE", "correct-true", 2.0),
            "lost": ("TRUE", "correct-true", 1.0),
            "gained": ("UNKNOWN(x)", "unknown", 1.0),
            "bad": ("UNKNOWN(x)", "unknown", 1.0),
            "gone": ("TRUE", "correct-true", 1.0),
        })
        new = self.write("new", {
            "same": ("TRUE", "correct-true", 1.0),
            "slow": ("TRUE", "correct-true", 8.0),
            "lost": ("", "error", 1.0),
            "gained": ("TRUE", "correct-true", 1.0),
            "bad": ("FALSE(unreach-call)", "wrong-false", 1.0),
        })
        code, out, _ = self.batch("compare", old, new)
        self.assertEqual(code, 1)
        for text in (
            "newly wrong: 1\n  bad unreach-call: UNKNOWN(x) -> FALSE(unreach-call)",
            "lost: 1\n  lost unreach-call: TRUE -> none (r)",
            "gained: 1\n  gained unreach-call: UNKNOWN(x) -> TRUE",
            "no longer wrong: 0",
            "wall 2.00",
            "slow unreach-call: 2.0 -> 8.0 s",
            "only in the old run: 1",
        ):
            self.assertIn(text, out)
        self.assertEqual(self.batch("compare", old, old)[0], 0)

    def test_different_settings(self):
        files = {name: self.write(name, {"a": ("TRUE", "correct-true", 1.0)}) for name in ("old", "new")}
        self.assertNotIn("different settings", self.batch("compare", files["old"], files["new"])[1])
        header, *lines = files["new"].read_text().splitlines()
        header = json.dumps(json.loads(header) | {"timeout": 7, "options": ["--seed", "3"]})
        files["new"].write_text("\n".join([header, *lines, ""]))
        out = self.batch("compare", files["old"], files["new"])[1]
        for text in ("different settings", "options: none -> --seed 3"):
            self.assertIn(text, out)
        self.assertRegex(out, r"timeout: \S+ -> 7")

    def test_what_counts_as_a_failure(self):
        old = self.write("old", {"a": ("TRUE", "unjudged", 1.0), "b": ("TRUE", "unjudged", 1.0), "c": ("TRUE", "unjudged", 1.0)})
        new = self.write("new", {
            "a": ("FALSE(unreach-call)", "unjudged", 1.0), "b": ("UNKNOWN(x)", "unknown", 1.0), "c": ("TRUE", "unjudged", 9.0),
        })
        code, out, _ = self.batch("compare", old, new)
        self.assertEqual(code, 1)
        self.assertLess(out.index("newly violated: 1"), out.index("lost: 1"))
        self.assertLess(out.index("lost: 1"), out.index("gained: 0"))
        for kinds, expected in (("wrong", 0), ("lost", 1), ("slower", 1), ("crash,wrong", 0), ("nonsense", 64)):
            self.assertEqual(self.batch("compare", old, new, "--fail-on", kinds)[0], expected)

    def test_what_other_tools_read(self):
        file = self.write("a", {
            "z": ("TRUE", "correct-true", 1.0), "c": ("FALSE(unreach-call)", "wrong-false", 1.0), "d": ("UNKNOWN(x)", "unknown", 1.0),
        })
        where = {"physicalLocation": {"artifactLocation": {"uri": "src/e.c"}, "region": {"startLine": 7}}}
        finding = {"message": {"text": "the sum"}, "locations": [where]}
        line = json.loads(file.read_text().splitlines()[-1])
        with open(file, "a") as out:
            for task, said, status, reason, findings in (
                ("e", "FALSE(no-overflow)", "unjudged", "", [finding]), ("f", "", "error", "out of memory", []),
                ("b", "UNKNOWN(timeout of 9 s)", "unknown", "timeout of 9 s", []),
            ):
                line |= {"task": task, "verdict": said, "status": status, "reason": reason, "findings": findings}
                out.write(json.dumps(line) + "\n")
        root = ET.fromstring(self.batch("export", file, "--format", "benchexec")[1].encode())
        found = [(run.get("name"), *(run.find(f"column[@title='{title}']").get("value") for title in ("category", "status", "score"))) for run in root.iter("run")]
        self.assertEqual(found, [
            ("b", "error", "TIMEOUT", "0"), ("c", "wrong", "false(unreach-call)", "-16"), ("d", "unknown", "unknown", "0"),
            ("e", "missing", "false(no-overflow)", "0"), ("f", "error", "OUT OF MEMORY", "0"), ("z", "correct", "true", "2"),
        ])
        root = ET.fromstring(self.batch("export", file, "--format", "junit")[1].encode())
        self.assertEqual(root.find(".//testcase[@name='e']/failure").text, "src/e.c:7: the sum")

    def test_scores_of_categories_count_alike(self):
        def of(category, status, count):
            return [{"property": "p", "category": category, "expected": "true", "status": status}] * count

        # Twelve tasks in two categories: 2 points for each task of the first, 0 for each of the second.
        self.assertAlmostEqual(results.normalised_score(of("a", "correct-true", 10) + of("b", "unknown", 2)), 12)


class Page(Fixture):
    """Tests of the page in a headless browser."""

    def in_browser(self, page, script):
        """Returns the output of the script on the page."""
        catcher = "<script>const said = []; const say = t => said.push(String(t)); addEventListener('error', e => say('error: ' + e.message));</script>"
        probe = f"<script>try {{ {script} }} catch (e) {{ say('error: ' + e) }} document.body.innerHTML = ''; document.body.append('SAID', said.join('|'), 'END')</script>"
        text = page.read_text().replace("<body>", "<body>" + catcher, 1).replace("</body>", probe + "</body>")
        (self.dir / "probe.html").write_text(text)
        done = subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-gpu-sandbox", "--no-first-run",
             f"--user-data-dir={self.dir}/profile",
             "--window-size=1300,900", "--virtual-time-budget=3000", "--dump-dom", f"file://{self.dir}/probe.html"],
            capture_output=True, text=True, timeout=120,
        )
        return html.unescape(done.stdout.partition("SAID")[2].partition("END")[0]).split("|")

    def test_filters_plots_and_tables(self):
        old = self.write("old", {
            "one": ("TRUE", "correct-true", 1.0), "two": ("FALSE(unreach-call)", "correct-false", 3.0),
            "</script><b>three": ("UNKNOWN(<i>why</i>)", "unknown", 9.0),
        })
        new = self.write("new", {
            "one": ("TRUE", "correct-true", 2.0), "two": ("TRUE", "wrong-true", 3.0), "</script><b>three": ("TRUE", "correct-true", 1.0),
        })
        page = self.dir / "page.html"
        self.assertEqual(self.batch("page", f"before={old}", f"after={new}", "--out", page)[0], 0)
        said = self.in_browser(page, """
            const rows = () => [...document.querySelectorAll('#tasks tbody tr td.name')].map(e => e.textContent).join(' ');
            const pick = (id, value) => { const e = document.getElementById(id); e.value = value; e.dispatchEvent(new Event('change')); };
            say(rows());
            say(document.querySelectorAll('.curve').length + ' ' + document.querySelectorAll('.point').length);
            say([...document.querySelectorAll('#summary tbody tr:last-child td')].map(e => e.textContent).join(' '));
            pick('kind', 'wrong'); say(rows());
            pick('kind', ''); document.getElementById('differ').click(); say(rows());
            document.getElementById('differ').click();
            document.querySelectorAll('th.sorts')[5].click(); say(rows());
            document.querySelector('.point').dispatchEvent(new Event('click')); say(document.querySelectorAll('tr.now').length);
            pick('measure', 'memory'); say(document.querySelector('#quantiles text.title:last-of-type') ? 'drawn' : '');
            document.getElementById('theme').click(); say(document.documentElement.dataset.theme);
            """)
        self.assertEqual(said, [
            "</script><b>three one two", "2 3", "c 3 1 1 0 1 0 3 13 2 0 1 0 0 -28 6", "two", "</script><b>three two",
            "</script><b>three two one", "1", "drawn", "dark",
        ])


    def test_findings_are_shown_with_their_traces(self):
        def location(line, text):
            physical = {"artifactLocation": {"uri": "src/e.c"}, "region": {"startLine": line}}
            return {"physicalLocation": physical, "message": {"text": text}}

        steps = [{"location": location(n + 1, f"step <i>{n}</i>")} for n in range(100)]
        finding = {
            "ruleId": "address", "message": {"text": "write outside"}, "locations": [location(7, "")],
            "codeFlows": [{"threadFlows": [{"locations": steps}]}],
        }
        file = self.write("a", {"safe": ("TRUE", "unjudged", 1.0), "bad": ("FALSE(address)", "unjudged", 1.0), "too": ("FALSE(address)", "unjudged", 1.0)})
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for line in lines[1:]:
            line["expected"] = ""
            line["findings"] = [] if line["task"] == "safe" else [finding]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        page = self.dir / "page.html"
        self.assertEqual(self.batch("page", file, "--out", page)[0], 0)
        said = self.in_browser(page, """
            say(document.querySelectorAll('#findings details').length);
            say(document.querySelector('#findings summary').textContent);
            say(document.querySelector('#findings details .dim:not(span)').textContent);
            const rows = [...document.querySelectorAll('#findings details tr')].map(e => e.textContent);
            say(rows.length + ' ' + rows[0] + ' ' + rows[20] + ' ' + rows[60]);
            const colour = kind => getComputedStyle(document.querySelector('#tasks td.' + kind)).color;
            say(colour('proved') !== colour('violated'));
            """)
        self.assertEqual(said, [
            "1", "src/e.c:7 write outside address", "in bad, too", "61 src/e.c:1step <i>0</i> ... 40 steps are left out here src/e.c:100step <i>99</i>",
            "true",
        ])


class Parts(unittest.TestCase):
    def test_yaml(self):
        text = """\
            a: 'x # y'   # comment
            list:
              - one
              - "two: 2"
            flush:
            - k: v
              l: w
            -
              k: z
            inline: [p, 'q']
            empty:
            map:
              deep:
                er: 1
            """
        self.assertEqual(
            tasks.read_yaml(textwrap.dedent(text)),
            {
                "a": "x # y", "list": ["one", "two: 2"],
                "flush": [{"k": "v", "l": "w"}, {"k": "z"}],
                "inline": ["p", "q"], "empty": "", "map": {"deep": {"er": "1"}},
            },
        )
        with self.assertRaises(tasks.TaskError):
            tasks.read_yaml("a: 1\nnonsense\n")

    def test_samples_are_stable_and_grow(self):
        many = [tasks.Task(f"t{i}", "c", "p", "true") for i in range(50)]
        ten = {t.name for t in tasks.sample(many, 10, 0)}
        self.assertEqual(len(ten), 10)
        self.assertLess(ten, {t.name for t in tasks.sample(many, 20, 0)})
        self.assertNotEqual(ten, {t.name for t in tasks.sample(many, 10, 1)})

    def test_reasons_are_grouped(self):
        self.assertEqual(report.reason_group("unsupported: call of foo at 7"), "unsupported")
        self.assertEqual(report.reason_group("depth 12 of 'x' reached"), "depth N of … reached")
        self.assertEqual(report.reason_group("no path to a/b.c:9:12 is known"), "no path to … is known")
        self.assertEqual(report.reason_group("crash: signal 11"), "crash: signal 11")

    def test_judging(self):
        def judge(said, property, expected, subproperty=""):
            return verdict.judge(said, tasks.Task("t", "c", property, expected, subproperty))

        self.assertEqual(judge("FALSE(no-overflow)", "unreach-call", "false"), "wrong-false")
        self.assertEqual(judge("FALSE(valid-free)", "valid-memsafety", "false"), "correct-false")
        self.assertEqual(judge("TRUE", "unreach-call", ""), "unjudged")
        self.assertEqual(judge("", "unreach-call", "true"), "error")

    def test_a_worker_takes_no_other_build(self):
        with tempfile.TemporaryDirectory() as folder:
            mine, other = Path(folder, "mine"), Path(folder, "proviso")
            for file in (mine, other):
                file.write_text(f"#!/bin/sh\n# {file.name}\n")
                file.chmod(0o755)
            build, path = command.build_of(mine), os.environ["PATH"]
            self.addCleanup(os.environ.update, {"PATH": path})
            os.environ["PATH"] = folder
            self.assertEqual(remote.find(str(mine), build), str(mine))
            mine.unlink()
            with self.assertRaisesRegex(FileNotFoundError, "another build"):
                remote.find(str(mine), build)
            shutil.copy(other, mine)
            self.assertEqual(remote.find("/nowhere/proviso", command.build_of(other)), str(other))

    def test_steps_that_share_a_future_end_when_their_time_is_up(self):
        tool = dataclasses.asdict(command.Tool("", template="sh {file}", says_true="fine", says_false="bad", folder="/nowhere"))
        steps = [dataclasses.asdict(ranges.Step(tasks.Task(f"t{n}", "c", "p", "true", files=[f"/nowhere/{n}.sh"]))) for n in range(4)]
        # This machine has none of the files, so they are sent. Their paths relative to the working folder stay the same.
        files = {f"/nowhere/{n}.sh": f'sleep 0.{n}; test "$PWD" = "${{0%/*}}" && echo fine'.encode() for n in range(4)}
        self.addCleanup(setattr, remote, "BUDGET", remote.BUDGET)
        remote.BUDGET = 100
        found = remote.execute(steps, tool, files, "key")
        self.assertEqual([(r["task"], r["status"]) for r in found], [(f"t{n}", "correct-true") for n in range(4)])
        remote.BUDGET = 0.2
        self.assertEqual([r["task"] for r in remote.execute(steps[2:], tool, files, "key")], ["t2"])
        self.assertEqual(remote.STOPS, {})

    def test_results_of_a_worker_that_is_killed_then_count(self):
        """The steps that the worker did not run are submitted again."""
        one = cluster.Cluster.__new__(cluster.Cluster)
        put, steps = [], [ranges.Step(tasks.Task(f"t{n}", "c", "p", "true")) for n in range(2)]
        one.work = unittest.mock.Mock(put=lambda *pair: put.append(pair), is_decided=lambda step: False)
        one.given, one.returned, one.mean = {"key": (steps, None)}, collections.deque(), 1.0
        result = {"wall": 1.0}
        one.finish(unittest.mock.Mock(key="key", status="lost"), [result])
        self.assertEqual((put, list(one.returned), one.given), ([(steps[0], result)], [[steps[1]]], {}))

    def test_cpu_limit(self):
        limits = runner.Limits(wall=30, cpu=0.3, memory=1 << 30)
        outcome = runner.run(["sh", "-c", "while :; do :; done"], limits)
        self.assertEqual(outcome.killed, "cpu time")
        self.assertLess(outcome.cpu, 5)

    def test_a_tool_is_asked_before_it_is_killed(self):
        limits = runner.Limits(wall=60, cpu=0.3, memory=1 << 30, asks=30)
        said = runner.run(["sh", "-c", "trap 'echo what it has; exit 3' INT; while :; do :; done"], limits)
        self.assertEqual((said.stdout, said.exit, said.killed), ("what it has\n", 3, ""))
        # A command that ignores the interrupt is killed with the processes that it has started.
        deaf = "trap '' INT; sh -c 'while :; do :; done' & echo $!; wait"
        outcome = runner.run(["sh", "-c", deaf], dataclasses.replace(limits, asks=0.3))
        self.assertEqual((outcome.killed, outcome.exit), ("timeout", None))
        self.assertLess(outcome.wall, 30)
        wait_until(lambda: not alive(int(outcome.stdout)))


if __name__ == "__main__":
    unittest.main()
