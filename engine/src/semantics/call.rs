//! Calls and returns of functions.

use super::pure::{self, Replacement};
use super::state::{Decision, Event, Frame, State, Successors};
use super::value::Val;
use super::{At, Execution};
use cfa::{Callee, EdgeId, ExprId, FuncId, Id, Op, Sort, VarId};
use std::rc::Rc;

impl Execution<'_> {
    /// A value that the program does not determine. If unknown values are named, the trail records its symbol as an
    /// input.
    pub(super) fn fresh_input(&mut self, st: &mut State, edge: EdgeId, width: u32) -> Val {
        if !self.mode.names_unknowns {
            return Val::Unknown;
        }
        let (symbol, e) = self.terms.fresh_symbol(Sort::Bv(width));
        st.trail.push(Event::Input { symbol, edge });
        Val::Expr(e)
    }

    /// Enters a function and binds its parameters. A call of a function without side effects may be replaced by its
    /// result.
    pub(super) fn enter(
        &mut self,
        mut st: State,
        edge: EdgeId,
        func: FuncId,
        args: &[ExprId],
        varargs: Option<ExprId>,
        out: &mut Successors,
    ) {
        let program = self.program;
        let function = &program.funcs[func];
        let mut vars = vec![Val::Unset; self.slots.locals[func.index()].len()];
        for (i, &param) in function.params.iter().enumerate() {
            let width = program.vars[param].width;
            let value = match args.get(i) {
                Some(&arg) => {
                    let value = self.eval(&st, arg);
                    let from = self.terms.width(arg);
                    self.terms.resized(value, from, width)
                }
                None => self.fresh_input(&mut st, edge, width),
            };
            vars[self.slots.of_var[param.index()].local()] = value;
        }
        if let Some(param) = function.varargs {
            let value = varargs.map_or(Val::Int(0), |e| self.eval(&st, e));
            vars[self.slots.of_var[param.index()].local()] = value;
        }
        if self.is_pure(func) {
            let value = |&param: &VarId| vars[self.slots.of_var[param.index()].local()];
            let values: Vec<Val> = function.params.iter().map(value).collect();
            st = match pure::replace_call(self, st, edge, func, &values) {
                Replacement::Returned(st) => return out.push((st, At::Target)),
                Replacement::Ended => return,
                Replacement::None(st) => st,
            };
        }
        if self.mode.is_abstract && matches!(program.edges[edge].op, Op::Call { callee: Callee::Indirect(_), .. }) {
            st.trail.push(Event::Decision(Decision::Callee(func)));
        }
        let depth = st.frame.depth + 1;
        let caller = Some(Rc::clone(&st.frame));
        st.frame = Rc::new(Frame { func, vars, objects: Vec::new(), caller, call: Some(edge), depth });
        out.push((st, At::Callee(func)));
    }

    /// Leaves a function: its stack objects die, and the caller's variable gets the result.
    pub fn leave(&mut self, mut st: State, return_edge: EdgeId, call_edge: EdgeId) -> State {
        let program = self.program;
        let Op::Return { value } = program.edges[return_edge].op else { panic!("a return edge") };
        let Op::Call { result, .. } = program.edges[call_edge].op else { panic!("a call edge") };
        let value = match (value, result) {
            (Some(value), Some(var)) => {
                let from = self.terms.width(value);
                let value = self.eval(&st, value);
                Some(self.terms.resized(value, from, program.vars[var].width))
            }
            (None, Some(var)) => {
                // The caller uses the result of a function that returns no value.
                Some(self.fresh_input(&mut st, return_edge, program.vars[var].width))
            }
            _ => None,
        };
        for &object in &st.frame.objects {
            st.memory.remove(object);
        }
        let caller = st.frame.caller.clone().expect("a frame that was entered by a call");
        st.frame = caller;
        if let (Some(value), Some(var)) = (value, result) {
            self.write_var(&mut st, var, value);
        }
        st
    }
}
