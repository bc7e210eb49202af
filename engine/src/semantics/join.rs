//! Merging of states: one state for two paths that meet.
//!
//! If the paths disagree on a value, the merged state holds an if-then-else term over a condition that distinguishes
//! the paths (Kuznetsov, Kinder, Bucur, Candea: Efficient state merging in symbolic execution, PLDI 2012). Exploration
//! in topological order then builds the formula of bounded model checking for code without loops. The formula is linear
//! in the size of the program, even if the number of paths is exponential.

use super::Execution;
use super::memory::{CHUNK, Object, Piece};
use super::state::{Frame, State};
use super::value::{ObjId, Val};
use crate::semantics::control::Control;
use cfa::{ExprId, Id, Sort, Value};
use smt::PathCondition;
use std::rc::Rc;

/// Maximal number of memory chunks in which two mergeable states may differ.
const MOST_CHUNKS: usize = 64;

impl Execution<'_> {
    /// The chunks in which the memories of two states differ, as pairs of object and chunk offset. `None` if the states
    /// cannot be merged.
    pub fn differences(&self, a: &State, b: &State) -> Option<Vec<(ObjId, u64)>> {
        let alike = a.quantified == b.quantified
            && a.memory.allocated() == b.memory.allocated()
            && frames_alike(&a.frame, &b.frame);
        alike.then(|| mergeable_memory(a, b)).flatten()
    }

    /// Merges two states at the same control state. `places` are their [`differences`](Self::differences). If
    /// `keeps_dead`, the merged state also keeps the values of named variables that are dead.
    pub fn merge(
        &mut self,
        mut a: State,
        mut b: State,
        at: Control,
        places: &[(ObjId, u64)],
        keeps_dead: bool,
    ) -> State {
        let (pc, cond) = merge_conditions(self, &a, &b);
        for &(object, chunk) in places {
            merge_chunk(self, &mut a, &mut b, object, chunk, cond);
        }
        if !Rc::ptr_eq(&a.globals, &b.globals) {
            for slot in 0..a.globals.len() {
                let (x, y) = (a.globals[slot], b.globals[slot]);
                if x != y {
                    let width = self.program.vars[self.slots.globals[slot]].width;
                    Rc::make_mut(&mut a.globals)[slot] = choose(self, cond, x, y, width);
                }
            }
        }
        a.frame = merge_frames(self, &a.frame, &b.frame, at, cond, keeps_dead);
        a.pc = pc;
        a.trail = a.trail.merge(b.trail, cond);
        if a.exposed != b.exposed {
            Rc::make_mut(&mut a.exposed).retain(|o| b.exposed.contains(o));
        }
        if a.instances != b.instances {
            Rc::make_mut(&mut a.instances).retain(|i| b.instances.contains(i));
        }
        a
    }
}

/// The disjunction of the path conditions, and a condition that is true exactly on the path of `a`.
fn merge_conditions(ex: &mut Execution, a: &State, b: &State) -> (PathCondition, ExprId) {
    let (mut pc, ours, theirs) = a.pc.part(&b.pc);
    let (ours, theirs) = (&ours[..], &theirs[..]);
    let mut all = |conjuncts: &[ExprId]| {
        let always = ex.terms.bool(true);
        conjuncts.iter().fold(always, |e, &c| ex.terms.and(e, c))
    };
    let (ours_e, theirs_e) = (all(ours), all(theirs));
    // Paths fork at a branch. So the first conjuncts that they do not share usually exclude each other.
    let excludes = |this: &mut Execution, x: &[ExprId], y: &[ExprId]| {
        let &first = y.first()?;
        let opposite = this.terms.not(first);
        let mut prefix = this.terms.bool(true);
        for &c in x.iter().take(4) {
            prefix = this.terms.and(prefix, c);
            if prefix == opposite || c == opposite {
                return Some(opposite);
            }
        }
        None
    };
    let mut model = a.pc.model().cloned();
    let told_apart =
        excludes(ex, ours, theirs).or_else(|| excludes(ex, theirs, ours).map(|on_theirs| ex.terms.not(on_theirs)));
    let (cond, either) = match told_apart {
        Some(cond) => (cond, ex.terms.or(ours_e, theirs_e)),
        None => {
            // No conjunct distinguishes the paths: a fresh symbol chooses between them.
            let (_, choice) = ex.terms.fresh_symbol(Sort::Bv(1));
            if let Some(model) = &mut model {
                model.set(choice, Value::Bv(cfa::Bv::bool(true)));
            }
            (choice, ex.terms.ite(choice, ours_e, theirs_e))
        }
    };
    ex.solver.assume(&mut ex.terms, &mut pc, either, model);
    (pc, cond)
}

/// The value `x` if `cond` holds, else `y`.
fn choose(ex: &mut Execution, cond: ExprId, x: Val, y: Val, width: u32) -> Val {
    if x == y {
        return x;
    }
    let (x, y) = (ex.terms.term(x, width), ex.terms.term(y, width));
    let e = ex.terms.ite(cond, x, y);
    ex.terms.classify(e)
}

fn merge_frames(
    ex: &mut Execution,
    a: &Rc<Frame>,
    b: &Rc<Frame>,
    at: Control,
    cond: ExprId,
    keeps_dead: bool,
) -> Rc<Frame> {
    // Pairs up the frames from the top down to the first shared frame, then rebuilds them upwards.
    let mut pairs = Vec::new();
    let (mut x, mut y) = (a, b);
    let mut loc = at.loc;
    let shared = loop {
        if Rc::ptr_eq(x, y) {
            break Some(Rc::clone(x));
        }
        pairs.push((Rc::clone(x), Rc::clone(y), loc));
        match (&x.caller, &y.caller) {
            (Some(p), Some(q)) => {
                loc = ex.program.edges[x.call.expect("a frame with a caller was called")].target;
                (x, y) = (p, q);
            }
            _ => break None,
        }
    };
    let mut below = shared;
    for (x, y, loc) in pairs.into_iter().rev() {
        let live = ex.live(x.func);
        let mut vars = vec![Val::Unset; x.vars.len()];
        for &slot in live.at(loc) {
            let slot = slot as usize;
            let width = ex.program.vars[ex.slots.locals[x.func.index()][slot]].width;
            vars[slot] = choose(ex, cond, x.vars[slot], y.vars[slot], width);
        }
        if keeps_dead {
            merge_dead(ex, &x, &y, cond, &mut vars);
        }
        let frame =
            Frame { func: x.func, vars, objects: x.objects.clone(), caller: below, call: x.call, depth: x.depth };
        below = Some(Rc::new(frame));
    }
    below.expect("at least the frame of the entry function")
}

/// Merges the values of dead variables, because candidate invariants may mention them.
fn merge_dead(ex: &mut Execution, x: &Frame, y: &Frame, cond: ExprId, vars: &mut [Val]) {
    for (slot, merged) in vars.iter_mut().enumerate().filter(|(_, merged)| **merged == Val::Unset) {
        let (a, b) = (x.vars[slot], y.vars[slot]);
        let var = &ex.program.vars[ex.slots.locals[x.func.index()][slot]];
        let (width, is_named) = (var.width, var.name.is_some());
        if a == b {
            *merged = a;
        } else if is_named && a != Val::Unset && b != Val::Unset {
            *merged = choose(ex, cond, a, b, width);
        }
    }
}

/// The chunks in which the memories differ, as pairs of object and chunk offset. `None` if they cannot be merged, or
/// differ in more than [`MOST_CHUNKS`] chunks.
fn mergeable_memory(a: &State, b: &State) -> Option<Vec<(ObjId, u64)>> {
    let mut places = Vec::new();
    for (id, x, y) in a.memory.differences(&b.memory) {
        let (x, y) = (x?, y?);
        if x.size != y.size
            || x.origin != y.origin
            || (x.summary, x.owner) != (y.summary, y.owner)
            || x.zeroed != y.zeroed
            || x.array != y.array
        {
            return None;
        }
        places.extend(x.differing_chunks(y).into_iter().map(|chunk| (id, chunk)));
        if places.len() > MOST_CHUNKS {
            return None;
        }
    }
    Some(places)
}

/// Sets the bytes of a chunk in `a` to those of `b` under the negation of `cond`.
fn merge_chunk(ex: &mut Execution, a: &mut State, b: &mut State, object: ObjId, chunk: u64, cond: ExprId) {
    let size = match a.memory.get(object).expect("in both").size {
        Val::Int(size) => size,
        _ => chunk + CHUNK as u64,
    };
    let end = (chunk + CHUNK as u64).min(size);
    let mut at = chunk;
    while at < end {
        let (x, y) = (a.memory.get(object).expect("in both"), b.memory.get(object).expect("in both"));
        let (p, q) = (x.piece(at), y.piece(at));
        if p == q && !matches!(p, Piece::Cell { .. }) {
            at += 1;
            continue;
        }
        let n = run_length(x, y, at).min((end - at) as u32);
        if p == q && same_cell(p, n) {
            at += u64::from(n);
            continue;
        }
        let (p, q) = (ex.read(a, object, at, n), ex.read(b, object, at, n));
        let merged = choose(ex, cond, p, q, 8 * n);
        ex.put(a, object, at, n, merged);
        at += u64::from(n);
    }
}

/// True if a piece is the start of a cell of `n` bytes.
fn same_cell(piece: Piece, n: u32) -> bool {
    matches!(piece, Piece::Cell { len, index: 0, .. } if u32::from(len) == n)
}

/// The number of bytes from `at` on that are merged as one value: the rest of a cell of either object, else an aligned
/// word, else a byte.
fn run_length(x: &Object, y: &Object, at: u64) -> u32 {
    let cell = [x.piece(at), y.piece(at)].into_iter().filter_map(|p| match p {
        Piece::Cell { len, index, .. } => Some(u32::from(len - index)),
        _ => None,
    });
    cell.max().unwrap_or(if at.is_multiple_of(4) { 4 } else { 1 })
}

/// True if the frames have the same functions and stack objects.
fn frames_alike(a: &Rc<Frame>, b: &Rc<Frame>) -> bool {
    let (mut x, mut y) = (a, b);
    loop {
        if Rc::ptr_eq(x, y) {
            return true;
        }
        if x.func != y.func || x.objects != y.objects {
            return false;
        }
        match (&x.caller, &y.caller) {
            (None, None) => return true,
            (Some(p), Some(q)) => (x, y) = (p, q),
            _ => return false,
        }
    }
}
