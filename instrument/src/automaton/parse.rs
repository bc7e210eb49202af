//! The parser of automata. The grammar:
//!
//! ```text
//! file       = automaton+
//! automaton  = "automaton" NAME ["for" "each" NAME ["at" "most" NUMBER]] "{" item* "}"
//! item       = "int" NAME "=" ["-"] NUMBER ";"
//!            | "harmless" NAME ("," NAME)* ";"
//!            | "given" NAME ";"
//!            | "state" NAME ("," NAME)* "{" transition* "}"
//! transition = event ["if" term] ["{" action* "}"] ["->" (NAME | "error" STRING)] ";"
//! event      = "call" pattern | "return" pattern ["=" (NAME | "_")] | "start" NAME ("|" NAME)* "=" NAME | "end"
//! pattern    = NAME ("|" NAME)* ["(" [(NAME | "_") ("," (NAME | "_"))* ["," "..."] | "..."] ")"]
//! action     = NAME "=" term ";" | "assert" term STRING ";"
//! ```

use super::{Action, Automaton, Event, Named, Operator, Pattern, Term, Transition, TransitionTarget};
use std::fmt;

const END_OF_ALL: &str = "`end` in the initial state would apply to all existing values";

/// The default number of instances.
const INSTANCES: u32 = 8;
const MAX_INSTANCES: i64 = 64;
/// A state fits into a byte.
const MAX_STATES: usize = 255;
/// The maximal nesting depth of terms.
const MAX_DEPTH: u32 = 200;

/// A syntax error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AutomatonError {
    /// The line, from 1.
    pub line: u32,
    /// The column in bytes, from 1.
    pub column: u32,
    /// The message.
    pub message: String,
    /// The label next to the marked source text.
    pub label: String,
    /// A remedy.
    pub help: Option<String>,
}

impl fmt::Display for AutomatonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for AutomatonError {}

type Result<T> = std::result::Result<T, AutomatonError>;

/// Parses one or more automata with distinct names.
pub fn parse(text: &str) -> Result<Vec<Automaton>> {
    let mut parser = Parser { tokens: tokens(text)?, next: 0, depth: 0 };
    let mut found: Vec<Automaton> = Vec::new();
    while found.is_empty() || parser.token() != &Token::End {
        let at = parser.next + 1;
        let automaton = parser.automaton()?;
        if found.iter().any(|a| a.name == automaton.name) {
            return Err(parser.at(at, format!("there are two automata `{}`", automaton.name), "the second"));
        }
        found.push(automaton);
    }
    Ok(found)
}

/// A token of the text form.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Token {
    Name(String),
    Number(i64),
    Text(String),
    Sign(&'static str),
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "`{name}`"),
            Self::Number(number) => write!(f, "`{number}`"),
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Sign(sign) => write!(f, "`{sign}`"),
            Self::End => f.write_str("the end of the file"),
        }
    }
}

/// A token with its position in the file.
struct Placed {
    token: Token,
    line: u32,
    column: u32,
}

/// Longer signs come first.
const SIGNS: [&str; 25] = [
    "...", "->", "==", "!=", "<=", ">=", "&&", "||", "{", "}", "(", ")", ",", ";", "=", "|", "<", ">", "+", "-", "*",
    "!", "_", "[", "]",
];

fn tokens(text: &str) -> Result<Vec<Placed>> {
    let mut found = Vec::new();
    let (mut line, mut start, mut at) = (1u32, 0usize, 0usize);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        let rest = &text[at..];
        let column = (at - start) as u32 + 1;
        let wrong = |message: &str, label: &str| AutomatonError {
            line,
            column,
            message: message.to_owned(),
            label: label.to_owned(),
            help: None,
        };
        if bytes[at] == b'\n' {
            (line, start, at) = (line + 1, at + 1, at + 1);
            continue;
        }
        if bytes[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        if rest.starts_with("/*") {
            let end = rest.find("*/").ok_or_else(|| wrong("this comment has no end", "it starts here"))?;
            for (i, _) in rest[..end].match_indices('\n') {
                (line, start) = (line + 1, at + i + 1);
            }
            at += end + 2;
            continue;
        }
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$' || c == '.';
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let first = rest.chars().next().expect("there is more");
        let (token, length) = if first == '"' {
            let end = rest[1..].find(['"', '\n']).filter(|&end| rest.as_bytes()[end + 1] == b'"');
            let end = end.ok_or_else(|| wrong("this text has no end", "a text ends on the line where it starts"))?;
            (Token::Text(rest[1..=end].to_owned()), end + 2)
        } else if first.is_ascii_digit() {
            let word = &rest[..length];
            let number = match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
                Some(digits) => i64::from_str_radix(digits, 16),
                None => word.parse(),
            };
            let number = number.map_err(|_| wrong(&format!("`{word}` is no number of 64 bits"), "not a number"))?;
            (Token::Number(number), length)
        } else if (first.is_ascii_alphabetic() || first == '_' || first == '$') && &rest[..length] != "_" {
            (Token::Name(rest[..length].to_owned()), length)
        } else {
            let sign = SIGNS.iter().find(|s| rest.starts_with(**s));
            let sign = sign.ok_or_else(|| wrong(&format!("`{first}` means nothing here"), "unexpected character"))?;
            (Token::Sign(sign), sign.len())
        };
        found.push(Placed { token, line, column });
        at += length;
    }
    found.push(Placed { token: Token::End, line, column: (at - start) as u32 + 1 });
    Ok(found)
}

/// A parser of automata.
struct Parser {
    tokens: Vec<Placed>,
    next: usize,
    depth: u32,
}

/// The target of a transition before all states are known.
enum Goal {
    /// A state by its name, and the index of its token.
    State(String, usize),
    /// An error with this message.
    Error(String),
}

/// A transition before all states are known.
struct Raw {
    from: Vec<usize>,
    event: Event,
    guard: Option<Term>,
    actions: Vec<Action>,
    goal: Option<Goal>,
}

impl Parser {
    fn token(&self) -> &Token {
        &self.tokens[self.next].token
    }
    fn at(&self, token: usize, message: impl Into<String>, label: impl Into<String>) -> AutomatonError {
        let Placed { line, column, .. } = self.tokens[token.min(self.tokens.len() - 1)];
        AutomatonError { line, column, message: message.into(), label: label.into(), help: None }
    }
    fn expected(&self, what: &str) -> AutomatonError {
        let message = format!("expected {what}, found {}", self.token());
        self.at(self.next, message, format!("expected {what}"))
    }
    fn is(&self, word: &str) -> bool {
        match self.token() {
            Token::Name(name) => name == word,
            Token::Sign(sign) => *sign == word,
            _ => false,
        }
    }
    fn take(&mut self, word: &str) -> bool {
        let is = self.is(word);
        self.next += usize::from(is);
        is
    }
    fn expect(&mut self, word: &str) -> Result<()> {
        if self.take(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }
    fn name(&mut self, what: &str) -> Result<String> {
        let Token::Name(name) = self.token() else { return Err(self.expected(what)) };
        let name = name.clone();
        if name.contains('.') {
            return Err(self.at(self.next, format!("`{name}` is not a valid name"), "a name contains no dot"));
        }
        self.next += 1;
        Ok(name)
    }
    fn text(&mut self) -> Result<String> {
        let Token::Text(text) = self.token() else { return Err(self.expected("a message in quotes")) };
        let text = text.clone();
        self.next += 1;
        Ok(text)
    }
    fn number(&mut self) -> Result<i64> {
        let negative = self.take("-");
        let Token::Number(number) = *self.token() else { return Err(self.expected("a number")) };
        self.next += 1;
        Ok(if negative { -number } else { number })
    }

    fn automaton(&mut self) -> Result<Automaton> {
        self.expect("automaton")?;
        let name = self.name("the automaton's name")?;
        let (mut key, mut instances) = (None, INSTANCES);
        if self.take("for") {
            self.expect("each")?;
            key = Some(self.name("a name for the value that each instance observes")?);
            if self.take("at") {
                self.expect("most")?;
                let at = self.next;
                let number = self.number()?;
                if !(1..=MAX_INSTANCES).contains(&number) {
                    let message = format!("instances are at least 1 and at most {MAX_INSTANCES}");
                    return Err(self.at(at, message, "too few or too many"));
                }
                instances = number as u32;
            }
        }
        let mut automaton = Automaton {
            name,
            key,
            instances,
            variables: Vec::new(),
            states: Vec::new(),
            transitions: Vec::new(),
            harmless: Vec::new(),
            given: 0,
        };
        let (mut raw, mut given) = (Vec::new(), None);
        self.expect("{")?;
        while !self.take("}") {
            if self.take("given") {
                given = Some((self.name("the name of a state")?, self.next - 1));
                self.expect(";")?;
            } else {
                self.item(&mut automaton, &mut raw)?;
            }
        }
        if automaton.states.is_empty() {
            return Err(self.at(self.next - 1, format!("`{}` has no state", automaton.name), "ends without a state"));
        }
        if let Some((name, at)) = given {
            automaton.given = self.state_of(&automaton, &name, at)?;
            if automaton.key.is_some()
                && raw.iter().any(|raw| raw.event == Event::End && raw.from.contains(&automaton.given))
            {
                return Err(self.at(at, END_OF_ALL, format!("`{name}` is the initial state of given objects")));
            }
        }
        for Raw { from, event, guard, actions, goal } in raw {
            let to = match goal {
                None => None,
                Some(Goal::Error(message)) => Some(TransitionTarget::Error(message)),
                Some(Goal::State(name, at)) => Some(TransitionTarget::State(self.state_of(&automaton, &name, at)?)),
            };
            automaton.transitions.push(Transition { from, event, guard, actions, to });
        }
        Ok(automaton)
    }

    fn state_of(&self, automaton: &Automaton, name: &str, at: usize) -> Result<usize> {
        automaton.states.iter().position(|s| s == name).ok_or_else(|| {
            let mut error = self.at(at, format!("`{}` has no state `{name}`", automaton.name), "not a state");
            error.help = Some(format!("its states are {}", automaton.states.join(", ")));
            error
        })
    }

    fn item(&mut self, automaton: &mut Automaton, raw: &mut Vec<Raw>) -> Result<()> {
        if self.take("int") {
            let at = self.next;
            let name = self.name("the variable's name")?;
            if automaton.variables.iter().any(|(v, _)| *v == name) || automaton.key.as_ref() == Some(&name) {
                return Err(self.at(at, format!("`{name}` is declared twice"), "the second time"));
            }
            self.expect("=")?;
            let value = self.number()?;
            automaton.variables.push((name, value));
            return self.expect(";");
        }
        if self.take("harmless") {
            loop {
                automaton.harmless.push(self.name("the name of a function")?);
                if !self.take(",") {
                    return self.expect(";");
                }
            }
        }
        if !self.take("state") {
            return Err(self.expected("`state`, `int`, `harmless`, `given` or `}`"));
        }
        let mut from = Vec::new();
        loop {
            let at = self.next;
            let name = self.name("the state's name")?;
            if name == "error" {
                return Err(self.at(at, "a state cannot have the name `error`", "`-> error` reports a violation"));
            }
            let known = automaton.states.iter().position(|s| *s == name);
            from.push(known.unwrap_or_else(|| {
                automaton.states.push(name);
                automaton.states.len() - 1
            }));
            if automaton.states.len() > MAX_STATES {
                return Err(self.at(at, format!("there are more than {MAX_STATES} states"), "one too many"));
            }
            if !self.take(",") {
                break;
            }
        }
        self.expect("{")?;
        while !self.take("}") {
            let transition = self.transition(automaton, &from)?;
            raw.push(transition);
        }
        Ok(())
    }

    fn transition(&mut self, automaton: &Automaton, from: &[usize]) -> Result<Raw> {
        let at = self.next;
        let (event, bound) = self.event(automaton, from)?;
        if let (Some(key), false) = (&automaton.key, event == Event::End) {
            let times = bound.iter().filter(|name| *name == key).count();
            if times != 1 {
                let message = format!("this event does not bind `{key}` exactly once");
                let mut error = self.at(at, message, format!("`{key}` is bound {times} times"));
                error.help =
                    Some(format!("write `{key}` in the place of one argument or of the result, as in `call f({key})`"));
                return Err(error);
            }
        }
        let scope = Scope { automaton, bound: &bound };
        let guard = if self.take("if") { Some(self.term(&scope)?) } else { None };
        let mut actions = Vec::new();
        if self.take("{") {
            while !self.take("}") {
                actions.push(self.action(&scope)?);
            }
        }
        let mut goal = None;
        if self.take("->") {
            goal = Some(if self.take("error") {
                Goal::Error(self.text()?)
            } else {
                let at = self.next;
                Goal::State(self.name("a state or `error`")?, at)
            });
        }
        self.expect(";")?;
        Ok(Raw { from: from.to_vec(), event, guard, actions, goal })
    }

    /// Parses an event. Returns it with the names that it binds.
    fn event(&mut self, automaton: &Automaton, from: &[usize]) -> Result<(Event, Vec<String>)> {
        let at = self.next;
        if self.take("end") {
            if automaton.key.is_some() && from.contains(&0) {
                return Err(self.at(at, END_OF_ALL, format!("`{}` is the initial state", automaton.states[0])));
            }
            return Ok((Event::End, Vec::new()));
        }
        if self.take("start") {
            let globals = self.alternatives("the name of a global variable")?;
            self.expect("=")?;
            let name = self.name("a name for the value of the variable")?;
            if automaton.variables.iter().any(|(v, _)| *v == name) {
                return Err(self.at(at, format!("`{name}` is bound, but has a value already"), "in this event"));
            }
            return Ok((Event::Start(globals, name.clone()), vec![name]));
        }
        let returns = self.is("return");
        if !returns && !self.is("call") {
            return Err(self.expected("`call`, `return`, `start`, `end` or `}`"));
        }
        self.next += 1;
        let pattern = self.pattern()?;
        let mut bound: Vec<String> = pattern.args.iter().flatten().map(|arg| arg.name.clone()).collect();
        let mut result = None;
        if returns && self.take("=") && !self.take("_") {
            let name = self.name("a name for the result")?;
            bound.push(name.clone());
            result = Some(name);
        }
        for (i, name) in bound.iter().enumerate() {
            let is_variable = automaton.variables.iter().any(|(v, _)| v == name);
            if is_variable || (automaton.key.as_ref() != Some(name) && bound[..i].contains(name)) {
                return Err(self.at(at, format!("`{name}` is bound, but has a value already"), "in this event"));
            }
        }
        Ok((if returns { Event::Return(pattern, result) } else { Event::Call(pattern) }, bound))
    }

    /// Parses names separated by `|`.
    fn alternatives(&mut self, what: &str) -> Result<Vec<String>> {
        let mut names = vec![self.name(what)?];
        while self.take("|") {
            names.push(self.name(what)?);
        }
        Ok(names)
    }

    fn pattern(&mut self) -> Result<Pattern> {
        let functions = self.alternatives("the name of a function")?;
        let mut pattern = Pattern { functions, args: Vec::new(), open: true };
        if !self.take("(") {
            return Ok(pattern);
        }
        pattern.open = false;
        if self.take(")") {
            return Ok(pattern);
        }
        loop {
            if self.take("...") {
                pattern.open = true;
                self.expect(")")?;
                return Ok(pattern);
            }
            if self.take("_") {
                pattern.args.push(None);
            } else {
                let is_pointee = self.take("*");
                let name = self.name("a name for an argument, `*` and a name, `_` or `...`")?;
                pattern.args.push(Some(Named { name, is_pointee }));
            }
            if !self.take(",") {
                self.expect(")")?;
                return Ok(pattern);
            }
        }
    }

    fn action(&mut self, scope: &Scope<'_>) -> Result<Action> {
        if self.take("assert") {
            let term = self.term(scope)?;
            let action = Action::Assert(term, self.text()?);
            self.expect(";")?;
            return Ok(action);
        }
        let at = self.next;
        let name = self.name("`assert` or a variable of the automaton")?;
        let variable = scope.automaton.variables.iter().position(|(v, _)| *v == name);
        let Some(variable) = variable else {
            let message = format!("`{name}` is no variable of the automaton");
            let mut error = self.at(at, message, "not declared");
            error.help = Some(format!("declare it before the states: `int {name} = 0;`"));
            return Err(error);
        };
        self.expect("=")?;
        let action = Action::Assign(variable, self.term(scope)?);
        self.expect(";")?;
        Ok(action)
    }

    fn term(&mut self, scope: &Scope<'_>) -> Result<Term> {
        self.binary(scope, 0)
    }

    fn binary(&mut self, scope: &Scope<'_>, level: usize) -> Result<Term> {
        /// Operators by precedence, the weakest first.
        const LEVELS: [&[(&str, Operator)]; 5] = [
            &[("||", Operator::Or)],
            &[("&&", Operator::And)],
            &[
                ("==", Operator::Equal),
                ("!=", Operator::Unequal),
                ("<", Operator::Less),
                ("<=", Operator::LessEqual),
                (">", Operator::Greater),
                (">=", Operator::GreaterEqual),
            ],
            &[("+", Operator::Add), ("-", Operator::Sub)],
            &[("*", Operator::Mul)],
        ];
        let Some(operators) = LEVELS.get(level) else { return self.unary(scope) };
        let mut left = self.binary(scope, level + 1)?;
        let mut length = 0;
        while let Some(&(sign, operator)) = operators.iter().find(|(sign, _)| self.is(sign)) {
            length += 1;
            if length > MAX_DEPTH {
                return Err(self.at(self.next, "this expression is too long", "here"));
            }
            self.expect(sign)?;
            left = Term::Binary(operator, Box::new(left), Box::new(self.binary(scope, level + 1)?));
        }
        Ok(left)
    }

    fn unary(&mut self, scope: &Scope<'_>) -> Result<Term> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.at(self.next, "this expression is nested too deeply", "here"));
        }
        let term = if self.take("!") {
            Term::Not(Box::new(self.unary(scope)?))
        } else if self.take("-") {
            Term::Negated(Box::new(self.unary(scope)?))
        } else if self.take("(") {
            let term = self.term(scope)?;
            self.expect(")")?;
            term
        } else if let Token::Number(number) = *self.token() {
            self.next += 1;
            Term::Number(number)
        } else {
            let at = self.next;
            let name = self.name("a number, a name or `(`")?;
            scope.name(&name).ok_or_else(|| {
                let mut error = self.at(at, format!("unknown name `{name}`"), "not an argument or result of this event, nor a variable");
                error.help =
                    Some("an expression may use the arguments and results that its event names, and variables of the automaton".into());
                error
            })?
        };
        self.depth -= 1;
        Ok(term)
    }
}

/// The names that a term may use.
struct Scope<'a> {
    automaton: &'a Automaton,
    bound: &'a [String],
}

impl Scope<'_> {
    fn name(&self, name: &str) -> Option<Term> {
        if self.bound.iter().any(|b| b == name) {
            return Some(Term::Bound(name.to_owned()));
        }
        let variable = self.automaton.variables.iter().position(|(v, _)| v == name);
        variable.map(Term::Variable).or_else(|| (name == "NULL").then_some(Term::Number(0)))
    }
}

#[cfg(test)]
mod tests;
