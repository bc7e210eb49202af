//! Loop invariants of a proof, as C conditions.
//!
//! A slice omits assignments whose values are never read. A condition about the slice therefore holds in the program
//! only if all its variables are live, that is, read before they are written again.

use crate::report::{Condition, LoopInvariant};
use crate::source::{Sources, Spot};
use certificate::Certificate;
use cfa::facts::globals_written;
use cfa::graph::{CfaGraphs, FuncGraph};
use cfa::loops::LoopForest;
use cfa::text::c_exact;
use cfa::{
    BinOp, CType, Callee, EdgeId, Expr, ExprId, ExprPool, FuncId, FunctionOrigin, Id, LocId, Op, Program, VarId,
};
use engine::{Agreement, Line, NamedScalar, Root, Values};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};

/// Maximal number of conditions that are reported for one loop from the observed invariants.
const ENOUGH: usize = 24;
/// Maximal number of edges that all liveness searches together may pass.
const SEARCHES: usize = 20_000_000;

/// The head of a loop.
pub struct LoopHead {
    /// The location of the head.
    pub loc: LocId,
    /// The function that contains the loop.
    pub func: FuncId,
    /// The source places of the back edges, then those of the operations at the head.
    pub spots: Vec<Spot>,
}

/// Reports the loops and loop invariants of a program, or of a slice of a program.
pub struct Loops<'a> {
    program: &'a Program,
    /// True if `program` is a slice.
    is_slice: bool,
    graphs: CfaGraphs,
    /// For each function, the globals that the function and its callees write.
    written: Vec<FxHashSet<VarId>>,
    /// Cache: the variables that an edge reads.
    reads: RefCell<FxHashMap<EdgeId, Vec<VarId>>>,
    /// The number of edges that liveness searches may still pass.
    searches: Cell<usize>,
    /// The number of variables with a name in a function (`None`: global variables).
    vars: FxHashMap<(Option<FuncId>, &'a str), usize>,
    /// The number of global objects with a name.
    globals: FxHashMap<&'a str, usize>,
    sources: &'a Sources,
}

impl<'a> Loops<'a> {
    /// Prepares reports about the loops of `program`. `is_slice` is true if it is a slice of the analysed program.
    pub fn new(program: &'a Program, is_slice: bool, sources: &'a Sources) -> Self {
        let (mut vars, mut globals) = (FxHashMap::default(), FxHashMap::default());
        for var in program.vars.values() {
            if let Some(name) = &var.name {
                *vars.entry((var.func(), name.as_str())).or_insert(0) += 1;
            }
        }
        program.globals.values().for_each(|global| *globals.entry(global.name.as_str()).or_insert(0) += 1);
        Self {
            program,
            is_slice,
            graphs: CfaGraphs::new(program),
            written: globals_written(program),
            reads: RefCell::default(),
            searches: Cell::new(SEARCHES),
            vars,
            globals,
            sources,
        }
    }

    /// Returns true if a function of the source has a loop.
    pub fn are_there(&self) -> bool {
        self.graphs.funcs.iter().any(|(func, graph)| {
            let is_source = self.program.funcs[func].origin == FunctionOrigin::Source;
            is_source && !LoopForest::new(&graph.graph, 0).loops().is_empty()
        })
    }

    /// Returns the number of variables with this name that are global or belong to the function.
    fn vars_named(&self, name: &str, func: FuncId) -> usize {
        let of = |func| self.vars.get(&(func, name)).copied().unwrap_or(0);
        of(None) + of(Some(func))
    }

    /// Returns the loop invariants of a certificate that have an exact form as C conditions.
    pub fn certified(&self, certificate: &Certificate) -> Vec<LoopInvariant> {
        self.at_heads(certificate.heads.keys().copied(), |function, head, node| {
            certificate.heads[&head].iter().filter_map(|&e| function.condition(certificate, e, node)).collect()
        })
    }

    /// Returns the observed loop invariants as C conditions.
    pub fn agreed(&self, agreements: &[Agreement]) -> Vec<LoopInvariant> {
        let by_head: FxHashMap<LocId, &Agreement> = agreements.iter().map(|a| (a.head, a)).collect();
        self.at_heads(by_head.keys().copied(), |function, head, node| function.agreed(by_head[&head], node))
    }

    /// Returns the heads of all loops in functions of the source.
    pub fn heads(&self) -> Vec<LoopHead> {
        let program = self.program;
        let mut heads = Vec::new();
        for func in program.funcs.ids().filter(|&f| program.funcs[f].origin == FunctionOrigin::Source) {
            let graph = &self.graphs.funcs[func];
            let function = Function { loops: self, program, func, graph };
            let forest = LoopForest::new(&graph.graph, 0);
            for (number, l) in forest.loops().iter().enumerate() {
                let loc = graph.locs[l.head as usize];
                let spots = function.spots(loc, l.head, &forest.body(number as u32));
                heads.push(LoopHead { loc, func, spots });
            }
        }
        heads
    }

    /// Returns the invariants at those of `heads` that are in functions of the source, in the order of the functions.
    /// `conditions` computes the conditions of one head.
    fn at_heads(
        &self,
        heads: impl Iterator<Item = LocId>,
        conditions: impl Fn(&Function<'_>, LocId, u32) -> Vec<Condition>,
    ) -> Vec<LoopInvariant> {
        let mut by_function: FxHashMap<FuncId, FxHashSet<LocId>> = FxHashMap::default();
        for head in heads {
            by_function.entry(self.program.locs[head].func).or_default().insert(head);
        }
        let mut functions: Vec<_> = by_function.into_iter().collect();
        functions.sort_unstable_by_key(|(func, _)| *func);
        let mut all = Vec::new();
        for (func, heads) in functions {
            if self.program.funcs[func].origin == FunctionOrigin::Source {
                let graph = &self.graphs.funcs[func];
                let function = Function { loops: self, program: self.program, func, graph };
                all.extend(function.invariants(&heads, &conditions));
            }
        }
        all
    }

    /// Returns true if some path from a location reads the variable before it writes it. Returns false, too, if the
    /// searches have passed [`SEARCHES`] edges.
    fn is_live(&self, var: VarId, from: LocId) -> bool {
        let program = self.program;
        let is_global = program.vars[var].func().is_none();
        let (mut seen, mut todo) = (FxHashSet::default(), vec![from]);
        while let Some(loc) = todo.pop() {
            if !seen.insert(loc) {
                continue;
            }
            for id in program.out_edges(loc) {
                let Some(left) = self.searches.get().checked_sub(1) else { return false };
                self.searches.set(left);
                let edge = &program.edges[id];
                if self.reads.borrow_mut().entry(id).or_insert_with(|| reads(program, id)).contains(&var) {
                    return true;
                }
                let passes = match edge.op {
                    _ if edge.op.def() == Some(var) => false,
                    Op::Call { callee: Callee::Direct(callee), .. } if is_global => {
                        todo.push(program.funcs[callee].entry);
                        !self.written[callee.index()].contains(&var)
                    }
                    Op::Call { .. } => !is_global,
                    _ => true,
                };
                if passes {
                    todo.push(edge.target);
                }
            }
        }
        false
    }
}

/// Returns the variables that an edge reads.
fn reads(program: &Program, edge: EdgeId) -> Vec<VarId> {
    let mut vars = Vec::new();
    program.edges[edge].op.for_each_expr(|e| vars.extend(program.exprs.vars(e)));
    vars
}

/// Adds those invariants of `more` whose loops have no invariant in `all` yet. Two invariants belong to the same loop
/// if they share the function and a source place.
pub fn add(all: &mut Vec<LoopInvariant>, more: Vec<LoopInvariant>) {
    for other in more {
        let same = |i: &LoopInvariant| i.function == other.function && i.spots.iter().any(|s| other.spots.contains(s));
        if !all.iter().any(same) {
            all.push(other);
        }
    }
}

/// One function whose loops are reported.
struct Function<'a> {
    loops: &'a Loops<'a>,
    program: &'a Program,
    func: FuncId,
    graph: &'a FuncGraph,
}

impl Function<'_> {
    /// Returns the invariants at those loop heads of the function that are in `heads`.
    fn invariants(
        &self,
        heads: &FxHashSet<LocId>,
        conditions: &impl Fn(&Function<'_>, LocId, u32) -> Vec<Condition>,
    ) -> Vec<LoopInvariant> {
        let forest = LoopForest::new(&self.graph.graph, 0);
        let mut found: Vec<LoopInvariant> = Vec::new();
        // Inner loops come before outer ones.
        for (number, l) in forest.loops().iter().enumerate().rev() {
            let head = self.graph.locs[l.head as usize];
            if !heads.contains(&head) || self.loops.graphs.node(head) != Some(l.head) {
                continue;
            }
            let conditions = conditions(self, head, l.head);
            let spots = self.spots(head, l.head, &forest.body(number as u32));
            if !conditions.is_empty() && !spots.is_empty() {
                let function = self.program.funcs[self.func].name.clone();
                found.push(LoopInvariant { spots, function, conditions });
            }
        }
        found
    }

    /// Returns the source places of the back edges to the head, then those of the edges out of the head.
    fn spots(&self, head: LocId, node: u32, body: &[u32]) -> Vec<Spot> {
        let program = self.program;
        let back = body.iter().filter(|&&n| self.graph.graph.successors(n).contains(&node));
        let back = back.flat_map(|&n| program.out_edges(self.graph.locs[n as usize]));
        let back = back.filter(|&e| program.edges[e].target == head);
        let edges: Vec<EdgeId> = back.chain(program.out_edges(head)).collect();
        edges.iter().filter_map(|&e| self.loops.sources.spot(program, program.edges[e].place?)).collect()
    }

    /// Returns an expression of the certificate as a C condition. Returns `None` if a variable is not live or has no
    /// unique name, or if no exact C form exists.
    fn condition(&self, certificate: &Certificate, e: ExprId, node: u32) -> Option<Condition> {
        let vars = certificate.pool.vars(e);
        if vars.is_empty() || !vars.iter().all(|&v| self.is_live(v, node) && self.is_unambiguous(v)) {
            return None;
        }
        let pool = &certificate.pool;
        let text = match vars[..] {
            [one] if self.is_pointer(one) => self.of_null(one, pool.get(e), pool)?,
            _ => c_exact(self.program, pool, e, &|v| vars.contains(&v))?,
        };
        let declared = |v: &VarId| self.loops.sources.spot(self.program, self.program.vars[*v].place?);
        let declared = vars.iter().map(declared).collect::<Option<Vec<_>>>()?;
        Some(Condition { text, in_doubt: false, declared })
    }

    fn is_pointer(&self, var: VarId) -> bool {
        matches!(self.program.plain_type(self.program.vars[var].ty), CType::Pointer(_))
    }

    /// Returns a condition about a single pointer as C if it compares the pointer with null. Conditions with other
    /// numbers depend on the memory layout of the analysis, so they have no meaning in C.
    fn of_null(&self, pointer: VarId, condition: &Expr, pool: &ExprPool) -> Option<String> {
        let name = self.program.vars[pointer].name.as_deref().filter(|name| is_identifier(name))?;
        let is = |e: ExprId, number: u64| pool.as_const(e).is_some_and(|c| c.to_u64() == Some(number));
        let itself = |e: ExprId| matches!(pool.get(e), Expr::Var(_));
        match *condition {
            Expr::Binary(BinOp::Ule, low, p) if is(low, 1) && itself(p) => Some(format!("{name} != 0")),
            Expr::Binary(BinOp::Eq, a, b) if is(a, 0) && itself(b) || itself(a) && is(b, 0) => {
                Some(format!("{name} == 0"))
            }
            _ => None,
        }
    }

    /// Returns true if a fact about the variable at this node also holds in the whole program.
    fn is_live(&self, var: VarId, node: u32) -> bool {
        !self.loops.is_slice || self.loops.is_live(var, self.graph.locs[node as usize])
    }

    /// Returns the observed invariants at a head as C conditions, at most [`ENOUGH`].
    fn agreed(&self, agreement: &Agreement, node: u32) -> Vec<Condition> {
        let mut conditions = Vec::new();
        let is_constant = |v: &Option<Values>| v.as_ref().is_some_and(|v| v.few.as_ref().is_some_and(|f| f.len() == 1));
        for (place, values) in agreement.places.iter().zip(&agreement.values) {
            if let Some(values) = values
                && let Some(named) = self.named(place, node)
                && let Some(text) = bounds(self.program, place, &named.text, values)
            {
                conditions.push(Condition { text, ..named });
            }
        }
        let constant = |place: &NamedScalar| {
            let at = agreement.places.iter().position(|p| std::ptr::eq(p, place));
            at.is_none_or(|at| is_constant(&agreement.values[at]))
        };
        for (a, b) in agreement.equalities().filter(|(a, b)| !constant(a) && !constant(b)) {
            if let (Some(mut a), Some(b)) = (self.named(a, node), self.named(b, node)) {
                a.declared.extend(b.declared);
                let text = format!("{} == {}", a.text, b.text);
                conditions.push(Condition { text, in_doubt: a.in_doubt || b.in_doubt, ..a });
            }
        }
        conditions.extend(self.relations(agreement, node));
        conditions.truncate(ENOUGH);
        conditions
    }

    /// Returns the linear relations between two places, and the combinations of values that several places take.
    fn relations(&self, agreement: &Agreement, node: u32) -> Vec<Condition> {
        let name = |at: usize| self.named(&agreement.places[at], node);
        let mut conditions = Vec::new();
        let lines = agreement.lines();
        for line in &lines {
            if let (Some(a), Some(mut b)) = (name(line.a), name(line.b))
                && let Some(values) = &agreement.values[line.a]
                && let Some(text) = self.line(&agreement.places[line.a], line, values, [&a.text, &b.text])
            {
                b.declared.extend(a.declared);
                conditions.push(Condition { text, in_doubt: a.in_doubt || b.in_doubt, ..b });
            }
        }
        // A place on a line is determined by the other place of the line, so the rows omit it.
        let told = |at: usize| lines.iter().any(|l| l.b == at);
        if let Some((places, rows)) = agreement.rows(|at| !told(at) && name(at).is_some()) {
            let names: Vec<Condition> = places.iter().filter_map(|&at| name(at)).collect();
            let equal = |(&at, (named, &value)): (&usize, (&Condition, &u64))| {
                let place = &agreement.places[at];
                format!("{} == {}", named.text, literal(place.width, is_signed(self.program, place), value))
            };
            let all =
                |row: &Vec<u64>| places.iter().zip(names.iter().zip(row)).map(equal).collect::<Vec<_>>().join(" && ");
            let text = rows.iter().map(|row| format!("({})", all(row))).collect::<Vec<_>>().join(" || ");
            let in_doubt = names.iter().any(|n| n.in_doubt);
            conditions.push(Condition {
                text,
                in_doubt,
                declared: names.into_iter().flat_map(|n| n.declared).collect(),
            });
        }
        conditions
    }

    /// Returns `b == factor * a + offset` in C. Returns `None` if the product may overflow or a constant does not fit.
    fn line(&self, place: &NamedScalar, line: &Line, values: &Values, [a, b]: [&str; 2]) -> Option<String> {
        let signed = is_signed(self.program, place);
        // C promotes narrower integers to `int`.
        let (is_int, suffix) = match (place.width, signed) {
            (..32, _) | (32, true) => (true, ""),
            (32, false) => (false, "U"),
            (_, true) => (false, "LL"),
            (_, false) => (false, "ULL"),
        };
        let fits = |value: i128| match (is_int, signed) {
            (true, _) => i32::try_from(value).is_ok(),
            (false, true) => i64::try_from(value).is_ok(),
            (false, false) => true,
        };
        let (low, high) = match signed {
            true => (i128::from(values.signed.0), i128::from(values.signed.1)),
            false => (i128::from(values.unsigned.0), i128::from(values.unsigned.1)),
        };
        let size = |value: i128| u64::try_from(value.unsigned_abs()).ok().filter(|&v| v <= i64::MAX as u64);
        let (factor, offset) = (size(line.factor)?, size(line.offset)?);
        let product = |value: i128| line.factor.unsigned_abs() as i128 * value;
        let all = [product(low), product(high), i128::from(factor), i128::from(offset)];
        if !all.into_iter().all(fits) {
            return None;
        }
        let product = if factor == 1 { a.to_owned() } else { format!("{factor}{suffix} * {a}") };
        Some(match (line.factor < 0, line.offset) {
            (false, 0) => format!("{b} == {product}"),
            (false, 1..) => format!("{b} == {product} + {offset}{suffix}"),
            (false, _) => format!("{b} == {product} - {offset}{suffix}"),
            (true, 0..) => format!("{b} == {offset}{suffix} - {product}"),
            (true, _) => format!("{b} == -{offset}{suffix} - {product}"),
        })
    }

    /// Returns the C name of a place at this node, as the text of a condition. Returns `None` if the place has no
    /// unique name there, or if its variable is not live.
    fn named(&self, place: &NamedScalar, node: u32) -> Option<Condition> {
        let (program, way) = (self.program, place.way.as_str());
        let is_unique = |name: &str| {
            let vars: usize =
                [name, &format!("&{name}")].iter().map(|name| self.loops.vars_named(name, self.func)).sum();
            is_identifier(name) && vars + self.loops.globals.get(name).copied().unwrap_or(0) == 1
        };
        let (name, declared, sure) = match place.root {
            Root::Var(var) | Root::Behind(var) => {
                // A slice does not compute values that are never read.
                if !self.is_live(var, node) {
                    return None;
                }
                let known = matches!(place.root, Root::Var(_));
                (program.vars[var].name.as_deref()?, program.vars[var].place, known)
            }
            Root::Local(var) => (program.vars[var].name.as_deref()?.strip_prefix('&')?, program.vars[var].place, false),
            Root::Global(global) => (program.globals[global].name.as_str(), program.globals[global].place, false),
        };
        if !is_unique(name) {
            return None;
        }
        let text = match (place.root, way.strip_prefix('.')) {
            (Root::Behind(_), Some(field)) => format!("{name}->{field}"),
            (Root::Behind(_), None) => return None,
            _ => format!("{name}{way}"),
        };
        let declared = vec![self.loops.sources.spot(program, declared?)?];
        Some(Condition { text, in_doubt: self.loops.is_slice && !sure, declared })
    }

    /// Returns true if the variable's name denotes only this variable in this function.
    fn is_unambiguous(&self, var: VarId) -> bool {
        self.program.vars[var].name.as_ref().is_some_and(|name| self.loops.vars_named(name, self.func) == 1)
    }
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn is_signed(program: &Program, place: &NamedScalar) -> bool {
    matches!(program.plain_type(place.ty), CType::Int { signed: true, .. } | CType::Enum { signed: true, .. })
}

fn literal(width: u32, signed: bool, value: u64) -> String {
    match (signed, engine::signed(width, value)) {
        (true, i64::MIN) => "(-9223372036854775807LL - 1)".to_owned(),
        (true, value) if i32::try_from(value).is_ok_and(|v| v != i32::MIN) => value.to_string(),
        (true, value) => format!("{value}LL"),
        (false, _) => format!("{value}{}", if value > u64::from(u32::MAX) { "ULL" } else { "U" }),
    }
}

/// Returns the C condition that a place has one of these values. Returns `None` if every value is possible, and for
/// pointers unless they are null.
fn bounds(program: &Program, place: &NamedScalar, name: &str, values: &Values) -> Option<String> {
    if let CType::Pointer(_) = program.plain_type(place.ty) {
        return (values.few.as_deref() == Some(&[0])).then(|| format!("{name} == 0"));
    }
    let signed = is_signed(program, place);
    let literal = |value: u64| literal(place.width, signed, value);
    let (low, high) = match signed {
        true => (values.signed.0 as u64, values.signed.1 as u64),
        false => values.unsigned,
    };
    let is_range = |few: &Vec<u64>| few.len() > 2 && high.wrapping_sub(low) == few.len() as u64 - 1;
    if let Some(few) = values.few.as_ref().filter(|few| !is_range(few)) {
        let each: Vec<String> = few.iter().map(|&v| format!("{name} == {}", literal(v))).collect();
        return Some(each.join(" || "));
    }
    let all = if place.width == 64 { u64::MAX } else { (1 << place.width) - 1 };
    let (lowest, highest) = match signed {
        true => ((all >> 1) as i64 as u64 ^ u64::MAX, all >> 1),
        false => (0, all),
    };
    let mut parts = Vec::new();
    if low != lowest {
        parts.push(format!("{} <= {name}", literal(low)));
    }
    if high != highest {
        parts.push(format!("{name} <= {}", literal(high)));
    }
    (!parts.is_empty()).then(|| parts.join(" && "))
}
