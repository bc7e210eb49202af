//! The scope of the function that is written: its sub-expressions with names, its stack objects and its variables.

use super::shape::FunctionGraph;
use cfa::text::exact::ScalarType;
use cfa::{Expr, ExprId, Program, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A stack object that is a variable in C.
#[derive(Clone, Debug)]
pub struct StackVariable {
    /// The name.
    pub name: String,
    /// True if the object has the target type of the variable that holds its address.
    pub typed: bool,
}

/// The scope of the function that is written.
#[derive(Default)]
pub struct Scope {
    /// The sub-expressions of the current statement that have names.
    parts: FxHashMap<ExprId, (String, ScalarType)>,
    /// The declarations at the start of the function, except those of local variables.
    declarations: Vec<String>,
    /// The stack objects that are C variables, by the program variable that holds their address.
    objects: FxHashMap<VarId, StackVariable>,
    /// The program variables that the function reads.
    read: FxHashSet<VarId>,
    /// The local variables, in the order of their first use.
    locals: Vec<VarId>,
}

impl Scope {
    /// The empty scope of a function.
    pub fn new(p: &Program, graph: &FunctionGraph) -> Self {
        let mut read = FxHashSet::default();
        let mut seen = FxHashSet::default();
        for edge in graph.locs.iter().flat_map(|&loc| p.out_edges(loc)) {
            p.edges[edge].op.for_each_expr(|e| {
                p.exprs.visit(e, &mut seen, |_, node| {
                    if let Expr::Var(v) = *node {
                        read.insert(v);
                    }
                });
            });
        }
        Self { read, ..Self::default() }
    }

    /// Returns true if the function reads the variable.
    pub fn reads(&self, v: VarId) -> bool {
        self.read.contains(&v)
    }

    /// Adds a declaration to the start of the function.
    pub fn declare(&mut self, declaration: String) {
        self.declarations.push(declaration);
    }

    /// Gives a sub-expression a name until [`end_statement`](Self::end_statement).
    pub fn name_part(&mut self, e: ExprId, name: String, ty: ScalarType) {
        self.parts.insert(e, (name, ty));
    }

    /// Returns the name and the type of a sub-expression that has a name.
    pub fn part(&self, e: ExprId) -> Option<&(String, ScalarType)> {
        self.parts.get(&e)
    }

    /// Ends a statement. Its sub-expressions lose their names.
    pub fn end_statement(&mut self) {
        self.parts.clear();
    }

    /// Makes the object whose address `v` holds a C variable.
    pub fn add_object(&mut self, v: VarId, object: StackVariable) {
        self.objects.insert(v, object);
    }

    /// Returns the C variable that is the object whose address `v` holds.
    pub fn object(&self, v: VarId) -> Option<&StackVariable> {
        self.objects.get(&v)
    }

    /// Adds a local variable. The caller must not add it twice.
    pub fn add_local(&mut self, v: VarId) {
        self.locals.push(v);
    }

    /// Removes and returns the local variables.
    pub fn take_locals(&mut self) -> Vec<VarId> {
        std::mem::take(&mut self.locals)
    }

    /// Removes and returns the declarations at the start of the function, except those of local variables.
    pub fn take_declarations(&mut self) -> Vec<String> {
        std::mem::take(&mut self.declarations)
    }
}
