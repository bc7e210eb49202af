//! The abstract domain of memory: the objects and cells of a program, and the transfer functions of its operations on an
//! abstract state ([`Memory`]).

use super::environment::{Environment, Rows, addresses_of};
use crate::invariant::memory::cells::{Cell, Content, Count, Loss, Memory, Status, Zeros};
use crate::invariant::value::Value;
use crate::invariant::value::address::{NULL, Targets};
use crate::invariant::value::limits::{Limit, Reach};
use cfa::{AllocKind, EdgeId, ExprId, Family, Id, Op, Program, StringArray, VarId};
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};
use slicer::pointer::{ObjectId, ObjectKind, PointsTo};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Largest number of offsets that a read of an arbitrary array element considers.
const ELEMENTS: usize = 1024;
/// Largest number of elements of an initialised array that are joined.
const FEW_ELEMENTS: u64 = 64;
/// Bytes of an initialiser that are copied word by word.
const COPIED: u64 = 512;
/// Largest size of a string that the environment passes, in bytes: that of Linux.
const LONGEST_STRING: u64 = 1 << 17;
/// Size of the largest cell in bytes.
const WIDEST: u64 = 8;

/// The targets of an address.
pub enum Places {
    /// Known objects and offsets.
    Known(Targets),
    /// Any offsets in these objects.
    Objects(Rc<[u32]>),
}

/// The abstract domain of memory for one program. Its states are values of [`Memory`].
pub struct MemoryDomain<'p> {
    pub(in crate::invariant) program: &'p Program,
    rows: Rows,
    /// Without a points-to analysis, an unknown address points to any object.
    pub(in crate::invariant) points_to: Option<PointsTo<'p>>,
    /// By edge of the program of the points-to analysis: the numbers of the objects that its copies allocate.
    sites: FxHashMap<EdgeId, Vec<u32>>,
    /// By number of an object of an allocation site, minus `first_site`: the edge that allocates it. A site on the stack
    /// has one object. Another site has two with consecutive numbers: the object that it allocated last, and the summary of
    /// its older objects.
    allocations: Vec<EdgeId>,
    /// By allocating edge: the number of its object, or of the object that it allocated last.
    of_edge: FxHashMap<EdgeId, u32>,
    /// The number of the first object of an allocation site. The numbers of globals and functions precede it.
    pub(in crate::invariant) first_site: u32,
    pub(in crate::invariant) cells: Vec<Cell>,
    of_object: FxHashMap<u32, BTreeMap<(u64, u64), u32>>,
    objects_of: FxHashMap<ExprId, Rc<[u32]>>,
    pub(in crate::invariant) everything: Rc<[u32]>,
    elements: FxHashMap<(u32, u64, u64, u64, u64), Option<Value>>,
    /// Objects whose content may change at any time.
    changing: FxHashSet<u32>,
    /// The recursive functions.
    recursive: FixedBitSet,
    /// Objects that the program may free, except at the end of their scope.
    freed: FxHashSet<u32>,
    /// By array of strings of the environment: the number of the object for the strings to which no variable points.
    strings: FxHashMap<u32, u32>,
    /// By string of such an array to which a variable points: the number of the object for the other strings.
    other_strings: FxHashMap<u32, u32>,
}

impl<'p> MemoryDomain<'p> {
    /// `origin` maps each edge to that of the program of the points-to analysis.
    pub fn new(program: &'p Program, points_to: Option<PointsTo<'p>>, origin: &[EdgeId]) -> Self {
        let first_site = (program.globals.len() + program.funcs.len()) as u32;
        let mut sites: FxHashMap<EdgeId, Vec<u32>> = FxHashMap::default();
        let (mut allocations, mut of_edge) = (Vec::new(), FxHashMap::default());
        for (id, edge) in program.edges.iter() {
            let Op::Alloc { kind, .. } = edge.op else { continue };
            let numbers = if kind == AllocKind::Stack { 1 } else { 2 };
            for number in 0..numbers {
                let site = first_site + allocations.len() as u32;
                allocations.push(id);
                if number == 0 {
                    of_edge.insert(id, site);
                }
                sites.entry(origin[id.index()]).or_default().push(site);
            }
        }
        let globals = 0..program.globals.len() as u32;
        let (mut strings, mut other_strings) = (FxHashMap::default(), FxHashMap::default());
        let mut next = first_site + allocations.len() as u32;
        for StringArray { array, strings: known } in program.string_arrays() {
            let site = |var: VarId| {
                let allocates = |edge: &&EdgeId| program.edges[**edge].op.def() == Some(var);
                allocations.iter().find(allocates).map(|edge| of_edge[edge])
            };
            if let Some(array) = site(*array) {
                strings.insert(array, next);
                other_strings.extend(known.iter().filter_map(|&var| Some((site(var)?, next))));
                next += 1;
            }
        }
        let everything = globals.chain(first_site..next).collect();
        let mut domain = Self {
            program,
            rows: Rows::following(program),
            points_to,
            sites,
            allocations,
            of_edge,
            first_site,
            cells: Vec::new(),
            of_object: FxHashMap::default(),
            objects_of: FxHashMap::default(),
            everything,
            elements: FxHashMap::default(),
            changing: FxHashSet::default(),
            recursive: FixedBitSet::new(),
            freed: FxHashSet::default(),
            strings,
            other_strings,
        };
        // The value of all elements of an array of strings remains known when some change.
        let pointer = u64::from(program.layout.pointer_width / 8);
        let mut arrays: Vec<u32> = domain.strings.keys().copied().collect();
        arrays.sort_unstable();
        for array in arrays {
            domain.cell(array, Cell::elements(array, pointer).at, pointer);
        }
        domain
    }

    /// The memory at the start of the program.
    pub fn initial(&self) -> Memory {
        let mut memory = Memory::new();
        for (id, global) in self.program.globals.iter() {
            let is_known = global.init.is_some() && !self.changing.contains(&id.0);
            let content = if is_known { Content::Initial } else { Content::Any };
            let status = Status::new(Count::One, (global.size, global.size), content);
            let null = last_null(self.program, global).filter(|_| is_known);
            memory.objects.set(id.index(), Some(Status { null, ..status }));
        }
        for site in 0..self.allocations.len() {
            let status = Status::new(Count::None, (0, 0), Content::Any);
            memory.objects.set(self.first_site as usize + site, Some(status));
        }
        for &object in self.strings.values() {
            let status = Status::new(Count::Many, (1, LONGEST_STRING), Content::Any);
            memory.objects.set(object as usize, Some(Status { null: Some(0), ..status }));
        }
        memory
    }

    /// Number of objects.
    pub fn objects(&self) -> usize {
        self.first_site as usize + self.allocations.len() + self.strings.len()
    }

    /// Adds global objects whose content may change at any time, for example by a signal handler.
    pub fn add_changing(&mut self, objects: &FxHashSet<cfa::GlobalId>) {
        self.changing.extend(objects.iter().map(|global| global.0));
    }

    /// Sets the recursive functions. One site in their stack frames may have several objects at the same time.
    pub fn set_recursive(&mut self, functions: FixedBitSet) {
        self.recursive = functions;
    }

    /// Adds objects that functions of a family may free. The end of a scope does not count.
    pub fn add_freed(&mut self, objects: &[u32], family: Family) {
        if family != Family::Scope {
            self.freed.extend(objects);
        }
    }

    /// A status for an allocated object that holds almost everywhere in the program. `None` for other objects.
    pub(super) fn general(&self, object: u32) -> Option<Status> {
        let edge = self.allocation(object)?;
        let Op::Alloc { kind, size, .. } = self.program.edges[edge].op else { return None };
        let constant = self.program.exprs.as_const(size).and_then(|size| size.to_u64());
        let size = constant.map_or((0, u64::MAX), |size| (size, size));
        let is_one = match kind {
            AllocKind::Stack => !self.recursive.contains(self.program.func_of(edge).index()),
            _ => self.older(object).is_some(),
        };
        let may_be_dead = match kind {
            AllocKind::Stack => !is_one,
            _ => self.freed.contains(&object),
        };
        let count = if is_one { Count::One } else { Count::Many };
        Some(Status { may_be_dead, exists: false, ..Status::new(count, size, Content::Any) })
    }

    /// True if the targets of an address change only by writes of the program.
    pub fn is_steady(&mut self, value: Option<&Value>, address: ExprId) -> bool {
        self.changing.is_empty()
            || match self.places(value, address) {
                Places::Known(targets) => targets.iter().all(|(object, _)| !self.changing.contains(object)),
                Places::Objects(objects) => objects.iter().all(|object| !self.changing.contains(object)),
            }
    }

    /// The offsets and sizes of the cells of an object.
    pub(super) fn cells_of(&self, object: u32) -> Vec<(u64, u64)> {
        self.of_object.get(&object).into_iter().flat_map(|cells| cells.keys().copied()).collect()
    }

    /// The content of the object that an edge allocates.
    pub fn fresh(&self, object: u32, is_zeroed: bool) -> Content {
        match self.strings.get(&object) {
            Some(&strings) => Content::Addresses(strings),
            None if is_zeroed => Content::Zero,
            None => Content::Any,
        }
    }

    /// The object that an edge allocates.
    pub fn site(&self, edge: EdgeId) -> u32 {
        self.of_edge[&edge]
    }

    /// The number of the older objects of the site that allocated `object` last; `None` if there is none.
    pub fn older(&self, object: u32) -> Option<u32> {
        let edge = self.allocation(object)?;
        (self.of_edge[&edge] == object && self.allocation(object + 1) == Some(edge)).then_some(object + 1)
    }

    /// The edge that allocates an object; `None` for globals and functions.
    pub(in crate::invariant) fn allocation(&self, object: u32) -> Option<EdgeId> {
        let site = object.checked_sub(self.first_site)?;
        self.allocations.get(site as usize).copied()
    }

    /// The objects in the points-to set of an address.
    pub fn objects_of(&mut self, address: ExprId) -> Rc<[u32]> {
        let Some(points_to) = &mut self.points_to else { return Rc::clone(&self.everything) };
        if let Some(found) = self.objects_of.get(&address) {
            return Rc::clone(found);
        }
        let pointees = points_to.pointees(address);
        let points_to = self.points_to.as_ref().expect("just used");
        let found = self.numbers(points_to, pointees);
        self.objects_of.insert(address, Rc::clone(&found));
        found
    }

    /// The numbers of objects of the points-to analysis, in ascending order.
    pub fn numbers(&self, points_to: &PointsTo, objects: Vec<ObjectId>) -> Rc<[u32]> {
        let mut found: Vec<u32> = Vec::new();
        let mut is_any = false;
        for object in objects {
            match points_to.objects[object].kind {
                ObjectKind::Global(g) => found.push(g.0),
                ObjectKind::Alloc(edge) => found.extend(self.sites.get(&edge).into_iter().flatten()),
                ObjectKind::Func(_) => {}
                ObjectKind::Unknown | ObjectKind::Outside | ObjectKind::Buffer(_) | ObjectKind::Distance(_) => {
                    is_any = true
                }
            }
        }
        let others: Vec<u32> = found.iter().filter_map(|object| self.other_strings.get(object).copied()).collect();
        found.extend(others);
        found.sort_unstable();
        found.dedup();
        if is_any { Rc::clone(&self.everything) } else { found.into() }
    }

    /// The targets of an address with this value.
    pub(in crate::invariant) fn places(&mut self, value: Option<&Value>, address: ExprId) -> Places {
        match value.and_then(accessible) {
            Some(targets) => Places::Known(targets),
            None => Places::Objects(self.objects_of(address)),
        }
    }

    pub(super) fn cell(&mut self, object: u32, at: u64, bytes: u64) -> u32 {
        let next = self.cells.len() as u32;
        let id = *self.of_object.entry(object).or_default().entry((at, bytes)).or_insert(next);
        if id == next {
            self.cells.push(Cell { object, at, bytes });
        }
        id
    }

    /// Adds cells for the pointers, and the words between them, in a byte range of a global object that has its initial
    /// content.
    fn make_initial_cells(&mut self, memory: &Memory, object: u32, from: u64, to: u64) {
        let is_initial = memory.status(object).is_some_and(|status| status.content == Content::Initial);
        let global =
            ((object as usize) < self.program.globals.len()).then(|| &self.program.globals[cfa::GlobalId(object)]);
        let Some(global) = global.filter(|global| is_initial && to.min(global.size).saturating_sub(from) <= COPIED)
        else {
            return;
        };
        let Some(init) = &global.init else { return };
        let pointer = u64::from(self.program.layout.pointer_width / 8);
        let words = (from.next_multiple_of(pointer)..to.min(global.size)).step_by(pointer as usize);
        let is_whole = |at: &u64| {
            let near = |&(other, _): &(u64, _)| other != *at && other < at + pointer && *at < other + pointer;
            at + pointer <= global.size && !init.pointers.iter().any(near)
        };
        let places: Vec<u64> = words.filter(is_whole).collect();
        for at in places {
            self.cell(object, at, pointer);
        }
    }

    /// The cells that overlap the bytes from `from` (inclusive) to `to` (exclusive).
    fn overlapping(&self, object: u32, from: u64, to: u64) -> Vec<u32> {
        let Some(cells) = self.of_object.get(&object) else { return Vec::new() };
        let first = from.saturating_sub(WIDEST - 1);
        cells.range((first, 0)..(to, 0)).filter(|((at, bytes), _)| at + bytes > from).map(|(_, &id)| id).collect()
    }

    /// The cells that represent all aligned elements of an object.
    fn elements_of(&self, object: u32) -> Vec<u32> {
        let Some(cells) = self.of_object.get(&object) else { return Vec::new() };
        cells.range((Cell::elements(object, 0).at, 0)..).map(|(_, &id)| id).collect()
    }

    // Reading.

    /// The value of a cell; `None` if it may be any value.
    pub(in crate::invariant) fn held(&self, memory: &Memory, cell: Cell) -> Option<Value> {
        let held = self.held_but_for_zeros(memory, cell);
        let status = memory.status(cell.object);
        let Some((status, zeros)) = status.and_then(|status| Some((status, status.zeros?))) else { return held };
        if cell.is_elements() {
            return held.and_then(|held| zeros.joined(Cell { at: 0, ..cell }, &held));
        }
        let is_before = cell.at.checked_add(cell.bytes + zeros.bytes).is_some_and(|end| end <= status.size);
        if is_before { held } else { held.and_then(|held| zeros.joined(cell, &held)) }
    }

    /// The value of a cell if it is not among the [zeros](Status::zeros) of the object.
    pub(super) fn held_but_for_zeros(&self, memory: &Memory, cell: Cell) -> Option<Value> {
        if self.changing.contains(&cell.object) {
            return None;
        }
        if cell.is_elements() {
            let recorded = self.recorded_elements(memory, cell.object, cell.bytes);
            return recorded.or_else(|| self.elements_in(memory, cell));
        }
        if let Some(&id) = self.of_object.get(&cell.object).and_then(|cells| cells.get(&(cell.at, cell.bytes)))
            && let Some(value) = memory.cells.get(id as usize)
        {
            return Some(value.clone());
        }
        let status = memory.status(cell.object)?;
        let end = cell.at.checked_add(cell.bytes)?;
        if !status.is_written(cell.at, end)
            && let Some(value) = self.background(status.content, cell)
        {
            return Some(value);
        }
        // The cell may be part of a larger one.
        let of_larger = self.overlapping(cell.object, cell.at, end).into_iter().find_map(|id| {
            let outer = self.cells[id as usize];
            let value = memory.cells.get(id as usize)?;
            let low = cell.at.checked_sub(outer.at)?;
            (low + cell.bytes <= outer.bytes)
                .then(|| value.extract(((low + cell.bytes) * 8 - 1) as u32, low as u32 * 8))
        });
        of_larger.or_else(|| self.recorded_elements(memory, cell.object, cell.bytes).filter(|_| cell.is_aligned()))
    }

    /// The recorded value of all aligned elements of `bytes` bytes.
    fn recorded_elements(&self, memory: &Memory, object: u32, bytes: u64) -> Option<Value> {
        let elements = Cell::elements(object, bytes);
        let &id = self.of_object.get(&object)?.get(&(elements.at, bytes))?;
        memory.cells.get(id as usize).cloned()
    }

    /// The value of all aligned elements: that of the unwritten ones, joined with those of the written ones.
    fn elements_in(&self, memory: &Memory, elements: Cell) -> Option<Value> {
        let Cell { object, bytes, .. } = elements;
        let status = memory.status(object)?;
        let written = status.written.iter().map(|&(from, to)| (from / bytes * bytes, to));
        if written.clone().any(|(from, to)| (to - from) / bytes > FEW_ELEMENTS) {
            return None;
        }
        let mut found = self.unwritten_elements(status.content, elements)?;
        for at in written.flat_map(|(from, to)| (from..to).step_by(bytes as usize)) {
            found = found.join(&self.held_but_for_zeros(memory, Cell { object, at, bytes })?);
        }
        Some(found)
    }

    fn unwritten_elements(&self, content: Content, elements: Cell) -> Option<Value> {
        let Cell { object, bytes, .. } = elements;
        let first = Cell { object, at: 0, bytes };
        if content != Content::Initial {
            return self.background(content, first);
        }
        let global = &self.program.globals[cfa::GlobalId(object)];
        let init = global.init.as_ref()?;
        let whole = global.size / bytes;
        if init.pointers.is_empty() && init.bytes.iter().all(|&byte| byte == 0) {
            return (whole > 0).then(|| Value::constant((bytes * 8) as u32, 0));
        }
        if whole > FEW_ELEMENTS {
            return None;
        }
        let values = (0..whole).map(|index| self.background(content, Cell { at: index * bytes, ..first }));
        values.collect::<Option<Vec<Value>>>()?.into_iter().reduce(|a, b| a.join(&b))
    }

    /// The value of all aligned elements, which was `before`, after a write of `stored` to some of them. `None` if nothing
    /// is known about them.
    fn elements_after(before: Option<Value>, stored: Option<&Value>) -> Option<Value> {
        before.zip(stored).map(|(before, value)| before.join(value)).filter(|value| !value.is_full())
    }

    /// Drops the fact that an object ends with zeros, and weakens its cells accordingly.
    pub(in crate::invariant) fn fold_zeros(&self, memory: &mut Memory, object: u32) {
        let Some(zeros) = memory.status(object).and_then(|status| status.zeros) else { return };
        for id in self.overlapping(object, 0, u64::MAX) {
            let held = self.held(memory, self.cells[id as usize]);
            let held = held.and_then(|held| zeros.joined(self.cells[id as usize], &held));
            memory.cells.set(id as usize, held.filter(|held| !held.is_full()));
        }
        for id in self.elements_of(object) {
            let held = self.held(memory, self.cells[id as usize]);
            memory.cells.set(id as usize, held.filter(|held| !held.is_full()));
        }
        memory.change(object, |status| {
            status.zeros = None;
            // An element may be null.
            if let Content::Addresses(_) = status.content {
                (status.content, status.written) = (Content::Any, Rc::new([]));
            }
        });
    }

    /// The value of an unwritten cell.
    fn background(&self, content: Content, cell: Cell) -> Option<Value> {
        let width = (cell.bytes * 8) as u32;
        match content {
            Content::Any => None,
            Content::Zero => Some(Value::constant(width, 0)),
            Content::Addresses(object) => {
                let pointer = self.program.layout.pointer_width;
                let is_element = width == pointer && cell.at.is_multiple_of(cell.bytes);
                is_element.then(|| Value::address(addresses_of(pointer, 1), 1, object))
            }
            Content::Initial => {
                let object = &self.program.globals[cfa::GlobalId(cell.object)];
                let init = object.init.as_ref()?;
                let end = cell.at.checked_add(cell.bytes).filter(|&end| end <= object.size)?;
                let pointer = u64::from(self.program.layout.pointer_width / 8);
                let mut near = init.pointers.iter().filter(|(at, _)| *at < end && cell.at < at + pointer);
                if let Some(&(at, e)) = near.next() {
                    let is_it = at == cell.at && pointer == cell.bytes;
                    return is_it.then(|| Environment::new().eval(&self.rows, &self.program.exprs, e)).flatten();
                }
                let byte = |at: u64| u64::from(init.bytes.get(at as usize).copied().unwrap_or(0));
                let value = (0..cell.bytes).rev().fold(0, |value, i| value << 8 | byte(cell.at + i));
                Some(Value::constant(width, value))
            }
        }
    }

    /// The value that a read of `bytes` bytes returns; and the cell, if it is a single cell of a single object.
    pub fn read(&mut self, memory: &Memory, value: Option<&Value>, bytes: u64) -> (Option<Value>, Option<u32>) {
        let Some(targets) = value.and_then(accessible).filter(|_| bytes <= WIDEST) else {
            return (None, None);
        };
        let mut found: Option<Value> = None;
        for (object, at) in targets.iter() {
            let Some(one) = self.read_at(memory, *object, at, bytes) else {
                return (None, self.only_cell_of(memory, &targets, bytes));
            };
            found = Some(found.map_or_else(|| one.clone(), |before| before.join(&one)));
        }
        (found, self.only_cell_of(memory, &targets, bytes))
    }

    /// The cell of an access to these places, if there is only one possibility.
    pub fn only_cell(&mut self, memory: &Memory, places: &Places, bytes: u64) -> Option<u32> {
        let Places::Known(targets) = places else { return None };
        self.only_cell_of(memory, targets, bytes)
    }

    fn only_cell_of(&mut self, memory: &Memory, targets: &Targets, bytes: u64) -> Option<u32> {
        let [(object, at)] = &targets[..] else { return None };
        let at = at.as_constant().filter(|&at| at <= u64::MAX / 2 && bytes <= WIDEST)?;
        memory.is_one(*object).then(|| self.cell(*object, at, bytes))
    }

    fn read_at(&mut self, memory: &Memory, object: u32, at: &Value, bytes: u64) -> Option<Value> {
        let status = memory.status(object)?;
        let zeros = zeros_at(status, object, at, bytes);
        if let Some(at) = at.as_constant() {
            let cell = Cell { object, at, bytes };
            return or_zeros(self.held_but_for_zeros(memory, cell)?, cell, zeros);
        }
        let is_aligned =
            at.congruence.modulus.is_multiple_of(bytes.into()) && at.congruence.rest.is_multiple_of(bytes.into());
        if is_aligned
            && at.members.is_none()
            && let Some(value) = self.recorded_elements(memory, object, bytes)
            && !self.changing.contains(&object)
        {
            return or_zeros(value, Cell { object, at: 0, bytes }, zeros);
        }
        if status.content == Content::Any && at.members.is_none() {
            return None;
        }
        // The read lies within the object.
        let last = at.range.high.min(status.most.checked_sub(bytes)?);
        if let Content::Addresses(_) = status.content {
            return self.read_element(memory, object, at, bytes);
        }
        let is_initial = status.content == Content::Initial && !status.is_written(0, status.most);
        let step = u64::try_from(at.congruence.modulus.max(1)).ok()?;
        let first = at.congruence.next(at.range.low)?;
        let key = (object, first, last, step, bytes);
        if is_initial
            && at.members.is_none()
            && let Some(known) = self.elements.get(&key)
        {
            return known.clone();
        }
        let places: Vec<u64> = match &at.members {
            Some(members) => members.iter().copied().filter(|&at| at <= last).collect(),
            None => {
                if last.checked_sub(first)? / step >= ELEMENTS as u64 {
                    return None;
                }
                (first..=last).step_by(step as usize).collect()
            }
        };
        let mut found: Option<Value> = None;
        for at in places {
            let cell = Cell { object, at, bytes };
            // The cached result holds in every state where the object is unwritten.
            let one = if is_initial { self.background(status.content, cell) } else { self.held(memory, cell) };
            found = match (found, one) {
                (_, None) => {
                    found = None;
                    break;
                }
                (None, one) => one,
                (Some(found), Some(one)) => Some(found.join(&one)),
            };
        }
        if is_initial && at.members.is_none() {
            self.elements.insert(key, found.clone());
        }
        found
    }

    /// Reads an element of an array of addresses.
    fn read_element(&self, memory: &Memory, object: u32, at: &Value, bytes: u64) -> Option<Value> {
        let status = memory.status(object)?;
        let pointer = u64::from(self.program.layout.pointer_width / 8);
        let is_aligned =
            at.congruence.modulus.is_multiple_of(pointer.into()) && at.congruence.rest.is_multiple_of(pointer.into());
        if bytes != pointer || !is_aligned {
            return None;
        }
        let written = status.written.iter().filter(|&&(from, to)| at.range.low < to && from <= at.range.high);
        let written: Vec<(u64, u64)> = written.copied().collect();
        if written.iter().any(|(from, to)| (to - from) / pointer > ELEMENTS as u64) {
            return None;
        }
        let unwritten = Cell { object, at: 0, bytes };
        let mut found = self.background(status.content, unwritten)?;
        for at in written.into_iter().flat_map(|(from, to)| (from / pointer * pointer..to).step_by(pointer as usize)) {
            found = found.join(&self.held_but_for_zeros(memory, Cell { object, at, bytes })?);
        }
        or_zeros(found, unwritten, zeros_at(status, object, at, bytes))
    }

    // Writing.

    /// Applies a write of `bytes` bytes. Values of more than 8 bytes are unknown.
    pub fn write(
        &mut self,
        env: &mut Environment,
        value: Option<&Value>,
        address: ExprId,
        bytes: u64,
        stored: Option<&Value>,
    ) {
        let places = self.places(value, address);
        let is_null = stored.and_then(Value::as_constant) == Some(0);
        let Places::Known(targets) = &places else {
            self.lose_nulls(env, &places, None, is_null);
            return self.spoil_places(env, &places, None);
        };
        self.lose_nulls(env, &places, Some(&Value::constant(64, bytes)), is_null);
        // The stored value may be bounded by the null byte that the write replaces.
        let is_lost = |l: &Limit, _: bool| env.memory.status(l.object).is_some_and(|status| !status.has(l.reach));
        let left = stored.and_then(|value| value.without(&is_lost));
        let stored = left.as_ref().or(stored);
        if let ([(object, at)], true) = (&targets[..], is_null) {
            self.find_null(env, *object, at);
        }
        if let ([(object, at)], true) = (&targets[..], is_null)
            && ends_with_zeros(self, env, *object, at, bytes)
        {
            return;
        }
        let only = self.only_cell_of(&env.memory, targets, bytes);
        for (object, at) in targets.iter() {
            self.write_at(env, *object, at, bytes, stored.filter(|_| bytes <= WIDEST), only.is_some());
        }
    }

    fn write_at(
        &mut self,
        env: &mut Environment,
        object: u32,
        at: &Value,
        bytes: u64,
        stored: Option<&Value>,
        is_only: bool,
    ) {
        if env.memory.status(object).is_some_and(|status| zeros_at(status, object, at, bytes).is_some()) {
            self.fold_zeros(&mut env.memory, object);
        }
        if let Some(at) = at.as_constant().filter(|at| at.checked_add(bytes).is_some()) {
            let before = match is_only {
                false => stored.and_then(|_| self.held_but_for_zeros(&env.memory, Cell { object, at, bytes })),
                true => None,
            };
            let is_element = Cell { object, at, bytes }.is_aligned();
            let elements = self.recorded_elements(&env.memory, object, bytes).filter(|_| is_element);
            let elements = Self::elements_after(elements, stored);
            self.spoil_but_for_zeros(env, object, at, at + bytes);
            self.record_elements(env, object, bytes, elements);
            let now = match (is_only, before, stored) {
                (true, _, Some(value)) => Some(value.clone()),
                (false, Some(before), Some(value)) => Some(before.join(value)),
                _ => None,
            };
            if let Some(now) = now.filter(|v| !v.is_full()) {
                let cell = self.cell(object, at, bytes);
                env.memory.cells.set(cell as usize, Some(now));
            }
            return;
        }
        let (low, high) = (at.range.low, at.range.high);
        let end = high.saturating_add(bytes);
        let is_aligned =
            at.congruence.modulus.is_multiple_of(bytes.into()) && at.congruence.rest.is_multiple_of(bytes.into());
        let elements = stored.filter(|_| is_aligned);
        let elements = elements.and_then(|_| self.held_but_for_zeros(&env.memory, Cell::elements(object, bytes)));
        let elements = Self::elements_after(elements, stored);
        // Cells that coincide with one of the written places, and overlap no other, hold the old or the new value.
        let stride = at.congruence.modulus;
        let apart = stride >= u128::from(bytes);
        let mut kept: Vec<(u32, Value)> = Vec::new();
        for id in self.overlapping(object, low, end) {
            let cell = self.cells[id as usize];
            let Some(now) = env.memory.cells.get(id as usize) else { continue };
            let first = at.congruence.next(low.max((cell.at + 1).saturating_sub(bytes)));
            if !first.is_some_and(|at| at < cell.at + cell.bytes && at <= high) {
                kept.push((id, now.clone()));
            } else if let Some(value) = stored
                && apart
                && cell.bytes == bytes
                && at.congruence.contains(cell.at)
            {
                kept.push((id, now.join(value)));
            }
        }
        self.spoil_but_for_zeros(env, object, low, end);
        for (id, value) in kept {
            env.memory.cells.set(id as usize, Some(value).filter(|v| !v.is_full()));
        }
        self.record_elements(env, object, bytes, elements);
    }

    fn record_elements(&mut self, env: &mut Environment, object: u32, bytes: u64, elements: Option<Value>) {
        let Some(elements) = elements else { return };
        let Cell { at, bytes, .. } = Cell::elements(object, bytes);
        let id = self.cell(object, at, bytes);
        env.memory.cells.set(id as usize, Some(elements));
    }

    /// Drops the known null bytes that a write of `len` non-null bytes may overwrite.
    fn lose_nulls(&self, env: &mut Environment, places: &Places, len: Option<&Value>, is_null: bool) {
        if is_null {
            return;
        }
        for reach in [Reach::Null, Reach::Seen] {
            let is_before = |object: u32, at: &Value| {
                let (Some(len), Some(status)) = (len, env.memory.status(object)) else { return false };
                let null = if reach == Reach::Null { status.null } else { status.seen.map(|(least, _)| least) };
                let Some(null) = null else { return false };
                let end = Value::apply(cfa::BinOp::Add, at, &crate::invariant::resized(len, at.width()));
                at.range.high.checked_add(len.range.high).is_some_and(|end| end <= null)
                    || end.limits.iter().any(|l| l.object == object && l.reach == reach && l.more >= 0)
            };
            let lost: Vec<u32> = match places {
                Places::Known(targets) => {
                    targets.iter().filter(|(object, at)| !is_before(*object, at)).map(|(object, _)| *object).collect()
                }
                Places::Objects(objects) => objects.to_vec(),
            };
            self.lose_null(env, reach, &lost);
        }
    }

    /// Records a null byte of an object.
    fn find_null(&self, env: &mut Environment, object: u32, at: &Value) {
        let is_known = self.changing.contains(&object)
            || env.memory.status(object).is_none_or(|s| s.count != Count::One || s.null.is_some());
        if !is_known {
            // Callers may know another null byte.
            env.lose(&[(object, Loss::Null)]);
            env.memory.change(object, |status| status.null = Some(at.range.low));
        }
    }

    /// Drops the contents of some bytes of an object.
    pub(in crate::invariant) fn spoil(&self, env: &mut Environment, object: u32, from: u64, to: u64) {
        self.fold_zeros(&mut env.memory, object);
        self.spoil_but_for_zeros(env, object, from, to);
    }

    /// Drops the contents of some bytes of an object, which are not among its zeros.
    fn spoil_but_for_zeros(&self, env: &mut Environment, object: u32, from: u64, to: u64) {
        for id in self.overlapping(object, from, to).into_iter().chain(self.elements_of(object)) {
            env.memory.cells.set(id as usize, None);
            env.recent.forget_cell(id);
        }
        env.memory.change(object, |status| status.write(from, to));
    }

    /// Sets bytes. If a whole object is set to zero, this is recorded.
    pub fn fill(
        &mut self,
        env: &mut Environment,
        dst: (Option<Value>, ExprId),
        byte: Option<Value>,
        len: Option<Value>,
    ) {
        let places = self.places(dst.0.as_ref(), dst.1);
        let is_null = byte.as_ref().and_then(Value::as_constant) == Some(0);
        self.lose_nulls(env, &places, len.as_ref(), is_null);
        if let Places::Known(targets) = &places
            && let [(object, at)] = &targets[..]
            && is_null
            && len.as_ref().is_some_and(|len| len.range.low > 0)
        {
            self.find_null(env, *object, at);
        }
        if let Places::Known(targets) = &places
            && let [(object, at)] = &targets[..]
            && let (Some(0), Some(0), Some(len)) = (
                at.as_constant(),
                byte.as_ref().and_then(Value::as_constant),
                len.as_ref().and_then(Value::as_constant),
            )
            && env.memory.is_one(*object)
            && env.memory.status(*object).is_some_and(|s| s.size == len && s.most == len)
        {
            self.spoil(env, *object, 0, len);
            // The object has exactly this size, so the write stays within it.
            env.memory.change(*object, |s| (s.content, s.written) = (Content::Zero, Rc::new([])));
            return;
        }
        self.spoil_places(env, &places, len.as_ref());
    }

    /// Drops the contents of the bytes at an address.
    fn spoil_places(&mut self, env: &mut Environment, places: &Places, len: Option<&Value>) {
        let len = len.map_or(u64::MAX, |len| len.range.high);
        match places {
            Places::Known(targets) => {
                for (object, at) in targets.iter() {
                    self.spoil(env, *object, at.range.low, at.range.high.saturating_add(len));
                }
            }
            Places::Objects(objects) if self.points_to.is_none() && Rc::ptr_eq(objects, &self.everything) => {
                self.spoil_all(env);
            }
            Places::Objects(objects) => {
                for &object in objects.iter() {
                    self.spoil(env, object, 0, u64::MAX);
                }
            }
        }
    }

    /// Copies bytes, and the values of cells if both places are known.
    pub fn copy(
        &mut self,
        env: &mut Environment,
        dst: (Option<Value>, ExprId),
        src: Option<Value>,
        len: Option<Value>,
    ) {
        let places = self.places(dst.0.as_ref(), dst.1);
        self.lose_nulls(env, &places, len.as_ref(), false);
        let mut carried: Vec<(Cell, Value)> = Vec::new();
        let from = src.as_ref().and_then(accessible);
        if let (Places::Known(to), Some(from), Some(len)) = (&places, from, &len)
            && let ([(object, to)], [(source, from)]) = (&to[..], &from[..])
            && let (Some(to), Some(from)) = (to.as_constant(), from.as_constant())
            && env.memory.is_one(*object)
            && let Some(end) = from.checked_add(len.range.high)
        {
            // The copy covers the whole target object.
            let is_all = to == 0 && len.limits.iter().any(|l| l == Limit::new(*object, Reach::Size, 0).exact());
            self.make_initial_cells(&env.memory, *source, from, end);
            for id in self.overlapping(*source, from, end) {
                let Cell { at, bytes, .. } = self.cells[id as usize];
                // Each cell is copied either completely or not at all.
                let is_cut = |cut: u64| len.contains(at - from + cut);
                let is_whole = at >= from && at + bytes <= end && (is_all || !(1..bytes).any(is_cut));
                let Some(value) = self.held(&env.memory, self.cells[id as usize]).filter(|_| is_whole) else {
                    continue;
                };
                let Some(to) = to.checked_add(at - from) else { continue };
                let cell = Cell { object: *object, at: to, bytes };
                let now = match is_all || len.range.low >= at - from + bytes {
                    true => Some(value),
                    false => self.held(&env.memory, cell).map(|before| before.join(&value)),
                };
                carried.extend(now.map(|now| (cell, now)));
            }
        }
        let addresses = src.as_ref().and_then(|src| match src.targets.as_deref() {
            Some([(source, from)]) if from.as_constant() == Some(0) => env.memory.status(*source),
            _ => None,
        });
        let addresses = addresses.filter(|status| matches!(status.content, Content::Addresses(_)));
        let addresses = addresses.map(|status| (status.content, Rc::clone(&status.written)));
        self.spoil_places(env, &places, len.as_ref());
        if let (Places::Known(to), Some((content, written)), Some(len)) = (&places, addresses, &len)
            && let [(object, to)] = &to[..]
            && to.as_constant() == Some(0)
            && len.limits.iter().any(|l| l == Limit::new(*object, Reach::Size, 0).exact())
        {
            env.memory.change(*object, |status| (status.content, status.written) = (content, written));
        }
        for (Cell { object, at, bytes }, value) in carried {
            let cell = self.cell(object, at, bytes);
            env.memory.cells.set(cell as usize, Some(value).filter(|v| !v.is_full()));
        }
    }
}

/// Records that the last bytes of an object are zero, if `at` is the offset of the last bytes.
fn ends_with_zeros(domain: &MemoryDomain, env: &mut Environment, object: u32, at: &Value, bytes: u64) -> bool {
    let is_last =
        |l: Limit| (l.object, l.reach, l.times, l.is_exact) == (object, Reach::Size, 1, true) && l.more == bytes as i64;
    let is_unknown = |s: &&Status| matches!(s.content, Content::Any | Content::Addresses(_));
    let status = env.memory.status(object).filter(|s| s.count == Count::One).filter(is_unknown);
    let modulus = at.congruence.modulus;
    let is_aligned = modulus != 0 && modulus.is_multiple_of(bytes.into());
    if at.as_constant().is_some() || !is_aligned || status.is_none() || !at.limits.iter().any(is_last) {
        return false;
    }
    domain.fold_zeros(&mut env.memory, object);
    env.recent.forget_cells(&|id| domain.cells[id as usize].object == object);
    let phase = (at.congruence.rest % u128::from(bytes)) as u64;
    env.memory.change(object, |status| status.zeros = Some(Zeros { bytes, phase }));
    true
}

/// The zeros of an object among which `bytes` bytes at the offset `at` may lie.
fn zeros_at(status: &Status, object: u32, at: &Value, bytes: u64) -> Option<Zeros> {
    let zeros = status.zeros?;
    let more = bytes + zeros.bytes;
    let is_before = |l: Limit| (l.object, l.reach, l.times) == (object, Reach::Size, 1) && l.more >= more as i64;
    let is_apart =
        at.range.high.checked_add(more).is_some_and(|end| end <= status.size) || at.limits.iter().any(is_before);
    (!is_apart).then_some(zeros)
}

/// The value of a cell, which may be among some zeros; `None` if it may be any.
fn or_zeros(held: Value, cell: Cell, zeros: Option<Zeros>) -> Option<Value> {
    match zeros {
        Some(zeros) => zeros.joined(cell, &held),
        None => Some(held),
    }
}

/// The targets of an access at an address, without null.
fn accessible(address: &Value) -> Option<Targets> {
    let targets = address.targets.as_ref()?;
    Some(match &targets[..] {
        [rest @ .., (NULL, _)] => rest.into(),
        _ => Rc::clone(targets),
    })
}

/// The offset of the last byte of a global object that is initially null.
fn last_null(program: &Program, global: &cfa::Global) -> Option<u64> {
    let init = global.init.as_ref()?;
    let pointer = u64::from(program.layout.pointer_width / 8);
    let is_of_pointer = |at: u64| init.pointers.iter().any(|&(from, _)| (from..from + pointer).contains(&at));
    let written = (init.bytes.len() as u64).min(global.size);
    // The bytes after the initializer are null.
    let last = match written < global.size {
        true => global.size - 1,
        false => init.bytes[..written as usize].iter().rposition(|&byte| byte == 0)? as u64,
    };
    (!is_of_pointer(last)).then_some(last)
}
