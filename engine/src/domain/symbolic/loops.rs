//! The loops and recursive functions of a program, the variables that they modify, and values observed there.

use super::asserted::asserted;
use super::distances::{Distance, distances};
use super::rows::{Cells, Snapshot, addresses, rows};
use super::state::State;
use crate::semantics::{Execution, Val};
use cfa::facts::{allocates_again, globals_written};
use cfa::graph::CfaGraphs;
use cfa::loops::LoopForest;
use cfa::{CallGraph, Callee, Expr, ExprId, ExprPool, FuncId, Id, LocId, Op, Program, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximal number of samples per loop.
const SAMPLES: usize = 96;
/// Maximal number of rows per loop, including those from weakest preconditions of errors.
const ROWS: usize = 8;
/// Maximal number of watched variables per loop.
const WATCHED: usize = 40;

/// A natural loop.
#[derive(Clone)]
pub struct LoopInfo {
    /// The function.
    pub func: FuncId,
    /// The location of the head.
    pub head: LocId,
    /// The locations of the loop.
    pub body: FxHashSet<LocId>,
    /// True if the loop can be entered at a location other than its head.
    pub irreducible: bool,
    /// The variables that operations in the loop or its callees write: locals of the function, and globals.
    pub modified: Vec<VarId>,
    /// The variables that invariants may mention: modified variables first, then those in conditions.
    pub watched: Vec<VarId>,
    /// The distances that invariants may mention.
    pub distances: Vec<Distance>,
    /// Observed values at the head: those of the watched variables, then the distances. `None` for addresses.
    pub samples: Vec<Vec<Option<u64>>>,
    /// The rows of cells that the loop accesses, then further rows that errors mention.
    pub rows: Vec<Cells>,
    /// The number of rows that the loop accesses.
    pub accessed: usize,
    /// Observed values of variables and cells at the head.
    pub snapshots: Vec<Snapshot>,
    /// The addresses that the loop moves, with the number of bytes accessed, or 0 for pointers that it does not access.
    pub addresses: Vec<(ExprId, u32)>,
    visits: u64,
}

/// A recursive function.
#[derive(Clone)]
pub struct RecursiveFunction {
    /// The function.
    pub func: FuncId,
    /// Its parameters, and the globals that it or its callees write.
    pub modified: Vec<VarId>,
    /// The variables that preconditions may mention: parameters and globals.
    pub watched: Vec<VarId>,
    /// The globals that postconditions may mention.
    pub written: Vec<VarId>,
    /// Observed values of calls: watched variables at the entry, the result, and the written globals at the return.
    pub samples: Vec<Vec<Option<u64>>>,
    /// Observed values of the watched variables at entries, even if the call did not return.
    pub entries: Vec<Vec<Option<u64>>>,
}

/// All loops and recursive functions. Both are numbered, loops first.
#[derive(Clone)]
pub struct Loops {
    /// The loops.
    pub loops: Vec<LoopInfo>,
    /// The recursive functions.
    pub recursions: Vec<RecursiveFunction>,
    /// Conditions that other analyses suggest as candidates, with their pool.
    pub suggested: (ExprPool, Vec<ExprId>),
    /// True if errors yield candidates about array cells.
    pub cells_asserted: bool,
    by_head: FxHashMap<LocId, u32>,
    by_func: FxHashMap<FuncId, u32>,
    /// True if a loop or recursion allocates heap memory. Computed on demand.
    allocates: Option<bool>,
}

impl Loops {
    /// Finds the loops and recursive functions of a program.
    pub fn new(program: &Program) -> Self {
        let graphs = CfaGraphs::new(program);
        let written = globals_written(program);
        let mut all = Self {
            loops: Vec::new(),
            recursions: Vec::new(),
            suggested: Default::default(),
            cells_asserted: false,
            by_head: FxHashMap::default(),
            by_func: FxHashMap::default(),
            allocates: None,
        };
        for (func, graph) in graphs.funcs.iter() {
            let forest = LoopForest::new(&graph.graph, 0);
            let around = if forest.loops().is_empty() { Vec::new() } else { variables_read(program, &graph.locs) };
            for (number, l) in forest.loops().iter().enumerate() {
                let body: FxHashSet<LocId> =
                    forest.body(number as u32).into_iter().map(|n| graph.locs[n as usize]).collect();
                let head = graph.locs[l.head as usize];
                all.by_head.insert(head, all.loops.len() as u32);
                all.loops.push(LoopInfo::new(
                    program,
                    func,
                    head,
                    body,
                    l.irreducible,
                    &written,
                    (&around, &graph.locs),
                ));
            }
        }
        all.add_asserted_rows(program);
        let calls = CallGraph::new(program);
        for func in program.funcs.ids().filter(|&f| calls.is_recursive(f) && calls.is_reachable(f)) {
            all.by_func.insert(func, (all.loops.len() + all.recursions.len()) as u32);
            all.recursions.push(RecursiveFunction::new(program, func, &written[func.index()]));
        }
        all
    }

    /// Adds the rows that errors mention to the loops.
    fn add_asserted_rows(&mut self, program: &Program) {
        if !self.have_rows() {
            return;
        }
        let asserted = asserted(program, &mut program.exprs.clone(), &self.heads());
        self.cells_asserted = !asserted.is_empty();
        for (condition, (row, _)) in asserted.iter().flat_map(|a| a.rows.iter().map(move |row| (a, row))) {
            for l in &mut self.loops {
                let is_modified = matches!(*program.exprs.get(row.base), Expr::Var(v) if l.modified.contains(&v));
                if condition.is_told(program, row, l.func)
                    && !is_modified
                    && l.rows.len() < ROWS
                    && !l.rows.contains(row)
                {
                    l.rows.push(row.clone());
                }
            }
        }
    }

    /// The heads of all loops.
    pub fn heads(&self) -> FxHashSet<LocId> {
        self.loops.iter().map(|l| l.head).collect()
    }

    /// A copy without samples.
    pub(super) fn without_samples(&self) -> Self {
        let mut copy = self.clone();
        copy.loops.iter_mut().for_each(|l| {
            l.samples.clear();
            l.snapshots.clear();
        });
        copy.recursions.iter_mut().for_each(|r| {
            r.samples.clear();
            r.entries.clear();
        });
        copy
    }

    /// Adds the samples and suggestions of another analysis of this program, or of a version with other branches.
    pub fn join(&mut self, other: &Loops) {
        for ours in &mut self.loops {
            let Some(&number) = other.by_head.get(&ours.head) else { continue };
            let theirs = &other.loops[number as usize];
            let of_var = |v: &VarId| theirs.watched.iter().position(|w| w == v);
            let of_distance = |d: &Distance| Some(theirs.watched.len() + theirs.distances.iter().position(|e| e == d)?);
            let columns: Vec<Option<usize>> =
                ours.watched.iter().map(of_var).chain(ours.distances.iter().map(of_distance)).collect();
            for row in &theirs.samples {
                let row: Vec<Option<u64>> = columns.iter().map(|column| row[(*column)?]).collect();
                if ours.samples.len() < SAMPLES && !ours.samples.contains(&row) {
                    ours.samples.push(row);
                }
            }
        }
        self.suggest(&other.suggested.0, other.suggested.1.iter().copied());
    }

    /// Suggests conditions of another pool as candidates. Conditions with symbols are ignored.
    pub fn suggest(&mut self, from: &ExprPool, conditions: impl IntoIterator<Item = ExprId>) {
        let (pool, suggested) = &mut self.suggested;
        for condition in conditions {
            if let Some(own) = pool.import(from, condition)
                && !suggested.contains(&own)
            {
                suggested.push(own);
            }
        }
    }

    /// True if there are no loops and no recursive functions.
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty() && self.recursions.is_empty()
    }

    /// True if a loop accesses cells at indices.
    pub fn have_rows(&self) -> bool {
        self.loops.iter().any(|l| !l.rows.is_empty())
    }

    /// True if a loop or recursion allocates heap memory, so that one path through it represents many objects.
    pub(in crate::domain) fn allocate(&mut self, program: &Program) -> bool {
        if let Some(known) = self.allocates {
            return known;
        }
        let found = allocates_again(program, |loc| self.loops.iter().any(|l| l.body.contains(&loc)));
        self.allocates = Some(found);
        found
    }

    /// The number of a recursive function.
    pub fn recursion(&self, func: FuncId) -> Option<u32> {
        self.by_func.get(&func).copied()
    }

    /// The variables that the loop or recursion of this number may modify.
    pub(in crate::domain) fn modified(&self, number: u32) -> &[VarId] {
        match self.loops.get(number as usize) {
            Some(l) => &l.modified,
            None => &self.recursions[number as usize - self.loops.len()].modified,
        }
    }

    /// The number of the loop with this head.
    pub fn headed_by(&self, loc: LocId) -> Option<u32> {
        self.by_head.get(&loc).copied()
    }

    /// Records the values of the variables at a loop head as a sample.
    pub(super) fn sample(&mut self, st: &State, loc: LocId, execution: &mut Execution) {
        let Some(&number) = self.by_head.get(&loc) else { return };
        let l = &mut self.loops[number as usize];
        l.visits += 1;
        let take = l.visits <= SAMPLES as u64 / 2 || l.visits.is_power_of_two() || l.visits.is_multiple_of(31);
        if !take || l.samples.len() >= SAMPLES {
            return;
        }
        let Some(model) = st.pc.model() else { return };
        let value = |execution: &Execution, value| match value {
            Val::Int(v) => Some(v),
            Val::Expr(e) => model.eval(&execution.terms, e).to_u64(),
            Val::Ptr(..) | Val::Unset | Val::Unknown => None,
        };
        let mut row: Vec<_> = l.watched.iter().map(|&var| value(execution, execution.read_var(st, var))).collect();
        row.extend(l.distances.iter().map(|distance| {
            let distance = distance.evaluate(st, execution)?;
            value(execution, distance)
        }));
        if !l.samples.contains(&row) {
            l.samples.push(row);
        }
    }
}

impl LoopInfo {
    fn new(
        program: &Program,
        func: FuncId,
        head: LocId,
        body: FxHashSet<LocId>,
        irreducible: bool,
        written: &[FxHashSet<VarId>],
        (around, all): (&[VarId], &[LocId]),
    ) -> Self {
        let mut modified = FxHashSet::default();
        let mut mentioned = FxHashSet::default();
        let mut locs: Vec<LocId> = body.iter().copied().collect();
        locs.sort_unstable();
        for &loc in &locs {
            for edge in program.out_edges(loc) {
                let edge = &program.edges[edge];
                if !body.contains(&edge.target) {
                    if let Op::Assume { cond, .. } = edge.op {
                        mentioned.extend(program.exprs.vars(cond));
                    }
                    continue;
                }
                modified.extend(edge.op.def());
                match &edge.op {
                    Op::Call { callee: Callee::Direct(callee), .. } => modified.extend(&written[callee.index()]),
                    Op::Call { .. } => written.iter().for_each(|w| modified.extend(w)),
                    Op::Assume { cond, .. } => mentioned.extend(program.exprs.vars(*cond)),
                    Op::Assign { value, .. } => mentioned.extend(program.exprs.vars(*value)),
                    _ => {}
                }
            }
        }
        let mut modified: Vec<VarId> = modified.into_iter().collect();
        modified.sort_unstable();
        let named = |v: &VarId| program.vars[*v].name.is_some() && (2..=64).contains(&program.vars[*v].width);
        let mut watched: Vec<VarId> = modified.iter().copied().filter(named).collect();
        let mut others: Vec<VarId> = mentioned.into_iter().filter(named).collect();
        others.sort_unstable();
        // Code after the loop may compare with variables that the loop does not mention.
        for v in others.into_iter().chain(around.iter().copied().filter(named)) {
            if !watched.contains(&v) {
                watched.push(v);
            }
        }
        watched.truncate(WATCHED);
        let rows = rows(program, &locs, &modified);
        let addresses = addresses(program, &locs, all, &modified);
        let distances = distances(program, all, &watched, &modified);
        Self {
            func,
            head,
            body,
            irreducible,
            accessed: rows.len(),
            rows,
            modified,
            watched,
            distances,
            samples: Vec::new(),
            snapshots: Vec::new(),
            addresses,
            visits: 0,
        }
    }
}

/// The variables that occur in expressions at these locations, in ascending order.
fn variables_read(program: &Program, locs: &[LocId]) -> Vec<VarId> {
    let mut seen = FxHashSet::default();
    let mut vars = Vec::new();
    for edge in locs.iter().flat_map(|&loc| program.out_edges(loc)) {
        program.edges[edge].op.for_each_expr(|e| {
            program.exprs.visit(e, &mut seen, |_, node| {
                if let cfa::Expr::Var(v) = node {
                    vars.push(*v);
                }
            });
        });
    }
    vars.sort_unstable();
    vars
}

impl RecursiveFunction {
    fn new(program: &Program, func: FuncId, written: &FxHashSet<VarId>) -> Self {
        let function = &program.funcs[func];
        let mut written: Vec<VarId> = written.iter().copied().collect();
        written.sort_unstable();
        let params = function.params.iter().chain(&function.varargs).copied();
        let modified: Vec<VarId> = params.chain(written.iter().copied()).collect();
        let scalar = |v: &VarId| (2..=64).contains(&program.vars[*v].width);
        let mut watched: Vec<VarId> = modified.iter().copied().filter(scalar).collect();
        watched.truncate(WATCHED);
        written.retain(scalar);
        written.truncate(WATCHED);
        Self { func, modified, watched, written, samples: Vec::new(), entries: Vec::new() }
    }
}
