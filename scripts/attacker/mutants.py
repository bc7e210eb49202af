"""Mutates programs with typical faults in C: an index off by one, a size that is too small, a missing statement."""

import re


class Mutant:
    """A mutation: a pattern for its places, and the replacements."""

    def __init__(self, pattern, *replacements):
        self.pattern, self.replacements = re.compile(pattern), replacements

    def apply(self, text, rng):
        places = list(self.pattern.finditer(text))
        if not places:
            return None
        place = rng.choice(places)
        replacement = rng.choice(self.replacements)
        new = replacement(place, rng) if callable(replacement) else place.expand(replacement)
        return text[: place.start()] + new + text[place.end() :]


def near(place, rng):
    value = int(place.group())
    is_length = place.string[place.start() - 1] == "["
    # What is far behind an array is something else, and sanitizers do not see it; as a length it has no end for them.
    far = () if is_length else (2147483647,)
    if place.string[: place.start()].endswith(("<< ", ">> ")):
        far = (31, 32, *far)
    value = max(0, rng.choice((value - 1, value + 1, value + 1, value * 2, 0, *far)))
    # Of an array without elements the sanitizers think that it is a flexible one.
    return str(value or int(is_length))


MUTATIONS = [
    Mutant(r"(?<![\w.\"'])\d{1,4}(?![\w.\"'])", near),
    Mutant(r"(?<![\w.\"'])\d{1,4}(?![\w.\"'])", near),
    Mutant(r" < ", " <= ", " != "),
    Mutant(r" <= ", " < "),
    Mutant(r" > ", " >= "),
    Mutant(r" >= ", " > "),
    Mutant(r"(?<=\w) \+ (?=\w)", " - ", " * ", " << ", " % "),
    Mutant(r"(?<=\w) - (?=\w)", " + "),
    Mutant(r"(?<=\w) \* (?=\w)", " + ", " / "),
    Mutant(r" % ", " + ", " * "),
    Mutant(r"\[([^\[\]{}]+)\](?= [-+*/^|&]?=|[;)\]+.,]| [-+*%<>])", r"[\1 + 1]", r"[\1 - 1]", r"[(\1) * 2]"),
    Mutant(r"(malloc|alloca)\(([^;]+)\);", r"\1(\2 - 1);", r"\1((\2) / 2);"),
    Mutant(r"\+\+(?=;)", " += 2"),
    Mutant(r"sizeof \*(\w+)", r"sizeof \1"),
    Mutant(r"(free\(\w+\);)", r"\1 \1", ";"),
    Mutant(r"if \(([^;{}\n]+)\)\n", "if (1)\n", "if (0)\n", r"if (!(\1))" + "\n"),
    Mutant(r"while \((\w+)\)", r"while (\1->next)"),
    Mutant(r"\bunsigned (?!char|short|long)", "int "),
    Mutant(r"\blong long\b", "int"),
    Mutant(r"\bint\b(?= \w+ =)", "short", "signed char"),
    # A statement that is lost, or that comes twice.
    Mutant(r"(?<=[;{}]\n)[ ]*[^\s{}][^;{}\n]*;\n", lambda place, rng: "", lambda place, rng: place.group() * 2),
    Mutant(r"= malloc\(", "= 0; (void)malloc("),
    Mutant(r"return (\w+);", "return &(\\1)[0];", "return 0;"),
]


# What was to be initialised is not, or not always.
FORGOTTEN = [
    Mutant(r"(?<=\w) = [^;{}=\n]+;(?=\n)", ";"),
    Mutant(r"(?<=[\w\]]) = \{[^;\n]*\};(?=\n)", ";"),
    Mutant(r"calloc\(([^;,]+), ([^;]+)\);", r"malloc((\1) * (\2));"),
    Mutant(r"memset\([^;]+;", ";"),
    Mutant(r"(?<=[;{}]\n)([ ]*[^\s{}][^;{}\n]*;\n)", "", r"if (__LINE__ % 2) { \1 }"),
    Mutant(r"(?<=\bfor \(int (\w) = )0(?=;)", "1"),
]


def mutate(program, rng, mutations=MUTATIONS):
    """Applies one to three small mutations to a program. Its inputs stay the same."""
    wanted, changed = rng.choice((1, 1, 2, 3)), 0
    for _ in range(40):
        if changed == wanted:
            break
        texts = rng.choice([t for t in (program.tops, program.lines) if t])
        at = rng.randrange(len(texts))
        new = rng.choice(mutations).apply(texts[at] + "\n", rng)
        if new is not None and new != texts[at] + "\n":
            texts[at] = new.rstrip("\n")
            changed += 1
