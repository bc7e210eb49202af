//! The lexer.

use super::{Error, Result_};

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Token<'t> {
    /// Letters, digits, `_` and `.`.
    Word(&'t str),
    /// The text between quotes, with its escapes.
    Text(&'t str),
    Sign(&'static str),
    End,
}

/// Longer signs come first.
const SIGNS: [&str; 37] = [
    "<=u", "<=s", ">>u", ">>s", ":=", "->", "/u", "/s", "%u", "%s", "<<", "==", "<u", "<s", "++", "(", ")", "[", "]",
    "{", "}", ",", ":", "?", "=", "@", "#", "&", "~", "-", "+", "*", "|", "^", ";", "<", ">",
];

pub(super) struct Lexer<'t> {
    text: &'t str,
    position: usize,
}

impl<'t> Lexer<'t> {
    pub fn new(text: &'t str) -> Self {
        Self { text, position: 0 }
    }

    /// The next token and its position.
    pub fn next(&mut self) -> Result_<(usize, Token<'t>)> {
        self.skip_space();
        let start = self.position;
        let rest = &self.text[start..];
        let bytes = rest.as_bytes();
        let Some(&first) = bytes.first() else { return Ok((start, Token::End)) };
        if is_word(first) {
            let len = bytes.iter().position(|b| !is_word(*b)).unwrap_or(bytes.len());
            self.position += len;
            return Ok((start, Token::Word(&rest[..len])));
        }
        if first == b'"' {
            return self.text(start);
        }
        match SIGNS.iter().find(|sign| sign.as_bytes()[0] == first && rest.starts_with(**sign)) {
            Some(sign) => {
                self.position += sign.len();
                Ok((start, Token::Sign(sign)))
            }
            None => {
                let first = rest.chars().next().unwrap_or_default();
                Err(Error { position: start, message: format!("unexpected {first:?}") })
            }
        }
    }

    fn text(&mut self, start: usize) -> Result_<(usize, Token<'t>)> {
        let content = &self.text[start + 1..];
        let mut escaped = false;
        for (i, byte) in content.bytes().enumerate() {
            match byte {
                b'"' if !escaped => {
                    self.position = start + 1 + i + 1;
                    return Ok((start, Token::Text(&content[..i])));
                }
                b'\n' => break,
                _ => escaped = byte == b'\\' && !escaped,
            }
        }
        Err(Error { position: start, message: "a string that does not end on its line".into() })
    }

    fn skip_space(&mut self) {
        loop {
            let rest = &self.text[self.position..];
            let text = rest.trim_start();
            self.position += rest.len() - text.len();
            if !text.starts_with("//") {
                return;
            }
            self.position += text.find('\n').unwrap_or(text.len());
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.'
}

/// Decodes the escapes of a string.
pub(super) fn unescape(raw: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next() {
            Some(b'n') => b'\n',
            Some(b @ (b'"' | b'\\')) => b,
            Some(b'x') => {
                let digit = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16));
                match (digit(rest.next()), digit(rest.next())) {
                    (Some(high), Some(low)) => (high << 4 | low) as u8,
                    _ => return Err("'\\x' takes two hexadecimal digits".into()),
                }
            }
            _ => return Err("unknown escape in a string".into()),
        });
    }
    Ok(bytes)
}
