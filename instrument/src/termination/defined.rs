//! Restriction of a program to executions that C defines.

use cfa::graph::CfaGraphs;
use cfa::loops::LoopForest;
use cfa::{Bv, CallGraph, Edge, EdgeId, ErrorId, Expr, ExprId, HaltKind, LocId, Op, Out, Program, VarId, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// A branch that ends executions whose behaviour is undefined.
#[derive(Clone, Debug)]
pub struct Guard {
    /// The edge on which executions end, its target, and the target of the other edge.
    edge: EdgeId,
    bad: LocId,
    on: LocId,
    /// The violated check, if the guard is a check of the program.
    error: Option<ErrorId>,
    /// The variables that decide the branch.
    vars: Vec<VarId>,
}

impl Guard {
    /// The location of the branch.
    pub fn place(&self, program: &Program) -> LocId {
        program.edges[self.edge].source
    }

    /// Lets executions continue past the guard.
    pub fn open(&self, program: &mut Program) {
        program.edges[self.edge].target = self.on;
    }

    /// Makes executions end here again.
    pub fn close(&self, program: &mut Program) {
        program.edges[self.edge].target = self.bad;
    }

    /// Makes it an error to reach the end, if the guard is a check of the program. Returns the error edge.
    pub fn fail(&self, program: &mut Program) -> Option<EdgeId> {
        let error = self.error?;
        self.close(program);
        let end = program.out_edges(self.bad).next()?;
        program.edges[end].op = Op::Error(error);
        Some(end)
    }

    /// True if all variables of the guard are in `written`, parameters, or global variables.
    pub fn concerns(&self, program: &Program, written: &FxHashSet<VarId>) -> bool {
        let is_given = |v: &VarId| matches!(program.vars[*v].kind, VarKind::Param(_) | VarKind::Global { .. });
        self.vars.iter().all(|v| written.contains(v) || is_given(v))
    }
}

/// Ends executions with undefined behaviour: if a check of the program fails, and if a load or store in a loop or
/// recursion is at a null pointer or at the end of the address space. No object is there, so a pointer that is
/// dereferenced in each iteration does not wrap around. [`Guard::open`] undoes a restriction.
pub fn only_defined(program: &mut Program) -> Vec<Guard> {
    let mut guards = Vec::new();
    let mut ends: FxHashMap<LocId, ErrorId> = FxHashMap::default();
    for (_, edge) in program.edges.iter_mut() {
        if let Op::Error(error) = edge.op {
            edge.op = Op::Halt(HaltKind::Assumed);
            ends.insert(edge.source, error);
        }
    }
    let written = |edge: &Edge| match edge.op {
        Op::Assign { var, value } => Some((var, value)),
        _ => None,
    };
    let checks: FxHashMap<VarId, ExprId> =
        program.edges.values().filter_map(written).filter(|&(v, _)| program.vars[v].width == 1).collect();
    for loc in program.locs.ids() {
        let Out::Branch { then_edge, else_edge } = program.locs[loc].out else { continue };
        let [then, other] = [then_edge, else_edge].map(|e| program.edges[e].target);
        let (edge, on, error) = match (ends.get(&then), ends.get(&other)) {
            (Some(&error), None) => (then_edge, other, Some(error)),
            (None, Some(&error)) => (else_edge, then, Some(error)),
            _ => continue,
        };
        if let Op::Assume { cond, .. } = program.edges[edge].op {
            let bad = program.edges[edge].target;
            // An overflow bit is a separate variable. The guard depends on the variables of its value.
            let decide = program.exprs.vars(cond).to_vec();
            let decided_by = |v: VarId| match checks.get(&v) {
                Some(&value) => program.exprs.vars(value).to_vec(),
                None => vec![v],
            };
            let vars = decide.into_iter().flat_map(decided_by).collect();
            guards.push(Guard { edge, bad, on, error, vars });
        }
    }
    let calls = CallGraph::new(program);
    let graphs = CfaGraphs::new(program);
    let mut accesses = Vec::new();
    for (func, graph) in graphs.funcs.iter().filter(|(f, _)| calls.is_reachable(*f)) {
        let forest = LoopForest::new(&graph.graph, 0);
        let repeats = |n: u32| calls.is_recursive(func) || forest.innermost(n).is_some();
        for (n, &loc) in (0u32..).zip(&graph.locs) {
            if repeats(n) {
                accesses.extend(program.out_edges(loc));
            }
        }
    }
    for edge in accesses {
        let (addr, width) = match program.edges[edge].op {
            Op::Load { addr, var } => (addr, program.vars[var].width),
            Op::Store { addr, value } => (addr, program.exprs.width(value)),
            _ => continue,
        };
        if is_variable(program, addr) {
            guards.push(access_is_valid(program, edge, addr, width.div_ceil(8)));
        }
    }
    guards
}

/// True for a variable, or a variable plus a constant.
fn is_variable(program: &Program, e: ExprId) -> bool {
    matches!(program.exprs.get(program.exprs.base_and_offset(e).0), Expr::Var(_))
}

/// Inserts a guard before an edge that accesses `len` bytes: executions end if no object can be at the address.
fn access_is_valid(program: &mut Program, edge: EdgeId, addr: ExprId, len: u32) -> Guard {
    let (func, place) = (program.func_of(edge), program.edges[edge].place);
    let width = program.exprs.width(addr);
    let last = program.exprs.constant(Bv::from_i64(width, -i64::from(len)));
    let zero = program.exprs.int(width, 0);
    let (null, fits) = (program.exprs.eq(addr, zero), program.exprs.ult(addr, last));
    let is_some = program.exprs.not(null);
    let valid = program.exprs.and(is_some, fits);
    let [on, bad, sink] = [(); 3].map(|()| program.add_location(func));
    let source = program.detach(edge);
    let (_, end) = program.add_branch(source, valid, on, bad, place);
    program.add_edge(bad, Op::Halt(HaltKind::Assumed), sink, place);
    program.attach(edge, on);
    Guard { edge: end, bad, on, error: None, vars: program.exprs.vars(addr).to_vec() }
}
