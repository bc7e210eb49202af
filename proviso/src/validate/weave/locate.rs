//! Finds the locations of witnesses in the source: statements, keywords, calls and choices. An inexact location is
//! accepted if only one token in it fits.

use super::{File, KEYWORDS, unsupported};
use crate::c_scan::{Item, Source, TokenKind, is_type_specifier};
use crate::witness::Location;
use driver::failure::Failure;
use std::collections::HashSet;
use std::fmt::Write;
use std::ops::Range;

impl File<'_> {
    /// Returns the range of bytes that a location denotes: one byte, or a whole line if it has no column. `Err` if
    /// there is no such line.
    pub(super) fn range(&self, location: &Location) -> Result<Range<usize>, Failure> {
        let line = location.line as usize;
        let start =
            *self.lines.get(line.wrapping_sub(1)).ok_or_else(|| unsupported(location, "there is no such line"))?;
        let end = self.lines.get(line).copied().unwrap_or(self.source.text.len());
        Ok(match location.column {
            Some(column) => (start + column as usize - 1).min(end)..(start + column as usize).min(end),
            None => start..end,
        })
    }

    /// Returns the offset of the first statement that starts at a location. `Err` if there is none.
    pub(super) fn statement(&self, location: &Location) -> Result<usize, Failure> {
        let range = self.range(location)?;
        let found = self.statements.iter().map(|(bytes, _)| bytes.start).filter(|at| range.contains(at)).min();
        found.ok_or_else(|| unsupported(location, "no statement starts here"))
    }

    /// Returns the index of the first token at a location that fits. `Err` if there is no such line.
    pub(super) fn token(&self, location: &Location, fits: impl Fn(usize) -> bool) -> Result<Option<usize>, Failure> {
        let range = self.range(location)?;
        let tokens = &self.source.tokens;
        Ok((0..tokens.len()).find(|&i| range.contains(&tokens[i].range.start) && fits(i)))
    }

    /// Returns the offset of the first of these keywords at a location. `Err` if there is none.
    pub(super) fn keyword(&self, location: &Location, words: &[&str]) -> Result<usize, Failure> {
        let token = self.token(location, |i| words.contains(&self.source.word(i)))?;
        let token = token.ok_or_else(|| unsupported(location, "no such statement starts here"))?;
        Ok(self.source.tokens[token].range.start)
    }

    /// Returns the offset of the right parenthesis of the call at a location. `Err` if there is none.
    pub(super) fn parenthesis(&self, location: &Location) -> Result<usize, Failure> {
        let is_named = |i: usize| self.source.opening(i).is_some_and(|open| self.is_callee(open));
        // A cast looks like a call of the value of an expression, so such a call needs an exact column.
        let is_computed = |i: usize| {
            let before = self.source.opening(i).and_then(|open| open.checked_sub(1));
            let before = before.map(|before| self.source.tokens[before].kind);
            location.column.is_some() && matches!(before, Some(TokenKind::Punct(b')' | b']')))
        };
        let token = self.token(location, |i| is_named(i) || is_computed(i))?;
        let token = token.or_else(|| self.only(location, is_named));
        let token = token.ok_or_else(|| unsupported(location, "no call ends here"))?;
        Ok(self.source.tokens[token].range.start)
    }

    /// Returns true if the token before the parenthesis is a name that can be called.
    pub(super) fn is_callee(&self, open: usize) -> bool {
        let name = open.checked_sub(1).filter(|&n| self.source.tokens[n].kind == TokenKind::Word);
        name.is_some_and(|n| !KEYWORDS.contains(&self.source.word(n)))
    }

    /// Returns the offset of the keyword of the branching statement at a location, or of the `?` there. `Err` if there
    /// is neither.
    pub(super) fn branching(&self, location: &Location) -> Result<usize, Failure> {
        let is_choice = |i: usize| self.source.tokens[i].kind == TokenKind::Punct(b'?');
        let choice = || self.token(location, is_choice).ok().flatten().or_else(|| self.only(location, is_choice));
        self.keyword(location, &["if", "while", "for", "do", "switch"])
            .or_else(|failure| Ok(self.source.tokens[choice().ok_or(failure)?].range.start))
    }

    /// Returns the only token that fits in the statement at a location. Some tools give the start of the statement as
    /// the location of everything in it.
    fn only(&self, location: &Location, fits: impl Fn(usize) -> bool) -> Option<usize> {
        let at = self.statement(location).ok()?;
        // The innermost statement that starts there counts. A label does not start where its statement starts.
        let bytes = self.statements.iter().map(|(bytes, _)| bytes).filter(|b| b.start == at).min_by_key(|b| b.end)?;
        let mut found = (self.token_at(bytes.start)..self.token_at(bytes.end)).filter(|&i| fits(i));
        found.next().filter(|_| found.next().is_none())
    }

    /// Returns declarations of the variables of the file scope that hooks mention, because the file may declare them
    /// after the hook. Only variables of simple types are declared.
    pub(super) fn declared_ahead(&self) -> String {
        let hooks = self.hooks.values();
        let texts = hooks.flat_map(|h| h.always.iter().chain(h.cases.iter().map(|(_, action)| action)));
        let spoken: Vec<Source<'_>> = texts.map(|text| Source::lexed(text)).collect();
        let words: HashSet<&str> = spoken.iter().flat_map(|s| s.words()).collect();
        let is = |at: usize, c: u8| self.source.tokens.get(at).is_some_and(|t| t.kind == TokenKind::Punct(c));
        let mut out = String::new();
        for item in &self.source.items {
            let Item::Variables { span, names } = item else { continue };
            for &name in names.iter().filter(|&&n| words.contains(self.source.word(n))) {
                let specifiers: Vec<&str> = (span.start..names[0]).map(|at| self.source.word(at)).collect();
                let is_simple = is(name + 1, b';') || is(name + 1, b',') || is(name + 1, b'=');
                if is_simple
                    && (name == names[0] || is(name - 1, b','))
                    && specifiers.iter().all(|word| is_type_specifier(word) || *word == "static")
                    && specifiers.iter().any(|word| !matches!(*word, "static" | "const" | "volatile"))
                {
                    let linkage = if specifiers.contains(&"static") { "" } else { "extern " };
                    let _ = write!(out, "{linkage}{} {}; ", specifiers.join(" "), self.source.word(name));
                }
            }
        }
        out
    }

    /// Returns the first token of the operand before a `?`. The search goes back to an operator that binds weaker, or
    /// to a token that starts a part of the program.
    pub(super) fn operand(&self, choice: usize) -> usize {
        let is = |i: usize, c: u8| self.source.tokens[i].kind == TokenKind::Punct(c);
        let touch = |i: usize| self.source.tokens[i].range.end == self.source.tokens[i + 1].range.start;
        let mut at = choice;
        while at > 0 {
            let last = at - 1;
            if is(last, b')') || is(last, b']') {
                at = self.source.opening_of(last).unwrap_or(last);
                continue;
            }
            let ends = match self.source.tokens[last].kind {
                TokenKind::Word => matches!(self.source.word(last), "return" | "case" | "else" | "do"),
                TokenKind::Punct(b'=') if last > 0 && touch(last - 1) => {
                    let before = |c: u8| is(last - 1, c);
                    let shifts =
                        || last > 1 && touch(last - 2) && self.source.word(last - 2) == self.source.word(last - 1);
                    match before(b'<') || before(b'>') {
                        true => shifts(),
                        false => !(before(b'=') || before(b'!') || is(at, b'=') && touch(last)),
                    }
                }
                TokenKind::Punct(b'=') => !(is(at, b'=') && touch(last)),
                TokenKind::Punct(c) => matches!(c, b'(' | b'[' | b'{' | b'}' | b',' | b';' | b'?' | b':'),
                _ => false,
            };
            if ends {
                break;
            }
            at = last;
        }
        at
    }
}
