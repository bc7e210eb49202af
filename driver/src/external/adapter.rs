//! Descriptions of external tools as data: the input format, the command line, and the places of the tests that a tool
//! writes.

use crate::failure::Failure;
use crate::files;
use crate::written::{compiled, language};
use anyhow::{Context, Error, anyhow};
use cfa::Program;
use engine::budget::Budget;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// The interval at which a running tool is polled.
const PAUSE: Duration = Duration::from_millis(10);
/// The time limit that a tool gets if the run has none.
const LONG: Duration = Duration::from_secs(86_400);
/// Maximal number of bytes that are read from the end of the output of a tool.
const MOST_OUTPUT: usize = 16 << 20;

/// The description of an external tool, read from TOML.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Adapter {
    /// The executable: a path, or a name that is looked up in PATH.
    program: PathBuf,
    /// Other programs that must exist: paths, or names that are looked up in PATH.
    #[serde(default)]
    needs: Vec<PathBuf>,
    /// The input format: `c`, `bc` or `ll`.
    #[serde(default = "c")]
    input: String,
    /// The arguments of the command line. `{file}`, `{folder}`, `{seeds}`, `{width}` (32 or 64), `{seconds}` and
    /// `{megabytes}` are replaced.
    arguments: Vec<String>,
    /// The text in the output that reports a proof.
    #[serde(default)]
    pub r#true: String,
    /// The text in the output that reports a violation.
    #[serde(default)]
    pub r#false: String,
    /// Texts whose presence in the output invalidates a proof.
    #[serde(default)]
    pub unless: Vec<String>,
    /// Patterns of the test files, relative to the folder of the run. A `*` in the file name stands for any text.
    #[serde(default)]
    pub tests: Vec<String>,
    /// Bodies of functions that the program only declares and the tool does not know. A key is a name, the beginning of
    /// a name (`__VERIFIER_nondet_*`), or `error` for functions whose call is the violation.
    #[serde(default)]
    define: BTreeMap<String, String>,
}

/// Returns the default input format.
fn c() -> String {
    "c".into()
}

/// The result of a run of a tool.
pub struct Ran {
    /// The folder with the files that the tool wrote. It is deleted when this value is dropped.
    pub folder: TempDir,
    /// The end of the output.
    pub said: String,
    /// The exit status; `None` if the tool was stopped because the budget was spent.
    pub ended: Option<ExitStatus>,
    /// The message of an error of the program that the input of the tool lacks (see [`cooperate::c::Written::unsaid`]).
    pub unsaid: Option<String>,
}

impl Ran {
    /// Returns the last non-empty line of the output, or `nothing`.
    pub fn last_words(&self) -> &str {
        self.said.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or("nothing")
    }
}

impl Adapter {
    /// Returns the description of a tool: one of `known` (pairs of name and description), or the content of a file with
    /// the extension `.toml`. `Err` if the name is unknown, or the file is unreadable or malformed.
    pub fn find(name: &str, known: &[(&str, &str)]) -> Result<Self, Failure> {
        let path = Path::new(name);
        let text = match known.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => (*text).to_owned(),
            None if path.extension().is_some_and(|e| e == "toml") => files::read_text(path)?,
            None => {
                let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
                let names = names.join(", ");
                let text =
                    format!("no external tool '{name}': there are {names}, and files NAME.toml that describe one");
                return Err(Failure::usage(text));
            }
        };
        Self::parse(&text, name)
    }

    /// Parses the description of a tool. `name` is the subject of error messages. `Err` if the text is malformed or the
    /// input format is unknown.
    pub fn parse(text: &str, name: &str) -> Result<Self, Failure> {
        let adapter: Self = toml::from_str(text).map_err(|e| Failure::data(format!("{name}: {e}")))?;
        if !["c", "bc", "ll"].contains(&adapter.input.as_str()) {
            return Err(Failure::data(format!("{name}: input is c, bc or ll, not '{}'", adapter.input)));
        }
        Ok(adapter)
    }

    /// Returns the file stem of `name` for reports. The string is leaked because reports hold names of analyses as
    /// `&'static str`; a run has only one.
    pub fn short_name(name: &str) -> &'static str {
        Path::new(name).file_stem().and_then(|s| s.to_str()).unwrap_or(name).to_owned().leak()
    }

    /// Checks that all programs of the tool exist. `Err` with the first missing one.
    pub fn require(&self, name: &str) -> Result<(), Failure> {
        let of_path = |program: &Path| if program.components().count() > 1 { "there" } else { "in PATH" };
        self.missing().map_or(Ok(()), |program| {
            Err(Failure::data(format!("'{name}' needs {}, which is not {}", program.display(), of_path(program))))
        })
    }

    /// Returns the first program of the tool that does not exist.
    fn missing(&self) -> Option<&Path> {
        let is_there = |program: &Path| match program.components().count() {
            0 | 1 => std::env::var_os("PATH")
                .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file())),
            _ => program.is_file(),
        };
        std::iter::once(&self.program).chain(&self.needs).map(PathBuf::as_path).find(|p| !is_there(p))
    }

    /// Runs the tool on a program until it ends or the budget is spent. `errors` are functions whose calls are
    /// violations. `seeds` are known tests, as the bytes of their inputs. `memory` is the limit for the tool in bytes.
    /// `Err` if C cannot express the program, if it does not compile, if a file cannot be written or read, or if the
    /// tool does not start.
    pub fn run(
        &self,
        name: &str,
        program: &Program,
        (errors, seeds): (&[String], &[Vec<u8>]),
        (budget, memory): (&Budget, u64),
    ) -> anyhow::Result<Ran> {
        let options = cooperate::c::Options { initialised: true, ..cooperate::c::Options::default() };
        let c = cooperate::c::print(program, &options)
            .map_err(Error::msg)
            .with_context(|| format!("{name} was not run"))?;
        let unsaid = c.unsaid;
        let c = self.with_definitions(&c.text, errors);
        let folder = tempfile::tempdir().with_context(|| format!("no folder for {name}"))?;
        let file = folder.path().join(format!("residual.{}", self.input));
        let width = program.layout.pointer_width;
        let text = compiled(c, width, language(&file), &file).map_err(|failure| anyhow!(failure.message))?;
        fs::write(&file, text).with_context(|| format!("no file for {name}"))?;
        let seeding = folder.path().join("seeds");
        let seeded = fs::create_dir(&seeding).and_then(|()| {
            seeds.iter().enumerate().try_for_each(|(i, bytes)| fs::write(seeding.join(i.to_string()), bytes))
        });
        seeded.with_context(|| format!("no seeds for {name}"))?;
        let left = budget.remaining().unwrap_or(LONG);
        let argument = |text: &String| {
            text.replace("{file}", &file.to_string_lossy())
                .replace("{folder}", &folder.path().to_string_lossy())
                .replace("{seeds}", &seeding.to_string_lossy())
                .replace("{width}", &width.to_string())
                .replace("{seconds}", &left.as_secs().max(1).to_string())
                .replace("{megabytes}", &(memory >> 20).max(1).to_string())
        };
        let log = folder.path().join("output");
        let output = File::create(&log).and_then(|out| Ok((out.try_clone()?, out)));
        let (out, err) = output.with_context(|| format!("no file for {name}"))?;
        let mut command = Command::new(&self.program);
        // If this process is killed, the kernel kills the tool, too. Otherwise the tool might run for days.
        // SAFETY: prctl only sets an attribute of the child, and may be called between fork and exec.
        unsafe {
            command.pre_exec(|| match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            });
        }
        let child = command
            .args(self.arguments.iter().map(argument))
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .process_group(0)
            .spawn()
            .with_context(|| format!("{name} does not run: {}", self.program.display()))?;
        let ended = Running(child).wait(budget);
        let said = fs::read(&log).with_context(|| format!("the output of {name}"))?;
        let said = String::from_utf8_lossy(&said[said.len().saturating_sub(MOST_OUTPUT)..]).into_owned();
        Ok(Ran { folder, said, ended, unsaid })
    }

    /// Returns the test files that the tool wrote.
    pub fn test_files(&self, ran: &Ran) -> Vec<PathBuf> {
        self.tests.iter().flat_map(|pattern| matching(ran.folder.path(), pattern)).collect()
    }

    /// Returns the C text with bodies for functions that it declares and the tool does not know.
    fn with_definitions(&self, c: &str, errors: &[String]) -> String {
        let mut out = c.to_owned();
        for line in c.lines() {
            let Some(signature) = line.strip_prefix("extern ").and_then(|l| l.strip_suffix(';')) else { continue };
            let Some((before, parameters)) = signature.split_once('(') else { continue };
            let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
            let (ty, function) = before.split_at(start);
            let signature = match parameters {
                "void)" => signature.to_owned(),
                "int)" => format!("{before}(int condition)"),
                _ => continue,
            };
            let is_error = errors.iter().any(|error| error == function);
            let body = self.define.iter().find(|(key, _)| match key.strip_suffix('*') {
                Some(beginning) => function.starts_with(beginning),
                None => *key == function || is_error && *key == "error",
            });
            if let Some((_, body)) = body {
                out += &format!("\n{signature} {{ {} }}\n", body.replace("{type}", ty.trim()));
            }
        }
        out
    }
}

/// Returns the files of a folder whose relative path matches the pattern, sorted by name.
fn matching(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let path = folder.join(pattern);
    let Some((before, after)) = path.file_name().and_then(|n| n.to_str()).and_then(|n| n.split_once('*')) else {
        return if path.is_file() { vec![path] } else { Vec::new() };
    };
    let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let like =
        |name: &str| name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after);
    let mut found: Vec<PathBuf> =
        entries.filter(|e| e.file_name().to_str().is_some_and(like)).map(|e| e.path()).collect();
    found.sort();
    found
}

/// A running tool with its process group, which is killed on drop.
struct Running(Child);

impl Running {
    /// Waits for the end of the tool. Returns its exit status, or `None` if the budget is spent first or waiting fails.
    fn wait(mut self, budget: &Budget) -> Option<ExitStatus> {
        while budget.spent().is_none() {
            match self.0.try_wait() {
                Ok(None) => std::thread::sleep(PAUSE),
                Ok(Some(status)) => return Some(status),
                Err(_) => return None,
            }
        }
        None
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // SAFETY: the signal goes to a process group that the child leads. Either nobody has waited for the child yet,
        // or the group has no members left.
        unsafe {
            libc::kill(-(self.0.id() as libc::pid_t), libc::SIGKILL);
        }
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_only_declared_gets_a_body() {
        let c = "extern void fail(void);\nextern unsigned int __VERIFIER_nondet_uint(void);\nextern void __VERIFIER_assume(int);\n\
                 extern void *malloc(unsigned long);\n";
        let klee = Adapter::find("klee", &[("klee", include_str!("klee.toml"))]).unwrap();
        let klee = klee.with_definitions(c, &["fail".into()]);
        let defined: Vec<&str> = klee.lines().filter(|l| l.contains('{')).collect();
        assert_eq!(defined.len(), 3, "{klee}");
        assert!(defined[0].starts_with("void fail(void) { extern") && defined[0].contains("__assert_fail("));
        assert!(defined[1].contains("unsigned int value; klee_make_symbolic"), "{}", defined[1]);
        assert!(defined[2].starts_with("void __VERIFIER_assume(int condition)"));
    }

    #[test]
    fn files_are_found_by_patterns() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.xml", "a.xml", "a.txt"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let names = |pattern| -> Vec<String> {
            let found = matching(folder.path(), pattern);
            found.iter().map(|p| p.file_name().unwrap().to_string_lossy().into_owned()).collect()
        };
        assert_eq!(names("*.xml"), ["a.xml", "b.xml"]);
        assert_eq!(names("a.txt"), ["a.txt"]);
        assert!(names("c*").is_empty() && names("none/*.xml").is_empty());
    }
}
