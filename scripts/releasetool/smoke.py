"""Tests whether a release runs on a system that has clang-19 but neither the build tree nor its libraries."""

import ctypes
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from .pack import ReleaseError

# The script smoketest.sh in each archive.
SCRIPT = """\
#!/bin/sh
# Verifies two examples. Exit code: 0 both verdicts are correct, 1 otherwise.
cd "$(dirname "$0")" || exit 1
expect() {
    said=$(bin/proviso verify --timeout 60 "share/proviso/examples/$2" 2>&1 | tail -n 1)
    case $said in
    "$1"*) echo "$2: $said" ;;
    *) echo "smoketest: $2: $said, not $1" >&2; exit 1 ;;
    esac
}
expect TRUE sum.c
expect "FALSE(unreach-call)" overrun.c
"""
CLONE_NEWNS, CLONE_NEWUSER, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 0x10000000, 4096, 16384, 1 << 18
# The folders of the system that a release may use. During the test, there is only its own folder besides.
SYSTEM = ("bin", "lib", "lib64", "usr/bin", "usr/lib", "usr/lib64", "usr/include", "etc/alternatives", "dev", "proc")
# Libraries that the system of a user may lack.
HIDDEN = "usr/lib/x86_64-linux-gnu/libgmp.so.*"


def test(archive):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        unpacked = root / "opt"
        unpacked.mkdir(parents=True)
        with tarfile.open(archive) as file:
            file.extractall(unpacked, filter="tar")
        (release,) = unpacked.iterdir()
        inside = f"/opt/{release.name}/smoketest.sh"
        code = isolated(root, [inside])
        if code is None:
            print("release: this user may not create a mount namespace; the test runs in a folder without isolation", file=sys.stderr)
            code = subprocess.run([release / "smoketest.sh"], env={"PATH": "/usr/bin:/bin"}).returncode
        if code != 0:
            raise ReleaseError("the archive does not verify its examples")
        print(f"release: {archive.name} verifies its examples")


def isolated(root, command):
    """Runs a command with `root` as its root folder. Returns its exit code, or None if the isolation is not possible."""
    pid = os.fork()
    if pid == 0:
        os._exit(enter(root, command))
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return None if code == 125 else code


def enter(root, command):
    try:
        confine(root)
        os.execve(command[0], command, {"PATH": "/usr/bin:/bin"})
    except OSError as error:
        print(f"release: {error}", file=sys.stderr)
    return 125


def confine(root, others=()):
    """Restricts the file system of this process to the contents of the folder `root`, the folders in SYSTEM, and `others`
    (source, path in the root)."""
    libc = ctypes.CDLL(None, use_errno=True)

    def done(code):
        if code:
            raise OSError(ctypes.get_errno(), "cannot isolate the file system")

    def bind(source, target):
        target.mkdir(parents=True, exist_ok=True)
        done(libc.mount(bytes(source), bytes(target), None, MS_BIND | MS_REC, None))

    done(libc.unshare(CLONE_NEWNS | (CLONE_NEWUSER if os.getuid() else 0)))
    done(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))
    for name in SYSTEM:
        source, target = Path("/", name), root / name
        if source.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.is_symlink():
                target.symlink_to(os.readlink(source))
        elif source.is_dir():
            bind(source, target)
    for source, target in others:
        bind(source, root / target)
    nothing = root / "nothing"
    nothing.touch()
    for library in root.glob(HIDDEN):
        if not library.is_symlink():
            done(libc.mount(bytes(nothing), bytes(library), None, MS_BIND, None))
    (root / "tmp").mkdir(exist_ok=True)
    os.chroot(root)
    os.chdir("/")
