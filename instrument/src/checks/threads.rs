//! What threads do to each other: data races and deadlocks.

use cfa::{Check, ErrorInfo, Op, Program};

/// The function of the models that blocks for ever, in a program of one thread.
const BLOCKS: &str = "proviso_block";

/// Makes an error of data races or of deadlocks. They have no place in a program that starts threads: who runs it looks for the error. A
/// program of one thread has no race, and a deadlock where it waits for what nobody else can do.
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
