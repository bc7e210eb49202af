//! Cooperation: ranges of paths, condition automata, and sequences of analyses.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Writes a program with many paths, of which at most one violates the property, depending on `sum`.
fn program(folder: &Path, sum: u32) -> PathBuf {
    let path = folder.join(format!("sum{sum}.c"));
    let text = format!(
        "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\n\
         static int part(int x) {{ if (x > 5) return 3; return 1; }}\n\
         static int (*choose)(int) = part;\n\
         int main(void) {{\n  int n = __VERIFIER_nondet_int(), s = 0, i = 0;\n\
         \x20 while (__VERIFIER_nondet_int() > 0 && i < 4) {{ s += choose(__VERIFIER_nondet_int()); i++; }}\n\
         \x20 if (n == 77 && s == {sum}) reach_error();\n  return 0;\n}}\n"
    );
    std::fs::write(&path, text).unwrap();
    path
}

fn run(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_proviso"))
        .current_dir(folder)
        .args(args)
        .args(["--property", "unreach-call"])
        .output()
        .unwrap()
}

fn verdict(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    text.lines().last().unwrap_or_else(|| panic!("no verdict: {errors}")).to_owned()
}

#[test]
fn a_split_that_is_stopped_says_by_what() {
    let dir = tempfile::tempdir().unwrap();
    let text = "extern unsigned __VERIFIER_nondet_uint(void);\nextern void reach_error(void);\n\
                int main(void) {\n  unsigned s = __VERIFIER_nondet_uint(), i = 0;\n\
                \x20 while (i < s * s * s) { i++; s ^= s >> 3; }\n  if (s == 6) reach_error();\n  return 0;\n}\n";
    std::fs::write(dir.path().join("hard.c"), text).unwrap();
    for (limit, reason) in [("--timeout", "timeout of 1 s"), ("--cpu-limit", "1 s of processor time")] {
        let stopped = run(dir.path(), &["split", "--by", "lb3000", limit, "1", "hard.c"]);
        let said = String::from_utf8_lossy(&stopped.stderr).into_owned();
        assert_eq!(stopped.status.code(), Some(2), "{said}");
        assert!(said.contains(reason) && !said.contains("interrupted"), "{said}");
    }
}

/// A splitter prints the inputs that take its path, up to the last one that the path depends on.
#[test]
fn splitters_give_what_the_path_needs() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    let write = |name: &str, body: &str| {
        let text = format!("extern int __VERIFIER_nondet_int(void);\nint main(void) {{ {body} return 0; }}\n");
        std::fs::write(folder.join(name), text).unwrap();
    };
    let input = "__VERIFIER_nondet_int()";
    let loop_to = |n: &str| format!("for (int i = 0; i < {n}; i++) if ({input} > 40) x++;");
    write("n.c", &format!("int x = {input}, n = {input}; {} x = {input}; if (x * 0) n++;", loop_to("n")));
    write("two.c", &format!("int x = {input}; for (int i = 0; i < 2; i++) x++; x = {input};"));
    let values = |splitter: &str, file: &str| -> Vec<i64> {
        let xml = String::from_utf8(run(folder, &["split", "--by", splitter, file]).stdout).unwrap();
        assert!(xml.contains("<testcase>"), "{xml}");
        let inputs =
            xml.lines().filter_map(|l| l.trim().strip_prefix("<input type=\"int\">")?.strip_suffix("</input>"));
        inputs.map(|value| value.parse().unwrap()).collect()
    };
    let taken = values("lb3", "n.c");
    assert!(taken.len() == 5 && taken[..2] == [0, 3] && taken[2..].iter().all(|&x| x > 40), "{taken:?}");
    // The path has no choice up to its end, where the loop would need another iteration, so there are no values.
    assert!(values("lb3", "two.c").is_empty());
    std::fs::write(folder.join("t.xml"), run(folder, &["split", "--by", "lb3", "two.c"]).stdout).unwrap();
    for range in ["-,t.xml", "t.xml,-"] {
        let proved = run(folder, &["verify", "--analysis", "symex", "--range", range, "two.c"]);
        assert_eq!(proved.status.code(), Some(3), "{}", verdict(&proved));
    }
}

#[test]
fn ranges_divide_the_work() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    // Six is 3 + 3 and 3 + 1 + 1 + 1; eleven is no sum of at most four of these.
    program(folder, 6);
    program(folder, 11);
    let twice = run(folder, &["split", "--by", "lb2,lb2", "sum6.c"]);
    assert!(String::from_utf8_lossy(&twice.stderr).contains("divided into 2 ranges"), "{twice:?}");
    let split = run(folder, &["split", "--by", "lb2", "sum6.c"]);
    assert_eq!(split.status.code(), Some(0));
    let test = String::from_utf8(split.stdout).unwrap();
    assert!(test.contains("<testcase>") && test.matches("<input type=\"int\">").count() == 6, "{test}");
    std::fs::write(folder.join("t.xml"), test).unwrap();
    // Conditions and ranges require a single property. The default is reachability.
    let several = Command::new(env!("CARGO_BIN_EXE_proviso"))
        .current_dir(folder)
        .args(["verify", "--check", "address,unreach-call", "--range", "-,t.xml", "sum6.c"])
        .output();
    assert_eq!(several.unwrap().status.code(), Some(64));
    let ask = |range: &str, file: &str| run(folder, &["verify", "--analysis", "symex", "--range", range, file]);
    let mut violated = 0;
    for range in ["-,t.xml", "t.xml,-", "t.xml,t.xml"] {
        let proved = ask(range, "sum11.c");
        assert_eq!(proved.status.code(), Some(3), "{range}: {}", verdict(&proved));
        assert!(verdict(&proved).starts_with("UNKNOWN(proved within the range"));
        let found = ask(range, "sum6.c");
        violated += u32::from(found.status.code() == Some(1));
        assert!([Some(1), Some(3)].contains(&found.status.code()), "{range}: {}", verdict(&found));
    }
    assert!(violated >= 1);
    assert_eq!(verdict(&ask("-,-", "sum11.c")), "TRUE");
    for bad in ["t.xml", "-,gone.xml", "-,sum6.c"] {
        assert!(ask(bad, "sum6.c").status.code() >= Some(64), "{bad}");
    }
}

/// The condition of a range covers no path outside the range. The condition of a composition covers the paths that its
/// ranges cover.
#[test]
fn ranges_leave_conditions() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    program(folder, 6);
    program(folder, 11);
    std::fs::write(folder.join("t.xml"), run(folder, &["split", "--by", "lb2", "sum11.c"]).stdout).unwrap();
    let ask = |more: &[&str], file: &str| {
        verdict(&run(folder, &[&["verify", "--analysis", "symex"], more, &[file]].concat()))
    };
    let left = ask(&["--range", "-,t.xml", "--save-condition", "left.txt"], "sum11.c");
    assert!(left.starts_with("UNKNOWN(proved within the range"), "{left}");
    let text = std::fs::read_to_string(folder.join("left.txt")).unwrap();
    assert!(text.contains("accepting") && !text.contains("q0 initial accepting"), "{text}");
    assert_eq!(ask(&["--resume", "left.txt", "--save-condition", "all.txt"], "sum11.c"), "TRUE");
    assert!(std::fs::read_to_string(folder.join("all.txt")).unwrap().contains("q0 initial accepting"));
    // One of the two ranges contains the violation. A run that resumes from the other's condition finds it.
    for range in ["-,t.xml", "t.xml,-"] {
        let within = ask(&["--range", range, "--save-condition", "half.txt"], "sum6.c");
        if within.starts_with("UNKNOWN") {
            assert_eq!(ask(&["--resume", "half.txt"], "sum6.c"), "FALSE(unreach-call)", "{range}");
        }
    }
    // Random testing proves nothing. If it analyses both ranges, both stay open.
    let ranged = |composition| ["--ranged", composition, "--save-condition", "both.txt"];
    assert!(ask(&ranged("lb2: random | random"), "sum11.c").starts_with("UNKNOWN"));
    assert!(!std::fs::read_to_string(folder.join("both.txt")).unwrap().contains("accepting"));
    // Otherwise the analysis that has proved its own range takes over the other range.
    for (composition, file, verdict) in [
        ("lb2: symex | random", "sum11.c", "TRUE"),
        ("lb2: random | symex", "sum11.c", "TRUE"),
        ("lb1,lb3: random | symex | random", "sum11.c", "TRUE"),
        ("lb2: random | symex", "sum6.c", "FALSE(unreach-call)"),
        ("lb2: symex | random", "sum6.c", "FALSE(unreach-call)"),
    ] {
        assert_eq!(ask(&ranged(composition), file), verdict, "{composition}");
    }
    let hard = "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\n\
                int main(void) {\n  unsigned x = 0;\n  while (__VERIFIER_nondet_int()) x += 2;\n\
                \x20 if (x % 2) reach_error();\n  return 0;\n}\n";
    std::fs::write(folder.join("even.c"), hard).unwrap();
    // The predicate analysis does not wait for bounded model checking, which never ends, because it increases its
    // bounds.
    assert_eq!(ask(&[&ranged("lb2: bmc | predicate")[..], &["--cpu-limit", "30"]].concat(), "even.c"), "TRUE");
    // A proved range is saved even if a limit leaves the other open.
    let limited = [&ranged("lb2: symex | symex")[..], &["--cpu-limit", "2"]].concat();
    let said = ask(&limited, "even.c");
    assert!(said.starts_with("UNKNOWN"), "{said}");
    assert!(std::fs::read_to_string(folder.join("both.txt")).unwrap().contains("accepting"));
}

/// The first analysis gets half of the limit, regardless of the load of the machine.
#[test]
fn a_limit_of_processor_time_is_shared_by_both() {
    let dir = tempfile::tempdir().unwrap();
    let text = "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\n\
                int main(void) {\n  unsigned x = 0;\n  while (__VERIFIER_nondet_int()) x += 2;\n\
                \x20 if (x % 2) reach_error();\n  return 0;\n}\n";
    std::fs::write(dir.path().join("even.c"), text).unwrap();
    let then = ["verify", "--analysis", "symex", "--cpu-limit", "4", "--then", "lh: predicate", "even.c"];
    assert_eq!(verdict(&run(dir.path(), &then)), "TRUE");
}

#[test]
fn compositions_join_verdicts() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    program(folder, 6);
    program(folder, 11);
    for composition in
        ["Ra-2Se-Lb3", "Ra-3Se-Lb", "Ra-2bmc-Rdm9", "Ra-Se-Pred-Rdm", "lb1,rdm: value | k-induction | symex"]
    {
        let ask = |file: &str| run(folder, &["verify", "--ranged", composition, "--json", "r.json", file]);
        assert_eq!(verdict(&ask("sum6.c")), "FALSE(unreach-call)", "{composition}");
        let safe = verdict(&ask("sum11.c"));
        if composition.contains("Pred") {
            // Predicates do not always suffice.
            assert!(!safe.starts_with("FALSE"), "{composition}: {safe}");
            continue;
        }
        assert_eq!(safe, "TRUE", "{composition}");
        let json: serde_json::Value = serde_json::from_slice(&std::fs::read(folder.join("r.json")).unwrap()).unwrap();
        let parts = json["parts"].as_array().unwrap();
        assert!(parts.len() >= 2 && parts.iter().all(|p| p["verdict"] == "TRUE"), "{composition}: {parts:?}");
    }
    assert_eq!(run(folder, &["verify", "--ranged", "lb3: symex", "sum6.c"]).status.code(), Some(64));
}

/// Results about the residual program are reported for the original program, although its loops and locations differ.
#[test]
fn what_is_left_is_told_of_the_program() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    let text = "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
static int quick(int x) {
    if (x > 5)
        return 3;
    return 1;
}
int main(void) {
    int n = __VERIFIER_nondet_int();
    unsigned s = 0;
    if (n < 0) {
        if (quick(n) == 3)
            reach_error();
        return 0;
    }
    while (__VERIFIER_nondet_int())
        s += 2;
    if (s & 1)
        reach_error();
    return 0;
}
";
    std::fs::write(folder.join("p.c"), text).unwrap();
    // Symbolic execution enumerates paths, so it does not end here.
    let begun = run(folder, &["verify", "--analysis", "symex", "--cpu-limit", "2", "--save-condition", "c.txt", "p.c"]);
    assert!(verdict(&begun).starts_with("UNKNOWN"), "{}", verdict(&begun));
    let condition = std::fs::read_to_string(folder.join("c.txt")).unwrap();
    assert!(condition.lines().count() > 2, "{condition}");
    let bounded = ["verify", "--analysis", "bmc", "--timeout", "2", "--save-condition", "b.txt", "p.c"];
    let bounded = verdict(&run(folder, &bounded));
    assert!(bounded.starts_with("UNKNOWN(timeout of 2 s"), "{bounded}");
    let evidence = ["--witness", "w.yml", "--report", "r.html", "--pixel-tree", "t.svg"];
    let gone_on = ["verify", "--resume", "c.txt", "--analysis", "invariants", "p.c"];
    assert_eq!(verdict(&run(folder, &[&gone_on[..], &evidence[..4]].concat())), "TRUE");
    let witness = std::fs::read_to_string(folder.join("w.yml")).unwrap();
    for line in witness.lines().filter_map(|line| line.trim().strip_prefix("line: ")) {
        assert_eq!(line, "16", "{witness}");
    }
    // The resumed run explores only the remaining paths, not the verified branch.
    let again = ["verify", "--resume", "c.txt", "--analysis", "symex", "--cpu-limit", "2", "p.c"];
    assert!(verdict(&run(folder, &[&again[..], &evidence[2..]].concat())).starts_with("UNKNOWN"));
    let page = std::fs::read_to_string(folder.join("r.html")).unwrap();
    let data = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["complete"], false);
    let lines = data["files"][0]["code"].as_array().unwrap();
    let reached = |number: u64| lines.iter().find(|l| l[0] == number).map(|l| l[2] == true);
    assert_eq!((reached(16), reached(17)), (Some(true), Some(true)), "{lines:?}");
    assert_eq!((reached(13), reached(5)), (Some(false), Some(false)), "{lines:?}");
    let names = data["states"]["names"].as_array().unwrap();
    assert!(names.iter().any(|name| name == "main"), "{names:?}");
}

#[test]
fn conditions_are_gone_on_from() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    program(folder, 6);
    program(folder, 11);
    // Random testing verifies no path.
    let begun = run(folder, &["verify", "--analysis", "random", "--save-condition", "none.txt", "sum11.c"]);
    assert_eq!(begun.status.code(), Some(2));
    let none = std::fs::read_to_string(folder.join("none.txt")).unwrap();
    assert!(none.starts_with("condition of ") && !none.contains("accepting"), "{none}");
    let resumed = run(
        folder,
        &["verify", "--analysis", "symex", "--resume", "none.txt", "--save-condition", "all.txt", "sum11.c"],
    );
    assert_eq!(verdict(&resumed), "TRUE");
    assert!(String::from_utf8_lossy(&resumed.stderr).contains("the paths that none.txt covers are verified"));
    assert!(std::fs::read_to_string(folder.join("all.txt")).unwrap().contains("q0 initial accepting"));
    // A condition belongs to one program.
    let other = run(folder, &["verify", "--resume", "all.txt", "sum6.c"]);
    assert_eq!(other.status.code(), Some(65));
    assert!(String::from_utf8_lossy(&other.stderr).contains("all.txt:1: the condition is for another program"));
    // A condition written by hand that claims that all paths are verified.
    let header = none.lines().next().unwrap();
    std::fs::write(folder.join("every.txt"), format!("{header}\nq0 initial accepting\n")).unwrap();
    assert_eq!(verdict(&run(folder, &["verify", "--resume", "every.txt", "sum11.c"])), "TRUE");
    // Two analyses in one run.
    for file in ["sum6.c", "sum11.c"] {
        let then = run(folder, &["verify", "--analysis", "random", "--then", "symex", "--first-for", "1", file]);
        assert_eq!(verdict(&then), if file == "sum6.c" { "FALSE(unreach-call)" } else { "TRUE" });
    }
}

#[test]
fn a_second_analysis_gets_what_a_reducer_leaves() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    program(folder, 6);
    program(folder, 11);
    for reducer in ["parcomp", "cfa", "lh", "lhc", "lhb", "lhbc=2", "nlh"] {
        for file in ["sum6.c", "sum11.c"] {
            let then = format!("{reducer}: value");
            let args = [
                "verify",
                "--timeout",
                "60",
                "--analysis",
                "symex",
                "--search",
                "bfs",
                "--first-for",
                "0.02",
                "--then",
                &then,
                file,
            ];
            let expected = if file == "sum6.c" { "FALSE(unreach-call)" } else { "TRUE" };
            assert_eq!(verdict(&run(folder, &args)), expected, "{reducer}");
        }
    }
    for bad in [["--then", "x: value"], ["--reducer", "lh"], ["--first-for", "1"], ["--external", "nobody"]] {
        let output = run(folder, &["verify", bad[0], bad[1], "sum6.c"]);
        assert_eq!(output.status.code(), Some(64), "{bad:?}");
    }
}

/// Proviso's own commands in the role of an external tool: `verify` for the verdict, `testgen` for the inputs.
#[test]
fn what_is_left_goes_to_tools_of_others() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    program(folder, 6);
    program(folder, 11);
    let goal = folder.join("error.prp");
    std::fs::write(&goal, "COVER( init(main()), FQL(COVER EDGES(@CALL(reach_error))) )\n").unwrap();
    let tool = |name: &str, then: &str| {
        let binary = env!("CARGO_BIN_EXE_proviso");
        let text = format!(
            "program = \"/bin/sh\"\narguments = [\"-c\", '''\n\"{binary}\" verify --property unreach-call --timeout 60 \"$0\"\n{then}\n''', \"{{file}}\"]\n\
             true = \"TRUE\"\nfalse = \"FALSE(unreach-call)\"\ntests = [\"suite/*.xml\"]\n"
        );
        std::fs::write(folder.join(name), text).unwrap();
    };
    let testgen = format!(
        "\"{}\" testgen --property {} --timeout 60 --output suite \"$0\"",
        env!("CARGO_BIN_EXE_proviso"),
        goal.display()
    );
    tool("ours.toml", &testgen);
    tool("silent.toml", "");
    tool("wrong.toml", "mkdir suite; echo '<testcase><input>1</input></testcase>' > suite/1.xml");
    tool("torn.toml", "echo TRUE");
    tool("slow.toml", "sleep 60");
    let ask = |tool: &str, time: &str, file: &str| {
        let args = ["verify", "--timeout", time, "--first-for", "0", "--external", tool, "--json", "r.json", file];
        run(folder, &args)
    };
    let found = ask("ours.toml", "120", "sum6.c");
    assert_eq!(verdict(&found), "FALSE(unreach-call)");
    let proved = ask("ours.toml", "120", "sum11.c");
    assert_eq!(verdict(&proved), "TRUE");
    assert!(String::from_utf8_lossy(&proved.stderr).contains("it was not checked"));
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(folder.join("r.json")).unwrap()).unwrap();
    assert_eq!(json["decided_by"], "ours");
    // A violation without a test case, or whose inputs do not reproduce it, does not count.
    for (tool, why) in [("silent.toml", "no test case"), ("wrong.toml", "not confirmed"), ("torn.toml", "contradicts")]
    {
        let text = verdict(&ask(tool, "120", "sum6.c"));
        assert!(text.starts_with("UNKNOWN(") && text.contains(why), "{tool}: {text}");
    }
    // At the time limit, the tool is stopped together with all its child processes.
    let late = ask("slow.toml", "4", "sum6.c");
    assert!(verdict(&late).starts_with("UNKNOWN("), "{}", verdict(&late));
    // The tool gets the residual program of a first analysis.
    let after = run(
        folder,
        &[
            "verify",
            "--timeout",
            "120",
            "--analysis",
            "symex",
            "--first-for",
            "0.02",
            "--external",
            "ours.toml",
            "--reducer",
            "lhb",
            "sum6.c",
        ],
    );
    assert_eq!(verdict(&after), "FALSE(unreach-call)");
}

/// The proof of an external tool is about the C that it was given. It does not count for checks that the C lacks, or if
/// the tool fails.
#[test]
fn proofs_of_others_count_for_what_they_are_about() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    for (tool, script) in [("yes", "echo OK"), ("crash", "echo OK; exit 139"), ("killed", "echo OK; kill -9 $$")] {
        let text = format!(
            "program = \"sh\"\narguments = [\"-c\", \"{script}\", \"{{file}}\"]\ntrue = \"OK\"\nfalse = \"BAD\"\n"
        );
        std::fs::write(folder.join(format!("{tool}.toml")), text).unwrap();
    }
    let input = "extern int __VERIFIER_nondet_int(void);\n";
    for (file, text) in [
        (
            "error.c",
            "void reach_error(void); int main(void) { if (__VERIFIER_nondet_int() == 7) reach_error(); return 0; }\n",
        ),
        ("write.c", "int main(void) { int a[4], i = __VERIFIER_nondet_int(); a[i & 7] = 1; return 0; }\n"),
        (
            "heap.c",
            "#include <stdlib.h>\nint main(void) { int *p = malloc(4); if (__VERIFIER_nondet_int()) free(p); return 0; }\n",
        ),
        (
            "exit.c",
            "#include <stdlib.h>\nint main(void) { int *p = malloc(4); if (__VERIFIER_nondet_int()) exit(1); free(p); return 0; }\n",
        ),
        (
            "round.c",
            "#include <fenv.h>\n#include <math.h>\nvoid reach_error(void); int main(void) { int n = __VERIFIER_nondet_int(); fesetround(FE_UPWARD);\n\
             if (n == 7 && nearbyint(12.1) == 13) reach_error(); return 0; }\n",
        ),
    ] {
        std::fs::write(folder.join(file), format!("{input}{text}")).unwrap();
    }
    let ask = |tool: &str, what: [&str; 2], file: &str| {
        let args = ["verify", what[0], what[1], "-t", "60", "--first-for", "0", "--external", tool, file];
        verdict(&Command::new(env!("CARGO_BIN_EXE_proviso")).current_dir(folder).args(args).output().unwrap())
    };
    let (reach, memory, leak) =
        (["--property", "unreach-call"], ["--property", "valid-memsafety"], ["--automaton", "heap"]);
    assert_eq!(ask("yes.toml", reach, "error.c"), "TRUE");
    for (tool, what, file, why) in [
        ("crash.toml", reach, "error.c", "exit status: 139"),
        ("killed.toml", reach, "error.c", "signal: 9"),
        ("yes.toml", memory, "write.c", "lacks a check of the program"),
        ("yes.toml", memory, "heap.c", "lacks a check of the program"),
        ("yes.toml", ["--property", "valid-memcleanup"], "heap.c", "lacks a check of the program"),
        ("yes.toml", leak, "heap.c", "approximates the program: automaton heap: more than 32 instances"),
        ("yes.toml", leak, "exit.c", "approximates the program: automaton heap: more than 32 instances"),
        ("yes.toml", reach, "round.c", "`__rounding_mode`"),
    ] {
        let said = ask(tool, what, file);
        assert!(said.starts_with("UNKNOWN(") && said.contains(why), "{tool} {file} {what:?}: {said}");
    }
    // A program that changes the rounding mode cannot be written as C.
    let written = run(folder, &["reduce", "round.c", "-o", "written.c"]);
    assert_eq!(written.status.code(), Some(65));
    assert!(String::from_utf8_lossy(&written.stderr).contains("`__rounding_mode`"));
}

/// Four processes, each with one range of the paths. If one is killed, only its range remains to be verified.
#[test]
fn a_range_whose_process_is_killed_is_done_again_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    let loops = |turns: &str| {
        let text = format!(
            "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\nint main(void) {{\n  int i = 0;\n\
             \x20 while (i < 8 && __VERIFIER_nondet_int() > 0) i++;\n  if (i == {turns}) reach_error();\n  return 0;\n}}\n"
        );
        std::fs::write(folder.join("loop.c"), text).unwrap();
    };
    let arguments = |bounds: &str| {
        let range =
            ["verify", "--property", "unreach-call", "--analysis", "symex", "--timeout", "60", "--range", bounds];
        range.iter().map(|&s| s.to_owned()).chain(["loop.c".to_owned()]).collect::<Vec<_>>()
    };
    let start = |bounds: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
        command.current_dir(folder).args(arguments(bounds)).stdout(std::process::Stdio::null());
        command.stderr(std::process::Stdio::null()).spawn().unwrap()
    };
    // The violation lies between the bounds, before all bounds, or nowhere.
    for (turns, is_violated) in [("0", true), ("6", true), ("9", false)] {
        loops(turns);
        let split = run(folder, &["split", "--by", "lb1,lb3,lb5", "-o", "bounds", "loop.c"]);
        assert_eq!(split.status.code(), Some(0), "{}", String::from_utf8_lossy(&split.stderr));
        let bound = |n: usize| if (1..=3).contains(&n) { format!("bounds/bound-{n}.xml") } else { "-".into() };
        let ranges: Vec<String> = (0..4).map(|n| format!("{},{}", bound(n), bound(n + 1))).collect();
        let codes = |mut processes: Vec<std::process::Child>, killed: Option<usize>| -> Vec<Option<i32>> {
            if let Some(killed) = killed {
                processes[killed].kill().unwrap();
            }
            processes.iter_mut().map(|p| p.wait().unwrap().code()).collect()
        };
        let whole = codes(ranges.iter().map(|r| start(r)).collect(), None);
        // Each path is in one range: the violation is found once.
        let finders: Vec<usize> = (0..4).filter(|&n| whole[n] == Some(1)).collect();
        assert_eq!(finders.len(), usize::from(is_violated), "{turns}: {whole:?}");
        let killed = finders.first().copied().unwrap_or(2);
        let after = codes(ranges.iter().map(|r| start(r)).collect(), Some(killed));
        assert_eq!(after[killed], None, "it was killed: {after:?}");
        for n in (0..4).filter(|&n| n != killed) {
            assert_eq!(after[n], Some(3), "{turns}, range {n}");
        }
        // Repeating the killed process gives the missing result.
        let again = codes(vec![start(&ranges[killed])], None);
        assert_eq!(again, [Some(if is_violated { 1 } else { 3 })], "{turns}");
    }
}

/// Inline assembly taints a run. The condition leaves the paths through it open and claims the others.
#[test]
fn what_was_left_out_is_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    let text = |bad: &str| {
        format!(
            "extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {{
    int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();
    if (x == 3)
        __asm__ volatile(\"nop\" : \"=r\"(y) : : \"memory\");
    if ({bad})
        reach_error();
    return 0;
}}
"
        )
    };
    std::fs::write(folder.join("p.c"), text("y > 10 && x * 2 == 7")).unwrap();
    let left = run(folder, &["verify", "--analysis", "symex", "--save-condition", "c.txt", "p.c"]);
    assert!(verdict(&left).starts_with("UNKNOWN(inline assembly"), "{}", verdict(&left));
    let condition = std::fs::read_to_string(folder.join("c.txt")).unwrap();
    let leads = |what: &str| condition.lines().find(|l| l.ends_with(what)).and_then(|l| l.split(' ').nth(4)).unwrap();
    let accepts = |state: &str| condition.lines().any(|l| *l == format!("{state} accepting"));
    assert!(accepts(leads("x != 3")) && !accepts(leads("x == 3")), "{condition}");
    // The resumed run explores only the paths with the assembly and is UNKNOWN, too.
    let on = run(folder, &["verify", "--resume", "c.txt", "--analysis", "predicate", "p.c"]);
    assert!(verdict(&on).starts_with("UNKNOWN(inline assembly"), "{}", verdict(&on));
}

/// A path that skips the loop comes first in the order of paths. It is not a bound of the loop, because it has no
/// iteration.
#[test]
fn bounds_of_loops_go_round_loops_behind_guards() {
    let folder = tempfile::tempdir().unwrap();
    let programs = [
        ("if (n <= 0) return 0;", "", 1),
        ("if (n < 0 || n > 8) return 0;", "", 1),
        ("if (n == 1) { n = 3; } else {", "}", 1),
        ("if (n == 1) return 1; if (n == 2) { n = 3; } else {", "}", 1),
        ("work(n); if (n == 1) return 1;", "", 2),
    ];
    for (before, after, loops) in programs {
        let text = format!(
            "extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\n\
             static void work(int n) {{ for (int k = 0; k < n; k++) if (__VERIFIER_nondet_int() == 77) reach_error(); }}\n\
             int main(void) {{\n    int n = __VERIFIER_nondet_int(), s = 0;\n    {before}\n    for (int i = 0; i < n; i++) s += __VERIFIER_nondet_int() & 1;\n    {after}\n    return s;\n}}\n"
        );
        std::fs::write(folder.path().join("p.c"), &text).unwrap();
        for (splitter, iterations) in [("lb3", 3), ("lb10", 10)] {
            let args = ["split", "--by", splitter, "--property", "unreach-call", "p.c"];
            let output = std::process::Command::new(env!("CARGO_BIN_EXE_proviso"))
                .args(args)
                .current_dir(folder.path())
                .output()
                .unwrap();
            let test = String::from_utf8_lossy(&output.stdout).into_owned();
            let first = test.split("<input").nth(1).and_then(|i| i.split(['>', '<']).nth(1)).unwrap_or_default();
            let bounded = if before.contains("> 8") { iterations.min(8) } else { iterations };
            assert_eq!(first, bounded.to_string(), "{splitter}, {loops} loops:\n{text}{test}");
        }
    }
}
