//! Minimisation of the inputs of an error. Small inputs are easier to understand: a string of two characters says more
//! than one of a million.
//!
//! Inputs with which blocks have no bytes are avoided, because `malloc(0)` returns room for some bytes in real
//! libraries. An access behind such a block faults neither natively nor with AddressSanitizer.

use crate::environment::Environment;
use crate::source::Sources;
use cfa::interp::{InputSource, Inputs, InputsSource, Interpreter, Limits, ObjectSeq, Observer, State, Unknown};
use cfa::{AllocKind, Bv, Check, EdgeId, ErrorId, Expr, FunctionOrigin, InputKind, Op, Program};
use std::time::Duration;

/// The maximum number of steps of a run. The inputs of longer runs are not minimised.
const STEPS: u64 = 50_000;
/// The number of steps of all runs together after which the search ends.
const ALL_STEPS: u64 = 5_000_000;
/// The size of an `int` in bytes.
const WORD: u64 = 4;
/// The maximum number of runs.
const RUNS: usize = 400;
/// The values that replace 0 in the search for inputs with which fewer blocks have no bytes.
const SMALL: [u64; 3] = [1, 4, 8];
/// The maximum number of values from the environment that the search tries to change.
const ENVIRONMENT: usize = 40;
/// The largest number of arguments, with the name of the program, that replaces a larger one. The search tries each
/// smaller number.
const MOST_ARGUMENTS: u64 = 3;
/// The characters that replace characters that are hard to type, the first that is possible.
const PRINTABLE: [u8; 2] = [b'a', b'0'];
/// The maximum duration of all runs together.
pub const TIME: Duration = Duration::from_millis(300);

/// The position of a run that ended in an error. An error of the library or of `reach_error` is attributed to its
/// caller, so the position includes calls.
#[derive(PartialEq, Eq)]
struct End {
    /// The error and its edge.
    error: (ErrorId, EdgeId),
    /// The innermost call that has not returned.
    call: Option<EdgeId>,
    /// The innermost edge in the user's code, among the error edge and the calls that have not returned.
    users: Option<EdgeId>,
    /// The values that library models took from the environment, in order. Together they determine the data that was
    /// read, so smaller inputs must not change any of them.
    environment: Vec<Bv>,
}

/// An observer of the calls that have not returned, and of the values that library models take from the environment.
struct Calls<'p> {
    program: &'p Program,
    /// The calls that have not returned, outermost first.
    stack: Vec<EdgeId>,
    /// The values that library models took from the environment, in order.
    environment: Vec<Bv>,
    /// The number of allocated blocks that have no bytes.
    empty_blocks: usize,
}

impl Observer for Calls<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        match self.program.edges[edge].op {
            Op::Call { .. } => self.stack.push(edge),
            Op::Return { .. } => drop(self.stack.pop()),
            Op::Alloc { size, kind: AllocKind::Heap(_), .. } if state.eval(size).is_zero() => self.empty_blocks += 1,
            Op::Havoc { var, input } if matches!(self.program.inputs[input].kind, InputKind::Environment(_)) => {
                self.environment.extend(state.var(var));
            }
            _ => {}
        }
    }
}

/// A search for smaller inputs.
struct Search<'p> {
    program: &'p Program,
    interpreter: Interpreter<'p>,
    /// The end that a run on smaller inputs must have.
    end: Option<End>,
    /// The maximum number of blocks without bytes in a run on smaller inputs.
    empty_blocks: usize,
    /// The limits of each run.
    limits: Limits,
    /// The number of runs so far.
    runs: usize,
    /// The number of steps of these runs.
    steps: u64,
}

/// Returns inputs that lead to the same error at the same position as `inputs`, with smaller values. The search is
/// limited to a few runs. Returns `inputs` unchanged if a run on them does not reach `error` within the limits, or if
/// the error is a leak, or a comparison or subtraction of pointers.
pub fn inputs(program: &Program, inputs: &Inputs, error: ErrorId, limits: Limits) -> Inputs {
    let limits = Limits { steps: STEPS, ..limits };
    let interpreter = Interpreter::new(program);
    let mut search = Search { program, interpreter, end: None, empty_blocks: 0, limits, runs: 0, steps: 0 };
    let (end, empty_blocks) = search.run(inputs).filter(|(end, _)| end.error.0 == error).unzip();
    search.empty_blocks = empty_blocks.unwrap_or_default();
    search.end = end.filter(|end| !is_about_objects(program, end));
    if search.end.is_none() {
        return inputs.clone();
    }
    let mut best = inputs.clone();
    search.fill_blocks(&mut best);
    for n in 0..best.values.len() {
        search.value(&mut best, n);
    }
    search.bytes(&mut best);
    for key in best.bytes.keys().copied().collect::<Vec<_>>() {
        search.number(&mut best, key);
    }
    best
}

/// An upper bound of the effort to arrange an environment: the parts by which users judge it, the most important first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Effort {
    /// The reasons why a native run may differ.
    doubts: usize,
    /// The arguments of the command line.
    arguments: u64,
    /// The bytes of arguments, and the environment variables.
    bytes: usize,
}

impl Effort {
    fn of(environment: &Environment) -> Self {
        let Environment { command, variables, doubts, .. } = environment;
        let arguments = command.arguments.iter().flatten().map(Vec::len).sum::<usize>();
        Self { doubts: doubts.len(), arguments: command.argc, bytes: arguments + variables.len() }
    }
}

/// A source of inputs that observes which values come from the environment.
struct Observed<'a> {
    program: &'a Program,
    source: InputsSource<'a>,
    /// The number of values so far.
    values: usize,
    /// The indices of values from the environment.
    of_environment: Vec<usize>,
    /// The number of allocations so far.
    allocations: u64,
    /// The objects before `main` whose size is the last value, with the index of this value: the program arguments.
    texts: Vec<(usize, ObjectSeq)>,
}

impl<'a> Observed<'a> {
    /// No values so far.
    fn new(program: &'a Program, inputs: &'a Inputs) -> Self {
        let (of_environment, texts) = (Vec::new(), Vec::new());
        Self { program, source: inputs.source(), values: 0, of_environment, allocations: 0, texts }
    }
}

/// Returns the inputs without the program argument with index `n` among `texts`. The others move to its place. `argc`
/// is the index of their number.
fn without_argument(inputs: &Inputs, texts: &[(usize, ObjectSeq)], argc: usize, n: usize) -> Option<Inputs> {
    let mut fewer = inputs.clone();
    let count = inputs.values[argc].to_u64().filter(|&count| n < count as usize && count as usize <= texts.len())?;
    fewer.values[argc] = Bv::new(inputs.values[argc].width(), count - 1);
    for (to, from) in texts.iter().zip(&texts[1..]).skip(n) {
        fewer.values[to.0] = inputs.values[from.0].clone();
        fewer.bytes.retain(|key, _| key.0 != to.1);
        let moved = inputs.bytes.range((from.1, 0)..=(from.1, u64::MAX));
        fewer.bytes.extend(moved.map(|(key, &byte)| ((to.1, key.1), byte)));
    }
    Some(fewer)
}

/// Returns the inputs without the zeros before the first number of a program argument that do not change its value.
/// `None` if there are none. `size` is the index of the size of the argument's object.
fn without_zeros(inputs: &Inputs, (size, object): (usize, ObjectSeq)) -> Option<Inputs> {
    let byte = |at| inputs.bytes.get(&(object, at)).copied().unwrap_or_default();
    let text: Vec<u8> = (0..).map(byte).take_while(|&byte| byte != 0).collect();
    let first = text.iter().position(u8::is_ascii_digit)?;
    let digits = text[first..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let zeros = text[first..first + digits - 1].iter().take_while(|&&byte| byte == b'0').count();
    let mut fewer = inputs.clone();
    let shorter = fewer.values[size].to_u64()?.checked_sub(zeros as u64).filter(|_| zeros > 0)?;
    fewer.values[size] = Bv::new(inputs.values[size].width(), shorter);
    for at in first..text.len() {
        fewer.bytes.insert((object, at as u64), text.get(at + zeros).copied().unwrap_or_default());
    }
    Some(fewer)
}

impl InputSource for Observed<'_> {
    fn allocates(&mut self, edge: EdgeId) {
        if let Op::Alloc { size, .. } = self.program.edges[edge].op
            && self.program.func_of(edge) == self.program.entry
            && matches!(self.program.exprs.get(size), Expr::Var(_))
            && self.of_environment.last().is_some_and(|&last| last + 1 == self.values)
        {
            self.texts.push((self.values - 1, ObjectSeq::Alloc(self.allocations)));
        }
        self.allocations += 1;
    }
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        if let Unknown::Havoc(input) = what
            && matches!(self.program.inputs[input].kind, InputKind::Environment(_))
        {
            self.of_environment.push(self.values);
        }
        self.values += usize::from(!matches!(what, Unknown::Global(_)));
        self.source.unknown(what, width)
    }
    fn bytes(&mut self, object: ObjectSeq, offset: u64, bytes: &mut [u8]) {
        self.source.bytes(object, offset, bytes);
    }
    fn base(&mut self, object: ObjectSeq, size: u64, align: u32) -> Option<u64> {
        self.source.base(object, size, align)
    }
    fn thread(&mut self, point: u64, current: u32, enabled: &[u32]) -> u32 {
        self.source.thread(point, current, enabled)
    }
}

/// Returns inputs that lead to the same error at the same position as `inputs`, in an environment that is easier to
/// arrange: fewer arguments and environment variables, and arguments without leading zeros.
pub fn environment(program: &Program, inputs: &Inputs, error: ErrorId, sources: &Sources, limits: Limits) -> Inputs {
    let limits = Limits { steps: STEPS, ..limits };
    let interpreter = Interpreter::new(program);
    let mut search = Search { program, interpreter, end: None, empty_blocks: 0, limits, runs: 0, steps: 0 };
    // Standard input stays as it is: its text is made for the results of all reads, and other results may need another.
    let effort = |inputs: &Inputs| {
        let environment = super::given(program, inputs, sources, limits).environment;
        (Effort::of(&environment), (environment.stdin, environment.stdin_failures))
    };
    let Some((end, _)) = search.run(inputs).filter(|(end, _)| end.error.0 == error) else { return inputs.clone() };
    if is_about_objects(program, &end) {
        return inputs.clone();
    }
    let mut observed = Observed::new(program, inputs);
    search.interpreter.run(&mut observed, limits, &mut ());
    let (mut best, (mut least, stdin)) = (inputs.clone(), effort(inputs));
    let argc = observed.of_environment.first().copied();
    let texts = &observed.texts;
    let without = argc.into_iter().flat_map(|argc| (1..texts.len()).rev().map(move |n| (Some(argc), n)));
    for (argc, n) in without.chain((1..texts.len()).map(|n| (None, n))) {
        let fewer = match argc {
            Some(argc) => without_argument(&best, texts, argc, n),
            None => without_zeros(&best, texts[n]),
        };
        let Some(fewer) = fewer.filter(|_| !search.is_over()) else { continue };
        let (less, own) = effort(&fewer);
        if less < least && own == stdin && search.run(&fewer).is_some_and(|(other, _)| is_same(&other, &end)) {
            (best, least) = (fewer, less);
        }
    }
    for n in observed.of_environment.into_iter().take(ENVIRONMENT) {
        let Some(value) = best.values.get(n).filter(|value| !value.is_zero()).cloned() else { continue };
        let smaller = (0..=MOST_ARGUMENTS).take_while(|&small| value.to_u64().is_none_or(|value| small < value));
        for small in smaller.map(|small| Bv::new(value.width(), small)) {
            if search.is_over() {
                break;
            }
            let mut fewer = best.clone();
            fewer.values[n] = small;
            let is_same = search.run(&fewer).is_some_and(|(other, _)| is_same(&other, &end));
            let (less, own) = effort(&fewer);
            if is_same && own == stdin && less < least {
                (best, least) = (fewer, less);
                break;
            }
        }
    }
    best
}

/// Returns inputs that lead to the same error at the same position as `inputs`, with fewer characters that are hard to
/// type on a command line, in standard input or in a file.
pub fn printable(program: &Program, inputs: &Inputs, error: ErrorId, sources: &Sources, limits: Limits) -> Inputs {
    let limits = Limits { steps: STEPS, ..limits };
    let interpreter = Interpreter::new(program);
    let mut search = Search { program, interpreter, end: None, empty_blocks: 0, limits, runs: 0, steps: 0 };
    // The doubts about a native run, and the numbers of characters that are hard to type and of all characters.
    let effort = |inputs: &Inputs| {
        let environment = super::given(program, inputs, sources, limits).environment;
        let texts: Vec<&[u8]> = environment.texts().collect();
        let count = |is_counted: fn(u8) -> bool| texts.concat().into_iter().filter(|&byte| is_counted(byte)).count();
        (environment.doubts.len(), count(is_hard_to_type), count(|_| true))
    };
    let mut least = effort(inputs);
    let end = search.run(inputs).map(|(end, _)| end).filter(|end| end.error.0 == error);
    let Some(end) = end.filter(|end| least.1 > 0 && !is_about_objects(program, end)) else { return inputs.clone() };
    let mut observed = Observed::new(program, inputs);
    search.interpreter.run(&mut observed, limits, &mut ());
    let is_hard = |value: u64| u8::try_from(value).is_ok_and(is_hard_to_type);
    let is_character = |value: &&Bv| value.width() >= 8;
    let is_hard_value =
        |n: &usize| inputs.values.get(*n).filter(is_character).and_then(Bv::to_u64).is_some_and(is_hard);
    let values: Vec<Place> =
        observed.of_environment.into_iter().filter(is_hard_value).take(ENVIRONMENT).map(Place::Value).collect();
    let bytes = inputs.bytes.iter().filter(|&(_, &byte)| is_hard_to_type(byte)).map(|(&key, _)| Place::Byte(key));
    let mut parts = vec![values, bytes.take(ENVIRONMENT).collect()];
    let mut best = inputs.clone();
    while let Some(part) = parts.pop() {
        let is_easier = PRINTABLE.iter().any(|&character| {
            if part.is_empty() || search.is_over() {
                return false;
            }
            let mut easier = best.clone();
            part.iter().for_each(|place| place.set(&mut easier, character));
            let is_same = search.run(&easier).is_some_and(|(other, _)| is_same(&other, &end));
            let new = if is_same { effort(&easier) } else { least };
            let is_easier = new.0 <= least.0 && new.1 < least.1 && new.2 <= least.2;
            if is_easier {
                (best, least) = (easier, new);
            }
            is_easier
        });
        if !is_easier && part.len() > 1 {
            let (first, second) = part.split_at(part.len() / 2);
            parts.extend([first.to_vec(), second.to_vec()]);
        }
    }
    best
}

/// Returns true if the byte is neither a printable ASCII character nor a line break.
fn is_hard_to_type(byte: u8) -> bool {
    !matches!(byte, b' '..=b'~' | b'\n')
}

/// A part of the inputs that may be a character.
#[derive(Clone, Copy)]
enum Place {
    /// The value with this index.
    Value(usize),
    /// A byte of an object.
    Byte((ObjectSeq, u64)),
}

impl Place {
    /// Sets the character at this place.
    fn set(self, inputs: &mut Inputs, character: u8) {
        match self {
            Self::Value(n) => inputs.values[n] = Bv::new(inputs.values[n].width(), character.into()),
            Self::Byte(key) => drop(inputs.bytes.insert(key, character)),
        }
    }
}

/// Returns true if two runs end in the same error at the same position. They may differ in the environment.
fn is_same(one: &End, other: &End) -> bool {
    (&one.error, one.call, one.users) == (&other.error, other.call, other.users)
}

/// Returns true if smaller inputs may change the object that the error is about: they may leak another object, or give
/// the compared objects the same address.
fn is_about_objects(program: &Program, end: &End) -> bool {
    matches!(program.edges[end.error.1].op, Op::Leak(_))
        || matches!(program.errors[end.error.0].check, Check::PointerCompare | Check::PointerSubtract)
}

impl Search<'_> {
    /// Returns true if the search has used up its runs or steps.
    fn is_over(&self) -> bool {
        self.runs >= RUNS || self.steps >= ALL_STEPS
    }

    /// Returns true if a run on these inputs reaches the same error at the same position, with no more blocks without
    /// bytes. Returns false without a run if the search is over.
    fn holds(&mut self, inputs: &Inputs) -> bool {
        if self.is_over() {
            return false;
        }
        let (end, empty_blocks) = self.run(inputs).unzip();
        end == self.end && empty_blocks.is_some_and(|blocks| blocks <= self.empty_blocks)
    }

    /// Runs the program on these inputs and returns the position of the error, and the number of blocks without bytes.
    /// `None` if the run reaches no error.
    fn run(&mut self, inputs: &Inputs) -> Option<(End, usize)> {
        let mut calls = Calls { program: self.program, stack: Vec::new(), environment: Vec::new(), empty_blocks: 0 };
        let run = self.interpreter.run(&mut inputs.source(), self.limits, &mut calls);
        self.runs += 1;
        self.steps += run.steps;
        let error = run.outcome.error(self.program)?;
        let is_users = |edge: &EdgeId| self.program.funcs[self.program.func_of(*edge)].origin == FunctionOrigin::Source;
        let users = std::iter::once(&error.1).chain(calls.stack.iter().rev()).copied().find(|edge| is_users(edge));
        let end = End { error, call: calls.stack.last().copied(), users, environment: calls.environment };
        Some((end, calls.empty_blocks))
    }

    /// Replaces values that are 0 by small numbers if fewer blocks have no bytes then.
    fn fill_blocks(&mut self, best: &mut Inputs) {
        for n in 0..best.values.len() {
            let width = best.values[n].width();
            if self.empty_blocks == 0 || !best.values[n].is_zero() || !(8..=64).contains(&width) {
                continue;
            }
            let before = self.empty_blocks;
            self.empty_blocks -= 1;
            if !SMALL.iter().any(|&small| self.holds_with(best, n, Bv::new(width, small))) {
                self.empty_blocks = before;
            }
        }
    }

    /// Replaces the value with index `n`. Returns true if a run reaches the same error. Otherwise restores the old
    /// value and returns false.
    fn holds_with(&mut self, best: &mut Inputs, n: usize, value: Bv) -> bool {
        let old = std::mem::replace(&mut best.values[n], value);
        let holds = self.holds(best);
        if !holds {
            best.values[n] = old;
        }
        holds
    }

    /// Reduces the value with index `n`. If the value is negative as a signed number, the search first tries a large
    /// positive number, and otherwise reduces the absolute value.
    fn value(&mut self, best: &mut Inputs, n: usize) {
        let value = best.values[n].clone();
        let width = value.width();
        if value.is_zero() || self.holds_with(best, n, Bv::zero(width)) {
            return;
        }
        let (Some(bits), 2..=64) = (value.to_u64(), width) else { return };
        let mask = u64::MAX >> (64 - width);
        let is_negative = bits >> (width - 1) == 1;
        let of =
            |amount: u64, negative: bool| Bv::new(width, if negative { amount.wrapping_neg() & mask } else { amount });
        let (negative, most) = match is_negative {
            false => (false, bits),
            // The program may interpret the value as a large unsigned number.
            true if self.holds_with(best, n, of(mask >> 1, false)) => (false, mask >> 1),
            true => (true, bits.wrapping_neg() & mask),
        };
        // A run with the absolute value `low` misses the error. A run with `high` reaches it.
        let (mut low, mut high) = (0, most);
        while high - low > 1 && !self.is_over() {
            // Most programs need small numbers, so the first candidates are far below the middle.
            let middle = if low == 0 { (high >> (high.ilog2() / 2 + 1)).max(1) } else { low + (high - low) / 2 };
            match self.holds_with(best, n, of(middle, negative)) {
                true => high = middle,
                false => low = middle,
            }
        }
    }

    /// Reduces a number in memory. If the lowest byte of the aligned word that contains the byte is enough to reach the
    /// error, the other bytes are set to 0 and the lowest byte is reduced.
    fn number(&mut self, best: &mut Inputs, (object, at): (ObjectSeq, u64)) {
        let low = at - at % WORD;
        if at == low || !best.bytes.contains_key(&(object, at)) {
            return;
        }
        let mut fewer = best.clone();
        for offset in low..low + WORD {
            fewer.bytes.remove(&(object, offset));
        }
        fewer.bytes.insert((object, low), i8::MAX as u8);
        if !self.holds(&fewer) {
            return;
        }
        *best = fewer;
        let (mut fails, mut holds) = (0, i8::MAX as u8);
        while holds - fails > 1 && !self.is_over() {
            let middle = fails + (holds - fails) / 2;
            let old = best.bytes.insert((object, low), middle);
            match self.holds(best) {
                true => holds = middle,
                false => {
                    fails = middle;
                    best.bytes.insert((object, low), old.unwrap_or(holds));
                }
            }
        }
    }

    /// Removes bytes that the error does not depend on. The search tries to remove all bytes, then halves of them, and
    /// so on.
    fn bytes(&mut self, best: &mut Inputs) {
        let keys: Vec<_> = best.bytes.keys().copied().collect();
        let mut parts = vec![keys];
        while let Some(part) = parts.pop() {
            let mut fewer = best.clone();
            for key in &part {
                fewer.bytes.remove(key);
            }
            if part.is_empty() || self.is_over() {
                continue;
            }
            if self.holds(&fewer) {
                *best = fewer;
            } else if part.len() > 1 {
                let (first, second) = part.split_at(part.len() / 2);
                parts.extend([first.to_vec(), second.to_vec()]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_arguments_move_to_the_place_of_one() {
        let [a, b, c] = [2, 3, 4].map(ObjectSeq::Alloc);
        let texts = [(1, a), (2, b), (3, c)];
        let values = [3, 1, 5, 7].map(|value| Bv::new(64, value)).to_vec();
        let bytes = [((b, 0), b'x'), ((b, 1), b'y'), ((c, 0), b'z')].into();
        let inputs = Inputs { values, bytes, ..Inputs::default() };
        let fewer = without_argument(&inputs, &texts, 0, 1).unwrap();
        assert_eq!(fewer.values[..3], [2, 1, 7].map(|value| Bv::new(64, value)));
        let second: Vec<_> = fewer.bytes.range((b, 0)..(c, 0)).map(|(key, &byte)| (key.1, byte)).collect();
        assert_eq!(second, [(0, b'z')]);
        assert_eq!(without_argument(&inputs, &texts, 0, 3), None);
    }
}
