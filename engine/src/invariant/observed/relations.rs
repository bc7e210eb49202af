//! Observed relations between variables that are constants in all states at a loop head: affine relations of two
//! variables, and the combinations of values if they are few. Bounds alone are seldom inductive. For example, `j <= 2`
//! is not if the loop maintains `i == 7 * j + 1` and ends at `i < 22`.

use std::collections::BTreeSet;

/// Largest number of variables.
const COLUMNS: usize = 24;
/// Largest number of listed combinations.
const ROWS: usize = 16;

/// A variable in the relations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    /// Its index among the places.
    pub place: usize,
    /// Its kind. Only variables of the same kind are compared.
    pub kind: u32,
    /// True if its type is signed.
    pub is_signed: bool,
    /// Its width in bits.
    pub width: u32,
}

/// The affine relation `b == factor * a + offset` of two places.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line {
    /// The index of the independent place.
    pub a: usize,
    /// The index of the dependent place.
    pub b: usize,
    /// The factor.
    pub factor: i128,
    /// The offset.
    pub offset: i128,
}

/// Two columns, and the direction of the line through their values once two values differ.
type Pair = (usize, usize, Option<(i128, i128)>);

/// The relations that all observed states satisfy so far.
#[derive(Clone, Debug)]
pub(super) struct Relations {
    columns: Vec<Column>,
    /// By column: true if it was a constant in every state.
    known: Vec<bool>,
    first: Vec<u64>,
    /// The observed combinations, with 0 for unknown values. `None` if there are too many.
    rows: Option<BTreeSet<Vec<u64>>>,
    /// Pairs of columns that may lie on a line, with its direction once known.
    pairs: Vec<Pair>,
}

impl Relations {
    /// Relations between the first columns, before any state is observed.
    pub fn new(mut columns: Vec<Column>) -> Self {
        columns.truncate(COLUMNS);
        let known = vec![true; columns.len()];
        Self { columns, known, first: Vec::new(), rows: Some(BTreeSet::new()), pairs: Vec::new() }
    }

    /// Records a state, given the constants of its places.
    pub fn join(&mut self, constant: impl Fn(usize) -> Option<u64>) {
        let mut row = Vec::with_capacity(self.columns.len());
        let mut lost = false;
        for (column, known) in self.columns.iter().zip(&mut self.known) {
            let value = constant(column.place).filter(|_| *known);
            lost |= *known && value.is_none();
            *known = value.is_some();
            row.push(value.unwrap_or(0));
        }
        if self.first.is_empty() {
            self.first.clone_from(&row);
            self.pairs = self.all_pairs();
        }
        if let Some(rows) = &mut self.rows {
            if lost {
                let blank =
                    |row: &Vec<u64>| row.iter().zip(&self.known).map(|(&v, &k)| if k { v } else { 0 }).collect();
                *rows = rows.iter().map(blank).collect();
            }
            rows.insert(row.clone());
            if rows.len() > 4 * ROWS {
                self.rows = None;
            }
        }
        let (columns, known, first) = (&self.columns, &self.known, &self.first);
        let moved = |c: usize| columns[c].integer(row[c]) - columns[c].integer(first[c]);
        self.pairs.retain_mut(|(a, b, direction)| {
            let (x, y) = (moved(*a), moved(*b));
            match direction {
                _ if !known[*a] || !known[*b] => false,
                _ if x == 0 && y == 0 => true,
                Some((dx, dy)) => x * *dy == y * *dx,
                None => {
                    *direction = Some((x, y));
                    x != 0 && y != 0
                }
            }
        });
    }

    fn all_pairs(&self) -> Vec<Pair> {
        let n = self.columns.len();
        let all = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
        all.filter(|&(a, b)| self.columns[a].kind == self.columns[b].kind).map(|(a, b)| (a, b, None)).collect()
    }

    /// The affine relations without equalities, at most one for each dependent variable.
    pub fn lines(&self) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        for &(a, b, direction) in &self.pairs {
            let Some((dx, dy)) = direction else { continue };
            let place = |c: usize| self.columns[c].place;
            if lines.iter().any(|l| l.a == place(b) || l.b == place(b)) {
                continue;
            }
            // Express the variable that is a multiple of the other.
            let (a, b, dx, dy) = if dy % dx == 0 { (a, b, dx, dy) } else { (b, a, dy, dx) };
            let at = |c: usize| self.columns[c].integer(self.first[c]);
            let factor = dy / dx;
            let offset = at(b) - factor * at(a);
            if dy % dx == 0 && (factor, offset) != (1, 0) {
                lines.push(Line { a: place(a), b: place(b), factor, offset });
            }
        }
        lines
    }

    /// The combinations of values of the `wanted` places, if they are few and imply more than the value sets of each
    /// place: the places that vary, and a row for each combination.
    pub fn rows(&self, wanted: impl Fn(usize) -> bool) -> Option<(Vec<usize>, Vec<Vec<u64>>)> {
        let rows = self.rows.as_ref()?;
        let values = |c: usize| rows.iter().map(|row| row[c]).collect::<BTreeSet<u64>>().len();
        let varies = |&c: &usize| self.known[c] && wanted(self.columns[c].place) && values(c) > 1;
        let mut chosen: Vec<usize> = (0..self.columns.len()).filter(varies).collect();
        let project = |chosen: &[usize]| -> BTreeSet<Vec<u64>> {
            rows.iter().map(|row| chosen.iter().map(|&c| row[c]).collect()).collect()
        };
        let mut projected = project(&chosen);
        // Remove the variable with the most values, for example a counter.
        while projected.len() > ROWS {
            let most = (0..chosen.len()).max_by_key(|&i| values(chosen[i]))?;
            chosen.remove(most);
            projected = project(&chosen);
        }
        let all: usize = chosen.iter().map(|&c| values(c)).product();
        let places = chosen.iter().map(|&c| self.columns[c].place).collect();
        (chosen.len() > 1 && projected.len() < all).then(|| (places, projected.into_iter().collect()))
    }
}

impl Column {
    fn integer(&self, value: u64) -> i128 {
        match self.is_signed {
            true => i128::from(crate::semantics::sign_extend(self.width, value)),
            false => i128::from(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relations(rows: &[[i64; 3]]) -> Relations {
        let column = |place| Column { place, kind: 64, is_signed: true, width: 32 };
        let mut relations = Relations::new(vec![column(0), column(1), column(2)]);
        for row in rows {
            relations.join(|place| Some(row[place] as u32 as u64).filter(|_| row[place] != 99));
        }
        relations
    }

    #[test]
    fn lines_go_through_all_states() {
        let line = Line { a: 1, b: 0, factor: -7, offset: 1 };
        assert_eq!(relations(&[[1, 0, 5], [-6, 1, 5], [-13, 2, 5]]).lines(), [line]);
        assert_eq!(relations(&[[1, 0, 5], [-6, 1, 5], [-12, 2, 5]]).lines(), []);
        // A constant column, an equality, and a column that is unknown in the last state.
        assert_eq!(relations(&[[1, 0, 5], [1, 1, 5]]).lines(), []);
        assert_eq!(relations(&[[1, 1, 99], [2, 2, 99]]).lines(), []);
        assert_eq!(relations(&[[1, 0, 5], [2, 1, 6], [3, 99, 99]]).lines(), []);
    }

    #[test]
    fn combinations_are_told_where_they_are_fewer_than_values() {
        let rows = relations(&[[0, 0, 5], [1, 1, 5], [1, 0, 5], [0, 0, 99]]).rows(|_| true);
        assert_eq!(rows, Some((vec![0, 1], vec![vec![0, 0], vec![1, 0], vec![1, 1]])));
        assert_eq!(relations(&[[0, 0, 5], [1, 1, 5], [1, 0, 5], [0, 1, 5]]).rows(|_| true), None);
        assert_eq!(relations(&[[0, 0, 5], [1, 1, 5]]).rows(|place| place > 0), None);
        let counted: Vec<[i64; 3]> = (0..40).map(|n| [n % 3, n % 3, n]).collect();
        assert_eq!(relations(&counted).rows(|_| true), Some((vec![0, 1], vec![vec![0, 0], vec![1, 1], vec![2, 2]])));
        let many: Vec<[i64; 3]> = (0..100).map(|n| [n, n * n, 0]).collect();
        assert_eq!(relations(&many).rows(|_| true), None);
    }
}
