//! `proviso testgen`: tests that cover a program, as a suite for Test-Comp's tools.

mod cotest;
mod goals;
pub mod imported;
mod search;
pub mod suite;

use crate::args::TestgenArgs;
use crate::failure::{Failure, exit};
use crate::files::Outputs;
use crate::job::{Job, Otherwise};
use crate::limits::{self, End, Limits, Stop};
use crate::output::{self, Colors};
use crate::source::Sources;
use crate::{pipeline, verify, witness};
use cfa::Program;
use cooperate::gia::Gia;
use cotest::CoTest;
use engine::budget::Budget;
use goals::Coverage;
use instrument::Property;
use search::{Found, Search, Status};
use serde_json::json;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use suite::Metadata;

/// How long the search takes where nobody says.
const DEFAULT_TIME: Duration = Duration::from_secs(60);
/// Uncovered goals that are listed.
const LISTED: usize = 20;
/// What is left of the time limit for writing.
const WRITING: Duration = Duration::from_millis(300);

/// Runs the command; the exit code.
pub fn run(args: &TestgenArgs, colors: Colors) -> u8 {
    attempt(args, colors).unwrap_or_else(|failure| output::failure(&failure, colors))
}

fn attempt(args: &TestgenArgs, colors: Colors) -> Result<u8, Failure> {
    let start = Instant::now();
    let job = Job::new(&args.verify, Otherwise::Assertions)?;
    let coverage = coverage(args, &job)?;
    let mut outputs = Outputs::new([("--lcov", args.lcov.as_ref()), ("--json", args.verify.json.as_ref())]);
    outputs.check(args.verify.files.iter().chain(&job.files_read).map(std::path::PathBuf::as_path))?;
    let config = verify::config(&args.verify)?;
    let memory = args.verify.memory_limit.map_or_else(limits::default_memory, |mb| mb.saturating_mul(1 << 20));
    let time = args.verify.timeout.unwrap_or(DEFAULT_TIME);
    let limits = Limits { timeout: Some(time), memory, start, grace: limits::GRACE };
    limits::limit_address_space(memory);

    let budget = Budget::lasting(time.saturating_sub(WRITING));
    let cancel = budget.cancel.clone();
    let shared = Arc::new(Mutex::new(Found::default()));
    let loaded: Arc<Mutex<Option<Arc<Program>>>> = Arc::default();
    let cooperates = args.cotest;
    let worker = {
        let (shared, loaded, load, coverage) = (shared.clone(), loaded.clone(), job.load.clone(), coverage.clone());
        move || -> Result<(), Failure> {
            let program = Arc::new(pipeline::load(&load, &budget)?);
            *loaded.lock().unwrap_or_else(PoisonError::into_inner) = Some(program.clone());
            let goals = goals::goals(&program, &coverage);
            if cooperates {
                let gia = Gia::nothing();
                let program = (*program).clone();
                CoTest { program, goals: &goals, config, budget, found: &shared, gia }.run();
            } else {
                Search { program: &program, goals: &goals, config, budget, found: &shared }.run();
            }
            Ok(())
        }
    };
    let supervised = limits::supervise(&limits, &cancel, || {}, worker);
    match supervised.end {
        End::Done(Err(failure)) if supervised.stop.is_none() => return Err(failure),
        // What was found before stands.
        End::Panicked(message) => output::internal_error(&format!("internal error: {message}")),
        _ => {}
    }
    let Some(program) = loaded.lock().unwrap_or_else(PoisonError::into_inner).take() else {
        return Err(Failure::data("the time or memory was spent before the program was loaded"));
    };
    let mut found = shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
    found.drop_superfluous();
    let goals = goals::goals(&program, &coverage);
    let suite = Suite { program: &program, goals: &goals, found: &found, coverage: &coverage, job: &job };
    outputs.spare(program.files.values().map(|f| Path::new(&f.path)))?;
    suite.write(&args.output, args.ktest)?;
    let sources = Sources::new();
    if let Some(path) = &args.lcov {
        outputs.put(path, suite::lcov(&program, &found.counts, &sources));
    }
    let stopped = supervised.stop.map(|s| s.to_string());
    if let Some(path) = &args.verify.json {
        outputs.put(path, format!("{:#}\n", suite.json(stopped.as_deref(), start, &sources)));
    }
    outputs.commit()?;
    output::print(&suite.summary(&args.output, &sources))?;
    if let Some(stop) = supervised.stop.filter(|s| !matches!(s, Stop::Timeout(_))) {
        output::warning(&format!("{stop}: the suite has what was found before"), colors);
    }
    Ok(exit::TRUE)
}

/// What is asked: by `--coverage`, else by the property.
fn coverage(args: &TestgenArgs, job: &Job) -> Result<Coverage, Failure> {
    use crate::args::CoverageArg;
    let calls = || Coverage::Calls(job.error_functions.clone());
    let query = job.properties.iter().find_map(|p| match p {
        Property::Coverage { query } => Some(query.as_str()),
        _ => None,
    });
    match (args.coverage, query) {
        (Some(CoverageArg::Branches), _) => Ok(Coverage::Branches),
        (Some(CoverageArg::ErrorCall), _) => Ok(calls()),
        (None, None | Some("")) => Ok(Coverage::Branches),
        (None, Some(query)) => match query.split_once("@CALL(") {
            Some((_, rest)) => Ok(Coverage::Calls(vec![rest.split(')').next().unwrap_or_default().trim().to_owned()])),
            None if ["@DECISIONEDGE", "@CONDITIONEDGE", "@BASICBLOCKENTRY"].iter().any(|q| query.contains(q)) => {
                Ok(Coverage::Branches)
            }
            None => Err(Failure::data(format!("the coverage '{query}' is not supported"))),
        },
    }
}

/// What was found, of a program.
struct Suite<'a> {
    program: &'a Program,
    goals: &'a [cfa::EdgeId],
    found: &'a Found,
    coverage: &'a Coverage,
    job: &'a Job,
}

impl Suite<'_> {
    fn count(&self, status: Status) -> usize {
        self.found.status.iter().filter(|s| **s == status).count()
    }

    /// Writes `metadata.xml` and `testcase-N.xml`, on request also as `.ktest`; tests of a suite that was there before go.
    fn write(&self, folder: &Path, as_ktest: bool) -> Result<(), Failure> {
        let writing = |path: &Path| {
            let path = path.to_owned();
            move |error: std::io::Error| Failure::writing(&path, &error)
        };
        std::fs::create_dir_all(folder).map_err(writing(folder))?;
        for entry in std::fs::read_dir(folder).map_err(writing(folder))?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with("testcase-") && (name.ends_with(".xml") || name.ends_with(".ktest")) {
                std::fs::remove_file(entry.path()).map_err(writing(&entry.path()))?;
            }
        }
        let put = |name: &str, content: &[u8]| {
            let path = folder.join(name);
            std::fs::write(&path, content).map_err(writing(&path))
        };
        put("metadata.xml", self.metadata()?.xml().as_bytes())?;
        let program = &self.job.load.inputs[0].display().to_string();
        let covers_error = matches!(self.coverage, Coverage::Calls(_));
        for (i, test) in self.found.tests.iter().enumerate() {
            let covers = covers_error && !test.covers.is_empty();
            let number = i + 1;
            put(&format!("testcase-{number}.xml"), suite::test_xml(self.program, &test.values, covers).as_bytes())?;
            if as_ktest {
                put(&format!("testcase-{number}.ktest"), &suite::ktest(self.program, program, &test.values))?;
            }
        }
        Ok(())
    }

    fn metadata(&self) -> Result<Metadata, Failure> {
        let file = &self.job.load.inputs[0];
        let bytes = std::fs::read(file).map_err(|e| Failure::reading(file, &e))?;
        let entry = &self.job.load.entry;
        let query = match self.coverage {
            Coverage::Branches => "COVER EDGES(@DECISIONEDGE)".to_owned(),
            Coverage::Calls(names) => {
                format!("COVER EDGES(@CALL({}))", names.first().map_or("reach_error", String::as_str))
            }
        };
        Ok(Metadata {
            specification: format!("COVER( init({entry}()), FQL({query}) )"),
            program: file.display().to_string(),
            hash: witness::digest(&bytes),
            entry: entry.clone(),
            bits: self.program.layout.pointer_width,
            time: witness::now(),
        })
    }

    fn summary(&self, folder: &Path, sources: &Sources) -> String {
        let (covered, unreachable) = (self.count(Status::Covered), self.count(Status::Unreachable));
        let open = self.goals.len().max(self.found.status.len()) - covered - unreachable;
        let mut out = String::new();
        let rows = suite::uncovered(self.program, self.goals, &self.found.status, sources);
        for row in rows.iter().take(LISTED) {
            out += &format!("{row}\n");
        }
        if rows.len() > LISTED {
            out += &format!("… and {} more\n", rows.len() - LISTED);
        }
        let what = match self.coverage {
            Coverage::Branches => "branches",
            Coverage::Calls(_) => "error calls",
        };
        out + &format!(
            "{} tests in {}: {covered} of {} {what} covered, {unreachable} proved unreachable, {open} open\n",
            self.found.tests.len(),
            folder.display(),
            self.goals.len(),
        )
    }

    fn json(&self, stopped: Option<&str>, start: Instant, sources: &Sources) -> serde_json::Value {
        let goals = self.goals.iter().zip(&self.found.status).map(|(&goal, status)| {
            let edge = &self.program.edges[goal];
            let spot = edge.place.and_then(|p| sources.spot(self.program, p));
            json!({
                "location": crate::report::spot_json(spot.as_ref()),
                "condition": cfa::text::c_operation(self.program, &edge.op),
                "status": match status {
                    Status::Open => "open",
                    Status::Covered => "covered",
                    Status::Unreachable => "unreachable",
                },
            })
        });
        let goals: Vec<_> = goals.collect();
        json!({
            "schema": "proviso-testgen-1",
            "tool": {"name": "proviso", "version": env!("CARGO_PKG_VERSION")},
            "tests": self.found.tests.len(),
            "covered": self.count(Status::Covered),
            "unreachable": self.count(Status::Unreachable),
            "goals": goals,
            "stopped": stopped,
            "seconds": start.elapsed().as_secs_f64(),
        })
    }
}
