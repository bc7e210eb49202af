//! Panics: their capture, and reports with their place in the source.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, PoisonError};

/// The messages of all panics so far, with their places (`file:line`).
static PANICS: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// The note that accompanies an internal error.
pub const DEFECT: &str = "this is a defect of proviso; please report it with the program";

/// Installs a panic hook that records the place of each panic instead of printing a message. If `RUST_BACKTRACE` is
/// set, the hook also prints the message and a backtrace.
pub fn record() {
    std::panic::set_hook(Box::new(|info| {
        if let (Some(place), Ok(mut panics)) = (info.location(), PANICS.lock()) {
            let message = info.payload_as_str().unwrap_or("panic").to_owned();
            panics.push((message, format!("{}:{}", place.file(), place.line())));
        }
        if std::env::var_os("RUST_BACKTRACE").is_some() {
            eprintln!("{info}\n{}", std::backtrace::Backtrace::force_capture());
        }
    }));
}

/// Runs work that the verdict does not depend on. `Err` with the message if it panics.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let done = std::panic::catch_unwind(AssertUnwindSafe(work));
    done.map_err(|panic| format!("internal error: {}", message(&*panic)))
}

/// Returns the message of a caught panic, with its place if [`record`] was called before.
pub fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
    with_place(text.unwrap_or("panic"))
}

/// Returns the message of a panic, with the place of the latest panic with this message.
pub fn with_place(message: &str) -> String {
    let panics = PANICS.lock().unwrap_or_else(PoisonError::into_inner);
    match panics.iter().rfind(|(recorded, _)| recorded == message) {
        Some((_, place)) => format!("{message} ({place})"),
        None => message.to_owned(),
    }
}
