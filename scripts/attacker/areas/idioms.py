"""Idioms of C programs: growing buffers, string traversals by pointers, tables with a sentinel, tagged unions, handlers with a context,
arenas, messages with a length field, cleanup by `goto`."""


def walked(p):
    """A string whose length is an input, and pointers that traverse it: forwards, backwards, two at a time, or writing in place."""
    rng = p.rng
    p.include("stdlib.h", "string.h")
    n, c = p.integer(0, 6), p.integer(0, 3)
    s, q, w = p.name("s"), p.name("q"), p.name("w")
    p.line(f"char *{s} = malloc({n} + 1);\nfor (int i = 0; i < {n}; i++)\n    {s}[i] = 'a' + (i + {c}) % 4;\n{s}[{n}] = 0;")
    p.line(f"char *{q} = {s}, *{w} = {s};")
    p.line(rng.choice((
        f"while (*{q})\n    {q}++;\nwhile ({q} > {s})\n    if (*--{q} == 'b')\n        break;",
        f"for (; *{q}; {q}++)\n    if (*{q} != 'c')\n        *{w}++ = *{q};\n*{w} = 0;",
        f"while (*{q} && {q}[1]) {{\n    char t = *{q};\n    *{q} = {q}[1];\n    {q}[1] = t;\n    {q} += 2;\n}}",
        f"while (*{q} != 0 && *{q} != 'a' + {c})\n    *{q}++ = '.';\n{w} = {q};\nif (*{w})\n    *{w} = 0;",
        f"{w} = {s} + {n};\nwhile ({q} < {w}) {{\n    char t = *{q};\n    *{q}++ = *--{w};\n    *{w} = t;\n}}",
        f"do {{\n    while (*{q} == 'a')\n        {q}++;\n    *{w} = *{q};\n}} while (*{w}++ && *{q}++);",
    )))  # fmt: skip
    p.result(f"({q} - {s}) * 10 + ({w} - {s})")
    p.result(f"strlen({s}) * 1000 + {s}[0]")
    p.line(f"free({s});")


def vector(p):
    """A growing array that a struct owns."""
    rng = p.rng
    p.include("stdlib.h")
    v, push, x = p.name("V"), p.name("push"), p.name("v")
    t = rng.choice(("int", "short", "long long", "unsigned char"))
    grow = rng.choice(("v->cap ? v->cap * 2 : 1", "v->cap + 2", "v->cap + v->cap / 2 + 1"))
    p.top(f"struct {v} {{\n    {t} *data;\n    {rng.choice(('int', 'unsigned', 'size_t'))} n, cap;\n}};")
    p.top(f"static int {push}(struct {v} *v, {t} value) {{\n    if (v->n == v->cap) {{\n        size_t cap = {grow};\n        {t} *data = realloc(v->data, cap * sizeof *data);\n        if (!data)\n            return -1;\n        v->data = data;\n        v->cap = cap;\n    }}\n    v->data[v->n++] = value;\n    return 0;\n}}")
    n, k = p.integer(0, 7), p.integer(-2, 3)
    p.line(f"struct {v} {x} = {{0}};\nfor (int i = 0; i < {n}; i++)\n    if ({push}(&{x}, i * {k}))\n        break;")
    s = p.name()
    p.line(f"int {s} = 0;")
    p.line(rng.choice((
        f"while ({x}.n > 2)\n    {s} = {s} * 2 + {x}.data[--{x}.n];",
        f"for ({t} *q = {x}.data; {x}.data && q < {x}.data + {x}.n; q++)\n    {s} += *q;",
        f"for (int i = (int){x}.n - 1; i >= 0; i--)\n    {s} = {s} * 3 + {x}.data[i];",
        f"if ({x}.n > 1) {{\n    for (int i = 1; i < (int){x}.n; i++)\n        {x}.data[i - 1] = {x}.data[i];\n    {x}.n--;\n    {s} = {x}.data[0];\n}}",
    )))  # fmt: skip
    p.result(s)
    p.result(f"{x}.n * 100 + {x}.cap")
    p.line(f"free({x}.data);")


def sentinel(p):
    """A table that ends with a sentinel."""
    rng = p.rng
    p.include("string.h")
    e, t, f = p.name("E"), p.name("table"), p.name("find")
    n = rng.randint(2, 5)
    words = [f'"{w}"' for w in rng.sample(["add", "sub", "nop", "a", "", "address", "mov"], n)]
    rows = ", ".join(f"{{{w}, {rng.randint(0, 9)}}}" for w in words)
    p.top(f"static const struct {e} {{\n    const char *name;\n    int value;\n}} {t}[] = {{{rows}, {{0, -1}}}};")
    p.top(f"static const struct {e} *{f}(const char *name) {{\n    const struct {e} *e;\n    for (e = {t}; e->name; e++)\n        if (strcmp(e->name, name) == 0)\n            break;\n    return e;\n}}")
    k = p.integer(0, n)
    w = p.name("word")
    p.line(f'const char *{w}[] = {{{", ".join([*words, chr(34) + "none" + chr(34)])}}};')
    p.result(f"{f}({w}[{k}])->value")
    p.result(f"{f}({w}[{k}]) - {t}")
    a, q = p.name("a"), p.name("q")
    p.line(f"int {a}[] = {{{', '.join(str(rng.randint(1, 9)) for _ in range(n))}, {rng.choice((0, -1))}}}, *{q} = {a};\n{a}[{k}] = {rng.choice((0, -1))};\nwhile (*{q} > 0)\n    {q}++;")
    p.result(f"{q} - {a}")


def variants(p):
    """A tagged union that is copied and distinguished by its tag."""
    rng = p.rng
    p.include("string.h")
    v, f, x = p.name("V"), p.name("f"), p.name("x")
    p.top(
        f"struct {v} {{\n    enum {{ {v}_NUMBER, {v}_TEXT, {v}_PAIR, {v}_NONE }} kind;\n    union {{\n        {rng.choice(('long long', 'int', 'double'))} number;\n        char text[{rng.choice((4, 8, 9))}];\n"
        f"        struct {{\n            short first;\n            union {{ unsigned char byte[4]; unsigned word; }} second;\n        }} pair;\n    }};\n}};"
    )
    p.top(
        f"static int {f}(const struct {v} *v) {{\n    switch (v->kind) {{\n    case {v}_NUMBER:\n        return (int)v->number;\n    case {v}_TEXT: {{\n        int n = 0;\n        for (const char *c = v->text; *c; c++)\n            n = n * 3 + *c;\n        return n;\n    }}\n"
        f"    case {v}_PAIR:\n        {rng.choice(('', 'if (v->pair.first > 1) '))}return v->pair.first * 256 + v->pair.second.byte[1];\n    default:\n        return -1;\n    }}\n}}"
    )
    k, a = p.integer(0, 3), p.integer(-2, 3)
    y = p.name("y")
    p.line(f"struct {v} {x};\nmemset(&{x}, 0, sizeof {x});\nswitch ({x}.kind = {k}) {{\ncase {v}_NUMBER:\n    {x}.number = {a} * 5;\n    break;\ncase {v}_TEXT:\n    strcpy({x}.text, {a} > 0 ? \"abc\" : \"z\");\n    break;\ncase {v}_PAIR:\n    {x}.pair.first = {a};\n    {x}.pair.second.word = 0x1020304;\n    break;\ndefault:;\n}}")
    p.line(f"struct {v} {y}[2] = {{{x}, {{.kind = {v}_NUMBER, .number = {a}}}}};\n" + rng.choice((
        f"{y}[1] = {y}[0];\n{y}[0].kind = {v}_NONE;", f"if ({x}.kind == {v}_PAIR)\n    {y}[1].pair = {x}.pair;", f"memcpy(&{y}[1], {y}, sizeof {y}[0]);\n{y}[0].pair.second.byte[1] ^= 1;", f"*({k} ? &{y}[0] : &{y}[1]) = {x};",
    )))  # fmt: skip
    p.result(f"{f}(&{x})")
    p.result(f"{f}({y}) * 2 + {f}(&{y}[1])")


def handlers(p):
    """Function pointers in structs, called with a context."""
    rng = p.rng
    c, h = p.name("C"), p.name("H")
    names = [p.name("on") for _ in range(3)]
    p.top(f"struct {c} {{\n    int depth, sum;\n    int seen[4];\n}};")
    bodies = rng.sample(("c->sum += arg;", "c->depth++;\n    c->seen[c->depth & 3] = arg;", "if (c->depth > 0)\n        c->depth--;\n    c->sum ^= c->seen[c->depth];", "for (int i = 0; i < 4; i++)\n        c->sum += c->seen[i];", "c->seen[arg & 3]++;\n    return c->seen[3];"), 3)
    for name, body in zip(names, bodies, strict=True):
        p.top(f"static int {name}(struct {c} *c, int arg) {{\n    {body}\n    return c->sum;\n}}")
    p.top(f"static const struct {{\n    char key;\n    int (*run)(struct {c} *, int);\n}} {h}[] = {{{{'+', {names[0]}}}, {{'>', {names[1]}}}, {{'<', {names[2]}}}, {{0, 0}}}};")
    x, s, k = p.name("c"), p.name("script"), p.integer(0, 3)
    script = "".join(rng.choice("+><?") for _ in range(rng.randint(2, 6)))
    p.line(f'struct {c} {x} = {{.depth = {k}}};\nchar {s}[] = "{script}";\n{s}[{k} % {len(script)}] = {rng.choice(("62", "43", "60", "0"))};')
    p.line(f"for (char *q = {s}; *q; q++)\n    for (int i = 0; {h}[i].key; i++)\n        if ({h}[i].key == *q && {h}[i].run(&{x}, i + {k}) > 1000)\n            break;")
    p.result(f"{x}.sum * 10 + {x}.depth")
    p.result(f"{x}.seen[{k}] + {x}.seen[1] * 100")


def bits(p):
    """Bit sets in arrays of words, rotations, bits that shifts insert."""
    rng = p.rng
    w = rng.choice(("unsigned", "unsigned char", "unsigned long long", "unsigned short"))
    n = rng.choice((2, 3, 4))
    b, f = p.name("set"), p.name("f")
    p.top(f"static int {f}(const {w} *set, int n) {{\n    int count = 0;\n    for (int i = 0; i < n; i++)\n        for ({w} x = set[i]; x; x &= x - 1)\n            count++;\n    return count;\n}}")
    k, j = p.integer(0, 40), p.integer(0, 7)
    size = f"(8 * (int)sizeof({w}))"
    p.line(f"{w} {b}[{n}] = {{{rng.randint(0, 9)}}};\nif ({k} < {n} * {size}) {{\n    {b}[{k} / {size}] |= ({w})1 << {k} % {size};\n    {b}[{j} / {size}] &= ~(({w})1 << {j});\n}}")
    p.result(f"{f}({b}, {n})")
    x = p.name("x")
    p.line(f"unsigned {x} = {b}[0];\n{x} = {x} << {j} | {x} >> (32 - {j} & 31);")
    p.result(x)
    p.result(f"({x} >> {j} & 1) + ((int)({x} << 24) >> 24) * 2 + ((signed char){x} >> {j}) * 1000")


def flow(p):
    """Jumps into loops, cases that fall through, conditions with side effects."""
    rng = p.rng
    n, k = p.integer(0, 9), p.integer(0, 3)
    a, i, s = p.name("a"), p.name("i"), p.name()
    kind = rng.randrange(4)
    if kind == 0:
        p.line(f"int {a}[12] = {{0}}, {i} = 0, {s} = ({n} + 3) / 4;\nif ({n} > 0)\n    switch ({n} % 4) {{\n    case 0: do {{ {a}[{i}++] = {k};\n    case 3: {a}[{i}++] = 3;\n    case 2: {a}[{i}++] = 2;\n    case 1: {a}[{i}++] = 1;\n    }} while (--{s} > 0);\n    }}")
        p.result(f"{a}[0] + {a}[{n}] * 10 + {i} * 100")
    elif kind == 1:
        p.line(f"int {a}[5] = {{1, 2, 3, 4, 5}}, {i} = {k}, {s} = 0;\nif ({n} & 1)\n    goto inside{i};\nfor ({i} = 0; {i} < 5; {i}++) {{\n    {s} += {a}[{i}];\ninside{i}:\n    {s} = {s} * 2 + {i};\n    if ({s} > 200)\n        goto out{i};\n}}\nout{i}:;")
        p.result(f"{s} * 10 + {i}")
    elif kind == 2:
        p.line(f"int {a}[4] = {{4, 3, 2, 1}}, {i} = 0, {s} = 0;\nwhile ({s} += {a}[{i}], {i}++, {i} < 4 && ({s} < {n} || (({s} & 1) && ({s} += 1))))\n    {s} += {i} == {k} ? ({a}[{i}] = {n}, {a}[{i} - 1]) : {i} > {k} ? -1 : 0;")
        p.result(f"{s} * 10 + {i}")
        p.result(f"{a}[{k}]")
    else:
        p.line(f"int {s} = 0, {i} = {n};\nswitch ({k}) {{\ncase 0:\n    {s} = 1;\n    __attribute__((fallthrough));\ncase 1:\n    {s} += 2;\n    if ({i} > 3)\n        break;\n    __attribute__((fallthrough));\ndefault:\n    {s} *= 3;\n    for (; {i} > 0; {i}--) {{\n        if ({i} == 5)\n            continue;\n        switch ({i} % 3) {{\n        case 0: {s}++; break;\n        case 1: continue;\n        }}\n        {s} += 10;\n    }}\n}}")
        p.result(f"{s} + {i} * 1000")


def ways_out(p):
    """Several resources whose allocation may fail, and one cleanup section."""
    rng = p.rng
    p.include("stdlib.h", "string.h")
    f = p.name("f")
    order = rng.choice(("free(b);\nout_a:\n    free(a);", "free(b);\nout_a:\n    free(a);", "memset(b, 0, n + 1);\n    free(b);\nout_a:\n    free(a);"))
    p.top(
        f"static int {f}(int n, int fail, int *out) {{\n    int result = -1;\n    char *a = malloc(n + 1), *b;\n    if (!a || fail == 1)\n        goto out_a;\n    memset(a, 'x', n);\n    a[n] = 0;\n    b = malloc(n + {rng.choice(('1', '2'))});\n"
        f"    if (!b || fail == 2)\n        goto out_b;\n    memcpy(b, a, n + 1);\n    if (n > 2)\n        b[n - 2] = 0;\n    *out = strlen(b);\n    result = fail == 3 ? b[0] : 0;\nout_b:\n    {order}\n    return result;\n}}"
    )
    n, k, x = p.integer(0, 5), p.integer(0, 4), p.name("x")
    p.line(f"int {x} = 7;")
    p.result(f"{f}({n}, {k}, &{x})")
    p.result(x)


def arena(p):
    """Aligned objects that are allocated in a buffer."""
    rng = p.rng
    p.include("stddef.h", "stdint.h", "string.h")
    a, f = p.name("A"), p.name("alloc")
    size = rng.choice((32, 48, 64))
    p.top(f"static _Alignas(16) char {a}[{size}];\nstatic size_t {a}_used;\nstatic void *{f}(size_t n, size_t align) {{\n    size_t at = ({a}_used + align - 1) & ~(align - 1);\n    if (n > sizeof {a} - at)\n        return 0;\n    {a}_used = at + n;\n    return {a} + at;\n}}")
    n, k = p.integer(1, 9), p.integer(0, 3)
    c, i, r = p.name("c"), p.name("i"), p.name("r")
    p.line(f"char *{c} = {f}({n}, 1);\nint *{i} = {f}(sizeof(int) * 2, 4);\nstruct {{ long long v; char tag; }} *{r} = {f}(sizeof *{r} * {k}, 8);")
    p.line(f"if ({c})\n    memset({c}, {n}, {n});\nif ({i}) {{\n    {i}[0] = {k};\n    {i}[1] = -1;\n}}\nfor (int j = 0; {r} && j < {k}; j++) {{\n    {r}[j].v = j;\n    {r}[j].tag = 'a';\n}}")
    p.result(f"({c} ? {c}[{n} - 1] : -1) + ({i} ? {i}[0] * 10 + {i}[1] : -5)")
    p.result(f"{a}_used * 10 + ({r} && {k} > 1 ? {r}[1].v + {r}[0].tag : 0)")
    p.result(f"(uintptr_t){i} % 4")


def message(p):
    """Messages with a length field."""
    rng = p.rng
    p.include("string.h", "stdint.h")
    f, b = p.name("parse"), p.name("bytes")
    check = rng.choice(("at + 2 + len > n", "len > n - at - 2", "n - at < 2u + len"))
    p.top(
        f"static int {f}(const unsigned char *m, unsigned n, char *out) {{\n    unsigned at = 0, count = 0;\n    while (at + 2 <= n) {{\n        unsigned kind = m[at], len = m[at + 1];\n        if ({check})\n            return -1;\n"
        f"        if (kind == 1 && len >= 2) {{\n            uint16_t v;\n            memcpy(&v, m + at + 2, sizeof v);\n            count += v & 0xff;\n        }} else if (kind == 2 && len < 8) {{\n            memcpy(out, m + at + 2, len);\n            out[len] = 0;\n        }}\n        at += 2 + len;\n    }}\n    return (int)(count * 100 + at);\n}}"
    )
    k, n = p.integer(0, 5), p.integer(0, 9)
    o = p.name("out")
    p.line(f"unsigned char {b}[9] = {{1, 2, 7, 0, 2, 3, 'a', 'b', 'c'}};\nchar {o}[8] = \"\";\n{b}[{rng.choice((1, 5))}] = {k};")
    p.result(f"{f}({b}, {n}, {o})")
    p.result(f"strlen({o}) * 1000 + {o}[0]")


def literals(p):
    """Compound literals, static buffers of functions, arrays in struct arguments."""
    rng = p.rng
    p.include("string.h", "stdio.h")
    s, f, g = p.name("S"), p.name("f"), p.name("g")
    p.top(f"struct {s} {{\n    int n;\n    const int *v;\n}};\nstatic int {f}(struct {s} s) {{\n    int sum = 0;\n    for (int i = 0; i < s.n; i++)\n        sum = sum * 2 + s.v[i];\n    return sum;\n}}")
    p.top(f"static const char *{g}(int k) {{\n    static char buffer[2][8];\n    static int turn;\n    char *b = buffer[turn++ & 1];\n    {rng.choice(('snprintf(b, sizeof buffer[0], %s, k);' % chr(34).join(('', '<%d>', '')), 'b[0] = 48 + k % 10; b[1] = 0;'))}\n    return b;\n}}")
    k, m = p.integer(0, 3), p.integer(1, 3)
    q = p.name("q")
    p.line(f"int *{q} = (int[]){{{k}, 5, {m}}};\n{q}[{k} % 3] += {m};")
    p.result(f"{f}((struct {s}){{{m}, {q}}}) + {f}((struct {s}){{2, (const int[]){{{m}, {k}}}}}) * 100")
    x, y = p.name("x"), p.name("y")
    p.line(f"const char *{x} = {g}({k}), *{y} = {g}({m});")
    p.result(f"strcmp({x}, {y}) == 0")
    p.result(f"{x}[strlen({x}) - 1] + {y}[0] * 100")


def rows(p):
    """A matrix whose rows are allocated one by one, and output parameters."""
    rng = p.rng
    p.include("stdlib.h")
    make, drop = p.name("make"), p.name("drop")
    length = rng.choice(("i + 1", "m", "(m + i) % 4 + 1"))
    p.top(
        f"static int {make}(int n, int m, int ***out) {{\n    int **rows = calloc(n, sizeof *rows);\n    if (!rows)\n        return -1;\n    for (int i = 0; i < n; i++) {{\n        rows[i] = malloc(({length}) * sizeof **rows);\n        for (int j = 0; j < {length}; j++)\n            rows[i][j] = i * 10 + j;\n    }}\n    *out = rows;\n    return n;\n}}"
    )
    p.top(f"static void {drop}(int **rows, int n) {{\n    while (n-- > 0)\n        free(rows[n]);\n    free(rows);\n}}")
    n, m, r = p.integer(1, 4), p.integer(1, 3), p.name("r")
    last = {"i + 1": f"{n} - 1", "m": f"{m} - 1", "(m + i) % 4 + 1": f"({m} + {n} - 1) % 4"}[length]
    p.line(f"int **{r} = 0;\nif ({make}({n}, {m}, &{r}) > 1) {{\n    int *t = {r}[0];\n    {r}[0] = {r}[{n} - 1];\n    {r}[{n} - 1] = t;\n}}")
    p.result(f"{r}[{n} - 1][0] * 100 + {r}[0][{last}]")
    p.line(f"{drop}({r}, {n});")


def passed_on(p):
    """Variadic functions, and a callback with its argument."""
    rng = p.rng
    p.include("stdarg.h")
    f, each, add = p.name("f"), p.name("each"), p.name("add")
    p.top(f"static int {f}(int n, ...) {{\n    va_list all;\n    int s = 0;\n    va_start(all, n);\n    while (n-- > 0)\n        s = s * {rng.choice((2, 10))} + va_arg(all, int);\n    va_end(all);\n    return s;\n}}")
    t = rng.choice(("int", "short", "char"))
    p.top(f"struct {add} {{\n    int *to;\n    int factor, left;\n}};\nstatic int {add}(void *context, {t} value) {{\n    struct {add} *a = context;\n    if (a->left-- == 0)\n        return 1;\n    *a->to += value * a->factor;\n    return 0;\n}}")
    p.top(f"static int {each}({t} *from, {t} *to, int (*f)(void *, {t}), void *context) {{\n    int n = 0;\n    for (; from != to; from++, n++)\n        if (f(context, *from))\n            break;\n    return n;\n}}")
    k, n = p.integer(0, 3), p.integer(0, 4)
    a, s, c = p.name("a"), p.name(), p.name("c")
    p.line(f"{t} {a}[4] = {{1, {k}, 3, {rng.randint(-5, 5)}}};\nint {s} = 0;\nstruct {add} {c} = {{&{s}, {k} + 1, {rng.choice((n, k, 4))}}};")
    p.result(f"{each}({a}, {a} + {n}, {add}, &{c})")
    p.result(s)
    p.result(f"{f}({k}, 1, {n}, 3)")


def ring(p):
    """A ring buffer whose counters may wrap around."""
    rng = p.rng
    q, put, get = p.name("Q"), p.name("put"), p.name("get")
    size, counter = rng.choice((2, 4, 8)), rng.choice(("unsigned char", "unsigned", "unsigned short"))
    start = rng.choice((0, 0, 254, 65534))
    p.top(f"struct {q} {{\n    {counter} head, tail;\n    int data[{size}], after;\n}};")
    p.top(f"static int {put}(struct {q} *q, int v) {{\n    if (({counter})(q->tail - q->head) >= {size})\n        return -1;\n    q->data[q->tail++ % {size}] = v;\n    return 0;\n}}")
    p.top(f"static int {get}(struct {q} *q) {{\n    return q->head == q->tail ? -1 : q->data[q->head++ & {size - 1}];\n}}")
    n, k, x, s = p.integer(0, 6), p.integer(0, 4), p.name("q"), p.name()
    p.line(f"struct {q} {x} = {{{start}, {start}}};\nint {s} = 0;\nfor (int i = 0; i < {n}; i++)\n    {s} += {put}(&{x}, i + 1);\nfor (int i = 0; i < {k}; i++)\n    {s} = {s} * 3 + {get}(&{x});")
    p.result(s)
    p.result(f"({counter})({x}.tail - {x}.head) * 10 + {x}.data[{k} % {size}]")


def appended(p):
    """Text that is composed in a buffer of fixed size."""
    rng = p.rng
    p.include("stdio.h", "string.h")
    b, at = p.name("b"), p.name("at")
    size, n, k = rng.randint(6, 20), p.integer(0, 4), p.integer(-3, 120)
    piece = rng.choice((f'"%d,", {k}', f'"%d:%d", i, {k}', '"%s", i ? "ab" : "c"', f'"%*d", {n}, i', f'"%.*s", {n}, "text"'))
    room = rng.choice((f"{at} + 1 >= {size}", f"{size} - {at} < 2", f"{at} >= {size} - 1"))
    p.line(f"char {b}[{size}] = {{0}};\nint {at} = 0;\nfor (int i = 0; i < {n}; i++) {{\n    if ({room})\n        break;\n    {at} += snprintf({b} + {at}, {size} - {at}, {piece});\n}}")
    p.line(f"if ({at} >= {size})\n    {at} = {size} - 1;\n{b}[{at}] = 0;")
    p.result(f"strlen({b}) * 1000 + {b}[{at} / 2]")


def embedded(p):
    """An intrusive list (links are members of structs); nested arrays that are traversed as one."""
    rng = p.rng
    p.include("stddef.h")
    node, item, around = p.name("node"), p.name("item"), p.name("around")
    width, rows = rng.randint(1, 3), rng.randint(2, 3)
    p.top(f"struct {node} {{\n    struct {node} *next;\n}};\nstruct {item} {{\n    char tag;\n    short table[{rows}][{width}];\n    struct {node} link;\n}};")
    p.top(f"static struct {item} *{around}(struct {node} *n) {{\n    return (struct {item} *)((char *)n - offsetof(struct {item}, link));\n}}")
    n, k, all_, s = p.integer(0, 3), p.integer(0, rows - 1), p.name("all"), p.name()
    p.line(f"struct {item} {all_}[3] = {{{{1}}, {{2}}, {{3}}}};\nstruct {node} *{s}_head = 0;\nfor (int i = 0; i < {n}; i++) {{\n    {all_}[i].link.next = {s}_head;\n    {s}_head = &{all_}[i].link;\n    {all_}[i].table[{k}][0] = i + 5;\n}}")
    p.line(f"int {s} = 0;\nfor (struct {node} *l = {s}_head; l; l = l->next) {{\n    short *t = {around}(l)->table[0], *end = t + {width * rows};\n    {s} = {s} * 2 + {around}(l)->tag;\n    while (t < end)\n        {s} += *t++;\n}}")
    p.result(s)


FRAGMENTS = [walked, walked, vector, vector, sentinel, variants, variants, handlers, bits, flow, flow, ways_out, arena, message, literals, rows, passed_on, ring, appended, embedded]
