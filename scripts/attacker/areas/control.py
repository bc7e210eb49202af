"""Control flow: loops at the edge of wrap-around, recursion, switch and goto, variadic functions, statics, volatile, ends of programs."""

from .integers import expression


def wrapping_loops(p):
    """Loops whose counters wrap around, or almost do."""
    rng = p.rng
    t, size = rng.choice((("unsigned char", 256), ("signed char", 256), ("unsigned short", 65536), ("unsigned", 1 << 32), ("short", 65536)))
    low = 0 if t.startswith("unsigned") else -size // 2
    i, n, s = p.name("i"), p.name("n"), p.name("s")
    small = size == 256
    edge = p.integer(0, 6)
    start = rng.choice((f"{low + size - 1 - 6} + {edge}", f"{edge}", f"{low} + {edge}")) if size < 1 << 32 else rng.choice((f"{edge}", f"0u - {edge}", f"4294967290u + {edge}"))
    p.line(f"unsigned {n} = 0;\nint {s} = 0;\n{t} {i} = {start};")
    p.line(rng.choice((
        f"do {{\n    {i}++;\n    {n}++;\n}} while ({i} != {low + 2 if small else 3} && {n} < 600);",
        f"while ({i} > 0 && {n} < 300) {{\n    {i}++;\n    {n}++;\n}}",
        f"for (; {i} >= {rng.choice((1, 2))} && {n} < 40; {i}--)\n    {n}++;",
        f"for ({t} k = {i}; k - {edge} < 7 && {n} < 30; k++)\n    {n} += 2;",
        f"while ({n} < 20) {{\n    {i} += {rng.choice((3, 7, 100, 255))};\n    {n}++;\n    if ({i} < {rng.choice((5, 50))})\n        break;\n}}",
        f"for ({i} = 0; ({t})({i} + 1) > {i} && {n} < {rng.choice((10, 300))}; {i}++)\n    {n}++;",
        f"for (;;) {{\n    if ({i}-- == 0)\n        break;\n    if (++{n} > 20)\n        break;\n}}",
    )))  # fmt: skip
    p.result(n)
    p.result(i)


def counted_loops(p):
    """Loops with too many iterations to be unrolled."""
    rng = p.rng
    n = rng.choice((50, 200, 1000, 3000))
    i, s = p.name("i"), p.name("s")
    a = p.integer(0, 5)
    t = rng.choice(("int", "unsigned", "long long", "unsigned short", "unsigned char"))
    step = rng.choice((1, 1, 2, 3))
    body = rng.choice((f"{s} += {a};", f"{s} += {i} & 1;", f"if ({i} == {n - 1} - {a})\n        {s} = 7;", f"{s} ^= {i};", f"{s}++;\n    if ({s} > {rng.choice((10, 100))})\n        {s} = {a};", f"{s} = {s} + 2 - ({a} > 3);"))
    p.line(f"{t} {s} = {a};\nint {i} = 0;\nwhile ({i} < {n}) {{\n    {body}\n    {i} += {step};\n}}")
    p.result(s)
    p.result(f"{i} * 2 + ({s} > {a})")


def nested_loops(p):
    rng = p.rng
    a, b = p.integer(0, 4), p.integer(1, 4)
    i, j, s = p.name("i"), p.name("j"), p.name("s")
    p.line(f"int {s} = 0, {i}, {j};\nfor ({i} = {a}; {i} > 0; {i}--) {{\n    for ({j} = {i}; {j} < {b} + 2; {j}++) {{\n        if ({rng.choice((f'{i} == {j}', f'{j} == 3', f'({i} + {j}) % 3 == 0'))})\n            {rng.choice(('continue', 'break'))};\n        {s} = {s} * 2 + {j};\n    }}\n    if ({s} > {rng.choice((20, 100))})\n        break;\n}}")
    p.result(s)
    p.result(f"{i} * 10 + {rng.choice(('0', i))}")


def recursion(p):
    rng = p.rng
    f, g = p.name("f"), p.name("g")
    text, call = rng.choice((
        (f"static int {f}(int n) {{ return n <= 1 ? n : {f}(n - 1) + {f}(n - 2); }}", lambda a, b: f"{f}({a} + {b})"),
        (f"static unsigned {f}(unsigned a, unsigned b) {{ return b ? {f}(b, a % b) : a; }}", lambda a, b: f"{f}({a} * 6, {b} * 4 + 2)"),
        (f"static int {g}(int n);\nstatic int {f}(int n) {{ return n == 0 ? 1 : {g}(n - 1); }}\nstatic int {g}(int n) {{ return n == 0 ? 0 : {f}(n - 1); }}", lambda a, b: f"{f}({a} + {b}) * 2 + {g}({b})"),
        (f"static int {f}(int m, int n) {{ return m == 0 ? n + 1 : n == 0 ? {f}(m - 1, 1) : {f}(m - 1, {f}(m, n - 1)); }}", lambda a, b: f"{f}({a} % 3, {b} % 3)"),
        (f"static int {g};\nstatic void {f}(int n) {{\n    if (n <= 0)\n        return;\n    {g}++;\n    {f}(n - 1);\n    {f}(n - 2);\n    {g} += n;\n}}", lambda a, b: f"({f}({a}), {f}({b} & 3), {g})"),
        (f"static void {f}(int *a, int n) {{\n    if (n < 2)\n        return;\n    int t = a[0];\n    a[0] = a[n - 1];\n    a[n - 1] = t;\n    {f}(a + 1, n - 2);\n}}\nstatic int {g}(int x, int n) {{\n    int a[6] = {{1, 2, 3, 4, x, 5}};\n    {f}(a, n);\n    return a[0] * 10 + a[1];\n}}", lambda a, b: f"{g}({a}, {b} + 2)"),
        (f"static int {f}(int n, int *out) {{\n    static int depth;\n    int local = n;\n    depth++;\n    if (n > 0)\n        {f}(n - 1, &local);\n    *out += local;\n    return depth;\n}}\nstatic int {g}(int n) {{\n    int x = 1;\n    int d = {f}(n, &x);\n    return x * 16 + d;\n}}", lambda a, b: f"{g}({a}) + {g}({b})"),
        (f"static unsigned char {f}(unsigned char n) {{ return n == 7 ? 1 : (unsigned char)({f}(n + 1) * 2 + n); }}", lambda a, b: f"{f}({a}) + {f}(250 + {b})"),
        (f"static long long {f}(int n, int k) {{ return k == 0 || k >= n ? 1 : {f}(n - 1, k - 1) + {f}(n - 1, k); }}", lambda a, b: f"{f}({a} + 2, {b})"),
    ))  # fmt: skip
    p.top(text)
    a, b = p.integer(0, 5), p.integer(0, 4)
    p.result(call(a, b))
    p.result(call(b, a) + f" - {a}")


def switches(p):
    rng = p.rng
    f = p.name("f")
    t = rng.choice(("int", "unsigned char", "signed char", "long long", "unsigned"))
    cases = rng.sample(("0", "1", "2", "-1", "3 ... 5", "'a'", "255", "7", "100", "-128"), 5)
    lines = []
    for c in cases:
        lines.append(f"    case {c}:\n        r {rng.choice(('+= 1', '*= 2', '= 9', '-= 3', '^= 5'))};{rng.choice((chr(10) + '        break;', '', '', chr(10) + '        return r;'))}")
    lines.insert(rng.randrange(6), f"    default:\n        r += 50;{rng.choice((chr(10) + '        break;', ''))}")
    p.top(f"static int {f}({t} x) {{\n    int r = 1;\n    switch (x) {{\n" + "\n".join(lines) + "\n    }\n    return r;\n}")
    a = p.input("int", rng.sample([-129, -128, -1, 0, 1, 2, 3, 4, 5, 6, 7, 97, 100, 127, 128, 255, 256, 511], 9))
    p.result(f"{f}({a})")
    p.result(f"{f}({f}({a}) - 1)")


def jumps(p):
    """Jumps into and out of blocks, computed goto, Duff's device, a switch into a loop."""
    rng = p.rng
    f = p.name("f")
    body = rng.choice((
        "int r = 0;\nagain:\n    r += n;\n    if (--n > 0 && r < 20)\n        goto again;\n    if (n == 0)\n        goto out;\n    r += 100;\nout:\n    return r;",
        "int r = 0, k = (n + 3) / 4;\n    if (n <= 0)\n        return -1;\n    switch (n % 4) {\n    case 0: do { r += 1;\n    case 3: r += 10;\n    case 2: r += 100;\n    case 1: r += 1000;\n            } while (--k > 0);\n    }\n    return r;",
        "static const void *const to[] = {&&a, &&b, &&c};\n    int r = 0;\n    goto *to[n < 0 ? 0 : n % 3];\na:\n    r += 1;\nb:\n    r += 10;\n    if (r > 30)\n        return r;\n    goto *to[(r + n) & 1 ? 2 : 0];\nc:\n    return r + 100;",
        "int r = 0;\n    if (n > 2)\n        goto in;\n    for (int i = 0; i < 3; i++) {\n        r += 5;\nin:\n        r++;\n        if (n > 2)\n            return r;\n    }\n    return r;",
        "int r = 0;\n    for (int i = 0; i < 5; i++) {\n        for (int j = 0; j < 5; j++) {\n            if (i * j == n)\n                goto found;\n            r++;\n        }\n    }\n    return -r;\nfound:\n    return r;",
        "int r = ({ int x = n; if (x < 0) x = -x; x * 2; });\n    r += ({ while (r > 5) r -= 3; r; });\n    return r;",
        "int r = 0, state = 0;\n    for (int i = 0; i < 6; i++)\n        switch (state) {\n        case 0: state = n & 1 ? 2 : 1; break;\n        case 1: r++; state = 2; continue;\n        case 2: r += 10; state = i > n ? 3 : 0; break;\n        default: r += 100; }\n    return r;",
    ))  # fmt: skip
    p.top(f"static int {f}(int n) {{\n    {body}\n}}")
    a = p.integer(-2, 9)
    p.result(f"{f}({a})")
    p.result(f"{f}({a} + 1) - {f}(3)")


def side_effects(p):
    """Orders of evaluation that C defines: &&, ||, ?:, the comma, full expressions."""
    rng = p.rng
    g, f = p.name("g"), p.name("f")
    p.top(f"static int {g};\nstatic int {f}(int x) {{\n    {g} = {g} * 3 + x;\n    return x;\n}}")
    a, b = p.integer(-1, 3), p.integer(0, 3)
    e = rng.choice((
        f"{f}({a}) && {f}({b}) || {f}(2)", f"{f}({a}) || {f}({b}) && {f}(4)", f"{f}({a}) ? {f}({b}) : {f}(5)", f"({f}({a}), {f}({b}) + 1, {g})",
        f"!{f}({a}) && ({g} = {b}, {f}(1))", f"{f}({f}({a}) + 2)", f"{f}({a}) ?: {f}({b})",
    ))  # fmt: skip
    p.result(e)
    p.result(g)
    i, arr = p.name("i"), p.name("a")
    p.line(f"int {i} = {b}, {arr}[8] = {{1, 2, 3, 4, 5, 6, 7, 8}};\n{arr}[{i}++] += 10;\n{arr}[++{i}] *= 2;\n{i} += {arr}[{i} - 1]--;")
    p.result(f"{i} * 1000 + {arr}[{b}] + {arr}[{b} + 1] * 10")


def varargs(p):
    rng = p.rng
    p.include("stdarg.h", "stdio.h", "string.h")
    f = p.name("f")
    t, pass_as = rng.choice((("int", "{0}"), ("double", "{0} * 0.5"), ("long long", "(long long){0} << 20"), ("const char *", '"abc" + ({0} & 1)'), ("unsigned", "{0} + 0u")))
    use = {"const char *": "v[0]", "double": "(int)(v * 4)"}.get(t, "(int)(v % 1000)")
    copy = rng.random() < 0.4
    p.top(
        f"static int {f}(int n, ...) {{\n    va_list l;\n    va_start(l, n);\n    int s = 0;\n"
        + ("    va_list c;\n    va_copy(c, l);\n    for (int i = 0; i < n; i++)\n        s -= va_arg(c, int) > 0;\n    va_end(c);\n" if copy and t == "int" else "")
        + f"    for (int i = 0; i < n; i++) {{\n        {t} v = va_arg(l, {t});\n        s = s * 3 + {use};\n    }}\n    va_end(l);\n    return s;\n}}"
    )
    a, b = p.integer(-2, 4), p.integer(0, 3)
    p.result(f"{f}({b}, {', '.join(pass_as.format(x) for x in (a, b, '7'))})")
    if rng.random() < 0.5:
        g, buf = p.name("g"), p.name("b")
        p.top(f"static int {g}(char *b, const char *f, ...) {{\n    va_list l;\n    va_start(l, f);\n    int n = vsprintf(b, f, l);\n    va_end(l);\n    return n;\n}}")
        p.line(f"char {buf}[40];")
        p.result(f'{g}({buf}, "%d-%s-%c", {a}, "xy", 65 + {b})')
        p.result(f"{buf}[strlen({buf}) - 1] + {buf}[0] * 256")
    else:
        g = p.name("g")
        p.top(f"static long long {g}(char k, ...) {{\n    va_list l;\n    va_start(l, k);\n    long long r = k == 'i' ? va_arg(l, int) : k == 'd' ? (long long)va_arg(l, double) : k == 'l' ? va_arg(l, long long) : (long long)va_arg(l, long double);\n    va_end(l);\n    return r;\n}}")
        p.result(f"{g}('i', {a}) + {g}('d', {a} * 1.5) * 10 + {g}('l', {b}LL << 33) + {g}('x', {b} * 2.0L)".replace(f"{b}LL", f"(long long){b}"))


def statics(p):
    rng = p.rng
    f = p.name("f")
    p.top(f"static int {f}(int k) {{\n    static {rng.choice(('int', 'unsigned char', 'short'))} n = {rng.randint(0, 254)};\n    static int *last, all[3] = {{1, [2] = 5}};\n    n += k;\n    if (last)\n        ++*last;\n    last = &all[(n & 0x7f) % 3];\n    return n * 10 + all[2];\n}}")
    a, i, s = p.integer(0, 4), p.name("i"), p.name("s")
    p.line(f"long long {s} = 0;\nfor (int {i} = 0; {i} < {rng.randint(2, 5)}; {i}++)\n    {s} = {s} * 3 + {f}({rng.choice((a, i, f'{a} + {i}', f'{i} == {a}'))});")
    p.result(s)
    p.result(f"{f}(0) - {f}({a})")


def volatiles(p):
    rng = p.rng
    v, w = p.name("v"), p.name("w")
    a = p.integer(-3, 4)
    p.line(f"volatile int {v} = {a};\nvolatile {rng.choice(('unsigned char', 'short', 'long long'))} {w} = {v};\n{w} += {v}++;\nint * volatile {(q := p.name('q'))} = (int *)&{v};\n*{q} -= {w} > 2;")
    p.result(f"{v} * 10 + {w}")
    p.result(f"{v} == {v} && {w} + {v} != {rng.randint(-4, 4)}")


def endings(p):
    """Programs that end, or never end, before the error."""
    rng = p.rng
    p.include("stdlib.h")
    a = p.integer(0, 6)
    f = p.name("f")
    k = rng.randint(0, 6)
    how = rng.choice(("exit({a});", "_Exit(3);", "for (;;)\n        ;", "while ({a} == {k})\n        ;", "exit(0);", "unsigned i = 1;\n    while (i)\n        i += 2;", "int i = {a};\n    do\n        i ^= 1;\n    while (i < 90);"))
    if "exit" not in how and "Exit" not in how:
        p.may_hang = True
    p.top(f"static int {f}(int a) {{\n    if (a != {k})\n        return a * 2;\n    {how.format(a='a', k=k)}\n    return -1;\n}}")
    p.result(f"{f}({a})")
    p.result(f"{a} == {k}")


def assumptions(p):
    """Assumptions in the middle of a program. A path that ends there reaches errors before the assumption, but none after it."""
    rng = p.rng
    a, b = p.integer(-4, 6), p.integer(0, 5)
    s = p.name()
    p.line(f"int {s} = {expression(p, [a, b], 1)} & 15;\nif ({s} > {rng.randint(2, 10)})\n    {s} -= {b};")
    p.include("stdlib.h")
    p.line(f"if ({s} {rng.choice(('>', '<', '=='))} {rng.randint(0, 6)})\n    exit(0);")
    p.result(f"{s} * {a}")
    p.result(f"{s} - {b}")


def noise(p):
    """Code that the slicer should remove, next to code that it must keep."""
    rng = p.rng
    p.include("stdio.h", "stdlib.h", "string.h")
    g, n, a = p.name("g"), p.name("noise"), p.integer(0, 7)
    h = p.name("h")
    p.top(f"static int {g}[4];\nstatic int *{h} = {g};\nstatic void {n}(int x) {{\n    static int calls;\n    char text[16] = \"\";\n    snprintf(text, sizeof text, \"%d\", x);\n    for (int i = 0; i < 4; i++)\n        if (text[i] == '{rng.choice('1357')}')\n            calls++;\n    if (calls > {rng.randint(0, 1)})\n        {h} = &{g}[{rng.randrange(4)}];\n    *{h} += x;\n}}")
    p.line(f"{n}({a});\n{n}({a} {rng.choice(('+ 10', '* 3', '^ 5'))});")
    p.result(f"{g}[{rng.randrange(4)}]")
    p.result(f"{h} - {g}")
    e = p.name("e")
    p.line(f"int {e} = 0;\nfor (int i = 0; i < 3; i++) {{\n    printf(\"%d\\n\", {g}[i]);\n    if ({g}[i] == {a})\n        continue;\n    {e} += i + 1;\n}}")
    p.result(e)


def lasting(p):
    """`setjmp`, which Proviso does not model. It must not cause a wrong verdict."""
    p.include("setjmp.h")
    rng = p.rng
    j, f = p.name("j"), p.name("f")
    p.top(f"static jmp_buf {j};\nstatic void {f}(int k) {{\n    if (k > {rng.randint(0, 3)})\n        longjmp({j}, k);\n}}")
    a = p.integer(0, 5)
    v, r = p.name("v"), p.name("r")
    p.line(f"volatile int {v} = 1;\nint {r} = setjmp({j});\nif ({r} == 0) {{\n    {v} = 2;\n    {f}({a});\n    {v} = 3;\n}}")
    p.result(f"{v} * 10 + {r}")


def attributes(p):
    """Attributes (`cleanup`, `constructor`), atomic operations, vectors."""
    rng = p.rng
    f, g = p.name("f"), p.name("g")
    a = p.integer(0, 5)
    shape = rng.randrange(4)
    if shape == 0:
        p.portable = False
        p.top(f"static int {g};\nstatic void {f}(int *x) {{\n    {g} = {g} * 10 + *x;\n}}")
        p.line(f"for (int i = 0; i < {a}; i++) {{\n    __attribute__((cleanup({f}))) int one = i;\n    __attribute__((cleanup({f}))) int two = 7;\n    if (i == 2)\n        break;\n    one++;\n}}")
        p.result(g)
    elif shape == 1:
        p.top(f"static int {g} = 1;\n__attribute__((constructor)) static void {f}(void) {{\n    {g} += 4;\n}}")
        p.result(f"{g} * {a}")
    elif shape == 2:
        x = p.name()
        p.line(f"_Atomic int {x} = {a};\n{x} += 3;\nint {f} = __sync_fetch_and_add((int *)&{x}, {a});\n__atomic_fetch_xor((int *)&{x}, 5, __ATOMIC_SEQ_CST);\nint {g} = 9;\n_Bool {f}_b = __atomic_compare_exchange_n((int *)&{x}, &{g}, 77, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);")
        p.result(f"{x} * 100 + {f} * 10 + {f}_b")
        p.result(g)
    else:
        v, w = p.name("v"), p.name("w")
        p.top(f"typedef {rng.choice(('int', 'short', 'unsigned char'))} {f} __attribute__((vector_size(16)));")
        p.line(f"{f} {v} = {{1, 2, {a}}}, {w} = {v} {rng.choice('+*-^')} ({f}){{3, {a}, 1}};\n{w}[{a} & 1] += 5;")
        p.result(f"{w}[0] + {w}[1] * 10 + {w}[2] * 100")
        p.result(f"({v} == {w})[2] + ({v} > {w})[0] * 3")


FRAGMENTS = [wrapping_loops, wrapping_loops, wrapping_loops, counted_loops, counted_loops, nested_loops, recursion, recursion, switches, switches, jumps, jumps, side_effects,
             varargs, varargs, statics, volatiles, endings, endings, assumptions, noise, noise, lasting, attributes]  # fmt: skip
