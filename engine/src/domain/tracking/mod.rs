//! Symbolic execution with dynamic precision adjustment over values, constraints and predicates.
//!
//! States keep only what a precision tracks (Beyer, Henzinger, Théoduloz: Program analysis with dynamic precision
//! adjustment, ASE 2008). The precision is refined from infeasible paths. Without symbols for unknown values, the
//! domain is the explicit-value analysis. With predicates only, it is predicate abstraction.

mod prec;
mod refinement;
mod state;

use crate::analysis::capability::{Limited, Reporting, Statistics};
use crate::analysis::{
    Abstraction, Cpa, Decision, Goal, InSlice, Increment, Pair, PathCheck, Refinement, Sides, Step, Stop, Target,
};
use crate::domain::path::Carrier;
use crate::domain::predicate::PredicateAbstraction;
use crate::domain::predicate::refinement::AbstractPath;
use crate::domain::shape::ShapeAbstraction;
use crate::domain::symbolic::{self, SymbolicExecution, UndecidedOperations};
use crate::domain::value::refinement::Valued;
use crate::domain::value::{Item, Kept, Precision, Sharing, ValueAbstraction};
use crate::invariant::observed::Agreement;
use crate::semantics::control::Control;
use crate::semantics::{Event, Mode, ObjId, Object, PART, Part, Val};
use crate::verdict::{Reason, Taints};
use cfa::interp::Inputs;
use cfa::{EdgeId, ErrorId, Id, Out};
use smt::budget::Budget;
use state::Along;
pub(crate) use state::State;
use std::rc::Rc;
use std::time::Duration;

/// Options of the abstraction and its refinement.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// If true, unknown values are not named by symbols.
    pub values_only: bool,
    /// If true, everything is tracked from the start.
    pub full: bool,
    /// If true, all constants are tracked from the start. Values then need no refinement. Predicates are still refined
    /// if `predicates` is true.
    pub numbers: bool,
    /// The locations at which new items are tracked.
    pub sharing: Sharing,
    /// Maximal number of values of a variable at one loop head on one path. A variable with more is no longer tracked.
    /// 0 means no limit.
    pub threshold: usize,
    /// If true, a refinement tries values first.
    pub values: bool,
    /// If true, a refinement tries predicates after values.
    pub predicates: bool,
    /// If true, the predicate abstraction is boolean, else Cartesian.
    pub boolean: bool,
    /// If true, chains of heap objects become list segments. Requires `values_only`.
    pub folds: bool,
}

/// The composition of a path state with value, predicate and shape abstraction.
pub struct Tracking<'p> {
    pub(crate) symbolic: SymbolicExecution<'p>,
    pub(crate) value: ValueAbstraction,
    pub(crate) predicate: PredicateAbstraction,
    shape: ShapeAbstraction,
    /// The enabled refinements: of values, and of predicates.
    ways: (bool, bool),
    /// The reports of all refinements, in order.
    increments: Vec<Increment>,
    /// Buffer for the result of symbolic execution. Empty between steps.
    step: Step<symbolic::State>,
}

impl<'p> Tracking<'p> {
    /// A domain with the given options over a symbolic execution.
    pub fn new(mut symbolic: SymbolicExecution<'p>, how: Options) -> Self {
        // Refinement follows all edges of a path, so no call may be skipped.
        symbolic.execution.mode = Mode { names_unknowns: !how.values_only, is_abstract: true, skips_calls: false };
        symbolic.execution.unwritten = how.predicates.then(Vec::new);
        symbolic.undecided = Some(UndecidedOperations::default());
        symbolic.merges_soon = how.predicates;
        debug_assert!(how.values_only || !how.folds, "nothing names what segments hold");
        // A summary object has no known shadow, so programs with shadows are not folded.
        let has_shadows = symbolic.execution.program.edges.values().any(|e| matches!(e.op, cfa::Op::Shadow(_)));
        let folds = how.folds && !has_shadows;
        symbolic.execution.unfolds = folds;
        let precision = Precision::new(how.full, how.numbers, how.sharing);
        Self {
            symbolic,
            value: ValueAbstraction::new(precision, how.threshold, folds, !how.predicates),
            predicate: PredicateAbstraction::new(how.boolean),
            shape: ShapeAbstraction::new(folds),
            ways: (how.values, how.predicates),
            increments: Vec::new(),
            step: Step::default(),
        }
    }

    /// True if refinements add predicates.
    pub fn tracks_predicates(&self) -> bool {
        self.ways.1
    }

    /// The number of tracked values, constraints and predicates.
    pub fn tracked(&self) -> usize {
        self.value.precision().len() + self.predicate.precision().len()
    }

    /// Records that the branch at `edge` added the conjuncts of `st` after the first `before` ones.
    fn note_constraints(&mut self, st: &State, before: usize, edge: EdgeId) {
        if self.symbolic.execution.mode.names_unknowns {
            self.value.note_constraints(st, before, edge);
        }
    }

    /// True if the states have different numbers in items that the precision tracks. Such states are not merged, like
    /// in a composite analysis with merge-agree (Beyer, Henzinger, Théoduloz: Configurable software verification, CAV
    /// 2007).
    fn tracked_apart(&mut self, a: &State, b: &State, at: Control, places: &[(ObjId, u64)]) -> bool {
        if !self.symbolic.execution.mode.is_abstract
            || self.value.precision().is_empty() && !self.value.precision().numbers
        {
            return false;
        }
        let differ = |x: Val, y: Val| x != y && (matches!(x, Val::Int(_)) || matches!(y, Val::Int(_)));
        let tracks = |this: &Self, item| this.value.precision().keeps(at.loc, item) != Kept::Nothing;
        for (slot, (&x, &y)) in a.globals.iter().zip(b.globals.iter()).enumerate() {
            if differ(x, y) && tracks(self, Item::Var(self.symbolic.execution.slots.globals[slot])) {
                return true;
            }
        }
        let (mut x, mut y) = (&a.frame, &b.frame);
        let mut loc = at.loc;
        while !Rc::ptr_eq(x, y) {
            let live = self.symbolic.execution.live(x.func);
            for &slot in live.at(loc) {
                let slot = slot as usize;
                if differ(x.vars[slot], y.vars[slot])
                    && tracks(self, Item::Var(self.symbolic.execution.slots.locals[x.func.index()][slot]))
                {
                    return true;
                }
            }
            let (Some(p), Some(q), Some(call)) = (&x.caller, &y.caller, x.call) else { break };
            loc = self.symbolic.execution.program.edges[call].target;
            (x, y) = (p, q);
        }
        places.iter().any(|&(object, chunk)| {
            let (x, y) = (a.memory.get(object).expect("in both"), b.memory.get(object).expect("in both"));
            Part::of_chunk(chunk).any(|part| {
                let at = part.start();
                let whole = |o: &Object| o.read_whole(at, PART as u32).unwrap_or(Val::Unknown);
                differ(whole(x), whole(y)) && tracks(self, Item::Memory(x.origin, part))
            })
        })
    }
}

impl<'p> Carrier<'p> for Tracking<'p> {
    type State = State;

    fn symbolic(&self) -> &SymbolicExecution<'p> {
        &self.symbolic
    }
    fn symbolic_mut(&mut self) -> &mut SymbolicExecution<'p> {
        &mut self.symbolic
    }

    fn initial(&mut self) -> State {
        State { symbolic: self.symbolic.initial(), along: Along::default() }
    }

    fn execute(&mut self, st: State, edge: EdgeId, out: &mut Step<State>) {
        let State { symbolic, along } = st;
        self.symbolic.execute(symbolic, edge, &mut self.step);
        self.predicate.note_contents(&mut self.symbolic.execution, &along.history);
        out.extend_with(&mut self.step, |symbolic| State { symbolic, along: along.clone() });
        self.step.clear();
    }

    fn side(&mut self, st: State, edge: EdgeId) -> Option<State> {
        let program = self.symbolic.execution.program;
        let Out::Branch { then_edge, .. } = program.locs[program.edges[edge].source].out else {
            unreachable!("an assume edge belongs to a branch")
        };
        let State { symbolic, along } = st;
        let constraints = symbolic.pc.len();
        let st = State { symbolic: self.symbolic.side(symbolic, edge)?, along };
        self.note_constraints(&st, constraints, then_edge);
        Some(st)
    }

    fn leave(&mut self, st: State, return_edge: EdgeId, call_edge: EdgeId) -> Result<State, Stop> {
        let State { symbolic, along } = st;
        Ok(State { symbolic: self.symbolic.leave(symbolic, return_edge, call_edge)?, along })
    }

    fn abstracted(&mut self, st: State, at: Control) -> State {
        self.prec(st, at, None)
    }

    fn covers(&mut self, old: &State, new: &State, at: Control) -> bool {
        self.symbolic.state_covers(old, new, at)
    }
}

impl<'p> Valued<'p> for Tracking<'p> {
    fn values(&self) -> &ValueAbstraction {
        &self.value
    }
    fn values_mut(&mut self) -> &mut ValueAbstraction {
        &mut self.value
    }
    fn restrict(&mut self, st: &mut State, at: Control, keep: &dyn Fn(Item) -> Kept) {
        let Self { symbolic, value, predicate, .. } = self;
        let is_predicate = |conjunct| predicate.is_predicate(conjunct);
        value.restrict(&mut symbolic.execution, &mut st.symbolic.path, at, keep, &is_predicate);
    }
}

impl Cpa for Tracking<'_> {
    type State = State;
    type Evidence = Inputs;

    fn initial(&mut self) -> State {
        Carrier::initial(self)
    }

    fn transfer(&mut self, st: State, _at: Control, edge: EdgeId, out: &mut Step<State>) -> Result<(), Stop> {
        self.execute(st, edge, out);
        let found = self.symbolic.undecided.as_mut().map_or(Vec::new(), |problems| std::mem::take(&mut problems.found));
        out.undecided.extend(found.into_iter().map(|p| p.edge));
        Ok(())
    }

    fn branch(&mut self, st: State, then_edge: EdgeId, else_edge: EdgeId) -> Result<Sides<State>, Stop> {
        let State { symbolic, along } = st;
        let constraints = symbolic.pc.len();
        let (yes, no) = self.symbolic.branch(symbolic, then_edge, else_edge)?;
        let mut side = |symbolic: Option<symbolic::State>| {
            let st = State { symbolic: symbolic?, along: along.clone() };
            self.note_constraints(&st, constraints, then_edge);
            Some(st)
        };
        Ok((side(yes), side(no)))
    }

    fn leave(&mut self, st: State, return_edge: EdgeId, call_edge: EdgeId) -> Result<State, Stop> {
        Carrier::leave(self, st, return_edge, call_edge)
    }

    fn target(&mut self, st: &mut State, edge: EdgeId, error: ErrorId) -> Result<Target<Inputs>, Stop> {
        self.symbolic.target(&mut st.symbolic, edge, error)
    }

    fn merge(&mut self, a: State, b: State, at: Control) -> Result<State, Pair<State>> {
        let places = if a.past == b.past { self.symbolic.execution.differences(&a, &b) } else { None };
        let Some(places) = places.filter(|places| !self.tracked_apart(&a, &b, at, places)) else {
            return Err(Box::new((a, b)));
        };
        debug_assert_eq!(a.depth(), b.depth(), "states of one block");
        let along = a.along;
        let symbolic = self.symbolic.merge_at(a.symbolic, b.symbolic, at, &places);
        self.predicate.note_contents(&mut self.symbolic.execution, &along.history);
        Ok(State { symbolic, along })
    }

    fn adjust(&mut self, st: State, edge: EdgeId, at: Control, _more: &mut Vec<State>) -> Result<Option<State>, Stop> {
        let State { symbolic, along } = st;
        Ok(self.symbolic.adjust(symbolic, edge, at, &mut Vec::new())?.map(|symbolic| State { symbolic, along }))
    }

    fn ran_out(&self) -> bool {
        self.symbolic.ran_out()
    }
}

impl Abstraction for Tracking<'_> {
    fn both(&mut self, st: State, then_edge: EdgeId, else_edge: EdgeId) -> Sides<State> {
        let side = |edge: EdgeId| {
            self.symbolic.leads_to_target[self.symbolic.execution.program.edges[edge].target.index()].then(|| {
                let mut st = st.clone();
                st.trail.push(Event::Decision(Decision::Branch(edge)));
                st
            })
        };
        (side(then_edge), side(else_edge))
    }

    fn abstract_state(&mut self, mut st: State, at: Control, since: &State) -> Result<Option<State>, Stop> {
        let asks = self.ways.1 || self.symbolic.loops.headed_by(at.loc).is_some();
        if asks && !self.is_real(&mut st) {
            return Ok(None);
        }
        Ok(Some(self.prec(st, at, Some(since))))
    }

    fn covers(&mut self, old: &State, new: &State, at: Control) -> bool {
        Carrier::covers(self, old, new, at)
    }

    fn known_values(&mut self, st: &State, at: Control) -> Vec<Option<u64>> {
        self.values_at(st, at)
    }

    fn decisions(&mut self, st: &mut State) -> Vec<Decision> {
        // Finds a model, which the state keeps.
        self.symbolic.execution.is_feasible(st);
        let holds = |cond| st.pc.model().is_some_and(|m| m.eval(&self.symbolic.execution.terms, cond).is_true());
        let events = st.trail.events(holds);
        events.into_iter().filter_map(|e| if let Event::Decision(d) = e { Some(d) } else { None }).collect()
    }

    fn execution(&mut self, st: &State, budget: &Budget) -> Result<Option<Vec<Vec<Decision>>>, Stop> {
        match &st.along.history {
            None => Ok(Some(Vec::new())),
            history @ Some(_) => self.blocks().decisions(AbstractPath { state: st, history }, budget),
        }
    }

    fn record_undecided(&mut self, edge: EdgeId, reason: Reason) {
        // An arbitrary value over-approximates a read, unless the question is whether the read is a fault.
        if !self.symbolic.is_read(edge) || self.symbolic.is_watched(edge) {
            self.symbolic.taints.drop_behaviour(reason);
        }
        self.undecided().record_undecided(edge);
    }

    fn widen_precision(&mut self) -> bool {
        self.predicate.precision_mut().share();
        self.value.precision_mut().share()
    }

    fn has_precision(&self) -> bool {
        !self.value.precision().full
    }

    fn check(
        &mut self,
        path: &[EdgeId],
        goal: Goal,
        in_slice: InSlice<'_>,
        budget: &Budget,
    ) -> Result<PathCheck<Inputs>, Stop> {
        self.check_path(path, goal, in_slice, budget)
    }

    fn refine(
        &mut self,
        st: &State,
        path: &[EdgeId],
        cuts: &[usize],
        goal: Goal,
        budget: &Budget,
    ) -> Result<Refinement, Stop> {
        let refined = self.refine_path(st, path, cuts, goal, budget)?;
        Ok(match refined {
            Refinement::Impossible if self.shape.unfold_more(st, self.value.precision_mut()) => {
                Refinement::Refined { from: 0, changed: true }
            }
            // The tracked items determine what is folded, so the exploration restarts.
            Refinement::Refined { changed, .. } if self.shape.folds() => Refinement::Refined { from: 0, changed },
            _ => refined,
        })
    }
}

impl Limited for Tracking<'_> {
    fn limit(&mut self, budget: &Budget, query_time: Option<Duration>) {
        self.symbolic.limit(budget, query_time);
    }
}

impl Reporting for Tracking<'_> {
    fn statistics(&self) -> Statistics {
        Statistics { tracked: self.tracked() as u64, ..self.symbolic.statistics() }
    }
    fn all_taints(&self) -> &Taints {
        self.symbolic.all_taints()
    }
    fn increments(&self) -> &[Increment] {
        &self.increments
    }
    fn agreements(&self) -> Vec<Agreement> {
        self.symbolic.agreements()
    }
}
