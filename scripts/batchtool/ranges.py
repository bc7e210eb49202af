"""Range splitting: the paths of a program are divided at test cases (`proviso split`), each range of paths is verified separately
(`proviso verify --range`), and the results are joined (Haltermann, Jakobs, Richter, Wehrheim: Parallel program analysis via range
splitting, FASE 2023, sections 3 and 4, Fig. 2).

Each path of a program lies between two neighbours in the sequence (no bound, first test case, ..., last test case, no bound), even
if the test cases are not in the order of the paths. Therefore, all paths are proved if each range is proved."""

from dataclasses import dataclass

from .tasks import TaskError
from .verdict import PROVED_PART


@dataclass(frozen=True)
class Step:
    """One run of the verifier: a task as a whole, the search for test cases at which to divide it, or a range of it."""

    task: object
    name: str = ""  # "" for the whole task, "split", or "range 1 of 3"
    by: str = ""  # the splitters
    bounds: tuple = ("", "")  # contents of test cases, "" for no bound
    analysis: str = ""  # "" for the analysis in the options

    @property
    def is_split(self):
        return self.name == "split"

    @property
    def is_range(self):
        return self.name.startswith("range")


@dataclass(frozen=True)
class Plan:
    """The value of --ranges: `SPLITTERS`, or `SPLITTERS: ANALYSIS | ANALYSIS`."""

    by: str
    analyses: tuple = ()  # one for each range, or empty
    under: str = ""  # a digest of the build, limits and options: only ranges with the same digest are joined

    @classmethod
    def parse(cls, text, under):
        by, colon, rest = text.partition(":")
        splitters = [name.strip() for name in by.split(",")]
        analyses = tuple(name.strip() for name in rest.split("|")) if colon else ()
        if not all(splitters) or not all(analyses):
            raise TaskError(f"--ranges {text}: expected SPLITTERS, or SPLITTERS: ANALYSIS | ANALYSIS")
        if analyses and len(analyses) != len(splitters) + 1:
            raise TaskError(f"--ranges {text}: {len(splitters)} splitters create {len(splitters) + 1} ranges, but there are {len(analyses)} analyses")
        return cls(",".join(splitters), analyses, under)

    def analysis(self, number):
        return self.analyses[number] if self.analyses else ""


class Divided:
    """A task that is divided into ranges, while it runs."""

    def __init__(self, task, plan, before):
        """`before`: the entries of its steps in the result file."""
        self.task, self.plan = task, plan
        self.done = {entry["step"]: entry for entry in before if entry["under"] == plan.under}
        self.results = {}  # the results of steps, by name
        self.ranges = []

    def start(self):
        """Returns (steps to run, the result of the task or None)."""
        return self.go_on([Step(self.task, "split", by=self.plan.by)])

    def put(self, step, result):
        """Receives the result of a step. Returns (more steps to run, the result of the task or None)."""
        self.results[step.name] = result
        if not step.is_range and not step.is_split:
            return [], result | self.summary()
        if step.is_split:
            return self.go_on(self.divide(result["bounds"]))
        if result["verdict"].startswith("FALSE") or all(other.name in self.results for other in self.ranges):
            return [], self.joined()
        return [], None

    def recorded(self, step, result):
        """Returns the entry of the result file for the result of a step."""
        return {"step": step.name, "under": self.plan.under} | result

    def go_on(self, steps):
        """Applies the results in the result file to these steps. Returns the same as `put`."""
        left = []
        for step in steps:
            if step.name not in self.done:
                left.append(step)
                continue
            more, result = self.put(step, self.done[step.name])
            if result:
                return [], result
            left += more
        return left, None

    def divide(self, tests):
        if not tests:
            # There is no test case, so the first analysis verifies the whole task (section 5.1).
            return [Step(self.task, analysis=self.plan.analysis(0))]
        bounds, number = ["", *tests, ""], len(tests) + 1
        self.ranges = [
            Step(self.task, f"range {i + 1} of {number}", bounds=(bounds[i], bounds[i + 1]), analysis=self.plan.analysis(i))
            for i in range(number)
        ]
        return self.ranges

    def joined(self):
        """Returns the joined result: FALSE if a range is FALSE, else the result of a range without a proof, else TRUE."""
        found = [self.results[step.name] for step in self.ranges if step.name in self.results]
        decisive = max(found, key=rank)
        result = {key: value for key, value in decisive.items() if key not in ("step", "under")} | self.summary()
        if all(map(is_proved, found)):
            result |= {"verdict": "TRUE", "reason": "", "exit": 0}
        return result

    def summary(self):
        """Returns the results of the ranges and the sums of resources. The ranges count as parallel, after the search for test cases."""
        first = self.results["split"]
        rest = [result for name, result in self.results.items() if name != "split"]
        return {
            "ranges": [
                {"range": step.name, "verdict": r["verdict"], "reason": r["reason"], "wall": r["wall"], "cpu": r["cpu"]}
                for step in self.ranges if (r := self.results.get(step.name))
            ],
            "wall": round(first["wall"] + max(r["wall"] for r in rest), 3),
            "cpu": round(sum(r["cpu"] for r in self.results.values()), 3),
            "rss_mb": max(r["rss_mb"] for r in self.results.values()),
        }


def is_proved(result):
    return result["exit"] == PROVED_PART or result["verdict"] == "TRUE"


def rank(result):
    if result["verdict"].startswith("FALSE"):
        return 3
    if not result["verdict"]:
        return 2
    return 0 if is_proved(result) else 1
