//! Explains to the user where an unresolved pointer comes from, and how to rule the fault out.

use super::fault::{Fault, FaultKind};
use super::memory::Origin;
use super::state::{Event, State};
use super::value::Val;
use super::{Execution, describe_object};
use crate::verdict::{Reason, ReasonKind};
use cfa::{Callee, EdgeId, ExprId, FunctionOrigin, InputKind, Op, PlaceId, Program, VarId};

const INITIALISE: &str = "initialising it rules this out";
const ASSUME: &str = "an assumption about its target rules this out: __VERIFIER_assume(p == &object)";
const CALLER: &str = "a caller that creates its objects rules this out: a function in C for --entry";

/// The origin of the pointer that the operation at `edge` uses in a fault, with a remedy. `None` if it is not known.
pub fn origin(ex: &mut Execution, fault: &Fault, edge: EdgeId) -> Option<Reason> {
    if let Some(object) = fault.object {
        let origin = fault.state.memory.get(object)?.origin;
        let object = describe_object(ex.program, origin);
        let text = format!(
            "the pointer points into {object}: an assumption about its offset rules this out; \
                                --check address checks whether it is an error"
        );
        return Some(Reason::at(text, place_of(ex.program, origin)).of_kind(ReasonKind::Stated));
    }
    let pointer = match fault.kind {
        FaultKind::UnknownPointer(pointer) | FaultKind::DerivedPointer(pointer) => pointer,
        FaultKind::InvalidPointer | FaultKind::UndefinedPointer => {
            let pointer = pointer_of(&ex.program.edges[edge].op)?;
            match ex.eval(&fault.state, pointer) {
                Val::Expr(pointer) => pointer,
                Val::Int(number) => {
                    let text = format!(
                        "the pointer is the number {number:#x}, which is not the address of an object of the program"
                    );
                    return Some(Reason::at(text, ex.program.edges[edge].place));
                }
                Val::Ptr(..) | Val::Unset | Val::Unknown => return None,
            }
        }
        _ => return None,
    };
    let reason = origin_of_term(ex, &fault.state, pointer)?;
    let place = reason.place.or(ex.program.edges[edge].place);
    Some(Reason { kind: ReasonKind::Stated, place, ..reason })
}

fn origin_of_term(ex: &Execution, st: &State, pointer: ExprId) -> Option<Reason> {
    let symbols = ex.terms.symbols_of(pointer);
    let events = st.trail.events(|_| true).into_iter().chain(st.trail.events(|_| false));
    events.into_iter().find_map(|event| match event {
        Event::Unknown { object, symbol, .. } if symbols.contains(&symbol) => {
            let origin = st.memory.get(object)?.origin;
            let text = format!("the pointer was read from {}", describe_object(ex.program, origin));
            let why = match is_given(ex.program, origin) {
                true => format!(", which is reachable from an argument and may contain any value; {CALLER}"),
                false => format!(", where nothing was written before; {INITIALISE}"),
            };
            Some(Reason::at(text + &why, place_of(ex.program, origin)))
        }
        Event::Global { var, symbol } if symbols.contains(&symbol) => {
            let name = ex.program.vars[var].name.as_deref().unwrap_or("a variable");
            let text = format!(
                "the pointer is the initial value of `{name}`, which is not defined; \
                                    a definition rules this out"
            );
            Some(Reason::at(text, ex.program.vars[var].place))
        }
        Event::Input { symbol, edge } if symbols.contains(&symbol) => Some(origin_of_input(ex.program, edge)),
        _ => None,
    })
}

fn origin_of_input(program: &Program, edge: EdgeId) -> Reason {
    let Op::Havoc { var, input } = program.edges[edge].op else {
        return Reason::at("the pointer is a missing argument or result of a call", program.edges[edge].place);
    };
    let text = match &program.inputs[input].kind {
        InputKind::Uninit(Some(name)) => {
            format!("the pointer comes from `{name}`, which is not initialised; {INITIALISE}")
        }
        InputKind::Uninit(None) => format!("the pointer comes from uninitialised memory; {INITIALISE}"),
        InputKind::Nondet(name) => format!("the pointer comes from {name}(), which may return any value; {ASSUME}"),
        InputKind::Environment(name) => {
            format!("the pointer comes from {name}, which may provide any value; {ASSUME}")
        }
        InputKind::Argument(name) => {
            format!("the pointer comes from argument {name}, which may have any value; {CALLER}")
        }
        InputKind::Global(name) => {
            format!("the pointer comes from {name}, which may have any initial value; {ASSUME}")
        }
        InputKind::Unmodelled(name) => {
            format!(
                "the pointer comes from {name}, which is not defined; a stub rules this out: --undefined-functions FILE"
            )
        }
    };
    Reason::at(text, place_of_variable(program, var).or(program.inputs[input].place).or(program.edges[edge].place))
}

/// True if the entry function's arguments point to such objects: `--entry` creates them.
fn is_given(program: &Program, origin: Origin) -> bool {
    let Origin::Heap(edge) = origin else { return false };
    let func = program.func_of(edge);
    program.edges[edge].place.is_none() && program.funcs[func].origin == FunctionOrigin::Model
}

fn place_of(program: &Program, origin: Origin) -> Option<PlaceId> {
    match origin {
        Origin::Global(global) | Origin::GlobalShadow(global) => program.globals[global].place,
        Origin::Stack(edge) | Origin::Heap(edge) | Origin::AllocShadow(edge) => {
            let edge = &program.edges[edge];
            edge.op.def().and_then(|var| place_of_variable(program, var)).or(edge.place)
        }
    }
}

/// The declaration of a variable; `None` for a variable without a name.
fn place_of_variable(program: &Program, var: VarId) -> Option<PlaceId> {
    let var = &program.vars[var];
    var.name.as_ref().and(var.place)
}

/// The pointer through which an operation accesses memory or calls a function, if it has one.
fn pointer_of(op: &Op) -> Option<ExprId> {
    match *op.unshadowed() {
        Op::Load { addr, .. } | Op::Store { addr, .. } => Some(addr),
        Op::Fill { dst, .. } => Some(dst),
        Op::Free { ptr, .. } | Op::ObjectSize { ptr, .. } | Op::ObjectOffset { ptr, .. } => Some(ptr),
        Op::Call { callee: Callee::Indirect(pointer), .. } => Some(pointer),
        _ => None,
    }
}
