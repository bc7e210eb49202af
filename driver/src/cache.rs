//! The cache of verdicts (`--cache`). A program is not analysed again if the same build verified it before, with the
//! same question and configuration.
//!
//! The name of an entry is the digest of the linked bitcode and of the `CacheKey`: everything else that TRUE and
//! FALSE depend on. The bitcode has debug information, so any change of a source file changes it. A change of the
//! models, the stubs or clang changes the bitcode, too. An entry for a proof contains the analysis that found it. An
//! entry for a violation contains the inputs, which are replayed as if they had just been found. A violation from the
//! cache is therefore as certain as any other, and its report is computed anew. An entry for a proof of termination
//! contains the ranking functions. Proofs of nontermination are not stored. UNKNOWN is not stored, because another
//! machine may have more time.

use crate::config::{Config, Records};
use crate::failure::Failure;
use crate::job::Job;
use crate::load::Module;
use crate::plan::Cooperation;
use cfa::interp::{Inputs, ObjectSeq};
use cfa::{Bv, ErrorId, FuncId, GlobalId, PlaceId, Program, VarId};
use engine::termination::{PROOFS, Ranking, Terminated, Termination};
use engine::{Analysis, Counterexample, Outcome, Stats, Verdict};
use frontend_llvm::Options;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::{self, Debug};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A folder of verdicts.
#[derive(Clone)]
pub struct Cache {
    folder: PathBuf,
    /// The digest of the executable. It is a part of all keys of this run.
    build: String,
    /// The text of the configuration that verdicts depend on. It is a part of all keys of this run.
    arguments: String,
}

/// Everything except the linked bitcode that a verdict depends on.
struct CacheKey<'a> {
    cache: &'a Cache,
    job: &'a Job,
    /// The front-end options with which the program was loaded.
    load: &'a Options,
}

/// The file in the cache for the verdict on one question.
pub struct CacheFile(PathBuf);

/// The content of a file in the cache.
#[derive(Serialize, Deserialize)]
#[serde(tag = "verdict")]
enum Entry {
    /// A proof, with the name of the analysis.
    True { decided_by: String },
    /// A violation, with the name of the analysis.
    False { decided_by: String, error: u32, inputs: StoredInputs },
    /// A proof of termination.
    Ends { decided_by: String, rankings: Vec<StoredRanking> },
}

/// [`Ranking`] as JSON.
#[derive(Serialize, Deserialize)]
struct StoredRanking {
    func: u32,
    place: Option<u32>,
    is_recursion: bool,
    tuple: Vec<String>,
}

/// [`Inputs`] as JSON: a value is its width in bits and its decimal digits.
#[derive(Serialize, Deserialize)]
struct StoredInputs {
    values: Vec<(u32, String)>,
    globals: Vec<(u32, u32, String)>,
    bytes: Vec<(StoredObject, u64, u8)>,
    bases: Vec<(StoredObject, u64)>,
}

/// [`ObjectSeq`] as JSON.
#[derive(Serialize, Deserialize)]
enum StoredObject {
    Global(u32),
    Alloc(u64),
}

impl Cache {
    /// Returns the cache that the configuration names, if any.
    ///
    /// # Errors
    /// `Err` if its folder cannot be created, or if the executable cannot be read.
    pub fn open(config: &Config) -> Result<Option<Self>, Failure> {
        let Some(folder) = &config.cache else { return Ok(None) };
        fs::create_dir_all(folder).map_err(|e| Failure::writing(folder, &e))?;
        Ok(Some(Self { folder: folder.clone(), build: build()?, arguments: relevant_options(config) }))
    }

    /// Returns the file for the verdict of `job` on a module that was loaded with the options `load`.
    pub fn file(&self, module: &Module, job: &Job, load: &Options) -> CacheFile {
        let key = CacheKey { cache: self, job, load }.to_string();
        let parts = Sha256::new().chain_update(key).chain_update([0]).chain_update(module.bitcode());
        let name: String = parts.finalize().iter().map(|b| format!("{b:02x}")).collect();
        CacheFile(self.folder.join(&name[..2]).join(&name[2..]).with_extension("json"))
    }
}

/// Equal questions have equal texts.
impl fmt::Display for CacheKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cache { folder: _, build, arguments } = self.cache;
        write!(f, "{build}\n{arguments}\n{:?}\n{}", self.job.key(), lowering(self.load))
    }
}

impl CacheFile {
    /// Returns the outcome in the cache. A violation is replayed on the program for at most `time`. Returns `None` if
    /// there is no readable entry, if the entry is a proof of termination (see
    /// [`proof_of_termination`](Self::proof_of_termination)), or if the replay fails.
    pub fn outcome(&self, program: &Program, time: Duration) -> Option<Outcome> {
        let (verdict, decided_by) = match self.read()? {
            Entry::Ends { .. } => return None,
            Entry::True { decided_by } => (Verdict::True, decided_by),
            Entry::False { decided_by, error, inputs } => {
                let (error, inputs) = (ErrorId(error), inputs.restore()?);
                if error.0 as usize >= program.errors.len() {
                    return None;
                }
                let path = engine::replay(program, &inputs, error, time).ok()?;
                (Verdict::False(Counterexample { error, inputs, path }), decided_by)
            }
        };
        self.mark_used();
        Some(Outcome::new(verdict, Analysis::parse(&decided_by)?))
    }

    /// Returns the proof of termination in the cache. Returns `None` if there is no readable one, or if it refers to
    /// functions or places that the program does not have.
    pub fn proof_of_termination(&self, program: &Program) -> Option<Terminated> {
        let Entry::Ends { decided_by, rankings } = self.read()? else { return None };
        let ranking = |stored: StoredRanking| {
            let is_known = (stored.func as usize) < program.funcs.len()
                && stored.place.is_none_or(|place| (place as usize) < program.places.len());
            let StoredRanking { func, place, is_recursion, tuple } = stored;
            is_known.then(|| Ranking { func: FuncId(func), place: place.map(PlaceId), is_recursion, tuple })
        };
        let rankings = rankings.into_iter().map(ranking).collect::<Option<_>>()?;
        let decided_by = PROOFS.into_iter().find(|proof| *proof == decided_by)?;
        self.mark_used();
        Some(Terminated { answer: Termination::Ends(rankings), stats: Stats::default(), decided_by })
    }

    /// Returns the entry, or `None` if there is none or it is malformed.
    fn read(&self) -> Option<Entry> {
        serde_json::from_slice(&fs::read(&self.0).ok()?).ok()
    }

    /// Sets the modification time of the entry to now, so that the user can recognise unused entries by their age.
    fn mark_used(&self) {
        let _ = File::options().append(true).open(&self.0).and_then(|file| file.set_modified(SystemTime::now()));
    }

    /// Writes a verdict to the cache, unless it is `UNKNOWN`. `Err` if the file cannot be written.
    pub fn store(&self, outcome: &Outcome) -> Result<(), Failure> {
        let decided_by = outcome.decided_by.name().to_owned();
        let entry = match &outcome.verdict {
            Verdict::True => Entry::True { decided_by },
            Verdict::False(found) => {
                Entry::False { decided_by, error: found.error.0, inputs: StoredInputs::from_inputs(&found.inputs) }
            }
            Verdict::Unknown(_) => return Ok(()),
        };
        self.write(&entry)
    }

    /// Writes a proof of termination to the cache. Other answers are not stored. `Err` if the file cannot be written.
    pub fn store_termination(&self, terminated: &Terminated) -> Result<(), Failure> {
        let Termination::Ends(rankings) = &terminated.answer else { return Ok(()) };
        let stored = |ranking: &Ranking| StoredRanking {
            func: ranking.func.0,
            place: ranking.place.map(|place| place.0),
            is_recursion: ranking.is_recursion,
            tuple: ranking.tuple.clone(),
        };
        let rankings = rankings.iter().map(stored).collect();
        self.write(&Entry::Ends { decided_by: terminated.decided_by.to_owned(), rankings })
    }

    /// Writes the entry. `Err` if the file cannot be written.
    fn write(&self, entry: &Entry) -> Result<(), Failure> {
        let write = || -> std::io::Result<()> {
            let folder = self.0.parent().unwrap_or(Path::new("."));
            fs::create_dir_all(folder)?;
            // Other processes may read the entry at any time, so it is replaced atomically.
            let file = tempfile::NamedTempFile::new_in(folder)?;
            fs::write(file.path(), serde_json::to_vec(entry)?)?;
            file.persist(&self.0).map(drop).map_err(|e| e.error)
        };
        write().map_err(|error| Failure::writing(&self.0, &error))
    }
}

impl StoredInputs {
    fn from_inputs(inputs: &Inputs) -> Self {
        let digits = |value: &Bv| value.to_biguint().to_string();
        let object = |object: &ObjectSeq| match *object {
            ObjectSeq::Global(id) => StoredObject::Global(id.0),
            ObjectSeq::Alloc(n) => StoredObject::Alloc(n),
        };
        Self {
            values: inputs.values.iter().map(|v| (v.width(), digits(v))).collect(),
            globals: inputs.globals.iter().map(|(var, v)| (var.0, v.width(), digits(v))).collect(),
            bytes: inputs.bytes.iter().map(|((o, at), byte)| (object(o), *at, *byte)).collect(),
            bases: inputs.bases.iter().map(|(o, base)| (object(o), *base)).collect(),
        }
    }

    /// Returns the inputs, or `None` if a number is malformed.
    fn restore(self) -> Option<Inputs> {
        let value = |width: u32, digits: &str| Some(Bv::from_big(width, digits.parse().ok()?));
        let object = |object| match object {
            StoredObject::Global(id) => ObjectSeq::Global(GlobalId(id)),
            StoredObject::Alloc(n) => ObjectSeq::Alloc(n),
        };
        Some(Inputs {
            values: self.values.iter().map(|(width, digits)| value(*width, digits)).collect::<Option<_>>()?,
            globals: self
                .globals
                .iter()
                .map(|(var, width, digits)| Some((VarId(*var), value(*width, digits)?)))
                .collect::<Option<_>>()?,
            bytes: self.bytes.into_iter().map(|(o, at, byte)| ((object(o), at), byte)).collect(),
            bases: self.bases.into_iter().map(|(o, base)| (object(o), base)).collect(),
            // The cache stores no verdicts on programs with threads.
            schedule: Default::default(),
        })
    }
}

// The following functions list every field, without `..`. A new option therefore does not compile until its author has
// decided if a verdict depends on it.

/// Returns the text of everything that a verdict of this job and configuration depends on, except the bitcode and the
/// build.
pub fn key(job: &Job, config: &Config) -> String {
    let cache = Cache { folder: PathBuf::new(), build: String::new(), arguments: relevant_options(config) };
    CacheKey { cache: &cache, job, load: &job.load }.to_string()
}

/// Returns the text of the options of the configuration that TRUE and FALSE may depend on.
fn relevant_options(config: &Config) -> String {
    let Config {
        engine,
        slicing,
        stops_at_first: _,
        timeout: _,
        cpu_limit: _,
        memory_limit: _,
        cache: _,
        cooperation,
        records,
    } = config;
    // The choice of recorded data changes no verdict.
    let Records { reproduction: _, report_data: _, invariants: _ } = records;
    let engine::Config {
        analysis,
        jobs,
        search,
        seed,
        covers,
        max_call_depth,
        solvers: engine::smt::Choice { kind, dump: _ },
        wants_graph: _,
        wants_agreements: _,
        checks_explored: _,
        wants_frontier: _,
        counts_on_rest,
        is_last: _,
        part: _,
        work_queue: _,
        query_time,
        value_threshold,
        sharing,
        abstracts_at_calls,
        combines_predicates,
        stop_at_unconfirmed,
        lacks_frees,
        faults_elsewhere: _,
        cycle_after,
        faults,
    } = engine;
    // Verdicts of runs with cooperation are not stored: their options refer to files, and this text does not contain
    // the content of these files.
    let Cooperation {
        range,
        ranged,
        resume,
        then,
        external,
        first_for,
        reducer,
        save_condition,
        gia,
        trust_gia,
        save_gia,
        components,
    } = cooperation;
    text(&[
        analysis,
        jobs,
        search,
        seed,
        covers,
        max_call_depth,
        kind,
        counts_on_rest,
        query_time,
        value_threshold,
        sharing,
        abstracts_at_calls,
        combines_predicates,
        stop_at_unconfirmed,
        lacks_frees,
        cycle_after,
        faults,
        slicing,
        range,
        ranged,
        resume,
        then,
        external,
        first_for,
        reducer,
        save_condition,
        gia,
        trust_gia,
        save_gia,
        components,
    ])
}

/// Returns the text of the front-end options that change the meaning of the bitcode.
fn lowering(options: &Options) -> String {
    let Options {
        // The bitcode already depends on these options.
        inputs: _,
        data_model: _,
        include_dirs: _,
        defines: _,
        std: _,
        clang_args: _,
        checks_wrapping: _,
        named: _,
        foreign,
        threads,
        entry,
        entry_memory,
        checks,
        checked_elsewhere,
        error_functions,
        undefined_functions,
        watched,
        malloc_may_fail,
        argc_may_be_zero,
        remove_bodies,
        sequential_environment,
        undefined_functions_keep_state,
        reads_back,
        keeps_output,
        decisions,
        only_reachable,
        models,
    } = options;
    text(&[
        foreign,
        threads,
        entry,
        entry_memory,
        checks,
        checked_elsewhere,
        error_functions,
        undefined_functions,
        watched,
        malloc_may_fail,
        argc_may_be_zero,
        remove_bodies,
        sequential_environment,
        undefined_functions_keep_state,
        reads_back,
        keeps_output,
        decisions,
        only_reachable,
        models,
    ])
}

/// Returns the debug representation of all parts.
fn text(parts: &[&dyn Debug]) -> String {
    format!("{parts:?}")
}

/// Returns the digest of the running executable. `Err` if it cannot be read.
fn build() -> Result<String, Failure> {
    let path = Path::new("/proc/self/exe");
    let mut file = File::open(path).map_err(|e| Failure::reading(path, &e))?;
    let mut digest = Sha256::new();
    std::io::copy(&mut file, &mut digest).map_err(|e| Failure::reading(path, &e))?;
    Ok(format!("{:x}", digest.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_restored() {
        let inputs = Inputs {
            values: vec![Bv::new(8, 255), Bv::ones(128)],
            globals: [(VarId(3), Bv::new(32, 7))].into(),
            bytes: [((ObjectSeq::Global(GlobalId(2)), 5), 9), ((ObjectSeq::Alloc(1), 0), 1)].into(),
            bases: [(ObjectSeq::Alloc(1), 4096)].into(),
            schedule: Default::default(),
        };
        let text = serde_json::to_string(&StoredInputs::from_inputs(&inputs)).unwrap();
        let restored: StoredInputs = serde_json::from_str(&text).unwrap();
        assert_eq!(restored.restore().unwrap(), inputs);
    }
}
