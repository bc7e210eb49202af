//! The result of a verification run as data.

use crate::source::Spot;
use crate::trace::{OriginKind, Trace};
use engine::Turn;

/// Properties and checks that a bad pointer violates.
const POINTERS: [&str; 8] =
    ["address", "valid-deref", "valid-free", "null", "alignment", "bounds", "pointer-overflow", "nonnull-attribute"];

/// The verdict with what belongs to it.
#[derive(Clone, Debug)]
pub enum Answer {
    True,
    False(Box<Violation>),
    Unknown { reason: String, spot: Option<Spot> },
}

/// A confirmed violation.
#[derive(Clone, Debug)]
pub struct Violation {
    pub property: String,
    pub message: String,
    /// How it comes about; `None` if there was no time left to say.
    pub trace: Option<Trace>,
    /// An access before it is not valid, behind which execution goes on as it does behind a sanitizer that recovers.
    pub is_behind: bool,
    /// With objects at other addresses the same inputs do not lead to it.
    pub depends_on_addresses: bool,
    /// Of an execution without end: it may go on elsewhere, after very many iterations of the loop that it is in.
    pub may_leave_loop: bool,
    /// Its number in the order in which violations were found.
    pub number: usize,
    /// The number of the first violation with the same cause, if this one only follows from it.
    pub cause: Option<usize>,
}

impl Violation {
    pub fn new(property: impl Into<String>, message: impl Into<String>) -> Self {
        let (property, message) = (property.into(), message.into());
        Self {
            property,
            message,
            trace: None,
            is_behind: false,
            depends_on_addresses: false,
            may_leave_loop: false,
            number: 0,
            cause: None,
        }
    }

    pub fn spot(&self) -> Option<&Spot> {
        self.trace.as_ref().and_then(|trace| trace.spot.as_ref())
    }

    /// Whether it is about a pointer, or about what one leads to.
    fn is_of_pointer(&self) -> bool {
        POINTERS.contains(&self.property.as_str())
    }

    /// Whether it has the same cause as a violation that was found before, or follows from it: the same bad pointer, a use of what the
    /// other access read, the same object after the same `free`, or another check at the same line.
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
            // One of the checks at a place may not know where the pointer comes from.
            _ => return here == there,
        }
        let same_object = match (&own.object, &other.object) {
            (Some(own), Some(other)) => own.allocated == other.allocated && own.name == other.name,
            _ => return same_line,
        };
        let freed = |trace: &Trace| trace.object.as_ref().and_then(|object| object.freed.clone());
        let both_freed = freed(own).is_some() && freed(own) == freed(other) && own.function == other.function;
        same_object && (same_line || both_freed)
    }

    /// What is to be known of it besides.
    pub fn notes(&self) -> Vec<&'static str> {
        let behind = "an access before it is not valid, where a run may end";
        let addresses = "it depends on where objects lie in memory: a run that has them elsewhere may not show it";
        let elsewhere =
            "the program does not end in any case; whether this loop is left after very many iterations is not known";
        [(self.is_behind, behind), (self.depends_on_addresses, addresses), (self.may_leave_loop, elsewhere)]
            .into_iter()
            .filter_map(|(holds, text)| holds.then_some(text))
            .collect()
    }
}

/// What came of one thing that was asked.
#[derive(Clone, Debug)]
pub struct CheckResult {
    pub name: String,
    /// By these names verdicts call its violations.
    pub properties: Vec<String>,
    /// Where it can be violated, and how many of these places were seen to be safe before anything was analysed.
    pub places: Places,
    pub violations: Vec<Violation>,
    /// Of all that is not violated.
    pub rest: Rest,
    /// That is proved only of executions in which all accesses are valid, which is not proved.
    pub assumes_valid_accesses: bool,
}

#[derive(Clone, Default, Debug)]
pub struct Places {
    pub all: usize,
    pub discharged: usize,
    /// Where the others are, those in the program's own code.
    pub open: Vec<Spot>,
}

#[derive(Clone, Debug)]
pub enum Rest {
    Proved,
    /// Why it is not known, for now or for ever.
    Unknown(Note),
    /// One violation was asked for, or this input cannot be asked.
    NotAsked,
}

/// Records a violation of a check: its number, and the finding that it follows from.
pub fn add_violation(checks: &mut [CheckResult], check: usize, mut violation: Violation) {
    let mut before: Vec<&Violation> = checks.iter().flat_map(|c| &c.violations).collect();
    before.sort_by_key(|violation| violation.number);
    violation.number = before.len() + 1;
    violation.cause =
        before.iter().find(|before| violation.follows(before)).map(|before| before.cause.unwrap_or(before.number));
    checks[check].violations.push(violation);
}

impl CheckResult {
    pub fn new(name: String, properties: Vec<String>) -> Self {
        let nothing = Note { text: "it was not looked at".into(), spot: None };
        Self {
            name,
            properties,
            places: Places::default(),
            violations: Vec::new(),
            rest: Rest::Unknown(nothing),
            assumes_valid_accesses: false,
        }
    }

    /// The verdict on it alone.
    pub fn answer(&self) -> Answer {
        match (self.violations.first(), &self.rest) {
            (Some(violation), _) => Answer::False(Box::new(violation.clone())),
            (None, Rest::Unknown(Note { text, spot })) => Answer::Unknown { reason: text.clone(), spot: spot.clone() },
            (None, Rest::Proved | Rest::NotAsked) => Answer::True,
        }
    }

    /// How many places are proved, violated, and open. Those that are proved hold up to the first violation at another one.
    pub fn counts(&self) -> [usize; 3] {
        let all = self.places.all;
        let violated = self.violations.len().min(all);
        let proved = match self.rest {
            Rest::Proved => all - violated,
            Rest::Unknown(_) => self.places.discharged.min(all - violated),
            Rest::NotAsked => 0,
        };
        [proved, violated, all - proved - violated]
    }

    /// In a word.
    pub fn word(&self) -> &'static str {
        match self.answer() {
            Answer::True if matches!(self.rest, Rest::NotAsked) => "not checked",
            Answer::True => "proved",
            Answer::False(_) => "violated",
            Answer::Unknown { .. } => "unknown",
        }
    }
}

/// Something that the analysis had to leave out or add.
#[derive(Clone, Debug)]
pub struct Note {
    pub text: String,
    pub spot: Option<Spot>,
}

impl Note {
    /// The text, with the place if there is one.
    pub fn on_a_line(&self) -> String {
        let place = self.spot.as_ref().map_or_else(String::new, |spot| format!(" at {spot}"));
        format!("{}{place}", self.text)
    }
}

/// Writes that a proof takes for valid, as nobody asked.
#[derive(Clone, Default, Debug)]
pub struct AssumedWrites {
    pub count: usize,
    /// Where they are, each place once.
    pub spots: Vec<Spot>,
}

/// What is said of TRUE.
#[derive(Clone, Default, Debug)]
pub struct Proved {
    pub invariants: Vec<LoopInvariant>,
    /// Why it says nothing of the program.
    pub nothing_checked: Option<String>,
    /// Assumptions that executions reach, and none satisfies.
    pub unsatisfied_assumptions: Vec<Spot>,
    /// The writes that it takes for valid.
    pub assumed_writes: AssumedWrites,
}

/// What a refinement has learned.
#[derive(Clone, Debug)]
pub struct Increment {
    /// Where the path went that was refuted.
    pub spot: Option<Spot>,
    /// What is tracked since.
    pub tracked: Vec<String>,
}

/// What a proof says of a loop.
#[derive(Clone, Debug)]
pub struct LoopInvariant {
    /// Places of the loop's head and of the ways back to it.
    pub spots: Vec<Spot>,
    pub function: String,
    /// All of them hold whenever control comes to the head.
    pub conditions: Vec<Condition>,
}

/// Why a loop or a recursion ends.
#[derive(Clone, Debug)]
pub struct Ranking {
    pub spot: Option<Spot>,
    pub function: String,
    pub is_recursion: bool,
    /// It gets lexicographically smaller with each iteration or call. Empty: there is never a second iteration.
    pub tuple: Vec<String>,
}

/// An exact C condition.
#[derive(Clone, Debug)]
pub struct Condition {
    pub text: String,
    /// Whether it was seen of a slice only and in what the slice may have left out, so that it is to be confirmed.
    pub in_doubt: bool,
    /// Where its variables are declared.
    pub declared: Vec<Spot>,
}

/// A function that nobody defines.
#[derive(Clone, Debug)]
pub struct Undefined {
    pub name: String,
    /// Places where it is or may be called.
    pub calls: usize,
    /// Those of them that matter for the property.
    pub relevant: usize,
}

/// What one of several analyses made of its part of the paths.
#[derive(Clone, Debug)]
pub struct PartReport {
    /// "from bound 1 to bound 2".
    pub paths: String,
    pub analysis: &'static str,
    pub verdict: &'static str,
    /// Of UNKNOWN.
    pub reason: Option<String>,
    pub seconds: f64,
}

#[derive(Clone, Debug)]
pub struct Report {
    pub answer: Answer,
    /// By what was asked; the answer sums it up.
    pub checks: Vec<CheckResult>,
    /// Where the paths were divided: what became of the parts.
    pub parts: Vec<PartReport>,
    /// Names of the properties that were asked for.
    pub properties: Vec<String>,
    pub files: Vec<String>,
    pub data_model: &'static str,
    pub analysis: String,
    /// The one of several analyses that gave the verdict.
    pub decided_by: Option<&'static str>,
    /// Of TRUE: what the proof checker says.
    pub proof: Option<String>,
    /// Of TRUE: why it says nothing of the program.
    pub nothing_checked: Option<String>,
    /// Of TRUE: assumptions that executions reach, and none satisfies.
    pub unsatisfied_assumptions: Vec<Spot>,
    /// Of TRUE: the writes that it takes for valid.
    pub assumed_writes: AssumedWrites,
    /// What was assumed of the call that the program starts with, and of functions that nobody defines.
    pub assumptions: Vec<String>,
    pub undefined: Vec<Undefined>,
    /// What the user should know of the input and of how it was read.
    pub warnings: Vec<Note>,
    /// Which analysis worked when.
    pub turns: Vec<Turn>,
    /// What refinements have learned, in order.
    pub increments: Vec<Increment>,
    /// Of TRUE: what the proof says of loops.
    pub invariants: Vec<LoopInvariant>,
    /// Of TRUE, where termination was asked for: what gets smaller.
    pub rankings: Vec<Ranking>,
    pub notes: Vec<Note>,
    /// Of UNKNOWN: what the user can do, the cheapest first.
    pub help: Vec<String>,
    pub models: Vec<String>,
    /// Counters and times, in a fixed order.
    pub stats: Vec<(String, f64)>,
}

impl Answer {
    /// For people: `UNKNOWN(reason at file.c:3:1)`.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self::Unknown { reason: reason.into(), spot: None }
    }

    /// What all results come to: FALSE if anything is violated, which a run comes to without another violation if there is such a one, TRUE if all
    /// is proved.
    pub fn of(checks: &[CheckResult]) -> Self {
        let violations = checks.iter().flat_map(|c| &c.violations);
        if let Some(violation) = violations.min_by_key(|v| (v.is_behind, v.cause.is_some())) {
            return Self::False(Box::new(violation.clone()));
        }
        for check in checks {
            if let Answer::Unknown { reason, spot } = check.answer() {
                return Self::Unknown { reason, spot };
            }
        }
        Self::True
    }

    /// As the verdict line has it.
    pub fn line(&self) -> String {
        match self {
            Answer::True => "TRUE".into(),
            Answer::False(violation) => format!("FALSE({})", violation.property),
            Answer::Unknown { reason, spot } => {
                let place = spot.as_ref().map_or_else(String::new, |s| format!(" at {s}"));
                let text = format!("{reason}{place}");
                let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
                format!("UNKNOWN({text})")
            }
        }
    }
}

impl Report {
    /// The last line of standard output.
    pub fn verdict_line(&self) -> String {
        self.answer.line()
    }

    /// The findings, one for each cause, in the order in which they were found; last what comes behind an access that is not valid.
    pub fn violations(&self) -> Vec<&Violation> {
        let of_checks = self.checks.iter().flat_map(|c| &c.violations).filter(|violation| violation.cause.is_none());
        let mut of_checks: Vec<&Violation> = of_checks.collect();
        of_checks.sort_by_key(|violation| (violation.is_behind, violation.number));
        match &self.answer {
            Answer::False(violation) if of_checks.is_empty() => vec![violation],
            _ => of_checks,
        }
    }

    /// The violations that follow from a finding.
    pub fn consequences<'r>(&'r self, finding: &'r Violation) -> impl Iterator<Item = &'r Violation> {
        let all = self.checks.iter().flat_map(|c| &c.violations);
        all.filter(|violation| violation.cause == Some(finding.number))
    }
}
