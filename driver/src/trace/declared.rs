//! Variables that the program declares and no file defines: what they hold when it starts.

use cfa::interp::{Inputs, ObjectSeq};
use cfa::{Bv, Program, VarKind};
use frontend_llvm::LIBRARY_VARIABLES;
use std::collections::BTreeMap;

/// Bytes that are shown at once.
const WORD: u64 = 4;
/// Words of a variable that are shown.
const MAX_WORDS: usize = 8;
/// Bytes of a variable of which no file says how large it is, unless some that are not zero lie behind.
const OPEN: u64 = 4096;
/// So large are only those.
const UNKNOWN: u64 = 1 << 26;
/// Variables that are larger are not given.
const MAX_SIZE: u64 = 1 << 20;

/// What such a variable holds at first.
#[derive(Clone, PartialEq, Debug)]
pub struct Declared {
    pub name: String,
    /// Bytes; of a variable whose size no file says as many as matter.
    pub size: u64,
    /// It is a number or a pointer, whose address nobody takes.
    pub is_scalar: bool,
    /// Bytes by their offset; others are zero.
    pub bytes: BTreeMap<u64, u8>,
}

impl Declared {
    /// Whether the C library has it.
    pub fn is_of_library(&self) -> bool {
        LIBRARY_VARIABLES.contains(&self.name.as_str())
    }

    /// Whether a file linked to the program can define it so.
    pub fn can_be_defined(&self) -> bool {
        let is_identifier = self.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        is_identifier && !self.is_of_library() && self.size <= MAX_SIZE
    }

    /// What is not zero, in C where it is one number: `n = 5`, `s<bytes 4..8> = 7`.
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

/// What is assumed of all such variables, if there are any.
pub fn assumption(program: &Program) -> Option<String> {
    let objects = program.globals.values().filter(|g| g.init.is_none()).map(|g| g.name.as_str());
    let of_vars = program.vars.values().filter(|v| matches!(v.kind, VarKind::Global { init: None }));
    let mut names: Vec<&str> = objects.chain(of_vars.filter_map(|v| v.name.as_deref())).collect();
    names.retain(|name| !LIBRARY_VARIABLES.contains(name));
    names.sort_unstable();
    (!names.is_empty()).then(|| format!("variables that nobody defines hold any values at first: {}", names.join(", ")))
}

/// What they hold in a run on these inputs.
pub fn of(program: &Program, inputs: &Inputs) -> Vec<Declared> {
    let mut all = Vec::new();
    for (id, global) in program.globals.iter().filter(|(_, g)| g.init.is_none()) {
        let object = ObjectSeq::Global(id);
        let within = inputs.bytes.range((object, 0)..(object, global.size));
        let bytes: BTreeMap<u64, u8> = within.map(|(&(_, at), &byte)| (at, byte)).filter(|(_, b)| *b != 0).collect();
        let used = bytes.last_key_value().map_or(0, |(at, _)| at + 1);
        let size = if global.size >= UNKNOWN { used.max(OPEN) } else { global.size };
        all.push(Declared { name: global.name.clone(), size, is_scalar: false, bytes });
    }
    for (id, var) in program.vars.iter().filter(|(_, v)| matches!(v.kind, VarKind::Global { init: None })) {
        let Some(name) = &var.name else { continue };
        let value = inputs.globals.get(&id).map(Bv::to_le_bytes).unwrap_or_default();
        let bytes = (0..).zip(value).filter(|(_, b)| *b != 0).collect();
        all.push(Declared { name: name.clone(), size: u64::from(var.width.div_ceil(8)), is_scalar: true, bytes });
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}
