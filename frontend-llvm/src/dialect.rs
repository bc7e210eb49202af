//! Rewrites extensions of CBMC and gcc that clang does not support.
//!
//! CBMC accepts `==>`, `__CPROVER_forall { int i; P }`, `__CPROVER_exists { int i; P }`, functions that are called
//! before a declaration with another type than `int`, and redeclarations of CBMC's functions with other qualifiers. gcc
//! writes deallocators (`__attribute__((malloc (fclose, 1)))`) into preprocessed text. They have no effect here.
//!
//! The module rewrites preprocessed text to C, and only if clang has rejected it. A quantifier becomes a loop over the
//! values of its variable that its condition permits (`0 <= i && i < n ==> P`). Without such bounds, it becomes any
//! value that one instance permits, and is marked as an approximation.

use std::fmt::Write;

/// The reasons why clang rejected a text, as far as rewriting helps.
#[derive(PartialEq, Eq, Debug, Default)]
pub(crate) struct Reasons {
    logic: bool,
    /// The attribute `malloc` has arguments.
    deallocators: bool,
    /// Functions that are declared after a call.
    late: Vec<String>,
    /// Undefined functions with several different declarations. The first declaration counts.
    repeated: Vec<String>,
}

impl Reasons {
    /// Parses clang's messages. Returns `None` if they have other reasons.
    pub(crate) fn parse(messages: &str) -> Option<Self> {
        let logic = ["__CPROVER_forall", "__CPROVER_exists", "==>"].iter().any(|what| messages.contains(what));
        let deallocators = ["malloc", "__malloc__"]
            .iter()
            .any(|name| messages.contains(&format!("error: '{name}' attribute takes no arguments")));
        let mut reasons = Self { logic, deallocators, ..Self::default() };
        for what in ["error: conflicting types for '", "error: static declaration of '"] {
            for rest in messages.split(what).skip(1) {
                let Some((name, rest)) = rest.split_once('\'') else { continue };
                let rest = rest.split("error: ").next().unwrap_or(rest);
                if rest.contains("note: previous implicit declaration is here") {
                    reasons.late.push(name.to_owned());
                } else if name.starts_with("__CPROVER_") || name.starts_with("nondet_") {
                    reasons.repeated.push(name.to_owned());
                }
            }
        }
        let found = logic || deallocators || !reasons.late.is_empty() || !reasons.repeated.is_empty();
        found.then_some(reasons)
    }

    /// Adds further reasons. Returns true if one of them was new.
    pub(crate) fn add(&mut self, more: Self) -> bool {
        let size = |r: &Self| (r.logic, r.deallocators, r.late.len(), r.repeated.len());
        let before = size(self);
        self.logic |= more.logic;
        self.deallocators |= more.deallocators;
        for (names, more) in [(&mut self.late, more.late), (&mut self.repeated, more.repeated)] {
            names.extend(more);
            names.sort_unstable();
            names.dedup();
        }
        before != size(self)
    }
}

/// If clang's messages say that the program defines a builtin with a check (`__builtin___memset_chk`): the builtin, and
/// the library function that it represents.
pub(crate) fn checked_builtin(messages: &str) -> Option<(&str, &str)> {
    let (_, rest) = messages.split_once("definition of builtin function '")?;
    let (builtin, _) = rest.split_once('\'')?;
    let function = builtin.strip_prefix("__builtin_").filter(|name| name.ends_with("_chk"))?;
    Some((builtin, function))
}

/// Removes exemptions from checks (`no_sanitize("undefined")`) from preprocessed text: the attributes then name a
/// sanitizer that does not exist. Returns `None` if the text has none.
pub(crate) fn without_exemptions(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut changed = false;
    // For each open bracket, whether it belongs to an attribute.
    let mut brackets: Vec<bool> = Vec::new();
    let mut before = "";
    let tokens = if text.contains("no_sanitize") { tokens(text) } else { return None };
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        let in_attribute = brackets.last() == Some(&true);
        match token {
            "(" | "[" | "{" => {
                let starts = matches!(before, "__attribute__" | "__attribute") || token == "[" && before == "[";
                brackets.push(in_attribute || starts);
            }
            ")" | "]" | "}" => {
                brackets.pop();
            }
            "no_sanitize" | "__no_sanitize__" if in_attribute => {
                out += token;
                while let Some(space) = rest.next_if(|token| token.trim_ascii().is_empty()) {
                    out += space;
                }
                if rest.peek() == Some(&"(") {
                    out += "(\"none\"";
                    let mut depth = 0;
                    for token in rest.by_ref() {
                        depth += i32::from(token == "(") - i32::from(token == ")");
                        // Keeps the line numbers of the following text.
                        out.extend(token.chars().filter(|&c| c == '\n'));
                        if depth == 0 {
                            break;
                        }
                    }
                    out += ")";
                    changed = true;
                }
                before = token;
                continue;
            }
            // #pragma clang attribute
            line if line.starts_with('#') && line.len() > 1 => {
                let inner = without_exemptions(&line[1..]);
                changed |= inner.is_some();
                out += "#";
                out += inner.as_deref().unwrap_or(&line[1..]);
                continue;
            }
            _ => {}
        }
        out += token;
        if !token.trim_ascii().is_empty() {
            before = token;
        }
    }
    changed.then_some(out)
}

/// Rewrites the text to C. All other text is unchanged, line by line.
pub(crate) fn rewrite(text: &str, reasons: &Reasons) -> String {
    let tokens = tokens(text);
    let mut rest = tokens.iter().copied().peekable();
    let mut nodes = Vec::new();
    while rest.peek().is_some() {
        nodes.append(&mut group(&mut rest));
        // A closing bracket without an opening one. clang will report it.
        nodes.extend(rest.next().map(Node::Token));
    }
    if reasons.deallocators {
        leave_out_deallocators(&mut nodes, false);
    }
    for name in &reasons.late {
        declare_early(&mut nodes, name);
    }
    for name in &reasons.repeated {
        declare_once(&mut nodes, name);
    }
    if reasons.logic { expression(&nodes) } else { plain_as_it_is(&nodes) }
}

/// The declarations outside functions: the index of the first node, and of the `;` or body.
fn declarations(nodes: &[Node<'_>]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut start = 0;
    for n in 0..nodes.len() {
        let is_body = matches!(nodes[n], Node::Group("{", ..))
            && matches!(nodes[..n].iter().rfind(|n| !is_space(n)), Some(Node::Group("(", ..)));
        if is_body || matches!(nodes[n], Node::Token(";")) {
            found.push((start, n));
            start = n + 1;
        }
    }
    found
}

/// True if the nodes declare a function with this name.
fn declares(nodes: &[Node<'_>], name: &str) -> bool {
    let after = nodes.iter().position(|n| matches!(n, Node::Token(t) if *t == name)).map(|at| &nodes[at + 1..]);
    matches!(after.and_then(|rest| rest.iter().find(|n| !is_space(n))), Some(Node::Group("(", ..)))
}

/// Inserts a copy of a function's declaration before the first declaration that uses the function.
fn declare_early(nodes: &mut Vec<Node<'_>>, name: &str) {
    let all = declarations(nodes);
    let Some(&(start, end)) = all.iter().find(|&&(start, end)| declares(&nodes[start..end], name)) else { return };
    let uses = |&&(start, end): &&(usize, usize)| nodes[start..=end].iter().any(|node| mentions(node, name));
    if let Some(&(first, _)) = all.iter().find(uses).filter(|&&(first, _)| first < start) {
        let at = (first..start).find(|&at| !is_space(&nodes[at])).unwrap_or(first);
        let text = flat(&plain_as_it_is(&nodes[start..end])) + "; ";
        nodes.insert(at, Node::Done(text));
    }
}

/// Removes all declarations of a function except the first.
fn declare_once(nodes: &mut [Node<'_>], name: &str) {
    let mut repeated = declarations(nodes);
    repeated.retain(|&(start, end)| declares(&nodes[start..end], name) && matches!(nodes[end], Node::Token(";")));
    for &(start, end) in repeated.iter().skip(1) {
        for node in &mut nodes[start..=end] {
            if !is_space(node) {
                *node = Node::Done("\n".repeat(newlines(node)));
            }
        }
    }
}

/// Removes the arguments of all `malloc` attributes.
fn leave_out_deallocators(nodes: &mut [Node<'_>], in_attribute: bool) {
    let mut before = "";
    for node in nodes {
        match node {
            Node::Group("(", ..) if in_attribute && matches!(before, "malloc" | "__malloc__") => {
                *node = Node::Done("\n".repeat(newlines(node)));
            }
            Node::Group(_, inner, _) => {
                let is_attribute = matches!(before, "__attribute__" | "__attribute");
                leave_out_deallocators(inner, in_attribute || is_attribute);
                before = "";
            }
            Node::Token(token) if !token.trim_ascii().is_empty() => before = *token,
            Node::Token(_) | Node::Done(_) => {}
        }
    }
}

fn mentions(node: &Node<'_>, name: &str) -> bool {
    match node {
        Node::Token(token) => *token == name,
        Node::Done(_) => false,
        Node::Group(_, inner, _) => inner.iter().any(|node| mentions(node, name)),
    }
}

/// A token (including a run of white space, or a preprocessor line), or a bracketed group.
enum Node<'t> {
    Token(&'t str),
    Group(&'t str, Vec<Node<'t>>, &'t str),
    /// Text that is already rewritten.
    Done(String),
}

fn tokens(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let line_start = start == 0 || bytes[start - 1] == b'\n';
        match bytes[at] {
            b'#' if line_start => at += text[at..].find('\n').unwrap_or(text.len() - at),
            b'"' | b'\'' => {
                let quote = bytes[at];
                at += 1;
                while at < bytes.len() && bytes[at] != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(bytes.len());
            }
            b if is_word(b) => {
                while at < bytes.len() && is_word(bytes[at]) {
                    at += 1;
                }
            }
            b if b.is_ascii_whitespace() => {
                at += 1;
                while at < bytes.len() && bytes[at].is_ascii_whitespace() && bytes[at - 1] != b'\n' {
                    at += 1;
                }
            }
            _ => {
                let operators = ["<==>", "==>", "<<=", ">>=", "&&", "||", "<=", ">=", "==", "!=", "->", "<<", ">>"];
                at += operators.iter().find(|op| text[at..].starts_with(**op)).map_or(1, |op| op.len());
            }
        }
        while !text.is_char_boundary(at) {
            at += 1;
        }
        tokens.push(&text[start..at]);
    }
    tokens
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b >= 0x80
}

/// Collects nodes up to the closing bracket (not included) or the end.
fn group<'t>(rest: &mut std::iter::Peekable<impl Iterator<Item = &'t str>>) -> Vec<Node<'t>> {
    let mut nodes = Vec::new();
    while let Some(&token) = rest.peek() {
        if matches!(token, ")" | "]" | "}") {
            break;
        }
        rest.next();
        if matches!(token, "(" | "[" | "{") {
            let inner = group(rest);
            let close = rest.next().unwrap_or("");
            nodes.push(Node::Group(token, inner, close));
        } else {
            nodes.push(Node::Token(token));
        }
    }
    nodes
}

/// The text of the nodes, completely rewritten.
fn expression(nodes: &[Node<'_>]) -> String {
    let nodes = without_quantifiers(nodes);
    let mut out = String::new();
    let mut start = 0;
    for (n, node) in nodes.iter().enumerate() {
        let boundary = matches!(node, Node::Token("," | ";" | "=" | "?" | ":" | "return"))
            || matches!(node, Node::Group("{", ..))
            || matches!(node, Node::Token(line) if line.starts_with('#'));
        if boundary {
            out += &implication(&nodes[start..n]);
            out += &plain(&nodes[n..=n]);
            start = n + 1;
        }
    }
    out + &implication(&nodes[start..])
}

/// Rewrites implications in nodes without operators of lower precedence.
fn implication(nodes: &[Node<'_>]) -> String {
    let Some(at) = nodes.iter().position(|n| matches!(n, Node::Token("==>" | "<==>"))) else { return plain(nodes) };
    let (left, right) = (plain(&nodes[..at]), implication(&nodes[at + 1..]));
    match nodes[at] {
        Node::Token("==>") => format!("(!({left}) || ({right}))"),
        _ => format!("(!({left}) == !({right}))"),
    }
}

fn plain(nodes: &[Node<'_>]) -> String {
    let mut out = String::new();
    for node in nodes {
        match node {
            Node::Token(token) => out += token,
            Node::Done(text) => out += text,
            Node::Group(open, inner, close) => {
                out += open;
                out += &expression(inner);
                out += close;
            }
        }
    }
    out
}

fn plain_as_it_is(nodes: &[Node<'_>]) -> String {
    let mut out = String::new();
    for node in nodes {
        match node {
            Node::Token(token) => out += token,
            Node::Done(text) => out += text,
            Node::Group(open, inner, close) => out = out + open + &plain_as_it_is(inner) + close,
        }
    }
    out
}

fn is_space(node: &Node<'_>) -> bool {
    matches!(node, Node::Token(t) if t.trim().is_empty() || t.starts_with('#'))
}

fn without_quantifiers<'t>(nodes: &[Node<'t>]) -> Vec<Node<'t>> {
    let mut result = Vec::with_capacity(nodes.len());
    let mut n = 0;
    while n < nodes.len() {
        if let Node::Token(word @ ("__CPROVER_forall" | "__CPROVER_exists")) = nodes[n]
            && let Some(skip) = nodes[n + 1..].iter().position(|node| !is_space(node))
            && let Node::Group("{", inner, _) = &nodes[n + 1 + skip]
            && let Some(text) = quantifier(word == "__CPROVER_forall", inner)
        {
            // Keeps the line numbers of the following text.
            let lines = nodes[n..=n + 1 + skip].iter().map(newlines).sum();
            result.push(Node::Done(text + &"\n".repeat(lines)));
            n += skip + 2;
            continue;
        }
        result.push(match &nodes[n] {
            Node::Token(token) => Node::Token(token),
            Node::Done(text) => Node::Done(text.clone()),
            Node::Group(open, inner, close) => Node::Done(format!("{open}{}{close}", expression(inner))),
        });
        n += 1;
    }
    // Blocks remain boundaries, and brackets remain groups.
    result
}

fn newlines(node: &Node<'_>) -> usize {
    match node {
        Node::Token(token) if token.starts_with('#') => 0,
        Node::Token(token) => token.matches('\n').count(),
        Node::Done(text) => text.matches('\n').count(),
        Node::Group(_, inner, _) => inner.iter().map(newlines).sum(),
    }
}

/// Joins the lines of a text.
fn flat(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join(" ").trim().to_owned()
}

/// Rewrites a quantifier with the body `T x; P`.
fn quantifier(all: bool, inner: &[Node<'_>]) -> Option<String> {
    let end = inner.iter().position(|n| matches!(n, Node::Token(";")))?;
    let name = inner[..end].iter().rposition(|n| !is_space(n))?;
    let Node::Token(variable) = inner[name] else { return None };
    let ty = flat(&plain(&inner[..name]));
    let mut body: &[Node<'_>] = &inner[end + 1..];
    while let [rest @ .., last] = body
        && (is_space(last) || matches!(last, Node::Token(";")))
    {
        body = rest;
    }
    // The condition that bounds the variable: the left side of an implication, or the body of an existential
    // quantifier.
    let limits = match body.iter().position(|n| matches!(n, Node::Token("==>"))) {
        Some(at) if all => &body[..at],
        None if !all => body,
        _ => &[],
    };
    let (lower, upper) = bounds(limits, variable);
    let holds = flat(&expression(body));
    let (start, end, found) = if all { (1, 0, "!") } else { (0, 1, "") };
    let least = format!("({ty})(({ty})-1 > ({ty})0 ? 0 : 1ull << (8 * sizeof({ty}) - 1))");
    let any = format!(
        "__proviso_overapproximated(\"a quantifier over a variable without bounds\"); {ty} {variable}; _Bool proviso_b; \
         proviso_q = ({holds}) {} proviso_b;",
        if all { "&&" } else { "||" }
    );
    // The loop ends after the upper bound, if there is one, or after the last value of the type.
    let from = |first: &str, beyond: &str| {
        format!(
            "for ({ty} {variable} = {first};; {variable}++) {{ if ({found}({holds})) {{ proviso_q = {end}; break; }} \
             if ({beyond} {variable} == ({ty})~{least}) break; }}"
        )
    };
    let bounded = |first: &str, upper: &str| from(first, &format!("({variable} >= 0 && !({upper})) ||"));
    let mut text = format!("__extension__({{ _Bool proviso_q = {start}; ");
    let _ = match (lower, upper) {
        (Some(lower), Some(upper)) => write!(text, "{}", bounded(&lower, &upper)),
        // Without a lower bound, only unsigned types are bounded.
        (None, Some(upper)) => write!(text, "if ({least} == 0) {{ {} }} else {{ {any} }}", bounded("0", &upper)),
        (_, None) => write!(text, "if (sizeof({ty}) <= 2) {{ {} }} else {{ {any} }}", from(&least, "")),
    };
    Some(text + " proviso_q; })")
}

/// A lower bound of the variable, and a condition that is false above its upper bound, if the conjuncts imply them.
fn bounds(nodes: &[Node<'_>], variable: &str) -> (Option<String>, Option<String>) {
    let parts: Vec<&Node<'_>> = nodes.iter().filter(|n| !is_space(n)).collect();
    if let [Node::Group("(", inner, _)] = parts[..] {
        return bounds(inner, variable);
    }
    let (mut lower, mut upper) = (None, None);
    if nodes.iter().any(|n| matches!(n, Node::Token("||" | "?" | "," | "="))) {
        return (lower, upper);
    }
    for conjunct in nodes.split(|n| matches!(n, Node::Token("&&"))) {
        let parts: Vec<&Node<'_>> = conjunct.iter().filter(|n| !is_space(n)).collect();
        if let [Node::Group("(", inner, _)] = parts[..] {
            let (l, u) = bounds(inner, variable);
            (lower, upper) = (lower.or(l), upper.or(u));
            continue;
        }
        let comparison = |n: &Node<'_>| matches!(n, Node::Token("<" | "<=" | ">" | ">="));
        let looser = |n: &Node<'_>| matches!(n, Node::Token("==" | "!=" | "&" | "^" | "|"));
        let Some(at) = parts.iter().position(|n| comparison(n)) else { continue };
        if parts.iter().any(|n| looser(n)) || parts[at + 1..].iter().any(|n| comparison(n)) {
            continue;
        }
        let Node::Token(operator) = *parts[at] else { continue };
        let is_variable = |side: &[&Node<'_>]| matches!(side, [Node::Token(t)] if *t == variable);
        let side = |side: &[&Node<'_>]| {
            let text: Vec<String> = side.iter().map(|n| flat(&plain(std::slice::from_ref(*n)))).collect();
            text.join(" ")
        };
        let (left, right) = (&parts[..at], &parts[at + 1..]);
        let (other, is_lower) = match (is_variable(left), is_variable(right)) {
            (true, false) => (side(right), operator.starts_with('>')),
            (false, true) => (side(left), operator.starts_with('<')),
            _ => continue,
        };
        if tokens(&other).contains(&variable) {
            continue;
        }
        if is_lower {
            lower = lower.or(Some(format!("({other})")));
        } else {
            upper = upper.or(Some(format!("{} {operator} {}", side(left), side(right))));
        }
    }
    (lower, upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewrite(text: &str) -> String {
        super::rewrite(text, &Reasons { logic: true, ..Reasons::default() })
    }

    #[test]
    fn late_declarations_come_early() {
        let messages =
            "a.c:2:8: error: conflicting types for 'f'\na.c:1:9: note: previous implicit declaration is here\n";
        let reasons = Reasons::parse(messages).unwrap();
        assert_eq!(reasons, Reasons { late: vec!["f".into()], ..Reasons::default() });
        let text =
            "struct s { int x; };\n# 7 \"a.h\"\nint g(void) { return f(1); }\nstatic long f(int x)\n{ return x; }\n";
        let expected = text.replace("int g", "static long f(int x); int g");
        assert_eq!(super::rewrite(text, &reasons), expected);
        assert_eq!(Reasons::parse("error: conflicting types for 'f'\nnote: previous declaration is here"), None);
    }

    #[test]
    fn functions_of_cbmc_are_declared_once() {
        let messages =
            "a.c:2:8: error: conflicting types for 'nondet_p'\na.c:1:9: note: previous declaration is here\n";
        let reasons = Reasons::parse(messages).unwrap();
        let text = "int nondet_p(void *);\nint x;\nint nondet_p(const\n void *); int y = 1;";
        assert_eq!(super::rewrite(text, &reasons), "int nondet_p(void *);\nint x;\n \n int y = 1;");
    }

    #[test]
    fn what_frees_the_result_is_left_out() {
        let reasons = Reasons::parse("a.i:1:52: error: '__malloc__' attribute takes no arguments\n").unwrap();
        let text = "void *f(void) __attribute__ ((__malloc__)) __attribute__ ((__malloc__ (free,\n 1), cold));\n\
                    void *g(void) { return __malloc__(f(malloc(1), 2)); }";
        let expected = text.replace(" (free,\n 1)", " \n");
        assert_eq!(super::rewrite(text, &reasons), expected);
        assert_eq!(Reasons::parse("error: 'cold' attribute takes no arguments"), None);
    }

    #[test]
    fn what_is_c_stays() {
        let text =
            "# 1 \"a.c\"\nint f(int x) {\n  return x >= 0 && a[x] == '}' ? s(\"==> __CPROVER_forall {\") : 0;\n}\n)";
        assert_eq!(rewrite(text), text);
    }

    #[test]
    fn implications() {
        assert_eq!(rewrite("f(a ==> b, c)"), "f((!(a ) || ( b)), c)");
        assert_eq!(rewrite("x = a ==> b ==> c;"), "x =(!( a ) || ((!( b ) || ( c))));");
        assert_eq!(rewrite("return (a ==> b);"), "return ((!(a ) || ( b)));");
        assert_eq!(rewrite("f(a <==> b)"), "f((!(a ) == !( b)))");
    }

    #[test]
    fn bounded_quantifiers_are_loops() {
        let text = rewrite("x = __CPROVER_forall { int i; (i >= 0 && i < n) ==> a[i] == 0 };");
        assert!(text.contains("for (int i = (0);; i++)"), "{text}");
        assert!(text.contains("(i >= 0 && !(i < n)) ||"), "{text}");
        assert!(!text.contains("approximated"), "{text}");
        let text = rewrite("x = __CPROVER_exists { unsigned k; k <= 7 && p(k) };");
        assert!(text.contains("for (unsigned k = 0;; k++)") && text.contains("(k <= 7)"), "{text}");
    }

    #[test]
    fn lines_keep_their_numbers() {
        let text = "int x = __CPROVER_forall\n{ int i;\n i < 3\n ==> i };\nint y;";
        let line = |text: &str| text.lines().position(|l| l.contains("int y")).unwrap();
        assert_eq!(line(&rewrite(text)), line(text));
    }
}
