//! Writes programs that check their own memory accesses: calls of a runtime (`objects.c`) before each operation whose
//! fault is an error, and at the start and end of objects.
//!
//! A gap follows each object, so that a pointer that leaves the object does not enter another. The address from which
//! another was computed determines the intended object. The models of library functions determine what these do with
//! their arguments. Models that are plain C become part of the file ([`write_models`]).

use super::file::File;
use super::roles::{self, Role};
use super::scalar::{ValueKind, strip};
use super::shape::operations;
use super::watch::{GAP, Watch};
use cfa::text::exact::{ExactPrinter, ScalarType};
use cfa::{
    AllocKind, BinOp, Callee, EdgeId, Expr, ExprId, Family, FuncId, FunctionOrigin, HaltKind, InputKind, Leak, Op, Out,
    Program, VarKind, Variables,
};
use rustc_hash::FxHashSet;
use std::fmt::Write;

/// The runtime.
const RUNTIME: &str = include_str!("objects.c");
/// The library functions that the runtime uses.
const LIBRARY: [(&str, &str); 4] = [
    ("malloc", "extern void *malloc(unsigned long);"),
    ("free", "extern void free(void *);"),
    ("abort", "extern void abort(void) __attribute__((__noreturn__));"),
    ("reach_error", "extern void reach_error(void);"),
];

/// The prefixes of functions that share state of the library: only functions with the same prefix can read, for
/// example, a mutex that another writes.
const SHARED: [&str; 3] = ["pthread_", "fe", "setlocale"];

/// Turns models into functions of the program if they only compute and access memory, so that the file checks their
/// accesses. Returns the names of the remaining library functions with pointer arguments.
pub fn write_models(p: &mut Program) -> Vec<String> {
    let mut written = Vec::new();
    let mut others = Vec::new();
    for f in p.funcs.ids() {
        // The front-end defines `malloc` and `free` without models for them.
        if roles::role(p, f) != Role::External || p.funcs[f].origin != FunctionOrigin::Model && !is_about_heap(p, f) {
            continue;
        }
        let parts = parts(p, f);
        let allocates = parts.iter().any(|&g| is_about_heap(p, g));
        let is_pointer = |&v: &cfa::VarId| matches!(p.plain_type(p.vars[v].ty), cfa::CType::Pointer(_));
        let gets_pointer = p.funcs[f].params.iter().any(is_pointer);
        let name = roles::public_name(&p.funcs[f]);
        let is_shared = SHARED.iter().any(|start| name.starts_with(start));
        if (gets_pointer || allocates) && !is_shared && parts.iter().all(|&g| is_plain(p, g, allocates)) {
            written.push(f);
        } else if gets_pointer {
            others.push(name.to_owned());
        }
    }
    for f in written {
        p.funcs[f].name = format!("checked_{}", roles::public_name(&p.funcs[f]));
        p.funcs[f].origin = FunctionOrigin::Source;
    }
    others.sort();
    others.dedup();
    others
}

/// The names of library functions that may fail for lack of memory in the program, but not in the written file. Sorted.
pub fn never_failing(p: &Program) -> Vec<String> {
    let may_fail = |op: &Op| matches!(op, Op::Havoc { input, .. } if p.inputs[*input].kind == InputKind::allocation());
    let fails = |&f: &FuncId| {
        roles::role(p, f) == Role::External && parts(p, f).iter().any(|&g| operations(p, g).any(may_fail))
    };
    let calls = cfa::CallGraph::new(p);
    let called = p.funcs.ids().filter(|&f| calls.is_reachable(f)).filter(fails);
    let mut names: Vec<String> = called.map(|f| roles::public_name(&p.funcs[f]).to_owned()).collect();
    names.sort();
    names.dedup();
    names
}

fn is_about_heap(p: &Program, f: FuncId) -> bool {
    operations(p, f).any(|op| match op {
        Op::Alloc { kind, .. } => kind.family() == Some(Family::Malloc),
        Op::Free { family, .. } => *family == Family::Malloc,
        op => matches!(op, Op::ObjectSize { .. }),
    })
}

/// A function and all functions that it calls directly or indirectly.
pub fn parts(p: &Program, f: FuncId) -> Vec<FuncId> {
    let (mut parts, mut seen, mut done) = (vec![f], FxHashSet::from_iter([f]), 0);
    while let Some(&part) = parts.get(done) {
        done += 1;
        for op in operations(p, part) {
            if let Op::Call { callee: Callee::Direct(g), .. } = *op
                && seen.insert(g)
            {
                parts.push(g);
            }
        }
    }
    parts
}

/// Returns true if a model needs nothing from the library: it reads no inputs, and it keeps no state, except the error
/// code if it allocates.
fn is_plain(p: &Program, f: FuncId, may_keep: bool) -> bool {
    let is_known = p.funcs[f].origin == FunctionOrigin::Model || is_about_heap(p, f);
    let mut seen = FxHashSet::default();
    is_known
        && p.funcs[f].varargs.is_none()
        && operations(p, f).all(|op| {
            let mut keeps = op.def().is_some_and(|v| p.vars[v].func().is_none());
            op.for_each_expr(|e| {
                p.exprs.visit(e, &mut seen, |_, node| {
                    keeps |= match *node {
                        Expr::Var(v) => p.vars[v].func().is_none(),
                        Expr::GlobalAddr(g) => !p.globals[g].read_only,
                        _ => false,
                    };
                });
            });
            let asks = match op {
                Op::Havoc { input, .. } => p.inputs[*input].kind != InputKind::allocation(),
                op => matches!(op, Op::Approx { .. } | Op::Call { callee: Callee::Indirect(_), .. } | Op::Halt(_)),
            };
            !asks && (may_keep || !keeps)
        })
}

impl File<'_> {
    /// Records that an external function may return addresses of unknown memory.
    pub fn note_foreign(&mut self, f: FuncId) {
        let function = &self.p.funcs[f];
        let (returns, gets) = (
            self.result_type(f).is_some_and(|(ty, _)| ty == ScalarType::Pointer),
            function.params.iter().any(|&v| self.type_of(v) == ScalarType::Pointer),
        );
        // For example `getline`, through its arguments.
        let allocates = || parts(self.p, f).iter().any(|&g| is_about_heap(self.p, g));
        let hands_out = returns || gets && (function.origin == FunctionOrigin::Undefined || allocates());
        let is_known = roles::public_name(function) == roles::ERRNO_LOCATION;
        if let Some(watch) = &mut self.watch {
            watch.foreign |= hands_out && !is_known;
        }
    }

    /// The statements at the start of a function.
    pub fn begin_checks(&mut self, f: FuncId) -> Vec<String> {
        if self.watch.is_none() {
            return Vec::new();
        }
        let (p, is_main) = (self.p, self.function(f) == "main");
        let mut lines = Vec::new();
        if is_main {
            lines.push("proviso_start();".to_owned());
        }
        if let ([count, list], true) = (&p.funcs[f].params[..], is_main && f != p.entry) {
            let mut uses = false;
            operations(p, f).for_each(|op| op.for_each_expr(|e| uses |= p.exprs.vars(e).contains(list)));
            if uses {
                let [count, list] = [*count, *list].map(|v| self.variable(v).0);
                lines.push(format!("proviso_arguments({count}, (char **){list});"));
            }
        }
        let has_frame = operations(p, f).any(|op| matches!(op, Op::Alloc { kind: AllocKind::Stack, .. }));
        if has_frame {
            lines.push("proviso_depth++;".to_owned());
        }
        let is_outermost = is_main || p.funcs[f].origin == FunctionOrigin::Source && p.funcs[f].name == "main";
        if let Some(watch) = &mut self.watch {
            (watch.has_frame, watch.ends_program, watch.is_outermost) =
                (has_frame, is_main && f != p.entry, is_outermost);
        }
        lines
    }

    /// Adds the checks before an operation.
    pub fn checks_before(&mut self, edge: EdgeId, out: &mut Vec<String>) {
        let Some(watch) = &self.watch else { return };
        let Watch { has_frame, ends_program, is_outermost, leak, .. } = *watch;
        let at_return = leak.filter(|_| ends_program);
        let p = self.p;
        let is_fault = p.edges[edge].fault.is_some();
        match p.edges[edge].op {
            Op::Load { var, addr } if is_fault => self.check_access(addr, &bytes(p.vars[var].width), false, out),
            Op::Store { addr, value } if is_fault => self.check_access(addr, &bytes(p.exprs.width(value)), true, out),
            Op::Copy { dst, src, len } if is_fault => {
                let len = self.bits(len);
                self.check_access(src, &len, false, out);
                self.check_access(dst, &len, true, out);
            }
            Op::Fill { dst, len, .. } if is_fault => {
                let len = self.bits(len);
                self.check_access(dst, &len, true, out);
            }
            Op::Call { callee: Callee::Indirect(e), .. } if is_fault => {
                let callee = self.pointer(e);
                out.push(format!("proviso_call({callee});"));
            }
            Op::Free { ptr, family: Family::Scope } => {
                let ptr = self.pointer(ptr);
                out.push(format!("proviso_end({ptr});"));
            }
            // C variables that optimised code lacks may point to the memory.
            Op::Leak(Leak::Lost) if p.funcs[p.func_of(edge)].variables != Variables::Kept => {}
            Op::Leak(leak) if is_fault && (leak == Leak::Alive || is_outermost) && is_last(p, edge) => {
                if leak == Leak::Lost {
                    self.reach_variables(p.func_of(edge), out);
                }
                out.push(look(leak).to_owned());
            }
            Op::Return { .. } => {
                if has_frame {
                    out.push("proviso_leave();".to_owned());
                }
                out.extend(at_return.map(|leak| look(leak).to_owned()));
            }
            _ => {}
        }
    }

    /// Marks memory that is reachable from local variables without an address. They are not in the table of objects, but
    /// are still live when `main` calls `exit`.
    fn reach_variables(&mut self, f: FuncId, out: &mut Vec<String>) {
        let p = self.p;
        for (v, var) in p.vars.iter() {
            let is_named = matches!(var.kind, VarKind::Local(g) | VarKind::Param(g) if g == f) && var.name.is_some();
            if is_named && var.width >= p.layout.pointer_width && self.scope.reads(v) && self.scope.object(v).is_none()
            {
                let name = self.variable(v).0;
                out.push(format!("proviso_reach(&{name}, sizeof {name});"));
            }
        }
    }

    fn check_access(&mut self, addr: ExprId, bytes: &str, writes: bool, out: &mut Vec<String>) {
        let p = self.p;
        let mut base = addr;
        while let (ValueKind::Pointer, &Expr::Binary(op, a, b)) = (self.kind(base), p.exprs.get(base)) {
            base = if op == BinOp::Add && self.kind(a) != ValueKind::Pointer { b } else { a };
        }
        let [base, addr] = [base, addr].map(|e| self.pointer(e));
        let writes = u32::from(writes);
        out.push(format!("proviso_access({}, {}, {}, {writes});", strip(&base), strip(&addr), strip(bytes)));
    }

    /// The text of the runtime, before and after the program's definitions. All objects of the file must be known.
    pub fn runtime(&mut self) -> Option<(String, String)> {
        let watch = self.watch.as_ref()?;
        let mut foreign = watch.foreign;
        for (name, declaration) in LIBRARY {
            self.library(name, declaration.to_owned());
        }
        let p = self.p;
        let (mut start, mut roots) = (String::new(), String::new());
        if self.requested().has_library(roles::ERRNO_LOCATION) {
            let _ = writeln!(start, "    proviso_begin({}(), 4, PROVISO_SYSTEM);", roles::ERRNO_LOCATION);
        }
        for g in self.requested().objects().to_vec() {
            let global = &p.globals[g];
            let name = self.global(g);
            if global.is_open() {
                foreign = true;
            } else {
                let kind = if global.read_only { "CONSTANT" } else { "GLOBAL" };
                let _ = writeln!(start, "    proviso_begin((void *)&{name}, {}, PROVISO_{kind});", global.size);
            }
        }
        let foreign = u32::from(foreign);
        for v in self.requested().variables().to_vec().into_iter().filter(|&v| !roles::is_library_variable(p, v)) {
            let name = self.variable(v).0;
            let _ = writeln!(roots, "    proviso_reach(&{name}, sizeof {name});");
        }
        let families: Vec<String> = Family::all().map(family).collect();
        let before = format!(
            "#define PROVISO_GAP {GAP}\n#define PROVISO_FOREIGN {foreign}\nenum {{ {} }};\n{RUNTIME}\n\
             static void proviso_start(void);\n",
            families.join(", ")
        );
        let behind = format!(
            "\nstatic void proviso_start(void) {{\n{start}}}\n\nstatic void proviso_roots(void) {{\n{roots}}}\n"
        );
        Some((before, behind))
    }
}

/// The constant that represents a family in the runtime.
pub fn family(family: Family) -> String {
    format!("PROVISO_FAMILY_{}", family.name().to_uppercase())
}

fn look(leak: Leak) -> &'static str {
    match leak {
        Leak::Alive => "proviso_alive();",
        Leak::Lost => "proviso_lost();",
    }
}

fn bytes(width: u32) -> String {
    width.div_ceil(8).to_string()
}

/// Returns true if the program ends after the edge.
fn is_last(p: &Program, edge: EdgeId) -> bool {
    let ends = |op: &Op| matches!(op, Op::Halt(HaltKind::Exit(_) | HaltKind::ExitNow(_) | HaltKind::Abort));
    matches!(p.locs[p.edges[edge].target].out, Out::One(next) if ends(&p.edges[next].op))
}
