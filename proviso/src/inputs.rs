//! The files of a program as the front-end takes them: standard input, and what binaries consist of.

use crate::binary::{self, Content};
use crate::failure::Failure;
use crate::files;
use frontend_llvm::CompileCommand;
use frontend_llvm::command::Ignored;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// Files that can be compiled or read.
#[derive(Default)]
pub struct Inputs {
    pub files: Vec<PathBuf>,
    /// How those are compiled that binaries name.
    pub commands: BTreeMap<PathBuf, CompileCommand>,
    /// Options of the builds of binaries that have no effect.
    pub ignored: Vec<Ignored>,
    /// Holds some of the files.
    pub folder: Option<Arc<TempDir>>,
}

impl Inputs {
    /// The files that the user names, which can be read.
    pub fn take(files: &[PathBuf]) -> Result<Self, Failure> {
        let mut inputs = Self::default();
        for file in files {
            if file == Path::new("-") {
                inputs.take_standard_input()?;
                continue;
            }
            files::take(file)?;
            let mut start = [0; 8];
            let mut opened = std::fs::File::open(file).map_err(|e| Failure::reading(file, &e))?;
            // A folder is said to be none later.
            let read = opened.read(&mut start).unwrap_or(0);
            if !binary::is_binary(&start[..read]) {
                inputs.files.push(file.clone());
                continue;
            }
            let data = files::read(file)?;
            inputs.take_binary(file, content(file, &data)?)?;
        }
        Ok(inputs)
    }

    fn take_binary(&mut self, file: &Path, content: Content) -> Result<(), Failure> {
        if content.records.is_empty() && content.bitcode.is_empty() {
            let mut failure = Failure::data(format!("nothing is known of the C files of {}", file.display()));
            failure.detail =
                Some("  = note: build it with `proviso cc` as the compiler, or with clang -fembed-bitcode".into());
            return Err(failure);
        }
        for record in content.records {
            let path = record.path();
            if !path.is_file() {
                let text = format!("{} was built from {}, which is gone", file.display(), path.display());
                return Err(Failure::data(text));
            }
            // Compiled twice, for a library and a program, say: once is enough.
            let command = record.compile_command(&mut self.ignored)?;
            if self.commands.insert(path.clone(), command).is_none() {
                self.files.push(path);
            }
        }
        for (n, bitcode) in content.bitcode.into_iter().enumerate() {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            self.put(&format!("{name}.{n}.bc"), &bitcode)?;
        }
        Ok(())
    }

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
        self.put(name, &data)?;
        // What it includes is looked for here, where clang looks for it.
        if let (Ok(here), Some(path), "stdin.c") = (std::env::current_dir(), self.files.last(), name) {
            let options = vec!["-iquote".into(), here.display().to_string()];
            self.commands.insert(path.clone(), CompileCommand { directory: here, options });
        }
        Ok(())
    }

    /// Adds a file with this content.
    fn put(&mut self, name: &str, content: &[u8]) -> Result<(), Failure> {
        if self.folder.is_none() {
            let folder = tempfile::tempdir().map_err(|e| Failure::writing(std::env::temp_dir(), &e))?;
            self.folder = Some(Arc::new(folder));
        }
        let folder = self.folder.as_ref().map_or(Path::new("."), |folder| folder.path());
        let path = folder.join(format!("{}-{name}", self.files.len()));
        let path = if name.starts_with("stdin") { folder.join(name) } else { path };
        std::fs::write(&path, content).map_err(|e| Failure::writing(&path, &e))?;
        self.files.push(path);
        Ok(())
    }
}

/// What an object, an archive or a program consists of; a thin archive, of what is in the files that it names.
fn content(file: &Path, data: &[u8]) -> Result<Content, Failure> {
    let Some(names) = binary::members_elsewhere(data) else { return Ok(binary::content(data).unwrap_or_default()) };
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut all = Content::default();
    for name in names {
        let Content { records, bitcode } = binary::content(&files::read(&folder.join(name))?).unwrap_or_default();
        all.records.extend(records);
        all.bitcode.extend(bitcode);
    }
    Ok(all)
}
