//! Live variables: the variables that the rest of an execution may read.

use super::Execution;
use super::state::Slots;
use cfa::{Expr, FuncId, Id, Leak, LocId, Op, Program, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The live locals of a function.
pub struct Liveness {
    /// The live slots at a location.
    at: FxHashMap<LocId, Box<[u32]>>,
    /// The live slots at locations without an entry in `at`. If the function is too large for the data-flow analysis, these
    /// are all slots.
    otherwise: Box<[u32]>,
}

impl Liveness {
    fn compute(program: &Program, slots: &Slots, func: FuncId, leaks: bool) -> Self {
        let locals = &slots.locals[func.index()];
        // If the program checks for leaks, a pointer in a dead variable still keeps its object reachable.
        let is_always_live = |v: &&VarId| leaks && program.is_root(**v);
        let always: Vec<u32> =
            locals.iter().filter(is_always_live).map(|v| slots.of_var[v.index()].local() as u32).collect();
        let slots_of = |vars: Box<[VarId]>| {
            let needed = vars.iter().map(|v| slots.of_var[v.index()].local() as u32);
            let mut all: Vec<u32> = needed.chain(always.iter().copied()).collect();
            all.sort_unstable();
            all.dedup();
            all.into_boxed_slice()
        };
        let cfa::liveness::Liveness { at, otherwise } = cfa::liveness::Liveness::new(program, func, locals);
        Self { at: at.into_iter().map(|(loc, vars)| (loc, slots_of(vars))).collect(), otherwise: slots_of(otherwise) }
    }

    /// The slots that are live at a location, in ascending order.
    pub fn at(&self, loc: LocId) -> &[u32] {
        self.at.get(&loc).unwrap_or(&self.otherwise)
    }
}

/// The live variables of all functions.
pub(super) struct LiveVariables {
    /// The live locals of each function, computed on first use.
    locals: Vec<Option<Rc<Liveness>>>,
    /// Slots of the globals that some operation reads. A check for unreachable memory reads all globals.
    globals: Vec<u32>,
    /// True if the program checks for unreachable memory.
    leaks: bool,
    /// True if the program checks for unreachable memory or for memory that is still allocated.
    pub has_leak_checks: bool,
}

impl LiveVariables {
    /// Finds the globals that the program reads.
    pub fn new(program: &Program, slots: &Slots) -> Self {
        let mut read = FxHashSet::default();
        let mut seen = FxHashSet::default();
        for edge in program.edges.values() {
            edge.op.for_each_expr(|e| {
                program.exprs.visit(e, &mut seen, |_, node| {
                    if let Expr::Var(v) = node
                        && let Some(slot) = slots.of_var[v.index()].global()
                    {
                        read.insert(slot as u32);
                    }
                });
            });
        }
        let leaks = program.edges.values().any(|e| e.op == Op::Leak(Leak::Lost));
        let has_leak_checks = program.edges.values().any(|e| matches!(e.op, Op::Leak(_)));
        // A check for unreachable memory reads all globals.
        if leaks {
            read.extend(0..slots.globals.len() as u32);
        }
        let mut globals: Vec<u32> = read.into_iter().collect();
        globals.sort_unstable();
        Self { locals: vec![None; program.funcs.len()], globals, leaks, has_leak_checks }
    }
}

impl Execution<'_> {
    /// The live locals of a function.
    pub fn live(&mut self, func: FuncId) -> Rc<Liveness> {
        if let Some(live) = &self.live.locals[func.index()] {
            return Rc::clone(live);
        }
        let live = Rc::new(Liveness::compute(self.program, &self.slots, func, self.live.leaks));
        self.live.locals[func.index()] = Some(Rc::clone(&live));
        live
    }

    /// Slots of the globals that some operation reads, in ascending order.
    pub fn read_globals(&self) -> &[u32] {
        &self.live.globals
    }
}
