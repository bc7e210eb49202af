//! The iteration: ascending with widening, then descending.
//!
//! Environments are kept only at *nodes*: entries of functions, places where paths join, and calls; the code between is
//! walked through (Bourdoncle, Efficient chaotic iteration strategies with widenings, 1993, for the choice of places to
//! widen: heads of loops and entries of recursive functions). A function has one entry, joined over all its calls,
//! and one exit; a caller keeps what the callee cannot write.

use super::Invariants;
use super::environment::{Environment, Rows};
use super::value::Value;
use crate::budget::Budget;
use crate::cpa::symbolic::globals_written;
use crate::execution::Paged;
use cfa::graph::{CfaGraphs, Predecessors};
use cfa::loops::LoopForest;
use cfa::{Bv, CallGraph, Callee, EdgeId, Expr, ExprId, FuncId, Id, LocId, Op, Out, Program, VarId, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};
use smt::bounds::Bounds;
use std::collections::BTreeSet;

/// Joins at a place before bounds are widened, and before what changes is forgotten.
const JOINS: u32 = 3;
const WIDENINGS: u32 = 60;
/// Descending rounds.
const ROUNDS: u32 = 3;
/// Thresholds of one width.
const THRESHOLDS: usize = 256;
/// Nodes between looks at the clock.
const TICK: u32 = 128;

/// What holds on return from a function: of globals, and of the parameters that it does not write.
#[derive(Clone)]
struct Exit {
    env: Environment,
    value: Option<Value>,
}

/// Over which edge something was passed on, and to which node, or to the exit of which function.
type Sent = (EdgeId, Result<LocId, FuncId>);

/// Where the walk through a block ends up.
enum End {
    Node(LocId, Environment),
    Return(FuncId, Exit),
}

pub struct Analysis<'p> {
    program: &'p Program,
    calls: CallGraph,
    rows: Rows,
    /// Per function, the globals that it or what it calls may write.
    written: Vec<FxHashSet<VarId>>,
    /// Per function, the parameters that it never writes.
    steady: Vec<Vec<VarId>>,
    is_node: Vec<bool>,
    widened: Vec<bool>,
    rank: Vec<u32>,
    thresholds: FxHashMap<u32, Vec<u64>>,
    at: Vec<Option<Environment>>,
    exits: Vec<Option<Exit>>,
    visits: Vec<u32>,
    exit_visits: Vec<u32>,
    reached: Vec<bool>,
}

impl<'p> Analysis<'p> {
    pub fn new(program: &'p Program) -> Self {
        let calls = CallGraph::new(program);
        let graphs = CfaGraphs::new(program);
        let predecessors = Predecessors::new(program);
        let n = program.locs.len();
        let mut is_node = vec![false; n];
        let mut widened = vec![false; n];
        let mut rank = vec![u32::MAX; n];
        for (loc, node) in program.locs.ids().zip(&mut is_node) {
            *node = predecessors.of(loc).len() > 1
                || matches!(program.locs[loc].out, Out::One(e) if matches!(program.edges[e].op, Op::Call { .. }));
        }
        let mut next_rank = 0;
        for func in calls.graph().depth_first([program.entry.0]).preorder {
            let Some(graph) = graphs.funcs.get(FuncId(func)) else { continue };
            for &loc in &graph.locs {
                rank[loc.index()] = next_rank;
                next_rank += 1;
            }
            let entry = program.funcs[FuncId(func)].entry;
            is_node[entry.index()] = true;
            widened[entry.index()] = calls.is_recursive(FuncId(func));
            for l in LoopForest::new(&graph.graph, 0).loops() {
                let head = graph.locs[l.head as usize];
                is_node[head.index()] = true;
                widened[head.index()] = true;
            }
        }
        Self {
            calls,
            rows: Rows::new(program),
            written: globals_written(program),
            steady: steady_parameters(program),
            is_node,
            widened,
            rank,
            thresholds: thresholds(program),
            at: vec![None; n],
            exits: vec![None; program.funcs.len()],
            visits: vec![0; n],
            exit_visits: vec![0; program.funcs.len()],
            reached: vec![false; n],
            program,
        }
    }

    /// `None` if the budget is spent before the end.
    pub fn run(mut self, budget: &Budget) -> Option<Invariants> {
        let entry = self.program.funcs[self.program.entry].entry;
        let initial = self.initial();
        self.at[entry.index()] = Some(initial.clone());
        let mut work = BTreeSet::from([(self.rank[entry.index()], entry)]);
        let mut tick = 0;
        let mut ends = Vec::new();
        while let Some((_, loc)) = work.pop_first() {
            tick += 1;
            if tick % TICK == 0 && budget.spent().is_some() {
                return None;
            }
            self.walk(loc, &mut ends);
            for (_, end) in ends.drain(..) {
                match end {
                    End::Node(to, env) => {
                        if self.ascend(to, env) {
                            work.insert((self.rank[to.index()], to));
                        }
                    }
                    End::Return(func, exit) => {
                        if self.ascend_exit(func, exit) {
                            for call in self.calls.callers(func) {
                                let source = self.program.edges[call].source;
                                if self.at[source.index()].is_some() {
                                    work.insert((self.rank[source.index()], source));
                                }
                            }
                        }
                    }
                }
            }
        }
        self.descend(entry, &initial, budget)?;
        let envs = self.program.locs.ids().zip(self.at).filter_map(|(loc, env)| Some((loc, env?))).collect();
        let results =
            self.program.funcs.ids().zip(self.exits).filter_map(|(f, exit)| Some((f, exit?.value?))).collect();
        Some(Invariants { rows: self.rows, envs, reached: self.reached, results })
    }

    /// Globals as they are at the start.
    fn initial(&self) -> Environment {
        let mut env = Environment::new();
        for &var in &self.rows.globals {
            if let VarKind::Global { init: Some(init) } = self.program.vars[var].kind {
                let value = env.eval(&self.rows, &self.program.exprs, init);
                env.set(&self.rows, var, value);
            }
        }
        env
    }

    /// Adds to what is known to reach a node; tells whether that is news.
    fn ascend(&mut self, loc: LocId, env: Environment) -> bool {
        let i = loc.index();
        let Some(now) = &mut self.at[i] else {
            self.at[i] = Some(env);
            return true;
        };
        let thresholds = &self.thresholds;
        let changed = match self.visits[i] {
            v if v < JOINS || !self.widened[i] && v < WIDENINGS => now.join(&env),
            v if v < WIDENINGS => now.widen(&env, &|width| thresholds.get(&width).cloned().unwrap_or_default()),
            _ => now.forget_changes(&env),
        };
        self.visits[i] += u32::from(changed);
        changed
    }

    fn ascend_exit(&mut self, func: FuncId, exit: Exit) -> bool {
        let i = func.index();
        let Some(now) = &mut self.exits[i] else {
            self.exits[i] = Some(exit);
            return true;
        };
        let visits = self.exit_visits[i];
        let of_width = |width: u32| self.thresholds.get(&width).cloned().unwrap_or_default();
        let before = now.value.clone();
        now.value = match (now.value.take(), exit.value) {
            (Some(a), Some(b)) => Some(match visits {
                v if v < JOINS => a.join(&b),
                v if v < WIDENINGS => a.widen(&b, &of_width(a.width())),
                _ if a.includes(&b) => a,
                _ => Value::full(a.width()),
            }),
            _ => None,
        };
        let value_changed = before != now.value;
        let changed = value_changed
            | match visits {
                v if v < JOINS => now.env.join(&exit.env),
                v if v < WIDENINGS => now.env.widen(&exit.env, &of_width),
                _ => now.env.forget_changes(&exit.env),
            };
        self.exit_visits[i] += u32::from(changed);
        changed
    }

    /// Descending: each node is what its predecessors give it. Starting from what holds, that holds, too.
    fn descend(&mut self, entry: LocId, initial: &Environment, budget: &Budget) -> Option<()> {
        let mut nodes: Vec<LocId> = self.program.locs.ids().filter(|l| self.at[l.index()].is_some()).collect();
        nodes.sort_unstable_by_key(|l| (self.rank[l.index()], *l));
        // By target, then by edge: what comes over the edge; and for functions, what comes back.
        let mut incoming: FxHashMap<LocId, Vec<(EdgeId, Environment)>> = FxHashMap::default();
        let mut returning: FxHashMap<FuncId, Vec<(EdgeId, Exit)>> = FxHashMap::default();
        let mut sent: FxHashMap<LocId, Vec<Sent>> = FxHashMap::default();
        let mut ends = Vec::new();
        for round in 0..=ROUNDS {
            self.reached.iter_mut().for_each(|r| *r = false);
            for (i, &loc) in nodes.iter().enumerate() {
                if (i as u32).is_multiple_of(TICK) && budget.spent().is_some() {
                    return None;
                }
                if round > 0 {
                    let mut now = (loc == entry).then(|| initial.clone());
                    for (_, env) in incoming.get(&loc).into_iter().flatten() {
                        match &mut now {
                            None => now = Some(env.clone()),
                            Some(now) => {
                                now.join(env);
                            }
                        }
                    }
                    self.at[loc.index()] = now;
                }
                for (edge, to) in sent.remove(&loc).unwrap_or_default() {
                    match to {
                        Ok(to) => incoming.get_mut(&to).expect("sent to").retain(|(e, _)| *e != edge),
                        Err(func) => returning.get_mut(&func).expect("sent to").retain(|(e, _)| *e != edge),
                    }
                }
                if self.at[loc.index()].is_none() {
                    continue;
                }
                self.walk(loc, &mut ends);
                let from = sent.entry(loc).or_default();
                for (edge, end) in ends.drain(..) {
                    match end {
                        End::Node(to, env) => {
                            from.push((edge, Ok(to)));
                            incoming.entry(to).or_default().push((edge, env));
                        }
                        End::Return(func, exit) => {
                            from.push((edge, Err(func)));
                            returning.entry(func).or_default().push((edge, exit));
                        }
                    }
                }
            }
            for func in self.program.funcs.ids() {
                let exits = returning.get(&func).into_iter().flatten().map(|(_, exit)| exit.clone());
                self.exits[func.index()] = exits.reduce(|mut a, b| {
                    a.env.join(&b.env);
                    a.value = a.value.zip(b.value).map(|(a, b)| a.join(&b));
                    a
                });
            }
        }
        Some(())
    }

    /// From a node to where the code leads it, with the edges over which it gets there.
    fn walk(&mut self, from: LocId, ends: &mut Vec<(EdgeId, End)>) {
        let Some(env) = self.at[from.index()].clone() else { return };
        let mut stack = vec![(from, env)];
        while let Some((mut loc, mut env)) = stack.pop() {
            loop {
                self.reached[loc.index()] = true;
                let edge = match self.program.locs[loc].out {
                    Out::Sink => break,
                    Out::Branch { then_edge, else_edge } => {
                        for edge in [else_edge, then_edge] {
                            let edge_ref = &self.program.edges[edge];
                            let Op::Assume { cond, .. } = edge_ref.op else { unreachable!("a branch of assumes") };
                            let mut side = env.clone();
                            if !side.assume(&self.rows, &self.program.exprs, cond) {
                                continue;
                            }
                            if self.is_node[edge_ref.target.index()] {
                                ends.push((edge, End::Node(edge_ref.target, side)));
                            } else {
                                stack.push((edge_ref.target, side));
                            }
                        }
                        break;
                    }
                    Out::One(edge) => edge,
                };
                if !self.execute(edge, &mut env, ends) {
                    break;
                }
                loc = self.program.edges[edge].target;
                if self.is_node[loc.index()] {
                    ends.push((edge, End::Node(loc, env)));
                    break;
                }
            }
        }
    }

    /// The effect of an edge that is no assume; `false` if execution does not come to its target.
    fn execute(&mut self, edge: EdgeId, env: &mut Environment, ends: &mut Vec<(EdgeId, End)>) -> bool {
        let program = self.program;
        let pool = &program.exprs;
        match &program.edges[edge].op {
            Op::Assign { var, value } => {
                let value = env.eval(&self.rows, pool, *value);
                env.set(&self.rows, *var, value);
            }
            Op::Alloc { var, .. } => {
                let address = Bounds::full(program.vars[*var].width).without(0);
                env.set(&self.rows, *var, address.and_then(Value::of_range));
            }
            Op::Load { var, .. }
            | Op::Havoc { var, .. }
            | Op::ObjectSize { var, .. }
            | Op::ObjectOffset { var, .. } => env.set(&self.rows, *var, None),
            Op::Shadow(op) => op.def().into_iter().for_each(|var| env.set(&self.rows, var, None)),
            Op::Call { callee, args, varargs, result } => {
                let callees: Vec<FuncId> = match callee {
                    Callee::Direct(func) => vec![*func],
                    Callee::Indirect(_) => self.calls.callees(program, edge).as_slice().to_vec(),
                };
                let mut after: Option<Environment> = None;
                for func in callees {
                    let entry = self.enter(env, func, args, *varargs);
                    ends.push((edge, End::Node(program.funcs[func].entry, entry)));
                    let Some(exit) = &self.exits[func.index()] else { continue };
                    let mut back = env.clone();
                    if !self.came_back(&mut back, func, args, exit) {
                        continue;
                    }
                    // In order of id, so that runs are alike.
                    let mut written: Vec<VarId> = self.written[func.index()].iter().copied().collect();
                    written.sort_unstable();
                    for var in written {
                        back.set(&self.rows, var, exit.env.get(&self.rows, var).cloned());
                    }
                    if let Some(var) = result {
                        let width = program.vars[*var].width;
                        back.set(&self.rows, *var, exit.value.as_ref().map(|v| resized(v, width)));
                    }
                    match &mut after {
                        None => after = Some(back),
                        Some(after) => {
                            after.join(&back);
                        }
                    }
                }
                match after {
                    Some(after) => *env = after,
                    None => return false,
                }
            }
            Op::Return { value } => {
                let func = program.func_of(edge);
                let value = value.and_then(|e| env.eval(&self.rows, pool, e));
                let mut exit = Environment { globals: env.globals.clone(), locals: Paged::new() };
                for &param in &self.steady[func.index()] {
                    exit.set(&self.rows, param, env.get(&self.rows, param).cloned());
                }
                let env = exit;
                ends.push((edge, End::Return(func, Exit { env, value })));
                return false;
            }
            Op::Halt(_) | Op::Error(_) => return false,
            Op::Skip
            | Op::Leak(_)
            | Op::Store { .. }
            | Op::Free { .. }
            | Op::Copy { .. }
            | Op::Fill { .. }
            | Op::Approx { .. } => {}
            Op::Assume { .. } => unreachable!("assumes come in pairs"),
        }
        true
    }

    /// Leaves the states of a caller in which the callee returns, by what it then knows of its parameters: a function may end the
    /// program unless its argument holds. `false` if there are none.
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
                _ => true,
            };
            if !is_possible {
                return false;
            }
        }
        true
    }

    fn enter(&self, env: &Environment, func: FuncId, args: &[ExprId], varargs: Option<ExprId>) -> Environment {
        let program = self.program;
        let mut entry = Environment { globals: env.globals.clone(), locals: Paged::new() };
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
        entry
    }
}

fn steady_parameters(program: &Program) -> Vec<Vec<VarId>> {
    let written: FxHashSet<VarId> = program.edges.values().filter_map(|edge| edge.op.def()).collect();
    let steady = |(_, f): (FuncId, &cfa::Function)| {
        f.params.iter().copied().filter(|p| program.vars[*p].width <= 64 && !written.contains(p)).collect()
    };
    program.funcs.iter().map(steady).collect()
}

/// Truncated or zero-extended; of more than 64 bits, nothing is known.
pub(crate) fn resized(value: &Value, width: u32) -> Value {
    if width > 64 {
        // Never looked at.
        return Value::full(64);
    }
    if width <= value.width() { value.extract(width - 1, 0) } else { value.zext(width) }
}

/// By width, the constants of conditions and assignments with their neighbours, ascending.
pub(crate) fn thresholds(program: &Program) -> FxHashMap<u32, Vec<u64>> {
    let mut found: FxHashMap<u32, BTreeSet<u64>> = FxHashMap::default();
    let mut seen = FxHashSet::default();
    for edge in program.edges.values() {
        edge.op.for_each_expr(|e| {
            program.exprs.visit(e, &mut seen, |_, node| {
                if let Expr::Const(c) = node
                    && c.width() <= 64
                {
                    let of_width = found.entry(c.width()).or_default();
                    if of_width.len() < THRESHOLDS {
                        let one = Bv::one(c.width());
                        of_width.extend([c.clone(), c.add(&one), c.sub(&one)].iter().filter_map(Bv::to_u64));
                    }
                }
            });
        });
    }
    found.into_iter().map(|(width, set)| (width, set.into_iter().collect())).collect()
}
