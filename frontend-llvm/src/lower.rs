//! Translates an LLVM module to a [`Program`].
//!
//! Unoptimised code of clang keeps every C variable in an `alloca` or a global. If such a cell is only loaded and
//! stored as a whole ([`uses`]), it becomes a variable of the CFA with its C name. All others are memory. SSA values
//! are folded into the expressions of their users ([`function`]), so that one C assignment becomes one edge.

mod arguments;
mod arith;
mod assembly;
mod body;
mod builder;
mod by_value;
mod call;
mod cancel;
mod capture;
mod constant;
mod decisions;
mod function;
mod globals;
mod initialised;
mod inlined;
mod input;
mod instruction;
mod intrinsic;
mod liveness;
mod masked;
mod output;
mod primitive;
mod relative;
mod returned;
mod rounding;
mod sanitizer;
mod source;
mod start;
mod threads;
mod to_integer;
mod uninterpreted;
mod uses;
mod vararg;

use crate::error::Error;
use crate::hidden::{self, HiddenState};
use crate::ir::{self, Attributes, ConstantKind, TypeKind};
use crate::models;
use crate::options::Options;
pub use arguments::{FOLLOW, GIVEN, MAKE, MAX_OBJECT, is_given, token_mask};
pub use globals::LIBRARY_VARIABLES;
pub(crate) use sanitizer::{HANDLER, unasked_handlers};

use builder::ExprInfo;
use cfa::{
    CType, DataLayout, ExprId, FuncId, FunctionOrigin, GlobalId, LocId, PlaceId, Program, TypeId, Var, VarId, VarKind,
    Variables,
};
use globals::Cell;
use rustc_hash::FxHashMap;
use source::SourceMap;
use uses::Uses;

/// The function whose parameters are the program's arguments and environment.
const MAIN: &str = "main";

/// The width of a variable that represents a hidden state of the library.
const WIDTH_OF_STATE: u32 = 8;

/// The maximal width in bits of a first-class value. C has no wider ones.
const MAX_WIDTH: u64 = 1 << 16;

/// States whether an assignment can change the value of an expression over a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mutability {
    /// The variable is assigned at one place: an SSA value.
    Fixed,
    /// A C variable of the function.
    Local,
    /// A C variable that callees may also assign.
    Global,
}

/// The program under construction, and the data that the lowering of all functions shares.
struct Context<'m> {
    ir: &'m ir::Module,
    options: &'m Options,
    program: Program,
    pointer_width: u32,
    source: SourceMap,
    uses: Uses,
    /// The mutability of each variable that is not `Fixed`, by `VarId`.
    mutability: Vec<Mutability>,
    /// By `ExprId`.
    infos: Vec<ExprInfo>,
    /// For each function of the module, the function of the program. `None` for intrinsics and primitives that are only
    /// called.
    functions: Vec<Option<FuncId>>,
    /// For each global variable of the module, its variable or object.
    cells: Vec<Cell>,
    /// For each constant, its expression. `None` before its first use, and for constants with undefined parts.
    constants: Vec<Option<ExprId>>,
    /// The numbers of blocks whose address is taken, from 1, by function and block.
    block_addresses: FxHashMap<(u32, u32), u32>,
    /// For variables of the module that are tables of relative addresses: an object with the addresses, and their number.
    tables_of_addresses: FxHashMap<usize, (cfa::GlobalId, u64)>,
    /// Models that do not compute a result, by the name of the modelled function.
    ignoring_result: FxHashMap<&'m str, usize>,
    /// Models of output functions that do not interpret the format, by the name of the modelled function; and the model
    /// that reads a printed string.
    plain: FxHashMap<&'m str, usize>,
    reading_string: Option<usize>,
    /// The parts of the model of `scanf`, by the suffix of their names; and the functions composed of them.
    scanning: FxHashMap<&'m str, usize>,
    readers: input::Readers,
    /// True if all formats of the program are known, and the models support their conversions.
    knows_formats: bool,
    /// The function that `exit` and the end of `main` call with the status, and the function that `quick_exit` calls.
    exit_function: Option<FuncId>,
    quick_exit_function: Option<FuncId>,
    /// The function that a failed assertion calls.
    failed_assertion: Option<FuncId>,
    /// Global objects whose initial value is unknown.
    unknown_initialisers: Vec<String>,
    /// Open objects: their size, content or address is unknown, or their initial value contains the address of an open
    /// object. The second list has the open objects in the initial values of variables whose address is not taken.
    open_globals: FxHashMap<GlobalId, globals::Open>,
    open_initialisers: Vec<GlobalId>,
    layout: Layout,
    /// If the values of the environment are a sequence: for each hidden state that the program can change, the variable
    /// that represents it.
    hidden: [Option<VarId>; HiddenState::ALL.len()],
    /// True if several streams or descriptors may refer to one file.
    shares_files: bool,
    /// True if the program may print with a format that contains `%n`.
    counts: bool,
    /// The rounding mode, if the program can change it.
    rounding_mode: Option<VarId>,
    /// The type of pointers without debug information.
    pointer_type: Option<TypeId>,
    /// The objects that the arguments of the entry function point to.
    lazy: Option<arguments::Lazy>,
    /// The function that returns the address of `errno`, if the program uses it.
    errno_location: Option<FuncId>,
    /// The functions that may end without returning a value, if that check is enabled and there are any.
    unreturned: Option<returned::Unreturned>,
    /// Error functions that optimisation passes may have inlined.
    inlined: inlined::Inlined,
    /// The program starts threads. Variables that threads may share are in memory then.
    is_threaded: bool,
    /// The program cancels threads.
    cancels: bool,
    /// The functions that represent operations of threads, by name.
    thread_functions: FxHashMap<&'static str, FuncId>,
}

/// The blocks of the module in the program.
#[derive(Default)]
pub(crate) struct Layout {
    /// For each function of the module: the function of the program, and the first location of each block. `None` for
    /// an unreachable block. Empty for functions without a body.
    pub blocks: Vec<(Option<FuncId>, Vec<Option<LocId>>)>,
    /// For each position row of the module, the source position in the program.
    pub places: Vec<Option<PlaceId>>,
}

/// Translates a module to a program.
pub(crate) fn lower(ir: &ir::Module, options: &Options) -> Result<(Program, Layout), Error> {
    let program = Program::new(DataLayout { pointer_width: ir.pointer_width });
    let mut cx = Context {
        ir,
        options,
        program,
        pointer_width: ir.pointer_width,
        source: SourceMap::default(),
        uses: Uses::find(ir),
        mutability: Vec::new(),
        infos: Vec::new(),
        functions: vec![None; ir.functions.len()],
        cells: Vec::new(),
        constants: vec![None; ir.constants.len()],
        block_addresses: FxHashMap::default(),
        tables_of_addresses: FxHashMap::default(),
        ignoring_result: FxHashMap::default(),
        plain: FxHashMap::default(),
        reading_string: None,
        scanning: FxHashMap::default(),
        readers: input::Readers::default(),
        knows_formats: false,
        exit_function: None,
        quick_exit_function: None,
        failed_assertion: None,
        unknown_initialisers: Vec::new(),
        open_globals: FxHashMap::default(),
        open_initialisers: Vec::new(),
        layout: Layout { blocks: vec![(None, Vec::new()); ir.functions.len()], places: Vec::new() },
        hidden: [None; HiddenState::ALL.len()],
        shares_files: false,
        counts: true,
        rounding_mode: None,
        pointer_type: None,
        lazy: None,
        errno_location: None,
        unreturned: None,
        inlined: inlined::Inlined::default(),
        is_threaded: ir.functions.iter().any(|f| f.name == cfa::threads::ThreadOp::Start.name()),
        thread_functions: FxHashMap::default(),
        cancels: cancel::is_used(ir),
    };
    for (n, f) in ir.functions.iter().enumerate() {
        match f.name.split_once('.') {
            Some((name, "void")) if f.model => drop(cx.ignoring_result.insert(name, n)),
            Some((name, "plain")) if f.model => drop(cx.plain.insert(name, n)),
            Some(("scanf", part)) if f.model => drop(cx.scanning.insert(part, n)),
            Some((_, "string")) if f.model => cx.reading_string = Some(n),
            _ => {}
        }
    }
    cx.source = SourceMap::new(ir, &options.inputs, &mut cx.program);
    if options.sequential_environment {
        cx.declare_hidden_states();
    }
    cx.declare_rounding_mode();
    for constant in &ir.constants {
        if let ir::ConstantKind::Block(function, block) = constant.kind {
            let next = cx.block_addresses.len() as u32 + 1;
            cx.block_addresses.entry((function, block)).or_insert(next);
        }
    }
    cx.declare_functions();
    inlined::find(&mut cx);
    cx.find_unreturned();
    let at_exit = start::declare_exit(&mut cx);
    let errno_location = ir.functions.iter().position(|f| f.name == "__errno_location" && !f.declaration);
    cx.errno_location = errno_location.and_then(|n| cx.functions[n]);
    cx.lower_globals();
    cx.knows_formats = output::knows_all_formats(&mut cx);
    arguments::declare(&mut cx);
    for n in 0..ir.functions.len() {
        let Some(func) = cx.functions[n] else { continue };
        if ir.functions[n].declaration {
            cx.synthesise_body(n, func);
        } else {
            body::lower(&mut cx, n, func);
        }
    }
    if let Some(at_exit) = &at_exit {
        start::lower_exit(&mut cx, at_exit);
    }
    start::lower(&mut cx)?;
    let models = ir.functions.iter().filter(|f| f.model && !f.local);
    let mut models: Vec<String> = models.map(|f| models::stands_for(&f.name).to_owned()).collect();
    models.sort();
    models.dedup();
    cx.program.models = models;
    cx.layout.places = cx.source.into_places();
    Ok((cx.program, cx.layout))
}

impl Context<'_> {
    /// The width of a first-class value in bits. `None` for a type without values, or with too wide ones.
    fn width(&self, ty: ir::Ty) -> Option<u32> {
        let t = &self.ir.types[ty as usize];
        let bits = match t.kind {
            TypeKind::Int(width) => u64::from(width),
            TypeKind::Float(format) => u64::from(format.width()),
            TypeKind::Pointer => u64::from(self.pointer_width),
            TypeKind::Vector(element, n) => u64::from(self.width(element)?) * u64::from(n),
            // An empty struct has no bits. Its value is one byte that is never stored.
            TypeKind::Array(..) | TypeKind::Struct(_) => (t.size * 8).max(8),
            TypeKind::Void | TypeKind::Other | TypeKind::Function { .. } => return None,
        };
        (bits > 0 && bits <= MAX_WIDTH).then_some(bits as u32)
    }

    fn mutability(&self, var: VarId) -> Mutability {
        self.mutability.get(var.0 as usize).copied().unwrap_or(Mutability::Fixed)
    }

    fn add_var(&mut self, var: Var, mutability: Mutability) -> VarId {
        let id = self.program.vars.push(var);
        if mutability != Mutability::Fixed {
            self.mutability.resize(id.0 as usize, Mutability::Fixed);
            self.mutability.push(mutability);
        }
        id
    }

    /// The function whose address a constant is. Resolves aliases.
    fn function_of_constant(&self, mut constant: u32) -> Option<usize> {
        for _ in 0..64 {
            let ir::ConstantKind::Global(number) = self.ir.constants[constant as usize].kind else { return None };
            match self.ir.global(number) {
                ir::GlobalRef::Function(n) => return Some(n),
                ir::GlobalRef::Alias(n) if self.ir.aliases[n].target != ir::NONE => {
                    constant = self.ir.aliases[n].target;
                }
                _ => return None,
            }
        }
        None
    }

    fn is_error_function(&self, n: usize) -> bool {
        self.options.error_functions.iter().any(|name| self.ir.functions[n].is_named(name))
    }

    /// True if calls of function `n` must remain calls.
    fn is_watched(&self, n: usize) -> bool {
        self.is_error_function(n) || self.options.watched.iter().any(|name| self.ir.functions[n].is_named(name))
    }

    /// Creates the functions of the program, without bodies.
    /// Returns the C types of a function's parameters, without the space for a result. Returns `None` if they are
    /// unknown, or if a C parameter is passed in several parts or in none.
    fn parameter_types(&self, f: &ir::Function) -> Option<Vec<TypeId>> {
        let TypeKind::Function { params, .. } = self.ir.kind(f.ty) else { return None };
        let spaces = f.attributes.iter().filter(|a| a.result.is_some()).count();
        let rows = f.c_types.get(1..).filter(|rows| rows.len() + spaces == params.len())?;
        let types: Vec<TypeId> = rows.iter().map(|&row| self.source.c_type(row)).collect();
        types.iter().all(|&ty| self.program.size_of(ty) != Some(0)).then_some(types)
    }

    fn declare_functions(&mut self) {
        for (n, f) in self.ir.functions.iter().enumerate() {
            let called_only = f.declaration && !self.uses.address_taken[n];
            let lowered_in_place =
                |name: &str| name.starts_with("llvm.") || sanitizer::is_handler(name) || self.primitive(n).is_some();
            if called_only && (!self.uses.called[n] || (lowered_in_place(&f.name) && !self.is_watched(n))) {
                continue;
            }
            let TypeKind::Function { result, variadic, ref params } = *self.ir.kind(f.ty) else { continue };
            let (return_width, return_type) = (self.width(result), f.c_types.first().copied());
            let return_type = match return_type {
                Some(row) => self.source.c_type(row),
                None => self.unknown_type(return_width),
            };
            // Without debug information, the type is unknown.
            let result_bytes = u64::from(return_width.unwrap_or(0)).div_ceil(8);
            let has_result = !f.c_types.is_empty() && self.program.size_of(return_type).unwrap_or(0) == result_bytes;
            let name = f.name_in_c();
            let func = self.program.add_function(name, return_type, return_width);
            let vars: Vec<VarId> = params.iter().map(|&ty| self.add_parameter(func, ty)).collect();
            let varargs = variadic.then(|| self.add_temp(func, self.pointer_width));
            varargs.into_iter().for_each(|block| self.holds_pointers(block));
            let place = self.source.place(&mut self.program, f.file, f.line);
            let is_space = |n: usize| f.attributes.iter().any(|a| a.parameter as usize == n && a.result.is_some());
            let mut names = Vec::new();
            for (&var, declared) in vars.iter().zip(function::declared_params(self.ir, f)) {
                let (ty, bits) = (self.source.c_type(declared.c_type), u64::from(self.program.vars[var].width));
                let (size, bytes) = (self.program.size_of(ty), bits.div_ceil(8));
                if size.is_some_and(|size| size * 8 == bits) {
                    self.program.vars[var].ty = ty;
                }
                names.push(match declared.offset {
                    _ if is_space(names.len()) => "space for the result".to_owned(),
                    Some(first) if size.is_some_and(|size| first > 0 || size > bytes) => {
                        format!("bytes {first} to {} of {}", first + bytes - 1, declared.name)
                    }
                    _ => declared.name,
                });
            }
            // C declares no parameters for structs in memory. Written C does not call models with them.
            let is_in_memory = |n: usize| {
                let is_own = |a: &Attributes| a.parameter as usize == n && (a.copy.is_some() || a.result.is_some());
                f.model && f.attributes.iter().any(is_own)
            };
            for (n, (&var, &ty)) in vars.iter().zip(params).enumerate() {
                if matches!(self.ir.kind(ty), TypeKind::Pointer) && !is_in_memory(n) {
                    self.holds_pointers(var);
                }
            }
            let function = &mut self.program.funcs[func];
            function.params = vars;
            function.param_names = names;
            function.varargs = varargs;
            function.place = place;
            function.symbol = (!f.local && !f.model && f.name != name).then(|| f.name.clone());
            function.variables = match f.is_optimised() || f.bitcode && f.c_types.is_empty() {
                _ if f.declaration || f.model => Variables::Kept,
                false => Variables::Kept,
                true if f.local && !has_result => Variables::PromotedWithResult,
                true => Variables::Promoted,
            };
            function.origin = match (f.declaration, f.model) {
                (true, _) => FunctionOrigin::Undefined,
                (_, true) => FunctionOrigin::Model,
                (_, false) => FunctionOrigin::Source,
            };
            self.functions[n] = Some(func);
        }
    }

    /// The function that a failed assertion calls.
    fn failed_assertion(&mut self) -> FuncId {
        const NAME: &str = "__assert_fail";
        if let Some(func) = self.failed_assertion.or_else(|| self.program.func_by_name(NAME)) {
            self.failed_assertion = Some(func);
            return func;
        }
        let func = self.program.add_function(NAME, source::VOID, None);
        let widths = [self.pointer_width, self.pointer_width, 32, self.pointer_width];
        let params = widths.map(|width| {
            let ty = self.unknown_type(Some(width));
            self.add_var(Var { name: None, ty, width, kind: VarKind::Param(func), place: None }, Mutability::Fixed)
        });
        let function = &mut self.program.funcs[func];
        function.params = params.into();
        function.origin = FunctionOrigin::Undefined;
        let mut b = builder::Builder::new(self, func);
        b.halt(cfa::HaltKind::Abort);
        self.failed_assertion = Some(func);
        func
    }

    fn add_parameter(&mut self, func: FuncId, ty: ir::Ty) -> VarId {
        let width = self.width(ty).unwrap_or(self.pointer_width);
        let ty = self.unknown_type(Some(width));
        self.add_var(Var { name: None, ty, width, kind: VarKind::Param(func), place: None }, Mutability::Fixed)
    }

    fn add_temp(&mut self, func: FuncId, width: u32) -> VarId {
        let ty = self.unknown_type(Some(width));
        self.add_var(Var { name: None, ty, width, kind: VarKind::Temp(func), place: None }, Mutability::Fixed)
    }

    /// Records that a temporary or a variable of unknown type holds pointers.
    fn holds_pointers(&mut self, var: VarId) {
        let var = &mut self.program.vars[var];
        if let CType::Unknown { .. } = self.program.types[var.ty] {
            var.ty = *self.pointer_type.get_or_insert_with(|| self.program.types.push(CType::Pointer(source::VOID)));
        }
    }

    /// True if a variable has a pointer type.
    fn is_pointer(&self, var: VarId) -> bool {
        matches!(self.program.plain_type(self.program.vars[var].ty), CType::Pointer(_))
    }

    /// Declares a global variable for each hidden state of the library. Its value is always 0. Each value of the
    /// environment reads and writes one of them, so it depends on the earlier values.
    fn declare_hidden_states(&mut self) {
        let has = |names: &[&str]| self.ir.functions.iter().any(|f| names.contains(&models::stands_for(&f.name)));
        let (shares_files, sets_locale) = (has(&hidden::SHARE_FILES), has(&hidden::SET_LOCALE));
        let asks_for_exceptions = has(&hidden::GET_EXCEPTIONS);
        let counts = |kind: &ConstantKind| matches!(kind, ConstantKind::Data(at) if hidden::has_count(&self.ir.text[at.clone()]));
        self.counts = self.ir.constants.iter().any(|c| counts(&c.kind));
        self.shares_files = shares_files;
        let width = WIDTH_OF_STATE;
        for state in HiddenState::ALL {
            let is_asked = match state {
                HiddenState::Environment | HiddenState::Files => true,
                HiddenState::Locale => sets_locale,
                HiddenState::Exceptions => asks_for_exceptions,
            };
            if is_asked {
                let (ty, zero) = (self.unknown_type(Some(width)), self.program.exprs.int(width, 0));
                let kind = VarKind::Global { init: Some(zero), is_static: false };
                let var = self.add_var(Var { name: None, ty, width, kind, place: None }, Mutability::Global);
                self.hidden[state as usize] = Some(var);
            }
        }
    }

    fn unknown_type(&mut self, width: Option<u32>) -> TypeId {
        self.source.unknown_type(&mut self.program, width)
    }
}
