//! The combiner (Algorithm 2 with Merge): what two automata say, in one.

use super::{Coverage, Gia, Says, State};
use crate::condition::{Label, StateId, Transition};
use cfa::interp::{Inputs, Interpreter};
use cfa::{EdgeId, ExprId, Program};
use rustc_hash::FxHashMap;
use std::time::Duration;

/// What the run of one path to a target may take.
const RUN: Duration = Duration::from_secs(5);

/// One says that a path reaches no target, the other that it reaches one, and no run shows that there is no such execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inconsistent(pub StateId, pub StateId);

impl std::fmt::Display for Inconsistent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "paths to {} of the first and to {} of the second are the same: one says ut, the other rt",
            self.0, self.1
        )
    }
}

impl std::error::Error for Inconsistent {}

/// A state of the result: of both automata while their runs agree, else of one, with a placeholder for the other. The paper's two
/// placeholders (`∘` where only one has the edge, `•` where conditions or invariants differ) mean the same for coverage, and are one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Pair {
    Both(StateId, StateId),
    First(StateId),
    Second(StateId),
}

/// `comb(A1, A2)` (Definition 7): `P_ut` and `P_rt` are the unions of those of both, by Theorem 2. Candidates of either are candidates.
/// Where both know the same beginning of a path, it is there once.
///
/// A run that is told by its inputs alone names no branches, so paths that it does not take seem to be its own. That one of these is `ut`
/// by the other is no contradiction: runs decide.
pub fn combine(a: &Gia, b: &Gia, program: &Program) -> Result<Gia, Inconsistent> {
    let (out, ids) = (Gia::nothing(), FxHashMap::default());
    let mut combiner = Combiner { a, b, out, ids, todo: Vec::new(), contrary: None };
    combiner.run()?;
    match combiner.contrary {
        Some(contrary) if agree(a, b, program) != Some(true) => Err(contrary),
        _ => Ok(combiner.out.simplified()),
    }
}

/// Whether executions that are `rt` by one automaton are not `ut` by the other, by running them; `None` if some are not told by all of their
/// inputs.
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

struct Combiner<'a> {
    a: &'a Gia,
    b: &'a Gia,
    out: Gia,
    ids: FxHashMap<Pair, StateId>,
    todo: Vec<Pair>,
    /// The first states that one says to be `ut` and the other `rt`: whose runs go on alone.
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
            // What was said of a path holds for all that follows.
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
                // Least is most certain; a candidate is one where the other says nothing.
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
        // The edges that one of them names; then all others.
        let mut named: Vec<EdgeId> = Vec::new();
        for t in [a, b].into_iter().flatten().flat_map(|s| &s.transitions) {
            if let Label::Edges(edges) = &t.on {
                named.extend(edges.iter());
            }
        }
        named.sort_unstable();
        named.dedup();
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
                // The edge was named so that it is not among the others.
                let lost = self.out.add(None, None);
                out.push(Transition { on: Label::of(on), assumption: None, to: lost });
            }
            out.extend(merged.into_iter().map(|(assumption, to)| Transition {
                on: on.map_or(Label::Others, |edge| Label::of([edge])),
                assumption,
                to,
            }));
        }
        Ok(joined(out))
    }

    /// Where runs go that take one transition of either, or both at once where these ask for the same.
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
                // What follows a path to a target may be said to reach none by the other: then runs go on alone.
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

/// Transitions under the same condition to the same state are one.
fn joined(transitions: Vec<Transition>) -> Vec<Transition> {
    let mut out: Vec<Transition> = Vec::new();
    for t in transitions {
        let like = |u: &&mut Transition| {
            u.to == t.to && u.assumption == t.assumption && u.on != Label::Others && t.on != Label::Others
        };
        match out.iter_mut().find(like) {
            Some(u) => {
                let (Label::Edges(x), Label::Edges(y)) = (&u.on, &t.on) else { unreachable!("named edges") };
                u.on = Label::of(x.iter().chain(y.iter()).copied());
            }
            None => out.push(t),
        }
    }
    out
}
