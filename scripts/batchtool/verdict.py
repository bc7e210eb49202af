"""Reads the verdict of a verifier and compares it with the expected one."""

import re

# The points of SV-COMP.
POINTS = {
    "correct-true": 2,
    "correct-false": 1,
    "wrong-true": -32,
    "wrong-false": -16,
    "unknown": 0,
    "error": 0,  # no verdict: the verifier crashed, or was killed at a limit
    "unjudged": 0,  # a verdict without an expected one
}

LINE = re.compile(r"(TRUE|FALSE\([a-z-]+\)|UNKNOWN\(.*\)|UNKNOWN)$")
PROVED_PART = 3  # exit code: UNKNOWN for the program, but the requested range is proved
NOT_COMPILED = "did not compile"
NOTHING_CHECKED = re.compile(r"^warning: nothing was checked: (.*)$", re.MULTILINE)
NO_ENTRY = "no function to start with"
# Exit codes without a verdict that are not crashes, and their reasons.
REFUSALS = {
    64: "wrong command line", 65: "malformed input", 66: "unreadable input", 69: "clang is missing", 73: "an output cannot be written",
}
EXITS = {"TRUE": (0,), "FALSE": (1,), "UNKNOWN": (2, PROVED_PART)}


def of_proviso(outcome):
    """Returns (verdict, reason). Without a verdict, the verdict is empty and the reason states why."""
    if outcome.killed:
        return "", outcome.killed
    if outcome.signal:
        return "", f"crash: signal {outcome.signal}"
    lines = outcome.stdout.splitlines()
    verdict = lines[-1].strip() if lines else ""
    if not LINE.match(verdict) and outcome.exit in REFUSALS:
        return "", refusal(outcome)
    if not LINE.match(verdict):
        kind = "crash" if outcome.exit == 101 or "panicked at" in outcome.stderr else "no verdict"
        return "", f"{kind}: exit {outcome.exit}"
    word = re.match("[A-Z]+", verdict)[0]
    if outcome.exit not in EXITS[word]:
        return "", f"crash: {verdict} but exit {outcome.exit}"
    return verdict, verdict[8:-1] if word == "UNKNOWN" else ""


def nothing_checked(outcome):
    """Returns why a proof by proviso says nothing about the program, or the empty string."""
    warning = NOTHING_CHECKED.search(outcome.stderr)
    return warning[1] if warning else ""


def refusal(outcome):
    """Returns the reason why proviso did not start the verification, with the first error of clang if there is one."""
    kind = REFUSALS[outcome.exit]
    if "clang cannot compile" in outcome.stderr:
        kind = NOT_COMPILED
    if "defines no function" in outcome.stderr:
        kind = NO_ENTRY
    return f"{kind}: {first_line(outcome.stderr)}"


def first_line(text):
    """Returns the first error of the compiler in a text, else its first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    of_compiler = [line for line in lines if re.search(r":\d+: (fatal )?error: ", line)]
    return next(iter(of_compiler + lines), "no message").removeprefix("error: ")


def of_tool(outcome, true_pattern, false_pattern, property):
    """Returns (verdict, reason) of another verifier, by patterns for lines of its output."""
    if outcome.killed:
        return "", outcome.killed
    text = outcome.stdout + "\n" + outcome.stderr
    if re.search(false_pattern, text, re.MULTILINE):
        return f"FALSE({property})", ""
    if re.search(true_pattern, text, re.MULTILINE):
        return "TRUE", ""
    if outcome.signal:
        return "", f"crash: signal {outcome.signal}"
    return "UNKNOWN", f"exit {outcome.exit}"


def judge(verdict, task, any_subproperty=False):
    """Returns the status of a verdict: a key of POINTS."""
    if not verdict:
        return "error"
    if verdict.startswith("UNKNOWN"):
        return "unknown"
    if task.expected not in ("true", "false"):
        return "unjudged"
    if verdict == "TRUE":
        return "correct-true" if task.expected == "true" else "wrong-true"
    if task.expected == "true":
        return "wrong-false"
    violated = verdict[len("FALSE(") : -1]
    right = task.subproperty or task.property
    if violated in (right, task.property) or any_subproperty:
        return "correct-false"
    # If the task does not name the violated part of valid-memsafety, any part (such as valid-deref) is correct.
    return "wrong-false" if task.subproperty or "memsafety" not in task.property else "correct-false"
