//! What a function other than `main` was called with, as far as the run looked: see `lower/arguments.rs` of the front-end.

use super::access::{is_character, scalar};
use super::names::{quoted, with_character};
use cfa::interp::{Inputs, ObjectSeq, State};
use cfa::{Bv, CType, FuncId, Function, Passing, Program, TypeId};
use frontend_llvm::{FOLLOW, MAKE, is_given};
use std::collections::BTreeMap;

/// Characters of a string that are kept.
const MAX_STRING: u64 = 4096;

/// The call that a run starts with.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Arguments {
    pub function: String,
    pub values: Vec<Argument>,
    /// The objects that pointers among them lead to, directly or not.
    pub objects: Vec<ArgumentObject>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Argument {
    pub name: String,
    /// Without typedefs, and any pointer as `void *`; a plain one of the same kind where it is a part of a struct.
    pub c_type: String,
    pub value: Bv,
    /// What it points to.
    pub target: Option<Target>,
    pub passing: Passing,
}

/// An object as it is before the function is called.
#[derive(Clone, PartialEq, Debug)]
pub struct ArgumentObject {
    /// In C, without typedefs: what it is an object of.
    pub ty: String,
    pub size: u64,
    /// The bytes that matter, by offset; all others are 0.
    pub bytes: BTreeMap<u64, u8>,
    /// Its pointers that were followed, by offset; `None` is null.
    pub pointers: Vec<(u64, Option<Target>)>,
    /// What it holds in terms of C: paths such as `.next` and `[3].x`, and values. All other members are 0.
    pub members: Vec<(String, Member)>,
}

/// What a member of an object holds.
#[derive(Clone, PartialEq, Debug)]
pub enum Member {
    /// A number or a string, as C writes it.
    Value(String),
    /// A pointer; `None` is null.
    Pointer(Option<Target>),
}

impl ArgumentObject {
    /// The members on a line. `pointer` says how a pointer is shown.
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

/// The members of an array of elements of type `element`, of which the bytes and pointers given are not 0.
fn members(
    program: &Program,
    element: TypeId,
    bytes: &BTreeMap<u64, u8>,
    pointers: &[(u64, Option<Target>)],
    count: u64,
) -> Vec<(String, Member)> {
    let size = program.size_of(element).filter(|s| *s > 0).unwrap_or(1);
    // A single struct is no array.
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

fn pointer_size(program: &Program) -> u64 {
    u64::from(program.layout.pointer_width / 8)
}

/// What a pointer leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// One of the objects, by its number.
    Object(usize),
    /// A function that nobody defines.
    Function,
}

/// Watches how arguments come into being.
#[derive(Default)]
pub struct Making {
    made: Vec<Made>,
    /// What tokens lead to.
    leads: BTreeMap<u64, u64>,
    call: Option<FuncId>,
    values: Vec<Bv>,
}

struct Made {
    seq: ObjectSeq,
    /// In C, and as a type of the program.
    ty: String,
    element: Option<TypeId>,
    base: u64,
    size: u64,
    /// Where it holds which token.
    slots: Vec<(u64, u64)>,
}

/// Whether a function makes objects for arguments.
pub fn makes(function: &Function) -> bool {
    function.name == MAKE
}

impl Making {
    /// An object was made in a function that makes some.
    pub fn allocated(&mut self, program: &Program, function: &Function, seq: ObjectSeq, base: u64, state: &State) {
        let element = match program.types[function.return_type] {
            CType::Pointer(to) => Some(to),
            _ => None,
        };
        let ty = element.map_or_else(String::new, |to| program.type_name(to));
        let size = state.object_at(base).map_or(0, |o| o.size);
        self.made.push(Made { seq, ty, element, base, size, slots: Vec::new() });
    }

    /// A value was stored in such a function.
    pub fn stored(&mut self, program: &Program, at: u64, value: &Bv) {
        let (Some(made), Some(token)) = (self.made.last_mut(), value.to_u64()) else { return };
        if value.width() == program.layout.pointer_width && (made.base..made.base + made.size).contains(&at) {
            made.slots.push((at - made.base, token));
        }
    }

    /// A function returned `value`.
    pub fn returned(&mut self, function: &Function, value: Option<&Bv>, state: &State) {
        if function.name != FOLLOW {
            return;
        }
        let token = function.params.first().and_then(|&p| state.var(p)).and_then(|v| v.to_u64());
        if let (Some(token), Some(to)) = (token, value.and_then(Bv::to_u64)) {
            self.leads.insert(token, to);
        }
    }

    /// The program's first function was called.
    pub fn called(&mut self, program: &Program, func: FuncId, state: &State) {
        if program.funcs[func].name == "main" {
            return;
        }
        self.call = Some(func);
        self.values = program.funcs[func].params.iter().filter_map(|&p| state.var(p)).collect();
    }

    /// The call, in a run on these inputs.
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
                // A number may be that of an address.
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
            let count = made.element.and_then(|ty| program.size_of(ty)).map_or(1, |size| made.size / size.max(1));
            ArgumentObject {
                ty: made.ty.clone(),
                size: made.size,
                members: made.element.map_or_else(Vec::new, |ty| members(program, ty, &bytes, &pointers, count)),
                bytes,
                pointers,
            }
        });
        Some(Arguments { function: function.name.clone(), values: values.collect(), objects: objects.collect() })
    }
}

/// A C type that is passed so.
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
