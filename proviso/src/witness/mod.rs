//! Verification witnesses: the evidence of a verdict in the format that the field exchanges (SV-COMP's format 2.0: YAML, a
//! list of entries), so that others can check it.
//!
//! Here is the format and what all entries share; [`violation`] and [`correctness`] fill in what a verdict knows.

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

/// What was verified, as a witness names it.
pub struct Task {
    pub files: Vec<PathBuf>,
    /// The function where execution starts.
    pub entry: String,
    /// The formulas of the properties, as a property file has them: `G ! call(reach_error())`.
    pub formulas: Vec<String>,
}

impl Task {
    /// The task of a job.
    pub fn of(job: &Job) -> Self {
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
    pub entry_type: String,
    pub metadata: Metadata,
    pub content: Content,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Content {
    Segments(Vec<Segment>),
    Invariants(Vec<InvariantItem>),
}

impl<'de> Deserialize<'de> for Content {
    /// All items are of one kind. Scalars are read as the text that the file has, which an untagged enumeration would not see.
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

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Metadata {
    format_version: String,
    uuid: String,
    creation_time: String,
    producer: Producer,
    pub task: TaskEntry,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Producer {
    name: String,
    version: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    configuration: String,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TaskEntry {
    pub input_files: Vec<String>,
    pub input_file_hashes: BTreeMap<String, String>,
    pub specification: String,
    pub data_model: String,
    language: String,
}

/// A place in an input file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Location {
    pub file_name: String,
    pub line: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
}

/// Waypoints of which the last is to be passed next.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Segment {
    pub segment: Vec<WaypointItem>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct WaypointItem {
    pub waypoint: Waypoint,
}

/// Something that happens on the way to the violation.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Waypoint {
    #[serde(rename = "type")]
    pub kind: String,
    pub action: String,
    pub location: Location,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraint: Option<Constraint>,
    /// Of format 2.2: 0 for the thread of `main`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thread_id: Option<u32>,
    /// The function whose return it is about, where we know; not part of the format.
    #[serde(skip)]
    pub called: Option<String>,
    /// What GraphML says instead of a place.
    #[serde(skip)]
    pub loose: Option<Loose>,
}

/// What format 1.0 says of the place of a step or of a node.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Loose {
    /// The first and the last line; any where it does not say.
    pub lines: Option<(u32, u32)>,
    /// What holds behind the step.
    pub assumed: Option<String>,
    /// The lines of the steps that lead to a node.
    pub entered: Vec<(u32, u32)>,
    /// The lines of the steps that lead away from it, and whether they decide a condition.
    pub left: Vec<((u32, u32), bool)>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Constraint {
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

/// What YAML writes without quotes where it can. Quotes make no difference on reading: `1` is the expression `'1'`.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Scalar {
    Bool(bool),
    Int(i64),
    Text(String),
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        // Only numbers that YAML and C read alike: `010` is eight in C.
        let number = text.parse::<i64>().ok().filter(|number| number.to_string() == text);
        Ok(match text.as_str() {
            "true" | "True" | "TRUE" => Self::Bool(true),
            "false" | "False" | "FALSE" => Self::Bool(false),
            _ => number.map_or_else(|| Self::Text(text), Self::Int),
        })
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct InvariantItem {
    pub invariant: Invariant,
}

/// A condition that holds whenever control is at the place.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Invariant {
    #[serde(rename = "type")]
    pub kind: String,
    pub location: Location,
    pub value: String,
    format: String,
    /// What GraphML says instead of a place.
    #[serde(skip)]
    pub loose: Option<Loose>,
}

impl Waypoint {
    /// One to be passed next.
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
}

impl Constraint {
    pub fn new(value: Scalar, format: &str) -> Self {
        Self { value, format: format.into() }
    }
}

impl Invariant {
    /// Of a loop whose keyword or first statement is at this point.
    pub fn at_loop(file_name: String, point: Point, function: String, value: String) -> Self {
        let location = Location { file_name, line: point.0, column: Some(point.1), function: Some(function) };
        Self { kind: "loop_invariant".into(), location, value, format: "c_expression".into(), loose: None }
    }
}

impl Entry {
    /// What is known of a program without a verdict of ours.
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

/// Entries as a file has them.
pub fn text(entries: &[Entry]) -> String {
    serde_saphyr::to_string(&entries).expect("plain data")
}

/// The entries of a file.
pub fn parse(text: &str) -> Result<Vec<Entry>, String> {
    serde_saphyr::from_str(text).map_err(|e| e.to_string())
}

/// Whether what a file has is GraphML; the other format cannot begin so.
fn is_graphml(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('<')
}

/// A witness of either format: its entries, what of it is left out, in words, and whether it is GraphML.
pub type Read = (Vec<Entry>, Vec<String>, bool);

/// Reads a witness file of either format.
pub fn read_any(path: &Path) -> Result<Read, Failure> {
    of_bytes(&files::read(path)?, path)
}

/// The witness that a file contains.
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

/// Reads a witness file of format 2.
pub fn read(path: &Path) -> Result<Vec<Entry>, Failure> {
    let text = files::read_text(path)?;
    if is_graphml(&text) {
        return Err(Failure::data(format!("{}: only `proviso validate` reads GraphML", path.display())));
    }
    entries(&text, path)
}

/// The entries of a text of format 2.
fn entries(text: &str, path: &Path) -> Result<Vec<Entry>, Failure> {
    let entries =
        parse(text).map_err(|e| Failure::data(format!("{} is no witness of format 2: {e}", path.display())))?;
    match entries.is_empty() {
        true => Err(Failure::data(format!("{} has no entries", path.display()))),
        false => Ok(entries),
    }
}

/// How a witness is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Format 2.0.
    Yaml,
    /// Format 1.0.
    GraphMl,
}

/// The witness of a verdict as text; `None` where there is none to give: of UNKNOWN, of a proof of termination, of an execution without end that may
/// leave the loop that is named, and of a violation that was not told in time. `Err` with the reason if an input file cannot be read.
pub fn write(report: &Report, task: &Task, format: Format) -> Result<Option<String>, std::io::Error> {
    let places = Places::new(&task.files)?;
    let about_ends = report.properties.iter().any(|p| p == "termination");
    let (entry_type, content) = match &report.answer {
        Answer::Unknown { .. } => return Ok(None),
        // Of executions without end format 1 wants an invariant that is closed, and format 2.0 has no word.
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
            Some(trace) => ("violation_sequence", Content::Segments(violation::segments(trace, &places))),
            None => return Ok(None),
        },
    };
    let mut entry = Entry { entry_type: entry_type.to_owned(), metadata: metadata(report, task, &places), content };
    if about_ends {
        entry.metadata.format_version = "2.1".into();
    }
    Ok(Some(match format {
        Format::Yaml => text(&[entry]),
        Format::GraphMl => graphml::of(&entry),
    }))
}

/// The correctness witness of a proof, with the conditions that each of its invariants consists of.
pub fn correctness_entry(report: &Report, task: &Task) -> Result<(Entry, Vec<correctness::Origin>), std::io::Error> {
    let places = Places::new(&task.files)?;
    let (invariants, conditions) = correctness::invariants(&report.invariants, &places);
    let metadata = metadata(report, task, &places);
    let entry = Entry { entry_type: "invariant_set".into(), metadata, content: Content::Invariants(invariants) };
    Ok((entry, conditions))
}

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
    /// Of something that is made now.
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

/// The present time as witnesses have it (RFC 3339, UTC).
pub fn now() -> String {
    let now = OffsetDateTime::now_utc().replace_nanosecond(0).expect("in range");
    now.format(&Rfc3339).expect("a date of this era")
}

/// SHA-256 as witnesses have it.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// The place of a spot, with the function it is in.
pub fn location(spot: &Spot, column: Option<u32>, function: &str, places: &Places) -> Location {
    let (file_name, line) = places.physical(spot);
    Location { file_name, line, column: column.filter(|&c| c > 0), function: Some(function.to_owned()) }
}
