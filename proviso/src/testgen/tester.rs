//! External testers (`testgen --cotest --tester`). Proviso runs the tool on the residual program and reads the tests
//! that it writes. The value of the tests becomes known when they are run.

use crate::test_format::imported::{self, Imported};
use anyhow::bail;
use cfa::Program;
use driver::external::adapter::Adapter;
use driver::failure::Failure;
use engine::budget::Budget;

const KNOWN: [(&str, &str); 2] = [("afl", include_str!("afl.toml")), ("klee", include_str!("klee_tests.toml"))];

/// An external tester.
#[derive(Clone, Debug)]
pub struct Tester {
    /// The name of the tester.
    pub name: &'static str,
    adapter: Adapter,
}

impl Tester {
    /// Returns the tester with this name: a built-in one, or one that a file ending in `.toml` describes. `Err` if
    /// there is no such tester, it describes no tests, or the tool is not installed.
    pub fn find(name: &str) -> Result<Self, Failure> {
        let adapter = Adapter::find(name, &KNOWN)?;
        if adapter.tests.is_empty() {
            return Err(Failure::data(format!(
                "{name} is not a tester: its description has no 'tests', the files that the tool writes"
            )));
        }
        adapter.require(name)?;
        Ok(Self { name: Adapter::short_name(name), adapter })
    }

    /// Runs the tester within the budget and returns its tests. `errors` are the error functions, `seeds` the initial
    /// inputs, and `memory` is in bytes. `Err` if the tool cannot be run or has written no test.
    pub fn tests(
        &self,
        program: &Program,
        errors: &[String],
        seeds: &[Vec<u8>],
        (budget, memory): (&Budget, u64),
    ) -> anyhow::Result<Vec<Imported>> {
        let ran = self.adapter.run(self.name, program, (errors, seeds), (budget, memory))?;
        let mut tests = Vec::new();
        for file in self.adapter.test_files(&ran) {
            // A file that was cut off at the end of the tool is not a test.
            tests.extend(imported::read(&file).unwrap_or_default());
        }
        if tests.is_empty() {
            bail!("{} has written no test; the last line of its output is: {}", self.name, ran.last_words());
        }
        Ok(tests)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adapters_of_testers_are_read() {
        for (name, _) in KNOWN {
            assert!(!Adapter::find(name, &KNOWN).unwrap().tests.is_empty(), "{name}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.toml");
        let of = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Tester::find(path.to_str().unwrap())
        };
        assert_eq!(of("program = \"sh\"\narguments = []\ntests = [\"*.xml\"]").unwrap().name, "mine");
        assert!(of("program = \"sh\"\narguments = []").unwrap_err().message.contains("not a tester"));
        let missing = of("program = \"sh\"\nneeds = [\"no-such-fuzzer\"]\narguments = []\ntests = [\"*\"]");
        assert!(missing.unwrap_err().message.contains("needs no-such-fuzzer"));
    }
}
