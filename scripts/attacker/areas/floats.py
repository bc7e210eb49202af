"""Floats: every format, conversions, edges of rounding, comparisons with NaN, the functions of math.h."""

VALUES = ["0.0", "-0.0", "1.0", "-1.0", "0.5", "-0.5", "1.5", "2.5", "-2.5", "0.1", "3.0", "10.0", "100.25", "1e10", "-1e10", "1e300",
          "-1e300", "1e-300", "5e-324", "2147483647.0", "-2147483648.0", "2147483648.5", "4294967295.0", "4294967296.0", "255.9", "256.0",
          "-128.9", "32767.5", "9007199254740993.0", "9223372036854775807.0", "18446744073709551615.0", "1e19", "INFINITY", "-INFINITY",
          "NAN", "0.49999999999999994", "4503599627370497.5", "16777217.0", "0.3", "1e-5", "123456.789", "1.7976931348623157e308"]  # fmt: skip
SINGLES = ["0.0f", "-0.0f", "1.0f", "-1.5f", "0.1f", "16777216.0f", "16777215.0f", "3.4e38f", "-3.4e38f", "1e-45f", "1.1754944e-38f", "0.5f",
           "2.5f", "255.5f", "-300.75f", "2147483520.0f", "2147483648.0f", "INFINITY", "-INFINITY", "NAN", "33554432.0f", "1e10f", "0.3f"]  # fmt: skip
TAME = ["0.0", "1.0", "-1.0", "0.5", "-2.5", "3.0", "7.75", "100.25", "-1000.0", "0.1", "1.5", "4.0", "0.3"]
INTEGERS = ["signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "long long", "unsigned long"]


def real(p, most=8, tame=False):
    """Returns an input and its type. Without `tame`, the values include NaN, infinities and subnormal numbers."""
    rng = p.rng
    p.include("math.h")
    if tame:
        values, kind = TAME, "double"
    else:
        values, kind = (VALUES, "double") if rng.random() < 0.65 else (SINGLES, "float")
    values = rng.sample(values, min(most, rng.randint(3, 8)))
    # A condition on the input cannot distinguish the two zeros, so the input has both or none.
    zero, minus = ("0.0", "-0.0") if kind == "double" else ("0.0f", "-0.0f")
    if zero in values or minus in values:
        values = [v for v in values if v not in (zero, minus)] + [zero, minus]
    room = p.room()
    while len(values) > room:
        # If one zero has to be removed, the other is removed, too.
        if values[-1] == minus and room >= 2:
            values.pop(0)
        elif values[-1] == minus:
            values = values[:-2] or [values[0]]
            if values == [zero]:
                values = ["1.0"]
        else:
            values.pop()
    return p.input(kind, values), kind


def expression(p, leaves, depth):
    rng = p.rng
    if depth <= 0 or rng.random() < 0.15:
        return rng.choice(leaves) if rng.random() < 0.75 else rng.choice(("0.5", "2.0", "0.1f", "3", "1e300", "-1.0", "1e-300", "0.1L", "7u", "1LL << 53"))

    def sub():
        return expression(p, leaves, depth - 1)

    return rng.choice((
        lambda: f"({sub()} + {sub()})", lambda: f"({sub()} - {sub()})", lambda: f"({sub()} * {sub()})", lambda: f"({sub()} / {sub()})",
        lambda: f"(-{sub()})", lambda: f"((float){sub()})", lambda: f"((double){sub()})", lambda: f"((long double){sub()})",
        lambda: f"({sub()} < {sub()} ? {sub()} : {sub()})", lambda: f"fabs({sub()})", lambda: f"(float)({sub()} * {sub()})",
    ))()  # fmt: skip


def observe(p, e):
    """Observes a floating-point value by integers, such as results of comparisons."""
    rng = p.rng
    return rng.choice((
        f"({e} > 0) + ({e} < 1) * 2 + ({e} == {e}) * 4 + !({e} >= 100) * 8",
        f"({e} != {e}) + ({e} <= 0.5) * 2 + !({e} > 0.5) * 4",
        f"{e} >= -1e9 && {e} <= 1e9 ? (long long)({e} * 16) : {e} > 0 ? 1LL << 50 : {e} < 0 ? -1 : -2",
        f"{e} > -9e18 && {e} < 9e18 ? (long long){e} : 77",
        f"!!{e} + ({e} ? 2 : 0)",
    ))  # fmt: skip


def arithmetic(p):
    leaves = [real(p, 6)[0], real(p, 4)[0]]
    for _ in range(p.rng.randint(1, 3)):
        x = p.name()
        t = p.rng.choice(("float", "double", "double", "long double"))
        p.line(f"{t} {x} = {expression(p, leaves, 2)};")
        leaves.append(x)
        if p.rng.random() < 0.3:
            p.line(f"{x} {p.rng.choice(('+=', '-=', '*=', '/='))} {expression(p, leaves, 1)};")
    p.result(observe(p, leaves[-1]))
    p.result(observe(p, leaves[-1]))


def to_integers(p):
    """Conversions to integers, in range or not. Out of range, the correct result is that of the code that clang generates."""
    p.defined = p.portable = False
    rng = p.rng
    x, _ = real(p, 9)
    f, t, u = p.name("f"), rng.choice(INTEGERS), rng.choice(INTEGERS)
    width = rng.choice(("", "", "float", "long double"))
    # The result for a NaN in the x87 is not specified.
    if width == "long double" or p.bits == 32:
        t, u = (c if c not in ("unsigned long", "unsigned long long") or p.bits == 32 and c == "unsigned long" else "int" for c in (t, u))
    if p.bits == 32 and width == "long double":
        t, u = (c if c != "unsigned long" else "unsigned" for c in (t, u))
    e = f"({width}){x}" if width else x
    p.top(f"static {t} {f}(double x) {{\n    return x;\n}}")
    v = p.name()
    p.line(f"{u} {v} = {e};")
    p.result(v)
    p.result(f"{f}({x} {rng.choice('+-*')} {rng.choice(('1', '0.5', '2', '256', '-3'))})")
    p.line(f"{v} {rng.choice(('+=', '-=', '*='))} {x};")
    p.result(v)


def from_integers(p):
    rng = p.rng
    a, _ = p.any_integer()
    t = rng.choice(("float", "double", "long double", "float"))
    x = p.name()
    p.line(f"{t} {x} = {a};")
    p.result(f"{x} == {a}")
    p.result(f"{x} > {rng.choice(('16777216', '0', '9007199254740992.0', '2147483647', '1e9f'))}")
    p.result(f"{x} >= -1e15 && {x} <= 1e15 ? (long long){x} : 5")
    p.result(f"({x} + 1 == {x}) + ({x} / 3 * 3 == {x}) * 2")


def bits(p):
    """Bits of a float, read by memcpy and by a union."""
    rng = p.rng
    x, kind = real(p, 7)
    p.include("string.h")
    width = "unsigned" if kind == "float" else "unsigned long long"
    size = 32 if kind == "float" else 64
    u = p.name()
    e = rng.choice((x, f"{x} + {x}", f"{x} * 0.5{'f' if kind == 'float' else ''}", f"-{x}"))
    y = p.name()
    p.line(f"{kind} {y} = {e};\n{width} {u};\nmemcpy(&{u}, &{y}, sizeof {u});")
    # The other bits of a NaN are not specified.
    exponent = 23 if kind == "float" else 52
    p.result(f"({u} >> {exponent}) & 0xff")
    p.result(f"{y} != {y} ? -1 : (long long)({u} & 0xfff)")
    p.result(f"{y} != {y} ? -1 : (long long)({u} >> {size - 1})")
    p.line(f"{u} += {rng.choice((1, 2, 256))};\nmemcpy(&{y}, &{u}, sizeof {y});")
    p.result(observe(p, y))


def functions(p):
    """Functions of math.h whose results IEEE 754 specifies."""
    rng = p.rng
    p.include("math.h", "stdlib.h")
    x, kind = real(p, 7)
    s = rng.choice(("", "f", "l"))
    one = [f"floor{s}", f"ceil{s}", f"trunc{s}", f"round{s}", f"rint{s}", f"nearbyint{s}", f"sqrt{s}", f"fabs{s}", f"logb{s}"]
    two = [f"fmod{s}", f"fdim{s}", f"copysign{s}", f"remainder{s}", f"nextafter{s}", f"fmax{s}", f"fmin{s}"]
    y = p.name()
    t = {"": "double", "f": "float", "l": "long double"}[s]
    if rng.random() < 0.5:
        p.line(f"{t} {y} = {rng.choice(one)}({x});")
    else:
        z, _ = real(p, 4)
        f = rng.choice(two)
        # `fmin` and `fmax` may return either of two zeros with different signs.
        p.line(f"{t} {y} = {f}({x}, {rng.choice((z, z, '3.0', '0.1', '-2.5'))});")
    p.result(observe(p, y))
    p.result(observe(p, y))
    p.result(f"isnan({y}) + isinf({y}) * 2 + (isfinite({y}) != 0) * 4 + (fpclassify({x}) == FP_SUBNORMAL) * 8 + (fpclassify({y}) == FP_ZERO) * 16 + (fpclassify({y}) == FP_NORMAL) * 32")
    p.result(f"isless({x}, {y}) + isgreaterequal({x}, {y}) * 2 + isunordered({x}, {y}) * 4 + islessgreater({y}, 0.5) * 8")


def split(p):
    """frexp, ldexp, modf, scalbn, ilogb, lround."""
    rng = p.rng
    p.include("math.h")
    x, _ = real(p, 7, tame=True)
    e, w, m = p.name(), p.name(), p.name()
    p.line(f"int {e} = 0;\ndouble {w} = 0;\ndouble {m} = frexp({x}, &{e});")
    p.result(f"{e} * 4 + ({m} >= 0.5) + ({m} < 1) * 2")
    p.line(f"{m} = modf({x} {rng.choice(('', '* 3', '/ 7'))}, &{w});")
    p.result(f"(int)({m} * 64) + (int){w} * 100")
    p.result(rng.choice((f"(long long)ldexp({x}, {rng.choice((3, 10, -1))})", f"lround({x})", f"lrint({x} * 2.5)", f"{x} == 0 ? 0 : ilogb({x})",
                         f"llround({x} / 3)", f"(long long)scalbn({x}, 4)", f"(long long)(hypot(3, 4) * 8)", f"(int)(fma({x}, {x}, 0.1) * 8)",
                         f"(long)cbrt(27) + lround({x})")))  # fmt: skip


def loops(p):
    """Loops with floating-point counters, where rounding affects the number of iterations."""
    rng = p.rng
    start, step = rng.choice((("0.0", "0.1"), ("0.0", "0.25"), ("16777210.0f", "1.0f"), ("1.0", "0.5"), ("0.0f", "0.1f"), ("1e16", "1.0")))
    n = p.integer(1, 12)
    t = "float" if "f" in start else "double"
    x, i = p.name(), p.name("i")
    p.line(f"{t} {x} = {start};\nint {i} = 0;")
    if rng.random() < 0.5:
        p.line(f"for (; {i} < {n}; {i}++)\n    {x} += {step};")
    else:
        p.line(f"while ({x} < {start} + {step} * {n} && {i} < 20) {{\n    {x} = {x} + {step};\n    {i}++;\n}}")
    p.result(i)
    p.result(f"{x} == {start} + {i} * {step}")
    p.result(f"(long long)({x} * 1000)")


def sorting_nans(p):
    """Sorting with a comparison that is inconsistent for NaN."""
    x, k = real(p, 5)
    y, _ = real(p, 5)
    f = p.name("f")
    p.top(f"static int {f}(double a, double b) {{\n    if (a < b)\n        return 1;\n    if (a > b)\n        return 2;\n    if (a == b)\n        return 3;\n    return !(a <= b) && !(a >= b) ? 4 : 5;\n}}")
    p.result(f"{f}({x}, {y})")
    p.result(f"({x} < {y}) == !({x} >= {y})")
    p.result(f"({x} != {y}) + ({x} == {x} && {y} == {y}) * 2 + !({x} < {y} || {x} > {y} || {x} == {y}) * 4")


def complexes_and_halves(p):
    """Constants, suffixes, hexadecimal floats, long double's range, precision of intermediate results."""
    p.include("float.h", "math.h")
    rng = p.rng
    x, _ = real(p, 6, tame=True)
    l = p.name()
    p.line(f"long double {l} = {x};\n{l} = {l} * 0x1p{rng.choice((60, 63, 64, 1000, -3))}L + {rng.choice(('1', '0.5L', '0x1p-1L', 'LDBL_EPSILON'))};")
    p.result(f"{l} == (double){l}")
    p.result(f"({l} > DBL_MAX) + ({l} < 0) * 2 + ({l} != {x}) * 4 + ({l} * {l} > 1e308) * 8")
    p.result(f"(float){x} == {x}")
    p.result(f"{x} + FLT_EPSILON > {x} && (float)({x} + DBL_EPSILON) == (float){x}")
    p.result(f"(int)({x} * 0x1.8p3) - (int)({x} * 12)")


FRAGMENTS = [arithmetic, arithmetic, to_integers, to_integers, to_integers, from_integers, bits, functions, functions, split, loops, sorting_nans,
             complexes_and_halves]  # fmt: skip
