//! Signal handlers. A handler runs between any two operations of the program, so what it writes may change at any time.

use cfa::{CallGraph, Callee, Expr, FuncId, GlobalId, Harm, Id, Op, Program, VarId, VarKind};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;

/// The functions that signals may run, and what they write.
pub struct Handlers {
    /// By function: true for the handlers and for all that they call.
    pub functions: FixedBitSet,
    /// The global variables that handlers write.
    pub vars: FxHashSet<VarId>,
    /// The global objects that handlers write.
    pub objects: FxHashSet<GlobalId>,
    /// True if handlers write only these.
    pub is_known: bool,
}

impl Handlers {
    /// No handlers.
    pub fn none() -> Self {
        let (vars, objects) = (FxHashSet::default(), FxHashSet::default());
        Self { functions: FixedBitSet::new(), vars, objects, is_known: true }
    }

    /// The handlers of a program, if it installs any: the functions of such a type whose address is taken. The front-end
    /// keeps the arguments of `signal` in the program. A handler that does not return writes nothing that other code
    /// reads. `returning` returns which functions may return.
    pub fn find(program: &Program, returning: impl Fn(&Program, &CallGraph) -> Vec<bool>) -> Self {
        let mut this = Self { functions: FixedBitSet::with_capacity(program.funcs.len()), ..Self::none() };
        let installs = |taint: &cfa::Taint| taint.under && taint.harm() == Harm::Handlers;
        if !program.taints.values().any(installs) {
            return this;
        }
        let calls = CallGraph::new(program);
        let returning = returning(program, &calls);
        let jumps = program.taints.values().any(|taint| taint.harm() == Harm::Elsewhere);
        for &func in calls.address_taken().iter().filter(|&&func| is_handler(program, func)) {
            let called = this.add(program, &calls, func);
            if returning[func.index()] || jumps {
                called.into_iter().for_each(|func| this.add_writes(program, &calls, func));
            }
        }
        this
    }

    /// Adds a handler. Returns it and all functions that it may call.
    fn add(&mut self, program: &Program, calls: &CallGraph, handler: FuncId) -> Vec<FuncId> {
        let mut found = vec![handler];
        let mut next = 0;
        while let Some(&func) = found.get(next) {
            next += 1;
            self.functions.insert(func.index());
            for &call in calls.calls_in(func) {
                let callees = calls.callees(program, call);
                let new: Vec<FuncId> = callees.as_slice().iter().copied().filter(|f| !found.contains(f)).collect();
                found.extend(new);
            }
        }
        found
    }

    fn add_writes(&mut self, program: &Program, calls: &CallGraph, func: FuncId) {
        let edges = program.edges.iter().filter(|(id, _)| program.func_of(*id) == func);
        for (id, edge) in edges {
            if let Some(var) = edge.op.def().filter(|&var| matches!(program.vars[var].kind, VarKind::Global { .. })) {
                self.vars.insert(var);
            }
            match edge.op {
                Op::Store { addr: to, .. } | Op::Copy { dst: to, .. } | Op::Fill { dst: to, .. } => {
                    match written(program, to) {
                        Some(global) => _ = self.objects.insert(global),
                        None => self.is_known = false,
                    }
                }
                Op::Call { callee: Callee::Indirect(_), .. } if calls.callees(program, id).as_slice().is_empty() => {
                    self.is_known = false;
                }
                Op::Alloc { .. } | Op::Free { .. } | Op::Approx { .. } => self.is_known = false,
                _ => {}
            }
        }
    }
}

/// The width of the number of a signal in bits.
const SIGNAL: u32 = 32;

/// True for a function that `signal` or `sigaction` may install. A function without a prototype (`void stop() {...}`)
/// converts to the type of a handler, also with another result.
fn is_handler(program: &Program, func: FuncId) -> bool {
    let params = &program.funcs[func].params;
    let takes_signal = params.first().is_none_or(|&param| program.vars[param].width == SIGNAL);
    takes_signal && matches!(params.len(), 0 | 1 | 3)
}

/// The object that an address with a constant base leads to.
fn written(program: &Program, address: cfa::ExprId) -> Option<GlobalId> {
    match *program.exprs.get(program.exprs.base_and_offset(address).0) {
        Expr::GlobalAddr(global) => Some(global),
        _ => None,
    }
}
