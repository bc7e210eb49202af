//! Slicing criteria: from the text of the user to edges of the program.

use cfa::wording::{list, near};
use cfa::{
    EdgeId, Expr, FuncId, FunctionOrigin, GlobalId, HaltKind, Id, InputKind, Op, PlaceId, Program, VarId, VarKind,
};
use driver::failure::Failure;
use driver::source::{Sources, Spot};
use frontend_llvm::Cut;
use slicer::{Criterion, Value, What};
use std::collections::{BTreeMap, BTreeSet};

/// The edges of the program at each place of the source of the user.
pub struct Places {
    /// The source files.
    pub sources: Sources,
    /// The edges that represent instructions, by file and line, and then by column.
    pub code: BTreeMap<(String, u32), BTreeMap<u32, Vec<EdgeId>>>,
    /// The places of jumps that are no edges of their own, by the edges after which they are executed.
    pub jumps: BTreeMap<EdgeId, PlaceId>,
    /// The edges of jumps that the compiler added before labels. Their places belong to other code.
    pub added: BTreeSet<EdgeId>,
}

impl Places {
    /// Returns the places of a program. `cut` has the places of the instructions that edges come from.
    pub fn new(program: &Program, cut: &Cut) -> Self {
        let mut by_place: Vec<Vec<EdgeId>> = vec![Vec::new(); program.places.len()];
        let mut added = BTreeSet::new();
        let before_labels = cut.jumps_before_labels();
        for (id, edge) in program.edges.iter() {
            if program.funcs[program.func_of(id)].origin != FunctionOrigin::Source {
                continue;
            }
            if let (Op::Skip, [jump]) = (&edge.op, &edge.origin[..])
                && before_labels.contains(jump)
            {
                added.insert(id);
                continue;
            }
            let own = edge.origin.iter().filter_map(|&i| cut.place(i)).chain(edge.place);
            for place in own {
                let here = &mut by_place[place.index()];
                if here.last() != Some(&id) {
                    here.push(id);
                }
            }
        }
        let jumps = jumps(program, cut);
        let mut places = Self { sources: Sources::new(), code: BTreeMap::new(), jumps, added };
        for (n, edges) in by_place.into_iter().enumerate().filter(|(_, edges)| !edges.is_empty()) {
            // Inlined code also belongs to the place of the call.
            let chain = std::iter::successors(Some(PlaceId::from_index(n)), |&p| program.places[p].inlined_at);
            for spot in chain.filter_map(|p| places.sources.spot(program, p)) {
                let columns = places.code.entry((spot.path, spot.line)).or_default();
                columns.entry(spot.column).or_default().extend(&edges);
            }
        }
        places
    }

    /// Returns the spot of a place. Returns `None` if the place has none.
    pub fn spot(&self, program: &Program, place: PlaceId) -> Option<Spot> {
        self.sources.spot(program, place)
    }

    /// Returns the files with code that a name may denote. The name is the path of the file or the end of its path.
    fn files(&self, name: &str) -> BTreeSet<&str> {
        let all = self.code.keys().map(|(path, _)| path.as_str());
        all.filter(|path| *path == name || path.strip_suffix(name).is_some_and(|rest| rest.ends_with('/'))).collect()
    }

    /// Returns all files with code.
    fn all_files(&self) -> BTreeSet<&str> {
        self.code.keys().map(|(path, _)| path.as_str()).collect()
    }

    /// Returns the edges at a line, or at a column of the line, in the files that the place denotes. The edges are
    /// sorted.
    ///
    /// `Err` if there are none, or if the place does not name one of several files. The failure names places nearby.
    pub fn edges_at(&self, place: &SourcePosition) -> Result<Vec<EdgeId>, Failure> {
        let files = match &place.file {
            Some(name) => self.files(name),
            None => self.all_files(),
        };
        let known: Vec<&str> = self.all_files().into_iter().collect();
        match (&place.file, files.len()) {
            (Some(name), 0) => {
                let near = near(name, known.iter().map(|k| k.rsplit('/').next().unwrap_or(k)));
                let shown = if near.is_empty() { list(known.iter().copied()) } else { list(near) };
                return Err(nothing(
                    &place.text,
                    format!("no code comes from a file '{name}'"),
                    format!("files with code: {shown}"),
                ));
            }
            (None, n) if n > 1 => {
                return Err(nothing(
                    &place.text,
                    "the program has several files".into(),
                    format!("write FILE:{}; files: {}", place.line, list(known)),
                ));
            }
            _ => {}
        }
        let mut edges = Vec::new();
        let mut columns = BTreeSet::new();
        for file in &files {
            for (&column, here) in self.code.get(&((*file).to_owned(), place.line)).into_iter().flatten() {
                columns.insert(column);
                if place.column.is_none_or(|c| c == column) {
                    edges.extend(here);
                }
            }
        }
        edges.sort_unstable();
        edges.dedup();
        if edges.is_empty() {
            let note = match place.column {
                Some(_) if !columns.is_empty() => {
                    let all: Vec<String> = columns.iter().map(u32::to_string).collect();
                    format!("line {} has code at columns {}", place.line, all.join(", "))
                }
                _ => self.nearest_lines(&files, place.line),
            };
            return Err(nothing(&place.text, "there is no code in that place".into(), note));
        }
        Ok(edges)
    }

    /// Returns a note with the nearest lines with code.
    fn nearest_lines(&self, files: &BTreeSet<&str>, line: u32) -> String {
        let mut found: Vec<(u32, u32, &str)> = Vec::new();
        for file in files {
            let key = |line| ((*file).to_owned(), line);
            let before = self.code.range(key(0)..key(line)).next_back();
            let after = self.code.range(key(line)..=key(u32::MAX)).next();
            for ((_, at), _) in [before, after].into_iter().flatten() {
                found.push((at.abs_diff(line), *at, file));
            }
        }
        found.sort_unstable();
        let shown: Vec<String> = found
            .iter()
            .take(4)
            .map(|&(_, at, file)| {
                let text = self.sources.line(file, at).map_or(String::new(), |t| format!(" `{}`", t.trim()));
                format!("{file}:{at}{text}")
            })
            .collect();
        format!("the nearest lines with code: {}", shown.join(", "))
    }
}

/// Returns the places of the jumps at the ends of basic blocks that no edge represents, by the last edges of the blocks.
fn jumps(program: &Program, cut: &Cut) -> BTreeMap<EdgeId, PlaceId> {
    let own = |edge: &cfa::Edge| program.funcs[program.locs[edge.source].func].origin == FunctionOrigin::Source;
    let represented: BTreeSet<u32> = program.edges.values().flat_map(|edge| edge.origin.iter().copied()).collect();
    let mut found = BTreeMap::new();
    for (id, edge) in program.edges.iter().filter(|(_, edge)| own(edge)) {
        let Some(&last) = edge.origin.iter().max() else { continue };
        let Some(end) = cut.end_of_block(last) else { continue };
        if end > last && represented.range(last + 1..=end).next().is_none() {
            found.extend(cut.place(end).map(|place| (id, place)));
        }
    }
    found
}

/// A place in the form `[FILE:]LINE[:COLUMN|:VARIABLE]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourcePosition {
    /// The text of the place, as the user wrote it.
    pub text: String,
    /// The path of the file or the end of its path.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: Option<u32>,
    /// The name of the variable.
    pub variable: Option<String>,
}

impl SourcePosition {
    /// Parses a place. Returns `None` if the text has no line number.
    pub fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split(':').collect();
        // The last number is the line, or the column after the line. A name may follow.
        let number = |part: &str| part.parse::<u32>().ok();
        let (count, variable) = match parts.last() {
            Some(last) if number(last).is_none() && parts.len() > 1 => (parts.len() - 1, Some((*last).to_owned())),
            _ => (parts.len(), None),
        };
        let numbers = parts[..count].iter().rev().map_while(|p| number(p)).take(if variable.is_some() { 1 } else { 2 });
        let mut numbers: Vec<u32> = numbers.collect();
        numbers.reverse();
        let line = *numbers.first()?;
        let file = parts[..count - numbers.len()].join(":");
        Some(Self {
            text: text.to_owned(),
            file: (!file.is_empty()).then_some(file),
            line,
            column: numbers.get(1).copied(),
            variable: variable.filter(|v| !v.is_empty()),
        })
    }
}

/// Returns the criteria that a text denotes. `Err` if it denotes none.
pub fn find(text: &str, program: &Program, cut: &Cut, places: &Places) -> Result<Vec<Criterion>, Failure> {
    if let Some(name) = text.strip_prefix("global:") {
        let found = of_global(name, program);
        return if found.is_empty() { Err(no_global(text, name, program)) } else { Ok(found) };
    }
    if let Some(place) = SourcePosition::parse(text) {
        let edges = places.edges_at(&place)?;
        return match &place.variable {
            None => Ok(edges.into_iter().map(Criterion::operation).collect()),
            Some(name) => at_place(&place, name, &edges, program),
        };
    }
    let found = of_function(text.trim_end_matches("()"), program, cut);
    if !found.is_empty() {
        return Ok(found);
    }
    let found = of_global(text, program);
    if !found.is_empty() {
        return Ok(found);
    }
    let mut names: BTreeSet<&str> = cut.function_names().collect();
    names.extend(global_names(program));
    let near = near(text, names.iter().copied());
    let note = match (near.is_empty(), names.contains(text)) {
        (_, true) => format!("'{text}' is never called"),
        (false, _) => format!("similar names: {}", list(near)),
        _ => "a criterion is FUNCTION, FILE:LINE, FILE:LINE:COLUMN, FILE:LINE:VARIABLE or a global variable".into(),
    };
    Err(nothing(text, "the program has no function and no global variable of that name".into(), note))
}

/// Returns the criteria of a function: the calls by its name, the start of its body with its parameters, if it has a
/// body, and the operations that were inlined from it.
fn of_function(name: &str, program: &Program, cut: &Cut) -> Vec<Criterion> {
    let mut found = Vec::new();
    let calls = cut.calls_of(name);
    let mut made = cut.inlined_from(name);
    made.extend(&calls);
    made.sort_unstable();
    if !made.is_empty() {
        for (id, edge) in program.edges.iter() {
            // The results of calls are not folded, so an edge with a call among its origins comes from that call.
            if edge.origin.iter().any(|i| made.binary_search(i).is_ok()) {
                found.push(Criterion::operation(id));
            }
        }
    }
    for (_, f) in program.funcs.iter().filter(|(_, f)| f.name == name) {
        if let Some(first) = program.out_edges(f.entry).next() {
            let parameters = f.params.iter().copied().chain(f.varargs).map(Value::Var).collect();
            found.push(Criterion { edge: first, what: What::Values(parameters) });
        }
    }
    if made.is_empty() {
        for (id, edge) in program.edges.iter() {
            if let Op::Havoc { input, .. } = edge.op
                && program.inputs[input].kind == InputKind::Nondet(name.to_owned())
            {
                found.push(Criterion::operation(id));
            }
        }
    }
    found
}

/// Returns the criteria of a global variable: every operation that mentions it, and its value at each end of the
/// program.
fn of_global(name: &str, program: &Program) -> Vec<Criterion> {
    let named = |v: &cfa::Var| matches!(v.kind, VarKind::Global { .. }) && v.name.as_deref() == Some(name);
    let vars: BTreeSet<VarId> = program.vars.iter().filter(|(_, v)| named(v)).map(|(id, _)| id).collect();
    let globals: BTreeSet<GlobalId> =
        program.globals.iter().filter(|(_, g)| g.name == name).map(|(id, _)| id).collect();
    let values: Vec<Value> =
        vars.iter().map(|&v| Value::Var(v)).chain(globals.iter().map(|&g| Value::Global(g))).collect();
    if values.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (id, edge) in program.edges.iter() {
        let is_end = matches!(edge.op, Op::Halt(HaltKind::Exit(_) | HaltKind::ExitNow(_) | HaltKind::Abort));
        if is_end {
            found.push(Criterion { edge: id, what: What::Values(values.clone()) });
        }
        if program.funcs[program.func_of(id)].origin != FunctionOrigin::Source {
            continue;
        }
        let mut mentioned = edge.op.def().is_some_and(|v| vars.contains(&v));
        edge.op.for_each_expr(|e| mentioned |= mentions(program, e, &vars, &globals));
        if mentioned {
            found.push(Criterion::operation(id));
        }
    }
    found
}

/// Returns true if an expression contains one of the variables or globals.
fn mentions(program: &Program, e: cfa::ExprId, vars: &BTreeSet<VarId>, globals: &BTreeSet<GlobalId>) -> bool {
    let mut work = vec![e];
    let mut seen = BTreeSet::new();
    while let Some(e) = work.pop() {
        if !seen.insert(e) {
            continue;
        }
        match program.exprs.get(e) {
            Expr::Var(v) if vars.contains(v) => return true,
            Expr::GlobalAddr(g) if globals.contains(g) => return true,
            node => work.extend(node.children()),
        }
    }
    false
}

/// Returns the criteria of a variable at a line: its value when control reaches the line, and the operations there that
/// assign it. `Err` if no variable has this name there.
fn at_place(
    place: &SourcePosition,
    name: &str,
    edges: &[EdgeId],
    program: &Program,
) -> Result<Vec<Criterion>, Failure> {
    let functions: BTreeSet<FuncId> = edges.iter().map(|&e| program.func_of(e)).collect();
    let mut found = Vec::new();
    let mut scope: BTreeSet<&str> = BTreeSet::new();
    for &f in &functions {
        let values = variables(program, f, name, &mut scope);
        if values.is_empty() {
            continue;
        }
        for &edge in edges.iter().filter(|&&e| program.func_of(e) == f) {
            found.push(Criterion { edge, what: What::Values(values.clone()) });
            if program.edges[edge].op.def().is_some_and(|v| values.contains(&Value::Var(v))) {
                found.push(Criterion::operation(edge));
            }
        }
    }
    if !found.is_empty() {
        return Ok(found);
    }
    let near = near(name, scope.iter().copied());
    let note = if near.is_empty() {
        format!("variables there: {}", list(scope))
    } else {
        format!("similar names: {}", list(near))
    };
    Err(nothing(&place.text, format!("there is no variable '{name}' at this location"), note))
}

/// Returns the variables and objects that a name denotes in a function. Local variables hide global ones. The names
/// that are visible in the function are added to `scope`.
pub fn variables<'p>(program: &'p Program, f: FuncId, name: &str, scope: &mut BTreeSet<&'p str>) -> Vec<Value> {
    let mut values = Vec::new();
    let mut globals = Vec::new();
    let mut in_memory = BTreeSet::new();
    for (id, var) in program.vars.iter() {
        let Some(own) = &var.name else { continue };
        if var.func() == Some(f) {
            scope.insert(own.trim_start_matches('&'));
            if own == name {
                values.push(Value::Var(id));
            } else if own.strip_prefix('&') == Some(name) {
                in_memory.insert(id);
            }
        } else if var.func().is_none() {
            scope.insert(own);
            globals.extend((own == name).then_some(Value::Var(id)));
        }
    }
    if !in_memory.is_empty() {
        let made = |e: &cfa::Edge| matches!(e.op, Op::Alloc { var, .. } if in_memory.contains(&var));
        values.extend(program.edges.iter().filter(|(_, e)| made(e)).map(|(id, _)| Value::Object(id)));
    }
    for (id, global) in program.globals.iter() {
        if !global.name.starts_with(".str") {
            scope.insert(&global.name);
        }
        globals.extend((global.name == name).then_some(Value::Global(id)));
    }
    if values.is_empty() { globals } else { values }
}

/// Returns the names of the global variables.
fn global_names(program: &Program) -> impl Iterator<Item = &str> {
    let vars = program.vars.values().filter(|v| v.func().is_none()).filter_map(|v| v.name.as_deref());
    vars.chain(program.globals.values().map(|g| g.name.as_str()).filter(|n| !n.starts_with(".str")))
}

/// Returns the failure for a function that does not exist, with similar names.
pub fn no_function(name: &str, program: &Program) -> Failure {
    let near = near(name, program.funcs.values().map(|f| f.name.as_str()));
    let note =
        if near.is_empty() { "nothing has a similar name".into() } else { format!("similar names: {}", list(near)) };
    nothing(name, "the program has no such function".into(), note)
}

/// Returns the failure for a global variable that does not exist, with similar names.
fn no_global(text: &str, name: &str, program: &Program) -> Failure {
    let near = near(name, global_names(program));
    let note = if near.is_empty() {
        format!("global variables: {}", list(global_names(program)))
    } else {
        format!("similar names: {}", list(near))
    };
    nothing(text, "the program has no such global variable".into(), note)
}

/// Returns the failure for a criterion that matches nothing.
fn nothing(text: &str, why: String, note: String) -> Failure {
    let mut failure = Failure::data(format!("'{text}' matches nothing: {why}"));
    failure.detail = Some(format!("  = note: {note}"));
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read() {
        let place = |text| SourcePosition::parse(text).map(|p| (p.file, p.line, p.column, p.variable));
        assert_eq!(place("a.c:12"), Some((Some("a.c".into()), 12, None, None)));
        assert_eq!(place("a.c:12:5"), Some((Some("a.c".into()), 12, Some(5), None)));
        assert_eq!(place("dir/a.c:12:x"), Some((Some("dir/a.c".into()), 12, None, Some("x".into()))));
        assert_eq!(place("12"), Some((None, 12, None, None)));
        assert_eq!(place("12:x"), Some((None, 12, None, Some("x".into()))));
        assert_eq!(place("12:3"), Some((None, 12, Some(3), None)));
        assert_eq!(place("reach_error"), None);
        assert_eq!(place("a.c:x"), None);
    }
}
