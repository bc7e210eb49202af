//! Tests of the text form: a printed program parses to the same program, and no text makes the parser panic.

use cfa::interp::{InputSource, Interpreter, Limits, Run, Unknown};
use cfa::{BinOp, Bv, CType, DataLayout, Evaluator, Expr, ExprId, Op, Program, Sort, Value, Var, VarKind, text};
use proptest::prelude::*;
use std::path::PathBuf;

fn golden(name: &str) -> (PathBuf, String) {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden")).join(name);
    let content = std::fs::read_to_string(&path).expect("a golden file");
    (path, content)
}

/// The text without comments.
fn uncommented(text: &str) -> String {
    text.lines().map(|l| l.split(" // ").next().unwrap_or_default().trim_end()).fold(String::new(), |t, l| t + l + "\n")
}

/// `UPDATE_GOLDEN=1` rewrites the files.
#[test]
fn golden_programs_read_and_print() {
    for name in GOLDEN {
        let (path, content) = golden(name);
        let program = text::parse(&content).unwrap_or_else(|e| panic!("{}:{e}", path.display()));
        assert_eq!(cfa::validate::validate(&program), Ok(()));
        let printed = text::print(&program);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &printed).expect("writes the golden file");
        }
        assert!(printed == golden(name).1, "{printed}");
        let again = text::parse(&printed).expect("what is printed reads");
        assert_eq!(text::print(&again), printed);
        // Comments do not matter.
        assert_eq!(text::print(&text::parse(&uncommented(&printed)).expect("reads")), printed);
        for seed in 0..20 {
            assert_eq!(run(&program, seed), run(&again, seed));
        }
    }
}

/// A program with every operation, and a program of the front-end.
const GOLDEN: [&str; 2] = ["everything.cfa", "list.cfa"];

/// A short run whose unknown values depend on a seed.
fn run(program: &Program, seed: u64) -> Run {
    struct Seeded(u64);
    impl InputSource for Seeded {
        fn unknown(&mut self, _: Unknown, width: u32) -> Bv {
            self.0 = self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) ^ 0x1234;
            Bv::from_i64(width, if self.0 & 64 == 0 { self.0 as i64 } else { self.0 as i64 >> 60 })
        }
    }
    let limits = Limits { steps: 3000, memory: 1 << 22, call_depth: 100, ..Limits::default() };
    Interpreter::new(program).run(&mut Seeded(seed), limits, &mut ())
}

#[test]
fn errors_have_places() {
    let mut wrong = String::new();
    let start = "program 64 entry f0\ntype ty0 void\n";
    let function =
        |body: &str| format!("{start}func f0 \"main\" source ty0 () entry l0 {{\n  local v0 ty0 8\n{body}}}\n");
    for (text, error) in [
        ("", "1:1: expected 'program', found the end of the text"),
        ("program 16 entry f0", "1:12: unsupported pointer width 16: it is 32 or 64"),
        ("program 64 entry f0\ntype ty1 void", "2:6: expected ty0, found ty1"),
        ("program 64 entry f0", "1:18: there is no f0"),
        ("program 64 entry f0\nüber", "2:1: unexpected 'ü'"),
        ("program 64 entry f0 model \"abc\n\"", "1:27: a string that does not end on its line"),
        (
            &format!("{start}type ty1 typedef \"a\" ty1\nfunc f0 \"f\" model ty0 () entry l0 {{ l0: }}"),
            "4:42: ty1 contains itself or is nested too deeply",
        ),
        (&function("l0:\n    t0: v0 := (v0 + 1:9) -> l0\n"), "6:15: Add on 8 and 9 bits"),
        (&function("l0:\n    t0: v0 := v0[8:0] -> l0\n"), "6:17: bits 8 to 0 of 8 bits"),
        (&function("l0:\n    t0: v0 := 256:8 -> l0\n"), "6:15: the number does not fit into 8 bits"),
        (&function("l0:\n    t0: v0 := -129:8 -> l0\n"), "6:15: the number does not fit into 8 bits"),
        (&function("l0:\n    t0: v0 := v1 -> l0\n"), "6:15: v1 is not declared"),
        (&function("l0:\n    t0: v0 := v0 -> l1\n"), "6:21: there is no l1"),
        (&function("l0:\n    t0: v0 := frob(v0) -> l1\n"), "6:15: unknown operation 'frob' in an expression"),
        (
            &function("l0:\n    t0: v0 := fneg.half.up(v0) -> l1\n"),
            "6:15: unknown operation 'fneg.half.up' in an expression",
        ),
        (
            &function("l0:\n    t0: v0 := fsqrt.half.nearest(v0) -> l1\n"),
            "6:15: unknown operation 'fsqrt.half.nearest' in an expression",
        ),
        (&function("l0:\n    t0: if 1:1 -> l0\n}"), "7:1: expected the 'else' of l0, found '}'"),
        (
            &function("l0:\n    t0: skip -> l0\n    t1: skip -> l0\n"),
            "7:5: l0 has conflicting outgoing edges: one edge, or an 'if' and an 'else', is allowed",
        ),
        (
            &function("l0:\n    t0: v0 := zext.99999999(v0) -> l0\n"),
            "6:15: a width of 99999999 bits; 1 to 8388608 are possible",
        ),
        (&function("l0:\n    t1: skip -> l0\n"), "8:1: t0 is not declared"),
        (&function("l0:\n l0:\n"), "6:2: l0 is declared twice"),
        (
            &function("l0:\n    t0: v0 := 99999999999999999999999999:99999999999999 -> l0"),
            "6:42: the number 99999999999999 is too large",
        ),
    ] {
        let found = text::parse(text).err().map(|e| e.to_string()).unwrap_or_default();
        if found != error {
            wrong += &format!("{found}\n  instead of {error}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    // Deep nesting of every kind.
    let deep = "(".repeat(1_000_000);
    for opening in [&deep[..], &"-".repeat(1_000_000), &"~".repeat(1_000_000), &"fneg.double(".repeat(100_000)] {
        let error = text::parse(&function(&format!("l0: t0: v0 := {opening}"))).err().expect("too deep");
        assert!(error.message.contains("nests deeper"), "{error}");
    }
    let bits = format!("l0: t0: v0 := v0{} -> l0", "[7:0]".repeat(100_000));
    assert!(text::parse(&function(&bits)).is_ok());
}

/// A very deep expression can be printed and parsed. The text of a shared expression is not exponentially long.
#[test]
fn deep_and_shared_expressions() {
    let mut p = Program::new(DataLayout { pointer_width: 64 });
    let ty = p.types.push(CType::Unknown { width: 32 });
    let f = p.entry;
    let v = p.vars.push(Var { name: Some("x".into()), ty, width: 32, kind: VarKind::Local(f), place: None });
    let x = p.var_expr(v);
    let (mut deep, mut shared) = (x, x);
    for i in 0..20_000 {
        let node = if i % 2 == 0 { Expr::Binary(BinOp::Xor, deep, x) } else { Expr::Binary(BinOp::Add, x, deep) };
        deep = p.exprs.intern(node, Sort::Bv(32));
    }
    for _ in 0..200 {
        shared = p.exprs.intern(Expr::Binary(BinOp::Mul, shared, shared), Sort::Bv(32));
    }
    let mut at = p.funcs[f].entry;
    for value in [deep, shared] {
        let next = p.add_location(f);
        p.add_edge(at, Op::Assign { var: v, value }, next, None);
        at = next;
    }
    let printed = text::print(&p);
    assert!(printed.len() < 2_000_000, "{}", printed.len());
    let again = text::parse(&printed).expect("reads");
    assert_eq!(text::print(&again), printed);
    for edge in p.edges.ids() {
        assert_eq!(value_of(&p, edge), value_of(&again, edge));
    }
    assert!(text::expression(&p, &p.exprs, shared).len() < 10_000);
}

fn value_of(p: &Program, edge: cfa::EdgeId) -> Bv {
    let Op::Assign { value, .. } = p.edges[edge].op else { panic!("no assignment") };
    let leaf = |e: ExprId, _: &Expr| Value::Bv(Bv::new(p.exprs.width(e), 0x1234_5677));
    Evaluator::new(&p.exprs, leaf).eval(value)
}

/// No parsed program makes the validator panic. No valid program makes the printers or the interpreter panic.
fn look_at(program: &Program) {
    let valid = cfa::validate::validate(program).is_ok();
    if valid {
        cfa::dot::program(program);
        cfa::dot::call_graph(program);
        run(program, 0);
        run(program, 7);
        for edge in program.edges.values() {
            text::c_operation(program, &edge.op);
            text::operation(program, &edge.op);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Deletes, duplicates, swaps or replaces pieces of the text. A text that still parses prints and parses again.
    #[test]
    fn mutated_texts(second: bool, edits in prop::collection::vec((any::<u32>(), any::<u32>(), 0u32..6, any::<u32>()), 1..6)) {
        let mut text: Vec<char> = golden(GOLDEN[usize::from(second)]).1.chars().collect();
        let noise = ["99999999999999999999", "0", "-", "(", ")", ":", "\"", "e0", "v0", "l4", "if 1:1 -> l4", "\\x", "ö", "\n", "..", "@p0", "4294967295", "type ty3 pointer ty3", "[31:0]", "1:1", "0x"];
        for (at, len, kind, choice) in edits {
            if text.is_empty() { break; }
            let at = at as usize % text.len();
            // Whole words in most cases.
            let word = text[at..].iter().take_while(|c| c.is_alphanumeric() || **c == '.').count().max(1);
            let end = (at + if len % 4 == 0 { len as usize % 40 } else { word }).min(text.len());
            match kind {
                0 => drop(text.drain(at..end)),
                1 => {
                    let piece: Vec<char> = text[at..end].to_vec();
                    text.splice(at..at, piece);
                }
                2 => {
                    let to = choice as usize % text.len();
                    let piece: Vec<char> = text[at..end].to_vec();
                    text.splice(to..to, piece);
                }
                3 => {
                    let noise = noise[choice as usize % noise.len()];
                    text.splice(at..end, noise.chars());
                }
                4 => text.truncate(at),
                // Another number.
                _ => {
                    if let Some(at) = text[at..].iter().position(char::is_ascii_digit).map(|i| at + i) {
                        text[at] = char::from(b'0' + (choice % 10) as u8);
                    }
                }
            }
        }
        let text: String = text.into_iter().collect();
        match text::parse(&text) {
            Ok(program) => {
                look_at(&program);
                let printed = text::print(&program);
                let again = text::parse(&printed);
                prop_assert!(again.is_ok(), "{:?}\n{printed}", again.err());
                prop_assert_eq!(text::print(&again.unwrap()), printed);
            }
            Err(error) => prop_assert!(error.line >= 1 && error.column >= 1 && !error.message.is_empty()),
        }
    }

    #[test]
    fn noise(text in "\\PC*") {
        let _ = text::parse(&text);
        let _ = text::parse(&format!("program 64 entry f0 {text}"));
    }
}
