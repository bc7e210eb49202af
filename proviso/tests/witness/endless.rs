//! Witnesses of non-termination (format 2.1): a stem and a cycle.

use super::Case;

const STUCK: &str = "\
extern int __VERIFIER_nondet_int(void);
int main(void) {
    int i = __VERIFIER_nondet_int();
    for (int k = 0; k < 10; k++)
        i = i > 1000 ? 1000 : i;
    while (i > 0) {
        int step = __VERIFIER_nondet_int();
        if (i != 5)
            i = i - 1;
        else
            i = i - (step == 2);
    }
    return 0;
}
";

#[test]
fn an_execution_without_end_is_confirmed_from_its_witness() {
    let case = Case::new(STUCK);
    let (said, witness) = case.verify(&["--property", "termination"]);
    assert_eq!(said, "FALSE(termination)");
    for wanted in ["format_version: \"2.1\"", "action: cycle", "CHECK( init(main()), LTL(F end) )"] {
        assert!(witness.replace('\'', "\"").contains(wanted), "{wanted}: {witness}");
    }
    assert!(witness.find("action: follow") < witness.find("action: cycle") && !witness.contains("type: target"));
    assert_eq!(case.validate(&witness), "FALSE(termination)");

    let cycle = witness.find("action: cycle").unwrap();
    let (stem, turn) = witness.split_at(cycle);
    let none = "UNKNOWN(no infinite execution that follows the witness was found)";
    let changed = |from: &str, to: &str| {
        let text = format!("{stem}{}", turn.replacen(from, to, 1));
        assert_ne!(text, witness, "{from}");
        case.validate(&text)
    };
    // Wrong witnesses: the branch that leaves the loop, and a loop that terminates.
    assert_eq!(changed("value: true", "value: false"), none);
    assert_eq!(changed("line: 6\n", "line: 4\n"), none);
    assert!(changed("line: 6\n", "line: 13\n").contains("no such statement starts here"));
    assert!(changed("action: cycle", "action: again").contains("the action again is not supported"));
    // A stem must not come after the cycle.
    let reordered = witness.replacen("action: follow", "action: cycle", 1);
    assert!(!case.validate(&reordered).starts_with("FALSE"), "{reordered}");
    // With other inputs, the loop terminates or has other iterations.
    let at = stem.rfind("\\result == ").unwrap() + "\\result == ".len();
    let end = at + stem[at..].find('\n').unwrap();
    assert_eq!(case.validate(&format!("{}0{}{turn}", &stem[..at], &stem[end..])), none);
    assert_eq!(case.validate(&format!("{}1{}{turn}", &stem[..at], &stem[end..])), none);
    let at = turn.find("\\result == ").unwrap() + "\\result == ".len();
    let end = at + turn[at..].find('\n').unwrap();
    assert_eq!(case.validate(&format!("{stem}{}2{}", &turn[..at], &turn[end..])), none);
    assert_eq!(case.validate(&format!("{stem}{}3{}", &turn[..at], &turn[end..])), "FALSE(termination)");
    // Waypoints of the stem may be in the loop of the cycle.
    let start = stem.rfind("  - segment:").unwrap();
    let iteration = turn[turn.rfind("  - segment:").unwrap()..].replace("action: cycle", "action: follow");
    let longer = format!("{}{}{}", &witness[..start], iteration.repeat(5), &witness[start..]);
    assert_eq!(case.validate(&longer), "FALSE(termination)");
}

/// The program does not terminate, but the cycle of the witness is wrong, or it is left after some iterations.
#[test]
fn a_cycle_is_passed_for_ever() {
    let program = "\
int main(void) {
    unsigned n = 0;
    while (1) {
        if (n < 3)
            n++;
        while (n < 2)
            n++;
    }
    return 0;
}
";
    let case = Case::new(program);
    let (said, witness) = case.verify(&["--property", "termination"]);
    assert_eq!(said, "FALSE(termination)");
    assert_eq!(case.validate(&witness), "FALSE(termination)");
    assert!(witness.contains("line: 3\n"), "{witness}");
    for line in ["line: 4\n", "line: 6\n"] {
        let column = witness
            .find("column: 5\n")
            .map(|_| witness.replace("line: 3\n", line).replace("column: 5\n", "column: 9\n"));
        let said = case.validate(&column.unwrap());
        assert!(said.starts_with("UNKNOWN("), "{said}");
    }
}

/// A loop need not start its line, and a `for` need not have a condition.
#[test]
fn loops_may_share_their_line_with_other_statements() {
    for line in [
        "int y = 0; while (x != 3) x = x > 5 ? x - 2 : x + 2;",
        "int y = 0; for (; x != 3; ) x = x > 5 ? x - 2 : x + 2;",
        "int y = 0; do x = x > 5 ? x - 2 : x + 2; while (x != 3);",
        "x = 4; for (;;) x = 1 - x;",
        "x = 4; for ( ; ; ) { x = 1 - x; }",
        "for (int i = 0; i < 2; i++) x = x / 2; for (;;) x = 1 - x;",
        "for (;;) for (int i = 0; i < 2; i++) x = 1 - x;",
        "for (;;)\n for (int i = 0; i < 2; i++)\n x = 1 - x;",
    ] {
        let program = format!(
            "extern int __VERIFIER_nondet_int(void);\nint main(void) {{ int x = __VERIFIER_nondet_int();\n {line}\n return 0; }}\n"
        );
        let case = Case::new(&program);
        let (said, witness) = case.verify(&["--property", "termination"]);
        assert_eq!(said, "FALSE(termination)", "{line}");
        assert_eq!(case.validate(&witness), "FALSE(termination)", "{line}\n{witness}");
    }
}

/// The loop of the cycle is entered and left before it is entered for ever. The condition has several operands.
#[test]
fn a_stem_contains_earlier_visits_of_the_loop() {
    for (condition, visits) in [("y < 5", 6), ("y < 2 || y < 5", 6), ("y >= 0 && y != 7 && y < 5", 6)] {
        let program = format!(
            "extern int __VERIFIER_nondet_int(void);
int main(void) {{
    int x = __VERIFIER_nondet_int();
    if (x < 3 || x > 3)
        return 0;
    while (x > 0) {{
        int y = 0;
        while ({condition}) {{
            y++;
            if (x == 2)
                y = 0;
        }}
        x--;
    }}
    return 0;
}}
"
        );
        let case = Case::new(&program);
        let (said, witness) = case.verify(&["--property", "termination"]);
        assert_eq!(said, "FALSE(termination)", "{condition}");
        let stem = &witness[..witness.find("action: cycle").unwrap()];
        assert_eq!(stem.matches("type: branching").count(), visits + 1, "{witness}");
        assert_eq!(stem.matches("value: false").count(), 1, "{witness}");
        assert_eq!(case.validate(&witness), "FALSE(termination)", "{condition}\n{witness}");
        // The loop is not left after fewer iterations.
        let first = witness.find("value: true").unwrap();
        let early = format!("{}value: false{}", &witness[..first], &witness[first + "value: true".len()..]);
        let none = "UNKNOWN(no infinite execution that follows the witness was found)";
        assert_eq!(case.validate(&early), none, "{condition}");
    }
}

/// A loop of gotos has no location in the source, and neither has a recursion.
#[test]
fn what_has_no_loop_in_the_source_has_no_witness() {
    let case = Case::new("int main(void) { again: goto again; }\n");
    let path = case.witness();
    let output =
        super::proviso(&["verify", &case.program, "--property", "termination", "--witness", path.to_str().unwrap()]);
    assert_eq!(super::verdict(&output), "FALSE(termination)");
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no witness"));
    assert!(!path.exists());
}

/// A loop that is left after very many iterations, followed by an infinite loop.
#[test]
fn the_loop_of_a_witness_is_never_left() {
    let program = |turns: &str| {
        format!(
            "int main(void) {{
    unsigned long n = {turns};
    while (n > 0)
        n--;
    while (1)
        ;
}}
"
        )
    };
    let few = Case::new(&program("3"));
    let (said, witness) = few.verify(&["--property", "termination"]);
    assert_eq!(said, "FALSE(termination)");
    assert!(witness.contains("line: 5\n"), "{witness}");
    assert_eq!(few.validate(&witness), "FALSE(termination)");
    assert!(few.validate(&witness.replace("line: 5\n", "line: 3\n")).starts_with("UNKNOWN("));

    let many = Case::new(&program("4000000000"));
    let path = many.witness();
    let output =
        super::proviso(&["verify", &many.program, "--property", "termination", "--witness", path.to_str().unwrap()]);
    assert_eq!(super::verdict(&output), "FALSE(termination)");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("it may leave this loop after very many iterations"), "{told}");
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(why.contains("may leave the loop of the witness"), "{why}");
    assert!(!path.exists());
}
