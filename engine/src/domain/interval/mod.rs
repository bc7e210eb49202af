//! The interval domain: bounds, known bits, residues and small value sets, as a CPA.
//!
//! A state has an abstract value for each variable of its frames. Memory is not tracked. At abstraction locations, a
//! state is joined with all earlier states of its control state. Bounds that keep changing are widened to constants of
//! the program (Cousot, Cousot: Abstract interpretation, POPL 1977; as a CPA with widening in `prec`: Beyer, Henzinger,
//! Théoduloz: Program analysis with dynamic precision adjustment, ASE 2008). Calls are followed with their stack.

use crate::analysis::composite::{Order, Strengthen};
use crate::analysis::{At, Coverer, Cpa, Pair, Sides, Step, Stop, Target};
use crate::domain::tracking;
use crate::invariant::{Environment, Rows, Value, resized, thresholds};
use crate::semantics::control::Control;
use crate::semantics::{Slots, Val};
use cfa::{CallGraph, Callee, EdgeId, ErrorId, FuncId, Id, Op, Program, VarId, VarKind};
use rustc_hash::FxHashMap;
use smt::bounds::Bounds;
use std::rc::Rc;

/// Number of changes at a control state before bounds are widened, and [`WIDENINGS`] before changing values are
/// forgotten.
const JOINS: u32 = 3;
const WIDENINGS: u32 = 30;

/// The abstract values of the variables in the frames of a path.
#[derive(Clone)]
pub struct State {
    /// The values of globals and of the locals of the top frame.
    env: Environment,
    rows: Rc<Rows>,
    below: Option<Rc<Frame>>,
    /// True if the state added nothing to the earlier states of its control state.
    covered: bool,
}

/// The environment of a caller at its call.
struct Frame {
    env: Environment,
    below: Option<Rc<Frame>>,
}

/// The join of all states of a control state, and the number of changes.
struct Joined {
    state: State,
    visits: u32,
}

/// The interval domain.
pub struct Interval<'p> {
    program: &'p Program,
    calls: CallGraph,
    rows: Rc<Rows>,
    slots: Slots,
    thresholds: FxHashMap<u32, Vec<u64>>,
    joined: FxHashMap<Control, Joined>,
}

impl State {
    /// The abstract value of a local of the top frame, or of a global. `None` if it is unknown.
    pub fn value(&self, var: VarId) -> Option<&Value> {
        self.env.get(&self.rows, var)
    }

    /// True if this state covers `other`, at the same control state.
    pub fn includes(&self, other: &State) -> bool {
        let mut joined = self.clone();
        !joined.join(other, &mut |a, b| a.join(b))
    }

    /// Joins another state into this one with `combine`. Returns true if this state changed.
    fn join(&mut self, other: &State, combine: &mut dyn FnMut(&mut Environment, &Environment) -> bool) -> bool {
        let mut changed = combine(&mut self.env, &other.env);
        let (mut ours, mut theirs) = (self.below.as_ref(), other.below.as_ref());
        let mut frames = Vec::new();
        while let (Some(a), Some(b)) = (ours, theirs) {
            if Rc::ptr_eq(a, b) {
                break;
            }
            let mut env = a.env.clone();
            changed |= combine(&mut env, &b.env);
            frames.push(env);
            (ours, theirs) = (a.below.as_ref(), b.below.as_ref());
        }
        let mut below = ours.cloned();
        if !frames.is_empty() && changed {
            for env in frames.into_iter().rev() {
                below = Some(Rc::new(Frame { env, below }));
            }
            self.below = below;
        }
        changed
    }
}

impl<'p> Interval<'p> {
    /// The interval domain for a program.
    pub fn new(program: &'p Program) -> Self {
        Self {
            program,
            calls: CallGraph::new(program),
            rows: Rc::new(Rows::new(program)),
            slots: Slots::new(program),
            thresholds: thresholds(program),
            joined: FxHashMap::default(),
        }
    }

    /// The state at the entry of a callee.
    fn enter(&self, state: &State, func: FuncId, op: &Op) -> State {
        let Op::Call { args, varargs, .. } = op else { unreachable!("a call") };
        let program = self.program;
        let function = &program.funcs[func];
        let mut env = Environment { globals: state.env.globals.clone(), ..Environment::new() };
        for (&param, &arg) in function.params.iter().zip(args) {
            let value = state.env.eval(&self.rows, &program.exprs, arg);
            env.set(&self.rows, param, value.map(|v| resized(&v, program.vars[param].width)));
        }
        if let Some(param) = function.varargs {
            let value = match varargs {
                Some(e) => state.env.eval(&self.rows, &program.exprs, *e),
                None => Some(Value::constant(program.vars[param].width, 0)),
            };
            env.set(&self.rows, param, value);
        }
        let below = Frame { env: state.env.clone(), below: state.below.clone() };
        State { env, rows: Rc::clone(&self.rows), below: Some(Rc::new(below)), covered: false }
    }
}

impl Interval<'_> {
    /// Joins the state into the joined state of its control state and returns the result.
    fn joined(&mut self, state: State, at: Control) -> State {
        let thresholds = &self.thresholds;
        let Some(joined) = self.joined.get_mut(&at) else {
            self.joined.insert(at, Joined { state: state.clone(), visits: 0 });
            return state;
        };
        let of_width = |width: u32| thresholds.get(&width).cloned().unwrap_or_default();
        let changed = match joined.visits {
            v if v < JOINS => joined.state.join(&state, &mut |a, b| a.join(b)),
            v if v < WIDENINGS => joined.state.join(&state, &mut |a, b| a.widen(b, &of_width)),
            _ => joined.state.join(&state, &mut |a, b| a.forget_changes(b)),
        };
        joined.visits += u32::from(changed);
        State { covered: !changed, ..joined.state.clone() }
    }
}

impl Cpa for Interval<'_> {
    type State = State;
    type Evidence = cfa::interp::Inputs;

    fn initial(&mut self) -> State {
        let mut env = Environment::new();
        for &var in &self.rows.globals {
            if let VarKind::Global { init: Some(init), .. } = self.program.vars[var].kind {
                let value = env.eval(&self.rows, &self.program.exprs, init);
                env.set(&self.rows, var, value);
            }
        }
        State { env, rows: Rc::clone(&self.rows), below: None, covered: false }
    }

    fn transfer(&mut self, mut state: State, _: Control, edge: EdgeId, out: &mut Step<State>) -> Result<(), Stop> {
        let program = self.program;
        match &program.edges[edge].op {
            &Op::Assign { var, value } => {
                let value = state.env.eval(&self.rows, &program.exprs, value);
                state.env.set(&self.rows, var, value);
            }
            &Op::Alloc { var, .. } => {
                let address = Bounds::full(program.vars[var].width).without(0);
                state.env.set(&self.rows, var, address.and_then(Value::of_range));
            }
            op @ Op::Call { callee, .. } => {
                let callees: Vec<FuncId> = match callee {
                    Callee::Direct(func) => vec![*func],
                    Callee::Indirect(_) => self.calls.callees(program, edge).as_slice().to_vec(),
                };
                out.successors.extend(callees.into_iter().map(|func| (self.enter(&state, func, op), At::Callee(func))));
                return Ok(());
            }
            op => {
                if let Some(var) = op.def() {
                    state.env.set(&self.rows, var, None);
                }
            }
        }
        out.successors.push((state, At::Target));
        Ok(())
    }

    fn branch(&mut self, state: State, then_edge: EdgeId, else_edge: EdgeId) -> Result<Sides<State>, Stop> {
        let side = |edge: EdgeId, mut state: State| {
            let Op::Assume { cond, .. } = self.program.edges[edge].op else { unreachable!("a branch of assumes") };
            state.env.assume(&self.rows, &self.program.exprs, cond).then_some(state)
        };
        Ok((side(then_edge, state.clone()), side(else_edge, state)))
    }

    fn leave(&mut self, state: State, return_edge: EdgeId, call_edge: EdgeId) -> Result<State, Stop> {
        let program = self.program;
        let (Op::Return { value }, Op::Call { result, .. }) =
            (&program.edges[return_edge].op, &program.edges[call_edge].op)
        else {
            unreachable!("a return to a call")
        };
        let value = value.and_then(|e| state.env.eval(&self.rows, &program.exprs, e));
        let caller = state.below.expect("a frame that was entered by a call");
        let mut env =
            Environment { globals: state.env.globals, locals: caller.env.locals.clone(), ..Environment::new() };
        if let Some(var) = *result {
            env.set(&self.rows, var, value.map(|v| resized(&v, program.vars[var].width)));
        }
        Ok(State { env, rows: state.rows, below: caller.below.clone(), covered: false })
    }

    /// The domain does not track memory, so it never proves that an error is reached.
    fn target(&mut self, _: &mut State, _: EdgeId, _: ErrorId) -> Result<Target<Self::Evidence>, Stop> {
        Ok(Target::Undecided)
    }

    fn adjust(&mut self, state: State, _: EdgeId, at: Control, _: &mut Vec<State>) -> Result<Option<State>, Stop> {
        Ok(Some(self.joined(state, at)))
    }

    fn stop(&mut self, state: &State, _: Control) -> Result<Option<Coverer>, Stop> {
        Ok(state.covered.then_some(Coverer::Unknown))
    }

    /// States are joined in `prec` only, since a join loses precision.
    fn merge(&mut self, a: State, b: State, _: Control) -> Result<State, Pair<State>> {
        Err(Box::new((a, b)))
    }
}

impl Order for Interval<'_> {
    fn includes(&self, old: &State, new: &State) -> bool {
        old.includes(new)
    }
    fn prec(&mut self, state: State, at: Control) -> Option<State> {
        Some(self.joined(state, at))
    }
}

/// Takes over values that the tracking domain knows, such as loaded values.
impl Strengthen<tracking::State> for Interval<'_> {
    fn strengthen(&mut self, mut state: State, other: &tracking::State, edge: EdgeId) -> Option<State> {
        let Some(var) = self.program.edges[edge].op.def() else { return Some(state) };
        let slot = self.slots.of_var[var.index()];
        let value = match slot.global() {
            Some(global) => other.globals[global],
            None => other.frame.vars[slot.local()],
        };
        let width = self.program.vars[var].width;
        if let Val::Int(v) = value
            && width <= 64
        {
            let known = Value::constant(width, v);
            let met = match state.value(var) {
                Some(value) => value.meet(&known)?,
                None => known,
            };
            state.env.set(&self.rows, var, Some(met));
        }
        Some(state)
    }
}

/// Takes over constants for variables that the tracking domain does not know.
impl Strengthen<State> for tracking::Tracking<'_> {
    fn strengthen(&mut self, mut st: tracking::State, other: &State, edge: EdgeId) -> Option<tracking::State> {
        let execution = &mut self.symbolic.execution;
        if let Some(var) = execution.program.edges[edge].op.def()
            && execution.read_var(&st, var) == Val::Unknown
            && let Some(v) = other.value(var).and_then(Value::as_constant)
        {
            execution.write_var(&mut st, var, Val::Int(v));
        }
        Some(st)
    }
}
