//! Reads the tests of other test generators: Test-Comp's XML, KLEE's `.ktest`, and the inputs in the queue of AFL.

use anyhow::{Context, Error};
use cfa::interp::{InputSource, ObjectSeq, Unknown};
use cfa::{Bv, InputId, InputKind, Program};
use cooperate::range::test_case::TestCase;
use driver::failure::Failure;
use driver::files;
use std::path::{Path, PathBuf};

/// The values that one test returns from the calls of `__VERIFIER_nondet_*` functions, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Imported {
    /// The texts of the values.
    Texts(TestCase),
    /// The bytes of each value, lowest byte first.
    Objects(Vec<Vec<u8>>),
    /// A sequence of bytes. Each input takes as many bytes as it is wide.
    Stream(Vec<u8>),
}

impl Imported {
    /// Returns the test with these values of inputs, in order.
    pub fn from_values(values: &[(cfa::InputId, Bv)]) -> Self {
        Self::Objects(values.iter().map(|(_, value)| in_memory(value)).collect())
    }
}

/// Returns the bytes of the inputs of a test, in the order in which the program reads them. Only results of
/// `__VERIFIER_nondet_*` functions count.
pub fn bytes(program: &Program, test: &cooperate::gia::Test) -> Vec<u8> {
    let nondet = |input| matches!(program.inputs[input].kind, InputKind::Nondet(_));
    test.values.iter().filter(|(_, input, _)| nondet(*input)).flat_map(|(_, _, value)| in_memory(value)).collect()
}

/// Returns the bytes of a value, lowest byte first.
pub fn in_memory(value: &Bv) -> Vec<u8> {
    let mut bytes = value.to_biguint().to_bytes_le();
    bytes.resize(value.width().div_ceil(8) as usize, 0);
    bytes
}

/// Returns the test in a file, or the tests in a folder. In a folder, its files and those of its `queue` and `crashes`
/// folders count, sorted by name. Files of a folder that are not tests are skipped. A single file of an unknown format
/// is a sequence of bytes.
///
/// `Err` if a file cannot be read or is a malformed test.
pub fn read(path: &Path) -> Result<Vec<Imported>, Failure> {
    if !path.is_dir() {
        let bytes = files::read(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let problem = |why: Error| Failure::data(format!("{}: {why:#}", path.display()));
        return Ok(vec![test(&name, &bytes).unwrap_or_else(|| Ok(Imported::Stream(bytes.clone()))).map_err(problem)?]);
    }
    let mut files = Vec::new();
    let afl = ["", "default"].into_iter().flat_map(|d| ["queue", "crashes"].map(|q| path.join(d).join(q)));
    for folder in std::iter::once(path.to_owned()).chain(afl).filter(|f| f.is_dir()) {
        let entries = std::fs::read_dir(&folder).map_err(|e| Failure::reading(&folder, &e))?;
        let mut here: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(|p| p.is_file()).collect();
        here.sort();
        files.extend(here);
    }
    let mut tests = Vec::new();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = files::read(&file)?;
        match test(&name, &bytes) {
            Some(Ok(test)) => tests.push(test),
            Some(Err(why)) => return Err(Failure::data(format!("{}: {why:#}", file.display()))),
            None => {}
        }
    }
    Ok(tests)
}

/// Parses a test. The name and the first bytes of the file determine the format. Returns `None` if the file is not a
/// test, and `Some(Err(_))` if it is malformed.
pub fn test(name: &str, bytes: &[u8]) -> Option<anyhow::Result<Imported>> {
    if name == "metadata.xml" {
        return None;
    }
    if name.ends_with(".xml") {
        let text = String::from_utf8_lossy(bytes);
        return Some(TestCase::parse(&text).map(Imported::Texts).map_err(Error::msg));
    }
    if name.ends_with(".ktest") {
        return Some(ktest(bytes).map(Imported::Objects));
    }
    name.starts_with("id:").then(|| Ok(Imported::Stream(bytes.to_vec())))
}

/// Returns the objects of a `.ktest` file that are inputs (KLEE, lib/Basic/KTest.cpp: numbers are big-endian). `Err` if
/// the file is malformed.
fn ktest(bytes: &[u8]) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut rest = bytes.strip_prefix(b"KTEST").context("this is no .ktest: it does not begin with KTEST")?;
    fn take<'b>(rest: &mut &'b [u8], n: usize) -> anyhow::Result<&'b [u8]> {
        let (taken, left) = rest.split_at_checked(n).context("the .ktest ends too soon")?;
        *rest = left;
        Ok(taken)
    }
    fn number(rest: &mut &[u8]) -> anyhow::Result<usize> {
        Ok(u32::from_be_bytes(take(rest, 4)?.try_into().expect("four bytes")) as usize)
    }
    let rest = &mut rest;
    let version = number(rest)?;
    for _ in 0..number(rest)? {
        let length = number(rest)?;
        take(rest, length)?;
    }
    if version >= 2 {
        take(rest, 8)?;
    }
    let mut objects = Vec::new();
    for _ in 0..number(rest)? {
        let length = number(rest)?;
        let name = String::from_utf8_lossy(take(rest, length)?).into_owned();
        let length = number(rest)?;
        let value = take(rest, length)?.to_vec();
        // The environment model of KLEE makes the object `model_version` symbolic, so it is not an input of the
        // program.
        if name != "model_version" {
            objects.push(value);
        }
    }
    Ok(objects)
}

/// Returns true if the input is the number of arguments of the program. Tests run the program without arguments, so
/// this number is 1, for the name of the program.
pub fn is_argument_count(program: &Program, input: InputId) -> bool {
    program.inputs[input].kind == InputKind::Environment("main".into())
}

/// The inputs of a test. Every input that the test does not contain is zero.
pub struct Given<'a> {
    program: &'a Program,
    test: &'a Imported,
    /// The number of values, or of bytes, that have been read.
    taken: usize,
    /// The message about the first value that does not fit its type.
    pub wrong: Option<String>,
}

impl<'a> Given<'a> {
    /// Returns the inputs of a test for a program.
    pub fn new(program: &'a Program, test: &'a Imported) -> Self {
        Self { program, test, taken: 0, wrong: None }
    }
}

impl InputSource for Given<'_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        let Unknown::Havoc(input) = what else { return Bv::zero(width) };
        if is_argument_count(self.program, input) {
            return Bv::new(width, 1);
        }
        if !matches!(self.program.inputs[input].kind, InputKind::Nondet(_)) {
            return Bv::zero(width);
        }
        let of_bytes = |bytes: &[u8]| {
            let mut padded = bytes.to_vec();
            padded.resize(width.div_ceil(8) as usize, 0);
            Bv::from_le_bytes(&padded).resize(width)
        };
        let at = self.taken;
        match self.test {
            Imported::Texts(test) => {
                self.taken += 1;
                test.value(self.program, input, at).unwrap_or_else(|why| {
                    self.wrong.get_or_insert(why);
                    None
                })
            }
            Imported::Objects(objects) => {
                self.taken += 1;
                objects.get(at).map(|bytes| of_bytes(bytes))
            }
            Imported::Stream(bytes) => {
                let size = width.div_ceil(8) as usize;
                self.taken += size;
                let end = (at + size).min(bytes.len());
                bytes.get(at..end).map(of_bytes)
            }
        }
        .map_or_else(|| Bv::zero(width), |value| value.resize(width))
    }
    fn bytes(&mut self, _: ObjectSeq, _: u64, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ktest_files_are_read_and_broken_ones_refused() {
        let mut file = b"KTEST".to_vec();
        let number = |n: u32| n.to_be_bytes();
        let text = |file: &mut Vec<u8>, bytes: &[u8]| {
            file.extend(number(bytes.len() as u32));
            file.extend(bytes);
        };
        file.extend(number(3));
        file.extend(number(1));
        text(&mut file, b"prog.bc");
        file.extend([0; 8]);
        file.extend(number(3));
        for (name, value) in [("x", &[7u8, 0, 0, 0][..]), ("model_version", &[1, 0, 0, 0]), ("c", &[255])] {
            text(&mut file, name.as_bytes());
            text(&mut file, value);
        }
        assert_eq!(ktest(&file).unwrap(), vec![vec![7, 0, 0, 0], vec![255]]);
        for cut in 0..file.len() {
            assert!(ktest(&file[..cut]).is_err(), "{cut} bytes");
        }
    }

    #[test]
    fn folders_of_testers_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let queue = folder.path().join("default/queue");
        std::fs::create_dir_all(&queue).unwrap();
        std::fs::write(queue.join("id:000000,orig:seed"), [1, 2]).unwrap();
        std::fs::write(queue.join("README.txt"), "none").unwrap();
        std::fs::write(folder.path().join("metadata.xml"), "<test-metadata>").unwrap();
        std::fs::write(folder.path().join("testcase-1.xml"), "<testcase><input>4</input></testcase>").unwrap();
        let tests = read(folder.path()).unwrap();
        let first = TestCase { values: vec!["4".into()] };
        assert_eq!(tests, [Imported::Texts(first), Imported::Stream(vec![1, 2])]);
    }
}
