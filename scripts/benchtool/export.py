"""Results in the formats of other tools: CSV, JUnit XML (continuous integration), BenchExec's result XML, which its
table-generator makes tables and plots of."""

import csv
import io
import xml.etree.ElementTree as ET

from .report import CORRECT, WRONG, by, said

COLUMNS = "task property category expected verdict status reason exit wall cpu rss_mb".split()


def to_csv(header, results):
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(results)
    return out.getvalue()


def to_junit(header, results):
    """A suite for each property and category. A wrong verdict is a failure, none at all an error; UNKNOWN is skipped."""
    root = ET.Element("testsuites", name=header.get("tool", "proviso"))
    for property, of_property in by(results, "property"):
        for category, members in by(of_property, "category"):
            suite = ET.SubElement(
                root,
                "testsuite",
                name=f"{property}.{category}",
                tests=str(len(members)),
                failures=str(sum(r["status"] in WRONG for r in members)),
                errors=str(sum(r["status"] == "error" for r in members)),
                skipped=str(sum(r["status"] in ("unknown", "unjudged") for r in members)),
                time=f"{sum(r['wall'] for r in members):.3f}",
            )
            for r in members:
                case = ET.SubElement(suite, "testcase", name=r["task"], classname=f"{property}.{category}", time=str(r["wall"]))
                if r["status"] in WRONG:
                    ET.SubElement(case, "failure", message=f"{r['verdict']}, expected {r['expected']}")
                elif r["status"] == "error":
                    ET.SubElement(case, "error", message=r["reason"]).text = printable(r.get("tail", ""))
                elif r["status"] not in CORRECT:
                    ET.SubElement(case, "skipped", message=printable(said(r)))
    return text_of(root)


def to_benchexec(header, results):
    """As `benchexec` writes for one run set. The category of a result says whether it is right."""
    categories = {"unknown": "unknown", "error": "error", "unjudged": "missing"}
    root = ET.Element(
        "result",
        tool=header.get("tool", "proviso").split()[0],
        toolmodule="benchexec.tools.proviso",
        version=header.get("build", ""),
        name="run",
        benchmarkname="proviso",
        displayName="proviso",
        timelimit=f"{header.get('timeout', 0):g}s",
        memlimit=f"{header.get('memory', 0)}MB",
        options=" ".join(header.get("options", [])),
        generator="scripts/bench",
    )
    columns = ET.SubElement(root, "columns")
    for title in ("status", "cputime", "walltime", "memory"):
        ET.SubElement(columns, "column", title=title)
    for r in results:
        run = ET.SubElement(root, "run", name=r["task"], files=f"[{r['task']}]", properties=r["property"])
        if r["expected"]:
            violated = f"({r['subproperty']})" if r.get("subproperty") else ""
            run.set("expectedVerdict", r["expected"] + violated)
        category = "correct" if r["status"] in CORRECT else "wrong" if r["status"] in WRONG else categories[r["status"]]
        status = r["verdict"] or r["reason"]
        if status.startswith(("TRUE", "FALSE")):
            status = status.replace("TRUE", "true").replace("FALSE", "false")
        elif status.startswith("UNKNOWN"):
            status = "TIMEOUT" if r["reason"].startswith("timeout") else "unknown"
        values = [
            ("category", category), ("status", printable(status)), ("cputime", f"{r['cpu']}s"),
            ("walltime", f"{r['wall']}s"), ("memory", f"{int(r['rss_mb'] * 1e6)}B"),
        ]
        for title, value in values:
            column = ET.SubElement(run, "column", title=title, value=value)
            if title == "category":
                column.set("hidden", "true")
    doctype = (
        "<!DOCTYPE result PUBLIC '+//IDN sosy-lab.org//DTD BenchExec result 3.0//EN' "
        "'https://www.sosy-lab.org/benchexec/result-3.0.dtd'>"
    )
    return text_of(root, doctype)


def printable(text):
    """Without the characters that XML cannot have."""
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)


def text_of(root, doctype=""):
    ET.indent(root)
    return "\n".join(filter(None, ["<?xml version='1.0' encoding='utf-8'?>", doctype, ET.tostring(root, encoding="unicode"), ""])) + "\n"


FORMATS = {"csv": to_csv, "junit": to_junit, "benchexec": to_benchexec}
