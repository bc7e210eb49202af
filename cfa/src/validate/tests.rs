use super::validate;
use crate::program::Program;
use crate::text;

const GOLDEN: &str = include_str!("../../tests/golden/everything.cfa");

fn problems(program: &Program) -> Vec<String> {
    validate(program).err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

/// Validates the golden program after the replacement of a piece of its text.
fn changed(from: &str, to: &str) -> Vec<String> {
    assert!(GOLDEN.contains(from), "{from}");
    problems(&text::parse(&GOLDEN.replacen(from, to, 1)).unwrap_or_else(|e| panic!("{to}: {e}")))
}

#[test]
fn a_valid_program_is_valid() {
    assert_eq!(problems(&text::parse(GOLDEN).unwrap()), [] as [&str; 0]);
}

#[test]
fn each_rule_is_checked() {
    let mut wrong = String::new();
    for (from, to, problem) in [
        // 3: variables.
        ("var v0 \"limit\" ty1 32 = 10:32", "var v0 \"limit\" ty1 32 = 10:33", "v0: 33 bits for 32"),
        ("(v3) entry", "() entry", "v3: its function does not have this parameter"),
        ("(v8) varargs", "(v8, v8) varargs", "f2: v8 is a parameter twice"),
        ("(v8) varargs", "(v3, v8) varargs", "f2: v3 is not a parameter of its"),
        // 4: objects.
        ("align 4 size 40", "align 3 size 40", "g0: alignment 3"),
        ("align 4 size 40", "align 4 size 28", "g0: its initial value at 24 exceeds it"),
        ("16: &main.f1", "17: &main.f1", "g0: its initial values overlap at 24"),
        ("bytes \"abc\"", "bytes \"abc\\x00\"", "g3: its initial bytes end with a zero"),
        ("bytes \"abc\"", "bytes \"abcde\"", "g3: its initial bytes exceed it"),
        ("16: &main.f1", "16: limit.v0", "g0: its initial value depends on a variable"),
        // 5: functions.
        ("program 64 entry f0", "program 64 entry f1", "f1: the program's entry has parameters or a result"),
        ("model \"strlen\"", "model \"memchr\"", "models: not in order"),
        ("entry l33", "entry l3", "f3: its entry l3 is not its own"),
        // 6: structure.
        ("-> l20", "-> l0", "t19: l0 is in another function"),
        ("t6: else ~v6", "t6: else v6", "l6: its conditions are not opposite"),
        ("t20: approx taint1 -> l21", "t20: approx taint1 -> l22", "t20: nothing follows at l22"),
        ("t21: error err0 -> l22", "t21: error err0 -> l3", "t21: l3 has edges after the end"),
        ("#[0..2, 5", "#[0..2, 2", "t2: its origins are not in order"),
        // 8: operations.
        ("t3: i.v4 := havoc in0", "t3: i.v4 := havoc in2", "t3: 64 bits of input for 32"),
        ("t14: free malloc v5", "t14: free malloc v6", "t14: a pointer of 1 bits, not 64"),
        ("t14: free malloc v5", "t14: return", "t14: no result of a function that has one"),
        ("t26: return 0:32", "t26: return 0:64", "t26: a result of 64 bits, not 32"),
        ("t26: return 0:32", "t26: return i.v4", "t26: v4 belongs to another function"),
        ("t13: fill v5, -1:8", "t13: fill v5, -1:9", "t13: a byte of 9 bits, not 8"),
        ("t7: v5 := alloc", "t7: i.v4 := alloc", "t7: v4 has 32 bits, not 64"),
        // 9: reads.
        ("t3: i.v4 := havoc in0", "t3: skip", "v4: i may be read before it is written in f1"),
    ] {
        let found = changed(from, to);
        if !found.iter().any(|p| p == problem) {
            wrong += &format!("{to}: {found:?} instead of {problem}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn opposite_by_value_if_not_by_form() {
    assert_eq!(changed("t6: else ~v6", "t6: else (v6 == 0:1)"), [] as [&str; 0]);
    assert_eq!(changed("t6: else ~v6", "t6: else ((v6 & v6) ^ 1:1)"), [] as [&str; 0]);
}

#[test]
fn ids_without_an_entity() {
    let mut p = text::parse(GOLDEN).unwrap();
    p.edges[crate::EdgeId(0)].target = crate::LocId(1000);
    p.funcs[crate::FuncId(1)].return_type = crate::TypeId(77);
    p.places[crate::PlaceId(0)].file = crate::FileId(5);
    let found = problems(&p);
    for problem in ["t0: there is no l1000", "p0: there is no file5"] {
        assert!(found.iter().any(|p| p == problem), "{found:?}");
    }
}
