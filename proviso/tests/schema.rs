//! Results of the built command match the JSON Schema `docs/reference/result.schema.json`.

use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// A validator for the part of JSON Schema that the file uses. It is stricter than JSON Schema: unknown keys are
/// errors, so the test fails if the schema is incomplete.
struct Validator {
    schema: Value,
    /// The definitions and keys that occurred in a result.
    met: BTreeSet<String>,
    wrong: Vec<String>,
}

impl Validator {
    fn new() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/result.schema.json");
        let schema = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        Self { schema, met: BTreeSet::new(), wrong: Vec::new() }
    }

    fn check(&mut self, value: &Value) {
        let schema = self.schema.clone();
        self.fits(value, &schema, "result", "result");
    }

    /// Checks a value against a schema. `place` is the path of the value, `of` its definition in the schema.
    fn fits(&mut self, value: &Value, schema: &Value, place: &str, of: &str) {
        for (keyword, rule) in schema.as_object().expect("a schema is an object") {
            let holds = match keyword.as_str() {
                "$schema" | "$id" | "$defs" | "title" | "description" => true,
                "type" => rule.as_array().map_or_else(|| is_of(value, rule), |all| all.iter().any(|t| is_of(value, t))),
                "enum" => rule.as_array().unwrap().contains(value),
                "const" => value == rule,
                "minimum" => value.as_i64().is_none_or(|number| number >= rule.as_i64().unwrap()),
                "pattern" => value.as_str().is_none_or(|text| {
                    assert_eq!(rule, "^0x[0-9a-f]+$", "this is the only pattern");
                    let digits = text.strip_prefix("0x").unwrap_or_default();
                    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
                }),
                "required" => {
                    let missing =
                        |name: &&Value| value.as_object().is_some_and(|o| !o.contains_key(name.as_str().unwrap()));
                    rule.as_array().unwrap().iter().find(missing).is_none()
                }
                "properties" => {
                    self.members(value, rule.as_object().unwrap(), place, of);
                    true
                }
                "additionalProperties" => {
                    for (key, member) in value.as_object().into_iter().flatten() {
                        self.fits(member, rule, &format!("{place}.{key}"), of);
                    }
                    true
                }
                "items" => {
                    for (n, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.fits(item, rule, &format!("{place}[{n}]"), of);
                    }
                    true
                }
                "anyOf" => {
                    let alternative =
                        rule.as_array().unwrap().iter().find(|s| (s["type"] == "null") == value.is_null());
                    self.fits(value, alternative.expect("a reference or null"), place, of);
                    true
                }
                "$ref" => {
                    let name = rule.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                    let definition = self.schema["$defs"][name].clone();
                    self.fits(value, &definition, place, name);
                    true
                }
                other => panic!("the validator does not know {other}"),
            };
            if !holds {
                self.wrong.push(format!("{place}: {keyword} {rule} does not hold of {value:.200}"));
            }
        }
    }

    fn members(&mut self, value: &Value, properties: &Map<String, Value>, place: &str, of: &str) {
        for (key, member) in value.as_object().into_iter().flatten() {
            match properties.get(key) {
                Some(schema) => {
                    self.met.insert(format!("{of}.{key}"));
                    self.fits(member, schema, &format!("{place}.{key}"), of);
                }
                None => self.wrong.push(format!("{place}.{key} is not in the schema")),
            }
        }
    }
}

fn is_of(value: &Value, ty: &Value) -> bool {
    match ty.as_str().unwrap() {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        other => panic!("there is no type {other}"),
    }
}

const INPUTS: &str = "#include <assert.h>\n#include <stdio.h>\n#include <stdlib.h>\nint __VERIFIER_nondet_int(void);\nextern int given;\n\
    static int sum(int a, int b) { return a + b; }\n\
    int main(int argc, char **argv) {\n    int x = __VERIFIER_nondet_int(), never;\n    char line[4];\n    \
    if (getenv(\"HOME\") && fgets(line, 4, stdin) && line[0] == 'q' && given == 3 && argc > 1 && argv[1][0] == 'a')\n        assert(x != never);\n    \
    int *p = malloc(4 * sizeof *p);\n    p[sum(x & 3, 1)] = 1;\n    free(p);\n    return 100 / (x - 7);\n}\n";
const ENTRY: &str = "struct node { int value; char tag[4]; double weight; struct node *next; };\n\
    int walk(struct node *n, int (*f)(int), int at, const char *name) {\n    int *p = &at;\n    \
    return n->next->value == *p && n->tag[1] == 'q' && name[0] == 'x' ? 1 / (n->next->value - 3) : 0;\n}\n";
const LOOP: &str = "int __VERIFIER_nondet_int(void); void reach_error(void);\n\
    int main(void) { unsigned n = 0, m = __VERIFIER_nondet_int() & 7;\n    while (n < m)\n        n++;\n    if (n > 8) reach_error();\n    return 0; }\n";
const UNKNOWN: &str =
    "int other(int); void reach_error(void);\nint main(void) { if (other(1) == 3) reach_error(); return 0; }\n";
const VACUOUS: &str = "void __VERIFIER_assume(int); void reach_error(void); int __VERIFIER_nondet_int(void);\n\
    int main(void) { int x = __VERIFIER_nondet_int(); __VERIFIER_assume(x > 3 && x < 2); reach_error(); return 0; }\n";
const WRITES: &str = "#include <assert.h>\nint __VERIFIER_nondet_int(void);\n\
    int main(void) { int a[4], n = __VERIFIER_nondet_int(), *l = &n; a[n] = 1; n = 3; assert(*l == 3); return 0; }\n";
const THREADS: &str = "#include <assert.h>\n#include <pthread.h>\nint n;\nvoid *start(void *p) { n = 1; return p; }\n\
    int main(void) { pthread_t t; pthread_create(&t, 0, start, 0); assert(n == 0); pthread_join(t, 0); return 0; }\n";

#[test]
fn results_are_as_the_schema_says() {
    let folder = tempfile::tempdir().unwrap();
    let mut validator = Validator::new();
    for (name, text, options, verdict) in [
        ("inputs.c", INPUTS, &[][..], "FALSE"),
        ("entry.c", ENTRY, &["--entry", "walk", "--check", "integer-divide-by-zero"], "FALSE"),
        ("loop.c", LOOP, &["--property", "unreach-call", "--witness", "w.yml"], "TRUE"),
        ("loop.c", LOOP, &["--property", "termination"], "TRUE"),
        ("loop.c", LOOP, &["--property", "unreach-call", "--ranged", "lb3: symex | symex"], "TRUE"),
        ("unknown.c", UNKNOWN, &[], "UNKNOWN"),
        ("inputs.c", INPUTS, &["--malloc-may-fail", "--check", "address"], "FALSE"),
        ("threads.c", THREADS, &["--property", "unreach-call"], "FALSE"),
        ("vacuous.c", VACUOUS, &["--property", "unreach-call"], "TRUE"),
        ("writes.c", WRITES, &["--property", "unreach-call"], "TRUE"),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_proviso"));
        command
            .current_dir(folder.path())
            .args(["verify", name, "--json", "out.json", "--timeout", "60"])
            .args(options);
        let output = command.output().unwrap();
        let result: Value =
            serde_json::from_str(&std::fs::read_to_string(folder.path().join("out.json")).unwrap()).unwrap();
        assert_eq!(result["verdict"], verdict, "{name}: {}", String::from_utf8_lossy(&output.stdout));
        validator.check(&result);
        assert!(validator.wrong.is_empty(), "{name}:\n{}", validator.wrong.join("\n"));
    }
    for key in [
        "call.objects",
        "step.operands",
        "object.allocated",
        "environment.stdin",
        "result.ranking_functions",
        "check.reason",
        "origin.kind",
        "step.thread",
    ] {
        assert!(validator.met.contains(key), "no result has {key}");
    }
}

#[test]
fn what_is_no_result_does_not_fit() {
    let mut validator = Validator::new();
    validator.check(&json!({"schema": "proviso-result-1", "verdict": "MAYBE", "other": 1}));
    let wrong = validator.wrong.join("\n");
    for part in ["MAYBE", "result.other is not in the schema", "required"] {
        assert!(wrong.contains(part), "{part}: {wrong}");
    }
}
