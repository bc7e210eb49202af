//! Pairs of loops of which one creates threads, and the other joins the same ones.
//!
//! Both loops count a variable from the same value in the same steps under the same condition:
//! `for (i = 0; i < n; i++) pthread_create(&ids[i], …);` and `for (i = 0; i < n; i++) pthread_join(ids[i], …);`.
//! If the joining loop ends by its condition, each thread of the creating loop has ended.

use cfa::dominators::Dominators;
use cfa::graph::CfaGraphs;
use cfa::loops::LoopForest;
use cfa::{BinOp, EdgeId, Expr, ExprId, ExprPool, FuncId, LocId, Op, Out, Program, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A loop that counts a variable. It is in no other loop.
pub(super) struct Counting {
    index: VarId,
    from: ExprId,
    /// The condition under which the loop goes on.
    goes_on: ExprId,
    step: ExprId,
    /// The edge that leaves the loop when the condition fails.
    pub exit: EdgeId,
}

/// Finds the counting loops of a program.
pub(super) struct Counts<'p> {
    program: &'p Program,
    graphs: CfaGraphs,
    pool: ExprPool,
    /// By variable, the edges that write it.
    defs: FxHashMap<VarId, Vec<EdgeId>>,
}

impl<'p> Counts<'p> {
    pub fn new(program: &'p Program) -> Self {
        let mut defs: FxHashMap<VarId, Vec<EdgeId>> = FxHashMap::default();
        for (id, edge) in program.edges.iter() {
            if let Some(var) = edge.op.def() {
                defs.entry(var).or_default().push(id);
            }
        }
        Self { program, graphs: CfaGraphs::new(program), pool: program.exprs.clone(), defs }
    }

    /// The counting loop in each of whose iterations the edge is executed once. `None` if there is none.
    pub fn around(&self, edge: EdgeId) -> Option<Counting> {
        let program = self.program;
        let func = program.func_of(edge);
        let graph = &self.graphs.funcs[func];
        let forest = LoopForest::new(&graph.graph, 0);
        let node = self.graphs.node(program.edges[edge].source)?;
        let number = forest.innermost(node)?;
        let found = forest.get(number);
        if found.irreducible || found.depth != 1 {
            return None;
        }
        let is_inside = |loc: LocId| self.graphs.node(loc).is_some_and(|node| forest.contains(number, node));
        let head = graph.locs[found.head as usize];
        let Out::Branch { then_edge, else_edge } = program.locs[head].out else { return None };
        let (stays, exit) = match [then_edge, else_edge].map(|e| is_inside(program.edges[e].target)) {
            [true, false] => (then_edge, else_edge),
            [false, true] => (else_edge, then_edge),
            _ => return None,
        };
        // The loop is entered by one edge, which sets the variable, and repeated by one, which counts.
        let into: Vec<EdgeId> = self.into(func, head);
        let [one, other] = into[..] else { return None };
        let (enters, repeats) = match [one, other].map(|e| is_inside(program.edges[e].source)) {
            [false, true] => (one, other),
            [true, false] => (other, one),
            _ => return None,
        };
        let (Op::Assign { var: index, value: from }, Op::Assign { var, value: next }) =
            (&program.edges[enters].op, &program.edges[repeats].op)
        else {
            return None;
        };
        let Expr::Binary(BinOp::Add, a, b) = *program.exprs.get(*next) else { return None };
        let is_index = |e: ExprId| matches!(*program.exprs.get(e), Expr::Var(v) if v == *index);
        let step = if is_index(a) { b } else { a };
        let is_counted = (is_index(a) || is_index(b))
            && program.exprs.as_const(step).and_then(cfa::Bv::to_u64) == Some(1)
            && program.exprs.as_const(*from).is_some();
        let is_only = |e: &EdgeId| !is_inside(program.edges[*e].source) || *e == repeats;
        let Op::Assume { cond, .. } = program.edges[stays].op else { return None };
        // A narrower variable may wrap around: two iterations then have the same value.
        let is_wide = program.vars[*index].width >= 32;
        let is_counter = var == index && is_counted && is_wide && program.vars[*index].func().is_some();
        if !is_counter || !self.defs[index].iter().all(is_only) || !self.is_fixed(cond, *index) {
            return None;
        }
        // Each iteration executes the edge.
        let dominators = Dominators::new(&graph.graph, 0);
        let latch = self.graphs.node(program.edges[repeats].source)?;
        dominators.dominates(node, latch).then_some(Counting { index: *index, from: *from, goes_on: cond, step, exit })
    }

    fn into(&self, func: FuncId, loc: LocId) -> Vec<EdgeId> {
        let edges = self.program.edges.iter().filter(|(_, edge)| edge.target == loc);
        let is_reached =
            |id: EdgeId| self.program.func_of(id) == func && self.graphs.node(self.program.edges[id].source).is_some();
        edges.map(|(id, _)| id).filter(|&id| is_reached(id)).collect()
    }

    /// True if the expression has the same value whenever the variable has.
    fn is_fixed(&self, e: ExprId, but: VarId) -> bool {
        let is_set_once = |var: VarId| match self.defs.get(&var).map(Vec::as_slice) {
            None => true,
            Some(&[def]) => !self.is_repeated(def),
            _ => false,
        };
        let vars = self.program.exprs.vars(e);
        vars.into_iter().all(|var| var == but || self.program.vars[var].func().is_some() && is_set_once(var))
    }

    /// True if the edge is on a cycle of its function.
    fn is_repeated(&self, edge: EdgeId) -> bool {
        let mut todo = vec![self.program.edges[edge].target];
        let mut known: FxHashSet<LocId> = todo.iter().copied().collect();
        while let Some(loc) = todo.pop() {
            for next in self.program.out_edges(loc) {
                if next == edge {
                    return true;
                }
                if known.insert(self.program.edges[next].target) {
                    todo.push(self.program.edges[next].target);
                }
            }
        }
        false
    }

    /// True if two loops of one function count the same values, and access the same element of 8 bytes or more in each
    /// iteration, at different addresses in different ones. The function is executed at most once.
    pub fn access_the_same(&mut self, one: (&Counting, ExprId), other: (&Counting, ExprId)) -> bool {
        let ((a, at), (b, to)) = (one, other);
        let func = self.program.vars[a.index].func();
        if func != self.program.vars[b.index].func()
            || a.from != b.from
            || a.step != b.step
            || !self.is_fixed(at, a.index)
            || !self.is_fixed(to, b.index)
            || !self.is_element(at, a.index)
        {
            return false;
        }
        let width = self.program.vars[a.index].width;
        if width != self.program.vars[b.index].width {
            return false;
        }
        let index = self.pool.var(a.index, width);
        let mut memo = FxHashMap::default();
        let mut of_first = |pool: &mut ExprPool, e: ExprId| {
            pool.substitute(e, &mut memo, |pool, leaf| match *pool.get(leaf) {
                Expr::Var(v) if v == b.index => Some(index),
                _ => None,
            })
        };
        of_first(&mut self.pool, b.goes_on) == a.goes_on && of_first(&mut self.pool, to) == at
    }

    /// The distance in bytes between the addresses in two successive iterations of the loop, if the address is that of
    /// an array element whose index is the counted variable.
    pub fn spacing(&self, counting: &Counting, at: ExprId) -> Option<u64> {
        self.stride(at, counting.index).filter(|_| self.is_fixed(at, counting.index))
    }

    /// True for the address of an element with this index, of at least 8 bytes.
    fn is_element(&self, at: ExprId, index: VarId) -> bool {
        self.stride(at, index).is_some_and(|size| size >= 8)
    }

    /// The size of the elements, for an address that is a base plus the index times a small size.
    fn stride(&self, at: ExprId, index: VarId) -> Option<u64> {
        let exprs = &self.program.exprs;
        let is_free = |e: ExprId| !exprs.vars(e).contains(&index);
        let is_index = |e: ExprId| match *exprs.get(e) {
            Expr::Var(v) => v == index,
            Expr::Sext { arg, .. } | Expr::Zext { arg, .. } => matches!(*exprs.get(arg), Expr::Var(v) if v == index),
            _ => false,
        };
        let size = |e: ExprId| exprs.as_const(e).and_then(cfa::Bv::to_u64).filter(|n| (1..4096).contains(n));
        let scale = |e: ExprId| match *exprs.get(e) {
            Expr::Binary(BinOp::Mul, a, b) if is_index(a) => size(b),
            Expr::Binary(BinOp::Mul, a, b) if is_index(b) => size(a),
            _ => None,
        };
        match *exprs.get(at) {
            Expr::Binary(BinOp::Add, a, b) if is_free(a) => scale(b),
            Expr::Binary(BinOp::Add, a, b) if is_free(b) => scale(a),
            _ => None,
        }
    }
}
