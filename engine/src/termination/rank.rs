//! Ranking functions: candidate components of tuples, and the search for a tuple that fits the observed iterations.

use super::read::Reader;
use super::sample::{Iterations, Watched, evaluate};
use crate::domain::loops::constants;
use cfa::text::c_expr;
use cfa::{BinOp, Bv, CType, Expr, ExprId, FuncId, LocId, Op, Program, VarId, VarKind};
use instrument::termination::{Component, CyclicLoop, Recursion};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;

/// Largest number of components of a tuple.
const LENGTH: usize = 5;
/// Number of variables that are combined by sums and differences.
const COMBINED: usize = 7;
/// Number of conditions, and of variables, for piecewise components.
const PIECES: usize = 4;
/// Largest constant that a loop is expected to count to.
const REACH: u64 = 1 << 24;
/// Number of read-only variables whose sign is used for piecewise components.
const STEPS: usize = 2;
/// Number of variables for minimum and maximum components.
const EXTREMES: usize = 3;
/// Largest number of steps of one search.
const SEARCHED: usize = 20_000;

/// A candidate component of a tuple. Its value decreases in the signed order of its width.
#[derive(Clone, Debug)]
pub struct Atom {
    /// The value, with its floor if any.
    pub component: Component,
    /// The value as C text.
    pub text: String,
}

/// The candidate components for one cycle, likely ones first.
#[derive(Default)]
pub struct Atoms {
    /// The candidates.
    pub list: Vec<Atom>,
    seen: FxHashSet<ExprId>,
    /// The largest constant that a loop may count to, if components have floors.
    reach: Option<i64>,
    /// The index of each variable in valuations.
    pub vars: FxHashMap<VarId, usize>,
    /// By candidate, then by observed iteration: `Less` if the value decreases and was not below its floor before,
    /// `Equal` if it does not change, `Greater` otherwise.
    changes: Vec<Vec<Ordering>>,
    /// The number of observed iterations that `changes` covers.
    judged: usize,
}

impl Atoms {
    /// The floor of a component that is computed from signed integers: below it, the value might approach the end of
    /// its type. Products may overflow earlier, so the floor keeps a distance from the end of the type. The floor is
    /// low enough for loops over the constants of the program. Narrower types have no floor, since conversions to them
    /// wrap around.
    fn floor(&self, program: &Program, operands: &[ExprId]) -> Option<i64> {
        let vars = operands.iter().flat_map(|&e| program.exprs.vars(e));
        let widths = vars.filter(|&v| is_signed(program, v)).map(|v| program.vars[v].width);
        let width = widths.filter(|w| (32..=64).contains(w)).max()?;
        Some(-(1 << (width / 2)).max(2 * self.reach?))
    }

    /// Adds a candidate without a floor.
    fn push(&mut self, e: ExprId, text: String) {
        self.push_above(None, e, text);
    }

    fn push_above(&mut self, floor: Option<i64>, value: ExprId, text: String) {
        if self.seen.insert(value) {
            self.list.push(Atom { component: Component { value, floor }, text });
        }
    }

    /// Adds `max(e, -1)`, a component for one phase of a multiphase loop (Ben-Amram, Genaim: On multiphase-linear
    /// ranking functions, CAV 2017). It does not change after its phase.
    fn push_clamped(&mut self, program: &mut Program, e: ExprId, text: &str) {
        let width = program.exprs.width(e);
        let minus_one = program.exprs.constant(Bv::ones(width));
        let negative = program.exprs.slt(e, minus_one);
        let clamped = program.exprs.ite(negative, minus_one, e);
        self.push(clamped, format!("max({text}, -1)"));
    }

    /// Adds `a - b`, computed without wrap-around.
    fn difference(&mut self, program: &mut Program, a: ExprId, b: ExprId, signed: bool) {
        let width = program.exprs.width(a);
        if width != program.exprs.width(b) || !(2..=64).contains(&width) {
            return;
        }
        let text = match (program.exprs.as_const(a).is_some(), program.exprs.as_const(b).is_some()) {
            (true, true) => return,
            (false, true) => return self.single(program, a, signed, true),
            (true, false) => return self.single(program, b, signed, false),
            _ => format!("{} - {}", operand(program, a), operand(program, b)),
        };
        let floor = self.floor(program, &[a, b]);
        let (x, y) = (widen(program, a, signed), widen(program, b, signed));
        let e = program.exprs.sub(x, y);
        self.push_above(floor, e, text);
    }

    /// Adds `max(a - b, -1)` for the operands of a comparison: a component for the phase in which `a > b`. See
    /// [`push_clamped`](Self::push_clamped).
    fn clamped_difference(&mut self, program: &mut Program, a: ExprId, b: ExprId, signed: bool) {
        let width = program.exprs.width(a);
        let is_constant = |e| program.exprs.as_const(e).is_some();
        // A variable compared with a constant has its own clamped component.
        if width != program.exprs.width(b) || !(2..=64).contains(&width) || is_constant(a) || is_constant(b) {
            return;
        }
        let text = format!("{} - {}", operand(program, a), operand(program, b));
        let (x, y) = (widen(program, a, signed), widen(program, b, signed));
        let e = program.exprs.sub(x, y);
        self.push_clamped(program, e, &text);
    }

    fn sum(&mut self, program: &mut Program, a: ExprId, b: ExprId, signed: bool, grows: bool) {
        let floor = self.floor(program, &[a, b]);
        let (x, y) = (widen(program, a, signed), widen(program, b, signed));
        let sum = program.exprs.add(x, y);
        let (a, b) = (operand(program, a), operand(program, b));
        match grows {
            false => self.push_above(floor, sum, format!("{a} + {b}")),
            true => {
                let e = program.exprs.not(sum);
                self.push_above(floor, e, format!("-({a} + {b})"));
            }
        }
    }

    /// Adds a component that decreases when `x` decreases if `smaller` is true, and when `x` increases otherwise.
    fn single(&mut self, program: &mut Program, x: ExprId, signed: bool, smaller: bool) {
        let width = program.exprs.width(x);
        if !(1..=64).contains(&width) || program.exprs.as_const(x).is_some() {
            return;
        }
        let floor = if width > 1 { self.floor(program, &[x]) } else { None };
        // An unsigned order does not continue at the other end of a signed type.
        if !signed && floor.is_some() {
            return;
        }
        // State the order in the text if it is not that of the type.
        let text = match *program.exprs.get(x) {
            Expr::Var(v) if width > 1 && is_signed(program, v) != signed => {
                format!("({}){}", if signed { "signed" } else { "unsigned" }, operand(program, x))
            }
            _ => operand(program, x),
        };
        let ordered = if signed && width > 1 {
            x
        } else {
            let top = program.exprs.constant(Bv::min_signed(width));
            program.exprs.xor(x, top)
        };
        let e = if smaller { ordered } else { program.exprs.not(ordered) };
        self.push_above(floor, e, if smaller { text } else { format!("-{text}") });
    }

    /// Computes the changes of all candidates for new iterations.
    fn judge(&mut self, program: &Program, iterations: &Iterations) {
        self.changes.resize(self.list.len(), Vec::new());
        for (before, after) in &iterations.list[self.judged..] {
            for (atom, changes) in self.list.iter().zip(&mut self.changes) {
                let value = |v| evaluate(program, atom.component.value, &self.vars, v);
                let is_above = |a: &Bv| atom.component.floor.is_none_or(|f| !a.slt(&Bv::from_i64(a.width(), f)));
                // A component without a value does not decrease.
                let change = match (value(before), value(after)) {
                    (Some(a), Some(b)) if b.slt(&a) && is_above(&a) => Ordering::Less,
                    (Some(a), Some(b)) if a == b => Ordering::Equal,
                    _ => Ordering::Greater,
                };
                changes.push(change);
            }
        }
        self.judged = iterations.list.len();
    }

    /// The next tuple that decreases in all observed iterations and is not `refused`, as indices of candidates.
    pub fn next(
        &mut self,
        program: &Program,
        iterations: &Iterations,
        refused: &dyn Fn(&[usize]) -> bool,
    ) -> Option<Vec<usize>> {
        self.judge(program, iterations);
        let all: Vec<usize> = (0..iterations.list.len()).collect();
        // Short tuples first.
        let mut left = SEARCHED;
        (0..=LENGTH).find_map(|length| self.extend(&mut Vec::new(), &all, length, refused, &mut left))
    }

    /// A tuple with `length` further components that decreases in all `open` iterations.
    fn extend(
        &self,
        tuple: &mut Vec<usize>,
        open: &[usize],
        length: usize,
        refused: &dyn Fn(&[usize]) -> bool,
        left: &mut usize,
    ) -> Option<Vec<usize>> {
        if length == 0 {
            return (open.is_empty() && !refused(tuple)).then(|| tuple.clone());
        }
        for (i, changes) in self.changes.iter().enumerate() {
            if *left == 0 {
                return None;
            }
            *left -= 1;
            if tuple.contains(&i) || open.iter().any(|&t| changes[t] == Ordering::Greater) {
                continue;
            }
            let rest: Vec<usize> = open.iter().copied().filter(|&t| changes[t] == Ordering::Equal).collect();
            // Skip a component that decides no iteration, unless none is open.
            if rest.len() == open.len() && !open.is_empty() {
                continue;
            }
            tuple.push(i);
            let found = self.extend(tuple, &rest, length - 1, refused, left);
            tuple.pop();
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

/// The candidates for a loop, and the variables to observe. Conditions at `guarded` locations are guards of overflow,
/// and are ignored. Components have floors if `bounded`.
pub fn of_loop(program: &mut Program, l: &CyclicLoop, guarded: &FxHashSet<LocId>, bounded: bool) -> (Watched, Atoms) {
    let mut reader = Reader::new(program, l.func);
    let (mut modified, mut read) = (Vec::new(), Vec::new());
    let (mut conditions, mut steps) = (Vec::new(), Vec::new());
    let mut calls = false;
    let edges: Vec<_> = program.edges.iter().filter(|(_, e)| l.body.contains(&e.source)).map(|(id, _)| id).collect();
    for &edge in &edges {
        let op = program.edges[edge].op.clone();
        calls |= matches!(op, Op::Call { .. });
        match op {
            Op::Assume { .. } if guarded.contains(&program.edges[edge].source) => {}
            Op::Assume { cond, branch: true, .. } => conditions.extend(reader.read(program, cond)),
            Op::Load { addr, var } => drop(reader.cell(program, addr, var)),
            _ => {}
        }
        if let Some(var) = op.def()
            && !matches!(program.vars[var].kind, VarKind::Temp(_))
        {
            modified.push(var);
        }
        // Values that are computed before a branch.
        if let Op::Assign { value, .. } = op
            && let Some(value) = reader.read(program, value)
        {
            match program.exprs.width(value) {
                1 => conditions.push(value),
                _ => steps.extend(program.exprs.vars(value)),
            }
        }
    }
    // Conditions of callees come after the loop's own conditions.
    for &edge in &edges {
        conditions.extend(reader.in_callee(program, edge, guarded));
    }
    if calls {
        let global = |(id, v): (VarId, &cfa::Var)| matches!(v.kind, VarKind::Global { .. }).then_some(id);
        let written: FxHashSet<VarId> = program.edges.values().filter_map(|e| e.op.def()).collect();
        modified.extend(program.vars.iter().filter_map(global).filter(|v| written.contains(v)).take(12));
    }
    modified.sort_unstable();
    modified.dedup();
    for &e in &conditions {
        read.extend(program.exprs.vars(e));
    }
    let cells = reader.cells;
    let cell_vars: Vec<VarId> = cells.iter().map(|c| c.var).collect();
    read.retain(|v| !modified.contains(v) && !cell_vars.contains(v));
    read.sort_unstable();
    read.dedup();
    let is_step = |program: &Program, v: &VarId| is_signed(program, *v) && program.vars[*v].width >= 32;
    steps.retain(|v| !modified.contains(v) && !cell_vars.contains(v) && is_step(program, v));
    steps.sort_unstable();
    steps.dedup();
    steps.truncate(STEPS);
    let subjects: Vec<VarId> = modified.iter().chain(&cell_vars).copied().collect();
    let atoms = atoms(program, &subjects, &read, &conditions, &steps, bounded);
    let mut vars: Vec<VarId> = modified.iter().chain(&read).copied().collect();
    vars.extend(steps.iter().filter(|v| !read.contains(v)));
    vars.extend(&cell_vars);
    with_vars(atoms, Watched { vars, cells })
}

fn with_vars(mut atoms: Atoms, watched: Watched) -> (Watched, Atoms) {
    atoms.vars = watched.vars.iter().enumerate().map(|(i, &v)| (v, i)).collect();
    (watched, atoms)
}

/// The candidates for a recursion, over the variables of its first function; and the variables to observe in each
/// function.
pub fn of_recursion(
    program: &mut Program,
    r: &Recursion,
    guarded: &FxHashSet<LocId>,
    bounded: bool,
) -> (FxHashMap<FuncId, Watched>, Atoms) {
    let first = r.funcs[0];
    let widths = |f: FuncId| program.funcs[f].params.iter().map(|&p| program.vars[p].width).collect::<Vec<_>>();
    let shared = r.funcs.iter().fold(widths(first), |shared, &f| {
        shared.into_iter().zip(widths(f)).take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
    });
    let written: FxHashSet<VarId> = program.edges.values().filter_map(|e| e.op.def()).collect();
    let global = |(id, v): (VarId, &cfa::Var)| matches!(v.kind, VarKind::Global { .. }).then_some(id);
    let globals: Vec<VarId> = program.vars.iter().filter_map(global).filter(|v| written.contains(v)).take(12).collect();
    let vars = |program: &Program, f: FuncId| -> Vec<VarId> {
        program.funcs[f].params[..shared.len()].iter().chain(&globals).copied().collect()
    };
    let mut conditions = Vec::new();
    let mut reader = Reader::new(program, first);
    for edge in program.edges.ids() {
        if let Op::Assume { cond, branch: true, .. } = program.edges[edge].op
            && program.func_of(edge) == first
            && !guarded.contains(&program.edges[edge].source)
        {
            conditions.extend(reader.read(program, cond));
        }
    }
    let subjects = vars(program, first);
    let known = |e: &ExprId| program.exprs.vars(*e).iter().all(|v| subjects.contains(v));
    conditions.retain(known);
    let mut atoms = atoms(program, &subjects, &[], &conditions, &[], bounded);
    atoms.vars = subjects.iter().enumerate().map(|(i, &v)| (v, i)).collect();
    let watched = r
        .funcs
        .iter()
        .map(|&f| (f, Watched { vars: vars(program, f), cells: Vec::new() }))
        .collect::<FxHashMap<_, _>>();
    (watched, atoms)
}

fn atoms(
    program: &mut Program,
    modified: &[VarId],
    read: &[VarId],
    conditions: &[ExprId],
    steps: &[VarId],
    bounded: bool,
) -> Atoms {
    let small = || constants(program).into_iter().filter(|&c| c <= REACH).max().unwrap_or(0) as i64;
    let mut atoms = Atoms { reach: bounded.then(small), ..Atoms::default() };
    let fits = |program: &Program, v: &VarId| (1..=64).contains(&program.vars[*v].width);
    let modified: Vec<VarId> = modified.iter().copied().filter(|v| fits(program, v)).collect();
    // The distance of a condition from its change has a natural bound, but a single variable is simpler to reason
    // about.
    for first in [bounded, !bounded] {
        for &c in conditions.iter().filter(|_| first) {
            distances(program, &mut atoms, c, true);
        }
        for &v in modified.iter().filter(|_| !first) {
            let (x, signed) = (program.var_expr(v), is_signed(program, v));
            atoms.single(program, x, signed, true);
            atoms.single(program, x, signed, false);
        }
    }
    for &c in conditions {
        atoms.single(program, c, false, true);
        atoms.single(program, c, false, false);
    }
    let combined: Vec<VarId> =
        modified.iter().chain(read).copied().filter(|v| fits(program, v)).take(COMBINED).collect();
    for (i, &a) in combined.iter().enumerate() {
        for &b in &combined[i + 1..] {
            if program.vars[a].width != program.vars[b].width || program.vars[a].width < 2 {
                continue;
            }
            let (x, y) = (program.var_expr(a), program.var_expr(b));
            let signed = is_signed(program, a) && is_signed(program, b);
            atoms.difference(program, x, y, signed);
            atoms.difference(program, y, x, signed);
            atoms.sum(program, x, y, signed, false);
            atoms.sum(program, x, y, signed, true);
        }
    }
    for &v in &modified {
        let (x, signed) = (program.var_expr(v), is_signed(program, v));
        atoms.single(program, x, !signed, true);
        atoms.single(program, x, !signed, false);
        magnitude(program, &mut atoms, v);
    }
    for &v in &modified {
        if is_signed(program, v) && program.vars[v].width >= 2 {
            let x = program.var_expr(v);
            let text = operand(program, x);
            let x = widen(program, x, true);
            atoms.push_clamped(program, x, &text);
        }
    }
    for (i, &a) in modified.iter().take(EXTREMES).enumerate() {
        for &b in modified.iter().take(EXTREMES).skip(i + 1) {
            extremes(program, &mut atoms, a, b);
        }
    }
    let mut pieces: Vec<ExprId> = conditions.iter().take(PIECES).copied().collect();
    for &v in steps {
        let (step, zero) = (program.var_expr(v), program.exprs.int(program.vars[v].width, 0));
        pieces.push(program.exprs.slt(step, zero));
    }
    for c in pieces {
        for &v in modified.iter().take(PIECES) {
            piecewise(program, &mut atoms, c, v);
        }
    }
    atoms
}

/// Adds the minimum and the maximum of two variables.
fn extremes(program: &mut Program, atoms: &mut Atoms, a: VarId, b: VarId) {
    let signed = is_signed(program, a);
    if program.vars[a].width != program.vars[b].width || signed != is_signed(program, b) || program.vars[a].width < 2 {
        return;
    }
    let (x, y) = (program.var_expr(a), program.var_expr(b));
    let floor = atoms.floor(program, &[x, y]);
    let (s, t) = (operand(program, x), operand(program, y));
    let (x, y) = (widen(program, x, signed), widen(program, y, signed));
    let less = program.exprs.slt(x, y);
    let (least, greatest) = (program.exprs.ite(less, x, y), program.exprs.ite(less, y, x));
    atoms.push_above(floor, least, format!("min({s}, {t})"));
    atoms.push_above(floor, greatest, format!("max({s}, {t})"));
}

/// Adds a variable where a condition holds, or does not hold, and a constant elsewhere.
fn piecewise(program: &mut Program, atoms: &mut Atoms, c: ExprId, v: VarId) {
    if program.vars[v].width < 2 || program.exprs.as_const(c).is_some() {
        return;
    }
    let (x, signed) = (program.var_expr(v), is_signed(program, v));
    let (name, condition) = (operand(program, x), operand(program, c));
    let floor = atoms.floor(program, &[x]);
    let x = widen(program, x, signed);
    let least = Bv::min_signed(program.exprs.width(x));
    let least = program.exprs.constant(least);
    let (not, minus) = (program.exprs.not(c), program.exprs.not(x));
    for (when, then, shown) in [(c, x, ("", "")), (c, minus, ("", "-")), (not, x, ("!", "")), (not, minus, ("!", "-"))]
    {
        let e = program.exprs.ite(when, then, least);
        atoms.push_above(floor, e, format!("({}{condition} ? {}{name} : INT_MIN)", shown.0, shown.1));
    }
}

/// Adds the absolute value of a signed variable.
fn magnitude(program: &mut Program, atoms: &mut Atoms, v: VarId) {
    if !is_signed(program, v) || program.vars[v].width < 2 {
        return;
    }
    let x = program.var_expr(v);
    let wide = widen(program, x, true);
    let width = program.exprs.width(wide);
    let zero = program.exprs.int(width, 0);
    let negative = program.exprs.slt(wide, zero);
    let minus = program.exprs.neg(wide);
    let e = program.exprs.ite(negative, minus, wide);
    let name = operand(program, x);
    atoms.push(e, format!("({name} < 0 ? -{name} : {name})"));
}

/// Adds the distance of a comparison from its change.
fn distances(program: &mut Program, atoms: &mut Atoms, e: ExprId, holds: bool) {
    match *program.exprs.get(e) {
        Expr::Binary(op @ (BinOp::Slt | BinOp::Sle | BinOp::Ult | BinOp::Ule), a, b) => {
            let signed = matches!(op, BinOp::Slt | BinOp::Sle);
            let (small, large) = if holds { (a, b) } else { (b, a) };
            atoms.difference(program, large, small, signed);
            atoms.difference(program, small, large, signed);
            atoms.clamped_difference(program, large, small, signed);
        }
        Expr::Binary(BinOp::Eq, a, b) if program.exprs.width(a) > 1 => {
            let wraps = atoms.floor(program, &[a, b]).is_none();
            for signed in [true, false].into_iter().filter(|signed| *signed || wraps) {
                atoms.difference(program, a, b, signed);
                atoms.difference(program, b, a, signed);
            }
            if !wraps {
                return;
            }
            // The distance modulo the width.
            for (a, b) in [(a, b), (b, a)] {
                let text = format!("(unsigned)({} - {})", operand(program, a), operand(program, b));
                let way = program.exprs.sub(a, b);
                let top = Bv::min_signed(program.exprs.width(a));
                let top = program.exprs.constant(top);
                let e = program.exprs.xor(way, top);
                atoms.push(e, text);
            }
        }
        Expr::Unary(_, a) => distances(program, atoms, a, !holds),
        Expr::Binary(BinOp::And | BinOp::Or, a, b) if program.exprs.width(a) == 1 => {
            distances(program, atoms, a, holds);
            distances(program, atoms, b, holds);
        }
        _ => {}
    }
}

fn widen(program: &mut Program, e: ExprId, signed: bool) -> ExprId {
    let width = program.exprs.width(e) + 2;
    if signed { program.exprs.sext(width, e) } else { program.exprs.zext(width, e) }
}

fn operand(program: &Program, e: ExprId) -> String {
    let text = c_expr(program, &program.exprs, e);
    if text.contains(' ') && !text.starts_with('(') { format!("({text})") } else { text }
}

fn is_signed(program: &Program, v: VarId) -> bool {
    match program.plain_type(program.vars[v].ty) {
        CType::Int { signed, .. } | CType::Enum { signed, .. } => *signed,
        CType::Unknown { .. } => true,
        _ => false,
    }
}
