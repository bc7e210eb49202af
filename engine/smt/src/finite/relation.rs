//! The relation of a constraint, independent of the names of its symbols.

use super::{Domain, Problem, Symbol};
use cfa::{Bv, Expr};

/// The maximal number of value combinations in a table.
const TABLE: u64 = 1 << 19;
/// The maximal number of value combinations that are enumerated.
const TRIED: u64 = 2_000;

/// A condition whose symbols are numbered in the order in which they occur.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct NumberedCondition {
    /// The terms, each after its operands. Ids in a term are indices into this list, and symbols are numbers.
    pub terms: Box<[Expr]>,
    /// For each symbol, the width, the least value, and the domain.
    pub symbols: Box<[(u32, u64, Domain)]>,
}

impl NumberedCondition {
    fn holds(&self, values: &[Bv], scratch: &mut Vec<Bv>) -> bool {
        scratch.clear();
        for term in &self.terms {
            let value = match term {
                Expr::Sym(s) => values[s.0 as usize].clone(),
                _ => {
                    let mut operands = [&values[0]; 3];
                    let mut count = 0;
                    for child in term.children() {
                        operands[count] = &scratch[child.0 as usize];
                        count += 1;
                    }
                    term.apply(&operands[..count]).expect("no arrays here")
                }
            };
            scratch.push(value);
        }
        scratch.last().is_some_and(Bv::is_true)
    }

    fn value(&self, symbol: usize, k: u32) -> Bv {
        let (width, least, _) = self.symbols[symbol];
        Bv::new(width, least.wrapping_add(u64::from(k)))
    }
}

/// The filter of a constraint, by its number of symbols.
pub(super) enum Relation {
    One(Domain),
    /// For each value of the first symbol, the allowed values of the second.
    Two(Box<[Domain]>),
    /// For each pair of values of the first and second symbol, the allowed values of the third.
    Three {
        second: u32,
        table: Box<[Domain]>,
    },
    /// No table: combinations are enumerated if few are left.
    More(NumberedCondition),
}

impl Relation {
    /// The relation of a condition.
    pub fn compute(shape: &NumberedCondition) -> Self {
        let sizes: Vec<u32> = shape.symbols.iter().map(|s| Domain::BITS - s.2.leading_zeros()).collect();
        let counts = shape.symbols.iter().map(|s| u64::from(s.2.count_ones()));
        let combinations = counts.fold(1, u64::saturating_mul);
        if sizes.len() > 3 || combinations > TABLE {
            return Relation::More(shape.clone());
        }
        let (mut scratch, last) = (Vec::new(), sizes.len() - 1);
        let rows: u32 = sizes[..last].iter().product();
        let mut values: Vec<Bv> = (0..sizes.len()).map(|i| shape.value(i, 0)).collect();
        let mut row = |at: u32| -> Domain {
            let before = match last {
                0 => [0, 0],
                1 => [at, 0],
                _ => [at / sizes[1], at % sizes[1]],
            };
            for (i, &k) in before[..last].iter().enumerate() {
                if shape.symbols[i].2 >> k & 1 == 0 {
                    return 0;
                }
                values[i] = shape.value(i, k);
            }
            let mut allowed = 0;
            for k in bits(shape.symbols[last].2) {
                values[last] = shape.value(last, k);
                allowed |= Domain::from(shape.holds(&values, &mut scratch)) << k;
            }
            allowed
        };
        match last {
            0 => Relation::One(row(0)),
            1 => Relation::Two((0..rows).map(row).collect()),
            _ => Relation::Three { second: sizes[1], table: (0..rows).map(row).collect() },
        }
    }

    /// Returns true if the relation means exactly that two symbols with the same possible values differ.
    pub fn is_difference(&self, shape: &NumberedCondition) -> bool {
        let Relation::Two(table) = self else { return false };
        let [(width, least, first), (other, start, second)] = *shape.symbols else { return false };
        let differ = |k: u32| second & !(1 << k);
        (width, least) == (other, start) && bits(first).all(|k| table[k as usize] & second == differ(k))
    }

    /// Removes from the domains of `symbols` the values that no combination of the others allows. `None` if a domain
    /// becomes empty. Adds the steps to `work`.
    pub fn filter(
        &self,
        problem: &Problem,
        symbols: &[u32],
        domains: &mut [Domain],
        scratch: &mut Vec<Bv>,
        work: &mut u64,
    ) -> Option<()> {
        let domain = |i: usize| domains[symbols[i] as usize];
        match self {
            Relation::One(allowed) => {
                let left = domain(0) & allowed;
                domains[symbols[0] as usize] = left;
                (left != 0).then_some(())
            }
            Relation::Two(table) => {
                let (mut first, mut second, of_second) = (0, 0, domain(1));
                for a in bits(domain(0)) {
                    let supports = table[a as usize] & of_second;
                    first |= Domain::from(supports != 0) << a;
                    second |= supports;
                    *work += 1;
                }
                (domains[symbols[0] as usize], domains[symbols[1] as usize]) = (first, second);
                (first != 0).then_some(())
            }
            Relation::Three { second: width, table } => {
                let (mut first, mut second, mut third) = (0, 0, 0);
                let (of_second, of_third) = (domain(1), domain(2));
                for a in bits(domain(0)) {
                    let row = &table[(a * width) as usize..((a + 1) * width) as usize];
                    for b in bits(of_second) {
                        let supports = row[b as usize] & of_third;
                        if supports != 0 {
                            first |= 1 << a;
                            second |= 1 << b;
                            third |= supports;
                        }
                        *work += 1;
                    }
                }
                for (i, left) in [first, second, third].into_iter().enumerate() {
                    domains[symbols[i] as usize] = left;
                }
                (first != 0).then_some(())
            }
            Relation::More(shape) => {
                let sizes = symbols.iter().map(|&s| u64::from(domains[s as usize].count_ones()));
                let combinations = sizes.fold(1, u64::saturating_mul);
                if combinations > TRIED {
                    return Some(());
                }
                *work += combinations * shape.terms.len() as u64 * 8;
                let left = tried(shape, problem, symbols, domains, scratch);
                for (&symbol, &left) in symbols.iter().zip(&left) {
                    domains[symbol as usize] = left;
                }
                (left[0] != 0).then_some(())
            }
        }
    }
}

/// The values of each symbol that occur in a satisfying combination.
fn tried(
    shape: &NumberedCondition,
    problem: &Problem,
    symbols: &[u32],
    domains: &[Domain],
    scratch: &mut Vec<Bv>,
) -> Vec<Domain> {
    let of = |i: usize| -> &Symbol { &problem.symbols[symbols[i] as usize] };
    let mut at: Vec<Domain> = symbols.iter().map(|&s| domains[s as usize]).collect();
    let first = |rest: Domain| rest.trailing_zeros();
    let mut values: Vec<Bv> = at.iter().enumerate().map(|(i, &rest)| of(i).value(first(rest))).collect();
    let mut left = vec![0; symbols.len()];
    loop {
        if shape.holds(&values, scratch) {
            for (left, &rest) in left.iter_mut().zip(&at) {
                *left |= 1 << first(rest);
            }
        }
        // Advances to the next combination, like an odometer.
        let mut i = 0;
        loop {
            let Some(rest) = at.get_mut(i) else { return left };
            *rest &= *rest - 1;
            let wrapped = *rest == 0;
            if wrapped {
                *rest = domains[symbols[i] as usize];
            }
            values[i] = of(i).value(first(*rest));
            if !wrapped {
                break;
            }
            i += 1;
        }
    }
}

/// The indices of the ones, ascending.
pub(super) fn bits(mut domain: Domain) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (domain != 0).then(|| {
            let k = domain.trailing_zeros();
            domain &= domain - 1;
            k
        })
    })
}
