//! Declares C types: the program's own tags and typedefs, with the layout that debug information records.
//!
//! A struct is declared with its members only if C would place them at their offsets. Otherwise it is an array of
//! bytes, and accesses use offsets. Qualifiers are dropped, because initialisation may write constants.

use super::names::{Names, is_keyword};
use cfa::text::exact::WIDE;
use cfa::{CType, Field, FloatFormat, Program, TypeId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// The declarations of all types mentioned so far, in an order that C accepts.
pub struct Types<'p> {
    p: &'p Program,
    /// Tags by type content: the files of a program may use one tag for different types.
    tags: FxHashMap<&'p CType, Tag>,
    typedefs: FxHashMap<(&'p str, TypeId), Option<String>>,
    /// The structs that are declared but not defined yet.
    pending: Vec<TypeId>,
    completed: FxHashSet<&'p CType>,
    layouts: FxHashMap<TypeId, Option<Layout>>,
    /// The text of the declarations.
    pub text: String,
}

/// The declaration of a struct or union.
#[derive(Clone)]
struct Tag {
    name: String,
    /// The names of the members, including generated ones.
    members: Vec<String>,
}

/// The layout of a type in C.
#[derive(Clone, Copy)]
struct Layout {
    align: u64,
    /// True if members can be accessed by name.
    transparent: bool,
}

impl<'p> Types<'p> {
    /// No declarations.
    pub fn new(p: &'p Program) -> Self {
        Self {
            p,
            tags: FxHashMap::default(),
            typedefs: FxHashMap::default(),
            pending: Vec::new(),
            completed: FxHashSet::default(),
            layouts: FxHashMap::default(),
            text: String::new(),
        }
    }

    fn plain(&self, mut ty: TypeId) -> TypeId {
        while let CType::Typedef { ty: inner, .. } | CType::Qualified { ty: inner, .. } = self.p.types[ty] {
            ty = inner;
        }
        ty
    }

    /// Declares `declarator` with this type. Declares the type first. It is complete, except for pointer targets.
    pub fn declare(&mut self, ty: TypeId, declarator: &str, names: &mut Names) -> String {
        self.complete(ty, names);
        self.spell(ty, declarator.to_owned(), names)
    }

    /// Defines all structs that are only declared.
    pub fn finish(&mut self, names: &mut Names) {
        while let Some(ty) = self.pending.pop() {
            self.complete(ty, names);
        }
    }

    /// The name of a struct member, if C places it at its offset.
    pub fn member(&mut self, ty: TypeId, index: usize, names: &mut Names) -> Option<String> {
        let ty = self.plain(ty);
        if !self.layout(ty).transparent {
            return None;
        }
        self.mention(ty, names);
        self.tags[&self.p.types[ty]].members.get(index).cloned()
    }

    /// Returns true if part of the type is written after the declarator.
    fn surrounds(&self, ty: TypeId) -> bool {
        match &self.p.types[ty] {
            CType::Array(..) | CType::Function => true,
            &CType::Unknown { width } => width > 64,
            &CType::Int { ref name, width, .. } => integer_width(name, width).is_some_and(|width| width > 128),
            CType::Qualified { ty, .. } => self.surrounds(*ty),
            CType::Typedef { name, ty } if !matches!(self.typedefs.get(&(name.as_str(), *ty)), Some(Some(_))) => {
                self.surrounds(*ty)
            }
            _ => false,
        }
    }

    fn spell(&mut self, ty: TypeId, declarator: String, names: &mut Names) -> String {
        let base = |name: &str| format!("{name} {declarator}").trim_end().to_owned();
        match &self.p.types[ty] {
            CType::Void => base("void"),
            CType::Bool => base("_Bool"),
            &CType::Int { ref name, width, signed } => match integer_width(name, width) {
                Some(width) if width > 128 => format!("unsigned char {declarator}[{}]", width.div_ceil(8)),
                Some(width) => base(integer_type(width, signed)),
                None => base(name),
            },
            CType::Float { format, .. } => base(format.c_name()),
            &CType::Pointer(to) => {
                let pointer = if self.surrounds(to) { format!("(*{declarator})") } else { format!("*{declarator}") };
                self.spell(to, pointer, names)
            }
            &CType::Array(of, n) => {
                // C has no arrays whose elements have unknown size, as in arrays of variable length. The result is an
                // array of the innermost elements.
                let (mut of, mut n) = (of, n);
                while let CType::Array(inner, _) = self.p.types[self.plain(of)]
                    && self.p.size_of(of).is_none()
                {
                    (of, n) = (inner, None);
                }
                let n = n.map_or_else(String::new, |n| n.to_string());
                self.spell(of, format!("{declarator}[{n}]"), names)
            }
            CType::Struct { union, .. } => {
                let tag = self.tag(ty, names);
                base(&format!("{} {}", if *union { "union" } else { "struct" }, tag.name))
            }
            CType::Enum { width, signed, .. } => base(integer_type(*width, *signed)),
            CType::Function => format!("void {declarator}(void)"),
            CType::Typedef { name, ty: inner } => {
                match self.typedefs.get(&(name.as_str(), *inner)).cloned().flatten() {
                    Some(name) => base(&name),
                    None => self.spell(*inner, declarator, names),
                }
            }
            CType::Qualified { ty, .. } => self.spell(*ty, declarator, names),
            &CType::Unknown { width } if width > 64 => format!("unsigned char {declarator}[{}]", width.div_ceil(8)),
            CType::Unknown { width } => base(integer_type(*width, false)),
        }
    }

    fn tag(&mut self, ty: TypeId, names: &mut Names) -> Tag {
        let content = &self.p.types[ty];
        if let Some(tag) = self.tags.get(content) {
            return tag.clone();
        }
        let CType::Struct { name, fields, .. } = content else { unreachable!("only structs have tags") };
        let mut used = FxHashSet::default();
        let member = |(i, field): (usize, &Field)| {
            let mut name = if field.name.is_empty() { format!("member{i}") } else { field.name.clone() };
            while is_keyword(&name) || !used.insert(name.clone()) {
                name.push('_');
            }
            name
        };
        let members = fields.iter().enumerate().map(member).collect();
        let tag = Tag { name: names.tag(if name.is_empty() { "anonymous" } else { name }), members };
        self.tags.insert(content, tag.clone());
        tag
    }

    /// Declares a type as far as a pointer to it requires.
    fn mention(&mut self, ty: TypeId, names: &mut Names) {
        match &self.p.types[ty] {
            &CType::Pointer(to) => self.mention(to, names),
            &CType::Array(of, _) => self.complete(of, names),
            CType::Qualified { ty, .. } => self.mention(*ty, names),
            CType::Struct { union, .. } if !self.tags.contains_key(&self.p.types[ty]) => {
                let tag = self.tag(ty, names);
                let _ = writeln!(self.text, "{} {};", if *union { "union" } else { "struct" }, tag.name);
                self.pending.push(ty);
            }
            CType::Typedef { name, ty: inner } => {
                self.mention(*inner, names);
                self.typedef(name, *inner, names);
            }
            _ => {}
        }
    }

    fn typedef(&mut self, name: &'p str, inner: TypeId, names: &mut Names) {
        if self.typedefs.contains_key(&(name, inner)) {
            return;
        }
        // Types of the compiler, and types that the printer writes differently.
        let own = name.starts_with("__builtin") || name.contains("int128") || name.contains("loat128");
        let taken = !own && !matches!(self.p.types[inner], CType::Function) && names.typedef(name);
        self.typedefs.insert((name, inner), taken.then(|| name.to_owned()));
        if taken {
            let declaration = self.spell(inner, name.to_owned(), names);
            let _ = writeln!(self.text, "typedef {declaration};");
        }
    }

    fn complete(&mut self, ty: TypeId, names: &mut Names) {
        match &self.p.types[ty] {
            &CType::Array(of, _) => self.complete(of, names),
            CType::Qualified { ty, .. } => self.complete(*ty, names),
            CType::Typedef { name, ty: inner } => {
                self.complete(*inner, names);
                self.typedef(name, *inner, names);
            }
            CType::Struct { union, size, fields, .. } => {
                if !self.completed.insert(&self.p.types[ty]) {
                    return;
                }
                let layout = self.layout(ty);
                let tag = self.tag(ty, names);
                let mut body = String::new();
                if layout.transparent {
                    for (field, name) in fields.iter().zip(&tag.members) {
                        let declaration = self.declare(field.ty, name, names);
                        let bits = match self.p.size_of(field.ty) {
                            Some(bytes) if 8 * bytes != field.bit_width => format!(" : {}", field.bit_width),
                            _ => String::new(),
                        };
                        let _ = writeln!(body, "    {declaration}{bits};");
                    }
                } else if *size > 0 {
                    let _ = writeln!(body, "    unsigned char bytes[{size}];");
                }
                let keyword = if *union { "union" } else { "struct" };
                let aligned = match layout {
                    Layout { transparent: false, align } if align > 1 => format!(" __attribute__((aligned({align})))"),
                    _ => String::new(),
                };
                let _ = writeln!(self.text, "{keyword} {} {{\n{body}}}{aligned};", tag.name);
            }
            _ => self.mention(ty, names),
        }
    }

    fn align(&mut self, ty: TypeId) -> u64 {
        let ilp32 = self.p.layout.pointer_width == 32;
        let ty = self.plain(ty);
        match &self.p.types[ty] {
            CType::Float { format: FloatFormat::X87, .. } if ilp32 => 4,
            &CType::Array(of, _) => self.align(of),
            CType::Struct { .. } => self.layout(ty).align,
            _ => {
                let size = self.p.size_of(ty).unwrap_or(1).max(1);
                if ilp32 { size.min(4) } else { size.min(16) }
            }
        }
    }

    fn layout(&mut self, ty: TypeId) -> Layout {
        if let Some(&known) = self.layouts.get(&ty) {
            // A struct that contains itself is invalid in C.
            return known.unwrap_or(Layout { align: 1, transparent: false });
        }
        self.layouts.insert(ty, None);
        let CType::Struct { union, size, fields, .. } = &self.p.types[ty] else {
            return Layout { align: self.align(ty), transparent: true };
        };
        let (mut end, mut align, mut fits) = (0u64, 1u64, !fields.is_empty());
        for field in fields {
            let own = self.align(field.ty);
            let bits = self.p.size_of(field.ty).map(|bytes| 8 * bytes);
            let start = match bits {
                _ if *union => 0,
                // A bit-field must not cross a boundary of its type.
                Some(bits) if bits != field.bit_width => {
                    if bits == 0 || field.bit_width == 0 {
                        fits = false;
                    }
                    let unit = bits.max(1);
                    if end % unit + field.bit_width > unit { end.next_multiple_of(unit) } else { end }
                }
                _ => end.next_multiple_of(8 * own),
            };
            fits &= start == field.bit_offset && self.is_laid_out(field.ty);
            align = align.max(own);
            end = end.max(start + field.bit_width);
        }
        fits &= end.div_ceil(8).next_multiple_of(align) == *size;
        let known = if fits {
            Layout { align, transparent: true }
        } else {
            Layout { align: (1u64 << size.trailing_zeros().min(4)).max(1), transparent: false }
        };
        self.layouts.insert(ty, Some(known));
        known
    }

    /// Returns true if objects of the type have the same size in C.
    fn is_laid_out(&mut self, ty: TypeId) -> bool {
        let ty = self.plain(ty);
        match self.p.types[ty] {
            CType::Array(of, Some(_)) => self.is_laid_out(of),
            CType::Unknown { width } => matches!(width, 8 | 16 | 32 | 64),
            CType::Int { ref name, width, .. } => {
                integer_width(name, width).is_none_or(|width| matches!(width, 8 | 16 | 32 | 64))
            }
            CType::Void | CType::Function | CType::Array(_, None) => false,
            _ => true,
        }
    }
}

/// The width of a `_BitInt` type. Debug information records only its size.
fn integer_width(name: &str, width: u32) -> Option<u32> {
    name.contains("_BitInt").then_some(width)
}

/// The smallest integer type with at least this many bits.
pub fn integer_type(width: u32, signed: bool) -> &'static str {
    match (width, signed) {
        (0..=8, false) => "unsigned char",
        (0..=8, true) => "signed char",
        (9..=16, false) => "unsigned short",
        (9..=16, true) => "short",
        (17..=32, false) => "unsigned int",
        (17..=32, true) => "int",
        (33..=64, false) => "unsigned long long",
        (33..=64, true) => "long long",
        (_, false) => WIDE.0,
        (_, true) => WIDE.1,
    }
}

/// The declarations of the 128-bit integer types. 32-bit targets have no `__int128`, but clang supports C23's `_BitInt` of that
/// width.
pub fn wide_types(pointer_width: u32) -> String {
    let of = if pointer_width == 32 { "_BitInt(128)" } else { "__int128" };
    format!("typedef unsigned {of} {};\ntypedef {of} {};\n", WIDE.0, WIDE.1)
}
