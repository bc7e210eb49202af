//! The loops of a program, what they change, and values seen at their heads.

use super::state::{Slots, State};
use super::value::Val;
use cfa::graph::CfaGraphs;
use cfa::loops::LoopForest;
use cfa::{Callee, Expr, ExprPool, FuncId, Id, LocId, Op, Program, VarId, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// Values kept per loop.
const SAMPLES: usize = 96;
/// Variables per loop whose values are kept.
const WATCHED: usize = 24;

/// A natural loop.
#[derive(Clone)]
pub struct LoopInfo {
    pub func: FuncId,
    pub head: LocId,
    pub body: FxHashSet<LocId>,
    /// Whether it can be entered past its head.
    pub irreducible: bool,
    /// Locals of its function and globals that an operation in the loop, or in what it calls, writes.
    pub modified: Vec<VarId>,
    /// Variables that invariants may speak of: the modified ones and those that conditions mention.
    pub watched: Vec<VarId>,
    /// Values of the watched variables at the head, in executions; `None` for addresses.
    pub samples: Vec<Vec<Option<u64>>>,
    visits: u64,
}

/// All loops.
#[derive(Clone)]
pub struct Loops {
    pub loops: Vec<LoopInfo>,
    by_head: FxHashMap<LocId, u32>,
}

impl Loops {
    pub fn new(program: &Program) -> Self {
        let graphs = CfaGraphs::new(program);
        let written = globals_written(program);
        let mut all = Self { loops: Vec::new(), by_head: FxHashMap::default() };
        for (func, graph) in graphs.funcs.iter() {
            let forest = LoopForest::new(&graph.graph, 0);
            for (number, l) in forest.loops().iter().enumerate() {
                let body: FxHashSet<LocId> =
                    forest.body(number as u32).into_iter().map(|n| graph.locs[n as usize]).collect();
                let head = graph.locs[l.head as usize];
                all.by_head.insert(head, all.loops.len() as u32);
                all.loops.push(LoopInfo::new(program, func, head, body, l.irreducible, &written));
            }
        }
        all
    }

    /// A copy for another analysis of the same program.
    pub(super) fn without_samples(&self) -> Self {
        let mut copy = self.clone();
        copy.loops.iter_mut().for_each(|l| l.samples.clear());
        copy
    }

    pub fn headed_by(&self, loc: LocId) -> Option<u32> {
        self.by_head.get(&loc).copied()
    }

    /// Keeps the values that the variables have at a loop head.
    pub(super) fn sample(&mut self, st: &State, loc: LocId, pool: &ExprPool, slots: &Slots) {
        let Some(&number) = self.by_head.get(&loc) else { return };
        let l = &mut self.loops[number as usize];
        l.visits += 1;
        let take = l.visits <= SAMPLES as u64 / 2 || l.visits.is_power_of_two() || l.visits.is_multiple_of(31);
        if !take || l.samples.len() >= SAMPLES {
            return;
        }
        let Some(model) = st.pc.model() else { return };
        let row = l.watched.iter().map(|&var| {
            let slot = slots.of_var[var.index()];
            match slot.global().map_or_else(|| st.frame.vars[slot.local()], |i| st.globals[i]) {
                Val::Int(v) => Some(v),
                Val::Expr(e) => model.eval(pool, e).to_u64(),
                Val::Ptr(..) | Val::Unset | Val::Unknown => None,
            }
        });
        let row: Vec<_> = row.collect();
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
        let mut others: Vec<VarId> = mentioned.into_iter().filter(|v| named(v) && !modified.contains(v)).collect();
        others.sort_unstable();
        watched.extend(others);
        watched.truncate(WATCHED);
        Self { func, head, body, irreducible, modified, watched, samples: Vec::new(), visits: 0 }
    }
}

/// For every function, the globals that it or what it calls may write.
pub(crate) fn globals_written(program: &Program) -> Vec<FxHashSet<VarId>> {
    let mut written = vec![FxHashSet::default(); program.funcs.len()];
    let mut calls: Vec<Vec<FuncId>> = vec![Vec::new(); program.funcs.len()];
    let mut indirect = vec![false; program.funcs.len()];
    for edge in program.edges.values() {
        let func = program.locs[edge.source].func.index();
        if let Some(var) = edge.op.def()
            && matches!(program.vars[var].kind, VarKind::Global { .. })
        {
            written[func].insert(var);
        }
        match edge.op {
            Op::Call { callee: Callee::Direct(callee), .. } => calls[func].push(callee),
            Op::Call { .. } => indirect[func] = true,
            _ => {}
        }
    }
    let anywhere: FxHashSet<VarId> = written.iter().flatten().copied().collect();
    for (func, written) in written.iter_mut().enumerate() {
        if indirect[func] {
            written.clone_from(&anywhere);
        }
    }
    loop {
        let mut changed = false;
        for func in 0..calls.len() {
            for &callee in &calls[func] {
                let more: Vec<VarId> = written[callee.index()].difference(&written[func]).copied().collect();
                changed |= !more.is_empty();
                written[func].extend(more);
            }
        }
        if !changed {
            return written;
        }
    }
}

/// The constants that conditions compare with, by width, and the conditions themselves.
pub(super) fn vocabulary(program: &Program) -> (FxHashMap<u32, Vec<u64>>, Vec<cfa::ExprId>) {
    let mut constants: FxHashMap<u32, Vec<u64>> = FxHashMap::default();
    let mut conditions = Vec::new();
    let mut seen = FxHashSet::default();
    for edge in program.edges.values() {
        let (Op::Assume { cond: e, .. } | Op::Assign { value: e, .. }) = edge.op else { continue };
        if matches!(edge.op, Op::Assume { .. }) && !conditions.contains(&e) && conditions.len() < 2000 {
            conditions.push(e);
        }
        program.exprs.visit(e, &mut seen, |_, node| {
            if let Expr::Const(c) = node
                && let Some(v) = c.to_u64()
                && (2..=64).contains(&c.width())
            {
                let of_width = constants.entry(c.width()).or_default();
                if !of_width.contains(&v) && of_width.len() < 48 {
                    of_width.push(v);
                }
            }
        });
    }
    (constants, conditions)
}
