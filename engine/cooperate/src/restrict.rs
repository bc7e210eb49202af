//! Restricts a program to the paths that a condition does not cover.
//!
//! The result is the parallel composition of the program and the condition (ParComp: Beyer, Jakobs, Lemberger,
//! Wehrheim: Reducer-based construction of conditional verifiers, ICSE 2018), written as a program, so every analysis
//! can verify it. Where the condition accepts, paths end as if by a false assumption. Where it has no transition,
//! nothing is covered any more, and the code of the program follows.
//!
//! A function that is called in a state of the condition becomes a copy for this state, unless the state does not
//! change during the call. A global variable records the state in which a copy is left, and it is tested after the
//! call. The original functions keep their ids and addresses. Inputs and allocations keep their order. So the inputs of
//! a run are also inputs of the same run of the original program.

mod contents;
mod states;

use crate::condition::{Condition, StateId};
use crate::copies::Copies;
pub use crate::copies::Restricted;
use cfa::{CallGraph, Callee, Check, EdgeId, ErrorInfo, ExprId, FuncId, HaltKind, Id, LocId, Op, Out, Program};
use rustc_hash::FxHashMap;
use states::{COVERED, Interest, SetId, Sets};
use std::collections::hash_map::Entry;

/// The maximal number of edges of a restricted program, in addition to those of the original.
pub const MOST_EDGES: usize = 2_000_000;

/// The error that the restricted program would have too many edges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge;

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the residual program has more than {MOST_EDGES} edges")
    }
}

impl std::error::Error for TooLarge {}

/// The paths of `program` that `condition` does not cover, as a program. Fails if it is too large.
pub fn restrict(program: &Program, condition: &Condition) -> Result<Program, TooLarge> {
    restrict_with_map(program, condition).map(|restricted| restricted.program)
}

impl Restricted {
    /// The reachable edges that do not lead directly to the end of a covered path, with their original edges.
    pub fn left(&self) -> Vec<(EdgeId, EdgeId)> {
        let program = &self.program;
        let is_left = |edge: EdgeId| match (&program.edges[edge].op, program.locs[program.edges[edge].target].out) {
            // A call is executed even if its return is covered or unreachable.
            (Op::Call { .. }, _) => true,
            (_, Out::One(next)) => self.edges[next].is_some() || program.edges[next].op != Op::Halt(HaltKind::Assumed),
            _ => true,
        };
        let reached = reached(program);
        let edges = self.edges.iter().filter_map(|(new, old)| Some((new, (*old)?)));
        edges.filter(|&(new, _)| reached[program.edges[new].source.index()] && is_left(new)).collect()
    }
}

/// By location, true if control can reach it. The location after a call is reachable only if a callee can return.
fn reached(program: &Program) -> Vec<bool> {
    let calls = CallGraph::new(program);
    let mut reached = vec![false; program.locs.len()];
    let mut returns = vec![false; program.funcs.len()];
    // The locations after calls of each function that is not known to return.
    let mut waiting: FxHashMap<FuncId, Vec<LocId>> = FxHashMap::default();
    let mut todo = vec![program.funcs[program.entry].entry];
    while let Some(loc) = todo.pop() {
        if std::mem::replace(&mut reached[loc.index()], true) {
            continue;
        }
        for id in program.out_edges(loc) {
            let edge = &program.edges[id];
            match &edge.op {
                Op::Call { .. } => {
                    for &func in calls.callees(program, id).as_slice() {
                        todo.push(program.funcs[func].entry);
                        match returns[func.index()] {
                            true => todo.push(edge.target),
                            false => waiting.entry(func).or_default().push(edge.target),
                        }
                    }
                }
                Op::Return { .. } => {
                    let func = program.locs[loc].func;
                    returns[func.index()] = true;
                    todo.extend(waiting.remove(&func).into_iter().flatten());
                }
                Op::Halt(_) | Op::Error(_) => {}
                _ => todo.push(edge.target),
            }
        }
    }
    reached
}

/// Like [`restrict`], but also returns the map to the original.
pub fn restrict_with_map(program: &Program, condition: &Condition) -> Result<Restricted, TooLarge> {
    composition(program, condition).map(Restricted::with_loads)
}

/// Like [`restrict_with_map`], but branches may have conditions on memory contents.
pub(crate) fn composition(program: &Program, condition: &Condition) -> Result<Restricted, TooLarge> {
    composition_ending(program, condition, Op::Halt(HaltKind::Assumed))
}

/// The program with an error where `condition` accepts, and no other error edge. Other errors become false assumptions.
/// Faulting operations keep their errors.
pub(crate) fn question(program: &Program, condition: &Condition) -> Result<Program, TooLarge> {
    let mut program = program.clone();
    let accepted = ErrorInfo { check: Check::Call, message: "the automaton accepts".into(), place: None };
    let accepted = program.errors.push(accepted);
    let mut asked = composition_ending(&program, condition, Op::Error(accepted))?;
    for (_, edge) in asked.program.edges.iter_mut() {
        if matches!(edge.op, Op::Error(error) if error != accepted) {
            edge.op = Op::Halt(HaltKind::Assumed);
        }
    }
    Ok(asked.with_loads().program)
}

/// Like [`composition`], with `end` as the operation that ends covered paths.
fn composition_ending(program: &Program, condition: &Condition, end: Op) -> Result<Restricted, TooLarge> {
    let calls = CallGraph::new(program);
    let mut b = Builder {
        program,
        condition,
        out: Copies::new(program),
        sets: Sets::new(condition),
        copies: Vec::new(),
        by_key: FxHashMap::default(),
        sites: Vec::new(),
        todo: Vec::new(),
        interest: Interest::new(program, condition, &calls),
        calls: &calls,
        end,
    };
    let start = b.sets.intern(vec![condition.initial]);
    let entry = b.copy(program.entry, start);
    while let Some((copy, loc, set)) = b.todo.pop() {
        if b.out.program().edges.len() > program.edges.len() + MOST_EDGES {
            return Err(TooLarge);
        }
        b.expand(copy, loc, set);
    }
    b.finish();
    let entry = b.copies[entry].new;
    Ok(b.out.finish(entry))
}

/// Like [`restrict_with_map`], but uses less of the condition if the program would have too many edges.
pub fn restrict_as_far_as_possible(program: &Program, condition: &Condition) -> Restricted {
    composition_as_far_as_possible(program, condition).with_loads()
}

pub(crate) fn composition_as_far_as_possible(program: &Program, condition: &Condition) -> Restricted {
    let mut states = condition.states.len();
    let mut used = condition.clone();
    loop {
        match composition(program, &used) {
            Ok(restricted) => return restricted,
            // With a single state, only the program itself remains.
            Err(TooLarge) => {
                states /= 4;
                used = condition.truncated(states.max(1));
            }
        }
    }
}

/// A copy of a function for calls in certain states.
struct Copy {
    func: FuncId,
    new: FuncId,
    locs: FxHashMap<(LocId, SetId), LocId>,
    /// The returns of the copy: the location, the original edge, and the states after it.
    returns: Vec<(LocId, EdgeId, SetId)>,
    /// The distinct sets of states after returns.
    exits: Vec<SetId>,
    /// The indices of the calls of the copy.
    sites: Vec<usize>,
}

/// A call of a copy.
struct Site {
    caller: usize,
    callee: usize,
    /// The location after the call: in the new program, and in the original.
    after: LocId,
    target: LocId,
}

/// The restricted program under construction.
struct Builder<'a> {
    program: &'a Program,
    condition: &'a Condition,
    out: Copies<'a>,
    sets: Sets<'a>,
    copies: Vec<Copy>,
    by_key: FxHashMap<(FuncId, SetId), usize>,
    sites: Vec<Site>,
    todo: Vec<(usize, LocId, SetId)>,
    interest: Interest,
    calls: &'a CallGraph,
    /// The operation that ends covered paths.
    end: Op,
}

impl Builder<'_> {
    /// The copy of a function for calls in these states, created on demand.
    fn copy(&mut self, func: FuncId, set: SetId) -> usize {
        if let Some(&copy) = self.by_key.get(&(func, set)) {
            return copy;
        }
        let new = self.out.function(func);
        let entry = self.out.program().funcs[new].entry;
        let id = self.copies.len();
        self.by_key.insert((func, set), id);
        self.copies.push(Copy {
            func,
            new,
            locs: FxHashMap::default(),
            returns: Vec::new(),
            exits: Vec::new(),
            sites: Vec::new(),
        });
        if set == COVERED {
            self.covered(entry);
        } else {
            let original = self.program.funcs[func].entry;
            self.copies[id].locs.insert((original, set), entry);
            self.out.represent(entry, Some(original));
            self.todo.push((id, original, set));
        }
        id
    }

    /// The location in a copy that represents an original location in certain states, created on demand.
    fn loc(&mut self, copy: usize, loc: LocId, set: SetId) -> LocId {
        let Copy { new, locs, .. } = &mut self.copies[copy];
        match locs.entry((loc, set)) {
            Entry::Occupied(found) => *found.get(),
            Entry::Vacant(entry) => {
                let found = *entry.insert(self.out.location(*new));
                if set == COVERED {
                    self.covered(found);
                } else {
                    self.out.represent(found, Some(loc));
                    self.todo.push((copy, loc, set));
                }
                found
            }
        }
    }

    /// Ends a covered path at the location.
    fn covered(&mut self, loc: LocId) {
        self.out.end(loc, self.end.clone());
    }

    /// The location after an edge within a function.
    fn after(&mut self, copy: usize, edge: EdgeId, set: SetId) -> LocId {
        let (always, assuming) = self.sets.step(set, edge);
        self.assuming(copy, self.program.edges[edge].target, always, &assuming)
    }

    /// Like [`loc`](Self::loc), for these states together with those of `more` whose assumptions hold.
    fn assuming(&mut self, copy: usize, loc: LocId, mut states: Vec<StateId>, more: &[(ExprId, StateId)]) -> LocId {
        let Some((&(assumption, q), rest)) = more.split_first() else {
            let set = self.sets.intern(states);
            return self.loc(copy, loc, set);
        };
        let known = self.program.exprs.vars(assumption).iter().all(|&v| {
            let func = self.program.vars[v].func();
            func.is_none_or(|f| f == self.copies[copy].func)
        });
        if !known || self.sets.condition.states[q] == Default::default() {
            return self.assuming(copy, loc, states, rest);
        }
        let no = self.assuming(copy, loc, states.clone(), rest);
        states.push(q);
        let yes = self.assuming(copy, loc, states, rest);
        let new = self.copies[copy].new;
        let cond = self.out.expr(new, assumption);
        if let Some(c) = self.out.program().exprs.as_const(cond) {
            return if c.is_zero() { no } else { yes };
        }
        let here = self.out.location(new);
        self.out.test(here, cond, yes, no);
        here
    }

    /// Creates the outgoing edges of a location.
    fn expand(&mut self, copy: usize, loc: LocId, set: SetId) {
        let source = self.copies[copy].locs[&(loc, set)];
        match self.program.locs[loc].out {
            Out::Sink => {}
            Out::Branch { then_edge, else_edge } => {
                let then_target = self.after(copy, then_edge, set);
                let else_target = self.after(copy, else_edge, set);
                self.out.branch(source, [then_edge, else_edge], then_target, else_target);
            }
            Out::One(edge) => match self.program.edges[edge].op {
                Op::Call { callee, .. } => self.call(copy, source, edge, callee, set),
                Op::Return { .. } => self.returns(copy, source, edge, set),
                Op::Halt(_) | Op::Error(_) => {
                    // There is no continuation, so only the edge itself can be covered.
                    let covered = self.sets.step(set, edge).0;
                    if self.sets.intern(covered) == COVERED {
                        return self.covered(source);
                    }
                    let new = self.copies[copy].new;
                    let sink = self.out.location(new);
                    let op = self.out.op(new, edge);
                    self.out.edge(source, op, sink, edge);
                }
                _ => {
                    let op = self.out.op(self.copies[copy].new, edge);
                    let target = self.after(copy, edge, set);
                    self.out.edge(source, op, target, edge);
                }
            },
        }
    }

    fn returns(&mut self, copy: usize, source: LocId, edge: EdgeId, set: SetId) {
        // Assumptions at returns are ignored, because they refer to the caller's frame.
        let (states, _) = self.sets.step(set, edge);
        let exit = self.sets.intern(states);
        if exit == COVERED {
            return self.covered(source);
        }
        self.copies[copy].returns.push((source, edge, exit));
        if !self.copies[copy].exits.contains(&exit) {
            self.copies[copy].exits.push(exit);
            for site in self.copies[copy].sites.clone() {
                let (caller, target) = (self.sites[site].caller, self.sites[site].target);
                self.loc(caller, target, exit);
            }
        }
    }

    fn call(&mut self, copy: usize, source: LocId, edge: EdgeId, callee: Callee, set: SetId) {
        let (states, _) = self.sets.step(set, edge);
        let inside = self.sets.intern(states);
        if inside == COVERED {
            return self.covered(source);
        }
        let target = self.program.edges[edge].target;
        let op = self.out.op(self.copies[copy].new, edge);
        let states = self.sets.sets[inside.0 as usize].clone();
        let mut here = source;
        match callee {
            Callee::Direct(func) => {
                if !self.interest.is_blind(&states, func) {
                    return self.call_of_copy(copy, here, edge, op, func, inside);
                }
            }
            Callee::Indirect(_) => {
                let Op::Call { callee: Callee::Indirect(pointer), .. } = op else { unreachable!("a call") };
                for func in self.calls.callees(self.program, edge).as_slice().to_vec() {
                    if self.interest.is_blind(&states, func) {
                        continue;
                    }
                    let is_this = self.out.points_to(pointer, func);
                    if self.out.program().exprs.is_false(is_this) {
                        continue;
                    }
                    let new = self.copies[copy].new;
                    let (yes, no) = (self.out.location(new), self.out.location(new));
                    self.out.test(here, is_this, yes, no);
                    let mut op = op.clone();
                    if let Op::Call { callee, .. } = &mut op {
                        *callee = Callee::Direct(func);
                    }
                    self.call_of_copy(copy, yes, edge, op, func, inside);
                    here = no;
                }
            }
        }
        let after = self.loc(copy, target, inside);
        self.out.edge(here, op, after, edge);
    }

    /// A call of the copy of a function for these states.
    fn call_of_copy(&mut self, caller: usize, source: LocId, edge: EdgeId, mut op: Op, func: FuncId, inside: SetId) {
        let callee = self.copy(func, inside);
        if let Op::Call { callee: of, .. } = &mut op {
            *of = Callee::Direct(self.copies[callee].new);
        }
        let after = self.out.location(self.copies[caller].new);
        self.out.edge(source, op, after, edge);
        let target = self.program.edges[edge].target;
        self.copies[callee].sites.push(self.sites.len());
        self.sites.push(Site { caller, callee, after, target });
        for exit in self.copies[callee].exits.clone() {
            self.loc(caller, target, exit);
        }
    }

    /// Creates the returns of all copies, and the tests of their exits after calls.
    fn finish(&mut self) {
        let mut exit_var = None;
        for copy in 0..self.copies.len() {
            let returns = std::mem::take(&mut self.copies[copy].returns);
            let (new, exits) = (self.copies[copy].new, self.copies[copy].exits.clone());
            for (mut source, edge, exit) in returns {
                if exits.len() > 1 {
                    let var = *exit_var.get_or_insert_with(|| self.out.add_counter(EXIT_WIDTH));
                    let number = exits.iter().position(|&e| e == exit).expect("an exit of the copy");
                    let value = self.out.program_mut().exprs.int(EXIT_WIDTH, number as u64);
                    let before = self.out.location(new);
                    self.out.step(source, Op::Assign { var, value }, before);
                    source = before;
                }
                let op = self.out.op(new, edge);
                let sink = self.out.location(new);
                self.out.edge(source, op, sink, edge);
            }
        }
        for site in std::mem::take(&mut self.sites) {
            let exits = self.copies[site.callee].exits.clone();
            let func = self.copies[site.caller].new;
            let Some((&last, others)) = exits.split_last() else {
                self.out.end(site.after, Op::Halt(HaltKind::Assumed));
                continue;
            };
            let mut here = site.after;
            for (number, &exit) in others.iter().enumerate() {
                let var = exit_var.expect("a function that is left in several ways says how");
                let out = self.out.program_mut();
                let (var, number) = (out.var_expr(var), out.exprs.int(EXIT_WIDTH, number as u64));
                let is_this = out.exprs.eq(var, number);
                let yes = self.copies[site.caller].locs[&(site.target, exit)];
                let no = self.out.location(func);
                self.out.test(here, is_this, yes, no);
                here = no;
            }
            let to = self.copies[site.caller].locs[&(site.target, last)];
            self.out.step(here, Op::Skip, to);
        }
        debug_assert!(self.condition.states.get(self.condition.initial).is_some());
    }
}

/// The width in bits of the variable that records the exit of the last copy.
const EXIT_WIDTH: u32 = 32;
