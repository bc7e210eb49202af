//! Verdicts by content: a program that was verified before, under the same question and configuration and by the same build, is
//! not analysed again (`--cache`).
//!
//! An entry's name is the digest of the linked bitcode and of the [`Question`]: everything else that TRUE and FALSE depend on. The bitcode has its
//! debug information, so any change of a file that the program consists of changes it; so do the models, stubs and clang, which write it. Of a proof the entry keeps which analysis
//! found it; of a violation the inputs, which are replayed as if they had just been found. So a violation from a cache is as sure as
//! any other, and everything that is shown of it is made anew. Of a proof of termination the rankings are kept, of the opposite nothing. UNKNOWN is not kept: another machine may have more time.

use crate::config::{Config, Records};
use crate::failure::Failure;
use crate::job::Job;
use crate::plan::Cooperation;
use cfa::interp::{Inputs, ObjectSeq};
use cfa::{Bv, ErrorId, FuncId, GlobalId, PlaceId, Program, VarId};
use engine::termination::{PROOFS, Ranking, Terminated, Termination};
use engine::{Analysis, Counterexample, Outcome, Stats, Verdict};
use frontend_llvm::{Module, Options};
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
    /// Of all questions of this run.
    build: String,
    arguments: String,
}

/// Everything that a verdict depends on besides the linked bitcode.
struct Question<'a> {
    cache: &'a Cache,
    job: &'a Job,
    /// With which the program was loaded.
    load: &'a Options,
}

/// The place in the cache for what is verified.
pub struct Place(PathBuf);

#[derive(Serialize, Deserialize)]
#[serde(tag = "verdict")]
enum Entry {
    True {
        decided_by: String,
    },
    False {
        decided_by: String,
        error: u32,
        inputs: Recorded,
    },
    /// A proof of termination.
    Ends {
        decided_by: String,
        rankings: Vec<Measure>,
    },
}

/// [`Ranking`] as JSON.
#[derive(Serialize, Deserialize)]
struct Measure {
    func: u32,
    place: Option<u32>,
    is_recursion: bool,
    tuple: Vec<String>,
}

/// [`Inputs`] as JSON: values are their width and their digits.
#[derive(Serialize, Deserialize)]
struct Recorded {
    values: Vec<(u32, String)>,
    globals: Vec<(u32, u32, String)>,
    bytes: Vec<(Object, u64, u8)>,
    bases: Vec<(Object, u64)>,
}

#[derive(Serialize, Deserialize)]
enum Object {
    Global(u32),
    Alloc(u64),
}

impl Cache {
    /// The cache that the configuration names, if it does.
    ///
    /// # Errors
    /// If its folder cannot be made.
    pub fn of(config: &Config) -> Result<Option<Self>, Failure> {
        let Some(folder) = &config.cache else { return Ok(None) };
        fs::create_dir_all(folder).map_err(|e| Failure::writing(folder, &e))?;
        Ok(Some(Self { folder: folder.clone(), build: build()?, arguments: decisive(config) }))
    }

    /// The place for the verdict on a program that was loaded with these options.
    pub fn place(&self, module: &Module, job: &Job, load: &Options) -> Place {
        let question = Question { cache: self, job, load }.to_string();
        let parts = Sha256::new().chain_update(question).chain_update([0]).chain_update(module.bitcode());
        let name: String = parts.finalize().iter().map(|b| format!("{b:02x}")).collect();
        Place(self.folder.join(&name[..2]).join(&name[2..]).with_extension("json"))
    }
}

/// Equal questions have equal texts.
impl fmt::Display for Question<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cache { folder: _, build, arguments } = self.cache;
        write!(f, "{build}\n{arguments}\n{:?}\n{}", self.job.question(), lowering(self.load))
    }
}

impl Place {
    /// What is known, confirmed on the program within the time. Entries that cannot be read are none.
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
        self.is_used();
        Some(Outcome::new(verdict, Analysis::parse(&decided_by)?))
    }

    /// A proof of termination.
    pub fn proof_of_termination(&self, program: &Program) -> Option<Terminated> {
        let Entry::Ends { decided_by, rankings } = self.read()? else { return None };
        let ranking = |measure: Measure| {
            let is_known = (measure.func as usize) < program.funcs.len()
                && measure.place.is_none_or(|place| (place as usize) < program.places.len());
            let Measure { func, place, is_recursion, tuple } = measure;
            is_known.then(|| Ranking { func: FuncId(func), place: place.map(PlaceId), is_recursion, tuple })
        };
        let rankings = rankings.into_iter().map(ranking).collect::<Option<_>>()?;
        let decided_by = PROOFS.into_iter().find(|proof| *proof == decided_by)?;
        self.is_used();
        Some(Terminated { answer: Termination::Ends(rankings), stats: Stats::default(), decided_by })
    }

    fn read(&self) -> Option<Entry> {
        serde_json::from_slice(&fs::read(&self.0).ok()?).ok()
    }

    /// What is not needed any more can be told by its age.
    fn is_used(&self) {
        let _ = File::options().append(true).open(&self.0).and_then(|file| file.set_modified(SystemTime::now()));
    }

    /// Keeps a verdict.
    pub fn keep(&self, outcome: &Outcome) -> Result<(), Failure> {
        let decided_by = outcome.decided_by.name().to_owned();
        let entry = match &outcome.verdict {
            Verdict::True => Entry::True { decided_by },
            Verdict::False(found) => {
                Entry::False { decided_by, error: found.error.0, inputs: Recorded::of(&found.inputs) }
            }
            Verdict::Unknown(_) => return Ok(()),
        };
        self.write(&entry)
    }

    /// Keeps a proof of termination. What shows that a program does not end is made anew.
    pub fn keep_termination(&self, terminated: &Terminated) -> Result<(), Failure> {
        let Termination::Ends(rankings) = &terminated.answer else { return Ok(()) };
        let measure = |ranking: &Ranking| Measure {
            func: ranking.func.0,
            place: ranking.place.map(|place| place.0),
            is_recursion: ranking.is_recursion,
            tuple: ranking.tuple.clone(),
        };
        let rankings = rankings.iter().map(measure).collect();
        self.write(&Entry::Ends { decided_by: terminated.decided_by.to_owned(), rankings })
    }

    fn write(&self, entry: &Entry) -> Result<(), Failure> {
        let write = || -> std::io::Result<()> {
            let folder = self.0.parent().unwrap_or(Path::new("."));
            fs::create_dir_all(folder)?;
            // Others may read at any time.
            let file = tempfile::NamedTempFile::new_in(folder)?;
            fs::write(file.path(), serde_json::to_vec(entry)?)?;
            file.persist(&self.0).map(drop).map_err(|e| e.error)
        };
        write().map_err(|error| Failure::writing(&self.0, &error))
    }
}

impl Recorded {
    fn of(inputs: &Inputs) -> Self {
        let digits = |value: &Bv| value.to_biguint().to_string();
        let object = |object: &ObjectSeq| match *object {
            ObjectSeq::Global(id) => Object::Global(id.0),
            ObjectSeq::Alloc(n) => Object::Alloc(n),
        };
        Self {
            values: inputs.values.iter().map(|v| (v.width(), digits(v))).collect(),
            globals: inputs.globals.iter().map(|(var, v)| (var.0, v.width(), digits(v))).collect(),
            bytes: inputs.bytes.iter().map(|((o, at), byte)| (object(o), *at, *byte)).collect(),
            bases: inputs.bases.iter().map(|(o, base)| (object(o), *base)).collect(),
        }
    }

    fn restore(self) -> Option<Inputs> {
        let value = |width: u32, digits: &str| Some(Bv::from_big(width, digits.parse().ok()?));
        let object = |object| match object {
            Object::Global(id) => ObjectSeq::Global(GlobalId(id)),
            Object::Alloc(n) => ObjectSeq::Alloc(n),
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
            // Verdicts on programs with threads are not kept.
            schedule: Default::default(),
        })
    }
}

// The following list every field, without `..`: a new option does not compile until somebody has decided whether a verdict depends on it.

/// The text of everything that a verdict of this job and configuration depends on besides the bitcode and the build.
pub fn question(job: &Job, config: &Config) -> String {
    let cache = Cache { folder: PathBuf::new(), build: String::new(), arguments: decisive(config) };
    Question { cache: &cache, job, load: &job.load }.to_string()
}

/// The configuration that TRUE and FALSE may depend on.
fn decisive(config: &Config) -> String {
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
    // What is recorded changes no verdict.
    let Records { reproduction: _, exhibits: _, invariants: _ } = records;
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
        desk: _,
        query_time,
        value_threshold,
        sharing,
        abstracts_at_calls,
        combines_predicates,
        stop_at_unconfirmed,
        lacks_frees,
        faults_elsewhere: _,
        faults,
    } = engine;
    // Cooperation has no cache; what is named here is a file or changes with one.
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

/// The options of the front-end that change what the bitcode means.
fn lowering(options: &Options) -> String {
    let Options {
        // In the bitcode.
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

fn text(parts: &[&dyn Debug]) -> String {
    format!("{parts:?}")
}

/// Names the build that runs.
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
        let text = serde_json::to_string(&Recorded::of(&inputs)).unwrap();
        let restored: Recorded = serde_json::from_str(&text).unwrap();
        assert_eq!(restored.restore().unwrap(), inputs);
    }
}
