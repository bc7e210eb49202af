"""Runs the scripts in the recipes for continuous integration."""

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "scripts" / "ci" / "verify-changes"
sys.path.insert(0, str(ROOT / "scripts"))

from batchtool import results, tasks  # noqa: E402

LIBRARY = """\
int half(int x) { return x / 2; }
static int helper(int x) {
    return x;
}
int next(int x) {
    return helper(x) > 100 ? 100 : x + 1;
}
"""


class Changes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)
        (self.dir / "lib.c").write_text(LIBRARY)
        entry = {"directory": str(self.dir), "file": "lib.c", "command": "cc -c lib.c"}
        (self.dir / "compile_commands.json").write_text(json.dumps([entry]))
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
            self.git(*words)

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *words], cwd=self.dir, check=True, timeout=60)

    def verify(self, command=None, **environment):
        options = [".", "HEAD", "out", "--property", "no-overflow", "--proviso", os.environ["PROVISO"]]
        done = subprocess.run(
            [str(SCRIPT), *options] if command is None else command, cwd=self.dir, capture_output=True, text=True, timeout=300,
            env={**os.environ, "PROVISO_CACHE": "cache", **environment},
        )
        out = self.dir / "out"
        sarif = json.loads((out / "findings.sarif").read_text())["runs"][0]["results"] if (out / "findings.sarif").exists() else None
        found = {name: r["verdict"] for (name, _), r in results.load(out / "results.jsonl")[1].items()}
        return done, found, sarif

    def test_functions_that_changed(self):
        done, found, sarif = self.verify()
        self.assertEqual((done.returncode, found, sarif), (0, {}, []), done.stderr)
        self.assertIn("no function has changed", done.stdout)
        (self.dir / "lib.c").write_text(LIBRARY.replace("return x;", "return x + 1;"))
        done, found, sarif = self.verify(GITHUB_STEP_SUMMARY=str(self.dir / "summary.md"))
        self.assertEqual((done.returncode, found), (1, {"lib.c:helper": "FALSE(no-overflow)"}), done.stderr)
        self.assertEqual([r["locations"][0]["physicalLocation"]["region"]["startLine"] for r in sarif], [3])
        self.assertIn("violations: 1", (self.dir / "summary.md").read_text())
        for name in ("junit.xml", "results.html"):
            self.assertIn("helper", (self.dir / "out" / name).read_text())
        self.assertTrue(list((self.dir / "cache").glob("*/*.json")))
        (self.dir / "lib.c").write_text(LIBRARY.replace("> 100", "> 1000"))
        old = self.dir / "cache" / "old.json"
        old.touch()
        os.utime(old, (time.time() - 40 * 86400,) * 2)
        done, found, _ = self.verify()
        self.assertEqual((done.returncode, found), (0, {"lib.c:next": "TRUE"}))
        self.assertFalse(old.exists())

    def test_the_steps_of_github_and_gitlab(self):
        action = tasks.read_yaml(step_lines((ROOT / "scripts/ci/github/action.yml").read_text()))
        self.assertEqual(action["runs"]["using"], "composite")
        scripts = blocks((ROOT / "scripts/ci/github/action.yml").read_text())
        self.assertEqual(len(scripts), 2)
        for script in scripts:
            subprocess.run(["bash", "-n"], input=script, text=True, check=True, timeout=60)
        # The setup of a CI machine: the release unpacked in a folder, the inputs in the environment.
        release = self.dir / "temp" / "proviso" / "share" / "proviso"
        release.mkdir(parents=True)
        (release / "ci").symlink_to(SCRIPT.parent)
        given = {
            "RUNNER_TEMP": str(self.dir / "temp"), "GITHUB_OUTPUT": str(self.dir / "output"), "BUILD": ".", "BASE": "HEAD",
            "PROPERTIES": "no-overflow unreach-call", "LIMIT": "30", "OPTIONS": f"--proviso {os.environ['PROVISO']}", "PROVISO_CACHE": ".proviso-cache",
        }
        for code, change in ((0, "x + 1"), (1, "x - 2000000000")):
            (self.dir / "lib.c").write_text(LIBRARY.replace("x + 1", change))
            done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", scripts[1]], cwd=self.dir, env={**os.environ, **given}, capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, code, done.stderr)
        folder = Path((self.dir / "output").read_text().splitlines()[-1].removeprefix("folder="))
        self.assertIn("no-overflow", (folder / "findings.sarif").read_text())
        self.assertEqual(len(results.load(folder / "results.jsonl")[1]), 2)

        lines = (ROOT / "scripts/ci/gitlab/proviso.yml").read_text().partition("  script:\n")[2].partition("  artifacts:")[0]
        script = "\n".join(line.strip().removeprefix("- ") for line in lines.splitlines())
        given |= {
            "PROVISO_ROOT": str(self.dir / "temp" / "proviso"), "CI_MERGE_REQUEST_DIFF_BASE_SHA": "HEAD", "PROVISO_BUILD": ".",
            "PROVISO_PROPERTIES": "no-overflow", "PROVISO_TIMEOUT": "30", "PROVISO_OPTIONS": given["OPTIONS"],
        }
        done = subprocess.run(["sh", "-e", "-c", script], cwd=self.dir, env={**os.environ, **given}, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("no-overflow", (self.dir / "proviso-results" / "findings.sarif").read_text())


def blocks(text):
    """Returns the scripts of `run: |`."""
    found, inside = [], None
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if inside is not None and (not line.strip() or indent > inside):
            found[-1].append(line[inside + 2 :])
            continue
        inside = None
        if line.strip() == "run: |":
            inside = indent
            found.append([])
    return ["\n".join(lines) for lines in found]


def step_lines(text):
    """Removes the scripts, whose syntax `read_yaml` does not support."""
    kept, inside = [], None
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if inside is not None and (not line.strip() or indent > inside):
            continue
        inside = indent if line.strip() == "run: |" else None
        if inside is None:
            kept.append(line)
    return "\n".join(kept)


if __name__ == "__main__":
    unittest.main()
