//! The part of a harness that enforces a schedule of threads.
//!
//! The compiler inserts calls before accesses to memory, with the instrumentation of coverage and of ThreadSanitizer.
//! The harness defines the called functions. They let one thread run at a time, in the order of the schedule.

use driver::trace::Schedule;
use driver::trace::schedule::{Ending, Reached};
use std::fmt::Write;

/// The functions that enforce the schedule.
const RUNTIME: &str = include_str!("schedule.c");

/// The options with which clang inserts these calls. Coverage instruments loads and stores, because ThreadSanitizer
/// omits members of local variables. ThreadSanitizer instruments all other accesses. The options are passed to the
/// compiler proper (`-Xclang`), not to its driver. So clang does not link ThreadSanitizer, and permits another
/// sanitizer and 32-bit targets.
pub(super) const OPTIONS: [&str; 13] = [
    "-Xclang",
    "-fsanitize=thread",
    "-mllvm",
    "-tsan-instrument-memory-accesses=0",
    "-Xclang",
    "-fsanitize-coverage-type=1",
    "-Xclang",
    "-fsanitize-coverage-trace-pc",
    "-Xclang",
    "-fsanitize-coverage-trace-loads",
    "-Xclang",
    "-fsanitize-coverage-trace-stores",
    "-pthread",
];

/// The options with which AddressSanitizer does not move stack objects. Accesses to moved objects would not be steps.
pub(super) const OPTIONS_OF_ADDRESS: [&str; 2] = ["-mllvm", "-asan-stack=0"];

/// The function whose calls are events if the program makes them, but not if the library does.
pub(super) const FREE: &str = "free";

/// The end of the code of the harness that the compiler must not instrument.
pub(super) const END: &str = "\n#pragma clang attribute pop\n";

/// Writes the schedule and the functions that enforce it. `is_sanitized` if a sanitizer is linked, which defines weak
/// functions with the same names. `checks_lifetimes` if the violation may be a use of an object after its lifetime: the
/// sanitizer does not check objects on stacks here.
pub(super) fn write(out: &mut String, schedule: &Schedule, is_sanitized: bool, checks_lifetimes: bool) {
    let Schedule { segments, timed, objects, ending, last } = schedule;
    let total: u64 = segments.iter().map(|(_, events)| events).sum();
    *out += "/* The schedule: threads, numbered as they start, each with its number of steps. A step accesses memory that\n";
    *out += " * is not on the stack of the thread, calls a function that synchronises, frees memory, or starts or ends the\n";
    *out += " * thread. It begins when the second thread has started. */\n";
    *out += "static const struct {\n    int thread;\n    unsigned long steps;\n} proviso_segments[] = {\n";
    for line in segments.chunks(12) {
        let list: Vec<String> = line.iter().map(|(thread, events)| format!("{{{thread}, {events}}},")).collect();
        let _ = writeln!(out, "    {}", list.join(" "));
    }
    let list: String = timed.iter().map(|result| format!("{result}, ")).collect();
    let _ = writeln!(out, "    {{0, 0}}\n}};\n/* The results of functions that wait for a time. */");
    let _ = writeln!(out, "static const int proviso_timed[] = {{{list}0}};");
    *out += "/* The objects that threads reach from their arguments: the thread, the object that points to this one and where\n";
    *out += " * (-1 if it is the argument), the offset to which it points, the size if the object is on a stack. */\n";
    *out += "static const struct {\n    int thread, parent;\n    unsigned long at, offset, size;\n} proviso_objects[] = {\n";
    for Reached { thread, pointer, offset, size } in objects {
        let (parent, at) = pointer.map_or((-1, 0), |(parent, at)| (parent as i64, at));
        let _ = writeln!(out, "    {{{thread}, {parent}, {at}, {offset}, {size}}},");
    }
    *out += "    {0, -1, 0, 0, 0}\n};\n";
    let (deadlock, first) = match ending {
        Ending::Error => (0, -1),
        Ending::Deadlock => (1, -1),
        Ending::Race(first) => (0, *first as i64),
    };
    let weak = if is_sanitized { "" } else { "__attribute__((weak))" };
    let _ = writeln!(
        out,
        "enum {{\n    PROVISO_SEGMENTS = {},\n    PROVISO_TIMED = {},\n    PROVISO_OBJECTS = {},\n    /* The thread that fails, and whether all block. */\n    \
         PROVISO_LAST = {last},\n    PROVISO_DEADLOCK = {deadlock},\n    \
         /* Whether uses of objects after their lifetime are reported. */\n    PROVISO_LIFETIMES = {}\n}};\n\
         /* The steps that race, or -1. */\nstatic const long proviso_race[] = {{{first}, {}}};\n\
         #define PROVISO_OURS {weak}\n",
        segments.len(),
        timed.len(),
        objects.len(),
        u8::from(checks_lifetimes),
        if first < 0 { -1 } else { total as i64 - 1 },
    );
    *out += RUNTIME;
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use driver::trace::schedule::SYNCHRONISING;

    #[test]
    fn all_synchronising_functions_are_steps() {
        // The end of a thread is a step, independent of the function that ends it.
        for name in SYNCHRONISING.iter().filter(|name| !name.ends_with("_exit")) {
            let defined = format!("{name}(");
            let by_macro = format!("({name},");
            assert!(RUNTIME.contains(&defined) || RUNTIME.contains(&by_macro), "{name}");
        }
    }
}
