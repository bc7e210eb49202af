//! What each function may read and write of global variables and memory, its callees included.

use crate::call_graph::CallGraph;
use crate::regions::{RegionId, Regions};
use crate::sparse_set::SparseSet;
use cfa::{EdgeId, ExprId, FuncId, Id, Program, VarId};

/// Something that holds values: a region of memory or a variable. Regions come first.
pub type Cell = u32;

/// The numbering of cells.
#[derive(Clone, Copy, Debug)]
pub struct CellNumbers {
    pub regions: u32,
    pub vars: u32,
}

impl CellNumbers {
    pub fn var(&self, v: VarId) -> Cell {
        self.regions + v.0
    }
    pub fn as_var(&self, cell: Cell) -> Option<VarId> {
        (self.regions..self.regions + self.vars).contains(&cell).then(|| VarId(cell - self.regions))
    }
    pub fn as_region(&self, cell: Cell) -> Option<RegionId> {
        (cell < self.regions).then_some(cell)
    }
    /// The result of a function.
    pub fn result(&self) -> Cell {
        self.regions + self.vars
    }
    /// Whether a function returns.
    pub fn returning(&self) -> Cell {
        self.regions + self.vars + 1
    }
    pub fn count(&self) -> usize {
        (self.regions + self.vars + 2) as usize
    }
}

/// The variables of each expression, found once.
pub struct ExprVars {
    spans: Vec<(u32, u32)>,
    arena: Vec<VarId>,
}

const UNKNOWN: u32 = u32::MAX;

impl ExprVars {
    pub fn new(program: &Program) -> Self {
        Self { spans: vec![(UNKNOWN, 0); program.exprs.len()], arena: Vec::new() }
    }
    pub fn of(&mut self, program: &Program, e: ExprId) -> &[VarId] {
        if self.spans[e.index()].0 == UNKNOWN {
            let vars = program.exprs.vars(e);
            self.spans[e.index()] = (self.arena.len() as u32, vars.len() as u32);
            self.arena.extend(vars);
        }
        let (start, len) = self.spans[e.index()];
        &self.arena[start as usize..(start + len) as usize]
    }
}

pub struct ModRef {
    reads: Vec<SparseSet>,
    writes: Vec<SparseSet>,
    /// Cells that are not followed through calls: each write may be seen by each read.
    pub unordered: SparseSet,
}

impl ModRef {
    /// Cells are left unordered as far as it takes to keep the number of (call, cell) pairs within `budget`.
    /// `observed` are read besides what operations read.
    pub fn compute(
        program: &Program,
        regions: &Regions,
        calls: &CallGraph,
        cells: CellNumbers,
        vars: &mut ExprVars,
        edges: impl Iterator<Item = EdgeId>,
        observed: &[(FuncId, Cell)],
        budget: usize,
    ) -> Self {
        let mut reads = vec![SparseSet::new(); program.funcs.len()];
        let mut writes = vec![SparseSet::new(); program.funcs.len()];
        for &(f, cell) in observed {
            reads[f.index()].insert(cell);
        }
        let mut call_edges = Vec::new();
        for id in edges {
            let op = &program.edges[id].op;
            let f = program.func_of(id).index();
            op.for_each_expr(|e| {
                for &v in vars.of(program, e) {
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
            for &r in regions.reads(id) {
                reads[f].insert(r);
            }
            for &r in regions.writes(id) {
                writes[f].insert(r);
            }
            if !calls.callees(id).is_empty() {
                call_edges.push(id);
            }
        }
        let mut calls_in = vec![Vec::new(); program.funcs.len()];
        for &id in &call_edges {
            calls_in[program.func_of(id).index()].push(id);
        }
        for component in calls.bottom_up() {
            let (mut all_reads, mut all_writes) = (SparseSet::new(), SparseSet::new());
            for &f in component {
                all_reads.union(&reads[f as usize]);
                all_writes.union(&writes[f as usize]);
                for &call in &calls_in[f as usize] {
                    for &g in calls.callees(call) {
                        if !calls.same_component(FuncId(f), g) {
                            all_reads.union(&reads[g.index()]);
                            all_writes.union(&writes[g.index()]);
                        }
                    }
                }
            }
            // The regions of a function's own frames are nothing to its callers.
            for set in [&mut all_reads, &mut all_writes] {
                let own: SparseSet = set
                    .iter()
                    .filter(|&c| {
                        cells
                            .as_region(c)
                            .and_then(|r| regions.owner[r as usize])
                            .is_some_and(|owner| component.contains(&owner.0))
                    })
                    .collect();
                set.subtract(&own);
            }
            for &f in component {
                reads[f as usize] = all_reads.clone();
                writes[f as usize] = all_writes.clone();
            }
        }
        let mut this = Self { reads, writes, unordered: SparseSet::new() };
        this.limit(&call_edges, calls, cells, budget);
        this
    }

    fn limit(&mut self, call_edges: &[EdgeId], calls: &CallGraph, cells: CellNumbers, budget: usize) {
        let callees = || call_edges.iter().flat_map(|&c| calls.callees(c)).copied();
        let mut times_called = vec![0usize; self.reads.len()];
        callees().for_each(|g| times_called[g.index()] += 1);
        let sizes = self.reads.iter().zip(&self.writes).map(|(r, w)| r.len() + w.len());
        let mut total: usize = sizes.zip(&times_called).map(|(size, times)| size * times).sum();
        if total <= budget {
            return;
        }
        let mut cost = vec![0usize; cells.count()];
        for (f, &times) in times_called.iter().enumerate().filter(|(_, times)| **times > 0) {
            for c in self.reads[f].iter().chain(self.writes[f].iter()) {
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
        for set in self.reads.iter_mut().chain(&mut self.writes) {
            set.subtract(&self.unordered);
        }
    }

    /// What a call of the function may read of global variables and memory that its caller knows.
    pub fn reads(&self, f: FuncId) -> &SparseSet {
        &self.reads[f.index()]
    }
    /// What a call of the function may write.
    pub fn writes(&self, f: FuncId) -> &SparseSet {
        &self.writes[f.index()]
    }
}
