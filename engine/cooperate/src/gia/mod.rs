//! Generalized information exchange automata (GIAs; Haltermann, Wehrheim: Exchanging information in cooperative
//! software validation, SoSyM 2024): a common format for the knowledge of analyses about the paths of a program.
//!
//! A path is *ut-covered* if it is known to reach no target, *rt-covered* if it is known to be feasible and to reach
//! one, and a *candidate* if it should be analysed (Definitions 2 and 3). Paths that are ut- or rt-covered are no open
//! candidates.
//!
//! A GIA reads the edges of a path like a condition: in the order of execution, including calls and returns. It accepts
//! by prefix: extensions of accepted paths are accepted.

pub mod cegar;
pub mod check;
mod combine;
mod convert;
mod facts;
mod paths;
mod picture;
mod reduce;
mod text;
mod views;

pub use combine::{Inconsistent, agree, combine};
pub use convert::{Recording, Test, test_of};
pub use facts::facts;
pub use paths::Annotated;
pub use picture::PathClaim;
pub use reduce::{Removed, reduce};
pub use text::{parse, print};
pub use views::{dot, json};

use crate::condition::{self, Label, StateId, Transition};
use cfa::interp::{Observer, State as Execution};
use cfa::{EdgeId, ExprId, Op, Program, Table};

/// The claim of an accepting state about the paths that lead to it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Says {
    /// `F_ut`: the paths are infeasible, or they reach no target.
    Unreachable,
    /// `F_rt`: the paths are feasible and reach a target.
    Reachable,
    /// `F_cand`: it is unknown whether the paths reach a target.
    Candidate,
}

impl Says {
    /// All claims.
    pub const ALL: [Self; 3] = [Self::Unreachable, Self::Reachable, Self::Candidate];

    /// The name in the text form and in the paper.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unreachable => "ut",
            Self::Reachable => "rt",
            Self::Candidate => "cand",
        }
    }
    /// The claim with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.name() == name)
    }
}

/// A GIA `(Q, Σ, δ, q0, F_ut, F_rt, F_cand)` (Definition 2).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gia {
    /// The states.
    pub states: Table<StateId, State>,
    /// The initial state.
    pub initial: StateId,
}

/// A state with its invariant and outgoing transitions.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct State {
    /// The condition that holds in the state; `None` for true. It refers to global variables, to variables of the
    /// current frame, and to the contents of global objects.
    pub invariant: Option<ExprId>,
    /// The claim about paths to the state, if it accepts.
    pub says: Option<Says>,
    /// The outgoing transitions.
    pub transitions: Vec<Transition>,
}

impl State {
    /// The transitions that read `edge`.
    pub fn successors(&self, edge: EdgeId) -> impl Iterator<Item = &Transition> {
        condition::successors(&self.transitions, edge)
    }
}

impl Gia {
    /// The automaton of one state without claims.
    pub fn nothing() -> Self {
        let mut states = Table::new();
        let initial = states.push(State::default());
        Self { states, initial }
    }

    /// Adds a state. A candidate gets its self-loop (rule 3).
    pub fn add(&mut self, says: Option<Says>, invariant: Option<ExprId>) -> StateId {
        let id = self.states.next_id();
        let transitions = if says == Some(Says::Candidate) { vec![Transition::others(id)] } else { Vec::new() };
        self.states.push(State { invariant, says, transitions })
    }

    /// Returns true if some state has this claim.
    pub fn has(&self, says: Says) -> bool {
        self.states.values().any(|s| s.says == Some(says))
    }

    /// Checks the automaton. Fails with the first violated rule of Definition 2, or with the first reference to
    /// something that the program does not have.
    pub fn check(&self, program: &Program) -> Result<(), String> {
        let Some(initial) = self.states.get(self.initial) else { return Err(format!("there is no {}", self.initial)) };
        if initial.invariant.is_some() {
            return Err(format!("{}, the initial state, has an invariant other than true", self.initial));
        }
        for (id, state) in self.states.iter() {
            condition::check_transitions(id, &state.transitions, self.states.len(), program)?;
            if let Some(e) = state.invariant {
                condition::check_assumption(e, program)
                    .map_err(|problem| format!("the invariant of {id} {problem}"))?;
            }
            let leaves = |t: &&Transition| self.states[t.to].says != state.says;
            match state.says {
                Some(says @ (Says::Unreachable | Says::Reachable)) => {
                    if let Some(t) = state.transitions.iter().find(leaves) {
                        let (name, rule) = (says.name(), if says == Says::Unreachable { 1 } else { 2 });
                        return Err(format!("{id} is {name} and leads to {}, which is not (rule {rule})", t.to));
                    }
                }
                Some(Says::Candidate) => {
                    let loops = |t: &Transition| t.to == id && t.on == Label::Others && t.assumption.is_none();
                    if !state.transitions.iter().any(loops) {
                        return Err(format!("{id} is cand and has no transition '* -> {id}' (rule 3)"));
                    }
                }
                None => {}
            }
        }
        Ok(())
    }

    /// The states of a run after an edge. `holds` evaluates conditions.
    fn step(&self, from: &[StateId], edge: EdgeId, holds: &mut dyn FnMut(ExprId) -> bool) -> Vec<StateId> {
        let mut next: Vec<StateId> = Vec::new();
        for &state in from {
            for t in self.states[state].successors(edge) {
                if !next.contains(&t.to)
                    && t.assumption.is_none_or(&mut *holds)
                    && self.states[t.to].invariant.is_none_or(&mut *holds)
                {
                    next.push(t.to);
                }
            }
        }
        next
    }

    /// All claims as candidates, for a source that is not trusted.
    pub fn doubted(&self) -> Self {
        let mut gia = self.clone();
        for (id, state) in gia.states.iter_mut().filter(|(_, s)| s.says.is_some()) {
            state.says = Some(Says::Candidate);
            state.transitions = vec![Transition::others(id)];
        }
        gia
    }

    /// Moves `ut` claims to the targets: a path that is ut-covered before a target becomes covered only at the target.
    /// So others can add to the result as a precision, because the combiner ignores extensions of covered paths.
    pub fn at_targets(&self, program: &Program) -> Self {
        let is_target =
            |edge: EdgeId| program.edges[edge].fault.is_some() || matches!(program.edges[edge].op, Op::Error(_));
        let targets: Vec<EdgeId> = program.edges.ids().filter(|&edge| is_target(edge)).collect();
        if targets.is_empty() {
            return self.clone();
        }
        let mut at_target = vec![false; self.states.len()];
        for t in self.states.values().flat_map(|s| &s.transitions) {
            if let Label::Edges(edges) = &t.on {
                at_target[t.to.0 as usize] |= edges.iter().any(|&edge| is_target(edge));
            }
        }
        let mut gia = self.clone();
        let (behind, end) = (gia.add(None, None), gia.add(Some(Says::Unreachable), None));
        let on_the_way =
            vec![Transition { on: Label::from_edges(targets), assumption: None, to: end }, Transition::others(behind)];
        gia.states[behind].transitions.clone_from(&on_the_way);
        for (id, old) in self.states.iter() {
            if old.says == Some(Says::Unreachable) && !at_target[id.0 as usize] {
                gia.states[id] = State { says: None, transitions: on_the_way.clone(), invariant: old.invariant };
            }
        }
        gia.simplified()
    }

    /// Removes states that lead to no claim, and unreachable states.
    pub fn simplified(&self) -> Self {
        let useful = self.useful(|says| says.is_some());
        let mut out = Self::nothing();
        out.states[out.initial].says = self.states[self.initial].says;
        let mut number: Vec<Option<StateId>> = vec![None; self.states.len()];
        number[self.initial.0 as usize] = Some(out.initial);
        let (mut todo, mut done, mut lost) = (vec![self.initial], 0, None);
        while let Some(&old) = todo.get(done) {
            done += 1;
            let state = &self.states[old];
            let has_others = state.transitions.iter().any(|t| t.on == Label::Others);
            let mut transitions = Vec::new();
            for t in &state.transitions {
                let to = if useful[t.to.0 as usize] {
                    *number[t.to.0 as usize].get_or_insert_with(|| {
                        todo.push(t.to);
                        let target = &self.states[t.to];
                        out.states.push(State { transitions: Vec::new(), ..target.clone() })
                    })
                } else if has_others {
                    // Named edges must not follow the `Others` transition of their state.
                    *lost.get_or_insert_with(|| out.states.push(State::default()))
                } else {
                    continue;
                };
                transitions.push(Transition { to, ..t.clone() });
            }
            let id = number[old.0 as usize].expect("numbered before");
            out.states[id].transitions = transitions;
        }
        out
    }

    /// The states from which some path leads to a state with `is_goal`, whatever the data.
    fn useful(&self, is_goal: impl Fn(Option<Says>) -> bool) -> Vec<bool> {
        let mut before: Vec<Vec<StateId>> = vec![Vec::new(); self.states.len()];
        for (id, state) in self.states.iter() {
            for t in &state.transitions {
                before[t.to.0 as usize].push(id);
            }
        }
        let mut useful = vec![false; self.states.len()];
        let mut work: Vec<StateId> = self.states.iter().filter(|(_, s)| is_goal(s.says)).map(|(id, _)| id).collect();
        while let Some(q) = work.pop() {
            if !std::mem::replace(&mut useful[q.0 as usize], true) {
                work.extend_from_slice(&before[q.0 as usize]);
            }
        }
        useful
    }
}

/// An observer of the interpreter that determines the claims about the path of a run.
pub struct Coverage<'g> {
    gia: &'g Gia,
    at: Vec<StateId>,
    covered: [bool; 3],
}

impl<'g> Coverage<'g> {
    /// Starts at the initial state.
    pub fn new(gia: &'g Gia) -> Self {
        let mut coverage = Self { gia, at: Vec::new(), covered: [false; 3] };
        coverage.arrive(vec![gia.initial]);
        coverage
    }

    /// X-coverage (Definition 3) of the path so far.
    pub fn is_covered(&self, says: Says) -> bool {
        self.covered[says as usize]
    }

    fn arrive(&mut self, at: Vec<StateId>) {
        for says in at.iter().filter_map(|&q| self.gia.states[q].says) {
            self.covered[says as usize] = true;
        }
        self.at = at;
    }
}

impl Observer for Coverage<'_> {
    fn executed(&mut self, edge: EdgeId, state: &Execution) {
        if self.at.is_empty() {
            return;
        }
        let next = self.gia.step(&self.at, edge, &mut |e| condition::holds(e, edge, state));
        self.arrive(next);
    }
}
