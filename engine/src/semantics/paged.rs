//! A persistent table.

use std::rc::Rc;

/// A table of two levels. Clones share the lower level until they write it.
#[derive(Clone)]
pub struct Paged<T> {
    pages: Vec<Option<Rc<Vec<Option<T>>>>>,
}

/// Number of entries of a page. A write copies one page.
const PAGE: usize = 32;

impl<T: Clone> Paged<T> {
    /// An empty table.
    pub fn new() -> Self {
        Self { pages: Vec::new() }
    }
    /// The entry at `index`.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        self.pages.get(index / PAGE)?.as_ref()?[index % PAGE].as_ref()
    }
    /// The entry at `index`, to be changed. Copies its page if it is shared.
    #[inline]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        Rc::make_mut(self.pages.get_mut(index / PAGE)?.as_mut()?)[index % PAGE].as_mut()
    }
    /// Sets or removes the entry at `index`.
    pub fn set(&mut self, index: usize, value: Option<T>) {
        let page = index / PAGE;
        if page >= self.pages.len() {
            if value.is_none() {
                return;
            }
            self.pages.resize(page + 1, None);
        }
        let slots = self.pages[page].get_or_insert_with(|| Rc::new(vec![None; PAGE]));
        let slots = Rc::make_mut(slots);
        let emptied = value.is_none();
        slots[index % PAGE] = value;
        if emptied && slots.iter().all(Option::is_none) {
            self.pages[page] = None;
        }
    }
    /// Removes the entries for whose index `keep` is false. Pages that lose no entry stay shared.
    pub fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        for (page, slots) in self.pages.iter_mut().enumerate() {
            let Some(shared) = slots else { continue };
            let goes = |i: usize, entry: &Option<T>| entry.is_some() && !keep(page * PAGE + i);
            if !shared.iter().enumerate().any(|(i, entry)| goes(i, entry)) {
                continue;
            }
            let left = shared.iter().enumerate().map(|(i, entry)| entry.clone().filter(|_| keep(page * PAGE + i)));
            let left: Vec<Option<T>> = left.collect();
            *slots = left.iter().any(Option::is_some).then(|| Rc::new(left));
        }
    }
    /// The entries with their indices, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.pages.iter().enumerate().flat_map(|(p, page)| {
            page.iter().flat_map(move |slots| {
                slots.iter().enumerate().filter_map(move |(i, t)| t.as_ref().map(|t| (p * PAGE + i, t)))
            })
        })
    }
    /// The indices of the pages that the two tables do not share.
    pub fn differing_pages<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = usize> + 'a {
        let n = self.pages.len().max(other.pages.len());
        (0..n).filter(|&p| {
            let (a, b) = (self.pages.get(p).and_then(Option::as_ref), other.pages.get(p).and_then(Option::as_ref));
            match (a, b) {
                (None, None) => false,
                (Some(a), Some(b)) => !Rc::ptr_eq(a, b),
                _ => true,
            }
        })
    }
    /// Number of entries of a page.
    pub const PAGE: usize = PAGE;
}
