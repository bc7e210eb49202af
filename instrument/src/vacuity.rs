//! Vacuous proofs. The verdict TRUE is vacuous for code that is unreachable because no execution satisfies an
//! assumption before it.
//!
//! An assumption is a call of `__VERIFIER_assume` or a similar function, or a call of a function of the program that
//! returns only if the assumptions in it hold. [`Assumptions::watch`] observes in runs which assumptions are satisfied.
//! [`Assumptions::question`] builds a program with which an analysis decides the others.

use cfa::callgraph::CallGraph;
use cfa::graph::{CfaGraphs, Predecessors};
use cfa::interp::{Observer, State};
use cfa::loops::LoopForest;
use cfa::{
    Callee, Check, Edge, EdgeId, ErrorInfo, FuncId, FunctionOrigin, HaltKind, Id, LocId, Op, Out, PlaceId, Program,
    Table,
};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// True if the call graph and the CFA allow an error to be reachable from the program's entry, or from a function that
/// may be started as a thread. Data races and deadlocks have no edge: the start of a thread may lead to them.
pub fn has_checks(program: &Program) -> bool {
    let is_of_threads = |error: &ErrorInfo| matches!(error.check, Check::DataRace | Check::Deadlock);
    if program.starts_threads() && program.errors.values().any(is_of_threads) {
        return true;
    }
    let calls = CallGraph::new(program);
    let started: &[FuncId] = if program.starts_threads() { calls.address_taken() } else { &[] };
    let reachable = calls.graph().reachable(started.iter().map(|func| func.0));
    let checks = |edge: &Edge| edge.fault.is_some() || matches!(edge.op, Op::Error(_));
    let is_reachable = |func: FuncId| calls.is_reachable(func) || reachable[func.index()];
    program.edges.iter().any(|(id, edge)| checks(edge) && is_reachable(program.func_of(id)))
}

/// The program point of an assumption.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Test {
    /// A branch, and the edge on which the condition is true.
    Branch(LocId, EdgeId),
    /// The condition is constantly false: the edge that ends the executions.
    False(EdgeId),
    /// A call of a [filter](Class::Filter).
    Call(EdgeId),
}

impl Test {
    fn branch(self) -> Option<LocId> {
        match self {
            Self::Branch(loc, _) => Some(loc),
            Self::False(_) | Self::Call(_) => None,
        }
    }
}

/// The reachability question about an assumption.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// An execution reaches the assumption.
    Reach,
    /// An execution satisfies the assumption.
    Satisfy,
}

/// The conditions under which calls of a function return.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Class {
    /// Calls always return.
    Always,
    /// Calls return unless an assumption in the function is false.
    Filter,
    /// A filter whose assumptions depend only on its arguments. Its calls count as the assumptions, not the assumptions
    /// inside it.
    Wrapper,
    /// Calls may not return for other reasons.
    Unknown,
}

impl Class {
    fn filters(self) -> bool {
        matches!(self, Self::Filter | Self::Wrapper)
    }
}

/// The assumptions in the program's own code, by number.
pub struct Assumptions<'p> {
    program: &'p Program,
    calls: CallGraph,
    classes: Table<FuncId, Class>,
    tests: Vec<Test>,
}

impl<'p> Assumptions<'p> {
    /// Finds the assumptions of a program.
    pub fn find(program: &'p Program) -> Self {
        let calls = CallGraph::new(program);
        let is_assumption = |edge: &Edge| edge.op == Op::Halt(HaltKind::Assumed);
        let is_named = |func: FuncId| is_called_assumption(program, func);
        if !program.edges.values().any(is_assumption) && !program.funcs.ids().any(is_named) {
            let classes = Table::filled(Class::Unknown, program.funcs.len());
            return Self { program, calls, classes, tests: Vec::new() };
        }
        let classes = classes(program, &calls);
        let predecessors = Predecessors::new(program);
        let mut tests = Vec::new();
        for (id, edge) in program.edges.iter() {
            let func = program.func_of(id);
            let is_own = program.funcs[func].origin == FunctionOrigin::Source && func != program.entry;
            if !is_own || !calls.is_reachable(func) || classes[func] == Class::Wrapper {
                continue;
            }
            match edge.op {
                Op::Halt(HaltKind::Assumed) => {
                    let branches = predecessors.edges_into(edge.source).iter().filter_map(|&before| {
                        let loc = program.edges[before].source;
                        let holds = program.out_edges(loc).find(|&e| e != before);
                        holds.map(|holds| Test::Branch(loc, holds))
                    });
                    let before = tests.len();
                    tests.extend(branches);
                    if tests.len() == before {
                        tests.push(Test::False(id));
                    }
                }
                Op::Call { callee: Callee::Direct(callee), .. } if classes[callee].filters() => {
                    tests.push(Test::Call(id));
                }
                _ => {}
            }
        }
        Self { program, calls, classes, tests }
    }

    /// True if there are no assumptions.
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// The numbers of the assumptions.
    pub fn numbers(&self) -> impl Iterator<Item = usize> + use<> {
        0..self.tests.len()
    }

    /// The source position of an assumption.
    pub fn place(&self, number: usize) -> Option<PlaceId> {
        let of = |edge: EdgeId| self.program.edges[edge].place;
        match self.tests[number] {
            Test::Branch(_, holds) => of(holds),
            Test::False(edge) | Test::Call(edge) => of(edge),
        }
    }

    /// True if the condition is constantly false.
    pub fn is_false(&self, number: usize) -> bool {
        matches!(self.tests[number], Test::False(_))
    }

    /// True if the assumption is a call of a function of the program.
    pub fn is_call(&self, number: usize) -> bool {
        matches!(self.tests[number], Test::Call(_))
    }

    /// An observer that records which assumptions runs reach and satisfy.
    pub fn watch(&self) -> Watch<'_> {
        let mut events = FxHashMap::default();
        for (number, test) in self.tests.iter().enumerate() {
            match *test {
                Test::Branch(loc, holds) => {
                    for edge in self.program.out_edges(loc) {
                        let event = Event { number, is_satisfied: edge == holds };
                        events.entry(edge).or_insert_with(Vec::new).push(event);
                    }
                }
                Test::False(edge) | Test::Call(edge) => {
                    events.entry(edge).or_insert_with(Vec::new).push(Event { number, is_satisfied: false });
                }
            }
        }
        let unknown = vec![false; self.tests.len()];
        Watch { assumptions: self, events, reached: unknown.clone(), satisfied: unknown }
    }

    /// A copy of the program with an error for each assumption in `which`, in order, at the goal. All other errors are
    /// removed.
    pub fn question(&self, which: &[usize], goal: Goal) -> Program {
        let mut asked = self.program.clone();
        asked.errors = Table::new();
        for edge in asked.edges.iter_mut().map(|(_, edge)| edge) {
            edge.fault = None;
            if matches!(edge.op, Op::Error(_)) {
                edge.op = Op::Halt(HaltKind::Abort);
            }
        }
        for &number in which {
            let message = format!("assumption {number}");
            let error = asked.errors.push(ErrorInfo { check: Check::Call, message, place: self.place(number) });
            let test = self.tests[number];
            let edge = match test {
                Test::Branch(_, edge) | Test::False(edge) | Test::Call(edge) => edge,
            };
            let func = asked.func_of(edge);
            let (found, sink) = (asked.add_location(func), asked.add_location(func));
            match (test, goal) {
                (Test::Branch(loc, _), Goal::Reach) => {
                    asked.out_edges(loc).for_each(|edge| asked.edges[edge].target = found);
                }
                (Test::Branch(..) | Test::Call(_), Goal::Satisfy) => asked.edges[edge].target = found,
                (Test::False(_) | Test::Call(_), Goal::Reach) => {
                    (asked.edges[edge].op, asked.edges[edge].target) = (Op::Skip, found);
                }
                (Test::False(_), Goal::Satisfy) => continue,
            }
            asked.add_edge(found, Op::Error(error), sink, None);
        }
        asked
    }

    /// The assumptions among `unsatisfied` that are root causes. A call is omitted if its callee may reach another
    /// unsatisfied assumption.
    pub fn innermost(&self, unsatisfied: &[usize]) -> Vec<usize> {
        let inner: Vec<u32> = unsatisfied.iter().map(|&number| self.func(number).0).collect();
        let has_reason = |&number: &usize| match self.tests[number] {
            Test::Call(edge) => {
                let callees = self.calls.callees(self.program, edge);
                let reached = self.calls.graph().reachable(callees.as_slice().iter().map(|func| func.0));
                !inner.iter().any(|&func| reached[func as usize])
            }
            _ => true,
        };
        unsatisfied.iter().copied().filter(has_reason).collect()
    }

    fn func(&self, number: usize) -> FuncId {
        match self.tests[number] {
            Test::Branch(_, edge) | Test::False(edge) | Test::Call(edge) => self.program.func_of(edge),
        }
    }

    /// True if, without executions past these assumptions, no check is reachable and no execution ends in another way.
    /// Linear in the size of the program.
    pub fn exclude_everything(&self, unsatisfied: &[usize]) -> bool {
        let program = self.program;
        let blocked: BTreeSet<EdgeId> = unsatisfied
            .iter()
            .filter_map(|&number| match self.tests[number] {
                Test::Branch(_, edge) | Test::Call(edge) => Some(edge),
                Test::False(_) => None,
            })
            .collect();
        let mut signs = self.conditions();
        signs.extend(endless(program).into_iter().filter(|&loc| !self.is_in_filter(loc)));
        let mut reach = Reach::new(program);
        reach.from(program.funcs[program.entry].entry);
        while let Some(loc) = reach.todo.pop() {
            if signs.contains(&loc) {
                return false;
            }
            for id in program.out_edges(loc) {
                let edge = &program.edges[id];
                let is_sign = match edge.op {
                    Op::Error(error) => matches!(program.errors[error].check, Check::Call | Check::Automaton),
                    Op::Halt(kind) => kind != HaltKind::Assumed && !self.is_in_filter(loc),
                    _ => false,
                };
                if is_sign {
                    return false;
                }
                match edge.op {
                    Op::Call { .. } => {
                        reach.call(id, self.calls.callees(program, id).as_slice(), !blocked.contains(&id));
                    }
                    Op::Return { .. } => reach.returned(program.locs[loc].func),
                    _ if blocked.contains(&id) => {}
                    _ => reach.from(edge.target),
                }
            }
        }
        true
    }

    fn is_in_filter(&self, loc: LocId) -> bool {
        self.classes[self.program.locs[loc].func].filters()
    }

    /// The branches, without assumptions, of which one side leads to an assertion without further branches.
    fn conditions(&self) -> BTreeSet<LocId> {
        let program = self.program;
        let predecessors = Predecessors::new(program);
        let branches: BTreeSet<LocId> = self.tests.iter().filter_map(|test| test.branch()).collect();
        let is_filter =
            |op: &Op| matches!(op, Op::Call { callee: Callee::Direct(f), .. } if self.classes[*f].filters());
        let errors = program.edges.iter().filter(|(_, edge)| matches!(edge.op, Op::Error(_)));
        let mut todo: Vec<LocId> = errors.map(|(_, edge)| edge.source).collect();
        let mut seen: BTreeSet<LocId> = todo.iter().copied().collect();
        let mut found = BTreeSet::new();
        while let Some(loc) = todo.pop() {
            let func = program.locs[loc].func;
            let from_callers = self.calls.callers(func).filter(|_| program.funcs[func].entry == loc);
            for edge in predecessors.edges_into(loc).iter().copied().chain(from_callers) {
                let edge = &program.edges[edge];
                match edge.op {
                    Op::Assume { .. } if branches.contains(&edge.source) => {}
                    Op::Assume { .. } => drop(found.insert(edge.source)),
                    ref op if is_filter(op) => {}
                    _ if seen.insert(edge.source) => todo.push(edge.source),
                    _ => {}
                }
            }
        }
        found
    }
}

/// The meaning of an edge: an execution reaches this assumption, and may satisfy it.
#[derive(Clone, Copy)]
struct Event {
    number: usize,
    is_satisfied: bool,
}

/// An observer that records which assumptions runs reach and satisfy.
pub struct Watch<'a> {
    assumptions: &'a Assumptions<'a>,
    events: FxHashMap<EdgeId, Vec<Event>>,
    reached: Vec<bool>,
    satisfied: Vec<bool>,
}

impl Watch<'_> {
    /// True if a run or an analysis reached the assumption.
    pub fn is_reached(&self, number: usize) -> bool {
        self.reached[number]
    }
    /// True if a run or an analysis satisfied the assumption.
    pub fn is_satisfied(&self, number: usize) -> bool {
        self.satisfied[number]
    }
    /// Records that an analysis found an execution that satisfies the assumption.
    pub fn set_satisfied(&mut self, number: usize) {
        self.satisfied[number] = true;
    }
    /// Records that an analysis found an execution that reaches the assumption.
    pub fn set_reached(&mut self, number: usize) {
        self.reached[number] = true;
    }
}

impl Observer for Watch<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        for &Event { number, is_satisfied } in self.events.get(&edge).into_iter().flatten() {
            self.reached[number] = true;
            self.satisfied[number] |= is_satisfied;
        }
        let program = self.assumptions.program;
        if matches!(program.edges[edge].op, Op::Return { .. })
            && self.assumptions.classes[program.func_of(edge)].filters()
            && let Some(call) = state.call_stack().last()
        {
            for &Event { number, .. } in self.events.get(&call).into_iter().flatten() {
                self.satisfied[number] = true;
            }
        }
    }
}

/// Classifies all functions, callees before callers.
fn classes(program: &Program, calls: &CallGraph) -> Table<FuncId, Class> {
    let graphs = CfaGraphs::new(program);
    let mut classes = Table::filled(Class::Unknown, program.funcs.len());
    for func in calls.bottom_up().flatten().filter(|&func| !calls.is_recursive(func)) {
        let graph = &graphs.funcs[func];
        let edges: Vec<&Edge> =
            graph.locs.iter().flat_map(|&loc| program.out_edges(loc)).map(|edge| &program.edges[edge]).collect();
        if !edges.iter().any(|edge| matches!(edge.op, Op::Return { .. })) {
            continue;
        }
        let has_loops = || !LoopForest::new(&graph.graph, 0).loops().is_empty();
        let does_nothing_else = edges.iter().all(|edge| only_ends(&edge.op));
        let class = match is_called_assumption(program, func) && does_nothing_else {
            true => Class::Filter,
            false if has_loops() => Class::Unknown,
            false => edges.iter().map(|edge| class_of(&edge.op, &classes)).max().unwrap_or(Class::Always),
        };
        classes[func] = match class {
            Class::Filter if does_nothing_else && !program.funcs[func].params.is_empty() => Class::Wrapper,
            class => class,
        };
    }
    classes
}

/// The class of a function without loops whose only operation before the return is `op`.
fn class_of(op: &Op, classes: &Table<FuncId, Class>) -> Class {
    match op {
        Op::Halt(HaltKind::Assumed) => Class::Filter,
        Op::Halt(_) | Op::Error(_) | Op::Approx { .. } => Class::Unknown,
        Op::Call { callee: Callee::Direct(callee), .. } if classes[*callee].filters() => Class::Filter,
        Op::Call { callee: Callee::Direct(callee), .. } => classes[*callee],
        Op::Call { .. } => Class::Unknown,
        _ => Class::Always,
    }
}

/// True if the program itself defines the function and its name says that it is an assumption. Such a function may end
/// executions in any way.
fn is_called_assumption(program: &Program, func: FuncId) -> bool {
    let function = &program.funcs[func];
    function.origin == FunctionOrigin::Source && function.name.to_lowercase().contains("assume")
}

/// True if the operation changes only variables of its function.
fn only_ends(op: &Op) -> bool {
    matches!(op, Op::Skip | Op::Assign { .. } | Op::Assume { .. } | Op::Call { .. } | Op::Return { .. } | Op::Halt(_))
}

/// The reachable locations according to the CFA and the call graph.
struct Reach<'p> {
    program: &'p Program,
    seen: Table<LocId, bool>,
    todo: Vec<LocId>,
    returns: Table<FuncId, bool>,
    /// The calls that become passable when their callee returns.
    waiting: FxHashMap<FuncId, Vec<EdgeId>>,
}

impl<'p> Reach<'p> {
    fn new(program: &'p Program) -> Self {
        Self {
            program,
            seen: Table::filled(false, program.locs.len()),
            todo: Vec::new(),
            returns: Table::filled(false, program.funcs.len()),
            waiting: FxHashMap::default(),
        }
    }

    fn from(&mut self, loc: LocId) {
        if !std::mem::replace(&mut self.seen[loc], true) {
            self.todo.push(loc);
        }
    }

    /// Enters the callees of a call. If `comes_back`, continues after the call as soon as a callee returns.
    fn call(&mut self, edge: EdgeId, callees: &[FuncId], comes_back: bool) {
        for &func in callees {
            self.from(self.program.funcs[func].entry);
            match (comes_back, self.returns[func]) {
                (false, _) => {}
                (true, true) => self.from(self.program.edges[edge].target),
                (true, false) => self.waiting.entry(func).or_default().push(edge),
            }
        }
    }

    fn returned(&mut self, func: FuncId) {
        self.returns[func] = true;
        for edge in self.waiting.remove(&func).unwrap_or_default() {
            self.from(self.program.edges[edge].target);
        }
    }
}

/// The locations from which no end of their function is reachable: in endless loops, or where a slice removed the ends.
fn endless(program: &Program) -> Vec<LocId> {
    let ends = |op: &Op| matches!(op, Op::Halt(_) | Op::Error(_) | Op::Return { .. });
    let predecessors = Predecessors::new(program);
    let mut can_end = Table::filled(false, program.locs.len());
    let mut todo = Vec::new();
    for edge in program.edges.values().filter(|edge| ends(&edge.op)) {
        can_end[edge.target] = true;
        todo.push(edge.target);
    }
    while let Some(loc) = todo.pop() {
        for &edge in predecessors.edges_into(loc) {
            let source = program.edges[edge].source;
            if !std::mem::replace(&mut can_end[source], true) {
                todo.push(source);
            }
        }
    }
    let is_used = |loc: LocId| program.locs[loc].out != Out::Sink || !predecessors.edges_into(loc).is_empty();
    program.locs.ids().filter(|&loc| !can_end[loc] && is_used(loc)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::interp::{Inputs, Interpreter, Limits};

    /// A program in which `__start` calls `main`. `main` assumes that `v0` is 3 and then that `v0` is `second`. If `v0`
    /// is 4, `main` calls `fail`, which is the error.
    fn program(second: u32) -> Program {
        let text = format!(
            "program 64 entry f0\ntype ty0 void\ntype ty1 int \"int\" 32 signed\n\
             input in0 nondet \"n\" ty1 32\nvar v0 \"x\" ty1 32 = 0:32\n\
             func f0 \"__start\" source ty0 () entry l11 {{\n  l11:\n    t11: call main.f1 () -> l12\n  l12:\n    t12: halt exit 0:32 -> l13\n  l13:\n}}\n\
             func f1 \"main\" source ty0 () entry l0 {{\n  l0:\n    t0: v0 := havoc in0 -> l1\n\
             l1:\n    t1: if (v0 == 3:32) -> l2\n    t2: else ~(v0 == 3:32) -> l9\n\
             l2:\n    t3: if (v0 == {second}:32) -> l3\n    t4: else ~(v0 == {second}:32) -> l14\n\
             l3:\n    t5: if (v0 == 4:32) -> l4\n    t6: else ~(v0 == 4:32) -> l5\n\
             l4:\n    t7: call fail.f2 () -> l5\n  l5:\n    t8: return -> l6\n  l6:\n\
             l9:\n    t9: halt assumed -> l10\n  l10:\n  l14:\n    t13: halt assumed -> l15\n  l15:\n}}\n\
             func f2 \"fail\" source ty0 () entry l7 {{\n  l7:\n    t10: halt abort -> l8\n  l8:\n}}\n"
        );
        let mut program = cfa::text::parse(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
        crate::unreach_call(&mut program, &["fail".to_owned()]);
        program
    }

    #[test]
    fn runs_show_which_assumptions_are_satisfied() {
        let program = program(5);
        let assumptions = Assumptions::find(&program);
        assert_eq!(assumptions.numbers().count(), 2);
        let mut watch = assumptions.watch();
        for value in [7, 3] {
            let inputs = Inputs { values: vec![cfa::Bv::new(32, value)], ..Inputs::default() };
            Interpreter::new(&program).run(&mut inputs.source(), Limits::default(), &mut watch);
            assert_eq!((watch.is_reached(0), watch.is_satisfied(0)), (true, value == 3));
        }
        assert!(watch.is_reached(1) && !watch.is_satisfied(1));
    }

    #[test]
    fn a_question_has_an_error_for_each_assumption() {
        let program = program(5);
        let assumptions = Assumptions::find(&program);
        for (goal, value, number) in [(Goal::Satisfy, 3, 0), (Goal::Reach, 7, 0)] {
            let asked = assumptions.question(&[0, 1], goal);
            cfa::validate::validate(&asked).unwrap();
            let inputs = Inputs { values: vec![cfa::Bv::new(32, value)], ..Inputs::default() };
            let run = Interpreter::new(&asked).run(&mut inputs.source(), Limits::default(), &mut ());
            let error = run.outcome.error(&asked).map(|(error, _)| error);
            assert_eq!(error, asked.errors.ids().nth(number));
        }
    }

    #[test]
    fn a_condition_behind_an_assumption_is_no_check() {
        let program = program(5);
        let assumptions = Assumptions::find(&program);
        assert!(has_checks(&program));
        assert_eq!(assumptions.conditions().len(), 1, "the branch before the call of `fail`");
        assert!(assumptions.exclude_everything(&[1]) && assumptions.exclude_everything(&[0]));
        assert!(!assumptions.exclude_everything(&[]));
    }
}
