//! What a proof says of loops, in terms of C.
//!
//! A slice leaves out assignments whose values nobody reads, so a condition of the slice holds of the program only as far
//! as it speaks of variables that are read before they are written again: of live ones.

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
use engine::{Agreement, Line, Place, Root, Values};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};

/// Of what all states agree on at a loop, so many conditions are told.
const ENOUGH: usize = 24;
/// Edges that all searches for reads of variables may pass.
const SEARCHES: usize = 20_000_000;

/// The head of a loop.
pub struct LoopHead {
    pub loc: LocId,
    pub func: FuncId,
    /// Where it is: of the ways back to it, then of what happens there.
    pub spots: Vec<Spot>,
}

/// What is said of the loops of a program, or of a slice of one.
pub struct Loops<'a> {
    program: &'a Program,
    /// Whether it is a slice.
    is_slice: bool,
    graphs: CfaGraphs,
    /// By function, the globals that it and its callees write.
    written: Vec<FxHashSet<VarId>>,
    /// The variables that edges read, as far as they were looked up.
    reads: RefCell<FxHashMap<EdgeId, Vec<VarId>>>,
    /// Edges that searches may still pass.
    searches: Cell<usize>,
    /// Variables by function and name, and global objects by name.
    vars: FxHashMap<(Option<FuncId>, &'a str), usize>,
    globals: FxHashMap<&'a str, usize>,
    sources: &'a Sources,
}

impl<'a> Loops<'a> {
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

    /// Whether the source has loops.
    pub fn are_there(&self) -> bool {
        self.graphs.funcs.iter().any(|(func, graph)| {
            let is_source = self.program.funcs[func].origin == FunctionOrigin::Source;
            is_source && !LoopForest::new(&graph.graph, 0).loops().is_empty()
        })
    }

    /// The variables of a name that a function can name.
    fn vars_named(&self, name: &str, func: FuncId) -> usize {
        let of = |func| self.vars.get(&(func, name)).copied().unwrap_or(0);
        of(None) + of(Some(func))
    }

    /// The invariants of a certificate that exact C conditions can say.
    pub fn certified(&self, certificate: &Certificate) -> Vec<LoopInvariant> {
        self.at_heads(certificate.heads.keys().copied(), |function, head, node| {
            certificate.heads[&head].iter().filter_map(|&e| function.condition(certificate, e, node)).collect()
        })
    }

    /// What all states at the heads agree on.
    pub fn agreed(&self, agreements: &[Agreement]) -> Vec<LoopInvariant> {
        let by_head: FxHashMap<LocId, &Agreement> = agreements.iter().map(|a| (a.head, a)).collect();
        self.at_heads(by_head.keys().copied(), |function, head, node| function.agreed(by_head[&head], node))
    }

    /// The heads of loops in functions of the source.
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

    /// Whether a variable is read on some path from a location before it is written. False also if that would take too long to find.
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

/// The variables that an edge reads.
fn reads(program: &Program, edge: EdgeId) -> Vec<VarId> {
    let mut vars = Vec::new();
    program.edges[edge].op.for_each_expr(|e| vars.extend(program.exprs.vars(e)));
    vars
}

/// Adds what is said of loops of which nothing is said yet.
pub fn add(all: &mut Vec<LoopInvariant>, more: Vec<LoopInvariant>) {
    for other in more {
        let same = |i: &LoopInvariant| i.function == other.function && i.spots.iter().any(|s| other.spots.contains(s));
        if !all.iter().any(same) {
            all.push(other);
        }
    }
}

struct Function<'a> {
    loops: &'a Loops<'a>,
    program: &'a Program,
    func: FuncId,
    graph: &'a FuncGraph,
}

impl Function<'_> {
    fn invariants(
        &self,
        heads: &FxHashSet<LocId>,
        conditions: &impl Fn(&Function<'_>, LocId, u32) -> Vec<Condition>,
    ) -> Vec<LoopInvariant> {
        let forest = LoopForest::new(&self.graph.graph, 0);
        let mut found: Vec<LoopInvariant> = Vec::new();
        // Inner loops first: places that an inner loop claims are none of the outer's.
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

    /// Where the head is: of the ways back to it, then of what happens there.
    fn spots(&self, head: LocId, node: u32, body: &[u32]) -> Vec<Spot> {
        let program = self.program;
        let back = body.iter().filter(|&&n| self.graph.graph.successors(n).contains(&node));
        let back = back.flat_map(|&n| program.out_edges(self.graph.locs[n as usize]));
        let back = back.filter(|&e| program.edges[e].target == head);
        let edges: Vec<EdgeId> = back.chain(program.out_edges(head)).collect();
        edges.iter().filter_map(|&e| self.loops.sources.spot(program, program.edges[e].place?)).collect()
    }

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

    /// Of where a pointer alone leads it is said whether that is null: other numbers are of addresses as we lay them out.
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

    /// Whether what holds of the variable here holds in the whole program.
    fn is_live(&self, var: VarId, node: u32) -> bool {
        !self.loops.is_slice || self.loops.is_live(var, self.graph.locs[node as usize])
    }

    /// What the states at a head agree on.
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
        let constant = |place: &Place| {
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

    /// Lines on which two variables lie, and combinations of values.
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
        // What lies on a line with another is told by it.
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

    /// `b == factor * a + offset` in C; `None` where that would overflow on the way.
    fn line(&self, place: &Place, line: &Line, values: &Values, [a, b]: [&str; 2]) -> Option<String> {
        let signed = is_signed(self.program, place);
        // Narrow numbers are computed with as `int`.
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

    /// What C calls a place here.
    fn named(&self, place: &Place, node: u32) -> Option<Condition> {
        let (program, way) = (self.program, place.way.as_str());
        let is_unique = |name: &str| {
            let vars: usize =
                [name, &format!("&{name}")].iter().map(|name| self.loops.vars_named(name, self.func)).sum();
            is_identifier(name) && vars + self.loops.globals.get(name).copied().unwrap_or(0) == 1
        };
        let (name, declared, sure) = match place.root {
            Root::Var(var) | Root::Behind(var) => {
                // What nobody reads, a slice does not compute.
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

    /// Whether the name means this variable wherever it is in scope in this function.
    fn is_unambiguous(&self, var: VarId) -> bool {
        self.program.vars[var].name.as_ref().is_some_and(|name| self.loops.vars_named(name, self.func) == 1)
    }
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn is_signed(program: &Program, place: &Place) -> bool {
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

/// That a place has one of these values, in C; `None` if it can have any, and of addresses.
fn bounds(program: &Program, place: &Place, name: &str, values: &Values) -> Option<String> {
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
