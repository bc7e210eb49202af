"""Writes runs as an HTML page with tables, plots and filters. The file is self-contained and needs no network."""

import json
from pathlib import Path

from .report import kind, place
from .verdict import POINTS

FOLDER = Path(__file__).parent
# Short names for kinds of results on the page. Kinds that are not listed keep their names.
NAMES = {"did not compile": "error", "no verdict": "error", "crashed": "crash"}
STEPS = 60  # maximal number of steps of a trace; of a longer trace, the page shows the first and the last steps


def of(runs):
    """Returns the page. `runs`: (name, results by task)."""
    data = [{"name": name, "results": [row(r) for r in results.values()]} for name, results in runs]
    text = json.dumps({"runs": data, "points": POINTS}, ensure_ascii=False, separators=(",", ":"))
    # Text such as `</script>` in names must not end the script.
    text = text.replace("<", "\\u003c")
    page = (FOLDER / "page.html").read_text(encoding="utf-8")
    for mark, content in (("STYLE", (FOLDER / "page.css").read_text()), ("SCRIPT", (FOLDER / "page.js").read_text()), ("DATA", text)):
        before, _, after = page.partition(f"/*{mark}*/")
        page = before + content + after
    return page


def row(result):
    return {
        "task": result["task"],
        "property": result["property"],
        "category": result["category"],
        "expected": result["expected"],
        "verdict": result["verdict"] or "none",
        "reason": result["reason"] or result.get("nothing_checked", ""),
        "status": result["status"],
        "kind": NAMES.get(kind(result), kind(result)),
        "cpu": result["cpu"],
        "wall": result["wall"],
        "memory": result["rss_mb"],
        "findings": [finding_of(finding) for finding in result.get("findings", [])],
    }


def finding_of(finding):
    """Returns the data of a SARIF result for the page: its location, its message, and the steps of its trace."""
    flows = finding.get("codeFlows") or [{"threadFlows": [{"locations": []}]}]
    steps = [step_of(step["location"]) for step in flows[0]["threadFlows"][0]["locations"]]
    left_out = len(steps) - STEPS
    if left_out > 0:
        steps = steps[: STEPS // 3] + [["", f"... {left_out} steps are left out here"]] + steps[STEPS // 3 + left_out :]
    return {"place": place(finding).removesuffix(": "), "text": finding["message"]["text"], "rule": finding.get("ruleId", ""), "steps": steps}


def step_of(location):
    return [place({"locations": [location]}).removesuffix(": "), location.get("message", {}).get("text", "")]
