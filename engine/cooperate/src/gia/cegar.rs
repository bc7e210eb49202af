//! Component CEGAR over GIAs (CC-Gia: Haltermann, Wehrheim: Exchanging information in cooperative software validation, section 6 and
//! Fig. 10): a model explorer, a feasibility checker and a precision refiner that give each other nothing but automata.
//!
//! The explorer is given the precision, as conditions of the automaton, and gives a candidate; the checker makes a candidate a path to
//! a target, or leaves it; the refiner makes it a path to no target, with the conditions that refute it where they hold. The combiner
//! keeps what refiners found before. No component believes another: what is known as `ut` is precision and nothing more, and a path
//! to a target is one that was run.

use super::paths::Annotated;
use super::{Gia, Left, Recording, Says, combine, reduce, test_of};
use crate::reduce::Reducer;
use cfa::interp::{Inputs, Interpreter};
use cfa::{EdgeId, Op, Program};
use engine::budget::Budget;
use engine::components::{Components, Counterexample, Feasibility};
use engine::{Config, Reason, Verdict};
use std::time::Duration;

/// What one replay may take.
const REPLAY: Duration = Duration::from_secs(20);

/// What a component does: an automaton for an automaton, both of this program.
pub type Component<'a> = dyn FnMut(&mut Program, &Gia) -> Result<Gia, Reason> + 'a;

/// The three of them. What each is given and gives may pass through another format on its way.
pub struct Cegar<'a> {
    pub explorer: Box<Component<'a>>,
    pub checker: Box<Component<'a>>,
    pub refiner: Box<Component<'a>>,
    /// Told who gave what, and in which iteration, from 1.
    pub observer: &'a mut dyn FnMut(usize, &str, &Gia, &Program),
}

/// How component CEGAR ended.
pub enum Ended {
    /// The explorer found no path to a target.
    Proved,
    /// The checker has a path to one.
    Violated(Gia),
    Unknown(Reason),
}

impl Cegar<'_> {
    /// From a precision to the end; the number of refinements, too.
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
                return Err(Reason::new("the explorer gives no candidate and no proof"));
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

/// The model explorer: predicate abstraction with the conditions of the automaton as precision, refined for paths that are `ut` where
/// conditions do not say why. Everything `ut`, or a candidate.
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

/// The feasibility checker: candidates are followed at full precision, all of them (a checker that leaves some out would be given the
/// same ones again). What it finds is run, and becomes a path to `rt` with its inputs; what is infeasible stays a candidate.
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

/// An execution that a candidate stands for, where the automaton names more than one path: the program of all of them is verified.
fn search(
    program: &mut Program,
    candidates: &Gia,
    config: &Config,
    budget: &Budget,
) -> Result<Option<(Inputs, cfa::ErrorId)>, Reason> {
    let part = reduce(program, candidates, Left::Unreachable, Reducer::Separate)
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

/// The run on these inputs, as a path to `rt`: as far as its error.
pub fn reached(program: &mut Program, inputs: &Inputs) -> Gia {
    let mut recording = Recording::default();
    Interpreter::new(program).run(&mut inputs.source(), engine::replay_limits(REPLAY), &mut recording);
    let is_target = |e: EdgeId| matches!(program.edges[e].op, Op::Error(_));
    // An operation that is a fault is the last that the run has come to.
    let test = test_of(recording.test.clone(), &is_target).unwrap_or(recording.test);
    let path = test.annotated(program);
    Gia::of_path(&path, Says::Reachable, program)
}

/// The precision refiner: the only candidate, refuted by interpolants at loop heads, as a path to `ut` with these conditions on the
/// edges that lead there (Fig. 16 of the paper).
pub fn refine(program: &mut Program, candidate: &Gia, config: &Config, budget: &Budget) -> Result<Gia, Reason> {
    let path = candidate
        .only_path(Says::Candidate, program)
        .ok_or_else(|| Reason::new("the refiner takes one candidate path, and the automaton names none or several"))?;
    let found = (Components { program, config, budget }).refine(&path)?;
    let own = |&(at, e): &(usize, cfa::ExprId)| Some((at, program.exprs.import(&found.pool, e)?));
    let conditions = found.conditions.iter().filter_map(own).collect();
    Ok(Gia::of_path(&Annotated { path, conditions }, Says::Unreachable, program))
}
