//! Interpolation for values and constraints.
//!
//! For explicit values, the algorithms are Interpolate and Refine (Algorithms 3 and 4) of Beyer, Löwe: Explicit-state
//! software model checking based on CEGAR and interpolation, FASE 2013. With symbols, values and constraints are
//! interpolated together (Lemberger: Abstraction refinement for model checking: program slicing + CEGAR, master's
//! thesis, LMU Munich 2018, section 2.5). An interpolant is a subset of a state that contradicts the rest of the path.
//! Usually one backward pass over the path finds the interpolants ([`dependence`](super::dependence)). If it does not,
//! the interpolants are minimal subsets, found by bisection (Junker: QuickXplain, AAAI 2004). Each is then derived from
//! the previous interpolant.

use super::dependence::{Needed, Recording};
use crate::analysis::{Goal, Increment, Refinement, Stop};
use crate::domain::path::{Carrier, Follower, PathEnd};
use crate::domain::symbolic::SymbolicExecution;
use crate::domain::value::{Item, Kept, ValueAbstraction, describe};
use crate::semantics::Mode;
use crate::semantics::control::{CallStacks, Control};
use cfa::EdgeId;
use rustc_hash::FxHashSet;

/// A domain with a value abstraction.
pub trait Valued<'p>: Carrier<'p> {
    /// The value abstraction.
    fn values(&self) -> &ValueAbstraction;
    /// The value abstraction, to be changed.
    fn values_mut(&mut self) -> &mut ValueAbstraction;
    /// Forgets the values and constraints of a state that `keep` does not select.
    fn restrict(&mut self, st: &mut Self::State, at: Control, keep: &dyn Fn(Item) -> Kept);
}

/// An infeasible path for which interpolants are computed.
pub struct Infeasible<'a, 'b, 'p, C: Valued<'p>> {
    follower: &'a mut Follower<'b, 'p, C>,
    path: &'a [EdgeId],
    /// The abstraction points on the path, as (number of the cut, number of edges before it).
    cuts: Vec<(usize, usize)>,
    /// The goal of the path. `None` if the path is contradictory before it.
    goal: Option<Goal>,
}

impl<'a, 'b, 'p, C: Valued<'p>> Infeasible<'a, 'b, 'p, C> {
    /// Refines the precision so that it refutes a path, whose states are abstracted after `cuts` edges. Returns the
    /// refinement and what it learned.
    pub fn refute(
        follower: &'a mut Follower<'b, 'p, C>,
        path: &'a [EdgeId],
        cuts: &[usize],
        goal: Goal,
    ) -> Result<(Refinement, Option<Increment>), Stop> {
        let place = follower.place_of(goal, path);
        let recording = Recording::record(follower, path, goal)?;
        let end = match &recording {
            Some(recording) => recording.end(),
            None => {
                let start = follower.cpa.initial();
                match follower.contradiction(vec![start], path, Some(goal))? {
                    Some(end) => end,
                    None => return Ok((Refinement::Impossible, None)),
                }
            }
        };
        // The part of the path after the first contradiction is irrelevant.
        let whole = end == path.len();
        let goal = whole.then_some(goal);
        let relevant = |&(_, cut): &(usize, usize)| cut > 0 && (cut < end || whole);
        let all: Vec<(usize, usize)> = cuts.iter().copied().enumerate().filter(|&(_, cut)| cut > 0).collect();
        let cuts = all.iter().copied().filter(relevant).collect();
        let mut this = Self { follower, path: &path[..end], cuts, goal };
        let mut learned = Vec::new();
        let mut from = None;
        if let Some(recording) = &recording {
            from = this.track(&recording.needed(&this.cuts), &mut learned)?;
        }
        if from.is_none() {
            from = this.by_removal(&mut learned)?;
        }
        let Some(mut from) = from else { return Ok((Refinement::Impossible, None)) };
        let changed = !learned.is_empty();
        if let Some(recording) = &recording {
            this.path = path;
            from = from.min(this.track_in_advance(&recording.deciding(&all), &all, &mut learned).unwrap_or(from));
        }
        learned.sort_unstable();
        learned.dedup();
        let program = this.follower.cpa.symbolic().execution.program;
        let mut tracked: Vec<String> = learned.iter().map(|&item| describe(program, item)).collect();
        tracked.dedup();
        let increment = (!tracked.is_empty()).then_some(Increment { goal: place, tracked });
        Ok((Refinement::Refined { from, changed }, increment))
    }

    /// Tracks the needed items. Returns the first cut at which the precision changes, else the first with needed items.
    /// `None` if the items do not refute the path.
    fn track(&mut self, needed: &Needed, learned: &mut Vec<Item>) -> Result<Option<usize>, Stop> {
        let precision = self.follower.cpa.values_mut().precision_mut();
        if needed.iter().any(|(_, items)| items.iter().any(|&i| precision.is_banned(i))) {
            return Ok(None);
        }
        let (mut new, mut known) = (None, None);
        for (number, items) in needed {
            let Some(&(_, cut)) = self.cuts.iter().find(|(n, _)| n == number) else { continue };
            let at = self.follower.loc_after(self.path, cut);
            let precision = self.follower.cpa.values_mut().precision_mut();
            let missing: Vec<Item> = items.iter().copied().filter(|&i| !precision.tracks(at, i)).collect();
            if !items.is_empty() {
                known = known.or(Some(*number));
            }
            items.iter().for_each(|&item| precision.confirm(item));
            for item in missing {
                precision.add(at, item);
                learned.push(item);
                new = new.or(Some(*number));
            }
        }
        match self.abstract_states()? {
            None => Ok(new.or(known)),
            Some(_) => Ok(None),
        }
    }

    /// Tracks the items that decide the other branches of the path, to avoid one refinement per branch. Returns the
    /// first cut at which the precision changes.
    fn track_in_advance(
        &mut self,
        deciding: &Needed,
        cuts: &[(usize, usize)],
        learned: &mut Vec<Item>,
    ) -> Option<usize> {
        let mut from = None;
        for (number, items) in deciding {
            let Some(&(_, cut)) = cuts.iter().find(|(n, _)| n == number) else { continue };
            let at = self.follower.loc_after(self.path, cut);
            for &item in items {
                if self.follower.cpa.values_mut().precision_mut().add_in_advance(at, item) {
                    learned.push(item);
                    from = from.or(Some(*number));
                }
            }
        }
        from
    }

    /// Refines cut by cut. Each round finds the first cut at which the precision is insufficient, and adds the missing
    /// items there.
    fn by_removal(&mut self, learned: &mut Vec<Item>) -> Result<Option<usize>, Stop> {
        let start = self.follower.cpa.initial();
        let mut from = None;
        while let Some(states) = self.abstract_states()? {
            let enough = self.first_without(&states, |this, states, cut| this.contradicts(states.to_vec(), cut))?;
            let Some(&(i, cut)) = self.cuts.get(enough) else { break };
            // The strongest postcondition of the previous interpolant over the block.
            let (before, done) = match enough.checked_sub(1) {
                None => (vec![start.clone()], 0),
                Some(last) => (states[last].clone(), self.cuts[last].1),
            };
            let PathEnd::States(states) = self.follower.along(before, &self.path[done..cut])? else { break };
            let at = self.at(cut);
            let mut items: Vec<Item> = Vec::new();
            for st in &states {
                let live = self.follower.cpa.symbolic_mut().execution.live(st.frame.func);
                let SymbolicExecution { execution, loops, .. } = self.follower.cpa.symbolic();
                items.extend(self.follower.cpa.values().items(execution, live.at(at.loc), loops, st));
            }
            let mut seen = FxHashSet::default();
            items.retain(|&i| seen.insert(i));
            if !self.suffices(&states, cut, &items)? {
                break;
            }
            let (tracked, others): (Vec<Item>, Vec<Item>) =
                items.into_iter().partition(|&item| self.follower.cpa.values().precision().tracks(at.loc, item));
            let before = learned.len();
            for item in self.needed(&states, cut, &tracked, &others)? {
                if self.follower.cpa.values_mut().precision_mut().add(at.loc, item) {
                    learned.push(item);
                }
            }
            if learned.len() == before {
                break;
            }
            from = from.or(Some(i));
        }
        match from {
            Some(from) => Ok(Some(from)),
            // The precision has all necessary items, but the graph was built before it did. Rebuild it from the first
            // relevant cut.
            None => match self.abstract_states()? {
                Some(_) => Ok(None),
                None => self.first_that_matters(),
            },
        }
    }

    /// The control state after `cut` edges of the path.
    fn at(&self, cut: usize) -> Control {
        Control { loc: self.follower.loc_after(self.path, cut), stack: CallStacks::EMPTY }
    }

    /// True if the states contradict the rest of the path after `cut` edges.
    fn contradicts(&mut self, states: Vec<C::State>, cut: usize) -> Result<bool, Stop> {
        Ok(self.follower.contradiction(states, &self.path[cut..], self.goal)?.is_some())
    }

    /// A minimal subset of `items` that contradicts the rest of the path together with `background`.
    fn needed(
        &mut self,
        states: &[C::State],
        cut: usize,
        background: &[Item],
        items: &[Item],
    ) -> Result<Vec<Item>, Stop> {
        if self.suffices(states, cut, background)? {
            return Ok(Vec::new());
        }
        if items.len() == 1 {
            return Ok(items.to_vec());
        }
        let (preferred, other) = items.split_at(items.len().div_ceil(2));
        let with: Vec<Item> = background.iter().chain(preferred).copied().collect();
        let mut keep = self.needed(states, cut, &with, other)?;
        let with: Vec<Item> = background.iter().chain(&keep).copied().collect();
        keep.extend(self.needed(states, cut, &with, preferred)?);
        Ok(keep)
    }

    /// True if the kept items suffice to contradict the rest of the path.
    fn suffices(&mut self, states: &[C::State], cut: usize, keep: &[Item]) -> Result<bool, Stop> {
        let states = self.restricted(states, cut, keep);
        self.contradicts(states, cut)
    }

    /// The states with all items forgotten except those in `keep`.
    fn restricted(&mut self, states: &[C::State], cut: usize, keep: &[Item]) -> Vec<C::State> {
        let at = self.at(cut);
        let wanted = |item: Item| if keep.contains(&item) { Kept::All } else { Kept::Nothing };
        let mut all = states.to_vec();
        for st in &mut all {
            self.follower.cpa.restrict(st, at, &wanted);
        }
        all
    }

    /// The abstract states at the cuts with the current precision. `None` if the precision refutes the path.
    fn abstract_states(&mut self) -> Result<Option<Vec<Vec<C::State>>>, Stop> {
        let mode = Mode { is_abstract: true, ..self.follower.cpa.symbolic().execution.mode };
        let (path, cuts, goal) = (self.path, &self.cuts, self.goal);
        self.follower.in_mode(mode, |this| {
            let (mut states, mut done) = (vec![this.cpa.initial()], 0);
            let mut all = Vec::with_capacity(cuts.len());
            for &(_, cut) in cuts {
                states = match this.along(states, &path[done..cut])? {
                    PathEnd::States(states) => states,
                    PathEnd::Nowhere(_) => return Ok(None),
                    PathEnd::Undecided => return Ok(Some(all)),
                };
                done = cut;
                let at = Control { loc: this.loc_after(path, cut), stack: CallStacks::EMPTY };
                let mut abstracted: Vec<C::State> = Vec::with_capacity(states.len());
                for st in states {
                    let st = this.cpa.abstracted(st, at);
                    // Folding and unfolding may produce the same state again.
                    if !abstracted.iter().any(|old| this.cpa.covers(old, &st, at)) {
                        abstracted.push(st);
                    }
                }
                states = abstracted;
                all.push(states.clone());
            }
            let refuted = this.contradiction(states, &path[done..], goal)?.is_some();
            Ok((!refuted).then_some(all))
        })
    }

    /// The index of the first cut at which `holds` is false, by bisection. `holds` must be monotone.
    fn first_without(
        &mut self,
        states: &[Vec<C::State>],
        mut holds: impl FnMut(&mut Self, &[C::State], usize) -> Result<bool, Stop>,
    ) -> Result<usize, Stop> {
        let (mut low, mut high) = (0, states.len());
        while low < high {
            let middle = (low + high) / 2;
            let cut = self.cuts[middle].1;
            match holds(self, &states[middle], cut)? {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        Ok(low)
    }

    /// The first cut at which a state without any item no longer contradicts the rest of the path.
    fn first_that_matters(&mut self) -> Result<Option<usize>, Stop> {
        let mut states = Vec::with_capacity(self.cuts.len());
        let (mut now, mut done) = (vec![self.follower.cpa.initial()], 0);
        for &(_, cut) in &self.cuts {
            let PathEnd::States(next) = self.follower.along(now, &self.path[done..cut])? else { break };
            states.push(next.clone());
            (now, done) = (next, cut);
        }
        let first = self.first_without(&states, |this, states, cut| {
            let none = this.restricted(states, cut, &[]);
            this.contradicts(none, cut)
        })?;
        Ok(self.cuts.get(first).map(|&(i, _)| i))
    }
}
