//! Coverage of one state by another.
//!
//! A state `old` covers a state `new` at the same control state if it represents every concrete state that `new`
//! represents. That holds if there is a substitution θ of old symbols by new terms with two properties:
//! - θ maps the live variables and the memory of `old` to those of `new`.
//! - The path condition of `new` implies θ of the path condition of `old`. Conjuncts that are not connected to live
//!   symbols are ignored: symbols of `old` that occur in no live value may take any values that satisfy them.
//!
//! This is subsumption checking as in Anand, Păsăreanu, Visser: Symbolic execution with abstract subsumption checking,
//! SPIN 2006, with a renaming instead of an abstraction. The search matches the structure of terms, so it is incomplete
//! and linear. Unreachable heap objects that only `new` has are ignored.

use super::state::{Frame, State};
use super::value::{ObjId, Val};
use super::{Execution, leak, segment};
use crate::semantics::control::Control;
use cfa::{Expr, ExprId, SymId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

impl Execution<'_> {
    /// True if `old` was proved to cover `new`, both at the control state `at`. If it returns false, `old` may still
    /// cover `new`.
    pub fn covers(&mut self, old: &State, new: &State, at: Control) -> bool {
        // Quantified facts restrict `old`, and the comparison ignores them.
        if !old.quantified.is_empty() {
            return false;
        }
        let mut matching = Matching::default();
        if !match_frames(self, old, new, at, &mut matching) || !match_memory(self, old, new, at, &mut matching) {
            return false;
        }
        implied(self, old, new, &mut matching)
    }
}

/// A substitution under construction.
#[derive(Default)]
struct Matching {
    theta: FxHashMap<SymId, ExprId>,
    /// Old terms that were matched, with their images.
    terms: FxHashMap<ExprId, ExprId>,
}

fn match_frames(ex: &mut Execution, old: &State, new: &State, at: Control, matching: &mut Matching) -> bool {
    for i in 0..ex.read_globals().len() {
        let slot = ex.read_globals()[i] as usize;
        if !match_values(ex, old.globals[slot], new.globals[slot], matching) {
            return false;
        }
    }
    let mut frames: Option<(&Rc<Frame>, &Rc<Frame>)> = Some((&old.frame, &new.frame));
    let mut loc = at.loc;
    while let Some((a, b)) = frames {
        if a.func != b.func {
            return false;
        }
        let live = ex.live(a.func);
        for &slot in live.at(loc) {
            if !match_values(ex, a.vars[slot as usize], b.vars[slot as usize], matching) {
                return false;
            }
        }
        // Objects of a frame die with it, so both frames must own the same ones.
        if a.objects != b.objects {
            return false;
        }
        frames = match (&a.caller, &b.caller) {
            (None, None) => None,
            (Some(x), Some(y)) => {
                if a.call != b.call {
                    return false;
                }
                loc = ex.program.edges[a.call.expect("a frame with a caller was called")].target;
                Some((x, y))
            }
            _ => return false,
        };
    }
    true
}

fn match_memory(ex: &mut Execution, old: &State, new: &State, at: Control, matching: &mut Matching) -> bool {
    let mut cells = Vec::new();
    let mut ends = FxHashMap::default();
    if ex.unfolds {
        ends = segment::ends(&old.memory, &new.memory);
    }
    if ends.iter().any(|(a, b)| a != b) {
        return match_segments(ex, old, new, &ends, matching);
    }
    // Computed only if `new` has an object that `old` lacks.
    let mut garbage = None;
    for (id, a, b) in old.memory.differences(&new.memory) {
        match (a, b) {
            (None, Some(_)) if garbage.get_or_insert_with(|| leak::garbage(ex, new, at.loc)).contains(&id) => {}
            (Some(a), Some(b)) if segment::owners_agree(a, b, &new.memory) && a.may_cover(b, &mut cells) => {}
            _ => return false,
        }
    }
    if !cells.into_iter().all(|(a, b, _)| match_values(ex, a, b, matching)) {
        return false;
    }
    // Objects that both memories share are live as well: θ must map their symbols to themselves.
    let mut values = Vec::new();
    for (id, object) in new.memory.iter() {
        if old.memory.shares(&new.memory, id) {
            object.for_each_cell(|_, _, value| values.push(value));
            values.push(object.size);
            values.extend(object.array.map(Val::Expr));
        }
    }
    values.into_iter().all(|v| match_values(ex, v, v, matching))
}

/// Matches the memories of states that have list segments. `ends` maps the last node of a segment in `old` to its
/// counterpart in `new`. Such states do not name unknown values.
fn match_segments(
    ex: &mut Execution,
    old: &State,
    new: &State,
    ends: &FxHashMap<ObjId, ObjId>,
    matching: &mut Matching,
) -> bool {
    let of = |st: &State| st.memory.iter().filter(|(_, o)| !o.is_last()).count();
    let mut cells = Vec::new();
    of(old) == of(new)
        && old.memory.iter().filter(|(_, o)| !o.is_last()).all(|(id, a)| {
            new.memory
                .get(id)
                .is_some_and(|b| !b.is_last() && segment::owners_agree(a, b, &new.memory) && a.may_cover(b, &mut cells))
        })
        && cells.into_iter().all(|(a, b, _)| {
            let a = match a {
                Val::Ptr(o, k) => Val::Ptr(ends.get(&o).copied().unwrap_or(o), k),
                a => a,
            };
            match_values(ex, a, b, matching)
        })
}

/// Extends θ so that it maps `old` to `new`. Returns false if that is impossible.
fn match_values(ex: &mut Execution, old: Val, new: Val, matching: &mut Matching) -> bool {
    match (old, new) {
        (Val::Unset | Val::Unknown, _) => true,
        (_, Val::Unknown) => false,
        (Val::Expr(a), Val::Expr(b)) => match_terms(ex, a, b, matching),
        (Val::Expr(a), b) => {
            let width = ex.terms.width(a);
            let b = ex.terms.term(b, width);
            match_terms(ex, a, b, matching)
        }
        (a, b) => a == b,
    }
}

fn match_terms(ex: &Execution, old: ExprId, new: ExprId, matching: &mut Matching) -> bool {
    let mut stack = vec![(old, new)];
    while let Some((a, b)) = stack.pop() {
        match matching.terms.get(&a) {
            Some(&done) if done == b => continue,
            Some(_) => return false,
            None => {}
        }
        if ex.terms.sort(a) != ex.terms.sort(b) {
            return false;
        }
        match (ex.terms.get(a), ex.terms.get(b)) {
            (&Expr::Sym(s), _) if ex.terms.bases.object(s).is_none() => {
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

/// True if the path condition of `new` implies, under θ, the conjuncts of the path condition of `old` on live symbols.
fn implied(ex: &mut Execution, old: &State, new: &State, matching: &mut Matching) -> bool {
    let present: FxHashSet<ExprId> = new.pc.iter().collect();
    let conjuncts = old.pc.conjuncts();
    // A conjunct is relevant if it shares a symbol with a live value or an address, directly or through other
    // conjuncts.
    let symbols: Vec<Rc<[SymId]>> = conjuncts.iter().map(|&c| ex.terms.symbols_in(c)).collect();
    let mut live: FxHashSet<SymId> = matching.theta.keys().copied().collect();
    let mut matters = vec![false; conjuncts.len()];
    loop {
        let mut changed = false;
        for (i, symbols) in symbols.iter().enumerate() {
            if !matters[i] && symbols.iter().any(|s| live.contains(s) || ex.terms.bases.object(*s).is_some()) {
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
    let mut missing = ex.terms.bool(true);
    for (i, &conjunct) in conjuncts.iter().enumerate() {
        if !matters[i] {
            continue;
        }
        let required = ex.terms.substitute(conjunct, &mut memo, |pool, leaf| match pool.get(leaf) {
            Expr::Sym(s) => theta.get(s).copied(),
            _ => None,
        });
        if !present.contains(&required) {
            missing = ex.terms.and(missing, required);
        }
    }
    if ex.terms.is_true(missing) {
        return true;
    }
    let violated = ex.terms.not(missing);
    ex.solver.check(&mut ex.terms, &new.pc, violated).is_infeasible()
}

/// True if two terms have the same operator and parameters; their operands may differ.
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
