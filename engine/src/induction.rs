//! Runs of induction: with fewer and fewer candidate invariants until all that are left hold, then with more turns of
//! loops. What a single run does is told in `cpa/symbolic/induction`.

use crate::Config;
use crate::budget::Budget;
use crate::cpa::Stop;
use crate::cpa::symbolic::{Effort, Induction, QUERY_TIME, SymbolicExecution};
use crate::explore::{Exploration, Explorer};
use crate::invariants::Invariants;
use crate::solver::{Bitwuzla, PathSolver};
use crate::verdict::Taints;
use crate::waitlist::Search;
use cfa::Program;
use cfa::interp::Inputs;

/// What is tried in turn: turns of a loop in a step of the induction, and how many candidates there are.
const PLANS: [(u32, Effort); 7] = [
    (1, Effort::Facts),
    (1, Effort::Few),
    (1, Effort::Many),
    (2, Effort::Few),
    (1, Effort::Squares),
    (2, Effort::Many),
    (3, Effort::Few),
];
/// What of the budget the invariants by abstract interpretation may take.
const ABSTRACT_SHARE: u32 = 4;

/// Runs an exploration.
pub type Explore<'a, 'p> =
    dyn FnMut(&mut Explorer<'p, SymbolicExecution<'p>>, &Budget, &mut Taints) -> Result<Exploration<Inputs>, Stop> + 'a;

/// Proofs by induction for one program.
pub struct Prover<'p> {
    program: &'p Program,
    invariants: Option<Invariants>,
    pending: Option<Pending>,
}

/// What is being tried.
struct Pending {
    /// Of the plan.
    number: u32,
    /// The candidates that are left.
    left: Induction,
}

impl<'p> Prover<'p> {
    /// `budget` is for all that is to come.
    pub fn new(program: &'p Program, budget: &Budget) -> Self {
        let part = match budget.remaining() {
            Some(time) => budget.within(time / ABSTRACT_SHARE),
            None => budget.clone(),
        };
        Self { program, invariants: Invariants::new(program, &part), pending: None }
    }

    /// What abstract interpretation knows of the program, unless it took too long.
    pub fn invariants(&self) -> Option<&Invariants> {
        self.invariants.as_ref()
    }

    /// Whether the program is safe by invariants that are inductive, for some number of turns. `plain` is an exploration whose
    /// samples suggest candidates. Where the budget ends a call, the next goes on.
    pub fn prove(
        &mut self,
        plain: &mut SymbolicExecution<'p>,
        config: &Config,
        budget: &Budget,
        explore: &mut Explore<'_, 'p>,
    ) -> bool {
        if self.invariants.as_ref().is_some_and(|i| i.prove(self.program)) {
            return true;
        }
        if self.pending.is_none() {
            plain.observe(config.seed);
        }
        let mut pending = self.pending.take().unwrap_or_else(|| self.plan(plain, 0));
        loop {
            if budget.spent().is_some() {
                self.pending = Some(pending);
                return false;
            }
            let (result, taints, tried) = self.run(plain, pending.left, config, budget, explore);
            match result {
                Ok(Exploration::Complete) if taints.is_empty() && !tried.changed => return true,
                // What time cut short says nothing.
                _ if budget.spent().is_some() => pending.left = tried.again(),
                // A violation under assumptions remains one under fewer.
                Ok(Exploration::Target { .. }) => {
                    let next = pending.number + 1;
                    if next as usize == PLANS.len() {
                        return false;
                    }
                    pending = self.plan(plain, next);
                    pending.left = tried.deeper(pending.left);
                }
                Ok(Exploration::Complete) if taints.is_empty() => pending.left = tried.again(),
                Ok(Exploration::Complete) | Err(_) => return false,
            }
        }
    }

    fn plan(&self, plain: &SymbolicExecution<'p>, number: u32) -> Pending {
        let (turns, effort) = PLANS[number as usize];
        Pending { number, left: plain.guess_invariants(self.invariants.as_ref(), effort).with_turns(turns) }
    }

    /// One run, with what became of the assumptions.
    fn run(
        &self,
        plain: &SymbolicExecution<'p>,
        induction: Induction,
        config: &Config,
        budget: &Budget,
        explore: &mut Explore<'_, 'p>,
    ) -> (Result<Exploration<Inputs>, Stop>, Taints, Induction) {
        let mut solver = PathSolver::new(Box::new(Bitwuzla::new()), budget.clone());
        solver.set_query_time(Some(QUERY_TIME));
        let symbolic = plain.for_induction(solver, induction);
        let heads = symbolic.heads();
        let mut explorer =
            Explorer::new(self.program, symbolic, heads, Search::Merging, config.seed, config.max_call_depth);
        let mut taints = Taints::default();
        let result = explore(&mut explorer, budget, &mut taints);
        taints.merge(&explorer.cpa.taints);
        let tried = explorer.cpa.induction.take().expect("an inductive run");
        (result, taints, tried)
    }
}
