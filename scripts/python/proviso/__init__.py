"""Proviso verifies C programs: it proves that a program has no errors, or finds inputs with which an error occurs.

    import proviso

    result = proviso.verify("list.c", entry="insert", properties=["valid-deref"], timeout=60)
    if result.verdict is proviso.Verdict.FALSE:
        print(result.violation.location, result.violation.message)

`python -m proviso` runs the command `proviso`. Proviso needs clang 19 (Debian, Ubuntu: apt-get install clang-19)."""

from .api import (
    Argument, Call, Check, CheckResult, Input, Line, Location, Member, Memory, Note, Object, ProvisoError, Result, Slice, UndefinedFunction,
    Verdict, Violation, executable, slice, verify,
)

__all__ = [
    "Argument", "Call", "Check", "CheckResult", "Input", "Line", "Location", "Member", "Memory", "Note", "Object", "ProvisoError", "Result",
    "Slice", "UndefinedFunction", "Verdict", "Violation", "executable", "slice", "verify",
]
