"""Whether a release runs on a system that has clang-19 and nothing of ours."""

import ctypes
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from .pack import ReleaseError

# The script that every archive brings along.
SCRIPT = """\
#!/bin/sh
# Verifies two examples: says what is missing, or ends with 0.
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
# What of a system a release may use. Its own folder is all else that there is.
SYSTEM = ("bin", "lib", "lib64", "usr/bin", "usr/lib", "usr/lib64", "usr/include", "etc/alternatives", "dev", "proc")
# Libraries of the build's system that a user's need not have.
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
            print("release: this user may make no file system of its own; tested in a folder instead", file=sys.stderr)
            code = subprocess.run([release / "smoketest.sh"], env={"PATH": "/usr/bin:/bin"}).returncode
        if code != 0:
            raise ReleaseError("the archive does not verify its examples")
        print(f"release: {archive.name} verifies its examples")


def isolated(root, command):
    """The exit code of a command in a root of its own; None where that cannot be made."""
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
    """From now on this process sees of the file system what SYSTEM names and what is in the folder `root`; of `others`, (source, place in the root), as well."""
    libc = ctypes.CDLL(None, use_errno=True)

    def done(code):
        if code:
            raise OSError(ctypes.get_errno(), "no file system of its own for a release")

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
