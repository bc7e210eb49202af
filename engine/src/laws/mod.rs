//! The laws of the domain, tested against the interpreter on random programs.
//!
//! The test follows runs of the interpreter through the domain. A state *represents* a concrete state if some values of
//! its symbols satisfy its path condition and yield the concrete values of all live variables and all bytes of memory.
//!
//! - *transfer*: after each operation, a successor represents the result of the interpreter for each represented state;
//! - *prec*: for any precision, the abstracted state represents everything that the state represented;
//! - *merge*: a merged state represents everything that the two states represented;
//! - *order*: a state covers itself, and a covering state represents everything that the covered state represents;
//! - *evidence*: the inputs from a model of a state without abstraction lead the interpreter to the position of the
//!   state.
//!
//! The trail of a state determines the values of its symbols for a followed run. Only if a state of one path has to
//! represent a run of another path, a solver searches for the values.
//!
//! `PROVISO_PROGRAMS=N cargo test -p engine --lib laws` tests more programs. `PROVISO_SEED=N` starts at another seed.

#[path = "../../../slicer/tests/generator/mod.rs"]
pub(crate) mod generator;

mod domain;
mod execution;
mod representation;
mod suggestions;
mod wrappers;

use crate::algorithm::Explored;
use crate::algorithm::cpa::{CpaAlgorithm, Merge, Parameters};
use crate::analysis::reached::NoReachedSet;
use crate::analysis::waitlist::SearchOrder;
use crate::analysis::{Abstraction, At, Cpa, Pair, Sides, Step, Stop, Target};
use crate::domain::predicate::ByteRange;
use crate::domain::symbolic::SymbolicExecution;
use crate::domain::tracking::{Options, State, Tracking};
use crate::domain::value::Sharing;
use crate::semantics::control::Control;
use crate::semantics::{Event, ObjId, Object, Origin, Part, Piece, Slots, Val};
use crate::verdict::Taints;
use cfa::interp::{Interpreter, Limits, Observer, Outcome};
use cfa::{
    ArrayValue, Bv, EdgeId, ErrorId, Evaluator, Expr, ExprId, GlobalId, Id, LocId, Op, Program, Sort, SymId, Value,
    VarKind,
};
use execution::{Concrete, Content, Execution, execution};
use generator::{Random, Shape};
use rustc_hash::FxHashMap;
use smt::budget::Budget;
use smt::{Answer, Choice, Feasibility, PathSolver};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

/// Number of runs per program that are followed together.
const RUNS: u64 = 5;
/// Number of earlier states with which a state is compared.
const EARLIER: usize = 6;
/// Number of elements of a block copy that are checked after each step.
const LAMBDA_ELEMENTS: usize = 60;

/// A run that a state represents, at its current step.
struct Follower {
    run: Rc<Execution>,
    /// Number of executed steps.
    at: usize,
    /// The values of the symbols.
    symbols: FxHashMap<SymId, Value>,
    /// Number of events of the trail that `symbols` includes.
    events: usize,
    inputs: usize,
    /// Cache of term values.
    memo: FxHashMap<ExprId, Value>,
}

/// A state with the runs that it has to represent.
struct Followed {
    st: State,
    /// The state after the last abstraction.
    since: Rc<State>,
    followers: Vec<Follower>,
}

/// The configuration of the domain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DomainMode {
    /// Symbolic execution of single paths, without abstraction.
    Paths,
    /// Symbolic execution that merges states at loop heads.
    Merging,
    /// Value abstraction that also forgets constraints, with random precisions.
    Constraints,
    /// Predicate abstraction, with random predicates.
    Predicates,
    /// Value abstraction without constraints, with random precisions.
    Values,
}

impl DomainMode {
    fn is_abstract(self) -> bool {
        !matches!(self, DomainMode::Paths | DomainMode::Merging)
    }
}

/// Number of tests of each law.
#[derive(Default, Debug)]
struct Tally {
    transfers: u64,
    splits: u64,
    arrays: u64,
    lambdas: u64,
    abstractions: u64,
    merges: u64,
    covers: u64,
    evidence: u64,
    lost_to_problems: u64,
}

/// The domain under test.
struct Watched<'p> {
    inner: Tracking<'p>,
    program: &'p Program,
    way: DomainMode,
    random: Random,
    runs: Vec<Rc<Execution>>,
    earlier: FxHashMap<Control, Vec<State>>,
    tally: Tally,
    /// The seed, for messages.
    seed: u64,
}

type Check = Result<(), String>;

fn zero(sort: Sort) -> Value {
    match sort {
        Sort::Bv(width) => Value::Bv(Bv::zero(width)),
        Sort::Array { elem, .. } => {
            Value::Array(Rc::new(ArrayValue { default: Bv::zero(elem), entries: BTreeMap::new() }))
        }
    }
}

/// Records the last edge of a run.
struct Last(Option<EdgeId>);

impl Observer for Last {
    fn executed(&mut self, edge: EdgeId, _state: &cfa::interp::State) {
        self.0 = Some(edge);
    }
}

/// Adds some conditions of the program as predicates, and some predicates about memory.
fn add_predicates(cpa: &mut Tracking, program: &Program, random: &mut Random) {
    for edge in program.edges.values() {
        let Op::Assume { cond, branch: true, .. } = edge.op else { continue };
        if random.below(2) == 0 {
            let vars = program.exprs.vars(cond);
            let is_local = vars.iter().any(|&v| !matches!(program.vars[v].kind, VarKind::Global { .. }));
            let func = is_local.then_some(program.locs[edge.source].func);
            if !vars.is_empty() {
                cpa.predicate.precision_mut().add(func, None, cond);
            }
        }
    }
    for (global, object) in program.globals.iter() {
        let len = [1, 2, 4, 8][random.below(4)];
        if object.size < len || object.size > 64 {
            continue;
        }
        let offset = random.below((object.size / len) as usize) as u64 * len;
        let place = ByteRange { origin: Origin::Global(global), offset, len: len as u32 };
        let content = cpa.predicate.place_symbol(&mut cpa.symbolic.execution, place);
        let bound = cpa.symbolic.execution.terms.int(8 * place.len, [0, 1, 7, 100][random.below(4)]);
        let predicate = cpa.symbolic.execution.terms.ule(content, bound);
        cpa.predicate.precision_mut().add(None, None, predicate);
    }
}

/// Follows runs of the program for this seed.
fn follow(seed: u64, way: DomainMode, tally: &mut Tally) {
    let program = generator::generate_shaped(seed, Shape { pieces: true, ..Shape::default() }).program;
    let slots = Slots::new(&program);
    let mut random = Random::new(seed ^ 0x5eed);
    let runs: Vec<_> = (0..RUNS).map(|i| Rc::new(execution(&program, &slots, seed * RUNS + i))).collect();
    let solvers = Choice::default();
    let solver = PathSolver::new(solvers.open(), Budget::unlimited());
    let mut symbolic = SymbolicExecution::new(&program, solver, solvers);
    // The programs have no errors, so keep all locations as if they led to one.
    symbolic.leads_to_target.fill(true);
    let full = Options {
        values_only: false,
        full: true,
        numbers: false,
        sharing: Sharing::Scope,
        threshold: 0,
        values: true,
        predicates: false,
        boolean: false,
        folds: false,
    };
    let mut inner = if way.is_abstract() {
        let sharing = [Sharing::Location, Sharing::Scope][random.below(2)];
        Tracking::new(
            symbolic,
            Options {
                values_only: way == DomainMode::Values,
                full: random.below(8) == 0,
                numbers: random.below(3) == 0,
                sharing,
                threshold: [0, 2][random.below(2)],
                values: way != DomainMode::Predicates,
                predicates: way == DomainMode::Predicates,
                boolean: random.below(2) == 0,
                // Folding renumbers objects, and runs are compared by object numbers.
                folds: false,
            },
        )
    } else {
        // Plain symbolic execution.
        let mode = symbolic.execution.mode;
        let mut inner = Tracking::new(symbolic, full);
        inner.symbolic.execution.mode = mode;
        inner.symbolic.undecided = None;
        inner
    };
    if way == DomainMode::Predicates {
        add_predicates(&mut inner, &program, &mut random);
    }
    let heads = inner.symbolic.heads();
    let merge = if way == DomainMode::Merging { Merge::AtHeads } else { Merge::Never };
    let parameters = Parameters {
        heads,
        merge,
        search: SearchOrder::DepthFirst,
        seed,
        max_call_depth: 10_000,
        covers: true,
        notes_locations: false,
        counts_on_rest: false,
    };
    let cpa = Watched {
        inner,
        program: &program,
        way,
        random,
        runs,
        earlier: FxHashMap::default(),
        tally: std::mem::take(tally),
        seed,
    };
    let mut explorer = CpaAlgorithm::new(&program, cpa, NoReachedSet, parameters);
    let mut taints = Taints::default();
    match explorer.run(&Budget::unlimited(), &mut taints, &mut |_, _| {}) {
        Ok(Explored::Complete) => {}
        Ok(Explored::Target { .. }) => unreachable!("no program has errors"),
        Err(stop) => panic!("seed {seed}, {way:?}: {stop:?}"),
    }
    *tally = explorer.cpa.tally;
}

/// Follows runs of random programs. The environment may override their number `programs`. Returns the tally, and
/// whether the tally is that of the default settings.
fn follow_all(way: DomainMode, programs: u64) -> (Tally, bool) {
    let number = |name: &str| std::env::var(name).ok().map(|n| n.parse::<u64>().unwrap());
    let (seed, asked) = (number("PROVISO_SEED"), number("PROVISO_PROGRAMS"));
    let first = seed.unwrap_or(1);
    let mut tally = Tally::default();
    for seed in first..first + asked.unwrap_or(programs) {
        follow(seed, way, &mut tally);
    }
    println!("{way:?}: {tally:?}");
    assert!(tally.transfers > 0);
    (tally, seed.is_none() && asked.is_none())
}

#[test]
fn hold_path_by_path() {
    let (tally, usual) = follow_all(DomainMode::Paths, 80);
    assert!(!usual || tally.arrays > 50 && tally.lambdas > 20 && tally.evidence > 10 && tally.splits > 0, "{tally:?}");
}

#[test]
fn hold_where_states_are_merged() {
    let (tally, usual) = follow_all(DomainMode::Merging, 24);
    assert!(!usual || tally.merges > 3 && tally.evidence > 10, "{tally:?}");
}

#[test]
fn hold_where_constraints_are_forgotten() {
    let (tally, usual) = follow_all(DomainMode::Constraints, 30);
    assert!(!usual || tally.abstractions > 50 && tally.covers > 5, "{tally:?}");
}

#[test]
fn hold_where_predicates_are_kept() {
    let (tally, usual) = follow_all(DomainMode::Predicates, 20);
    assert!(!usual || tally.abstractions > 50, "{tally:?}");
}

#[test]
fn hold_for_values() {
    let (tally, usual) = follow_all(DomainMode::Values, 30);
    assert!(!usual || tally.abstractions > 15 && tally.covers > 2, "{tally:?}");
}

#[test]
fn hold_where_a_covering_state_lacks_unreachable_objects() {
    for (seed, way) in [(1252, DomainMode::Values), (790, DomainMode::Predicates)] {
        let mut tally = Tally::default();
        follow(seed, way, &mut tally);
        assert!(tally.covers > 0, "{tally:?}");
    }
}

#[test]
fn what_is_from_before_an_array_goes_with_it() {
    let mut object = Object::new(Val::Int(2560), 8, Origin::Global(GlobalId(0)), true);
    object.write_bytes(0, &[7]);
    object.write_cell(8, 8, Val::Ptr(ObjId(1), 0));
    object.set_array(ExprId(0));
    object.forget_numbers(|part| part != Part::WHOLE);
    assert!(object.array.is_none() && object.known_parts().is_empty());
    assert!([0, 1, 8].into_iter().all(|offset| object.piece(offset) == Piece::Default));
}
