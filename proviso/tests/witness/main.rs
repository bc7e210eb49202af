//! Witnesses are validated from the file alone, as by another tool. Wrong witnesses are rejected.

mod endless;
mod graphml;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn proviso(args: &[&str]) -> Output {
    let limited = if args.contains(&"--timeout") { &[][..] } else { &["--timeout", "60"] };
    Command::new(env!("CARGO_BIN_EXE_proviso")).args(args).args(limited).output().unwrap()
}

fn verdict(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned()
}

struct Case {
    folder: tempfile::TempDir,
    program: String,
}

impl Case {
    fn new(text: &str) -> Self {
        Self::named("p.c", text)
    }

    fn named(name: &str, text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join(name);
        std::fs::write(&program, text).unwrap();
        Self { program: program.to_str().unwrap().to_owned(), folder }
    }

    fn witness(&self) -> PathBuf {
        self.folder.path().join("w.yml")
    }

    /// Verifies the program. Returns the verdict and the witness.
    fn verify(&self, options: &[&str]) -> (String, String) {
        let path = self.witness();
        let mut args = vec!["verify", &self.program, "--witness", path.to_str().unwrap()];
        args.extend(options);
        let output = proviso(&args);
        (verdict(&output), std::fs::read_to_string(path).unwrap())
    }

    /// Validates a witness. Returns the verdict line, or the error message if there is none.
    fn validate(&self, witness: &str) -> String {
        std::fs::write(self.witness(), witness).unwrap();
        let output = proviso(&["validate", self.witness().to_str().unwrap(), &self.program, "--timeout", "60"]);
        let said = verdict(&output);
        if said.is_empty() { String::from_utf8_lossy(&output.stderr).into_owned() } else { said }
    }
}

const OVERRUN: &str = "\
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
static int even(int n) { return n % 2 == 0; }
int main(void) {
    int sum = 0;
    for (int i = 0; i < 3; i++)
        sum += __VERIFIER_nondet_int( /* ) */ );
    unsigned char c = 7;
    if (even(sum) && sum > 100)
        reach_error();
    return c;
}
";

#[test]
fn a_violation_is_confirmed_from_its_witness_alone() {
    let case = Case::new(OVERRUN);
    let (said, witness) = case.verify(&[]);
    assert_eq!(said, "FALSE(unreach-call)");
    assert_eq!(witness.matches("type: function_return").count(), 3);
    assert!(witness.contains("column: 47\n"), "the right parenthesis of the call: {witness}");
    assert_eq!(case.validate(&witness), "FALSE(unreach-call)");
    let frameless = |text: &str| text.split_once("LTL(").unwrap().1.split_once(") )").unwrap().0.to_owned();
    let at = witness.find("CHECK( ").unwrap();
    let from = witness[..at].rfind("specification:").unwrap();
    let to = at + witness[at..].find("\n      data_model").unwrap();
    let bare = format!("{}specification: {}{}", &witness[..from], frameless(&witness[at..to]), &witness[to..]);
    assert_eq!(case.validate(&bare), "FALSE(unreach-call)", "{bare}");
    // The trace of the validation has only names of the program.
    std::fs::write(case.witness(), &witness).unwrap();
    let told = proviso(&["validate", case.witness().to_str().unwrap(), &case.program, "--trace", "full"]);
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("(input 3: int)") && !told.contains("__proviso"), "{told}");

    // No execution follows a witness with other inputs or another target.
    let first = witness.find("\\result == ").unwrap();
    let end = first + witness[first..].find('\n').unwrap();
    let moved = |line: &str| witness.replace("line: 10\n", line);
    for wrong in [
        format!("{}\\result == 2147483647{}", &witness[..first], &witness[end..])
            .replace("\\result == 0", "\\result == 1"),
        moved("line: 11\n"),
        moved("line: 8\n"),
    ] {
        let said = case.validate(&wrong);
        assert!(!said.starts_with("TRUE") && (said != "FALSE(unreach-call)" || wrong.contains("2147483647")), "{said}");
    }
}

#[test]
fn waypoints_of_all_kinds_are_followed() {
    let case = Case::new(OVERRUN);
    let (_, witness) = case.verify(&[]);
    let header = &witness[..witness.find("  content:").unwrap()];
    let file = &case.program;
    let waypoint = |kind: &str, line: u32, column: u32, constraint: &str| {
        format!(
            "  - segment:\n    - waypoint:\n        type: {kind}\n        action: follow\n        location:\n          \
             file_name: {file}\n          line: {line}\n          column: {column}\n{constraint}"
        )
    };
    let value = |v: &str| format!("        constraint:\n          value: {v}\n          format: c_expression\n");
    let target = waypoint("target", 10, 9, "");
    let steps = |parts: &[String]| format!("{header}  content:\n{}{target}", parts.concat());
    let assumption = |v: &str| waypoint("assumption", 8, 5, &value(v));
    let branching = |v: &str| waypoint("branching", 9, 5, &value(v));
    let entered = waypoint("function_enter", 9, 17, "");
    assert_eq!(case.validate(&steps(&[assumption("sum == 102"), entered, branching("true")])), "FALSE(unreach-call)");
    for wrong in [assumption("sum == 103"), assumption("sum < 100"), branching("false")] {
        let said = case.validate(&steps(&[wrong]));
        assert_eq!(said, "UNKNOWN(no execution that follows the witness violates the property)");
    }
    let said = case.validate(&steps(&[waypoint("assumption", 9, 8, &value("1"))]));
    assert!(said.contains("no statement starts here"), "{said}");
}

/// Removes the marks `⟨n⟩` from a text. Returns the text, and by number the line and column of the character after the
/// mark.
fn marked(text: &str) -> (String, Vec<(u32, u32)>) {
    let (mut plain, mut places) = (String::new(), Vec::new());
    for piece in text.split('⟨') {
        let rest = match piece.split_once('⟩') {
            Some((number, rest)) => {
                let line = plain.matches('\n').count() as u32 + 1;
                let column = (plain.len() - plain.rfind('\n').map_or(0, |at| at + 1)) as u32 + 1;
                assert_eq!(number.parse(), Ok(places.len()));
                places.push((line, column));
                rest
            }
            None => piece,
        };
        plain += rest;
    }
    (plain, places)
}

/// A violation witness with these waypoints. The last one is the target.
fn sequence(case: &Case, waypoints: &[(&str, &str, (u32, u32))], property: &str) -> String {
    let header = "- entry_type: violation_sequence
  metadata:
    format_version: '2.0'
    uuid: 3e4e5e5e-0000-4000-8000-000000000000
    creation_time: 2026-11-22T00:00:00Z
    producer: {name: hand, version: '1'}
    task:
      input_files: [p.c]
      input_file_hashes: {}
      specification: 'CHECK( init(main()), LTL(G ! PROPERTY) )'
      data_model: LP64
      language: C
  content:
";
    let mut text = header.replace("PROPERTY", property);
    for (kind, value, (line, column)) in waypoints {
        text += &format!(
            "  - segment:\n    - waypoint:\n        type: {kind}\n        action: follow\n        location: {{file_name: {}, \
             line: {line}, column: {column}}}\n",
            case.program
        );
        if !value.is_empty() {
            text += &format!("        constraint: {{value: '{value}', format: c_expression}}\n");
        }
    }
    text
}

/// Waypoints of all kinds, several of them in one condition and on one line.
#[test]
fn waypoints_meet_in_one_place() {
    let (program, at) = marked(
        "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
struct s { int (*f)(int); unsigned bits : 3; } g, *a[2];
static int same(int x) { return x; }
static void nothing(void) { ⟨0⟩;}
#define TWICE(x) (2 * (x))
int main(void) {
    int x = 0, y = 0;
    g.f = same; a[1] = &g;
    ⟨1⟩while (__VERIFIER_nondet_int(⟨2⟩)) {
        x++;
        if (x > 5) return 0;
    }
    if (x) nothing(⟨3⟩); else y = 1;
    ⟨4⟩for (;;) { if (y++ == 2) break; }
    ⟨5⟩do x--; while (⟨6⟩a[1]->f(x⟨7⟩) > 0 ? same(1⟨8⟩) : 0);
    g.bits = 5;
    ⟨9⟩switch (g.bits) { case 5: if (y) again: ⟨10⟩y++; break; default: return 0; }
    if (y < 5) goto again;
    x = TWICE(same(__VERIFIER_nondet_int(⟨11⟩)⟨12⟩)); ⟨13⟩if (x == 8) ⟨14⟩reach_error();
    return 0;
}
",
    );
    let case = Case::new(&program);
    let segments = |first: &str, bits: &str, last: &str| {
        sequence(
            &case,
            &[
                ("function_return", first, at[2]),
                ("branching", "true", at[1]),
                ("function_return", "\\result == 0", at[2]),
                ("branching", "false", at[1]),
                ("function_enter", "", at[3]),
                ("assumption", "1", at[0]),
                ("function_return", "", at[3]),
                ("branching", "true", at[4]),
                ("function_return", "\\result == 0", at[7]),
                ("branching", bits, at[9]),
                ("assumption", "y == 4", at[10]),
                ("function_enter", "", at[11]),
                ("function_return", last, at[12]),
                ("branching", "true", at[13]),
                ("target", "", at[14]),
            ],
            "call(reach_error())",
        )
    };
    let none = "UNKNOWN(no execution that follows the witness violates the property)";
    assert_eq!(case.validate(&segments("\\result == 3", "5", "\\result == 4")), "FALSE(unreach-call)");
    assert_eq!(case.validate(&segments("\\result == 0", "5", "\\result == 4")), none);
    assert_eq!(case.validate(&segments("\\result == 3", "4", "\\result == 4")), none);
    assert_eq!(case.validate(&segments("\\result == 3", "5", "\\result == 5")), none);
    // The location of a call with a computed callee is its parenthesis.
    let said = case.validate(&sequence(
        &case,
        &[("function_enter", "", at[6]), ("target", "", at[14])],
        "call(reach_error())",
    ));
    assert!(said.ends_with("no call ends here)"), "{said}");
    assert_eq!(at[5].1, 5);
}

/// Jumps to a label pass over what is before it, so the waypoints and invariants of a label are checked after it.
#[test]
fn labels_are_checked_on_all_ways_to_them() {
    let (program, at) = marked(
        "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int k = 0;
    ⟨0⟩again: k++;
    if (k < 10) goto again;
    switch (__VERIFIER_nondet_int()) {
    ⟨1⟩case 1: { k = 3; }
    ⟨2⟩case 2: break;
    ⟨3⟩default:
        if (k == 20) ⟨4⟩end: k = 30;
    }
    if (k == 3) goto end;
    if (k == 31) ⟨5⟩reach_error();
    ⟨6⟩last:
}
",
    );
    let case = Case::new(&program);
    let invariant = |number: usize, value: &str| {
        let (line, column) = at[number];
        let text = sequence(&case, &[], "call(reach_error())").replace("violation_sequence", "invariant_set");
        case.validate(&format!(
            "{text}  - invariant:\n      type: location_invariant\n      location: {{file_name: {}, line: {line}, column: \
             {column}, function: main}}\n      value: '{value}'\n      format: c_expression\n",
            case.program
        ))
    };
    let rows = [
        (0, "k <= 9", "k < 9"),
        (1, "k == 10", "k > 10"),
        (2, "k == 3 || k == 10", "k == 10"),
        (3, "k == 10", "k > 10"),
        (4, "k == 3", "k == 20"),
        (6, "k == 10 || k == 30", "k == 10"),
    ];
    for (number, right, wrong) in rows {
        assert_eq!(invariant(number, right), "TRUE", "{number}: {right}");
        let said = invariant(number, wrong);
        assert!(said.starts_with(&format!("UNKNOWN(the invariant `{wrong}` does not hold at")), "{number}: {said}");
    }
}

/// A violation by another statement on the line of the target is not that of the witness.
#[test]
fn the_target_is_a_statement_and_not_a_line() {
    let (program, at) = marked(
        "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
    ⟨0⟩if (a == 5) { ⟨1⟩reach_error(); } ⟨2⟩if (b == 7) ⟨3⟩reach_error();
    if (a == 6) { ⟨4⟩reach_error(); ⟨5⟩reach_error(); }
}
",
    );
    let case = Case::new(&program);
    let validate = |constraint: &str, target: usize| {
        case.validate(&sequence(
            &case,
            &[("assumption", constraint, at[0]), ("target", "", at[target])],
            "call(reach_error())",
        ))
    };
    let elsewhere =
        "UNKNOWN(an execution that follows the witness violates the property at another place than its target)";
    for (constraint, right, wrong) in [("a == 5", 1, 3), ("a != 5", 3, 1)] {
        assert_eq!(validate(constraint, right), "FALSE(unreach-call)", "{constraint}");
        assert_eq!(validate(constraint, wrong), elsewhere, "{constraint}");
    }
    // Some tools name the statement around it.
    assert_eq!(validate("a != 5", 2), "FALSE(unreach-call)");
    // The errors of other statements, which a search may find first, do not count, but executions end there.
    for target in [1, 3, 4] {
        assert_eq!(validate("1", target), "FALSE(unreach-call)", "{target}");
    }
    assert_eq!(validate("1", 5), elsewhere);
    assert_eq!(validate("a == 5", 4), elsewhere);
}

/// Some tools give the start of a statement as the location of a call or branch in it, or place the target in the error
/// function.
#[test]
fn places_may_be_said_less_exactly() {
    let (program, at) = marked(
        "extern int __VERIFIER_nondet_int(void);
extern void abort(void);
void reach_error(void) { ⟨0⟩abort(); }
static int other(int x) { ⟨1⟩return x; }
int main(void) {
    ⟨2⟩int x = __VERIFIER_nondet_int();
    ⟨3⟩int y = x <= 3 ⟨4⟩? other(x) : x + 1;
    ⟨5⟩x = other(x) + other(y);
    if (x == 7) reach_error();
    return 0;
}
",
    );
    let case = Case::new(&program);
    let said = |input: &str, place: usize, branch: &str, target: usize| {
        let way = [("function_return", input, at[2]), ("branching", branch, at[place]), ("target", "", at[target])];
        case.validate(&sequence(&case, &way, "call(reach_error())"))
    };
    let none = "UNKNOWN(no execution that follows the witness violates the property)";
    for place in [3, 4] {
        assert_eq!(said("\\result != 3", place, "false", 0), none);
        assert_eq!(said("\\result < 4", place, "false", 0), none);
        assert_eq!(said("\\result >= 4", place, "true", 0), none);
    }
    let (program, more) = marked(&program.replace("x == 7", "x == 8"));
    assert!(more.is_empty());
    std::fs::write(&case.program, program).unwrap();
    for place in [3, 4] {
        assert_ne!(said("\\result == -8", place, "true", 0), "FALSE(unreach-call)");
        assert_eq!(said("\\result < 5", place, "true", 0), "FALSE(unreach-call)");
        assert_ne!(said("\\result > 3", place, "true", 0), "FALSE(unreach-call)");
        // The target must not be in a function that is not the error function.
        assert_ne!(said("\\result < 5", place, "true", 1), "FALSE(unreach-call)");
    }
    // With two calls in the statement, the location is ambiguous.
    let way = [("function_return", "\\result == 4", at[5]), ("target", "", at[0])];
    let unclear = case.validate(&sequence(&case, &way, "call(reach_error())"));
    assert!(unclear.ends_with("no call ends here)"), "{unclear}");
}

/// Some tools write a waypoint for each operand of `&&` and `||`, as if it were the whole condition.
#[test]
fn operands_may_be_told_one_by_one() {
    let (program, at) = marked(
        "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();
    ⟨0⟩if (x > 3 && x < 9)
        ⟨1⟩if (y > x)
            ⟨2⟩reach_error();
    return 0;
}
",
    );
    let case = Case::new(&program);
    let said = |branches: &[(usize, &str)]| {
        let mut way: Vec<_> = branches.iter().map(|&(place, taken)| ("branching", taken, at[place])).collect();
        way.push(("target", "", at[2]));
        case.validate(&sequence(&case, &way, "call(reach_error())"))
    };
    let none = "UNKNOWN(no execution that follows the witness violates the property)";
    assert_eq!(said(&[(0, "true"), (1, "true")]), "FALSE(unreach-call)");
    assert_eq!(said(&[(0, "true"), (0, "true"), (1, "true")]), "FALSE(unreach-call)");
    assert_eq!(said(&[(0, "true"), (0, "false")]), none);
    assert_eq!(said(&[(0, "true"), (0, "true"), (1, "false")]), none);
    // A condition without operands is evaluated once per waypoint.
    assert_eq!(said(&[(0, "true"), (1, "true"), (1, "true")]), none);
}

/// Conditions of a witness do not affect the program, and wrong ones do not cause a crash.
#[test]
fn conditions_of_witnesses_do_nothing() {
    let (program, at) = marked(
        "extern int __VERIFIER_nondet_int(void);
void exit(int);
#define END exit(0)
#define LESS x--
int main(void) {
    int x = __VERIFIER_nondet_int();
    ⟨0⟩if (x > 5)
        x = 5;
    ⟨1⟩while (x < 3) x++;
    return 0;
}
",
    );
    let case = Case::new(&program);
    // The overflow occurs in the condition of the witness, not in the statement of its target.
    let own = sequence(&case, &[("assumption", "x + 1 > x", at[0]), ("target", "", at[0])], "overflow");
    assert_eq!(
        case.validate(&own),
        "UNKNOWN(the evaluation of a condition of the witness itself violates the property)"
    );
    let unknown = sequence(&case, &[("assumption", "nowhere == 1", at[0]), ("target", "", at[0])], "overflow");
    let said = case.validate(&unknown);
    assert!(
        said.starts_with("UNKNOWN(the program with the checks of the witness does not compile: ")
            && said.contains("nowhere"),
        "{said}"
    );

    let case = Case::new(
        &program
            .replace("x++", "x++, x == 0 ? reach_error() : (void)0")
            .replace("void exit", "void reach_error(void); void exit"),
    );
    for evil in ["(exit)(0), 1", "1 /*", "1) || (1", "(x = 4)", "1 ? \"", "END, 1", "LESS + 1 > 0"] {
        let witness = sequence(&case, &[("loop_invariant", evil, at[1])], "call(reach_error())")
            .replace("violation_sequence", "invariant_set")
            .replace("  - segment:\n    - waypoint:\n        type", "  - invariant:\n      type")
            .replace("        action: follow\n        location", "      location")
            .replace("        constraint: {value: ", "      value: ")
            .replace(", format: c_expression}", "\n      format: c_expression");
        let said = case.validate(&witness);
        let is_named = said.contains(evil) || said.contains("as macros have it, is no expression without effects");
        assert!(said.starts_with("UNKNOWN(") && is_named, "{evil}: {said}");
    }
}

const LOOPS: &str = "\
extern unsigned __VERIFIER_nondet_uint(void);
extern void reach_error(void);
int main(void) {
    unsigned n = __VERIFIER_nondet_uint(), s = 0, i = 0;
    if (n > 1000000)
        return 0;
    while (i < n) {
        s += 2;
        i++;
    }
    do
        s++;
    while (s < 5);
    if (s > 2000005)
        reach_error();
    return 0;
}
";

#[test]
fn invariants_are_confirmed_and_wrong_ones_are_named() {
    let case = Case::new(LOOPS);
    let (said, witness) = case.verify(&["--analysis", "invariants"]);
    assert_eq!(said, "TRUE");
    assert!(witness.contains("type: loop_invariant"), "{witness}");
    assert_eq!(case.validate(&witness), "TRUE");
    // Replace the first invariant of the `while` loop.
    let start = witness.find("        line: 7\n").unwrap();
    let start = start + witness[start..].find("      value: ").unwrap();
    let end = start + witness[start..].find("\n      format").unwrap();
    for (wrong, position) in [("i < n", "p.c:7:5"), ("s == i", "p.c:7:5")] {
        let said = case.validate(&format!("{}      value: {wrong}{}", &witness[..start], &witness[end..]));
        assert!(said.starts_with(&format!("UNKNOWN(the invariant `{wrong}` does not hold at")), "{said}");
        assert!(said.contains(position), "{said}");
    }
    let said = case.validate(&format!("{}      value: '1'{}", &witness[..start], &witness[end..]));
    assert_eq!(said, "TRUE", "what always holds says nothing");
    let said = case.validate(&format!("{}      value: '0'{}", &witness[..start], &witness[end..]));
    assert!(said.starts_with("UNKNOWN(the invariant `0` does not hold at"), "{said}");
    for effect in ["(n = 0, 1)", "n-- >= 0", "__VERIFIER_nondet_uint() >= 0"] {
        let said = case.validate(&format!("{}      value: {effect}{}", &witness[..start], &witness[end..]));
        assert!(said.contains("without effects"), "{said}");
    }
    let said = case.validate(&format!("{}      value: nowhere == 1{}", &witness[..start], &witness[end..]));
    assert!(said.contains("nowhere"), "{said}");
}

/// In a preprocessed file, neither the program's macros nor those of the validator are available.
#[test]
fn preprocessed_programs_have_the_same_witnesses() {
    let faulty = Case::named("p.i", OVERRUN);
    let (said, witness) = faulty.verify(&["--property", "unreach-call"]);
    assert_eq!(said, "FALSE(unreach-call)");
    assert!(witness.contains("value: \\result == "), "{witness}");
    assert_eq!(faulty.validate(&witness), "FALSE(unreach-call)");

    let right = Case::named("p.i", LOOPS);
    let (said, witness) = right.verify(&["--analysis", "invariants"]);
    assert_eq!(said, "TRUE");
    assert!(witness.contains("type: loop_invariant"), "{witness}");
    assert_eq!(right.validate(&witness), "TRUE");
    let effect = witness.replacen("      value: ", "      value: (n = 0) || ", 1);
    assert!(right.validate(&effect).contains("without effects"));
}

/// A proof by enumeration of all paths has no invariants. The witness has the intervals of the loop instead.
#[test]
fn proofs_without_invariants_say_what_is_known_of_loops() {
    let case = Case::new(
        "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {
    int sum = 0;
    for (int i = 0; i < 6; i++) {
        int x = __VERIFIER_nondet_int();
        if (x > 0 && x < 10)
            sum += x;
    }
    if (sum > 54)
        reach_error();
    return 0;
}
",
    );
    let (said, witness) = case.verify(&["--analysis", "symex", "--property", "unreach-call"]);
    assert_eq!(said, "TRUE");
    assert!(witness.contains("value: 0 <= i && i <= 6\n"), "{witness}");
    assert_eq!(case.validate(&witness), "TRUE");
    let said = case.validate(&witness.replace("i <= 6", "i <= 5"));
    assert!(said.starts_with("UNKNOWN(the invariant `0 <= i && i <= 5` does not hold at"), "{said}");
}

/// Observed loop invariants: sets of values of globals that a callee reads, array elements and fields by name, equal
/// pointers. The slice has no writes to `arr[1]`, so its value there is left out.
#[test]
fn what_all_states_agree_on_is_said_in_c() {
    let case = Case::new(
        "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
struct s { int f; struct s *next; } g;
int arr[4], mode = 3;
static void step(int in) {
    if (mode == 3 && in == 1) mode = 4;
    else if (mode == 4 && in == 2) mode = 3;
    if (mode > 5) reach_error();
    arr[1] = 7;
}
int main(void) {
    int la[3] = {1, 2, 3};
    struct s *p = &g;
    p->next = p;
    while (1) {
        int in = __VERIFIER_nondet_int();
        if (in < 1 || in > 2) return 0;
        step(in);
        if (la[1] != 2 || p->next != p || arr[0]) reach_error();
    }
}
",
    );
    for slicing in ["static", "off"] {
        let (said, witness) = case.verify(&["--analysis", "symex", "--property", "unreach-call", "--slicing", slicing]);
        assert_eq!(said, "TRUE");
        assert!(witness.contains("mode == 3 || mode == 4"), "{witness}");
        assert!(!witness.contains("arr[1] == 0\n"), "{witness}");
        assert!(witness.contains("line: 15\n"), "{witness}");
        if slicing == "off" {
            for said in ["arr[1] == 0 || arr[1] == 7", "la[1] == 2", "p == p->next"] {
                assert!(witness.contains(&format!("({said})")), "{said}: {witness}");
            }
        }
        assert_eq!(case.validate(&witness), "TRUE");
    }
}

/// Bounds alone are not inductive here, so the witness has a relation between two variables.
#[test]
fn relations_between_variables_are_said_in_c() {
    let case = Case::new(
        "extern void reach_error(void);
int main(void) {
    int i = 1, j = 0;
    unsigned down = 40, state = 0, next = 1;
    while (i < 22) { i += 7; j++; down -= 2; }
    for (long k = 0; k < 60; k++) { unsigned old = state; state = next; next = (old + next * 2) % 3; }
    if (j != 3 || down != 34 || state == 4) reach_error();
    return 0;
}
",
    );
    let (said, witness) = case.verify(&["--property", "unreach-call", "--analysis", "symex"]);
    assert_eq!(said, "TRUE");
    let words: Vec<&str> = witness.split_whitespace().collect();
    for wanted in ["(i == 7 * j + 1)", "(j == 1 && down == 38U)", "(state == 0U && next == 1U)"] {
        assert!(words.join(" ").contains(wanted), "{wanted}: {witness}");
    }
    assert_eq!(case.validate(&witness), "TRUE");
    let wrong = case.validate(&witness.replace("i == 7 * j + 1", "i == 7 * j + 2"));
    assert!(wrong.starts_with("UNKNOWN(the invariant `"), "{wrong}");
}

/// A target is located at the start of its statement, so before the inputs that the statement reads.
#[test]
fn inputs_within_the_statement_of_the_target_are_left_to_the_search() {
    let case = Case::new(
        "extern int __VERIFIER_nondet_int(void);
int main(void) {
    int cells[4], last = __VERIFIER_nondet_int();
    if (last < 0 || last > 5)
        return 0;
    for (int i = 0; i < last; i++)
        cells[i] = __VERIFIER_nondet_int();
    return 0;
}
",
    );
    let (said, witness) = case.verify(&["--property", "valid-memsafety"]);
    assert_eq!(said, "FALSE(valid-deref)");
    // Five inputs: the bound, and those of the four writes before the one out of bounds.
    assert_eq!(witness.matches("type: function_return").count(), 5, "{witness}");
    assert_eq!(case.validate(&witness), "FALSE(valid-deref)");
    // With a smaller bound all writes are in bounds.
    assert_eq!(witness.matches("\\result == 5").count(), 1, "{witness}");
    let said = case.validate(&witness.replace("\\result == 5", "\\result == 4"));
    assert_eq!(said, "UNKNOWN(the property is violated before all waypoints of the witness are passed)");
}

#[test]
fn what_is_no_witness_is_refused() {
    let case = Case::new(LOOPS);
    let told = case.validate("a: [");
    assert!(told.contains("is no witness of format 2: ") && !told.contains("2: error:"), "{told}");
    assert!(case.validate("[]").contains("no entries"));
    let output = proviso(&["validate", Path::new("/nowhere.yml").to_str().unwrap(), &case.program]);
    assert_eq!(output.status.code(), Some(66));
}

/// Assertions in loops, written in several ways, that hold a few times before they fail. A line number in a witness
/// does not determine which pass over the line is the violation.
#[test]
fn assertions_in_loops_are_confirmed_in_both_formats() {
    let loops = [
        ("for (int i = 0; i < 4; i++) {", "}"),
        ("int i = 0; while (i < 4) { i++;", "}"),
        ("int i = 0; do { i++;", "} while (i < 4);"),
    ];
    let extern_ = "extern void reach_error(void);\n";
    let checks = [
        (
            "void __VERIFIER_assert(int c) { if (!c) { ERROR: reach_error(); } return; }",
            "__VERIFIER_assert(x != 7 || i < 3);",
        ),
        ("#include <assert.h>", "assert(x != 7 || i < 3);"),
        ("#define CHECK(c) ((c) ? (void)0 : reach_error())", "CHECK(x != 7 || i < 3);"),
        ("", "if (x == 7 && i >= 3) { reach_error(); } else { x = 1; }"),
        (
            "static void check(int c) {\n    if (!c)\n        reach_error();\n}",
            "check(x != 5 || 1); check(x != 7 || i < 3);",
        ),
    ];
    let mut tried = 0;
    for (n, (defined, check)) in checks.iter().enumerate() {
        let (head, tail) = loops[n % loops.len()];
        let program = format!(
            "extern int __VERIFIER_nondet_int(void);\n{extern_}{defined}\nint main(void) {{\n    {head}\n        int x = __VERIFIER_nondet_int();\n        {check}\n    {tail}\n    return 0;\n}}\n"
        );
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("p.c"), &program).unwrap();
        let run = |args: &[&str]| {
            let output =
                Command::new(env!("CARGO_BIN_EXE_proviso")).args(args).current_dir(folder.path()).output().unwrap();
            String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned()
        };
        let written =
            run(&["verify", "--property", "unreach-call", "--witness", "w.yml", "--graphml", "w.graphml", "p.c"]);
        assert_eq!(written, "FALSE(unreach-call)", "{program}");
        for witness in ["w.yml", "w.graphml"] {
            assert_eq!(run(&["validate", witness, "p.c"]), "FALSE(unreach-call)", "{witness} of\n{program}");
            tried += 1;
        }
    }
    assert_eq!(tried, 10);
}

/// The program may define its error function. The violation is its call, whatever its body is.
#[test]
fn calls_of_defined_error_functions_are_confirmed_in_both_formats() {
    let bodies = [
        "void reach_error(void) { assert(0); }",
        "void reach_error(void) { abort(); }",
        "void reach_error() {}",
        "void reach_error() { ((void) sizeof ((0) ? 1 : 0), __extension__ ({ if (0) ; else __assert_fail (\"0\", \"p.c\", 4, \"reach_error\"); })); }",
        "void reach_error(void) { int n = __VERIFIER_nondet_int(); while (n > 0) n--; __builtin_trap(); }",
    ];
    let program = |body: &str| {
        format!(
            "#include <assert.h>\n#include <stdlib.h>\nextern int __VERIFIER_nondet_int(void);\n{body}
int main(void) {{
    int a = __VERIFIER_nondet_int();
    int b = __VERIFIER_nondet_int();
    if (a == 5 && b == a + 1)
        reach_error();
    return 0;
}}
"
        )
    };
    for body in bodies {
        let case = Case::new(&program(body));
        let path = case.folder.path().join("w.graphml");
        let (said, witness) = case.verify(&["--property", "unreach-call", "--graphml", path.to_str().unwrap()]);
        assert_eq!(said, "FALSE(unreach-call)", "{body}");
        assert_eq!(case.validate(&witness), "FALSE(unreach-call)", "{body}");
        assert_eq!(case.validate(&std::fs::read_to_string(&path).unwrap()), "FALSE(unreach-call)", "{body}");
        // Another call is no violation that the witness is about.
        let changed = witness.replace("\\result == 5\n", "\\result == 6\n");
        assert_ne!(changed, witness);
        let none = "UNKNOWN(no execution that follows the witness violates the property)";
        assert_eq!(case.validate(&changed), none, "{body}");
    }
}

/// A leak at the end of a program with threads has the place of its allocation.
#[test]
fn leaks_in_programs_with_threads_are_confirmed() {
    let case = Case::new(
        "\
#include <pthread.h>
#include <stdlib.h>
static void *run(void *memory) {
    return memory;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, malloc(4));
    pthread_join(t, 0);
    return 0;
}
",
    );
    let (said, witness) = case.verify(&["--property", "valid-memsafety"]);
    assert_eq!(said, "FALSE(valid-memtrack)");
    assert!(witness.contains("line: 8\n"), "{witness}");
    assert_eq!(case.validate(&witness), "FALSE(valid-memtrack)");
}

/// Checks and automata have no formula, so their witnesses name no property.
#[test]
fn witnesses_of_checks_and_automata_are_confirmed_with_the_same_options() {
    let check = Case::new(
        "\
extern int __VERIFIER_nondet_int(void);
int main(void) {
    int x = __VERIFIER_nondet_int();
    while (x > 31 || x < 0)
        x = x / 2 + (x < 0);
    return 1u << x == 0;
}
",
    );
    let automaton = Case::new(
        "\
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
int main(void) {
    char *p = malloc(4);
    if (__VERIFIER_nondet_int() == 5)
        free(p);
    free(p);
    return 0;
}
",
    );
    for (case, options, expected) in
        [(check, ["--check", "shift"], "TRUE"), (automaton, ["--automaton", "heap"], "FALSE(heap)")]
    {
        let (said, witness) = case.verify(&options);
        assert_eq!(said, expected);
        assert!(case.validate(&witness).contains("the witness names no property"), "{witness}");
        let path = case.witness();
        let output = proviso(&[&["validate", path.to_str().unwrap(), &case.program], &options[..]].concat());
        assert_eq!(verdict(&output), expected, "{witness}");
    }
}

/// Other threads may not violate the property before the waypoints are passed, also if the error function has a body.
#[test]
fn calls_of_a_defined_error_function_in_threads_are_confirmed() {
    let case = Case::new(
        "\
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
void reach_error(void) { assert(0); }
int x;
static void *run(void *arg) {
    x = __VERIFIER_nondet_int();
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    if (x == 7)
        reach_error();
    pthread_join(t, 0);
    return 0;
}
",
    );
    let (said, witness) = case.verify(&["--property", "unreach-call"]);
    assert_eq!(said, "FALSE(unreach-call)");
    assert_eq!(case.validate(&witness), "FALSE(unreach-call)");
}

/// A witness with only `avoid` waypoints is rejected, and scalars may be unquoted.
#[test]
fn malformed_violations_are_rejected_and_plain_scalars_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let program = "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\nint main(void) {\n    int x = __VERIFIER_nondet_int();\n    if (x == 1)\n        reach_error();\n    return 0;\n}\n";
    std::fs::write(folder.path().join("p.c"), program).unwrap();
    let run = |args: &[&str]| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_proviso")).args(args).current_dir(folder.path()).output().unwrap();
        String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned()
    };
    assert_eq!(run(&["verify", "--property", "unreach-call", "--witness", "w.yml", "p.c"]), "FALSE(unreach-call)");
    let witness = std::fs::read_to_string(folder.path().join("w.yml")).unwrap();
    let head = &witness[..witness.find("  content:").unwrap()];
    let place = |line: u32, column: u32| format!("location: {{file_name: p.c, line: {line}, column: {column}}}");
    let validate = |content: &str| {
        std::fs::write(folder.path().join("v.yml"), format!("{head}  content:\n{content}")).unwrap();
        run(&["validate", "v.yml", "p.c"])
    };
    let target = format!("    - waypoint: {{type: target, action: follow, {}}}\n", place(6, 9));
    let with = |kind: &str, value: &str, at: &str| {
        format!(
            "  - segment:\n    - waypoint: {{type: {kind}, action: follow, {at}, constraint: {{value: {value}, format: c_expression}}}}\n"
        )
    };
    let last = format!("  - segment:\n{target}");
    for good in [
        last.clone(),
        with("assumption", "1", &place(5, 5)) + &last,
        with("assumption", "true", &place(5, 5)) + &last,
        with("assumption", "'x == 1'", &place(5, 5)) + &last,
        with("branching", "true", &place(5, 5)) + &last,
        with("branching", "'true'", &place(5, 5)) + &last,
    ] {
        assert_eq!(validate(&good), "FALSE(unreach-call)", "{good}");
    }
    let avoid = target.replace("follow", "avoid");
    for bad in [
        format!("  - segment:\n{avoid}"),
        format!("  - segment:\n{avoid}{avoid}"),
        format!("  - segment:\n{target}{avoid}"),
        format!("{last}{last}"),
        with("assumption", "0", &place(5, 5)) + &last,
        with("branching", "false", &place(5, 5)) + &last,
        with("assumption", "1", &place(5, 5)),
    ] {
        let said = validate(&bad);
        assert!(said.starts_with("UNKNOWN("), "{said}: {bad}");
    }
    // The same for an invariant set.
    std::fs::write(folder.path().join("p.c"), program.replace("x == 1", "x != x")).unwrap();
    for value in ["1", "'1'", "true", "x == x"] {
        let head = head.replace("violation_sequence", "invariant_set");
        let item = format!(
            "  - invariant: {{type: location_invariant, {}, value: {value}, format: c_expression}}\n",
            place(5, 5)
        );
        std::fs::write(folder.path().join("v.yml"), format!("{head}  content:\n{item}")).unwrap();
        assert_eq!(run(&["validate", "v.yml", "p.c"]), "TRUE", "{value}");
    }
}
