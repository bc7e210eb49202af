//! Proofs, and a checker for them that shares nothing with the analyses but the terms and a solver.
//!
//! A [`Certificate`] names conditions for the heads of loops, and contracts for recursive functions. The checker walks the
//! control-flow automata once, in reverse post-order, with its own strongest postconditions: paths that meet become one
//! formula, calls are followed, and at every *cut*, that is, at loop heads and calls of recursive functions, it asks the
//! solver whether the condition follows, forgets what may change, and goes on from the condition alone (Floyd: Assigning
//! meanings to programs, 1967; Hoare's rule for recursion). An error edge must be beyond reach. Of memory it knows nothing: what
//! is loaded may be anything. So where it confirms a proof, the program is safe whatever memory holds, and where it
//! needs memory, it says so and leaves the verdict to the analysis.

use crate::budget::Budget;
use cfa::graph::CfaGraphs;
use cfa::loops::LoopForest;
use cfa::{
    CallGraph, Callee, EdgeId, Expr, ExprId, ExprPool, FuncId, Id, LocId, Op, Out, Program, Sort, Value, VarId, VarKind,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smt::{Answer, Bitwuzla, Models, Solver};
use std::rc::Rc;

/// Why a program is safe: conditions that hold wherever they are said to hold, and are inductive together.
#[derive(Clone)]
pub struct Certificate {
    /// The program's expressions and those of the certificate.
    pub pool: ExprPool,
    /// Conditions over the variables of the function and globals, at heads of loops. No entry: nothing is said.
    pub heads: FxHashMap<LocId, Vec<ExprId>>,
    pub contracts: FxHashMap<FuncId, CertifiedContract>,
    /// Whether the proof rests on nothing else.
    pub of_variables: bool,
}

impl std::fmt::Debug for Certificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Certificate {{ {} heads, {} contracts }}", self.heads.len(), self.contracts.len())
    }
}

/// What holds of the calls of a recursive function.
#[derive(Clone, Default, Debug)]
pub struct CertifiedContract {
    /// At the entry, over parameters and globals.
    pub requires: Vec<ExprId>,
    /// At the return: variables stand for their values at the entry, the symbols below for those at the return.
    pub ensures: Vec<ExprId>,
    pub result: Option<ExprId>,
    pub after: Vec<(VarId, ExprId)>,
}

/// What became of the check of a proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProofCheck {
    Confirmed,
    /// The checker cannot tell, for this reason. The proof may be one all the same.
    NotChecked(String),
    /// It is no proof: the condition that does not follow.
    Refuted(String),
}

impl std::fmt::Display for ProofCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Confirmed => write!(f, "confirmed by the checker"),
            Self::NotChecked(why) => write!(f, "not checked: {why}"),
            Self::Refuted(what) => write!(f, "refuted: {what}"),
        }
    }
}

/// Edges followed, at most, and between looks at the clock.
const STEPS: u32 = 400_000;
const TICK: u32 = 256;

/// Checks a certificate within the budget.
pub fn check(program: &Program, certificate: &Certificate, budget: &Budget) -> ProofCheck {
    let mut checker = Checker::new(program, certificate, budget);
    match checker.program() {
        Ok(()) => ProofCheck::Confirmed,
        Err(Failure::Declined(why)) => ProofCheck::NotChecked(why),
        Err(Failure::Refuted(what)) => ProofCheck::Refuted(what),
    }
}

enum Failure {
    Declined(String),
    Refuted(String),
}

fn declined<T>(why: &str) -> Result<T, Failure> {
    Err(Failure::Declined(why.to_owned()))
}

/// A set of executions up to a place: terms for the variables, and a condition on their symbols.
#[derive(Clone)]
struct State {
    pc: ExprId,
    globals: Rc<Vec<ExprId>>,
    /// Of the function that control is in.
    locals: Rc<Vec<ExprId>>,
}

/// What the checker needs to know of a function.
struct Shape {
    locs: Vec<LocId>,
    /// By node: the loop it is the head of.
    head: FxHashMap<u32, usize>,
    loops: Vec<Cut>,
}

struct Cut {
    body: FxHashSet<u32>,
    /// Globals and locals that may change in it, ascending.
    changed: Vec<VarId>,
}

struct Checker<'a> {
    program: &'a Program,
    certificate: &'a Certificate,
    pool: ExprPool,
    budget: &'a Budget,
    solver: Bitwuzla,
    graphs: CfaGraphs,
    calls: CallGraph,
    shapes: FxHashMap<FuncId, Rc<Shape>>,
    /// Per function, the globals that it or what it calls may change.
    changes: Vec<FxHashSet<VarId>>,
    /// By variable: its index among the globals or among the locals of its function.
    index: Vec<u32>,
    globals: Vec<VarId>,
    locals: Vec<Vec<VarId>>,
    /// Symbols that stand for what the checker does not model.
    unmodelled: FxHashSet<ExprId>,
    /// The recursive functions whose bodies are being checked.
    active: Vec<FuncId>,
    steps: u32,
}

impl<'a> Checker<'a> {
    fn new(program: &'a Program, certificate: &'a Certificate, budget: &'a Budget) -> Self {
        let mut globals = Vec::new();
        let mut locals = vec![Vec::new(); program.funcs.len()];
        let mut index = Vec::new();
        for (id, var) in program.vars.iter() {
            let row: &mut Vec<VarId> = match var.func() {
                None => &mut globals,
                Some(func) => &mut locals[func.index()],
            };
            index.push(row.len() as u32);
            row.push(id);
        }
        let calls = CallGraph::new(program);
        Self {
            program,
            certificate,
            pool: certificate.pool.clone(),
            budget,
            solver: Bitwuzla::new(),
            graphs: CfaGraphs::new(program),
            changes: changes(program, &calls),
            calls,
            shapes: FxHashMap::default(),
            index,
            globals,
            locals,
            unmodelled: FxHashSet::default(),
            active: Vec::new(),
            steps: 0,
        }
    }

    fn program(&mut self) -> Result<(), Failure> {
        let always = self.pool.bool(true);
        let mut state = State { pc: always, globals: Rc::default(), locals: Rc::default() };
        let mut values = Vec::new();
        for var in self.globals.clone() {
            let value = match self.program.vars[var].kind {
                // Over constants and addresses.
                VarKind::Global { init: Some(init) } => init,
                _ => self.fresh(self.program.vars[var].width),
            };
            values.push(value);
        }
        state.globals = Rc::new(values);
        state.locals = self.unset(self.program.entry);
        self.body(self.program.entry, state)?;
        Ok(())
    }

    // Terms.

    fn fresh(&mut self, width: u32) -> ExprId {
        self.pool.fresh_symbol(Sort::Bv(width)).1
    }
    fn unknown(&mut self, width: u32) -> ExprId {
        let symbol = self.fresh(width);
        self.unmodelled.insert(symbol);
        symbol
    }
    /// Locals at the start of a frame: any values.
    fn unset(&mut self, func: FuncId) -> Rc<Vec<ExprId>> {
        let vars = self.locals[func.index()].clone();
        Rc::new(vars.into_iter().map(|v| self.fresh(self.program.vars[v].width)).collect())
    }
    fn get(&self, st: &State, var: VarId) -> ExprId {
        let row = if self.program.vars[var].func().is_none() { &st.globals } else { &st.locals };
        row[self.index[var.index()] as usize]
    }
    fn set(&self, st: &mut State, var: VarId, value: ExprId) {
        let row = if self.program.vars[var].func().is_none() { &mut st.globals } else { &mut st.locals };
        let i = self.index[var.index()] as usize;
        if row[i] != value {
            Rc::make_mut(row)[i] = value;
        }
    }
    fn eval(&mut self, st: &State, e: ExprId) -> ExprId {
        let (index, program) = (&self.index, self.program);
        self.pool.substitute(e, &mut FxHashMap::default(), |pool, leaf| match *pool.get(leaf) {
            Expr::Var(v) => {
                let row = if program.vars[v].func().is_none() { &st.globals } else { &st.locals };
                Some(row[index[v.index()] as usize])
            }
            _ => None,
        })
    }
    fn assume(&mut self, st: &mut State, conditions: &[ExprId]) {
        for &e in conditions {
            let term = self.eval(st, e);
            st.pc = self.pool.and(st.pc, term);
        }
    }

    /// The two sets of executions together.
    fn join(&mut self, a: State, b: &State) -> State {
        let merge = |pool: &mut ExprPool, x: &Rc<Vec<ExprId>>, y: &Rc<Vec<ExprId>>| {
            if Rc::ptr_eq(x, y) {
                return Rc::clone(x);
            }
            let pick = |(&x, &y): (&ExprId, &ExprId)| if x == y { x } else { pool.ite(a.pc, x, y) };
            Rc::new(x.iter().zip(y.iter()).map(pick).collect())
        };
        State {
            globals: merge(&mut self.pool, &a.globals, &b.globals),
            locals: merge(&mut self.pool, &a.locals, &b.locals),
            pc: self.pool.or(a.pc, b.pc),
        }
    }

    // Questions.

    /// Shows that all the conditions follow from `st`.
    fn claim(&mut self, st: &State, conditions: &[ExprId], what: &str) -> Result<(), Failure> {
        let mut all = self.pool.bool(true);
        for &e in conditions {
            let term = self.eval(st, e);
            all = self.pool.and(all, term);
        }
        self.claim_term(st.pc, all, what)
    }

    fn claim_term(&mut self, pc: ExprId, holds: ExprId, what: &str) -> Result<(), Failure> {
        let violated = self.pool.not(holds);
        let question = self.pool.and(pc, violated);
        if self.pool.is_false(question) {
            return Ok(());
        }
        self.solver.push();
        self.solver.assert(&self.pool, question);
        let answer = self.solver.check(&self.pool, &[], self.budget);
        let result = match answer {
            Answer::Unsat => Ok(()),
            Answer::Unknown(_) => declined("the solver did not answer in time"),
            Answer::Sat => {
                let mut modelled = self.certificate.of_variables;
                self.pool.visit(question, &mut FxHashSet::default(), |e, node| {
                    modelled &=
                        !matches!(node, Expr::GlobalAddr(_) | Expr::FuncAddr(_)) && !self.unmodelled.contains(&e);
                });
                match (modelled, self.solver.value(&self.pool, question)) {
                    (true, Value::Bv(v)) if v.is_true() => Err(Failure::Refuted(what.to_owned())),
                    (true, _) => declined("the solver approximates floats"),
                    (false, _) => declined("it depends on memory"),
                }
            }
        };
        self.solver.pop(1);
        result
    }

    // The walk.

    fn shape(&mut self, func: FuncId) -> Result<Rc<Shape>, Failure> {
        if let Some(shape) = self.shapes.get(&func) {
            return Ok(Rc::clone(shape));
        }
        let graph = &self.graphs.funcs[func];
        let forest = LoopForest::new(&graph.graph, 0);
        let mut shape = Shape { locs: graph.locs.clone(), head: FxHashMap::default(), loops: Vec::new() };
        for (number, l) in forest.loops().iter().enumerate() {
            if l.irreducible {
                return declined("a loop has two entries");
            }
            let body: FxHashSet<u32> = forest.body(number as u32).into_iter().collect();
            let mut changed = FxHashSet::default();
            for &node in &body {
                for edge in self.program.out_edges(graph.locs[node as usize]) {
                    changed.extend(self.program.edges[edge].op.def());
                    if let Op::Call { .. } = self.program.edges[edge].op {
                        for callee in self.calls.callees(self.program, edge).as_slice() {
                            changed.extend(&self.changes[callee.index()]);
                        }
                    }
                }
            }
            let mut changed: Vec<VarId> = changed.into_iter().collect();
            changed.sort_unstable();
            shape.head.insert(l.head, shape.loops.len());
            shape.loops.push(Cut { body, changed });
        }
        let shape = Rc::new(shape);
        self.shapes.insert(func, Rc::clone(&shape));
        Ok(shape)
    }

    /// All executions of a function's body from `entry`; those that return, with the result.
    fn body(&mut self, func: FuncId, entry: State) -> Result<Option<(State, Option<ExprId>)>, Failure> {
        let shape = self.shape(func)?;
        let mut waiting: Vec<Option<State>> = vec![None; shape.locs.len()];
        waiting[0] = Some(entry);
        let mut returned: Option<(State, Option<ExprId>)> = None;
        for node in 0..shape.locs.len() as u32 {
            let Some(mut st) = waiting[node as usize].take() else { continue };
            self.steps += 1;
            if self.steps > STEPS || self.steps.is_multiple_of(TICK) && self.budget.spent().is_some() {
                return declined("the checker ran out of time");
            }
            let loc = shape.locs[node as usize];
            if let Some(&number) = shape.head.get(&node) {
                let invariant = self.certificate.heads.get(&loc).cloned().unwrap_or_default();
                self.claim(&st, &invariant, "an invariant does not hold when its loop is entered")?;
                for &var in &shape.loops[number].changed {
                    let value = self.fresh(self.program.vars[var].width);
                    self.set(&mut st, var, value);
                }
                self.assume(&mut st, &invariant);
            }
            match self.program.locs[loc].out {
                Out::Sink => {}
                Out::Branch { then_edge, else_edge } => {
                    for edge in [then_edge, else_edge] {
                        let Op::Assume { cond, .. } = self.program.edges[edge].op else { unreachable!("assumes") };
                        let cond = self.eval(&st, cond);
                        let pc = self.pool.and(st.pc, cond);
                        self.flow(&shape, node, edge, State { pc, ..st.clone() }, &mut waiting)?;
                    }
                }
                Out::One(edge) => match self.program.edges[edge].op {
                    Op::Return { value } => {
                        let value = value.map(|e| self.eval(&st, e));
                        returned = Some(match returned {
                            None => (st, value),
                            Some((other, other_value)) => {
                                let value = value.zip(other_value).map(|(x, y)| self.pool.ite(st.pc, x, y));
                                (self.join(st, &other), value)
                            }
                        });
                    }
                    Op::Halt(_) => {}
                    Op::Error(_) => {
                        let never = self.pool.bool(false);
                        self.claim_term(st.pc, never, "an error can be reached")?;
                    }
                    _ if self.program.edges[edge].fault.is_some() => {
                        return declined("it depends on what is in memory");
                    }
                    _ => {
                        if let Some(st) = self.step(st, edge)? {
                            self.flow(&shape, node, edge, st, &mut waiting)?;
                        }
                    }
                },
            }
        }
        Ok(returned)
    }

    /// To the target of an edge.
    fn flow(
        &mut self,
        shape: &Shape,
        node: u32,
        edge: EdgeId,
        st: State,
        waiting: &mut [Option<State>],
    ) -> Result<(), Failure> {
        if self.pool.is_false(st.pc) {
            return Ok(());
        }
        let target = self.program.edges[edge].target;
        let to = self.graphs.node(target).expect("behind an edge");
        if to > node {
            let joined = match waiting[to as usize].take() {
                None => st,
                Some(other) => self.join(st, &other),
            };
            waiting[to as usize] = Some(joined);
            return Ok(());
        }
        match shape.head.get(&to) {
            Some(&number) if shape.loops[number].body.contains(&node) => {
                let invariant = self.certificate.heads.get(&target).cloned().unwrap_or_default();
                self.claim(&st, &invariant, "an invariant is not kept by its loop")
            }
            _ => declined("an edge goes back that closes no loop"),
        }
    }

    /// The effect of an edge; `None` if no execution goes on.
    fn step(&mut self, mut st: State, edge: EdgeId) -> Result<Option<State>, Failure> {
        let program = self.program;
        match program.edges[edge].op.unshadowed() {
            Op::Skip | Op::Leak(_) | Op::Store { .. } | Op::Free { .. } | Op::Copy { .. } | Op::Fill { .. } => {}
            Op::Shadow(_) => unreachable!("a shadow has none"),
            Op::Assign { var, value } => {
                let value = self.eval(&st, *value);
                self.set(&mut st, *var, value);
            }
            Op::Havoc { var, .. } => {
                let value = self.fresh(program.vars[*var].width);
                self.set(&mut st, *var, value);
            }
            Op::Load { var, .. }
            | Op::Alloc { var, .. }
            | Op::ObjectSize { var, .. }
            | Op::ObjectOffset { var, .. } => {
                let value = self.unknown(program.vars[*var].width);
                self.set(&mut st, *var, value);
            }
            Op::Approx { taint } => {
                if program.taints[*taint].under {
                    let never = self.pool.bool(false);
                    if self.claim_term(st.pc, never, "").is_err() {
                        return declined("it depends on what is not modelled");
                    }
                }
            }
            Op::Call { callee, args, varargs, result } => {
                let func = match *callee {
                    Callee::Direct(func) => func,
                    Callee::Indirect(e) => {
                        let address = self.eval(&st, e);
                        match *self.pool.get(address) {
                            Expr::FuncAddr(func) => func,
                            _ => return declined("a function is called through a pointer"),
                        }
                    }
                };
                return self.call(st, func, args, *varargs, *result);
            }
            Op::Assume { .. } | Op::Return { .. } | Op::Halt(_) | Op::Error(_) => unreachable!("done by the walk"),
        }
        Ok(Some(st))
    }

    fn call(
        &mut self,
        st: State,
        func: FuncId,
        args: &[ExprId],
        varargs: Option<ExprId>,
        result: Option<VarId>,
    ) -> Result<Option<State>, Failure> {
        let program = self.program;
        let function = &program.funcs[func];
        let locals = self.unset(func);
        let mut callee = State { pc: st.pc, globals: Rc::clone(&st.globals), locals };
        for (&param, &arg) in function.params.iter().zip(args) {
            let value = self.eval(&st, arg);
            let value = self.pool.resize(program.vars[param].width, value);
            self.set(&mut callee, param, value);
        }
        if let Some(param) = function.varargs {
            let value = match varargs {
                Some(e) => self.eval(&st, e),
                None => self.pool.int(program.vars[param].width, 0),
            };
            self.set(&mut callee, param, value);
        }
        let back = if self.calls.is_recursive(func) {
            Some(self.by_contract(callee, func)?)
        } else {
            self.body(func, callee)?
        };
        let Some((after, value)) = back else { return Ok(None) };
        let mut st = State { pc: after.pc, globals: after.globals, locals: st.locals };
        if let Some(var) = result {
            let width = program.vars[var].width;
            let value = match value {
                Some(value) => self.pool.resize(width, value),
                None => self.fresh(width),
            };
            self.set(&mut st, var, value);
        }
        Ok(Some(st))
    }

    /// What holds after a call that begins in `entry`, by the function's contract; which is checked for all calls where
    /// none is active.
    fn by_contract(&mut self, entry: State, func: FuncId) -> Result<(State, Option<ExprId>), Failure> {
        let program = self.program;
        let contract = self.certificate.contracts.get(&func).cloned().unwrap_or_default();
        self.claim(&entry, &contract.requires, "a call does not satisfy what its function requires")?;
        let mut changed: Vec<VarId> = self.changes[func.index()].iter().copied().collect();
        changed.sort_unstable();
        if !self.active.contains(&func) {
            let mut any = entry.clone();
            for &var in program.funcs[func].params.iter().chain(&program.funcs[func].varargs).chain(&changed) {
                let value = self.fresh(program.vars[var].width);
                self.set(&mut any, var, value);
            }
            self.assume(&mut any, &contract.requires);
            let began = any.clone();
            self.active.push(func);
            let back = self.body(func, any)?;
            self.active.pop();
            if let Some((after, value)) = back {
                let mut all = self.pool.bool(true);
                for &e in &contract.ensures {
                    let term = self.instance(e, &contract, &began, &after, value);
                    all = self.pool.and(all, term);
                }
                self.claim_term(after.pc, all, "a function does not ensure what it promises")?;
            }
        }
        let mut after = entry.clone();
        for &var in &changed {
            let value = self.fresh(program.vars[var].width);
            self.set(&mut after, var, value);
        }
        let value = program.funcs[func].return_width.map(|width| self.fresh(width));
        for &e in &contract.ensures {
            let term = self.instance(e, &contract, &entry, &after, value);
            after.pc = self.pool.and(after.pc, term);
        }
        Ok((after, value))
    }

    /// A promise about the return `after` with `value` of the call that began in `began`.
    fn instance(
        &mut self,
        e: ExprId,
        contract: &CertifiedContract,
        began: &State,
        after: &State,
        value: Option<ExprId>,
    ) -> ExprId {
        let mut meaning: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        meaning.extend(contract.result.zip(value));
        for &(var, symbol) in &contract.after {
            meaning.insert(symbol, self.get(after, var));
        }
        let (index, program) = (&self.index, self.program);
        self.pool.substitute(e, &mut FxHashMap::default(), |pool, leaf| match *pool.get(leaf) {
            Expr::Var(v) => {
                let row = if program.vars[v].func().is_none() { &began.globals } else { &began.locals };
                Some(row[index[v.index()] as usize])
            }
            _ => meaning.get(&leaf).copied(),
        })
    }
}

/// For every function, the globals that it or what it calls may change.
fn changes(program: &Program, calls: &CallGraph) -> Vec<FxHashSet<VarId>> {
    let mut changes: Vec<FxHashSet<VarId>> = vec![FxHashSet::default(); program.funcs.len()];
    for (id, edge) in program.edges.iter() {
        if let Some(var) = edge.op.def()
            && program.vars[var].func().is_none()
        {
            changes[program.func_of(id).index()].insert(var);
        }
    }
    // Callees come before callers, but for recursions.
    let order: Vec<FuncId> = calls.bottom_up().flatten().collect();
    loop {
        let mut grown = false;
        for &func in &order {
            for &call in calls.calls_in(func) {
                for callee in calls.callees(program, call).as_slice() {
                    let more: Vec<VarId> =
                        changes[callee.index()].difference(&changes[func.index()]).copied().collect();
                    grown |= !more.is_empty();
                    changes[func.index()].extend(more);
                }
            }
        }
        if !grown {
            return changes;
        }
    }
}
