//! The whole way from a program to its slice.

use crate::alive::Alive;
use crate::build::{Built, build};
use crate::call_graph::CallGraph;
use crate::flow::may_stop;
use crate::mark::Marks;
use crate::modref::{CellNumbers, ExprVars, ModRef};
use crate::pointer::{self, PointsTo};
use crate::regions::Regions;
use crate::sdg::{Parts, Sdg};
use cfa::{EdgeId, Id, Op, Program, Table};
use std::fmt;
use std::time::{Duration, Instant};

#[derive(Clone, Debug)]
pub struct Options {
    pub points_to: pointer::Options,
    /// Edges after which the program represented lacks behaviours of the program given are criteria as well, so
    /// that a proof of the slice is a proof of the program.
    pub keep_under_approximations: bool,
    /// Drop what no path to a criterion goes through.
    pub cut_off: bool,
    /// How many pairs of a call and a cell of memory the dependence graph may have before the most expensive
    /// cells are no longer followed through calls.
    pub budget: usize,
    /// Give up then.
    pub deadline: Option<Instant>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            points_to: pointer::Options::default(),
            keep_under_approximations: true,
            cut_off: true,
            budget: 4_000_000,
            deadline: None,
        }
    }
}

/// Why there is no slice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// There is no criterion: a slice would be empty and anything would hold of it.
    NoCriterion,
    /// The deadline passed.
    OutOfTime,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::NoCriterion => write!(f, "the slicing criterion matches nothing"),
            Self::OutOfTime => write!(f, "slicing took too long"),
        }
    }
}

impl std::error::Error for Error {}

/// A phase of slicing and the time it took.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Phase {
    pub name: &'static str,
    pub time: Duration,
}

/// Sizes are of what can be executed: (of the program, of the slice).
#[derive(Clone, Default, Debug)]
pub struct Stats {
    pub edges: (usize, usize),
    pub functions: (usize, usize),
    /// LLVM instructions that the edges stand for.
    pub instructions: (usize, usize),
    pub points_to: pointer::Stats,
    pub regions: usize,
    pub unordered: usize,
    pub nodes: usize,
    pub dependences: usize,
    pub phases: Vec<Phase>,
}

pub struct Slice {
    pub program: Program,
    /// For each edge of the slice the edge of the original program it is; `None` for the ends that were put in
    /// where nothing that matters follows.
    pub original: Table<EdgeId, Option<EdgeId>>,
    /// For each edge of the original program whether it is in the slice.
    pub kept: Vec<bool>,
    pub stats: Stats,
}

/// The dependences of a program, to take slices from.
pub struct Analysis<'p> {
    program: &'p Program,
    sdg: Sdg,
    calls: CallGraph,
    stats: Stats,
    clock: Clock,
}

struct Clock {
    last: Instant,
    phases: Vec<Phase>,
}

impl Clock {
    fn new() -> Self {
        Self { last: Instant::now(), phases: Vec::new() }
    }
    fn lap(&mut self, name: &'static str) {
        let now = Instant::now();
        self.phases.push(Phase { name, time: now - self.last });
        self.last = now;
    }
}

impl<'p> Analysis<'p> {
    /// The dependences of what can be executed on the way to one of the criteria, the only edges that
    /// [`slice`](Self::slice) may then be asked about, or of everything if there are none.
    pub fn new(program: &'p Program, criteria: Option<&[EdgeId]>, options: &Options) -> Result<Self, Error> {
        let mut clock = Clock::new();
        let in_time = || match options.deadline {
            Some(deadline) if Instant::now() > deadline => Err(Error::OutOfTime),
            _ => Ok(()),
        };
        let with_deadline = pointer::Options { deadline: options.deadline, ..options.points_to.clone() };
        let mut points_to = PointsTo::compute(program, &with_deadline).ok_or(Error::OutOfTime)?;
        clock.lap("points-to");
        let alive = Alive::compute(program, &points_to, criteria);
        let calls = CallGraph::new(program, &points_to, alive.edges(program));
        clock.lap("reachability");
        let regions = Regions::compute(program, &mut points_to, &calls, alive.edges(program));
        clock.lap("memory regions");
        in_time()?;
        let cells = CellNumbers { regions: regions.count, vars: program.vars.len() as u32 };
        let mut vars = ExprVars::new(program);
        let modref =
            ModRef::compute(program, &regions, &calls, cells, &mut vars, alive.edges(program), &[], options.budget);
        clock.lap("mod-ref");
        in_time()?;
        let may_stop = may_stop(program, &alive, &calls);
        let parts = Parts {
            program,
            alive: &alive,
            regions: &regions,
            calls: &calls,
            modref: &modref,
            may_stop: &may_stop,
            cells,
        };
        let sdg = parts.build(&mut vars);
        clock.lap("dependence graph");
        in_time()?;
        let stats = Stats {
            points_to: points_to.stats,
            regions: regions.count as usize,
            unordered: modref.unordered.len(),
            nodes: sdg.kinds.len(),
            dependences: sdg.deps.edge_count(),
            ..Stats::default()
        };
        Ok(Self { program, sdg, calls, stats, clock })
    }

    /// The backward slice.
    pub fn slice(&mut self, criteria: &[EdgeId]) -> Slice {
        self.clock.last = Instant::now();
        let nodes: Vec<u32> = criteria.iter().filter_map(|&c| self.sdg.op(c)).collect();
        let marks = Marks::backward(self.program, &self.sdg, &self.calls, &nodes);
        self.clock.lap("backward walk");
        let Built { program, original, kept_functions } = build(self.program, &self.sdg, &marks);
        self.clock.lap("building the slice");
        let mut kept = vec![false; self.program.edges.len()];
        original.values().flatten().for_each(|e| kept[e.index()] = true);
        let mut stats = self.stats.clone();
        stats.edges = (size(self.program), size(&program));
        stats.functions = (
            self.program.funcs.values().filter(|f| !program_sink(self.program, f.entry)).count(),
            kept_functions.iter().filter(|k| **k).count(),
        );
        stats.instructions = (instructions(self.program, |_| true), instructions(self.program, |e| kept[e.index()]));
        stats.phases.clone_from(&self.clock.phases);
        Slice { program, original, kept, stats }
    }
}

fn program_sink(program: &Program, loc: cfa::LocId) -> bool {
    program.locs[loc].out == cfa::Out::Sink
}

fn size(program: &Program) -> usize {
    program.edges.values().filter(|e| e.op != Op::Skip).count()
}

fn instructions(program: &Program, keep: impl Fn(EdgeId) -> bool) -> usize {
    let mut all: Vec<u32> =
        program.edges.iter().filter(|(id, _)| keep(*id)).flat_map(|(_, e)| e.origin.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all.len()
}

/// The backward slice of a program from the given edges.
pub fn slice(program: &Program, criteria: &[EdgeId], options: &Options) -> Result<Slice, Error> {
    if criteria.is_empty() {
        return Err(Error::NoCriterion);
    }
    let mut all = criteria.to_vec();
    if options.keep_under_approximations {
        all.extend(program.edges.iter().filter_map(|(id, e)| match e.op {
            Op::Approx { taint } if program.taints[taint].under => Some(id),
            _ => None,
        }));
    }
    all.sort_unstable();
    all.dedup();
    let mut analysis = Analysis::new(program, options.cut_off.then_some(&all[..]), options)?;
    Ok(analysis.slice(&all))
}
