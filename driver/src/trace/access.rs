//! C names for parts of memory objects. An offset in an object of a C type becomes a path such as `.pos[3].x`.

use cfa::{CType, Program, TypeId};

/// Returns the path of the `len` bytes at `offset` in an object of type `ty`, and the type of the bytes if they are one
/// whole scalar. The path follows the object's name in C. The path of a part without a name in C ends with a range of
/// bytes, such as `<bytes 4..8>`.
pub fn access_path(program: &Program, mut ty: TypeId, mut offset: u64, len: u64) -> (String, Option<TypeId>) {
    let mut path = String::new();
    loop {
        match program.plain_type(ty) {
            CType::Array(of, _) => {
                let Some(size) = program.size_of(*of).filter(|s| *s > 0) else { break };
                path += &format!("[{}]", offset / size);
                (ty, offset) = (*of, offset % size);
            }
            CType::Struct { fields, .. } => {
                let covers = |f: &&cfa::Field| {
                    f.bit_offset <= 8 * offset && 8 * (offset + len) <= f.bit_offset + f.bit_width.next_multiple_of(8)
                };
                let exact = |f: &&cfa::Field| f.bit_offset == 8 * offset && f.bit_width.div_ceil(8) == len;
                let Some(field) = fields.iter().find(exact).or(fields.iter().find(covers)) else { break };
                if field.bit_offset % 8 != 0 {
                    break;
                }
                if !field.name.is_empty() {
                    path.push('.');
                    path += &field.name;
                }
                (ty, offset) = (field.ty, offset - field.bit_offset / 8);
            }
            CType::Void => break,
            _ => {
                let whole = offset == 0
                    && program.size_of(ty).is_some_and(|s| s == len || (s > len && len == 10) || s.div_ceil(2) < len);
                return if whole { (path, Some(ty)) } else { (path + &bytes(offset, len), None) };
            }
        }
    }
    (path + &bytes(offset, len), None)
}

/// Returns the scalar or the array of characters that contains the byte at `offset` of an object of type `ty`: its path
/// in C, the offset of its start in bytes, and its type. `None` for bit-fields and for bytes between members.
pub fn scalar(program: &Program, mut ty: TypeId, offset: u64) -> Option<(String, u64, TypeId)> {
    let (mut path, mut start) = (String::new(), 0);
    loop {
        match program.plain_type(ty) {
            CType::Array(of, _) if is_character(program, *of) => return Some((path, start, ty)),
            CType::Array(of, _) => {
                let size = program.size_of(*of).filter(|s| *s > 0)?;
                let index = (offset - start) / size;
                path += &format!("[{index}]");
                (ty, start) = (*of, start + index * size);
            }
            CType::Struct { fields, .. } => {
                let at = 8 * (offset - start);
                let field = fields.iter().find(|f| f.bit_offset <= at && at < f.bit_offset + f.bit_width)?;
                let is_whole = program.size_of(field.ty).is_some_and(|size| field.bit_width == 8 * size);
                if field.bit_offset % 8 != 0 || !is_whole {
                    return None;
                }
                if !field.name.is_empty() {
                    path = format!("{path}.{}", field.name);
                }
                (ty, start) = (field.ty, start + field.bit_offset / 8);
            }
            CType::Void | CType::Function => return None,
            _ => return Some((path, start, ty)),
        }
    }
}

/// Returns true for `char` and its signed and unsigned variants.
pub fn is_character(program: &Program, ty: TypeId) -> bool {
    matches!(program.plain_type(ty), CType::Int { name, width: 8, .. } if name.contains("char"))
}

/// The kind of a part of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// A whole object of this type.
    Whole(TypeId),
    /// Some elements of an array. The type is that of the elements.
    Elements(TypeId),
    /// Bytes without a type.
    Bytes,
}

/// Returns the path and the kind of the `len` bytes at `offset` in an object of type `ty`. In contrast to
/// [`access_path`], the bytes may be a member of any type or some elements of an array. More than one byte from the
/// start of an array of characters counts as the whole array.
pub fn part_path(program: &Program, mut ty: TypeId, mut offset: u64, len: u64) -> (String, Part) {
    let mut path = String::new();
    loop {
        if offset == 0 && program.size_of(ty) == Some(len) {
            return (path, Part::Whole(ty));
        }
        match program.plain_type(ty) {
            CType::Array(of, _) => {
                let Some(size) = program.size_of(*of).filter(|s| *s > 0) else { break };
                if size == 1 && offset == 0 && len > 1 {
                    return (path, Part::Whole(ty));
                }
                if offset % size + len > size {
                    let (from, to) = (offset / size, (offset + len).div_ceil(size));
                    let whole = offset.is_multiple_of(size) && len.is_multiple_of(size);
                    return (format!("{path}[{from}..{to}]"), if whole { Part::Elements(*of) } else { Part::Bytes });
                }
                path += &format!("[{}]", offset / size);
                (ty, offset) = (*of, offset % size);
            }
            CType::Struct { fields, .. } => {
                let covers = |f: &&cfa::Field| {
                    f.bit_offset.is_multiple_of(8)
                        && f.bit_offset <= 8 * offset
                        && 8 * (offset + len) <= f.bit_offset + f.bit_width.next_multiple_of(8)
                };
                let Some(field) = fields.iter().find(covers) else { break };
                if !field.name.is_empty() {
                    path.push('.');
                    path += &field.name;
                }
                (ty, offset) = (field.ty, offset - field.bit_offset / 8);
            }
            _ => break,
        }
    }
    (path + &bytes(offset, len), Part::Bytes)
}

/// Returns the path of a part that has no name in C.
fn bytes(offset: u64, len: u64) -> String {
    if len == 1 { format!("<byte {offset}>") } else { format!("<bytes {offset}..{}>", offset + len) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::{DataLayout, Field};

    #[test]
    fn paths() {
        let mut p = Program::new(DataLayout { pointer_width: 64 });
        let int = p.types.push(CType::Int { name: "int".into(), width: 32, signed: true });
        let char_ = p.types.push(CType::Int { name: "char".into(), width: 8, signed: true });
        let text = p.types.push(CType::Array(char_, Some(8)));
        let field =
            |name: &str, ty, at: u64, bits: u64| Field { name: name.into(), ty, bit_offset: at, bit_width: bits };
        let point = p.types.push(CType::Struct {
            union: false,
            name: "point".into(),
            size: 16,
            fields: vec![field("x", int, 0, 32), field("y", int, 32, 32), field("text", text, 64, 64)],
        });
        let points = p.types.push(CType::Array(point, Some(3)));
        assert_eq!(p.size_of(points), Some(48));
        let path = |offset, len| access_path(&p, points, offset, len);
        assert_eq!(path(16, 4), ("[1].x".into(), Some(int)));
        assert_eq!(path(36, 4), ("[2].y".into(), Some(int)));
        assert_eq!(path(10, 1), ("[0].text[2]".into(), Some(char_)));
        assert_eq!(path(5, 1), ("[0].y<byte 1>".into(), None));
        assert_eq!(path(0, 8), ("[0]<bytes 0..8>".into(), None));
        let mixed = p.types.push(CType::Struct {
            union: true,
            name: "u".into(),
            size: 4,
            fields: vec![field("i", int, 0, 32), field("c", char_, 0, 8)],
        });
        assert_eq!(access_path(&p, mixed, 0, 1), (".c".into(), Some(char_)));
        assert_eq!(access_path(&p, mixed, 0, 4), (".i".into(), Some(int)));
        assert_eq!(scalar(&p, points, 18), Some(("[1].x".into(), 16, int)));
        assert_eq!(scalar(&p, points, 43), Some(("[2].text".into(), 40, text)));
        let part = |offset, len| part_path(&p, points, offset, len);
        assert_eq!(part(0, 48), (String::new(), Part::Whole(points)));
        assert_eq!(part(16, 16), ("[1]".into(), Part::Whole(point)));
        assert_eq!(part(8, 3), ("[0].text".into(), Part::Whole(text)));
        assert_eq!(part(16, 32), ("[1..3]".into(), Part::Elements(point)));
        assert_eq!(part(12, 2), ("[0].text[4..6]".into(), Part::Elements(char_)));
        assert_eq!(part(4, 8), ("[0]<bytes 4..12>".into(), Part::Bytes));
    }
}
