//! Compiles C to bitcode. clang is the only process that a run starts.
//!
//! The bitcode comes directly from clang's code generator, with debug information and without optimisation passes, so
//! that it represents the source program.

use crate::command::{CompileCommand, split_sanitizers};
use crate::error::Error;
use crate::options::{InputFile, Options};
use crate::target::DataModel;
use crate::target::{self, Target};
use crate::{dialect, included, llvm, primitives};
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tempfile::TempDir;

/// The clang of the linked LLVM version.
const CLANG: &str = "clang-19";
const VERSION: u32 = 19;
/// The environment variable that names another clang, by path or by a name on `PATH`.
const CLANG_VARIABLE: &str = "PROVISO_CLANG";

/// The name of the header that is included in all C files of the user.
const VOCABULARY: &str = "vocabulary.h";

/// The name of the file in which clang lists the files that it reads.
const RULE: &str = "rule";

/// The prefix of the C names under which library functions are declared, so that clang calls them instead of its
/// builtins.
pub(crate) const CALLED: &str = "__proviso_called_";

/// The interval at which a running clang is polled.
const POLL: Duration = Duration::from_millis(1);

/// The flags for all C files, including models.
///
/// - `-O1` without passes instead of `-O0`: with `-O0` clang drops the bodies of C99 `inline` functions and marks all
///   functions `optnone`. The other effects of `-O1` (lifetimes, type-based aliasing, other predefined macros) are
///   disabled.
/// - No `-fwrapv`: the `nsw` flags mark signed additions, which the overflow property needs.
/// - `-fno-elide-constructors`: a returned variable is another object than the result, and dies before it.
/// - All warnings are off, including those that are errors by default. Old C code (implicit `int`, mixed pointer types)
///   then compiles as it does with gcc.
const FLAGS: &[&str] = &[
    "-c",
    "-emit-llvm",
    "-g",
    "-O1",
    "-Xclang",
    "-disable-llvm-passes",
    "-fno-strict-aliasing",
    "-U__OPTIMIZE__",
    "-D__NO_INLINE__=1",
    "-fno-stack-protector",
    "-fbracket-depth=4096",
    "-w",
    "-Wno-everything",
    "-fno-crash-diagnostics",
    "-fno-elide-constructors",
];

/// Disables the markers of variable scopes, which only some checks need.
const NO_SCOPES: [&str; 2] = ["-Xclang", "-disable-lifetime-markers"];

/// Library functions that clang translates to instructions (or evaluates for constant arguments) instead of calling
/// them. If a program defines one of them itself, a call means the program's function. The caller must then compile
/// again with these names in `shadowed`.
pub(crate) const TRANSLATED: &[&str] = &[
    "__finite",
    "__finitef",
    "__finitel",
    "abs",
    "alloca",
    "bcmp",
    "bcopy",
    "bzero",
    "ceil",
    "ceilf",
    "ceill",
    "cimag",
    "cimagf",
    "cimagl",
    "conj",
    "conjf",
    "conjl",
    "copysign",
    "copysignf",
    "copysignl",
    "creal",
    "crealf",
    "creall",
    "fabs",
    "fabsf",
    "fabsl",
    "ffs",
    "ffsl",
    "ffsll",
    "finite",
    "finitef",
    "finitel",
    "floor",
    "floorf",
    "floorl",
    "fma",
    "fmaf",
    "fmal",
    "fmax",
    "fmaxf",
    "fmaxl",
    "fmin",
    "fminf",
    "fminl",
    "isinf",
    "isinff",
    "isinfl",
    "isnan",
    "isnanf",
    "isnanl",
    "labs",
    "llabs",
    "memchr",
    "memcmp",
    "memcpy",
    "memmove",
    "mempcpy",
    "memset",
    "nan",
    "nanf",
    "nanl",
    "nearbyint",
    "nearbyintf",
    "nearbyintl",
    "rint",
    "rintf",
    "rintl",
    "round",
    "roundeven",
    "roundevenf",
    "roundevenl",
    "roundf",
    "roundl",
    "signbit",
    "strchr",
    "strcmp",
    "strlen",
    "strncmp",
    "trunc",
    "truncf",
    "truncl",
    "wcschr",
    "wcscmp",
    "wcslen",
    "wcsncmp",
    "wmemchr",
    "wmemcmp",
    "wmemcpy",
    "wmemmove",
];

/// True if compilers may replace calls of this function by instructions.
pub fn is_translated(function: &str) -> bool {
    TRANSLATED.contains(&function)
}

/// Library functions with their types that clang knows only as builtins (`__builtin_ffs`).
const BUILTIN_ONLY: [(&str, &str); 3] = [("ffs", "int (int)"), ("ffsl", "int (long)"), ("ffsll", "int (long long)")];

/// A clang executable, and a cache of its results, because several programs may share files.
#[derive(Debug)]
pub(crate) struct Compiler {
    clang: PathBuf,
    /// The folder of the header that is included in all C files of the user.
    vocabulary: TempDir,
    /// The results by command line, directory, and file or text.
    made: Mutex<HashMap<Vec<OsString>, Arc<[u8]>>>,
}

impl Compiler {
    /// Finds the clang that `PROVISO_CLANG` names, or the pinned one. Checks the version of a clang without a version
    /// in its name, because the flags and the parsed output depend on it.
    pub(crate) fn find() -> Result<Self, Error> {
        if let Some(named) = std::env::var_os(CLANG_VARIABLE).filter(|name| !name.is_empty()) {
            let found = find_program(&named);
            let problem = match found.as_deref().map(version) {
                None => "which is not a program".into(),
                Some(Some(VERSION)) => return Self::new(found.unwrap_or_default()),
                Some(Some(other)) => format!("which is clang {other}; clang {VERSION} is needed"),
                Some(None) => format!("whose version is not clang {VERSION}"),
            };
            return Err(Error::NoCompiler(format!("{CLANG_VARIABLE} is {named:?}, {problem}")));
        }
        let pinned = find_program(OsStr::new(CLANG))
            .or_else(|| Some(PathBuf::from("/usr/lib/llvm-19/bin/clang")).filter(|path| path.is_file()));
        if let Some(clang) = pinned {
            return Self::new(clang);
        }
        let other = find_program(OsStr::new("clang")).map(|clang| (version(&clang), clang));
        let seen = match other {
            Some((Some(VERSION), clang)) => return Self::new(clang),
            Some((Some(other), clang)) => format!(" ({} is clang {other})", clang.display()),
            _ => String::new(),
        };
        Err(Error::NoCompiler(format!(
            "{CLANG} is not on PATH{seen}; install it (Debian, Ubuntu: apt-get install {CLANG}) or let {CLANG_VARIABLE} name it"
        )))
    }

    fn new(clang: PathBuf) -> Result<Self, Error> {
        let vocabulary = temporary_directory()?;
        fs::write(vocabulary.path().join(VOCABULARY), primitives::VOCABULARY).map_err(cannot_write)?;
        Ok(Self { clang, vocabulary, made: Mutex::default() })
    }

    pub(crate) fn clang(&self) -> &Path {
        &self.clang
    }

    /// Returns the cached result, or computes and caches it.
    fn once(&self, key: &[OsString], make: impl FnOnce() -> Result<Vec<u8>, Error>) -> Result<Arc<[u8]>, Error> {
        let made = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = made().get(key) {
            return Ok(made.clone());
        }
        let bitcode: Arc<[u8]> = make()?.into();
        made().insert(key.to_vec(), bitcode.clone());
        Ok(bitcode)
    }

    /// Compiles C files in parallel. Returns their bitcode in the order of `files`. The library functions in `shadowed`
    /// (of [`TRANSLATED`]) are called like any other function. If `stop` returns true, the running clangs end and the
    /// result is [`Error::Interrupted`]. `stop` is called about every millisecond, from several threads.
    pub(crate) fn compile(
        &self,
        files: &[&InputFile],
        options: &Options,
        shadowed: &[&str],
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<Arc<[u8]>>, Error> {
        let mut base: Vec<OsString> = FLAGS.iter().map(OsString::from).collect();
        // The names of blocks show which edge of a branch belongs to C's true condition.
        base.push("-fno-discard-value-names".into());
        let called = options.called_by_name();
        base.extend(shadowed.iter().chain(&called).map(|name| format!("-fno-builtin-{name}").into()));
        let target = target_options(options);
        let declared = self.library_types(&called, &target)?;
        base.extend(builtins_as_calls(&declared).into_iter().map(OsString::from));
        // The vocabulary comes first, because the user's headers may replace its macros.
        let vocabulary = self.vocabulary.path();
        base.push(format!("-fdebug-prefix-map={}=<models>", vocabulary.display()).into());
        base.extend(["-include".into(), vocabulary.join(VOCABULARY).into_os_string()]);
        // Files of a project are compiled in the project's directory.
        let here = |dir: &PathBuf| match files.iter().any(|file| file.command.is_some()) {
            false => dir.clone(),
            true => std::path::absolute(dir).unwrap_or_else(|_| dir.clone()),
        };
        let mut own: Vec<OsString> = Vec::new();
        own.extend(options.include_dirs.iter().flat_map(|dir| ["-I".into(), here(dir).into_os_string()]));
        own.extend(options.defines.iter().map(|define| format!("-D{define}").into()));
        own.extend(options.std.iter().map(|std| format!("-std={std}").into()));
        let (checks, scopes) = options.compiled_for();
        if !scopes {
            own.extend(NO_SCOPES.map(OsString::from));
        }
        let (others, sanitizers) = split_sanitizers(&options.clang_args);
        own.extend(others.into_iter().map(OsString::from));

        let compile = |InputFile { path, command, .. }: &&InputFile| {
            let command = command.as_ref();
            let (project, of_project) = command.map(|c| split_sanitizers(&c.options)).unwrap_or_default();
            let project = project.into_iter().map(OsString::from);
            // clang changes the target of `--target` for `-m64` at any position.
            let has_target = command.is_some_and(|c| !target::options(&c.options, Some(&c.directory)).is_empty());
            let target = target.iter().filter(|_| !has_target).cloned();
            let of_file = || command.into_iter().flat_map(|c| &c.options).chain(&options.clang_args);
            let overflow = match wraps(of_file()) && !options.checks_wrapping {
                true => Overflow::Defined,
                false if of_file().any(|option| option == "-ftrapv") => Overflow::Traps,
                false => Overflow::Undefined,
            };
            let line = Line {
                common: target.chain(base.iter().cloned()).chain(project).chain(own.iter().cloned()).collect(),
                checks: sanitize(&checks, overflow),
                sanitizers: of_project.iter().chain(&sanitizers).map(OsString::from).collect(),
            };
            let end = [OsString::new()];
            let directory = command.map_or(Path::new(""), |c| &c.directory);
            let named = command.and_then(|c| c.file.as_deref()).unwrap_or(Path::new(""));
            let place = [directory, named, path].map(|part| part.as_os_str().to_owned());
            let key = [&line.common[..], &end, &line.checks, &end, &line.sanitizers, &end, &place].concat();
            self.once(&key, || self.run(path, command, line, &declared, stop))
        };
        // All results are collected first, so that the error of the first file is reported.
        files.par_iter().map(compile).collect::<Vec<_>>().into_iter().collect()
    }

    /// Returns a file after preprocessing.
    pub(crate) fn preprocessed(&self, file: &Path, options: &Options) -> Result<String, Error> {
        let mut options = options.clone();
        options.checks.clear();
        options.checked_elsewhere.clear();
        options.clang_args.extend(["-E".into(), "-P".into()]);
        let input = options.inputs.iter().find(|input| input.path == file).cloned();
        let input = input.unwrap_or_else(|| InputFile::from(file));
        let text = self.compile(&[&input], &options, &[], &|| false)?.pop().unwrap_or_default();
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Compiles a text in place of a file. Returns the lines with errors, or none if it compiles.
    pub(crate) fn errors_in(&self, text: &str, file: &Path, options: &Options) -> Result<Vec<u32>, Error> {
        let dir = temporary_directory()?;
        let name = file.file_name().unwrap_or_else(|| OsStr::new("text.c"));
        let copy = dir.path().join(name);
        fs::write(&copy, text).map_err(cannot_write)?;
        let mut options = options.clone();
        let folder = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        options.clang_args.extend(["-iquote".into(), folder.display().to_string(), "-ferror-limit=0".into()]);
        let mut inputs: Vec<&InputFile> = options.inputs.iter().filter(|input| input.path == file).collect();
        let alone = InputFile::from(file);
        if inputs.is_empty() {
            inputs.push(&alone);
        }
        let mut lines = Vec::new();
        for input in inputs {
            let input = InputFile { path: copy.clone(), ..input.clone() };
            match self.compile(&[&input], &options, &[], &|| false) {
                Ok(_) => {}
                Err(Error::Compile { messages, .. }) => {
                    let own = format!("{}:", copy.display());
                    let line = |l: &str| l.strip_prefix(&own)?.split(':').next()?.parse().ok();
                    let found: Vec<u32> = messages.lines().filter(|l| l.contains("error:")).filter_map(line).collect();
                    // An error without a position counts as line 0.
                    lines.extend(if found.is_empty() { vec![0] } else { found });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(lines)
    }

    /// Compiles models to bitcode. `files` are names and contents. The file `main` includes the others.
    pub(crate) fn compile_models(
        &self,
        main: &str,
        files: &[(&str, &str)],
        target: &Target,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Arc<[u8]>, Error> {
        let mut args: Vec<OsString> = vec![format!("--target={}", target.triple()).into()];
        args.extend(FLAGS.iter().map(OsString::from));
        args.extend(NO_SCOPES.map(OsString::from));
        // The models round after each operation. They use `fma` explicitly where they need one rounding.
        args.push("-ffp-contract=off".into());
        // The models need no headers. `-fno-math-errno` makes `__builtin_sqrt` an instruction.
        args.extend(["-nostdinc", "-fno-math-errno", "-std=gnu17"].map(OsString::from));
        let text = files.iter().find(|(name, _)| *name == main).map_or("", |(_, text)| text);
        self.once(&[&args, &[text.into()][..]].concat(), || {
            let dir = temporary_directory()?;
            for (name, content) in files {
                fs::write(dir.path().join(name), content).map_err(cannot_write)?;
            }
            let mut args = args.clone();
            // The program must not depend on the temporary path of the files.
            args.push(format!("-fdebug-prefix-map={}=<models>", dir.path().display()).into());
            let line = Line { common: args, checks: Vec::new(), sanitizers: Vec::new() };
            self.run(&dir.path().join(main), None, line, &[], stop)
        })
    }

    /// The types of library functions, by name, as clang knows them. Unknown functions are omitted.
    fn library_types(&self, names: &BTreeSet<&str>, target: &[OsString]) -> Result<Vec<(String, String)>, Error> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        // clang reports the type when a function is used without a declaration.
        let uses = names.iter().map(|name| format!("void proviso_{name}(void) {{ (void){name}; }}\n"));
        let dir = temporary_directory()?;
        let file = dir.path().join("types.c");
        fs::write(&file, uses.collect::<String>()).map_err(cannot_write)?;
        let output = Command::new(&self.clang)
            .args(target)
            .args(["-fsyntax-only", "-ferror-limit=0", "-std=gnu17"])
            .arg(&file)
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| Error::NoCompiler(format!("{}: {error}", self.clang.display())))?;
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        let of = |message: &str| {
            let (name, rest) = message.split_once("' with type '")?;
            let ty = rest.split_once('\'')?.0;
            // Attributes such as `noreturn` are not part of the type.
            let ty = ty.split_once(" __attribute__").map_or(ty, |(ty, _)| ty);
            Some((name.to_owned(), ty.to_owned()))
        };
        let known = messages.split("call to undeclared library function '").skip(1).filter_map(of);
        let builtins = BUILTIN_ONLY.iter().filter(|(name, _)| names.contains(name));
        Ok(known.chain(builtins.map(|&(name, ty)| (name.to_owned(), ty.to_owned()))).collect())
    }

    /// Compiles one file, in the directory of its command if it has one. clang's builtins for the functions in `called`
    /// become calls of these functions.
    fn run(
        &self,
        file: &Path,
        command: Option<&CompileCommand>,
        mut line: Line,
        called: &[(String, String)],
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<u8>, Error> {
        // clang's own message would not say that the file is the user's input.
        File::open(file).map_err(|error| Error::unreadable(file, &error))?;
        // clang includes no header before a preprocessed file, and precompiles a header.
        if needs_preprocessor(file, called) || file.extension().is_some_and(|e| e == "h") {
            line.common.extend(["-x".into(), "c".into()]);
        }
        let scratch = temporary_directory()?;
        let directory = command.map(|c| c.directory.as_path());
        let mut named = command.and_then(|c| c.file.as_deref());
        if let (Some(name), Some(directory)) = (named, directory) {
            let is_same =
                |other: &Path| matches!((file.canonicalize(), other.canonicalize()), (Ok(a), Ok(b)) if a == b);
            // The file may be a changed copy of the one that the command names.
            if !is_name_of_file(name) || !is_same(&directory.join(name)) {
                let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
                line.common.push(format!("-fmacro-prefix-map={}={}", path.display(), name.display()).into());
                named = None;
            }
        }
        let runs = Runs { compiler: self, directory, file, named, scratch: scratch.path(), stop };
        let mut attempt = runs.clang(file, &line.with_checks())?;
        // If the program defines a checked builtin, its name is redefined as the library's checked function.
        while let Err(Rejected { messages, .. }) = &attempt
            && let Some((builtin, function)) = dialect::checked_builtin(messages)
        {
            let define = OsString::from(format!("-D{builtin}={function}"));
            if line.common.contains(&define) {
                break;
            }
            line.common.push(define);
            attempt = runs.clang(file, &line.with_checks())?;
        }
        let args = line.with_checks();
        if let Some(text) = runs.without_our_sanitizers(file, &line, attempt.is_ok())? {
            attempt = runs.rewritten(&text, dialect::Reasons::default(), &args)?;
        } else if let Err(Rejected { messages, .. }) = &attempt
            && let Some(reasons) = dialect::Reasons::parse(messages)
            && let Ok(text) = runs.preprocessed(file, &args)?
        {
            attempt = runs.rewritten(&String::from_utf8_lossy(&text), reasons, &args)?;
        }
        attempt.map_err(|Rejected { messages, status }| match runs.target(&args) {
            Err(triple) => target::refused(file, triple),
            Ok(target) => {
                Error::Compile { path: file.to_owned(), messages: explain(messages, status, target.data_model()) }
            }
        })
    }
}

/// The command lines of clang for one file.
struct Line {
    /// The options without sanitizers.
    common: Vec<OsString>,
    /// The sanitizers of the enabled checks.
    checks: Vec<OsString>,
    /// The sanitizers of the user's build.
    sanitizers: Vec<OsString>,
}

impl Line {
    /// The options for code generation.
    fn with_checks(&self) -> Vec<OsString> {
        [&self.common[..], &self.checks].concat()
    }

    /// The options for the preprocessor. The program must observe the same sanitizers as in the user's build. (Some
    /// sanitizers require link-time optimisation.)
    fn as_built(&self) -> Vec<OsString> {
        let lto = (!self.sanitizers.is_empty()).then(|| "-flto".into());
        [&self.common[..], &self.sanitizers, lto.as_slice()].concat()
    }
}

/// Runs clang on one file.
struct Runs<'a> {
    compiler: &'a Compiler,
    /// The working directory, if not the current one.
    directory: Option<&'a Path>,
    /// The file of the user.
    file: &'a Path,
    /// The name of the file in its compile command, relative to the working directory.
    named: Option<&'a Path>,
    /// The directory for temporary files.
    scratch: &'a Path,
    stop: &'a (dyn Fn() -> bool + Sync),
}

impl Runs<'_> {
    /// Runs clang. Returns its output file, or its messages if it rejects the file.
    fn clang(&self, file: &Path, args: &[OsString]) -> Result<Result<Vec<u8>, Rejected>, Error> {
        let [output, messages, rule] = ["out", "messages", RULE].map(|name| self.scratch.join(name));
        let mut command = Command::new(&self.compiler.clang);
        let absolute = self.directory.and_then(|_| std::path::absolute(file).ok());
        let named = self.named.filter(|_| file == self.file).or(absolute.as_deref()).unwrap_or(file);
        if let Some(directory) = self.directory {
            command.current_dir(directory);
        }
        let child = command
            .args(args)
            .args(["-MD", "-MF"])
            .arg(&rule)
            .arg("-o")
            .arg(&output)
            .arg("--")
            .arg(named)
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&messages).map_err(cannot_write)?)
            .spawn()
            .map_err(|error| Error::NoCompiler(format!("{}: {error}", self.compiler.clang.display())))?;
        let status = Running(child).wait(self.stop)?;
        included::record(&rule, self.directory);
        if status.success() {
            return fs::read(&output).map(Ok).map_err(|error| Error::unreadable(&output, &error));
        }
        let messages = String::from_utf8_lossy(&fs::read(&messages).unwrap_or_default()).into_owned();
        Ok(Err(Rejected { messages: self.with_path(messages), status }))
    }

    /// clang's messages, with the absolute path of the user's file, because the command's name may be relative to another
    /// directory.
    fn with_path(&self, messages: String) -> String {
        let Some((named, path)) = self.named.zip(std::path::absolute(self.file).ok()) else { return messages };
        let (named, path) = (format!("{}:", named.display()), format!("{}:", path.display()));
        let line = |line: &str| match line.strip_prefix(&named) {
            Some(rest) => format!("{path}{rest}"),
            None => line.to_owned(),
        };
        messages.split('\n').map(line).collect::<Vec<_>>().join("\n")
    }

    /// The target of clang's code generation. If it is not supported, the triple.
    fn target(&self, args: &[OsString]) -> Result<Target, String> {
        let mut command = Command::new(&self.compiler.clang);
        if let Some(directory) = self.directory {
            command.current_dir(directory);
        }
        let output = command.args(args).arg("-print-effective-triple").stdin(Stdio::null()).output();
        let triple = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        Target::of_triple(&llvm::normal_triple(&triple.unwrap_or_default()))
    }

    /// The text after preprocessing. A preprocessed file is returned unchanged, because clang would output nothing for
    /// it.
    fn preprocessed(&self, file: &Path, args: &[OsString]) -> Result<Result<Vec<u8>, Rejected>, Error> {
        let is_text = file.extension().is_some_and(|e| e == "i") && !args.iter().any(|arg| arg == "-x");
        let read = || fs::read(file).map(Ok).map_err(|error| Error::unreadable(file, &error));
        if is_text { read() } else { self.clang(file, &[args, &["-E".into()]].concat()) }
    }

    /// The file preprocessed as in the user's build, with all exemptions from checks removed. `None` if this text
    /// equals the one that is compiled with the checks anyway. (If macros are expanded, the columns of the text differ
    /// from those of the file.)
    fn without_our_sanitizers(&self, file: &Path, line: &Line, compiles: bool) -> Result<Option<String>, Error> {
        let is_asked = !line.checks.is_empty() || !line.sanitizers.is_empty();
        if !is_asked || compiles && !self.may_depend_on_sanitizers(file) {
            return Ok(None);
        }
        let built = match self.preprocessed(file, &line.as_built())? {
            Ok(text) => Ok(text),
            // clang does not know a sanitizer of the build.
            Err(_) => self.preprocessed(file, &line.common)?,
        };
        let Ok(built) = built else { return Ok(None) };
        let is_other = self.preprocessed(file, &line.with_checks())?.is_ok_and(|ours| ours != built);
        let built = String::from_utf8_lossy(&built);
        let checked = (!line.checks.is_empty()).then(|| dialect::without_exemptions(&built)).flatten();
        Ok(checked.or_else(|| is_other.then(|| built.into_owned())))
    }

    /// True if the preprocessed text of the file, which clang has just compiled, may depend on the sanitizers or
    /// mention one.
    fn may_depend_on_sanitizers(&self, file: &Path) -> bool {
        let is_of_the_system = |file: &Path| file.starts_with("/usr");
        let read = included::named_by(&self.scratch.join(RULE), self.directory);
        read.iter().map(PathBuf::as_path).chain([file]).any(|file| match fs::read(file) {
            // The vocabulary pastes no names.
            Ok(text) if text == primitives::VOCABULARY.as_bytes() => false,
            Ok(text) => {
                let text = String::from_utf8_lossy(&text).replace("\\\n", "").replace("\\\r\n", "");
                // Token pasting may create the name of a sanitizer.
                let pastes = || ["##", "%:%:", "??=", "CONCAT"].iter().any(|paste| text.contains(paste));
                text.contains("sanit") || !is_of_the_system(file) && pastes()
            }
            Err(_) => true,
        })
    }

    /// Compiles preprocessed text that clang rejected. Repeats the rewriting for newly reported reasons.
    fn rewritten(
        &self,
        text: &str,
        mut reasons: dialect::Reasons,
        args: &[OsString],
    ) -> Result<Result<Vec<u8>, Rejected>, Error> {
        let file = self.scratch.join("rewritten.i");
        let args = [args, &["-x".into(), "cpp-output".into()]].concat();
        loop {
            fs::write(&file, dialect::rewrite(text, &reasons)).map_err(cannot_write)?;
            let attempt = self.clang(&file, &args)?;
            let more = attempt.as_ref().err().and_then(|rejected| dialect::Reasons::parse(&rejected.messages));
            if !more.is_some_and(|more| reasons.add(more)) {
                return Ok(attempt);
            }
        }
    }
}

/// Options that turn clang's builtins into calls of the library functions: `__builtin_memcpy`, and for functions with
/// an LLVM instruction also `__builtin___memcpy_chk`.
fn builtins_as_calls(functions: &[(String, String)]) -> Vec<String> {
    let mut declarations = String::new();
    let mut options = Vec::new();
    let mut call = |name: &str, ty: &str| {
        declarations.push_str(&format!("extern __typeof__({ty}) {CALLED}{name} __asm__(\"{name}\");"));
        options.push(format!("-D__builtin_{name}={CALLED}{name}"));
    };
    for (name, ty) in functions {
        call(name, ty);
        if ["memcpy", "memmove", "mempcpy", "memset"].contains(&name.as_str())
            && let Some((parameters, _)) = ty.rsplit_once(')')
        {
            call(&format!("__{name}_chk"), &format!("{parameters}, __SIZE_TYPE__)"));
        }
    }
    if !options.is_empty() {
        options.push(format!("-DPROVISO_CALLED={declarations}"));
    }
    options
}

/// True if a `.i` file uses names of the vocabulary, or builtins that must become calls.
fn needs_preprocessor(file: &Path, called: &[(String, String)]) -> bool {
    let needs = |text: String| {
        let has_builtin = |name: &str| text.contains(&format!("__builtin_{name}"));
        text.contains("__CPROVER_")
            || text.contains("__ESBMC_")
            || called.iter().any(|(name, _)| has_builtin(name) || has_builtin(&format!("__{name}_chk")))
    };
    file.extension().is_some_and(|e| e == "i") && fs::read_to_string(file).is_ok_and(needs)
}

/// False for a word that clang does not take as the name of a file, even after `--`: a response file or standard input.
fn is_name_of_file(word: &Path) -> bool {
    let word = word.as_os_str().as_encoded_bytes();
    !word.is_empty() && !word.starts_with(b"@") && word != b"-"
}

/// The result of a run in which clang rejected the file.
struct Rejected {
    messages: String,
    status: ExitStatus,
}

/// The options that select the target of files without target options: that of the given data model, else that of the
/// project's other files.
fn target_options(options: &Options) -> Vec<OsString> {
    if !target::options(&options.clang_args, None).is_empty() {
        return Vec::new();
    }
    let commands = options.inputs.iter().filter_map(|input| input.command.as_ref());
    let mut of_project = commands.map(|c| target::options(&c.options, Some(&c.directory)));
    match (options.data_model, of_project.find(|found| !found.is_empty())) {
        (None, Some(found)) => found,
        (model, _) => vec![data_model_flag(model.unwrap_or(DataModel::Lp64)).into()],
    }
}

/// The behaviour of signed overflow in a file.
#[derive(Clone, Copy, PartialEq)]
enum Overflow {
    Undefined,
    /// It wraps around (`-fwrapv`).
    Defined,
    /// The program ends (`-ftrapv`).
    Traps,
}

/// The sanitizer options of the checks. If signed overflow is defined in a file, its check is omitted, as clang's group
/// `undefined` does.
fn sanitize(sanitizers: &[&str], overflow: Overflow) -> Vec<OsString> {
    const SIGNED: &str = "signed-integer-overflow";
    let is_asked = |name: &&&str| !(overflow == Overflow::Defined && **name == SIGNED);
    let names: Vec<&str> = sanitizers.iter().filter(is_asked).copied().collect();
    if names.is_empty() {
        return Vec::new();
    }
    // Execution continues after a failed check, because the check may belong to a property that is not enabled.
    let mut all: Vec<OsString> = vec![
        format!("-fsanitize={}", names.join(",")).into(),
        "-fsanitize-recover=all".into(),
        "-fno-sanitize-ignorelist".into(),
    ];
    if overflow == Overflow::Traps {
        all.push(format!("-fno-sanitize-recover={SIGNED}").into());
    }
    all
}

/// True if these options define signed overflow as wrapping. The last relevant option counts.
fn wraps<'a>(options: impl Iterator<Item = &'a String>) -> bool {
    let says = |option: &String| match option.as_str() {
        "-fwrapv" | "-fno-strict-overflow" => Some(true),
        "-fno-wrapv" | "-fstrict-overflow" => Some(false),
        _ => None,
    };
    options.filter_map(says).last().unwrap_or(false)
}

fn data_model_flag(data_model: DataModel) -> &'static str {
    match data_model {
        DataModel::Ilp32 => "-m32",
        DataModel::Lp64 => "-m64",
    }
}

/// clang's messages, with a remedy where they do not imply it.
fn explain(mut messages: String, status: ExitStatus, data_model: DataModel) -> String {
    if status.code().is_none() {
        messages.push_str(&format!("clang was ended by {status}\n"));
    }
    // Debian has architecture-specific headers in separate folders and packages.
    let lacks_target_header = messages.lines().any(|line| {
        let missing = line.split_once("fatal error: '").and_then(|(_, rest)| rest.split_once("' file not found"));
        missing.is_some_and(|(name, _)| ["bits/", "gnu/", "sys/", "asm/"].iter().any(|dir| name.starts_with(dir)))
    });
    if lacks_target_header {
        let package = match data_model {
            DataModel::Ilp32 => "libc6-dev-i386",
            DataModel::Lp64 => "libc6-dev",
        };
        messages.push_str(&format!(
            "The C library's headers for {} programs are not installed (Debian, Ubuntu: apt-get install {package}).\n",
            match data_model {
                DataModel::Ilp32 => "32-bit",
                DataModel::Lp64 => "64-bit",
            }
        ));
    }
    messages
}

/// A process that is killed when this value is dropped.
struct Running(Child);

impl Running {
    fn wait(mut self, stop: &(dyn Fn() -> bool + Sync)) -> Result<ExitStatus, Error> {
        loop {
            if stop() {
                return Err(Error::Interrupted);
            }
            match self.0.try_wait() {
                Ok(Some(status)) => return Ok(status),
                Ok(None) => std::thread::sleep(POLL),
                Err(error) => return Err(Error::NoCompiler(error.to_string())),
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both calls have no effect after the process was waited for.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program with this path, or the first one with this name on `PATH`.
fn find_program(name: &OsStr) -> Option<PathBuf> {
    let is_path = Path::new(name).components().count() > 1;
    let folders =
        if is_path { vec![PathBuf::new()] } else { std::env::split_paths(&std::env::var_os("PATH")?).collect() };
    folders.into_iter().map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// The major version that a clang reports.
fn version(clang: &Path) -> Option<u32> {
    let said = Command::new(clang).arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let (_, rest) = text.split_once("clang version ")?;
    rest.split('.').next()?.parse().ok()
}

fn temporary_directory() -> Result<TempDir, Error> {
    tempfile::Builder::new().prefix("proviso-").tempdir().map_err(cannot_write)
}

fn cannot_write(error: std::io::Error) -> Error {
    Error::Unreadable { path: std::env::temp_dir(), reason: format!("the folder for temporary files: {error}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile(source: &str, options: &Options) -> Result<Arc<[u8]>, Error> {
        let dir = temporary_directory().unwrap();
        let file = dir.path().join("test.c");
        fs::write(&file, source).unwrap();
        Compiler::find()?.compile(&[&file.into()], options, &[], &|| false).map(|mut all| all.remove(0))
    }

    #[test]
    fn the_vocabulary_pastes_no_names() {
        let rest = primitives::VOCABULARY.replace(", ##__VA_ARGS__", "");
        assert!(["##", "%:%:", "??=", "CONCAT", "sanit"].iter().all(|word| !rest.contains(word)));
    }

    #[test]
    fn bitcode_comes_out() {
        let options = Options { defines: vec!["N=3".into()], std: Some("c99".into()), ..Options::default() };
        let bitcode = compile("int a[N]; int main(void) { return 0; }", &options).unwrap();
        assert_eq!(&bitcode[..2], b"BC");
    }

    #[test]
    fn the_last_option_says_whether_arithmetic_wraps() {
        let wraps = |options: &str| super::wraps(options.split(' ').map(String::from).collect::<Vec<_>>().iter());
        assert!(wraps("-fwrapv") && wraps("-O2 -fno-strict-overflow -g") && wraps("-fno-wrapv -fwrapv"));
        assert!(!wraps("") && !wraps("-fwrapv -fno-wrapv") && !wraps("-fwrapv -fstrict-overflow"));
        assert_eq!(sanitize(&["shift", "signed-integer-overflow"], Overflow::Defined)[0], "-fsanitize=shift");
        assert!(sanitize(&["signed-integer-overflow"], Overflow::Defined).is_empty());
        assert!(
            !sanitize(&["shift"], Overflow::Undefined)
                .contains(&"-fno-sanitize-recover=signed-integer-overflow".into())
        );
        assert!(
            sanitize(&["shift"], Overflow::Traps).contains(&"-fno-sanitize-recover=signed-integer-overflow".into())
        );
    }

    #[test]
    fn old_c_compiles() {
        let source = "f(x) char *x; { int *p = x; return g(p) + 1; }\n\
                      main() { void *q = malloc(3); char c = q; exit(f(c)); }\n\
                      double *h(x) { return x; } k() { return; }";
        for data_model in [DataModel::Ilp32, DataModel::Lp64] {
            compile(source, &Options { data_model: Some(data_model), ..Options::default() }).unwrap();
        }
    }

    #[test]
    fn errors_are_clangs() {
        let Err(Error::Compile { messages, .. }) = compile("int main( { }", &Options::default()) else {
            panic!("compiled")
        };
        assert!(messages.contains("test.c:1:11: error: expected parameter declarator"), "{messages}");
        let missing = Path::new("/nonexistent/x.c");
        let error = Compiler::find().unwrap().compile(&[&missing.into()], &Options::default(), &[], &|| false);
        assert!(matches!(error, Err(Error::Unreadable { path, .. }) if path == missing));
    }

    #[test]
    fn missing_headers_of_the_target_are_explained() {
        let messages = "/usr/include/stdio.h:27:10: fatal error: 'bits/libc-header-start.h' file not found\n";
        let explained = explain(messages.into(), ExitStatus::default(), DataModel::Ilp32);
        assert!(explained.contains("libc6-dev-i386"), "{explained}");
        let own = "a.c:1:10: fatal error: 'own.h' file not found\n";
        assert_eq!(explain(own.into(), ExitStatus::default(), DataModel::Ilp32), own);
    }

    /// For a function type, its parameter list in C, and the arguments of a call.
    fn parameters(ty: &str) -> (String, String) {
        let list = &ty[ty.rfind('(').unwrap() + 1..ty.len() - 1];
        let types: Vec<&str> = list.split(", ").filter(|ty| !["void", "..."].contains(ty)).collect();
        let named = |(n, ty): (usize, &&str)| format!("__typeof__({ty}) p{n}");
        let declared: Vec<String> = types.iter().enumerate().map(named).collect();
        let passed: Vec<String> = (0..types.len()).map(|n| format!("p{n}")).collect();
        (declared.join(", "), passed.join(", "))
    }

    /// For every library function that clang knows: calls by its name, by the name of clang's builtin, and through a
    /// pointer all remain calls in a program where calls of it are errors.
    #[test]
    fn library_functions_are_called_by_their_names() {
        let compiler = Compiler::find().unwrap();
        let names: BTreeSet<&str> = crate::models::names().chain(TRANSLATED.iter().copied()).collect();
        let types = compiler.library_types(&names, &[]).unwrap();
        // Functions with variable arguments or function pointers are omitted, because the C code below does not support
        // them.
        let types: Vec<_> = types.into_iter().filter(|(_, ty)| ty.matches('(').count() == 1).collect();
        assert!(types.len() > 250, "{}", types.len());
        // Builtins with these names are generic, like the macros of <math.h>.
        let is_generic = |name: &str| ["isinf", "isnan", "signbit"].iter().any(|generic| name.starts_with(generic));
        for name in TRANSLATED.iter().filter(|name| !is_generic(name)) {
            assert!(types.iter().any(|(known, _)| known == name), "{name}");
        }
        let mut source = String::new();
        let mut callers = String::new();
        for (name, ty) in &types {
            let (declared, passed) = parameters(ty);
            let result = &ty[..ty.rfind('(').unwrap()];
            let (function, back) = (format!("{result} "), if result.trim() == "void" { "" } else { "return " });
            source += &format!("extern __typeof__({ty}) {name};\n");
            source += &format!("{function}plain_{name}({declared}) {{ {back}{name}({passed}); }}\n");
            source += &format!("#if __has_builtin(__builtin_{name})\n");
            source +=
                &format!("{function}builtin_{name}({declared}) {{ {back}__builtin_{name}({passed}); }}\n#endif\n");
            callers += &format!("    __typeof__(&{name}) volatile pointer_{name} = {name};\n");
        }
        source += "int constant(void) { return strlen(\"abc\") + strcmp(\"a\", \"b\") + abs(-3); }\n";
        source += &format!("int main(void) {{\n{callers}    return constant();\n}}\n");
        let dir = temporary_directory().unwrap();
        let file = dir.path().join("calls.c");
        fs::write(&file, source).unwrap();
        let error_functions = types.iter().map(|(name, _)| name.clone()).collect();
        let options = Options { inputs: vec![file.into()], error_functions, ..Options::default() };
        let program = crate::load(&options).unwrap().lower().unwrap();
        let calls = |caller: &str, name: &str| {
            program.edges.iter().any(|(id, edge)| {
                program.funcs[program.func_of(id)].name == caller
                    && matches!(edge.op, cfa::Op::Call { callee: cfa::Callee::Direct(f), .. } if program.funcs[f].is_named(name))
            })
        };
        let mut builtins = 0;
        for (name, _) in &types {
            assert!(calls(&format!("plain_{name}"), name), "{name}");
            let builtin = format!("builtin_{name}");
            if program.func_by_name(&builtin).is_some() {
                assert!(calls(&builtin, name), "{builtin}");
                builtins += 1;
            }
            assert!(program.funcs.values().any(|f| f.is_named(name)), "{name} by a pointer");
        }
        assert!(builtins > 200, "{builtins}");
        for name in ["strlen", "strcmp", "abs"] {
            assert!(calls("constant", name), "{name}");
        }
    }

    #[test]
    fn a_slow_compilation_can_be_stopped() {
        // The text doubles 2^26 times, so clang would need minutes.
        let mut source = String::from("#define M0(x) x x\n");
        for i in 1..26 {
            source.push_str(&format!("#define M{i}(x) M{}(x) M{}(x)\n", i - 1, i - 1));
        }
        source.push_str("int main(void) { return 0 M25(+ 1); }");
        let dir = temporary_directory().unwrap();
        let file = dir.path().join("slow.c");
        fs::write(&file, source).unwrap();
        let start = std::time::Instant::now();
        let stop = || start.elapsed() > Duration::from_millis(300);
        let result = Compiler::find().unwrap().compile(&[&file.into()], &Options::default(), &[], &stop);
        assert!(matches!(result, Err(Error::Interrupted)));
        assert!(start.elapsed() < Duration::from_secs(5));
    }
}
