//! Generational search (Godefroid, Levin, Molnar: Automated whitebox fuzz testing, NDSS 2008). From the inputs of a
//! process, it computes *children*: inputs whose runs follow the same path up to one branch, and take the other side
//! there.

use super::goals;
use cfa::interp::ObjectSeq;
use cfa::{Bv, Id, Program};
use driver::environment::replay::{Origins, Place, Replayer};
use driver::environment::{Part, Process};
use engine::budget::{Budget, worked};
use engine::concolic::{Attempts, Concolic, InputNames, Numbering};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

/// The maximal processor time for the children of one process.
const TIME_PER_PROCESS: Duration = Duration::from_secs(2);
/// The maximal number of children that leave the path of their process over the same edge, with the same calls and in
/// the same iteration, if some run has taken the edge.
const MOST_CHILDREN: u8 = 2;

/// Computes children of processes.
pub struct Generations<'p> {
    program: &'p Program,
    concolic: Concolic<'p>,
    places: Places,
    attempts: Attempts,
    /// The processor time so far.
    time: Duration,
}

/// A numbering of the places in processes: each is a part, and a byte or a number in it.
type Places = Numbering<(Part, Place)>;

/// Names the values that a run takes by the numbers of the places in its process.
struct Names<'a> {
    origins: &'a RefCell<Origins>,
    places: &'a mut Places,
    process: &'a Process,
}

impl InputNames for Names<'_> {
    fn value(&mut self) -> Option<u32> {
        let place = self.origins.borrow_mut().take()?;
        Some(self.places.number(place))
    }

    fn bytes(&mut self, object: ObjectSeq) -> Vec<u32> {
        let origins = self.origins.borrow();
        let Some(part) = origins.text(object) else { return Vec::new() };
        let length = match part {
            Part::Argument(index) => self.process.arguments.get(*index),
            Part::Variable(name) => self.process.variables.get(name),
            Part::Stdin | Part::File(_) => None,
        };
        // The zero at the end is an input, too: another byte there makes the text longer.
        let end = length.map_or(0, |text| text.len() + 1);
        (0..end).map(|at| self.places.number((part.clone(), Place::Byte(at)))).collect()
    }
}

impl<'p> Generations<'p> {
    /// Creates a search without children for a program.
    pub fn new(program: &'p Program) -> Self {
        let concolic = Concolic::new(program, &engine::smt::Choice::default());
        Self {
            program,
            concolic,
            places: Places::default(),
            attempts: Attempts::new(MOST_CHILDREN),
            time: Duration::ZERO,
        }
    }

    /// Returns the processor time that all calls of [`children`](Self::children) took.
    pub fn time(&self) -> Duration {
        self.time
    }

    /// Returns children of a process. `is_reached` is true for each edge that some run took.
    pub fn children(
        &mut self,
        replayer: &Replayer<'_>,
        process: &Process,
        is_reached: &[bool],
        budget: &Budget,
    ) -> Vec<Process> {
        let start = worked();
        let budget = budget.exerting(TIME_PER_PROCESS);
        let origins = RefCell::default();
        let names = Names { origins: &origins, places: &mut self.places, process };
        let mut recorder = self.concolic.follow(names);
        replayer.run_with_origins(process, None, goals::limits(goals::ENDLESS), &mut recorder, &origins);
        let path = recorder.path();
        let wants = self.attempts.of_path(self.program, |edge| is_reached[edge.index()]);
        let mut children = Vec::new();
        let places = &self.places;
        self.concolic.children(&path, &budget, wants, |changed| {
            let child = changed_process(process, places, &changed);
            if child != *process && !children.contains(&child) {
                children.push(child);
            }
        });
        self.time += worked().saturating_sub(start);
        children
    }
}

/// Returns the process with these bytes and numbers changed. A byte directly after the end of a part makes the part
/// longer. A value that is no byte truncates the part there, and so does a zero in an argument or environment variable.
fn changed_process(process: &Process, places: &Places, changed: &[(u32, Bv)]) -> Process {
    let mut child = process.clone();
    let mut parts: BTreeMap<&Part, BTreeMap<usize, Option<u8>>> = BTreeMap::new();
    let mut numbers: Vec<(&Part, Range<usize>, String)> = Vec::new();
    for (number, value) in changed {
        let (part, place) = places.symbol(*number);
        let at = match place {
            Place::Byte(at) => at,
            Place::Number { range, is_signed } => {
                let text = match is_signed {
                    true => value.to_i64().map(|value| value.to_string()),
                    false => value.to_u64().map(|value| value.to_string()),
                };
                numbers.extend(text.map(|text| (part, range.clone(), text)));
                continue;
            }
        };
        let is_text = matches!(part, Part::Argument(_) | Part::Variable(_));
        // A value of more than 8 bits is the result of a function that returns a character or `EOF`.
        let byte = value.to_u64().and_then(|value| u8::try_from(value).ok());
        parts.entry(part).or_default().insert(*at, byte.filter(|&byte| byte != 0 || !is_text));
    }
    for (part, bytes) in parts {
        let Some(text) = child.part_mut(part) else { continue };
        for (at, byte) in bytes {
            match byte {
                Some(byte) if at < text.len() => text[at] = byte,
                Some(byte) if at == text.len() => text.push(byte),
                Some(_) => {}
                None => text.truncate(at),
            }
        }
    }
    // A number of another length moves what follows it.
    numbers.sort_by_key(|(_, range, _)| std::cmp::Reverse(range.start));
    for (part, range, number) in numbers {
        if let Some(text) = child.part_mut(part).filter(|text| range.end <= text.len()) {
            text.splice(range, number.into_bytes());
        }
    }
    child
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_change_extend_and_end_parts() {
        let mut places = Places::default();
        let mut number = |part, at| places.number((part, Place::Byte(at)));
        let argument = || Part::Argument(0);
        let [a, b, end] = [0, 1, 2].map(|at| number(argument(), at));
        let [first, eof] = [0, 1].map(|at| number(Part::Stdin, at));
        assert_eq!(number(argument(), 1), b);
        let process = Process { arguments: vec![b"xy".to_vec()], stdin: b"1".to_vec(), ..Process::default() };
        let child = |changed: &[(u32, Bv)]| {
            let child = changed_process(&process, &places, changed);
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            (text(&child.arguments[0]), text(&child.stdin))
        };
        let byte = |value: u8| Bv::new(8, value.into());
        let result = |value: i64| Bv::from_i64(32, value);
        assert_eq!(child(&[(a, byte(b'-')), (end, byte(b'z'))]), ("-yz".into(), "1".into()));
        assert_eq!(child(&[(b, byte(0)), (eof, result(50))]), ("x".into(), "12".into()));
        assert_eq!(child(&[(first, result(-1))]), ("xy".into(), String::new()));
    }

    #[test]
    fn numbers_are_replaced_as_text() {
        let mut places = Places::default();
        let mut number = |range, is_signed| places.number((Part::Stdin, Place::Number { range, is_signed }));
        let (a, b) = (number(0..1, true), number(2..4, false));
        let process = Process { stdin: b"7 12 x".to_vec(), ..Process::default() };
        let changed = [(a, Bv::from_i64(64, -300)), (b, Bv::new(64, 5))];
        assert_eq!(changed_process(&process, &places, &changed).stdin, b"-300 5 x");
    }
}
