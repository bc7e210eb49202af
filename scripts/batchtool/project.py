"""Creates tasks from a project: from its compile_commands.json or a file, and a selection of functions."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from .tasks import DATABASE, Task, TaskError
from .verdict import first_line


@dataclass(frozen=True)
class Function:
    """A function that a translation unit defines."""

    name: str
    file: str  # the file with its body, possibly a header
    first: int
    last: int


@dataclass
class Request:
    """The options for creating tasks from a project."""

    proviso: str
    properties: list  # empty: the default properties of proviso
    entries: list  # main, all, changed:REVISION, FUNCTION, FILE.c:FUNCTION, or a file with a list of them
    linked: bool  # whether a program consists of all files of the project, not of one translation unit
    jobs: int
    options: list = field(default_factory=list)  # additional compiler options


def read(path, request):
    """Returns the tasks of a compile_commands.json, C file, archive, object or program: one for each entry function and property."""
    path = Path(path)
    is_database = path.name == DATABASE
    build = ["-p", str(path)] if is_database else []
    units = units_of(path) if is_database else [path]
    with ThreadPoolExecutor(max(1, request.jobs)) as pool:
        listed = pool.map(lambda unit: functions_of(request.proviso, build + request.options, unit), units)
        functions = dict(zip(units, listed))
    if request.entries and not any(functions.values()):
        return []  # tables without functions, and files with a warning that they do not compile
    wanted = choose(functions, request.entries or ["main"])
    if not wanted and not all(entry.startswith("changed:") for entry in request.entries or ["main"]):
        some = ", ".join(sorted({f.name for found in functions.values() for f in found})[:8]) or "none"
        raise TaskError(f"{path} has no main: give --entries all, or --entries with names of its functions ({some}, ...)")
    mains = {unit for unit, found in functions.items() if any(f.name == "main" for f in found)}
    tasks = []
    for unit, function in wanted:
        files = [unit]
        if request.linked:
            files += [other for other in units if other != unit and other not in mains]
        name = shown(unit)
        for property in request.properties or ["default"]:
            tasks.append(
                Task(
                    name=name if function == "main" else f"{name}:{function}",
                    category=str(Path(name).parent),
                    property=property,
                    expected="",
                    files=files,
                    options=build + (["--entry", function] if function != "main" else []),
                )
            )
    return tasks


def shown(file):
    """Returns the path relative to the working folder if the file lies below it."""
    relative = os.path.relpath(file)
    return str(file) if relative.startswith("..") else relative


def units_of(path):
    """Returns the C files of a compilation database, each once, as absolute paths in the order of the database."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        files = [Path(os.path.normpath(Path(entry["directory"], entry["file"]))) for entry in entries]
    except OSError as error:
        raise TaskError(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise TaskError(f"{path}: not a compilation database ({error})") from error
    return list(dict.fromkeys(file for file in files if file.suffix == ".c"))


def functions_of(proviso, options, unit):
    """Returns the functions that a translation unit defines. If it does not compile, prints a warning and returns none."""
    command = [proviso, "cfa", "--format", "functions", *options, str(unit)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"batch: warning: {shown(unit)} is skipped: {first_line(done.stderr)}", file=sys.stderr)
        return []
    rows = (line.split("\t") for line in done.stdout.splitlines())
    return [Function(name, file, int(first), int(last)) for name, file, first, last in rows]


def choose(functions, entries):
    """Returns the selected (translation unit, function), each once, in the order of the database."""
    chosen, changed = [], {}
    words = [word for entry in entries for word in expand(entry)]
    met = dict.fromkeys(words, False)
    seen = set()
    for unit, found in functions.items():
        for function in found:
            for word in words:
                if word.startswith("changed:"):
                    if word not in changed:
                        changed[word] = changed_lines(word.partition(":")[2])
                    lines = changed[word].get(os.path.realpath(function.file), ())
                    fits = any(first <= function.last and function.first <= last for first, last in lines)
                else:
                    fits = word == "all" and function.name != "main" or names(word, unit, function)
                # A function that a header defines occurs in many units. It is selected once.
                if fits and (function.name == "main" or function not in seen):
                    met[word] = True
                    seen.add(function)
                    chosen.append((unit, function.name))
    missing = [word for word, hit in met.items() if not hit and word not in ("main", "all") and not word.startswith("changed:")]
    if missing:
        raise TaskError(f"no translation unit defines {', '.join(missing)}")
    return list(dict.fromkeys(chosen))


def names(word, unit, function):
    file, _, name = word.rpartition(":")
    return name == function.name and (not file or str(unit).endswith(file))


def expand(entry):
    """Returns the words of an entry: the lines of a file if it names one, else its parts between commas."""
    if Path(entry).is_file():
        lines = Path(entry).read_text(encoding="utf-8").splitlines()
        return [line.partition("#")[0].strip() for line in lines if line.partition("#")[0].strip()]
    return [word for word in entry.split(",") if word]


def changed_lines(revision):
    """Returns the lines that differ from a git revision: {file: [(first, last)]}. For lines that were only removed, the line before
    counts as changed."""
    where = ["git", "rev-parse", "--show-toplevel"]
    what = ["git", "diff", "--unified=0", "--no-color", "--no-ext-diff", "--src-prefix=a/", "--dst-prefix=b/"]
    what += [revision, "--", ":(top,glob)**/*.c", ":(top,glob)**/*.h"]
    found = []
    for command in (where, what):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise TaskError(f"{shlex.join(command[:3])}: {first_line(done.stderr)}")
        found.append(done.stdout)
    root, diff = Path(found[0].strip()), found[1]
    lines, file = defaultdict(list), None
    for line in diff.splitlines():
        if line.startswith("+++ "):
            file = os.path.realpath(root / line[6:]) if line.startswith("+++ b/") else None
        hunk = re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)
        if hunk and file:
            first, count = int(hunk[1]), int(hunk[2] or 1)
            lines[file].append((first, first + max(count, 1) - 1))
    return lines
