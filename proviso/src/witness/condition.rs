//! The check of conditions in witnesses. A condition from another tool becomes part of the program, so it must be an
//! expression without side effects. A condition that ends an execution, changes a variable or hides the code after it
//! could make a witness prove anything.

use crate::c_scan::{Source, Token, TokenKind, is_type_specifier};

/// Returns the reason why a text must not be added to a program as a condition. Returns `None` if it may be added.
/// `is_type` returns true for names that the program defines as types.
pub fn objection(text: &str, is_type: &dyn Fn(&str) -> bool) -> Option<&'static str> {
    if ["/*", "//", "<%", "%>", "<:", ":>", "%:", "??"].iter().any(|hidden| text.contains(hidden)) {
        return Some("has a comment or a digraph");
    }
    let source = Source::lexed(text);
    let tokens = &source.tokens;
    if !source.directives.is_empty() || !tokens.iter().all(|t| is_closed(&text[t.range.clone()])) {
        return Some("has a literal that does not end");
    }
    if !is_balanced(tokens) {
        return Some("has brackets that do not match");
    }
    let has_effect = (0..tokens.len()).any(|i| changes(&source, i) || is_call(&source, i, is_type));
    has_effect.then_some("is no expression without effects")
}

/// Returns true unless the token starts with a quote and does not end with the same quote.
fn is_closed(token: &str) -> bool {
    let Some(quote @ ('"' | '\'')) = token.chars().next() else { return true };
    let mut rest = token[1..].chars();
    while let Some(c) = rest.next() {
        if c == '\\' {
            rest.next();
        } else if c == quote {
            return rest.next().is_none();
        }
    }
    false
}

/// Returns true if the parentheses and square brackets match.
fn is_balanced(tokens: &[Token]) -> bool {
    let mut open = Vec::new();
    tokens.iter().all(|t| match t.kind {
        TokenKind::Punct(b @ (b'(' | b'[')) => {
            open.push(b);
            true
        }
        TokenKind::Punct(b')') => open.pop() == Some(b'('),
        TokenKind::Punct(b']') => open.pop() == Some(b'['),
        _ => true,
    }) && open.is_empty()
}

/// Returns true if the token assigns or cannot be part of an expression.
fn changes(source: &Source<'_>, i: usize) -> bool {
    let token = &source.tokens[i];
    let TokenKind::Punct(c) = token.kind else { return false };
    let text = source.word(i);
    let next = source.tokens.get(i + 1).filter(|n| n.range.start == token.range.end && n.kind == TokenKind::Punct(c));
    match text {
        // The lexer splits `<<=` and `>>=` into two tokens, the second of which is `<=` or `>=`. A space between the
        // two is not valid C.
        "<" | ">" => source.word(i + 1) == format!("{text}="),
        "+" | "-" => next.is_some(),
        "==" | "!=" | "<=" | ">=" => false,
        // `\result` was replaced by a variable before this check.
        "\\" | "`" | "@" => true,
        _ => text.ends_with('=') || matches!(c, b'{' | b'}' | b';' | b'#'),
    }
}

/// Returns true if the token is the opening parenthesis of a call.
fn is_call(source: &Source<'_>, i: usize, is_type: &dyn Fn(&str) -> bool) -> bool {
    if source.tokens[i].kind != TokenKind::Punct(b'(') || i == 0 {
        return false;
    }
    match source.tokens[i - 1].kind {
        TokenKind::Word => !matches!(source.word(i - 1), "sizeof" | "_Alignof" | "__alignof__"),
        TokenKind::Punct(b']') | TokenKind::Literal => true,
        // `(int)(x)` is a cast, and `(f)(x)` is a call.
        TokenKind::Punct(b')') => {
            let open = source.opening(i - 1).unwrap_or(i - 1);
            let measured = open > 0 && matches!(source.word(open - 1), "sizeof" | "_Alignof" | "__alignof__");
            measured || !is_type_name(source, open + 1..i - 1, is_type)
        }
        _ => false,
    }
}

/// Returns true if the tokens are the name of a type: type specifiers, a tag or a known name, with stars.
fn is_type_name(source: &Source<'_>, span: std::ops::Range<usize>, is_type: &dyn Fn(&str) -> bool) -> bool {
    let mut words = span.clone().filter(|&i| source.tokens[i].kind == TokenKind::Word).peekable();
    let only_words = span.clone().all(|i| matches!(source.tokens[i].kind, TokenKind::Word | TokenKind::Punct(b'*')));
    let mut after_tag = false;
    only_words
        && words.peek().is_some()
        && words.all(|i| {
            let word = source.word(i);
            let tag = std::mem::replace(&mut after_tag, matches!(word, "struct" | "union" | "enum"));
            tag || after_tag || is_type_specifier(word) || is_type(word)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_pass_and_all_else_does_not() {
        let is_type = |name: &str| name == "size_t";
        for fine in [
            "x == 1",
            "(long long)(x + 1) <= 7LL && !(y > -(1 - 2))",
            "(unsigned int)(a[i].f) != p->next->value",
            "*(char *)p == '\\'' || c == '\"'",
            "(size_t)(n) >= sizeof(x) && (struct s *)(p) == 0",
            "x << 1 < 5 && x >> 2 <= 3 && (x ? 1 : 2)",
            "((a) - (b)) * (c) == 4",
        ] {
            assert_eq!(objection(fine, &is_type), None, "{fine}");
        }
        for wrong in [
            "(exit)(0), 1",
            "exit(0)",
            "t[0](1)",
            "(*f)(1)",
            "sizeof(x)(1)",
            "1 /* ",
            "1 // ",
            "1) || (1",
            "x = 1",
            "x <<= 1",
            "x |= 1",
            "x++ > 0",
            "1 ? \"",
            "c == 'a",
            "({ x; })",
            "x; y",
            "<% x",
            "1 \\",
            "n[(1)]) + (m[0]",
        ] {
            assert!(objection(wrong, &is_type).is_some(), "{wrong}");
        }
    }
}
