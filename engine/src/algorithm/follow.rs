//! Executes one path symbolically under the direction of a guide. Computes the bounds of ranges and other single paths.

use crate::analysis::{At, Cpa, Decision, Step};
use crate::domain::symbolic::{State, SymbolicExecution};
use crate::semantics::control::{CallStacks, Control};
use crate::verdict::{Reason, ReasonKind};
use cfa::interp::Inputs;
use cfa::{Bv, Callee, EdgeId, ExprId, InputId, Op, Out, Program, SymId};
use rustc_hash::FxHashSet;
use smt::budget::Budget;
use smt::{Choice, Feasibility, PathSolver};

/// Determines the branches of a path.
pub trait Guide {
    /// The value of an input, if it is fixed.
    fn input(&mut self, _input: InputId) -> Option<Bv> {
        None
    }
    /// True if the path takes the then-edge, false for the else-edge, and `None` to end the path. `possible` says which
    /// of the two are feasible.
    fn branch(&mut self, then_edge: EdgeId, else_edge: EdgeId, possible: (bool, bool)) -> Option<bool>;
    /// Called after the path took this edge.
    fn took(&mut self, _edge: EdgeId) {}
}

/// Limits on the length of a path.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    /// Limit on the number of decisions.
    pub decisions: usize,
    /// Limit on the number of edges.
    pub edges: usize,
}

/// The result: a path and its inputs.
pub struct Followed {
    /// The decisions of the path at branches and indirect calls.
    pub decisions: Vec<Decision>,
    /// Inputs with which the program takes the path.
    pub inputs: Inputs,
    /// The inputs of the `Havoc` edges on the path, in order, up to the last one that a path condition uses. All later
    /// ones may have any value.
    pub havocs: Vec<InputId>,
    /// The reason for the end of the path.
    pub end: End,
}

/// The reason for the end of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The program ends: at a halt, at an error, or at the end of its entry function.
    Program,
    /// An operation cannot be executed.
    Fault,
    /// The side that the guide chose is infeasible.
    Infeasible,
    /// The guide ended the path.
    Guide,
    /// The path reached a limit.
    Limit,
}

/// Executes the path that `guide` determines. Fails if a solver query is undecided or the budget is spent, since the
/// path is then unknown.
pub fn follow(
    program: &Program,
    solvers: &Choice,
    budget: &Budget,
    most: Most,
    guide: &mut dyn Guide,
) -> Result<Followed, Reason> {
    let solver = PathSolver::new(solvers.open(), budget.clone());
    let mut cpa = SymbolicExecution::new(program, solver, solvers.clone());
    cpa.follow_everything();
    let at = Control { loc: program.funcs[program.entry].entry, stack: CallStacks::EMPTY };
    let state = cpa.initial();
    let mut path = Path {
        program,
        cpa,
        stacks: CallStacks::new(),
        guide,
        decisions: Vec::new(),
        havocs: Vec::new(),
        step: Step::default(),
    };
    let (state, end) = path.follow(state, at, most, budget)?;
    let execution = &mut path.cpa.execution;
    match execution.solver.model(&mut execution.terms, &state.pc) {
        Feasibility::Feasible(model) => {
            let inputs = execution.inputs(&state, &model);
            let spoken_of: FxHashSet<SymId> =
                state.pc.iter().flat_map(|cond| execution.terms.symbols_of(cond)).collect();
            let is_free = |(_, value): &(InputId, ExprId)| {
                execution.terms.symbols_of(*value).iter().all(|symbol| !spoken_of.contains(symbol))
            };
            while path.havocs.pop_if(|havoc| is_free(havoc)).is_some() {}
            let havocs = path.havocs.into_iter().map(|(input, _)| input).collect();
            Ok(Followed { decisions: path.decisions, inputs, havocs, end })
        }
        Feasibility::Infeasible => Err(Reason::new("the followed path is infeasible")),
        Feasibility::Unknown(reason) => Err(Reason::new(format!("a path could not be followed: {reason}"))),
    }
}

/// The path under construction.
struct Path<'p, 'g> {
    program: &'p Program,
    cpa: SymbolicExecution<'p>,
    stacks: CallStacks,
    guide: &'g mut dyn Guide,
    decisions: Vec<Decision>,
    /// The inputs of `Havoc` edges with their values.
    havocs: Vec<(InputId, ExprId)>,
    /// The result of the last operation. Its buffers are reused.
    step: Step<State>,
}

impl Path<'_, '_> {
    fn follow(
        &mut self,
        mut state: State,
        mut at: Control,
        most: Most,
        budget: &Budget,
    ) -> Result<(State, End), Reason> {
        let program = self.program;
        for step in 0..most.edges {
            if step % 512 == 0
                && let Some(spent) = budget.spent()
            {
                return Err(Reason::spent(spent));
            }
            match program.locs[at.loc].out {
                Out::Sink => return Ok((state, End::Program)),
                Out::Branch { then_edge, else_edge } => {
                    if self.decisions.len() >= most.decisions {
                        return Ok((state, End::Limit));
                    }
                    let before = state.clone();
                    let (yes, no) = self.cpa.branch(state, then_edge, else_edge).map_err(stopped)?;
                    if self.cpa.ran_out() {
                        return Err(too_long());
                    }
                    let Some(side) = self.guide.branch(then_edge, else_edge, (yes.is_some(), no.is_some())) else {
                        return Ok((before, End::Guide));
                    };
                    let (next, edge) = if side { (yes, then_edge) } else { (no, else_edge) };
                    let Some(next) = next else { return Ok((before, End::Infeasible)) };
                    state = next;
                    self.decisions.push(Decision::Branch(edge));
                    self.guide.took(edge);
                    at.loc = program.edges[edge].target;
                }
                Out::One(edge) => {
                    match &program.edges[edge].op {
                        Op::Error(_) | Op::Halt(_) => return Ok((state, End::Program)),
                        Op::Return { .. } => match self.stacks.pop(at.stack) {
                            None => return Ok((state, End::Program)),
                            Some((stack, call)) => {
                                state = self.cpa.leave(state, edge, call).map_err(stopped)?;
                                at = Control { loc: program.edges[call].target, stack };
                            }
                        },
                        _ => match self.transfer(state, at, edge)? {
                            Ok((next, to)) => (state, at) = (next, to),
                            Err(before) => return Ok((before, End::Fault)),
                        },
                    }
                    self.guide.took(edge);
                }
            }
        }
        Ok((state, End::Limit))
    }

    /// Returns the state after an operation, or the state before it if the operation cannot be executed.
    fn transfer(
        &mut self,
        mut state: State,
        at: Control,
        edge: EdgeId,
    ) -> Result<Result<(State, Control), State>, Reason> {
        loop {
            let before = state.clone();
            self.step.clear();
            self.cpa.transfer(state, at, edge, &mut self.step).map_err(stopped)?;
            // If the operation splits into cases, take the first feasible one.
            let mut found = None;
            for (mut next, to) in self.step.successors.drain(..) {
                if found.is_none() && self.cpa.execution.is_feasible(&mut next) {
                    found = Some((next, to));
                }
            }
            if self.cpa.ran_out() {
                return Err(too_long());
            }
            let Some((mut next, to)) = found else { return Ok(Err(before)) };
            let program = self.program;
            let at = match to {
                At::Source => {
                    state = next;
                    continue;
                }
                At::Target => Control { loc: program.edges[edge].target, ..at },
                At::Callee(func) => {
                    if let Op::Call { callee: Callee::Indirect(_), .. } = program.edges[edge].op {
                        self.decisions.push(Decision::Callee(func));
                    }
                    Control { loc: program.funcs[func].entry, stack: self.stacks.push(at.stack, edge) }
                }
            };
            if let Op::Havoc { var, input } = program.edges[edge].op {
                let (execution, width) = (&mut self.cpa.execution, self.program.vars[var].width);
                let value = execution.read_var(&next, var);
                self.havocs.push((input, execution.terms.term(value, width)));
                if let Some(value) = self.guide.input(input) {
                    next = self.fix(next, var, &value);
                }
            }
            return Ok(Ok((next, at)));
        }
    }

    /// Restricts the variable, which has just received an arbitrary value, to `value`.
    fn fix(&mut self, state: State, var: cfa::VarId, value: &Bv) -> State {
        let execution = &mut self.cpa.execution;
        let width = self.program.vars[var].width;
        let value = value.resize(width);
        let symbol = execution.read_var(&state, var);
        let (symbol, constant) = (execution.terms.term(symbol, width), execution.terms.constant(value));
        let is_equal = execution.terms.eq(symbol, constant);
        let State { path, past } = state;
        let mut path = execution.follow_only(path, is_equal).expect("a new symbol may have any value");
        let value = execution.terms.classify(constant);
        execution.write_var(&mut path, var, value);
        State { path, past }
    }
}

/// The reason if a query of the solver has no answer in time.
fn too_long() -> Reason {
    Reason::new("a path could not be followed: a query of the solver takes too long").of_kind(ReasonKind::Time)
}

fn stopped(stop: crate::analysis::Stop) -> Reason {
    match stop {
        crate::analysis::Stop::Spent(spent) => Reason::spent(spent),
        crate::analysis::Stop::Fatal(reason) => reason,
    }
}
