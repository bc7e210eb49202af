//! The text form of condition automata.
//!
//! ```text
//! condition of 1f40…            // the fingerprint of the program
//! q0 initial
//!   t3 t4 -> q1                 // main.c:4: x > 0
//!   t5 if "x == 0" in main -> q2
//!   * -> q0                     // every other edge
//! q1 accepting
//! q2
//! q3 accepting with-rest        // verified together with the residual paths
//! ```
//!
//! Edges are written as in the text form of programs (`cfa::text`), with the corresponding C code in a comment.
//! Assumptions are C conditions over the variables of a function and global variables. If the C text would not parse
//! back to the same expression, the text form of expressions is used (`(x.v3 == 0:32)`).

use super::{Condition, Label, State, StateId, Transition, c, fingerprint};
use cfa::{EdgeId, ExprId, FuncId, Op, Program, Table};
use std::fmt::{self, Write};

/// The reason why a text is not a condition automaton for the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// The line, from 1; 0 if the error has no line.
    pub line: usize,
    /// The message.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "{line}: {}", self.message),
        }
    }
}

impl std::error::Error for Error {}

/// Returns the text form of a condition.
pub fn print(condition: &Condition, program: &Program) -> String {
    let mut out = format!("condition of {}\n", fingerprint(program));
    let mut assumptions = Assumptions::new(program);
    for (id, state) in condition.states.iter() {
        let _ = write!(out, "{id}");
        if id == condition.initial {
            out += " initial";
        }
        if state.accepting {
            out += " accepting";
        }
        if state.with_rest {
            out += " with-rest";
        }
        out.push('\n');
        for t in &state.transitions {
            let _ = writeln!(out, "  {}", transition(t, &mut assumptions));
        }
    }
    out
}

/// A printer for the assumptions of transitions of a program.
pub(crate) struct Assumptions<'p> {
    program: &'p Program,
    /// A copy of the program, for the test that a text parses back to the same expression. Created on first use.
    scratch: Option<Program>,
}

impl<'p> Assumptions<'p> {
    /// A printer for the program.
    pub fn new(program: &'p Program) -> Self {
        Self { program, scratch: None }
    }

    /// Returns the text of an assumption.
    pub fn print(&mut self, e: ExprId) -> String {
        self.c(e).unwrap_or_else(|| cfa::text::expression(self.program, &self.program.exprs, e))
    }

    /// The assumption as C, with the function of its local variables; `None` if it would not parse back to the same
    /// expression.
    fn c(&mut self, e: ExprId) -> Option<String> {
        let program = self.program;
        let mut funcs: Vec<FuncId> = program.exprs.vars(e).iter().filter_map(|v| program.vars[*v].func()).collect();
        funcs.dedup();
        let scope = match funcs[..] {
            [] => String::new(),
            [func] => format!(" in {}", program.funcs[func].name),
            _ => return None,
        };
        let exact = || cfa::text::c_exact(program, &program.exprs, e, &|_| true);
        let forms = [Some(cfa::text::c_expr(program, &program.exprs, e)), exact()];
        let scratch = self.scratch.get_or_insert_with(|| program.clone());
        let mut quoted = forms.into_iter().flatten().map(|form| format!("\"{form}\"{scope}"));
        quoted.find(|text| read_assumption(text, scratch) == Ok(e))
    }
}

/// Parses an assumption, in C or in the text form of expressions. Adds its expressions to the program. Fails with a
/// message.
pub(crate) fn read_assumption(text: &str, program: &mut Program) -> Result<ExprId, String> {
    let text = text.trim();
    let Some((condition, scope)) = text.strip_prefix('"').and_then(|text| text.rsplit_once('"')) else {
        let read = cfa::text::parse_expression(program, text);
        return read.map_err(|e| format!("column {}: {}", e.column, e.message));
    };
    let func = match scope.trim() {
        "" => None,
        scope => {
            let name = scope.strip_prefix("in ").ok_or_else(|| format!("'{scope}' is no scope"))?.trim();
            let named: Vec<FuncId> = program.funcs.iter().filter(|(_, f)| f.name == name).map(|(id, _)| id).collect();
            let [func] = named[..] else { return Err(format!("there is no function '{name}', or more than one")) };
            Some(func)
        }
    };
    c::parse(condition, func, program)
}

/// Returns the text of a transition, with the corresponding C code in a comment.
pub(crate) fn transition(t: &Transition, assumptions: &mut Assumptions<'_>) -> String {
    let mut out = String::new();
    match &t.on {
        Label::Others => out.push('*'),
        Label::Edges(edges) => {
            let names: Vec<String> = edges.iter().map(ToString::to_string).collect();
            out += &names.join(" ");
        }
    }
    if let Some(e) = t.assumption {
        let _ = write!(out, " if {}", assumptions.print(e));
    }
    let _ = write!(out, " -> {}", t.to);
    if let Some(comment) = comment(t, assumptions.program) {
        let _ = write!(out, " // {comment}");
    }
    out
}

/// The C code of a transition on a single edge.
fn comment(t: &Transition, program: &Program) -> Option<String> {
    let Label::Edges(edges) = &t.on else { return None };
    let &[edge] = &**edges else { return None };
    Some(describe(edge, t.assumption, program).replace('\n', " "))
}

/// The C code of an edge and an assumption.
pub(crate) fn describe(edge: EdgeId, assumption: Option<ExprId>, program: &Program) -> String {
    let Some(edge) = program.edges.get(edge) else { return "?".into() };
    let mut out = String::new();
    if let Some(place) = edge.place.map(|p| program.places[p]) {
        let path = &program.files[place.file].path;
        let name = path.rsplit('/').next().unwrap_or(path);
        let _ = write!(out, "{name}:{}: ", place.line);
    }
    out += &match edge.op {
        Op::Skip => "-".into(),
        _ => cfa::text::c_operation(program, &edge.op),
    };
    if let Some(e) = assumption {
        let _ = write!(out, ", if {}", cfa::text::c_expr(program, &program.exprs, e));
    }
    out
}

/// Parses a condition of this program. Adds the expressions of assumptions to the program. Fails on malformed text and
/// on references that do not exist.
pub fn parse(text: &str, program: &mut Program) -> Result<Condition, Error> {
    let mut lines = text.lines().enumerate().map(|(i, line)| {
        let line = line.split_once("//").map_or(line, |(before, _)| before);
        (i + 1, line.trim_end())
    });
    let mut lines = lines.by_ref().filter(|(_, line)| !line.trim().is_empty());
    let error = |line, message: String| Error { line, message };
    let (at, header) = lines.next().ok_or_else(|| error(0, "the file is empty".into()))?;
    let Some(fingerprint_read) = header.trim().strip_prefix("condition of ") else {
        return Err(error(at, "this is no condition: it does not begin with 'condition of'".into()));
    };
    if fingerprint_read.trim() != fingerprint(program) {
        return Err(error(
            at,
            "the condition is for another program, or for this program with other options or another version of Proviso".into(),
        ));
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
            let t = read_transition(line.trim(), program).map_err(|message| error(at, message))?;
            states[StateId(last)].transitions.push(t);
            continue;
        }
        let mut words = line.split_whitespace();
        let next = states.next_id();
        if words.next() != Some(next.to_string().as_str()) {
            return Err(error(at, format!("expected the state {next}")));
        }
        let mut state = State::default();
        for word in words {
            match word {
                "accepting" => state.accepting = true,
                "with-rest" => state.with_rest = true,
                "initial" if initial.is_none() => initial = Some(next),
                "initial" => return Err(error(at, "there are two initial states".into())),
                other => return Err(error(at, format!("unexpected '{other}'"))),
            }
        }
        states.push(state);
    }
    let initial = initial.ok_or_else(|| error(0, "there is no initial state".into()))?;
    let condition = Condition { states, initial };
    condition.check(program).map_err(|message| error(0, message))?;
    Ok(condition)
}

/// Parses a transition. Adds the expressions of its assumption to the program. Fails with a message.
pub(crate) fn read_transition(text: &str, program: &mut Program) -> Result<Transition, String> {
    let (text, to) = text.rsplit_once("->").ok_or("a transition without '->'")?;
    let to = id(to.trim(), "q").map(StateId).ok_or("there is no state after '->'")?;
    let (edges, assumption) = match text.split_once(" if ") {
        Some((edges, e)) => (edges, Some(read_assumption(e, program)?)),
        None => (text, None),
    };
    let on = match edges.trim() {
        "*" => Label::Others,
        "" => return Err("a transition without an edge".into()),
        edges => Label::from_edges(
            edges
                .split_whitespace()
                .map(|word| id(word, "t").map(EdgeId).ok_or_else(|| format!("'{word}' is no edge")))
                .collect::<Result<Vec<_>, _>>()?,
        ),
    };
    Ok(Transition { on, assumption, to })
}

/// The number after a prefix.
fn id(word: &str, prefix: &str) -> Option<u32> {
    word.strip_prefix(prefix)?.parse().ok()
}
