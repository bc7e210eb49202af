//! The tokens, statements and items of a C file, without preprocessing. tree-sitter's grammar of C finds the statements.
//! Macros may hide the structure of a program from it. An edit that relies on a wrong structure does not compile (see
//! `blank`).

use std::ops::{Deref, Range};
use std::sync::Arc;
use tree_sitter::{Node, Parser};

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

    /// Returns the statement with `next` as the statement that it controls.
    fn controls(self, next: Self) -> Self {
        let (span, header, mut bodies) = match self {
            Self::Control { span, header, mut bodies } => {
                bodies.pop();
                (span, header, bodies)
            }
            other => (other.span().clone(), other.span().clone(), Vec::new()),
        };
        let span = span.start..next.span().end;
        bodies.push(next);
        Self::Control { span, header, bodies }
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

/// The tokens and items of a C file.
#[derive(Default)]
pub struct Structure {
    /// The tokens in the order of the text.
    pub tokens: Vec<Token>,
    /// The preprocessor directives, as byte ranges.
    pub directives: Vec<Range<usize>>,
    /// The items in the order of the text; empty for a piece of a file.
    pub items: Vec<Item>,
}

/// The text of a C file with its tokens and items. Copies share them.
#[derive(Clone)]
pub struct Source<'t> {
    /// The text.
    pub text: &'t str,
    structure: Arc<Structure>,
}

impl Deref for Source<'_> {
    type Target = Structure;

    fn deref(&self) -> &Structure {
        &self.structure
    }
}

impl<'t> Source<'t> {
    /// Scans a whole file. Takes about 200 ms a megabyte, so keep the [structure](Self::structure) of a file that is
    /// needed again.
    pub fn new(text: &'t str) -> Self {
        let source = Self::lexed(text);
        let items = source.parse_items();
        let Structure { tokens, directives, .. } = Arc::into_inner(source.structure).unwrap_or_default();
        Self { text, structure: Arc::new(Structure { tokens, directives, items }) }
    }

    /// Scans the tokens of a piece of a file, without its items.
    pub fn lexed(text: &'t str) -> Self {
        let (tokens, directives) = tokens(text);
        Self { text, structure: Arc::new(Structure { tokens, directives, items: Vec::new() }) }
    }

    /// The text with the structure that an earlier scan of it found.
    pub fn scanned(text: &'t str, structure: Arc<Structure>) -> Self {
        Self { text, structure }
    }

    /// Returns the structure, for a later [`scanned`](Self::scanned).
    pub fn structure(&self) -> Arc<Structure> {
        self.structure.clone()
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

    /// Returns the text without macros that end prototypes, such as `NORETURN` in `void f(int) NORETURN;`. The grammar
    /// takes the declarations after them for those of parameters. The other text keeps its position.
    fn for_grammar(&self) -> Vec<u8> {
        let mut text = self.text.as_bytes().to_vec();
        let mut depth = 0usize;
        for t in 0..self.tokens.len() {
            depth += usize::from(self.is(t, b'{'));
            depth = depth.saturating_sub(usize::from(self.is(t, b'}')));
            if depth == 0 && self.is_word(t) && self.is(t + 1, b';') && self.ends_prototype(t) {
                text[self.tokens[t].range.clone()].fill(b' ');
            }
        }
        text
    }

    /// Returns true if the parameter list of a function ends before a token.
    fn ends_prototype(&self, token: usize) -> bool {
        let name = token.checked_sub(1).and_then(|close| self.opening(close)?.checked_sub(1));
        let is_function = |name: &str| !is_attribute(name) && !name.starts_with('_');
        name.is_some_and(|name| self.is_word(name) && is_function(self.word(name)))
    }

    /// Returns the items of the file. Each token belongs to one item.
    fn parse_items(&self) -> Vec<Item> {
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_c::LANGUAGE.into()).expect("the grammar has the version of the parser");
        let tree = parser.parse(self.for_grammar(), None).expect("the parser has a language and no time limit");
        let mut found = Vec::new();
        self.add_items(tree.root_node(), &mut found);
        let mut items = Vec::new();
        let mut at = 0;
        for item in found {
            if at < item.span().start {
                items.push(Item::Other(at..item.span().start));
            }
            at = item.span().end;
            items.push(item);
        }
        if at < self.tokens.len() {
            items.push(Item::Other(at..self.tokens.len()));
        }
        items
    }

    /// Adds the items below a node, which is the whole file or a conditional part of it.
    fn add_items(&self, node: Node, items: &mut Vec<Item>) {
        for child in node.children(&mut node.walk()) {
            let span = self.span(&child);
            let item = match child.kind() {
                _ if is_transparent(&child) => {
                    self.add_items(child, items);
                    continue;
                }
                _ if span.is_empty() || !child.is_named() => continue,
                "function_definition" => child.child_by_field_name("body").and_then(|b| self.function(span.start, b)),
                // The grammar does not know the macros of the program. If its head has one, a function may be an
                // unknown head and a block.
                "compound_statement" => self.function(self.head(span.start, items), child),
                "declaration" => {
                    let defined = child.child_by_field_name("type").and_then(|t| t.child_by_field_name("body"));
                    defined.is_none().then(|| self.variables(span.clone())).flatten()
                }
                _ => None,
            };
            let item = item.unwrap_or(Item::Other(span));
            items.retain(|before| before.span().end <= item.span().start);
            items.push(item);
        }
    }

    /// Returns the first token of the head of a function whose body starts at a token. `items` are those before it.
    fn head(&self, body: usize, items: &[Item]) -> usize {
        let is_end = |&t: &usize| self.is(t, b';') || self.is(t, b'}');
        if body.checked_sub(1).is_some_and(|t| self.is(t, b';')) {
            // In old C, the parameters are declared after the parameter list.
            let list = |item: &&Item| item.span().clone().any(|t| self.is(t, b'('));
            return items.iter().rev().find(list).map_or(body, |item| item.span().start);
        }
        (0..body).rev().find(is_end).map_or(0, |t| t + 1)
    }

    /// Returns the function whose definition starts at a token. Returns `None` if it has no parameter list.
    fn function(&self, start: usize, body: Node) -> Option<Item> {
        let inner = self.span(&body);
        let head = start..inner.start;
        // `(name)(…)` prevents the expansion of a macro `name`.
        let is_enclosed =
            |&t: &usize| t > start && self.is(t - 1, b'(') && self.is(t + 1, b')') && self.is(t + 2, b'(');
        let is_called = |&t: &usize| !is_attribute(self.word(t)) && self.is(t + 1, b'(');
        let words = head.filter(|&t| self.is_word(t));
        let name = words.clone().find(is_enclosed).or_else(|| words.clone().find(is_called))?;
        Some(Item::Function { span: start..inner.end, name, body: self.block(body) })
    }

    /// Returns the tokens of a node. The semicolon after the definition of a type, a node of its own, is one of them.
    fn span(&self, node: &Node) -> Span {
        let at = |byte: usize| self.tokens.partition_point(|t| t.range.start < byte);
        let (start, end) = (at(node.start_byte()), at(node.end_byte()));
        let is_type = matches!(node.kind(), "struct_specifier" | "union_specifier" | "enum_specifier");
        start..end + usize::from(is_type && self.is(end, b';'))
    }

    /// Returns the item of a declaration without the definition of a type. Returns `None` if it declares other names
    /// than those of variables.
    fn variables(&self, span: Span) -> Option<Item> {
        let keeps = ["typedef", "extern", "_Static_assert", "asm", "__asm__"];
        let names = self.declared(&span);
        let is_function = span.clone().any(|t| self.is(t, b'(')) && !span.clone().any(|t| self.is(t, b'='));
        let is_kept = span.clone().any(|t| keeps.contains(&self.word(t)));
        (!is_function && !is_kept && !names.is_empty()).then_some(Item::Variables { span, names })
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

    /// Returns the statement that a block is.
    fn block(&self, node: Node) -> Statement {
        let span = self.span(&node);
        let end = span.end - usize::from(self.is(span.end - 1, b'}'));
        let mut found = Vec::new();
        self.add_statements(node, &mut found);
        let inner = self.complete(found, span.start + 1..end.max(span.start + 1));
        Statement::Compound(span, inner)
    }

    /// Adds the statements below a node, which is a block or a conditional part of it.
    fn add_statements(&self, node: Node, found: &mut Vec<Statement>) {
        for child in node.children(&mut node.walk()) {
            if is_transparent(&child) {
                self.add_statements(child, found);
            } else if let Some(statement) = self.statement(child) {
                found.push(statement);
                if child.kind() == "case_statement" {
                    // The node also has the statements after the first one.
                    let mut rest = Vec::new();
                    self.add_statements(child, &mut rest);
                    found.extend(rest.into_iter().skip(1));
                }
            }
        }
    }

    /// Returns statements that cover all tokens of `inner`, given those that the grammar knows.
    ///
    /// A statement without its semicolon, as the call of a macro, controls the next statement.
    fn complete(&self, found: Vec<Statement>, inner: Span) -> Vec<Statement> {
        let mut all = Vec::new();
        let mut at = inner.start;
        for statement in found {
            let span = statement.span();
            if span.is_empty() || span.start < at {
                continue;
            }
            if at < span.start {
                all.push(Statement::Plain(at..span.start));
            }
            at = span.end;
            all.push(statement);
        }
        if at < inner.end {
            all.push(Statement::Plain(at..inner.end));
        }
        let mut done: Vec<Statement> = Vec::new();
        for statement in all.into_iter().rev() {
            let statement = match done.pop_if(|_| self.is_open(&statement)) {
                Some(next) => statement.controls(next),
                None => statement,
            };
            done.push(statement);
        }
        done.reverse();
        done
    }

    /// Returns true if the statement lacks its end, or the statement that it controls.
    fn is_open(&self, statement: &Statement) -> bool {
        match statement {
            Statement::Plain(span) => !self.is(span.end - 1, b';') && !self.is(span.end - 1, b'}'),
            Statement::Control { bodies, .. } => bodies.last().is_some_and(|body| body.span().is_empty()),
            _ => false,
        }
    }

    /// Returns the statement at a node. Returns `None` if the node is no statement.
    fn statement(&self, node: Node) -> Option<Statement> {
        let span = self.span(&node);
        let field = |name: &str| node.child_by_field_name(name);
        let control = |bodies: Vec<Statement>| {
            let header = span.start..bodies.first().map_or(span.end, |body| body.span().start);
            Some(Statement::Control { span: span.clone(), header, bodies })
        };
        match node.kind() {
            "compound_statement" => Some(self.block(node)),
            "if_statement" => {
                let otherwise =
                    field("alternative").and_then(|clause| clause.named_children(&mut clause.walk()).last());
                let bodies = [field("consequence"), otherwise];
                control(bodies.into_iter().flatten().map(|body| self.controlled(body, span.end)).collect())
            }
            // A function in a block is the call of a macro before a block.
            "function_definition" | "while_statement" | "for_statement" | "switch_statement" => control(vec![
                field("body").map_or(Statement::Plain(span.end..span.end), |b| self.controlled(b, span.end)),
            ]),
            "do_statement" => {
                let body = self.controlled(field("body")?, span.end);
                let header = body.span().end..span.end;
                Some(Statement::Control { span, header, bodies: vec![body] })
            }
            "case_statement" | "labeled_statement" => {
                let inner = node.named_children(&mut node.walk()).find_map(|child| self.statement(child));
                let inner = inner.unwrap_or(Statement::Plain(span.end..span.end));
                let end = if inner.span().is_empty() { span.end } else { inner.span().end };
                let name = (node.kind() == "labeled_statement").then_some(span.start);
                Some(Statement::Label { span: span.start..end, name, statement: Box::new(inner) })
            }
            "break_statement" | "continue_statement" | "goto_statement" | "return_statement" => {
                Some(Statement::Jump(span))
            }
            // `EACH(x) call();` reads like the declaration of a function with a type that a macro names.
            "declaration" if self.is(span.start + 1, b'(') && self.is(span.end - 2, b')') => {
                Some(Statement::Plain(span))
            }
            "declaration" | "type_definition" | "struct_specifier" | "union_specifier" | "enum_specifier" => {
                Some(Statement::Declaration(span))
            }
            kind => kind.ends_with("_statement").then_some(Statement::Plain(span)),
        }
    }

    /// Returns the statement at a node that another statement controls. It is empty at the token `end` if the grammar
    /// found none.
    fn controlled(&self, node: Node, end: usize) -> Statement {
        let found = self.statement(node).filter(|statement| !statement.span().is_empty());
        found.unwrap_or(Statement::Plain(end..end))
    }
}

/// Returns true if the parts of a node belong to what is around it: conditional text, and text that is not in the
/// grammar.
fn is_transparent(node: &Node) -> bool {
    node.is_error() || ["preproc_if", "preproc_el"].iter().any(|kind| node.kind().starts_with(kind))
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

/// Returns true if the word is part of the name of a type without a tag.
pub fn is_type_specifier(word: &str) -> bool {
    TYPE_SPECIFIERS.split_whitespace().any(|w| w == word)
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

    /// Returns the items of a text: the names of functions and variables, and the shapes of bodies.
    fn items(text: &str) -> Vec<String> {
        let source = Source::new(text);
        let item = |item: &Item| match item {
            Item::Function { name, body, .. } => format!("{} {}", source.word(*name), shape(&source, body)),
            Item::Variables { names, .. } => names.iter().map(|&n| source.word(n)).collect::<Vec<_>>().join(","),
            Item::Other(_) => "-".into(),
        };
        source.items.iter().map(item).collect()
    }

    #[test]
    fn statements_are_found() {
        let text = "#define M {\nint g = 3, h[2] = {1, 2}; struct s { int x; };\n\
            static int f(int a) { /* } */ char *p = \"}\"; if (a) g(); else { b = ')'; }\n\
            for (int i = 0; i < 3; i++) x += i; do { y(); } while (a); again: if (x) goto again;\n\
            switch (a) { case 1: z(); break; default: ; } s_t *q = 0; a * b == c; return a; }\n\
            old(x) int x; { return x; }\nint proto(int);";
        let f = "f {Dif(;{;})for(;)while({;})l:if(g)switch({l:;bl:;})D;r}";
        assert_eq!(items(text), ["g,h", "-", f, "old {r}", "-"]);
    }
    #[test]
    fn prototypes_may_end_with_macros() {
        let text = "Char *name;\nInt32 factor;\n\nstatic void panic ( const Char* ) NORETURN;\n\
            static void ioError ( void ) NORETURN;\nstatic void clean ( Int32 ) NORETURN;\n\
            static void eof ( void ) NORETURN;\n\nstatic void copy ( Char*, Char* );\nstatic void* allocate ( Int32 );\n\
            typedef\n   struct { int b[8]; }\n   T;\n\nstatic\nvoid from ( T* n ) { n->b[7] = 1; }\n";
        let named: Vec<String> = items(text).into_iter().filter(|item| item != "-").collect();
        assert_eq!(named, ["name", "factor", "from {;}"]);
    }

    #[test]
    fn statements_are_found_between_macros() {
        let text = "API type_t f (int x) { FOREACH(i, x) { g(); } EACH(x) h(); BEGIN { case 'a': h(); } END;\n\
            CASE(y) W(z) { h(); }\n\
            if (x)\n#ifdef A\n{ a(); }\n#else\n{ b(); }\n#endif\n#if B\nreturn 1;\n#endif\n}\n\
            API int g(int); LIST(int, x) { struct s { int x; }; if (x) return 2; }";
        let f = "f {FOREACH({;});BEGIN({l:;});CASE({;})if({;}){;}r}";
        assert_eq!(items(text), [f, "-", "LIST {Dif(r)}"]);
    }
}
