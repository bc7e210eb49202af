//! The inputs of a process from the operating system: arguments, environment variables, standard input, and files.

use super::{Command, Environment, OpenedFile, UNREPRODUCED_FAILURE};
use std::collections::BTreeMap;

/// The inputs of a process that a user can set before its start. An [`Environment`] records all inputs of one
/// execution. A process lacks those that a user cannot set: the time, random numbers, failures.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Process {
    /// The arguments after the name of the program.
    pub arguments: Vec<Vec<u8>>,
    /// The values of environment variables by name. All other variables are not set.
    pub variables: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The content of standard input.
    pub stdin: Vec<u8>,
    /// The content of files by their paths, relative to the working directory. There are no other files, and no folders
    /// without files.
    pub files: BTreeMap<Vec<u8>, Vec<u8>>,
}

/// A byte string of a process.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Part {
    /// The argument with this index, without the name of the program.
    Argument(usize),
    /// The value of the environment variable with this name.
    Variable(Vec<u8>),
    /// Standard input.
    Stdin,
    /// The content of the file with this path.
    File(Vec<u8>),
}

/// The target of a path that a program opens or tests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum PathTarget {
    /// A file in the working directory or a folder below it, by its path without superfluous parts.
    Below(Vec<u8>),
    /// No file can have this path.
    Nowhere,
    /// Outside the working directory.
    Outside,
}

impl PathTarget {
    /// Returns the target of a path.
    pub fn from_path(path: &[u8]) -> Self {
        /// The maximal length of a name on Linux, in bytes.
        const NAME_MAX: usize = 255;
        if path.first() == Some(&b'/') {
            return Self::Outside;
        }
        let parts: Vec<&[u8]> = path.split(|&b| b == b'/').filter(|part| !matches!(part, [] | [b'.'])).collect();
        if parts.iter().any(|part| part == b"..") {
            return Self::Outside;
        }
        let is_folder = path.last() == Some(&b'/') || path.ends_with(b"/.") || path == b".";
        if parts.is_empty() || is_folder || path.len() > 4 * NAME_MAX || parts.iter().any(|part| part.len() > NAME_MAX)
        {
            return Self::Nowhere;
        }
        Self::Below(parts.join(&b'/'))
    }
}

impl Process {
    /// The name under which a process is started: the first element of its `argv`.
    pub const NAME: &'static str = "program";
    /// The maximal number of arguments in the model of a process, without the name of the program.
    pub const MOST_ARGUMENTS: usize = 7;

    /// Returns the process with the inputs of an execution, without those that a user cannot set.
    pub fn from_environment(environment: &Environment) -> Self {
        let count = usize::try_from(environment.command.argc).unwrap_or(0).clamp(1, Self::MOST_ARGUMENTS + 1);
        let mut arguments = environment.command.arguments.clone().unwrap_or_default();
        arguments.resize(count, Vec::new());
        arguments.remove(0);
        let set = environment.variables.iter().filter_map(|(name, value)| Some((name.clone(), value.clone()?)));
        let listed = environment.command.environment.iter().flatten().filter_map(|entry| {
            let at = entry.iter().position(|&b| b == b'=').filter(|&at| at > 0)?;
            Some((entry[..at].to_vec(), entry[at + 1..].to_vec()))
        });
        let mut files = BTreeMap::new();
        for file in &environment.files {
            let OpenedFile { name: Some(name), is_read: true, content: Some(content) } = file else { continue };
            if let PathTarget::Below(path) = PathTarget::from_path(name) {
                files.entry(path).or_insert_with(|| content.clone());
            }
        }
        Self {
            arguments,
            variables: listed.chain(set).collect(),
            stdin: environment.stdin.clone().unwrap_or_default(),
            files: consistent(files),
        }
    }

    /// Returns the environment with the inputs of the process, for a harness. A harness provides files in the order in
    /// which the program opens them: `opened`. It provides no folders.
    pub fn environment(&self, opened: &[OpenedFile]) -> Environment {
        let name = Self::NAME.as_bytes().to_vec();
        let arguments: Vec<_> = std::iter::once(name).chain(self.arguments.iter().cloned()).collect();
        let variables = self.variables.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).collect();
        let is_read_folder = |file: &OpenedFile| {
            let place = file.name.as_deref().filter(|_| file.content.is_some()).map(PathTarget::from_path);
            matches!(place, Some(PathTarget::Below(place)) if self.has_folder(&place))
        };
        let doubt = opened.iter().any(is_read_folder).then(|| UNREPRODUCED_FAILURE.to_owned());
        Environment {
            command: Command { argc: arguments.len() as u64, arguments: Some(arguments), environment: None },
            variables,
            stdin: Some(self.stdin.clone()),
            files: opened.to_vec(),
            openers: if opened.is_empty() { Vec::new() } else { vec!["fopen".to_owned()] },
            doubts: doubt.into_iter().collect(),
            ..Environment::default()
        }
    }

    /// Returns true if the process has a folder with this path: a folder exists if a file is in it.
    pub fn has_folder(&self, path: &[u8]) -> bool {
        self.files.keys().any(|file| is_below(file, path))
    }

    /// Returns a byte string of the process; `None` if the process does not have it.
    pub fn part_mut(&mut self, part: &Part) -> Option<&mut Vec<u8>> {
        match part {
            Part::Argument(index) => self.arguments.get_mut(*index),
            Part::Variable(name) => self.variables.get_mut(name),
            Part::Stdin => Some(&mut self.stdin),
            Part::File(path) => self.files.get_mut(path),
        }
    }

    /// Returns the number of bytes of all inputs together.
    pub fn size(&self) -> usize {
        let pairs = |map: &BTreeMap<Vec<u8>, Vec<u8>>| map.iter().map(|(k, v)| k.len() + v.len() + 1).sum::<usize>();
        let arguments: usize = self.arguments.iter().map(|a| a.len() + 1).sum();
        arguments + self.stdin.len() + pairs(&self.variables) + pairs(&self.files)
    }
}

/// Removes each file whose path is also that of a folder which contains another file.
fn consistent(files: BTreeMap<Vec<u8>, Vec<u8>>) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let is_folder = |path: &[u8]| files.keys().any(|other| is_below(other, path));
    files.iter().filter(|(path, _)| !is_folder(path)).map(|(path, bytes)| (path.clone(), bytes.clone())).collect()
}

/// Returns true if `path` is below `folder`.
pub(super) fn is_below(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.first() == Some(&b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_targets_relative_to_the_working_directory() {
        let below = |path: &str| PathTarget::Below(path.as_bytes().to_vec());
        for (path, place) in [
            ("a.txt", below("a.txt")),
            ("./a//b", below("a/b")),
            ("-", below("-")),
            ("", PathTarget::Nowhere),
            (".", PathTarget::Nowhere),
            ("a/", PathTarget::Nowhere),
            ("/etc/passwd", PathTarget::Outside),
            ("a/../../b", PathTarget::Outside),
        ] {
            assert_eq!(PathTarget::from_path(path.as_bytes()), place, "{path}");
        }
        assert_eq!(PathTarget::from_path(&[b'x'; 256]), PathTarget::Nowhere);
    }

    #[test]
    fn a_process_has_the_inputs_that_a_user_can_set() {
        let file = |name: &str, is_read, content: Option<&str>| OpenedFile {
            name: Some(name.into()),
            is_read,
            content: content.map(Into::into),
        };
        let environment = Environment {
            command: Command { argc: 3, arguments: Some(vec![b"x".to_vec(), b"-n".to_vec()]), environment: None },
            variables: BTreeMap::from([(b"A".to_vec(), Some(b"1".to_vec())), (b"B".to_vec(), None)]),
            stdin: Some(b"line\n".to_vec()),
            files: vec![
                file("a", true, Some("in a folder?")),
                file("a/b", true, Some("1")),
                file("a/b", true, Some("2")),
                file("out", false, Some("")),
                file("none", true, None),
            ],
            ..Environment::default()
        };
        let process = Process::from_environment(&environment);
        assert_eq!(process.arguments, [b"-n".to_vec(), Vec::new()]);
        assert_eq!(process.variables, BTreeMap::from([(b"A".to_vec(), b"1".to_vec())]));
        assert_eq!(process.files, BTreeMap::from([(b"a/b".to_vec(), b"1".to_vec())]));
        assert_eq!(process.stdin, b"line\n");
        assert_eq!(Process::from_environment(&process.environment(&[])).arguments, process.arguments);
        let doubts = |opened| process.environment(&[opened]).doubts.len();
        assert_eq!(
            [file("a/b", true, Some("1")), file("a", true, Some("")), file("a", false, None)].map(doubts),
            [0, 1, 0]
        );
    }
}
