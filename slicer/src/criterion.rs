//! Slicing criteria.

use crate::modref::{Cell, CellNumbers};
use crate::pointer::{ObjectId, ObjectKind};
use crate::regions::Regions;
use cfa::{EdgeId, GlobalId, Id, Program, Table, VarId};

/// A slicing criterion: an edge, and what the slice preserves whenever control reaches it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Criterion {
    /// The edge.
    pub edge: EdgeId,
    /// The preserved behaviour.
    pub what: What,
}

/// The behaviour of an edge that a slice preserves.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum What {
    /// The execution of the edge and all values that it uses. For a call, this covers the call itself but not the
    /// behaviour of its callees. One of two assume edges represents both.
    Operation,
    /// The visits of the edge's source, and these values at each visit.
    Values(Vec<Value>),
}

/// A program entity that has a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Value {
    /// A variable.
    Var(VarId),
    /// The content of a global object.
    Global(GlobalId),
    /// The content of all objects that this `Alloc` edge creates.
    Object(EdgeId),
}

impl Criterion {
    /// The criterion that the operation of the edge is executed, with its operands.
    pub fn operation(edge: EdgeId) -> Self {
        Self { edge, what: What::Operation }
    }
    /// The criterion that control reaches the source of the edge.
    pub fn reached(edge: EdgeId) -> Self {
        Self { edge, what: What::Values(Vec::new()) }
    }
    /// The criterion of one value at the source of the edge.
    pub fn value(edge: EdgeId, value: Value) -> Self {
        Self { edge, what: What::Values(vec![value]) }
    }
}

impl Value {
    /// The cells that contain the value.
    pub(crate) fn cells(
        self,
        program: &Program,
        objects: &Table<ObjectId, ObjectKind>,
        regions: &Regions,
        cells: CellNumbers,
    ) -> Vec<Cell> {
        match self {
            Self::Var(v) => vec![cells.var(v)],
            Self::Global(g) => {
                debug_assert!(g.index() < program.globals.len());
                regions.of_object(ObjectId(g.0)).to_vec()
            }
            Self::Object(edge) => {
                let made_here = objects.iter().filter(|(_, kind)| matches!(kind, ObjectKind::Alloc(e) if *e == edge));
                let mut found: Vec<Cell> = made_here.flat_map(|(id, _)| regions.of_object(id)).copied().collect();
                found.sort_unstable();
                found.dedup();
                found
            }
        }
    }
}

/// A storage that data dependences refer to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Datum {
    /// A variable.
    Var(VarId),
    /// A region of memory.
    Memory(u32),
    /// The result of a function.
    Result,
}

impl Datum {
    /// The name in messages: the variable's name, or the names of the objects that the region lies in.
    pub(crate) fn name(self, program: &Program, objects: &Table<ObjectId, ObjectKind>, regions: &Regions) -> String {
        match self {
            Self::Var(v) => program.vars[v].name.clone().unwrap_or_else(|| v.to_string()),
            Self::Result => "the result".into(),
            Self::Memory(region) => {
                const MOST: usize = 3;
                let all = &regions.objects[region as usize];
                let mut names: Vec<String> =
                    all.iter().take(MOST).map(|&o| object_name(program, &objects[o])).collect();
                names.dedup();
                if all.len() > MOST {
                    names.push("…".into());
                }
                names.join(", ")
            }
        }
    }
}

fn object_name(program: &Program, kind: &ObjectKind) -> String {
    match *kind {
        ObjectKind::Global(g) => program.globals[g].name.clone(),
        ObjectKind::Alloc(e) => {
            let edge = &program.edges[e];
            let var = edge.op.def().and_then(|v| program.vars[v].name.as_deref());
            match var {
                // A pointer to a variable in memory.
                Some(name) => name.strip_prefix('&').map_or_else(|| format!("*{name}"), str::to_owned),
                None => match edge.place {
                    Some(place) => format!("the object allocated in line {}", program.places[place].line),
                    None => format!("the object allocated at {e}"),
                },
            }
        }
        ObjectKind::Func(f) => program.funcs[f].name.clone(),
        ObjectKind::Buffer(_) | ObjectKind::Distance(_) | ObjectKind::Unknown | ObjectKind::Outside => "memory".into(),
    }
}
