//! Observed loop invariants: constants, small value sets, bounds and equalities that hold in all explored states at a
//! loop head. They concern variables and memory that C has names for. After a complete exploration they hold for the
//! program, or for the explored slice. The memory of a slice may lack effects of the program.

use crate::semantics::{Execution, ObjId, State, Val, sign_extend};
use cfa::graph::CfaGraphs;
use cfa::loops::LoopForest;
use cfa::{AllocKind, BinOp, CType, Expr, ExprPool, FuncId, GlobalId, LocId, Op, Program, TypeId, VarId};
use relations::{Column, Relations};
use rustc_hash::FxHashMap;

mod relations;

pub use relations::Line;

/// Largest number of places per loop, and of parts per object.
const PLACES: usize = 96;
const PARTS: usize = 16;
/// Largest number of values that are listed.
const FEW: usize = 8;
/// Largest size of a term whose possible values are enumerated.
const TERMS: usize = 64;

/// The start of a place: a variable or an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Root {
    /// A variable.
    Var(VarId),
    /// A global object.
    Global(GlobalId),
    /// The stack object whose address is in this variable.
    Local(VarId),
    /// The object that this variable points to.
    Behind(VarId),
}

/// A scalar that C has a name for.
#[derive(Clone, Debug)]
pub struct NamedScalar {
    /// The start.
    pub root: Root,
    /// The offset from the start in bytes.
    offset: u64,
    /// The C path from the start, for example `[0].next`.
    pub way: String,
    /// Its C type.
    pub ty: TypeId,
    /// Its width in bits.
    pub width: u32,
}

/// The set of values of a place over all states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Values {
    /// The values in ascending order, if they are few.
    pub few: Option<Vec<u64>>,
    /// The unsigned bounds.
    pub unsigned: (u64, u64),
    /// The signed bounds.
    pub signed: (i64, i64),
}

impl Values {
    fn one(width: u32, value: u64) -> Self {
        let signed = sign_extend(width, value);
        Self { few: Some(vec![value]), unsigned: (value, value), signed: (signed, signed) }
    }

    fn join(&mut self, other: &Self) {
        self.unsigned = (self.unsigned.0.min(other.unsigned.0), self.unsigned.1.max(other.unsigned.1));
        self.signed = (self.signed.0.min(other.signed.0), self.signed.1.max(other.signed.1));
        if let Some(few) = &mut self.few {
            let new = other.few.iter().flatten().filter(|v| !few.contains(v)).copied().collect::<Vec<_>>();
            few.extend(new);
            few.sort_unstable();
            if other.few.is_none() || few.len() > FEW {
                self.few = None;
            }
        }
    }
}

/// The observed invariants of one loop head.
#[derive(Clone, Debug)]
pub struct Agreement {
    /// The loop head.
    pub head: LocId,
    /// The observed places.
    pub places: Vec<NamedScalar>,
    /// The values by place; `None` if they are unknown.
    pub values: Vec<Option<Values>>,
    /// By place: its equality class. Places of one class are equal in every state.
    classes: Vec<u32>,
    relations: Relations,
    /// Number of states joined.
    states: u64,
}

impl Agreement {
    /// The equalities: pairs of the first place of each class and another one.
    pub fn equalities(&self) -> impl Iterator<Item = (&NamedScalar, &NamedScalar)> {
        let first = |i: usize| self.classes.iter().position(|c| *c == self.classes[i]).filter(|&j| j < i);
        (0..self.places.len()).filter_map(move |i| Some((&self.places[first(i)?], &self.places[i])))
    }

    /// The affine relations between two places that hold in all states, without equalities.
    pub fn lines(&self) -> Vec<Line> {
        self.relations.lines()
    }

    /// The combinations of values of the places that vary, given by index, with a row for each combination. `None` if
    /// there are too many.
    pub fn rows(&self, wanted: impl Fn(usize) -> bool) -> Option<(Vec<usize>, Vec<Vec<u64>>)> {
        self.relations.rows(wanted)
    }

    fn join(&mut self, st: &State, execution: &Execution<'_>) {
        self.relations.join(|i| match self.places[i].read(st, execution) {
            Some(Val::Int(value)) => Some(value),
            _ => None,
        });
        let new = self.states == 0;
        self.states += 1;
        let mut renamed: FxHashMap<(u32, Result<Val, u32>), u32> = FxHashMap::default();
        for (i, place) in self.places.iter().enumerate() {
            let value = place.read(st, execution);
            if new || self.values[i].is_some() {
                let seen = value.and_then(|v| possible(&execution.terms, place.width, v));
                match (&mut self.values[i], seen) {
                    (Some(known), Some(seen)) => known.join(&seen),
                    (known, seen) => *known = seen.filter(|_| new),
                }
            }
            // An unknown value equals nothing.
            let next = renamed.len() as u32;
            self.classes[i] = *renamed.entry((self.classes[i], value.ok_or(i as u32))).or_insert(next);
        }
    }

    fn says_something(&self) -> bool {
        self.states == 0
            || !self.lines().is_empty()
            || self.values.iter().any(Option::is_some)
            || self.equalities().next().is_some()
    }
}

/// The possible values of a term, if it is a choice between constants.
fn possible(pool: &ExprPool, width: u32, value: Val) -> Option<Values> {
    match value {
        Val::Int(value) => Some(Values::one(width, value)),
        Val::Expr(e) => {
            let mut all: Option<Values> = None;
            let mut terms = vec![e];
            let mut count = 0;
            while let Some(e) = terms.pop() {
                count += 1;
                match *pool.get(e) {
                    _ if count > TERMS => return None,
                    Expr::Const(ref c) => {
                        let one = Values::one(width, c.to_u64()?);
                        all = Some(all.map_or_else(
                            || one.clone(),
                            |mut all| {
                                all.join(&one);
                                all
                            },
                        ));
                    }
                    Expr::Ite(_, a, b) => terms.extend([a, b]),
                    // An unsigned remainder.
                    Expr::Binary(BinOp::URem, _, m) => {
                        let most = pool.as_const(m)?.to_u64()?.checked_sub(1)?;
                        let few = None;
                        let bounds = Values { few, unsigned: (0, most), signed: (0, i64::try_from(most).ok()?) };
                        match &mut all {
                            Some(all) => all.join(&bounds),
                            None => all = Some(bounds),
                        }
                    }
                    _ => return None,
                }
            }
            all
        }
        Val::Ptr(..) | Val::Unset | Val::Unknown => None,
    }
}

impl NamedScalar {
    fn read(&self, st: &State, execution: &Execution<'_>) -> Option<Val> {
        let cell = |object: ObjId, at: u64| st.memory.get(object)?.read_whole(at, self.width / 8);
        let pointed = |var| match execution.read_var(st, var) {
            Val::Ptr(object, offset) => cell(object, offset.checked_add(self.offset)?),
            _ => None,
        };
        let value = match self.root {
            Root::Var(var) => Some(execution.read_var(st, var)),
            Root::Global(global) => cell(ObjId(global.0), self.offset),
            Root::Local(var) | Root::Behind(var) => pointed(var),
        };
        value.filter(|v| !matches!(v, Val::Unset | Val::Unknown))
    }
}

/// The observed invariants of all loop heads.
pub struct Agreements {
    by_head: FxHashMap<LocId, Agreement>,
}

impl Agreements {
    /// Prepares the observation of all loops of a program.
    pub fn new(program: &Program) -> Self {
        let mut by_head = FxHashMap::default();
        for (func, graph) in CfaGraphs::new(program).funcs.iter() {
            let forest = LoopForest::new(&graph.graph, 0);
            if forest.loops().is_empty() {
                continue;
            }
            let places = places(program, func);
            for l in forest.loops() {
                let head = graph.locs[l.head as usize];
                let values = vec![None; places.len()];
                let classes = places.iter().map(|place| kind(program, place)).collect();
                let relations = Relations::new(columns(program, &places));
                let places = places.clone();
                by_head.insert(head, Agreement { head, places, values, classes, relations, states: 0 });
            }
        }
        Self { by_head }
    }

    /// Records a state at a location.
    pub fn join(&mut self, st: &State, loc: LocId, execution: &Execution<'_>) {
        if let Some(agreement) = self.by_head.get_mut(&loc)
            && agreement.says_something()
        {
            agreement.join(st, execution);
        }
    }

    /// The invariants of all loops that states reached, ordered by head.
    pub fn all(&self) -> Vec<Agreement> {
        let mut all: Vec<Agreement> =
            self.by_head.values().filter(|a| a.states > 0 && a.says_something()).cloned().collect();
        all.sort_unstable_by_key(|a| a.head);
        all
    }
}

/// The kind of a place. Only places of the same kind are compared.
fn kind(program: &Program, place: &NamedScalar) -> u32 {
    match program.plain_type(place.ty) {
        CType::Pointer(to) => 1000 + to.0,
        CType::Int { signed: true, .. } => place.width * 2,
        _ => place.width * 2 + 1,
    }
}

/// The places that are integer variables.
fn columns(program: &Program, places: &[NamedScalar]) -> Vec<Column> {
    let column = |(number, place): (usize, &NamedScalar)| match (place.root, program.plain_type(place.ty)) {
        (Root::Var(_), &CType::Int { signed, .. }) => {
            Some(Column { place: number, kind: kind(program, place), is_signed: signed, width: place.width })
        }
        _ => None,
    };
    places.iter().enumerate().filter_map(column).collect()
}

/// The places to observe for the loops of a function: variables, then named memory, then the targets of pointers.
fn places(program: &Program, func: FuncId) -> Vec<NamedScalar> {
    let mut all = Vec::new();
    let scalar = |ty: TypeId| {
        matches!(program.plain_type(ty), CType::Bool | CType::Int { .. } | CType::Enum { .. } | CType::Pointer(_))
    };
    let here: Vec<VarId> = program.vars.iter().filter(|(_, v)| v.func() == Some(func)).map(|(id, _)| id).collect();
    let globals = program.vars.iter().filter(|(_, v)| v.func().is_none()).map(|(id, _)| id);
    let variables: Vec<VarId> = here.into_iter().chain(globals).collect();
    for &id in &variables {
        let var = &program.vars[id];
        if var.name.is_some() && scalar(var.ty) && var.width <= 64 {
            all.push(NamedScalar { root: Root::Var(id), offset: 0, way: String::new(), ty: var.ty, width: var.width });
        }
    }
    let mut add = |root: Root, ty: TypeId, most: usize| {
        for (way, offset, ty) in program.scalars(ty, most) {
            let Some(size) = program.size_of(ty).filter(|&size| size <= 8) else { continue };
            all.push(NamedScalar { root, offset, way, ty, width: size as u32 * 8 });
        }
    };
    for (id, global) in program.globals.iter().filter(|(_, g)| !g.read_only) {
        add(Root::Global(id), global.ty, if scalar(global.ty) { 1 } else { PARTS });
    }
    let pointee = |var: VarId| match program.plain_type(program.vars[var].ty) {
        CType::Pointer(to) => Some(*to),
        _ => None,
    };
    for var in stack_objects(program, func) {
        if let Some(ty) = pointee(var) {
            add(Root::Local(var), ty, PARTS);
        }
    }
    for id in variables {
        if program.vars[id].name.is_some()
            && let Some(ty) = pointee(id)
            && matches!(program.plain_type(ty), CType::Struct { .. })
        {
            add(Root::Behind(id), ty, PARTS / 2);
        }
    }
    all.truncate(PLACES);
    all
}

/// The variables of a function that hold addresses of its stack objects and are written once.
fn stack_objects(program: &Program, func: FuncId) -> Vec<VarId> {
    let mut written: FxHashMap<VarId, u32> = FxHashMap::default();
    let mut found = Vec::new();
    for edge in program.edges.values() {
        if let Some(var) = edge.op.def().filter(|&v| program.vars[v].func() == Some(func)) {
            *written.entry(var).or_default() += 1;
            if matches!(edge.op, Op::Alloc { kind: AllocKind::Stack, .. }) {
                found.push(var);
            }
        }
    }
    found.retain(|var| written[var] == 1);
    found
}
