//! `Display` wrappers for the printer.

use super::*;

/// A constant as `value:width`. It is negative if it is a small negative number, and hexadecimal if it is large.
pub(super) struct ConstText<'b>(pub(super) &'b Bv);

impl Display for ConstText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.0.width();
        if let (true, Some(value @ -0x10000..)) = (width > 1 && self.0.sign(), self.0.to_i64()) {
            write!(f, "{value}:{width}")
        } else if self.0.to_u64().is_some_and(|v| v < 1 << 32) {
            write!(f, "{}:{width}", self.0)
        } else {
            write!(f, "{:#x}:{width}", self.0.to_biguint())
        }
    }
}

/// ` "name"`, or nothing.
pub(super) struct OptionalName<'s>(pub(super) &'s Option<String>);

impl Display for OptionalName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |name| write!(f, " {}", Quoted(name.as_bytes())))
    }
}

/// A C name and a dot, if the name can be part of a word.
pub(super) struct Hint<'s>(pub(super) Option<&'s str>);

impl Display for Hint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |s: &&str| {
            s.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && s.starts_with(|c: char| !c.is_ascii_digit())
        };
        match self.0.filter(plain) {
            Some(name) => write!(f, "{name}."),
            None => Ok(()),
        }
    }
}

pub(super) struct VarName<'p>(pub(super) &'p Program, pub(super) VarId);

impl Display for VarName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.0.vars.get(self.1).and_then(|v| v.name.as_deref());
        write!(f, "{}{}", Hint(name), self.1)
    }
}

pub(super) struct FuncName<'p>(pub(super) &'p Program, pub(super) FuncId);

impl Display for FuncName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Hint(self.0.funcs.get(self.1).map(|f| &*f.name)), self.1)
    }
}

/// ` @place`, or nothing.
pub(super) struct At(pub(super) Option<PlaceId>);

impl Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |place| write!(f, " @{place}"))
    }
}

/// A source position as a comment.
pub(super) struct Comment<'p>(pub(super) &'p Program, pub(super) Option<PlaceId>);

impl Display for Comment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(place) = self.1.and_then(|place| self.0.places.get(place)) else { return Ok(()) };
        let Some(file) = self.0.files.get(place.file) else { return Ok(()) };
        let name = file.path.rsplit('/').next().unwrap_or_default().replace('\n', " ");
        write!(f, " // {name}:{}:{}", place.line, place.column)
    }
}

/// Bytes in quotes. ASCII is printed unchanged, other bytes as `\xHH`.
pub(super) struct Quoted<'b>(pub(super) &'b [u8]);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for &byte in self.0 {
            match byte {
                b'"' => f.write_str("\\\"")?,
                b'\\' => f.write_str("\\\\")?,
                b'\n' => f.write_str("\\n")?,
                b' '..=b'~' => f.write_char(byte.into())?,
                _ => write!(f, "\\x{byte:02x}")?,
            }
        }
        f.write_char('"')
    }
}

pub(super) struct TypeText<'t>(pub(super) &'t CType);

impl Display for TypeText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = |signed: bool| if signed { "signed" } else { "unsigned" };
        match self.0 {
            CType::Void => write!(f, "void"),
            CType::Bool => write!(f, "bool"),
            CType::Int { name, width, signed } => {
                write!(f, "int {} {width} {}", Quoted(name.as_bytes()), sign(*signed))
            }
            CType::Float { name, format } => write!(f, "float {} {}", Quoted(name.as_bytes()), format.name()),
            CType::Pointer(to) => write!(f, "pointer {to}"),
            CType::Array(of, Some(n)) => write!(f, "array {of} {n}"),
            CType::Array(of, None) => write!(f, "array {of}"),
            CType::Struct { union, name, size, fields } => {
                let kind = if *union { "union" } else { "struct" };
                write!(f, "{kind} {} {size} {{", Quoted(name.as_bytes()))?;
                for (i, field) in fields.iter().enumerate() {
                    let name = Quoted(field.name.as_bytes());
                    let separator = if i == 0 { "" } else { "," };
                    write!(f, "{separator} {name} {} {} {}", field.ty, field.bit_offset, field.bit_width)?;
                }
                write!(f, " }}")
            }
            CType::Enum { name, width, signed, values } => {
                write!(f, "enum {} {width} {} {{", Quoted(name.as_bytes()), sign(*signed))?;
                for (i, (name, value)) in values.iter().enumerate() {
                    write!(f, "{} {} {value}", if i == 0 { "" } else { "," }, Quoted(name.as_bytes()))?;
                }
                write!(f, " }}")
            }
            CType::Function => write!(f, "function"),
            CType::Typedef { name, ty } => write!(f, "typedef {} {ty}", Quoted(name.as_bytes())),
            CType::Qualified { name, ty } => write!(f, "qualified {name} {ty}"),
            CType::Unknown { width } => write!(f, "unknown {width}"),
        }
    }
}
