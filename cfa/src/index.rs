//! Newtypes of indices, and the tables that they index.
//!
//! A `u32` newtype identifies each entity of a [`Program`](crate::Program) in a table of the program. Ids are `Copy`
//! and ordered. They stay valid in a clone of the program.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A `u32` newtype that indexes a [`Table`].
pub trait Id: Copy + Eq + Ord + std::hash::Hash + fmt::Debug {
    /// The id with this index. Panics above `u32::MAX`.
    fn from_index(index: usize) -> Self;
    /// The index.
    fn index(self) -> usize;
}

/// Defines a `u32` newtype with the traits `Id`, `Debug` and `Display`. The prefix is the start of the printed id.
#[macro_export]
macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $crate::Id for $name {
            #[inline]
            fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("more than 2^32 entities in one table"))
            }
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}
pub(crate) use id_type;

// The entities that expressions name.
id_type!(
    /// A variable: global, or local to a function. Locals exist once per frame.
    VarId, "v"
);
id_type!(
    /// A function.
    FuncId, "f"
);
id_type!(
    /// A global memory object (an array, a struct, or a scalar whose address is taken).
    GlobalId, "g"
);

/// A growable table that its id type indexes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table<I, T> {
    items: Vec<T>,
    id: PhantomData<I>,
}

impl<I: Id, T> Table<I, T> {
    /// An empty table.
    pub fn new() -> Self {
        Self { items: Vec::new(), id: PhantomData }
    }
    /// Appends an item and returns its id.
    pub fn push(&mut self, item: T) -> I {
        let id = I::from_index(self.items.len());
        self.items.push(item);
        id
    }
    /// The id that the next `push` will return.
    pub fn next_id(&self) -> I {
        I::from_index(self.items.len())
    }
    /// The item, or `None` if the id is out of range.
    pub fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }
    /// The number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }
    /// True if there are no items.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
    /// The ids, ascending.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.items.len()).map(I::from_index)
    }
    /// The items with their ids.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(i, t)| (I::from_index(i), t))
    }
    /// The items with their ids, mutable.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = (I, &mut T)> + ExactSizeIterator {
        self.items.iter_mut().enumerate().map(|(i, t)| (I::from_index(i), t))
    }
    /// The items in order of id.
    pub fn values(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }
}

impl<I: Id, T: Clone> Table<I, T> {
    /// A table with `len` copies of `value`, for example to annotate the ids of another table.
    pub fn filled(value: T, len: usize) -> Self {
        Self { items: vec![value; len], id: PhantomData }
    }
    /// Appends copies of `value` until the table has at least `len` items.
    pub fn extend_to(&mut self, len: usize, value: T) {
        self.items.resize(len.max(self.items.len()), value);
    }
}

impl<I: Id, T> Default for Table<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Id, T> Index<I> for Table<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for Table<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

impl<I: Id, T> FromIterator<T> for Table<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(iter: It) -> Self {
        Self { items: iter.into_iter().collect(), id: PhantomData }
    }
}
