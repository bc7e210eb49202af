//! What happens when the process cannot go on: no memory, a fault in a library, a second Ctrl-C.
//!
//! Every run ends with a verdict line. Where the ordinary way to print one is closed, the functions here
//! write it with nothing but system calls and leave at once.

use driver::failure::exit;
use driver::limits;
use driver::report::Answer;
use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::ffi::{CStr, CString, c_char};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, Ordering};

/// Whether standard output has had its verdict line, or must not get one.
static SILENT: AtomicBool = AtomicBool::new(true);

/// Prepares the process for supervised work: Ctrl-C and SIGTERM interrupt it, a second one ends the process, and allocations fail
/// before the machine suffers. `memory` is in bytes.
pub fn prepare(memory: u64) {
    static INSTALLED: Once = Once::new();
    limits::limit_address_space(memory);
    INSTALLED.call_once(|| {
        let result = ctrlc::set_handler(|| {
            if limits::interrupt() > 0 {
                leave(c"UNKNOWN(interrupted)", exit::UNKNOWN);
            }
        });
        // Without a handler Ctrl-C ends the process without a verdict line, which is no reason not to run.
        debug_assert!(result.is_ok());
    });
}

/// From now on a crash prints a verdict line.
pub fn expect_verdict() {
    SILENT.store(false, Ordering::SeqCst);
}

/// The verdict line and exit code of a verdict that was reached, if the process cannot go on with what is left to do. Null: there is none.
static REACHED: AtomicPtr<c_char> = AtomicPtr::new(std::ptr::null_mut());
static REACHED_CODE: AtomicU8 = AtomicU8::new(0);

/// From now on this is the verdict, whatever happens. The first one stays.
pub fn reached(answer: &Answer) {
    let code = match answer {
        Answer::True => exit::TRUE,
        Answer::False(_) => exit::FALSE,
        Answer::Unknown { .. } => exit::UNKNOWN,
    };
    let Ok(line) = CString::new(answer.line()) else { return };
    if REACHED.load(Ordering::SeqCst).is_null() {
        REACHED_CODE.store(code, Ordering::SeqCst);
        // Never freed: a signal handler may read it at any time.
        REACHED.store(line.into_raw(), Ordering::SeqCst);
    }
}

/// The verdict line is about to be printed in the ordinary way. False if it was already.
pub fn claim_verdict() -> bool {
    !SILENT.swap(true, Ordering::SeqCst)
}

/// Writes a verdict line, if none was, and ends the process. Safe in signal handlers.
pub fn leave(verdict: &CStr, code: u8) -> ! {
    let reached = REACHED.load(Ordering::SeqCst);
    let (verdict, code) = match reached.is_null() {
        true => (verdict, code),
        // SAFETY: the pointer is that of a C string that is never freed.
        false => (unsafe { CStr::from_ptr(reached) }, REACHED_CODE.load(Ordering::SeqCst)),
    };
    if claim_verdict() {
        write(libc::STDOUT_FILENO, verdict);
        write(libc::STDOUT_FILENO, c"\n");
    }
    // SAFETY: no destructors run, which is the point: other threads may still use what they would destroy.
    unsafe { libc::_exit(i32::from(code)) }
}

/// Ends the process with what was printed so far.
pub fn leave_quietly(code: u8) -> ! {
    // SAFETY: as in `leave`; standard output is flushed by those who print.
    unsafe { libc::_exit(i32::from(code)) }
}

fn write(fd: i32, text: &CStr) {
    // SAFETY: the string is live; a failed write has no remedy.
    unsafe { libc::write(fd, text.as_ptr().cast(), text.count_bytes()) };
}

/// The allocator of the process, of what is C++ in it, too: mimalloc (the system's takes up to a third more time), but out of memory
/// is a verdict.
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

/// Above this an allocation that fails was a mistake of the caller's, not the end of memory; the caller
/// gets to handle it (`try_reserve`).
const REASONABLE: usize = 1 << 40;

// SAFETY: every call goes to mimalloc as it came.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let ptr = unsafe { MiMalloc.alloc(layout) };
        if ptr.is_null() && layout.size() < REASONABLE {
            out_of_memory();
        }
        ptr
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { MiMalloc.dealloc(ptr, layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let ptr = unsafe { MiMalloc.alloc_zeroed(layout) };
        if ptr.is_null() && layout.size() < REASONABLE {
            out_of_memory();
        }
        ptr
    }
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        let new = unsafe { MiMalloc.realloc(ptr, layout, size) };
        if new.is_null() && size < REASONABLE {
            out_of_memory();
        }
        new
    }
}

unsafe extern "C" {
    /// `std::set_new_handler`: what C++ libraries (LLVM, the solvers) call when memory runs out.
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

/// Makes faults, aborts, panics and the end of memory end in a message and a verdict line.
pub fn install() {
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT] {
        // SAFETY: the handler calls only async-signal-safe functions. Rust's threads have alternate signal
        // stacks, so it also runs where the stack is exhausted.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_fault as extern "C" fn(libc::c_int) as usize;
            action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
    // SAFETY: the handler never returns, as a new-handler may.
    unsafe { set_new_handler(cpp_out_of_memory) };
    driver::panics::record();
}
