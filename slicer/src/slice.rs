//! The phases from a program to its slice.

use crate::alive::Alive;
use crate::build::{Built, build};
use crate::call_graph::CallGraph;
use crate::control::Control;
use crate::criterion::{Criterion, Datum, Value, What};
use crate::flow::Stops;
use crate::mark::{Marks, Whole};
use crate::modref::{Cell, CellNumbers, ExprVars, ModRef};
use crate::options::Options;
use crate::pointer::{self, ObjectId, ObjectKind, PointsTo};
use crate::regions::Regions;
use crate::sdg::{Observation, Parts, Sdg};
use cfa::graph::NONE;
use cfa::{AllocKind, EdgeId, Family, FuncId, Id, LocId, Op, Program, Table};
use rustc_hash::FxHashMap;
use std::fmt;
use std::time::{Duration, Instant};

/// The reason why there is no slice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// There is no criterion. The slice would be empty, and every property would hold for it.
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
    /// The name of the phase.
    pub name: &'static str,
    /// The time that it took.
    pub time: Duration,
}

/// Sizes and times of a slice. The first number of a pair is the size of the program, the second that of the slice.
#[derive(Clone, Default, Debug)]
pub struct Stats {
    /// The number of edges with an operation other than `Skip`.
    pub edges: (usize, usize),
    /// The number of functions whose entry has an outgoing edge.
    pub functions: (usize, usize),
    /// The number of LLVM instructions that the edges represent.
    pub instructions: (usize, usize),
    /// Statistics of the points-to analysis.
    pub points_to: pointer::Stats,
    /// The number of memory regions.
    pub regions: usize,
    /// The number of cells that are not followed through calls.
    pub unordered: usize,
    /// The number of nodes in the dependence graph.
    pub nodes: usize,
    /// The number of dependences in the graph.
    pub dependences: usize,
    /// The time of each phase.
    pub phases: Vec<Phase>,
}

/// A backward slice.
pub struct Slice {
    /// The program.
    pub program: Program,
    /// For each edge of the slice, the original edge; `None` for inserted edges that end a path. The slice also
    /// contains the edges of observations, as `Skip` edges if the operation itself is not in the slice, and the ends of
    /// functions and of the program.
    pub original: Table<EdgeId, Option<EdgeId>>,
    /// For each edge of the original program, true if its operation is in the slice.
    pub kept: Vec<bool>,
    /// For each location of the original program, true if execution can reach it and can reach a criterion from it.
    /// Without [`Options::cut_off`], true if execution can reach it. A path that enters another location ends in the
    /// slice.
    pub alive: Vec<bool>,
    /// Sizes and times.
    pub stats: Stats,
}

impl Slice {
    /// True if a heap object of the original program may reuse the address of a freed one that the slice does not free.
    /// Otherwise missing frees in the slice do not change addresses.
    pub fn lacks_frees(&self, original: &Program) -> bool {
        let calls = cfa::CallGraph::new(original);
        let alive = |id: EdgeId| self.alive[original.edges[id].source.index()];
        // The frees, and the calls that lead to them, as far as a criterion may follow.
        let is_free = |op: &Op| matches!(op, Op::Free { family, .. } if *family != Family::Scope);
        let frees = original.edges.iter().filter(|(id, e)| is_free(&e.op) && alive(*id)).map(|(id, _)| id);
        let mut freeing: Vec<EdgeId> = frees.collect();
        let mut leads = vec![false; original.funcs.len()];
        let mut next = 0;
        while let Some(&id) = freeing.get(next) {
            let f = original.func_of(id);
            if !std::mem::replace(&mut leads[f.index()], true) {
                freeing.extend(calls.callers(f).filter(|&call| alive(call)));
            }
            next += 1;
        }
        let missing = freeing.into_iter().filter(|id| !self.kept[id.index()]);
        allocates_after(original, &calls, missing)
    }
}

/// True if a heap object may be allocated after one of the edges, or in the functions that it calls.
fn allocates_after(program: &Program, calls: &cfa::CallGraph, edges: impl Iterator<Item = EdgeId>) -> bool {
    let mut seen = vec![false; program.locs.len()];
    let mut todo: Vec<LocId> = Vec::new();
    let enter = |id: EdgeId, todo: &mut Vec<LocId>| {
        if let Op::Call { .. } = program.edges[id].op {
            todo.extend(calls.callees(program, id).as_slice().iter().map(|&func| program.funcs[func].entry));
        }
        todo.push(program.edges[id].target);
    };
    edges.for_each(|id| enter(id, &mut todo));
    while let Some(loc) = todo.pop() {
        if std::mem::replace(&mut seen[loc.index()], true) {
            continue;
        }
        for id in program.out_edges(loc) {
            let edge = &program.edges[id];
            match edge.op {
                Op::Alloc { kind, .. } if kind != AllocKind::Stack => return true,
                // Continue after all possible calls.
                Op::Return { .. } => {
                    todo.extend(calls.callers(program.func_of(id)).map(|call| program.edges[call].target));
                }
                _ => {}
            }
            enter(id, &mut todo);
        }
    }
    false
}

/// The dependences of a program, from which slices are computed.
pub struct Analysis<'p> {
    pub(crate) program: &'p Program,
    pub(crate) sdg: Sdg,
    pub(crate) calls: CallGraph,
    pub(crate) regions: Regions,
    objects: Table<ObjectId, ObjectKind>,
    /// The nodes of each criterion that was passed to `new`.
    nodes: FxHashMap<Criterion, Vec<u32>>,
    /// The nodes of criteria that belong to every slice.
    always: Vec<u32>,
    pub(crate) whole: Whole,
    cut_off: bool,
    alive: Alive,
    stats: Stats,
    clock: Clock,
}

/// Measures the time of each phase.
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
    /// Computes the dependences of a program.
    ///
    /// With `options.cut_off`, they cover only executions on the way to one of the `criteria`, and no slice contains
    /// anything else. Later calls of [`slice`](Self::slice) may use criteria that are not among `criteria`, unless they
    /// observe values. Fails if the deadline passed.
    pub fn new(program: &'p Program, criteria: &[Criterion], options: &Options) -> Result<Self, Error> {
        let mut clock = Clock::new();
        let in_time = || match options.deadline {
            Some(deadline) if Instant::now() > deadline => Err(Error::OutOfTime),
            _ => Ok(()),
        };
        let with_deadline = pointer::Options { deadline: options.deadline, ..options.points_to.clone() };
        let mut points_to = PointsTo::compute(program, &with_deadline).ok_or(Error::OutOfTime)?;
        clock.lap("points-to");
        let mut always = Vec::new();
        if options.keep_under_approximations {
            always.extend(program.edges.iter().filter_map(|(id, e)| match e.op {
                Op::Approx { taint } if program.taints[taint].under => Some(id),
                _ => None,
            }));
        }
        let places: Vec<EdgeId> = criteria.iter().map(|c| c.edge).chain(always.iter().copied()).collect();
        let omits = options.omit_assumptions && options.control == Control::Standard;
        let alive = Alive::compute(program, &points_to, options.cut_off.then_some(&places[..]), omits);
        let calls = CallGraph::new(program, &points_to, alive.edges(program));
        clock.lap("reachability");
        let regions = Regions::compute(program, &mut points_to, &calls, alive.edges(program));
        clock.lap("memory regions");
        in_time()?;
        let cells = CellNumbers::new(program, &regions);
        let objects: Table<ObjectId, ObjectKind> = points_to.objects.values().map(|o| o.kind).collect();
        let observations: Vec<Observation> = criteria
            .iter()
            .filter_map(|c| match &c.what {
                What::Operation => None,
                What::Values(values) => {
                    let cells = values.iter().flat_map(|v| v.cells(program, &objects, &regions, cells)).collect();
                    Some(Observation { edge: c.edge, cells })
                }
            })
            .collect();
        let observed: Vec<(FuncId, Cell)> = observations
            .iter()
            .flat_map(|o| o.cells.iter().map(|&cell| (program.func_of(o.edge), cell)))
            .filter(|&(_, cell)| cells.as_var(cell).is_none_or(|v| program.vars[v].func().is_none()))
            .collect();
        let mut vars = ExprVars::new(program);
        let modref = ModRef::compute(program, &regions, &calls, &mut vars, alive.edges(program), &observed, options);
        clock.lap("mod-ref");
        in_time()?;
        let stops = Stops::new(program, &alive, &calls, options.control, places.into_iter().collect());
        let parts = Parts {
            program,
            alive: &alive,
            regions: &regions,
            calls: &calls,
            modref: &modref,
            stops: &stops,
            cells,
            control: options.control,
            observations: &observations,
            undefined: options.points_to.undefined != pointer::Undefined::default(),
            deadline: options.deadline,
        };
        let sdg = parts.build(&mut vars).ok_or(Error::OutOfTime)?;
        clock.lap("dependence graph");
        in_time()?;
        let mut nodes: FxHashMap<Criterion, Vec<u32>> = FxHashMap::default();
        let valued = criteria.iter().filter(|c| matches!(c.what, What::Values(_)));
        for (criterion, &node) in valued.zip(&sdg.observed) {
            nodes.entry(criterion.clone()).or_default().extend((node != NONE).then_some(node));
        }
        let stats = Stats {
            points_to: points_to.stats,
            regions: regions.count as usize,
            unordered: modref.unordered.len(),
            nodes: sdg.kinds.len(),
            dependences: sdg.deps.iter().map(<[u32]>::len).sum(),
            ..Stats::default()
        };
        Ok(Self {
            program,
            always: always.into_iter().filter_map(|e| sdg.op(e)).collect(),
            sdg,
            calls,
            regions,
            objects,
            nodes,
            whole: Whole { preserved: options.preserved.clone(), atomic: options.atomic.clone() },
            cut_off: options.cut_off,
            alive,
            stats,
            clock,
        })
    }

    /// Computes the backward slice: a program that behaves like the original as far as the criteria are concerned.
    /// Unreachable criteria have no effect on it.
    pub fn slice(&mut self, criteria: &[Criterion]) -> Slice {
        self.slice_with(criteria, &[])
    }

    /// Computes the backward slice as [`slice`](Self::slice), and adds the operations of the edges in `complete` with
    /// all their operands. Unlike criteria, these operations have no effect on whether their functions are called.
    pub fn slice_with(&mut self, criteria: &[Criterion], complete: &[EdgeId]) -> Slice {
        self.clock.last = Instant::now();
        let marks = self.backward(criteria, complete, false);
        self.clock.lap("backward walk");
        let observed: Vec<Value> = criteria
            .iter()
            .flat_map(|c| match &c.what {
                What::Operation => &[][..],
                What::Values(values) => &values[..],
            })
            .copied()
            .collect();
        let Built { program, original, kept_functions } =
            build(self.program, &self.sdg, &marks, self.cut_off, &observed);
        self.clock.lap("building the slice");
        let kept: Vec<bool> =
            self.program.edges.ids().map(|e| self.sdg.op(e).is_some_and(|n| marks.contains(n))).collect();
        let mut stats = self.stats.clone();
        stats.edges = (size(self.program), size(&program));
        stats.functions = (
            self.program.funcs.values().filter(|f| !program_sink(self.program, f.entry)).count(),
            kept_functions.iter().filter(|k| **k).count(),
        );
        let mut in_slice = vec![false; self.program.edges.len()];
        original.values().flatten().for_each(|e| in_slice[e.index()] = true);
        stats.instructions =
            (instructions(self.program, |_| true), instructions(self.program, |e| in_slice[e.index()]));
        stats.phases.clone_from(&self.clock.phases);
        Slice { program, original, kept, alive: self.alive.locs.clone(), stats }
    }

    /// Marks the nodes that the criteria depend on, and those that the operations of `complete` depend on.
    pub(crate) fn backward(&self, criteria: &[Criterion], complete: &[EdgeId], reasons: bool) -> Marks {
        let mut nodes = self.nodes_of(criteria);
        nodes.extend(&self.always);
        let operands = |&edge: &EdgeId| self.sdg.op(edge).into_iter().chain(self.sdg.arguments(edge).iter().copied());
        let complete: Vec<u32> = complete.iter().flat_map(operands).collect();
        Marks::backward(self.program, &self.sdg, &self.calls, &nodes, &complete, &self.whole, reasons)
    }

    pub(crate) fn nodes_of(&self, criteria: &[Criterion]) -> Vec<u32> {
        let mut nodes = Vec::new();
        for c in criteria {
            match (&c.what, self.nodes.get(c)) {
                (What::Operation, _) => nodes.extend(self.sdg.op(c.edge)),
                (_, Some(observed)) => nodes.extend(observed),
                (What::Values(values), None) => {
                    assert!(values.is_empty(), "values are observed where the analysis was told to");
                    nodes.extend(self.sdg.control(c.edge));
                }
            }
        }
        nodes
    }

    /// The edges that may write the value, and the edges that may read it.
    pub fn accesses(&self, value: Value) -> (Vec<EdgeId>, Vec<EdgeId>) {
        let cells = value.cells(self.program, &self.objects, &self.regions, self.sdg.cells);
        let among = |regions: &[u32]| regions.iter().any(|r| cells.contains(r));
        let (mut writes, mut reads) = (Vec::new(), Vec::new());
        for (id, edge) in self.program.edges.iter() {
            let Value::Var(var) = value else {
                writes.extend(among(self.regions.writes(id)).then_some(id));
                reads.extend(among(self.regions.reads(id)).then_some(id));
                continue;
            };
            writes.extend((edge.op.def() == Some(var)).then_some(id));
            let mut read = false;
            edge.op.for_each_expr(|e| read |= self.program.exprs.vars(e).contains(&var));
            reads.extend(read.then_some(id));
        }
        (writes, reads)
    }

    /// The name of a datum in messages.
    pub fn name_of(&self, datum: Datum) -> String {
        datum.name(self.program, &self.objects, &self.regions)
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

/// Computes the backward slice of a program from the operations of the given edges. Fails if there are none, or if the
/// deadline passed.
pub fn slice(program: &Program, criteria: &[EdgeId], options: &Options) -> Result<Slice, Error> {
    let criteria: Vec<Criterion> = criteria.iter().map(|&e| Criterion::operation(e)).collect();
    if criteria.is_empty() {
        return Err(Error::NoCriterion);
    }
    Ok(Analysis::new(program, &criteria, options)?.slice(&criteria))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In this program, `f` frees an object. `main` allocates one, calls `f`, and continues with `then`. A violation
    /// follows that depends on `condition`.
    fn program(then: &str, condition: &str) -> Program {
        let text = format!(
            "program 64 entry f0\ntype ty0 void\nerror err0 \"unreach-call\" \"m\"\n\n\
             func f0 \"main\" source ty0 () entry l0 {{\n  \
             local v0 \"p\" ty0 64\n  l0:\n    t0: v0 := alloc heap malloc 8:64 align 8 -> l1\n  \
             l1:\n    t1: call f1 (v0) -> l2\n  l2:\n    t2: {then} -> l3\n  \
             l3:\n    t3: if {condition} -> l4\n    t4: else ~{condition} -> l5\n  \
             l4:\n    t5: error err0 -> l6\n  l6:\n  l5:\n    t6: halt abort -> l7\n  l7:\n}}\n\n\
             func f1 \"f\" source ty0 (v1) entry l8 {{\n  param v1 \"q\" ty0 64\n  l8:\n    t7: free malloc v1 -> l9\n  \
             l9:\n    t8: return -> l10\n  l10:\n}}\n"
        );
        cfa::text::parse(&text).unwrap()
    }

    #[test]
    fn missing_frees_make_room_for_what_is_allocated_later() {
        let lacks = |then, criteria: &[u32]| {
            let program = program(then, "(v0 == 0:64)");
            let criteria: Vec<EdgeId> = criteria.iter().map(|&id| EdgeId(id)).collect();
            slice(&program, &criteria, &Options::default()).unwrap().lacks_frees(&program)
        };
        let allocates = "v0 := alloc heap malloc 8:64 align 8";
        assert!(!lacks("skip", &[5]));
        assert!(!lacks("v0 := alloc stack 8:64 align 8", &[5]));
        assert!(lacks(allocates, &[5]));
        // The free is in the slice.
        assert!(!lacks(allocates, &[5, 7]));
        // No criterion follows the free.
        assert!(!lacks(allocates, &[0]));
    }
}
