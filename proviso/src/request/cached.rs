//! Tests which options of `proviso verify` change the name of a cache entry.

use crate::args::{Cli, Command};
use Effect::{Nothing, Program, Question};
use clap::{CommandFactory, Parser};
use driver::cache::key;
use driver::task::Otherwise;
use frontend_llvm::Options;
use std::collections::BTreeSet;
use std::fs;

/// The part of the name of a cache entry that an option changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Effect {
    Question,
    Program,
    Nothing,
}

/// A folder with a program, its variants, and the files that options name.
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
        let database = serde_json::json!([{"directory": folder.0.path(), "file": "a.c", "command": "cc -DN=7 -c a.c"}]);
        folder.write("build/compile_commands.json", &database.to_string());
        folder
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Returns the two parts of the name of a cache entry: the text of the question, and the bitcode if it is wanted
    /// (else empty).
    fn name(&self, words: &str, wants_bitcode: bool) -> (String, Vec<u8>) {
        let file = |word: &str| match self.0.path().join(word) {
            path if path.exists() => path.display().to_string(),
            _ => word.to_owned(),
        };
        let words = ["proviso", "verify"].into_iter().chain(words.split_whitespace()).map(file);
        let Command::Verify(args) = Cli::try_parse_from(words).unwrap().command else { panic!("verify") };
        let job = args.job(Otherwise::Everything).unwrap_or_else(|failure| panic!("{failure}"));
        let config = args.config().unwrap_or_else(|failure| panic!("{failure}"));
        let question = key(&job, &config);
        let load = Options { checks: Vec::new(), ..job.load.clone() };
        let bitcode = || frontend_llvm::load(&load).unwrap_or_else(|error| panic!("{error}")).bitcode();
        (question, if wants_bitcode { bitcode() } else { Vec::new() })
    }
}

/// For each option, by its name in the parser: a command line without it, the words to add, and the effect.
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
    ("property", "a.c", "--property p.prp", Question),
    ("automaton", "a.c", "--automaton a.spc", Question),
    ("check", "a.c", "--check shift", Question),
    ("error_function", "a.c", "--error-function f", Question),
    ("entry", "a.c", "--entry f", Question),
    ("entry_pointers", "a.c --entry f", "--entry-pointers aliasing", Question),
    ("entry_array_length", "a.c --entry f", "--entry-array-length 2", Question),
    ("entry_depth", "a.c --entry f", "--entry-depth 2", Question),
    ("entry_globals", "a.c --entry f", "--entry-globals", Question),
    ("undefined_functions", "a.c", "--undefined-functions any-value", Question),
    ("undefined_functions", "a.c", "--undefined-functions stubs.c", Program),
    ("malloc_may_fail", "a.c", "--malloc-may-fail", Question),
    ("argc_may_be_zero", "a.c", "--argc-may-be-zero", Question),
    ("remove_function_body", "a.c", "--remove-function-body f", Question),
    ("first", "a.c", "--first", Nothing),
    ("timeout", "a.c", "--timeout 3", Nothing),
    ("cpu_limit", "a.c", "--cpu-limit 3", Nothing),
    ("memory_limit", "a.c", "--memory-limit 3", Nothing),
    ("cache", "a.c", "--cache other", Nothing),
    ("analysis", "a.c", "--analysis symex", Question),
    ("list_analyses", "a.c", "--list-analyses", Nothing),
    ("range", "a.c", "--range -,x.xml", Question),
    ("ranged", "a.c", "--ranged Ra-2Se-Lb3", Question),
    ("save_condition", "a.c", "--save-condition x", Question),
    ("resume", "a.c", "--resume x", Question),
    ("then", "a.c", "--then symex", Question),
    ("external", "a.c", "--external klee", Question),
    ("first_for", "a.c", "--first-for 2", Question),
    ("reducer", "a.c", "--reducer cfa", Question),
    ("gia", "a.c", "--gia x", Question),
    ("trust_gia", "a.c --gia x", "--trust-gia", Question),
    ("save_gia", "a.c", "--save-gia x", Question),
    ("cc_gia", "a.c", "--cc-gia", Question),
    ("cc_wit", "a.c", "--cc-wit", Question),
    ("search", "a.c", "--search dfs", Question),
    ("jobs", "a.c", "--jobs 2", Question),
    ("solver", "a.c", "--solver z3", Question),
    ("dump_queries", "a.c", "--dump-queries x", Nothing),
    ("precision", "a.c", "--precision location", Question),
    ("covering", "a.c", "--covering off", Question),
    ("value_threshold", "a.c", "--value-threshold 3", Question),
    ("blocks", "a.c", "--blocks calls", Question),
    ("predicates", "a.c", "--predicates cartesian", Question),
    ("slicing", "a.c", "--slicing off", Question),
    ("seed", "a.c", "--seed 3", Question),
    ("fault", "a.c", "--fault symex", Question),
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
    ("quiet", "a.c", "--quiet", Nothing),
    ("color", "a.c", "--color never", Nothing),
];

#[test]
fn every_option_changes_the_name_of_an_entry_or_is_known_not_to() {
    let folder = Folder::new();
    for &(option, before, added, effect) in OPTIONS {
        let is_program = effect == Program;
        let (question, bitcode) = folder.name(before, is_program);
        let (changed, other) = folder.name(&format!("{before} {added}"), is_program);
        assert_eq!(question != changed, effect == Question, "{option}: {question} {changed}");
        assert!(!is_program || bitcode != other, "{option} does not change the program");
    }
    let mut cli = Cli::command();
    cli.build();
    let verify = cli.find_subcommand("verify").unwrap();
    let all: BTreeSet<&str> = verify.get_arguments().map(|arg| arg.get_id().as_str()).collect();
    let tried: BTreeSet<&str> = OPTIONS.iter().map(|(option, ..)| *option).chain(["help", "version"]).collect();
    assert_eq!(all.difference(&tried).collect::<Vec<_>>(), Vec::<&&str>::new());
}

/// Automata and properties are not part of the bitcode. Their content is part of the name, their file names are not.
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
