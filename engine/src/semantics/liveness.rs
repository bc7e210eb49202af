//! Which variables the rest of an execution depends on.

use super::Execution;
use super::state::Slots;
use cfa::{Expr, FuncId, Id, Leak, LocId, Op, Program, VarId, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The locals of a function whose values matter.
pub struct Liveness {
    /// Slots, by location.
    at: FxHashMap<LocId, Box<[u32]>>,
    /// At other locations: all slots, in a function too large for the data flow.
    otherwise: Box<[u32]>,
}

impl Liveness {
    fn of(program: &Program, slots: &Slots, func: FuncId, leaks: bool) -> Self {
        let locals = &slots.locals[func.index()];
        // What a pointer leads to is not lost, be it used again or not.
        let counts = |v: &&VarId| leaks && !matches!(program.vars[**v].kind, VarKind::Temp(_));
        let always: Vec<u32> = locals.iter().filter(counts).map(|v| slots.of_var[v.index()].local() as u32).collect();
        let of = |vars: Box<[VarId]>| {
            let needed = vars.iter().map(|v| slots.of_var[v.index()].local() as u32);
            let mut all: Vec<u32> = needed.chain(always.iter().copied()).collect();
            all.sort_unstable();
            all.dedup();
            all.into_boxed_slice()
        };
        let cfa::liveness::Liveness { at, otherwise } = cfa::liveness::Liveness::new(program, func, locals);
        Self { at: at.into_iter().map(|(loc, vars)| (loc, of(vars))).collect(), otherwise: of(otherwise) }
    }

    /// The slots that are live at a location, ascending.
    pub fn at(&self, loc: LocId) -> &[u32] {
        self.at.get(&loc).unwrap_or(&self.otherwise)
    }
}

/// What of all functions is live.
pub(super) struct LiveVariables {
    /// Per function, when first needed: the live locals at every location.
    locals: Vec<Option<Rc<Liveness>>>,
    /// Slots of the globals that some operation reads, which looking for what is lost does, too.
    globals: Vec<u32>,
    /// Whether the program asks for memory to which nothing leads.
    leaks: bool,
    /// Or for memory that is still allocated.
    pub asks: bool,
}

impl LiveVariables {
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
        let asks = program.edges.values().any(|e| matches!(e.op, Op::Leak(_)));
        // Whether something is lost is read in all of them.
        if leaks {
            read.extend(0..slots.globals.len() as u32);
        }
        let mut globals: Vec<u32> = read.into_iter().collect();
        globals.sort_unstable();
        Self { locals: vec![None; program.funcs.len()], globals, leaks, asks }
    }
}

impl Execution<'_> {
    pub fn live(&mut self, func: FuncId) -> Rc<Liveness> {
        if let Some(live) = &self.live.locals[func.index()] {
            return Rc::clone(live);
        }
        let live = Rc::new(Liveness::of(self.program, &self.slots, func, self.live.leaks));
        self.live.locals[func.index()] = Some(Rc::clone(&live));
        live
    }

    /// Slots of the globals that some operation reads.
    pub fn read_globals(&self) -> &[u32] {
        &self.live.globals
    }
}
