//! Runs of induction and of bounded model checking: with fewer and fewer candidate invariants until all that are left hold,
//! then with more candidates or more turns of loops. What a single run does is told in `cpa/unrolling`.

use crate::Config;
use crate::algorithm::Exploration;
use crate::algorithm::cpa::{CpaAlgorithm, Merge, Parameters};
use crate::budget::Budget;
use crate::cpa::symbolic::SymbolicExecution;
use crate::cpa::unrolling::{Assumptions, Effort, QUERY_TIME, Unrolling, observe};
use crate::cpa::{Cpa, Stop};
use crate::invariants::Invariants;
use crate::proof::Certificate;
use crate::reached::Forgotten;
use crate::verdict::Taints;
use cfa::Program;
use cfa::interp::Inputs;
use smt::PathSolver;
use std::time::Duration;

/// What is tried in turn: turns of a loop in a step of the induction, and how many candidates there are.
const PLANS: [(u32, Effort); 10] = [
    (1, Effort::Facts),
    (1, Effort::Few),
    (1, Effort::Terms),
    (1, Effort::Cells),
    (1, Effort::Powers),
    (1, Effort::Many),
    (2, Effort::Few),
    (1, Effort::Squares),
    (2, Effort::Many),
    (3, Effort::Few),
];
/// The same for one number of turns; cells of arrays are spoken of with one turn only.
const EFFORTS: [Effort; 4] = [Effort::Facts, Effort::Few, Effort::Cells, Effort::Many];
/// What of a turn the invariants by abstract interpretation may take.
const ABSTRACT_SHARE: u32 = 2;

type Unrolled<'p> = CpaAlgorithm<'p, Unrolling<'p>>;

/// Runs an exploration.
pub type Explore<'a, 'p> = dyn FnMut(&mut Unrolled<'p>, &Budget, &mut Taints) -> Result<Exploration<Inputs>, Stop> + 'a;

/// Why a program is safe, or why that cannot be told to a checker.
pub type Proof = Result<Certificate, String>;

/// Proofs by induction for one program.
pub struct Prover<'p> {
    program: &'p Program,
    invariants: Option<Invariants>,
    pending: Option<Pending>,
}

/// What is being tried.
struct Pending {
    /// Of the plan.
    number: usize,
    /// The candidates that are left.
    left: Assumptions,
}

impl<'p> Prover<'p> {
    pub fn new(program: &'p Program) -> Self {
        Self { program, invariants: None, pending: None }
    }

    /// Interprets the program abstractly, if that was not done, or took too long for the turns so far.
    fn interpret(&mut self, budget: &Budget) {
        if self.invariants.is_none() {
            let part = match budget.remaining() {
                Some(time) => budget.within(time / ABSTRACT_SHARE),
                None => budget.clone(),
            };
            self.invariants = Invariants::new(self.program, &part);
        }
    }

    /// What abstract interpretation knows of the program, unless it took too long.
    pub fn invariants(&self) -> Option<&Invariants> {
        self.invariants.as_ref()
    }

    /// Whether time cut the last call short.
    pub fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// A proof that the program is safe by invariants that are inductive, for some number of turns. `plain` is an exploration
    /// whose samples suggest candidates. Where the budget ends a call, the next goes on.
    pub fn prove(
        &mut self,
        plain: &mut SymbolicExecution<'p>,
        config: &Config,
        budget: &Budget,
        explore: &mut Explore<'_, 'p>,
    ) -> Option<Proof> {
        self.interpret(budget);
        if let Some(proof) = self.by_facts(plain) {
            return Some(proof);
        }
        if self.pending.is_none() {
            observe(self.program, &mut plain.loops, config.seed);
        }
        let mut pending = self.pending.take().unwrap_or_else(|| self.plan(plain, 0, None));
        loop {
            if budget.spent().is_some() {
                self.pending = Some(pending);
                return None;
            }
            let Tried { result, taints, tried, cut_short } =
                run(self.program, plain, pending.left, config, budget, explore);
            match result {
                Ok(Exploration::Complete) if taints.is_empty() && !tried.changed => {
                    return Some(tried.certificate(&plain.loops));
                }
                // What time cut short says nothing.
                _ if cut_short || budget.spent().is_some() => {
                    pending.left = tried.again();
                    self.pending = Some(pending);
                    return None;
                }
                Ok(Exploration::Complete) if tried.changed => pending.left = tried.again(),
                // A violation under assumptions remains one under fewer, and so does what cannot be followed.
                Ok(Exploration::Target { .. } | Exploration::Complete) => {
                    let fits = |&(_, effort): &(u32, Effort)| effort != Effort::Cells || plain.loops.have_rows();
                    let next = PLANS.iter().skip(pending.number + 1).position(fits)?;
                    let next = pending.number + 1 + next;
                    pending = self.plan(plain, next, Some(&tried.unsettled()));
                }
                Err(_) => return None,
            }
        }
    }

    /// A proof by abstract interpretation alone.
    fn by_facts(&self, plain: &SymbolicExecution<'p>) -> Option<Proof> {
        let invariants = self.invariants.as_ref().filter(|i| i.prove(self.program))?;
        Some(
            Assumptions::guess(self.program, &plain.loops, Some(invariants), Effort::Facts, None)
                .certificate(&plain.loops),
        )
    }

    fn plan(&self, plain: &SymbolicExecution<'p>, number: usize, known: Option<&Assumptions>) -> Pending {
        let (turns, effort) = PLANS[number];
        let left = Assumptions::guess(self.program, &plain.loops, self.invariants.as_ref(), effort, known);
        Pending { number, left: left.with_turns(turns) }
    }
}

/// What became of a run.
struct Tried {
    result: Result<Exploration<Inputs>, Stop>,
    taints: Taints,
    /// The assumptions.
    tried: Assumptions,
    /// Too little time was left for a query.
    cut_short: bool,
}

/// One run.
fn run<'p>(
    program: &'p Program,
    plain: &SymbolicExecution<'p>,
    assumptions: Assumptions,
    config: &Config,
    budget: &Budget,
    explore: &mut Explore<'_, 'p>,
) -> Tried {
    let mut explorer = explorer(program, plain, assumptions, config, budget);
    let mut taints = Taints::default();
    let result = explore(&mut explorer, budget, &mut taints);
    taints.merge(&explorer.cpa.symbolic.taints);
    let cut_short = explorer.cpa.ran_out();
    let tried = explorer.cpa.into_assumptions();
    Tried { result, taints, tried, cut_short }
}

fn explorer<'p>(
    program: &'p Program,
    plain: &SymbolicExecution<'p>,
    assumptions: Assumptions,
    config: &Config,
    budget: &Budget,
) -> Unrolled<'p> {
    let mut solver = PathSolver::new(config.solvers.open(), budget.clone());
    solver.set_query_time(Some(QUERY_TIME));
    let (search, seed, max_call_depth) = (config.search, config.seed, config.max_call_depth);
    let parameters = Parameters { heads: plain.heads(), merge: Merge::AtHeads, search, seed, max_call_depth };
    CpaAlgorithm::new(program, Unrolling::new(plain, solver, assumptions), Forgotten, parameters)
}

/// Bounded model checking, and with it k-induction: for growing numbers of turns, first all executions with so many turns
/// of each loop and nested calls of each function, then the step.
pub struct Bounded<'p> {
    program: &'p Program,
    config: Config,
    pub plain: SymbolicExecution<'p>,
    /// For k-induction.
    prover: Option<Prover<'p>>,
    turns: u32,
    /// What is left of the executions with so many turns.
    base: Option<Unrolled<'p>>,
    /// What steps have shown.
    known: Option<Assumptions>,
    observed: bool,
    /// Of the answer "complete", if it does not come from seeing all executions.
    pub proof: Option<Proof>,
}

impl<'p> Bounded<'p> {
    /// With `prover`, k-induction.
    pub fn new(
        program: &'p Program,
        config: &Config,
        plain: SymbolicExecution<'p>,
        prover: Option<Prover<'p>>,
    ) -> Self {
        Self {
            program,
            config: config.clone(),
            plain,
            prover,
            turns: 1,
            base: None,
            known: None,
            observed: false,
            proof: None,
        }
    }

    /// Turns of loops that are looked at now.
    pub fn turns(&self) -> u32 {
        self.turns
    }

    /// Goes on until there is an answer, or the budget is spent, or a query about an error takes longer than `query_time`.
    /// `taints` are those of the answer "complete".
    pub fn run(
        &mut self,
        budget: &Budget,
        query_time: Duration,
        taints: &mut Taints,
        explore: &mut Explore<'_, 'p>,
    ) -> Result<Exploration<Inputs>, Stop> {
        if let Some(prover) = &mut self.prover {
            prover.interpret(budget);
            if let Some(proof) = prover.by_facts(&self.plain) {
                self.proof = Some(proof);
                return Ok(Exploration::Complete);
            }
        }
        loop {
            if let Some(spent) = budget.spent() {
                return Err(Stop::Spent(spent));
            }
            if self.turns > 1 << 24 {
                return Err(Stop::Fatal(crate::Reason::new("loops have too many turns")));
            }
            let mut base = self.base.take().unwrap_or_else(|| {
                let bounded = Assumptions::bounded(self.program, &self.plain.loops, self.turns);
                explorer(self.program, &self.plain, bounded, &self.config, budget)
            });
            base.cpa.symbolic.solver().set_budget(budget.clone());
            base.cpa.symbolic.solver().set_query_time(Some(query_time));
            let mut of_base = Taints::default();
            let result = explore(&mut base, budget, &mut of_base);
            if !matches!(result, Ok(Exploration::Complete)) {
                self.base = Some(base);
                return result;
            }
            of_base.merge(&base.cpa.symbolic.taints);
            let cut = base.cpa.assumptions().cut;
            if !cut {
                taints.merge(&of_base);
                return Ok(Exploration::Complete);
            }
            if self.prover.is_some() {
                if self.step(budget, explore) {
                    return Ok(Exploration::Complete);
                }
                if let Some(spent) = budget.spent() {
                    // The executions with so many turns are known.
                    self.base = Some(base);
                    return Err(Stop::Spent(spent));
                }
                self.turns += 1;
            } else {
                self.turns *= 2;
            }
        }
    }

    /// Whether the step succeeds with so many turns.
    fn step(&mut self, budget: &Budget, explore: &mut Explore<'_, 'p>) -> bool {
        if !std::mem::replace(&mut self.observed, true) {
            observe(self.program, &mut self.plain.loops, self.config.seed);
        }
        let invariants = self.prover.as_ref().and_then(|p| p.invariants.as_ref());
        for effort in EFFORTS {
            if effort == Effort::Cells && !(self.turns == 1 && self.plain.loops.have_rows()) {
                continue;
            }
            let mut left = Assumptions::guess(self.program, &self.plain.loops, invariants, effort, self.known.as_ref())
                .with_turns(self.turns);
            left.past_errors = true;
            loop {
                let Tried { result, taints, tried, cut_short } =
                    run(self.program, &self.plain, left, &self.config, budget, explore);
                let complete = matches!(result, Ok(Exploration::Complete)) && taints.is_empty();
                if cut_short || budget.spent().is_some() || !complete {
                    self.known = Some(tried.unsettled());
                    if complete {
                        return false;
                    }
                    break;
                }
                if !tried.changed {
                    if !tried.violated {
                        self.proof = Some(tried.certificate(&self.plain.loops));
                        return true;
                    }
                    self.known = Some(tried.settled());
                    break;
                }
                left = tried.again();
            }
        }
        false
    }
}
