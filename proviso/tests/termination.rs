//! Random loops over two variables of eight bits. The test enumerates the graph of all 65,536 states. The loop
//! terminates from all states if and only if this graph has no cycle. No verdict may contradict that.
//!
//! `TERMINATION_RUNS=500 cargo test -p proviso --test termination` tests more loops. `TERMINATION_SEED` changes the
//! seed.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// A pseudo-random number generator (Marsaglia: Xorshift RNGs, 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// A number: one of the variables, or a constant.
#[derive(Clone, Copy)]
enum Number {
    Var(usize),
    Constant(i32),
}

/// A condition on numbers, or an input.
#[derive(Clone)]
enum Condition {
    Compare(&'static str, Number, Number),
    And(Box<Condition>, Box<Condition>),
    Input,
}

#[derive(Clone)]
enum Statement {
    Assign(usize, &'static str, Number, Number),
    If(Condition, Vec<Statement>, Vec<Statement>),
}

const NAMES: [&str; 2] = ["x", "y"];

struct Program {
    signed: bool,
    guard: Condition,
    body: Vec<Statement>,
}

fn number(random: &mut Random) -> Number {
    match random.below(3) {
        0 => Number::Constant(random.one_of(&[0, 1, 2, 3, 5, 10, 100, 127])),
        _ => Number::Var(random.below(2) as usize),
    }
}

fn comparison(random: &mut Random) -> Condition {
    let operator = random.one_of(&["<", "<=", ">", ">=", "!=", "=="]);
    Condition::Compare(operator, Number::Var(random.below(2) as usize), number(random))
}

fn condition(random: &mut Random) -> Condition {
    match random.below(5) {
        0 => Condition::And(Box::new(comparison(random)), Box::new(comparison(random))),
        1 => Condition::Input,
        _ => comparison(random),
    }
}

fn statements(random: &mut Random, depth: u32) -> Vec<Statement> {
    let count = 1 + random.below(2);
    let one = |random: &mut Random| {
        if depth > 0 && random.below(2) == 0 {
            let condition = condition(random);
            return Statement::If(condition, statements(random, depth - 1), statements(random, depth - 1));
        }
        let var = random.below(2) as usize;
        let operator = random.one_of(&["+", "-", "-", "+", "*", "&"]);
        let left = if random.below(6) == 0 { number(random) } else { Number::Var(var) };
        let right =
            if random.below(3) == 0 { number(random) } else { Number::Constant(random.one_of(&[1, 1, 1, 2, 3])) };
        Statement::Assign(var, operator, left, right)
    };
    (0..count).map(|_| one(random)).collect()
}

/// The values of the two variables.
type State = [i32; 2];

impl Number {
    fn value(self, state: State) -> i32 {
        match self {
            Number::Var(v) => state[v],
            Number::Constant(c) => c,
        }
    }
    fn text(self) -> String {
        match self {
            Number::Var(v) => NAMES[v].into(),
            Number::Constant(c) => c.to_string(),
        }
    }
}

impl Condition {
    fn holds(&self, state: State, input: bool) -> bool {
        match self {
            Condition::Input => input,
            Condition::And(a, b) => a.holds(state, input) && b.holds(state, input),
            Condition::Compare(operator, a, b) => {
                let (a, b) = (a.value(state), b.value(state));
                match *operator {
                    "<" => a < b,
                    "<=" => a <= b,
                    ">" => a > b,
                    ">=" => a >= b,
                    "!=" => a != b,
                    _ => a == b,
                }
            }
        }
    }
    fn text(&self) -> String {
        match self {
            Condition::Input => "input".into(),
            Condition::And(a, b) => format!("{} && {}", a.text(), b.text()),
            Condition::Compare(operator, a, b) => format!("{} {operator} {}", a.text(), b.text()),
        }
    }
}

impl Program {
    fn random(random: &mut Random) -> Self {
        let guard = match random.below(3) {
            0 => Condition::And(Box::new(comparison(random)), Box::new(comparison(random))),
            _ => comparison(random),
        };
        Self { signed: random.below(2) == 0, guard, body: statements(random, 2) }
    }

    fn ty(&self) -> &'static str {
        if self.signed { "signed char" } else { "unsigned char" }
    }

    fn narrow(&self, value: i32) -> i32 {
        if self.signed { i32::from(value as i8) } else { i32::from(value as u8) }
    }

    fn execute(&self, statements: &[Statement], mut state: State, input: bool) -> State {
        for statement in statements {
            match statement {
                Statement::Assign(var, operator, a, b) => {
                    let (a, b) = (a.value(state), b.value(state));
                    let value = match *operator {
                        "+" => a + b,
                        "-" => a - b,
                        "*" => a * b,
                        _ => a & b,
                    };
                    state[*var] = self.narrow(value);
                }
                Statement::If(condition, yes, no) => {
                    let branch = if condition.holds(state, input) { yes } else { no };
                    state = self.execute(branch, state, input);
                }
            }
        }
        state
    }

    /// True if every execution terminates, from all values of the variables.
    fn terminates(&self) -> bool {
        let number = |s: State| ((s[0] & 255) << 8 | s[1] & 255) as usize;
        let state = |n: usize| [self.narrow((n >> 8) as i32), self.narrow((n & 255) as i32)];
        // Depth-first: 1 is on the path, 2 done.
        let mut colour = vec![0u8; 1 << 16];
        for start in 0..1 << 16 {
            let mut stack = vec![(start, 0)];
            while let Some((n, next)) = stack.last_mut() {
                let now = state(*n);
                if *next == 0 {
                    if colour[*n] != 0 {
                        stack.pop();
                        continue;
                    }
                    colour[*n] = 1;
                }
                if *next == 2 || !self.guard.holds(now, false) {
                    colour[*n] = 2;
                    stack.pop();
                    continue;
                }
                let after = number(self.execute(&self.body, now, *next == 1));
                *next += 1;
                match colour[after] {
                    0 => stack.push((after, 0)),
                    1 => return false,
                    _ => {}
                }
            }
        }
        true
    }

    fn write(&self, out: &mut String, statements: &[Statement]) {
        for statement in statements {
            let _ = match statement {
                Statement::Assign(var, operator, a, b) => {
                    let (ty, a, b) = (self.ty(), a.text(), b.text());
                    writeln!(out, "{} = ({ty})({a} {operator} {b});", NAMES[*var])
                }
                Statement::If(condition, yes, no) => {
                    let _ = writeln!(out, "if ({}) {{", condition.text());
                    self.write(out, yes);
                    let _ = writeln!(out, "}} else {{");
                    self.write(out, no);
                    writeln!(out, "}}")
                }
            };
        }
    }

    fn text(&self) -> String {
        let ty = self.ty();
        let nondet = if self.signed { "__VERIFIER_nondet_char" } else { "__VERIFIER_nondet_uchar" };
        let mut out = format!(
            "extern {ty} {nondet}(void);\nextern _Bool __VERIFIER_nondet_bool(void);\nint main(void) {{\n\
             {ty} x = {nondet}(), y = {nondet}();\nwhile ({}) {{\n_Bool input = __VERIFIER_nondet_bool();\n",
            self.guard.text()
        );
        self.write(&mut out, &self.body);
        out + "}\nreturn 0;\n}\n"
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn verdict(file: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_proviso"))
        .args(["verify", "--property", "termination", "--timeout", "4"])
        .arg(file)
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or("").to_owned()
}

#[test]
fn no_verdict_contradicts_the_graph_of_all_states() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ setting("TERMINATION_SEED", 1));
    let (mut ends, mut goes_on, mut open) = (0, 0, 0);
    for run in 0..setting("TERMINATION_RUNS", 16) {
        let program = Program::random(&mut random);
        let terminates = program.terminates();
        let file = folder.path().join(format!("{run}.c"));
        std::fs::write(&file, program.text()).unwrap();
        let verdict = verdict(&file);
        let wrong = match verdict.as_str() {
            "TRUE" => !terminates,
            "FALSE(termination)" => terminates,
            other => {
                assert!(other.starts_with("UNKNOWN("), "{other}\n{}", program.text());
                false
            }
        };
        assert!(!wrong, "{verdict}, but it {} end:\n{}", if terminates { "does" } else { "does not" }, program.text());
        match verdict.as_str() {
            "TRUE" => ends += 1,
            "FALSE(termination)" => goes_on += 1,
            _ => {
                open += 1;
                if std::env::var("TERMINATION_RUNS").is_ok() {
                    eprintln!("open, {terminates}:\n{}", program.text());
                }
            }
        }
    }
    eprintln!("{ends} end, {goes_on} do not, {open} are open");
    assert!(ends > 0 && goes_on > 0, "{ends} end, {goes_on} do not, {open} are open");
}
