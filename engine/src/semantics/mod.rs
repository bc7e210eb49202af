//! Symbolic execution: the effect of one operation on a path state.
//!
//! A state describes one path of the program: variables and memory over symbols, and a path condition on the symbols
//! (King, Symbolic execution and program testing, CACM 1976). Concrete values are computed on machine words. The
//! execution builds terms and queries the solver only for values that depend on inputs.
//!
//! A step returns successors and faults. A fault is a state in which C leaves the effect of the operation undefined.
//! The caller decides which faults are errors, which it continues from, and which end a path. This module knows no
//! precision, loop, property or taint.

mod addresses;
mod array;
mod assume;
mod blocks;
mod call;
mod content;
pub mod control;
mod decide;
mod eval;
mod fault;
mod inputs;
mod join;
mod leak;
mod liveness;
mod memory;
mod operation;
mod order;
mod origin;
mod paged;
mod pointer;
mod pure;
mod quantified;
mod segment;
mod state;
mod terms;
mod value;

pub use addresses::range;
pub use array::make as make_array;
pub use decide::Split;
pub use fault::Fault;
pub use inputs::model_with_small_objects;
pub use memory::{Link, Summary};
pub use memory::{Memory, Object, Origin, PART, Part, Piece};
pub use origin::origin;
pub use paged::Paged;
pub use segment::owned_by;
#[cfg(test)]
pub use segment::unfold;
pub use state::{Decision, Event, Frame, Quantified, Row, Slots, State, Successors, Trail};
pub use terms::Terms;
pub use value::{ObjId, Val, sign_extend};

use cfa::{CallGraph, EdgeId, ExprId, FuncId, Id, Program, VarId, VarKind};
use smt::{PathCondition, PathSolver};
use std::rc::Rc;

/// The control position of a successor state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum At {
    /// At the target of the edge.
    Target,
    /// At the source of the edge. The step has split the state, and has to execute the edge again.
    Source,
    /// At the entry of a callee, whose frame has been entered.
    Callee(FuncId),
}

/// Options of the execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mode {
    /// If true, an unknown value becomes a fresh symbol. If false, it is [`Val::Unknown`], and states hold no terms.
    pub names_unknowns: bool,
    /// If true, states are abstract: a variable without a value may have been forgotten, and trails record the branches
    /// that a path takes.
    pub is_abstract: bool,
    /// If true, a call of a recursive function without side effects may be replaced by its result (see `pure`).
    pub skips_calls: bool,
}

/// An object that an operation wrote or freed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Write {
    /// The object.
    pub object: ObjId,
    /// The allocation site of the object.
    pub origin: Origin,
    /// True if the operation ended the life of the object.
    pub frees: bool,
}

/// Bytes that were read before they were written. A fresh symbol represents them from then on.
#[derive(Clone, Copy, Debug)]
pub struct Unwritten {
    /// The object that holds the bytes.
    pub object: ObjId,
    /// The allocation site of the object.
    pub origin: Origin,
    /// The offset of the first byte.
    pub offset: u64,
    /// The number of bytes.
    pub len: u32,
    /// The symbol, of `8 * len` bits.
    pub symbol: ExprId,
}

/// The context that all paths share: program, terms, solver and options.
pub struct Execution<'p> {
    /// The program.
    pub program: &'p Program,
    /// The terms of all paths.
    pub terms: Terms,
    /// The slots of the program's variables.
    pub slots: Slots,
    /// The solver for path conditions.
    pub solver: PathSolver,
    /// The options.
    pub mode: Mode,
    /// If true, memory may contain list segments, which a load has to unfold.
    pub unfolds: bool,
    /// If true, the program may lack operations that free memory, as a slice does. Two heap objects that both seem to
    /// be alive may then have the same address.
    pub lacks_frees: bool,
    /// The faults of the current step.
    faults: Vec<Fault>,
    /// Variables that were read before they were written, since the caller last emptied this list.
    pub unset: Vec<VarId>,
    /// The writes since the last [`take_writes`](Self::take_writes). `None` if writes are not recorded.
    pub writes: Option<Vec<Write>>,
    /// Bytes read before they were written, since the caller last emptied this list. `None` if they are not recorded.
    pub unwritten: Option<Vec<Unwritten>>,
    live: liveness::LiveVariables,
    /// Functions that may call themselves.
    recursive: Vec<bool>,
    /// Functions whose addresses the program takes.
    taken: Vec<FuncId>,
    pure: Option<pure::PureCalls>,
}

impl<'p> Execution<'p> {
    /// An execution with symbols for unknown values, without abstraction and without recorded writes.
    pub fn new(program: &'p Program, solver: PathSolver) -> Self {
        let calls = CallGraph::new(program);
        let slots = Slots::new(program);
        Self {
            program,
            terms: Terms::new(program.exprs.clone(), program.layout.pointer_width),
            live: liveness::LiveVariables::new(program, &slots),
            slots,
            solver,
            mode: Mode { names_unknowns: true, is_abstract: false, skips_calls: true },
            unfolds: false,
            lacks_frees: false,
            faults: Vec::new(),
            unset: Vec::new(),
            writes: None,
            unwritten: None,
            recursive: program.funcs.ids().map(|f| calls.is_recursive(f) && calls.is_reachable(f)).collect(),
            taken: calls.address_taken().to_vec(),
            pure: None,
        }
    }

    /// The initial state: all globals hold their initial values, and the frame is that of the entry function.
    pub fn initial(&mut self) -> State {
        let has_shadows = self.program.edges.values().any(|e| matches!(e.op, cfa::Op::Shadow(_)));
        let mut memory = Memory::new(has_shadows);
        for (id, global) in self.program.globals.iter() {
            let mut object =
                Object::new(Val::Int(global.size), global.align, Origin::Global(id), global.init.is_some());
            object.read_only = global.read_only;
            if let Some(init) = &global.init {
                object.write_bytes(0, &init.bytes);
            }
            let object = memory.allocate(object);
            debug_assert_eq!(object.0, id.0);
        }
        let frame = Frame {
            func: self.program.entry,
            vars: vec![Val::Unset; self.slots.locals[self.program.entry.index()].len()],
            objects: Vec::new(),
            caller: None,
            call: None,
            depth: 0,
        };
        let mut st = State {
            globals: Rc::new(vec![Val::Unset; self.slots.globals.len()]),
            frame: Rc::new(frame),
            memory,
            pc: PathCondition::new(),
            trail: Trail::default(),
            exposed: Rc::new(Vec::new()),
            quantified: Rc::new(Vec::new()),
            instances: Rc::new(Vec::new()),
        };
        for (id, global) in self.program.globals.iter() {
            for &(offset, e) in global.init.iter().flat_map(|i| &i.pointers) {
                let width = self.terms.width(e);
                let value = self.eval(&st, e);
                self.write(&mut st, ObjId(id.0), offset, width.div_ceil(8), value);
            }
        }
        for var in self.slots.globals.clone() {
            let VarKind::Global { init, .. } = self.program.vars[var].kind else { unreachable!("a global slot") };
            let value = match init {
                Some(e) => self.eval(&st, e),
                None if !self.mode.names_unknowns => Val::Unknown,
                None => {
                    let width = self.program.vars[var].width;
                    let (symbol, e) = self.terms.fresh_symbol(cfa::Sort::Bv(width));
                    st.trail.push(Event::Global { var, symbol });
                    Val::Expr(e)
                }
            };
            self.write_var(&mut st, var, value);
        }
        st
    }

    /// Returns and clears the recorded writes. Returns nothing if writes are not recorded.
    #[inline]
    pub fn take_writes(&mut self) -> Vec<Write> {
        self.writes.as_mut().map_or(Vec::new(), std::mem::take)
    }

    /// Records that an operation writes to an object, or frees it.
    fn note(&mut self, st: &State, object: ObjId, frees: bool) {
        if let Some(writes) = &mut self.writes {
            let origin = st.memory.get(object).expect("a live object").origin;
            let write = Write { object, origin, frees };
            if writes.last() != Some(&write) {
                writes.push(write);
            }
        }
    }
}

/// A description of an object for the user: its name in the C program, if it has one.
pub fn describe_object(program: &Program, origin: Origin) -> String {
    match origin {
        Origin::Global(g) | Origin::GlobalShadow(g) if program.globals[g].name.is_empty() => "a constant".into(),
        // Objects of the library models have no names in C.
        Origin::Global(g) | Origin::GlobalShadow(g) if program.globals[g].name.starts_with("proviso_") => {
            "an object of the C library".into()
        }
        Origin::Global(g) | Origin::GlobalShadow(g) => format!("`{}`", program.globals[g].name),
        Origin::Stack(edge) | Origin::Heap(edge) | Origin::AllocShadow(edge) => describe_allocation(program, edge),
    }
}

fn describe_allocation(program: &Program, edge: EdgeId) -> String {
    match program.edges[edge].op.def().and_then(|var| program.vars[var].name.as_deref()) {
        Some(name) => format!("`{name}`"),
        None => "an allocation".into(),
    }
}
