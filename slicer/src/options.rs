//! The options of slicing.

use crate::control::Control;
use crate::pointer;
use cfa::FuncId;
use std::time::Instant;

/// The options of slicing.
#[derive(Clone, Debug)]
pub struct Options {
    /// The options of the points-to analysis.
    pub points_to: pointer::Options,
    /// If set, edges that under-approximate the original program are criteria as well. A proof of the slice is then a
    /// proof of the program.
    pub keep_under_approximations: bool,
    /// The notion of control dependence.
    pub control: Control,
    /// If set, a path ends where it can no longer reach a criterion, as if an assumption failed. This preserves the
    /// properties of the criteria, but not whether and how the program ends otherwise.
    pub cut_off: bool,
    /// If set, the slice omits optional assumptions (`cfa::Program::relax`), so it may reach a criterion that the
    /// original does not reach. Requires standard control dependence.
    pub omit_assumptions: bool,
    /// Functions whose whole body is in the slice if any of it is.
    pub preserved: Vec<FuncId>,
    /// Functions whose calls are atomic, because another body of them will be executed. A call in the slice has all its
    /// arguments, and all memory that the function may read has its original content.
    pub atomic: Vec<FuncId>,
    /// The maximal number of (call, memory cell) pairs in the dependence graph. Beyond it, the most expensive cells are
    /// no longer followed through calls.
    pub budget: usize,
    /// The time at which slicing gives up.
    pub deadline: Option<Instant>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            points_to: pointer::Options::default(),
            keep_under_approximations: true,
            control: Control::default(),
            cut_off: true,
            omit_assumptions: false,
            preserved: Vec::new(),
            atomic: Vec::new(),
            budget: 4_000_000,
            deadline: None,
        }
    }
}
