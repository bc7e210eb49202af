//! Generalized information exchange automata (Haltermann, Wehrheim: Exchanging information in cooperative software validation,
//! SoSyM 2024): one format for what is known of the paths of a program, whoever found it out.
//!
//! A path is *ut-covered* if it is known to reach no target, *rt-covered* if it is known to be feasible and to reach one, and a
//! *candidate* if somebody should look at it (Definitions 2 and 3). What is ut- or rt-covered is no open candidate.
//!
//! Edges are those of the program, read as conditions read them: all that execution takes, in their order, calls and returns
//! included. Acceptance is by prefix: what follows an accepted path is accepted.

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
pub use picture::Told;
pub use reduce::{Left, reduce};
pub use text::{parse, print};
pub use views::{dot, json};

use crate::condition::{self, Label, StateId, Transition};
use cfa::interp::{Observer, State as Execution};
use cfa::{EdgeId, ExprId, Op, Program, Table};

/// What an accepting state says of the paths that come to it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Says {
    /// `F_ut`: infeasible, or feasible without reaching a target.
    Unreachable,
    /// `F_rt`: feasible, and reaching a target.
    Reachable,
    /// `F_cand`: not known.
    Candidate,
}

impl Says {
    pub const ALL: [Self; 3] = [Self::Unreachable, Self::Reachable, Self::Candidate];

    /// As the text form and the paper have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unreachable => "ut",
            Self::Reachable => "rt",
            Self::Candidate => "cand",
        }
    }
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.name() == name)
    }
}

/// A GIA `(Q, Σ, δ, q0, F_ut, F_rt, F_cand)` (Definition 2).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gia {
    pub states: Table<StateId, State>,
    pub initial: StateId,
}

/// A state with its invariant: what holds where a run is in it, over global variables, those of the frame of then, and what global objects contain.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct State {
    /// `None` for true.
    pub invariant: Option<ExprId>,
    pub says: Option<Says>,
    pub transitions: Vec<Transition>,
}

impl State {
    /// The transitions whose sets have `edge`.
    pub fn successors(&self, edge: EdgeId) -> impl Iterator<Item = &Transition> {
        condition::successors(&self.transitions, edge)
    }
}

impl Gia {
    /// Of one state, which says nothing.
    pub fn nothing() -> Self {
        let mut states = Table::new();
        let initial = states.push(State::default());
        Self { states, initial }
    }

    /// A state; a candidate has its transition to itself (rule 3).
    pub fn add(&mut self, says: Option<Says>, invariant: Option<ExprId>) -> StateId {
        let id = self.states.next_id();
        let transitions = if says == Some(Says::Candidate) { vec![Transition::others(id)] } else { Vec::new() };
        self.states.push(State { invariant, says, transitions })
    }

    pub fn has(&self, says: Says) -> bool {
        self.states.values().any(|s| s.says == Some(says))
    }

    /// The first rule of Definition 2 that is broken, or thing named that the program does not have.
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

    /// The states of runs after an edge. `holds` evaluates conditions.
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

    /// What was said by somebody whose word is not taken: all of it candidates.
    pub fn doubted(&self) -> Self {
        let mut gia = self.clone();
        for (id, state) in gia.states.iter_mut().filter(|(_, s)| s.says.is_some()) {
            state.says = Some(Says::Candidate);
            state.transitions = vec![Transition::others(id)];
        }
        gia
    }

    /// As a precision that others add to: what is `ut` before a target is said where its paths come to one, and no earlier. Behind what
    /// is said already, the combiner takes in nothing.
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
            vec![Transition { on: Label::of(targets), assumption: None, to: end }, Transition::others(behind)];
        gia.states[behind].transitions.clone_from(&on_the_way);
        for (id, old) in self.states.iter() {
            if old.says == Some(Says::Unreachable) && !at_target[id.0 as usize] {
                gia.states[id] = State { says: None, transitions: on_the_way.clone(), invariant: old.invariant };
            }
        }
        gia.simplified()
    }

    /// Without states that lead to nothing that is said, or that no run comes to.
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
                    // Named edges must not fall to the others of their state.
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

    /// The states from which there is a way to one that says such a thing, whatever the data.
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

/// Watches a run of the interpreter: after it, what the GIA says of its path.
pub struct Coverage<'g> {
    gia: &'g Gia,
    at: Vec<StateId>,
    covered: [bool; 3],
}

impl<'g> Coverage<'g> {
    pub fn new(gia: &'g Gia) -> Self {
        let mut coverage = Self { gia, at: Vec::new(), covered: [false; 3] };
        coverage.arrive(vec![gia.initial]);
        coverage
    }

    /// X-coverage (Definition 3).
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
