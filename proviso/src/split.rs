//! `proviso split`: test cases at which to divide the paths of a program.

use crate::args::SplitArgs;
use crate::failure::{Failure, exit};
use crate::files::Outputs;
use crate::job::{Job, Otherwise};
use crate::limits::{self, End, Limits};
use crate::output::{self, Colors};
use crate::pipeline::Shared;
use crate::testgen::suite::test_xml;
use crate::verify;
use cooperate::range::split::Splitter;
use engine::budget::Budget;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Runs the command; the exit code.
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
    let job = Arc::new(Job::new(options, Otherwise::Assertions)?);
    let memory = options.memory_limit.map_or_else(limits::default_memory, |mb| mb.saturating_mul(1 << 20));
    let limits = Limits { timeout: options.timeout, memory, start, grace: limits::GRACE };
    limits::limit_address_space(memory);
    let budget = Budget::unlimited();
    let cancel = budget.cancel.clone();
    let shared = Arc::new(Mutex::new(Shared::default()));
    let pipeline = verify::pipeline(&job, options, &Outputs::new([]), limits, &shared, budget.clone())?;
    let work = move || -> Result<Vec<Result<String, String>>, Failure> {
        let (program, _) = pipeline.prepare()?;
        let test = |splitter: Splitter| match splitter.split(&program, &pipeline.config.solvers, &budget) {
            Ok(Some(split)) => Ok(test_xml(&program, &split.values, false)),
            Ok(None) => Err("the program has no loops to bound".to_owned()),
            Err(reason) => Err(reason.text),
        };
        Ok(splitters.into_iter().map(test).collect())
    };
    let supervised = limits::supervise(&limits, &cancel, || {}, work);
    let tests = match supervised.end {
        End::Done(tests) => tests?,
        End::Panicked(message) => return Err(Failure::new(exit::INTERNAL, format!("internal error: {message}"))),
        End::Abandoned => Vec::new(),
    };
    let (mut text, mut code) = (String::new(), exit::TRUE);
    if tests.is_empty() {
        let stop = supervised.stop.map_or_else(|| "memory ran out".into(), |s| s.to_string());
        return Err(Failure::new(exit::UNKNOWN, format!("{stop}: there is no test case")));
    }
    if let Some(folder) = &args.output {
        std::fs::create_dir_all(folder).map_err(|e| Failure::writing(folder, &e))?;
    }
    for (i, test) in tests.into_iter().enumerate() {
        match (test, &args.output) {
            (Ok(xml), None) => text += &xml,
            (Ok(xml), Some(folder)) => {
                let path = folder.join(format!("bound-{}.xml", i + 1));
                std::fs::write(&path, xml).map_err(|e| Failure::writing(&path, &e))?;
            }
            (Err(why), _) => {
                output::warning(&format!("there is no test case: {why}"), colors);
                code = exit::UNKNOWN;
            }
        }
    }
    output::print(&text)?;
    Ok(code)
}
