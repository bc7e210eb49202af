//! Loop acceleration: replaces counting loops by closed forms.
//!
//! A counting loop has one path through its body, which adds loop-invariant amounts to variables until one of them
//! passes a bound. Such a loop equals a number of iterations and multiplications (Kroening, Lewis, Weissenbacher:
//! *Under-approximating loops in C programs for fast counterexample detection*, CAV 2013, section 3). The paper
//! under-approximates by iterations before the first overflow. Here, only loops are replaced whose number of iterations
//! has an exact expression, including wrap-around, so nothing is approximated. Amounts may themselves grow by
//! loop-invariant amounts (sums of consecutive numbers). Locations and edges keep their ids. Assignments before the
//! loop head compute the values at loop exit, and the loop disappears. Inner loops are replaced first, since their
//! closed form may be an amount of an outer loop.

use super::{functions, locals, locations, only_edge, predecessors, substituted};
use cfa::liveness::Liveness;
use cfa::{BinOp, CType, EdgeId, Expr, ExprId, FuncId, LocId, Op, Out, Program, UnOp, Var, VarId, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// Largest number of edges of a loop.
const MOST_EDGES: usize = 40;
/// Largest size of an expression for the value of a variable after one iteration.
const MOST_SIZE: usize = 200;
/// Largest number of loops per function.
const MOST_LOOPS: usize = 64;

/// The program with all counting loops in closed form. `None` if there are none.
pub fn accelerated(program: &Program) -> Option<Program> {
    // Leak checks inspect the memory that variables refer to, also of dead variables.
    if program.edges.values().any(|e| matches!(e.op, Op::Leak(_))) {
        return None;
    }
    let mut out = program.clone();
    functions::inline(&mut out);
    let looping: Vec<FuncId> = out.funcs.ids().filter(|&func| !cycles(&out, func).is_empty()).collect();
    let locals = locals(program);
    let mut some = false;
    for func in looping {
        for _ in 0..MOST_LOOPS {
            let Some(counting) = counting(&mut out, func, locals.get(&func).map_or(&[][..], Vec::as_slice)) else {
                break;
            };
            counting.close(&mut out, func);
            some = true;
        }
    }
    some.then_some(out)
}

/// A loop with one path through its body and one exit.
struct Cycle {
    head: LocId,
    stays: EdgeId,
    leaves: EdgeId,
    /// The edges from the head to the branch (`before`), and from the branch back to the head (`after`).
    before: Vec<EdgeId>,
    after: Vec<EdgeId>,
}

/// A counting loop.
struct Counting {
    cycle: Cycle,
    /// The variable that determines the number of iterations.
    counter: VarId,
    /// The number of iterations, as an expression at the head.
    iterations: ExprId,
    /// The condition for termination, if the loop may run forever.
    ends: Option<ExprId>,
    /// Variables that grow, with the amount of the first iteration and its growth per further iteration.
    summed: Vec<(VarId, ExprId, ExprId)>,
    /// Variables that are set, with the value of the first iteration and its growth per further iteration.
    set: Vec<(VarId, ExprId, ExprId)>,
    /// Variables that grow, with the amount of each iteration.
    added: Vec<(VarId, ExprId)>,
}

/// Finds a counting loop in a function.
fn counting(program: &mut Program, func: FuncId, locals: &[VarId]) -> Option<Counting> {
    let cycles = cycles(program, func);
    if cycles.is_empty() {
        return None;
    }
    let live = Liveness::new(program, func, locals);
    cycles.into_iter().find_map(|cycle| {
        let live = live.at.get(&cycle.head).unwrap_or(&live.otherwise);
        let is_global = |program: &Program, var: VarId| matches!(program.vars[var].kind, VarKind::Global { .. });
        closed(program, cycle, &|program, var| is_global(program, var) || live.contains(&var))
    })
}

/// The loops of a function with one path through the body and one exit.
fn cycles(program: &Program, func: FuncId) -> Vec<Cycle> {
    let order = locations(program, func);
    let incoming = predecessors(program, func, &order);
    let mut out = Vec::new();
    for loc in order {
        let Out::Branch { then_edge, else_edge } = program.locs[loc].out else { continue };
        let ways = [(then_edge, else_edge), (else_edge, then_edge)];
        out.extend(ways.into_iter().find_map(|(stays, leaves)| cycle(program, &incoming, loc, stays, leaves)));
    }
    out.retain(|cycle| cycle.head != program.funcs[func].entry);
    out
}

/// The loop that exits at `branch` and returns there over assignments only.
fn cycle(
    program: &Program,
    incoming: &FxHashMap<LocId, u32>,
    branch: LocId,
    stays: EdgeId,
    leaves: EdgeId,
) -> Option<Cycle> {
    if [stays, leaves].iter().any(|&e| program.edges[e].fault.is_some()) {
        return None;
    }
    let entered = |loc: LocId| incoming.get(&loc).is_some_and(|n| *n > 1);
    let mut head = entered(branch).then_some((branch, None));
    let mut path = Vec::new();
    let mut at = program.edges[stays].target;
    while at != branch {
        if entered(at) {
            if head.is_some() {
                return None;
            }
            head = Some((at, Some(path.len())));
        }
        let next = only_edge(program, at)?;
        let edge = &program.edges[next];
        if edge.fault.is_some() || !matches!(edge.op, Op::Assign { .. } | Op::Skip) || path.len() == MOST_EDGES {
            return None;
        }
        path.push(next);
        at = edge.target;
    }
    let (head, first) = head?;
    let exit = program.edges[leaves].target;
    if exit == branch || path.iter().any(|&e| program.edges[e].source == exit) {
        return None;
    }
    let before = first.map_or_else(Vec::new, |first| path.split_off(first));
    Some(Cycle { head, stays, leaves, before, after: path })
}

/// Computes the effect of the loop, if it counts.
fn closed(program: &mut Program, cycle: Cycle, is_live: &dyn Fn(&Program, VarId) -> bool) -> Option<Counting> {
    let mut values = FxHashMap::default();
    follow(program, &cycle.before, &mut values)?;
    let Op::Assume { cond, .. } = program.edges[cycle.stays].op else { return None };
    let cond = substituted(program, cond, &values);
    follow(program, &cycle.after, &mut values)?;
    let changed: FxHashSet<VarId> = values.keys().copied().collect();
    let is_fixed = |program: &Program, e: ExprId| {
        let mut fixed = true;
        program.exprs.visit(e, &mut FxHashSet::default(), |_, node| match node {
            Expr::Var(v) => fixed &= !changed.contains(v),
            Expr::GlobalAddr(_) | Expr::FuncAddr(_) => fixed = false,
            _ => {}
        });
        fixed
    };
    let (mut added, mut others) = (Vec::new(), Vec::new());
    let mut values: Vec<(VarId, ExprId)> = values.into_iter().filter(|(v, _)| is_live(program, *v)).collect();
    values.sort_unstable();
    for (var, value) in values {
        if matches!(program.plain_type(program.vars[var].ty), CType::Pointer(_)) {
            return None;
        }
        match difference(program, value, var) {
            Some(step) if is_fixed(program, step) => added.push((var, step)),
            step => others.push((var, value, step)),
        }
    }
    let (mut summed, mut set) = (Vec::new(), Vec::new());
    for (var, value, step) in others {
        let (to, first) = match step {
            Some(step) => (&mut summed, step),
            None => (&mut set, value),
        };
        to.push((var, first, growth(program, first, &added, &is_fixed)?));
    }
    let (left, relation, right) = relation(program, cond)?;
    let counts = |program: &mut Program, side: ExprId, bound: ExprId| {
        let one = added.iter().find(|(var, _)| program.exprs.vars(side).contains(var)).copied()?;
        let offset = difference(program, side, one.0)?;
        (is_fixed(program, offset) && is_fixed(program, bound)).then_some(one)
    };
    let (number, relation, bound, (counter, step)) = match counts(program, left, right) {
        Some(by) => (left, relation, right, by),
        None => (right, relation.mirrored(), left, counts(program, right, left)?),
    };
    let (count, ends) = iterations(program, number, relation, bound, step)?;
    let none = program.exprs.int(program.vars[counter].width, 0);
    let iterations = program.exprs.ite(cond, count, none);
    Some(Counting { cycle, counter, iterations, ends, summed, set, added })
}

/// The amount by which an expression grows in each iteration, if the amount is loop-invariant.
fn growth(
    program: &mut Program,
    e: ExprId,
    added: &[(VarId, ExprId)],
    is_fixed: &dyn Fn(&Program, ExprId) -> bool,
) -> Option<ExprId> {
    if is_fixed(program, e) {
        let width = program.exprs.width(e);
        return Some(program.exprs.int(width, 0));
    }
    match *program.exprs.get(e) {
        Expr::Var(v) => added.iter().find(|(var, _)| *var == v).map(|(_, step)| *step),
        Expr::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) => {
            let (a, b) = (growth(program, a, added, is_fixed)?, growth(program, b, added, is_fixed)?);
            Some(program.exprs.binary(op, a, b))
        }
        Expr::Binary(BinOp::Mul, a, b) => {
            let (factor, grows) = if is_fixed(program, a) { (a, b) } else { (b, a) };
            let by = growth(program, grows, added, is_fixed)?;
            is_fixed(program, factor).then(|| program.exprs.mul(factor, by))
        }
        Expr::Extract { hi, lo: 0, arg } => {
            let by = growth(program, arg, added, is_fixed)?;
            Some(program.exprs.extract(hi, 0, by))
        }
        _ => None,
    }
}

/// Adds the values of variables after the assignments on `path`, as expressions over the values before. `None` if an
/// expression becomes too large.
fn follow(program: &mut Program, path: &[EdgeId], values: &mut FxHashMap<VarId, ExprId>) -> Option<()> {
    for &edge in path {
        let Op::Assign { var, value } = program.edges[edge].op else { continue };
        let value = substituted(program, value, values);
        let mut size = 0;
        program.exprs.visit(value, &mut FxHashSet::default(), |_, _| size += 1);
        if size > MOST_SIZE {
            return None;
        }
        values.insert(var, value);
    }
    Some(())
}

/// The expression `d` with `e = var + d`, if `e` has this form syntactically.
fn difference(program: &mut Program, e: ExprId, var: VarId) -> Option<ExprId> {
    let width = program.vars[var].width;
    match *program.exprs.get(e) {
        Expr::Var(v) if v == var => Some(program.exprs.int(width, 0)),
        Expr::Binary(BinOp::Add, a, b) => {
            let (with, other) = if program.exprs.vars(a).contains(&var) { (a, b) } else { (b, a) };
            let step = difference(program, with, var)?;
            Some(program.exprs.add(step, other))
        }
        Expr::Binary(BinOp::Sub, a, b) => {
            let step = difference(program, a, var)?;
            Some(program.exprs.sub(step, b))
        }
        _ => None,
    }
}

/// The comparison of two sides in a condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Relation {
    how: How,
    signed: bool,
}

/// The operator of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum How {
    Less,
    AtMost,
    Greater,
    AtLeast,
    Differs,
}

impl Relation {
    /// The relation with its sides swapped.
    fn mirrored(self) -> Self {
        let how = match self.how {
            How::Less => How::Greater,
            How::AtMost => How::AtLeast,
            How::Greater => How::Less,
            How::AtLeast => How::AtMost,
            How::Differs => How::Differs,
        };
        Self { how, ..self }
    }
}

fn relation(program: &Program, mut cond: ExprId) -> Option<(ExprId, Relation, ExprId)> {
    let mut holds = true;
    while let Expr::Unary(UnOp::Not, inner) = *program.exprs.get(cond) {
        (cond, holds) = (inner, !holds);
    }
    let Expr::Binary(op, a, b) = *program.exprs.get(cond) else { return None };
    let (how, signed) = match (op, holds) {
        (BinOp::Ult, true) => (How::Less, false),
        (BinOp::Ule, true) => (How::AtMost, false),
        (BinOp::Ult, false) => (How::AtLeast, false),
        (BinOp::Ule, false) => (How::Greater, false),
        (BinOp::Slt, true) => (How::Less, true),
        (BinOp::Sle, true) => (How::AtMost, true),
        (BinOp::Slt, false) => (How::AtLeast, true),
        (BinOp::Sle, false) => (How::Greater, true),
        (BinOp::Eq, false) => (How::Differs, false),
        _ => return None,
    };
    Some((a, Relation { how, signed }, b))
}

/// The number of times that `step` can be added to `number` until the relation to `bound` no longer holds, provided
/// that it holds at first. The second result is the condition for termination, if the loop may run forever.
fn iterations(
    program: &mut Program,
    mut number: ExprId,
    mut relation: Relation,
    mut bound: ExprId,
    step: ExprId,
) -> Option<(ExprId, Option<ExprId>)> {
    let pool = &mut program.exprs;
    let width = pool.width(number);
    if !(2..=64).contains(&width) {
        return None;
    }
    let mut step = pool.as_const(step)?.to_u128()?;
    let most = (1u128 << width) - 1;
    if relation.signed {
        // The signed order is the unsigned order after the sign bit is flipped.
        let sign = pool.int(width, 1 << (width - 1));
        (number, bound) = (pool.add(number, sign), pool.add(bound, sign));
    }
    if step > most / 2 {
        // Counting down equals counting up from the other end of the range.
        step = most + 1 - step;
        let ones = pool.int(width, most as u64);
        (number, bound) = (pool.sub(ones, number), pool.sub(ones, bound));
        relation = relation.mirrored();
    }
    if step == 0 {
        return None;
    }
    let known = pool.as_const(bound).and_then(cfa::Bv::to_u128);
    let (one, by) = (pool.int(width, 1), pool.int(width, step as u64));
    // The number of steps until a value passes both `from` and `to`. Requires `from <= to`.
    let to_pass = |program: &mut Program, from: ExprId, to: ExprId| {
        let pool = &mut program.exprs;
        let distance = pool.sub(to, from);
        let whole = pool.binary(BinOp::UDiv, distance, by);
        pool.add(whole, one)
    };
    let always = match relation.how {
        How::AtMost if step == 1 && known.is_none() => {
            // No value exceeds the greatest number.
            let greatest = pool.int(width, most as u64);
            let ends = pool.ne(bound, greatest);
            return Some((to_pass(program, number, bound), Some(ends)));
        }
        How::Less if step == 1 => Some(pool.sub(bound, number)),
        // The value that passes the bound must not wrap around.
        How::Less if known.is_some_and(|k| k > 0 && k - 1 + step <= most) => {
            let last = pool.sub(bound, one);
            Some(to_pass(program, number, last))
        }
        How::AtMost if known.is_some_and(|k| k + step <= most) => Some(to_pass(program, number, bound)),
        // The value grows up to the end of the range. After wrap-around, it is below the bound.
        How::Greater if step == 1 || known.is_some_and(|k| k >= step - 1) => {
            let end = pool.int(width, most as u64);
            Some(to_pass(program, number, end))
        }
        How::AtLeast if known.is_some_and(|k| k >= step) => {
            let end = pool.int(width, most as u64);
            Some(to_pass(program, number, end))
        }
        How::Differs if step == 1 => Some(pool.sub(bound, number)),
        _ => None,
    };
    always.map(|count| (count, None))
}

/// The number of pairs of `n` things, `n * (n - 1) / 2`, modulo 2 to the power `width`.
fn pairs(program: &mut Program, n: ExprId, width: u32) -> ExprId {
    let pool = &mut program.exprs;
    let wide = width.max(pool.width(n));
    let n = pool.resize(wide, n);
    let (one, zero) = (pool.int(wide, 1), pool.int(wide, 0));
    let half = pool.binary(BinOp::LShr, n, one);
    let less = pool.sub(n, one);
    let last = pool.binary(BinOp::And, n, one);
    let is_even = pool.eq(last, zero);
    // Either `n` or `n - 1` is even.
    let other = pool.ite(is_even, less, n);
    let product = pool.mul(half, other);
    pool.resize(width, product)
}

impl Counting {
    /// Adds the assignments before the head and removes the loop.
    fn close(self, program: &mut Program, func: FuncId) {
        let Self { cycle, counter, iterations, ends, summed, set, added } = self;
        let Cycle { head, stays, leaves, before, after } = cycle;
        let (width, ty) = (program.vars[counter].width, program.vars[counter].ty);
        let count = program.vars.push(Var { name: None, ty, width, kind: VarKind::Temp(func), place: None });
        let number = program.var_expr(count);
        let mut values = vec![(count, iterations)];
        // These come first, since they use the old values of the others.
        for (var, step, growth) in summed {
            let width = program.vars[var].width;
            let old = program.var_expr(var);
            let often = program.exprs.resize(width, number);
            let even = program.exprs.mul(often, step);
            let pairs = pairs(program, number, width);
            let more = program.exprs.mul(pairs, growth);
            let sum = program.exprs.add(even, more);
            values.push((var, program.exprs.add(old, sum)));
        }
        for (var, first, growth) in set {
            let w = program.vars[var].width;
            let old = program.var_expr(var);
            let (zero, one) = (program.exprs.int(width, 0), program.exprs.int(width, 1));
            let none = program.exprs.eq(number, zero);
            let further = program.exprs.sub(number, one);
            let further = program.exprs.resize(w, further);
            let more = program.exprs.mul(further, growth);
            let last = program.exprs.add(first, more);
            values.push((var, program.exprs.ite(none, old, last)));
        }
        for (var, step) in added {
            let old = program.var_expr(var);
            let often = program.exprs.resize(program.vars[var].width, number);
            let sum = program.exprs.mul(often, step);
            values.push((var, program.exprs.add(old, sum)));
        }
        // Redirect the edges that enter the loop to the assignments.
        let begin = program.add_location(func);
        let own: FxHashSet<EdgeId> = before.iter().chain(&after).chain([&stays]).copied().collect();
        let entering: Vec<EdgeId> = locations(program, func)
            .into_iter()
            .flat_map(|loc| program.out_edges(loc).collect::<Vec<_>>())
            .filter(|e| program.edges[*e].target == head && !own.contains(e))
            .collect();
        for edge in entering {
            program.edges[edge].target = begin;
        }
        let place = program.edges[stays].place;
        let nowhere = program.add_location(func);
        let mut at = begin;
        if let Some(ends) = ends {
            at = program.add_location(func);
            program.add_branch(begin, ends, at, nowhere, place);
        }
        let last = values.len() - 1;
        for (i, (var, value)) in values.into_iter().enumerate() {
            let next = if i == last { head } else { program.add_location(func) };
            program.add_edge(at, Op::Assign { var, value }, next, place);
            at = next;
        }
        let branch = program.edges[leaves].source;
        program.edges[leaves].op = Op::Skip;
        program.locs[branch].out = Out::One(leaves);
        // The target of non-terminating executions: a location with a loop to itself.
        let gone = &mut program.edges[stays];
        (gone.source, gone.target, gone.op) = (nowhere, nowhere, Op::Skip);
        program.locs[nowhere].out = Out::One(stays);
    }
}
