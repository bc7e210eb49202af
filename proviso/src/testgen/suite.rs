//! Test suites in the exchange format of Test-Comp (version 1.1), and coverage in the format of lcov.

use super::goals::Coverage;
use super::search::{SearchResults, Status};
use crate::test_format::escaped;
use cfa::{EdgeId, FunctionOrigin, Id, Op, Program};
use driver::evidence::wording::Wording;
use driver::source::{Sources, Spot};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The content of `metadata.xml`.
pub struct Metadata {
    /// The coverage property in the language of Test-Comp.
    pub specification: String,
    /// The path of the program's file.
    pub program: String,
    /// The SHA-256 digest of the program's file.
    pub hash: String,
    /// The name of the entry function.
    pub entry: String,
    /// The width of pointers in bits.
    pub bits: u32,
    /// The time of creation, in the format of ISO 8601.
    pub time: String,
}

impl Metadata {
    /// Returns the text of `metadata.xml`.
    pub fn xml(&self) -> String {
        let mut out = String::from(
            "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n<!DOCTYPE test-metadata PUBLIC \"+//IDN \
             sosy-lab.org//DTD test-format test-metadata 1.1//EN\" \"https://sosy-lab.org/test-format/test-metadata-1.1.dtd\">\n\
             <test-metadata>\n",
        );
        let bits = format!("{}bit", self.bits);
        for (name, value) in [
            ("sourcecodelang", "C"),
            ("producer", concat!("Proviso ", env!("CARGO_PKG_VERSION"))),
            ("specification", &self.specification),
            ("programfile", &self.program),
            ("programhash", &self.hash),
            ("entryfunction", &self.entry),
            ("architecture", &bits),
            ("creationtime", &self.time),
        ] {
            let _ = writeln!(out, "  <{name}>{}</{name}>", escaped(value));
        }
        out + "</test-metadata>\n"
    }
}

/// The executions of the functions, lines and branches of a file.
#[derive(Default)]
pub struct Executions {
    functions: BTreeMap<u32, (String, u64)>,
    /// The number of executions of each line.
    pub lines: BTreeMap<u32, u64>,
    branches: BTreeMap<u32, Vec<u64>>,
}

/// Returns the executions of each file. `counts` has the executions of each edge.
pub fn executions(program: &Program, counts: &[u64], sources: &Sources) -> BTreeMap<String, Executions> {
    let count = |edge: EdgeId| counts.get(edge.index()).copied().unwrap_or(0);
    let branches: FxHashSet<EdgeId> = super::goals::goals(program, &Coverage::Branches).into_iter().collect();
    let mut files: BTreeMap<String, Executions> = BTreeMap::new();
    for (id, edge) in program.edges.iter() {
        let function = &program.funcs[program.func_of(id)];
        if function.origin != FunctionOrigin::Source || matches!(edge.op, Op::Skip) {
            continue;
        }
        let Some(spot) = edge.place.and_then(|p| sources.spot(program, p)) else { continue };
        let file = files.entry(spot.path).or_default();
        let line = file.lines.entry(spot.line).or_default();
        *line = (*line).max(count(id));
        if branches.contains(&id) {
            file.branches.entry(spot.line).or_default().push(count(id));
        }
    }
    for function in program.funcs.values().filter(|f| f.origin == FunctionOrigin::Source) {
        let Some(spot) = function.place.and_then(|p| sources.spot(program, p)) else { continue };
        let entered = program.out_edges(function.entry).map(count).sum();
        if let Some(file) = files.get_mut(&spot.path) {
            file.functions.insert(spot.line, (function.name.clone(), entered));
        }
    }
    files
}

/// Returns executions in the format of lcov (for `genhtml` and editors).
pub fn lcov(files: &BTreeMap<String, Executions>) -> String {
    let mut out = String::new();
    for (path, file) in files {
        let _ = writeln!(out, "TN:\nSF:{path}");
        for (line, (name, times)) in &file.functions {
            let _ = writeln!(out, "FN:{line},{name}\nFNDA:{times},{name}");
        }
        let sum = |out: &mut String, [found, hit]: [&str; 2], times: &mut dyn Iterator<Item = u64>| {
            let times: Vec<u64> = times.collect();
            let _ = writeln!(out, "{found}:{}\n{hit}:{}", times.len(), times.iter().filter(|&&n| n > 0).count());
        };
        sum(&mut out, ["FNF", "FNH"], &mut file.functions.values().map(|f| f.1));
        for (line, branches) in &file.branches {
            for (i, times) in branches.iter().enumerate() {
                let _ = writeln!(out, "BRDA:{line},0,{i},{times}");
            }
        }
        sum(&mut out, ["BRF", "BRH"], &mut file.branches.values().flatten().copied());
        for (line, times) in &file.lines {
            let _ = writeln!(out, "DA:{line},{times}");
        }
        sum(&mut out, ["LF", "LH"], &mut file.lines.values().copied());
        out += "end_of_record\n";
    }
    out
}

/// A coverage goal and its state.
pub struct Goal {
    /// The place of the goal in the source.
    pub spot: Option<Spot>,
    /// A description of the goal in the terms of C.
    pub what: String,
    /// The state of the goal.
    pub status: Status,
    /// The numbers of the tests that cover it, from 1.
    pub tests: Vec<usize>,
    /// The form of the tests.
    pub format: Format,
}

/// The form of the tests of a suite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Files in the exchange format of Test-Comp.
    TestComp,
    /// A folder for each test.
    Folders,
    /// A file of bytes for each test.
    Seeds,
    /// A C file for each test.
    Harness,
}

impl Format {
    /// Returns the name of a test without its number.
    pub fn test(self) -> &'static str {
        match self {
            Self::TestComp => "testcase",
            Self::Folders => "test",
            Self::Seeds => "seed",
            Self::Harness => "harness",
        }
    }
}

/// Returns the goals of a suite, in the order of the source.
pub fn goals(
    program: &Program,
    goals: &[EdgeId],
    found: &SearchResults,
    format: Format,
    sources: &Sources,
) -> Vec<Goal> {
    let wording = Wording::new(program, sources);
    let goal = |(i, &edge): (usize, &EdgeId)| {
        let (op, place) = (&program.edges[edge].op, program.edges[edge].place);
        let what = match (op, program.out_edges(program.edges[edge].target).next()) {
            (Op::Call { .. }, _) => "the call".into(),
            (Op::Skip, Some(branch)) if matches!(program.edges[branch].op, Op::Assume { .. }) => {
                format!("the condition {}", wording.operation(branch))
            }
            (Op::Skip, _) => "the statement".into(),
            // The values of constant conditions have no text.
            (&Op::Assume { cond, means, .. }, _) if program.exprs.as_const(cond).is_some() => match means {
                Some(true) => "the condition is true".into(),
                Some(false) => "the condition is false".into(),
                None => "the case".into(),
            },
            _ => wording.operation(edge),
        };
        let covering = found.tests.iter().zip(1..).filter(|(test, _)| test.covers.contains(&(i as u32)));
        Goal {
            spot: place.and_then(|p| sources.spot(program, p)),
            what,
            status: found.status.get(i).copied().unwrap_or(Status::Open),
            tests: covering.map(|(_, number)| number).collect(),
            format,
        }
    };
    let mut goals: Vec<Goal> = goals.iter().enumerate().map(goal).collect();
    let place = |goal: &Goal| goal.spot.as_ref().map(|s| (s.path.clone(), s.line, s.column));
    goals.sort_by_cached_key(place);
    goals
}

impl std::fmt::Display for Goal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(spot) = &self.spot {
            write!(f, "{spot}: ")?;
        }
        write!(f, "{}: ", self.what)?;
        match (self.status, self.tests.first()) {
            (Status::Covered, Some(test)) => write!(f, "covered by {}-{test}", self.format.test()),
            (Status::Covered, None) => write!(f, "covered"),
            (Status::Unreachable(by), _) => write!(f, "proved unreachable by {}", by),
            (Status::Open, _) => write!(f, "open"),
            (Status::NullAllocation, _) => write!(f, "open: it takes an allocation that returns null"),
            (Status::Beyond, _) if self.format == Format::TestComp => {
                write!(f, "open: it takes more than values of __VERIFIER_nondet_*")
            }
            (Status::Beyond, _) if self.format == Format::Harness => {
                write!(f, "open: it takes more than a harness can give")
            }
            (Status::Beyond, _) => write!(f, "open: it takes more than arguments, variables, standard input and files"),
        }
    }
}
