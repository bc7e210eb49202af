//! GIAs in text form.
//!
//! ```text
//! gia of 1f40…                              // of this program
//! q0 initial
//!   t3 t4 -> q1                             // main.c:4: x > 0
//!   * -> q0                                 // every other edge
//! q1 rt
//! q2 ut invariant "x == 0" in main
//! q3 cand
//!   * -> q3
//! ```
//!
//! Transitions are written like those of conditions, and invariants like assumptions.

use super::{Gia, Says, State};
use crate::condition::{self, Error, StateId, text};
use cfa::{Program, Table};
use std::fmt::Write;

/// Prints the GIA.
pub fn print(gia: &Gia, program: &Program) -> String {
    let mut out = format!("gia of {}\n", condition::fingerprint(program));
    let mut assumptions = text::Assumptions::new(program);
    for (id, state) in gia.states.iter() {
        let _ = write!(out, "{id}");
        if id == gia.initial {
            out += " initial";
        }
        if let Some(says) = state.says {
            let _ = write!(out, " {}", says.name());
        }
        if let Some(e) = state.invariant {
            let _ = write!(out, " invariant {}", assumptions.print(e));
        }
        out.push('\n');
        for t in &state.transitions {
            let _ = writeln!(out, "  {}", text::transition(t, &mut assumptions));
        }
    }
    out
}

/// Parses a GIA of this program. Adds the expressions of the GIA to the program. Fails on malformed text and on
/// violated rules of Definition 2.
pub fn parse(source: &str, program: &mut Program) -> Result<Gia, Error> {
    let error = |line, message: String| Error { line, message };
    let lines = source.lines().enumerate().map(|(i, line)| {
        let line = line.split_once("//").map_or(line, |(before, _)| before);
        (i + 1, line.trim_end())
    });
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let (at, header) = lines.next().ok_or_else(|| error(0, "the file is empty".into()))?;
    let Some(of) = header.trim().strip_prefix("gia of ") else {
        return Err(error(at, "this is no GIA: it does not begin with 'gia of'".into()));
    };
    if of.trim() != condition::fingerprint(program) {
        let what = "the GIA is for another program, or for this program with another property, other options or another version of Proviso; the \
                    property of a test suite is `--property coverage`";
        return Err(error(at, what.into()));
    }
    let mut states: Table<StateId, State> = Table::new();
    let mut initial = None;
    for (at, line) in lines {
        if let Some(line) = line.strip_prefix([' ', '\t']) {
            let last = states
                .next_id()
                .0
                .checked_sub(1)
                .ok_or_else(|| error(at, "a transition before the first state".into()))?;
            let t = text::read_transition(line.trim(), program).map_err(|message| error(at, message))?;
            states[StateId(last)].transitions.push(t);
            continue;
        }
        let (line, invariant) = match line.split_once(" invariant ") {
            Some((line, e)) => {
                let e = text::read_assumption(e, program).map_err(|message| error(at, message))?;
                (line, Some(e))
            }
            None => (line, None),
        };
        let mut words = line.split_whitespace();
        let next = states.next_id();
        if words.next() != Some(next.to_string().as_str()) {
            return Err(error(at, format!("expected the state {next}")));
        }
        let mut state = State { invariant, ..State::default() };
        for word in words {
            match (word, Says::from_name(word)) {
                (_, Some(says)) if state.says.is_none() => state.says = Some(says),
                (_, Some(_)) => return Err(error(at, format!("{next} has two claims"))),
                ("initial", _) if initial.is_none() => initial = Some(next),
                ("initial", _) => return Err(error(at, "there are two initial states".into())),
                (other, _) => return Err(error(at, format!("unexpected '{other}'"))),
            }
        }
        states.push(state);
    }
    let initial = initial.ok_or_else(|| error(0, "there is no initial state".into()))?;
    let gia = Gia { states, initial };
    gia.check(program).map_err(|message| error(0, message))?;
    Ok(gia)
}
