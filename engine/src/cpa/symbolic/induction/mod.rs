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

mod observe;
mod polynomial;
mod templates;

use super::loops::RecursiveFunction;
use super::memory::Origin;
use super::state::{Activation, Role, State};
use super::value::{ObjId, Val};
use super::{At, Loops, Stop, Successors, SymbolicExecution, follow};
use crate::invariants::Invariants;
use crate::proof::{Certificate, CertifiedContract};
use crate::solver::Feasibility;
use crate::verdict::Reason;
use cfa::{CType, EdgeId, Expr, ExprId, ExprPool, FuncId, Op, Program, Sort, TypeId, Value, VarId, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::time::Duration;
pub use templates::Effort;
use templates::{Column, Observations, Vocabulary, candidates};

/// For a query about a path to an error, about several candidates at a place, and about one of them.
pub const QUERY_TIME: Duration = Duration::from_secs(3);
const TOGETHER: Duration = Duration::from_millis(600);
const ALONE: Duration = Duration::from_millis(300);

/// What happens to an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    Written,
    Freed,
}

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
    /// Objects that are written.
    written: FxHashSet<Origin>,
    /// Pointers that do not stay in one object.
    roaming: FxHashSet<VarId>,
}

/// About a return, over variables (their values at the entry) and symbols (values at the return).
#[derive(Clone)]
struct Contract {
    facts: Vec<ExprId>,
    candidates: Vec<ExprId>,
    /// The result, if there is one.
    result: Option<ExprId>,
    /// The globals that may have changed.
    after: Vec<(VarId, ExprId)>,
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
        let vocabulary = Vocabulary::new(program);
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
            places.push(Assumptions { facts, candidates, ..Assumptions::default() }.with(known, places.len()));
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
        }
        for contract in &mut self.contracts {
            contract.facts.append(&mut contract.candidates);
        }
        self
    }

    /// After any other run: nothing is known but what was before, and what the program writes.
    pub fn unsettled(mut self) -> Self {
        self.places.iter_mut().for_each(|p| p.candidates.clear());
        self.contracts.iter_mut().for_each(|c| c.candidates.clear());
        self
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
        self.places.iter().map(|p| p.candidates.len()).sum::<usize>() + at_returns
    }
}

impl Assumptions {
    /// With what is known of the same place.
    fn with(mut self, known: Option<&Induction>, number: usize) -> Self {
        if let Some(known) = known {
            let known = &known.places[number];
            self.facts.clone_from(&known.facts);
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

impl Contract {
    fn new(
        program: &Program,
        pool: &mut ExprPool,
        r: &RecursiveFunction,
        vocabulary: &Vocabulary,
        invariants: Option<&Invariants>,
        effort: Effort,
        known: Option<&Contract>,
    ) -> Self {
        let mut seen = Observations::new(program, pool, &r.watched, &r.samples);
        let mut guards = seen.guards(pool, vocabulary);
        for Column { leaf, width, .. } in seen.columns.iter().filter(|_| effort == Effort::Many) {
            for c in [0, 1, 2] {
                let c = pool.int(*width, c);
                guards.push(pool.eq(*leaf, c));
                guards.push(pool.sle(*leaf, c));
                guards.push(pool.slt(c, *leaf));
            }
            let odd = pool.extract(0, 0, *leaf);
            guards.extend([odd, pool.not(odd)]);
        }
        let mut seen_guards = FxHashSet::default();
        guards.retain(|g| seen_guards.insert(*g));
        let result_width = program.funcs[r.func].return_width;
        let result = match known {
            Some(known) => known.result,
            None => result_width.map(|width| pool.fresh_symbol(Sort::Bv(width)).1),
        };
        let mut subjects = Vec::new();
        match (result, result_width) {
            (Some(result), Some(width @ ..=64)) => {
                subjects.push(seen.columns.len());
                let signed = is_signed(program, program.funcs[r.func].return_type);
                seen.columns.push(Column { leaf: result, width, signed });
            }
            _ => seen.rows.iter_mut().for_each(|row| {
                row.remove(r.watched.len());
            }),
        }
        let mut after = Vec::new();
        for (i, &var) in r.written.iter().enumerate() {
            let width = program.vars[var].width;
            let symbol = match known {
                Some(known) => known.after[i].1,
                None => pool.fresh_symbol(Sort::Bv(width)).1,
            };
            subjects.push(seen.columns.len());
            seen.columns.push(Column { leaf: symbol, width, signed: is_signed(program, program.vars[var].ty) });
            after.push((var, symbol));
        }
        let mut candidates = candidates(pool, &seen, &subjects, vocabulary, &guards, effort);
        if let Some(known) = known {
            candidates.retain(|c| !known.facts.contains(c));
            return Self { candidates, ..known.clone() };
        }
        let facts = match (result, invariants.and_then(|i| i.result(r.func))) {
            (Some(result), Some(value)) => value.facts(pool, result),
            _ => Vec::new(),
        };
        Self { facts, candidates, result, after }
    }
}

impl SymbolicExecution<'_> {
    /// Adds what runs on random inputs show to what this exploration has seen.
    pub fn observe(&mut self, seed: u64) {
        let mut constants: Vec<u64> = Vocabulary::new(self.program).constants.into_values().flatten().collect();
        constants.sort_unstable();
        observe::observe(self.program, &mut self.loops, &constants, seed);
    }

    /// The candidates of a run, from what has been seen so far.
    pub fn guess_invariants(
        &self,
        invariants: Option<&Invariants>,
        effort: Effort,
        known: Option<&Induction>,
    ) -> Induction {
        Induction::new(self.program, &self.loops, invariants, effort, known)
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
        st.active.iter().any(|a| matches!(a.role, Role::Any(turn) if turn < turns))
    }

    /// Ends the loops that the path leaves over `edge`; `false` if the path is to be dropped.
    pub(super) fn leave_loops(&mut self, st: &mut State, edge: EdgeId) -> bool {
        let target = self.program.edges[edge].target;
        let turns = self.inducing().turns;
        while let Some(&Activation { number, depth, role, .. }) = st.active.last() {
            let inside = st.frame.depth > depth
                || st.frame.depth == depth
                    && self.loops.loops.get(number as usize).is_none_or(|l| l.body.contains(&target));
            if inside {
                break;
            }
            if matches!(role, Role::Any(turn) if turn < turns) {
                return false;
            }
            Rc::make_mut(&mut st.active).pop();
        }
        true
    }

    /// Records that a loop or recursion changes an object that was there when it was entered.
    pub(super) fn changes(&mut self, st: &State, object: ObjId, change: Change) {
        if st.active.is_empty() || self.inducing().bounded {
            return;
        }
        let Some(origin) = st.memory.get(object).map(|o| o.origin) else { return };
        for i in 0..st.active.len() {
            let Activation { number, depth, allocated, .. } = st.active[i];
            if depth > st.frame.depth || object.0 >= allocated {
                continue;
            }
            match change {
                Change::Written => {
                    if self.assumptions(number).written.insert(origin) {
                        self.drop_assumption();
                    }
                }
                Change::Freed => {
                    self.taints.drop_behaviour(Reason::new("a loop frees memory that it did not allocate"));
                }
            }
        }
    }

    /// The path comes over `edge` to the head of a loop. With the state that goes on may come another.
    pub(super) fn arrive_at_loop(&mut self, mut st: State, edge: EdgeId, number: u32) -> Result<Option<State>, Stop> {
        if !self.leave_loops(&mut st, edge) {
            return Ok(None);
        }
        let (bounded, turns) = (self.inducing().bounded, self.inducing().turns);
        let l = &self.loops.loops[number as usize];
        if l.irreducible && !bounded {
            return Err(Stop::Fatal(Reason::new("a loop has two entries")));
        }
        let inside = l.body.contains(&self.program.edges[edge].source);
        let last = st.active.last().filter(|a| inside && a.number == number && a.depth == st.frame.depth);
        let back = last.copied();
        let turn = |st: &mut State, role| {
            let active = Rc::make_mut(&mut st.active);
            active.last_mut().expect("the loop is active").role = role;
        };
        if bounded {
            return Ok(match back.map(|a| a.role) {
                None => {
                    self.activate(&mut st, number, Role::First(1));
                    Some(st)
                }
                Some(Role::First(n)) if n < turns => {
                    turn(&mut st, Role::First(n + 1));
                    Some(st)
                }
                Some(_) => {
                    self.inducing().cut = true;
                    None
                }
            });
        }
        match back.map(|a| a.role) {
            None => {
                self.check_candidates(&mut st, number);
                self.anchor(&mut st, number);
                if turns > 1 {
                    let mut first = st.clone();
                    self.activate(&mut first, number, Role::First(1));
                    self.others.push(first);
                }
                Ok(Some(self.any(st, number, Role::Any(1))))
            }
            Some(Role::First(n)) => {
                self.check_candidates(&mut st, number);
                self.check_pointers(&st, number);
                if n + 1 >= turns {
                    return Ok(None);
                }
                turn(&mut st, Role::First(n + 1));
                Ok(Some(st))
            }
            Some(Role::Any(n)) if n < turns => {
                self.check_pointers(&st, number);
                self.assume_place(&mut st, number);
                turn(&mut st, Role::Any(n + 1));
                Ok(Some(st))
            }
            Some(_) => {
                self.check_candidates(&mut st, number);
                self.check_pointers(&st, number);
                Ok(None)
            }
        }
    }

    /// The path has entered a recursive function over `edge`, and its parameters are bound.
    pub(super) fn call_recursive(
        &mut self,
        mut st: State,
        edge: EdgeId,
        func: FuncId,
        number: u32,
        out: &mut Successors<State>,
    ) {
        let nested = st.active.iter().filter(|a| a.number == number).count() as u32;
        if self.inducing().bounded {
            if nested >= self.inducing().turns {
                self.inducing().cut = true;
                return;
            }
            self.activate(&mut st, number, Role::First(nested + 1));
            out.push((st, At::Callee(func)));
            return;
        }
        self.check_candidates(&mut st, number);
        if nested > 0 {
            self.check_pointers(&st, number);
        } else {
            let mut body = st.clone();
            self.anchor(&mut body, number);
            let call = self.inducing().calls.len() as u32;
            let body = self.any(body, number, Role::Call(call));
            let began = self.loops.modified(number).iter().map(|&v| (v, self.read_var(&body, v))).collect();
            self.inducing().calls.push(Rc::new(began));
            out.push((body, At::Callee(func)));
        }
        let after = self.apply_contract(st, edge, number);
        out.push(follow(after));
    }

    /// The caller's state after a call of a recursive function; `callee` is the state at its entry.
    fn apply_contract(&mut self, callee: State, edge: EdgeId, number: u32) -> State {
        let program = self.program;
        let Op::Call { result, .. } = program.edges[edge].op else { panic!("a call edge") };
        let modified = self.loops.modified(number).to_vec();
        let began: FxHashMap<VarId, Val> = modified.iter().map(|&v| (v, self.read_var(&callee, v))).collect();
        let func = callee.frame.func;
        let mut st = callee;
        st.frame = st.frame.caller.clone().expect("a frame that was entered by a call");
        let index = number as usize - self.loops.loops.len();
        let contract = self.inducing().contracts[index].clone();
        let mut meaning: FxHashMap<ExprId, Val> = FxHashMap::default();
        // What is new, and the variables that hold it.
        let (mut fresh, mut places) = (Vec::new(), Vec::new());
        for var in modified {
            if !matches!(program.vars[var].kind, VarKind::Global { .. }) {
                continue;
            }
            let value = began[&var];
            let width = program.vars[var].width;
            let stays = !self.assumptions(number).roaming.contains(&var);
            let object = if stays { self.object_of(value) } else { None };
            let (_, new) = self.pool.fresh_symbol(Sort::Bv(width));
            fresh.push(new);
            places.push(var);
            let now = match object {
                Some(object) => {
                    let base = self.bases.symbol(&mut self.pool, object, width);
                    self.pool.add(base, new)
                }
                None => new,
            };
            self.write_var(&mut st, var, Val::Expr(now));
            if let Some(&(_, symbol)) = contract.after.iter().find(|(v, _)| *v == var) {
                meaning.insert(symbol, Val::Expr(now));
            }
        }
        self.forget_written(&mut st, number);
        if let Some(var) = result {
            let width = program.vars[var].width;
            let given = program.funcs[func].return_width.unwrap_or(width);
            let (_, new) = self.pool.fresh_symbol(Sort::Bv(given));
            fresh.push(new);
            places.push(var);
            if let Some(symbol) = contract.result {
                meaning.insert(symbol, Val::Expr(new));
            }
            let value = self.resize(Val::Expr(new), given, width);
            self.write_var(&mut st, var, value);
        }
        let instances = contract.facts.iter().chain(&contract.candidates);
        let terms = instances.filter_map(|&e| match self.instance(e, &began, &meaning) {
            Some(Val::Expr(term)) => Some(term),
            _ => None,
        });
        let terms: Vec<ExprId> = terms.collect();
        self.assume_all(&mut st, terms, fresh, &places);
        st
    }

    /// A condition of a contract over the values of the variables at the entry and of the symbols at the return; `None` if it
    /// speaks of a symbol that has none.
    fn instance(&mut self, e: ExprId, began: &FxHashMap<VarId, Val>, meaning: &FxHashMap<ExprId, Val>) -> Option<Val> {
        let mut terms: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        let mut leaves = Vec::new();
        self.pool.visit(e, &mut FxHashSet::default(), |leaf, node| match node {
            Expr::Var(v) => leaves.push((leaf, began.get(v).copied())),
            Expr::Sym(_) => leaves.push((leaf, meaning.get(&leaf).copied())),
            _ => {}
        });
        for (leaf, value) in leaves {
            let width = self.pool.width(leaf);
            let term = self.term(value?, width);
            terms.insert(leaf, term);
        }
        let term = self.pool.substitute(e, &mut FxHashMap::default(), |_, leaf| terms.get(&leaf).copied());
        Some(self.classify(term))
    }

    /// The path stands before a return; `false` if it ends here.
    pub(super) fn return_in_induction(&mut self, st: &mut State, edge: EdgeId) -> bool {
        let depth = st.frame.depth;
        let turns = self.inducing().turns;
        while let Some(&Activation { depth: of, role, number, .. }) = st.active.last()
            && of >= depth
        {
            match role {
                Role::Any(turn) if turn < turns => return false,
                Role::Call(call) => {
                    if !self.is_early(st) {
                        self.check_contract(st, edge, number, call);
                    }
                    return false;
                }
                _ => {
                    Rc::make_mut(&mut st.active).pop();
                }
            }
        }
        true
    }

    /// Drops the candidates about the return that do not hold.
    fn check_contract(&mut self, st: &mut State, edge: EdgeId, number: u32, call: u32) {
        let Op::Return { value } = self.program.edges[edge].op else { panic!("a return edge") };
        let index = number as usize - self.loops.loops.len();
        let began = Rc::clone(&self.inducing().calls[call as usize]);
        let contract = self.inducing().contracts[index].clone();
        let mut meaning: FxHashMap<ExprId, Val> = FxHashMap::default();
        if let (Some(symbol), Some(value)) = (contract.result, value) {
            let value = self.eval(st, value);
            meaning.insert(symbol, value);
        }
        for &(var, symbol) in &contract.after {
            meaning.insert(symbol, self.read_var(st, var));
        }
        let mut wrong = FxHashSet::default();
        let mut open = Vec::new();
        for candidate in contract.candidates {
            match self.instance(candidate, &began, &meaning) {
                Some(value) => open.push((candidate, value)),
                None => {
                    wrong.insert(candidate);
                }
            }
        }
        self.refute(st, open, &mut wrong);
        if !wrong.is_empty() {
            self.inducing().contracts[index].candidates.retain(|c| !wrong.contains(c));
            self.drop_assumption();
        }
        let globals = self.loops.modified(number).to_vec();
        for var in globals {
            if let Val::Ptr(..) | Val::Expr(_) = began[&var]
                && matches!(self.program.vars[var].kind, VarKind::Global { .. })
            {
                self.check_pointer(st, number, var);
            }
        }
    }

    /// Drops the candidates that do not hold in `st`.
    fn check_candidates(&mut self, st: &mut State, number: u32) {
        if self.is_early_before(st, number) {
            return;
        }
        let candidates = self.assumptions(number).candidates.clone();
        let open = candidates.into_iter().map(|c| (c, self.eval(st, c))).collect();
        let mut wrong = FxHashSet::default();
        self.refute(st, open, &mut wrong);
        if !wrong.is_empty() {
            self.assumptions(number).candidates.retain(|c| !wrong.contains(c));
            self.drop_assumption();
        }
    }

    /// Whether the path is in an early turn of a loop around the place of this number.
    fn is_early_before(&self, st: &State, number: u32) -> bool {
        let turns = self.induction.as_ref().map_or(1, |i| i.turns);
        let early = |a: &Activation| matches!(a.role, Role::Any(turn) if turn < turns);
        match st.active.last() {
            Some(a) if a.number == number => st.active[..st.active.len() - 1].iter().any(early),
            _ => st.active.iter().any(early),
        }
    }

    /// Adds to `wrong` the candidates whose values are not all ones in `st`.
    fn refute(&mut self, st: &mut State, candidates: Vec<(ExprId, Val)>, wrong: &mut FxHashSet<ExprId>) {
        let mut open: Vec<(ExprId, ExprId)> = Vec::new();
        for (candidate, value) in candidates {
            match value {
                Val::Int(0) | Val::Unknown | Val::Unset => {
                    wrong.insert(candidate);
                }
                Val::Expr(term) if polynomial::is_identity(&self.pool, term) => {}
                Val::Expr(term) => {
                    self.expose(st, term);
                    open.push((candidate, term));
                }
                Val::Int(_) | Val::Ptr(..) => {}
            }
        }
        // All in one question; where that is too much for the solver, in parts.
        let mut parts = vec![open];
        while let Some(part) = parts.pop() {
            if part.is_empty() {
                continue;
            }
            self.solver.set_query_time(Some(if part.len() == 1 { ALONE } else { TOGETHER }));
            let all = self.pool.bool(true);
            let all = part.iter().fold(all, |all, &(_, term)| self.pool.and(all, term));
            let violated = self.pool.not(all);
            let answer = self.solver.check(&mut self.pool, &st.pc, violated);
            let before = part.len();
            let mut left = part;
            match answer {
                Feasibility::Infeasible => continue,
                Feasibility::Feasible(model) => {
                    let mut holds = |&(candidate, term): &(ExprId, ExprId)| {
                        let holds = model.eval(&self.pool, term).is_true();
                        if !holds {
                            wrong.insert(candidate);
                        }
                        holds
                    };
                    left.retain(&mut holds);
                    parts.iter_mut().for_each(|p| p.retain(&mut holds));
                }
                Feasibility::Unknown(_) if self.solver.spent().is_some() => {
                    // The run is over, and says nothing.
                    self.drop_assumption();
                    break;
                }
                Feasibility::Unknown(_) => {}
            }
            if left.len() < before {
                parts.push(left);
            } else if before == 1 {
                wrong.insert(left[0].0);
            } else {
                let rest = left.split_off(before / 2);
                parts.extend([rest, left]);
            }
        }
        self.solver.set_query_time(Some(QUERY_TIME));
    }

    /// Drops the pointers that have left the object they pointed into at the entry.
    fn check_pointers(&mut self, st: &State, number: u32) {
        for var in self.loops.modified(number).to_vec() {
            self.check_pointer(st, number, var);
        }
    }

    fn check_pointer(&mut self, st: &State, number: u32, var: VarId) {
        let Some(&(_, object)) = st.anchors.iter().rev().find(|(v, _)| *v == (number, var)) else { return };
        let value = self.read_var(st, var);
        if self.object_of(value) != Some(object) && self.assumptions(number).roaming.insert(var) {
            self.drop_assumption();
        }
    }

    /// The object that a pointer points into by its structure.
    fn object_of(&mut self, value: Val) -> Option<ObjId> {
        match value {
            Val::Ptr(object, _) => Some(object),
            Val::Expr(e) => {
                let mut found = None;
                let mut terms = Vec::new();
                self.sum_terms(e, &mut terms);
                for term in terms {
                    match self.classify(term) {
                        Val::Ptr(object, _) if found.is_none() => found = Some(object),
                        _ if self.bases_in(term).is_empty() => {}
                        _ => return None,
                    }
                }
                found
            }
            _ => None,
        }
    }

    fn activate(&mut self, st: &mut State, number: u32, role: Role) {
        let (depth, allocated) = (st.frame.depth, st.memory.allocated());
        Rc::make_mut(&mut st.active).push(Activation { number, depth, allocated, role });
    }

    /// Notes into which objects the pointers point that may be moved but stay in their objects.
    fn anchor(&mut self, st: &mut State, number: u32) {
        for var in self.loops.modified(number).to_vec() {
            if self.assumptions(number).roaming.contains(&var) {
                continue;
            }
            let value = self.read_var(st, var);
            if let Some(object) = self.object_of(value) {
                Rc::make_mut(&mut st.anchors).push(((number, var), object));
            }
        }
    }

    /// The state at any arrival at the place; its pointers are anchored.
    fn any(&mut self, mut st: State, number: u32, role: Role) -> State {
        let mut model = st.pc.model().cloned();
        let mut new_symbols = Vec::new();
        for var in self.loops.modified(number).to_vec() {
            let value = self.read_var(&st, var);
            let width = self.program.vars[var].width;
            let object = match self.assumptions(number).roaming.contains(&var) {
                true => None,
                false => self.object_of(value),
            };
            let (_, fresh) = self.pool.fresh_symbol(Sort::Bv(width));
            new_symbols.push(fresh);
            // The entry value is one that the invariants allow.
            if let Some(m) = &mut model
                && !matches!(value, Val::Unset | Val::Unknown)
            {
                let mut old = self.term(value, width);
                if let Some(object) = object {
                    let base = self.bases.symbol(&mut self.pool, object, width);
                    old = self.pool.sub(old, base);
                }
                let old = m.eval(&self.pool, old);
                m.set(fresh, Value::Bv(old));
            }
            let new = match object {
                Some(object) => {
                    let base = self.bases.symbol(&mut self.pool, object, width);
                    self.pool.add(base, fresh)
                }
                None => fresh,
            };
            self.write_var(&mut st, var, Val::Expr(new));
        }
        self.forget_written(&mut st, number);
        self.activate(&mut st, number, role);
        let holds = self.pool.bool(true);
        self.solver.assume(&mut self.pool, &mut st.pc, holds, model);
        let terms = self.place_terms(&st, number);
        let modified = self.loops.modified(number).to_vec();
        self.assume_all(&mut st, terms, new_symbols, &modified);
        st
    }

    /// Makes the content of the objects unknown that the loop or recursion writes.
    fn forget_written(&mut self, st: &mut State, number: u32) {
        let origins = &self.inducing().places[number as usize].written;
        let written: Vec<ObjId> =
            st.memory.iter().filter(|(_, o)| origins.contains(&o.origin)).map(|(id, _)| id).collect();
        for object in written {
            self.changes(st, object, Change::Written);
            st.memory.get_mut(object).expect("a live object").forget();
        }
    }

    /// Assumes what holds at the place.
    fn assume_place(&mut self, st: &mut State, number: u32) {
        let terms = self.place_terms(st, number);
        self.assume_all(st, terms, Vec::new(), &[]);
    }

    fn place_terms(&mut self, st: &State, number: u32) -> Vec<ExprId> {
        let place = self.assumptions(number);
        let all: Vec<ExprId> = place.facts.iter().chain(&place.candidates).copied().collect();
        let term = |e| match self.eval(st, e) {
            Val::Expr(term) => Some(term),
            _ => None,
        };
        all.into_iter().filter_map(term).collect()
    }

    /// Assumes all `terms`. The symbols `fresh` occur nowhere but in them and in the variables `places`: where an equation
    /// defines one of them, the definition takes its place.
    fn assume_all(&mut self, st: &mut State, mut terms: Vec<ExprId>, mut fresh: Vec<ExprId>, places: &[VarId]) {
        while let Some((i, (symbol, meaning))) =
            terms.iter().enumerate().find_map(|(i, &e)| Some((i, polynomial::definition(&mut self.pool, e, &fresh)?)))
        {
            terms.remove(i);
            fresh.retain(|&s| s != symbol);
            let mut memo = FxHashMap::default();
            let mut replace =
                |pool: &mut ExprPool, e| pool.substitute(e, &mut memo, |_, leaf| (leaf == symbol).then_some(meaning));
            terms.iter_mut().for_each(|e| *e = replace(&mut self.pool, *e));
            for &var in places {
                if let Val::Expr(e) = self.read_var(st, var) {
                    let e = replace(&mut self.pool, e);
                    let value = self.classify(e);
                    self.write_var(st, var, value);
                }
            }
        }
        for term in terms {
            self.expose(st, term);
            self.solver.assume(&mut self.pool, &mut st.pc, term, None);
        }
    }
}
