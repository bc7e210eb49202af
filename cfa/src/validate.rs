//! Well-formedness of programs. Every stage relies on these rules.
//!
//! 1. *Ids.* Every id is in its table.
//! 2. *Types and positions.* Pointers are 32 or 64 bits wide. A type may contain itself only through the fields of a
//!    struct. A position is inlined at a position with a smaller id.
//! 3. *Variables.* Widths are at least 1. A parameter or `varargs` variable of a function has the kind `Param` of that
//!    function and occurs once. The initial value of a global is an expression of its width over constants and
//!    addresses.
//! 4. *Objects.* Alignments are powers of two. Initial bytes and pointers are inside the object. The bytes have no
//!    trailing zeros. The pointers ascend, do not overlap, are whole bytes wide, and are constants or addresses.
//! 5. *Functions.* The entry location belongs to the function. The program's entry has no parameters and no result. The
//!    names of models are sorted and unique.
//! 6. *Structure.* An edge is an outgoing edge of its source, and its target is in the same function. A branch is two
//!    assume edges, the then-edge first, with opposite conditions. Assume edges occur only in branches. `Return`,
//!    `Halt` and `Error` lead to sinks. No other reachable edge leads to a sink. The origins of an edge ascend.
//! 7. *Expressions.* Operands have the sorts that the operation requires. There are no symbols and no arrays. A leaf
//!    has the width of its variable or of a pointer.
//! 8. *Operations.* Operands have the widths that the operation requires: the variable's, the pointer's, one bit for
//!    conditions, eight for fill bytes, 32 for exit codes. A used variable is global or belongs to the edge's function.
//!    A function returns a value of its `return_width` if and only if it has one.
//! 9. *Reads.* On every path from the entry of a function, a local or temporary is written before it is read.

mod code;
mod reads;

use crate::expr::{Expr, ExprId, Sort};
use crate::graph::CfaGraphs;
use crate::index::Id;
use crate::program::*;
use crate::source::PlaceId;
use rustc_hash::FxHashSet;
use std::fmt::{self, Display};

/// A violation of a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The entity of the program that violates the rule.
    pub subject: String,
    /// The description of the violation.
    pub problem: String,
}

impl Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.problem)
    }
}

/// Checks all rules. Returns at most a few hundred violations. Linear in the size of the program, except for rule 9,
/// which costs as much as a liveness analysis.
pub fn validate(program: &Program) -> Result<(), Vec<Violation>> {
    let mut v = Validator { p: program, violations: Vec::new(), checked: FxHashSet::default() };
    v.tables();
    // The other rules follow ids from table to table, which requires valid ids.
    if v.violations.is_empty() {
        v.code();
    }
    if v.violations.is_empty() {
        let graphs = CfaGraphs::new(program);
        v.sinks(&graphs);
        v.reads(&graphs);
    }
    if v.violations.is_empty() { Ok(()) } else { Err(v.violations) }
}

/// The maximal number of reported violations. One violation may cause many others.
const MAX_VIOLATIONS: usize = 300;

/// A validation of a program.
struct Validator<'p> {
    p: &'p Program,
    violations: Vec<Violation>,
    /// The expressions that are known to be well-sorted.
    checked: FxHashSet<ExprId>,
}

impl<'p> Validator<'p> {
    fn fail(&mut self, subject: impl Display, problem: impl Into<String>) {
        if self.violations.len() < MAX_VIOLATIONS {
            self.violations.push(Violation { subject: subject.to_string(), problem: problem.into() });
        }
    }
    fn require(&mut self, holds: bool, subject: impl Display, problem: impl FnOnce() -> String) {
        if !holds {
            self.fail(subject, problem());
        }
    }
    fn in_table<I: Id + Display>(&mut self, id: I, len: usize, subject: impl Display) -> bool {
        self.require(id.index() < len, subject, || format!("there is no {id}"));
        id.index() < len
    }
    fn place(&mut self, place: Option<PlaceId>, subject: impl Display) {
        if let Some(place) = place {
            self.in_table(place, self.p.places.len(), subject);
        }
    }
    fn ty(&mut self, ty: TypeId, subject: impl Display) {
        self.in_table(ty, self.p.types.len(), subject);
    }

    /// Checks rules 1 to 5.
    fn tables(&mut self) {
        let p = self.p;
        let pointer = p.layout.pointer_width;
        self.require(matches!(pointer, 32 | 64), "layout", || format!("pointers of {pointer} bits"));
        self.types();
        for (id, place) in p.places.iter() {
            self.in_table(place.file, p.files.len(), id);
            self.require(place.inlined_at.is_none_or(|outer| outer < id), id, || {
                "it is inlined at a later place".into()
            });
        }
        for (id, input) in p.inputs.iter() {
            self.ty(input.ty, id);
            self.place(input.place, id);
            self.require(input.width > 0, id, || "it has no bits".into());
        }
        for (id, taint) in p.taints.iter() {
            self.place(taint.place, id);
        }
        for (id, error) in p.errors.iter() {
            self.place(error.place, id);
        }
        for (id, global) in p.globals.iter() {
            self.ty(global.ty, id);
            self.place(global.place, id);
            self.require(global.align.is_power_of_two(), id, || format!("alignment {}", global.align));
        }
        for (id, var) in p.vars.iter() {
            self.ty(var.ty, id);
            self.place(var.place, id);
            self.require(var.width > 0, id, || "it has no bits".into());
            if let Some(func) = var.func() {
                self.in_table(func, p.funcs.len(), id);
            }
        }
        for (id, loc) in p.locs.iter() {
            self.in_table(loc.func, p.funcs.len(), id);
            for edge in p.out_edges(id) {
                self.in_table(edge, p.edges.len(), id);
            }
        }
        for (id, edge) in p.edges.iter() {
            self.in_table(edge.source, p.locs.len(), id);
            self.in_table(edge.target, p.locs.len(), id);
            self.place(edge.place, id);
        }
        if self.in_table(p.entry, p.funcs.len(), "program") {
            let entry = &p.funcs[p.entry];
            let plain = entry.params.is_empty() && entry.varargs.is_none() && entry.return_width.is_none();
            self.require(plain, p.entry, || "the program's entry has parameters or a result".into());
        }
        self.require(p.models.is_sorted_by(|a, b| a < b), "models", || "not in order".into());
        if self.violations.is_empty() {
            self.functions();
            self.initial_values();
        }
    }

    fn types(&mut self) {
        let p = self.p;
        for (id, ty) in p.types.iter() {
            match ty {
                CType::Pointer(inner)
                | CType::Array(inner, _)
                | CType::Typedef { ty: inner, .. }
                | CType::Qualified { ty: inner, .. } => self.ty(*inner, id),
                CType::Struct { fields, .. } => fields.iter().for_each(|f| self.ty(f.ty, id)),
                CType::Int { width, .. } | CType::Enum { width, .. } | CType::Unknown { width } => {
                    self.require(*width > 0, id, || "it has no bits".into());
                }
                CType::Void | CType::Bool | CType::Float { .. } | CType::Function => {}
            }
        }
        if let Some(ty) = endless_type(p) {
            self.fail(ty, "it contains itself or is nested too deeply");
        }
    }

    fn functions(&mut self) {
        let p = self.p;
        let mut is_parameter = vec![false; p.vars.len()];
        for (id, f) in p.funcs.iter() {
            self.ty(f.return_type, id);
            self.place(f.place, id);
            self.require(f.return_width != Some(0), id, || "a result of no bits".into());
            if self.in_table(f.entry, p.locs.len(), id) {
                self.require(p.locs[f.entry].func == id, id, || format!("its entry {} is not its own", f.entry));
            }
            for &var in f.params.iter().chain(&f.varargs) {
                if !self.in_table(var, p.vars.len(), id) {
                    continue;
                }
                let own = p.vars[var].func() == Some(id);
                let kind = matches!(p.vars[var].kind, VarKind::Param(_)) || f.varargs == Some(var);
                self.require(own && kind, id, || format!("{var} is not a parameter of its"));
                let first = !std::mem::replace(&mut is_parameter[var.index()], true);
                self.require(first, id, || format!("{var} is a parameter twice"));
            }
            if let Some(varargs) = f.varargs.filter(|v| v.index() < p.vars.len()) {
                let width = p.vars[varargs].width;
                self.require(width == p.layout.pointer_width, id, || format!("{varargs} has {width} bits"));
            }
        }
        for (id, var) in p.vars.iter() {
            let listed = is_parameter[id.index()] || !matches!(var.kind, VarKind::Param(_));
            self.require(listed, id, || "its function does not have this parameter".into());
        }
    }

    fn initial_values(&mut self) {
        let p = self.p;
        for (id, var) in p.vars.iter() {
            if let VarKind::Global { init: Some(e), .. } = var.kind
                && self.address(e, id)
            {
                let width = p.exprs.width(e);
                self.require(width == var.width, id, || format!("{width} bits for {}", var.width));
            }
        }
        for (id, global) in p.globals.iter() {
            let Some(init) = &global.init else { continue };
            self.require(init.bytes.len() as u64 <= global.size, id, || "its initial bytes exceed it".into());
            self.require(init.bytes.last() != Some(&0), id, || "its initial bytes end with a zero".into());
            let mut end = 0;
            for &(offset, e) in &init.pointers {
                if !self.address(e, id) {
                    continue;
                }
                let width = p.exprs.width(e);
                self.require(width.is_multiple_of(8), id, || format!("an initial value of {width} bits"));
                self.require(offset >= end, id, || format!("its initial values overlap at {offset}"));
                end = offset.saturating_add(u64::from(width / 8));
                self.require(end <= global.size, id, || format!("its initial value at {offset} exceeds it"));
            }
        }
    }

    /// Checks that `e` is well-formed and consists of constants and addresses only.
    fn address(&mut self, e: ExprId, subject: impl Display + Copy) -> bool {
        if !self.expression(e, subject) {
            return false;
        }
        let mut var = None;
        self.p.exprs.visit(e, &mut FxHashSet::default(), |_, node| {
            if let Expr::Var(v) = node {
                var = Some(*v);
            }
        });
        self.require(var.is_none(), subject, || "its initial value depends on a variable".into());
        var.is_none()
    }

    /// Checks rule 7: `root` is a well-formed bit-vector expression.
    fn expression(&mut self, root: ExprId, subject: impl Display + Copy) -> bool {
        let p = self.p;
        if !self.in_table(root, p.exprs.len(), subject) {
            return false;
        }
        let mut problems = Vec::new();
        p.exprs.visit(root, &mut self.checked, |e, node| {
            let sort = p.exprs.sort(e);
            let problem = match (p.exprs.sort_of(node), node) {
                (Err(problem), _) => problem,
                (Ok(Some(own)), _) if own != sort => "an expression with a wrong sort".into(),
                (_, Expr::Sym(s)) => format!("the symbol {s}, which programs do not contain"),
                (_, Expr::Content { .. }) => {
                    "the content of memory, which expressions of programs do not contain".into()
                }
                (_, &Expr::Var(v)) if p.vars.get(v).is_none_or(|v| Sort::Bv(v.width) != sort) => {
                    format!("{v} does not exist or has another width")
                }
                (_, &Expr::GlobalAddr(g)) if g.index() >= p.globals.len() => format!("there is no {g}"),
                (_, &Expr::FuncAddr(f)) if f.index() >= p.funcs.len() => format!("there is no {f}"),
                (_, Expr::GlobalAddr(_) | Expr::FuncAddr(_)) if sort != Sort::Bv(p.layout.pointer_width) => {
                    "an address of another width than pointers".into()
                }
                _ if !matches!(sort, Sort::Bv(1..)) => "an array or nothing at all in a program".into(),
                _ if node.children().any(|c| c >= e) => "an expression in itself".into(),
                _ => return,
            };
            problems.push(format!("{problem} (in {e})"));
        });
        let fine = problems.is_empty();
        problems.into_iter().for_each(|problem| self.fail(subject, problem));
        fine
    }
}

/// Finds a type with an infinite or very long chain of pointers, arrays, typedefs and qualifiers.
pub(crate) fn endless_type(program: &Program) -> Option<TypeId> {
    const MAX_NESTING: u32 = 500;
    program.types.ids().find(|&start| {
        let mut ty = start;
        (0..MAX_NESTING).all(|_| match program.types.get(ty) {
            Some(
                CType::Pointer(inner)
                | CType::Array(inner, _)
                | CType::Typedef { ty: inner, .. }
                | CType::Qualified { ty: inner, .. },
            ) => {
                ty = *inner;
                true
            }
            _ => false,
        })
    })
}

#[cfg(test)]
mod tests;
