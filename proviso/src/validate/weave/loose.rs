//! Sites for the positions of format 1.0, which gives lines and the kind of the operation instead of exact locations.

use super::{File, Site, read};
use crate::c_scan::{Item, Statement, TokenKind};
use crate::validate::weave::unusable;
use crate::witness::{Content, Entry, Invariant, Location, Loose, Segment, Waypoint};
use driver::failure::Failure;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The first and the last line. `None` means any line.
type Lines = Option<(u32, u32)>;

/// Changes the segments of a witness of format 1.0 so that they mean what they would mean in format 2. Some tools
/// report each operand of a condition, so only the last such waypoint is kept. Operations outside of all functions
/// always happen, so their waypoints are removed, or are moved to the entry of `main` if they assume a condition.
///
/// `Err` if a file cannot be read or is not part of the program.
pub fn resolve(entry: &mut Entry, paths: &[PathBuf]) -> Result<(), Failure> {
    let Content::Segments(segments) = &mut entry.content else { return Ok(()) };
    if segments.iter().flat_map(|s| &s.segment).all(|item| item.waypoint.loose.is_none()) {
        return Ok(());
    }
    let texts = paths.iter().map(|path| read(path)).collect::<Result<Vec<String>, Failure>>()?;
    let files: Vec<File<'_>> = paths.iter().zip(&texts).map(|(path, text)| File::new(path, text)).collect();
    let mut kept: Vec<Segment> = Vec::new();
    for segment in std::mem::take(segments) {
        let Some(Waypoint { kind, location, loose: Some(loose), .. }) = segment.segment.last().map(|w| &w.waypoint)
        else {
            kept.push(segment);
            continue;
        };
        let candidates = files_of(&files, location, loose.lines)?;
        if kind == "passed" && candidates.iter().all(|&at| files[at].is_outside(loose.lines)) {
            continue;
        }
        if kind == "behind" && candidates.iter().all(|&at| files[at].is_outside(loose.lines)) {
            // The state holds before anything runs. If several such states follow one another, only the last one still
            // holds then.
            let lines = loose.lines;
            let mut segment = segment;
            let waypoint = &mut segment.segment.last_mut().expect("it has a step").waypoint;
            (waypoint.kind, waypoint.called) = ("function_enter".into(), Some("main".into()));
            let assumed = std::mem::take(waypoint.loose.as_mut().expect("it is one of format 1.0")).assumed;
            waypoint.loose = Some(Loose { assumed, entered: lines.into_iter().collect(), ..Loose::default() });
            if kept
                .last()
                .and_then(|s| s.segment.last()?.waypoint.loose.as_ref())
                .is_some_and(|l| !l.entered.is_empty())
            {
                kept.pop();
            }
            kept.push(segment);
            continue;
        }
        let same = |last: &Segment| {
            let last = &last.segment.last().expect("none is empty").waypoint;
            last.kind == "branching" && last.loose.as_ref().is_some_and(|l| l.lines == loose.lines)
        };
        let in_parts = kind == "branching" && candidates.iter().any(|&at| files[at].decides_in_parts(loose.lines));
        if in_parts && kept.last().is_some_and(same) {
            kept.pop();
            // The waypoints to avoid are about an operand, not about the whole condition.
            kept.push(Segment { segment: segment.segment.into_iter().next_back().into_iter().collect() });
        } else {
            kept.push(segment);
        }
    }
    *segments = kept;
    Ok(())
}

/// Returns the entry without the waypoints for single operands. Some tools write such waypoints also in format 2, as if
/// each operand were the whole condition. If waypoints at one condition with several operands follow one another, only
/// the last is kept. Returns `None` if there are no such waypoints.
///
/// `Err` if a file cannot be read.
pub fn joined(entry: &Entry, paths: &[PathBuf]) -> Result<Option<Entry>, Failure> {
    let Content::Segments(segments) = &entry.content else { return Ok(None) };
    let texts = paths.iter().map(|path| read(path)).collect::<Result<Vec<String>, Failure>>()?;
    let files: Vec<File<'_>> = paths.iter().zip(&texts).map(|(path, text)| File::new(path, text)).collect();
    let place = |segment: &Segment| {
        let [item] = segment.segment.as_slice() else { return None };
        let Waypoint { kind, action, location, loose: None, .. } = &item.waypoint else { return None };
        let number = *files_of(&files, location, Some((location.line, location.line))).ok()?.first()?;
        let at = files[number].branching(location).ok().filter(|_| kind == "branching" && action == "follow")?;
        has_operands(&files[number], at).then_some((number, at))
    };
    let mut kept: Vec<Segment> = Vec::new();
    for segment in segments {
        if place(segment).is_some_and(|here| kept.last().and_then(place) == Some(here)) {
            kept.pop();
        }
        kept.push(segment.clone());
    }
    Ok((kept.len() < segments.len()).then(|| Entry { content: Content::Segments(kept), ..entry.clone() }))
}

/// Returns true if the condition of the statement at an offset has several operands.
fn has_operands(file: &File<'_>, at: usize) -> bool {
    let text = file.condition(at).map_or("", |bytes| &file.source.text[bytes]);
    text.contains("&&") || text.contains("||")
}

/// Returns the numbers of the files that a location may name. If no lines are given, or the program has one file, these
/// are all files. `Err` if no file matches.
pub(super) fn files_of(files: &[File<'_>], location: &Location, lines: Lines) -> Result<Vec<usize>, Failure> {
    let wanted = Path::new(&location.file_name);
    let exact = files.iter().position(|f| f.path == wanted);
    let named = || files.iter().position(|f| f.path.file_name() == wanted.file_name());
    match exact.or_else(named) {
        _ if lines.is_none() || files.len() == 1 => Ok((0..files.len()).collect()),
        Some(one) => Ok(vec![one]),
        None => Err(unusable(format!("{}: this file is not part of the program", location.file_name))),
    }
}

impl File<'_> {
    /// Returns the sites at which a step may happen.
    pub(super) fn steps(&self, waypoint: &Waypoint, loose: &Loose) -> Vec<Site> {
        let (lines, called) = (loose.lines, waypoint.called.as_deref().unwrap_or_default());
        match waypoint.kind.as_str() {
            "branching" => self.branches(lines).into_iter().map(Site::Condition).collect(),
            "function_return" => self.calls(called, lines).into_iter().map(Site::Returned).collect(),
            "function_enter" => {
                let (calls, first) = (self.calls(called, lines), self.first_of(called).map(Site::Start));
                // A call through a pointer does not name the function, and some tools give the lines of the function
                // instead.
                let is_head = |(span, name, body): (Range<usize>, &str, Range<usize>)| {
                    name == called && self.overlaps(&(span.start..body.start + 1), lines)
                };
                let unnamed = || self.calls(called, None).is_empty() || self.functions().any(is_head);
                match calls.is_empty() {
                    true => first.filter(|_| lines.is_none() || unnamed()).into_iter().collect(),
                    // An assumption about a call refers to the variables of the callee.
                    false if loose.assumed.is_some() => first.into_iter().collect(),
                    false => calls.into_iter().map(Site::Called).collect(),
                }
            }
            "returned" => {
                let returns = self.leaves(lines).into_iter().filter(|bytes| {
                    self.source.word(self.token_at(bytes.start)) == "return" && self.is_in(called, bytes.start)
                });
                let mut sites: Vec<Site> = returns.map(|bytes| Site::Statement(bytes.start)).collect();
                sites.extend(self.end_of(called).filter(|&at| self.overlaps(&(at..at + 1), lines)).map(Site::End));
                match sites.is_empty() {
                    true => self.calls(called, lines).into_iter().map(Site::Returned).collect(),
                    false => sites,
                }
            }
            "behind" => self.operations(lines, |bytes| match self.jumps(bytes) {
                true => vec![Site::Statement(bytes.start)],
                false => vec![Site::Behind(bytes.start)],
            }),
            // A statement with a call has a step before the call and one after it.
            _ => self.operations(lines, |bytes| {
                let calls = self.source.text[bytes.clone()].contains('(') && !self.jumps(bytes);
                let behind = calls.then_some(Site::Behind(bytes.start));
                std::iter::once(Site::Statement(bytes.start)).chain(behind).collect()
            }),
        }
    }

    /// Returns the sites of the operations on the lines. An operation is a statement or a decision. If there is none,
    /// the sites are the starts of the functions whose heads are on the lines, because a head initializes the
    /// parameters.
    fn operations(&self, lines: Lines, sites: impl Fn(&Range<usize>) -> Vec<Site>) -> Vec<Site> {
        let mut sites: Vec<Site> = self.leaves(lines).iter().flat_map(sites).collect();
        sites.extend(self.branches(lines).into_iter().map(Site::Condition));
        if sites.is_empty() {
            let heads = self.functions().filter(|(span, _, body)| self.overlaps(&(span.start..body.start + 1), lines));
            sites.extend(heads.filter_map(|(_, name, _)| self.first_of(name)).map(Site::Start));
        }
        sites
    }

    /// Returns true if the statement is a jump: control does not reach the next statement.
    fn jumps(&self, bytes: &Range<usize>) -> bool {
        matches!(self.source.word(self.token_at(bytes.start)), "return" | "break" | "continue" | "goto")
    }

    /// Returns true if the lines are outside of all functions, where everything happens before a function starts.
    pub(super) fn is_outside(&self, lines: Lines) -> bool {
        lines.is_some()
            && !self.functions().any(|(span, ..)| self.overlaps(&span, lines))
            && self.source.items.iter().any(|item| self.overlaps(&self.source.bytes(item.span()), lines))
    }

    /// Returns true if a condition on these lines has several operands. Tools of format 1.0 report such operands one by
    /// one.
    pub(super) fn decides_in_parts(&self, lines: Lines) -> bool {
        self.branches(lines).into_iter().any(|at| has_operands(self, at))
    }

    /// Returns the line of a byte offset, from 1.
    fn line_of(&self, offset: usize) -> u32 {
        self.lines.partition_point(|&start| start <= offset) as u32
    }

    /// Returns true if a range of bytes is at least partly on the lines.
    fn overlaps(&self, bytes: &Range<usize>, lines: Lines) -> bool {
        lines.is_none_or(|(first, last)| {
            self.line_of(bytes.start) <= last && first <= self.line_of(bytes.end.saturating_sub(1).max(bytes.start))
        })
    }

    /// Returns the ranges of the statements on the lines that contain no other statement and do not branch.
    fn leaves(&self, lines: Lines) -> Vec<Range<usize>> {
        let inner = |bytes: &Range<usize>| {
            let is_below = |b: &Range<usize>| b != bytes && bytes.start <= b.start && b.end <= bytes.end;
            self.statements.iter().any(|(b, _)| is_below(b))
        };
        let decides = |bytes: &Range<usize>| {
            matches!(self.source.word(self.token_at(bytes.start)), "if" | "while" | "for" | "do" | "switch")
        };
        let all = self.statements.iter().map(|(bytes, _)| bytes);
        all.filter(|b| self.overlaps(b, lines) && !decides(b) && !inner(b)).cloned().collect()
    }

    /// Returns the offsets of the keywords of the branching statements whose conditions are on the lines, and those of
    /// each `?`.
    fn branches(&self, lines: Lines) -> Vec<usize> {
        let tokens = &self.source.tokens;
        let statements = self.statements.iter().map(|(bytes, _)| bytes.start);
        let keywords = statements
            .filter(|&at| matches!(self.source.word(self.token_at(at)), "if" | "while" | "for" | "do" | "switch"));
        let choices = tokens.iter().filter(|t| t.kind == TokenKind::Punct(b'?')).map(|t| t.range.start);
        let is_here = |&at: &usize| {
            let keyword = self.token_at(at);
            let is_tail = matches!(self.source.word(keyword), "do" | "for" | "?");
            self.condition(at).is_some_and(|bytes| {
                let around = if bytes.is_empty() { at..at + 1 } else { bytes };
                self.overlaps(&around, lines) || !is_tail && self.overlaps(&(at..at + 1), lines)
            })
        };
        keywords.chain(choices).filter(is_here).collect()
    }

    /// Returns the offsets of the right parentheses of the calls of a function. A call counts if it is on the lines, or
    /// if its statement starts there.
    pub(super) fn calls(&self, function: &str, lines: Lines) -> Vec<usize> {
        let tokens = &self.source.tokens;
        let is_call = |open: usize| {
            self.source.word(open - 1) == function
                && self.functions().all(|(span, _, body)| {
                    let at = tokens[open].range.start;
                    !span.contains(&at) || body.contains(&at)
                })
        };
        let opens = (1..tokens.len()).filter(|&i| tokens[i].kind == TokenKind::Punct(b'(') && is_call(i));
        let starts_here = |at: usize| {
            let around = self.statements.iter().map(|(b, _)| b).filter(|b| b.contains(&at)).max_by_key(|b| b.start);
            around.is_some_and(|b| self.overlaps(&(b.start..b.start + 1), lines))
        };
        let is_here = |open: &usize| {
            let at = tokens[open - 1].range.start;
            self.overlaps(&(at..at + 1), lines) || starts_here(at)
        };
        let inside = |at: usize| self.functions().any(|(_, _, body)| body.contains(&at));
        let closes = opens.filter(is_here).filter_map(|open| Some(tokens[self.source.closing(open)?].range.start));
        closes.filter(|&at| inside(at)).collect()
    }

    /// Returns the functions: their byte ranges, their names, and the byte ranges of their bodies.
    pub(super) fn functions(&self) -> impl Iterator<Item = (Range<usize>, &str, Range<usize>)> {
        self.source.items.iter().filter_map(|item| match item {
            Item::Function { span, name, body } => {
                Some((self.source.bytes(span), self.source.word(*name), self.source.bytes(body.span())))
            }
            _ => None,
        })
    }

    /// Returns the offset of the first statement of a function.
    fn first_of(&self, function: &str) -> Option<usize> {
        self.source.items.iter().find_map(|item| match item {
            Item::Function { name, body: Statement::Compound(_, all), .. } if self.source.word(*name) == function => {
                Some(self.source.bytes(all.first()?.span()).start)
            }
            _ => None,
        })
    }

    /// Returns the offset of the closing brace of a function.
    fn end_of(&self, function: &str) -> Option<usize> {
        self.functions().find(|(_, name, _)| *name == function).map(|(.., body)| body.end - 1)
    }

    /// Returns true if an offset is in the body of a function.
    fn is_in(&self, function: &str, at: usize) -> bool {
        self.functions().any(|(_, name, body)| name == function && body.contains(&at))
    }

    /// Returns the site of an invariant of a node.
    pub(super) fn node(&self, invariant: &Invariant, loose: &Loose) -> Option<Site> {
        let is_loop = invariant.kind == "loop_invariant";
        let in_scope = |at: usize| {
            let scope = invariant.location.function.as_deref();
            scope.is_none_or(|name| self.is_in(name, at))
        };
        let word = |at: usize| self.source.word(self.token_at(at));
        let loops = |lines: Lines| -> Vec<usize> {
            self.branches(lines).into_iter().filter(|&at| matches!(word(at), "while" | "for" | "do")).collect()
        };
        let only = |all: Vec<usize>| {
            let mut all = all.into_iter().filter(|&at| in_scope(at));
            all.next().filter(|_| all.next().is_none())
        };
        let decided = loose.left.iter().filter(|(_, decides)| *decides).map(|(lines, _)| Some(*lines));
        if is_loop {
            let by_condition = decided.clone().find_map(|lines| only(loops(lines)));
            let by_entry = || loose.entered.iter().find_map(|lines| only(loops(Some(*lines))));
            let behind = || {
                loose.entered.iter().find_map(|lines| {
                    let last = self.leaves(Some(*lines)).into_iter().max_by_key(|b| b.end)?;
                    let next = self.statements.iter().map(|(b, _)| b.start).filter(|&s| s >= last.end).min()?;
                    matches!(word(next), "while" | "for" | "do").then_some(next).filter(|&at| in_scope(at))
                })
            };
            if let Some(at) = by_condition.or_else(by_entry).or_else(behind) {
                return Some(Site::BeforeCondition(at));
            }
        }
        if let Some(at) = decided.clone().find_map(|lines| only(self.branches(lines))) {
            return Some(Site::BeforeCondition(at));
        }
        let single = |lines: (u32, u32)| only(self.leaves(Some(lines)).into_iter().map(|b| b.start).collect());
        if let Some(at) = loose.left.iter().filter(|(_, decides)| !decides).find_map(|(lines, _)| single(*lines)) {
            return Some(Site::Statement(at));
        }
        // An invariant of a loop without a keyword is at the statement at the loop head.
        let heads = self.statements.iter().map(|(bytes, _)| bytes.start);
        let head = |lines: (u32, u32)| heads.clone().filter(|&at| self.overlaps(&(at..at + 1), Some(lines))).min();
        let first =
            || loose.entered.iter().filter(|_| is_loop).find_map(|lines| head(*lines).filter(|&at| in_scope(at)));
        let at = loose.entered.iter().find_map(|lines| single(*lines)).or_else(first)?;
        Some(if is_loop { Site::Statement(at) } else { Site::Behind(at) })
    }
}
