//! Handles the end of a process that cannot continue: out of memory, a fault in a library, or a second Ctrl-C.
//!
//! Every run ends with a verdict line. If the ordinary way to print it is not available, the functions here write it
//! with system calls only and end the process at once.

use driver::failure::exit;
use driver::limits;
use driver::report::Answer;
use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::ffi::{CStr, CString, c_char};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, Ordering};

/// True if standard output already has a verdict line, or must not get one.
static SILENT: AtomicBool = AtomicBool::new(true);

/// Prepares the process for supervised work. Ctrl-C and SIGTERM interrupt the work; a second one ends the process.
/// Allocations above the limit fail. `memory` is in bytes.
pub fn prepare(memory: u64) {
    static INSTALLED: Once = Once::new();
    limits::limit_address_space(memory);
    INSTALLED.call_once(|| {
        let result = ctrlc::set_handler(|| {
            if limits::interrupt() > 0 {
                leave(c"UNKNOWN(interrupted)", exit::UNKNOWN);
            }
        });
        // Without a handler, Ctrl-C ends the process without a verdict line. The run is still useful.
        debug_assert!(result.is_ok());
    });
}

/// Makes a crash print a verdict line from now on.
pub fn expect_verdict() {
    SILENT.store(false, Ordering::SeqCst);
}

/// The verdict line of a verdict that was reached, in case the process cannot complete the remaining work. Null if
/// there is none.
static REACHED: AtomicPtr<c_char> = AtomicPtr::new(std::ptr::null_mut());
/// The exit code of the verdict in [`REACHED`].
static REACHED_CODE: AtomicU8 = AtomicU8::new(0);

/// True if the verdict line is a line of JSON.
static AS_JSON: AtomicBool = AtomicBool::new(false);

/// Makes the verdict line of a crash a line of JSON, as those of `--message-format json`.
pub fn use_json() {
    AS_JSON.store(true, Ordering::SeqCst);
}

/// Records the verdict, which is final from now on even if the process crashes. Only the first call has an effect.
pub fn reached(answer: &Answer) {
    let code = match answer {
        Answer::True => exit::TRUE,
        Answer::False(_) => exit::FALSE,
        Answer::Unknown { .. } => exit::UNKNOWN,
    };
    let line = match AS_JSON.load(Ordering::SeqCst) {
        // The parts around it are written when the process ends.
        true => serde_json::Value::from(answer.line()).to_string().trim_matches('"').to_owned(),
        false => answer.line(),
    };
    let Ok(line) = CString::new(line) else { return };
    if REACHED.load(Ordering::SeqCst).is_null() {
        REACHED_CODE.store(code, Ordering::SeqCst);
        // The string is never freed, because a signal handler may read it at any time.
        REACHED.store(line.into_raw(), Ordering::SeqCst);
    }
}

/// Claims the right to print the verdict line. Returns false if the line was already printed or must not be printed.
pub fn claim_verdict() -> bool {
    !SILENT.swap(true, Ordering::SeqCst)
}

/// Writes a verdict line, if there was none, and ends the process. A recorded verdict takes precedence over the
/// arguments. Safe in signal handlers.
pub fn leave(verdict: &CStr, code: u8) -> ! {
    let reached = REACHED.load(Ordering::SeqCst);
    let (verdict, code) = match reached.is_null() {
        true => (verdict, code),
        // SAFETY: the pointer points to a C string that is never freed.
        false => (unsafe { CStr::from_ptr(reached) }, REACHED_CODE.load(Ordering::SeqCst)),
    };
    if claim_verdict() {
        let (start, end) = match AS_JSON.load(Ordering::SeqCst) {
            true => (c"{\"level\":\"verdict\",\"message\":\"", c"\"}\n"),
            false => (c"", c"\n"),
        };
        [start, verdict, end].into_iter().for_each(|text| write(libc::STDOUT_FILENO, text));
    }
    // SAFETY: `_exit` runs no destructors. That is intended: other threads may still use the objects.
    unsafe { libc::_exit(i32::from(code)) }
}

/// Ends the process with the exit code and prints nothing more.
pub fn leave_quietly(code: u8) -> ! {
    // SAFETY: as in `leave`; every function that prints flushes standard output.
    unsafe { libc::_exit(i32::from(code)) }
}

fn write(fd: i32, text: &CStr) {
    // SAFETY: the string is live; a failed write has no remedy.
    unsafe { libc::write(fd, text.as_ptr().cast(), text.count_bytes()) };
}

/// The allocator of the process, including its C++ libraries. It is mimalloc, because with the system's allocator runs
/// take up to a third more time. If memory is exhausted, it ends the process with a verdict.
pub struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn out_of_memory() -> ! {
    write(libc::STDERR_FILENO, c"error: out of memory\n");
    leave(c"UNKNOWN(out of memory)", exit::UNKNOWN)
}

extern "C" fn cpp_out_of_memory() {
    out_of_memory()
}

/// The size in bytes from which on a failing allocation is a mistake of the caller, not the end of memory. The caller
/// can then handle it (`try_reserve`).
const REASONABLE: usize = 1 << 40;

// SAFETY: every call is passed to mimalloc unchanged.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees the requirements of `alloc`.
        let ptr = unsafe { MiMalloc.alloc(layout) };
        if ptr.is_null() && layout.size() < REASONABLE {
            out_of_memory();
        }
        ptr
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees the requirements of `dealloc`.
        unsafe { MiMalloc.dealloc(ptr, layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees the requirements of `alloc_zeroed`.
        let ptr = unsafe { MiMalloc.alloc_zeroed(layout) };
        if ptr.is_null() && layout.size() < REASONABLE {
            out_of_memory();
        }
        ptr
    }
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller guarantees the requirements of `realloc`.
        let new = unsafe { MiMalloc.realloc(ptr, layout, size) };
        if new.is_null() && size < REASONABLE {
            out_of_memory();
        }
        new
    }
}

unsafe extern "C" {
    /// `std::set_new_handler`: sets the function that C++ libraries (LLVM, the solvers) call when memory is exhausted.
    #[link_name = "_ZSt15set_new_handlerPFvvE"]
    fn set_new_handler(handler: extern "C" fn()) -> usize;
}

extern "C" fn on_fault(signal: libc::c_int) {
    let (message, verdict) = match signal {
        libc::SIGSEGV => {
            (c"error: internal error: memory fault or stack overflow\n", c"UNKNOWN(internal error: SIGSEGV)")
        }
        libc::SIGBUS => (c"error: internal error: bus error\n", c"UNKNOWN(internal error: SIGBUS)"),
        libc::SIGILL => (c"error: internal error: illegal instruction\n", c"UNKNOWN(internal error: SIGILL)"),
        libc::SIGFPE => (c"error: internal error: arithmetic fault\n", c"UNKNOWN(internal error: SIGFPE)"),
        _ => (c"error: internal error: a library aborted\n", c"UNKNOWN(internal error: SIGABRT)"),
    };
    write(libc::STDERR_FILENO, message);
    leave(verdict, exit::INTERNAL)
}

/// Installs handlers, so that faults, aborts, panics and the end of memory lead to a message and a verdict line.
pub fn install() {
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT] {
        // SAFETY: the handler calls only async-signal-safe functions. Rust's threads have alternate signal stacks, so
        // the handler also runs if the stack is exhausted.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_fault as extern "C" fn(libc::c_int) as usize;
            action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
    // SAFETY: the handler never returns, which C++ permits for a new-handler.
    unsafe { set_new_handler(cpp_out_of_memory) };
    driver::panics::record();
}
