//! Condition automata: the paths of a program that are verified, and the assumptions under which they are (Beyer,
//! Jakobs: FRed: Conditional model checking via reducers and folders, SEFM 2020, Definitions 1 and 2; after Beyer,
//! Henzinger, Keremoglu, Wendler, Conditional model checking, FSE 2012).
//!
//! A condition reads the edges of a path in the order of execution, including calls and returns. It covers a path if a
//! prefix of the path leads to an accepting state.

mod blocks;
pub mod bounded;
pub mod c;
mod dot;
mod part;
mod product;
mod quotient;
pub mod rest;
pub(crate) mod text;

pub use text::{Error, parse, print};

use cfa::interp::{Observer, State as Execution};
use cfa::{EdgeId, Expr, ExprId, Global, GlobalId, Op, Program, Table, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use sha2::{Digest, Sha256};

/// The maximal number of states in a written condition. Beyond it, the deepest explored parts are dropped.
pub const MOST_STATES: usize = 100_000;

cfa::id_type!(
    /// A state of a condition automaton.
    StateId, "q"
);

/// A condition automaton `(Q, Σ, δ, q0, F)` with `Σ ⊆ 2^G × Φ`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The states.
    pub states: Table<StateId, State>,
    /// The initial state.
    pub initial: StateId,
}

/// A state and its outgoing transitions. An accepting state covers all extensions of its paths. It may have transitions
/// to further accepting states, along paths to states that covered others. An analysis that resumes the exploration
/// uses these transitions to reach the covering states again. They end at the first branch that no transition names.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct State {
    /// True if the state accepts.
    pub accepting: bool,
    /// If the state accepts, its paths count as verified only when all paths that no state accepts are verified as
    /// well. An analysis of the residual paths does not visit them.
    pub with_rest: bool,
    /// The outgoing transitions.
    pub transitions: Vec<Transition>,
}

/// An element `(q, (G, φ), q')` of the transition relation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transition {
    /// The edges that it reads.
    pub on: Label,
    /// The assumption after the edge; `None` for true. It refers to global variables, to variables of the current frame
    /// after the edge, and to the contents of global objects.
    pub assumption: Option<ExprId>,
    /// The target.
    pub to: StateId,
}

/// A set of edges.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Label {
    /// These edges, ascending.
    Edges(Box<[EdgeId]>),
    /// All edges that no other transition of the state names.
    Others,
}

impl Label {
    /// The label of these edges, in any order.
    pub fn from_edges(edges: impl IntoIterator<Item = EdgeId>) -> Self {
        let mut edges: Vec<EdgeId> = edges.into_iter().collect();
        edges.sort_unstable();
        edges.dedup();
        Self::Edges(edges.into())
    }
}

impl Transition {
    /// A transition on one edge, without an assumption.
    pub fn on(edge: EdgeId, to: StateId) -> Self {
        Self { on: Label::from_edges([edge]), assumption: None, to }
    }
    /// A transition on all edges that no other transition of its state names, without an assumption.
    pub fn others(to: StateId) -> Self {
        Self { on: Label::Others, assumption: None, to }
    }
}

impl State {
    /// The transitions that read `edge`.
    pub fn successors(&self, edge: EdgeId) -> impl Iterator<Item = &Transition> {
        successors(&self.transitions, edge)
    }
}

/// The edges that the transitions name, ascending and without duplicates.
pub(crate) fn named<'a>(transitions: impl IntoIterator<Item = &'a Transition>) -> Vec<EdgeId> {
    let edges = transitions.into_iter().flat_map(|t| match &t.on {
        Label::Edges(edges) => &edges[..],
        Label::Others => &[],
    });
    let mut edges: Vec<EdgeId> = edges.copied().collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Those of the outgoing transitions of a state that read `edge`.
pub(crate) fn successors(transitions: &[Transition], edge: EdgeId) -> impl Iterator<Item = &Transition> {
    let named = move |t: &Transition| matches!(&t.on, Label::Edges(edges) if edges.binary_search(&edge).is_ok());
    let is_named = transitions.iter().any(named);
    transitions.iter().filter(move |t| if is_named { named(t) } else { t.on == Label::Others })
}

/// Checks the outgoing transitions of a state. Fails with the first reference to a state, edge or variable that does
/// not exist.
pub(crate) fn check_transitions(
    id: StateId,
    transitions: &[Transition],
    states: usize,
    program: &Program,
) -> Result<(), String> {
    for t in transitions {
        if t.to.0 as usize >= states {
            return Err(format!("there is no {}, to which {id} leads", t.to));
        }
        if let Label::Edges(edges) = &t.on {
            if let Some(edge) = edges.iter().find(|e| program.edges.get(**e).is_none()) {
                return Err(format!("the program has no edge {edge}"));
            }
            if !edges.is_sorted() {
                return Err(format!("the edges of a transition of {id} are not in order"));
            }
        }
        if let Some(e) = t.assumption {
            check_assumption(e, program).map_err(|problem| format!("an assumption of {id} {problem}"))?;
        }
    }
    Ok(())
}

pub(crate) fn check_assumption(e: ExprId, program: &Program) -> Result<(), &'static str> {
    if program.exprs.width(e) != 1 {
        return Err("is no condition");
    }
    let mut problem = None;
    program.exprs.visit(e, &mut FxHashSet::default(), |_, node| match *node {
        Expr::Sym(_) => problem = Some("has symbols in it"),
        Expr::Content { of, offset, width } if !is_known(program, of, offset, width) => {
            problem = Some("mentions memory that no global has or whose content is unknown");
        }
        _ => {}
    });
    problem.map_or(Ok(()), Err)
}

/// Returns true if the global object has these bytes and their content is known at any time, so that a condition on
/// them is either true or false.
fn is_known(program: &Program, of: GlobalId, offset: u32, width: u32) -> bool {
    let is_of = |g: &Global| g.init.is_some() && u64::from(offset) + u64::from(width / 8) <= g.size;
    width.is_multiple_of(8) && width <= 64 && program.globals.get(of).is_some_and(is_of)
}

/// Returns true if an assumption holds in the state of a run after an edge.
pub(crate) fn holds(e: ExprId, edge: EdgeId, state: &Execution) -> bool {
    let program = state.program();
    // There is no state after these operations.
    if matches!(program.edges[edge].op, Op::Return { .. } | Op::Halt(_) | Op::Error(_)) {
        return false;
    }
    let is_there = |&v: &VarId| program.vars[v].func().is_none_or(|f| f == state.func());
    program.exprs.vars(e).iter().all(is_there) && state.eval(e).is_true()
}

impl Condition {
    /// The condition with one state that covers no path.
    pub fn nothing() -> Self {
        let mut states = Table::new();
        let initial = states.push(State::default());
        Self { states, initial }
    }

    /// The condition that covers every path.
    pub fn everything() -> Self {
        let mut condition = Self::nothing();
        condition.states[condition.initial].accepting = true;
        condition
    }

    /// Adds a state without transitions.
    pub fn add(&mut self, accepting: bool) -> StateId {
        self.states.push(State { accepting, ..State::default() })
    }

    /// Adds a copy of a state without its transitions.
    fn add_like(&mut self, state: &State) -> StateId {
        self.states.push(State { transitions: Vec::new(), ..*state })
    }

    /// Returns true if some covered paths are verified only together with the residual paths.
    pub fn counts_on_rest(&self) -> bool {
        self.states.values().any(|state| state.with_rest)
    }

    /// The condition restricted to the paths that are verified independently of the residual paths.
    pub fn by_itself(&self) -> Self {
        let mut out = self.clone();
        if !self.counts_on_rest() {
            return out;
        }
        for (_, state) in out.states.iter_mut().filter(|(_, state)| state.with_rest) {
            *state = State::default();
        }
        out.simplified()
    }

    /// The states after an edge, from the states before it. `holds` evaluates assumptions.
    fn step(&self, from: &[StateId], edge: EdgeId, holds: &mut dyn FnMut(ExprId) -> bool) -> Vec<StateId> {
        let mut next: Vec<StateId> = Vec::new();
        for &state in from {
            for t in self.states[state].successors(edge) {
                if !next.contains(&t.to) && t.assumption.is_none_or(&mut *holds) {
                    next.push(t.to);
                }
            }
        }
        next
    }

    /// Returns true if any of the states accepts.
    fn accepts(&self, states: &[StateId]) -> bool {
        states.iter().any(|&q| self.states[q].accepting)
    }

    /// Returns true if the condition covers the path without using any assumption.
    pub fn covers_syntactically(&self, path: &[EdgeId]) -> bool {
        let mut at = vec![self.initial];
        for &edge in path {
            if self.accepts(&at) {
                return true;
            }
            at = self.step(&at, edge, &mut |_| false);
        }
        self.accepts(&at)
    }

    /// Checks the condition. Fails with the first reference to a state, edge or variable that does not exist, or the
    /// first malformed state.
    pub fn check(&self, program: &Program) -> Result<(), String> {
        if self.states.get(self.initial).is_none() {
            return Err(format!("there is no {}", self.initial));
        }
        for (id, state) in self.states.iter() {
            if state.with_rest && !state.accepting {
                return Err(format!("{id} accepts nothing with the rest"));
            }
            check_transitions(id, &state.transitions, self.states.len(), program)?;
            if state.accepting && state.transitions.iter().any(|t| !self.states[t.to].accepting) {
                return Err(format!("{id} is accepting and leads to states that are not"));
            }
        }
        Ok(())
    }

    /// The states from which a state with `is_wanted` is reachable.
    fn coreachable(&self, is_wanted: impl Fn(&State) -> bool) -> Vec<bool> {
        let mut before: Vec<Vec<StateId>> = vec![Vec::new(); self.states.len()];
        for (id, state) in self.states.iter() {
            for t in &state.transitions {
                before[t.to.0 as usize].push(id);
            }
        }
        let mut leads = vec![false; self.states.len()];
        let mut work: Vec<StateId> = self.states.iter().filter(|(_, s)| is_wanted(s)).map(|(id, _)| id).collect();
        while let Some(q) = work.pop() {
            if !std::mem::replace(&mut leads[q.0 as usize], true) {
                work.extend_from_slice(&before[q.0 as usize]);
            }
        }
        leads
    }

    /// Keeps at most the first `most` states in breadth-first order. The result covers fewer paths.
    pub fn truncated(&self, most: usize) -> Self {
        let mut out = Self { states: Table::new(), initial: StateId(0) };
        let mut numbers: FxHashMap<StateId, StateId> = FxHashMap::default();
        numbers.insert(self.initial, out.add_like(&self.states[self.initial]));
        let free = out.add(false);
        let mut order = vec![self.initial];
        let mut next = 0;
        while next < order.len() {
            let old = order[next];
            next += 1;
            let mut transitions = Vec::new();
            let kept = &self.states[old];
            for t in kept.transitions.iter().filter(|_| !kept.accepting) {
                let to = match numbers.get(&t.to) {
                    Some(&to) => to,
                    None if order.len() >= most => free,
                    None => {
                        let to = out.add_like(&self.states[t.to]);
                        numbers.insert(t.to, to);
                        order.push(t.to);
                        to
                    }
                };
                transitions.push(Transition { to, ..t.clone() });
            }
            out.states[numbers[&old]].transitions = transitions;
        }
        out.simplified()
    }

    /// Removes edges and states that lead to no accepting state, since they are equivalent to a state without
    /// transitions. Also removes unreachable states.
    pub fn simplified(&self) -> Self {
        let useful = self.coreachable(|state| state.accepting);
        let mut out = Self { states: Table::new(), initial: StateId(0) };
        let mut number: Vec<Option<StateId>> = vec![None; self.states.len()];
        let mut todo = vec![self.initial];
        number[self.initial.0 as usize] = Some(out.add_like(&self.states[self.initial]));
        // The target of useless named edges. Without it, they would follow the `Others` transition of their state.
        let mut lost = None;
        let mut next = 0;
        while next < todo.len() {
            let old = todo[next];
            next += 1;
            let has_others = self.states[old].transitions.iter().any(|t| t.on == Label::Others);
            let mut transitions = Vec::new();
            for t in &self.states[old].transitions {
                let is_useful = useful[t.to.0 as usize];
                if !is_useful && !has_others {
                    continue;
                }
                let to = match number[t.to.0 as usize] {
                    Some(to) if is_useful => to,
                    _ if !is_useful => *lost.get_or_insert_with(|| out.add(false)),
                    _ => {
                        let to = out.add_like(&self.states[t.to]);
                        number[t.to.0 as usize] = Some(to);
                        todo.push(t.to);
                        to
                    }
                };
                transitions.push(Transition { to, ..t.clone() });
            }
            if useful[old.0 as usize] {
                let id = number[old.0 as usize].expect("numbered before");
                out.states[id].transitions = transitions;
            }
        }
        out
    }
}

/// The fingerprint of a program. A condition belongs to one program, because it names its edges.
pub fn fingerprint(program: &Program) -> String {
    // The folders of source files do not matter.
    let mut program = program.clone();
    for (_, file) in program.files.iter_mut() {
        file.path = file.path.rsplit('/').next().unwrap_or_default().to_owned();
    }
    let digest = Sha256::digest(cfa::text::print(&program).as_bytes());
    digest[..16].iter().map(|b| format!("{b:02x}")).collect()
}

/// An observer of the interpreter that decides whether the condition covers the path of a run.
pub struct Coverage<'c> {
    condition: &'c Condition,
    at: Vec<StateId>,
    covered: bool,
}

impl<'c> Coverage<'c> {
    /// Starts at the initial state.
    pub fn new(condition: &'c Condition) -> Self {
        let at = vec![condition.initial];
        let covered = condition.accepts(&at);
        Self { condition, at, covered }
    }
    /// Returns true if the condition covers the path so far.
    pub fn is_covered(&self) -> bool {
        self.covered
    }
}

impl Observer for Coverage<'_> {
    fn executed(&mut self, edge: EdgeId, state: &Execution) {
        if self.covered || self.at.is_empty() {
            return;
        }
        let next = self.condition.step(&self.at, edge, &mut |e| holds(e, edge, state));
        self.covered = self.condition.accepts(&next);
        self.at = next;
    }
}

#[cfg(test)]
mod tests;
