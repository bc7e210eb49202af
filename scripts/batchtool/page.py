"""Runs as one page for a browser: tables, plots and filters. Everything is in the file; no network."""

import json
from pathlib import Path

from .report import kind, place
from .verdict import POINTS

FOLDER = Path(__file__).parent
# What the page calls a kind of results where it is no single word.
NAMES = {"did not compile": "error", "no verdict": "error", "crashed": "crash"}
STEPS = 60  # of a trace: the first and the last of them where there are more


def of(runs):
    """The page of `runs`: (name, results by task)."""
    data = [{"name": name, "results": [row(r) for r in results.values()]} for name, results in runs]
    text = json.dumps({"runs": data, "points": POINTS}, ensure_ascii=False, separators=(",", ":"))
    # `</script>` and the like in names must not end the script.
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
        "reason": result["reason"],
        "status": result["status"],
        "kind": NAMES.get(kind(result), kind(result)),
        "cpu": result["cpu"],
        "wall": result["wall"],
        "memory": result["rss_mb"],
        "findings": [finding_of(finding) for finding in result.get("findings", [])],
    }


def finding_of(finding):
    """What the page shows of a SARIF result: where it is, its message, and the steps that lead there."""
    flows = finding.get("codeFlows") or [{"threadFlows": [{"locations": []}]}]
    steps = [step_of(step["location"]) for step in flows[0]["threadFlows"][0]["locations"]]
    left_out = len(steps) - STEPS
    if left_out > 0:
        steps = steps[: STEPS // 3] + [["", f"... {left_out} steps are left out here"]] + steps[STEPS // 3 + left_out :]
    return {"place": place(finding).removesuffix(": "), "text": finding["message"]["text"], "rule": finding.get("ruleId", ""), "steps": steps}


def step_of(location):
    return [place({"locations": [location]}).removesuffix(": "), location.get("message", {}).get("text", "")]
