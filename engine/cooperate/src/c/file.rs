//! The state of a C file under construction: names, and the declarations that the text needs.

use super::kinds::Kinds;
use super::names::Names;
use super::requested::{Entity, Requested};
use super::roles::{self, Role};
use super::scalar::{ValueKind, of_type, raw_type, string_literal};
use super::scope::Scope;
use super::types::Types;
use super::watch::{OBJECT, Watch};
use cfa::text::exact::ScalarType;
use cfa::{
    AllocKind, CType, Expr, ExprId, FuncId, FunctionOrigin, GlobalId, Id, InputKind, Op, PlaceId, Program, Table,
    TypeId, VarId, VarKind,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// A C file under construction.
pub struct File<'p> {
    /// The program.
    pub p: &'p Program,
    /// The used names.
    pub names: Names,
    /// The state of the memory checks, if the program checks its own memory accesses.
    pub watch: Option<Watch>,
    /// The scope of the current function.
    pub scope: Scope,
    types: Types<'p>,
    requested: Requested,
    /// The C types of variables, and the kinds of expressions.
    kinds: Kinds<'p>,
    /// The names of variables, functions and global objects that the text refers to.
    variables: Table<VarId, Option<String>>,
    functions: Table<FuncId, Option<String>>,
    globals: Table<GlobalId, Option<String>>,
    /// A cache of [`Self::is_typed_or`].
    typed_globals: FxHashMap<GlobalId, bool>,
    /// The functions whose addresses the program takes.
    address_taken: Vec<FuncId>,
    /// True if the entry function becomes `main`, so that the user's main function needs another name.
    renames_main: bool,
    /// True if the program chooses which string literals share memory.
    shares_literals: bool,
    /// The source place of the current text.
    place: Option<PlaceId>,
    /// The first construct that C cannot express, with its place.
    refused: Option<String>,
}

impl<'p> File<'p> {
    /// An empty file for the program. If `checks_memory` is true, the file checks its own memory accesses.
    pub fn new(p: &'p Program, checks_memory: bool) -> Self {
        let mut file = Self {
            p,
            names: Names::new(),
            watch: checks_memory.then(|| Watch::new(p)),
            scope: Scope::default(),
            types: Types::new(p),
            requested: Requested::default(),
            kinds: Kinds::new(p),
            variables: Table::filled(None, p.vars.len()),
            functions: Table::filled(None, p.funcs.len()),
            globals: Table::filled(None, p.globals.len()),
            typed_globals: FxHashMap::default(),
            address_taken: address_taken(p),
            renames_main: roles::plain_main(p).is_none(),
            shares_literals: roles::shares_literals(p),
            place: None,
            refused: None,
        };
        // Names that are defined elsewhere are reserved before all others.
        for (f, function) in p.funcs.iter() {
            if roles::role(p, f) != Role::Body {
                file.names.reserve(roles::public_name(function));
            }
        }
        for input in p.inputs.values() {
            if let InputKind::Nondet(name) = &input.kind {
                file.names.reserve(name);
            }
        }
        file
    }

    /// Declares a library function, unless it is declared.
    pub fn library(&mut self, name: &str, declaration: String) {
        self.names.reserve(name);
        self.requested.declare_library(name, declaration);
    }

    /// Adds the definition of a helper, unless it has one.
    pub fn helper(&mut self, name: &str, definition: String) {
        self.requested.define_helper(name, definition);
    }

    /// Returns the entities and declarations that the text refers to.
    pub fn requested(&self) -> &Requested {
        &self.requested
    }

    /// Returns the next entity that the text refers to and that is not written yet. Its place becomes the current one.
    pub fn next_requested(&mut self) -> Option<Entity> {
        let entity = self.requested.take_next()?;
        self.place = match entity {
            Entity::Function(f) => self.p.funcs[f].place,
            Entity::Object(g) => self.p.globals[g].place,
            Entity::Variable(v) => self.p.vars[v].place,
        };
        Some(entity)
    }

    /// Sets the source place of the text that follows.
    pub fn set_place(&mut self, place: Option<PlaceId>) {
        self.place = place;
    }

    /// Records a construct that C cannot express. Only the first one is kept.
    pub fn refuse(&mut self, what: String) {
        let own = self.place.filter(|&place| self.p.places[place].line > 0 && !self.p.is_of_models(place));
        let at = own.map_or(String::new(), |place| {
            let place = self.p.places[place];
            format!(" ({}:{})", self.p.files[place.file].path, place.line)
        });
        self.refused.get_or_insert_with(|| format!("{what}{at}"));
    }

    /// Returns the first construct that C cannot express, with its place.
    pub fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    /// Declares `declarator` with this type.
    pub fn declare(&mut self, ty: TypeId, declarator: &str) -> String {
        self.types.declare(ty, declarator, &mut self.names)
    }

    /// The name of a struct member, if C places it at its offset.
    pub fn member(&mut self, ty: TypeId, index: usize) -> Option<String> {
        self.types.member(ty, index, &mut self.names)
    }

    /// The declarations of the types, the library functions and the helpers that the text refers to.
    pub fn declarations(&mut self) -> String {
        self.types.finish(&mut self.names);
        format!("{}\n{}", self.types.text, self.requested.text())
    }

    /// The C type of a variable.
    pub fn type_of(&self, v: VarId) -> ScalarType {
        self.kinds.type_of(v)
    }

    /// The kind of value that an expression yields without conversion.
    pub fn kind(&mut self, e: ExprId) -> ValueKind {
        self.kinds.kind(e)
    }

    /// The functions whose addresses the program takes.
    pub fn address_taken(&self) -> &[FuncId] {
        &self.address_taken
    }

    /// Returns true if a global object is declared with its own type. `compute` finds that at the first call.
    pub fn is_typed_or(&mut self, g: GlobalId, compute: impl FnOnce(&mut Self) -> bool) -> bool {
        if let Some(&known) = self.typed_globals.get(&g) {
            return known;
        }
        let is_typed = compute(self);
        self.typed_globals.insert(g, is_typed);
        is_typed
    }

    /// The name of a function. Adds the function to the wanted ones.
    pub fn function(&mut self, f: FuncId) -> String {
        if let Some(name) = &self.functions[f] {
            return name.clone();
        }
        let function = &self.p.funcs[f];
        let name = match roles::role(self.p, f) {
            Role::Body if f == self.p.entry => "main".to_owned(),
            Role::Body if function.name == "main" && !self.renames_main => "main".to_owned(),
            Role::Body if roles::keeps_handlers(function) => {
                let name = function.name.trim_start_matches("__").trim_start_matches("proviso_");
                self.names.fresh(&format!("own_{name}"))
            }
            Role::Body => self.names.fresh(&function.name),
            Role::External | Role::Error => roles::public_name(function).to_owned(),
        };
        self.functions[f] = Some(name.clone());
        self.requested.add(Entity::Function(f));
        name
    }

    /// The lvalue of a global object. Adds the object to the wanted ones.
    pub fn global(&mut self, g: GlobalId) -> String {
        if let Some(name) = &self.globals[g] {
            return name.clone();
        }
        let global = &self.p.globals[g];
        if roles::is_errno(self.p, &global.name, global.place) {
            let name = errno(self);
            self.globals[g] = Some(name.clone());
            return name;
        }
        let name = if roles::is_external(self.p, global.place, global.init.is_none()) {
            self.names.reserve(&global.name);
            global.name.clone()
        } else {
            let name = self.names.fresh(global.name.trim_start_matches('.'));
            if self.watch.is_some() { format!("{name}.{}", OBJECT) } else { name }
        };
        self.globals[g] = Some(name.clone());
        self.requested.add(Entity::Object(g));
        name
    }

    /// The name and the C type of a variable.
    pub fn variable(&mut self, v: VarId) -> (String, ScalarType) {
        if let Some(object) = self.scope.object(v) {
            return (format!("(char *)&{}", object.name), ScalarType::Pointer);
        }
        let ty = self.type_of(v);
        if let Some(name) = &self.variables[v] {
            return (name.clone(), ty);
        }
        let var = &self.p.vars[v];
        let is_errno = var.name.as_ref().is_some_and(|name| roles::is_errno(self.p, name, var.place));
        if is_errno && matches!(var.kind, VarKind::Global { .. }) {
            let name = errno(self);
            self.variables[v] = Some(name.clone());
            return (name, ty);
        }
        let name = match (&var.kind, &var.name) {
            (VarKind::Global { .. }, Some(name)) if roles::is_library_variable(self.p, v) => {
                self.names.reserve(name);
                name.clone()
            }
            (VarKind::Global { .. }, name) => self.names.fresh(name.as_deref().unwrap_or("global")),
            (_, Some(name)) => self.names.fresh_local(name.trim_start_matches('&')),
            (_, None) => self.names.fresh_local(&format!("t{}", v.index())),
        };
        self.variables[v] = Some(name.clone());
        if matches!(var.kind, VarKind::Global { .. }) {
            self.requested.add(Entity::Variable(v));
        } else {
            self.scope.add_local(v);
        }
        (name, ty)
    }

    /// Returns true for a temporary that the function never reads, such as clang's for the result of `main`.
    pub fn is_dead(&self, v: VarId) -> bool {
        matches!(self.p.vars[v].kind, VarKind::Temp(_)) && !self.scope.reads(v)
    }

    /// The declaration of a variable.
    pub fn declaration(&mut self, v: VarId) -> String {
        let (name, ty) = self.variable(v);
        let var = &self.p.vars[v];
        if of_type(self.p, var.ty, var.width).is_some() {
            return self.declare(var.ty, &name);
        }
        format!("{}{name}", raw_type(ty, var.width))
    }

    /// The declarator of a function with its result type.
    pub fn signature(&mut self, f: FuncId) -> String {
        let name = self.function(f);
        let function = &self.p.funcs[f];
        match roles::role(self.p, f) {
            Role::Error if function.params.is_empty() => return format!("void {name}(void)"),
            Role::External | Role::Error => return self.prototype(f, &name),
            Role::Body if f == self.p.entry => return "int main(void)".to_owned(),
            Role::Body => {}
        }
        let mut parameters: Vec<String> = function.params.iter().map(|&v| self.declaration(v)).collect();
        parameters.extend(function.varargs.map(|v| self.declaration(v)));
        let list = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
        let declarator = format!("{name}({list})");
        self.with_result(f, &declarator)
    }

    fn with_result(&mut self, f: FuncId, declarator: &str) -> String {
        let function = &self.p.funcs[f];
        match function.return_width {
            None => format!("void {declarator}"),
            Some(width) => match self.result_type(f).expect("it has a result") {
                (_, true) => {
                    let ty = function.return_type;
                    self.declare(ty, declarator)
                }
                (ty, false) => format!("{}{declarator}", raw_type(ty, width)),
            },
        }
    }

    /// The result type of a function, and true if the C type determines it.
    pub fn result_type(&self, f: FuncId) -> Option<(ScalarType, bool)> {
        let function = &self.p.funcs[f];
        let width = function.return_width?;
        Some(match of_type(self.p, function.return_type, width) {
            Some(ty) => (ty, true),
            None => (ScalarType::Unsigned(width), false),
        })
    }

    /// True if the values of a call, as LLVM passes them, are those that a call in C passes in the same places. The
    /// parts of structs and of complex numbers are in registers or memory that depend on the C type, which is lost. The
    /// parameters of functions without a definition often have no C type; they are taken as scalars.
    fn is_called_like_in_c(&self, f: FuncId) -> bool {
        let function = &self.p.funcs[f];
        let is_model = function.origin == FunctionOrigin::Model;
        let is_scalar = |&v: &VarId| of_type(self.p, self.p.vars[v].ty, self.p.vars[v].width).is_some();
        let result = self.p.plain_type(function.return_type);
        let returns_like_in_c = match function.return_width {
            None => !matches!(result, CType::Struct { .. }),
            Some(width) if of_type(self.p, function.return_type, width).is_some() => true,
            Some(width) if is_model => self.p.layout.pointer_width == 64 && width <= 128 && self.is_of_integers(result),
            Some(width) => width <= 64,
        };
        returns_like_in_c && (!is_model || function.params.iter().all(is_scalar))
    }

    /// True for a struct whose members are all integers or pointers.
    fn is_of_integers(&self, ty: &CType) -> bool {
        let is_integer = |field: &cfa::Field| {
            matches!(
                self.p.plain_type(field.ty),
                CType::Int { .. } | CType::Enum { .. } | CType::Bool | CType::Pointer(_)
            )
        };
        matches!(ty, CType::Struct { fields, .. } if fields.iter().all(is_integer))
    }

    /// The prototype of a function, as a header would declare it.
    fn prototype(&mut self, f: FuncId, name: &str) -> String {
        if !self.is_called_like_in_c(f) {
            self.refuse(format!("a call of '{name}', which passes or returns a struct or a complex number"));
        }
        let function = &self.p.funcs[f];
        let mut parameters: Vec<String> = Vec::new();
        for &v in &function.params {
            let var = &self.p.vars[v];
            parameters.push(match self.p.plain_type(var.ty) {
                &CType::Pointer(to) => match self.p.plain_type(to) {
                    // A struct of a model represents the library's struct.
                    CType::Struct { .. } if function.origin == FunctionOrigin::Model => "void *".to_owned(),
                    CType::Function => "void *".to_owned(),
                    _ => format!("{}{}", const_of(self.p, to), self.declare(var.ty, "")),
                },
                _ if of_type(self.p, var.ty, var.width).is_some() => self.declare(var.ty, ""),
                _ => raw_type(self.type_of(v), var.width).trim_end().to_owned(),
            });
        }
        if function.varargs.is_some() {
            parameters.push("...".to_owned());
        }
        let list = match &parameters[..] {
            [] => "void".to_owned(),
            [dots] if dots == "..." => String::new(),
            _ => parameters.join(", "),
        };
        let declarator = format!("{name}({list})");
        match self.p.plain_type(function.return_type) {
            &CType::Pointer(to)
                if function.origin == FunctionOrigin::Model
                    && matches!(self.p.plain_type(to), CType::Struct { .. } | CType::Function) =>
            {
                format!("void *{declarator}")
            }
            // A model that is called only for its effects does not determine the result type.
            CType::Void if function.name != roles::public_name(function) => format!("int {declarator}"),
            _ => self.with_result(f, &declarator),
        }
    }
}

fn address_taken(p: &Program) -> Vec<FuncId> {
    let mut found: Vec<FuncId> = Vec::new();
    let mut seen = FxHashSet::default();
    let initial = p.globals.values().filter_map(|g| g.init.as_ref()).flat_map(|init| &init.pointers);
    let mut roots: Vec<ExprId> = initial.map(|&(_, value)| value).collect();
    roots.extend(p.vars.values().filter_map(|var| match var.kind {
        VarKind::Global { init, .. } => init,
        _ => None,
    }));
    p.edges.values().for_each(|edge| edge.op.for_each_expr(|e| roots.push(e)));
    for root in roots {
        p.exprs.visit(root, &mut seen, |_, node| {
            if let Expr::FuncAddr(f) = *node {
                found.push(f);
            }
        });
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The library's `errno`, which models change.
fn errno(file: &mut File) -> String {
    file.library(roles::ERRNO_LOCATION, format!("extern int *{}(void);", roles::ERRNO_LOCATION));
    roles::ERRNO.to_owned()
}

/// A string literal for the address of a constant array of characters. `None` if the program chooses which literals share
/// memory: equal literals in C would be one object whatever it chooses.
pub fn string(file: &File, g: GlobalId) -> Option<String> {
    let p = file.p;
    let global = &p.globals[g];
    let init = global.init.as_ref()?;
    if file.watch.is_some()
        || file.shares_literals
        || !global.read_only
        || !global.name.starts_with(".str")
        || !init.pointers.is_empty()
        || global.size > 4096
    {
        return None;
    }
    let CType::Array(of, _) = *p.plain_type(global.ty) else { return None };
    // The literal adds one terminating zero.
    if p.size_of(of) != Some(1) || init.bytes.len() as u64 + 1 != global.size {
        return None;
    }
    Some(format!("(char *){}", string_literal(&init.bytes)))
}

fn const_of(p: &Program, to: TypeId) -> &'static str {
    match p.types[to] {
        CType::Qualified { name: "const", .. } => "const ",
        _ => "",
    }
}

/// The stack object of constant size that an operation allocates: its variable and its size.
pub fn frame_object(p: &Program, op: &Op) -> Option<(VarId, u64)> {
    let &Op::Alloc { var, size, kind: AllocKind::Stack, .. } = op else { return None };
    Some((var, p.exprs.as_const(size)?.to_u64()?))
}
