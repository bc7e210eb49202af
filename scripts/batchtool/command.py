"""Runs a verifier on one task: the command line, the run, and the result."""

import hashlib
import json
import os
import shlex
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from . import runner, verdict

# The number of times that a task is run again after a process outside the batch killed it.
RETRIES = 2
SIGNALS_OF_OTHERS = (1, 2, 9, 15)

# The exit code of proviso if the command line is wrong, and that of the system if a library of proviso is missing.
USAGE, NOT_LOADED = 64, 127


@dataclass
class Tool:
    """A verifier with its options and limits: everything that a worker has to know besides the task."""

    proviso: str  # the path of proviso, unused if `template` is set
    build: str = ""  # a digest of the executable
    template: str = ""  # the command line of another verifier
    says_true: str = ""  # patterns of lines in the output of the other verifier
    says_false: str = ""
    options: list[str] = field(default_factory=list)
    timeout: float = 60  # seconds of wall time, passed to the verifier
    grace: float = 5  # seconds after the timeout until the verifier is killed
    cpu_limit: float | None = None
    memory: int = 4000  # MB, passed to the verifier, which is killed at 110 % of it
    cgroups: bool = False
    findings: bool = True  # whether violations are kept as SARIF
    cache: str = ""
    folder: str = ""  # the working folder

    def limits(self):
        memory = (self.memory << 20) * 11 // 10
        return runner.Limits(self.timeout + self.grace, self.cpu_limit, memory, self.cgroups)

    def command(self, step, scratch=None):
        """Returns the command line. Its output files go to the folder `scratch`."""
        if self.template:
            return self.of_template(step.task)
        if step.is_split:
            return [self.proviso, "split", "--by", step.by, "--output", scratch, *self.question(step)]
        command = [self.proviso, "verify"]
        if scratch and self.findings:
            command += ["--sarif", sarif_in(scratch)]
        if self.cache:
            command += ["--cache", self.cache]
        if step.is_range:
            command += ["--range", ",".join(bound_in(scratch, text) for text in step.bounds)]
        return command + self.question(step)

    def question(self, step):
        """Returns the part of the command line with the program, the property and the limits."""
        task, command = step.task, []
        if task.property != "default":
            known = task.property_file and Path(task.property_file).is_file()
            command += ["--property", str(task.property_file) if known else task.property]
        if task.error_function and task.property == "unreach-call":
            command += ["--error-function", task.error_function]
        if task.data_model:
            command += ["--data-model", task.data_model]
        command += ["--timeout", f"{self.timeout:g}", "--memory-limit", str(self.memory)]
        if step.analysis:
            command += ["--analysis", step.analysis]
        command += task.options + self.options + [str(f) for f in task.files]
        return command + (["--"] + task.cflags if task.cflags else [])

    def of_template(self, task):
        values = {
            "file": str(task.files[0]),
            "task": task.name,
            "property": task.property,
            "property_file": str(task.property_file),
            "data_model": task.data_model or "LP64",
            "bits": "32" if task.data_model == "ILP32" else "64",
            "error_function": task.error_function or "reach_error",
            "timeout": f"{self.timeout:g}",
            "memory": str(self.memory),
        }
        words = []
        for word in shlex.split(self.template):
            if word == "{files}":
                words += map(str, task.files)
                continue
            for name, value in values.items():
                word = word.replace("{" + name + "}", value)
            words.append(word)
        return words + self.options


def refusal(tool, properties, plan=None):
    """Returns the message with which proviso refuses the options, the ranges or a property of all tasks, or None. It is found on an
    empty program, so that a mistake on the command line does not become a failure of each task."""
    if tool.template:
        return None
    with tempfile.TemporaryDirectory(prefix="proviso-batch-") as scratch:
        program = Path(scratch) / "empty.c"
        program.write_text("int main(void) { return 0; }\n", encoding="utf-8")
        commands = []
        for name in sorted(properties) or ["default"]:
            asked = ["verify", *(["--property", name] if name != "default" else [])]
            commands += [[*asked, "--list-analyses", *tool.options], [*asked, "--timeout", "10", str(program)]]
        if plan:
            commands.append(["split", "--by", plan.by, str(program)])
            commands += [["verify", "--analysis", name, str(program)] for name in dict.fromkeys(plan.analyses)]
        for words in commands:
            outcome = runner.run([tool.proviso, *words], tool.limits(), None, tool.folder)
            if outcome.exit in (USAGE, NOT_LOADED):
                return outcome.stderr.strip().removeprefix("error: ")
    return None


def build_of(path):
    """Returns a digest of an executable, which identifies its build."""
    state = os.stat(path)
    return digest_of(path, state.st_mtime_ns, state.st_size)


@cache
def digest_of(path, *_):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def sarif_in(folder):
    return os.path.join(folder, "sarif")


def bound_in(folder, text):
    """Writes the test case of a bound to a file and returns its name, or `-` for no bound."""
    if not text:
        return "-"
    with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".xml", delete=False, encoding="utf-8") as file:
        file.write(text)
    return file.name


def run(step, tool, stop=None):
    """Runs a step and returns its result as an entry of the result file, or None if it was interrupted. A run that a process
    outside the batch killed is repeated."""
    with tempfile.TemporaryDirectory(prefix="proviso-batch-") as scratch:
        command = tool.command(step, scratch)
        folder = tool.folder if os.path.isdir(tool.folder) else None
        for attempt in range(RETRIES + 1):
            outcome = runner.run(command, tool.limits(), stop, folder)
            if outcome.killed == "interrupted":
                return None
            if not killed_by_others(outcome):
                break
        if step.is_split:
            return split_result(step, outcome, scratch)
        result = judged(step.task, tool, outcome)
        if attempt:
            result["attempts"] = attempt + 1
        if result["verdict"].startswith("FALSE"):
            result.update(findings_of(sarif_in(scratch)))
        return result


def split_result(step, outcome, folder):
    """Returns the test cases at which to divide the task. After a failure there are none: the task is then run as a whole, which
    reports the cause."""
    found = []
    if outcome.exit in (0, 2) and not outcome.killed:
        bounds = sorted(Path(folder).glob("bound-*.xml"), key=lambda path: int(path.stem.removeprefix("bound-")))
        found = [path.read_text(encoding="utf-8") for path in bounds]
    return {"task": step.task.name, "property": step.task.property, "bounds": found} | measured(outcome)


def measured(outcome):
    return {"wall": round(outcome.wall, 3), "cpu": round(outcome.cpu, 3), "rss_mb": round(outcome.rss / 1e6, 1)}


def killed_by_others(outcome):
    if outcome.killed:
        return False
    # proviso prints a verdict when it is interrupted by a signal.
    return outcome.signal in SIGNALS_OF_OTHERS or outcome.stdout.rstrip().rpartition("\n")[2].startswith("UNKNOWN(interrupted")


def judged(task, tool, outcome):
    if killed_by_others(outcome):
        said, reason = "", f"killed from outside {RETRIES + 1} times"
    elif tool.template:
        said, reason = verdict.of_tool(outcome, tool.says_true, tool.says_false, task.property)
    else:
        said, reason = verdict.of_proviso(outcome)
    result = {
        "task": task.name,
        "property": task.property,
        "category": task.category,
        "expected": task.expected,
        "subproperty": task.subproperty,
        "verdict": said,
        "status": verdict.judge(said, task, any_subproperty=bool(tool.template)),
        "reason": reason,
        "exit": outcome.exit if outcome.signal is None else -outcome.signal,
    } | measured(outcome)
    if said == "TRUE" and not tool.template and (why := verdict.nothing_checked(outcome)):
        result["nothing_checked"] = why
    if result["status"] == "error":
        result["tail"] = (outcome.stdout[-1000:] + "\n" + outcome.stderr[-3000:]).strip()
    return result


def lost(step, reason):
    """Returns the result of a step that no worker could finish."""
    nothing = runner.Outcome(None, None, reason, 0.0, 0.0, 0, "", "")
    if step.is_split:
        return split_result(step, nothing, "")
    return judged(step.task, Tool(""), nothing)


def findings_of(path):
    """Returns the violations in the SARIF file of proviso, and the description of proviso in it."""
    try:
        log = json.loads(Path(path).read_text(encoding="utf-8"))["runs"][0]
    except (OSError, ValueError, LookupError):
        return {}
    return {"findings": log.get("results", []), "driver": log["tool"]["driver"]}


