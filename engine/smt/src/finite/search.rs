//! Propagation and search.

use super::different;
use super::relation::bits;
use super::{Domain, Problem};
use crate::budget::Budget;
use cfa::Bv;
use std::collections::VecDeque;

/// The result of a search.
pub(super) enum Outcome {
    /// A solution, as the bit of each symbol's value.
    Solution(Vec<u32>),
    /// The problem has no solution.
    Contradiction,
    /// The search ended without a result.
    Unknown,
}

/// The number of failures before the first restart, and the growth of that number per restart in percent.
const FAILURES: u64 = 50;
const GROWTH: u64 = 120;

/// The maximal number of steps for removing values before the search.
const SHAVING: u64 = 1_000_000_000;

/// The state of a search.
pub(super) struct Search<'p> {
    problem: &'p Problem,
    budget: &'p Budget,
    work: u64,
    limit: u64,
    domains: Vec<Domain>,
    /// By symbol, the constraints that contain it: the constraints of the problem, then the sets of different symbols.
    watchers: Vec<Vec<u32>>,
    /// The queued constraints. Constraints over sets are in `later`.
    queue: VecDeque<u32>,
    later: VecDeque<u32>,
    queued: Vec<bool>,
    /// By symbol, the number of times that propagation failed at its constraints.
    weights: Vec<u64>,
    /// Scratch memory of filters, and the domains of a constraint before filtering.
    values: Vec<Bv>,
    before: Vec<Domain>,
    different: different::Scratch,
    random: u64,
}

/// A decision of the search: the symbol, the value, and the domains before it.
struct Level {
    symbol: u32,
    k: u32,
    before: Vec<Domain>,
}

impl<'p> Search<'p> {
    /// A search with at most `limit` steps.
    pub fn new(problem: &'p Problem, limit: u64, budget: &'p Budget) -> Self {
        let mut watchers = vec![Vec::new(); problem.symbols.len()];
        let members = problem.constraints.iter().map(|c| &c.symbols[..]);
        for (at, symbols) in members.chain(problem.different.iter().map(Vec::as_slice)).enumerate() {
            for &symbol in symbols {
                watchers[symbol as usize].push(at as u32);
            }
        }
        Self {
            problem,
            budget,
            work: 0,
            limit,
            domains: problem.symbols.iter().map(|s| s.domain).collect(),
            watchers,
            queue: VecDeque::new(),
            later: VecDeque::new(),
            queued: vec![false; problem.constraints.len() + problem.different.len()],
            weights: vec![1; problem.symbols.len()],
            values: Vec::new(),
            before: Vec::new(),
            different: different::Scratch::default(),
            random: 0x9E37_79B9_7F4A_7C15,
        }
    }

    /// Propagates, removes values, and searches.
    pub fn run(mut self) -> Outcome {
        if self.domains.contains(&0) {
            return Outcome::Contradiction;
        }
        (0..self.queued.len() as u32).for_each(|at| self.enqueue(at));
        if self.propagate().is_none() {
            return Outcome::Contradiction;
        }
        let root = self.domains.clone();
        match self.descend(FAILURES, true) {
            Outcome::Unknown => self.domains = root,
            outcome => return outcome,
        }
        if self.shave().is_none() {
            return Outcome::Contradiction;
        }
        let root = self.domains.clone();
        let mut failures = FAILURES;
        loop {
            match self.descend(failures, false) {
                Outcome::Unknown if !self.is_spent() => {}
                outcome => return outcome,
            }
            self.domains.clone_from(&root);
            failures += failures * GROWTH / 100;
        }
    }

    fn is_spent(&self) -> bool {
        self.work >= self.limit || self.budget.spent().is_some()
    }

    /// Removes the values for which propagation fails. `None` if a domain becomes empty.
    fn shave(&mut self) -> Option<()> {
        let mut changed = true;
        while changed {
            changed = false;
            for symbol in 0..self.domains.len() {
                if self.domains[symbol].count_ones() < 2 {
                    continue;
                }
                for k in bits(self.domains[symbol]) {
                    if self.work >= SHAVING.min(self.limit) || self.budget.spent().is_some() {
                        return Some(());
                    }
                    let before = self.domains.clone();
                    let holds = self.set(symbol as u32, 1 << k).is_some();
                    self.domains = before;
                    if !holds {
                        self.set(symbol as u32, self.domains[symbol] & !(1 << k))?;
                        changed = true;
                        if self.domains[symbol].count_ones() < 2 {
                            break;
                        }
                    }
                }
            }
        }
        Some(())
    }

    /// Depth-first search, until `failures` decisions have failed.
    fn descend(&mut self, mut failures: u64, first: bool) -> Outcome {
        let mut levels: Vec<Level> = Vec::new();
        loop {
            if self.is_spent() {
                return Outcome::Unknown;
            }
            let Some(symbol) = self.next_symbol() else {
                return Outcome::Solution(self.domains.iter().map(|d| d.trailing_zeros()).collect());
            };
            let domain = self.domains[symbol as usize];
            let k = match first {
                true => domain.trailing_zeros(),
                false => self.any(domain),
            };
            levels.push(Level { symbol, k, before: self.domains.clone() });
            let mut done = self.set(symbol, 1 << k);
            while done.is_none() {
                failures = failures.saturating_sub(1);
                let Some(level) = levels.pop() else { return Outcome::Contradiction };
                self.domains = level.before;
                done = self.set(level.symbol, self.domains[level.symbol as usize] & !(1 << level.k));
                if self.is_spent() {
                    return Outcome::Unknown;
                }
            }
            if failures == 0 {
                return Outcome::Unknown;
            }
        }
    }

    /// The undecided symbol with the smallest ratio of values to failures.
    fn next_symbol(&self) -> Option<u32> {
        let open = (0..self.domains.len()).filter(|&s| self.domains[s].count_ones() > 1);
        let size = |s: usize| u64::from(self.domains[s].count_ones());
        open.min_by(|&a, &b| (size(a) * self.weights[b]).cmp(&(size(b) * self.weights[a]))).map(|s| s as u32)
    }

    fn any(&mut self, domain: Domain) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let at = self.random % u64::from(domain.count_ones());
        bits(domain).nth(at as usize).expect("so many")
    }

    /// Sets a domain and propagates. `None` if a domain becomes empty.
    fn set(&mut self, symbol: u32, domain: Domain) -> Option<()> {
        if domain == 0 {
            return None;
        }
        self.domains[symbol as usize] = domain;
        for i in 0..self.watchers[symbol as usize].len() {
            self.enqueue(self.watchers[symbol as usize][i]);
        }
        self.propagate()
    }

    fn enqueue(&mut self, at: u32) {
        if !std::mem::replace(&mut self.queued[at as usize], true) {
            let early = (at as usize) < self.problem.constraints.len();
            if early { &mut self.queue } else { &mut self.later }.push_back(at);
        }
    }

    fn propagate(&mut self) -> Option<()> {
        let problem = self.problem;
        while let Some(at) = self.queue.pop_front().or_else(|| self.later.pop_front()) {
            self.queued[at as usize] = false;
            self.work += 4;
            let constraint = problem.constraints.get(at as usize);
            let symbols = match constraint {
                Some(constraint) => &constraint.symbols[..],
                None => &problem.different[at as usize - problem.constraints.len()][..],
            };
            self.before.clear();
            self.before.extend(symbols.iter().map(|&s| self.domains[s as usize]));
            let done = match constraint {
                Some(c) => {
                    let relation = &problem.relations[c.relation as usize];
                    relation.filter(problem, symbols, &mut self.domains, &mut self.values, &mut self.work)
                }
                None => different::filter(symbols, &mut self.domains, &mut self.different, &mut self.work),
            };
            if done.is_none() {
                for &symbol in symbols {
                    self.weights[symbol as usize] += 1;
                }
                for at in self.queue.drain(..).chain(self.later.drain(..)) {
                    self.queued[at as usize] = false;
                }
                return None;
            }
            for (i, &symbol) in symbols.iter().enumerate() {
                if self.domains[symbol as usize] != self.before[i] {
                    for i in 0..self.watchers[symbol as usize].len() {
                        let other = self.watchers[symbol as usize][i];
                        if other != at {
                            self.enqueue(other);
                        }
                    }
                }
            }
        }
        Some(())
    }
}
