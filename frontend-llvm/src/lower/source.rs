//! Files, source positions and C types, from debug information.

use crate::ir::{self, CTypeRow, NONE};
use crate::options::InputFile;
use cfa::{CType, Field, FileId, FloatFormat, Id, Place, PlaceId, Program, SourceFile, TypeId};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};

/// The program's entities for the rows of the module's debug information.
#[derive(Default)]
pub(super) struct SourceMap {
    files: Vec<FileId>,
    /// The source positions. `None` for line 0, which marks code that the compiler generated.
    places: Vec<Option<PlaceId>>,
    /// The type of the first row. The types of the other rows follow in order.
    first_type: u32,
    unknown_types: FxHashMap<u32, TypeId>,
    float_types: FxHashMap<FloatFormat, TypeId>,
    named_types: FxHashMap<(&'static str, u32), TypeId>,
}

/// The paths of files. A compile command may name a C file in its own way: such a file gets the absolute path of the
/// input. Headers that are found from there get paths without `..`.
fn paths(files: &[String], inputs: &[InputFile]) -> Vec<String> {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let with_command = inputs.iter().filter(|input| input.command.is_some());
    let named: Vec<(PathBuf, PathBuf)> =
        with_command.filter_map(|i| Some((real(&i.path)?, std::path::absolute(&i.path).ok()?))).collect();
    let path = |file: &String| {
        let real = if named.is_empty() { None } else { real(Path::new(file)) };
        let input = named.iter().find(|(input, _)| real.as_ref() == Some(input)).map(|(_, path)| path);
        let path = input.or(real.as_ref().filter(|_| file.contains("/../")));
        path.map_or_else(|| file.clone(), |path| path.to_string_lossy().into_owned())
    };
    files.iter().map(path).collect()
}

/// The type `void`, which is in every program.
pub(super) const VOID: TypeId = TypeId(0);

impl SourceMap {
    pub fn new(ir: &ir::Module, inputs: &[InputFile], program: &mut Program) -> Self {
        let mut map = Self::default();
        let paths = paths(&ir.files, inputs);
        map.files = paths.into_iter().map(|path| program.files.push(SourceFile { path })).collect();
        for place in &ir.places {
            // The row of the call precedes this row.
            let inlined_at = if place.inlined_at == NONE { None } else { map.places[place.inlined_at as usize] };
            let known = place.file != NONE && place.line != 0;
            let id = known.then(|| {
                let (line, column) = (place.line, place.column);
                program.place(Place { file: map.files[place.file as usize], line, column, inlined_at })
            });
            map.places.push(id);
        }
        map.first_type = program.types.next_id().index() as u32;
        // First one type for each row, then the types that a row needs in addition.
        for row in &ir.c_types {
            let ty = map.convert(row);
            program.types.push(ty);
        }
        for (n, row) in ir.c_types.iter().enumerate() {
            if let CTypeRow::Array(element, lengths) = row
                && lengths.len() > 1
            {
                let mut inner = map.c_type(*element);
                for &length in lengths[1..].iter().rev() {
                    inner = program.types.push(CType::Array(inner, known_length(length)));
                }
                program.types[map.c_type(n as u32)] = CType::Array(inner, known_length(lengths[0]));
            }
        }
        map
    }

    /// The type of a row of the module. `void` for [`NONE`].
    pub fn c_type(&self, row: u32) -> TypeId {
        if row == NONE { VOID } else { TypeId(self.first_type + row) }
    }

    /// The source position of an instruction.
    pub fn instruction_place(&self, row: u32) -> Option<PlaceId> {
        if row == NONE { None } else { self.places[row as usize] }
    }

    pub fn into_places(self) -> Vec<Option<PlaceId>> {
        self.places
    }

    /// The source position of a declaration.
    pub fn place(&self, program: &mut Program, file: u32, line: u32) -> Option<PlaceId> {
        (file != NONE && line != 0)
            .then(|| program.place(Place { file: self.files[file as usize], line, column: 0, inlined_at: None }))
    }

    /// The source position of a line in a C file.
    pub fn place_in(&mut self, program: &mut Program, path: &Path, line: u32) -> PlaceId {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let known = program.files.iter().find(|(_, file)| Path::new(&file.path) == path).map(|(id, _)| id);
        let file =
            known.unwrap_or_else(|| program.files.push(SourceFile { path: path.to_string_lossy().into_owned() }));
        program.place(Place { file, line, column: 0, inlined_at: None })
    }

    /// A type of values without debug information. `void` if there is no width.
    pub fn unknown_type(&mut self, program: &mut Program, width: Option<u32>) -> TypeId {
        match width {
            None => VOID,
            Some(width) => {
                *self.unknown_types.entry(width).or_insert_with(|| program.types.push(CType::Unknown { width }))
            }
        }
    }

    /// The floating-point type of C for a format.
    pub fn float_type(&mut self, program: &mut Program, format: FloatFormat) -> TypeId {
        let name = format.c_name();
        let add = || program.types.push(CType::Float { name: name.to_owned(), format });
        *self.float_types.entry(format).or_insert_with(add)
    }

    /// The result type of a `__VERIFIER_nondet_` function with this suffix, if the suffix implies one.
    pub fn nondet_type(&mut self, program: &mut Program, name: &str, width: u32) -> Option<TypeId> {
        let (name, signed) = match promised_type(name)? {
            ("_Bool", _) if width != 1 && width != 8 => ("int", true),
            promised => promised,
        };
        if let Some(&ty) = self.named_types.get(&(name, width)) {
            return Some(ty);
        }
        let ty = match name {
            "_Bool" => CType::Bool,
            "float" | "double" | "long double" => {
                CType::Float { name: name.into(), format: float_format(width, name)? }
            }
            "char *" => {
                let char = program.types.push(CType::Int { name: "char".into(), width: 8, signed: true });
                CType::Pointer(char)
            }
            _ => CType::Int { name: name.into(), width, signed },
        };
        let ty = program.types.push(ty);
        self.named_types.insert((name, width), ty);
        Some(ty)
    }

    fn convert(&self, row: &CTypeRow) -> CType {
        match row {
            CTypeRow::Unknown { bits } => CType::Unknown { width: (*bits).max(1) },
            CTypeRow::Basic { class: 2, .. } => CType::Bool,
            CTypeRow::Basic { class: 3, bits, name } => match float_format(*bits, name) {
                Some(format) => CType::Float { name: name.clone(), format },
                None => CType::Unknown { width: (*bits).max(1) },
            },
            CTypeRow::Basic { class: class @ (0 | 1), bits, name } => {
                CType::Int { name: name.clone(), width: (*bits).max(1), signed: *class == 0 }
            }
            CTypeRow::Basic { bits, .. } => CType::Unknown { width: (*bits).max(1) },
            CTypeRow::Pointer(to) => CType::Pointer(self.c_type(*to)),
            CTypeRow::Array(element, lengths) => {
                CType::Array(self.c_type(*element), lengths.first().and_then(|&n| known_length(n)))
            }
            CTypeRow::Record { union, size, name, fields } => {
                let fields = fields.iter().map(|field| Field {
                    name: field.name.clone(),
                    ty: self.c_type(field.ty),
                    bit_offset: field.bit_offset,
                    bit_width: field.bit_width,
                });
                CType::Struct { union: *union, name: name.clone(), size: *size, fields: fields.collect() }
            }
            CTypeRow::Enum { bits, signed, name, values } => {
                CType::Enum { name: name.clone(), width: (*bits).max(1), signed: *signed, values: values.clone() }
            }
            CTypeRow::Function => CType::Function,
            CTypeRow::Typedef(ty, name) => CType::Typedef { name: name.clone(), ty: self.c_type(*ty) },
            CTypeRow::Qualified(ty, which) => CType::Qualified {
                name: ["const", "volatile", "restrict", "_Atomic"][*which as usize & 3],
                ty: self.c_type(*ty),
            },
        }
    }
}

/// The C type that the suffix of a name such as `__VERIFIER_nondet_uint` implies, and whether it is signed.
pub(super) fn promised_type(name: &str) -> Option<(&'static str, bool)> {
    Some(match name {
        "bool" | "_Bool" => ("_Bool", false),
        "char" => ("char", true),
        "schar" => ("signed char", true),
        "uchar" | "unsigned_char" => ("unsigned char", false),
        "short" => ("short", true),
        "ushort" | "unsigned_short" => ("unsigned short", false),
        "int" => ("int", true),
        "uint" | "unsigned" | "unsigned_int" => ("unsigned int", false),
        "long" => ("long", true),
        "ulong" | "unsigned_long" => ("unsigned long", false),
        "longlong" | "long_long" => ("long long", true),
        "ulonglong" | "unsigned_long_long" => ("unsigned long long", false),
        "int128" => ("__int128", true),
        "uint128" => ("unsigned __int128", false),
        "size_t" => ("size_t", false),
        "ssize_t" => ("ssize_t", true),
        "loff_t" => ("loff_t", true),
        "sector_t" => ("sector_t", false),
        "int8_t" => ("int8_t", true),
        "int16_t" => ("int16_t", true),
        "int32_t" => ("int32_t", true),
        "int64_t" => ("int64_t", true),
        "uint8_t" => ("uint8_t", false),
        "uint16_t" => ("uint16_t", false),
        "uint32_t" => ("uint32_t", false),
        "uint64_t" => ("uint64_t", false),
        "intptr_t" => ("intptr_t", true),
        "uintptr_t" => ("uintptr_t", false),
        "ptrdiff_t" => ("ptrdiff_t", true),
        "pthread_t" => ("pthread_t", false),
        "u8" => ("u8", false),
        "u16" => ("u16", false),
        "u32" => ("u32", false),
        "u64" => ("u64", false),
        "float" => ("float", true),
        "double" => ("double", true),
        "longdouble" | "long_double" | "ldouble" => ("long double", true),
        "pointer" | "pchar" | "charp" => ("char *", false),
        _ => return None,
    })
}

fn known_length(length: u64) -> Option<u64> {
    (length != u64::MAX).then_some(length)
}

/// The format of a floating-point type with this name and number of bits (including padding).
fn float_format(bits: u32, name: &str) -> Option<FloatFormat> {
    Some(match bits {
        16 if name.contains("bf16") => FloatFormat::BFloat,
        16 => FloatFormat::Half,
        32 => FloatFormat::Single,
        64 => FloatFormat::Double,
        128 if name.contains("128") => FloatFormat::Quad,
        80 | 96 | 128 => FloatFormat::X87,
        _ => return None,
    })
}
