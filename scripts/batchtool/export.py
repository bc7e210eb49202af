"""Writes results in the formats of other tools: CSV, JUnit XML (continuous integration), SARIF (code hosts), and the result XML
of BenchExec, whose table-generator creates tables and plots."""

import csv
import io
import json
import xml.etree.ElementTree as ET
from pathlib import Path

from .report import CORRECT, WRONG, by, is_violation, place, precondition, said, solved
from .verdict import POINTS

# Prefixes of the reasons for a missing verdict, and the status of BenchExec for each.
LIMITS = {"timeout": "TIMEOUT", "cpu time": "TIMEOUT", "memory": "OUT OF MEMORY", "out of memory": "OUT OF MEMORY"}
COLUMNS = "task property category expected verdict status reason exit wall cpu rss_mb".split()


def to_csv(ledger, results):
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(results)
    return out.getvalue()


def to_junit(ledger, results):
    """Writes a test suite for each property and category. A wrong verdict, or a violation without an expected verdict, is a failure;
    a missing verdict is an error; UNKNOWN is a skipped test."""
    root = ET.Element("testsuites", name=ledger.header.get("tool", "proviso"))
    for property, of_property in by(results, "property"):
        for category, members in by(of_property, "category"):
            # Tasks in the working folder have the category ".".
            name = f"{property}.{category}" if category != "." else property
            suite = ET.SubElement(
                root,
                "testsuite",
                name=name,
                tests=str(len(members)),
                failures=str(sum(r["status"] in WRONG or is_violation(r) for r in members)),
                errors=str(sum(r["status"] == "error" for r in members)),
                skipped=str(sum(r["status"] == "unknown" for r in members)),
                time=f"{sum(r['wall'] for r in members):.3f}",
            )
            for r in members:
                case = ET.SubElement(suite, "testcase", name=r["task"], classname=name, time=str(r["wall"]))
                if r["status"] in WRONG:
                    ET.SubElement(case, "failure", message=f"{r['verdict']}, expected {r['expected']}")
                elif is_violation(r):
                    messages = [place(finding) + finding["message"]["text"] for finding in r.get("findings", [])]
                    ET.SubElement(case, "failure", message=r["verdict"]).text = printable("\n".join(messages))
                elif r["status"] == "error":
                    ET.SubElement(case, "error", message=r["reason"]).text = printable(r.get("tail", ""))
                elif not solved(r):
                    ET.SubElement(case, "skipped", message=printable(said(r)))
    return text_of(root)


def to_benchexec(ledger, results):
    """Writes results as `benchexec` does for one run set. The category of a result states whether it is correct."""
    header = ledger.header
    root = ET.Element(
        "result",
        tool=header.get("tool", "proviso").split()[0],
        toolmodule="tools_proviso.proviso",
        version=header.get("build") or "",
        date=header.get("date", ""),
        name=Path(ledger.path).stem,
        benchmarkname="proviso",
        displayName="proviso",
        timelimit=f"{header.get('timeout', 0):g}s",
        memlimit=f"{header.get('memory', 0)}MB",
        options=" ".join(header.get("options", [])),
        generator="scripts/batch",
    )
    if host := header.get("host"):
        info = ET.SubElement(root, "systeminfo", hostname=host["name"])
        ET.SubElement(info, "os", name=host["system"])
        ET.SubElement(info, "cpu", model=host["cpu"], cores=str(host["cores"]), frequency="")
        ET.SubElement(info, "ram", size=f"{host['memory'] << 20}B")
    columns = ET.SubElement(root, "columns")
    for title in ("status", "cputime", "walltime", "memory", "score"):
        ET.SubElement(columns, "column", title=title)
    for r in results:
        run = ET.SubElement(root, "run", name=r["task"], files=f"[{r['task']}]", properties=r["property"])
        if r["expected"]:
            violated = f"({r['subproperty']})" if r.get("subproperty") else ""
            run.set("expectedVerdict", r["expected"] + violated)
        category, status = of_benchexec(r)
        values = [
            ("category", category), ("status", printable(status)), ("cputime", f"{r['cpu']}s"),
            ("walltime", f"{r['wall']}s"), ("memory", f"{int(r['rss_mb'] * 1e6)}B"), ("score", str(POINTS[r["status"]])),
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


def of_benchexec(r):
    """Returns (category, status) as defined by BenchExec. Reaching a limit is an error, even if proviso itself reported it."""
    if r["verdict"].startswith(("TRUE", "FALSE")):
        category = "correct" if r["status"] in CORRECT else "wrong" if r["status"] in WRONG else "missing"
        return category, r["verdict"].replace("TRUE", "true").replace("FALSE", "false")
    for beginning, status in LIMITS.items():
        if r["reason"].startswith(beginning):
            return "error", status
    return ("unknown", "unknown") if r["verdict"] else ("error", r["reason"])


def to_sarif(ledger, results):
    """Writes all violations as one run. Violations with equal fingerprints, locations and rules, for example found from two entry
    functions, are written once."""
    findings = {}
    for r in results:
        for finding in r.get("findings", []):
            same = json.dumps([finding.get("partialFingerprints"), finding.get("locations"), finding.get("ruleId")], sort_keys=True)
            # A violation that needs no assumption about the caller from one entry function is one of the program.
            if same not in findings or not precondition(finding):
                findings[same] = finding
    failed = [r for r in results if not r["verdict"]]
    notes = [{"level": "error", "message": {"text": f"{r['task']} {r['property']}: {r['reason']}"}} for r in failed]
    run = {
        "tool": {"driver": ledger.driver or {"name": "Proviso", "rules": []}},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": not failed, "toolExecutionNotifications": notes}],
        "results": list(findings.values()),
    }
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def printable(text):
    """Replaces the characters that XML does not allow."""
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)


def text_of(root, doctype=""):
    ET.indent(root)
    return "\n".join(filter(None, ["<?xml version='1.0' encoding='utf-8'?>", doctype, ET.tostring(root, encoding="unicode"), ""])) + "\n"


FORMATS = {"csv": to_csv, "junit": to_junit, "benchexec": to_benchexec, "sarif": to_sarif}
