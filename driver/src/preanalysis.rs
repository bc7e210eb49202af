//! The static pre-analysis: it proves checks before slicing.

use crate::report::Note;
use crate::session::Session;
use crate::source::Sources;
use cfa::{EdgeId, ErrorId, Harm, Op, Program};
use engine::budget::Budget;
use engine::invariant::{Discharged, Unknown};
use instrument::{Site, let_pass, sites};
use rustc_hash::FxHashSet;
use std::cell::{Cell, RefCell};
use std::time::Duration;

/// The maximal processor time of the pre-analysis for all groups together, unless the user chose the limit for several
/// questions. It also takes at most half of the time left, or [`OF_SEVERAL`]. In that time, it proves more of thousands
/// of checks than the later analyses do. If it does not succeed, a pass without memory, which proves checks but no
/// accesses, may take a quarter of both.
const DISCHARGE: Duration = Duration::from_secs(60);

/// The fraction of the time left that it takes at most if the user chose the limit for several questions. For large
/// programs, it proves more than the later analyses do in the rest.
const OF_SEVERAL: (u32, u32) = (2, 3);

/// The divisor of that time if there is one question, which may be violated at once.
const OF_ONE: u32 = 4;

/// The pre-analyses of programs that differ only in their checks.
#[derive(Default)]
pub struct Looks {
    /// The passes take `1 / (1 + less)` of their time, and the rest is left to others.
    less: u32,
    /// The budget of passes with memory. It starts with the first of them.
    budget: RefCell<Option<Budget>>,
    /// True if a pass with memory took too long. It does not take less time for other groups.
    memory_takes_too_long: Cell<bool>,
    /// The number of passes still expected. The time is shared equally among them.
    expected: Cell<u32>,
}

/// The statically proved sites.
#[derive(Default)]
pub struct Holding {
    /// The sites whose errors are unreachable.
    pub sites: Vec<Site>,
    /// True if the proof assumes that all accesses are valid.
    pub rests_on_accesses: bool,
    /// The first call of unknown code. The pre-analysis assumes that such code only writes the memory that it can
    /// reach, and only calls functions whose addresses are taken.
    pub unknown: Option<Note>,
}

impl Looks {
    /// Starts a new time budget, for checks that are analysed again.
    pub fn again(&self) {
        self.budget.take();
    }

    /// Sets the number of passes that share the time.
    pub fn expect(&self, looks: usize) {
        self.expected.set(looks as u32);
    }

    /// Returns the sites at which the error is proved unreachable.
    pub fn holding(&self, session: &Session, program: &Program, found: &[(Site, ErrorId)]) -> Holding {
        if !has_work_at(program, found) {
            return Holding::default();
        }
        let looks = self.expected.get().max(1);
        self.expected.set(looks - 1);
        let has_checks = found.iter().any(|(site, _)| matches!(site, Site::Check(_)));
        let discharged = session.stage("the static pre-analysis", "discharge", || {
            let with_memory = || {
                let budget = self.budget.borrow_mut().get_or_insert_with(|| budget(session, 1 + self.less)).clone();
                let share = budget.remaining().map_or_else(|| budget.clone(), |left| budget.exerting(left / looks));
                if self.memory_takes_too_long.get() {
                    return Discharged::analyse_functions(program, &share);
                }
                let found = Discharged::compute(program, &share);
                self.memory_takes_too_long.set(found.as_ref().is_none_or(|found| !found.is_whole()));
                found
            };
            let found = with_memory();
            found.or_else(|| has_checks.then(|| Discharged::analyse_variables(program, &budget(session, 4))).flatten())
        });
        let Some(discharged) = discharged else { return Holding::default() };
        let holds = |site: &Site| match *site {
            Site::Check(edge) => !discharged.is_reachable(program.edges[edge].source),
            Site::Fault(edge) => {
                let source = program.edges[edge].source;
                !discharged.is_reachable(source) || discharged.is_valid(edge, source)
            }
            Site::Call(_) | Site::Lost(_) => false,
        };
        let asks_of_memory = found.iter().any(|(site, _)| matches!(site, Site::Fault(_)));
        let sites: Vec<Site> = found.iter().map(|(site, _)| *site).filter(holds).collect();
        let rests_on_accesses = !asks_of_memory && !discharged.are_all_valid();
        let note = |unknown: &Unknown| {
            let spot = unknown.place.and_then(|place| Sources::new().spot(program, place));
            Note { text: unknown.reason.clone(), spot }
        };
        let unknown = discharged.unknown().first().map(note);
        if let Some(note) = &unknown {
            let holds_but_for_it = |site: &Site| match *site {
                Site::Check(edge) => discharged.holds_but_for_unknown(None, program.edges[edge].source),
                Site::Fault(edge) => discharged.holds_but_for_unknown(Some(edge), program.edges[edge].source),
                Site::Call(_) | Site::Lost(_) => false,
            };
            let waiting = found.iter().filter(|(site, _)| !holds(site) && holds_but_for_it(site)).count();
            tell_of(session, note, discharged.unknown().len() - 1, waiting);
            for (harm, assumption) in [(Harm::Bounded, BOUNDED_HARM), (Harm::Undefined, NO_DIVISION_BY_ZERO)] {
                if discharged.unknown().iter().any(|unknown| unknown.harm == harm) {
                    session.shared().assume([assumption.to_owned()]);
                }
            }
        }
        Holding { sites, rests_on_accesses, unknown }
    }
}

/// Returns true if the pre-analysis of the program may prove something.
pub fn has_work(program: &Program) -> bool {
    has_work_at(program, &sites(program))
}

fn has_work_at(program: &Program, found: &[(Site, ErrorId)]) -> bool {
    let is_provable = |site: &Site| match *site {
        Site::Check(_) => true,
        Site::Fault(edge) => !matches!(program.edges[edge].op, Op::Leak(_)),
        Site::Call(_) | Site::Lost(_) => false,
    };
    // The pre-analysis follows only one thread.
    !program.starts_threads() && found.iter().any(|(site, _)| is_provable(site))
}

/// Adds a warning that names the unknown code and the number of places that depend on it.
fn tell_of(session: &Session, note: &Note, others: usize, waiting: usize) {
    let at = note.spot.as_ref().map_or(String::new(), |spot| format!(" at {spot}"));
    let others = if others == 0 { String::new() } else { format!(", and {others} others like this") };
    let places = if waiting == 1 { "1 place depends".to_owned() } else { format!("{waiting} places depend") };
    if waiting > 0 {
        session.shared().warnings.push(format!("{places} on unknown code: {}{at}{others}", note.text));
    }
}

/// The assumption of proofs about places in programs with divisions that no check is about.
const NO_DIVISION_BY_ZERO: &str =
    "no division is by zero or overflows (--check integer-divide-by-zero,signed-integer-overflow checks divisions)";

/// The assumption of proofs about places in programs that call unknown code.
const BOUNDED_HARM: &str = "undefined functions and inline assembly write only memory that is reachable from their arguments and global variables, call only functions whose addresses are taken, and have no effect after they return";

/// Removes the checks of accesses and frees that are statically proved. A proof of the remaining program is a proof of
/// the original. Returns true if there were checks and all of them are proved.
pub fn leave_out_valid(session: &Session, program: &mut Program) -> bool {
    let found = sites(program);
    if found.iter().any(|(site, _)| matches!(site, Site::Check(_) | Site::Call(_))) {
        return false;
    }
    let looks = Looks { less: OF_ONE - 1, ..Looks::default() };
    let Holding { sites: valid, unknown: None, .. } = looks.holding(session, program, &found) else { return false };
    if session.records.report_data {
        let valid: FxHashSet<Site> = valid.iter().copied().collect();
        for site in found.iter().filter(|(site, _)| valid.contains(site)) {
            let property = session.job.violated_property(program.errors[site.1].check);
            session.shared().report_data.add_checked(property, program, std::iter::once(*site), &Sources::new());
        }
    }
    leave_out(program, &valid);
    let all_hold = !found.is_empty() && valid.len() == found.len();
    if all_hold {
        // The pre-analysis proves no site after an operation that drops behaviours. All sites are proved, so none lies
        // after such an operation, and the operation cannot affect the verdict.
        for edge in program.edges.ids() {
            if matches!(program.edges[edge].op, Op::Approx { taint } if program.taints[taint].under) {
                program.edges[edge].op = Op::Skip;
            }
        }
    }
    all_hold
}

/// Removes the errors of these sites, which are proved or are not asked about.
pub fn leave_out(program: &mut Program, sites: &[Site]) {
    let (faults, others): (Vec<Site>, Vec<Site>) = sites.iter().partition(|site| matches!(site, Site::Fault(_)));
    for site in faults {
        if let Site::Fault(edge) = site {
            program.edges[edge].fault = None;
        }
    }
    let_pass(program, &others);
}

/// Returns the places that violations at these edges come from. Leak checks are at the ends of executions, so they are
/// replaced by the allocations that may leak.
pub fn origins(program: &Program, places: Vec<EdgeId>) -> Vec<EdgeId> {
    let is_leak = |&edge: &EdgeId| matches!(program.edges[edge].op, Op::Leak(_));
    if !places.iter().any(is_leak) {
        return places;
    }
    let calls = cfa::CallGraph::new(program);
    let allocates = |&edge: &EdgeId| {
        matches!(program.edges[edge].op, Op::Alloc { kind, .. } if kind.may_leak())
            && calls.is_reachable(program.func_of(edge))
    };
    places.iter().copied().filter(|edge| !is_leak(edge)).chain(program.edges.ids().filter(allocates)).collect()
}

/// Returns a budget, from now on, that is a fraction of the time of the pre-analysis. `part` is the divisor.
fn budget(session: &Session, part: u32) -> Budget {
    let limits = &session.limits;
    let is_chosen = !limits.is_default && session.job.questions.len() > 1;
    let most = limits.left().filter(|_| is_chosen).unwrap_or(DISCHARGE);
    let (share, of) = if is_chosen { OF_SEVERAL } else { (1, 2) };
    let effort = limits.processor_left().map_or(most, |left| most.min(left * share / of));
    let budget = session.budget.exerting(effort / part);
    let left = limits.timeout.map(|t| t.saturating_sub(limits.start.elapsed()));
    left.map_or(budget.clone(), |left| budget.within(left / (2 * part)))
}
