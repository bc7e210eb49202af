//! An LLVM module as plain data, decoded from the buffer of `shim/export.cpp`.
//!
//! Tables refer to each other by row number. Instructions remain encoded in the buffer and are read in place. Decoding
//! is cheap, because the lowering reads most instructions only once or twice.

pub mod op;

use crate::compile::CALLED;
use crate::file_assembly::FileAssembly;
use crate::llvm::Buffer;
use crate::primitives::{OF_PROGRAM, OWN};
use cfa::FloatFormat;
use std::ops::Range;

/// The number that stands for no row.
pub const NONE: u32 = u32::MAX;

/// Flags in the opcode word of an instruction; see [`Instruction`].
const INEXACT: u32 = 1 << 8;
const FUSED: u32 = 1 << 9;
const EXTENDED: u32 = 1 << 10;

/// A row in [`Module::types`].
pub type Ty = u32;

/// The kind of an LLVM type.
#[derive(Clone, PartialEq, Debug)]
pub enum TypeKind {
    /// Metadata, labels, tokens, scalable vectors, and unsized types.
    Other,
    Void,
    Int(u32),
    Float(FloatFormat),
    Pointer,
    Array(Ty, u64),
    Vector(Ty, u32),
    /// The elements with their offsets in bytes.
    Struct(Vec<(Ty, u64)>),
    Function {
        result: Ty,
        variadic: bool,
        params: Vec<Ty>,
    },
}

/// An LLVM type.
#[derive(Clone, Debug)]
pub struct Type {
    pub kind: TypeKind,
    pub bits: u64,
    /// The distance of array elements in bytes.
    pub size: u64,
}

/// A constant.
#[derive(Clone, Debug)]
pub struct Constant {
    pub ty: Ty,
    pub kind: ConstantKind,
}

/// The kind of a constant.
#[derive(Clone, Debug)]
pub enum ConstantKind {
    Other,
    /// An integer or the representation of a float, as little-endian words.
    Bits(Vec<u64>),
    Null,
    Undef,
    /// Poison.
    Poison,
    Aggregate(Vec<u32>),
    /// The elements of an array or vector as stored in memory: a range of [`Module::text`].
    Data(Range<usize>),
    /// The number of a variable, function or alias; see [`Module::global`].
    Global(u32),
    /// The address of a block: the number of the function (as in `Global`) and of the block.
    Block(u32, u32),
    Expression {
        opcode: u32,
        operands: Vec<u32>,
    },
    /// A constant plus a constant offset in bytes.
    Gep {
        offset: i64,
        base: u32,
    },
}

/// A source position.
#[derive(Clone, Debug)]
pub struct Place {
    pub file: u32,
    pub line: u32,
    pub column: u32,
    pub inlined_at: u32,
    /// The C name of the inlined function that contains the position.
    pub inlined: String,
    /// The symbol of that function, if it differs from the C name.
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
    /// The dimensions, outermost first. `u64::MAX` means an unknown length.
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

/// A member of a struct or union.
#[derive(Clone, Debug)]
pub struct FieldRow {
    pub name: String,
    pub ty: u32,
    pub bit_offset: u64,
    pub bit_width: u64,
}

/// A global variable.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub ty: Ty,
    pub init: u32,
    pub align: u32,
    pub constant: bool,
    /// If no file defines the variable, its address is 0.
    pub extern_weak: bool,
    /// The variable is `static`, or a literal.
    pub local: bool,
    /// A table of LLVM (`llvm.global_ctors`).
    pub appending: bool,
    pub c_name: String,
    pub c_type: u32,
    pub file: u32,
    pub line: u32,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub ty: Ty,
    pub declaration: bool,
    pub model: bool,
    pub extern_weak: bool,
    /// The function is `static`.
    pub local: bool,
    /// The result must be initialised.
    pub returns_defined: bool,
    /// The function is called without a declaration, so its type is `int f()`.
    pub implicit: bool,
    /// The function comes from a bitcode input, so optimisation passes may have changed it.
    pub bitcode: bool,
    /// No pass may change the function (`optnone`), or inline it.
    pub not_optimised: bool,
    pub not_inlined: bool,
    pub c_name: String,
    pub file: u32,
    pub line: u32,
    /// The C types of the result and the parameters. Empty without debug information.
    pub c_types: Vec<u32>,
    /// The attributes of parameters that have any.
    pub attributes: Vec<Attributes>,
    /// The number of the first instruction, in module order.
    pub first_instruction: u32,
    pub body: Option<Body>,
}

/// The attributes of a parameter.
#[derive(Clone, Debug)]
pub struct Attributes {
    pub parameter: u32,
    /// The argument is a copy of an object with this size and alignment in bytes. The parameter's value is the address
    /// of the copy.
    pub copy: Option<(u64, u32)>,
    /// The parameter is the address of the result, which has this size in bytes.
    pub result: Option<u64>,
    /// The caller sign-extends the argument.
    pub signed: bool,
    /// C guarantees that the argument points to at least this many bytes (`int a[static 4]`; C17, 6.7.6.3p7).
    pub least: Option<u64>,
}

/// The body of a function. Instructions are numbered over all blocks.
#[derive(Clone, Debug, Default)]
pub struct Body {
    pub variables: Vec<DebugVariable>,
    pub blocks: Vec<Range<u32>>,
    pub instructions: Vec<Instruction>,
}

/// A debug record about a local variable at an instruction.
#[derive(Clone, Debug)]
pub struct DebugVariable {
    pub value: Operand,
    /// The value is the variable's address, not its content.
    pub is_address: bool,
    /// The value is the whole variable, not a part or a function of it.
    pub is_plain: bool,
    /// The scope is the function body, not an inner block.
    pub is_of_body: bool,
    pub name: String,
    pub c_type: u32,
    pub file: u32,
    pub line: u32,
}

/// An instruction. [`Module`] has methods to read its operands and other fields.
#[derive(Clone, Copy, Debug)]
pub struct Instruction {
    /// LLVM's opcode; see [`op`].
    pub opcode: u8,
    /// Optimisation may change the result of this operation on floats.
    pub is_inexact: bool,
    /// A multiplication and an addition that the machine rounds once.
    pub is_fused: bool,
    /// The machine computes this operation on floats with the precision of the x87.
    pub is_extended: bool,
    pub ty: Ty,
    pub place: u32,
    at: u32,
    operands: u32,
    extra: u32,
}

/// An operand of an instruction.
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

impl Variable {
    /// The C name of the variable.
    pub fn name_in_c(&self) -> &str {
        match self.c_name.is_empty() || self.name.ends_with(OF_PROGRAM) {
            true => &self.name,
            false => &self.c_name,
        }
    }
}

impl Function {
    /// The C name of the function. Clang's internal names of library functions (`__builtin_abort`) and those of Proviso
    /// are not C names.
    pub fn name_in_c(&self) -> &str {
        let has_one = !self.c_name.is_empty() && !self.c_name.starts_with("__builtin_");
        let is_renamed = self.name.ends_with(OWN) || self.name.ends_with(OF_PROGRAM);
        match has_one && !self.c_name.starts_with(CALLED) && !is_renamed {
            true => &self.c_name,
            false if is_renamed => &self.name,
            // LLVM numbers the symbols of static functions with equal names. Clones also have a suffix.
            false if self.local && !self.model => self.name.split_once('.').map_or(&self.name, |(name, _)| name),
            false => &self.name,
        }
    }

    /// True if a call of this function counts as a call of `name`; see [`cfa::Function::is_named`].
    pub fn is_named(&self, name: &str) -> bool {
        let is_library = self.declaration || self.model;
        let is_name = |own: &str| own == name || is_library && cfa::documented_name(own) == name;
        is_name(&self.name) || is_name(self.name_in_c())
    }

    /// True if optimisation passes may have changed the function.
    pub fn is_optimised(&self) -> bool {
        self.bitcode && !self.not_optimised
    }
}

impl Place {
    /// True if the position is in an inlined body of the function `name`.
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

/// A second name of a constant.
#[derive(Clone, Debug)]
pub struct Alias {
    /// The aliased constant. `NONE` for an ifunc.
    pub target: u32,
}

/// Inline assembly.
#[derive(Clone, Debug)]
pub struct Assembly {
    pub text: String,
    pub constraints: String,
}

/// The entity of a number in [`ConstantKind::Global`], with its row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GlobalRef {
    Variable(usize),
    Function(usize),
    Alias(usize),
}

/// A decoded module.
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
    /// Effects of assembly at file scope.
    pub file_assembly: Vec<FileAssembly>,
    pub text: Vec<u8>,
    words: Vec<u32>,
}

impl Module {
    /// True if the constant is the integer 1.
    pub fn is_one(&self, constant: u32) -> bool {
        matches!(&self.constants[constant as usize].kind, ConstantKind::Bits(words) if words[..] == [1])
    }
    /// The variable whose address a constant is.
    pub fn variable(&self, constant: u32) -> Option<usize> {
        let ConstantKind::Global(number) = self.constants[constant as usize].kind else { return None };
        match self.global(number) {
            GlobalRef::Variable(n) => Some(n),
            _ => None,
        }
    }
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
    /// The name of the function that a call names directly.
    pub fn called(&self, call: &Instruction) -> Option<&str> {
        let Operand::Constant(c) = self.operand(call, self.extra(call)[1] as usize) else { return None };
        let ConstantKind::Global(number) = self.constants[c as usize].kind else { return None };
        match self.global(number) {
            GlobalRef::Function(n) => Some(&self.functions[n].name),
            _ => None,
        }
    }
    pub fn operand_count(&self, instruction: &Instruction) -> usize {
        instruction.operands as usize
    }
    /// The type of an operand in a function. `None` for blocks, metadata and assembly.
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
    /// The fields that are no operands; see `fields` in `shim/export.cpp`.
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

/// A reader of an exported module.
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
            local: flags & 4 != 0,
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
        let least = (flags & 8 != 0).then_some(object.0);
        Attributes { parameter, copy, result, signed: flags & 4 != 0, least }
    }

    /// A function, and the number of words of its body.
    fn function(&mut self) -> (Function, u32) {
        let (name, ty, flags) = (self.string(), self.word(), self.word());
        let function = Function {
            // LLVM marks a name that is an assembler label.
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
                let is_extended = opcode & EXTENDED != 0;
                let opcode = opcode as u8;
                let (operands, extra) = (self.word(), self.word());
                let at = self.at as u32;
                self.at += (operands + extra) as usize;
                Instruction { opcode, is_inexact, is_fused, is_extended, ty, place, at, operands, extra }
            })
            .collect();
        Body { variables, blocks, instructions }
    }
}
