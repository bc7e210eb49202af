//! Verdicts by content: a program that was verified before, under the same question and configuration and by the same build, is
//! not analysed again (`--cache`).
//!
//! An entry's name is the digest of the linked bitcode and of the [`Question`]: everything else that TRUE and FALSE depend on. The bitcode has its
//! debug information, so any change of a file that the program consists of changes it; so do the models, stubs and clang, which write it. Of a proof the entry keeps which analysis
//! found it; of a violation the inputs, which are replayed as if they had just been found. So a violation from a cache is as sure as
//! any other, and everything that is shown of it is made anew. Of a proof of termination the rankings are kept, of the opposite nothing. UNKNOWN is not kept: another machine may have more time.

use crate::args::{InputArgs, KnowledgeArgs, VerifyArgs};
use crate::failure::Failure;
use crate::job::Job;
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
    /// The cache that the command line asks for, if it does.
    pub fn of(args: &VerifyArgs) -> Result<Option<Self>, Failure> {
        let Some(folder) = &args.cache else { return Ok(None) };
        fs::create_dir_all(folder).map_err(|e| Failure::writing(folder, &e))?;
        Ok(Some(Self { folder: folder.clone(), build: build()?, arguments: decisive(args) }))
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
        })
    }
}

// The following list every field, without `..`: a new option does not compile until somebody has decided whether a verdict depends on it.

/// The options of the command line that TRUE and FALSE may depend on.
fn decisive(args: &VerifyArgs) -> String {
    let VerifyArgs {
        // In the bitcode, or in the job's question.
        files: _,
        input: InputArgs { data_model: _, ilp32: _, lp64: _, include: _, define: _, std: _, build: _, clang_args: _ },
        property: _,
        automaton: _,
        check: _,
        error_function: _,
        entry: _,
        entry_pointers: _,
        entry_array_length: _,
        entry_depth: _,
        entry_globals: _,
        undefined_functions: _,
        malloc_may_fail: _,
        remove_function_body: _,
        // How long the analysis may take, and what is written.
        timeout: _,
        cpu_limit: _,
        memory_limit: _,
        cache: _,
        list_analyses: _,
        dump_queries: _,
        trace: _,
        harness: _,
        witness: _,
        graphml: _,
        json: _,
        sarif: _,
        report: _,
        message_format: _,
        explain: _,
        pixel_tree: _,
        stats: _,
        verbose: _,
        // Cooperation has no cache; what is named here is a file or changes with one.
        range,
        ranged,
        save_condition,
        resume,
        then,
        external,
        first_for,
        reducer,
        knowledge: KnowledgeArgs { gia, trust_gia, save_gia, cc_gia, cc_wit },
        // The analysis.
        analysis,
        search,
        jobs,
        solver,
        precision,
        covering,
        value_threshold,
        blocks,
        predicates,
        slicing,
        seed,
        fault,
    } = args;
    text(&[
        range,
        ranged,
        save_condition,
        resume,
        then,
        external,
        first_for,
        reducer,
        gia,
        trust_gia,
        save_gia,
        cc_gia,
        cc_wit,
        analysis,
        search,
        jobs,
        solver,
        precision,
        covering,
        value_threshold,
        blocks,
        predicates,
        slicing,
        seed,
        fault,
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
        entry,
        entry_memory,
        checks,
        checked_elsewhere,
        error_functions,
        undefined_functions,
        watched,
        malloc_may_fail,
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
        entry,
        entry_memory,
        checks,
        checked_elsewhere,
        error_functions,
        undefined_functions,
        watched,
        malloc_may_fail,
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
    use crate::args::{Cli, Command};
    use crate::job::Otherwise;
    use Effect::{Nothing, Program, Question as Asks};
    use clap::{CommandFactory, Parser};
    use std::collections::BTreeSet;

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

    /// The part of an entry's name that an option changes.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    enum Effect {
        Question,
        Program,
        Nothing,
    }

    /// A folder with a program, its variants, and what options name.
    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            let folder = Self(tempfile::tempdir().unwrap());
            let program = "#if __has_include(\"with.h\")\n#include \"with.h\"\n#endif\n#ifndef N\n#define N 3\n#endif\n\
                           void other(void) {}\nvoid f(int *p) { other(); }\n#if __STDC_VERSION__ > 199901L\nint modern;\n#endif\n\
                           long l = N;\nint main(void) { f(0); return 0; }\n";
            folder.write("a.c", program);
            folder.write("b.c", "int b;\n");
            folder.write("headers/with.h", "int with;\n");
            folder.write("stubs.c", "int stub;\n");
            folder.write("p.prp", "CHECK( init(main()), LTL(G ! call(f())) )");
            folder.write("a.spc", "automaton a { state s { call other() -> error \"other\"; } }");
            let database =
                serde_json::json!([{"directory": folder.0.path(), "file": "a.c", "command": "cc -DN=7 -c a.c"}]);
            folder.write("build/compile_commands.json", &database.to_string());
            folder
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.0.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        /// The two parts of the name of an entry: the question's text, and the bitcode if it is wanted.
        fn name(&self, words: &str, wants_bitcode: bool) -> (String, Vec<u8>) {
            let file = |word: &str| match self.0.path().join(word) {
                path if path.exists() => path.display().to_string(),
                _ => word.to_owned(),
            };
            let words = ["proviso", "verify"].into_iter().chain(words.split_whitespace()).map(file);
            let Command::Verify(args) = Cli::try_parse_from(words).unwrap().command else { panic!("verify") };
            let job = Job::new(&args, Otherwise::Everything).unwrap_or_else(|failure| panic!("{failure}"));
            let cache = Cache { folder: PathBuf::new(), build: String::new(), arguments: decisive(&args) };
            let question = Question { cache: &cache, job: &job, load: &job.load }.to_string();
            let load = Options { checks: Vec::new(), ..job.load.clone() };
            let bitcode = || frontend_llvm::load(&load).unwrap_or_else(|error| panic!("{error}")).bitcode();
            (question, if wants_bitcode { bitcode() } else { Vec::new() })
        }
    }

    /// By the option's name in the parser: a command line without it, what is added, and its effect.
    const OPTIONS: &[(&str, &str, &str, Effect)] = &[
        ("files", "a.c", "b.c", Program),
        ("data_model", "a.c", "--data-model ILP32", Program),
        ("ilp32", "a.c", "--32", Program),
        ("lp64", "a.c", "--64", Nothing),
        ("include", "a.c", "-I headers", Program),
        ("define", "a.c", "-D N=5", Program),
        ("std", "a.c", "--std c99", Program),
        ("build", "a.c", "-p build", Program),
        ("clang_args", "a.c", "-- -DN=5", Program),
        ("property", "a.c", "--property p.prp", Asks),
        ("automaton", "a.c", "--automaton a.spc", Asks),
        ("check", "a.c", "--check shift", Asks),
        ("error_function", "a.c", "--error-function f", Asks),
        ("entry", "a.c", "--entry f", Asks),
        ("entry_pointers", "a.c --entry f", "--entry-pointers aliasing", Asks),
        ("entry_array_length", "a.c --entry f", "--entry-array-length 2", Asks),
        ("entry_depth", "a.c --entry f", "--entry-depth 2", Asks),
        ("entry_globals", "a.c --entry f", "--entry-globals", Asks),
        ("undefined_functions", "a.c", "--undefined-functions any-value", Asks),
        ("undefined_functions", "a.c", "--undefined-functions stubs.c", Program),
        ("malloc_may_fail", "a.c", "--malloc-may-fail", Asks),
        ("remove_function_body", "a.c", "--remove-function-body f", Asks),
        ("timeout", "a.c", "--timeout 3", Nothing),
        ("cpu_limit", "a.c", "--cpu-limit 3", Nothing),
        ("memory_limit", "a.c", "--memory-limit 3", Nothing),
        ("cache", "a.c", "--cache other", Nothing),
        ("analysis", "a.c", "--analysis symex", Asks),
        ("list_analyses", "a.c", "--list-analyses", Nothing),
        ("range", "a.c", "--range -,x.xml", Asks),
        ("ranged", "a.c", "--ranged Ra-2Se-Lb3", Asks),
        ("save_condition", "a.c", "--save-condition x", Asks),
        ("resume", "a.c", "--resume x", Asks),
        ("then", "a.c", "--then symex", Asks),
        ("external", "a.c", "--external klee", Asks),
        ("first_for", "a.c", "--first-for 2", Asks),
        ("reducer", "a.c", "--reducer cfa", Asks),
        ("gia", "a.c", "--gia x", Asks),
        ("trust_gia", "a.c --gia x", "--trust-gia", Asks),
        ("save_gia", "a.c", "--save-gia x", Asks),
        ("cc_gia", "a.c", "--cc-gia", Asks),
        ("cc_wit", "a.c", "--cc-wit", Asks),
        ("search", "a.c", "--search dfs", Asks),
        ("jobs", "a.c", "--jobs 2", Asks),
        ("solver", "a.c", "--solver z3", Asks),
        ("dump_queries", "a.c", "--dump-queries x", Nothing),
        ("precision", "a.c", "--precision location", Asks),
        ("covering", "a.c", "--covering off", Asks),
        ("value_threshold", "a.c", "--value-threshold 3", Asks),
        ("blocks", "a.c", "--blocks calls", Asks),
        ("predicates", "a.c", "--predicates cartesian", Asks),
        ("slicing", "a.c", "--slicing off", Asks),
        ("seed", "a.c", "--seed 3", Asks),
        ("fault", "a.c", "--fault symex", Asks),
        ("trace", "a.c", "--trace full", Nothing),
        ("harness", "a.c", "--harness x.c", Nothing),
        ("witness", "a.c", "--witness x.yml", Nothing),
        ("graphml", "a.c", "--graphml x", Nothing),
        ("json", "a.c", "--json x", Nothing),
        ("sarif", "a.c", "--sarif x", Nothing),
        ("report", "a.c", "--report x.html", Nothing),
        ("message_format", "a.c", "--message-format short", Nothing),
        ("explain", "a.c", "--explain", Nothing),
        ("pixel_tree", "a.c", "--pixel-tree x.svg", Nothing),
        ("stats", "a.c", "--stats", Nothing),
        ("verbose", "a.c", "--verbose", Nothing),
        ("color", "a.c", "--color never", Nothing),
    ];

    #[test]
    fn every_option_changes_the_name_of_an_entry_or_is_known_not_to() {
        let folder = Folder::new();
        for &(option, before, added, effect) in OPTIONS {
            let is_program = effect == Program;
            let (question, bitcode) = folder.name(before, is_program);
            let (changed, other) = folder.name(&format!("{before} {added}"), is_program);
            assert_eq!(question != changed, effect == Asks, "{option}: {question} {changed}");
            assert!(!is_program || bitcode != other, "{option} does not change the program");
        }
        let mut cli = Cli::command();
        cli.build();
        let verify = cli.find_subcommand("verify").unwrap();
        let all: BTreeSet<&str> = verify.get_arguments().map(|arg| arg.get_id().as_str()).collect();
        let tried: BTreeSet<&str> = OPTIONS.iter().map(|(option, ..)| *option).chain(["help", "version"]).collect();
        assert_eq!(all.difference(&tried).collect::<Vec<_>>(), Vec::<&&str>::new());
    }

    /// Files that are not part of the bitcode count by what they say, not by their names.
    #[test]
    fn the_content_of_automata_and_properties_counts() {
        let folder = Folder::new();
        for (options, file, other) in [
            ("a.c --automaton a.spc", "a.spc", "automaton a { state s { call other() -> s; } }"),
            ("a.c --property a.spc", "a.spc", "automaton a { state s { call other() -> error \"another\"; } }"),
            ("a.c --property p.prp", "p.prp", "CHECK( init(main()), LTL(G ! call(other())) )"),
            ("a.c --property p.prp", "p.prp", "CHECK( init(main()), LTL(G ! overflow) )"),
        ] {
            let before = folder.name(options, false);
            assert_eq!(before, folder.name(options, false));
            folder.write(file, other);
            assert_ne!(before, folder.name(options, false), "{options}");
        }
    }
}
