//! Writes a witness as GraphML, the format 1.0 of SV-COMP, for tools that do not read format 2.
//!
//! A violation is a chain of edges. Each edge is taken when a call returns the assumed value, and the last edge is
//! taken at the target. A proof has a node for each invariant. An edge from every node enters it at its loop. The
//! columns are omitted, because the older format cannot express them.

mod read;
pub mod steps;

use super::{Content, Entry, InvariantItem, Location, Waypoint};
use crate::test_format::escaped;
use std::fmt::Write;

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>
<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">
";

/// The keys that are used below: name, kind of element, type, and the default, if any.
const KEYS: [(&str, &str, &str, &str); 19] = [
    ("witness-type", "graph", "string", ""),
    ("sourcecodelang", "graph", "string", ""),
    ("producer", "graph", "string", ""),
    ("specification", "graph", "string", ""),
    ("programfile", "graph", "string", ""),
    ("programhash", "graph", "string", ""),
    ("architecture", "graph", "string", ""),
    ("creationtime", "graph", "string", ""),
    ("entry", "node", "boolean", "false"),
    ("violation", "node", "boolean", "false"),
    ("invariant", "node", "string", ""),
    ("invariant.scope", "node", "string", ""),
    ("assumption", "edge", "string", ""),
    ("assumption.scope", "edge", "string", ""),
    ("assumption.resultfunction", "edge", "string", ""),
    ("startline", "edge", "int", ""),
    ("endline", "edge", "int", ""),
    ("enterLoopHead", "edge", "boolean", "false"),
    ("originfile", "edge", "string", ""),
];

/// Returns the entry in format 1.0. The first of its `input_files` is the program file.
pub(super) fn write(entry: &Entry) -> String {
    let mut out = HEAD.to_owned();
    for (name, place, kind, default) in KEYS {
        let _ = match default {
            "" => writeln!(out, " <key id=\"{name}\" attr.name=\"{name}\" attr.type=\"{kind}\" for=\"{place}\"/>"),
            default => writeln!(
                out,
                " <key id=\"{name}\" attr.name=\"{name}\" attr.type=\"{kind}\" for=\"{place}\"><default>{default}</default></key>"
            ),
        };
    }
    out += " <graph edgedefault=\"directed\">\n";
    let (metadata, task) = (&entry.metadata, &entry.metadata.task);
    let program = task.input_files.first().map_or("", String::as_str);
    let kind = match &entry.content {
        Content::Segments(_) => "violation_witness",
        Content::Invariants(_) => "correctness_witness",
    };
    let bits = if task.data_model == "ILP32" { "32bit" } else { "64bit" };
    for (name, value) in [
        ("witness-type", kind),
        ("sourcecodelang", "C"),
        ("producer", metadata.producer.name.as_str()),
        ("specification", task.specification.as_str()),
        ("programfile", program),
        ("programhash", task.input_file_hashes.get(program).map_or("", String::as_str)),
        ("architecture", bits),
        ("creationtime", metadata.creation_time.as_str()),
    ] {
        data(&mut out, "  ", name, value);
    }
    match &entry.content {
        Content::Segments(segments) => {
            let waypoints: Vec<&Waypoint> =
                segments.iter().flat_map(|s| s.segment.iter().map(|item| &item.waypoint)).collect();
            chain(&mut out, &waypoints);
        }
        Content::Invariants(all) => star(&mut out, all),
    }
    out + " </graph>\n</graphml>\n"
}

/// Writes the value of a key.
fn data(out: &mut String, indent: &str, key: &str, value: &str) {
    let _ = writeln!(out, "{indent}<data key=\"{key}\">{}</data>", escaped(value));
}

/// Writes a node with the values of its keys.
fn node(out: &mut String, number: usize, entries: &[(&str, &str)]) {
    let _ = writeln!(out, "  <node id=\"N{number}\">");
    entries.iter().for_each(|(key, value)| data(out, "   ", key, value));
    *out += "  </node>\n";
}

/// Writes an edge with its location and the values of its keys.
fn edge(out: &mut String, from: usize, to: usize, location: &Location, entries: &[(&str, &str)]) {
    let _ = writeln!(out, "  <edge source=\"N{from}\" target=\"N{to}\">");
    data(out, "   ", "originfile", &location.file_name);
    let line = location.line.to_string();
    data(out, "   ", "startline", &line);
    data(out, "   ", "endline", &line);
    entries.iter().for_each(|(key, value)| data(out, "   ", key, value));
    *out += "  </edge>\n";
}

/// Writes the waypoints of a violation as a chain.
fn chain(out: &mut String, waypoints: &[&Waypoint]) {
    for number in 0..=waypoints.len() {
        match number {
            0 => node(out, number, &[("entry", "true")]),
            _ if number == waypoints.len() => node(out, number, &[("violation", "true")]),
            _ => node(out, number, &[]),
        }
    }
    for (number, waypoint) in waypoints.iter().enumerate() {
        let mut entries = Vec::new();
        let scope = waypoint.location.function.as_deref().unwrap_or_default();
        let assumed = waypoint.constraint.as_ref().map(|c| format!("{};", c.value));
        if let Some(assumed) = &assumed {
            entries.extend([("assumption", assumed.as_str()), ("assumption.scope", scope)]);
            entries.extend(waypoint.called.as_deref().map(|called| ("assumption.resultfunction", called)));
        }
        edge(out, number, number + 1, &waypoint.location, &entries);
    }
}

/// Writes a node for each invariant, with an edge from every node.
fn star(out: &mut String, all: &[InvariantItem]) {
    node(out, 0, &[("entry", "true")]);
    for (number, item) in all.iter().enumerate() {
        let scope = item.invariant.location.function.as_deref().unwrap_or_default();
        node(out, number + 1, &[("invariant", &item.invariant.value), ("invariant.scope", scope)]);
    }
    for from in 0..=all.len() {
        for (number, item) in all.iter().enumerate() {
            edge(out, from, number + 1, &item.invariant.location, &[("enterLoopHead", "true")]);
        }
    }
}
