//! Types of C.

use super::*;

/// How the names of the types start that states of automata have. No C type is called so. The variable before one of such a type holds what the
/// instance watches.
pub const AUTOMATON: &str = "automaton";
/// How the names of the functions start by which automata watch a program.
pub const MONITOR: &str = "__automaton_";

/// A C type as debug information gives it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum CType {
    Void,
    /// `_Bool`.
    Bool,
    /// An integer type by its C name.
    Int {
        name: String,
        width: u32,
        signed: bool,
    },
    Float {
        name: String,
        format: FloatFormat,
    },
    Pointer(TypeId),
    /// `None` for an unknown length.
    Array(TypeId, Option<u64>),
    /// Also unions. `name` is the tag, empty for anonymous ones. Bytes.
    Struct {
        union: bool,
        name: String,
        size: u64,
        fields: Vec<Field>,
    },
    Enum {
        name: String,
        width: u32,
        signed: bool,
        values: Vec<(String, i64)>,
    },
    Function,
    Typedef {
        name: String,
        ty: TypeId,
    },
    /// With `const` or `volatile`.
    Qualified {
        name: &'static str,
        ty: TypeId,
    },
    /// No debug information: only the width in bits is known.
    Unknown {
        width: u32,
    },
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Field {
    /// Empty for an anonymous member.
    pub name: String,
    pub ty: TypeId,
    /// From the start of the struct.
    pub bit_offset: u64,
    pub bit_width: u64,
}

/// How an argument is passed natively, where C compilers agree on it; parts of a struct are arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passing {
    Integer {
        signed: bool,
    },
    Float(FloatFormat),
    /// In one register.
    Vector,
    Pointer,
    /// In memory, as an object of this size and alignment in bytes, whose address the program's parameter is.
    Copy {
        size: u64,
        align: u32,
    },
    Other,
}

impl Program {
    /// Whether a variable holds the state of an automaton.
    pub fn is_automaton(&self, var: VarId) -> bool {
        matches!(&self.types[self.vars[var].ty], CType::Enum { name, .. } if name.starts_with("automaton "))
    }
    /// Whether it is a function by which an automaton watches the program.
    pub fn is_monitor(&self, func: FuncId) -> bool {
        self.funcs[func].origin == FunctionOrigin::Model && self.funcs[func].name.starts_with(MONITOR)
    }
    /// A type with typedefs and qualifiers removed.
    pub fn plain_type(&self, mut ty: TypeId) -> &CType {
        while let CType::Typedef { ty: inner, .. } | CType::Qualified { ty: inner, .. } = &self.types[ty] {
            ty = *inner;
        }
        &self.types[ty]
    }
    /// The size of a type in bytes, if it has one that is known.
    pub fn size_of(&self, ty: TypeId) -> Option<u64> {
        Some(match *self.plain_type(ty) {
            CType::Bool => 1,
            CType::Int { width, .. } | CType::Enum { width, .. } | CType::Unknown { width } => {
                let bytes = u64::from(width.div_ceil(8));
                // `_BitInt` is padded.
                if bytes <= 16 { bytes.next_power_of_two() } else { bytes }
            }
            // `long double` is padded to its alignment.
            CType::Float { format: FloatFormat::X87, .. } => {
                if self.layout.pointer_width == 64 {
                    16
                } else {
                    12
                }
            }
            CType::Float { format, .. } => u64::from(format.width() / 8),
            CType::Pointer(_) => u64::from(self.layout.pointer_width / 8),
            CType::Array(of, n) => self.size_of(of)?.checked_mul(n?)?,
            CType::Struct { size, .. } => size,
            CType::Void | CType::Function | CType::Typedef { .. } | CType::Qualified { .. } => return None,
        })
    }
    /// A type in C notation (without a declarator); one without a tag by a name that a `typedef` gives it.
    pub fn type_name(&self, ty: TypeId) -> String {
        let tagged = |kind: &str, tag: &str| match tag {
            "" => {
                let named = |t: &CType| match t {
                    CType::Typedef { name, ty: of } if *of == ty => Some(name.clone()),
                    _ => None,
                };
                self.types.values().find_map(named).unwrap_or_else(|| kind.into())
            }
            tag => format!("{kind} {tag}"),
        };
        match &self.types[ty] {
            CType::Void => "void".into(),
            CType::Bool => "_Bool".into(),
            CType::Int { name, .. } | CType::Float { name, .. } | CType::Typedef { name, .. } => name.clone(),
            CType::Pointer(to) => format!("{} *", self.type_name(*to)).replace("* *", "**"),
            CType::Array(of, Some(n)) => format!("{}[{n}]", self.type_name(*of)),
            CType::Array(of, None) => format!("{}[]", self.type_name(*of)),
            CType::Struct { union, name, .. } => tagged(if *union { "union" } else { "struct" }, name),
            CType::Enum { name, .. } => tagged("enum", name),
            CType::Function => "function".into(),
            CType::Qualified { name, ty } => format!("{name} {}", self.type_name(*ty)),
            CType::Unknown { width } => format!("{width} bits"),
        }
    }
    /// A value as C would write it in the given type: signed, unsigned, character, float or pointer.
    pub fn show_value(&self, ty: TypeId, value: &Bv) -> String {
        match self.plain_type(ty) {
            CType::Bool => value.to_string(),
            CType::Int { signed: true, .. } => value.to_bigint().to_string(),
            CType::Enum { values, .. } => {
                let number = value.to_i64();
                match values.iter().find(|(_, v)| Some(*v) == number) {
                    Some((name, _)) => name.clone(),
                    None => value.to_bigint().to_string(),
                }
            }
            CType::Float { format, .. } if value.width() == format.width() => crate::float::show(*format, value),
            CType::Pointer(_) | CType::Function => format!("{:#x}", value.to_biguint()),
            _ => value.to_string(),
        }
    }

    /// The scalar parts of an object of a type, at most so many: how C gets to each (`[0].next`), where it is in bytes, its
    /// type. Of unions and bit-fields nothing.
    pub fn scalars(&self, ty: TypeId, most: usize) -> Vec<(String, u64, TypeId)> {
        let mut parts = Vec::new();
        self.add_scalars(ty, String::new(), 0, most, &mut parts);
        parts
    }

    fn add_scalars(&self, ty: TypeId, way: String, at: u64, most: usize, parts: &mut Vec<(String, u64, TypeId)>) {
        if parts.len() >= most {
            return;
        }
        match self.plain_type(ty) {
            CType::Bool | CType::Int { .. } | CType::Enum { .. } | CType::Pointer(_) => parts.push((way, at, ty)),
            CType::Array(of, Some(count)) => {
                let Some(size) = self.size_of(*of) else { return };
                for i in 0..(*count).min(most as u64) {
                    self.add_scalars(*of, format!("{way}[{i}]"), at + i * size, most, parts);
                }
            }
            CType::Struct { union: false, fields, .. } => {
                for field in fields.iter().filter(|f| f.bit_offset % 8 == 0 && !f.name.is_empty()) {
                    if self.size_of(field.ty).is_some_and(|size| size * 8 == field.bit_width) {
                        let at = at + field.bit_offset / 8;
                        self.add_scalars(field.ty, format!("{way}.{}", field.name), at, most, parts);
                    }
                }
            }
            _ => {}
        }
    }
}
