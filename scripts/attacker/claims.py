"""Creates assertions about a program. The native runs determine whether they hold."""

from dataclasses import dataclass

from .program import literal

MIN, MAX = -(1 << 63), (1 << 63) - 1


@dataclass
class Claim:
    condition: str
    holds: bool
    kind: str


def claims(program, runs, rng):
    """Returns a claim that holds and a claim that does not hold, if there are any."""
    seen = [run for run in runs if run.ends and run.reached]
    if not seen:
        return [Claim("0", True, "never reached")]
    made = []
    for _ in range(60):
        n = rng.randrange(len(program.results))
        make = rng.choice((interval, interval, hole, members, at_inputs, table, residue, related, linear, linear, bounded))
        claim = make(program, seen, n, rng)
        if claim is not None:
            condition, predicate = claim
            made.append(Claim(condition, all(predicate(run) for run in seen), make.__name__))
    chosen = []
    for wanted in (True, False):
        fitting = [claim for claim in made if claim.holds == wanted]
        if fitting:
            chosen.append(rng.choice(fitting))
    return chosen


def interval(program, seen, n, rng):
    values = [run.results[n] for run in seen]
    low, high = min(values), max(values)
    # The exact interval, or one that is off by one at one end.
    low += rng.choice((0, 0, 1))
    high -= rng.choice((0, 0, 1))
    r = f"out{n}"
    return f"{r} >= {literal(low)} && {r} <= {literal(high)}", lambda run: low <= run.results[n] <= high


def hole(program, seen, n, rng):
    """Claims that a value does not occur: one next to the values that do occur, or the rarest of these."""
    values = [run.results[n] for run in seen]
    occurring = sorted(set(values), key=lambda v: (values.count(v), v))
    value = rng.choice(occurring[:3])
    if rng.random() < 0.5:
        value += rng.choice((-1, 1))
        value = min(MAX, max(MIN, value))
    return f"out{n} != {literal(value)}", lambda run: run.results[n] != value


def members(program, seen, n, rng):
    values = sorted({run.results[n] for run in seen})
    if len(values) > 7:
        return None
    if rng.random() < 0.5 and len(values) > 1:
        values.remove(rng.choice(values))
    condition = " || ".join(f"out{n} == {literal(v)}" for v in values)
    return condition, lambda run: run.results[n] in values


def at_inputs(program, seen, n, rng):
    """Claims the result for one vector of inputs."""
    run = rng.choice(seen)
    if not run.inputs or "NAN" in run.inputs:
        return None
    value = run.results[n] + rng.choice((0, 0, 1))
    here = " && ".join(f"{i.name} == {v}" for i, v in zip(program.inputs, run.inputs, strict=True))
    # Two literals may be equal, such as 0.0 and -0.0.
    if any(i.kind in ("float", "double") for i in program.inputs):
        alike = [r for r in seen if all(same(a, b) for a, b in zip(r.inputs, run.inputs, strict=True))]
    else:
        alike = [r for r in seen if r.inputs == run.inputs]
    return f"!({here}) || out{n} == {literal(min(MAX, value))}", lambda r: r not in alike or r.results[n] == value


def same(a, b):
    """Returns whether two literals of an input compare equal. Zeros of different signs do."""
    zeros = {"0.0", "-0.0", "0.0f", "-0.0f"}
    return a == b or (a in zeros and b in zeros)


def table(program, seen, n, rng):
    """Claims the result for each value of an input that determines the result, possibly with one wrong value."""
    for i, given in enumerate(program.inputs):
        if given.kind in ("float", "double"):
            continue
        result = {}
        if len(given.values) < 2 or len(given.values) > 12:
            continue
        if all(result.setdefault(run.inputs[i], run.results[n]) == run.results[n] for run in seen):
            wrong = rng.choice(list(result)) if rng.random() < 0.5 else None
            expected = {v: r + (1 if v == wrong and r < MAX else 0) for v, r in result.items()}
            condition = " && ".join(f"({given.name} != {v} || out{n} == {literal(r)})" for v, r in expected.items())
            return condition, lambda run: expected[run.inputs[i]] == run.results[n]
    return None


def residue(program, seen, n, rng):
    m = rng.choice((2, 3, 4, 5, 7, 8, 16, 256))
    value = rng.choice(seen).results[n]

    def c_remainder(v):
        return abs(v) % m * (1 if v >= 0 else -1)

    rest = c_remainder(value)
    if rng.random() < 0.5:
        return f"out{n} % {m} == {literal(rest)}", lambda run: c_remainder(run.results[n]) == rest
    return f"out{n} % {m} != {literal(rest)}", lambda run: c_remainder(run.results[n]) != rest


def related(program, seen, n, rng):
    if len(program.results) < 2:
        return None
    m = rng.randrange(len(program.results))
    if m == n:
        return None
    operator, compare = rng.choice((
        ("<=", lambda a, b: a <= b), ("!=", lambda a, b: a != b), ("==", lambda a, b: a == b), (">", lambda a, b: a > b),
    ))  # fmt: skip
    return f"out{n} {operator} out{m}", lambda run: compare(run.results[n], run.results[m])


def integers(program):
    """Returns the indices of the inputs that are integers."""
    return [i for i, given in enumerate(program.inputs) if given.kind not in ("float", "double")]


def number(text):
    """Returns the value of a literal as a `long long`. None if it is not one, or is the least one."""
    try:
        value = int(text.strip("()UL"))
    except ValueError:
        return None
    signed = value - (1 << 64) if value >= 1 << 63 else value
    return signed if signed > -(1 << 63) else None


def linear(program, seen, n, rng):
    """Claims that a result is a sum of inputs and results. This holds in all runs, or in most of them."""
    given = integers(program)
    terms = [("i", i) for i in given] + [("r", m) for m in range(len(program.results)) if m != n]
    if not terms:
        return None
    chosen = [(term, rng.choice((-2, -1, 1, 1, 2))) for term in rng.sample(terms, min(len(terms), rng.choice((1, 1, 2))))]

    def rest(run):
        total = run.results[n]
        for (what, at), factor in chosen:
            value = number(run.inputs[at]) if what == "i" else run.results[at]
            if value is None:
                return None
            total -= factor * value
        return total

    constant = rest(rng.choice(seen))
    if constant is None or not -(1 << 40) < constant < 1 << 40:
        return None
    # A claim with more than a few exceptions would be refuted too easily.
    agreeing = sum(rest(run) == constant for run in seen)
    if agreeing * 10 < len(seen) * 7:
        return None
    text = [f"{factor} * (long long){program.inputs[at].name if what == 'i' else program.results[at]}" for (what, at), factor in chosen]
    return f"out{n} == {' + '.join(text)} + {literal(constant)}", lambda run: rest(run) == constant


def bounded(program, seen, n, rng):
    """Claims bounds on the difference between a result and an input: exact ones, or off by one."""
    given = integers(program)
    if not given:
        return None
    i = rng.choice(given)
    if any(number(run.inputs[i]) is None for run in seen):
        return None
    differences = [run.results[n] - number(run.inputs[i]) for run in seen]
    most = max(differences) - rng.choice((0, 0, 1))
    if not -(1 << 40) < most < 1 << 40 or min(differences) < -(1 << 63):
        return None
    return f"out{n} - (long long){program.inputs[i].name} <= {literal(most)}", lambda run: run.results[n] - number(run.inputs[i]) <= most


def place(claim, rng, program):
    """Returns headers, text for the top level, and statements that call the error if the claim fails. The form of the check varies."""
    c = f"!({claim.condition})"
    results = ", ".join(program.results)
    return rng.choice((
        lambda: ([], "", [f"if ({c})\n    reach_error();"]),
        lambda: ([], "", [f"if ({c})\n    reach_error();"]),
        lambda: (["assert.h"], "", [f"assert({claim.condition});"]),
        lambda: ([], "static void check(int holds) {\n    if (!holds)\n        reach_error();\n}", [f"check({claim.condition});"]),
        lambda: ([], "", [f"void (*report)(void) = reach_error;\nif ({c})\n    report();"]),
        lambda: ([], "", [f"for (int turn = 0; turn < 3; turn++)\n    if (turn == 2 && {c})\n        reach_error();"]),
        lambda: ([], "", [f"if ({c})\n    goto wrong;\nreturn 0;\nwrong:\nreach_error();"]),
        lambda: (
            ["stdlib.h"],
            "static int is_wrong;\nstatic void at_end(void) {\n    if (is_wrong)\n        reach_error();\n}",
            [f"is_wrong = {c};\natexit(at_end);"],
        ),
        lambda: (
            ["stdlib.h"],
            "static int is_wrong;\nstatic int order(const void *a, const void *b) {\n    if (is_wrong)\n        reach_error();\n"
            "    return *(const char *)a - *(const char *)b;\n}",
            [f"is_wrong = {c};\nchar two[2] = {{1, 0}};\nqsort(two, 2, 1, order);"],
        ),
        lambda: (
            [],
            f"static long long copy[{len(program.results)}];\nstatic int fails(void) {{\n"
            + "".join(f"    long long out{n} = copy[{n}];\n" for n in range(len(program.results)))
            + f"    return {c};\n}}",
            [f"long long all[] = {{{results}}};\nfor (int k = 0; k < {len(program.results)}; k++)\n    copy[k] = all[k];\n"
             "if (fails())\n    reach_error();"],
        ) if not any(i.name in claim.condition for i in program.inputs) else ([], "", [f"if ({c})\n    reach_error();"]),
    ))()  # fmt: skip
