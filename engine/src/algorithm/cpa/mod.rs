//! The CPA algorithm: takes a state from the waitlist and adds its successors to the reached set (Beyer, Henzinger,
//! Théoduloz: Configurable software verification, CAV 2007; precision adjustment: ASE 2008; blocks as in
//! adjustable-block encoding: Beyer, Keremoglu, Wendler, FMCAD 2010).
//!
//! One loop serves exploration path by path, with merged paths, and with abstraction. Straight-line code is one step.
//! States wait only where paths fork, where states are merged, and after long steps. The reached set is a type
//! parameter ([`Reached`]). An early return, also with an error, puts the unfinished state back into the waitlist, so
//! an exploration can always continue.

mod step;
mod successors;
mod waiting;

use super::Explored;
use crate::analysis::frontier::{Covered, Frontier, Open, PathId, Paths};
use crate::analysis::reached::{Adjusted, Arrival, NoReachedSet, Reached};
use crate::analysis::waitlist::{JoinKey, JoinOrder, JoinQueue, Rank, SearchOrder, Waitlist, distances};
use crate::analysis::work_queue::WorkQueue;
use crate::analysis::{At, Cpa, EarlierProgress, Goal, Step, Stop, Target};
use crate::domain::symbolic::Loops;
use crate::semantics::control::{CallStacks, Control};
use crate::stats::Counters;
use crate::verdict::{Reason, Taints};
use cfa::{EdgeId, ErrorId, FuncId, Id, Op, Out, Program};
use rustc_hash::{FxHashMap, FxHashSet};
use smt::budget::{Budget, Spent};
use std::sync::Arc;
use waiting::Joining;

/// The locations where states are merged.
pub enum Merge {
    /// States are not merged.
    Never,
    /// States are merged at heads.
    AtHeads,
    /// States are merged at the locations marked here, within blocks from head to head. A block is one formula.
    InBlocks(Vec<bool>),
}

/// The parameters of the algorithm.
pub struct Parameters {
    /// True for locations where states are adjusted and may be covered. Every cycle should have one.
    pub heads: Vec<bool>,
    /// The locations where states are merged.
    pub merge: Merge,
    /// The order of the waitlist.
    pub search: SearchOrder,
    /// Seed of the random choices of the search.
    pub seed: u64,
    /// Largest call depth that is explored.
    pub max_call_depth: u32,
    /// True if covered states at heads are dropped.
    pub covers: bool,
    /// True if the algorithm records the locations that states reach, provided that the reached set records paths.
    pub notes_locations: bool,
    /// True if paths were left out that are verified only if all others are. Covered states may lead to them.
    pub counts_on_rest: bool,
}

/// A state with its position in the program.
struct Node<S, N> {
    state: S,
    at: Control,
    /// The node in the reached set.
    node: N,
    forks: u32,
    /// Number of loop and recursion iterations so far, if states are merged.
    iterations: u32,
    /// True if the state is at a head where coverage has to be checked.
    may_stop: bool,
    /// True if states were merged into it since the node.
    merged: bool,
}

/// A successor of a state.
struct Successor<S> {
    state: S,
    at: Control,
    edge: EdgeId,
    /// Like `edge`, but the call edge if `edge` is a return.
    over: EdgeId,
    /// False if the same edge has to be executed again.
    moved: bool,
}

/// The successors of a state.
enum Next<S, E> {
    /// A single successor.
    One(Successor<S>),
    /// None or several, which are in [`CpaAlgorithm::ways`].
    Ways,
    /// The state reaches a target.
    Hit { goal: Goal, state: S, before: Option<S>, evidence: Option<E> },
    /// The unchanged state, for a later time slice. Further successors may be in [`CpaAlgorithm::ways`].
    Later(S),
}

/// A state that reached a target: an error or an undecided operation.
pub struct Hit<S, E, N> {
    /// The target.
    pub goal: Goal,
    /// The state at the target.
    pub state: S,
    /// The state before the operation, if it differs.
    before: Option<S>,
    /// The position before the target.
    pub at: Control,
    /// The last node on the path.
    pub node: N,
    /// The edges since that node.
    pub via: Vec<EdgeId>,
    merged: bool,
    /// The evidence for the error. Abstract states have none.
    pub evidence: Option<E>,
}

/// The share of the tree of forks below a state after `forks` forks.
fn part(forks: u32) -> f64 {
    0.5f64.powi(forks.min(1_000) as i32)
}

type Waiting<C, R> = Node<<C as Cpa>::State, <R as Reached<C>>::Node>;
type HitOf<C, R> = Hit<<C as Cpa>::State, <C as Cpa>::Evidence, <R as Reached<C>>::Node>;
type NextOf<C> = Next<<C as Cpa>::State, <C as Cpa>::Evidence>;

/// An exploration.
pub struct CpaAlgorithm<'p, C: Cpa, R: Reached<C> = NoReachedSet> {
    pub(in crate::algorithm) program: &'p Program,
    /// The domain.
    pub cpa: C,
    /// The reached set.
    pub reached: R,
    waitlist: Waitlist<Waiting<C, R>>,
    /// The waiting states whose continuations an earlier run explored. They are taken first.
    before: Vec<Waiting<C, R>>,
    joining: Option<Joining<Waiting<C, R>>>,
    pub(in crate::algorithm) stacks: CallStacks,
    /// Number of insertions into the waitlist by location. The coverage search uses it.
    visits: Vec<u32>,
    /// Distance from each location to an error, if the search uses it.
    distances: Vec<u32>,
    parameters: Parameters,
    /// Counters of the exploration.
    pub counters: Counters,
    /// By location: true if a state reached it. Empty if not recorded.
    pub visited: Vec<bool>,
    /// Limit on the number of edges. The exploration stops beyond it.
    pub most_edges: u64,
    /// The unexplored share of the tree of forks: a state after n forks counts 2^-n. Not maintained where states are
    /// merged.
    left: f64,
    tick: u32,
    /// The result of the last operation. Its buffers are reused.
    result: Step<C::State>,
    ways: Vec<Successor<C::State>>,
    /// The work queue for waiting states that other threads take.
    pub work_queue: Option<Arc<WorkQueue>>,
    /// The node whose successor was lost because time ran out.
    pub(in crate::algorithm) lost: Option<R::Node>,
    /// The nodes after which behaviours were dropped, with the reason. Maintained if the reached set records paths.
    cut: Vec<(R::Node, Control, Option<Reason>)>,
    cuts: usize,
}

impl<'p, C: Cpa, R: Reached<C>> CpaAlgorithm<'p, C, R> {
    /// An exploration that starts at the entry of `program`.
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
                SearchOrder::Nearest => distances(program),
                _ => Vec::new(),
            },
            visited: vec![false; if parameters.notes_locations { program.locs.len() } else { 0 }],
            parameters,
            counters: Counters::default(),
            most_edges: u64::MAX,
            left: 0.0,
            tick: 0,
            result: Step::default(),
            ways: Vec::new(),
            work_queue: None,
            lost: None,
            cut: Vec::new(),
            cuts: 0,
        };
        this.start();
        this
    }

    /// Starts again at the entry of the program. Keeps the reached set.
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

    /// The explored share of the tree of forks, unless states are merged. It estimates the progress (Knuth: Estimating
    /// the efficiency of backtrack programs, 1975).
    pub fn done(&self) -> Option<f64> {
        self.joining.is_none().then(|| (1.0 - self.left).clamp(0.0, 1.0))
    }

    /// Number of waiting states.
    pub fn waiting(&self) -> usize {
        self.waitlist.len() + self.before.len() + self.joining.as_ref().map_or(0, |j| j.queue.len() + j.pending.len())
    }

    /// The frontier. With `all`, it contains all covered states, also those whose covering states are completely
    /// explored.
    pub fn frontier(&self, all: bool) -> Frontier {
        let (mut paths, mut known) = (Paths::default(), FxHashMap::default());
        let joining = self.joining.iter().flat_map(|j| j.pending.iter().chain(j.queue.iter()));
        let before = self.before.iter().filter(|n| self.cpa.earlier_progress(&n.state) != EarlierProgress::Done);
        let alive = self.waitlist.iter().chain(joining).chain(before).filter(|n| self.reached.is_alive(n.node));
        // The node where a behaviour was dropped is open, with all its continuations.
        let cut = self.cut.iter().map(|(node, at, reason)| (*node, *at, reason.clone()));
        let alive: Vec<(R::Node, Control, Option<Reason>)> = alive.map(|n| (n.node, n.at, None)).chain(cut).collect();
        let mut covered = self.reached.covered();
        if self.work_queue.is_some() {
            // Work given to other threads may continue a covering state.
            covered.iter_mut().for_each(|(_, by)| *by = None);
        } else if !all && !self.parameters.counts_on_rest {
            covered = self.not_done(alive.iter().map(|(node, ..)| *node).collect(), covered);
        }
        let tell_open = |(node, at, reason)| self.open(at, self.add_path(node, &mut paths, &mut known), reason);
        let open = alive.into_iter().map(tell_open).collect();
        let tell = |(node, by): (R::Node, Option<R::Node>)| Covered {
            path: self.add_path(node, &mut paths, &mut known),
            by: by.and_then(|by| self.add_path(by, &mut paths, &mut known)),
        };
        let covered = covered.into_iter().map(tell).collect();
        let loops = Loops::new(self.program);
        let covering = self.reached.covers_more(&|at| loops.headed_by(at).is_some()).into_iter();
        let covering = covering.filter_map(|node| self.add_path(node, &mut paths, &mut known)).collect();
        let heads = match self.parameters.merge {
            Merge::InBlocks(_) => self.parameters.heads.clone(),
            _ => Vec::new(),
        };
        let is_complete = self.cpa.taints().is_some_and(|taints| taints.count() == self.cuts);
        let is_exact = !R::ABSTRACT;
        Frontier { paths, open, covered, covering, heads, is_exact, is_complete, iterations: None, given_up: None }
    }

    /// The covered states that are not done, as [`Frontier::left`] defines it. The paths of all others, often nearly
    /// all, need not be assembled.
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

    /// Adds the path to a node. Prefixes in `known` are shared.
    fn add_path(&self, node: R::Node, paths: &mut Paths, known: &mut FxHashMap<R::Node, PathId>) -> Option<PathId> {
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

    /// Explores until a target is reached or no state is left. Calls `progress` regularly.
    pub fn next_hit(
        &mut self,
        budget: &Budget,
        taints: &mut Taints,
        progress: &mut dyn FnMut(&Counters, usize),
    ) -> Result<Option<HitOf<C, R>>, Stop> {
        loop {
            // Merging takes long, and the solver refutes nothing after the time has run out. So stop before.
            if self.joining.is_some()
                && let Some(spent) = budget.spent()
            {
                return Err(Stop::Spent(spent));
            }
            if self.work_queue.as_ref().is_some_and(|work_queue| work_queue.is_wanted(self.spare())) {
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

    /// Number of dropped behaviours, of the algorithm and of the domain.
    fn left_out(&self, taints: &Taints) -> [usize; 2] {
        [taints.count(), self.cpa.taints().map_or(0, Taints::count)]
    }

    /// Records that behaviours were dropped while the state of a node was explored.
    fn note_cut(&mut self, (node, at, before): (R::Node, Control, [usize; 2]), taints: &Taints) {
        let now = self.left_out(taints);
        if !R::PATHS || R::ABSTRACT || now == before {
            return;
        }
        let by_domain = self.cpa.taints().filter(|_| now[1] > before[1]);
        self.cut.push((node, at, by_domain.unwrap_or(taints).last(self.program)));
        self.cuts += now[1] - before[1];
    }

    /// Explores concrete path states until an error is reached or no state is left.
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
