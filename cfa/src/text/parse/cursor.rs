//! The token stream of the parser.

use super::lexer::{Lexer, Token, unescape};
use super::{Error, Result_};

/// The maximal width of a bit-vector in a text: a megabyte.
const MAX_WIDTH: u32 = 1 << 23;

/// A position in a text, before a token.
pub(super) struct Cursor<'t> {
    lexer: Lexer<'t>,
    /// The next token and its position.
    pub token: Token<'t>,
    pub start: usize,
}

impl<'t> Cursor<'t> {
    /// Starts before the first token. Call [`advance`](Self::advance) once to read it.
    pub fn new(text: &'t str) -> Self {
        Self { lexer: Lexer::new(text), token: Token::End, start: 0 }
    }
    pub fn error(&self, message: impl Into<String>) -> Error {
        Error { position: self.start, message: message.into() }
    }
    pub fn expected(&self, what: &str) -> Error {
        let found = match self.token {
            Token::Word(word) => format!("'{word}'"),
            Token::Text(_) => "a string".to_owned(),
            Token::Sign(sign) => format!("'{sign}'"),
            Token::End => "the end of the text".to_owned(),
        };
        self.error(format!("expected {what}, found {found}"))
    }
    pub fn advance(&mut self) -> Result_<Token<'t>> {
        let token = self.token;
        (self.start, self.token) = self.lexer.next()?;
        Ok(token)
    }
    pub fn is(&self, sign: &str) -> bool {
        matches!(self.token, Token::Sign(next) if next == sign)
    }
    /// Consumes the sign if it is next. Returns whether it was.
    pub fn accept(&mut self, sign: &str) -> Result_<bool> {
        let found = self.is(sign);
        if found {
            self.advance()?;
        }
        Ok(found)
    }
    pub fn expect(&mut self, sign: &str) -> Result_<()> {
        if self.accept(sign)? { Ok(()) } else { Err(self.expected(&format!("'{sign}'"))) }
    }
    /// Consumes the word if it is next. Returns whether it was.
    pub fn accept_word(&mut self, word: &str) -> Result_<bool> {
        let found = matches!(self.token, Token::Word(next) if next == word);
        if found {
            self.advance()?;
        }
        Ok(found)
    }
    pub fn keyword(&mut self, word: &str) -> Result_<()> {
        if self.accept_word(word)? { Ok(()) } else { Err(self.expected(&format!("'{word}'"))) }
    }
    pub fn word(&mut self, what: &str) -> Result_<&'t str> {
        match self.token {
            Token::Word(word) => {
                self.advance()?;
                Ok(word)
            }
            _ => Err(self.expected(what)),
        }
    }
    /// Parses a decimal number.
    pub fn number<N: std::str::FromStr>(&mut self) -> Result_<N> {
        match self.token {
            Token::Word(word) if word.bytes().all(|b| b.is_ascii_digit()) => {
                let number = word.parse().map_err(|_| self.error(format!("the number {word} is too large")))?;
                self.advance()?;
                Ok(number)
            }
            _ => Err(self.expected("a number")),
        }
    }
    /// Parses the width of a bit-vector.
    pub fn width(&mut self) -> Result_<u32> {
        let start = self.start;
        let width = self.number()?;
        self.checked_width(width, start)
    }
    pub fn checked_width(&self, width: u32, position: usize) -> Result_<u32> {
        if (1..=MAX_WIDTH).contains(&width) {
            Ok(width)
        } else {
            Err(Error { position, message: format!("a width of {width} bits; 1 to {MAX_WIDTH} are possible") })
        }
    }
    pub fn bytes(&mut self) -> Result_<Vec<u8>> {
        match self.token {
            Token::Text(raw) => {
                let bytes = unescape(raw).map_err(|message| self.error(message))?;
                self.advance()?;
                Ok(bytes)
            }
            _ => Err(self.expected("a string")),
        }
    }
    pub fn string(&mut self) -> Result_<String> {
        let start = self.start;
        String::from_utf8(self.bytes()?)
            .map_err(|_| Error { position: start, message: "a name that is not UTF-8".into() })
    }
    pub fn optional_string(&mut self) -> Result_<Option<String>> {
        if let Token::Text(_) = self.token { self.string().map(Some) } else { Ok(None) }
    }

    pub fn id(&mut self, prefix: &str) -> Result_<u32> {
        if let Token::Word(word) = self.token
            && let Some(id) = id_in(word, prefix)
        {
            self.advance()?;
            return Ok(id);
        }
        Err(self.expected(&format!("an id {prefix}0, {prefix}1, …")))
    }
    /// Parses the id of a declaration, which must be the next id of its table.
    pub fn declared(&mut self, prefix: &str, next: usize) -> Result_<()> {
        let start = self.start;
        let id = self.id(prefix)?;
        if id as usize == next {
            Ok(())
        } else {
            Err(Error { position: start, message: format!("expected {prefix}{next}, found {prefix}{id}") })
        }
    }
    pub fn signed(&mut self) -> Result_<bool> {
        let start = self.start;
        match self.word("'signed' or 'unsigned'")? {
            "signed" => Ok(true),
            "unsigned" => Ok(false),
            other => {
                Err(Error { position: start, message: format!("expected 'signed' or 'unsigned', found '{other}'") })
            }
        }
    }

    /// Parses a number that may be negative.
    pub fn integer(&mut self) -> Result_<i64> {
        let start = self.start;
        let negative = self.accept("-")?;
        let magnitude: u64 = self.number()?;
        let value = if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() };
        value.ok_or(Error { position: start, message: "the number is too large".into() })
    }

    pub fn at_digit(&self) -> bool {
        matches!(self.token, Token::Word(word) if word.starts_with(|c: char| c.is_ascii_digit()))
    }
}

/// The number in a word `prefix<number>` or `name.prefix<number>`.
pub(super) fn id_in(word: &str, prefix: &str) -> Option<u32> {
    let id = word.rsplit('.').next()?.strip_prefix(prefix)?;
    // Accepts only the printed form.
    let plain = id == "0" || !id.starts_with(['0', '+']);
    if plain { id.parse().ok() } else { None }
}
