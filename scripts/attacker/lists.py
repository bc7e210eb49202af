"""Programs about lists of any length: singly and doubly linked, circular, with heads inside nodes. Calls of `choose` determine the
branches and the numbers of iterations in a run. The native runs cover all short sequences of choices, and some long ones."""

import random
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from . import judge
from .native import FAULT, MACHINE, SHARED

BITS, LONG = 9, 400  # choices of which all sequences are run, and random sequences of more
DEEP = 3  # nodes that a failing run makes at least
PLAIN = 4  # of so many proofs, one is asked of symbolic execution, too

DRIVER = """
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
extern int program_main(void);
extern void reset(void);
static jmp_buf next;
static unsigned long long choices;
static int ticks, live, made, least = 99;
_Bool __VERIFIER_nondet_bool(void) { int c = choices & 1; choices >>= 1; return c; }
void tick(void) { if (++ticks > 3000) longjmp(next, 1); }
void reach_error(void) { if (made < least) least = made; longjmp(next, 1); }
void *counted(void *p) { live++; made++; return p; }
void uncounted(void *p) { live -= p != 0; }
int main(void) {
    volatile int lost = 0;
    srand(1);
    for (volatile unsigned n = 0; n < (1u << %(bits)d) + %(long)d; n++) {
        choices = n < 1u << %(bits)d ? n : ((unsigned long long)rand() << 16 ^ rand()) & ((1ull << (10 + n %% 20)) - 1);
        ticks = live = made = 0;
        reset();
        if (setjmp(next)) continue;
        program_main();
        if (live) lost = 1;
    }
    if (least < 99) printf("assertion of %%d", least);
    else puts(lost ? "lost" : "fine");
    return 0;
}
"""

HEAD = """\
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
extern _Bool __VERIFIER_nondet_bool(void);
extern void reach_error(void);
#define choose() __VERIFIER_nondet_bool()
#define check(c) do { if (!(c)) reach_error(); } while (0)
#ifdef NATIVE
extern void tick(void), uncounted(void *), *counted(void *);
#define malloc(n) counted(malloc(n))
#define calloc(k, n) counted(calloc(k, n))
#define free(p) (uncounted(p), free(p))
#else
#define tick() (void)0
#endif
"""

NUMBERS = ("char", "unsigned char", "short", "int", "unsigned", "long long")


@dataclass
class Listing:
    text: str
    made: str
    rooted: bool  # in a global variable, so that it is not lost at the end


class Maker:
    """Generates a program about one kind of list, with the operations of that kind."""

    def __init__(self, rng):
        self.rng = rng
        self.kind = rng.choice(("singly", "singly", "doubly", "doubly", "circular", "ring", "linux", "linux"))
        self.both = self.kind in ("doubly", "ring", "linux")
        self.tailed = self.kind in ("singly", "doubly") and rng.random() < 0.6
        self.packed = rng.random() < 0.15
        self.globals, self.tops, self.lines = [], [], []
        self.values = rng.sample(range(0, 6), rng.choice((1, 2, 2, 3)))
        self.extra = rng.random() < 0.4  # a pointer of each node to some other
        self.middle = None

    def value(self):
        return self.rng.choice(self.values)

    def struct(self):
        rng = self.rng
        fields = [f"{rng.choice(NUMBERS)} v;", *([f"{rng.choice(NUMBERS)} w;"] if rng.random() < 0.5 else [])]
        links = ["struct head h;"] if self.kind == "linux" else ["struct node *next;", *(["struct node *prev;"] if self.both else [])]
        if rng.random() < 0.4:
            links.reverse()
        fields += links
        if self.extra:
            fields.append("struct node *x;")
        # The links are next to each other in a fixed order in 40 % of the programs.
        if rng.random() < 0.6:
            rng.shuffle(fields)
        if rng.random() < 0.2:
            fields.insert(rng.randrange(len(fields)), f"char pad[{rng.randint(1, 12)}];")
        attribute = " __attribute__((packed))" if self.packed else ""
        head = "struct head { struct head *next, *prev; };\n" if self.kind == "linux" else ""
        self.two = any(" w;" in f for f in fields)
        return head + "struct node {\n    " + "\n    ".join(fields) + f"\n}}{attribute};"

    def make(self):
        rng = self.rng
        out = [self.struct()]
        if self.kind == "linux":
            out.append("#define node_of(l) ((struct node *)((char *)(l) - offsetof(struct node, h)))")
        at = rng.choice(("local", "local", "global", "taken", "heap"))
        self.at = at
        top = "struct head" if self.kind == "linux" else "struct list { struct node *first, *last; }"
        if self.kind != "linux":
            out.append(top + ";")
        t = "struct head" if self.kind == "linux" else "struct list"
        clear = "{list}->next = {list}->prev = {list};" if self.kind == "linux" else "{list}->first = {list}->last = 0;"
        begin, reset = [], []
        if at == "global":
            out.append(f"static {t} all;")
            self.list = "(&all)"
            reset.append("memset(&all, 0, sizeof all);")
        elif at == "heap":
            begin.append(f"{t} *list = malloc(sizeof *list);")
            self.list = "list"
        else:
            begin.append(f"{t} all;")
            self.list = "(&all)"
        begin.append(clear.format(list=self.list))
        self.m = rng.choice(("m", "m", "g", "(*pm)"))
        if self.m == "g":
            out.append("static struct node *g;")
            reset.append("g = 0;")
        else:
            begin.append("struct node *m = 0;")
        if self.m == "(*pm)":
            begin.append("struct node **pm = &m;")
        out.append("#ifdef NATIVE\nvoid reset(void) { " + " ".join(reset) + " }\n#endif")
        zero = rng.random() < 0.3
        extra = "\n    n->x = 0;" if self.extra and not zero else ""
        second = "\n    n->w = w;" if self.two else ""
        out.append(
            "static struct node *fresh(int v, int w) {\n    struct node *n = "
            + ("calloc(1, sizeof *n);" if zero else "malloc(sizeof *n);")
            + f"\n    n->v = v;{second}{extra}\n    return n;\n}}"
        )
        self.two_sites = rng.random() < 0.2
        if self.two_sites:
            out.append(f"static struct node *other(int v, int w) {{\n    struct node *n = malloc(sizeof *n);\n    n->v = v;{second}" + ("\n    n->x = 0;" if self.extra else "") + "\n    return n;\n}")
        self.lines += begin
        self.build()
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            rng.choice(self.phases())()
        for _ in range(rng.choice((1, 1, 2))):
            rng.choice(self.checks())()
        if rng.random() < 0.45:
            self.clean()
        body = "\n".join("    " + part for line in self.lines for part in line.split("\n"))
        return HEAD + "\n".join(out) + "\nint main(void) {\n" + body + "\n    return 0;\n}\n"

    # The operations of a kind of list, as C text.

    def first(self):
        if self.kind == "linux":
            return f"({self.list}->next != {self.list} ? node_of({self.list}->next) : 0)"
        return f"{self.list}->first"

    def after(self, n):
        """Returns an expression for the node after `n`, which is null at the end."""
        if self.kind == "linux":
            return f"({n}->h.next != {self.list} ? node_of({n}->h.next) : 0)"
        if self.kind in ("circular", "ring"):
            return f"({n}->next != {self.list}->first ? {n}->next : 0)"
        return f"{n}->next"

    def front(self, v):
        n = f"{'other' if self.two_sites and self.rng.random() < 0.5 else 'fresh'}({v}, {self.value()})"
        l = self.list
        if self.kind == "linux":
            return f"struct node *n = {n};\nn->h.next = {l}->next;\nn->h.prev = {l};\n{l}->next->prev = &n->h;\n{l}->next = &n->h;"
        if self.kind == "singly":
            tail = f"\nif (!{l}->last)\n    {l}->last = n;" if self.tailed else ""
            return f"struct node *n = {n};\nn->next = {l}->first;\n{l}->first = n;{tail}"
        if self.kind == "doubly":
            tail = f"\nelse\n    {l}->last = n;" if self.tailed else ""
            return f"struct node *n = {n};\nn->next = {l}->first;\nn->prev = 0;\nif ({l}->first)\n    {l}->first->prev = n;{tail}\n{l}->first = n;"
        if self.kind == "circular":
            return f"struct node *n = {n};\nif ({l}->first) {{\n    n->next = {l}->first->next;\n    {l}->first->next = n;\n}} else {{\n    n->next = n;\n    {l}->first = n;\n}}"
        return f"struct node *n = {n};\nif ({l}->first) {{\n    n->next = {l}->first;\n    n->prev = {l}->first->prev;\n    n->prev->next = n;\n    {l}->first->prev = n;\n}} else\n    n->next = n->prev = n;\n{l}->first = n;"

    def behind(self, v):
        """Returns statements that append a node, if that needs no traversal of the list. Otherwise they add it at the front."""
        l = self.list
        n = f"fresh({v}, {self.value()})"
        if self.kind == "linux":
            return f"struct node *n = {n};\nn->h.prev = {l}->prev;\nn->h.next = {l};\n{l}->prev->next = &n->h;\n{l}->prev = &n->h;"
        if self.tailed:
            back = f"\nn->prev = {l}->last;" if self.both else ""
            return f"struct node *n = {n};\nn->next = 0;{back}\nif ({l}->last)\n    {l}->last->next = n;\nelse\n    {l}->first = n;\n{l}->last = n;"
        if self.kind == "ring":
            return self.front(v).removesuffix(f"\n{l}->first = n;") + f"\nif (!{l}->first)\n    {l}->first = n;"
        return self.front(v)

    def insert_after(self, m, v):
        n = f"fresh({v}, {self.value()})"
        if self.kind == "linux":
            return f"struct node *n = {n};\nn->h.next = {m}->h.next;\nn->h.prev = &{m}->h;\n{m}->h.next->prev = &n->h;\n{m}->h.next = &n->h;"
        text = f"struct node *n = {n};\nn->next = {m}->next;\n{m}->next = n;"
        if self.both:
            guard = "" if self.kind == "ring" else "if (n->next)\n    "
            text += f"\nn->prev = {m};\n{guard}n->next->prev = n;"
        if self.tailed and self.rng.random() < 0.9:
            text += f"\nif ({self.list}->last == {m})\n    {self.list}->last = n;"
        return text

    def unlink_after(self, m):
        """Returns statements that unlink `d`, the node after `m`."""
        l = self.list
        if self.kind == "linux":
            return "d->h.prev->next = d->h.next;\nd->h.next->prev = d->h.prev;"
        text = f"{m}->next = d->next;"
        if self.kind in ("circular", "ring"):
            text = f"if ({l}->first == d)\n    {l}->first = {m};\n" + text
        if self.both:
            text += "\nd->next->prev = " + m + ";" if self.kind == "ring" else f"\nif (d->next)\n    d->next->prev = {m};"
        if self.tailed and self.rng.random() < 0.9:
            text += f"\nif ({l}->last == d)\n    {l}->last = {m};"
        return text

    # The parts of a program.

    def block(self, text):
        return "{\n    " + text.replace("\n", "\n    ") + "\n}"

    def push(self, v):
        return self.rng.choice((self.front, self.behind))(v)

    def build(self):
        rng = self.rng
        v = self.value()
        for part in range(rng.choice((1, 1, 1, 2, 3))):
            if rng.random() < 0.35:
                self.lines.append(self.block(self.push(v if rng.random() < 0.5 else rng.randint(0, 6))))
            inside = self.push(rng.choice((str(v), str(v), f"choose() ? {self.value()} : {self.value()}")))
            if rng.random() < 0.2:
                inside += f"\n{self.m} = n;" if rng.random() < 0.5 else f"\nif (!{self.m})\n    {self.m} = n;"
            if self.extra and rng.random() < 0.7:
                inside += "\n" + rng.choice(("n->x = n;", f"n->x = {self.m};", f"n->x = {self.first()};"))
            self.lines.append("while (choose()) {\n    tick();\n    " + inside.replace("\n", "\n    ") + "\n}")
            if rng.random() < 0.4:
                v = self.value()

    def each(self, text, name="p"):
        return f"for (struct node *{name} = {self.first()}; {name}; {name} = {self.after(name)}) {{\n    tick();\n    " + text.replace("\n", "\n    ") + "\n}"

    def phases(self):
        return [self.rewrite, self.walk, self.walk, self.at_middle, self.at_middle, self.reverse, self.drop_first, self.drop_first, self.copy, self.again, self.filter, self.cross]

    def again(self):
        self.build()

    def rewrite(self):
        rng = self.rng
        v = self.value()
        self.lines.append(self.each(rng.choice((
            f"p->v = {v};", f"if (choose())\n    p->v = {v};", f"if (p->v == {self.value()})\n    p->v = {v};",
            f"if (p == {self.m})\n    p->v = {v};", f"if (p != {self.m})\n    p->v = {v};", f"if (!{self.after('p')})\n    p->v = {v};",
            f"p->{'w' if self.two else 'v'} = p == {self.first()};", f"if (p == {self.m})\n    break;\np->v = {v};",
        ))))  # fmt: skip

    def walk(self):
        """Moves the middle pointer to some node."""
        m = self.m
        self.lines.append(f"{m} = {self.first()};\nwhile ({m} && {self.after(m)} && {self.rng.choice(('choose()', 'choose()', f'{m}->v == {self.value()}', '1'))}) {{\n    tick();\n    {m} = {self.after(m)};\n}}")

    def at_middle(self):
        rng, m = self.rng, self.m
        v = self.value()
        keep = rng.random()
        gone = "free(d);" if keep < 0.7 else "d->v = 9;"
        self.lines.append(f"if ({m}) " + self.block(rng.choice((
            f"{m}->v = {v};", f"{m}->v = {rng.randint(0, 8)};", self.insert_after(m, rng.choice((v, 7))), self.insert_after(m, rng.choice((v, 7))),
            f"struct node *d = {self.after(m)};\nif (d && d != {m}) " + self.block(self.unlink_after(m) + "\n" + gone),
            f"struct node *d = {self.after(m)};\nif (d && d != {m}) " + self.block(self.unlink_after(m) + "\n" + gone),
            f"while (choose()) {{\n    tick();\n    {self.insert_after(m, v)}\n}}".replace("\nn", "\n    n").replace("\n" + m, "\n    " + m),
            f"free({m});" if rng.random() < 0.2 else f"{m}->v++;",
        ))))  # fmt: skip

    def reverse(self):
        l = self.list
        if self.kind not in ("singly", "doubly"):
            return
        last = f"\n{l}->last = {l}->first;" if self.tailed else ""
        back = "\n    p->prev = q;" if self.both else ""
        self.lines.append(self.block(f"struct node *r = 0, *p = {l}->first;{last}\nwhile (p) {{\n    tick();\n    struct node *q = p->next;{back}\n    p->next = r;\n    r = p;\n    p = q;\n}}\n{l}->first = r;"))

    def drop_first(self):
        l, rng = self.list, self.rng
        use = rng.choice(("", "", f"\ncheck(d->v == {self.value()});", f"\ncheck(d != {self.m});"))
        forget = f"\nif ({self.m} == d)\n    {self.m} = 0;" if rng.random() < 0.85 else ""
        if self.kind == "linux":
            text = f"struct node *d = node_of({l}->next);{use}{forget}\nd->h.next->prev = {l};\n{l}->next = d->h.next;\nfree(d);"
            condition = f"{l}->next != {l}"
        elif self.kind in ("singly", "doubly"):
            back = f"\nif ({l}->first)\n    {l}->first->prev = 0;" if self.both else ""
            tail = f"\nif (!{l}->first)\n    {l}->last = 0;" if self.tailed else ""
            text = f"struct node *d = {l}->first;{use}{forget}\n{l}->first = d->next;{back}{tail}\nfree(d);"
            condition = f"{l}->first"
        else:
            text = f"struct node *d = {l}->first->next;{use}{forget}\n{self.unlink_after(f'{l}->first')}\nfree(d);".replace(f"if ({l}->first == d)\n    {l}->first = {l}->first;\n", "")
            condition = f"{l}->first && {l}->first->next != {l}->first"
        self.lines.append(f"{rng.choice(('if', 'while'))} ({condition} && choose()) " + self.block("tick();\n" + text))

    def filter(self):
        """Deletes the nodes with one value."""
        l, v = self.list, self.value()
        forget = f"if ({self.m} == d)\n    {self.m} = 0;"
        if self.kind == "linux":
            self.lines.append(f"for (struct head *h = {l}->next, *k; h != {l}; h = k) " + self.block(f"tick();\nstruct node *d = node_of(h);\nk = h->next;\nif (d->v == {v}) " + self.block(f"{forget}\nh->prev->next = k;\nk->prev = h->prev;\nfree(d);")))
        elif self.kind == "singly" and not self.tailed:
            self.lines.append(f"for (struct node **q = &{l}->first; *q;) " + self.block(f"tick();\nstruct node *d = *q;\nif (d->v == {v}) " + self.block(f"{forget}\n*q = d->next;\nfree(d);") + " else\n    q = &d->next;"))

    def copy(self):
        l, rng = self.list, self.rng
        if self.kind not in ("singly",):
            return
        order = rng.random() < 0.5
        self.lines.append(self.block(f"struct node *r = 0{'' if order else ', **e = &r'};\n" + self.each(
            "struct node *n = malloc(sizeof *n);\nmemcpy(n, p, sizeof *n);\n" + ("n->next = r;\nr = n;" if order else "n->next = 0;\n*e = n;\ne = &n->next;"))
            + f"\nwhile ({l}->first) {{\n    tick();\n    struct node *d = {l}->first;\n    {l}->first = d->next;\n    free(d);\n}}\n{l}->first = r;\n{self.m} = 0;" + (f"\n{l}->last = r;\nwhile ({l}->last && {l}->last->next) {{\n    tick();\n    {l}->last = {l}->last->next;\n}}" if self.tailed else "")))

    def cross(self):
        """Writes one link, mostly with its current value."""
        rng, m = self.rng, self.m
        if self.extra:
            self.lines.append(rng.choice((f"if ({m})\n    {m}->x = {self.first()};", f"if ({m} && {m}->x)\n    {m} = {m}->x;", self.each(f"p->x = {rng.choice(('p', m, self.first()))};"), f"if ({m} && {m}->x)\n    {m}->x->v = {self.value()};")))

    def checks(self):
        return [self.all_values, self.all_values, self.links, self.ends, self.meets, self.number, self.order, self.own, self.length]

    def all_values(self):
        rng = self.rng
        some = rng.sample(range(0, 8), 1) if rng.random() < 0.1 else rng.sample(self.values, rng.randint(1, len(self.values)))
        if rng.random() < 0.3:
            some.append(rng.choice((0, 7, 9)))
        f = "w" if self.two and rng.random() < 0.5 else "v"
        condition = " || ".join(f"p->{f} == {v}" for v in some)
        if rng.random() < 0.3:
            condition += " || " + rng.choice((f"p == {self.m}", f"!{self.after('p')}", f"p == {self.first()}"))
        self.lines.append(self.each(f"check({condition});"))

    def links(self):
        if self.kind == "linux":
            self.lines.append(f"for (struct head *h = {self.list}->next; h != {self.list}; h = h->next) {{\n    tick();\n    check(h->{self.rng.choice(('next->prev', 'prev->next'))} == h);\n}}")
        elif self.kind == "ring":
            self.lines.append(self.each("check(p->next->prev == p);"))
        elif self.both:
            self.lines.append(self.each(self.rng.choice(("check(!p->next || p->next->prev == p);", f"check(p->prev ? p->prev->next == p : p == {self.list}->first);"))))
        else:
            self.lines.append(self.each("check(p->next != p);"))

    def ends(self):
        l = self.list
        if self.tailed:
            self.lines.append(self.rng.choice((f"check(!{l}->last || !{l}->last->next);", f"check(!{l}->first == !{l}->last);", self.each(f"if (!p->next)\n    check(p == {l}->last);"), f"check(!{l}->first || {l}->first == {l}->last || {l}->first->next);")))
        elif self.kind == "linux":
            self.lines.append(self.rng.choice((f"check(({l}->next == {l}) == ({l}->prev == {l}));", f"if ({l}->next != {l})\n    check(node_of({l}->prev)->v == {self.value()});", f"check({l}->prev->next == {l});")))
        else:
            self.lines.append(self.each(f"if (!{self.after('p')})\n    check(p->v == {self.value()});"))

    def meets(self):
        """Checks whether, and where, a traversal reaches the middle pointer."""
        m = self.m
        self.lines.append(self.block("int met = 0;\n" + self.each(f"if (p == {m})\n    met{self.rng.choice(('++', ' = 1'))};") + f"\ncheck(met == ({m} != 0));" if self.rng.random() < 0.7 else f"int met = 0;\n{self.each(f'if (p == {m}) met = 1; else if (met) check(p->v == {self.value()});')}"))

    def number(self):
        v = self.value()
        n = self.rng.choice((0, 1, 1, 2))
        self.lines.append(self.block("unsigned k = 0;\n" + self.each(f"if (p->v == {v})\n    k++;") + f"\ncheck({self.rng.choice((f'k <= {n}', f'k != {n + 2}', f'k >= {n}', f'!{self.first()} || k >= {n}'))});"))

    def order(self):
        """Checks that one value occurs before another."""
        self.lines.append(self.block("int then = 0;\n" + self.each(f"if (p->v == {self.value()})\n    then = 1;\nelse\n    check(!then);")))

    def own(self):
        if self.extra:
            self.lines.append(self.each(self.rng.choice((f"check(!p->x || p->x == {self.rng.choice(('p', self.m, self.first()))});", f"if (p->x)\n    check(p->x->v == {self.value()});"))))
        else:
            self.lines.append(f"if ({self.m})\n    check({self.m}->v == {self.value()});")

    def length(self):
        n = self.rng.choice((1, 2, 3, 4))
        self.lines.append(self.block(f"unsigned k = 0;\nstruct node *p = {self.first()};\nwhile (p && k < {n}) {{\n    tick();\n    k++;\n    p = {self.after('p')};\n}}\ncheck({self.rng.choice((f'k < {n}', f'k <= {n}', f'k != {n - 1}', f'!p || p->v == {self.value()}'))});"))

    def clean(self):
        l = self.list
        late = self.rng.random() < 0.1  # a freed node is accessed
        look = " && d->v >= 0" if late else ""
        if self.kind == "linux":
            self.lines.append(f"while ({l}->next != {l}) {{\n    tick();\n    struct head *h = {l}->next;\n    h->next->prev = {l};\n    {l}->next = h->next;\n    free(node_of(h));\n}}")
        elif self.kind in ("singly", "doubly"):
            self.lines.append(f"while ({l}->first) {{\n    tick();\n    struct node *d = {l}->first;\n    {l}->first = d->next;\n    free(d);\n" + (f"    check(1{look});\n" if late else "") + "}")
        else:
            self.lines.append(f"if ({l}->first) {{\n    struct node *p = {l}->first->next;\n    while (p != {l}->first) {{\n        tick();\n        struct node *d = p;\n        p = p->next;\n        free(d);\n    }}\n    free(p);\n}}")
        if self.at == "heap" and self.rng.random() < 0.8:
            self.lines.append("free(list);")


def make(seed):
    maker = Maker(random.Random(f"{seed} lists"))
    text = maker.make()
    rng = random.Random(f"{seed} loses")
    # Remove a statement.
    if rng.random() < 0.3:
        lines = text.split("\n")
        main = lines.index("int main(void) {")
        places = [n for n in range(main, len(lines)) if lines[n].endswith(";") and " = " in lines[n] and not lines[n].lstrip().startswith(("struct", "unsigned", "int")) and lines[n - 1].endswith(("{", ";"))]
        if places:
            del lines[rng.choice(places)]
            text = "\n".join(lines)
    return Listing(text, maker.kind, maker.at == "global" or maker.m == "g")


def truth(text, bits, folder: Path):
    """Returns the result of the native runs (a fault, a failed assertion, lost memory, or none of these) and the messages. The result is
    None if the program does not compile or runs too long."""
    (folder / "native.c").write_text(text)
    (folder / "driver.c").write_text(DRIVER % {"bits": BITS, "long": LONG})
    binary = folder / "native"
    flags = ["-fsanitize=address", "-fsanitize-address-use-after-return=never", "-g0", "-O0", *SHARED, *MACHINE[bits]]
    for source, more in (("native", ["-DNATIVE", "-Dmain=program_main"]), ("driver", [])):
        made = subprocess.run(["clang-19", *flags, *more, "-c", str(folder / f"{source}.c"), "-o", str(folder / f"{source}.o")], capture_output=True, text=True)
        if made.returncode != 0:
            return None, made.stderr
    subprocess.run(["clang-19", *flags, str(folder / "native.o"), str(folder / "driver.o"), "-o", str(binary)], capture_output=True, text=True, check=True)
    environment = {"ASAN_OPTIONS": f"detect_leaks=0:exitcode={FAULT}:quarantine_size_mb=16", "PATH": "/usr/bin:/bin"}
    try:
        run = subprocess.run([str(binary)], capture_output=True, text=True, timeout=60, env=environment)
    except subprocess.TimeoutExpired:
        return None, "takes too long natively"
    if run.returncode == FAULT or run.returncode < 0:
        return "fault", run.stderr
    return run.stdout.strip(), run.stderr


def questions(listing, seen, seed):
    """Returns the properties to verify, each with whether the runs violate it. After a fault, no other property is known, and after a
    failed assertion, it is not known whether memory is lost at the end."""
    if seen == "fault":
        return {"valid-memsafety": True}
    if seen.startswith("assertion"):
        # If few nodes suffice, an analysis finds the violation before it abstracts the list. So most such programs are skipped.
        return {"unreach-call": True} if int(seen.split()[-1]) >= DEEP or seed % 8 == 0 else {}
    lost = seen == "lost"
    memory = {"valid-memcleanup": lost} if seed % 2 else {"valid-memsafety": lost and not listing.rooted}
    return {"unreach-call": False, **(memory if not lost or seed % 4 == 0 else {})}


def attack(seed, proviso, analyses, timeout):
    """Returns the record of one program: the result of the native runs, and the verdicts of Proviso."""
    listing = make(seed)
    with tempfile.TemporaryDirectory(prefix="lists") as name:
        folder = Path(name)
        bits = 32 if seed % 8 == 7 else 64
        seen, why = truth(listing.text, bits, folder)
        if seen is None:
            return {"seed": seed, "made": [listing.made], "unfit": why}
        text = f"// seed {seed}: {listing.made}; {bits} bits; natively: {seen}\n" + listing.text
        file = folder / "program.c"
        file.write_text(text)
        record = {"seed": seed, "made": [listing.made], "claim": seen, "holds": seen == "fine", "text": text, "answers": [], "folded": []}
        base = ["--32"] if bits == 32 else []
        for question, fails in questions(listing, seen, seed).items():
            for analysis in analyses:
                way = ["--property", question, "--analysis", analysis, *base]
                verdict = judge.ask(proviso, file, [], way, timeout)
                wrong = judge.complaint(verdict, not fails)
                # The runs do not cover all sequences of choices. Proviso has replayed the violation, so it is real.
                if not fails and verdict.answer == "FALSE":
                    wrong = None
                record["answers"].append((way, verdict, wrong))
                if analysis == "shape" and verdict.answer == "TRUE" and seed % PLAIN == 0:
                    plain = judge.ask(proviso, file, [], ["--property", question, "--analysis", "symex", *base], 2)
                    record["folded"].append(plain.answer != "TRUE")
        return record
