//! Output formats for editors, code hosts and shells.

use std::process::{Command, Output};

fn proviso(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_proviso")).args(args).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The part of the schema of SARIF 2.1.0 that Proviso uses: by kind of object, the keys with the kinds of their values.
/// A key with `!` is required. Other keys are not allowed. `[kind]` is a list; the lists of a code flow must not be
/// empty.
const SARIF: &[(&str, &[(&str, &str)])] = &[
    ("log", &[("$schema", "text"), ("version!", "text"), ("runs!", "[run]")]),
    (
        "run",
        &[
            ("tool!", "tool"),
            ("columnKind", "text"),
            ("invocations", "[invocation]"),
            ("properties", "bag"),
            ("results", "[result]"),
        ],
    ),
    ("tool", &[("driver!", "component")]),
    ("component", &[("name!", "text"), ("semanticVersion", "text"), ("rules", "[rule]")]),
    (
        "rule",
        &[
            ("id!", "text"),
            ("name", "text"),
            ("shortDescription", "message"),
            ("defaultConfiguration", "configuration"),
            ("properties", "bag"),
        ],
    ),
    ("configuration", &[("level", "level")]),
    ("invocation", &[("executionSuccessful!", "truth"), ("toolExecutionNotifications", "[notification]")]),
    ("notification", &[("message!", "message"), ("level", "level"), ("locations", "[location]")]),
    (
        "result",
        &[
            ("message!", "message"),
            ("ruleId", "text"),
            ("ruleIndex", "index"),
            ("level", "level"),
            ("locations", "[location]"),
            ("relatedLocations", "[location]"),
            ("codeFlows", "[flow]"),
            ("partialFingerprints", "bag"),
        ],
    ),
    ("flow", &[("threadFlows!", "[thread]+")]),
    ("thread", &[("locations!", "[step]+")]),
    ("step", &[("location", "location")]),
    ("location", &[("physicalLocation", "place"), ("message", "message")]),
    ("place", &[("artifactLocation!", "file"), ("region", "region")]),
    ("file", &[("uri!", "text")]),
    ("region", &[("startLine!", "count"), ("startColumn", "count")]),
    ("message", &[("text!", "text")]),
];

fn must_be(kind: &str, value: &serde_json::Value, at: &str) {
    if let Some(of) = kind.strip_prefix('[') {
        let all = value.as_array().unwrap_or_else(|| panic!("{at} is no list: {value}"));
        let of = of.trim_end_matches('+').trim_end_matches(']');
        assert!(!all.is_empty() || !kind.ends_with('+'), "{at} is empty");
        all.iter().enumerate().for_each(|(n, element)| must_be(of, element, &format!("{at}[{n}]")));
        return;
    }
    let Some((_, keys)) = SARIF.iter().find(|(name, _)| *name == kind) else {
        let is_right = match kind {
            "text" => value.is_string(),
            "truth" => value.is_boolean(),
            "bag" => value.is_object(),
            "count" => value.as_u64().is_some_and(|n| n >= 1),
            "index" => value.is_u64(),
            "level" => value.as_str().is_some_and(|level| ["none", "note", "warning", "error"].contains(&level)),
            _ => panic!("{kind} is nothing"),
        };
        return assert!(is_right, "{at} is no {kind}: {value}");
    };
    let object = value.as_object().unwrap_or_else(|| panic!("{at} is no object: {value}"));
    for (key, of) in *keys {
        match object.get(key.trim_end_matches('!')) {
            Some(value) => must_be(of, value, &format!("{at}.{key}")),
            None => assert!(!key.ends_with('!'), "{at} has no {key}"),
        }
    }
    for key in object.keys() {
        assert!(keys.iter().any(|(known, _)| known.trim_end_matches('!') == key), "{at} has {key}");
    }
}

/// Reads a SARIF log and checks it against [`SARIF`].
fn sarif(path: &std::path::Path) -> serde_json::Value {
    let log: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    must_be("log", &log, "log");
    log
}

const FAILS: &str = "void reach_error(void);\nint __VERIFIER_nondet_int(void);\n\
    int main(void) {\n    int x = __VERIFIER_nondet_int();\n    if (x == 4711)\n        reach_error();\n    return 0;\n}\n";

#[test]
fn findings_are_lines_that_editors_read_and_sarif() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a b.c"), FAILS).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_proviso"))
        .current_dir(&folder)
        .args(["verify", "a b.c", "--message-format", "short", "--sarif", "out.sarif"])
        .output()
        .unwrap();
    let expected = "a b.c:6:9: error: reach_error is called [unreach-call]\nFALSE(unreach-call)\n";
    assert_eq!(stdout(&output), expected);

    let log = sarif(&folder.path().join("out.sarif"));
    let run = &log["runs"][0];
    let result = &run["results"][0];
    assert_eq!(log["version"], "2.1.0");
    let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
    assert_eq!((&rule["id"], &result["ruleId"]), (&"unreach-call".into(), &"unreach-call".into()));
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "a%20b.c");
    assert_eq!((&place["region"]["startLine"], &place["region"]["startColumn"]), (&6.into(), &9.into()));
    let flow = result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().unwrap();
    assert_eq!(flow.first().unwrap()["location"]["message"]["text"], "x = 4711  (input 1: int)");
    assert!(flow.len() >= 3);
}

/// In a program of several files, each place names its file. Columns count characters. A finding has related locations.
#[test]
fn places_of_several_files_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let make = "#include <stdlib.h>\nchar *make(void) {\n    return malloc(3);\n}\n";
    let main = "#include <stdlib.h>\nchar *make(void);\nint __VERIFIER_nondet_int(void);\n\
        int main(void) {\n    char *p = make();\n    if (!p)\n        return 0;\n    \
        int i = __VERIFIER_nondet_int();\n    /* Größe */ p[i < 0 || i > 3 ? 0 : i] = 1;\n    \
        if (i < 9)\n        free(p);\n    return 0;\n}\n";
    std::fs::create_dir(folder.path().join("lib")).unwrap();
    std::fs::write(folder.path().join("lib/make.c"), make).unwrap();
    std::fs::write(folder.path().join("main.c"), main).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_proviso"))
        .current_dir(&folder)
        .args(["verify", "main.c", "lib/make.c", "--check", "address,leak"])
        .args(["--message-format", "short", "--sarif", "out.sarif", "--report", "out.html"])
        .output()
        .unwrap();
    let said = stdout(&output);
    let overrun = "write of `p[3]` at offset 3 of the object allocated at lib/make.c:3, which has 3 bytes";
    let lost = "the object allocated in line 3 is leaked: no pointer to it remains";
    for (place, text) in [("main.c:9", overrun), ("lib/make.c:3:12", lost)] {
        let found = said.lines().any(|l| l.starts_with(place) && l.contains(&format!(": error: {text} [")));
        assert!(found, "{place}: {text} not in {said}");
    }
    let log = sarif(&folder.path().join("out.sarif"));
    let results = log["runs"][0]["results"].as_array().unwrap();
    let place = |value: &serde_json::Value| {
        let place = &value["physicalLocation"];
        let region = &place["region"];
        format!(
            "{}:{}:{}",
            place["artifactLocation"]["uri"].as_str().unwrap(),
            region["startLine"],
            region["startColumn"]
        )
    };
    let of = |rule: &str| results.iter().find(|r| r["ruleId"] == rule).unwrap();
    // Two characters before the column have two bytes each.
    let column = "    /* Größe */ p[i < 0 || i > 3 ? 0 : i] ".chars().count() + 1;
    assert_eq!(place(&of("address")["locations"][0]), format!("main.c:9:{column}"));
    assert_eq!(place(&of("leak")["locations"][0]), "lib/make.c:3:12");
    let related = of("address")["relatedLocations"].as_array().unwrap();
    assert!(related.iter().any(|r| place(r) == "lib/make.c:3:12" && r["message"]["text"].is_string()), "{related:?}");
}

/// Findings as JSON objects, one per line.
#[test]
fn findings_are_lines_of_json() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p.c"), FAILS).unwrap();
    let run = |format: &str, extra: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_proviso"))
            .current_dir(&folder)
            .args(["verify", "p.c", "--message-format", format])
            .args(extra)
            .output()
            .unwrap();
        stdout(&output).lines().map(str::to_owned).collect::<Vec<String>>()
    };
    for extra in [&[][..], &["--cpu-limit", "0.000001"]] {
        let (short, json) = (run("short", extra), run("json", extra));
        let json: Vec<serde_json::Value> = json.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        // Short messages are the findings or the reason, without steps and advice.
        let is_main = |of: &&serde_json::Value| ["error", "warning"].iter().any(|level| of["level"] == *level);
        let main: Vec<String> = json
            .iter()
            .filter(is_main)
            .map(|of| {
                let text = |key: &str| of[key].as_str().map(str::to_owned);
                let place = match text("file") {
                    Some(file) => format!("{file}:{}:{}", of["line"], of["column"]),
                    None => "proviso".to_owned(),
                };
                let property = text("property").map_or_else(String::new, |p| format!(" [{p}]"));
                format!("{place}: {}: {}{property}", text("level").unwrap(), text("message").unwrap())
            })
            .collect();
        let (verdict, findings) = short.split_last().unwrap();
        assert_eq!(findings, main);
        let last = json.last().unwrap();
        assert_eq!((&last["level"], &last["message"]), (&"verdict".into(), &verdict.as_str().into()));
    }
}

/// A violation in the first statement of a function is located in the function, not at its call.
#[test]
fn a_function_may_begin_with_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let program = "void free(void *);\nint a = 5;\nvoid drop(void) {\n    free(&a);\n}\n\
        int main(void) {\n    drop();\n    return 0;\n}\n";
    std::fs::write(folder.path().join("p.c"), program).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_proviso"))
        .current_dir(&folder)
        .args(["verify", "p.c", "--property", "valid-memsafety", "--message-format", "short"])
        .output()
        .unwrap();
    assert!(stdout(&output).starts_with("p.c:4:5: error: free of `a`, "), "{}", stdout(&output));
}

#[test]
fn checks_are_no_steps_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let program = "int __VERIFIER_nondet_int(void);\n\
        int main(void) {\n    int n = __VERIFIER_nondet_int(), p[2];\n    p[0] = n / (n + 2);\n    \
        p[n == 7 ? 2 : 1] = 1;\n    return n == 9 ? n + 0x7fffffff : 0;\n}\n";
    std::fs::write(folder.path().join("p.c"), program).unwrap();
    for options in [&[][..], &["--property", "valid-deref"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_proviso"))
            .current_dir(&folder)
            .args(["verify", "p.c", "--message-format", "json"])
            .args(options)
            .output()
            .unwrap();
        let said = stdout(&output);
        assert!(said.contains(r#""level":"error""#) && said.contains(r#""level":"note""#), "{said}");
        // Checks that do not fail, here of a division and an index, have no notes.
        let of_checks = |line: &str| line.contains(r#""message":"""#) || line.contains("-2147483648");
        assert!(!said.lines().any(of_checks), "{said}");
    }
}

#[test]
fn an_unknown_is_a_notification() {
    let folder = tempfile::tempdir().unwrap();
    let (program, log) = (folder.path().join("a.c"), folder.path().join("a.sarif"));
    let text = "void reach_error(void); int strange(void);\nint main(void) { if (strange()) reach_error(); }\n";
    std::fs::write(&program, text).unwrap();
    proviso(&["verify", program.to_str().unwrap(), "--sarif", log.to_str().unwrap()]);
    let log = sarif(&log);
    assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), 0);
    let notes = &log["runs"][0]["invocations"][0]["toolExecutionNotifications"];
    assert!(notes[0]["message"]["text"].as_str().unwrap().contains("strange"), "{notes}");
}

#[test]
fn the_command_describes_itself() {
    let bash = stdout(&proviso(&["completions", "bash"]));
    assert!(bash.contains("--sarif") && bash.contains("validate"));
    let page = stdout(&proviso(&["man"]));
    assert!(page.contains(".TH proviso-verify") || page.contains(".TH proviso"), "{}", &page[..200]);
    assert!(page.contains("message\\-format"));
}
