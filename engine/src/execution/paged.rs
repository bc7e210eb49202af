//! A table whose copies share what they have in common.

use std::rc::Rc;

/// A persistent table: two levels, the lower one shared between clones.
#[derive(Clone)]
pub struct Paged<T> {
    pages: Vec<Option<Rc<Vec<Option<T>>>>>,
}

/// Values of a page: what is copied where one of them is written.
const PAGE: usize = 32;

impl<T: Clone> Paged<T> {
    pub fn new() -> Self {
        Self { pages: Vec::new() }
    }
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        self.pages.get(index / PAGE)?.as_ref()?[index % PAGE].as_ref()
    }
    #[inline]
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        Rc::make_mut(self.pages.get_mut(index / PAGE)?.as_mut()?)[index % PAGE].as_mut()
    }
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
    /// The present entries in order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.pages.iter().enumerate().flat_map(|(p, page)| {
            page.iter().flat_map(move |slots| {
                slots.iter().enumerate().filter_map(move |(i, t)| t.as_ref().map(|t| (p * PAGE + i, t)))
            })
        })
    }
    /// Pages of `self` and `other` that are not one and the same, by index of their first entry.
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
    pub const PAGE: usize = PAGE;
}
