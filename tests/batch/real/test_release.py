"""The release: archive and wheel of the verifier under test ($PROVISO), which for once needs this system's LLVM; and the Python API."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "scripts" / "python")]

import proviso  # noqa: E402
from releasetool import cli, pack, smoke, tree, wheel  # noqa: E402

EXAMPLES = ROOT / "tests" / "examples"


class Release(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)

    def test_a_binary_that_needs_llvm_is_refused(self):
        if "libLLVM" in subprocess.run(["ldd", os.environ["PROVISO"]], capture_output=True, text=True, timeout=60).stdout:
            with self.assertRaisesRegex(pack.ReleaseError, "static-llvm"):
                tree.libraries(os.environ["PROVISO"])

    def test_a_copy_of_the_sources_for_a_second_build(self):
        copy = cli.copied(ROOT, self.dir / "copy")
        self.assertEqual((copy / "Cargo.lock").read_bytes(), (ROOT / "Cargo.lock").read_bytes())
        self.assertTrue(os.access(copy / "scripts/release", os.X_OK))
        self.assertFalse((copy / "target").exists())
        self.assertTrue((copy / ".deps/z3/lib").is_dir())

    def test_what_differs_is_named(self):
        archives = []
        for name, text in (("one", "x"), ("two", "y"), ("three", "y")):
            folder = self.dir / name / "proviso-0"
            folder.mkdir(parents=True)
            (folder / "same").write_text("same")
            (folder / "other").write_text(text)
            archives.append(pack.tar(folder, self.dir / f"{name}.tar.xz", 1_700_000_000, preset=0))
        self.assertEqual(pack.differences(*archives[:2]), ["proviso-0/other"])
        self.assertEqual(pack.differences(*archives[1:]), [])

    def test_archive_and_wheel(self):
        needed = subprocess.run(["ldd", os.environ["PROVISO"]], capture_output=True, text=True, check=True, timeout=60).stdout
        ours = ("libz3.so.5", "libgmp.so")
        here = {line.split()[0] for line in needed.splitlines() if not line.strip().startswith(ours)}
        system, tree.OF_THE_SYSTEM = tree.OF_THE_SYSTEM, here
        try:
            release = self.dir / "proviso-0"
            tree.make(release, os.environ["PROVISO"], ROOT)
        finally:
            tree.OF_THE_SYSTEM = system
        licences = {f.name for f in (release / "share/doc/proviso/licences").iterdir()}
        self.assertLessEqual({"Proviso", "Z3", "Bitwuzla", "LLVM", "GMP", "CaDiCaL", "symfpu", "Rust-crates", "dagre", "highlight"}, licences)
        self.assertIn("serde_json", (release / "share/doc/proviso/licences/Rust-crates").read_text())
        self.assertIn("proviso-verify", (release / "share/man/man1/proviso.1").read_text().replace("\\-", "-"))
        self.assertTrue((release / "share/proviso/benchexec/tools_proviso/proviso.py").is_file())
        archive = pack.tar(release, self.dir / "a.tar.xz", 1_700_000_000, preset=0)
        smoke.test(archive)
        # A copy in another folder, with other times and another order of creation, gives the same archive.
        copy = self.dir / "copy" / "proviso-0"
        shutil.copytree(release, copy, symlinks=True, copy_function=lambda a, b, **named: shutil.copy(a, b, **named))
        os.utime(copy / "smoketest.sh", (time.time() - 9999,) * 2)
        again = pack.tar(copy, self.dir / "b.tar.xz", 1_700_000_000, preset=0)
        self.assertEqual(archive.read_bytes(), again.read_bytes())

        package = wheel.make(release, ROOT / "scripts/python/proviso", self.dir, "0.1", 1_700_000_000)
        environment = self.dir / "environment"
        subprocess.run([sys.executable, "-m", "venv", environment], check=True, timeout=300)
        subprocess.run([environment / "bin/pip", "install", "-q", "--no-index", "--disable-pip-version-check", package], check=True, timeout=300)
        clean = {"PATH": f"{environment}/bin:/usr/bin:/bin"}

        def run(*command):
            done = subprocess.run(list(map(str, command)), cwd=self.dir, env=clean, capture_output=True, text=True, timeout=300)
            return done.returncode, done.stdout + done.stderr

        code, text = run("python", "-m", "proviso", "verify", EXAMPLES / "overrun.c")
        self.assertEqual((code, text.splitlines()[-1]), (1, "FALSE(unreach-call)"))
        code, text = run("proviso-batch", "run", EXAMPLES / "sum.c", "--out", "out.jsonl")
        self.assertEqual(code, 0, text)
        self.assertIn("violated 0, proved 1 of 1", text)
        self.assertIn("proviso-batch run", run("proviso-batch", "--help")[1])
        script = f"import proviso; print(proviso.verify({str(EXAMPLES / 'sum.c')!r}).verdict)"
        self.assertEqual(run("python", "-c", script), (0, "Verdict.TRUE\n"))


def python_with_mypy():
    for python in (ROOT / ".deps/dask/bin/python3", sys.executable):
        with contextlib.suppress(OSError):
            if subprocess.run([python, "-c", "import mypy"], capture_output=True, timeout=60).returncode == 0:
                return str(python)
    return None


class Api(unittest.TestCase):
    @unittest.skipUnless(python_with_mypy(), "mypy is not there and scripts/setup-deps could not install it")
    def test_types(self):
        """The package, the programs of the guide, and a program that uses all of it pass mypy."""
        with tempfile.TemporaryDirectory() as folder:
            user = Path(folder) / "user.py"
            user.write_text(
                "import proviso\n"
                "result = proviso.verify('a.c', entry='f', checks=['address'], malloc_may_fail=True)\n"
                "texts: list[str] = [*result.assumptions, *result.warnings]\n"
                "for check in result.checks:\n"
                "    proved: bool = check.result is proviso.CheckResult.PROVED\n"
                "    for violation in check.violations:\n"
                "        if violation.call is not None:\n"
                "            values: list[str | None] = [argument.value for argument in violation.call.arguments]\n"
                "            paths: list[str] = [member.path for o in violation.call.objects for member in o.members]\n"
            )
            guide = Path(folder) / "guide.py"
            blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/guide/install.md").read_text(), re.M | re.S)
            self.assertTrue(blocks)
            guide.write_text("\n".join(blocks))
            command = [python_with_mypy(), "-m", "mypy", "--strict", "--cache-dir", folder, "proviso", user, guide]
            done = subprocess.run(list(map(str, command)), cwd=ROOT / "scripts/python", capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_checks_assumptions_and_the_call(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "a.c"
            file.write_text(
                "#include <stdlib.h>\nstruct pair { int a, b; };\n"
                "int f(struct pair *p, int n) { return p->b == 5 ? 1 / (p->a - n - 7) : 0; }\n"
                "int g(struct pair *p) { int *q = malloc(4); *q = p->a; free(q); return 0; }\n"
            )
            result = proviso.verify(file, entry="f", checks=["integer-divide-by-zero", "address"], timeout=60)
            proved = proviso.verify(file, entry="g", checks=["address"], timeout=60)
        self.assertIs(result.check("integer-divide-by-zero").result, proviso.CheckResult.VIOLATED)
        self.assertIs(result.check("address").result, proviso.CheckResult.PROVED)
        self.assertEqual(len(result.violations), 1)
        call = result.violation.call
        self.assertEqual((call.function, [a.name for a in call.arguments]), ("f", ["p", "n"]))
        self.assertEqual(call.arguments[0].object, 0)
        self.assertIn(("\n".join(m.path for m in call.objects[0].members)), (".a\n.b", ".b"))
        self.assertTrue(any("malloc" in text for text in proved.assumptions), proved.assumptions)
        self.assertTrue(any("pointers in the arguments of g" in text for text in proved.assumptions))
        with self.assertRaises(KeyError):
            result.check("leak")

    def test_a_violation(self):
        result = proviso.verify(EXAMPLES / "overrun.c", timeout=60)
        self.assertIs(result.verdict, proviso.Verdict.FALSE)
        self.assertEqual((result.violation.location.line, result.violation.function), (11, "put"))
        self.assertEqual([(i.type, i.location.line) for i in result.violation.inputs], [("char", 18)] * 4)

    def test_proofs_of_several_properties(self):
        with tempfile.TemporaryDirectory() as cache:
            ask = {"properties": ["no-overflow", "unreach-call"], "cache": cache}
            first, again = (proviso.verify([EXAMPLES / "sum.c"], **ask) for _ in range(2))
        self.assertEqual([r.verdict for r in (first, again)], [proviso.Verdict.TRUE] * 2)
        self.assertEqual([r.from_cache for r in (first, again)], [False, True])

    def test_what_is_not_known_and_what_is_wrong(self):
        result = proviso.verify(EXAMPLES / "inflate.c", timeout=60)
        self.assertIs(result.verdict, proviso.Verdict.UNKNOWN)
        self.assertTrue(result.reason.text)
        with self.assertRaises(proviso.ProvisoError) as caught:
            proviso.verify("no-such-file.c")
        self.assertEqual(caught.exception.code, 66)

    def test_slices(self):
        noise = ROOT / "tests/slice/example/noise.c"
        found = proviso.slice(noise, "check", source=True)
        lines = {line.number for line in found.lines}
        self.assertTrue({4, 6, 8, 16, 17} <= lines and not lines & {7, 12, 13})
        self.assertLess(found.instructions_after, found.instructions_before)
        self.assertIn("square", found.source)
        forward = proviso.slice(noise, "noise.c:7:noise", forward=True)
        self.assertTrue(forward.lines and forward.source is None)


if __name__ == "__main__":
    unittest.main()
