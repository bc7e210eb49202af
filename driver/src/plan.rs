//! The division of the paths of a program among analyses (`--range`, `--ranged`, `--resume`, `--then`, `--external`,
//! `--gia`, …).

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

/// The duration of the first of two analyses if there is no time limit.
const FIRST: Duration = Duration::from_secs(10);

/// The maximal number of condition states that become a program. Each state is a copy of code. With 30,000 states,
/// continuing from a condition took five times as long as starting again; with 3,000 it took three times as long.
const MOST_RESTRICTED: usize = 2_000;

/// The user's choice of the explored paths and of the analyses that explore them. By default, one analysis explores all
/// paths.
#[derive(Clone, Default, Debug)]
pub struct Cooperation {
    /// The range of paths between two test cases: two file names separated by a comma. `-` stands for no bound.
    pub range: Option<String>,
    /// A splitter and an analysis for each range (`SPLITTER: ANALYSIS | ANALYSIS`).
    pub ranged: Option<String>,
    /// A condition. The paths that it covers are not explored.
    pub resume: Option<PathBuf>,
    /// The second analysis, with a reducer (`REDUCER: NAME`) or without.
    pub then: Option<String>,
    /// Another tool in place of a second analysis: its name, or the file that describes it.
    pub external: Option<String>,
    /// The duration of the first of two analyses.
    pub first_for: Option<Duration>,
    /// The name of the reducer, which makes a program of the remaining paths.
    pub reducer: Option<String>,
    /// The file for the condition of the verified paths. The condition is written as a graph if the name ends with
    /// `.dot`.
    pub save_condition: Option<PathBuf>,
    /// A generalized information exchange automaton to start from.
    pub gia: Option<PathBuf>,
    /// True if paths are not explored when the automaton says that they reach no error.
    pub trust_gia: bool,
    /// True if the knowledge at the end is recorded as an automaton.
    pub save_gia: bool,
    /// The exchange format of component CEGAR, if component CEGAR is used.
    pub components: Option<Exchange>,
}

/// The format in which components of CEGAR exchange their results.
#[derive(Clone)]
pub enum Exchange {
    /// Automata without translation (CC-Gia).
    Gia,
    /// Automata translated to another format (CC-Wit: verification witnesses).
    Translated(Arc<dyn Translate>),
}

/// A format for automata. A translation to it may lose information.
pub trait Translate: Send + Sync {
    /// Returns the name of the format.
    fn name(&self) -> &'static str;
    /// Returns the automaton that another tool reads after `answer` is written in the format. `files` are the C files
    /// of the program.
    ///
    /// # Errors
    /// `Err` if the format cannot express the automaton.
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

/// A [`Cooperation`] whose files are read and whose names are resolved.
#[derive(Default)]
pub struct Plan {
    /// The bounds of the explored range: two test cases, each `None` for no bound.
    pub range: Option<[Option<TestCase>; 2]>,
    /// A splitter with an analysis for each range.
    pub ranged: Option<Composition>,
    /// The file and the text of the condition to continue from.
    pub resumed: Option<(PathBuf, String)>,
    /// The second analysis for the paths that remain after the first, and the duration of the first.
    pub then: Option<(Second, Duration)>,
    /// The reducer, which makes a program of the paths that are not covered.
    pub reducer: Reducer,
    /// The file for the condition of the verified paths.
    pub saved: Option<PathBuf>,
    /// The file and the text of the automaton to start from. Its claims are not believed unless `trusts_gia` is set.
    pub gia: Option<(PathBuf, String)>,
    /// True if paths are not explored when the automaton says that they reach no error.
    pub trusts_gia: bool,
    /// True if the knowledge at the end is recorded as an automaton.
    pub saves_gia: bool,
    /// The exchange format of component CEGAR, if component CEGAR is used.
    pub components: Option<Exchange>,
}

/// The analysis of the paths that remain after the first.
pub enum Second {
    /// An analysis of the engine.
    Analysis(Analysis),
    /// Another tool.
    External(Box<Tool>),
}

impl Plan {
    /// Reads the files and resolves the names. `seed` is the seed of random compositions. `limit` is the time limit of
    /// the run.
    ///
    /// # Errors
    /// `Err` if a file cannot be read, a name is unknown, or options contradict each other.
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
            (None, Some(name)) => Some(Second::External(Box::new(Tool::find(name)?.installed()?))),
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

    /// Returns true if one analysis explores all paths and its knowledge is not recorded.
    pub fn is_none(&self) -> bool {
        let Self { range, ranged, resumed, then, reducer: _, saved, gia, trusts_gia: _, saves_gia, components } = self;
        let no_part = range.is_none() && ranged.is_none() && resumed.is_none() && then.is_none() && saved.is_none();
        no_part && gia.is_none() && !saves_gia && components.is_none()
    }

    /// Parses the condition to continue from, if there is one.
    ///
    /// # Errors
    /// `Err` if the condition is malformed or does not fit the program.
    pub fn condition(&self, program: &mut Program) -> Result<Option<Condition>, Failure> {
        let Some((path, text)) = &self.resumed else { return Ok(None) };
        let read = condition::parse(text, program);
        read.map(Some).map_err(|e| Failure::automaton(path, &e))
    }

    /// Returns true if the condition or the automaton of the run is recorded at the end.
    pub fn records_paths(&self) -> bool {
        self.saved.is_some() || self.saves_gia
    }

    /// Returns the residual program of the paths that a condition does not cover.
    pub fn residual(&self, program: &Program, covered: &Condition) -> Restricted {
        reduce_as_far_as_possible(program, &covered.truncated(MOST_RESTRICTED), self.reducer)
    }

    /// Returns true if there is no verdict only because the paths outside the range were not requested, and those
    /// within it are proved.
    pub fn proves_part(&self, outcome: &Outcome) -> bool {
        self.range.is_some() && matches!(&outcome.verdict, Verdict::Unknown(reason) if reason.text == ranged::WITHIN)
    }
}

/// Returns the reducer with this name on the command line.
///
/// # Errors
/// `Err` if there is no such reducer.
pub fn reducer_of(name: &str) -> Result<Reducer, Failure> {
    let no_such = || Failure::usage(format!("no reducer '{name}': `proviso reduce --help` lists them"));
    Reducer::from_name(name).ok_or_else(no_such)
}
