//! Frames that were abstracted before.

use crate::semantics::Frame;
use cfa::LocId;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Frames of callers as they were abstracted before, by the frame and the location where that was: of a deep recursion the
/// states at each depth share them, where each would else have copies of all.
#[derive(Default)]
pub(super) struct Callers {
    known: FxHashMap<(*const Frame, LocId), Abstracted>,
    /// The precision is as it was after so many changes.
    changes: u64,
}

struct Abstracted {
    /// It is kept: no other frame comes to lie where it is.
    _frame: Rc<Frame>,
    is: Rc<Frame>,
}

impl Callers {
    /// Frames that lie deeper are few.
    const DEEP: u32 = 8;
    const MOST: usize = 1 << 16;

    pub(super) fn find(&self, frame: &Rc<Frame>, at: LocId) -> Option<Rc<Frame>> {
        self.known.get(&(Rc::as_ptr(frame), at)).map(|known| Rc::clone(&known.is))
    }

    pub(super) fn put(&mut self, frame: Rc<Frame>, at: LocId, is: &Rc<Frame>) {
        if frame.depth < Self::DEEP {
            return;
        }
        if self.known.len() >= Self::MOST {
            self.known.clear();
        }
        self.known.insert((Rc::as_ptr(&frame), at), Abstracted { _frame: frame, is: Rc::clone(is) });
    }

    /// Forgets what was abstracted before the precision has changed.
    pub(super) fn forget_others(&mut self, changes: u64) {
        if self.changes != changes {
            self.known.clear();
            self.changes = changes;
        }
    }
}
