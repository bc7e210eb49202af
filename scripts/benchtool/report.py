"""Tables for a person: a run summed up, two runs compared."""

import math
import re
from collections import Counter, defaultdict

from .results import best_score, score

CORRECT = ("correct-true", "correct-false")
WRONG = ("wrong-true", "wrong-false")


def table(header, rows):
    """Columns: text (the first, and one named "such as") to the left, numbers to the right."""
    cells = [header] + [[str(c) for c in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    left = [i == 0 or name == "such as" for i, name in enumerate(header)]
    lines = []
    for row in cells:
        padded = [c.ljust(w) if l else c.rjust(w) for c, w, l in zip(row, widths, left)]
        lines.append("  ".join(padded).rstrip())
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join(lines)


def counts(name, results):
    status = Counter(r["status"] for r in results)
    return [
        name,
        len(results),
        status["correct-true"],
        status["correct-false"],
        status["wrong-true"],
        status["wrong-false"],
        status["unknown"] + status["unjudged"],
        status["error"],
        score(results),
        best_score(results),
        f"{sum(r['cpu'] for r in results):.0f}",
    ]


COLUMNS = "tasks TRUE FALSE wrongT wrongF unknown error score of cpu/s".split()


def by(results, field):
    groups = defaultdict(list)
    for result in results:
        groups[result[field]].append(result)
    return sorted(groups.items())


def reason_group(reason):
    """The reason without what differs from task to task: what follows a colon, names, numbers."""
    if reason.startswith(("crash", "no verdict")):
        return reason
    group = re.sub(r"\d+", "N", re.sub(r"'[^']*'|`[^`]*`|\"[^\"]*\"", "…", reason))
    return group.partition(": ")[0]


def summary(results):
    """The whole report of a run."""
    results = list(results)
    parts = []
    for property, group in by(results, "property"):
        rows = [counts(name, members) for name, members in by(group, "category")]
        if len(rows) > 1:
            rows.append(counts("all", group))
        parts.append(table([property] + COLUMNS, rows))
    if len(by(results, "property")) > 1:
        rows = [counts(name, members) for name, members in by(results, "property")]
        parts.append(table(["property"] + COLUMNS, rows + [counts("all", results)]))

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
        for r in crashes:
            lines.append(f"  {r['task']} {r['property']}: {r['reason']}")
            lines += [f"      {line}" for line in r.get("tail", "").strip().splitlines()[-3:]]
        parts.append("\n".join(lines))

    wrong = [r for r in results if r["status"] in WRONG]
    if wrong:
        lines = [f"WRONG: {len(wrong)}"]
        lines += [f"  {r['task']} {r['property']}: {r['verdict']}, expected {r['expected']}"
                  + (f" ({r['subproperty']})" if r.get("subproperty") else "") for r in wrong]
        parts.append("\n".join(lines))

    status = Counter(r["status"] for r in results)
    solved = sum(status[s] for s in CORRECT)
    parts.append(
        f"solved {solved} of {len(results)} "
        f"({status['correct-true']} TRUE, {status['correct-false']} FALSE), "
        f"wrong {len(wrong)}, unknown {status['unknown']}, no verdict {status['error']} "
        f"({len(crashes)} crashed); score {score(results)} of {best_score(results)}; "
        f"wall {sum(r['wall'] for r in results):.0f} s, cpu {sum(r['cpu'] for r in results):.0f} s, "
        f"most memory {max((r['rss_mb'] for r in results), default=0):.0f} MB"
    )
    return "\n\n".join(parts)


def is_crash(result):
    return result["status"] == "error" and result["reason"].startswith(("crash", "no verdict"))


def ratio(pairs, field):
    """The geometric mean of new/old over what both solved in a measurable time, and how many."""
    logs = [
        math.log(max(b[field], 0.01) / max(a[field], 0.01))
        for a, b in pairs
        if max(a[field], b[field]) >= 0.1
    ]
    return (math.exp(sum(logs) / len(logs)) if logs else 1.0), len(logs)


def comparison(old, new):
    """(text, how many verdicts became wrong)."""
    common = sorted(old.keys() & new.keys())
    pairs = {key: (old[key], new[key]) for key in common}

    def pick(condition):
        return [key for key in common if condition(*(r["status"] for r in pairs[key]))]

    sections = [
        ("newly wrong", pick(lambda a, b: b in WRONG and a not in WRONG)),
        ("no longer wrong", pick(lambda a, b: a in WRONG and b not in WRONG)),
        ("lost", pick(lambda a, b: a in CORRECT and b not in CORRECT)),
        ("gained", pick(lambda a, b: b in CORRECT and a not in CORRECT)),
    ]
    parts = []
    for title, keys in sections:
        lines = [f"{title}: {len(keys)}"]
        for key in keys:
            a, b = pairs[key]
            lines.append(f"  {key[0]} {key[1]}: {said(a)} -> {said(b)}  ({b['wall']:.1f} s)")
        parts.append("\n".join(lines))

    both = [pairs[key] for key in common if all(r["status"] in CORRECT for r in pairs[key])]
    rows = []
    for name, side in (("old", 0), ("new", 1)):
        row = counts(name, [p[side] for p in pairs.values()])
        rows.append(row)
    parts.append(table(["in both runs"] + COLUMNS, rows))
    wall, measured = ratio(both, "wall")
    cpu, _ = ratio(both, "cpu")
    parts.append(
        f"solved in both: {len(both)}; new/old time over {measured} of them "
        f"(geometric mean): wall {wall:.2f}, cpu {cpu:.2f}; "
        f"in all: wall {sum(b['wall'] for _, b in both):.1f} s, was {sum(a['wall'] for a, _ in both):.1f} s"
    )
    slower = [(b["wall"] - a["wall"], a, b) for a, b in both]
    slower = [s for s in sorted(slower, key=lambda s: -s[0]) if s[0] > 1 and s[2]["wall"] > 1.5 * s[1]["wall"]]
    if slower:
        lines = ["slowed down most:"]
        lines += [f"  {b['task']} {b['property']}: {a['wall']:.1f} -> {b['wall']:.1f} s" for _, a, b in slower[:10]]
        parts.append("\n".join(lines))
    for name, keys in (("old", old.keys() - new.keys()), ("new", new.keys() - old.keys())):
        if keys:
            parts.append(f"only in the {name} run: {len(keys)}")
    return "\n\n".join(parts), len(sections[0][1])


def said(result):
    if result["verdict"]:
        return result["verdict"]
    return f"none ({result['reason']})"
