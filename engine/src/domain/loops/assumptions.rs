//! Assumptions about loops and recursions: facts, candidates, and the memory that they write.

use super::cells::{self, CellFact};
use super::contracts::Contract;
use super::templates::{Column, Effort, Observations, Vocabulary, candidates, is_signed};
use super::walks::Reach;
use crate::domain::symbolic::{LoopInfo, Loops, asserted};
use crate::invariant::{Invariants, LocationInvariants};
use crate::semantics::{Origin, Val};
use certificate::{Certificate, CertifiedContract, Frame, Site};
use cfa::{Expr, ExprId, ExprPool, FunctionOrigin, Program, Sort, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use smt::budget::Budget;
use std::rc::Rc;
use std::time::Duration;

/// Time for a query about a path to an error.
pub const QUERY_TIME: Duration = Duration::from_secs(3);

/// The assumptions about loops and recursions in a run, and whether they held.
#[derive(Clone)]
pub struct Assumptions {
    /// The pool of the program's expressions and the candidates.
    pub(super) pool: ExprPool,
    /// The number of iterations of a loop on one path.
    pub(super) iterations: u32,
    /// If true, loops are only unrolled, for bounded model checking.
    pub(super) bounded: bool,
    /// If true, nothing is assumed about addresses that loops move.
    pub(super) without_walks: bool,
    /// The assumptions at heads of loops and entries of recursive functions, by number.
    pub(super) places: Vec<HeadAssumptions>,
    /// The contracts of the recursive functions.
    pub(super) contracts: Vec<Contract>,
    /// The values at the entry of calls; see [`Role::Call`](super::state::Role::Call).
    pub(super) calls: Vec<Rc<FxHashMap<VarId, Val>>>,
    /// True if an assumption failed in this run, so that its result is void.
    pub changed: bool,
    /// True if the bound cut a path off.
    pub cut: bool,
    /// If true, paths to errors are not followed but recorded in `violated`. A run then shows which candidates hold
    /// regardless of errors.
    pub past_errors: bool,
    /// True if a path to an error was feasible.
    pub violated: bool,
}

/// The assumptions at a loop head or the entry of a recursive function.
#[derive(Clone, Default)]
pub(super) struct HeadAssumptions {
    /// Conditions over locals and globals that hold whenever control is here.
    pub(super) facts: Vec<ExprId>,
    /// Conditions that have to be proved.
    pub(super) candidates: Vec<ExprId>,
    /// Facts about all cells of arrays.
    pub(super) cell_facts: Vec<CellFact>,
    /// The same, still to be proved.
    pub(super) cell_candidates: Vec<CellFact>,
    /// The objects that the loop or recursion writes.
    pub(super) written: FxHashSet<Origin>,
    /// Pointers that may leave the object that they point into at the entry.
    pub(super) roaming: FxHashSet<VarId>,
    /// True if the loop is not unrolled, though it is one of a library model.
    pub(super) replaced: bool,
    /// The bounds of moved addresses, by number, if they differ from the default.
    pub(super) reaches: FxHashMap<usize, Reach>,
}

impl Assumptions {
    /// Generates candidates for all loops and recursions from their samples. Facts and frames are taken over from
    /// `known`, an earlier run.
    pub fn guess(
        program: &Program,
        loops: &Loops,
        invariants: Option<&Invariants>,
        effort: Effort,
        known: Option<&Assumptions>,
        budget: &Budget,
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
        let asserted = match effort {
            Effort::Cells => asserted(program, &mut pool, &loops.heads()),
            _ => Vec::new(),
        };
        let mut places = Vec::new();
        // Candidates are useless once the time is spent.
        let in_time = |effort| if budget.spent().is_some() { Effort::Facts } else { effort };
        for l in &loops.loops {
            let effort = in_time(effort);
            let (seen, mut distances) = Observations::of_loop(program, &mut pool, l);
            let of_moved = l.watched.len()..seen.columns.len();
            let subjects: Vec<usize> =
                (0..l.watched.len()).filter(|&i| l.modified.contains(&l.watched[i])).chain(of_moved).collect();
            let guards = if effort == Effort::Many { seen.guards(&pool, &vocabulary) } else { Vec::new() };
            let mut candidates = candidates(&mut pool, &seen, &subjects, &vocabulary, &guards, effort);
            candidates.iter_mut().for_each(|c| *c = pool.substitute(*c, &mut distances, |_, _| None));
            let facts = facts(&mut pool, l.head, &l.modified);
            let cell_candidates = match effort {
                Effort::Cells => cells::candidates(&mut pool, program, l, &vocabulary, &asserted),
                _ => Vec::new(),
            };
            let place = HeadAssumptions { facts, candidates, cell_candidates, ..HeadAssumptions::default() };
            places.push(place.with(known, places.len()));
        }
        let mut contracts = Vec::new();
        for r in &loops.recursions {
            let effort = in_time(effort);
            let seen = Observations::new(program, &mut pool, &r.watched, &r.entries);
            let subjects: Vec<usize> = (0..r.watched.len()).collect();
            let candidates = candidates(&mut pool, &seen, &subjects, &vocabulary, &[], effort);
            let facts = facts(&mut pool, program.funcs[r.func].entry, &r.modified);
            places.push(HeadAssumptions { facts, candidates, ..HeadAssumptions::default() }.with(known, places.len()));
            let known = known.map(|k| &k.contracts[contracts.len()]);
            contracts.push(Contract::new(program, &mut pool, r, &vocabulary, invariants, effort, known));
        }
        let without_walks = effort == Effort::Facts;
        Self { pool, iterations: 1, bounded: false, without_walks, places, contracts, ..Self::empty() }
    }

    fn empty() -> Self {
        Self {
            pool: ExprPool::new(),
            iterations: 1,
            bounded: true,
            without_walks: true,
            places: Vec::new(),
            contracts: Vec::new(),
            calls: Vec::new(),
            changed: false,
            cut: false,
            past_errors: false,
            violated: false,
        }
    }

    /// Assumptions for bounded model checking: no invariants, and loops and recursions are followed for `iterations`
    /// iterations.
    pub fn bounded(program: &Program, loops: &Loops, iterations: u32) -> Self {
        let places = loops.loops.len() + loops.recursions.len();
        Self {
            pool: program.exprs.clone(),
            iterations,
            places: vec![HeadAssumptions::default(); places],
            ..Self::empty()
        }
    }

    /// The remaining assumptions, for a further run.
    pub fn again(mut self) -> Self {
        self.changed = false;
        self.violated = false;
        self.calls.clear();
        self
    }

    /// The same assumptions with another number of iterations.
    pub fn with_iterations(mut self, iterations: u32) -> Self {
        self.iterations = iterations;
        self
    }

    /// Turns candidates into facts, after a run in which no assumption failed.
    pub fn with_candidates_as_facts(mut self) -> Self {
        for place in &mut self.places {
            place.facts.append(&mut place.candidates);
            place.cell_facts.append(&mut place.cell_candidates);
        }
        for contract in &mut self.contracts {
            contract.facts.append(&mut contract.candidates);
        }
        self
    }

    /// Drops all candidates. Facts and the written memory stay.
    pub fn unsettled(mut self) -> Self {
        self.places.iter_mut().for_each(|p| {
            p.candidates.clear();
            p.cell_candidates.clear();
        });
        self.contracts.iter_mut().for_each(|c| c.candidates.clear());
        self
    }

    /// The number of iterations of a loop on one path.
    pub fn iterations(&self) -> u32 {
        self.iterations
    }

    /// The conditions at each loop head and entry of a recursive function, by number.
    pub fn invariants(&self) -> impl Iterator<Item = Vec<ExprId>> {
        self.places.iter().map(|l| l.facts.iter().chain(&l.candidates).copied().collect())
    }

    /// The certificate of a run that proved the program.
    pub fn certificate(&self, program: &Program, loops: &Loops) -> Certificate {
        let mut certificate = Certificate::new(self.pool.clone());
        certificate.iterations = self.iterations;
        // Facts of abstract interpretation at heads depend on facts at other locations.
        let knows =
            self.places.iter().any(|p| !p.facts.is_empty()) || self.contracts.iter().any(|c| !c.facts.is_empty());
        certificate.of_variables = self.without_walks && !knows;
        let all = |place: &HeadAssumptions| place.facts.iter().chain(&place.candidates).copied().collect::<Vec<_>>();
        let (heads, entries) = self.places.split_at(loops.loops.len());
        for (l, place) in loops.loops.iter().zip(heads) {
            certificate.heads.insert(l.head, all(place));
            let cells = place.cell_facts.iter().chain(&place.cell_candidates);
            certificate.cells.insert(l.head, cells.map(CellFact::certified).collect());
            let followed = program.funcs[l.func].origin == FunctionOrigin::Model && !place.replaced;
            certificate.frames.insert(l.head, place.frame(followed));
        }
        for ((r, entry), contract) in loops.recursions.iter().zip(entries).zip(&self.contracts) {
            let certified = CertifiedContract {
                requires: all(entry),
                ensures: contract.facts.iter().chain(&contract.candidates).copied().collect(),
                result: contract.result,
                after: contract.after.clone(),
            };
            certificate.contracts.insert(r.func, certified);
            certificate.frames.insert(program.funcs[r.func].entry, entry.frame(false));
        }
        certificate
    }

    /// The candidates at loop heads and function entries. They are proved if no assumption failed in the run that they
    /// remain from.
    pub fn shown(&self, program: &Program, loops: &Loops) -> LocationInvariants {
        let heads = loops.loops.iter().map(|l| l.head);
        let entries = loops.recursions.iter().map(|r| program.funcs[r.func].entry);
        let mut shown = LocationInvariants::default();
        for (at, place) in heads.chain(entries).zip(&self.places) {
            shown.add(&self.pool, at, &place.candidates);
        }
        shown
    }

    /// The number of candidates.
    pub fn candidates(&self) -> usize {
        let at_returns: usize = self.contracts.iter().map(|c| c.candidates.len()).sum();
        self.places.iter().map(|p| p.candidates.len() + p.cell_candidates.len()).sum::<usize>() + at_returns
    }
}

impl HeadAssumptions {
    /// The frame for the certificate: the written memory and the pointers that may leave their objects. Certificates do
    /// not support shadows.
    fn frame(&self, followed: bool) -> Frame {
        let site = |origin: &Origin| match *origin {
            Origin::Global(global) => Some(Site::Global(global)),
            Origin::Stack(edge) | Origin::Heap(edge) => Some(Site::Alloc(edge)),
            Origin::GlobalShadow(_) | Origin::AllocShadow(_) => None,
        };
        let written = self.written.iter().filter_map(site).collect();
        Frame { written, roaming: self.roaming.clone(), followed }
    }

    /// The assumed bound of the address of this number.
    pub(super) fn reach(&self, address: usize) -> Reach {
        self.reaches.get(&address).copied().unwrap_or_default()
    }

    /// Takes over the facts and the frame that an earlier run found at the same place.
    fn with(mut self, known: Option<&Assumptions>, number: usize) -> Self {
        if let Some(known) = known {
            let known = &known.places[number];
            self.facts.clone_from(&known.facts);
            self.cell_facts.clone_from(&known.cell_facts);
            self.candidates.retain(|c| !known.facts.contains(c));
            self.written.clone_from(&known.written);
            self.roaming.clone_from(&known.roaming);
            self.replaced = known.replaced;
        }
        self
    }
}

impl Observations {
    /// Observations of variables.
    pub(super) fn new(program: &Program, pool: &mut ExprPool, vars: &[VarId], rows: &[Vec<Option<u64>>]) -> Self {
        let column = |&v: &VarId| {
            let width = program.vars[v].width;
            Column { leaf: pool.var(v, width), width, signed: is_signed(program, program.vars[v].ty) }
        };
        Self { columns: vars.iter().map(column).collect(), rows: rows.to_vec() }
    }

    /// Observations of a loop, with a symbol for each distance. Also returns the distances that the symbols represent.
    fn of_loop(program: &Program, pool: &mut ExprPool, l: &LoopInfo) -> (Self, FxHashMap<ExprId, ExprId>) {
        let mut seen = Self::new(program, pool, &l.watched, &l.samples);
        let width = program.layout.pointer_width;
        let mut meaning = FxHashMap::default();
        for distance in &l.distances {
            let (_, leaf) = pool.fresh_symbol(Sort::Bv(width));
            seen.columns.push(Column { leaf, width, signed: true });
            meaning.insert(leaf, distance.term(pool));
        }
        (seen, meaning)
    }

    /// The program's conditions over the columns.
    pub(super) fn guards(&self, pool: &ExprPool, vocabulary: &Vocabulary) -> Vec<ExprId> {
        let known = |var| self.columns.iter().any(|c| matches!(pool.get(c.leaf), Expr::Var(v) if *v == var));
        let fits = |&&c: &&ExprId| {
            let vars = pool.vars(c);
            !vars.is_empty() && vars.into_iter().all(known)
        };
        vocabulary.conditions.iter().filter(fits).copied().take(64).collect()
    }
}

/// The constants in the program's operations, in ascending order.
pub fn constants(program: &Program) -> Vec<u64> {
    let mut constants: Vec<u64> = Vocabulary::new(program).constants.into_values().flatten().collect();
    constants.sort_unstable();
    constants
}
