//! The effects of library functions: their writes to the program's memory, and their inputs from the environment.

use super::Recorder;
use crate::environment::{self, CallResult, LibraryCall, MAX_TEXT, Written, text_at};
use crate::trace::names::with_character;
use crate::trace::{Event, InputValue, Write};
use cfa::interp::{ObjectSeq, State};
use cfa::{Bv, CType, EdgeId, Expr, ExprId, FuncId, Function, InputKind, Op, TypeId};

/// The functions that the macros of `ctype.h` and `errno.h` call.
const OF_MACROS: [&str; 4] = ["__ctype_b_loc", "__ctype_tolower_loc", "__ctype_toupper_loc", "__errno_location"];

/// The maximum number of contiguous writes of one call of a library function that are shown.
const MAX_WRITES: usize = 8;

/// A call of a library model that has not returned.
pub(super) struct Library {
    /// The number of stack frames while the call is the innermost one.
    pub(super) depth: usize,
    /// The call edge.
    pub(super) edge: EdgeId,
    /// The values of the arguments.
    pub(super) args: Vec<u64>,
    /// The strings that the arguments pointed to before the call, by argument.
    texts: Vec<Option<Vec<u8>>>,
    /// The names of pointers and the types that they point to, by argument. `None` if the argument is no pointer with a
    /// name.
    names: Vec<Option<(String, TypeId)>>,
    /// The values that the model took from the environment, in order, without the outcomes of allocations.
    pub(super) chosen: Vec<Bv>,
    /// The outcomes of the allocations in the model that may fail, in order. True if the allocation failed.
    pub(super) allocations: Vec<bool>,
    /// The writes of the model: addresses and lengths in bytes.
    pub(super) written: Vec<(u64, u64)>,
}

impl Recorder<'_> {
    /// Returns the name that the source has for the library function called here. A function that is internal to the
    /// models has no such name. For these, the function returns the word at the source position of the call.
    pub(super) fn called_here(&self, call: EdgeId, function: &Function) -> String {
        if !is_internal(function) {
            return called(function).to_owned();
        }
        let spot = self.in_user_code(call).and_then(|edge| self.spot(self.program.edges[edge].place));
        spot.and_then(|spot| self.sources.word(&spot)).unwrap_or_else(|| "the C library".to_owned())
    }

    /// Records the call of a library model by the user's code.
    pub(super) fn enter_library(&mut self, edge: EdgeId, args: &[ExprId], callee: FuncId, state: &State) {
        let params = &self.program.funcs[callee].params;
        let values: Vec<u64> = params.iter().map(|&p| state.var(p).and_then(|v| v.to_u64()).unwrap_or(0)).collect();
        let is_pointer = |e: ExprId| self.program.exprs.width(e) == self.program.layout.pointer_width;
        let name = |&arg: &ExprId| {
            let var = self.vars(arg).first().copied().filter(|_| is_pointer(arg))?;
            let (name, ty) = self.names.value(var, &self.frame().temporaries)?;
            let CType::Pointer(to) = *self.program.plain_type(ty) else { return None };
            let whole = matches!(self.program.exprs.get(arg), Expr::Var(_));
            // An address that is computed from the pointer may point to another type, unless the pointer points to
            // bytes.
            let known = whole || self.program.size_of(to) == Some(1);
            known.then(|| (if whole { name } else { format!("({name} + …)") }, to))
        };
        let texts = values.iter().map(|&at| text_at(state, at)).collect();
        self.library.push(Library {
            depth: self.frames.len() + 1,
            edge,
            args: values,
            texts,
            names: args.iter().map(name).collect(),
            chosen: Vec::new(),
            allocations: Vec::new(),
            written: Vec::new(),
        });
    }

    /// Records the return of a library model: its writes to the program's memory, and its inputs from the environment.
    pub(super) fn leave_library(&mut self, call: Library, value: Option<ExprId>, tainted: bool, state: &State) {
        let function = &self.program.funcs[self.frame().func];
        let result = value.map(|v| state.eval(v));
        let mut written = call.written.clone();
        written.sort_unstable();
        let mut pieces: Vec<(u64, u64)> = Vec::new();
        for (at, len) in written {
            match pieces.last_mut() {
                Some((start, size)) if at <= *start + *size => *size = (*size).max(at + len - *start),
                _ => pieces.push((at, len)),
            }
        }
        pieces.retain(|&(at, len)| state.object_at(at).is_some_and(|o| o.live && at + len <= o.base + o.size));
        let mut writes = Vec::new();
        for &(at, len) in pieces.iter().take(MAX_WRITES) {
            let base = |at: u64| state.object_at(at).map(|o| o.base);
            let named = call.args.iter().zip(&call.names).find(|(arg, _)| **arg <= at && base(**arg) == base(at));
            let hint = named.and_then(|(_, name)| name.as_ref()).map(|(name, to)| (name.as_str(), *to));
            if is_of_the_program(self, at, state) {
                let parts = self.names.written(at, len, state);
                let is_named =
                    hint.is_some() || state.object_at(at).is_some_and(|o| self.names.object(o.seq).is_some());
                let told = if is_named { self.names.region(at, len, state, hint) } else { None };
                let by_object = |w: &Write| (format!("{}{}", w.object, w.path), w.value.clone());
                writes.extend(told.or_else(|| parts.first().map(by_object)).map(|told| (told, parts)));
            }
        }
        if call.chosen.is_empty() && call.allocations.is_empty() {
            if self.frames.len() > 2 {
                for ((target, value), parts) in writes {
                    self.push(Event::Assign { target, value }, call.edge, tainted);
                    self.wrote(parts);
                }
            }
            return;
        }
        let (writes, parts): (Vec<_>, Vec<_>) = writes.into_iter().unzip();
        let spot = self.in_user_code(call.edge).and_then(|e| self.spot(self.program.edges[e].place));
        let ty = function.return_type;
        // An object that the environment provides is initialised, although no operation writes it.
        let object = result.as_ref().and_then(Bv::to_u64).and_then(|at| state.object_at(at));
        if let Some(object) = object.filter(|o| matches!(o.seq, ObjectSeq::Alloc(_)) && self.names.is_of_library(o.seq))
        {
            self.unwritten.retain(|byte| !(object.base..object.base + object.size).contains(byte));
        }
        let mut shown = result.as_ref().map_or_else(String::new, |r| self.names.show(ty, r, state));
        if let (Some(result), true) = (&result, environment::returns_a_character(called(function))) {
            shown = with_character(shown, result);
        }
        let through_argument = |&(at, len): &(u64, u64)| {
            let (arg, offset) = pointing(&call.args, at, state)?;
            Some(Written { arg, offset: u64::try_from(offset).ok()?, bytes: state.bytes(at, len as usize)? })
        };
        self.calls.push(LibraryCall {
            function: called(function).to_owned(),
            result: result_of(self, ty, result.as_ref(), &call.args, state),
            written: pieces.iter().filter_map(through_argument).collect(),
            args: call.args,
            texts: call.texts,
            chosen: call.chosen,
            allocations: call.allocations,
            errno: errno(self, state),
            spot: spot.clone(),
        });
        let is_used = matches!(self.program.edges[call.edge].op, Op::Call { result: Some(_), .. });
        let matters = is_used || !writes.is_empty();
        let index = self.inputs.len();
        self.inputs.push(InputValue {
            kind: InputKind::Environment(self.called_here(call.edge, function)),
            ty: crate::trace::types::name(self.program, ty),
            c_type: crate::trace::types::plain_name(self.program, ty),
            shown,
            value: result.unwrap_or_else(|| Bv::zero(1)),
            writes,
            spot: spot.clone(),
            function: self.function_of(call.edge).to_owned(),
        });
        if let Op::Call { result: Some(result), .. } = self.program.edges[call.edge].op {
            let name = self.names.variable(result).map(str::to_owned);
            self.fresh = name.is_none().then_some((result, self.next_step()));
            let value = self.names.variable_written(result, &self.inputs[index].shown, self.depth());
            self.push(Event::Input { index, into: name }, call.edge, matters);
            self.wrote(value);
        } else {
            self.push(Event::Input { index, into: None }, call.edge, matters);
        }
        self.wrote(parts.into_iter().flatten());
        self.steps.last_mut().expect("just pushed").spot = spot;
    }
}

/// Records the inputs that unfinished calls of library functions read from streams. The run ended in an error in these
/// calls.
pub(super) fn interrupt(recorder: &mut Recorder) {
    for call in std::mem::take(&mut recorder.library) {
        let Some(frame) = recorder.frames.get(call.depth - 1) else { continue };
        let function = called(&recorder.program.funcs[frame.func]).to_owned();
        if environment::reads(&function) && !call.chosen.is_empty() {
            recorder.calls.push(LibraryCall {
                function,
                args: call.args,
                texts: call.texts,
                result: CallResult::Nothing,
                chosen: call.chosen,
                allocations: call.allocations,
                written: Vec::new(),
                errno: None,
                spot: None,
            });
        }
    }
}

/// Returns true if the address is in an object of the program, not in one of the library models.
fn is_of_the_program(recorder: &Recorder, at: u64, state: &State) -> bool {
    match state.object_at(at).map(|o| o.seq) {
        Some(ObjectSeq::Global(global)) => !recorder.program.globals[global].name.starts_with("proviso_"),
        Some(object @ ObjectSeq::Alloc(_)) => !recorder.names.is_of_library(object),
        None => false,
    }
}

/// Returns the result of a library function in a form that a native run can reproduce: pointers are an argument and an
/// offset, or the content of an object.
fn result_of(recorder: &Recorder, ty: TypeId, value: Option<&Bv>, args: &[u64], state: &State) -> CallResult {
    let Some(value) = value else { return CallResult::Nothing };
    match recorder.program.plain_type(ty) {
        CType::Float { name, .. } => CallResult::Float(name.clone(), value.clone()),
        CType::Pointer(_) => {
            let at = value.to_u64().unwrap_or(0);
            if let Some((arg, offset)) = pointing(args, at, state) {
                return CallResult::Argument(arg, offset);
            }
            let object = state.object_at(at).filter(|o| o.live && at < o.base + o.size);
            let bytes = object.and_then(|o| state.bytes(at, (o.base + o.size - at).min(MAX_TEXT as u64) as usize));
            bytes.map_or_else(|| CallResult::Value(value.clone()), |bytes| CallResult::Object { at, bytes })
        }
        _ => CallResult::Value(value.clone()),
    }
}

/// Returns the value of `errno`. `None` if the program has no such variable.
fn errno(recorder: &Recorder, state: &State) -> Option<i32> {
    const NAME: &str = "proviso_errno";
    let var = recorder.program.vars.iter().find(|(_, v)| v.func().is_none() && v.name.as_deref() == Some(NAME));
    if let Some((var, _)) = var {
        return state.var(var)?.to_u64().map(|v| v as i32);
    }
    let (global, _) = recorder.program.globals.iter().find(|(_, g)| g.name == NAME)?;
    let bytes = state.bytes(state.global_address(global), 4)?;
    Some(i32::from_le_bytes(bytes.try_into().ok()?))
}

/// Returns the name that C uses for a library function. The front-end names the model of a call that ignores the result
/// `….void`. Headers rename `scanf` and similar functions.
pub(super) fn called(function: &Function) -> &str {
    let name = function.name.trim_end_matches(".void");
    name.strip_prefix("__isoc99_").or(name.strip_prefix("__isoc23_")).unwrap_or(name)
}

/// Returns the name that C uses for a function of the library models. `None` if the function is internal to them. Some
/// functions stand for calls of a library function with known arguments (`proviso_printf_plain`).
pub(in crate::trace) fn name_in_c(function: &Function) -> Option<&str> {
    if !is_internal(function) {
        return Some(called(function));
    }
    let name = called(function).strip_prefix("proviso_")?;
    let plain = name.strip_suffix("_plain").unwrap_or(name);
    [name, plain, plain.strip_suffix("_chk").unwrap_or(plain)].into_iter().find(|name| frontend_llvm::is_library(name))
}

/// Returns true if a function is internal to the library models. Such a function replaces calls of library functions
/// and has no name in C.
pub(super) fn is_internal(function: &Function) -> bool {
    function.name == frontend_llvm::FOLLOW || function.name.trim_start_matches('_').starts_with("proviso_")
}

/// Returns true if macros of the C library's headers call a function. The program does not contain its name.
pub(super) fn is_of_macro(function: &Function) -> bool {
    OF_MACROS.contains(&function.name.as_str())
}

/// Returns the index of the first argument that points into the object at the address `at`, and the offset of `at` from
/// that argument in bytes. `None` if there is no such argument.
fn pointing(args: &[u64], at: u64, state: &State) -> Option<(usize, i64)> {
    let base = |at: u64| state.object_at(at).map(|o| o.base);
    let object = base(at)?;
    let arg = args.iter().position(|&a| a != 0 && base(a) == Some(object))?;
    Some((arg, at.wrapping_sub(args[arg]) as i64))
}
