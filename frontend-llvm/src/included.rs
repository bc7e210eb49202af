//! The files that clang has read, including headers that leave no trace in the program.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The files of all runs of clang in this process.
static READ: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The files that clang has read so far.
pub fn files_read() -> Vec<PathBuf> {
    READ.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
}

/// Records the files in a `make` rule that clang wrote. `directory` is clang's working directory, if not the current
/// one.
pub(crate) fn record(rule: &Path, directory: Option<&Path>) {
    READ.lock().unwrap_or_else(PoisonError::into_inner).extend(named_by(rule, directory));
}

/// The files in a `make` rule that clang wrote. `directory` is clang's working directory, if not the current one.
pub(crate) fn named_by(rule: &Path, directory: Option<&Path>) -> Vec<PathBuf> {
    let rule = fs::read_to_string(rule).unwrap_or_default();
    let folder = directory.unwrap_or(Path::new(""));
    prerequisites(&rule).into_iter().map(|file| folder.join(file)).collect()
}

/// The prerequisites of a `make` rule.
fn prerequisites(rule: &str) -> Vec<String> {
    let Some((_, rest)) = rule.split_once(": ") else { return Vec::new() };
    let mut names = Vec::new();
    let mut name = String::new();
    let mut chars = rest.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('\n')) => {}
            ('\\', Some(' ' | '#')) | ('$', Some('$')) => name.extend(chars.next()),
            (' ' | '\n', _) => names.push(std::mem::take(&mut name)),
            _ => name.push(c),
        }
    }
    names.push(name);
    names.retain(|name| !name.is_empty());
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_rules() {
        let rule = "out.o: a.c /usr/include/x.h \\\n  my\\ file.h a$$b\\#c.h\n";
        assert_eq!(prerequisites(rule), ["a.c", "/usr/include/x.h", "my file.h", "a$b#c.h"]);
        assert!(prerequisites("").is_empty());
    }
}
