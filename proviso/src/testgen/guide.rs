//! Observations of a run that lead mutation to open goals. The branch distance is that of a condition from the
//! outcome that no test covers (Korel, Automated software test data generation, TSE 1990). The values that a run
//! compares show which part of an input to replace by which value (Aschermann et al., REDQUEEN: Fuzzing with
//! input-to-state correspondence, NDSS 2019).

use cfa::interp::{Observer, State};
use cfa::{BinOp, Bv, EdgeId, Expr, ExprId, FCmp, FloatFormat, FunctionOrigin, Id, Op, Out, Program, UnOp};
use driver::environment::text_at;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The maximal number of pairs of each kind that a run records.
const MOST_PAIRS: usize = 100;
/// The maximal length in bytes of the second value of a pair, which is inserted into inputs.
const LONGEST: usize = 64;

/// A value that a run compared, and the value that decides the comparison otherwise. Both are bytes of an input. The
/// first may be an empty string.
pub type Pair = (Vec<u8>, Vec<u8>);

/// An option that a program passes to `getopt`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct OptionForm {
    /// The option with its dashes.
    pub text: Vec<u8>,
    /// True if it may have an argument, and true if it must have one.
    pub takes: (bool, bool),
}

impl OptionForm {
    /// Returns true if the option has a name of several letters.
    pub fn is_long(&self) -> bool {
        self.text.starts_with(b"--")
    }
}

/// The open goals whose branches a run can reach, by the edge on the other side of the branch.
pub struct Frontier {
    /// By edge: the goal on the other side, or `NONE`.
    goal_of: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Frontier {
    /// Returns the frontier of the goals for which `is_open` returns true.
    pub fn new(program: &Program, goals: &[EdgeId], is_open: impl Fn(usize) -> bool) -> Self {
        let mut goal_of = vec![NONE; program.edges.len()];
        for (i, &goal) in goals.iter().enumerate().filter(|(i, _)| is_open(*i)) {
            if let Out::Branch { then_edge, else_edge } = program.locs[program.edges[goal].source].out {
                let other = if goal == then_edge { else_edge } else { then_edge };
                goal_of[other.index()] = i as u32;
            }
        }
        Self { goal_of }
    }
}

/// Returns true if a library function compares the strings in its first two arguments, and whether the third one limits
/// their lengths. `None` if it does not compare strings.
fn compares_strings(function: &str) -> Option<bool> {
    match function.trim_end_matches(".void") {
        "strcmp" | "strcasecmp" | "strcoll" | "strstr" | "strcasestr" => Some(false),
        "strncmp" | "strncasecmp" | "memcmp" | "bcmp" => Some(true),
        _ => None,
    }
}

/// The pairs of values that a run compared.
#[derive(Default)]
pub struct Compared {
    /// Strings, compared by functions of the library.
    pub texts: BTreeSet<Pair>,
    /// Numbers, compared by branches of the program.
    pub numbers: BTreeSet<Pair>,
}

/// An observer of a run that records distances to the goals of a frontier, and compared values.
pub struct Guide<'a> {
    program: &'a Program,
    goals: &'a [EdgeId],
    frontier: &'a Frontier,
    /// The least distance to each goal whose branch the run reached.
    pub nearest: FxHashMap<u32, u64>,
    /// The options of the program. They are recorded with the compared values.
    pub options: BTreeSet<OptionForm>,
    /// The compared values. `None` if they are not recorded.
    pub compared: Option<Compared>,
}

impl<'a> Guide<'a> {
    /// Returns an observer for one run. It records compared values only if `records_pairs` is set, since these take
    /// time.
    pub fn new(program: &'a Program, goals: &'a [EdgeId], frontier: &'a Frontier, records_pairs: bool) -> Self {
        let compared = records_pairs.then(Compared::default);
        Self { program, goals, frontier, nearest: FxHashMap::default(), options: BTreeSet::new(), compared }
    }

    fn branch(&mut self, edge: EdgeId, state: &State) {
        let goal = self.frontier.goal_of[edge.index()];
        let Op::Assume { cond, .. } = self.program.edges[self.goals[goal as usize]].op else { return };
        let distance = distance(self.program, state, cond, true);
        let nearest = self.nearest.entry(goal).or_insert(u64::MAX);
        *nearest = (*nearest).min(distance);
        if self.compared.is_some() {
            self.numbers(cond, state);
        }
    }

    /// Records the pairs of a comparison: of floats as text, and of integers as decimal and hexadecimal text, as a
    /// character, and as bytes in memory.
    fn numbers(&mut self, cond: ExprId, state: &State) {
        let exprs = &self.program.exprs;
        let cond = match *exprs.get(cond) {
            Expr::Unary(UnOp::Not, inner) => inner,
            _ => cond,
        };
        let (op, a, b) = match *exprs.get(cond) {
            Expr::Binary(op, a, b) if op.is_comparison() => (op, a, b),
            Expr::FCompare(op, format, a, b) => {
                let floats = float(format, &state.eval(a)).zip(float(format, &state.eval(b)));
                if let (Some((x, y)), Some(compared)) = (floats, &mut self.compared) {
                    let near: &[f64] = if op == FCmp::Eq { &[0.0] } else { &[0.0, 1.0, -1.0] };
                    for (from, to) in [(x, y), (y, x)] {
                        for to in near.iter().map(|d| to + d) {
                            add_pair(&mut compared.numbers, (from.to_string().into(), to.to_string().into()));
                        }
                    }
                }
                return;
            }
            _ => return,
        };
        let (a, b) = (state.eval(a), state.eval(b));
        let (Some(x), Some(y)) = (a.to_i64(), b.to_i64()) else { return };
        let hexadecimal = [&a, &b].map(|value| format!("{:x}", value.to_u64().unwrap_or(0)).into_bytes());
        let near: &[i64] = if op == BinOp::Eq { &[0] } else { &[0, 1, -1] };
        let bytes = |value: i64, size: usize| value.to_le_bytes()[..size].to_vec();
        let Some(compared) = &mut self.compared else { return };
        let mut add = |pair| add_pair(&mut compared.numbers, pair);
        for (from, to) in [(0, 1), (1, 0)] {
            // Small numbers have the same digits in both bases.
            if hexadecimal[to].len() > 1 {
                add((hexadecimal[from].clone(), hexadecimal[to].clone()));
            }
        }
        for (from, to) in [(x, y), (y, x)] {
            for to in near.iter().map(|d| to.wrapping_add(*d)) {
                add((from.to_string().into_bytes(), to.to_string().into_bytes()));
                if let (Ok(from), Ok(to)) = (u8::try_from(from), u8::try_from(to)) {
                    add((vec![from], vec![to]));
                    if from == 0 {
                        add((Vec::new(), vec![to]));
                    }
                }
                let size = a.width() as usize / 8;
                if matches!(size, 2 | 4 | 8) && from.unsigned_abs() > 255 {
                    add((bytes(from, size), bytes(to, size)));
                }
            }
        }
    }

    /// Records the strings that a library function compares, and the options that it looks for.
    fn called(&mut self, edge: EdgeId, state: &State) {
        let origin = |f| self.program.funcs[f].origin;
        let function = state.func();
        if origin(self.program.func_of(edge)) != FunctionOrigin::Source || origin(function) != FunctionOrigin::Model {
            return;
        }
        let function = &self.program.funcs[function];
        let argument = |n: usize| function.params.get(n).and_then(|&p| state.var(p)).and_then(|v| v.to_u64());
        if let Some(is_limited) = compares_strings(&function.name)
            && let Some(compared) = &mut self.compared
        {
            let most = if is_limited { argument(2).unwrap_or(0) as usize } else { usize::MAX };
            let text = |n: usize| {
                let mut text = text_at(state, argument(n)?)?;
                text.truncate(most);
                Some(text)
            };
            if let (Some(a), Some(b)) = (text(0), text(1)) {
                add_pair(&mut compared.texts, (a.clone(), b.clone()));
                add_pair(&mut compared.texts, (b, a));
            }
        }
        if self.options.is_empty() && matches!(function.name.as_str(), "getopt" | "getopt_long" | "getopt_long_only") {
            let letters = argument(2).and_then(|at| text_at(state, at)).unwrap_or_default();
            self.options.extend(short_options(&letters));
            let table = argument(3).filter(|&at| at != 0);
            self.options.extend(table.into_iter().flat_map(|at| long_options(state, at, self.program)));
        }
    }
}

impl Observer for Guide<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        if self.frontier.goal_of[edge.index()] != NONE {
            self.branch(edge, state);
        }
        if self.compared.is_some() && matches!(self.program.edges[edge].op, Op::Call { .. }) {
            self.called(edge, state);
        }
    }
}

/// Adds a pair of different values, unless the second one is too long or there are enough.
fn add_pair(pairs: &mut BTreeSet<Pair>, (from, to): Pair) {
    if pairs.len() < MOST_PAIRS && from != to && to.len() <= LONGEST {
        pairs.insert((from, to));
    }
}

/// Returns the options in the list of letters that `getopt` takes.
fn short_options(letters: &[u8]) -> Vec<OptionForm> {
    let is_option = |(_, letter): &(usize, &u8)| letter.is_ascii_alphanumeric();
    let form = |(at, &letter): (usize, &u8)| {
        let colons = letters[at + 1..].iter().take_while(|&&c| c == b':').count();
        OptionForm { text: vec![b'-', letter], takes: (colons > 0, colons == 1) }
    };
    letters.iter().enumerate().filter(is_option).map(form).collect()
}

/// Returns the options in the table that `getopt_long` takes.
fn long_options(state: &State, table: u64, program: &Program) -> Vec<OptionForm> {
    /// The maximal number of options of a table.
    const MOST: u64 = 200;
    let pointer = u64::from(program.layout.pointer_width / 8);
    let number = |at: u64, size: u64| {
        let bytes = state.bytes(at, size as usize)?;
        Bv::from_le_bytes(&bytes).to_u64()
    };
    // A name, two numbers of type `int`, and a pointer between these.
    let row = |n: u64| {
        let at = table + n * 4 * pointer;
        let name = number(at, pointer).filter(|&name| name != 0)?;
        let kind = number(at + pointer, 4)?;
        Some(OptionForm { text: [b"--".to_vec(), text_at(state, name)?].concat(), takes: (kind != 0, kind == 1) })
    };
    (0..MOST).map_while(row).collect()
}

/// Returns 0 if the condition has the wanted outcome in the state, otherwise how far it is from that, at least 1.
fn distance(program: &Program, state: &State, cond: ExprId, wanted: bool) -> u64 {
    let of = |cond, wanted| distance(program, state, cond, wanted);
    let far = match *program.exprs.get(cond) {
        Expr::Unary(UnOp::Not, inner) => return of(inner, !wanted),
        Expr::Binary(op @ (BinOp::And | BinOp::Or), a, b) => {
            return match (op == BinOp::And) == wanted {
                true => of(a, wanted).saturating_add(of(b, wanted)),
                false => of(a, wanted).min(of(b, wanted)),
            };
        }
        Expr::Binary(op, a, b) if op.is_comparison() => {
            let (a, b) = (state.eval(a), state.eval(b));
            let is_signed = !matches!(op, BinOp::Ult | BinOp::Ule);
            let number = |v: &Bv| if is_signed { v.to_i64().map(i128::from) } else { v.to_u64().map(i128::from) };
            let Some((x, y)) = number(&a).zip(number(&b)) else { return 1 };
            // The distance to `a < b` and `a <= b`, and to their opposites.
            let more = match (op, wanted) {
                (BinOp::Eq, true) => (x - y).abs(),
                (BinOp::Eq, false) => 1,
                (BinOp::Ult | BinOp::Slt, true) => x - y + 1,
                (_, true) => x - y,
                (BinOp::Ult | BinOp::Slt, false) => y - x,
                (_, false) => y - x + 1,
            };
            more.clamp(0, u64::MAX.into()) as u64
        }
        Expr::FCompare(op, format, a, b) => {
            let Some((a, b)) = ordered(format, &state.eval(a)).zip(ordered(format, &state.eval(b))) else { return 1 };
            let is_equality = op == FCmp::Eq;
            if is_equality && !wanted { 1 } else { a.abs_diff(b) }
        }
        _ => 1,
    };
    if state.eval(cond).is_true() == wanted { 0 } else { far.max(1) }
}

/// Returns the value of a float; `None` for unusual formats.
fn float(format: FloatFormat, value: &Bv) -> Option<f64> {
    let bits = value.to_u64()?;
    match format {
        FloatFormat::Double => Some(f64::from_bits(bits)),
        FloatFormat::Single => Some(f32::from_bits(bits as u32).into()),
        _ => None,
    }
}

/// Returns a number whose order is that of the floats; `None` for unusual formats.
fn ordered(format: FloatFormat, value: &Bv) -> Option<i64> {
    let bits = value.to_u64()?;
    match format {
        FloatFormat::Double if bits >> 63 == 1 => Some(-((bits << 1 >> 1) as i64)),
        FloatFormat::Double => Some(bits as i64),
        FloatFormat::Single if bits >> 31 == 1 => Some(-i64::from(bits as u32 & 0x7fff_ffff)),
        FloatFormat::Single => Some(bits as i64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::interp::{Inputs, Interpreter, Limits};

    const PROGRAM: &str = "program 64 entry f0
        type ty0 int \"int\" 32 signed
        func f0 \"main\" source ty0 32 () entry l0 {
          local v0 \"x\" ty0 32
          l0: t0: v0 := 10:32 -> l1
          l1: t1: if (v0 <s 100:32) -> l2
              t2: else ~(v0 <s 100:32) -> l2
          l2: t3: v0 := 40:32 -> l3
          l3: t4: if (v0 == 42:32) -> l4
              t5: else ~(v0 == 42:32) -> l4
          l4: t6: halt exit 0:32 -> l5
          l5:
        }";

    #[test]
    fn letters_with_colons_take_arguments() {
        let forms = short_options(b"+af:o::");
        let text = |form: &OptionForm| (String::from_utf8(form.text.clone()).unwrap(), form.takes);
        let expected = [("-a", (false, false)), ("-f", (true, true)), ("-o", (true, false))];
        assert_eq!(forms.iter().map(text).collect::<Vec<_>>(), expected.map(|(text, takes)| (text.to_owned(), takes)));
    }

    #[test]
    fn a_run_tells_how_far_open_goals_are() {
        let program = cfa::text::parse(PROGRAM).unwrap();
        let goals = [1, 2, 4, 5].map(EdgeId);
        let frontier = Frontier::new(&program, &goals, |i| i == 1 || i == 2);
        let mut guide = Guide::new(&program, &goals, &frontier, true);
        Interpreter::new(&program).run(&mut Inputs::default().source(), Limits::default(), &mut guide);
        assert_eq!((guide.nearest.get(&1), guide.nearest.get(&2), guide.nearest.len()), (Some(&90), Some(&2), 2));
        let pairs = guide.compared.unwrap().numbers;
        let has = |from: &str, to: &str| pairs.contains(&(from.into(), to.into()));
        assert!(
            has("10", "100")
                && has("10", "99")
                && has("40", "42")
                && has("28", "2a")
                && has("(", "*")
                && !has("10", "10")
        );
    }

    #[test]
    fn compared_floats_are_recorded_as_text() {
        let (x, y) = (1f64.to_bits(), 77.25f64.to_bits());
        let text = format!(
            "program 64 entry f0
            type ty0 int \"long\" 64 signed
            func f0 \"main\" source ty0 32 () entry l0 {{
              local v0 \"x\" ty0 64
              l0: t0: v0 := {x}:64 -> l1
              l1: t1: if flt.double({y}:64, v0) -> l2
                  t2: else ~flt.double({y}:64, v0) -> l2
              l2: t3: halt exit 0:32 -> l3
              l3:
            }}"
        );
        let program = cfa::text::parse(&text).unwrap();
        let goals = [1, 2].map(EdgeId);
        let frontier = Frontier::new(&program, &goals, |i| i == 0);
        let mut guide = Guide::new(&program, &goals, &frontier, true);
        Interpreter::new(&program).run(&mut Inputs::default().source(), Limits::default(), &mut guide);
        let pairs = guide.compared.unwrap().numbers;
        let has = |to: &str| pairs.contains(&(b"1".to_vec(), to.into()));
        assert!(has("77.25") && has("78.25") && has("76.25"));
    }
}
