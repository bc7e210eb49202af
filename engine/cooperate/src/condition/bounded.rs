//! The condition of bounded model checking: paths on which loops have few iterations.

use super::{Condition, Label, StateId, Transition};
use cfa::graph::CfaGraphs;
use cfa::loops::LoopForest;
use cfa::{CallGraph, EdgeId, FuncId, Id, LocId, Op, Program};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The limit on states that count the iterations of each loop separately. Beyond it, one counter for all loops is used,
/// which covers fewer paths.
const MOST_STATES: usize = 1_000;

/// The effect of an edge on a counter.
#[derive(Clone, Copy)]
enum Effect {
    /// The edge increments this counter.
    Count(usize),
    /// The edge resets this counter.
    Reset(usize),
}

/// The condition that covers paths on which no loop has more than `iterations` iterations between its entry and exit
/// (the last one may be partial), and no recursive function has more nested calls. A path is covered as soon as no
/// counter can change any more, because all its extensions were explored as well.
pub fn within(program: &Program, iterations: u32) -> Condition {
    let counters = Counters::new(program, iterations);
    let ends = counters.ends(program);
    counters.condition(&ends).or_else(|| counters.together().condition(&ends)).unwrap_or_else(Condition::nothing)
}

/// The counters of a program, with the edges that change them.
struct Counters {
    /// The bound of each counter.
    most: Vec<u32>,
    effects: BTreeMap<EdgeId, Vec<Effect>>,
}

impl Counters {
    /// Creates a counter for the back edges of each loop, and one for all calls of recursive functions. Entering a loop
    /// resets its counter. Loops in recursive functions are not reset, because another call may continue the same loop.
    fn new(program: &Program, iterations: u32) -> Self {
        let calls = CallGraph::new(program);
        let mut into: FxHashMap<LocId, Vec<EdgeId>> = FxHashMap::default();
        let mut this = Self { most: Vec::new(), effects: BTreeMap::new() };
        let recursion = this.counter(iterations);
        for (id, edge) in program.edges.iter() {
            // A call reaches its target when it returns, but its effect is counted at its start.
            into.entry(edge.target).or_default().push(id);
            let entered = called(program, &calls, id);
            for &func in &entered {
                into.entry(program.funcs[func].entry).or_default().push(id);
            }
            if entered.into_iter().any(|f| calls.is_recursive(f)) {
                this.add(id, Effect::Count(recursion));
            }
        }
        for (func, graph) in CfaGraphs::new(program).funcs.iter() {
            let forest = LoopForest::new(&graph.graph, 0);
            for (number, l) in forest.loops().iter().enumerate() {
                let counter = this.counter(iterations.saturating_sub(1));
                let body = forest.body(number as u32);
                let body: Vec<LocId> = body.into_iter().map(|node| graph.locs[node as usize]).collect();
                let head = graph.locs[l.head as usize];
                for &edge in into.get(&head).into_iter().flatten() {
                    match body.contains(&program.edges[edge].source) {
                        true => this.add(edge, Effect::Count(counter)),
                        false if !calls.is_recursive(func) => this.add(edge, Effect::Reset(counter)),
                        false => {}
                    }
                }
            }
        }
        this
    }

    fn counter(&mut self, most: u32) -> usize {
        self.most.push(most);
        self.most.len() - 1
    }

    fn add(&mut self, edge: EdgeId, effect: Effect) {
        self.effects.entry(edge).or_default().push(effect);
    }

    /// Replaces all counters by a single one.
    fn together(&self) -> Self {
        let most = self.most.iter().min().map_or(0, |&most| most.min(MOST_STATES as u32 - 1));
        let only = |effect: &&Effect| matches!(effect, Effect::Count(_));
        let counts = |effects: &[Effect]| effects.iter().filter(only).map(|_| Effect::Count(0)).collect::<Vec<_>>();
        let effects = self.effects.iter().map(|(&edge, effects)| (edge, counts(effects)));
        Self { most: vec![most], effects: effects.filter(|(_, effects)| !effects.is_empty()).collect() }
    }

    /// The edges after which no counter can change.
    fn ends(&self, program: &Program) -> Vec<EdgeId> {
        let calls = CallGraph::new(program);
        let next = |id: EdgeId| -> Vec<LocId> {
            let edge = &program.edges[id];
            match edge.op {
                Op::Call { .. } => called(program, &calls, id).into_iter().map(|f| program.funcs[f].entry).collect(),
                Op::Return { .. } => {
                    calls.callers(program.func_of(id)).map(|call| program.edges[call].target).collect()
                }
                Op::Halt(_) | Op::Error(_) => Vec::new(),
                _ => vec![edge.target],
            }
        };
        let counts =
            |id: &EdgeId| self.effects.get(id).is_some_and(|e| e.iter().any(|e| matches!(e, Effect::Count(_))));
        let mut before: Vec<Vec<EdgeId>> = vec![Vec::new(); program.locs.len()];
        for id in program.edges.ids() {
            next(id).into_iter().for_each(|loc| before[loc.index()].push(id));
        }
        let mut may_count = vec![false; program.locs.len()];
        let mut todo: Vec<EdgeId> = program.edges.ids().filter(counts).collect();
        while let Some(edge) = todo.pop() {
            let source = program.edges[edge].source;
            if !std::mem::replace(&mut may_count[source.index()], true) {
                todo.extend(&before[source.index()]);
            }
        }
        let is_end = |id: &EdgeId| {
            let is_last = !next(*id).into_iter().any(|loc| may_count[loc.index()]);
            may_count[program.edges[*id].source.index()] && is_last && !counts(id)
        };
        program.edges.ids().filter(is_end).collect()
    }

    /// The condition; `None` if it has too many states or covers nothing.
    fn condition(&self, ends: &[EdgeId]) -> Option<Condition> {
        let mut out = Condition::nothing();
        let (covered, free) = (out.add(true), out.add(false));
        let begin = vec![0; self.most.len()];
        let mut numbers: FxHashMap<Vec<u32>, StateId> = FxHashMap::default();
        numbers.insert(begin.clone(), out.initial);
        let mut todo = vec![begin];
        while let Some(counts) = todo.pop() {
            let state = numbers[&counts];
            let mut by_state: BTreeMap<StateId, Vec<EdgeId>> = BTreeMap::new();
            for (&edge, effects) in &self.effects {
                let to = match self.after(&counts, effects) {
                    None => free,
                    Some(next) if next == counts => continue,
                    Some(next) => *numbers.entry(next).or_insert_with_key(|next| {
                        todo.push(next.clone());
                        out.add(false)
                    }),
                };
                by_state.entry(to).or_default().push(edge);
            }
            if numbers.len() > MOST_STATES {
                return None;
            }
            by_state.insert(covered, ends.to_vec());
            let named =
                by_state.into_iter().map(|(to, on)| Transition { on: Label::from_edges(on), assumption: None, to });
            out.states[state].transitions = named.chain([Transition::others(state)]).collect();
        }
        (!ends.is_empty()).then(|| out.simplified())
    }

    /// The counters after an edge; `None` if one exceeds its bound.
    fn after(&self, counts: &[u32], effects: &[Effect]) -> Option<Vec<u32>> {
        let mut next = counts.to_vec();
        for effect in effects {
            match *effect {
                Effect::Count(i) => next[i] += 1,
                Effect::Reset(i) => next[i] = 0,
            }
        }
        next.iter().zip(&self.most).all(|(count, most)| count <= most).then_some(next)
    }
}

/// The functions that an edge enters, if it is a call.
fn called(program: &Program, calls: &CallGraph, edge: EdgeId) -> Vec<FuncId> {
    match program.edges[edge].op {
        Op::Call { .. } => calls.callees(program, edge).as_slice().to_vec(),
        _ => Vec::new(),
    }
}
