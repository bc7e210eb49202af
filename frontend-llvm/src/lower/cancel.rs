//! The cancellation of threads: cleanup handlers, and calls that are cancellation points (POSIX.1-2017, XSH 2.9.5).
//!
//! glibc's macro `pthread_cleanup_push(routine, argument)` expands in C to
//!
//! ```c
//! if (__sigsetjmp(buffer, 0)) {
//!     routine(argument);
//!     __pthread_unwind_next(buffer);
//! }
//! __pthread_register_cancel(buffer);
//! ```
//!
//! A thread that ends early jumps to the innermost buffer. The models call the routine instead of jumping:
//! `__sigsetjmp` returns 0, and the model of `__pthread_register_cancel` takes the routine and its argument.

use super::Context;
use super::builder::Builder;
use super::function::FunctionLowering;
use super::inlined::{callee, is_call};
use crate::ir::{Instruction, Operand, op};
use crate::models::{ACT_ON_CANCEL, REGISTER_HANDLER};
use cfa::{Callee, ExprId, Op};

/// Library functions that act on a request to cancel the thread. The models of waits for other threads act themselves.
const POINTS: &str = "accept accept4 aio_suspend clock_nanosleep close connect copy_file_range creat creat64 fdatasync fsync \
    mq_receive mq_send mq_timedreceive mq_timedsend msgrcv msgsnd msync nanosleep open open64 openat openat64 pause poll ppoll \
    pread pread64 pselect pwrite pwrite64 read readv recv recvfrom recvmsg select sem_timedwait send sendmsg sendto \
    sigsuspend sigtimedwait sigwait sigwaitinfo sleep tcdrain usleep wait waitid waitpid write writev";

/// Library functions that may act on such a request, now or later.
const POSSIBLE_POINTS: &str = "access asctime asctime_r catclose catgets catopen chmod chown closedir closelog ctermid \
    ctime ctime_r dlclose dlopen dprintf endgrent endhostent endnetent endprotoent endpwent endservent endutxent \
    faccessat fchmod fchmodat fchown fchownat fclose fcntl fcntl64 fflush fgetc fgetc_unlocked fgetpos fgetpos64 fgets \
    fgets_unlocked fgetwc fgetws fmtmsg fopen fopen64 fpathconf fprintf fputc fputc_unlocked fputs fputs_unlocked \
    fputwc fputws fread fread_unlocked freopen freopen64 fscanf fseek fseeko fseeko64 fsetpos fsetpos64 fstat fstat64 \
    fstatat ftell ftello ftello64 futimens fwprintf fwrite fwrite_unlocked fwscanf getaddrinfo getc getc_unlocked \
    getchar getchar_unlocked getcwd getdate getdelim getgrent getgrgid getgrgid_r getgrnam getgrnam_r gethostent \
    gethostid gethostname getline getlogin getlogin_r getnameinfo getnetent getopt getopt_long getprotoent getpwent \
    getpwnam getpwnam_r getpwuid getpwuid_r gets getservent getutxent getwc getwchar glob iconv_close iconv_open ioctl \
    link linkat lio_listio localtime localtime_r lockf lseek lseek64 lstat lstat64 mkdir mkdirat mkdtemp mkfifo \
    mkfifoat mknod mknodat mkstemp mkstemp64 mktime nftw opendir openlog pathconf pclose perror popen posix_fadvise \
    posix_fallocate posix_madvise posix_openpt posix_spawn posix_spawnp printf psiginfo psignal pthread_rwlock_rdlock \
    pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock pthread_rwlock_wrlock ptsname putc putc_unlocked putchar \
    putchar_unlocked puts pututxline putwc putwchar readdir readdir64 readdir_r readlink readlinkat remove rename \
    renameat rewind rewinddir scandir scanf seekdir semop setgrent sethostent setnetent setprotoent setpwent setservent \
    setutxent sigpause stat stat64 strerror strerror_r strftime symlink symlinkat sync syslog system thrd_sleep tmpfile \
    tmpfile64 ttyname ttyname_r tzset ungetc ungetwc unlink unlinkat utime utimensat utimes vdprintf vfprintf vfscanf \
    vfwprintf vfwscanf vprintf vscanf vsyslog vwprintf vwscanf wcsftime wordexp wprintf wscanf";

/// The model that acts on a request when a library function is called. `None` if the function is no cancellation point.
fn acts(function: &str) -> Option<&'static str> {
    let name = function.strip_prefix("__isoc99_").unwrap_or(function);
    let is_in = |list: &str| list.split_ascii_whitespace().any(|point| point == name);
    let [certainly, possibly] = ACT_ON_CANCEL;
    match () {
        () if is_in(POINTS) => Some(certainly),
        () if is_in(POSSIBLE_POINTS) => Some(possibly),
        () => None,
    }
}

/// True if the program cancels threads.
pub(super) fn is_used(ir: &crate::ir::Module) -> bool {
    ir.functions.iter().any(|f| f.model && f.name == "pthread_cancel")
}

impl Context<'_> {
    /// The model that acts on a request when function `n` of the module is called.
    fn acting(&self, n: usize) -> Option<&'static str> {
        let function = &self.ir.functions[n];
        if function.model || function.declaration { acts(&function.name) } else { None }
    }
}

/// Called before a call of function `f`, or of any function. In a program that cancels threads, emits a call of the
/// model that acts on a request if the function is a cancellation point.
pub(super) fn before_call(fl: &mut FunctionLowering, f: Option<usize>) {
    let cx = &fl.b.cx;
    if !cx.cancels || fl.function.model {
        return;
    }
    let Some(f) = f else {
        let is_pointed_to = |n: usize| cx.uses.address_taken[n] && cx.acting(n).is_some();
        if (0..cx.ir.functions.len()).any(is_pointed_to) {
            fl.b.approximate(
                "cancellation in library functions that are called by pointers is not modelled",
                true,
                true,
            );
        }
        return;
    };
    let Some(name) = cx.acting(f) else { return };
    let Some(model) = cx.ir.functions.iter().position(|f| f.name == name) else { return };
    let Some(func) = cx.functions[model] else { return };
    fl.before_call();
    fl.b.emit(Op::Call { callee: Callee::Direct(func), args: Box::new([]), varargs: None, result: None });
}

/// The cleanup handler whose buffer is the first argument of a call.
struct Handler {
    /// The routine and its argument, each a value or the address of the variable that holds it.
    parts: [Part; 2],
}

#[derive(Clone, Copy)]
enum Part {
    Value(Operand),
    At(Operand),
}

impl Handler {
    fn find(fl: &FunctionLowering, buffer: Operand) -> Option<Self> {
        let ir = fl.b.ir();
        let root = root(fl, buffer);
        let is_named =
            |i: &Instruction, name: &str| is_call(i) && callee(ir, i).is_some_and(|f| ir.functions[f].name == name);
        let mut found = None;
        for block in &fl.body.blocks {
            let instructions = &fl.body.instructions[block.start as usize..block.end as usize];
            let unwinds =
                |i: &Instruction| is_named(i, "__pthread_unwind_next") && self::root(fl, ir.operand(i, 0)) == root;
            let Some(end) = instructions.iter().position(unwinds) else { continue };
            let is_plain = |i: &&Instruction| {
                is_call(i) && !callee(ir, i).is_some_and(|f| ir.functions[f].name.starts_with("llvm."))
            };
            let call = instructions[..end].iter().rev().find(is_plain)?;
            if found.is_some() || ir.extra(call)[1] != 1 {
                return None;
            }
            let part = |operand: Operand| match operand {
                Operand::Instruction(n) if block.contains(&n) => {
                    let instruction = fl.instruction(n);
                    match ir.operands(instruction).next() {
                        Some(Operand::Instruction(address))
                            if instruction.opcode == op::LOAD && !block.contains(&address) =>
                        {
                            Some(Part::At(Operand::Instruction(address)))
                        }
                        _ => None,
                    }
                }
                operand => Some(Part::Value(operand)),
            };
            found = Some(Self { parts: [part(ir.operand(call, 1))?, part(ir.operand(call, 0))?] });
        }
        found
    }
}

/// The pointer from which an address of a part of the object is computed.
fn root(fl: &FunctionLowering, mut operand: Operand) -> Operand {
    while let Operand::Instruction(n) = operand {
        let instruction = fl.instruction(n);
        match (instruction.opcode, fl.b.ir().operands(instruction).next()) {
            (op::GEP | op::BIT_CAST, Some(base)) => operand = base,
            _ => break,
        }
    }
    operand
}

/// Lowers a call that registers a cleanup handler. Returns false if it is another call.
pub(super) fn lower(fl: &mut FunctionLowering, n: u32, i: &Instruction, f: usize) -> bool {
    let ir = fl.b.ir();
    let name = ir.functions[f].name.as_str();
    let registers = match name {
        "__sigsetjmp" => false,
        "__pthread_register_cancel" => true,
        _ => return false,
    };
    let buffer = ir.operand(i, 0);
    let Some(handler) = Handler::find(fl, buffer) else { return false };
    if !registers {
        let zero = fl.b.int(32, 0);
        fl.define_saved(n, zero);
        return true;
    }
    let model = ir.functions.iter().position(|f| f.name == REGISTER_HANDLER).and_then(|n| fl.b.cx.functions[n]);
    let (Some(func), Some(buffer)) = (model, fl.operand(buffer)) else { return false };
    let mut args = vec![buffer];
    for part in handler.parts {
        let Some(value) = value(fl, part) else { return false };
        args.push(value);
    }
    fl.before_call();
    fl.b.emit(Op::Call { callee: Callee::Direct(func), args: args.into(), varargs: None, result: None });
    true
}

fn value(fl: &mut FunctionLowering, part: Part) -> Option<ExprId> {
    match part {
        Part::Value(operand) => fl.operand(operand),
        Part::At(address) => match fl.home(address) {
            Some(var) => Some(fl.b.var_expr(var)),
            None => {
                let (address, width) = (fl.operand(address)?, fl.b.pointer_width());
                Some(Builder::load(&mut fl.b, address, width))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cancellation_points() {
        assert_eq!(acts("read"), Some("pthread_testcancel"));
        assert_eq!(acts("__isoc99_scanf"), Some("__proviso_may_cancel"));
        assert_eq!(acts("pthread_mutex_lock"), None);
    }
}
