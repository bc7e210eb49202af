//! The checks for data races and deadlocks.

use cfa::{Check, ErrorInfo, Op, Program};

/// The function of the models that blocks forever, in a program with a single thread.
const BLOCKS: &str = "proviso_block";

/// Adds the error for data races or deadlocks. If the program starts threads, the error has no edge: the interpreter
/// detects it. A program with a single thread has no race; a call of [`BLOCKS`] is its deadlock.
pub fn threads(program: &mut Program, check: Check, message: &str) {
    let blocks = program.func_by_name(BLOCKS).filter(|_| check == Check::Deadlock);
    let is_threaded = program.starts_threads();
    if !is_threaded && blocks.is_none() {
        return;
    }
    let error = program.errors.push(ErrorInfo { check, message: message.into(), place: None });
    if let Some(func) = blocks.filter(|_| !is_threaded) {
        let (entry, sink) = (program.add_location(func), program.add_location(func));
        program.add_edge(entry, Op::Error(error), sink, None);
        program.funcs[func].entry = entry;
    }
}
