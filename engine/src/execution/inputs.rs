//! From models of path conditions to inputs of the program.

use super::Execution;
use super::state::{Event, State};
use super::value::ObjId;
use cfa::interp::{Inputs, ObjectSeq};
use cfa::{Bv, GlobalId};

impl Execution<'_> {
    /// Inputs that make the program take this path.
    pub fn inputs(&self, st: &State, model: &smt::Model) -> Inputs {
        let seq = |object: ObjId| match (object.0 as usize).checked_sub(self.program.globals.len()) {
            None => ObjectSeq::Global(GlobalId(object.0)),
            Some(n) => ObjectSeq::Alloc(n as u64),
        };
        let symbols = model.symbols(&self.terms);
        let value = |symbol: cfa::SymId| match symbols.get(&symbol) {
            Some(v) => v.clone(),
            None => Bv::zero(self.terms.symbol_sort(symbol).width()),
        };
        let mut inputs = Inputs::default();
        for event in st.trail.events(|cond| model.eval(&self.terms, cond).is_true()) {
            match event {
                Event::Input(symbol) => inputs.values.push(value(symbol)),
                Event::Decision(_) => {}
                // What is not known of a shadow any more is no input.
                Event::Unknown { object, .. } | Event::UnknownArray { object, .. } if object.is_shadow() => {}
                Event::Unknown { object, offset, len: _, symbol } => {
                    for (i, byte) in value(symbol).to_le_bytes().into_iter().enumerate() {
                        inputs.bytes.insert((seq(object), offset + i as u64), byte);
                    }
                }
                Event::UnknownArray { object, array } => {
                    if let Some(cfa::Value::Array(content)) = model.get(array) {
                        for (&index, element) in &content.entries {
                            let bytes = element.to_le_bytes();
                            for (i, &byte) in bytes.iter().enumerate() {
                                let at = index as u64 * bytes.len() as u64 + i as u64;
                                inputs.bytes.insert((seq(object), at), byte);
                            }
                        }
                    }
                }
                Event::Global { var, symbol } => {
                    inputs.globals.insert(var, value(symbol));
                }
            }
        }
        for (symbol, value) in &symbols {
            if let Some(object) = self.terms.bases.object(*symbol)
                && st.exposed.contains(&object)
            {
                inputs.bases.insert(seq(object), value.to_u64().expect("addresses have at most 64 bits"));
            }
        }
        inputs
    }
}
