//! Objects of the heap that leak.
//!
//! An object is lost if no variable leads to it, by way of pointers to it, into it or to its end. Where a pointer's structure
//! does not tell where it points, the path splits.

use super::memory::{Object, Origin};
use super::state::State;
use super::value::{ObjId, Val};
use super::{Stop, Successors, SymbolicExecution, follow};
use crate::verdict::Reason;
use cfa::{AllocKind, CallGraph, EdgeId, ExprId, FuncId, Id, Leak, LocId, Op, Sort};
use rustc_hash::{FxHashMap, FxHashSet};

/// Pointers on which the path may split at one place.
const MOST_SPLITS: usize = 32;

/// Whether a pointer leads to an object, as far as the path has been split on it.
type Known = FxHashMap<(ExprId, ObjId), bool>;

/// Where the pointers of a state lead.
#[derive(Default)]
struct Reached {
    objects: FxHashSet<ObjId>,
    work: Vec<ObjId>,
    /// Pointers that may lead to objects.
    open: Vec<(ExprId, ObjId)>,
}

impl Reached {
    fn add(&mut self, object: ObjId) {
        if self.objects.insert(object) {
            self.work.push(object);
        }
    }
}

impl SymbolicExecution<'_> {
    pub(super) fn leaks(
        &mut self,
        st: State,
        leak: Leak,
        edge: EdgeId,
        out: &mut Successors<State>,
    ) -> Result<(), Stop> {
        let is_heap = |o: &Object| matches!(o.origin, Origin::Heap(_));
        if self.induction.as_ref().is_some_and(|i| !i.is_bounded()) && self.is_watched(edge) && self.loops_allocate() {
            let reason =
                Reason::at("loops allocate memory, which invariants do not count", self.program.edges[edge].place);
            self.problem(edge, reason);
        }
        if !self.is_watched(edge) || !st.memory.iter().any(|(_, o)| is_heap(o)) {
            out.push(follow(st));
            return Ok(());
        }
        if leak == Leak::Alive {
            self.faults.push(st);
            return Ok(());
        }
        let loc = self.program.edges[edge].target;
        let mut pending = vec![(st, Known::default())];
        while let Some((st, known)) = pending.pop() {
            let reached = self.reached(&st, loc, &known);
            let is_lost = |id: ObjId| st.memory.get(id).is_some_and(is_heap) && !reached.objects.contains(&id);
            let open = reached.open.iter().copied().find(|&(_, object)| is_lost(object));
            match open {
                _ if !st.memory.iter().any(|(id, _)| is_lost(id)) => out.push(follow(st)),
                None => self.faults.push(st),
                Some((pointer, _))
                    if known.len() >= MOST_SPLITS || matches!(self.pool.sort(pointer), Sort::Array { .. }) =>
                {
                    let place = self.program.edges[edge].place;
                    self.problem(
                        edge,
                        Reason::at("too many pointers may lead to memory that is lost otherwise", place),
                    );
                }
                Some((pointer, object)) => {
                    let points_there = self.points_to(&st, pointer, object);
                    let (yes, no) = self.decide(st, points_there)?;
                    for (side, holds) in [(yes, true), (no, false)] {
                        let Some(st) = side else { continue };
                        let mut known = known.clone();
                        known.insert((pointer, object), holds);
                        pending.push((st, known));
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether memory of the heap is allocated in a loop or a recursion: one path through it stands for many objects.
    fn loops_allocate(&mut self) -> bool {
        if let Some(known) = self.loops_allocate {
            return known;
        }
        let program = self.program;
        let calls = CallGraph::new(program);
        let in_loop = |loc: LocId| self.loops.loops.iter().any(|l| l.body.contains(&loc));
        let mut repeated: Vec<bool> = program.funcs.ids().map(|f| calls.is_recursive(f)).collect();
        let mut work: Vec<FuncId> = program.funcs.ids().filter(|f| repeated[f.index()]).collect();
        let called = |id: EdgeId| calls.callees(program, id).as_slice().to_vec();
        for (id, edge) in program.edges.iter() {
            if matches!(edge.op, Op::Call { .. }) && in_loop(edge.source) {
                work.extend(called(id));
            }
        }
        let mut callees: Vec<Vec<FuncId>> = vec![Vec::new(); program.funcs.len()];
        for (id, _) in program.edges.iter().filter(|(_, e)| matches!(e.op, Op::Call { .. })) {
            callees[program.func_of(id).index()].extend(called(id));
        }
        let mut seen = FxHashSet::default();
        while let Some(f) = work.pop() {
            if seen.insert(f) {
                repeated[f.index()] = true;
                work.extend(&callees[f.index()]);
            }
        }
        let found = program.edges.iter().any(|(id, edge)| {
            matches!(edge.op, Op::Alloc { kind: AllocKind::Heap, .. })
                && (repeated[program.func_of(id).index()] || in_loop(edge.source))
        });
        self.loops_allocate = Some(found);
        found
    }

    /// Whether a pointer points to an object, into it or to its end.
    fn points_to(&mut self, st: &State, pointer: ExprId, object: ObjId) -> ExprId {
        let w = self.program.layout.pointer_width;
        let size = st.memory.get(object).expect("it is alive").size;
        let (base, size) = (self.bases.symbol(&mut self.pool, object, w), self.term(size, w));
        let offset = self.pool.sub(pointer, base);
        self.pool.ule(offset, size)
    }

    /// The objects that variables lead to; `loc` is where the present frame stands.
    fn reached(&mut self, st: &State, loc: LocId, known: &Known) -> Reached {
        let mut reached = Reached::default();
        for (slot, &value) in st.globals.iter().enumerate() {
            let width = self.program.vars[self.slots.globals[slot]].width;
            self.reach(st, value, width, known, &mut reached);
        }
        let (mut frame, mut at) = (Some(&st.frame), loc);
        while let Some(f) = frame {
            let live = self.live(f.func);
            for &slot in live.at(at) {
                let var = self.slots.locals[f.func.index()][slot as usize];
                self.reach(st, f.vars[slot as usize], self.program.vars[var].width, known, &mut reached);
            }
            at = f.call.map_or(at, |call| self.program.edges[call].target);
            frame = f.caller.as_ref();
        }
        for (id, _) in st.memory.iter().filter(|(_, o)| !matches!(o.origin, Origin::Heap(_))) {
            reached.add(id);
        }
        let mut values = Vec::new();
        while let Some(id) = reached.work.pop() {
            let Some(object) = st.memory.get(id) else { continue };
            object.for_each_cell(|_, len, value| values.push((value, 8 * u32::from(len))));
            values.extend(object.array.map(|array| (Val::Expr(array), 0)));
            for (value, width) in values.drain(..) {
                self.reach(st, value, width, known, &mut reached);
            }
        }
        reached
    }

    /// What a value of so many bits leads to; an array has none.
    fn reach(&mut self, st: &State, value: Val, width: u32, known: &Known, reached: &mut Reached) {
        let pointer = self.program.layout.pointer_width;
        match value {
            Val::Ptr(object, offset) => {
                let inside = |o: &Object| !matches!(o.size, Val::Int(size) if offset > size);
                if st.memory.get(object).is_some_and(inside) {
                    reached.add(object);
                }
            }
            Val::Expr(e) if self.has_base(e) => {
                if width > pointer {
                    for part in 0..width / pointer {
                        let part = self.extract(value, width, (part + 1) * pointer - 1, part * pointer);
                        self.reach(st, part, pointer, known, reached);
                    }
                    return;
                }
                for object in self.bases_in(e) {
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
}
