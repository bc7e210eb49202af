//! A cache of abstracted caller frames.

use crate::semantics::Frame;
use cfa::LocId;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A cache of abstracted caller frames, by frame and location of the abstraction. With it, the states of a deep
/// recursion share their abstracted frames. Without it, each state would have a copy of all of them.
#[derive(Default)]
pub(super) struct Callers {
    known: FxHashMap<(*const Frame, LocId), Abstracted>,
    /// The version of the precision for which the entries are valid.
    changes: u64,
}

/// A frame with its abstraction.
struct Abstracted {
    /// The original frame. Keeping it alive prevents another frame from getting the same address.
    _frame: Rc<Frame>,
    /// The abstracted frame.
    is: Rc<Frame>,
}

impl Callers {
    /// Minimal depth of cached frames. There are few frames of smaller depth.
    const DEEP: u32 = 8;
    /// Maximal number of entries.
    const MOST: usize = 1 << 16;

    /// The abstraction of `frame` at a location, if it is cached.
    pub(super) fn find(&self, frame: &Rc<Frame>, at: LocId) -> Option<Rc<Frame>> {
        self.known.get(&(Rc::as_ptr(frame), at)).map(|known| Rc::clone(&known.is))
    }

    /// Records `is` as the abstraction of `frame` at a location, if the frame is deep.
    pub(super) fn put(&mut self, frame: Rc<Frame>, at: LocId, is: &Rc<Frame>) {
        if frame.depth < Self::DEEP {
            return;
        }
        if self.known.len() >= Self::MOST {
            self.known.clear();
        }
        self.known.insert((Rc::as_ptr(&frame), at), Abstracted { _frame: frame, is: Rc::clone(is) });
    }

    /// Clears the cache if the precision has changed. `changes` is its version.
    pub(super) fn forget_others(&mut self, changes: u64) {
        if self.changes != changes {
            self.known.clear();
            self.changes = changes;
        }
    }
}
