//! The program: functions as control-flow automata over one table of expressions.
//!
//! A [`Program`] is a set of tables. A function is a CFA: [`Location`]s joined by [`Edge`]s
//! `(source, op, target)`. The CFA is deterministic: a location has no outgoing edge (a sink), one, or
//! two *assume* edges with opposite conditions.
//!
//! # Execution
//!
//! Execution starts at the entry location of [`Program::entry`], a function without parameters that the
//! front-end makes: it calls constructors and `main` and then halts. Global scalars hold their `init`,
//! global objects their initial bytes. Following an edge executes its [`Op`]. `Return` leaves the frame;
//! execution goes on at the target of the caller's `Call` edge.
//!
//! Memory is byte-addressed and little-endian. A pointer is a bit-vector of the layout's pointer width.
//! Every [`Global`], every `Alloc` and every function has an address; distinct live objects never overlap
//! and address 0 is never valid. A pointer is valid for an access if it points into a live object whose
//! end is not exceeded. Stack objects die when the function that allocated them returns.
//!
//! What cannot be modelled exactly is an [`Op::Approx`] edge with a [`Taint`] that says in which direction
//! the truth was left.

use crate::bv::Bv;
use crate::check::Check;
use crate::expr::{ExprId, ExprPool};
use crate::float::FloatFormat;
use crate::index::{Table, id_type};
use crate::source::{FileId, Place, PlaceId, SourceFile};
use rustc_hash::FxHashMap;

id_type!(
    /// A location of a CFA; unique in the program.
    LocId, "l"
);
id_type!(
    /// An edge of a CFA; unique in the program.
    EdgeId, "t"
);
id_type!(
    /// A variable: global, or local to a function. Locals exist once per frame.
    VarId, "v"
);
id_type!(
    /// A function.
    FuncId, "f"
);
id_type!(
    /// A global memory object (an array, a struct, or a scalar whose address is taken).
    GlobalId, "g"
);
id_type!(
    /// A C type, for display and for the tests and witnesses written out.
    TypeId, "ty"
);
id_type!(
    /// A place where the program takes a value from its environment.
    InputId, "in"
);
id_type!(
    /// A reason why the program represented is not exactly the program given.
    TaintId, "taint"
);
id_type!(
    /// A violation: what an [`Op::Error`] edge stands for.
    ErrorId, "err"
);

/// Sizes and byte order of the target. Little-endian throughout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DataLayout {
    /// 32 (ILP32) or 64 (LP64).
    pub pointer_width: u32,
}

/// A whole program.
#[derive(Clone)]
pub struct Program {
    pub exprs: ExprPool,
    pub layout: DataLayout,
    pub types: Table<TypeId, CType>,
    pub vars: Table<VarId, Var>,
    pub globals: Table<GlobalId, Global>,
    pub funcs: Table<FuncId, Function>,
    pub locs: Table<LocId, Location>,
    pub edges: Table<EdgeId, Edge>,
    pub inputs: Table<InputId, Input>,
    pub taints: Table<TaintId, Taint>,
    pub errors: Table<ErrorId, ErrorInfo>,
    pub files: Table<FileId, SourceFile>,
    pub places: Table<PlaceId, Place>,
    /// Where execution starts: a function without parameters.
    pub entry: FuncId,
    /// Library models that were linked into the program, by function name, sorted.
    pub models: Vec<String>,
    place_ids: FxHashMap<Place, PlaceId>,
}

impl Program {
    /// A program with one empty function, its entry.
    pub fn new(layout: DataLayout) -> Self {
        let mut program = Self {
            exprs: ExprPool::new(),
            layout,
            types: Table::new(),
            vars: Table::new(),
            globals: Table::new(),
            funcs: Table::new(),
            locs: Table::new(),
            edges: Table::new(),
            inputs: Table::new(),
            taints: Table::new(),
            errors: Table::new(),
            files: Table::new(),
            places: Table::new(),
            entry: FuncId(0),
            models: Vec::new(),
            place_ids: FxHashMap::default(),
        };
        let void = program.types.push(CType::Void);
        program.entry = program.add_function("__start", void, None);
        program
    }

    // Building.

    /// A function with an entry location and nothing else.
    pub fn add_function(&mut self, name: &str, return_type: TypeId, return_width: Option<u32>) -> FuncId {
        let func = self.funcs.next_id();
        let entry = self.locs.push(Location { func, out: Out::Sink });
        self.funcs.push(Function {
            name: name.to_owned(),
            params: Vec::new(),
            varargs: None,
            return_width,
            return_type,
            entry,
            place: None,
            origin: FunctionOrigin::Source,
        })
    }
    pub fn add_location(&mut self, func: FuncId) -> LocId {
        self.locs.push(Location { func, out: Out::Sink })
    }
    /// An only edge out of `source`, which must have none yet. Assume edges come in pairs: see
    /// [`add_branch`](Self::add_branch).
    pub fn add_edge(&mut self, source: LocId, op: Op, target: LocId, place: Option<PlaceId>) -> EdgeId {
        assert_eq!(self.locs[source].out, Out::Sink, "{source} has an outgoing edge already");
        debug_assert!(!matches!(op, Op::Assume { .. }));
        let edge = self.edges.push(Edge { source, op, target, place, fault: None, origin: Box::default() });
        self.locs[source].out = Out::One(edge);
        edge
    }
    /// Two assume edges out of `source`, which must have no edge yet: `cond` to `then_target`, its
    /// negation to `else_target`.
    pub fn add_branch(
        &mut self,
        source: LocId,
        cond: ExprId,
        then_target: LocId,
        else_target: LocId,
        place: Option<PlaceId>,
    ) -> (EdgeId, EdgeId) {
        assert_eq!(self.locs[source].out, Out::Sink, "{source} has an outgoing edge already");
        let negated = self.exprs.not(cond);
        let mut edge = |branch, cond, target| {
            let op = Op::Assume { cond, branch, means: None };
            self.edges.push(Edge { source, op, target, place, fault: None, origin: Box::default() })
        };
        let then_edge = edge(true, cond, then_target);
        let else_edge = edge(false, negated, else_target);
        self.locs[source].out = Out::Branch { then_edge, else_edge };
        (then_edge, else_edge)
    }
    /// Says what an assume edge means for C's condition.
    pub fn set_meaning(&mut self, edge: EdgeId, truth: Option<bool>) {
        if let Op::Assume { means, .. } = &mut self.edges[edge].op {
            *means = truth;
        }
    }
    /// The id of a place, the same for equal places.
    pub fn place(&mut self, place: Place) -> PlaceId {
        *self.place_ids.entry(place).or_insert_with(|| self.places.push(place))
    }

    // Reading.

    /// The expression that is this variable.
    pub fn var_expr(&mut self, var: VarId) -> ExprId {
        let width = self.vars[var].width;
        self.exprs.var(var, width)
    }
    pub fn func_by_name(&self, name: &str) -> Option<FuncId> {
        self.funcs.iter().find(|(_, f)| f.name == name).map(|(id, _)| id)
    }
    /// The outgoing edges of a location, the then-branch first.
    pub fn out_edges(&self, loc: LocId) -> impl DoubleEndedIterator<Item = EdgeId> + use<> {
        let (first, second) = match self.locs[loc].out {
            Out::Sink => (None, None),
            Out::One(edge) => (Some(edge), None),
            Out::Branch { then_edge, else_edge } => (Some(then_edge), Some(else_edge)),
        };
        first.into_iter().chain(second)
    }
    /// The function whose body an edge belongs to.
    pub fn func_of(&self, edge: EdgeId) -> FuncId {
        self.locs[self.edges[edge].source].func
    }
}

/// Where execution goes from a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Out {
    /// Nowhere: the target of a `Return`, `Halt` or `Error`, or a location that is never reached.
    Sink,
    One(EdgeId),
    /// Two assume edges with opposite conditions.
    Branch {
        then_edge: EdgeId,
        else_edge: EdgeId,
    },
}

#[derive(Clone, Debug)]
pub struct Location {
    pub func: FuncId,
    pub out: Out,
}

#[derive(Clone, Debug)]
pub struct Edge {
    pub source: LocId,
    pub op: Op,
    pub target: LocId,
    pub place: Option<PlaceId>,
    /// What it is if the operation cannot be executed because of what it does with memory (see
    /// [`interp::Fault`](crate::interp::Fault)); `None` if nobody asks.
    pub fault: Option<ErrorId>,
    /// The LLVM instructions this edge stands for: their numbers in the module that was lowered, counted
    /// over all functions in module order, from 0; sorted.
    pub origin: Box<[u32]>,
}

/// What an edge does. Operands are evaluated in the state before the edge.
#[derive(Clone, PartialEq, Debug)]
pub enum Op {
    Skip,
    Assign {
        var: VarId,
        value: ExprId,
    },
    /// The edge is taken exactly if `cond`, one bit, is 1. `branch` tells the then-edge from the else-edge. The compiler
    /// may have exchanged the two; `means` is whether the condition that C has there is true, where that is known.
    Assume {
        cond: ExprId,
        branch: bool,
        means: Option<bool>,
    },
    /// Reads `ceil(width / 8)` bytes, of which the variable takes the low `width` bits.
    Load {
        var: VarId,
        addr: ExprId,
    },
    /// Writes `ceil(width / 8)` bytes; bits above the width are zero.
    Store {
        addr: ExprId,
        value: ExprId,
    },
    /// A new object of `size` bytes; `var` becomes its address, a multiple of `align` (a power of two).
    /// Its bytes are zero if `zeroed`, else of unknown content. Allocation never fails.
    Alloc {
        var: VarId,
        size: ExprId,
        align: u32,
        kind: AllocKind,
        zeroed: bool,
    },
    /// Ends the life of the object at `ptr`. Of the heap, a null `ptr` is a no-op; anything but the address of a live
    /// heap object is an invalid free. An object of the stack that ends before its function is that of a scope; what is no
    /// such object is let be.
    Free {
        ptr: ExprId,
        kind: AllocKind,
    },
    /// Does nothing, but where faults of it are errors, it is one if an object of the heap that is alive leaks.
    Leak(Leak),
    /// `var` becomes the number of bytes of the live object that `ptr` points into (for `realloc`). Any
    /// other `ptr` is an invalid access.
    ObjectSize {
        var: VarId,
        ptr: ExprId,
    },
    /// `var` becomes how many bytes `ptr` lies behind the start of the live object that it points into, or to the
    /// end of; all ones if there is none.
    ObjectOffset {
        var: VarId,
        ptr: ExprId,
    },
    /// `var` becomes an unconstrained value of its width.
    Havoc {
        var: VarId,
        input: InputId,
    },
    /// Copies `len` bytes as if through a buffer, whether or not the two overlap.
    Copy {
        dst: ExprId,
        src: ExprId,
        len: ExprId,
    },
    /// Sets `len` bytes to `byte` (8 bits).
    Fill {
        dst: ExprId,
        byte: ExprId,
        len: ExprId,
    },
    /// Execution goes on in the callee and comes back to this edge's target.
    Call {
        callee: Callee,
        args: Box<[ExprId]>,
        varargs: Option<ExprId>,
        result: Option<VarId>,
    },
    /// The value is present exactly if the function has a `return_width`. The target is a sink.
    Return {
        value: Option<ExprId>,
    },
    /// The program ends. The target is a sink.
    Halt(HaltKind),
    /// The property is violated. The target is a sink.
    Error(ErrorId),
    /// From here on the program represented differs from the program given, as the taint says.
    Approx {
        taint: TaintId,
    },
}

impl Op {
    /// Whether there are addresses or pointers with which it cannot be executed.
    pub fn may_fault(&self) -> bool {
        matches!(
            self,
            Op::Load { .. }
                | Op::Store { .. }
                | Op::Copy { .. }
                | Op::Fill { .. }
                | Op::Free { kind: AllocKind::Heap, .. }
                | Op::ObjectSize { .. }
                | Op::Leak(_)
                | Op::Call { callee: Callee::Indirect(_), .. }
        )
    }
    /// The variable that this operation itself writes in the frame of its function (or globally).
    pub fn def(&self) -> Option<VarId> {
        match *self {
            Op::Assign { var, .. }
            | Op::Load { var, .. }
            | Op::Alloc { var, .. }
            | Op::ObjectSize { var, .. }
            | Op::ObjectOffset { var, .. }
            | Op::Havoc { var, .. } => Some(var),
            Op::Call { result, .. } => result,
            _ => None,
        }
    }
    /// Calls `visit` with every expression that this operation evaluates.
    pub fn for_each_expr(&self, mut visit: impl FnMut(ExprId)) {
        match self {
            Op::Skip | Op::Havoc { .. } | Op::Error(_) | Op::Approx { .. } | Op::Leak(_) => {}
            Op::Assign { value: e, .. }
            | Op::Assume { cond: e, .. }
            | Op::Load { addr: e, .. }
            | Op::Alloc { size: e, .. }
            | Op::ObjectSize { ptr: e, .. }
            | Op::ObjectOffset { ptr: e, .. }
            | Op::Free { ptr: e, .. } => visit(*e),
            Op::Store { addr, value } => [*addr, *value].into_iter().for_each(visit),
            Op::Copy { dst, src, len } => [*dst, *src, *len].into_iter().for_each(visit),
            Op::Fill { dst, byte, len } => [*dst, *byte, *len].into_iter().for_each(visit),
            Op::Call { callee, args, varargs, .. } => {
                if let Callee::Indirect(e) = callee {
                    visit(*e);
                }
                args.iter().chain(varargs).copied().for_each(visit);
            }
            Op::Return { value } => value.iter().copied().for_each(visit),
            Op::Halt(kind) => {
                if let HaltKind::Exit(code) = kind {
                    visit(*code);
                }
            }
        }
    }
    /// As [`for_each_expr`](Self::for_each_expr), to change them.
    pub fn for_each_expr_mut(&mut self, mut visit: impl FnMut(&mut ExprId)) {
        match self {
            Op::Skip | Op::Havoc { .. } | Op::Error(_) | Op::Approx { .. } | Op::Leak(_) => {}
            Op::Assign { value: e, .. }
            | Op::Assume { cond: e, .. }
            | Op::Load { addr: e, .. }
            | Op::Alloc { size: e, .. }
            | Op::ObjectSize { ptr: e, .. }
            | Op::ObjectOffset { ptr: e, .. }
            | Op::Free { ptr: e, .. } => visit(e),
            Op::Store { addr, value } => [addr, value].into_iter().for_each(visit),
            Op::Copy { dst, src, len } => [dst, src, len].into_iter().for_each(visit),
            Op::Fill { dst, byte, len } => [dst, byte, len].into_iter().for_each(visit),
            Op::Call { callee, args, varargs, .. } => {
                if let Callee::Indirect(e) = callee {
                    visit(e);
                }
                args.iter_mut().chain(varargs).for_each(visit);
            }
            Op::Return { value } => value.iter_mut().for_each(visit),
            Op::Halt(kind) => {
                if let HaltKind::Exit(code) = kind {
                    visit(code);
                }
            }
        }
    }
}

/// When an object of the heap leaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leak {
    /// When no variable leads to it: nothing points to it, or into it, but what is in objects that leak. Variables are those of
    /// the C program, in all frames, temporaries that are still needed, and all objects that are not of the heap.
    Lost,
    /// When it is alive.
    Alive,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AllocKind {
    /// Dies when the function that allocated it returns, if it has not been freed before.
    Stack,
    /// Dies when it is freed, which is the program's duty.
    Heap,
    /// Dies when it is freed, which is the C library's business.
    Library,
}

/// Whom a call calls.
///
/// The callee's parameters take `args` in order; surplus arguments are dropped, missing ones are unknown,
/// and one of another width is truncated or zero-extended (calls through unprototyped or wrongly typed
/// function pointers). A variadic callee's `varargs` variable takes the call's `varargs` (0 if absent).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callee {
    Direct(FuncId),
    /// The function at this address; any other address is an invalid call.
    Indirect(ExprId),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HaltKind {
    /// `exit` or the end of `main`, with the status (32 bits).
    Exit(ExprId),
    /// `abort`, a failed `assert` that is not the property, a trap.
    Abort,
    /// `__VERIFIER_assume` of something false: the path does not exist.
    Assumed,
    /// Control reached what the compiler declared unreachable: undefined behaviour.
    Unreachable,
}

/// A variable: a C variable whose address is not taken, a parameter, or a temporary.
#[derive(Clone, Debug)]
pub struct Var {
    /// The C name; `None` for temporaries.
    pub name: Option<String>,
    pub ty: TypeId,
    /// Bits.
    pub width: u32,
    pub kind: VarKind,
    /// Where it is declared.
    pub place: Option<PlaceId>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum VarKind {
    /// One for the program, with its initial value (a constant or an address); `None` is unknown.
    Global { init: Option<ExprId> },
    /// One per frame of this function. Its value at the start of the frame is unspecified, and the front-end
    /// puts a `Havoc` before any read of it that no write precedes.
    Local(FuncId),
    /// A parameter: a local that the call sets.
    Param(FuncId),
    /// A local that C does not name.
    Temp(FuncId),
}

impl Var {
    /// The function whose frames hold the variable; `None` for globals.
    pub fn func(&self) -> Option<FuncId> {
        match self.kind {
            VarKind::Global { .. } => None,
            VarKind::Local(f) | VarKind::Param(f) | VarKind::Temp(f) => Some(f),
        }
    }
}

/// A global memory object.
#[derive(Clone, Debug)]
pub struct Global {
    pub name: String,
    pub ty: TypeId,
    /// Bytes.
    pub size: u64,
    /// A power of two.
    pub align: u32,
    pub read_only: bool,
    /// `None`: declared elsewhere and of unknown content.
    pub init: Option<GlobalInit>,
    pub place: Option<PlaceId>,
}

/// The first content of a global object: `bytes`, then zeros up to its size, with `pointers` written over.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GlobalInit {
    /// Without trailing zeros.
    pub bytes: Vec<u8>,
    /// Values with addresses in them (over `GlobalAddr`, `FuncAddr` and constants), by byte offset, ascending.
    pub pointers: Vec<(u64, ExprId)>,
}

#[derive(Clone, Debug)]
pub struct Function {
    /// The C name.
    pub name: String,
    pub params: Vec<VarId>,
    /// For a variadic function, the variable that takes the address of the block of variadic arguments.
    pub varargs: Option<VarId>,
    /// Bits of the result; `None` for `void`.
    pub return_width: Option<u32>,
    pub return_type: TypeId,
    pub entry: LocId,
    pub place: Option<PlaceId>,
    pub origin: FunctionOrigin,
}

/// Where a function's body comes from. Every function of a program has a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FunctionOrigin {
    /// The user's code.
    Source,
    /// A library model of ours, written in C.
    Model,
    /// Declared but not defined: a body that over-approximates it, with an `Approx` edge.
    Undefined,
}

/// A place where the program takes a value that the program does not determine.
#[derive(Clone, Debug)]
pub struct Input {
    pub kind: InputKind,
    pub ty: TypeId,
    pub width: u32,
    pub place: Option<PlaceId>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InputKind {
    /// A call of this `__VERIFIER_nondet_*` function.
    Nondet(String),
    /// A variable read before it was written.
    Uninit(Option<String>),
    /// A result of the environment as a model describes it (`rand`, `getenv`, `scanf`, …); the model's function.
    Environment(String),
    /// What the function that execution starts with is given: an argument, or what one leads to, by its name in C.
    Argument(String),
    /// The result of what is not modelled; an `Approx` edge stands before it.
    Unmodelled(String),
}

/// A reason why a verdict may not carry over from the program represented to the program given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taint {
    /// For the user: "inline assembly", "call of undefined function 'f'".
    pub reason: String,
    pub place: Option<PlaceId>,
    /// Behaviours were added: a violation after this point may be spurious.
    pub over: bool,
    /// Behaviours were dropped: a proof is not one.
    pub under: bool,
}

/// What it means that an [`Op::Error`] edge is executed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ErrorInfo {
    pub check: Check,
    /// For the user: "reach_error is called".
    pub message: String,
    pub place: Option<PlaceId>,
}

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

impl Program {
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
    /// A type in C notation (without a declarator).
    pub fn type_name(&self, ty: TypeId) -> String {
        match &self.types[ty] {
            CType::Void => "void".into(),
            CType::Bool => "_Bool".into(),
            CType::Int { name, .. } | CType::Float { name, .. } | CType::Typedef { name, .. } => name.clone(),
            CType::Pointer(to) => format!("{} *", self.type_name(*to)).replace("* *", "**"),
            CType::Array(of, Some(n)) => format!("{}[{n}]", self.type_name(*of)),
            CType::Array(of, None) => format!("{}[]", self.type_name(*of)),
            CType::Struct { union, name, .. } => format!("{} {name}", if *union { "union" } else { "struct" }),
            CType::Enum { name, .. } => format!("enum {name}"),
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
}
