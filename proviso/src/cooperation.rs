//! Parts of a program's paths: ranges, what conditions leave, and who looks at them (`--range`, `--ranged`, `--resume`, `--then`,
//! `--save-condition`).

mod asked;
mod ranges;

use crate::args::VerifyArgs;
use crate::external::{self, Tool};
use crate::failure::Failure;
use crate::files;
use crate::gia_command::cegar::Exchange;
use crate::knowledge::Known;
use crate::pipeline::{Pipeline, REPLAY, others};
use crate::report::PartReport;
use asked::Asked;
use cfa::{CallGraph, EdgeId, FuncId, Id, Op, Program};
use cooperate::condition::{self, Condition};
use cooperate::gia::{Gia, Says};
use cooperate::range::test_case::TestCase;
use cooperate::ranged::{self, Composition};
use cooperate::reduce::{Reducer, reduce_as_far_as_possible};
use cooperate::restrict::Restricted;
use engine::budget::Budget;
use engine::{Analysis, Config, Outcome, Reason, Verdict};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a worker that is told to stop has to say what it has done: on a busy machine that is not a second, and all would be lost.
pub const GRACE: Duration = Duration::from_secs(30);
/// What of a time limit is kept for that, at most a tenth.
const TELLING: Duration = Duration::from_secs(1);
/// What the first of two analyses takes where there is no time limit.
const FIRST: Duration = Duration::from_secs(10);

/// States of a condition that become a program. Each is a copy of code: with 30,000 of them, to go on from a condition took five times as
/// long as to start again, with 3,000 three times.
const MOST_RESTRICTED: usize = 2_000;

/// Which part of the paths is looked at, and by whom.
#[derive(Default)]
pub struct Cooperation {
    range: Option<[Option<TestCase>; 2]>,
    ranged: Option<Composition>,
    resumed: Option<(PathBuf, String)>,
    /// Who takes what the first analysis leaves, and how long that one takes.
    then: Option<(Second, Duration)>,
    /// What makes a program of the paths that are not covered.
    reducer: Reducer,
    /// The file for what was verified.
    saved: Option<PathBuf>,
    /// What is known, of which nothing is believed unless the user says so.
    pub gia: Option<(PathBuf, String)>,
    pub trusts_gia: bool,
    /// Whether what is known at the end is wanted.
    pub saves_gia: bool,
    /// Component CEGAR, and what its components exchange.
    components: Option<Exchange>,
}

/// Who takes what the first analysis leaves.
enum Second {
    Analysis(Analysis),
    External(Box<Tool>),
}

impl Cooperation {
    pub fn of(args: &VerifyArgs) -> Result<Self, Failure> {
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
        let composition = |text: &String| Composition::parse(text, args.seed).map_err(Failure::usage);
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
        let limit = args.timeout.into_iter().chain(args.cpu_limit).min();
        let first = args.first_for.or(limit.map(|t| t / 2)).unwrap_or(FIRST);
        let then = second.map(|second| (second, first));
        if args.first_for.is_some() && then.is_none() {
            return Err(Failure::usage("--first-for is for --then and --external"));
        }
        if args.reducer.is_some() && then.is_none() && args.resume.is_none() {
            return Err(Failure::usage("--reducer is for --then, --external and --resume"));
        }
        let ranged = args.ranged.as_ref().map(composition).transpose()?;
        let k = &args.knowledge;
        let gia = match &k.gia {
            Some(path) => Some((path.clone(), read(path)?)),
            None => None,
        };
        let components = match (k.cc_gia, k.cc_wit) {
            (true, _) => Some(Exchange::Gia),
            (_, true) => Some(Exchange::Witnesses),
            _ => None,
        };
        let (saved, saves_gia) = (args.save_condition.clone(), k.save_gia.is_some());
        Ok(Self { range, ranged, resumed, then, reducer, saved, gia, trusts_gia: k.trust_gia, saves_gia, components })
    }

    /// The options that ask for parts of the paths.
    pub fn options(args: &VerifyArgs) -> Vec<&'static str> {
        let given = [
            ("--range", args.range.is_some()),
            ("--ranged", args.ranged.is_some()),
            ("--resume", args.resume.is_some()),
            ("--then", args.then.is_some()),
            ("--external", args.external.is_some()),
            ("--save-condition", args.save_condition.is_some()),
            ("--gia", args.knowledge.gia.is_some()),
            ("--save-gia", args.knowledge.save_gia.is_some()),
            ("--cc-gia", args.knowledge.cc_gia),
            ("--cc-wit", args.knowledge.cc_wit),
        ];
        given.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect()
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
    fn residual(&self, program: &Program, covered: &Condition) -> Restricted {
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

impl Pipeline {
    /// Verifies the part of the paths that was asked for.
    pub fn cooperate(&self, program: &Program, known: Known) -> Outcome {
        if let Some(exchange) = self.cooperation.components {
            return self.component_cegar(program, exchange, known.gia.as_ref());
        }
        let Cooperation { range, ranged, then, .. } = &*self.cooperation;
        if range.is_some() || ranged.is_some() {
            // All there is if the worker does not come back in time.
            self.save(program, &Condition::nothing());
        }
        if let Some(bounds) = range {
            return self.range(program, bounds);
        }
        if let Some(composition) = ranged {
            return self.ranged(program, composition);
        }
        if let Some((path, _)) = &self.cooperation.resumed {
            let assumption = format!("the paths that {} covers are verified", path.display());
            self.shared().assumptions.push(assumption);
        }
        let budget = self.time_to_tell();
        let gia = known.gia;
        let mut covered = known.covered.unwrap_or_else(Condition::nothing);
        // All there is if the worker does not come back in time.
        self.save(program, &covered);
        self.tell_given(program, gia.as_ref());
        if let (Some((path, _)), Some(gia)) = (&self.cooperation.gia, &gia) {
            let name = path.display().to_string();
            if self.cooperation.trusts_gia && gia.has(Says::Unreachable) {
                let assumption = format!("the paths that {name} says are ut reach no error");
                self.shared().assumptions.push(assumption);
            }
            if let Some(outcome) = self.look_at(program, gia, &name) {
                self.save_after(program, &outcome, &covered, &[], Some(gia));
                return outcome;
            }
        }
        let gia = gia.as_ref();
        let mut config = self.config.clone();
        if let Some((second, time)) = then {
            if !time.is_zero() {
                let begin = Instant::now();
                // The effort of a budget is that of one thread.
                let is_effort = self.limits.processor.is_some() && config.jobs == 1;
                let share = if is_effort { budget.exerting(*time) } else { budget.within(*time) };
                let (first, done, undecided) = self.rest(program, &covered, &config, &share, true);
                self.add_part("all", first.decided_by.name(), &first, begin);
                if !matches!(first.verdict, Verdict::Unknown(_)) || budget.spent().is_some() {
                    self.save_after(program, &first, &done, &undecided, gia);
                    return first;
                }
                self.save(program, &done);
                covered = done;
            }
            match second {
                Second::Analysis(analysis) => config.analysis = *analysis,
                Second::External(tool) => return self.external(program, &covered, gia, tool, &budget),
            }
        }
        config.is_last = true;
        let begin = Instant::now();
        let (outcome, done, undecided) = self.rest(program, &covered, &config, &budget, self.cooperation.tells());
        if then.is_some() {
            self.add_part("what is left", outcome.decided_by.name(), &outcome, begin);
        }
        self.save_after(program, &outcome, &done, &undecided, gia);
        outcome
    }

    /// Leaves to a tool what is not covered.
    fn external(
        &self,
        program: &Program,
        covered: &Condition,
        gia: Option<&Gia>,
        tool: &Tool,
        budget: &Budget,
    ) -> Outcome {
        let begin = Instant::now();
        let residual = self.cooperation.residual(program, covered);
        let task = external::Task {
            original: program,
            error_functions: &self.job.error_functions,
            budget,
            memory: self.limits.memory,
            replay: self.share_of_time(REPLAY),
        };
        let outcome = tool.verify(&residual.program, &task);
        self.add_part("what is left", tool.name, &outcome, begin);
        if !matches!(outcome.verdict, Verdict::Unknown(_)) {
            self.shared().external = Some(tool.name);
        }
        if matches!(outcome.verdict, Verdict::True) {
            let text =
                format!("what {} says of the paths that were left is true: nobody has checked its proof", tool.name);
            self.shared().assumptions.push(text);
        }
        self.save_after(program, &outcome, covered, &[], gia);
        outcome
    }

    /// The budget with what is needed at its end to say what was done.
    pub(crate) fn time_to_tell(&self) -> Budget {
        let Some(limit) = self.limits.timeout.filter(|_| self.cooperation.tells()) else {
            return self.budget.clone();
        };
        let left = limit.saturating_sub(self.limits.start.elapsed());
        self.budget.within(left.saturating_sub(TELLING.min(limit / 10)))
    }

    fn save_after(
        &self,
        program: &Program,
        outcome: &Outcome,
        done: &Condition,
        undecided: &[Vec<EdgeId>],
        gia: Option<&Gia>,
    ) {
        self.reach(program, outcome);
        // First what takes least, as the time may be over.
        self.afterwards("saving what was verified", "saving", || match outcome.verdict {
            Verdict::True => self.save(program, &Condition::everything()),
            _ if *done == Condition::nothing() && self.config.analysis == Analysis::Invariants => {
                self.save_facts(program);
            }
            _ => self.save(program, done),
        });
        if self.cooperation.saves_gia || gia.is_some() && self.wants_exhibits {
            self.afterwards("saving what is known", "saving", || {
                self.tell_gia(program, outcome, Gia::of_condition(done), undecided, gia);
            });
        }
    }

    pub(crate) fn save(&self, program: &Program, done: &Condition) {
        let Some(path) = &self.cooperation.saved else { return };
        let limited = (done.states.len() > condition::MOST_STATES).then(|| done.truncated(condition::MOST_STATES - 1));
        let done = limited.as_ref().unwrap_or(done);
        let is_picture = path.extension().is_some_and(|e| e == "dot");
        let text = if is_picture { done.dot(program) } else { condition::print(done, program) };
        self.shared().condition = Some(text);
    }

    /// Looks at the paths that are not covered. With what is covered afterwards, if that is `wanted`, and paths to places that could not
    /// be decided.
    fn rest(
        &self,
        program: &Program,
        covered: &Condition,
        config: &Config,
        budget: &Budget,
        wanted: bool,
    ) -> (Outcome, Condition, Vec<Vec<EdgeId>>) {
        let is_whole = *covered == Condition::nothing();
        // Symbolic execution looks at a part of the paths of the program itself.
        let beside = if is_whole { None } else { beside(self, program, covered, config) };
        let restricted = (!is_whole && beside.is_none()).then(|| self.cooperation.residual(program, covered));
        let part = restricted.as_ref().map_or(program, |r| &r.program);
        let counts_on_rest = covered.counts_on_rest();
        let mut config = Config { wants_frontier: wanted, counts_on_rest, ..config.clone() };
        let slice = match beside {
            Some((slice, paths)) => {
                config.part = Some(Arc::new(paths));
                config.wants_agreements = false;
                slice
            }
            None => slice_for(self, part, &config, wanted),
        };
        let mut asked = Asked { program, restricted: restricted.as_ref(), slice: slice.as_ref() };
        let mut outcome = self.ask(program, part, asked.slice, &config, budget, others(&self.config).as_ref());
        if asked.slice.is_some() && matches!(outcome.verdict, Verdict::Unknown(_)) && budget.spent().is_none() {
            asked.slice = None;
            if config.part.is_some() {
                config.part = covered.part(None).map(Arc::new);
            }
            outcome = self.ask(program, part, None, &config, budget, others(&self.config).as_ref());
        }
        self.reach(program, &outcome);
        if asked.slice.is_some() || restricted.is_some() {
            // They speak of the heads of loops of another program than whoever asks has.
            outcome.certificate = None;
            outcome.agreements.clear();
            asked.tell_of(&mut outcome);
        }
        // Where only covered paths lead, executions may come.
        outcome.coverage.is_complete &= is_whole;
        let (explored, undecided) = asked.explored(&outcome, counts_on_rest);
        // Beside the exploration, what was covered is not left.
        let replaces = config.part.is_some() && !counts_on_rest || is_whole;
        let done = match explored {
            Some(explored) if replaces => explored,
            Some(explored) => covered.union(&explored),
            None => covered.clone(),
        };
        (outcome, done, undecided)
    }

    pub(crate) fn add_part(&self, paths: &str, analysis: &'static str, outcome: &Outcome, begin: Instant) {
        let (verdict, reason) = match &outcome.verdict {
            Verdict::True => ("TRUE", None),
            Verdict::False(_) => ("FALSE", None),
            Verdict::Unknown(Reason { text, .. }) => ("UNKNOWN", Some(text.clone())),
        };
        let spent = if outcome.stats.time.is_zero() { begin.elapsed() } else { outcome.stats.time };
        let seconds = spent.min(begin.elapsed()).as_secs_f64();
        self.shared().parts.push(PartReport { paths: paths.into(), analysis, verdict, reason, seconds });
    }
}

/// What a condition leaves, as an automaton beside the program, or beside a slice of it in which paths are told; if the analysis can
/// look at such a part, and the condition is one.
fn beside(
    pipeline: &Pipeline,
    program: &Program,
    covered: &Condition,
    config: &Config,
) -> Option<(Option<slicer::Slice>, engine::part::Part)> {
    if config.analysis != Analysis::Symex || pipeline.cooperation.reducer != Reducer::Separate {
        return None;
    }
    let Some(slice) = pipeline.slice(program) else { return Some((None, covered.part(None)?)) };
    if !tells_paths(program, &slice) {
        return None;
    }
    let mut edges: FxHashMap<EdgeId, Vec<EdgeId>> = FxHashMap::default();
    for (new, original) in slice.original.iter() {
        if let Some(original) = *original {
            edges.entry(original).or_default().push(new);
        }
    }
    let part = covered.part(Some(&edges))?;
    Some((Some(slice), part))
}

/// The slice that is analysed; where what was explored is `wanted`, one in which paths are told.
fn slice_for(pipeline: &Pipeline, part: &Program, config: &Config, wanted: bool) -> Option<slicer::Slice> {
    match wanted && config.analysis.tells_heads() {
        true => None,
        false => pipeline.slice(part).filter(|slice| !wanted || tells_paths(part, slice)),
    }
}

/// Whether a path of the slice tells the path of the program as far as it is in the slice: no function that branches in the slice is
/// called where the slice does not call it.
fn tells_paths(program: &Program, slice: &slicer::Slice) -> bool {
    let branches = slice.program.edges.iter().filter(|(_, e)| matches!(e.op, Op::Assume { .. }));
    let branching: FxHashSet<FuncId> = branches.map(|(id, _)| slice.program.func_of(id)).collect();
    let calls = CallGraph::new(program);
    // Functions from which one that branches may be entered.
    let mut reaches = vec![false; program.funcs.len()];
    let mut work: Vec<FuncId> = branching.into_iter().collect();
    while let Some(f) = work.pop() {
        if !std::mem::replace(&mut reaches[f.index()], true) {
            work.extend(calls.callers(f).map(|edge| program.func_of(edge)));
        }
    }
    let mut in_slice = vec![false; program.edges.len()];
    for (id, edge) in slice.program.edges.iter() {
        if let (Op::Call { .. }, Some(original)) = (&edge.op, slice.original[id]) {
            in_slice[original.index()] = true;
        }
    }
    let is_call = |e: &cfa::Edge| matches!(e.op, Op::Call { .. });
    program.edges.iter().filter(|(_, e)| is_call(e)).all(|(id, _)| {
        let enters = || calls.callees(program, id).as_slice().iter().any(|f| reaches[f.index()]);
        in_slice[id.index()] || !calls.is_reachable(program.func_of(id)) || !enters()
    })
}
