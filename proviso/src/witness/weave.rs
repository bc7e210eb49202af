//! A witness woven into the C source: so clang says what its expressions mean, and every analysis can follow it.
//!
//! A counter says how many segments have been passed. At the place of a waypoint stands a hook that moves it on; an execution
//! that comes to the target too early ends there. An invariant becomes the call of an error function where it does not hold.
//! Lines stay what they were.

use super::{Entry, Invariant, Location, Scalar, Waypoint};
use crate::failure::Failure;
use crate::slice::scan::{Kind, Source, Statement};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Error functions for invariants are called so, with the invariant's number behind.
pub const INVARIANT: &str = "__proviso_invariant_";
/// The variable that counts the segments passed.
pub const SEGMENT: &str = "__proviso_segment";

/// How closely an execution must follow the waypoints of a violation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Following {
    /// The first time that control is at the next waypoint, its condition holds.
    FirstVisit,
    /// Some time.
    AnyVisit,
}

/// What stands at one place.
#[derive(Default)]
struct Hook {
    /// What happens if this many segments have been passed.
    cases: Vec<(usize, String)>,
    /// What happens always.
    always: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Site {
    /// Before the statement at the offset.
    Statement(usize),
    /// In the condition of the `if`, loop or `switch` whose keyword is at the offset, evaluated before it.
    BeforeCondition(usize),
    /// The value of that condition.
    Condition(usize),
    /// The value of the call whose right parenthesis is at the offset.
    Returned(usize),
    /// Before that call.
    Called(usize),
}

/// An input file with what is to stand in it.
struct File<'a> {
    path: &'a Path,
    source: Source<'a>,
    lines: Vec<usize>,
    /// Statements: where they are, and whether they need braces to become two.
    statements: Vec<(Range<usize>, bool)>,
    hooks: BTreeMap<Site, Hook>,
}

/// Writes the files with the entry woven in to `folder`; their paths. `Err` with what in the witness cannot be followed.
pub fn weave(entry: &Entry, files: &[PathBuf], following: Following, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let texts = files.iter().map(|f| read(f)).collect::<Result<Vec<String>, Failure>>()?;
    let mut parsed: Vec<File<'_>> = files.iter().zip(&texts).map(|(path, text)| File::new(path, text)).collect();
    let mut errors = 0;
    match &entry.content {
        super::Content::Segments(segments) => {
            // Where the target is no call of an error function, control may come to its statement and go on.
            let too_early =
                entry.metadata.task.specification.contains("call(").then(|| {
                    format!("({SEGMENT} == {} ? (void)0 : __builtin_abort())", segments.len().saturating_sub(1))
                });
            for (number, segment) in segments.iter().enumerate() {
                for item in &segment.segment {
                    add_waypoint(&mut parsed, &item.waypoint, number, too_early.as_deref(), following)?;
                }
            }
        }
        super::Content::Invariants(all) => {
            for (number, item) in all.iter().enumerate() {
                add_invariant(&mut parsed, &item.invariant, number)?;
            }
            errors = all.len();
        }
    }
    let mut paths = Vec::new();
    for (number, file) in parsed.iter().enumerate() {
        let name = file.path.file_name().unwrap_or_default();
        let path = folder.join(format!("{number}")).join(name);
        std::fs::create_dir_all(path.parent().expect("just joined")).map_err(|e| Failure::writing(&path, &e))?;
        std::fs::write(&path, file.text(number == 0, errors)).map_err(|e| Failure::writing(&path, &e))?;
        paths.push(path);
    }
    Ok(paths)
}

fn read(path: &Path) -> Result<String, Failure> {
    if !path.extension().is_some_and(|e| e == "c" || e == "i") {
        return Err(Failure::usage(format!("{} is not C: witnesses speak of C", path.display())));
    }
    std::fs::read_to_string(path).map_err(|e| Failure::reading(path, &e))
}

fn unsupported(location: &Location, what: &str) -> Failure {
    let column = location.column.map_or_else(String::new, |c| format!(":{c}"));
    Failure::data(format!("{}:{}{column}: {what}", location.file_name, location.line))
}

/// The file that a witness means: by its name, or, as it was another machine's, the last part of it.
fn file_of<'f, 'a>(files: &'f mut [File<'a>], location: &Location) -> Result<&'f mut File<'a>, Failure> {
    let wanted = Path::new(&location.file_name);
    let exact = files.iter().position(|f| f.path == wanted);
    let named = || files.iter().position(|f| f.path.file_name() == wanted.file_name());
    match exact.or_else(named) {
        Some(index) => Ok(&mut files[index]),
        None => Err(unsupported(location, "this file is not part of the program")),
    }
}

/// Refuses what would change the program where it is woven in: assignments, calls, more than an expression.
fn pure(text: &str, location: &Location) -> Result<(), Failure> {
    let tokens = Source::lexed(text).tokens;
    let word = |i: usize| tokens[i].kind == Kind::Word && &text[tokens[i].range.clone()] != "sizeof";
    let called = (1..tokens.len()).any(|i| tokens[i].kind == Kind::Punct(b'(') && word(i - 1));
    let compact: String = text.replace("<<=", "{").replace(">>=", "{");
    let compared = ["==", "!=", "<=", ">="].iter().fold(compact, |text, op| text.replace(op, " "));
    let changes = compared.contains(['=', '{', '}', ';', '#']) || compared.contains("++") || compared.contains("--");
    if called || changes {
        return Err(unsupported(location, &format!("`{text}` is no expression without effects")));
    }
    Ok(())
}

fn add_invariant(files: &mut [File<'_>], invariant: &Invariant, number: usize) -> Result<(), Failure> {
    let location = &invariant.location;
    pure(&invariant.value, location)?;
    let file = file_of(files, location)?;
    let check = format!("(({}) ? (void)0 : {INVARIANT}{number}())", invariant.value);
    let site = match invariant.kind.as_str() {
        "loop_invariant" => Site::BeforeCondition(file.keyword(location, &["while", "for", "do"])?),
        "location_invariant" => Site::Statement(file.statement(location)?),
        other => return Err(unsupported(location, &format!("{other} is not supported"))),
    };
    file.hooks.entry(site).or_default().always.push(check);
    Ok(())
}

fn add_waypoint(
    files: &mut [File<'_>],
    waypoint: &Waypoint,
    number: usize,
    too_early: Option<&str>,
    following: Following,
) -> Result<(), Failure> {
    let location = &waypoint.location;
    let file = file_of(files, location)?;
    let value = waypoint.constraint.as_ref().map(|c| &c.value);
    let text = |value: Option<&Scalar>| match value {
        Some(Scalar::Text(text)) => pure(text, location).map(|()| text.clone()),
        Some(Scalar::Bool(value)) => Ok(i64::from(*value).to_string()),
        Some(Scalar::Int(value)) => Ok(value.to_string()),
        None => Err(unsupported(location, "the waypoint has no condition")),
    };
    let (site, condition) = match waypoint.kind.as_str() {
        "target" => {
            let site = Site::Statement(file.statement(location)?);
            if let Some(too_early) = too_early {
                file.hooks.entry(site).or_default().always.push(too_early.to_owned());
            }
            return Ok(());
        }
        "assumption" => (Site::Statement(file.statement(location)?), text(value)?),
        "function_enter" => (Site::Called(file.parenthesis(location)?), "1".to_owned()),
        "function_return" => {
            (Site::Returned(file.parenthesis(location)?), text(value)?.replace("\\result", "__proviso_result"))
        }
        "branching" => {
            let site = Site::Condition(file.keyword(location, &["if", "while", "for", "do", "switch"])?);
            let condition = match value {
                Some(Scalar::Bool(true)) => "!!__proviso_result".to_owned(),
                Some(Scalar::Bool(false)) => "!__proviso_result".to_owned(),
                Some(Scalar::Int(case)) => format!("__proviso_result == {case}"),
                Some(Scalar::Text(text)) if text == "true" => "!!__proviso_result".to_owned(),
                Some(Scalar::Text(text)) if text == "false" => "!__proviso_result".to_owned(),
                _ => return Err(unsupported(location, "this branch is not supported")),
            };
            (site, condition)
        }
        other => return Err(unsupported(location, &format!("waypoints of type {other} are not supported"))),
    };
    let action = match (waypoint.action.as_str(), following) {
        ("follow", Following::FirstVisit) => {
            format!("({condition}) ? (void)({SEGMENT} = {}) : __builtin_abort()", number + 1)
        }
        ("follow", Following::AnyVisit) => format!("({condition}) ? (void)({SEGMENT} = {}) : (void)0", number + 1),
        ("avoid", _) => format!("({condition}) ? __builtin_abort() : (void)0"),
        (other, _) => return Err(unsupported(location, &format!("the action {other} is not supported"))),
    };
    file.hooks.entry(site).or_default().cases.push((number, action));
    Ok(())
}

impl Hook {
    /// As an expression without a value. One visit passes one segment at most.
    fn expression(&self) -> String {
        let mut parts = self.always.clone();
        if !self.cases.is_empty() {
            let mut text = "(".to_owned();
            for (number, action) in &self.cases {
                let _ = write!(text, "{SEGMENT} == {number} ? ({action}) : ");
            }
            parts.push(text + "(void)0)");
        }
        format!("({})", parts.join(", "))
    }
}

impl<'a> File<'a> {
    fn new(path: &'a Path, text: &'a str) -> Self {
        let source = Source::new(text);
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let mut statements = Vec::new();
        for item in &source.items {
            if let crate::slice::scan::Item::Function { body, .. } = item {
                collect(&source, body, false, &mut statements);
            }
        }
        Self { path, source, lines, statements, hooks: BTreeMap::new() }
    }

    /// The bytes that the location may mean: one, or those of its line.
    fn range(&self, location: &Location) -> Result<Range<usize>, Failure> {
        let line = location.line as usize;
        let start =
            *self.lines.get(line.wrapping_sub(1)).ok_or_else(|| unsupported(location, "there is no such line"))?;
        let end = self.lines.get(line).copied().unwrap_or(self.source.text.len());
        Ok(match location.column {
            Some(column) => (start + column as usize - 1).min(end)..(start + column as usize).min(end),
            None => start..end,
        })
    }

    fn statement(&self, location: &Location) -> Result<usize, Failure> {
        let range = self.range(location)?;
        let found = self.statements.iter().map(|(bytes, _)| bytes.start).filter(|at| range.contains(at)).min();
        found.ok_or_else(|| unsupported(location, "no statement starts here"))
    }

    fn token(&self, location: &Location, fits: impl Fn(usize) -> bool) -> Result<Option<usize>, Failure> {
        let range = self.range(location)?;
        let tokens = &self.source.tokens;
        Ok((0..tokens.len()).find(|&i| range.contains(&tokens[i].range.start) && fits(i)))
    }

    fn keyword(&self, location: &Location, words: &[&str]) -> Result<usize, Failure> {
        let token = self.token(location, |i| words.contains(&self.source.word(i)))?;
        let token = token.ok_or_else(|| unsupported(location, "no such statement starts here"))?;
        Ok(self.source.tokens[token].range.start)
    }

    fn parenthesis(&self, location: &Location) -> Result<usize, Failure> {
        let is_call = |i: usize| {
            let open = self.source.opening(i);
            open.is_some_and(|open| open > 0 && self.source.tokens[open - 1].kind == Kind::Word)
        };
        let token = self.token(location, is_call)?.ok_or_else(|| unsupported(location, "no call ends here"))?;
        Ok(self.source.tokens[token].range.start)
    }

    /// The token that starts at an offset.
    fn token_at(&self, offset: usize) -> usize {
        self.source.tokens.partition_point(|t| t.range.start < offset)
    }

    /// What is put where to make the hooks work.
    fn insertions(&self) -> Vec<(usize, String)> {
        let mut all = Vec::new();
        for (site, hook) in &self.hooks {
            let hook = hook.expression();
            match *site {
                Site::Statement(at) => self.before_statement(at, &hook, &mut all),
                Site::Called(close) => all.extend(self.around_call(close, &format!("({hook}, "), ")".into())),
                Site::Returned(close) => {
                    let head = "(__extension__({ __auto_type __proviso_result = ";
                    all.extend(self.around_call(close, head, format!("; {hook}; __proviso_result; }}))")));
                }
                Site::BeforeCondition(at) => all.extend(self.around_condition(at, &format!("({hook}, ("), "))".into())),
                Site::Condition(at) => {
                    let head = "(__extension__({ __auto_type __proviso_result = (";
                    all.extend(self.around_condition(at, head, format!("); {hook}; __proviso_result; }}))")));
                }
            }
        }
        all
    }

    fn before_statement(&self, at: usize, hook: &str, all: &mut Vec<(usize, String)>) {
        let (bytes, alone) = self.statements.iter().find(|(bytes, _)| bytes.start == at).expect("found before");
        if *alone {
            all.push((at, format!("{{ {hook}; ")));
            all.push((bytes.end, " }".into()));
        } else {
            all.push((at, format!("{hook}; ")));
        }
    }

    fn around_call(&self, close: usize, head: &str, tail: String) -> [(usize, String); 2] {
        let close = self.token_at(close);
        let open = self.source.opening(close).expect("found before");
        let tokens = &self.source.tokens;
        [(tokens[open - 1].range.start, head.to_owned()), (tokens[close].range.end, tail)]
    }

    /// Around the condition of the statement whose keyword is at the offset; around 1 where `for` has none.
    fn around_condition(&self, at: usize, head: &str, tail: String) -> Vec<(usize, String)> {
        let keyword = self.token_at(at);
        let tokens = &self.source.tokens;
        let open = match self.source.word(keyword) {
            // The tail of the statement: `while (…);`
            "do" => {
                let (bytes, _) =
                    self.statements.iter().find(|(b, _)| b.start == at).cloned().unwrap_or((at..at, false));
                let mut last = self.token_at(bytes.end);
                while last > keyword && self.source.opening(last).is_none() {
                    last -= 1;
                }
                self.source.opening(last).unwrap_or(keyword)
            }
            _ => keyword + 1,
        };
        let Some(close) = self.source.closing(open) else { return Vec::new() };
        let (from, to) = match self.source.word(keyword) {
            "for" => {
                let mut semicolons = Vec::new();
                let mut i = open + 1;
                while i < close {
                    match tokens[i].kind {
                        Kind::Punct(b';') => semicolons.push(i),
                        Kind::Punct(b'(') => i = self.source.closing(i).unwrap_or(i),
                        _ => {}
                    }
                    i += 1;
                }
                let [first, second] = semicolons[..] else { return Vec::new() };
                (tokens[first].range.end, tokens[second].range.start)
            }
            _ => (tokens[open].range.end, tokens[close].range.start),
        };
        let empty = self.source.text[from..to].trim().is_empty();
        vec![(from, head.to_owned()), (to, if empty { format!("1{tail}") } else { tail })]
    }

    /// The file with its hooks, and with declarations before it.
    fn text(&self, first: bool, invariants: usize) -> String {
        let mut out = String::new();
        let _ = write!(out, "{}unsigned {SEGMENT}; ", if first { "" } else { "extern " });
        for number in 0..invariants {
            let _ = write!(out, "extern void {INVARIANT}{number}(void); ");
        }
        let name = self.path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
        let _ = write!(out, "\n#line 1 \"{name}\"\n");
        let mut insertions = self.insertions();
        // Those at one offset: what closes comes before what opens, and keeps its order.
        insertions.sort_by_key(|(at, text)| (*at, !(text.starts_with([')', ';', ' ']))));
        let mut done = 0;
        for (at, text) in insertions {
            out += &self.source.text[done..at];
            // Conditions of witnesses may span lines.
            out += &text.replace(['\n', '\r'], " ");
            done = at;
        }
        out + &self.source.text[done..]
    }
}

/// The statements below one; `alone`: it is the body of an `if` or a loop without braces.
fn collect(source: &Source<'_>, statement: &Statement, alone: bool, all: &mut Vec<(Range<usize>, bool)>) {
    if !matches!(statement, Statement::Compound(..)) {
        all.push((source.bytes(statement.span()), alone));
    }
    match statement {
        Statement::Compound(_, inner) => inner.iter().for_each(|s| collect(source, s, false, all)),
        Statement::Control { bodies, .. } => bodies.iter().for_each(|s| collect(source, s, true, all)),
        Statement::Label { statement, .. } => collect(source, statement, false, all),
        Statement::Jump(_) | Statement::Declaration(_) | Statement::Plain(_) => {}
    }
}
