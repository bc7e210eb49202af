//! The effects of linker options on the symbols of a program. `proviso cc` records the options.

use crate::failure::Failure;
use crate::input::binary::Link;
use std::collections::{BTreeMap, BTreeSet};

/// The effects of a run of the linker on the linked objects.
#[derive(Default, PartialEq, Eq, Debug)]
pub struct Effects {
    /// The redirected symbols: a reference to the key refers to the value. See `frontend_llvm::InputFile::references`.
    pub references: BTreeMap<String, String>,
    /// The symbols that the linker defines (`--defsym`), even if an object defines them.
    pub redefined: BTreeSet<String>,
    /// Options that are assumed to have no effect: those that matter only to other modules.
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
enum ValueForm {
    /// The option has no value.
    None,
    /// The value follows `=` or is the next word. If the option has one letter, the value may follow it directly.
    Required,
    /// The value may follow after `=`.
    Optional,
}

/// The options of GNU ld, lld and gold, without dashes.
const OPTIONS: &[(Meaning, ValueForm, &str)] = &[
    (
        Meaning::None,
        ValueForm::None,
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
    // The options of gold, lld and mold.
    (
        Meaning::None,
        ValueForm::None,
        "add-needed no-add-needed no-allow-multiple-definition apply-dynamic-relocs no-apply-dynamic-relocs be8 no-cref ctors-in-init-array define-common \
         detect-odr-violations no-detect-odr-violations emit-stub-syms no-emit-stub-syms no-enum-size-warning fix-arm1176 no-fix-arm1176 fix-cortex-a8 \
         no-fix-cortex-a8 fix-cortex-a53-843419 no-fix-cortex-a53-843419 fix-cortex-a53-835769 no-fix-cortex-a53-835769 fix-v4bx fix-v4bx-interworking \
         gnu-unique no-gnu-unique incremental no-incremental incremental-full incremental-update incremental-changed incremental-unchanged \
         incremental-unknown incremental-startup-unchanged keep-files-mapped no-keep-files-mapped long-plt no-long-plt merge-exidx-entries \
         no-merge-exidx-entries mmap-output-file no-mmap-output-file p no-pic-executable pic-veneer no-pipeline-knowledge plt-localentry no-plt-localentry \
         plt-static-chain no-plt-static-chain plt-thread-safe no-plt-thread-safe posix-fallocate no-posix-fallocate preread-archive-symbols \
         no-print-icf-sections rosegment strip-debug-non-line strip-debug-gdb strip-lto-sections secure-plt stub-group-multi no-stub-group-multi \
         target1-abs target1-rel text-reorder no-text-reorder tls-optimize no-tls-optimize tls-get-addr-optimize no-tls-get-addr-optimize toc-optimize \
         no-toc-optimize toc-sort no-toc-sort no-warn-common no-warn-constructors warn-drop-version no-warn-drop-version warn-search-mismatch \
         warn-shared-textrel no-warn-shared-textrel no-wchar-size-warning no-power10-stubs call-graph-profile-sort no-call-graph-profile-sort debug-names \
         no-debug-names disable-verify execute-only no-execute-only fat-lto-objects no-fat-lto-objects fortran-common no-fortran-common \
         ignore-data-address-equality ignore-function-address-equality lto-basic-block-sections lto-debug-pass-manager lto-emit-asm \
         lto-validate-all-vtables-have-type-infos no-lto-validate-all-vtables-have-type-infos lto-whole-program-visibility no-lto-whole-program-visibility \
         no-dependent-libraries no-nmagic no-omagic optimize-bb-jumps no-optimize-bb-jumps relax-gp no-relax-gp save-temps thinlto-emit-imports-files \
         thinlto-index-only time-trace use-android-relr-tags no-use-android-relr-tags warn-backrefs no-warn-backrefs warn-ifunc-textrel \
         no-warn-ifunc-textrel warn-symbol-ordering no-warn-symbol-ordering fork no-fork quick-exit no-quick-exit perf repro zero-to-bss no-zero-to-bss",
    ),
    (
        Meaning::None,
        ValueForm::Required,
        "build-id-chunk-size-for-treehash build-id-min-file-size-for-treehash debug hash-bucket-empty-fraction icf-iterations incremental-base \
         incremental-patch keep-unique optimize print-symbol-counts rosegment-gap section-ordering-file stub-group-size split-stack-adjust-size target2 \
         thread-count-initial thread-count-middle thread-count-final call-graph-ordering-file chroot compress-sections error-limit lto-partitions lto-O \
         lto-CGO lto-cs-profile-file lto-obj-path lto-sample-profile lto-aa-pipeline lto-newpm-passes mllvm opt-remarks-filename opt-remarks-format \
         opt-remarks-hotness-threshold opt-remarks-passes pack-dyn-relocs print-archive-stats print-symbol-order reproduce rsp-quoting \
         symbol-ordering-file thinlto-cache-dir thinlto-cache-policy thinlto-jobs thinlto-object-suffix-replace thinlto-prefix-replace \
         time-trace-granularity undefined-glob warn-backrefs-exclude why-extract",
    ),
    (
        Meaning::None,
        ValueForm::Required,
        "a A architecture dependency-file G gpsize h soname I dynamic-linker l library L library-path sysroot m o output O out-implib plugin plugin-opt u \
         undefined require-defined y trace-symbol Y assert hash-size Map max-cache-size oformat rpath rpath-link sort-section spare-dynamic-tags task-link \
         section-start Tbss Tdata Ttext Ttext-segment Trodata-segment Tldata-segment unresolved-symbols ignore-unresolved-symbol orphan-handling \
         ctf-share-types audit P depaudit hash-style error-handling-script version-exports-section image-base threads thread-count",
    ),
    (
        Meaning::None,
        ValueForm::Optional,
        "plt-align power10-stubs unique demangle sort-common split-by-file split-by-reloc verbose build-id package-metadata compress-debug-sections flto-partition fuse-ld \
         color-diagnostics",
    ),
    (
        Meaning::OtherModules,
        ValueForm::None,
        "Bsymbolic Bsymbolic-functions default-symver default-imported-symver dynamic-list-data dynamic-list-cpp-new dynamic-list-cpp-typeinfo",
    ),
    (
        Meaning::OtherModules,
        ValueForm::Required,
        "f auxiliary F filter retain-symbols-file version-script dynamic-list export-dynamic-symbol export-dynamic-symbol-list exclude-libs",
    ),
    (Meaning::Start, ValueForm::Required, "e entry"),
    // This is an option of the compiler: the program has its own `_start`.
    (Meaning::Start, ValueForm::None, "nostartfiles"),
    (Meaning::Wrap, ValueForm::Required, "wrap"),
    (Meaning::Define, ValueForm::Required, "defsym"),
    (
        Meaning::Refused,
        ValueForm::None,
        "EB Ur allow-multiple-definition no-ctors-in-init-array start-lib end-lib weak-unresolved-symbols enable-non-contiguous-regions enable-non-contiguous-regions-warnings disable-multiple-abs-defs",
    ),
    (
        Meaning::Refused,
        ValueForm::Required,
        "b format c mri-script R just-symbols T script dT default-script init fini icf \
         load-pass-plugin remap-inputs remap-inputs-file shuffle-sections",
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
    pub fn compute(link: &Link) -> Result<Self, Failure> {
        let refuse = |option: &str, why: &str| {
            let output = link.output.display();
            let mut failure = Failure::data(format!("{output} is linked with {option}, which is not represented"));
            failure.detail = Some(format!(
                "  = note: {why}\n  = help: verify its objects instead: files on the command line are linked without options"
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
            let Some((meaning, value)) = lookup(name).or_else(|| abbreviation(name)) else {
                return Err(refuse(word, any_symbol));
            };
            let (value, shown) = match (joined, value) {
                (None, ValueForm::Required) => {
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
                    // The start-up code calls `main`.
                    Some(("main", _)) => effects.start = Some(shown),
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
            effects.redefined.insert(symbol.clone());
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
    let (start, value) = name.split_once('=').map_or((name, None), |(start, value)| (start, Some(value)));
    // A single dash may precede names of several letters, too.
    let has_effect = abbreviation(start).is_some_and(|(meaning, _)| meaning != Meaning::None);
    let first = name.char_indices().nth(1).map_or(name.len(), |(at, _)| at);
    let is_short = lookup(&name[..first]).is_some_and(|(_, value)| value == ValueForm::Required);
    if long.is_none() && lookup(start).is_none() && !has_effect && is_short {
        return Some((&name[..first], Some(&name[first..])));
    }
    // The optimisation level of lld.
    let level = ["lto-O", "lto-CGO"].into_iter().find(|option| name.starts_with(option));
    Some(level.map_or((start, value), |option| (option, Some(&name[option.len()..]))))
}

/// Returns the meaning of a known option and the form of its value.
fn lookup(name: &str) -> Option<(Meaning, ValueForm)> {
    let found = OPTIONS.iter().find(|(_, _, names)| names.split_whitespace().any(|known| known == name));
    found.map(|(meaning, value, _)| (*meaning, *value))
}

/// Returns the meaning of an option and the form of its value by the start of its name. Linkers accept the start of a
/// name with several letters. `None` if options that start so differ in their meaning.
fn abbreviation(name: &str) -> Option<(Meaning, ValueForm)> {
    let is_it = |known: &str| name.len() > 1 && known.starts_with(name);
    let mut rows = OPTIONS.iter().filter(|(_, _, names)| names.split_whitespace().any(is_it));
    let (meaning, value, _) = rows.next()?;
    rows.all(|(other, form, _)| (other, form) == (meaning, value)).then_some((*meaning, *value))
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
        Effects::compute(&Link { output: "prog".into(), linker, ..Link::default() }).map_err(|failure| failure.message)
    }

    #[test]
    fn references_are_replaced() {
        let of = |options: &str| effects(options).unwrap().references.into_iter().collect::<Vec<_>>();
        let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect()
        };
        let wrapped = pairs(&[("__real_get", "get"), ("get", "__wrap_get")]);
        for options in
            ["--wra=get", "--wr get", "--wrap=get", "-wrap get", "--wrap get --as-needed", "-O1 --wrap=get -z now"]
        {
            assert_eq!(of(options), wrapped, "{options}");
        }
        assert_eq!(of("--defsym=a=b"), pairs(&[("a", "b")]));
        assert_eq!(of("--defs a=b"), pairs(&[("a", "b")]));
        assert_eq!(effects("--defsym=main=other").unwrap().start.as_deref(), Some("--defsym=main=other"));
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
            // Unknown and ambiguous options.
            ("--new-option=3", "--new-option=3"),
            ("--de a=b", "--de"),
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
        let harmless = "-O1 --as-needed -rpath /x --rpath=/y --gc-sections -soname a.so -u f --undefined=g -z relro -Map=x --icf=safe                         --build-id=none -L/x -lm --hash-style gnu -E --start-group --end-group -( -) -Ttext=0x100 --sort-common";
        assert_eq!(effects(harmless), Ok(Effects::default()));
        assert_eq!(effects("-O1 more.o").unwrap().files, ["more.o"]);
    }

    /// If a new version of a linker has new options, their meaning must be added to [`OPTIONS`].
    #[test]
    fn all_options_of_the_linkers_are_known() {
        let help = |linker: &str| {
            let help = Command::new(linker).arg("--help").env("LC_ALL", "C").output();
            let text = help.map(|help| String::from_utf8_lossy(&help.stdout).into_owned()).unwrap_or_default();
            // The options of other file formats come last.
            text.split("\ni386pe").next().unwrap_or_default().to_owned()
        };
        let elf = help("ld") + &help("ld.gold");
        let mut tried = 0;
        for line in elf.lines().filter(|line| line.starts_with("  -")) {
            let options = line.trim_start().split("  ").next().unwrap();
            for option in options.split(", ") {
                let name = option.split([' ', '=', '[', '<']).next().unwrap();
                let name = name.trim_start_matches("--").trim_start_matches('-');
                // Values are enumerated with commas, too.
                let is_option = option.starts_with('-');
                assert!(!is_option || name == "z" || lookup(name).is_some(), "{option}");
                tried += 1;
            }
        }
        assert!(tried > 200, "{tried} options");
    }
}
