//! Constraints that symbols are pairwise different, with Régin's filtering by matchings.

use super::Domain;
use super::relation::bits;
use rustc_hash::FxHashSet;

/// Sets of pairwise different symbols that cover all pairs. No returned set is a subset of another.
pub(super) fn cliques(symbols: usize, pairs: &[(u32, u32)]) -> Vec<Vec<u32>> {
    let mut neighbours: Vec<FxHashSet<u32>> = vec![FxHashSet::default(); symbols];
    for &(a, b) in pairs {
        neighbours[a as usize].insert(b);
        neighbours[b as usize].insert(a);
    }
    let mut covered: FxHashSet<(u32, u32)> = FxHashSet::default();
    let mut found = Vec::new();
    for &(a, b) in pairs {
        if covered.contains(&(a.min(b), a.max(b))) {
            continue;
        }
        // Grows the clique by the candidate with the most neighbours among the remaining candidates.
        let mut clique = vec![a, b];
        let mut candidates: Vec<u32> = neighbours[a as usize].intersection(&neighbours[b as usize]).copied().collect();
        candidates.sort_unstable();
        while !candidates.is_empty() {
            let shared = |c: u32| candidates.iter().filter(|d| neighbours[c as usize].contains(d)).count();
            let best = *candidates.iter().max_by_key(|c| (shared(**c), std::cmp::Reverse(**c))).expect("not empty");
            clique.push(best);
            candidates.retain(|c| neighbours[best as usize].contains(c));
        }
        for (i, &a) in clique.iter().enumerate() {
            covered.extend(clique[i + 1..].iter().map(|&b| (a.min(b), a.max(b))));
        }
        if clique.len() > 2 {
            clique.sort_unstable();
            found.push(clique);
        }
    }
    found
}

/// The number of values of a domain.
const VALUES: usize = Domain::BITS as usize;
/// In place of a symbol or a value: not assigned.
const FREE: u32 = u32::MAX;

/// Scratch memory of the filter, reused between calls.
#[derive(Default)]
pub(super) struct Scratch {
    /// By symbol, its value in the matching; by value, its symbol.
    value: Vec<u32>,
    symbol: Vec<u32>,
    visited: Domain,
    /// The state of Tarjan's algorithm, by symbol.
    index: Vec<u32>,
    low: Vec<u32>,
    component: Vec<u32>,
    stack: Vec<u32>,
    counter: u32,
    components: u32,
}

/// Removes from the domains of `symbols` the values that occur in no assignment of pairwise different values. `None` if
/// there is no such assignment.
pub(super) fn filter(symbols: &[u32], domains: &mut [Domain], scratch: &mut Scratch, work: &mut u64) -> Option<()> {
    let n = symbols.len();
    let domain = |i: usize, domains: &[Domain]| domains[symbols[i] as usize];
    scratch.value.clear();
    scratch.value.resize(n, FREE);
    scratch.symbol.clear();
    scratch.symbol.resize(VALUES, FREE);
    *work += n as u64;
    for i in 0..n {
        // Usually, some value of the domain is free.
        let of = domain(i, domains);
        match bits(of).find(|&k| scratch.symbol[k as usize] == FREE) {
            Some(k) => scratch.assign(i as u32, k),
            None => {
                scratch.visited = 0;
                if !scratch.augment(i as u32, symbols, domains, work) {
                    return None;
                }
            }
        }
    }
    // A symbol can take a value if an alternating cycle, or an even alternating path from a free value, contains both.
    // The graph has an edge from each symbol to the owners of the values in its domain.
    let taken = scratch.value.iter().fold(0, |taken: Domain, &k| taken | 1 << k);
    let free = (0..n).fold(0, |all: Domain, i| all | domain(i, domains)) & !taken;
    let reachable = scratch.handed_on(free, symbols, domains);
    scratch.find_components(symbols, domains, work);
    for i in 0..n {
        let of = domain(i, domains);
        let own = scratch.value[i];
        let mut left = of & (free | 1 << own);
        for k in bits(of & taken & !(1 << own)) {
            let other = scratch.symbol[k as usize] as usize;
            if reachable >> k & 1 == 1 || scratch.component[i] == scratch.component[other] {
                left |= 1 << k;
            }
        }
        domains[symbols[i] as usize] = left;
    }
    Some(())
}

impl Scratch {
    fn assign(&mut self, symbol: u32, k: u32) {
        self.value[symbol as usize] = k;
        self.symbol[k as usize] = symbol;
    }

    /// Finds a value for a symbol; other symbols may change theirs (an augmenting path).
    fn augment(&mut self, i: u32, symbols: &[u32], domains: &[Domain], work: &mut u64) -> bool {
        let of = domains[symbols[i as usize] as usize];
        if let Some(k) = bits(of & !self.visited).find(|&k| self.symbol[k as usize] == FREE) {
            self.assign(i, k);
            return true;
        }
        loop {
            let rest = of & !self.visited;
            if rest == 0 {
                return false;
            }
            *work += 1;
            let k = rest.trailing_zeros();
            self.visited |= 1 << k;
            if self.augment(self.symbol[k as usize], symbols, domains, work) {
                self.assign(i, k);
                return true;
            }
        }
    }

    /// The values that can become free: a symbol can give up its value if it can take a free one, and so on.
    fn handed_on(&self, free: Domain, symbols: &[u32], domains: &[Domain]) -> Domain {
        let mut reached = free;
        loop {
            let before = reached;
            for (i, &symbol) in symbols.iter().enumerate() {
                if domains[symbol as usize] & reached != 0 {
                    reached |= 1 << self.value[i];
                }
            }
            if reached == before {
                return reached;
            }
        }
    }

    fn find_components(&mut self, symbols: &[u32], domains: &[Domain], work: &mut u64) {
        for list in [&mut self.index, &mut self.low, &mut self.component] {
            list.clear();
            list.resize(symbols.len(), FREE);
        }
        (self.counter, self.components) = (0, 0);
        self.stack.clear();
        for i in 0..symbols.len() as u32 {
            if self.index[i as usize] == FREE {
                self.visit(i, symbols, domains, work);
            }
        }
    }

    /// Tarjan's algorithm. The recursion depth is at most the number of values.
    fn visit(&mut self, i: u32, symbols: &[u32], domains: &[Domain], work: &mut u64) {
        let at = i as usize;
        self.index[at] = self.counter;
        self.low[at] = self.counter;
        self.counter += 1;
        self.stack.push(i);
        for k in bits(domains[symbols[at] as usize]) {
            *work += 1;
            let next = self.symbol[k as usize];
            if next == FREE {
                continue;
            }
            if self.index[next as usize] == FREE {
                self.visit(next, symbols, domains, work);
                self.low[at] = self.low[at].min(self.low[next as usize]);
            } else if self.component[next as usize] == FREE {
                self.low[at] = self.low[at].min(self.index[next as usize]);
            }
        }
        if self.low[at] == self.index[at] {
            loop {
                let member = self.stack.pop().expect("itself at least");
                self.component[member as usize] = self.components;
                if member == i {
                    break;
                }
            }
            self.components += 1;
        }
    }
}
