//! How to verify: the analyses, their limits, and what is recorded for the user.

use crate::plan::Cooperation;
use std::path::PathBuf;
use std::time::Duration;

/// How a task is verified.
#[derive(Clone, Debug)]
pub struct Config {
    /// The configuration of the engine.
    pub engine: engine::Config,
    /// If a static slice is analysed: the control dependences that it respects.
    pub slicing: Option<slicer::Control>,
    /// The run ends at the first violation of anything that is asked.
    pub stops_at_first: bool,
    /// Wall time, after which the verdict is UNKNOWN. The default question has a limit of two minutes if none is given.
    pub timeout: Option<Duration>,
    /// Processor time of this process and its children, after which the verdict is UNKNOWN.
    pub cpu_limit: Option<Duration>,
    /// Bytes of resident memory, above which the verdict is UNKNOWN. The default is four fifths of the machine's memory.
    pub memory_limit: Option<u64>,
    /// A folder of verdicts on programs that were verified before.
    pub cache: Option<PathBuf>,
    /// Which paths are explored, and by whom.
    pub cooperation: Cooperation,
    /// What is recorded besides the report.
    pub records: Records,
}

/// What a run records besides its report. Each takes time.
#[derive(Clone, Copy, Default, Debug)]
pub struct Records {
    /// The inputs and the surroundings of the first violation, from which a native harness can be written.
    pub reproduction: bool,
    /// The program as an HTML report shows it.
    pub exhibits: bool,
    /// Invariants at loops of every proof, also where the proof does not need them.
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
