"""Proviso verifies C programs: is there an input with which a program goes wrong?

    import proviso

    result = proviso.verify("list.c", entry="insert", properties=["valid-deref"], timeout=60)
    if result.verdict is proviso.Verdict.FALSE:
        print(result.violation.location, result.violation.message)

`python -m proviso` is the command. It needs clang 19 (Debian, Ubuntu: apt-get install clang-19)."""

from .api import (
    Argument, Call, Check, CheckResult, Input, Line, Location, Member, Note, Object, ProvisoError, Result, Slice, UndefinedFunction, Verdict,
    Violation, executable, slice, verify,
)

__all__ = [
    "Argument", "Call", "Check", "CheckResult", "Input", "Line", "Location", "Member", "Note", "Object", "ProvisoError", "Result", "Slice",
    "UndefinedFunction", "Verdict", "Violation", "executable", "slice", "verify",
]
