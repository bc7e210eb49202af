//! States of which only what a precision tracks is kept: values, constraints, and which predicates hold.
//!
//! This is symbolic execution as a CPA with dynamic precision adjustment (Beyer, Henzinger, Théoduloz: Program analysis with
//! dynamic precision adjustment, ASE 2008), whose precision is refined from infeasible paths. Without names for what is
//! unknown it is the explicit-value analysis, with predicates alone predicate abstraction.

mod prec;
mod state;

use super::predicate::{Place, Predicates, Seen};
use super::symbolic::{self, Problems, SymbolicExecution};
use super::value::{Callers, Item, Kept, Precision, Sharing, shape};
use super::wrapper::Wrapper;
use super::{Abstraction, Cpa, Decision, Goal, InSlice, Pair, PathCheck, Refinement, Sides, Stop, Successors, Target};
use crate::budget::Budget;
use crate::control::Control;
use crate::execution::{Event, Mode, ObjId, Object, PART, Part, Val};
use crate::refine::{Blocks, Increment};
use crate::verdict::Reason;
use cfa::interp::Inputs;
use cfa::{EdgeId, ErrorId, ExprId, Id, Out, SymId};
use rustc_hash::{FxHashMap, FxHashSet};
use state::Along;
pub(crate) use state::State;
use std::rc::Rc;

/// How states are abstracted and what refinements may track.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Unknown values are not named by symbols.
    pub values_only: bool,
    /// Everything is tracked from the start.
    pub full: bool,
    /// Numbers are: the value analysis without refinement, beside predicates with it.
    pub numbers: bool,
    pub sharing: Sharing,
    /// A variable with more values at one loop head on one path is tracked no more; 0 for no limit.
    pub threshold: usize,
    /// Refinements try values first.
    pub values: bool,
    /// Then predicates, kept in all their combinations if `boolean`.
    pub predicates: bool,
    pub boolean: bool,
    /// Chains of objects of the heap become list segments; only with values alone.
    pub folds: bool,
}

/// Symbolic execution of which states keep what is tracked.
pub struct Tracking<'p> {
    pub symbolic: SymbolicExecution<'p>,
    pub precision: Precision,
    pub(crate) predicates: Predicates,
    /// Predicates are kept in all their combinations.
    pub(in crate::cpa) boolean: bool,
    /// Which refinements are tried: of values, of predicates.
    pub(crate) ways: (bool, bool),
    /// When chains of objects become list segments, if they do.
    pub(in crate::cpa) folding: Option<shape::Folding>,
    /// A variable with more values at one location on one path is tracked no more.
    pub(in crate::cpa) threshold: usize,
    /// The first side of the branch that a conjunct of a path condition comes from.
    pub(crate) source: FxHashMap<ExprId, EdgeId>,
    /// The symbols that stand for what was forgotten of a variable.
    pub(in crate::cpa) forgotten: FxHashSet<ExprId>,
    /// The symbols made by the present abstraction, with what they replace.
    pub(in crate::cpa) replaced: Vec<(ExprId, Val)>,
    /// The variables that symbols stand for, where so many states have been abstracted.
    pub(crate) names: FxHashMap<(ExprId, u32), ExprId>,
    pub(in crate::cpa) callers: Callers,
    /// States abstracted on the way to the one that is being abstracted, itself included.
    pub(in crate::cpa) depth: u32,
    /// The content of memory that symbols stand for.
    pub(crate) contents: FxHashMap<ExprId, Seen>,
    /// The symbols by which predicates speak of places in memory.
    pub(in crate::cpa) places: FxHashMap<Place, ExprId>,
    pub(crate) place_of: FxHashMap<SymId, Place>,
    /// Conjuncts that say which predicates hold.
    pub(in crate::cpa) of_predicates: FxHashSet<ExprId>,
    /// What refinements have learned, in order.
    pub increments: Vec<Increment>,
    /// States in which the last operation is a fault that is an error.
    pub(crate) faults: Vec<State>,
    /// Empty but within a step.
    steps: Successors<symbolic::State>,
}

impl<'p> Tracking<'p> {
    pub fn new(mut symbolic: SymbolicExecution<'p>, how: Options) -> Self {
        // Refinement walks along all edges of a path.
        symbolic.execution.mode = Mode { names_unknowns: !how.values_only, is_abstract: true, skips_calls: false };
        symbolic.execution.unwritten = how.predicates.then(Vec::new);
        symbolic.problems = Some(Problems::default());
        symbolic.merges_soon = how.predicates;
        debug_assert!(how.values_only || !how.folds, "nothing names what segments hold");
        // Of the shadows of many objects in one nothing is known.
        let has_shadows = symbolic.execution.program.edges.values().any(|e| matches!(e.op, cfa::Op::Shadow(_)));
        let folds = how.folds && !has_shadows;
        symbolic.execution.unfolds = folds;
        Self {
            symbolic,
            precision: Precision::new(how.full, how.numbers, how.sharing),
            predicates: Predicates::default(),
            boolean: how.boolean,
            ways: (how.values, how.predicates),
            folding: folds.then(shape::Folding::new),
            threshold: how.threshold,
            source: FxHashMap::default(),
            forgotten: FxHashSet::default(),
            replaced: Vec::new(),
            names: FxHashMap::default(),
            callers: Callers::default(),
            depth: 0,
            contents: FxHashMap::default(),
            places: FxHashMap::default(),
            place_of: FxHashMap::default(),
            of_predicates: FxHashSet::default(),
            increments: Vec::new(),
            faults: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// Values, constraints and predicates tracked.
    pub fn tracked(&self) -> usize {
        self.precision.len() + self.predicates.len()
    }

    pub(crate) fn open_problems(&mut self) -> &mut Problems {
        self.symbolic.problems.as_mut().expect("they are looked into")
    }

    /// The part of `st` that takes this side of its branch, if there is one.
    pub(crate) fn side(&mut self, st: State, edge: EdgeId) -> Result<Option<State>, Stop> {
        let program = self.symbolic.execution.program;
        let Out::Branch { then_edge, .. } = program.locs[program.edges[edge].source].out else {
            unreachable!("an assume edge belongs to a branch")
        };
        let State { symbolic, along } = st;
        let constraints = symbolic.pc.len();
        let Some(symbolic) = self.symbolic.side(symbolic, edge) else { return Ok(None) };
        let st = State { symbolic, along };
        self.note_constraints(&st, constraints, then_edge);
        Ok(Some(st))
    }

    /// The effect of an operation that is not an assume or a return.
    pub(crate) fn execute(&mut self, st: State, edge: EdgeId, out: &mut Successors<State>) {
        let State { symbolic, along } = st;
        let mut steps = std::mem::take(&mut self.steps);
        self.symbolic.execute(symbolic, edge, &mut steps);
        self.note_contents(&along.history);
        self.faults.extend(self.symbolic.faults().into_iter().map(|symbolic| State { symbolic, along: along.clone() }));
        out.extend(steps.drain(..).map(|(symbolic, to)| (State { symbolic, along: along.clone() }, to)));
        self.steps = steps;
    }

    /// Whether the two states have different numbers where the precision tracks values: as in a composite analysis, what
    /// predicates could merge stays apart where values do not agree (Beyer, Henzinger, Théoduloz: Configurable software
    /// verification, CAV 2007, "merge-agree").
    fn tracked_apart(&mut self, a: &State, b: &State, at: Control, places: &[(ObjId, u64)]) -> bool {
        if !self.symbolic.execution.mode.is_abstract || self.precision.is_empty() && !self.precision.numbers {
            return false;
        }
        let differ = |x: Val, y: Val| x != y && (matches!(x, Val::Int(_)) || matches!(y, Val::Int(_)));
        let tracks = |this: &Self, item| this.precision.keeps(at.loc, item) != Kept::Nothing;
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

impl Cpa for Tracking<'_> {
    type State = State;
    type Evidence = Inputs;

    fn initial(&mut self) -> State {
        State { symbolic: self.symbolic.initial(), along: Along::default() }
    }

    fn transfer(&mut self, st: State, _at: Control, edge: EdgeId, out: &mut Successors<State>) -> Result<(), Stop> {
        self.faults.clear();
        self.execute(st, edge, out);
        Ok(())
    }

    fn faults(&mut self) -> Vec<State> {
        std::mem::take(&mut self.faults)
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
        let State { symbolic, along } = st;
        Ok(State { symbolic: self.symbolic.leave(symbolic, return_edge, call_edge)?, along })
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
        self.note_contents(&along.history);
        Ok(State { symbolic, along })
    }

    fn adjust(&mut self, st: State, edge: EdgeId, at: Control) -> Result<Option<State>, Stop> {
        let State { symbolic, along } = st;
        Ok(self.symbolic.adjust(symbolic, edge, at)?.map(|symbolic| State { symbolic, along }))
    }

    fn problems(&mut self) -> Vec<EdgeId> {
        self.symbolic.problems()
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
        if asks && !self.is_real(&mut st)? {
            return Ok(None);
        }
        Ok(Some(self.prec(st, at, Some(since))))
    }

    fn covers(&mut self, old: &State, new: &State, at: Control) -> bool {
        self.symbolic.state_covers(old, new, at)
    }

    fn known_values(&mut self, st: &State, at: Control) -> Vec<Option<u64>> {
        self.values_at(st, at)
    }

    fn decisions(&mut self, st: &mut State) -> Vec<Decision> {
        // The model is kept.
        self.symbolic.execution.is_feasible(st);
        let holds = |cond| st.pc.model().is_some_and(|m| m.eval(&self.symbolic.execution.terms, cond).is_true());
        let events = st.trail.events(holds);
        events.into_iter().filter_map(|e| if let Event::Decision(d) = e { Some(d) } else { None }).collect()
    }

    fn execution(&mut self, st: &State, budget: &Budget) -> Result<Option<Vec<Vec<Decision>>>, Stop> {
        match &st.along.history {
            None => Ok(Some(Vec::new())),
            Some(_) => Blocks { cpa: self }.decisions(st, budget),
        }
    }

    fn settle(&mut self, edge: EdgeId, reason: Reason) {
        // A read can be followed whatever it reads, unless that it is a fault is the question.
        if !self.symbolic.is_read(edge) || self.symbolic.is_watched(edge) {
            self.symbolic.taints.drop_behaviour(reason);
        }
        self.open_problems().settle(edge);
    }

    fn widen_precision(&mut self) -> bool {
        self.predicates.share();
        self.precision.share()
    }

    fn has_precision(&self) -> bool {
        !self.precision.full
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
            Refinement::Impossible if self.unfold_more(st) => Refinement::Refined { from: 0, changed: true },
            // What is tracked decides what is folded, from the start.
            Refinement::Refined { changed, .. } if self.folding.is_some() => Refinement::Refined { from: 0, changed },
            _ => refined,
        })
    }
}

impl<'p> Wrapper<'p> for Tracking<'p> {
    fn symbolic(&self) -> &SymbolicExecution<'p> {
        &self.symbolic
    }
    fn symbolic_mut(&mut self) -> &mut SymbolicExecution<'p> {
        &mut self.symbolic
    }
    fn tracking(&self) -> Option<&Self> {
        Some(self)
    }
    fn tracking_mut(&mut self) -> Option<&mut Self> {
        Some(self)
    }
}
