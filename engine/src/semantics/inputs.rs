//! Inputs of the program from models of path conditions.

use super::Execution;
use super::state::{Event, State};
use super::value::{ObjId, Val};
use cfa::interp::{Inputs, ObjectSeq};
use cfa::{Bv, ExprId, GlobalId};
use std::time::Duration;

/// Bounds on the sizes of objects in bytes, in the order in which they are tried. Every machine can allocate objects
/// within the first.
const MAX_OBJECT_SIZES: [u64; 2] = [1 << 20, 1 << 32];
/// The time in which the solver searches for a model with objects within one bound.
const SEARCH_TIME: Duration = Duration::from_millis(500);

/// A model of the path condition of `st` in which all objects are small, so that a machine can allocate them. Returns
/// `model` itself if its objects are small, or if the solver finds no such model in time.
pub fn model_with_small_objects(execution: &mut Execution<'_>, st: &State, model: smt::Model) -> smt::Model {
    let pointer_width = execution.program.layout.pointer_width;
    let sizes: Vec<ExprId> = st
        .memory
        .iter()
        .filter_map(|(_, object)| match object.size {
            Val::Expr(size) => Some(size),
            _ => None,
        })
        .collect();
    for most in MAX_OBJECT_SIZES.into_iter().filter(|most| pointer_width == 64 || *most < 1 << 32) {
        let most = execution.terms.constant(Bv::new(pointer_width, most));
        let mut fit = execution.terms.bool(true);
        for &size in &sizes {
            let fits = execution.terms.ule(size, most);
            fit = execution.terms.and(fit, fits);
        }
        if model.eval(&execution.terms, fit).is_true() {
            return model;
        }
        if let Some(other) = execution.solver.find(&mut execution.terms, &st.pc, fit, SEARCH_TIME) {
            return other;
        }
    }
    model
}

impl Execution<'_> {
    /// The inputs that make the program follow the path of `st`, from a model of its path condition.
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
                Event::Input { symbol, .. } => inputs.values.push(value(symbol)),
                Event::Decision(_) => {}
                // Forgotten content of a shadow is no input of the program.
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
