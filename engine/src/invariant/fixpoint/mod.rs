//! The fixed-point iteration: ascending with widening, then descending.
//!
//! Environments are stored only at *nodes*: entries of functions, joins (unless they branch immediately), and calls.
//! The analysis interprets the code between nodes without storing environments. It widens at loop heads and entries of
//! recursive functions (Bourdoncle, Efficient chaotic iteration strategies with widenings, 1993). A function has one
//! entry, joined over all its calls, and one exit of each kind. A caller keeps the facts that the callee cannot
//! invalidate.

pub mod apart;
pub mod contexts;
pub mod nodes;
pub mod thresholds;

use super::Invariants;
use crate::invariant::fixpoint::apart::Apart;
use crate::invariant::handlers::Handlers;
use crate::invariant::memory::cells::{Both, Joining};
use crate::invariant::memory::domain::MemoryDomain;
use crate::invariant::memory::environment::{Environment, Rows, steady_parameters};
use crate::invariant::memory::exit::{Exit, KINDS};
use crate::invariant::memory::gaps::pairs;
use crate::invariant::memory::relations::{Gap, Recent};
use crate::invariant::undefined::{UndefinedFunctions, is_undefined_call};
use crate::invariant::value::{Value, resized};
use crate::semantics::Paged;
use cfa::facts::globals_written;
use cfa::{
    CallGraph, Callee, EdgeId, Expr, ExprId, FuncId, FunctionOrigin, Harm, Id, LocId, Op, Out, Program, VarId, VarKind,
};
use fixedbitset::FixedBitSet;
use nodes::Nodes;
use rustc_hash::{FxHashMap, FxHashSet};
use slicer::pointer::Undefined;
use smt::bounds::Bounds;
use smt::budget::Budget;
use std::collections::BTreeSet;
use thresholds::thresholds;

/// The limits that decide how precise and how slow the analysis is.
#[derive(Clone, Copy)]
pub struct Strength {
    /// Largest number of edges of a function that is copied for each call.
    pub copied: usize,
    /// Number of joins at a node before widening starts.
    joins: u32,
    /// Widenings up to this number of changes stop at thresholds.
    stops: u32,
    /// Number of changes of a node before the analysis drops all changing facts.
    widenings: u32,
    /// Number of descending rounds.
    rounds: u32,
    /// A function's entry has facts only about the objects and global variables that it and its callees use.
    pub is_local: bool,
}

impl Strength {
    /// The usual strength.
    pub const FULL: Self =
        Self { copied: contexts::SMALL, joins: 3, stops: 40, widenings: 200, rounds: 3, is_local: false };
    /// The usual strength for large programs: entries of functions are [local](Self::is_local), and fewer functions are
    /// copied. On coreutils' `wc`, it takes a third of the time of `FULL`, and proves 99 % of what `FULL` proves.
    pub const LARGE: Self = Self { copied: 60, is_local: true, ..Self::FULL };
    /// For large programs, before `LARGE`: one context for each function that is not tiny, and widening that soon gives
    /// up.
    pub const QUICK: Self = Self { copied: 30, joins: 1, stops: 6, widenings: 12, rounds: 1, is_local: true };

    /// For the end of an ascending iteration that runs out of time: a second change of a node drops all facts that
    /// change. The facts that do not depend on themselves return in the descending iteration.
    pub const fn hurried(self) -> Self {
        Self { joins: 0, stops: 0, widenings: 1, ..self }
    }
}

/// The part of the time of an ascending iteration after which the analysis [hurries](Strength::hurried).
const UNHURRIED: (u32, u32) = (3, 4);

/// Number of nodes between checks of the budget.
const TICK: u32 = 128;

/// The continuation after an edge.
enum Next {
    /// The path ends, or continues elsewhere: in a callee or after a return.
    Stop,
    /// Continue in the present environment.
    Go,
    /// Continue in the present environment and in these.
    Also(Vec<Environment>),
}

/// The objects and global variables that functions use.
pub struct Uses {
    /// Per function: the objects that it and its callees may allocate or free.
    pub changed: Vec<FixedBitSet>,
    /// Per function: the objects that it and its callees may write, allocate or free.
    pub touched: Vec<FixedBitSet>,
    /// Per function: the objects in `touched` and those that it and its callees may read. The callee's entry state
    /// omits the cells of other objects, so a change to those cells does not trigger its re-analysis (Oh, Brutschy, Yi,
    /// Access analysis-based tight localization of abstract memories, VMCAI 2011).
    pub accessed: Vec<FixedBitSet>,
    /// Per function: the indices of the global variables that it and its callees may read or write.
    pub used: Vec<FixedBitSet>,
}

/// The state of the analysis of memory.
pub struct Following<'p> {
    /// The abstract domain of memory.
    pub domain: MemoryDomain<'p>,
    /// The program without copies of functions.
    pub original: &'p Program,
    /// By edge: the edge of `original` that it represents.
    pub origin: Vec<EdgeId>,
    /// The objects and global variables that functions use.
    pub uses: Uses,
    /// Per function: the objects of its stack frame.
    pub frames: Vec<Vec<u32>>,
    /// Operations that may be invalid.
    pub invalid: FxHashSet<EdgeId>,
    /// By function: true if it may return.
    pub returning: FixedBitSet,
}

/// The receiver of an environment: a node, or the exit of a function.
type Sent = Result<LocId, FuncId>;

/// The kind of a join of environments.
#[derive(Clone, Copy)]
enum Step {
    /// Join without widening.
    Join,
    /// Widen to the next threshold.
    Widen,
    /// Widen to the extreme values.
    Leap,
    /// Drop everything that would change.
    Forget,
}

impl Step {
    /// The kind of join after a number of changes at a node that is widened or not.
    fn after(changes: u32, is_widened: bool, strength: &Strength) -> Self {
        match changes {
            v if v < strength.joins || !is_widened && v < strength.widenings => Step::Join,
            v if v < strength.stops => Step::Widen,
            v if v < strength.widenings => Step::Leap,
            _ => Step::Forget,
        }
    }
}

/// The nodes whose environments have changed since they were interpreted, with their ranks.
#[derive(Default)]
struct Work {
    /// The nodes that come first, in ascending order of ranks.
    soon: BTreeSet<(u32, LocId)>,
    /// Entries of functions that have an exit: callers go on with that exit first, so that the function is interpreted
    /// once for the changes by all of them. Callers come before their callees.
    later: BTreeSet<(u32, LocId)>,
}

impl Work {
    fn next(&mut self) -> Option<LocId> {
        self.soon.pop_first().or_else(|| self.later.pop_last()).map(|(_, loc)| loc)
    }
}

/// The end of the interpretation from a node.
enum End {
    /// Another node, with the environment there.
    Node(LocId, Environment),
    /// The return of a function, with the environment and the value there.
    Return(FuncId, Exit),
}

/// The abstract interpretation of a program.
pub struct Analysis<'p> {
    pub(in crate::invariant) program: &'p Program,
    pub(in crate::invariant) calls: CallGraph,
    pub(in crate::invariant) rows: Rows,
    /// Set if memory is analysed.
    pub(in crate::invariant) following: Option<Following<'p>>,
    /// The functions, if they are analysed one by one.
    pub(in crate::invariant) apart: Option<Apart>,
    /// Per function: the pairs of counters whose differences are tracked.
    counters: Vec<Vec<Gap>>,
    /// The limits on its work.
    strength: Strength,
    /// The signal handlers. The global variables that they write may change at any time.
    handlers: Handlers,
    /// The effects of undefined functions, if memory of the whole program is analysed.
    undefined: UndefinedFunctions,
    /// Per function: the globals that it or its callees may write.
    written: Vec<FxHashSet<VarId>>,
    /// Per function: the parameters that it never writes.
    steady: Vec<Vec<VarId>>,
    is_node: Vec<bool>,
    widened: Vec<bool>,
    rank: Vec<u32>,
    downward: Vec<u32>,
    thresholds: FxHashMap<u32, Vec<u64>>,
    pub(in crate::invariant) at: Vec<Option<Environment>>,
    /// By function and [kind](Exit::kind).
    exits: Vec<[Option<Exit>; KINDS]>,
    visits: Vec<u32>,
    exit_visits: Vec<[u32; KINDS]>,
    reached: Vec<bool>,
}

impl<'p> Analysis<'p> {
    /// An analysis of variables without memory.
    pub fn new(program: &'p Program) -> Self {
        let calls = CallGraph::new(program);
        let n = program.locs.len();
        let Nodes { is_node, widened, rank, downward } = Nodes::compute(program, &calls);
        Self {
            calls,
            rows: Rows::new(program),
            following: None,
            apart: None,
            counters: pairs(program),
            strength: Strength::FULL,
            handlers: Handlers::none(),
            undefined: UndefinedFunctions::none(),
            written: globals_written(program),
            steady: steady_parameters(program),
            is_node,
            widened,
            rank,
            downward,
            thresholds: thresholds(program),
            at: vec![None; n],
            exits: vec![[const { None }; KINDS]; program.funcs.len()],
            visits: vec![0; n],
            exit_visits: vec![[0; KINDS]; program.funcs.len()],
            reached: vec![false; n],
            program,
        }
    }

    /// Runs the analysis. `None` if the budget is spent before the fixed point is reached.
    pub fn run(mut self, budget: &Budget) -> Option<Invariants> {
        self.iterate(budget)?;
        let envs = self.program.locs.ids().zip(self.at).filter_map(|(loc, env)| Some((loc, env?))).collect();
        let result = |exits: [Option<Exit>; KINDS]| {
            let values: Option<Vec<Value>> = exits.into_iter().flatten().map(|exit| exit.value).collect();
            values?.into_iter().reduce(|a, b| a.join(&b))
        };
        let results =
            self.program.funcs.ids().zip(self.exits).filter_map(|(f, exits)| Some((f, result(exits)?))).collect();
        Some(Invariants { rows: self.rows, envs, reached: self.reached, results })
    }

    /// Computes the fixed point. `None` if the budget is spent before it is reached.
    pub(in crate::invariant) fn iterate(&mut self, budget: &Budget) -> Option<()> {
        let entry = self.program.funcs[self.program.entry].entry;
        let initial = self.initial();
        self.ascend_from(entry, &initial, budget)?;
        let nodes: Vec<LocId> = self.program.locs.ids().filter(|l| self.at[l.index()].is_some()).collect();
        let functions: Vec<FuncId> = self.program.funcs.ids().collect();
        self.descend((entry, &initial), nodes, &functions, budget)
    }

    /// Computes the fixed points function by function. Returns the functions that were finished before the budget was
    /// spent. There are no results for the others.
    pub(in crate::invariant) fn iterate_apart(&mut self, budget: &Budget) -> Vec<FuncId> {
        let Some(apart) = &mut self.apart else { return Vec::new() };
        let roots = std::mem::take(&mut apart.roots);
        let mut done = Vec::new();
        let mut invalid = FxHashSet::default();
        for group in roots {
            let root = group[0];
            let initial = if root == self.program.entry { self.initial() } else { self.at_any_time() };
            let entry = self.program.funcs[root].entry;
            let own = budget.remaining().map_or_else(|| budget.clone(), |left| budget.exerting(left / 2));
            let is_done = self.iterate_group((entry, &initial), &group, &own).is_some();
            if let Some(following) = &mut self.following {
                let found = std::mem::take(&mut following.invalid);
                invalid.extend(found.into_iter().filter(|_| is_done));
            }
            let apart = self.apart.as_ref().expect("functions are analysed one by one");
            for loc in group.iter().flat_map(|func| &apart.locations[func.index()]) {
                self.at[loc.index()] = None;
            }
            group.iter().for_each(|func| self.exits[func.index()] = [const { None }; KINDS]);
            if is_done {
                done.extend(group);
            }
            if budget.spent().is_some() {
                break;
            }
        }
        if let Some(following) = &mut self.following {
            following.invalid = invalid;
        }
        done
    }

    fn iterate_group(&mut self, start: (LocId, &Environment), group: &[FuncId], budget: &Budget) -> Option<()> {
        self.ascend_from(start.0, start.1, budget)?;
        let apart = self.apart.as_ref()?;
        let locs = group.iter().flat_map(|func| &apart.locations[func.index()]).copied();
        let nodes: Vec<LocId> = locs.filter(|loc| self.at[loc.index()].is_some()).collect();
        self.descend(start, nodes, group, budget)
    }

    /// The environment at the entry of a function whose callers are unknown.
    fn at_any_time(&self) -> Environment {
        let memory = self.following.as_ref().map(|following| following.domain.at_any_time());
        let mut env = Environment::new();
        env.memory = memory.unwrap_or(env.memory);
        env
    }

    /// The ascending iteration. It hurries when a part of the budget is spent: a coarse result is worth more than none.
    fn ascend_from(&mut self, entry: LocId, initial: &Environment, budget: &Budget) -> Option<()> {
        let strength = self.strength;
        let (part, of) = UNHURRIED;
        let unhurried = budget.remaining().map_or_else(|| budget.clone(), |left| budget.exerting(left * part / of));
        let done = self.ascend_within(entry, initial, budget, &unhurried);
        self.strength = strength;
        done
    }

    fn ascend_within(
        &mut self,
        entry: LocId,
        initial: &Environment,
        budget: &Budget,
        unhurried: &Budget,
    ) -> Option<()> {
        self.at[entry.index()] = Some(initial.clone());
        let mut work = Work::default();
        work.soon.insert((self.rank[entry.index()], entry));
        let mut tick = 0;
        let mut ends = Vec::new();
        while let Some(loc) = work.next() {
            tick += 1;
            if tick % TICK == 0 && unhurried.spent().is_some() {
                self.strength = self.strength.hurried();
                if budget.spent().is_some() {
                    return None;
                }
            }
            self.walk(loc, &mut ends);
            for end in ends.drain(..) {
                match end {
                    End::Node(to, env) => {
                        if self.ascend(to, env) {
                            let func = self.program.locs[to].func;
                            let is_known = to == self.program.funcs[func].entry
                                && self.exits[func.index()].iter().any(Option::is_some);
                            let queue = if is_known { &mut work.later } else { &mut work.soon };
                            queue.insert((self.rank[to.index()], to));
                        }
                    }
                    End::Return(func, exit) => {
                        if self.ascend_exit(func, exit) {
                            for call in self.calls.callers(func) {
                                let source = self.program.edges[call].source;
                                if self.at[source.index()].is_some() {
                                    work.soon.insert((self.rank[source.index()], source));
                                }
                            }
                        }
                    }
                }
            }
        }
        Some(())
    }

    pub(in crate::invariant) fn is_reachable(&self, loc: LocId) -> bool {
        self.reached[loc.index()]
    }

    /// The environment at the entry of the program.
    fn initial(&self) -> Environment {
        let mut env = Environment::new();
        for &var in &self.rows.globals {
            if let VarKind::Global { init: Some(init), .. } = self.program.vars[var].kind {
                let value = env.eval(&self.rows, &self.program.exprs, init);
                env.set(&self.rows, var, value);
            }
        }
        if let Some(following) = &self.following {
            env.memory = following.domain.initial();
        }
        env
    }

    /// Joins `more` into `now`. Returns whether `now` has changed.
    fn join(&self, now: &mut Environment, more: &Environment, step: Step, func: FuncId) -> bool {
        let pairs = &self.counters[func.index()];
        let gaps = now.joined_gaps(more, &self.rows, pairs, !matches!(step, Step::Join));
        let gaps_change = gaps != now.recent.gaps();
        let changed = self.join_all(now, more, step, func);
        now.recent.set_gaps(gaps);
        changed || gaps_change
    }

    fn join_all(&self, now: &mut Environment, more: &Environment, step: Step, func: FuncId) -> bool {
        let becomes_unmodelled = more.memory.is_unmodelled && !now.memory.is_unmodelled;
        now.memory.is_unmodelled |= more.memory.is_unmodelled;
        self.join_values(now, more, step, func) || becomes_unmodelled
    }

    fn join_values(&self, now: &mut Environment, more: &Environment, step: Step, func: FuncId) -> bool {
        let of_width = |width: u32| self.thresholds.get(&width).cloned().unwrap_or_default();
        let lost = now.memory.lost(&more.memory, None);
        now.lose_said(&lost);
        let before = now.memory.clone();
        let reaches = Both(&before, &more.memory);
        let (changed, how) = match step {
            Step::Join => (now.join_where(more, &reaches), Joining::Exact),
            Step::Widen => (now.widen_where(more, &of_width, &reaches), Joining::Exact),
            Step::Leap => (now.widen_where(more, &|_| Vec::new(), &reaches), Joining::Exact),
            Step::Forget => (now.forget_changes(more), Joining::Forgetting),
        };
        let changed = now.recent.join(&more.recent) || changed;
        let Some(following) = &self.following else { return changed };
        let changed = changed || !lost.is_empty();
        let op = |a: &Value, b: &Value| match step {
            Step::Join => a.join_where(b, &reaches),
            Step::Widen => a.widen_where(b, &of_width(a.width()), &reaches),
            Step::Leap => a.widen_where(b, &[], &reaches),
            Step::Forget if a.includes(b) => a.clone(),
            Step::Forget => Value::full(a.width()),
        };
        let objects = now.memory.objects.clone();
        let is_changed = following.domain.join(&mut now.memory, &more.memory, how, op);
        if is_changed && how == Joining::Forgetting && objects.differing_pages(&now.memory.objects).next().is_some() {
            following.domain.generalise(now, &following.frames[func.index()]);
        }
        is_changed || changed
    }

    /// Joins an environment into that of a node. Returns whether it has changed.
    fn ascend(&mut self, loc: LocId, env: Environment) -> bool {
        let i = loc.index();
        let Some(mut now) = self.at[i].take() else {
            self.at[i] = Some(env);
            return true;
        };
        let step = Step::after(self.visits[i], self.widened[i], &self.strength);
        let changed = self.join(&mut now, &env, step, self.program.locs[loc].func);
        self.at[i] = Some(now);
        self.visits[i] += u32::from(changed);
        changed
    }

    fn ascend_exit(&mut self, func: FuncId, exit: Exit) -> bool {
        let (i, kind) = (func.index(), exit.kind());
        let Some(mut now) = self.exits[i][kind].take() else {
            self.exits[i][kind] = Some(exit);
            return true;
        };
        let step = Step::after(self.exit_visits[i][kind], self.is_recursive(func), &self.strength);
        let of_width = |width: u32| self.thresholds.get(&width).cloned().unwrap_or_default();
        let (before, memory) = (now.value.clone(), now.env.memory.clone());
        let reaches = Both(&memory, &exit.env.memory);
        now.value = match (now.value.take(), exit.value) {
            (Some(a), Some(b)) => Some(match step {
                Step::Join => a.join_where(&b, &reaches),
                Step::Widen => a.widen_where(&b, &of_width(a.width()), &reaches),
                Step::Leap => a.widen_where(&b, &[], &reaches),
                Step::Forget if a.includes(&b) => a,
                Step::Forget => Value::full(a.width()),
            }),
            _ => None,
        };
        let value_changed = before != now.value;
        let changed = self.join_all(&mut now.env, &exit.env, step, func) || value_changed;
        self.exits[i][kind] = Some(now);
        self.exit_visits[i][kind] += u32::from(changed);
        changed
    }

    /// The descending iteration: recomputes each node from its predecessors. From a post-fixed point, every round
    /// yields a sound result. If the budget is spent, the result of the last complete round remains; `None` if there is
    /// none.
    fn descend(
        &mut self,
        (entry, initial): (LocId, &Environment),
        mut nodes: Vec<LocId>,
        functions: &[FuncId],
        budget: &Budget,
    ) -> Option<()> {
        let locs: Vec<LocId> = match &self.apart {
            Some(apart) => functions.iter().flat_map(|func| &apart.locations[func.index()]).copied().collect(),
            None => self.program.locs.ids().collect(),
        };
        nodes.sort_unstable_by_key(|l| (self.downward[l.index()], *l));
        // The environments by target node, then by source node; and the exits by function.
        let mut incoming: FxHashMap<LocId, Vec<(LocId, Environment)>> = FxHashMap::default();
        let mut returning: FxHashMap<FuncId, Vec<(LocId, Exit)>> = FxHashMap::default();
        let mut sent: FxHashMap<LocId, Vec<Sent>> = FxHashMap::default();
        let mut ends = Vec::new();
        for round in 0..=self.strength.rounds {
            let invalid = self.following.as_mut().map(|following| std::mem::take(&mut following.invalid));
            let reached = locs.iter().map(|loc| std::mem::take(&mut self.reached[loc.index()])).collect::<Vec<bool>>();
            let complete = (round > 0).then_some((reached, invalid));
            for (i, &loc) in nodes.iter().enumerate() {
                if (i as u32).is_multiple_of(TICK) && budget.spent().is_some() {
                    let (reached, invalid) = complete?;
                    locs.iter().zip(reached).for_each(|(loc, is_reached)| self.reached[loc.index()] = is_reached);
                    if let (Some(following), Some(invalid)) = (&mut self.following, invalid) {
                        following.invalid = invalid;
                    }
                    return Some(());
                }
                if round > 0 {
                    let mut now = (loc == entry).then(|| initial.clone());
                    for (_, env) in incoming.get(&loc).into_iter().flatten() {
                        match &mut now {
                            None => now = Some(env.clone()),
                            Some(now) => {
                                self.join(now, env, Step::Join, self.program.locs[loc].func);
                            }
                        }
                    }
                    self.at[loc.index()] = now;
                }
                for to in sent.remove(&loc).unwrap_or_default() {
                    match to {
                        Ok(to) => incoming.get_mut(&to).expect("sent to").retain(|(from, _)| *from != loc),
                        Err(func) => returning.get_mut(&func).expect("sent to").retain(|(from, _)| *from != loc),
                    }
                }
                if self.at[loc.index()].is_none() {
                    continue;
                }
                self.walk(loc, &mut ends);
                let to = sent.entry(loc).or_default();
                for end in ends.drain(..) {
                    match end {
                        End::Node(node, env) => {
                            to.push(Ok(node));
                            incoming.entry(node).or_default().push((loc, env));
                        }
                        End::Return(func, exit) => {
                            to.push(Err(func));
                            returning.entry(func).or_default().push((loc, exit));
                        }
                    }
                }
            }
            for &func in functions {
                let mut exits = [const { Vec::new() }; KINDS];
                for (_, exit) in returning.get(&func).into_iter().flatten() {
                    exits[exit.kind()].push(exit.clone());
                }
                self.exits[func.index()] = exits.map(|exits: Vec<Exit>| {
                    exits.into_iter().reduce(|mut a, b| {
                        let memory = a.env.memory.clone();
                        let join = |(x, y): (Value, Value)| x.join_where(&y, &Both(&memory, &b.env.memory));
                        a.value = a.value.zip(b.value).map(join);
                        self.join_all(&mut a.env, &b.env, Step::Join, func);
                        a
                    })
                });
            }
        }
        Some(())
    }

    /// Interprets the code from a node up to the next nodes.
    fn walk(&mut self, from: LocId, ends: &mut Vec<End>) {
        let Some(env) = self.at[from.index()].clone() else { return };
        let mut stack = vec![(from, env)];
        while let Some((mut loc, mut env)) = stack.pop() {
            loop {
                self.reached[loc.index()] = true;
                self.changing().iter().for_each(|&var| env.recent.forget(&self.program.exprs, var));
                let edge = match self.program.locs[loc].out {
                    Out::Sink => break,
                    Out::Branch { then_edge, else_edge } => {
                        for (edge, other) in [(else_edge, then_edge), (then_edge, else_edge)] {
                            let edge_ref = &self.program.edges[edge];
                            let Op::Assume { cond, .. } = edge_ref.op else { unreachable!("a branch of assumes") };
                            let mut side = env.clone();
                            if !self.assume(&mut side, &env, cond) {
                                if !self.is_passable_violation(other) {
                                    continue;
                                }
                                // The check always fails. What follows is analysed as if it were ignored, lest all later
                                // checks hold.
                                side = env.clone();
                            }
                            if self.is_node[edge_ref.target.index()] {
                                ends.push(End::Node(edge_ref.target, side));
                            } else {
                                stack.push((edge_ref.target, side));
                            }
                        }
                        break;
                    }
                    Out::One(edge) => edge,
                };
                let next = self.execute(edge, &mut env, ends);
                loc = self.program.edges[edge].target;
                match next {
                    Next::Stop => break,
                    Next::Go => {}
                    Next::Also(others) if self.is_node[loc.index()] => {
                        ends.extend(others.into_iter().map(|other| End::Node(loc, other)));
                    }
                    Next::Also(others) => stack.extend(others.into_iter().map(|other| (loc, other))),
                }
                if self.is_node[loc.index()] {
                    ends.push(End::Node(loc, env));
                    break;
                }
            }
        }
    }

    /// Refines an environment, which equals `before`, by a condition. Returns `false` if no state satisfies it.
    fn assume(&self, env: &mut Environment, before: &Environment, cond: ExprId) -> bool {
        let pool = &self.program.exprs;
        env.assume(&self.rows, pool, cond)
            && self.following.as_ref().is_none_or(|f| f.domain.refine_addresses(env, before, &self.rows, pool))
    }

    /// True if an edge leads to the violation of a check after which an unchecked program goes on.
    fn is_passable_violation(&self, edge: EdgeId) -> bool {
        let Out::One(next) = self.program.locs[self.program.edges[edge].target].out else { return false };
        matches!(self.program.edges[next].op, Op::Error(error) if self.program.errors[error].check.is_passable())
    }

    /// Applies the effect of an edge other than an assume.
    fn execute(&mut self, edge: EdgeId, env: &mut Environment, ends: &mut Vec<End>) -> Next {
        let program = self.program;
        let pool = &program.exprs;
        let op = &program.edges[edge].op;
        let gaps = match *op {
            Op::Assign { var, value } => env.moved_gaps(&self.rows, pool, var, value),
            _ => Vec::new(),
        };
        if let Some(var) = op.def() {
            env.recent.forget(pool, var);
        }
        if let Some(following) = &mut self.following {
            following.operate(program, &self.rows, edge, env);
        }
        match op {
            Op::Assign { var, value } => {
                let now = env.eval(&self.rows, pool, *value);
                env.set(&self.rows, *var, now);
                env.recent.set_gaps(gaps);
                if self.following.is_some() && !self.changes(*var, *value) {
                    env.recent.assigned(pool, *var, *value);
                }
            }
            // `operate` has handled these.
            Op::Alloc { .. } | Op::Load { .. } | Op::ObjectOffset { .. } | Op::ObjectSize { .. }
                if self.following.is_some() => {}
            Op::Alloc { var, .. } => {
                let address = Bounds::full(program.vars[*var].width).without(0);
                env.set(&self.rows, *var, address.and_then(Value::of_range));
            }
            Op::Load { var, .. }
            | Op::Havoc { var, .. }
            | Op::ObjectSize { var, .. }
            | Op::ObjectOffset { var, .. } => env.set(&self.rows, *var, None),
            Op::Shadow(op) => op.def().into_iter().for_each(|var| env.set(&self.rows, var, None)),
            Op::Call { .. } => return self.call(edge, env, ends),
            Op::Return { value } => {
                let func = program.func_of(edge);
                let mut value = value.and_then(|e| env.eval(&self.rows, pool, e));
                if let Some(following) = &self.following {
                    let is_recursive = self.is_recursive(func);
                    following.leave(env, func, is_recursive, &mut value);
                }
                let mut exit = env.shared();
                for &param in &self.steady[func.index()] {
                    exit.set(&self.rows, param, env.get(&self.rows, param).cloned());
                }
                let env = exit;
                ends.push(End::Return(func, Exit { env, value }));
                return Next::Stop;
            }
            Op::Halt(_) | Op::Error(_) => return Next::Stop,
            Op::Skip | Op::Leak(_) | Op::Store { .. } | Op::Free { .. } | Op::Copy { .. } | Op::Fill { .. } => {}
            Op::Approx { taint } => {
                let Some(following) = &self.following else { return Next::Go };
                let harm = program.taints[*taint].harm();
                match harm {
                    Harm::Elsewhere => return Next::Stop,
                    Harm::Again => {
                        // Every local variable may have been changed before the second return.
                        env.locals = Paged::new();
                        env.recent = Recent::default();
                    }
                    _ => {}
                }
                if self.apart.as_ref().is_some_and(|apart| apart.contains(edge)) {
                    following.domain.disturb_all(env);
                    env.memory.is_unmodelled |= self.is_of_model(program.func_of(edge));
                } else if is_undefined_call(program, edge) {
                    self.call_undefined(program.func_of(edge), env, ends);
                } else if harm == Harm::Again {
                    let func = program.func_of(edge);
                    following.domain.come_back(env, &following.uses.touched[func.index()]);
                    for &var in &self.written[func.index()] {
                        env.set(&self.rows, var, None);
                    }
                }
            }
            Op::Assume { .. } => unreachable!("assumes come in pairs"),
        }
        Next::Go
    }

    /// Sets the limits on the work of the analysis.
    pub(in crate::invariant) fn set_strength(&mut self, strength: Strength) {
        self.strength = strength;
    }

    /// Sets the signal handlers.
    pub(in crate::invariant) fn set_handlers(&mut self, handlers: Handlers) {
        self.rows.let_change(handlers.vars.iter().copied());
        self.handlers = handlers;
    }

    /// Applies the effect of an undefined function, and calls the functions that it may call.
    fn call_undefined(&self, undefined: FuncId, env: &mut Environment, ends: &mut Vec<End>) {
        let Some(following) = &self.following else { return };
        let touched = &following.uses.touched[undefined.index()];
        following.domain.disturb(env, |object| touched.contains(object as usize));
        for func in &self.undefined.called {
            following.domain.come_back(env, &following.uses.changed[func.index()]);
        }
        for &var in &self.written[undefined.index()] {
            env.set(&self.rows, var, None);
        }
        for &func in &self.undefined.called {
            // The arguments may be anything.
            let mut entry = self.enter(env, func, &[], None);
            if let Some(param) = self.program.funcs[func].varargs {
                entry.set(&self.rows, param, None);
            }
            ends.push(End::Node(self.program.funcs[func].entry, entry));
        }
    }

    /// True if a function may be active several times.
    pub(in crate::invariant) fn is_recursive(&self, func: FuncId) -> bool {
        self.calls.is_recursive(func) || self.undefined.reentered.contains(func.index())
    }

    /// The effects of undefined functions.
    pub(in crate::invariant) fn undefined(&self) -> &UndefinedFunctions {
        &self.undefined
    }

    /// Sets the effects of undefined functions. They, and all functions that call them, may write the global variables
    /// that they know, and those that the functions that they call may write.
    pub(in crate::invariant) fn set_undefined(&mut self, undefined: UndefinedFunctions) {
        let program = self.program;
        let known = program.vars.iter().filter(|(_, var)| Undefined::LINKED.knows_var(var)).map(|(var, _)| var);
        let called = undefined.called.iter().flat_map(|func| &self.written[func.index()]);
        let changed: FxHashSet<VarId> = known.chain(called.copied()).collect();
        let calls = program.edges.ids().filter(|&edge| is_undefined_call(program, edge));
        let mut todo: Vec<FuncId> = calls.map(|edge| program.func_of(edge)).collect();
        let mut seen = FixedBitSet::with_capacity(program.funcs.len());
        while let Some(func) = todo.pop() {
            if !seen.put(func.index()) {
                self.written[func.index()].extend(&changed);
                todo.extend(self.calls.callers(func).map(|call| program.func_of(call)));
            }
        }
        self.undefined = undefined;
    }

    /// The signal handlers.
    pub(in crate::invariant) fn handlers(&self) -> &Handlers {
        &self.handlers
    }

    /// The global variables that may change at any time.
    fn changing(&self) -> &FxHashSet<VarId> {
        &self.handlers.vars
    }

    fn is_of_model(&self, func: FuncId) -> bool {
        self.program.funcs[func].origin == FunctionOrigin::Model
    }

    /// True if an assigned variable may soon differ from the value, because a signal handler changes one of them.
    fn changes(&self, var: VarId, value: ExprId) -> bool {
        !self.changing().is_empty()
            && (self.changing().contains(&var)
                || crate::invariant::memory::relations::variables(&self.program.exprs, value)
                    .any(|var| self.changing().contains(&var)))
    }

    /// Applies the effect of a call.
    fn call(&mut self, edge: EdgeId, env: &mut Environment, ends: &mut Vec<End>) -> Next {
        let program = self.program;
        let Op::Call { callee, args, varargs, result } = &program.edges[edge].op else { unreachable!("a call") };
        if let (Some(following), Some(true)) = (&self.following, self.apart.as_ref().map(|a| a.contains(edge))) {
            if matches!(callee, Callee::Direct(func) if !following.returning.contains(func.index())) {
                return Next::Stop;
            }
            following.domain.disturb_all(env);
            if let Some(var) = result {
                env.set(&self.rows, *var, None);
            }
            return Next::Go;
        }
        let callees: Vec<FuncId> = match callee {
            Callee::Direct(func) => vec![*func],
            Callee::Indirect(address) => {
                let value = self.following.as_ref().and_then(|_| env.eval(&self.rows, &program.exprs, *address));
                match &self.following {
                    Some(following) => following.callees(edge, value.as_ref()),
                    None => self.calls.callees(program, edge).as_slice().to_vec(),
                }
            }
        };
        let mut after = [const { None }; KINDS];
        for func in callees {
            let entry = self.enter(env, func, args, *varargs);
            ends.push(End::Node(program.funcs[func].entry, entry));
            for (kind, exit) in self.exits[func.index()].iter().enumerate() {
                let Some(back) = exit.as_ref().and_then(|exit| self.come_back(env, edge, func, exit)) else { continue };
                // If the result is unused, the kinds of exits need not be distinguished.
                let after: &mut Option<Environment> = &mut after[if result.is_some() { kind } else { 0 }];
                match after {
                    None => *after = Some(back),
                    Some(after) => {
                        self.join(after, &back, Step::Join, program.func_of(edge));
                    }
                }
            }
        }
        let mut after = after.into_iter().flatten();
        let Some(first) = after.next() else { return Next::Stop };
        *env = first;
        let others: Vec<Environment> = after.collect();
        if others.is_empty() { Next::Go } else { Next::Also(others) }
    }

    /// The caller's environment after a call with this exit; `None` if the call cannot return this way.
    fn come_back(&self, env: &Environment, edge: EdgeId, func: FuncId, exit: &Exit) -> Option<Environment> {
        let program = self.program;
        let Op::Call { args, result, .. } = &program.edges[edge].op else { unreachable!("a call") };
        let mut back = env.clone();
        if let Some(following) = &self.following {
            let touched = &following.uses.touched[func.index()];
            let mut lost = back.memory.lost(&exit.env.memory, Some(touched));
            lost.extend(exit.env.memory.lost.iter().copied());
            back.lose_written(&self.rows, &program.exprs, &lost);
        }
        if !self.came_back(&mut back, func, args, exit) {
            return None;
        }
        back.relate_reads(&self.rows, &program.exprs, None);
        if let Some(following) = &self.following {
            let touched = &following.uses.touched[func.index()];
            let changed = &following.uses.changed[func.index()];
            back.memory = following.domain.returned(&back.memory, &exit.env.memory, touched, changed);
        }
        if self.apart.as_ref().is_some_and(|apart| apart.is_wild(func)) {
            back.globals = exit.env.globals.clone();
        }
        // Iterate in the order of ids, so that runs are deterministic.
        let mut written: Vec<VarId> = self.written[func.index()].iter().copied().collect();
        written.sort_unstable();
        for var in written {
            back.set(&self.rows, var, exit.env.get(&self.rows, var).cloned());
        }
        if let Some(var) = result {
            let width = program.vars[*var].width;
            back.set(&self.rows, *var, exit.value.as_ref().map(|v| resized(v, width)));
        }
        if exit.env.memory.is_unmodelled {
            back.memory.is_unmodelled = self.is_of_model(program.func_of(edge));
            if let (Some(following), false) = (&self.following, back.memory.is_unmodelled) {
                following.domain.disturb_all(&mut back);
                if let Some(var) = result {
                    back.set(&self.rows, *var, None);
                }
            }
        }
        let is_local = |var: VarId| program.vars[var].func().is_some();
        let is_touched = |object: u32| {
            self.following.as_ref().is_none_or(|f| f.uses.touched[func.index()].contains(object as usize))
        };
        back.keep_contents(&self.rows, &program.exprs, &is_touched);
        if self.following.is_some() {
            back.keep_defined(env);
        }
        back.recent.forget_shared(&program.exprs, &is_local);
        Some(back)
    }

    /// Refines the caller's environment by the values of the parameters at the exit. For example, a function may return
    /// only if its argument is true. Returns `false` if the environment becomes empty.
    fn came_back(&self, env: &mut Environment, func: FuncId, args: &[ExprId], exit: &Exit) -> bool {
        let program = self.program;
        let pool = &program.exprs;
        for (&param, &arg) in program.funcs[func].params.iter().zip(args) {
            if !self.steady[func.index()].contains(&param) || pool.width(arg) != program.vars[param].width {
                continue;
            }
            let Some(value) = exit.env.get(&self.rows, param) else { continue };
            let is_possible = match *pool.get(arg) {
                Expr::Var(var) => {
                    let met = env.get(&self.rows, var).map_or_else(|| Some(value.clone()), |now| now.meet(value));
                    let is_possible = met.is_some();
                    env.set(&self.rows, var, met);
                    is_possible
                }
                Expr::Zext { arg: cond, .. } if pool.width(cond) == 1 && !value.contains(0) => {
                    env.assume(&self.rows, pool, cond)
                }
                Expr::Zext { arg: narrow, .. } | Expr::Sext { arg: narrow, .. } => {
                    let met =
                        env.eval(&self.rows, pool, arg).map_or_else(|| Some(value.clone()), |now| now.meet(value));
                    if let (&Expr::Var(var), Some(met)) = (pool.get(narrow), &met) {
                        let part = resized(met, pool.width(narrow));
                        let now = env.get(&self.rows, var).map_or_else(|| Some(part.clone()), |now| now.meet(&part));
                        env.set(&self.rows, var, now);
                    }
                    met.is_some()
                }
                _ => true,
            };
            if !is_possible {
                return false;
            }
            for limit in value.limits.iter() {
                env.limit(&self.rows, pool, arg, limit);
            }
        }
        true
    }

    fn enter(&self, env: &Environment, func: FuncId, args: &[ExprId], varargs: Option<ExprId>) -> Environment {
        let program = self.program;
        let mut entry = env.shared();
        let is_local = self.strength.is_local && self.apart.is_none();
        if let Some(following) = &self.following {
            let accessed = &following.uses.accessed[func.index()];
            entry.memory = following.domain.confined(&entry.memory, accessed);
            if is_local {
                entry.memory.objects.retain(|object| accessed.contains(object));
                entry.globals.retain(|row| following.uses.used[func.index()].contains(row));
                if !self.is_recursive(func) {
                    following.domain.begin(&mut entry.memory, &following.frames[func.index()]);
                }
            }
        }
        entry.memory.lost = Default::default();
        let function = &program.funcs[func];
        for (&param, &arg) in function.params.iter().zip(args) {
            let value = env.eval(&self.rows, &program.exprs, arg);
            entry.set(&self.rows, param, value.map(|v| resized(&v, program.vars[param].width)));
        }
        if let Some(param) = function.varargs {
            let width = program.vars[param].width;
            let value = match varargs {
                Some(e) => env.eval(&self.rows, &program.exprs, e),
                None => Some(Value::constant(width, 0)),
            };
            entry.set(&self.rows, param, value);
        }
        if is_local {
            entry.keep_defined(&Environment::new());
        }
        entry
    }
}
