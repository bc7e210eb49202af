//! Component-based CEGAR with GIAs (CC-Gia: Haltermann, Wehrheim: Exchanging information in cooperative software
//! validation, section 6 and Fig. 10). A model explorer, a feasibility checker and a precision refiner exchange only
//! automata.
//!
//! The explorer takes a precision, as conditions of an automaton, and returns a candidate. The checker turns the
//! candidate into a path to a target, or leaves it a candidate. The refiner turns it into a path that reaches no
//! target, with the conditions that refute it. The combiner keeps the results of earlier refinements. No component
//! trusts another: a `ut` path serves only as precision, and a path to a target has been executed.

use super::paths::Annotated;
use super::{Gia, Recording, Removed, Says, combine, reduce, test_of};
use crate::reduce::Reducer;
use cfa::interp::{Inputs, Interpreter};
use cfa::{EdgeId, Op, Program};
use engine::budget::Budget;
use engine::components::{Components, Counterexample, Feasibility};
use engine::{Config, Reason, Verdict};
use std::time::Duration;

/// The time limit of a replay.
const REPLAY: Duration = Duration::from_secs(20);

/// A component: maps an automaton to an automaton, both for the same program.
pub type Component<'a> = dyn FnMut(&mut Program, &Gia) -> Result<Gia, Reason> + 'a;

/// The three components. Their automata may be converted to other formats on the way.
pub struct Cegar<'a> {
    /// The model explorer.
    pub explorer: Box<Component<'a>>,
    /// The feasibility checker.
    pub checker: Box<Component<'a>>,
    /// The precision refiner.
    pub refiner: Box<Component<'a>>,
    /// A callback for each automaton: the iteration (from 1), the component, the automaton, and the program.
    pub observer: &'a mut dyn FnMut(usize, &str, &Gia, &Program),
}

/// The result of component-based CEGAR.
pub enum Ended {
    /// The explorer found no path to a target.
    Proved,
    /// The checker found a path to a target.
    Violated(Gia),
    /// A component failed or gave up.
    Unknown(Reason),
}

impl Cegar<'_> {
    /// Runs the loop, starting from a precision. Also returns the number of refinements.
    pub fn run(&mut self, program: &mut Program, precision: Gia) -> (Ended, usize) {
        let mut refinements = 0;
        match self.iterate(program, precision.at_targets(program), &mut refinements) {
            Ok(ended) => (ended, refinements),
            Err(reason) => (Ended::Unknown(reason), refinements),
        }
    }

    fn iterate(&mut self, program: &mut Program, mut precision: Gia, refinements: &mut usize) -> Result<Ended, Reason> {
        loop {
            let iteration = *refinements + 1;
            let explored = (self.explorer)(program, &precision)?;
            (self.observer)(iteration, "explorer", &explored, program);
            if explored.is_all_unreachable() {
                return Ok(Ended::Proved);
            }
            if !explored.has(Says::Candidate) {
                return Err(Reason::new("the explorer returns neither a candidate nor a proof"));
            }
            let checked = (self.checker)(program, &explored)?;
            (self.observer)(iteration, "checker", &checked, program);
            if checked.has(Says::Reachable) {
                return Ok(Ended::Violated(checked));
            }
            let refined = (self.refiner)(program, &checked)?;
            (self.observer)(iteration, "refiner", &refined, program);
            let before = precision.conditions();
            let path = checked.only_path(Says::Candidate, program);
            let is_told = |gia: &Gia| path.as_ref().is_some_and(|path| gia.tells(path, Says::Unreachable));
            let was_told = is_told(&precision);
            precision = combine(&precision, &refined, program).map_err(|e| Reason::new(e.to_string()))?;
            (self.observer)(iteration, "combiner", &precision, program);
            let is_new = !was_told && is_told(&precision);
            if !is_new && precision.conditions().iter().all(|e| before.contains(e)) {
                return Err(Reason::new("refinement makes no progress: nothing new is exchanged"));
            }
            *refinements += 1;
        }
    }
}

/// The model explorer: predicate abstraction with the conditions of the automaton as precision. It refines for `ut`
/// paths that the conditions do not exclude. Returns either an automaton in which everything is `ut`, or a candidate.
pub fn explore(program: &mut Program, known: &Gia, config: &Config, budget: &Budget) -> Result<Gia, Reason> {
    match (Components { program, config, budget })
        .explore(&known.conditions(), &|path| known.tells(path, Says::Unreachable))
    {
        Counterexample::Proved => Ok(Gia::all_unreachable()),
        Counterexample::Path(path) => {
            Ok(Gia::of_path(&Annotated { path, conditions: Vec::new() }, Says::Candidate, program))
        }
        Counterexample::Unknown(reason) => Err(reason),
    }
}

/// The feasibility checker. It checks all candidates with full precision, because omitted ones would come back
/// unchanged. A feasible candidate is executed and becomes an `rt` path with its inputs. Infeasible ones stay
/// candidates.
pub fn check(program: &mut Program, candidates: &Gia, config: &Config, budget: &Budget) -> Result<Gia, Reason> {
    let inputs = match candidates.only_path(Says::Candidate, program) {
        Some(path) => match (Components { program, config, budget }).check(&path) {
            Feasibility::Feasible(error, inputs) => Some((inputs, error)),
            Feasibility::Infeasible => None,
            Feasibility::Unknown(reason) => return Err(reason),
        },
        None => search(program, candidates, config, budget)?,
    };
    let Some((inputs, error)) = inputs else { return Ok(candidates.clone()) };
    engine::replay(program, &inputs, error, REPLAY).map_err(Reason::new)?;
    Ok(reached(program, &inputs))
}

/// An execution of a candidate, if the automaton names several paths: verifies the program of all candidates.
fn search(
    program: &mut Program,
    candidates: &Gia,
    config: &Config,
    budget: &Budget,
) -> Result<Option<(Inputs, cfa::ErrorId)>, Reason> {
    let part = reduce(program, candidates, Removed::Unreachable, Reducer::Separate)
        .map_err(|e| Reason::new(format!("the candidates are too many: {e}")))?;
    let replay =
        |inputs: &Inputs, error| engine::replay(program, inputs, error, REPLAY).map(|path| (inputs.clone(), path));
    let config = Config { analysis: engine::Analysis::Default, ..config.clone() };
    match engine::verify(&part.program, &config, budget, &replay, &|_| {}).verdict {
        Verdict::True => Ok(None),
        Verdict::False(found) => Ok(Some((found.inputs, found.error))),
        Verdict::Unknown(reason) => Err(reason),
    }
}

/// The run on these inputs as a path to `rt`, up to its error.
pub fn reached(program: &mut Program, inputs: &Inputs) -> Gia {
    let mut recording = Recording::default();
    Interpreter::new(program).run(&mut inputs.source(), engine::replay_limits(REPLAY), &mut recording);
    let is_target = |e: EdgeId| matches!(program.edges[e].op, Op::Error(_));
    // A faulting operation is the last one of the run.
    let test = test_of(recording.test.clone(), &is_target).unwrap_or(recording.test);
    let path = test.annotated(program);
    Gia::of_path(&path, Says::Reachable, program)
}

/// The precision refiner. Refutes the only candidate by interpolants at loop heads, and returns it as a `ut` path with
/// these conditions on the edges into the loop heads (Fig. 16 of the paper).
pub fn refine(program: &mut Program, candidate: &Gia, config: &Config, budget: &Budget) -> Result<Gia, Reason> {
    let path = candidate
        .only_path(Says::Candidate, program)
        .ok_or_else(|| Reason::new("the refiner takes one candidate path, and the automaton names none or several"))?;
    let found = (Components { program, config, budget }).refine(&path)?;
    let own = |&(at, e): &(usize, cfa::ExprId)| Some((at, program.exprs.import(&found.pool, e)?));
    let conditions = found.conditions.iter().filter_map(own).collect();
    Ok(Gia::of_path(&Annotated { path, conditions }, Says::Unreachable, program))
}
