//! Covering: when a path need not be followed because an earlier one stands for all it can do.
//!
//! A state `new` is covered by a state `old` at the same control if every concrete state that `new` stands for is one
//! that `old` stands for. That is so if there is a substitution θ of old symbols by new terms under which the live
//! variables and the memory of `old` become those of `new`, and `new`'s path condition implies θ of `old`'s, as far as
//! it says anything about what is live: symbols of `old` that occur in nothing live may take any values that satisfy
//! the rest (subsumption checking as in Anand, Păsăreanu, Visser: Symbolic execution with abstract subsumption
//! checking, SPIN 2006, with a renaming instead of an abstraction). θ is found by matching structure, so the search is
//! incomplete and linear.
//!
//! This makes symbolic execution terminate on loops that come back to the same state: reactive programs whose
//! state is concrete and whose inputs are forgotten.

use super::state::{Frame, Slots, State};
use super::value::{ObjId, Val};
use super::{Stop, SymbolicExecution};
use crate::control::Control;
use cfa::{Expr, ExprId, FuncId, Id, Leak, LocId, Op, Program, SymId, VarId, VarKind};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Visits of a location after which it must show hits for states to be kept and looked up at each.
const TRIAL: u64 = 256;
/// Kept states of one fingerprint that are tried, the newest first.
const LOOKUPS: usize = 8;
/// States kept in all.
const MOST: usize = 200_000;

/// What was seen at each control, to cover later states.
pub struct Covering {
    /// By control and fingerprint.
    kept: FxHashMap<(Control, u64), Vec<Snapshot>>,
    records: FxHashMap<LocId, Record>,
    total: usize,
    /// Per function, when first needed: the live locals at every location.
    live: Vec<Option<Rc<Liveness>>>,
    /// Slots of the globals that some operation reads.
    read_globals: Vec<u32>,
}

/// How looking for covering states has paid off at a location.
#[derive(Default)]
struct Record {
    visits: u64,
    hits: u64,
}

/// A state as it was, without what the future does not depend on.
struct Snapshot {
    st: State,
}

/// The locals of a function whose values matter.
pub(super) struct Liveness {
    /// Slots, by location.
    at: FxHashMap<LocId, Box<[u32]>>,
    /// At other locations: all slots, in a function too large for the data flow.
    otherwise: Box<[u32]>,
}

impl Covering {
    pub fn new(program: &Program) -> Self {
        let slots = Slots::new(program);
        let mut read = FxHashSet::default();
        let mut seen = FxHashSet::default();
        for edge in program.edges.values() {
            edge.op.for_each_expr(|e| {
                program.exprs.visit(e, &mut seen, |_, node| {
                    if let Expr::Var(v) = node
                        && let Some(slot) = slots.of_var[v.index()].global()
                    {
                        read.insert(slot as u32);
                    }
                });
            });
        }
        let mut read_globals: Vec<u32> = read.into_iter().collect();
        read_globals.sort_unstable();
        Self {
            kept: FxHashMap::default(),
            records: FxHashMap::default(),
            total: 0,
            live: vec![None; program.funcs.len()],
            read_globals,
        }
    }
}

impl SymbolicExecution<'_> {
    /// Where states may cover one another: loop heads, and the joins of branches.
    pub fn heads(&self) -> Vec<bool> {
        let mut incoming = vec![0u8; self.program.locs.len()];
        for edge in self.program.edges.values() {
            let n = &mut incoming[edge.target.index()];
            *n = n.saturating_add(1);
        }
        for func in self.program.funcs.values() {
            let n = &mut incoming[func.entry.index()];
            *n = n.saturating_add(1);
        }
        incoming.into_iter().map(|n| n > 1).collect()
    }

    /// Slots of the globals that some operation reads.
    pub(super) fn read_globals(&self) -> &[u32] {
        &self.covering.read_globals
    }

    /// Whether an earlier state at `at` covers `st`; if none does, `st` may be kept.
    pub(super) fn is_covered(&mut self, st: &State, at: Control) -> Result<bool, Stop> {
        let record = self.covering.records.entry(at.loc).or_default();
        record.visits += 1;
        let visits = record.visits;
        // A place that never had a hit is looked at ever more rarely, but always again.
        let promising = record.hits * 64 >= visits.saturating_sub(TRIAL);
        if !promising && !visits.is_power_of_two() && !visits.is_multiple_of(16) {
            return Ok(false);
        }
        let key = (at, self.fingerprint(st, at));
        let mut candidates = self.covering.kept.remove(&key).unwrap_or_default();
        let mut covered = false;
        for candidate in candidates.iter().rev().take(LOOKUPS) {
            if self.state_covers(&candidate.st, st, at) {
                covered = true;
                break;
            }
        }
        if covered {
            self.covering.records.entry(at.loc).or_default().hits += 1;
        } else if (promising || visits.is_power_of_two()) && self.covering.total < MOST && self.has_model(st) {
            candidates.push(Snapshot { st: st.clone() });
            self.covering.total += 1;
        }
        if !candidates.is_empty() {
            self.covering.kept.insert(key, candidates);
        }
        Ok(covered)
    }

    /// Only a state that surely stands for executions may cover: one that the solver could not decide may vanish later.
    fn has_model(&self, st: &State) -> bool {
        st.pc.model().is_some_and(|m| !m.is_spurious())
    }

    pub(super) fn live(&mut self, func: FuncId) -> Rc<Liveness> {
        if let Some(live) = &self.covering.live[func.index()] {
            return Rc::clone(live);
        }
        let live = Rc::new(Liveness::of(self.program, &self.slots, func));
        self.covering.live[func.index()] = Some(Rc::clone(&live));
        live
    }

    /// Equal for states of which one may cover the other: the concrete part of what is live in the top frame.
    fn fingerprint(&mut self, st: &State, at: Control) -> u64 {
        let mut hasher = FxHasher::default();
        let live = self.live(st.frame.func);
        for &slot in live.at(at.loc) {
            hash_val(st.frame.vars[slot as usize], &mut hasher);
        }
        for &slot in &self.covering.read_globals {
            hash_val(st.globals[slot as usize], &mut hasher);
        }
        hasher.finish()
    }

    pub(super) fn state_covers(&mut self, old: &State, new: &State, at: Control) -> bool {
        if old.past.is_some() && new.past.is_none() || old.active != new.active || old.anchors != new.anchors {
            return false;
        }
        // What is known of arrays restricts the old state in a way that is not compared.
        if !old.quantified.is_empty() {
            return false;
        }
        let mut matching = Matching::default();
        if !self.match_frames(old, new, at, &mut matching) || !self.match_memory(old, new, &mut matching) {
            return false;
        }
        self.implied(old, new, &mut matching)
    }

    fn match_frames(&mut self, old: &State, new: &State, at: Control, matching: &mut Matching) -> bool {
        for i in 0..self.covering.read_globals.len() {
            let slot = self.covering.read_globals[i] as usize;
            if !self.match_values(old.globals[slot], new.globals[slot], matching) {
                return false;
            }
        }
        let mut frames: Option<(&Rc<Frame>, &Rc<Frame>)> = Some((&old.frame, &new.frame));
        let mut loc = at.loc;
        while let Some((a, b)) = frames {
            if a.func != b.func {
                return false;
            }
            let live = self.live(a.func);
            for &slot in live.at(loc) {
                if !self.match_values(a.vars[slot as usize], b.vars[slot as usize], matching) {
                    return false;
                }
            }
            // Objects of a frame die with it: both must own the same ones.
            if a.objects != b.objects {
                return false;
            }
            frames = match (&a.caller, &b.caller) {
                (None, None) => None,
                (Some(x), Some(y)) => {
                    if a.call != b.call {
                        return false;
                    }
                    loc = self.program.edges[a.call.expect("a frame with a caller was called")].target;
                    Some((x, y))
                }
                _ => return false,
            };
        }
        true
    }

    fn match_memory(&mut self, old: &State, new: &State, matching: &mut Matching) -> bool {
        let mut cells = Vec::new();
        for (_, a, b) in old.memory.differences(&new.memory) {
            match (a, b) {
                (Some(a), Some(b)) if a.may_cover(b, &mut cells) => {}
                _ => return false,
            }
        }
        if !cells.into_iter().all(|(a, b, _)| self.match_values(a, b, matching)) {
            return false;
        }
        // What the two share is live as well: its symbols stand for themselves.
        let mut values = Vec::new();
        for (id, object) in new.memory.iter() {
            if old.memory.shares(&new.memory, id) {
                object.for_each_cell(|_, _, value| values.push(value));
                values.push(object.size);
                values.extend(object.array.map(Val::Expr));
            }
        }
        values.into_iter().all(|v| self.match_values(v, v, matching))
    }

    /// Extends the substitution so that `old` becomes `new`.
    fn match_values(&mut self, old: Val, new: Val, matching: &mut Matching) -> bool {
        match (old, new) {
            (Val::Unset | Val::Unknown, _) => true,
            (_, Val::Unknown) => false,
            (Val::Expr(a), Val::Expr(b)) => self.match_terms(a, b, matching),
            (Val::Expr(a), b) => {
                let width = self.pool.width(a);
                let b = self.term(b, width);
                self.match_terms(a, b, matching)
            }
            (a, b) => a == b,
        }
    }

    fn match_terms(&self, old: ExprId, new: ExprId, matching: &mut Matching) -> bool {
        let mut stack = vec![(old, new)];
        while let Some((a, b)) = stack.pop() {
            match matching.terms.get(&a) {
                Some(&done) if done == b => continue,
                Some(_) => return false,
                None => {}
            }
            if self.pool.sort(a) != self.pool.sort(b) {
                return false;
            }
            match (self.pool.get(a), self.pool.get(b)) {
                (&Expr::Sym(s), _) if self.bases.object(s).is_none() => {
                    if *matching.theta.entry(s).or_insert(b) != b {
                        return false;
                    }
                }
                (x, y) => {
                    if x.children().next().is_none() {
                        if a != b {
                            return false;
                        }
                    } else if same_operator(x, y) {
                        stack.extend(x.children().zip(y.children()));
                    } else {
                        return false;
                    }
                }
            }
            matching.terms.insert(a, b);
        }
        true
    }

    /// Whether `new`'s path condition implies what `old`'s says, under the substitution, of live symbols.
    fn implied(&mut self, old: &State, new: &State, matching: &mut Matching) -> bool {
        let present: FxHashSet<ExprId> = new.pc.iter().collect();
        let conjuncts = old.pc.conjuncts();
        // Conjuncts connected to a live symbol or to an address, directly or through shared symbols, matter.
        let symbols: Vec<Vec<SymId>> = conjuncts.iter().map(|&c| self.symbols_of(c)).collect();
        let mut live: FxHashSet<SymId> = matching.theta.keys().copied().collect();
        let mut matters = vec![false; conjuncts.len()];
        loop {
            let mut changed = false;
            for (i, symbols) in symbols.iter().enumerate() {
                if !matters[i] && symbols.iter().any(|s| live.contains(s) || self.bases.object(*s).is_some()) {
                    matters[i] = true;
                    changed = true;
                    live.extend(symbols.iter().copied());
                }
            }
            if !changed {
                break;
            }
        }
        let mut memo = FxHashMap::default();
        let theta = &matching.theta;
        let mut missing = self.pool.bool(true);
        for (i, &conjunct) in conjuncts.iter().enumerate() {
            if !matters[i] {
                continue;
            }
            let required = self.pool.substitute(conjunct, &mut memo, |pool, leaf| match pool.get(leaf) {
                Expr::Sym(s) => theta.get(s).copied(),
                _ => None,
            });
            if !present.contains(&required) {
                missing = self.pool.and(missing, required);
            }
        }
        if self.pool.is_true(missing) {
            return true;
        }
        let violated = self.pool.not(missing);
        self.solver.check(&mut self.pool, &new.pc, violated).is_infeasible()
    }

    pub(super) fn symbols_of(&self, e: ExprId) -> Vec<SymId> {
        let mut symbols = Vec::new();
        self.pool.visit(e, &mut FxHashSet::default(), |_, node| {
            if let Expr::Sym(s) = node {
                symbols.push(*s);
            }
        });
        symbols
    }
}

/// A substitution under construction.
#[derive(Default)]
struct Matching {
    theta: FxHashMap<SymId, ExprId>,
    /// Old terms that were matched, with what they became.
    terms: FxHashMap<ExprId, ExprId>,
}

fn hash_val(value: Val, hasher: &mut FxHasher) {
    match value {
        Val::Int(v) => (0u8, v).hash(hasher),
        Val::Ptr(ObjId(object), offset) => (1u8, object, offset).hash(hasher),
        Val::Expr(_) | Val::Unset | Val::Unknown => 2u8.hash(hasher),
    }
}

/// Whether two operations are the same but for their operands.
fn same_operator(a: &Expr, b: &Expr) -> bool {
    use Expr::*;
    match (a, b) {
        (Unary(p, _), Unary(q, _)) => p == q,
        (Binary(p, ..), Binary(q, ..)) => p == q,
        (Ite(..), Ite(..)) | (Select { .. }, Select { .. }) | (Store { .. }, Store { .. }) => true,
        (Extract { hi, lo, .. }, Extract { hi: h, lo: l, .. }) => hi == h && lo == l,
        (Zext { width, .. }, Zext { width: w, .. }) | (Sext { width, .. }, Sext { width: w, .. }) => width == w,
        (FUnary(p, f, _), FUnary(q, g, _)) => p == q && f == g,
        (FBinary(p, f, ..), FBinary(q, g, ..)) => p == q && f == g,
        (Fma(r, f, ..), Fma(s, g, ..)) => r == s && f == g,
        (FIsNan(f, _), FIsNan(g, _)) => f == g,
        (FCompare(p, f, ..), FCompare(q, g, ..)) => p == q && f == g,
        (FConvert { rounding, from, to, .. }, FConvert { rounding: r, from: f, to: t, .. }) => {
            rounding == r && from == f && to == t
        }
        (IntToF { rounding, to, signed, .. }, IntToF { rounding: r, to: t, signed: s, .. }) => {
            rounding == r && to == t && signed == s
        }
        (FToInt { from, signed, width, .. }, FToInt { from: f, signed: s, width: w, .. }) => {
            from == f && signed == s && width == w
        }
        (ConstArray { index, .. }, ConstArray { index: i, .. }) | (Lambda { index, .. }, Lambda { index: i, .. }) => {
            index == i
        }
        _ => false,
    }
}

impl Liveness {
    fn of(program: &Program, slots: &Slots, func: FuncId) -> Self {
        let locals = &slots.locals[func.index()];
        // What a pointer leads to is not lost, be it used again or not.
        let leaks = program.edges.values().any(|e| e.op == Op::Leak(Leak::Lost));
        let counts = |v: &&VarId| leaks && !matches!(program.vars[**v].kind, VarKind::Temp(_));
        let always: Vec<u32> = locals.iter().filter(counts).map(|v| slots.of_var[v.index()].local() as u32).collect();
        let of = |vars: Box<[VarId]>| {
            let needed = vars.iter().map(|v| slots.of_var[v.index()].local() as u32);
            let mut all: Vec<u32> = needed.chain(always.iter().copied()).collect();
            all.sort_unstable();
            all.dedup();
            all.into_boxed_slice()
        };
        let cfa::liveness::Liveness { at, otherwise } = cfa::liveness::Liveness::new(program, func, locals);
        Self { at: at.into_iter().map(|(loc, vars)| (loc, of(vars))).collect(), otherwise: of(otherwise) }
    }

    /// The slots that are live at a location, ascending.
    pub(super) fn at(&self, loc: LocId) -> &[u32] {
        self.at.get(&loc).unwrap_or(&self.otherwise)
    }
}
