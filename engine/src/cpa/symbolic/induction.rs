//! Proofs by loop invariants.
//!
//! In this mode a path does not go round a loop. Where it enters one, everything the loop may change becomes unknown,
//! except that the loop's *candidate invariants* hold; where it comes back to the head, it ends. A candidate that does
//! not hold at such an arrival is dropped, and the run has to be repeated, until a run drops none: then all
//! remaining candidates are inductive together (Flanagan, Leino: Houdini, an annotation assistant for ESC/Java, FME
//! 2001), and if that run reached no error, the program is safe.
//!
//! What a loop may change is found the same way: variables by their syntax, memory by watching the writes of a run.
//! A pointer that stays in the object it points into when the loop is entered keeps it.
//!
//! Candidates come from templates over the values seen at loop heads in earlier executions (as in Ernst et al.: The
//! Daikon system, 2007) and from the program's own conditions.

use super::loops::{LoopInfo, vocabulary};
use super::memory::Origin;
use super::state::{Activation, State};
use super::value::{ObjId, Val, sign_extend};
use super::{Loops, Stop, SymbolicExecution};
use crate::control::Control;
use crate::solver::Feasibility;
use crate::verdict::Reason;
use cfa::{BinOp, Bv, EdgeId, Expr, ExprId, ExprPool, Program, Sort, Value, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Candidates per loop, at most.
const CANDIDATES: usize = 400;

/// What happens to an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    Written,
    Freed,
}

/// What is assumed of the loops in a run, and whether it held.
#[derive(Clone)]
pub struct Induction {
    /// The program's expressions and the candidates.
    pub(super) pool: ExprPool,
    loops: Vec<Assumptions>,
    /// Something assumed in this run did not hold: its result says nothing.
    pub changed: bool,
}

#[derive(Clone, Default)]
struct Assumptions {
    /// One-bit expressions over the variables of the loop's function and globals.
    candidates: Vec<ExprId>,
    /// Objects that the loop writes.
    written: FxHashSet<Origin>,
    /// Pointers that do not stay in one object.
    roaming: FxHashSet<VarId>,
}

impl Induction {
    /// Candidates for all loops.
    fn new(program: &Program, loops: &Loops) -> Self {
        let mut pool = program.exprs.clone();
        let (constants, conditions) = vocabulary(program);
        let loops = loops
            .loops
            .iter()
            .map(|l| Assumptions {
                candidates: candidates(program, l, &constants, &conditions, &mut pool),
                ..Assumptions::default()
            })
            .collect();
        Self { pool, loops, changed: false }
    }

    /// For a further run with what is left.
    pub fn again(mut self) -> Self {
        self.changed = false;
        self
    }

    /// The invariants of each loop, by its number.
    pub fn invariants(&self) -> impl Iterator<Item = &[ExprId]> {
        self.loops.iter().map(|l| l.candidates.as_slice())
    }
}

impl SymbolicExecution<'_> {
    /// The induction of a run with what the plain exploration so far has seen.
    pub fn guess_invariants(&self) -> Induction {
        Induction::new(self.program, &self.loops)
    }

    fn assumptions(&mut self, number: u32) -> &mut Assumptions {
        &mut self.induction.as_mut().expect("only in this mode").loops[number as usize]
    }

    fn drop_assumption(&mut self) {
        self.induction.as_mut().expect("only in this mode").changed = true;
    }

    /// Ends the loops that the path leaves over `edge`.
    pub(super) fn leave_loops(&mut self, st: &mut State, edge: EdgeId) {
        let target = self.program.edges[edge].target;
        while let Some(&Activation { number, depth, .. }) = st.active.last() {
            let inside = st.frame.depth > depth
                || st.frame.depth == depth && self.loops.loops[number as usize].body.contains(&target);
            if inside {
                break;
            }
            Rc::make_mut(&mut st.active).pop();
        }
    }

    /// Records that a loop changes an object that was there when it was entered.
    pub(super) fn changes(&mut self, st: &State, object: ObjId, change: Change) {
        if st.active.is_empty() {
            return;
        }
        let Some(origin) = st.memory.get(object).map(|o| o.origin) else { return };
        for i in 0..st.active.len() {
            let Activation { number, depth, allocated } = st.active[i];
            if depth > st.frame.depth || object.0 >= allocated {
                continue;
            }
            match change {
                Change::Written => {
                    if self.assumptions(number).written.insert(origin) {
                        self.drop_assumption();
                    }
                }
                Change::Freed => {
                    self.taints.drop_behaviour(Reason::new("a loop frees memory that it did not allocate"));
                }
            }
        }
    }

    /// The path comes over `edge` to the head of a loop.
    pub(super) fn arrive_at_loop(
        &mut self,
        mut st: State,
        edge: EdgeId,
        at: Control,
        number: u32,
    ) -> Result<Option<State>, Stop> {
        let _ = at;
        self.leave_loops(&mut st, edge);
        let l = &self.loops.loops[number as usize];
        if l.irreducible {
            return Err(Stop::Fatal(Reason::new("a loop has two entries")));
        }
        let back = l.body.contains(&self.program.edges[edge].source)
            && st.active.last().is_some_and(|a| a.number == number && a.depth == st.frame.depth);
        self.check_candidates(&mut st, number);
        if back {
            self.check_pointers(&st, number);
            return Ok(None);
        }
        Ok(Some(self.enter_loop(st, number)))
    }

    /// Drops the candidates that do not hold in `st`.
    fn check_candidates(&mut self, st: &mut State, number: u32) {
        let mut open: Vec<(ExprId, ExprId)> = Vec::new();
        let mut wrong: FxHashSet<ExprId> = FxHashSet::default();
        for candidate in self.assumptions(number).candidates.clone() {
            match self.eval(st, candidate) {
                Val::Int(0) => {
                    wrong.insert(candidate);
                }
                Val::Expr(term) => {
                    self.expose(st, term);
                    open.push((candidate, term));
                }
                _ => {}
            }
        }
        while !open.is_empty() {
            let mut all = self.pool.bool(true);
            for &(_, term) in &open {
                all = self.pool.and(all, term);
            }
            let violated = self.pool.not(all);
            let before = open.len();
            match self.solver.check(&mut self.pool, &st.pc, violated) {
                Feasibility::Infeasible => break,
                Feasibility::Feasible(model) => {
                    open.retain(|&(candidate, term)| {
                        let holds = model.eval(&self.pool, term).is_true();
                        if !holds {
                            wrong.insert(candidate);
                        }
                        holds
                    });
                }
                Feasibility::Unknown(_) => {}
            }
            if open.len() == before {
                // Together they are too much for the solver: one by one.
                for (candidate, term) in open.drain(..) {
                    let violated = self.pool.not(term);
                    if !self.solver.check(&mut self.pool, &st.pc, violated).is_infeasible() {
                        wrong.insert(candidate);
                    }
                }
            }
        }
        if !wrong.is_empty() {
            self.assumptions(number).candidates.retain(|c| !wrong.contains(c));
            self.drop_assumption();
        }
    }

    /// Drops the pointers that have left the object they pointed into when the loop was entered.
    fn check_pointers(&mut self, st: &State, number: u32) {
        let modified = self.loops.loops[number as usize].modified.clone();
        for var in modified {
            let Some(&(_, object)) = st.anchors.iter().rev().find(|(v, _)| *v == (number, var)) else { continue };
            let value = self.read_var(st, var);
            if self.object_of(value) != Some(object) && self.assumptions(number).roaming.insert(var) {
                self.drop_assumption();
            }
        }
    }

    /// The object that a pointer points into by its structure.
    fn object_of(&mut self, value: Val) -> Option<ObjId> {
        match value {
            Val::Ptr(object, _) => Some(object),
            Val::Expr(e) => {
                let mut found = None;
                let mut terms = Vec::new();
                self.sum_terms(e, &mut terms);
                for term in terms {
                    match self.classify(term) {
                        Val::Ptr(object, _) if found.is_none() => found = Some(object),
                        _ if self.bases_in(term).is_empty() => {}
                        _ => return None,
                    }
                }
                found
            }
            _ => None,
        }
    }

    /// The state at the head after any number of iterations.
    fn enter_loop(&mut self, mut st: State, number: u32) -> State {
        let modified = self.loops.loops[number as usize].modified.clone();
        let mut model = st.pc.model().cloned();
        for var in modified {
            let value = self.read_var(&st, var);
            let width = self.program.vars[var].width;
            let object = match self.assumptions(number).roaming.contains(&var) {
                true => None,
                false => self.object_of(value),
            };
            let (_, fresh) = self.pool.fresh_symbol(Sort::Bv(width));
            // The entry value is one that the loop's invariants allow.
            if let Some(m) = &mut model
                && value != Val::Unset
            {
                let mut old = self.term(value, width);
                if let Some(object) = object {
                    let base = self.bases.symbol(&mut self.pool, object, width);
                    old = self.pool.sub(old, base);
                }
                let old = m.eval(&self.pool, old);
                m.set(fresh, Value::Bv(old));
            }
            let new = match object {
                Some(object) => {
                    Rc::make_mut(&mut st.anchors).push(((number, var), object));
                    let base = self.bases.symbol(&mut self.pool, object, width);
                    self.pool.add(base, fresh)
                }
                None => fresh,
            };
            self.write_var(&mut st, var, Val::Expr(new));
        }
        let written: Vec<ObjId> = {
            let origins = self.assumptions(number).written.clone();
            st.memory.iter().filter(|(_, o)| origins.contains(&o.origin)).map(|(id, _)| id).collect()
        };
        for object in written {
            st.memory.get_mut(object).expect("a live object").forget();
        }
        let depth = st.frame.depth;
        let allocated = st.memory.allocated();
        Rc::make_mut(&mut st.active).push(Activation { number, depth, allocated });
        for candidate in self.assumptions(number).candidates.clone() {
            let value = self.eval(&st, candidate);
            if let Val::Expr(term) = value {
                self.expose(&mut st, term);
                let model = model.clone().filter(|m| m.eval(&self.pool, term).is_true());
                self.solver.assume(&mut self.pool, &mut st.pc, term, model);
            }
        }
        st
    }
}

/// Templates over the variables that are true of all samples.
fn candidates(
    program: &Program,
    l: &LoopInfo,
    constants: &FxHashMap<u32, Vec<u64>>,
    conditions: &[ExprId],
    pool: &mut ExprPool,
) -> Vec<ExprId> {
    if l.samples.is_empty() {
        return Vec::new();
    }
    let mut guess = Guess { program, l, pool, found: Vec::new(), seen: FxHashSet::default() };
    let modified: Vec<usize> = (0..l.watched.len()).filter(|&i| l.modified.contains(&l.watched[i])).collect();
    // The program's own conditions.
    for &condition in conditions {
        let vars = guess.pool.vars(condition);
        if vars.iter().all(|v| l.watched.contains(v)) && vars.iter().any(|v| l.modified.contains(v)) {
            guess.keep_if_true(condition);
        }
    }
    for &i in &modified {
        let width = program.vars[l.watched[i]].width;
        let x = guess.var(i);
        let values: Vec<u64> = l.samples.iter().filter_map(|row| row[i]).collect();
        if values.is_empty() {
            continue;
        }
        // Bounds: the values seen at the ends, and the program's constants.
        let mut bounds: Vec<u64> = vec![0, 1];
        bounds.extend(values.iter().copied().min_by_key(|&v| sign_extend(width, v)));
        bounds.extend(values.iter().copied().max_by_key(|&v| sign_extend(width, v)));
        bounds.extend(constants.get(&width).into_iter().flatten().copied());
        bounds.sort_unstable();
        bounds.dedup();
        for &bound in &bounds {
            let c = guess.pool.int(width, bound);
            for (op, swap) in [(BinOp::Sle, false), (BinOp::Sle, true), (BinOp::Ule, false), (BinOp::Ule, true)] {
                let (a, b) = if swap { (c, x) } else { (x, c) };
                let e = guess.pool.binary(op, a, b);
                guess.keep_if_true(e);
            }
        }
        // Residues.
        for bits in [3, 2, 1] {
            if width > bits {
                let low = guess.pool.extract(bits - 1, 0, x);
                let residue = guess.pool.int(bits, values[0]);
                let e = guess.pool.eq(low, residue);
                if guess.keep_if_true(e) {
                    break;
                }
            }
        }
        // One of a few values.
        let mut distinct = values.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() <= 4 && values.len() > 2 * distinct.len() {
            let mut any = guess.pool.bool(false);
            for &v in &distinct {
                let c = guess.pool.int(width, v);
                let equal = guess.pool.eq(x, c);
                any = guess.pool.or(any, equal);
            }
            guess.keep_if_true(any);
        }
        // Pairs.
        for j in 0..l.watched.len() {
            if j == i || modified.contains(&j) && j < i || program.vars[l.watched[j]].width != width {
                continue;
            }
            let y = guess.var(j);
            let equal = guess.pool.eq(x, y);
            if guess.keep_if_true(equal) {
                continue;
            }
            for op in [BinOp::Sle, BinOp::Ule] {
                for (a, b) in [(x, y), (y, x)] {
                    let e = guess.pool.binary(op, a, b);
                    guess.keep_if_true(e);
                }
            }
        }
    }
    guess.linear(&modified);
    guess.found.truncate(CANDIDATES);
    guess.found
}

struct Guess<'a> {
    program: &'a Program,
    l: &'a LoopInfo,
    pool: &'a mut ExprPool,
    found: Vec<ExprId>,
    seen: FxHashSet<ExprId>,
}

impl Guess<'_> {
    fn var(&mut self, i: usize) -> ExprId {
        let var = self.l.watched[i];
        self.pool.var(var, self.program.vars[var].width)
    }

    /// Keeps `e` as a candidate if it is true of every sample and says something; tells whether it is true.
    fn keep_if_true(&mut self, e: ExprId) -> bool {
        if self.pool.as_const(e).is_some() || !self.seen.insert(e) {
            return self.found.contains(&e);
        }
        let l = self.l;
        let mut tried = 0;
        for row in &l.samples {
            let mut known = true;
            let value = self.pool.eval_tree(e, &mut |leaf| match leaf {
                Expr::Var(v) => {
                    let i = l.watched.iter().position(|w| w == v);
                    let width = self.program.vars[*v].width;
                    match i.and_then(|i| row[i]) {
                        Some(value) => Bv::new(width, value),
                        None => {
                            known = false;
                            Bv::zero(width)
                        }
                    }
                }
                _ => {
                    known = false;
                    Bv::zero(self.program.layout.pointer_width)
                }
            });
            if known {
                tried += 1;
                if !value.is_true() {
                    return false;
                }
            }
        }
        if tried > 0 {
            self.found.push(e);
        }
        tried > 0
    }

    /// Equations between polynomials of degree at most two that hold of all samples, over the integers modulo the
    /// width: the kernel of the matrix of samples (Müller-Olm, Seidl: Computing polynomial program invariants, 2004, from
    /// samples instead of the program).
    fn linear(&mut self, modified: &[usize]) {
        let mut vars: Vec<usize> = modified.to_vec();
        vars.extend((0..self.l.watched.len()).filter(|i| !modified.contains(i)));
        vars.retain(|&i| self.l.samples.iter().all(|row| row[i].is_some()));
        for (degree, most) in [(1, 8), (2, 4)] {
            let vars = &vars[..vars.len().min(most)];
            if vars.is_empty() {
                return;
            }
            let mut monomials: Vec<Vec<usize>> = vec![vec![]];
            monomials.extend(vars.iter().map(|&v| vec![v]));
            if degree == 2 {
                for (k, &v) in vars.iter().enumerate() {
                    monomials.extend(vars[k..].iter().map(|&w| vec![v, w]));
                }
            }
            let signed = |row: &Vec<Option<u64>>, i: usize| {
                let width = self.program.vars[self.l.watched[i]].width;
                i128::from(sign_extend(width, row[i].expect("only variables with values")))
            };
            let mut rows: Vec<Vec<i128>> = self
                .l
                .samples
                .iter()
                .map(|row| monomials.iter().map(|m| m.iter().map(|&i| signed(row, i)).product()).collect())
                .filter(|row: &Vec<i128>| row.iter().all(|v| v.abs() < 1 << 40))
                .collect();
            // Too few samples fit anything.
            if rows.len() < monomials.len() + 2 {
                continue;
            }
            for coefficients in kernel(&mut rows, monomials.len()) {
                self.equation(&monomials, &coefficients);
            }
        }
    }

    /// The candidate that the polynomial with these coefficients is zero.
    fn equation(&mut self, monomials: &[Vec<usize>], coefficients: &[i128]) {
        let width = monomials.iter().flatten().map(|&i| self.program.vars[self.l.watched[i]].width).max();
        let Some(width) = width else { return };
        let mut sum = self.pool.int(width, 0);
        for (monomial, &coefficient) in monomials.iter().zip(coefficients) {
            let Ok(c) = i64::try_from(coefficient) else { return };
            let mut term = self.pool.constant(Bv::from_i64(width, c));
            for &i in monomial {
                let x = self.var(i);
                let x = self.pool.sext(width, x);
                term = self.pool.mul(term, x);
            }
            sum = self.pool.add(sum, term);
        }
        let zero = self.pool.int(width, 0);
        let e = self.pool.eq(sum, zero);
        self.keep_if_true(e);
    }
}

/// Integer vectors that span the kernel of a matrix, each divided by its content; none where numbers get too large.
fn kernel(rows: &mut [Vec<i128>], columns: usize) -> Vec<Vec<i128>> {
    fn gcd(a: i128, b: i128) -> i128 {
        if b == 0 { a.abs() } else { gcd(b, a % b) }
    }
    let normalise = |row: &mut Vec<i128>| {
        let g = row.iter().fold(0, |g, &v| gcd(g, v));
        if g > 1 {
            row.iter_mut().for_each(|v| *v /= g);
        }
    };
    let mut pivots: Vec<usize> = Vec::new();
    let mut rank = 0;
    // Pivots from the last column on, so that equations are solved for higher monomials.
    for column in (0..columns).rev() {
        let Some(p) = (rank..rows.len()).find(|&r| rows[r][column] != 0) else { continue };
        rows.swap(rank, p);
        let pivot = rows[rank].clone();
        for (r, row) in rows.iter_mut().enumerate() {
            if r == rank || row[column] == 0 {
                continue;
            }
            let (a, b) = (pivot[column], row[column]);
            for (v, &p) in row.iter_mut().zip(&pivot) {
                let (Some(x), Some(y)) = (v.checked_mul(a), p.checked_mul(b)) else { return Vec::new() };
                let Some(d) = x.checked_sub(y) else { return Vec::new() };
                *v = d;
            }
            normalise(row);
        }
        normalise(&mut rows[rank]);
        pivots.push(column);
        rank += 1;
        if rank == rows.len() {
            break;
        }
    }
    let mut vectors = Vec::new();
    for free in (0..columns).filter(|c| !pivots.contains(c)) {
        // x_free = scale, x_pivot = -row[free] * scale / row[pivot].
        let mut scale: i128 = 1;
        for (r, &p) in pivots.iter().enumerate() {
            let d = rows[r][p] / gcd(rows[r][p], rows[r][free]).max(1);
            let g = gcd(scale, d).max(1);
            match scale.checked_mul(d.abs() / g) {
                Some(s) if s < 1 << 30 => scale = s,
                _ => return vectors,
            }
        }
        let mut vector = vec![0; columns];
        vector[free] = scale;
        for (r, &p) in pivots.iter().enumerate() {
            vector[p] = -(rows[r][free] * scale) / rows[r][p];
        }
        normalise(&mut vector);
        vectors.push(vector);
    }
    vectors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_of_samples() {
        // y = 3x + 1, z = x * x.
        let mut rows: Vec<Vec<i128>> = (0..6).map(|x| vec![1, x, 3 * x + 1]).collect();
        let kernel = kernel(&mut rows, 3);
        assert_eq!(kernel.len(), 1);
        let k = &kernel[0];
        for x in 0..10 {
            assert_eq!(k[0] + k[1] * x + k[2] * (3 * x + 1), 0);
        }
    }
}
