//! Translates a witness of format 1.0 into the terms of format 2.0, so that one validator handles both.
//!
//! An edge is a step of an execution. If no edge matches, the automaton stays in its state. So a path to the violation
//! is a sequence of waypoints, and an edge to a sink is a waypoint to avoid. The older format has lines instead of
//! exact locations, and conditions that hold *after* a step. [`Loose`] represents them, which the file format 2.0 does
//! not have. [`weave`](crate::validate::weave) finds their locations. An invariant belongs to a node. Its location is
//! the one that the edges at the node agree on.

use super::super::{
    Constraint, Content, Entry, Invariant, InvariantItem, Location, Loose, Metadata, Producer, Scalar, Segment,
    TaskEntry, Waypoint, WaypointItem,
};
use super::read::{Automaton, Data, Edge, automaton};
use std::collections::BTreeMap;

/// A witness that was read.
pub struct ReadWitness {
    /// The entry in terms of format 2.0.
    pub entry: Entry,
    /// Descriptions of the parts that were left out.
    pub left_out: Vec<String>,
}

/// Parses a witness of format 1.0. `Err` with a message if it is malformed or not supported.
pub fn read(text: &str) -> Result<ReadWitness, String> {
    let automaton = automaton(text)?;
    let about = &automaton.about;
    let mut reader =
        Reader { automaton: &automaton, file: about.get("programfile").unwrap_or_default(), left_out: Vec::new() };
    let (entry_type, content) = match about.get("witness-type") {
        Some("violation_witness") => ("violation_sequence", Content::Segments(reader.violation()?)),
        Some("correctness_witness") => ("invariant_set", Content::Invariants(reader.correctness()?)),
        Some(other) => return Err(format!("`{other}` is no value of witness-type")),
        None => return Err("it has no witness-type".into()),
    };
    let mut left_out = reader.left_out;
    if !automaton.unknown.is_empty() {
        let names: Vec<&str> = automaton.unknown.iter().map(String::as_str).collect();
        left_out.push(format!("the format has no key {}", names.join(", ")));
    }
    let entry = Entry { entry_type: entry_type.into(), metadata: metadata(about)?, content };
    Ok(ReadWitness { entry, left_out })
}

/// Returns the metadata of a witness. `Err` if its version, language or architecture is not supported.
fn metadata(about: &Data) -> Result<Metadata, String> {
    let said = |key: &str| about.get(key).unwrap_or_default().to_owned();
    if !matches!(about.get("witness-format-version"), None | Some("1.0")) {
        return Err(format!(
            "its version is {}; only version 1.0 of GraphML is supported",
            said("witness-format-version")
        ));
    }
    if !matches!(about.get("sourcecodelang"), None | Some("C")) {
        return Err(format!("it is about a program in {}", said("sourcecodelang")));
    }
    let data_model = match about.get("architecture") {
        Some(bits) if bits.contains("32") => "ILP32",
        Some(bits) if bits.contains("64") => "LP64",
        None => "LP64",
        Some(other) => return Err(format!("`{other}` is no architecture")),
    };
    let program = said("programfile");
    let hash = about.get("programhash").filter(|h| h.len() == 64).map(|h| (program.clone(), h.to_ascii_lowercase()));
    let task = TaskEntry {
        input_files: vec![program],
        input_file_hashes: hash.into_iter().collect::<BTreeMap<_, _>>(),
        specification: said("specification"),
        data_model: data_model.into(),
        language: "C".into(),
    };
    Ok(Metadata {
        format_version: "2.0".into(),
        uuid: String::new(),
        creation_time: said("creationtime"),
        producer: Producer { name: said("producer"), version: String::new(), configuration: String::new() },
        task,
    })
}

/// The translation of one automaton.
struct Reader<'a> {
    automaton: &'a Automaton,
    /// The name of the program file, for edges that name no file.
    file: &'a str,
    /// Descriptions of the parts that were left out.
    left_out: Vec<String>,
}

impl Reader<'_> {
    /// Returns the entry node. `Err` unless there is exactly one.
    fn entry(&self) -> Result<usize, String> {
        match self.automaton.marked("entry")?.as_slice() {
            [one] => Ok(*one),
            [] => Err("none of its nodes is the entry".into()),
            _ => Err("more than one of its nodes is the entry".into()),
        }
    }

    /// Returns the segments of a shortest path to a violation. `Err` if there is no such path or an edge is not
    /// supported.
    fn violation(&mut self) -> Result<Vec<Segment>, String> {
        let (entry, ends, sinks) = (self.entry()?, self.automaton.marked("violation")?, self.automaton.marked("sink")?);
        if ends.is_empty() {
            return Err("none of its nodes is a violation".into());
        }
        let way = self
            .automaton
            .shortest_path(entry, &ends, &sinks)
            .ok_or("there is no path from its entry to a violation")?;
        let on_way: Vec<usize> = way.iter().map(|e| e.from).collect();
        if on_way
            .iter()
            .any(|&at| self.automaton.leaving(at).filter(|e| e.to != at && !sinks.contains(&e.to)).count() > 1)
        {
            self.left_out.push("it has other paths to the violation besides the shortest".into());
        }
        let mut segments: Vec<Segment> = Vec::new();
        for (number, edge) in way.iter().enumerate() {
            let is_last = number + 1 == way.len();
            let mut segment: Vec<Waypoint> = Vec::new();
            for sink in self.automaton.leaving(edge.from).filter(|e| sinks.contains(&e.to)) {
                segment.extend(self.step(sink)?.map(|mut step| {
                    step.action = "avoid".into();
                    step
                }));
            }
            let step = self.step(edge)?;
            if is_last {
                segments.extend(self.last(segment, step, &edge.data)?);
            } else if let Some(step) = step {
                segment.push(step);
                segments.push(segment_of(segment));
            }
        }
        if way.is_empty() {
            segments.push(segment_of(vec![self.waypoint("target", &Data::default())?]));
        }
        Ok(without_repeated(segments))
    }

    /// Returns the segments of the last step and the target. If the step is only a line, this is the line of the
    /// target. Otherwise, the violation comes after the step. If the step enters a function, the violation is in this
    /// function.
    fn last(&self, mut avoided: Vec<Waypoint>, step: Option<Waypoint>, data: &Data) -> Result<Vec<Segment>, String> {
        let mut target = self.waypoint("target", &Data::default())?;
        let Some(mut step) = step else {
            avoided.push(target);
            return Ok(vec![segment_of(avoided)]);
        };
        match step.kind.as_str() {
            "passed" => {
                step.kind = "target".into();
                avoided.push(step);
                return Ok(vec![segment_of(avoided)]);
            }
            "behind" => {
                // Nothing happens after a violation.
                step.kind = "passed".into();
                target = self.waypoint("target", data)?;
            }
            "function_enter" => {
                target = self.waypoint("target", data)?;
                target.called.clone_from(&step.called);
            }
            _ => {}
        }
        avoided.push(step);
        Ok(vec![segment_of(avoided), segment_of(vec![target])])
    }

    /// Returns the waypoint of an edge. Returns `None` if every execution makes the step. `Err` if the edge is
    /// malformed or not supported.
    fn step(&mut self, edge: &Edge) -> Result<Option<Waypoint>, String> {
        let data = &edge.data;
        for key in ["threadId", "createThread"] {
            if data.get(key).is_some_and(|thread| !matches!(thread, "0" | "main" | "1")) {
                return Err("it is about several threads".into());
            }
        }
        let returned = data.get("returnFromFunction").or(data.get("returnFrom"));
        let assumed = data.get("assumption").map(condition).transpose()?;
        let of_result = assumed.as_deref().is_some_and(|a| a.contains("\\result"));
        let mut waypoint = match (data.get("control"), data.get("enterFunction"), returned) {
            _ if of_result => {
                let function = data.get("assumption.resultfunction").or(returned);
                let function =
                    function.ok_or("an assumption is about \\result, and the edge does not name the function")?;
                let mut waypoint = self.waypoint("function_return", data)?;
                waypoint.called = Some(function.to_owned());
                let text = assumed.expect("it has \\result");
                waypoint.constraint = Some(Constraint::new(Scalar::Text(text), "c_expression"));
                return Ok(Some(waypoint));
            }
            (Some(way @ ("condition-true" | "condition-false")), ..) => {
                let mut waypoint = self.waypoint("branching", data)?;
                waypoint.constraint = Some(Constraint::new(Scalar::Bool(way == "condition-true"), ""));
                waypoint
            }
            (Some(other), ..) => return Err(format!("`{other}` is no value of control")),
            // Every execution enters `main`.
            (None, Some("main"), _) if assumed.is_none() => return Ok(None),
            (None, Some(function), _) => {
                let mut waypoint = self.waypoint("function_enter", data)?;
                waypoint.called = Some(function.to_owned());
                waypoint
            }
            (None, None, Some(function)) => {
                let mut waypoint = self.waypoint("returned", data)?;
                waypoint.called = Some(function.to_owned());
                waypoint
            }
            (None, None, None) if assumed.is_some() => self.waypoint("behind", data)?,
            (None, None, None) if data.number("startline")?.is_none() => return Ok(None),
            (None, None, None) => self.waypoint("passed", data)?,
        };
        waypoint.loose.as_mut().expect("just made").assumed = assumed;
        Ok(Some(waypoint))
    }

    /// Returns a waypoint of a kind, with the lines of an edge. `Err` if the lines are malformed.
    fn waypoint(&self, kind: &str, data: &Data) -> Result<Waypoint, String> {
        let loose = Loose { lines: lines(data)?, ..Loose::default() };
        let line = loose.lines.map_or(1, |(first, _)| first);
        Ok(Waypoint { loose: Some(loose), ..Waypoint::follow(kind, self.location(data, line), None) })
    }

    /// Returns the location of an edge, with its file and a line.
    fn location(&self, data: &Data, line: u32) -> Location {
        let file_name = data.get("originfile").filter(|name| !name.starts_with('<')).unwrap_or(self.file).to_owned();
        Location { file_name, line, column: None, function: None }
    }

    /// Returns the invariants of the nodes. `Err` if an invariant or an edge is malformed.
    fn correctness(&mut self) -> Result<Vec<InvariantItem>, String> {
        self.entry()?;
        if self.automaton.edges.iter().any(|e| e.data.get("assumption").is_some()) {
            self.left_out
                .push("the assumptions of its edges, because each invariant must hold on all paths to it".into());
        }
        let mut items = Vec::new();
        for (number, node) in self.automaton.nodes.iter().enumerate() {
            let Some(text) = node.get("invariant") else { continue };
            let value = condition(text)?;
            if matches!(value.trim_matches(['(', ')', ' ']), "1" | "true") {
                continue;
            }
            let before = self.automaton.edges.iter().filter(|e| e.to == number);
            let (mut is_loop, mut entered, mut left) = (false, Vec::new(), Vec::new());
            let mut file = None;
            for edge in before {
                is_loop |= edge.data.is("enterLoopHead")?;
                let steps_on = ["control", "enterFunction", "returnFrom", "returnFromFunction"].iter();
                if steps_on.clone().all(|key| edge.data.get(key).is_none()) || edge.data.is("enterLoopHead")? {
                    entered.extend(lines(&edge.data)?);
                }
                file = file.or(Some(&edge.data));
            }
            for edge in self.automaton.leaving(number) {
                let decides = edge.data.get("control").is_some()
                    || edge.data.get("sourcecode").is_some_and(|s| s.starts_with('['));
                // An edge that only marks a loop head describes the next node, not this one.
                if decides || !edge.data.is("enterLoopHead")? {
                    left.extend(lines(&edge.data)?.map(|lines| (lines, decides)));
                }
                file = file.or(Some(&edge.data));
            }
            let line = left.first().map(|(lines, _)| lines.0).or(entered.first().map(|lines| lines.0)).unwrap_or(1);
            let mut location = self.location(file.unwrap_or(&Data::default()), line);
            location.function = node.get("invariant.scope").map(str::to_owned);
            let kind = if is_loop { "loop_invariant" } else { "location_invariant" };
            let loose = Some(Loose { entered, left, ..Loose::default() });
            let invariant = Invariant { kind: kind.into(), location, value, format: "c_expression".into(), loose };
            items.push(InvariantItem { invariant });
        }
        Ok(items)
    }
}

/// Returns the segment of these waypoints.
fn segment_of(waypoints: Vec<Waypoint>) -> Segment {
    Segment { segment: waypoints.into_iter().map(|waypoint| WaypointItem { waypoint }).collect() }
}

/// Returns the first and the last line of an edge. Returns `Ok(None)` if it has no line. `Err` if the lines are
/// malformed.
fn lines(data: &Data) -> Result<Option<(u32, u32)>, String> {
    let Some(first) = data.number("startline")? else { return Ok(None) };
    let last = data.number("endline")?.unwrap_or(first);
    match first >= 1 && last >= first {
        true => Ok(Some((first, last))),
        false => Err(format!("there are no lines {first} to {last}")),
    }
}

/// Returns one condition for a text in which some tools write several, separated by semicolons. `Err` if the text is
/// empty or the parentheses of a condition do not match.
fn condition(text: &str) -> Result<String, String> {
    let parts: Vec<&str> = text.split(';').map(str::trim).filter(|p| !p.is_empty()).collect();
    match parts.as_slice() {
        [] => Err(format!("`{text}` is no condition")),
        [one] => Ok((*one).to_owned()),
        // One condition must not close a parenthesis that another one opens.
        several if several.iter().any(|p| p.matches('(').count() != p.matches(')').count()) => {
            Err(format!("`{text}` is no condition"))
        }
        several => Ok(several.iter().map(|p| format!("({p})")).collect::<Vec<_>>().join(" && ")),
    }
}

/// Removes steps that are only a line if a step before or after them is on the same lines. Tools split a statement into
/// parts, and each part has the line of the statement.
fn without_repeated(segments: Vec<Segment>) -> Vec<Segment> {
    let lines = |s: &Segment| s.segment.last().and_then(|w| w.waypoint.loose.as_ref()?.lines);
    let is_line = |s: &Segment| s.segment.len() == 1 && s.segment[0].waypoint.kind == "passed";
    let mut kept: Vec<Segment> = Vec::new();
    for segment in segments {
        if is_line(&segment) && kept.last().is_some_and(|last| lines(last) == lines(&segment)) {
            continue;
        }
        if kept.last().is_some_and(|last| is_line(last) && lines(last) == lines(&segment)) {
            kept.pop();
        }
        kept.push(segment);
    }
    kept
}

#[cfg(test)]
mod tests;
