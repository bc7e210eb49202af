//! The analyses by name. Each is an algorithm around a CPA, with parameters.

use crate::algorithm::bmc::Bmc;
use crate::algorithm::cegar::Cegar;
use crate::algorithm::cpa::{CpaAlgorithm, Merge, Parameters};
use crate::algorithm::delegate::Delegating;
use crate::algorithm::explore::{ExplorationAlgorithm, Explorer};
use crate::algorithm::houdini::Houdini;
use crate::algorithm::k_induction::KInduction;
use crate::algorithm::random::Tester;
use crate::algorithm::{Algorithm, Impossible, Setting};
use crate::analysis::Abstraction;
use crate::analysis::capability::Participant;
use crate::analysis::composite::Product;
use crate::analysis::reached::{NoReachedSet, StatelessArg};
use crate::composition::{Analysis, Composition, Domain, Slicing};
use crate::config::Config;
use crate::domain::condition::Conditional;
use crate::domain::interval::Interval;
use crate::domain::slicing::{self, Criteria};
use crate::domain::symbolic::SymbolicExecution;
use crate::domain::tracking::{Options, Tracking};
use crate::exchange::Learner;
use crate::verdict::Reason;
use cfa::Program;
use cfa::facts::frees;
use smt::PathSolver;
use std::time::Duration;

/// Number of values of a variable before predicate analysis takes over.
const FEW_VALUES: usize = 40;
/// Number of edges that value analysis explores before predicate analysis takes over. Where paths multiply, formulas
/// merge them.
const EXPLICIT_EDGES: u64 = 200_000;
/// Time limit for the first attempt of symbolic execution with loops in closed form.
const ACCELERATED_START: Duration = Duration::from_millis(100);
/// Maximum number of ARG nodes recorded for reports. The limit protects memory.
const MOST_DRAWN: usize = 1 << 20;

/// Creates the algorithm of an analysis. Panics for the default analysis, which consists of others.
pub(crate) fn algorithm<'r>(setting: Setting<'r>, analysis: Analysis) -> Box<dyn Algorithm<'r> + 'r> {
    let make = Maker { setting, analysis };
    let config = setting.config;
    let standard = Options {
        values_only: false,
        full: false,
        numbers: false,
        sharing: config.sharing,
        threshold: config.value_threshold,
        values: true,
        predicates: false,
        boolean: config.combines_predicates,
        folds: false,
    };
    let few = standard.threshold.min(FEW_VALUES);
    let symbols = Options { threshold: 0, ..standard };
    let numbers = Options { values_only: true, ..standard };
    let joint = Options { predicates: true, threshold: few, ..standard };
    let Analysis::Composed(Composition { domain, refined, slicing }) = analysis else {
        return match analysis {
            Analysis::Symex => make.exact(Merge::Never),
            Analysis::SymexAccelerated => make.accelerated(),
            Analysis::Merging => make.exact(Merge::AtHeads),
            Analysis::Invariants => Box::new(Houdini::new(setting, make.symbolic())),
            Analysis::Bmc => Box::new(Bmc::new(setting, make.symbolic())),
            Analysis::KInduction => Box::new(KInduction::new(setting, make.symbolic())),
            Analysis::Random => Box::new(Tester::new(setting.program, &config.solvers, config.seed)),
            Analysis::Default | Analysis::Composed(_) => unreachable!("made of others"),
        };
    };
    let how = match (domain, refined) {
        (Domain::Symbols, true) => symbols,
        (Domain::Symbols, false) => Options { full: true, ..symbols },
        (Domain::Values | Domain::ValuesIntervals | Domain::ValuesThenPredicates, true) => numbers,
        (Domain::Values | Domain::ValuesIntervals | Domain::ValuesThenPredicates, false) => {
            Options { full: true, threshold: 0, ..numbers }
        }
        (Domain::Shapes, _) => Options { folds: true, ..numbers },
        (Domain::Predicates, _) => Options { values: false, ..joint },
        (Domain::ValuesPredicates, _) => joint,
        (Domain::AllValuesPredicates, _) => Options { numbers: true, values: false, ..joint },
    };
    match (domain, slicing) {
        (_, Some(slicing)) => make.sliced(how, slicing),
        (Domain::ValuesIntervals, None) => make.with_intervals(how),
        (Domain::ValuesThenPredicates, None) => {
            let first = make.values(Options { threshold: few, ..how });
            Box::new(Delegating::new(first, Box::new(move || make.in_blocks(joint))))
        }
        _ if how.predicates => make.in_blocks(how),
        _ => make.at_joins(how),
    }
}

/// Creates the algorithm of an analysis for a program.
#[derive(Clone, Copy)]
struct Maker<'r> {
    setting: Setting<'r>,
    analysis: Analysis,
}

impl<'r> Maker<'r> {
    fn symbolic(self) -> SymbolicExecution<'r> {
        self.symbolic_of(self.setting.program)
    }

    fn symbolic_of(self, program: &'r Program) -> SymbolicExecution<'r> {
        let Setting { config, budget, .. } = self.setting;
        let solver = PathSolver::new(config.solvers.open(), budget.clone());
        SymbolicExecution::new(program, solver, config.solvers.clone())
            .lacking_frees(config.lacks_frees)
            .ending_at_faults(config.faults_elsewhere.clone())
            .comparing(config.wants_agreements)
    }

    fn parameters(self, heads: Vec<bool>, merge: Merge) -> Parameters {
        let config = self.setting.config;
        Parameters {
            heads,
            merge,
            search: config.search,
            seed: config.seed,
            max_call_depth: config.max_call_depth,
            covers: config.covers,
            notes_locations: config.wants_graph,
            counts_on_rest: config.counts_on_rest,
        }
    }

    fn exploring<X: Explorer + 'r>(self, explorer: X) -> Box<dyn Algorithm<'r> + 'r> {
        Box::new(ExplorationAlgorithm::new(self.setting.program, self.analysis, explorer))
    }

    /// Symbolic execution without abstraction.
    fn exact(self, merge: Merge) -> Box<dyn Algorithm<'r> + 'r> {
        // The simplified program has fewer forks. That is no gain if paths are merged.
        let program = match merge {
            Merge::Never => self.setting.simplified,
            _ => self.setting.program,
        };
        let mut cpa = self.symbolic_of(program).postponing();
        let parameters = self.parameters(cpa.heads(), merge);
        let Config { wants_frontier, work_queue, part, .. } = self.setting.config;
        let tells_paths = *wants_frontier || work_queue.is_some();
        if tells_paths || part.is_some() {
            // Calls are executed edge by edge.
            cpa.follow_calls();
        }
        match part {
            Some(part) => self.paths(program, Conditional::new(cpa, part.clone()), parameters, tells_paths),
            None => self.paths(program, cpa, parameters, tells_paths),
        }
    }

    /// Symbolic execution of the program with loops in closed form. Its locations and paths differ from those of the
    /// original.
    fn accelerated(self) -> Box<dyn Algorithm<'r> + 'r> {
        let program = self.setting.accelerated.unwrap_or(self.setting.simplified);
        let cpa = self.symbolic_of(program).comparing(false).postponing();
        let parameters = Parameters { notes_locations: false, ..self.parameters(cpa.heads(), Merge::Never) };
        let exploring = ExplorationAlgorithm::new(
            program,
            self.analysis,
            CpaAlgorithm::new(program, cpa, NoReachedSet, parameters),
        );
        // If counting loops are the only difficulty of a task, this analysis solves it alone, so it starts first. If a
        // witness is requested, it does not: the witness should contain invariants, which only other analyses observe.
        Box::new(match self.setting.config.wants_agreements {
            true => exploring,
            false => exploring.with_head_start(ACCELERATED_START),
        })
    }

    /// Exploration path by path. Records paths and the ARG if requested.
    fn paths<C: Participant + Learner + 'r>(
        self,
        program: &'r Program,
        cpa: C,
        parameters: Parameters,
        tells_paths: bool,
    ) -> Box<dyn Algorithm<'r> + 'r> {
        let Config { wants_graph, work_queue, .. } = self.setting.config;
        if !*wants_graph && !tells_paths {
            return self.exploring(CpaAlgorithm::new(program, cpa, NoReachedSet, parameters));
        }
        let graph = if tells_paths { StatelessArg::default() } else { StatelessArg::of_most(MOST_DRAWN) };
        let mut algorithm = CpaAlgorithm::new(program, cpa, graph, parameters);
        algorithm.work_queue = work_queue.clone();
        self.exploring(algorithm)
    }

    /// Exploration with refinement. If the user selected this analysis alone, it continues after any number of
    /// undecided paths, since no other analysis waits for the time.
    fn refining<C: Participant + Learner + Abstraction + 'r>(
        self,
        cpa: C,
        parameters: Parameters,
    ) -> Box<dyn Algorithm<'r> + 'r> {
        let cegar = Cegar::new(self.setting.program, cpa, parameters);
        match self.setting.config.analysis == self.analysis {
            true => self.exploring(cegar.patient()),
            false => self.exploring(cegar),
        }
    }

    /// Value, predicate or shape analysis with refinement. It abstracts states where paths join.
    fn at_joins(self, how: Options) -> Box<dyn Algorithm<'r> + 'r> {
        let cpa = Tracking::new(self.symbolic(), how);
        let parameters = self.parameters(cpa.symbolic.heads(), Merge::Never);
        self.refining(cpa, parameters)
    }

    /// Like `at_joins`, in a product with intervals.
    fn with_intervals(self, how: Options) -> Box<dyn Algorithm<'r> + 'r> {
        let program = self.setting.program;
        let cpa = Product::new(Tracking::new(self.symbolic(), how), Interval::new(program));
        let parameters = self.parameters(cpa.first.symbolic.heads(), Merge::Never);
        self.refining(cpa, parameters)
    }

    /// Like `at_joins`, until the first path that it cannot refute, or until [`EXPLICIT_EDGES`] edges.
    fn values(self, how: Options) -> Box<dyn Algorithm<'r> + 'r> {
        let cpa = Tracking::new(self.symbolic(), how);
        let parameters = self.parameters(cpa.symbolic.heads(), Merge::Never);
        self.exploring(Cegar::new(self.setting.program, cpa, parameters).impatient(EXPLICIT_EDGES))
    }

    /// Abstraction at cut points, with a formula for each block between them.
    fn in_blocks(self, how: Options) -> Box<dyn Algorithm<'r> + 'r> {
        let cpa = Tracking::new(self.symbolic(), how);
        let parameters = self.blocks(&cpa);
        self.refining(cpa, parameters)
    }

    fn blocks(self, cpa: &Tracking<'r>) -> Parameters {
        let heads = cpa.symbolic.cutpoints(self.setting.config.abstracts_at_calls);
        self.parameters(heads, Merge::InBlocks(cpa.symbolic.heads()))
    }

    /// A slice that grows, with abstraction where paths join, or in blocks if predicates are tracked.
    fn sliced(self, how: Options, slicing: Slicing) -> Box<dyn Algorithm<'r> + 'r> {
        let program = self.setting.program;
        let cpa = Tracking::new(self.symbolic().lacking_frees(frees(program)), how);
        let parameters = match how.predicates {
            true => self.blocks(&cpa),
            false => self.parameters(cpa.symbolic.heads(), Merge::Never),
        };
        let criteria = match slicing {
            Slicing::TargetPath => Criteria::TargetPath,
            Slicing::TargetLocation => Criteria::TargetLocation,
        };
        match slicing::Slicing::new(program, cpa, criteria, slicer::Options::default()) {
            Ok(cpa) => self.refining(cpa, parameters),
            Err(_) => Box::new(Impossible(Reason::new("the dependences of the program could not be computed"))),
        }
    }
}
