//! C declarations of the program's types that need no other declarations of the program. The declared types have the
//! layout and calling convention of the program's types.

use cfa::{CType, Field, FloatFormat, Program, TypeId};

/// The name of a type that is known only by its size and does not fit into a register.
pub const UNKNOWN: &str = "unknown";

/// Returns the name of a type for users. Structures of the C library have the names that its headers give them.
pub fn name(program: &Program, ty: TypeId) -> String {
    const NAMES: [(&str, &str); 3] =
        [("struct proviso_stream", "FILE"), ("struct proviso_folder", "DIR"), ("struct proviso_", "struct ")];
    NAMES.iter().fold(program.type_name(ty), |text, (of_models, of_headers)| text.replace(of_models, of_headers))
}

/// Returns the C declaration of `declarator` with this type.
fn declare(program: &Program, ty: TypeId, declarator: &str) -> String {
    let base = |name: &str| format!("{name} {declarator}").trim_end().to_owned();
    match program.plain_type(ty) {
        CType::Bool => base("_Bool"),
        CType::Unknown { width } if *width > 64 => format!("unsigned char {declarator}[{}]", width.div_ceil(8)),
        CType::Int { name, .. } | CType::Float { name, .. } => base(name),
        CType::Pointer(_) | CType::Function => base("void *"),
        CType::Array(of, n) => declare(program, *of, &format!("{declarator}[{}]", n.unwrap_or(0))),
        CType::Enum { width, .. } | CType::Unknown { width } => base(unsigned(*width)),
        CType::Void => base("void"),
        CType::Struct { union, size, fields, .. } => base(&of_members(program, *union, *size, fields)),
        CType::Typedef { .. } | CType::Qualified { .. } => unreachable!("a plain type is none of these"),
    }
}

/// Returns the C type for the result of a function in a test harness. In C, functions return no arrays, so an array type
/// in the debug information stands for a vector. Returns [`UNKNOWN`] for a
/// type that is known only by its size and does not fit into a register.
pub fn plain_name(program: &Program, ty: TypeId) -> String {
    match program.plain_type(ty) {
        CType::Enum { .. } => "int".into(),
        CType::Unknown { width: 65.. } => UNKNOWN.into(),
        CType::Array(of, Some(n)) => {
            let bytes = program.size_of(*of).unwrap_or(1) * n;
            format!("{} __attribute__((vector_size({bytes})))", declare(program, *of, ""))
        }
        _ => declare(program, ty, ""),
    }
}

/// Returns the smallest unsigned C type with at least `width` bits.
fn unsigned(width: u32) -> &'static str {
    match width {
        ..=8 => "unsigned char",
        9..=16 => "unsigned short",
        17..=32 => "unsigned int",
        _ => "unsigned long long",
    }
}

/// Returns the C type of a struct or union without a name. If C's layout of the members differs, the struct is packed,
/// with unnamed bit-fields between the members. Unnamed bit-fields do not affect the calling convention (System V ABI
/// for x86-64, section 3.2.3).
fn of_members(program: &Program, union: bool, size: u64, fields: &[Field]) -> String {
    let is_packed = !union && !is_natural(program, size, fields);
    let (mut body, mut end) = (String::new(), 0);
    for (n, field) in fields.iter().enumerate() {
        if is_packed {
            body += &padding(end, field.bit_offset);
        }
        let bits = match is_bit_field(program, field) {
            true => format!(" : {}", field.bit_width),
            false => String::new(),
        };
        body += &format!("{}{bits}; ", declare(program, field.ty, &format!("m{n}")));
        end = end.max(field.bit_offset + field.bit_width);
    }
    if is_packed {
        body += &padding(end, 8 * size);
    }
    let (keyword, packed) =
        (if union { "union" } else { "struct" }, if is_packed { " __attribute__((packed))" } else { "" });
    format!("{keyword} {{ {body}}}{packed}")
}

/// Returns unnamed bit-fields for the bits `from..to`.
fn padding(from: u64, to: u64) -> String {
    const MOST: u64 = 32;
    (from..to).step_by(MOST as usize).map(|at| format!("unsigned int : {}; ", MOST.min(to - at))).collect()
}

/// Returns true if the member is a bit-field: its width differs from that of its type.
fn is_bit_field(program: &Program, field: &Field) -> bool {
    program.size_of(field.ty).is_some_and(|bytes| 8 * bytes != field.bit_width)
}

/// Returns true if C's layout of a struct with these members has this size in bytes and these offsets.
fn is_natural(program: &Program, size: u64, fields: &[Field]) -> bool {
    let (mut end, mut align) = (0u64, 1u64);
    for field in fields {
        let own = align_of(program, field.ty);
        let unit = 8 * program.size_of(field.ty).unwrap_or(1).max(1);
        let start = match is_bit_field(program, field) {
            // A bit-field does not cross the boundary of a unit of its type.
            true if end % unit + field.bit_width > unit => end.next_multiple_of(unit),
            true => end,
            false => end.next_multiple_of(8 * own),
        };
        if start != field.bit_offset {
            return false;
        }
        (end, align) = (start + field.bit_width, align.max(own));
    }
    end.next_multiple_of(8 * align) == 8 * size
}

/// Returns the alignment of a type in bytes.
fn align_of(program: &Program, ty: TypeId) -> u64 {
    let ilp32 = program.layout.pointer_width == 32;
    match program.plain_type(ty) {
        CType::Float { format: FloatFormat::X87, .. } if ilp32 => 4,
        CType::Array(of, _) => align_of(program, *of),
        CType::Struct { fields, .. } => fields.iter().map(|f| align_of(program, f.ty)).max().unwrap_or(1),
        _ => program.size_of(ty).unwrap_or(1).clamp(1, if ilp32 { 4 } else { 16 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::DataLayout;

    #[test]
    fn declared_structs_have_the_layout_of_the_program() {
        let mut program = Program::new(DataLayout { pointer_width: 64 });
        let int = program.types.push(CType::Int { name: "int".into(), width: 32, signed: true });
        let char = program.types.push(CType::Int { name: "char".into(), width: 8, signed: true });
        let field = |ty, bit_offset, bit_width| Field { name: String::new(), ty, bit_offset, bit_width };
        let mut shown = |size, fields| {
            let ty = program.types.push(CType::Struct { union: false, name: "s".into(), size, fields });
            declare(&program, ty, "x")
        };
        assert_eq!(shown(8, vec![field(char, 0, 8), field(int, 32, 32)]), "struct { char m0; int m1; } x");
        assert_eq!(shown(4, vec![field(int, 0, 3), field(int, 3, 29)]), "struct { int m0 : 3; int m1 : 29; } x");
        assert_eq!(
            shown(6, vec![field(char, 0, 8), field(int, 8, 32)]),
            "struct { char m0; int m1; unsigned int : 8; } __attribute__((packed)) x"
        );
    }
}
