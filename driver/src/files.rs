//! The files that a run writes.
//!
//! The outputs that the user names are checked before any work is done: no output is an input, no two outputs are the
//! same file, and all can be written. There is no list of inputs. Every file that [`read`] reads is an input for the
//! rest of the run, and reading a checked output fails. A file is written beside its target and renamed at the end, so
//! a run that fails keeps the old file.

use crate::failure::Failure;
use std::ffi::{CString, OsStr};
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::NamedTempFile;

/// The name of standard output in options.
pub const STDOUT: &str = "-";

/// The inputs that this process has read so far.
static INPUTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// The outputs that this process has checked so far, each with its option.
static CHECKED: Mutex<Vec<(&str, PathBuf)>> = Mutex::new(Vec::new());

/// Reads an input and returns its bytes. `Err` if it cannot be read, or if it is a checked output.
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    record_input(path)?;
    fs::read(path).map_err(|error| Failure::reading(path, &error))
}

/// Reads an input and returns its text. `Err` if it cannot be read, is not UTF-8, or is a checked output.
pub fn read_text(path: &Path) -> Result<String, Failure> {
    record_input(path)?;
    fs::read_to_string(path).map_err(|error| Failure::reading(path, &error))
}

/// Records a file as an input. `Err` if it is a checked output. Later checks of outputs reject it, too.
pub fn record_input(path: &Path) -> Result<(), Failure> {
    INPUTS.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
    let named = CHECKED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Outputs { named, content: Vec::new() }.spare([path])
}

/// The outputs of a run: the files that the options name, and the contents that exist so far.
#[derive(Clone, Default, Debug)]
pub struct Outputs {
    named: Vec<(&'static str, PathBuf)>,
    content: Vec<(PathBuf, Vec<u8>)>,
}

impl Outputs {
    /// Returns the outputs for pairs of an option and its file. Options without a file are skipped.
    pub fn new<'a>(named: impl IntoIterator<Item = (&'static str, Option<&'a PathBuf>)>) -> Self {
        let named = named.into_iter().filter_map(|(option, path)| Some((option, path?.clone()))).collect();
        Self { named, content: Vec::new() }
    }

    /// Checks the outputs before the work. `Err` if an output is an input, if two outputs are the same file, or if one
    /// cannot be written.
    pub fn check<'a>(&self, inputs: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
        self.spare(inputs)?;
        for (i, (option, path)) in self.named.iter().enumerate() {
            let writing = |error| Failure::writing(path, &error);
            if path == Path::new(STDOUT) {
                if let Some((other, _)) = self.named[..i].iter().find(|(_, p)| p == path) {
                    return Err(Failure::usage(format!("{other} and {option} both write to standard output")));
                }
                continue;
            }
            check_writable(path).map_err(writing)?;
            let identity = Identity::read(path).map_err(writing)?;
            for (other, other_path) in &self.named[..i] {
                if identity.is_some() && Identity::read(other_path).map_err(writing)? == identity {
                    let shown = path.display();
                    return Err(Failure::usage(format!("{other} and {option} both write to {shown}")));
                }
            }
        }
        CHECKED.lock().unwrap_or_else(PoisonError::into_inner).extend(self.named.iter().cloned());
        Ok(())
    }

    /// Checks that no output is one of `inputs`, or a file that this process or clang has read before. `Err` if one is.
    pub fn spare<'a>(&self, inputs: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
        let named = self.named.iter().filter(|(_, path)| path != Path::new(STDOUT));
        let outputs: Vec<_> = named.filter_map(|named| Some((named, Identity::read(&named.1).ok()??))).collect();
        if outputs.is_empty() {
            return Ok(());
        }
        let read = INPUTS.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for input in inputs.into_iter().map(Path::to_owned).chain(read).chain(frontend_llvm::files_read()) {
            let Ok(Some(identity)) = Identity::read(&input) else { continue };
            if let Some(((option, path), _)) = outputs.iter().find(|(_, output)| *output == identity) {
                let (path, input) = (path.display().to_string(), input.display().to_string());
                let other = if path == input { String::new() } else { format!(" (which is {path})") };
                return Err(Failure::usage(format!("{option} would overwrite the input {input}{other}")));
            }
        }
        Ok(())
    }

    /// Adds the content of a file, or of standard output (`-`).
    pub fn put(&mut self, path: &Path, bytes: impl Into<Vec<u8>>) {
        self.content.push((path.to_owned(), bytes.into()));
    }

    /// Writes all contents. `Err` if one cannot be written. All replacement files are prepared first, so a failure
    /// there changes no file.
    pub fn commit(self) -> Result<(), Failure> {
        let mut staged = Vec::new();
        for (path, bytes) in &self.content {
            let file = if path == Path::new(STDOUT) { Staged::Stdout(bytes) } else { stage(path, bytes)? };
            staged.push((path, file));
        }
        // Writes that cannot be undone come last.
        staged.sort_by_key(|(_, file)| !matches!(file, Staged::Beside { .. }));
        for (path, file) in staged {
            let done = match file {
                Staged::Beside { file, target } => file.persist(target).map(drop).map_err(|e| e.error),
                Staged::InPlace(bytes) => fs::OpenOptions::new()
                    .write(true)
                    .truncate(true)
                    .open(path)
                    .and_then(|mut file| file.write_all(bytes).and_then(|()| file.flush())),
                Staged::Stdout(bytes) => {
                    write_stdout(bytes)?;
                    Ok(())
                }
            };
            done.map_err(|error| Failure::writing(path, &error))?;
        }
        Ok(())
    }
}

/// Writes to standard output. `Err` if that fails; a closed pipe is no error.
pub fn write_stdout(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::writing("standard output", &error)),
        _ => Ok(()),
    }
}

/// Writes one file, or standard output (`-`). `Err` if it cannot be written.
pub fn write(path: &Path, bytes: impl Into<Vec<u8>>) -> Result<(), Failure> {
    let mut outputs = Outputs::default();
    outputs.put(path, bytes);
    outputs.commit()
}

/// Content that is prepared for its target.
enum Staged<'a> {
    /// The content is in a file beside the target and will replace the target.
    Beside { file: NamedTempFile, target: PathBuf },
    /// The content will be written into the existing file. This is for devices and pipes, and for files in folders that
    /// are not writable.
    InPlace(&'a [u8]),
    /// The content will be written to standard output.
    Stdout(&'a [u8]),
}

/// Prepares the content of a file. `Err` if the file beside the target cannot be written.
fn stage<'a>(path: &Path, bytes: &'a [u8]) -> Result<Staged<'a>, Failure> {
    let writing = |error: io::Error| Failure::writing(path, &error);
    // The metadata of the system count, not the text of the link: `/dev/stdout` links to `pipe:[…]`, which is no path.
    let old = fs::metadata(path).ok();
    if old.as_ref().is_some_and(|m| !m.is_file()) {
        return Ok(Staged::InPlace(bytes));
    }
    let target = followed(path).map_err(writing)?;
    if old.is_some() && may(&folder_of(&target), libc::W_OK | libc::X_OK).is_err() {
        return Ok(Staged::InPlace(bytes));
    }
    // A new file gets the default permissions; an old file keeps its own.
    let mode = old.as_ref().map_or(0o666, Metadata::mode);
    let mut name = OsStr::new(".").to_owned();
    name.push(target.file_name().unwrap_or_default());
    let mut file = tempfile::Builder::new()
        .prefix(&name)
        .permissions(fs::Permissions::from_mode(mode & 0o7777))
        .tempfile_in(folder_of(&target))
        .map_err(writing)?;
    file.write_all(bytes).and_then(|()| file.flush()).map_err(writing)?;
    if old.is_some() {
        file.as_file().set_permissions(fs::Permissions::from_mode(mode & 0o7777)).map_err(writing)?;
    }
    Ok(Staged::Beside { file, target })
}

/// The identity of a file: all names of a file have the same, also symbolic and hard links.
#[derive(Clone, PartialEq, Eq)]
enum Identity {
    /// An existing file.
    Old { device: u64, inode: u64 },
    /// A file that does not exist yet: its path in its canonical folder.
    New(PathBuf),
}

impl Identity {
    /// Returns the identity of a file. Returns `None` if the path is no regular file: a device may take several
    /// outputs.
    fn read(path: &Path) -> io::Result<Option<Self>> {
        match fs::metadata(path) {
            Ok(m) => Ok(m.is_file().then(|| Self::Old { device: m.dev(), inode: m.ino() })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let target = followed(path)?;
                let name = target.file_name().unwrap_or_default();
                Ok(Some(Self::New(fs::canonicalize(folder_of(&target))?.join(name))))
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns the path of a file after all symbolic links. The file need not exist.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    // Linux follows at most 40 links.
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(to) => path = folder_of(&path).join(to),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::from_raw_os_error(libc::ELOOP))
}

/// Returns the folder of a path, or `.`.
fn folder_of(path: &Path) -> PathBuf {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

/// Checks that a file can be written or created. `Err` with the reason of the system otherwise.
fn check_writable(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(m) if m.is_dir() => Err(io::Error::from_raw_os_error(libc::EISDIR)),
        Ok(_) => may(path, libc::W_OK),
        Err(_) => {
            let target = followed(path)?;
            if target.file_name().is_none() || path.as_os_str().as_bytes().ends_with(b"/") {
                return Err(io::Error::from_raw_os_error(libc::EISDIR));
            }
            let folder = folder_of(&target);
            if !fs::metadata(&folder)?.is_dir() {
                return Err(io::Error::from_raw_os_error(libc::ENOTDIR));
            }
            may(&folder, libc::W_OK | libc::X_OK)
        }
    }
}

/// Checks that this process has the access rights `rights` to the path. `Err` if it has not.
fn may(path: &Path, rights: libc::c_int) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the string is live.
    match unsafe { libc::access(path.as_ptr(), rights) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns a word quoted for a shell. The result does not end a C comment that contains it.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./=,+:@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''").replace("*/", "*''/").replace('\n', " ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn outputs(named: &[(&'static str, &Path)]) -> Outputs {
        Outputs {
            named: named.iter().map(|(option, path)| (*option, path.to_path_buf())).collect(),
            content: Vec::new(),
        }
    }

    fn entries(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn an_input_is_no_output_by_whatever_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a.c"), "int x;").unwrap();
        fs::create_dir(at("sub")).unwrap();
        symlink("a.c", at("soft")).unwrap();
        symlink("../soft", at("sub/softer")).unwrap();
        fs::hard_link(at("a.c"), at("hard")).unwrap();
        for name in ["a.c", "./a.c", "sub/../a.c", "soft", "sub/softer", "hard"] {
            let failure = outputs(&[("--json", &at(name))]).check([at("a.c").as_path()]).unwrap_err();
            assert_eq!(failure.code, crate::failure::exit::USAGE);
            assert!(failure.message.contains("--json would overwrite the input"), "{failure}");
        }
        outputs(&[("--json", &at("b.c"))]).check([at("a.c").as_path(), Path::new("gone.c")]).unwrap();
        assert_eq!(entries(folder.path()), ["a.c", "hard", "soft", "sub"], "a check makes no file");
    }

    #[test]
    fn two_outputs_are_two_files() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        symlink("new", at("dangling")).unwrap();
        let both = |a: &Path, b: &Path| outputs(&[("--json", a), ("--harness", b)]).check([]);
        for name in ["new", "./new", "dangling"] {
            let message = both(&at("new"), &at(name)).unwrap_err().message;
            assert!(message.contains("--json and --harness both write to"), "{message}");
        }
        both(&at("new"), &at("other")).unwrap();
        both(Path::new("/dev/null"), Path::new("/dev/null")).unwrap();
        assert!(both(Path::new("-"), Path::new("-")).unwrap_err().message.contains("standard output"));
    }

    #[test]
    fn files_are_replaced_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("old"), "old").unwrap();
        fs::set_permissions(at("old"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("old", at("link")).unwrap();
        let mut good = Outputs::default();
        good.put(&at("link"), "new");
        good.put(&at("fresh"), "fresh");
        good.commit().unwrap();
        assert_eq!(fs::read_to_string(at("old")).unwrap(), "new");
        assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
        assert_eq!(fs::metadata(at("old")).unwrap().mode() & 0o777, 0o640);
        assert_ne!(fs::metadata(at("fresh")).unwrap().mode() & 0o044, 0, "as other new files");
        let mut bad = Outputs::default();
        bad.put(&at("old"), "newer");
        bad.put(&at("no/such/folder"), "");
        assert_eq!(bad.commit().unwrap_err().code, crate::failure::exit::CANT_CREATE);
        assert_eq!(fs::read_to_string(at("old")).unwrap(), "new");
        assert_eq!(entries(folder.path()), ["fresh", "link", "old"]);
    }

    #[test]
    fn what_cannot_be_written_is_said_before() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "").unwrap();
        for name in ["no/file", "file/below", ".", "new/"] {
            let failure = outputs(&[("-o", &at(name))]).check([]).unwrap_err();
            assert_eq!(failure.code, crate::failure::exit::CANT_CREATE, "{name}");
        }
        let mut full = Outputs::default();
        full.put(Path::new("/dev/full"), "text");
        assert!(full.commit().unwrap_err().message.contains("No space left"));
    }
}
