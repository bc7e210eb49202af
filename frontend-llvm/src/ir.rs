//! An LLVM module as plain data: what `shim/export.cpp` wrote, decoded.
//!
//! Rows of tables name each other by number. Instructions are kept as runs of words of the buffer and read in
//! place: decoding costs next to nothing, and the lowering looks at most of them once or twice.

pub mod op;

use crate::compile::CALLED;
use crate::file_assembly::FileAssembly;
use crate::llvm::Buffer;
use crate::models::OWN;
use cfa::FloatFormat;
use std::ops::Range;

/// "No row".
pub const NONE: u32 = u32::MAX;

/// Beside the opcode of an instruction: see [`Instruction`].
const INEXACT: u32 = 1 << 8;
const FUSED: u32 = 1 << 9;

/// A row in [`Module::types`].
pub type Ty = u32;

#[derive(Clone, PartialEq, Debug)]
pub enum TypeKind {
    /// Metadata, labels, tokens, scalable vectors, types without a size.
    Other,
    Void,
    Int(u32),
    Float(FloatFormat),
    Pointer,
    Array(Ty, u64),
    Vector(Ty, u32),
    /// Each element with its offset in bytes.
    Struct(Vec<(Ty, u64)>),
    Function {
        result: Ty,
        variadic: bool,
        params: Vec<Ty>,
    },
}

#[derive(Clone, Debug)]
pub struct Type {
    pub kind: TypeKind,
    pub bits: u64,
    /// Bytes from one element of an array to the next.
    pub size: u64,
}

#[derive(Clone, Debug)]
pub struct Constant {
    pub ty: Ty,
    pub kind: ConstantKind,
}

#[derive(Clone, Debug)]
pub enum ConstantKind {
    Other,
    /// An integer or the bits of a float, little-endian.
    Bits(Vec<u64>),
    Null,
    Undef,
    /// The result of an operation on constants that is undefined.
    Poison,
    Aggregate(Vec<u32>),
    /// The elements of an array or vector as they lie in memory: a range of [`Module::text`].
    Data(Range<usize>),
    /// The number of a variable, function or alias: see [`Module::global`].
    Global(u32),
    /// The address of a block: function (as in `Global`) and number of the block.
    Block(u32, u32),
    Expression {
        opcode: u32,
        operands: Vec<u32>,
    },
    /// A constant and a constant offset in bytes.
    Gep {
        offset: i64,
        base: u32,
    },
}

#[derive(Clone, Debug)]
pub struct Place {
    pub file: u32,
    pub line: u32,
    pub column: u32,
    pub inlined_at: u32,
    /// The C name of the function that was inlined there.
    pub inlined: String,
    /// Its symbol, where that is another name.
    pub inlined_symbol: String,
}

/// A C type from debug information. `NONE` is `void`.
#[derive(Clone, Debug)]
pub enum CTypeRow {
    Unknown {
        bits: u32,
    },
    Basic {
        class: u32,
        bits: u32,
        name: String,
    },
    Pointer(u32),
    /// Outermost dimension first; `u64::MAX` for an unknown length.
    Array(u32, Vec<u64>),
    Record {
        union: bool,
        size: u64,
        name: String,
        fields: Vec<FieldRow>,
    },
    Enum {
        bits: u32,
        signed: bool,
        name: String,
        values: Vec<(String, i64)>,
    },
    Function,
    Typedef(u32, String),
    Qualified(u32, u32),
}

#[derive(Clone, Debug)]
pub struct FieldRow {
    pub name: String,
    pub ty: u32,
    pub bit_offset: u64,
    pub bit_width: u64,
}

#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub ty: Ty,
    pub init: u32,
    pub align: u32,
    pub constant: bool,
    /// Address 0 if nothing defines it.
    pub extern_weak: bool,
    /// One of LLVM's own (`llvm.global_ctors`).
    pub appending: bool,
    pub c_name: String,
    pub c_type: u32,
    pub file: u32,
    pub line: u32,
}

#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub ty: Ty,
    pub declaration: bool,
    pub model: bool,
    pub extern_weak: bool,
    /// `static`.
    pub local: bool,
    /// The result must be initialised.
    pub returns_defined: bool,
    /// Called and not declared, so taken for `int f()`.
    pub implicit: bool,
    /// Given as bitcode, so that passes may have run over it.
    pub bitcode: bool,
    /// No pass may change it (`optnone`), or inline it.
    pub not_optimised: bool,
    pub not_inlined: bool,
    pub c_name: String,
    pub file: u32,
    pub line: u32,
    /// C types of the result and the parameters; empty without debug information.
    pub c_types: Vec<u32>,
    /// What parameters are besides their types, where they are anything.
    pub attributes: Vec<Attributes>,
    /// The number of its first instruction, in module order.
    pub first_instruction: u32,
    pub body: Option<Body>,
}

/// How a parameter is passed.
#[derive(Clone, Debug)]
pub struct Attributes {
    pub parameter: u32,
    /// The argument is an object, of this size and alignment in bytes, and its value here the address of it.
    pub copy: Option<(u64, u32)>,
    /// Space for the result, of so many bytes.
    pub result: Option<u64>,
    /// Whoever calls extends its sign.
    pub signed: bool,
}

/// The code of a function. Instructions are numbered through all blocks.
#[derive(Clone, Debug, Default)]
pub struct Body {
    pub variables: Vec<DebugVariable>,
    pub blocks: Vec<Range<u32>>,
    pub instructions: Vec<Instruction>,
}

/// What debug information says of a local variable at some point.
#[derive(Clone, Debug)]
pub struct DebugVariable {
    pub value: Operand,
    /// The value is the variable's address, not its content.
    pub is_address: bool,
    /// The value is the whole of it, not a part or a function of it.
    pub is_plain: bool,
    /// Its scope is the body of the function, not a block within.
    pub is_of_body: bool,
    pub name: String,
    pub c_type: u32,
    pub file: u32,
    pub line: u32,
}

/// An instruction; its operands and other fields are read through [`Module`].
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    /// LLVM's number: see [`op`].
    pub opcode: u8,
    /// The optimiser may change the result of the operation on floats.
    pub is_inexact: bool,
    /// A product and a sum that the machine rounds once.
    pub is_fused: bool,
    pub ty: Ty,
    pub place: u32,
    at: u32,
    operands: u32,
    extra: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    Argument(u32),
    Instruction(u32),
    Constant(u32),
    Block(u32),
    Assembly(u32),
    /// Metadata.
    Nothing,
}

impl Function {
    /// The name that the function has in C. Clang's own names of library functions (`__builtin_abort`), and ours, are none.
    pub fn name_in_c(&self) -> &str {
        let has_one = !self.c_name.is_empty() && !self.c_name.starts_with("__builtin_");
        match has_one && !self.c_name.starts_with(CALLED) && !self.name.ends_with(OWN) {
            true => &self.c_name,
            // Of static functions of one name, LLVM numbers the symbols; clones have a suffix, too.
            false if self.local && !self.model => self.name.split_once('.').map_or(&self.name, |(name, _)| name),
            false => &self.name,
        }
    }

    /// Returns whether a call of this function is a call of `name`: see [`cfa::Function::is_named`].
    pub fn is_named(&self, name: &str) -> bool {
        let is_library = self.declaration || self.model;
        let is_name = |own: &str| own == name || is_library && cfa::documented_name(own) == name;
        is_name(&self.name) || is_name(self.name_in_c())
    }

    /// Whether passes may have changed it.
    pub fn is_optimised(&self) -> bool {
        self.bitcode && !self.not_optimised
    }
}

impl Place {
    /// Whether it is in a body of the function `name` that was inlined.
    pub fn is_inlined_from(&self, name: &str) -> bool {
        self.inlined_at != NONE && (self.inlined == name || self.inlined_symbol == name)
    }
}

impl Operand {
    fn decode(word: u32) -> Self {
        let number = word >> 3;
        match word & 7 {
            0 => Self::Argument(number),
            1 => Self::Instruction(number),
            2 => Self::Constant(number),
            3 => Self::Block(number),
            4 => Self::Assembly(number),
            _ => Self::Nothing,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Alias {
    /// A constant; `NONE` for an ifunc.
    pub target: u32,
}

#[derive(Clone, Debug)]
pub struct Assembly {
    pub text: String,
    pub constraints: String,
}

/// What a number in [`ConstantKind::Global`] stands for, and its row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GlobalRef {
    Variable(usize),
    Function(usize),
    Alias(usize),
}

#[derive(Debug)]
pub struct Module {
    pub pointer_width: u32,
    pub types: Vec<Type>,
    pub constants: Vec<Constant>,
    pub files: Vec<String>,
    pub places: Vec<Place>,
    pub c_types: Vec<CTypeRow>,
    pub variables: Vec<Variable>,
    pub functions: Vec<Function>,
    pub aliases: Vec<Alias>,
    pub assemblies: Vec<Assembly>,
    /// What assembly at file scope does that C does not say.
    pub file_assembly: Vec<FileAssembly>,
    pub text: Vec<u8>,
    words: Vec<u32>,
}

impl Module {
    pub fn global(&self, number: u32) -> GlobalRef {
        let (n, variables, functions) = (number as usize, self.variables.len(), self.functions.len());
        if n < variables {
            GlobalRef::Variable(n)
        } else if n < variables + functions {
            GlobalRef::Function(n - variables)
        } else {
            GlobalRef::Alias(n - variables - functions)
        }
    }
    pub fn kind(&self, ty: Ty) -> &TypeKind {
        &self.types[ty as usize].kind
    }
    pub fn operands(&self, instruction: &Instruction) -> impl ExactSizeIterator<Item = Operand> + DoubleEndedIterator {
        let at = instruction.at as usize;
        self.words[at..at + instruction.operands as usize].iter().map(|&word| Operand::decode(word))
    }
    pub fn operand(&self, instruction: &Instruction, n: usize) -> Operand {
        debug_assert!(n < instruction.operands as usize);
        Operand::decode(self.words[instruction.at as usize + n])
    }
    pub fn operand_count(&self, instruction: &Instruction) -> usize {
        instruction.operands as usize
    }
    /// The type of an operand in a function; `None` for blocks, metadata and assembly.
    pub fn operand_type(&self, function: &Function, operand: Operand) -> Option<Ty> {
        match operand {
            Operand::Argument(n) => match self.kind(function.ty) {
                TypeKind::Function { params, .. } => params.get(n as usize).copied(),
                _ => None,
            },
            Operand::Instruction(n) => function.body.as_ref().map(|body| body.instructions[n as usize].ty),
            Operand::Constant(n) => Some(self.constants[n as usize].ty),
            Operand::Block(_) | Operand::Assembly(_) | Operand::Nothing => None,
        }
    }
    /// The fields that are not operands: see `fields` in `shim/export.cpp`.
    pub fn extra(&self, instruction: &Instruction) -> &[u32] {
        let at = (instruction.at + instruction.operands) as usize;
        &self.words[at..at + instruction.extra as usize]
    }

    pub fn decode(buffer: Buffer) -> Self {
        let mut reader = Reader { words: &buffer.words, text: &buffer.text, at: 0 };
        let pointer_width = reader.word();
        let types = reader.section(|r| r.ty());
        let constants = reader.section(|r| r.constant(&types));
        let files = reader.section(|r| r.string());
        let places = reader.section(|r| Place {
            file: r.word(),
            line: r.word(),
            column: r.word(),
            inlined_at: r.word(),
            inlined: r.string(),
            inlined_symbol: r.string(),
        });
        let c_types = reader.section(|r| r.c_type());
        let variables = reader.section(|r| r.variable());
        let mut bodies = Vec::new();
        let mut functions = reader.section(|r| {
            let (function, words) = r.function();
            bodies.push(words);
            function
        });
        let aliases = reader.section(|r| Alias { target: r.word() });
        let assemblies = reader.section(|r| Assembly { text: r.string(), constraints: r.string() });
        reader.at += 3;
        for (function, words) in functions.iter_mut().zip(bodies) {
            if words > 0 {
                function.body = Some(reader.body());
            }
        }
        Self {
            pointer_width,
            types,
            constants,
            files,
            places,
            c_types,
            variables,
            functions,
            aliases,
            assemblies,
            file_assembly: buffer.file_assembly,
            text: buffer.text,
            words: buffer.words,
        }
    }
}

struct Reader<'b> {
    words: &'b [u32],
    text: &'b [u8],
    at: usize,
}

impl Reader<'_> {
    fn word(&mut self) -> u32 {
        self.at += 1;
        self.words[self.at - 1]
    }
    fn flag(&mut self) -> bool {
        self.word() != 0
    }
    fn word64(&mut self) -> u64 {
        let low = u64::from(self.word());
        low | u64::from(self.word()) << 32
    }
    fn range(&mut self) -> Range<usize> {
        let start = self.word() as usize;
        start..start + self.word() as usize
    }
    fn string(&mut self) -> String {
        let range = self.range();
        String::from_utf8_lossy(&self.text[range]).into_owned()
    }
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.word()).map(|_| item(self)).collect()
    }
    fn section<T>(&mut self, mut row: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = self.word();
        self.at += 2;
        (0..count).map(|_| row(self)).collect()
    }

    fn ty(&mut self) -> Type {
        let kind = match self.word() {
            1 => TypeKind::Void,
            2 => TypeKind::Int(self.word()),
            3 => TypeKind::Float(FloatFormat::ALL[self.word() as usize]),
            4 => TypeKind::Pointer,
            5 => TypeKind::Array(self.word(), self.word64()),
            6 => TypeKind::Vector(self.word(), self.word()),
            7 => TypeKind::Struct(self.list(|r| (r.word(), r.word64()))),
            8 => TypeKind::Function { result: self.word(), variadic: self.flag(), params: self.list(Self::word) },
            _ => TypeKind::Other,
        };
        Type { kind, bits: self.word64(), size: self.word64() }
    }

    fn constant(&mut self, types: &[Type]) -> Constant {
        let (kind, ty) = (self.word(), self.word());
        let words = types[ty as usize].bits.div_ceil(64);
        let kind = match kind {
            1 | 2 => ConstantKind::Bits((0..words).map(|_| self.word64()).collect()),
            3 => ConstantKind::Null,
            4 => ConstantKind::Undef,
            5 => ConstantKind::Poison,
            6 => ConstantKind::Aggregate(self.list(Self::word)),
            7 => ConstantKind::Data(self.range()),
            8 => ConstantKind::Global(self.word()),
            9 => ConstantKind::Block(self.word(), self.word()),
            10 => ConstantKind::Expression { opcode: self.word(), operands: self.list(Self::word) },
            11 => ConstantKind::Gep { offset: self.word64() as i64, base: self.word() },
            _ => ConstantKind::Other,
        };
        Constant { ty, kind }
    }

    fn c_type(&mut self) -> CTypeRow {
        match self.word() {
            1 => CTypeRow::Basic { class: self.word(), bits: self.word(), name: self.string() },
            2 => CTypeRow::Pointer(self.word()),
            3 => CTypeRow::Array(self.word(), self.list(Self::word64)),
            4 => CTypeRow::Record {
                union: self.flag(),
                size: self.word64(),
                name: self.string(),
                fields: self.list(|r| FieldRow {
                    name: r.string(),
                    ty: r.word(),
                    bit_offset: r.word64(),
                    bit_width: r.word64(),
                }),
            },
            5 => CTypeRow::Enum {
                bits: self.word(),
                signed: self.flag(),
                name: self.string(),
                values: self.list(|r| (r.string(), r.word64() as i64)),
            },
            6 => CTypeRow::Function,
            7 => CTypeRow::Typedef(self.word(), self.string()),
            8 => CTypeRow::Qualified(self.word(), self.word()),
            _ => CTypeRow::Unknown { bits: self.word() },
        }
    }

    fn variable(&mut self) -> Variable {
        let (name, ty, init, align, flags) = (self.string(), self.word(), self.word(), self.word(), self.word());
        Variable {
            name,
            ty,
            init,
            align,
            constant: flags & 1 != 0,
            extern_weak: flags & 2 != 0,
            appending: flags & 8 != 0,
            c_name: self.string(),
            c_type: self.word(),
            file: self.word(),
            line: self.word(),
        }
    }

    fn attributes(&mut self) -> Attributes {
        let (parameter, flags, object) = (self.word(), self.word(), (self.word64(), self.word()));
        let copy = (flags & 1 != 0).then_some(object);
        let result = (flags & 2 != 0).then_some(object.0);
        Attributes { parameter, copy, result, signed: flags & 4 != 0 }
    }

    /// A function and the number of words of its body.
    fn function(&mut self) -> (Function, u32) {
        let (name, ty, flags) = (self.string(), self.word(), self.word());
        let function = Function {
            // An assembler label stands as it is behind a mark.
            name: name.trim_start_matches('\u{1}').to_owned(),
            ty,
            declaration: flags & 1 != 0,
            model: flags & 2 != 0,
            extern_weak: flags & 4 != 0,
            local: flags & 8 != 0,
            returns_defined: flags & 16 != 0,
            implicit: flags & 32 != 0,
            bitcode: flags & 64 != 0,
            not_optimised: flags & 128 != 0,
            not_inlined: flags & 256 != 0,
            c_name: self.string(),
            file: self.word(),
            line: self.word(),
            c_types: self.list(Self::word),
            attributes: self.list(Self::attributes),
            first_instruction: self.word(),
            body: None,
        };
        (function, self.word())
    }

    fn body(&mut self) -> Body {
        let variables = self.list(|r| DebugVariable {
            value: Operand::decode(r.word()),
            is_address: r.flag(),
            is_plain: r.flag(),
            is_of_body: r.flag(),
            name: r.string(),
            c_type: r.word(),
            file: r.word(),
            line: r.word(),
        });
        let mut end = 0;
        let blocks = self.list(|r| {
            let start = end;
            end += r.word();
            start..end
        });
        let instructions = (0..end)
            .map(|_| {
                let (opcode, ty, place) = (self.word(), self.word(), self.word());
                let (is_inexact, is_fused) = (opcode & INEXACT != 0, opcode & FUSED != 0);
                let opcode = opcode as u8;
                let (operands, extra) = (self.word(), self.word());
                let at = self.at as u32;
                self.at += (operands + extra) as usize;
                Instruction { opcode, is_inexact, is_fused, ty, place, at, operands, extra }
            })
            .collect();
        Body { variables, blocks, instructions }
    }
}
