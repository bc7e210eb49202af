//! Writes the folded program from the classes of locations and copies.

use super::{Fold, Step};
use crate::restrict::{Restricted, inherit};
use cfa::{
    BinOp, Callee, EdgeId, Expr, ExprId, ExprPool, FuncId, HaltKind, Id, LocId, Op, Out, Program, Table, Var, VarId,
    VarKind,
};
use rustc_hash::FxHashMap;

/// The folded program under construction.
pub struct Output<'a> {
    fold: Fold<'a>,
    out: Program,
    locs: Table<LocId, Option<LocId>>,
    edges: Table<EdgeId, Option<EdgeId>>,
    funcs: Table<FuncId, FuncId>,
    vars: Table<VarId, Option<VarId>>,
    made: FxHashMap<u32, LocId>,
    made_funcs: FxHashMap<FuncId, FuncId>,
    made_vars: FxHashMap<(FuncId, VarId), VarId>,
    todo: Vec<u32>,
    /// The expressions of the composition.
    scratch: ExprPool,
}

impl<'a> Output<'a> {
    /// Starts with a copy of the original program.
    pub fn new(fold: Fold<'a>) -> Self {
        let original = fold.original;
        Self {
            scratch: fold.r.program.exprs.clone(),
            fold,
            out: original.clone(),
            locs: original.locs.ids().map(Some).collect(),
            edges: original.edges.ids().map(Some).collect(),
            funcs: original.funcs.ids().collect(),
            vars: original.vars.ids().map(Some).collect(),
            made: FxHashMap::default(),
            made_funcs: FxHashMap::default(),
            made_vars: FxHashMap::default(),
            todo: Vec::new(),
        }
    }

    /// Builds the program from its entry.
    pub fn build(mut self) -> Restricted {
        let entry = self.func(self.fold.r.program.entry);
        while let Some(class) = self.todo.pop() {
            self.expand(class);
        }
        self.out.entry = entry;
        self.edges.extend_to(self.out.edges.len(), None);
        self.locs.extend_to(self.out.locs.len(), None);
        Restricted { program: self.out, locs: self.locs, edges: self.edges, funcs: self.funcs, vars: self.vars }
    }

    /// The function that a copy becomes.
    fn func(&mut self, copy: FuncId) -> FuncId {
        if copy.index() < self.fold.original.funcs.len() {
            return copy;
        }
        let class = self.fold.func_class(copy);
        if self.fold.free.contains(&class.0) && class != self.fold.func_class(self.fold.r.program.entry) {
            return self.fold.r.funcs[class];
        }
        if let Some(&func) = self.made_funcs.get(&class) {
            return func;
        }
        let old = self.fold.r.funcs[class];
        let function = &self.fold.original.funcs[old];
        let func = self.out.add_function(&function.name, function.return_type, function.return_width);
        self.made_funcs.insert(class, func);
        self.funcs.push(old);
        let params = function.params.iter().map(|&v| self.var(func, v)).collect();
        let varargs = function.varargs.map(|v| self.var(func, v));
        let made = &mut self.out.funcs[func];
        (made.params, made.varargs, made.place, made.origin) = (params, varargs, function.place, function.origin);
        let place = self.out.funcs[func].entry;
        let entry = self.fold.entry(class);
        let entry = self.fold.class(entry);
        if let std::collections::hash_map::Entry::Vacant(e) = self.made.entry(entry) {
            e.insert(place);
            self.todo.push(entry);
        }
        self.out.funcs[func].entry = self.made[&entry];
        func
    }

    fn var(&mut self, func: FuncId, var: VarId) -> VarId {
        let old = self.fold.original.vars[var].clone();
        if old.func() != Some(self.funcs[func]) {
            return var;
        }
        *self.made_vars.entry((func, var)).or_insert_with(|| {
            let kind = match old.kind {
                VarKind::Param(_) => VarKind::Param(func),
                VarKind::Local(_) => VarKind::Local(func),
                VarKind::Temp(_) => VarKind::Temp(func),
                VarKind::Global { .. } => unreachable!("a variable of a function"),
            };
            self.vars.push(Some(var));
            self.out.vars.push(Var { kind, ..old })
        })
    }

    fn loc(&mut self, loc: LocId) -> LocId {
        let class = self.fold.class(loc);
        if let Some(&made) = self.made.get(&class) {
            return made;
        }
        let func = self.func(self.fold.r.program.locs[loc].func);
        if let Some(&made) = self.made.get(&class) {
            return made;
        }
        let made = self.out.add_location(func);
        self.made.insert(class, made);
        self.todo.push(class);
        made
    }

    /// Translates an expression of the program to the variables of a function.
    fn expr(&mut self, func: FuncId, e: ExprId) -> ExprId {
        let vars = self.fold.original.exprs.vars(e);
        let map = vars.into_iter().map(|v| (v, self.var(func, v))).collect();
        substituted(&mut self.out, e, &map)
    }

    /// Translates a test that the composition added, which uses variables of its copies.
    fn test(&mut self, func: FuncId, e: ExprId) -> ExprId {
        let r = self.fold.r;
        // A test of an exit compares its number.
        if let Expr::Binary(BinOp::Eq, a, b) = *r.program.exprs.get(e)
            && let (&Expr::Var(v), Some(number)) = (r.program.exprs.get(a), r.program.exprs.as_const(b))
            && r.vars[v].is_none()
        {
            let var = self.exit_variable(v);
            let (var, number) = (self.out.var_expr(var), self.out.exprs.constant(number.clone()));
            return self.out.exprs.eq(var, number);
        }
        // The program's own variables have the same ids in both programs.
        let own = self.scratch.substitute(e, &mut FxHashMap::default(), |pool, leaf| {
            let Expr::Var(v) = *pool.get(leaf) else { return None };
            let old = r.vars[v]?;
            let width = pool.width(leaf);
            Some(pool.var(old, width))
        });
        let own = self.out.exprs.import(&self.scratch, own).expect("a term without symbols");
        let vars = self.out.exprs.vars(own);
        let map = vars.into_iter().map(|v| (v, self.var(func, v))).collect();
        substituted(&mut self.out, own, &map)
    }

    fn op(&mut self, func: FuncId, old: EdgeId) -> Op {
        let mut op = self.fold.original.edges[old].op.clone();
        op.for_each_expr_mut(|e| *e = self.expr(func, *e));
        if let Some(var) = op.def_mut() {
            *var = self.var(func, *var);
        }
        op
    }

    fn edge(&mut self, source: LocId, op: Op, target: LocId, old: EdgeId) {
        let new = self.out.add_edge(source, op, target, None);
        self.inherit(new, old);
    }

    fn inherit(&mut self, new: EdgeId, old: EdgeId) {
        inherit(&mut self.out, &mut self.edges, new, self.fold.original, old);
    }

    fn covered(&mut self, source: LocId) {
        let func = self.out.locs[source].func;
        let sink = self.out.add_location(func);
        self.out.add_edge(source, Op::Halt(HaltKind::Assumed), sink, None);
    }

    /// Creates the outgoing edges of an element.
    fn expand(&mut self, class: u32) {
        let source = self.made[&class];
        let func = self.out.locs[source].func;
        let members = self.fold.members(class);
        let r = self.fold.r;
        let labels: Vec<LocId> = members.iter().filter_map(|&m| r.locs[m]).collect();
        self.locs.extend_to(source.index() + 1, None);
        self.locs[source] = labels.first().copied();
        let [only] = members[..] else {
            debug_assert!(labels.windows(2).all(|l| l[0] == l[1]), "an element is of one location");
            return self.joined(source, func, &members);
        };
        match r.program.locs[only].out {
            Out::Sink => {}
            Out::One(edge) => self.one(source, func, edge),
            Out::Branch { then_edge, else_edge } => {
                let Op::Assume { cond, .. } = r.program.edges[then_edge].op else { unreachable!("an assume edge") };
                let (yes, no) = (r.program.edges[then_edge].target, r.program.edges[else_edge].target);
                match (r.edges[then_edge], r.edges[else_edge]) {
                    (Some(a), Some(b)) => {
                        let (yes, no) = (self.loc(yes), self.loc(no));
                        self.branch(source, func, (a, b), yes, no);
                    }
                    // If exits are not distinguished any more, both sides of their test have been merged with it.
                    _ => {
                        let (cond, yes, no) = (self.test(func, cond), self.loc(yes), self.loc(no));
                        if self.out.exprs.as_const(cond).is_some() {
                            let to = if self.out.exprs.is_true(cond) { yes } else { no };
                            self.out.add_edge(source, Op::Skip, to, None);
                        } else {
                            self.out.add_branch(source, cond, yes, no, None);
                        }
                    }
                }
            }
        }
    }

    fn branch(&mut self, source: LocId, func: FuncId, (a, b): (EdgeId, EdgeId), yes: LocId, no: LocId) {
        let original = self.fold.original;
        let Op::Assume { cond, .. } = original.edges[a].op else { unreachable!("an assume edge") };
        let cond = self.expr(func, cond);
        let made = self.out.add_branch(source, cond, yes, no, original.edges[a].place);
        for (new, old) in [(made.0, a), (made.1, b)] {
            self.inherit(new, old);
            if let Op::Assume { means, .. } = original.edges[old].op {
                self.out.set_meaning(new, means);
            }
        }
    }

    fn one(&mut self, source: LocId, func: FuncId, edge: EdgeId) {
        let r = self.fold.r;
        let target = r.program.edges[edge].target;
        let Some(old) = r.edges[edge] else {
            let to = self.loc(target);
            let op = match &r.program.edges[edge].op {
                // The assignment of a copy's exit, which is tested after the call.
                Op::Assign { var, value } if r.vars[*var].is_none() => {
                    let value = r.program.exprs.as_const(*value).expect("a number").clone();
                    let var = self.exit_variable(*var);
                    Op::Assign { var, value: self.out.exprs.constant(value) }
                }
                op => op.clone(),
            };
            self.out.add_edge(source, op, to, None);
            return;
        };
        let to = self.loc(target);
        let mut op = self.op(func, old);
        self.callee(&mut op, edge);
        self.edge(source, op, to, old);
    }

    /// Directs a call to the function that the composition calls.
    fn callee(&mut self, op: &mut Op, edge: EdgeId) {
        if let (Op::Call { callee, .. }, &Op::Call { callee: Callee::Direct(f), .. }) =
            (op, &self.fold.r.program.edges[edge].op)
        {
            *callee = Callee::Direct(self.func(f));
        }
    }

    fn exit_variable(&mut self, var: VarId) -> VarId {
        let entry = self.out.entry;
        if let Some(&made) = self.made_vars.get(&(entry, var)) {
            return made;
        }
        let composed = &self.fold.r.program;
        let ty = self.out.types.push(composed.types[composed.vars[var].ty].clone());
        let made = self.out.vars.push(Var { ty, ..composed.vars[var].clone() });
        self.vars.push(None);
        self.made_vars.insert((entry, var), made);
        made
    }

    /// Writes the steps of an element with several members.
    fn joined(&mut self, source: LocId, func: FuncId, members: &[LocId]) {
        let r = self.fold.r;
        if members.iter().all(|&m| r.program.locs[m].out == Out::Sink) {
            return;
        }
        let mut steps: Vec<(Step, LocId, Option<FuncId>)> = Vec::new();
        for &m in members {
            for step in self.fold.steps(m) {
                match steps.iter_mut().find(|(s, ..)| *s == step.0) {
                    Some(known) if self.fold.is_covered(known.1) => *known = step,
                    Some(_) => {}
                    None => steps.push(step),
                }
            }
        }
        // If one member calls an unknown function through a pointer, the call may return even if the copy that another
        // member calls never returns.
        let whatever: Vec<(EdgeId, LocId)> = steps
            .iter()
            .filter(|((_, callee), ..)| callee.is_none())
            .map(|&((edge, _), target, _)| (edge, target))
            .collect();
        for ((edge, callee), target, _) in &mut steps {
            if let (Some(_), Some((_, other))) = (callee, whatever.iter().find(|(e, _)| e == edge))
                && self.fold.is_covered(*target)
            {
                *target = *other;
            }
        }
        let Some(&((first, _), ..)) = steps.first() else {
            // There are only tests. Their targets are covered, or merged with this element.
            let next = members.iter().flat_map(|&m| r.program.out_edges(m)).map(|e| r.program.edges[e].target);
            let class = self.fold.class(members[0]);
            let next: Vec<LocId> = next.filter(|&t| self.fold.class(t) != class && !self.fold.is_covered(t)).collect();
            return match next.first() {
                Some(&to) => {
                    let to = self.loc(to);
                    self.out.add_edge(source, Op::Skip, to, None);
                }
                None => self.covered(source),
            };
        };
        let original = self.fold.original;
        let loc = original.edges[first].source;
        if let Out::Branch { then_edge, else_edge } = original.locs[loc].out {
            let [yes, no] = [then_edge, else_edge].map(|edge| {
                let target = steps.iter().find(|((e, _), ..)| *e == edge).map(|&(_, target, _)| target);
                match target {
                    Some(target) => self.loc(target),
                    None => {
                        let end = self.out.add_location(func);
                        self.covered(end);
                        end
                    }
                }
            });
            return self.branch(source, func, (then_edge, else_edge), yes, no);
        }
        // A call through a pointer may have copies for some functions. These come first, then the call of all others.
        steps.sort_by_key(|((_, callee), ..)| callee.is_none());
        let indirect = matches!(original.edges[first].op, Op::Call { callee: Callee::Indirect(_), .. });
        let mut here = source;
        let last = steps.len() - 1;
        for (i, ((old, callee), target, copy)) in steps.into_iter().enumerate() {
            let mut op = self.op(func, old);
            let mut at = here;
            if let (true, Op::Call { callee: Callee::Indirect(pointer), .. }, Some(callee)) = (indirect, &op, callee) {
                let width = self.out.layout.pointer_width;
                let addr = self.out.exprs.func_addr(callee, width);
                let is_this = self.out.exprs.eq(*pointer, addr);
                let (yes, no) = (self.out.add_location(func), self.out.add_location(func));
                match self.out.exprs.as_const(is_this).is_some() {
                    true if self.out.exprs.is_true(is_this) => drop(self.out.add_edge(here, Op::Skip, yes, None)),
                    true => drop(self.out.add_edge(here, Op::Skip, no, None)),
                    false => drop(self.out.add_branch(here, is_this, yes, no, None)),
                }
                (at, here) = (yes, no);
                if i == last {
                    self.covered(no);
                }
            }
            if let (Some(copy), Op::Call { callee, .. }) = (copy, &mut op) {
                *callee = Callee::Direct(self.func(copy));
            }
            let to = self.loc(target);
            self.edge(at, op, to, old);
        }
    }
}

/// Substitutes variables in an expression.
fn substituted(p: &mut Program, e: ExprId, map: &FxHashMap<VarId, VarId>) -> ExprId {
    p.exprs.substitute(e, &mut FxHashMap::default(), |pool, leaf| {
        let Expr::Var(v) = *pool.get(leaf) else { return None };
        let &new = map.get(&v)?;
        let width = pool.width(leaf);
        Some(pool.var(new, width))
    })
}
