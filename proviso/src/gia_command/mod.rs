//! `proviso gia`: shows, checks and combines generalized information exchange automata, and converts them from and to
//! other artifacts.

use crate::args::{GiaArgs, GiaCommand, GiaFormat};
use crate::output::{self, Colors};
use crate::picture;
use crate::subject::{load, read, read_condition};
use crate::test_format::imported::{self, Given};
use crate::test_format::test_xml;
use crate::testgen;
use crate::witness as format;
use crate::witness::exchange::Witnesses;
use crate::witness::gia::SourceMap;
use crate::witness::{Content, Entry, Places};
use cfa::Program;
use cfa::interp::Interpreter;
use cfa::wording::counted;
use cooperate::condition;
use cooperate::gia::cegar::Ended;
use cooperate::gia::check::Targets;
use cooperate::gia::{self, Gia, Says};
use driver::cooperation::components;
use driver::failure::{Failure, exit};
use driver::files::{Outputs, STDOUT};
use driver::job::Job;
use driver::plan::Exchange;
use driver::source::Sources;
use engine::budget::Budget;
use engine::{Config, Reason};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The default time limit of the check of a GIA and of the other steps.
const DEFAULT_TIME: Duration = Duration::from_secs(60);
/// The maximal time of one replay.
const REPLAY: Duration = Duration::from_secs(20);

/// Runs the command and returns the exit code.
pub fn run(args: &GiaArgs, colors: Colors) -> u8 {
    attempt(args).unwrap_or_else(|failure| output::failure(&failure, colors))
}

fn attempt(args: &GiaArgs) -> Result<u8, Failure> {
    let stdout = PathBuf::from(STDOUT);
    let (subject, output) = match &args.command {
        GiaCommand::Check { subject, .. } | GiaCommand::Cegar { subject, .. } | GiaCommand::ToTests { subject, .. } => {
            (subject, None)
        }
        GiaCommand::Show { subject, output, .. }
        | GiaCommand::New { subject, output }
        | GiaCommand::Combine { subject, output, .. }
        | GiaCommand::FromWitness { subject, output, .. }
        | GiaCommand::ToWitness { subject, output, .. }
        | GiaCommand::FromTests { subject, output, .. }
        | GiaCommand::FromCondition { subject, output, .. }
        | GiaCommand::ToCondition { subject, output, .. } => (subject, Some(output.as_ref().unwrap_or(&stdout))),
        GiaCommand::Explore { component, .. }
        | GiaCommand::CheckFeasibility { component, .. }
        | GiaCommand::Refine { component, .. } => {
            (&component.subject, Some(component.output.as_ref().unwrap_or(&stdout)))
        }
    };
    let mut outputs = Outputs::new([("--output", output)]);
    let (mut program, job) = load(&subject.files, &subject.input, subject.property.as_deref(), &outputs)?;
    let text = match &args.command {
        GiaCommand::Check { gia, timeout, .. } => {
            let gia = read(gia, &mut program)?;
            let targets = targets(&program, &job)?;
            return check(&gia, &mut program, &targets, timeout.unwrap_or(DEFAULT_TIME));
        }
        GiaCommand::Cegar { timeout, .. } => {
            let budget = Budget::lasting(timeout.unwrap_or(DEFAULT_TIME));
            return component_cegar(&args.command, &mut program, &job, &budget);
        }
        GiaCommand::ToTests { gia, output, .. } => {
            let gia = read(gia, &mut program)?;
            return to_tests(&gia, &program, output);
        }
        GiaCommand::New { .. } => gia::print(&Gia::nothing(), &program),
        GiaCommand::Show { gia, format, .. } => {
            let gia = read(gia, &mut program)?;
            match format {
                GiaFormat::Text => gia::print(&gia, &program),
                GiaFormat::Dot => gia::dot(&gia, &program),
                GiaFormat::Json => format!("{:#}\n", gia::json(&gia, &program)),
                GiaFormat::Html => picture::page(&gia, &mut program, &Sources::new())?,
            }
        }
        GiaCommand::Combine { first, second, .. } => {
            let (first, second) = (read(first, &mut program)?, read(second, &mut program)?);
            disagreement(&first, &second, &mut program)?;
            let both = gia::combine(&first, &second, &program).map_err(|e| Failure::data(e.to_string()))?;
            gia::print(&both, &program)
        }
        GiaCommand::Explore { component, precision } => {
            let precision = match precision {
                Some(path) => read(path, &mut program)?,
                None => Gia::nothing(),
            };
            match with_budget(component.timeout, |c, b| gia::cegar::explore(&mut program, &precision, c, b)) {
                Ok(gia) => gia::print(&gia, &program),
                Err(reason) => return unknown(&reason),
            }
        }
        GiaCommand::CheckFeasibility { gia, component } | GiaCommand::Refine { gia, component } => {
            let gia = read(gia, &mut program)?;
            let step = match args.command {
                GiaCommand::Refine { .. } => gia::cegar::refine,
                _ => gia::cegar::check,
            };
            match with_budget(component.timeout, |c, b| step(&mut program, &gia, c, b)) {
                Ok(gia) => gia::print(&gia, &program),
                Err(reason) => return unknown(&reason),
            }
        }
        GiaCommand::FromWitness { witness, .. } => from_witness(witness, &mut program, &job)?,
        GiaCommand::ToWitness { gia, .. } => {
            let gia = read(gia, &mut program)?;
            to_witness(&gia, &mut program, &job)?
        }
        GiaCommand::FromTests { tests, .. } => from_tests(tests, &mut program, &job)?,
        GiaCommand::FromCondition { condition, .. } => {
            gia::print(&Gia::of_condition(&read_condition(condition, &mut program)?), &program)
        }
        GiaCommand::ToCondition { gia, .. } => {
            let gia = read(gia, &mut program)?;
            let condition = gia.condition(&mut program, Says::Unreachable);
            condition::print(&condition, &program)
        }
    };
    outputs.put(output.expect("all others write something"), text);
    outputs.commit()?;
    Ok(exit::TRUE)
}

/// Returns the targets of the property: errors, or the goals of a test suite. `Err` if the coverage is not supported.
fn targets(program: &Program, job: &Job) -> Result<Targets, Failure> {
    Ok(match testgen::asked_coverage(job)? {
        Some(coverage) => Targets::from_edges(testgen::goals_of(program, &coverage)),
        None => Targets::errors(program),
    })
}

/// Returns `Err` if the automata contradict each other: one states that a path reaches a target, the other that it
/// does not. If that cannot be decided, prints a warning.
fn disagreement(first: &Gia, second: &Gia, program: &mut Program) -> Result<(), Failure> {
    if gia::agree(first, second, program) == Some(false) {
        return Err(Failure::data("the automata disagree: an execution is `rt` in one and `ut` in the other"));
    }
    match with_budget(None, |c, b| gia::check::contradiction(first, second, program, c, b)) {
        Ok(None) => Ok(()),
        Ok(Some(inputs)) => {
            let what =
                format!("the automata contradict each other: an execution{inputs} is rt by one and ut by the other");
            Err(Failure::data(what))
        }
        Err(reason) => {
            let what = format!("the automata may contradict each other: {}", reason.text);
            output::print_error(&format!("warning: {what}\n"));
            Ok(())
        }
    }
}

fn with_budget<T>(time: Option<Duration>, work: impl FnOnce(&Config, &Budget) -> T) -> T {
    work(&Config::default(), &Budget::lasting(time.unwrap_or(DEFAULT_TIME)))
}

fn unknown(reason: &Reason) -> Result<u8, Failure> {
    output::print(&format!("{}\nUNKNOWN\n", reason.text))?;
    Ok(exit::UNKNOWN)
}

fn component_cegar(command: &GiaCommand, program: &mut Program, job: &Job, budget: &Budget) -> Result<u8, Failure> {
    let GiaCommand::Cegar { explorer, checker, refiner, witnesses, keep, .. } = command else {
        unreachable!("the command is this one")
    };
    if let Some(folder) = keep {
        std::fs::create_dir_all(folder).map_err(|e| Failure::writing(folder, &e))?;
    }
    let config = Config::default();
    let exchange = if *witnesses { Exchange::Translated(Arc::new(Witnesses)) } else { Exchange::Gia };
    let components = components::Components {
        config: &config,
        budget,
        exchange: &exchange,
        files: &job.load.files(),
        explorer: explorer.as_deref(),
        checker: checker.as_deref(),
        refiner: refiner.as_deref(),
    };
    let mut problem = None;
    let mut observer = |turn: usize, name: &str, gia: &Gia, program: &Program| {
        let Some(folder) = keep else { return };
        let path = folder.join(format!("{turn}-{name}.gia"));
        if let Err(e) = std::fs::write(&path, gia::print(gia, program)) {
            problem.get_or_insert(Failure::writing(&path, &e));
        }
    };
    let (ended, refinements) = components.run(program, Gia::nothing(), &mut observer);
    if let Some(problem) = problem {
        return Err(problem);
    }
    let plural = if refinements == 1 { "" } else { "s" };
    let mut out = format!("{refinements} refinement{plural}\n");
    let (verdict, code) = match &ended {
        Ended::Proved => {
            if let Some(explorer) = explorer {
                let _ = writeln!(out, "the proof is that of `{explorer}`");
            }
            ("TRUE".to_owned(), exit::TRUE)
        }
        Ended::Violated(gia) => {
            let found = components::replayed(gia, program).expect("replayed before");
            let edge = *found.path.last().expect("it ends at an error");
            let _ = writeln!(out, "{}", gia::check::described(program, found.error, edge));
            (format!("FALSE({})", job.violated_property(program.errors[found.error].check)), exit::FALSE)
        }
        Ended::Unknown(reason) => {
            let _ = writeln!(out, "{}", reason.text);
            ("UNKNOWN".to_owned(), exit::UNKNOWN)
        }
    };
    let _ = writeln!(out, "{verdict}");
    output::print(&out)?;
    Ok(code)
}

fn places(job: &Job) -> Result<Places, Failure> {
    Places::new(&job.load.files()).map_err(|e| Failure::new(exit::NO_INPUT, e.to_string()))
}

fn print_lost(lost: &[String]) {
    for what in lost {
        output::print_error(&format!("lost: {what}\n"));
    }
}

fn from_witness(path: &Path, program: &mut Program, job: &Job) -> Result<String, Failure> {
    let entries = format::read(path)?;
    let [entry] = entries.as_slice() else {
        return Err(Failure::data(format!("{}: more than one entry is not supported", path.display())));
    };
    let (places, sources) = (places(job)?, Sources::new());
    let source = SourceMap { places: &places, sources: &sources };
    let (gia, lost) = source.gia_of(entry, program).map_err(|why| Failure::data(format!("{why:#}")))?;
    print_lost(&lost);
    Ok(gia::print(&gia, program))
}

fn to_witness(gia: &Gia, program: &mut Program, job: &Job) -> Result<String, Failure> {
    let (places, sources) = (places(job)?, Sources::new());
    let source = SourceMap { places: &places, sources: &sources };
    let (entry_type, content, lost) = match components::described(gia, program) {
        Some((path, values)) => {
            let (segments, lost) = source.waypoints(&path, &values, program);
            ("violation_sequence", Content::Segments(segments), lost)
        }
        None if gia.has(Says::Reachable) => return Err(Failure::data("no `rt` path has inputs")),
        None if gia.has(Says::Candidate) => {
            return Err(Failure::data("the automaton has several candidates, or a candidate with several paths"));
        }
        None => {
            let (items, lost) = source.invariants(gia, program);
            ("invariant_set", Content::Invariants(items), lost)
        }
    };
    print_lost(&lost);
    let width = program.layout.pointer_width;
    Ok(format::text(&[Entry::of_program(entry_type, content, &job.load.files(), width)]))
}

/// Runs tests, and returns the GIA with the paths of those that reach a target. `Err` if the tests cannot be read,
/// there are none, or a test does not fit the program.
fn from_tests(path: &Path, program: &mut Program, job: &Job) -> Result<String, Failure> {
    let targets = targets(program, job)?;
    let tests = imported::read(path)?;
    if tests.is_empty() {
        return Err(Failure::data(format!("{}: there are no tests", path.display())));
    }
    let mut gia = Gia::nothing();
    let mut reach = 0;
    for test in &tests {
        let mut recording = gia::Recording::default();
        let mut given = Given::new(program, test);
        let run = Interpreter::new(program).run(&mut given, engine::replay_limits(REPLAY), &mut recording);
        if let Some(wrong) = given.wrong {
            return Err(Failure::data(format!("{}: {wrong}", path.display())));
        }
        let over = run.taints.iter().any(|&t| program.taints[t].over);
        if targets.are_hit(&recording.test.path, run.outcome, program) && !over {
            let path = recording.test.annotated(program);
            gia.add_path(&path, Says::Reachable, program);
            reach += 1;
        }
    }
    output::print_error(&format!("{reach} of {} reach a target\n", counted(tests.len(), "test")));
    Ok(gia::print(&gia, program))
}

/// Writes the inputs of the paths to `rt` as a test suite into `folder`. `Err` if a file cannot be written.
fn to_tests(gia: &Gia, program: &Program, folder: &Path) -> Result<u8, Failure> {
    std::fs::create_dir_all(folder).map_err(|e| Failure::writing(folder, &e))?;
    let tests = gia.tests(program);
    for (n, test) in (1..).zip(&tests) {
        let is_given = |input: cfa::InputId| matches!(program.inputs[input].kind, cfa::InputKind::Nondet(_));
        let values = test.values.iter().filter(|(_, input, _)| is_given(*input));
        let values: Vec<_> = values.map(|(_, input, value)| (*input, value.clone())).collect();
        let path = folder.join(format!("testcase-{n}.xml"));
        std::fs::write(&path, test_xml(program, &values, true)).map_err(|e| Failure::writing(&path, &e))?;
    }
    output::print(&format!("{} in {}\n", counted(tests.len(), "test"), folder.display()))?;
    Ok(exit::TRUE)
}

/// Checks whether the statements of a GIA are correct (Definition 4), prints the result, and returns the exit code.
fn check(gia: &Gia, program: &mut Program, targets: &Targets, time: Duration) -> Result<u8, Failure> {
    let config = Config::default();
    let reachable = gia::check::reachable(gia, program, targets, &config, &Budget::lasting(time));
    let unreachable = gia::check::unreachable(gia, program, targets, &config, &Budget::lasting(time));
    let checked = [reachable, unreachable];
    let (is_wrong, is_open) = (checked.iter().any(|c| !c.wrong.is_empty()), checked.iter().any(|c| !c.open.is_empty()));
    let shown = checked.iter().flat_map(|c| &c.shown);
    let wrong = checked.iter().flat_map(|c| &c.wrong);
    let open = checked.iter().flat_map(|c| &c.open);
    let mut out = String::new();
    for line in shown.chain(wrong).chain(open) {
        let _ = writeln!(out, "{line}");
    }
    let (verdict, code) = match (is_wrong, is_open) {
        (true, _) => ("WRONG", exit::FALSE),
        (false, true) => ("UNKNOWN", exit::UNKNOWN),
        (false, false) => ("CORRECT", exit::TRUE),
    };
    let _ = writeln!(out, "{verdict}");
    output::print(&out)?;
    Ok(code)
}
