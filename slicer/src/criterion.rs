//! What a slice is about.

use crate::modref::{Cell, CellNumbers};
use crate::pointer::{ObjectId, ObjectKind};
use crate::regions::Regions;
use cfa::{EdgeId, GlobalId, Id, Program, Table, VarId};

/// What a slice preserves: something about the moments at which control gets to an edge.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Criterion {
    pub edge: EdgeId,
    pub what: What,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum What {
    /// That the edge is executed, and all that it uses. Of a call, what its callees read and do is not meant, but
    /// that they are called. One of two assume edges stands for both.
    Operation,
    /// That control gets to the source of the edge, and these values there.
    Values(Vec<Value>),
}

/// Something with a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Value {
    Var(VarId),
    /// The content of a global object.
    Global(GlobalId),
    /// The content of all objects made at this `Alloc` edge.
    Object(EdgeId),
}

impl Criterion {
    pub fn operation(edge: EdgeId) -> Self {
        Self { edge, what: What::Operation }
    }
    /// That control gets there.
    pub fn reached(edge: EdgeId) -> Self {
        Self { edge, what: What::Values(Vec::new()) }
    }
    pub fn value(edge: EdgeId, value: Value) -> Self {
        Self { edge, what: What::Values(vec![value]) }
    }
}

impl Value {
    /// The cells that hold it.
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

/// Something that holds values, as dependences speak of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Datum {
    Var(VarId),
    /// A region of memory.
    Memory(u32),
    /// The result of a function.
    Result,
}

impl Datum {
    /// For users: the variable's name, or those of the objects that the region lies in.
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
                // The address of a variable in memory.
                Some(name) => name.strip_prefix('&').map_or_else(|| format!("*{name}"), str::to_owned),
                None => match edge.place {
                    Some(place) => format!("the object made in line {}", program.places[place].line),
                    None => format!("the object made at {e}"),
                },
            }
        }
        ObjectKind::Func(f) => program.funcs[f].name.clone(),
        ObjectKind::Buffer(_) | ObjectKind::Distance(_) | ObjectKind::Unknown => "memory".into(),
    }
}
