//! `proviso split`: generates test cases that divide the paths of a program into ranges.

use crate::args::SplitArgs;
use crate::crash;
use crate::output::{self, Colors};
use crate::test_format::test_xml;
use cooperate::range::split::Splitter;
use driver::failure::{Failure, exit};
use driver::files::Outputs;
use driver::limits::{self, WorkEnd};
use driver::task::Otherwise;
use driver::verify::Verification;
use engine::budget::Budget;
use std::sync::Arc;
use std::time::Instant;

/// Runs the command and returns the exit code.
pub fn run(args: &SplitArgs, colors: Colors) -> u8 {
    attempt(args, colors).unwrap_or_else(|failure| output::failure(&failure, colors))
}

fn attempt(args: &SplitArgs, colors: Colors) -> Result<u8, Failure> {
    let start = Instant::now();
    let options = &args.verify;
    let splitter = |(i, name): (usize, &str)| {
        let seed = options.seed.wrapping_add(i as u64);
        Splitter::parse(name.trim(), seed).ok_or_else(|| {
            let names = Splitter::NAMES.join(", ");
            Failure::usage(format!("there is no splitter '{name}'; splitters are {names}, and lb with another number"))
        })
    };
    let splitters = args.by.split(',').enumerate().map(splitter).collect::<Result<Vec<_>, _>>()?;
    let mut job = options.job(Otherwise::Assertions)?;
    output::warnings(&job.warnings, colors);
    job.load.keeps_output = true;
    let job = Arc::new(job);
    crash::prepare(options.memory());
    let budget = Budget::unlimited();
    let cancel = budget.cancel.clone();
    let config = options.config()?;
    let (outputs, observer) = (Outputs::default(), Arc::new(()));
    let verification =
        Verification { job: &job, config: &config, outputs: &outputs, start, is_answer: false, observer };
    let session = verification.session(budget.clone())?;
    let limits = session.limits;
    let work = move || -> Result<(Vec<String>, usize, Vec<String>, bool), Failure> {
        let (program, _) = session.prepare()?;
        let solvers = &session.config.solvers;
        let test = |splitter: Splitter| {
            let split = splitter.split(&program, solvers, &budget).map_err(|reason| reason.text)?;
            let split = split.ok_or("the program has no loops to bound")?;
            let bound = split.test_case(&program).bound(&program, solvers, &budget).map_err(|reason| reason.text)?;
            Ok((bound, test_xml(&program, &split.values, false)))
        };
        let (mut tests, mut problems, mut is_cut) = (Vec::new(), Vec::new(), false);
        for found in splitters.into_iter().map(test) {
            match found {
                Ok(test) => tests.push(test),
                Err(_) if budget.spent().is_some() => {
                    is_cut = true;
                    break;
                }
                Err(why) => problems.push(why),
            }
        }
        let found = tests.len();
        tests.sort_by(|(a, _), (b, _)| a.compare(b, &program));
        tests.dedup_by(|(a, _), (b, _)| a.compare(b, &program).is_eq());
        problems.dedup();
        Ok((tests.into_iter().map(|(_, xml)| xml).collect(), found, problems, is_cut))
    };
    let supervised = limits::supervise(&limits, &cancel, || {}, work);
    let (tests, found, mut problems, is_cut) = match supervised.end {
        WorkEnd::Done(found) => found?,
        WorkEnd::Panicked(message) => return Err(Failure::new(exit::INTERNAL, format!("internal error: {message}"))),
        WorkEnd::Abandoned => {
            let stop = supervised.stop.map_or_else(|| "memory ran out".into(), |s| s.to_string());
            return Err(Failure::new(exit::UNKNOWN, format!("{stop}: there is no test case")));
        }
    };
    problems.extend(supervised.stop.filter(|_| is_cut).map(|stop| stop.to_string()));
    for why in &problems {
        output::warning(&format!("there is no test case: {why}"), colors);
    }
    if tests.len() < found {
        let ranges = tests.len() + 1;
        output::warning(&format!("splitters find the same path: the program is divided into {ranges} ranges"), colors);
    }
    let mut text = String::new();
    if let Some(folder) = &args.output {
        std::fs::create_dir_all(folder).map_err(|e| Failure::writing(folder, &e))?;
    }
    for (i, xml) in tests.into_iter().enumerate() {
        let Some(folder) = &args.output else {
            text += &xml;
            continue;
        };
        let path = folder.join(format!("bound-{}.xml", i + 1));
        std::fs::write(&path, xml).map_err(|e| Failure::writing(&path, &e))?;
    }
    output::print(&text)?;
    Ok(if problems.is_empty() { exit::TRUE } else { exit::UNKNOWN })
}
