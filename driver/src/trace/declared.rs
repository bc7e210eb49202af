//! Variables that the program declares but no file defines, with their initial values.

use cfa::interp::{Inputs, ObjectSeq};
use cfa::{Bv, Program, VarKind};
use frontend_llvm::LIBRARY_VARIABLES;
use std::collections::BTreeMap;

/// The number of bytes that are shown as one number.
const WORD: u64 = 4;
/// The maximum number of words of a variable that are shown.
const MAX_WORDS: usize = 8;
/// The minimum size in bytes that is assumed for a variable of unknown size.
const OPEN: u64 = 4096;
/// The minimum size in bytes of variables in the program whose size no file states. All other variables are smaller.
const UNKNOWN: u64 = 1 << 26;
/// The maximum size in bytes of a variable that a test harness defines.
const MAX_SIZE: u64 = 1 << 20;

/// The initial value of a variable that no file defines.
#[derive(Clone, PartialEq, Debug)]
pub struct Declared {
    /// The name of the variable.
    pub name: String,
    /// The size in bytes. If no file states the size, it is large enough for all bytes that are not 0.
    pub size: u64,
    /// True if the variable is a number or a pointer and its address is not taken.
    pub is_scalar: bool,
    /// The bytes by offset. All other bytes are 0.
    pub bytes: BTreeMap<u64, u8>,
}

impl Declared {
    /// Returns true if the C library defines the variable.
    pub fn is_of_library(&self) -> bool {
        LIBRARY_VARIABLES.contains(&self.name.as_str())
    }

    /// Returns true if a file that is linked to the program can define the variable with this value.
    pub fn can_be_defined(&self) -> bool {
        let is_identifier = self.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        is_identifier && !self.is_of_library() && self.size <= MAX_SIZE
    }

    /// Returns the value of the variable as text. A number is an equation such as `n = 5`. For any other variable, the
    /// text lists the words that are not 0, such as `s<bytes 4..8> = 7`.
    pub fn shown(&self) -> String {
        let word = |at: u64, size: u64| {
            let bytes: Vec<u8> = (at..at + size).map(|at| self.bytes.get(&at).copied().unwrap_or(0)).collect();
            Bv::from_le_bytes(&bytes).to_i64().unwrap_or(0)
        };
        if matches!(self.size, 1 | 2 | 4) || self.size == 8 && self.is_scalar {
            return format!("{} = {}", self.name, word(0, self.size));
        }
        let mut words: Vec<u64> = self.bytes.iter().filter(|(_, b)| **b != 0).map(|(at, _)| at / WORD).collect();
        words.dedup();
        let shown = words.iter().take(MAX_WORDS).map(|n| {
            let at = n * WORD;
            format!("{}<bytes {at}..{}> = {}", self.name, at + WORD, word(at, WORD))
        });
        let mut shown: Vec<String> = shown.collect();
        match words.len() {
            0 => shown.push(format!("{} = 0", self.name)),
            n if n > MAX_WORDS => shown.push("…".into()),
            _ => {}
        }
        shown.join(", ")
    }
}

/// Returns the assumption about the variables that no file defines. `None` if there are none, apart from those of the C
/// library.
pub fn assumption(program: &Program) -> Option<String> {
    let objects = program.globals.values().filter(|g| g.init.is_none()).map(|g| g.name.as_str());
    let of_vars = program.vars.values().filter(|v| matches!(v.kind, VarKind::Global { init: None, .. }));
    let mut names: Vec<&str> = objects.chain(of_vars.filter_map(|v| v.name.as_deref())).collect();
    names.retain(|name| !LIBRARY_VARIABLES.contains(name));
    names.sort_unstable();
    (!names.is_empty()).then(|| format!("undefined variables have any initial values: {}", names.join(", ")))
}

/// Returns the initial values of these variables in a run on the inputs, in the order of their names.
pub fn initial_values(program: &Program, inputs: &Inputs) -> Vec<Declared> {
    let mut all = Vec::new();
    for (id, global) in program.globals.iter().filter(|(_, g)| g.init.is_none()) {
        let object = ObjectSeq::Global(id);
        let within = inputs.bytes.range((object, 0)..(object, global.size));
        let bytes: BTreeMap<u64, u8> = within.map(|(&(_, at), &byte)| (at, byte)).filter(|(_, b)| *b != 0).collect();
        let used = bytes.last_key_value().map_or(0, |(at, _)| at + 1);
        let size = if global.size >= UNKNOWN { used.max(OPEN) } else { global.size };
        all.push(Declared { name: global.name.clone(), size, is_scalar: false, bytes });
    }
    for (id, var) in program.vars.iter().filter(|(_, v)| matches!(v.kind, VarKind::Global { init: None, .. })) {
        let Some(name) = &var.name else { continue };
        let value = inputs.globals.get(&id).map(Bv::to_le_bytes).unwrap_or_default();
        let bytes = (0..).zip(value).filter(|(_, b)| *b != 0).collect();
        all.push(Declared { name: name.clone(), size: u64::from(var.width.div_ceil(8)), is_scalar: true, bytes });
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}
