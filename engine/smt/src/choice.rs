//! Which solver answers.

use super::{Backend, Bitwuzla, Checked, Logged, Portfolio, Z3, logged};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Kind {
    /// Bitwuzla, faster on bit-vectors, floats and arrays (measured on our queries); where it takes long, integers and Z3 as well.
    #[default]
    Portfolio,
    Bitwuzla,
    Z3,
    /// Both, for every query; where they contradict one another, the answer is unknown.
    Both,
}

/// How solvers are made.
#[derive(Clone, Default, Debug)]
pub struct Choice {
    pub kind: Kind,
    /// Each query is written there as SMT-LIB, in a folder per solver made.
    pub dump: Option<PathBuf>,
}

/// Solvers made so far that write their queries.
static LOGGED: AtomicU32 = AtomicU32::new(0);

impl Choice {
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
