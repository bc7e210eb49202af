//! Properties of one's own: automata that watch calls (`docs/guide/automata.md`).
//!
//! [`parse`] reads the text form, [`Automaton::weave`] puts the automaton into a program, as functions that are called where
//! the program calls what the automaton speaks of. So all that works on programs works with it, and nothing behind knows of automata.

mod parse;
mod weave;

pub use parse::{AutomatonError, parse};
pub use weave::WeaveError;

/// An automaton. One with a key has an instance for each value that the key takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Automaton {
    pub name: String,
    /// The name of what each instance watches.
    pub key: Option<String>,
    /// So many instances are told apart at a time that are not as they were at first.
    pub instances: u32,
    /// Variables of each instance, with their first values.
    variables: Vec<(String, i64)>,
    /// The first is the initial one.
    pub states: Vec<String>,
    /// The first that matches is taken.
    transitions: Vec<Transition>,
    /// Functions that, where nobody defines them, return any value and do nothing else.
    harmless: Vec<String>,
    /// The first state where execution does not start with `main`.
    given: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Transition {
    /// States, by number.
    from: Vec<usize>,
    event: Event,
    guard: Option<Term>,
    actions: Vec<Action>,
    /// Else the instance stays where it is.
    to: Option<Target>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Target {
    State(usize),
    Error(String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Event {
    /// Control comes to one of these functions.
    Call(Pattern),
    /// It comes back, with a result that the pattern may bind.
    Return(Pattern, Option<String>),
    /// `main` starts, or the function that execution starts with, and one of these global variables holds what the name is given to.
    Start(Vec<String>, String),
    /// The program ends, by `exit` or by leaving `main`.
    End,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Pattern {
    functions: Vec<String>,
    /// Names for arguments; `None` where they do not matter.
    args: Vec<Option<Named>>,
    /// There may be more.
    open: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Named {
    name: String,
    /// It is the pointer that the argument leads to.
    is_pointee: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Action {
    Assign(usize, Term),
    Assert(Term, String),
}

/// An expression over 64-bit integers.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Term {
    Number(i64),
    /// A variable of the automaton, by number.
    Variable(usize),
    /// What the event binds.
    Bound(String),
    Not(Box<Term>),
    Negated(Box<Term>),
    Binary(Operator, Box<Term>, Box<Term>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Add,
    Sub,
    Mul,
}

impl Automaton {
    /// Those that come with Proviso, by name.
    pub const SHIPPED: [(&'static str, &'static str); 4] = [
        ("mutex", include_str!("../automata/mutex.spc")),
        ("file", include_str!("../automata/file.spc")),
        ("heap", include_str!("../automata/heap.spc")),
        ("spinlock", include_str!("../automata/spinlock.spc")),
    ];

    /// The state that instances are in at first where execution does not start with `main`.
    pub fn given(&self) -> &str {
        &self.states[self.given]
    }

    /// All functions that it speaks of.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        let mut names: Vec<&str> = Vec::new();
        for transition in &self.transitions {
            if let Event::Call(p) | Event::Return(p, _) = &transition.event {
                names.extend(p.functions.iter().map(String::as_str));
            }
        }
        names.sort_unstable();
        names.dedup();
        names.into_iter()
    }
}
