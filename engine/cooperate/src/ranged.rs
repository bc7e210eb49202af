//! Compositions of ranged analyses (section 3 of the paper on [ranges](crate::range)). Splitters divide the paths,
//! analyses verify one range each in parallel, and their verdicts are joined.

use crate::condition::Condition;
use crate::range::split::{Splitter, ranges};
use crate::range::{Bound, Range};
use crate::restrict::{Restricted, restrict_with_map};
use crate::stealing::Idle;
use cfa::Program;
use cfa::wording::counted;
use engine::budget::Budget;
use engine::{Analysis, Config, Outcome, Reason, Verdict};
use std::cmp::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// The stack size in bytes, reserved rather than used. Expressions are evaluated recursively.
const STACK: usize = 1 << 30;

/// A composition of analyses on ranges.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Composition {
    /// The splitters, one less than there are analyses.
    pub splitters: Vec<Splitter>,
    /// The analyses for the ranges from left to right.
    pub analyses: Vec<Analysis>,
}

/// The compositions of the paper, without their splitters.
const NAMED: [(&str, &[Analysis]); 4] = [
    ("ra-2se", &[Analysis::Symex; 2]),
    ("ra-3se", &[Analysis::Symex; 3]),
    ("ra-2bmc", &[Analysis::Bmc; 2]),
    ("ra-se-pred", &[Analysis::Symex, Analysis::PREDICATE]),
];

impl Composition {
    /// Parses `SPLITTERS: ANALYSIS | ANALYSIS …`, or a name of the paper such as `Ra-2Se-Lb3`. A single splitter
    /// represents a chain of them. Fails on unknown names and wrong numbers.
    pub fn parse(text: &str, seed: u64) -> Result<Self, String> {
        let (splitters, analyses) = match text.split_once(':') {
            Some((splitters, analyses)) => {
                let analysis = |name: &str| {
                    let name = name.trim();
                    Analysis::parse(name).ok_or_else(|| format!("there is no analysis '{name}'"))
                };
                (splitters.to_owned(), analyses.split('|').map(analysis).collect::<Result<Vec<_>, _>>()?)
            }
            None => Self::named(text).ok_or_else(|| {
                format!(
                    "'{text}' is no composition: write SPLITTER: ANALYSIS | ANALYSIS, or a name such as Ra-2Se-Lb3, Ra-3Se-Lb, \
                     Ra-2bmc-Rdm9, Ra-Se-Pred-Lb10"
                )
            })?,
        };
        let bounds = analyses.len() - 1;
        if bounds == 0 {
            return Err("one analysis needs no splitter: name it with --analysis".into());
        }
        let names: Vec<&str> = splitters.split(',').map(str::trim).collect();
        let splitter = |(i, name): (usize, &&str)| {
            // Each random path gets its own seed.
            Splitter::parse(name, seed.wrapping_add(i as u64)).ok_or_else(|| {
                format!(
                    "there is no splitter '{name}'; splitters are {}, and lb with another number",
                    Splitter::NAMES.join(", ")
                )
            })
        };
        let mut splitters = names.iter().enumerate().map(splitter).collect::<Result<Vec<_>, _>>()?;
        if splitters.len() == 1 {
            splitters = splitters[0].chain(bounds);
        }
        if splitters.len() != bounds {
            return Err(format!("{} divide the paths for {} analyses", counted(bounds, "bound"), analyses.len()));
        }
        Ok(Self { splitters, analyses })
    }

    fn named(name: &str) -> Option<(String, Vec<Analysis>)> {
        let name = name.trim().to_ascii_lowercase();
        NAMED.iter().find_map(|(base, analyses)| {
            let splitter = name.strip_prefix(base)?.strip_prefix('-').unwrap_or("lb3");
            if !name[base.len()..].is_empty() && !name[base.len()..].starts_with('-') {
                return None;
            }
            // The name `lb` denotes `lb3`, the first loop bound of the paper.
            let splitter = if splitter == "lb" { "lb3" } else { splitter };
            Some((splitter.to_owned(), analyses.to_vec()))
        })
    }

    /// The bounds that the splitters find in a program, in order, and the failures. A splitter that fails yields no
    /// bound.
    pub fn bounds(&self, program: &Program, config: &Config, budget: &Budget) -> (Vec<Bound>, Vec<String>) {
        let (mut bounds, mut problems) = (Vec::new(), Vec::new());
        for splitter in &self.splitters {
            let found = splitter.split(program, &config.solvers, budget).and_then(|split| match split {
                Some(split) => split.test_case(program).bound(program, &config.solvers, budget).map(Some),
                None => Ok(None),
            });
            match found {
                Ok(Some(bound)) => bounds.push(bound),
                Ok(None) => problems.push("the program has no loops to bound: it is not divided".into()),
                Err(reason) => problems.push(format!("the paths cannot be divided: {}", reason.text)),
            }
        }
        problems.dedup();
        (bounds, problems)
    }
}

/// A range with its analysis and outcome.
pub struct RangePart {
    /// The range.
    pub range: Range,
    /// The analysis.
    pub analysis: Analysis,
    /// The outcome, once there is one.
    pub outcome: Option<Outcome>,
    /// The verified paths of the range; nothing if the configuration does not request them.
    pub done: Condition,
}

impl RangePart {
    /// A part without an outcome.
    pub fn new(range: Range, analysis: Analysis) -> Self {
        Self { range, analysis, outcome: None, done: Condition::nothing() }
    }

    /// Returns true if the part is neither proved nor has a possible violation.
    fn is_open(&self) -> bool {
        self.outcome.as_ref().is_none_or(|o| matches!(o.verdict, Verdict::Unknown(_)) && o.unconfirmed.is_none())
    }

    /// Joins an outcome with an earlier one of the same part. FALSE, which was replayed, has priority over TRUE, and
    /// TRUE over UNKNOWN.
    fn finish(&mut self, program: &Program, outcome: Outcome, explored: &Condition) {
        let verified = self.verified(program, &outcome, explored);
        let Some(before) = self.outcome.take() else {
            self.done = verified;
            self.outcome = Some(outcome);
            return;
        };
        let rank = |outcome: &Outcome| match outcome.verdict {
            Verdict::False(_) => 0,
            Verdict::True => 1,
            Verdict::Unknown(_) => 2,
        };
        let nothing = Condition::nothing();
        let are_open = rank(&before) == 2 && rank(&outcome) == 2;
        let (outcome, done) = match rank(&outcome).cmp(&rank(&before)) {
            Ordering::Less => (with_work_of(outcome, before), verified),
            // A result that depends on the residual paths holds only if no other analysis shares them: two such results
            // might depend on one another.
            Ordering::Equal if are_open => {
                let known = std::mem::replace(&mut self.done, nothing.clone());
                let done = match verified.by_itself() {
                    more if more == nothing => known,
                    more if known == nothing => more,
                    more => known.union(&more),
                };
                (with_work_of(before, outcome), done)
            }
            _ => (with_work_of(before, outcome), std::mem::replace(&mut self.done, nothing.clone())),
        };
        // A proof does not count if another analysis found a possible violation.
        let is_doubted = !are_open && matches!(outcome.verdict, Verdict::Unknown(_));
        self.done = if is_doubted { nothing } else { done };
        self.outcome = Some(outcome);
    }

    fn verified(&self, program: &Program, outcome: &Outcome, explored: &Condition) -> Condition {
        match outcome.verdict {
            Verdict::True => self.range.inside(program),
            _ if *explored == Condition::nothing() => Condition::nothing(),
            // An analysis of a range leaves no residual paths outside it.
            _ => self.range.inside(program).intersection(explored),
        }
    }
}

/// Adds the statistics, crashes and unconfirmed violations of another outcome on the same paths.
fn with_work_of(mut outcome: Outcome, other: Outcome) -> Outcome {
    outcome.stats.join(&other.stats);
    outcome.crashes.extend(other.crashes);
    outcome.unconfirmed = outcome.unconfirmed.or(other.unconfirmed);
    if let (Verdict::True, Some(reason)) = (&outcome.verdict, &outcome.unconfirmed) {
        // A possible violation of one analysis prevents the proof of another.
        outcome.verdict = Verdict::Unknown(reason.clone());
    }
    outcome
}

/// The verified paths of all parts.
pub fn verified_paths(parts: &[RangePart]) -> Condition {
    let nothing = Condition::nothing();
    let known = parts.iter().map(|part| &part.done).filter(|done| **done != nothing);
    known.cloned().reduce(|a, b| a.union(&b)).unwrap_or(nothing)
}

/// Divides a program into the parts of a composition.
pub fn parts(program: &Program, composition: &Composition, bounds: Vec<Bound>) -> Vec<RangePart> {
    let analyses = composition.analyses.iter().copied();
    let part = |(range, analysis)| RangePart::new(range, analysis);
    ranges(program, bounds).into_iter().zip(analyses).map(part).collect()
}

/// Verifies a part of a program, or all of it if there is no part, with this configuration. Also returns the condition
/// of the explored paths, if the configuration requests it. Violations are replayed on the original program.
pub type Verify<'a> = dyn Fn(Option<&Restricted>, &Config, &Budget, &Idle) -> (Outcome, Condition) + Sync + 'a;

/// Verifies all parts in parallel. A violation stops all analyses. A thread whose range is proved helps explorations
/// path by path, or else starts its analysis on another range. The first analysis to decide a range stops the others
/// there. So threads idle only if there is no work.
pub fn verify(program: &Program, parts: &mut [RangePart], config: &Config, budget: &Budget, verify: &Verify<'_>) {
    let shared = budget.part();
    let idle = Idle::new(0);
    let race = |part| Mutex::new(Race { part, tried: Vec::new(), budget: shared.part(), is_over: false });
    let races: Vec<Mutex<Race<'_>>> = parts.iter_mut().map(race).collect();
    let first: Vec<Analysis> = races.iter().map(|race| lock(race).part.analysis).collect();
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for (i, analysis) in first.into_iter().enumerate() {
            let (races, shared, idle) = (&races, &shared, &idle);
            let work = move || {
                let (mut next, mut is_able) = (Some(i), false);
                while let Some(i) = next {
                    is_able |= run(program, &races[i], analysis, config, shared, verify, idle);
                    let open = || races.iter().position(|race| lock(race).is_for(analysis));
                    next = if is_able && shared.spent().is_none() { open() } else { None };
                }
                idle.add();
            };
            threads.push(thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work));
        }
        // A thread that fails to start, or panics, leaves its part without an outcome.
        for thread in threads.into_iter().flatten() {
            let _ = thread.join();
        }
    });
}

/// A part, with the analyses that work on it.
struct Race<'a> {
    part: &'a mut RangePart,
    tried: Vec<Analysis>,
    budget: Budget,
    /// True if the part's own analysis has ended.
    is_over: bool,
}

impl Race<'_> {
    /// Returns true if an idle analysis should also verify the part. Threads help symbolic execution by work stealing
    /// instead.
    fn is_for(&self, analysis: Analysis) -> bool {
        let is_helped = self.part.analysis == Analysis::Symex && !self.is_over;
        !is_helped && self.part.is_open() && !self.tried.contains(&analysis)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs an analysis on a part. Returns true if it proves the part.
fn run(
    program: &Program,
    race: &Mutex<Race<'_>>,
    analysis: Analysis,
    config: &Config,
    shared: &Budget,
    verify: &Verify<'_>,
    idle: &Idle,
) -> bool {
    let (range, budget) = {
        let mut race = lock(race);
        race.tried.push(analysis);
        (race.part.range.clone(), race.budget.clone())
    };
    let config = Config { analysis, jobs: 1, ..config.clone() };
    let outcome = one(program, &range, &config, &budget, verify, idle);
    let (outcome, explored) = outcome.unwrap_or_else(|r| (Outcome::unknown(r, analysis), Condition::nothing()));
    let is_violated = matches!(outcome.verdict, Verdict::False(_));
    let is_proved = matches!(outcome.verdict, Verdict::True);
    let mut race = lock(race);
    race.is_over |= analysis == race.part.analysis;
    race.part.finish(program, outcome, &explored);
    if is_violated || is_proved {
        race.budget.cancel();
    }
    if is_violated {
        shared.cancel();
    }
    is_proved
}

fn one(
    program: &Program,
    range: &Range,
    config: &Config,
    budget: &Budget,
    verify: &Verify<'_>,
    idle: &Idle,
) -> Result<(Outcome, Condition), Reason> {
    if range.lower.is_none() && range.upper.is_none() {
        return Ok(verify(None, config, budget, idle));
    }
    let restricted = restrict_with_map(program, &range.outside(program)).map_err(|e| Reason::new(e.to_string()))?;
    Ok(verify(Some(&restricted), config, budget, idle))
}

/// The joint verdict of all parts. It is a proof of the program only if the parts are the `whole` program.
pub fn joint(parts: &[RangePart], whole: bool) -> Outcome {
    let ended = || Reason::new("a thread ended by an internal error");
    let of = |part: &RangePart| part.outcome.clone().unwrap_or_else(|| Outcome::unknown(ended(), part.analysis));
    let mut outcome = Outcome::of_parts(parts.iter().map(of).collect());
    if matches!(outcome.verdict, Verdict::True) && !whole {
        outcome.verdict = Verdict::Unknown(Reason::new(WITHIN));
    }
    outcome
}

/// The reason why the proof of a range is not a verdict.
pub const WITHIN: &str = "proved within the range: the paths outside it were not explored";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compositions_are_named_or_spelled_out() {
        let lb = Splitter::LoopBound;
        let parse = |text| Composition::parse(text, 7);
        let free = parse("lb3: symex | predicate").unwrap();
        assert_eq!(free, parse("Ra-Se-Pred-Lb3").unwrap());
        assert_eq!(free.splitters, [lb(3)]);
        assert_eq!(parse("Ra-3Se-Lb").unwrap().splitters, [lb(3), lb(10)]);
        assert_eq!(parse("lb1,lb4 : value|symex | bmc").unwrap().splitters, [lb(1), lb(4)]);
        let random = |seed| Splitter::Random { percent: 90, seed };
        assert_eq!(parse("ra-3se-rdm9").unwrap().splitters, [random(7), random(8)]);
        for bad in [
            "",
            "symex",
            "lb3: symex",
            "lb0: symex | symex",
            "x: symex | symex",
            "lb3: symex | y",
            "Ra-2SeX",
            "lb3,lb4: symex | symex",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
