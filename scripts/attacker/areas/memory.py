"""Objects: lifetimes, aliasing, arrays and their last cells, structs by value, initialisers, variable-length arrays, overlapping copies."""

ELEMENTS = ["int", "char", "short", "unsigned char", "long long", "unsigned", "signed char", "double"]


def lists(p):
    rng = p.rng
    p.include("stdlib.h")
    t = p.name("N")
    p.top(f"struct {t} {{\n    {rng.choice(('int', 'signed char', 'short'))} v;\n    struct {t} *next;\n}};")
    push, f = p.name("push"), p.name("f")
    p.top(f"static struct {t} *{push}(struct {t} *l, int v) {{\n    struct {t} *n = malloc(sizeof *n);\n    n->v = v;\n    n->next = l;\n    return n;\n}}")
    body = rng.choice((
        f"struct {t} *r = 0;\n    while (l) {{\n        struct {t} *n = l->next;\n        l->next = r;\n        r = l;\n        l = n;\n    }}\n    return r;",
        f"struct {t} **q = &l;\n    while (*q)\n        if ((*q)->v == k) {{\n            struct {t} *d = *q;\n            *q = d->next;\n            free(d);\n        }} else\n            q = &(*q)->next;\n    return l;",
        f"struct {t} *s = 0;\n    while (l) {{\n        struct {t} *n = l, **q = &s;\n        l = l->next;\n        while (*q && (*q)->v < n->v)\n            q = &(*q)->next;\n        n->next = *q;\n        *q = n;\n    }}\n    return s;",
        f"if (!l || !l->next)\n        return l;\n    struct {t} *e = l;\n    while (e->next)\n        e = e->next;\n    e->next = {push}(0, k);\n    return l;",
    ))  # fmt: skip
    p.top(f"static struct {t} *{f}(struct {t} *l, int k) {{\n    {body}\n}}")
    a, b = p.integer(-2, 3), p.integer(0, 3)
    l, s, i = p.name("l"), p.name(), p.name("i")
    p.line(f"struct {t} *{l} = 0;\nfor (int {i} = 0; {i} < {b}; {i}++)\n    {l} = {push}({l}, {rng.choice((f'{a} - {i}', f'{i} * {i}', f'{a} * {i}', f'{i} == {a}'))});")
    p.line(f"{l} = {f}({push}({l}, {a}), {rng.choice((a, '1', '0'))});")
    p.line(f"long long {s} = 0;\nfor (struct {t} *q = {l}; q; q = q->next)\n    {s} = {s} * {rng.choice((3, 10))} + q->v;")
    if rng.random() < 0.5:
        p.line(f"while ({l}) {{\n    struct {t} *n = {l}->next;\n    free({l});\n    {l} = n;\n}}")
    p.result(s)


def growing(p):
    rng = p.rng
    p.include("stdlib.h", "string.h")
    t = rng.choice(ELEMENTS[:6])
    a, n, c, i = (p.name(x) for x in ("a", "n", "c", "i"))
    most = p.integer(0, 9)
    grow = rng.choice(("{c} = {c} ? {c} * 2 : 1", "{c} += 3", "{c} = {n} + 1")).format(c=c, n=n)
    p.line(f"{t} *{a} = 0;\nint {n} = 0, {c} = 0;\nfor (int {i} = 0; {i} < {most}; {i}++) {{\n    if ({n} == {c}) {{\n        {grow};\n        {a} = realloc({a}, {c} * sizeof *{a});\n    }}\n    {a}[{n}++] = {i} * {rng.choice((1, 3, 50))};\n}}")
    p.result(f"{n} ? {a}[{n} - 1] : -1")
    p.result(f"{n} > 2 ? {a}[{n} / 2] * 16 + {c} : {c}")
    if rng.random() < 0.6:
        p.line(f"free({a});")
        b = p.name("b")
        p.line(f"{t} *{b} = calloc({rng.randint(2, 5)}, sizeof *{b});\n{b}[1] += {most};")
        p.result(f"{b}[0] + {b}[1] * 2")


def lifetimes(p):
    """Objects of scopes and calls; heap objects that may reuse the memory of freed ones."""
    rng = p.rng
    p.include("stdlib.h", "string.h")
    f, g = p.name("f"), p.name("g")
    k = p.integer(0, 5)
    p.top(f"static int *{g};\nstatic int {f}(int k) {{\n    int here[4] = {{1, 2, 3, 4}};\n    {g} = &here[k & 3];\n    *{g} += 10;\n    int sum = 0;\n    for (int i = 0; i < 4; i++) {{\n        int fresh{rng.choice((' = 0', ' = i'))};\n        int *q = &fresh;\n        *q += here[i];\n        sum = sum * 3 + fresh;\n    }}\n    {g} = 0;\n    return sum;\n}}")
    p.result(f"{f}({k}) + ({g} == 0)")
    x, y, z = p.name("p"), p.name("p"), p.name("p")
    p.line(f"int *{x} = malloc(sizeof(int) * 2);\n{x}[0] = {k};\n{x}[1] = 5;\nint *{y} = malloc(8);\n{y}[0] = {x}[0] + 1;\n{y}[1] = 7;")
    p.line(rng.choice((
        f"if ({k} > 2) {{\n    free({x});\n    {x} = {y};\n}}", f"{x} = realloc({x}, 40);\n{x}[9] = 1;", f"free({y});\n{y} = {x};", f"int *{z} = {x};\n{x} = {y};\n{y} = {z};",
        f"{{\n    int local = {k};\n    int *{z} = {k} & 1 ? &local : {x};\n    *{z} += 100;\n    {x}[1] = local;\n}}",
    )))  # fmt: skip
    p.result(f"{x}[0] * 10 + {y}[1]")
    p.result(f"({x} == {y}) + ({x} != 0) * 2")


def pointers(p):
    """Pointers to pointers, differences, order, and writes through aliases."""
    rng = p.rng
    t = rng.choice(ELEMENTS[:6])
    a, q, r, pp = (p.name(x) for x in "aqrp")
    n = rng.randint(3, 6)
    i, j = p.integer(0, n - 1), p.integer(0, n - 1)
    p.line(f"{t} {a}[{n}] = {{{', '.join(str(rng.randint(-9, 99)) for _ in range(rng.randint(1, n)))}}};\n{t} *{q} = &{a}[{i}], *{r} = {a} + {j}, **{pp} = {rng.choice((f'&{q}', f'{i} > {j} ? &{q} : &{r}'))};")
    for _ in range(rng.randint(2, 5)):
        p.line(rng.choice((
            f"*{q} += *{r};", f"**{pp} = {j};", f"*{r} = 7;\n*{q} -= *{r};", f"*{pp} = {a} + {n - 1};", f"if ({q} < {r})\n    ++*{pp};", f"{{\n    {t} *swap = {q};\n    {q} = {r};\n    {r} = swap;\n}}",
            f"{q}[{q} < {a} + {n - 1}] = {i};", f"*{r} = *{q} == *{r};", f"if ({r} - {a} > 0)\n    *--{r} = {i} + 20;", f"{t} {(v := p.name())} = *{q};\n*{q} = *{r};\n*{r} = {v};",
        )))  # fmt: skip
    p.result(f"{q} - {a} + ({r} - {a}) * 10 + ({q} < {r}) * 100 + ({q} == {r}) * 200 + (*{pp} >= {q}) * 400")
    p.result(f"*{q} + **{pp} * 2")
    p.result(" + ".join(f"{a}[{x}] * {x + 1}" for x in range(n)))


def bytes_of(p):
    """Objects that are accessed through `char *`, through structs with a common initial sequence, and through pointers converted from integers."""
    rng = p.rng
    p.include("string.h", "stdint.h", "stddef.h")
    s, x = p.name("S"), p.name("s")
    p.top(f"struct {s} {{\n    char tag;\n    {rng.choice(('int', 'short', 'long long'))} n;\n    unsigned char rest[3];\n    {rng.choice(('short', 'double', 'char'))} last;\n}};")
    a = p.integer(-3, 6)
    k = p.integer(0, 3)
    p.line(f"struct {s} {x};\nmemset(&{x}, {rng.choice(('0', '1', '0xff'))}, sizeof {x});\n{x}.n = {a};\n{x}.tag = 'a' + {k};")
    b = p.name("b")
    p.line(f"unsigned char *{b} = (unsigned char *)&{x};")
    for _ in range(rng.randint(1, 3)):
        p.line(rng.choice((
            f"{b}[offsetof(struct {s}, n)] ^= {k};", f"{b}[offsetof(struct {s}, rest) + {k} % 3]++;", f"*({b} + offsetof(struct {s}, n) + 1) = {k};",
            f"memcpy({b} + offsetof(struct {s}, rest), \"xyz\", 3);", f"*(char *)((uintptr_t)&{x} + 0) += 1;", f"memmove({x}.rest + 1, {x}.rest, 2);",
            f"struct {s} {(c := p.name('c'))} = {x};\n{c}.n++;\n{x} = {c};", f"{x}.rest[{k} % 3] = sizeof {x};",
            f"uintptr_t {(w := p.name('w'))} = (uintptr_t)&{x}.n | {k} % 2;\nif ({w} & 1)\n    *(char *)({w} - 1) = 9;" ,
        )))  # fmt: skip
    p.result(f"{x}.n")
    p.result(f"{x}.tag * 256 + {x}.rest[0]")
    p.result(f"{b}[offsetof(struct {s}, n)] + {x}.rest[{k} % 3] * 1000 + sizeof {x} * 100000")


def overlap(p):
    rng = p.rng
    p.include("string.h")
    t = rng.choice(("char", "int", "short"))
    n = rng.randint(5, 9)
    a, i = p.name("a"), p.name("i")
    x, y, l = p.integer(0, 2), p.integer(0, 2), p.integer(0, n - 3)
    p.line(f"{t} {a}[{n}];\nfor (int {i} = 0; {i} < {n}; {i}++)\n    {a}[{i}] = {i} * {i} + 1;")
    p.line(rng.choice((
        f"memmove({a} + {x}, {a} + {y}, {l} * sizeof *{a});",
        f"for (int k = 0; k < {l}; k++)\n    {a}[{x} + k] = {a}[{y} + k];",
        f"for (int k = {l}; k-- > 0;)\n    {a}[{x} + k] = {a}[{y} + k];",
        f"memmove({a} + {x}, {a} + {y}, {l} * sizeof *{a});\nmemset({a} + {y}, {rng.choice((0, 1, 255))}, {l} / 2 * sizeof *{a});",
        f"if ({x} != {y})\n    memcpy({a} + {n - 1}, {a} + {x}, sizeof *{a});",
    )))  # fmt: skip
    p.result(" + ".join(f"{a}[{k}] * {k + 1}LL" for k in range(n)))
    p.result(f"{a}[{l}] * 1000 + {a}[{n - 1}]")


def arrays(p):
    """Array accesses with indices up to the last cell."""
    rng = p.rng
    t = rng.choice(ELEMENTS)
    n = rng.choice((1, 2, 3, 5, 8, 16, 100))
    a, i = p.name("a"), p.name("i")
    home = rng.choice(("", "static "))
    p.line(f"{home}{t} {a}[{n}]{rng.choice((' = {0}', ' = {1, 2}' if n > 1 else ' = {4}', f' = {{[{n - 1}] = 9}}'))};")
    k = p.integer(0, n - 1)
    p.line(rng.choice((
        f"for (int {i} = 0; {i} < {n}; {i}++)\n    {a}[{i}] += {i} % 7;", f"for (unsigned {i} = {n}; {i}-- > 0;)\n    {a}[{i}] = {i} % 5;",
        f"{a}[{n - 1}] = 3;", f"for (int {i} = {k}; {i} < {n}; {i} += 2)\n    {a}[{i}] = {i} & 15;", f"for (int {i} = 1; {i} < {n}; {i}++)\n    {a}[{i}] = {a}[{i} - 1] + 1;",
    )))  # fmt: skip
    p.line(rng.choice((f"{a}[{k}] = {rng.randint(5, 90)};", f"{a}[{n} - 1 - {k}] -= 2;", f"*(&{a}[{n - 1}] - {k}) = 11;", f"({n - 1})[{a}] = {k};", f"{t} *{(q := p.name('q'))} = {a} + {n};\n{q}[-1] = {k};")))
    p.result(f"{a}[{n - 1}]")
    p.result(f"{a}[0] + {a}[{k}] * 100")
    s = p.name()
    p.line(f"int {s} = 0;\nfor (int {i} = 0; {i} < {n}; {i}++)\n    {s} += {a}[{i}] == {rng.choice((0, 1, 3))};")
    p.result(s)


def tables(p):
    """Constant tables that are read at an index that is an input."""
    rng = p.rng
    n = rng.choice((5, 16, 64, 256, 300))
    t = p.name("table")
    e = rng.choice(("int", "unsigned char", "short", "const char *"))
    values = [str(rng.randint(-120, 120) & 0xff) for _ in range(n)]
    if e == "const char *":
        values = [f'"{chr(97 + rng.randrange(26))}{i}"' for i in range(n)]
    p.top(f"static {'const ' if rng.random() < 0.7 and '*' not in e else ''}{e} {t}[{n}] = {{{', '.join(values)}}};")
    k = p.integer(0, n - 1)
    if "*" in e:
        p.result(f"{t}[{k}][0] * 256 + {t}[{n - 1} - {k}][1]")
        return
    f = p.name("f")
    p.top(f"static int {f}(int v) {{\n    for (int i = 0; i < {n}; i++)\n        if ({t}[i] == v)\n            return i;\n    return -1;\n}}")
    p.result(f"{t}[{k}]")
    p.result(f"{t}[{t}[{k}] % {n}] - {t}[({k} * 7 + 1) % {n}]")
    if n <= 64:
        p.result(f"{f}({t}[{k}] + {rng.randint(0, 1)})")


def matrices(p):
    rng = p.rng
    n, m = rng.randint(2, 4), rng.randint(2, 4)
    a, f = p.name("a"), p.name("f")
    p.top(f"static int {f}(int a[{n}][{m}], int k) {{\n    int s = 0;\n    for (int i = 0; i < {n}; i++)\n        for (int j = 0; j < {m}; j++)\n            s = s * 2 + (a[i][j] {rng.choice(('>', '==', '!='))} k);\n    return s;\n}}")
    i, j = p.integer(0, n - 1), p.integer(0, m - 1)
    p.line(f"int {a}[{n}][{m}] = {{{{1, 2}}, {{{rng.randint(0, 5)}}}}};\n{a}[{i}][{j}] += 4;\n(*({a} + {j} % {n}))[{i} % {m}] -= 1;\n((int *){a})[{rng.randrange(n * m)}] = 5;")
    if rng.random() < 0.5:
        p.line(f"int (*{(q := p.name('q'))})[{m}] = &{a}[{i}];\n(*{q})[{m - 1}] = 3;\n{q}[0][0]++;")
    p.result(f"{f}({a}, {rng.choice(('1', j))})")
    p.result(f"{a}[{i}][{m - 1}] * 10 + {a}[{n - 1}][{j}]")


def structs(p):
    """Structs by value: arguments, results, assignments, arrays in structs, compound literals."""
    rng = p.rng
    s, f, x = p.name("S"), p.name("f"), p.name("s")
    t = rng.choice(("int", "short", "char", "long long", "float"))
    n = rng.choice((1, 3, 20))
    p.top(f"struct {s} {{\n    {t} a, b;\n    struct {{ char c[{n}]; {rng.choice(('int', 'double', 'short'))} d; }} in;\n}};")
    a, b = p.integer(-3, 4), p.integer(0, n - 1)
    p.top(f"static struct {s} {f}(struct {s} x, int k) {{\n    x.a += x.b;\n    x.in.c[{n - 1}] = k;\n    {rng.choice(('x.in.d = x.in.c[0];', 'struct %s y = x; y.b = 9; x.b = y.b - x.a;' % s, 'if (k > 0) return %s(x, k - 1);' % f, 'x.in.c[k & 0] ^= 1;'))}\n    return x;\n}}")
    init = rng.choice(("{1, 2}", "{.b = 5}", "{.in = {.d = 2}, .a = 3}", f"{{{a}, 1, {{{{7}}, {b}}}}}", "{.in.c[0] = 4, .in.d = 1, .b = 2}"))
    p.line(f"struct {s} {x} = {init};")
    y = p.name("s")
    p.line(f"struct {s} {y} = {f}({x}, {a});")
    p.line(rng.choice((f"{x} = {a} > 0 ? {x} : {y};", f"{y}.in = {x}.in;", f"{x} = {y} = {f}({y}, 1);", f"{x} = (struct {s}){{.a = {a}, .in.c = {{3}}}};", f"struct {s} {(z := p.name('z'))}[2] = {{{x}, {y}}};\n{x} = {z}[{a} > 1];",
                       f"struct {s} *{(q := p.name('q'))} = &(struct {s}){{1, {a}}};\n{q}->in.c[{b}] = 6;\n{y} = *{q};")))  # fmt: skip
    p.result(f"{x}.a * 100 + {x}.b")
    p.result(f"{y}.in.c[{b}] + {f}({y}, 2).in.d * 10 + {y}.a")
    p.result(f"{x}.in.c[0] * 2 + {f}({x}, {a}).in.c[{n - 1}]")


def initialisers(p):
    rng = p.rng
    s, g = p.name("S"), p.name("g")
    p.top(
          f"static int {g}_n = 5;\nstatic struct {s} {{\n    int k;\n    const char *name;\n    int *to;\n    unsigned char small[4];\n    struct {{ short x, y; }} at[2];\n}} {g}[3] = {{\n    {{1, \"one\", &{g}_n, {{1, 2}}, {{{{3, 4}}}}}},\n    [2] = {{.at[1].y = -7, .small = \"ab\", .to = &{g}[0].k, .k = sizeof {g}}},\n    [1].name = \"two\" \"x\",\n}};"
    )
    i, j = p.integer(0, 2), p.integer(0, 3)
    p.line(rng.choice((f"if ({g}[{i}].to)\n    ++*{g}[{i}].to;", f"{g}[{i}].at[{j} & 1].x--;", f"{g}[{i}].small[{j}] += 250;", f"{g}[{i}] = {g}[({i} + 1) % 3];", ";")))
    p.result(f"{g}[{i}].k + {g}_n * 1000")
    p.result(f"{g}[{i}].small[{j}] + {g}[{i}].at[1].y * 256 + {g}[{i}].at[{j} & 1].x")
    p.result(f"{g}[{i}].name ? {g}[{i}].name[1] + ({g}[{i}].name[0] << 8) : -1")


def variable_length(p):
    rng = p.rng
    n, m = p.integer(1, 5), p.integer(1, 3)
    f, a, i = p.name("f"), p.name("a"), p.name("i")
    p.top(f"static int {f}(int n, int m, {rng.choice(('int', 'short'))} a[n][m]) {{\n    int s = 0;\n    for (int i = 0; i < n; i++)\n        for (int j = 0; j < m; j++)\n            s = s * 2 + a[i][j];\n    return s + (int)sizeof a[0];\n}}".replace("short", "int"))
    p.line(f"int {a}[{n}][{m}];\nfor (int {i} = 0; {i} < {n} * {m}; {i}++)\n    {a}[{i} / {m}][{i} % {m}] = {i} % 3;\n{a}[{n} - 1][{m} - 1] += 5;")
    p.result(f"{f}({n}, {m}, {a})")
    p.result(f"sizeof {a} + sizeof {a}[0] * 100")
    if rng.random() < 0.5:
        v, s = p.name("v"), p.name()
        p.line(f"int {s} = 0;\nfor (int k = 1; k <= {n}; k++) {{\n    char {v}[k];\n    {v}[k - 1] = k;\n    {v}[0] = 2;\n    {s} = {s} * 3 + {v}[k - 1] + (int)sizeof {v};\n}}")
        p.result(s)


def callbacks(p):
    """`qsort` and `bsearch`; tables of functions."""
    rng = p.rng
    p.include("stdlib.h")
    c, a = p.name("c"), p.name("a")
    n = rng.randint(2, 5)
    t = rng.choice(("int", "char", "short", "long long"))
    order = rng.choice(("x < y ? -1 : x > y", "(y > x) - (y < x)", "(x & 3) - (y & 3)", "(x < 0) - (y < 0)"))
    p.top(f"static int {c}(const void *a, const void *b) {{\n    {t} x = *(const {t} *)a, y = *(const {t} *)b;\n    return {order};\n}}")
    x, y = p.integer(-2, 3), p.integer(0, n - 1)
    p.line(f"{t} {a}[{n}] = {{{', '.join(str(rng.randint(-5, 9)) for _ in range(n))}}};\n{a}[{y}] = {x};\nqsort({a}, {n}, sizeof *{a}, {c});")
    p.result(f"{a}[0] * 100 + {a}[{n - 1}]")
    p.result(f"{a}[{y}]")
    if order.startswith("x < y"):
        k, q = p.name("k"), p.name("q")
        p.line(f"{t} {k} = {x} + 1;\n{t} *{q} = bsearch(&{k}, {a}, {n}, sizeof *{a}, {c});")
        p.result(f"{q} ? *{q} : -99")
    f = [p.name("f") for _ in range(3)]
    for i, g in enumerate(f):
        p.top(f"static int {g}(int x) {{ return {('x + 1', 'x * x', '-x')[i]}; }}")
    table = p.name("ops")
    p.top(f"static int (*{'const ' if rng.random() < 0.5 else ''}{table}[])(int) = {{{', '.join(f)}}};")
    p.result(f"{table}[{y} % 3]({x}) + ({table}[{y} % 2] == {f[1]}) * 50")


def containers(p):
    """`container_of`, tagged pointers, flexible array members, ring buffers."""
    rng = p.rng
    p.include("stdlib.h", "stddef.h", "stdint.h", "string.h")
    s, x = p.name("S"), p.name("s")
    k, v = p.integer(0, 4), p.integer(-2, 5)
    shape = rng.randrange(3)
    if shape == 0:
        p.top(f"struct {s} {{\n    char id;\n    struct {{ int w; }} link;\n    int value;\n}};")
        q = p.name("q")
        p.line(f"struct {s} {x}[5];\nmemset({x}, 0, sizeof {x});\n{x}[{k}].value = {v};\nint *{q} = &{x}[{k}].link.w;\nstruct {s} *{(o := p.name('o'))} = (struct {s} *)((char *){q} - offsetof(struct {s}, link.w));\n{o}->value += {o} - {x};")
        p.result(f"{x}[{k}].value * 10 + {x}[0].value")
    elif shape == 1:
        p.top(f"struct {s} {{\n    int n;\n    {rng.choice(('char', 'short', 'int'))} data[];\n}};")
        p.line(f"struct {s} *{x} = malloc(sizeof *{x} + ({k} + 1) * sizeof {x}->data[0]);\n{x}->n = {k} + 1;\nfor (int i = 0; i < {x}->n; i++)\n    {x}->data[i] = i * {v};\n{x}->data[{k}] += 1;")
        p.result(f"{x}->data[{x}->n - 1] * 10 + {x}->data[0]")
    else:
        p.line(f"int {x}[4] = {{0}}, {(h := p.name('h'))} = 0, {(c := p.name('n'))} = 0, {(lost := p.name('lost'))} = 0;\nfor (int i = 0; i < {k} + 3; i++) {{\n    if ({c} == 4) {{\n        {lost} += {x}[{h}];\n        {h} = ({h} + 1) % 4;\n        {c}--;\n    }}\n    {x}[({h} + {c}++) & 3] = i + {v};\n}}")
        p.result(f"{lost} * 100 + {h} * 10 + {c}")
        p.result(f"{x}[0] - {x}[3]")


FRAGMENTS = [lists, lists, growing, lifetimes, lifetimes, pointers, pointers, pointers, bytes_of, bytes_of, overlap, overlap, arrays, arrays, tables, matrices, structs,
             structs, initialisers, variable_length, callbacks, callbacks, containers]  # fmt: skip
