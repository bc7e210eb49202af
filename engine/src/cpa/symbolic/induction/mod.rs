//! Proofs by induction over loops and recursions.
//!
//! # Loops
//!
//! In this mode a path does not go round a loop at will. Where it enters one, it is split in two. The *first* path goes on
//! as it is, for the first `k - 1` turns. On the *any* path, everything the loop may change becomes unknown, except that
//! the loop's *candidate invariants* hold, and it goes round `k` times: the first `k - 1` of these turns stand for turns
//! of the execution that went well, and only the last is looked at. So in the early turns of an any path, errors and exits from
//! the loop are dropped, and where it comes back to the head the candidates are assumed; after the last turn, and at every head
//! on the first path, they are checked. A candidate that does not hold at a check is dropped, and the run has to be
//! repeated, until a run drops none: then all remaining candidates are `k`-inductive together (for `k = 1`: Flanagan, Leino:
//! Houdini, an annotation assistant for ESC/Java, FME 2001), and if that run reached no error, the program is safe
//! (Sheeran, Singh, Stålmarck: Checking safety properties using induction and a SAT-solver, FMCAD 2000; Beyer, Dangl,
//! Wendler: Boosting k-induction with continuously-refined invariants, CAV 2015).
//!
//! *Soundness*, for loops within one another: take an execution up to an error, or up to an arrival at a head. For every loop
//! that it has entered, it has gone through some number `n` of turns since, of which the last may be unfinished. The path
//! that takes, at each such entry, the first path if `n < k` and the any path with the last `k` turns otherwise, is
//! explored: a loop that was left was left in one of the first `k - 1` turns or in the last turn of an any path; one that the
//! execution is still in is in such a turn, too, so nothing that the execution meets now is dropped. What is assumed at
//! the heads on the way holds by induction over the length of the execution. Memory is treated alike: what a loop may
//! change is found by watching the writes of a run, and a run whose assumptions about that fail is repeated. A pointer that
//! stays in the object it points into when the loop is entered keeps it; that is checked as the candidates are.
//!
//! # Recursions
//!
//! A call of a recursive function is replaced by a *contract*: candidates about its arguments and globals are checked
//! before it, what it may change becomes unknown, and candidates about arguments, result and globals are assumed. Where
//! no call of the function is active yet, the path is split: another path goes into the body, with arguments and what the
//! recursion may change unknown except for the former candidates, and ends at the return, where the latter are checked.
//! That is Hoare's rule for recursive procedures: by induction over the length of the execution, every call that is
//! made satisfies the former, and every call that returns the latter.
//!
//! # Bounded model checking
//!
//! With the any paths left out, and `k` turns of loops and nested calls allowed, this is bounded model checking (Biere, Cimatti,
//! Clarke, Zhu, TACAS 1999), one formula for all paths between two places where states are merged. Whether the bound
//! cut anything off is noted.

mod cells;
mod check;
mod contracts;
mod observe;
mod polynomial;
mod scale;
mod templates;
mod turns;

use super::state::{Activation, Role, Route, State};
use super::{Loops, SymbolicExecution};
use crate::execution::{Origin, Val, Write};
use crate::invariants::Invariants;
use crate::proof::{Certificate, CertifiedContract};
use crate::verdict::Reason;
use cells::CellFact;
use cfa::{CType, Expr, ExprId, ExprPool, Program, TypeId, VarId};
use contracts::Contract;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::time::Duration;
pub use templates::Effort;
use templates::{Column, Observations, Vocabulary, candidates};

/// For a query about a path to an error.
pub const QUERY_TIME: Duration = Duration::from_secs(3);

/// What is assumed of loops and recursions in a run, and whether it held.
#[derive(Clone)]
pub struct Induction {
    /// The program's expressions and the candidates.
    pub(super) pool: ExprPool,
    /// Turns of a loop on one path.
    turns: u32,
    /// Loops are only unrolled.
    bounded: bool,
    /// By number: at heads of loops and entries of recursive functions.
    places: Vec<Assumptions>,
    /// Of the recursive functions: about their returns.
    contracts: Vec<Contract>,
    /// The values that calls began with; see [`Role::Call`].
    calls: Vec<Rc<FxHashMap<VarId, Val>>>,
    /// Something assumed in this run did not hold: its result says nothing.
    pub changed: bool,
    /// The bound cut something off.
    pub cut: bool,
    /// Paths to errors are not followed but noted, so that a run shows which candidates hold in any case.
    pub past_errors: bool,
    /// There was one.
    pub violated: bool,
}

#[derive(Clone, Default)]
struct Assumptions {
    /// One-bit expressions over the variables of the function and globals that hold whenever control is here.
    facts: Vec<ExprId>,
    /// The same, to be shown.
    candidates: Vec<ExprId>,
    /// About all cells of arrays: what holds, and what is to be shown.
    cell_facts: Vec<CellFact>,
    cell_candidates: Vec<CellFact>,
    /// Objects that are written.
    written: FxHashSet<Origin>,
    /// Pointers that do not stay in one object.
    roaming: FxHashSet<VarId>,
}

impl Induction {
    /// Candidates for all loops and recursions, beside what is `known` from earlier runs.
    fn new(
        program: &Program,
        loops: &Loops,
        invariants: Option<&Invariants>,
        effort: Effort,
        known: Option<&Induction>,
    ) -> Self {
        let mut pool = known.map_or_else(|| program.exprs.clone(), |known| known.pool.clone());
        let mut vocabulary = Vocabulary::new(program);
        let (from, suggested) = &loops.suggested;
        let suggested: Vec<ExprId> = suggested.iter().filter_map(|&e| pool.import(from, e)).collect();
        vocabulary.conditions.splice(..0, suggested);
        let facts = |pool: &mut ExprPool, loc, vars: &[VarId]| {
            let of = |&v: &VarId| invariants.map_or(Vec::new(), |i| i.facts(program, pool, loc, v));
            vars.iter().flat_map(of).collect()
        };
        let mut places = Vec::new();
        for l in &loops.loops {
            let seen = Observations::new(program, &mut pool, &l.watched, &l.samples);
            let subjects: Vec<usize> = (0..l.watched.len()).filter(|&i| l.modified.contains(&l.watched[i])).collect();
            let guards = if effort == Effort::Many { seen.guards(&pool, &vocabulary) } else { Vec::new() };
            let candidates = candidates(&mut pool, &seen, &subjects, &vocabulary, &guards, effort);
            let facts = facts(&mut pool, l.head, &l.modified);
            let cell_candidates = match effort {
                Effort::Cells => cells::candidates(&mut pool, program, l, &vocabulary),
                _ => Vec::new(),
            };
            let place = Assumptions { facts, candidates, cell_candidates, ..Assumptions::default() };
            places.push(place.with(known, places.len()));
        }
        let mut contracts = Vec::new();
        for r in &loops.recursions {
            let seen = Observations::new(program, &mut pool, &r.watched, &r.entries);
            let subjects: Vec<usize> = (0..r.watched.len()).collect();
            let candidates = candidates(&mut pool, &seen, &subjects, &vocabulary, &[], effort);
            let facts = facts(&mut pool, program.funcs[r.func].entry, &r.modified);
            places.push(Assumptions { facts, candidates, ..Assumptions::default() }.with(known, places.len()));
            let known = known.map(|k| &k.contracts[contracts.len()]);
            contracts.push(Contract::new(program, &mut pool, r, &vocabulary, invariants, effort, known));
        }
        Self { pool, turns: 1, bounded: false, places, contracts, ..Self::empty() }
    }

    fn empty() -> Self {
        Self {
            pool: ExprPool::new(),
            turns: 1,
            bounded: true,
            places: Vec::new(),
            contracts: Vec::new(),
            calls: Vec::new(),
            changed: false,
            cut: false,
            past_errors: false,
            violated: false,
        }
    }

    /// No invariants: loops and recursions are followed for so many turns.
    pub fn bounded(program: &Program, loops: &Loops, turns: u32) -> Self {
        let places = loops.loops.len() + loops.recursions.len();
        Self { pool: program.exprs.clone(), turns, places: vec![Assumptions::default(); places], ..Self::empty() }
    }

    /// For a further run with what is left.
    pub fn again(mut self) -> Self {
        self.changed = false;
        self.violated = false;
        self.calls.clear();
        self
    }

    pub fn with_turns(mut self, turns: u32) -> Self {
        self.turns = turns;
        self
    }

    /// After a run in which nothing changed: the candidates hold.
    pub fn settled(mut self) -> Self {
        for place in &mut self.places {
            place.facts.append(&mut place.candidates);
            place.cell_facts.append(&mut place.cell_candidates);
        }
        for contract in &mut self.contracts {
            contract.facts.append(&mut contract.candidates);
        }
        self
    }

    /// After any other run: nothing is known but what was before, and what the program writes.
    pub fn unsettled(mut self) -> Self {
        self.places.iter_mut().for_each(|p| {
            p.candidates.clear();
            p.cell_candidates.clear();
        });
        self.contracts.iter_mut().for_each(|c| c.candidates.clear());
        self
    }

    /// Whether loops and recursions are only unrolled.
    pub(super) fn is_bounded(&self) -> bool {
        self.bounded
    }

    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// What is assumed at each loop head and entry of a recursive function, by number.
    pub fn invariants(&self) -> impl Iterator<Item = Vec<ExprId>> {
        self.places.iter().map(|l| l.facts.iter().chain(&l.candidates).copied().collect())
    }

    /// The invariants, for the checker, after a run that proved the program; `Err` with the reason if they are of a kind
    /// that it does not know.
    pub fn certificate(&self, loops: &Loops) -> Result<Certificate, String> {
        if self.turns > 1 {
            return Err(format!("its invariants are inductive only over {} turns of loops", self.turns));
        }
        if self.places.iter().any(|p| !p.cell_facts.is_empty() || !p.cell_candidates.is_empty()) {
            return Err("its invariants speak of all cells of arrays".into());
        }
        let all = |place: &Assumptions| place.facts.iter().chain(&place.candidates).copied().collect::<Vec<_>>();
        let (heads, entries) = self.places.split_at(loops.loops.len());
        let contracts = loops.recursions.iter().zip(entries).zip(&self.contracts).map(|((r, entry), contract)| {
            let certified = CertifiedContract {
                requires: all(entry),
                ensures: contract.facts.iter().chain(&contract.candidates).copied().collect(),
                result: contract.result,
                after: contract.after.clone(),
            };
            (r.func, certified)
        });
        Ok(Certificate {
            pool: self.pool.clone(),
            heads: loops.loops.iter().zip(heads).map(|(l, place)| (l.head, all(place))).collect(),
            contracts: contracts.collect(),
        })
    }

    /// How many candidates there are.
    pub fn candidates(&self) -> usize {
        let at_returns: usize = self.contracts.iter().map(|c| c.candidates.len()).sum();
        self.places.iter().map(|p| p.candidates.len() + p.cell_candidates.len()).sum::<usize>() + at_returns
    }
}

impl Assumptions {
    /// With what is known of the same place.
    fn with(mut self, known: Option<&Induction>, number: usize) -> Self {
        if let Some(known) = known {
            let known = &known.places[number];
            self.facts.clone_from(&known.facts);
            self.cell_facts.clone_from(&known.cell_facts);
            self.candidates.retain(|c| !known.facts.contains(c));
            self.written.clone_from(&known.written);
            self.roaming.clone_from(&known.roaming);
        }
        self
    }
}

impl Observations {
    fn new(program: &Program, pool: &mut ExprPool, vars: &[VarId], rows: &[Vec<Option<u64>>]) -> Self {
        let column = |&v: &VarId| {
            let width = program.vars[v].width;
            Column { leaf: pool.var(v, width), width, signed: is_signed(program, program.vars[v].ty) }
        };
        Self { columns: vars.iter().map(column).collect(), rows: rows.to_vec() }
    }

    /// Conditions of the program over the columns.
    fn guards(&self, pool: &ExprPool, vocabulary: &Vocabulary) -> Vec<ExprId> {
        let known = |var| self.columns.iter().any(|c| matches!(pool.get(c.leaf), Expr::Var(v) if *v == var));
        let fits = |&&c: &&ExprId| {
            let vars = pool.vars(c);
            !vars.is_empty() && vars.into_iter().all(known)
        };
        vocabulary.conditions.iter().filter(fits).copied().take(64).collect()
    }
}

fn is_signed(program: &Program, ty: TypeId) -> bool {
    matches!(program.plain_type(ty), CType::Int { signed: true, .. } | CType::Enum { signed: true, .. })
}

/// Constants in the program's operations, ascending.
pub fn constants(program: &Program) -> Vec<u64> {
    let mut constants: Vec<u64> = Vocabulary::new(program).constants.into_values().flatten().collect();
    constants.sort_unstable();
    constants
}

impl SymbolicExecution<'_> {
    /// Adds what runs on random inputs show to what this exploration has seen.
    pub fn observe(&mut self, seed: u64) {
        observe::observe(self.execution.program, &mut self.loops, &constants(self.execution.program), seed);
    }

    /// The candidates of a run, from what has been seen so far.
    pub fn guess_invariants(
        &self,
        invariants: Option<&Invariants>,
        effort: Effort,
        known: Option<&Induction>,
    ) -> Induction {
        Induction::new(self.execution.program, &self.loops, invariants, effort, known)
    }

    fn inducing(&mut self) -> &mut Induction {
        self.induction.as_mut().expect("only in this mode")
    }

    fn assumptions(&mut self, number: u32) -> &mut Assumptions {
        &mut self.inducing().places[number as usize]
    }

    fn drop_assumption(&mut self) {
        self.inducing().changed = true;
    }

    /// Whether the path is in a turn that stands for one that went well.
    pub(super) fn is_early(&self, st: &State) -> bool {
        let turns = self.induction.as_ref().map_or(1, |i| i.turns);
        st.route.active.iter().any(|a| matches!(a.role, Role::Any(turn) if turn < turns))
    }

    /// Records that the loops and recursions that a path is in change an object, where it was there when they were entered;
    /// `depth` is that of the frame in which that happens.
    pub(super) fn changes(&mut self, route: &Route, depth: u32, write: Write) {
        if self.inducing().bounded {
            return;
        }
        for &Activation { number, depth: of, allocated, .. } in route.active.iter() {
            if of > depth || write.object.0 >= allocated {
                continue;
            }
            if write.frees {
                self.taints.drop_behaviour(Reason::new("a loop frees memory that it did not allocate"));
            } else if self.assumptions(number).written.insert(write.origin) {
                self.drop_assumption();
            }
        }
    }

    fn activate(&mut self, st: &mut State, number: u32, role: Role) {
        let (depth, allocated) = (st.frame.depth, st.memory.allocated());
        Rc::make_mut(&mut st.route.active).push(Activation { number, depth, allocated, role });
    }
}
