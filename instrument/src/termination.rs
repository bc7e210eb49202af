//! Reduces termination to reachability.
//!
//! A nonterminating execution iterates some loop for ever in one call, or makes infinitely deep calls. A program
//! therefore terminates if each loop and each group of mutually recursive functions has a *ranking function*: a tuple
//! of values that decreases lexicographically in each iteration. Bit-vectors are finite, so every strictly decreasing
//! sequence is finite. A loop that ends only because a signed counter wraps around does not end over the integers, and
//! its overflow is undefined in C. A component may therefore have a [`floor`](Component::floor), far from the end of
//! its type. It must be above the floor whenever it decreases.
//!
//! The proofs hold for executions that C defines. [`only_defined`] ends all others.
//!
//! [`Cycles`] finds the loops and recursions to rank. It marks each loop with an edge that every iteration takes
//! exactly once. [`Cycles::check_loop`] inserts a check there: *if the tuple is not smaller than in the previous
//! iteration, error; store the tuple*. The tuple may consist of arbitrary expressions, because a check that cannot fail
//! is a proof for any tuple (Cook, Podelski, Rybalchenko: Termination proofs for systems code, PLDI 2006, with the
//! previous iteration as the stored state).

mod apart;
mod cells;
mod defined;
mod fixed;
mod recorded;

pub use apart::inputs_apart;
pub use cells::RankedCell;
pub use defined::{Guard, only_defined};
pub use fixed::{fix_inputs, may_be_chosen};

use cfa::dominators::Dominators;
use cfa::graph::{CfaGraphs, FuncGraph, Predecessors};
use cfa::loops::LoopForest;
use cfa::{
    Bv, CallGraph, Callee, Check, Edge, EdgeId, ErrorId, ErrorInfo, ExprId, FuncId, FunctionOrigin, HaltKind, LocId,
    Op, Out, PlaceId, Program, VarId, VarKind,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// A loop of one function.
#[derive(Clone, Debug)]
pub struct CyclicLoop {
    /// The function.
    pub func: FuncId,
    /// The head of the loop.
    pub head: LocId,
    /// The locations of the loop, including those of its inner loops.
    pub body: FxHashSet<LocId>,
    /// A `Skip` edge that every iteration takes exactly once.
    pub iteration: EdgeId,
    /// `Skip` edges. Every path into the loop takes one of them.
    pub enters: Vec<EdgeId>,
}

/// A group of mutually recursive functions.
#[derive(Clone, Debug)]
pub struct Recursion {
    /// The functions.
    pub funcs: Vec<FuncId>,
    /// The calls from a function of the group to a function of the group.
    pub calls: Vec<EdgeId>,
}

/// The loops and recursions of a program.
#[derive(Clone, Debug, Default)]
pub struct Cycles {
    /// The loops by function, outer loops before inner ones.
    pub loops: Vec<CyclicLoop>,
    /// The recursions.
    pub recursions: Vec<Recursion>,
    /// A call through a pointer that may be part of a recursion.
    pub unclear: Option<EdgeId>,
}

/// A component of a ranking function's tuple.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Component {
    /// The value.
    pub value: ExprId,
    /// The value must be above this floor when it decreases.
    pub floor: Option<i64>,
}

impl Cycles {
    /// Finds the loops and recursions of the reachable functions, and inserts the edges that mark them. The program's
    /// behaviour does not change. Existing edges keep their ids.
    pub fn mark(program: &mut Program) -> Self {
        let calls = CallGraph::new(program);
        let graphs = CfaGraphs::new(program);
        let mut all = Self::default();
        for (func, graph) in graphs.funcs.iter().filter(|(f, _)| calls.is_reachable(*f)) {
            let forest = LoopForest::new(&graph.graph, 0);
            let dominators = Dominators::new(&graph.graph, 0);
            let first = all.loops.len();
            let mut cuts = Vec::new();
            for (number, l) in (0u32..).zip(forest.loops()) {
                let body = forest.body(number);
                let own: Vec<u32> = body.iter().copied().filter(|&n| forest.innermost(n) == Some(number)).collect();
                let cut = match l.irreducible {
                    true => l.head,
                    false => cut(program, &graphs, graph, &dominators, l.head, &body, &own),
                };
                cuts.push(graph.locs[cut as usize]);
                let body = body.into_iter().map(|n| graph.locs[n as usize]).collect();
                let head = graph.locs[l.head as usize];
                all.loops.push(CyclicLoop { func, head, body, iteration: EdgeId(0), enters: Vec::new() });
            }
            for (number, cut) in cuts.into_iter().enumerate() {
                mark_loop(program, &mut all.loops[first..], number, cut);
            }
        }
        for group in calls.bottom_up() {
            let funcs: Vec<FuncId> =
                group.into_iter().filter(|&f| calls.is_reachable(f) && calls.is_recursive(f)).collect();
            let inner = |&call: &EdgeId| calls.callees(program, call).as_slice().iter().any(|f| funcs.contains(f));
            let edges: Vec<EdgeId> = funcs.iter().flat_map(|&f| calls.calls_in(f)).copied().filter(inner).collect();
            let through_pointer =
                |&e: &EdgeId| !matches!(program.edges[e].op, Op::Call { callee: Callee::Direct(_), .. });
            all.unclear = all.unclear.or(edges.iter().copied().find(through_pointer));
            if !funcs.is_empty() {
                all.recursions.push(Recursion { funcs, calls: edges });
            }
        }
        all
    }

    /// Makes it an error if an iteration of the loop does not decrease `tuple`, in the signed order of each component.
    /// `number` is the index of the loop in [`loops`](Self::loops). Returns the error edges.
    ///
    /// The loop is rotated: the operations before its iteration edge are duplicated, for the entry and for the back
    /// edge. The new head is the location where the tuple is stored. The check is on the back edge. The stored tuple
    /// therefore needs no loop invariant.
    pub fn check_loop(
        &self,
        program: &mut Program,
        number: usize,
        tuple: &[Component],
        cells: &[RankedCell],
    ) -> Vec<EdgeId> {
        let l = &self.loops[number];
        let place = place_of(program, l);
        let cut = program.edges[l.iteration].source;
        let used: FxHashSet<VarId> = tuple.iter().flat_map(|c| program.exprs.vars(c.value)).collect();
        let cells: Vec<&RankedCell> = cells.iter().filter(|c| used.contains(&c.var)).collect();
        let predecessors = Predecessors::new(program);
        let are_there: Vec<bool> = cells.iter().map(|c| c.is_there(program, &predecessors, cut)).collect();
        let load = |program: &mut Program, at: LocId| {
            cells.iter().zip(&are_there).fold(at, |at, (cell, &is_there)| cell.load(program, at, is_there))
        };
        let old: Vec<VarId> = tuple.iter().map(|c| temporary(program, l.func, c.value)).collect();
        let head = program.add_location(l.func);
        // The entry.
        let first = program.add_location(l.func);
        let at = load(program, first);
        program.add_edge(at, Op::Skip, head, None);
        copy_way_in(program, l, cut, first);
        // The back edge.
        program.locs[cut].out = Out::Sink;
        let at = load(program, cut);
        let message = "an iteration of the loop does not decrease its rank";
        let errors = check_smaller(program, at, head, tuple, &old, message, place);
        // The iteration.
        let remember: Vec<Op> = old.iter().zip(tuple).map(|(&var, c)| Op::Assign { var, value: c.value }).collect();
        let at = chain(program, head, remember);
        program.attach(l.iteration, at);
        errors
    }

    /// Makes it an error if a call of the recursion does not have a smaller tuple than the caller's own call had.
    /// `tuples` has a tuple for each function, over its parameters and globals. All tuples have the same widths.
    /// `number` is the index in [`recursions`](Self::recursions). Returns the error edges.
    pub fn check_recursion(
        &self,
        program: &mut Program,
        number: usize,
        tuples: &FxHashMap<FuncId, Vec<Component>>,
    ) -> Vec<EdgeId> {
        let recursion = &self.recursions[number];
        let mut old: FxHashMap<FuncId, Vec<VarId>> = FxHashMap::default();
        for &func in &recursion.funcs {
            let mut entry = program.funcs[func].entry;
            let mut vars = Vec::new();
            for &Component { value, .. } in tuples[&func].iter().rev() {
                let var = temporary(program, func, value);
                let before = program.add_location(func);
                program.add_edge(before, Op::Assign { var, value }, entry, None);
                entry = before;
                vars.push(var);
            }
            vars.reverse();
            program.funcs[func].entry = entry;
            old.insert(func, vars);
        }
        let mut errors = Vec::new();
        for &call in &recursion.calls {
            let Op::Call { callee: Callee::Direct(callee), args, .. } = program.edges[call].op.clone() else {
                continue;
            };
            let caller = program.func_of(call);
            let params = program.funcs[callee].params.clone();
            let mut memo = FxHashMap::default();
            let mut given = FxHashMap::default();
            for (i, &param) in params.iter().enumerate() {
                let width = program.vars[param].width;
                // A missing argument is unknown. The comparison of a parameter with itself proves nothing, so the check
                // fails.
                if let Some(&arg) = args.get(i) {
                    let arg = program.exprs.resize(width, arg);
                    given.insert(program.var_expr(param), arg);
                }
            }
            let mut at_call = |c: &Component| {
                let value = program.exprs.substitute(c.value, &mut memo, |_, leaf| given.get(&leaf).copied());
                Component { value, ..*c }
            };
            let tuple: Vec<Component> = tuples[&callee].iter().map(&mut at_call).collect();
            let (source, place) = (program.detach(call), program.edges[call].place);
            let message = "a recursive call does not decrease its rank";
            let on = program.add_location(caller);
            // A missing argument is unknown, so the check fails.
            let all_given = args.len() >= params.len();
            let (tuple, old) = if all_given { (&tuple[..], &old[&caller][..]) } else { (&[][..], &[][..]) };
            errors.extend(check_smaller(program, source, on, tuple, old, message, place));
            program.attach(call, on);
        }
        errors
    }
}

/// The source position of a loop: that of its first operation with a position, or of a jump back to it if that is
/// earlier in the source. If the loop has no condition, its first operation may belong to an inner loop (`for (;;) for
/// (…) …`), and the jump has the position of its keyword.
pub fn place_of(program: &Program, l: &CyclicLoop) -> Option<PlaceId> {
    let first = first_place(program, l)?;
    let position = |place: PlaceId| {
        let place = &program.places[place];
        (place.line, place.column)
    };
    let is_back = |edge: &&cfa::Edge| edge.target == l.head && l.body.contains(&edge.source);
    let jumps = program.edges.values().filter(is_back).filter_map(|edge| edge.place);
    let jumps = jumps
        .filter(|&jump| program.places[jump].file == program.places[first].file && program.places[jump].column > 0);
    jumps.chain([first]).min_by_key(|&place| position(place))
}

/// The position of the first operation of a loop with a position.
fn first_place(program: &Program, l: &CyclicLoop) -> Option<PlaceId> {
    let own = program.out_edges(l.head).find_map(|e| program.edges[e].place);
    let mut at = l.head;
    for _ in 0..l.body.len() {
        let mut found = None;
        for edge in program.out_edges(at) {
            let edge = &program.edges[edge];
            if l.body.contains(&edge.target) {
                if edge.place.is_some() {
                    return edge.place;
                }
                found = found.or(Some(edge.target));
            }
        }
        match found {
            Some(next) => at = next,
            None => break,
        }
    }
    own
}

/// Chooses the node of a reducible loop for the iteration edge: a node that every iteration passes, after the loop's
/// condition if that comes first, and before any operation with an effect. `own` are the nodes of the loop that are in
/// no inner loop.
fn cut(
    program: &Program,
    graphs: &CfaGraphs,
    graph: &FuncGraph,
    dominators: &Dominators,
    head: u32,
    body: &[u32],
    own: &[u32],
) -> u32 {
    let in_body: FxHashSet<u32> = body.iter().copied().collect();
    let latches: Vec<u32> = graph.graph.predecessors(head).iter().copied().filter(|p| in_body.contains(p)).collect();
    // The nodes that follow an operation with an effect in the same iteration.
    let mut behind: FxHashSet<u32> = FxHashSet::default();
    let mut work = Vec::new();
    for &n in body {
        for edge in program.out_edges(graph.locs[n as usize]) {
            let edge = &program.edges[edge];
            let Some(target) = graphs.node(edge.target) else { continue };
            if target != head
                && in_body.contains(&target)
                && changes_something(program, &edge.op)
                && behind.insert(target)
            {
                work.push(target);
            }
        }
    }
    while let Some(n) = work.pop() {
        for &next in graph.graph.successors(n) {
            if next != head && in_body.contains(&next) && behind.insert(next) {
                work.push(next);
            }
        }
    }
    // Nodes after a condition, but not after operations whose results the check would need from the previous iteration.
    let conditions: FxHashSet<LocId> = body
        .iter()
        .flat_map(|&n| program.out_edges(graph.locs[n as usize]))
        .filter(|&e| matches!(program.edges[e].op, Op::Assume { .. }) && !is_guard(program, program.edges[e].source))
        .map(|e| program.edges[e].target)
        .collect();
    let passed = |&n: &u32| {
        conditions.contains(&graph.locs[n as usize])
            && latches.iter().all(|&l| dominators.dominates(n, l))
            && !behind.contains(&n)
    };
    // All other candidates dominate the one that is furthest from the head.
    let mut best = head;
    for n in own.iter().copied().filter(passed) {
        if dominators.dominates(best, n) {
            best = n;
        }
    }
    best
}

/// True if one side of the branch is a false assumption.
fn is_guard(program: &Program, branch: LocId) -> bool {
    program.out_edges(branch).any(|e| {
        let mut next = program.out_edges(program.edges[e].target);
        next.any(|n| matches!(program.edges[n].op, Op::Halt(HaltKind::Assumed)))
    })
}

/// True if the operation changes anything except temporaries.
fn changes_something(program: &Program, op: &Op) -> bool {
    match op {
        Op::Skip | Op::Assume { .. } => false,
        Op::Assign { var, .. } | Op::Load { var, .. } => !matches!(program.vars[*var].kind, VarKind::Temp(_)),
        _ => true,
    }
}

/// Inserts the marking edges of a loop. `loops` are all loops of its function. A new location between two others
/// belongs to the loops that contain both.
fn mark_loop(program: &mut Program, loops: &mut [CyclicLoop], number: usize, cut: LocId) {
    let func = loops[number].func;
    // The iteration edge, between `cut` and its successors.
    let after = program.add_location(func);
    program.locs[after].out = program.locs[cut].out;
    for edge in program.out_edges(after).collect::<Vec<_>>() {
        program.edges[edge].source = after;
    }
    program.locs[cut].out = Out::Sink;
    loops[number].iteration = program.add_edge(cut, Op::Skip, after, None);
    loops.iter_mut().filter(|l| l.body.contains(&cut)).for_each(|l| {
        l.body.insert(after);
    });
    // The entries.
    let is_in = |loc: LocId| loops[number].body.contains(&loc);
    let entering = program.edges.iter().filter(|(_, e)| is_in(e.target) && !is_in(e.source));
    let entering: Vec<EdgeId> = entering.map(|(id, _)| id).collect();
    for edge in entering {
        let between = program.add_location(func);
        let target = std::mem::replace(&mut program.edges[edge].target, between);
        let source = program.edges[edge].source;
        let enter = program.add_edge(between, Op::Skip, target, None);
        loops[number].enters.push(enter);
        let around = loops.iter_mut().filter(|l| l.body.contains(&source) && l.body.contains(&target));
        around.for_each(|l| {
            l.body.insert(between);
        });
    }
    let entry = program.funcs[func].entry;
    if loops[number].body.contains(&entry) {
        let between = program.add_location(func);
        let enter = program.add_edge(between, Op::Skip, entry, None);
        loops[number].enters.push(enter);
        program.funcs[func].entry = between;
    }
}

/// Adds a temporary of the function for the value of `e`.
fn temporary(program: &mut Program, func: FuncId, e: ExprId) -> VarId {
    let width = program.exprs.width(e);
    let ty = program.types.push(cfa::CType::Unknown { width });
    program.vars.push(cfa::Var { name: None, ty, width, kind: VarKind::Temp(func), place: None })
}

/// Adds a chain of edges with these operations after `at`. Returns its last location.
fn chain(program: &mut Program, mut at: LocId, ops: impl IntoIterator<Item = Op>) -> LocId {
    let func = program.locs[at].func;
    for op in ops {
        let next = program.add_location(func);
        program.add_edge(at, op, next, None);
        at = next;
    }
    at
}

/// Redirects all entries of the loop to copies of the operations up to the first visit of `cut`. The copies lead to
/// `first` instead.
fn copy_way_in(program: &mut Program, l: &CyclicLoop, cut: LocId, first: LocId) {
    let mut copies: FxHashMap<LocId, LocId> = FxHashMap::from_iter([(cut, first)]);
    let mut work = Vec::new();
    let mut copy_of = |program: &mut Program, work: &mut Vec<LocId>, loc: LocId| {
        if !l.body.contains(&loc) {
            return loc;
        }
        *copies.entry(loc).or_insert_with(|| {
            work.push(loc);
            program.add_location(l.func)
        })
    };
    for &enter in &l.enters {
        let target = program.edges[enter].target;
        program.edges[enter].target = copy_of(program, &mut work, target);
    }
    while let Some(loc) = work.pop() {
        let copy = copy_of(program, &mut work, loc);
        match program.locs[loc].out {
            Out::Sink => {}
            Out::One(edge) => {
                let Edge { op, target, place, origin, .. } = program.edges[edge].clone();
                let target = copy_of(program, &mut work, target);
                let edge = program.add_edge(copy, op, target, place);
                program.edges[edge].origin = origin;
            }
            Out::Branch { then_edge, else_edge } => {
                let [then, other] = [then_edge, else_edge].map(|e| program.edges[e].clone());
                let Op::Assume { cond, .. } = then.op else { unreachable!("a branch") };
                let yes = copy_of(program, &mut work, then.target);
                let no = copy_of(program, &mut work, other.target);
                let (a, b) = program.add_branch(copy, cond, yes, no, then.place);
                for (new, old) in [(a, then), (b, other)] {
                    program.edges[new].op = old.op;
                    program.edges[new].origin = old.origin;
                }
            }
        }
    }
}

/// From `at`, which has no outgoing edge, leads to `good` if the tuple is smaller than `old` and `old` is not below a
/// floor. Otherwise leads to error edges, which the function returns. Each comparison is a separate branch, so that
/// "the tuple does not increase" is an invariant of inner loops.
fn check_smaller(
    program: &mut Program,
    mut at: LocId,
    good: LocId,
    tuple: &[Component],
    old: &[VarId],
    message: &str,
    place: Option<PlaceId>,
) -> Vec<EdgeId> {
    let func = program.locs[at].func;
    let mut errors = Vec::new();
    for (&Component { value, floor }, &was) in tuple.iter().zip(old) {
        let was = program.var_expr(was);
        let grows = program.exprs.slt(was, value);
        let (_, edge, next) = error_if(program, at, func, grows, message.to_owned(), place);
        errors.push(edge);
        at = program.add_location(func);
        let smaller = program.exprs.slt(value, was);
        let Some(floor) = floor else {
            program.add_branch(next, smaller, good, at, place);
            continue;
        };
        let got_smaller = program.add_location(func);
        program.add_branch(next, smaller, got_smaller, at, place);
        let width = program.exprs.width(was);
        let floor = program.exprs.constant(Bv::from_i64(width, floor));
        let below = program.exprs.slt(was, floor);
        let (_, edge, on) = error_if(program, got_smaller, func, below, message.to_owned(), place);
        errors.push(edge);
        program.add_edge(on, Op::Skip, good, None);
    }
    let error = program.errors.push(ErrorInfo { check: Check::Termination, message: message.to_owned(), place });
    let sink = program.add_location(func);
    errors.push(program.add_edge(at, Op::Error(error), sink, place));
    errors
}

/// From `at`, which has no outgoing edge, inserts an error if `wrong` is true. Returns the error, its edge, and the
/// location where execution continues.
fn error_if(
    program: &mut Program,
    at: LocId,
    func: FuncId,
    wrong: ExprId,
    message: String,
    place: Option<PlaceId>,
) -> (ErrorId, EdgeId, LocId) {
    let error = program.errors.push(ErrorInfo { check: Check::Termination, message, place });
    let [bad, sink, good] = [(); 3].map(|()| program.add_location(func));
    program.add_branch(at, wrong, bad, good, place);
    let edge = program.add_edge(bad, Op::Error(error), sink, place);
    (error, edge, good)
}

/// Makes every end of the program an error, including a false assumption of the program. An assumption in a library
/// model constrains the values of the environment. Some values always satisfy it, so no execution ends there. (The
/// functions that create the objects of `--entry` arguments have names that start with `<`. Their assumptions count as
/// ends.)
pub fn ends_are_errors(program: &mut Program) -> ErrorId {
    let info = ErrorInfo { check: Check::Termination, message: "the program ends".into(), place: None };
    let error = program.errors.push(info);
    for id in program.edges.ids() {
        let function = &program.funcs[program.func_of(id)];
        let is_model = function.origin == FunctionOrigin::Model && !function.name.starts_with('<');
        match program.edges[id].op {
            Op::Halt(HaltKind::Assumed) if is_model => {}
            Op::Halt(_) => program.edges[id].op = Op::Error(error),
            _ => {}
        }
    }
    error
}

/// Makes the `count`-th iteration of a loop in a run an error, counted from 1 over all entries of the loop. The message
/// is that the loop never ends.
pub fn stop_at_iteration(program: &mut Program, l: &CyclicLoop, count: u64, place: Option<PlaceId>) -> ErrorId {
    let source = program.detach(l.iteration);
    let (error, at) = stop_at(program, source, l.func, count, "this loop never ends", place);
    program.attach(l.iteration, at);
    error
}

/// Makes it an error to leave the loop after its `entry`-th entry in a run, counted from 1.
pub fn leaving_is_error(program: &mut Program, l: &CyclicLoop, entry: u64) {
    let (one, last) = (program.exprs.int(64, 1), program.exprs.int(64, entry));
    let counter = counter(program);
    let count = program.var_expr(counter);
    // The counter saturates, because a counter that keeps changing would prevent any state from recurring.
    let is_last = program.exprs.ule(last, count);
    let next = program.exprs.add(count, one);
    let value = program.exprs.ite(is_last, count, next);
    for &enter in &l.enters {
        program.edges[enter].op = Op::Assign { var: counter, value };
    }
    let mut leaving: Vec<EdgeId> = l.body.iter().flat_map(|&loc| program.out_edges(loc)).collect();
    leaving.sort_unstable();
    for edge in leaving {
        let Edge { target, place, .. } = program.edges[edge];
        if !l.body.contains(&target) {
            let between = program.add_location(l.func);
            program.edges[edge].target = between;
            let (.., on) = error_if(program, between, l.func, is_last, "the loop is left".into(), place);
            program.add_edge(on, Op::Skip, target, None);
        }
    }
}

/// Makes the `count`-th call of the function in a run an error, counted from 1. The message is that the nested calls
/// never end.
pub fn stop_at_call(program: &mut Program, func: FuncId, count: u64, place: Option<PlaceId>) -> ErrorId {
    let entry = program.add_location(func);
    let message = format!("the calls of {} within one another never end", program.funcs[func].name);
    let (error, at) = stop_at(program, entry, func, count, &message, place);
    let body = program.funcs[func].entry;
    program.add_edge(at, Op::Skip, body, None);
    program.funcs[func].entry = entry;
    error
}

/// Adds a global variable of 64 bits that is initially 0.
fn counter(program: &mut Program) -> VarId {
    let zero = program.exprs.int(64, 0);
    let ty = program.types.push(cfa::CType::Unknown { width: 64 });
    let kind = VarKind::Global { init: Some(zero), is_static: true };
    program.vars.push(cfa::Var { name: None, ty, width: 64, kind, place: None })
}

/// Counts the visits of `at` and makes the `count`-th one an error. Returns the error and the location where execution
/// continues.
fn stop_at(
    program: &mut Program,
    at: LocId,
    func: FuncId,
    count: u64,
    message: &str,
    place: Option<PlaceId>,
) -> (ErrorId, LocId) {
    let counter = counter(program);
    let (before, one) = (program.var_expr(counter), program.exprs.int(64, 1));
    let value = program.exprs.add(before, one);
    let counted = program.add_location(func);
    program.add_edge(at, Op::Assign { var: counter, value }, counted, None);
    let last = program.exprs.int(64, count);
    let reached = program.exprs.eq(before, last);
    let (error, _, on) = error_if(program, counted, func, reached, message.to_owned(), place);
    (error, on)
}

#[cfg(test)]
mod tests;
