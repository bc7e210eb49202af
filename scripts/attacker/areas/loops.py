"""Loops and recursion over whole domains of inputs. They test analyses that guess invariants: counters wrap around or nearly do, and
relations hold for all inputs but a few."""

KINDS = {"uchar": 256, "schar": 256, "ushort": 65536, "short": 65536, "int": 0, "uint": 0}


def whole(p, kind=None, most=70_000):
    """Returns an input with all values of a small type, or an interval of a larger one."""
    rng = p.rng
    kind = kind or rng.choice(list(KINDS))
    low = {"schar": -128, "short": -32768}.get(kind, 0)
    size = KINDS[kind]
    if size == 0 or size > min(p.room(), most):
        size = min(p.room(), most, rng.choice((20, 100, 300, 1000)))
        low = rng.choice((0, 1, -size // 2 if kind in ("int", "short", "schar") else 0, 5))
        if kind == "uchar":
            size = min(size, 250)
        if kind == "schar":
            size, low = min(size, 200), max(low, -100)
            size = min(size, 127 - low)
    return p.input(kind, range(low, low + size))


def function(p, header, body, *arguments):
    f = p.name("f")
    p.top(f"static {header.replace('@', f)} {{\n    {body.strip()}\n}}")
    return f"{f}({', '.join(arguments)})"


def start(p):
    p.pure = True


def transfer(p):
    """One counter decreases while another increases."""
    start(p)
    rng = p.rng
    a = whole(p)
    t, u = rng.choice(("unsigned", "int", "unsigned char", "short")), rng.choice(("unsigned", "int", "unsigned char", "long long"))
    stop = rng.choice(("0", "1", "3", "200"))
    down = rng.choice(("x--", "x -= 1", "x -= 2", "x = x - 1"))
    test = rng.choice((f"x != {stop}", f"x > {stop}", "x > 0", f"x >= {stop}"))
    limit = rng.choice((300, 300, 70000 if p.inputs[0].kind in ("uchar", "schar") else 500))
    p.line(f"{t} x = {a};\n{u} y = {rng.choice((0, 1, 5))};\nint n = 0;\nwhile ({test} && n < {limit}) {{\n    {down};\n    y{rng.choice(('++', ' += 2', ' += 1'))};\n    n++;\n}}")
    p.result("y")
    p.result("x")
    p.result("n")


def around(p):
    """A counter that reaches a value only after wrapping around."""
    start(p)
    rng = p.rng
    t = rng.choice(("unsigned char", "unsigned char", "signed char", "unsigned short"))
    a = whole(p, {"unsigned char": "uchar", "signed char": "schar", "unsigned short": "uchar"}[t])
    step, goal = rng.choice((1, 3, 5, 7, 85, 255, 2)), rng.choice((0, 1, 100, 255, 127))
    p.line(f"{t} i = {a};\nunsigned n = 0;\nwhile (i != ({t}){goal}) {{\n    i += {step};\n    n++;\n    if (n > {rng.choice((300, 260, 1000))})\n        break;\n}}")
    p.result("n")
    p.result("i")
    p.result(f"({t})(i - n * {step})")


def division(p):
    start(p)
    rng = p.rng
    a = whole(p, rng.choice(("uchar", "ushort", "uint", "int")), 2000)
    b = p.integer(1, rng.choice((3, 9)))
    t = rng.choice(("unsigned", "int", "unsigned short"))
    p.line(f"{t} q = 0, r = {a};\nwhile (r >= {b}{rng.choice(('', ' + 0u', ' && q < 100'))}) {{\n    r -= {b};\n    q++;\n}}")
    p.result("q")
    p.result("r")
    p.result(f"q * {b} + r")


def multiplication(p):
    start(p)
    rng = p.rng
    a = whole(p, rng.choice(("uchar", "schar", "int")), 300)
    b = p.integer(0, rng.choice((5, 20)))
    t = rng.choice(("int", "unsigned", "unsigned char", "short", "long long"))
    p.line(f"{t} s = 0;\nint i = 0;\nfor (; i < {b}; i++) {{\n    s += {a};\n    {rng.choice(('', 'if (s == 100) s++;', 'if (i == 7) s--;', 's ^= 0;'))}\n}}")
    p.result("s")
    p.result("i")


def squares(p):
    start(p)
    rng = p.rng
    a = whole(p, rng.choice(("uchar", "ushort", "uint")), 1000)
    t = rng.choice(("unsigned", "int", "unsigned short", "unsigned char"))
    p.line(f"{t} s = {rng.choice((0, 1))}, odd = 1;\nint n = 0;\nwhile (s < {a} && n < 50) {{\n    s += odd;\n    odd += 2;\n    n++;\n}}")
    p.result("s")
    p.result("n")
    p.result("odd")


def phases(p):
    start(p)
    rng = p.rng
    a = whole(p, rng.choice(("uchar", "schar", "int")), 256)
    k, m = rng.choice((5, 50, 100)), rng.choice((60, 101, 300, 1000))
    p.line(f"int x = {a}, y = {rng.choice((0, 50))}, n = 0;\nwhile (x < {m}) {{\n    if (x < {k})\n        y += {rng.choice((1, 2))};\n    else\n        y {rng.choice(('-= 1', '+= 3', '= x', '^= 1'))};\n    x += {rng.choice((1, 1, 2, 3))};\n    n++;\n}}")
    p.result("x")
    p.result("y")
    p.result("n")


def long_runs(p):
    """Many iterations, few inputs."""
    start(p)
    rng = p.rng
    a = p.input("int", range(0, 6))
    t = rng.choice(("unsigned char", "unsigned short", "int", "unsigned", "short", "long long"))
    n = rng.choice((255, 256, 257, 10000, 32767, 32768, 65535, 65536, 65537, 100000))
    p.line(f"{t} x = {rng.choice((a, '0', '1'))}, y = {a};\nunsigned i;\nfor (i = 0; i < {n}; i++) {{\n    x += {rng.choice((1, 2, 3))};\n    {rng.choice(('y = x;', 'y += x & 1;', f'if (i == {n - 1}) y = 99;', f'if (x == {rng.choice((200, 7, n % 250))}) y++;', 'y = (y + 1) % 7;', 'y ^= 1;', 'y++;', f'if (i > {n - 3}) y += 2;'))}\n}}")
    p.result("x")
    p.result("y")
    p.result("i")


def recursive(p):
    start(p)
    rng = p.rng
    a = whole(p, rng.choice(("uchar", "schar", "int")), 256)
    t = rng.choice(("int", "unsigned", "unsigned char", "short"))
    base = rng.choice(("n == 0", "n <= 0", "n < 2", "n == 1 || n == 0", "n > 300"))
    body = rng.choice(("@(n - 1) + 1", "@(n - 1) + 2", "n + @(n - 1)", "1 - @(n - 1)", "@(n / 2) + 1", "@(n - 2) + 2", "@(@(n - 1)) + 0" if t == "int" else "@(n - 1)", "n > 100 ? n - 10 : @(n + 11)"))
    f = p.name("f")
    if "n + 11" in body:
        base, body = "n > 100", "@(@(n + 11))"
        value = "n - 10"
    else:
        value = rng.choice(("0", "n", "1"))
    p.top(f"static {t} {f}({t} n, int d) {{\n    if ({base} || d > 300)\n        return {value};\n    return {body.replace('@(', f + '(')};\n}}".replace(f"{f}(n - 1)", f"{f}(n - 1, d + 1)").replace(f"{f}(n - 2)", f"{f}(n - 2, d + 1)").replace(f"{f}(n / 2)", f"{f}(n / 2, d + 1)").replace(f"{f}(n + 11)", f"{f}(n + 11, d)").replace(f"{f}({f}(n - 1, d + 1))", f"{f}({f}(n - 1, d + 1) / 2, d + 1)").replace(f"{f}({f}(n + 11, d))", f"{f}({f}(n + 11, d), d)"))
    p.result(f"{f}({a}, 0)")
    if rng.random() < 0.5:
        p.result(f"{f}({a} / 2, 0)")


def cells(p):
    """Arrays that are filled and searched up to a bound that is an input."""
    start(p)
    rng = p.rng
    size = rng.choice((5, 10, 50, 200))
    n = p.input(rng.choice(("int", "uint", "uchar")), range(0, min(size, 200) + 1))
    t = rng.choice(("int", "unsigned char", "short"))
    p.line(f"{t} a[{size}] = {{0}};\nint i, s = 0, m = {rng.choice(('0', '-1', 'a[0]'))};\nfor (i = 0; i < {n}; i++)\n    a[i] = {rng.choice(('i', 'i * 2', '7', f'{n} - i', 'i % 3', 'i > 3'))};")
    p.line(f"for (i = {rng.choice((0, 0, 1))}; i < {size}; i++) {{\n    if (a[i] > m)\n        m = a[i];\n    s += a[i] {rng.choice(('!= 0', '== 7', '> i', '== i'))};\n}}")
    p.result("s")
    p.result("m")
    p.result(rng.choice((f"a[{size - 1}]", f"a[{n} ? {n} - 1 : 0]", "a[0]")))


def machines(p):
    """State machines that read the bits of an input."""
    start(p)
    rng = p.rng
    a = whole(p, rng.choice(("uchar", "ushort")), 1024)
    k = rng.randint(2, 5)
    lines = []
    for s in range(k):
        lines.append(f"        case {s}: state = bit ? {rng.randrange(k)} : {rng.randrange(k)}; {rng.choice(('c++;', '', 'c += 2;', 'c = 0;', 'locked = !locked;'))} break;")
    p.line(f"int state = 0, c = 0, locked = 0;\nunsigned rest = {a};\nwhile (rest) {{\n    int bit = rest & 1;\n    rest >>= 1;\n    switch (state) {{\n" + "\n".join(lines) + "\n        }\n}")
    p.result("state * 2 + locked")
    p.result("c")


def bits(p):
    start(p)
    rng = p.rng
    a = whole(p, rng.choice(("uchar", "ushort", "uint")), 4096)
    body = rng.choice(("x &= x - 1", "x >>= 1", "x /= 2", "x = x & 1 ? x - 1 : x / 2", "x = x % 2 ? 3 * x + 1 : x / 2", "x = (unsigned char)(x + 37) & 0x7f", "x = x * 5 + 3 & 255"))
    p.line(f"unsigned x = {a}, n = 0, o = 0;\nwhile (x {rng.choice(('!= 0', '> 1', '!= 1 && x != 0'))} && n < {rng.choice((20, 40, 200))}) {{\n    o += x & 1;\n    {body};\n    n++;\n}}")
    p.result("n")
    p.result("o")
    p.result("x")


def euclid(p):
    start(p)
    rng = p.rng
    a, b = whole(p, "int", 60), whole(p, "int", 30)
    p.line(f"int x = {a} < 0 ? -{a} : {a}, y = {b} < 0 ? -{b} : {b}, n = 0;\nwhile ({rng.choice(('y != 0', 'x && y'))}) {{\n    {rng.choice(('int r = x % y; x = y; y = r;', 'if (x > y) x -= y; else y -= x;'))}\n    if (++n > 200)\n        break;\n}}")
    p.result("x")
    p.result("n")
    p.result("x + y")


FRAGMENTS = [transfer, transfer, around, around, division, multiplication, squares, phases, long_runs, long_runs, recursive, recursive, cells, cells, machines,
             bits, euclid]  # fmt: skip
