//! The CPA algorithm: from a waitlist of states into a reached set, one block at a time (Beyer, Henzinger, Théoduloz:
//! Configurable software verification, CAV 2007; with precision adjustment, ASE 2008; blocks as in adjustable-block
//! encoding, Beyer, Keremoglu, Wendler, FMCAD 2010).
//!
//! One loop for exploration path by path, merged and abstracted. Straight-line code is one step: states wait only where
//! paths fork, where they are merged, and where a step grows too long. What is kept of the states reached is a type
//! parameter ([`Reached`]). Early return, also by error, puts the unfinished state back into the waitlist, so what a run
//! has proved stays true.

mod step;
mod successors;
mod waiting;

use super::Explored;
use crate::analysis::frontier::{Covered, Frontier, Open, PathId, Paths};
use crate::analysis::reached::{Adjusted, Arrival, Forgotten, Reached};
use crate::analysis::waitlist::{JoinKey, JoinOrder, JoinQueue, Rank, Search, Waitlist, distances};
use crate::analysis::work_queue::Desk;
use crate::analysis::{At, Before, Cpa, Goal, Step, Stop, Target};
use crate::domain::symbolic::Loops;
use crate::semantics::control::{CallStacks, Control};
use crate::stats::Counters;
use crate::verdict::{Reason, Taints};
use cfa::{EdgeId, ErrorId, FuncId, Id, Op, Out, Program};
use rustc_hash::{FxHashMap, FxHashSet};
use smt::budget::{Budget, Spent};
use std::sync::Arc;
use waiting::Joining;

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
    /// Whether a state at a head that another one covers is dropped.
    pub covers: bool,
    /// Whether it is noted where states came, as far as paths are kept.
    pub notes_locations: bool,
    /// Paths were left out that another run has verified, counting on these: what is covered may lead to them.
    pub counts_on_rest: bool,
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
    may_stop: bool,
    /// Whether it is several states that were merged since the node.
    merged: bool,
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
    merged: bool,
    pub evidence: Option<E>,
}

/// What follows after so many forks, of the tree of all.
fn part(forks: u32) -> f64 {
    0.5f64.powi(forks.min(1_000) as i32)
}

type Waiting<C, R> = Node<<C as Cpa>::State, <R as Reached<C>>::Node>;
type HitOf<C, R> = Hit<<C as Cpa>::State, <C as Cpa>::Evidence, <R as Reached<C>>::Node>;
type NextOf<C> = Next<<C as Cpa>::State, <C as Cpa>::Evidence>;

/// An exploration in progress.
pub struct CpaAlgorithm<'p, C: Cpa, R: Reached<C> = Forgotten> {
    pub(in crate::algorithm) program: &'p Program,
    pub cpa: C,
    pub reached: R,
    waitlist: Waitlist<Waiting<C, R>>,
    /// What was explored before waits here, and is taken first.
    before: Vec<Waiting<C, R>>,
    joining: Option<Joining<Waiting<C, R>>>,
    pub(in crate::algorithm) stacks: CallStacks,
    /// How often a state began to wait at a location; orders the coverage search.
    visits: Vec<u32>,
    /// From each location to an error, where the order asks for it.
    distances: Vec<u32>,
    parameters: Parameters,
    pub counters: Counters,
    /// By location, whether a state came there; empty where nobody asks.
    pub came: Vec<bool>,
    /// Edges after which somebody else should have a try.
    pub most_edges: u64,
    /// The part of the tree of forks that waits: what follows after n forks is 2^-n of it. Not where states are merged.
    left: f64,
    tick: u32,
    /// The result of the last operation, kept for its buffers.
    result: Step<C::State>,
    ways: Vec<Way<C::State>>,
    /// Where states are left for others, if someone may ask.
    pub desk: Option<Arc<Desk>>,
    /// The node from which a state was followed that was lost for want of time.
    pub(in crate::algorithm) lost: Option<R::Node>,
    /// The nodes behind which states left something out, and why, where paths are kept; and how often it was left out there.
    cut: Vec<(R::Node, Control, Option<Reason>)>,
    cuts: usize,
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
            before: Vec::new(),
            joining,
            stacks: CallStacks::new(),
            visits: vec![0; program.locs.len()],
            distances: match parameters.search {
                Search::Nearest => distances(program),
                _ => Vec::new(),
            },
            came: vec![false; if parameters.notes_locations { program.locs.len() } else { 0 }],
            parameters,
            counters: Counters::default(),
            most_edges: u64::MAX,
            left: 0.0,
            tick: 0,
            result: Step::default(),
            ways: Vec::new(),
            desk: None,
            lost: None,
            cut: Vec::new(),
            cuts: 0,
        };
        this.start();
        this
    }

    /// From the start; what is kept of the states reached is kept.
    pub(in crate::algorithm) fn start(&mut self) {
        self.waitlist = Waitlist::new(self.parameters.search, self.parameters.seed);
        self.before.clear();
        self.end_block();
        self.left = 0.0;
        let at = Control { loc: self.program.funcs[self.program.entry].entry, stack: CallStacks::EMPTY };
        let state = self.cpa.initial();
        let node = self.reached.root(&state, at);
        self.enqueue(Node { state, at, node, forks: 0, iterations: 0, may_stop: false, merged: false }, true);
    }

    /// The part of the tree of forks that has been explored, if states are not merged: an estimate of how far the
    /// exploration is (Knuth: Estimating the efficiency of backtrack programs, 1975).
    pub fn done(&self) -> Option<f64> {
        self.joining.is_none().then(|| (1.0 - self.left).clamp(0.0, 1.0))
    }

    /// States that wait.
    pub fn waiting(&self) -> usize {
        self.waitlist.len() + self.before.len() + self.joining.as_ref().map_or(0, |j| j.queue.len() + j.pending.len())
    }

    /// What is left; with `all` states that are covered, though nothing may be left behind what covers them.
    pub fn frontier(&self, all: bool) -> Frontier {
        let (mut paths, mut known) = (Paths::default(), FxHashMap::default());
        let joining = self.joining.iter().flat_map(|j| j.pending.iter().chain(j.queue.iter()));
        let before = self.before.iter().filter(|n| self.cpa.before(&n.state) != Before::Done);
        let alive = self.waitlist.iter().chain(joining).chain(before).filter(|n| self.reached.is_alive(n.node));
        // What is left out behind a node is open, as is all else behind it.
        let cut = self.cut.iter().map(|(node, at, reason)| (*node, *at, reason.clone()));
        let alive: Vec<(R::Node, Control, Option<Reason>)> = alive.map(|n| (n.node, n.at, None)).chain(cut).collect();
        let mut covered = self.reached.covered();
        if self.desk.is_some() {
            // What was given away may lie behind what covers.
            covered.iter_mut().for_each(|(_, by)| *by = None);
        } else if !all && !self.parameters.counts_on_rest {
            covered = self.not_done(alive.iter().map(|(node, ..)| *node).collect(), covered);
        }
        let tell_open = |(node, at, reason)| self.open(at, self.tell(node, &mut paths, &mut known), reason);
        let open = alive.into_iter().map(tell_open).collect();
        let tell = |(node, by): (R::Node, Option<R::Node>)| Covered {
            path: self.tell(node, &mut paths, &mut known),
            by: by.and_then(|by| self.tell(by, &mut paths, &mut known)),
        };
        let covered = covered.into_iter().map(tell).collect();
        let loops = Loops::new(self.program);
        let covering = self.reached.covers_more(&|at| loops.headed_by(at).is_some()).into_iter();
        let covering = covering.filter_map(|node| self.tell(node, &mut paths, &mut known)).collect();
        let heads = match self.parameters.merge {
            Merge::InBlocks(_) => self.parameters.heads.clone(),
            _ => Vec::new(),
        };
        let tells_all = self.cpa.taints().is_some_and(|taints| taints.count() == self.cuts);
        let is_exact = !R::ABSTRACT;
        Frontier { paths, open, covered, covering, heads, is_exact, tells_all, iterations: None, given_up: None }
    }

    /// Of covered states those that are not done, as [`Frontier::left`] says it: paths to the others, often nearly all of them, are not put together.
    fn not_done(
        &self,
        open: Vec<R::Node>,
        covered: Vec<(R::Node, Option<R::Node>)>,
    ) -> Vec<(R::Node, Option<R::Node>)> {
        let mut by_node: FxHashMap<R::Node, Vec<R::Node>> = FxHashMap::default();
        let (mut todo, mut left) = (open, Vec::new());
        for (node, by) in covered {
            match by {
                Some(by) => by_node.entry(by).or_default().push(node),
                None => {
                    left.push((node, None));
                    todo.push(node);
                }
            }
        }
        let mut leads_there: FxHashSet<R::Node> = FxHashSet::default();
        while let Some(node) = todo.pop() {
            let mut at = Some(node);
            while let Some(n) = at.filter(|n| leads_there.insert(*n)) {
                let covered = by_node.remove(&n).unwrap_or_default();
                left.extend(covered.iter().map(|&node| (node, Some(n))));
                todo.extend(covered);
                at = match self.reached.step(n) {
                    Some((parent, _)) => parent,
                    None => self.reached.block(n).and_then(|(parent, _)| parent),
                };
            }
        }
        left
    }

    /// Adds the path to a node, of which the beginning may be known.
    fn tell(&self, node: R::Node, paths: &mut Paths, known: &mut FxHashMap<R::Node, PathId>) -> Option<PathId> {
        let (mut line, mut at) = (Vec::new(), Some(node));
        let mut path = None;
        while let Some(n) = at {
            path = known.get(&n).copied();
            if path.is_some() {
                break;
            }
            let parent = match self.reached.step(n) {
                Some((parent, via)) => {
                    line.push((n, Ok(via)));
                    parent
                }
                None => {
                    let (parent, head) = self.reached.block(n)?;
                    line.push((n, Err(head)));
                    parent
                }
            };
            at = parent;
        }
        for (n, via) in line.into_iter().rev() {
            path = Some(match via {
                Ok(edges) => paths.add(path, edges),
                Err(head) => paths.add_block(path, head),
            });
            known.extend(path.map(|path| (n, path)));
        }
        path
    }

    pub(in crate::algorithm) fn open(&self, at: Control, path: Option<PathId>, reason: Option<Reason>) -> Open {
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
            if self.desk.as_ref().is_some_and(|desk| desk.is_wanted(self.spare())) {
                self.give();
            }
            let Some(node) = self.dequeue() else { return Ok(None) };
            if self.counters.edges > self.most_edges {
                self.requeue(node);
                return Err(Stop::Fatal(Reason::new("too many states")));
            }
            progress(&self.counters, self.waiting() + 1);
            let before = (node.node, node.at, self.left_out(taints));
            let hit = self.step(node, budget, taints);
            self.note_cut(before, taints);
            if let Some(hit) = hit? {
                return Ok(Some(hit));
            }
        }
    }

    /// How often something was left out, here and by the domain.
    fn left_out(&self, taints: &Taints) -> [usize; 2] {
        [taints.count(), self.cpa.taints().map_or(0, Taints::count)]
    }

    /// What was left out in following the state of a node is behind it.
    fn note_cut(&mut self, (node, at, before): (R::Node, Control, [usize; 2]), taints: &Taints) {
        let now = self.left_out(taints);
        if !R::PATHS || R::ABSTRACT || now == before {
            return;
        }
        let by_domain = self.cpa.taints().filter(|_| now[1] > before[1]);
        self.cut.push((node, at, by_domain.unwrap_or(taints).last(self.program)));
        self.cuts += now[1] - before[1];
    }

    /// Explores states that are not abstract until an error is reached or nothing is left.
    pub fn run(
        &mut self,
        budget: &Budget,
        taints: &mut Taints,
        progress: &mut dyn FnMut(&Counters, usize),
    ) -> Result<Explored<C::Evidence>, Stop> {
        Ok(match self.next_hit(budget, taints, progress)? {
            None => Explored::Complete,
            Some(Hit { goal: Goal::Error { edge, error }, node, via, evidence: Some(evidence), .. }) => {
                self.reached.target(node, &via);
                Explored::Target { error, edge, evidence }
            }
            Some(_) => unreachable!("errors of states that are not abstract come with evidence"),
        })
    }
}
