//! Hidden state of the C library: state that no model stores in memory. The tables list the functions that change it
//! and those that depend on it. If a program is sliced ([`Options::sequential_environment`](crate::Options)), each
//! state is a variable of the program. The slice of a call then contains the earlier calls on which its result depends.

use crate::models;

/// A part of the hidden state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum HiddenState {
    /// The environment. Its values depend on all earlier ones, so each value reads and writes this state.
    Environment,
    /// The positions and sizes of files, which output also changes.
    Files,
    /// The locale.
    Locale,
    /// The raised floating-point exceptions, including those of the program's own operations.
    Exceptions,
}

impl HiddenState {
    pub const ALL: [Self; 4] = [Self::Environment, Self::Files, Self::Locale, Self::Exceptions];
}

/// The hidden states that a library function changes. If the program `reads_back` its output, the values of the
/// environment depend on output.
pub(crate) fn changed(name: &str, reads_back: bool) -> Vec<HiddenState> {
    let writes = is_output(name) || WRITES.contains(&name);
    let mut changed = Vec::new();
    if name.starts_with("pthread_") || CHANGES.binary_search(&name).is_ok() || reads_back && writes {
        changed.push(HiddenState::Environment);
    }
    if writes {
        changed.push(HiddenState::Files);
    }
    if SET_LOCALE.contains(&name) {
        changed.push(HiddenState::Locale);
    }
    if SET_EXCEPTIONS.contains(&name) {
        changed.push(HiddenState::Exceptions);
    }
    changed
}

/// The hidden states on which the results of a library function depend. If descriptors may be shared (`shares_files`),
/// input from a stream depends on the positions of other descriptors in its file.
pub(crate) fn read(name: &str, shares_files: bool) -> Vec<HiddenState> {
    let file = models::file_of(name);
    let mut read = Vec::new();
    if READS_FILES.binary_search(&name).is_ok() || shares_files && file.is_some_and(|file| STREAMS.contains(&file)) {
        read.push(HiddenState::Files);
    }
    if file.is_some_and(|file| LOCALE.contains(&file)) || COLLATES.contains(&name) {
        read.push(HiddenState::Locale);
    }
    if GET_EXCEPTIONS.contains(&name) {
        read.push(HiddenState::Exceptions);
    }
    read
}

/// Functions after which several streams or descriptors may refer to one file.
pub(crate) const SHARE_FILES: [&str; 10] =
    ["dup", "dup2", "dup3", "fcntl", "fcntl64", "fdopen", "fileno", "fileno_unlocked", "freopen", "freopen64"];

/// Functions that change or return the raised floating-point exceptions.
pub(crate) const SET_EXCEPTIONS: [&str; 6] =
    ["feclearexcept", "feholdexcept", "feraiseexcept", "fesetenv", "fesetexceptflag", "feupdateenv"];
pub(crate) const GET_EXCEPTIONS: [&str; 5] =
    ["fegetenv", "fegetexceptflag", "feholdexcept", "fetestexcept", "feupdateenv"];

/// Functions that change the locale.
pub(crate) const SET_LOCALE: [&str; 2] = ["setlocale", "uselocale"];

/// The model files whose functions depend on the locale's characters and number formats.
const LOCALE: [&str; 13] = [
    "ctype.c",
    "iconv.c",
    "locale.c",
    "messages.c",
    "multibyte.c",
    "printf.c",
    "regex.c",
    "scanf.c",
    "time.c",
    "wctype.c",
    "wnumber.c",
    "wscanf.c",
    "wstdio.c",
];

/// Functions in other files that depend on the locale.
const COLLATES: [&str; 14] = [
    "atof",
    "strcasecmp",
    "strcoll",
    "strncasecmp",
    "strtod",
    "strtof",
    "strtold",
    "strxfrm",
    "wcscasecmp",
    "wcscoll",
    "wcsncasecmp",
    "wcsxfrm",
    "fnmatch",
    "perror",
];

/// True if the models in a file choose only values that the real library computes from the arguments.
pub(crate) fn computes(path: &str) -> bool {
    const FILES: [&str; 4] = ["complex", "math", "printf", "transcendental"];
    path.strip_prefix("<models>/").is_some_and(|name| FILES.iter().any(|file| name.starts_with(file)))
}

/// The model files whose functions read from streams.
const STREAMS: [&str; 5] = ["mounts.c", "scanf.c", "stdio.c", "wscanf.c", "wstdio.c"];

/// Functions that write to descriptors.
const WRITES: [&str; 12] = [
    "__dprintf_chk",
    "__vdprintf_chk",
    "copy_file_range",
    "dprintf",
    "pwrite",
    "pwrite64",
    "pwritev",
    "sendfile",
    "sendfile64",
    "vdprintf",
    "write",
    "writev",
];

/// Functions whose results depend on the positions or sizes of files. Sorted.
const READS_FILES: &[&str] = &[
    "__poll_chk",
    "__pread_chk",
    "__read_chk",
    "access",
    "copy_file_range",
    "euidaccess",
    "faccessat",
    "fallocate",
    "fallocate64",
    "fdopen",
    "fgetpos",
    "fgetpos64",
    "fopen",
    "fopen64",
    "freopen",
    "freopen64",
    "fseek",
    "fseeko",
    "fseeko64",
    "fsetpos",
    "fsetpos64",
    "fstat",
    "fstat64",
    "fstatat",
    "fstatat64",
    "fstatfs",
    "fstatfs64",
    "fstatvfs",
    "fstatvfs64",
    "ftell",
    "ftello",
    "ftello64",
    "ftruncate",
    "ftruncate64",
    "ioctl",
    "lockf",
    "lseek",
    "lseek64",
    "lstat",
    "lstat64",
    "mmap",
    "mmap64",
    "mremap",
    "open",
    "open64",
    "openat",
    "openat64",
    "poll",
    "popen",
    "posix_fallocate",
    "posix_fallocate64",
    "pread",
    "pread64",
    "preadv",
    "pwrite",
    "pwrite64",
    "read",
    "readv",
    "recv",
    "recvfrom",
    "rewind",
    "select",
    "sendfile",
    "sendfile64",
    "sendto",
    "setmntent",
    "stat",
    "stat64",
    "statfs",
    "statfs64",
    "statvfs",
    "statvfs64",
    "statx",
    "system",
    "truncate",
    "truncate64",
    "wait",
    "wait3",
    "wait4",
    "waitpid",
    "write",
    "writev",
];

/// Functions that may affect later values of the environment, or depend on such functions: for random seeds, file
/// names, and locks. Sorted.
const CHANGES: &[&str] = &[
    "__sysv_signal",
    "bsd_signal",
    "chdir",
    "chmod",
    "chown",
    "chroot",
    "clearenv",
    "clock_settime",
    "close",
    "creat",
    "dup",
    "dup2",
    "dup3",
    "endmntent",
    "endutxent",
    "fallocate",
    "fallocate64",
    "fchdir",
    "fchmod",
    "fchmodat",
    "fchown",
    "fclose",
    "fdatasync",
    "fdopen",
    "flock",
    "fopen",
    "fopen64",
    "fork",
    "freopen",
    "freopen64",
    "fseek",
    "fseeko",
    "fseeko64",
    "fsetpos",
    "fsetpos64",
    "fsync",
    "ftruncate",
    "ftruncate64",
    "futimens",
    "futimes",
    "initstate",
    "inotify_add_watch",
    "inotify_init",
    "inotify_init1",
    "inotify_rm_watch",
    "kill",
    "lchown",
    "link",
    "linkat",
    "lockf",
    "lseek",
    "lseek64",
    "mkdir",
    "mkdirat",
    "mkdtemp",
    "mkfifo",
    "mkfifoat",
    "mknod",
    "mknodat",
    "mkostemp",
    "mkostemp64",
    "mkstemp",
    "mkstemp64",
    "mkstemps",
    "open",
    "open64",
    "openat",
    "openat64",
    "pipe",
    "pipe2",
    "prctl",
    "putenv",
    "raise",
    "remove",
    "rename",
    "renameat",
    "renameat2",
    "rewind",
    "rewinddir",
    "rmdir",
    "sched_setaffinity",
    "seekdir",
    "setegid",
    "setenv",
    "seteuid",
    "setgid",
    "setgrent",
    "setgroups",
    "sethostname",
    "setlocale",
    "setmntent",
    "setpgid",
    "setpriority",
    "setpwent",
    "setregid",
    "setresgid",
    "setresuid",
    "setreuid",
    "setrlimit",
    "setrlimit64",
    "setsid",
    "setstate",
    "settimeofday",
    "setuid",
    "setutxent",
    "setvbuf",
    "sigaction",
    "signal",
    "sigprocmask",
    "srand",
    "srand48",
    "srandom",
    "symlink",
    "symlinkat",
    "sysv_signal",
    "tcsetattr",
    "tcsetpgrp",
    "timer_create",
    "timer_delete",
    "timer_settime",
    "tmpfile",
    "tmpfile64",
    "truncate",
    "truncate64",
    "tzset",
    "umask",
    "unlink",
    "unlinkat",
    "unsetenv",
    "utime",
    "utimensat",
    "utimes",
    "utmpxname",
];

/// Functions that write to streams. Sorted.
const OUTPUT: &[&str] = &[
    "_IO_putc",
    "__fprintf_chk",
    "__fwprintf_chk",
    "__printf_chk",
    "__vfprintf_chk",
    "__vfwprintf_chk",
    "__vprintf_chk",
    "__vwprintf_chk",
    "__wprintf_chk",
    "addmntent",
    "fflush",
    "fflush_unlocked",
    "fprintf",
    "fputc",
    "fputc_unlocked",
    "fputs",
    "fputs_unlocked",
    "fputwc",
    "fputws",
    "fwprintf",
    "fwrite",
    "fwrite_unlocked",
    "perror",
    "printf",
    "putc",
    "putc_unlocked",
    "putchar",
    "putchar_unlocked",
    "puts",
    "putw",
    "putwc",
    "putwchar",
    "vfprintf",
    "vfwprintf",
    "vprintf",
    "vwprintf",
    "wprintf",
];

/// True if a text has a conversion `%n`, with any flags, width and length. The text may have wide characters.
pub(crate) fn has_count(text: &[u8]) -> bool {
    let text: Vec<u8> = text.iter().copied().filter(|&c| c != 0).collect();
    let mut conversions = text.split(|&c| c == b'%').skip(1);
    conversions.any(|rest| rest.iter().find(|c| !b"-+#0123456789.*'$hlqjztL".contains(c)) == Some(&b'n'))
}

/// True if a library function writes to a stream.
fn is_output(name: &str) -> bool {
    OUTPUT.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_that_count() {
        for text in ["%n", "a%d %-3.2lln", "%%%hhn", "%\0\0\0n\0\0\0"] {
            assert!(has_count(text.as_bytes()), "{text}");
        }
        for text in ["", "%", "n", "%dn", "100% done", "20% not", "%5"] {
            assert!(!has_count(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn functions_have_states() {
        for names in [READS_FILES, CHANGES, OUTPUT] {
            assert!(names.is_sorted());
        }
        assert_eq!(changed("srand", false), [HiddenState::Environment]);
        assert_eq!(changed("fputs", false), [HiddenState::Files]);
        assert_eq!(changed("fputs", true), [HiddenState::Environment, HiddenState::Files]);
        assert_eq!(changed("sprintf", true), []);
        assert_eq!(read("isalpha", false), [HiddenState::Locale]);
        assert!(computes("<models>/printf.c") && computes("<models>/mathf.c"));
        assert!(!computes("<models>/stdio.c") && !computes("printf.c"));
        assert_eq!((read("fgetc", false), read("fgetc", true)), (vec![], vec![HiddenState::Files]));
    }
}
