"""What the command says, as Python objects. The command is run for each call; nothing of it is in this process."""

from __future__ import annotations

import enum
import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

File = Union[str, "os.PathLike[str]"]


class ProvisoError(Exception):
    """There is no result: the command line is wrong, the program does not compile, clang is missing. `code` is the command's."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Verdict(enum.Enum):
    TRUE = "TRUE"
    FALSE = "FALSE"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True)
class Location:
    file: str
    line: int
    column: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f":{self.column}" if self.column else "")


@dataclass(frozen=True)
class Note:
    """What stood in the way, or was left out."""

    text: str
    location: Location | None


@dataclass(frozen=True)
class Input:
    """What the program took from outside on its way to the error."""

    number: int
    kind: str
    source: str
    type: str
    value: str
    bits: int
    location: Location | None


@dataclass(frozen=True)
class Violation:
    property: str
    message: str
    location: Location | None
    function: str | None
    inputs: tuple[Input, ...]
    trace: tuple[dict[str, Any], ...] = field(repr=False)


@dataclass(frozen=True)
class Result:
    """The answer to one question. `json` is all of it, as docs/reference/json.md says."""

    verdict: Verdict
    verdict_line: str
    properties: tuple[str, ...]
    decided_by: str | None
    reason: Note | None
    violation: Violation | None
    nothing_checked: str | None
    seconds: float
    from_cache: bool
    json: dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Line:
    """A line of the source that is in a slice."""

    file: str
    number: int


@dataclass(frozen=True)
class Slice:
    """What a criterion depends on. `source` is C that compiles, if it was asked for."""

    lines: tuple[Line, ...]
    instructions_before: int | None
    instructions_after: int | None
    source: str | None
    json: dict[str, Any] = field(repr=False)


def executable() -> Path:
    """The command in this package, or what $PROVISO names."""
    named = os.environ.get("PROVISO")
    return Path(named) if named else Path(__file__).parent / "release" / "bin" / "proviso"


def verify(
    files: File | Sequence[File],
    *,
    properties: Iterable[str] = (),
    entry: str | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    build: File | None = None,
    cache: File | None = None,
    witness: File | None = None,
    harness: File | None = None,
    sarif: File | None = None,
    options: Sequence[str] = (),
    clang: Sequence[str] = (),
) -> Result:
    """Verifies a program: C files, bitcode, a task definition. Where several properties are asked for, they are asked one after the
    other, until one is violated or remains unknown.

    `timeout` is in seconds, `memory` in MB; `build` is a folder with compile_commands.json; `witness`, `harness` and `sarif` are
    files to write; `options` are further ones of `proviso verify`, `clang` of the compiler."""
    result = None
    for name in list(properties) or [None]:
        words = [*option("--property", name), *option("--entry", entry), *option("--timeout", timeout), *option("--memory-limit", memory)]
        words += [*option("-p", build), *option("--cache", cache), *option("--witness", witness), *option("--harness", harness)]
        words += [*option("--sarif", sarif), *options]
        result = result_of(run("verify", words, files, clang, (0, 1, 2, 70)))
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
    """What a program's criteria depend on: functions, `FILE:LINE`, `FILE:LINE:VARIABLE`, global variables."""
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
    return [] if value is None else [name, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]


def run(command: str, words: Sequence[str], files: Any, clang: Sequence[str], codes: Sequence[int]) -> dict[str, Any]:
    """The JSON that the command writes."""
    names = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "result.json"
        line = [str(executable()), command, *map(os.fspath, names), *words, "--json", str(out), "--color", "never"]
        done = subprocess.run(
            [*line, "--", *clang] if clang else line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False
        )
        if done.returncode not in codes or not out.is_file():
            raise ProvisoError(done.returncode, done.stderr.decode(errors="replace").strip())
        result: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        return result


def result_of(data: dict[str, Any]) -> Result:
    violation, reason, statistics = data.get("violation"), data.get("reason"), data["statistics"]
    return Result(
        verdict=Verdict(data["verdict"]),
        verdict_line=data["verdict_line"],
        properties=tuple(data["properties"]),
        decided_by=data.get("decided_by"),
        reason=Note(reason["text"], location_of(reason["location"])) if reason else None,
        violation=violation_of(violation) if violation else None,
        nothing_checked=data.get("nothing_checked"),
        seconds=statistics["total_seconds"],
        from_cache=bool(statistics.get("from_cache")),
        json=data,
    )


def violation_of(data: dict[str, Any]) -> Violation:
    return Violation(
        property=data["property"],
        message=data["message"],
        location=location_of(data.get("location")),
        function=data.get("function"),
        inputs=tuple(
            Input(i["number"], i["kind"], i["source"], i["type"], i["value"], int(i["bits"], 16), location_of(i["location"]))
            for i in data.get("inputs", [])
        ),
        trace=tuple(data.get("trace", [])),
    )


def location_of(data: dict[str, Any] | None) -> Location | None:
    return Location(data["file"], data["line"], data["column"]) if data else None
