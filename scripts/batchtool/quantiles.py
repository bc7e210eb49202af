"""Compares several runs in a table and in a quantile plot of their correct results over time."""

import math

from .report import WRONG, solved as is_solved, table
from .results import score

COLOURS = ["#222222", "#c0392b", "#2471a3", "#1e8449", "#8e44ad", "#d68910", "#16a085", "#7f8c8d", "#b03a2e", "#5d6d7e"]


def correct(results):
    return [r for r in results.values() if is_solved(r)]


def side_by_side(runs):
    """Returns a table with the results of each run, and the number of tasks that it alone solved. `runs`: (name, results by task)."""
    common = set.intersection(*(set(results) for _, results in runs))
    rows = []
    for name, results in runs:
        mine = {k: r for k, r in results.items() if k in common}
        solved = {k for k, r in mine.items() if is_solved(r)}
        others = set().union(*({k for k, r in other.items() if is_solved(r)} for n, other in runs if n != name))
        both = [mine[k]["cpu"] for k in solved & others]
        rows.append([
            name,
            sum(mine[k]["verdict"] == "TRUE" for k in solved),
            sum(mine[k]["verdict"] != "TRUE" for k in solved),
            len(solved),
            sum(r["status"] in WRONG for r in mine.values()),
            len(solved - others),
            score(mine.values()),
            f"{sum(mine[k]['cpu'] for k in solved):.0f}",
            f"{sum(both) / len(both):.2f}" if both else "-",
        ])
    union = set().union(*({k for k, r in results.items() if is_solved(r)} for _, results in runs)) & common
    header = ["run", "TRUE", "FALSE", "solved", "wrong", "alone", "score", "cpu/s of solved", "mean cpu/s"]
    return f"{table(header, rows)}\n\n{len(common)} tasks; solved by any: {len(union)}"


def capabilities(runs):
    """Returns a table of the tasks that the run of a row solves and the run of a column does not: safe (t) and unsafe (f)."""
    rows = []
    for name, results in runs:
        row = [name]
        for other_name, other in runs:
            both = [k for k in results if k in other]
            mine = [k for k in both if is_solved(results[k]) and not is_solved(other[k])]
            safe = sum(results[k]["verdict"] == "TRUE" for k in mine)
            row.append("-" if name == other_name else f"{safe}t {len(mine) - safe}f")
        rows.append(row)
    return table(["solves, unlike", *(name for name, _ in runs)], rows)


def by_category(runs):
    """Returns a table of the solved tasks and of the processor time of all tasks, by category."""
    common = set.intersection(*(set(results) for _, results in runs))
    categories = sorted({results[k]["category"] for _, results in runs for k in common})
    rows = []
    for category in [*categories, "all"]:
        keys = [k for k in common if category == "all" or runs[0][1][k]["category"] == category]
        row = [category, len(keys)]
        for _, results in runs:
            solved = sum(is_solved(results[k]) for k in keys)
            row.append(f"{solved} ({sum(results[k]['cpu'] for k in keys):.0f} s)")
        rows.append(row)
    return table(["category", "tasks", *(name for name, _ in runs)], rows)


def plot(runs):
    """Returns a quantile plot (SVG): the n-th fastest correct result of each run over n, with a logarithmic time axis. It includes
    the tasks that all runs have."""
    # The legend on the right has room for the longest name.
    right = max(190, 60 + 7 * max(len(f"{name} (000)") for name, _ in runs))
    width, height, left, top, bottom = 630 + right, 480, 70, 40, 60
    common = set.intersection(*(set(results) for _, results in runs))
    runs = [(name, {k: r for k, r in results.items() if k in common}) for name, results in runs]
    series = [(name, sorted(max(r["cpu"], 0.01) for r in correct(results))) for name, results in runs]
    # Further lines repeat the colours and are dashed.
    dash = lambda i: ' stroke-dasharray="5 3"' if i >= len(COLOURS) else ""  # noqa: E731
    most = max((len(times) for _, times in series), default=0) or 1
    slowest = max((times[-1] for _, times in series if times), default=1)
    low, high = -2, max(1, math.ceil(math.log10(slowest)))

    def place(n, time):
        across = n / most * (width - left - right)
        up = (math.log10(time) - low) / (high - low) * (height - top - bottom)
        return left + across, height - bottom - up

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for e in range(low, high + 1):
        x, y = place(0, 10.0**e)
        out.append(f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{width - right}" y2="{y:.1f}" stroke="#dddddd"/>')
        out.append(f'<text x="{x - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">{10.0**e:g} s</text>')
    step = 10 ** max(0, math.floor(math.log10(most)))
    step = step // 2 if most < 3 * step and step > 1 else step
    for n in range(0, most + 1, step):
        x, y = place(n, 10.0**low)
        out.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{y:.1f}" stroke="#eeeeee"/>')
        out.append(f'<text x="{x:.1f}" y="{y + 18:.1f}" text-anchor="middle">{n}</text>')
    middle = (left + width - right) / 2
    out.append(f'<text x="{middle}" y="{height - 14}" text-anchor="middle">tasks solved correctly, each within the CPU time</text>')
    for i, (name, times) in sorted(enumerate(series), key=lambda s: -len(s[1][1])):
        colour = COLOURS[i % len(COLOURS)]
        points = " ".join("{:.1f},{:.1f}".format(*place(n, t)) for n, t in enumerate(times, 1))
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.6"{dash(i)}/>')
    for row, (i, (name, times)) in enumerate(sorted(enumerate(series), key=lambda s: -len(s[1][1]))):
        y = top + 16 + 20 * row
        colour, x = COLOURS[i % len(COLOURS)], width - right
        out.append(f'<line x1="{x + 10}" y1="{y - 4}" x2="{x + 32}" y2="{y - 4}" stroke="{colour}" stroke-width="2"{dash(i)}/>')
        out.append(f'<text x="{x + 38}" y="{y}" fill="{colour}">{name} ({len(times)})</text>')
    return "\n".join(out + ["</svg>", ""])
