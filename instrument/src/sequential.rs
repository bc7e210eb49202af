//! Context-bounded sequentialisation: a program without threads that has the interleavings of a program with threads in
//! which every thread runs at most a number of times.
//!
//! All threads become parts of `main`. A thread stores the number of the place at which it pauses, and its next turn
//! jumps there (Inverso, Tomasco, Fischer, La Torre, Parlato: *Bounded model checking of multi-threaded C programs via
//! lazy sequentialization*, CAV 2014). The state is never guessed, as in the eager scheme of Lal and Reps (*Reducing
//! concurrent analysis under a context bound to sequential analysis*, FMSD 2009), which needs one copy of the shared
//! memory per round. Such copies do not exist for heaps and pointers. The lazy scheme also has no execution that the
//! program lacks.
//!
//! Unlike in the paper, loops are not unrolled, and functions are not inlined: each thread has one copy of each function
//! that accesses memory, with a variable for the place that the function returns to. Locals of a copy are locals of
//! `main`. Functions must not be recursive therefore.
//!
//! Rounds let each thread that was started run, in the order in which the program text starts them. In each turn, a
//! thread runs from its place to a later *point*: before an access to memory that several threads access, before an
//! operation on a lock or an atomic section, and before the program ends. After the last round, the first thread runs
//! once more.

mod facts;
mod merge;

use cfa::{PlaceId, Program};

/// The bounds of a sequentialised program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// The number of rounds.
    pub rounds: u32,
    /// The start functions of threads by name, with the largest number of threads that run them. An execution ends
    /// when it starts more.
    pub threads: Vec<(String, usize)>,
    /// Operations of library functions that are not modelled. An execution ends when it reaches one.
    pub ends: Vec<String>,
}

/// A construct that has no translation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Untranslated {
    /// The construct.
    pub construct: String,
    /// Its place in the source, if known.
    pub place: Option<PlaceId>,
}

/// Replaces the threads of a program by their interleavings of this number of rounds, which is at least 1. A program
/// without threads does not change; the result is `None` then.
///
/// # Errors
/// `Err` with the first construct that has no translation.
pub fn sequentialise(program: &mut Program, rounds: u32) -> Result<Option<Bounds>, Untranslated> {
    if !program.starts_threads() {
        return Ok(None);
    }
    let plan = facts::Facts::new(program).and_then(|facts| facts.plan())?;
    merge::merge(program, &plan, rounds).map(Some)
}
