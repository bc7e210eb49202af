//! Verification witnesses: the evidence of a verdict in the format that the field exchanges (SV-COMP's format 2.0: YAML, a
//! list of entries), so that others can check it.
//!
//! Here is the format and what all entries share; [`violation`] and [`correctness`] fill in what a verdict knows.

pub mod correctness;
pub mod violation;

use crate::report::{Answer, Report};
use crate::source::Spot;
use crate::witness::place::Places;
use frontend_llvm::DataModel;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::PathBuf;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

mod place;

/// What was verified, as a witness names it.
pub struct Task {
    pub files: Vec<PathBuf>,
    pub data_model: DataModel,
    /// The function where execution starts.
    pub entry: String,
    /// The formulas of the properties, as a property file has them: `G ! call(reach_error())`.
    pub formulas: Vec<String>,
}

#[derive(Serialize)]
struct Entry {
    entry_type: &'static str,
    metadata: Metadata,
    content: Content,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content {
    Segments(Vec<Segment>),
    Invariants(Vec<InvariantItem>),
}

#[derive(Serialize)]
struct Metadata {
    format_version: &'static str,
    uuid: String,
    creation_time: String,
    producer: Producer,
    task: TaskEntry,
}

#[derive(Serialize)]
struct Producer {
    name: &'static str,
    version: &'static str,
    configuration: String,
}

#[derive(Serialize)]
struct TaskEntry {
    input_files: Vec<String>,
    input_file_hashes: BTreeMap<String, String>,
    specification: String,
    data_model: &'static str,
    language: &'static str,
}

/// A place in an input file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Location {
    pub file_name: String,
    pub line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
}

/// Waypoints of which the last is to be passed next.
#[derive(Serialize)]
struct Segment {
    segment: Vec<WaypointItem>,
}

#[derive(Serialize)]
struct WaypointItem {
    waypoint: Waypoint,
}

/// Something that happens on the way to the violation.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Waypoint {
    #[serde(rename = "type")]
    kind: &'static str,
    action: &'static str,
    location: Location,
    #[serde(skip_serializing_if = "Option::is_none")]
    constraint: Option<Constraint>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
struct Constraint {
    value: String,
    format: &'static str,
}

#[derive(Serialize)]
struct InvariantItem {
    invariant: Invariant,
}

/// A condition that holds whenever control is at the place.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Invariant {
    #[serde(rename = "type")]
    kind: &'static str,
    location: Location,
    value: String,
    format: &'static str,
}

/// The witness of a verdict as YAML; `None` where there is none to give: of UNKNOWN, and of a violation that was not
/// told in time. `Err` with the reason if an input file cannot be read.
pub fn write(report: &Report, task: &Task) -> Result<Option<String>, std::io::Error> {
    let places = Places::new(&task.files)?;
    let (entry_type, content) = match &report.answer {
        Answer::Unknown { .. } => return Ok(None),
        Answer::True => ("invariant_set", Content::Invariants(correctness::invariants(&report.invariants, &places))),
        Answer::False(violation) => match &violation.trace {
            Some(trace) => ("violation_sequence", Content::Segments(violation::segments(trace, &places))),
            None => return Ok(None),
        },
    };
    let entry = Entry { entry_type, metadata: metadata(report, task, &places), content };
    let yaml = serde_saphyr::to_string(&[entry]).expect("plain data");
    Ok(Some(yaml))
}

fn metadata(report: &Report, task: &Task, places: &Places) -> Metadata {
    let now = OffsetDateTime::now_utc().replace_nanosecond(0).expect("in range");
    let creation_time = now.format(&Rfc3339).expect("a date of this era");
    let hashes = places.files().map(|(name, bytes)| (name.to_owned(), hex(&Sha256::digest(bytes)))).collect();
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
        data_model: match task.data_model {
            DataModel::Ilp32 => "ILP32",
            DataModel::Lp64 => "LP64",
        },
        language: "C",
    };
    Metadata {
        format_version: "2.0",
        uuid: uuid::Uuid::new_v4().to_string(),
        creation_time,
        producer: Producer {
            name: "Proviso",
            version: env!("CARGO_PKG_VERSION"),
            configuration: report.decided_by.unwrap_or(&report.analysis).to_owned(),
        },
        task,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// The place of a spot, with the function it is in.
fn location(spot: &Spot, column: Option<u32>, function: &str, places: &Places) -> Location {
    let (file_name, line) = places.physical(spot);
    Location { file_name, line, column: column.filter(|&c| c > 0), function: Some(function.to_owned()) }
}
