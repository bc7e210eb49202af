//! Writes a program as a C file for compilers and other verifiers.
//!
//! The file behaves like the program's automata: the same inputs lead to the same executions. It uses the names and
//! types of the source if debug information provides them, and `#line` records the source line of each statement. It
//! calls library functions that the program contains as models, because other tools know them better than these models.
//! Constructs that C cannot express (values of more than 128 bits, other rounding modes) are errors, not
//! approximations.

mod code;
mod expr;
mod file;
mod float;
mod init;
mod kinds;
mod left_out;
mod memory;
mod names;
mod path;
mod place;
mod requested;
mod roles;
mod scalar;
mod scope;
mod shape;
mod structure;
mod types;
mod watch;

use cfa::text::exact::WIDE;
use cfa::{Family, FuncId, Op, PlaceId, Program, VarId, VarKind};
use file::{File, frame_object};
pub use memory::{never_failing, write_models};
use requested::Entity;
use roles::{Role, plain_main, public_name};
use rustc_hash::{FxHashMap, FxHashSet};
use scalar::{string_literal, strip};
use scope::{Scope, StackVariable};
pub(crate) use shape::FunctionGraph;
use std::fmt::Write;
use structure::Line;
use watch::{OBJECT, with_gap};

/// The options of the C file.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Omit `#line` directives.
    pub plain: bool,
    /// Initialise local variables to 0. The program never reads these values. Tools that treat uninitialised variables
    /// as inputs then have fewer inputs.
    pub initialised: bool,
    /// Let the program itself check memory accesses whose faults are errors.
    pub checks_memory: bool,
    /// The lines of the comment at the top of the file.
    pub about: Vec<String>,
}

/// A C file.
#[derive(Clone, Debug)]
pub struct Written {
    /// The text.
    pub text: String,
    /// The message of an error of the program that the file lacks: memory faults without checks, checks in library
    /// functions, or code after `main`. A proof of the file is no proof of the program then.
    pub unsaid: Option<String>,
}

/// Writes the program as C. Fails with the first construct that C cannot express.
pub fn print(p: &Program, options: &Options) -> Result<Written, String> {
    let mut file = File::new(p, options.checks_memory);
    let mut bodies: Vec<String> = Vec::new();
    let mut prototypes = String::new();
    // The entry function becomes `main`, unless it only calls the user's main function.
    file.function(plain_main(p).unwrap_or(p.entry));
    let exits = roles::exit_functions(p);
    let mut ends_elsewhere = None;
    let (mut tentative, mut definitions) = (String::new(), String::new());
    while let Some(entity) = file.next_requested() {
        match entity {
            Entity::Function(f) => {
                file.names.begin_function();
                let signature = file.signature(f);
                match roles::role(p, f) {
                    Role::Body => {
                        if file.function(f) != "main" {
                            let _ = writeln!(prototypes, "{}{signature};", roles::linkage(file.p, f));
                        }
                        bodies.push(function(&mut file, f, &signature, options));
                    }
                    Role::External | Role::Error => {
                        let name = public_name(&p.funcs[f]).to_owned();
                        file.note_foreign(f);
                        if let Some(&exit) = exits.iter().find(|exit| memory::parts(p, f).contains(exit)) {
                            ends_elsewhere = Some(exit);
                            file.function(exit);
                            // The library cannot select the copy for a state of a condition.
                            if exits.len() > 1 {
                                file.refuse(format!("the functions that run when '{name}' ends the program"));
                            }
                        }
                        file.library(&name, format!("extern {signature};"));
                    }
                }
            }
            Entity::Object(g) => {
                let (first, definition) = file.global_definition(g);
                tentative += &first;
                definitions += &definition;
            }
            Entity::Variable(v) => {
                let (first, definition) = variable(&mut file, v);
                tentative += &first;
                definitions += &definition;
            }
        }
    }
    file.set_place(None);
    if let Some(exit) = ends_elsewhere {
        bodies.push(run_at_library_exit(&mut file, exit));
    }
    let runtime = file.runtime();
    let left_out = left_out::LeftOut::compute(&file);
    if let Some(state) = left_out.shared_state(&file) {
        file.refuse(state);
    }
    let unsaid = left_out.error(&file);
    if let Some(refused) = file.refused() {
        return Err(format!("C cannot express {refused}"));
    }
    let mut head = String::new();
    for line in &options.about {
        let _ = writeln!(head, "// {line}");
    }
    head += "// Accesses to memory may disagree with the types of objects: compile with -fno-strict-aliasing.\n\n";
    let mut out = file.declarations();
    out.push('\n');
    out += &prototypes;
    out.push('\n');
    let (runtime, behind) = runtime.unwrap_or_default();
    out += &runtime;
    out += &tentative;
    out += &definitions;
    for body in bodies {
        out.push('\n');
        out += &body;
    }
    out += &behind;
    if [WIDE.0, WIDE.1].iter().any(|name| out.contains(name)) {
        head += &types::wide_types(p.layout.pointer_width);
    }
    let out = head + &out;
    Ok(Written { text: out, unsaid })
}

/// Makes the library run the file's exit handlers, even if a library function ends the program (`err`). The handlers
/// have no effect if they have run already.
fn run_at_library_exit(file: &mut File, exit: FuncId) -> String {
    file.library("on_exit", "extern int on_exit(void (*)(int, void *), void *);".to_owned());
    let exit = file.function(exit);
    format!(
        "static void proviso_run_at_exit(int status, void *nothing) {{\n    {exit}(status);\n}}\n\n\
         __attribute__((constructor)) static void proviso_register(void) {{\n    on_exit(proviso_run_at_exit, 0);\n}}\n"
    )
}

/// Two texts for a global variable: a declaration that may precede all others, and the definition with its value.
fn variable(file: &mut File, v: VarId) -> (String, String) {
    let p = file.p;
    let VarKind::Global { init, .. } = p.vars[v].kind else { unreachable!("a global variable") };
    if roles::is_library_variable(file.p, v) {
        let (name, _) = file.variable(v);
        return (format!("extern void *{name};\n"), String::new());
    }
    let declaration = file.declaration(v);
    let Some(init) = init else { return (format!("extern {declaration};\n"), String::new()) };
    let ty = file.type_of(v);
    let value = file.value(init, ty);
    let zero = p.exprs.as_const(init).is_some_and(cfa::Bv::is_zero);
    (format!("{declaration};\n"), if zero { String::new() } else { format!("{declaration} = {};\n", strip(&value)) })
}

/// The definition of a function.
fn function(file: &mut File, f: FuncId, signature: &str, options: &Options) -> String {
    let p = file.p;
    let shape = FunctionGraph::new(p, f);
    file.scope = Scope::new(p, &shape);
    let function = &p.funcs[f];
    let parameters: Vec<VarId> = function.params.iter().copied().chain(function.varargs).collect();
    let objects = frame_objects(file, &shape);
    let begin = file.begin_checks(f);
    let lines = file.body(&shape);
    let mut declarations = Vec::new();
    for v in file.scope.take_locals() {
        if !parameters.contains(&v) {
            let zero = if options.initialised { " = 0" } else { "" };
            declarations.push(format!("{}{zero};", file.declaration(v)));
        }
    }
    // Locals must not hide file-level names that were added meanwhile.
    let parts = file.scope.take_declarations();
    let mut out = String::new();
    let mut printer = Printer { out: &mut out, p, options, at: None };
    printer.mark(function.place);
    printer.line(0, &format!("{}{signature} {{", roles::linkage(file.p, f)));
    for text in objects.iter().chain(&declarations).chain(&parts).chain(&begin) {
        printer.line(1, text);
    }
    for line in &lines {
        printer.statement(line);
    }
    printer.line(0, "}");
    file.scope = Scope::default();
    out
}

/// Declares the stack objects that become C variables. They have constant size, and each path creates them at one
/// point.
fn frame_objects(file: &mut File, shape: &FunctionGraph) -> Vec<String> {
    let p = file.p;
    let mut made: FxHashMap<VarId, Vec<(u32, u64, u32)>> = FxHashMap::default();
    let (mut others, mut ended): (FxHashSet<VarId>, FxHashSet<VarId>) = Default::default();
    for (n, &loc) in (0u32..).zip(&shape.locs) {
        for edge in p.out_edges(loc) {
            let op = &p.edges[edge].op;
            match (frame_object(p, op), op) {
                (Some((var, size)), &Op::Alloc { align, .. }) if size > 0 => {
                    made.entry(var).or_default().push((n, size, align))
                }
                (_, &Op::Free { ptr, family: Family::Scope }) => {
                    if let cfa::Expr::Var(v) = *p.exprs.get(ptr) {
                        ended.insert(v);
                    }
                }
                _ => others.extend(op.def()),
            }
        }
    }
    let mut vars: Vec<_> = made.into_iter().filter(|(v, _)| !others.contains(v)).collect();
    vars.sort_by_key(|(v, _)| *v);
    let components = shape.graph.components();
    let mut declarations = Vec::new();
    for (v, makers) in vars {
        let (_, size, align) = makers[0];
        let again = || {
            makers.iter().any(|&(n, ..)| {
                let successors = shape.graph.successors(n);
                if makers.len() == 1 {
                    return successors.iter().any(|&s| components.component(s) == components.component(n));
                }
                let reached = shape.graph.reachable(successors.iter().copied());
                makers.iter().any(|&(m, ..)| reached[m as usize])
            })
        };
        // An object that always ends before it is created again can be one variable.
        if makers.iter().any(|&(_, s, a)| (s, a) != (size, align))
            || makers.len() > 16
            || (!ended.contains(&v) && again())
        {
            continue;
        }
        let var = &p.vars[v];
        let name = file.names.fresh_local(var.name.as_deref().map_or("object", |n| n.trim_start_matches('&')));
        let ty = match *p.plain_type(var.ty) {
            cfa::CType::Pointer(to) if p.size_of(to) == Some(size) => Some(to),
            _ => None,
        };
        let inner = if file.watch.is_some() { OBJECT } else { &name };
        let declaration = match ty {
            Some(ty) => file.declare(ty, inner),
            None => format!("unsigned char {inner}[{size}]"),
        };
        let attributes = format!(" __attribute__((aligned({align})))");
        let name = match file.watch {
            Some(_) => {
                declarations.push(format!("{} {name};", with_gap(&declaration, &attributes)));
                format!("{name}.{OBJECT}")
            }
            None => {
                declarations.push(format!("{declaration}{attributes};"));
                name
            }
        };
        file.scope.add_object(v, StackVariable { name, typed: ty.is_some() });
    }
    declarations
}

/// Prints lines with their source places.
struct Printer<'a> {
    out: &'a mut String,
    p: &'a Program,
    options: &'a Options,
    /// The file and line that the `#line` directives assign to the next line of text.
    at: Option<(u32, u32)>,
}

impl Printer<'_> {
    fn line(&mut self, indent: usize, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", 4 * indent);
        if let Some((_, line)) = &mut self.at {
            *line += 1;
        }
    }

    /// Writes a `#line` directive for the next line, if needed.
    fn mark(&mut self, place: Option<PlaceId>) {
        let Some(place) = place.filter(|_| !self.options.plain) else { return };
        let place = self.p.places[place];
        let here = (place.file.0, place.line);
        if place.line == 0 || self.at == Some(here) {
            return;
        }
        let same_file = self.at.is_some_and(|(file, _)| file == here.0);
        let path = if same_file {
            String::new()
        } else {
            format!(" {}", string_literal(self.p.files[place.file].path.as_bytes()))
        };
        let _ = writeln!(self.out, "#line {}{path}", place.line);
        self.at = Some(here);
    }

    fn statement(&mut self, line: &Line) {
        self.mark(line.place);
        self.line(line.indent, &line.text);
    }
}
