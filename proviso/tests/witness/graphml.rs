//! Witnesses of format 1.0 (GraphML): those of Proviso, and those in the style of other tools.

use super::{Case, LOOPS, OVERRUN, proviso, verdict};

#[test]
fn graphml_says_the_same() {
    let case = Case::new(OVERRUN);
    let path = case.folder.path().join("w.graphml");
    let (said, _) = case.verify(&["--graphml", path.to_str().unwrap()]);
    assert_eq!(said, "FALSE(unreach-call)");
    let text = std::fs::read_to_string(&path).unwrap();
    let count = |what: &str| text.matches(what).count();
    assert_eq!((count("<node "), count("<edge "), count("<node ") - count("</node>")), (5, 4, 0), "{text}");
    assert_eq!(count("<data key=\"assumption.resultfunction\">__VERIFIER_nondet_int</data>"), 3);
    assert_eq!(count("<data key=\"violation\">true</data>"), 1);
    assert!(text.contains("<data key=\"specification\">CHECK( init(main()), LTL(G ! call(reach_error())) )"), "{text}");
    // The witness is recognised by its content and confirmed. A changed witness is not confirmed.
    assert_eq!(case.validate(&text), "FALSE(unreach-call)");
    let none = "UNKNOWN(no execution that follows the witness violates the property)";
    for (from, to, said) in [
        (
            ">10<",
            ">8<",
            "UNKNOWN(an execution that follows the witness violates the property at another place than its target)",
        ),
        (
            ">10<",
            ">9<",
            "UNKNOWN(an execution that follows the witness violates the property at another place than its target)",
        ),
        (
            "__VERIFIER_nondet_int</data>",
            "even</data>",
            "UNKNOWN(in line 7 there is no step of the kind `function_return` of even)",
        ),
        (">7<", ">8<", "UNKNOWN(in line 8 there is no step of the kind `function_return` of __VERIFIER_nondet_int)"),
        (">7</data>\n   <data key=\"assumption\">", ">7</data>\n   <data key=\"assumption\">0 * ", none),
    ] {
        let changed = text.replace(from, to);
        assert_ne!(changed, text, "{from}");
        assert_eq!(case.validate(&changed), said, "{from} {to}");
    }

    let case = Case::new(LOOPS);
    let path = case.folder.path().join("w.graphml");
    let (said, yaml) = case.verify(&["--analysis", "invariants", "--graphml", path.to_str().unwrap()]);
    assert_eq!(said, "TRUE");
    let text = std::fs::read_to_string(&path).unwrap();
    let invariants = yaml.matches("- invariant:").count();
    assert!(invariants > 0);
    assert_eq!(text.matches("<data key=\"invariant\">").count(), invariants);
    // `<` in invariants is escaped.
    assert!(!text.lines().any(|l| l.contains("key=\"invariant\"") && l.matches('<').count() != 2), "{text}");
    assert_eq!(case.validate(&text), "TRUE");
    for (number, line) in text.lines().filter(|l| l.contains("key=\"invariant\"")).enumerate() {
        let value = line.trim().strip_prefix("<data key=\"invariant\">").unwrap().strip_suffix("</data>").unwrap();
        let said = case.validate(&text.replace(line, &format!("<data key=\"invariant\">!({value})</data>")));
        assert!(said.starts_with("UNKNOWN(the invariant `!("), "{number}: {said}");
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// A GraphML witness that is a chain of these edges.
fn chain(edges: &[&[(&str, &str)]]) -> String {
    let data = |pairs: &[(&str, &str)]| -> String {
        pairs.iter().map(|(key, value)| format!("<data key=\"{key}\">{}</data>", escaped(value))).collect()
    };
    let about = data(&[
        ("witness-type", "violation_witness"),
        ("sourcecodelang", "C"),
        ("producer", "hand"),
        ("specification", "CHECK( init(main()), LTL(G ! call(__VERIFIER_error())) )"),
        ("programfile", "elsewhere/p.c"),
        ("architecture", "64bit"),
    ]);
    let mut text = format!(
        "<?xml version=\"1.0\"?>\n<graphml>\n<graph>{about}<node id=\"n0\"><data key=\"entry\">true</data></node>"
    );
    for (number, pairs) in edges.iter().enumerate() {
        let end = if number + 1 == edges.len() { "<data key=\"violation\">true</data>" } else { "" };
        text += &format!("<node id=\"n{}\">{end}</node>\n", number + 1);
        text += &format!("<edge source=\"n{number}\" target=\"n{}\">{}</edge>", number + 1, data(pairs));
    }
    text + "</graph></graphml>\n"
}

/// Witnesses in the style of CPAchecker and Automizer: assumptions after statements and about variables that are
/// declared later, separate edges for the operands of a condition, calls and returns, and the function that reports the
/// error.
#[test]
fn graphml_of_others_is_followed() {
    let case = Case::new(
        "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int limit(void);
static void fail(void) {
    reach_error();
}
int main(void) {
    int x = __VERIFIER_nondet_int();
    int y = limit();
    if (x > 3 && y == 7 || x == 2)
        for (int i = 0; i < 2; i++)
            x += i;
    while (x < 6)
        x++;
    if (x == 6) {
        fail();
    }
    return 0;
}
static int level = 7;
int other = 3;
int limit(void) {
    level = level + other - 3;
    return level;
}
",
    );
    let start: &[(&str, &str)] = &[("startline", "20"), ("assumption", "level == (7); other == (3);")];
    let input: &[(&str, &str)] = &[("startline", "8"), ("assumption", "x == (4)"), ("assumption.scope", "main")];
    let called: &[(&str, &str)] = &[("startline", "9"), ("enterFunction", "limit")];
    let inside: &[(&str, &str)] = &[("startline", "23"), ("sourcecode", "level = level")];
    let back: &[(&str, &str)] = &[("startline", "24"), ("returnFrom", "limit")];
    let first: &[(&str, &str)] = &[("startline", "10"), ("control", "condition-true"), ("sourcecode", "[x > 3]")];
    let second: &[(&str, &str)] = &[("startline", "10"), ("control", "condition-true"), ("sourcecode", "[y == 7]")];
    let turn: &[(&str, &str)] = &[("startline", "11"), ("control", "condition-true")];
    let body: &[(&str, &str)] = &[("startline", "12"), ("assumption", "x == (4 + i)")];
    let out: &[(&str, &str)] = &[("startline", "11"), ("control", "condition-false")];
    let on: &[(&str, &str)] = &[("startline", "13"), ("control", "condition-true"), ("enterLoopHead", "true")];
    let end: &[(&str, &str)] = &[("startline", "15"), ("endline", "15"), ("control", "condition-true")];
    let error: &[(&str, &str)] = &[("startline", "16"), ("enterFunction", "fail")];
    let way = [start, input, called, inside, back, first, second, turn, body, turn, body, out, on, end, error];
    let good = chain(&way);
    assert_eq!(case.validate(&good), "FALSE(unreach-call)");
    // Edges without alternatives may be left out, and the last edge may only describe the way to the error.
    assert_eq!(case.validate(&chain(&[input, end])), "FALSE(unreach-call)");
    let none = "UNKNOWN(no execution that follows the witness violates the property)";
    for (from, to, said) in [
        ("level == (7)", "level == (8)", none),
        ("x == (4)<", "x == (40)<", none),
        ("x == (4 + i)", "x == (5 + i)", none),
        ("condition-false", "condition-true", none),
        (">24<", ">23<", "UNKNOWN(in line 23 there is no step of the kind `returned` of limit)"),
        (">limit<", ">fail<", "UNKNOWN(in line 9 there is no step of the kind `function_enter` of fail)"),
        (">11<", ">12<", "UNKNOWN(in line 12 there is no step of the kind `branching`)"),
        (">23<", ">17<", "UNKNOWN(in line 17 there is no step of the kind `passed`)"),
        ("x == (4)<", "x = (4)<", "UNKNOWN(elsewhere/p.c:8: `x = (4)` is no expression without effects)"),
    ] {
        let changed = good.replace(from, to);
        assert_ne!(changed, good, "{from}");
        assert_eq!(case.validate(&changed), said, "{from} {to}");
    }
    // Executions do not take edges to a sink.
    let sink = "<node id=\"s\"><data key=\"sink\">true</data></node><edge source=\"n1\" target=\"s\">\
                <data key=\"startline\">8</data></edge></graph>";
    assert_eq!(case.validate(&chain(&way).replace("</graph>", sink)), none);
    let unknown = chain(&way).replace("sourcecode\">", "color\">");
    std::fs::write(case.witness(), unknown).unwrap();
    let output = proviso(&["validate", case.witness().to_str().unwrap(), &case.program]);
    assert_eq!(verdict(&output), "FALSE(unreach-call)");
    assert!(String::from_utf8_lossy(&output.stderr).contains("the format has no key color"));
}

/// The edges of a node determine its location: here the loop head after the last statement, whose outgoing edges have
/// the loop condition.
#[test]
fn nodes_of_graphml_are_places() {
    let case = Case::new(LOOPS);
    let data = |pairs: &[(&str, &str)]| -> String {
        pairs.iter().map(|(key, value)| format!("<data key=\"{key}\">{}</data>", escaped(value))).collect()
    };
    let witness = |first: &str, second: &str, scope: &str| {
        let about = data(&[
            ("witness-type", "correctness_witness"),
            ("specification", "CHECK( init(main()), LTL(G ! call(reach_error())) )"),
            ("programfile", "p.c"),
            ("architecture", "64bit"),
        ]);
        let node = |id: &str, pairs: &[(&str, &str)]| format!("<node id=\"{id}\">{}</node>", data(pairs));
        let edge = |from: &str, to: &str, pairs: &[(&str, &str)]| {
            format!("<edge source=\"{from}\" target=\"{to}\">{}</edge>", data(pairs))
        };
        let head = ("enterLoopHead", "true");
        format!(
            "<graphml><graph>{about}{}{}{}{}{}{}{}{}</graph></graphml>",
            node("a", &[("entry", "true")]),
            node("b", &[("invariant", first), ("invariant.scope", scope)]),
            node("c", &[]),
            node("d", &[("invariant", second), ("invariant.scope", scope)]),
            edge("a", "b", &[("startline", "4"), head]),
            edge("b", "c", &[("startline", "7"), ("control", "condition-true")]),
            edge("c", "b", &[("startline", "9"), head]),
            edge("b", "d", &[("startline", "7"), ("control", "condition-false")])
                + &edge("d", "a", &[("startline", "12")]),
        )
    };
    let (loop_, behind) = ("i <= n && s == 2 * i && n <= 1000000", "s == 2 * n || s <= 5");
    assert_eq!(case.validate(&witness(loop_, behind, "main")), "TRUE");
    assert_eq!(case.validate(&witness("1", "( true )", "main")), "TRUE");
    let said = case.validate(&witness("i < n", behind, "main"));
    assert!(said.starts_with("UNKNOWN(the invariant `i < n` does not hold at p.c:7"), "{said}");
    let said = case.validate(&witness(loop_, "s == 2 * n", "main"));
    assert!(said.starts_with("UNKNOWN(the invariant `s == 2 * n` does not hold at p.c:12"), "{said}");
    let said = case.validate(&witness(loop_, behind, "elsewhere"));
    assert!(said.starts_with("UNKNOWN(no place is known for the invariant `"), "{said}");
}
