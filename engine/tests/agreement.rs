//! Differential test on random programs over few bits: no analysis may contradict explicit state enumeration.
//!
//! `PROVISO_PROGRAMS=N cargo test -p engine --test agreement` tests more programs. `PROVISO_SEED=N` starts at another
//! seed.

use cfa::interp::Inputs;
use cfa::*;
use engine::budget::Budget;
use engine::{Analysis, Config, Verdict, replay, verify};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const WIDTH: u32 = 3;

/// Analyses that cannot prove programs with loops.
const FINDS_ERRORS_ONLY: [&str; 2] = ["random", "bmc"];

/// A structured program over three variables.
struct Random {
    p: Program,
    rng: SmallRng,
    vars: Vec<VarId>,
    at: LocId,
    ty: TypeId,
    statements: u32,
}

impl Random {
    fn program(seed: u64) -> (Program, Vec<VarId>) {
        let mut p = Program::new(DataLayout { pointer_width: 64 });
        let ty = p.types.push(CType::Int { name: "small".into(), width: WIDTH, signed: false });
        let kind = VarKind::Local(p.entry);
        let var = |name: &str| Var { name: Some(name.into()), ty, width: WIDTH, kind: kind.clone(), place: None };
        let vars: Vec<VarId> = ["x", "y", "z"].map(|n| p.vars.push(var(n))).to_vec();
        let at = p.funcs[p.entry].entry;
        let mut this = Self { p, rng: SmallRng::seed_from_u64(seed), vars, at, ty, statements: 0 };
        for i in 0..this.vars.len() {
            let value = this.constant();
            this.op(Op::Assign { var: this.vars[i], value });
        }
        this.block(3);
        this.error();
        let zero = this.p.exprs.constant(Bv::zero(32));
        this.op(Op::Halt(HaltKind::Exit(zero)));
        (this.p, this.vars)
    }
    fn op(&mut self, op: Op) {
        let to = self.p.add_location(self.p.entry);
        self.p.add_edge(self.at, op, to, None);
        self.at = to;
    }
    fn below(&mut self, n: u32) -> u32 {
        self.rng.random_range(0..n)
    }
    fn var(&mut self) -> VarId {
        let i = self.below(3) as usize;
        self.vars[i]
    }
    fn constant(&mut self) -> ExprId {
        let value = u64::from(self.below(1 << WIDTH));
        self.p.exprs.int(WIDTH, value)
    }
    fn expr(&mut self) -> ExprId {
        let a = self.var();
        let a = self.p.var_expr(a);
        let b = if self.below(2) == 0 {
            self.constant()
        } else {
            let b = self.var();
            self.p.var_expr(b)
        };
        match self.below(5) {
            0 => self.p.exprs.add(a, b),
            1 => self.p.exprs.sub(a, b),
            2 => self.p.exprs.binary(BinOp::Xor, a, b),
            3 => self.p.exprs.mul(a, b),
            _ => b,
        }
    }
    fn condition(&mut self) -> ExprId {
        let (a, b) = (self.var(), self.expr());
        let a = self.p.var_expr(a);
        match self.below(3) {
            0 => self.p.exprs.eq(a, b),
            1 => self.p.exprs.ult(a, b),
            _ => self.p.exprs.slt(a, b),
        }
    }
    /// Adds a branch. Returns the start locations of its two sides.
    fn branch(&mut self) -> (LocId, LocId) {
        let cond = self.condition();
        let (yes, no) = (self.p.add_location(self.p.entry), self.p.add_location(self.p.entry));
        if self.p.exprs.as_const(cond).is_some() {
            // A branch needs a condition.
            self.p.add_edge(self.at, Op::Skip, yes, None);
            let end = self.p.add_location(self.p.entry);
            let zero = self.p.exprs.constant(Bv::zero(32));
            self.p.add_edge(no, Op::Halt(HaltKind::Exit(zero)), end, None);
            return (yes, self.p.add_location(self.p.entry));
        }
        self.p.add_branch(self.at, cond, yes, no, None);
        (yes, no)
    }
    fn block(&mut self, depth: u32) {
        for _ in 0..=self.below(3) {
            self.statements += 1;
            match self.below(if depth == 0 || self.statements > 14 { 3 } else { 6 }) {
                0 | 1 => {
                    let (var, value) = (self.var(), self.expr());
                    self.op(Op::Assign { var, value });
                }
                2 => {
                    let var = self.var();
                    let kind = InputKind::Nondet("__VERIFIER_nondet_small".into());
                    let input = self.p.inputs.push(Input { kind, ty: self.ty, width: WIDTH, place: None });
                    self.op(Op::Havoc { var, input });
                }
                3 => {
                    let (yes, no) = self.branch();
                    self.at = yes;
                    self.block(depth - 1);
                    let join = self.p.add_location(self.p.entry);
                    self.p.add_edge(self.at, Op::Skip, join, None);
                    self.at = no;
                    self.block(depth - 1);
                    self.p.add_edge(self.at, Op::Skip, join, None);
                    self.at = join;
                }
                4 => {
                    let head = self.p.add_location(self.p.entry);
                    self.p.add_edge(self.at, Op::Skip, head, None);
                    self.at = head;
                    let (yes, no) = self.branch();
                    self.at = yes;
                    self.block(depth - 1);
                    self.p.add_edge(self.at, Op::Skip, head, None);
                    self.at = no;
                }
                _ => self.error(),
            }
        }
    }
    fn error(&mut self) {
        let (yes, no) = self.branch();
        let info = ErrorInfo { check: cfa::Check::Call, message: "error".into(), place: None };
        let error = self.p.errors.push(info);
        self.at = yes;
        self.op(Op::Error(error));
        self.at = no;
    }
}

/// Decides by enumeration of all states whether an error is reachable.
fn has_error(p: &Program, vars: &[VarId]) -> bool {
    type State = (LocId, Vec<u64>);
    let start: State = (p.funcs[p.entry].entry, vec![0; vars.len()]);
    let mut seen: BTreeSet<State> = BTreeSet::from([start.clone()]);
    let mut stack = vec![start];
    while let Some((loc, values)) = stack.pop() {
        let place: BTreeMap<VarId, usize> = vars.iter().enumerate().map(|(i, &v)| (v, i)).collect();
        let eval = |e: ExprId| {
            let mut evaluator = Evaluator::new(&p.exprs, |_: ExprId, leaf: &Expr| match leaf {
                Expr::Var(v) => Value::Bv(Bv::new(WIDTH, values[place[v]])),
                other => unreachable!("{other:?}"),
            });
            evaluator.eval(e).to_u64().unwrap()
        };
        for edge in p.out_edges(loc) {
            let mut next: Vec<Vec<u64>> = Vec::new();
            match &p.edges[edge].op {
                Op::Error(_) => return true,
                Op::Halt(_) => {}
                Op::Assume { cond, .. } if eval(*cond) == 0 => {}
                Op::Assign { var, value } => {
                    let mut new = values.clone();
                    new[place[var]] = eval(*value);
                    next.push(new);
                }
                Op::Havoc { var, .. } => {
                    for v in 0..1 << WIDTH {
                        let mut new = values.clone();
                        new[place[var]] = v;
                        next.push(new);
                    }
                }
                _ => next.push(values.clone()),
            }
            for values in next {
                let state = (p.edges[edge].target, values);
                if seen.insert(state.clone()) {
                    stack.push(state);
                }
            }
        }
    }
    false
}

#[test]
fn no_analysis_contradicts_counting() {
    let number = |name: &str, default: u64| std::env::var(name).map_or(default, |n| n.parse().unwrap());
    let (first, programs) = (number("PROVISO_SEED", 1), number("PROVISO_PROGRAMS", 60));
    let outcomes = (first..first + programs).into_par_iter().map(|seed| {
        let (p, vars) = Random::program(seed);
        assert_eq!(cfa::validate::validate(&p), Ok(()), "seed {seed}");
        let expected = has_error(&p, &vars);
        let answers = |&(analysis, name, _): &(Analysis, &str, _)| {
            let confirm = |inputs: &Inputs, error| {
                replay(&p, inputs, error, Duration::from_secs(9)).map(|path| (inputs.clone(), path))
            };
            let config = Config { analysis, ..Config::default() };
            let outcome = verify(&p, &config, &Budget::lasting(Duration::from_secs(2)), &confirm, &|_| {});
            let answer = match outcome.verdict {
                Verdict::True => false,
                Verdict::False(_) => true,
                Verdict::Unknown(_) => return false,
            };
            assert_eq!(answer, expected, "seed {seed}: {name}\n{}", cfa::text::print(&p));
            true
        };
        let answered = Analysis::all().filter(answers).map(|(_, name, _)| name);
        (expected, answered.collect::<Vec<_>>())
    });
    let outcomes: Vec<_> = outcomes.collect();
    let errors = outcomes.iter().filter(|(expected, _)| *expected).count() as u64;
    let mut answered: BTreeMap<&str, u64> = BTreeMap::new();
    outcomes.iter().flat_map(|(_, names)| names).for_each(|name| *answered.entry(name).or_default() += 1);
    println!("{programs} programs, {errors} with an error; answers: {answered:?}");
    assert!(answered["default"] * 10 >= programs * 9, "{answered:?}");
    // Each analysis has to decide a minimum of programs.
    for (_, name, _) in Analysis::all() {
        let least = if FINDS_ERRORS_ONLY.contains(&name) { errors / 2 } else { programs / 2 };
        assert!(answered.get(name).is_some_and(|&n| n >= least), "{name}: {answered:?}");
    }
}
