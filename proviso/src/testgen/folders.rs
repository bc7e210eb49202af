//! Tests as folders: what the operating system gives to the program, and a script that starts a program on it.

use driver::environment::Process;
use driver::failure::Failure;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Error;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The second line of each script, by which an earlier suite is recognised.
const MARK: &str = "# Made by proviso testgen.";
/// The maximal number of goals that a script names.
const MOST_NAMED: usize = 20;

/// Returns true if a folder has a test that this module wrote.
pub fn is_test(folder: &Path) -> bool {
    std::fs::read(folder.join("run.sh")).is_ok_and(|text| String::from_utf8_lossy(&text).lines().nth(1) == Some(MARK))
}

/// Writes a test into a new folder: `argv` and `env` with a zero byte after each argument and variable, `stdin`, the
/// folder `files`, and `run.sh`. `purpose` lists the goals of the test. `Err` if a file cannot be written.
pub fn write(folder: &Path, process: &Process, purpose: &[String]) -> Result<(), Failure> {
    let writing = |path: &Path| {
        let path = path.to_owned();
        move |error: Error| Failure::writing(&path, &error)
    };
    let put = |name: &str, content: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, content).map_err(writing(&path))
    };
    std::fs::create_dir_all(folder).map_err(writing(folder))?;
    put("argv", &listed(process.arguments.iter().cloned()))?;
    put("env", &listed(process.variables.iter().map(|(name, value)| assignment(name, value))))?;
    put("stdin", &process.stdin)?;
    put_files(&folder.join("files"), process).map_err(writing(&folder.join("files")))?;
    put("run.sh", &script(process, purpose))?;
    let script = folder.join("run.sh");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).map_err(writing(&script))
}

/// Reads a test that this module wrote. `Err` if a file cannot be read.
fn read(folder: &Path) -> Result<Process, Error> {
    let list = |name: &str| -> Result<Vec<Vec<u8>>, Error> {
        let text = std::fs::read(folder.join(name))?;
        let mut parts: Vec<Vec<u8>> = text.split(|&b| b == 0).map(<[u8]>::to_vec).collect();
        // A zero byte ends each part.
        parts.pop();
        Ok(parts)
    };
    let pair = |entry: Vec<u8>| {
        let at = entry.iter().position(|&b| b == b'=')?;
        Some((entry[..at].to_vec(), entry[at + 1..].to_vec()))
    };
    let files = folder.join("files");
    let mut process = Process {
        arguments: list("argv")?,
        variables: list("env")?.into_iter().filter_map(pair).collect(),
        stdin: std::fs::read(folder.join("stdin"))?,
        ..Process::default()
    };
    process.arguments.truncate(Process::MOST_ARGUMENTS);
    for path in files_in(&files, usize::MAX)? {
        let name = path.strip_prefix(&files).unwrap_or(&path).as_os_str().as_bytes().to_vec();
        process.files.insert(name, std::fs::read(&path)?);
    }
    Ok(process)
}

/// Returns the files in a folder and in the folders below it, at most so many levels deep, in order.
fn files_in(folder: &Path, levels: usize) -> Result<Vec<PathBuf>, Error> {
    let mut entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, Error>>()?;
    entries.sort_by_key(std::fs::DirEntry::path);
    let mut files = Vec::new();
    for entry in entries {
        let kind = entry.file_type()?;
        if kind.is_file() {
            files.push(entry.path());
        } else if kind.is_dir() && levels > 0 {
            files.extend(files_in(&entry.path(), levels - 1)?);
        }
    }
    Ok(files)
}

/// Returns the processes of a folder for a search to start with: its tests that this module wrote, and for each other
/// file the process that reads it from standard input and the one whose argument is its path. `Err` if the folder
/// cannot be read.
pub fn seeds(folder: &Path) -> Result<Vec<Process>, Failure> {
    /// The name of a file that is an argument.
    const NAME: &[u8] = b"input";
    /// The maximal size of a file in bytes. Larger files are left out.
    const LARGEST: u64 = 1 << 20;
    let reading = |path: &Path, error: Error| Failure::reading(path, &error);
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder).map_err(|e| reading(folder, e))?;
    let mut tests: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| is_test(path)).collect();
    tests.sort();
    for test in &tests {
        found.push(read(test).map_err(|e| reading(test, e))?);
    }
    for path in files_in(folder, 2).map_err(|e| reading(folder, e))? {
        let is_small = std::fs::metadata(&path).is_ok_and(|data| data.len() <= LARGEST);
        if !is_small || tests.iter().any(|test| path.starts_with(test)) {
            continue;
        }
        let bytes = std::fs::read(&path).map_err(|e| reading(&path, e))?;
        let files = BTreeMap::from([(NAME.to_vec(), bytes.clone())]);
        found.push(Process { stdin: bytes, ..Process::default() });
        found.push(Process { arguments: vec![NAME.to_vec()], files, ..Process::default() });
    }
    Ok(found)
}

/// Creates a folder with the files of a process.
pub fn put_files(folder: &Path, process: &Process) -> Result<(), Error> {
    std::fs::create_dir_all(folder)?;
    for (name, content) in &process.files {
        let path: PathBuf = folder.join(OsStr::from_bytes(name));
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, content)?;
    }
    Ok(())
}

/// Returns the bytes of a test for a fuzzer that has one input: standard input, else the only file.
pub fn seed(process: &Process) -> Option<&[u8]> {
    let mut files = process.files.values();
    match (process.stdin.as_slice(), files.next(), files.next()) {
        ([], Some(file), None) => Some(file),
        ([], ..) => None,
        (stdin, ..) => Some(stdin),
    }
}

fn assignment(name: &[u8], value: &[u8]) -> Vec<u8> {
    [name, value].join(&b'=')
}

fn listed(items: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    items.flat_map(|item| [item, vec![0]].concat()).collect()
}

/// Returns the script of a test. It runs the program in a temporary folder, so that it changes no file of the test.
fn script(process: &Process, purpose: &[String]) -> Vec<u8> {
    let mut out = format!("#!/bin/sh\n{MARK}\n# Starts a program on this test: run.sh PROGRAM\n").into_bytes();
    if !purpose.is_empty() {
        out.extend(b"# It is for:\n");
    }
    for goal in purpose.iter().take(MOST_NAMED) {
        out.extend(format!("#   {}\n", goal.replace('\n', " ")).bytes());
    }
    if purpose.len() > MOST_NAMED {
        out.extend(format!("#   and {} more\n", purpose.len() - MOST_NAMED).bytes());
    }
    out.extend(
        b"test $# -eq 1 || { echo \"usage: $0 PROGRAM\" >&2; exit 64; }\n\
          here=$(cd \"$(dirname \"$0\")\" && pwd) || exit 74\n\
          program=$(realpath \"$1\") || exit 66\n\
          folder=$(mktemp -d) || exit 74\n\
          trap 'rm -rf \"$folder\"' EXIT\n\
          cp -R \"$here/files/.\" \"$folder\" && cd \"$folder\" || exit 74\n\
          env -i",
    );
    for (name, value) in &process.variables {
        out.push(b' ');
        out.extend(word(&assignment(name, value)));
    }
    out.extend(b" \"$program\"");
    for argument in &process.arguments {
        out.push(b' ');
        out.extend(word(argument));
    }
    out.extend(b" <\"$here/stdin\"\n");
    out
}

/// Returns bytes as one word of a shell.
fn word(bytes: &[u8]) -> Vec<u8> {
    let is_plain = |b: &u8| b.is_ascii_alphanumeric() || b"-_./=,+:@%".contains(b);
    if !bytes.is_empty() && bytes.iter().all(is_plain) {
        return bytes.to_vec();
    }
    let quoted = bytes.iter().flat_map(|&b| if b == b'\'' { b"'\\''".to_vec() } else { vec![b] });
    std::iter::once(b'\'').chain(quoted).chain(std::iter::once(b'\'')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_script_gives_exactly_what_the_process_has() {
        let process = Process {
            arguments: vec![b"it's".to_vec(), Vec::new(), b"a\nb $HOME \xff".to_vec()],
            variables: BTreeMap::from([(b"A".to_vec(), b"x y".to_vec())]),
            stdin: b"in\0put".to_vec(),
            files: BTreeMap::from([(b"d/f".to_vec(), b"1".to_vec())]),
        };
        let folder = tempfile::tempdir().unwrap();
        let test = folder.path().join("test-1");
        write(&test, &process, &["p.c:1: x".into()]).unwrap();
        assert!(is_test(&test) && !is_test(folder.path()));
        let program = folder.path().join("program");
        std::fs::write(&program, "#!/bin/sh\nprintf '%s\\0' \"$@\"; printf '%s\\0' \"$A\"; /bin/cat - d/f\n").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let output = Command::new(test.join("run.sh")).arg(&program).output().unwrap();
        assert_eq!(output.stdout, b"it's\0\0a\nb $HOME \xff\0x y\0in\0put1");
        assert_eq!(std::fs::read(test.join("argv")).unwrap(), b"it's\0\0a\nb $HOME \xff\0");
        assert_eq!(Command::new(test.join("run.sh")).status().unwrap().code(), Some(64));
        // A later search can start with the test, and with the corpus of a fuzzer.
        std::fs::remove_file(&program).unwrap();
        let queue = folder.path().join("default/queue");
        std::fs::create_dir_all(&queue).unwrap();
        std::fs::write(queue.join("id:000000"), "{}").unwrap();
        let seeds = seeds(folder.path()).unwrap();
        assert_eq!((&seeds[0], seeds.len()), (&process, 3));
        assert!(seeds[1].stdin == b"{}" && seeds[2].arguments == [b"input"] && seeds[2].files[&b"input"[..]] == b"{}");
        assert!(super::seeds(&folder.path().join("none")).is_err());
    }

    #[test]
    fn seeds_are_the_input_that_there_is() {
        let stdin = Process { stdin: b"x".to_vec(), ..Process::default() };
        let file = Process { files: BTreeMap::from([(b"f".to_vec(), b"y".to_vec())]), ..Process::default() };
        assert_eq!((seed(&stdin), seed(&file), seed(&Process::default())), (Some(&b"x"[..]), Some(&b"y"[..]), None));
    }
}
