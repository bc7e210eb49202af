//! Verdicts by content: a program that was verified before, under the same question and configuration and by the same build, is
//! not analysed again (`--cache`).
//!
//! What names an entry is the linked bitcode with its debug information, so any change of a file that the program is made of makes another
//! program of it, and all of the command line but what has no influence on TRUE and FALSE. Of a proof it is kept which analysis had
//! it, of a violation the inputs, which are replayed as if they had just been found: so a violation from a cache is as sure as
//! any, and everything that is shown of it is made anew. Of a proof of termination the rankings are kept, of the opposite nothing. UNKNOWN is not kept: another machine may have more time.

use crate::args::{MessageFormat, TraceArg, VerifyArgs};
use crate::failure::Failure;
use crate::job::Job;
use cfa::interp::{Inputs, ObjectSeq};
use cfa::{Bv, ErrorId, FuncId, GlobalId, PlaceId, Program, VarId};
use engine::termination::{PROOFS, Ranking, Terminated, Termination};
use engine::{Analysis, Counterexample, Outcome, Stats, Verdict};
use frontend_llvm::{Module, Options};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A folder of verdicts, and what of the command line they depend on.
#[derive(Clone)]
pub struct Cache {
    folder: PathBuf,
    question: String,
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
    /// The cache that the command line asks for, if it does.
    pub fn of(args: &VerifyArgs, job: &Job) -> Result<Option<Self>, Failure> {
        let Some(folder) = &args.cache else { return Ok(None) };
        fs::create_dir_all(folder).map_err(|e| Failure::writing(folder, &e))?;
        let question = format!(
            "{}\n{:?}\n{:?}\n{:?}\n{:?}",
            build()?,
            job.properties,
            job.error_functions,
            // How files are compiled is in the bitcode.
            Options {
                inputs: Vec::new(),
                include_dirs: Vec::new(),
                defines: Vec::new(),
                std: None,
                clang_args: Vec::new(),
                commands: Default::default(),
                ..job.load.clone()
            },
            decisive(args)
        );
        Ok(Some(Self { folder: folder.clone(), question }))
    }

    /// Where what is known of a program is kept.
    pub fn place(&self, module: &Module) -> Place {
        let parts = Sha256::new().chain_update(&self.question).chain_update([0]).chain_update(module.bitcode());
        let name: String = parts.finalize().iter().map(|b| format!("{b:02x}")).collect();
        Place(self.folder.join(&name[..2]).join(&name[2..]).with_extension("json"))
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
        })
    }
}

/// What the arguments say that TRUE and FALSE may depend on: all but what is listed here, so that an option that is added later counts.
fn decisive(args: &VerifyArgs) -> VerifyArgs {
    let mut args = args.clone();
    let input = &mut args.input;
    // In the bitcode, or in what the job makes of them.
    (input.include, input.define, input.std, input.build, input.clang_args) = Default::default();
    (args.files, args.property, args.error_function) = Default::default();
    // How long, and what is shown.
    (args.timeout, args.memory_limit, args.cache, args.dump_queries) = Default::default();
    (args.harness, args.witness, args.json, args.sarif, args.report, args.pixel_tree) = Default::default();
    (args.explain, args.stats, args.verbose) = Default::default();
    (args.trace, args.message_format) = (TraceArg::Short, MessageFormat::Human);
    args
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
        };
        let text = serde_json::to_string(&Recorded::of(&inputs)).unwrap();
        let restored: Recorded = serde_json::from_str(&text).unwrap();
        assert_eq!(restored.restore().unwrap(), inputs);
    }
}
