//! Specification automata, with which users define properties of call sequences (`docs/guide/automata.md`).
//!
//! [`parse`] reads the text form. [`Automaton::weave`] instruments a program with the automaton: it adds monitor
//! functions and calls them at the events of the automaton. Later stages see only ordinary functions and errors, so
//! every analysis supports automata.

mod parse;
mod weave;

pub use parse::{AutomatonError, parse};
pub use weave::WeaveError;

/// A specification automaton. An automaton with a key has one instance for each value of the key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Automaton {
    /// The name.
    pub name: String,
    /// The name of the key, which is the value that an instance observes.
    pub key: Option<String>,
    /// The maximal number of instances outside their initial configuration at one time.
    pub instances: u32,
    /// The variables of an instance, with their initial values.
    variables: Vec<(String, i64)>,
    /// The states. The first one is the initial state.
    pub states: Vec<String>,
    /// The transitions. An event takes the first one that matches.
    transitions: Vec<Transition>,
    /// Functions without side effects. If no file defines them, they return any value.
    harmless: Vec<String>,
    /// The initial state of instances if execution does not start with `main`.
    given: usize,
}

/// A transition of an automaton.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Transition {
    /// The source states, by index.
    from: Vec<usize>,
    event: Event,
    guard: Option<Term>,
    actions: Vec<Action>,
    /// The target. `None` if the state does not change.
    to: Option<TransitionTarget>,
}

/// The target of a transition.
#[derive(Clone, PartialEq, Eq, Debug)]
enum TransitionTarget {
    /// The state with this index.
    State(usize),
    /// An error with this message.
    Error(String),
}

/// An event of the program that an automaton observes.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Event {
    /// Control enters one of these functions.
    Call(Pattern),
    /// One of these functions returns. The pattern may bind the result to a name.
    Return(Pattern, Option<String>),
    /// `main` (or the function at which execution starts) starts. The name is bound to the value of one of these global
    /// variables.
    Start(Vec<String>, String),
    /// The program ends, by `exit` or by a return from `main`.
    End,
}

/// A pattern of calls.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Pattern {
    functions: Vec<String>,
    /// Names for arguments. `None` if an argument does not matter.
    args: Vec<Option<Named>>,
    /// True if the function may have more arguments.
    open: bool,
}

/// A name that an argument is bound to.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Named {
    name: String,
    /// True if the name is bound to the pointer in memory that the argument points to.
    is_pointee: bool,
}

/// An action of a transition.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Action {
    /// Assigns a value to the variable with this index.
    Assign(usize, Term),
    /// An error with this message if the condition is false.
    Assert(Term, String),
}

/// An expression over 64-bit integers.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Term {
    Number(i64),
    /// A variable of the automaton, by index.
    Variable(usize),
    /// A name that the event binds.
    Bound(String),
    Not(Box<Term>),
    Negated(Box<Term>),
    Binary(Operator, Box<Term>, Box<Term>),
}

/// A binary operator.
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
    /// The automata that Proviso includes: name and text.
    pub const SHIPPED: [(&'static str, &'static str); 4] = [
        ("mutex", include_str!("../automata/mutex.spc")),
        ("file", include_str!("../automata/file.spc")),
        ("heap", include_str!("../automata/heap.spc")),
        ("spinlock", include_str!("../automata/spinlock.spc")),
    ];

    /// The initial state of instances if execution does not start with `main`.
    pub fn given(&self) -> &str {
        &self.states[self.given]
    }

    /// The names of all functions in the automaton's events, sorted.
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
