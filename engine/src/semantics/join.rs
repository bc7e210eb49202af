//! Merging: one state for two paths that meet.
//!
//! Where the two differ, the merged state holds if-then-else terms over the condition that tells the paths apart
//! (Kuznetsov, Kinder, Bucur, Candea: Efficient state merging in symbolic execution, PLDI 2012). Together with the
//! topological order of exploration this builds, for code without loops, the formula that bounded model checking
//! builds: linear in the program where paths are exponentially many.

use super::Execution;
use super::memory::{CHUNK, Object, Piece};
use super::state::{Frame, State};
use super::value::{ObjId, Val};
use crate::semantics::control::Control;
use cfa::{ExprId, Id, Sort, Value};
use smt::PathCondition;
use std::rc::Rc;

/// Chunks of memory in which the two states may differ.
const MOST_CHUNKS: usize = 64;

impl Execution<'_> {
    /// The places where the memories of two states differ, as objects and offsets of chunks; `None` if the two cannot be
    /// merged.
    pub fn differences(&self, a: &State, b: &State) -> Option<Vec<(ObjId, u64)>> {
        let alike = a.quantified == b.quantified
            && a.memory.allocated() == b.memory.allocated()
            && frames_alike(&a.frame, &b.frame);
        alike.then(|| mergeable_memory(a, b)).flatten()
    }

    /// One state for two at the same control, which differ at these `places`. With `keeps_dead` also what is in named variables
    /// that the program does not read any more.
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

/// The disjunction of the path conditions, and a condition that holds exactly on the first path.
fn merge_conditions(ex: &mut Execution, a: &State, b: &State) -> (PathCondition, ExprId) {
    let (mut pc, ours, theirs) = a.pc.part(&b.pc);
    let (ours, theirs) = (&ours[..], &theirs[..]);
    let mut all = |conjuncts: &[ExprId]| {
        let always = ex.terms.bool(true);
        conjuncts.iter().fold(always, |e, &c| ex.terms.and(e, c))
    };
    let (ours_e, theirs_e) = (all(ours), all(theirs));
    // Paths part at a branch, so the first conjuncts where they differ usually exclude each other.
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
            // A free choice between the two.
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

/// `x` if `cond`, else `y`.
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
    // From the top down to the first frame that the two share; then rebuilt upwards.
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

/// Candidate invariants speak also of variables that the program does not read any more.
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

/// The places where the memories differ, as objects and offsets of chunks; `None` if they cannot be merged.
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

/// Makes the bytes of a chunk in `a` those of `b` where `cond` does not hold.
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

/// Whether a piece is the start of a cell of `n` bytes.
fn same_cell(piece: Piece, n: u32) -> bool {
    matches!(piece, Piece::Cell { len, index: 0, .. } if u32::from(len) == n)
}

/// How many bytes from `at` on are best merged as one value: a cell of either object, or an aligned word.
fn run_length(x: &Object, y: &Object, at: u64) -> u32 {
    let cell = [x.piece(at), y.piece(at)].into_iter().filter_map(|p| match p {
        Piece::Cell { len, index, .. } => Some(u32::from(len - index)),
        _ => None,
    });
    cell.max().unwrap_or(if at.is_multiple_of(4) { 4 } else { 1 })
}

/// Whether the frames have the same functions and stack objects.
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
