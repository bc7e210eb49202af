//! Remedies for the verdict UNKNOWN: the obstacles that the undecided checks depend on, and the steps that a user can
//! take, the cheapest first.

use crate::evidence::loop_invariants::Loops;
use crate::report::{Answer, Note, Report, Rest, TARGETS_OF_ARGUMENTS, Undecided};
use crate::source::{Sources, Spot};
use cfa::{CallGraph, FunctionOrigin, Program};
use engine::ReasonKind;

/// The maximal number of loops, and of recursive functions, that are shown.
const MOST: usize = 3;
/// The maximal number of names of checks or functions that are shown.
const MAX_CHECKS: usize = 4;

/// A loop or a recursion that an undecided check depends on.
#[derive(Clone, PartialEq, Debug)]
pub enum Obstacle {
    /// A loop of this function, whose head is at this place.
    Loop {
        /// The name of the function that contains the loop.
        function: String,
        /// The place of the loop head.
        spot: Spot,
    },
    /// A recursive function, defined at this place.
    Recursion {
        /// The name of the recursive function.
        function: String,
        /// The place of its definition.
        spot: Spot,
    },
}

impl Obstacle {
    /// Returns the reachable loops and recursive functions of the user's code in a program or a slice. At most a few of
    /// each are returned.
    pub fn find(program: &Program, sources: &Sources) -> Vec<Self> {
        let calls = CallGraph::new(program);
        let mut loops: Vec<Self> = Vec::new();
        for head in Loops::new(program, true, sources).heads() {
            let function = program.funcs[head.func].name.clone();
            let Some(spot) = head.spots.into_iter().min().filter(|_| calls.is_reachable(head.func)) else { continue };
            let found = Self::Loop { function, spot };
            if !loops.contains(&found) {
                loops.push(found);
            }
        }
        loops.truncate(MOST);
        let is_own = |&func: &cfa::FuncId| {
            let is_source = program.funcs[func].origin == FunctionOrigin::Source;
            is_source && calls.is_reachable(func) && calls.is_recursive(func)
        };
        let recursion = program.funcs.ids().filter(is_own).filter_map(|func| {
            let info = &program.funcs[func];
            Some(Self::Recursion { function: info.name.clone(), spot: sources.spot(program, info.place?)? })
        });
        loops.into_iter().chain(recursion.take(MOST)).collect()
    }

    /// Returns a note about the obstacle, with its place.
    pub fn note(&self) -> Note {
        let (text, spot) = match self {
            Self::Loop { function, spot } => (format!("the result depends on this loop of `{function}`"), spot),
            Self::Recursion { function, spot } => {
                (format!("the result depends on the recursion of `{function}`"), spot)
            }
        };
        Note { text, spot: Some(spot.clone()) }
    }
}

/// The settings of a run without a verdict.
#[derive(Clone, Default, Debug)]
pub struct RemedyContext {
    /// The name of the entry function.
    pub entry: String,
    /// The time limit in seconds, and true if it limits the processor time.
    pub limit: Option<(u64, bool)>,
    /// True if functions without a definition may do anything.
    pub undefined_do_anything: bool,
    /// True if the program starts threads.
    pub is_threaded: bool,
    /// True if the program has inputs.
    pub takes_inputs: bool,
    /// True if the program calls a function of its own.
    pub has_parts: bool,
}

/// Returns the step that a user can take for a program with threads. Its interleavings are explored with few values of
/// inputs, from `main`, by one analysis. So other entry functions and analyses do not help.
fn of_threads(kind: ReasonKind) -> &'static str {
    match kind {
        ReasonKind::Time | ReasonKind::Memory => {
            "start fewer threads, or let their loops run less often: each step multiplies the interleavings"
        }
        ReasonKind::ThreadInputs => {
            "give the inputs constant values, and verify the program once for each: interleavings are not explored for all values"
        }
        _ => {
            "LIMITATIONS.md (Threads) lists the programs with threads that can be proved; a violation needs no such limits"
        }
    }
}

/// Returns the steps that a user can take when there is no verdict, the cheapest first.
pub fn remedies(report: &Report, question: &RemedyContext, obstacles: &[Obstacle]) -> Vec<String> {
    let Answer::Unknown(Undecided { kind, .. }) = report.answer else { return Vec::new() };
    let grows = matches!(kind, ReasonKind::Time | ReasonKind::Memory | ReasonKind::Complexity);
    let open: Vec<&str> =
        report.checks.iter().filter(|c| matches!(c.rest, Rest::Unknown(_))).map(|c| c.name.as_str()).collect();
    let mut help: Vec<String> = Vec::new();
    // Undefined functions that pointer arguments of the entry lead to have no name in C.
    let is_named = |name: &&str| *name != TARGETS_OF_ARGUMENTS;
    let relevant = report.undefined.iter().filter(|f| f.relevant > 0).map(|f| f.name.as_str());
    let undefined: Vec<&str> = relevant.filter(is_named).collect();
    if question.undefined_do_anything && !undefined.is_empty() {
        let names = undefined.iter().take(MAX_CHECKS).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        help.push(format!(
            "define {names}: add a file, or a stub in C by `--undefined-functions stubs.c`; \
             `--undefined-functions any-value` if only results matter"
        ));
    }
    let is_of_threads = question.is_threaded && !matches!(kind, ReasonKind::UndefinedFunction | ReasonKind::Stated);
    if is_of_threads {
        help.push(of_threads(kind).into());
    }
    let is_bounded_by_inputs = grows && question.takes_inputs;
    if is_bounded_by_inputs && obstacles.iter().any(|o| matches!(o, Obstacle::Loop { .. })) {
        help.push("bound the inputs that decide how often the loop runs: `__VERIFIER_assume(INPUT <= 8);`".into());
    }
    if is_bounded_by_inputs && obstacles.iter().any(|o| matches!(o, Obstacle::Recursion { .. })) {
        help.push("bound the inputs that decide how deep the recursion goes: `__VERIFIER_assume(INPUT <= 8);`".into());
    }
    if kind == ReasonKind::ControlFlow && question.has_parts && question.entry == "main" {
        help.push("verify the functions that do not use it: `--entry FUNCTION`".into());
    }
    if kind == ReasonKind::Approximation && !is_of_threads {
        help.push(
            "replace it where it is a function of the library: `--remove-function-body FUNCTION` and a stub in C; \
             LIMITATIONS.md lists what is modelled"
                .into(),
        );
    }
    if grows && question.entry == "main" && question.has_parts && !is_of_threads {
        help.push("verify a part: `--entry FUNCTION` starts at a smaller function".into());
    }
    let is_decided = report.checks.iter().any(|c| c.places.all > 0 && !matches!(c.rest, Rest::Unknown(_)));
    if grows && !(is_of_threads && kind == ReasonKind::Complexity) && is_decided && !open.is_empty() {
        let names = open.iter().take(MAX_CHECKS).copied().collect::<Vec<_>>().join(",");
        help.push(format!("select the undecided checks alone, which then have all the time: `--check {names}`"));
    }
    if matches!(kind, ReasonKind::Spurious | ReasonKind::Complexity) && !is_of_threads {
        help.push("try another analysis: `--list-analyses` lists them".into());
    }
    match (kind, question.limit) {
        (ReasonKind::Time, Some((seconds, of_processor))) => {
            let option = if of_processor { "--cpu-limit" } else { "--timeout" };
            help.push(format!("allow more time: `{option} {}`", seconds.saturating_mul(5).max(1)));
        }
        (ReasonKind::Memory, _) => help.push("allow more memory: `--memory-limit MB`".into()),
        _ => {}
    }
    if help.is_empty() && kind != ReasonKind::Stated {
        help.push("docs/guide/unknown.md lists what helps".into());
    }
    help
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(kind: ReasonKind) -> Report {
        Report { answer: Answer::Unknown(Undecided::new(kind, "a reason")), ..Report::default() }
    }

    /// Advice about inputs, functions and stubs is for programs that have them.
    #[test]
    fn remedies_fit_the_program() {
        let head = Spot { path: "a.c".into(), line: 1, column: 1 };
        let obstacles = [Obstacle::Loop { function: "main".into(), spot: head }];
        let advice = |kind, takes_inputs, has_parts| {
            let question = RemedyContext { entry: "main".into(), takes_inputs, has_parts, ..RemedyContext::default() };
            remedies(&unknown(kind), &question, &obstacles).join("\n")
        };
        assert!(!advice(ReasonKind::Complexity, false, false).contains("__VERIFIER_assume"));
        assert!(!advice(ReasonKind::Complexity, true, false).contains("--entry"));
        let time = advice(ReasonKind::Time, true, true);
        assert!(time.contains("INPUT") && time.contains("--entry FUNCTION"), "{time}");
        let jump = advice(ReasonKind::ControlFlow, true, true);
        assert!(!jump.contains("stub") && jump.contains("--entry FUNCTION"), "{jump}");
        let library = advice(ReasonKind::Approximation, true, true);
        assert!(library.contains("stub"), "{library}");
        assert_eq!(advice(ReasonKind::Stated, true, true), "");
    }

    #[test]
    fn every_limit_has_a_remedy() {
        for kind in [ReasonKind::Time, ReasonKind::Memory] {
            let question = RemedyContext { limit: Some((60, false)), ..RemedyContext::default() };
            let advice = remedies(&unknown(kind), &question, &[]).join("\n");
            assert!(advice.contains(if kind == ReasonKind::Time { "--timeout 300" } else { "--memory-limit" }));
        }
    }
}
