//! C types.

use super::*;

/// The prefix of the type names for the states of specification automata. No C type has such a name. The variable that
/// precedes a variable of such a type has the value that the automaton instance observes.
pub const AUTOMATON: &str = "automaton";
/// The prefix of the names of monitor functions, through which automata observe a program.
pub const MONITOR: &str = "__automaton_";

/// A C type, from debug information.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum CType {
    /// `void`.
    Void,
    /// `_Bool`.
    Bool,
    /// An integer type.
    Int {
        /// The C name.
        name: String,
        /// The width in bits.
        width: u32,
        /// True if it is signed.
        signed: bool,
    },
    /// A floating-point type.
    Float {
        /// The C name.
        name: String,
        /// The format.
        format: FloatFormat,
    },
    /// A pointer to a type.
    Pointer(TypeId),
    /// An array of a type. `None` for an unknown length.
    Array(TypeId, Option<u64>),
    /// A struct or a union.
    Struct {
        /// True if it is a union.
        union: bool,
        /// The tag. Empty if it has none.
        name: String,
        /// The size in bytes.
        size: u64,
        /// The members.
        fields: Vec<Field>,
    },
    /// An enumeration.
    Enum {
        /// The tag. Empty if it has none.
        name: String,
        /// The width in bits.
        width: u32,
        /// True if it is signed.
        signed: bool,
        /// The enumerators with their values.
        values: Vec<(String, i64)>,
    },
    /// A function type.
    Function,
    /// A typedef.
    Typedef {
        /// The name.
        name: String,
        /// The type that it names.
        ty: TypeId,
    },
    /// A qualified type.
    Qualified {
        /// The qualifier, for example `const`.
        name: &'static str,
        /// The type without the qualifier.
        ty: TypeId,
    },
    /// A type without debug information.
    Unknown {
        /// The width in bits.
        width: u32,
    },
}

/// A member of a struct or union.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Field {
    /// The name. Empty for an anonymous member.
    pub name: String,
    /// The type.
    pub ty: TypeId,
    /// The offset in bits from the start of the struct.
    pub bit_offset: u64,
    /// The width in bits.
    pub bit_width: u64,
}

/// The native calling convention of an argument, if C compilers agree on it. The parts of a struct are
/// separate arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passing {
    /// As an integer.
    Integer {
        /// True if it is signed.
        signed: bool,
    },
    /// As a float.
    Float(FloatFormat),
    /// In one vector register.
    Vector,
    /// As a pointer.
    Pointer,
    /// In memory. The program's parameter is the address of the object.
    Copy {
        /// The size in bytes.
        size: u64,
        /// The alignment in bytes.
        align: u32,
    },
    /// In another way.
    Other,
}

impl Program {
    /// True if the variable has the state of a specification automaton.
    pub fn is_automaton(&self, var: VarId) -> bool {
        matches!(&self.types[self.vars[var].ty], CType::Enum { name, .. } if name.starts_with("automaton "))
    }
    /// True if the function is a monitor function, through which an automaton observes the program.
    pub fn is_monitor(&self, func: FuncId) -> bool {
        self.funcs[func].origin == FunctionOrigin::Model && self.funcs[func].name.starts_with(MONITOR)
    }
    /// The type without typedefs and qualifiers.
    pub fn plain_type(&self, mut ty: TypeId) -> &CType {
        while let CType::Typedef { ty: inner, .. } | CType::Qualified { ty: inner, .. } = &self.types[ty] {
            ty = *inner;
        }
        &self.types[ty]
    }
    /// The size of a type in bytes, if known.
    pub fn size_of(&self, ty: TypeId) -> Option<u64> {
        Some(match *self.plain_type(ty) {
            CType::Bool => 1,
            CType::Int { width, .. } | CType::Enum { width, .. } | CType::Unknown { width } => {
                let bytes = u64::from(width.div_ceil(8));
                // C compilers pad `_BitInt` types.
                if bytes <= 16 { bytes.next_power_of_two() } else { bytes }
            }
            // C compilers pad `long double` to its alignment.
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
    /// A type in C notation without a declarator. A type without a tag is shown by a typedef of it.
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
    /// A value in C notation for the given type: signed, unsigned, enumerator, float or pointer.
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

    /// At most `most` scalar parts of an object of a type. For each: its C access path (`[0].next`), its offset in
    /// bytes, and its type. Unions and bit-fields have no parts here.
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
