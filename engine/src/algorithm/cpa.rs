//! The CPA algorithm: from a waitlist of states into a reached set, one block at a time (Beyer, Henzinger, Théoduloz:
//! Configurable software verification, CAV 2007; with precision adjustment, ASE 2008; blocks as in adjustable-block
//! encoding, Beyer, Keremoglu, Wendler, FMCAD 2010).
//!
//! One loop for exploration path by path, merged and abstracted. Straight-line code is one step: states wait only where
//! paths fork, where they are merged, and where a step grows too long. What is kept of the states reached is a type
//! parameter ([`Reached`]). Early return, also by error, puts the unfinished state back into the waitlist, so what a run
//! has proved stays true.

use super::{Counters, Exploration};
use crate::budget::{Budget, Spent};
use crate::control::{CallStacks, Control};
use crate::cpa::{At, Cpa, Decision, Goal, Stop, Successors, Target};
use crate::frontier::Open;
use crate::reached::{Adjusted, Forgotten, From, Reached};
use crate::verdict::{Reason, Taints};
use crate::waitlist::{JoinKey, JoinOrder, JoinQueue, Rank, Search, Waitlist, distances};
use cfa::{Callee, EdgeId, ErrorId, FuncId, Id, Op, Out, Program};

/// Edges followed in one step before the state goes back to the waitlist, for fairness.
const BLOCK: u32 = 50_000;
/// Edges between looks at the clock.
const TICK: u32 = 512;
/// Edges that a split by a value counts for: it asks the solver about all splits so far.
const SPLIT: u32 = 64;

/// States that could not be merged into one before no more are tried.
const MERGE_FAILURES: usize = 6;

/// Where states that meet become one.
pub enum Merge {
    /// Nowhere: path by path.
    Never,
    /// At heads.
    AtHeads,
    /// At these locations, in blocks from head to head: a block is one formula.
    InBlocks(Vec<bool>),
}

/// What the algorithm is run with.
pub struct Parameters {
    /// Locations where states are adjusted and may be covered; every cycle should hold one.
    pub heads: Vec<bool>,
    pub merge: Merge,
    /// The order of the waitlist.
    pub search: Search,
    pub seed: u64,
    pub max_call_depth: u32,
}

/// A state waiting with its place.
struct Node<S, N> {
    state: S,
    at: Control,
    /// In what is kept of the states reached.
    node: N,
    forks: u32,
    /// Iterations of loops and recursions so far; counted where states are merged.
    iterations: u32,
    /// Whether it has come to a head, and may be covered.
    arrived: bool,
}

/// A state after an edge.
struct Way<S> {
    state: S,
    at: Control,
    edge: EdgeId,
    /// What the state has come over: the call, if `edge` returns from it.
    over: EdgeId,
    /// Not if the same edge is to be executed again.
    moved: bool,
}

/// What follows from a state.
enum Next<S, E> {
    One(Way<S>),
    /// None or several, which are in [`CpaAlgorithm::ways`].
    Ways,
    Hit {
        goal: Goal,
        state: S,
        before: Option<S>,
        evidence: Option<E>,
    },
    /// The state as it was, for another time. More may be in [`CpaAlgorithm::ways`].
    Later(S),
}

/// A state at an error or a problem.
pub struct Hit<S, E, N> {
    pub goal: Goal,
    pub state: S,
    /// The state before the operation, if it is another.
    before: Option<S>,
    pub at: Control,
    /// The node last passed, and the edges from there.
    pub node: N,
    pub via: Vec<EdgeId>,
    pub evidence: Option<E>,
}

/// What follows after so many forks, of the tree of all.
fn part(forks: u32) -> f64 {
    0.5f64.powi(forks.min(1_000) as i32)
}

/// States that wait to be merged.
struct Joining<T> {
    queue: JoinQueue<T>,
    order: JoinOrder,
    /// Of a block: those that no other can join.
    pending: Vec<T>,
}

type Waiting<C, R> = Node<<C as Cpa>::State, <R as Reached<C>>::Node>;
type HitOf<C, R> = Hit<<C as Cpa>::State, <C as Cpa>::Evidence, <R as Reached<C>>::Node>;
type NextOf<C> = Next<<C as Cpa>::State, <C as Cpa>::Evidence>;

/// An exploration in progress.
pub struct CpaAlgorithm<'p, C: Cpa, R: Reached<C> = Forgotten> {
    pub(super) program: &'p Program,
    pub cpa: C,
    pub reached: R,
    waitlist: Waitlist<Waiting<C, R>>,
    joining: Option<Joining<Waiting<C, R>>>,
    pub(super) stacks: CallStacks,
    /// How often a state began to wait at a location; orders the coverage search.
    visits: Vec<u32>,
    /// From each location to an error, where the order asks for it.
    distances: Vec<u32>,
    parameters: Parameters,
    pub counters: Counters,
    /// The part of the tree of forks that waits: what follows after n forks is 2^-n of it. Not where states are merged.
    left: f64,
    tick: u32,
    successors: Successors<C::State>,
    ways: Vec<Way<C::State>>,
    /// The node from which a state was followed that was lost for want of time.
    pub(super) lost: Option<R::Node>,
}

impl<'p, C: Cpa, R: Reached<C>> CpaAlgorithm<'p, C, R> {
    pub fn new(program: &'p Program, cpa: C, reached: R, parameters: Parameters) -> Self {
        let joining = match parameters.merge {
            Merge::Never => None,
            _ => Some(Joining { queue: JoinQueue::new(), order: JoinOrder::new(program), pending: Vec::new() }),
        };
        let mut this = Self {
            program,
            cpa,
            reached,
            waitlist: Waitlist::new(parameters.search, parameters.seed),
            joining,
            stacks: CallStacks::new(),
            visits: vec![0; program.locs.len()],
            distances: match parameters.search {
                Search::Nearest => distances(program),
                _ => Vec::new(),
            },
            parameters,
            counters: Counters::default(),
            left: 0.0,
            tick: 0,
            successors: Vec::new(),
            ways: Vec::new(),
            lost: None,
        };
        this.start();
        this
    }

    /// From the start; what is kept of the states reached is kept.
    pub(super) fn start(&mut self) {
        self.waitlist = Waitlist::new(self.parameters.search, self.parameters.seed);
        self.end_block();
        self.left = 0.0;
        let at = Control { loc: self.program.funcs[self.program.entry].entry, stack: CallStacks::EMPTY };
        let state = self.cpa.initial();
        let node = self.reached.root(&state, at);
        self.enqueue(Node { state, at, node, forks: 0, iterations: 0, arrived: false }, true);
    }

    /// The part of the tree of forks that has been explored, if states are not merged: an estimate of how far the
    /// exploration is (Knuth: Estimating the efficiency of backtrack programs, 1975).
    pub fn done(&self) -> Option<f64> {
        self.joining.is_none().then(|| (1.0 - self.left).clamp(0.0, 1.0))
    }

    /// States that wait.
    pub fn waiting(&self) -> usize {
        self.waitlist.len() + self.joining.as_ref().map_or(0, |j| j.queue.len() + j.pending.len())
    }

    /// What is left.
    pub fn frontier(&self) -> Vec<Open> {
        let joining = self.joining.iter().flat_map(|j| j.pending.iter().chain(j.queue.iter()));
        let alive = self.waitlist.iter().chain(joining).filter(|n| self.reached.is_alive(n.node));
        alive.map(|n| self.open(n.at, self.reached.path(n.node), None)).collect()
    }

    pub(super) fn open(&self, at: Control, path: Option<Vec<EdgeId>>, reason: Option<Reason>) -> Open {
        Open { loc: at.loc, calls: self.stacks.calls(at.stack), path, reason }
    }

    /// Explores until an error or a problem is met or nothing is left. `progress` is called now and then.
    pub fn next_hit(
        &mut self,
        budget: &Budget,
        taints: &mut Taints,
        progress: &mut dyn FnMut(&Counters, usize),
    ) -> Result<Option<HitOf<C, R>>, Stop> {
        loop {
            // Merging takes its time, and where no time is left nothing is told apart any more.
            if self.joining.is_some()
                && let Some(spent) = budget.spent()
            {
                return Err(Stop::Spent(spent));
            }
            let Some(node) = self.dequeue() else { return Ok(None) };
            progress(&self.counters, self.waiting() + 1);
            if let Some(hit) = self.step(node, budget, taints)? {
                return Ok(Some(hit));
            }
        }
    }

    /// A state begins to wait, at the start of a block or within one.
    fn push(&mut self, node: Waiting<C, R>, starts: bool) {
        self.counters.nodes += 1;
        self.enqueue(node, starts);
        self.counters.waiting = self.counters.waiting.max(self.waiting() as u64);
    }

    fn enqueue(&mut self, node: Waiting<C, R>, starts: bool) {
        let joining = match (&mut self.joining, &self.parameters.merge) {
            (Some(joining), Merge::AtHeads) => joining,
            (Some(joining), Merge::InBlocks(_)) if !starts => joining,
            _ => {
                let visits = &mut self.visits[node.at.loc.index()];
                *visits += 1;
                let distance = self.distances.get(node.at.loc.index()).copied().unwrap_or(0);
                let rank = Rank { forks: node.forks, visits: *visits, distance };
                self.left += part(node.forks);
                return self.waitlist.push(node, rank);
            }
        };
        if let Merge::InBlocks(joins) = &self.parameters.merge
            && !joins[node.at.loc.index()]
        {
            return joining.pending.push(node);
        }
        let key = joining.order.key(self.program, &self.stacks, node.at, node.iterations);
        joining.queue.push(key, node);
    }

    /// The next state to follow. What waits to be merged does so until all else has come to its place or past it.
    fn dequeue(&mut self) -> Option<Waiting<C, R>> {
        if let Some(joining) = &mut self.joining {
            if let Some(node) = joining.pending.pop() {
                return Some(node);
            }
            if let Some((key, nodes)) = joining.queue.pop() {
                return Some(self.merged(&key, nodes));
            }
        }
        let node = self.waitlist.pop();
        self.left -= node.as_ref().map_or(0.0, |n| part(n.forks));
        node
    }

    /// States that wait at the same place are merged, those that cannot be wait on.
    fn merged(&mut self, key: &JoinKey, mut nodes: Vec<Waiting<C, R>>) -> Waiting<C, R> {
        let mut next = nodes.pop().expect("places with states only");
        let mut apart = Vec::new();
        for mut node in nodes {
            if node.at != next.at || apart.len() >= MERGE_FAILURES {
                apart.push(node);
                continue;
            }
            match self.cpa.merge(next.state, node.state, next.at) {
                Ok(state) => {
                    self.counters.merged += 1;
                    self.reached.merge(next.node, node.node);
                    next.state = state;
                    next.forks = next.forks.max(node.forks);
                }
                Err(pair) => {
                    (next.state, node.state) = *pair;
                    apart.push(node);
                }
            }
        }
        let joining = self.joining.as_mut().expect("where states are merged");
        for node in apart {
            joining.queue.push(key.clone(), node);
        }
        next
    }

    /// Drops what waits within a block that begins anew.
    pub(super) fn end_block(&mut self) {
        if let Some(joining) = &mut self.joining {
            joining.queue = JoinQueue::new();
            joining.pending.clear();
        }
    }

    /// Drops what was cut off.
    pub(super) fn drop_pruned(&mut self) {
        let reached = &self.reached;
        self.waitlist.retain(|node| reached.is_alive(node.node));
    }

    /// A head waits again, with its state.
    pub(super) fn again(&mut self, state: C::State, at: Control, node: R::Node) {
        self.enqueue(Node { state, at, node, forks: 0, iterations: 0, arrived: true }, true);
    }

    /// The state of a hit waits again, before the operation in question.
    pub(super) fn retry(&mut self, hit: HitOf<C, R>) {
        let Hit { state, before, at, mut via, node, .. } = hit;
        let (state, node) = (before.unwrap_or(state), self.reached.waits(node, at, &mut via));
        self.enqueue(Node { state, at, node, forks: 0, iterations: 0, arrived: false }, false);
    }

    /// Follows a state to the next fork, or to where it waits to be merged.
    fn step(
        &mut self,
        waiting: Waiting<C, R>,
        budget: &Budget,
        taints: &mut Taints,
    ) -> Result<Option<HitOf<C, R>>, Stop> {
        let Node { mut state, mut at, mut node, forks, mut iterations, arrived } = waiting;
        if !self.reached.follow(node) || arrived && self.covered(node, &state, at)? {
            return Ok(None);
        }
        let mut via: Vec<EdgeId> = Vec::new();
        let mut steps = 0;
        loop {
            self.tick += 1;
            let ran_out = self.cpa.ran_out();
            if self.tick >= TICK || ran_out {
                self.tick = 0;
                if let Some(spent) = budget.spent().or(ran_out.then_some(Spent::Time)) {
                    let node = self.reached.waits(node, at, &mut via);
                    self.push(Node { state, at, node, forks, iterations, arrived: false }, false);
                    return Err(Stop::Spent(spent));
                }
            }
            steps += 1;
            self.counters.edges += 1;
            let way = match self.successors(state, at, node, taints)? {
                Next::One(way) => way,
                Next::Ways => {
                    self.counters.paths += u64::from(self.ways.is_empty());
                    self.fork(node, &via, forks, iterations)?;
                    return Ok(None);
                }
                Next::Hit { goal, state, before, evidence } => {
                    self.fork(node, &via, forks, iterations)?;
                    return Ok(Some(Hit { goal, state, before, at, node, via, evidence }));
                }
                Next::Later(state) => {
                    self.fork(node, &via, forks, iterations)?;
                    let node = self.reached.waits(node, at, &mut via);
                    self.push(Node { state, at, node, forks, iterations, arrived: false }, false);
                    return Err(Stop::Spent(Spent::Time));
                }
            };
            (state, at) = (way.state, way.at);
            let mut waits = steps >= BLOCK;
            if way.moved {
                if R::PATHS {
                    via.push(way.edge);
                }
                let is_head = self.parameters.heads[at.loc.index()];
                if is_head {
                    match self.arrive(state, node, way.over, at, &mut via)? {
                        Some(adjusted) => (state, node) = adjusted,
                        None => return Ok(None),
                    }
                    iterations += self.iterations(way.over, at);
                }
                match &self.parameters.merge {
                    Merge::InBlocks(_) if is_head => {
                        self.push(Node { state, at, node, forks, iterations: 0, arrived: true }, true);
                        return Ok(None);
                    }
                    Merge::InBlocks(joins) => waits |= joins[at.loc.index()],
                    Merge::AtHeads => waits |= is_head,
                    Merge::Never => {}
                }
                // Where states are merged, what is covered is not to be.
                if is_head && self.covered(node, &state, at)? {
                    return Ok(None);
                }
            }
            if waits {
                let node = self.reached.waits(node, at, &mut via);
                self.push(Node { state, at, node, forks, iterations, arrived: false }, false);
                return Ok(None);
            }
        }
    }

    /// The states that a fork leads to begin to wait.
    fn fork(&mut self, node: R::Node, via: &[EdgeId], forks: u32, iterations: u32) -> Result<(), Stop> {
        let mut ways = std::mem::take(&mut self.ways);
        self.counters.forks += ways.len().saturating_sub(1) as u64;
        for way in ways.drain(..) {
            self.wait(way, node, via, forks + 1, iterations)?;
        }
        self.ways = ways;
        Ok(())
    }

    /// One of them.
    fn wait(
        &mut self,
        way: Way<C::State>,
        node: R::Node,
        via: &[EdgeId],
        forks: u32,
        iterations: u32,
    ) -> Result<(), Stop> {
        let Way { state, at, edge, over, moved } = way;
        let mut path = Vec::new();
        if R::PATHS {
            path.extend_from_slice(via);
            path.extend(moved.then_some(edge));
        }
        if !moved || !self.parameters.heads[at.loc.index()] {
            let node = self.reached.waits(node, at, &mut path);
            self.push(Node { state, at, node, forks, iterations, arrived: false }, false);
            return Ok(());
        }
        let Some((state, node)) = self.arrive(state, node, over, at, &mut path)? else { return Ok(()) };
        let merges = matches!(self.parameters.merge, Merge::AtHeads);
        if merges && self.covered(node, &state, at)? {
            return Ok(());
        }
        let iterations = iterations + self.iterations(over, at);
        self.push(Node { state, at, node, forks, iterations, arrived: !merges }, true);
        Ok(())
    }

    /// What follows from a state at `at`.
    fn successors(
        &mut self,
        mut state: C::State,
        at: Control,
        node: R::Node,
        taints: &mut Taints,
    ) -> Result<NextOf<C>, Stop> {
        let program = self.program;
        let to = |edge: EdgeId| Control { loc: program.edges[edge].target, ..at };
        let way = |state, edge| Way { state, at: to(edge), edge, over: edge, moved: true };
        match program.locs[at.loc].out {
            Out::Sink => Ok(Next::Ways),
            Out::Branch { then_edge, else_edge } => Ok(match self.cpa.branch(state, then_edge, else_edge)? {
                (None, None) => Next::Ways,
                (Some(state), None) => Next::One(way(state, then_edge)),
                (None, Some(state)) => Next::One(way(state, else_edge)),
                (Some(then_state), Some(else_state)) => {
                    // The else-branch first: depth-first search takes the then-branch next.
                    self.ways.extend([way(else_state, else_edge), way(then_state, then_edge)]);
                    Next::Ways
                }
            }),
            Out::One(edge) => match &program.edges[edge].op {
                &Op::Error(error) => {
                    let goal = Goal::Error { edge, error };
                    Ok(match self.cpa.target(&mut state, edge, error)? {
                        Target::Later => Next::Later(state),
                        Target::Infeasible => Next::Ways,
                        Target::Reached(_) | Target::Undecided
                            if R::ABSTRACT && !self.reached.is_settled(node, edge) =>
                        {
                            Next::Hit { goal, state, before: None, evidence: None }
                        }
                        Target::Reached(evidence) if !R::ABSTRACT => {
                            Next::Hit { goal, state, before: None, evidence: Some(evidence) }
                        }
                        Target::Reached(_) | Target::Undecided => Next::Ways,
                    })
                }
                Op::Halt(_) => {
                    self.cpa.ended(state, edge);
                    Ok(Next::Ways)
                }
                Op::Return { .. } => match self.stacks.pop(at.stack) {
                    None => {
                        self.cpa.ended(state, edge);
                        Ok(Next::Ways)
                    }
                    Some(_) if !self.cpa.returns(&mut state, edge) => Ok(Next::Ways),
                    Some((stack, call)) => {
                        let state = self.cpa.leave(state, edge, call)?;
                        let at = Control { loc: program.edges[call].target, stack };
                        Ok(Next::One(Way { state, at, edge, over: call, moved: true }))
                    }
                },
                _ => self.transfer(state, at, edge, node, taints),
            },
        }
    }

    /// What follows over an edge that is no branch, no return and no error.
    fn transfer(
        &mut self,
        state: C::State,
        at: Control,
        edge: EdgeId,
        node: R::Node,
        taints: &mut Taints,
    ) -> Result<NextOf<C>, Stop> {
        let program = self.program;
        let fault = program.edges[edge].fault;
        let is_plain = matches!(program.edges[edge].op, Op::Assign { .. } | Op::Skip | Op::Havoc { .. });
        let before = if R::ABSTRACT && (!is_plain || fault.is_some()) { self.reached.copy(&state) } else { None };
        let mut successors = std::mem::take(&mut self.successors);
        self.cpa.transfer(state, at, edge, &mut successors)?;
        let mut next = None;
        let problem = if before.is_some() { self.cpa.problems().first().copied() } else { None };
        if let (Some(problem), Some(state)) = (problem, &before) {
            let state = self.reached.copy(state).expect("copied before");
            next = Some(Next::Hit { goal: Goal::Problem { edge: problem }, state, before: None, evidence: None });
        } else if let Some(error) = fault
            && !(R::ABSTRACT && self.reached.is_settled(node, edge))
        {
            next = self.fault(edge, error, before)?;
        }
        if R::ABSTRACT && next.is_some() {
            // The operation is executed again when it is known what the hit is.
            successors.clear();
        }
        if next.is_none() && successors.len() == 1 && successors[0].1 == At::Target {
            let (state, _) = successors.pop().expect("one");
            self.successors = successors;
            let at = Control { loc: program.edges[edge].target, ..at };
            return Ok(Next::One(Way { state, at, edge, over: edge, moved: true }));
        }
        for (state, to) in successors.drain(..) {
            if to == At::Source {
                self.tick += SPLIT;
            }
            if let Some(at) = self.place(at, edge, to, taints) {
                self.ways.push(Way { state, at, edge, over: edge, moved: to != At::Source });
            }
        }
        self.successors = successors;
        Ok(match next {
            Some(next) => next,
            None if self.ways.len() == 1 => Next::One(self.ways.pop().expect("one")),
            None => Next::Ways,
        })
    }

    /// Of the states in which the operation just done is a fault, one that is reached, or may be.
    fn fault(&mut self, edge: EdgeId, error: ErrorId, mut before: Option<C::State>) -> Result<Option<NextOf<C>>, Stop> {
        let goal = Goal::Error { edge, error };
        for mut state in self.cpa.faults() {
            match self.cpa.target(&mut state, edge, error)? {
                // Executed again, the operation is a fault again.
                Target::Later => return Ok(Some(Next::Later(before.unwrap_or(state)))),
                Target::Infeasible => self.counters.paths += 1,
                Target::Reached(_) | Target::Undecided if R::ABSTRACT => {
                    return Ok(Some(Next::Hit { goal, state, before: before.take(), evidence: None }));
                }
                Target::Undecided => self.counters.paths += 1,
                Target::Reached(evidence) => {
                    return Ok(Some(Next::Hit { goal, state, before: None, evidence: Some(evidence) }));
                }
            }
        }
        Ok(None)
    }

    /// 1 if coming over `edge` to `to` is another iteration of a loop or a recursion, where that counts.
    fn iterations(&self, edge: EdgeId, to: Control) -> u32 {
        let (Some(joining), Merge::AtHeads) = (&self.joining, &self.parameters.merge) else { return 0 };
        if !self.cpa.counts_iterations() {
            return 0;
        }
        let edge = &self.program.edges[edge];
        if !matches!(edge.op, Op::Call { .. }) {
            return u32::from(joining.order.number(to.loc) <= joining.order.number(edge.source));
        }
        u32::from(self.is_called(to.stack, self.program.locs[to.loc].func))
    }

    /// Whether a function below the top of the stack is `func`.
    fn is_called(&self, mut stack: crate::control::StackId, func: FuncId) -> bool {
        while let Some((below, call)) = self.stacks.pop(stack) {
            if self.program.func_of(call) == func {
                return true;
            }
            stack = below;
        }
        false
    }

    /// The state has come over `edge` to the head `at`, from `node`.
    fn arrive(
        &mut self,
        state: C::State,
        node: R::Node,
        edge: EdgeId,
        at: Control,
        via: &mut Vec<EdgeId>,
    ) -> Adjusted<C::State, R::Node> {
        let adjusted = self.reached.adjust(&mut self.cpa, &mut self.stacks, state, From { node, edge }, at, via)?;
        if R::ABSTRACT && self.cpa.ran_out() {
            // What it said last counts only if it had the time to say it.
            self.lost = Some(node);
            return Err(Stop::Spent(Spent::Time));
        }
        for state in self.cpa.others() {
            let node = self.reached.waits(node, at, &mut Vec::new());
            self.push(Node { state, at, node, forks: 0, iterations: 0, arrived: false }, true);
        }
        self.counters.paths += u64::from(adjusted.is_none());
        Ok(adjusted)
    }

    /// Whether what was reached before covers a state at a head.
    fn covered(&mut self, node: R::Node, state: &C::State, at: Control) -> Result<bool, Stop> {
        let covered = self.reached.stop(&mut self.cpa, node, state, at)?;
        self.counters.covered += u64::from(covered);
        self.counters.paths += u64::from(covered);
        Ok(covered)
    }

    /// Where a successor stands; `None` beyond the depth of calls that is followed.
    fn place(&mut self, at: Control, edge: EdgeId, to: At, taints: &mut Taints) -> Option<Control> {
        match to {
            At::Target => Some(Control { loc: self.program.edges[edge].target, ..at }),
            At::Source => Some(at),
            At::Callee(func) => {
                if self.stacks.depth(at.stack) >= self.parameters.max_call_depth {
                    let place = self.program.edges[edge].place;
                    let text = format!("calls nest deeper than {}", self.parameters.max_call_depth);
                    taints.drop_behaviour(Reason::at(text, place));
                    return None;
                }
                Some(Control { loc: self.program.funcs[func].entry, stack: self.stacks.push(at.stack, edge) })
            }
        }
    }
}

impl<C: Cpa, R: Reached<C>> CpaAlgorithm<'_, C, R> {
    /// Explores states that are not abstract until an error is reached or nothing is left.
    pub fn run(
        &mut self,
        budget: &Budget,
        taints: &mut Taints,
        progress: &mut dyn FnMut(&Counters, usize),
    ) -> Result<Exploration<C::Evidence>, Stop> {
        Ok(match self.next_hit(budget, taints, progress)? {
            None => Exploration::Complete,
            Some(Hit { goal: Goal::Error { edge, error }, node, via, evidence: Some(evidence), .. }) => {
                self.reached.target(node, &via);
                Exploration::Target { error, edge, evidence }
            }
            Some(_) => unreachable!("errors of states that are not abstract come with evidence"),
        })
    }
}

/// The edges that follow from decisions, from `at` until `to` is met.
pub(crate) fn walk(
    program: &Program,
    stacks: &mut CallStacks,
    mut at: Control,
    decisions: &[Decision],
    to: Control,
) -> Vec<EdgeId> {
    let mut decisions = decisions.iter();
    let mut via = Vec::new();
    loop {
        let edge = match program.locs[at.loc].out {
            Out::One(edge) => edge,
            Out::Branch { .. } => match decisions.next() {
                Some(&Decision::Branch(edge)) => edge,
                _ => unreachable!("each branch on the path was decided"),
            },
            Out::Sink => unreachable!("a path that goes on"),
        };
        via.push(edge);
        at = match &program.edges[edge].op {
            Op::Call { callee, .. } => {
                let func = match callee {
                    Callee::Direct(func) => *func,
                    Callee::Indirect(_) => match decisions.next() {
                        Some(&Decision::Callee(func)) => func,
                        _ => unreachable!("each call through a pointer was decided"),
                    },
                };
                Control { loc: program.funcs[func].entry, stack: stacks.push(at.stack, edge) }
            }
            Op::Return { .. } => {
                let (stack, call) = stacks.pop(at.stack).expect("a path that goes on");
                Control { loc: program.edges[call].target, stack }
            }
            _ => Control { loc: program.edges[edge].target, ..at },
        };
        if at == to {
            return via;
        }
    }
}
