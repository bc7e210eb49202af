use super::*;
use crate::text::parse;

/// Prints the first operation of a function with variables of all kinds.
fn shown(op: &str) -> String {
    let text = format!(
        "program 64 entry f0
         type ty0 void
         type ty1 int \"int\" 32 signed
         type ty2 int \"unsigned int\" 32 unsigned
         type ty3 int \"char\" 8 signed
         type ty4 int \"unsigned char\" 8 unsigned
         type ty5 int \"long\" 64 signed
         type ty6 float \"double\" double
         type ty7 struct \"node\" 24 {{ \"value\" ty1 0 32, \"next\" ty8 64 64, \"data\" ty9 128 32 }}
         type ty8 pointer ty7
         type ty9 array ty3 4
         type ty10 array ty7 3
         type ty11 pointer ty1
         type ty12 unknown 2
         input in0 nondet \"__VERIFIER_nondet_int\" ty1 32
         global g0 \"nodes\" ty10 align 8 size 72
         global g1 \"table\" ty9 align 1 size 4
         global g2 \"head\" ty7 align 8 size 24
         func f0 \"f\" source ty1 32 () entry l0 {{
           local v0 \"i\" ty1 32 local v1 \"n\" ty1 32 local v2 \"u\" ty2 32 local v3 \"c\" ty3 8
           local v4 \"b\" ty4 8 local v5 \"l\" ty5 64 local v6 \"d\" ty6 64 local v7 \"p\" ty8 64
           temp v8 ty1 32 local v9 \"q\" ty11 64 temp v10 ty12 2
           l0: t0: {op} -> l1 l1:
         }}"
    );
    let p = parse(&text).unwrap_or_else(|e| panic!("{op}: {e}"));
    c_operation(&p, &p.edges[EdgeId(0)].op)
}

#[test]
fn statements_of_c() {
    for (op, c) in [
        ("v0 := (v0 + 1:32)", "i = i + 1"),
        ("v0 := (v0 + -1:32)", "i = i - 1"),
        ("v0 := ((v0 + v1) * -3:32)", "i = (i + n) * -3"),
        ("v0 := ((v0 - v1) - (v0 - v1))", "i = i - n - (i - n)"),
        ("v0 := (v2 /s 2:32)", "i = (int)u / 2"),
        ("v2 := (v2 /u -1:32)", "u = u / 4294967295"),
        ("v2 := (v0 >>u 3:32)", "u = (unsigned)i >> 3"),
        ("v2 := (v2[28:0] ++ 0:3)", "u = u << 3"),
        ("v0 := zext.32((v0 <s v1))", "i = i < n"),
        ("v0 := ((v0 <u 10:32) ? 1:32 : v1)", "i = (unsigned)i < 10 ? 1 : n"),
        ("v5 := sext.64(v0)", "l = i"),
        ("v5 := zext.64(v0)", "l = (unsigned)i"),
        ("v0 := (sext.32(v3) + zext.32(v4))", "i = c + b"),
        ("v3 := v0[7:0]", "c = (unsigned char)i"),
        ("v3 := v0[15:8]", "c = (unsigned char)(i >> 8)"),
        ("v0 := zext.32((v0[1:0] == 0:2))", "i = (i & 0x3) == 0"),
        ("v0 := zext.32((v0[8:4] <u 3:5))", "i = ((i >> 4) & 0x1f) < 3"),
        ("v0 := ~(v0 | (v1 & v2))", "i = ~(i | n & u)"),
        ("v6 := fadd.double(v6, 0x3ff0000000000000:64)", "d = d + 1.0"),
        ("v6 := fdiv.double(stof.double(v0), fsqrt.double(v6))", "d = (double)i / sqrt(d)"),
        ("v0 := ftos.double.32(v6)", "i = (int)d"),
        ("v6 := ((v10 == 0:2) ? fadd.double(v6, v6) : fadd.double.up(v6, v6))", "d = d + d"),
        (
            "v6 := ((v10 == 0:2) ? froundeven.double(v6) : ((v10 == 1:2) ? ffloor.double(v6) : fceil.double(v6)))",
            "d = rint(d)",
        ),
        ("v6 := ((v10 == 0:2) ? ffloor.double(v6) : fabs.double(v6))", "d = tmp10 == 0 ? floor(d) : fabs(d)"),
        ("v6 := ((v0 == 0:32) ? ffloor.double(v6) : fceil.double(v6))", "d = i == 0 ? floor(d) : ceil(d)"),
        ("v8 := v0", "tmp8 = i"),
        ("v0 := havoc in0", "i = __VERIFIER_nondet_int()"),
        ("v0 := load v7", "i = p->value"),
        ("v7 := load (v7 + 8:64)", "p = p->next"),
        ("v3 := load (v7 + 18:64)", "c = p->data[2]"),
        ("v3 := load (&g1 + sext.64(v0))", "c = table[i]"),
        ("v7 := load ((&g0 + (sext.64(v0) * 24:64)) + 8:64)", "p = nodes[i].next"),
        ("v0 := load &g2", "i = head.value"),
        ("v0 := load v9", "i = *q"),
        ("v0 := load (v9 + (sext.64(v0) * 4:64))", "i = q[i]"),
        ("v0 := load (v9 + 8:64)", "i = q[2]"),
        ("store (v7 + 3:64), v3", "*(unsigned char *)(p + 3) = c"),
        ("call f0 (v0, &g2, &g1)", "f(i, &head, table)"),
        ("v0 := call *v5 ()", "i = (*l)()"),
        ("return -1:32", "return -1"),
    ] {
        assert_eq!(shown(op), c, "{op}");
    }
}

#[test]
fn conditions_of_c() {
    let condition = |e: &str| {
        let text = shown(&format!("v0 := zext.32({e})"));
        text.strip_prefix("i = ").expect("an assignment").to_owned()
    };
    for (e, c) in [
        ("~(v0 == 0:32)", "i != 0"),
        ("((v0 <s v1) & ~(v2 == -1:32))", "i < n && u != 4294967295"),
        ("((v0 == v1) | ((v0 <=s v1) & (v3 == -1:8)))", "i == n || i <= n && c == -1"),
        ("flt.double(v6, 0:64)", "d < 0.0"),
        ("~fisnan.double(v6)", "!isnan(d)"),
        ("(v7 == 0:64)", "p == 0"),
    ] {
        assert_eq!(condition(e), c, "{e}");
    }
}

#[test]
fn large_expressions_are_cut() {
    let mut p = Program::new(DataLayout { pointer_width: 64 });
    let mut e = p.exprs.int(32, 1);
    let (_, s) = p.exprs.fresh_symbol(crate::Sort::Bv(32));
    for _ in 0..100_000 {
        let sum = p.exprs.intern(Expr::Binary(BinOp::Mul, e, s), crate::Sort::Bv(32));
        e = p.exprs.intern(Expr::Binary(BinOp::Xor, sum, sum), crate::Sort::Bv(32));
    }
    let text = c_expr(&p, &p.exprs, e);
    assert!(text.len() < 5000 && text.contains('…'), "{}", text.len());
}
