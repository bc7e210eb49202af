//! Models of the C library. They are written in C (`models/`) and linked if a program needs them.
//!
//! Each model file lists the functions and variables that it defines in its first lines. The files that define an
//! undefined symbol of a program are compiled as one unit for the program's target. Only definitions of symbols that
//! the program does not define are linked, so the program's own functions take precedence.

use crate::compile::Compiler;
use crate::error::Error;
use crate::primitives;
use crate::scan_format::Source;
use crate::target::Target;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A file of `models/`.
struct ModelFile {
    name: &'static str,
    text: &'static str,
}

macro_rules! model_files {
    ($($name:literal)*) => {
        &[$(ModelFile { name: $name, text: include_str!(concat!("../models/", $name)) }),*]
    };
}

const FILES: &[ModelFile] = model_files![
    "alloc.c" "assert.c" "atomic.c" "complex.c" "complexf.c" "complexl.c" "cprover.c" "ctype.c" "descriptors.c" "environment.c" "errno.c"
    "fenv.c" "files.c" "folders.c" "getopt.c" "iconv.c" "klee.c" "locale.c" "math.c" "mathf.c" "mathl.c" "messages.c" "mman.c" "mounts.c"
    "multibyte.c" "network.c" "number.c" "printf.c" "process.c" "pthread.c" "regex.c" "report.c" "scanf.c" "sched.c" "search.c"
    "signal.c" "socket.c" "stdio.c" "stdlib.c" "stream.c" "string.c" "threading.c" "threads.c" "time.c" "transcendental.c"
    "transcendentalf.c" "transcendentall.c" "unistd.c" "users.c" "wctype.c" "wide.c" "wnumber.c" "wscanf.c" "wstdio.c"
    "complex.h" "concurrent.h" "math.h" "number.h" "proviso.h" "real.h" "sort.h" "transcendental.h"
];

impl ModelFile {
    /// The names in the file's list of definitions.
    fn defines(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.text.lines().map_while(|line| line.strip_prefix("// Defines:")).flat_map(str::split_whitespace)
    }
}

/// The functions that run before the program ends, if a model that registers handlers is linked. `quick_exit` has its
/// own.
pub(crate) const AT_EXIT: &str = "__proviso_at_exit";
pub(crate) const AT_QUICK_EXIT: &str = "__proviso_at_quick_exit";

const CANCEL: &str = "pthread_cancel";
/// Functions that detach threads.
const DETACH: [&str; 3] = ["pthread_attr_setdetachstate", "pthread_detach", "thrd_detach"];
/// The function that registers a cleanup handler, and its model.
const HANDLER: &str = "__pthread_register_cancel";
pub(crate) const REGISTER_HANDLER: &str = "__proviso_register_handler";
/// The models that act on a request to cancel the thread, certainly and possibly. Programs that cancel threads call them
/// at cancellation points.
pub(crate) const ACT_ON_CANCEL: [&str; 2] = ["pthread_testcancel", "__proviso_may_cancel"];

/// Functions after which a stream uses memory of the program, or that tell of the buffer of a stream.
const KEEPS_BUFFERS: [&str; 8] =
    ["__fpending", "__freading", "fmemopen", "open_memstream", "open_wmemstream", "setbuf", "setbuffer", "setvbuf"];

/// The file with the models of functions that only programs with threads call.
const THREADING: &str = "threading.c";

/// True if only programs with threads have a model of this function.
pub(crate) fn is_threading(function: &str) -> bool {
    file_of(function) == Some(THREADING)
}

/// Functions through which a program can observe the state of open files behind descriptors.
const OPEN_FILES: [&str; 8] = ["__pread_chk", "fcntl", "fcntl64", "lseek", "lseek64", "pread", "pread64", "preadv"];

/// Functions that open files with an access mode.
const OPENS: [&str; 12] = [
    "__open64_2",
    "__open_2",
    "__openat64_2",
    "__openat_2",
    "creat",
    "open",
    "open64",
    "openat",
    "openat64",
    "pipe",
    "pipe2",
    "socketpair",
];

/// Functions that return the position of a stream, or move it by a distance.
const POSITIONS: [&str; 10] = [
    "fgetpos",
    "fgetpos64",
    "fseek",
    "fseeko",
    "fseeko64",
    "ftell",
    "ftello",
    "ftello64",
    "open_memstream",
    "open_wmemstream",
];

/// Functions that move the position of a stream.
const REPOSITIONS: [&str; 6] = ["fseek", "fseeko", "fseeko64", "fsetpos", "fsetpos64", "rewind"];

/// Functions that change the rounding mode.
const SET_ROUNDING: [&str; 4] = ["fesetenv", "fesetmode", "fesetround", "feupdateenv"];

/// Functions that set the seed of random numbers.
pub(crate) const SEEDS: [&str; 2] = ["srand", "srandom"];

/// The models that a program needs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Models {
    /// The requested symbols that have a model, sorted.
    pub symbols: Vec<&'static str>,
    /// The files that define them, sorted.
    files: Vec<&'static str>,
    /// The program can observe `errno`.
    errno: bool,
    /// The program can change the rounding mode.
    rounding: bool,
    /// The program uses wide-character streams.
    wide: bool,
    /// The program reads with formats.
    scans: bool,
    /// The program can observe the positions of streams.
    positions: bool,
    /// The program can move the positions of streams back.
    repositions: bool,
    /// The program sends signals to processes.
    kills: bool,
    /// The program can push characters back.
    pushes: bool,
    /// The program can observe descriptors.
    descriptors: bool,
    /// The program can observe the state of open files behind descriptors: offsets, flags, and content that it has written.
    open_files: bool,
    /// The program opens files with an access mode.
    access_modes: bool,
    /// The program sets seeds of random numbers, and may set more than one.
    seeds: bool,
    pub reseeds: bool,
    /// The program starts threads.
    pub threads: bool,
    /// The program cancels threads.
    cancels: bool,
    /// The program detaches threads.
    detaches: bool,
    /// The program registers cleanup handlers of threads.
    handlers: bool,
    /// The check of library arguments is enabled.
    pub arguments: bool,
    /// The check of uninitialised values is enabled.
    pub initialised: bool,
    /// Dependences are needed, including those through hidden memory of the library.
    pub dependences: bool,
}

/// The models of symbols (functions and variables) that a program uses but does not define. Names in `except` have no
/// model. If a model needs [`AT_EXIT`] or [`AT_QUICK_EXIT`], that function is included.
pub(crate) fn needed<'a>(undefined: impl IntoIterator<Item = &'a str>, except: &[String]) -> Models {
    let mut undefined: BTreeSet<&str> =
        undefined.into_iter().filter(|name| !except.iter().any(|e| e == name)).collect();
    if ["atexit", "on_exit", "__cxa_atexit"].iter().any(|name| undefined.contains(name)) {
        undefined.insert(AT_EXIT);
    }
    if undefined.contains("at_quick_exit") {
        undefined.insert(AT_QUICK_EXIT);
    }
    if undefined.contains(CANCEL) {
        undefined.extend(ACT_ON_CANCEL);
    }
    if undefined.contains(HANDLER) {
        undefined.insert(REGISTER_HANDLER);
    }
    let mut models = Models::default();
    for file in FILES {
        let before = models.symbols.len();
        models.symbols.extend(file.defines().filter(|name| undefined.contains(name)));
        if models.symbols.len() > before {
            models.files.push(file.name);
        }
    }
    models.symbols.sort_unstable();
    models.errno = models.files.contains(&"errno.c");
    models.threads = models.files.contains(&THREADING);
    models.cancels = models.symbols.contains(&CANCEL);
    models.detaches = models.symbols.iter().any(|symbol| DETACH.contains(symbol));
    models.handlers = models.symbols.contains(&REGISTER_HANDLER);
    models.wide = models.files.iter().any(|file| ["wscanf.c", "wstdio.c"].contains(file));
    models.scans = models.files.iter().any(|file| ["scanf.c", "wscanf.c"].contains(file));
    models.positions = models.symbols.iter().any(|symbol| POSITIONS.contains(symbol));
    models.repositions = models.symbols.iter().any(|symbol| REPOSITIONS.contains(symbol));
    models.kills = models.symbols.iter().any(|symbol| ["kill", "killpg"].contains(symbol));
    models.pushes = models.wide || models.symbols.contains(&"ungetc");
    models.descriptors = models
        .files
        .iter()
        .any(|file| ["files.c", "folders.c", "mman.c", "process.c", "socket.c", "unistd.c"].contains(file))
        || models.symbols.iter().any(|symbol| ["fdopen", "fileno", "fileno_unlocked"].contains(symbol));
    models.open_files = models.symbols.iter().any(|symbol| OPEN_FILES.contains(symbol));
    models.access_modes = models.symbols.iter().any(|symbol| OPENS.contains(symbol));
    models.seeds = models.symbols.iter().any(|symbol| SEEDS.contains(symbol));
    models.rounding = models.symbols.iter().any(|symbol| SET_ROUNDING.contains(symbol));
    models
}

/// True if a model defines the function.
pub(crate) fn is_defined(function: &str) -> bool {
    FILES.iter().flat_map(ModelFile::defines).any(|name| name == function)
}

/// The models that may replace a library function in a call that ignores its result. `F.void` need not compute the
/// result. For output with a known format, `F.plain` and a model that reads strings suffice. Input with a known format
/// is composed of parts of `scanf`.
pub(crate) fn ignoring_result(function: &str) -> impl Iterator<Item = &'static str> {
    let names = || FILES.iter().flat_map(ModelFile::defines);
    let is_of =
        move |name: &&str| name.strip_prefix(function).is_some_and(|how| how.starts_with('.') && how != ".string");
    let prints = names().any(|name| name.strip_suffix(".plain") == Some(function));
    let reads = Source::from_name(function).is_some();
    let is_part = move |name: &&str| reads && name.starts_with("scanf.");
    names().filter(move |name| is_of(name) || is_part(name)).chain(prints.then_some("printf.string"))
}

/// All functions and variables that have a model.
#[cfg(test)]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().flat_map(ModelFile::defines).filter(|name| !name.contains('.'))
}

/// True if a function with this name belongs to the C library, as far as it is known: it has a model, or the lowering
/// implements it.
pub fn is_library(name: &str) -> bool {
    primitives::primitive(name).is_some() || !needed([name], &[]).is_empty()
}

/// The model file that defines a function.
pub(crate) fn file_of(function: &str) -> Option<&'static str> {
    FILES.iter().find(|file| file.defines().any(|name| stands_for(name) == function)).map(|file| file.name)
}

/// The library function that a model implements.
pub(crate) fn stands_for(model: &str) -> &str {
    model.split_once('.').map_or(model, |(function, _)| function)
}

impl Models {
    pub(crate) fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }

    /// The bitcode of the needed files. It may define more than `symbols`.
    pub(crate) fn compile(
        &self,
        compiler: &Compiler,
        target: &Target,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Arc<[u8]>, Error> {
        const MAIN: &str = "models.c";
        let mut main = String::new();
        if self.errno {
            main.push_str("#define PROVISO_ERRNO\n");
        }
        if self.threads {
            main.push_str("#define PROVISO_THREADS\n");
        }
        if self.cancels {
            main.push_str("#define PROVISO_CANCELS\n");
        }
        if self.detaches {
            main.push_str("#define PROVISO_DETACHES\n");
        }
        if self.handlers {
            main.push_str("#define PROVISO_HANDLERS\n");
        }
        if self.wide {
            main.push_str("#define PROVISO_WIDE\n");
        }
        if self.scans {
            main.push_str("#define PROVISO_SCANS\n");
        }
        if self.positions {
            main.push_str("#define PROVISO_POSITIONS\n");
        }
        if self.repositions {
            main.push_str("#define PROVISO_REPOSITIONS\n");
        }
        if self.kills {
            main.push_str("#define PROVISO_KILLS\n");
        }
        if self.pushes {
            main.push_str("#define PROVISO_PUSHES\n");
        }
        if self.descriptors {
            main.push_str("#define PROVISO_DESCRIPTORS\n");
        }
        if self.open_files {
            main.push_str("#define PROVISO_FILES\n");
        }
        if self.access_modes {
            main.push_str("#define PROVISO_ACCESS\n");
        }
        if self.seeds {
            main.push_str("#define PROVISO_SEEDS\n");
        }
        if self.reseeds {
            main.push_str("#define PROVISO_RESEEDS\n");
        }
        if self.rounding {
            main.push_str("#define PROVISO_ROUNDING\n");
        }
        if self.arguments {
            main.push_str("#define PROVISO_ARGUMENTS\n");
        }
        if self.initialised {
            main.push_str("#define PROVISO_INITIALISED\n");
        }
        if self.dependences && KEEPS_BUFFERS.iter().any(|name| self.symbols.contains(name)) {
            main.push_str("#define PROVISO_BUFFERS\n");
        }
        for file in &self.files {
            main.push_str(&format!("#include \"{file}\"\n"));
        }
        let mut files: Vec<(&str, &str)> = FILES.iter().map(|file| (file.name, file.text)).collect();
        files.push((MAIN, &main));
        compiler.compile_models(MAIN, &files, target, stop).map_err(|error| match error {
            Error::Compile { messages, .. } => Error::Internal(format!("the models do not compile:\n{messages}")),
            error => error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::DataModel;
    use std::process::Command;

    fn files_of(undefined: &[&str]) -> Vec<&'static str> {
        needed(undefined.iter().copied(), &[]).files
    }

    #[test]
    fn files_needed() {
        assert_eq!(files_of(&["strlen", "printf", "my_function", "__VERIFIER_nondet_int"]), ["printf.c", "string.c"]);
        assert_eq!(files_of(&["stdout"]), ["stream.c"]);
        assert!(files_of(&["malloc", "exit", "__assert_fail"]).is_empty());
        assert!(needed(["strlen"], &["strlen".into()]).is_empty());
        assert_eq!(needed(["atexit"], &[]).symbols, [AT_EXIT, "atexit"]);
    }

    #[test]
    fn results_that_are_ignored() {
        let names = |function| ignoring_result(function).collect::<Vec<_>>();
        assert_eq!(names("fprintf"), ["fprintf.void", "fprintf.plain", "printf.string"]);
        assert_eq!(names("vdprintf"), ["vdprintf.void"]);
        assert!(names("__isoc99_sscanf").contains(&"scanf.read") && names("scanf").contains(&"scanf.convert"));
        assert!(
            names("sprintf").is_empty()
                && names("vscanf").is_empty()
                && names("printf.void").is_empty()
                && names("puts").is_empty()
        );
        assert_eq!((stands_for("printf.void"), stands_for("puts")), ("printf", "puts"));
    }

    /// The symbols that a module defines, according to `llvm-nm`.
    fn defined(bitcode: &[u8]) -> BTreeSet<String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("models.bc");
        std::fs::write(&path, bitcode).unwrap();
        let mut nm = Command::new("llvm-nm-19");
        let output = nm.args(["--defined-only", "--extern-only", "--format=just-symbols"]).arg(&path).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn every_file_defines_what_it_says() {
        let compiler = Compiler::find().unwrap();
        let (mut all, mut said) = (BTreeSet::new(), BTreeSet::new());
        for file in FILES.iter().filter(|file| file.name.ends_with(".c")) {
            let names: BTreeSet<String> = file.defines().map(str::to_owned).collect();
            let models = Models {
                symbols: Vec::new(),
                files: vec![file.name],
                errno: true,
                rounding: true,
                wide: true,
                scans: true,
                positions: true,
                kills: true,
                repositions: true,
                pushes: true,
                descriptors: true,
                open_files: true,
                access_modes: true,
                seeds: true,
                reseeds: true,
                threads: file.name == THREADING,
                cancels: false,
                detaches: true,
                handlers: true,
                arguments: true,
                initialised: true,
                dependences: false,
            };
            let defined =
                defined(&models.compile(&compiler, &Target::of_data_model(DataModel::Lp64), &|| false).unwrap());
            assert!(names.is_subset(&defined), "{}: {:?}", file.name, names.difference(&defined));
            all.extend(defined);
            said.extend(names);
        }
        // A file may define further names through an included file. Together, all files define exactly the listed
        // names.
        assert_eq!(all, said);
    }

    #[test]
    fn all_files_compile_together() {
        let compiler = Compiler::find().unwrap();
        for (data_model, all) in [(DataModel::Lp64, true), (DataModel::Ilp32, true), (DataModel::Ilp32, false)] {
            let files = FILES.iter().map(|f| f.name).filter(|name| name.ends_with(".c")).collect();
            let models = Models {
                symbols: KEEPS_BUFFERS.to_vec(),
                files,
                errno: all,
                rounding: all,
                wide: true,
                scans: true,
                positions: true,
                kills: true,
                repositions: true,
                pushes: true,
                descriptors: true,
                open_files: all,
                access_modes: all,
                seeds: true,
                reseeds: all,
                threads: all,
                cancels: all,
                detaches: all,
                handlers: all,
                arguments: all,
                initialised: all,
                dependences: all,
            };
            models.compile(&compiler, &Target::of_data_model(data_model), &|| false).unwrap();
        }
    }
}
