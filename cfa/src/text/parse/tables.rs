//! Parsed entities by id, and parse errors.

use super::*;

/// An error with its byte position in the text.
pub(super) struct Error {
    pub(super) position: usize,
    pub(super) message: String,
}

impl Error {
    pub(super) fn placed(self, text: &str) -> ParseError {
        let before = &text[..self.position];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        ParseError {
            line: before.bytes().filter(|b| *b == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: self.message,
        }
    }
}

pub(super) type Result_<T> = std::result::Result<T, Error>;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    File,
    Type,
    Input,
    Taint,
    Error,
    Var,
    Global,
    Func,
    Loc,
    Place,
}

impl Kind {
    pub(super) const ALL: [(Self, &'static str); 10] = [
        (Self::File, "file"),
        (Self::Type, "ty"),
        (Self::Input, "in"),
        (Self::Taint, "taint"),
        (Self::Error, "err"),
        (Self::Var, "v"),
        (Self::Global, "g"),
        (Self::Func, "f"),
        (Self::Loc, "l"),
        (Self::Place, "p"),
    ];
    pub(super) fn prefix(self) -> &'static str {
        crate::text::name_of(&Self::ALL, self)
    }
}

/// Parsed items by id in any order, before they become a table.
pub(super) struct Collected<I, T> {
    pub(super) items: FxHashMap<u32, T>,
    id: std::marker::PhantomData<I>,
}

impl<I: Id, T> Collected<I, T> {
    pub(super) fn new() -> Self {
        Self { items: FxHashMap::default(), id: std::marker::PhantomData }
    }
    pub(super) fn insert(&mut self, prefix: &str, id: u32, item: T, position: usize) -> Result_<()> {
        match self.items.insert(id, item) {
            None => Ok(()),
            Some(_) => Err(Error { position, message: format!("{prefix}{id} is declared twice") }),
        }
    }
    pub(super) fn table(mut self, prefix: &str, end: usize) -> Result_<Table<I, T>> {
        (0..self.items.len() as u32)
            .map(|id| {
                let message = || format!("{prefix}{id} is not declared");
                self.items.remove(&id).ok_or_else(|| Error { position: end, message: message() })
            })
            .collect::<Result_<Vec<T>>>()
            .map(Table::from_iter)
    }
}
