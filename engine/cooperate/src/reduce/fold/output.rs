//! Writes the folded program from the classes of locations and copies.

use super::{Fold, Step};
use crate::copies::{Copies, Restricted};
use cfa::{BinOp, Callee, EdgeId, Expr, ExprId, ExprPool, FuncId, HaltKind, Id, LocId, Op, Out, Var, VarId};
use rustc_hash::FxHashMap;

/// The folded program under construction.
pub struct Output<'a> {
    fold: Fold<'a>,
    out: Copies<'a>,
    made: FxHashMap<u32, LocId>,
    made_funcs: FxHashMap<FuncId, FuncId>,
    exit_vars: FxHashMap<VarId, VarId>,
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
            out: Copies::new(original),
            made: FxHashMap::default(),
            made_funcs: FxHashMap::default(),
            exit_vars: FxHashMap::default(),
            todo: Vec::new(),
        }
    }

    /// Builds the program from its entry.
    pub fn build(mut self) -> Restricted {
        let entry = self.func(self.fold.r.program.entry);
        while let Some(class) = self.todo.pop() {
            self.expand(class);
        }
        self.out.finish(entry)
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
        let func = self.out.function(old);
        self.made_funcs.insert(class, func);
        let place = self.out.program().funcs[func].entry;
        let entry = self.fold.entry(class);
        let entry = self.fold.class(entry);
        if let std::collections::hash_map::Entry::Vacant(e) = self.made.entry(entry) {
            e.insert(place);
            self.todo.push(entry);
        }
        self.out.program_mut().funcs[func].entry = self.made[&entry];
        func
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
        let made = self.out.location(func);
        self.made.insert(class, made);
        self.todo.push(class);
        made
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
            let out = self.out.program_mut();
            let (var, number) = (out.var_expr(var), out.exprs.constant(number.clone()));
            return out.exprs.eq(var, number);
        }
        // The program's own variables have the same ids in both programs.
        let own = self.scratch.substitute(e, &mut FxHashMap::default(), |pool, leaf| {
            let Expr::Var(v) = *pool.get(leaf) else { return None };
            let old = r.vars[v]?;
            let width = pool.width(leaf);
            Some(pool.var(old, width))
        });
        let own = self.out.program_mut().exprs.import(&self.scratch, own).expect("a term without symbols");
        self.out.expr(func, own)
    }

    fn covered(&mut self, source: LocId) {
        self.out.end(source, Op::Halt(HaltKind::Assumed));
    }

    /// Creates the outgoing edges of an element.
    fn expand(&mut self, class: u32) {
        let source = self.made[&class];
        let func = self.out.program().locs[source].func;
        let members = self.fold.members(class);
        let r = self.fold.r;
        let labels: Vec<LocId> = members.iter().filter_map(|&m| r.locs[m]).collect();
        self.out.represent(source, labels.first().copied());
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
                        self.out.branch(source, [a, b], yes, no);
                    }
                    // If exits are not distinguished any more, both sides of their test have been merged with it.
                    _ => {
                        let (cond, yes, no) = (self.test(func, cond), self.loc(yes), self.loc(no));
                        self.out.test(source, cond, yes, no);
                    }
                }
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
                    Op::Assign { var, value: self.out.program_mut().exprs.constant(value) }
                }
                op => op.clone(),
            };
            self.out.step(source, op, to);
            return;
        };
        let to = self.loc(target);
        let mut op = self.out.op(func, old);
        self.callee(&mut op, edge);
        self.out.edge(source, op, to, old);
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
        if let Some(&made) = self.exit_vars.get(&var) {
            return made;
        }
        let composed = &self.fold.r.program;
        let ty = self.out.program_mut().types.push(composed.types[composed.vars[var].ty].clone());
        let made = self.out.add_var(Var { ty, ..composed.vars[var].clone() }, None);
        self.exit_vars.insert(var, made);
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
                    self.out.step(source, Op::Skip, to);
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
                        let end = self.out.location(func);
                        self.covered(end);
                        end
                    }
                }
            });
            return self.out.branch(source, [then_edge, else_edge], yes, no);
        }
        // A call through a pointer may have copies for some functions. These come first, then the call of all others.
        steps.sort_by_key(|((_, callee), ..)| callee.is_none());
        let indirect = matches!(original.edges[first].op, Op::Call { callee: Callee::Indirect(_), .. });
        let mut here = source;
        let last = steps.len() - 1;
        for (i, ((old, callee), target, copy)) in steps.into_iter().enumerate() {
            let mut op = self.out.op(func, old);
            let mut at = here;
            if let (true, Op::Call { callee: Callee::Indirect(pointer), .. }, Some(callee)) = (indirect, &op, callee) {
                let is_this = self.out.points_to(*pointer, callee);
                let (yes, no) = (self.out.location(func), self.out.location(func));
                self.out.test(here, is_this, yes, no);
                (at, here) = (yes, no);
                if i == last {
                    self.covered(no);
                }
            }
            if let (Some(copy), Op::Call { callee, .. }) = (copy, &mut op) {
                *callee = Callee::Direct(self.func(copy));
            }
            let to = self.loc(target);
            self.out.edge(at, op, to, old);
        }
    }
}
