//! Verifiers of others (`--external`): what is to be verified is written as a file that they read, their verdict is read from what they
//! print. A violation is replayed on the original program before it is said; a proof rests on the tool.
//!
//! How a tool is called is data: `esbmc.toml` and `klee.toml` here, and any file of the same form (docs/cooperation.md).

use crate::failure::Failure;
use crate::reduce_command::{compiled, language};
use cfa::interp::Interpreter;
use cfa::{CallGraph, FunctionOrigin, Op, Program};
use cooperate::range::test_case::TestCase;
use engine::budget::Budget;
use engine::{Analysis, Counterexample, Outcome, Reason, Verdict};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const KNOWN: [(&str, &str); 2] = [("esbmc", include_str!("esbmc.toml")), ("klee", include_str!("klee.toml"))];
/// Between looks at a tool that runs.
const PAUSE: Duration = Duration::from_millis(10);
/// What a tool is told of a run without a time limit.
const LONG: Duration = Duration::from_secs(86_400);
/// Test cases that are tried for one violation.
const MOST_TESTS: usize = 100;
/// The end of what a tool prints is read as far as this.
const MOST_OUTPUT: usize = 16 << 20;

/// How a tool is called and understood.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
struct Adapter {
    /// A path, or a name that is looked up in PATH.
    program: PathBuf,
    /// `c`, `bc` or `ll`.
    #[serde(default = "c")]
    input: String,
    /// With `{file}`, `{folder}`, `{width}` (32 or 64), `{seconds}` and `{megabytes}`.
    arguments: Vec<String>,
    /// What a proof is told by.
    r#true: String,
    /// What a violation is told by.
    r#false: String,
    /// What must not be printed with a proof.
    #[serde(default)]
    unless: Vec<String>,
    /// Files with the inputs of a violation, in the format of Test-Comp; a `*` in the name stands for anything.
    #[serde(default)]
    tests: Vec<String>,
    /// Bodies of functions that the program only declares, where the tool does not know them: by name, by the beginning of the name
    /// (`__VERIFIER_nondet_*`), or `error` for functions whose call is the violation.
    #[serde(default)]
    define: BTreeMap<String, String>,
}

fn c() -> String {
    "c".into()
}

/// A tool by its name.
#[derive(Clone, Debug)]
pub struct Tool {
    pub name: &'static str,
    adapter: Adapter,
}

/// Under what a tool is run.
pub struct Task<'a> {
    /// The program that violations are those of.
    pub original: &'a Program,
    pub error_functions: &'a [String],
    pub budget: &'a Budget,
    pub memory: u64,
    /// How long a replay may take.
    pub replay: Duration,
}

impl Tool {
    /// One that is known, or that a file ending in `.toml` describes.
    pub fn of(name: &str) -> Result<Self, Failure> {
        let path = Path::new(name);
        let known = KNOWN.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned());
        let text = match known {
            Some(text) => text,
            None if path.extension().is_some_and(|e| e == "toml") => {
                fs::read_to_string(path).map_err(|e| Failure::reading(path, &e))?
            }
            None => {
                let names = KNOWN.map(|(name, _)| name).join(", ");
                let text =
                    format!("no external tool '{name}': there are {names}, and files NAME.toml that describe one");
                return Err(Failure::usage(text));
            }
        };
        let adapter: Adapter = toml::from_str(&text).map_err(|e| Failure::data(format!("{name}: {e}")))?;
        if !["c", "bc", "ll"].contains(&adapter.input.as_str()) {
            return Err(Failure::data(format!("{name}: input is c, bc or ll, not '{}'", adapter.input)));
        }
        if adapter.r#true.is_empty() || adapter.r#false.is_empty() {
            return Err(Failure::data(format!("{name}: an empty text tells no verdict")));
        }
        // Said in reports, which hold the names of analyses: one for the whole run.
        let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or(name);
        Ok(Self { name: stem.to_owned().leak(), adapter })
    }

    /// What the tool says of a program whose paths and inputs are those of the original.
    pub fn verify(&self, program: &Program, task: &Task<'_>) -> Outcome {
        let verdict = self.run(program, task).unwrap_or_else(|why| Verdict::Unknown(Reason::new(why)));
        Outcome::new(verdict, Analysis::Default)
    }

    fn run(&self, program: &Program, task: &Task<'_>) -> Result<Verdict, String> {
        let Self { name, adapter } = self;
        let options = cooperate::c::Options { initialised: true, ..cooperate::c::Options::default() };
        let c = cooperate::c::print(program, &options).map_err(|e| format!("{name} was not run: {e}"))?;
        let c = self.with_definitions(&c, task.error_functions);
        let folder = tempfile::tempdir().map_err(|e| format!("no folder for {name}: {e}"))?;
        let file = folder.path().join(format!("residual.{}", adapter.input));
        let width = program.layout.pointer_width;
        let text = compiled(c, width, language(&file), &file).map_err(|failure| failure.message.clone())?;
        fs::write(&file, text).map_err(|e| format!("no file for {name}: {e}"))?;
        let left = task.budget.remaining().unwrap_or(LONG);
        let argument = |text: &String| {
            text.replace("{file}", &file.to_string_lossy())
                .replace("{folder}", &folder.path().to_string_lossy())
                .replace("{width}", &width.to_string())
                .replace("{seconds}", &left.as_secs().max(1).to_string())
                .replace("{megabytes}", &(task.memory >> 20).max(1).to_string())
        };
        let log = folder.path().join("output");
        let output = File::create(&log).and_then(|out| Ok((out.try_clone()?, out)));
        let (out, err) = output.map_err(|e| format!("no file for {name}: {e}"))?;
        let child = Command::new(&adapter.program)
            .args(adapter.arguments.iter().map(argument))
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .process_group(0)
            .spawn()
            .map_err(|e| format!("{name} does not run: {}: {e}", adapter.program.display()))?;
        let in_time = Running(child).wait(task.budget);
        let said = fs::read(&log).map_err(|e| format!("the output of {name}: {e}"))?;
        let said = String::from_utf8_lossy(&said[said.len().saturating_sub(MOST_OUTPUT)..]);
        match (said.contains(&adapter.r#true), said.contains(&adapter.r#false)) {
            (true, true) => Err(format!("{name} contradicts itself")),
            (false, true) => self.confirmed(folder.path(), task),
            (true, false) => match adapter.unless.iter().find(|text| said.contains(*text)) {
                Some(text) => Err(format!("{name} has not seen everything: {text}")),
                None => inexact(program).map_or(Ok(Verdict::True), |why| {
                    Err(format!("{name} proves it, of C that is not exactly the program: {why}"))
                }),
            },
            (false, false) if !in_time => Err(format!("{name} was stopped for want of time")),
            (false, false) => {
                let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing");
                Err(format!("{name} has no verdict; it says last: {}", last.trim()))
            }
        }
    }

    /// The violation, if one of the tests that the tool has written leads to it in the original.
    fn confirmed(&self, folder: &Path, task: &Task<'_>) -> Result<Verdict, String> {
        let name = self.name;
        let mut why = format!("{name} has written no test case");
        for path in self.adapter.tests.iter().flat_map(|pattern| matching(folder, pattern)).take(MOST_TESTS) {
            let read = fs::read_to_string(&path).map_err(|e| e.to_string());
            match read.and_then(|text| TestCase::parse(&text)).and_then(|test| replay(&test, task)) {
                Ok(found) => return Ok(Verdict::False(found)),
                Err(error) => why = error,
            }
        }
        Err(format!("{name} says FALSE, but its violation is not confirmed: {why}"))
    }

    /// The program with bodies for functions that it declares and the tool does not know.
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
            let body = self.adapter.define.iter().find(|(key, _)| match key.strip_suffix('*') {
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

/// Inputs under which the original runs into an error, from a test case.
fn replay(test: &TestCase, task: &Task<'_>) -> Result<Counterexample, String> {
    let mut source = test.source(task.original);
    let run = Interpreter::new(task.original).run(&mut source, engine::replay_limits(task.replay), &mut ());
    let inputs = source.inputs()?;
    let (error, _) =
        run.outcome.error(task.original).ok_or_else(|| format!("the run ends otherwise: {:?}", run.outcome))?;
    let path = engine::replay(task.original, &inputs, error, task.replay)?;
    Ok(Counterexample { error, inputs, path })
}

/// Where the C of a program may do less than the program: approximations outside of library models, which C does not have.
fn inexact(program: &Program) -> Option<String> {
    let calls = CallGraph::new(program);
    program.edges.iter().find_map(|(id, edge)| {
        let func = program.func_of(id);
        let is_written = calls.is_reachable(func) && program.funcs[func].origin != FunctionOrigin::Model;
        match edge.op {
            Op::Approx { taint } if is_written => Some(program.taints[taint].reason.clone()),
            _ => None,
        }
    })
}

/// The files of a folder whose path in it is like the pattern, in order.
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

/// A tool with all that it starts: ended when it is dropped.
struct Running(Child);

impl Running {
    /// Whether it came to its end in time.
    fn wait(mut self, budget: &Budget) -> bool {
        while budget.spent().is_none() {
            match self.0.try_wait() {
                Ok(None) => std::thread::sleep(PAUSE),
                Ok(Some(_)) => return true,
                Err(_) => return false,
            }
        }
        false
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // SAFETY: a signal to a process group that the child leads; it is not waited for yet, or it has no members left.
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
    fn adapters_are_read() {
        for (name, _) in KNOWN {
            assert_eq!(Tool::of(name).unwrap().name, name);
        }
        assert!(Tool::of("nobody").is_err() && Tool::of("missing.toml").is_err());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bad.toml");
        let known = KNOWN[0].1;
        for bad in
            [known.replace("input = \"c\"", "input = \"java\""), known.replace("program", "programme"), String::new()]
        {
            fs::write(&path, bad).unwrap();
            assert!(Tool::of(path.to_str().unwrap()).is_err());
        }
    }

    #[test]
    fn what_is_only_declared_gets_a_body() {
        let c = "extern void fail(void);\nextern unsigned int __VERIFIER_nondet_uint(void);\nextern void __VERIFIER_assume(int);\n\
                 extern void *malloc(unsigned long);\n";
        let klee = Tool::of("klee").unwrap().with_definitions(c, &["fail".into()]);
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
