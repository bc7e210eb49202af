"""Strings and string functions, `errno`, printing and reading numbers."""


def quoted(rng, alphabet, low=0, high=5):
    return '"' + "".join(rng.choice(alphabet) for _ in range(rng.randint(low, high))) + '"'


def character(p, alphabet):
    return p.input("char", [ord(c) for c in alphabet])


def buffer(p, alphabet, length):
    """Declares a string of which some characters are inputs."""
    rng = p.rng
    s = p.name("s")
    p.line(f"char {s}[{length + rng.randint(1, 8)}] = {quoted(rng, alphabet.replace(chr(0), ''), length, length)};")
    for _ in range(rng.randint(1, 2)):
        p.line(f"{s}[{rng.randrange(length)}] = {character(p, rng.sample(alphabet, min(4, len(alphabet))))};")
    return s


def searching(p):
    rng = p.rng
    p.include("string.h")
    s = buffer(p, "aab\0cA", rng.randint(3, 6))
    t = quoted(rng, "abc", 1, 3)
    at = rng.choice((f"strchr({s}, 'b')", f"strrchr({s}, 'a')", f"strstr({s}, {t})", f"strpbrk({s}, {t})", f"(char *)memchr({s}, 'c', 3)",
                     f"strchr({s}, 0)", f"strchr({s}, 'A')"))  # fmt: skip
    q = p.name("p")
    p.line(f"char *{q} = {at};")
    p.result(f"{q} ? {q} - {s} : -1")
    p.result(f"strlen({s}) * 100 + strspn({s}, {quoted(rng, 'ab', 1, 2)}) * 10 + strcspn({s}, {t})")
    p.result(f"strnlen({s}, 2) + ({q} != 0 && *{q} == 'b')")


def comparing(p):
    rng = p.rng
    p.include("string.h", "strings.h")
    s = buffer(p, "aAb\0\x7f", rng.randint(2, 4))
    t = quoted(rng, "aAb", 0, 4)
    sign = "({0} > 0) - ({0} < 0)"
    p.result(sign.format(f"strcmp({s}, {t})"))
    p.result(sign.format(f"strncmp({s}, {t}, {rng.randint(0, 4)})"))
    p.result(sign.format(rng.choice((f"memcmp({s}, \"aaaa\", 2)", f"strcasecmp({s}, {t})", f"strncasecmp({s}, {t}, 2)", f"strcoll({s}, {t})"))))


def copying(p):
    rng = p.rng
    p.include("string.h")
    s = buffer(p, "xy\0z", rng.randint(2, 5))
    d = p.name("d")
    size = rng.choice((16, 12, 20))
    p.line(f"char {d}[{size}];\nmemset({d}, '{rng.choice('#.')}', sizeof {d});\n{d}[{size - 1}] = 0;")
    n = p.integer(0, 7)
    for _ in range(rng.randint(1, 3)):
        p.line(rng.choice((
            f"strcpy({d}, {s});", f"strncpy({d}, {s}, {n});", f"strcpy({d}, \"ab\");\nstrcat({d}, {s});", f"{d}[3] = 0;\nstrncat({d}, {s}, {n});",
            f"memcpy({d}, {s}, 3);", f"memmove({d} + 1, {d}, {n});", f"memmove({d}, {d} + 2, {n});",
            f"memset({d} + 1, 'q', {n});", f"*stpcpy({d}, {s}) = '!';" if size > 12 else f"strcpy({d} + 2, {s});", f"{d}[{n}] = 0;",
        )))  # fmt: skip
    p.result(f"strlen({d})")
    p.result(f"{d}[0] * 65536 + {d}[2] * 256 + {d}[{n}]")


def tokens(p):
    rng = p.rng
    p.include("string.h")
    s = buffer(p, "a,;b", rng.randint(3, 6))
    n, q, l = p.name(), p.name("t"), p.name()
    save = p.name("save")
    if rng.random() < 0.5:
        p.line(f"int {n} = 0, {l} = 0;\nfor (char *{q} = strtok({s}, \",;\"); {q}; {q} = strtok(0, \",;\")) {{\n    {n}++;\n    {l} = {l} * 10 + (int)strlen({q});\n}}")
    else:
        p.line(f"int {n} = 0, {l} = 0;\nchar *{save};\nfor (char *{q} = strtok_r({s}, \",\", &{save}); {q}; {q} = strtok_r(0, \";\", &{save})) {{\n    {n}++;\n    {l} = {l} * 10 + *{q} % 7;\n}}")
    p.result(n)
    p.result(l)


def classes(p):
    rng = p.rng
    p.include("ctype.h")
    c = p.input("int", rng.sample([-1, 0, 9, 10, 32, 47, 48, 57, 58, 64, 65, 70, 71, 90, 91, 96, 97, 102, 103, 122, 123, 126, 127, 128, 200, 255], 12))
    names = rng.sample(["isalpha", "isdigit", "isspace", "isupper", "islower", "isalnum", "isxdigit", "ispunct", "isprint", "iscntrl", "isgraph", "isblank"], 4)
    p.result(" + ".join(f"!!{f}({c}) * {1 << i}" for i, f in enumerate(names)))
    p.result(f"toupper({c}) * 1000 + tolower({c})")


def numbers(p):
    """`strtol` and similar functions, with `errno` and the end pointer."""
    rng = p.rng
    p.include("stdlib.h", "errno.h", "string.h", "limits.h")
    text = rng.choice(("2147483647", "-2147483648", "9223372036854775807", "-9223372036854775808", "0x7f", "077", "18446744073709551615", " 12",
                       "+99", "zz", "4294967295", "0x", "-", "1e5", "00012", "99999999999999999999", "0b11", "-1"))  # fmt: skip
    s, e, v = p.name("s"), p.name("e"), p.name()
    p.line(f'char {s}[40] = "{text}";')
    at = rng.choice((len(text) - 1, rng.randrange(len(text)), 0, len(text)))
    p.line(f"{s}[{at}] = {character(p, rng.sample('0189aAzZ -+xX', 5) + [chr(0)])};")
    f, t = rng.choice((("strtol", "long"), ("strtoul", "unsigned long"), ("strtoll", "long long"), ("strtoull", "unsigned long long")))
    base = rng.choice((0, 10, 16, 8, 36, 2))
    p.line(f"char *{e};\nerrno = {rng.choice((0, 5))};\n{t} {v} = {f}({s}, &{e}, {base});")
    p.result(v)
    p.result(f"({e} - {s}) * 100 + errno")
    p.result(f"{v} == {rng.choice(('LONG_MAX', 'LONG_MIN', 'ULONG_MAX', '0', '10'))}")


def small_numbers(p):
    rng = p.rng
    p.include("stdlib.h", "string.h")
    s = p.name("s")
    p.line(f'char {s}[8] = {quoted(rng, "0129- ", 2, 4)};\n{s}[{rng.randrange(2)}] = {character(p, "1 -x9")};\n{s}[4] = 0;')
    p.result(f"atoi({s})")
    p.result(f"atol({s}) * 2 + atoll({s})")
    p.result(f"abs(atoi({s})) + labs(-5) + div(atoi({s}), 7).rem * 1000 + div(atoi({s}), -7).quot * 100000")


def printing(p):
    rng = p.rng
    p.include("stdio.h", "string.h")
    a, kind = p.any_integer(("int", "short", "uchar", "int"))
    b, n = p.name("b"), p.name()
    size = rng.choice((40, 40, 5, 8))
    form = rng.choice(("%d", "%5d", "%-4d|", "%05d", "%+d", "%x", "%#x", "%o", "%u", "%c", "%hhd", "%hu", "% d", "%.3d", "%8.3x", "%X", "%i%%", "%#o"))
    other = rng.choice(("", ":%s", " %.2s", "%3c", "%n")).replace("%n", "")
    arguments = f", {a}" + (', "hello"' if "s" in other else ", 'k'" if "c" in other else "")
    p.line(f'char {b}[{size}];\nint {n} = snprintf({b}, sizeof {b}, "{form}{other}"{arguments});')
    p.result(f"{n} * 100 + (int)strlen({b})")
    p.result(f"{b}[0] * 256 + {b}[1]")
    p.result(f'strcmp({b}, "{rng.choice(("0", "1", "-1", "255", "7f"))}") == 0')


def scanning(p):
    rng = p.rng
    p.include("stdio.h", "string.h")
    s = p.name("s")
    p.line(f'char {s}[24] = {quoted(rng, "0123 -x", 3, 6)};\n{s}[{rng.randrange(3)}] = {character(p, "1 -x7")};')
    x, y, n = p.name(), p.name(), p.name()
    form = rng.choice(("%d%d", "%d %x", "%2d%d", "%d-%d", "%i%d", "%*d%d%d", " %1d%d"))
    p.line(f'int {x} = -7, {y} = -8;\nint {n} = sscanf({s}, "{form}", &{x}, &{y});')
    p.result(n)
    p.result(f"{x} * 1000 + {y}")


def by_hand(p):
    """Hand-written loops over characters."""
    rng = p.rng
    s = buffer(p, "ab1 \0", rng.randint(3, 5))
    f = p.name("f")
    body = rng.choice((
        "int n = 0;\n    while (*s++)\n        n++;\n    return n;",
        "const char *e = s;\n    while (*e)\n        e++;\n    int same = 1;\n    while (s < --e)\n        same &= *s++ == *e;\n    return same;",
        "int h = 5381;\n    for (; *s; s++)\n        h = (h * 33 ^ *s) & 0xffff;\n    return h;",
        "int v = 0;\n    for (int i = 0; s[i] >= '0' && s[i] <= '9'; i++)\n        v = v * 10 + (s[i] - '0');\n    return v;",
        "int words = 0, in = 0;\n    for (; *s; s++) {\n        if (*s == ' ')\n            in = 0;\n        else if (!in)\n            in = 1, words++;\n    }\n    return words;",
        "int c[256] = {0}, best = 0;\n    for (; *s; s++)\n        c[(unsigned char)*s]++;\n    for (int i = 1; i < 256; i++)\n        if (c[i] > c[best])\n            best = i;\n    return best;",
    ))  # fmt: skip
    p.top(f"static int {f}(const char *s) {{\n    {body}\n}}")
    p.result(f"{f}({s})")
    p.result(f"{f}({s} + 1)")


def errors(p):
    """`errno`: functions that set it and functions that keep it."""
    rng = p.rng
    p.include("errno.h", "math.h", "stdlib.h", "string.h")
    k = p.integer(0, 5)
    f = p.name("f")
    p.top(
        f"static int {f}(int k) {{\n    errno = 0;\n    switch (k) {{\n"
        "    case 0: strtol(\"99999999999999999999999\", 0, 10); break;\n"
        "    case 1: { volatile double d = -1; d = sqrt(d); break; }\n"
        "    case 2: { void *q = malloc(10); free(q); break; }\n"
        "    case 3: errno = 33; strlen(\"abc\"); break;\n"
        "    case 4: strtoul(\"12\", 0, 10); break;\n"
        "    default: { volatile double d = 1e10; d = fmod(d, 0.0); }\n    }\n    return errno;\n}"
    )  # fmt: skip
    p.result(f"{f}({k})")
    harmless = rng.choice(("(void)abs(-3);", "free(0);", '(void)atoi("x");', ";"))
    p.line(f"errno = {rng.choice((0, 7))};\n{harmless}")
    p.result(f"errno + {k}")
    p.result(f"errno == ERANGE || {f}({k}) == EDOM")


FRAGMENTS = [searching, searching, comparing, comparing, copying, copying, tokens, classes, numbers, numbers, small_numbers, printing, printing, scanning,
             by_hand, by_hand, errors]  # fmt: skip
