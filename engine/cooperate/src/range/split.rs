//! Splitters: strategies that find paths at which the paths of a program are divided into ranges (Haltermann et al.,
//! FASE 2023, section 4; see [`range`](super)). The left side of a branch is the true side.

use super::test_case::{TestCase, is_assumed_away};
use super::{Bound, Range};
use cfa::graph::CfaGraphs;
use cfa::interp::{InputSource, Inputs, Interpreter, Limits, ObjectSeq, Unknown};
use cfa::loops::LoopForest;
use cfa::{Bv, CallGraph, Callee, EdgeId, FuncId, HaltKind, Id, InputId, InputKind, LocId, Op, Program};
use engine::Reason;
use engine::algorithm::follow::{Guide, Most, follow};
use engine::budget::Budget;
use engine::smt::Choice;
use fixedbitset::FixedBitSet;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// A strategy for finding a path at which to divide.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Splitter {
    /// The left-most path with this number of iterations of each loop (Lb). It takes no branch that bypasses a loop.
    LoopBound(u32),
    /// A path that takes the true side of each branch with this probability (Rdm: 50, Rdm9: 90).
    Random {
        /// The probability of the true side, in percent.
        percent: u32,
        /// The seed of the random choices.
        seed: u64,
    },
}

/// The maximal numbers of decisions and edges of a splitter's path.
const MOST: Most = Most { decisions: 2_000, edges: 200_000 };

impl Splitter {
    /// The names of the splitters that the paper evaluates.
    pub const NAMES: [&'static str; 4] = ["lb3", "lb10", "rdm", "rdm9"];

    /// Parses a name of the paper, or `lb` with another number. `seed` applies to random paths.
    pub fn parse(name: &str, seed: u64) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        Some(match name.as_str() {
            "rdm" => Self::Random { percent: 50, seed },
            "rdm9" => Self::Random { percent: 90, seed },
            _ => Self::LoopBound(name.strip_prefix("lb")?.parse().ok().filter(|i| *i > 0)?),
        })
    }

    /// The splitters for this number of bounds: growing loop bounds (3, 10, 33, …), or random paths with different
    /// seeds.
    pub fn chain(self, bounds: usize) -> Vec<Self> {
        (0..bounds as u64)
            .map(|i| match self {
                Self::LoopBound(n) => {
                    Self::LoopBound(n.saturating_mul(10u32.saturating_pow(i as u32)) / 3u32.pow(i as u32))
                }
                Self::Random { percent, seed } => Self::Random { percent, seed: seed.wrapping_add(i) },
            })
            .collect()
    }

    /// A test case at which to divide the paths. `None` if there is none; a loop bound needs a loop. Fails if the path
    /// cannot be followed.
    pub fn split(self, program: &Program, solvers: &Choice, budget: &Budget) -> Result<Option<Split>, Reason> {
        let shape = ControlFlow::new(program);
        let path = match self {
            Self::LoopBound(_) if !shape.has_loops => return Ok(None),
            Self::LoopBound(bound) => {
                let mut guide =
                    Unrolled { shape: &shape, program, bound, iterations: FxHashMap::default(), calls: Vec::new() };
                follow(program, solvers, budget, MOST, &mut guide)?
            }
            Self::Random { percent, seed } => {
                let mut guide = Coin { program, percent, rng: SmallRng::seed_from_u64(seed) };
                follow(program, solvers, budget, MOST, &mut guide)?
            }
        };
        let inputs = path.havocs.iter().filter(|i| matches!(program.inputs[**i].kind, InputKind::Nondet(_))).count();
        let values = values(program, &path.inputs, inputs);
        Ok(Some(Split { values }))
    }
}

/// The input values of a test case, from a model of its path, up to the last value that the path depends on. Section
/// 3.3 defines the meaning of test cases with fewer values. Earlier values that the path does not depend on are 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Split {
    /// The inputs in the order of the path, with their values.
    pub values: Vec<(InputId, Bv)>,
}

impl Split {
    /// The test case of these values.
    pub fn test_case(&self, program: &Program) -> TestCase {
        TestCase { values: self.values.iter().map(|(input, value)| literal(program, *input, value).1).collect() }
    }
}

/// The C type of an input and one of its values as text, as in test cases. Integers are decimal. Floating-point values
/// are written so that they are parsed back exactly.
pub fn literal(program: &Program, input: InputId, value: &Bv) -> (String, String) {
    let ty = program.inputs[input].ty;
    let text = match program.plain_type(ty) {
        cfa::CType::Int { signed: true, .. } | cfa::CType::Enum { signed: true, .. } => value.to_bigint().to_string(),
        cfa::CType::Float { .. } => program.show_value(ty, value),
        _ => value.to_biguint().to_string(),
    };
    (program.type_name(ty), text)
}

/// The ranges between bounds, one more than there are distinct bounds. Sorts the bounds.
pub fn ranges(program: &Program, mut bounds: Vec<Bound>) -> Vec<Range> {
    bounds.sort_by(|a, b| a.compare(b, program));
    bounds.dedup_by(|a, b| a.compare(b, program) == Ordering::Equal);
    let lower = std::iter::once(None).chain(bounds.iter().cloned().map(Some));
    let upper = bounds.iter().cloned().map(Some).chain([None]);
    lower.zip(upper).map(|(lower, upper)| Range { lower, upper }).collect()
}

/// The first `count` values that `__VERIFIER_nondet_*` functions return in a run.
fn values(program: &Program, inputs: &Inputs, count: usize) -> Vec<(InputId, Bv)> {
    let mut recorder = Recorder { program, source: inputs.source(), values: Vec::new() };
    let limits = Limits { steps: 4 * MOST.edges as u64, ..Limits::default() };
    Interpreter::new(program).run(&mut recorder, limits, &mut ());
    recorder.values.truncate(count);
    recorder.values
}

/// An input source that records the values.
struct Recorder<'a, S> {
    program: &'a Program,
    source: S,
    values: Vec<(InputId, Bv)>,
}

impl<S: InputSource> InputSource for Recorder<'_, S> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        let value = self.source.unknown(what, width);
        if let Unknown::Havoc(input) = what
            && matches!(self.program.inputs[input].kind, InputKind::Nondet(_))
        {
            self.values.push((input, value.resize(width)));
        }
        value
    }
    fn bytes(&mut self, object: ObjectSeq, offset: u64, bytes: &mut [u8]) {
        self.source.bytes(object, offset, bytes);
    }
    fn base(&mut self, object: ObjectSeq, size: u64, align: u32) -> Option<u64> {
        self.source.base(object, size, align)
    }
}

/// Control-flow information for splitters.
struct ControlFlow {
    graphs: CfaGraphs,
    forests: Vec<LoopForest>,
    has_loops: bool,
    /// By location, true if the end of its function is reachable from there, other than by an abort.
    alive: Vec<bool>,
    /// By location, the heads of loops that can be entered from there before the function ends, without starting
    /// another iteration of an enclosing loop. Includes loops of called functions.
    ahead: Vec<FixedBitSet>,
}

impl ControlFlow {
    fn new(program: &Program) -> Self {
        let graphs = CfaGraphs::new(program);
        let forests: Vec<LoopForest> = graphs.funcs.values().map(|g| LoopForest::new(&g.graph, 0)).collect();
        let calls = CallGraph::new(program);
        let has_loops = program.funcs.ids().any(|f| calls.is_reachable(f) && !forests[f.index()].loops().is_empty());
        let ahead = ahead(program, &calls, &graphs, &forests);
        Self { graphs, forests, has_loops, alive: alive(program), ahead }
    }

    /// Returns true if the loops that can be entered from `one` are a proper subset of those from `other`.
    fn misses_loops(&self, one: LocId, other: LocId) -> bool {
        let (one, other) = (&self.ahead[one.index()], &self.ahead[other.index()]);
        one.is_subset(other) && one != other
    }

    /// The numbers of the loops around a location, innermost first.
    fn loops(&self, program: &Program, loc: LocId) -> Vec<u32> {
        let func = program.locs[loc].func;
        let forest = &self.forests[func.index()];
        let innermost = self.graphs.node(loc).and_then(|n| forest.innermost(n));
        std::iter::successors(innermost, |&l| forest.get(l).parent).collect()
    }

    /// The number of the loop whose head is the location.
    fn loop_with_head(&self, program: &Program, loc: LocId) -> Option<u32> {
        let node = self.graphs.node(loc)?;
        let forest = &self.forests[program.locs[loc].func.index()];
        forest.innermost(node).filter(|&l| forest.get(l).head == node)
    }
}

/// By location: true if a return, or an `exit` in the entry function, is reachable from there. Paths end at calls of
/// functions that never return.
fn alive(program: &Program) -> Vec<bool> {
    let mut returns = vec![false; program.funcs.len()];
    let mut alive = vec![false; program.locs.len()];
    loop {
        let mut predecessors: Vec<Vec<LocId>> = vec![Vec::new(); program.locs.len()];
        let mut work = Vec::new();
        for (id, edge) in program.edges.iter() {
            match &edge.op {
                Op::Return { .. } => work.push(edge.source),
                Op::Halt(HaltKind::Exit(_)) if program.func_of(id) == program.entry => work.push(edge.source),
                Op::Halt(_) | Op::Error(_) => {}
                Op::Call { callee: Callee::Direct(f), .. } if !returns[f.index()] => {}
                _ => predecessors[edge.target.index()].push(edge.source),
            }
        }
        while let Some(loc) = work.pop() {
            if !std::mem::replace(&mut alive[loc.index()], true) {
                work.append(&mut predecessors[loc.index()]);
            }
        }
        let mut changed = false;
        for (f, func) in program.funcs.iter() {
            changed |= alive[func.entry.index()] && !std::mem::replace(&mut returns[f.index()], true);
        }
        if !changed {
            return alive;
        }
        alive.fill(false);
    }
}

/// Computes [`ControlFlow::ahead`].
fn ahead(program: &Program, calls: &CallGraph, graphs: &CfaGraphs, forests: &[LoopForest]) -> Vec<FixedBitSet> {
    let head_of = |loc: LocId| {
        let (node, forest) = (graphs.node(loc)?, &forests[program.locs[loc].func.index()]);
        forest.innermost(node).filter(|&l| forest.get(l).head == node)
    };
    let heads: Vec<LocId> = program.locs.ids().filter(|&loc| head_of(loc).is_some()).collect();
    let is_back = |edge: EdgeId| {
        let (source, target) = (program.edges[edge].source, program.edges[edge].target);
        let Some(l) = head_of(target) else { return false };
        let forest = &forests[program.locs[source].func.index()];
        let innermost = graphs.node(source).and_then(|n| forest.innermost(n));
        std::iter::successors(innermost, |&l| forest.get(l).parent).any(|around| around == l)
    };
    let mut into: Vec<Vec<EdgeId>> = vec![Vec::new(); program.locs.len()];
    for (id, edge) in program.edges.iter().filter(|(id, _)| !is_back(*id)) {
        into[edge.target.index()].push(id);
    }
    let mut ahead = vec![FixedBitSet::with_capacity(heads.len()); program.locs.len()];
    heads.iter().enumerate().for_each(|(n, loc)| ahead[loc.index()].insert(n));
    let mut todo: Vec<LocId> = program.locs.ids().collect();
    while let Some(loc) = todo.pop() {
        let here = ahead[loc.index()].clone();
        let func = program.locs[loc].func;
        let callers = calls.callers(func).filter(|_| program.funcs[func].entry == loc);
        for edge in into[loc.index()].iter().copied().chain(callers) {
            let source = program.edges[edge].source;
            if !here.is_subset(&ahead[source.index()]) {
                ahead[source.index()].union_with(&here);
                todo.push(source);
            }
        }
    }
    ahead
}

/// Lb: guides to the left-most path with `bound` iterations of each loop. An inner loop has `bound` iterations in each
/// iteration of the outer loop.
struct Unrolled<'a> {
    shape: &'a ControlFlow,
    program: &'a Program,
    bound: u32,
    /// The number of started iterations, by call depth, function, and number of the loop.
    iterations: FxHashMap<(usize, FuncId, u32), u32>,
    calls: Vec<EdgeId>,
}

impl Unrolled<'_> {
    fn key(&self, loc: LocId, number: u32) -> (usize, FuncId, u32) {
        (self.calls.len(), self.program.locs[loc].func, number)
    }
}

impl Guide for Unrolled<'_> {
    fn branch(&mut self, then_edge: EdgeId, else_edge: EdgeId, _: (bool, bool)) -> Option<bool> {
        let program = self.program;
        let here = program.edges[then_edge].source;
        let loops = self.shape.loops(program, here);
        // The number of loops that an edge leaves.
        let leaves = |edge: EdgeId| {
            let after = self.shape.loops(program, program.edges[edge].target);
            loops.iter().filter(|l| !after.contains(l)).count()
        };
        let (then_leaves, else_leaves) = (leaves(then_edge), leaves(else_edge));
        let is_alive = |edge: EdgeId| {
            let target = program.edges[edge].target;
            self.shape.alive[target.index()] && !is_assumed_away(program, target)
        };
        match (is_alive(then_edge), is_alive(else_edge)) {
            (true, false) => return Some(true),
            (false, true) => return Some(false),
            _ => {}
        }
        if then_leaves == else_leaves {
            // Take the left side, unless it misses loops that the right side can still enter.
            let [then_target, else_target] = [then_edge, else_edge].map(|edge| program.edges[edge].target);
            return Some(!self.shape.misses_loops(then_target, else_target));
        }
        let iterations = self.iterations.get(&self.key(here, loops[0])).copied().unwrap_or(0);
        let wants_out = iterations >= self.bound;
        Some((then_leaves > else_leaves) == wants_out)
    }

    fn took(&mut self, edge: EdgeId) {
        let program = self.program;
        let (mut from, mut to) = (program.edges[edge].source, program.edges[edge].target);
        match program.edges[edge].op {
            Op::Call { .. } => {
                self.calls.push(edge);
                // Earlier calls at this depth may have counted iterations of the same function.
                let depth = self.calls.len();
                self.iterations.retain(|(other, ..), _| *other < depth);
                return;
            }
            Op::Return { .. } => {
                let Some(call) = self.calls.pop() else { return };
                (from, to) = (program.edges[call].source, program.edges[call].target);
            }
            _ => {}
        }
        let Some(number) = self.shape.loop_with_head(program, to) else { return };
        let key = self.key(to, number);
        if self.shape.loops(program, from).contains(&number) {
            *self.iterations.entry(key).or_insert(0) += 1;
        } else {
            self.iterations.insert(key, 0);
        }
    }
}

/// Rdm: random decisions.
struct Coin<'a> {
    program: &'a Program,
    percent: u32,
    rng: SmallRng,
}

impl Guide for Coin<'_> {
    fn branch(&mut self, then_edge: EdgeId, else_edge: EdgeId, _: (bool, bool)) -> Option<bool> {
        let side = self.rng.random_range(0..100) < self.percent;
        let is_assumed_away_after = |edge: EdgeId| is_assumed_away(self.program, self.program.edges[edge].target);
        Some(match (is_assumed_away_after(then_edge), is_assumed_away_after(else_edge)) {
            (true, false) => false,
            (false, true) => true,
            _ => side,
        })
    }
}
