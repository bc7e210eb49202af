//! Writes the initial values of global objects.

use super::file::File;
use super::roles;
use super::scalar::string_literal;
use super::types::integer_type;
use super::watch::{OBJECT, with_gap};
use cfa::text::exact::{ExactPrinter, literal};
use cfa::{Bv, CType, GlobalId, GlobalInit, TypeId};
use std::fmt::Write;

impl File<'_> {
    /// Returns true if a global object is declared with its own type, so that members and elements have names.
    pub fn is_typed(&mut self, g: GlobalId) -> bool {
        self.is_typed_or(g, |file| {
            file.has_size_of_type(g) && (file.p.globals[g].init.is_none() || file.typed_initialiser(g).is_some())
        })
    }

    fn has_size_of_type(&self, g: GlobalId) -> bool {
        self.p.size_of(self.p.globals[g].ty) == Some(self.p.globals[g].size)
    }

    fn typed_initialiser(&mut self, g: GlobalId) -> Option<String> {
        let global = &self.p.globals[g];
        let init = global.init.as_ref().filter(|_| self.has_size_of_type(g))?;
        self.initialiser(global.ty, 0, init)
    }

    /// Two texts for a global object: a declaration that may precede all others, and the definition with its value. The
    /// definition is empty for external objects.
    pub fn global_definition(&mut self, g: GlobalId) -> (String, String) {
        let global = &self.p.globals[g];
        let text = self.global(g);
        let (name, inner) = match text.strip_suffix(&format!(".{OBJECT}")) {
            Some(name) => (name.to_owned(), Some(OBJECT)),
            None => (text, None),
        };
        let typed = self.has_size_of_type(g);
        let Some(init) = &global.init else {
            let named = inner.unwrap_or(&name);
            let external = roles::is_external(self.p, global.place, true);
            let declaration = if global.is_open() {
                format!("unsigned char {named}[]")
            } else if typed || global.size == 0 {
                self.declare(global.ty, named)
            } else {
                format!("unsigned char {named}[{}]", global.size)
            };
            if inner.is_some() {
                return (format!("{} {name};\n", with_gap(&declaration, "")), String::new());
            }
            let external = if external { "extern " } else { "" };
            return (format!("{external}{declaration};\n"), String::new());
        };
        let aligned =
            if global.align > 1 { format!(" __attribute__((aligned({})))", global.align) } else { String::new() };
        let inner_value = self.typed_initialiser(g);
        if let (Some(inner), Some(value)) = (inner, &inner_value) {
            let declaration = self.declare(global.ty, inner);
            return self.with_gap_defined(&name, &with_gap(&declaration, &aligned), value, is_zero(init));
        }
        if let Some(value) = inner_value {
            let declaration = self.declare(global.ty, &name);
            let definition = if is_zero(init) { String::new() } else { format!("{declaration}{aligned} = {value};\n") };
            return (format!("{declaration}{aligned};\n"), definition);
        }
        self.raw_definition(g, &name, init, &aligned)
    }

    /// Defines an object as bytes with pointers between them.
    fn raw_definition(&mut self, g: GlobalId, name: &str, init: &GlobalInit, aligned: &str) -> (String, String) {
        let global = &self.p.globals[g];
        let (mut members, mut values) = (String::new(), Vec::new());
        let mut at = 0u64;
        let bytes = |members: &mut String, values: &mut Vec<String>, from: u64, to: u64| {
            if from < to {
                let _ = write!(members, "unsigned char b{from}[{}]; ", to - from);
                let of = |i: u64| init.bytes.get(i as usize).copied().unwrap_or(0).to_string();
                let known = (from..to.min(init.bytes.len() as u64)).map(of).collect::<Vec<_>>().join(", ");
                values.push(format!("{{{}}}", if known.is_empty() { "0" } else { &known }));
            }
        };
        for &(offset, value) in &init.pointers {
            bytes(&mut members, &mut values, at, offset);
            let width = self.p.exprs.width(value);
            if width == self.p.layout.pointer_width {
                let _ = write!(members, "char *p{offset}; ");
                values.push(self.pointer(value));
            } else {
                let _ = write!(members, "{} p{offset}; ", integer_type(width, false));
                values.push(self.bits(value));
            }
            at = offset + u64::from(width / 8);
        }
        bytes(&mut members, &mut values, at, global.size);
        if values.is_empty() {
            let declaration = format!("unsigned char {}[1]", if self.watch.is_some() { OBJECT } else { name });
            return match self.watch {
                Some(_) => (format!("{} {name};\n", with_gap(&declaration, "")), String::new()),
                None => (format!("{declaration};\n"), String::new()),
            };
        }
        let packed = if aligned.is_empty() {
            " __attribute__((packed))".to_owned()
        } else {
            format!(" __attribute__((packed)){aligned}")
        };
        if self.watch.is_some() {
            let declaration = format!("struct {{ {members}}}{packed} {OBJECT}");
            let value = format!("{{{}}}", values.join(", "));
            return self.with_gap_defined(name, &with_gap(&declaration, ""), &value, is_zero(init));
        }
        let tag = self.names.tag(&format!("{name}_bytes"));
        let definition =
            if is_zero(init) { String::new() } else { format!("struct {tag} {name} = {{{}}};\n", values.join(", ")) };
        (format!("struct {tag} {{ {members}}}{packed};\nstruct {tag} {name};\n"), definition)
    }

    /// The initialiser of the part of an object that has this type and offset.
    fn initialiser(&mut self, ty: TypeId, at: u64, init: &GlobalInit) -> Option<String> {
        let p = self.p;
        let plain = p.plain_type(ty);
        match plain {
            &CType::Array(of, Some(n)) => {
                let size = p.size_of(of)?;
                if size == 1 && matches!(p.plain_type(of), CType::Int { .. }) && n > 0 && n < 1 << 16 {
                    let bytes: Vec<u8> =
                        (at..at + n).map(|i| init.bytes.get(i as usize).copied().unwrap_or(0)).collect();
                    let used = bytes.iter().rposition(|&b| b != 0).map_or(0, |i| i + 1);
                    if used > 0 && bytes[..used].iter().all(|b| (0x20..0x7f).contains(b) || b"\n\t".contains(b)) {
                        return Some(string_literal(&bytes[..used]));
                    }
                }
                // Elements after the last non-zero one are zero.
                let end = init.bytes.len().max(init.pointers.last().map_or(0, |&(o, _)| o as usize + 8)) as u64;
                let used = if size == 0 { 0 } else { n.min(end.saturating_sub(at).div_ceil(size)) };
                let mut values = Vec::new();
                for i in 0..used {
                    values.push(self.initialiser(of, at + i * size, init)?);
                }
                while values.last().is_some_and(|v| v == "0") {
                    values.pop();
                }
                Some(if values.is_empty() { "{0}".to_owned() } else { format!("{{{}}}", values.join(", ")) })
            }
            CType::Struct { union, size, fields, .. } => {
                self.member(ty, 0)?;
                let mut values = Vec::new();
                for (n, field) in fields.iter().enumerate() {
                    let name = self.member(ty, n)?;
                    let value = match p.size_of(field.ty) {
                        Some(bytes) if 8 * bytes == field.bit_width => {
                            if *union && bytes != *size {
                                continue;
                            }
                            self.initialiser(field.ty, at + field.bit_offset / 8, init)?
                        }
                        _ if *union => continue,
                        // A flexible array member.
                        None => continue,
                        Some(_) => bit_field(init, 8 * at + field.bit_offset, field.bit_width),
                    };
                    if value != "0" && value != "{0}" {
                        values.push(format!(".{name} = {value}"));
                    }
                    if *union {
                        return Some(if values.is_empty() {
                            "{0}".to_owned()
                        } else {
                            format!("{{{}}}", values.join(""))
                        });
                    }
                }
                if *union {
                    return None;
                }
                Some(if values.is_empty() { "{0}".to_owned() } else { format!("{{{}}}", values.join(", ")) })
            }
            _ => self.scalar(ty, at, init),
        }
    }

    fn scalar(&mut self, ty: TypeId, at: u64, init: &GlobalInit) -> Option<String> {
        let p = self.p;
        let size = p.size_of(ty)?;
        if let Some(&(_, value)) = init.pointers.iter().find(|(offset, _)| *offset == at) {
            if u64::from(p.exprs.width(value)) != 8 * size {
                return None;
            }
            return Some(match p.plain_type(ty) {
                CType::Pointer(_) => format!("(void *){}", self.pointer(value)),
                _ => format!("({})({})", self.declare(ty, ""), self.pointer(value)),
            });
        }
        if init.pointers.iter().any(|(offset, _)| (at..at + size).contains(offset)) {
            return None;
        }
        let bytes: Vec<u8> = (at..at + size).map(|i| init.bytes.get(i as usize).copied().unwrap_or(0)).collect();
        if bytes.iter().all(|&b| b == 0) {
            return Some("0".to_owned());
        }
        let value = Bv::from_le_bytes(&bytes);
        Some(match *p.plain_type(ty) {
            CType::Float { format, .. } if matches!(format, cfa::FloatFormat::Single | cfa::FloatFormat::Double) => {
                if cfa::float::is_nan(format, &value) {
                    return None;
                }
                let shown = cfa::float::show(format, &value);
                match shown.as_str() {
                    "inf" => "1.0 / 0.0".to_owned(),
                    "-inf" => "-1.0 / 0.0".to_owned(),
                    _ => shown,
                }
            }
            CType::Float { .. } => return None,
            CType::Unknown { width } if width > 64 => return None,
            CType::Int { width, .. } | CType::Enum { width, .. } if width > 128 => return None,
            CType::Int { width, .. } | CType::Enum { width, .. } if width > 64 => literal(&value.resize(128)),
            CType::Int { signed: true, width: ..=64, .. } | CType::Enum { signed: true, width: ..=64, .. } => {
                let value = value.to_i64()?;
                if value == i64::MIN {
                    "(-9223372036854775807LL - 1)".to_owned()
                } else {
                    format!("{value}{}", if size > 4 { "LL" } else { "" })
                }
            }
            CType::Pointer(_) => format!("(void *){}UL", value.to_u64()?),
            _ => format!("{}{}", value.to_u64()?, if size > 4 { "ULL" } else { "U" }),
        })
    }
}

impl File<'_> {
    /// The definitions of an object with a gap after it.
    fn with_gap_defined(&mut self, name: &str, gapped: &str, value: &str, is_zero: bool) -> (String, String) {
        let tag = self.names.tag(&format!("{name}_object"));
        let tagged = gapped.replacen("struct", &format!("struct {tag}"), 1);
        let definition = if is_zero { String::new() } else { format!("struct {tag} {name} = {{{value}}};\n") };
        (format!("{tagged};\nstruct {tag} {name};\n"), definition)
    }
}

fn is_zero(init: &GlobalInit) -> bool {
    init.bytes.is_empty() && init.pointers.is_empty()
}

/// The value of the `width` bits from bit `from` on.
fn bit_field(init: &GlobalInit, from: u64, width: u64) -> String {
    let bit = |i: u64| init.bytes.get((i / 8) as usize).is_some_and(|b| b >> (i % 8) & 1 == 1);
    let value = (0..width.min(64)).filter(|&i| bit(from + i)).fold(0u64, |value, i| value | 1 << i);
    value.to_string()
}
