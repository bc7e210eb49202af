//! A solver that logs its queries to files.

use super::{Answer, Cores, Models, Solver, smtlib};
use crate::budget::Budget;
use cfa::{ExprId, ExprPool, Value};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The first query that could not be written, with the error.
static FAILED: Mutex<Option<(PathBuf, io::Error)>> = Mutex::new(None);

/// The path and error of the first query that could not be written since the last call.
pub fn unwritten() -> Option<(PathBuf, io::Error)> {
    FAILED.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Records that a query was not written. The log serves debugging, so a full disk must not change a verdict.
pub(crate) fn fail(path: PathBuf, error: io::Error) {
    FAILED.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((path, error));
}

/// Writes every query of `S` into a folder as `000001.smt2` and so on, with the answer and time as `set-info`.
pub struct Logged<S> {
    inner: S,
    folder: PathBuf,
    queries: u32,
    scopes: Vec<Vec<ExprId>>,
}

impl<S: Solver> Logged<S> {
    /// Creates the folder if it does not exist.
    pub fn new(inner: S, folder: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        Ok(Self { inner, folder: folder.into(), queries: 0, scopes: vec![Vec::new()] })
    }

    fn write(&mut self, pool: &ExprPool, assumptions: &[ExprId], status: &str) {
        let formulas: Vec<_> = self.scopes.iter().flatten().chain(assumptions).copied().collect();
        let text = format!("(set-info :status {status})\n{}", smtlib::script(pool, &formulas));
        let path = self.folder.join(format!("{:06}.smt2", self.queries));
        if let Err(error) = std::fs::write(&path, text) {
            fail(path, error);
        }
    }
}

impl<S: Solver> Solver for Logged<S> {
    fn name(&self) -> &'static str {
        self.inner.name()
    }
    fn push(&mut self) {
        self.scopes.push(Vec::new());
        self.inner.push();
    }
    fn pop(&mut self, n: u32) {
        self.scopes.truncate(self.scopes.len() - n as usize);
        self.inner.pop(n);
    }
    fn assert(&mut self, pool: &ExprPool, e: ExprId) {
        self.scopes.last_mut().expect("never empty").push(e);
        self.inner.assert(pool, e);
    }
    fn check(&mut self, pool: &ExprPool, assumptions: &[ExprId], budget: &Budget) -> Answer {
        self.queries += 1;
        let answer = self.inner.check(pool, assumptions, budget);
        let status = match answer {
            Answer::Sat => "sat",
            Answer::Unsat => "unsat",
            Answer::Unknown(_) => "unknown",
        };
        self.write(pool, assumptions, status);
        answer
    }
    fn reset(&mut self) {
        self.scopes = vec![Vec::new()];
        self.inner.reset();
    }
}

impl<S: Models> Models for Logged<S> {
    fn leaf_value(&mut self, pool: &ExprPool, leaf: ExprId) -> Value {
        self.inner.leaf_value(pool, leaf)
    }
}

impl<S: Cores> Cores for Logged<S> {
    fn unsat_core(&mut self) -> Vec<ExprId> {
        self.inner.unsat_core()
    }
}
