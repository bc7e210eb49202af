"""Wrong versions of witnesses, and weaker ones.

Each mutant has a kind, which says what a validator owes it:

  negated    an invariant that holds, negated: wrong where its loop is reached at all
  shifted    an equality of an invariant that holds, of another number: as wrong
  moved      a target on a line without the error: wrong
  misplaced  another waypoint on a line without code: wrong
  narrowed   a bound by one tighter, or one of the alternatives less: wrong unless the invariant was loose
  weakened   what an invariant implies, in its place: it holds, so that it does not must not be said
"""

import random
import re
from collections import Counter

import yaml

WRONG = ("negated", "shifted", "moved", "misplaced")
NAME = r"[A-Za-z_][\w.\[\]>-]*"
COMPARISONS = [
    ("shifted", re.compile(rf"{NAME} == \(?(-?\d+)\)?U?L*"), 1),
    ("narrowed", re.compile(rf"\(?(-?\d+)\)?U?L* <= {NAME}"), 1),
    ("narrowed", re.compile(rf"{NAME} <= \(?(-?\d+)\)?U?L*"), -1),
]


def mutants(text, task, count):
    """Up to `count` mutants of a witness, as (kind, what it says instead, text)."""
    dice = random.Random(task.name)
    found = list(of_graphml(text, task, dice, count) if text.lstrip().startswith("<") else of_yaml(text, task, dice, count))
    dice.shuffle(found)
    # Of each kind as many as of another, as far as there are.
    of_kind = Counter()
    ranked = []
    for mutant in found:
        ranked.append((of_kind[mutant[0]], mutant))
        of_kind[mutant[0]] += 1
    return [mutant for _, mutant in sorted(ranked, key=lambda r: r[0])[:count]]


def of_graphml(text, task, dice, count):
    for match in re.finditer(r'(<data key="invariant">)(.*?)(</data>)', text):
        yield "negated", match[2], text[: match.start(2)] + f"!({match[2]})" + text[match.end(2) :]
    # The lines of the last step.
    last = text.rfind("<edge ")
    if "violation_witness" in text:
        for number in quiet_lines(task, dice, count):
            yield "moved", f"line {number}", text[:last] + re.sub(r'(<data key="(?:start|end)line">)\d+', rf"\g<1>{number}", text[last:])


def of_yaml(text, task, dice, count):
    def changed(change):
        document = yaml.safe_load(text)
        change(document[0]["content"])
        return yaml.safe_dump(document, sort_keys=False)

    content = yaml.safe_load(text)[0]["content"]
    if content and "segment" in content[0]:
        code = source(task)
        for line in quiet_lines(task, dice, count):
            place = {"line": line, "column": len(code[line - 1]) - len(code[line - 1].lstrip()) + 1}
            yield "moved", f"line {line}", changed(lambda c: c[-1]["segment"][-1]["waypoint"]["location"].update(place))
        empty = lines_without_code(task)
        if len(content) > 1 and empty:
            for _ in range(count):
                index, line = dice.randrange(len(content) - 1), dice.choice(empty)
                yield "misplaced", f"segment {index}, line {line}", changed(lambda c: c[index]["segment"][-1]["waypoint"]["location"].update(line=line))
        return
    for index, entry in enumerate(content):
        value = entry["invariant"]["value"]
        if "\\result" in value:
            continue
        for kind, mutant in of_invariant(value, dice):
            yield kind, mutant, changed(lambda c: c[index]["invariant"].update(value=mutant))


def of_invariant(value, dice):
    """Mutants of an invariant, as (kind, expression)."""
    yield "negated", f"!({value})"
    conjuncts, alternatives = parts(value, "&&"), parts(value, "||")
    if len(conjuncts) > 1 and len(alternatives) == 1:
        without = conjuncts[:]
        chosen = without.pop(dice.randrange(len(conjuncts)))
        yield "weakened", joined("&&", without)
        for kind, mutant in of_comparison(chosen):
            yield kind, joined("&&", [*without, mutant])
    elif len(alternatives) > 1 and len(conjuncts) == 1:
        without = alternatives[:]
        without.pop(dice.randrange(len(alternatives)))
        yield "narrowed", joined("||", without)
    elif len(alternatives) == len(conjuncts) == 1:
        for kind, mutant in of_comparison(value):
            yield kind, mutant
            yield "weakened", f"({value}) || ({mutant})"


def of_comparison(value):
    """A comparison with a constant, with another constant."""
    for kind, pattern, step in COMPARISONS:
        if match := pattern.fullmatch(value):
            yield kind, f"{value[: match.start(1)]}{int(match[1]) + step}{value[match.end(1) :]}"


def joined(operator, conditions):
    return f" {operator} ".join(f"({c})" for c in conditions)


def parts(value, operator):
    """What `&&` or `||` joins, without parentheses around it."""
    found, depth, start = [], 0, 0
    for at, c in enumerate(value):
        depth += (c == "(") - (c == ")")
        if depth == 0 and value[at : at + 2] == operator:
            found.append(value[start:at])
            start = at + 2
    return [bare(part) for part in [*found, value[start:]]]


def bare(value):
    value = value.strip()
    while value.startswith("(") and closing(value) == len(value) - 1:
        value = value[1:-1].strip()
    return value


def closing(value):
    """Where the parenthesis is closed that the value starts with."""
    depth = 0
    for at, c in enumerate(value):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return at
    return len(value)


def quiet_lines(task, dice, count):
    """Lines without the error, by chance."""
    # Of assertions and error functions every line without their names is one without the error.
    loud = re.compile("[Ee]rror|ERROR|assert|abort|" + re.escape(task.error_function or "assert"))
    empty = set(lines_without_code(task))
    quiet = [
        n for n, code in enumerate(source(task), 1)
        if n in empty or task.property == "unreach-call" and not loud.search(code)
    ]
    return dice.sample(quiet, min(count, len(quiet)))


def lines_without_code(task):
    return [n for n, code in enumerate(source(task), 1) if code.strip() in ("}", "", "{")]


def source(task):
    return task.files[0].read_text(errors="replace").splitlines()
