//! The abstraction of states by predicates.
//!
//! [`PredicateAbstraction::knowledge`] evaluates the predicates in a state before the state forgets values.
//! [`PredicateAbstraction::restore`] assumes the results afterwards.

use super::precision::Predicates;
use super::state::{ByteRange, Cut, Seen, only_object};
use crate::domain::symbolic::Loops;
use crate::domain::value::Replaced;
use crate::invariant::LocationInvariants;
use crate::semantics::{Execution, Frame, Object, Piece, State, Unwritten, Val};
use cfa::{Expr, ExprId, ExprPool, Id, LocId, Sort, SymId};
use rustc_hash::{FxHashMap, FxHashSet};
use smt::Feasibility;
use std::rc::Rc;

/// Maximal number of predicates whose combinations are enumerated at one abstraction. [`FEW_OPEN`] replaces it if they
/// have too many combinations.
const MOST_OPEN: usize = 60;
const FEW_OPEN: usize = 8;
/// Maximal number of combinations enumerated.
const MOST_CUBES: usize = 64;

/// The truth values of predicates in a state, recorded before the state forgets values.
#[derive(Default)]
pub struct Knowledge {
    /// The decided predicates, each with the depth of its frame and its truth value.
    known: Vec<(u32, ExprId, bool)>,
    /// The undecided predicates, each with the depth of its frame. `cubes` are their possible combinations, as bit
    /// masks.
    open: Vec<(u32, ExprId)>,
    cubes: Option<Vec<u64>>,
    /// The contents of the places that predicates mention.
    contents: FxHashMap<SymId, ExprId>,
}

impl Knowledge {
    /// True if nothing is known of any predicate.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty() && self.cubes.is_none()
    }
}

/// The predicate abstraction: its precision, and the names by which predicates mention variables and memory.
pub struct PredicateAbstraction {
    precision: Predicates,
    /// If true, the abstraction is boolean. If false, it is Cartesian.
    boolean: bool,
    /// The variable that a symbol represents after a number of abstractions.
    names: FxHashMap<(ExprId, u32), ExprId>,
    /// The memory content that a symbol represents.
    contents: FxHashMap<ExprId, Seen>,
    /// The symbols that represent places in predicates.
    places: FxHashMap<ByteRange, ExprId>,
    place_of: FxHashMap<SymId, ByteRange>,
    /// Conjuncts of path conditions that state whether a predicate holds.
    of_predicates: FxHashSet<ExprId>,
}

impl PredicateAbstraction {
    /// An abstraction with an empty precision.
    pub fn new(boolean: bool) -> Self {
        Self {
            precision: Predicates::default(),
            boolean,
            names: FxHashMap::default(),
            contents: FxHashMap::default(),
            places: FxHashMap::default(),
            place_of: FxHashMap::default(),
            of_predicates: FxHashSet::default(),
        }
    }

    /// The precision.
    pub fn precision(&self) -> &Predicates {
        &self.precision
    }

    /// The precision, to be changed.
    pub fn precision_mut(&mut self) -> &mut Predicates {
        &mut self.precision
    }

    /// True if a conjunct of a path condition states whether a predicate holds.
    pub fn is_predicate(&self, conjunct: ExprId) -> bool {
        self.of_predicates.contains(&conjunct)
    }

    /// Tracks invariants of other analyses as predicates at their locations.
    pub fn add_invariants(&mut self, execution: &mut Execution<'_>, invariants: &LocationInvariants) {
        self.precision.add_invariants(execution.program, &mut execution.terms, invariants);
    }

    /// The place that a symbol in predicates represents.
    pub(super) fn place_of(&self, symbol: SymId) -> Option<ByteRange> {
        self.place_of.get(&symbol).copied()
    }

    /// The memory content that a symbol represents.
    pub(super) fn content_of(&self, symbol: ExprId) -> Option<Seen> {
        self.contents.get(&symbol).copied()
    }

    /// The variable that a symbol represents after `depth` abstractions.
    pub(super) fn name_of(&self, symbol: ExprId, depth: u32) -> Option<ExprId> {
        self.names.get(&(symbol, depth)).copied()
    }

    /// The symbol that represents a place in predicates.
    pub(crate) fn place_symbol(&mut self, execution: &mut Execution<'_>, place: ByteRange) -> ExprId {
        let Self { places, place_of, .. } = self;
        *places.entry(place).or_insert_with(|| {
            let (symbol, e) = execution.terms.fresh_symbol(Sort::Bv(8 * place.len));
            place_of.insert(symbol, place);
            e
        })
    }

    /// Records the symbols for unknown bytes that were read since the last call, in a state with this history.
    pub fn note_contents(&mut self, execution: &mut Execution<'_>, history: &Option<Rc<Cut>>) {
        let Some(unwritten) = execution.unwritten.as_mut().filter(|u| !u.is_empty()) else { return };
        let unwritten = std::mem::take(unwritten);
        if let Some(last) = history {
            for Unwritten { object, origin, offset, len, symbol } in unwritten {
                let seen = Seen { object, place: ByteRange { origin, offset, len }, depth: last.depth + 1 };
                self.contents.insert(symbol, seen);
            }
        }
    }

    /// Records the variables whose values are symbols in an abstract state, the `depth`-th on its path: the symbols
    /// just `replaced`, and older ones.
    pub fn name_symbols(&mut self, execution: &mut Execution<'_>, st: &State, replaced: &[Replaced], depth: u32) {
        for &Replaced { symbol, var, .. } in replaced {
            let name = execution.terms.var(var, execution.program.vars[var].width);
            self.names.insert((symbol, depth), name);
        }
        let globals = execution.slots.globals.iter().zip(st.globals.iter());
        let locals = execution.slots.locals[st.frame.func.index()].iter().zip(&st.frame.vars);
        for (&var, &value) in globals.chain(locals) {
            if let Val::Expr(e) = value
                && matches!(execution.terms.get(e), Expr::Sym(_))
            {
                let name = execution.terms.var(var, execution.program.vars[var].width);
                self.names.entry((e, depth)).or_insert(name);
            }
        }
    }

    /// Suggests the predicates as candidate invariants. Predicates on array contents are left out, because candidates
    /// have to be expressions of the program.
    pub fn suggest_invariants(&self, terms: &ExprPool, loops: &mut Loops) {
        let mut predicates: Vec<ExprId> = self.precision.all().filter(|&p| !holds_array(terms, p)).collect();
        predicates.sort_unstable();
        loops.suggest(terms, predicates);
    }

    /// Evaluates the predicates in the frames of `st` that it does not share with `since`.
    pub fn knowledge(
        &mut self,
        execution: &mut Execution<'_>,
        st: &mut State,
        history: &Option<Rc<Cut>>,
        at: LocId,
        since: Option<&State>,
    ) -> Knowledge {
        let mut knowledge = Knowledge::default();
        if self.precision.is_empty() {
            return knowledge;
        }
        let mut terms = Vec::new();
        for frame in fresh_frames(st, since) {
            let top = frame.depth == st.frame.depth;
            let mut predicates: Vec<ExprId> = self.precision.tracked(Some(frame.func), at).collect();
            if top {
                predicates.extend(self.precision.tracked(None, at));
            }
            for predicate in predicates {
                let Some(contents) = self.contents_of(execution, st, history, predicate, true) else { continue };
                let Some(value) = eval_in(execution, st, &frame, predicate, &contents) else { continue };
                knowledge.contents.extend(contents);
                match value {
                    Val::Int(v) => knowledge.known.push((frame.depth, predicate, v != 0)),
                    Val::Expr(term) => {
                        execution.expose(st, term);
                        let branch = execution.solver.branch(&mut execution.terms, &st.pc, term);
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
            // If there are too many combinations, those of the newest predicates are kept.
            for most in [MOST_OPEN, FEW_OPEN] {
                let dropped = terms.len().saturating_sub(most);
                terms.drain(..dropped);
                knowledge.open.drain(..dropped);
                knowledge.cubes = combinations(execution, st, &terms);
                if knowledge.cubes.is_some() || terms.len() <= FEW_OPEN {
                    break;
                }
            }
        }
        knowledge
    }

    /// Assumes the recorded truth values in `st`, which has forgotten its values. `model` is a model of the state
    /// before, extended to the new symbols.
    pub fn restore(
        &mut self,
        execution: &mut Execution<'_>,
        st: &mut State,
        history: &Option<Rc<Cut>>,
        knowledge: Knowledge,
        mut model: Option<smt::Model>,
    ) {
        let before = st.pc.len();
        let mut facts = Vec::new();
        for (depth, predicate, holds) in knowledge.known {
            if let Some(term) = self.term(execution, st, history, depth, predicate) {
                facts.push(if holds { term } else { execution.terms.not(term) });
            }
        }
        if let Some(cubes) = knowledge.cubes {
            let terms: Option<Vec<ExprId>> =
                knowledge.open.iter().map(|&(depth, p)| self.term(execution, st, history, depth, p)).collect();
            if let Some(terms) = terms {
                let mut any = execution.terms.bool(false);
                for cube in cubes {
                    let mut all = execution.terms.bool(true);
                    for (i, &term) in terms.iter().enumerate() {
                        let literal = if cube >> i & 1 == 1 { term } else { execution.terms.not(term) };
                        all = execution.terms.and(all, literal);
                    }
                    any = execution.terms.or(any, all);
                }
                facts.push(any);
            }
        }
        // Extends the model to the symbols of forgotten bytes.
        for (symbol, before) in knowledge.contents {
            let place = self.place_of[&symbol];
            if let (Some(model), Some(object)) = (&mut model, only_object(st, place))
                && let Some(Val::Expr(now)) = st.memory.get(object).and_then(|o| o.read_whole(place.offset, place.len))
                && model.get(now).is_none()
                && matches!(execution.terms.get(now), Expr::Sym(_))
            {
                let value = model.value(&execution.terms, before);
                model.set(now, value);
            }
        }
        for fact in facts {
            if !execution.terms.is_true(fact) {
                execution.expose(st, fact);
                model = model.filter(|m| m.eval(&execution.terms, fact).is_true());
                // Without a model, `assume` would keep one that does not satisfy an earlier fact.
                if model.is_none() {
                    st.pc.forget_model();
                }
                execution.solver.assume(&mut execution.terms, &mut st.pc, fact, model.clone());
            }
        }
        let added = st.pc.len() - before;
        self.of_predicates.extend(st.pc.iter().take(added));
    }

    /// The term of a predicate in the frame of a given depth.
    fn term(
        &mut self,
        execution: &mut Execution<'_>,
        st: &mut State,
        history: &Option<Rc<Cut>>,
        depth: u32,
        predicate: ExprId,
    ) -> Option<ExprId> {
        let mut frame = Rc::clone(&st.frame);
        while frame.depth > depth {
            let below = Rc::clone(frame.caller.as_ref()?);
            frame = below;
        }
        let contents = self.contents_of(execution, st, history, predicate, false)?;
        let value = eval_in(execution, st, &frame, predicate, &contents)?;
        (value != Val::Unknown).then(|| execution.terms.term(value, 1))
    }

    /// The contents of the places that a predicate mentions. `None` if a place does not exist in `st`. If `known`, also
    /// `None` if a byte of it is unknown.
    fn contents_of(
        &mut self,
        execution: &mut Execution<'_>,
        st: &mut State,
        history: &Option<Rc<Cut>>,
        predicate: ExprId,
        known: bool,
    ) -> Option<FxHashMap<SymId, ExprId>> {
        let mut contents = FxHashMap::default();
        for symbol in execution.terms.symbols_of(predicate) {
            let &place = self.place_of.get(&symbol)?;
            let object = only_object(st, place)?;
            let mut bytes = place.offset..place.offset + u64::from(place.len);
            let is_unknown = |o: &Object| o.array.is_none() && bytes.any(|offset| o.piece(offset) == Piece::Default);
            if known && st.memory.get(object).is_none_or(is_unknown) {
                return None;
            }
            let content = execution.read(st, object, place.offset, place.len);
            self.note_contents(execution, history);
            contents.insert(symbol, execution.terms.term(content, 8 * place.len));
        }
        Some(contents)
    }
}

/// True if an array access occurs in the expression.
fn holds_array(terms: &ExprPool, e: ExprId) -> bool {
    let mut found = false;
    terms.visit(e, &mut FxHashSet::default(), |_, node| found |= matches!(node, Expr::Select { .. }));
    found
}

/// The combinations of truth values that `terms` can have in `st`. `None` if there are too many, or the solver cannot
/// decide.
fn combinations(execution: &mut Execution<'_>, st: &State, terms: &[ExprId]) -> Option<Vec<u64>> {
    let mut cubes = Vec::new();
    let mut others = execution.terms.bool(true);
    loop {
        match execution.solver.check(&mut execution.terms, &st.pc, others) {
            Feasibility::Infeasible => return Some(cubes),
            Feasibility::Unknown(_) => return None,
            Feasibility::Feasible(model) => {
                let mut cube = 0;
                let mut this = execution.terms.bool(true);
                for (i, &term) in terms.iter().enumerate() {
                    let holds = model.eval(&execution.terms, term).is_true();
                    cube |= u64::from(holds) << i;
                    let literal = if holds { term } else { execution.terms.not(term) };
                    this = execution.terms.and(this, literal);
                }
                if cubes.contains(&cube) || cubes.len() >= MOST_CUBES {
                    return None;
                }
                cubes.push(cube);
                let differs = execution.terms.not(this);
                others = execution.terms.and(others, differs);
            }
        }
    }
}

/// The frames of `st` that it does not share with `since`, top first.
fn fresh_frames(st: &State, since: Option<&State>) -> Vec<Rc<Frame>> {
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

/// The value of a predicate in a frame. `None` if a variable of it is unset.
fn eval_in(
    execution: &mut Execution<'_>,
    st: &State,
    frame: &Rc<Frame>,
    predicate: ExprId,
    contents: &FxHashMap<SymId, ExprId>,
) -> Option<Val> {
    let mut here = st.clone();
    here.frame = Rc::clone(frame);
    if execution.terms.vars(predicate).into_iter().any(|v| execution.read_var(&here, v) == Val::Unset) {
        return None;
    }
    let value = execution.eval(&here, predicate);
    if contents.is_empty() || value == Val::Unknown {
        return Some(value);
    }
    let value = execution.terms.term(value, 1);
    let value = execution.terms.substitute(value, &mut FxHashMap::default(), |pool, leaf| match pool.get(leaf) {
        Expr::Sym(s) => contents.get(s).copied(),
        _ => None,
    });
    Some(execution.terms.classify(value))
}
