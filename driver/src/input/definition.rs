//! Task definitions (`.yml`) in format 2.0 of SV-COMP: the files, the properties, and the data model of a task.

use crate::failure::Failure;
use crate::files;
use frontend_llvm::DataModel;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// A task definition.
#[derive(PartialEq, Eq, Debug)]
pub struct Definition {
    /// The files of the program.
    pub files: Vec<PathBuf>,
    /// The property files.
    pub properties: Vec<PathBuf>,
    /// The data model, if the definition has one.
    pub data_model: Option<DataModel>,
}

/// The text of a task definition.
#[derive(Deserialize)]
struct Written {
    format_version: Text,
    input_files: OneOrMany,
    #[serde(default)]
    properties: Vec<PropertyEntry>,
    #[serde(default)]
    options: Option<TaskOptions>,
}

#[derive(Deserialize)]
struct PropertyEntry {
    property_file: PathBuf,
}

#[derive(Deserialize)]
struct TaskOptions {
    language: Option<String>,
    data_model: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(PathBuf),
    Many(Vec<PathBuf>),
}

/// A scalar that some authors quote and others do not.
#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    Number(f64),
    Text(String),
}

impl Definition {
    /// Returns true if the path has the extension of a task definition, `.yml` or `.yaml`.
    pub fn is_definition(path: &Path) -> bool {
        path.extension().is_some_and(|e| e == "yml" || e == "yaml")
    }

    /// Reads a task definition. Relative names in it are relative to its folder. `Err` if the file is unreadable or
    /// malformed.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let text = files::read_text(path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let help = || "  = help: `proviso validate` reads witnesses".to_owned();
        Self::parse(&text, folder).map_err(|message| Failure {
            detail: text.contains("entry_type:").then(help),
            ..Failure::data(format!("{}: {message}", path.display()))
        })
    }

    /// Parses a task definition. Relative names in it are relative to `folder`. `Err` if the text is malformed, or if
    /// its version, language or data model is not supported.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, String> {
        let definition: Written = serde_saphyr::from_str(text).map_err(|e| format!("not a task definition: {e}"))?;
        let version = match definition.format_version {
            Text::Number(n) => format!("{n:.1}"),
            Text::Text(t) => t,
        };
        if !version.starts_with("2.") && !version.starts_with("1.") {
            return Err(format!("task format version {version} is not supported; 1.0 and 2.0 are"));
        }
        let files = match definition.input_files {
            OneOrMany::One(file) => vec![file],
            OneOrMany::Many(files) => files,
        };
        if files.is_empty() {
            return Err("input_files is empty".into());
        }
        let mut data_model = None;
        if let Some(options) = definition.options {
            if let Some(language) = options.language.filter(|l| l != "C") {
                return Err(format!("the language is {language}, and only C is verified"));
            }
            data_model = match options.data_model.as_deref() {
                None => None,
                Some("ILP32") => Some(DataModel::Ilp32),
                Some("LP64") => Some(DataModel::Lp64),
                Some(other) => return Err(format!("data model {other} is neither ILP32 nor LP64")),
            };
        }
        Ok(Self {
            files: files.iter().map(|f| folder.join(f)).collect(),
            properties: definition.properties.iter().map(|p| folder.join(&p.property_file)).collect(),
            data_model,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_as_the_competition_writes_it() {
        let text = "format_version: '2.0'\n\n# a comment\ninput_files: 'a.i'\n\nproperties:\n  \
                    - property_file: ../properties/unreach-call.prp\n    expected_verdict: false\n  \
                    - property_file: ../properties/no-overflow.prp\n    expected_verdict: true\n\noptions:\n  \
                    language: C\n  data_model: ILP32\n";
        let task = Definition::parse(text, Path::new("t")).unwrap();
        assert_eq!(task.files, [Path::new("t/a.i")]);
        assert_eq!(task.properties[1], Path::new("t/../properties/no-overflow.prp"));
        assert_eq!(task.data_model, Some(DataModel::Ilp32));
    }

    #[test]
    fn several_files_and_nothing_else() {
        let task = Definition::parse("format_version: 2.0\ninput_files: [a.c, \"b c.c\"]\n", Path::new("")).unwrap();
        assert_eq!(task.files, [Path::new("a.c"), Path::new("b c.c")]);
        assert!(task.properties.is_empty() && task.data_model.is_none());
    }

    #[test]
    fn what_is_not_a_task_is_said() {
        let parse = |text| Definition::parse(text, Path::new("")).unwrap_err();
        assert!(parse("format_version: '3.0'\ninput_files: a.c\n").contains("3.0"));
        assert!(parse("format_version: '2.0'\ninput_files: []\n").contains("empty"));
        assert!(parse("format_version: '2.0'\ninput_files: a.c\noptions: {language: Java}\n").contains("Java"));
        assert!(parse("format_version: '2.0'\ninput_files: a.c\noptions: {data_model: LLP64}\n").contains("LLP64"));
        assert!(parse(": [").contains("not a task definition"));
    }
}
