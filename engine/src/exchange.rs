//! Exchange of facts between analyses, also across threads.
//!
//! An analysis publishes facts at the end of its time slice and takes the facts of others at the start of its next one.
//! The exchange is anonymous and untrusted. A precision only affects the effort of an analysis, each state decides its
//! predicates anew, and invariant candidates are proved before use. Facts that hold only under an assumption (no error
//! was met before, or a loop runs at most so many times) are therefore harmless where the assumption does not hold.
//!
//! Published facts are independent of analyses: they use the ids of the shared program and a separate expression pool.

use crate::analysis::Cpa;
use crate::analysis::composite::Product;
use crate::composition::Analysis;
use crate::domain::condition::Conditional;
use crate::domain::slicing::Slicing;
use crate::domain::symbolic::{Loops, SymbolicExecution};
use crate::domain::tracking::Tracking;
use crate::domain::value::Item;
use crate::invariant::LocationInvariants;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A handle to the published facts.
#[derive(Clone, Default)]
pub struct Exchange {
    published: Arc<Mutex<Published>>,
    /// True if analyses on other threads have a handle.
    shared: bool,
    /// True if an analysis also receives the facts that it published itself.
    gives_back: bool,
}

/// Everything that was published.
#[derive(Default)]
struct Published {
    /// The precisions that refinements found, by analysis.
    precisions: FxHashMap<Analysis, Vec<Item>>,
    /// Values observed at loop heads, and conditions that may be invariants.
    observed: Option<Loops>,
    invariants: LocationInvariants,
}

impl Exchange {
    /// Creates an exchange for analyses on several threads.
    pub fn shared() -> Self {
        Self { shared: true, ..Self::default() }
    }

    /// True if another thread may publish at any time.
    pub fn is_shared(&self) -> bool {
        self.shared
    }

    /// The same exchange, which also returns facts to the analysis that published them.
    pub fn for_all(self) -> Self {
        Self { gives_back: true, ..self }
    }

    /// Locks the facts. A panic of a publishing thread is no problem, since readers verify all facts.
    fn published(&self) -> MutexGuard<'_, Published> {
        self.published.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes the values observed at loop heads.
    pub fn publish_values(&self, loops: &Loops) {
        let observed = &mut self.published().observed;
        match observed {
            Some(observed) => observed.join(loops),
            None => *observed = Some(loops.clone()),
        }
    }

    /// Publishes the precision of `analysis`: values and constraints for others to track, and predicates as invariant
    /// candidates.
    pub fn publish_precision(&self, analysis: Analysis, cpa: &Tracking<'_>) {
        let mut published = self.published();
        published.precisions.insert(analysis, cpa.value.precision().items());
        if let Some(observed) = &mut published.observed {
            cpa.predicate.suggest_invariants(&cpa.symbolic.execution.terms, observed);
        }
    }

    /// Publishes proved invariants.
    pub fn publish_invariants(&self, invariants: &LocationInvariants) {
        self.published().invariants.join(invariants);
    }

    /// Extends the precision of `analysis` by the published items of other analyses. A domain with predicates also
    /// tracks the invariants at their locations.
    pub fn take_precision(&self, analysis: Analysis, cpa: &mut Tracking<'_>) {
        let published = self.published();
        for (_, items) in published.precisions.iter().filter(|(by, _)| self.gives_back || **by != analysis) {
            cpa.value.precision_mut().add_everywhere(items.iter().copied());
        }
        if cpa.tracks_predicates() {
            cpa.predicate.add_invariants(&mut cpa.symbolic.execution, &published.invariants);
        }
    }

    /// Adds published values and conditions to the invariant candidates in `loops`.
    pub fn take_observations(&self, loops: &mut Loops) {
        let published = self.published();
        if let Some(observed) = &published.observed {
            loops.join(observed);
        }
        let LocationInvariants { pool, at } = &published.invariants;
        loops.suggest(pool, at.values().flatten().copied());
    }
}

/// A domain that learns from other analyses. A wrapper forwards to the inner CPA.
pub trait Learner {
    /// Publishes the facts that the domain learned while `analysis` ran on it.
    fn publish(&self, analysis: Analysis, exchange: &Exchange);
    /// Takes published facts of others.
    fn import(&mut self, analysis: Analysis, exchange: &Exchange);
}

impl Learner for SymbolicExecution<'_> {
    fn publish(&self, _: Analysis, exchange: &Exchange) {
        exchange.publish_values(&self.loops);
    }
    fn import(&mut self, _: Analysis, _: &Exchange) {}
}

impl Learner for Tracking<'_> {
    fn publish(&self, analysis: Analysis, exchange: &Exchange) {
        exchange.publish_values(&self.symbolic.loops);
        exchange.publish_precision(analysis, self);
    }
    fn import(&mut self, analysis: Analysis, exchange: &Exchange) {
        exchange.take_precision(analysis, self);
    }
}

impl<C: Cpa + Learner> Learner for Conditional<C> {
    fn publish(&self, analysis: Analysis, exchange: &Exchange) {
        self.inner.publish(analysis, exchange);
    }
    fn import(&mut self, analysis: Analysis, exchange: &Exchange) {
        self.inner.import(analysis, exchange);
    }
}

impl<C: Learner> Learner for Slicing<'_, C> {
    fn publish(&self, analysis: Analysis, exchange: &Exchange) {
        self.inner.publish(analysis, exchange);
    }
    fn import(&mut self, analysis: Analysis, exchange: &Exchange) {
        self.inner.import(analysis, exchange);
    }
}

impl<A: Cpa + Learner, B: Cpa> Learner for Product<A, B> {
    fn publish(&self, analysis: Analysis, exchange: &Exchange) {
        self.first.publish(analysis, exchange);
    }
    fn import(&mut self, analysis: Analysis, exchange: &Exchange) {
        self.first.import(analysis, exchange);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::bmc::Bmc;
    use crate::algorithm::houdini::Houdini;
    use crate::algorithm::{Algorithm, Ending, Setting, Share};
    use crate::config::Config;
    use crate::domain::symbolic::SymbolicExecution;
    use crate::domain::tracking::Options;
    use crate::domain::value::Sharing;
    use cfa::ExprId;
    use cfa::{Bv, Evaluator, Expr, Program, Value, VarId};
    use smt::PathSolver;
    use smt::budget::Budget;
    use std::time::Duration;

    /// `while (nondet()) { if (x == 5) error; x += 1; y += 2; }`: the error is reachable, and `y == 2 * x` holds at the
    /// loop head.
    const PROGRAM: &str = "program 64 entry f0
type ty0 void
type ty1 int \"int\" 32 signed
input in0 nondet \"n\" ty1 32
error err0 \"unreach-call\" \"m\"

func f0 \"main\" source ty0 () entry l0 {
  local v0 \"x\" ty1 32
  local v1 \"y\" ty1 32
  local v2 \"n\" ty1 32
  l0:
    t0: v0 := 0:32 -> l1
  l1:
    t1: v1 := 0:32 -> l2
  l2:
    t2: v2 := havoc in0 -> l3
  l3:
    t3: if (v2 == 0:32) -> l7
    t4: else ~(v2 == 0:32) -> l4
  l4:
    t5: if (v0 == 5:32) -> l8
    t6: else ~(v0 == 5:32) -> l5
  l5:
    t7: v0 := (v0 + 1:32) -> l6
  l6:
    t8: v1 := (v1 + 2:32) -> l2
  l7:
    t9: return -> l9
  l8:
    t10: error err0 -> l9
  l9:
}
";

    fn symbolic<'p>(program: &'p Program, config: &Config) -> SymbolicExecution<'p> {
        let solver = PathSolver::new(config.solvers.open(), Budget::unlimited());
        SymbolicExecution::new(program, solver, config.solvers.clone())
    }

    fn predicates<'p>(program: &'p Program, config: &Config, predicates: bool) -> Tracking<'p> {
        let how = Options {
            values_only: false,
            full: false,
            numbers: false,
            sharing: Sharing::Scope,
            threshold: 0,
            values: true,
            predicates,
            boolean: true,
            folds: false,
        };
        Tracking::new(symbolic(program, config), how)
    }

    #[test]
    fn what_one_thread_shows_and_sees_others_take() {
        let program = cfa::text::parse(PROGRAM).unwrap_or_else(|e| panic!("{e:?}"));
        let (config, exchange) = (Config::default(), Exchange::shared());
        let prover = || {
            let budget = Budget::lasting(Duration::from_secs(60));
            let (program, simplified, accelerated) = (&program, &program, None);
            let setting = Setting { program, simplified, accelerated, config: &config, budget: &budget };
            let mut houdini = Houdini::new(setting, symbolic(program, &config));
            let query_time = config.query_time;
            let ending = houdini.run(&mut Share { budget: &budget, query_time, progress: &mut |_, _| {} });
            assert!(matches!(ending, Ending::NoProof), "{}", ending.name());
            houdini.publish(&exchange);
        };
        std::thread::scope(|scope| scope.spawn(prover).join().expect("no panic"));
        let shown = exchange.published().invariants.clone();
        let value_of = |x: u64, y: u64, condition| {
            let leaf = |_, leaf: &Expr| match leaf {
                Expr::Var(VarId(0)) => Value::Bv(Bv::new(32, x)),
                Expr::Var(VarId(1)) => Value::Bv(Bv::new(32, y)),
                _ => Value::Bv(Bv::zero(32)),
            };
            Evaluator::new(&shown.pool, leaf).eval(condition).is_true()
        };
        let all: Vec<ExprId> = shown.at.values().flatten().copied().collect();
        assert_eq!(shown.at.len(), 1, "there is one loop");
        assert!((0..=5).all(|x| all.iter().all(|&c| value_of(x, 2 * x, c))), "what holds is shown, past the error too");
        assert!(all.iter().any(|&c| !value_of(1, 3, c)), "how the two go together is among it");

        let mut with = predicates(&program, &config, true);
        exchange.take_precision(Analysis::PREDICATE, &mut with);
        assert_eq!(with.tracked(), all.len());
        // A second import changes nothing.
        exchange.take_precision(Analysis::PREDICATE, &mut with);
        assert_eq!(with.tracked(), all.len());
        let mut without = predicates(&program, &config, false);
        exchange.take_precision(Analysis::SYMEX_CEGAR, &mut without);
        assert_eq!(without.tracked(), 0, "no predicates where none are refined");

        let mut another = symbolic(&program, &config).loops;
        exchange.take_observations(&mut another);
        assert_eq!(another.suggested.1.len(), all.len());
        assert!(!another.loops[0].samples.is_empty(), "values that one has seen");
    }

    #[test]
    fn what_bounded_model_checking_sees_others_take() {
        let program = cfa::text::parse(PROGRAM).unwrap_or_else(|e| panic!("{e:?}"));
        let (config, exchange, budget) = (Config::default(), Exchange::default(), Budget::unlimited());
        let (program, simplified, accelerated) = (&program, &program, None);
        let setting = Setting { program, simplified, accelerated, config: &config, budget: &budget };
        let mut bmc = Bmc::new(setting, symbolic(program, &config));
        let query_time = config.query_time;
        let ending = bmc.run(&mut Share { budget: &budget, query_time, progress: &mut |_, _| {} });
        assert!(matches!(ending, Ending::Violation { .. }), "{}", ending.name());
        bmc.publish(&exchange);
        let mut another = symbolic(program, &config).loops;
        exchange.take_observations(&mut another);
        let head = &another.loops[0];
        let column = |var| head.watched.iter().position(|&v| v == VarId(var)).expect("it is watched");
        let (x, y) = (column(0), column(1));
        // Every bound up to the violation was explored, so samples of all iterations before it exist. Each sample is
        // from a real execution.
        for n in 0..=5 {
            assert!(head.samples.iter().any(|row| row[x] == Some(n)), "{n}: {:?}", head.samples);
        }
        assert!(head.samples.iter().all(|row| row[y] == row[x].map(|x| 2 * x)), "{:?}", head.samples);
    }

    #[test]
    fn nobody_is_told_what_it_said_but_who_takes_over() {
        let program = cfa::text::parse(PROGRAM).unwrap_or_else(|e| panic!("{e:?}"));
        let (config, exchange) = (Config::default(), Exchange::default());
        let mut by = predicates(&program, &config, true);
        by.value.precision_mut().add_everywhere([Item::Var(VarId(1))]);
        exchange.publish_precision(Analysis::VALUE, &by);
        let taken = |exchange: &Exchange, analysis| {
            let mut cpa = predicates(&program, &config, true);
            exchange.take_precision(analysis, &mut cpa);
            cpa.value.precision().items()
        };
        assert_eq!(taken(&exchange, Analysis::VALUE), []);
        assert_eq!(taken(&exchange, Analysis::PREDICATE), [Item::Var(VarId(1))]);
        assert_eq!(taken(&exchange.for_all(), Analysis::VALUE), [Item::Var(VarId(1))]);
    }
}
