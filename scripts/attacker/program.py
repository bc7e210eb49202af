"""A C program under construction: inputs with small domains, statements, and results for assertions."""

import itertools
from dataclasses import dataclass

# The types of inputs as C spells them, by the name in `__VERIFIER_nondet_NAME`.
C_TYPE = {
    "bool": "_Bool", "char": "char", "schar": "signed char", "uchar": "unsigned char", "short": "short",
    "ushort": "unsigned short", "int": "int", "uint": "unsigned", "long": "long", "ulong": "unsigned long",
    "longlong": "long long", "ulonglong": "unsigned long long", "float": "float", "double": "double",
}
INTEGER_LIMITS = {
    "bool": (0, 1), "char": (-128, 127), "schar": (-128, 127), "uchar": (0, 255), "short": (-(1 << 15), (1 << 15) - 1),
    "ushort": (0, (1 << 16) - 1), "int": (-(1 << 31), (1 << 31) - 1), "uint": (0, (1 << 32) - 1),
    "long": (-(1 << 31), (1 << 31) - 1), "ulong": (0, (1 << 32) - 1),
    "longlong": (-(1 << 63), (1 << 63) - 1), "ulonglong": (0, (1 << 64) - 1),
}  # fmt: skip

# Runs of a program that the enumeration is allowed: each in a process of its own, or all in one.
VECTORS, PURE_VECTORS = 120, 70_000


def literal(value):
    """Returns an integer of at most 64 bits as a C expression of a type that can represent it."""
    if value == -(1 << 63):
        return "(-9223372036854775807LL - 1)"
    if value >= 1 << 63:
        return f"{value}ULL"
    if -(1 << 31) < value < 1 << 31:
        return str(value) if value >= 0 else f"({value})"
    return f"{value}LL" if value >= 0 else f"({value}LL)"


@dataclass
class Input:
    name: str
    kind: str  # as in `__VERIFIER_nondet_KIND`
    values: list  # C expressions
    condition: str  # what is assumed of it


class Program:
    """The program that the areas build. `top` adds text at the top level, `line` adds it to main, and `name` creates unique names."""

    def __init__(self, rng, bits):
        self.rng, self.bits = rng, bits
        self.includes, self.tops, self.lines = [], [], []
        self.inputs, self.results = [], []
        self.defined = True  # whether what is undefined in C rules the program out
        self.portable = True  # whether gcc has to agree with clang
        self.may_hang = False  # whether some inputs may lead into an endless loop
        self.pure = False  # whether nothing is left of a run, so that all can be in one process
        self._names = itertools.count()

    def copy(self):
        """Returns an independent copy."""
        other = Program(self.rng, self.bits)
        other.__dict__.update({k: list(v) if isinstance(v, list) else v for k, v in self.__dict__.items()})
        return other

    # Text.

    def name(self, prefix="v"):
        return f"{prefix}{next(self._names)}"

    def include(self, *headers):
        for header in headers:
            if header not in self.includes:
                self.includes.append(header)

    def top(self, text):
        self.tops.append(text.strip("\n"))

    def line(self, text):
        self.lines.append(text.strip("\n"))

    def result(self, expression):
        """Adds a result: a signed integer expression of at most 64 bits. Returns its name."""
        name = f"out{len(self.results)}"
        self.line(f"long long {name} = {expression};")
        self.results.append(name)
        return name

    # Inputs.

    def vectors(self):
        product = 1
        for i in self.inputs:
            product *= len(i.values)
        return product

    def room(self):
        """Returns the number of values that one more input may have."""
        return max(1, (PURE_VECTORS if self.pure else VECTORS) // self.vectors())

    def input(self, kind, values, condition=None):
        """Adds an input with these values (integers, or C expressions with a `condition` on `@`, the input). Drops some values if there
        would be too many runs. Returns its name."""
        values = list(dict.fromkeys(values))
        room = self.room()
        if len(values) > room:
            values = sorted(self.rng.sample(values, room), key=values.index)
            condition = None if isinstance(values[0], int) else condition
        name = self.name("in")
        if condition is None:
            condition = self._condition(values)
        if isinstance(values[0], int):
            values = [literal(v) for v in values]
        self.inputs.append(Input(name, kind, values, condition.replace("@", name)))
        return name

    def _condition(self, values):
        if not isinstance(values[0], int):
            return " || ".join("@ != @" if v == "NAN" else f"@ == {v}" for v in values)
        low, high = min(values), max(values)
        if len(values) > 2 and len(values) == high - low + 1:
            return f"@ >= {literal(low)} && @ <= {literal(high)}"
        return " || ".join(f"@ == {literal(v)}" for v in values)

    def integer(self, low, high, kind="int"):
        """Returns an expression with values from `low` to `high`: mostly a new input, else one over existing inputs and results."""
        rng = self.rng
        size = high - low + 1
        room = self.room() if not self.pure else min(self.room(), 40)
        old = [f"(unsigned long long){r}" for r in self.results] + [
            f"(unsigned long long){i.name}" for i in self.inputs if i.kind not in ("float", "double")
        ]
        if old and (room < 2 or rng.random() < 0.25):
            name = self.name("x")
            self.line(f"{C_TYPE[kind]} {name} = {low} + (long long)({rng.choice(old)} % {size});")
            return name
        if size <= min(room, 40):
            return self.input(kind, range(low, high + 1))
        edges = {low, low + 1, high - 1, high, 0, 1, -1} | {rng.randint(low, high) for _ in range(6)}
        values = sorted(v for v in edges if low <= v <= high)
        return self.input(kind, rng.sample(values, min(len(values), rng.randint(2, 7))))

    def any_integer(self, kinds=tuple(C_TYPE)[:-2]):
        """Adds an input of any integer type with values near the limits of types. Returns its name and its type."""
        rng = self.rng
        kind = rng.choice(kinds)
        low, high = INTEGER_LIMITS[kind]
        edges = {low, low + 1, high, high - 1, 0, 1, 2, -1, -2, 7, 8, 31, 32, 33, 63, 100}
        edges |= {s * (1 << n) + d for n in (7, 8, 15, 16, 31, 32, 62) for s in (1, -1) for d in (-1, 0, 1)}
        values = [v for v in sorted(edges) if low <= v <= high]
        return self.input(kind, rng.sample(values, min(len(values), rng.randint(2, 6)))), kind

    # The whole program.

    def render(self, judge):
        """Returns the text of the program with the statements `judge` at the end of main. They may use the results."""
        kinds = dict.fromkeys(i.kind for i in self.inputs)
        out = [f"#include <{h}>" for h in self.includes]
        out += ["extern void reach_error(void);", "extern void __VERIFIER_assume(int);"]
        out += [f"extern {C_TYPE[k]} __VERIFIER_nondet_{k}(void);" for k in kinds]
        out += self.tops
        out += ["int main(void) {"]
        for i in self.inputs:
            out.append(f"    {C_TYPE[i.kind]} {i.name} = __VERIFIER_nondet_{i.kind}();")
            out.append(f"    __VERIFIER_assume({i.condition});")
        for line in self.lines + judge:
            out += ["    " + part for part in line.split("\n")]
        return "\n".join([*out, "    return 0;", "}", ""])
