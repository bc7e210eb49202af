//! A test harness: a C file that provides the inputs of a counterexample, so that the compiled program fails natively.

mod allocation;
mod entry;
mod schedule;

use allocation::Allocations;
use cfa::wording::counted;
use cfa::{Bv, InputKind};
use driver::environment::{CallResult, Command, Environment, LibraryCall};
use driver::evidence::reproduction::Reproduction;
use driver::files::{STDOUT, shell_word};
use driver::trace::types::UNKNOWN;
use driver::trace::{Declared, InputValue, Trace};
use frontend_llvm::{CompileCommand, GIVEN, InputFile, Options, is_library};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Functions of the C library that return values from the environment and that sanitizers call themselves. The harness
/// must not replace them for the sanitizers.
const CALLED_BY_SANITIZERS: [&str; 6] = ["clock_gettime", "getuid", "isatty", "mkdir", "pipe", "sysconf"];

/// The facts about the program that the harness needs besides the trace.
struct Subject<'a> {
    /// The files of the program and the options with which they are compiled.
    pub load: &'a Options,
    /// The functions whose call is an error.
    pub error_functions: &'a [String],
    /// Functions that the program calls and that no file defines. They are not on the path to the error, but the
    /// linker needs definitions.
    pub undefined: &'a BTreeSet<String>,
    /// True if these functions have no effect but return a value.
    pub undefined_return: bool,
    /// Functions that the program calls and whose models are linked. Some of them are in no library.
    pub models: &'a [String],
    /// True if the data model is ILP32.
    pub ilp32: bool,
    /// A phrase for the comment at the beginning: the execution that the inputs belong to.
    pub description: String,
    /// The sanitizer of clang that detects the error.
    pub sanitizer: Option<&'static str>,
    /// True if the harness enforces a schedule of threads.
    pub is_scheduled: bool,
}

impl Subject<'_> {
    /// Returns the sanitizers of clang with which the program is compiled.
    fn sanitizers(&self) -> Vec<&'static str> {
        let objects = (speaks_of_objects(self) || self.asks_of_pairs()) && self.sanitizer != Some("address");
        // ThreadSanitizer has no version for 32 bits.
        let sanitizer = self.sanitizer.filter(|&name| name != "thread" || !(self.is_scheduled || self.ilp32));
        // AddressSanitizer does not notice an index that leads from one variable into another.
        let indices = sanitizer == Some("address");
        let more = [(objects, "address"), (indices, "bounds")];
        sanitizer
            .into_iter()
            .chain(more.into_iter().filter_map(|(is_needed, name)| is_needed.then_some(name)))
            .collect()
    }

    /// Returns true if the error is about a pair of pointers. AddressSanitizer detects it only with a certain option.
    fn asks_of_pairs(&self) -> bool {
        matches!(self.sanitizer, Some("pointer-compare" | "pointer-subtract"))
    }

    /// Returns true if a sanitizer also calls this function of the library.
    fn shares(&self, name: &str) -> bool {
        !self.sanitizers().is_empty() && CALLED_BY_SANITIZERS.contains(&name)
    }

    /// Returns the name of the harness function that returns this input; `None` if no function can provide it.
    fn given<'i>(&self, input: &'i InputValue) -> Option<&'i str> {
        match &input.kind {
            _ if input.c_type == UNKNOWN => None,
            InputKind::Nondet(name) => Some(name),
            InputKind::Unmodelled(name) if self.undefined_return && self.undefined.contains(name) => Some(name),
            _ => None,
        }
    }
}

/// Returns the text of the harness for an execution.
pub fn compose(reproduction: &Reproduction) -> String {
    let Reproduction {
        trace,
        description,
        sanitizer,
        load,
        error_functions,
        undefined,
        undefined_return,
        models,
        ilp32,
    } = reproduction;
    let subject = Subject {
        load,
        error_functions,
        undefined,
        undefined_return: *undefined_return,
        models,
        ilp32: *ilp32,
        description: description.clone(),
        sanitizer: *sanitizer,
        is_scheduled: trace.schedule.is_some(),
    };
    write(trace, &subject)
}

/// Returns the text of the harness for a trace.
fn write(trace: &Trace, subject: &Subject<'_>) -> String {
    let environment = &trace.environment;
    let allocations = Allocations::new(trace, subject);
    let mut out = String::new();
    // These functions are renamed in the program, so that it calls the ones of the harness. The harness itself calls
    // those of the library.
    let shared = environment.returns.keys().map(String::as_str).filter(|name| subject.shares(name));
    let errors_in_library = subject.error_functions.iter().map(String::as_str).filter(|name| is_library(name));
    let freed = subject.is_scheduled.then_some(schedule::FREE);
    let mut renamed: Vec<&str> = allocations.functions().chain(shared).chain(errors_in_library).chain(freed).collect();
    renamed.sort_unstable();
    renamed.dedup();
    header(&mut out, trace, &renamed, subject);
    renamed.iter().for_each(|name| out += &format!("#undef {name}\n"));
    // Needed if the options of the program select a strict standard.
    out += "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n";
    if !environment.ignored_signals().is_empty() {
        out += "#include <signal.h>\n";
    }
    out += "#include <errno.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n";
    out += "#include <sys/syscall.h>\n#include <unistd.h>\n\n";
    if let Some(order) = &trace.schedule {
        schedule::write(&mut out, order, !subject.sanitizers().is_empty(), subject.sanitizer == Some("address"));
    }

    // Each function returns its values in the order of its calls.
    let mut functions: BTreeMap<&str, Vec<(usize, &InputValue)>> = BTreeMap::new();
    for (i, input) in trace.inputs.iter().enumerate() {
        if let Some(name) = subject.given(input) {
            functions.entry(name).or_default().push((i, input));
        }
    }
    for (name, values) in functions {
        match name {
            "__VERIFIER_nondet_memory" => memory(&mut out, &values),
            // The result may have any type but a floating-point type.
            GIVEN => function(&mut out, name, "long long", &values),
            _ => function(&mut out, name, &values[0].1.c_type, &values),
        }
    }
    for (name, calls) in &environment.returns {
        library_function(&mut out, name, calls, subject.shares(name));
    }
    allocations.write(&mut out);
    files(&mut out, environment);
    trace.declared.iter().filter(|d| d.can_be_defined()).for_each(|d| variable(&mut out, d));
    errors(&mut out, trace, subject);
    match &trace.arguments {
        Some(arguments) => entry::call(&mut out, arguments, subject.ilp32, environment),
        None => before_main(&mut out, environment),
    }
    if subject.is_scheduled {
        out.push_str(schedule::END);
    }
    out
}

/// The start of the lines with the commands that build and run the program with the harness.
const COMMAND: &str = " *     ";

/// Returns the commands in the first comment of a harness that build and run the program with it.
pub fn commands(harness: &str) -> Vec<&str> {
    harness.lines().skip_while(|line| !line.starts_with(COMMAND)).map_while(|line| line.strip_prefix(COMMAND)).collect()
}

/// A placeholder for the name of the harness in the command that compiles it.
const THIS_FILE: &str = "THIS_FILE";

/// Returns the harness with the name of its file `path` in the command that compiles it. If `path` is a stream, the
/// placeholder remains.
pub fn named(harness: &str, path: &Path) -> String {
    let harness = &driver::source::naming_standard_input(harness, "-x c -");
    let is_stream = path == Path::new(STDOUT) || (path.exists() && !path.is_file());
    match is_stream {
        true => harness.to_owned(),
        false => harness.replacen(THIS_FILE, &shell_word(&path.display().to_string()), 1),
    }
}

fn header(out: &mut String, trace: &Trace, renamed: &[&str], subject: &Subject<'_>) {
    let environment = &trace.environment;
    *out += &comment(&format!("Made by proviso: the inputs {}", subject.description));
    *out += " *\n";
    let setting = if subject.asks_of_pairs() { "ASAN_OPTIONS=detect_invalid_pointer_pairs=2 " } else { "" };
    let _ = writeln!(out, "{COMMAND}{} && {setting}./a.out\n *", compilation(subject, renamed));
    *out += " * Functions that the program defines are not replaced.\n";
    let returned = |i: &&InputValue| matches!(i.kind, InputKind::Unmodelled(_) | InputKind::Nondet(_));
    let not_given = trace.inputs.iter().filter(returned).filter(|i| subject.given(i).is_none());
    let others: Vec<&InputValue> = trace.uninitialised.iter().chain(not_given).collect();
    let unwritten = trace.unwritten_bytes.saturating_sub(trace.unwritten_on_heap);
    let not_passed = not_passed(trace, subject.ilp32);
    let undefined = trace.declared.iter().filter(|d| !d.can_be_defined() && !d.bytes.is_empty());
    let not_passed: Vec<String> = not_passed.into_iter().chain(undefined.map(Declared::shown)).collect();
    if !others.is_empty() || unwritten > 0 || !environment.doubts.is_empty() || !not_passed.is_empty() {
        *out += " *\n * These values cannot be set from outside; the violation may depend on them:\n";
        for input in others {
            let place = input.spot.as_ref().map_or_else(String::new, |s| format!(", {s}"));
            let _ = writeln!(out, " *     {} = {}{place}", input.source(), in_comment(&input.shown));
        }
        if unwritten > 0 {
            let (bytes, were) = (counted(unwritten, "byte"), if unwritten == 1 { "it was" } else { "they were" });
            let _ = writeln!(out, " *     {bytes} of memory read before {were} written");
        }
        for doubt in environment.doubts.iter().chain(&not_passed) {
            let _ = writeln!(out, " *     {doubt}");
        }
    }
    *out += " */\n";
}

/// Returns the shell command that compiles the program with the harness.
fn compilation(subject: &Subject<'_>, renamed: &[&str]) -> String {
    let load = subject.load;
    let compiler = compiler();
    let mut common: Vec<String> = Vec::new();
    if subject.ilp32 {
        common.push("-m32".into());
    }
    let sanitizers = subject.sanitizers();
    if subject.is_scheduled {
        common.extend(schedule::OPTIONS.map(str::to_owned));
        if sanitizers.contains(&"address") {
            common.extend(schedule::OPTIONS_OF_ADDRESS.map(str::to_owned));
        }
    }
    if !sanitizers.is_empty() {
        common.push(format!("-fsanitize={}", sanitizers.join(",")));
    }
    common.extend(renamed.iter().map(|name| format!("-D{name}=proviso_{name}")));
    // Without this, the compiler would not preprocess the file again.
    let is_preprocessed = |input: &InputFile| input.path.extension().is_some_and(|e| e == "i");
    if !renamed.is_empty() && load.inputs.iter().any(is_preprocessed) {
        common.extend(["-x".into(), "c".into()]);
    }
    common.push("-g".into());
    Build { load, compiler: &compiler, common: &common, objects: "" }
        .commands(Some(THIS_FILE))
        .join(&format!(" &&\n{COMMAND}"))
}

/// A build of the program by a compiler.
pub struct Build<'a> {
    /// The files of the program and the options with which they are compiled.
    pub load: &'a Options,
    /// The compiler, as a word of a shell.
    pub compiler: &'a str,
    /// Options for all files and for the linker.
    pub common: &'a [String],
    /// The prefix of the paths of object files, as a shell reads it.
    pub objects: &'a str,
}

impl Build<'_> {
    /// Returns the shell commands that build the program with one more C file, or alone. The last command links.
    pub fn commands(&self, with: Option<&str>) -> Vec<String> {
        let Self { load, compiler, common, objects: prefix } = self;
        let with = with.map_or_else(String::new, |file| format!("{file} "));
        let mut own: Vec<String> = load.std.iter().map(|std| format!("-std={std}")).collect();
        own.extend(load.include_dirs.iter().map(|folder| format!("-I{}", folder.display())));
        own.extend(load.defines.iter().map(|define| format!("-D{define}")));
        own.extend(load.clang_args.iter().cloned());
        let words = |words: &[String]| words.iter().map(|word| shell_word(word) + " ").collect::<String>();
        let name = |path: &Path| shell_word(&path.display().to_string());
        let (sources, binaries): (Vec<PathBuf>, Vec<PathBuf>) =
            load.named_files().into_iter().partition(|path| path.extension().is_some_and(|e| e == "c" || e == "i"));
        // A linker takes from an archive only definitions of symbols that are undefined so far, so archives come last.
        let rest: String = binaries.iter().map(|path| name(path) + " ").collect();
        let commands: Vec<&CompileCommand> = load.inputs.iter().filter_map(|input| input.command.as_ref()).collect();
        // One command compiles all files if the project has no options of its own and no option prevents the harness
        // from compiling.
        if commands.is_empty() && !own.iter().any(|option| is_for_program_only(option)) {
            let files: String = sources.iter().map(|path| name(path) + " ").collect();
            let options = words(&[common.to_vec(), own].concat());
            return vec![format!("{compiler} {options}{files}{with}{rest}-lm")];
        }
        let mut lines = Vec::new();
        let mut objects = String::new();
        let is_source = |input: &&InputFile| input.part_of.is_none() && sources.contains(&input.path);
        for (n, input) in load.inputs.iter().filter(is_source).enumerate() {
            let stem = input.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let object = format!("{prefix}{}", shell_word(&format!("{stem}.{n}.o")));
            let project = input.command.as_ref().map(absolute).unwrap_or_default();
            let options = words(&[common.to_vec(), project, own.clone()].concat());
            lines.push(format!("{compiler} {options}-c {} -o {object}", name(&input.path)));
            objects += &(object + " ");
        }
        lines.push(format!("{compiler} {}{objects}{with}{rest}-lm", words(common)));
        lines
    }
}

/// Returns the options of a compile command for use in another directory. Relative paths in them are joined with the
/// directory of the command.
fn absolute(command: &CompileCommand) -> Vec<String> {
    const FOLDERS: [&str; 4] = ["-I", "-isystem", "-iquote", "-include"];
    let directory = &command.directory;
    let full = |path: &str| directory.join(path).display().to_string();
    let mut is_path = false;
    let mut options = Vec::new();
    for option in &command.options {
        let joined = FOLDERS.iter().find_map(|name| Some((name, option.strip_prefix(name)?)));
        options.push(match joined {
            _ if std::mem::take(&mut is_path) => full(option),
            Some((_, "")) => {
                is_path = true;
                option.clone()
            }
            Some((name, path)) if *name == "-I" => format!("{name}{}", full(path)),
            _ => option.clone(),
        });
    }
    options
}

/// Returns true for options that may prevent a harness, which includes headers of the C library, from compiling.
fn is_for_program_only(option: &str) -> bool {
    ["-include", "-nostdinc", "-ffreestanding", "-nostdlib", "-imacros"].iter().any(|start| option.starts_with(start))
}

/// Returns the compiler that Proviso uses: its name if the shell finds it by that, else its path.
fn compiler() -> String {
    let Ok(found) = frontend_llvm::clang() else { return "clang".into() };
    let name = found.file_name().unwrap_or_default();
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let by_name = std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|file| file.is_file());
    let is_it = by_name.is_some_and(|file| file.canonicalize().ok() == found.canonicalize().ok());
    if is_it { name.to_string_lossy().into_owned() } else { shell_word(&found.display().to_string()) }
}

/// Returns descriptions of those arguments of the entry function that no harness can pass.
pub fn not_passed(trace: &Trace, ilp32: bool) -> Vec<String> {
    trace.arguments.iter().flat_map(|arguments| entry::not_passed(arguments, ilp32)).collect()
}

/// Returns the first line of a comment.
fn comment(text: &str) -> String {
    format!("/* {}\n", text.replace("*/", "* /").replace('\n', " "))
}

/// Writes the definition of a variable that the program only declares. The definition has the variable's name only for
/// the linker, so its type cannot contradict a header.
fn variable(out: &mut String, variable: &Declared) {
    let Declared { name, size, bytes, .. } = variable;
    let size = (*size).max(1);
    let _ =
        write!(out, "__attribute__((weak, aligned(16))) unsigned char proviso_{name}[{size}] __asm__(\"{name}\") = {{");
    for (at, byte) in bytes {
        let _ = write!(out, "[{at}] = {byte:#04x}, ");
    }
    out.push_str("};\n\n");
}

/// Writes the error functions, and the assertion functions that the program calls.
fn errors(out: &mut String, trace: &Trace, subject: &Subject<'_>) {
    for name in subject.error_functions {
        let _ = match name.as_str() {
            // The declaration of the C library.
            "__assert_fail" => writeln!(
                out,
                "__attribute__((weak)) void __assert_fail(const char *what, const char *file, unsigned int line, \
                 const char *function) {{\n    \
                 fprintf(stderr, \"proviso: %s:%u: assertion failed: %s\\n\", file, line, what);\n    abort();\n}}\n"
            ),
            // The program calls this function by another name.
            _ if is_library(name) => writeln!(
                out,
                "void proviso_{name}(void) {{\n    \
                 fputs(\"proviso: {name} is called\\n\", stderr);\n    abort();\n}}\n"
            ),
            _ => writeln!(
                out,
                "{} {{\n    fputs(\"proviso: {name} is called\\n\", stderr);\n    abort();\n}}\n",
                by_symbol("void", name)
            ),
        };
    }
    let asserts = "if (!holds) {\n        fputs(\"proviso: assertion failed\\n\", stderr);\n        abort();\n    }";
    for (name, parameters, body) in [
        ("assert", "long holds", asserts),
        ("__VERIFIER_assert", "int holds", asserts),
        ("klee_silent_exit", "int status", "exit(status);"),
        ("klee_prefer_cex", "void *object, unsigned long condition", ""),
    ] {
        if subject.models.iter().any(|m| m == name) {
            let _ = writeln!(out, "__attribute__((weak)) void {name}({parameters}) {{\n    {body}\n}}\n");
        }
    }
    let given = |name: &String| trace.inputs.iter().any(|i| subject.given(i) == Some(name));
    let of =
        |kind: &InputKind, name: &String| matches!(kind, InputKind::Unmodelled(n) | InputKind::Nondet(n) if n == name);
    let called = |name: &String| trace.inputs.iter().any(|i| of(&i.kind, name));
    for name in subject.undefined.iter().filter(|name| !given(name)) {
        let body = match (called(name), subject.undefined_return) {
            // The result of such a run proves nothing.
            (true, _) => format!("fputs(\"proviso: the behaviour of {name} is unknown\\n\", stderr);\n    exit(2);"),
            (false, true) => "return 0;".to_owned(),
            (false, false) => "abort(); /* not called */".to_owned(),
        };
        let _ = writeln!(out, "{} {{\n    {body}\n}}\n", by_symbol("long", name));
    }
    out.push_str(VOCABULARY);
    if speaks_of_objects(subject) {
        out.push_str(VOCABULARY_OF_OBJECTS);
    }
}

/// The functions that verifiers provide for assumptions and assertions.
const VOCABULARY: &str = include_str!("harness/vocabulary.c");
/// The functions of CBMC and ESBMC about pointers, as far as AddressSanitizer can answer them.
const VOCABULARY_OF_OBJECTS: &str = include_str!("harness/objects.c");

/// Returns true if the program calls functions of CBMC or ESBMC about objects.
fn speaks_of_objects(subject: &Subject<'_>) -> bool {
    let names = ["_ok", "_same_object", "_POINTER_OBJECT", "_POINTER_OFFSET", "_OBJECT_SIZE", "_object_size"];
    let is_of_others = |model: &&String| model.starts_with("__CPROVER_") || model.starts_with("__ESBMC_");
    subject.models.iter().filter(is_of_others).any(|model| names.iter().any(|name| model.ends_with(name)))
}

/// Returns the text with every end of a comment escaped.
fn in_comment(text: &str) -> String {
    text.replace("*/", "*\\/")
}

/// Returns the head of a function without parameters. Its symbol is `name`. Its name in C is another one, so no
/// declaration in a header contradicts it.
fn by_symbol(ty: &str, name: &str) -> String {
    if name.starts_with("__VERIFIER_") || name.starts_with("proviso_") || name == "reach_error" {
        return format!("__attribute__((weak)) {ty} {name}(void)");
    }
    // Assembler names may contain characters that C names may not.
    let own: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    format!("__attribute__((weak)) {ty} proviso_{own}(void) __asm__(\"{name}\");\n{ty} proviso_{own}(void)")
}

fn function(out: &mut String, name: &str, ty: &str, values: &[(usize, &InputValue)]) {
    let size = values.iter().map(|(_, input)| input.value.width().div_ceil(8)).max().unwrap_or(1);
    let defined = format!("proviso_{name}_result");
    let ty = match ty.contains('{') {
        true => {
            let _ = writeln!(out, "typedef {ty} {defined};");
            &defined
        }
        false => ty,
    };
    let _ = writeln!(out, "{} {{\n    static unsigned next;", by_symbol(ty, name));
    let _ = writeln!(out, "    static const unsigned char values[][{size}] = {{ /* least significant byte first */");
    for (i, input) in values {
        let (value, shown) = (bytes(&input.value), in_comment(&input.shown));
        let _ = writeln!(out, "        {{{value}}}, /* input {}: {shown} */", i + 1);
    }
    let count = values.len();
    let _ = writeln!(
        out,
        "    }};\n    {ty} result;\n    memset(&result, 0, sizeof result);\n    if (next < {count})\n        \
         memcpy(&result, values[next++], {size} < sizeof result ? {size} : sizeof result);\n    return result;\n}}\n"
    );
}

/// Writes `__VERIFIER_nondet_memory`, which provides the bytes of all its calls one after the other.
fn memory(out: &mut String, values: &[(usize, &InputValue)]) {
    let content: Vec<u8> = values.iter().flat_map(|(_, input)| input.value.to_le_bytes()).collect();
    let _ = writeln!(
        out,
        "__attribute__((weak)) void __VERIFIER_nondet_memory(void *memory, unsigned long size) {{\n    \
         static const char values[] = {};\n    static unsigned long next;\n    \
         for (unsigned long i = 0; i < size; i++)\n        \
         ((char *)memory)[i] = next < sizeof values - 1 ? values[next++] : 0;\n}}\n",
        literal(&content)
    );
}

fn bytes(value: &Bv) -> String {
    let bytes: Vec<String> = value.to_le_bytes().iter().map(|b| format!("{b:#04x}")).collect();
    bytes.join(", ")
}

/// Returns a string literal with exactly these bytes and a terminating zero.
fn literal(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for &byte in bytes {
        match byte {
            b'\n' => out += "\\n",
            b'"' | b'\\' => out.extend(['\\', byte as char]),
            // The escape prevents trigraphs.
            b'?' => out += "\\?",
            0x20..=0x7e => out.push(byte as char),
            _ => {
                let _ = write!(out, "\\{byte:03o}");
            }
        }
    }
    out + "\""
}

/// Writes the statements that store the bytes that a library call writes through its arguments `a0`, `a1`, ....
fn writes_arguments(out: &mut String, call: &LibraryCall) {
    // The library has its own representation of a stream.
    for w in call.written.iter().filter(|w| w.arg < 6 && !takes_stream(&call.function)) {
        let offset = if w.offset == 0 { String::new() } else { format!(" + {}", w.offset) };
        let _ = writeln!(out, "        memcpy((char *)a{}{offset}, {}, {});", w.arg, literal(&w.bytes), w.bytes.len());
    }
}

/// Writes a function of the C library whose results cannot be provided otherwise: it repeats its recorded calls one by
/// one. The function has the library's name only for the linker, so its type cannot contradict a header. It is not
/// weak as the other functions are: a sanitizer defines weak functions with such names, and the linker would take
/// those. If the program itself defines the function, its calls are not in the environment, so the function is not
/// written.
fn library_function(out: &mut String, name: &str, calls: &[LibraryCall], is_renamed: bool) {
    let float = calls.iter().find_map(|call| match &call.result {
        CallResult::Float(ty, _) => Some(ty.as_str()),
        _ => None,
    });
    let ty = float.unwrap_or("long long");
    let parameters = "char *a0, char *a1, char *a2, char *a3, char *a4, char *a5";
    if !is_renamed {
        let _ = writeln!(out, "{ty} proviso_{name}({parameters}) __asm__(\"{name}\");");
    }
    let _ = writeln!(out, "{ty} proviso_{name}({parameters}) {{\n    static unsigned next;\n    switch (next++) {{");
    for (n, call) in calls.iter().enumerate() {
        let place = call.spot.as_ref().map_or_else(String::new, |s| format!(" /* {s} */"));
        let _ = writeln!(out, "    case {n}:{place}");
        writes_arguments(out, call);
        if let Some(errno) = call.errno {
            let _ = writeln!(out, "        errno = {errno};");
        }
        let _ = match &call.result {
            CallResult::Nothing => writeln!(out, "        return 0;"),
            CallResult::Value(value) => writeln!(out, "        return {};", integer(value)),
            CallResult::Argument(arg, offset) => writeln!(out, "        return (long)(a{arg} + {offset});"),
            CallResult::Object { bytes, .. } => {
                let text = literal(bytes);
                writeln!(
                    out,
                    "        {{\n            static char object[] = {text};\n            return (long)object;\n        }}"
                )
            }
            CallResult::Float(ty, value) => writeln!(
                out,
                "        {{\n            static const unsigned char bits[16] = {{{}}};\n            {ty} result;\n            \
                 memcpy(&result, bits, sizeof result);\n            return result;\n        }}",
                bytes(value)
            ),
        };
    }
    out.push_str("    default:\n        return 0;\n    }\n}\n\n");
}

fn takes_stream(name: &str) -> bool {
    name.starts_with('f') || matches!(name, "pclose" | "rewind" | "setvbuf" | "setbuf" | "clearerr")
}

fn integer(value: &Bv) -> String {
    match value.to_u64() {
        Some(v) if v > i64::MAX as u64 => format!("(long long)0x{v:x}ull"),
        Some(v) => format!("{v}ll"),
        None => "0".into(),
    }
}

/// Writes the functions that open files. Each opened file holds the bytes that the program reads from it.
fn files(out: &mut String, environment: &Environment) {
    if environment.openers.is_empty() {
        return;
    }
    out.push_str(
        "/* Opens the next file, for reading alone if the mode says so. */\nstatic FILE *proviso_next_file(const char *mode) {\n    \
         const char *way = mode[0] == 'r' && !strchr(mode, '+') ? \"r\" : \"r+\";\n    static unsigned next;\n    \
         switch (next++) {\n",
    );
    for (n, file) in environment.files.iter().enumerate() {
        let _ = writeln!(out, "    case {n}:");
        let _ = match &file.content {
            None => writeln!(out, "        errno = ENOENT;\n        return NULL;"),
            Some(content) => writeln!(
                out,
                "        {{\n            static char content[] = {};\n            \
                 FILE *file = fmemopen(content, {}, way);\n{}            return file;\n        }}",
                literal(content),
                content.len().max(1),
                if content.is_empty() { "            if (file)\n                fgetc(file);\n" } else { "" }
            ),
        };
    }
    out.push_str("    default:\n        return NULL;\n    }\n}\n\n");
    for name in &environment.openers {
        let (parameters, mode) = match name.as_str() {
            "tmpfile" | "tmpfile64" => ("void", "\"w+\""),
            _ => ("void *file, const char *mode", "mode"),
        };
        let _ = writeln!(out, "FILE *proviso_{name}({parameters}) __asm__(\"{name}\");");
        let _ = writeln!(out, "FILE *proviso_{name}({parameters}) {{\n    return proviso_next_file({mode});\n}}\n");
    }
}

/// Returns the runs of adjacent bytes with their offsets. A gap of fewer than `GAP` bytes is filled with zeros.
fn runs(bytes: &BTreeMap<u64, u8>) -> Vec<(u64, Vec<u8>)> {
    const GAP: u64 = 8;
    let mut runs: Vec<(u64, Vec<u8>)> = Vec::new();
    for (&at, &byte) in bytes {
        match runs.last_mut() {
            Some((start, run)) if at - *start - (run.len() as u64) < GAP => {
                run.resize((at - *start) as usize, 0);
                run.push(byte);
            }
            _ => runs.push((at, vec![byte])),
        }
    }
    runs
}

/// Writes a function that reads standard input and fails once after each of these numbers of bytes.
fn failing_input(out: &mut String, input: &[u8], failures: &[usize]) {
    let list: String = failures.iter().map(|n| format!("{n}, ")).collect();
    let _ = writeln!(
        out,
        "/* Reads standard input, which fails here and there. */\n\
         static ssize_t proviso_read_bytes(void *cookie, char *buffer, size_t size) {{\n    \
         static const char input[] = {};\n    static const size_t failures[] = {{{list}sizeof input - 1}};\n    \
         static size_t at, next;\n    size_t end = failures[next];\n    \
         if (at == end && next < {}) {{\n        next++;\n        errno = EIO;\n        return -1;\n    }}\n    \
         size_t n = end - at < size ? end - at : size;\n    memcpy(buffer, input + at, n);\n    at += n;\n    \
         return n;\n}}\n",
        literal(input),
        failures.len()
    );
}

/// Writes a constructor that prepares standard input, the environment variables, ignored signals, and the arguments of
/// `main`.
fn before_main(out: &mut String, environment: &Environment) {
    let command = &environment.command;
    let calls_main = *command != Command::default();
    let is_prepared = environment.stdin.is_some() || !environment.variables.is_empty();
    if !calls_main && !is_prepared && environment.ignored_signals().is_empty() {
        return;
    }
    if calls_main {
        out.push_str("\nint main(int argc, char **argv, char **envp);\n");
    }
    environment_before(out, environment);
    if calls_main {
        let mut vector = |name: &str, strings: &Option<Vec<Vec<u8>>>| {
            let list = strings.iter().flatten().map(|s| format!("(char *){}, ", literal(s))).collect::<String>();
            let _ = writeln!(out, "    static char *{name}[] = {{{list}NULL}};");
        };
        vector("arguments", &command.arguments);
        let variables = match &command.environment {
            Some(_) => {
                vector("variables", &command.environment);
                "variables"
            }
            None => "environ",
        };
        let (argc, declared) =
            (command.argc as i32, if variables == "environ" { "    extern char **environ;\n" } else { "" });
        let _ = writeln!(out, "{declared}    exit(main({argc}, arguments, {variables}));");
    }
    out.push_str("}\n");
}

/// Writes the beginning of the function that runs before `main`: it prepares standard input, the environment variables
/// and ignored signals.
fn environment_before(out: &mut String, environment: &Environment) {
    out.push('\n');
    if let (Some(input), false) = (&environment.stdin, environment.stdin_failures.is_empty()) {
        failing_input(out, input, &environment.stdin_failures);
    }
    out.push_str("/* Runs before main. */\n__attribute__((constructor)) static void proviso_start(void) {\n");
    if !environment.stdin_failures.is_empty() {
        out.push_str("    static const cookie_io_functions_t functions = {.read = proviso_read_bytes};\n");
        out.push_str("    stdin = fopencookie(NULL, \"r\", functions);\n");
    } else if let Some(input) = &environment.stdin {
        let _ = writeln!(out, "    static const char input[] = {};", literal(input));
        out.push_str(
            "    long file = syscall(SYS_memfd_create, \"standard input\", 0);\n    \
             syscall(SYS_write, file, input, sizeof input - 1);\n    \
             syscall(SYS_lseek, file, 0, 0);\n    syscall(SYS_dup2, file, 0);\n",
        );
    }
    for (name, value) in &environment.variables {
        let _ = match value {
            Some(value) => writeln!(out, "    setenv({}, {}, 1);", literal(name), literal(value)),
            None => writeln!(out, "    unsetenv({});", literal(name)),
        };
    }
    for number in environment.ignored_signals() {
        // `signal` would set flags and blocked signals.
        let _ = writeln!(out, "    sigaction({number}, &(struct sigaction){{.sa_handler = SIG_IGN}}, NULL);");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_shells() {
        assert_eq!(shell_word("src/a-1.c"), "src/a-1.c");
        assert_eq!(shell_word("-DNAME=a b"), "'-DNAME=a b'");
        assert_eq!(shell_word("it's"), "'it'\\''s'");
        assert_eq!(shell_word("a*/b"), "'a*''/b'");
        assert_eq!(shell_word(""), "''");
    }

    #[test]
    fn literals_have_exactly_these_bytes() {
        assert_eq!(literal(b"a\"\\\n\x00?7\xff"), "\"a\\\"\\\\\\n\\000\\?7\\377\"");
        assert_eq!(integer(&Bv::new(64, u64::MAX)), "(long long)0xffffffffffffffffull");
        assert_eq!(integer(&Bv::new(32, 7)), "7ll");
    }
}
