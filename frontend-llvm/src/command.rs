//! Command lines of compilers: what they say about the meaning of a program.

use std::path::PathBuf;

/// How a project compiles a C file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompileCommand {
    /// What the options are relative to.
    pub directory: PathBuf,
    /// Options that clang understands: see [`meaningful`].
    pub options: Vec<String>,
}

/// Options with a value, joined to them or in an argument of its own.
const WITH_VALUE: &[&str] =
    &["-I", "-D", "-U", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-isysroot", "-x", "-target"];
/// Options, and how options begin, that say what a program means.
const EXACT: &[&str] = &[
    "-ansi",
    "-fcommon",
    "-ffreestanding",
    "-fgnu89-inline",
    "-fms-extensions",
    "-fno-builtin",
    "-fno-common",
    "-fno-signed-char",
    "-fno-unsigned-char",
    "-fpack-struct",
    "-fplan9-extensions",
    "-fshort-enums",
    "-fshort-wchar",
    "-fsigned-char",
    "-funsigned-char",
    "-fwrapv",
    "-m16",
    "-m32",
    "-m64",
    "-miamcu",
    "-mx32",
    "-maes",
    "-mfma",
    "-mpclmul",
    "-mpopcnt",
    "-mssse3",
    "-nostdinc",
    "-pthread",
    "-trigraphs",
    "-undef",
];
const PREFIXES: &[&str] = &["-std=", "--std=", "--target=", "-fno-builtin-", "-march=", "-mavx", "-mbmi", "-msse"];

/// Of the arguments of a compiler those that say what a program means, as clang takes them. What is said of warnings,
/// optimisation, debug information and outputs is not among them, nor are files.
pub fn meaningful<'a>(args: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut found = Vec::new();
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        if WITH_VALUE.contains(&arg) {
            if let Some(value) = args.next().filter(|_| arg != "-x") {
                found.extend([arg.to_owned(), value.to_owned()]);
            }
        } else if let Some(list) = arg.strip_prefix("-Wp,") {
            found.extend(meaningful(list.split(',')));
        } else if matches!(arg, "-o" | "-MF" | "-MT" | "-MQ" | "-Xlinker" | "-Xassembler" | "-Xclang" | "-arch" | "-z")
        {
            args.next();
        } else if EXACT.contains(&arg)
            || PREFIXES.iter().chain(&WITH_VALUE[..9]).any(|prefix| arg.starts_with(prefix) && arg.len() > prefix.len())
        {
            found.push(arg.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::meaningful;

    #[test]
    fn what_says_nothing_of_the_meaning_is_left_out() {
        let line = "cc -Wall -O2 -g -DA=1 -D B -Iinc -isystem sys -std=c99 -fPIC -MD -MF x.d -Wp,-D_X=2,-MMD,y.d -pipe \
                    -fstack-protector -march=native -include conf.h -c -o x.o x.c -U C -m32 -lm";
        let expected = "-DA=1 -D B -Iinc -isystem sys -std=c99 -D_X=2 -march=native -include conf.h -U C -m32";
        assert_eq!(meaningful(line.split_whitespace()).join(" "), expected);
    }
}
