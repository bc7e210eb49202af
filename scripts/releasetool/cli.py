"""The command line of `scripts/release`."""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import pack, smoke, tree, wheel

ROOT = Path(__file__).resolve().parents[2]

DESCRIPTION = """\
Builds proviso with LLVM linked statically, and creates two files in the folder dist (--out):

  proviso-VERSION-x86_64-linux.tar.xz     bin/proviso and bin/proviso-batch, the libraries they need, manual page, completions,
                                          models, CI recipes, licences of all parts
  proviso-VERSION-py3-none-....whl        the same as a Python package: pip install, python -m proviso, import proviso

The build is reproducible: the same commit, toolchain and system give the same bytes in any folder and at any time. For this, paths are
replaced, and the time of files is the time of the commit (or $SOURCE_DATE_EPOCH). `--twice` builds again in another folder and compares.
Finally, the archive is unpacked in an empty folder and verifies examples there. If this user has the permission, the build tree and its
libraries are hidden during this test."""


def main(argv):
    raw = argparse.RawDescriptionHelpFormatter
    p = argparse.ArgumentParser(prog="scripts/release", description=DESCRIPTION, formatter_class=raw)
    p.add_argument("--out", type=Path, default=ROOT / "dist", metavar="FOLDER")
    p.add_argument("--profile", default="release", help="the profile of cargo [release: about ten CPU minutes]")
    which = p.add_mutually_exclusive_group()
    which.add_argument("--binary", type=Path, metavar="FILE", help="use this proviso instead of building one")
    which.add_argument("--twice", action="store_true", help="build a second time from a copy of the sources in another folder, and fail if the bytes differ")
    p.add_argument("--no-smoke-test", action="store_true")
    options = p.parse_args(argv)
    try:
        make(options)
        return 0
    except (pack.ReleaseError, OSError, subprocess.CalledProcessError) as error:
        print(f"release: error: {error}", file=sys.stderr)
        return 1


def make(options):
    files = packed(options.binary or build(ROOT, options.profile), ROOT, options.out)
    for file in files:
        print(f"{digest(file)}  {file.name}  ({file.stat().st_size / 1e6:.1f} MB)", flush=True)
    if options.twice:
        with tempfile.TemporaryDirectory(prefix="proviso-release-") as folder:
            copy = copied(ROOT, Path(folder) / "elsewhere" / "sources")
            again = packed(build(copy, options.profile), copy, options.out / "again")
            different = [first.name for first, second in zip(files, again) if digest(first) != digest(second)]
            if different:
                raise pack.ReleaseError(f"the second build ({options.out / 'again'}) differs in {', '.join(pack.differences(files[0], again[0]) or different)}")
            shutil.rmtree(options.out / "again")
        print("release: a second build in another folder gives the same files")
    if not options.no_smoke_test:
        smoke.test(files[0])


def packed(binary, root, out):
    """Creates the archive and the wheel for an executable that was built from the sources in `root`. Returns their paths."""
    with tempfile.TemporaryDirectory() as folder:
        name = f"proviso-{tree.version(binary)}-x86_64-linux"
        release = Path(folder) / name
        tree.make(release, binary, root)
        out.mkdir(parents=True, exist_ok=True)
        archive = pack.tar(release, out / f"{name}.tar.xz", epoch())
        return archive, wheel.make(release, root / "scripts" / "python" / "proviso", out, tree.version(binary), epoch())


def epoch():
    """Returns the time of all files in a release."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct"))


def build(root, profile):
    # A separate target folder leaves other builds unchanged.
    base = os.environ.get("CARGO_TARGET_DIR") if root == ROOT else None
    target = Path(base or root / "target") / "dist"
    home = os.environ.get("CARGO_HOME") or Path.home() / ".cargo"
    # Messages of panics and of C++ assertions must not contain paths of this machine. The last matching prefix is replaced.
    names = [(root, "proviso"), (target, "target"), (home, "cargo")]
    flags = {
        "RUSTFLAGS": [f"--remap-path-prefix={path}={name}" for path, name in names],
        "CFLAGS": [f"-ffile-prefix-map={path}={name}" for path, name in names],
    }
    flags["CXXFLAGS"] = flags["CFLAGS"]
    environment = {name: " ".join(filter(None, [os.environ.get(name), *values])) for name, values in flags.items()}
    # SOURCE_DATE_EPOCH determines __DATE__ and __TIME__ in C, which mimalloc prints.
    environment |= {"CARGO_TARGET_DIR": str(target), "CARGO_INCREMENTAL": "0", "SOURCE_DATE_EPOCH": str(epoch())}
    command = ["cargo", "build", "--locked", "--profile", profile, "-p", "proviso", "--features", "static-llvm"]
    subprocess.run(command, cwd=root, check=True, env={**os.environ, **environment})
    return target / profile / "proviso"


def copied(root, copy):
    """Copies the files that git tracks, with local changes. The solvers in .deps are linked."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (root / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, copy / name)
    (copy / ".deps").symlink_to((root / ".deps").resolve())
    return copy


def digest(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], check=True, capture_output=True, text=True).stdout.strip()
