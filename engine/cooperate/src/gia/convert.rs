//! Conversions between GIAs and other artifacts. `docs/guide/gia.md` lists the information that each conversion loses.

use super::paths::Annotated;
use super::{Gia, Says, State};
use crate::condition::{Condition, Label, StateId, Transition};
use cfa::interp::{Observer, State as Execution};
use cfa::{Bv, EdgeId, Expr, ExprId, InputId, Op, Program};

/// A test: a path of the program with its input values, in order.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Test {
    /// The edges.
    pub path: Vec<EdgeId>,
    /// The inputs and their values, each with the position in the path of the edge that reads it.
    pub values: Vec<(usize, InputId, Bv)>,
}

/// Records a run as a test.
#[derive(Default)]
pub struct Recording {
    /// The test so far.
    pub test: Test,
}

impl Observer for Recording {
    fn executed(&mut self, edge: EdgeId, state: &Execution) {
        let program = state.program();
        if let Op::Havoc { var, input } = program.edges[edge].op
            && let Some(value) = state.var(var)
        {
            self.test.values.push((self.test.path.len(), input, value));
        }
        self.test.path.push(edge);
    }
}

/// The prefix of the test up to the first edge in `targets`; `None` if it contains none of them.
pub fn test_of(mut test: Test, targets: &dyn Fn(EdgeId) -> bool) -> Option<Test> {
    let end = test.path.iter().position(|&e| targets(e))?;
    test.path.truncate(end + 1);
    test.values.retain(|&(at, ..)| at <= end);
    Some(test)
}

impl Test {
    /// The path, with each input value as a condition on the edge that reads it (section 8 of the paper).
    pub fn annotated(&self, program: &mut Program) -> Annotated {
        let mut conditions = Vec::new();
        for (at, _, value) in &self.values {
            let Op::Havoc { var, .. } = program.edges[self.path[*at]].op else { continue };
            let (var, value) = (program.var_expr(var), program.exprs.constant(value.clone()));
            conditions.push((*at, program.exprs.eq(var, value)));
        }
        Annotated { path: self.path.clone(), conditions }
    }
}

impl Gia {
    /// The GIA of a condition: covered paths reach no target. Paths that are verified only together with the residual
    /// paths are not covered.
    pub fn of_condition(condition: &Condition) -> Self {
        let condition = condition.by_itself().truncated(usize::MAX);
        let states = condition.states.values().map(|s| State {
            invariant: None,
            says: s.accepting.then_some(Says::Unreachable),
            transitions: s.transitions.clone(),
        });
        Self { states: states.collect(), initial: condition.initial }
    }

    /// Adds a run to a target, defined by its inputs alone, to an automaton of such runs. The program is deterministic
    /// given these inputs, so the other edges need no names. The run must reach its last edge for the first time.
    pub fn add_run(&mut self, run: &Test, program: &mut Program) {
        let Some(last) = run.path.len().checked_sub(1) else { return };
        let Annotated { path, conditions } = run.annotated(program);
        let (end, before): (Vec<_>, Vec<_>) = conditions.into_iter().partition(|&(at, _)| at == last);
        let mut at = self.initial;
        for (i, condition) in before {
            if self.states[at].says.is_some() {
                return;
            }
            self.go_round(at);
            at = self.go_on(at, path[i], Some(condition), None);
        }
        self.go_round(at);
        // Other runs may pass the edge and continue.
        let goes_on = Transition::on(path[last], at);
        if !self.states[at].transitions.contains(&goes_on) {
            self.states[at].transitions.push(goes_on);
        }
        let reached = Transition { assumption: end.first().map(|&(_, e)| e), ..Transition::on(path[last], at) };
        let to = self.add(Some(Says::Reachable), None);
        self.states[at].transitions.push(Transition { to, ..reached });
    }

    /// Adds a self-loop on all edges that no transition names, unless there is one.
    fn go_round(&mut self, at: StateId) {
        if self.states[at].transitions.iter().all(|t| t.on != Label::Others) {
            self.states[at].transitions.push(Transition::others(at));
        }
    }

    /// The tests that lead to `F_rt` (section 8): paths of single edges, with conditions that fix each input value.
    pub fn tests(&self, program: &Program) -> Vec<Test> {
        let mut found = Vec::new();
        let mut stack: Vec<(StateId, Test)> = vec![(self.initial, Test::default())];
        let mut seen = vec![false; self.states.len()];
        while let Some((at, test)) = stack.pop() {
            if self.states[at].says == Some(Says::Reachable) {
                found.push(test);
                continue;
            }
            // Tests form a tree. Joins and loops are not single tests.
            if std::mem::replace(&mut seen[at.0 as usize], true) {
                continue;
            }
            for t in self.states[at].transitions.iter().rev() {
                let Label::Edges(edges) = &t.on else { continue };
                let [edge] = **edges else { continue };
                let mut test = test.clone();
                if let Op::Havoc { var, input } = program.edges[edge].op
                    && let Some(value) = t.assumption.and_then(|e| fixed(program, e, var))
                {
                    test.values.push((test.path.len(), input, value));
                }
                test.path.push(edge);
                stack.push((t.to, test));
            }
        }
        found
    }

    /// The labels on a shortest path to a state with this claim.
    pub fn path_to(&self, says: Says) -> Option<Vec<Label>> {
        let mut from: Vec<Option<(StateId, Label)>> = vec![None; self.states.len()];
        let (mut queue, mut done) = (vec![self.initial], 0);
        while let Some(&at) = queue.get(done) {
            done += 1;
            if self.states[at].says == Some(says) {
                let (mut path, mut state) = (Vec::new(), at);
                while let Some((before, label)) = from[state.0 as usize].clone() {
                    path.push(label);
                    state = before;
                }
                path.reverse();
                return Some(path);
            }
            for t in &self.states[at].transitions {
                if t.to != self.initial && from[t.to.0 as usize].is_none() {
                    from[t.to.0 as usize] = Some((at, t.on.clone()));
                    queue.push(t.to);
                }
            }
        }
        None
    }
}

/// The value that a condition fixes a variable to, if it does.
pub(super) fn fixed(program: &Program, e: ExprId, var: cfa::VarId) -> Option<Bv> {
    let is_var = |e: ExprId| *program.exprs.get(e) == Expr::Var(var);
    match *program.exprs.get(e) {
        Expr::Binary(cfa::BinOp::Eq, a, b) if is_var(a) => program.exprs.as_const(b).cloned(),
        Expr::Binary(cfa::BinOp::Eq, a, b) if is_var(b) => program.exprs.as_const(a).cloned(),
        // A truth value is its own condition.
        Expr::Var(v) if v == var => Some(Bv::one(1)),
        Expr::Unary(cfa::UnOp::Not, a) if is_var(a) => Some(Bv::zero(1)),
        _ => None,
    }
}
