//! The combiner (Algorithm 2 with Merge), which unites the claims of two automata.

use super::{Coverage, Gia, Says, State};
use crate::condition::{Label, StateId, Transition, named};
use cfa::interp::{Inputs, Interpreter};
use cfa::{ExprId, Program};
use rustc_hash::FxHashMap;
use std::time::Duration;

/// The time limit for the run of a path to a target.
const RUN: Duration = Duration::from_secs(5);

/// The error that one automaton ut-covers a path that the other rt-covers, and no run decides which is right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inconsistent(pub StateId, pub StateId);

impl std::fmt::Display for Inconsistent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "paths to {} of the first and to {} of the second are the same: they are ut in one automaton and rt in the other",
            self.0, self.1
        )
    }
}

impl std::error::Error for Inconsistent {}

/// A state of the result: a state of both automata while their runs agree, otherwise a state of one. The paper has two
/// placeholders for the other: `∘` if only one automaton has the edge, and `•` if conditions or invariants differ. They
/// mean the same for coverage, so there is only one here.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Pair {
    Both(StateId, StateId),
    First(StateId),
    Second(StateId),
}

/// The combination `comb(A1, A2)` (Definition 7). By Theorem 2, `P_ut` and `P_rt` are the unions of those of both
/// automata. Candidates of either automaton are candidates. Common prefixes of paths occur once.
///
/// A test that is defined by its inputs alone names no branches, so it seems to contain paths that it does not take. If
/// the other automaton ut-covers one of these, there is no contradiction: the execution of the test decides.
pub fn combine(a: &Gia, b: &Gia, program: &Program) -> Result<Gia, Inconsistent> {
    let (out, ids) = (Gia::nothing(), FxHashMap::default());
    let mut combiner = Combiner { a, b, out, ids, todo: Vec::new(), contrary: None };
    combiner.run()?;
    match combiner.contrary {
        Some(contrary) if agree(a, b, program) != Some(true) => Err(contrary),
        _ => Ok(combiner.out.simplified()),
    }
}

/// Executes the `rt` tests of each automaton, and returns true if the other automaton ut-covers none of them. `None` if
/// some paths do not fix all their inputs.
pub fn agree(a: &Gia, b: &Gia, program: &Program) -> Option<bool> {
    let interpreter = Interpreter::new(program);
    let mut all_told = true;
    for (known, other) in [(a, b), (b, a)] {
        if !known.has(Says::Reachable) || !other.has(Says::Unreachable) {
            continue;
        }
        let tests = known.tests(program);
        all_told &= !tests.is_empty();
        for test in tests {
            let values = test.values.into_iter().map(|(_, _, value)| value).collect();
            let inputs = Inputs { values, ..Inputs::default() };
            let covered = |gia: &Gia, says: Says| {
                let mut coverage = Coverage::new(gia);
                interpreter.run(&mut inputs.source(), engine::replay_limits(RUN), &mut coverage);
                coverage.is_covered(says)
            };
            match covered(known, Says::Reachable) {
                false => all_told = false,
                true if covered(other, Says::Unreachable) => return Some(false),
                true => {}
            }
        }
    }
    all_told.then_some(true)
}

/// The combination of two automata under construction.
struct Combiner<'a> {
    a: &'a Gia,
    b: &'a Gia,
    out: Gia,
    ids: FxHashMap<Pair, StateId>,
    todo: Vec<Pair>,
    /// The first states that are `ut` in one automaton and `rt` in the other. Their runs continue separately.
    contrary: Option<Inconsistent>,
}

impl Combiner<'_> {
    fn run(&mut self) -> Result<(), Inconsistent> {
        let start = Pair::Both(self.a.initial, self.b.initial);
        self.ids.insert(start, self.out.initial);
        self.out.states[self.out.initial].says = self.says(start)?;
        self.todo.push(start);
        while let Some(pair) = self.todo.pop() {
            let id = self.ids[&pair];
            // Claims about a path hold for all its extensions.
            let says = self.out.states[id].says;
            self.out.states[id].transitions = match says {
                Some(Says::Candidate) => vec![Transition::others(id)],
                Some(_) => Vec::new(),
                None => self.transitions(pair)?,
            };
        }
        Ok(())
    }

    fn says(&self, pair: Pair) -> Result<Option<Says>, Inconsistent> {
        Ok(match pair {
            Pair::First(a) => self.a.states[a].says,
            Pair::Second(b) => self.b.states[b].says,
            Pair::Both(a, b) => match (self.a.states[a].says, self.b.states[b].says) {
                (Some(Says::Unreachable), Some(Says::Reachable)) | (Some(Says::Reachable), Some(Says::Unreachable)) => {
                    return Err(Inconsistent(a, b));
                }
                // The least value is the most certain one. A candidate stays one if the other automaton claims nothing.
                (Some(x), Some(y)) => Some(x.min(y)),
                (Some(x), None) | (None, Some(x)) => Some(x),
                (None, None) => None,
            },
        })
    }

    fn state(&mut self, pair: Pair) -> Result<StateId, Inconsistent> {
        if let Some(&id) = self.ids.get(&pair) {
            return Ok(id);
        }
        let says = self.says(pair)?;
        let invariant = match pair {
            Pair::First(a) | Pair::Both(a, _) => self.a.states[a].invariant,
            Pair::Second(b) => self.b.states[b].invariant,
        };
        let id = self.out.states.push(State { invariant, says, transitions: Vec::new() });
        self.ids.insert(pair, id);
        self.todo.push(pair);
        Ok(id)
    }

    fn transitions(&mut self, pair: Pair) -> Result<Vec<Transition>, Inconsistent> {
        let (a, b) = match pair {
            Pair::Both(a, b) => (Some(&self.a.states[a]), Some(&self.b.states[b])),
            Pair::First(a) => (Some(&self.a.states[a]), None),
            Pair::Second(b) => (None, Some(&self.b.states[b])),
        };
        // The edges that either automaton names; then all others.
        let named = named([a, b].into_iter().flatten().flat_map(|s| &s.transitions));
        let mut out: Vec<Transition> = Vec::new();
        for on in named.into_iter().map(Some).chain([None]) {
            let of = |state: Option<&State>| -> Vec<Transition> {
                let Some(state) = state else { return Vec::new() };
                match on {
                    Some(edge) => state.successors(edge).cloned().collect(),
                    None => state.transitions.iter().filter(|t| t.on == Label::Others).cloned().collect(),
                }
            };
            let merged = self.merge(&of(a), &of(b))?;
            if merged.is_empty() && on.is_some() {
                // The edge is named to exclude it from the `Others` transition.
                let lost = self.out.add(None, None);
                out.push(Transition { on: Label::from_edges(on), assumption: None, to: lost });
            }
            out.extend(merged.into_iter().map(|(assumption, to)| Transition {
                on: on.map_or(Label::Others, |edge| Label::from_edges([edge])),
                assumption,
                to,
            }));
        }
        Ok(joined(out))
    }

    /// The targets of runs that take a transition of either automaton, or of both if their conditions agree.
    fn merge(&mut self, a: &[Transition], b: &[Transition]) -> Result<Vec<(Option<ExprId>, StateId)>, Inconsistent> {
        let mut out = Vec::new();
        let mut push = |found: (Option<ExprId>, StateId)| {
            if !out.contains(&found) {
                out.push(found);
            }
        };
        let (mut met_a, mut met_b) = (vec![false; a.len()], vec![false; b.len()]);
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                let (p, q) = (&self.a.states[x.to], &self.b.states[y.to]);
                // One automaton may cover an extension of a path whose target the other reports. Then the runs continue
                // separately.
                let is_over = |a: &State, b: &State| a.says == Some(Says::Reachable) && b.says.is_none();
                let alike = x.assumption == y.assumption && p.invariant == q.invariant;
                let is_contrary = matches!(
                    (p.says, q.says),
                    (Some(Says::Unreachable), Some(Says::Reachable)) | (Some(Says::Reachable), Some(Says::Unreachable))
                );
                if alike && is_contrary {
                    self.contrary.get_or_insert(Inconsistent(x.to, y.to));
                } else if alike
                    && !is_over(p, q)
                    && !is_over(q, p)
                    && p.says != Some(Says::Candidate)
                    && q.says != Some(Says::Candidate)
                {
                    push((x.assumption, self.state(Pair::Both(x.to, y.to))?));
                    (met_a[i], met_b[j]) = (true, true);
                }
            }
        }
        for (x, _) in a.iter().zip(met_a).filter(|(_, met)| !met) {
            push((x.assumption, self.state(Pair::First(x.to))?));
        }
        for (y, _) in b.iter().zip(met_b).filter(|(_, met)| !met) {
            push((y.assumption, self.state(Pair::Second(y.to))?));
        }
        Ok(out)
    }
}

/// Merges transitions with the same condition and target.
fn joined(transitions: Vec<Transition>) -> Vec<Transition> {
    let mut out: Vec<Transition> = Vec::new();
    for t in transitions {
        let like = |u: &&mut Transition| {
            u.to == t.to && u.assumption == t.assumption && u.on != Label::Others && t.on != Label::Others
        };
        match out.iter_mut().find(like) {
            Some(u) => {
                let (Label::Edges(x), Label::Edges(y)) = (&u.on, &t.on) else { unreachable!("named edges") };
                u.on = Label::from_edges(x.iter().chain(y.iter()).copied());
            }
            None => out.push(t),
        }
    }
    out
}
