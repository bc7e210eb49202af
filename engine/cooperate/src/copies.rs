//! Programs that consist of copies of another program's functions, with a map to the original.
//!
//! Residual programs have a copy of a function for each state of an automaton in which the function is called. Each copy
//! has its own variables and locations. Entities without an original belong to the construction.

use cfa::{CType, EdgeId, Expr, ExprId, FuncId, Id, LocId, Op, Program, Table, Var, VarId, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// A restricted program with its map to the original. Entities without an original belong to the composition: they test
/// assumptions and exits of copies, or end covered paths.
pub struct Restricted {
    /// The restricted program.
    pub program: Program,
    /// By location, the original location.
    pub locs: Table<LocId, Option<LocId>>,
    /// By edge, the original edge.
    pub edges: Table<EdgeId, Option<EdgeId>>,
    /// By function, the original function.
    pub funcs: Table<FuncId, FuncId>,
    /// By variable, the original variable.
    pub vars: Table<VarId, Option<VarId>>,
}

/// A program of copies under construction. It starts as the original, whose entities keep their ids.
pub struct Copies<'a> {
    original: &'a Program,
    made: Restricted,
    /// The variables of copies, by copy and original variable.
    vars: FxHashMap<(FuncId, VarId), VarId>,
    /// By copy, the translations of expressions.
    exprs: FxHashMap<FuncId, FxHashMap<ExprId, ExprId>>,
}

impl<'a> Copies<'a> {
    /// The original alone.
    pub fn new(original: &'a Program) -> Self {
        let made = Restricted {
            program: original.clone(),
            locs: original.locs.ids().map(Some).collect(),
            edges: original.edges.ids().map(Some).collect(),
            funcs: original.funcs.ids().collect(),
            vars: original.vars.ids().map(Some).collect(),
        };
        Self { original, made, vars: FxHashMap::default(), exprs: FxHashMap::default() }
    }

    /// The program as it is now.
    pub fn program(&self) -> &Program {
        &self.made.program
    }

    /// The program as it is now, for changes that this type has no method for.
    pub fn program_mut(&mut self) -> &mut Program {
        &mut self.made.program
    }

    /// Adds a copy of a function of the original, with its parameters. The entry of the copy has no edges yet.
    pub fn function(&mut self, func: FuncId) -> FuncId {
        let original = &self.original.funcs[func];
        let new = self.made.program.add_function(&original.name, original.return_type, original.return_width);
        self.made.funcs.push(func);
        let params = original.params.iter().map(|&v| self.var(new, v)).collect();
        let varargs = original.varargs.map(|v| self.var(new, v));
        let made = &mut self.made.program.funcs[new];
        (made.params, made.varargs, made.place, made.origin) = (params, varargs, original.place, original.origin);
        made.variables = original.variables;
        new
    }

    /// Adds a variable that represents `old`.
    pub fn add_var(&mut self, var: Var, old: Option<VarId>) -> VarId {
        self.made.vars.push(old);
        self.made.program.vars.push(var)
    }

    /// Adds a global variable that is initially 0.
    pub fn add_counter(&mut self, width: u32) -> VarId {
        let out = &mut self.made.program;
        let ty = out.types.push(CType::Int { name: "unsigned int".into(), width, signed: false });
        let kind = VarKind::Global { init: Some(out.exprs.int(width, 0)), is_static: true };
        self.add_var(Var { name: None, ty, width, kind, place: None }, None)
    }

    /// The variable in a copy that represents a variable of the original.
    pub fn var(&mut self, copy: FuncId, var: VarId) -> VarId {
        let original = &self.original.vars[var];
        if original.func() != Some(self.made.funcs[copy]) {
            return var;
        }
        if let Some(&known) = self.vars.get(&(copy, var)) {
            return known;
        }
        let kind = match original.kind {
            VarKind::Param(_) => VarKind::Param(copy),
            VarKind::Local(_) => VarKind::Local(copy),
            VarKind::Temp(_) => VarKind::Temp(copy),
            VarKind::Global { .. } => unreachable!("a variable of a function"),
        };
        let new = self.add_var(Var { kind, ..original.clone() }, Some(var));
        self.vars.insert((copy, var), new);
        new
    }

    /// Translates an expression over variables of the original to those of a copy.
    pub fn expr(&mut self, copy: FuncId, e: ExprId) -> ExprId {
        let mut vars = Vec::new();
        self.made.program.exprs.visit(e, &mut FxHashSet::default(), |_, node| {
            if let Expr::Var(v) = *node {
                vars.push(v);
            }
        });
        let map: FxHashMap<VarId, VarId> = vars.into_iter().map(|v| (v, self.var(copy, v))).collect();
        self.made.program.exprs.substitute(e, self.exprs.entry(copy).or_default(), |pool, leaf| {
            let Expr::Var(v) = *pool.get(leaf) else { return None };
            let &new = map.get(&v)?;
            let width = pool.width(leaf);
            Some(pool.var(new, width))
        })
    }

    /// The operation of an edge of the original in a copy.
    pub fn op(&mut self, copy: FuncId, edge: EdgeId) -> Op {
        let mut op = self.original.edges[edge].op.clone();
        op.for_each_expr_mut(|e| *e = self.expr(copy, *e));
        if let Some(var) = op.def_mut() {
            *var = self.var(copy, *var);
        }
        op
    }

    /// The condition that a pointer points to a function of the original.
    pub fn points_to(&mut self, pointer: ExprId, func: FuncId) -> ExprId {
        let width = self.original.layout.pointer_width;
        let exprs = &mut self.made.program.exprs;
        let addr = exprs.func_addr(func, width);
        exprs.eq(pointer, addr)
    }

    /// Adds a location to a function.
    pub fn location(&mut self, func: FuncId) -> LocId {
        self.made.program.add_location(func)
    }

    /// Records the location of the original that a location represents.
    pub fn represent(&mut self, loc: LocId, old: Option<LocId>) {
        self.made.locs.extend_to(loc.index() + 1, None);
        self.made.locs[loc] = old;
    }

    /// Adds an edge that represents `old`.
    pub fn edge(&mut self, source: LocId, op: Op, target: LocId, old: EdgeId) {
        let new = self.made.program.add_edge(source, op, target, None);
        self.inherit(new, old);
    }

    /// Adds a branch in a copy that represents the then-edge and the else-edge of the original.
    pub fn branch(&mut self, source: LocId, [then_edge, else_edge]: [EdgeId; 2], yes: LocId, no: LocId) {
        let Op::Assume { cond, .. } = self.original.edges[then_edge].op else { unreachable!("an assume edge") };
        let cond = self.expr(self.made.program.locs[source].func, cond);
        let made = self.made.program.add_branch(source, cond, yes, no, self.original.edges[then_edge].place);
        for (new, old) in [(made.0, then_edge), (made.1, else_edge)] {
            self.inherit(new, old);
            if let Op::Assume { means, .. } = self.original.edges[old].op {
                self.made.program.set_meaning(new, means);
            }
        }
    }

    /// Adds a branch that belongs to the construction. A constant condition needs no branch.
    pub fn test(&mut self, source: LocId, cond: ExprId, yes: LocId, no: LocId) {
        let program = &mut self.made.program;
        match program.exprs.as_const(cond) {
            Some(c) => {
                let to = if c.is_zero() { no } else { yes };
                program.add_edge(source, Op::Skip, to, None);
            }
            None => drop(program.add_branch(source, cond, yes, no, None)),
        }
    }

    /// Adds an edge that belongs to the construction.
    pub fn step(&mut self, source: LocId, op: Op, target: LocId) {
        self.made.program.add_edge(source, op, target, None);
    }

    /// Ends paths at a location by an operation that belongs to the construction.
    pub fn end(&mut self, loc: LocId, op: Op) {
        let sink = self.location(self.made.program.locs[loc].func);
        self.step(loc, op, sink);
    }

    /// Gives an edge the place, the fault and the origin of the edge that it represents.
    fn inherit(&mut self, new: EdgeId, old: EdgeId) {
        self.made.edges.extend_to(new.index() + 1, None);
        self.made.edges[new] = Some(old);
        let (old, new) = (&self.original.edges[old], &mut self.made.program.edges[new]);
        (new.place, new.fault, new.origin) = (old.place, old.fault, old.origin.clone());
    }

    /// The program with this entry function.
    pub fn finish(mut self, entry: FuncId) -> Restricted {
        let program = &mut self.made.program;
        program.entry = entry;
        self.made.locs.extend_to(program.locs.len(), None);
        self.made.edges.extend_to(program.edges.len(), None);
        debug_assert_eq!(self.made.funcs.len(), program.funcs.len());
        debug_assert_eq!(self.made.vars.len(), program.vars.len());
        self.made
    }
}
