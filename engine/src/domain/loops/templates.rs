//! Candidate invariants: conditions that hold in all observations.
//!
//! Candidates are instances of templates over observed values (Ernst et al.: The Daikon system for dynamic detection of
//! likely invariants, 2007), and the program's own conditions. If a guard separates the observations, there are also
//! candidates for each part.

mod equations;

use super::polynomial;
use crate::semantics::sign_extend;
use cfa::{BinOp, Bv, CType, Expr, ExprId, ExprPool, Op, Program, TypeId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximal number of candidates at one place.
const CANDIDATES: usize = 500;
/// Maximal number of guards tried.
const GUARDS: usize = 24;
/// Number of columns that are combined in pairs.
const PAIRED: usize = 20;
/// Number of constants beyond the observed range that are tried as bounds.
const BOUNDS: usize = 2;
/// Maximal difference in a candidate. Larger ones are accidental.
const FAR: u64 = 1 << 12;
/// Maximal number of the program's terms that each column is compared with.
const TERMS: usize = 24;
/// Number of columns whose squares and products are used. [`MOST_SQUARES`] limits the number of column sets with
/// equations.
const SQUARED: usize = 8;
const MOST_SQUARES: usize = 8;
/// Largest exponent of a power of two.
const EXPONENT: u64 = 36;
/// Maximal number of columns with guarded candidates.
const GUARDED: usize = 8;

/// Observed values of some leaves.
pub struct Observations {
    /// The leaves.
    pub columns: Vec<Column>,
    /// Observations: a value for each column. `None` for addresses and unknown values.
    pub rows: Vec<Vec<Option<u64>>>,
}

/// A leaf of at most 64 bits that is observed.
#[derive(Clone, Copy)]
pub struct Column {
    /// The leaf: a variable or a symbol.
    pub leaf: ExprId,
    /// Its width in bits.
    pub width: u32,
    /// True if its type is signed.
    pub signed: bool,
}

/// Constants, conditions and terms of the program.
pub struct Vocabulary {
    /// The constants by width.
    pub constants: FxHashMap<u32, Vec<u64>>,
    /// Conditions: expressions of one bit over variables.
    pub conditions: Vec<ExprId>,
    /// Terms: sums, products, quotients and shifts over variables.
    pub terms: Vec<ExprId>,
}

impl Vocabulary {
    /// Collects the vocabulary of a program.
    pub fn new(program: &Program) -> Self {
        let mut constants: FxHashMap<u32, Vec<u64>> = FxHashMap::default();
        let mut conditions = Vec::new();
        let mut terms = Vec::new();
        let (mut seen, mut known, mut addresses) = (FxHashSet::default(), FxHashSet::default(), FxHashSet::default());
        for edge in program.edges.values() {
            if let Op::Assume { cond, .. } = edge.op
                && known.insert(cond)
            {
                conditions.push(cond);
            }
            edge.op.for_each_expr(|e| {
                program.exprs.visit(e, &mut seen, |part, node| match node {
                    Expr::Const(c) if (2..=64).contains(&c.width()) => {
                        let of_width = constants.entry(c.width()).or_default();
                        let value = c.to_u64().expect("at most 64 bits");
                        if !of_width.contains(&value) && of_width.len() < 48 {
                            of_width.push(value);
                        }
                    }
                    Expr::GlobalAddr(_) | Expr::FuncAddr(_) => {
                        addresses.insert(part);
                    }
                    Expr::Const(_) | Expr::Var(_) => {}
                    _ if node.children().any(|c| addresses.contains(&c)) => {
                        addresses.insert(part);
                    }
                    Expr::Binary(op, a, _)
                        if is_arithmetic(*op) && (2..=64).contains(&program.exprs.width(*a)) && terms.len() < 400 =>
                    {
                        terms.push(part);
                    }
                    // An argument of an assertion function is a comparison as well.
                    _ if program.exprs.sort(part) == cfa::Sort::Bv(1) && known.insert(part) => conditions.push(part),
                    _ => {}
                });
            });
        }
        conditions.retain(|c| !addresses.contains(c));
        conditions.truncate(4000);
        Self { constants, conditions, terms }
    }
}

fn is_arithmetic(op: BinOp) -> bool {
    matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::UDiv | BinOp::SDiv | BinOp::Shl | BinOp::LShr)
}

/// The kinds of candidates to generate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// No candidates, only facts.
    Facts,
    /// Candidates without guards.
    Few,
    /// Like `Few`, and relations with the program's own terms.
    Terms,
    /// Like `Few`, and equations with powers of two. With guards, only equations.
    Powers,
    /// Like `Few`, and candidates with guards.
    Many,
    /// Like `Few`, and candidates about all cells of arrays.
    Cells,
    /// Like `Terms`, and equations of degree two, which are hard for solvers.
    Squares,
}

/// Generates candidates about the columns `subjects`. `guards` are conditions that may separate the observations.
pub fn candidates(
    pool: &mut ExprPool,
    seen: &Observations,
    subjects: &[usize],
    vocabulary: &Vocabulary,
    guards: &[ExprId],
    effort: Effort,
) -> Vec<ExprId> {
    if seen.rows.is_empty() || subjects.is_empty() || effort == Effort::Facts {
        return Vec::new();
    }
    let all: Vec<usize> = (0..seen.rows.len()).collect();
    let mut guess = Guess {
        pool,
        seen,
        subjects,
        rows: all.clone(),
        guard: None,
        found: Vec::new(),
        tried: FxHashSet::default(),
        equations: FxHashSet::default(),
        dependent: Vec::new(),
    };
    let only_equations = effort == Effort::Powers && !guards.is_empty();
    if !only_equations {
        guess.conditions(vocabulary);
    }
    guess.equations(Monomials::Linear);
    match effort {
        Effort::Powers => guess.equations(Monomials::Powers),
        Effort::Squares => guess.equations(Monomials::Squares),
        _ => {}
    }
    for &i in subjects.iter().filter(|_| !only_equations) {
        guess.single(i, vocabulary);
    }
    for &i in subjects.iter().filter(|_| !only_equations) {
        guess.pairs(i);
    }
    if matches!(effort, Effort::Terms | Effort::Squares) {
        for &i in subjects {
            guess.terms(i, vocabulary);
            guess.sums(i);
        }
    }
    let mut used = 0;
    for &guard in guards {
        let holds: Vec<Option<bool>> = all.iter().map(|&r| guess.holds(guard, r)).collect();
        let rows: Vec<usize> = all.iter().copied().filter(|&r| holds[r] == Some(true)).collect();
        if rows.is_empty() || rows.len() == all.len() || used >= GUARDS {
            continue;
        }
        used += 1;
        guess.rows = rows;
        guess.guard = Some(guess.pool.not(guard));
        guess.tried.clear();
        guess.equations(Monomials::Linear);
        if only_equations {
            guess.equations(Monomials::Powers);
            continue;
        }
        for &i in subjects.iter().take(GUARDED) {
            guess.guarded(i);
        }
    }
    guess.found.truncate(CANDIDATES);
    guess.found
}

/// The monomials in equations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Monomials {
    /// Single columns.
    Linear,
    /// Products of two columns.
    Squares,
    /// Powers of two whose exponents are columns.
    Powers,
}

/// A factor of a monomial: a column, or two to the power of a column.
#[derive(Clone, Copy)]
enum Factor {
    /// The value of this column.
    Column(usize),
    /// Two to the power of this column.
    Power(usize),
}

/// The generation of candidates over the observed values.
struct Guess<'a> {
    pool: &'a mut ExprPool,
    seen: &'a Observations,
    subjects: &'a [usize],
    /// The observations considered, and the negated guard if there is one.
    rows: Vec<usize>,
    guard: Option<ExprId>,
    found: Vec<ExprId>,
    tried: FxHashSet<ExprId>,
    /// Terms that are zero by a candidate, with the negated guard.
    equations: FxHashSet<(Option<ExprId>, ExprId)>,
    /// Columns that are linear in others.
    dependent: Vec<usize>,
}

impl Guess<'_> {
    /// True if `e` holds in an observation. `None` if a value is missing.
    fn holds(&self, e: ExprId, row: usize) -> Option<bool> {
        let (columns, row) = (&self.seen.columns, &self.seen.rows[row]);
        let mut known = true;
        let value = self.pool.eval_tree(e, &mut |leaf| {
            let column = columns.iter().position(|c| self.pool.get(c.leaf) == leaf);
            match column.and_then(|c| Some(Bv::new(columns[c].width, row[c]?))) {
                Some(value) => value,
                None => {
                    known = false;
                    Bv::zero(width_of(self.pool, leaf, columns))
                }
            }
        });
        known.then(|| value.is_true())
    }

    /// Records `e` as a candidate if it holds in all considered observations with the necessary values, and in at least
    /// one. Returns true if it does.
    fn keep(&mut self, e: ExprId) -> bool {
        if self.pool.as_const(e).is_some() {
            return false;
        }
        let candidate = match self.guard {
            None => e,
            Some(not_guard) => self.pool.or(not_guard, e),
        };
        if self.guard.is_some() && self.found.contains(&e) {
            return true;
        }
        if !self.tried.insert(e) {
            return self.found.contains(&candidate);
        }
        let mut some = false;
        for &row in &self.rows {
            match self.holds(e, row) {
                Some(true) => some = true,
                Some(false) => return false,
                None => {}
            }
        }
        if some && self.pool.as_const(candidate).is_none() && !self.found.contains(&candidate) {
            // Equivalent equations may have different forms.
            if let Some(zero) = polynomial::zero(self.pool, e)
                && (self.equations.contains(&(None, zero)) || !self.equations.insert((self.guard, zero)))
            {
                return true;
            }
            self.found.push(candidate);
        }
        some
    }

    fn leaf(&self, column: usize) -> (ExprId, u32) {
        let Column { leaf, width, .. } = self.seen.columns[column];
        (leaf, width)
    }

    /// The order relation of the column's type.
    fn order(&self, column: usize) -> BinOp {
        if self.seen.columns[column].signed { BinOp::Sle } else { BinOp::Ule }
    }

    fn values(&self, column: usize) -> Vec<u64> {
        self.rows.iter().filter_map(|&r| self.seen.rows[r][column]).collect()
    }

    /// Candidates from the program's own conditions about a subject.
    fn conditions(&mut self, vocabulary: &Vocabulary) {
        let position = |pool: &ExprPool, var| {
            self.seen.columns.iter().position(|c| matches!(pool.get(c.leaf), Expr::Var(v) if *v == var))
        };
        let fits = |&&condition: &&ExprId| {
            let vars = self.pool.vars(condition);
            let columns: Option<Vec<usize>> = vars.iter().map(|&v| position(self.pool, v)).collect();
            columns.is_some_and(|columns| columns.iter().any(|c| self.subjects.contains(c)))
        };
        let conditions: Vec<ExprId> = vocabulary.conditions.iter().filter(fits).copied().take(200).collect();
        for condition in conditions {
            if !self.keep(condition) {
                let negated = self.pool.not(condition);
                self.keep(negated);
            }
        }
    }

    /// Candidates about one column: bounds, residues, and sets of few values.
    fn single(&mut self, column: usize, vocabulary: &Vocabulary) {
        let (x, width) = self.leaf(column);
        let values = self.values(column);
        let Some(&first) = values.first() else { return };
        let mut bounds: Vec<u64> = vec![0, 1];
        bounds.extend(vocabulary.constants.get(&width).into_iter().flatten().copied());
        self.bounds(column, &values, bounds);
        for bits in [1, 2, 3] {
            if width > bits {
                let low = self.pool.extract(bits - 1, 0, x);
                let residue = self.pool.int(bits, first);
                let e = self.pool.eq(low, residue);
                self.keep(e);
            }
        }
        let mut distinct = values.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() <= 6 && values.len() > 2 * distinct.len() {
            let mut any = self.pool.bool(false);
            for &v in &distinct {
                let c = self.pool.int(width, v);
                let equal = self.pool.eq(x, c);
                any = self.pool.or(any, equal);
            }
            self.keep(any);
        }
    }

    /// Candidates for lower and upper bounds of a column: the observed extremes, and the next constants in `others`
    /// beyond them.
    fn bounds(&mut self, column: usize, values: &[u64], others: Vec<u64>) {
        let (x, width) = self.leaf(column);
        let op = self.order(column);
        let key = |v: u64| if op == BinOp::Sle { i128::from(sign_extend(width, v)) } else { i128::from(v) };
        let (Some(least), Some(most)) =
            (values.iter().copied().min_by_key(|&v| key(v)), values.iter().copied().max_by_key(|&v| key(v)))
        else {
            return;
        };
        let mut below: Vec<u64> = others.iter().copied().filter(|&v| key(v) < key(least)).collect();
        below.sort_unstable_by_key(|&v| -key(v));
        let mut above: Vec<u64> = others.iter().copied().filter(|&v| key(v) > key(most)).collect();
        above.sort_unstable_by_key(|&v| key(v));
        for (extreme, mut beyond, is_low) in [(least, below, true), (most, above, false)] {
            beyond.dedup();
            for bound in std::iter::once(extreme).chain(beyond.into_iter().take(BOUNDS)) {
                let c = self.pool.int(width, bound);
                let e = if is_low { self.pool.binary(op, c, x) } else { self.pool.binary(op, x, c) };
                self.keep(e);
            }
        }
    }

    /// Candidates for relations of a column with other columns.
    fn pairs(&mut self, column: usize) {
        let (x, width) = self.leaf(column);
        for other in 0..self.seen.columns.len().min(PAIRED) {
            let (y, other_width) = self.leaf(other);
            if other == column || other_width != width || self.subjects.contains(&other) && other < column {
                continue;
            }
            let differences: Vec<i64> = self.differences(column, other);
            let (Some(&least), Some(&most)) = (differences.iter().min(), differences.iter().max()) else { continue };
            if least == most {
                let c = self.pool.constant(Bv::from_i64(width, least));
                let sum = self.pool.add(y, c);
                let e = self.pool.eq(x, sum);
                self.keep(e);
                // With few observations, the equation may be accidental.
                if differences.len() > 4 {
                    continue;
                }
            }
            let op = self.order(column);
            for (a, b) in [(x, y), (y, x)] {
                let e = self.pool.binary(op, a, b);
                self.keep(e);
            }
            // Bounds of the difference.
            for (d, is_least) in [(least, true), (most, false)] {
                if d == 0 || d.unsigned_abs() > FAR {
                    continue;
                }
                let c = self.pool.constant(Bv::from_i64(width, d));
                let sum = self.pool.add(y, c);
                let e = if is_least { self.pool.binary(op, sum, x) } else { self.pool.binary(op, x, sum) };
                self.keep(e);
            }
        }
    }

    /// Candidates for bounds of the sum of a column and another.
    fn sums(&mut self, column: usize) {
        let (x, width) = self.leaf(column);
        for other in 0..self.seen.columns.len().min(PAIRED) {
            let (y, other_width) = self.leaf(other);
            if other == column || other_width != width || self.subjects.contains(&other) && other < column {
                continue;
            }
            let sum = |&r: &usize| {
                let row = &self.seen.rows[r];
                sign_extend(width, row[column]?).checked_add(sign_extend(width, row[other]?))
            };
            let sums: Vec<i64> = self.rows.iter().filter_map(sum).collect();
            let (Some(&least), Some(&most)) = (sums.iter().min(), sums.iter().max()) else { continue };
            let op = self.order(column);
            for (s, is_least) in [(least, true), (most, false)] {
                if s.unsigned_abs() <= FAR {
                    let c = self.pool.constant(Bv::from_i64(width, s));
                    let rest = self.pool.sub(c, y);
                    let e = if is_least { self.pool.binary(op, rest, x) } else { self.pool.binary(op, x, rest) };
                    self.keep(e);
                }
            }
        }
    }

    /// Candidates for relations of a column with the program's own terms over other columns.
    fn terms(&mut self, column: usize, vocabulary: &Vocabulary) {
        let (x, width) = self.leaf(column);
        let leaves: FxHashSet<&Expr> = self.seen.columns.iter().map(|c| self.pool.get(c.leaf)).collect();
        let fits = |&&term: &&ExprId| {
            let vars = self.pool.vars(term);
            let known = |&v: &VarId| leaves.contains(&Expr::Var(v)) && *self.pool.get(x) != Expr::Var(v);
            self.pool.width(term) == width && !vars.is_empty() && vars.iter().all(known)
        };
        let terms: Vec<ExprId> = vocabulary.terms.iter().filter(fits).copied().take(TERMS).collect();
        let (at_most, less) =
            if self.seen.columns[column].signed { (BinOp::Sle, BinOp::Slt) } else { (BinOp::Ule, BinOp::Ult) };
        for term in terms {
            let equal = self.pool.eq(x, term);
            if self.keep(equal) {
                continue;
            }
            for (a, b) in [(x, term), (term, x)] {
                for op in [at_most, less] {
                    let e = self.pool.binary(op, a, b);
                    if !self.keep(e) {
                        break;
                    }
                }
            }
        }
    }

    /// The signed differences `column - other` that do not overflow.
    fn differences(&self, column: usize, other: usize) -> Vec<i64> {
        let width = self.leaf(column).1;
        let difference = |&r: &usize| {
            let row = &self.seen.rows[r];
            let (x, y) = (sign_extend(width, row[column]?), sign_extend(width, row[other]?));
            x.checked_sub(y)
        };
        self.rows.iter().filter_map(difference).collect()
    }

    /// Candidates under a guard: equations, orders, bounds and parity of a column.
    fn guarded(&mut self, column: usize) {
        let (x, width) = self.leaf(column);
        let values = self.values(column);
        if values.is_empty() {
            return;
        }
        for other in 0..self.seen.columns.len().min(PAIRED) {
            let (y, other_width) = self.leaf(other);
            if other == column || other_width != width {
                continue;
            }
            let differences = self.differences(column, other);
            if let Some(&d) = differences.first()
                && differences.iter().all(|&e| e == d)
            {
                let c = self.pool.constant(Bv::from_i64(width, d));
                let sum = self.pool.add(y, c);
                let e = self.pool.eq(x, sum);
                self.keep(e);
            } else {
                let op = self.order(column);
                for (a, b) in [(x, y), (y, x)] {
                    let e = self.pool.binary(op, a, b);
                    self.keep(e);
                }
            }
        }
        self.bounds(column, &values, Vec::new());
        let low = self.pool.extract(0, 0, x);
        let residue = self.pool.int(1, values[0]);
        let e = self.pool.eq(low, residue);
        self.keep(e);
    }
}

fn width_of(pool: &ExprPool, leaf: &Expr, columns: &[Column]) -> u32 {
    match columns.iter().find(|c| pool.get(c.leaf) == leaf) {
        Some(column) => column.width,
        // Conditions over addresses or unwatched variables are not tried.
        None => 64,
    }
}

pub(super) fn is_signed(program: &Program, ty: TypeId) -> bool {
    matches!(program.plain_type(ty), CType::Int { signed: true, .. } | CType::Enum { signed: true, .. })
}
