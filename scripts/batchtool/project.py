"""The programs of a project: what its compile_commands.json, or a file, and a choice of functions make tasks of."""

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
    file: str  # where its body is: a header, maybe
    first: int
    last: int


@dataclass
class Request:
    """What to make of a project."""

    proviso: str
    properties: list  # none: what proviso asks without --property
    entries: list  # main, all, changed:REVISION, FUNCTION, FILE.c:FUNCTION, or a file with a list of them
    linked: bool  # a program is all files that belong together, not one translation unit
    jobs: int
    options: list = field(default_factory=list)  # how to compile, besides


def read(path, request):
    """The tasks of a compile_commands.json, or of one C file, archive, object or program: one an entry function and property."""
    path = Path(path)
    is_database = path.name == DATABASE
    build = ["-p", str(path)] if is_database else []
    units = units_of(path) if is_database else [path]
    with ThreadPoolExecutor(max(1, request.jobs)) as pool:
        listed = pool.map(lambda unit: functions_of(request.proviso, build + request.options, unit), units)
        functions = dict(zip(units, listed))
    wanted = choose(functions, request.entries or ["main"])
    if not wanted and not all(entry.startswith("changed:") for entry in request.entries or ["main"]):
        some = ", ".join(sorted({f.name for found in functions.values() for f in found})[:8]) or "none"
        raise TaskError(f"{path} has no main: --entries all, or names of its functions ({some}, ...)")
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
    """Relative to the working folder where it is below it."""
    relative = os.path.relpath(file)
    return str(file) if relative.startswith("..") else relative


def units_of(path):
    """The C files, each once, as absolute paths in the order of the database."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        files = [Path(os.path.normpath(Path(entry["directory"], entry["file"]))) for entry in entries]
    except OSError as error:
        raise TaskError(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise TaskError(f"{path}: not a compilation database ({error})") from error
    return list(dict.fromkeys(file for file in files if file.suffix == ".c"))


def functions_of(proviso, options, unit):
    """What a translation unit defines; nothing where it does not compile, which running it would say as well."""
    command = [proviso, "cfa", "--format", "functions", *options, str(unit)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"batch: warning: {shown(unit)} is left out: {first_line(done.stderr)}", file=sys.stderr)
        return []
    rows = (line.split("\t") for line in done.stdout.splitlines())
    return [Function(name, file, int(first), int(last)) for name, file, first, last in rows]


def choose(functions, entries):
    """(translation unit, function) in the order of the database, each once."""
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
                # A function of a header is in many units; once is enough.
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
    """A file with a list stands for what is in it."""
    if Path(entry).is_file():
        lines = Path(entry).read_text(encoding="utf-8").splitlines()
        return [line.partition("#")[0].strip() for line in lines if line.partition("#")[0].strip()]
    return [word for word in entry.split(",") if word]


def changed_lines(revision):
    """The lines that are not as in a revision of git: {file: [(first, last)]}. Where lines were only removed, the one before counts."""
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
