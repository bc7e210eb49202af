//! Tests as files: the exchange format of Test-Comp, and the format of KLEE.

pub mod imported;

use cfa::{Bv, InputId, InputKind, Program};
use cooperate::range::split::literal;
use imported::in_memory;
use std::fmt::Write;

/// Returns one test in the format of Test-Comp. `covers_error` is true for suites whose goal is a call of an error
/// function.
pub fn test_xml(program: &Program, values: &[(InputId, Bv)], covers_error: bool) -> String {
    let mut out = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n<!DOCTYPE testcase PUBLIC \"+//IDN sosy-lab.org//DTD \
         test-format testcase 1.1//EN\" \"https://sosy-lab.org/test-format/testcase-1.1.dtd\">\n",
    );
    out += if covers_error { "<testcase coversError=\"true\">\n" } else { "<testcase>\n" };
    for (input, value) in values {
        let (ty, text) = literal(program, *input, value);
        let _ = writeln!(out, "  <input type=\"{}\">{}</input>", escaped(&ty), escaped(&text));
    }
    out + "</testcase>\n"
}

/// Returns one test in the binary format of KLEE, version 3 (`lib/Basic/KTest.cpp`, `kTest_toFile`). Numbers are
/// big-endian words of 32 bits. A string is preceded by its length. The bytes of an object have their order in memory.
/// `file` is the name of the program.
pub fn ktest(program: &Program, file: &str, values: &[(InputId, Bv)]) -> Vec<u8> {
    fn word(out: &mut Vec<u8>, value: usize) {
        out.extend((value as u32).to_be_bytes());
    }
    fn bytes(out: &mut Vec<u8>, content: &[u8]) {
        word(out, content.len());
        out.extend(content);
    }
    let mut out = b"KTEST".to_vec();
    word(&mut out, 3);
    // The command line consists of the program alone. There are no symbolic arguments.
    word(&mut out, 1);
    bytes(&mut out, file.as_bytes());
    word(&mut out, 0);
    word(&mut out, 0);
    word(&mut out, values.len());
    for (input, value) in values {
        let name = match &program.inputs[*input].kind {
            InputKind::Nondet(function) => function.as_str(),
            _ => "input",
        };
        bytes(&mut out, name.as_bytes());
        bytes(&mut out, &in_memory(value));
    }
    out
}

/// Returns a text with the characters escaped that are special in the text or an attribute of an XML element.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
