"""Creates mutants of witnesses: wrong ones and weaker ones.

Each mutant has a kind, which determines the correct answer of a validator:

  negated    the negation of an invariant: wrong if its loop is reached
  shifted    an equality of an invariant with another number: wrong if its loop is reached
  moved      the target moved to a line without the error: wrong
  misplaced  another waypoint moved to a line without code: wrong
  narrowed   a bound tightened by one, or an alternative removed: wrong unless the invariant was not tight
  weakened   a formula that the invariant implies: it holds, so it must not be reported as violated
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
    """Returns up to `count` mutants of a witness, as (kind, the changed part, text)."""
    dice = random.Random(task.name)
    found = list(of_graphml(text, task, dice, count) if text.lstrip().startswith("<") else of_yaml(text, task, dice, count))
    dice.shuffle(found)
    # All kinds have the same number of mutants, if possible.
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
    """Returns the mutants of an invariant, as (kind, expression)."""
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
    """Replaces the constant in a comparison with another one."""
    for kind, pattern, step in COMPARISONS:
        if match := pattern.fullmatch(value):
            yield kind, f"{value[: match.start(1)]}{int(match[1]) + step}{value[match.end(1) :]}"


def joined(operator, conditions):
    return f" {operator} ".join(f"({c})" for c in conditions)


def parts(value, operator):
    """Splits an expression at `&&` or `||`, and removes outer parentheses."""
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
    """Returns the position of the parenthesis that closes the first one."""
    depth = 0
    for at, c in enumerate(value):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return at
    return len(value)


def quiet_lines(task, dice, count):
    """Returns random lines without the error."""
    # For assertions and error functions, these are the lines without their names.
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
