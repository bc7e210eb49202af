//! The state of one path, its frames, and its trail of inputs.

use super::At;
use super::memory::Memory;
use super::value::{ObjId, Val};
use cfa::{EdgeId, ExprId, FuncId, Id, Program, SymId, VarId, VarKind};
use smt::PathCondition;
use std::rc::Rc;

/// The index of a variable in a state: in the globals, or in the locals of its frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot(u32);

impl Slot {
    const GLOBAL: u32 = 1 << 31;
    /// The index among the globals; `None` for a local variable.
    #[inline]
    pub fn global(self) -> Option<usize> {
        (self.0 & Self::GLOBAL != 0).then_some((self.0 & !Self::GLOBAL) as usize)
    }
    /// The index among the locals of a frame. Meaningless for a global variable.
    #[inline]
    pub fn local(self) -> usize {
        self.0 as usize
    }
}

/// The slots of all variables. Globals share one table; each function has a table of locals.
pub struct Slots {
    /// The slot of each variable.
    pub of_var: Vec<Slot>,
    /// The global variables in the order of their slots.
    pub globals: Vec<VarId>,
    /// The local variables of each function in the order of their slots.
    pub locals: Vec<Vec<VarId>>,
}

impl Slots {
    /// Assigns a slot to every variable of the program.
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
    /// The function.
    pub func: FuncId,
    /// The values of its locals, by slot.
    pub vars: Vec<Val>,
    /// The stack objects that die with the frame.
    pub objects: Vec<ObjId>,
    /// The frame of the caller; `None` for the entry function.
    pub caller: Option<Rc<Frame>>,
    /// The call edge in the caller; `None` for the entry function.
    pub call: Option<EdgeId>,
    /// The number of frames below this one.
    pub depth: u32,
}

impl Drop for Frame {
    /// Drops the callers in a loop, because a recursive drop of a deep call stack overflows the stack.
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

/// A choice that a path made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// The assume edge that the path took.
    Branch(EdgeId),
    /// The function that an indirect call entered.
    Callee(FuncId),
}

/// An input or a decision of a path. A trail lists them in the order of execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The value of a `Havoc` edge, of a missing argument, or of a missing return value.
    Input { symbol: SymId, edge: EdgeId },
    /// `len` bytes of memory that was read before it was written.
    Unknown { object: ObjId, offset: u64, len: u32, symbol: SymId },
    /// The unknown bytes of an object whose content became this array.
    UnknownArray { object: ObjId, array: ExprId },
    /// A branch or callee that the path chose. Recorded for abstract states only.
    Decision(Decision),
    /// The initial value of a global variable that the program does not define.
    Global { var: VarId, symbol: SymId },
}

/// A persistent list of events. Forked paths share their common prefix.
#[derive(Clone, Default)]
pub struct Trail(Option<Rc<TrailNode>>);

/// A node of the list of events.
struct TrailNode {
    step: TrailStep,
    before: Option<Rc<TrailNode>>,
}

/// An event or a merge of paths.
enum TrailStep {
    Event(Event),
    /// The merge of two paths. If `cond` holds, the trail continues backwards at `if_true`, otherwise at `before`.
    Merge {
        cond: ExprId,
        if_true: Option<Rc<TrailNode>>,
    },
}

impl Trail {
    /// Appends an event.
    pub fn push(&mut self, event: Event) {
        self.0 = Some(Rc::new(TrailNode { step: TrailStep::Event(event), before: self.0.take() }));
    }
    /// The trail of a merged path: this trail if `cond` holds, otherwise `other`.
    pub fn merge(self, other: Self, cond: ExprId) -> Self {
        match (&self.0, &other.0) {
            (None, None) => self,
            (Some(a), Some(b)) if Rc::ptr_eq(a, b) => self,
            _ => Self(Some(Rc::new(TrailNode { step: TrailStep::Merge { cond, if_true: self.0 }, before: other.0 }))),
        }
    }
    /// The events in the order of execution. `holds` evaluates the condition of a merge.
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

/// The state of one path: variables and memory over symbols, and the path condition on the symbols.
#[derive(Clone)]
pub struct State {
    /// The values of the global variables, by slot.
    pub globals: Rc<Vec<Val>>,
    /// The frame of the current function.
    pub frame: Rc<Frame>,
    /// The memory.
    pub memory: Memory,
    /// The path condition.
    pub pc: PathCondition,
    /// The inputs and decisions of the path.
    pub trail: Trail,
    /// Objects whose addresses `pc` constrains (see [`expose`](super::Execution::expose)).
    pub exposed: Rc<Vec<ObjId>>,
    /// Universally quantified facts about array cells.
    pub quantified: Rc<Vec<Rc<Quantified>>>,
    /// The instances of `quantified` that are in the path condition.
    pub instances: Rc<Vec<ExprId>>,
}

impl State {
    /// The frames, top first.
    pub fn frames(&self) -> impl Iterator<Item = &Rc<Frame>> {
        std::iter::successors(Some(&self.frame), |f| f.caller.as_ref())
    }

    /// Copies and changes all frames.
    pub fn change_frames(&mut self, mut change: impl FnMut(&mut Frame)) {
        let all: Vec<Rc<Frame>> = self.frames().cloned().collect();
        for frame in all.into_iter().rev() {
            let mut new = Frame::clone(&frame);
            new.caller = (frame.depth > 0).then(|| Rc::clone(&self.frame));
            change(&mut new);
            self.frame = Rc::new(new);
        }
    }

    /// Applies `map` to the values of variables and memory cells.
    pub fn map_values(&mut self, mut map: impl FnMut(Val) -> Val) {
        let mut changes = |values: &[Val]| values.iter().any(|&v| map(v) != v);
        let (globals, locals) = (changes(&self.globals), self.frames().any(|f| changes(&f.vars)));
        if globals {
            Rc::make_mut(&mut self.globals).iter_mut().for_each(|v| *v = map(*v));
        }
        if locals {
            self.change_frames(|frame| frame.vars.iter_mut().for_each(|v| *v = map(*v)));
        }
        self.memory.map_cells(map);
    }
}

/// A formula that holds for every value of its symbol `index`.
#[derive(PartialEq, Eq, Debug)]
pub struct Quantified {
    /// The formula, a term of one bit.
    pub formula: ExprId,
    /// The symbol that is universally quantified.
    pub index: ExprId,
    /// The arrays whose cells the formula constrains.
    pub rows: Vec<Row>,
}

/// The cells of an array, at equal distances.
#[derive(PartialEq, Eq, Debug)]
pub struct Row {
    /// The array term.
    pub array: ExprId,
    /// The offset of the first cell, in bytes.
    pub first: u64,
    /// The distance between the starts of two neighbouring cells, in bytes.
    pub stride: u64,
    /// The length of a cell, in bytes.
    pub len: u32,
}

/// The successors of a state under one operation, each with its control position.
pub type Successors = Vec<(State, At)>;
