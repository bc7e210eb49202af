//! The arguments of an entry function other than `main`: arbitrary scalars, and pointers to lazily created objects.
//!
//! A pointer that was not dereferenced yet is a *token*. Whenever the program loads a pointer from memory, a token is
//! replaced by the object that it points to. Copies of one token lead to the same object. A list is therefore as long
//! as the program follows it. Two pointers in an object are equal only if the mode permits it.
//!
//! A token is the address of a [placeholder](AllocKind::Placeholder). It stores the kind of the target object and, after
//! the first dereference, its address. Unreachable objects are forgotten together with their placeholders, so states
//! recur in a loop over a list. If pointers may point to any earlier object, the program keeps a list of all objects.
//!
//! Pointers to functions are tokens of another form: addresses that no object has, each with its own number. They are
//! not replaced. A call through such a token calls an undefined function of the call's type.

mod follow;
mod functions;

pub use functions::{GIVEN, is_given, token_mask};
pub(super) use functions::{call_pointer, is_from_constant};

use super::builder::Builder;
use super::function::declared_params;
use super::{Context, MAIN, Mutability, primitive};
use crate::ir::{self, NONE, TypeKind, Variable};
use crate::options::EntryPointers;
use cfa::{
    AllocKind, CType, Callee, ExprId, FuncId, FunctionOrigin, Global, GlobalId, GlobalInit, Id, InputKind, Op, Passing,
    TypeId, Var, VarId, VarKind,
};
use rustc_hash::FxHashMap;

/// The name of the functions that create the target object of a pointer.
pub const MAKE: &str = "<object>";
/// The name of the function that replaces a token.
pub const FOLLOW: &str = "<pointer>";

/// A function token: ones from this bit on, then the kind, then the number, then zeros, as in the addresses of objects.
const TOKEN: u32 = 28;
const KIND: u32 = 20;
const NUMBER: u32 = 4;
/// The maximal number of kinds.
const KINDS: usize = 1 << (TOKEN - KIND);
/// The kind of function tokens.
const FUNCTION: usize = KINDS - 1;
/// The maximal number of function tokens in a run. If pointers may point to any earlier object, also the maximal number
/// of objects.
const POINTERS: u64 = 1 << 12;
/// The maximal number of pointers in an object that get tokens. Further pointers have unknown values.
const SLOTS: usize = 1 << 10;
/// The maximal size in bytes of an object of unknown length.
pub const MAX_OBJECT: u64 = 1 << 24;
/// The alignment of `malloc`.
const ALIGN: u32 = 16;

/// The data for lazy object creation.
pub(super) struct Lazy {
    follow: FuncId,
    /// For each function token, by number: 0, or its target, or 1 for null.
    table: GlobalId,
    /// The number of function tokens.
    count: VarId,
    /// The created objects, if their number or identity matters.
    made: Option<CreatedObjects>,
    kinds: Vec<CreatedType>,
    by_target: FxHashMap<(TypeId, u32, bool), usize>,
    /// True if an argument leads to a pointer to a function, so that there are function tokens.
    has_functions: bool,
    /// For each type of a call, the function that function tokens point to.
    functions: FxHashMap<ir::Ty, FuncId>,
}

/// The created objects.
#[derive(Clone, Copy)]
struct CreatedObjects {
    number: VarId,
    /// The arrays of their addresses and types, if pointers may point to them.
    list: Option<(GlobalId, GlobalId)>,
}

/// The objects of one type. If the depth is bounded, the objects of one type at one depth.
#[derive(Clone, Copy)]
struct CreatedType {
    target: TypeId,
    depth: u32,
    /// True for an argument passed in memory, and for the space for a result. There is one such object, and no other
    /// pointer leads to it.
    alone: bool,
    make: FuncId,
}

/// Prepares lazy object creation, if execution starts at a function with pointer arguments or with arbitrary globals.
pub(super) fn declare(cx: &mut Context) {
    let entry = cx.ir.functions.iter().find(|f| f.name == cx.options.entry && !f.declaration);
    let Some(entry) = entry.filter(|f| f.name != MAIN) else { return };
    let is_pointer = |&ty: &u32| matches!(cx.ir.kind(ty), TypeKind::Pointer);
    let takes_pointers =
        matches!(cx.ir.kind(entry.ty), TypeKind::Function { params, .. } if params.iter().any(is_pointer));
    if !takes_pointers && !cx.options.entry_memory.globals {
        return;
    }
    let has_functions = leads_to_function(cx, entry);
    let width = cx.pointer_width;
    let (count, table) = (counter(cx), array(cx, "proviso_pointers"));
    let aliasing = cx.options.entry_memory.pointers == EntryPointers::Aliasing;
    let made = (aliasing || cx.options.entry_memory.finite).then(|| CreatedObjects {
        number: counter(cx),
        list: aliasing.then(|| (array(cx, "proviso_made"), array(cx, "proviso_made_types"))),
    });
    let ty = cx.unknown_type(Some(width));
    let follow = cx.program.add_function(FOLLOW, ty, Some(width));
    let param = cx.add_parameter_of(follow, width);
    cx.program.funcs[follow].params = vec![param];
    cx.program.funcs[follow].origin = FunctionOrigin::Model;
    cx.lazy = Some(Lazy {
        follow,
        table,
        count,
        made,
        kinds: Vec::new(),
        by_target: FxHashMap::default(),
        has_functions,
        functions: FxHashMap::default(),
    });
}

/// True if pointers in the arguments of the entry function, or in global variables with arbitrary values, may lead to a
/// function.
fn leads_to_function(cx: &Context, entry: &ir::Function) -> bool {
    let globals = cx.ir.variables.iter().filter(|_| cx.options.entry_memory.globals).map(|variable| variable.c_type);
    let rows = entry.c_types.iter().copied().chain(globals).filter(|&row| row != NONE);
    let mut seen: Vec<TypeId> = Vec::new();
    for row in rows {
        let ty = cx.source.c_type(row);
        if !seen.contains(&ty) {
            seen.push(ty);
        }
    }
    let mut next = 0;
    while let Some(&ty) = seen.get(next) {
        next += 1;
        let mut slots = Vec::new();
        cx.slots(ty, 0, &mut slots);
        for (_, target) in slots {
            if cx.is_function(target) {
                return true;
            }
            if !seen.contains(&target) {
                seen.push(target);
            }
        }
    }
    false
}

/// Adds a global variable that is initially 0.
fn counter(cx: &mut Context) -> VarId {
    let width = cx.pointer_width;
    let (ty, zero) = (cx.unknown_type(Some(width)), cx.program.exprs.int(width, 0));
    let kind = VarKind::Global { init: Some(zero), is_static: false };
    cx.add_var(Var { name: None, ty, width, kind, place: None }, Mutability::Global)
}

/// Adds a global array of zeros of pointer width.
fn array(cx: &mut Context, name: &str) -> GlobalId {
    let size = POINTERS * u64::from(cx.pointer_width / 8);
    let ty = cx.unknown_type(Some(size as u32 * 8));
    let init = Some(GlobalInit::default());
    cx.program.globals.push(Global {
        name: name.into(),
        ty,
        size,
        align: ALIGN,
        read_only: false,
        is_static: false,
        init,
        place: None,
    })
}

impl Context<'_> {
    fn add_parameter_of(&mut self, func: FuncId, width: u32) -> VarId {
        let ty = self.unknown_type(Some(width));
        self.add_var(Var { name: None, ty, width, kind: VarKind::Param(func), place: None }, Mutability::Fixed)
    }

    /// True if a global variable belongs to the library models.
    pub(super) fn is_of_models(&self, variable: &Variable) -> bool {
        variable.file == NONE || self.ir.files[variable.file as usize].starts_with("<models>")
    }

    /// A type without typedefs and qualifiers. An incomplete struct is replaced by its definition, if there is one.
    fn plain(&self, mut ty: TypeId) -> TypeId {
        while let CType::Typedef { ty: inner, .. } | CType::Qualified { ty: inner, .. } = &self.program.types[ty] {
            ty = *inner;
        }
        let CType::Struct { name, size: 0, fields, .. } = &self.program.types[ty] else { return ty };
        if name.is_empty() || !fields.is_empty() {
            return ty;
        }
        let defines = |t: &CType| matches!(t, CType::Struct { name: other, size: 1.., .. } if other == name);
        self.program.types.iter().find(|(_, t)| defines(t)).map_or(ty, |(id, _)| id)
    }

    /// True if a pointer to this type leads to an object that can be created, or to a function.
    fn is_given(&self, target: TypeId) -> bool {
        // Only the models create streams.
        !matches!(&self.program.types[self.plain(target)], CType::Struct { name, .. } if name == "_IO_FILE")
    }

    fn is_function(&self, target: TypeId) -> bool {
        matches!(self.program.types[self.plain(target)], CType::Function)
    }

    /// True if an object of the type contains pointers with arbitrary values: in unions, or to types that cannot be
    /// created.
    fn has_unknown_pointers(&self, ty: TypeId, in_union: bool) -> bool {
        match &self.program.types[self.plain(ty)] {
            CType::Pointer(to) => in_union || !self.is_given(*to),
            CType::Array(of, _) => self.has_unknown_pointers(*of, in_union),
            CType::Struct { union, fields, .. } => {
                fields.iter().any(|field| self.has_unknown_pointers(field.ty, in_union || *union))
            }
            _ => false,
        }
    }

    /// Collects the pointers in an object of a type, with their offsets and target types. Pointers in unions are
    /// excluded, because they may be other data.
    fn slots(&self, ty: TypeId, at: u64, found: &mut Vec<(u64, TypeId)>) {
        if found.len() >= SLOTS {
            return;
        }
        match &self.program.types[self.plain(ty)] {
            CType::Pointer(to) if self.is_given(*to) => found.push((at, self.plain(*to))),
            CType::Array(of, Some(n)) => {
                let (of, n, Some(size)) = (*of, *n, self.program.size_of(*of)) else { return };
                let before = found.len();
                for i in 0..n {
                    self.slots(of, at + i * size, found);
                    if found.len() == before {
                        return;
                    }
                }
            }
            CType::Struct { union: false, fields, .. } => {
                for field in fields.clone() {
                    self.slots(field.ty, at + field.bit_offset / 8, found);
                }
            }
            _ => {}
        }
    }

    /// Returns the target type of the pointer at an offset in an object of a type. Returns `None` if it is in a union.
    fn pointer_at(&self, ty: TypeId, at: u64) -> Option<TypeId> {
        let mut slots = Vec::new();
        self.slots(ty, 0, &mut slots);
        slots.into_iter().find_map(|(offset, target)| (offset == at).then_some(target))
    }

    /// True if pointers may lead from an object of the type to another object of the type.
    fn is_recursive(&self, target: TypeId) -> bool {
        let (mut todo, mut seen) = (vec![target], Vec::new());
        while let Some(ty) = todo.pop() {
            let mut slots = Vec::new();
            self.slots(ty, 0, &mut slots);
            for (_, to) in slots {
                if to == target {
                    return true;
                }
                if !seen.contains(&to) {
                    seen.push(to);
                    todo.push(to);
                }
            }
        }
        false
    }

    /// The kind of the objects of a type at a depth. `None` if there are too many kinds.
    fn kind(&mut self, target: TypeId, depth: u32, alone: bool) -> Option<usize> {
        let target = self.plain(target);
        if self.is_function(target) {
            return Some(FUNCTION);
        }
        let depth = if self.options.entry_memory.depth.is_some() { depth } else { 0 };
        let lazy = self.lazy.as_ref()?;
        if let Some(&known) = lazy.by_target.get(&(target, depth, alone)) {
            return Some(known);
        }
        if lazy.kinds.len() == FUNCTION {
            return None;
        }
        let pointer = self.program.types.push(CType::Pointer(target));
        let make = self.program.add_function(MAKE, pointer, Some(self.pointer_width));
        self.program.funcs[make].origin = FunctionOrigin::Model;
        let lazy = self.lazy.as_mut()?;
        let kind = lazy.kinds.len();
        lazy.kinds.push(CreatedType { target, depth, alone, make });
        lazy.by_target.insert((target, depth, alone), kind);
        Some(kind)
    }
}

/// The target of a loaded pointer. If it is a token, the token is replaced.
pub(super) fn followed(b: &mut Builder, pointer: ExprId) -> ExprId {
    let Some(follow) = b.cx.lazy.as_ref().map(|lazy| lazy.follow) else { return pointer };
    let width = b.pointer_width();
    let (nowhere, in_placeholder) = whereabouts(b, pointer);
    let is_token = functions::is_token(b, pointer);
    let of_function = b.x().and(nowhere, is_token);
    let follows = b.x().or(in_placeholder, of_function);
    let result = b.temp(width);
    b.emit(Op::Assign { var: result, value: pointer });
    b.when(follows, |b| call(b, follow, &[pointer], result));
    b.var_expr(result)
}

/// Two conditions: the pointer points to no object, and the pointer points to a placeholder.
pub(super) fn whereabouts(b: &mut Builder, pointer: ExprId) -> (ExprId, ExprId) {
    let width = b.pointer_width();
    let offset = b.temp(width);
    b.emit(Op::ObjectOffset { var: offset, ptr: pointer, writable: false });
    let offset = b.var_expr(offset);
    let [nowhere, in_placeholder] = [Op::NOWHERE, Op::IN_PLACEHOLDER].map(|answer| {
        let answer = b.size(answer & (u64::MAX >> (64 - width)));
        b.x().eq(offset, answer)
    });
    (nowhere, in_placeholder)
}

fn call(b: &mut Builder, func: FuncId, args: &[ExprId], result: VarId) {
    b.emit(Op::Call { callee: Callee::Direct(func), args: args.into(), varargs: None, result: Some(result) });
}

/// The common bits of all tokens of a kind.
fn token_of(kind: usize, width: u32) -> u64 {
    (u64::MAX << TOKEN | (kind as u64) << KIND) & (u64::MAX >> (64 - width))
}

/// Creates a token: a placeholder with the number of the kind, and zeros for the address of its target.
fn token(b: &mut Builder, kind: usize) -> ExprId {
    if kind == FUNCTION {
        return function_token(b);
    }
    let bytes = u64::from(b.pointer_width() / 8);
    let (size, number) = (b.size(2 * bytes), b.size(kind as u64));
    let placeholder = b.alloc(size, ALIGN, AllocKind::Placeholder, true);
    b.store(placeholder, number);
    placeholder
}

fn function_token(b: &mut Builder) -> ExprId {
    let Some(count) = b.cx.lazy.as_ref().map(|lazy| lazy.count) else { return b.size(0) };
    let width = b.pointer_width();
    let number = b.var_expr(count);
    limited(b, number, "pointers to functions are given");
    let (one, unit) = (b.size(1), b.size(1 << NUMBER));
    let place = b.x().mul(number, unit);
    let fixed = b.size(token_of(FUNCTION, width));
    let token = b.x().or(fixed, place);
    let token = b.pin(token);
    let next = b.x().add(number, one);
    b.emit(Op::Assign { var: count, value: next });
    token
}

/// A pointer to an object of this type.
fn pointer_to(b: &mut Builder, target: TypeId, alone: bool) -> Option<ExprId> {
    let kind = b.cx.kind(target, 1, alone)?;
    let var = b.pointer_temp();
    match b.cx.options.entry_memory.pointers {
        _ if alone => {
            let make = b.cx.lazy.as_ref()?.kinds[kind].make;
            call(b, make, &[], var);
        }
        EntryPointers::Valid if kind == FUNCTION => return Some(token(b, kind)),
        EntryPointers::Valid => {
            let make = b.cx.lazy.as_ref()?.kinds[kind].make;
            call(b, make, &[], var);
        }
        EntryPointers::MaybeNull | EntryPointers::Aliasing => {
            let token = token(b, kind);
            let follow = b.cx.lazy.as_ref()?.follow;
            call(b, follow, &[token], var);
        }
    }
    Some(b.var_expr(var))
}

/// Arbitrary arguments for a function.
pub(super) fn any(b: &mut Builder, n: usize, func: FuncId) -> Vec<ExprId> {
    let function = &b.ir().functions[n];
    let TypeKind::Function { params: types, .. } = b.ir().kind(function.ty) else { return Vec::new() };
    let params = b.cx.program.funcs[func].params.clone();
    let c_types = b.cx.parameter_types(function);
    let results = usize::from(function.attributes.iter().any(|a| a.result.is_some()));
    // Passes may store a parameter in the variables of other parameters.
    let declared = if function.is_optimised() { Vec::new() } else { declared_params(b.ir(), function) };
    let mut args = Vec::new();
    for (k, (&param, &ty)) in params.iter().zip(types).enumerate() {
        let in_c = || b.cx.program.funcs[func].param_name(k).map(str::to_owned);
        let name = b.cx.program.vars[param].name.clone().or_else(in_c).unwrap_or_else(|| format!("number {}", k + 1));
        let width = b.cx.program.vars[param].width;
        let attributes = function.attributes.iter().find(|a| a.parameter == k as u32);
        let alone = attributes.is_some_and(|a| a.copy.is_some() || a.result.is_some());
        let variable = declared.get(k).filter(|variable| variable.c_type != NONE);
        let c_type = match (variable, &c_types) {
            // The address of the result is the first parameter.
            _ if attributes.is_some_and(|a| a.result.is_some()) => {
                function.c_types.first().map(|&row| b.cx.source.c_type(row))
            }
            (Some(variable), _) => Some(b.cx.source.c_type(variable.c_type)),
            (None, Some(types)) => Some(types[k - results]),
            (None, None) => None,
        };
        let passing = passing(b.ir(), ty, width, attributes);
        b.cx.program.passing.push(passing);
        if matches!(b.ir().kind(ty), TypeKind::Pointer) {
            let at = variable.and_then(|variable| variable.offset).unwrap_or(0);
            let target = c_type.and_then(|ty| if alone { Some(ty) } else { b.cx.pointer_at(ty, at) });
            let target = target.filter(|&to| b.cx.is_given(to));
            if let Some((target, pointer)) = target.and_then(|to| Some((to, pointer_to(b, to, alone)?))) {
                if let Some(least) = attributes.and_then(|a| a.least) {
                    b.require_size(target, pointer, least);
                }
                args.push(pointer);
                continue;
            }
            let text = format!("the pointer argument '{name}' of '{}' is arbitrary", function.name);
            b.approximate(text, true, true);
        }
        // Parts of a struct have no C type.
        let c_type =
            c_type.filter(|&ty| b.cx.program.size_of(ty).is_none_or(|size| size <= u64::from(width).div_ceil(8)));
        args.push(b.havoc(width, InputKind::Argument(name), c_type));
    }
    args
}

impl Builder<'_, '_> {
    /// Assumes that a pointer to a created object of a type points to at least `least` bytes.
    fn require_size(&mut self, target: TypeId, pointer: ExprId, least: u64) {
        let target = self.cx.plain(target);
        let element = self.cx.program.size_of(target).unwrap_or(1).max(1);
        let most = number_of_elements(self.cx, target).map_or(MAX_OBJECT, |count| count.saturating_mul(element));
        if most < least {
            let text =
                format!("an argument points to at least {least} bytes (`static`), but objects with {most} are created");
            return self.approximate(text, true, true);
        }
        let width = self.pointer_width();
        let (null, size) = (self.size(0), self.temp(width));
        let exists = self.x().ne(pointer, null);
        self.assume(exists);
        self.emit(Op::ObjectSize { var: size, ptr: pointer, family: None });
        let (size, least) = (self.var_expr(size), self.size(least));
        let is_enough = self.x().ule(least, size);
        self.assume(is_enough);
    }
}

/// The number of elements of a created object of a type. `None` if it is arbitrary.
fn number_of_elements(cx: &Context, target: TypeId) -> Option<u64> {
    let is_aggregate =
        matches!(cx.program.types[target], CType::Struct { size: 1.., .. } | CType::Array(..) | CType::Pointer(_));
    cx.options.entry_memory.array_length.or(is_aggregate.then_some(1))
}

/// Returns the native calling convention of a parameter.
fn passing(ir: &ir::Module, ty: ir::Ty, width: u32, attributes: Option<&ir::Attributes>) -> Passing {
    match *ir.kind(ty) {
        TypeKind::Int(..=128) => Passing::Integer { signed: attributes.is_some_and(|a| a.signed) },
        TypeKind::Float(format) => Passing::Float(format),
        TypeKind::Vector(..) if width >= 64 && width.is_power_of_two() => Passing::Vector,
        TypeKind::Pointer => match attributes.and_then(|a| a.copy) {
            Some((size, align)) => Passing::Copy { size, align },
            None => Passing::Pointer,
        },
        _ => Passing::Other,
    }
}

/// Gives global variables arbitrary values.
pub(super) fn any_globals(b: &mut Builder) {
    if !b.cx.options.entry_memory.globals || b.cx.lazy.is_none() {
        return;
    }
    for (n, variable) in b.ir().variables.iter().enumerate() {
        if variable.constant || b.cx.is_of_models(variable) || variable.c_type == NONE {
            continue;
        }
        let ty = b.cx.source.c_type(variable.c_type);
        let name = variable.name_in_c().to_owned();
        let kind = InputKind::Global(name);
        match b.cx.cells[n] {
            super::globals::Cell::Var(var) => {
                let target = match b.cx.program.plain_type(ty) {
                    CType::Pointer(to) => Some(*to).filter(|&to| b.cx.is_given(to)),
                    _ => None,
                };
                match target.and_then(|to| pointer_to(b, to, false)) {
                    Some(value) => drop(b.emit(Op::Assign { var, value })),
                    None => b.havoc_var(var, kind, Some(ty)),
                }
            }
            super::globals::Cell::Object(global) => {
                let width = b.pointer_width();
                let address = b.x().global_addr(global, width);
                let size = b.cx.program.globals[global].size;
                let size = b.size(size);
                primitive::fill_with_inputs(b, address, size, &kind, Some(ty));
                let mut slots = Vec::new();
                b.cx.slots(ty, 0, &mut slots);
                store_tokens(b, address, &slots, 1);
            }
            _ => {}
        }
    }
    primitive::set_errno(b, |b| b.havoc(32, InputKind::Environment("errno".into()), None));
}

/// Stores tokens into the pointers of an object. Their targets have this depth.
fn store_tokens(b: &mut Builder, object: ExprId, slots: &[(u64, TypeId)], depth: u32) {
    let limit = b.cx.options.entry_memory.depth;
    for &(at, target) in slots {
        let value = match b.cx.kind(target, depth, false) {
            _ if limit.is_some_and(|limit| depth > limit) => b.size(0),
            Some(kind) => token(b, kind),
            // The pointer keeps an arbitrary value.
            None => continue,
        };
        let slot = b.offset(object, at);
        b.store(slot, value);
    }
}

/// Creates the bodies of the declared functions, and of functions that these bodies need.
pub(super) fn finish(cx: &mut Context) {
    let mut done = 0;
    while let Some(kind) = cx.lazy.as_ref().and_then(|lazy| lazy.kinds.get(done).copied()) {
        make(cx, kind);
        done += 1;
    }
    if cx.lazy.is_some() {
        follow::finish(cx);
    }
    functions::finish(cx);
}

/// Creates the body of a function that creates an object.
fn make(cx: &mut Context, kind: CreatedType) {
    let mut slots = Vec::new();
    cx.slots(kind.target, 0, &mut slots);
    let element = cx.program.size_of(kind.target).unwrap_or(1).max(1);
    let elements = number_of_elements(cx, kind.target);
    let is_string = matches!(&cx.program.types[kind.target], CType::Int { name, .. } if name == "char");
    let made = cx.lazy.as_ref().and_then(|lazy| lazy.made).filter(|_| !kind.alone);
    let count = if kind.alone { Some(1) } else { cx.options.entry_memory.array_length };
    let name = format!("length of {} *", cx.program.type_name(kind.target));
    let is_unknown = cx.has_unknown_pointers(kind.target, false);
    let mut b = Builder::new(cx, kind.make);
    let width = b.pointer_width();
    if is_unknown {
        functions::approximate_pointers(&mut b, kind.target);
    }
    let size = match count.or(elements) {
        Some(count) => b.size(count.saturating_mul(element)),
        None => {
            let size_t = b.cx.source.nondet_type(&mut b.cx.program, "size_t", width);
            let count = b.havoc(width, InputKind::Argument(name), size_t);
            let (one, most) = (b.size(1), b.size(MAX_OBJECT / element));
            let (some, not_too_many) = (b.x().ule(one, count), b.x().ule(count, most));
            let valid = b.x().and(some, not_too_many);
            b.assume(valid);
            let element = b.size(element);
            b.x().mul(count, element)
        }
    };
    let size = b.share(size);
    let object = b.alloc(size, ALIGN, AllocKind::Given, false);
    if is_string {
        let end = b.x().add(object, size);
        let one = b.size(1);
        let (last, zero) = (b.x().sub(end, one), b.int(8, 0));
        b.store(last, zero);
    }
    for n in 0..count.filter(|_| !slots.is_empty()).unwrap_or(1) {
        let at = b.offset(object, n * element);
        store_tokens(&mut b, at, &slots, kind.depth + 1);
    }
    if let Some(CreatedObjects { number, list }) = made {
        let next = b.var_expr(number);
        limited(&mut b, next, "objects are made");
        if let Some((objects, types)) = list {
            for (array, value) in [(objects, object), (types, b.size(kind.target.index() as u64))] {
                let slot = element_at(&mut b, array, next);
                b.store(slot, value);
            }
        }
        let one = b.size(1);
        let next = b.x().add(next, one);
        b.emit(Op::Assign { var: number, value: next });
    }
    b.finish(Op::Return { value: Some(object) });
}

/// The address of an element of a global array of pointers.
fn element_at(b: &mut Builder, array: GlobalId, number: ExprId) -> ExprId {
    let width = b.pointer_width();
    let size = b.size(u64::from(width / 8));
    let base = b.x().global_addr(array, width);
    let offset = b.x().mul(number, size);
    b.x().add(base, offset)
}

/// Ends the execution with a taint if a number is not below [`POINTERS`].
fn limited(b: &mut Builder, number: ExprId, what: &str) {
    let limit = b.size(POINTERS);
    let too_many = b.x().ule(limit, number);
    b.when(too_many, |b| {
        functions::approximate(b, format!("more than {POINTERS} {what}: --entry-depth bounds them"), false, true);
        b.halt(cfa::HaltKind::Assumed);
    });
}
