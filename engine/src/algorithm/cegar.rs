//! Counterexample-guided abstraction refinement (CEGAR) around the CPA algorithm.
//!
//! The algorithm is Algorithm 2 of Beyer, Löwe: Explicit-state software model checking based on CEGAR and
//! interpolation, FASE 2013, with lazy abstraction: a refinement removes only the part of the graph where the precision
//! changed. A path that can be neither refuted nor confirmed is recorded as undecided, and the search continues with
//! the next path, as in the paper.

use super::Explored;
use super::cpa::{CpaAlgorithm, Hit, Parameters};
use crate::analysis::frontier::Frontier;
use crate::analysis::reached::Reached;
use crate::analysis::reached::graph::{Arg, NodeId};
use crate::analysis::{Abstraction, Goal, PathCheck, Refinement, Stop, WHOLE};
use crate::semantics::control::{Control, walk};
use crate::stats::Counters;
use crate::verdict::{Reason, Taints};
use cfa::{EdgeId, Op, PlaceId, Program};
use smt::budget::{Budget, Spent};

/// After this number of refinements without a change of the precision, the graph is rebuilt. After twice as many, the
/// analysis gives up.
const STALE: u32 = 3;
/// The search ends after more undecided paths to errors than this, unless the analysis runs alone.
const MOST_UNDECIDED: usize = 64;
/// Number of undecided paths that are stored. Of others, only the end location is stored.
const MOST_TOLD: usize = 64;

type TargetHit<C> = Hit<<C as crate::analysis::Cpa>::State, <C as crate::analysis::Cpa>::Evidence, NodeId>;

/// The CPA algorithm with an ARG and refinement of the precision.
pub struct Cegar<'p, C: Abstraction> {
    /// The CPA algorithm.
    pub inner: CpaAlgorithm<'p, C, Arg<'p, C::State>>,
    stale: u32,
    /// The stored undecided paths: end, path and reason.
    undecided: Vec<(Control, Option<Vec<EdgeId>>, Reason)>,
    /// Number of undecided paths, including those not stored.
    given_up: usize,
    /// The search ends after more undecided paths than this.
    patience: usize,
}

impl<'p, C: Abstraction> Cegar<'p, C> {
    /// The CEGAR loop around `cpa`, with an empty ARG.
    pub fn new(program: &'p Program, cpa: C, parameters: Parameters) -> Self {
        let arg = Arg::new(program, matches!(parameters.merge, super::cpa::Merge::InBlocks(_)));
        let inner = CpaAlgorithm::new(program, cpa, arg, parameters);
        Self { inner, stale: 0, undecided: Vec::new(), given_up: 0, patience: MOST_UNDECIDED }
    }

    /// Makes the search end at the first undecided path, or after this number of edges.
    pub fn impatient(mut self, edges: u64) -> Self {
        self.patience = 0;
        self.inner.most_edges = edges;
        self
    }

    /// Makes the search continue after any number of undecided paths.
    pub fn patient(mut self) -> Self {
        self.patience = usize::MAX;
        self
    }

    /// Explores and refines until the exploration is complete or a feasible error path is found. Call it again to
    /// continue.
    pub fn run(
        &mut self,
        budget: &Budget,
        taints: &mut Taints,
        progress: &mut dyn FnMut(&Counters, usize),
    ) -> Result<Explored<C::Evidence>, Stop> {
        loop {
            let hit = match self.inner.next_hit(budget, taints, progress) {
                Ok(Some(hit)) => hit,
                Ok(None) => return Ok(Explored::Complete),
                Err(stop) => {
                    // The state at this node was lost, so its whole block is explored again.
                    if let Some(node) = self.inner.lost.take() {
                        self.redo(self.inner.reached.node(node).head);
                    }
                    return Err(stop);
                }
            };
            if let Some(found) = self.meet(hit, budget)? {
                return Ok(found);
            }
        }
    }

    /// Searches an abstract path to an error; the path ends with the error edge. The search refines only for undecided
    /// operations and for paths that `is_infeasible` rejects.
    pub fn next_path(
        &mut self,
        budget: &Budget,
        taints: &mut Taints,
        is_infeasible: &dyn Fn(&[EdgeId]) -> bool,
    ) -> Result<Option<Vec<EdgeId>>, Stop> {
        while let Some(hit) = self.inner.next_hit(budget, taints, &mut |_, _| {})? {
            let mut path = Vec::new();
            if let Goal::Error { edge, .. } = hit.goal {
                path = self.path(&hit, budget)?.0;
                path.push(edge);
                if !is_infeasible(&path) {
                    return Ok(Some(path));
                }
            }
            if self.meet(hit, budget)?.is_some() {
                // The path is feasible, although `is_infeasible` rejected it.
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// The unexplored part: the frontier of the CPA algorithm and the undecided paths.
    pub fn frontier(&self) -> Frontier {
        let mut frontier = self.inner.frontier(!self.undecided.is_empty());
        for (at, path, reason) in &self.undecided {
            let path = path.as_ref().map(|path| frontier.paths.add(None, path));
            frontier.open.push(self.inner.open(*at, path, Some(reason.clone())));
        }
        if !self.undecided.is_empty() {
            // The undecided paths are not nodes of the tree of paths. It is therefore unknown which covering states
            // precede them.
            frontier.covered.iter_mut().for_each(|covered| covered.by = None);
        }
        frontier
    }

    /// Handles a target that an abstract path reaches: checks its feasibility, and refines the precision if it is
    /// infeasible.
    fn meet(&mut self, hit: TargetHit<C>, budget: &Budget) -> Result<Option<Explored<C::Evidence>>, Stop> {
        let (checked, path, cuts) = match self.check(&hit, budget) {
            Ok(checked) => checked,
            Err(stop) => {
                self.inner.retry(hit);
                return Err(stop);
            }
        };
        let edge = hit.goal.edge();
        match checked {
            PathCheck::Feasible(evidence) => {
                let Goal::Error { error, .. } = hit.goal else { unreachable!("only errors have evidence") };
                // If paths are merged, record the edges after the last head only.
                let last = cuts.last().copied().filter(|_| self.inner.reached.merges());
                let via = last.map_or(&hit.via[..], |head| &path[head..]);
                Reached::<C>::target(&mut self.inner.reached, hit.node, via);
                self.close(hit);
                return Ok(Some(Explored::Target { error, edge, evidence }));
            }
            PathCheck::Unknown(reason) => return self.give_up_on(hit, reason).map(|()| None),
            PathCheck::Infeasible => {}
        }
        let refined = self.inner.cpa.refine(&hit.state, &path, &cuts, hit.goal, budget);
        // A failed refutation after the time ran out is inconclusive.
        let refined = match (refined, budget.spent()) {
            (Ok(Refinement::Refined { changed: true, from }), _) => Ok(Refinement::Refined { changed: true, from }),
            (Ok(_), Some(spent)) => Err(Stop::Spent(spent)),
            (refined, _) => refined,
        };
        match refined {
            Ok(refinement) => self.refined(refinement, hit, &path).map(|()| None),
            Err(stop) => {
                self.inner.retry(hit);
                Err(stop)
            }
        }
    }

    /// The path to a target, the positions on it where states were abstracted, and its feasibility at full precision.
    #[allow(clippy::type_complexity)]
    fn check(
        &mut self,
        hit: &TargetHit<C>,
        budget: &Budget,
    ) -> Result<(PathCheck<C::Evidence>, Vec<EdgeId>, Vec<usize>), Stop> {
        let (path, cuts) = self.path(hit, budget)?;
        let checked = self.inner.cpa.check(&path, hit.goal, WHOLE, budget)?;
        if self.inner.cpa.ran_out() && !matches!(checked, PathCheck::Feasible(_)) {
            return Err(Stop::Spent(budget.spent().unwrap_or(Spent::Time)));
        }
        Ok((checked, path, cuts))
    }

    /// The path to a target, and the positions on it where states were abstracted.
    fn path(&mut self, hit: &TargetHit<C>, budget: &Budget) -> Result<(Vec<EdgeId>, Vec<usize>), Stop> {
        if self.inner.reached.merges() {
            return self.merged_path(hit, budget);
        }
        let (mut path, cuts) = self.inner.reached.path_to(hit.node);
        path.extend(&hit.via);
        Ok((path, cuts))
    }

    /// The path to a target where paths are merged: a feasible one if there is one, else one that is feasible block by
    /// block.
    fn merged_path(&mut self, hit: &TargetHit<C>, budget: &Budget) -> Result<(Vec<EdgeId>, Vec<usize>), Stop> {
        let line = self.inner.reached.line(hit.node);
        let blocks = self.inner.cpa.execution(&hit.state, budget)?.filter(|blocks| !blocks.is_empty());
        let (mut path, mut cuts) = (Vec::new(), Vec::new());
        for (i, pair) in line.windows(2).enumerate() {
            let (from, to) = (self.inner.reached.node(pair[0]).at, self.inner.reached.node(pair[1]));
            match &blocks {
                Some(blocks) => path.extend(walk(self.inner.program, &mut self.inner.stacks, from, &blocks[i], to.at)),
                None => path.extend(&*to.via),
            }
            cuts.push(path.len());
        }
        let last = self.inner.reached.node(*line.last().expect("the root at least")).at;
        if last != hit.at {
            let decisions = match blocks {
                Some(mut blocks) => std::mem::take(&mut blocks[line.len() - 1]),
                None => self.inner.cpa.decisions(&mut hit.state.clone()),
            };
            path.extend(walk(self.inner.program, &mut self.inner.stacks, last, &decisions, hit.at));
        }
        Ok((path, cuts))
    }

    /// Records an undecided path, and continues the search if the patience is not exhausted.
    fn give_up_on(&mut self, hit: TargetHit<C>, reason: Reason) -> Result<(), Stop> {
        self.given_up += 1;
        if self.undecided.len() < MOST_TOLD {
            let path = Reached::<C>::path(&self.inner.reached, hit.node).map(|path| [&path[..], &hit.via].concat());
            self.undecided.push((hit.at, path, reason.clone()));
        } else if !self.undecided.iter().any(|(at, path, _)| *at == hit.at && path.is_none()) {
            self.undecided.push((hit.at, None, reason.clone()));
        }
        if self.given_up > self.patience {
            return Err(Stop::Fatal(reason));
        }
        self.inner.cpa.record_undecided(hit.goal.edge(), reason);
        self.close(hit);
        Ok(())
    }

    /// Records that the target needs no further check in its block.
    fn close(&mut self, hit: TargetHit<C>) {
        let edge = hit.goal.edge();
        self.inner.reached.close(hit.node, edge);
        // The operation also has successors that are no targets.
        if !matches!(self.inner.program.edges[edge].op, Op::Error(_)) {
            self.inner.retry(hit);
        }
    }

    /// Returns the place of a target at the end of a path, for users. If the target is the start of an error function,
    /// it is the place of the call.
    fn place(&self, target: EdgeId, path: &[EdgeId]) -> Option<PlaceId> {
        let program = self.inner.program;
        let starts = program.edges[target].source == program.funcs[program.func_of(target)].entry;
        let is_call = |&edge: &EdgeId| matches!(program.edges[edge].op, Op::Call { .. });
        let call = path.iter().copied().rfind(is_call).filter(|_| starts);
        program.edges[call.unwrap_or(target)].place
    }

    /// Removes the part of the graph where the precision has changed. `path` leads to the target.
    fn refined(&mut self, refinement: Refinement, hit: TargetHit<C>, path: &[EdgeId]) -> Result<(), Stop> {
        let place = self.place(hit.goal.edge(), path);
        match refinement {
            Refinement::Impossible => {
                let text =
                    "the analysis found a path to this place, but neither inputs that take it nor a proof that none do";
                self.give_up_on(hit, Reason::at(text, place))
            }
            Refinement::Refined { from, changed } => {
                self.inner.counters.refinements += u64::from(changed);
                self.stale = if changed { 0 } else { self.stale + 1 };
                if self.stale > 2 * STALE {
                    self.inner.retry(hit);
                    return Err(Stop::Fatal(Reason::at("refinement makes no progress", place)));
                }
                if self.stale == STALE {
                    // The location may depend on states of other scopes, for example of a caller.
                    if self.inner.cpa.widen_precision() {
                        self.stale = 0;
                    }
                    self.inner.reached.clear();
                    self.inner.start();
                } else {
                    let line = self.inner.reached.line(hit.node);
                    self.redo(line[from.min(line.len() - 1)]);
                }
                Ok(())
            }
        }
    }

    /// Rebuilds the block that starts at `head` with the current precision, and removes its successors. One state may
    /// have several successors with a node each, so it is not enough to rebuild one of them.
    fn redo(&mut self, head: NodeId) {
        let uncovered = self.inner.reached.prune_below(head);
        self.inner.end_block();
        self.inner.drop_pruned();
        for id in uncovered.into_iter().chain([head]) {
            let (at, state) = (self.inner.reached.node(id).at, self.inner.reached.state(id).clone());
            self.inner.again(state, at, id);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Analysis, Config, Verdict, replay, verify};
    use cfa::interp::Inputs;
    use smt::budget::Budget;
    use std::fmt::Write;
    use std::time::Duration;

    /// A program with `n` errors that explicit values cannot refute (`y = x; if (x < y)`), followed by an error that is
    /// reachable if `violated`.
    fn with_undecided(n: u32, violated: bool) -> cfa::Program {
        let mut text = String::from(
            "program 64 entry f0\ntype ty0 void\ntype ty1 int \"int\" 32 signed\ninput in0 nondet \"n\" ty1 32\n\
             error err0 \"unreach-call\" \"m\"\n\nfunc f0 \"main\" source ty0 () entry l0 {\n  \
             local v0 \"x\" ty1 32\n  local v1 \"y\" ty1 32\n  l0:\n    t0: v0 := havoc in0 -> l1\n",
        );
        let (mut edge, mut loc) = (1, 1);
        for k in 0..=n {
            let (other, next, error) = (loc + 1, loc + 2, loc + 3);
            let value = if k == n && violated { "7:32" } else { "v0" };
            write!(
                text,
                "  l{loc}:\n    t{edge}: v1 := {value} -> l{other}\n  l{other}:\n    t{}: if (v0 <u v1) -> l{error}\n    \
                 t{}: else (v1 <=u v0) -> l{next}\n  l{error}:\n    t{}: error err0 -> l{next}\n",
                edge + 1,
                edge + 2,
                edge + 3
            )
            .expect("strings take all");
            (edge, loc) = (edge + 4, loc + 4);
            // The next location.
            write!(text, "  l{next}:\n    t{edge}: skip -> l{loc}\n").expect("strings take all");
            edge += 1;
        }
        text += &format!("  l{loc}:\n}}\n");
        cfa::text::parse(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
    }

    #[test]
    fn the_search_goes_on_behind_what_values_cannot_refute() {
        let config = Config { analysis: Analysis::VALUE, wants_frontier: true, ..Config::default() };
        let run = |violated| {
            let program = with_undecided(3 * super::MOST_TOLD as u32, violated);
            let replay = |inputs: &Inputs, error| {
                replay(&program, inputs, error, Duration::from_secs(9)).map(|path| (inputs.clone(), path))
            };
            verify(&program, &config, &Budget::unlimited(), &replay, &|_| {})
        };
        let unknown = run(false);
        assert!(matches!(unknown.verdict, Verdict::Unknown(_)), "{:?}", unknown.verdict);
        // Paths beyond the limit are stored by their end location only.
        let open = &unknown.frontiers[0].open;
        assert_eq!(open.iter().filter(|open| open.path.is_some()).count(), super::MOST_TOLD);
        assert_eq!(open.len(), 3 * super::MOST_TOLD + 1);
        let outcome = run(true);
        assert!(matches!(outcome.verdict, Verdict::False(_)), "{:?}", outcome.verdict);
    }
}
