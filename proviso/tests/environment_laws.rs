//! Laws about results of library functions (`laws/laws.c`). A correct program that relies on a law must not have the
//! verdict FALSE. A claim that does not hold in every environment must not be proved. Each function whose model uses
//! the environment has a law, or a reason in `laws/any.txt` why it needs none.

use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// It holds in every environment. The verdict must be TRUE.
    TrueLaw,
    /// It holds in every environment. The verdict must not be FALSE.
    Law,
    /// It does not hold in every environment. The verdict must not be TRUE.
    Claim,
}

struct Law {
    kind: Kind,
    functions: Vec<String>,
    body: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/laws")
}

fn text(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap()
}

fn laws() -> Vec<Law> {
    let kinds = [("// true law: ", Kind::TrueLaw), ("// law: ", Kind::Law), ("// claim: ", Kind::Claim)];
    let mut laws: Vec<Law> = Vec::new();
    for line in text("laws.c").lines() {
        let start = kinds.iter().find_map(|&(mark, kind)| Some((kind, line.strip_prefix(mark)?)));
        if let Some((kind, functions)) = start {
            let functions = functions.split_whitespace().map(str::to_owned).collect();
            laws.push(Law { kind, functions, body: String::new() });
        } else if let Some(law) = laws.last_mut() {
            writeln!(law.body, "{line}").unwrap();
        }
    }
    laws
}

/// The C text of a function for each law.
fn functions(laws: &[&Law]) -> String {
    let mut program = text("prelude.h");
    for (n, law) in laws.iter().enumerate() {
        write!(program, "\nstatic void law_{n}(void) {{\n{}}}\n", law.body).unwrap();
    }
    program
}

/// The verdict on a program that relies on one of these laws, chosen by an input. Only true laws need a long analysis:
/// the verdict on the others may be UNKNOWN.
fn verdict(laws: &[&Law], folder: &Path, name: &str) -> String {
    let limit = if laws[0].kind == Kind::TrueLaw { "20" } else { "5" };
    let mut program = functions(laws) + "\nextern int __VERIFIER_nondet_int(void);\nint main(void) {\n    ";
    if laws.len() > 1 {
        program += "switch (__VERIFIER_nondet_int()) {\n";
        for n in 0..laws.len() {
            writeln!(program, "    case {n}:\n        law_{n}();\n        break;").unwrap();
        }
        program += "    }\n";
    } else {
        program += "law_0();\n";
    }
    program += "    return 0;\n}\n";
    let file = folder.join(format!("{name}.c"));
    std::fs::write(&file, program).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
    command.args(["verify", "--property", "unreach-call", "--cpu-limit", limit]).arg(file);
    let output = command.output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    stdout.lines().last().map_or_else(|| stderr.into_owned(), str::to_owned)
}

fn is_right(kind: Kind, verdict: &str) -> bool {
    match kind {
        Kind::TrueLaw => verdict == "TRUE",
        Kind::Law => verdict == "TRUE" || verdict.starts_with("UNKNOWN"),
        Kind::Claim => verdict.starts_with("FALSE") || verdict.starts_with("UNKNOWN"),
    }
}

/// The number of true laws that are verified together as one program, to save time. Laws and claims are verified one by
/// one, because the verdict on one would hide the others.
const TOGETHER: usize = 6;

#[test]
fn laws_are_not_called_wrong_and_claims_are_not_proved() {
    let all = laws();
    let mut groups: Vec<Vec<&Law>> = Vec::new();
    for (kind, size) in [(Kind::TrueLaw, TOGETHER), (Kind::Law, 1), (Kind::Claim, 1)] {
        let of_kind: Vec<&Law> = all.iter().filter(|law| law.kind == kind).collect();
        assert!(of_kind.len() > 10, "{kind:?}");
        groups.extend(of_kind.chunks(size).map(<[_]>::to_vec));
    }
    let folder = tempfile::tempdir().unwrap();
    let wrong = Mutex::new(Vec::new());
    groups.par_iter().enumerate().for_each(|(n, group)| {
        let kind = group[0].kind;
        if is_right(kind, &verdict(group, folder.path(), &format!("group{n}"))) {
            return;
        }
        // Find the wrong law of the group.
        for (i, law) in group.iter().enumerate() {
            let verdict = verdict(&[law], folder.path(), &format!("law{n}_{i}"));
            if group.len() == 1 || !is_right(kind, &verdict) {
                wrong.lock().unwrap().push(format!("{verdict} of a {kind:?}:\n{}", law.body));
            }
        }
        wrong.lock().unwrap().push(format!("group {n} of {kind:?}"));
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs each law natively in its own process. Claims are left out, because a native run can neither confirm nor refute
/// that some environment breaks them.
#[test]
fn laws_hold_natively() {
    let all = laws();
    let laws: Vec<&Law> = all.iter().filter(|law| law.kind != Kind::Claim).collect();
    let mut program =
        functions(&laws) + "\n#include <sys/wait.h>\nvoid reach_error(void) { _exit(1); }\nint main(void) {\n";
    program += "    void (*laws[])(void) = {";
    (0..laws.len()).for_each(|n| write!(program, "law_{n}, ").unwrap());
    program += "};\n    static const char input[] = \"12 -7 0x1f word 2.5\";\n    \
        for (unsigned i = 0; i < sizeof laws / sizeof *laws; i++) {\n        \
        int status;\n        pid_t child = fork();\n        if (child == 0) {\n            int ends[2];\n            \
        pipe(ends);\n            write(ends[1], input, sizeof input - 1);\n            close(ends[1]);\n            \
        dup2(ends[0], 0);\n            close(ends[0]);\n            laws[i]();\n            _exit(0);\n        }\n        \
        waitpid(child, &status, 0);\n        if (status)\n            printf(\"%u\\n\", i);\n        fflush(stdout);\n    }\n    \
        return 0;\n}\n";
    let folder = tempfile::tempdir().unwrap();
    let (source, binary) = (folder.path().join("laws.c"), folder.path().join("laws"));
    std::fs::write(&source, program).unwrap();
    let output = Command::new("clang-19").args(["-w", "-O0", "-o"]).args([&binary, &source]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = Command::new("timeout").arg("60").arg(&binary).current_dir(folder.path()).output().unwrap();
    let broken = String::from_utf8_lossy(&output.stdout);
    let broken: Vec<&str> = broken.lines().map(|n| laws[n.parse::<usize>().unwrap()].body.as_str()).collect();
    assert!(output.status.success() && broken.is_empty(), "{}", broken.join("\n"));
}

/// The library functions whose models use a value from the environment, directly or through functions that they call or
/// whose addresses they take. Computed from the LLVM IR of the models.
fn asking_functions() -> BTreeSet<String> {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("frontend-llvm/models");
    let mut unit = String::new();
    // These macros enable the parts of models that are compiled only if the program can observe them.
    for flag in ["ERRNO", "WIDE", "SCANS", "DESCRIPTORS", "FILES", "SEEDS", "RESEEDS"] {
        writeln!(unit, "#define PROVISO_{flag}").unwrap();
    }
    let mut files: Vec<String> =
        std::fs::read_dir(&models).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    // The functions of other verifiers (`cprover.c`) are left out: their values are inputs of the program, not of the
    // environment.
    for file in files.iter().filter(|file| file.ends_with(".c") && *file != "cprover.c") {
        writeln!(unit, "#include \"{file}\"").unwrap();
    }
    let mut clang = Command::new("clang-19");
    clang.args(["-w", "-S", "-emit-llvm", "-O0", "-nostdinc", "-xc", "-", "-o", "-", "-I"]).arg(&models);
    let mut clang = clang.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    clang.stdin.take().unwrap().write_all(unit.as_bytes()).unwrap();
    let output = clang.wait_with_output().unwrap();
    assert!(output.status.success());
    let ir = String::from_utf8(output.stdout).unwrap();

    // By function: the names in its body. And the functions with external linkage.
    let mut uses: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut visible = BTreeSet::new();
    let mut function = None;
    for line in ir.lines() {
        let mut named = names(line);
        if let Some(rest) = line.strip_prefix("define ") {
            function = named.next();
            if !rest.starts_with("internal ") {
                visible.extend(function);
            }
        } else if line == "}" {
            function = None;
        }
        if let Some(function) = function {
            uses.entry(function).or_default().extend(named);
        }
    }
    let mut asking: BTreeSet<&str> = BTreeSet::new();
    loop {
        let more = uses.iter().filter(|(function, used)| {
            let asks = |name: &&str| name.starts_with("__proviso_env_") || asking.contains(name);
            !asking.contains(*function) && used.iter().any(asks)
        });
        let more: Vec<&str> = more.map(|(function, _)| *function).collect();
        if more.is_empty() {
            break;
        }
        asking.extend(more);
    }
    // Internal functions of models have names with a dot.
    asking.intersection(&visible).filter(|name| !name.contains('.')).map(|name| (*name).to_owned()).collect()
}

/// The names of functions and variables in a line of LLVM's text.
fn names(line: &str) -> impl Iterator<Item = &str> {
    line.split('@').skip(1).map(|rest| {
        let rest = rest.strip_prefix('"').unwrap_or(rest);
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.' && c != '$');
        &rest[..end.unwrap_or(rest.len())]
    })
}

#[test]
fn each_function_that_asks_the_environment_has_a_law_or_a_reason_why_not() {
    let asking = asking_functions();
    assert!(asking.contains("rand") && asking.contains("scanf") && !asking.contains("strlen"), "{asking:?}");
    let laws = laws();
    let with_law: BTreeSet<&str> = laws.iter().flat_map(|law| &law.functions).map(String::as_str).collect();
    let any = text("any.txt");
    let lines = any.lines().filter(|line| !line.starts_with('#') && !line.ends_with(':'));
    let with_reason: BTreeSet<&str> = lines.flat_map(str::split_whitespace).collect();
    let neither: Vec<&String> = asking
        .iter()
        .filter(|name| !with_law.contains(name.as_str()) && !with_reason.contains(name.as_str()))
        .collect();
    assert!(neither.is_empty(), "neither in laws.c nor in any.txt: {neither:?}");
    let idle: Vec<&&str> = with_reason.iter().filter(|name| !asking.contains(**name)).collect();
    assert!(idle.is_empty(), "in any.txt, but their models ask nothing of the environment: {idle:?}");
}
