//! What is tracked: values, contents of memory, constraints.

use crate::execution::{Origin, Part, describe_object};
use cfa::{EdgeId, LocId, Program, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Something that an abstract state may keep.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Item {
    /// The value of a variable, in every activation of its function.
    Var(VarId),
    /// The numbers in a part of the objects of this origin.
    Memory(Origin, Part),
    /// The constraints that come from the branch which this assume edge is the first side of.
    Constraint(EdgeId),
}

/// For which locations an item that a refinement found at one location is tracked from then on.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Sharing {
    /// That location alone.
    Location,
    /// All of its scope: a variable wherever it lives.
    #[default]
    Scope,
}

/// What is tracked, by location; under `None` what is tracked everywhere.
#[derive(Clone, Default, Debug)]
pub struct Precision {
    items: FxHashMap<Option<LocId>, FxHashSet<Item>>,
    /// Everything is tracked.
    pub full: bool,
    pub sharing: Sharing,
    /// Tracked no more, since they have too many values.
    banned: FxHashSet<Item>,
}

impl Precision {
    pub fn new(full: bool, sharing: Sharing) -> Self {
        Self { full, sharing, ..Self::default() }
    }
    /// Whether the item is tracked at a location.
    #[inline]
    pub fn tracks(&self, loc: LocId, item: Item) -> bool {
        let has = |scope: Option<LocId>| self.items.get(&scope).is_some_and(|set| set.contains(&item));
        (self.full || has(None) || self.sharing == Sharing::Location && has(Some(loc))) && !self.is_banned(item)
    }
    #[inline]
    pub fn is_banned(&self, item: Item) -> bool {
        !self.banned.is_empty() && self.banned.contains(&item)
    }
    /// Tracks `item`, which was found necessary at `loc`; `false` if it was tracked there already.
    pub fn add(&mut self, loc: LocId, item: Item) -> bool {
        let scope = (self.sharing == Sharing::Location).then_some(loc);
        self.items.entry(scope).or_default().insert(item)
    }
    /// Tracks more at all locations.
    pub fn add_everywhere(&mut self, items: impl IntoIterator<Item = Item>) {
        self.items.entry(None).or_default().extend(items);
    }
    pub fn ban(&mut self, item: Item) {
        self.banned.insert(item);
    }
    /// Items tracked, those of several locations counted once each.
    pub fn len(&self) -> usize {
        self.items.values().map(FxHashSet::len).sum()
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// All items tracked anywhere, in order.
    pub fn items(&self) -> Vec<Item> {
        let mut all: Vec<Item> = self.items.values().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// The item in the words of the C program.
pub fn describe(program: &Program, item: Item) -> String {
    match item {
        Item::Var(var) if program.vars[var].name.is_none() => "an intermediate value".into(),
        Item::Var(var) => format!("the value of `{}`", name(program, var)),
        Item::Memory(origin, part) => {
            let object = describe_object(program, origin);
            match part.offset() {
                Some(offset) => format!("the contents of {object} at offset {offset}"),
                None => format!("the contents of {object}"),
            }
        }
        Item::Constraint(edge) => {
            format!("whether `{}`", cfa::text::c_operation(program, &program.edges[edge].op))
        }
    }
}

fn name(program: &Program, var: VarId) -> String {
    program.vars[var].name.clone().unwrap_or_else(|| "a temporary".into())
}
