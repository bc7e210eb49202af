"""Mutates programs with typical faults in C: an index off by one, a size that is too small, a missing statement."""

import re


class Mutant:
    """A mutation: a pattern for the places that it applies to, and the possible replacements."""

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
    # Sanitizers do not detect an access that is so far beyond an array that it is in another object. A huge length exhausts the memory.
    far = () if is_length else (2147483647,)
    if place.string[: place.start()].endswith(("<< ", ">> ")):
        far = (31, 32, *far)
    value = max(0, rng.choice((value - 1, value + 1, value + 1, value * 2, 0, *far)))
    # Sanitizers treat an array without elements as a flexible one, so a length is at least 1.
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
    # A statement that is removed or duplicated.
    Mutant(r"(?<=[;{}]\n)[ ]*[^\s{}][^;{}\n]*;\n", lambda place, rng: "", lambda place, rng: place.group() * 2),
    Mutant(r"= malloc\(", "= 0; (void)malloc("),
    Mutant(r"return (\w+);", "return &(\\1)[0];", "return 0;"),
]


# Mutations that remove an initialisation, or make it conditional.
FORGOTTEN = [
    Mutant(r"(?<=\w) = [^;{}=\n]+;(?=\n)", ";"),
    Mutant(r"(?<=[\w\]]) = \{[^;\n]*\};(?=\n)", ";"),
    Mutant(r"calloc\(([^;,]+), ([^;]+)\);", r"malloc((\1) * (\2));"),
    Mutant(r"memset\([^;]+;", ";"),
    Mutant(r"(?<=[;{}]\n)([ ]*[^\s{}][^;{}\n]*;\n)", "", r"if (__LINE__ % 2) { \1 }"),
    Mutant(r"(?<=\bfor \(int (\w) = )0(?=;)", "1"),
]


def mutate(program, rng, mutations=MUTATIONS):
    """Applies one to three mutations to a program. Its inputs stay the same."""
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
