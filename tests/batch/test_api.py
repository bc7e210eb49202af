"""Tests of the Python API without the real verifier."""

import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

sys.dont_write_bytecode = True
PACKAGE = Path(__file__).resolve().parents[2] / "scripts" / "python"
sys.path.insert(0, str(PACKAGE))

import proviso  # noqa: E402


class Command(unittest.TestCase):
    def test_a_missing_command_is_one_clear_error(self):
        with unittest.mock.patch.dict(os.environ, PROVISO="/nowhere/proviso"):
            with self.assertRaises(proviso.ProvisoError) as caught:
                proviso.verify("a.c")
            self.assertEqual((caught.exception.code, str(caught.exception)), (127, "$PROVISO names no command: /nowhere/proviso"))
            done = subprocess.run([sys.executable, "-B", "-m", "proviso"], cwd=PACKAGE, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (127, "proviso: error: $PROVISO names no command: /nowhere/proviso\n"))

    def test_the_command_is_found_on_the_path(self):
        with tempfile.TemporaryDirectory() as folder:
            command = Path(folder) / "proviso"
            command.write_text("#!/bin/sh\nexit 65\n")
            command.chmod(0o755)
            with unittest.mock.patch.dict(os.environ, PATH=folder):
                os.environ.pop("PROVISO", None)
                found = proviso.executable()
                if found != command:
                    # The source tree has a build.
                    self.assertTrue(os.access(found, os.X_OK))
                    return
                with self.assertRaises(proviso.ProvisoError) as caught:
                    proviso.verify("a.c")
                self.assertEqual(caught.exception.code, 65)


if __name__ == "__main__":
    unittest.main()
