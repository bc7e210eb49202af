//! Parses GraphML as an automaton: nodes and edges with the values of the keys of format 1.0.

use roxmltree::{Document, Node, ParsingOptions};
use std::collections::{BTreeSet, HashMap};

/// The keys of the format, and keys that tools write for human readers.
const KNOWN: [&str; 35] = [
    "witness-format-version",
    "witness-type",
    "sourcecodelang",
    "producer",
    "specification",
    "programfile",
    "programhash",
    "architecture",
    "creationtime",
    "memorymodel",
    "entry",
    "sink",
    "violation",
    "violatedProperty",
    "invariant",
    "invariant.scope",
    "assumption",
    "assumption.scope",
    "assumption.resultfunction",
    "control",
    "startline",
    "endline",
    "startoffset",
    "endoffset",
    "enterLoopHead",
    "enterFunction",
    "returnFrom",
    "returnFromFunction",
    "originfile",
    "sourcecode",
    "label",
    "frontier",
    "cwe",
    "nodetype",
    "faultLocalizationInfo",
];

/// The automaton of a witness.
#[derive(Debug, Default)]
pub struct Automaton {
    /// The values of the graph itself.
    pub about: Data,
    /// The values of the nodes.
    pub nodes: Vec<Data>,
    /// The edges, in the order of the file.
    pub edges: Vec<Edge>,
    /// The keys that the format does not have. They are ignored.
    pub unknown: BTreeSet<String>,
}

/// A step from one node to another.
#[derive(Debug)]
pub struct Edge {
    /// The index of the node that the edge leaves.
    pub from: usize,
    /// The index of the node that the edge enters.
    pub to: usize,
    /// The values of the edge.
    pub data: Data,
}

/// The values of keys. The first value of a key counts.
#[derive(Debug, Default)]
pub struct Data(HashMap<String, String>);

impl Data {
    /// Returns the value of a key, unless it is empty.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str).filter(|v| !v.is_empty())
    }

    /// Returns true if the value of a key is `true`. A missing value is false. `Err` if the value is no truth value.
    pub fn is(&self, key: &str) -> Result<bool, String> {
        match self.get(key) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(other) => Err(format!("`{other}` is no value of {key}")),
        }
    }

    /// Returns the value of a key as a number. Returns `Ok(None)` if there is no value. `Err` if the value is no
    /// number.
    pub fn number(&self, key: &str) -> Result<Option<u32>, String> {
        let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is no value of {key}"));
        self.get(key).map(number).transpose()
    }
}

/// Parses the automaton in a text. `Err` with a message if the text is malformed.
pub fn automaton(text: &str) -> Result<Automaton, String> {
    // A file may name the document type of GraphML, but the parser loads no external definitions.
    let options = ParsingOptions { allow_dtd: true, nodes_limit: 10_000_000, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|e| e.to_string())?;
    let root = document.root_element();
    let is = |node: &Node<'_, '_>, name: &str| node.is_element() && node.tag_name().name() == name;
    if !is(&root, "graphml") {
        return Err(format!("its outermost element is <{}>, not <graphml>", root.tag_name().name()));
    }
    let mut graphs = root.children().filter(|n| is(n, "graph"));
    let graph = graphs.next().ok_or("it has no <graph>")?;
    if graphs.next().is_some() {
        return Err("it has more than one <graph>".into());
    }
    // A key is identified by its id. Some tools number the keys and write their names in `attr.name`.
    let (mut names, mut defaults) = (HashMap::new(), Vec::new());
    for key in root.children().filter(|n| is(n, "key")) {
        let id = key.attribute("id").ok_or("a <key> without an id")?;
        let name = [Some(id), key.attribute("attr.name")].into_iter().flatten().find(|n| KNOWN.contains(n));
        names.insert(id, name.unwrap_or(id));
        if let Some(default) = key.children().find(|n| is(n, "default")) {
            defaults.push((key.attribute("for"), name.unwrap_or(id), text_of(&default)));
        }
    }
    let mut automaton = Automaton::default();
    let mut data = |of: &Node<'_, '_>, kind: &str| {
        let mut data = Data::default();
        for entry in of.children().filter(|n| is(n, "data")) {
            let key = entry.attribute("key").ok_or("<data> without a key")?;
            let key = names.get(key).copied().unwrap_or(key);
            data.0.entry(key.to_owned()).or_insert_with(|| text_of(&entry));
            if !KNOWN.contains(&key) {
                automaton.unknown.insert(key.to_owned());
            }
        }
        for (_, key, value) in defaults.iter().filter(|(of, ..)| *of == Some(kind)) {
            data.0.entry((*key).to_owned()).or_insert_with(|| value.clone());
        }
        Ok::<_, String>(data)
    };
    automaton.about = data(&graph, "graph")?;
    let mut numbers = HashMap::new();
    for node in graph.children().filter(|n| is(n, "node")) {
        let id = node.attribute("id").ok_or("a <node> without an id")?;
        if numbers.insert(id, automaton.nodes.len()).is_some() {
            return Err(format!("there are two nodes `{id}`"));
        }
        automaton.nodes.push(data(&node, "node")?);
    }
    for edge in graph.children().filter(|n| is(n, "edge")) {
        let end = |name: &str| {
            let id = edge.attribute(name).ok_or_else(|| format!("an <edge> without {name}"))?;
            numbers.get(id).copied().ok_or_else(|| format!("an edge names the node `{id}`, which does not exist"))
        };
        let (from, to) = (end("source")?, end("target")?);
        automaton.edges.push(Edge { from, to, data: data(&edge, "edge")? });
    }
    Ok(automaton)
}

/// Returns the trimmed text in an element.
fn text_of(node: &Node<'_, '_>) -> String {
    node.children().filter_map(|n| n.text()).collect::<String>().trim().to_owned()
}

impl Automaton {
    /// Returns the nodes in which a key is true. `Err` if the value of a node is no truth value.
    pub fn marked(&self, key: &str) -> Result<Vec<usize>, String> {
        let mut found = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
            if node.is(key)? {
                found.push(number);
            }
        }
        Ok(found)
    }

    /// Returns the edges that leave a node, in the order of the file.
    pub fn leaving(&self, node: usize) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |e| e.from == node)
    }

    /// Returns the edges of a shortest path from a node to one of the nodes `to` that enters no node of `without`.
    /// Returns `None` if there is no such path.
    pub fn shortest_path(&self, from: usize, to: &[usize], without: &[usize]) -> Option<Vec<&Edge>> {
        let mut by_source: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (number, edge) in self.edges.iter().enumerate() {
            by_source[edge.from].push(number);
        }
        let mut reached: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            if to.contains(&node) {
                let (mut way, mut at) = (Vec::new(), node);
                while at != from {
                    let edge = &self.edges[reached[at]?];
                    way.push(edge);
                    at = edge.from;
                }
                way.reverse();
                return Some(way);
            }
            for &edge in &by_source[node] {
                let next = self.edges[edge].to;
                if next != from && reached[next].is_none() && !without.contains(&next) {
                    reached[next] = Some(edge);
                    queue.push_back(next);
                }
            }
        }
        None
    }
}
