//! Tests all parsers of user files on truncated texts and on texts with multi-byte characters at any position. A
//! parser returns either one clear error or the content.

#[path = "../../cfa/tests/mangled/mod.rs"]
mod texts;

use crate::c_scan::Source;
use crate::message::Message;
use crate::slice::criteria::SourcePosition;
use crate::test_format::imported;
use crate::witness::{self, condition, place::Places};
use annotate_snippets::Level;
use driver::external::adapter::Adapter;
use driver::failure::Failure;
use driver::input::definition::Definition;
use driver::input::project;
use driver::source::{Sources, Spot};
use std::path::Path;
use texts::{mangled, nested};

const WITNESS: &str = "- entry_type: violation_sequence
  metadata:
    format_version: \"2.0\"
    uuid: cae9a4dd-a7d7-42d2-a5d6-7bdc82d737df
    creation_time: \"2026-11-27T12:00:34Z\"
    producer: {name: a, version: '1'}
    task:
      input_files: [a.c]
      input_file_hashes: {a.c: 00}
      specification: G ! call(reach_error())
      data_model: LP64
      language: C
  content:
  - segment:
    - waypoint:
        type: assumption
        action: follow
        location: {file_name: a.c, line: 3, column: 1}
        constraint: {value: x == 'a', format: c_expression}
";

const GRAPHML: &str = "<graphml><graph edgedefault=\"directed\"><data key=\"witness-type\">violation_witness</data>
<data key=\"specification\">G ! call(reach_error())</data><data key=\"programfile\">a.c</data><data key=\"architecture\">64bit</data>
<node id=\"A\"><data key=\"entry\">true</data></node><node id=\"B\"><data key=\"violation\">true</data></node>
<edge source=\"A\" target=\"B\"><data key=\"startline\">3</data><data key=\"assumption\">x == 1;</data></edge></graph></graphml>";

const C: &str = "#define M(x) ((x) + 1)
extern int f(const char *s, ...);
static int g; /* one */ // two
int main(void) {
  int x = f(\"a\\n\", 'b'); L: if (x > M(2)) { g = x ? 1 : 2; } else return 0;
  for (int i = 0; i < 3; i++) { while (g) g--; do { g++; } while (g < 2); switch (x) { case 1: break; default: goto L; } }
  return g;
}
";

/// Reads each mangled text, and the text with bytes that are not UTF-8 inserted at each position. Each error must have
/// a message, and at least one text must be refused.
fn each<T>(text: &str, mut read: impl FnMut(&[u8]) -> Result<T, Failure>) {
    let mut refused = 0;
    let mut read = |bytes: &[u8]| {
        if let Err(failure) = read(bytes) {
            assert!(!failure.message.is_empty(), "{}", String::from_utf8_lossy(bytes));
            refused += 1;
        }
    };
    mangled(text).for_each(|text| read(text.as_bytes()));
    for at in 0..text.len() {
        read(&[&text.as_bytes()[..at], b"\xff\xe9", &text.as_bytes()[at..]].concat());
    }
    assert!(refused > 0, "all is taken of {text}");
}

/// Returns the bytes as text. `Err` if any part of them is not UTF-8.
fn as_text(bytes: &[u8]) -> Result<&str, Failure> {
    std::str::from_utf8(bytes).map_err(|e| Failure::data(e.to_string()))
}

#[test]
fn witnesses_of_any_text_are_read_or_refused() {
    let read = |bytes: &[u8]| witness::of_bytes(bytes, Path::new("w"));
    for text in [WITNESS, GRAPHML] {
        let (entries, ..) = read(text.as_bytes()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(entries.len(), 1);
        each(text, |bytes| read(bytes).map(|(all, ..)| all.iter().for_each(|e| drop(witness::form::broken_rule(e)))));
    }
    for deep in [nested("[", "", "]"), nested("{a: ", "1", "}"), nested("- ", "1", ""), nested("<a>", "", "</a>")] {
        assert!(read(deep.as_bytes()).is_err());
    }
    let deep = GRAPHML.replace("<node id=\"A\">", &nested("<data key=\"x\">", "", "</data>"));
    assert!(read(deep.as_bytes()).is_err());
}

#[test]
fn conditions_of_any_text_are_admitted_or_refused() {
    let text = "x == 'a' && (size_t)y[2].z->w < \"é\"[0] || !(u <<= 2) ? 0x1p3 : \\result";
    for text in
        mangled(text).chain([nested("(", "x", ")"), nested("[", "", ""), nested("!", "x", ""), nested("'", "", "")])
    {
        let _ = condition::objection(&text, &|name| name == "size_t");
        let _ = SourcePosition::parse(&text);
    }
}

#[test]
fn tasks_tools_tests_and_projects_of_any_text_are_read_or_refused() {
    let task = "format_version: \"2.0\"\ninput_files: ['a.c']\nproperties:\n  - property_file: a.prp\n    expected_verdict: true\noptions: {language: C, data_model: LP64}\n";
    each(task, |bytes| Definition::parse(as_text(bytes)?, Path::new("")).map_err(Failure::data));
    let tool = "program = \"cbmc\"\ninput = \"c\"\narguments = [\"{file}\", \"--é\"]\ntrue = \"yes\"\nfalse = \"no\"\ntests = [\"*.xml\"]\n[define]\nerror = \"abort();\"\n";
    each(tool, |bytes| Adapter::parse(as_text(bytes)?, "a.toml"));
    let suite = "<?xml version=\"1.0\"?>\n<testcase>\n<input type=\"int\">3</input></testcase>";
    let ktest = "KTEST\0\0\0\u{3}\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\u{1}\0\0\0\u{1}x\0\0\0\u{4}abcd";
    for (name, text) in [("t.xml", suite), ("t.ktest", ktest)] {
        let read =
            |bytes: &[u8]| imported::test(name, bytes).expect("a test").map_err(|e| Failure::data(format!("{e:#}")));
        assert!(read(text.as_bytes()).is_ok(), "{name}");
        each(text, read);
    }
    let database = "[{\"directory\": \"/é\", \"file\": \"a.c\", \"command\": \"cc -c 'a b' \\\\\\\" a.c\"}]";
    each(database, |bytes| {
        for entry in project::entries(as_text(bytes)?, Path::new("db"))? {
            entry.compile_command(&mut Vec::new())?;
        }
        Ok(())
    });
    for text in mangled("cc -c 'a b' \\\" \"$x\" a.c") {
        project::split(&text);
    }
}

/// Programs may have any encoding, so places in them are counted in bytes.
#[test]
fn places_in_any_program_are_found_or_not() {
    for text in mangled(C).chain([
        nested("{", "", "}"),
        nested("(", "", ")"),
        nested("if (x) ", ";", ""),
        nested("f(", "", ")"),
    ]) {
        let source = Source::new(&text);
        assert!(source.items.iter().all(|item| source.bytes(item.span()).end <= text.len()));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.c");
    let wide = C.replace("one", "…é").replace("\"a", "\"é🦀").replace("x = f", "x = f /* é */ ");
    for bytes in [
        wide.as_bytes().to_vec(),
        wide.replace('é', "\u{1}").into_bytes().iter().map(|&b| if b == 1 { 0xe9 } else { b }).collect(),
    ] {
        std::fs::write(&path, &bytes).unwrap();
        let (sources, places) = (Sources::new(), Places::new(std::slice::from_ref(&path)).unwrap());
        for (line, text) in (0..).zip(String::from_utf8_lossy(&bytes).lines().chain([""])) {
            for column in 0..text.len() as u32 + 3 {
                let spot = Spot { path: path.display().to_string(), line, column };
                let message = Message::new(Level::ERROR, "é").at(Some(spot.clone())).label("é");
                assert!(message.render(&sources, false).contains("error: é"));
                sources.argument(&spot);
                places.call_end(&spot, "f");
                places.statement(&spot);
                places.loop_around(&spot);
            }
        }
    }
}
