//! Following one path, with a guide who says where it goes: how the bounds of ranges and other single paths are found.

use crate::analysis::{At, Cpa, Decision, Step};
use crate::domain::symbolic::{State, SymbolicExecution};
use crate::semantics::control::{CallStacks, Control};
use crate::verdict::Reason;
use cfa::interp::Inputs;
use cfa::{Bv, Callee, EdgeId, ExprId, InputId, Op, Out, Program, SymId};
use rustc_hash::FxHashSet;
use smt::budget::Budget;
use smt::{Choice, Feasibility, PathSolver};

/// Who says where a path goes.
pub trait Guide {
    /// The value of an input, if it is to have a certain one.
    fn input(&mut self, _input: InputId) -> Option<Bv> {
        None
    }
    /// Whether the path takes the then-edge; `None` ends it. `possible` says which edges can be taken at all.
    fn branch(&mut self, then_edge: EdgeId, else_edge: EdgeId, possible: (bool, bool)) -> Option<bool>;
    /// The path took this edge.
    fn took(&mut self, _edge: EdgeId) {}
}

/// How far a path is followed.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    pub decisions: usize,
    pub edges: usize,
}

/// A path that was followed.
pub struct Followed {
    /// Where the CFA leaves a choice, what was taken.
    pub decisions: Vec<Decision>,
    /// Inputs that make the program take it.
    pub inputs: Inputs,
    /// What `Havoc` edges on it take, in order, up to the last one that its conditions speak of: for all that follow any value will do.
    pub havocs: Vec<InputId>,
    pub end: End,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The program ends: at a halt, an error, or the end of its entry function.
    Program,
    /// An operation cannot be executed.
    Fault,
    /// The side that the guide asked for is infeasible.
    Infeasible,
    /// The guide said so.
    Guide,
    /// It got too long.
    Limit,
}

/// Follows the path on which `guide` leads. An error if a solver could not tell where it goes, or time ran out: then nobody
/// knows the path.
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
        Feasibility::Infeasible => Err(Reason::new("the path that was followed does not exist")),
        Feasibility::Unknown(reason) => Err(Reason::new(format!("a path could not be followed: {reason}"))),
    }
}

/// A path under way.
struct Path<'p, 'g> {
    program: &'p Program,
    cpa: SymbolicExecution<'p>,
    stacks: CallStacks,
    guide: &'g mut dyn Guide,
    decisions: Vec<Decision>,
    /// With their values.
    havocs: Vec<(InputId, ExprId)>,
    /// The result of the last operation, kept for its buffers.
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
                        return Err(Reason::new("a path could not be followed: a query of the solver takes too long"));
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

    /// The state after an operation, or the one before, where it is not executed.
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
            // Where there are several, by cases of the data, the first that exists.
            let mut found = None;
            for (mut next, to) in self.step.successors.drain(..) {
                if found.is_none() && self.cpa.execution.is_feasible(&mut next) {
                    found = Some((next, to));
                }
            }
            if self.cpa.ran_out() {
                return Err(Reason::new("a path could not be followed: a query of the solver takes too long"));
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

    /// The state in which the variable, which was just given any value, has this one.
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

fn stopped(stop: crate::analysis::Stop) -> Reason {
    match stop {
        crate::analysis::Stop::Spent(spent) => Reason::spent(spent),
        crate::analysis::Stop::Fatal(reason) => reason,
    }
}
