//! Verification witnesses: the evidence of a verdict in the exchange format of SV-COMP, so that other tools can check
//! it. Format 2.0 is a YAML list of entries.
//!
//! This module defines the format and the data that all entries share. [`violation`] and [`correctness`] derive the
//! content from a verdict.

pub mod condition;
pub mod correctness;
pub mod exchange;
pub mod form;
pub mod gia;
mod graphml;
pub mod violation;

use driver::failure::Failure;
use driver::files;
use driver::job::Job;
use driver::report::{Answer, Report};
use driver::source::Spot;
use driver::trace::Event;
use instrument::Property;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

pub mod place;
pub mod text;

pub use place::{LoopPlace, Places, Point};

/// The verification task that a witness describes.
pub struct Task {
    /// The input files.
    pub files: Vec<PathBuf>,
    /// The function where execution starts.
    pub entry: String,
    /// The formulas of the properties, as a property file has them: `G ! call(reach_error())`.
    pub formulas: Vec<String>,
}

impl Task {
    /// Returns the task of a job.
    pub fn from_job(job: &Job) -> Self {
        let formulas = job.properties.iter().flat_map(|p| match p {
            Property::UnreachCall { functions } if functions.is_empty() => {
                Property::UnreachCall { functions: job.error_functions.clone() }.formulas()
            }
            other => other.formulas(),
        });
        Self { files: job.load.files(), entry: job.load.entry.clone(), formulas: formulas.collect() }
    }
}

/// One entry of a witness file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// The kind of the entry: `violation_sequence` or `invariant_set`.
    pub entry_type: String,
    /// The origin of the witness and its task.
    pub metadata: Metadata,
    /// The segments or the invariants.
    pub content: Content,
}

/// The content of an entry.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Content {
    /// The segments of a violation sequence.
    Segments(Vec<Segment>),
    /// The invariants of an invariant set.
    Invariants(Vec<InvariantItem>),
}

impl<'de> Deserialize<'de> for Content {
    /// Reads items that must all be of one kind. Scalars are read as the text in the file. An untagged enumeration
    /// would lose that text.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Item {
            segment: Option<Vec<WaypointItem>>,
            invariant: Option<Invariant>,
        }
        let (mut segments, mut invariants) = (Vec::new(), Vec::new());
        for item in Vec::<Item>::deserialize(from)? {
            match (item.segment, item.invariant) {
                (Some(segment), None) => segments.push(Segment { segment }),
                (None, Some(invariant)) => invariants.push(InvariantItem { invariant }),
                _ => return Err(D::Error::custom("an item of the content is neither a segment nor an invariant")),
            }
        }
        match (segments.is_empty(), invariants.is_empty()) {
            (_, true) => Ok(Self::Segments(segments)),
            (true, false) => Ok(Self::Invariants(invariants)),
            (false, false) => Err(D::Error::custom("the content has both segments and invariants")),
        }
    }
}

/// The metadata of an entry: format version, identifier, time, producer and task.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Metadata {
    format_version: String,
    uuid: String,
    creation_time: String,
    producer: Producer,
    /// The task that the witness belongs to.
    pub task: TaskEntry,
}

/// The tool that wrote a witness.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Producer {
    name: String,
    version: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    configuration: String,
}

/// The task in the metadata of an entry.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TaskEntry {
    /// The names of the input files.
    pub input_files: Vec<String>,
    /// The SHA-256 hashes of the input files, by name.
    pub input_file_hashes: BTreeMap<String, String>,
    /// The properties, in the syntax of a property file.
    pub specification: String,
    /// The data model: `ILP32` or `LP64`.
    pub data_model: String,
    language: String,
}

/// A location in an input file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Location {
    /// The name of the file.
    pub file_name: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The name of the function that contains the location.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
}

/// Waypoints. The last one is to be passed next, and the others are to be avoided until then.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Segment {
    /// The waypoints of the segment.
    pub segment: Vec<WaypointItem>,
}

/// An item of a segment.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct WaypointItem {
    /// The waypoint of the item.
    pub waypoint: Waypoint,
}

/// An event on the path to the violation.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Waypoint {
    /// The type of the waypoint, for example `branching`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The action: `follow`, `avoid` or `cycle`.
    pub action: String,
    /// The location of the waypoint.
    pub location: Location,
    /// The condition that must hold at the waypoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraint: Option<Constraint>,
    /// The number of the thread, in format 2.2. The thread of `main` has number 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thread_id: Option<u32>,
    /// The function that is called or returns, if it is known. It is not part of the format.
    #[serde(skip)]
    pub called: Option<String>,
    /// The position as GraphML describes it, without an exact location.
    #[serde(skip)]
    pub loose: Option<Loose>,
}

/// The position of a step or a node in format 1.0.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Loose {
    /// The first and the last line of the step. `None` means any line.
    pub lines: Option<(u32, u32)>,
    /// The condition that holds after the step.
    pub assumed: Option<String>,
    /// The first and last lines of the steps that enter a node.
    pub entered: Vec<(u32, u32)>,
    /// The first and last lines of the steps that leave the node, and whether each step decides a condition.
    pub left: Vec<((u32, u32), bool)>,
}

/// The condition of a waypoint.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Constraint {
    /// The value of the condition: an expression, a truth value or a number.
    pub value: Scalar,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    format: String,
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Int(value) => value.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// A scalar that YAML writes without quotes if possible. Quotes make no difference when it is read: `1` is the
/// expression `'1'`.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Scalar {
    /// A truth value.
    Bool(bool),
    /// A number.
    Int(i64),
    /// Any other text.
    Text(String),
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        // A text becomes a number only if YAML and C read it alike: `010` is eight in C.
        let number = text.parse::<i64>().ok().filter(|number| number.to_string() == text);
        Ok(match text.as_str() {
            "true" | "True" | "TRUE" => Self::Bool(true),
            "false" | "False" | "FALSE" => Self::Bool(false),
            _ => number.map_or_else(|| Self::Text(text), Self::Int),
        })
    }
}

/// An item of an invariant set.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct InvariantItem {
    /// The invariant of the item.
    pub invariant: Invariant,
}

/// A condition that holds whenever control reaches a location.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Invariant {
    /// The type: `loop_invariant` or `location_invariant`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The location of the invariant.
    pub location: Location,
    /// The condition, as a C expression.
    pub value: String,
    format: String,
    /// The position as GraphML describes it, without an exact location.
    #[serde(skip)]
    pub loose: Option<Loose>,
}

impl Waypoint {
    /// Returns a waypoint of type `kind` that is to be passed next.
    pub fn follow(kind: &str, location: Location, constraint: Option<Constraint>) -> Self {
        Self {
            kind: kind.into(),
            action: "follow".into(),
            location,
            constraint,
            thread_id: None,
            called: None,
            loose: None,
        }
    }

    /// Returns the waypoint as one of the thread with this number (format 2.2).
    fn in_thread(self, thread: u32) -> Self {
        Self { thread_id: Some(thread), ..self }
    }
}

impl Constraint {
    /// Returns a constraint with a value in the given format.
    pub fn new(value: Scalar, format: &str) -> Self {
        Self { value, format: format.into() }
    }
}

impl Invariant {
    /// Returns an invariant of the loop whose keyword or first statement is at this point.
    pub fn at_loop(file_name: String, point: Point, function: String, value: String) -> Self {
        let location = Location { file_name, line: point.0, column: Some(point.1), function: Some(function) };
        Self { kind: "loop_invariant".into(), location, value, format: "c_expression".into(), loose: None }
    }
}

impl Entry {
    /// Returns an entry for a program that Proviso has not verified. Its specification is `G ! call(reach_error())`.
    /// `pointer_width` is in bits. A file that cannot be read has no hash.
    pub fn of_program(entry_type: &str, content: Content, files: &[PathBuf], pointer_width: u32) -> Self {
        let name = |path: &PathBuf| path.display().to_string();
        let hash = |path: &PathBuf| Some((name(path), digest(&std::fs::read(path).ok()?)));
        let task = TaskEntry {
            input_files: files.iter().map(name).collect(),
            input_file_hashes: files.iter().filter_map(hash).collect(),
            specification: "CHECK( init(main()), LTL(G ! call(reach_error())) )".into(),
            data_model: if pointer_width == 32 { "ILP32" } else { "LP64" }.into(),
            language: "C".into(),
        };
        Self { entry_type: entry_type.into(), metadata: Metadata::new(task, String::new()), content }
    }
}

/// Returns entries as the YAML text of a witness file.
pub fn text(entries: &[Entry]) -> String {
    serde_saphyr::to_string(&entries).expect("plain data")
}

/// Parses the YAML text of a witness file. `Err` with a message if it is no list of entries.
pub fn parse(text: &str) -> Result<Vec<Entry>, String> {
    serde_saphyr::from_str(text).map_err(|e| e.to_string())
}

/// Returns true if the text is GraphML. A YAML witness cannot start with `<`.
fn is_graphml(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('<')
}

/// A witness of either format: its entries, descriptions of the parts that were left out, and whether it is GraphML.
pub type Read = (Vec<Entry>, Vec<String>, bool);

/// Reads a witness file of either format. `Err` if it cannot be read or is not a witness.
pub fn read_any(path: &Path) -> Result<Read, Failure> {
    of_bytes(&files::read(path)?, path)
}

/// Parses the bytes of a witness file of either format. `path` is used in messages. `Err` if the bytes are not a
/// witness.
pub fn of_bytes(bytes: &[u8], path: &Path) -> Result<Read, Failure> {
    let text = String::from_utf8_lossy(bytes);
    if !is_graphml(&text) {
        let text = std::str::from_utf8(bytes)
            .map_err(|e| Failure::data(format!("{} is no witness of format 2: {e}", path.display())))?;
        return Ok((entries(text, path)?, Vec::new(), false));
    }
    let told = graphml::steps::read(text.trim_start_matches('\u{feff}'))
        .map_err(|e| Failure::data(format!("{} is no witness of format 1.0: {e}", path.display())))?;
    Ok((vec![told.entry], told.left_out, true))
}

/// Reads a witness file of format 2. `Err` if it cannot be read, is GraphML, is malformed, or has no entries.
pub fn read(path: &Path) -> Result<Vec<Entry>, Failure> {
    let text = files::read_text(path)?;
    if is_graphml(&text) {
        return Err(Failure::data(format!("{}: only `proviso validate` reads GraphML", path.display())));
    }
    entries(&text, path)
}

/// Parses a text of format 2. `Err` if it is malformed or has no entries.
fn entries(text: &str, path: &Path) -> Result<Vec<Entry>, Failure> {
    let entries = parse(text).map_err(|e| {
        let reason = e.to_string();
        let reason = reason.trim_start_matches("error: ");
        let help = || "  = help: the witness comes first: `proviso validate WITNESS FILE...`".to_owned();
        Failure {
            detail: path.extension().is_some_and(|e| e == "c" || e == "i").then(help),
            ..Failure::data(format!("{} is no witness of format 2: {reason}", path.display()))
        }
    })?;
    match entries.is_empty() {
        true => Err(Failure::data(format!("{} has no entries", path.display()))),
        false => Ok(entries),
    }
}

/// The format in which a witness is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Format 2.0, 2.1 for executions without end, 2.2 for those with threads.
    Yaml,
    /// Format 1.0.
    GraphMl,
}

/// Returns the witness of a verdict as text. Returns `None` if the verdict has no witness: for `UNKNOWN`, for a proof
/// of termination, for an infinite execution that format 1.0 should describe or that may leave the reported loop, and
/// for a violation whose trace was not computed in time.
///
/// `Err` if an input file cannot be read.
pub fn write(report: &Report, task: &Task, format: Format) -> Result<Option<String>, std::io::Error> {
    let places = Places::new(&task.files)?;
    let about_ends = report.properties.iter().any(|p| p == "termination");
    let is_interleaved = match &report.answer {
        Answer::False(violation) => violation.trace.as_ref().is_some_and(|trace| {
            let switches = trace.steps.iter().any(|step| matches!(step.event, Event::Switch { .. }));
            switches && trace.omitted == 0 && format == Format::Yaml
        }),
        _ => false,
    };
    let (entry_type, content) = match &report.answer {
        Answer::Unknown { .. } => return Ok(None),
        // For an infinite execution, format 1.0 requires a closed invariant, and format 2.0 has no construct.
        Answer::False(violation) if about_ends && format == Format::Yaml && !violation.may_leave_loop => {
            match violation.trace.as_ref().and_then(|trace| violation::lasso(trace, &places)) {
                Some(segments) => ("violation_sequence", Content::Segments(segments)),
                None => return Ok(None),
            }
        }
        _ if about_ends => return Ok(None),
        Answer::True => {
            let (invariants, _) = correctness::invariants(&report.invariants, &places);
            ("invariant_set", Content::Invariants(invariants))
        }
        Answer::False(violation) => match &violation.trace {
            // Tools do not agree on the numbers of threads in GraphML.
            Some(trace) if is_interleaved => {
                ("violation_sequence", Content::Segments(violation::interleaved(trace, &places)))
            }
            Some(trace) => ("violation_sequence", Content::Segments(violation::segments(trace, &places))),
            None => return Ok(None),
        },
    };
    let mut entry = Entry { entry_type: entry_type.to_owned(), metadata: metadata(report, task, &places), content };
    if about_ends {
        entry.metadata.format_version = "2.1".into();
    } else if is_interleaved {
        entry.metadata.format_version = "2.2".into();
    }
    Ok(Some(match format {
        Format::Yaml => text(&[entry]),
        Format::GraphMl => graphml::write(&entry),
    }))
}

/// Returns the correctness witness of a proof, with the conditions that each of its invariants consists of. `Err` if an
/// input file cannot be read.
pub fn correctness_entry(report: &Report, task: &Task) -> Result<(Entry, Vec<correctness::Origin>), std::io::Error> {
    let places = Places::new(&task.files)?;
    let (invariants, conditions) = correctness::invariants(&report.invariants, &places);
    let metadata = metadata(report, task, &places);
    let entry = Entry { entry_type: "invariant_set".into(), metadata, content: Content::Invariants(invariants) };
    Ok((entry, conditions))
}

/// Returns the metadata of a witness for a report.
fn metadata(report: &Report, task: &Task, places: &Places) -> Metadata {
    let hashes = places.files().map(|(name, bytes)| (name.to_owned(), digest(bytes))).collect();
    let specification = task
        .formulas
        .iter()
        .map(|f| format!("CHECK( init({}()), LTL({f}) )", task.entry))
        .collect::<Vec<_>>()
        .join("\n");
    let task = TaskEntry {
        input_files: places.files().map(|(name, _)| name.to_owned()).collect(),
        input_file_hashes: hashes,
        specification,
        data_model: report.data_model.into(),
        language: "C".into(),
    };
    Metadata::new(task, report.decided_by.unwrap_or(&report.analysis).to_owned())
}

impl Metadata {
    /// Returns the metadata of a witness that is created now.
    fn new(task: TaskEntry, configuration: String) -> Self {
        Self {
            format_version: "2.0".into(),
            uuid: uuid::Uuid::new_v4().to_string(),
            creation_time: now(),
            producer: Producer { name: "Proviso".into(), version: env!("CARGO_PKG_VERSION").into(), configuration },
            task,
        }
    }
}

/// Returns the current time in the format of witnesses (RFC 3339, UTC).
pub fn now() -> String {
    let now = OffsetDateTime::now_utc().replace_nanosecond(0).expect("in range");
    now.format(&Rfc3339).expect("a date of this era")
}

/// Returns the SHA-256 hash of the bytes as lower-case hexadecimal text.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// Returns the location of a spot in the input files, with the function that contains it. A column of 0 means that the
/// column is unknown, so it is omitted.
pub fn location(spot: &Spot, column: Option<u32>, function: &str, places: &Places) -> Location {
    let (file_name, line) = places.physical(spot);
    Location { file_name, line, column: column.filter(|&c| c > 0), function: Some(function.to_owned()) }
}
