//! Execution: what one operation does to a state.
//!
//! A state is one path of the program: variables and memory over symbols, and a path condition on the symbols (King,
//! Symbolic execution and program testing, CACM 1976). What is concrete is computed on machine words; a term or a query is
//! made only for what depends on inputs. A step gives successors and faults: states in which C does not define what the
//! operation does. Nothing here knows of precisions, loops, properties or taints; who asks says which of the faults are errors,
//! which can be followed, and which end a path.

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
pub use inputs::runnable;
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

/// Where a successor stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum At {
    /// At the target of the edge.
    Target,
    /// Still at its source: a case split that has to execute the edge again.
    Source,
    /// At the entry of a callee, whose frame has been entered.
    Callee(FuncId),
}

/// How states are computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mode {
    /// What nothing is known of is named by a symbol; else it is [`Val::Unknown`], and states hold no terms.
    pub names_unknowns: bool,
    /// States are abstract: what has no value may have been forgotten, and trails keep the decisions of a path.
    pub is_abstract: bool,
    /// Calls of functions that only compute may be answered at once.
    pub skips_calls: bool,
}

/// What an operation did to an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Write {
    pub object: ObjId,
    pub origin: Origin,
    pub frees: bool,
}

/// Bytes that were read before they were written, and the symbol that stands for them from then on.
#[derive(Clone, Copy, Debug)]
pub struct Unwritten {
    pub object: ObjId,
    pub origin: Origin,
    pub offset: u64,
    pub len: u32,
    pub symbol: ExprId,
}

/// What all paths share.
pub struct Execution<'p> {
    pub program: &'p Program,
    pub terms: Terms,
    pub slots: Slots,
    pub solver: PathSolver,
    pub mode: Mode,
    /// States may have list segments in memory.
    pub unfolds: bool,
    /// Operations that free memory may be missing in the program, so that objects of the heap which seem to live at the same
    /// time may have the same address.
    pub lacks_frees: bool,
    /// Of the step under way.
    faults: Vec<Fault>,
    /// Variables that were read though no operation writes them, since someone looked.
    pub unset: Vec<VarId>,
    /// What operations wrote since someone looked, if someone does.
    pub writes: Option<Vec<Write>>,
    /// The same for bytes read before they were written.
    pub unwritten: Option<Vec<Unwritten>>,
    live: liveness::LiveVariables,
    /// Functions that may call themselves.
    recursive: Vec<bool>,
    /// Functions whose addresses the program takes.
    taken: Vec<FuncId>,
    pure: Option<pure::PureCalls>,
}

impl<'p> Execution<'p> {
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

    /// The state in which the program begins.
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
            let VarKind::Global { init } = self.program.vars[var].kind else { unreachable!("a global slot") };
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

    /// What operations wrote since the last call, if that is kept.
    #[inline]
    pub fn take_writes(&mut self) -> Vec<Write> {
        self.writes.as_mut().map_or(Vec::new(), std::mem::take)
    }

    /// An operation writes to an object, or frees it.
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

/// The objects of an origin in the words of the C program.
pub fn describe_object(program: &Program, origin: Origin) -> String {
    match origin {
        Origin::Global(g) | Origin::GlobalShadow(g) if program.globals[g].name.is_empty() => "a constant".into(),
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
