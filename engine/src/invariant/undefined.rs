//! Undefined functions. A call of one may write and free what it can reach, and call functions that it can reach.

use super::fixpoint::contexts::Contexts;
use cfa::graph::Digraph;
use cfa::{Callee, EdgeId, FuncId, FunctionOrigin, Harm, Id, Op, Program};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;
use slicer::pointer::{Location, ObjectId, PointsTo};

/// The front-end's function that runs the `atexit` handlers and destructors. Undefined functions may end the program.
pub const AT_EXIT: &str = "__proviso_exit_handlers";

/// The effects of all undefined functions of a program.
pub struct UndefinedFunctions {
    /// The objects that they may write or free.
    pub reachable: Vec<ObjectId>,
    /// The functions that they may call, ascending.
    pub called: Vec<FuncId>,
    /// By function: true if a call of it may lead to a call of an undefined function, and that to another call of it.
    pub reentered: FixedBitSet,
}

impl UndefinedFunctions {
    /// No undefined functions.
    pub fn none() -> Self {
        Self { reachable: Vec::new(), called: Vec::new(), reentered: FixedBitSet::new() }
    }

    /// The undefined functions that a program may call. `points_to` is of the original.
    pub fn find(contexts: &Contexts, points_to: &PointsTo) -> Self {
        let program = &contexts.program;
        let mut reachable: Vec<ObjectId> =
            points_to.external().into_iter().map(|Location { object, .. }| object).collect();
        reachable.sort_unstable();
        reachable.dedup();
        let mut callees = vec![Vec::new(); program.funcs.len()];
        let (mut undefined, mut called) = (Vec::new(), Vec::new());
        for (id, edge) in program.edges.iter() {
            let by_program = || points_to.callees(contexts.origin[id.index()]).iter().copied();
            match edge.op {
                Op::Call { callee: Callee::Direct(callee), .. } => callees[program.func_of(id).index()].push(callee),
                Op::Call { .. } => callees[program.func_of(id).index()].extend(by_program()),
                Op::Approx { .. } if is_undefined_call(program, id) => {
                    undefined.push(program.func_of(id));
                    called.extend(by_program());
                }
                _ => {}
            }
        }
        if !undefined.is_empty() {
            called.extend(program.func_by_name(AT_EXIT));
        }
        called.sort_unstable();
        called.dedup();
        let calls = callees.iter().zip(0..).flat_map(|(callees, f)| callees.iter().map(move |g| (f, g.0)));
        let by_undefined = undefined.iter().flat_map(|f| called.iter().map(|g| (f.0, g.0)));
        let graph = Digraph::new(program.funcs.len(), &calls.chain(by_undefined).collect::<Vec<_>>());
        let components = graph.components();
        let of_undefined: FxHashSet<u32> = undefined.iter().map(|f| components.component(f.0)).collect();
        let is_reentered =
            |f: &FuncId| components.on_cycle(&graph, f.0) && of_undefined.contains(&components.component(f.0));
        let reentered = program.funcs.ids().filter(is_reentered).map(FuncId::index).collect();
        Self { reachable, called, reentered }
    }
}

/// True for an edge that represents the effects of an undefined function that ends before the program goes on.
pub fn is_undefined_call(program: &Program, edge: EdgeId) -> bool {
    let is_bounded = |taint| program.taints[taint].under && program.taints[taint].harm() == Harm::Bounded;
    program.funcs[program.func_of(edge)].origin == FunctionOrigin::Undefined
        && matches!(program.edges[edge].op, Op::Approx { taint } if is_bounded(taint))
}
