//! The instrumentation of the C source with a witness. Clang then interprets the expressions of the witness, and every
//! analysis can follow it.
//!
//! A counter in the instrumented program records how many segments have been passed. A hook at the location of each
//! waypoint advances the counter. A call of an error function is an error only after all segments before the target
//! have been passed (`Job::calls_count_while`). An earlier call ends the execution like a false assumption. An
//! invariant becomes a check that calls an error function if the invariant does not hold. The instrumentation keeps the
//! lines of the source, and [`Woven`] records the text that was added to each line.

use crate::c_scan::{Item, Source, Statement, Token, TokenKind};
use crate::witness::condition::objection;
use crate::witness::text::{Added, Text};
use crate::witness::{Content, Entry, Location};
use driver::failure::{Failure, exit};
use driver::files;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

mod lasso;
mod locate;
mod loose;
mod waypoint;

pub use lasso::{is_lasso, loop_at, stem};
pub use loose::{joined, resolve};
use waypoint::Way;

pub use driver::job::INVARIANT;
/// The variable of the instrumented program that counts the passed segments.
pub const SEGMENT: &str = "__witness_segment";
/// The expression that excludes an execution, so that its end violates no property.
const END: &str = "__proviso_assume(0)";
/// The variable that is true if the cycle of a lasso was passed since the current iteration of its loop began.
const ROUND: &str = "__witness_round";
/// The variable that holds the value that a hook observes: the value of a condition or the result of a call.
pub const RESULT: &str = "__witness_result";
/// The marks around an expression of the witness. They are string literals, so macro expansion keeps them, and they
/// also work in files that are not preprocessed (`.i`).
const GIVEN: [&str; 2] = ["\"given by a witness\", ", ", \"so far by a witness\""];

/// The strictness with which an execution must follow the waypoints of a violation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Following {
    /// The condition of the next waypoint must hold when control reaches the waypoint for the first time.
    FirstVisit,
    /// As `FirstVisit`, and errors count only after control reached the statement of the target.
    FirstVisitToTarget,
    /// The condition of the next waypoint must hold at some visit of the waypoint.
    AnyVisit,
    /// The condition of the next waypoint must hold at the first visit. An execution that does not follow the witness
    /// terminates, so an infinite execution follows it for ever.
    Endlessly,
}

/// The types of the standard library that conditions may cast to.
const STANDARD_TYPES: [&str; 14] = [
    "size_t",
    "ssize_t",
    "ptrdiff_t",
    "intptr_t",
    "uintptr_t",
    "bool",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
];

/// Words that do not name a function, although a parenthesis may follow them.
const KEYWORDS: [&str; 12] =
    ["if", "while", "for", "switch", "return", "sizeof", "_Alignof", "case", "do", "else", "goto", "__extension__"];

/// The code to add at one site.
#[derive(Default)]
struct Hook {
    /// Actions with the number of passed segments at which they are executed.
    cases: Vec<(usize, String)>,
    /// Actions that are executed at every visit.
    always: Vec<String>,
}

/// A site where code can be added. The numbers are byte offsets in the file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Site {
    /// On entry to a function, before its first statement, which is at the offset.
    Start(usize),
    /// Before the statement at the offset.
    Statement(usize),
    /// Before the evaluation of the condition of the `if`, loop, `switch` or `?` at the offset.
    BeforeCondition(usize),
    /// After the evaluation of that condition, with its value.
    Condition(usize),
    /// After the call whose right parenthesis is at the offset, with its result.
    Returned(usize),
    /// Before that call.
    Called(usize),
    /// After the statement at the offset.
    Behind(usize),
    /// Before the closing brace of a function, which is at the offset.
    End(usize),
}

impl Site {
    /// Returns the byte offset of the site.
    fn offset(self) -> usize {
        match self {
            Self::Start(at) | Self::Statement(at) | Self::BeforeCondition(at) | Self::Condition(at) => at,
            Self::Returned(at) | Self::Called(at) | Self::Behind(at) | Self::End(at) => at,
        }
    }
}

/// An input file with the code to add to it.
struct File<'a> {
    path: &'a Path,
    source: Source<'a>,
    /// The byte offsets of the starts of the lines.
    lines: Vec<usize>,
    /// The statements: their byte ranges, and whether a statement needs braces to become two.
    statements: Vec<(Range<usize>, bool)>,
    /// By the offset of a label, the bytes of the statement after it, and whether that statement needs braces. The
    /// range is empty if the label is at the end of a block.
    labelled: HashMap<usize, (Range<usize>, bool)>,
    hooks: BTreeMap<Site, Hook>,
}

/// Text to add before and after a range of the source.
struct Piece {
    around: Range<usize>,
    head: String,
    tail: String,
}

/// The instrumented program.
pub struct Woven {
    /// The paths of the instrumented files, in the order of the input files.
    pub paths: Vec<PathBuf>,
    /// The loop that contains the cycle of a lasso: the number of its file, and the byte offset of its keyword.
    pub cycle: Option<(usize, usize)>,
    /// The ranges of columns that were added, by original file and line. The columns count in the instrumented text.
    added: Added,
}

impl Woven {
    /// Returns the original column of a place in the instrumented program. Returns `None` if the place is in added
    /// text.
    pub fn original_column(&self, file: &Path, line: u32, column: u32) -> Option<u32> {
        self.position(file, line, column).ok()
    }

    /// Returns the original column of a place in the instrumented program. `Err` with the column before which text was
    /// added if the place is in added text.
    pub fn position(&self, file: &Path, line: u32, column: u32) -> Result<u32, u32> {
        let added = self.added.get(&(file.to_owned(), line)).map_or(&[][..], Vec::as_slice);
        let before = added.iter().take_while(|a| a.start <= column);
        let mut shift = 0;
        for range in before {
            if range.contains(&column) {
                return Err(range.start - shift);
            }
            shift += range.end - range.start;
        }
        Ok(column - shift)
    }
}

/// Checks the expressions of the witness again after macro expansion. `expanded` is the preprocessed text of an
/// instrumented file, which still has the marks. `original` is the path of the input file.
///
/// `Err` if an expression is more than a condition once its macros are expanded, or if `original` cannot be read.
pub fn admit_expanded(expanded: &str, original: &Path) -> Result<(), Failure> {
    let text = read(original)?;
    let file = File::new(original, &text);
    for rest in expanded.split(GIVEN[0]).skip(1) {
        let condition = rest.rsplit_once(GIVEN[1]).map_or(rest, |(condition, _)| condition).trim();
        if let Some(objection) = objection(condition, &|name| file.defines_type(name)) {
            return Err(unusable(format!("{}: `{condition}`, as macros have it, {objection}", original.display())));
        }
    }
    Ok(())
}

/// Writes the instrumented files to subfolders of `folder` and returns their description.
///
/// `Err` if the witness has a part that cannot be followed, if an input file is not C, or if a file cannot be read or
/// written.
pub fn weave(entry: &Entry, files: &[PathBuf], following: Following, folder: &Path) -> Result<Woven, Failure> {
    let texts = files.iter().map(|f| read(f)).collect::<Result<Vec<String>, Failure>>()?;
    let mut parsed: Vec<File<'_>> = files.iter().zip(&texts).map(|(path, text)| File::new(path, text)).collect();
    let (mut errors, mut cycle) = (0, None);
    match &entry.content {
        Content::Segments(segments) => {
            let way = Way { following, extent: lasso::extent(segments) };
            for (number, segment) in segments.iter().enumerate() {
                for item in &segment.segment {
                    waypoint::add(&mut parsed, &item.waypoint, number, &way)?;
                }
            }
            if following == Following::Endlessly {
                cycle = Some(lasso::close(&mut parsed, segments)?);
            }
        }
        Content::Invariants(all) => {
            for (number, item) in all.iter().enumerate() {
                waypoint::add_invariant(&mut parsed, &item.invariant, number)?;
            }
            errors = all.len();
        }
    }
    let mut woven = Woven { paths: Vec::new(), cycle, added: Added::new() };
    // The state of the witness is shared by all threads, and no data race of the program.
    let is_threaded = texts.iter().any(|text| ["pthread_create", "thrd_create"].iter().any(|f| text.contains(f)));
    let qualifier = if is_threaded { "_Atomic " } else { "" };
    for (number, file) in parsed.iter().enumerate() {
        let name = file.path.file_name().unwrap_or_default();
        let path = folder.join(format!("{number}")).join(name);
        std::fs::create_dir_all(path.parent().expect("just joined")).map_err(|e| Failure::writing(&path, &e))?;
        let text = file.text(number == 0, qualifier, errors, &mut woven.added)?;
        std::fs::write(&path, text).map_err(|e| Failure::writing(&path, &e))?;
        woven.paths.push(path);
    }
    Ok(woven)
}

/// Returns the text of a C file. `Err` if its extension is neither `.c` nor `.i`, or if it cannot be read.
fn read(path: &Path) -> Result<String, Failure> {
    if !path.extension().is_some_and(|e| e == "c" || e == "i") {
        return Err(Failure::usage(format!("{} is not C; witnesses are about C files", path.display())));
    }
    files::read_text(path)
}

/// Returns the failure for a part of the witness that cannot be followed, with its location.
fn unsupported(location: &Location, what: &str) -> Failure {
    let column = location.column.map_or_else(String::new, |c| format!(":{c}"));
    unusable(format!("{}:{}{column}: {what}", location.file_name, location.line))
}

/// Returns the number of the file that a location names. The full path is compared first. The last component is
/// compared next, because the witness may come from another machine.
///
/// `Err` if no input file matches.
fn file_of(files: &[File<'_>], location: &Location) -> Result<usize, Failure> {
    let wanted = Path::new(&location.file_name);
    let exact = files.iter().position(|f| f.path == wanted);
    let named = || files.iter().position(|f| f.path.file_name() == wanted.file_name());
    exact.or_else(named).ok_or_else(|| unsupported(location, "this file is not part of the program"))
}

impl Hook {
    /// Returns the hook as an expression of type `void`. One visit passes at most one segment.
    fn expression(&self) -> String {
        let mut parts = Vec::new();
        if !self.cases.is_empty() {
            let mut text = "(".to_owned();
            let mut numbers: Vec<usize> = self.cases.iter().map(|(number, _)| *number).collect();
            numbers.dedup();
            for number in numbers {
                // Waypoints to avoid come before the waypoint to follow.
                let actions = self.cases.iter().filter(|(n, _)| *n == number).map(|(_, action)| format!("({action})"));
                let _ = write!(text, "{SEGMENT} == {number} ? ({}) : ", actions.collect::<Vec<_>>().join(", "));
            }
            parts.push(text + "(void)0)");
        }
        parts.extend(self.always.iter().cloned());
        format!("({})", parts.join(", "))
    }
}

impl<'a> File<'a> {
    /// Scans a file. No hooks are added yet.
    fn new(path: &'a Path, text: &'a str) -> Self {
        let source = Source::new(text);
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let (mut statements, mut labelled) = (Vec::new(), HashMap::new());
        for item in &source.items {
            if let Item::Function { body, .. } = item {
                collect(&source, body, false, &mut statements, &mut labelled);
            }
        }
        Self { path, source, lines, statements, labelled, hooks: BTreeMap::new() }
    }

    /// Returns an expression of the witness in the form in which it is added to the program.
    ///
    /// `Err` if the expression is more than a condition, as far as this is known before macro expansion.
    fn admit(&self, text: &str, location: &Location) -> Result<String, Failure> {
        let is_type = |name: &str| self.defines_type(name);
        // YAML writes truth values without quotes, and C has had names for them only since C23.
        let text = match text.trim() {
            "true" => "1",
            "false" => "0",
            _ => text,
        };
        match objection(text, &is_type) {
            Some(objection) => Err(unsupported(location, &format!("`{text}` {objection}"))),
            // The result is the expression itself, whatever its type. The marks disappear in the compiled program.
            None => Ok(format!("__builtin_choose_expr(sizeof {}({text}){})", GIVEN[0], GIVEN[1])),
        }
    }

    /// Returns true if the program has a `typedef` of this name. Also returns true for a type of the standard library,
    /// unless the program calls a function of that name.
    fn defines_type(&self, name: &str) -> bool {
        let tokens = &self.source.tokens;
        let named = |span: &Range<usize>| span.clone().any(|i| self.source.word(i) == name);
        let defined = self.source.items.iter().any(|item| match item {
            Item::Other(span) => self.source.word(span.start) == "typedef" && named(span),
            _ => false,
        });
        let called =
            || (1..tokens.len()).any(|i| tokens[i].kind == TokenKind::Punct(b'(') && self.source.word(i - 1) == name);
        defined || STANDARD_TYPES.contains(&name) && !called()
    }

    /// Returns the index of the token that starts at an offset.
    fn token_at(&self, offset: usize) -> usize {
        self.source.tokens.partition_point(|t| t.range.start < offset)
    }

    /// Returns the pieces that add the hooks to the source. `Err` if a hook has no place in its statement.
    fn pieces(&self) -> Result<Vec<Piece>, Failure> {
        let mut all = Vec::new();
        for (site, hook) in &self.hooks {
            let hook = hook.expression();
            all.extend(match *site {
                Site::Start(at) | Site::Statement(at) => Some(self.before_statement(at, &hook)?),
                Site::Behind(at) => Some(self.behind_statement(at, &hook)?),
                Site::End(at) => Some(Piece { around: at..at, head: format!("{hook}; "), tail: String::new() }),
                Site::Called(close) => Some(self.around_call(close, format!("({hook}, "), ")".into())),
                Site::Returned(close) => Some(self.behind_call(close, &hook)),
                // The hook after the evaluation is inside of this one.
                Site::BeforeCondition(at) if self.hooks.contains_key(&Site::Condition(at)) => {
                    self.around_condition(at, &format!("({hook}, ("), "))", "")
                }
                Site::BeforeCondition(at) => self.around_condition(at, &format!("({hook}, ("), "))", "1"),
                // The variable can hold the value: a controlling expression is neither a bit-field nor wider than `long
                // long`.
                Site::Condition(at) => {
                    let is_switch = self.source.word(self.token_at(at)) == "switch";
                    let ty = if is_switch { "long long" } else { "_Bool" };
                    let head = format!("(__extension__({{ {ty} {RESULT} = (");
                    self.around_condition(at, &head, &format!("); {hook}; {RESULT}; }}))"), "1")
                }
            });
        }
        Ok(all)
    }

    /// Returns the range of the statement at an offset, and whether it needs braces to become two. `Err` if it needs
    /// braces and may be several statements.
    fn separable(&self, at: usize) -> Result<(Range<usize>, bool), Failure> {
        let (bytes, alone) =
            self.statements.iter().find(|(bytes, _)| bytes.start == at).cloned().expect("found before");
        self.divided(bytes, alone)
    }

    /// Returns a statement and whether it needs braces. `Err` if it needs braces and may be several statements.
    fn divided(&self, bytes: Range<usize>, alone: bool) -> Result<(Range<usize>, bool), Failure> {
        match alone && self.may_be_several(&bytes) {
            true => Err(self.inseparable(&bytes, "may be several statements")),
            false => Ok((bytes, alone)),
        }
    }

    /// Returns the piece that adds a hook after the statement at an offset.
    fn behind_statement(&self, at: usize, hook: &str) -> Result<Piece, Failure> {
        let (around, alone) = self.separable(at)?;
        Ok(match alone {
            true => Piece { around, head: "{ ".into(), tail: format!(" {hook}; }}") },
            false => Piece { around, head: String::new(), tail: format!(" {hook};") },
        })
    }

    /// Returns the piece that adds a hook before the statement at an offset. A hook of a label is added after the
    /// label, as jumps to the label pass over what is before it.
    fn before_statement(&self, at: usize, hook: &str) -> Result<Piece, Failure> {
        let (bytes, alone) = match self.labelled.get(&at).cloned() {
            Some((bytes, alone)) => self.divided(bytes, alone)?,
            None => self.separable(at)?,
        };
        Ok(match alone {
            true => Piece { around: bytes, head: format!("{{ {hook}; "), tail: " }".into() },
            false => Piece { around: bytes, head: format!("{hook}; "), tail: String::new() },
        })
    }

    /// Returns true if a statement may be several: a macro without a semicolon, and another statement. The signs are a
    /// word directly after a word, and a word directly after a call.
    fn may_be_several(&self, bytes: &Range<usize>) -> bool {
        let (mut at, end) = (self.token_at(bytes.start), self.token_at(bytes.end));
        if KEYWORDS.contains(&self.source.word(at)) {
            return false;
        }
        let tokens = &self.source.tokens;
        let mut after_operand = false;
        while at < end {
            let is_word = tokens[at].kind == TokenKind::Word;
            if is_word && after_operand {
                return true;
            }
            match self.source.closing(at) {
                Some(close) => {
                    after_operand = self.is_callee(at);
                    at = close;
                }
                None => after_operand = is_word,
            }
            at += 1;
        }
        false
    }

    /// Returns the failure for a part of the source to which no code can be added.
    fn inseparable(&self, bytes: &Range<usize>, why: &str) -> Failure {
        let line = self.lines.partition_point(|&start| start <= bytes.start);
        let part = self.source.text[bytes.clone()].split_whitespace().collect::<Vec<_>>().join(" ");
        unusable(format!("{}:{line}: `{part}` {why}", self.path.display()))
    }

    /// Returns the piece around the call whose right parenthesis is at an offset.
    fn around_call(&self, close: usize, head: String, tail: String) -> Piece {
        let close = self.token_at(close);
        let open = self.source.opening(close).expect("found before");
        let tokens = &self.source.tokens;
        Piece { around: tokens[self.callee(open)].range.start..tokens[close].range.end, head, tail }
    }

    /// Returns the piece that executes a hook after the call whose right parenthesis is at an offset.
    fn behind_call(&self, close: usize, hook: &str) -> Piece {
        let head = format!("(__extension__({{ __auto_type {RESULT} = ");
        let piece = self.around_call(close, head, format!("; {hook}; {RESULT}; }}))"));
        // A call statement does not use the result, and the function may return `void`.
        let is_statement = self.statements.iter().any(|(bytes, _)| {
            bytes.start == piece.around.start && self.source.text[piece.around.end..bytes.end].trim() == ";"
        });
        match is_statement && !hook.contains(RESULT) {
            true => self.around_call(close, "(".into(), format!(", {hook})")),
            false => piece,
        }
    }

    /// Returns the first token of the expression that is called by the parenthesis at `open`: `a->b[1]` in
    /// `a->b[1](…)`.
    fn callee(&self, open: usize) -> usize {
        let is = |i: usize, c: u8| self.source.tokens[i].kind == TokenKind::Punct(c);
        let mut at = open;
        while at > 0 {
            let last = at - 1;
            if self.source.tokens[last].kind == TokenKind::Word {
                at = last;
            } else if is(last, b')') || is(last, b']') {
                at = self.source.opening_of(last).unwrap_or(last);
                // `f(x)(y)`, `a[1](y)`
                if at > 0 && (is(at - 1, b')') || is(at - 1, b']') || self.is_callee(at)) {
                    continue;
                }
            } else {
                break;
            }
            // Fields are accessed by `.` and `->`.
            match at {
                1.. if is(at - 1, b'.') => at -= 1,
                2.. if is(at - 1, b'>') && is(at - 2, b'-') => at -= 2,
                _ => break,
            }
        }
        at
    }

    /// Returns a piece around the condition of the statement whose keyword is at the offset. If a `for` has no
    /// condition, the piece adds `absent` as its condition. Returns `None` if the statement cannot have a condition.
    fn around_condition(&self, at: usize, head: &str, tail: &str, absent: &str) -> Option<Piece> {
        let around = self.condition(at)?;
        let is_absent = self.source.text[around.clone()].trim().is_empty();
        let tail = if is_absent { format!("{absent}{tail}") } else { tail.to_owned() };
        Some(Piece { around, head: head.to_owned(), tail })
    }

    /// Returns the bytes of the condition of the statement whose keyword is at the offset. They are empty or blank if a
    /// `for` has no condition. Returns `None` if the statement cannot have a condition.
    fn condition(&self, at: usize) -> Option<Range<usize>> {
        let keyword = self.token_at(at);
        let tokens = &self.source.tokens;
        let open = match self.source.word(keyword) {
            // The condition of a `do` is at the end of the statement: `while (…);`
            "do" => {
                let (bytes, _) =
                    self.statements.iter().find(|(b, _)| b.start == at).cloned().unwrap_or((at..at, false));
                let mut last = self.token_at(bytes.end);
                while last > keyword && self.source.opening(last).is_none() {
                    last -= 1;
                }
                self.source.opening(last).unwrap_or(keyword)
            }
            "?" => return Some(tokens[self.operand(keyword)].range.start..at),
            _ => keyword + 1,
        };
        let close = self.source.closing(open)?;
        Some(match self.source.word(keyword) {
            "for" => {
                let mut semicolons = Vec::new();
                let mut i = open + 1;
                while i < close {
                    match tokens[i].kind {
                        TokenKind::Punct(b';') => semicolons.push(i),
                        TokenKind::Punct(b'(') => i = self.source.closing(i).unwrap_or(i),
                        _ => {}
                    }
                    i += 1;
                }
                let [first, second] = semicolons[..] else { return None };
                tokens[first].range.end..tokens[second].range.start
            }
            _ => tokens[open].range.end..tokens[close].range.start,
        })
    }

    /// Returns the text of the file with its hooks, after the declarations that they need. The first file defines the
    /// variables. `invariants` is the number of error functions to declare. The columns of added text are recorded in
    /// `added`.
    fn text(&self, first: bool, qualifier: &str, invariants: usize, added: &mut Added) -> Result<String, Failure> {
        let mut out = String::new();
        let _ = match first {
            true => write!(out, "{qualifier}unsigned {SEGMENT}, {ROUND} = 1; "),
            false => write!(out, "extern {qualifier}unsigned {SEGMENT}, {ROUND}; "),
        };
        out += "extern void __proviso_assume(int); ";
        for number in 0..invariants {
            let _ = write!(out, "extern void {INVARIANT}{number}(void); ");
        }
        out += &self.declared_ahead();
        let name = self.path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
        let _ = write!(out, "\n#line 1 \"{name}\"\n");
        let mut pieces = self.pieces()?;
        // An outer piece comes before an inner one. Pieces of one range keep the order of their sites, which is the
        // order of evaluation.
        pieces.sort_by_key(|piece| (piece.around.start, std::cmp::Reverse(piece.around.end)));
        let mut text = Text::new(self.path, self.source.text, out, added);
        let mut open: Vec<Piece> = Vec::new();
        for piece in pieces {
            // Pieces of one range are nested, although an empty range ends where it starts.
            let is_before = |other: &Piece| other.around.end <= piece.around.start && other.around != piece.around;
            while let Some(inner) = open.pop_if(|inner| is_before(inner)) {
                text.add(inner.around.end, &inner.tail);
            }
            if open.last().is_some_and(|outer| outer.around.end < piece.around.end) {
                return Err(self.inseparable(&piece.around, "is not one part of the program"));
            }
            // A statement expression would end the lifetime of a compound literal in it.
            let source = Source::lexed(&self.source.text[piece.around.clone()]);
            let is_literal =
                |pair: &[Token]| pair[0].kind == TokenKind::Punct(b')') && pair[1].kind == TokenKind::Punct(b'{');
            if piece.head.contains("({") && source.tokens.windows(2).any(is_literal) {
                return Err(self.inseparable(&piece.around, "has a compound literal"));
            }
            text.add(piece.around.start, &piece.head);
            open.push(piece);
        }
        while let Some(inner) = open.pop() {
            text.add(inner.around.end, &inner.tail);
        }
        Ok(text.end())
    }
}

/// Appends the byte ranges of a statement and of its substatements to `all`, except for compound statements. `alone` is
/// true if the statement is a body without braces of an `if` or a loop. Records what follows the labels in `labelled`.
fn collect(
    source: &Source<'_>,
    statement: &Statement,
    alone: bool,
    all: &mut Vec<(Range<usize>, bool)>,
    labelled: &mut HashMap<usize, (Range<usize>, bool)>,
) {
    let bytes = source.bytes(statement.span());
    if !matches!(statement, Statement::Compound(..)) {
        all.push((bytes.clone(), alone));
    }
    match statement {
        Statement::Compound(_, inner) => inner.iter().for_each(|s| collect(source, s, false, all, labelled)),
        Statement::Control { bodies, .. } => bodies.iter().for_each(|s| collect(source, s, true, all, labelled)),
        // A labelled statement needs braces if its label does.
        Statement::Label { statement, .. } => {
            let is_last = statement.span().is_empty();
            let next = if is_last { bytes.end..bytes.end } else { source.bytes(statement.span()) };
            labelled.insert(bytes.start, (next, alone && !is_last));
            collect(source, statement, alone, all, labelled);
        }
        Statement::Jump(_) | Statement::Declaration(_) | Statement::Plain(_) => {}
    }
}

/// Returns the failure for a witness that cannot be followed. Its exit code is `UNKNOWN`, because neither the program
/// nor the command line is wrong.
pub fn unusable(why: impl Into<String>) -> Failure {
    Failure::new(exit::UNKNOWN, why)
}
