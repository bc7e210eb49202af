//! Coverage goals as errors.

use cfa::{Check, EdgeId, ErrorId, ErrorInfo, Op, Program};

/// Makes the execution of each goal edge an error, and returns the errors in the order of `goals`. Edges keep their
/// ids. A run takes the same path as before up to the first goal.
pub fn cover(program: &mut Program, goals: &[EdgeId]) -> Vec<ErrorId> {
    goals.iter().map(|&goal| error_at(program, goal)).collect()
}

fn error_at(program: &mut Program, goal: EdgeId) -> ErrorId {
    let (func, place) = (program.func_of(goal), program.edges[goal].place);
    let message = "a goal is covered".to_owned();
    let error = program.errors.push(ErrorInfo { check: Check::Call, message, place });
    if matches!(program.edges[goal].op, Op::Assume { .. }) {
        // The error follows the assume edge, since the goal is covered only if its condition holds.
        let (behind, sink) = (program.add_location(func), program.add_location(func));
        program.add_edge(behind, Op::Error(error), sink, place);
        program.edges[goal].target = behind;
    } else {
        let sink = program.add_location(func);
        let edge = &mut program.edges[goal];
        (edge.op, edge.target) = (Op::Error(error), sink);
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::interp::{Inputs, Interpreter, Limits, Outcome};

    const PROGRAM: &str = include_str!("../../tests/data/sum.cfa");

    #[test]
    fn a_goal_is_an_error_where_the_run_comes_to_it() {
        let mut program = cfa::text::parse(PROGRAM).unwrap();
        let run = |p: &Program| Interpreter::new(p).run(&mut Inputs::default().source(), Limits::default(), &mut ());
        assert_eq!(run(&program).outcome, Outcome::Exit(0));
        let branches: Vec<EdgeId> =
            program.edges.iter().filter(|(_, e)| matches!(e.op, Op::Assume { .. })).map(|(id, _)| id).collect();
        let errors = cover(&mut program, &branches);
        assert_eq!(errors.len(), branches.len());
        assert_eq!(cfa::validate::validate(&program), Ok(()));
        assert!(matches!(run(&program).outcome, Outcome::Error(error, _) if errors.contains(&error)));
    }
}
