//! `proviso cc`: a wrapper of the project's compiler that records its commands in the files that it writes.
//!
//! Every object gets a section with the commands that compiled its C files. Linkers and archivers keep the section. An
//! archive or a program therefore records the C files that it consists of. The section of a program ends with the
//! options of the linker and a list of the linked files without records.

use anyhow::{Context, anyhow};
use driver::input::binary::{self, Content, Dynamic, Link, Record};
use driver::input::link::Effects;
use driver::input::project::Entry;
use frontend_llvm::{NamedCompiler, command};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The environment variable that names the compiler to run.
const COMPILER: &str = "PROVISO_CC";

/// Returns the compiler's arguments if this process was started as the compiler: as `proviso cc`, or by the name
/// `proviso-cc`. `None` otherwise.
pub fn arguments(all: Vec<OsString>) -> Option<Vec<OsString>> {
    let name = Path::new(all.first()?).file_name()?;
    let by_name = name == "proviso-cc";
    if !by_name && all.get(1)? != "cc" {
        return None;
    }
    let rest: Vec<OsString> = all.into_iter().skip(if by_name { 1 } else { 2 }).collect();
    // Without arguments, or with these, `proviso cc` prints its own help.
    (by_name || !rest.is_empty() && rest != ["--help"] && rest != ["-h"]).then_some(rest)
}

/// Runs the compiler, records its command in the files that it wrote, and returns its exit code. Returns 127 if the
/// compiler cannot be run.
pub fn run(args: &[OsString]) -> i32 {
    let compiler = std::env::var_os(COMPILER).filter(|name| !name.is_empty()).unwrap_or_else(|| "cc".into());
    let status = match Command::new(&compiler).args(args).status() {
        Ok(status) => status,
        Err(error) => {
            eprintln!("proviso cc: cannot run {}: {error}; {COMPILER} names another compiler", compiler.display());
            return 127;
        }
    };
    if status.success()
        && let Err(problem) = record(&compiler, args)
    {
        eprintln!("proviso cc: warning: not recorded: {problem:#}");
    }
    // If a signal ended the compiler, the exit code is the one of a shell for SIGKILL, 128 + 9.
    status.code().unwrap_or(128 + 9)
}

/// The prefixes of options that are for the linker or change its options.
const LINKER: &[&str] = &["-T", "-u", "-z", "-l", "-L", "-e", "--entry=", "-specs=", "--specs="];
/// The libraries that the models replace, or that compilers add.
const C_LIBRARIES: &[&str] = &[
    "c", "m", "mvec", "pthread", "dl", "rt", "util", "crypt", "resolv", "anl", "nsl", "gcc", "gcc_s", "atomic", "gomp",
    "omp", "itm", "quadmath", "ssp", "asan", "hwasan", "lsan", "tsan", "ubsan",
];
/// The folders in which the dynamic linker searches libraries.
const SYSTEM_FOLDERS: &[&str] = &[
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib/i386-linux-gnu",
    "/usr/lib/i386-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib32",
    "/usr/lib32",
    "/lib",
    "/usr/lib",
    "/usr/local/lib",
];

/// A command line that writes objects or a program.
#[derive(Default, PartialEq, Eq, Debug)]
struct CommandLine {
    /// The C files.
    sources: Vec<String>,
    /// Files of other kinds: objects, archives, sources in other languages.
    others: Vec<String>,
    /// The files that are written, each with its C files.
    outputs: Vec<(PathBuf, Vec<String>)>,
    /// True if the command line links.
    links: bool,
    /// The options of the linker.
    linker: Vec<String>,
}

impl CommandLine {
    /// Parses a command line. Returns `None` if it writes no file that could have records.
    fn parse(args: &[String]) -> Option<Self> {
        let mut line = Self { links: true, ..Self::default() };
        let (mut output, mut language_is_c) = (None, None);
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            match arg.as_str() {
                "-E" | "-S" | "-M" | "-MM" | "-fsyntax-only" | "-###" => return None,
                "-c" => line.links = false,
                "-o" => output = rest.next().cloned(),
                "-x" => {
                    let language = rest.next().map_or("", String::as_str);
                    language_is_c = (language != "none").then_some(matches!(language, "c" | "cpp-output"));
                }
                "-Xlinker" => line.linker.extend(rest.next().cloned()),
                "-T" | "-u" | "-z" | "-e" | "-l" | "-L" | "--entry" => {
                    line.linker.extend([Some(arg.clone()), rest.next().cloned()].into_iter().flatten());
                }
                "-nostartfiles" | "-nostdlib" => line.linker.push("-nostartfiles".into()),
                "-I" | "-D" | "-U" | "-include" | "-imacros" | "-isystem" | "-iquote" | "-idirafter" | "-MF"
                | "-MT" | "-MQ" | "-Xassembler" | "-Xpreprocessor" | "--param" | "-arch" | "-aux-info" | "-G"
                | "-A" | "-B" | "-isysroot" | "-target" | "-Xclang" | "-iprefix" | "-iwithprefix"
                | "-iwithprefixbefore" | "-dumpbase" | "-dumpdir" | "-wrapper" | "-specs" | "-mllvm" => {
                    rest.next();
                }
                option if option.starts_with("-Wl,") => {
                    line.linker.extend(option[4..].split(',').map(str::to_owned));
                }
                "-r" | "-shared" => line.linker.push(arg.clone()),
                option if LINKER.iter().any(|start| option.starts_with(start)) => {
                    line.linker.push(option.to_owned());
                }
                option if option.starts_with("-o") && option.len() > 2 => {
                    output = Some(option[2..].to_owned());
                }
                option if option.starts_with('-') => {}
                file if language_is_c.unwrap_or(file.ends_with(".c") || file.ends_with(".i")) => {
                    line.sources.push(file.to_owned());
                }
                file => line.others.push(file.to_owned()),
            }
        }
        if line.sources.is_empty() && (!line.links || line.others.is_empty()) {
            return None;
        }
        line.outputs = match output {
            Some(output) => vec![(output.into(), line.sources.clone())],
            None if !line.links => {
                let object = |source: &String| Path::new(source).with_extension("o").file_name().map(PathBuf::from);
                line.sources.iter().filter_map(|s| Some((object(s)?, vec![s.clone()]))).collect()
            }
            None => vec![("a.out".into(), line.sources.clone())],
        };
        Some(line)
    }

    /// Returns the records of the objects on the command line. `Err` if a file cannot be read.
    fn records_of_objects(&self) -> anyhow::Result<Vec<Record>> {
        let mut records = Vec::new();
        for file in &self.others {
            let content = read(Path::new(file))?.unwrap_or_default();
            let objects = content.objects.into_iter().filter(|object| !content.is_archive && !object.is_shared());
            records.extend(objects.flat_map(|object| object.records));
        }
        Ok(records)
    }

    /// Returns the linker's options, and the files that were linked into `output` besides objects with records. `data`
    /// is the content of `output`. `Err` if a file cannot be read.
    fn link(&self, output: &Path, data: &[u8]) -> anyhow::Result<Link> {
        let mut link =
            Link { output: output.to_owned(), linker: command::expand(&self.linker, Path::new("")), ..Link::default() };
        let folders = values(&link.linker, "-L", "--library-path");
        let libraries = values(&link.linker, "-l", "--library").into_iter().filter_map(|name| {
            let named = |file: String| folders.iter().map(|folder| Path::new(folder).join(&file)).find(|p| p.is_file());
            name.strip_prefix(':').map_or_else(
                || named(format!("lib{name}.so")).or_else(|| named(format!("lib{name}.a"))),
                |file| named(file.to_owned()),
            )
        });
        // Wrong options are reported when the program is verified.
        let more = Effects::compute(&link).map(|effects| effects.files).unwrap_or_default();
        let files = self.others.iter().chain(&more).map(|file| (PathBuf::from(file), false));
        let names = binary::names(data);
        let files: Vec<(PathBuf, bool)> = files.chain(libraries.map(|library| (library, true))).collect();
        let mut loaded = Loaded::find(data, &files, &link.linker)?;
        link.unknown.append(&mut loaded.missing);
        // Shared libraries that the program does not require are not loaded.
        let files = files.into_iter().filter(|(file, _)| !is_of_c_library(file) && !is_shared(file));
        for (file, is_library) in files.chain(loaded.files.into_iter().map(|file| (file, true))) {
            let name = file.display().to_string();
            let Some(Content { objects, .. }) = read(&file)? else {
                // A library may be a linker script that names others.
                if !is_library && !name.contains(".so") {
                    link.unknown.push(name);
                }
                continue;
            };
            for object in objects.iter().filter(|object| object.is_shared() || !object.is_known()) {
                let is_there = |symbol: &&String| names.as_ref().is_none_or(|names| names.contains(*symbol));
                let symbols: Vec<&String> = object.symbols.iter().filter(is_there).collect();
                let is_linked = object.is_shared() || !symbols.is_empty() || object.symbols.is_empty();
                if object.has_constructors && is_linked {
                    link.unknown.push(name.clone());
                }
                link.foreign.extend(symbols.into_iter().map(|symbol| (symbol.clone(), name.clone())));
            }
        }
        Ok(link)
    }
}

/// Returns true for `/lib/x86_64-linux-gnu/libm.so.6` and other files of the C library.
fn is_of_c_library(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_prefix("lib").and_then(|rest| rest.split(['.', '-']).next());
    let is_systems = ["/lib", "/lib32", "/lib64", "/usr"].iter().any(|folder| file.starts_with(folder));
    is_systems && stem.is_some_and(|stem| C_LIBRARIES.contains(&stem))
}

/// The shared libraries outside of the C library that are loaded with a program.
#[derive(Default)]
struct Loaded {
    /// The files.
    files: Vec<PathBuf>,
    /// The names of libraries that are not found.
    missing: Vec<String>,
}

impl Loaded {
    /// Finds the libraries that a program requires, and those that these require. `linked` are the files on the command
    /// line, and `linker` are the linker's options. `Err` if a file cannot be read.
    fn find(program: &[u8], linked: &[(PathBuf, bool)], linker: &[String]) -> anyhow::Result<Self> {
        let mut loaded = Self::default();
        let Some(program) = binary::dynamic(program) else { return Ok(loaded) };
        let of_options = [("-L", "--library-path"), ("-rpath", "--rpath"), ("-rpath-link", "--rpath-link")];
        let of_options = of_options.iter().flat_map(|(short, long)| values(linker, short, long));
        let mut folders: Vec<PathBuf> = of_options.map(PathBuf::from).collect();
        folders.extend(std::env::var_os("LD_LIBRARY_PATH").iter().flat_map(std::env::split_paths));
        folders.extend(SYSTEM_FOLDERS.iter().map(PathBuf::from));
        let dynamic = |file: &Path| -> anyhow::Result<Option<Dynamic>> {
            let data = if file.is_file() { std::fs::read(file)? } else { Vec::new() };
            Ok(binary::dynamic(&data).filter(|found| found.is_shared && found.is_wide == program.is_wide))
        };
        // Each entry is a name with the folders in which the requiring file searches.
        let mut waiting: Vec<(String, Vec<PathBuf>)> =
            program.needed.iter().map(|name| (name.clone(), Vec::new())).collect();
        let mut seen = BTreeSet::new();
        while let Some((name, own_folders)) = waiting.pop() {
            if name.starts_with("ld-linux") || !seen.insert(name.clone()) {
                continue;
            }
            let of_linked = linked.iter().map(|(file, _)| (file.clone(), false));
            let searched = own_folders.iter().chain(&folders).map(|folder| (folder.join(&name), true));
            let mut found = None;
            for (file, is_named) in of_linked.chain(searched) {
                let Some(dynamic) = dynamic(&file)? else { continue };
                let is_path = file == Path::new(&name) || file.file_name().is_some_and(|last| last == name.as_str());
                if is_named || dynamic.name.as_ref().map_or(is_path, |own| *own == name) {
                    found = Some((file, dynamic));
                    break;
                }
            }
            let Some((file, dynamic)) = found else {
                loaded.missing.push(name);
                continue;
            };
            if is_of_c_library(&file) {
                continue;
            }
            let origin = file.parent().unwrap_or(Path::new("")).display().to_string();
            let folders = dynamic.folders.iter().map(|f| f.replace("$ORIGIN", &origin).replace("${ORIGIN}", &origin));
            let folders: Vec<PathBuf> = folders.chain([origin.clone()]).map(PathBuf::from).collect();
            waiting.extend(dynamic.needed.into_iter().map(|name| (name, folders.clone())));
            loaded.files.push(file);
        }
        Ok(loaded)
    }
}

/// Returns true for a shared library or a position-independent program.
fn is_shared(file: &Path) -> bool {
    let data = std::fs::read(file).unwrap_or_default();
    binary::dynamic(&data).is_some_and(|dynamic| dynamic.is_shared)
}

fn read(file: &Path) -> anyhow::Result<Option<Content>> {
    binary::read(file).map_err(|failure| anyhow!("{failure}"))
}

/// Returns the values of an option of the linker.
fn values(options: &[String], short: &str, long: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        if option == short || option == long {
            found.extend(rest.next().cloned());
        } else if let Some(value) = option.strip_prefix(long).and_then(|value| value.strip_prefix('=')) {
            found.push(value.to_owned());
        } else if let Some(value) = option.strip_prefix(short) {
            found.push(value.to_owned());
        }
    }
    found
}

/// Returns a name for the compiler that contains its target, as the names of cross compilers do.
fn name(compiler: &OsStr) -> String {
    let own = compiler.to_string_lossy().into_owned();
    if NamedCompiler::from_command(&[&own]).target.is_some() {
        return own;
    }
    let machine = Command::new(compiler).arg("-dumpmachine").output().ok();
    let machine = machine.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    match machine.filter(|machine| !machine.is_empty() && !machine.contains(char::is_whitespace)) {
        Some(machine) => format!("{machine}-cc"),
        None => own,
    }
}

/// Adds the record of this command to the files that the compiler wrote. `Err` if a file cannot be read or written.
fn record(compiler: &OsStr, args: &[OsString]) -> anyhow::Result<()> {
    let words: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    // Builds may delete response files, so their content is recorded.
    let words = command::expand(&words, Path::new(""));
    let Some(line) = CommandLine::parse(&words) else { return Ok(()) };
    let directory = std::env::current_dir()?;
    // The name of the compiler and all its arguments.
    let arguments: Vec<String> = std::iter::once(name(compiler)).chain(words).collect();
    for (output, sources) in line.outputs.iter().filter(|(output, _)| output.is_file()) {
        let data = std::fs::read(output)?;
        if !data.starts_with(binary::ELF) {
            continue;
        }
        let new = sources.iter().map(|source| {
            Record::Compiled(Entry {
                directory: directory.clone(),
                file: source.into(),
                command: None,
                arguments: Some(arguments.clone()),
                output: Some(output.clone()),
            })
        });
        let mut new: Vec<Record> = new.collect();
        // The linker has copied the records of the linked objects into this section.
        let before = binary::section(&data, binary::SECTION).unwrap_or_default();
        if line.links {
            // With `-flto`, the linker generates new objects without the sections of the old ones.
            let lost = line.records_of_objects()?;
            let there = String::from_utf8_lossy(&before);
            let lost =
                lost.into_iter().filter(|record| !there.contains(&binary::to_text(std::slice::from_ref(record))));
            new.splice(0..0, lost);
        }
        if line.links && !(new.is_empty() && before.is_empty()) {
            new.push(Record::Linked(line.link(output, &data)?));
        }
        if !new.is_empty() {
            add_section(output, &[before, binary::to_text(&new).into_bytes()].concat())?;
        }
    }
    Ok(())
}

/// Writes the records into the section of an object or program, and replaces the old section. `Err` if `objcopy`
/// fails.
fn add_section(file: &Path, content: &[u8]) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let text = folder.path().join("records");
    std::fs::write(&text, content)?;
    let section = binary::SECTION;
    let status = Command::new("objcopy")
        .arg(format!("--remove-section={section}"))
        .arg(format!("--add-section={section}={}", text.display()))
        .arg(format!("--set-section-flags={section}=noload,readonly"))
        .arg(file)
        .status()
        .context("cannot run objcopy")?;
    if status.success() { Ok(()) } else { Err(anyhow!("objcopy of {}: {status}", file.display())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(line: &str) -> Vec<(String, usize)> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let found = CommandLine::parse(&words).map_or_else(Vec::new, |line| line.outputs);
        found.into_iter().map(|(path, sources)| (path.display().to_string(), sources.len())).collect()
    }

    #[test]
    fn what_a_command_line_makes() {
        assert_eq!(outputs("-O2 -I inc.c -c src/a.c -o out/a.o -MD -MF a.c"), [("out/a.o".into(), 1)]);
        assert_eq!(outputs("-c src/a.c b.c"), [("a.o".into(), 1), ("b.o".into(), 1)]);
        assert_eq!(outputs("a.c b.c c.o -oprog -lm"), [("prog".into(), 2)]);
        assert_eq!(outputs("a.c"), [("a.out".into(), 1)]);
        assert_eq!(outputs("-x c -c template -o t.o"), [("t.o".into(), 1)]);
        assert_eq!(outputs("a.o -o prog"), [("prog".into(), 0)]);
        for nothing in ["-E a.c", "--version", "-S a.c", "-c a.s -o a.o", "-MM a.c"] {
            assert!(outputs(nothing).is_empty(), "{nothing}");
        }
    }

    #[test]
    fn options_of_the_linker_are_kept() {
        let words =
            "-O2 a.o b.s -Wl,--wrap=get,-z,now -Xlinker --defsym -Xlinker a=b -T own.ld -lm -L lib -nostdlib -o prog";
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let line = CommandLine::parse(&words).unwrap();
        let linker = "--wrap=get -z now --defsym a=b -T own.ld -lm -L lib -nostartfiles";
        assert_eq!(line.linker.join(" "), linker);
        assert_eq!(line.others, ["a.o", "b.s"]);
        assert!(line.links);
        assert_eq!(values(&line.linker, "-L", "--library-path"), ["lib"]);
        assert_eq!(values(&line.linker, "-l", "--library"), ["m"]);
    }
}
