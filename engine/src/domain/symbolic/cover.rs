//! Coverage: a path is not followed further if an earlier state covers its state.
//!
//! With coverage, symbolic execution terminates on loops that return to the same state, such as those of reactive
//! programs whose state is concrete and whose inputs are forgotten.

use super::state::State;
use super::{Coverer, Stop, SymbolicExecution};
use crate::semantics::control::Control;
use crate::semantics::{ObjId, Val};
use cfa::{Id, LocId};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Number of visits of a location after which its lookups must have succeeded for new states to be kept and looked up
/// at every visit.
const TRIAL: u64 = 256;
/// Maximal number of states with equal fingerprints that are compared, newest first.
const LOOKUPS: usize = 8;
/// Maximal number of kept states.
const MOST: usize = 200_000;

/// The states kept for coverage.
#[derive(Default)]
pub struct Covering {
    /// The kept states, by control state and fingerprint.
    kept: FxHashMap<(Control, u64), Vec<Snapshot>>,
    records: FxHashMap<LocId, Record>,
    total: usize,
    /// The number of calls so far.
    calls: usize,
}

/// The success of lookups at a location.
#[derive(Default)]
struct Record {
    visits: u64,
    hits: u64,
}

/// A kept state.
struct Snapshot {
    st: State,
    /// The number of the call that kept it.
    call: usize,
}

impl SymbolicExecution<'_> {
    /// The locations where states may cover one another: loop heads and joins of branches.
    pub fn heads(&self) -> Vec<bool> {
        let mut incoming = vec![0u8; self.execution.program.locs.len()];
        for edge in self.execution.program.edges.values() {
            let n = &mut incoming[edge.target.index()];
            *n = n.saturating_add(1);
        }
        for func in self.execution.program.funcs.values() {
            let n = &mut incoming[func.entry.index()];
            *n = n.saturating_add(1);
        }
        incoming.into_iter().map(|n| n > 1).collect()
    }

    /// The cut points: loop heads and entries of recursive functions, which cut every cycle. If `calls_too`, also the
    /// entries of all functions and the locations after calls.
    pub fn cutpoints(&self, calls_too: bool) -> Vec<bool> {
        let mut heads = vec![false; self.execution.program.locs.len()];
        for l in &self.loops.loops {
            heads[l.head.index()] = true;
        }
        let calls = cfa::CallGraph::new(self.execution.program);
        for (id, func) in self.execution.program.funcs.iter() {
            if calls_too || calls.is_recursive(id) {
                heads[func.entry.index()] = true;
            }
        }
        for edge in self.execution.program.edges.values().filter(|e| calls_too && matches!(e.op, cfa::Op::Call { .. }))
        {
            heads[edge.target.index()] = true;
        }
        heads
    }

    /// Looks for an earlier state at `at` that covers `st`. If there is none, `st` may be kept.
    pub(super) fn coverer(&mut self, st: &State, at: Control) -> Result<Option<Coverer>, Stop> {
        let call = self.covering.calls;
        self.covering.calls += 1;
        let record = self.covering.records.entry(at.loc).or_default();
        record.visits += 1;
        let visits = record.visits;
        // Lookups at a location without success become rarer, but never stop.
        let promising = record.hits * 64 >= visits.saturating_sub(TRIAL);
        if !promising && !visits.is_power_of_two() && !visits.is_multiple_of(16) {
            return Ok(None);
        }
        let key = (at, self.fingerprint(st, at));
        let mut candidates = self.covering.kept.remove(&key).unwrap_or_default();
        let found = candidates.iter().rev().take(LOOKUPS).find(|candidate| self.state_covers(&candidate.st, st, at));
        let coverer = found.map(|candidate| Coverer::OfCall(candidate.call));
        if coverer.is_some() {
            self.covering.records.entry(at.loc).or_default().hits += 1;
        } else if (promising || visits.is_power_of_two()) && self.covering.total < MOST && self.has_model(st) {
            candidates.push(Snapshot { st: st.clone(), call });
            self.covering.total += 1;
        }
        if !candidates.is_empty() {
            self.covering.kept.insert(key, candidates);
        }
        Ok(coverer)
    }

    /// Keeps a state that an earlier run reached at `at`, so that it may cover others. Counts as a call of
    /// [`coverer`](Self::coverer).
    pub(super) fn keep_for_covering(&mut self, st: &State, at: Control) {
        let call = self.covering.calls;
        self.covering.calls += 1;
        let mut st = st.clone();
        if self.covering.total < MOST && self.execution.is_feasible(&mut st) && self.has_model(&st) {
            let key = (at, self.fingerprint(&st, at));
            self.covering.kept.entry(key).or_default().push(Snapshot { st, call });
            self.covering.total += 1;
        }
    }

    /// True if the state is known to be feasible. A state that the solver could not decide must not cover others, since
    /// it may represent no execution.
    fn has_model(&self, st: &State) -> bool {
        st.pc.model().is_some_and(|m| !m.is_spurious())
    }

    /// True if `old` covers `new`, both at `at`.
    pub(in crate::domain) fn state_covers(&mut self, old: &State, new: &State, at: Control) -> bool {
        if old.past.is_some() && new.past.is_none() {
            return false;
        }
        self.execution.covers(old, new, at)
    }

    /// A hash of the concrete live values in the top frame and the globals. States of which one may cover the other
    /// have equal hashes.
    fn fingerprint(&mut self, st: &State, at: Control) -> u64 {
        let mut hasher = FxHasher::default();
        let live = self.execution.live(st.frame.func);
        for &slot in live.at(at.loc) {
            hash_val(st.frame.vars[slot as usize], &mut hasher);
        }
        for &slot in self.execution.read_globals() {
            hash_val(st.globals[slot as usize], &mut hasher);
        }
        hasher.finish()
    }
}

fn hash_val(value: Val, hasher: &mut FxHasher) {
    match value {
        Val::Int(v) => (0u8, v).hash(hasher),
        Val::Ptr(ObjId(object), offset) => (1u8, object, offset).hash(hasher),
        Val::Expr(_) | Val::Unset | Val::Unknown => 2u8.hash(hasher),
    }
}
