//! Mod-ref analysis: the global variables and the memory that each function, including its callees, may write and read.

use crate::call_graph::CallGraph;
use crate::options::Options;
use crate::regions::{RegionId, Regions};
use crate::sparse_set::SparseSet;
use cfa::{EdgeId, ExprId, FuncId, Id, Program, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A storage that holds values: a region of memory, a variable, or the result of a function. Regions have the lowest
/// numbers.
pub type Cell = u32;

/// The numbering of cells: regions, variables, then two cells for results and returns.
#[derive(Clone, Copy, Debug)]
pub struct CellNumbers {
    /// The number of regions.
    pub regions: u32,
    /// The number of variables.
    pub vars: u32,
}

impl CellNumbers {
    /// The numbering for a program and its regions.
    pub fn new(program: &Program, regions: &Regions) -> Self {
        Self { regions: regions.count, vars: program.vars.len() as u32 }
    }
    /// The cell of a variable.
    pub fn var(&self, v: VarId) -> Cell {
        self.regions + v.0
    }
    /// The variable of a cell, if it is one.
    pub fn as_var(&self, cell: Cell) -> Option<VarId> {
        (self.regions..self.regions + self.vars).contains(&cell).then(|| VarId(cell - self.regions))
    }
    /// The region of a cell, if it is one.
    pub fn as_region(&self, cell: Cell) -> Option<RegionId> {
        (cell < self.regions).then_some(cell)
    }
    /// The cell for the result of a function.
    pub fn result(&self) -> Cell {
        self.regions + self.vars
    }
    /// The cell for the fact that a function returns.
    pub fn returning(&self) -> Cell {
        self.regions + self.vars + 1
    }
    /// The number of cells.
    pub fn count(&self) -> usize {
        (self.regions + self.vars + 2) as usize
    }
}

/// The variables of each expression, computed on demand and cached.
pub struct ExprVars {
    spans: Vec<(u32, u32)>,
    arena: Vec<VarId>,
}

/// In place of a number: the effects are not known yet.
const UNKNOWN: u32 = u32::MAX;

impl ExprVars {
    /// An empty cache for the expressions of the program.
    pub fn new(program: &Program) -> Self {
        Self { spans: vec![(UNKNOWN, 0); program.exprs.len()], arena: Vec::new() }
    }
    /// The variables of the expression.
    pub fn variables(&mut self, program: &Program, e: ExprId) -> &[VarId] {
        if self.spans[e.index()].0 == UNKNOWN {
            let vars = program.exprs.vars(e);
            self.spans[e.index()] = (self.arena.len() as u32, vars.len() as u32);
            self.arena.extend(vars);
        }
        let (start, len) = self.spans[e.index()];
        &self.arena[start as usize..(start + len) as usize]
    }
}

/// The cells outside the callee's frame that its calls may read and write.
#[derive(Default)]
struct Summary {
    reads: SparseSet,
    writes: SparseSet,
}

/// The mod-ref summaries of all functions.
pub struct ModRef {
    summaries: Vec<Summary>,
    /// By function, the index of its summary.
    summary: Vec<u32>,
    /// Cells that the dependence graph does not follow through calls: each read may read from each write.
    pub unordered: SparseSet,
}

impl ModRef {
    /// Computes the summaries for the operations in `edges`. If there are more (call, cell) pairs than the budget of
    /// `options`, the cells with the most pairs become unordered. Each function also reads its cells in `observed`.
    pub fn compute(
        program: &Program,
        regions: &Regions,
        calls: &CallGraph,
        vars: &mut ExprVars,
        edges: impl Iterator<Item = EdgeId>,
        observed: &[(FuncId, Cell)],
        options: &Options,
    ) -> Self {
        let cells = CellNumbers::new(program, regions);
        let mut reads = vec![SparseSet::new(); program.funcs.len()];
        let mut writes = vec![SparseSet::new(); program.funcs.len()];
        for &(f, cell) in observed {
            reads[f.index()].insert(cell);
        }
        let mut call_edges = Vec::new();
        // Many operations access the same regions, so each set of regions is added once per function.
        let mut region_sets: FxHashMap<u32, SparseSet> = FxHashMap::default();
        let mut noted: FxHashSet<(usize, u32, bool)> = FxHashSet::default();
        for id in edges {
            let op = &program.edges[id].op;
            let f = program.func_of(id).index();
            op.for_each_expr(|e| {
                for &v in vars.variables(program, e) {
                    if program.vars[v].func().is_none() {
                        reads[f].insert(cells.var(v));
                    }
                }
            });
            if let Some(v) = op.def()
                && program.vars[v].func().is_none()
            {
                writes[f].insert(cells.var(v));
            }
            let (read, write) = regions.set_numbers(id);
            for (set, is_write) in [(read, false), (write, true)] {
                if set != 0 && noted.insert((f, set, is_write)) {
                    let all = if is_write { &mut writes[f] } else { &mut reads[f] };
                    let regions =
                        region_sets.entry(set).or_insert_with(|| regions.set_of(set).iter().copied().collect());
                    all.union(regions);
                }
            }
            if !calls.callees(id).is_empty() {
                call_edges.push(id);
            }
        }
        let mut callees = vec![Vec::new(); program.funcs.len()];
        for &id in &call_edges {
            callees[program.func_of(id).index()].extend(calls.callees(id).iter().map(|g| g.0));
        }
        // The regions in the frames of a function are invisible to its callers.
        let mut own = vec![SparseSet::new(); program.funcs.len()];
        for (r, owner) in regions.owner.iter().enumerate() {
            if let Some(f) = owner {
                own[f.index()].insert(r as u32);
            }
        }
        // All functions of a strongly connected component share one summary.
        let mut summary = vec![u32::MAX; program.funcs.len()];
        let mut summaries: Vec<Summary> = Vec::new();
        for component in calls.bottom_up() {
            let mut all = Summary::default();
            let mut called: Vec<u32> = Vec::new();
            for &f in component {
                all.reads.union(&std::mem::take(&mut reads[f as usize]));
                all.writes.union(&std::mem::take(&mut writes[f as usize]));
                called.extend(callees[f as usize].iter().map(|&g| summary[g as usize]));
            }
            called.sort_unstable();
            called.dedup();
            for g in called.into_iter().filter(|&g| g != u32::MAX) {
                all.reads.union(&summaries[g as usize].reads);
                all.writes.union(&summaries[g as usize].writes);
            }
            for &f in component {
                all.reads.subtract(&own[f as usize]);
                all.writes.subtract(&own[f as usize]);
                summary[f as usize] = summaries.len() as u32;
            }
            summaries.push(all);
        }
        let mut this = Self { summaries, summary, unordered: SparseSet::new() };
        this.limit(&call_edges, calls, cells, options.budget);
        this
    }

    fn limit(&mut self, call_edges: &[EdgeId], calls: &CallGraph, cells: CellNumbers, budget: usize) {
        let mut times_called = vec![0usize; self.summaries.len()];
        for g in call_edges.iter().flat_map(|&c| calls.callees(c)) {
            times_called[self.summary[g.index()] as usize] += 1;
        }
        let sizes = self.summaries.iter().map(|s| s.reads.len() + s.writes.len());
        let mut total: usize = sizes.zip(&times_called).map(|(size, times)| size * times).sum();
        if total <= budget {
            return;
        }
        let mut cost = vec![0usize; cells.count()];
        for (s, &times) in self.summaries.iter().zip(&times_called).filter(|(_, times)| **times > 0) {
            for c in s.reads.iter().chain(s.writes.iter()) {
                cost[c as usize] += times;
            }
        }
        let mut by_cost: Vec<Cell> = (0..cells.count() as u32).filter(|&c| cost[c as usize] > 0).collect();
        by_cost.sort_by_key(|&c| (std::cmp::Reverse(cost[c as usize]), c));
        for c in by_cost {
            if total <= budget {
                break;
            }
            total -= cost[c as usize];
            self.unordered.insert(c);
        }
        for s in &mut self.summaries {
            s.reads.subtract(&self.unordered);
            s.writes.subtract(&self.unordered);
        }
    }

    /// The global variables and regions outside its own frames that a call of the function may read.
    pub fn reads(&self, f: FuncId) -> &SparseSet {
        &self.summaries[self.summary[f.index()] as usize].reads
    }
    /// The global variables and regions outside its own frames that a call of the function may write.
    pub fn writes(&self, f: FuncId) -> &SparseSet {
        &self.summaries[self.summary[f.index()] as usize].writes
    }
}
