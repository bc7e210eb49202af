//! Panics, caught and reported with the place in the source where they happened.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, PoisonError};

/// The messages of panics so far, and the places (`file:line`) where they happened.
static PANICS: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// The note of an internal error.
pub const DEFECT: &str = "this is a defect of proviso; please report it with the program";

/// Makes panics record where they happen, in place of a message on standard error.
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

/// Runs work that a verdict does not depend on. A panic is returned as an error message.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let done = std::panic::catch_unwind(AssertUnwindSafe(work));
    done.map_err(|panic| format!("internal error: {}", message(&*panic)))
}

/// The message of a panic that was caught, with the place where it happened if [`record`] was called.
pub fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
    with_place(text.unwrap_or("panic"))
}

/// The message of a panic, with the place where the latest panic of that message happened.
pub fn with_place(message: &str) -> String {
    let panics = PANICS.lock().unwrap_or_else(PoisonError::into_inner);
    match panics.iter().rfind(|(recorded, _)| recorded == message) {
        Some((_, place)) => format!("{message} ({place})"),
        None => message.to_owned(),
    }
}
