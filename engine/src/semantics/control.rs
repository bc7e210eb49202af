//! Control states: a location with a call stack. All analyses index their states by them.

use super::Decision;
use cfa::{Callee, EdgeId, FuncId, LocId, Op, Out, Program};
use rustc_hash::FxHashMap;

cfa::id_type!(
    /// An interned call stack.
    StackId, "stack"
);

/// A control state: a location and the call stack.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Control {
    /// The location.
    pub loc: LocId,
    /// The call stack.
    pub stack: StackId,
}

/// Interns call stacks. A stack is the caller's stack with a call edge.
pub struct CallStacks {
    frames: Vec<(StackId, EdgeId, u32)>,
    ids: FxHashMap<(StackId, EdgeId), StackId>,
}

impl CallStacks {
    /// The stack of the entry function.
    pub const EMPTY: StackId = StackId(0);

    /// Creates the table with the empty stack only.
    pub fn new() -> Self {
        Self { frames: vec![(StackId(0), EdgeId(u32::MAX), 0)], ids: FxHashMap::default() }
    }
    /// The stack for a call over the edge `call` from `stack`.
    pub fn push(&mut self, stack: StackId, call: EdgeId) -> StackId {
        let depth = self.depth(stack) + 1;
        *self.ids.entry((stack, call)).or_insert_with(|| {
            self.frames.push((stack, call, depth));
            StackId(self.frames.len() as u32 - 1)
        })
    }
    /// The caller's stack and the call edge; `None` for the stack of the entry function.
    #[inline]
    pub fn pop(&self, stack: StackId) -> Option<(StackId, EdgeId)> {
        (stack != Self::EMPTY).then(|| {
            let (caller, call, _) = self.frames[stack.0 as usize];
            (caller, call)
        })
    }
    /// The call edges of a stack, outermost first.
    pub fn calls(&self, mut stack: StackId) -> Vec<EdgeId> {
        let mut calls = Vec::with_capacity(self.depth(stack) as usize);
        while let Some((below, call)) = self.pop(stack) {
            calls.push(call);
            stack = below;
        }
        calls.reverse();
        calls
    }
    /// The number of calls on a stack.
    #[inline]
    pub fn depth(&self, stack: StackId) -> u32 {
        self.frames[stack.0 as usize].2
    }
}

impl Default for CallStacks {
    fn default() -> Self {
        Self::new()
    }
}

/// The control state after an edge. `enters` is the callee of an indirect call. Panics if that is missing.
pub fn following(
    program: &Program,
    stacks: &mut CallStacks,
    at: Control,
    edge: EdgeId,
    enters: Option<FuncId>,
) -> Control {
    let to = |loc: LocId| Control { loc, ..at };
    match &program.edges[edge].op {
        Op::Call { callee, .. } => {
            let func = match callee {
                Callee::Direct(func) => Some(*func),
                Callee::Indirect(_) => enters,
            };
            let func = func.expect("a path goes on from a call");
            Control { loc: program.funcs[func].entry, stack: stacks.push(at.stack, edge) }
        }
        Op::Return { .. } => match stacks.pop(at.stack) {
            Some((stack, call)) => Control { loc: program.edges[call].target, stack },
            None => to(program.edges[edge].target),
        },
        _ => to(program.edges[edge].target),
    }
}

/// The edges of the path from `at` to `to` that the decisions determine. Panics if the path needs a decision that is
/// missing.
pub fn walk(
    program: &Program,
    stacks: &mut CallStacks,
    mut at: Control,
    decisions: &[Decision],
    to: Control,
) -> Vec<EdgeId> {
    let mut decisions = decisions.iter();
    let mut via = Vec::new();
    loop {
        let edge = match program.locs[at.loc].out {
            Out::One(edge) => edge,
            Out::Branch { .. } => match decisions.next() {
                Some(&Decision::Branch(edge)) => edge,
                _ => unreachable!("each branch on the path was decided"),
            },
            Out::Sink => unreachable!("a path that goes on"),
        };
        via.push(edge);
        at = match &program.edges[edge].op {
            Op::Call { callee, .. } => {
                let func = match callee {
                    Callee::Direct(func) => *func,
                    Callee::Indirect(_) => match decisions.next() {
                        Some(&Decision::Callee(func)) => func,
                        _ => unreachable!("each call through a pointer was decided"),
                    },
                };
                Control { loc: program.funcs[func].entry, stack: stacks.push(at.stack, edge) }
            }
            Op::Return { .. } => {
                let (stack, call) = stacks.pop(at.stack).expect("a path that goes on");
                Control { loc: program.edges[call].target, stack }
            }
            _ => Control { loc: program.edges[edge].target, ..at },
        };
        if at == to {
            return via;
        }
    }
}
