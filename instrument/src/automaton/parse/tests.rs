use super::*;
use crate::texts::mangled;

#[test]
fn what_is_shipped_is_well_formed() {
    for (name, text) in Automaton::SHIPPED {
        let found = parse(text).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].name, name);
        assert!(found[0].transitions.iter().any(|t| matches!(t.to, Some(TransitionTarget::Error(_)))), "{name}");
    }
}

#[test]
fn a_text_says_what_an_automaton_is() {
    let text = "automaton a for each p at most 3 { int n = -2; harmless g;
        state s, t { call f|g(p, _, *q, ...) if !(n + 1 == 2 * p) && p != NULL { n = n - 1; assert n < 0 \"m\"; } -> t; }
        state t { return h(_) = p -> error \"no\"; end; } }";
    let found = parse(text).unwrap();
    let a = &found[0];
    assert_eq!((a.key.as_deref(), a.instances, &a.variables[..]), (Some("p"), 3, &[("n".to_owned(), -2)][..]));
    assert_eq!((a.states.join(" "), a.harmless.join(" ")), ("s t".into(), "g".into()));
    let Event::Call(pattern) = &a.transitions[0].event else { panic!() };
    let pointee = Named { name: "q".into(), is_pointee: true };
    assert_eq!(
        (pattern.functions.join(" "), pattern.args.clone(), pattern.open),
        ("f g".into(), vec![Some(Named { name: "p".into(), is_pointee: false }), None, Some(pointee)], true)
    );
    assert_eq!((a.transitions[0].from.clone(), &a.transitions[0].to), (vec![0, 1], &Some(TransitionTarget::State(1))));
    assert_eq!(a.transitions[1].to, Some(TransitionTarget::Error("no".into())));
    assert_eq!(
        a.transitions[2],
        Transition { from: vec![1], event: Event::End, guard: None, actions: vec![], to: None }
    );
    assert_eq!(a.functions().collect::<Vec<_>>(), ["f", "g", "h"]);
}

#[test]
fn instances_may_start_elsewhere() {
    let text = "automaton a for each p { given t; state s { start in|out = p -> t; } state t { call f(p) -> s; } }";
    let a = &parse(text).unwrap()[0];
    assert_eq!(a.given, 1);
    assert_eq!(a.transitions[0].event, Event::Start(vec!["in".into(), "out".into()], "p".into()));
}

/// Checks that parsing fails with this position and with a message that contains `part`.
#[track_caller]
fn wrong(text: &str, place: (u32, u32), part: &str) {
    let error = parse(text).unwrap_err();
    assert!(error.message.contains(part), "{error}");
    assert_eq!((error.line, error.column), place, "{error}");
}

#[test]
fn what_is_wrong_is_said_where_it_is() {
    wrong("", (1, 1), "expected `automaton`, found the end of the file");
    wrong("automaton a {\n  state s {\n    call f() -> u;\n  }\n}", (3, 17), "`a` has no state `u`");
    wrong("automaton a { }", (1, 15), "no state");
    wrong("automaton a { state s { call f(x) if y -> s; } }", (1, 38), "unknown name `y`");
    wrong("automaton a for each p { state s { call f(x); } }", (1, 36), "does not bind `p` exactly once");
    wrong("automaton a for each p { state s { end; } }", (1, 36), "initial state");
    wrong("automaton a { state s { call f(x) { y = 1; } } }", (1, 37), "no variable");
    wrong("automaton a { state s { call f(x, x); } }", (1, 25), "`x` is bound");
    wrong("automaton a { state s { call f -> error \"x; } }", (1, 41), "no end");
    wrong("automaton a { state s { } } automaton a { state s { } }", (1, 39), "two automata");
    wrong("automaton a { state s { call f if 9999999999999999999 == 1; } }", (1, 35), "64 bits");
    wrong("automaton a # { }", (1, 13), "`#` means nothing");
    wrong("automaton a { /* ", (1, 15), "comment has no end");
    wrong("automaton a { given t; state s { } }", (1, 21), "no state `t`");
    wrong("automaton a for each p { given t; state s { } state t { end; } }", (1, 32), "initial state");
    wrong("automaton a for each p { state s { start in = q; } }", (1, 36), "does not bind `p` exactly once");
    wrong("automaton a for each p at most 65 { }", (1, 32), "at most 64");
}

/// Random sequences of tokens either parse or return a syntax error.
#[test]
fn any_text_has_an_answer() {
    const PARTS: [&str; 36] = [
        "start",
        "given",
        "automaton",
        "a",
        "for",
        "each",
        "p",
        "at",
        "most",
        "8",
        "{",
        "}",
        "state",
        "s",
        "call",
        "return",
        "end",
        "f",
        "(",
        ")",
        ",",
        "...",
        "_",
        "if",
        "==",
        "-",
        "!",
        "->",
        "error",
        "\"m\"",
        ";",
        "int",
        "=",
        "/*",
        "é",
        "\n",
    ];
    let good = Automaton::SHIPPED.map(|(_, text)| text).join("\n");
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for round in 0..3000 {
        let text: String = if round % 2 == 0 {
            (0..random(40)).map(|_| format!("{} ", PARTS[random(PARTS.len())])).collect()
        } else {
            // A valid text with a part replaced.
            let (from, to) = (random(good.len()), random(good.len()));
            let (from, to) = (good.floor_char_boundary(from.min(to)), good.floor_char_boundary(from.max(to)));
            let to = to.min(good.floor_char_boundary(from + random(60)));
            format!("{}{}{}", &good[..from], PARTS[random(PARTS.len())], &good[to.max(from)..])
        };
        if let Err(error) = parse(&text) {
            let line = text.split('\n').nth(error.line as usize - 1).unwrap_or_else(|| panic!("{error} in {text}"));
            assert!(error.column >= 1 && error.column as usize <= line.len() + 1, "{error} in {text}");
            assert!(!error.message.is_empty() && !error.label.is_empty());
        }
    }
    let deep = format!("automaton a {{ state s {{ call f if {}1", "(".repeat(100_000));
    assert!(parse(&deep).unwrap_err().message.contains("deeply"));
}

#[test]
fn any_text_is_read_or_refused() {
    let (_, good) = Automaton::SHIPPED[0];
    for text in mangled(good) {
        if let Err(error) = parse(&text) {
            assert!(error.line >= 1 && error.column >= 1 && !error.message.is_empty(), "{text}");
        }
    }
}
