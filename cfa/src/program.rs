//! The program: functions as control-flow automata over one table of expressions.
//!
//! A [`Program`] is a set of tables. A function is a CFA: [`Location`]s joined by [`Edge`]s `(source, op, target)`. The
//! CFA is deterministic. A location has no outgoing edge (a sink), one outgoing edge, or two *assume* edges with
//! opposite conditions.
//!
//! # Execution
//!
//! Execution starts at the entry location of [`Program::entry`], a function without parameters that the front-end
//! generates. It calls constructors and `main` and then halts. At the start, global scalars have their `init` and
//! global objects their initial bytes. To follow an edge is to execute its [`Op`]. `Return` leaves the frame; execution
//! continues at the target of the caller's `Call` edge.
//!
//! Memory is byte-addressed and little-endian. A pointer is a bit-vector of the layout's pointer width. Every
//! [`Global`], every `Alloc` and every function has an address. Distinct live objects never overlap. Address 0 is never
//! valid. An access is valid if its bytes are inside one live object. A stack object dies when the function that
//! allocated it returns.
//!
//! If the front-end cannot model something exactly, it emits an [`Op::Approx`] edge. The [`Taint`] of the edge gives
//! the direction of the approximation.

mod op;
mod types;

pub use crate::index::{FuncId, GlobalId, VarId};
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
    /// A C type, for display, tests and witnesses.
    TypeId, "ty"
);
id_type!(
    /// A program point that takes a value from the environment.
    InputId, "in"
);
id_type!(
    /// A taint: an approximation of the source program by the represented one.
    TaintId, "taint"
);
id_type!(
    /// A violation of a property, which an [`Op::Error`] edge represents.
    ErrorId, "err"
);

/// The data layout of the target. It is little-endian.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DataLayout {
    /// 32 (ILP32) or 64 (LP64).
    pub pointer_width: u32,
}

/// A whole program.
#[derive(Clone)]
pub struct Program {
    /// The expressions.
    pub exprs: ExprPool,
    /// The data layout.
    pub layout: DataLayout,
    /// The C types.
    pub types: Table<TypeId, CType>,
    /// The variables.
    pub vars: Table<VarId, Var>,
    /// The global memory objects.
    pub globals: Table<GlobalId, Global>,
    /// The functions.
    pub funcs: Table<FuncId, Function>,
    /// The locations of all functions.
    pub locs: Table<LocId, Location>,
    /// The edges of all functions.
    pub edges: Table<EdgeId, Edge>,
    /// The inputs.
    pub inputs: Table<InputId, Input>,
    /// The taints.
    pub taints: Table<TaintId, Taint>,
    /// The errors.
    pub errors: Table<ErrorId, ErrorInfo>,
    /// The source files.
    pub files: Table<FileId, SourceFile>,
    /// The source positions.
    pub places: Table<PlaceId, Place>,
    /// The function at which execution starts. It has no parameters.
    pub entry: FuncId,
    /// The calling convention of the arguments, if the user verifies a function other than `main`.
    pub passing: Vec<Passing>,
    /// The names of the linked library models, sorted.
    pub models: Vec<String>,
    /// Input functions that the C code calls without a declaration, with one call of each. C then assumes that they
    /// return `int`, although their names may imply another type. The text form and derived programs omit this list.
    pub undeclared: Vec<(String, Option<PlaceId>)>,
    /// The arrays of the program's arguments and of its environment. The text form and derived programs omit this list.
    string_arrays: Vec<StringArray>,
    place_ids: FxHashMap<Place, PlaceId>,
}

impl Program {
    /// A program with one empty function, which is its entry.
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
            string_arrays: Vec::new(),
            place_ids: FxHashMap::default(),
        };
        let void = program.types.push(CType::Void);
        program.entry = program.add_function("__start", void, None);
        program
    }

    /// The arrays of the program's arguments and of its environment.
    pub fn string_arrays(&self) -> &[StringArray] {
        &self.string_arrays
    }

    /// True if a local variable is a C variable, which keeps its value while its function executes.
    pub fn is_root(&self, var: VarId) -> bool {
        match self.vars[var].kind {
            VarKind::Param(f) => self.funcs[f].variables == Variables::Kept,
            VarKind::Local(_) => true,
            VarKind::Temp(_) | VarKind::Global { .. } => false,
        }
    }

    // Building.

    /// Adds an array of strings of the environment.
    pub fn add_string_array(&mut self, array: StringArray) {
        self.string_arrays.push(array);
    }

    /// Adds a function that has only an entry location.
    pub fn add_function(&mut self, name: &str, return_type: TypeId, return_width: Option<u32>) -> FuncId {
        let func = self.funcs.next_id();
        let entry = self.locs.push(Location { func, out: Out::Sink });
        self.funcs.push(Function {
            name: name.to_owned(),
            symbol: None,
            params: Vec::new(),
            param_names: Vec::new(),
            varargs: None,
            return_width,
            return_type,
            entry,
            place: None,
            origin: FunctionOrigin::Source,
            variables: Variables::Kept,
        })
    }
    /// Adds a location without outgoing edges.
    pub fn add_location(&mut self, func: FuncId) -> LocId {
        self.locs.push(Location { func, out: Out::Sink })
    }
    /// Adds the only outgoing edge of `source`. Panics if `source` already has one. For assume edges, use
    /// [`add_branch`](Self::add_branch).
    pub fn add_edge(&mut self, source: LocId, op: Op, target: LocId, place: Option<PlaceId>) -> EdgeId {
        assert_eq!(self.locs[source].out, Out::Sink, "{source} has an outgoing edge already");
        debug_assert!(!matches!(op, Op::Assume { .. }));
        let edge = self.edges.push(Edge { source, op, target, place, fault: None, origin: Box::default() });
        self.locs[source].out = Out::One(edge);
        edge
    }
    /// Adds two assume edges: `cond` to `then_target`, and its negation to `else_target`. Panics if `source` already
    /// has an outgoing edge.
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
            let op = Op::Assume { cond, branch, means: None, optional: false };
            self.edges.push(Edge { source, op, target, place, fault: None, origin: Box::default() })
        };
        let then_edge = edge(true, cond, then_target);
        let else_edge = edge(false, negated, else_target);
        self.locs[source].out = Out::Branch { then_edge, else_edge };
        (then_edge, else_edge)
    }
    /// Inserts an operation between a location and its outgoing edges. Returns the new edge.
    pub fn insert_before(&mut self, loc: LocId, op: Op) -> EdgeId {
        let behind = self.add_location(self.locs[loc].func);
        let outgoing: Vec<EdgeId> = self.out_edges(loc).collect();
        let place = outgoing.first().and_then(|&e| self.edges[e].place);
        for edge in outgoing {
            self.edges[edge].source = behind;
        }
        self.locs[behind].out = std::mem::replace(&mut self.locs[loc].out, Out::Sink);
        self.add_edge(loc, op, behind, place)
    }
    /// Detaches an edge that is the only one out of its source. Returns the source. [`attach`](Self::attach) gives the
    /// edge another one.
    pub fn detach(&mut self, edge: EdgeId) -> LocId {
        let source = self.edges[edge].source;
        self.locs[source].out = Out::Sink;
        source
    }
    /// Makes an edge the only one out of `source`.
    pub fn attach(&mut self, edge: EdgeId, source: LocId) {
        self.edges[edge].source = source;
        self.locs[source].out = Out::One(edge);
    }
    /// Sets the truth value of C's condition that an assume edge means.
    pub fn set_meaning(&mut self, edge: EdgeId, truth: Option<bool>) {
        if let Op::Assume { means, .. } = &mut self.edges[edge].op {
            *means = truth;
        }
    }
    /// Declares that the branch at a location is an optional assumption. Its then-side ends the path, because the
    /// assumption is false. A slice may omit the branch and continue on the else-side, which over-approximates the
    /// program.
    pub fn relax(&mut self, loc: LocId) {
        for edge in self.out_edges(loc) {
            if let Op::Assume { optional, .. } = &mut self.edges[edge].op {
                *optional = true;
            }
        }
    }
    /// The id of a source position. Equal positions have equal ids.
    pub fn place(&mut self, place: Place) -> PlaceId {
        *self.place_ids.entry(place).or_insert_with(|| self.places.push(place))
    }

    // Reading.

    /// True if the position is in a library model.
    pub fn is_of_models(&self, place: PlaceId) -> bool {
        self.files[self.places[place].file].path.starts_with("<models>")
    }
    /// The expression of a variable.
    pub fn var_expr(&mut self, var: VarId) -> ExprId {
        let width = self.vars[var].width;
        self.exprs.var(var, width)
    }
    /// The first function with this name.
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
    /// The else-edge of the branch at a location if the branch is an optional assumption.
    pub fn optional_assumption(&self, loc: LocId) -> Option<EdgeId> {
        let Out::Branch { then_edge, else_edge } = self.locs[loc].out else { return None };
        let Op::Assume { optional: true, .. } = self.edges[then_edge].op else { return None };
        let Out::One(next) = self.locs[self.edges[then_edge].target].out else { return None };
        (self.edges[next].op == Op::Halt(HaltKind::Assumed)).then_some(else_edge)
    }
    /// The function of an edge.
    pub fn func_of(&self, edge: EdgeId) -> FuncId {
        self.locs[self.edges[edge].source].func
    }
}

/// The outgoing edges of a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Out {
    /// None: the target of a `Return`, `Halt` or `Error`, or an unreachable location.
    Sink,
    /// One edge, which is no assume edge.
    One(EdgeId),
    /// Two assume edges with opposite conditions.
    Branch {
        /// The edge that is taken if the condition is true.
        then_edge: EdgeId,
        /// The edge that is taken if the condition is false.
        else_edge: EdgeId,
    },
}

/// A location of a CFA.
#[derive(Clone, Debug)]
pub struct Location {
    /// The function.
    pub func: FuncId,
    /// The outgoing edges.
    pub out: Out,
}

/// An edge of a CFA.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The location before the operation.
    pub source: LocId,
    /// The operation.
    pub op: Op,
    /// The location after the operation.
    pub target: LocId,
    /// The source position.
    pub place: Option<PlaceId>,
    /// The error that a fault of the operation is (see [`interp::Fault`](crate::interp::Fault)). `None` if the check is
    /// not enabled.
    pub fault: Option<ErrorId>,
    /// The LLVM instructions that the edge implements: their numbers in the lowered module, counted from 0 over all
    /// functions in module order. Sorted.
    pub origin: Box<[u32]>,
}

/// A variable: a C variable whose address is not taken, a parameter, or a temporary.
#[derive(Clone, Debug)]
pub struct Var {
    /// The C name; `None` for temporaries.
    pub name: Option<String>,
    /// The C type.
    pub ty: TypeId,
    /// The width in bits.
    pub width: u32,
    /// The kind of the variable.
    pub kind: VarKind,
    /// The position of the declaration.
    pub place: Option<PlaceId>,
}

/// The scope of a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum VarKind {
    /// A global variable: there is one instance. `init` is its initial value, a constant or an address. `None` means
    /// unknown.
    Global {
        /// The initial value.
        init: Option<ExprId>,
        /// True if only code of the program refers to the variable: it is `static`.
        is_static: bool,
    },
    /// A local variable: every frame of this function has an instance. Its initial value is unspecified. The front-end
    /// emits a `Havoc` before every read that no write precedes.
    Local(FuncId),
    /// A parameter: a local variable that the call sets.
    Param(FuncId),
    /// A local variable that C does not name.
    Temp(FuncId),
}

impl Var {
    /// The function whose frames have the variable. `None` for globals.
    #[inline]
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
    /// The C name.
    pub name: String,
    /// The C type.
    pub ty: TypeId,
    /// The size in bytes.
    pub size: u64,
    /// The alignment in bytes, a power of two.
    pub align: u32,
    /// True if writes are faults.
    pub read_only: bool,
    /// True if only code of the program refers to the object by name: it is `static`, or a literal.
    pub is_static: bool,
    /// The initial content. `None` if another file defines the object, so that its content is unknown.
    pub init: Option<GlobalInit>,
    /// The position of the declaration.
    pub place: Option<PlaceId>,
}

/// The assumed size in bytes of an object whose size no file defines, for pointers of 32 and 64 bits. It exceeds the
/// size of any real object.
const OPEN_SIZE: [u64; 2] = [1 << 26, 1 << 40];

impl Global {
    /// The assumed size in bytes of an object whose size no file defines.
    pub fn open_size(pointer_width: u32) -> u64 {
        OPEN_SIZE[usize::from(pointer_width == 64)]
    }

    /// True if no file defines the size of the object.
    pub fn is_open(&self) -> bool {
        self.init.is_none() && OPEN_SIZE.contains(&self.size)
    }
}

/// The initial content of a global object: `bytes`, then zeros up to its size. `pointers` overwrite parts of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GlobalInit {
    /// The initial bytes without trailing zeros.
    pub bytes: Vec<u8>,
    /// Values that contain addresses (over `GlobalAddr`, `FuncAddr` and constants), by byte offset, ascending.
    pub pointers: Vec<(u64, ExprId)>,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// The C name.
    pub name: String,
    /// The linker's name if it differs from the C name, because of an assembler label.
    pub symbol: Option<String>,
    /// The parameters, in order.
    pub params: Vec<VarId>,
    /// The C names of the parameters, including those that are stored in memory, whose variables have no names. Empty
    /// if they are unknown.
    pub param_names: Vec<String>,
    /// For a variadic function: the variable with the address of the variadic arguments.
    pub varargs: Option<VarId>,
    /// The width of the result in bits. `None` for `void`.
    pub return_width: Option<u32>,
    /// The C type of the result.
    pub return_type: TypeId,
    /// The location at which the function starts.
    pub entry: LocId,
    /// The position of the definition.
    pub place: Option<PlaceId>,
    /// The origin of the body.
    pub origin: FunctionOrigin,
    /// The C variables that the code contains.
    pub variables: Variables,
}

impl Function {
    /// True if a call of this function counts as a call of `name`: `name` is its C name, its symbol, or, for a library
    /// function, its documented name.
    pub fn is_named(&self, name: &str) -> bool {
        let mut names = std::iter::once(&self.name).chain(&self.symbol);
        names.any(|own| own == name || self.origin != FunctionOrigin::Source && documented_name(own) == name)
    }

    /// The C name of a parameter whose variable has none.
    pub fn param_name(&self, n: usize) -> Option<&str> {
        self.param_names.get(n).map(String::as_str).filter(|name| !name.is_empty())
    }
}

/// The documented name of a library function that headers and compilers rename: `scanf` for `__isoc99_scanf`, `memcpy`
/// for the fortified `__memcpy_chk`, `printf` for our model `printf.void`.
pub fn documented_name(name: &str) -> &str {
    let name = name.strip_suffix(".void").unwrap_or(name);
    let Some(internal) = name.strip_prefix("__") else { return name };
    let fortified = internal.strip_suffix("_chk");
    fortified.or(internal.strip_prefix("isoc99_")).or(internal.strip_prefix("isoc23_")).unwrap_or(name)
}

/// The origin of a function's body. Every function of a program has a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FunctionOrigin {
    /// The user's code.
    Source,
    /// A library model of Proviso, written in C.
    Model,
    /// No file defines the function. Its body over-approximates it with an `Approx` edge.
    Undefined,
}

/// The C variables that the code of a function contains. Optimisation turns variables into temporaries, and drops values
/// that the rest of the execution does not need. In C, such a variable still keeps its value to the end of its scope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variables {
    /// Each C variable is a variable or an object.
    Kept,
    /// Some C variables may be temporaries, or missing.
    Promoted,
    /// Some C variables may be temporaries, or missing. So may the result, because the function is `static` and all its
    /// callers were optimised with it.
    PromotedWithResult,
}

/// A program point that takes an unknown value.
#[derive(Clone, Debug)]
pub struct Input {
    /// The kind of the input.
    pub kind: InputKind,
    /// The C type of the value.
    pub ty: TypeId,
    /// The width in bits.
    pub width: u32,
    /// The source position.
    pub place: Option<PlaceId>,
}

/// The kind of an input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InputKind {
    /// A call of the `__VERIFIER_nondet_*` function with this name.
    Nondet(String),
    /// A read of the variable with this name before any write.
    Uninit(Option<String>),
    /// A result that a library model leaves to the environment (`rand`, `getenv`, `scanf`, …), by the name of the
    /// library function.
    Environment(String),
    /// An argument of the function at which execution starts, or memory that is reachable from it, by its name in C.
    Argument(String),
    /// The value of the global variable with this name before the function at which execution starts.
    Global(String),
    /// The result of an operation that is not modelled. An `Approx` edge precedes it.
    Unmodelled(String),
}

impl InputKind {
    /// Returns true if the value comes from outside the program: it is the address of an object only if the program has
    /// exposed that address.
    pub fn is_from_outside(&self) -> bool {
        match self {
            Self::Environment(_) => true,
            Self::Unmodelled(what) => what == ASSEMBLY_RESULT || what == STREAM_FIELD,
            _ => false,
        }
    }
    /// The input that decides which string literals share memory.
    pub fn literals() -> Self {
        Self::Environment("string literals".to_owned())
    }
    /// The input that decides whether an allocation fails, for all allocation functions.
    pub fn allocation() -> Self {
        Self::Environment("malloc".to_owned())
    }
}

/// An array of pointers to strings that the environment passes to the program. Its first elements are assigned. The
/// program that this one represents has a further string, of its own, for each element without an assignment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StringArray {
    /// The variable with the address of the array.
    pub array: VarId,
    /// The variables with the addresses of the first strings.
    pub strings: Vec<VarId>,
}

/// An approximation, because of which a verdict on the represented program may not hold for the source program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taint {
    /// The reason, for the user: "inline assembly", "call of undefined function 'f'".
    pub reason: String,
    /// The source position.
    pub place: Option<PlaceId>,
    /// The edge adds behaviours, so a violation after it may be spurious.
    pub over: bool,
    /// The edge removes behaviours, so a proof is not valid.
    pub under: bool,
}

/// The start of the reason of a taint for a call of an undefined function.
pub const UNDEFINED_CALL: &str = "call of undefined function";
/// The reason of a taint for inline assembly.
pub const INLINE_ASSEMBLY: &str = "inline assembly";
/// The name of inputs for results of inline assembly that only computes values, and no addresses from its operands.
pub const ASSEMBLY_RESULT: &str = "the result of inline assembly";
/// The name of inputs for fields of a stream (`FILE`).
pub const STREAM_FIELD: &str = "FILE";
/// The start of the reason of a taint that stands for assembly outside functions.
pub const FILE_ASSEMBLY: &str = "assembly at file scope";

impl Taint {
    /// The harm that the dropped behaviours can do.
    pub fn harm(&self) -> Harm {
        if let Some(called) = self.reason.strip_prefix(UNDEFINED_CALL) {
            let may_go_on = ASYNCHRONOUS.contains(&called.trim().trim_matches('\''));
            return if may_go_on { Harm::Any } else { Harm::Bounded };
        }
        let mut quoted = self.reason.split('\'').skip(1);
        let called = quoted.next().unwrap_or_default();
        if self.reason.starts_with(INLINE_ASSEMBLY) {
            Harm::Bounded
        } else if self.reason.starts_with(LITERALS) || self.reason.starts_with(FUNCTION_ADDRESSES) {
            Harm::Addresses
        } else if self.reason == DIVISIONS {
            Harm::Undefined
        } else if INCLUDED.contains(&self.reason.as_str()) {
            Harm::Included
        } else if SIGNALS.contains(&self.reason.as_str()) {
            Harm::Signals
        } else if self.reason.starts_with(JUMPS) {
            if called.contains("setjmp") { Harm::Again } else { Harm::Elsewhere }
        } else if HANDLED.contains(&called) && self.reason.starts_with(HANDLERS) {
            Harm::Handlers
        } else {
            Harm::Any
        }
    }

    /// True if the taint is for a function that lets signal handlers run, but installs none.
    pub fn installs_no_handler(&self) -> bool {
        self.harm() == Harm::Handlers && self.reason.split('\'').nth(1) == Some("alarm")
    }
}

/// The harm of the behaviours that an edge drops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Harm {
    /// Unknown code runs, and accesses the memory that it can reach. It ends before execution continues.
    Bounded,
    /// Addresses of string literals or of functions have other values.
    Addresses,
    /// A library function prints other text, reads other input, or has another result. The model after the taint includes
    /// all that the program may then do.
    Included,
    /// C defines no behaviour from here on, and the execution of the model ends.
    Undefined,
    /// Execution does not continue, but returns to an edge with the harm `Again` (`longjmp`).
    Elsewhere,
    /// Execution may continue here again, while the function is active (`setjmp`).
    Again,
    /// A signal handler runs between any two later operations.
    Handlers,
    /// A signal ends the program, or runs a handler that was installed before, at this point or later. All else that it
    /// may do is in the model after the taint.
    Signals,
    /// Anything.
    Any,
}

/// The start of the reason of a taint for string literals whose identity is not known.
pub const LITERALS: &str = "string literals may share memory";
/// The start of the reason of a taint for computations with addresses of functions.
pub const FUNCTION_ADDRESSES: &str = "a number computed from the address of a function";
/// The reason of a taint for divisions with undefined results, if no check is about them.
pub const DIVISIONS: &str = "division by zero or overflow of a division is undefined";
/// The start of the reason of a taint for `setjmp` and `longjmp`.
pub const JUMPS: &str = "non-local jumps";
/// The start of the reason of a taint for functions that install signal handlers, or that let one run.
pub const HANDLERS: &str = "signal handlers";

/// The functions of [`HANDLERS`] that write nothing.
const HANDLED: [&str; 6] = ["signal", "sigaction", "bsd_signal", "sysv_signal", "__sysv_signal", "alarm"];

/// The reason of a taint for an access to a field of a stream.
pub const STREAM_FIELDS: &str = "accesses to the fields of a stream (FILE) are not modelled";

/// The reasons of taints of library functions whose models include what they drop.
const INCLUDED: [&str; 7] = [
    STREAM_FIELDS,
    "ungetc pushes back more characters than are modelled",
    "this conversion of printf is not modelled",
    "fflush of a stream with characters pushed back is not modelled",
    "an alignment of more than 65536 is not modelled",
    "changing the name in a string of `putenv` is not modelled",
    "asking for an environment variable with '=' in its name is not modelled",
];

/// The reasons of taints of functions that send signals.
const SIGNALS: [&str; 6] = [
    "signals are not modelled",
    "a blocked signal is not modelled",
    "a handler with SA_SIGINFO, or of a blocked signal, does not run",
    "the parent process may have ignored or blocked this signal",
    "library functions that send this signal do not take its action into account",
    "a handler of a signal may end a wait, which is not modelled",
];

/// Functions that have effects after their return, or that may return more than once.
const ASYNCHRONOUS: [&str; 39] = [
    "pthread_create",
    "thrd_create",
    "clone",
    "signal",
    "bsd_signal",
    "sysv_signal",
    "__sysv_signal",
    "sigaction",
    "sigset",
    "sigvec",
    "sigignore",
    "siginterrupt",
    "ssignal",
    "sigsetjmp",
    "__sigsetjmp",
    "setjmp",
    "_setjmp",
    "longjmp",
    "_longjmp",
    "siglongjmp",
    "getcontext",
    "setcontext",
    "makecontext",
    "swapcontext",
    "timer_create",
    "setitimer",
    "aio_read",
    "aio_write",
    "lio_listio",
    "mprotect",
    "mmap",
    "munmap",
    "mremap",
    "vfork",
    "fork",
    "dlopen",
    "setvbuf",
    "GOMP_parallel",
    "__kmpc_fork_call",
];

/// A violation, which an [`Op::Error`] edge represents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ErrorInfo {
    /// The violated check.
    pub check: Check,
    /// The message for the user: "reach_error is called".
    pub message: String,
    /// The source position.
    pub place: Option<PlaceId>,
}
