//! Compiler command lines, as far as they affect the meaning of a program.
//!
//! `command/options.txt` puts every option of clang, and every option of gcc that clang lacks, into one class. The
//! command line of a build is untrusted input. Only options that change the meaning are passed to clang, and none that
//! loads code, runs a program, reads further options or writes a file.

use crate::target::{NESTED, words};
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const TABLE: &str = include_str!("command/options.txt");

/// The maximal size of a response file in bytes.
const RESPONSE_BYTES: u64 = 1 << 24;

/// The compile command of a C file in a project.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompileCommand {
    /// The working directory. Relative paths in the options refer to it.
    pub directory: PathBuf,
    /// The options for clang; see [`Arguments::options`].
    pub options: Vec<String>,
    /// The file as the command names it, relative to the working directory: the value of `__FILE__`. If absent, that is
    /// the absolute path.
    pub file: Option<PathBuf>,
}

/// The author of a command line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The build system of a project. Its options are untrusted.
    Build,
    /// The user. User options may load code into clang, and clang reports those that it does not know.
    User,
}

/// The options of a command line that affect the meaning of a program.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Arguments {
    /// The options for clang, in order. They include those of sanitizers.
    pub options: Vec<String>,
    /// Options that may affect the meaning, but are ignored.
    pub ignored: Vec<Ignored>,
}

/// An ignored option that may affect the meaning of a program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Ignored {
    /// The option loads code, runs a program or reads further options.
    Hostile(String),
    /// The option ends executions at which a sanitizer of the build finds an error.
    Ending(String),
    /// The option is unknown to clang, and to gcc as far as the table goes.
    Unknown(String),
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (option, why) = match self {
            Self::Hostile(option) => (option, "it loads code, runs a program or reads further options"),
            Self::Ending(option) => (option, "executions continue after a failed check that is not enabled"),
            Self::Unknown(option) => (option, "clang does not know it"),
        };
        write!(f, "the option {option} of the project's build has no effect: {why}")
    }
}

/// The reason why a program with this command line cannot be verified.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The option changes the meaning in a way that is not supported.
    Option(String),
    /// The command line compiles the file as another language than C.
    Language(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option(option) => write!(f, "the compiler's option {option} is not supported"),
            Self::Language(language) => {
                write!(f, "the compiler's options select the language {language}; only C is supported")
            }
        }
    }
}

/// Returns the options of a compiler's arguments that affect the meaning of a program. Names of input files are
/// dropped. Response files (`@file`) are read, relative to `directory`. Fails if an option or the language is not
/// supported.
pub fn read(args: &[String], directory: &Path, origin: Origin) -> Result<Arguments, Refusal> {
    let mut reader = Reader { origin, ..Reader::default() };
    reader.take(&expand(args, directory))?;
    reader.finish()
}

/// Replaces response files (`@file`) by their words. If a file cannot be read, its name remains.
pub fn expand(args: &[String], directory: &Path) -> Vec<String> {
    fn add(args: &[String], directory: &Path, depth: u32, expanded: &mut Vec<String>) {
        for arg in args {
            let file = arg.strip_prefix('@').filter(|_| depth > 0).map(|name| directory.join(name));
            let is_read = |file: &PathBuf| file.metadata().is_ok_and(|m| m.is_file() && m.len() <= RESPONSE_BYTES);
            match file.filter(is_read).and_then(|file| std::fs::read(file).ok()) {
                Some(text) => add(&words(&String::from_utf8_lossy(&text)), directory, depth - 1, expanded),
                None => expanded.push(arg.clone()),
            }
        }
    }
    let mut expanded = Vec::new();
    add(args, directory, NESTED, &mut expanded);
    expanded
}

/// If the argument is an option of clang or gcc that may affect the meaning of a program: the number of further
/// arguments that it takes, and the length of its name.
pub fn meaning_at(arg: &str) -> Option<(usize, usize)> {
    find(arg).filter(|option| option.class != Class::None).map(|option| (option.values, option.name.len()))
}

/// If the argument is an option of clang or gcc without effect on the meaning of a program: the number of further
/// arguments that it takes, and the length of its name.
pub fn meaningless_at(arg: &str) -> Option<(usize, usize)> {
    find(arg).filter(|option| option.class == Class::None).map(|option| (option.values, option.name.len()))
}

/// Splits options into those of sanitizers (second) and all others (first).
pub(crate) fn split_sanitizers(options: &[String]) -> (Vec<String>, Vec<String>) {
    let is_sanitizer = |option: &String| find(option).is_some_and(|o| o.class == Class::Sanitizer);
    let (mut others, mut sanitizers) = (Vec::new(), Vec::new());
    let mut rest = options;
    while let Some((option, after)) = rest.split_first() {
        let wraps = matches!(option.as_str(), "-Xclang" | "-Xpreprocessor") && !after.is_empty();
        let (words, after) = rest.split_at(1 + usize::from(wraps));
        match words.last().is_some_and(is_sanitizer) {
            true => sanitizers.extend_from_slice(words),
            false => others.extend_from_slice(words),
        }
        rest = after;
    }
    (others, sanitizers)
}

/// The class of an option, by its effect on the meaning of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    /// May change the meaning. Passed to clang.
    Meaning,
    /// Changes only predefined macros, such as an optimisation level.
    Macros,
    /// Selects sanitizers.
    Sanitizer,
    /// Selects the language.
    Language,
    /// Passes other options on, such as `-Xclang`.
    Wrapped,
    /// Loads code, runs a program or reads further options. Ignored in a build.
    Hostile,
    /// Changes the meaning in a way that is not supported.
    Unsupported,
    /// Does not change the meaning. Ignored.
    None,
}

impl Class {
    fn of_section(name: &str) -> Option<Self> {
        Some(match name {
            "[meaning]" => Self::Meaning,
            "[macros]" => Self::Macros,
            "[sanitizer]" => Self::Sanitizer,
            "[language]" => Self::Language,
            "[wrapped]" => Self::Wrapped,
            "[hostile]" => Self::Hostile,
            "[unsupported]" => Self::Unsupported,
            "[none]" => Self::None,
            _ => return None,
        })
    }
}

/// The position of an option's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ValuePosition {
    /// No value, or this number of following arguments.
    Following(usize),
    /// In the same argument, after the name.
    Joined,
    /// In the same argument if it is longer than the name, else in the next argument.
    JoinedOrFollowing,
    /// Two values: in the same argument and in the next.
    JoinedAndFollowing,
}

/// An option of the table that matches an argument.
struct MatchedOption {
    name: &'static str,
    class: Class,
    /// The number of following arguments.
    values: usize,
}

type Table = HashMap<&'static str, Vec<(ValuePosition, Class)>>;

fn table() -> &'static Table {
    static READ: OnceLock<Table> = OnceLock::new();
    READ.get_or_init(|| {
        let mut table = Table::new();
        for (spelling, class) in entries() {
            let name = spelling.trim_end_matches(['*', ':', '&']);
            let value = match &spelling[name.len()..] {
                "*" => ValuePosition::Joined,
                "*:" => ValuePosition::JoinedOrFollowing,
                "&" => ValuePosition::JoinedAndFollowing,
                colons => ValuePosition::Following(colons.len()),
            };
            for name in both_forms(name) {
                table.entry(name).or_default().push((value, class));
            }
        }
        table
    })
}

/// The spellings in the table with their classes.
fn entries() -> impl Iterator<Item = (&'static str, Class)> {
    let mut class = Class::None;
    let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(move |line| {
        let section = Class::of_section(line);
        class = section.unwrap_or(class);
        let words = if section.is_some() { "" } else { line };
        words.split_whitespace().map(move |word| (word, class))
    })
}

/// The name, or both names that `[no-]` stands for.
fn both_forms(name: &'static str) -> Vec<&'static str> {
    match name.split_once("[no-]") {
        None => vec![name],
        Some((start, rest)) => {
            // Each entry of the table is leaked only once.
            let leak = |name: String| -> &'static str { Box::leak(name.into_boxed_str()) };
            vec![leak(format!("{start}{rest}")), leak(format!("{start}no-{rest}"))]
        }
    }
}

/// The option that an argument denotes. As in clang, the longest matching name counts.
fn find(arg: &str) -> Option<MatchedOption> {
    let ends = (1..=arg.len()).rev().filter(|&end| arg.is_char_boundary(end));
    let named = ends.filter_map(|end| table().get_key_value(&arg[..end]));
    named.into_iter().find_map(|(&name, forms)| {
        let alone = name.len() == arg.len();
        forms.iter().find_map(|&(value, class)| {
            let values = match value {
                ValuePosition::Following(n) => alone.then_some(n),
                ValuePosition::Joined => Some(0),
                ValuePosition::JoinedOrFollowing => Some(usize::from(alone)),
                ValuePosition::JoinedAndFollowing => (!alone).then_some(1),
            };
            values.map(|values| MatchedOption { name, class, values })
        })
    })
}

/// The state while reading a command line.
struct Reader {
    origin: Origin,
    found: Arguments,
    /// The options that `-Xclang` passes on, and those of `-Wp,` and `-Xpreprocessor`. clang appends them to all other
    /// options.
    proper: Vec<String>,
    preprocessor: Vec<String>,
    /// The last optimisation level, without `-O`.
    level: String,
    /// The indices of `-ffast-math` options that `-Ofast` added. They count only if `-Ofast` is the last level.
    fast: Vec<usize>,
    /// Predefined macros for builds that create or use profiles.
    profile: Vec<&'static str>,
    /// True after an input file. A later `-x` applies only to later files.
    has_input: bool,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            origin: Origin::Build,
            found: Arguments::default(),
            proper: Vec::new(),
            preprocessor: Vec::new(),
            level: String::new(),
            fast: Vec::new(),
            profile: Vec::new(),
            has_input: false,
        }
    }
}

impl Reader {
    fn take(&mut self, words: &[String]) -> Result<(), Refusal> {
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            if word == "--" {
                break;
            }
            let Some(option) = find(word) else {
                match (word.starts_with('-') && word != "-", self.origin) {
                    (false, _) => self.has_input = true,
                    (true, Origin::Build) => self.found.ignored.push(Ignored::Unknown(word.clone())),
                    (true, Origin::User) => self.found.options.push(word.clone()),
                }
                continue;
            };
            let values: Vec<&String> = rest.by_ref().take(option.values).collect();
            let all = || std::iter::once(word).chain(values.iter().copied()).cloned();
            match option.class {
                // clang would reject the option as incomplete.
                _ if values.len() < option.values && self.origin == Origin::Build => {}
                Class::Meaning => match word.strip_prefix("-ffile-prefix-map=") {
                    // File names in debug information must not change.
                    Some(map) => self.found.options.push(format!("-fmacro-prefix-map={map}")),
                    None => self.found.options.extend(all()),
                },
                Class::Sanitizer => {
                    let ends = ["-fsanitize-trap", "-fno-sanitize-recover", "-fsanitize-undefined-trap-on-error"];
                    if self.origin == Origin::Build && ends.iter().any(|start| word.starts_with(start)) {
                        self.found.ignored.push(Ignored::Ending(word.clone()));
                    }
                    self.found.options.extend(all());
                }
                Class::Macros => self.macros(&option, word),
                Class::Language => self.language(&option, word, values.first().map(|v| v.as_str()))?,
                Class::Wrapped => self.wrapped(&option, word, values.first().map(|v| v.as_str()))?,
                Class::Hostile if self.origin == Origin::User => self.found.options.extend(all()),
                Class::Hostile => self.found.ignored.push(Ignored::Hostile(all().collect::<Vec<_>>().join(" "))),
                Class::Unsupported => return Err(Refusal::Option(all().collect::<Vec<_>>().join(" "))),
                Class::None => {}
            }
        }
        Ok(())
    }

    fn macros(&mut self, option: &MatchedOption, word: &str) {
        if let Some((no, kind)) = option.name.trim_end_matches('=').split_once("profile") {
            let name = match kind {
                "-use" | "-instr-use" => "__LLVM_INSTR_PROFILE_USE",
                _ => "__LLVM_INSTR_PROFILE_GENERATE",
            };
            self.profile.retain(|other| *other != name);
            if !no.contains("no-") {
                self.profile.push(name);
            }
            return;
        }
        let level = word.strip_prefix("--optimize").map_or(&word[2..], |level| level.trim_start_matches('='));
        self.level = if level.is_empty() { "1".into() } else { level.into() };
        if level == "fast" {
            self.fast.push(self.found.options.len());
            self.found.options.push("-ffast-math".into());
        }
    }

    fn language(&mut self, option: &MatchedOption, word: &str, value: Option<&str>) -> Result<(), Refusal> {
        if self.has_input {
            return Ok(());
        }
        let language = value.unwrap_or(&word[option.name.len()..]);
        match language {
            "c" | "cpp-output" => self.found.options.extend(["-x".to_owned(), language.to_owned()]),
            "none" => {}
            "" => return Err(Refusal::Language(word.trim_start_matches('-').into())),
            _ => return Err(Refusal::Language(language.into())),
        }
        Ok(())
    }

    fn wrapped(&mut self, option: &MatchedOption, word: &str, value: Option<&str>) -> Result<(), Refusal> {
        let joined = &word[option.name.len()..];
        match option.name {
            "-Wp," => self.preprocessor.extend(joined.split(',').map(str::to_owned)),
            "-Xpreprocessor" => self.preprocessor.extend(value.map(str::to_owned)),
            "-Xclang" | "-Xclang=" => self.proper.push(value.unwrap_or(joined).to_owned()),
            // `-Xarch_*`: the passed option is parsed separately.
            _ => {
                let passed: Vec<String> = value.map(str::to_owned).into_iter().collect();
                let mut inner = Self { origin: self.origin, ..Self::default() };
                inner.take(&passed)?;
                let inner = inner.finish()?;
                self.found.ignored.extend(inner.ignored);
                self.found.options.extend(inner.options.into_iter().flat_map(|option| [word.to_owned(), option]));
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Arguments, Refusal> {
        let is_fast = self.level == "fast";
        for place in self.fast.iter().rev().filter(|_| !is_fast) {
            self.found.options.remove(*place);
        }
        let wrapped = [("-Xpreprocessor", self.preprocessor), ("-Xclang", self.proper)];
        for (wrapper, words) in wrapped.into_iter().filter(|(_, words)| !words.is_empty()) {
            let mut inner = Self { origin: self.origin, ..Self::default() };
            inner.take(&words)?;
            let inner = inner.finish()?;
            self.found.ignored.extend(inner.ignored);
            self.found.options.extend(inner.options.into_iter().flat_map(|word| [wrapper.to_owned(), word]));
        }
        let mut macros: Vec<String> = self.profile.iter().map(|name| format!("-D{name}=1")).collect();
        let is_inline = !self.found.options.iter().any(|option| option == "-fno-inline");
        macros.extend(
            match self.level.as_str() {
                "" => vec![],
                "0" => vec!["-U__OPTIMIZE__", "-U__OPTIMIZE_SIZE__", "-D__NO_INLINE__=1"],
                "s" | "z" => vec!["-D__OPTIMIZE__=1", "-D__OPTIMIZE_SIZE__=1"],
                _ => vec!["-D__OPTIMIZE__=1", "-U__OPTIMIZE_SIZE__"],
            }
            .into_iter()
            .map(str::to_owned),
        );
        if !matches!(self.level.as_str(), "" | "0") && is_inline {
            macros.push("-U__NO_INLINE__".into());
        }
        // These macros precede the definitions on the command line.
        self.found.options.splice(0..0, macros);
        self.found.ignored.sort();
        self.found.ignored.dedup();
        Ok(self.found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;
    use std::collections::BTreeSet;
    use std::process::{Command, Stdio};

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    fn options(line: &str) -> String {
        read(&words(line), Path::new(""), Origin::Build).unwrap().options.join(" ")
    }

    fn clang(args: &[&str]) -> String {
        let output = Command::new("clang-19").args(args).stdin(Stdio::null()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn each_option_that_clang_lists_has_one_class() {
        // Options of HLSL.
        let others = ["--dxv-path=", "-fspv-target-env=", "-hlsl-entry", "-validator-version"];
        for list in ["-", "-Xclang,-"] {
            let listed = clang(&[&format!("--autocomplete={list}")]);
            let names = listed.lines().filter_map(|line| line.split('\t').next()).filter(|name| name.starts_with('-'));
            let names: BTreeSet<&str> = names.filter(|name| !others.contains(name)).collect();
            assert!(names.len() > 1000, "clang lists {} options", names.len());
            for name in names {
                // All warning options have the same class.
                let known = name.starts_with("-W") || name.starts_with("--W") || table().contains_key(name);
                assert!(known, "{name} has no class");
            }
        }
        for (name, forms) in table() {
            assert!(forms.iter().all(|(_, class)| *class == forms[0].1), "{name} has two classes");
        }
    }

    #[test]
    fn options_without_meaning_are_left_out() {
        let line = "-Wall -O0 -g -DA=1 -D B -Iinc -isystem sys -std=c99 -fPIC -MD -MF x.d -Wp,-D_X=2,-MMD,y.d -pipe \
                    -fstack-protector -march=native -include conf.h -c -o x.o x.c -U C -m32 -lm";
        let expected = "-U__OPTIMIZE__ -U__OPTIMIZE_SIZE__ -D__NO_INLINE__=1 -DA=1 -D B -Iinc -isystem sys -std=c99 -fPIC \
                        -fstack-protector -march=native -include conf.h -U C -m32 -Xpreprocessor -D_X=2";
        assert_eq!(options(line), expected);
    }

    #[test]
    fn all_spellings_of_an_option_are_known() {
        for (line, expected) in [
            ("-fshort-enums -fno-short-enums", "-fshort-enums -fno-short-enums"),
            ("--define-macro=A --define-macro B -UA", "--define-macro=A --define-macro B -UA"),
            (
                "--include-directory=a --include-directory b -iwithprefixbefore c",
                "--include-directory=a --include-directory b -iwithprefixbefore c",
            ),
            ("-Xclang -DA -Xclang=-DB -Xclang -load -Xclang x.so", "-Xclang -DA -Xclang -DB"),
            (
                "-Xpreprocessor -DA -Wp,-DB,-include,c",
                "-Xpreprocessor -DA -Xpreprocessor -DB -Xpreprocessor -include -Xpreprocessor c",
            ),
            ("-Xarch_x86_64 -DA -Xarch_arm -fplugin=x.so", "-Xarch_x86_64 -DA"),
            ("-Xclang -fwchar-type=short -fsanitize=address", "-fsanitize=address -Xclang -fwchar-type=short"),
            ("-ffile-prefix-map=/a=/b", "-fmacro-prefix-map=/a=/b"),
            ("-include x.c y.c -o -c", "-include x.c"),
            ("-x c x.c -x assembler y.s", "-x c"),
            ("-mtune=native -fipa-pta -fno-tree-vectorize --param max-inline=3 -Wl,-z,now -L x -lc", ""),
            ("-DA -- -DB", "-DA"),
        ] {
            assert_eq!(options(line), expected, "{line}");
        }
    }

    #[test]
    fn levels_of_optimisation_are_macros() {
        for line in [
            "-O",
            "-O0",
            "-O1",
            "-O2",
            "-O3",
            "-O4",
            "-Og",
            "-Os",
            "-Oz",
            "-Ofast",
            "-O2 -O0",
            "-O2 -fno-inline",
            "-Ofast -O1",
            "-Ofast -fno-fast-math",
            "-fno-fast-math -Ofast",
            "--optimize=2",
            "--optimize",
            "-O2 -U__OPTIMIZE__",
            "-fprofile-generate",
            "-fprofile-instr-generate -fno-profile-instr-generate",
            "-fcs-profile-generate",
        ] {
            let macros = |line: &str| {
                let args = [words(line), words("-E -dM -x c /dev/null")].concat();
                clang(&args.iter().map(String::as_str).collect::<Vec<_>>())
            };
            // Without an optimisation level.
            assert_eq!(macros(&options(line)), macros(line), "{line}");
        }
    }

    #[test]
    fn response_files_are_read_where_the_compiler_runs() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("outer"), "-DA='x y' @inner\n-DB\\ C").unwrap();
        std::fs::write(folder.path().join("inner"), "-fplugin=x.so \"-DD\" @inner").unwrap();
        let read = read(&words("-O0 @outer @missing"), folder.path(), Origin::Build).unwrap();
        assert_eq!(&read.options[3..5], ["-DA=x y", "-DD"]);
        assert_eq!(read.options.last().unwrap(), "-DB C");
        assert_eq!(read.ignored, [Ignored::Hostile("-fplugin=x.so".into())]);
    }

    #[test]
    fn what_has_no_effect_is_named_and_what_cannot_be_followed_refused() {
        let read = |line: &str, origin| super::read(&words(line), Path::new(""), origin);
        let ignored = read("-fnew-in-gcc -Xclang -load -Xclang x.so -mllvm -x -B dir", Origin::Build).unwrap().ignored;
        let ignored: Vec<String> = ignored.iter().map(Ignored::to_string).collect();
        assert_eq!(ignored.len(), 4, "{ignored:?}");
        for option in ["-B dir", "-mllvm -x", "-load x.so", "-fnew-in-gcc"] {
            assert!(ignored.iter().any(|text| text.contains(option)), "{option}: {ignored:?}");
        }
        // A user may pass these options.
        let line = "-fnew-in-gcc -mllvm -x";
        assert_eq!(read(line, Origin::User).unwrap().options.join(" "), line);
        for origin in [Origin::Build, Origin::User] {
            assert_eq!(read("-funsigned-bitfields", origin), Err(Refusal::Option("-funsigned-bitfields".into())));
            assert_eq!(read("-fsso-struct=big-endian", origin), Err(Refusal::Option("-fsso-struct=big-endian".into())));
            assert_eq!(read("-x c++ a.c", origin), Err(Refusal::Language("c++".into())));
            assert_eq!(read("-xassembler", origin), Err(Refusal::Language("assembler".into())));
        }
    }

    #[test]
    fn sanitizers_are_apart() {
        let all = words(
            "-DA -fsanitize=address -Xclang -fno-sanitize=all -Xclang -DB -fsanitize-trap -fsanitize-ignorelist=x",
        );
        let (others, sanitizers) = split_sanitizers(&all);
        assert_eq!(others.join(" "), "-DA -Xclang -DB");
        assert_eq!(
            sanitizers.join(" "),
            "-fsanitize=address -Xclang -fno-sanitize=all -fsanitize-trap -fsanitize-ignorelist=x"
        );
    }

    /// Runs clang with each option that a build file can pass on: with a value if it takes one, and each flag of the
    /// compiler proper that enables something.
    #[test]
    fn nothing_that_is_passed_writes_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        std::fs::write(here.join("a.c"), "int main(void) { return 0; }\n").unwrap();
        let passed = table().iter().filter(|(name, forms)| {
            let takes_value = forms.iter().any(|(value, _)| *value != ValuePosition::Following(0));
            let is_passed = matches!(forms[0].1, Class::Meaning | Class::Sanitizer);
            is_passed && (takes_value || !name.starts_with("-m") && !name.starts_with("-fno-"))
        });
        let lines: Vec<Vec<String>> = passed
            .map(|(&name, forms)| match forms[0].0 {
                ValuePosition::Following(n) => {
                    std::iter::once(name.to_owned()).chain((0..n).map(|_| "written".into())).collect()
                }
                _ => vec![format!("{name}written")],
            })
            .collect();
        assert!(lines.len() > 500, "{} options", lines.len());
        lines.par_iter().for_each(|line| {
            let mut command = Command::new("clang-19");
            command.current_dir(here).args(["-c", "-emit-llvm", "-o", "/dev/null"]).args(line).args(["--", "a.c"]);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
            let found: Vec<_> = std::fs::read_dir(here).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(found, ["a.c"], "{line:?}");
        });
    }
}
