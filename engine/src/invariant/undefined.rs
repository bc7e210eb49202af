//! Undefined functions. A call of one may write and free what it can reach, and call functions that it can reach.

use cfa::{Callee, EdgeId, FuncId, FunctionOrigin, Harm, Id, Op, Program};
use fixedbitset::FixedBitSet;
use slicer::pointer::{Location, ObjectId, PointsTo};

/// The effects of all undefined functions of a program.
pub struct UndefinedFunctions {
    /// The objects that they may write or free.
    pub reachable: Vec<ObjectId>,
    /// The functions that they may call, ascending.
    pub called: Vec<FuncId>,
    /// By function: true for the functions that they may call, and for all that these call.
    pub functions: FixedBitSet,
    /// True if they have no other effects.
    pub is_known: bool,
}

impl UndefinedFunctions {
    /// The undefined functions that a program may call. `points_to` is of this program.
    pub fn find(program: &Program, points_to: &PointsTo) -> Self {
        let mut this = Self {
            reachable: points_to.external().into_iter().map(|Location { object, .. }| object).collect(),
            called: Vec::new(),
            functions: FixedBitSet::with_capacity(program.funcs.len()),
            is_known: true,
        };
        this.reachable.dedup();
        let edges = program.edges.ids().filter(|&edge| is_undefined_call(program, edge));
        this.called = edges.flat_map(|edge| points_to.callees(edge)).copied().collect();
        this.called.sort_unstable();
        this.called.dedup();
        let mut edges_of = vec![Vec::new(); program.funcs.len()];
        for edge in program.edges.ids() {
            edges_of[program.func_of(edge).index()].push(edge);
        }
        let mut todo = this.called.clone();
        while let Some(func) = todo.pop() {
            if this.functions.put(func.index()) {
                continue;
            }
            for &edge in &edges_of[func.index()] {
                match program.edges[edge].op {
                    Op::Call { callee, .. } => {
                        let callees = points_to.callees(edge);
                        this.is_known &= !callees.is_empty() || matches!(callee, Callee::Direct(_));
                        todo.extend(callees);
                    }
                    Op::Approx { taint } if program.taints[taint].under => {
                        this.is_known &= match program.taints[taint].harm() {
                            Harm::Addresses | Harm::Included | Harm::Undefined | Harm::Elsewhere | Harm::Again => true,
                            Harm::Bounded => is_undefined_call(program, edge),
                            Harm::Handlers | Harm::Signals | Harm::Any => false,
                        };
                    }
                    _ => {}
                }
            }
        }
        this
    }
}

/// True for an edge that represents the effects of an undefined function that ends before the program goes on.
pub fn is_undefined_call(program: &Program, edge: EdgeId) -> bool {
    let is_bounded = |taint| program.taints[taint].under && program.taints[taint].harm() == Harm::Bounded;
    program.funcs[program.func_of(edge)].origin == FunctionOrigin::Undefined
        && matches!(program.edges[edge].op, Op::Approx { taint } if is_bounded(taint))
}
