"""Creates tables in the layout of the papers from result files of `scripts/batch run`: the solved tasks within a limit of processor time."""

import json
import statistics


def file_of(out, name):
    return out / (name.replace(", ", "-") + ".jsonl")


def results(path):
    """Returns {task: (verdict, status, processor seconds, category)}. If a task has several lines, the last one counts."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {r["task"]: (r["verdict"], r["status"], r["cpu"], r["category"]) for r in rows if "task" in r}


def solved(found, limit, kind=""):
    """Returns the tasks with a correct verdict (`kind`: true, false) within the limit."""
    return {t for t, (_, status, cpu, _) in found.items() if status.startswith("correct-" + kind) and cpu <= limit}


def wrong(found, limit):
    return {t for t, (_, status, cpu, _) in found.items() if status.startswith("wrong") and cpu <= limit}


def row(name, cells):
    return f"| {name} | " + " | ".join(str(cell) for cell in cells) + " |"


def head(first, names):
    return row(first, names) + "\n|---|" + "--:|" * len(names)


def totals(title, names, known, limit):
    yield head(f"{title}, {limit:g} s", names)
    yield row("solved", [len(solved(known[n], limit)) for n in names])
    yield row("proofs", [len(solved(known[n], limit, "true")) for n in names])
    yield row("alarms", [len(solved(known[n], limit, "false")) for n in names])
    yield row("unlike the label", [len(wrong(known[n], limit)) for n in names])
    means = []
    for name in names:
        times = [known[name][t][2] for t in solved(known[name], limit)]
        means.append(f"{statistics.mean(times):.2f}" if times else "-")
    yield row("mean processor time of what it solves, s", means)
    everyone = set.intersection(*(solved(known[n], limit) for n in names))
    yield row(f"the same of the {len(everyone)} that all solve", [f"{sum(known[n][t][2] for t in everyone) / max(1, len(everyone)):.2f}" for n in names])
    of_first = {n: [known[n][t][2] / max(known[names[0]][t][2], 0.01) for t in everyone] for n in names}
    yield row("median of its ratio to the first", [f"{statistics.median(of_first[n]):.2f}" if everyone else "-" for n in names])


def differences(names, known, limit):
    yield head("the row solves, the column does not", names)
    for one in names:
        cells = []
        for other in names:
            gained = [f"{len(solved(known[one], limit, k) - solved(known[other], limit, k))}{k[0]}" for k in ("true", "false")]
            cells.append("-" if one == other else " ".join(gained))
        yield row(one, cells)


def categories(names, known, limit):
    tasks = {t: c for found in known.values() for t, (*_, c) in found.items()}
    yield head("by category (of all)", names)
    for category in sorted(set(tasks.values())):
        of_it = {t for t, c in tasks.items() if c == category}
        yield row(f"{category} ({len(of_it)})", [len(solved(known[n], limit) & of_it) for n in names])


def gains(title, compositions, known, limit):
    """Returns a row for each composition: the tasks that it solves, and those of them that its parts do not solve alone in the same time."""
    yield head(f"{title}, {limit:g} s", ["solved", "proofs", "alarms", "not by its parts", "by its parts, not by it", "unlike the label"])
    for name, parts in compositions.items():
        if name not in known or not all(p in known for p in parts):
            continue
        own, alone = solved(known[name], limit), set().union(*(solved(known[p], limit) for p in parts))
        counts = [len(own), len(solved(known[name], limit, "true")), len(solved(known[name], limit, "false"))]
        less = [len(own - alone), len(alone - own)] if parts != [name] else ["-", "-"]
        yield row(name, [*counts, *less, len(wrong(known[name], limit))])
