//! Measures the decision of path conditions: all paths of small programs over symbolic inputs, depth first, as in
//! symbolic execution. Prints for each program the paths, the queries, the layers that decided them, and the time in
//! seconds.
//!
//! `cargo bench -p engine --bench path_solver [NAME]`

use cfa::{BinOp, Bv, ExprId, ExprPool, FBinOp, FCmp, FloatFormat, Sort};
use smt::budget::Budget;
use smt::{Bitwuzla, Feasibility, PathCondition, PathSolver};
use std::time::Instant;

/// A program: follows one path, and calls the function at each branch.
type Program = fn(&mut ExprPool, &[ExprId], &mut dyn FnMut(&mut ExprPool, ExprId) -> bool);

fn bubble_sort(pool: &mut ExprPool, inputs: &[ExprId], branch: &mut dyn FnMut(&mut ExprPool, ExprId) -> bool) {
    let mut a = inputs.to_vec();
    for i in 0..a.len() {
        for j in 0..a.len() - 1 - i {
            let swap = pool.slt(a[j + 1], a[j]);
            if branch(pool, swap) {
                a.swap(j, j + 1);
            }
        }
    }
    for pair in a.windows(2) {
        let sorted = pool.sle(pair[0], pair[1]);
        assert!(branch(pool, sorted));
    }
}

/// Parses decimal digits into a number, and tests the number.
fn parse(pool: &mut ExprPool, inputs: &[ExprId], branch: &mut dyn FnMut(&mut ExprPool, ExprId) -> bool) {
    let (zero, nine, ten) = (pool.int(8, 48), pool.int(8, 57), pool.int(32, 10));
    let mut number = pool.int(32, 0);
    for &c in inputs {
        let (low, high) = (pool.ule(zero, c), pool.ule(c, nine));
        if !branch(pool, low) || !branch(pool, high) {
            break;
        }
        let digit = pool.sub(c, zero);
        let digit = pool.zext(32, digit);
        let shifted = pool.mul(number, ten);
        number = pool.add(shifted, digit);
        let limit = pool.int(32, 77);
        let large = pool.ult(limit, number);
        branch(pool, large);
    }
    let (seven, three) = (pool.int(32, 7), pool.int(32, 3));
    let rest = pool.binary(BinOp::URem, number, seven);
    let is_three = pool.eq(rest, three);
    branch(pool, is_three);
}

/// A loop that counts to a symbolic bound: nearly every query is about constants and bounds.
fn count(pool: &mut ExprPool, inputs: &[ExprId], branch: &mut dyn FnMut(&mut ExprPool, ExprId) -> bool) {
    let limit = pool.int(32, 300);
    let bounded = pool.ult(inputs[0], limit);
    if !branch(pool, bounded) {
        return;
    }
    for i in 0..400 {
        let i = pool.int(32, i);
        let more = pool.ult(i, inputs[0]);
        if !branch(pool, more) {
            break;
        }
    }
}

/// Independent inputs.
fn independent(pool: &mut ExprPool, inputs: &[ExprId], branch: &mut dyn FnMut(&mut ExprPool, ExprId) -> bool) {
    for &x in inputs {
        let (square, limit, five) = (pool.mul(x, x), pool.int(32, 1000), pool.int(32, 5));
        let small = pool.ult(square, limit);
        branch(pool, small);
        let few = pool.ult(x, five);
        branch(pool, few);
    }
}

fn collatz(pool: &mut ExprPool, inputs: &[ExprId], branch: &mut dyn FnMut(&mut ExprPool, ExprId) -> bool) {
    let (one, three, limit) = (pool.int(32, 1), pool.int(32, 3), pool.int(32, 1000));
    let mut x = inputs[0];
    let small = pool.ult(x, limit);
    if !branch(pool, small) {
        return;
    }
    for _ in 0..9 {
        let done = pool.ule(x, one);
        if branch(pool, done) {
            return;
        }
        let low = pool.extract(0, 0, x);
        x = if branch(pool, low) {
            let tripled = pool.mul(x, three);
            pool.add(tripled, one)
        } else {
            pool.binary(BinOp::LShr, x, one)
        };
    }
}

/// Writes and reads of one array at symbolic indices.
fn array(pool: &mut ExprPool, inputs: &[ExprId], branch: &mut dyn FnMut(&mut ExprPool, ExprId) -> bool) {
    let zero = pool.int(8, 0);
    let mut memory = pool.const_array(32, zero);
    let (size, three, five) = (pool.int(32, 16), pool.int(32, 3), pool.int(8, 5));
    for pair in inputs.windows(2) {
        let inside = pool.ult(pair[1], size);
        if !branch(pool, inside) {
            return;
        }
        let byte = pool.extract(7, 0, pair[1]);
        memory = pool.store(memory, pair[1], byte);
        let at = pool.mul(pair[0], three);
        let read = pool.select(memory, at);
        let small = pool.ult(read, five);
        branch(pool, small);
    }
}

fn floats(pool: &mut ExprPool, inputs: &[ExprId], branch: &mut dyn FnMut(&mut ExprPool, ExprId) -> bool) {
    let format = FloatFormat::Single;
    let (zero, one) = (pool.int(32, 0), pool.constant(Bv::new(32, u64::from(1f32.to_bits()))));
    let mut sum = zero;
    for &x in inputs {
        let (low, high) = (pool.f_compare(FCmp::Le, format, zero, x), pool.f_compare(FCmp::Le, format, x, one));
        if !branch(pool, low) || !branch(pool, high) {
            return;
        }
        sum = pool.f_binary(FBinOp::ADD, format, sum, x);
        let below = pool.f_compare(FCmp::Lt, format, sum, one);
        branch(pool, below);
    }
}

/// The side of a branch that has not been explored yet: the decisions that lead there, and the path condition.
struct Pending {
    decisions: Vec<bool>,
    pc: PathCondition,
}

/// Explores up to `most` paths. Each path is executed again from the start. Terms are hash-consed, so that costs
/// little.
fn explore(program: Program, sorts: &[Sort], most: u32) -> (u32, PathSolver) {
    let mut pool = ExprPool::new();
    let inputs: Vec<_> = sorts.iter().map(|&sort| pool.fresh_symbol(sort).1).collect();
    let mut solver = PathSolver::new(Box::new(Bitwuzla::new()), Budget::unlimited());
    let mut waiting = vec![Pending { decisions: Vec::new(), pc: PathCondition::new() }];
    let mut paths = 0;
    while let Some(Pending { mut decisions, mut pc }) = waiting.pop() {
        if paths == most {
            break;
        }
        paths += 1;
        let mut at = 0;
        program(&mut pool, &inputs, &mut |pool, cond| {
            if let Some(c) = pool.as_const(cond) {
                return c.is_true();
            }
            at += 1;
            if at <= decisions.len() {
                return decisions[at - 1];
            }
            let negated = pool.not(cond);
            let branch = solver.branch(pool, &pc, cond);
            let taken = match (branch.if_true, branch.if_false) {
                (Feasibility::Feasible(yes), Feasibility::Feasible(no)) => {
                    let mut other = Pending { decisions: decisions.clone(), pc: pc.clone() };
                    other.decisions.push(false);
                    solver.assume(pool, &mut other.pc, negated, Some(no));
                    waiting.push(other);
                    solver.assume(pool, &mut pc, cond, Some(yes));
                    true
                }
                (yes, _) => yes.is_feasible(),
            };
            decisions.push(taken);
            taken
        });
    }
    (paths, solver)
}

fn main() {
    let word = Sort::Bv(32);
    let programs: [(&str, Program, Vec<Sort>); 7] = [
        ("bubble_sort", bubble_sort, vec![word; 6]),
        ("parse", parse, vec![Sort::Bv(8); 6]),
        ("count", count, vec![word]),
        ("independent", independent, vec![word; 7]),
        ("collatz", collatz, vec![word]),
        ("array", array, vec![word; 7]),
        ("floats", floats, vec![word; 3]),
    ];
    let only = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    println!("program       paths queries trivial  model  facts  cache solved  s in solver   s");
    for (name, program, sorts) in programs {
        if only.as_ref().is_some_and(|o| o != name) {
            continue;
        }
        let start = Instant::now();
        let (paths, solver) = explore(program, &sorts, 3000);
        let s = solver.statistics();
        println!(
            "{name:12} {paths:6} {:7} {:7} {:6} {:6} {:6} {:6} {:12.3} {:.3}",
            s.queries,
            s.trivial,
            s.by_model,
            s.by_facts,
            s.by_cache,
            s.solved,
            s.solver_time.as_secs_f64(),
            start.elapsed().as_secs_f64()
        );
    }
}
