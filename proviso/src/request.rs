//! Translates the command line of `proviso verify` into a task and a configuration.

#[cfg(test)]
mod cached;

use crate::args::{
    BlocksArg, CoveringArg, DataModelArg, InputArgs, PointersArg, PrecisionArg, PredicatesArg, SearchArg, SlicingArg,
    SolverArg, VerifyArgs,
};
use crate::witness::exchange::Witnesses;
use driver::config::Records;
use driver::failure::Failure;
use driver::job::Job;
use driver::limits;
use driver::plan::{Cooperation, Exchange};
use driver::task::{Compiling, Otherwise};
use driver::{Config, Task};
use engine::Analysis;
use engine::domain::value::Sharing;
use engine::smt::{Choice, Kind};
use engine::waitlist::SearchOrder;
use frontend_llvm::{DataModel, EntryMemory, EntryPointers};
use std::sync::Arc;

impl InputArgs {
    /// Returns how the program is compiled.
    pub fn compiling(&self) -> Compiling {
        Compiling {
            data_model: self.data_model().map(|model| match model {
                DataModelArg::Ilp32 => DataModel::Ilp32,
                DataModelArg::Lp64 => DataModel::Lp64,
            }),
            include_dirs: self.include.clone(),
            defines: self.define.clone(),
            std: self.std.clone(),
            build: self.build.clone(),
            clang_args: self.clang_args.clone(),
        }
    }
}

impl VerifyArgs {
    /// Returns the verification task.
    pub fn task(&self, otherwise: Otherwise) -> Task {
        Task {
            files: self.files.clone(),
            compiling: self.input.compiling(),
            properties: self.property.clone(),
            automata: self.automaton.clone(),
            checks: self.check.clone(),
            otherwise,
            error_functions: self.error_function.clone(),
            entry: self.entry.clone(),
            entry_memory: EntryMemory {
                finite: false,
                pointers: match self.entry_pointers {
                    PointersArg::Valid => EntryPointers::Valid,
                    PointersArg::MaybeNull => EntryPointers::MaybeNull,
                    PointersArg::Aliasing => EntryPointers::Aliasing,
                },
                array_length: self.entry_array_length,
                depth: self.entry_depth,
                globals: self.entry_globals,
            },
            undefined_functions: self.undefined_functions.clone(),
            malloc_may_fail: self.malloc_may_fail,
            argc_may_be_zero: self.argc_may_be_zero,
            removed_bodies: self.remove_function_body.clone(),
        }
    }

    /// Returns the job of the task.
    ///
    /// # Errors
    /// If files cannot be read, or the task is malformed.
    pub fn job(&self, otherwise: Otherwise) -> Result<Job, Failure> {
        let mut job = Job::new(&self.task(otherwise))?;
        job.load.keeps_output = !self.cooperation_options().is_empty();
        Ok(job)
    }

    /// Returns the names of those options that are set and that select, exchange, or save parts of the paths.
    pub fn cooperation_options(&self) -> Vec<&'static str> {
        let given = [
            ("--range", self.range.is_some()),
            ("--ranged", self.ranged.is_some()),
            ("--resume", self.resume.is_some()),
            ("--then", self.then.is_some()),
            ("--external", self.external.is_some()),
            ("--save-condition", self.save_condition.is_some()),
            ("--gia", self.knowledge.gia.is_some()),
            ("--save-gia", self.knowledge.save_gia.is_some()),
            ("--cc-gia", self.knowledge.cc_gia),
            ("--cc-wit", self.knowledge.cc_wit),
        ];
        given.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name).collect()
    }

    /// Returns the configuration of the verification.
    ///
    /// # Errors
    /// If the analysis does not exist.
    pub fn config(&self) -> Result<Config, Failure> {
        Ok(Config {
            engine: self.engine()?,
            slicing: match self.slicing {
                SlicingArg::Off => None,
                SlicingArg::Static => Some(slicer::Control::Standard),
                SlicingArg::Nontermination => Some(slicer::Control::DecisiveOrder),
            },
            stops_at_first: self.first,
            timeout: self.timeout,
            cpu_limit: self.cpu_limit,
            memory_limit: Some(self.memory()),
            cache: self.cache.clone(),
            cooperation: self.cooperation(),
            records: Records {
                reproduction: self.harness.is_some(),
                report_data: self.report.is_some(),
                invariants: self.wants_invariants(),
            },
        })
    }

    /// Returns the memory limit in bytes.
    pub fn memory(&self) -> u64 {
        self.memory_limit.map_or_else(limits::default_memory, |mb| mb.saturating_mul(1 << 20))
    }

    fn cooperation(&self) -> Cooperation {
        let knowledge = &self.knowledge;
        Cooperation {
            range: self.range.clone(),
            ranged: self.ranged.clone(),
            resume: self.resume.clone(),
            then: self.then.clone(),
            external: self.external.clone(),
            first_for: self.first_for,
            reducer: self.reducer.clone(),
            save_condition: self.save_condition.clone(),
            gia: knowledge.gia.clone(),
            trust_gia: knowledge.trust_gia,
            save_gia: knowledge.save_gia.is_some(),
            components: match (knowledge.cc_gia, knowledge.cc_wit) {
                (true, _) => Some(Exchange::Gia),
                (_, true) => Some(Exchange::Translated(Arc::new(Witnesses))),
                _ => None,
            },
        }
    }

    /// Returns true if an output contains loop invariants: the report or a witness.
    fn wants_invariants(&self) -> bool {
        [&self.report, &self.witness, &self.graphml].into_iter().any(Option::is_some)
    }

    /// Returns the configuration of the engine.
    ///
    /// # Errors
    /// If the analysis does not exist.
    pub fn engine(&self) -> Result<engine::Config, Failure> {
        let Some(analysis) = Analysis::parse(&self.analysis) else {
            let names: Vec<&str> = Analysis::all().map(|(_, name, _)| name).collect();
            let meant = cfa::wording::did_you_mean(&self.analysis, names.iter().copied());
            let message = format!("there is no analysis '{}'{meant}; analyses are {}", self.analysis, names.join(", "));
            return Err(Failure::usage(message));
        };
        let search = match self.search {
            SearchArg::Mixed => SearchOrder::Mixed,
            SearchArg::Dfs => SearchOrder::DepthFirst,
            SearchArg::Bfs => SearchOrder::BreadthFirst,
            SearchArg::RandomPath => SearchOrder::RandomPath,
            SearchArg::Coverage => SearchOrder::Coverage,
            SearchArg::Nearest => SearchOrder::Nearest,
        };
        let kind = match self.solver {
            SolverArg::Portfolio => Kind::Portfolio,
            SolverArg::Bitwuzla => Kind::Bitwuzla,
            SolverArg::Z3 => Kind::Z3,
            SolverArg::Both => Kind::Both,
        };
        let sharing = match self.precision {
            PrecisionArg::Scope => Sharing::Scope,
            PrecisionArg::Location => Sharing::Location,
        };
        Ok(engine::Config {
            analysis,
            jobs: self.jobs.max(1),
            search,
            seed: self.seed,
            solvers: Choice { kind, dump: self.dump_queries.clone() },
            wants_graph: self.pixel_tree.is_some() || self.report.is_some(),
            wants_agreements: self.wants_invariants(),
            checks_explored: self.explain || self.report.is_some(),
            sharing,
            covers: self.covering == CoveringArg::On,
            value_threshold: self.value_threshold,
            abstracts_at_calls: self.blocks == BlocksArg::Calls,
            combines_predicates: self.predicates == PredicatesArg::Boolean,
            faults: self.fault.iter().filter_map(|name| Analysis::parse(name)).collect(),
            ..engine::Config::default()
        })
    }
}
