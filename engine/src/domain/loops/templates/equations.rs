//! Candidate equations between polynomials.

use super::*;

impl Guess<'_> {
    /// Finds equations between polynomials of degree at most two, or with powers of two, over the integers modulo the
    /// width. They are the kernel of the matrix of observations (Müller-Olm, Seidl: Computing polynomial program
    /// invariants, 2004, from samples instead of the program).
    pub(super) fn equations(&mut self, shape: Monomials) {
        let rows = self.rows.clone();
        let complete = |&i: &usize| rows.iter().all(|&r| self.seen.rows[r][i].is_some());
        let mut columns: Vec<usize> = self.subjects.iter().copied().filter(complete).collect();
        columns.extend((0..self.seen.columns.len()).filter(|i| !self.subjects.contains(i)).filter(complete));
        columns.retain(|c| !self.dependent.contains(c));
        if self.guard.is_some() {
            // Columns that are constant under the guard are useless.
            columns.retain(|&c| rows.iter().any(|&r| self.seen.rows[r][c] != self.seen.rows[rows[0]][c]));
        }
        match shape {
            Monomials::Linear => self.equations_over(&columns[..columns.len().min(10)], &rows, shape),
            // With fewer unknowns, fewer observations suffice, and fewer equations are accidental.
            Monomials::Powers => self.equations_over(&columns[..columns.len().min(4)], &rows, shape),
            Monomials::Squares => {
                columns.truncate(SQUARED);
                let mut done: Vec<u32> = Vec::new();
                let mut sets: Vec<u32> = (1..1 << columns.len()).filter(|s: &u32| s.count_ones() <= 4).collect();
                sets.sort_by_key(|s| s.count_ones());
                for set in sets {
                    let among: Vec<usize> =
                        columns.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).map(|(_, &c)| c).collect();
                    if done.iter().any(|d| d & set == *d) || !among.iter().any(|c| self.subjects.contains(c)) {
                        continue;
                    }
                    let found = self.found.len();
                    self.equations_over(&among, &rows, shape);
                    if self.found.len() > found {
                        done.push(set);
                    }
                    if done.len() >= MOST_SQUARES {
                        break;
                    }
                }
            }
        }
    }

    /// Finds the equations over these columns, if there are enough observations.
    fn equations_over(&mut self, columns: &[usize], rows: &[usize], shape: Monomials) {
        if columns.is_empty() {
            return;
        }
        let mut monomials: Vec<Vec<Factor>> = vec![vec![]];
        monomials.extend(columns.iter().map(|&v| vec![Factor::Column(v)]));
        match shape {
            Monomials::Linear => {}
            Monomials::Squares => {
                for (k, &v) in columns.iter().enumerate() {
                    monomials.extend(columns[k..].iter().map(|&w| vec![Factor::Column(v), Factor::Column(w)]));
                }
            }
            Monomials::Powers => {
                let small = |&&v: &&usize| {
                    let values = self.values(v);
                    values.iter().all(|&v| v <= EXPONENT) && values.iter().any(|&v| v > 2)
                };
                let exponents: Vec<usize> = columns.iter().filter(small).copied().collect();
                if exponents.is_empty() {
                    return;
                }
                monomials.extend(exponents.into_iter().map(|v| vec![Factor::Power(v)]));
            }
        }
        let signed = |r: usize, f: Factor| {
            let value = |i: usize| self.seen.rows[r][i].expect("only complete columns");
            match f {
                Factor::Column(i) => i128::from(sign_extend(self.leaf(i).1, value(i))),
                Factor::Power(i) => 1 << value(i),
            }
        };
        let mut matrix: Vec<Vec<i128>> = rows
            .iter()
            .filter_map(|&r| {
                let product = |m: &Vec<Factor>| m.iter().try_fold(1i128, |p, &f| p.checked_mul(signed(r, f)));
                monomials.iter().map(|m| product(m).filter(|p| p.abs() < 1 << 40)).collect()
            })
            .collect();
        matrix.sort_unstable();
        matrix.dedup();
        // Too few observations satisfy accidental equations. A guard may leave only few relevant observations.
        let margin = if self.guard.is_some() { 1 } else { 2 };
        if matrix.len() < monomials.len() + margin {
            return;
        }
        for (free, coefficients) in kernel(&mut matrix, monomials.len()) {
            self.equation(&monomials, &coefficients);
            // A column that is linear in others is left out of further equations.
            if shape == Monomials::Linear && self.guard.is_none() {
                let others = || (1..monomials.len()).filter(|&m| coefficients[m] != 0);
                let constant = others().next().filter(|_| free == 0 && others().count() == 1);
                if let Some(&Factor::Column(column)) = monomials[constant.unwrap_or(free)].first() {
                    self.dependent.push(column);
                }
            }
        }
    }

    /// Records the candidate that the polynomial with these coefficients is zero.
    fn equation(&mut self, monomials: &[Vec<Factor>], coefficients: &[i128]) {
        let parts = monomials.iter().zip(coefficients).filter(|(_, c)| **c != 0).flat_map(|(m, _)| m);
        let columns: Vec<usize> = parts.map(|&(Factor::Column(i) | Factor::Power(i))| i).collect();
        if !columns.iter().any(|i| self.subjects.contains(i)) {
            return;
        }
        let width = columns.iter().map(|&i| self.leaf(i).1).max().expect("a subject at least");
        let mut sum = self.pool.int(width, 0);
        for (monomial, &coefficient) in monomials.iter().zip(coefficients) {
            let Ok(c) = i64::try_from(coefficient) else { return };
            if c == 0 {
                continue;
            }
            let mut term = self.pool.constant(Bv::from_i64(width, c));
            for &(Factor::Column(i) | Factor::Power(i)) in monomial {
                let x = self.leaf(i).0;
                let mut x = self.pool.sext(width, x);
                if let [Factor::Power(_)] = monomial[..] {
                    let one = self.pool.int(width, 1);
                    x = self.pool.binary(BinOp::Shl, one, x);
                }
                term = self.pool.mul(term, x);
            }
            sum = self.pool.add(sum, term);
        }
        let zero = self.pool.int(width, 0);
        let e = self.pool.eq(sum, zero);
        self.keep(e);
    }
}

/// A basis of the kernel of an integer matrix. Each vector is divided by the gcd of its entries, and comes with its
/// free column, in which no other vector has an entry. The basis is incomplete if numbers get too large.
fn kernel(rows: &mut [Vec<i128>], columns: usize) -> Vec<(usize, Vec<i128>)> {
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
    // Pivots go from the last column to the first, so that equations are solved for higher monomials.
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
        vectors.push((free, vector));
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
        let k = &kernel[0].1;
        for x in 0..10 {
            assert_eq!(k[0] + k[1] * x + k[2] * (3 * x + 1), 0);
        }
    }
}
