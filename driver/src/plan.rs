//! Which paths of a program are explored, and by whom (`--range`, `--ranged`, `--resume`, `--then`, `--external`, `--gia`, …).

use crate::external::Tool;
use crate::failure::Failure;
use crate::files;
use cfa::Program;
use cooperate::condition::{self, Condition};
use cooperate::gia::Gia;
use cooperate::range::test_case::TestCase;
use cooperate::ranged::{self, Composition};
use cooperate::reduce::{Reducer, reduce_as_far_as_possible};
use cooperate::restrict::Restricted;
use engine::{Analysis, Outcome, Verdict};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Time of the first of two analyses where there is no time limit.
const FIRST: Duration = Duration::from_secs(10);

/// States of a condition that become a program. Each is a copy of code: with 30,000 of them, to go on from a condition took five times as
/// long as to start again, with 3,000 three times.
const MOST_RESTRICTED: usize = 2_000;

/// Which paths are explored, and by whom, as a user asks it. The default is one analysis that explores all paths.
#[derive(Clone, Default, Debug)]
pub struct Cooperation {
    /// Only the paths between two test cases: two files with a comma between, `-` for no bound.
    pub range: Option<String>,
    /// A splitter and an analysis for each range (`SPLITTER: ANALYSIS | ANALYSIS`).
    pub ranged: Option<String>,
    /// A condition: the paths that it covers are not explored.
    pub resume: Option<PathBuf>,
    /// The second analysis, with a reducer (`REDUCER: NAME`) or without.
    pub then: Option<String>,
    /// Another tool in place of a second analysis: its name, or the file that describes it.
    pub external: Option<String>,
    /// Time of the first of two analyses.
    pub first_for: Option<Duration>,
    /// What makes a program of the paths that are left.
    pub reducer: Option<String>,
    /// The verified paths are recorded as a condition for this file, as a picture if its name ends with `.dot`.
    pub save_condition: Option<PathBuf>,
    /// A generalized information exchange automaton to start from.
    pub gia: Option<PathBuf>,
    /// Paths of which the automaton says that they reach no error are not explored.
    pub trust_gia: bool,
    /// What is known at the end is recorded as an automaton.
    pub save_gia: bool,
    /// Component CEGAR, and the format in which its components exchange what they find.
    pub components: Option<Exchange>,
}

/// The format in which components of CEGAR exchange what they find.
#[derive(Clone)]
pub enum Exchange {
    /// Automata as they are (CC-Gia).
    Gia,
    /// Another format (CC-Wit: verification witnesses).
    Translated(Arc<dyn Translate>),
}

/// A format that automata are written in and read from, which may lose something of them.
pub trait Translate: Send + Sync {
    /// The name of the format.
    fn name(&self) -> &'static str;
    /// The automaton that another tool reads of `answer` when this is written in the format. `files` are the C files of the program.
    ///
    /// # Errors
    /// If the format cannot express the automaton.
    fn translate(&self, answer: &Gia, program: &mut Program, files: &[PathBuf]) -> anyhow::Result<Gia>;
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gia => f.write_str("GIA"),
            Self::Translated(format) => f.write_str(format.name()),
        }
    }
}

/// A [`Cooperation`] whose files are read and whose names are known.
#[derive(Default)]
pub struct Plan {
    pub range: Option<[Option<TestCase>; 2]>,
    pub ranged: Option<Composition>,
    pub resumed: Option<(PathBuf, String)>,
    /// Who takes what the first analysis leaves, and how long that one takes.
    pub then: Option<(Second, Duration)>,
    /// What makes a program of the paths that are not covered.
    pub reducer: Reducer,
    /// The file for what was verified.
    pub saved: Option<PathBuf>,
    /// What is known, of which nothing is believed unless the user says so.
    pub gia: Option<(PathBuf, String)>,
    pub trusts_gia: bool,
    /// Whether what is known at the end is wanted.
    pub saves_gia: bool,
    /// Component CEGAR, and what its components exchange.
    pub components: Option<Exchange>,
}

/// Who takes what the first analysis leaves.
pub enum Second {
    Analysis(Analysis),
    External(Box<Tool>),
}

impl Plan {
    /// Reads what is named. `seed` is that of random compositions; `limit`, the time that a run has.
    pub fn new(args: &Cooperation, seed: u64, limit: Option<Duration>) -> Result<Self, Failure> {
        let read = files::read_text;
        let bound = |path: &str| match path {
            "-" => Ok(None),
            path => {
                let test = TestCase::parse(&read(Path::new(path))?);
                test.map(Some).map_err(|e| Failure::data(format!("{path}: {e}")))
            }
        };
        let range = match args.range.as_deref().map(|range| range.split_once(',')) {
            Some(Some((lower, upper))) => Some([bound(lower)?, bound(upper)?]),
            Some(None) => {
                return Err(Failure::usage("--range takes two test cases with a comma between, or - for no bound"));
            }
            None => None,
        };
        let composition = |text: &String| Composition::parse(text, seed).map_err(Failure::usage);
        let resumed = match &args.resume {
            Some(path) => Some((path.clone(), read(path)?)),
            None => None,
        };
        let named = args.then.as_deref().map(|then| then.split_once(':').map_or((None, then), |(r, a)| (Some(r), a)));
        let reducer = match (named.and_then(|(reducer, _)| reducer), &args.reducer) {
            (Some(_), Some(_)) => return Err(Failure::usage("--then and --reducer both name a reducer")),
            (Some(name), _) => reducer_of(name.trim())?,
            (None, Some(name)) => reducer_of(name)?,
            (None, None) => Reducer::Separate,
        };
        let second = match (named, &args.external) {
            (Some((_, name)), _) => {
                let no_such = || Failure::usage(format!("there is no analysis '{}': see --list-analyses", name.trim()));
                Some(Second::Analysis(Analysis::parse(name.trim()).ok_or_else(no_such)?))
            }
            (None, Some(name)) => Some(Second::External(Box::new(Tool::of(name)?.installed()?))),
            (None, None) => None,
        };
        let first = args.first_for.or(limit.map(|t| t / 2)).unwrap_or(FIRST);
        let then = second.map(|second| (second, first));
        if args.first_for.is_some() && then.is_none() {
            return Err(Failure::usage("--first-for is for --then and --external"));
        }
        if args.reducer.is_some() && then.is_none() && args.resume.is_none() {
            return Err(Failure::usage("--reducer is for --then, --external and --resume"));
        }
        let ranged = args.ranged.as_ref().map(composition).transpose()?;
        let gia = match &args.gia {
            Some(path) => Some((path.clone(), read(path)?)),
            None => None,
        };
        let (saved, components) = (args.save_condition.clone(), args.components.clone());
        let (trusts_gia, saves_gia) = (args.trust_gia, args.save_gia);
        Ok(Self { range, ranged, resumed, then, reducer, saved, gia, trusts_gia, saves_gia, components })
    }

    /// Whether one analysis looks at all paths, and keeps to itself what it has seen.
    pub fn is_none(&self) -> bool {
        let Self { range, ranged, resumed, then, reducer: _, saved, gia, trusts_gia: _, saves_gia, components } = self;
        let no_part = range.is_none() && ranged.is_none() && resumed.is_none() && then.is_none() && saved.is_none();
        no_part && gia.is_none() && !saves_gia && components.is_none()
    }

    /// The condition that is gone on from.
    pub fn condition(&self, program: &mut Program) -> Result<Option<Condition>, Failure> {
        let Some((path, text)) = &self.resumed else { return Ok(None) };
        let read = condition::parse(text, program);
        read.map(Some).map_err(|e| Failure::automaton(path, &e))
    }

    /// Whether what is left is wanted at the end.
    pub fn tells(&self) -> bool {
        self.saved.is_some() || self.saves_gia
    }

    /// The program of what a condition leaves.
    pub fn residual(&self, program: &Program, covered: &Condition) -> Restricted {
        reduce_as_far_as_possible(program, &covered.truncated(MOST_RESTRICTED), self.reducer)
    }

    /// Whether there is no verdict because only a range was asked for, which is proved.
    pub fn proves_part(&self, outcome: &Outcome) -> bool {
        self.range.is_some() && matches!(&outcome.verdict, Verdict::Unknown(reason) if reason.text == ranged::WITHIN)
    }
}

/// By its name on the command line.
pub fn reducer_of(name: &str) -> Result<Reducer, Failure> {
    let no_such = || Failure::usage(format!("no reducer '{name}': `proviso reduce --help` lists them"));
    Reducer::from_name(name).ok_or_else(no_such)
}
