"""Integers: widths, promotions, conversions, shifts, signs of division, edges; bit-fields and unions; builtins."""

TYPES = ["signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long",
         "long long", "unsigned long long", "_Bool", "char"]  # fmt: skip
CONSTANTS = ["0", "1", "2", "3", "-1", "7", "10u", "127", "128", "255", "-128", "0x80u", "32767", "65535u", "1000", "-7",
             "2147483647", "(-2147483647 - 1)", "4294967295u", "1LL << 40", "0x7fffffffffffffffLL", "~0ULL", "'a'", "5L",
             "(char)200", "(short)-1", "(unsigned char)255"]  # fmt: skip


def types(p):
    """Returns the integer types, with those of 128 bits if the machine has them."""
    return TYPES + (["__int128", "unsigned __int128"] if p.bits == 64 else [])


def expression(p, leaves, depth):
    """Returns a random integer expression. Most shift amounts and divisors are valid."""
    rng = p.rng
    if depth <= 0 or rng.random() < 0.12:
        return rng.choice(leaves) if rng.random() < 0.75 else rng.choice(CONSTANTS)

    def sub():
        return expression(p, leaves, depth - 1)

    kind = rng.randrange(20)
    if kind < 4:
        return f"({sub()} {rng.choice('+-')} {sub()})"
    if kind < 5:
        return f"({sub()} * {rng.choice((sub(), '3', '-1', '2u'))})"
    if kind < 7:
        divisor = rng.choice((f"({sub()} | 1)", "3", "-2", "7u", "10", f"(({sub()} & 7) + 1)"))
        return f"({sub()} {rng.choice('/%')} {divisor})"
    if kind < 9:
        amount = rng.choice((f"({sub()} & 7)", "1", "3", "7", "15", f"({sub()} & 31)"))
        return f"({sub()} {rng.choice(('<<', '>>'))} {amount})"
    if kind < 11:
        return f"({sub()} {rng.choice('&|^')} {sub()})"
    if kind < 13:
        return f"({sub()} {rng.choice(('<', '<=', '>', '>=', '==', '!='))} {sub()})"
    if kind < 14:
        return f"({sub()} {rng.choice(('&&', '||'))} {sub()})"
    if kind < 15:
        return f"({sub()} ? {sub()} : {sub()})"
    if kind < 17:
        return f"({rng.choice('~-!')}{sub()})"
    return f"(({rng.choice(types(p))}){sub()})"


def inputs(p, n):
    return [p.any_integer()[0] for _ in range(n)]


def arithmetic(p):
    leaves = inputs(p, p.rng.randint(1, 2))
    for _ in range(p.rng.randint(1, 4)):
        name = p.name()
        p.line(f"{p.rng.choice(types(p))} {name} = {expression(p, leaves, 2)};")
        leaves.append(name)
        if p.rng.random() < 0.4:
            operator = p.rng.choice(("+=", "-=", "*=", "&=", "|=", "^=", "<<=", ">>=", "/=", "%="))
            operand = expression(p, leaves, 1)
            if operator in ("<<=", ">>="):
                operand = f"({operand}) & 7"
            if operator in ("/=", "%="):
                operand = f"({operand}) | 1"
            p.line(f"{name} {operator} {operand};")
        if p.rng.random() < 0.2:
            p.line(p.rng.choice((f"{name}++;", f"--{name};", f"++{name};")))
    p.result(expression(p, leaves, 3))
    p.result(leaves[-1])


def wrapping(p):
    """Signed overflow. It wraps around in Proviso and in code of clang; gcc may treat it differently."""
    p.defined = p.portable = False
    leaves = inputs(p, 2)
    a, b = leaves
    t = p.rng.choice(("int", "long", "long long"))
    x, y = p.name(), p.name()
    p.line(f"{t} {x} = {a}, {y} = {b};")
    e = p.rng.choice((f"{x} + {y}", f"{x} - {y}", f"{x} * {y}", f"-{x}", f"{x} * {x} - {y}", f"{x} << ({y} & 7)",
                      f"({x} + 1) > {x}", f"{x} + {y} < {x}", f"({x} < 0 ? -{x} : {x})"))  # fmt: skip
    p.result(e)
    p.result(f"(short)({e} + {y})")


def conversions(p):
    """Chains of implicit and explicit conversions, through parameters and results."""
    rng = p.rng
    value, _ = p.any_integer()
    for _ in range(rng.randint(1, 3)):
        f = p.name("f")
        parameter, result, local = (rng.choice(types(p)) for _ in range(3))
        p.top(f"static {result} {f}({parameter} x) {{\n    {local} y = x {rng.choice('+-^&')} {rng.choice(CONSTANTS)};\n    return {rng.choice(('y', '~y', 'y >> 1', '!y', 'x == y', 'y < x', 'y | x'))};\n}}")
        value = f"{f}({value})"
    name = p.name()
    p.line(f"{rng.choice(types(p))} {name} = {value};")
    p.result(name)
    p.result(f"{name} {rng.choice(('<', '>', '=='))} {rng.choice(CONSTANTS)}")
    p.result(f"sizeof({name} + {rng.choice(CONSTANTS)}) * 10 + sizeof {name}")


def divisions(p):
    rng = p.rng
    kind = rng.choice(("int", "schar", "short", "longlong"))
    a = p.input(kind, rng.sample(range(-9, 10), 8) + [-128, 127])
    b = p.input(kind, rng.sample([-7, -3, -2, -1, 1, 2, 3, 5, 10, 100], 5))
    p.result(f"{a} / {b}")
    p.result(f"{a} % {b}")
    p.result(rng.choice((f"{a} / {b} * {b} + {a} % {b}", f"(unsigned){a} / {b}", f"{a} % (unsigned char){b}",
                         f"({a} >> 1) - {a} / 2", f"(unsigned short){a} % {b}")))  # fmt: skip


def edges(p):
    """Operations on `INT_MIN` and similar values, with guards against overflow."""
    p.include("limits.h", "stdint.h")
    rng = p.rng
    kind, low, high, t = rng.choice((("int", "INT_MIN", "INT_MAX", "int"), ("longlong", "LLONG_MIN", "LLONG_MAX", "long long"),
                                     ("schar", "SCHAR_MIN", "SCHAR_MAX", "signed char"), ("short", "SHRT_MIN", "SHRT_MAX", "short")))  # fmt: skip
    a = p.input(kind, [low, high, f"{low} + 1", f"{high} - 1", "0", "1", "-1", "2"], None)
    b = p.input(kind, [low, high, "0", "-1", "1", "3"], None)
    f = p.name("f")
    body = rng.choice((
        f"if (b > 0 ? a > {high} - b : a < {low} - b)\n        return -1;\n    return a + b > 0;",
        f"if (b == 0 || (a == {low} && b == -1))\n        return {high};\n    return a / b;",
        f"if (a == {low})\n        return {high};\n    return a < 0 ? -a : a;",
        f"return a == {low} ? b : b == {low} ? a : (a < 0) == (b < 0);",
        f"int n = 0;\n    while (a != 0 && n < 70) {{\n        a /= 2;\n        n++;\n    }}\n    return n + (b & 1);",
        f"return (a > b) - (a < b) + ((a ^ b) < 0) * 4;",
    ))  # fmt: skip
    p.top(f"static {t} {f}({t} a, {t} b) {{\n    {body}\n}}")
    p.result(f"{f}({a}, {b})")
    p.result(f"{f}({b}, {a}) - ({t})1 < 0")


def bit_tricks(p):
    rng = p.rng
    a = p.input("uint", [0, 1, 2, 3, 0x80000000, 0xffffffff, 0x7fffffff, 0x12345678, 0xff00, 6, 40, 96])
    f = p.name("f")
    body = rng.choice((
        "unsigned n = 0;\n    for (; x; x &= x - 1)\n        n++;\n    return n;",
        "return x && !(x & (x - 1));",
        "x |= x >> 1;\n    x |= x >> 2;\n    x |= x >> 4;\n    x |= x >> 8;\n    x |= x >> 16;\n    return x ^ (x >> 1);",
        "return x << 8 | x >> 24;",
        "x = (x & 0x55555555) << 1 | (x >> 1 & 0x55555555);\n    return (x & 0x33333333) << 2 | (x >> 2 & 0x33333333);",
        "return x & -x;",
        "unsigned r = 0;\n    for (int i = 0; i < 32; i++)\n        r = r << 1 | (x >> i & 1);\n    return r;",
        "return (x >> 16 ^ x) * 0x45d9f3bu;",
    ))  # fmt: skip
    p.top(f"static unsigned {f}(unsigned x) {{\n    {body}\n}}")
    p.result(f"{f}({a})")
    p.result(f"{f}({f}({a}) + 1) == {f}({a} ^ 1)")


def builtins(p):
    rng = p.rng
    a, kind = p.any_integer(("int", "uint", "longlong", "ulonglong", "short"))
    u, l = f"(unsigned){a}", f"(unsigned long long){a}"
    choices = [
        f"__builtin_popcount({u})", f"__builtin_popcountll({l})", f"__builtin_clz({u} | 1)", f"__builtin_ctz({u} | 8)",
        f"__builtin_clzll({l} | 2)", f"__builtin_ctzll({l} | 1ULL << 40)", f"__builtin_ffs({u})", f"__builtin_parity({u})",
        f"__builtin_bswap32({u})", f"(long long)__builtin_bswap64({l})", f"__builtin_bswap16({a})", f"__builtin_clrsb({u})",
        f"__builtin_ffsll({a})", f"__builtin_expect({a} > 3, 1)", f"__builtin_parityll({l})",
        f"__builtin_constant_p({a}) + 1", "__builtin_types_compatible_p(int, unsigned)",
    ]  # fmt: skip
    p.result(" + ".join(rng.sample(choices, 2)))
    t = rng.choice(("int", "unsigned", "short", "unsigned char", "long", "unsigned long long", "signed char"))
    r, o = p.name(), p.name()
    b, _ = p.any_integer(("int", "longlong", "uchar"))
    p.line(f"{t} {r};\nint {o} = __builtin_{rng.choice(('add', 'sub', 'mul'))}_overflow({a}, {b}, &{r});")
    p.result(f"{o} * 2 + ({r} > 0)")
    p.result(r)


def bit_fields(p):
    rng = p.rng
    s, x = p.name("S"), p.name("s")
    fields, n = [], rng.randint(2, 6)
    packed = rng.choice(("", "", " __attribute__((packed))"))
    for i in range(n):
        t, most = rng.choice((("int", 32), ("unsigned", 32), ("signed char", 8), ("unsigned char", 8), ("short", 16),
                              ("unsigned short", 16), ("long long", 64), ("unsigned long long", 64), ("_Bool", 1), ("char", 8)))  # fmt: skip
        width = rng.choice((1, 1, 2, 3, 5, 7, 8, 9, 13, 17, 31, 32, 33, 40, 64))
        width = min(width, most)
        shape = rng.randrange(12)
        if shape == 0:
            fields.append(f"    {t} f{i};")
        elif shape == 1:
            fields.append(f"    {t} : 0;\n    {t} f{i} : {width};")
        elif shape == 2:
            fields.append(f"    {t} : {rng.randint(1, min(3, most))};\n    {t} f{i} : {width};")
        else:
            fields.append(f"    {t} f{i} : {width};")
    p.top(f"struct{packed} {s} {{\n" + "\n".join(fields) + "\n};")
    a, b = p.any_integer()[0], p.integer(-4, 9)
    p.include("string.h")
    init = rng.choice(("", " = {0}", f" = {{{', '.join(rng.choice(('1', '-1', '3', '200', 'IN')) for _ in range(n))}}}".replace("IN", b)))
    home = rng.choice(("", "static "))
    if home and b in init:
        init = ""
    p.line(f"{home}struct {s} {x}{init};")
    if not init:
        p.line(f"memset(&{x}, {rng.choice(('0', '0xff', '0x5a'))}, sizeof {x});")
    access = f"{x}."
    if rng.random() < 0.4:
        q = p.name("p")
        p.line(f"struct {s} *{q} = &{x};")
        access = f"{q}->"
    for _ in range(rng.randint(2, 6)):
        f, g = (f"{access}f{rng.randrange(n)}" for _ in range(2))
        p.line(rng.choice((
            f"{f} = {a};", f"{f} = {b};", f"{f} += {b};", f"{f} = {g};", f"{f}++;", f"--{f};", f"{f} |= {b};", f"{f} ^= {g};",
            f"{f} = {g} - {b};", f"{f} <<= 1;", f"{f} = {f} > {g};", f"if ({f} < {b})\n    {g} = {a};", f"{f} -= {g};",
            f"{f} = !{g};", f"{f} = {g} = {b};",
        )))  # fmt: skip
    if rng.random() < 0.3:
        y = p.name("s")
        p.line(f"struct {s} {y} = {access[:-1] if access.endswith('.') else '*' + access[:-2]};\n{y}.f0 = {b};")
        p.result(f"{y}.f0 * 2 + {y}.f{n - 1}")
    for i in rng.sample(range(n), min(n, 3)):
        p.result(f"{access}f{i}")
    p.result(f"({access}f0 < {b}) + ({access}f{n - 1} - 1 < 0) * 2 + (-{access}f0 <= 0) * 4 + (int)sizeof(struct {s}) * 8")


def unions(p):
    rng = p.rng
    u, x = p.name("U"), p.name("u")
    p.include("string.h")
    p.top(
        f"union {u} {{\n    int i;\n    unsigned u;\n    short s[2];\n    unsigned char b[8];\n    float f;\n    long long l;\n    double d;\n"
        f"    struct {{ signed char low; unsigned char high; }} c;\n    struct {{ unsigned m : 23, e : 8, sign : 1; }} bits;\n}};"
    )
    a = p.input("int", rng.sample([0, 1, -1, 255, 256, 0x3f800000, -0x40800000, 0x40490fdb, 0x7f7fffff, 65536, -300], 5))
    b = p.integer(-3, 7)
    p.line(f"union {u} {x};\nmemset(&{x}, 0, sizeof {x});")
    p.line(rng.choice((f"{x}.i = {a};", f"{x}.f = (float){b};", f"{x}.d = {b} * 0.5;", f"{x}.l = (long long){a} * 65536;", f"{x}.s[1] = {a};\n{x}.s[0] = {b};")))
    for _ in range(rng.randint(1, 3)):
        p.line(rng.choice((f"{x}.b[{rng.randrange(4)}] = {b};", f"{x}.c.low = {b};", f"{x}.bits.e++;", f"{x}.bits.sign = {b};", f"{x}.bits.m = {a};",
                           f"{x}.s[1] ^= {x}.s[0];", f"{x}.u >>= 4;", f"{x}.i += {x}.c.high;")))  # fmt: skip
    p.result(rng.choice((f"{x}.i", f"{x}.u", f"{x}.s[0]", f"{x}.c.high * 256 + {x}.c.low")))
    p.result(rng.choice((f"{x}.bits.e", f"{x}.b[3]", f"{x}.l", f"{x}.bits.m")))
    p.result(f"({x}.f > 1.0f) + ({x}.f == {x}.f) * 2 + ({x}.d < 0) * 4")


def enums_and_generics(p):
    rng = p.rng
    e = p.name("E")
    p.top(f"enum {e} {{ {e}_a = {rng.randint(-5, 5)}, {e}_b, {e}_c = {rng.choice(('100', '-200', '0x7ffffff0'))}, {e}_d }};")
    a = p.integer(-6, 6)
    v = p.name()
    p.line(f"enum {e} {v} = {a} > 0 ? {e}_b : {a} == 0 ? {e}_c : {e}_a;\n{v} += {a} > 3;")
    p.result(v)
    p.result(f"_Generic({a} + {rng.choice(('1', '1u', '1L', '1.0f', '(char)1', '1ULL'))}, int: 1, unsigned: 2, long: 3, float: 4, double: 5, unsigned long long: 6, default: 7)")
    p.result(f"{v} == {e}_d || ({v} < 0) - ({v} - 1u > 10)")


def wide(p):
    """Integers of 128 bits."""
    if p.bits == 32:
        return arithmetic(p)
    rng = p.rng
    a = p.input("longlong", ["0", "1", "-1", "0x7fffffffffffffffLL", "-0x7fffffffffffffffLL - 1", "1LL << 40", "-5", "1000000007"])
    b = p.input("ulonglong", [1, 3, 10, 255, 1 << 63, (1 << 64) - 1])
    x, y = p.name(), p.name()
    p.line(f"__int128 {x} = (__int128){a} * {b};\nunsigned __int128 {y} = (unsigned __int128){b} << {rng.choice((1, 63, 64, 65, 100))};")
    for _ in range(3):
        e = rng.choice((f"{x} >> {rng.choice((1, 63, 64, 65, 127))}", f"{y} >> {rng.choice((1, 63, 64, 65, 127))}", f"{x} / (__int128){b}",
                        f"{y} / {b}", f"{x} % 1000000007", f"({x} < 0) + ({y} > (unsigned __int128){x}) * 2", f"{y} * 3 >> 64", f"~{x} & 0xffff",
                        f"({x} ^ (__int128){y}) >> 60", f"(int){x} + (short){y}", f"{x} == (__int128){a}", f"(unsigned __int128){x} % 97"))  # fmt: skip
        p.result(e)


FRAGMENTS = [arithmetic, arithmetic, arithmetic, wrapping, conversions, conversions, divisions, edges, bit_tricks, builtins, bit_fields, bit_fields,
             bit_fields, unions, unions, enums_and_generics, wide]  # fmt: skip
