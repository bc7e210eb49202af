//! Candidate invariants about array cells from weakest preconditions of errors.
//!
//! From each error edge, a backward search collects the conditions on paths from the head of the enclosing loop (the
//! weakest precondition of the path). If the conditions mention the value at an index of an array, their negation
//! should hold for the cell at that index. So it is a good candidate for an invariant about all cells. The heads of
//! other loops, which wrote these cells, try it too (like Srivastava and Gulwani do with the predicates of assertions:
//! Program verification using templates over predicate abstraction, PLDI 2009). The result is a guess that has to be
//! proved, so writes on the paths are ignored.

use super::rows::{Address, Cells};
use cfa::{CallGraph, Expr, ExprId, ExprPool, FuncId, LocId, Op, Program, Sort, VarId, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximal number of edges of a path. [`PATHS`] limits the number of paths, [`KEPT`] the number of results.
const EDGES: usize = 64;
const PATHS: usize = 200;
const KEPT: usize = 12;
/// Maximal distance between the indices of two cells in a condition.
const FAR: u64 = 16;

/// A candidate condition on cells of equal index.
#[derive(Clone, Debug)]
pub struct CellCandidate {
    /// The function whose locals the condition and its rows may mention.
    pub func: FuncId,
    /// The rows, each with the symbol that represents its cell in the body.
    pub rows: Vec<(Cells, ExprId)>,
    /// The symbol that represents the index, of the width of pointers.
    pub index: ExprId,
    /// The condition, a term of one bit.
    pub body: ExprId,
}

impl CellCandidate {
    /// True if the base of a row is visible in a function.
    pub fn is_told(&self, program: &Program, row: &Cells, func: FuncId) -> bool {
        match *program.exprs.get(row.base) {
            Expr::Var(v) => matches!(program.vars[v].kind, VarKind::Global { .. }) || self.func == func,
            _ => true,
        }
    }
}

/// The candidates from all error edges of the program. `heads` are the loop heads. The expressions are in `pool`, which
/// has the program's expressions.
pub fn asserted(program: &Program, pool: &mut ExprPool, heads: &FxHashSet<LocId>) -> Vec<CellCandidate> {
    let mut incoming: FxHashMap<LocId, Vec<cfa::EdgeId>> = FxHashMap::default();
    for (id, edge) in program.edges.iter() {
        incoming.entry(edge.target).or_default().push(id);
    }
    let calls = CallGraph::new(program);
    let mut walk = Walk { program, pool, heads, incoming, calls, paths: 0, found: Vec::new() };
    for edge in program.edges.values() {
        if matches!(edge.op, Op::Error(_)) {
            walk.back(Path { loc: edge.source, conditions: Vec::new(), loads: Vec::new(), edges: 0 });
        }
    }
    walk.found
}

/// The suffix of a path to an error.
#[derive(Clone)]
struct Path {
    /// The location where the suffix begins.
    loc: LocId,
    /// The conditions on the suffix, over the variables at its start and the loaded values.
    conditions: Vec<ExprId>,
    /// The loads on the suffix: the symbol for the value, the address, and the number of bytes.
    loads: Vec<(ExprId, ExprId, u32)>,
    edges: usize,
}

/// A backward search for paths from loop heads to an error.
struct Walk<'a> {
    program: &'a Program,
    pool: &'a mut ExprPool,
    heads: &'a FxHashSet<LocId>,
    incoming: FxHashMap<LocId, Vec<cfa::EdgeId>>,
    calls: CallGraph,
    paths: usize,
    found: Vec<CellCandidate>,
}

impl Walk<'_> {
    fn back(&mut self, path: Path) {
        let mut work = vec![path];
        while let Some(path) = work.pop() {
            if path.edges > EDGES || self.found.len() >= KEPT {
                continue;
            }
            if self.heads.contains(&path.loc) {
                self.generalise(&path);
                continue;
            }
            let before: Vec<cfa::EdgeId> = match self.incoming.get(&path.loc) {
                Some(edges) => edges.clone(),
                None => {
                    let func = self.program.locs[path.loc].func;
                    let enters = self.program.funcs[func].entry == path.loc;
                    self.calls.callers(func).filter(|_| enters).collect()
                }
            };
            for edge in before {
                self.paths += 1;
                if self.paths <= PATHS * EDGES
                    && let Some(longer) = self.across(path.clone(), edge)
                {
                    work.push(longer);
                }
            }
        }
    }

    /// Extends the path by an edge or call at its start. `None` if the result is not expressible.
    fn across(&mut self, mut path: Path, id: cfa::EdgeId) -> Option<Path> {
        let edge = &self.program.edges[id];
        let enters = edge.target != path.loc;
        match &edge.op {
            Op::Call { args, .. } if enters => {
                let params = &self.program.funcs[self.program.locs[path.loc].func].params;
                let values: FxHashMap<VarId, ExprId> = params.iter().copied().zip(args.iter().copied()).collect();
                // A call through a pointer of another type may pass arguments of other widths.
                let fits = |(&param, &arg)| self.program.vars[param].width == self.pool.width(arg);
                if !values.iter().all(fits) {
                    return None;
                }
                self.replace(&mut path, &values);
            }
            // The condition of a loop only bounds the index.
            Op::Assume { cond, .. } if !self.heads.contains(&edge.source) => path.conditions.push(*cond),
            Op::Assign { var, value } => self.replace(&mut path, &FxHashMap::from_iter([(*var, *value)])),
            Op::Load { var, addr } if self.mentions(&path, *var) => {
                let width = self.program.vars[*var].width;
                let (_, cell) = self.pool.fresh_symbol(Sort::Bv(width));
                self.replace(&mut path, &FxHashMap::from_iter([(*var, cell)]));
                path.loads.push((cell, *addr, width.div_ceil(8)));
            }
            op if op.def().is_some_and(|var| self.mentions(&path, var)) => return None,
            _ => {}
        }
        path.edges += 1;
        path.loc = edge.source;
        Some(path)
    }

    fn mentions(&self, path: &Path, var: VarId) -> bool {
        let all = path.conditions.iter().copied().chain(path.loads.iter().map(|&(_, addr, _)| addr));
        all.into_iter().any(|e| self.pool.vars(e).contains(&var))
    }

    fn replace(&mut self, path: &mut Path, values: &FxHashMap<VarId, ExprId>) {
        let mut memo = FxHashMap::default();
        let all = path.conditions.iter_mut().chain(path.loads.iter_mut().map(|(_, addr, _)| addr));
        for e in all {
            *e = self.pool.substitute(*e, &mut memo, |pool, leaf| match *pool.get(leaf) {
                Expr::Var(v) => values.get(&v).copied(),
                _ => None,
            });
        }
    }

    /// Generalises the condition of the path on cells at one index to all indices, and records it.
    fn generalise(&mut self, path: &Path) {
        let mut all = self.pool.bool(true);
        for &condition in &path.conditions {
            all = self.pool.and(all, condition);
        }
        let body = self.pool.not(all);
        let mut leaves = FxHashSet::default();
        self.pool.visit(body, &mut Default::default(), |e, _| {
            leaves.insert(e);
        });
        let mut places = Vec::new();
        for &(cell, addr, len) in path.loads.iter().filter(|(cell, ..)| leaves.contains(cell)) {
            let mut within = FxHashSet::default();
            self.pool.visit(addr, &mut Default::default(), |e, _| {
                within.insert(e);
            });
            let Some(address) = Address::new(self.program, self.pool, addr, len) else { return };
            if self.pool.width(cell) != 8 * len {
                return;
            }
            if path.loads.iter().any(|(other, ..)| within.contains(other)) {
                return;
            }
            places.push((cell, address));
        }
        let Some(index) = places.first().and_then(|(_, address)| address.index) else { return };
        if places.iter().any(|(_, address)| address.index != Some(index)) || places.len() > 4 {
            return;
        }
        let least = places.iter().map(|(_, address)| address.plus).min().expect("not empty");
        if places.iter().any(|(_, address)| address.plus.abs_diff(least) > FAR) {
            return;
        }
        let width = self.program.layout.pointer_width;
        let (_, k) = self.pool.fresh_symbol(Sort::Bv(width));
        let Some(body) = self.at_index(body, index, least, k) else { return };
        let row = |(cell, address): (ExprId, Address)| {
            let mut row = address.row;
            row.first += (address.plus - least) as u64 * row.stride;
            (row, cell)
        };
        let func = self.program.locs[path.loc].func;
        self.found.push(CellCandidate { func, rows: places.into_iter().map(row).collect(), index: k, body });
    }

    /// The body in terms of `k = index + least`. `None` if that is not expressible.
    fn at_index(&mut self, body: ExprId, index: ExprId, least: i64, k: ExprId) -> Option<ExprId> {
        let (vars, of_index) = (self.pool.vars(body), self.pool.vars(index));
        if of_index.iter().all(|v| !vars.contains(v)) {
            return Some(body);
        }
        let plain = match *self.pool.get(index) {
            Expr::Sext { arg, .. } | Expr::Zext { arg, .. } => arg,
            _ => index,
        };
        if !matches!(self.pool.get(plain), Expr::Var(_)) {
            return None;
        }
        let width = self.pool.width(k);
        let least = self.pool.constant(cfa::Bv::from_i64(width, least));
        let value = self.pool.sub(k, least);
        let value = self.pool.extract(self.pool.width(plain) - 1, 0, value);
        Some(self.pool.substitute(body, &mut FxHashMap::default(), |_, leaf| (leaf == plain).then_some(value)))
    }
}
