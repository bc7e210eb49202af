//! Properties, and the property files of SV-COMP and Test-Comp.

use cfa::Check;
use std::fmt;

/// A property of a verification task. All except termination are safety properties.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Property {
    /// The program calls none of these functions.
    UnreachCall {
        /// The names of the functions.
        functions: Vec<String>,
    },
    /// Signed integer arithmetic does not overflow.
    NoOverflow,
    /// The program frees only live heap objects.
    ValidFree,
    /// All accesses are inside live objects.
    ValidDeref,
    /// Every heap object is freed, or reachable from the program's variables.
    ValidMemtrack,
    /// Every heap object is freed before the program ends.
    ValidMemcleanup,
    /// Every execution terminates.
    Termination,
    /// Two threads do not access the same memory at the same time, if one of them writes.
    NoDataRace,
    /// A test suite covers the goals of this FQL query.
    Coverage {
        /// The query.
        query: String,
    },
}

/// The content of a property file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PropertyFile {
    /// The function at which the program starts: `f` in `init(f())`.
    pub entry: String,
    /// The properties, in the order of the file.
    pub properties: Vec<Property>,
}

/// An error in a property file or a property name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PropertyError {
    /// The text does not have the form `CHECK( init(f()), LTL(formula) )`.
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The message.
        message: String,
    },
    /// The formula is well-formed, but not a known property.
    Unknown {
        /// The line, from 1.
        line: usize,
        /// The formula.
        formula: String,
    },
    /// Two `CHECK`s start the program at different functions.
    TwoEntries {
        /// The line of the second `CHECK`, from 1.
        line: usize,
        /// The first start function.
        first: String,
        /// The second start function.
        second: String,
    },
    /// The file has no `CHECK`.
    Empty,
    /// No property has this name.
    UnknownName(String),
}

impl fmt::Display for PropertyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { line, message } => write!(f, "property file, line {line}: {message}"),
            Self::Unknown { line, formula } => write!(f, "property file, line {line}: unknown property '{formula}'"),
            Self::TwoEntries { line, first, second } => {
                write!(f, "property file, line {line}: the program starts with {second}, and with {first} before")
            }
            Self::Empty => write!(f, "the property file has no CHECK( init(main()), LTL(...) )"),
            Self::UnknownName(name) => {
                write!(f, "unknown property '{name}'; known are {}", Property::NAMES.join(", "))
            }
        }
    }
}

impl std::error::Error for PropertyError {}

impl Property {
    /// The names that [`from_name`](Self::from_name) accepts.
    pub const NAMES: [&str; 10] = [
        "unreach-call",
        "no-overflow",
        "valid-memsafety",
        "valid-free",
        "valid-deref",
        "valid-memtrack",
        "valid-memcleanup",
        "termination",
        "no-data-race",
        "coverage",
    ];

    /// The name of the property in verdicts.
    pub fn name(&self) -> &'static str {
        match self {
            Self::UnreachCall { .. } => "unreach-call",
            Self::NoOverflow => "no-overflow",
            Self::ValidFree => "valid-free",
            Self::ValidDeref => "valid-deref",
            Self::ValidMemtrack => "valid-memtrack",
            Self::ValidMemcleanup => "valid-memcleanup",
            Self::Termination => "termination",
            Self::NoDataRace => "no-data-race",
            Self::Coverage { .. } => "coverage",
        }
    }

    /// The formulas of the property in a property file, for example `G ! call(reach_error())`.
    pub fn formulas(&self) -> Vec<String> {
        match self {
            Self::UnreachCall { functions } => functions.iter().map(|f| format!("G ! call({f}())")).collect(),
            Self::NoOverflow => vec!["G ! overflow".into()],
            Self::ValidFree | Self::ValidDeref | Self::ValidMemtrack | Self::ValidMemcleanup => {
                vec![format!("G {}", self.name())]
            }
            Self::Termination => vec!["F end".into()],
            Self::NoDataRace => vec!["G ! data-race".into()],
            Self::Coverage { query } => vec![query.clone()],
        }
    }

    /// The checks that the property consists of. Empty for termination and coverage, which are not checked at single
    /// program points.
    pub fn checks(&self) -> &'static [Check] {
        match self {
            Self::UnreachCall { .. } => &[Check::Call],
            Self::NoOverflow => &[Check::SignedIntegerOverflow, Check::SignedLeftShift],
            Self::ValidDeref => &[Check::Deref],
            Self::ValidFree => &[Check::Free],
            Self::ValidMemtrack => &[Check::Memtrack],
            Self::ValidMemcleanup => &[Check::Memcleanup],
            Self::NoDataRace => &[Check::DataRace],
            _ => &[],
        }
    }

    /// The properties with this name. (`valid-memsafety` stands for three.) `unreach-call` has no functions here; the
    /// caller adds its defaults.
    pub fn from_name(name: &str) -> Result<Vec<Self>, PropertyError> {
        Ok(vec![match name {
            "unreach-call" => Self::UnreachCall { functions: Vec::new() },
            "no-overflow" => Self::NoOverflow,
            "valid-memsafety" => return Ok(vec![Self::ValidFree, Self::ValidDeref, Self::ValidMemtrack]),
            "valid-free" => Self::ValidFree,
            "valid-deref" => Self::ValidDeref,
            "valid-memtrack" => Self::ValidMemtrack,
            "valid-memcleanup" => Self::ValidMemcleanup,
            "termination" => Self::Termination,
            "no-data-race" => Self::NoDataRace,
            "coverage" => Self::Coverage { query: String::new() },
            _ => return Err(PropertyError::UnknownName(name.to_owned())),
        }])
    }

    /// Parses a property file: a sequence of `CHECK( init(main()), LTL(formula) )` and
    /// `COVER( init(main()), FQL(query) )`. White space does not matter. `#` and `//` start comments. All functions that
    /// must not be called are collected in one [`Property::UnreachCall`].
    pub fn parse_file(text: &str) -> Result<PropertyFile, PropertyError> {
        let mut properties: Vec<Self> = Vec::new();
        let mut entry: Option<String> = None;
        let mut parser = Parser { text, position: 0 };
        parser.skip_space();
        while !parser.at_end() {
            let line = parser.line();
            let (start, property) = parser.statement()?;
            match &entry {
                Some(entry) if *entry != start => {
                    return Err(PropertyError::TwoEntries { line, first: entry.clone(), second: start });
                }
                _ => entry = Some(start),
            }
            parser.skip_space();
            match property {
                Statement::Call(function) => {
                    let known = properties.iter_mut().find_map(|p| match p {
                        Self::UnreachCall { functions } => Some(functions),
                        _ => None,
                    });
                    match known {
                        Some(functions) if functions.contains(&function) => {}
                        Some(functions) => functions.push(function),
                        None => properties.push(Self::UnreachCall { functions: vec![function] }),
                    }
                }
                Statement::Property(property) => {
                    if !properties.contains(&property) {
                        properties.push(property);
                    }
                }
                Statement::Unknown(formula) => return Err(PropertyError::Unknown { line, formula }),
            }
        }
        entry.map(|entry| PropertyFile { entry, properties }).ok_or(PropertyError::Empty)
    }
}

/// The statement about executions in a property file.
enum Statement {
    /// No execution calls this function.
    Call(String),
    /// This property.
    Property(Property),
    /// A formula that is not supported.
    Unknown(String),
}

/// A parser of property files.
struct Parser<'t> {
    text: &'t str,
    position: usize,
}

impl<'t> Parser<'t> {
    /// Parses `CHECK ( init ( f ( ) ) , LTL ( formula ) )`, or the same with COVER and FQL. Returns the start function
    /// and the statement.
    fn statement(&mut self) -> Result<(String, Statement), PropertyError> {
        let keyword = self.word();
        let logic = match keyword {
            "CHECK" => "LTL",
            "COVER" => "FQL",
            _ => return Err(self.error(format!("expected CHECK or COVER, found '{}'", self.found(keyword)))),
        };
        self.expect("(")?;
        self.expect("init")?;
        let start = self.parenthesized()?;
        let Some(entry) = called(start) else {
            return Err(self.error(format!("expected a call like main() in init(...), found '{start}'")));
        };
        self.expect(",")?;
        self.expect(logic)?;
        let formula = self.parenthesized()?;
        self.expect(")")?;
        let asked = match logic {
            "LTL" => ltl(formula),
            _ => Statement::Property(Property::Coverage { query: squeeze(formula) }),
        };
        Ok((entry.to_owned(), asked))
    }

    fn rest(&self) -> &'t str {
        &self.text[self.position..]
    }
    fn at_end(&self) -> bool {
        self.rest().is_empty()
    }
    fn line(&self) -> usize {
        self.text[..self.position].bytes().filter(|b| *b == b'\n').count() + 1
    }
    fn error(&self, message: String) -> PropertyError {
        PropertyError::Syntax { line: self.line(), message }
    }
    /// The word, or the next text if the word is empty.
    fn found<'a>(&self, word: &'a str) -> &'a str
    where
        't: 'a,
    {
        if !word.is_empty() {
            return word;
        }
        self.rest().split_whitespace().next().unwrap_or("the end of the file")
    }
    fn skip_space(&mut self) {
        loop {
            let rest = self.rest();
            let text = rest.trim_start();
            self.position += rest.len() - text.len();
            if !(text.starts_with('#') || text.starts_with("//")) {
                return;
            }
            self.position += text.find('\n').unwrap_or(text.len());
        }
    }
    fn word(&mut self) -> &'t str {
        self.skip_space();
        let rest = self.rest();
        let len = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        self.position += len;
        &rest[..len]
    }
    fn expect(&mut self, token: &str) -> Result<(), PropertyError> {
        self.skip_space();
        if !self.rest().starts_with(token) {
            return Err(self.error(format!("expected '{token}', found '{}'", self.found(""))));
        }
        self.position += token.len();
        Ok(())
    }
    /// Parses the text between balanced parentheses.
    fn parenthesized(&mut self) -> Result<&'t str, PropertyError> {
        self.expect("(")?;
        let rest = self.rest();
        let mut depth = 1u32;
        for (i, byte) in rest.bytes().enumerate() {
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.position += i + 1;
                return Ok(&rest[..i]);
            }
        }
        Err(self.error("a '(' without its ')'".to_owned()))
    }
}

fn squeeze(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The name in `name()` or `name`.
fn called(text: &str) -> Option<&str> {
    let text = text.trim();
    let name = match text.split_once('(') {
        Some((name, arguments)) if arguments.trim_end().ends_with(')') => name.trim(),
        Some(_) => return None,
        None => text,
    };
    let mut chars = name.chars();
    let starts_well = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    (starts_well && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '$')).then_some(name)
}

fn ltl(formula: &str) -> Statement {
    let compact: String = formula.chars().filter(|c| !c.is_whitespace()).collect();
    Statement::Property(match compact.as_str() {
        "G!overflow" => Property::NoOverflow,
        "Gvalid-free" => Property::ValidFree,
        "Gvalid-deref" => Property::ValidDeref,
        "Gvalid-memtrack" => Property::ValidMemtrack,
        "Gvalid-memcleanup" => Property::ValidMemcleanup,
        "Fend" => Property::Termination,
        "G!data-race" => Property::NoDataRace,
        call => {
            let function = call.strip_prefix("G!call(").and_then(|c| c.strip_suffix(')')).and_then(called);
            return match function {
                Some(function) => Statement::Call(function.to_owned()),
                None => Statement::Unknown(squeeze(formula)),
            };
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texts::{mangled, nested};

    fn parse(text: &str) -> Result<Vec<Property>, PropertyError> {
        Property::parse_file(text).map(|file| file.properties)
    }

    fn unreach(names: &[&str]) -> Property {
        Property::UnreachCall { functions: names.iter().map(|s| (*s).to_owned()).collect() }
    }

    #[test]
    fn the_files_of_the_competitions() {
        for (text, property) in [
            ("CHECK( init(main()), LTL(G ! call(reach_error())) )\n", unreach(&["reach_error"])),
            ("CHECK(init(main()),LTL(G!call(__VERIFIER_error())))", unreach(&["__VERIFIER_error"])),
            ("CHECK( init(main()), LTL(G ! overflow) )", Property::NoOverflow),
            ("CHECK( init(main()), LTL(G valid-memcleanup) )", Property::ValidMemcleanup),
            ("CHECK( init(main()), LTL(F end) )", Property::Termination),
            ("# a comment (\nCHECK( init(main()), LTL(G ! data-race) )", Property::NoDataRace),
            (
                "COVER( init(main()), FQL(COVER EDGES(@CALL(reach_error))) )",
                Property::Coverage { query: "COVER EDGES(@CALL(reach_error))".into() },
            ),
        ] {
            assert_eq!(parse(text), Ok(vec![property]), "{text}");
        }
        let memsafety = "CHECK( init(main()), LTL(G valid-free) )\nCHECK( init(main()), LTL(G valid-deref) )\n\
                         CHECK( init(main()), LTL(G valid-memtrack) )\n\n";
        assert_eq!(parse(memsafety), Property::from_name("valid-memsafety"));
        let two = "CHECK( init(main()), LTL(G ! call(a())) )\nCHECK( init(main()), LTL(G ! call(b())) )";
        assert_eq!(parse(two), Ok(vec![unreach(&["a", "b"])]));
    }

    #[test]
    fn the_program_starts_where_the_file_says() {
        let entry = |text: &str| Property::parse_file(text).map(|file| file.entry);
        assert_eq!(entry("CHECK( init( start () ), LTL(F end) )"), Ok("start".to_owned()));
        let two = "CHECK( init(f()), LTL(F end) )\nCHECK( init(g()), LTL(G ! overflow) )";
        assert_eq!(
            entry(two).unwrap_err().to_string(),
            "property file, line 2: the program starts with g, and with f before"
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        let error = |text: &str| parse(text).unwrap_err().to_string();
        assert_eq!(error("\nCHECK( init(main()), LTL(G p U q) )"), "property file, line 2: unknown property 'G p U q'");
        assert_eq!(error("CHEK( )"), "property file, line 1: expected CHECK or COVER, found 'CHEK'");
        assert_eq!(
            error("CHECK( init(main()), LTL(F end )"),
            "property file, line 1: expected ')', found 'the end of the file'"
        );
        assert_eq!(error("  # nothing"), PropertyError::Empty.to_string());
        assert!(error("CHECK( init(main(), LTL(").contains("without its ')'"));
        assert!(error("CHECK( init(3), LTL(F end) )").contains("expected a call"));
        assert!(error("überraschung").contains("überraschung"));
        assert!(Property::from_name("liveness").unwrap_err().to_string().contains("valid-memsafety"));
    }

    #[test]
    fn names_are_known() {
        for name in Property::NAMES {
            let properties = Property::from_name(name).unwrap();
            assert!(properties.len() == 3 || properties[0].name() == name);
        }
    }

    #[test]
    fn any_text_is_read_or_refused() {
        let text = "CHECK( init(main()), LTL(G ! call(reach_error())) )\nCOVER( init(main()), FQL(COVER EDGES(@DECISIONEDGE)) )";
        for text in
            mangled(text).chain([nested("(", "x", ")"), format!("CHECK( init(main()), LTL({}", nested("(", "", ")"))])
        {
            match Property::parse_file(&text) {
                Ok(file) => assert!(!file.properties.is_empty(), "{text}"),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
}
