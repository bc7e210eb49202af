//! The result of a verification run as data.

use crate::limits::Stop;
use crate::source::Spot;
use crate::trace::passed::Passed;
use crate::trace::{OriginKind, Precondition, Trace};
use engine::{ReasonKind, Turn};

/// Names of the properties and checks that a bad pointer violates.
const POINTERS: [&str; 8] =
    ["address", "valid-deref", "valid-free", "null", "alignment", "bounds", "pointer-overflow", "nonnull-attribute"];

/// A verdict with its evidence.
#[derive(Clone, Debug)]
pub enum Answer {
    /// All executions satisfy the property.
    True,
    /// An execution violates the property.
    False(Box<Violation>),
    /// The analysis did not decide.
    Unknown(Undecided),
}

/// The reason why a question is undecided.
#[derive(Clone, Debug)]
pub struct Undecided {
    /// The kind of the reason, which determines the remedies.
    pub kind: ReasonKind,
    /// The reason, as the verdict line shows it.
    pub text: String,
    /// The place that the reason is about, if there is one.
    pub spot: Option<Spot>,
}

impl Undecided {
    /// Returns a reason without a place.
    pub fn new(kind: ReasonKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), spot: None }
    }

    /// Returns the reason of a run that one of its limits ended.
    pub fn at_limit(limit: Stop) -> Self {
        Self::new(limit.kind(), limit.to_string())
    }

    /// Returns the text, followed by the place if there is one.
    pub fn on_a_line(&self) -> String {
        on_a_line(&self.text, self.spot.as_ref())
    }
}

/// A confirmed violation.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The name of the violated property, as the verdict line shows it.
    pub property: String,
    /// The message of the error.
    pub message: String,
    /// The counterexample trace; `None` if there was no time left to record it.
    pub trace: Option<Trace>,
    /// The violations that precede this one in its execution. Execution continues after them, as it does after a
    /// sanitizer that recovers.
    pub passed: Vec<Passed>,
    /// True if the same inputs do not lead to the violation when objects have other addresses.
    pub depends_on_addresses: bool,
    /// True if the violation is an execution without end that may leave its loop after very many iterations and
    /// continue elsewhere.
    pub may_leave_loop: bool,
    /// The position in the order in which violations were found, from 1; 0 before [`add_violation`] records it.
    pub number: usize,
    /// The number of the first violation with the same cause, if this one only follows from it.
    pub cause: Option<usize>,
}

impl Violation {
    /// Returns a violation of a property, without a trace and without a number.
    pub fn new(property: impl Into<String>, message: impl Into<String>) -> Self {
        let (property, message) = (property.into(), message.into());
        Self {
            property,
            message,
            trace: None,
            passed: Vec::new(),
            depends_on_addresses: false,
            may_leave_loop: false,
            number: 0,
            cause: None,
        }
    }

    /// Returns the place of the violation, if the trace has one.
    pub fn spot(&self) -> Option<&Spot> {
        self.trace.as_ref().and_then(|trace| trace.spot.as_ref())
    }

    /// Returns true if the violation is about a pointer or about the object that a pointer leads to.
    fn is_of_pointer(&self) -> bool {
        POINTERS.contains(&self.property.as_str())
    }

    /// Returns true if an invalid access precedes the violation.
    pub fn is_behind(&self) -> bool {
        self.passed.iter().any(|passed| passed.is_access)
    }

    /// Returns true if this violation has the same cause as `before`, which was found earlier, or follows from it.
    /// Examples are the same bad pointer, a use of the value that the other access read, the same object after the same
    /// `free`, another check at the same line, and a further access to the same address outside an object in one execution.
    fn follows(&self, before: &Violation) -> bool {
        let (Some(own), Some(other)) = (&self.trace, &before.trace) else { return false };
        let (Some(here), Some(there)) = (&own.spot, &other.spot) else { return false };
        if let Some(origin) = own.origin.as_ref().filter(|origin| origin.kind == OriginKind::Unset)
            && origin.spot == *there
            && before.is_of_pointer()
        {
            return true;
        }
        if !self.is_of_pointer() || !before.is_of_pointer() {
            return false;
        }
        let same_line = here.path == there.path && here.line == there.line;
        match (&own.origin, &other.origin) {
            (Some(own), Some(other)) => return own == other,
            (None, None) => {}
            // Only one of two checks at a place may know the origin of the pointer.
            _ => return here == there,
        }
        let passed = self.passed.iter().any(|passed| passed.spot == *there);
        // Another check of the same access, or a later access in the same execution. Two accesses of a line, each in an
        // execution without the other, are two errors.
        let same_line = same_line && (passed || self.property != before.property || here == there);
        let same_object = match (&own.object, &other.object) {
            (Some(own), Some(other)) => own.allocated == other.allocated && own.name == other.name,
            _ => return same_line,
        };
        let freed = |trace: &Trace| trace.object.as_ref().and_then(|object| object.freed.clone());
        let both_freed = freed(own).is_some() && freed(own) == freed(other) && own.function == other.function;
        // The execution made the other access before. Another offset may be another error.
        let offset = |trace: &Trace| trace.object.as_ref().map(|object| object.offset);
        let is_repeated = offset(own) == offset(other) && passed;
        same_object && (same_line || both_freed || is_repeated)
    }

    /// Returns the precondition of the entry function that rules the violation out, if it is one about the length of a
    /// buffer.
    pub fn precondition(&self) -> Option<&Precondition> {
        self.trace.as_ref()?.precondition.as_ref()
    }

    /// Returns advice for a violation that a precondition of the entry function may rule out.
    pub fn help(&self) -> Option<String> {
        self.precondition().map(Precondition::help)
    }

    /// Returns the reservations that a report shows with the violation.
    pub fn notes(&self) -> Vec<String> {
        let first = self.passed.iter().find(|passed| passed.is_access);
        let behind = first.map(|Passed { spot, .. }| {
            format!("the execution makes another invalid access before this one, at {spot}: a native run may end there")
        });
        let addresses = "it depends on the addresses of objects: a run with other addresses may not show it";
        let elsewhere = "the program does not terminate, but it may leave this loop after very many iterations and \
                         continue without end elsewhere";
        let buffer = "it depends on the assumption that callers may pass a short buffer: this access is inside a \
                      longer one, but other executions may violate the same place";
        let note = |holds: bool, text: &str| holds.then(|| text.to_owned());
        [
            note(self.precondition().is_some(), buffer),
            behind,
            note(self.depends_on_addresses, addresses),
            note(self.may_leave_loop, elsewhere),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// The result of one question.
#[derive(Clone, Debug)]
pub struct CheckResult {
    /// The name of the question, as tables show it.
    pub name: String,
    /// The names under which verdicts report its violations.
    pub properties: Vec<String>,
    /// The places where it can be violated, and the number of them that were discharged before the analysis.
    pub places: Places,
    /// The confirmed violations, in the order in which they were found.
    pub violations: Vec<Violation>,
    /// The result for everything that is not violated.
    pub rest: Rest,
    /// True if the proof covers only executions in which all accesses are valid, and the validity of accesses is not
    /// proved.
    pub assumes_valid_accesses: bool,
    /// True if the question is about how threads interleave. It has no places.
    pub is_of_threads: bool,
}

/// The places of a check in a program.
#[derive(Clone, Default, Debug)]
pub struct Places {
    /// The number of all places.
    pub all: usize,
    /// The number of places that were proved safe before the analysis.
    pub discharged: usize,
    /// The source places of the others. Only places in the program's own code are listed.
    pub open: Vec<Spot>,
}

/// The result for everything that is not violated.
#[derive(Clone, Debug)]
pub enum Rest {
    /// It is proved.
    Proved,
    /// It is undecided, for now or for good, for this reason.
    Unknown(Undecided),
    /// It was not checked: one violation was requested and found, or this input does not permit the question.
    NotAsked,
}

/// Adds a violation to the check with this index. Sets the violation's number, and its cause if it follows from an
/// earlier finding.
pub fn add_violation(checks: &mut [CheckResult], check: usize, mut violation: Violation) {
    let mut before: Vec<&Violation> = checks.iter().flat_map(|c| &c.violations).collect();
    before.sort_by_key(|violation| violation.number);
    violation.number = before.len() + 1;
    violation.cause =
        before.iter().find(|before| violation.follows(before)).map(|before| before.cause.unwrap_or(before.number));
    checks[check].violations.push(violation);
}

/// Removes the assumption that all accesses are valid from all proofs, if the check with the index `of_accesses` proves
/// it. The run may have ended before the proofs of the other checks were combined with it.
pub fn resolve_assumptions(checks: &mut [CheckResult], of_accesses: usize) {
    let is_proved = |check: &CheckResult| matches!(check.rest, Rest::Proved) && check.violations.is_empty();
    if checks.get(of_accesses).is_some_and(|check| is_proved(check) && !check.assumes_valid_accesses) {
        checks.iter_mut().for_each(|check| check.assumes_valid_accesses = false);
    }
}

impl CheckResult {
    /// Returns the result of a question that was not analysed yet.
    pub fn new(name: String, properties: Vec<String>) -> Self {
        let nothing = Undecided::new(ReasonKind::default(), "it was not analysed");
        Self {
            name,
            properties,
            places: Places::default(),
            violations: Vec::new(),
            rest: Rest::Unknown(nothing),
            assumes_valid_accesses: false,
            is_of_threads: false,
        }
    }

    /// Returns the verdict on this question alone.
    pub fn answer(&self) -> Answer {
        match (self.violations.first(), &self.rest) {
            (Some(violation), _) => Answer::False(Box::new(violation.clone())),
            (None, Rest::Unknown(undecided)) => Answer::Unknown(undecided.clone()),
            (None, Rest::Proved | Rest::NotAsked) => Answer::True,
        }
    }

    /// Returns the number of places. Each violation has one, also that of a check without places in the program.
    pub fn place_count(&self) -> usize {
        if self.places.all == 0 { self.violations.len() } else { self.places.all }
    }

    /// Returns the numbers of proved, violated and open places, in this order. A proved place holds up to the first
    /// violation at another place.
    pub fn counts(&self) -> [usize; 3] {
        let all = self.place_count();
        let violated = self.violations.len().min(all);
        // A place that holds up to the first violation may be violated after it.
        let is_discharged = |violation: &&Violation| violation.spot().is_some_and(|s| !self.places.open.contains(s));
        let behind = self.violations.iter().filter(is_discharged).count();
        let proved = match self.rest {
            Rest::Proved => all - violated,
            Rest::Unknown(_) => self.places.discharged.saturating_sub(behind).min(all - violated),
            Rest::NotAsked => 0,
        };
        [proved, violated, all - proved - violated]
    }

    /// Returns true if the check is undecided although none of its places is open. This happens if its places hold only
    /// under an assumption, such as one about undefined functions, or only up to the first violation.
    pub fn is_undecided_without_open_places(&self) -> bool {
        let [proved, violated, open] = self.counts();
        matches!(self.rest, Rest::Unknown(_)) && open == 0 && violated == 0 && proved > 0
    }

    /// Returns the open places in the program's own code, without those of violations.
    pub fn open_places(&self) -> impl Iterator<Item = &Spot> {
        let [_, _, open] = self.counts();
        let is_violated = |spot: &Spot| self.violations.iter().any(|violation| violation.spot() == Some(spot));
        self.places.open.iter().filter(move |spot| open > 0 && !is_violated(spot))
    }

    /// Returns the result in a word or two: "not checked", "proved", "violated" or "unknown".
    pub fn word(&self) -> &'static str {
        match self.answer() {
            Answer::True if matches!(self.rest, Rest::NotAsked) => "not checked",
            Answer::True => "proved",
            Answer::False(_) => "violated",
            Answer::Unknown { .. } => "unknown",
        }
    }
}

/// A message for the user, such as an approximation that the analysis had to make.
#[derive(Clone, Debug)]
pub struct Note {
    /// The text of the message.
    pub text: String,
    /// The place that the message is about, if there is one.
    pub spot: Option<Spot>,
}

impl Note {
    /// Returns the text, followed by the place if there is one.
    pub fn on_a_line(&self) -> String {
        on_a_line(&self.text, self.spot.as_ref())
    }
}

/// Returns a text, followed by its place if there is one.
fn on_a_line(text: &str, spot: Option<&Spot>) -> String {
    let place = spot.map_or_else(String::new, |spot| format!(" at {spot}"));
    format!("{text}{place}")
}

/// Writes that a proof assumes to be valid because no check of them was requested.
#[derive(Clone, Default, Debug)]
pub struct AssumedWrites {
    /// The number of writes.
    pub count: usize,
    /// Their places, each once.
    pub spots: Vec<Spot>,
}

/// The description of a proof (verdict TRUE).
#[derive(Clone, Default, Debug)]
pub struct Proved {
    /// Invariants of the program's loops.
    pub invariants: Vec<LoopInvariant>,
    /// The reason why the proof says nothing about the program, if so.
    pub nothing_checked: Option<String>,
    /// The places of assumptions that executions reach but no execution satisfies.
    pub unsatisfied_assumptions: Vec<Spot>,
    /// The writes that the proof assumes to be valid.
    pub assumed_writes: AssumedWrites,
}

/// The facts that one refinement added to the precision.
#[derive(Clone, Debug)]
pub struct Increment {
    /// The end of the path that was refuted.
    pub spot: Option<Spot>,
    /// The variables and predicates that the analysis tracks since the refinement.
    pub tracked: Vec<String>,
}

/// A proved invariant of a loop.
#[derive(Clone, Debug)]
pub struct LoopInvariant {
    /// The places of the loop's head and of the edges back to it.
    pub spots: Vec<Spot>,
    /// The name of the function that contains the loop.
    pub function: String,
    /// The conditions. All of them hold whenever control reaches the head.
    pub conditions: Vec<Condition>,
}

/// A ranking function: the reason why a loop or a recursion terminates.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// The place of the loop or of the recursive function.
    pub spot: Option<Spot>,
    /// The name of the function.
    pub function: String,
    /// True for a recursion, false for a loop.
    pub is_recursion: bool,
    /// The components of the ranking function. The tuple decreases lexicographically with each iteration or call. An
    /// empty tuple means that there is never a second iteration.
    pub tuple: Vec<String>,
}

/// An exact C condition.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The condition in C.
    pub text: String,
    /// True if the condition was observed on a slice only and may concern operations that the slice omits. It then
    /// needs to be confirmed.
    pub in_doubt: bool,
    /// The declarations of its variables.
    pub declared: Vec<Spot>,
}

/// The name of the undefined functions that pointers in the arguments of the entry function lead to.
pub const TARGETS_OF_ARGUMENTS: &str = "targets of function pointers in arguments";

/// A function without a definition.
#[derive(Clone, Debug)]
pub struct Undefined {
    /// The name of the function, or [`TARGETS_OF_ARGUMENTS`].
    pub name: String,
    /// The number of places that call it or may call it.
    pub calls: usize,
    /// The number of those calls on which the property depends.
    pub relevant: usize,
}

/// The result of one of several analyses on its part of the paths.
#[derive(Clone, Debug)]
pub struct PartReport {
    /// The part of the paths, such as "from bound 1 to bound 2".
    pub paths: String,
    /// The name of the analysis.
    pub analysis: &'static str,
    /// The verdict on the part.
    pub verdict: &'static str,
    /// The reason, if the verdict is UNKNOWN.
    pub reason: Option<String>,
    /// The duration in seconds.
    pub seconds: f64,
}

/// The result of a verification run.
#[derive(Clone, Default, Debug)]
pub struct Report {
    /// The verdict on all questions together.
    pub answer: Answer,
    /// The result of each question. `answer` summarises them.
    pub checks: Vec<CheckResult>,
    /// The results of the parts, if the paths were divided.
    pub parts: Vec<PartReport>,
    /// The names of the requested properties.
    pub properties: Vec<String>,
    /// The names of the input files.
    pub files: Vec<String>,
    /// The name of the data model.
    pub data_model: &'static str,
    /// The name of the requested analysis.
    pub analysis: String,
    /// The name of the analysis, among several, that gave the verdict.
    pub decided_by: Option<&'static str>,
    /// The result of the proof checker, if the verdict is TRUE.
    pub proof: Option<String>,
    /// The reason why a proof says nothing about the program, if the verdict is TRUE.
    pub nothing_checked: Option<String>,
    /// The places of assumptions that executions reach but no execution satisfies, if the verdict is TRUE.
    pub unsatisfied_assumptions: Vec<Spot>,
    /// The writes that a proof assumes to be valid, if the verdict is TRUE.
    pub assumed_writes: AssumedWrites,
    /// The assumptions about the call that starts the program, and about functions without a definition.
    pub assumptions: Vec<String>,
    /// The called functions without a definition.
    pub undefined: Vec<Undefined>,
    /// Warnings about the input and about how it was read.
    pub warnings: Vec<Note>,
    /// The time slices of the analyses.
    pub turns: Vec<Turn>,
    /// The increments of the precision, in the order of the refinements.
    pub increments: Vec<Increment>,
    /// The proved invariants of loops, if the verdict is TRUE.
    pub invariants: Vec<LoopInvariant>,
    /// The ranking functions, if the verdict is TRUE and termination was requested.
    pub rankings: Vec<Ranking>,
    /// The remarks of the analyses, each with its place.
    pub notes: Vec<Note>,
    /// The steps that the user can take if the verdict is UNKNOWN, the cheapest first.
    pub help: Vec<String>,
    /// The names of the linked library models.
    pub models: Vec<String>,
    /// Counters and times in seconds, with their names, in a fixed order.
    pub stats: Vec<(String, f64)>,
}

impl Default for Answer {
    /// Returns the verdict of a run that analysed nothing.
    fn default() -> Self {
        Self::unknown("nothing was analysed")
    }
}

impl Answer {
    /// Returns the verdict UNKNOWN with a reason for people and without a place.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self::Unknown(Undecided::new(ReasonKind::default(), reason))
    }

    /// Summarises the results of all questions. Returns FALSE if any is violated, otherwise UNKNOWN if any is
    /// undecided, otherwise TRUE. FALSE names the most significant violation: one that no invalid access precedes, and
    /// that does not follow from another violation, if there is such a one.
    pub fn summarise(checks: &[CheckResult]) -> Self {
        let violations = checks.iter().flat_map(|c| &c.violations);
        if let Some(violation) = violations.min_by_key(|v| (v.is_behind(), v.cause.is_some())) {
            return Self::False(Box::new(violation.clone()));
        }
        for check in checks {
            if let Answer::Unknown(undecided) = check.answer() {
                return Self::Unknown(undecided);
            }
        }
        Self::True
    }

    /// Returns the text of the verdict line, such as `UNKNOWN(reason at file.c:3:1)`.
    pub fn line(&self) -> String {
        match self {
            Answer::True => "TRUE".into(),
            Answer::False(violation) => format!("FALSE({})", violation.property),
            Answer::Unknown(undecided) => {
                let text: String =
                    undecided.on_a_line().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
                format!("UNKNOWN({text})")
            }
        }
    }
}

impl Report {
    /// Returns the last line of standard output.
    pub fn verdict_line(&self) -> String {
        self.answer.line()
    }

    /// Returns the findings, one for each cause, in the order in which they were found. Findings after an invalid
    /// access come last.
    pub fn violations(&self) -> Vec<&Violation> {
        let of_checks = self.checks.iter().flat_map(|c| &c.violations).filter(|violation| violation.cause.is_none());
        let mut of_checks: Vec<&Violation> = of_checks.collect();
        of_checks.sort_by_key(|violation| (violation.is_behind(), violation.number));
        match &self.answer {
            Answer::False(violation) if of_checks.is_empty() => vec![violation],
            _ => of_checks,
        }
    }

    /// Returns the number of findings that a longer buffer from the caller of the entry function rules out.
    pub fn conditional(&self) -> usize {
        self.violations().iter().filter(|violation| violation.precondition().is_some()).count()
    }

    /// Returns the steps that the user can take, each once: those for an undecided question, then those of the findings.
    pub fn advice(&self) -> Vec<String> {
        let of_findings = self.violations().into_iter().filter_map(Violation::help);
        let mut advice: Vec<String> = Vec::new();
        for text in self.help.iter().cloned().chain(of_findings) {
            if !advice.contains(&text) {
                advice.push(text);
            }
        }
        advice
    }

    /// Returns the violations that follow from a finding.
    pub fn consequences<'r>(&'r self, finding: &'r Violation) -> impl Iterator<Item = &'r Violation> {
        let all = self.checks.iter().flat_map(|c| &c.violations);
        all.filter(|violation| violation.cause == Some(finding.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proved(name: &str, assumes_valid_accesses: bool) -> CheckResult {
        let result = CheckResult::new(name.into(), Vec::new());
        CheckResult { rest: Rest::Proved, assumes_valid_accesses, ..result }
    }

    #[test]
    fn a_proof_of_all_accesses_resolves_the_assumption_of_the_others() {
        let mut checks = [proved("address", false), proved("null", true)];
        resolve_assumptions(&mut checks, 0);
        assert!(!checks[1].assumes_valid_accesses);
        let mut violated = [proved("address", false), proved("null", true)];
        violated[0].violations.push(Violation::new("address", ""));
        resolve_assumptions(&mut violated, 0);
        let mut conditional = [proved("address", true), proved("null", true)];
        resolve_assumptions(&mut conditional, 0);
        assert!(violated[1].assumes_valid_accesses && conditional[1].assumes_valid_accesses);
    }
}
