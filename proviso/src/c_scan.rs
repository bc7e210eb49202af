//! Finds the statements of a C file by their punctuation, without types and without preprocessing. The result may be
//! wrong; the compiler then detects it (see `blank`).

use std::ops::Range;

/// A token: no comment, white space or preprocessor directive.
#[derive(Clone, Debug)]
pub struct Token {
    /// The bytes of the token in the text.
    pub range: Range<usize>,
    /// The kind of the token.
    pub kind: TokenKind,
}

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenKind {
    /// An identifier or a keyword.
    Word,
    /// A number, a string or a character.
    Literal,
    /// Another character. An operator that ends with `=` has the character before it, and `==` is `~`.
    Punct(u8),
}

/// A range of token indices.
pub type Span = Range<usize>;

/// A statement of a function.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `{ … }`
    Compound(Span, Vec<Statement>),
    /// `if`, `while`, `for`, `switch`, `do`: the header with the condition, and the controlled statements.
    Control {
        /// The tokens of the whole statement.
        span: Span,
        /// The tokens of the keyword and the condition; of `do`, those after the body.
        header: Span,
        /// The controlled statements: one, or two of `if` with `else`.
        bodies: Vec<Statement>,
    },
    /// `name:`, `case …:`, `default:` and the statement after it.
    Label {
        /// The tokens of the label and the statement.
        span: Span,
        /// The index of the name; `None` for `case` and `default`.
        name: Option<usize>,
        /// The statement after the label; empty at the end of a block.
        statement: Box<Statement>,
    },
    /// `break`, `continue`, `goto`, `return`.
    Jump(Span),
    /// A declaration of variables or types.
    Declaration(Span),
    /// Any other statement.
    Plain(Span),
}

impl Statement {
    /// Returns the tokens of the statement.
    pub fn span(&self) -> &Span {
        match self {
            Self::Compound(span, _) | Self::Jump(span) | Self::Declaration(span) | Self::Plain(span) => span,
            Self::Control { span, .. } | Self::Label { span, .. } => span,
        }
    }
}

/// A definition or declaration at the outermost level of a file.
#[derive(Clone, Debug)]
pub enum Item {
    /// A function definition.
    Function {
        /// The tokens of the whole definition.
        span: Span,
        /// The index of the function's name.
        name: usize,
        /// The body, a compound statement.
        body: Statement,
    },
    /// A declaration of variables and nothing else.
    Variables {
        /// The tokens of the declaration.
        span: Span,
        /// The indices of the variables' names.
        names: Vec<usize>,
    },
    /// Any other item.
    Other(Span),
}

impl Item {
    /// Returns the tokens of the item.
    pub fn span(&self) -> &Span {
        match self {
            Self::Function { span, .. } | Self::Variables { span, .. } | Self::Other(span) => span,
        }
    }
}

/// The text of a C file with its tokens and items.
pub struct Source<'t> {
    /// The text.
    pub text: &'t str,
    /// The tokens in the order of the text.
    pub tokens: Vec<Token>,
    /// The preprocessor directives, as byte ranges.
    pub directives: Vec<Range<usize>>,
    /// The items in the order of the text; empty for a piece of a file.
    pub items: Vec<Item>,
}

impl<'t> Source<'t> {
    /// Scans a whole file.
    pub fn new(text: &'t str) -> Self {
        let (tokens, directives) = tokens(text);
        let mut source = Self { text, tokens, directives, items: Vec::new() };
        source.items = source.parse_items();
        source
    }

    /// Scans the tokens of a piece of a file, without its items.
    pub fn lexed(text: &'t str) -> Self {
        let (tokens, directives) = tokens(text);
        Self { text, tokens, directives, items: Vec::new() }
    }

    /// Returns the identifiers and keywords, in the order of the text.
    pub fn words(&self) -> impl Iterator<Item = &'t str> + '_ {
        (0..self.tokens.len()).filter(|&t| self.is_word(t)).map(|t| self.word(t))
    }
    /// Returns the text of a token; empty if there is no such token.
    pub fn word(&self, token: usize) -> &'t str {
        self.tokens.get(token).map_or("", |t| &self.text[t.range.clone()])
    }
    /// Returns the bytes of a range of tokens.
    pub fn bytes(&self, span: &Span) -> Range<usize> {
        if span.is_empty() {
            return 0..0;
        }
        self.tokens[span.start].range.start..self.tokens[span.end - 1].range.end
    }
    fn is(&self, token: usize, punct: u8) -> bool {
        self.tokens.get(token).is_some_and(|t| t.kind == TokenKind::Punct(punct))
    }
    fn is_word(&self, token: usize) -> bool {
        self.tokens.get(token).is_some_and(|t| t.kind == TokenKind::Word)
    }

    /// Returns the index of the parenthesis that closes the one at `open`; `None` if there is none at `open` or it is
    /// not closed.
    pub fn closing(&self, open: usize) -> Option<usize> {
        let close = self.behind(open).checked_sub(1)?;
        (self.is(open, b'(') && self.is(close, b')')).then_some(close)
    }

    /// Returns the index of the parenthesis that the one at `close` closes; `None` if there is none.
    pub fn opening(&self, close: usize) -> Option<usize> {
        if self.is(close, b')') { self.opening_of(close) } else { None }
    }

    /// Returns the index of the bracket that the one at `close` closes, which is `)` or `]`; `None` if there is none.
    pub fn opening_of(&self, close: usize) -> Option<usize> {
        let mut depth = 0usize;
        (0..=close).rev().find(|&i| {
            depth += usize::from(self.is(i, b')') || self.is(i, b']'));
            let opens = self.is(i, b'(') || self.is(i, b'[');
            depth = depth.saturating_sub(usize::from(opens));
            opens && depth == 0
        })
    }

    /// Returns the index of the token after the bracket that closes the one at `open`.
    fn behind(&self, open: usize) -> usize {
        let mut depth = 0usize;
        for i in open..self.tokens.len() {
            match self.tokens[i].kind {
                TokenKind::Punct(b'(' | b'[' | b'{') => depth += 1,
                TokenKind::Punct(b')' | b']' | b'}') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return i + 1;
                    }
                }
                _ => {}
            }
        }
        self.tokens.len()
    }

    fn parse_items(&self) -> Vec<Item> {
        let mut items = Vec::new();
        let mut at = 0;
        while at < self.tokens.len() {
            let item = self.item(at);
            at = item.span().end.max(at + 1);
            items.push(item);
        }
        items
    }

    fn item(&self, start: usize) -> Item {
        let mut at = start;
        let mut name = None;
        let mut initialised = false;
        let mut braces = false;
        while at < self.tokens.len() {
            match self.tokens[at].kind {
                TokenKind::Punct(b';') => {
                    at += 1;
                    // In old C, the parameters are declared after the parameter list.
                    if name.is_some() && !initialised && self.is_old_parameter_list(start, at) {
                        continue;
                    }
                    return self.simple_item(start..at, braces);
                }
                TokenKind::Punct(b'(') => {
                    if name.is_none()
                        && !initialised
                        && at > start
                        && self.is_word(at - 1)
                        && !is_attribute(self.word(at - 1))
                    {
                        name = Some(at - 1);
                    }
                    at = self.behind(at);
                }
                TokenKind::Punct(b'{') => {
                    let end = self.behind(at);
                    if let (Some(name), false) = (name, initialised) {
                        let body = Statement::Compound(at..end, self.statements(at + 1, end.saturating_sub(1)));
                        return Item::Function { span: start..end, name, body };
                    }
                    braces |= !initialised;
                    at = end;
                }
                TokenKind::Punct(b'=') => {
                    initialised = true;
                    at += 1;
                }
                TokenKind::Punct(b'[') => at = self.behind(at),
                _ => at += 1,
            }
        }
        Item::Other(start..self.tokens.len())
    }

    /// Returns true if the tokens up to a `;` are declarations between the parameter list and the body of a function.
    fn is_old_parameter_list(&self, start: usize, end: usize) -> bool {
        let Some(open) = (start..end).find(|&i| self.is(i, b'(')) else { return false };
        let behind = self.behind(open);
        // A prototype ends after its parameter list, or attributes follow.
        if !self.is_word(behind)
            || is_attribute(self.word(behind))
            || matches!(self.word(behind), "asm" | "__asm__" | "__asm")
        {
            return false;
        }
        // Only declarations precede the brace of the body.
        let mut at = end;
        while at < self.tokens.len() && !self.is(at, b'{') {
            if !self.is_word(at)
                && !matches!(self.tokens[at].kind, TokenKind::Punct(b';' | b',' | b'*' | b'[' | b']' | b'(' | b')'))
            {
                return false;
            }
            at += 1;
        }
        at < self.tokens.len()
    }

    fn simple_item(&self, span: Span, braces: bool) -> Item {
        let words: Vec<&str> = span.clone().filter(|&i| self.is_word(i)).map(|i| self.word(i)).collect();
        let keeps = ["typedef", "extern", "_Static_assert", "asm", "__asm__"];
        let names = self.declared(&span);
        let is_function =
            (span.start..span.end).any(|i| self.is(i, b'(')) && !(span.start..span.end).any(|i| self.is(i, b'='));
        if braces || is_function || names.is_empty() || words.iter().any(|w| keeps.contains(w)) {
            return Item::Other(span);
        }
        Item::Variables { span, names }
    }

    /// Returns the token indices of the names that a declaration seems to declare.
    pub fn declared(&self, span: &Span) -> Vec<usize> {
        let mut names = Vec::new();
        let mut at = span.start;
        let mut in_value = false;
        while at < span.end {
            match self.tokens[at].kind {
                TokenKind::Punct(b'=') => in_value = true,
                TokenKind::Punct(b',') => in_value = false,
                TokenKind::Punct(b'{') => {
                    at = self.behind(at);
                    continue;
                }
                TokenKind::Punct(b'(' | b'[') if in_value => {
                    at = self.behind(at);
                    continue;
                }
                TokenKind::Word if !in_value => {
                    let next = self.tokens.get(at + 1).map(|t| t.kind);
                    if matches!(next, Some(TokenKind::Punct(b'=' | b'[' | b',' | b';' | b')'))) {
                        names.push(at);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        names
    }

    /// Returns the initializers of a declaration, each from its `=` on.
    pub fn initialisers(&self, span: &Span) -> Vec<Span> {
        let mut found = Vec::new();
        let mut at = span.start;
        while at < span.end {
            match self.tokens[at].kind {
                TokenKind::Punct(b'=') => {
                    let start = at;
                    while at < span.end && !self.is(at, b',') && !self.is(at, b';') {
                        at = match self.tokens[at].kind {
                            TokenKind::Punct(b'(' | b'[' | b'{') => self.behind(at),
                            _ => at + 1,
                        };
                    }
                    found.push(start..at.min(span.end));
                }
                TokenKind::Punct(b'(' | b'[' | b'{') => at = self.behind(at),
                _ => at += 1,
            }
        }
        found
    }

    fn statements(&self, start: usize, end: usize) -> Vec<Statement> {
        let mut all = Vec::new();
        let mut at = start;
        while at < end {
            let statement = self.statement(at, end);
            at = statement.span().end.max(at + 1);
            all.push(statement);
        }
        all
    }

    fn statement(&self, start: usize, end: usize) -> Statement {
        if self.is(start, b'{') {
            let close = self.behind(start).min(end);
            return Statement::Compound(start..close, self.statements(start + 1, close.saturating_sub(1)));
        }
        let control = |header: Span, at: usize| {
            let body = self.statement(at, end);
            Statement::Control { span: start..body.span().end.max(at), header, bodies: vec![body] }
        };
        match self.word(start) {
            "if" if self.is(start + 1, b'(') => {
                let at = self.behind(start + 1);
                let then = self.statement(at, end);
                let mut stop = then.span().end.max(at);
                let mut bodies = vec![then];
                if stop < end && self.word(stop) == "else" {
                    let other = self.statement(stop + 1, end);
                    stop = other.span().end.max(stop + 1);
                    bodies.push(other);
                }
                Statement::Control { span: start..stop, header: start..at, bodies }
            }
            "while" | "for" | "switch" if self.is(start + 1, b'(') => {
                let at = self.behind(start + 1);
                control(start..at, at)
            }
            "do" => {
                let body = self.statement(start + 1, end);
                let tail = body.span().end.max(start + 1);
                let stop = self.end_of_simple(tail, end);
                Statement::Control { span: start..stop, header: tail..stop, bodies: vec![body] }
            }
            "case" | "default" => {
                let mut colon = start + 1;
                while colon < end && !self.is(colon, b':') {
                    colon = if self.is(colon, b'(') { self.behind(colon) } else { colon + 1 };
                }
                self.label(start, None, colon + 1, end)
            }
            "break" | "continue" | "goto" | "return" => Statement::Jump(start..self.end_of_simple(start, end)),
            _ if self.is_word(start) && self.is(start + 1, b':') && !self.is(start + 2, b':') => {
                self.label(start, Some(start), start + 2, end)
            }
            // A macro call before a block is treated as a loop.
            word if self.is_word(start)
                && self.is(start + 1, b'(')
                && self.is(self.behind(start + 1), b'{')
                && !is_type(word) =>
            {
                let at = self.behind(start + 1);
                control(start..at, at)
            }
            _ => {
                let stop = self.end_of_simple(start, end);
                if self.is_declaration(start, stop) {
                    Statement::Declaration(start..stop)
                } else {
                    Statement::Plain(start..stop)
                }
            }
        }
    }

    fn label(&self, start: usize, name: Option<usize>, at: usize, end: usize) -> Statement {
        let statement = if at < end && !self.is(at, b'}') {
            self.statement(at, end)
        } else {
            Statement::Plain(at.min(end)..at.min(end))
        };
        Statement::Label { span: start..statement.span().end.max(at.min(end)), name, statement: Box::new(statement) }
    }

    /// Returns the index of the token after the `;` that ends the statement at `start`.
    fn end_of_simple(&self, start: usize, end: usize) -> usize {
        let mut at = start;
        while at < end {
            match self.tokens[at].kind {
                TokenKind::Punct(b';') => return at + 1,
                TokenKind::Punct(b'(' | b'[' | b'{') => at = self.behind(at),
                _ => at += 1,
            }
        }
        end
    }

    fn is_declaration(&self, start: usize, end: usize) -> bool {
        if !self.is_word(start) {
            return false;
        }
        if is_type(self.word(start)) {
            return true;
        }
        // A declaration is `name name`, or `name * name` if a token follows that may follow a declarator.
        let mut at = start + 1;
        let mut stars = false;
        while self.is(at, b'*') {
            stars = true;
            at += 1;
        }
        let follows =
            matches!(self.tokens.get(at + 1).map(|t| t.kind), Some(TokenKind::Punct(b'=' | b';' | b',' | b'[')));
        at < end && self.is_word(at) && self.word(at) != "else" && (!stars || follows)
    }
}

fn is_attribute(word: &str) -> bool {
    matches!(
        word,
        "__attribute__"
            | "__attribute"
            | "__declspec"
            | "_Alignas"
            | "__asm__"
            | "asm"
            | "__extension__"
            | "typeof"
            | "__typeof__"
    )
}

/// The words that make up the name of a type without a tag.
const TYPE_SPECIFIERS: &str = "void char short int long float double signed unsigned _Bool const volatile __int128 \
                               __int128_t __uint128_t";

/// The other words that a declaration may begin with.
const DECLARATION_WORDS: &str = "bool struct union enum static register auto extern typedef inline __const __volatile__ \
                                 __extension__ _Complex typeof __typeof__ size_t";

/// Returns true if the word is part of the name of a type without a tag.
pub fn is_type_specifier(word: &str) -> bool {
    TYPE_SPECIFIERS.split_whitespace().any(|w| w == word)
}

fn is_type(word: &str) -> bool {
    is_type_specifier(word) || DECLARATION_WORDS.split_whitespace().any(|w| w == word)
}

fn tokens(text: &str) -> (Vec<Token>, Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let (mut tokens, mut directives) = (Vec::new(), Vec::new());
    let mut at = 0;
    let mut line_start = true;
    while at < bytes.len() {
        let start = at;
        let next = bytes.get(at + 1).copied();
        match bytes[at] {
            b'\n' => {
                line_start = true;
                at += 1;
                continue;
            }
            b' ' | b'\t' | b'\r' | 11 | 12 => {
                at += 1;
                continue;
            }
            b'\\' if next == Some(b'\n') => {
                at += 2;
                continue;
            }
            b'/' if next == Some(b'*') => {
                at = text[at + 2..].find("*/").map_or(bytes.len(), |n| at + 2 + n + 2);
                continue;
            }
            b'/' if next == Some(b'/') => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                continue;
            }
            b'#' if line_start => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    if bytes[at] == b'/' && bytes.get(at + 1) == Some(&b'*') {
                        at = text[at + 2..].find("*/").map_or(bytes.len(), |n| at + 2 + n + 2);
                    } else {
                        at += if bytes[at] == b'\\' { 2 } else { 1 };
                    }
                }
                at = at.min(bytes.len());
                directives.push(start..at);
                continue;
            }
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote && bytes[at] != b'\n' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(bytes.len());
                tokens.push(Token { range: start..at, kind: TokenKind::Literal });
            }
            c if c.is_ascii_alphabetic() || c == b'_' || c == b'$' || c >= 0x80 => {
                while at < bytes.len()
                    && (bytes[at].is_ascii_alphanumeric() || matches!(bytes[at], b'_' | b'$') || bytes[at] >= 0x80)
                {
                    at += 1;
                }
                tokens.push(Token { range: start..at, kind: TokenKind::Word });
            }
            c if c.is_ascii_digit() || (c == b'.' && next.is_some_and(|n| n.is_ascii_digit())) => {
                while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || matches!(bytes[at], b'_' | b'.')) {
                    let exponent = matches!(bytes[at], b'e' | b'E' | b'p' | b'P');
                    at += 1;
                    if exponent && matches!(bytes.get(at), Some(b'+' | b'-')) {
                        at += 1;
                    }
                }
                tokens.push(Token { range: start..at, kind: TokenKind::Literal });
            }
            // In such an operator, the `=` does not begin an initializer.
            c @ (b'=' | b'!' | b'<' | b'>' | b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^')
                if next == Some(b'=') =>
            {
                at += 2;
                tokens.push(Token { range: start..at, kind: TokenKind::Punct(if c == b'=' { b'~' } else { c }) });
            }
            c => {
                at += 1;
                tokens.push(Token { range: start..at, kind: TokenKind::Punct(c) });
            }
        }
        line_start = false;
    }
    for token in &mut tokens {
        token.range.end = token.range.end.min(text.len());
    }
    (tokens, directives)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(source: &Source, statement: &Statement) -> String {
        let inner = |all: &[Statement]| all.iter().map(|s| shape(source, s)).collect::<String>();
        match statement {
            Statement::Compound(_, all) => format!("{{{}}}", inner(all)),
            Statement::Control { header, bodies, .. } => format!("{}({})", source.word(header.start), inner(bodies)),
            Statement::Label { statement, .. } => format!("l:{}", shape(source, statement)),
            Statement::Jump(span) => source.word(span.start)[..1].to_owned(),
            Statement::Declaration(_) => "D".into(),
            Statement::Plain(_) => ";".into(),
        }
    }

    #[test]
    fn statements_are_found() {
        let text = "#define M {\nint g = 3, h[2] = {1, 2}; struct s { int x; };\n\
            static int f(int a) { /* } */ char *p = \"}\"; if (a) g(); else { b = ')'; }\n\
            for (int i = 0; i < 3; i++) x += i; do { y(); } while (a); again: if (x) goto again;\n\
            switch (a) { case 1: z(); break; default: ; } s_t *q = 0; a * b == c; return a; }\n\
            old(x) int x; { return x; }\nint proto(int);";
        let source = Source::new(text);
        let kinds: Vec<String> = source
            .items
            .iter()
            .map(|item| match item {
                Item::Function { name, body, .. } => format!("{} {}", source.word(*name), shape(&source, body)),
                Item::Variables { names, .. } => names.iter().map(|&n| source.word(n)).collect::<Vec<_>>().join(","),
                Item::Other(_) => "-".into(),
            })
            .collect();
        let f = "f {Dif(;{;})for(;)while({;})l:if(g)switch({l:;bl:;})D;r}";
        assert_eq!(kinds, ["g,h", "-", f, "old {r}", "-"]);
    }
}
