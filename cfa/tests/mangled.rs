//! Tests that the parser returns a program or an error with a position for truncated texts and texts with multi-byte
//! characters.

#[path = "mangled/mod.rs"]
mod texts;

use cfa::text::{parse, parse_expression};
use texts::{mangled, nested};

const PROGRAM: &str = "program 64 entry f0
type ty0 int \"int\" 32 signed
input in0 nondet \"n\" ty0 32
error err0 \"unreach-call\" \"m\"
global g0 \"table\" ty0 align 4 size 4 bytes \"\\x01\\x00\\x00\\x00\"
func f0 \"main\" source ty0 () entry l0 {
  local v0 \"x\" ty0 32
  l0: t0: v0 := havoc in0 -> l1 // a.c
  l1: t1: if (v0 <u (3:32 + v0)) means true -> l2
      t2: else ((3:32 + v0) <=u v0) -> l3
  l2: t3: error err0 -> l4
  l3: t4: halt exit 0:32 -> l4
  l4:
}
";

#[test]
fn programs_and_expressions_of_any_text_are_read_or_refused() {
    let mut program = parse(PROGRAM).unwrap_or_else(|e| panic!("{e:?}"));
    let mut refused = 0;
    for text in mangled(PROGRAM) {
        if let Err(error) = parse(&text) {
            assert!(error.line >= 1 && error.column >= 1 && !error.message.is_empty(), "{text}");
            refused += 1;
        }
    }
    assert!(refused > 3_000, "{refused}");
    let expression = "((x.v0 == 0:32) & ~(mem.32(table.g0, 0) <u 7:32))";
    parse_expression(&mut program, expression).unwrap_or_else(|e| panic!("{e:?}"));
    for text in mangled(expression) {
        let _ = parse_expression(&mut program, &text);
    }
}

#[test]
fn what_nests_too_deeply_is_refused() {
    let mut program = parse(PROGRAM).unwrap();
    for deep in
        [nested("(", "1:1", ")"), nested("~", "1:1", ""), nested("(1:1 & ", "1:1", ")"), nested("(", "1:1", " & 1:1)")]
    {
        let error = parse_expression(&mut program, &deep).unwrap_err();
        assert!(error.message.contains("deeper than"), "{}", error.message);
        assert!(parse(&PROGRAM.replace("0:32 -> l4", &format!("{deep} -> l4"))).is_err());
    }
}
