//! A C file in the making: what is named in it, and the declarations that this asks for.

use super::expr::{Kind, Ty};
use super::kinds;
use super::names::Names;
use super::roles::{self, Role};
use super::types::{Types, integer_type};
use cfa::{
    AllocKind, CType, Expr, ExprId, FuncId, FunctionOrigin, GlobalId, Id, InputKind, Op, PlaceId, Program, Table,
    TypeId, VarId, VarKind,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// A variable of the program in C.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: Option<String>,
    pub ty: Ty,
}

/// An object of a frame that is a variable of C.
#[derive(Clone, Debug)]
pub struct Object {
    pub name: String,
    /// It has the type that the variable that holds its address points to.
    pub typed: bool,
}

pub struct File<'p> {
    pub p: &'p Program,
    pub names: Names,
    pub types: Types<'p>,
    pub vars: Table<VarId, Variable>,
    /// What expressions are by themselves, as far as known.
    pub kinds: FxHashMap<ExprId, Kind>,
    /// Parts of the present statement that have a name.
    pub lets: FxHashMap<ExprId, (String, Ty)>,
    /// Objects of the present function's frame that are variables of C, by the variable that holds their address.
    pub objects: FxHashMap<VarId, Object>,
    /// Where the program checks what it does with memory.
    pub watch: Option<super::memory::Watch>,
    /// Variables that the present function reads.
    pub read: FxHashSet<VarId>,
    /// Locals named in the present function, in order.
    pub locals: Vec<VarId>,
    /// Declarations of parts of expressions in the present function.
    pub part_declarations: Vec<String>,
    functions: Table<FuncId, Option<String>>,
    /// Functions whose address the program has.
    pub pointed_to: Vec<FuncId>,
    pub wanted_functions: Vec<FuncId>,
    /// The program's start is `main`, so the user's main function is called otherwise.
    pub rename_main: bool,
    globals: Table<GlobalId, Option<String>>,
    pub typed_globals: FxHashMap<GlobalId, bool>,
    pub wanted_globals: Vec<GlobalId>,
    pub wanted_variables: Vec<VarId>,
    /// Definitions and declarations by name.
    pub helpers: BTreeMap<String, String>,
    pub library: BTreeMap<String, String>,
    /// Where in the source what is written at present comes from.
    pub place: Option<PlaceId>,
    /// The first thing that C cannot say, with where it is.
    pub refused: Option<String>,
}

impl<'p> File<'p> {
    pub fn new(p: &'p Program) -> Self {
        let mut file = Self {
            p,
            names: Names::new(),
            types: Types::new(p),
            vars: kinds::of_variables(p),
            kinds: FxHashMap::default(),
            lets: FxHashMap::default(),
            objects: FxHashMap::default(),
            watch: None,
            read: FxHashSet::default(),
            locals: Vec::new(),
            part_declarations: Vec::new(),
            functions: Table::filled(None, p.funcs.len()),
            pointed_to: pointed_to(p),
            wanted_functions: Vec::new(),
            rename_main: false,
            globals: Table::filled(None, p.globals.len()),
            typed_globals: FxHashMap::default(),
            wanted_globals: Vec::new(),
            wanted_variables: Vec::new(),
            helpers: BTreeMap::new(),
            library: BTreeMap::new(),
            place: None,
            refused: None,
        };
        // What somebody else defines keeps its name, whatever comes first.
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

    /// Remembers what cannot be said.
    pub fn refuse(&mut self, what: String) {
        let own = self.place.filter(|&place| self.p.places[place].line > 0 && !roles::is_model(self.p, place));
        let at = own.map_or(String::new(), |place| {
            let place = self.p.places[place];
            format!(" ({}:{})", self.p.files[place.file].path, place.line)
        });
        self.refused.get_or_insert_with(|| format!("{what}{at}"));
    }

    pub fn helper(&mut self, name: &str, text: impl FnOnce() -> String) {
        self.helpers.entry(name.to_owned()).or_insert_with(text);
    }
    pub fn library(&mut self, name: &str, declaration: String) {
        self.names.reserve(name);
        self.library.entry(name.to_owned()).or_insert(declaration);
    }

    pub fn function(&mut self, f: FuncId) -> String {
        if let Some(name) = &self.functions[f] {
            return name.clone();
        }
        let function = &self.p.funcs[f];
        let name = match roles::role(self.p, f) {
            Role::Body if f == self.p.entry => "main".to_owned(),
            Role::Body if function.name == "main" && !self.rename_main => "main".to_owned(),
            Role::Body if roles::keeps_handlers(function) => {
                let name = function.name.trim_start_matches("__").trim_start_matches("proviso_");
                self.names.fresh(&format!("own_{name}"))
            }
            Role::Body => self.names.fresh(&function.name),
            Role::External | Role::Error => roles::public_name(function).to_owned(),
        };
        self.functions[f] = Some(name.clone());
        self.wanted_functions.push(f);
        name
    }

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
            if self.watch.is_some() { format!("{name}.{}", super::memory::OBJECT) } else { name }
        };
        self.globals[g] = Some(name.clone());
        self.wanted_globals.push(g);
        name
    }

    /// A variable's name and what C takes it for.
    pub fn variable(&mut self, v: VarId) -> (String, Ty) {
        if let Some(object) = self.objects.get(&v) {
            return (format!("(char *)&{}", object.name), Ty::Pointer);
        }
        let ty = self.vars[v].ty;
        if let Some(name) = &self.vars[v].name {
            return (name.clone(), ty);
        }
        let var = &self.p.vars[v];
        let is_errno = var.name.as_ref().is_some_and(|name| roles::is_errno(self.p, name, var.place));
        if is_errno && matches!(var.kind, VarKind::Global { .. }) {
            let name = errno(self);
            self.vars[v].name = Some(name.clone());
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
        self.vars[v].name = Some(name.clone());
        if matches!(var.kind, VarKind::Global { .. }) {
            self.wanted_variables.push(v);
        } else {
            self.locals.push(v);
        }
        (name, ty)
    }

    /// Whether it is a variable of ours that nothing reads (clang's for the result of `main`), so nobody misses it.
    pub fn is_dead(&self, v: VarId) -> bool {
        matches!(self.p.vars[v].kind, VarKind::Temp(_)) && !self.read.contains(&v)
    }

    /// How a variable is declared.
    pub fn declaration(&mut self, v: VarId) -> String {
        let (name, ty) = self.variable(v);
        let var = &self.p.vars[v];
        if kinds::of_type(self.p, var.ty, var.width).is_some() {
            return self.types.declare(var.ty, &name, &mut self.names);
        }
        format!("{}{name}", raw_type(ty, var.width))
    }

    /// The function's declarator with its result's type.
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
                    self.types.declare(ty, declarator, &mut self.names)
                }
                (ty, false) => format!("{}{declarator}", raw_type(ty, width)),
            },
        }
    }

    /// What a function returns, and whether it is what its C type says.
    pub fn result_type(&self, f: FuncId) -> Option<(Ty, bool)> {
        let function = &self.p.funcs[f];
        let width = function.return_width?;
        Some(match kinds::of_type(self.p, function.return_type, width) {
            Some(ty) => (ty, true),
            None => (Ty::Unsigned(width), false),
        })
    }

    /// As a header would declare it.
    fn prototype(&mut self, f: FuncId, name: &str) -> String {
        let function = &self.p.funcs[f];
        let mut parameters: Vec<String> = Vec::new();
        for &v in &function.params {
            let var = &self.p.vars[v];
            parameters.push(match self.p.plain_type(var.ty) {
                &CType::Pointer(to) => match self.p.plain_type(to) {
                    // A model's struct stands for the library's.
                    CType::Struct { .. } if function.origin == FunctionOrigin::Model => "void *".to_owned(),
                    CType::Function => "void *".to_owned(),
                    _ => format!("{}{}", const_of(self.p, to), self.types.declare(var.ty, "", &mut self.names)),
                },
                _ if kinds::of_type(self.p, var.ty, var.width).is_some() => {
                    self.types.declare(var.ty, "", &mut self.names)
                }
                _ => raw_type(self.vars[v].ty, var.width).trim_end().to_owned(),
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
            // A model that is called for its effects alone says nothing of its result.
            CType::Void if function.name != roles::public_name(function) => format!("int {declarator}"),
            _ => self.with_result(f, &declarator),
        }
    }
}

fn pointed_to(p: &Program) -> Vec<FuncId> {
    let mut found: Vec<FuncId> = Vec::new();
    let mut seen = FxHashSet::default();
    let initial = p.globals.values().filter_map(|g| g.init.as_ref()).flat_map(|init| &init.pointers);
    let mut roots: Vec<ExprId> = initial.map(|&(_, value)| value).collect();
    roots.extend(p.vars.values().filter_map(|var| match var.kind {
        VarKind::Global { init } => init,
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

/// A literal for the address of an array of characters that nobody writes.
pub fn string(file: &File, g: GlobalId) -> Option<String> {
    let p = file.p;
    let global = &p.globals[g];
    let init = global.init.as_ref()?;
    if file.watch.is_some()
        || !global.read_only
        || !global.name.starts_with(".str")
        || !init.pointers.is_empty()
        || global.size > 4096
    {
        return None;
    }
    let CType::Array(of, _) = *p.plain_type(global.ty) else { return None };
    // Without trailing zeros, of which the literal has one.
    if p.size_of(of) != Some(1) || init.bytes.len() as u64 + 1 != global.size {
        return None;
    }
    Some(format!("(char *){}", string_literal(&init.bytes)))
}

/// A type for what debug information says nothing of; with a space where a name may follow.
pub fn raw_type(ty: Ty, width: u32) -> String {
    match ty {
        Ty::Pointer => "char *".to_owned(),
        Ty::Float(f) => format!("{} ", super::types::float_type(f)),
        Ty::Bool => "_Bool ".to_owned(),
        Ty::Signed(_) => format!("{} ", integer_type(width, true)),
        Ty::Unsigned(_) => format!("{} ", integer_type(width, false)),
    }
}

fn const_of(p: &Program, to: TypeId) -> &'static str {
    match p.types[to] {
        CType::Qualified { name: "const", .. } => "const ",
        _ => "",
    }
}

pub fn string_literal(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for &b in bytes {
        match b {
            b'"' | b'\\' => {
                text.push('\\');
                text.push(b as char);
            }
            b'\n' => text += "\\n",
            // Of `??` a trigraph could start.
            b'?' => text += "\\?",
            0x20..=0x7e => text.push(b as char),
            _ => text += &format!("\\{b:03o}"),
        }
    }
    text + "\""
}

/// The object of constant size that an operation makes in the frame.
pub fn frame_object(p: &Program, op: &Op) -> Option<(VarId, u64)> {
    let &Op::Alloc { var, size, kind: AllocKind::Stack, .. } = op else { return None };
    Some((var, p.exprs.as_const(size)?.to_u64()?))
}
