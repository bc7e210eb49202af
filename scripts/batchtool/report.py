"""Tables for users: the summary of a run, and the comparison of two runs."""

import math
import re
from collections import Counter, defaultdict
from urllib.parse import unquote

from .results import best_score, normalised_score, score
from .verdict import NO_ENTRY, NOT_COMPILED, REFUSALS

CORRECT = ("correct-true", "correct-false")
WRONG = ("wrong-true", "wrong-false")
SOLVED = (*CORRECT, "unjudged")
# The kinds of results. `violated` and `proved` are verdicts of tasks without an expected verdict.
KINDS = ("correct", "wrong", "violated", "proved", "unknown", "did not compile", "no verdict", "crashed")

LISTED = 10  # the tasks that a list of the report names


def table(header, rows):
    """Formats a table. Columns with text (the first, and one named "such as") are aligned left, others right."""
    cells = [header] + [[str(c) for c in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    left = [i == 0 or name == "such as" for i, name in enumerate(header)]
    lines = []
    for row in cells:
        padded = [c.ljust(w) if l else c.rjust(w) for c, w, l in zip(row, widths, left)]
        lines.append("  ".join(padded).rstrip())
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join(lines)


def solved(result):
    """Returns whether the verdict is TRUE or FALSE and does not contradict the expected one."""
    return result["status"] in SOLVED


def kind(result):
    """Returns the kind of a result (one of KINDS)."""
    status = result["status"]
    if status in (*CORRECT, *WRONG):
        return status.partition("-")[0]
    if status == "unjudged":
        return "violated" if is_violation(result) else "proved"
    if status == "unknown":
        return status
    return "did not compile" if is_not_compiled(result) else "crashed" if is_crash(result) else "no verdict"


def counts(name, results):
    status = Counter(r["status"] for r in results)
    said = Counter(r["verdict"][:1] for r in results if solved(r))
    return [
        name,
        len(results),
        said["T"],
        said["F"],
        status["wrong-true"],
        status["wrong-false"],
        status["unknown"],
        status["error"],
        score(results),
        best_score(results),
        f"{sum(r['cpu'] for r in results):.0f}",
    ]


COLUMNS = "tasks TRUE FALSE wrongT wrongF unknown error score of cpu/s".split()
OF_LABELS = ("wrongT", "wrongF", "score", "of")


def verdicts(first, rows, results):
    """Formats rows of `counts` as a table. If no task has an expected verdict, the columns about expected verdicts are left out."""
    header = [first] + COLUMNS
    labelled = any(r["expected"] for r in results)
    keep = [i for i, name in enumerate(header) if labelled or name not in OF_LABELS]
    return table([header[i] for i in keep], [[row[i] for i in keep] for row in rows])


def by(results, field):
    groups = defaultdict(list)
    for result in results:
        groups[result[field]].append(result)
    return sorted(groups.items())


def reason_group(reason):
    """Returns a reason without the parts that differ from task to task: names, places, numbers, and the text after a colon."""
    if reason.startswith(("crash", "no verdict")):
        return reason
    group = re.sub(r"\d+", "N", re.sub(r"'[^']*'|`[^`]*`|\"[^\"]*\"|\S+:\d+:\d+", "…", reason))
    return group.partition(": ")[0]


def summary(results):
    """Returns the report of a run."""
    results = sorted(results, key=lambda r: (r["task"], r["property"]))
    parts = []
    for property, group in by(results, "property"):
        rows = [counts(name, members) for name, members in by(group, "category")]
        if len(rows) > 1:
            rows.append(counts("all", group))
        parts.append(verdicts(property, rows, group))
    if len(by(results, "property")) > 1:
        rows = [counts(name, members) for name, members in by(results, "property")]
        parts.append(verdicts("property", rows + [counts("all", results)], results))

    unsolved = [r for r in results if r["status"] in ("unknown", "error")]
    if unsolved:
        groups = defaultdict(list)
        for r in unsolved:
            groups[reason_group(r["reason"]) or "no reason given"].append(r)
        rows = [
            [
                name[:70],
                len(members),
                sum(m["expected"] == "true" for m in members),
                sum(m["expected"] == "false" for m in members),
                f"{sum(m['wall'] for m in members):.0f}",
                min(m["task"] for m in members),
            ]
            for name, members in sorted(groups.items(), key=lambda g: (-len(g[1]), g[0]))
        ]
        parts.append(table(["why not solved", "tasks", "true", "false", "wall/s", "such as"], rows))

    crashes = [r for r in results if is_crash(r)]
    if crashes:
        lines = [f"crashes: {len(crashes)}"]
        causes = defaultdict(list)
        for r in crashes:
            causes[r["reason"], *r.get("tail", "").strip().splitlines()[-3:]].append(r)
        for (reason, *tail), (first, *others) in causes.items():
            more = f", and {len(others)} more" if others else ""
            lines.append(f"  {first['task']} {first['property']}{more}: {reason}")
            lines += [f"      {line}" for line in tail]
        parts.append("\n".join(lines))

    not_compiled = [r for r in results if is_not_compiled(r)]
    if not_compiled:
        lines = [f"did not compile: {len(not_compiled)}"]
        lines += listed([f"  {r['task']}: {r['reason'].partition(': ')[2]}" for r in not_compiled])
        if any("file not found" in r["reason"] for r in not_compiled):
            lines.append("  help: compile as the project does: name its compile_commands.json instead of the files, or end the command with "
                         "-- -p BUILD, or with -- -I FOLDER")
        parts.append("\n".join(lines))

    if any(r["reason"].startswith(NO_ENTRY) for r in results):
        parts.append("help: a file without main is verified function by function: --entries all, or --entries NAME")

    if any(r["reason"] == "cpu time" for r in results):
        parts.append("help: --cpu-limit kills a run; with -- --cpu-limit SECONDS, proviso itself ends it and reports what it has found")

    wrong = [r for r in results if r["status"] in WRONG]
    if wrong:
        lines = [f"WRONG: {len(wrong)}"]
        lines += [f"  {r['task']} {r['property']}: {r['verdict']}, expected {r['expected']}"
                  + (f" ({r['subproperty']})" if r.get("subproperty") else "") for r in wrong]
        parts.append("\n".join(lines))

    vacuous = [r for r in results if r.get("nothing_checked")]
    if vacuous:
        lines = [f"TRUE because nothing was checked: {len(vacuous)}"]
        lines += listed([f"  {r['task']} {r['property']}: {r['nothing_checked']}" for r in vacuous])
        parts.append("\n".join(lines))

    violated = [r for r in results if is_violation(r)]
    if violated:
        lines = [f"violations: {len(violated)}" + conditional(violated)]
        for r in violated:
            lines.append(f"  {r['task']} {r['property']}: {r['verdict']}")
            lines += [f"      {place(finding)}{finding['message']['text']}" for finding in r.get("findings", [])]
        parts.append("\n".join(lines))

    status = Counter(r["status"] for r in results)
    _, _, true, false, *_ = counts("", results)
    score_of = f"score {score(results)} of {best_score(results)}, normalised {normalised_score(results):.0f}; " if best_score(results) else ""
    if any(r["expected"] for r in results):
        sum_of = f"solved {true + false} of {len(results)} ({true} TRUE, {false} FALSE), wrong {len(wrong)}"
    else:
        sum_of = f"violated {false}{conditional(violated)}, proved {true} of {len(results)}"
    without = {"did not compile": len(not_compiled), "crashed": len(crashes)}
    why = ", ".join(f"{n} {what}" for what, n in without.items() if n or what == "crashed")
    parts.append(
        f"{sum_of}, unknown {status['unknown']}, no verdict {status['error']} ({why}); {score_of}"
        f"wall {sum(r['wall'] for r in results):.0f} s, cpu {sum(r['cpu'] for r in results):.0f} s, "
        f"most memory {max((r['rss_mb'] for r in results), default=0):.0f} MB"
    )
    return "\n\n".join(parts)


def listed(lines):
    """Returns the first lines, and the number of the others."""
    others = len(lines) - LISTED
    return lines[:LISTED] + ([f"  and {others} more"] if others > 0 else [])


def is_violation(result):
    """Returns whether the verdict is FALSE for a task without an expected verdict."""
    return result["status"] == "unjudged" and result["verdict"].startswith("FALSE")


def precondition(finding):
    """Returns the precondition of the entry function that rules a SARIF result out, else None. There is one if the violation depends
    only on the assumption that callers may pass a short buffer."""
    return finding.get("properties", {}).get("precondition")


def is_conditional(result):
    """Returns whether all violations of a task depend on the assumption that callers may pass a short buffer."""
    findings = result.get("findings", [])
    return is_violation(result) and bool(findings) and all(map(precondition, findings))


def conditional(violated):
    """Returns how many of the violated tasks depend on the assumption that callers may pass a short buffer, in parentheses."""
    count = sum(map(is_conditional, violated))
    return f" ({count} with short buffers of callers)" if count else ""


def place(finding):
    """Returns the location of a SARIF result as `file:line: `."""
    for location in finding.get("locations", []):
        physical = location["physicalLocation"]
        file = unquote(physical["artifactLocation"]["uri"].removeprefix("file://"))
        return f"{file}:{physical['region']['startLine']}: "
    return ""


def is_crash(result):
    return result["status"] == "error" and result["reason"].startswith(("crash", "no verdict"))


def is_refused(result):
    """Returns whether proviso rejected the program or the command line."""
    return result["status"] == "error" and result["reason"].startswith((NOT_COMPILED, NO_ENTRY, *REFUSALS.values()))


def is_not_compiled(result):
    return result["status"] == "error" and result["reason"].startswith(NOT_COMPILED)


def ratio(pairs, field):
    """Returns the geometric mean of new/old over the pairs with a measurable time, and the number of these pairs."""
    logs = [
        math.log(max(b[field], 0.01) / max(a[field], 0.01))
        for a, b in pairs
        if max(a[field], b[field]) >= 0.1
    ]
    return (math.exp(sum(logs) / len(logs)) if logs else 1.0), len(logs)


def verdict_of(result):
    return result["verdict"].partition("(")[0]


# The kinds of regressions, the worst first: name, title, and a predicate over the two results of a task.
REGRESSIONS = [
    ("wrong", "newly wrong", lambda a, b: b["status"] in WRONG and a["status"] not in WRONG),
    ("violation", "newly violated", lambda a, b: is_violation(b) and not is_violation(a)),
    ("crash", "newly crashed", lambda a, b: is_crash(b) and not is_crash(a)),
    ("lost", "lost", lambda a, b: solved(a) and not solved(b) and b["status"] not in WRONG),
    ("slower", "slowed down", lambda a, b: solved(a) and solved(b) and b["wall"] > max(a["wall"] + 1, 1.5 * a["wall"])),
]
GAINS = [
    ("no longer wrong", lambda a, b: a["status"] in WRONG and b["status"] not in WRONG),
    ("no longer violated", lambda a, b: is_violation(a) and verdict_of(b) == "TRUE"),
    ("gained", lambda a, b: solved(b) and not solved(a) and a["status"] not in WRONG),
]


def regressions(old, new):
    """Returns the keys of tasks with a regression, by the name of its kind."""
    common = sorted(old.keys() & new.keys())
    return {name: [key for key in common if is_one(old[key], new[key])] for name, _, is_one in REGRESSIONS}


def comparison(old, new):
    """Returns a report of the changes between two runs, regressions first."""
    common = sorted(old.keys() & new.keys())
    pairs = {key: (old[key], new[key]) for key in common}
    found = regressions(old, new)
    sections = [(title, found[name]) for name, title, _ in REGRESSIONS]
    sections += [(title, [key for key in common if is_one(*pairs[key])]) for title, is_one in GAINS]
    parts = []
    for title, keys in sections:
        lines = [f"{title}: {len(keys)}"]
        if title == "slowed down":
            keys = sorted(keys, key=lambda key: pairs[key][0]["wall"] - pairs[key][1]["wall"])[:10]
        for key in keys:
            a, b = pairs[key]
            change = f"{said(a)} -> {said(b)}  ({b['wall']:.1f} s)" if said(a) != said(b) else f"{a['wall']:.1f} -> {b['wall']:.1f} s"
            lines.append(f"  {key[0]} {key[1]}: {change}")
        parts.append("\n".join(lines))

    both = [pairs[key] for key in common if all(map(solved, pairs[key]))]
    rows = [counts(name, [p[side] for p in pairs.values()]) for name, side in (("old", 0), ("new", 1))]
    parts.append(verdicts("in both runs", rows, [r for pair in pairs.values() for r in pair]))
    wall, measured = ratio(both, "wall")
    cpu, _ = ratio(both, "cpu")
    parts.append(
        f"solved in both: {len(both)}; new/old time over {measured} of them "
        f"(geometric mean): wall {wall:.2f}, cpu {cpu:.2f}; "
        f"in all: wall {sum(b['wall'] for _, b in both):.1f} s, was {sum(a['wall'] for a, _ in both):.1f} s"
    )
    for name, keys in (("old", old.keys() - new.keys()), ("new", new.keys() - old.keys())):
        if keys:
            parts.append(f"only in the {name} run: {len(keys)}")
    return "\n\n".join(parts)


def said(result):
    if result["verdict"]:
        return result["verdict"]
    return f"none ({result['reason']})"
