//! Leak checks: live heap objects that are unreachable.
//!
//! An object is reachable if a chain of pointers leads to it from a variable. A pointer to the start, the inside or the
//! end of an object counts. If the structure of a pointer does not determine its object, the path splits.

use super::fault::FaultKind;
use super::memory::{Object, Origin, Summary};
use super::state::{State, Successors};
use super::value::{ObjId, Val};
use super::{At, Execution};
use cfa::{EdgeId, ExprId, Id, Leak, LocId, Sort, Variables};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximal number of pointers on which a path splits at one check.
const MOST_SPLITS: usize = 32;

/// The pointers on which the path was split: whether each points to the object.
type Known = FxHashMap<(ExprId, ObjId), bool>;

/// The objects that are reachable in a state.
#[derive(Default)]
struct Reached {
    objects: FxHashSet<ObjId>,
    work: Vec<ObjId>,
    /// Pairs of a pointer and an object to which it may point.
    open: Vec<(ExprId, ObjId)>,
}

impl Reached {
    fn add(&mut self, object: ObjId) {
        if self.objects.insert(object) {
            self.work.push(object);
        }
    }
}

/// Splits `st` by whether a heap object leaks, as `leak` defines it. `edge` is the check.
pub(super) fn split(ex: &mut Execution, st: State, leak: Leak, edge: EdgeId, out: &mut Successors) {
    let program = ex.program;
    let is_heap = |o: &Object| o.origin.may_leak(program);
    if !st.memory.iter().any(|(_, o)| is_heap(o)) {
        out.push((st, At::Target));
        return;
    }
    if leak == Leak::Alive {
        return ex.fault(st, FaultKind::StillAllocated, None);
    }
    let loc = ex.program.edges[edge].target;
    let mut pending = vec![(st, Known::default())];
    while let Some((st, known)) = pending.pop() {
        let reached = reached(ex, &st, loc, &known, &is_heap);
        let is_lost = |id: ObjId| st.memory.get(id).is_some_and(is_heap) && !reached.objects.contains(&id);
        let lost = st.memory.iter().map(|(id, _)| id).find(|&id| is_lost(id));
        let open = reached.open.iter().copied().find(|&(_, object)| is_lost(object));
        match open {
            _ if lost.is_none() => out.push((st, At::Target)),
            None => {
                let held = reached_from(ex, &st, loc, &known, &is_heap, Roots::Held);
                let is_held =
                    |id: ObjId| held.objects.contains(&id) || held.open.iter().any(|&(_, object)| object == id);
                let certain = st.memory.iter().map(|(id, _)| id).find(|&id| is_lost(id) && !is_held(id));
                if certain.is_none() {
                    out.push((st.clone(), At::Target));
                }
                let kind = if certain.is_some() { FaultKind::Lost } else { FaultKind::MaybeLost };
                ex.fault(st, kind, certain.or(lost));
            }
            Some((pointer, _))
                if known.len() >= MOST_SPLITS || matches!(ex.terms.sort(pointer), Sort::Array { .. }) =>
            {
                ex.fault(st, FaultKind::TooManyPointers, lost);
            }
            Some((pointer, object)) => {
                let points_there = points_to(ex, &st, pointer, object);
                let (yes, no) = ex.decide(st, points_there);
                for (side, holds) in [(yes, true), (no, false)] {
                    let Some(st) = side else { continue };
                    let mut known = known.clone();
                    known.insert((pointer, object), holds);
                    pending.push((st, known));
                }
            }
        }
    }
}

/// The condition that a pointer points to an object: to its start, inside it or to its end.
fn points_to(ex: &mut Execution, st: &State, pointer: ExprId, object: ObjId) -> ExprId {
    let w = ex.program.layout.pointer_width;
    let size = st.memory.get(object).expect("it is alive").size;
    let (base, size) = (ex.terms.base(object), ex.terms.term(size, w));
    let offset = ex.terms.sub(pointer, base);
    ex.terms.ule(offset, size)
}

/// Heap objects that no execution from `st` at `loc` can observe: they are unreachable, the program did not observe
/// their addresses, and no leak check is in the program. A slice lacks frees, so its states have more of them than the
/// program's states.
pub(super) fn garbage(ex: &mut Execution, st: &State, loc: LocId) -> FxHashSet<ObjId> {
    if ex.live.has_leak_checks {
        return FxHashSet::default();
    }
    let may_be = |o: &Object| matches!(o.origin, Origin::Heap(_)) && o.summary.is_none() && o.owner.is_none();
    let reached = reached(ex, st, loc, &Known::default(), &may_be);
    let mut all: FxHashSet<ObjId> = st.memory.iter().filter(|(_, o)| may_be(o)).map(|(id, _)| id).collect();
    let open = reached.open.iter().map(|(_, object)| object);
    for object in reached.objects.iter().chain(open).chain(st.exposed.iter()) {
        all.remove(object);
    }
    all
}

/// The local variables that are roots.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Roots {
    /// The C variables and the live temporaries.
    Known,
    /// Also the dead temporaries of functions whose C variables may have become temporaries. A C variable may have the
    /// value of one.
    Held,
}

/// The objects reachable from variables and from objects that cannot be `lost`. `loc` is the location of the current
/// frame.
fn reached(ex: &mut Execution, st: &State, loc: LocId, known: &Known, lost: &dyn Fn(&Object) -> bool) -> Reached {
    reached_from(ex, st, loc, known, lost, Roots::Known)
}

fn reached_from(
    ex: &mut Execution,
    st: &State,
    loc: LocId,
    known: &Known,
    lost: &dyn Fn(&Object) -> bool,
    roots: Roots,
) -> Reached {
    let mut reached = Reached::default();
    for (slot, &value) in st.globals.iter().enumerate() {
        let width = ex.program.vars[ex.slots.globals[slot]].width;
        reach(ex, st, value, width, known, &mut reached);
    }
    let (mut frame, mut at) = (Some(&st.frame), loc);
    while let Some(f) = frame {
        let live = ex.live(f.func);
        let holds = roots == Roots::Held && ex.program.funcs[f.func].variables != Variables::Kept;
        let slots = if holds { (0..f.vars.len() as u32).collect() } else { live.at(at).to_vec() };
        for slot in slots {
            let var = ex.slots.locals[f.func.index()][slot as usize];
            reach(ex, st, f.vars[slot as usize], ex.program.vars[var].width, known, &mut reached);
        }
        at = f.call.map_or(at, |call| ex.program.edges[call].target);
        frame = f.caller.as_ref();
    }
    for (id, _) in st.memory.iter().filter(|(_, o)| !lost(o)) {
        reached.add(id);
    }
    let mut values = Vec::new();
    while let Some(id) = reached.work.pop() {
        let Some(object) = st.memory.get(id) else { continue };
        object.for_each_cell(|_, len, value| values.push((value, 8 * u32::from(len))));
        values.extend(object.array.map(|array| (Val::Expr(array), 0)));
        object.summary.and_then(Summary::other_end).into_iter().for_each(|end| reached.add(end));
        for (value, width) in values.drain(..) {
            reach(ex, st, value, width, known, &mut reached);
        }
    }
    reached
}

/// Records the objects to which a value of `width` bits points. The width of an array is given as 0.
fn reach(ex: &mut Execution, st: &State, value: Val, width: u32, known: &Known, reached: &mut Reached) {
    let pointer = ex.program.layout.pointer_width;
    match value {
        Val::Ptr(object, offset) => {
            let inside = |o: &Object| !matches!(o.size, Val::Int(size) if offset > size);
            if st.memory.get(object).is_some_and(inside) {
                reached.add(object);
            }
        }
        Val::Expr(e) if ex.terms.has_base(e) => {
            if width > pointer {
                for part in 0..width / pointer {
                    let part = ex.terms.part(value, width, (part + 1) * pointer - 1, part * pointer);
                    reach(ex, st, part, pointer, known, reached);
                }
                return;
            }
            for object in ex.terms.bases_in(e) {
                match known.get(&(e, object)) {
                    Some(true) => reached.add(object),
                    Some(false) => {}
                    None if width == pointer || width == 0 => reached.open.push((e, object)),
                    None => {}
                }
            }
        }
        _ => {}
    }
}
