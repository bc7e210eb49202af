//! What is asked together of one program.

use cfa::{Edge, EdgeId, Program};
use instrument::Site;
use rustc_hash::FxHashSet;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Checks that were violated, and what was asked of the program of which they are.
pub struct Failed {
    pub asks: Vec<usize>,
    pub sites: RefCell<FxHashSet<Site>>,
}

/// Things asked of one program.
pub struct Group {
    /// By number; those that are not decided.
    pub asks: Vec<usize>,
    /// Those that were seen to hold at once.
    pub held: Vec<usize>,
    /// Once it is loaded: what was violated or seen to hold is no error there any more.
    pub program: Option<Program>,
    /// The program of the group that this one is a part of.
    pub whole: Option<Rc<Program>>,
    /// What was seen to hold, as it was.
    pub discharged: Vec<(EdgeId, Edge)>,
    /// Whether that was so of executions that end at an access of which it was found since that it is not valid.
    pub is_behind: bool,
    /// Checks that were violated in this group, or in another part of the same: executions go on behind them.
    pub failed: Rc<Failed>,
    /// Those of them that executions went on behind when it was seen what holds.
    pub passed: FxHashSet<Site>,
    /// The longest time that it was tried for in vain.
    pub tried: Duration,
    /// What was violated.
    pub seen: FxHashSet<Site>,
    /// Whether a path ended at an access that is not valid, for which another group asks.
    pub ended: Arc<AtomicBool>,
}

impl Group {
    pub fn new(asks: Vec<usize>) -> Self {
        Self {
            held: Vec::new(),
            program: None,
            whole: None,
            discharged: Vec::new(),
            is_behind: false,
            failed: Rc::new(Failed { asks: asks.clone(), sites: RefCell::default() }),
            asks,
            passed: FxHashSet::default(),
            tried: Duration::ZERO,
            seen: FxHashSet::default(),
            ended: Arc::default(),
        }
    }

    /// One for each thing asked, and one for all that was seen to hold, of the same program.
    pub fn divided(self) -> impl Iterator<Item = Self> {
        let whole = self.program.map(Rc::new);
        let ended = self.ended.load(Ordering::Relaxed);
        let held = Some(self.held).filter(|held| !held.is_empty());
        let part = move |(asks, held)| Self {
            held,
            whole: whole.clone(),
            discharged: self.discharged.clone(),
            is_behind: self.is_behind,
            failed: self.failed.clone(),
            passed: self.passed.clone(),
            seen: self.seen.clone(),
            ended: Arc::new(ended.into()),
            ..Self::new(asks)
        };
        let asked = self.asks.into_iter().map(|ask| (vec![ask], Vec::new()));
        asked.chain(held.map(|held| (Vec::new(), held))).map(part)
    }

    /// Whether something was seen to hold of executions that end at a check of which it was found since that it fails.
    pub fn rests_on_failed(&self) -> bool {
        !self.discharged.is_empty() && !self.failed.sites.borrow().is_subset(&self.passed)
    }

    /// Asks again what was seen to hold.
    pub fn restore(&mut self) {
        let Some(program) = self.program.as_mut() else { return };
        for (id, before) in self.discharged.drain(..) {
            let edge = &mut program.edges[id];
            (edge.op, edge.target, edge.fault) = (before.op, before.target, before.fault);
        }
        (self.is_behind, self.ended) = (false, Arc::default());
    }
}
