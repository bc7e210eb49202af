//! The arguments of an entry function other than `main`. Objects that the run did not access are omitted. The front-end
//! creates the arguments in `lower/arguments.rs`.

use super::access::{is_character, scalar};
use super::names::{quoted, with_character};
use cfa::interp::{Inputs, ObjectSeq, State};
use cfa::{Bv, CType, FuncId, Function, InputKind, Passing, Program, TypeId};
use frontend_llvm::{FOLLOW, MAKE, is_given};
use std::collections::BTreeMap;

/// The maximum number of characters of a string that are kept.
const MAX_STRING: u64 = 4096;

/// The call of the entry function.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Arguments {
    /// The name of the entry function.
    pub function: String,
    /// The arguments, in the order of the parameters.
    pub values: Vec<Argument>,
    /// The objects that the pointers among the arguments lead to, directly or through other objects.
    pub objects: Vec<ArgumentObject>,
}

/// An argument of the entry function.
#[derive(Clone, PartialEq, Debug)]
pub struct Argument {
    /// The name of the parameter. It is empty if the parameter has no name.
    pub name: String,
    /// The C type without typedefs. Any pointer is `void *`. A part of a struct has a plain type of the same kind.
    pub c_type: String,
    /// The value of the argument.
    pub value: Bv,
    /// The target, if the argument is a pointer to an object or function.
    pub target: Option<Target>,
    /// The calling convention of the parameter.
    pub passing: Passing,
}

impl Argument {
    /// Returns true if the argument is an integer.
    pub fn is_integer(&self) -> bool {
        let other = ["*", "float", "double", "struct", "union", "{", "vector", "Bool"];
        self.target.is_none() && !other.iter().any(|part| self.c_type.contains(part))
    }
}

/// The initial content of an object, before the call of the entry function.
#[derive(Clone, PartialEq, Debug)]
pub struct ArgumentObject {
    /// The C type of the object's elements.
    pub ty: String,
    /// The size in bytes.
    pub size: u64,
    /// The size of an element in bytes.
    pub element: u64,
    /// The bytes that are not 0, by offset.
    pub bytes: BTreeMap<u64, u8>,
    /// The pointers in the object that the program dereferenced, by offset. `None` is null.
    pub pointers: Vec<(u64, Option<Target>)>,
    /// The members in terms of C: paths such as `.next` and `[3].x`, with their values. All other members are 0.
    pub members: Vec<(String, Member)>,
}

/// The value of a member of an object.
#[derive(Clone, PartialEq, Debug)]
pub enum Member {
    /// A number or a string, as C writes it.
    Value(String),
    /// A pointer. `None` is null.
    Pointer(Option<Target>),
}

impl ArgumentObject {
    /// Returns the members on one line. The function `pointer` returns the text of a pointer.
    pub fn shown(&self, pointer: impl Fn(Option<Target>) -> String) -> String {
        let member = |(path, member): &(String, Member)| {
            let value = match member {
                Member::Value(value) => value.clone(),
                Member::Pointer(target) => pointer(*target),
            };
            if path.is_empty() { value } else { format!("{path} = {value}") }
        };
        match &self.members[..] {
            [] => "0".into(),
            members => members.iter().map(member).collect::<Vec<_>>().join(", "),
        }
    }
}

/// Returns the members that are not 0 of an array of `count` elements of type `element`. The parameters `bytes` and
/// `pointers` have the bytes that are not 0 and the pointers, by offset.
fn members(
    program: &Program,
    element: TypeId,
    bytes: &BTreeMap<u64, u8>,
    pointers: &[(u64, Option<Target>)],
    count: u64,
) -> Vec<(String, Member)> {
    let size = program.size_of(element).filter(|s| *s > 0).unwrap_or(1);
    // A path into a single element has no index.
    let path_of = |at: u64, path: &str| if count > 1 { format!("[{}]{path}", at / size) } else { path.to_owned() };
    let mut found: BTreeMap<u64, (String, Member)> = BTreeMap::new();
    if is_character(program, element) {
        let length = bytes.keys().next_back().map_or(0, |last| last + 1).min(MAX_STRING);
        let text: Vec<u8> = (0..length).map(|at| bytes.get(&at).copied().unwrap_or(0)).collect();
        let mut all = vec![(String::new(), Member::Value(quoted(&text)))];
        all.retain(|_| length > 0);
        return all;
    }
    let is_pointer = |at: u64| pointers.iter().any(|&(start, _)| start <= at && at - start < pointer_size(program));
    for (&at, &byte) in bytes.iter().filter(|&(&at, _)| !is_pointer(at)) {
        let Some((path, start, ty)) = scalar(program, element, at % size) else {
            found.insert(at, (format!("<byte {at}>"), Member::Value(format!("{byte:#04x}"))));
            continue;
        };
        let start = at - at % size + start;
        let width = program.size_of(ty).unwrap_or(1);
        let content: Vec<u8> = (start..start + width).map(|at| bytes.get(&at).copied().unwrap_or(0)).collect();
        let value = match program.plain_type(ty) {
            CType::Array(..) => {
                let end = content.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
                quoted(&content[..end])
            }
            CType::Int { width, .. } | CType::Enum { width, .. } => {
                let value = Bv::from_le_bytes(&content).resize(*width);
                let shown = program.show_value(ty, &value);
                if is_character(program, ty) { with_character(shown, &value) } else { shown }
            }
            CType::Float { format, .. } => program.show_value(ty, &Bv::from_le_bytes(&content).resize(format.width())),
            _ => program.show_value(ty, &Bv::from_le_bytes(&content)),
        };
        found.insert(start, (path_of(at, &path), Member::Value(value)));
    }
    for &(at, target) in pointers {
        let path = scalar(program, element, at % size).map_or_else(|| format!("<byte {at}>"), |(path, ..)| path);
        found.insert(at, (path_of(at, &path), Member::Pointer(target)));
    }
    found.into_values().collect()
}

/// Returns the size of a pointer in bytes.
fn pointer_size(program: &Program) -> u64 {
    u64::from(program.layout.pointer_width / 8)
}

/// The target of a pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// An object, by its index in [`Arguments::objects`].
    Object(usize),
    /// A function that the program does not define.
    Function,
}

/// An observer of the creation of arguments.
#[derive(Default)]
pub struct Making {
    /// The objects created for the entry function, in order.
    made: Vec<CreatedObject>,
    /// The addresses of the objects that tokens lead to, by token. A token is a pointer that was not dereferenced yet.
    leads: BTreeMap<u64, u64>,
    /// The entry function, once it is called.
    call: Option<FuncId>,
    /// The values of its parameters.
    values: Vec<Bv>,
}

/// An object created for the entry function.
struct CreatedObject {
    /// The number of the object.
    seq: ObjectSeq,
    /// The name of the C type of its elements.
    ty: String,
    /// The type of its elements.
    element: Option<TypeId>,
    /// The address of the object.
    base: u64,
    /// The size in bytes.
    size: u64,
    /// The tokens in the object, each after its offset.
    slots: Vec<(u64, u64)>,
}

/// Returns true if the function creates objects for arguments.
pub fn creates_objects(function: &Function) -> bool {
    function.name == MAKE
}

impl Making {
    /// Records that `function`, which creates objects for arguments, allocated an object at address `base`.
    pub fn allocated(&mut self, program: &Program, function: &Function, seq: ObjectSeq, base: u64, state: &State) {
        let element = match program.types[function.return_type] {
            CType::Pointer(to) => Some(to),
            _ => None,
        };
        let ty = element.map_or_else(String::new, |to| program.type_name(to));
        let size = state.object_at(base).map_or(0, |o| o.size);
        self.made.push(CreatedObject { seq, ty, element, base, size, slots: Vec::new() });
    }

    /// Returns the meaning of an input of a function that creates objects: the number of elements of the next object.
    /// `None` if the input is something else.
    pub fn next_length(&self, input: &InputKind) -> Option<String> {
        let InputKind::Argument(name) = input else { return None };
        name.starts_with("length of ").then(|| format!("number of elements of object{}", self.made.len() + 1))
    }

    /// Returns the name of an object that was created for the entry function, as the call of the function shows it.
    pub fn name_of(&self, seq: ObjectSeq) -> Option<String> {
        Some(format!("object{}", self.index_of(seq)? + 1))
    }

    /// Records that such a function stored a value at address `at`. Only pointers in the last object are recorded.
    pub fn stored(&mut self, program: &Program, at: u64, value: &Bv) {
        let (Some(made), Some(token)) = (self.made.last_mut(), value.to_u64()) else { return };
        if value.width() == program.layout.pointer_width && (made.base..made.base + made.size).contains(&at) {
            made.slots.push((at - made.base, token));
        }
    }

    /// Records that a function returned `value`. If it is the function that replaces a token, `value` is the address of
    /// the token's object.
    pub fn returned(&mut self, function: &Function, value: Option<&Bv>, state: &State) {
        if function.name != FOLLOW {
            return;
        }
        let token = function.params.first().and_then(|&p| state.var(p)).and_then(|v| v.to_u64());
        if let (Some(token), Some(to)) = (token, value.and_then(Bv::to_u64)) {
            self.leads.insert(token, to);
        }
    }

    /// Records the call of the user's first function. The call of `main` is ignored.
    pub fn called(&mut self, program: &Program, func: FuncId, state: &State) {
        if program.funcs[func].name == "main" {
            return;
        }
        self.call = Some(func);
        self.values = program.funcs[func].params.iter().filter_map(|&p| state.var(p)).collect();
    }

    /// Returns the index in [`Arguments::objects`] of an object that was created for the entry function.
    pub fn index_of(&self, seq: ObjectSeq) -> Option<usize> {
        self.made.iter().position(|made| made.seq == seq)
    }

    /// Returns the arguments of the entry function in a run on the inputs `given`. `None` if no entry function other
    /// than `main` was called.
    pub fn finish(self, program: &Program, given: &Inputs) -> Option<Arguments> {
        let function = &program.funcs[self.call?];
        let width = program.layout.pointer_width;
        let target = |at: u64| match is_given(at, width) {
            true => Some(Target::Function),
            false => self.made.iter().position(|made| made.base == at).map(Target::Object),
        };
        let values = function.params.iter().enumerate().zip(&self.values).zip(&program.passing).map(
            |(((n, &param), value), &passing)| {
                let var = &program.vars[param];
                // The value of a number may coincide with an address.
                let is_pointer = matches!(passing, Passing::Pointer | Passing::Copy { .. });
                Argument {
                    name: var.name.as_deref().or(function.param_name(n)).unwrap_or_default().to_owned(),
                    c_type: c_type(program, var.ty, passing, value.width()),
                    value: value.clone(),
                    target: value.to_u64().filter(|_| is_pointer).and_then(target),
                    passing,
                }
            },
        );
        let objects = self.made.iter().map(|made| {
            let range = (made.seq, 0)..=(made.seq, u64::MAX);
            let followed = |&(at, token): &(u64, u64)| Some((at, target(*self.leads.get(&token)?)));
            let bytes = given.bytes.range(range).map(|(&(_, at), &byte)| (at, byte)).filter(|(_, b)| *b != 0).collect();
            let pointers: Vec<_> = made.slots.iter().filter_map(followed).collect();
            let element = made.element.and_then(|ty| program.size_of(ty)).map_or(made.size, |size| size.max(1));
            let count = if made.element.is_some() { made.size / element.max(1) } else { 1 };
            ArgumentObject {
                ty: made.ty.clone(),
                size: made.size,
                element,
                members: made.element.map_or_else(Vec::new, |ty| members(program, ty, &bytes, &pointers, count)),
                bytes,
                pointers,
            }
        });
        Some(Arguments { function: function.name.clone(), values: values.collect(), objects: objects.collect() })
    }
}

/// Returns a C type with this way of passing and this width in bits.
fn c_type(program: &Program, ty: TypeId, passing: Passing, width: u32) -> String {
    let own = match program.plain_type(ty) {
        CType::Bool => width <= 8,
        CType::Int { width: own, .. } | CType::Enum { width: own, .. } => *own == width,
        _ => false,
    };
    match passing {
        Passing::Integer { .. } if own => crate::trace::types::plain_name(program, ty),
        Passing::Integer { signed } => {
            let name = match width {
                1 => return "_Bool".into(),
                2..=8 => "char",
                9..=16 => "short",
                17..=32 => "int",
                33..=64 => "long long",
                _ => "__int128",
            };
            format!("{} {name}", if signed { "signed" } else { "unsigned" })
        }
        Passing::Float(format) => format.c_name().into(),
        Passing::Vector => format!("float __attribute__((vector_size({})))", width / 8),
        Passing::Pointer | Passing::Copy { .. } => "void *".into(),
        Passing::Other => program.type_name(ty),
    }
}
