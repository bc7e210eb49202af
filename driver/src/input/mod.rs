//! The inputs of a program for the front-end: files, standard input, and the sources and bitcode of binaries.

pub mod binary;
pub mod definition;
pub mod link;
pub mod project;

use crate::failure::Failure;
use crate::files;
use crate::source;
use binary::{Content, Object, Record};
use frontend_llvm::command::Ignored;
use frontend_llvm::{CompileCommand, InputFile};
use link::Effects;
use project::Database;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// The inputs of a program.
#[derive(Default)]
pub struct Inputs {
    /// The files to compile or read. A file occurs as often as it is linked.
    pub files: Vec<InputFile>,
    /// The symbols that objects of unknown content define, each with the name of its object.
    pub foreign: BTreeMap<String, String>,
    /// Warnings about assumptions on linker options.
    pub warnings: Vec<String>,
    /// Compiler options of builds that have no effect.
    pub ignored: Vec<Ignored>,
    /// The reason why the program does not start at `main`, if so.
    pub start: Option<String>,
    /// The temporary folder with some of the files. It must live as long as they are used.
    pub folder: Option<Arc<TempDir>>,
    /// The number of archive members so far.
    members: u32,
}

impl Inputs {
    /// Returns the inputs for the files that the user names. `build` is a compilation database or its folder. Files in
    /// the database are compiled as it specifies. `Err` if a file is unreadable, is an output of the run, or has
    /// unknown content.
    pub fn take(files: &[PathBuf], build: Option<&Path>) -> Result<Self, Failure> {
        let database = build.map(Database::read).transpose()?;
        let mut inputs = Self::default();
        for file in files {
            if file.is_dir() {
                return Err(is_folder(file));
            }
            if is_standard_input(file) {
                inputs.take_standard_input()?;
                continue;
            }
            if let Some(database) = &database
                && let Some(input) = database.input(file, &mut inputs.ignored)?
            {
                files::record_input(&input.path)?;
                inputs.files.push(input);
                continue;
            }
            files::record_input(file)?;
            let mut start = [0; 8];
            let mut opened = std::fs::File::open(file).map_err(|e| Failure::reading(file, &e))?;
            let read = opened.read(&mut start).unwrap_or(0);
            if !binary::is_binary(&start[..read]) {
                inputs.files.push(file.into());
                continue;
            }
            let content = binary::read(file)?.unwrap_or_default();
            inputs.take_binary(file, content)?;
        }
        Ok(inputs)
    }

    /// Adds the inputs of a binary. `Err` if none of its objects has records or bitcode.
    fn take_binary(&mut self, file: &Path, content: Content) -> Result<(), Failure> {
        if !content.objects.iter().any(Object::is_known) {
            let mut failure = Failure::data(format!("the C files of {} are unknown", file.display()));
            failure.detail =
                Some("  = help: build it with `proviso cc` as the compiler, or with clang -fembed-bitcode".into());
            return Err(failure);
        }
        for object in content.objects {
            if content.is_archive {
                self.members += 1;
            }
            let member = content.is_archive.then_some(self.members);
            self.take_object(file, object, member)?;
        }
        Ok(())
    }

    /// Adds the inputs of an object. `member` is its number if it is a member of an archive. `Err` if the object may
    /// define or run anything, if a source file is gone, or if a linker option cannot be represented.
    fn take_object(&mut self, file: &Path, object: Object, member: Option<u32>) -> Result<(), Failure> {
        if !object.is_known() {
            if object.has_constructors {
                return Err(unknown(file, file));
            }
            let symbols = object.symbols.into_iter().map(|symbol| (symbol, file.display().to_string()));
            self.foreign.extend(symbols);
            return Ok(());
        }
        let first = self.files.len();
        let mut links = Vec::new();
        for record in object.records {
            match record {
                Record::Compiled(entry) => {
                    let input = InputFile { member, ..entry.input(&mut self.ignored)? };
                    if !input.path.is_file() {
                        let text = format!("{} was built from {}, which is gone", file.display(), input.path.display());
                        return Err(Failure::data(text));
                    }
                    self.files.push(input);
                }
                Record::Linked(link) => links.push((link, self.files.len())),
            }
        }
        for bitcode in object.bitcode {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let path = self.put(&format!("{name}.bc"), &bitcode)?;
            self.files.push(InputFile { member, part_of: Some(file.to_owned()), ..path.into() });
        }
        for (link, end) in links {
            let effects = Effects::compute(&link)?;
            if let Some(other) = link.unknown.first() {
                return Err(unknown(file, Path::new(other)));
            }
            // If more files follow, the link made only a part of the object. Redirections within a part are not
            // represented.
            if end != self.files.len() && !effects.references.is_empty() {
                let text = format!(
                    "{}: --wrap or --defsym was used for a link of a part of it, which is not supported",
                    file.display()
                );
                return Err(Failure::data(text));
            }
            for input in &mut self.files[first..end] {
                input.references.extend(effects.references.clone());
                input.redefined.extend(effects.redefined.clone());
            }
            self.foreign.extend(link.foreign);
            let assumed = effects.assumed.iter();
            let text = "is linked with a linker option that is taken to change nothing";
            self.warnings.extend(assumed.map(|option| format!("{} {text}: {option}", file.display())));
            let start = effects.start.map(|option| format!("{} is linked with {option}", file.display()));
            self.start = self.start.take().or(start);
        }
        Ok(())
    }

    /// Adds standard input as a file with bitcode, LLVM IR or C, as its content shows.
    fn take_standard_input(&mut self) -> Result<(), Failure> {
        let mut data = Vec::new();
        let name = Path::new("standard input");
        std::io::stdin().lock().read_to_end(&mut data).map_err(|e| Failure::reading(name, &e))?;
        let is_bitcode = data.starts_with(b"BC") || data.starts_with(&[0xde, 0xc0, 0x17, 0x0b]);
        let text = String::from_utf8_lossy(&data[..data.len().min(4096)]);
        let starts = ["; ModuleID", "target ", "define ", "source_filename"];
        let is_ir = text.lines().any(|line| starts.iter().any(|start| line.starts_with(start)));
        let name = match (is_bitcode, is_ir) {
            (true, _) => "stdin.bc",
            (_, true) => "stdin.ll",
            _ => "stdin.c",
        };
        let mut input = InputFile::from(self.put(name, &data)?);
        source::set_standard_input(&input.path);
        // Files that it includes are searched in the current folder, as clang does for standard input.
        if let (Ok(here), "stdin.c") = (std::env::current_dir(), name) {
            let options = vec!["-iquote".into(), here.display().to_string()];
            input.command = Some(CompileCommand { directory: here, options, file: None });
        }
        self.files.push(input);
        Ok(())
    }

    /// Writes a file with this content into the temporary folder and returns its path. `Err` if that fails.
    fn put(&mut self, name: &str, content: &[u8]) -> Result<PathBuf, Failure> {
        if self.folder.is_none() {
            let folder = tempfile::tempdir().map_err(|e| Failure::writing(std::env::temp_dir(), &e))?;
            self.folder = Some(Arc::new(folder));
        }
        let folder = self.folder.as_ref().map_or(Path::new("."), |folder| folder.path());
        let path = folder.join(format!("{}-{name}", self.files.len()));
        let path = if name.starts_with("stdin") { folder.join(name) } else { path };
        std::fs::write(&path, content).map_err(|e| Failure::writing(&path, &e))?;
        Ok(path)
    }
}

/// Returns true if the file is standard input.
fn is_standard_input(file: &Path) -> bool {
    ["-", "/dev/stdin"].iter().any(|name| file == Path::new(name))
}

/// The maximal number of C files of a folder that a message names.
const MAX_NAMED: usize = 8;

/// The start of the first line of a harness.
pub const HARNESS: &[u8; 30] = b"/* Made by proviso: the inputs";

/// Returns true if the file is a harness that a run of this program wrote.
fn is_harness(path: &Path) -> bool {
    let mut start = [0; HARNESS.len()];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *HARNESS
}

/// Returns the failure that the user names a folder instead of files.
fn is_folder(folder: &Path) -> Failure {
    let shown = files::shell_word(&folder.display().to_string());
    let mut failure = Failure::usage(format!("{} is a folder, not a file", folder.display()));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut own: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .map(|path| path.strip_prefix(".").map(PathBuf::from).unwrap_or(path))
        .filter(|path| path.extension().is_some_and(|e| e == "c") && !is_harness(path))
        .collect();
    own.sort_unstable();
    let mut help = match own.is_empty() {
        true => "  = help: name the C files of one program".to_owned(),
        false => {
            let named = own.iter().take(MAX_NAMED).map(|path| files::shell_word(&path.display().to_string()));
            let more = if own.len() > MAX_NAMED { " …" } else { "" };
            let named = named.collect::<Vec<_>>().join(" ");
            format!("  = help: name the files of one program: `proviso verify {named}{more}`")
        }
    };
    if folder.join("compile_commands.json").is_file() {
        help += &format!("\n  = help: `-p {shown}` compiles the files as the project does");
    }
    help += &format!("\n  = help: `scripts/batch run {shown} --out results.jsonl` verifies each task of a folder");
    failure.detail = Some(help);
    failure
}

/// Returns the failure that `part`, a part of the program `file`, may define and run anything.
fn unknown(file: &Path, part: &Path) -> Failure {
    let mut failure =
        Failure::data(format!("the source of {}, which is a part of {}, is unknown", part.display(), file.display()));
    let detail = "  = note: it is not C, not compiled by `proviso cc` or a shared library, and may define any function or run before `main`\n  \
                  = help: verify the other objects without it; the functions that it defines are then undefined";
    failure.detail = Some(detail.into());
    failure
}
