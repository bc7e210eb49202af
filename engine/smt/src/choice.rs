//! The choice of a solver.

use super::{Backend, Bitwuzla, Checked, Logged, Portfolio, Z3, logged};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// The kinds of solvers.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Kind {
    /// Bitwuzla, which is the fastest on the bit-vectors, floats and arrays of our queries. Queries that take it long
    /// are also passed to integer arithmetic and Z3.
    #[default]
    Portfolio,
    /// Bitwuzla alone.
    Bitwuzla,
    /// Z3 alone.
    Z3,
    /// Both for every query. If they contradict one another, the answer is unknown.
    Both,
}

/// The configuration of solvers.
#[derive(Clone, Default, Debug)]
pub struct Choice {
    /// The kind of solver.
    pub kind: Kind,
    /// The folder in which each query is logged as SMT-LIB, with a subfolder for each solver.
    pub dump: Option<PathBuf>,
}

/// The number of logging solvers created so far.
static LOGGED: AtomicU32 = AtomicU32::new(0);

impl Choice {
    /// Creates a solver. If it cannot create its log folder, [`unwritten`](super::unwritten) returns the error.
    pub fn open(&self) -> Box<dyn Backend> {
        let solver: Box<dyn Backend> = match self.kind {
            Kind::Portfolio => Box::new(Portfolio::new()),
            Kind::Bitwuzla => Box::new(Bitwuzla::new()),
            Kind::Z3 => Box::new(Z3::new()),
            Kind::Both => Box::new(Checked::new(Bitwuzla::new(), Z3::new())),
        };
        let Some(folder) = &self.dump else { return solver };
        let folder = folder.join(format!("{:03}", LOGGED.fetch_add(1, Ordering::Relaxed)));
        match Logged::new(solver, &folder) {
            Ok(logged) => Box::new(logged),
            Err(error) => {
                logged::fail(folder, error);
                self.kind_only().open()
            }
        }
    }

    fn kind_only(&self) -> Self {
        Self { kind: self.kind, dump: None }
    }
}
