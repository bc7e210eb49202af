"""The results of the command as Python objects. Each call runs the command in a separate process."""

from __future__ import annotations

import enum
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union, cast

File = Union[str, "os.PathLike[str]"]
Json = Mapping[str, Any]


# The exit code of shells for a command that does not exist.
NO_COMMAND = 127


class ProvisoError(Exception):
    """There is no result, for example because an option is wrong, the program does not compile, or clang is missing. `code` is the
    exit code of the command, or 127 if there is no command."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Verdict(enum.Enum):
    TRUE = "TRUE"
    FALSE = "FALSE"
    UNKNOWN = "UNKNOWN"


class CheckResult(enum.Enum):
    """The result of a check."""

    PROVED = "proved"
    VIOLATED = "violated"
    UNKNOWN = "unknown"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class Location:
    """A position in the source. Columns count bytes, as in messages of clang."""

    file: str
    line: int
    column: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f":{self.column}" if self.column else "")


@dataclass(frozen=True)
class Note:
    """A reason for a missing proof, with its location."""

    text: str
    location: Location | None


@dataclass(frozen=True)
class Input:
    """An input of the program in the execution to the error."""

    number: int
    kind: str
    source: str
    type: str
    value: str
    bits: int
    location: Location | None


@dataclass(frozen=True)
class Argument:
    """An argument of the initial call of the entry function: a `value` in C notation, or a pointer to an object, where `object` is
    its index in `Call.objects`. Both are None for a null pointer, and for a pointer to an undefined function (`is_function`)."""

    name: str
    value: str | None
    object: int | None
    is_function: bool
    bits: int


@dataclass(frozen=True)
class Member:
    """The content of an object at a path such as `.next` or `[3].x`. The fields have the same meaning as those of `Argument`."""

    path: str
    value: str | None
    object: int | None
    is_function: bool


@dataclass(frozen=True)
class Object:
    """An object that is reachable from an argument. Members that are not listed are 0."""

    type: str
    size: int
    members: tuple[Member, ...]


@dataclass(frozen=True)
class Call:
    """The initial call of an entry function other than `main`."""

    function: str
    arguments: tuple[Argument, ...]
    objects: tuple[Object, ...]


@dataclass(frozen=True)
class Memory:
    """The object that a violation of memory safety is about. `kind` is "global", "stack", "heap", "library", "given" (an object to
    which an argument points) or "stand-in". `offset` is the accessed offset in bytes. `name` is the name of a variable."""

    name: str | None
    kind: str
    size: int
    offset: int
    allocated: Location | None
    freed: Location | None
    lost: Location | None


@dataclass(frozen=True)
class Violation:
    """A violation. `precondition` is the condition of the entry function's callers that rules it out, if it depends on the
    assumption that they may pass a short buffer; `help` is advice about it."""

    property: str
    message: str
    location: Location | None
    function: str | None
    object: Memory | None
    precondition: str | None
    help: str | None
    inputs: tuple[Input, ...]
    call: Call | None
    trace: tuple[dict[str, Any], ...] = field(repr=False)


@dataclass(frozen=True)
class Check:
    """The result of a check or a property. `reason` is the reason why it, or a part of it, is unknown."""

    name: str
    result: CheckResult
    places: int
    violations: tuple[Violation, ...]
    reason: Note | None
    assumes_valid_accesses: bool


@dataclass(frozen=True)
class UndefinedFunction:
    """An undefined function, the number of its calls, and the number of calls whose effect may influence the verdict."""

    name: str
    calls: int
    calls_that_matter: int


@dataclass(frozen=True)
class Result:
    """The result of a verification. `json` is the complete result (docs/reference/json.md)."""

    verdict: Verdict
    verdict_line: str
    properties: tuple[str, ...]
    checks: tuple[Check, ...]
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]
    undefined_functions: tuple[UndefinedFunction, ...]
    decided_by: str | None
    reason: Note | None
    violation: Violation | None
    nothing_checked: str | None
    seconds: float
    from_cache: bool
    json: dict[str, Any] = field(repr=False)

    @property
    def violations(self) -> tuple[Violation, ...]:
        """The violations of all checks."""
        return tuple(violation for check in self.checks for violation in check.violations)

    def check(self, name: str) -> Check:
        """Returns the check with this name. Raises KeyError if it was not requested."""
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(name)


@dataclass(frozen=True)
class Line:
    """A source line in a slice."""

    file: str
    number: int


@dataclass(frozen=True)
class Slice:
    """The slice of a program for slicing criteria. `source` is the slice as a C program that compiles, if it was requested."""

    lines: tuple[Line, ...]
    instructions_before: int | None
    instructions_after: int | None
    source: str | None
    json: dict[str, Any] = field(repr=False)


def executable() -> Path:
    """Returns the path of the command: $PROVISO if it is set, else the command in this package, that of the source tree that contains
    this package, or the one on the PATH. Raises ProvisoError if there is none."""
    here = Path(__file__).resolve()
    named = os.environ.get("PROVISO")
    places = [here.parent / "release" / "bin" / "proviso", *(folder / "target" / "release" / "proviso" for folder in here.parents[3:4])]
    found = [Path(named)] if named else [*places, Path(shutil.which("proviso") or "proviso")]
    for path in found:
        if path.is_file() and os.access(path, os.X_OK):
            return path
    if named:
        raise ProvisoError(NO_COMMAND, f"$PROVISO names no command: {named}")
    raise ProvisoError(NO_COMMAND, f"the command proviso does not exist, neither as {places[0]} nor on the PATH: set $PROVISO to its path")


def verify(
    files: File | Sequence[File],
    *,
    properties: Iterable[str] = (),
    checks: Iterable[str] = (),
    entry: str | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    malloc_may_fail: bool = False,
    build: File | None = None,
    cache: File | None = None,
    witness: File | None = None,
    harness: File | None = None,
    sarif: File | None = None,
    options: Sequence[str] = (),
    clang: Sequence[str] = (),
) -> Result:
    """Verifies a program, given as C files, bitcode, or a task definition. Several properties are verified one after the other, until
    one is violated or unknown; the result is that of the last one. `checks` are names of checks (option --check), each with its own
    result. By default, assertions, memory safety and undefined behaviour are checked.

    `timeout` is in seconds, `memory` in MB. `build` is a folder with compile_commands.json. `witness`, `harness` and `sarif` are
    output files. `options` are further options of `proviso verify`, `clang` options of the compiler."""
    result = None
    named = ",".join(checks) or None
    asked: list[str | None] = [*properties]
    for name in asked or [None]:
        words = [*option("--property", name), *option("--check", named), *option("--entry", entry)]
        words += [*option("--timeout", timeout), *option("--memory-limit", memory), *(["--malloc-may-fail"] if malloc_may_fail else [])]
        words += [*option("-p", build), *option("--cache", cache), *option("--witness", witness), *option("--harness", harness)]
        words += [*option("--sarif", sarif), *options]
        result = result_of(run("verify", words, files, clang, (0, 1, 2, 3, 70)))
        if result.verdict is not Verdict.TRUE:
            break
    assert result is not None
    return result


def slice(
    files: File | Sequence[File],
    criteria: str | Iterable[str],
    *,
    forward: bool = False,
    source: bool = False,
    build: File | None = None,
    options: Sequence[str] = (),
    clang: Sequence[str] = (),
) -> Slice:
    """Slices a program. A criterion is a function, a global variable, `FILE:LINE` or `FILE:LINE:VARIABLE`."""
    names = [criteria] if isinstance(criteria, str) else list(criteria)
    words = [word for name in names for word in ("-c", name)] + [*option("-p", build), *options]
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "slice.c"
        words += ["--forward"] if forward else []
        words += ["--c", str(text)] if source else []
        data = run("slice", words, files, clang, (0,))
        size = [(data.get(when) or {}).get("size") or {} for when in ("before", "after")]
        return Slice(
            lines=tuple(Line(entry["file"], number) for entry in data["lines"] for number in entry["kept"]),
            instructions_before=size[0].get("instructions"),
            instructions_after=size[1].get("instructions"),
            source=text.read_text(encoding="utf-8", errors="replace") if source else None,
            json=data,
        )


def option(name: str, value: object) -> list[str]:
    if value is None:
        return []
    return [name, os.fspath(cast(File, value)) if isinstance(value, os.PathLike) else str(value)]


def run(command: str, words: Sequence[str], files: File | Sequence[File], clang: Sequence[str], codes: Sequence[int]) -> dict[str, Any]:
    """Runs the command and returns the JSON that it writes."""
    given = [files] if isinstance(files, (str, os.PathLike)) else files
    names = [os.fspath(name) for name in given]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "result.json"
        line = [str(executable()), command, *names, *words, "--json", str(out), "--color", "never"]
        done = subprocess.run(
            [*line, "--", *clang] if clang else line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False
        )
        if done.returncode not in codes or not out.is_file():
            raise ProvisoError(done.returncode, done.stderr.decode(errors="replace").strip())
        result: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        return result


def result_of(data: dict[str, Any]) -> Result:
    violation, statistics = data.get("violation"), data["statistics"]
    return Result(
        verdict=Verdict(data["verdict"]),
        verdict_line=data["verdict_line"],
        properties=tuple(data["properties"]),
        checks=tuple(map(check_of, data["checks"])),
        assumptions=tuple(data["assumptions"]),
        warnings=tuple(data["warnings"]),
        undefined_functions=tuple(
            UndefinedFunction(f["name"], f["calls"], f["calls_that_matter"]) for f in data["undefined_functions"]
        ),
        decided_by=data.get("decided_by"),
        reason=note_of(data.get("reason")),
        violation=violation_of(violation) if violation else None,
        nothing_checked=data.get("nothing_checked"),
        seconds=statistics["total_seconds"],
        from_cache=bool(statistics.get("from_cache")),
        json=data,
    )


def check_of(data: Json) -> Check:
    return Check(
        name=data["name"],
        result=CheckResult(data["result"]),
        places=data["places"],
        violations=tuple(map(violation_of, data["violations"])),
        reason=note_of(data["reason"]),
        assumes_valid_accesses=data["assumes_valid_accesses"],
    )


def violation_of(data: Json) -> Violation:
    call, memory = data.get("call"), data.get("object")
    return Violation(
        property=data["property"],
        message=data["message"],
        location=location_of(data.get("location")),
        function=data.get("function"),
        object=memory_of(memory) if memory else None,
        precondition=data.get("precondition"),
        help=data.get("help"),
        inputs=tuple(
            Input(i["number"], i["kind"], i["source"], i["type"], i["value"], int(i["bits"], 16), location_of(i["location"]))
            for i in data.get("inputs", [])
        ),
        call=call_of(call) if call else None,
        trace=tuple(data.get("trace", [])),
    )


def memory_of(data: Json) -> Memory:
    places = (location_of(data[key]) for key in ("allocated", "freed", "lost"))
    return Memory(data["name"], data["kind"], data["size"], data["offset"], *places)


def call_of(data: Json) -> Call:
    def leads_to(target: int | str | None) -> tuple[int | None, bool]:
        return (target, False) if isinstance(target, int) else (None, target == "function")

    return Call(
        function=data["function"],
        arguments=tuple(Argument(a["name"], a["value"], *leads_to(a["object"]), int(a["bits"], 16)) for a in data["arguments"]),
        objects=tuple(
            Object(o["type"], o["size"], tuple(Member(m["path"], m["value"], *leads_to(m["object"])) for m in o["members"]))
            for o in data["objects"]
        ),
    )


def note_of(data: Json | None) -> Note | None:
    return Note(data["text"], location_of(data["location"])) if data else None


def location_of(data: Json | None) -> Location | None:
    return Location(data["file"], data["line"], data["column"]) if data else None
