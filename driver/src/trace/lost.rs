//! The place where the last pointer to a leaked object is lost.

use crate::source::{Sources, Spot};
use cfa::interp::{Inputs, Interpreter, Limits};
use cfa::{ErrorId, Program};

/// Returns the place after which no pointer to the leaked object is left. The run that violates `error` is repeated with
/// a leak check after every operation. `None` if the run does not end within the limits, or if another object is lost
/// first.
pub fn place(program: &Program, inputs: &Inputs, error: ErrorId, sources: &Sources, limits: Limits) -> Option<Spot> {
    let leaked = Interpreter::new(program).run(&mut inputs.source(), limits, &mut ()).object?.object;
    let mut watched = program.clone();
    instrument::watch_losses(&mut watched, error);
    let run = Interpreter::new(&watched).run(&mut inputs.source(), limits, &mut ());
    let (_, edge) = run.outcome.error(&watched)?;
    let place = watched.edges[edge].place.filter(|_| run.object.is_some_and(|near| near.object == leaked))?;
    sources.spot(&watched, place)
}
