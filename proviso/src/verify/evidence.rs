//! The files that a verification writes besides its verdict.
//!
//! No failure here can change the verdict. Each file is generated and written separately, under a time limit. A
//! warning names each file that is not written and the reason.

use crate::args::VerifyArgs;
use crate::html;
use crate::output::{self, Colors};
use crate::pixel_tree::{Format, PixelTree};
use crate::sarif;
use crate::{harness, json, witness};
use driver::evidence::report_data::ReportData;
use driver::evidence::reproduction::Reproduction;
use driver::files;
use driver::job::Job;
use driver::limits::{self, Limits, WorkEnd};
use driver::panics;
use driver::report::{Answer, Report};
use driver::source::Sources;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The minimal time to generate and write the files, even if the time limit of the run is exceeded.
const WRITING: Duration = Duration::from_secs(10);

/// The results of a run from which the files are generated.
pub struct Evidence {
    /// The report.
    pub report: Arc<Report>,
    /// The data for the harness, if there is a counterexample with a trace.
    pub reproduction: Option<Reproduction>,
    /// The condition automaton as text, if it is to be saved.
    pub condition: Option<String>,
    /// The GIA as text, if it is to be saved.
    pub gia: Option<String>,
    /// The facts about the program for the HTML report.
    pub report_data: ReportData,
    /// The graph of the reached states; empty if none was kept.
    pub graph: Vec<engine::arg::ArgNode>,
    /// The command line.
    pub args: VerifyArgs,
    /// The job of the run.
    pub job: Arc<Job>,
    /// The use of colours.
    pub colors: Colors,
}

/// An output file: its option, its path, and the function that generates its content.
struct Output {
    option: &'static str,
    path: PathBuf,
    make: fn(&Evidence, &Path) -> OutputContent,
}

/// The content of an output file.
enum OutputContent {
    /// The bytes of the file.
    File(Vec<u8>),
    /// There is nothing to write, and the user need not know the reason.
    Nothing,
    /// There is nothing to write, for this reason.
    Missing(String),
}

impl Evidence {
    /// Writes all files that the options name, except JSON on standard output. `start` is the start of the run.
    pub fn write(self, start: Instant) {
        let colors = self.colors;
        let pending: Arc<Mutex<VecDeque<Output>>> = Arc::new(Mutex::new(self.outputs().into()));
        if locked(&pending).is_empty() {
            return;
        }
        let limits = Limits {
            timeout: self.time(start),
            is_default: false,
            processor: None,
            memory: u64::MAX / 4,
            start: Instant::now(),
            grace: limits::GRACE,
        };
        let worker = {
            let pending = pending.clone();
            move || {
                // An output remains in the queue until it is written.
                let next = || locked(&pending).front().map(|o| (o.option, o.path.clone(), o.make));
                while let Some((option, path, make)) = next() {
                    if let Err(why) = self.write_one(&path, make) {
                        unwritten(option, &path, &why, colors);
                    }
                    locked(&pending).pop_front();
                }
            }
        };
        let supervised = limits::supervise(&limits, &Arc::default(), || {}, worker);
        let why = match (supervised.end, supervised.stop) {
            (WorkEnd::Done(()), _) => return,
            (WorkEnd::Panicked(message), _) => format!("internal error: {message}"),
            (WorkEnd::Abandoned, Some(stop)) => format!("{stop} while it was written"),
            (WorkEnd::Abandoned, None) => "memory ran out".into(),
        };
        for output in locked(&pending).drain(..) {
            unwritten(output.option, &output.path, &why, colors);
        }
    }

    /// Returns the time to write the files: the rest of the time limit, but at least [`WRITING`]. `None` if there is
    /// no limit.
    fn time(&self, start: Instant) -> Option<Duration> {
        match (limits::wall_time(self.args.timeout, None), self.args.cpu_limit) {
            (Some(limit), _) => Some(limit.saturating_sub(start.elapsed()).max(WRITING)),
            (None, Some(limit)) => Some(limit.max(WRITING)),
            (None, None) => None,
        }
    }

    fn outputs(&self) -> Vec<Output> {
        let args = &self.args;
        type Making = fn(&Evidence, &Path) -> OutputContent;
        let all: [(&'static str, Option<&PathBuf>, Making); 9] = [
            ("--harness", args.harness.as_ref(), Self::harness),
            ("--witness", args.witness.as_ref(), |e, _| e.witness(witness::Format::Yaml)),
            ("--graphml", args.graphml.as_ref(), |e, _| e.witness(witness::Format::GraphMl)),
            ("--save-condition", args.save_condition.as_ref(), Self::condition),
            ("--save-gia", args.knowledge.save_gia.as_ref(), Self::gia),
            ("--json", args.json.as_ref().filter(|path| *path != Path::new(files::STDOUT)), |e, _| {
                OutputContent::File(format!("{:#}\n", json::report(&e.report)).into())
            }),
            ("--sarif", args.sarif.as_ref(), |e, _| {
                OutputContent::File(format!("{:#}\n", sarif::log(&e.report, &Sources::new())).into())
            }),
            ("--report", args.report.as_ref(), |e, _| {
                OutputContent::File(html::page(&e.report, &e.report_data, &e.graph, &Sources::new()).into())
            }),
            ("--pixel-tree", args.pixel_tree.as_ref(), Self::pixel_tree),
        ];
        let named = all.into_iter().filter_map(|(option, path, make)| Some((option, path?.clone(), make)));
        named.map(|(option, path, make)| Output { option, path, make }).collect()
    }

    fn write_one(&self, path: &Path, make: fn(&Self, &Path) -> OutputContent) -> Result<(), String> {
        match panics::guarded(|| make(self, path))? {
            OutputContent::File(bytes) => files::write(path, bytes).map_err(|failure| failure.to_string()),
            OutputContent::Nothing => {
                self.remove_old(path);
                Ok(())
            }
            OutputContent::Missing(why) => {
                output::warning(&why, self.colors);
                self.remove_old(path);
                Ok(())
            }
        }
    }

    /// Removes the file of an earlier run, because it does not belong to this verdict.
    fn remove_old(&self, path: &Path) {
        let is_file = std::fs::symlink_metadata(path).is_ok_and(|m| m.is_file());
        if is_file && std::fs::remove_file(path).is_ok() {
            let verdict = self.report.verdict_line();
            let text = format!("{} of an earlier run is removed: the verdict is now {verdict}", path.display());
            output::note(&text, self.colors);
        }
    }

    fn harness(&self, path: &Path) -> OutputContent {
        match &self.reproduction {
            Some(reproduction) => OutputContent::File(harness::named(&harness::compose(reproduction), path).into()),
            None if matches!(self.report.answer, Answer::False(_)) => {
                OutputContent::Missing("there is no harness: no time was left for the path to the violation".into())
            }
            None => OutputContent::Nothing,
        }
    }

    fn gia(&self, _: &Path) -> OutputContent {
        saved(self.gia.as_ref(), "GIA")
    }

    fn condition(&self, _: &Path) -> OutputContent {
        saved(self.condition.as_ref(), "condition")
    }

    fn pixel_tree(&self, path: &Path) -> OutputContent {
        let format = match Format::from_path(path) {
            Ok(format) => format,
            Err(failure) => return OutputContent::Missing(failure.to_string()),
        };
        if self.graph.is_empty() {
            let text = "the picture is empty: the analyses that ran store no graph of the reached states";
            output::warning(text, self.colors);
        }
        OutputContent::File(PixelTree::of_states(&self.graph).draw(format))
    }

    fn witness(&self, format: witness::Format) -> OutputContent {
        let report = &self.report;
        if let Answer::False(violation) = &report.answer
            && self.job.is_exhaustive
            && violation.property != "unreach-call"
        {
            return OutputContent::Missing(
                "there is no witness: the format cannot express this check; use --property".into(),
            );
        }
        match witness::write(report, &witness::Task::from_job(&self.job), format) {
            Ok(Some(text)) => OutputContent::File(text.into()),
            Ok(None) if matches!(report.answer, Answer::Unknown { .. }) => OutputContent::Nothing,
            Ok(None) => {
                let may_leave_loop = matches!(&report.answer, Answer::False(violation) if violation.may_leave_loop);
                let why = match report.properties.iter().any(|p| p == "termination") {
                    true if may_leave_loop => {
                        "the execution may leave the loop of the witness (and be infinite elsewhere)"
                    }
                    true => "the format cannot express it (`docs/evaluation/evidence.md`)",
                    false => "no time was left for the path to the violation",
                };
                OutputContent::Missing(format!("there is no witness: {why}"))
            }
            Err(error) => OutputContent::Missing(format!("there is no witness: {error}")),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn saved(text: Option<&String>, what: &str) -> OutputContent {
    match text {
        Some(text) => OutputContent::File(text.clone().into()),
        None => OutputContent::Missing(format!("there is no {what}: the analysis did not stop in time")),
    }
}

fn unwritten(option: &str, path: &Path, why: &str, colors: Colors) {
    output::unwritten(&format!("{option} {} is not written: {why}", path.display()), colors);
}
