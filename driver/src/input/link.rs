//! The effects of linker options on the symbols of a program. `proviso cc` records the options.

use crate::failure::Failure;
use crate::input::binary::Link;
use std::collections::BTreeMap;

/// The effects of a run of the linker on the linked objects.
#[derive(Default, PartialEq, Eq, Debug)]
pub struct Effects {
    /// The redirected symbols: a reference to the key refers to the value. See `frontend_llvm::InputFile::references`.
    pub references: BTreeMap<String, String>,
    /// Options that are assumed to have no effect: those that matter only to other modules, and unknown ones.
    pub assumed: Vec<String>,
    /// The option because of which the program does not start at `main`, if any.
    pub start: Option<String>,
    /// The words that are no options: files.
    pub files: Vec<String>,
}

/// The meaning of an option for the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meaning {
    /// The option concerns the file format, the search for files, diagnostics, or addresses. The analysis knows nothing
    /// of addresses anyway.
    None,
    /// The option chooses which symbols other modules see or replace.
    OtherModules,
    /// The option chooses the entry point of the program.
    Start,
    /// The option is `--wrap`.
    Wrap,
    /// The option is `--defsym`.
    Define,
    /// The option may give any symbol another definition, or run functions.
    Refused,
}

/// The form of the value of an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Value {
    /// The option has no value.
    None,
    /// The value follows `=` or is the next word. If the option has one letter, the value may follow it directly.
    Required,
    /// The value may follow after `=`.
    Optional,
}

/// The options of GNU ld, lld and gold, without dashes.
const OPTIONS: &[(Meaning, Value, &str)] = &[
    (
        Meaning::None,
        Value::None,
        "d dc dp force-group-allocation E export-dynamic no-export-dynamic EL g no-dynamic-linker M print-map n nmagic N omagic no-omagic \
         flto map-whole-files no-map-whole-files Qy q emit-relocs r i relocatable s strip-all S strip-debug strip-discarded no-strip-discarded t trace v \
         version V x discard-all X discard-locals discard-none ( start-group ) end-group accept-unknown-input-arch no-accept-unknown-input-arch as-needed \
         no-as-needed Bdynamic dy call_shared Bstatic dn non_shared static Bno-symbolic check-sections no-check-sections copy-dt-needed-entries \
         no-copy-dt-needed-entries cref no-demangle embedded-relocs fatal-warnings no-fatal-warnings force-exe-suffix gc-sections no-gc-sections \
         print-gc-sections no-print-gc-sections gc-keep-exported help no-define-common no-keep-memory no-undefined w no-warnings allow-shlib-undefined \
         no-allow-shlib-undefined undefined-version no-undefined-version no-warn-mismatch no-warn-search-mismatch no-whole-archive whole-archive noinhibit-exec \
         nostdlib print-output-format print-sysroot qmagic reduce-memory-overheads relax no-relax shared Bshareable pie pic-executable no-pie stats \
         target-help traditional-format warn-common warn-constructors warn-execstack no-warn-execstack warn-rwx-segments no-warn-rwx-segments warn-multiple-gp \
         warn-once warn-section-align warn-textrel warn-alternate-em warn-unresolved-symbols error-unresolved-symbols push-state pop-state print-memory-usage \
         print-map-discarded no-print-map-discarded ctf-variables no-ctf-variables ld-generated-unwind-info no-ld-generated-unwind-info Bgroup \
         disable-new-dtags enable-new-dtags eh-frame-hdr no-eh-frame-hdr no-gdb-index gdb-index no-threads no-color-diagnostics nopie \
         print-icf-sections fatal-warnings no-rosegment",
    ),
    (
        Meaning::None,
        Value::Required,
        "a A architecture dependency-file G gpsize h soname I dynamic-linker l library L library-path sysroot m o output O out-implib plugin plugin-opt u \
         undefined require-defined y trace-symbol Y assert hash-size Map max-cache-size oformat rpath rpath-link sort-section spare-dynamic-tags task-link \
         section-start Tbss Tdata Ttext Ttext-segment Trodata-segment Tldata-segment unresolved-symbols ignore-unresolved-symbol orphan-handling \
         ctf-share-types audit P depaudit hash-style error-handling-script version-exports-section image-base threads thread-count",
    ),
    (
        Meaning::None,
        Value::Optional,
        "unique demangle sort-common split-by-file split-by-reloc verbose build-id package-metadata compress-debug-sections flto-partition fuse-ld \
         color-diagnostics",
    ),
    (
        Meaning::OtherModules,
        Value::None,
        "Bsymbolic Bsymbolic-functions default-symver default-imported-symver dynamic-list-data dynamic-list-cpp-new dynamic-list-cpp-typeinfo",
    ),
    (
        Meaning::OtherModules,
        Value::Required,
        "f auxiliary F filter retain-symbols-file version-script dynamic-list export-dynamic-symbol export-dynamic-symbol-list exclude-libs",
    ),
    (Meaning::Start, Value::Required, "e entry"),
    // This is an option of the compiler: the program has its own `_start`.
    (Meaning::Start, Value::None, "nostartfiles"),
    (Meaning::Wrap, Value::Required, "wrap"),
    (Meaning::Define, Value::Required, "defsym"),
    (
        Meaning::Refused,
        Value::None,
        "EB Ur allow-multiple-definition enable-non-contiguous-regions enable-non-contiguous-regions-warnings disable-multiple-abs-defs",
    ),
    (
        Meaning::Refused,
        Value::Required,
        "b format c mri-script R just-symbols T script dT default-script init fini icf",
    ),
];

/// The words after `-z` that have a meaning for the program.
const KEYWORDS: &[(&str, Meaning)] = &[
    ("muldefs", Meaning::Refused),
    ("global", Meaning::OtherModules),
    ("initfirst", Meaning::OtherModules),
    ("interpose", Meaning::OtherModules),
];

/// Library functions whose calls compilers replace by calls of others: `printf("x\n")` becomes `puts("x")`.
const REPLACED: &[&str] =
    &["fprintf", "fputc", "fputs", "fwrite", "printf", "putc", "putchar", "puts", "sprintf", "vprintf"];

impl Effects {
    /// Returns the effects of the options of a run of the linker. `Err` with the first option whose effect cannot be
    /// represented.
    pub fn of(link: &Link) -> Result<Self, Failure> {
        let refuse = |option: &str, why: &str| {
            let output = link.output.display();
            let mut failure = Failure::data(format!("{output} is linked with {option}, which is not represented"));
            failure.detail = Some(format!(
                "  = note: {why}\n  = help: verify the objects that it consists of: the files that are given are linked without options"
            ));
            failure
        };
        let any_symbol = "it may give symbols other definitions, or call functions before `main`";
        let mut effects = Self::default();
        let mut defined = BTreeMap::new();
        let mut wrapped = Vec::new();
        let mut words = link.linker.iter().map(String::as_str);
        while let Some(word) = words.next() {
            if let Some(keyword) = word.strip_prefix("-z") {
                let keyword = if keyword.is_empty() { words.next().unwrap_or_default() } else { keyword };
                match KEYWORDS.iter().find(|(known, _)| *known == keyword).map(|(_, meaning)| *meaning) {
                    Some(Meaning::Refused) => return Err(refuse(&format!("-z {keyword}"), any_symbol)),
                    Some(_) => effects.assumed.push(format!("-z {keyword}")),
                    None => {}
                }
                continue;
            }
            let Some((name, joined)) = option(word) else {
                effects.files.push(word.to_owned());
                continue;
            };
            let Some((meaning, value)) = lookup(name) else {
                effects.assumed.push(format!("{word} (an unknown option)"));
                continue;
            };
            let (value, shown) = match (joined, value) {
                (None, Value::Required) => {
                    let value = words.next().unwrap_or_default();
                    (value, format!("{word} {value}"))
                }
                (joined, _) => (joined.unwrap_or_default(), word.to_owned()),
            };
            match meaning {
                Meaning::None => {}
                Meaning::OtherModules => effects.assumed.push(shown),
                Meaning::Start => effects.start = Some(shown),
                Meaning::Refused if name == "icf" && value != "all" => {}
                Meaning::Refused => return Err(refuse(&shown, any_symbol)),
                Meaning::Wrap if frontend_llvm::is_translated(value) || REPLACED.contains(&value) => {
                    let why = format!("compilers may not call {value} where the program does");
                    return Err(refuse(&shown, &why));
                }
                Meaning::Wrap => wrapped.push(value),
                Meaning::Define => match value.split_once('=') {
                    Some((symbol, target)) if is_name(symbol) && is_name(target) => {
                        defined.insert(symbol.to_owned(), target.to_owned());
                    }
                    _ => return Err(refuse(&shown, "only --defsym SYMBOL=SYMBOL is")),
                },
            }
        }
        // Objects and libraries have no entry point.
        if link
            .linker
            .iter()
            .any(|option| matches!(option.as_str(), "-r" | "-i" | "--relocatable" | "-shared" | "--shared"))
        {
            effects.start = None;
        }
        for symbol in wrapped {
            effects.references.insert(symbol.to_owned(), format!("__wrap_{symbol}"));
            effects.references.insert(format!("__real_{symbol}"), symbol.to_owned());
        }
        for (symbol, target) in defined {
            // Linkers differ in the order in which they apply these options.
            if effects.references.contains_key(&target) || effects.references.contains_key(&symbol) {
                return Err(refuse(
                    &format!("--defsym {symbol}={target}"),
                    "another --wrap or --defsym redirects its symbols, too",
                ));
            }
            effects.references.insert(symbol, target);
        }
        Ok(effects)
    }
}

/// Returns the name of an option and the value in the same word. Returns `None` if the word is a file.
fn option(word: &str) -> Option<(&str, Option<&str>)> {
    let long = word.strip_prefix("--").filter(|name| !name.is_empty());
    let name = long.or_else(|| word.strip_prefix('-'))?;
    if lookup(name).is_some() {
        return Some((name, None));
    }
    if let Some((name, value)) = name.split_once('=')
        && (lookup(name).is_some() || long.is_some())
    {
        return Some((name, Some(value)));
    }
    let first = name.char_indices().nth(1).map_or(name.len(), |(at, _)| at);
    let is_short = long.is_none() && lookup(&name[..first]).is_some_and(|(_, value)| value == Value::Required);
    if is_short { Some((&name[..first], Some(&name[first..]))) } else { Some((name, None)) }
}

/// Returns the meaning of a known option and the form of its value.
fn lookup(name: &str) -> Option<(Meaning, Value)> {
    let found = OPTIONS.iter().find(|(_, _, names)| names.split_whitespace().any(|known| known == name));
    found.map(|(meaning, value, _)| (*meaning, *value))
}

/// Returns true if the text is the name of a symbol.
fn is_name(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    !text.is_empty() && text.chars().all(is_word) && !text.starts_with(|c: char| c.is_ascii_digit()) && text != "."
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn effects(options: &str) -> Result<Effects, String> {
        let linker = options.split_whitespace().map(str::to_owned).collect();
        Effects::of(&Link { output: "prog".into(), linker, ..Link::default() }).map_err(|failure| failure.message)
    }

    #[test]
    fn references_are_replaced() {
        let of = |options: &str| effects(options).unwrap().references.into_iter().collect::<Vec<_>>();
        let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect()
        };
        let wrapped = pairs(&[("__real_get", "get"), ("get", "__wrap_get")]);
        for options in ["--wrap=get", "-wrap get", "--wrap get --as-needed", "-O1 --wrap=get -z now"] {
            assert_eq!(of(options), wrapped, "{options}");
        }
        assert_eq!(of("--defsym=a=b"), pairs(&[("a", "b")]));
        assert_eq!(of("--defsym a=b --defsym c=d"), pairs(&[("a", "b"), ("c", "d")]));
    }

    #[test]
    fn options_that_are_not_represented_are_named() {
        for (options, named) in [
            ("--wrap=abs", "--wrap=abs"),
            ("--wrap printf", "--wrap printf"),
            ("--defsym=a=0x1000", "--defsym=a=0x1000"),
            ("--defsym a=b+4", "--defsym a=b+4"),
            ("--wrap=b --defsym=a=b", "--defsym a=b"),
            ("-T own.ld", "-T own.ld"),
            ("-Town.ld", "-Town.ld"),
            ("--just-symbols=x", "--just-symbols=x"),
            ("-z muldefs", "-z muldefs"),
            ("-zmuldefs", "-z muldefs"),
            ("--allow-multiple-definition", "--allow-multiple-definition"),
            ("-init start", "-init start"),
            ("--icf=all", "--icf=all"),
        ] {
            let message = effects(options).unwrap_err();
            assert_eq!(message, format!("prog is linked with {named}, which is not represented"));
        }
        for (options, start) in
            [("-e go", "-e go"), ("-ego", "-ego"), ("--entry=go", "--entry=go"), ("-nostartfiles", "-nostartfiles")]
        {
            assert_eq!(effects(options).unwrap().start.as_deref(), Some(start));
        }
        for options in
            ["--version-script=x", "-Bsymbolic", "--dynamic-list x", "--export-dynamic-symbol=f", "-z interpose"]
        {
            assert_eq!(effects(options).unwrap().assumed, [options], "{options}");
        }
        assert_eq!(effects("-nostartfiles -shared").unwrap().start, None);
        assert_eq!(effects("--shuffle=3").unwrap().assumed, ["--shuffle=3 (an unknown option)"]);
        let harmless = "-O1 --as-needed -rpath /x --rpath=/y --gc-sections -soname a.so -u f --undefined=g -z relro -Map=x --icf=safe                         --build-id=none -L/x -lm --hash-style gnu -E --start-group --end-group -( -) -Ttext=0x100 --sort-common";
        assert_eq!(effects(harmless), Ok(Effects::default()));
        assert_eq!(effects("-O1 more.o").unwrap().files, ["more.o"]);
    }

    /// If a new version of the linker has new options, their meaning must be added to [`OPTIONS`].
    #[test]
    fn all_options_of_the_linker_are_known() {
        let help = Command::new("ld").arg("--help").env("LC_ALL", "C").output().expect("ld");
        let text = String::from_utf8_lossy(&help.stdout).into_owned();
        // The options of other file formats come last.
        let elf = text.split("\ni386pe").next().unwrap();
        let mut tried = 0;
        for line in elf.lines().filter(|line| line.starts_with("  -")) {
            let options = line.trim_start().split("  ").next().unwrap();
            for option in options.split(", ") {
                let name = option.split([' ', '=', '[', '<']).next().unwrap();
                let name = name.trim_start_matches("--").trim_start_matches('-');
                assert!(name == "z" || lookup(name).is_some(), "{option}");
                tried += 1;
            }
        }
        assert!(tried > 200, "{tried} options");
    }
}
