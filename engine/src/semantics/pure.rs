//! Calls of recursive functions without side effects. Their results for concrete arguments are computed once and
//! remembered (Michie: "Memo" functions and machine learning, Nature 1968). If the arguments are symbolic but have only
//! a few feasible values, the result is an if-then-else term over these values. The exploration then does not follow a
//! tree of recursive calls.

use super::Execution;
use super::state::{Slots, State};
use super::value::{Val, binary_int, mask, sign_extend, unary_int};
use cfa::{BinOp, Callee, Expr, ExprId, ExprPool, FuncId, Id, LocId, Op, Out, Program, VarId, VarKind};
use rustc_hash::FxHashMap;
use smt::Feasibility;

/// Maximal number of edges executed for one call, including its callees.
const MAX_STEPS: u64 = 1_000_000;
/// Maximal number of edges executed for all calls.
const MAX_STEPS_OF_ALL: u64 = 20_000_000;
/// Maximal depth of nested calls.
const MAX_DEPTH: usize = 200_000;
/// Number of remembered results above which all are dropped.
const MAX_KNOWN: usize = 1 << 20;
/// Maximal number of feasible values of the arguments, and maximal distance of an argument from its value in the first
/// model.
const MAX_CASES: usize = 128;
const MAX_DISTANCE: u64 = 256;

/// A function with its arguments.
type Key = (FuncId, Box<[u64]>);

/// The result of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// The call returns, with a value unless the function is void.
    Returns(Option<u64>),
    /// The call never returns, and reaches no error.
    Never,
    /// The result is not known.
    Unknown,
}

/// The remembered results of functions without side effects.
pub(super) struct PureCalls {
    /// True for functions that access no memory, globals or inputs.
    pure: Vec<bool>,
    /// The results by function and arguments; `None` during the call.
    known: FxHashMap<Key, Option<Answer>>,
    /// The number of edges that may still be executed, for all calls together.
    left: u64,
}

/// A call in progress.
struct Activation {
    key: Key,
    vars: Vec<Option<u64>>,
    loc: LocId,
}

impl PureCalls {
    /// Finds the functions without side effects.
    pub fn new(program: &Program) -> Self {
        let mut pure = vec![true; program.funcs.len()];
        let mut callees: Vec<Vec<FuncId>> = vec![Vec::new(); program.funcs.len()];
        let global = |v: VarId| matches!(program.vars[v].kind, VarKind::Global { .. });
        for edge in program.edges.values() {
            let func = program.locs[edge.source].func.index();
            let mut allowed = match &edge.op {
                Op::Skip | Op::Assume { .. } | Op::Return { .. } | Op::Halt(_) | Op::Error(_) | Op::Approx { .. } => {
                    true
                }
                Op::Assign { var, .. } => !global(*var),
                Op::Call { callee: Callee::Direct(callee), result, varargs: None, .. } => {
                    callees[func].push(*callee);
                    result.is_none_or(|v| !global(v)) && program.funcs[*callee].varargs.is_none()
                }
                _ => false,
            };
            edge.op.for_each_expr(|e| allowed &= !program.exprs.vars(e).into_iter().any(global));
            pure[func] &= allowed;
        }
        // A function has side effects if a callee has.
        while let Some(func) = (0..pure.len()).find(|&f| pure[f] && callees[f].iter().any(|c| !pure[c.index()])) {
            pure[func] = false;
        }
        Self { pure, known: FxHashMap::default(), left: MAX_STEPS_OF_ALL }
    }

    /// Computes the result of a call, or returns the remembered one.
    pub fn answer(&mut self, program: &Program, slots: &Slots, func: FuncId, args: &[u64]) -> Answer {
        let key = (func, Box::from(args));
        if let Some(known) = self.known.get(&key) {
            return known.expect("no call is under way");
        }
        if self.known.len() > MAX_KNOWN {
            self.known.clear();
        }
        let mut stack = vec![Activation::new(program, slots, key.clone())];
        self.known.insert(key.clone(), None);
        let answer = self.run(program, slots, &mut stack);
        // If the innermost call never returns, neither do its callers. Otherwise the results of the callers are
        // unknown.
        for caller in stack {
            match answer {
                Answer::Never => self.known.insert(caller.key, Some(answer)),
                _ => self.known.remove(&caller.key),
            };
        }
        self.known.insert(key, Some(answer));
        answer
    }

    /// Executes the innermost call of `stack` until the outermost returns. The stack is then empty.
    fn run(&mut self, program: &Program, slots: &Slots, stack: &mut Vec<Activation>) -> Answer {
        let pool = &program.exprs;
        for _ in 0..MAX_STEPS {
            if self.left == 0 {
                return Answer::Unknown;
            }
            self.left -= 1;
            let depth = stack.len();
            let top = stack.last_mut().expect("a call under way");
            let value = |top: &Activation, e| evaluate(pool, slots, &top.vars, e);
            let edge = match program.locs[top.loc].out {
                Out::Sink => return Answer::Never,
                Out::One(edge) => edge,
                Out::Branch { then_edge, else_edge } => {
                    let Op::Assume { cond, .. } = program.edges[then_edge].op else { return Answer::Unknown };
                    let Some(holds) = value(top, cond) else { return Answer::Unknown };
                    top.loc = program.edges[if holds == 1 { then_edge } else { else_edge }].target;
                    continue;
                }
            };
            let target = program.edges[edge].target;
            match &program.edges[edge].op {
                Op::Skip => top.loc = target,
                Op::Assign { var, value: e } => {
                    let Some(value) = value(top, *e) else { return Answer::Unknown };
                    top.vars[slots.of_var[var.index()].local()] = Some(value);
                    top.loc = target;
                }
                Op::Assume { cond, .. } => match value(top, *cond) {
                    Some(1) => top.loc = target,
                    Some(_) => return Answer::Never,
                    None => return Answer::Unknown,
                },
                Op::Call { callee: Callee::Direct(func), args, result, .. } => {
                    let params = &program.funcs[*func].params;
                    if args.len() < params.len() || depth >= MAX_DEPTH {
                        return Answer::Unknown;
                    }
                    let bind = |(&p, &e): (&VarId, &ExprId)| Some(mask(program.vars[p].width, value(top, e)?));
                    let Some(args) = params.iter().zip(args).map(bind).collect() else { return Answer::Unknown };
                    let key: Key = (*func, args);
                    match self.known.get(&key) {
                        // The call depends on its own result.
                        Some(None) => return Answer::Never,
                        Some(Some(Answer::Returns(returned))) => {
                            if !top.assign_result(program, slots, *result, *returned) {
                                return Answer::Unknown;
                            }
                            top.loc = target;
                        }
                        Some(&Some(answer)) => return answer,
                        None => {
                            self.known.insert(key.clone(), None);
                            stack.push(Activation::new(program, slots, key));
                        }
                    }
                }
                Op::Return { value: e } => {
                    let returned = match e {
                        Some(e) => match value(top, *e) {
                            Some(value) => Some(value),
                            None => return Answer::Unknown,
                        },
                        None => None,
                    };
                    let done = stack.pop().expect("a call under way");
                    self.known.insert(done.key, Some(Answer::Returns(returned)));
                    // The caller is still at its call, and finds the result there.
                    if stack.is_empty() {
                        return Answer::Returns(returned);
                    }
                }
                Op::Halt(_) => return Answer::Never,
                _ => return Answer::Unknown,
            }
        }
        Answer::Unknown
    }
}

impl Activation {
    fn new(program: &Program, slots: &Slots, key: Key) -> Self {
        let function = &program.funcs[key.0];
        let mut vars = vec![None; slots.locals[key.0.index()].len()];
        for (&param, &value) in function.params.iter().zip(&key.1) {
            vars[slots.of_var[param.index()].local()] = Some(value);
        }
        Self { vars, loc: function.entry, key }
    }

    /// Assigns the result of a call. Returns `false` if a result is expected and there is none.
    fn assign_result(
        &mut self,
        program: &Program,
        slots: &Slots,
        result: Option<VarId>,
        returned: Option<u64>,
    ) -> bool {
        let Some(var) = result else { return true };
        let value = returned.map(|v| mask(program.vars[var].width, v));
        self.vars[slots.of_var[var.index()].local()] = value;
        value.is_some()
    }
}

/// The value of an expression; `None` if it depends on an unset variable, has more than 64 bits, or has an unsupported
/// operator.
fn evaluate(pool: &ExprPool, slots: &Slots, vars: &[Option<u64>], e: ExprId) -> Option<u64> {
    let of = |e| evaluate(pool, slots, vars, e);
    let cfa::Sort::Bv(width @ ..=64) = pool.sort(e) else { return None };
    match *pool.get(e) {
        Expr::Const(ref c) => c.to_u64(),
        Expr::Var(v) => vars[slots.of_var[v.index()].local()],
        Expr::Unary(op, a) => Some(unary_int(op, width, of(a)?)),
        Expr::Binary(BinOp::Concat, high, low) => Some(of(high)? << pool.width(low) | of(low)?),
        Expr::Binary(op, a, b) => match pool.sort(a) {
            cfa::Sort::Bv(width @ ..=64) => binary_int(op, width, of(a)?, of(b)?),
            _ => None,
        },
        Expr::Ite(c, t, f) => {
            if of(c)? == 1 {
                of(t)
            } else {
                of(f)
            }
        }
        Expr::Extract { lo, arg, .. } => Some(mask(width, of(arg)? >> lo)),
        Expr::Zext { arg, .. } => of(arg),
        Expr::Sext { arg, .. } => Some(mask(width, sign_extend(pool.width(arg), of(arg)?) as u64)),
        _ => None,
    }
}

/// The outcome of the attempt to replace a call by its result.
pub(super) enum Replacement {
    /// The call was replaced; the path is after it.
    Returned(State),
    /// The path ends in the call, without an error.
    Ended,
    /// The call has to be executed.
    None(State),
}

impl Execution<'_> {
    /// True if the function is recursive and without side effects, and its calls may be replaced.
    pub(super) fn is_pure(&mut self, func: FuncId) -> bool {
        if !self.mode.skips_calls || !self.recursive[func.index()] {
            return false;
        }
        self.pure.get_or_insert_with(|| PureCalls::new(self.program)).pure[func.index()]
    }
}

/// Replaces the call over `edge` by its result for the argument values `args`, if possible.
pub(super) fn replace_call(
    ex: &mut Execution,
    mut st: State,
    edge: cfa::EdgeId,
    func: FuncId,
    args: &[Val],
) -> Replacement {
    let Op::Call { result, .. } = ex.program.edges[edge].op else { panic!("a call edge") };
    let Some(cases) = cases(ex, &mut st, func, args) else { return Replacement::None(st) };
    let mut table: Option<Val> = None;
    let mut returns = false;
    let result = result.map(|var| (var, ex.program.vars[var].width));
    for (condition, answer) in cases {
        match (answer, result) {
            (Answer::Unknown, _) | (Answer::Returns(None), Some(_)) => return Replacement::None(st),
            (Answer::Never, _) => match condition {
                None => return Replacement::Ended,
                Some(here) => {
                    let elsewhere = ex.terms.not(here);
                    ex.solver.assume(&mut ex.terms, &mut st.pc, elsewhere, None);
                }
            },
            (Answer::Returns(Some(value)), Some((_, width))) => {
                let value = Val::Int(mask(width, value));
                returns = true;
                table = Some(match (condition, table) {
                    (Some(here), Some(rest)) => {
                        let (value, rest) = (ex.terms.term(value, width), ex.terms.term(rest, width));
                        let either = ex.terms.ite(here, value, rest);
                        ex.terms.classify(either)
                    }
                    _ => value,
                });
            }
            (Answer::Returns(_), None) => returns = true,
        }
    }
    if !returns || st.pc.is_contradiction() {
        return Replacement::Ended;
    }
    if let (Some((var, _)), Some(value)) = (result, table) {
        ex.write_var(&mut st, var, value);
    }
    Replacement::Returned(st)
}

/// The feasible argument values, as conditions, with the result of the call for each. A single case with constant
/// arguments has no condition. `None` if there are too many values, an argument is unknown, or a result is unknown.
fn cases(ex: &mut Execution, st: &mut State, func: FuncId, args: &[Val]) -> Option<Vec<(Option<ExprId>, Answer)>> {
    let params = &ex.program.funcs[func].params;
    if args.len() != params.len() {
        return None;
    }
    let mut terms = Vec::new();
    let mut values = vec![0; args.len()];
    for (i, (&arg, &param)) in args.iter().zip(params).enumerate() {
        match arg {
            Val::Int(v) => values[i] = v,
            Val::Expr(e) if ex.program.vars[param].width <= 64 => terms.push((i, e)),
            _ => return None,
        }
    }
    if terms.is_empty() {
        return Some(vec![(None, answer_call(ex, func, &values)?)]);
    }
    for &(_, e) in &terms {
        ex.expose(st, e);
    }
    // Cheap check for few values: all values are near those of one model.
    let mut model = match st.pc.model() {
        Some(model) => model.clone(),
        None => ex.solver.model(&mut ex.terms, &st.pc).model()?,
    };
    let mut far = ex.terms.bool(false);
    for &(_, e) in &terms {
        let width = ex.terms.width(e);
        if width < u64::BITS && 1 << width <= 2 * MAX_DISTANCE {
            continue;
        }
        let near = model.eval(&ex.terms, e).to_u64()?;
        let lowest = ex.terms.int(width, mask(width, near.wrapping_sub(MAX_DISTANCE)));
        let span = ex.terms.int(width, mask(width, 2 * MAX_DISTANCE));
        let offset = ex.terms.sub(e, lowest);
        let beyond = ex.terms.ult(span, offset);
        far = ex.terms.or(far, beyond);
    }
    if !ex.solver.check(&mut ex.terms, &st.pc, far).is_infeasible() {
        return None;
    }
    let mut cases = Vec::new();
    let mut other = ex.terms.bool(true);
    loop {
        let mut here = ex.terms.bool(true);
        for &(i, e) in &terms {
            let value = model.eval(&ex.terms, e);
            values[i] = value.to_u64()?;
            let value = ex.terms.constant(value);
            let equal = ex.terms.eq(e, value);
            here = ex.terms.and(here, equal);
        }
        cases.push((Some(here), answer_call(ex, func, &values)?));
        if cases.len() > MAX_CASES {
            return None;
        }
        let elsewhere = ex.terms.not(here);
        other = ex.terms.and(other, elsewhere);
        match ex.solver.check(&mut ex.terms, &st.pc, other) {
            Feasibility::Infeasible => return Some(cases),
            Feasibility::Feasible(next) => model = next,
            Feasibility::Unknown(_) => return None,
        }
    }
}

fn answer_call(ex: &mut Execution, func: FuncId, args: &[u64]) -> Option<Answer> {
    let answer = ex.pure.as_mut()?.answer(ex.program, &ex.slots, func, args);
    (answer != Answer::Unknown).then_some(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `f(x) = x <u base ? x : f(x - 1) + f(x - 2)`, in 32 bits.
    fn program(base: u64) -> Program {
        let text = format!(
            "program 64 entry f0\ntype ty0 void\ntype ty1 int \"int\" 32 signed\n\nfunc f0 \"main\" source ty0 () entry l0 {{\n  \
             local v0 \"r\" ty1 32\n  l0:\n    t0: v0 := call f1 (5:32) -> l1\n  l1:\n    t1: halt abort -> l2\n  l2:\n}}\n\n\
             func f1 \"f\" source ty1 (v1) entry l3 {{\n  param v1 \"x\" ty1 32\n  local v2 \"a\" ty1 32\n  local v3 \"b\" ty1 32\n  l3:\n    \
             t2: if (v1 <u {base}:32) -> l4\n    t3: else ({base}:32 <=u v1) -> l5\n  l4:\n    t4: return v1 -> l8\n  l5:\n    \
             t5: v2 := call f1 ((v1 - 1:32)) -> l6\n  l6:\n    t6: v3 := call f1 ((v1 - 2:32)) -> l7\n  l7:\n    \
             t7: return (v2 + v3) -> l8\n  l8:\n}}\n"
        );
        cfa::text::parse(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
    }

    #[test]
    fn trees_of_calls_are_graphs() {
        let program = program(2);
        let slots = Slots::new(&program);
        let mut calls = PureCalls::new(&program);
        let f = FuncId(1);
        assert_eq!(calls.answer(&program, &slots, f, &[10]), Answer::Returns(Some(55)));
        // The function computes Fibonacci numbers modulo 2^32.
        let (mut a, mut b) = (0u32, 1u32);
        for _ in 0..300 {
            (a, b) = (b, a.wrapping_add(b));
        }
        assert_eq!(calls.answer(&program, &slots, f, &[300]), Answer::Returns(Some(u64::from(a))));
    }

    #[test]
    fn recursion_that_exceeds_the_depth_is_unknown() {
        // No argument is below the base, so every call depends on calls with new arguments, and finally on itself.
        let program = program(0);
        let slots = Slots::new(&program);
        let mut calls = PureCalls::new(&program);
        let f = FuncId(1);
        assert_eq!(calls.answer(&program, &slots, f, &[10]), Answer::Unknown);
        // The recursion exceeds the depth. Only the outermost call is remembered, as unknown.
        assert_eq!(calls.known.len(), 1);
        assert_eq!(calls.answer(&program, &slots, f, &[10]), Answer::Unknown);
    }
}
