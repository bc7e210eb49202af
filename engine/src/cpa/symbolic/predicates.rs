//! Predicate abstraction.
//!
//! Where a state is abstracted, it may keep which of a set of predicates hold: each on its own (Cartesian abstraction), and,
//! for those that it leaves open, which combinations are possible (boolean abstraction, by enumerating them with the
//! solver: Lahiri, Nieuwenhuis, Oliveras, CAV 2006). A predicate is a condition on the variables of one function and on
//! globals. Between abstractions, states are symbolic; a block from one to the next is adjustable (Beyer, Keremoglu,
//! Wendler: Predicate abstraction with adjustable-block encoding, FMCAD 2010).
//!
//! Predicates come from sequence interpolants of infeasible paths (Henzinger, Jhala, Majumdar, McMillan: Abstractions from
//! proofs, POPL 2004), each checked to be an interpolant before it is used.

use super::refine::Lesson;
use super::state::{Frame, State};
use super::value::Val;
use super::{Cpa, Stop, SymbolicExecution};
use crate::budget::Budget;
use crate::cpa::{Goal, Refinement};
use crate::solver::{Bitwuzla, Feasibility, conjuncts, interpolate};
use cfa::{BinOp, EdgeId, Expr, ExprId, FuncId, Id, Op, Sort, UnOp, Value, VarId, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Predicates whose combinations are enumerated at one abstraction.
const MOST_OPEN: usize = 12;
/// Combinations enumerated.
const MOST_CUBES: usize = 64;
/// Operators of a predicate.
const MOST_SIZE: usize = 400;

/// The predicates tracked: those on locals by the function that has them, under `None` those on globals alone.
#[derive(Clone, Default)]
pub(super) struct Predicates {
    by_func: FxHashMap<Option<FuncId>, Vec<ExprId>>,
}

impl Predicates {
    pub fn len(&self) -> usize {
        self.by_func.values().map(Vec::len).sum()
    }
    fn of(&self, func: Option<FuncId>) -> &[ExprId] {
        self.by_func.get(&func).map_or(&[], Vec::as_slice)
    }
    fn add(&mut self, func: Option<FuncId>, predicate: ExprId) -> bool {
        let all = self.by_func.entry(func).or_default();
        let new = !all.contains(&predicate);
        if new {
            all.push(predicate);
        }
        new
    }
}

/// What a state says about predicates before it forgets the values that they speak of.
pub(super) struct Knowledge {
    /// By frame, as the number of frames below it.
    known: Vec<(u32, ExprId, bool)>,
    /// Combinations of these, as bit masks.
    open: Vec<(u32, ExprId)>,
    cubes: Option<Vec<u64>>,
}

impl Knowledge {
    pub fn is_empty(&self) -> bool {
        self.known.is_empty() && self.cubes.is_none()
    }
}

impl SymbolicExecution<'_> {
    /// Which predicates hold in `st`, in the frames that `since` does not share with it.
    pub(super) fn knowledge(&mut self, st: &mut State, since: Option<&State>) -> Knowledge {
        let mut knowledge = Knowledge { known: Vec::new(), open: Vec::new(), cubes: None };
        if self.abstracting.predicates.len() == 0 {
            return knowledge;
        }
        let mut terms = Vec::new();
        for frame in self.fresh_frames(st, since) {
            let top = frame.depth == st.frame.depth;
            let mut predicates = self.abstracting.predicates.of(Some(frame.func)).to_vec();
            if top {
                predicates.extend_from_slice(self.abstracting.predicates.of(None));
            }
            for predicate in predicates {
                let Some(value) = self.eval_in(st, &frame, predicate) else { continue };
                match value {
                    Val::Int(v) => knowledge.known.push((frame.depth, predicate, v != 0)),
                    Val::Expr(term) => {
                        self.expose(st, term);
                        let branch = self.solver.branch(&mut self.pool, &st.pc, term);
                        match (branch.if_true, branch.if_false) {
                            (_, Feasibility::Infeasible) => knowledge.known.push((frame.depth, predicate, true)),
                            (Feasibility::Infeasible, _) => knowledge.known.push((frame.depth, predicate, false)),
                            _ => {
                                knowledge.open.push((frame.depth, predicate));
                                terms.push(term);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        if self.abstracting.boolean && (2..=MOST_OPEN).contains(&terms.len()) {
            knowledge.cubes = self.combinations(st, &terms);
        }
        knowledge
    }

    /// The combinations of truth values that `terms` can have in `st`; `None` if they are too many or cannot be told.
    fn combinations(&mut self, st: &State, terms: &[ExprId]) -> Option<Vec<u64>> {
        let mut cubes = Vec::new();
        let mut others = self.pool.bool(true);
        loop {
            match self.solver.check(&mut self.pool, &st.pc, others) {
                Feasibility::Infeasible => return Some(cubes),
                Feasibility::Unknown(_) => return None,
                Feasibility::Feasible(model) => {
                    let mut cube = 0;
                    let mut this = self.pool.bool(true);
                    for (i, &term) in terms.iter().enumerate() {
                        let holds = model.eval(&self.pool, term).is_true();
                        cube |= u64::from(holds) << i;
                        let literal = if holds { term } else { self.pool.not(term) };
                        this = self.pool.and(this, literal);
                    }
                    if cubes.contains(&cube) || cubes.len() >= MOST_CUBES {
                        return None;
                    }
                    cubes.push(cube);
                    let differs = self.pool.not(this);
                    others = self.pool.and(others, differs);
                }
            }
        }
    }

    /// Assumes in `st`, whose values have been forgotten, what was known before.
    pub(super) fn restore_knowledge(&mut self, st: &mut State, knowledge: Knowledge, model: Option<crate::solver::Model>) {
        let mut facts = Vec::new();
        for (depth, predicate, holds) in knowledge.known {
            if let Some(term) = self.predicate_term(st, depth, predicate) {
                facts.push(if holds { term } else { self.pool.not(term) });
            }
        }
        if let Some(cubes) = knowledge.cubes {
            let terms: Option<Vec<ExprId>> =
                knowledge.open.iter().map(|&(depth, p)| self.predicate_term(st, depth, p)).collect();
            if let Some(terms) = terms {
                let mut any = self.pool.bool(false);
                for cube in cubes {
                    let mut all = self.pool.bool(true);
                    for (i, &term) in terms.iter().enumerate() {
                        let literal = if cube >> i & 1 == 1 { term } else { self.pool.not(term) };
                        all = self.pool.and(all, literal);
                    }
                    any = self.pool.or(any, all);
                }
                facts.push(any);
            }
        }
        for fact in facts {
            if !self.pool.is_true(fact) {
                self.expose(st, fact);
                let model = model.clone().filter(|m| m.eval(&self.pool, fact).is_true());
                self.solver.assume(&mut self.pool, &mut st.pc, fact, model);
            }
        }
    }

    fn predicate_term(&mut self, st: &State, depth: u32, predicate: ExprId) -> Option<ExprId> {
        let mut frame = Rc::clone(&st.frame);
        while frame.depth > depth {
            let below = Rc::clone(frame.caller.as_ref()?);
            frame = below;
        }
        let value = self.eval_in(st, &frame, predicate)?;
        (value != Val::Unknown).then(|| self.term(value, 1))
    }

    /// The frames of `st` that it does not share with `since`, the top first.
    fn fresh_frames(&self, st: &State, since: Option<&State>) -> Vec<Rc<Frame>> {
        let mut old = since.map(|s| &s.frame);
        let mut frames = Vec::new();
        let mut frame = Some(&st.frame);
        while let Some(f) = frame {
            while let Some(o) = old.filter(|o| o.depth > f.depth) {
                old = o.caller.as_ref();
            }
            if old.is_some_and(|o| Rc::ptr_eq(o, f)) && f.depth < st.frame.depth {
                break;
            }
            frames.push(Rc::clone(f));
            frame = f.caller.as_ref();
        }
        frames
    }

    /// The value of a predicate in a frame; `None` where a variable of it has no value.
    fn eval_in(&mut self, st: &State, frame: &Rc<Frame>, predicate: ExprId) -> Option<Val> {
        let mut here = st.clone();
        here.frame = Rc::clone(frame);
        let defined = self.pool.vars(predicate).into_iter().all(|v| self.read_var(&here, v) != Val::Unset);
        defined.then(|| self.eval(&here, predicate))
    }

    /// Finds predicates that refute the infeasible path.
    pub(super) fn refine_predicates(
        &mut self,
        path: &[EdgeId],
        cuts: &[usize],
        goal: Goal,
        budget: &Budget,
    ) -> Result<Refinement, Stop> {
        let Some((steps, names, positions)) = self.blocks(path, cuts, goal)? else { return Ok(Refinement::Impossible) };
        let mut solver = Bitwuzla::new();
        let Ok(found) = interpolate::interpolants(&mut self.pool, &mut solver, &steps, interpolate::Direction::Backward, budget) else {
            return Ok(Refinement::Impossible);
        };
        let mut first = None;
        let mut learned: Vec<ExprId> = Vec::new();
        for (k, interpolant) in found.into_iter().enumerate() {
            if self.pool.is_true(interpolant) || self.pool.is_false(interpolant) {
                continue;
            }
            first = first.or(Some(positions[k]));
            let mut memo = FxHashMap::default();
            let named = self.pool.substitute(interpolant, &mut memo, |pool, leaf| match pool.get(leaf) {
                Expr::Sym(_) => names.get(&leaf).copied(),
                _ => None,
            });
            let mut atoms = Vec::new();
            for conjunct in conjuncts(&mut self.pool, named) {
                self.atoms(conjunct, &mut atoms);
            }
            for atom in atoms {
                if let Some(func) = self.scope(atom)
                    && self.abstracting.predicates.add(func, atom)
                {
                    learned.push(atom);
                }
            }
        }
        let Some(from) = first else { return Ok(Refinement::Impossible) };
        let changed = !learned.is_empty();
        if changed {
            let tracked =
                learned.iter().map(|&p| format!("whether `{}`", cfa::text::c_expr(self.program, &self.pool, p))).collect();
            self.lessons.push(Lesson { goal: self.program.edges[goal.edge()].place, tracked });
        }
        Ok(Refinement::Refined { from, changed })
    }

    /// The function whose locals a predicate speaks of; no scope if it speaks of those of two, or of more than variables.
    fn scope(&self, predicate: ExprId) -> Option<Option<FuncId>> {
        let mut size = 0;
        let mut plain = true;
        self.pool.visit(predicate, &mut FxHashSet::default(), |_, node| {
            size += 1;
            plain &= !matches!(node, Expr::Sym(_));
        });
        let mut func = None;
        for var in self.pool.vars(predicate) {
            let owner = match self.program.vars[var].kind {
                VarKind::Global { .. } => continue,
                VarKind::Local(f) | VarKind::Param(f) | VarKind::Temp(f) => f,
            };
            if func.is_some_and(|f| f != owner) {
                return None;
            }
            func = Some(owner);
        }
        (plain && size <= MOST_SIZE).then_some(func)
    }

    /// The conditions that a boolean combination is made of.
    fn atoms(&mut self, e: ExprId, atoms: &mut Vec<ExprId>) {
        let mut stack = vec![e];
        let mut seen = FxHashSet::default();
        while let Some(e) = stack.pop() {
            if !seen.insert(e) {
                continue;
            }
            match *self.pool.get(e) {
                Expr::Unary(UnOp::Not, a) => stack.push(a),
                Expr::Binary(BinOp::And | BinOp::Or | BinOp::Xor, a, b) if self.pool.width(a) == 1 => stack.extend([a, b]),
                Expr::Binary(BinOp::Eq, a, b) if self.pool.width(a) == 1 => stack.extend([a, b]),
                Expr::Ite(c, t, f) if self.pool.width(t) == 1 => stack.extend([c, t, f]),
                Expr::Const(_) => {}
                _ if !atoms.contains(&e) => atoms.push(e),
                _ => {}
            }
        }
    }

    /// The path as one formula per block, over symbols that are made anew for every variable at each cut; with the variable
    /// that each symbol names, and the number of the cut after each block. `None` if the path is not one state, or is
    /// infeasible for a reason that is no formula.
    #[allow(clippy::type_complexity)]
    fn blocks(
        &mut self,
        path: &[EdgeId],
        cuts: &[usize],
        goal: Goal,
    ) -> Result<Option<(Vec<ExprId>, FxHashMap<ExprId, ExprId>, Vec<usize>)>, Stop> {
        if !matches!(goal, Goal::Error { .. }) {
            return Ok(None);
        }
        let mut st = self.initial();
        let mut names = FxHashMap::default();
        let mut steps = Vec::new();
        let mut positions = Vec::new();
        let mut conditions = 0;
        let mut cut = 0;
        let mut at = 0;
        for (i, &edge) in path.iter().enumerate() {
            while cut < cuts.len() && cuts[cut] <= i {
                if cuts[cut] == i && i > at {
                    self.name_variables(&mut st, &mut names);
                    steps.push(self.conditions_since(&st, &mut conditions));
                    positions.push(cut);
                    at = i;
                }
                cut += 1;
            }
            if let Op::Assume { cond, branch } = self.program.edges[edge].op {
                let value = self.eval(&st, cond);
                let term = self.term(value, 1);
                let term = if branch { term } else { self.pool.not(term) };
                self.expose(&mut st, term);
                self.solver.assume(&mut self.pool, &mut st.pc, term, None);
                if self.pool.is_false(term) {
                    break;
                }
                continue;
            }
            let mut after = self.step(st, edge, path.get(i + 1).copied())?;
            match (after.pop(), after.is_empty()) {
                (Some(next), true) => st = next,
                // Ended by a contradiction that the conditions so far hold.
                _ => return Ok(None),
            }
            if !self.abstracting.problems.is_empty() {
                return Ok(None);
            }
        }
        let rest = self.conditions_since(&st, &mut conditions);
        let rest = if st.pc.is_contradiction() && self.pool.is_true(rest) { self.pool.bool(false) } else { rest };
        steps.push(rest);
        Ok((steps.len() > 1).then_some((steps, names, positions)))
    }

    /// The conjunction of the conditions that are new since the last call.
    fn conditions_since(&mut self, st: &State, count: &mut usize) -> ExprId {
        let new: Vec<ExprId> = st.pc.iter().take(st.pc.len() - *count).collect();
        *count = st.pc.len();
        let mut all = self.pool.bool(true);
        for e in new {
            all = self.pool.and(e, all);
        }
        all
    }

    /// Gives every number in a variable a symbol of its own.
    fn name_variables(&mut self, st: &mut State, names: &mut FxHashMap<ExprId, ExprId>) {
        let model = st.pc.model().cloned();
        let mut facts = Vec::new();
        for i in 0..self.read_globals().len() {
            let slot = self.read_globals()[i] as usize;
            let var = self.slots.globals[slot];
            if let Some(e) = self.name(st.globals[slot], var, &mut facts, names) {
                Rc::make_mut(&mut st.globals)[slot] = e;
            }
        }
        let frames = self.fresh_frames(st, None);
        let mut below: Option<Rc<Frame>> = None;
        for frame in frames.into_iter().rev() {
            let mut new = (*frame).clone();
            new.caller = below;
            for slot in 0..new.vars.len() {
                let var = self.slots.locals[new.func.index()][slot];
                if let Some(e) = self.name(new.vars[slot], var, &mut facts, names) {
                    new.vars[slot] = e;
                }
            }
            below = Some(Rc::new(new));
        }
        st.frame = below.expect("at least the frame of the entry function");
        let mut model = model;
        for (symbol, value) in facts {
            if let Some(m) = &mut model {
                let v = m.eval(&self.pool, value);
                m.set(symbol, Value::Bv(v));
            }
            let equal = self.pool.eq(symbol, value);
            self.expose(st, equal);
            self.solver.assume(&mut self.pool, &mut st.pc, equal, model.clone());
        }
    }

    fn name(
        &mut self,
        value: Val,
        var: VarId,
        facts: &mut Vec<(ExprId, ExprId)>,
        names: &mut FxHashMap<ExprId, ExprId>,
    ) -> Option<Val> {
        let width = self.program.vars[var].width;
        let term = match value {
            Val::Int(_) | Val::Expr(_) => self.term(value, width),
            Val::Ptr(..) | Val::Unset | Val::Unknown => return None,
        };
        if !self.bases_in(term).is_empty() {
            return None;
        }
        let (_, symbol) = self.pool.fresh_symbol(Sort::Bv(width));
        let name = self.pool.var(var, width);
        names.insert(symbol, name);
        facts.push((symbol, term));
        Some(Val::Expr(symbol))
    }
}

