//! The configuration of a verification: the analyses, their limits, and the records for the user.

use crate::plan::Cooperation;
use std::path::PathBuf;
use std::time::Duration;

/// The configuration of a verification.
#[derive(Clone, Debug)]
pub struct Config {
    /// The configuration of the engine.
    pub engine: engine::Config,
    /// The control dependences that a slice respects, if a static slice is analysed.
    pub slicing: Option<slicer::Control>,
    /// True if the run ends at the first violation of any question.
    pub stops_at_first: bool,
    /// The wall time after which the verdict is UNKNOWN; 0 means no limit. The default is two minutes, or no limit if
    /// the processor time is limited.
    pub timeout: Option<Duration>,
    /// The processor time of this process and its children after which the verdict is UNKNOWN.
    pub cpu_limit: Option<Duration>,
    /// The resident memory in bytes above which the verdict is UNKNOWN. The default is four fifths of the machine's
    /// memory.
    pub memory_limit: Option<u64>,
    /// The folder of the cache, which holds verdicts on programs that were verified before.
    pub cache: Option<PathBuf>,
    /// The choice of the explored paths and of the analyses that explore them.
    pub cooperation: Cooperation,
    /// The records that are made besides the report.
    pub records: Records,
}

/// The records of a run besides its report. Each takes time.
#[derive(Clone, Copy, Default, Debug)]
pub struct Records {
    /// True if the inputs and the environment of the first violation are recorded. A native harness can be written from
    /// them.
    pub reproduction: bool,
    /// True if the program is recorded for an HTML report.
    pub report_data: bool,
    /// True if loop invariants are recorded for every proof, even if the proof does not need them.
    pub invariants: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            engine: engine::Config::default(),
            slicing: Some(slicer::Control::Standard),
            stops_at_first: false,
            timeout: None,
            cpu_limit: None,
            memory_limit: None,
            cache: None,
            cooperation: Cooperation::default(),
            records: Records::default(),
        }
    }
}
