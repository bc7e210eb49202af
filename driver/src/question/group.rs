//! Groups: questions that one program answers together.

use cfa::{Edge, EdgeId, Program};
use instrument::{Continuation, Operation, Site};
use rustc_hash::FxHashSet;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The failed checks of a program, and the questions about that program.
pub struct Failed {
    /// The questions of the group, by index.
    pub questions: Vec<usize>,
    /// The sites of the checks that were found to fail.
    pub sites: RefCell<FxHashSet<Site>>,
}

/// Questions about one program.
pub struct Group {
    /// The undecided questions, by index.
    pub questions: Vec<usize>,
    /// The questions that the pre-analysis proved, by index.
    pub held: Vec<usize>,
    /// The program, once it is loaded. Violated and statically proved sites are no errors in it.
    pub program: Option<Program>,
    /// The edges of the program on which executions continue after the violations that were found.
    continuations: Vec<Continuation>,
    /// The continuations at which executions still end, as they were before. A violation that is found in the meantime
    /// does not follow from an earlier one.
    ended: Vec<(EdgeId, Edge)>,
    /// The program of the group from which this one was divided, with its continuations.
    pub whole: Option<Rc<Whole>>,
    /// The edges of the statically proved sites, as they were before their errors were removed.
    pub discharged: Vec<(EdgeId, Edge)>,
    /// True if the pre-analysis proved sites for executions that end at an access that was later found to be invalid.
    pub is_behind: bool,
    /// The checks that were found to fail in this group, or in another part of the same group. Executions continue
    /// after them.
    pub failed: Rc<Failed>,
    /// The failed checks that executions already passed when the pre-analysis ran.
    pub passed: FxHashSet<Site>,
    /// The longest duration of an attempt that failed.
    pub tried: Duration,
    /// The sites of the violations that were found.
    pub seen: FxHashSet<Site>,
    /// True if a path ended at an invalid access that another group asks about.
    pub ends_at_access: Arc<AtomicBool>,
}

/// The program of a group that was divided.
pub struct Whole {
    program: Program,
    continuations: Vec<Continuation>,
    ended: Vec<(EdgeId, Edge)>,
}

impl Group {
    /// Returns a group of these questions without a program.
    pub fn new(questions: Vec<usize>) -> Self {
        Self {
            held: Vec::new(),
            program: None,
            continuations: Vec::new(),
            ended: Vec::new(),
            whole: None,
            discharged: Vec::new(),
            is_behind: false,
            failed: Rc::new(Failed { questions: questions.clone(), sites: RefCell::default() }),
            questions,
            passed: FxHashSet::default(),
            tried: Duration::ZERO,
            seen: FxHashSet::default(),
            ends_at_access: Arc::default(),
        }
    }

    /// Takes a copy of the program of the group from which this one was divided. Returns false if there is none.
    pub fn copy_whole(&mut self) -> bool {
        let Some(whole) = &self.whole else { return false };
        self.program = Some(whole.program.clone());
        (self.continuations, self.ended) = (whole.continuations.clone(), whole.ended.clone());
        true
    }

    /// Removes the error of a site. Executions end there until [`Group::go_on`]. The program is loaded.
    pub fn let_pass(&mut self, site: Site) {
        let program = self.program.as_mut().expect("the program is loaded");
        let new = instrument::let_pass(program, &[site]);
        self.ended.extend(instrument::end_at(program, &new));
        self.continuations.extend(new);
    }

    /// Returns true if executions end at violations that were found.
    pub fn ends_at_violations(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Continues executions after the violations that were found.
    pub fn go_on(&mut self) {
        let Some(program) = self.program.as_mut() else { return };
        for (id, before) in self.ended.drain(..) {
            program.edges[id] = before;
        }
    }

    /// Skips these memory operations if they would fault. The program is loaded.
    pub fn guard_all(&mut self, operations: &FxHashSet<Operation>) {
        let program = self.program.as_mut().expect("the program is loaded");
        self.continuations.extend(instrument::guard_all(program, operations));
    }

    /// Returns the edges of the program on which executions continue after violations.
    pub fn continuations(&self) -> &[Continuation] {
        &self.continuations
    }

    /// Divides the group into one group for each undecided question and one for all statically proved ones. They share
    /// the program.
    pub fn divided(self) -> impl Iterator<Item = Self> {
        let (continuations, ended) = (self.continuations, self.ended);
        let whole = self.program.map(|program| Rc::new(Whole { program, continuations, ended }));
        let ended = self.ends_at_access.load(Ordering::Relaxed);
        let held = Some(self.held).filter(|held| !held.is_empty());
        let part = move |(questions, held)| Self {
            held,
            whole: whole.clone(),
            discharged: self.discharged.clone(),
            is_behind: self.is_behind,
            failed: self.failed.clone(),
            passed: self.passed.clone(),
            seen: self.seen.clone(),
            ends_at_access: Arc::new(ended.into()),
            ..Self::new(questions)
        };
        let asked = self.questions.into_iter().map(|question| (vec![question], Vec::new()));
        asked.chain(held.map(|held| (Vec::new(), held))).map(part)
    }

    /// Returns true if the pre-analysis proved sites for executions that end at a check that was later found to fail.
    pub fn rests_on_failed(&self) -> bool {
        !self.discharged.is_empty() && !self.failed.sites.borrow().is_subset(&self.passed)
    }

    /// Restores the errors of the statically proved sites.
    pub fn restore(&mut self) {
        let Some(program) = self.program.as_mut() else { return };
        for (id, before) in self.discharged.drain(..) {
            let edge = &mut program.edges[id];
            (edge.op, edge.target, edge.fault) = (before.op, before.target, before.fault);
        }
        (self.is_behind, self.ends_at_access) = (false, Arc::default());
    }
}
