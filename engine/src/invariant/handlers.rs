//! Signal handlers. A handler runs between any two operations of the program, so what it writes may change at any time.

use cfa::facts::returning;
use cfa::{
    CallGraph, Callee, EdgeId, Expr, ExprId, FuncId, FunctionOrigin, GlobalId, Harm, Id, LocId, Op, Program, Taint,
    VarId, VarKind,
};
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};
use slicer::pointer::{ObjectKind, PointsTo};

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

/// The model that runs the handler of a signal which the program sends itself.
const RUN_HANDLER: &str = "proviso_run_handler";

impl Handlers {
    /// No handlers.
    pub fn none() -> Self {
        let (vars, objects) = (FxHashSet::default(), FxHashSet::default());
        Self { functions: FixedBitSet::new(), vars, objects, is_known: true }
    }

    /// The handlers that a program installs. A handler that does not return writes nothing that other code reads.
    /// `points_to` is of this program.
    pub fn find(program: &Program, points_to: Option<&mut PointsTo>) -> Self {
        let mut this = Self { functions: FixedBitSet::with_capacity(program.funcs.len()), ..Self::none() };
        let installing = installing(program);
        if installing.is_empty() {
            return this;
        }
        let calls = CallGraph::new(program);
        let returning = returning(program);
        let jumps = program.taints.values().any(|taint| taint.harm() == Harm::Elsewhere);
        let handlers =
            installed(program, &calls, &installing, points_to).unwrap_or_else(|| calls.address_taken().to_vec());
        for func in handlers {
            let called = this.add(program, &calls, func);
            if returning.contains(func.index()) || jumps {
                called.into_iter().for_each(|func| this.add_writes(program, &calls, func));
            }
        }
        // Whether a function of the library runs a handler, or only makes the signal pending, is not known.
        if let Some(run) = program.func_by_name(RUN_HANDLER) {
            this.add_writes(program, &calls, run);
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
                    let table = || table(program, to).filter(|_| program.funcs[func].origin == FunctionOrigin::Model);
                    match written(program, to).or_else(table) {
                        Some(global) => _ = self.objects.insert(global),
                        None => self.is_known = false,
                    }
                }
                Op::Call { callee: Callee::Indirect(_), .. } if calls.callees(program, id).as_slice().is_empty() => {
                    self.is_known = false;
                }
                Op::Alloc { .. } | Op::Free { .. } => self.is_known = false,
                Op::Approx { taint } if program.taints[taint].under => self.is_known = false,
                _ => {}
            }
        }
    }
}

/// The width of the number of a signal in bits.
const SIGNAL: u32 = 32;

/// The edges that represent calls of functions that install handlers, or let one run.
fn installing(program: &Program) -> Vec<(EdgeId, &Taint)> {
    let edges = program.edges.iter();
    let taints = edges.filter_map(|(id, edge)| match edge.op {
        Op::Approx { taint } => Some((id, &program.taints[taint])),
        _ => None,
    });
    taints.filter(|(_, taint)| taint.under && taint.harm() == Harm::Handlers).collect()
}

/// The handlers, ascending; `None` if they are not known.
fn installed(
    program: &Program,
    calls: &CallGraph,
    installing: &[(EdgeId, &Taint)],
    mut points_to: Option<&mut PointsTo>,
) -> Option<Vec<FuncId>> {
    let arguments = Arguments::new(program);
    let mut found = Vec::new();
    for &(edge, taint) in installing.iter().filter(|(_, taint)| !taint.installs_no_handler()) {
        let handler = arguments.handler(edge, taint)?;
        let Some(points_to) = &mut points_to else {
            found.extend(constants(program, calls, program.func_of(edge), handler)?);
            continue;
        };
        // The set of a function that is never called is empty.
        for location in points_to.points_to(handler) {
            match points_to.objects[location.object].kind {
                ObjectKind::Func(func) => found.push(func),
                ObjectKind::Global(_) | ObjectKind::Alloc(_) => {}
                _ => return None,
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    Some(found)
}

/// The functions that a handler in a function may be, if it is a constant, or a parameter and all calls pass constants.
fn constants(program: &Program, calls: &CallGraph, within: FuncId, handler: ExprId) -> Option<Vec<FuncId>> {
    let values = match *program.exprs.get(handler) {
        Expr::Var(var) => {
            let parameter = program.funcs[within].params.iter().position(|&param| param == var)?;
            let is_assigned = |(_, edge): (EdgeId, &cfa::Edge)| edge.op.def() == Some(var);
            if calls.address_taken().contains(&within) || program.edges.iter().any(is_assigned) {
                return None;
            }
            let argument = |call: EdgeId| match &program.edges[call].op {
                Op::Call { callee: Callee::Direct(_), args, .. } => args.get(parameter).copied(),
                _ => None,
            };
            calls.callers(within).map(argument).collect::<Option<Vec<_>>>()?
        }
        _ => vec![handler],
    };
    let mut found = Vec::new();
    for value in values {
        if !program.exprs.vars(value).is_empty() {
            return None;
        }
        program.exprs.visit(value, &mut FxHashSet::default(), |_, node| {
            found.extend(match node {
                Expr::FuncAddr(func) => Some(*func),
                _ => None,
            });
        });
    }
    Some(found)
}

/// The arguments of functions that install handlers. The front-end assigns them to temporaries before the edge that
/// represents the call: the number of the signal, then the handler.
struct Arguments<'p> {
    program: &'p Program,
    /// The variables that are never read.
    unused: FixedBitSet,
    incoming: FxHashMap<LocId, Vec<EdgeId>>,
}

impl<'p> Arguments<'p> {
    fn new(program: &'p Program) -> Self {
        let mut unused = FixedBitSet::with_capacity(program.vars.len());
        unused.insert_range(..);
        let mut incoming: FxHashMap<LocId, Vec<EdgeId>> = FxHashMap::default();
        for (id, edge) in program.edges.iter() {
            incoming.entry(edge.target).or_default().push(id);
            edge.op.for_each_expr(|e| program.exprs.vars(e).iter().for_each(|var| unused.set(var.index(), false)));
        }
        Self { program, unused, incoming }
    }

    /// The handler that an edge with this taint installs; `None` if it is not known.
    fn handler(&self, edge: EdgeId, taint: &Taint) -> Option<ExprId> {
        let (before, width, handler) = self.assigned_before(self.program.edges[edge].source, taint)?;
        let (_, of_signal, _) = self.assigned_before(before, taint)?;
        (width == self.program.layout.pointer_width && of_signal == SIGNAL).then_some(handler)
    }

    /// The assignment of an argument before `to`: its source, and the width and value of the argument.
    fn assigned_before(&self, to: LocId, taint: &Taint) -> Option<(LocId, u32, ExprId)> {
        let &[edge] = self.incoming.get(&to)?.as_slice() else { return None };
        let edge = &self.program.edges[edge];
        let Op::Assign { var, value } = edge.op else { return None };
        let kind = &self.program.vars[var].kind;
        let is_argument =
            self.unused.contains(var.index()) && matches!(kind, VarKind::Temp(_)) && edge.place == taint.place;
        is_argument.then_some((edge.source, self.program.vars[var].width, value))
    }
}

/// The only global object whose address is a part of an address. Library models use their own tables within bounds.
fn table(program: &Program, address: ExprId) -> Option<GlobalId> {
    let mut found = FxHashSet::default();
    program.exprs.visit(address, &mut FxHashSet::default(), |_, node| {
        if let Expr::GlobalAddr(global) = node {
            found.insert(*global);
        }
    });
    let mut found = found.into_iter();
    found.next().filter(|_| found.next().is_none())
}

/// The object that an address with a constant base leads to.
fn written(program: &Program, address: ExprId) -> Option<GlobalId> {
    match *program.exprs.get(program.exprs.base_and_offset(address).0) {
        Expr::GlobalAddr(global) => Some(global),
        _ => None,
    }
}
