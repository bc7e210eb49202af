"""Runs as one page for a browser: tables, plots and filters. Everything is in the file; no network."""

import json
from pathlib import Path

from .report import CORRECT, WRONG, is_crash, place
from .verdict import POINTS

FOLDER = Path(__file__).parent


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
    kind = (
        "correct" if result["status"] in CORRECT
        else "wrong" if result["status"] in WRONG
        else "unlabelled" if result["status"] == "unjudged"
        else "crash" if is_crash(result)
        else result["status"]
    )
    return {
        "task": result["task"],
        "property": result["property"],
        "category": result["category"],
        "expected": result["expected"],
        "verdict": result["verdict"] or "none",
        "reason": result["reason"],
        "status": result["status"],
        "kind": kind,
        "cpu": result["cpu"],
        "wall": result["wall"],
        "memory": result["rss_mb"],
        "findings": [place(finding) + finding["message"]["text"] for finding in result.get("findings", [])],
    }
