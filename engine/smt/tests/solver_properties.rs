//! Tests on random terms: the solvers against the evaluator, and the layers against a single solver.
//!
//! `PROPTEST_CASES` sets the number of cases. Each test uses a fraction of it, since solving is slow.

use cfa::{BinOp, Bv, Evaluator, ExprId, ExprPool, FBinOp, FCmp, FUnOp, FloatFormat, Rounding, Sort, UnOp, Value};
use proptest::prelude::*;
use rustc_hash::FxHashMap;
use smt::budget::Budget;
use smt::interpolate::{Direction, NoInterpolants, interpolants};
use smt::{Answer, Backend, Bitwuzla, Checked, Feasibility, Models, PathCondition, PathSolver, Reason, Solver, Z3};
use std::time::Duration;

/// The time limit of a query. Float queries may exceed it; their answers are not compared then.
const PATIENCE: Duration = Duration::from_secs(2);

/// Choices from a list of random numbers. After the end of the list, all are zero, so that a shorter list is a simpler
/// case.
struct Choices<'c>(std::slice::Iter<'c, u32>);

impl Choices<'_> {
    fn below(&mut self, n: usize) -> usize {
        self.0.next().map_or(0, |c| *c as usize % n)
    }
    fn choose<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
    fn bv(&mut self, width: u32) -> Bv {
        match self.below(6) {
            0 => Bv::zero(width),
            1 => Bv::one(width),
            2 => Bv::ones(width),
            3 => Bv::min_signed(width),
            4 => Bv::new(width, self.below(12) as u64),
            _ => {
                let word = (self.below(1 << 32) as u64) << 32 | self.below(1 << 32) as u64;
                Bv::new(64, word).concat(&Bv::new(64, word.rotate_left(23))).extract(width - 1, 0)
            }
        }
    }
}

/// Terms of a few widths over a few symbols.
struct Terms {
    pool: ExprPool,
    by_width: FxHashMap<u32, Vec<ExprId>>,
    symbols: Vec<ExprId>,
    arrays: Vec<ExprId>,
    widths: Vec<u32>,
    floats: Vec<FloatFormat>,
}

impl Terms {
    fn new(widths: &[u32], floats: &[FloatFormat], arrays: bool) -> Self {
        let mut terms = Self {
            pool: ExprPool::new(),
            by_width: FxHashMap::default(),
            symbols: Vec::new(),
            arrays: Vec::new(),
            widths: widths.to_vec(),
            floats: floats.to_vec(),
        };
        for &w in widths {
            for _ in 0..2 {
                let (_, e) = terms.pool.fresh_symbol(Sort::Bv(w));
                terms.symbols.push(e);
                terms.add(e);
            }
        }
        if arrays {
            let index = widths[widths.len() - 1];
            let (_, e) = terms.pool.fresh_symbol(Sort::Array { index, elem: widths[1] });
            terms.arrays.push(e);
            let zero = terms.pool.int(widths[1], 0);
            let zeros = terms.pool.const_array(index, zero);
            terms.arrays.push(zeros);
        }
        terms
    }
    fn add(&mut self, e: ExprId) {
        self.by_width.entry(self.pool.width(e)).or_default().push(e);
    }
    fn any(&mut self, c: &mut Choices, width: u32) -> ExprId {
        let known = self.by_width.get(&width).map_or(&[][..], Vec::as_slice);
        if known.is_empty() || c.below(5) == 1 {
            let value = c.bv(width);
            return self.pool.constant(value);
        }
        // Prefer recent terms.
        let back = c.below(known.len()).min(c.below(known.len()));
        known[known.len() - 1 - back]
    }
    /// Adds a random term.
    fn grow(&mut self, c: &mut Choices) {
        let width = c.choose(&self.widths.clone());
        let (a, b) = (self.any(c, width), self.any(c, width));
        let floats = self.floats.clone();
        let e = match c.below(if floats.is_empty() { 9 } else { 16 }) {
            0..=2 => {
                let op = c.choose(&BinOp::ALL[..18]);
                self.pool.binary(op, a, b)
            }
            3 => {
                let op = c.choose(&[BinOp::Eq, BinOp::Ult, BinOp::Ule, BinOp::Slt, BinOp::Sle]);
                self.pool.binary(op, a, b)
            }
            4 => {
                let op = c.choose(&[UnOp::Not, UnOp::Neg]);
                self.pool.unary(op, a)
            }
            5 => {
                let cond = self.any(c, 1);
                self.pool.ite(cond, a, b)
            }
            6 => {
                let other = c.choose(&self.widths.clone());
                match (other.cmp(&width), c.below(2)) {
                    (std::cmp::Ordering::Less, lo) => {
                        let lo = (lo as u32) * (width - other);
                        self.pool.extract(lo + other - 1, lo, a)
                    }
                    (_, 0) => self.pool.zext(other, a),
                    _ => self.pool.sext(other, a),
                }
            }
            7 => {
                let e = self.pool.concat(a, b);
                let lo = c.below(width as usize) as u32;
                self.pool.extract(lo + width - 1, lo, e)
            }
            8 if !self.arrays.is_empty() => {
                let array = self.arrays[self.arrays.len() - 1 - c.below(self.arrays.len())];
                let Sort::Array { index, elem } = self.pool.sort(array) else { unreachable!() };
                let (i, v) = (self.any(c, index), self.any(c, elem));
                if c.below(2) == 0 {
                    let stored = self.pool.store(array, i, v);
                    self.arrays.push(stored);
                }
                self.pool.select(array, i)
            }
            8 => return,
            kind => {
                let format = c.choose(&floats);
                let (a, b) = (self.any(c, format.width()), self.any(c, format.width()));
                let rounding = c.choose(&Rounding::ALL);
                match kind {
                    9 => {
                        let op = c.choose(&[FBinOp::ADD, FBinOp::SUB, FBinOp::MUL, FBinOp::DIV]);
                        self.pool.f_binary(op.with_rounding(rounding), format, a, b)
                    }
                    10 => {
                        let op = c.choose(&[FBinOp::Min, FBinOp::Max, FBinOp::Rem]);
                        self.pool.f_binary(op, format, a, b)
                    }
                    11 => {
                        let op = c.choose(&[
                            FUnOp::Neg,
                            FUnOp::Abs,
                            FUnOp::Sqrt(rounding),
                            FUnOp::Floor,
                            FUnOp::Ceil,
                            FUnOp::Trunc,
                            FUnOp::RoundEven,
                            FUnOp::RoundAway,
                        ]);
                        self.pool.f_unary(op, format, a)
                    }
                    12 => {
                        let to = c.choose(&floats);
                        self.pool.f_convert(rounding, format, to, a)
                    }
                    13 => {
                        let from = self.any(c, width);
                        self.pool.int_to_f(rounding, format, c.below(2) == 0, from)
                    }
                    14 => self.pool.f_to_int(format, c.below(2) == 0, width, a),
                    _ => {
                        let op = c.choose(&[FCmp::Eq, FCmp::Lt, FCmp::Le]);
                        if c.below(4) == 0 {
                            self.pool.f_is_nan(format, a)
                        } else {
                            self.pool.f_compare(op, format, a, b)
                        }
                    }
                }
            }
        };
        self.add(e);
    }
    fn condition(&mut self, c: &mut Choices) -> ExprId {
        for _ in 0..2 + c.below(4) {
            self.grow(c);
        }
        let e = self.any(c, 1);
        if c.below(2) == 0 { e } else { self.pool.not(e) }
    }
}

/// The answer of a single solver, in a separate scope.
fn plain(solver: &mut dyn Solver, pool: &ExprPool, set: &[ExprId]) -> Answer {
    solver.push();
    for &e in set {
        solver.assert(pool, e);
    }
    let answer = solver.check(pool, &[], &Budget::lasting(PATIENCE));
    solver.pop(1);
    answer
}

fn choices(n: usize) -> impl Strategy<Value = Vec<u32>> {
    proptest::collection::vec(any::<u32>(), 0..n)
}

/// Follows a random path and compares every answer. If `exact`, spurious models are errors.
fn walk(mut terms: Terms, numbers: &[u32], exact: bool) -> Result<(), TestCaseError> {
    let mut c = Choices(numbers.iter());
    let mut solver = PathSolver::new(Box::new(Bitwuzla::new()), Budget::unlimited());
    solver.set_query_time(Some(PATIENCE));
    let mut reference = Bitwuzla::new();
    let mut pc = PathCondition::new();
    let mut taken: Vec<ExprId> = Vec::new();
    for _ in 0..10 {
        let cond = terms.condition(&mut c);
        let negated = terms.pool.not(cond);
        let branch = solver.branch(&mut terms.pool, &pc, cond);
        let forget = c.below(5) == 0;
        let mut sides = Vec::new();
        for (side, e) in [(branch.if_true, cond), (branch.if_false, negated)] {
            taken.push(e);
            let expected = plain(&mut reference, &terms.pool, &taken);
            if !exact && (matches!(side, Feasibility::Unknown(_)) || matches!(expected, Answer::Unknown(_))) {
                return Ok(());
            }
            match &side {
                Feasibility::Feasible(model) => {
                    if model.is_spurious() {
                        prop_assert!(!exact);
                        prop_assert_eq!(&expected, &Answer::Sat);
                    } else {
                        prop_assert!(taken.iter().all(|&e| model.eval(&terms.pool, e).is_true()), "{:?}", model);
                    }
                }
                Feasibility::Infeasible => prop_assert!(!exact || expected == Answer::Unsat),
                Feasibility::Unknown(reason) => prop_assert!(false, "{reason}"),
            }
            if exact {
                prop_assert_eq!(side.is_feasible(), expected == Answer::Sat);
            }
            taken.pop();
            if side.is_feasible() {
                sides.push((e, side.model().filter(|_| !forget)));
            }
        }
        prop_assert!(!sides.is_empty());
        let (e, model) = sides.swap_remove(c.below(sides.len()));
        if forget {
            pc = {
                // Remove the model, as after an unknown answer.
                let mut bare = PathCondition::default();
                for conjunct in pc.conjuncts() {
                    solver.assume(&mut terms.pool, &mut bare, conjunct, None);
                }
                bare
            };
        }
        solver.assume(&mut terms.pool, &mut pc, e, model);
        taken.push(e);
        if let Some(value) = solver.unique_value(&mut terms.pool, &pc, terms.symbols[0]) {
            let constant = terms.pool.constant(value);
            let differs = terms.pool.ne(terms.symbols[0], constant);
            taken.push(differs);
            prop_assert!(!exact || plain(&mut reference, &terms.pool, &taken) == Answer::Unsat);
            taken.pop();
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4 + 1))]

    #[test]
    fn layers_agree_with_a_plain_solver_on_bits(numbers in choices(300)) {
        walk(Terms::new(&[1, 3, 4, 8], &[], false), &numbers, true)?;
    }

    #[test]
    fn layers_agree_with_a_plain_solver_on_words_and_arrays(numbers in choices(300)) {
        walk(Terms::new(&[1, 8, 16], &[], true), &numbers, true)?;
    }

    #[test]
    fn layers_agree_with_a_plain_solver_on_floats(numbers in choices(200)) {
        walk(Terms::new(&[1, 8, 16], &[FloatFormat::Half, FloatFormat::BFloat], false), &numbers, false)?;
    }

    /// The solver permits exactly the evaluator's value of a term under an assignment, unless the result of a float
    /// operation is open.
    #[test]
    fn terms_have_the_value_of_the_evaluator(numbers in choices(120)) {
        let mut c = Choices(numbers.iter());
        let floats = [FloatFormat::Half, FloatFormat::BFloat, FloatFormat::Single, FloatFormat::Double, FloatFormat::X87];
        let mut terms = Terms::new(&[1, 8, 16, 32, 64, 80], &floats, true);
        for _ in 0..8 {
            terms.grow(&mut c);
        }
        let mut solver = Bitwuzla::new();
        let mut values = FxHashMap::default();
        for &symbol in &terms.symbols.clone() {
            let value = c.bv(terms.pool.width(symbol));
            values.insert(symbol, Value::Bv(value.clone()));
            let constant = terms.pool.constant(value);
            let here = terms.pool.eq(symbol, constant);
            solver.assert(&terms.pool, here);
        }
        let array = terms.arrays[0];
        let zeros = terms.arrays[1];
        values.insert(array, Evaluator::new(&terms.pool, |_, _| unreachable!()).value(zeros));
        let everything: Vec<_> = terms.by_width.values().flatten().copied().collect();
        let evaluated: Vec<_> = {
            let mut evaluator = Evaluator::new(&terms.pool, |leaf, _| values[&leaf].clone());
            everything.iter().map(|&e| (e, evaluator.eval(e))).collect()
        };
        for (e, value) in evaluated {
            let constant = terms.pool.constant(value);
            let same = terms.pool.eq(e, constant);
            let answer = solver.check(&terms.pool, &[same], &Budget::lasting(PATIENCE));
            if matches!(answer, Answer::Unknown(_)) {
                continue;
            }
            let array_matters = answer == Answer::Unsat && mentions(&terms.pool, e, array);
            prop_assert!(answer == Answer::Sat || array_matters, "{:?} of {:?}", terms.pool.get(e), value_of(&terms.pool, same));
            if !open(&terms.pool, e) && !mentions(&terms.pool, e, array) {
                let differs = terms.pool.not(same);
                let answer = solver.check(&terms.pool, &[differs], &Budget::lasting(PATIENCE));
                prop_assert_ne!(answer, Answer::Sat, "{:?}", terms.pool.get(e));
            }
        }
    }

    /// Models of one assertion hold in the evaluator, arrays included.
    #[test]
    fn models_satisfy(numbers in choices(200)) {
        let mut c = Choices(numbers.iter());
        let mut terms = Terms::new(&[1, 8, 16, 70], &[], true);
        for _ in 0..20 {
            terms.grow(&mut c);
        }
        let mut solver = Bitwuzla::new();
        for cond in terms.by_width[&1].clone() {
            if solver.check(&terms.pool, &[cond], &Budget::unlimited()) == Answer::Sat {
                prop_assert!(solver.value(&terms.pool, cond).bv().is_true());
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 8 + 1))]

    #[test]
    fn bitwuzla_and_z3_agree(numbers in choices(200), floats in any::<bool>()) {
        let mut c = Choices(numbers.iter());
        let formats: &[_] = if floats { &[FloatFormat::Half, FloatFormat::Single, FloatFormat::X87] } else { &[] };
        let mut terms = Terms::new(&[1, 8, 16, 32, 80], formats, true);
        for _ in 0..12 {
            terms.grow(&mut c);
        }
        let mut solver = Checked::new(Bitwuzla::new(), Z3::new());
        let conditions = terms.by_width[&1].clone();
        for pair in conditions.windows(2) {
            agree(&mut solver, &terms.pool, pair)?;
        }
        for pair in conditions.windows(2) {
            solver.push();
            solver.assert(&terms.pool, pair[0]);
            agree(&mut solver, &terms.pool, &pair[1..])?;
        }
    }
}

fn agree(solver: &mut dyn Backend, pool: &ExprPool, set: &[ExprId]) -> Result<(), TestCaseError> {
    match solver.check(pool, set, &Budget::lasting(PATIENCE)) {
        Answer::Unknown(Reason::Disagreement(query)) => prop_assert!(false, "{query}"),
        Answer::Unsat => {
            // The core alone contradicts the assertions.
            let core = solver.unsat_core();
            prop_assert!(core.iter().all(|e| set.contains(e)));
            prop_assert_ne!(solver.check(pool, &core, &Budget::lasting(PATIENCE)), Answer::Sat);
        }
        _ => {}
    }
    Ok(())
}

fn mentions(pool: &ExprPool, root: ExprId, e: ExprId) -> bool {
    let mut found = false;
    pool.visit(root, &mut Default::default(), |x, _| found |= x == e);
    found
}

fn open(pool: &ExprPool, root: ExprId) -> bool {
    use cfa::Expr::*;
    let mut found = false;
    pool.visit(root, &mut Default::default(), |_, node| {
        found |= matches!(node, FUnary(..) | FBinary(..) | FConvert { .. } | FToInt { .. } | Fma(..));
    });
    found
}

fn value_of(pool: &ExprPool, same: ExprId) -> String {
    format!("{:?}", pool.get(same))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4 + 1))]

    /// Paths of random assignments and conditions. Infeasible paths have interpolants, which are verified before they
    /// are returned, or an error. Feasible paths are reported as feasible.
    #[test]
    fn interpolants_of_random_paths(numbers in choices(200)) {
        let mut c = Choices(numbers.iter());
        let mut terms = Terms::new(&[1, 8], &[], false);
        let mut steps = Vec::new();
        for _ in 0..6 {
            terms.grow(&mut c);
            if c.below(2) == 0 {
                let value = terms.any(&mut c, 8);
                let (_, x) = terms.pool.fresh_symbol(Sort::Bv(8));
                let step = terms.pool.eq(x, value);
                steps.push(step);
                terms.add(x);
            } else {
                let cond = terms.condition(&mut c);
                steps.push(cond);
            }
        }
        let expected = plain(&mut Bitwuzla::new(), &terms.pool, &steps);
        let mut solver = Bitwuzla::new();
        match interpolants(&mut terms.pool, &mut solver, &steps, Direction::Forward, &Budget::unlimited()) {
            Ok(found) => {
                prop_assert_eq!(expected, Answer::Unsat);
                prop_assert_eq!(found.len() + 1, steps.len());
                // At each cut, the earlier steps imply the interpolant, and the later ones contradict it.
                for (k, &i) in found.iter().enumerate() {
                    let mut before = steps[..=k].to_vec();
                    before.push(terms.pool.not(i));
                    prop_assert_eq!(plain(&mut solver, &terms.pool, &before), Answer::Unsat);
                    let mut after = steps[k + 1..].to_vec();
                    after.push(i);
                    prop_assert_eq!(plain(&mut solver, &terms.pool, &after), Answer::Unsat);
                }
            }
            Err(NoInterpolants::Feasible) => prop_assert_eq!(expected, Answer::Sat),
            Err(NoInterpolants::Inexpressible) => prop_assert_eq!(expected, Answer::Unsat),
            Err(NoInterpolants::Unknown(reason)) => prop_assert!(false, "{reason}"),
        }
    }
}
