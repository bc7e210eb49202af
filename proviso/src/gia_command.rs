//! `proviso gia`: generalized information exchange automata, shown, checked, combined, and from and to other artifacts.

use crate::args::{GiaArgs, GiaCommand, GiaFormat};
use crate::failure::{Failure, exit};
use crate::files::{Outputs, STDOUT};
use crate::output::{self, Colors};
use crate::reduce_command::load;
use cfa::interp::{Inputs, Interpreter};
use cfa::{EdgeId, Op, Program};
use cooperate::condition::{self, Condition};
use cooperate::gia::{self, Coverage, Gia, Says};
use cooperate::reduce::{Reducer, reduce};
use engine::budget::Budget;
use engine::{Config, Verdict};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the check of a GIA may take.
const DEFAULT_TIME: Duration = Duration::from_secs(60);
/// What one replay may take.
const REPLAY: Duration = Duration::from_secs(20);

/// Runs the command; the exit code.
pub fn run(args: &GiaArgs, colors: Colors) -> u8 {
    attempt(args).unwrap_or_else(|failure| output::failure(&failure, colors))
}

fn attempt(args: &GiaArgs) -> Result<u8, Failure> {
    let stdout = PathBuf::from(STDOUT);
    let (subject, output) = match &args.command {
        GiaCommand::Check { subject, .. } => (subject, None),
        GiaCommand::Show { subject, output, .. }
        | GiaCommand::New { subject, output }
        | GiaCommand::Combine { subject, output, .. }
        | GiaCommand::FromCondition { subject, output, .. }
        | GiaCommand::ToCondition { subject, output, .. } => (subject, Some(output.as_ref().unwrap_or(&stdout))),
    };
    let mut outputs = Outputs::new([("--output", output)]);
    let (mut program, _job) = load(&subject.files, &subject.input, subject.property.as_deref(), &outputs)?;
    let text = match &args.command {
        GiaCommand::Check { gia, timeout, .. } => {
            let gia = read(gia, &mut program)?;
            return check(&gia, &program, timeout.unwrap_or(DEFAULT_TIME));
        }
        GiaCommand::New { .. } => gia::print(&Gia::nothing(), &program),
        GiaCommand::Show { gia, format, .. } => {
            let gia = read(gia, &mut program)?;
            match format {
                GiaFormat::Text => gia::print(&gia, &program),
                GiaFormat::Dot => gia::dot(&gia, &program),
                GiaFormat::Json => format!("{:#}\n", gia::json(&gia, &program)),
            }
        }
        GiaCommand::Combine { first, second, .. } => {
            let (first, second) = (read(first, &mut program)?, read(second, &mut program)?);
            let both = gia::combine(&first, &second).map_err(|e| Failure::data(e.to_string()))?;
            gia::print(&both, &program)
        }
        GiaCommand::FromCondition { condition, .. } => {
            gia::print(&Gia::of_condition(&read_condition(condition, &mut program)?), &program)
        }
        GiaCommand::ToCondition { gia, .. } => {
            let gia = read(gia, &mut program)?;
            let condition = gia.condition(&mut program, Says::Unreachable);
            condition::print(&condition, &program)
        }
    };
    outputs.put(output.expect("all but checks write something"), text);
    outputs.commit()?;
    Ok(exit::TRUE)
}

/// A GIA of the program, from a file.
pub fn read(path: &Path, program: &mut Program) -> Result<Gia, Failure> {
    let text = std::fs::read_to_string(path).map_err(|e| Failure::reading(path, &e))?;
    gia::parse(&text, program).map_err(|e| Failure::data(format!("{}:{e}", path.display())))
}

pub fn read_condition(path: &Path, program: &mut Program) -> Result<Condition, Failure> {
    let text = std::fs::read_to_string(path).map_err(|e| Failure::reading(path, &e))?;
    condition::parse(&text, program).map_err(|e| Failure::data(format!("{}:{e}", path.display())))
}

/// Whether what a GIA says is so (Definition 4).
fn check(gia: &Gia, program: &Program, time: Duration) -> Result<u8, Failure> {
    let mut out = String::new();
    let (mut wrong, mut open) = (Vec::new(), Vec::new());
    reachable(gia, program, &mut wrong, &mut open, &mut out);
    if gia.has(Says::Unreachable) {
        unreachable(gia, program, time, &mut wrong, &mut open, &mut out)?;
    }
    for reason in wrong.iter().chain(&open) {
        let _ = writeln!(out, "{reason}");
    }
    let (verdict, code) = match (wrong.is_empty(), open.is_empty()) {
        (false, _) => ("WRONG", exit::FALSE),
        (true, true) => ("CORRECT", exit::TRUE),
        (true, false) => ("UNKNOWN", exit::UNKNOWN),
    };
    let _ = writeln!(out, "{verdict}");
    output::print(&out)?;
    Ok(code)
}

/// Replays the paths to `F_rt`.
fn reachable(gia: &Gia, program: &Program, wrong: &mut Vec<String>, open: &mut Vec<String>, out: &mut String) {
    if !gia.has(Says::Reachable) {
        return;
    }
    let interpreter = Interpreter::new(program);
    let tests = gia.tests(program);
    let mut replayed = 0;
    for (n, test) in (1..).zip(&tests) {
        let inputs =
            Inputs { values: test.values.iter().map(|(_, _, value)| value.clone()).collect(), ..Inputs::default() };
        let mut coverage = Coverage::new(gia);
        let run = interpreter.run(&mut inputs.source(), engine::replay_limits(REPLAY), &mut coverage);
        let over = run.taints.iter().any(|&t| program.taints[t].over);
        match run.outcome.error(program) {
            _ if !coverage.is_covered(Says::Reachable) => {
                open.push(format!("rt: the run of path {n} takes another path: not all of its inputs are given"));
            }
            Some(_) if over => open.push(format!("rt: path {n} passes what is not modelled exactly")),
            Some(_) => replayed += 1,
            None => wrong.push(format!("rt: path {n} is feasible, but reaches no target: {:?}", run.outcome)),
        }
    }
    if tests.is_empty() {
        open.push("rt: no path to rt says which inputs lead there".to_owned());
    }
    let _ = writeln!(out, "rt: {replayed} of {} paths replayed to a target", tests.len());
}

/// Proves that the paths to `F_ut` reach no target. Conditions and invariants are left aside, so more is asked than is said.
fn unreachable(
    gia: &Gia,
    program: &Program,
    time: Duration,
    wrong: &mut Vec<String>,
    open: &mut Vec<String>,
    out: &mut String,
) -> Result<(), Failure> {
    let is_error = |edge: &cfa::Edge| matches!(edge.op, Op::Error(_));
    let errors: Vec<EdgeId> = program.edges.iter().filter(|(_, edge)| is_error(edge)).map(|(id, _)| id).collect();
    let others = gia.beside(Says::Unreachable, &errors);
    let part = reduce(program, &others, Reducer::Separate).map_err(|e| Failure::data(e.to_string()))?;
    let replay =
        |inputs: &Inputs, error| engine::replay(program, inputs, error, REPLAY).map(|path| (inputs.clone(), path));
    let outcome = engine::verify(&part.program, &Config::default(), &Budget::lasting(time), &replay, &|_| {});
    match outcome.verdict {
        Verdict::True => {
            let _ = writeln!(out, "ut: proved: no path that may be ut reaches a target");
        }
        Verdict::Unknown(reason) => open.push(format!("ut: not proved: {}", reason.text)),
        Verdict::False(found) => {
            let mut coverage = Coverage::new(gia);
            let run =
                Interpreter::new(program).run(&mut found.inputs.source(), engine::replay_limits(REPLAY), &mut coverage);
            if coverage.is_covered(Says::Unreachable) {
                let what = run.outcome.error(program).map(|(error, edge)| described(program, error, edge));
                wrong.push(format!("ut: a path that is ut-covered reaches a target: {}", what.unwrap_or_default()));
            } else {
                open.push("ut: not proved: beside conditions and invariants there are paths to a target".to_owned());
            }
        }
    }
    Ok(())
}

fn described(program: &Program, error: cfa::ErrorId, edge: EdgeId) -> String {
    let info = &program.errors[error];
    let place = program.edges[edge].place.or(info.place).map(|p| program.places[p]);
    let spot = place.map_or_else(String::new, |p| format!(" ({}:{})", program.files[p.file].path, p.line));
    debug_assert!(matches!(program.edges[edge].op, Op::Error(_)) || program.edges[edge].fault.is_some());
    format!("{}{spot}", info.message)
}
