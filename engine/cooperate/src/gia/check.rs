//! Checks the claims of a GIA about a program (Definition 4).
//!
//! An execution refutes a claim if it is ut-covered and executes a target, or if it is rt-covered and ends without one.
//! The product of the GIA with a small automaton that watches for targets or ends accepts such executions. The engine
//! decides whether one of them is feasible. `rt` claims are also confirmed by execution: if the automaton fixes all
//! inputs on the way to a state, finitely many executions reach the state, and each is run.

use super::{Coverage, Gia, Says};
use crate::condition::{self, Condition, Label, StateId, Transition};
use crate::reduce::Reducer;
use crate::restrict::question;
use cfa::interp::{
    InputSource, Inputs, Interpreter, LimitKind, ObjectSeq, Observer, Outcome, Run, State as Execution, Unknown,
};
use cfa::wording::counted;
use cfa::{Bv, CallGraph, EdgeId, ExprId, HaltKind, LocId, Op, Program, Table};
use engine::budget::Budget;
use engine::termination::{Termination, terminates};
use engine::{Config, Reason, Verdict};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::time::Duration;

/// The time limit of a replay.
const REPLAY: Duration = Duration::from_secs(20);
/// The maximal number of executions.
const MOST_RUNS: usize = 10_000;

/// The target edges: error edges, or the goals of a test suite. A faulting operation is a target without being listed.
pub struct Targets {
    edges: FxHashSet<EdgeId>,
}

impl Targets {
    /// The error edges of a program.
    pub fn errors(program: &Program) -> Self {
        let errors = program.edges.iter().filter(|(_, edge)| matches!(edge.op, Op::Error(_)));
        Self::from_edges(errors.map(|(id, _)| id))
    }

    /// The given edges as targets.
    pub fn from_edges(edges: impl IntoIterator<Item = EdgeId>) -> Self {
        Self { edges: edges.into_iter().collect() }
    }

    /// Returns true if a run with this path and outcome executes a target.
    pub fn are_hit(&self, path: &[EdgeId], outcome: Outcome, program: &Program) -> bool {
        outcome.error(program).is_some() || path.iter().any(|edge| self.edges.contains(edge))
    }
}

/// The result of checking one kind of claim. All claims hold if both `wrong` and `open` are empty.
#[derive(Default, Debug)]
pub struct Checked {
    /// The claims that an execution refutes.
    pub wrong: Vec<String>,
    /// The claims that are neither confirmed nor refuted.
    pub open: Vec<String>,
    /// The confirmed claims, for users.
    pub shown: Vec<String>,
}

/// Checks that no ut-covered execution ever executes a target.
pub fn unreachable(gia: &Gia, program: &mut Program, targets: &Targets, config: &Config, budget: &Budget) -> Checked {
    let mut checked = Checked::default();
    if !gia.has(Says::Unreachable) {
        return checked;
    }
    let watch = Gia::watching(&targets.edges, &FxHashSet::default());
    let refuting = both([(gia, Says::Unreachable), (&watch, Says::Reachable)], program);
    let is_one = |seen: &Seen| seen.is_covered(Says::Unreachable) && seen.is_hit;
    match find(program, &refuting, &[gia], targets, &is_one, config, budget) {
        Ok(None) => checked.shown.push("ut: proved: no path that is ut reaches a target".into()),
        Ok(Some(found)) => {
            let inputs = show(program, &found.inputs);
            let what = found.run.outcome.error(program).map(|(error, edge)| described(program, error, edge));
            let what = what.map_or_else(|| "a goal".into(), |what| format!("a target: {what}"));
            checked.wrong.push(format!("ut: a path that is ut-covered reaches {what}{inputs}"));
        }
        Err(reason) => checked.open.push(format!("ut: not proved: {}", reason.text)),
    }
    checked
}

/// Checks that every rt-covered execution executes a target, and that each path to `rt` has such executions.
pub fn reachable(gia: &Gia, program: &mut Program, targets: &Targets, config: &Config, budget: &Budget) -> Checked {
    let mut checked = Checked::default();
    if !gia.has(Says::Reachable) {
        return checked;
    }
    let runs = Runs::enumerate(gia, program, targets, budget);
    let all = runs.ways.len();
    let mut replayed = 0;
    for (n, way) in (1..).zip(&runs.ways) {
        let inputs = || show(program, &way.inputs);
        match way.end {
            FixedRunEnd::Hit => replayed += 1,
            FixedRunEnd::Approximated => {
                checked.open.push(format!("rt: path {n} contains an operation that is not modelled exactly"));
            }
            FixedRunEnd::Elsewhere => {
                checked
                    .open
                    .push(format!("rt: the run of path {n} takes another path: some of its inputs have no value"));
            }
            FixedRunEnd::Missed(outcome) => checked.wrong.push(format!(
                "rt: path {n} is feasible, but reaches no target{}: {}",
                inputs(),
                ended(outcome)
            )),
            FixedRunEnd::Unclear(outcome) => {
                checked.open.push(format!("rt: the run of path {n} reaches no target: {}", ended(outcome)));
            }
        }
    }
    checked.shown.push(format!("rt: {replayed} of {} replayed to a target", counted(all, "path")));
    if replayed == 0 && checked.wrong.is_empty() && checked.open.is_empty() {
        checked.open.push("rt: no `rt` path has inputs".into());
    }
    if checked.wrong.is_empty() {
        checked.open.extend(runs.missing(gia, program));
    }
    let Some(loose) = runs.loose.filter(|_| checked.wrong.is_empty()) else { return checked };
    match all_hit(gia, program, targets, config, budget) {
        Ok(None) => checked.shown.push("rt: proved: every path that is rt reaches a target".into()),
        Ok(Some(found)) => {
            let inputs = show(program, &found.inputs);
            let outcome = ended(found.run.outcome);
            checked.wrong.push(format!("rt: a path that is rt-covered reaches no target{inputs}: {outcome}"));
        }
        Err(reason) => {
            checked.open.push(format!(
                "rt: {loose}, and it is not proved that every such path reaches a target: {}",
                reason.text
            ));
        }
    }
    checked
}

/// An execution that is ut-covered by one automaton and rt-covered by the other, if there is one.
pub fn contradiction(
    a: &Gia,
    b: &Gia,
    program: &mut Program,
    config: &Config,
    budget: &Budget,
) -> Result<Option<String>, Reason> {
    for (known, other) in [(a, b), (b, a)] {
        if !known.has(Says::Reachable) || !other.has(Says::Unreachable) {
            continue;
        }
        let contrary = both([(known, Says::Reachable), (other, Says::Unreachable)], program);
        let is_one = |seen: &Seen| seen.says(0, Says::Reachable) && seen.says(1, Says::Unreachable);
        let found = find(program, &contrary, &[known, other], &Targets::from_edges([]), &is_one, config, budget)?;
        if let Some(found) = found {
            return Ok(Some(show(program, &found.inputs)));
        }
    }
    Ok(None)
}

/// An rt-covered execution that never executes a target, or `None` if there provably is none.
fn all_hit(
    gia: &Gia,
    program: &mut Program,
    targets: &Targets,
    config: &Config,
    budget: &Budget,
) -> Result<Option<FoundExecution>, Reason> {
    let ends = ends(program).ok_or_else(|| Reason::new("the function that the program starts with is called again"))?;
    let watch = Gia::watching(&ends, &targets.edges);
    let refuting = both([(gia, Says::Reachable), (&watch, Says::Reachable)], program);
    let is_one = |seen: &Seen| seen.is_covered(Says::Reachable) && !seen.is_hit && seen.has_ended();
    if let Some(found) = find(program, &refuting, &[gia], targets, &is_one, config, budget)? {
        return Ok(Some(found));
    }
    // Infinite executions reach no target either.
    let others = gia.beside(Says::Reachable);
    let part = crate::reduce::reduce(program, &others, Reducer::Separate)
        .map_err(|e| Reason::new(format!("there are too many paths: {e}")))?;
    match terminates(&part.program, config, budget, &|_| {}).answer {
        Termination::Ends(_) => Ok(None),
        _ => Err(Reason::new("some may not terminate")),
    }
}

/// The edges that end executions, except errors and assumptions. `None` if some of them may only end a call.
fn ends(program: &Program) -> Option<FxHashSet<EdgeId>> {
    let calls = CallGraph::new(program);
    if calls.callers(program.entry).next().is_some() {
        return None;
    }
    let is_end = |(id, edge): &(EdgeId, &cfa::Edge)| match edge.op {
        Op::Halt(kind) => kind != HaltKind::Assumed,
        Op::Return { .. } => program.func_of(*id) == program.entry,
        _ => false,
    };
    Some(program.edges.iter().filter(is_end).map(|(id, _)| id).collect())
}

impl Gia {
    /// The automaton that rt-covers the paths with an edge in `edges` and no edge in `others` before it.
    fn watching(edges: &FxHashSet<EdgeId>, others: &FxHashSet<EdgeId>) -> Self {
        let mut gia = Self::nothing();
        let (at, seen, lost) = (gia.initial, gia.add(Some(Says::Reachable), None), gia.add(None, None));
        let on = |edges: &mut dyn Iterator<Item = EdgeId>, to| Transition {
            on: Label::from_edges(edges),
            assumption: None,
            to,
        };
        gia.states[at].transitions = vec![
            on(&mut edges.difference(others).copied(), seen),
            on(&mut others.iter().copied(), lost),
            Transition::others(at),
        ];
        gia
    }
}

/// The state of a run in one component of a product.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Side {
    /// The component is in this state.
    At(StateId),
    /// The path is covered, and so are its extensions.
    Said,
}

/// The automaton that accepts the paths that both automata cover in the given way. It ignores conditions on calls, so
/// it accepts more paths.
fn both(automata: [(&Gia, Says); 2], program: &mut Program) -> Condition {
    let mut product = Product {
        automata,
        useful: automata.map(|(gia, says)| gia.useful(|s| s == Some(says))),
        calls: Label::from_edges(
            program.edges.iter().filter(|(_, e)| matches!(e.op, Op::Call { .. })).map(|(id, _)| id),
        ),
        out: Condition { states: Table::new(), initial: StateId(0) },
        ids: FxHashMap::default(),
        todo: Vec::new(),
    };
    let start = [0, 1].map(|i| product.side(i, automata[i].0.initial));
    product.out.initial = product.state(start);
    while let Some((id, pair)) = product.todo.pop() {
        product.out.states[id].transitions = product.transitions(pair, program);
    }
    product.out.simplified()
}

/// The product of two automata under construction.
struct Product<'a> {
    automata: [(&'a Gia, Says); 2],
    useful: [Vec<bool>; 2],
    calls: Label,
    out: Condition,
    ids: FxHashMap<[Side; 2], StateId>,
    todo: Vec<(StateId, [Side; 2])>,
}

impl Product<'_> {
    fn side(&self, i: usize, state: StateId) -> Side {
        let (gia, says) = self.automata[i];
        if gia.states[state].says == Some(says) { Side::Said } else { Side::At(state) }
    }

    fn state(&mut self, pair: [Side; 2]) -> StateId {
        if let Some(&id) = self.ids.get(&pair) {
            return id;
        }
        let id = self.out.add(pair == [Side::Said; 2]);
        self.ids.insert(pair, id);
        if !self.out.states[id].accepting {
            self.todo.push((id, pair));
        }
        id
    }

    /// The transitions of one component.
    fn own(&self, i: usize, side: Side) -> &[Transition] {
        match side {
            Side::At(state) => &self.automata[i].0.states[state].transitions,
            Side::Said => &[],
        }
    }

    /// The steps of one component on an edge. `None` represents the edges that neither component names.
    fn steps(&self, i: usize, side: Side, edge: Option<EdgeId>, program: &mut Program) -> Vec<(Option<ExprId>, Side)> {
        let Side::At(state) = side else { return vec![(None, Side::Said)] };
        let gia = self.automata[i].0;
        let is_call = edge.is_some_and(|edge| matches!(program.edges[edge].op, Op::Call { .. }));
        let taken: Vec<&Transition> = match edge {
            Some(edge) => gia.states[state].successors(edge).collect(),
            None => gia.states[state].transitions.iter().filter(|t| t.on == Label::Others).collect(),
        };
        let mut out = Vec::new();
        for t in taken.into_iter().filter(|t| self.useful[i][t.to.0 as usize]) {
            let under = and(program, [t.assumption, gia.states[t.to].invariant]).filter(|_| !is_call);
            out.push((under, self.side(i, t.to)));
        }
        out
    }

    fn transitions(&mut self, pair: [Side; 2], program: &mut Program) -> Vec<Transition> {
        // Edges with the same labels take the same transitions.
        let mut labels: Vec<&Label> = Vec::new();
        for (i, &side) in pair.iter().enumerate() {
            for t in self.own(i, side) {
                let is_conditional = t.assumption.is_some() || self.automata[i].0.states[t.to].invariant.is_some();
                labels.push(if t.on == Label::Others && is_conditional { &self.calls } else { &t.on });
            }
        }
        let mut signatures: FxHashMap<EdgeId, Vec<usize>> = FxHashMap::default();
        for (n, label) in labels.into_iter().enumerate() {
            if let Label::Edges(edges) = label {
                edges.iter().for_each(|&edge| signatures.entry(edge).or_default().push(n));
            }
        }
        let mut classes: FxHashMap<(bool, Vec<usize>), Vec<EdgeId>> = FxHashMap::default();
        for (edge, signature) in signatures {
            // Calls have no conditions, so they are separate from other edges with the same labels.
            let is_call = matches!(program.edges[edge].op, Op::Call { .. });
            classes.entry((is_call, signature)).or_default().push(edge);
        }
        let mut named: Vec<Vec<EdgeId>> = classes.into_values().collect();
        named.iter_mut().for_each(|class| class.sort_unstable());
        named.sort_unstable();
        let mut out = Vec::new();
        for class in named.into_iter().map(Some).chain([None]) {
            let edge = class.as_ref().map(|class| class[0]);
            let [first, second] = [0, 1].map(|i| self.steps(i, pair[i], edge, program));
            let on = || class.as_ref().map_or(Label::Others, |class| Label::from_edges(class.iter().copied()));
            let before = out.len();
            for &(a, to_a) in &first {
                for &(b, to_b) in &second {
                    let assumption = and(program, [a, b]);
                    out.push(Transition { on: on(), assumption, to: self.state([to_a, to_b]) });
                }
            }
            if out.len() == before && class.is_some() {
                // These edges are named to exclude them from the `Others` transition.
                let lost = self.out.add(false);
                out.push(Transition { on: on(), assumption: None, to: lost });
            }
        }
        out
    }
}

fn and(program: &mut Program, of: [Option<ExprId>; 2]) -> Option<ExprId> {
    match of {
        [Some(a), Some(b)] => Some(program.exprs.and(a, b)),
        [a, b] => a.or(b),
    }
}

/// An execution with its inputs.
struct FoundExecution {
    inputs: Inputs,
    run: Run,
}

/// The observations of a run.
struct Seen<'g> {
    coverages: Vec<Coverage<'g>>,
    targets: &'g Targets,
    is_hit: bool,
    outcome: Option<Outcome>,
}

impl Seen<'_> {
    fn says(&self, i: usize, says: Says) -> bool {
        self.coverages[i].is_covered(says)
    }
    fn is_covered(&self, says: Says) -> bool {
        self.says(0, says)
    }
    fn has_ended(&self) -> bool {
        self.outcome.is_some_and(is_end)
    }
}

/// Returns true if a run with this outcome cannot reach a target any more.
fn is_end(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Exit(_) | Outcome::Abort | Outcome::Unreachable | Outcome::Limit(LimitKind::Endless))
}

impl Observer for Seen<'_> {
    fn executed(&mut self, edge: EdgeId, state: &Execution) {
        self.is_hit |= self.targets.edges.contains(&edge);
        self.coverages.iter_mut().for_each(|coverage| coverage.executed(edge, state));
    }
}

/// Finds an execution that the automaton accepts and that satisfies `is_one` when it is run. `None` if there provably
/// is none.
fn find(
    program: &Program,
    accepted: &Condition,
    automata: &[&Gia],
    targets: &Targets,
    is_one: &(dyn Fn(&Seen) -> bool + Sync),
    config: &Config,
    budget: &Budget,
) -> Result<Option<FoundExecution>, Reason> {
    let asked = question(program, accepted).map_err(|e| Reason::new(format!("there are too many paths: {e}")))?;
    let interpreter = Interpreter::new(program);
    let run = |inputs: &Inputs| {
        let coverages = automata.iter().map(|gia| Coverage::new(gia)).collect();
        let mut seen = Seen { coverages, targets, is_hit: false, outcome: None };
        let run = interpreter.run(&mut inputs.source(), engine::replay_limits(REPLAY), &mut seen);
        seen.is_hit |= run.outcome.error(program).is_some();
        seen.outcome = Some(run.outcome);
        let is_exact = !run.taints.iter().any(|&t| program.taints[t].over);
        (is_exact && is_one(&seen)).then_some(run)
    };
    let replay = |inputs: &Inputs, _| match run(inputs) {
        Some(_) => Ok((inputs.clone(), Vec::new())),
        None => Err("the run has other results".to_owned()),
    };
    match engine::verify(&asked, config, budget, &replay, &|_| {}).verdict {
        Verdict::True => Ok(None),
        Verdict::Unknown(reason) => Err(reason),
        Verdict::False(found) => match run(&found.inputs) {
            Some(run) => Ok(Some(FoundExecution { inputs: found.inputs, run })),
            None => Err(Reason::new("an execution was found, but its replay ends in another way")),
        },
    }
}

/// An execution with the inputs that the automaton fixes.
struct FixedRun {
    inputs: Inputs,
    end: FixedRunEnd,
}

/// The end of a run, compared with the `rt` claims of an automaton.
enum FixedRunEnd {
    /// The run is rt-covered and executed a target.
    Hit,
    /// The run is rt-covered and ended without a target.
    Missed(Outcome),
    /// The run is rt-covered, and it is unknown whether a target follows.
    Unclear(Outcome),
    /// The run reached an over-approximation.
    Approximated,
    /// The run is not rt-covered.
    Elsewhere,
}

/// The executions that an automaton leads to `rt`, with the values that it fixes for inputs.
struct Runs {
    ways: Vec<FixedRun>,
    /// The reason why there may be further executions.
    loose: Option<String>,
    /// The steps to `rt` of runs to a target, and the states that these runs visited.
    entered: FxHashSet<Step>,
    visited: FxHashSet<StateId>,
}

/// A step to a state: an edge (`None` for the others), a condition, and the state.
type Step = (Option<EdgeId>, Option<ExprId>, StateId);

impl Runs {
    fn enumerate(gia: &Gia, program: &Program, targets: &Targets, budget: &Budget) -> Self {
        let interpreter = Interpreter::new(program);
        let useful = gia.useful(|says| says == Some(Says::Reachable));
        let mut runs =
            Self { ways: Vec::new(), loose: None, entered: FxHashSet::default(), visited: FxHashSet::default() };
        // The choices for inputs that the automaton fixes to several values.
        let mut todo: Vec<Vec<usize>> = vec![Vec::new()];
        while let Some(choices) = todo.pop() {
            if runs.ways.len() >= MOST_RUNS || budget.spent().is_some() {
                runs.loose.get_or_insert("not all paths were executed".into());
                break;
            }
            let follower = RefCell::new(Follower::new(gia, program, targets, &useful, choices));
            let run = interpreter.run(&mut Fixing(&follower), engine::replay_limits(REPLAY), &mut Following(&follower));
            let mut follower = follower.into_inner();
            follower.is_hit |= run.outcome.error(program).is_some();
            todo.append(&mut follower.alternatives);
            let is_way = follower.is_covered || !follower.choices.is_empty();
            if let Some(loose) = follower.loose {
                runs.loose.get_or_insert(loose);
            }
            if !is_way {
                continue;
            }
            let end = match run.outcome {
                _ if !follower.is_covered => FixedRunEnd::Elsewhere,
                _ if run.taints.iter().any(|&t| program.taints[t].over) => FixedRunEnd::Approximated,
                _ if follower.is_hit => FixedRunEnd::Hit,
                outcome if is_end(outcome) => FixedRunEnd::Missed(outcome),
                outcome => FixedRunEnd::Unclear(outcome),
            };
            if matches!(end, FixedRunEnd::Hit) {
                runs.entered.extend(follower.entered);
                runs.visited.extend(follower.visited);
            }
            runs.ways.push(FixedRun { inputs: follower.inputs, end });
        }
        runs
    }

    /// The steps to `rt` from visited states that no run takes.
    fn missing(&self, gia: &Gia, program: &Program) -> Vec<String> {
        let mut out = Vec::new();
        for (from, state) in gia.states.iter().filter(|(id, s)| s.says.is_none() && self.visited.contains(id)) {
            for t in state.transitions.iter().filter(|t| gia.states[t.to].says == Some(Says::Reachable)) {
                let edges: Vec<Option<EdgeId>> = match &t.on {
                    Label::Others => vec![None],
                    Label::Edges(edges) => edges.iter().copied().map(Some).collect(),
                };
                for edge in edges.into_iter().filter(|&edge| !self.entered.contains(&(edge, t.assumption, t.to))) {
                    let name = edge.map_or_else(|| "*".into(), |edge| edge.to_string());
                    let what = edge.map(|edge| condition::text::describe(edge, t.assumption, program));
                    let what = what.map_or_else(String::new, |what| format!(" ({what})"));
                    out.push(format!("rt: no run to a target goes from {from} to {} by {name}{what}", t.to));
                }
            }
        }
        out
    }
}

/// Follows a run in the automaton and chooses its inputs.
struct Follower<'g> {
    gia: &'g Gia,
    program: &'g Program,
    targets: &'g Targets,
    useful: &'g [bool],
    at: Vec<StateId>,
    is_covered: bool,
    is_hit: bool,
    /// The current location, and the active calls.
    loc: LocId,
    calls: Vec<EdgeId>,
    /// For each input with several fixed values, the index of the chosen one.
    choices: Vec<usize>,
    chosen: usize,
    /// The choices of further runs.
    alternatives: Vec<Vec<usize>>,
    inputs: Inputs,
    loose: Option<String>,
    entered: Vec<Step>,
    visited: Vec<StateId>,
}

impl<'g> Follower<'g> {
    fn new(gia: &'g Gia, program: &'g Program, targets: &'g Targets, useful: &'g [bool], choices: Vec<usize>) -> Self {
        Self {
            gia,
            program,
            targets,
            useful,
            at: vec![gia.initial],
            is_covered: gia.states[gia.initial].says == Some(Says::Reachable),
            is_hit: false,
            loc: program.funcs[program.entry].entry,
            calls: Vec::new(),
            choices,
            chosen: 0,
            alternatives: Vec::new(),
            inputs: Inputs::default(),
            loose: None,
            entered: Vec::new(),
            visited: vec![gia.initial],
        }
    }

    /// Returns true if the value of an input may still affect the claim.
    fn is_open(&self) -> bool {
        match self.is_covered {
            true => !self.is_hit,
            false => self.at.iter().any(|q| self.useful[q.0 as usize]),
        }
    }

    fn note_loose(&mut self, what: String) {
        if self.is_open() {
            self.loose.get_or_insert(what);
        }
    }

    /// The value of the input that the edge at the current location reads.
    fn input(&mut self, width: u32) -> Bv {
        let edge = self.program.out_edges(self.loc).next();
        let Some((edge, Op::Havoc { var, .. })) = edge.map(|edge| (edge, &self.program.edges[edge].op)) else {
            self.note_loose("the value of an input is not fixed".into());
            return Bv::zero(width);
        };
        let place = || match self.program.edges[edge].place.map(|p| self.program.places[p]) {
            Some(place) => format!("the input at {}:{} is not fixed", self.program.files[place.file].path, place.line),
            None => "an input is not fixed".to_owned(),
        };
        let (mut values, mut is_free): (Vec<Bv>, bool) = (Vec::new(), self.is_covered);
        if !self.is_covered {
            let next = self.at.iter().flat_map(|&q| self.gia.states[q].successors(edge));
            for t in next.filter(|t| self.useful[t.to.0 as usize]) {
                let conditions = [t.assumption, self.gia.states[t.to].invariant].into_iter().flatten();
                let mut fixed = conditions.filter_map(|e| super::convert::fixed(self.program, e, *var));
                match fixed.next() {
                    Some(value) if values.contains(&value) => {}
                    Some(value) => values.push(value),
                    None => is_free = true,
                }
            }
        }
        if is_free {
            let place = place();
            self.note_loose(place);
        }
        if values.is_empty() {
            return Bv::zero(width);
        }
        if self.chosen == self.choices.len() {
            let others = (1..values.len()).map(|i| self.choices.iter().copied().chain([i]).collect());
            self.alternatives.extend(others.collect::<Vec<_>>());
            self.choices.push(0);
        }
        self.chosen += 1;
        values[self.choices[self.chosen - 1]].clone()
    }

    fn executed(&mut self, edge: EdgeId, state: &Execution) {
        self.is_hit |= self.targets.edges.contains(&edge);
        let op = &self.program.edges[edge].op;
        self.loc = match op {
            Op::Call { .. } => {
                self.calls.push(edge);
                self.program.funcs[state.func()].entry
            }
            Op::Return { .. } => self.calls.pop().map_or(self.loc, |call| self.program.edges[call].target),
            _ => self.program.edges[edge].target,
        };
        let mut next: Vec<StateId> = Vec::new();
        for &q in &self.at {
            for t in self.gia.states[q].successors(edge) {
                let holds = |e: ExprId| condition::holds(e, edge, state);
                let target = &self.gia.states[t.to];
                if t.assumption.is_none_or(holds) && target.invariant.is_none_or(holds) {
                    if target.says == Some(Says::Reachable) {
                        self.is_covered = true;
                        let on = (t.on != Label::Others).then_some(edge);
                        self.entered.push((on, t.assumption, t.to));
                    }
                    if !next.contains(&t.to) {
                        next.push(t.to);
                    }
                }
            }
        }
        if next != self.at {
            self.visited.extend(&next);
            self.at = next;
        }
    }
}

/// A follower as the source of inputs.
struct Fixing<'a, 'g>(&'a RefCell<Follower<'g>>);

impl InputSource for Fixing<'_, '_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        let mut follower = self.0.borrow_mut();
        let value = match what {
            Unknown::Havoc(_) => follower.input(width),
            _ => {
                follower.note_loose("the value of an undefined function or variable is not fixed".into());
                Bv::zero(width)
            }
        };
        if !matches!(what, Unknown::Global(_)) {
            follower.inputs.values.push(value.clone());
        }
        value
    }
    fn bytes(&mut self, _: ObjectSeq, _: u64, _: &mut [u8]) {
        let what = "memory has contents that are not fixed";
        self.0.borrow_mut().note_loose(what.into());
    }
}

/// A follower as the observer of a run.
struct Following<'a, 'g>(&'a RefCell<Follower<'g>>);

impl Observer for Following<'_, '_> {
    fn executed(&mut self, edge: EdgeId, state: &Execution) {
        self.0.borrow_mut().executed(edge, state);
    }
}

/// The inputs of a run, for users.
fn show(program: &Program, inputs: &Inputs) -> String {
    /// The maximal number of values shown.
    const MOST: usize = 8;
    struct Named<'a, S> {
        program: &'a Program,
        source: S,
        values: Vec<String>,
    }
    impl<S: InputSource> InputSource for Named<'_, S> {
        fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
            let value = self.source.unknown(what, width).resize(width);
            if let Unknown::Havoc(input) = what {
                self.values.push(self.program.show_value(self.program.inputs[input].ty, &value));
            }
            value
        }
        fn bytes(&mut self, object: ObjectSeq, offset: u64, bytes: &mut [u8]) {
            self.source.bytes(object, offset, bytes);
        }
        fn base(&mut self, object: ObjectSeq, size: u64, align: u32) -> Option<u64> {
            self.source.base(object, size, align)
        }
    }
    let mut named = Named { program, source: inputs.source(), values: Vec::new() };
    Interpreter::new(program).run(&mut named, engine::replay_limits(REPLAY), &mut ());
    match named.values.len() {
        0 => String::new(),
        1..=MOST => format!(" (inputs: {})", named.values.join(", ")),
        n => format!(" (inputs: {}, … {n} in all)", named.values[..MOST].join(", ")),
    }
}

/// The end of a run, for users.
fn ended(outcome: Outcome) -> String {
    match outcome {
        Outcome::Exit(status) => format!("the program ends with exit({status})"),
        Outcome::Abort => "the program aborts".into(),
        Outcome::Limit(LimitKind::Endless) => "the program does not terminate".into(),
        other => other.to_string(),
    }
}

/// The message of an error, with its place.
pub fn described(program: &Program, error: cfa::ErrorId, edge: EdgeId) -> String {
    let info = &program.errors[error];
    let place = program.edges[edge].place.or(info.place).map(|p| program.places[p]);
    let spot = place.map_or_else(String::new, |p| format!(" ({}:{})", program.files[p.file].path, p.line));
    format!("{}{spot}", info.message)
}
