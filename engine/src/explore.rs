//! The CPA algorithm: from a waitlist of states into a reached set, one block at a time.
//!
//! Straight-line code is one step: a node of the abstract reachability graph stands where states fork, at loop heads
//! that the domain keeps, and where a block grows too long. Early return, also by error, puts the unfinished
//! state back into the waitlist, so what a run has proved stays true.

use crate::budget::{Budget, Spent};
use crate::control::{CallStacks, Control};
use crate::cpa::{At, Cpa, Stop, Successors, Target};
use crate::verdict::{Reason, Taints};
use crate::waitlist::{JoinKey, JoinOrder, JoinQueue, Rank, Search, Waitlist};
use cfa::{EdgeId, ErrorId, Id, Op, Out, Program};

/// Edges followed in one step before the state goes back to the waitlist, for fairness.
const BLOCK: u32 = 50_000;
/// Edges between looks at the clock.
const TICK: u32 = 512;
/// Edges that a split by a value counts for: it asks the solver about all splits so far.
const SPLIT: u32 = 64;

/// States that could not be merged into one before no more are tried.
const MERGE_FAILURES: usize = 6;

/// A reachability node: a state waiting with its place.
struct Node<S> {
    state: S,
    at: Control,
    forks: u32,
    /// Turns of loops and recursions so far; counted where states are merged.
    rounds: u32,
}

/// What follows after so many forks, of the tree of all.
fn part(forks: u32) -> f64 {
    0.5f64.powi(forks.min(1_000) as i32)
}

/// How an exploration ended.
pub enum Exploration<E> {
    /// Every state was explored; no error was reached.
    Complete,
    /// An error was reached. Exploration may be continued.
    Target { error: ErrorId, edge: EdgeId, evidence: E },
}

/// Counters of a run.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counters {
    /// Edges followed, assume edges and calls included.
    pub edges: u64,
    /// Paths that ended: at a halt, in an invalid operation, at a bound, or covered.
    pub paths: u64,
    /// Branches of which both sides were feasible.
    pub forks: u64,
    /// States found covered.
    pub covered: u64,
    /// States merged into another.
    pub merged: u64,
    /// Nodes of the abstract reachability graph.
    pub nodes: u64,
    /// Largest size of the waitlist.
    pub waiting: u64,
}

impl Counters {
    /// Adds those of another exploration; maxima are kept.
    pub fn add(&mut self, other: &Self) {
        self.edges += other.edges;
        self.paths += other.paths;
        self.forks += other.forks;
        self.covered += other.covered;
        self.merged += other.merged;
        self.nodes += other.nodes;
        self.waiting = self.waiting.max(other.waiting);
    }

    /// What was counted after `before`.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            edges: self.edges - before.edges,
            paths: self.paths - before.paths,
            forks: self.forks - before.forks,
            covered: self.covered - before.covered,
            merged: self.merged - before.merged,
            nodes: self.nodes - before.nodes,
            waiting: self.waiting,
        }
    }
}

/// An exploration in progress.
pub struct Explorer<'p, C: Cpa> {
    program: &'p Program,
    pub cpa: C,
    waitlist: Waitlist<Node<C::State>>,
    /// Used instead of the waitlist where states are merged.
    joins: Option<Joins<C::State>>,
    stacks: CallStacks,
    /// How often a step began or forked at a location; orders the coverage search.
    visits: Vec<u32>,
    /// Locations where the domain is told of arrivals: joins, loop heads among them.
    heads: Vec<bool>,
    pub counters: Counters,
    /// The part of the tree of forks that waits: what follows after n forks is 2^-n of it. Not where states are merged.
    left: f64,
    max_call_depth: u32,
    tick: u32,
}

/// States that wait to be merged.
struct Joins<S> {
    queue: JoinQueue<Node<S>>,
    order: JoinOrder,
}

impl<'p, C: Cpa> Explorer<'p, C> {
    /// `heads` are the locations where states may cover one another; every cycle should hold one.
    pub fn new(
        program: &'p Program,
        mut cpa: C,
        heads: Vec<bool>,
        search: Search,
        seed: u64,
        max_call_depth: u32,
    ) -> Self {
        let mut waitlist = Waitlist::new(search, seed);
        let at = Control { loc: program.funcs[program.entry].entry, stack: CallStacks::EMPTY };
        let state = cpa.initial();
        let node = Node { state, at, forks: 0, rounds: 0 };
        let mut joins =
            (search == Search::Merging).then(|| Joins { queue: JoinQueue::new(), order: JoinOrder::new(program) });
        match &mut joins {
            Some(joins) => joins.queue.push(JoinKey { rounds: 0, path: Vec::new() }, node),
            None => waitlist.push(node, Rank { forks: 0, visits: 0 }),
        }
        Self {
            program,
            cpa,
            waitlist,
            joins,
            stacks: CallStacks::new(),
            visits: vec![0; program.locs.len()],
            heads,
            counters: Counters::default(),
            left: if search == Search::Merging { 0.0 } else { 1.0 },
            max_call_depth,
            tick: 0,
        }
    }

    /// The part of the tree of forks that has been explored, if states are not merged: an estimate of how far the
    /// exploration is (Knuth: Estimating the efficiency of backtrack programs, 1975).
    pub fn done(&self) -> Option<f64> {
        self.joins.is_none().then(|| (1.0 - self.left).clamp(0.0, 1.0))
    }

    /// Explores until an error is reached or nothing is left. `progress` is called now and then.
    pub fn run(
        &mut self,
        budget: &Budget,
        taints: &mut Taints,
        progress: &mut dyn FnMut(&Counters, usize),
    ) -> Result<Exploration<C::Evidence>, Stop> {
        loop {
            // Merging takes its time, and where no time is left nothing is told apart any more.
            if self.joins.is_some()
                && let Some(spent) = budget.spent()
            {
                return Err(Stop::Spent(spent));
            }
            let Some(node) = self.next()? else { return Ok(Exploration::Complete) };
            progress(&self.counters, self.waiting() + 1);
            if let Some(target) = self.step(node, budget, taints)? {
                return Ok(target);
            }
        }
    }

    /// States that wait.
    pub fn waiting(&self) -> usize {
        self.waitlist.len() + self.joins.as_ref().map_or(0, |j| j.queue.len())
    }

    fn push(&mut self, node: Node<C::State>) {
        self.counters.nodes += 1;
        match &mut self.joins {
            Some(joins) => {
                let key = joins.order.key(self.program, &self.stacks, node.at, node.rounds);
                joins.queue.push(key, node);
            }
            None => {
                let visits = &mut self.visits[node.at.loc.index()];
                *visits += 1;
                let rank = Rank { forks: node.forks, visits: *visits };
                self.left += part(node.forks);
                self.waitlist.push(node, rank);
            }
        }
        self.counters.waiting = self.counters.waiting.max(self.waiting() as u64);
    }

    /// The next state to follow. States that wait at the same place are merged first.
    fn next(&mut self) -> Result<Option<Node<C::State>>, Stop> {
        let Some(joins) = &mut self.joins else {
            let node = self.waitlist.pop();
            self.left -= node.as_ref().map_or(0.0, |n| part(n.forks));
            return Ok(node);
        };
        let Some((key, mut nodes)) = joins.queue.pop() else { return Ok(None) };
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
                    next.state = state;
                    next.forks = next.forks.max(node.forks);
                }
                Err(pair) => {
                    (next.state, node.state) = *pair;
                    apart.push(node);
                }
            }
        }
        let joins = self.joins.as_mut().expect("still there");
        for node in apart {
            joins.queue.push(key.clone(), node);
        }
        Ok(Some(next))
    }

    /// Follows a state to the next fork.
    fn step(
        &mut self,
        node: Node<C::State>,
        budget: &Budget,
        taints: &mut Taints,
    ) -> Result<Option<Exploration<C::Evidence>>, Stop> {
        let Node { mut state, mut at, forks, mut rounds } = node;
        let mut successors: Successors<C::State> = Vec::new();
        let mut steps = 0;
        loop {
            self.tick += 1;
            let ran_out = self.cpa.ran_out();
            if self.tick >= TICK || ran_out {
                self.tick = 0;
                if let Some(spent) = budget.spent().or(ran_out.then_some(Spent::Time)) {
                    self.push(Node { state, at, forks, rounds });
                    return Err(Stop::Spent(spent));
                }
            }
            steps += 1;
            self.counters.edges += 1;
            let over;
            match self.program.locs[at.loc].out {
                Out::Sink => {
                    self.counters.paths += 1;
                    return Ok(None);
                }
                Out::Branch { then_edge, else_edge } => match self.cpa.branch(state, then_edge, else_edge)? {
                    (None, None) => {
                        self.counters.paths += 1;
                        return Ok(None);
                    }
                    (Some(s), None) => {
                        state = s;
                        over = then_edge;
                        at.loc = self.program.edges[then_edge].target;
                    }
                    (None, Some(s)) => {
                        state = s;
                        over = else_edge;
                        at.loc = self.program.edges[else_edge].target;
                    }
                    (Some(then_state), Some(else_state)) => {
                        self.counters.forks += 1;
                        // The else-branch first: depth-first search takes the then-branch next.
                        for (s, edge) in [(else_state, else_edge), (then_state, then_edge)] {
                            let to = Control { loc: self.program.edges[edge].target, ..at };
                            if let Some(state) = self.arrive(s, edge, to)? {
                                let rounds = rounds + self.turns(edge, to);
                                self.push(Node { state, at: to, forks: forks + 1, rounds });
                            }
                        }
                        return Ok(None);
                    }
                },
                Out::One(edge) => match &self.program.edges[edge].op {
                    Op::Error(error) => match self.cpa.target(&mut state, edge, *error)? {
                        Target::Reached(evidence) => {
                            return Ok(Some(Exploration::Target { error: *error, edge, evidence }));
                        }
                        Target::Later => {
                            self.push(Node { state, at, forks, rounds });
                            return Err(Stop::Spent(Spent::Time));
                        }
                        Target::Undecided | Target::Infeasible => {
                            self.counters.paths += 1;
                            return Ok(None);
                        }
                    },
                    Op::Halt(_) => {
                        self.counters.paths += 1;
                        self.cpa.ended(state, edge);
                        return Ok(None);
                    }
                    Op::Return { .. } => match self.stacks.pop(at.stack) {
                        None => {
                            self.counters.paths += 1;
                            self.cpa.ended(state, edge);
                            return Ok(None);
                        }
                        Some(_) if !self.cpa.returns(&mut state, edge) => {
                            self.counters.paths += 1;
                            return Ok(None);
                        }
                        Some((stack, call)) => {
                            state = self.cpa.leave(state, edge, call)?;
                            over = call;
                            at = Control { loc: self.program.edges[call].target, stack };
                        }
                    },
                    _ => {
                        self.cpa.transfer(state, at, edge, &mut successors)?;
                        if let Some(error) = self.program.edges[edge].fault
                            && let Some((found, fault)) = self.fault(edge, error)?
                        {
                            for (s, to) in successors.drain(..) {
                                if let Some(at) = self.place(at, edge, to, taints) {
                                    self.push(Node { state: s, at, forks: forks + 1, rounds });
                                }
                            }
                            return match found {
                                Some(evidence) => Ok(Some(Exploration::Target { error, edge, evidence })),
                                None => {
                                    // Executed again, the operation is a fault again.
                                    self.push(Node { state: fault, at, forks, rounds });
                                    Err(Stop::Spent(Spent::Time))
                                }
                            };
                        }
                        if successors.iter().any(|(_, to)| *to == At::Source) {
                            self.tick += SPLIT;
                        }
                        let Some((first, first_at)) = successors.pop() else {
                            self.counters.paths += 1;
                            return Ok(None);
                        };
                        if !successors.is_empty() {
                            self.counters.forks += successors.len() as u64;
                            successors.push((first, first_at));
                            for (s, to) in successors.drain(..) {
                                if let Some(at) = self.place(at, edge, to, taints) {
                                    self.push(Node { state: s, at, forks: forks + 1, rounds });
                                }
                            }
                            return Ok(None);
                        }
                        let Some(to) = self.place(at, edge, first_at, taints) else {
                            self.counters.paths += 1;
                            return Ok(None);
                        };
                        state = first;
                        at = to;
                        if first_at == At::Source {
                            // A case split at the same edge is part of the state kept here, not covered by it.
                            continue;
                        }
                        over = edge;
                    }
                },
            }
            state = match self.arrive(state, over, at)? {
                Some(state) => state,
                None => return Ok(None),
            };
            if self.joins.is_some() && self.heads[at.loc.index()] {
                rounds += self.turns(over, at);
                self.push(Node { state, at, forks, rounds });
                return Ok(None);
            }
            if steps >= BLOCK {
                self.push(Node { state, at, forks, rounds });
                return Ok(None);
            }
        }
    }

    /// Of the states in which the operation just done is a fault, one that is reached, with evidence for it, or without, if
    /// that cannot be told within the time.
    #[allow(clippy::type_complexity)]
    fn fault(&mut self, edge: EdgeId, error: ErrorId) -> Result<Option<(Option<C::Evidence>, C::State)>, Stop> {
        for mut state in self.cpa.faults() {
            match self.cpa.target(&mut state, edge, error)? {
                Target::Reached(evidence) => return Ok(Some((Some(evidence), state))),
                Target::Later => return Ok(Some((None, state))),
                Target::Undecided | Target::Infeasible => self.counters.paths += 1,
            }
        }
        Ok(None)
    }

    /// 1 if coming over `edge` to `to` is another turn of a loop or a recursion, where that counts.
    fn turns(&self, edge: EdgeId, to: Control) -> u32 {
        let Some(joins) = &self.joins else { return 0 };
        if !self.cpa.counts_turns() {
            return 0;
        }
        let edge = &self.program.edges[edge];
        if !matches!(edge.op, Op::Call { .. }) {
            return u32::from(joins.order.number(to.loc) <= joins.order.number(edge.source));
        }
        let func = self.program.locs[to.loc].func;
        let mut stack = to.stack;
        while let Some((below, call)) = self.stacks.pop(stack) {
            if self.program.func_of(call) == func {
                return 1;
            }
            stack = below;
        }
        0
    }

    /// The state has come over `edge` to `at`.
    fn arrive(&mut self, state: C::State, edge: EdgeId, at: Control) -> Result<Option<C::State>, Stop> {
        if !self.heads[at.loc.index()] {
            return Ok(Some(state));
        }
        let state = self.cpa.arrive(state, edge, at)?;
        for state in self.cpa.others() {
            self.push(Node { state, at, forks: 0, rounds: 0 });
        }
        if state.is_none() {
            self.counters.covered += 1;
            self.counters.paths += 1;
        }
        Ok(state)
    }

    /// Where a successor stands; `None` beyond the depth of calls that is followed.
    fn place(&mut self, at: Control, edge: EdgeId, to: At, taints: &mut Taints) -> Option<Control> {
        match to {
            At::Target => Some(Control { loc: self.program.edges[edge].target, ..at }),
            At::Source => Some(at),
            At::Callee(func) => {
                if self.stacks.depth(at.stack) >= self.max_call_depth {
                    let place = self.program.edges[edge].place;
                    let text = format!("calls nest deeper than {}", self.max_call_depth);
                    taints.drop_behaviour(Reason::at(text, place));
                    return None;
                }
                Some(Control { loc: self.program.funcs[func].entry, stack: self.stacks.push(at.stack, edge) })
            }
        }
    }
}
