//! Compiled expressions against the evaluator.

use super::*;

fn random_expr(pool: &mut ExprPool, vars: &[(VarId, u32)], seed: &mut dyn FnMut(u64) -> u64, depth: u32) -> ExprId {
    let widths = [1, 8, 16, 32, 33, 64, 80, 128];
    let width = widths[seed(widths.len() as u64) as usize];
    expr_of_width(pool, vars, seed, width, depth)
}

/// Interns without simplification, so that every operation is covered.
fn expr_of_width(
    pool: &mut ExprPool,
    vars: &[(VarId, u32)],
    seed: &mut dyn FnMut(u64) -> u64,
    width: u32,
    depth: u32,
) -> ExprId {
    use crate::expr::Sort;
    use FloatFormat::*;
    let sort = Sort::Bv(width);
    if depth == 0 {
        let same: Vec<VarId> = vars.iter().filter(|v| v.1 == width).map(|v| v.0).collect();
        if !same.is_empty() && seed(3) > 0 {
            let var = same[seed(same.len() as u64) as usize];
            return pool.var(var, width);
        }
        let value = Bv::new(64, seed(u64::MAX)).sext(128).resize(width.max(1));
        return pool.constant(value);
    }
    let format = [Half, Single, Double, X87, BFloat, Quad].into_iter().find(|f| f.width() == width);
    let sub = |pool: &mut ExprPool, seed: &mut dyn FnMut(u64) -> u64, w| expr_of_width(pool, vars, seed, w, depth - 1);
    let rounding = Rounding::ALL[seed(4) as usize];
    let node = match seed(12) {
        0 => Expr::Unary([UnOp::Not, UnOp::Neg][seed(2) as usize], sub(pool, seed, width)),
        1 => {
            let c = sub(pool, seed, 1);
            Expr::Ite(c, sub(pool, seed, width), sub(pool, seed, width))
        }
        2 if width > 1 => {
            let inner = if width > 8 { 8 } else { 1 };
            let arg = sub(pool, seed, inner);
            if seed(2) == 0 { Expr::Zext { width, arg } } else { Expr::Sext { width, arg } }
        }
        3 => {
            let inner = if seed(2) == 0 { 128 } else { width.max(64) };
            let lo = seed(u64::from(inner - width) + 1) as u32;
            Expr::Extract { hi: lo + width - 1, lo, arg: sub(pool, seed, inner) }
        }
        4 if width > 1 => {
            let low = 1 + seed(u64::from(width) - 1) as u32;
            Expr::Binary(BinOp::Concat, sub(pool, seed, width - low), sub(pool, seed, low))
        }
        5 if width == 1 => {
            let op = [BinOp::Eq, BinOp::Ult, BinOp::Ule, BinOp::Slt, BinOp::Sle][seed(5) as usize];
            let w = [8, 32, 64, 80][seed(4) as usize];
            Expr::Binary(op, sub(pool, seed, w), sub(pool, seed, w))
        }
        6 if width == 1 => {
            let format = [Single, Double, X87, Half][seed(4) as usize];
            let a = sub(pool, seed, format.width());
            match seed(4) {
                0 => Expr::FIsNan(format, a),
                n => {
                    let op = [FCmp::Eq, FCmp::Lt, FCmp::Le][n as usize - 1];
                    Expr::FCompare(op, format, a, sub(pool, seed, format.width()))
                }
            }
        }
        7 if format.is_some() => {
            let to = format.unwrap();
            if seed(2) == 0 {
                let from = [Single, Double, X87][seed(3) as usize];
                Expr::FConvert { rounding, from, to, arg: sub(pool, seed, from.width()) }
            } else {
                let w = [8, 32, 64][seed(3) as usize];
                Expr::IntToF { rounding, to, signed: seed(2) == 0, arg: sub(pool, seed, w) }
            }
        }
        8 if format.is_some() => {
            let ops = [FBinOp::ADD, FBinOp::SUB, FBinOp::MUL, FBinOp::DIV, FBinOp::Rem, FBinOp::Min, FBinOp::Max];
            let op = ops[seed(7) as usize];
            let op = if width > 64 && op == FBinOp::Rem { FBinOp::ADD } else { op };
            Expr::FBinary(op.with_rounding(rounding), format.unwrap(), sub(pool, seed, width), sub(pool, seed, width))
        }
        9 if format.is_some() && width <= 64 => {
            let ops = [FUnOp::Neg, FUnOp::Abs, FUnOp::SQRT, FUnOp::Floor, FUnOp::Trunc, FUnOp::RoundAway];
            Expr::FUnary(ops[seed(6) as usize].with_rounding(rounding), format.unwrap(), sub(pool, seed, width))
        }
        10 => {
            let from = [Single, Double][seed(2) as usize];
            Expr::FToInt { from, signed: seed(2) == 0, width, arg: sub(pool, seed, from.width()) }
        }
        _ => {
            let op = BinOp::ALL[seed(13) as usize];
            Expr::Binary(op, sub(pool, seed, width), sub(pool, seed, width))
        }
    };
    pool.intern(node, sort)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    #[test]
    fn compiled_expressions_have_the_value_that_the_evaluator_gives(seed in any::<u64>(), depth in 1..6u32) {
        // xorshift64*; proptest cannot shrink through it, but failures are small with small depths.
        let mut state = seed | 1;
        let mut random = |bound: u64| {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            let value = state.wrapping_mul(0x2545_f491_4f6c_dd1d);
            // Returns interesting words in a third of the cases.
            if bound < u64::MAX {
                (value >> 11) % bound.max(1)
            } else if value % 3 == 0 {
                [0, 1, u64::MAX, 1 << 63, 0x7ff0 << 48][(value >> 32) as usize % 5]
            } else {
                value
            }
        };
        let mut b = build(64);
        let mut vars = Vec::new();
        let mut inputs = Inputs::default();
        for width in [1, 8, 32, 64, 80, 128, 32, 64] {
            let e = b.havoc(width);
            let &Expr::Var(var) = b.p.exprs.get(e) else { unreachable!() };
            vars.push((var, width));
            inputs.values.push(Bv::new(64, random(u64::MAX)).concat(&Bv::new(64, random(u64::MAX))).resize(width));
        }
        let e = random_expr(&mut b.p.exprs, &vars, &mut random, depth);
        let result = b.var(b.p.exprs.width(e));
        b.assign(result, e);
        b.exit(ExprId(0));

        struct Last(VarId, Option<Bv>, Option<Bv>, ExprId);
        impl Observer for Last {
            fn executed(&mut self, _: EdgeId, state: &State) {
                self.1 = state.var(self.0);
                self.2 = Some(state.eval(self.3));
            }
        }
        let mut last = Last(result, None, None, e);
        Interpreter::new(&b.p).run(&mut inputs.source(), Limits::default(), &mut last);
        prop_assert_eq!(last.1, last.2);
    }
}

/// Measures executed edges per second in a loop of additions and of memory accesses. Run it by hand:
/// `cargo test --release -p cfa speed -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn speed() {
    let b = sum_loop();
    let inputs = Inputs { values: vec![Bv::new(32, 100_000_000)], ..Inputs::default() };
    let measure = |name: &str, b: &Build, inputs: &Inputs| {
        let interpreter = Interpreter::new(&b.p);
        let start = Instant::now();
        let limits = Limits { steps: 300_000_000, call_depth: 10_000_000, memory: 4 << 30, ..Limits::default() };
        let run = interpreter.run(&mut inputs.source(), limits, &mut ());
        let seconds = start.elapsed().as_secs_f64();
        println!("{name}: {:?}, {:.1} M edges/s", run.outcome, run.steps as f64 / seconds / 1e6);
    };
    measure("sums", &b, &inputs);
    let inputs = Inputs { values: vec![Bv::new(32, 5_000_000)], ..Inputs::default() };
    measure("calls", &recursion(), &inputs);
}
