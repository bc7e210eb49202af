//! Translates automata to structured statements: loops, branches, and gotos for all remaining jumps.
//!
//! The algorithm follows Ramsey, *Beyond Relooper: recursive translation of unstructured control flow to structured
//! control flow* (ICFP 2022): the dominator tree determines the nesting. A location with several predecessors is
//! written after the statement of its immediate dominator, and the target of a loop exit after the loop. C has goto, so
//! no code is duplicated.

use super::file::File;
use super::shape::FunctionGraph;
use cfa::dominators::Dominators;
use cfa::loops::LoopForest;
use cfa::{LocId, Op, Out, PlaceId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximal nesting depth of statements, since compilers have limits. Beyond it, gotos are used.
const MAX_NESTING: usize = 24;

/// A line of a function's body.
pub struct Line {
    /// The indentation level.
    pub indent: usize,
    /// The text.
    pub text: String,
    /// The source place.
    pub place: Option<PlaceId>,
    /// If the line is a test that leaves a loop, the condition under which execution stays.
    otherwise: Option<String>,
}

/// The translation of a function to statements.
struct Writer<'a, 'p> {
    file: &'a mut File<'p>,
    shape: &'a FunctionGraph,
    loops: LoopForest,
    /// By node, true if it is the head of a loop that becomes a `while` loop.
    head: Vec<bool>,
    /// By node, the nodes that follow its statement, in order.
    merges: FxHashMap<u32, Vec<u32>>,
    /// By loop head, the nodes that follow its loop, in order.
    exits: FxHashMap<u32, Vec<u32>>,
    /// True for nodes that have a position of their own, instead of replacing the only jump to them.
    placed: Vec<bool>,
    labelled: FxHashSet<u32>,
    lines: Vec<Line>,
    /// The heads of the enclosing loops.
    around: Vec<u32>,
    /// For each enclosing loop, the node after it, and true if a `break` leads there.
    breaks: Vec<(Option<u32>, bool)>,
}

impl File<'_> {
    /// The lines of a function's body. Labels are declared only where a goto uses them.
    pub fn body(&mut self, shape: &FunctionGraph) -> Vec<Line> {
        let dominators = Dominators::new(&shape.graph, 0);
        let loops = LoopForest::new(&shape.graph, 0);
        let order = shape.graph.reverse_postorder(0);
        let n = shape.locs.len();
        let mut head = vec![false; n];
        for l in loops.loops() {
            head[l.head as usize] = !l.irreducible;
        }
        let mut writer = Writer {
            file: self,
            shape,
            loops,
            head,
            merges: FxHashMap::default(),
            exits: FxHashMap::default(),
            placed: vec![false; n],
            labelled: FxHashSet::default(),
            lines: Vec::new(),
            around: Vec::new(),
            breaks: Vec::new(),
        };
        writer.placed[0] = true;
        for &node in &order[1..] {
            writer.place(node, &dominators);
        }
        writer.sequence(0, None, 1);
        let Writer { labelled, lines, .. } = writer;
        // Remove unused labels.
        let is_used = |line: &Line| match line.text.strip_prefix('\0') {
            Some(label) => labelled.contains(&label.parse::<u32>().expect("a node")),
            None => true,
        };
        let mut lines: Vec<Line> = lines.into_iter().filter(is_used).collect();
        for line in &mut lines {
            if let Some(node) = line.text.strip_prefix('\0') {
                line.text = format!("l{node}:;");
            }
        }
        lines
    }
}

impl Writer<'_, '_> {
    /// Decides where a node is written.
    fn place(&mut self, node: u32, dominators: &Dominators) {
        let Some(dominator) = dominators.idom(node) else { return };
        // The outermost loop around the dominator that does not contain the node.
        let (mut outermost, mut inner) = (None, self.loops.innermost(dominator));
        while let Some(l) = inner {
            let head = self.loops.get(l).head;
            if self.loops.contains(l, node) {
                break;
            }
            if self.head[head as usize] && dominators.dominates(head, node) {
                outermost = Some(head);
            }
            inner = self.loops.get(l).parent;
        }
        // A node that ends the program or function stays in place.
        let ends = |this: &Self| match this.file.p.locs[this.shape.locs[node as usize]].out {
            Out::One(edge) => matches!(this.file.p.edges[edge].op, Op::Return { .. } | Op::Halt(_) | Op::Error(_)),
            Out::Sink => true,
            Out::Branch { .. } => false,
        };
        let only = self.shape.before(self.shape.locs[node as usize]).is_some();
        if let Some(head) = outermost.filter(|&head| !only || head == dominator || !ends(self)) {
            self.exits.entry(head).or_default().push(node);
            self.placed[node as usize] = true;
        } else if !only {
            // A loop head with one entry is written at its entry.
            self.merges.entry(dominator).or_default().push(node);
            self.placed[node as usize] = true;
        }
    }

    fn line(&mut self, indent: usize, text: impl Into<String>, place: Option<PlaceId>) {
        self.lines.push(Line { indent, text: text.into(), place, otherwise: None });
    }

    /// Writes a node and its successors, until execution reaches `follow`, which is written next, or continues
    /// elsewhere. Returns true if execution may reach the end of the written text.
    fn sequence(&mut self, start: u32, follow: Option<u32>, indent: usize) -> bool {
        // The nodes to be written after the current one; the next is the last.
        let mut pending: Vec<u32> = Vec::new();
        let mut node = start;
        loop {
            let after = if self.head[node as usize] && self.around.last() != Some(&node) {
                let exits = self.exits.remove(&node).unwrap_or_default();
                pending.extend(exits.iter().rev());
                let after = pending.last().copied().or(follow);
                self.while_loop(node, after, indent)
            } else {
                self.line(indent.saturating_sub(1), format!("\0{node}"), None);
                let merges = self.merges.remove(&node).unwrap_or_default();
                pending.extend(merges.iter().rev());
                self.node(node, &mut pending, follow, indent)
            };
            match after {
                Next::Inline(next) => {
                    node = next;
                    continue;
                }
                Next::Follows if pending.is_empty() => return true,
                _ => {}
            }
            match pending.pop() {
                Some(next) => node = next,
                None => return false,
            }
        }
    }

    fn while_loop(&mut self, head: u32, after: Option<u32>, indent: usize) -> Next {
        let loc = self.shape.locs[head as usize];
        let place = self.file.p.out_edges(loc).next().and_then(|e| self.file.p.edges[e].place);
        self.line(indent, "while (1) {", place);
        let opening = self.lines.len() - 1;
        self.around.push(head);
        self.breaks.push((after, false));
        self.sequence(head, Some(head), indent + 1);
        self.around.pop();
        let (_, left) = self.breaks.pop().expect("pushed");
        self.line(indent, "}", None);
        // Use `while (c)` if the loop starts with its test.
        if let [label, test, ..] = &self.lines[opening + 1..]
            && label.text.starts_with('\0')
            && let Some(stay) = &test.otherwise
        {
            let text = format!("while ({stay}) {{");
            let target = label.text[1..].parse::<u32>().expect("a node");
            if !self.labelled.contains(&target) {
                self.lines[opening].text = text;
                self.lines.remove(opening + 2);
            }
        }
        if left { Next::Follows } else { Next::Nowhere }
    }

    /// Writes the operation of a node and its continuation.
    fn node(&mut self, node: u32, pending: &mut Vec<u32>, follow: Option<u32>, indent: usize) -> Next {
        let p = self.file.p;
        let loc = self.shape.locs[node as usize];
        let next = pending.last().copied().or(follow);
        let edge = match p.locs[loc].out {
            Out::Sink => {
                self.file.library("abort", "extern void abort(void) __attribute__((__noreturn__));".to_owned());
                self.line(indent, "abort();", None);
                return Next::Nowhere;
            }
            Out::Branch { .. } => return self.branch(loc, pending, next, indent),
            Out::One(edge) => edge,
        };
        let shape = self.shape;
        self.file.set_place(self.file.p.edges[edge].place);
        let texts = self.file.statements(edge, &|loc| shape.before(loc));
        for text in texts {
            self.line(indent, text, p.edges[edge].place);
        }
        if matches!(p.edges[edge].op, Op::Return { .. } | Op::Halt(_) | Op::Error(_)) {
            return Next::Nowhere;
        }
        match self.jump(p.edges[edge].target, next) {
            Jump::Falls => Next::Follows,
            Jump::Inline(target) => Next::Inline(target),
            Jump::Text(text) => {
                self.line(indent, text, None);
                Next::Nowhere
            }
        }
    }

    fn branch(&mut self, loc: LocId, pending: &mut Vec<u32>, next: Option<u32>, indent: usize) -> Next {
        let p = self.file.p;
        let Out::Branch { then_edge, else_edge } = p.locs[loc].out else { unreachable!("a branch") };
        let condition = |edge| match p.edges[edge].op {
            Op::Assume { cond, .. } => cond,
            _ => unreachable!("an assume edge"),
        };
        let (cond, negated) = (condition(then_edge), condition(else_edge));
        let place = p.edges[then_edge].place;
        let (then, other) = (p.edges[then_edge].target, p.edges[else_edge].target);
        // A branch with equal targets is no branch.
        if then == other {
            return match self.jump(then, next) {
                Jump::Falls => Next::Follows,
                Jump::Inline(target) => Next::Inline(target),
                Jump::Text(text) => {
                    self.line(indent, text, None);
                    Next::Nowhere
                }
            };
        }
        self.file.set_place(place);
        let (texts, yes) = self.file.branch(cond);
        let named = !texts.is_empty();
        for text in texts {
            self.line(indent, text, place);
        }
        let no = if named { format!("!({yes})") } else { self.file.branch(negated).1 };
        let deep = indent > MAX_NESTING;
        match (self.jump(then, next), self.jump(other, next)) {
            (Jump::Falls, Jump::Falls) => Next::Follows,
            (Jump::Text(text), rest) => self.conditional(&yes, &no, &text, named, rest, place, indent),
            (rest, Jump::Text(text)) => self.conditional(&no, &yes, &text, named, rest, place, indent),
            (Jump::Inline(n), Jump::Falls) => self.nested(&yes, &no, n, next, deep, place, indent),
            (Jump::Falls, Jump::Inline(n)) => self.nested(&no, &yes, n, next, deep, place, indent),
            (Jump::Inline(a), Jump::Inline(b)) if deep => {
                self.placed[a as usize] = true;
                self.labelled.insert(a);
                pending.push(a);
                self.line(indent, format!("if ({yes}) goto l{a};"), place);
                Next::Inline(b)
            }
            (Jump::Inline(a), Jump::Inline(b)) => {
                self.line(indent, format!("if ({yes}) {{"), place);
                if !self.sequence(a, next, indent + 1) {
                    self.line(indent, "}", None);
                    return Next::Inline(b);
                }
                self.line(indent, "} else {", None);
                self.sequence(b, next, indent + 1);
                self.line(indent, "}", None);
                Next::Follows
            }
        }
    }

    /// Writes `if (c) goto …;` and then the other side.
    #[allow(clippy::too_many_arguments)]
    fn conditional(
        &mut self,
        cond: &str,
        otherwise: &str,
        text: &str,
        named: bool,
        rest: Jump,
        place: Option<PlaceId>,
        indent: usize,
    ) -> Next {
        self.line(indent, format!("if ({cond}) {text}"), place);
        if text == "break;" && !named {
            self.lines.last_mut().expect("a line").otherwise = Some(otherwise.to_owned());
        }
        match rest {
            Jump::Falls => Next::Follows,
            Jump::Inline(target) => Next::Inline(target),
            Jump::Text(text) => {
                self.line(indent, text, None);
                Next::Nowhere
            }
        }
    }

    /// Writes `if (c) { … }` before the following text.
    #[allow(clippy::too_many_arguments)]
    fn nested(
        &mut self,
        cond: &str,
        otherwise: &str,
        node: u32,
        next: Option<u32>,
        deep: bool,
        place: Option<PlaceId>,
        indent: usize,
    ) -> Next {
        if deep && let Some(next) = next {
            self.labelled.insert(next);
            self.line(indent, format!("if ({otherwise}) goto l{next};"), place);
            return Next::Inline(node);
        }
        self.line(indent, format!("if ({cond}) {{"), place);
        self.sequence(node, next, indent + 1);
        self.line(indent, "}", None);
        Next::Follows
    }

    /// The jump to a location, if `next` is written next.
    fn jump(&mut self, target: LocId, next: Option<u32>) -> Jump {
        let node = self.shape.node(target);
        if next == Some(node) {
            return Jump::Falls;
        }
        if self.around.last() == Some(&node) {
            return Jump::Text("continue;".to_owned());
        }
        if let Some((to, left)) = self.breaks.last_mut()
            && *to == Some(node)
        {
            *left = true;
            return Jump::Text("break;".to_owned());
        }
        if !self.placed[node as usize] {
            return Jump::Inline(node);
        }
        self.labelled.insert(node);
        Jump::Text(format!("goto l{node};"))
    }
}

/// A jump to a location.
enum Jump {
    /// The target is written next, so nothing is needed.
    Falls,
    /// The target is written in place of the jump.
    Inline(u32),
    /// A statement.
    Text(String),
}

/// The continuation of execution after the written text.
enum Next {
    /// The node that is written next.
    Follows,
    /// A node that is written here.
    Inline(u32),
    /// The code ends with a jump or a return, so execution does not continue after it.
    Nowhere,
}
