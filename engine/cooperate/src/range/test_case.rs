//! Test cases as bounds of ranges.

use super::{Bound, MOST_DECISIONS};
use cfa::interp::{InputSource, Inputs, Unknown};
use cfa::{Bv, CType, EdgeId, InputId, InputKind, LocId, Op, Out, Program};
use engine::Reason;
use engine::algorithm::follow::{End, Guide, Most, follow};
use engine::budget::Budget;
use engine::smt::Choice;

/// The maximal number of edges of a bound's path. A longer path counts as its prefix.
pub const MOST_EDGES: usize = 5_000_000;

/// The input values of a test, in order.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct TestCase {
    /// The values as text. The type of the input determines how a text is parsed.
    pub values: Vec<String>,
}

impl TestCase {
    /// Parses a test case in the exchange format of Test-Comp.
    pub fn parse(xml: &str) -> Result<Self, String> {
        if !xml.contains("<testcase") {
            return Err("this is no test case: it has no element <testcase>".into());
        }
        let mut values = Vec::new();
        let xml = without_comments(xml)?;
        let mut rest = xml.as_str();
        while let Some((_, after)) = rest.split_once("<input") {
            let (tag, after) = after.split_once('>').ok_or("a tag that does not end")?;
            if tag.ends_with('/') {
                return Err("an <input> without a value".into());
            }
            let (value, after) = after.split_once("</input>").ok_or("an <input> that does not end")?;
            values.push(unescaped(value.trim()));
            rest = after;
        }
        let is_empty = || rest.split_once("<testcase").is_some_and(|(_, after)| after.contains("/>"));
        if !rest.contains("</testcase>") && !is_empty() {
            return Err("the test case does not end".into());
        }
        Ok(Self { values })
    }

    /// The value for an input, or `None` if the test case has no value at `index`. Values that are too wide are
    /// truncated like in C. Fails if the text is no value of the input's type.
    pub fn value(&self, program: &Program, input: InputId, index: usize) -> Result<Option<Bv>, String> {
        let Some(text) = self.values.get(index) else { return Ok(None) };
        let input = &program.inputs[input];
        let value = match program.plain_type(input.ty) {
            CType::Float { format, .. } if format.width() == input.width => {
                // The `f` of `inf` is not a suffix.
                let suffixed = text.trim_end_matches(['f', 'F', 'l', 'L']);
                cfa::float::parse(*format, text).or_else(|| cfa::float::parse(*format, suffixed))
            }
            _ => integer(text, input.width),
        };
        value.map(Some).ok_or_else(|| format!("'{text}' is no value of type {}", program.type_name(input.ty)))
    }

    /// The test case as the inputs of a run.
    pub fn source<'a>(&'a self, program: &'a Program) -> TestCaseInputs<'a> {
        TestCaseInputs { program, test: self, taken: 0, recorded: Inputs::default(), wrong: None }
    }

    /// The path that the test case induces. If values are missing, several paths are possible, and the bound is the
    /// least of them (section 3.3). Fails if the test case does not fit the program.
    pub fn bound(&self, program: &Program, solvers: &Choice, budget: &Budget) -> Result<Bound, Reason> {
        let mut guide = Least { program, test: self, taken: 0, wrong: None };
        let most = Most { decisions: MOST_DECISIONS, edges: MOST_EDGES };
        let path = follow(program, solvers, budget, most, &mut guide);
        if let Some(wrong) = guide.wrong {
            return Err(Reason::new(format!("a test case does not fit the program: {wrong}")));
        }
        let path = path?;
        Ok(Bound { decisions: path.decisions, complete: path.end == End::Program })
    }
}

/// Supplies and records the input values of a run with a test case. Missing values, and inputs of library models, are
/// 0.
pub struct TestCaseInputs<'a> {
    program: &'a Program,
    test: &'a TestCase,
    taken: usize,
    recorded: Inputs,
    wrong: Option<String>,
}

impl TestCaseInputs<'_> {
    /// The recorded inputs. Fails if a value did not fit its input.
    pub fn inputs(self) -> Result<Inputs, String> {
        self.wrong.map_or(Ok(self.recorded), Err)
    }
}

impl InputSource for TestCaseInputs<'_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        let zero = Bv::zero(width);
        if let Unknown::Global(_) = what {
            return zero;
        }
        let given = match what {
            Unknown::Havoc(input) if !matches!(self.program.inputs[input].kind, InputKind::Environment(_)) => {
                self.taken += 1;
                self.test.value(self.program, input, self.taken - 1)
            }
            _ => Ok(None),
        };
        let value = given.unwrap_or_else(|wrong| {
            self.wrong.get_or_insert(wrong);
            None
        });
        let value = value.map_or(zero, |v| v.resize(width));
        self.recorded.values.push(value.clone());
        value
    }
}

/// Follows a test case. Undetermined branches take the true side.
struct Least<'a> {
    program: &'a Program,
    test: &'a TestCase,
    /// The number of values used so far.
    taken: usize,
    wrong: Option<String>,
}

impl Guide for Least<'_> {
    fn input(&mut self, input: InputId) -> Option<Bv> {
        if !matches!(self.program.inputs[input].kind, InputKind::Nondet(_)) {
            return None;
        }
        self.taken += 1;
        self.test.value(self.program, input, self.taken - 1).unwrap_or_else(|wrong| {
            self.wrong.get_or_insert(wrong);
            None
        })
    }

    fn branch(&mut self, then_edge: EdgeId, else_edge: EdgeId, possible: (bool, bool)) -> Option<bool> {
        if self.wrong.is_some() {
            return None;
        }
        // Paths that end at a false assumption are no paths of the program.
        let exists = |edge: EdgeId| !is_assumed_away(self.program, self.program.edges[edge].target);
        Some(match possible {
            (true, true) => exists(then_edge) || !exists(else_edge),
            (then, _) => then,
        })
    }
}

/// Returns true if only the end at a false assumption follows.
pub(super) fn is_assumed_away(program: &Program, mut loc: LocId) -> bool {
    for _ in 0..8 {
        let Out::One(edge) = program.locs[loc].out else { return false };
        match program.edges[edge].op {
            Op::Halt(cfa::HaltKind::Assumed) => return true,
            Op::Skip => loc = program.edges[edge].target,
            _ => return false,
        }
    }
    false
}

fn integer(text: &str, width: u32) -> Option<Bv> {
    let text = text.trim();
    if let Some(character) = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')) {
        let mut chars = character.chars();
        return match (chars.next(), chars.next()) {
            (Some(c), None) if c != '\\' => Some(Bv::new(32, u64::from(c)).resize(width)),
            _ => None,
        };
    }
    match text {
        "true" => return Some(Bv::one(width)),
        "false" => return Some(Bv::zero(width)),
        _ => {}
    }
    let (negative, digits) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    let (digits, radix) = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => (hex, 16),
        None => (digits, 10),
    };
    let digits = digits.trim_end_matches(['u', 'U', 'l', 'L']);
    let value = num_bigint::BigUint::parse_bytes(digits.as_bytes(), radix)?;
    let modulus = num_bigint::BigUint::from(1u8) << width;
    let value = Bv::from_big(width, value % modulus);
    Some(if negative { value.neg() } else { value })
}

fn without_comments(xml: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = xml;
    while let Some((before, comment)) = rest.split_once("<!--") {
        out += before;
        (_, rest) = comment.split_once("-->").ok_or("a comment that does not end")?;
    }
    Ok(out + rest)
}

fn unescaped(text: &str) -> String {
    let text = text.strip_prefix("<![CDATA[").and_then(|t| t.strip_suffix("]]>")).unwrap_or(text);
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_cases_are_read_as_others_write_them() {
        let xml = "<?xml version=\"1.0\"?>\n<testcase coversError=\"true\">\n<!-- <input>7</input> -->\n \
                   <input variable=\"x\" type=\"int\"> -3 </input><input>&apos;a&apos;</input>\n<input type=\"float\">1.5f</input></testcase>";
        let test = TestCase::parse(xml).unwrap();
        assert_eq!(test.values, ["-3", "'a'", "1.5f"]);
        assert_eq!(TestCase::parse("<testcase></testcase>").unwrap(), TestCase::default());
        for bad in ["", "<input>3</input>", "<testcase><input/></testcase>", "<testcase><input>3</testcase>"] {
            assert!(TestCase::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_are_those_of_c() {
        let value = |text| integer(text, 8).and_then(|v| v.to_u64());
        assert_eq!(
            ["-3", "0x1F", "300", "7u", "'a'", "true"].map(value),
            [Some(253), Some(31), Some(44), Some(7), Some(97), Some(1)]
        );
        assert_eq!(["", "x", "1.5", "'ab'", "--1"].map(value), [None; 5]);
    }
}
