"""Batches of the real verifier ($PROVISO), killed and resumed, on this machine and on a Dask cluster."""

import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "scripts" / "batch"
sys.path[:0] = [str(SCRIPT.parent), str(SCRIPT.parent / "python")]

import proviso  # noqa: E402
from batchtool import processes, results  # noqa: E402

PROVISO = os.environ["PROVISO"]
TASKS = 24
LIMIT = 300  # seconds for a command of these tests


def python_with_dask():
    for python in (ROOT / ".deps/dask/bin/python3", sys.executable):
        with contextlib.suppress(OSError):
            if subprocess.run([python, "-c", "import distributed"], capture_output=True, timeout=60).returncode == 0:
                return str(python)
    return None


DASK = python_with_dask()


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)

    def make_tasks(self):
        """Writes small programs in two categories (proved, violated, unknown) that include a local header."""
        (self.dir / "unreach-call.prp").write_text("CHECK( init(main()), LTL(G ! call(reach_error())) )\n")
        for n in range(TASKS):
            folder = self.dir / "tasks" / ("even", "odd")[n % 2]
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "limit.h").write_text("#define LIMIT 20\n")
            # An odd n: a violation if x is n.
            bad = "nobody_knows(), x == 1" if n % 8 == 6 else f"x == {n}" if n % 2 else f"x == {n} && x > LIMIT + 10"
            (folder / f"t{n}.c").write_text(
                '#include "limit.h"\nint __VERIFIER_nondet_int(void); void reach_error(void); int nobody_knows(void);\n'
                f"int main(void) {{ int x = __VERIFIER_nondet_int(); if (x < 40 && ({bad})) reach_error(); return 0; }}\n"
            )
            (folder / f"t{n}.yml").write_text(
                f"format_version: '2.0'\ninput_files: t{n}.c\nproperties:\n  - property_file: ../../unreach-call.prp\n"
                f"    expected_verdict: {'false' if n % 2 else 'true'}\noptions: \n  language: C\n  data_model: LP64\n"
            )

    def command(self, out, *arguments, python=sys.executable):
        words = [python, SCRIPT, "run", self.dir / "tasks", "--out", self.dir / out, "--proviso", PROVISO, "--timeout", 30, *arguments]
        return list(map(str, words))

    def run_batch(self, out, *arguments, **named):
        done = subprocess.run(self.command(out, *arguments, **named), capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return table(done.stdout)

    def kill_again_and_again(self, times, moments, *command, **named):
        """Starts the command `times` times, and kills it after random times. Returns how often it still ran."""
        hit = 0
        for _ in range(times):
            process = subprocess.Popen(self.command(*command, **named), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(random.uniform(*moments))
            hit += process.poll() is None
            process.send_signal(signal.SIGKILL)
            process.wait(60)
        return hit

    def results_are_complete(self, out):
        """Checks that each task has exactly one result."""
        lines = (self.dir / out).read_text().splitlines()
        entries = [json.loads(line) for line in lines if line.endswith("}")]
        names = sorted(entry["task"] for entry in entries if "task" in entry)
        self.assertEqual(names, sorted(f"{('even', 'odd')[n % 2]}/t{n}.yml" for n in range(TASKS)))


def table(text):
    """Returns the report without times and memory."""
    lines = text.splitlines()
    rows = [re.sub(r" +\S+$", "", line) for line in lines if re.match(r"(unreach-call|even|odd|all) ", line)]
    solved = next(line for line in lines if line.startswith("solved"))
    return rows + [solved.partition("; wall")[0]]


class OneMachine(Folder):
    def test_a_batch_that_is_killed_ten_times_ends_as_one_that_is_not(self):
        self.make_tasks()
        expected = self.run_batch("whole.jsonl", "-j", 2)
        self.assertEqual(expected, EXPECTED)
        seed = random.randrange(1 << 32)
        random.seed(seed)
        hit = self.kill_again_and_again(10, (0.05, 0.6), "killed.jsonl", "-j", 2)
        found = self.run_batch("killed.jsonl", "-j", 2)
        self.assertEqual(found, expected, f"seed {seed}, {hit} kills")
        self.assertGreater(hit, 0)
        self.results_are_complete("killed.jsonl")

    def test_functions_of_a_project(self):
        source = self.dir / "src"
        source.mkdir()
        (source / "half.h").write_text("int half(int x);\n")
        (source / "half.c").write_text('#include "half.h"\nint half(int x) { return x / 2; }\nint next(int x) { return x + ONE; }\n')
        (source / "main.c").write_text('#include "half.h"\n#include <assert.h>\nint main(int c, char **v) { assert(half(8) == 4); return 0; }\n')
        entries = [
            {"directory": str(source), "file": name, "command": f"cc -DONE=1 -c {name}"} for name in ("half.c", "main.c")
        ]
        database = self.dir / "compile_commands.json"
        database.write_text(json.dumps(entries))
        run = [sys.executable, SCRIPT, "run", database, "--proviso", PROVISO, "--property", "no-overflow"]

        def verdicts(name, *arguments):
            out = self.dir / f"{name}.jsonl"
            words = [*run, "--out", out, *arguments]
            done = subprocess.run(list(map(str, words)), capture_output=True, text=True, cwd=self.dir, timeout=LIMIT)
            loaded = results.load(out)[1] if out.exists() else {}
            return done, {task: r["verdict"] for (task, _), r in loaded.items()}

        _, found = verdicts("linked", "--linked", "--property", "unreach-call")
        self.assertEqual(found, {"src/main.c": "TRUE"})
        done, found = verdicts("all", "--entries", "all")
        self.assertEqual(found, {"src/half.c:half": "TRUE", "src/half.c:next": "FALSE(no-overflow)"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("src/half.c:3: ", done.stdout)
        done, _ = verdicts("none", "--entries", "half,nobody")
        self.assertEqual(done.returncode, 64)
        self.assertIn("no translation unit defines nobody", done.stderr)
        self.merged_findings("all.jsonl")

    def merged_findings(self, out):
        done = subprocess.run([sys.executable, SCRIPT, "export", self.dir / out, "--format", "sarif"], capture_output=True, text=True, timeout=LIMIT)
        (run,) = json.loads(done.stdout)["runs"]
        (finding,) = run["results"]
        self.assertEqual(finding["ruleId"], "no-overflow")
        self.assertEqual(run["tool"]["driver"]["rules"][finding["ruleIndex"]]["id"], "no-overflow")
        self.assertEqual(finding["locations"][0]["physicalLocation"]["region"]["startLine"], 3)


# The report of a batch of the tasks of `make_tasks`.
EXPECTED = [
    "unreach-call  tasks  TRUE  FALSE  wrongT  wrongF  unknown  error  score  of",
    "even             12     9      0       0       0        3      0     18  24",
    "odd              12     0     12       0       0        0      0     12  12",
    "all              24     9     12       0       0        3      0     30  36",
    "solved 21 of 24 (9 TRUE, 12 FALSE), wrong 0, unknown 3, no verdict 0 (0 crashed); score 30 of 36, normalised 30",
]


@unittest.skipUnless(DASK, "Dask is not there and scripts/setup-deps could not install it: there is no test of clusters")
class Cluster(Folder):
    def setUp(self):
        super().setUp()
        self.make_tasks()
        self.started = []
        self.addCleanup(self.stop)

    def stop(self):
        for process in self.started:
            process.kill()
            process.wait(60)
        processes.sweep()

    def start(self, role, *arguments):
        command = [DASK, "-m", "distributed.cli.dask_" + role, *map(str, arguments), "--no-dashboard"]
        # The workers have neither this program nor the files of the tasks under the same relative paths.
        process = subprocess.Popen(command, cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.started.append(process)
        return process

    def test_workers_and_clients_are_killed(self):
        address = self.scheduler()
        workers = [self.start("worker", address, "--nthreads", 1, "--no-nanny", "--local-directory", self.dir) for _ in range(4)]
        cluster = ("cluster.jsonl", "--cluster", address)
        client = subprocess.Popen(self.command(*cluster, python=DASK), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        out = self.dir / "cluster.jsonl"
        wait_until(lambda: out.exists() and out.read_text().count('"status"') >= 3)
        workers[0].kill()
        client.kill()
        client.wait(60)
        self.assertLess(out.read_text().count('"status"'), TASKS)
        again = subprocess.Popen(self.command(*cluster, python=DASK), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        done = out.read_text().count('"status"')
        wait_until(lambda: out.read_text().count('"status"') > done)
        workers[1].kill()
        text, err = again.communicate(timeout=LIMIT)
        self.assertEqual(again.returncode, 0, err)
        self.assertEqual(table(text), EXPECTED)
        self.results_are_complete("cluster.jsonl")

    def scheduler(self):
        contact = self.dir / "scheduler.json"
        self.start("scheduler", "--port", 0, "--host", "127.0.0.1", "--scheduler-file", contact)
        wait_until(lambda: contact.exists() and contact.read_text().endswith("}"))  # which is there before it is written
        return json.loads(contact.read_text())["address"]

    def test_ranges_of_tasks_whose_workers_are_killed(self):
        """Tasks with loops are divided into three futures each: one has a violation, one is proved."""
        shutil.rmtree(self.dir / "tasks")
        (self.dir / "tasks").mkdir()
        head = "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);\n"
        for name, bad in (("safe", "i > 20"), ("unsafe", "i == 14"), ("straight", "")):
            loop = f"while (i < 20 && __VERIFIER_nondet_int()) i++; if ({bad}) reach_error();" if bad else ""
            expected = "false" if name == "unsafe" else "true"
            (self.dir / f"tasks/{name}.c").write_text(
                f"{head}int main(void) {{ int i = 0; {loop} return 0; }}\n"
            )
            (self.dir / f"tasks/{name}.yml").write_text(
                f"format_version: '2.0'\ninput_files: {name}.c\nproperties:\n  - property_file: ../unreach-call.prp\n"
                f"    expected_verdict: {expected}\noptions:\n  language: C\n  data_model: LP64\n"
            )
        out = self.dir / "ranges.jsonl"
        address = self.scheduler()
        workers = [self.start("worker", address, "--nthreads", 1, "--no-nanny", "--local-directory", self.dir) for _ in range(4)]
        command = self.command("ranges.jsonl", "--cluster", address, "--ranges", "lb3,lb10: symex | value | symex", python=DASK)
        client = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.started.append(client)
        for count in (1, 2):
            # After a step is finished, a worker runs the next one, which is lost when the worker is killed.
            wait_until(lambda: out.exists() and out.read_text().count('"step"') >= count)
            workers.pop().kill()
        text, err = client.communicate(timeout=LIMIT)
        self.assertEqual(client.returncode, 0, err)
        self.assertIn("solved 3 of 3 (2 TRUE, 1 FALSE)", text)
        found = {Path(name).stem: r for (name, _), r in results.load(out)[1].items()}
        self.assertEqual([r["range"] for r in found["safe"]["ranges"]], [f"range {n} of 3" for n in (1, 2, 3)])
        self.assertEqual(found["straight"]["ranges"], [])
        # Threads on this machine give the same results.
        here = self.command("here.jsonl", "-j", 2, "--ranges", "lb3,lb10: symex | value | symex")
        done = subprocess.run(here, capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(table(done.stdout), table(text), done.stderr)

    def test_workers_of_this_machine_and_no_scheduler(self):
        self.assertEqual(self.run_batch("local.jsonl", "--cluster", "local:2", python=DASK), EXPECTED)
        for address, message in (("tcp://127.0.0.1:1", "cannot connect to a scheduler"), ("local:0", "expected local:N")):
            done = subprocess.run(self.command("x.jsonl", "--cluster", address, python=DASK), capture_output=True, text=True, timeout=LIMIT)
            self.assertEqual(done.returncode, 64)
            self.assertIn(message, done.stderr)


    def test_an_adaptive_cluster_grows_and_shrinks(self):
        """The cluster starts workers while there is work for more, and ends an idle worker while another works. No result is lost or
        duplicated."""
        # The parent process of a command is the worker. One task runs until the test has seen the number of workers change.
        (self.dir / "tasks/odd/t23.c").write_text("// long\n")
        tool = self.dir / "tool.sh"
        tool.write_text(
            f"""echo $PPID >>{self.dir}/workers
            while grep -q long "$1" && ! test -e {self.dir}/enough; do sleep 0.1; done
            sleep 1; echo TRUE\n"""
        )
        command = self.command("out.jsonl", "--cluster", "local:1-4", "--tool-cmd", f"sh {tool} {{file}}", "--timeout", LIMIT, python=DASK)
        client = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.started.append(client)
        out = self.dir / "out.jsonl"
        wait_until(lambda: out.exists() and out.read_text().count('"status"') == TASKS - 1)
        workers = set((self.dir / "workers").read_text().split())
        self.assertEqual(len(workers), 4)
        wait_until(lambda: sum(Path(f"/proc/{pid}").exists() for pid in workers) == 1)
        (self.dir / "enough").touch()
        self.assertEqual(client.communicate(timeout=LIMIT)[1].count("WRONG"), TASKS // 2)
        self.results_are_complete("out.jsonl")

    def test_workers_that_leave_at_work(self):
        """Workers leave during a task, as in a batch system at the end of their time. They are replaced, and their tasks run again."""
        address = self.scheduler()
        tool = self.dir / "tool.sh"
        tool.write_text("sleep 1; echo TRUE\n")
        command = self.command("out.jsonl", "--cluster", address, "--tool-cmd", f"sh {tool}", python=DASK)
        client = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.started.append(client)
        came = 0
        while client.poll() is None and came < 60:
            if sum(process.poll() is None for process in self.started) < 2 + 3:
                came += 1
                self.start("worker", address, "--nthreads", 1, "--no-nanny", "--lifetime", "4s", "--local-directory", self.dir)
            time.sleep(0.2)
        said = client.communicate(timeout=LIMIT)[1]
        self.assertEqual(said.count("WRONG"), TASKS // 2, said)
        self.assertGreater(came, 3)
        self.results_are_complete("out.jsonl")


def wait_until(condition):
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it does not come about")


class Functions(Folder):
    """Tests of tasks for the functions of archives and C files."""

    def test_archives_and_files_by_function(self):
        source = self.dir / "part.c"
        source.write_text(
            '#include "limit.h"\nint good(int x) { return 10 / (x * 2 + LIMIT); }\nint bad(int x) { return 10 / (x - LIMIT); }\n'
        )
        (self.dir / "inc").mkdir()
        (self.dir / "inc/limit.h").write_text("#define LIMIT 1\n")
        subprocess.run(["clang-19", "-g", "-fsanitize=integer-divide-by-zero", "-fembed-bitcode", "-Iinc", "-c", "part.c"], cwd=self.dir, check=True)
        subprocess.run(["ar", "rcs", "libpart.a", "part.o"], cwd=self.dir, check=True)

        def run(out, *words):
            command = [sys.executable, SCRIPT, "run", *words[:1], "--out", out, "--proviso", PROVISO, *words[1:]]
            return subprocess.run(list(map(str, command)), cwd=self.dir, capture_output=True, text=True, timeout=LIMIT)

        check = ["--", "--check", "integer-divide-by-zero"]
        for out, words in (("a", ["libpart.a", "--entries", "all", *check]), ("c", ["part.c", "--entries", "all", *check, "-I", "inc"])):
            done = run(out, *words)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("violated 1, proved 1 of 2", done.stdout)
            found = {name.rpartition(":")[2]: r["verdict"] for (name, _), r in results.load(self.dir / out)[1].items()}
            self.assertEqual(found, {"good": "TRUE", "bad": "FALSE(integer-divide-by-zero)"})
        done = run("n", "libpart.a")
        self.assertEqual(done.returncode, 64)
        self.assertIn("libpart.a has no main: give --entries all, or --entries with names of its functions (bad, good", done.stderr)
        (self.dir / "table.c").write_text("int table[2];\n")
        done = run("f", ".", "--entries", "all", *check, "-I", "inc")
        self.assertIn("violated 1, proved 1 of 2", done.stdout, done.stderr)
        # A finding that a longer buffer rules out is counted apart, and names the precondition.
        (self.dir / "sum.c").write_text(
            "unsigned sum(const unsigned char *p, unsigned n) { unsigned s = 0; while (n--) s += p[n]; return s; }\n"
            "int first(int *p) { return p[-1]; }\n"
        )
        done = run("s", "sum.c", "--entries", "all", "--", "--check", "address")
        self.assertIn("violated 2 (1 with short buffers of callers), proved 0 of 2", done.stdout)
        self.assertIn("__CPROVER_r_ok(p, n)", done.stdout)
        # The Python package has them, too.
        with unittest.mock.patch.dict(os.environ, PROVISO=PROVISO):
            result = proviso.verify(self.dir / "sum.c", entry="sum", checks=["address"], timeout=60)
        violation = result.violation
        self.assertEqual((violation.precondition, violation.object.kind), ("__CPROVER_r_ok(p, n)", "given"))
        self.assertIn(violation.precondition, violation.help)
        # Without its header, the file does not compile, which is not a crash.
        done = run("h", "part.c")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did not compile: 1", done.stdout)
        self.assertIn("-- -I FOLDER", done.stdout)


if __name__ == "__main__":
    unittest.main()
