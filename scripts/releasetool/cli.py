"""The command line of `scripts/release`."""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from . import pack, smoke, tree, wheel

ROOT = Path(__file__).resolve().parents[2]

DESCRIPTION = """\
Builds proviso with LLVM inside, and makes of it in the folder dist (--out):

  proviso-VERSION-x86_64-linux.tar.xz     bin/proviso and bin/proviso-batch, the libraries they need, manual page, completions,
                                          models, CI recipes, licences of all that is inside
  proviso-VERSION-py3-none-....whl        the same as a Python package: pip install, python -m proviso, import proviso

Both are the same, byte for byte, for the same commit built in the same folder: times are those of the commit
(or $SOURCE_DATE_EPOCH). Then the archive is unpacked in an empty folder, without the build tree and its libraries in sight where this
user may arrange that, and verifies examples."""


def main(argv):
    raw = argparse.RawDescriptionHelpFormatter
    p = argparse.ArgumentParser(prog="scripts/release", description=DESCRIPTION, formatter_class=raw)
    p.add_argument("--out", type=Path, default=ROOT / "dist", metavar="FOLDER")
    p.add_argument("--profile", default="release", help="cargo's profile [release: about ten CPU minutes]")
    p.add_argument("--binary", type=Path, metavar="FILE", help="take this proviso instead of building one")
    p.add_argument("--no-smoke-test", action="store_true")
    options = p.parse_args(argv)
    try:
        make(options)
        return 0
    except (pack.ReleaseError, OSError, subprocess.CalledProcessError) as error:
        print(f"release: error: {error}", file=sys.stderr)
        return 1


def make(options):
    binary = options.binary or build(options.profile)
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct"))
    with tempfile.TemporaryDirectory() as folder:
        name = f"proviso-{tree.version(binary)}-x86_64-linux"
        release = Path(folder) / name
        tree.make(release, binary, ROOT)
        options.out.mkdir(parents=True, exist_ok=True)
        archive = pack.tar(release, options.out / f"{name}.tar.xz", epoch)
        package = wheel.make(release, ROOT / "scripts" / "python" / "proviso", options.out, tree.version(binary), epoch)
    for file in (archive, package):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        print(f"{digest}  {file.name}  ({file.stat().st_size / 1e6:.1f} MB)", flush=True)
    if not options.no_smoke_test:
        smoke.test(archive)


def build(profile):
    # Paths in messages of panics say nothing of the machine.
    home = os.environ.get("CARGO_HOME") or Path.home() / ".cargo"
    flags = f"{os.environ.get('RUSTFLAGS', '')} --remap-path-prefix={ROOT}=proviso --remap-path-prefix={home}=cargo".strip()
    command = ["cargo", "build", "--locked", "--profile", profile, "-p", "proviso", "--features", "static-llvm"]
    # A folder of its own: what is built otherwise stays as it is.
    target = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "dist"
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, "RUSTFLAGS": flags, "CARGO_TARGET_DIR": str(target)})
    return target / profile / "proviso"


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], check=True, capture_output=True, text=True).stdout.strip()
