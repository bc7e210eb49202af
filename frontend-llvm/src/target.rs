//! The target of a program: which machine it is, and whether it is supported.
//!
//! The lowering, the models and the interpreter assume more of a target than the sizes in LLVM's data layout:
//! little-endian memory, the `va_list` and the calling convention of the System V ABI for x86, an x87 `long double`, a
//! signed plain `char`, a `wchar_t` of 32 bits, and the GNU C library. A target is supported only if its triple names
//! no other architecture, operating system or C library, and if the module has the data layout of the target.

use crate::error::Error;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The widths of C types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DataModel {
    /// `int`, `long` and pointers have 32 bits (i386).
    Ilp32,
    /// `long` and pointers have 64 bits (x86-64).
    Lp64,
}

impl DataModel {
    /// The usual name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ilp32 => "ILP32",
            Self::Lp64 => "LP64",
        }
    }

    /// The data model of a program with this pointer width in bits.
    pub fn of_pointer_width(bits: u32) -> Self {
        if bits == 32 { Self::Ilp32 } else { Self::Lp64 }
    }
}

/// A supported target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Target {
    triple: String,
    data_model: DataModel,
}

impl Target {
    /// The target of a triple in LLVM's normal form. The error is the triple.
    pub fn of_triple(triple: &str) -> Result<Self, String> {
        let triple = triple.to_owned();
        let mut parts = triple.split('-');
        let data_model = match parts.next() {
            Some("x86_64" | "amd64") => Some(DataModel::Lp64),
            Some("i386" | "i486" | "i586" | "i686" | "i786" | "i886" | "i986") => Some(DataModel::Ilp32),
            _ => None,
        };
        // Without an operating system, no other C library is implied than the modelled one.
        let is_none = |part: &str| matches!(part, "" | "unknown" | "none" | "elf");
        let _vendor = parts.next();
        let (system, environment) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let is_linux = system.strip_prefix("linux").is_some_and(|version| version.chars().all(|c| !c.is_alphabetic()));
        let is_known = is_linux && environment == "gnu" || (is_linux || is_none(system)) && is_none(environment);
        match data_model {
            Some(data_model) if is_known && parts.all(is_none) => Ok(Self { triple, data_model }),
            _ => Err(triple),
        }
    }

    /// The target of a module with a triple in LLVM's normal form. Either text may be empty. The error describes the
    /// target.
    pub fn of_module(triple: &str, data_layout: &str) -> Result<Self, String> {
        if triple.is_empty() {
            return Err("no target".into());
        }
        let target = Self::of_triple(triple)?;
        if !data_layout.is_empty() && data_layout != target.data_layout() {
            return Err(format!("{} with a data layout of its own", target.triple));
        }
        Ok(target)
    }

    /// The default target of a data model.
    #[cfg(test)]
    pub fn of_data_model(data_model: DataModel) -> Self {
        let triple = match data_model {
            DataModel::Ilp32 => "i386-pc-linux-gnu",
            DataModel::Lp64 => "x86_64-pc-linux-gnu",
        };
        Self { triple: triple.into(), data_model }
    }

    pub fn triple(&self) -> &str {
        &self.triple
    }

    pub fn data_model(&self) -> DataModel {
        self.data_model
    }

    /// True if objects of both targets can be linked.
    pub fn is_compatible(&self, other: &Self) -> bool {
        self.data_model == other.data_model
    }

    /// The data layout of the target in LLVM 19. LLVM upgrades bitcode of older versions to it.
    pub fn data_layout(&self) -> &'static str {
        match self.data_model {
            DataModel::Ilp32 => {
                "e-m:e-p:32:32-p270:32:32-p271:32:32-p272:64:64-i128:128-f64:32:64-f80:32-n8:16:32-S128"
            }
            DataModel::Lp64 => "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128",
        }
    }
}

/// The error for a file whose target is not supported.
pub(crate) fn refused(path: &Path, target: String) -> Error {
    Error::Target { path: path.to_owned(), target, options: String::new() }
}

/// The options that select the target. Response files are included; relative ones are in `directory`.
pub(crate) fn options<S: AsRef<OsStr>>(args: &[S], directory: Option<&Path>) -> Vec<OsString> {
    let mut found = Vec::new();
    collect(args.iter().map(|arg| arg.as_ref().to_owned()), directory, 0, &mut found);
    found
}

/// The maximal nesting depth of response files. clang has no bound but stops at cycles.
pub(crate) const NESTED: u32 = 16;

fn collect(args: impl Iterator<Item = OsString>, directory: Option<&Path>, depth: u32, found: &mut Vec<OsString>) {
    let mut args = args;
    while let Some(arg) = args.next() {
        let text = arg.to_string_lossy();
        match &*text {
            "-target" => found.extend([Some(arg), args.next()].into_iter().flatten()),
            "-m16" | "-m32" | "-m64" | "-mx32" | "-miamcu" => found.push(arg),
            option if option.starts_with("--target=") => found.push(arg),
            "-Xclang" => {
                let passed = args.next();
                if passed.as_ref().is_some_and(|passed| passed == "-triple") {
                    found.extend([Some(arg), passed].into_iter().flatten().chain(args.by_ref().take(2)));
                }
            }
            option => {
                if let Some(file) = option.strip_prefix('@').filter(|_| depth < NESTED) {
                    let path = directory.unwrap_or(Path::new("")).join(file);
                    let text = std::fs::read_to_string(path).unwrap_or_default();
                    collect(words(&text).into_iter().map(OsString::from), directory, depth + 1, found);
                }
            }
        }
    }
}

/// Splits a command line or a response file into words like a shell.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    let mut quote = None;
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, c) if c.is_ascii_whitespace() => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if c == open => quote = None,
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The compiler in a command line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedCompiler {
    /// The index of the compiler among the words. Wrappers (`ccache`, `env`, …) and their arguments precede it.
    pub place: usize,
    /// The target that the compiler's name implies: `arm-none-eabi` for `arm-none-eabi-gcc-12`.
    pub target: Option<String>,
}

/// Programs that run the compiler in their arguments.
const WRAPPERS: &[&str] = &[
    "bear",
    "buildcache",
    "ccache",
    "chronic",
    "command",
    "cov-build",
    "distcc",
    "env",
    "exec",
    "fccache",
    "firebuild",
    "gomacc",
    "icecc",
    "intercept-build",
    "ionice",
    "libtool",
    "nice",
    "pump",
    "proviso",
    "rewrapper",
    "sccache",
    "scan-build",
    "sh",
    "setarch",
    "stdbuf",
    "strace",
    "sudo",
    "taskset",
    "time",
    "timeout",
    "xcrun",
];
/// The names of compilers, without the target before and the version after them.
const COMPILERS: &[&str] = &["gcc", "cc", "clang", "g++", "c++", "clang++", "xgcc", "c89", "c99", "cpp"];
/// Compilers whose names do not contain their target.
const FOREIGN: &[(&str, &str)] = &[
    ("armcc", "arm-none-eabi"),
    ("armcl", "arm-none-eabi"),
    ("armclang", "arm-none-eabi"),
    ("tiarmclang", "arm-none-eabi"),
    ("iccarm", "arm-none-eabi"),
    ("iccavr", "avr"),
    ("icc430", "msp430"),
    ("cl430", "msp430"),
    ("cl2000", "c2000"),
    ("cl6x", "c6x"),
    ("emcc", "wasm32-unknown-emscripten"),
    ("sdcc", "mcs51"),
    ("cl", "x86_64-pc-windows-msvc"),
    ("clang-cl", "x86_64-pc-windows-msvc"),
    ("musl-gcc", "x86_64-linux-musl"),
    ("musl-clang", "x86_64-linux-musl"),
];
/// Prefixes of architecture names, for target prefixes of one word (`avr-gcc`): those of clang, then those of gcc only.
const ARCHITECTURES: &[&str] = &[
    "aarch64",
    "amd64",
    "amdgcn",
    "arm",
    "avr",
    "bpf",
    "hexagon",
    "i386",
    "i486",
    "i586",
    "i686",
    "lanai",
    "loongarch",
    "m68k",
    "mips",
    "msp430",
    "nvptx",
    "powerpc",
    "ppc",
    "riscv",
    "s390",
    "sparc",
    "systemz",
    "thumb",
    "ve",
    "wasm",
    "x86_64",
    "xcore",
    "xtensa",
    "alpha",
    "arc",
    "c6x",
    "cris",
    "csky",
    "epiphany",
    "frv",
    "ft32",
    "h8300",
    "hppa",
    "ia64",
    "lm32",
    "m32",
    "microblaze",
    "mn10300",
    "moxie",
    "nios2",
    "or1k",
    "pic",
    "pru",
    "rl78",
    "rx",
    "sh",
    "tricore",
    "v850",
    "vax",
    "visium",
    "xc16",
    "xc32",
    "xc8",
    "z80",
];

impl NamedCompiler {
    /// The compiler of a command line. It is not executed, because build files are untrusted.
    pub fn from_command<S: AsRef<str>>(words: &[S]) -> Self {
        let word = |n: usize| words.get(n).map_or("", |word| word.as_ref());
        let mut place = 0;
        while place < words.len() {
            let name = program(word(place));
            let is_argument = place > 0 && !is_compiler(name) && {
                let text = word(place);
                text.starts_with('-') || text.contains('=') || text.chars().all(|c| c.is_ascii_digit())
            };
            // Examples: `proviso cc`, `libtool --mode=compile gcc`, `nice -n 10 gcc`.
            let is_wrapper = WRAPPERS.contains(&name) || name.ends_with("libtool") || name.ends_with("cache");
            if !(is_argument || is_wrapper) {
                break;
            }
            place += 1;
        }
        // If no compiler is known, the first word is the compiler.
        if place == words.len() {
            place = 0;
        }
        Self { place, target: target_of_name(program(word(place))) }
    }
}

/// The name of a program without its directory and extension.
fn program(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// The index of the part of a name that names a compiler: `gcc` in `x86_64-w64-mingw32-gcc-12-posix`.
fn compiler_part(name: &str) -> Option<usize> {
    name.split('-')
        .position(|part| COMPILERS.contains(&part.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')))
}

fn is_compiler(name: &str) -> bool {
    compiler_part(name).is_some() || FOREIGN.iter().any(|(foreign, _)| *foreign == name)
}

fn target_of_name(name: &str) -> Option<String> {
    if let Some((_, target)) = FOREIGN.iter().find(|(foreign, _)| *foreign == name) {
        return Some((*target).to_owned());
    }
    let part = compiler_part(name)?;
    let prefix = name.split('-').take(part).collect::<Vec<_>>().join("-");
    // `afl-clang-fast` and `goto-cc` are native compilers.
    let is_target = prefix.contains('-') || ARCHITECTURES.iter().any(|start| prefix.starts_with(start));
    is_target.then_some(prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_triple(triple: &str) -> Result<Target, String> {
        Target::of_triple(&crate::llvm::normal_triple(triple))
    }

    #[test]
    fn supported_targets_have_the_gnu_library_or_none() {
        for triple in [
            "x86_64-linux-gnu",
            "x86_64-pc-linux-gnu",
            "x86_64-unknown-linux",
            "amd64-redhat-linux5.1-gnu",
            "x86_64-elf",
        ] {
            assert_eq!(of_triple(triple).map(|t| t.data_model), Ok(DataModel::Lp64), "{triple}");
        }
        for triple in ["i386-linux-gnu", "i686-pc-linux-gnu", "i586-none-elf"] {
            assert_eq!(of_triple(triple).map(|t| t.data_model), Ok(DataModel::Ilp32), "{triple}");
        }
        for triple in [
            "",
            "x86_64-linux-gnux32",
            "x86_64-linux-musl",
            "x86_64-linux-android",
            "i386-linux-code16",
            "x86_64-apple-darwin",
            "x86_64-w64-mingw32",
            "x86_64-pc-windows-msvc",
            "i686-windows",
            "x86_64-unknown-freebsd13",
            "x86_64-gnu",
            "i386-pc-elfiamcu",
            "x86_64-linux-gnu_ilp32",
            "i386-linux-gnut64",
            "i586-pc-msdosdjgpp",
            "x86_64-fuchsia",
            "aarch64-linux-gnu",
            "armv7m-none-eabi",
            "x86",
            "x86_64-unknown-linux-gnu-macho",
            "x86_64-uefi",
            "x86_64h-apple-macosx",
        ] {
            assert!(of_triple(triple).is_err(), "{triple}");
        }
    }

    #[test]
    fn options_that_choose_the_target() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("inner"), "-DX '--target=avr'\n").unwrap();
        std::fs::write(folder.path().join("outer"), "-O2 @inner -m32").unwrap();
        let args = [
            "-I",
            "a",
            "@outer",
            "-target",
            "arm-none-eabi",
            "-mx32",
            "-Xclang",
            "-triple",
            "-Xclang",
            "bpf",
            "-Xclang",
            "-m64",
        ];
        let found: Vec<String> =
            options(&args, Some(folder.path())).iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
        let expected = "--target=avr -m32 -target arm-none-eabi -mx32 -Xclang -triple -Xclang bpf";
        assert_eq!(found.join(" "), expected);
        assert!(options(&["@missing", "-march=native", "-mtune=generic"], None).is_empty());
    }

    #[test]
    fn compilers_are_known_by_name() {
        for (line, place, target) in [
            ("cc -c a.c", 0, None),
            ("/usr/bin/gcc-12 -m32", 0, None),
            ("clang-19 -c", 0, None),
            ("arm-none-eabi-gcc -mthumb", 0, Some("arm-none-eabi")),
            ("/opt/x/bin/aarch64-linux-gnu-gcc-12.2 -c", 0, Some("aarch64-linux-gnu")),
            ("riscv64-unknown-elf-clang", 0, Some("riscv64-unknown-elf")),
            ("x86_64-w64-mingw32-gcc-12-posix -c", 0, Some("x86_64-w64-mingw32")),
            ("i686-linux-gnu-gcc", 0, Some("i686-linux-gnu")),
            ("ccache distcc arm-linux-gnueabihf-gcc -c gcc.c", 2, Some("arm-linux-gnueabihf")),
            ("env -i CC=gcc nice -n 10 avr-gcc a.c", 6, Some("avr")),
            ("/bin/sh ../libtool --tag=CC --mode=compile gcc -c a.c", 4, None),
            ("proviso cc -c a.c", 1, None),
            ("afl-clang-fast a.c", 0, None),
            ("goto-cc", 0, None),
            ("C:\\tools\\armcc.exe a.c", 0, Some("arm-none-eabi")),
            ("musl-gcc", 0, Some("x86_64-linux-musl")),
            ("my-wrapper a.c", 0, None),
            ("", 0, None),
        ] {
            let words: Vec<&str> = line.split_whitespace().collect();
            let expected = NamedCompiler { place, target: target.map(str::to_owned) };
            assert_eq!(NamedCompiler::from_command(&words), expected, "{line}");
        }
    }

    /// The packages `gcc-PREFIX` of Debian 12 and 13, and common compilers for targets without an operating system.
    #[test]
    fn cross_compilers_are_known_by_their_prefixes() {
        let prefixes = "aarch64-linux-gnu alpha-linux-gnu arc-linux-gnu arm-linux-gnueabi arm-linux-gnueabihf hppa-linux-gnu hppa64-linux-gnu \
                        i686-linux-gnu i686-gnu i686-kfreebsd-gnu ia64-linux-gnu loongarch64-linux-gnu m68k-linux-gnu mips-linux-gnu mipsel-linux-gnu \
                        mips64-linux-gnuabi64 mips64el-linux-gnuabi64 mips64-linux-gnuabin32 mipsisa32r6-linux-gnu mipsisa64r6el-linux-gnuabi64 \
                        powerpc-linux-gnu powerpc-linux-gnuspe powerpc64-linux-gnu powerpc64le-linux-gnu riscv64-linux-gnu s390x-linux-gnu sh4-linux-gnu \
                        sparc64-linux-gnu x86_64-linux-gnu x86_64-linux-gnux32 x86_64-gnu x86_64-kfreebsd-gnu arm-none-eabi avr msp430-elf \
                        riscv64-unknown-elf riscv32-unknown-elf xtensa-lx106-elf xtensa-esp32-elf or1k-elf h8300-hms bpf-unknown-none i686-w64-mingw32 \
                        x86_64-w64-mingw32 i686-elf x86_64-elf aarch64-none-elf nios2-elf tricore-elf sh-elf x86_64-linux-musl armv7a-linux-androideabi21";
        let mut supported = Vec::new();
        for prefix in prefixes.split_whitespace() {
            for compiler in ["gcc", "gcc-12", "cc", "clang", "clang-19"] {
                let named = NamedCompiler::from_command(&[format!("/usr/bin/{prefix}-{compiler}")]);
                assert_eq!(named.target.as_deref(), Some(prefix));
            }
            if of_triple(prefix).is_ok() {
                supported.push(prefix);
            }
        }
        assert_eq!(supported, ["i686-linux-gnu", "x86_64-linux-gnu", "i686-elf", "x86_64-elf"]);
    }
}
