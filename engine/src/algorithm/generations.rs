//! Generational search for violations (Godefroid, Levin, Molnar: Automated whitebox fuzz testing, NDSS 2008).
//!
//! A run is followed symbolically. Its *children* are inputs with which the program leaves the path of the run at one
//! branch. Children that execute an edge more often than all runs before are followed first. The search finds
//! violations behind long chains of comparisons of inputs, such as options and numbers in arguments.

use crate::runs::concolic::{Attempts, Concolic, InputNames, Numbering};
use crate::runs::random::Random;
use cfa::interp::{InputSource, Inputs, Interpreter, Limits, ObjectSeq, Observer, State, Unknown};
use cfa::{Bv, EdgeId, ErrorId, Id, InputId, InputKind, Op, Program};
use rustc_hash::FxHashMap;
use smt::Choice;
use smt::budget::Budget;
use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

/// The limit on the edges of a run.
const STEPS: u64 = 10_000;
/// The number of paths that are followed at most. The limit bounds the time that other analyses lose.
const MOST_FOLLOWED: u32 = 20_000;
/// The number of children that leave their paths over an edge that some run took, with the same calls and in the same
/// iteration. Several are needed: a violation may depend on the rest of the input.
const MOST_CHILDREN: u8 = 8;
/// The number of inputs that wait at most. The limit protects memory.
const MOST_WAITING: usize = 10_000;
/// The processor time for the children of one path.
const TIME_PER_PATH: Duration = Duration::from_secs(1);
/// Executions of an edge count up to this number. More of them are nothing new.
const MOST_COUNTED: u8 = 40;
/// The first objects of a run, and the first bytes of each, whose unwritten bytes are inputs.
const OBJECTS: u64 = 64;
const BYTES: u64 = 48;
/// The first values of the lengths that are chosen before `main`, those of program arguments, with the zero at the end.
const LENGTH: u64 = BYTES + 1;
/// The unwritten bytes at the start of objects in the inputs that are no children. With long numbers, one query finds
/// any number. Long words overrun buffers.
const TEXTS: [&[u8]; 2] = [b"-2147483648", &[b'a'; BYTES as usize]];
const NO_TEXTS: [&[u8]; 2] = [b"", b""];
/// The bits of an `int`.
const INT: u32 = 32;
/// The number of inputs that are no children.
const STARTS: u64 = 40;

/// A symbol of a path.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Name {
    /// The value with this index in [`Inputs::values`].
    Value(usize),
    /// An unwritten byte.
    Byte(ObjectSeq, u64),
}

/// Names the inputs of a run. `last` is the index of the value that its source has returned last.
struct Naming<'a> {
    names: &'a mut Numbering<Name>,
    last: &'a Cell<usize>,
}

impl InputNames for Naming<'_> {
    fn value(&mut self) -> Option<u32> {
        Some(self.names.number(Name::Value(self.last.get())))
    }
    fn bytes(&mut self, object: ObjectSeq) -> Vec<u32> {
        match object {
            ObjectSeq::Alloc(number) if number < OBJECTS => {
                (0..BYTES).map(|at| self.names.number(Name::Byte(object, at))).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Provides the inputs of a parent, and further values after these. Records all of them.
struct Source<'a> {
    parent: &'a Inputs,
    further: Random<'a>,
    /// By input: true if it is a length that is chosen before `main`.
    is_length: &'a [bool],
    /// The number of program arguments, and its value.
    argc: (Option<InputId>, u64),
    /// The texts at the start of objects with even and with odd numbers, for inputs that are no children.
    texts: [&'static [u8]; 2],
    recorded: Inputs,
    last: &'a Cell<usize>,
}

impl InputSource for Source<'_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        let number = self.recorded.values.len();
        let value = match what {
            Unknown::Global(var) => {
                let value = self.parent.globals.get(&var).map_or_else(|| Bv::zero(width), |value| value.resize(width));
                self.recorded.globals.insert(var, value.clone());
                return value;
            }
            _ if number < self.parent.values.len() => self.parent.values[number].resize(width),
            Unknown::Havoc(input) if self.is_length[input.index()] => Bv::new(width, LENGTH),
            Unknown::Havoc(input) if Some(input) == self.argc.0 => Bv::new(width, self.argc.1),
            _ => self.further.unknown(what, width).resize(width),
        };
        self.last.set(number);
        self.recorded.values.push(value.clone());
        value
    }

    fn bytes(&mut self, object: ObjectSeq, offset: u64, bytes: &mut [u8]) {
        let end = offset.saturating_add(bytes.len() as u64);
        let text = match object {
            ObjectSeq::Alloc(number) if number < OBJECTS => self.texts[(number % 2) as usize],
            _ => b"",
        };
        for (at, &byte) in (0..).zip(text).filter(|(at, _)| (offset..end).contains(at)) {
            bytes[(at - offset) as usize] = byte;
        }
        for (&(_, at), &byte) in self.parent.bytes.range((object, offset)..(object, end)) {
            bytes[(at - offset) as usize] = byte;
        }
        for (at, &byte) in (offset..).zip(bytes.iter()).filter(|(_, byte)| **byte != 0) {
            self.recorded.bytes.insert((object, at), byte);
        }
    }
}

/// Counts the executions of each edge in a run.
struct Counts(FxHashMap<EdgeId, u8>);

impl Observer for Counts {
    fn executed(&mut self, edge: EdgeId, _: &State) {
        let count = self.0.entry(edge).or_insert(0);
        *count = count.saturating_add(1).min(MOST_COUNTED);
    }
}

/// A violation that a run has reached.
pub(super) struct Found {
    pub error: ErrorId,
    pub edge: EdgeId,
    pub inputs: Inputs,
}

/// The state of a search.
pub(super) struct GenerationalSearch<'p> {
    program: &'p Program,
    solvers: &'p Choice,
    constants: Vec<u64>,
    seed: u64,
    is_length: Vec<bool>,
    argc: Option<InputId>,
    /// Created with the first path that is followed.
    concolic: Option<Concolic<'p>>,
    names: Numbering<Name>,
    attempts: Attempts,
    /// By edge, the largest number of its executions in a run.
    most: Vec<u8>,
    /// Inputs whose paths were not followed, by the number of their edges with a new largest number of executions.
    waiting: BTreeMap<usize, VecDeque<Inputs>>,
    count: usize,
    starts: u64,
    followed: u32,
    /// The number of edges that runs have executed.
    pub edges: u64,
}

impl<'p> GenerationalSearch<'p> {
    pub fn new(program: &'p Program, solvers: &'p Choice, constants: Vec<u64>, seed: u64) -> Self {
        let mut is_length = vec![false; program.inputs.len()];
        let mut argc = None;
        for (_, edge) in program.edges.iter().filter(|(id, _)| program.func_of(*id) == program.entry) {
            if let Op::Havoc { var, input } = edge.op
                && matches!(program.inputs[input].kind, InputKind::Environment(_))
            {
                match program.vars[var].width == program.layout.pointer_width {
                    true => is_length[input.index()] = true,
                    false if program.vars[var].width == INT => argc = Some(input),
                    false => {}
                }
            }
        }
        Self {
            program,
            solvers,
            constants,
            seed,
            is_length,
            argc,
            concolic: None,
            names: Numbering::default(),
            attempts: Attempts::new(MOST_CHILDREN),
            most: vec![0; program.edges.len()],
            waiting: BTreeMap::new(),
            count: 0,
            starts: 0,
            followed: 0,
            edges: 0,
        }
    }

    /// Returns true if the program has arguments, which are strings of any length.
    pub fn has_arguments(&self) -> bool {
        self.argc.is_some() && self.is_length.contains(&true)
    }

    /// Returns true if the search has ended.
    pub fn is_over(&self) -> bool {
        self.followed >= MOST_FOLLOWED || self.starts >= STARTS && self.count == 0 || self.program.starts_threads()
    }

    /// Continues until a run violates the property without an approximation before, the budget is spent, or the search
    /// has ended.
    pub fn run(&mut self, budget: &Budget) -> Option<Found> {
        while !self.is_over() && budget.spent().is_none() {
            // Inputs that are no children come between the others, so that no family of inputs starves the rest.
            if self.count == 0 || self.starts < STARTS && self.followed >= 1 << self.starts.min(31) {
                let texts = [1, 0].map(|bit| TEXTS[(self.starts >> bit) as usize % TEXTS.len()]);
                self.starts += 1;
                if let Some(found) = self.try_inputs(&Inputs::default(), texts, budget) {
                    return Some(found);
                }
                continue;
            }
            let mut best = self.waiting.last_entry().expect("inputs wait");
            let inputs = best.get_mut().pop_front().expect("no list is empty");
            if best.get().is_empty() {
                best.remove();
            }
            self.count -= 1;
            self.followed += 1;
            for child in self.children(&inputs, budget) {
                if let Some(found) = self.try_inputs(&child, NO_TEXTS, budget) {
                    return Some(found);
                }
            }
        }
        None
    }

    fn limits(budget: &Budget) -> Limits {
        let deadline = budget.remaining().map(|time| Instant::now() + time);
        Limits { steps: STEPS, memory: 1 << 26, call_depth: 10_000, deadline, ..Limits::default() }
    }

    /// Returns inputs with which the program leaves the path of a run.
    fn children(&mut self, inputs: &Inputs, budget: &Budget) -> Vec<Inputs> {
        let (program, solvers) = (self.program, self.solvers);
        let concolic = self.concolic.get_or_insert_with(|| Concolic::new(program, solvers));
        let last = Cell::new(0);
        let mut source = Source {
            parent: inputs,
            further: Random::new(self.seed, 0, &self.constants),
            is_length: &self.is_length,
            argc: (self.argc, 2 + self.starts % 3),
            texts: NO_TEXTS,
            recorded: Inputs::default(),
            last: &last,
        };
        let mut recorder = concolic.follow(Naming { names: &mut self.names, last: &last });
        let run = Interpreter::new(program).run(&mut source, Self::limits(budget), &mut recorder);
        self.edges += run.steps;
        let path = recorder.path();
        let names = &self.names;
        let most = &self.most;
        let wants = self.attempts.of_path(program, |edge| most[edge.index()] > 0);
        let mut children = Vec::new();
        concolic.children(&path, &budget.exerting(TIME_PER_PATH), wants, |changed| {
            let mut child = inputs.clone();
            for (name, value) in changed {
                match *names.symbol(name) {
                    Name::Value(index) if index < child.values.len() => child.values[index] = value,
                    Name::Value(_) => {}
                    Name::Byte(object, at) => {
                        child.bytes.insert((object, at), value.to_u64().unwrap_or(0) as u8);
                    }
                }
            }
            children.push(child);
        });
        children
    }

    /// Runs the program on inputs. They wait unless the run reaches a violation.
    fn try_inputs(&mut self, parent: &Inputs, texts: [&'static [u8]; 2], budget: &Budget) -> Option<Found> {
        let last = Cell::new(0);
        let mut source = Source {
            parent,
            further: Random::new(self.seed, self.starts, &self.constants),
            is_length: &self.is_length,
            argc: (self.argc, 2 + self.starts % 3),
            texts,
            recorded: Inputs::default(),
            last: &last,
        };
        let mut counts = Counts(FxHashMap::default());
        let run = Interpreter::new(self.program).run(&mut source, Self::limits(budget), &mut counts);
        let inputs = source.recorded;
        self.edges += run.steps;
        if let Some((error, edge)) = run.outcome.error(self.program)
            && run.taints.iter().all(|&t| !self.program.taints[t].over)
        {
            return Some(Found { error, edge, inputs });
        }
        let mut is_new = 0;
        for (edge, count) in counts.0 {
            let most = &mut self.most[edge.index()];
            is_new += usize::from(count > *most);
            *most = count.max(*most);
        }
        if self.count < MOST_WAITING {
            self.waiting.entry(is_new).or_default().push_back(inputs);
            self.count += 1;
        }
        None
    }
}
