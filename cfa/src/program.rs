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

mod op;
mod types;

pub use op::{AllocKind, Callee, Family, HaltKind, Leak, Op};
pub use types::{AUTOMATON, CType, Field, MONITOR, Passing};

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
    /// If it starts with another function than `main`, how the arguments of that are passed.
    pub passing: Vec<Passing>,
    /// Library models that were linked into the program, by function name, sorted.
    pub models: Vec<String>,
    /// Input functions that the C does not declare, so that they return `int`, though their names say otherwise; with a
    /// call of each. Neither text nor what is made of a program has them.
    pub undeclared: Vec<(String, Option<PlaceId>)>,
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
            passing: Vec::new(),
            models: Vec::new(),
            undeclared: Vec::new(),
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
            symbol: None,
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

/// Bytes of a variable of which no file says how large it is, with pointers of 32 and of 64 bits: more than it has.
const OPEN_SIZE: [u64; 2] = [1 << 26, 1 << 40];

impl Global {
    pub fn open_size(pointer_width: u32) -> u64 {
        OPEN_SIZE[usize::from(pointer_width == 64)]
    }

    /// Whether no file says how large it is.
    pub fn is_open(&self) -> bool {
        self.init.is_none() && OPEN_SIZE.contains(&self.size)
    }
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
    /// The linker's name, where it is another one: that of an assembler label.
    pub symbol: Option<String>,
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

impl Function {
    /// Returns whether a call of this function is a call of `name`: its C name, its symbol, or, of a function of the library, the
    /// name under which the library documents it.
    pub fn is_named(&self, name: &str) -> bool {
        let mut names = std::iter::once(&self.name).chain(&self.symbol);
        names.any(|own| own == name || self.origin != FunctionOrigin::Source && documented_name(own) == name)
    }
}

/// The documented name of a library function that headers and compilers call by a name of their own: `scanf` of
/// `__isoc99_scanf`, `memcpy` of the fortified `__memcpy_chk`, `printf` of our model `printf.void`.
pub fn documented_name(name: &str) -> &str {
    let name = name.strip_suffix(".void").unwrap_or(name);
    let Some(internal) = name.strip_prefix("__") else { return name };
    let fortified = internal.strip_suffix("_chk");
    fortified.or(internal.strip_prefix("isoc99_")).or(internal.strip_prefix("isoc23_")).unwrap_or(name)
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
    /// What a global variable of this name holds before the function that execution starts with.
    Global(String),
    /// The result of what is not modelled; an `Approx` edge stands before it.
    Unmodelled(String),
}

impl InputKind {
    /// Which memory a string literal shares with others.
    pub fn literals() -> Self {
        Self::Environment("string literals".to_owned())
    }
    /// Whether an allocation fails, of whichever function.
    pub fn allocation() -> Self {
        Self::Environment("malloc".to_owned())
    }
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
