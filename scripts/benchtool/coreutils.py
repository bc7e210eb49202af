"""Finds the source files of the programs of GNU coreutils, so that testgen can load each program without its build system."""

import functools
import re
import subprocess
import tempfile
from pathlib import Path

FOLDERS = ["lib", "lib/malloc", "lib/unistr", "lib/uniwidth", "lib/glthread"]


def sources(folder, program):
    """Returns the C files of a program: its own, and those of the archive members that a linker selects. The folder has a finished build."""
    with tempfile.TemporaryDirectory() as place:
        listed, shared = Path(place) / "map", Path(place) / "shared.a"
        objects = [path for path in sorted((folder / "src").glob("*.o")) if not defines_main(path)]
        subprocess.run(["ar", "rcs", shared, *objects], check=True)
        command = ["cc", "-o", Path(place) / program, f"-Wl,-Map={listed}", f"src/{program}.o", shared, "lib/libcoreutils.a", shared, "lib/libcoreutils.a"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        members = re.findall(r"^\S+\.a\((libcoreutils_a-)?([\w-]+)\.o\)", listed.read_text(), re.MULTILINE)
    files = [f"src/{program}.c"]
    for of_library, member in dict.fromkeys(members):
        folders = FOLDERS if of_library else ["src"]
        files += [name for d in folders if (folder / (name := f"{d}/{member}.c")).exists()][:1]
    return files


@functools.cache
def defines_main(path):
    """Returns whether an object file defines `main`."""
    return " T main\n" in subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout


def programs(folder, names):
    """Returns a name, the arguments of testgen, and the folder for each program."""
    options = ["-I", ".", "-I", "lib", "-I", "src", "-DHAVE_CONFIG_H"]
    return [(name, [*sources(folder, name), *options], folder) for name in names]
