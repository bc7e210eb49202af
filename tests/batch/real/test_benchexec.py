"""BenchExec with $PROVISO: the tool-info module, a benchmark that it runs, and the table that it makes of our results."""

import contextlib
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
PROVISO = os.environ["PROVISO"]
EXAMPLES = ROOT / "tests" / "examples"
BENCHMARK = f"""\
<?xml version="1.0"?>
<benchmark tool="tools_proviso.proviso" timelimit="60s">
  <rundefinition name="default"/>
  <tasks name="examples">
    <include>{EXAMPLES}/*.yml</include>
    <propertyfile>{EXAMPLES}/unreach-call.prp</propertyfile>
  </tasks>
</benchmark>
"""


def python_with_benchexec():
    for python in (ROOT / ".deps/dask/bin/python3", sys.executable):
        with contextlib.suppress(OSError):
            if subprocess.run([python, "-c", "import benchexec"], capture_output=True, timeout=60).returncode == 0:
                return str(python)
    return None


PYTHON = python_with_benchexec()


@unittest.skipUnless(PYTHON, "BenchExec is not there and scripts/setup-deps could not install it")
class BenchExec(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)
        # The folder has the layout of a release.
        (self.dir / "release/bin").mkdir(parents=True)
        (self.dir / "release/bin/proviso").symlink_to(PROVISO)

    def run_python(self, *arguments):
        done = subprocess.run(
            [PYTHON, *map(str, arguments)], cwd=self.dir, capture_output=True, text=True, timeout=300,
            env={**os.environ, "PYTHONPATH": str(ROOT / "scripts/benchexec")},
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_tool_info(self):
        (self.dir / "said").write_text("FALSE(valid-deref)\n")
        text = self.run_python(
            "-m", "benchexec.test_tool_info", "tools_proviso.proviso", "--no-container", "--tool-directory", "release", "--tool-output", "said"
        )
        self.assertIn("release/bin/proviso”", text)
        self.assertRegex(text, "Version: “[0-9.]+”")
        self.assertIn("“['release/bin/proviso', 'verify', '--property', 'PROPERTY.PRP', '--data-model', 'ILP32', '--timeout', '899', 'INPUT.FILE']”", text)
        self.assertIn("false(valid-deref)", text)
        self.assertNotIn("ERROR", text)

    def test_a_benchmark(self):
        (self.dir / "benchmark.xml").write_text(BENCHMARK)
        text = self.run_python("-m", "benchexec.benchexec", "--no-container", "--tool-directory", "release", "benchmark.xml")
        self.assertRegex(text, r"(?s)correct: +4.*incorrect: +0.*Score: +6 \(max: 6\)")

    def test_a_table_of_our_results(self):
        batch = [sys.executable, ROOT / "scripts/batch"]
        subprocess.run([*batch, "run", EXAMPLES, "--proviso", PROVISO, "--out", self.dir / "a.jsonl"], check=True, capture_output=True, timeout=300)
        subprocess.run([*batch, "export", self.dir / "a.jsonl", "--format", "benchexec", "--out", self.dir / "a.xml"], check=True, timeout=60)
        text = self.run_python("-c", "from benchexec.tablegenerator import main; main()", "--no-diff", "--outputpath", "table", "a.xml")
        self.assertNotIn("WARNING", text)
        self.assertTrue((self.dir / "table/a.html").is_file())
        rows = [line.split("\t") for line in (self.dir / "table/a.csv").read_text().splitlines()]
        # The columns: name, columns that distinguish tasks, status, times, memory and score.
        self.assertEqual([(row[0], row[-5], row[-1]) for row in rows if row[0].endswith(".yml")], [
            ("long-32.yml", "false(unreach-call)", "1"), ("long-64.yml", "true", "2"), ("overrun.yml", "false(unreach-call)", "1"), ("sum.yml", "true", "2"),
        ])


if __name__ == "__main__":
    unittest.main()
