"""Reads tasks: SV-COMP's definitions (`.yml`, format 2.0) and categories (`.set`), folders, tab-separated lists, C files, and tasks
that `project` creates from a compile_commands.json."""

import csv
import glob
import hashlib
import os
import re
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

PROGRAMS = (".c", ".i", ".bc", ".ll")
DATABASE = "compile_commands.json"


class TaskError(Exception):
    """A task file or list that cannot be read."""


@dataclass
class Task:
    """One program and one property to verify."""

    name: str  # the name in the list; together with the property it is the key of a result
    category: str
    property: str  # unreach-call, no-overflow, ...
    expected: str  # "true", "false" or "" (not known)
    subproperty: str = ""  # the part of valid-memsafety that is violated
    files: list[Path] = field(default_factory=list)
    property_file: Path | None = None
    data_model: str = ""
    error_function: str = ""
    cflags: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)  # options of proviso for this task

    @property
    def key(self):
        return (self.name, self.property)

    @cached_property
    def content(self):
        """A digest of the program's files and of the property file, as they are at the first use. Files that they include do not
        count."""
        digest = hashlib.sha256()
        for path in [*self.files, *filter(None, [self.property_file])]:
            data = path.read_bytes() if path.is_file() else b""
            digest.update(len(data).to_bytes(8, "big") + data)
        return digest.hexdigest()[:16]


def read_yaml(text, where="task file"):
    """Parses the subset of YAML that task definitions use: maps and lists by indentation, plain and quoted scalars, comments.
    Returns every scalar as a string."""
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        content = _strip_comment(line)
        if content.strip() and content.strip() != "---":
            lines.append((len(content) - len(content.lstrip(" ")), content.strip(), number))
    value, rest = _block(lines, 0, where)
    if rest != len(lines):
        raise TaskError(f"{where}:{lines[rest][2]}: unexpected indentation")
    return value


def _strip_comment(line):
    quote = ""
    for i, c in enumerate(line):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c == "#" and (i == 0 or line[i - 1] in " \t"):
            return line[:i].rstrip()
    return line.rstrip()


def _scalar(text):
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    if text.startswith("[") and text.endswith("]"):
        return [_scalar(part.strip()) for part in text[1:-1].split(",") if part.strip()]
    return "" if text in ("null", "~") else text


def _block(lines, at, where):
    """Returns the value that starts at line `at`, and the line after it."""
    if at == len(lines):
        return "", at
    indent, content, number = lines[at]
    if content == "-" or content.startswith("- "):
        items = []
        while at < len(lines) and lines[at][0] == indent and lines[at][1][:2] in ("-", "- "):
            inner = lines[at][1][1:].lstrip()
            offset = len(lines[at][1]) - len(inner)
            if not inner:
                value, at = _block(lines, at + 1, where)
            elif _key(inner) is not None:
                lines = lines[:at] + [(indent + offset, inner, lines[at][2])] + lines[at + 1 :]
                value, at = _block(lines, at, where)
            else:
                value, at = _scalar(inner), at + 1
            items.append(value)
        return items, at
    if _key(content) is None:
        return _scalar(content), at + 1
    entries = {}
    while at < len(lines) and lines[at][0] == indent:
        key = _key(lines[at][1])
        if key is None:
            raise TaskError(f"{where}:{lines[at][2]}: expected 'key: value'")
        name, rest = key
        at += 1
        if rest:
            entries[name] = _scalar(rest)
        elif at < len(lines) and (
            lines[at][0] > indent or (lines[at][0] == indent and lines[at][1].startswith("-"))
        ):
            entries[name], at = _block(lines, at, where)
        else:
            entries[name] = ""
    return entries, at


def _key(content):
    """Returns (key, rest) if the line is `key: rest` or `key:`."""
    if content[0] in "'\"[{":
        return None
    name, colon, rest = content.partition(":")
    if not colon or (rest and rest[0] not in " \t"):
        return None
    return name.strip(), rest.strip()


def read_task_file(path, name=None, category=None):
    """Returns the tasks of a task definition, one for each property."""
    path = Path(path)
    try:
        data = read_yaml(path.read_text(encoding="utf-8", errors="replace"), str(path))
    except OSError as error:
        raise TaskError(f"{path}: {error.strerror}") from error
    if not isinstance(data, dict) or not data.get("input_files"):
        raise TaskError(f"{path}: not a task definition")
    files = data["input_files"]
    files = [files] if isinstance(files, str) else files
    options = data.get("options") or {}
    tasks = []
    for entry in data.get("properties") or []:
        prp = path.parent / entry["property_file"]
        tasks.append(
            Task(
                name=name or str(path),
                category=category or path.resolve().parent.name,
                property=prp.stem,
                expected=str(entry.get("expected_verdict", "")).lower(),
                subproperty=entry.get("subproperty", ""),
                files=[path.parent / f for f in files],
                property_file=prp,
                data_model=options.get("data_model", "ILP32"),
            )
        )
    return tasks


def read_index(path):
    """The tasks of a tab-separated list with a header line. Columns used: path (of a .yml or a C file,
    relative to the list), category, property, expected, subproperty, data_model, error_fn,
    extra_cflags; "-" is nothing. Only path and property must be there."""
    path = Path(path)
    tasks, definitions = [], {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            row = {k: "" if v in (None, "-") else v for k, v in row.items() if k}
            if "path" not in row or "property" not in row:
                raise TaskError(f"{path}: the header names no columns path and property")
            name = row["path"]
            if name.endswith(PROGRAMS):
                (task,) = of_program(path.parent / name, [row["property"]], name)
            else:
                if name not in definitions:
                    definitions[name] = read_task_file(path.parent / name, name)
                for task in definitions[name]:
                    if task.property == row["property"]:
                        break
                else:
                    raise TaskError(f"{name}: no property {row['property']}, which {path} lists")
            task.category = row.get("category") or task.category
            task.expected = row.get("expected") or task.expected
            task.subproperty = row.get("subproperty") or task.subproperty
            task.data_model = row.get("data_model") or task.data_model
            error = row.get("error_fn", "")
            # The assert macro calls this function when it fails.
            task.error_function = "__assert_fail" if error == "assert" else error
            task.cflags = row.get("extra_cflags", "").split()
            tasks.append(task)
    return tasks


def of_program(path, properties, name=None):
    """Returns the tasks of a program without a task definition, one for each property, without expected verdicts."""
    path = Path(path)
    if not path.is_file():
        raise TaskError(f"{path}: no such file")
    category = path.resolve().parent.name
    return [Task(name or str(path), category, p, "", files=[path]) for p in properties or ["default"]]


def is_binary(path):
    """Returns whether a file is an object, an archive or a program, by its first bytes."""
    try:
        with open(path, "rb") as file:
            return file.read(8).startswith((b"\x7fELF", b"!<arch>\n", b"!<thin>\n"))
    except OSError:
        return False


def read_paths(paths, properties, database, by_function=False):
    """Returns the tasks of task files, folders (with .yml files, else a compile_commands.json, else C files), categories and lists
    (.set, .txt: patterns; .tsv), and programs. `properties` are the properties of programs without a task definition. `database`
    creates the tasks for the functions of a compile_commands.json, archive, object or program, and of a C file if `by_function`."""
    tasks, paths = [], list(map(Path, paths))
    folders = [path.absolute() for path in paths if path.is_dir()]
    above = Path(os.path.commonpath(folders)) if folders else None  # names are relative to it, so that they differ
    for path in paths:
        if path.is_dir():
            tasks += read_folder(path, above, properties, database, by_function)
        elif path.name == DATABASE or is_binary(path) or by_function and path.suffix in PROGRAMS:
            tasks += database(path)
        elif path.suffix in (".set", ".txt"):
            tasks += read_category(path)
        elif path.suffix == ".tsv":
            tasks += read_index(path)
        elif path.suffix in PROGRAMS:
            tasks += of_program(path, properties)
        else:
            tasks += read_task_file(path)
    return tasks


def read_folder(folder, above, properties, database, by_function):
    def name(file):
        return str(file.absolute().relative_to(above))

    definitions = sorted(folder.rglob("*.yml"))
    if definitions:
        return [task for file in definitions for task in read_task_file(file, name(file))]
    if (folder / DATABASE).is_file():
        return database(folder / DATABASE)
    programs = sorted(file for file in folder.rglob("*") if file.suffix in PROGRAMS)
    if by_function:
        return [task for file in programs for task in database(file)]
    return [task for file in programs for task in of_program(file, properties, name(file))]


def distinct(tasks):
    """Returns the tasks, each once. Different programs with one name are an error: the results of one would count for the other."""
    found = {}
    for task in tasks:
        other = found.setdefault(task.key, task)
        if [path.absolute() for path in other.files] != [path.absolute() for path in task.files]:
            raise TaskError(f"two programs are named {task.name}: {other.files[0]} and {task.files[0]}; run them with different --out")
    return list(found.values())


# The properties that words in the names of SV-COMP's categories stand for.
ASKED = {
    "ReachSafety": "unreach-call", "ConcurrencySafety": "unreach-call", "MemSafety": "valid-memsafety", "MemCleanup": "valid-memcleanup",
    "NoOverflows": "no-overflow", "NoDataRace": "no-data-race", "Termination": "termination",
}


def read_category(path):
    """Returns the tasks of a file with a pattern of task files in each line. The files of SV-COMP's categories (.set) have the names
    of the categories; if the name determines the property, other properties of its tasks are left out."""
    tasks = []
    category = path.stem.removeprefix("C.") if path.suffix == ".set" else None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = line.partition("#")[0].strip()
        found = sorted(glob.glob(line, root_dir=path.parent, recursive=True)) if line else []
        if line and not found:
            print(f"batch: warning: {path}:{number}: no file matches {line}", file=sys.stderr)
        for file in found:
            tasks += read_task_file(path.parent / file, file, category)
    words = re.split(r"[-.](?=[A-Z])", category or "")
    asked = next((ASKED[word] for word in reversed(words) if word in ASKED), None)
    return [task for task in tasks if task.property == asked] if asked else tasks


def sample(tasks, count, seed):
    """Returns `count` of the tasks in their order. Equal seeds select equal tasks."""

    def rank(task):
        return hashlib.sha256(f"{seed}/{task.name}/{task.property}".encode()).digest()

    chosen = {t.key for t in sorted(tasks, key=rank)[:count]}
    return [t for t in tasks if t.key in chosen]
