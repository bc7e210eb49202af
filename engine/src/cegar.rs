//! Reachability in an abstract reachability graph, refined by counterexamples.
//!
//! The CPA algorithm with dynamic precision adjustment (Beyer, Henzinger, Théoduloz, ASE 2008; Algorithm 1 of Beyer, Löwe:
//! Explicit-state software model checking based on CEGAR and interpolation, FASE 2013) inside counterexample-guided
//! abstraction refinement (Algorithm 2 there) with lazy abstraction: after a refinement the graph is cut where the
//! precision changed, and the rest of it stays.
//!
//! Nodes of the graph stand where paths join. Straight-line code between them is one step, in which nothing is abstracted.
//! States are not merged; one is not followed if an earlier one at the same control covers it.

use crate::arg::{Arg, NodeId, Shape, Status};
use crate::budget::{Budget, Spent};
use crate::control::{CallStacks, Control};
use crate::cpa::{Abstraction, At, Decision, Goal, PathCheck, Refinement, Stop, Successors, Target};
use crate::explore::{Counters, Exploration};
use crate::verdict::{Reason, Taints};
use crate::waitlist::{JoinOrder, JoinQueue};
use cfa::{Callee, EdgeId, Id, Op, Out, Program};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};

/// Edges between looks at the clock.
const TICK: u32 = 512;
/// Refinements that may leave the precision as it is before the graph is made anew, and again before giving up.
const STALE: u32 = 3;

/// Paths to errors that could not be decided before the search ends.
const MOST_UNDECIDED: usize = 64;

/// A state on its way from a node to the next.
struct Step<S> {
    state: S,
    at: Control,
}

/// A successor of a node, and a path to it.
struct Child<S> {
    state: S,
    at: Control,
    via: Vec<EdgeId>,
}

/// What a node's successors are.
enum Expansion<S> {
    Children(Vec<Child<S>>),
    Goal { goal: Goal, state: S, at: Control },
}

/// The reached nodes at one control, to find one that covers a state.
#[derive(Default)]
struct Bucket {
    /// By which places of the outline have a value, then by a hash of these values.
    by_known: Vec<(Box<[bool]>, ByHash)>,
}

type ByHash = FxHashMap<u64, Vec<NodeId>>;

/// In which order paths within a block are followed so that they can be merged.
struct Merging {
    order: JoinOrder,
    /// Locations with several incoming edges.
    joins: Vec<bool>,
}

pub struct Cegar<'p, C: Abstraction> {
    program: &'p Program,
    pub cpa: C,
    arg: Arg<C::State>,
    waitlist: Vec<NodeId>,
    reached: FxHashMap<Control, Bucket>,
    stacks: CallStacks,
    heads: Vec<bool>,
    /// Paths are merged where they join within a block.
    merging: Option<Merging>,
    pub counters: Counters,
    pub refinements: u64,
    max_call_depth: u32,
    tick: u32,
    stale: u32,
    /// Errors that a path is known to lead to from a node, or not known to.
    settled: FxHashSet<(NodeId, EdgeId)>,
}

impl<'p, C: Abstraction> Cegar<'p, C> {
    /// `heads` are the locations at which states are adjusted and covered; every cycle has one.
    ///
    /// With `merge`, paths are merged where they join between heads, so that a block is one formula (adjustable-block
    /// encoding: Beyer, Keremoglu, Wendler, FMCAD 2010).
    pub fn new(program: &'p Program, cpa: C, heads: Vec<bool>, merge: Option<Vec<bool>>, max_call_depth: u32) -> Self {
        let mut this = Self {
            program,
            cpa,
            arg: Arg::new(),
            waitlist: Vec::new(),
            reached: FxHashMap::default(),
            stacks: CallStacks::new(),
            heads,
            merging: merge.map(|joins| Merging { order: JoinOrder::new(program), joins }),
            counters: Counters::default(),
            refinements: 0,
            max_call_depth,
            tick: 0,
            stale: 0,
            settled: FxHashSet::default(),
        };
        this.start();
        this
    }

    fn start(&mut self) {
        self.arg = Arg::new();
        self.waitlist.clear();
        self.reached.clear();
        let at = Control { loc: self.program.funcs[self.program.entry].entry, stack: CallStacks::EMPTY };
        let state = self.cpa.initial();
        let root = self.arg.add(state, at, None, Box::default());
        self.waitlist.push(root);
    }

    /// Nodes waiting.
    pub fn waiting(&self) -> usize {
        self.waitlist.len()
    }
    /// The graph so far.
    pub fn shape(&self) -> Vec<Shape> {
        self.arg.shape()
    }

    /// Explores and refines until no error is left to be reached, or one is. May be called again to go on.
    pub fn run(
        &mut self,
        budget: &Budget,
        taints: &mut Taints,
        progress: &mut dyn FnMut(&Counters, usize),
    ) -> Result<Exploration<C::Evidence>, Stop> {
        while let Some(id) = self.waitlist.pop() {
            if self.arg.node(id).status != Status::Waiting {
                continue;
            }
            progress(&self.counters, self.waitlist.len());
            self.counters.waiting = self.counters.waiting.max(self.waitlist.len() as u64);
            match self.visit(id, budget, taints) {
                Ok(None) => {}
                Ok(Some(found)) => return Ok(found),
                Err(stop) => {
                    self.waitlist.push(id);
                    return Err(stop);
                }
            }
        }
        Ok(Exploration::Complete)
    }

    fn visit(
        &mut self,
        id: NodeId,
        budget: &Budget,
        taints: &mut Taints,
    ) -> Result<Option<Exploration<C::Evidence>>, Stop> {
        if let Some(by) = self.covering(id) {
            self.counters.covered += 1;
            self.arg.set(id, Status::Covered(by));
            return Ok(None);
        }
        match self.expand(id, budget, taints)? {
            Expansion::Children(children) => {
                self.arg.set(id, Status::Expanded);
                for step in children {
                    let child = self.arg.add(step.state, step.at, Some(id), step.via.into());
                    self.counters.nodes += 1;
                    self.waitlist.push(child);
                }
                Ok(None)
            }
            Expansion::Goal { goal, state, at } => {
                // Until the goal is dealt with, the node has no successors.
                self.waitlist.push(id);
                self.meet(id, goal, &state, at, budget)
            }
        }
    }

    /// An abstract path leads to an error or a problem.
    fn meet(
        &mut self,
        id: NodeId,
        goal: Goal,
        state: &C::State,
        at: Control,
        budget: &Budget,
    ) -> Result<Option<Exploration<C::Evidence>>, Stop> {
        let line = self.arg.line(id);
        let execution = self.cpa.execution(state, budget)?;
        let mut path: Vec<EdgeId> = Vec::new();
        let mut cuts = Vec::with_capacity(line.len());
        match execution.filter(|blocks| !blocks.is_empty()) {
            Some(blocks) => {
                for (pair, decisions) in line.windows(2).zip(&blocks) {
                    let (from, to) = (self.arg.node(pair[0]).at, self.arg.node(pair[1]).at);
                    path.extend(self.walk(from, decisions, to));
                    cuts.push(path.len());
                }
                let from = self.arg.node(id).at;
                if from != at {
                    path.extend(self.walk(from, &blocks[line.len() - 1], at));
                }
            }
            None => {
                for &n in &line[1..] {
                    path.extend(&*self.arg.node(n).via);
                    cuts.push(path.len());
                }
                let from = self.arg.node(id).at;
                if from != at {
                    let decisions = self.cpa.decisions(&mut state.clone());
                    path.extend(self.walk(from, &decisions, at));
                }
            }
        }
        match self.cpa.check(&path, goal, budget)? {
            PathCheck::Feasible(evidence) => {
                let Goal::Error { edge, error } = goal else { unreachable!("only errors have evidence") };
                self.settled.insert((id, edge));
                return Ok(Some(Exploration::Target { error, edge, evidence }));
            }
            PathCheck::Unknown(reason) => {
                self.in_time(budget)?;
                self.settled.insert((id, goal.edge()));
                if self.settled.len() > MOST_UNDECIDED {
                    return Err(Stop::Fatal(reason));
                }
                self.cpa.settle(goal.edge(), reason);
                return Ok(None);
            }
            PathCheck::Infeasible => self.in_time(budget)?,
        }
        let refinement = self.cpa.refine(state, &path, &cuts, goal, budget)?;
        // What could not be refuted for want of time says nothing.
        if let (false, Some(spent)) = (matches!(refinement, Refinement::Refined { changed: true, .. }), budget.spent())
        {
            return Err(Stop::Spent(spent));
        }
        self.refinements += 1;
        self.refined(refinement, goal, &line)
    }

    /// Cuts the graph where the precision has changed.
    fn refined(
        &mut self,
        refinement: Refinement,
        goal: Goal,
        line: &[NodeId],
    ) -> Result<Option<Exploration<C::Evidence>>, Stop> {
        let place = self.program.edges[goal.edge()].place;
        match refinement {
            Refinement::Impossible => {
                let text = "the abstraction cannot tell an infeasible path to an error from a feasible one";
                Err(Stop::Fatal(Reason::at(text, place)))
            }
            Refinement::Refined { from, changed } => {
                self.stale = if changed { 0 } else { self.stale + 1 };
                if self.stale > 2 * STALE {
                    return Err(Stop::Fatal(Reason::at("refinement makes no progress", place)));
                }
                if self.stale == STALE {
                    self.start();
                } else if from + 1 < line.len() {
                    self.cut(line[from], line[from + 1])?;
                }
                Ok(None)
            }
        }
    }

    /// Makes the state of `node` anew from its parent's with the present precision; what followed from it is cut off.
    fn cut(&mut self, parent: NodeId, node: NodeId) -> Result<(), Stop> {
        let uncovered = self.arg.prune_below(node);
        self.waitlist.extend(uncovered);
        // The block may split into several states, of which each has its node: the parent is expanded again.
        let again = self.arg.prune_below(parent);
        self.waitlist.extend(again);
        self.arg.set(parent, Status::Waiting);
        self.waitlist.push(parent);
        Ok(())
    }

    /// A node that stands for `id`, among those at the same control; `id` is noted among them.
    fn covering(&mut self, id: NodeId) -> Option<NodeId> {
        let at = self.arg.node(id).at;
        self.arg.node(id).parent?;
        let outline = self.cpa.outline(self.arg.state(id), at);
        let mut bucket = self.reached.remove(&at).unwrap_or_default();
        let found = self.covering_in(&bucket, id, at, &outline);
        if found.is_none() {
            bucket.add(id, &outline);
        }
        self.reached.insert(at, bucket);
        found
    }

    fn covering_in(&mut self, bucket: &Bucket, id: NodeId, at: Control, outline: &[Option<u64>]) -> Option<NodeId> {
        for (known, nodes) in &bucket.by_known {
            // What covers knows no more.
            if known.iter().zip(outline).any(|(&k, v)| k && v.is_none()) {
                continue;
            }
            for &old in nodes.get(&hash(known, outline)).into_iter().flatten().rev() {
                let alive = matches!(self.arg.node(old).status, Status::Waiting | Status::Expanded);
                if old != id && alive && self.cpa.covers(self.arg.state(old), self.arg.state(id), at) {
                    return Some(old);
                }
            }
        }
        None
    }

    /// Follows the state of a node to the next heads.
    fn expand(&mut self, id: NodeId, budget: &Budget, taints: &mut Taints) -> Result<Expansion<C::State>, Stop> {
        let since = self.arg.state(id).clone();
        let from = self.arg.node(id).at;
        let mut children = Vec::new();
        let mut successors: Successors<C::State> = Vec::new();
        let mut block = Block { pending: vec![Step { state: since.clone(), at: from }], joining: JoinQueue::new() };
        while let Some(Step { mut state, at }) = self.next(&mut block)? {
            self.tick += 1;
            if self.tick >= TICK {
                self.tick = 0;
                if let Some(spent) = budget.spent() {
                    return Err(Stop::Spent(spent));
                }
            }
            self.in_time(budget)?;
            self.counters.edges += 1;
            let mut ways: Vec<Step<C::State>> = Vec::new();
            match self.program.locs[at.loc].out {
                Out::Sink => {}
                Out::Branch { then_edge, else_edge } => {
                    let (yes, no) = self.cpa.branch(state, then_edge, else_edge)?;
                    self.counters.forks += u64::from(yes.is_some() && no.is_some());
                    for (side, edge) in [(no, else_edge), (yes, then_edge)] {
                        let to = Control { loc: self.program.edges[edge].target, ..at };
                        ways.extend(side.map(|state| Step { state, at: to }));
                    }
                }
                Out::One(edge) => match &self.program.edges[edge].op {
                    &Op::Error(error) => match self.cpa.target(&mut state, edge, error)? {
                        Target::Infeasible => {}
                        _ if self.settled.contains(&(id, edge)) => {}
                        Target::Later => return Err(Stop::Spent(Spent::Time)),
                        Target::Reached(_) | Target::Undecided => {
                            return Ok(Expansion::Goal { goal: Goal::Error { edge, error }, state, at });
                        }
                    },
                    Op::Halt(_) => {}
                    Op::Return { .. } => {
                        if let Some((stack, call)) = self.stacks.pop(at.stack) {
                            let state = self.cpa.leave(state, edge, call)?;
                            ways.push(Step { state, at: Control { loc: self.program.edges[call].target, stack } });
                        }
                    }
                    _ => {
                        let plain =
                            matches!(&self.program.edges[edge].op, Op::Assign { .. } | Op::Skip | Op::Havoc { .. });
                        let before = (!plain).then(|| state.clone());
                        self.cpa.transfer(state, at, edge, &mut successors)?;
                        if let Some(&problem) = self.cpa.problems().first() {
                            successors.clear();
                            let state = before.expect("only operations on memory and calls have problems");
                            return Ok(Expansion::Goal { goal: Goal::Problem { edge: problem }, state, at });
                        }
                        if let Some(error) = self.program.edges[edge].fault
                            && !self.settled.contains(&(id, edge))
                        {
                            for mut state in self.cpa.faults() {
                                match self.cpa.target(&mut state, edge, error)? {
                                    Target::Infeasible => {}
                                    Target::Later => return Err(Stop::Spent(Spent::Time)),
                                    Target::Reached(_) | Target::Undecided => {
                                        return Ok(Expansion::Goal { goal: Goal::Error { edge, error }, state, at });
                                    }
                                }
                            }
                        }
                        for (state, to) in successors.drain(..) {
                            let to = match to {
                                At::Source => {
                                    // It asks the solver about all splits so far.
                                    self.tick += TICK / 8;
                                    block.pending.push(Step { state, at });
                                    continue;
                                }
                                At::Target => Control { loc: self.program.edges[edge].target, ..at },
                                At::Callee(func) => {
                                    if self.stacks.depth(at.stack) >= self.max_call_depth {
                                        let text = format!("calls nest deeper than {}", self.max_call_depth);
                                        taints.drop_behaviour(Reason::at(text, self.program.edges[edge].place));
                                        continue;
                                    }
                                    Control {
                                        loc: self.program.funcs[func].entry,
                                        stack: self.stacks.push(at.stack, edge),
                                    }
                                }
                            };
                            ways.push(Step { state, at: to });
                        }
                    }
                },
            }
            self.counters.paths += u64::from(ways.is_empty());
            for mut way in ways {
                if self.heads[way.at.loc.index()] {
                    let decisions = self.cpa.decisions(&mut way.state);
                    match self.cpa.adjust(way.state, way.at, &since)? {
                        Some(state) => {
                            let via = self.walk(from, &decisions, way.at);
                            children.push(Child { state, at: way.at, via });
                        }
                        None => self.counters.paths += 1,
                    }
                } else {
                    self.put(&mut block, way);
                }
            }
        }
        self.in_time(budget)?;
        Ok(Expansion::Children(children))
    }

    /// What the domain said last counts only if it had the time to say it.
    fn in_time(&self, budget: &Budget) -> Result<(), Stop> {
        match self.cpa.ran_out() {
            true => Err(Stop::Spent(budget.spent().unwrap_or(Spent::Time))),
            false => Ok(()),
        }
    }

    fn put(&mut self, block: &mut Block<C::State>, step: Step<C::State>) {
        match &mut self.merging {
            Some(merging) if merging.joins[step.at.loc.index()] => {
                let key = merging.order.key(self.program, &self.stacks, step.at, 0);
                block.joining.push(key, step);
            }
            _ => block.pending.push(step),
        }
    }

    /// The next state to follow within a block. What waits at a join does so until all else has come there or past.
    fn next(&mut self, block: &mut Block<C::State>) -> Result<Option<Step<C::State>>, Stop> {
        if let Some(step) = block.pending.pop() {
            return Ok(Some(step));
        }
        let Some((_, mut steps)) = block.joining.pop() else { return Ok(None) };
        let mut next = steps.pop().expect("places with states only");
        for step in steps {
            if step.at != next.at {
                block.pending.push(step);
                continue;
            }
            match self.cpa.merge(next.state, step.state, next.at) {
                Ok(state) => {
                    self.counters.merged += 1;
                    next.state = state;
                }
                Err(pair) => {
                    next.state = pair.0;
                    block.pending.push(Step { state: pair.1, at: step.at });
                }
            }
        }
        Ok(Some(next))
    }

    /// The edges that follow from decisions, from `at` until `to` is met.
    fn walk(&mut self, mut at: Control, decisions: &[Decision], to: Control) -> Vec<EdgeId> {
        let program = self.program;
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
                    Control { loc: program.funcs[func].entry, stack: self.stacks.push(at.stack, edge) }
                }
                Op::Return { .. } => {
                    let (stack, call) = self.stacks.pop(at.stack).expect("a path that goes on");
                    Control { loc: program.edges[call].target, stack }
                }
                _ => Control { loc: program.edges[edge].target, ..at },
            };
            if at == to {
                return via;
            }
        }
    }
}

/// The states of a block that are still to be followed.
struct Block<S> {
    pending: Vec<Step<S>>,
    joining: JoinQueue<Step<S>>,
}

impl Bucket {
    fn add(&mut self, id: NodeId, outline: &[Option<u64>]) {
        let known: Box<[bool]> = outline.iter().map(Option::is_some).collect();
        let hash = hash(&known, outline);
        let nodes = match self.by_known.iter_mut().find(|(k, _)| *k == known) {
            Some((_, nodes)) => nodes,
            None => {
                self.by_known.push((known, FxHashMap::default()));
                &mut self.by_known.last_mut().expect("just added").1
            }
        };
        let nodes = nodes.entry(hash).or_default();
        if !nodes.contains(&id) {
            nodes.push(id);
        }
    }
}

/// Of the values at the known places.
fn hash(known: &[bool], outline: &[Option<u64>]) -> u64 {
    let mut hasher = FxHasher::default();
    for (_, value) in known.iter().zip(outline).filter(|(k, _)| **k) {
        value.hash(&mut hasher);
    }
    hasher.finish()
}
