//! The precision of the value domain: the tracked values, memory contents and constraints.

use crate::semantics::{Origin, Part, describe_object};
use cfa::{EdgeId, LocId, Program, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A fact that an abstract state may keep.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Item {
    /// The value of a variable, in every activation of its function.
    Var(VarId),
    /// The numbers in one part of all objects of this origin.
    Memory(Origin, Part),
    /// The constraints of a branch, identified by its first assume edge.
    Constraint(EdgeId),
}

/// The extent to which an abstraction keeps an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// It forgets the item.
    Nothing,
    /// It keeps the value if it is a constant.
    Number,
    /// It keeps the item.
    All,
}

/// The locations at which an item is tracked after a refinement found it necessary at one.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Sharing {
    /// At that location only.
    Location,
    /// All locations of its scope.
    #[default]
    Scope,
}

/// The tracked items, by location. Items under `None` are tracked everywhere.
#[derive(Clone, Default, Debug)]
pub struct Precision {
    items: FxHashMap<Option<LocId>, FxHashSet<Item>>,
    /// If true, everything is tracked.
    pub full: bool,
    /// If true, every constant is tracked. Other values are tracked only if they are in `items`.
    pub numbers: bool,
    /// The locations at which new items are tracked.
    pub sharing: Sharing,
    /// Items that are no longer tracked because they had too many values.
    banned: FxHashSet<Item>,
    /// Tracked items that no refinement found necessary yet.
    in_advance: FxHashSet<Item>,
    /// Items that are tracked only if a refinement finds them necessary, because they had too many values.
    only_if_needed: FxHashSet<Item>,
    /// The number of changes, as a version.
    changes: u64,
}

impl Precision {
    /// A precision without items.
    pub fn new(full: bool, numbers: bool, sharing: Sharing) -> Self {
        Self { full, numbers, sharing, ..Self::default() }
    }
    /// True if the item is tracked at a location.
    #[inline]
    pub fn tracks(&self, loc: LocId, item: Item) -> bool {
        let has = |scope: Option<LocId>| self.items.get(&scope).is_some_and(|set| set.contains(&item));
        (self.full || has(None) || self.sharing == Sharing::Location && has(Some(loc))) && !self.is_banned(item)
    }
    /// The extent to which the item is kept at a location.
    #[inline]
    pub fn keeps(&self, loc: LocId, item: Item) -> Kept {
        match self.tracks(loc, item) {
            true => Kept::All,
            false if self.numbers && !self.is_banned(item) => Kept::Number,
            false => Kept::Nothing,
        }
    }
    /// True if the item is no longer tracked.
    #[inline]
    pub fn is_banned(&self, item: Item) -> bool {
        !self.banned.is_empty() && self.banned.contains(&item)
    }
    /// Tracks `item`, which is necessary at `loc`. Returns `false` if it was tracked there already.
    pub fn add(&mut self, loc: LocId, item: Item) -> bool {
        self.changes += 1;
        let scope = (self.sharing == Sharing::Location).then_some(loc);
        self.items.entry(scope).or_default().insert(item)
    }
    /// Tracks `item` at `loc` before a refinement finds it necessary. Returns `false` if it was tracked there already,
    /// or may be tracked only if necessary.
    pub fn add_in_advance(&mut self, loc: LocId, item: Item) -> bool {
        if self.tracks(loc, item) || self.is_banned(item) || self.only_if_needed.contains(&item) {
            return false;
        }
        let is_needed = self.items.values().any(|set| set.contains(&item)) && !self.in_advance.contains(&item);
        if !is_needed {
            self.in_advance.insert(item);
        }
        self.add(loc, item)
    }
    /// Records that a refinement found the item necessary.
    pub fn confirm(&mut self, item: Item) {
        self.in_advance.remove(&item);
    }
    /// True if some items are tracked that no refinement found necessary yet.
    pub fn has_some_in_advance(&self) -> bool {
        !self.in_advance.is_empty()
    }
    /// True if the item is tracked, and no refinement found it necessary yet.
    pub fn is_in_advance(&self, item: Item) -> bool {
        self.in_advance.contains(&item)
    }
    /// Stops tracking the item until a refinement finds it necessary.
    pub fn give_up(&mut self, item: Item) {
        self.changes += 1;
        self.in_advance.remove(&item);
        self.only_if_needed.insert(item);
        for set in self.items.values_mut() {
            set.remove(&item);
        }
    }
    /// Tracks the items at all locations.
    pub fn add_everywhere(&mut self, items: impl IntoIterator<Item = Item>) {
        self.changes += 1;
        self.items.entry(None).or_default().extend(items);
    }
    /// Tracks all items at all locations of their scope, now and in future. Returns `false` if that was the case
    /// already.
    pub fn share(&mut self) -> bool {
        let all: Vec<Item> = self.items.drain().flat_map(|(_, items)| items).collect();
        self.add_everywhere(all);
        std::mem::replace(&mut self.sharing, Sharing::Scope) == Sharing::Location
    }
    /// Stops tracking the item for good.
    pub fn ban(&mut self, item: Item) {
        self.changes += 1;
        self.banned.insert(item);
    }
    /// The version of the precision. It changes whenever the tracked items may have changed.
    pub fn changes(&self) -> u64 {
        self.changes
    }
    /// The number of pairs of a location and an item tracked there.
    pub fn len(&self) -> usize {
        self.items.values().map(FxHashSet::len).sum()
    }
    /// True if no item is tracked.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The items that refinements found necessary anywhere, in ascending order without duplicates.
    pub fn items(&self) -> Vec<Item> {
        let mut all: Vec<Item> = self.items.values().flatten().copied().collect();
        all.retain(|item| !self.in_advance.contains(item));
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// A description of the item for the user, in terms of the C program.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_location_needs_can_be_shared() {
        let (here, there, x) = (LocId(1), LocId(2), Item::Var(VarId(0)));
        let mut precision = Precision::new(false, false, Sharing::Location);
        assert!(precision.add(here, x));
        assert!(precision.tracks(here, x) && !precision.tracks(there, x));
        assert!(precision.share() && precision.tracks(there, x));
        // A shared precision stays shared.
        assert!(!precision.share() && !precision.add(there, x));
    }
}
