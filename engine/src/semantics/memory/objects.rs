//! The table of the live objects of one path.

use super::Object;
use crate::semantics::paged::Paged;
use crate::semantics::value::{ObjId, Val};
use cfa::Id;
use std::rc::Rc;

/// The live objects. A dead object is absent.
#[derive(Clone)]
pub struct Memory {
    objects: Paged<Rc<Object>>,
    /// The shadow of each object, of the same size, which [`Op::Shadow`](cfa::Op::Shadow) accesses. `None` if the
    /// program has no such operation.
    shadows: Option<Box<Paged<Rc<Object>>>>,
    next: u32,
}

impl Memory {
    /// An empty memory, with shadows if the program uses them.
    pub fn new(has_shadows: bool) -> Self {
        Self { objects: Paged::new(), shadows: has_shadows.then(|| Box::new(Paged::new())), next: 0 }
    }
    /// Adds an object, and its shadow if there are shadows.
    pub fn allocate(&mut self, object: Object) -> ObjId {
        let id = ObjId(self.next);
        self.next += 1;
        if let Some(shadows) = &mut self.shadows {
            let shadow = Object::new(object.size, object.align, object.origin.shadow(), true);
            shadows.set(id.index(), Some(Rc::new(shadow)));
        }
        self.objects.set(id.index(), Some(Rc::new(object)));
        id
    }
    /// The number of objects allocated on this path, including dead ones.
    pub fn allocated(&self) -> u32 {
        self.next
    }
    /// A live object or shadow.
    #[inline]
    pub fn get(&self, id: ObjId) -> Option<&Object> {
        self.table(id)?.get(id.number()).map(|o| &**o)
    }
    /// A live object or shadow, to be changed. Copies it if it is shared.
    #[inline]
    pub fn get_mut(&mut self, id: ObjId) -> Option<&mut Object> {
        let table = if id.is_shadow() { self.shadows.as_deref_mut()? } else { &mut self.objects };
        table.get_mut(id.number()).map(Rc::make_mut)
    }
    fn table(&self, id: ObjId) -> Option<&Paged<Rc<Object>>> {
        if id.is_shadow() { self.shadows.as_deref() } else { Some(&self.objects) }
    }
    /// Replaces an object or shadow. Panics if it is a shadow and there are none.
    pub fn replace(&mut self, id: ObjId, object: Object) {
        let table = if id.is_shadow() { self.shadows.as_deref_mut() } else { Some(&mut self.objects) };
        table.expect("its table").set(id.number(), Some(Rc::new(object)));
    }
    /// Applies `map` to the value of every cell of all objects.
    pub fn map_cells(&mut self, mut map: impl FnMut(Val) -> Val) {
        let changed = |o: &Object, map: &mut dyn FnMut(Val) -> Val| {
            let mut changed = false;
            o.for_each_cell(|_, _, value| changed |= map(value) != value);
            changed
        };
        let ids: Vec<ObjId> = self.iter().filter(|(_, o)| changed(o, &mut map)).map(|(id, _)| id).collect();
        for id in ids {
            self.get_mut(id).expect("a live object").map_cells(&mut map);
        }
    }
    /// A copy with new ids for the objects. Objects for which `number` returns `None` are dropped. `next` is the id of
    /// the next allocation.
    pub fn renumbered(&self, number: impl Fn(ObjId) -> Option<ObjId>, next: u32) -> Self {
        let moved = |table: &Paged<Rc<Object>>| {
            let mut objects = Paged::new();
            for (i, object) in table.iter() {
                if let Some(id) = number(ObjId(i as u32)) {
                    objects.set(id.index(), Some(Rc::clone(object)));
                }
            }
            objects
        };
        Self {
            objects: moved(&self.objects),
            shadows: self.shadows.as_deref().map(|shadows| Box::new(moved(shadows))),
            next,
        }
    }
    /// Removes an object and its shadow.
    pub fn remove(&mut self, id: ObjId) {
        self.objects.set(id.index(), None);
        if let Some(shadows) = &mut self.shadows {
            shadows.set(id.index(), None);
        }
    }
    /// All objects, followed by their shadows.
    pub fn iter(&self) -> impl Iterator<Item = (ObjId, &Object)> {
        let objects = self.objects.iter().map(|(i, o)| (ObjId(i as u32), &**o));
        let shadows = self.shadows.iter().flat_map(|shadows| shadows.iter());
        objects.chain(shadows.map(|(i, o)| (ObjId(i as u32).shadow(), &**o)))
    }
    /// The objects that the two memories do not share, as (id, ours, theirs).
    pub fn differences<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl Iterator<Item = (ObjId, Option<&'a Object>, Option<&'a Object>)> {
        let of_objects = differences(&self.objects, &other.objects);
        let shadows = self.shadows.iter().zip(&other.shadows);
        let of_shadows = shadows.flat_map(|(a, b)| differences(a, b)).map(|(id, a, b)| (id.shadow(), a, b));
        of_objects.chain(of_shadows)
    }
    /// True if the two memories share the object. Such an object is not among the `differences`.
    pub fn shares(&self, other: &Self, id: ObjId) -> bool {
        let object = |memory: &Self| memory.table(id).and_then(|table| table.get(id.number()).cloned());
        matches!((object(self), object(other)), (Some(a), Some(b)) if Rc::ptr_eq(&a, &b))
    }
}

fn differences<'a>(
    ours: &'a Paged<Rc<Object>>,
    theirs: &'a Paged<Rc<Object>>,
) -> impl Iterator<Item = (ObjId, Option<&'a Object>, Option<&'a Object>)> {
    ours.differing_pages(theirs).flat_map(move |page| {
        (0..Paged::<Rc<Object>>::PAGE).filter_map(move |i| {
            let index = page * Paged::<Rc<Object>>::PAGE + i;
            match (ours.get(index), theirs.get(index)) {
                (None, None) => None,
                (Some(a), Some(b)) if Rc::ptr_eq(a, b) => None,
                (a, b) => Some((ObjId(index as u32), a.map(|o| &**o), b.map(|o| &**o))),
            }
        })
    })
}
