//! The example of CONTRIBUTING.md: a new abstract domain on the algorithm that all analyses share.
//!
//! A state maps variables to their parity, even or odd. The domain is a CPA: it defines the effect of an operation on a
//! state, which states are merged, and which states cover others. The algorithm handles calls, positions in the program
//! and the order of exploration.

use cfa::interp::Inputs;
use cfa::{BinOp, EdgeId, ErrorId, Expr, ExprId, Op, Program, VarId, VarKind};
use engine::algorithm::Explored;
use engine::algorithm::cpa::{CpaAlgorithm, Merge, Parameters};
use engine::analysis::reached::NoReachedSet;
use engine::analysis::{At, Coverer, Cpa, Pair, Sides, Step, Stop, Target};
use engine::budget::Budget;
use engine::control::Control;
use engine::waitlist::SearchOrder;
use engine::{Counters, Taints};
use std::collections::{BTreeMap, HashSet};

/// Variables whose parity is known: true if odd.
type State = BTreeMap<VarId, bool>;

struct Parity<'p> {
    program: &'p Program,
    /// The states that have reached each location.
    seen: HashSet<(Control, State)>,
}

impl Parity<'_> {
    /// True if the expression is odd, false if it is even; `None` if that is not known.
    fn eval(&self, state: &State, e: ExprId) -> Option<bool> {
        let pool = &self.program.exprs;
        if let Some(value) = pool.as_const(e) {
            return Some(value.bit(0));
        }
        match *pool.get(e) {
            Expr::Var(var) => state.get(&var).copied(),
            Expr::Binary(BinOp::Add | BinOp::Sub | BinOp::Xor, a, b) => {
                Some(self.eval(state, a)? ^ self.eval(state, b)?)
            }
            Expr::Binary(BinOp::Mul | BinOp::And, a, b) => match (self.eval(state, a), self.eval(state, b)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (a, b) => Some(a? && b?),
            },
            _ => None,
        }
    }

    /// False if the condition equates numbers of different parity; true if a state may satisfy it.
    fn may_hold(&self, state: &State, cond: ExprId, branch: bool) -> bool {
        match *self.program.exprs.get(cond) {
            Expr::Binary(BinOp::Eq, a, b) if branch => match (self.eval(state, a), self.eval(state, b)) {
                (Some(a), Some(b)) => a == b,
                _ => true,
            },
            _ => true,
        }
    }
}

impl Cpa for Parity<'_> {
    type State = State;
    type Evidence = Inputs;

    fn initial(&mut self) -> State {
        let mut state = State::new();
        for (var, info) in self.program.vars.iter() {
            if let VarKind::Global { init: Some(init), .. } = info.kind {
                state.extend(self.eval(&State::new(), init).map(|odd| (var, odd)));
            }
        }
        state
    }

    fn transfer(&mut self, mut state: State, _: Control, edge: EdgeId, step: &mut Step<State>) -> Result<(), Stop> {
        let op = &self.program.edges[edge].op;
        let odd = if let Op::Assign { value, .. } = *op { self.eval(&state, value) } else { None };
        if let Some(var) = op.def() {
            match odd {
                Some(odd) => drop(state.insert(var, odd)),
                None => drop(state.remove(&var)),
            }
        }
        step.successors.push((state, At::Target));
        Ok(())
    }

    fn branch(&mut self, state: State, then_edge: EdgeId, else_edge: EdgeId) -> Result<Sides<State>, Stop> {
        let side = |edge: EdgeId| {
            let Op::Assume { cond, branch, .. } = self.program.edges[edge].op else {
                unreachable!("a branch of assumes")
            };
            self.may_hold(&state, cond, branch).then(|| state.clone())
        };
        Ok((side(then_edge), side(else_edge)))
    }

    fn leave(&mut self, state: State, _: EdgeId, _: EdgeId) -> Result<State, Stop> {
        Ok(state)
    }

    fn target(&mut self, _: &mut State, _: EdgeId, _: ErrorId) -> Result<Target<Inputs>, Stop> {
        Ok(Target::Reached(Inputs::default()))
    }

    fn adjust(&mut self, state: State, _: EdgeId, _: Control, _: &mut Vec<State>) -> Result<Option<State>, Stop> {
        Ok(Some(state))
    }

    fn stop(&mut self, state: &State, at: Control) -> Result<Option<Coverer>, Stop> {
        let is_new = self.seen.insert((at, state.clone()));
        Ok((!is_new).then_some(Coverer::Unknown))
    }

    fn merge(&mut self, a: State, b: State, _: Control) -> Result<State, Pair<State>> {
        Err(Box::new((a, b)))
    }
}

/// `x` starts at 1, a loop adds 2 an arbitrary number of times, and the error is `x == <compared>`.
fn program(compared: u64) -> Program {
    let text = format!(
        "program 64 entry f0
type ty0 void
type ty1 int \"int\" 32 signed
input in0 nondet \"more\" ty1 32
error err0 \"unreach-call\" \"x is {compared}\"

func f0 \"main\" source ty0 () entry l0 {{
  local v0 \"x\" ty1 32
  local v1 \"more\" ty1 32
  l0:
    t0: v0 := 1:32 -> l1
  l1:
    t1: v1 := havoc in0 -> l2
  l2:
    t2: if (v1 == 0:32) -> l4
    t3: else ~(v1 == 0:32) -> l3
  l3:
    t4: v0 := (v0 + 2:32) -> l1
  l4:
    t5: if (v0 == {compared}:32) -> l5
    t6: else ~(v0 == {compared}:32) -> l6
  l5:
    t7: error err0 -> l6
  l6:
}}
"
    );
    cfa::text::parse(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

fn explored(program: &Program) -> (bool, Counters) {
    let mut heads = vec![false; program.locs.len()];
    heads[1] = true;
    let parameters = Parameters {
        heads,
        merge: Merge::Never,
        search: SearchOrder::DepthFirst,
        seed: 0,
        max_call_depth: 100,
        covers: true,
        notes_locations: false,
        counts_on_rest: false,
    };
    let parity = Parity { program, seen: HashSet::new() };
    let mut algorithm = CpaAlgorithm::new(program, parity, NoReachedSet, parameters);
    let mut taints = Taints::default();
    let end = algorithm.run(&Budget::unlimited(), &mut taints, &mut |_, _| {}).expect("no limit");
    assert!(taints.is_empty());
    (matches!(end, Explored::Complete), algorithm.counters)
}

#[test]
fn a_loop_that_adds_two_keeps_an_odd_number_odd() {
    let (safe, counters) = explored(&program(8));
    assert!(safe, "x is never even");
    assert!(counters.covered > 0, "the second iteration is covered by the first");
}

#[test]
fn an_odd_number_may_be_reached() {
    let (safe, _) = explored(&program(7));
    assert!(!safe, "x may be 7");
}
