//! What is tracked: values, contents of memory, constraints.

use crate::semantics::{Origin, Part, describe_object};
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

/// What is kept of an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    Nothing,
    /// What it is, if that is a number.
    Number,
    All,
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
    /// Every number is tracked, as nothing else is but what was found necessary.
    pub numbers: bool,
    pub sharing: Sharing,
    /// Tracked no more, since they have too many values.
    banned: FxHashSet<Item>,
    /// Tracked, and not known to be necessary.
    in_advance: FxHashSet<Item>,
    /// Tracked only where they are necessary, since they have too many values for more.
    only_if_needed: FxHashSet<Item>,
    /// How often it was changed.
    changes: u64,
}

impl Precision {
    pub fn new(full: bool, numbers: bool, sharing: Sharing) -> Self {
        Self { full, numbers, sharing, ..Self::default() }
    }
    /// Whether the item is tracked at a location.
    #[inline]
    pub fn tracks(&self, loc: LocId, item: Item) -> bool {
        let has = |scope: Option<LocId>| self.items.get(&scope).is_some_and(|set| set.contains(&item));
        (self.full || has(None) || self.sharing == Sharing::Location && has(Some(loc))) && !self.is_banned(item)
    }
    /// What is kept of the item at a location.
    #[inline]
    pub fn keeps(&self, loc: LocId, item: Item) -> Kept {
        match self.tracks(loc, item) {
            true => Kept::All,
            false if self.numbers && !self.is_banned(item) => Kept::Number,
            false => Kept::Nothing,
        }
    }
    #[inline]
    pub fn is_banned(&self, item: Item) -> bool {
        !self.banned.is_empty() && self.banned.contains(&item)
    }
    /// Tracks `item`, which was found necessary at `loc`; `false` if it was tracked there already.
    pub fn add(&mut self, loc: LocId, item: Item) -> bool {
        self.changes += 1;
        let scope = (self.sharing == Sharing::Location).then_some(loc);
        self.items.entry(scope).or_default().insert(item)
    }
    /// Tracks `item` at `loc` although nobody knows whether it is necessary; `false` if it is not tracked for that, or was before.
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
    /// What is tracked is necessary.
    pub fn confirm(&mut self, item: Item) {
        self.in_advance.remove(&item);
    }
    pub fn has_some_in_advance(&self) -> bool {
        !self.in_advance.is_empty()
    }
    pub fn is_in_advance(&self, item: Item) -> bool {
        self.in_advance.contains(&item)
    }
    /// Tracks it no more until it is necessary.
    pub fn give_up(&mut self, item: Item) {
        self.changes += 1;
        self.in_advance.remove(&item);
        self.only_if_needed.insert(item);
        for set in self.items.values_mut() {
            set.remove(&item);
        }
    }
    /// Tracks more at all locations.
    pub fn add_everywhere(&mut self, items: impl IntoIterator<Item = Item>) {
        self.changes += 1;
        self.items.entry(None).or_default().extend(items);
    }
    /// Tracks everything wherever its scope is; `false` if that is how it was.
    pub fn share(&mut self) -> bool {
        let all: Vec<Item> = self.items.drain().flat_map(|(_, items)| items).collect();
        self.add_everywhere(all);
        std::mem::replace(&mut self.sharing, Sharing::Scope) == Sharing::Location
    }
    pub fn ban(&mut self, item: Item) {
        self.changes += 1;
        self.banned.insert(item);
    }
    /// As long as this number is the same, so is what is tracked.
    pub fn changes(&self) -> u64 {
        self.changes
    }
    /// Items tracked, those of several locations counted once each.
    pub fn len(&self) -> usize {
        self.items.values().map(FxHashSet::len).sum()
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// All items that are necessary anywhere, in order.
    pub fn items(&self) -> Vec<Item> {
        let mut all: Vec<Item> = self.items.values().flatten().copied().collect();
        all.retain(|item| !self.in_advance.contains(item));
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
        // Shared it is, and stays.
        assert!(!precision.share() && !precision.add(there, x));
    }
}
