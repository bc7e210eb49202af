//! Parsers get truncated conditions, automata, C conditions and test cases, with multi-byte characters anywhere. They
//! return an error or a correct result.

#[path = "../../../cfa/tests/mangled/mod.rs"]
mod texts;

use cooperate::condition::{self, Condition, c};
use cooperate::gia::{self, Gia};
use cooperate::range::test_case::TestCase;
use texts::{mangled, nested};

const PROGRAM: &str = "program 64 entry f0
type ty0 int \"int\" 32 signed
input in0 nondet \"n\" ty0 32
func f0 \"main\" source ty0 () entry l0 {
  local v0 \"x\" ty0 32
  l0: t0: v0 := havoc in0 -> l1
  l1: t1: if (v0 == 0:32) means true -> l2
      t2: else ~(v0 == 0:32) means false -> l2
  l2: t3: halt exit 0:32 -> l3
  l3:
}
";

#[test]
fn automata_of_any_text_are_read_or_refused() {
    let mut program = cfa::text::parse(PROGRAM).unwrap_or_else(|e| panic!("{e:?}"));
    let first = |text: String| text.lines().next().unwrap().to_owned();
    let header = first(gia::print(&Gia::nothing(), &program));
    let gia = "q0 initial\n  t1 t2 if \"x == 0 && 3 > (unsigned char)x\" in main -> q1 // a.c:4\n  t0 if (x.v0 == 0:32) -> q1\n  * -> q0\nq1 ut invariant \"x == 1\" in main\n";
    let mut read = |text: &str| gia::parse(&format!("{header}\n{text}"), &mut program);
    read(gia).unwrap_or_else(|e| panic!("{e}"));
    for text in mangled(gia) {
        if let Err(error) = read(&text) {
            assert!(!error.message.is_empty(), "{text}");
        }
    }
    for text in mangled(&header) {
        assert!(gia::parse(&text, &mut program).is_err(), "{text}");
    }
    let header = first(condition::print(&Condition::nothing(), &program));
    let condition = gia.replace(" ut invariant \"x == 1\" in main", " accepting with-rest");
    let mut read = |text: &str| condition::parse(&format!("{header}\n{text}"), &mut program);
    read(&condition).unwrap_or_else(|e| panic!("{e}"));
    for text in mangled(&condition) {
        if let Err(error) = read(&text) {
            assert!(!error.message.is_empty(), "{text}");
        }
    }
}

#[test]
fn c_conditions_of_any_text_are_read_or_refused() {
    let mut program = cfa::text::parse(PROGRAM).unwrap();
    let func = Some(program.entry);
    let text = "!(x != 0x7fUL) || (unsigned char)257 == 1 && -x % 4 >> 2 < ~3 ? 1 : x";
    c::parse(text, func, &mut program).unwrap();
    for text in mangled(text) {
        if let Err(error) = c::parse(&text, func, &mut program) {
            assert!(!error.is_empty(), "{text}");
        }
        let _ = c::constant(&text, func, &mut program);
    }
    for deep in [
        nested("(", "x", ")"),
        nested("!", "x", ""),
        nested("- ", "x", ""),
        nested("(int)", "x", ""),
        nested("x ? ", "x", " : 1"),
        nested("1 ? 2 : ", "x", ""),
        nested("x + ", "x", ""),
        nested("x && ", "x", ""),
    ] {
        let error = c::parse(&deep, func, &mut program).unwrap_err();
        assert!(error.contains("deeper than") || error.contains("more than"), "{error}");
    }
}

#[test]
fn test_cases_of_any_text_are_read_or_refused() {
    let text = "<?xml version=\"1.0\"?>\n<testcase coversError=\"true\">\n<!-- é -->\n<input variable=\"x\"> -3 </input><input><![CDATA[<]]></input></testcase>";
    assert_eq!(TestCase::parse(text).unwrap().values.len(), 2);
    for at in 0..text.len() - 1 {
        assert!(TestCase::parse(&String::from_utf8_lossy(&text.as_bytes()[..at])).is_err(), "{at}");
    }
    for text in mangled(text) {
        let _ = TestCase::parse(&text);
    }
}
