//! The state of one path.

use super::At;
use super::memory::Memory;
use super::value::{ObjId, Val};
use cfa::{EdgeId, ExprId, FuncId, Id, Program, SymId, VarId, VarKind};
use smt::PathCondition;
use std::rc::Rc;

/// Where a variable lives in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot(u32);

impl Slot {
    const GLOBAL: u32 = 1 << 31;
    #[inline]
    pub fn global(self) -> Option<usize> {
        (self.0 & Self::GLOBAL != 0).then_some((self.0 & !Self::GLOBAL) as usize)
    }
    #[inline]
    pub fn local(self) -> usize {
        self.0 as usize
    }
}

/// The places of all variables: globals in one row, locals in a row per function.
pub struct Slots {
    pub of_var: Vec<Slot>,
    pub globals: Vec<VarId>,
    /// Per function.
    pub locals: Vec<Vec<VarId>>,
}

impl Slots {
    pub fn new(program: &Program) -> Self {
        let mut slots = Self { of_var: Vec::new(), globals: Vec::new(), locals: vec![Vec::new(); program.funcs.len()] };
        for (id, var) in program.vars.iter() {
            let slot = match var.kind {
                VarKind::Global { .. } => {
                    slots.globals.push(id);
                    Slot(Slot::GLOBAL | (slots.globals.len() - 1) as u32)
                }
                VarKind::Local(f) | VarKind::Param(f) | VarKind::Temp(f) => {
                    let row = &mut slots.locals[f.index()];
                    row.push(id);
                    Slot((row.len() - 1) as u32)
                }
            };
            slots.of_var.push(slot);
        }
        slots
    }
}

/// The activation of a function.
#[derive(Clone)]
pub struct Frame {
    pub func: FuncId,
    pub vars: Vec<Val>,
    /// Objects that die with the frame.
    pub objects: Vec<ObjId>,
    pub caller: Option<Rc<Frame>>,
    /// The caller's edge, if there is a caller.
    pub call: Option<EdgeId>,
    /// Frames below this one.
    pub depth: u32,
}

impl Drop for Frame {
    /// Iterative: recursion in the program may be deep.
    fn drop(&mut self) {
        let mut next = self.caller.take();
        while let Some(frame) = next {
            match Rc::try_unwrap(frame) {
                Ok(mut frame) => next = frame.caller.take(),
                Err(_) => break,
            }
        }
    }
}

/// Where a path had a choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// The assume edge taken.
    Branch(EdgeId),
    /// The function that a call through a pointer enters.
    Callee(FuncId),
}

/// Something that the path took from its environment, in the order of execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The value of a `Havoc` edge, of an argument that a call lacks, or of a result that a return lacks.
    Input { symbol: SymId, edge: EdgeId },
    /// `len` bytes of memory that was read before it was written.
    Unknown { object: ObjId, offset: u64, len: u32, symbol: SymId },
    /// The unknown bytes of an object whose content became this array.
    UnknownArray { object: ObjId, array: ExprId },
    /// Which way it went, where states are abstract.
    Decision(Decision),
    /// The initial value of a global variable that is defined elsewhere.
    Global { var: VarId, symbol: SymId },
}

/// A list that grows at its end and is shared between the paths of a fork.
#[derive(Clone, Default)]
pub struct Trail(Option<Rc<TrailNode>>);

struct TrailNode {
    step: TrailStep,
    before: Option<Rc<TrailNode>>,
}

enum TrailStep {
    Event(Event),
    /// Where two paths were merged: if the condition holds, this trail came before, otherwise `before`.
    Merge {
        cond: ExprId,
        if_true: Option<Rc<TrailNode>>,
    },
}

impl Trail {
    pub fn push(&mut self, event: Event) {
        self.0 = Some(Rc::new(TrailNode { step: TrailStep::Event(event), before: self.0.take() }));
    }
    /// The trail of two merged paths: this one if `cond` holds, `other` if not.
    pub fn merge(self, other: Self, cond: ExprId) -> Self {
        match (&self.0, &other.0) {
            (None, None) => self,
            (Some(a), Some(b)) if Rc::ptr_eq(a, b) => self,
            _ => Self(Some(Rc::new(TrailNode { step: TrailStep::Merge { cond, if_true: self.0 }, before: other.0 }))),
        }
    }
    /// In order of execution; `holds` tells which of two merged paths was taken.
    pub fn events(&self, mut holds: impl FnMut(ExprId) -> bool) -> Vec<Event> {
        let mut events = Vec::new();
        let mut node = &self.0;
        while let Some(n) = node {
            node = &n.before;
            match &n.step {
                TrailStep::Event(event) => events.push(*event),
                TrailStep::Merge { cond, if_true } => {
                    if holds(*cond) {
                        node = if_true;
                    }
                }
            }
        }
        events.reverse();
        events
    }
}

impl Drop for TrailNode {
    fn drop(&mut self) {
        fn release(node: &mut TrailNode, pending: &mut Vec<Rc<TrailNode>>) {
            pending.extend(node.before.take());
            if let TrailStep::Merge { if_true, .. } = &mut node.step {
                pending.extend(if_true.take());
            }
        }
        let mut pending = Vec::new();
        release(self, &mut pending);
        while let Some(node) = pending.pop() {
            if let Ok(mut node) = Rc::try_unwrap(node) {
                release(&mut node, &mut pending);
            }
        }
    }
}

/// One path: the values of variables and memory over symbols, and the condition on the symbols.
#[derive(Clone)]
pub struct State {
    pub globals: Rc<Vec<Val>>,
    pub frame: Rc<Frame>,
    pub memory: Memory,
    pub pc: PathCondition,
    pub trail: Trail,
    /// Objects about whose addresses `pc` says what holds of every address.
    pub exposed: Rc<Vec<ObjId>>,
    /// What is known of all cells of arrays, and its instances in the path condition.
    pub quantified: Rc<Vec<Rc<Quantified>>>,
    pub instances: Rc<Vec<ExprId>>,
}

/// What holds whatever value its symbol `index` has.
#[derive(PartialEq, Eq, Debug)]
pub struct Quantified {
    /// One bit.
    pub formula: ExprId,
    pub index: ExprId,
    /// The arrays whose cells it speaks of.
    pub rows: Vec<Row>,
}

/// Cells of an array: the offset of the first, bytes from one to the next, and bytes of one.
#[derive(PartialEq, Eq, Debug)]
pub struct Row {
    pub array: ExprId,
    pub first: u64,
    pub stride: u64,
    pub len: u32,
}

/// What became of the states before an operation.
pub type Successors = Vec<(State, At)>;
