//! Blanks the statements and declarations of a C file that are not in a slice. The remaining code keeps its position,
//! and the file compiles.

use crate::c_scan::{Item, Source, Span, Statement, TokenKind};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A statement that ends the program.
const END: &str = "{extern void exit(int);exit(0);}";

/// The position that follows the end of a function, for [`Code::next`].
pub const RETURNED: usize = usize::MAX;

/// The positions of the code of a file, as byte offsets.
#[derive(Default)]
pub struct Code {
    /// All positions with code.
    pub all: BTreeSet<usize>,
    /// The positions of code that is in the slice.
    pub kept: BTreeSet<usize>,
    /// The positions of return statements whose value is not needed.
    pub idle_returns: BTreeSet<usize>,
    /// The positions of assignments, none of which is in the slice.
    pub idle_assignments: BTreeSet<usize>,
    /// The positions of code from which a criterion is reachable.
    pub alive: BTreeSet<usize>,
    /// The positions of calls that do not return and are not in the slice. Execution must not continue after them.
    pub ends: BTreeSet<usize>,
    /// The positions of code in functions that may return.
    pub returning: BTreeSet<usize>,
    /// The positions of calls of the function that is named there, or of a pointer.
    pub calls: BTreeSet<usize>,
    /// For each position of executed code, the positions of the code that may be executed next, or [`RETURNED`].
    pub next: BTreeMap<usize, BTreeSet<usize>>,
}

/// A blanked file.
pub struct Blanked {
    /// The text of the blanked file.
    pub text: String,
    /// The names of the functions that keep their original text, because their remainder did not compile.
    pub given_up: Vec<String>,
}

/// Blanks the code that is not kept. Declarations of names in `needed` stay, because other files use them. `errors`
/// compiles a text and returns the lines of its errors, from 1. `Err` if `errors` fails.
///
/// The items of the source with indices in `whole` keep their original text. Items whose remaining code does not compile
/// are added to it.
pub fn blank<E>(
    source: &Source,
    code: &Code,
    needed: &BTreeSet<String>,
    whole: &mut BTreeSet<usize>,
    mut errors: impl FnMut(&str) -> Result<Vec<u32>, E>,
) -> Result<Blanked, E> {
    // Each round restores at least one more item.
    for _ in 0..=source.items.len() {
        let blanked = Blanker::new(source, code, whole).run(needed);
        let lines = errors(&blanked)?;
        if lines.is_empty() {
            return Ok(Blanked { text: blanked, given_up: functions(source, whole) });
        }
        let before = whole.len();
        whole.extend(lines.iter().filter_map(|&line| item_at(source, line)));
        if whole.len() == before {
            break;
        }
    }
    whole.extend(0..source.items.len());
    Ok(Blanked { text: source.text.to_owned(), given_up: functions(source, whole) })
}

/// Returns the positions of the code that remains in the statements of the blanked file. A statement remains completely
/// if a part of it is kept, so some of the code may not be kept. The items with indices in `whole` remain completely.
pub fn remaining(source: &Source, code: &Code, whole: &BTreeSet<usize>) -> BTreeSet<usize> {
    let mut blanker = Blanker::new(source, code, whole);
    let mut found = BTreeSet::new();
    for (n, item) in source.items.iter().enumerate() {
        let Item::Function { body, .. } = item else { continue };
        if whole.contains(&n) {
            found.extend(code.all.range(source.bytes(body.span())));
        } else if blanker.any(&code.kept, item.span()) {
            blanker.function(body);
            blanker.add_remaining(body, &mut found);
        }
    }
    found
}

/// Returns the names of the functions among the items with these indices.
fn functions(source: &Source, items: &BTreeSet<usize>) -> Vec<String> {
    let name = |&n: &usize| match source.items[n] {
        Item::Function { name, .. } => Some(format!("`{}`", source.word(name))),
        _ => None,
    };
    items.iter().filter_map(name).collect()
}

/// Returns the identifiers of a text.
pub fn words(text: &str) -> BTreeSet<&str> {
    Source::lexed(text).words().collect()
}

/// Returns the index of the item that is on a line. The line counts from 1.
fn item_at(source: &Source, line: u32) -> Option<usize> {
    let mut starts = std::iter::once(0).chain(source.text.match_indices('\n').map(|(at, _)| at + 1));
    let start = starts.nth(line.checked_sub(1)? as usize)?;
    let end = source.text[start..].find('\n').map_or(source.text.len(), |n| start + n);
    source.items.iter().position(|item| {
        let bytes = source.bytes(item.span());
        bytes.start < end && start < bytes.end
    })
}

/// The state of blanking one file.
struct Blanker<'s, 't> {
    source: &'s Source<'t>,
    code: &'s Code,
    /// The indices of the items that keep their original text.
    whole: &'s BTreeSet<usize>,
    /// The ranges of tokens to blank. The text replaces the start of the range.
    cuts: Vec<(Span, &'static str)>,
    /// The number of cuts that contain a token, by token.
    gone: Vec<u32>,
    /// Declarations in functions that stay only if their names are used.
    declarations: Vec<Span>,
    /// The first tokens of statements of which an end stays: [`END`], or a jump.
    ended: BTreeSet<usize>,
    /// Labels that must stay because kept code jumps to them.
    targets: BTreeSet<&'t str>,
    /// The code that follows the statement that is visited.
    follower: Span,
}

/// The jumps that a statement around them binds.
#[derive(Clone, Copy, Default)]
struct Bound {
    breaks: bool,
    continues: bool,
}

/// The end of a statement from which execution never reaches the code that follows it.
enum End<'a> {
    /// A jump out of the statement.
    Jump(&'a Statement),
    /// The statement ends the program, or is never left.
    Never,
}

impl<'s, 't> Blanker<'s, 't> {
    fn new(source: &'s Source<'t>, code: &'s Code, whole: &'s BTreeSet<usize>) -> Self {
        let gone = vec![0; source.tokens.len()];
        let (cuts, declarations, ended, targets) = Default::default();
        Self { source, code, whole, cuts, gone, declarations, ended, targets, follower: 0..0 }
    }

    /// Returns the blanked text.
    fn run(mut self, needed: &BTreeSet<String>) -> String {
        let source = self.source;
        let mut pieces: Vec<usize> = Vec::new();
        for (n, item) in source.items.iter().enumerate() {
            let Item::Function { body, .. } = item else { continue };
            if self.whole.contains(&n) {
                pieces.push(n);
            } else if self.any(&self.code.kept, item.span()) {
                self.function(body);
                pieces.push(n);
            }
        }
        // Collects the names that the kept code mentions. A kept variable also mentions the names in its initial value.
        let mut names: BTreeSet<&str> = source.words().filter(|&word| needed.contains(word)).collect();
        for &n in &pieces {
            self.mention(source.items[n].span(), &mut names);
        }
        for item in &source.items {
            if let Item::Other(span) = item
                && span.clone().any(|t| source.word(t) == "=")
            {
                self.mention(span, &mut names);
            }
        }
        let mut pending: Vec<usize> = (0..source.items.len()).filter(|n| !pieces.contains(n)).collect();
        let macros: Vec<(&str, Vec<&str>)> =
            source.directives.iter().filter_map(|d| definition(&source.text[d.clone()])).collect();
        loop {
            let before = (pending.len(), names.len());
            for (_, body) in macros.iter().filter(|(name, _)| names.contains(name)).collect::<Vec<_>>() {
                names.extend(body);
            }
            pending.retain(|&n| {
                let wanted = match &source.items[n] {
                    Item::Variables { names: own, .. } => {
                        self.whole.contains(&n) || own.iter().any(|&t| names.contains(source.word(t)))
                    }
                    _ => false,
                };
                if wanted {
                    self.mention(source.items[n].span(), &mut names);
                }
                !wanted
            });
            if (pending.len(), names.len()) == before {
                break;
            }
        }
        for n in pending {
            match &source.items[n] {
                Item::Function { name, body, .. }
                    if names.contains(source.word(*name)) || source.word(*name) == "main" =>
                {
                    let inner = body.span().start + 1..body.span().end.saturating_sub(1);
                    let never_returns =
                        self.any(&self.code.all, body.span()) && !self.any(&self.code.returning, body.span());
                    self.cut(&inner, if never_returns && source.word(*name) != "main" { END } else { "" });
                }
                Item::Function { span, .. } | Item::Variables { span, .. } => self.cut(span, ""),
                Item::Other(_) => {}
            }
        }
        self.apply()
    }

    /// Returns true if one of the positions is in the span.
    fn any(&self, places: &BTreeSet<usize>, span: &Span) -> bool {
        let bytes = self.source.bytes(span);
        places.range(bytes).next().is_some()
    }

    /// Blanks the body of a function.
    fn function(&mut self, body: &Statement) {
        // Blanking may remove labels that kept code still jumps to. Such labels become targets, and the body is blanked
        // again.
        loop {
            let (cuts, declarations) = (self.cuts.len(), self.declarations.len());
            self.follower = body.span().end - 1..body.span().end;
            self.visit(body, true, true);
            let missing: Vec<&str> = self.lost_labels(body);
            if missing.is_empty() {
                break;
            }
            self.targets.extend(missing);
            self.uncut(cuts);
            self.declarations.truncate(declarations);
        }
        // Removes declarations whose names are not mentioned any more.
        let mut pending = std::mem::take(&mut self.declarations);
        loop {
            let mut names = BTreeSet::new();
            self.mention(body.span(), &mut names);
            let before = pending.len();
            pending.retain(|span| {
                let own = self.source.declared(span);
                let used = |&t: &usize| self.count(self.source.word(t), body.span()) > 1;
                let stays = own.is_empty() || own.iter().any(used);
                if !stays {
                    self.cut(span, "");
                }
                stays
            });
            if pending.len() == before {
                break;
            }
        }
    }

    /// Returns the number of occurrences of a name in the remaining tokens of a span.
    fn count(&self, name: &str, span: &Span) -> usize {
        span.clone().filter(|&t| self.source.word(t) == name && !self.is_cut(t)).count()
    }

    /// Returns the labels that the remaining code jumps to or takes the address of, but that are cut and are not
    /// targets yet.
    fn lost_labels(&self, body: &Statement) -> Vec<&'t str> {
        let source = self.source;
        let mut wanted = BTreeSet::new();
        for t in body.span().clone() {
            let taken = t > 0 && source.word(t - 1) == "&" && t > 1 && source.word(t - 2) == "&";
            if (t > 0 && source.word(t - 1) == "goto" || taken) && !self.is_cut(t) {
                wanted.insert(source.word(t));
            }
        }
        let mut kept = BTreeSet::new();
        labels(body, &mut |t| {
            if !self.is_cut(t) {
                kept.insert(source.word(t));
            }
        });
        wanted.into_iter().filter(|name| !kept.contains(name) && !self.targets.contains(name)).collect()
    }

    /// Cuts from a statement the code that is not kept. Returns true if a part of the statement stays. `reached` is
    /// true if all decisions about the execution of the statement stay. `alone` is true if C requires a statement here.
    fn visit(&mut self, statement: &Statement, reached: bool, alone: bool) -> bool {
        if reached && self.ends(statement) {
            self.ended.insert(statement.span().start);
            self.cut(statement.span(), END);
            return true;
        }
        if reached && self.reduce(statement) {
            return true;
        }
        let stays = match statement {
            Statement::Plain(span) if reached && self.is_macro_jump(span) => {
                self.ended.insert(span.start);
                true
            }
            Statement::Plain(span) => span.is_empty() || self.any(&self.code.kept, span),
            Statement::Jump(span) => {
                let stays = reached || self.any(&self.code.kept, span);
                // A function with several return statements assigns its result at each, and returns it at its end.
                let keyword = self.source.bytes(&(span.start..span.start + 1)).start;
                let is_idle = self.any(&self.code.idle_returns, span)
                    || self.source.word(span.start) == "return" && self.code.idle_assignments.contains(&keyword);
                if stays && is_idle && span.len() > 2 {
                    let value = span.start + 1..span.end - 1;
                    let touches = self.source.bytes(&(span.start..value.start)).end == self.source.bytes(&value).start;
                    self.cut(&value, if touches { " 0" } else { "0" });
                }
                stays
            }
            Statement::Declaration(span) => {
                if self.any(&self.code.kept, span) {
                    return true;
                }
                let is_static = span.clone().any(|t| self.source.word(t) == "static");
                if !is_static && self.any(&self.code.all, span) {
                    for value in self.source.initialisers(span) {
                        if !self.may_be_folded(span, &value) {
                            self.cut(&value, "");
                        }
                    }
                }
                self.declarations.push(span.clone());
                return true;
            }
            Statement::Compound(_, all) => {
                let (cuts, declarations) = (self.cuts.len(), self.declarations.len());
                let mut stays = false;
                let outer = self.follower.clone();
                for (n, one) in all.iter().enumerate() {
                    let executed = |s: &&Statement| self.next_of(s.span()).next().is_some();
                    self.follower = all[n + 1..].iter().find(executed).map_or(outer.clone(), |s| s.span().clone());
                    let kept = self.visit(one, reached, false);
                    stays |= kept && !matches!(one, Statement::Declaration(_)) || self.holds(one);
                }
                self.follower = outer;
                if !stays && !alone {
                    self.uncut(cuts);
                    self.declarations.truncate(declarations);
                }
                stays || alone
            }
            Statement::Label { name, statement, .. } => {
                // The compiler makes no code for a statement that is only `break`, which a macro may hide.
                if let Statement::Plain(span) = &**statement
                    && reached
                    && name.is_none()
                    && self.may_be_macro(span)
                    && !self.any(&self.code.all, span)
                {
                    self.ended.insert(span.start);
                    return true;
                }
                let wanted = name.is_none() || name.is_some_and(|t| self.targets.contains(self.source.word(t)));
                let stays = self.visit(statement, reached, true)
                    && !matches!(**statement, Statement::Plain(ref s) if s.is_empty());
                return stays || wanted || name.is_none();
            }
            Statement::Control { span, header, bodies } => {
                let (cuts, declarations) = (self.cuts.len(), self.declarations.len());
                let outer = self.follower.clone();
                let is_forced = reached && self.end(statement).is_some();
                if self.is_loop(span) {
                    self.follower = span.clone();
                }
                let decides = self.any(&self.code.kept, header);
                let constant = !self.any(&self.code.all, header);
                self.fix_condition(header, bodies);
                let mut stays = decides;
                for body in bodies {
                    // Kept code depends on the condition of its statement. A condition that is not kept always has one value.
                    let holds = self.any(&self.code.kept, body.span()) || self.has_target(body);
                    let kept = self.visit(body, reached && (decides || constant || is_forced || holds), true);
                    stays |= kept && self.holds(body);
                }
                self.follower = outer;
                if !stays {
                    self.uncut(cuts);
                    self.declarations.truncate(declarations);
                }
                stays
            }
        };
        if !stays {
            self.cut(statement.span(), if alone { ";" } else { "" });
        }
        stays
    }

    /// Returns true if the compiler may replace uses of a declared constant by its initial value, by the tokens of the
    /// declaration and of the initialiser. The uses do not depend on the declaration then.
    fn may_be_folded(&self, declaration: &Span, initialiser: &Span) -> bool {
        let word = |t: &usize| self.source.word(*t);
        let before = declaration.start..initialiser.start;
        let pointer = before.clone().rev().take_while(|t| word(t) != ",").find(|t| word(t) == "*");
        let is_const = |t| ["const", "__const", "__const__", "constexpr"].contains(&word(&t));
        (pointer.unwrap_or(before.start)..before.end).any(is_const) && !self.any(&self.code.all, initialiser)
    }

    /// Returns true if a statement is not in the slice and contains a call that does not return. Without the call,
    /// execution would continue after the statement. If the call depends on a decision of the statement, no criterion
    /// is reachable from the statement.
    fn ends(&self, statement: &Statement) -> bool {
        let span = statement.span();
        let is_candidate = match statement {
            Statement::Plain(_) => !self.any(&self.code.kept, span),
            Statement::Control { header, .. } => {
                !self.any(&self.code.kept, header)
                    && self.any(&self.code.all, header)
                    && !self.any(&self.code.alive, span)
            }
            _ => false,
        };
        is_candidate && self.any(&self.code.ends, span) && !self.has_target(statement)
    }

    /// Returns true if kept code jumps to a label in a statement.
    fn has_target(&self, statement: &Statement) -> bool {
        let mut found = false;
        labels(statement, &mut |t| found |= self.targets.contains(self.source.word(t)));
        found
    }

    /// Returns true if a statement is a loop, by its span.
    fn is_loop(&self, span: &Span) -> bool {
        ["while", "for", "do"].contains(&self.source.word(span.start))
    }

    /// Returns the executed positions in a span, each with the positions that follow it.
    fn next_of(&self, span: &Span) -> impl Iterator<Item = (usize, &'s BTreeSet<usize>)> + use<'s, 't> {
        self.code.next.range(self.source.bytes(span)).map(|(&at, next)| (at, next))
    }

    /// Reduces a control statement of which at most the initialisation of a loop is kept to that initialisation and to
    /// a jump out of the statement if execution always leaves it by a jump. Returns false if other parts are kept, or if
    /// nothing has to stay.
    fn reduce(&mut self, statement: &Statement) -> bool {
        let Statement::Control { span, header, bodies } = statement else { return false };
        let first = self.initialisation(header).filter(|first| self.any(&self.code.kept, first));
        let rest = first.as_ref().map_or(header.start, |first| first.end)..header.end;
        let is_kept = |s: &Span| self.any(&self.code.kept, s);
        if is_kept(&rest) || bodies.iter().any(|s| is_kept(s.span())) || self.has_target(statement) {
            return false;
        }
        let end = self.end(statement);
        let start = match first {
            None if end.is_none() => return false,
            None => span.start,
            Some(first) => {
                let close = header.clone().rev().find(|&t| self.source.word(t) == ")").unwrap_or(header.end);
                self.cut(&(first.end..close), if end.is_none() { ";0;" } else { ";;" });
                header.end
            }
        };
        match end {
            Some(End::Jump(jump)) => {
                if let Statement::Jump(_) = jump {
                    self.visit(jump, true, true);
                }
                self.cut(&(start..jump.span().start), "");
                self.cut(&(jump.span().end..span.end), "");
            }
            Some(End::Never) if self.any(&self.code.ends, span) => self.cut(&(start..span.end), END),
            Some(End::Never) => self.cut(&(start..span.end), "for(;;);"),
            None => self.cut(&(start..span.end), ";"),
        }
        self.ended.insert(span.start);
        true
    }

    /// Replaces the condition of a statement by a constant if kept code in the statement does not depend on it. All
    /// values of the condition lead to that code then, and the condition may use values that are not in the slice.
    fn fix_condition(&mut self, header: &Span, bodies: &[Statement]) {
        let is_entered = |body: &Statement| {
            let inside = self.source.bytes(body.span());
            self.any(&self.code.kept, body.span())
                && self.next_of(header).any(|(_, next)| next.range(inside.clone()).next().is_some())
        };
        let entered: Vec<bool> = bodies.iter().map(is_entered).collect();
        if let Some(condition) = self.condition(header)
            && !self.any(&self.code.kept, &condition)
            && let [true] | [true, false] | [false, true] = entered[..]
        {
            self.cut(&condition, if entered[0] { "1" } else { "0" });
        }
    }

    /// Returns the tokens of the condition in a header of `if`, `while` or `for`, or after the body of `do`.
    fn condition(&self, header: &Span) -> Option<Span> {
        let open = header.start + 1;
        let close = self.source.closing(open).filter(|close| header.contains(close))?;
        match self.source.word(header.start) {
            "if" | "while" => Some(open + 1..close),
            "for" => {
                let mut ends = (open..close).filter(|&t| self.source.word(t) == ";");
                Some(ends.next()? + 1..ends.next()?)
            }
            _ => None,
        }
    }

    /// Returns the tokens of a header of `for` before the first semicolon. `None` for other headers.
    fn initialisation(&self, header: &Span) -> Option<Span> {
        let end = header.clone().find(|&t| self.source.word(t) == ";")?;
        (self.source.word(header.start) == "for").then_some(header.start..end)
    }

    /// Returns how execution ends in a control statement. `None` if the code after the statement may be executed next,
    /// or if the statement is never executed.
    fn end<'a>(&self, statement: &'a Statement) -> Option<End<'a>> {
        let Statement::Control { span, header, .. } = statement else { return None };
        let mut pending: Vec<usize> = self.next_of(header).map(|(at, _)| at).collect();
        if pending.is_empty() || self.source.word(span.start) == "do" {
            pending = self.next_of(span).map(|(at, _)| at).collect();
        }
        if pending.is_empty() {
            return None;
        }
        let mut own = BTreeSet::new();
        labels(statement, &mut |t| own.extend([self.source.word(t)]));
        let mut jumps = Vec::new();
        self.jumps(statement, Bound::default(), &own, &mut jumps);
        let (inside, after) = (self.source.bytes(span), self.bytes_after(span));
        let (mut seen, mut found) = (BTreeSet::new(), None);
        while let Some(at) = pending.pop() {
            if !seen.insert(at) {
                continue;
            }
            for next in self.code.next.get(&at).into_iter().flatten() {
                if inside.contains(next) {
                    pending.push(*next);
                    continue;
                }
                let jump = *jumps.iter().find(|jump| self.source.bytes(jump.span()).contains(&at))?;
                if matches!(jump, Statement::Plain(_)) && after.contains(next) {
                    return None;
                }
                found = Some(jump);
            }
        }
        Some(found.map_or(End::Never, End::Jump))
    }

    /// Adds the jumps in a statement that leave it, and the statements that may be macros with such jumps. `own` are
    /// the labels in the statement.
    fn jumps<'a>(&self, statement: &'a Statement, bound: Bound, own: &BTreeSet<&str>, found: &mut Vec<&'a Statement>) {
        match statement {
            Statement::Compound(_, all) => all.iter().for_each(|s| self.jumps(s, bound, own, found)),
            Statement::Control { span, bodies, .. } => {
                let bound = match self.source.word(span.start) {
                    "if" => bound,
                    "switch" => Bound { breaks: true, ..bound },
                    _ => Bound { breaks: true, continues: true },
                };
                bodies.iter().for_each(|s| self.jumps(s, bound, own, found));
            }
            Statement::Label { statement, .. } => self.jumps(statement, bound, own, found),
            Statement::Jump(span) => {
                let leaves = match self.source.word(span.start) {
                    "break" => !bound.breaks,
                    "continue" => !bound.continues,
                    "goto" => !own.contains(self.source.word(span.start + 1)),
                    _ => true,
                };
                if leaves {
                    found.push(statement);
                }
            }
            Statement::Plain(span) if self.may_be_macro(span) => found.push(statement),
            Statement::Declaration(_) | Statement::Plain(_) => {}
        }
    }

    /// Returns the bytes of the code that follows the visited statement with this span, with the ends of blocks before
    /// that code.
    fn bytes_after(&self, span: &Span) -> Range<usize> {
        self.source.bytes(&(span.end.min(self.follower.start)..self.follower.end))
    }

    /// Returns true if a statement may consist of a macro only: `NAME;` or `NAME(…);`, which is not a call of `NAME`.
    fn may_be_macro(&self, span: &Span) -> bool {
        span.len() > 1
            && self.source.tokens[span.start].kind == TokenKind::Word
            && ["(", ";"].contains(&self.source.word(span.start + 1))
            && !self.any(&self.code.calls, &(span.start..span.start + 1))
    }

    /// Returns true if a statement is a macro, and if execution never reaches the code that follows it, but other code.
    fn is_macro_jump(&self, span: &Span) -> bool {
        let (inside, after) = (self.source.bytes(span), self.bytes_after(span));
        let mut next = self.next_of(span).flat_map(|(_, next)| next).filter(|next| !inside.contains(next)).peekable();
        self.may_be_macro(span) && next.peek().is_some() && next.all(|next| !after.contains(next))
    }

    /// Returns true if code that must stay remains in a statement.
    fn holds(&self, statement: &Statement) -> bool {
        if self.ended.contains(&statement.span().start) {
            return true;
        }
        match statement {
            Statement::Plain(span) | Statement::Declaration(span) => self.any(&self.code.kept, span),
            Statement::Jump(span) => !self.is_cut(span.start),
            Statement::Compound(_, all) => all.iter().any(|s| self.holds(s)),
            Statement::Label { name, statement, .. } => {
                name.is_some_and(|t| self.targets.contains(self.source.word(t))) || self.holds(statement)
            }
            Statement::Control { header, bodies, .. } => {
                self.any(&self.code.kept, header) || bodies.iter().any(|s| self.holds(s))
            }
        }
    }

    /// Adds the positions of the code that remains in the parts of a statement that are executed.
    fn add_remaining(&self, statement: &Statement, found: &mut BTreeSet<usize>) {
        match statement {
            Statement::Compound(_, all) => all.iter().for_each(|s| self.add_remaining(s, found)),
            Statement::Label { statement, .. } => self.add_remaining(statement, found),
            Statement::Control { header, bodies, .. } => {
                self.add_uncut(header, found);
                bodies.iter().for_each(|s| self.add_remaining(s, found));
            }
            // The jump itself remains also where it is not in the slice.
            Statement::Jump(span) => self.add_uncut(&(span.start + 1..span.end), found),
            Statement::Plain(span) => self.add_uncut(span, found),
            Statement::Declaration(span) if self.any(&self.code.kept, span) => self.add_uncut(span, found),
            Statement::Declaration(_) => {}
        }
    }

    /// Adds the positions of code in a span that are not cut.
    fn add_uncut(&self, span: &Span, found: &mut BTreeSet<usize>) {
        let tokens = &self.source.tokens;
        let is_uncut = |at: &&usize| {
            let next = tokens.partition_point(|token| token.range.start <= **at);
            next > 0 && !self.is_cut(next - 1)
        };
        found.extend(self.code.all.range(self.source.bytes(span)).filter(is_uncut));
    }

    /// Cuts a span and puts a text at its start.
    fn cut(&mut self, span: &Span, with: &'static str) {
        if !span.is_empty() {
            self.gone[span.clone()].iter_mut().for_each(|n| *n += 1);
            self.cuts.push((span.clone(), with));
        }
    }
    /// Undoes all cuts except for the first `count`.
    fn uncut(&mut self, count: usize) {
        for (span, _) in self.cuts.drain(count..) {
            self.ended.remove(&span.start);
            self.gone[span].iter_mut().for_each(|n| *n -= 1);
        }
    }
    /// Returns true if a token is in a cut.
    fn is_cut(&self, token: usize) -> bool {
        self.gone[token] > 0
    }
    /// Adds the remaining words of a span to `names`.
    fn mention(&self, span: &Span, names: &mut BTreeSet<&'t str>) {
        let words = span.clone().filter(|&t| self.source.tokens[t].kind == TokenKind::Word && !self.is_cut(t));
        names.extend(words.map(|t| self.source.word(t)));
    }

    /// Returns the text with all cuts blanked. Directives and line ends stay. A text that is longer than the blanks at
    /// the start of its cut moves the rest of the line.
    fn apply(mut self) -> String {
        let mut bytes = self.source.text.as_bytes().to_vec();
        // The larger ranges come last, so that the texts at their starts are not blanked.
        self.cuts.sort_by_key(|(span, _)| span.len());
        let directives = &self.source.directives;
        let mut insertions: BTreeMap<usize, &str> = BTreeMap::new();
        for (span, with) in &self.cuts {
            let range = self.source.bytes(span);
            let mut at = range.start;
            let mut next = directives.partition_point(|d| d.end <= at);
            while at < range.end {
                if directives.get(next).is_some_and(|d| d.contains(&at)) {
                    at = directives[next].end;
                    next += 1;
                    continue;
                }
                if bytes[at] != b'\n' && bytes[at] != b'\r' {
                    bytes[at] = b' ';
                }
                at += 1;
            }
            let blanks = bytes[range.clone()].iter().take_while(|&&b| b == b' ').count();
            let room = blanks.min(with.len());
            bytes[range.start..range.start + room].copy_from_slice(&with.as_bytes()[..room]);
            let inside = |at: &usize| range.contains(at);
            insertions.retain(|at, _| !inside(at));
            if room < with.len() {
                insertions.insert(range.start + room, &with[room..]);
            }
        }
        for (at, text) in insertions.into_iter().rev() {
            bytes.splice(at..at, text.bytes());
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Returns the name of the macro that a directive defines, and the words of its definition.
fn definition(directive: &str) -> Option<(&str, Vec<&str>)> {
    let text = directive.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?;
    let source = Source::lexed(text);
    let mut words = source.words();
    Some((words.next()?, words.collect()))
}

/// Calls `found` for the token of each named label in a statement.
fn labels(statement: &Statement, found: &mut impl FnMut(usize)) {
    match statement {
        Statement::Compound(_, all) => all.iter().for_each(|s| labels(s, found)),
        Statement::Control { bodies, .. } => bodies.iter().for_each(|s| labels(s, found)),
        Statement::Label { name, statement, .. } => {
            name.iter().for_each(|&t| found(t));
            labels(statement, found);
        }
        Statement::Jump(_) | Statement::Declaration(_) | Statement::Plain(_) => {}
    }
}
