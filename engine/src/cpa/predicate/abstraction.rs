//! Which predicates hold in a state, before it forgets the values that they speak of, and after.

use crate::cpa::symbolic::Loops;
use crate::cpa::tracking::{State, Tracking};
use crate::execution::{Frame, Object, Piece, Val};
use cfa::{Expr, ExprId, LocId, SymId};
use rustc_hash::{FxHashMap, FxHashSet};
use smt::Feasibility;
use std::rc::Rc;

/// Predicates whose combinations are enumerated at one abstraction, and how many if these have too many.
const MOST_OPEN: usize = 60;
const FEW_OPEN: usize = 8;
/// Combinations enumerated.
const MOST_CUBES: usize = 64;

/// What a state says about predicates before it forgets the values that they speak of.
#[derive(Default)]
pub(crate) struct Knowledge {
    /// By frame, as the number of frames below it.
    known: Vec<(u32, ExprId, bool)>,
    /// Combinations of these, as bit masks.
    open: Vec<(u32, ExprId)>,
    cubes: Option<Vec<u64>>,
    /// What the places that predicates speak of contained.
    contents: FxHashMap<SymId, ExprId>,
}

impl Knowledge {
    pub fn is_empty(&self) -> bool {
        self.known.is_empty() && self.cubes.is_none()
    }
}

impl Tracking<'_> {
    /// Suggests the predicates as invariants, but for those on the content of arrays: candidates are expressions as edges hold
    /// them.
    pub fn suggest_invariants(&self, loops: &mut Loops) {
        let mut predicates: Vec<ExprId> = self.predicates.all().filter(|&p| !self.holds_array(p)).collect();
        predicates.sort_unstable();
        loops.suggest(&self.symbolic.execution.terms, predicates);
    }

    fn holds_array(&self, e: ExprId) -> bool {
        let mut found = false;
        self.symbolic
            .execution
            .terms
            .visit(e, &mut FxHashSet::default(), |_, node| found |= matches!(node, Expr::Select { .. }));
        found
    }

    /// Which predicates hold in `st`, in the frames that `since` does not share with it.
    pub(crate) fn knowledge(&mut self, st: &mut State, at: LocId, since: Option<&State>) -> Knowledge {
        let mut knowledge = Knowledge::default();
        if self.predicates.len() == 0 {
            return knowledge;
        }
        let mut terms = Vec::new();
        for frame in self.fresh_frames(st, since) {
            let top = frame.depth == st.frame.depth;
            let mut predicates: Vec<ExprId> = self.predicates.of(Some(frame.func), at).collect();
            if top {
                predicates.extend(self.predicates.of(None, at));
            }
            for predicate in predicates {
                let Some(contents) = self.contents(st, predicate, true) else { continue };
                let Some(value) = self.eval_in(st, &frame, predicate, &contents) else { continue };
                knowledge.contents.extend(contents);
                match value {
                    Val::Int(v) => knowledge.known.push((frame.depth, predicate, v != 0)),
                    Val::Expr(term) => {
                        self.symbolic.execution.expose(st, term);
                        let branch =
                            self.symbolic.execution.solver.branch(&mut self.symbolic.execution.terms, &st.pc, term);
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
        if self.boolean && terms.len() > 1 {
            // Where there are too many combinations, those of the predicates found last are better than none.
            for most in [MOST_OPEN, FEW_OPEN] {
                let dropped = terms.len().saturating_sub(most);
                terms.drain(..dropped);
                knowledge.open.drain(..dropped);
                knowledge.cubes = self.combinations(st, &terms);
                if knowledge.cubes.is_some() || terms.len() <= FEW_OPEN {
                    break;
                }
            }
        }
        knowledge
    }

    /// The combinations of truth values that `terms` can have in `st`; `None` if they are too many or cannot be told.
    fn combinations(&mut self, st: &State, terms: &[ExprId]) -> Option<Vec<u64>> {
        let mut cubes = Vec::new();
        let mut others = self.symbolic.execution.terms.bool(true);
        loop {
            match self.symbolic.execution.solver.check(&mut self.symbolic.execution.terms, &st.pc, others) {
                Feasibility::Infeasible => return Some(cubes),
                Feasibility::Unknown(_) => return None,
                Feasibility::Feasible(model) => {
                    let mut cube = 0;
                    let mut this = self.symbolic.execution.terms.bool(true);
                    for (i, &term) in terms.iter().enumerate() {
                        let holds = model.eval(&self.symbolic.execution.terms, term).is_true();
                        cube |= u64::from(holds) << i;
                        let literal = if holds { term } else { self.symbolic.execution.terms.not(term) };
                        this = self.symbolic.execution.terms.and(this, literal);
                    }
                    if cubes.contains(&cube) || cubes.len() >= MOST_CUBES {
                        return None;
                    }
                    cubes.push(cube);
                    let differs = self.symbolic.execution.terms.not(this);
                    others = self.symbolic.execution.terms.and(others, differs);
                }
            }
        }
    }

    /// Assumes in `st`, whose values have been forgotten, what was known before.
    pub(crate) fn restore_knowledge(&mut self, st: &mut State, knowledge: Knowledge, mut model: Option<smt::Model>) {
        let mut facts = Vec::new();
        for (depth, predicate, holds) in knowledge.known {
            if let Some(term) = self.predicate_term(st, depth, predicate) {
                facts.push(if holds { term } else { self.symbolic.execution.terms.not(term) });
            }
        }
        if let Some(cubes) = knowledge.cubes {
            let terms: Option<Vec<ExprId>> =
                knowledge.open.iter().map(|&(depth, p)| self.predicate_term(st, depth, p)).collect();
            if let Some(terms) = terms {
                let mut any = self.symbolic.execution.terms.bool(false);
                for cube in cubes {
                    let mut all = self.symbolic.execution.terms.bool(true);
                    for (i, &term) in terms.iter().enumerate() {
                        let literal = if cube >> i & 1 == 1 { term } else { self.symbolic.execution.terms.not(term) };
                        all = self.symbolic.execution.terms.and(all, literal);
                    }
                    any = self.symbolic.execution.terms.or(any, all);
                }
                facts.push(any);
            }
        }
        // The symbols for the bytes that were forgotten.
        for (symbol, before) in knowledge.contents {
            let place = self.place_of[&symbol];
            if let (Some(model), Some(object)) = (&mut model, st.only_object(place))
                && let Some(Val::Expr(now)) = st.memory.get(object).and_then(|o| o.read_whole(place.offset, place.len))
                && model.get(now).is_none()
                && matches!(self.symbolic.execution.terms.get(now), Expr::Sym(_))
            {
                let value = model.value(&self.symbolic.execution.terms, before);
                model.set(now, value);
            }
        }
        for fact in facts {
            if !self.symbolic.execution.terms.is_true(fact) {
                self.symbolic.execution.expose(st, fact);
                model = model.filter(|m| m.eval(&self.symbolic.execution.terms, fact).is_true());
                // Without a model, `assume` would keep one that a fact before has not.
                if model.is_none() {
                    st.pc.forget_model();
                }
                self.symbolic.execution.solver.assume(
                    &mut self.symbolic.execution.terms,
                    &mut st.pc,
                    fact,
                    model.clone(),
                );
            }
        }
    }

    fn predicate_term(&mut self, st: &mut State, depth: u32, predicate: ExprId) -> Option<ExprId> {
        let mut frame = Rc::clone(&st.frame);
        while frame.depth > depth {
            let below = Rc::clone(frame.caller.as_ref()?);
            frame = below;
        }
        let contents = self.contents(st, predicate, false)?;
        let value = self.eval_in(st, &frame, predicate, &contents)?;
        (value != Val::Unknown).then(|| self.symbolic.execution.terms.term(value, 1))
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

    /// What the places that a predicate speaks of contain; `None` where one is not there, or, if it has to be `known`, nothing
    /// is known of a byte of it.
    fn contents(&mut self, st: &mut State, predicate: ExprId, known: bool) -> Option<FxHashMap<SymId, ExprId>> {
        let mut contents = FxHashMap::default();
        for symbol in self.symbolic.execution.terms.symbols_of(predicate) {
            let &place = self.place_of.get(&symbol)?;
            let object = st.only_object(place)?;
            let mut bytes = place.offset..place.offset + u64::from(place.len);
            let is_unknown = |o: &Object| o.array.is_none() && bytes.any(|offset| o.piece(offset) == Piece::Default);
            if known && st.memory.get(object).is_none_or(is_unknown) {
                return None;
            }
            let content = self.symbolic.execution.read(st, object, place.offset, place.len);
            self.note_contents(&st.along.history);
            contents.insert(symbol, self.symbolic.execution.terms.term(content, 8 * place.len));
        }
        Some(contents)
    }

    /// The value of a predicate in a frame; `None` where a variable of it has no value.
    fn eval_in(
        &mut self,
        st: &State,
        frame: &Rc<Frame>,
        predicate: ExprId,
        contents: &FxHashMap<SymId, ExprId>,
    ) -> Option<Val> {
        let mut here = st.clone();
        here.frame = Rc::clone(frame);
        if self
            .symbolic
            .execution
            .terms
            .vars(predicate)
            .into_iter()
            .any(|v| self.symbolic.execution.read_var(&here, v) == Val::Unset)
        {
            return None;
        }
        let value = self.symbolic.execution.eval(&here, predicate);
        if contents.is_empty() || value == Val::Unknown {
            return Some(value);
        }
        let value = self.symbolic.execution.terms.term(value, 1);
        let value = self.symbolic.execution.terms.substitute(value, &mut FxHashMap::default(), |pool, leaf| match pool
            .get(leaf)
        {
            Expr::Sym(s) => contents.get(s).copied(),
            _ => None,
        });
        Some(self.symbolic.execution.terms.classify(value))
    }
}

#[cfg(test)]
mod tests {
    use super::super::state::Place;
    use super::*;
    use crate::budget::Budget;
    use crate::cpa::symbolic::SymbolicExecution;
    use crate::cpa::tracking::Options;
    use crate::cpa::value::Sharing;
    use crate::execution::Origin;
    use cfa::{DataLayout, GlobalId, Program, VarKind};
    use smt::{Choice, PathSolver};

    #[test]
    fn what_others_found_is_suggested_once_and_without_places_and_arrays() {
        let mut program = Program::new(DataLayout { pointer_width: 64 });
        let ty = program.funcs[program.entry].return_type;
        let kind = VarKind::Local(program.entry);
        let x = program.vars.push(cfa::Var { name: Some("x".into()), ty, width: 32, kind, place: None });
        let solvers = Choice::default();
        let domain =
            || SymbolicExecution::new(&program, PathSolver::new(solvers.open(), Budget::unlimited()), solvers.clone());
        let how = Options {
            values_only: false,
            full: false,
            numbers: false,
            sharing: Sharing::Scope,
            threshold: 0,
            values: false,
            predicates: true,
            boolean: false,
            folds: false,
        };
        let (mut finder, mut prover) = (Tracking::new(domain(), how), domain());
        // The pools do not agree on ids.
        for i in 100..110 {
            finder.symbolic.execution.terms.int(32, i);
        }
        let (var, seven) = (finder.symbolic.execution.terms.var(x, 32), finder.symbolic.execution.terms.int(32, 7));
        let plain = finder.symbolic.execution.terms.ule(var, seven);
        let place = Place { origin: Origin::Global(GlobalId(0)), offset: 0, len: 4 };
        let content = finder.place_symbol(place);
        let about_memory = finder.symbolic.execution.terms.ule(var, content);
        finder.predicates.add(Some(program.entry), None, plain);
        finder.predicates.add(Some(program.entry), None, about_memory);
        // What `calloc` gives, written once.
        let zeros = finder.symbolic.execution.terms.const_array(32, seven);
        let array = finder.symbolic.execution.terms.store(zeros, seven, var);
        let element = finder.symbolic.execution.terms.select(array, var);
        let about_array = finder.symbolic.execution.terms.ule(var, element);
        finder.predicates.add(Some(program.entry), None, about_array);
        for _ in 0..2 {
            finder.suggest_invariants(&mut prover.loops);
        }
        let (pool, suggested) = &prover.loops.suggested;
        assert_eq!(suggested.len(), 1);
        assert_eq!(
            cfa::text::c_expr(&program, pool, suggested[0]),
            cfa::text::c_expr(&program, &finder.symbolic.execution.terms, plain)
        );
    }
}
