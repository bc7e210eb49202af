//! Coverage goals, and the goals that a run covers.

use super::given::Given;
use super::guide::Guide;
use crate::harness::not_passed;
use crate::test_format::imported::is_argument_count;
use cfa::interp::{
    InputSource, Interpreter, LimitKind, Limits, ObjectSeq, Observer, Outcome, Recording, State, Unknown,
};
use cfa::{
    AllocKind, Bv, CallGraph, Callee, EdgeId, Expr, ExprId, FunctionOrigin, HaltKind, Id, InputId, InputKind, LocId,
    Op, Out, PlaceId, Program, UnOp, VarId,
};
use driver::environment::Process;
use driver::environment::replay::{Origins, Replayer, RequestedInputs};
use driver::source::Sources;
use driver::trace::Trace;
use frontend_llvm::GIVEN;
use rustc_hash::FxHashSet;
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// A coverage criterion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Coverage {
    /// Every statement. The goals are basic blocks, which end at branches and calls.
    Statements,
    /// Both outcomes of each branch, including those of `&&`, `||` and `?:`, as gcov counts them.
    Branches,
    /// Branches, and both values of each comparison whose value is used otherwise than by a branch.
    Conditions,
    /// A call of one of these functions.
    Calls(Vec<String>),
}

impl Coverage {
    /// Returns the name of the goals, in the plural.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Statements => "statements",
            Self::Branches => "branches",
            Self::Conditions => "conditions",
            Self::Calls(_) => "error calls",
        }
    }

    /// Returns the query in the language of Test-Comp's property files.
    pub fn query(&self) -> String {
        match self {
            Self::Statements => "COVER EDGES(@BASICBLOCKENTRY)".into(),
            Self::Branches => "COVER EDGES(@DECISIONEDGE)".into(),
            Self::Conditions => "COVER EDGES(@CONDITIONEDGE)".into(),
            Self::Calls(names) => {
                format!("COVER EDGES(@CALL({}))", names.first().map_or("reach_error", String::as_str))
            }
        }
    }
}

/// The maximal number of steps of a run if earlier runs of the program did not end.
pub const ENDLESS: u64 = 200_000;

/// The maximal number of steps of a run.
pub const STEPS: u64 = 20_000_000;

/// Returns the limits of a run.
pub fn limits(steps: u64) -> Limits {
    /// The maximal time. A tool that measures coverage would treat a longer run as endless.
    const TIME: Duration = Duration::from_secs(2);
    let deadline = Some(Instant::now() + TIME);
    Limits { steps, memory: 1 << 28, call_depth: 20_000, deadline, ..Limits::default() }
}

/// Adds edges for goals that have no edge of their own: a branch on each condition whose value is only computed, and
/// an edge for a block that consists of a branch only.
pub fn prepare(program: &mut Program, coverage: &Coverage) {
    match coverage {
        Coverage::Statements => {
            // A switch is a chain of branches with the same place. Only the first one gets a statement of its own.
            let goes_on = |e: &cfa::Edge| matches!(e.op, Op::Assume { .. }).then_some((e.target, e.place));
            let further: FxHashSet<_> = program.edges.values().filter_map(goes_on).collect();
            for loc in program.locs.ids().collect::<Vec<_>>() {
                if let Out::Branch { then_edge, else_edge } = program.locs[loc].out
                    && is_own(program, then_edge)
                    && !further.contains(&(loc, program.edges[then_edge].place))
                {
                    let place = program.edges[then_edge].place;
                    let (func, out) = (program.locs[loc].func, program.locs[loc].out);
                    let behind = program.add_location(func);
                    program.locs[behind].out = out;
                    program.edges[then_edge].source = behind;
                    program.edges[else_edge].source = behind;
                    program.locs[loc].out = Out::Sink;
                    program.add_edge(loc, Op::Skip, behind, place);
                }
            }
        }
        Coverage::Conditions => {
            // The last operand of `&&` is a branch of the front end. Both successors meet again before the value is
            // used.
            let branches = program.edges.values().filter_map(|e| match e.op {
                Op::Assume { cond, .. } => Some((e.target, cond)),
                _ => None,
            });
            let branches: Vec<_> = branches.collect();
            let opposite = |&(target, cond): &(LocId, ExprId)| (target, program.exprs.not(cond));
            let branched: FxHashSet<_> = branches.iter().map(opposite).chain(branches.iter().copied()).collect();
            for edge in program.edges.ids().collect::<Vec<_>>() {
                let Some(place) = place_from(program, edge) else { continue };
                let source = program.edges[edge].source;
                let open = |condition: &ExprId| !branched.contains(&(source, *condition));
                for condition in conditions(program, edge).into_iter().filter(open) {
                    branch_before(program, edge, condition, place);
                }
            }
        }
        Coverage::Branches | Coverage::Calls(_) => {}
    }
}

fn is_own(program: &Program, edge: EdgeId) -> bool {
    let f = program.func_of(edge);
    program.funcs[f].origin == FunctionOrigin::Source && f != program.entry
}

/// Returns the place of an edge. If it has none, as the values of `&&`, returns the place of the next edge that has
/// one and is executed whenever this one is. `None` if no such edge is near.
fn place_from(program: &Program, mut edge: EdgeId) -> Option<PlaceId> {
    for _ in 0..4 {
        if let Some(place) = program.edges[edge].place {
            return Some(place);
        }
        let Out::One(next) = program.locs[program.edges[edge].target].out else { return None };
        edge = next;
    }
    None
}

/// Returns the comparisons whose values this edge computes without a branch on them; none if the edge is not of the
/// program's own code. Comparisons that select a value (`?:`) are excluded: they are branches of the front end, or
/// conversions of the front end that C does not have.
fn conditions(program: &Program, edge: EdgeId) -> Vec<ExprId> {
    let values: Vec<ExprId> = match &program.edges[edge].op {
        Op::Assign { value, .. } | Op::Store { value, .. } | Op::Return { value: Some(value) } => vec![*value],
        Op::Call { args, .. } => args.to_vec(),
        _ => Vec::new(),
    };
    let mut out = Vec::new();
    if is_own(program, edge) {
        let mut decided = FxHashSet::default();
        for value in values {
            program.exprs.visit(value, &mut FxHashSet::default(), |_, node| {
                if let Expr::Ite(condition, ..) = *node {
                    program.exprs.visit(condition, &mut decided, |_, _| {});
                }
            });
            program.exprs.visit(value, &mut FxHashSet::default(), |id, node| {
                let compares = match node {
                    Expr::Binary(op, ..) => op.is_comparison(),
                    Expr::FCompare(..) => true,
                    _ => false,
                };
                if compares && !out.contains(&id) && !decided.contains(&id) {
                    out.push(id);
                }
            });
        }
    }
    out
}

/// Inserts a branch on a condition before an edge. Both successors meet again at the edge.
fn branch_before(program: &mut Program, edge: EdgeId, condition: ExprId, place: PlaceId) {
    let source = program.detach(edge);
    let behind = program.add_location(program.locs[source].func);
    program.attach(edge, behind);
    let (then_edge, else_edge) = program.add_branch(source, condition, behind, behind, Some(place));
    program.set_meaning(then_edge, Some(true));
    program.set_meaning(else_edge, Some(false));
}

/// Returns the edges to cover. Edges of functions that the program cannot call are excluded.
pub fn goals(program: &Program, coverage: &Coverage) -> Vec<EdgeId> {
    let calls = CallGraph::new(program);
    let blocks = if *coverage == Coverage::Statements { statements(program) } else { Vec::new() };
    let is_goal = |edge: EdgeId| match (&program.edges[edge].op, coverage) {
        (_, Coverage::Statements) => blocks[edge.index()],
        (Op::Assume { .. }, Coverage::Branches | Coverage::Conditions) => {
            program.edges[edge].place.is_some() && !is_check(program, edge)
        }
        (Op::Call { callee: Callee::Direct(f), .. }, Coverage::Calls(names)) => names.contains(&program.funcs[*f].name),
        _ => false,
    };
    let own = |edge: EdgeId| is_own(program, edge) && calls.is_reachable(program.func_of(edge));
    program.edges.iter().map(|(id, _)| id).filter(|&e| own(e) && is_goal(e)).collect()
}

/// Returns true if the front-end inserted the branch: to separate undefined behaviour (such as a division by zero), or
/// to choose the object that a pointer argument of `--entry` points to. An assume edge of a condition in C records its
/// meaning (`means`), or is a case of a `switch`.
fn is_check(program: &Program, edge: EdgeId) -> bool {
    let Op::Assume { cond, means: None, .. } = program.edges[edge].op else { return false };
    let is_end = |op: &Op| match op {
        Op::Approx { .. } | Op::Error(_) | Op::Halt(HaltKind::Unreachable) => true,
        // Calls through function pointers in arguments test whether the function is undefined.
        Op::Call { callee: Callee::Direct(f), .. } => program.funcs[*f].name == GIVEN,
        _ => false,
    };
    let leads_to_end =
        |branch: EdgeId| program.out_edges(program.edges[branch].target).any(|e| is_end(&program.edges[e].op));
    let cond = match *program.exprs.get(cond) {
        Expr::Unary(UnOp::Not, inner) => inner,
        _ => cond,
    };
    let is_case = match program.exprs.get(cond) {
        Expr::Binary(op, ..) => op.is_comparison(),
        // The controlling expression of the `switch` never has the value of the case, or always.
        node => matches!(node, Expr::Const(_)),
    };
    !is_case || program.out_edges(program.edges[edge].source).any(leads_to_end)
}

/// Returns for each edge whether it is the first edge with a source place in its basic block. A block is entered only
/// at its first edge, and its edges are then all executed. It ends at a branch, and at a call, because a call may not
/// return.
fn statements(program: &Program) -> Vec<bool> {
    let mut into: Vec<u32> = vec![0; program.locs.len()];
    let mut starts: Vec<bool> = vec![false; program.locs.len()];
    for edge in program.edges.values() {
        let target = edge.target.index();
        into[target] += 1;
        starts[target] |= into[target] > 1 || matches!(edge.op, Op::Assume { .. } | Op::Call { .. });
    }
    program.funcs.values().for_each(|f| starts[f.entry.index()] = true);
    // The front-end leaves the code after a condition that never holds without an edge into it.
    starts.iter_mut().zip(&into).for_each(|(starts, &into)| *starts |= into == 0);
    let mut out = vec![false; program.edges.len()];
    for loc in program.locs.ids().filter(|l| starts[l.index()]) {
        let mut at = loc;
        while let Out::One(edge) = program.locs[at].out {
            if program.edges[edge].place.is_some() {
                out[edge.index()] = true;
                break;
            }
            at = program.edges[edge].target;
            if starts[at.index()] {
                break;
            }
        }
    }
    out
}

/// A complete run of the program, or the beginning of a run that does not end within the limits.
pub struct Executed {
    /// The minimal number of executions of each edge over several runs. The runs differ in the values that a test
    /// cannot provide.
    pub counts: Vec<u32>,
    /// The number of executions of each edge in the run on the given inputs.
    pub here: Vec<u32>,
    /// The inputs. For a run that does not end, only those values that the covered edges need.
    pub given: Given,
    /// True if the run did not end within the limits.
    pub is_endless: bool,
}

/// Runs the program on inputs. `Err` with the reason if there is no such run, or if the run uses an
/// over-approximation. If `is_endless` is set, the limit is only [`ENDLESS`] steps.
///
/// A test cannot provide arguments, files, the environment, and memory that was never written. The function therefore
/// repeats the run with other values for these. An edge that is executed only with the original values is not covered
/// by the test.
pub fn execute(
    program: &Program,
    interpreter: &Interpreter<'_>,
    source: &mut dyn InputSource,
    is_endless: bool,
) -> Result<Executed, String> {
    let run = execute_once(program, interpreter, source, is_endless, Approximations::Invalid)?;
    let is_endless = run.is_endless;
    let (here, mut counts, values) = (run.counts.clone(), run.counts, run.values);
    if !run.is_alone {
        let runs = OTHERS.into_iter().map(|others| {
            let mut source = Alone { program, values: values.iter(), others };
            Ok(execute_once(program, interpreter, &mut source, is_endless, Approximations::Invalid)?.counts)
        });
        least(&mut counts, runs);
    }
    Ok(Executed { counts, here, given: Given::Values(values), is_endless })
}

/// Lowers each count to that of another run.
fn lower(counts: &mut [u32], other: &[u32]) {
    counts.iter_mut().zip(other).for_each(|(n, other)| *n = (*n).min(*other));
}

/// Returns the greater count of each edge.
fn most(counts: &[u32], others: &[u32]) -> Vec<u32> {
    counts.iter().zip(others).map(|(n, other)| *n.max(other)).collect()
}

/// Replaces each count by the least one over several runs. Some values lead to an invalid run, which does not count. If
/// all do, nothing is counted.
fn least(counts: &mut [u32], runs: impl Iterator<Item = Result<Vec<u32>, String>>) {
    let mut is_run = false;
    for run in runs.flatten() {
        lower(counts, &run);
        is_run = true;
    }
    if !is_run {
        counts.fill(0);
    }
}

/// Runs the program on all inputs that it takes, for a test that calls a function. Only the edges before the first
/// over-approximation count. If a harness cannot reproduce the run, all counts are 0. The check needs a trace, so it is
/// made only if `wants` returns true for the counts of the run. `Err` with the reason if there is no such run.
pub fn execute_inputs(
    program: &Program,
    interpreter: &Interpreter<'_>,
    source: &mut dyn InputSource,
    is_endless: bool,
    wants: impl FnOnce(&[u32]) -> bool,
) -> Result<Executed, String> {
    let mut recording = Recording::new(Borrowed(source));
    let run = execute_once(program, interpreter, &mut recording, is_endless, Approximations::End)?;
    let (here, mut counts, inputs) = (run.counts.clone(), run.counts, recording.inputs);
    let mut trace = Trace::default();
    if wants(&here) {
        trace = driver::trace::given(program, &inputs, &Sources::new(), limits(STEPS));
        let ilp32 = program.layout.pointer_width == 32;
        let is_given = trace.uninitialised.is_empty()
            && trace.unwritten_bytes == trace.unwritten_on_heap
            && trace.environment.doubts.is_empty()
            && not_passed(&trace, ilp32).is_empty()
            && trace.declared.iter().all(|d| d.can_be_defined() || d.bytes.is_empty());
        if !is_given {
            counts.fill(0);
        }
    }
    Ok(Executed { counts, here, given: Given::Call(Box::new(trace)), is_endless: run.is_endless })
}

/// Runs the program as a process with these inputs, for at most `steps` edges. Returns the run, and the inputs that the
/// program requested from the system. `Err` with the reason if there is no such run.
///
/// A process does not determine everything, such as the time. The function therefore repeats the run with other values,
/// as [`execute`] does, as long as `wants` returns true for the counts that are left. Otherwise nothing counts as
/// covered. In each run, only the edges before the first approximation that adds and drops behaviours count, since the
/// system may behave like no run of the model after it.
/// The edges that all runs execute before the first such value or approximation are covered. `guide` observes the first
/// run.
pub fn execute_process(
    program: &Program,
    replayer: &Replayer<'_>,
    process: &Process,
    steps: u64,
    guide: Option<&mut Guide<'_>>,
    wants: impl Fn(&[u32]) -> bool,
) -> Result<(Executed, RequestedInputs), String> {
    if program.starts_threads() {
        return Err("the program starts threads, whose schedule no test determines".into());
    }
    let read = Cell::new(0);
    let once = |mut others: Others, guide: Option<&mut Guide<'_>>| {
        let counter = Counter { counts: vec![0; program.edges.len()], read: &read, needed: 0, end: End::Never };
        let origins = RefCell::default();
        let mut observer = Determined {
            program,
            replayer,
            origins: &origins,
            guided: Guided { counter, guide },
            exact: None,
            determined: None,
        };
        let is_zero = matches!(others, Others::Zeros);
        let mut next = || others.next();
        let others: Option<&mut dyn FnMut() -> u64> = if is_zero { None } else { Some(&mut next) };
        let replayed = replayer.run_with_origins(process, others, limits(steps), &mut observer, &origins);
        let Determined { guided: Guided { counter, .. }, exact, determined, .. } = observer;
        // The system may behave differently from an approximation, and the process does not determine that.
        let doubt = replayed.run.taints.iter().find(|&&t| program.taints[t].over);
        let doubt = doubt.map(|&taint| program.taints[taint].reason.clone());
        let is_endless = match replayed.run.outcome {
            // The process has reached an invalid access. Its behaviour after the access does not matter.
            Outcome::Exit(_) | Outcome::Abort | Outcome::Error(..) | Outcome::Invalid { .. } => false,
            Outcome::Limit(LimitKind::Steps | LimitKind::Time | LimitKind::Endless) => true,
            // An assumption failed: a value that the process does not determine was impossible. The edges before the
            // assumption were executed nevertheless.
            Outcome::Assumed => false,
            other => return Err(format!("in its replay, {other}")),
        };
        let is_determined = replayed.is_determined && doubt.is_none();
        let is_whole = replayed.run.outcome != Outcome::Assumed;
        let exact = exact.unwrap_or_else(|| counter.counts.clone());
        let determined = determined.unwrap_or_else(|| exact.clone());
        Ok((counter.counts, is_determined, exact, determined, replayed.wanted, is_endless, doubt, is_whole))
    };
    let (here, is_determined, mut counts, determined, wanted, is_endless, doubt, _) = once(Others::Zeros, guide)?;
    if !is_determined {
        let mut before = determined;
        let more = (1..=MORE_OTHERS).map(|n| Others::Some(n.wrapping_mul(0x9fb2_1c65_1e98_df25)));
        let mut others = OTHERS_OF_PROCESSES.into_iter().chain(more);
        let mut is_run = false;
        let mut is_wanted = wants(&counts);
        let (mut whole, mut parts) = (here.clone(), Vec::new());
        while is_wanted && let Some(others) = others.next() {
            let Ok((taken, _, exact, determined, .., is_whole)) = once(others, None) else { continue };
            lower(&mut before, &determined);
            // A run that ends at a failed assumption used impossible values, so it does not count.
            if is_whole {
                lower(&mut counts, &exact);
                whole = most(&whole, &taken);
                is_run = true;
            } else {
                parts.push((taken, exact));
            }
            is_wanted = wants(&most(&counts, &before));
        }
        // The values before the impossible ones were possible. If they lead to code that no whole run executes, the whole
        // runs are not typical, and the run counts.
        for (taken, exact) in parts {
            if leaves(program, &taken, &whole) {
                lower(&mut counts, &exact);
                is_wanted = wants(&most(&counts, &before));
            }
        }
        match (is_wanted, is_run) {
            (true, true) => counts = most(&counts, &before),
            (true, false) => counts = before,
            (false, _) => counts.fill(0),
        }
    }
    let given = Given::Process { process: process.clone(), opened: wanted.opened.clone(), doubt };
    Ok((Executed { counts, here, given, is_endless }, wanted))
}

/// Returns true if the counts of a run contain an edge of the program that has no count in `others`. Edges of models do
/// not matter.
fn leaves(program: &Program, run: &[u32], others: &[u32]) -> bool {
    let is_own = |edge: EdgeId| program.funcs[program.func_of(edge)].origin == FunctionOrigin::Source;
    let edges = program.edges.ids().zip(run.iter().zip(others));
    edges.into_iter().any(|(edge, (&run, &other))| run > 0 && other == 0 && is_own(edge))
}

/// Cuts the paths on which an allocation or a read fails: the processes of analyses cannot arrange these.
pub fn without_failures(program: &mut Program) {
    let fails = |input: InputId| {
        let kind = &program.inputs[input].kind;
        *kind == InputKind::allocation() || *kind == InputKind::Environment("proviso_end_of_input".into())
    };
    let failing = |(id, edge): (EdgeId, &cfa::Edge)| match edge.op {
        Op::Havoc { var, input } if fails(input) => Some((id, var)),
        _ => None,
    };
    let failing: Vec<_> = program.edges.iter().filter_map(failing).collect();
    for (edge, var) in failing {
        cut_after(program, edge, var, |program, is_zero| program.exprs.not(is_zero));
    }
}

/// Cuts the paths on which `malloc` or a similar function returns null.
pub fn without_null_allocations(program: &mut Program) {
    const ALLOCATING: [&str; 10] = [
        "malloc",
        "calloc",
        "realloc",
        "reallocarray",
        "aligned_alloc",
        "memalign",
        "strdup",
        "__strdup",
        "strndup",
        "__strndup",
    ];
    let allocating = |(id, edge): (EdgeId, &cfa::Edge)| match edge.op {
        Op::Call { callee: Callee::Direct(callee), result: Some(var), .. } => {
            let function = &program.funcs[callee];
            let is_allocating =
                function.origin == FunctionOrigin::Model && ALLOCATING.contains(&function.name.as_str());
            is_allocating.then_some((id, var))
        }
        _ => None,
    };
    let calls: Vec<_> = program.edges.iter().filter_map(allocating).collect();
    // The front-end inlines `malloc`: a branch on the size, an allocation on one side, and null on the other.
    let is_allocation = |edge: EdgeId| match program.locs[program.edges[edge].target].out {
        Out::One(next) => matches!(program.edges[next].op, Op::Alloc { kind: AllocKind::MALLOC, .. }),
        _ => false,
    };
    let null_of = |out: &Out| match *out {
        Out::Branch { then_edge, else_edge } if is_allocation(then_edge) => Some(else_edge),
        Out::Branch { then_edge, else_edge } if is_allocation(else_edge) => Some(then_edge),
        _ => None,
    };
    let is_null = |&edge: &EdgeId| match program.locs[program.edges[edge].target].out {
        Out::One(next) => matches!(program.edges[next].op, Op::Assign { value, .. } if is_zero(program, value)),
        _ => false,
    };
    let nulls: Vec<EdgeId> = program.locs.values().filter_map(|loc| null_of(&loc.out)).filter(is_null).collect();
    for edge in nulls {
        program.edges[edge].target = program.add_location(program.func_of(edge));
    }
    for (edge, var) in calls {
        cut_after(program, edge, var, |_, is_zero| is_zero);
    }
}

fn is_zero(program: &Program, value: ExprId) -> bool {
    matches!(program.exprs.get(value), Expr::Const(constant) if constant.is_zero())
}

/// Cuts the paths on which the condition that `is_cut` makes of "the variable is 0" holds after an edge.
fn cut_after(program: &mut Program, edge: EdgeId, var: VarId, is_cut: impl Fn(&mut Program, ExprId) -> ExprId) {
    let func = program.func_of(edge);
    let (chosen, cut, target) = (program.add_location(func), program.add_location(func), program.edges[edge].target);
    program.edges[edge].target = chosen;
    let value = program.exprs.var(var, program.vars[var].width);
    let zero = program.exprs.constant(Bv::zero(program.vars[var].width));
    let is_zero = program.exprs.eq(value, zero);
    let is_cut = is_cut(program, is_zero);
    program.add_branch(chosen, is_cut, cut, target, None);
}

/// One run of the program.
struct Run {
    counts: Vec<u32>,
    values: Vec<(InputId, Bv)>,
    is_endless: bool,
    /// True if the run uses no value that a test cannot provide.
    is_alone: bool,
}

/// The meaning of over-approximations for a test.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Approximations {
    /// A run with one is no test.
    Invalid,
    /// The edges before the first one count. The behaviour after an invalid access does not matter either.
    End,
}

fn execute_once(
    program: &Program,
    interpreter: &Interpreter<'_>,
    source: &mut dyn InputSource,
    is_endless: bool,
    approximations: Approximations,
) -> Result<Run, String> {
    let limits = limits(if is_endless { ENDLESS } else { STEPS });
    let read = Cell::new(0);
    let end = match approximations {
        Approximations::Invalid => End::Never,
        Approximations::End => End::AtApproximation(program),
    };
    let mut counter = Counter { counts: vec![0; program.edges.len()], read: &read, needed: 0, end };
    let mut recorder = Recorder { program, source, values: Vec::new(), read: &read, is_alone: true };
    let run = interpreter.run(&mut recorder, limits, &mut counter);
    let ends = approximations == Approximations::End;
    let approximation = run.taints.iter().find(|&&t| program.taints[t].over);
    let reaches_source = || program.edges.ids().any(|edge| counter.counts[edge.index()] > 0 && is_own(program, edge));
    if let Some(&taint) = approximation.filter(|_| !(ends && reaches_source())) {
        return Err(program.taints[taint].reason.clone());
    }
    let is_endless = match run.outcome {
        Outcome::Exit(_) | Outcome::Abort | Outcome::Error(..) => false,
        Outcome::Invalid { .. } if ends => false,
        _ if approximation.is_some() => false,
        Outcome::Limit(LimitKind::Steps | LimitKind::Time | LimitKind::Endless) => true,
        other => return Err(format!("in its replay, {other}")),
    };
    let Recorder { mut values, is_alone, .. } = recorder;
    if is_endless {
        values.truncate(counter.needed);
    }
    Ok(Run { counts: counter.counts, values, is_endless, is_alone })
}

/// A source that another owns.
struct Borrowed<'a>(&'a mut dyn InputSource);

impl InputSource for Borrowed<'_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        self.0.unknown(what, width)
    }
    fn bytes(&mut self, object: ObjectSeq, offset: u64, bytes: &mut [u8]) {
        self.0.bytes(object, offset, bytes);
    }
    fn base(&mut self, object: ObjectSeq, size: u64, align: u32) -> Option<u64> {
        self.0.base(object, size, align)
    }
}

/// The values for everything that a test cannot provide.
#[derive(Clone, Copy)]
enum Others {
    /// All bits are 0.
    Zeros,
    /// All bits are 1.
    Ones,
    /// Each value is the number 1.
    Small,
    /// Random values. Holds the state of their generator (Marsaglia, Xorshift RNGs, 2003).
    Some(u64),
}

/// The values with which runs are repeated.
const OTHERS: [Others; 3] = [Others::Zeros, Others::Ones, Others::Some(0x9e37_79b9_7f4a_7c15)];
/// The number of further repetitions of a run of a process that seems to cover an open goal, each with other random values.
/// If a share `p` of the values misses the goal, `n` repetitions do not show this with the probability `(1 - p)^n`.
const MORE_OTHERS: u64 = 24;
/// The values with which runs of processes are repeated: many results of system calls are small. Several random ones
/// compare differently.
const OTHERS_OF_PROCESSES: [Others; 5] = [
    Others::Small,
    Others::Ones,
    Others::Some(0x9e37_79b9_7f4a_7c15),
    Others::Some(0xd1b5_4a32_d192_ed03),
    Others::Some(0x2545_f491_4f6c_dd1d),
];

impl Others {
    fn next(&mut self) -> u64 {
        match self {
            Self::Zeros => 0,
            Self::Ones => u64::MAX,
            Self::Small => 1,
            Self::Some(state) => {
                *state ^= *state << 13;
                *state ^= *state >> 7;
                *state ^= *state << 17;
                *state
            }
        }
    }
}

/// An input source with the values of a test, and other values for everything that a test cannot provide. After the
/// end of the test, its values are zeros.
struct Alone<'a> {
    program: &'a Program,
    values: std::slice::Iter<'a, (InputId, Bv)>,
    others: Others,
}

impl InputSource for Alone<'_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        match what {
            Unknown::Havoc(input) if matches!(self.program.inputs[input].kind, InputKind::Nondet(_)) => {
                self.values.next().map_or_else(|| Bv::zero(width), |(_, value)| value.resize(width))
            }
            Unknown::Havoc(input) if is_argument_count(self.program, input) => Bv::new(width, 1),
            _ => Bv::new(width.min(64), self.others.next()).resize(width),
        }
    }
    fn bytes(&mut self, _: ObjectSeq, _: u64, bytes: &mut [u8]) {
        bytes.iter_mut().for_each(|byte| *byte = self.others.next() as u8);
    }
}

/// Counts executed edges, as long as the number of values read is within the limit of a test.
struct Counter<'a> {
    counts: Vec<u32>,
    /// The number of values read so far.
    read: &'a Cell<usize>,
    /// The number of values read before the last edge that was executed for the first time.
    needed: usize,
    /// The edge from which on nothing counts.
    end: End<'a>,
}

/// The edge from which on a [`Counter`] counts nothing.
#[derive(Clone, Copy)]
enum End<'a> {
    /// There is none.
    Never,
    /// The first over-approximation of the program.
    AtApproximation(&'a Program),
    /// The run has passed it.
    Passed,
}

impl End<'_> {
    /// Returns true if the edge, or an earlier one, is the end.
    fn is_passed(&mut self, edge: EdgeId) -> bool {
        if let Self::AtApproximation(program) = *self
            && let Op::Approx { taint } = program.edges[edge].op
            && program.taints[taint].over
        {
            *self = Self::Passed;
        }
        matches!(self, Self::Passed)
    }
}

impl Observer for Counter<'_> {
    fn executed(&mut self, edge: EdgeId, _: &State) {
        /// The maximal number of values of a test.
        const MOST: usize = 100_000;
        let count = &mut self.counts[edge.index()];
        if self.read.get() > MOST || self.end.is_passed(edge) {
            return;
        }
        if *count == 0 {
            self.needed = self.read.get();
        }
        *count = count.saturating_add(1);
    }
}

/// A counter of edges, and a guide for mutation if there is one.
struct Guided<'a, 'g> {
    counter: Counter<'a>,
    guide: Option<&'a mut Guide<'g>>,
}

impl Observer for Guided<'_, '_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        self.counter.executed(edge, state);
        if let Some(guide) = &mut self.guide {
            guide.executed(edge, state);
        }
    }
}

/// Observes a run on the inputs of a process.
struct Determined<'a, 'g, 'p> {
    program: &'a Program,
    replayer: &'a Replayer<'p>,
    origins: &'a RefCell<Origins>,
    guided: Guided<'a, 'g>,
    /// The number of executions of each edge before the first approximation after which the system may behave like no
    /// run of the model: one that adds and drops behaviours. `None` before that.
    exact: Option<Vec<u32>>,
    /// The number of executions of each edge before the first value that the process does not determine, or the first
    /// over-approximation. `None` before that.
    determined: Option<Vec<u32>>,
}

impl Observer for Determined<'_, '_, '_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        let is_approximation = self.replayer.is_over_approximation(edge);
        let drops = || matches!(self.program.edges[edge].op, Op::Approx { taint } if self.program.taints[taint].under);
        if self.exact.is_none() && is_approximation && drops() {
            self.exact = Some(self.guided.counter.counts.clone());
        }
        if self.determined.is_none() && (is_approximation || self.origins.borrow().is_undetermined()) {
            self.determined = Some(self.guided.counter.counts.clone());
        }
        self.guided.executed(edge, state);
    }
}

/// Passes on the values of another source and records the results of the `__VERIFIER_nondet_*` functions.
struct Recorder<'a> {
    program: &'a Program,
    source: &'a mut dyn InputSource,
    values: Vec<(InputId, Bv)>,
    read: &'a Cell<usize>,
    /// True if the program read no other values.
    is_alone: bool,
}

impl InputSource for Recorder<'_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        let value = self.source.unknown(what, width).resize(width);
        if let Unknown::Havoc(input) = what
            && matches!(self.program.inputs[input].kind, InputKind::Nondet(_))
        {
            self.values.push((input, value.clone()));
            self.read.set(self.values.len());
        } else {
            self.is_alone = false;
        }
        value
    }
    fn bytes(&mut self, object: ObjectSeq, offset: u64, bytes: &mut [u8]) {
        self.is_alone = false;
        self.source.bytes(object, offset, bytes);
    }
    fn base(&mut self, object: ObjectSeq, size: u64, align: u32) -> Option<u64> {
        self.source.base(object, size, align)
    }
}
