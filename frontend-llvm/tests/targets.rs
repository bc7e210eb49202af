//! For every target of clang: the front-end rejects it by name, or the program is one for a supported target.

use frontend_llvm::{Error, Options, load};
use std::path::Path;
use std::process::Command;

fn clang(args: &[&str]) -> String {
    let output = Command::new("clang-19").args(args).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn options(file: &Path, target: &str) -> Options {
    Options { inputs: vec![file.into()], clang_args: vec![target.into()], models: false, ..Options::default() }
}

/// The triple with which the file is rejected. `None` if it is accepted.
fn refused(file: &Path, target: &str) -> Option<String> {
    match load(&options(file, target)) {
        Ok(_) => None,
        Err(Error::Target { path, target, .. }) => {
            assert_eq!(path, file);
            Some(target)
        }
        Err(error) => panic!("{target}: {error}"),
    }
}

/// The front-end's assumptions about a supported target, as macros of the preprocessor.
fn assumptions(is_wide: bool) -> Vec<(&'static str, &'static str)> {
    let mut all = vec![
        ("__BYTE_ORDER__", "__ORDER_LITTLE_ENDIAN__"),
        ("__CHAR_BIT__", "8"),
        ("__SIZEOF_SHORT__", "2"),
        ("__SIZEOF_INT__", "4"),
        ("__SIZEOF_LONG_LONG__", "8"),
        ("__SIZEOF_WCHAR_T__", "4"),
        ("__WCHAR_TYPE__", "int"),
        ("__FLT_MANT_DIG__", "24"),
        ("__DBL_MANT_DIG__", "53"),
        ("__LDBL_MANT_DIG__", "64"),
        ("__ELF__", "1"),
    ];
    let wide =
        [("__SIZEOF_POINTER__", "8"), ("__SIZEOF_LONG__", "8"), ("__SIZEOF_LONG_DOUBLE__", "16"), ("__x86_64__", "1")];
    let narrow =
        [("__SIZEOF_POINTER__", "4"), ("__SIZEOF_LONG__", "4"), ("__SIZEOF_LONG_DOUBLE__", "12"), ("__i386__", "1")];
    all.extend(if is_wide { wide } else { narrow });
    all
}

/// The architectures of clang, with operating systems and libraries that change the meaning of programs.
fn targets() -> Vec<String> {
    let text = clang(&["--print-targets"]);
    let names = text.lines().filter_map(|line| line.split_once(" - ")).map(|(name, _)| name.trim());
    // LLVM's names of some architectures differ from those in triples.
    let architecture = |name: &str| match name {
        "x86" => "i386".to_owned(),
        "x86-64" => "x86_64".to_owned(),
        "ppc32" => "powerpc".to_owned(),
        "ppc32le" => "powerpcle".to_owned(),
        "ppc64" => "powerpc64".to_owned(),
        "ppc64le" => "powerpc64le".to_owned(),
        "systemz" => "s390x".to_owned(),
        other => other.to_owned(),
    };
    let architectures: Vec<String> = names.map(architecture).collect();
    assert!(architectures.len() > 30, "{text}");
    let mut all: Vec<String> = architectures.iter().map(|name| format!("{name}-unknown-linux-gnu")).collect();
    for name in ["i686", "x86_64"] {
        for rest in [
            "",
            "-linux",
            "-linux-gnu",
            "-pc-linux-gnu",
            "-redhat-linux",
            "-linux-gnux32",
            "-linux-musl",
            "-linux-muslx32",
            "-linux-android",
            "-linux-android21",
            "-linux-ohos",
            "-linux-code16",
            "-linux-gnut64",
            "-linux-uclibc",
            "-elf",
            "-none-elf",
            "-unknown-none",
            "-pc-windows-msvc",
            "-w64-mingw32",
            "-w64-windows-gnu",
            "-pc-cygwin",
            "-uefi",
            "-apple-darwin",
            "-apple-macosx10.15",
            "-apple-ios-simulator",
            "-freebsd13",
            "-netbsd",
            "-openbsd",
            "-dragonfly",
            "-pc-solaris2.11",
            "-haiku",
            "-fuchsia",
            "-gnu",
            "-kfreebsd-gnu",
            "-scei-ps4",
            "-sie-ps5",
            "-rtems",
            "-contiki",
            "-elfiamcu",
            "-pc-nacl",
            "-l4re",
            "-redox",
            "-serenity",
            "-managarm",
        ] {
            all.push(format!("{name}{rest}"));
        }
    }
    for triple in [
        "i386-linux-gnu",
        "i386",
        "i386-elf",
        "i486-linux-gnu",
        "amd64-linux-gnu",
        "i386-linux-musl",
        "amd64-pc-windows-msvc",
        "armv7m-none-eabi",
        "arm-linux-gnueabihf",
        "armeb-none-eabi",
        "aarch64_be-none-elf",
        "aarch64-linux-gnu_ilp32",
        "arm64-apple-ios",
        "aarch64-pc-windows-msvc",
        "arm64ec-pc-windows-msvc",
        "riscv32-unknown-elf",
        "mips64el-linux-gnuabin32",
        "wasm32-wasi",
        "wasm32-unknown-emscripten",
        "spir64-unknown-unknown",
        "avr",
        "msp430-elf",
        "hexagon-unknown-elf",
    ] {
        all.push(triple.into());
    }
    all
}

#[test]
fn a_target_is_refused_or_is_what_clang_says() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.c");
    std::fs::write(&file, "void f(void) {}\nint main(void) { f(); return sizeof(void *) == 8; }\n").unwrap();
    let mut supported = Vec::new();
    for target in targets() {
        match refused(&file, &format!("--target={target}")) {
            None => supported.push(target),
            Some(named) => {
                // LLVM has one name for some architectures with several names.
                let families = [
                    ["arm", "thumb"],
                    ["amd64", "x86_64"],
                    ["ppc", "powerpc"],
                    ["arm64", "aarch64"],
                    ["bpf", "bpfel"],
                    ["r600", "amdgcn"],
                ];
                let first = |triple: &str| triple.split('-').next().unwrap_or_default().to_owned();
                let is_same = |name: &str| {
                    named.starts_with(name)
                        || families.iter().any(|[a, b]| {
                            name.starts_with(a) && named.starts_with(b) || name.starts_with(b) && named.starts_with(a)
                        })
                };
                assert!(is_same(&first(&target)), "{target}: {named}");
            }
        }
    }
    for target in &supported {
        let macros = clang(&[&format!("--target={target}"), "-dM", "-E", "-xc", "/dev/null"]);
        let is_wide = target.starts_with("x86_64") || target.starts_with("amd64");
        for (name, value) in assumptions(is_wide) {
            assert!(macros.contains(&format!("#define {name} {value}\n")), "{target}: {name} is not {value}");
        }
        assert!(!macros.contains("__CHAR_UNSIGNED__"), "{target}");
        let program = load(&options(&file, &format!("--target={target}"))).unwrap().lower().unwrap();
        assert_eq!(program.layout.pointer_width, if is_wide { 64 } else { 32 }, "{target}");
    }
    let of = |start: &str| supported.iter().filter(|target| target.starts_with(start)).count();
    assert!(of("i686") >= 4 && of("x86_64") >= 4, "{supported:?}");
    assert_eq!(of("i386") + of("i486") + of("i686") + of("x86_64") + of("amd64"), supported.len(), "{supported:?}");
}

/// The headers of a foreign C library are missing, and clang does not support all targets of gcc. The error must name
/// the target nevertheless.
#[test]
fn a_file_that_does_not_compile_is_refused_for_its_target() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.c");
    std::fs::write(&file, "#include <no/such/header.h>\n").unwrap();
    assert_eq!(refused(&file, "--target=armv7m-none-eabi").unwrap(), "thumbv7m-unknown-none-eabi");
    assert_eq!(refused(&file, "--target=sh4-linux-gnu").unwrap(), "sh4-unknown-linux-gnu");
    for target in ["--target=x86_64-linux-gnu", "-m32"] {
        assert!(matches!(load(&options(&file, target)).err(), Some(Error::Compile { .. })), "{target}");
    }
}

/// Other ways to select a target, also with a requested data model.
#[test]
fn every_way_to_name_a_target_counts() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.c");
    std::fs::write(&file, "int main(void) { return 0; }\n").unwrap();
    std::fs::write(folder.path().join("options"), "-O2 --target=i386-linux-gnu").unwrap();
    let response = format!("@{}", folder.path().join("options").display());
    let load = |args: &[&str], data_model| {
        let clang_args = args.iter().map(|&arg| arg.to_owned()).collect();
        let options = Options { inputs: vec![file.clone().into()], clang_args, data_model, ..Options::default() };
        let program = frontend_llvm::load(&options)?.lower()?;
        Ok::<u32, Error>(program.layout.pointer_width)
    };
    use frontend_llvm::DataModel::{Ilp32, Lp64};
    for (args, width) in [
        (&[&*response][..], 32),
        (&["--target=i686-pc-linux-gnu"], 32),
        (&["-target", "i386-linux"], 32),
        (&["-m32"], 32),
        (&["--target=x86_64-linux-gnu", "-m32"], 32),
        (&["--target=i386-linux-gnu", "-m64"], 64),
        (&[], 64),
    ] {
        assert_eq!(load(args, None), Ok(width), "{args:?}");
        let (own, other) = if width == 32 { (Ilp32, Lp64) } else { (Lp64, Ilp32) };
        assert_eq!(load(args, Some(own)), Ok(width), "{args:?}");
        match load(args, Some(other)) {
            Ok(width) => assert!(args.is_empty() && width == 32, "{args:?}"),
            Err(error) => assert!(matches!(error, Error::Usage(_)), "{error}"),
        }
    }
    for args in
        [&["-mx32"][..], &["-m16"], &["-Xclang", "-triple", "-Xclang", "x86_64-pc-windows-msvc"], &["-target", "avr"]]
    {
        for data_model in [None, Some(Ilp32), Some(Lp64)] {
            assert!(matches!(load(args, data_model), Err(Error::Target { .. })), "{args:?}");
        }
    }
}
