//! Addresses that C leaves open: of string literals, which may share memory, and of functions.

mod functions;
mod literals;

use cfa::Program;
use slicer::pointer::{Mode, Options, PointsTo};

/// The limit on work steps of a points-to analysis here, about five seconds.
const WORK: u64 = 100_000_000;

/// Adds the inputs and approximations for addresses that C leaves open. The result depends only on the program. In
/// particular, it does not depend on limits of time, so files that name edges fit the program of every run.
pub fn leave_open(program: &mut Program) {
    literals::share(program);
    functions::approximate(program);
}

/// Computes points-to sets, with counted work instead of a deadline. If inclusion takes too much work, the sets are those
/// of unification.
fn points_to(program: &Program, mode: Mode) -> PointsTo<'_> {
    PointsTo::compute(program, &Options { mode, budget: WORK, ..Options::default() }).expect("there is no deadline")
}

/// Returns true if the points-to sets are precise enough for the assumption that operations which C defines only for
/// pointers to objects, or to the same object, get such pointers.
fn are_precise(points_to: &PointsTo, mode: Mode) -> bool {
    mode == Mode::Inclusion && !points_to.stats.given_up
}
