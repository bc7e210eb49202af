//! GIA files: written, checked, combined, converted, and used to reduce programs.

use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = "\
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int x = __VERIFIER_nondet_int();
    int y = 0;
    if (x == 7)
        y = 2;
    if (x < 5)
        y = y + 1;
    if (y == 2)
        reach_error();
    return 0;
}
";

fn proviso(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_proviso")).args(args).current_dir(folder).output().unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.code().is_some_and(|c| c < 3), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Finds the first line of a program's text form that contains `what`. Returns the number of the edge and the variable
/// in it.
fn edge(cfa: &str, what: &str) -> (String, String) {
    let line = cfa.lines().find(|l| l.contains(what)).unwrap_or_else(|| panic!("{what} in\n{cfa}"));
    let number = line.trim().split(':').next().unwrap().to_owned();
    let at = line.find("x.v").expect("a variable");
    let variable: String = line[at..].chars().take_while(|c| c.is_alphanumeric() || *c == '.').collect();
    (number, variable)
}

#[test]
fn what_is_said_is_checked_combined_and_taken_away() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("p.c"), PROGRAM).unwrap();
    let cfa = text(&proviso(folder, &["cfa", "p.c"]));
    let header = text(&proviso(folder, &["gia", "new", "p.c"])).lines().next().unwrap().to_owned();
    let (havoc, x) = edge(&cfa, ":= havoc");
    let (seven, _) = edge(&cfa, "== 7:32) means true");
    let (other, _) = edge(&cfa, "== 7:32) means false");
    let write = |name: &str, body: &str| std::fs::write(folder.join(name), format!("{header}\n{body}")).unwrap();
    let verdict = |name: &str| {
        let output = proviso(folder, &["gia", "check", name, "p.c"]);
        (text(&output).lines().last().unwrap().to_owned(), output.status.code().unwrap())
    };

    // Values other than 7 do not reach the error.
    write("ut", &format!("q0 initial\n  {other} -> q1\n  * -> q0\nq1 ut\n"));
    assert_eq!(verdict("ut"), ("CORRECT".to_owned(), 0));
    write("wrong", &format!("q0 initial\n  {seven} -> q1\n  * -> q0\nq1 ut\n"));
    assert_eq!(verdict("wrong"), ("WRONG".to_owned(), 1));
    // The claim has a condition, an invariant, or both. A second transition without them claims nothing.
    let under = |condition: &str, invariant: &str| {
        let says = "q1 ut".to_owned() + invariant;
        write("under", &format!("q0 initial\n  {havoc}{condition} -> q1\n  {havoc} -> q0\n  * -> q0\n{says}\n"));
        verdict("under")
    };
    for value in [6, 7] {
        let (is_it, is_less) = (format!("({x} == {value}:32)"), format!("({x} <=u {value}:32)"));
        let expected = if value == 6 { ("CORRECT".to_owned(), 0) } else { ("WRONG".to_owned(), 1) };
        assert_eq!(under(&format!(" if {is_it}"), ""), expected);
        assert_eq!(under("", &format!(" invariant {is_it}")), expected);
        assert_eq!(under(&format!(" if {is_less}"), &format!(" invariant {is_it}")), expected);
    }
    // The value 7 reaches the error.
    let path = |value: u32| format!("q0 initial\n  {havoc} if ({x} == {value}:32) -> q1\n  * -> q0\nq1 rt\n");
    write("rt", &path(7));
    assert_eq!(verdict("rt"), ("CORRECT".to_owned(), 0));
    write("lie", &path(6));
    assert_eq!(verdict("lie"), ("WRONG".to_owned(), 1));
    write("unclear", &format!("q0 initial\n  {seven} -> q1\n  * -> q0\nq1 rt\n"));
    assert_eq!(verdict("unclear"), ("UNKNOWN".to_owned(), 2));
    // A file that violates the format, and a file for another program, are rejected.
    write("broken", &format!("q0 initial\n  {other} -> q1\nq1 ut\n  * -> q0\n"));
    let broken = proviso(folder, &["gia", "check", "broken", "p.c"]);
    assert_eq!(broken.status.code(), Some(65));
    let refused = |output: &Output, what: &str| {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(what), "{said}");
    };
    refused(&broken, "broken: q1 is ut and leads to q0, which is not (rule 1)");
    write("broken", "q0 initial\n  t0 if (1:1) q0\n");
    refused(&proviso(folder, &["gia", "check", "broken", "p.c"]), "broken:3: ");

    let both = proviso(folder, &["gia", "combine", "ut", "rt", "p.c", "-o", "both"]);
    assert!(both.status.success(), "{}", String::from_utf8_lossy(&both.stderr));
    assert_eq!(verdict("both"), ("CORRECT".to_owned(), 0));
    let dot = text(&proviso(folder, &["gia", "show", "both", "p.c", "-f", "dot"]));
    assert!(dot.contains("palegreen") && dot.contains("lightblue"), "{dot}");
    let json = text(&proviso(folder, &["gia", "show", "both", "p.c", "-f", "json"]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let says: Vec<_> = json["states"].as_array().unwrap().iter().filter_map(|s| s["says"].as_str()).collect();
    assert!(says.contains(&"ut") && says.contains(&"rt"), "{says:?}");

    // Conversion to a condition automaton and back.
    text(&proviso(folder, &["gia", "to-condition", "ut", "p.c", "-o", "condition"]));
    text(&proviso(folder, &["gia", "from-condition", "condition", "p.c", "-o", "again"]));
    assert_eq!(verdict("again"), ("CORRECT".to_owned(), 0));

    // The program reduced by the proved paths still has the error. Reduced by the violating path, it has none. The
    // reduced program is verified like any program.
    let answer = |options: &[&str]| {
        let mut args = vec!["reduce", "p.c", "-o", "rest.c"];
        args.extend(options);
        text(&proviso(folder, &args));
        text(&proviso(folder, &["verify", "rest.c", "--property", "unreach-call", "--timeout", "20"]))
            .lines()
            .last()
            .unwrap()
            .to_owned()
    };
    for reducer in ["parcomp", "cfa", "lh", "lhc", "lhb", "lhbc", "nlh", "sep"] {
        assert_eq!(answer(&["--condition", "condition", "--reducer", reducer]), "FALSE(unreach-call)", "{reducer}");
        assert_eq!(answer(&["--gia", "both", "--take", "rt", "--reducer", reducer]), "TRUE", "{reducer}");
    }
    assert_eq!(answer(&["--gia", "both"]), "FALSE(unreach-call)");
    let drawn = proviso(folder, &["reduce", "p.c", "--gia", "both", "--shape"]);
    let shape = text(&drawn);
    assert!(shape.lines().count() > 3 && shape.contains('#'), "{shape}");
    assert!(String::from_utf8_lossy(&drawn.stderr).contains("parcomp: "));
}

/// The program of Fig. 15 of the paper on GIAs. The invariant x = 0 holds after the first iteration of the loop, not
/// before it.
const FIG_15: &str = "\
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int x = __VERIFIER_nondet_int();
    int y = 0;
    while (__VERIFIER_nondet_int()) {
        x = 0;
        y = 1;
    }
    if (y != 0)
        if (x != 0)
            reach_error();
    return 0;
}
";

/// Makes a folder with this program, and with a variant that violates the property.
fn fig_15() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p.c"), FIG_15).unwrap();
    std::fs::write(folder.path().join("bug.c"), FIG_15.replace("x = 0;", "x = 3;")).unwrap();
    folder
}

/// The transitions of a GIA between different states, in order, without numbers that depend on the program.
fn shape(gia: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut state = String::new();
    for line in gia.lines().skip(1) {
        match line.strip_prefix("  ") {
            Some(line) => {
                let (what, place) = line.split_once("//").unwrap_or((line, ""));
                let (on, to) = what.split_once(" -> ").unwrap();
                let to = to.trim();
                if to != state {
                    let on = if on == "*" { "*" } else { place.trim() };
                    found.push(format!("{state} -> {to}: {on}"));
                }
            }
            None => {
                state = line.split(' ').next().unwrap().to_owned();
                for says in ["ut", "rt", "cand"] {
                    if line.split(' ').any(|w| w == says) {
                        found.push(format!("{state} is {says}"));
                    }
                }
            }
        }
    }
    found
}

#[test]
fn component_cegar_goes_as_in_the_paper() {
    let folder = fig_15();
    let folder = folder.path();
    let output = proviso(folder, &["gia", "cegar", "p.c", "--keep", "kept", "-t", "60"]);
    assert_eq!(text(&output), "2 refinements\nTRUE\n");
    let kept = |name: &str| std::fs::read_to_string(folder.join("kept").join(name)).unwrap();

    // Fig. 16a: the path that skips the loop, refuted by y = 0 after its assignment.
    let first = [
        "q0 -> q1: p.c:5: y = 0, if y == 0",
        "q1 -> q2: p.c:6: tmp4 != 0",
        "q1 -> q3: p.c:6: tmp4 == 0",
        "q3 -> q4: p.c:10: y == 0",
        "q3 -> q5: p.c:10: y != 0",
        "q5 -> q6: p.c:11: x == 0",
        "q5 -> q7: p.c:11: x != 0",
        "q7 -> q8: p.c:2: error: reach_error is called",
        "q8 is ut",
    ];
    assert_eq!(shape(&kept("1-refiner.gia")), first);
    // Fig. 16b: one iteration of the loop.
    let second = [
        "q0 -> q1: p.c:6: tmp4 == 0",
        "q0 -> q2: p.c:6: tmp4 != 0",
        "q2 -> q3: p.c:6: tmp4 != 0",
        "q2 -> q4: p.c:6: tmp4 == 0",
        "q4 -> q5: p.c:10: y == 0",
        "q4 -> q6: p.c:10: y != 0",
        "q6 -> q7: p.c:11: x == 0",
        "q6 -> q8: p.c:11: x != 0",
        "q8 -> q9: p.c:2: error: reach_error is called",
        "q9 is cand",
    ];
    assert_eq!(shape(&kept("2-explorer.gia")), second);
    // The path is infeasible, so the feasibility checker does not change the automaton.
    assert_eq!(kept("2-checker.gia"), kept("2-explorer.gia"));
    // Fig. 16c: x = 0 after the first iteration, and no condition before it.
    let third = shape(&kept("2-refiner.gia"));
    assert_eq!(third.iter().filter(|t| t.contains("if ")).collect::<Vec<_>>(), ["q2 -> q3: p.c:8: y = 1, if x == 0"]);
    assert!(third.contains(&"q0 -> q2: p.c:6: tmp4 != 0".to_owned()), "{third:?}");
    assert_eq!(third.last().unwrap(), "q10 is ut");
    // Fig. 16d: both conditions, and two paths to states marked ut.
    let both = shape(&kept("2-combiner.gia"));
    for condition in ["p.c:5: y = 0, if y == 0", "p.c:8: y = 1, if x == 0"] {
        assert!(both.iter().any(|t| t.ends_with(condition)), "{condition} in {both:?}");
    }
    assert_eq!(both.iter().filter(|t| t.ends_with("is ut")).count(), 2);
    assert_eq!(shape(&kept("3-explorer.gia")), ["q0 is ut"]);

    // The GIA checker confirms the automaton.
    let check = proviso(folder, &["gia", "check", "kept/2-combiner.gia", "p.c", "-t", "60"]);
    assert_eq!(text(&check).lines().last(), Some("CORRECT"));
    // A witness has one invariant for all iterations of a loop. No such invariant suffices here.
    let witnesses = proviso(folder, &["gia", "cegar", "p.c", "--witnesses", "-t", "60"]);
    assert!(text(&witnesses).ends_with("no progress: nothing new is exchanged\nUNKNOWN\n"), "{}", text(&witnesses));
    for (program, verdict) in [("p.c", "TRUE"), ("bug.c", "FALSE(unreach-call)")] {
        let args = ["verify", "--cc-gia", "--property", "unreach-call", "--timeout", "60", program];
        assert_eq!(text(&proviso(folder, &args)).lines().last(), Some(verdict));
    }
}

#[test]
fn components_are_replaced_by_commands() {
    let folder = fig_15();
    let folder = folder.path();
    let own = env!("CARGO_BIN_EXE_proviso");
    let cegar = |program: &str, [explorer, checker, refiner]: [&str; 3]| {
        let components = ["--explorer", explorer, "--checker", checker, "--refiner", refiner];
        let given: Vec<&str> = components.chunks(2).filter(|c| !c[1].is_empty()).flatten().copied().collect();
        let output = proviso(folder, &[&["gia", "cegar", program, "-t", "60"], &given[..]].concat());
        text(&output).lines().last().unwrap().to_owned()
    };
    for (program, verdict) in [("p.c", "TRUE"), ("bug.c", "FALSE(unreach-call)")] {
        let explorer = format!("'{own}' gia explore {program} --precision \"$GIA\" -o \"$OUT\"");
        let checker = format!("'{own}' gia check-feasibility \"$GIA\" {program} -o \"$OUT\"");
        let refiner = format!("'{own}' gia refine \"$GIA\" {program} -o \"$OUT\"");
        assert_eq!(cegar(program, [&explorer, &checker, &refiner]), verdict);
    }
    // Components that are wrong, write nothing, fail, or do not end cause no verdict.
    let lie = "sed 's/cand$/rt/; /q[0-9]* rt$/,/^q/{/^  \\*/d}' \"$GIA\" > \"$OUT\"";
    assert_eq!(cegar("p.c", ["", lie, ""]), "UNKNOWN");
    for broken in ["true", "exit 3", "echo nonsense > \"$OUT\""] {
        assert_eq!(cegar("p.c", ["", "", broken]), "UNKNOWN");
    }
    let patient = proviso(folder, &["gia", "cegar", "p.c", "--refiner", "sleep 1000", "-t", "3"]);
    assert_eq!(text(&patient).lines().last(), Some("UNKNOWN"));
}

#[test]
fn witnesses_and_tests_go_in_and_come_out() {
    let folder = fig_15();
    let folder = folder.path();
    let last = |args: &[&str]| text(&proviso(folder, args)).lines().last().unwrap_or_default().to_owned();
    text(&proviso(folder, &["gia", "cegar", "bug.c", "--keep", "bug", "-t", "60"]));
    let reached =
        ["bug/1-checker.gia", "bug/2-checker.gia", "bug/3-checker.gia"].into_iter().rfind(|f| folder.join(f).exists());
    let reached = reached.unwrap();
    assert_eq!(last(&["gia", "check", reached, "bug.c", "-t", "60"]), "CORRECT");

    // The path is written as a violation witness, read back as a candidate, and confirmed.
    text(&proviso(folder, &["gia", "to-witness", reached, "bug.c", "-o", "bug.yml"]));
    text(&proviso(folder, &["gia", "from-witness", "bug.yml", "bug.c", "-o", "candidate"]));
    let candidate = std::fs::read_to_string(folder.join("candidate")).unwrap();
    assert!(candidate.contains(" cand") && !candidate.contains(" rt"), "{candidate}");
    text(&proviso(folder, &["gia", "check-feasibility", "candidate", "bug.c", "-o", "confirmed"]));
    assert_eq!(last(&["gia", "check", "confirmed", "bug.c", "-t", "60"]), "CORRECT");
    // A witness of another program is refuted.
    text(&proviso(folder, &["gia", "from-witness", "bug.yml", "p.c", "-o", "elsewhere"]));
    text(&proviso(folder, &["gia", "check-feasibility", "elsewhere", "p.c", "-o", "refuted"]));
    assert!(!std::fs::read_to_string(folder.join("refuted")).unwrap().contains(" rt"));

    // Written as a test and read back, it is the same path.
    text(&proviso(folder, &["gia", "to-tests", reached, "bug.c", "-o", "suite"]));
    text(&proviso(folder, &["gia", "from-tests", "suite", "bug.c", "-o", "tests"]));
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("tests"), read(reached));
    // Input bytes in the format of AFL: x, one iteration, and the exit of the loop.
    std::fs::create_dir_all(folder.join("afl/queue")).unwrap();
    std::fs::write(folder.join("afl/queue/id:000000"), [0, 0, 0, 0, 1, 0, 0, 0]).unwrap();
    text(&proviso(folder, &["gia", "from-tests", "afl", "bug.c", "-o", "afl.gia"]));
    assert_eq!(last(&["gia", "check", "afl.gia", "bug.c", "-t", "60"]), "CORRECT");

    // The invariant of the first refinement is written to a witness. That of the second cannot be expressed there, so
    // the command warns.
    text(&proviso(folder, &["gia", "cegar", "p.c", "--keep", "kept", "-t", "60"]));
    text(&proviso(folder, &["gia", "to-witness", "kept/1-refiner.gia", "p.c", "-o", "y.yml"]));
    assert!(read("y.yml").contains("value: (y == 0)"), "{}", read("y.yml"));
    text(&proviso(folder, &["gia", "from-witness", "y.yml", "p.c", "-o", "y.gia"]));
    assert!(read("y.gia").contains(" if \"") && read("y.gia").contains(" in main -> "), "{}", read("y.gia"));
    let lossy = proviso(folder, &["gia", "to-witness", "kept/2-refiner.gia", "p.c", "-o", "x.yml"]);
    assert!(String::from_utf8_lossy(&lossy.stderr).starts_with("lost: `x == 0`"));
    assert!(!read("x.yml").contains("x == 0"));
}

#[test]
fn what_is_known_is_saved_and_gone_on_from_but_not_believed() {
    let folder = fig_15();
    let folder = folder.path();
    let verify = |more: &[&str]| {
        let output = proviso(folder, &[&["verify", "--property", "unreach-call", "--timeout", "60"], more].concat());
        let lines = text(&output);
        (lines.lines().last().unwrap().to_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(verify(&["p.c", "--save-gia", "true.gia"]).0, "TRUE");
    assert_eq!(verify(&["bug.c", "--save-gia", "false.gia"]).0, "FALSE(unreach-call)");
    let check = proviso(folder, &["gia", "check", "false.gia", "bug.c", "-t", "60"]);
    assert_eq!(text(&check).lines().last(), Some("CORRECT"));
    assert_eq!(verify(&["bug.c", "--gia", "false.gia"]).0, "FALSE(unreach-call)");

    // The claim that no path reaches an error is wrong. It is checked, and ignored, unless `--trust-gia` is set.
    let header = text(&proviso(folder, &["gia", "new", "bug.c"])).lines().next().unwrap().to_owned();
    std::fs::write(folder.join("lie"), format!("{header}\nq0 initial ut\n")).unwrap();
    assert_eq!(verify(&["bug.c", "--gia", "lie"]).0, "FALSE(unreach-call)");
    let (verdict, said) = verify(&["bug.c", "--gia", "lie", "--trust-gia"]);
    assert!(verdict == "TRUE" && said.contains("the paths that are ut in lie reach no error"), "{verdict}\n{said}");
    // A GIA of another program is rejected.
    let other = proviso(folder, &["verify", "p.c", "--property", "unreach-call", "--gia", "lie", "--timeout", "60"]);
    assert_eq!(other.status.code(), Some(65));
}

/// The error has no branch of its own in the source, so the violation witness has no waypoints. It must not be read as
/// a correctness witness.
#[test]
fn a_candidate_that_is_lost_in_a_witness_is_no_proof() {
    let folder = tempfile::tempdir().unwrap();
    let program = "extern int __VERIFIER_nondet_int(void);\nextern void __VERIFIER_error(void);\n\
        void __VERIFIER_assert(int cond) {\n    if (!(cond)) {\n    ERROR: __VERIFIER_error();\n    }\n    return;\n}\n\
        int main(void) {\n    int x = 0;\n    while (1) {\n        x = x + 2 * __VERIFIER_nondet_int();\n\
        __VERIFIER_assert(4 * x != 8);\n    }\n}\n";
    std::fs::write(folder.path().join("jain.c"), program).unwrap();
    for exchange in ["--cc-gia", "--cc-wit"] {
        let args = [
            "verify",
            "--property",
            "unreach-call",
            "--error-function",
            "__VERIFIER_error",
            exchange,
            "--timeout",
            "60",
            "jain.c",
        ];
        let output = text(&proviso(folder.path(), &args));
        assert!(!output.ends_with("TRUE\n"), "{exchange}: {output}");
    }
    let empty = "- entry_type: violation_sequence\n  metadata:\n    format_version: \"2.0\"\n    uuid: a\n    creation_time: b\n\
        \x20   producer:\n      name: c\n      version: d\n    task:\n      input_files: [jain.c]\n      input_file_hashes: {}\n\
        \x20     specification: \"\"\n      data_model: LP64\n      language: C\n  content: []\n";
    std::fs::write(folder.path().join("empty.yml"), empty).unwrap();
    let gia = text(&proviso(folder.path(), &["gia", "from-witness", "empty.yml", "jain.c"]));
    assert!(gia.contains(" cand") && !gia.contains(" ut"), "{gia}");
}

/// The class of each line of the page; an empty string if it has none.
fn classes(page: &str) -> Vec<String> {
    let rows = page.split("<div").skip(1);
    let class = |row: &str| row.strip_prefix(" class=\"").and_then(|r| r.split('"').next()).unwrap_or("").to_owned();
    rows.map(class).collect()
}

#[test]
fn an_automaton_is_drawn_over_the_source() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let program = "\
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int x = __VERIFIER_nondet_int();
    if (x == 7) {
        x = 2;
        x = 3 * x;
    } else {
        x = 4;
    }
    if (x == 5)
        reach_error();
    return 0;
}
";
    std::fs::write(folder.join("p.c"), program).unwrap();
    let cfa = text(&proviso(folder, &["cfa", "p.c"]));
    let header = text(&proviso(folder, &["gia", "new", "p.c"])).lines().next().unwrap().to_owned();
    let (seven, _) = edge(&cfa, "== 7:32) means true");
    let (other, _) = edge(&cfa, "== 7:32) means false");
    let (error, _) = edge(&cfa, "== 5:32) means true");
    let draw = |body: &str| {
        std::fs::write(folder.join("a"), format!("{header}\n{body}")).unwrap();
        let page = text(&proviso(folder, &["gia", "show", "a", "p.c", "-f", "html"]));
        let classes = classes(&page);
        assert_eq!(classes.len(), program.lines().count(), "{page}");
        [4, 5, 6, 7, 9, 11, 12, 13].map(|line: usize| classes[line - 1].clone())
    };
    let all = |what: &str| [what; 8].map(str::to_owned);
    assert_eq!(draw("q0 initial\n  * -> q0\n"), all("open"));
    assert_eq!(draw("q0 initial ut\n"), all("ut"));
    let then = draw(&format!("q0 initial\n  {seven} -> q1\n  * -> q0\nq1 ut\n"));
    assert_eq!(then, ["open", "open", "ut", "ut", "open", "open", "open", "open"]);
    // The automaton of a path to the error. Lines of other paths have no mark.
    let path = format!(
        "q0 initial\n  {seven} -> q2\n  {other} -> q1\n  * -> q0\nq1\n  {error} -> q3\n  {} -> q2\n  * -> q1\nq2\nq3 rt\n",
        edge(&cfa, "== 5:32) means false").0
    );
    assert_eq!(draw(&path), ["rt", "rt", "open", "open", "rt", "rt", "rt", "open"]);
    // The report shows the automaton at the end of the run. After a proof, all lines are verified.
    let verify =
        ["verify", "--property", "unreach-call", "--timeout", "60", "--save-gia", "b", "--report", "r.html", "p.c"];
    assert_eq!(text(&proviso(folder, &verify)).lines().last(), Some("TRUE"));
    let report = std::fs::read_to_string(folder.join("r.html")).unwrap();
    assert!(report.contains("\"told\":[[4,\"ut\"],[5,\"ut\"],[6,\"ut\"]"), "no lines of the automaton");
}

/// Component-based CEGAR saves its automaton, even without a verdict, and another run can start from it.
#[test]
fn component_cegar_saves_what_it_knows() {
    let folder = fig_15();
    let folder = folder.path();
    let ask = |file: &str, more: &[&str]| {
        let all = [&["verify", "--property", "unreach-call", "--cc-gia", "--timeout", "60", file], more].concat();
        text(&proviso(folder, &all)).lines().last().unwrap().to_owned()
    };
    let known = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(ask("p.c", &["--save-gia", "all.gia"]), "TRUE");
    assert!(known("all.gia").contains("q0 initial ut"), "{}", known("all.gia"));
    // A run that starts from the automaton checks its claims. Wrong claims about another program are ignored.
    assert_eq!(ask("p.c", &["--gia", "all.gia"]), "TRUE");
    let header = text(&proviso(folder, &["gia", "new", "bug.c"]));
    std::fs::write(folder.join("lie"), header.replace("initial", "initial ut")).unwrap();
    assert_eq!(ask("bug.c", &["--gia", "lie"]), "FALSE(unreach-call)");
    let program = "\
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int x = __VERIFIER_nondet_int(), y = 0, a[3] = {0, 0, 0};
    if (x > 3)
        y = 1;
    if (y == 2)
        reach_error();
    for (int i = 0; i < x; i++)
        a[i & 1] = 1;
    if (a[2] != 0)
        reach_error();
    return 0;
}
";
    std::fs::write(folder.join("memory.c"), program).unwrap();
    // No condition of an automaton can refer to the array. The explorer gets the infeasible path and refines its own
    // precision.
    assert_eq!(ask("memory.c", &[]), "TRUE");
    let squares = "\
extern unsigned __VERIFIER_nondet_uint(void);
extern void reach_error(void);
int main(void) {
    unsigned n = __VERIFIER_nondet_uint(), i = 0, s = 0, y = 0;
    if (n > 3)
        y = 1;
    if (y == 2)
        reach_error();
    for (; i < n; i++)
        s += i * i * i;
    if (s * 4 != n * n * (n - 1) * (n - 1))
        reach_error();
    return 0;
}
";
    std::fs::write(folder.join("squares.c"), squares).unwrap();
    let verdict = ask("squares.c", &["--save-gia", "some.gia", "--report", "some.html", "--cpu-limit", "2"]);
    assert!(verdict.starts_with("UNKNOWN"), "{verdict}");
    let some = known("some.gia");
    assert!(some.contains(" ut") && some.contains(" if "), "{some}");
    let check = proviso(folder, &["gia", "check", "some.gia", "squares.c", "-t", "5"]);
    assert!(text(&check).lines().last() != Some("WRONG"), "{}", text(&check));
    assert!(ask("squares.c", &["--gia", "some.gia", "--cpu-limit", "2"]).starts_with("UNKNOWN"));
}

#[test]
fn what_is_known_when_time_is_up_is_a_gia() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let program = "\
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int n = __VERIFIER_nondet_int(), s = 0;
    if (n < 0) {
        s = -1;
    } else {
        for (int i = 0; i < n; i++)
            s = 1 - s;
    }
    if (s == 2)
        reach_error();
    return 0;
}
";
    std::fs::write(folder.join("p.c"), program).unwrap();
    let ask = |more: &[&str]| {
        let all = [&["verify", "--property", "unreach-call", "--analysis", "symex", "p.c"], more].concat();
        let output = proviso(folder, &all);
        (text(&output).lines().last().unwrap().to_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (verdict, said) = ask(&["--timeout", "6", "--save-gia", "known.gia", "--save-condition", "known.txt"]);
    assert!(verdict.starts_with("UNKNOWN(time"), "{verdict}");
    let known = std::fs::read_to_string(folder.join("known.gia")).unwrap_or_else(|e| panic!("{e}: {said}"));
    let condition = std::fs::read_to_string(folder.join("known.txt")).unwrap();
    assert!(condition.contains("accepting"), "the GIA took the time of the condition: {condition}");
    // The automaton claims that the explored paths reach no error. The claim is true.
    assert!(known.lines().any(|l| l.starts_with('q') && l.contains(" ut")), "{known}");
    let check = proviso(folder, &["gia", "check", "known.gia", "p.c", "-t", "5"]);
    assert!(text(&check).lines().last() != Some("WRONG"), "{}", text(&check));
    let page = text(&proviso(folder, &["gia", "show", "known.gia", "p.c", "-f", "html"]));
    let classes = classes(&page);
    assert_eq!((classes[5].as_str(), classes[8].as_str(), classes[11].as_str()), ("ut", "open", "open"), "{known}");
    // Another run continues from the automaton and reports the assumption.
    let (verdict, said) = ask(&["--timeout", "3", "--gia", "known.gia", "--trust-gia"]);
    assert!(!verdict.starts_with("FALSE") && said.contains("known.gia reach no error"), "{verdict}\n{said}");
}

const COUNTED: &str = "\
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
struct counters { int calls, sum; } c;
static void count(struct counters *of, int by) { of->calls++; of->sum += by; }
int main(void) {
    int n = __VERIFIER_nondet_int();
    for (int i = 0; i < n && i < 3; i++)
        count(&c, 2);
    if (c.calls == WHICH)
        reach_error();
    return 0;
}
";

#[test]
fn conditions_speak_of_what_globals_contain() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("p.c"), COUNTED.replace("WHICH", "2")).unwrap();
    let cfa = text(&proviso(folder, &["cfa", "p.c"]));
    let header = text(&proviso(folder, &["gia", "new", "p.c"])).lines().next().unwrap().to_owned();
    let increment = cfa.lines().find(|l| l.contains("i.v") && l.contains("+ 1:32)")).unwrap();
    let increment = increment.trim().split(':').next().unwrap();
    // The claim is about the state after an iteration, with this number of calls before.
    let claim = |offset: u32, calls: u32| {
        let now = format!("(mem.32(c.g0, {offset}) == {calls}:32)");
        let body = format!("  {increment} if {now} -> q1\n  {increment} if ~{now} -> q0\n  * -> q0\nq1 ut\n");
        std::fs::write(folder.join("claim"), format!("{header}\nq0 initial\n{body}")).unwrap();
        let output = proviso(folder, &["gia", "check", "claim", "p.c"]);
        let (said, why) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (said.lines().last().unwrap_or_default().to_owned(), why.into_owned())
    };
    let rest = || {
        text(&proviso(folder, &["reduce", "p.c", "--gia", "claim", "--take", "ut", "-o", "rest.c"]));
        let output = text(&proviso(folder, &["verify", "--property", "unreach-call", "rest.c"]));
        output.lines().last().unwrap().to_owned()
    };
    assert_eq!(claim(0, 3).0, "CORRECT");
    assert!(rest().starts_with("FALSE"));
    for calls in [1, 2] {
        assert_eq!(claim(0, calls).0, "WRONG", "{calls}");
        assert_eq!(rest(), "TRUE", "{calls}");
    }
    // The drawing shows the condition in C. A condition on memory beyond the object is an error.
    assert!(text(&proviso(folder, &["gia", "show", "claim", "p.c", "-f", "dot"])).contains("if c.calls == 2"));
    assert!(claim(8, 1).1.contains("memory that no global has"));

    // The refinement of a path through the loop yields such a condition.
    std::fs::write(folder.join("p.c"), COUNTED.replace("i < 3", "n").replace("== WHICH", "* 2 != c.sum")).unwrap();
    let output = text(&proviso(folder, &["gia", "cegar", "p.c", "--keep", "steps"]));
    assert_eq!(output.lines().last(), Some("TRUE"));
    let refined = std::fs::read_to_string(folder.join("steps/1-refiner.gia")).unwrap();
    assert!(refined.contains("mem.32(c.g0, 4)"), "{refined}");
}

/// Pairs of a wrong and a correct claim about paths. An execution on another path must not hide the wrong claim.
#[test]
fn claims_about_paths_are_checked_path_by_path() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let program = "\
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int x = __VERIFIER_nondet_int();
    if (x == 0)
        reach_error();
    return 0;
}
";
    std::fs::write(folder.join("p.c"), program).unwrap();
    let cfa = text(&proviso(folder, &["cfa", "p.c"]));
    let (havoc, _) = edge(&cfa, ":= havoc");
    let (other, _) = edge(&cfa, "== 0:32) means false");
    // Get the number of the error edge from the automaton of a violation.
    let save = ["verify", "--property", "unreach-call", "--save-gia", "found", "p.c"];
    assert_eq!(text(&proviso(folder, &save)).lines().last(), Some("FALSE(unreach-call)"));
    let found = std::fs::read_to_string(folder.join("found")).unwrap();
    let error = found.lines().find(|l| l.contains("error: ")).unwrap().split_whitespace().next().unwrap().to_owned();
    let (header, property) = (found.lines().next().unwrap().to_owned(), ["--property", "unreach-call"]);
    let check = |body: &str| {
        std::fs::write(folder.join("claim"), format!("{header}\n{body}")).unwrap();
        let output = proviso(folder, &[&["gia", "check", "claim", "p.c"], &property[..]].concat());
        text(&output).lines().last().unwrap().to_owned()
    };
    let start = format!("q0 initial\n  * -> q0\n  {havoc} if \"x == 0\" in main -> q1\n");
    let apart = format!("{start}  {havoc} if \"x == 5\" in main -> q2\nq1\n  * -> q1\n  {error} -> q3\nq2\n");
    let joined = format!("{start}  {havoc} if \"x == 5\" in main -> q1\nq1\n  * -> q1\n");
    assert_eq!(check(&format!("{start}q1\n  * -> q1\n  {error} -> q2\nq2 rt\n")), "CORRECT");
    assert_eq!(check(&format!("{start}q1 rt\n")), "CORRECT");
    for hostile in [
        "q0 initial rt\n".to_owned(),
        format!("{apart}  {other} {error} -> q3\n  * -> q2\nq3 rt\n"),
        format!("{apart}  * -> q3\nq3 rt\n"),
        format!("{joined}  {other} -> q2\n  {error} -> q2\nq2 rt\n"),
    ] {
        assert_eq!(check(&hostile), "WRONG", "{hostile}");
    }

    // Combining contradictory automata is an error.
    for (name, condition, says) in [("a", "x > 0", "rt"), ("b", "x > 3", "ut"), ("c", "x < 0", "ut")] {
        let body = format!("{header}\nq0 initial\n  * -> q0\n  {havoc} if \"{condition}\" in main -> q1\nq1 {says}\n");
        std::fs::write(folder.join(name), body).unwrap();
    }
    let contrary = proviso(folder, &["gia", "combine", "a", "b", "p.c", "--property", "unreach-call"]);
    assert_eq!(contrary.status.code(), Some(65));
    let said = String::from_utf8_lossy(&contrary.stderr).into_owned();
    assert!(said.contains("contradict each other: an execution (inputs: "), "{said}");
    assert_eq!(
        proviso(folder, &["gia", "combine", "a", "c", "p.c", "--property", "unreach-call"]).status.code(),
        Some(0)
    );

    // The claims of cooperative test generation about its goals are checked, too.
    let branches = program.replace(
        "    return 0;",
        "    if (x > 5) { if (x <= 5) x = 7; else x++; } else if (x == 5) x = 3;\n    return 0;",
    );
    std::fs::write(folder.join("p.c"), branches).unwrap();
    text(&proviso(folder, &["testgen", "p.c", "--cotest", "-o", "suite", "--save-gia", "goals"]));
    let of_goals = |more: &[&str]| proviso(folder, &[&["gia", "check", "goals", "p.c"], more].concat());
    assert_eq!(text(&of_goals(&["--property", "coverage"])).lines().last(), Some("CORRECT"));
    let goals = std::fs::read_to_string(folder.join("goals")).unwrap();
    std::fs::write(folder.join("goals"), goals.replacen(" rt", " ut", 1)).unwrap();
    assert_eq!(text(&of_goals(&["--property", "coverage"])).lines().last(), Some("WRONG"));
    assert_eq!(of_goals(&["--property", "unreach-call"]).status.code(), Some(65));
    // A range with swapped bounds has no paths. The run proves nothing about the others.
    std::fs::write(folder.join("first.xml"), "<testcase><input>0</input></testcase>").unwrap();
    std::fs::write(folder.join("second.xml"), "<testcase><input>5</input></testcase>").unwrap();
    let range = |bounds: &str| {
        let args = ["verify", "--property", "unreach-call", "--analysis", "symex", "--range", bounds, "p.c"];
        text(&proviso(folder, &args)).lines().last().unwrap().to_owned()
    };
    assert_eq!(range("first.xml,second.xml"), "FALSE(unreach-call)");
    assert!(
        range("second.xml,first.xml").starts_with("UNKNOWN(the range is empty"),
        "{}",
        range("second.xml,first.xml")
    );
}
