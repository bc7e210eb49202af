//! What a fault is, in terms of the C program: which object, how large, where it was allocated and freed, and where in it the
//! access was.

use super::recorder::Recorder;
use crate::source::Spot;
use cfa::interp::{Fault, Neighbour, ObjectKind, ObjectSeq, State};
use cfa::wording::counted;
use cfa::{AllocKind, EdgeId, ExprId, Family, Op, VarId};

/// The object that an invalid operation is about.
#[derive(Clone, PartialEq, Debug)]
pub struct Object {
    /// Of a variable.
    pub name: Option<String>,
    pub kind: ObjectKind,
    /// Bytes.
    pub size: u64,
    /// Where the address is, from its start.
    pub offset: i64,
    /// Where it was allocated; of a variable, where it is declared.
    pub allocated: Option<Spot>,
    /// Where it was freed or its scope ended.
    pub freed: Option<Spot>,
}

/// The life of an object made by an `Alloc` edge: where it began, and where it was ended.
#[derive(Default)]
pub(super) struct Life {
    pub allocated: Option<Spot>,
    pub freed: Option<Spot>,
}

fn bytes(n: u64) -> String {
    counted(n, "byte")
}

pub(super) fn object(recorder: &Recorder, near: &Neighbour) -> Object {
    let Neighbour { kind, size, offset, .. } = *near;
    let name = recorder.names.object(near.object).map(|(name, _)| name);
    let name = name.filter(|name| !name.is_empty() && !name.starts_with('.'));
    let (allocated, freed) = match near.object {
        ObjectSeq::Global(g) => (recorder.spot(recorder.program.globals[g].place), None),
        ObjectSeq::Alloc(n) => match recorder.lives.get(n as usize) {
            Some(life) => (life.allocated.clone(), life.freed.clone()),
            None => (None, None),
        },
    };
    Object { name, kind, size, offset, allocated, freed }
}

impl Recorder<'_> {
    /// What is not initialised comes from memory.
    pub(super) fn shadow(&mut self, op: &Op, state: &State) {
        let Op::Load { var, addr } = *op else { return };
        let at = state.eval(addr).to_u64().unwrap_or(0);
        if state.var(var).is_none_or(|shadow| shadow.is_zero()) {
            self.shadows.remove(&var);
            return;
        }
        let len = u64::from(self.program.vars[var].width.div_ceil(8));
        let text = self.target(addr, at, len, state).map(|(text, _)| text);
        let object = state.neighbour(at).map(|near| object(self, &near));
        self.shadows.insert(var, (text, object));
    }

    /// What is not initialised goes from one variable to another.
    pub(super) fn pass_shadow(&mut self, var: VarId, value: ExprId, state: &State) {
        if self.shadows.is_empty() {
            return;
        }
        let from = self.vars(value).iter().find_map(|v| self.shadows.get(v)).cloned();
        match from.filter(|_| state.var(var).is_some_and(|value| !value.is_zero())) {
            Some(from) => drop(self.shadows.insert(var, from)),
            None => drop(self.shadows.remove(&var)),
        }
    }
}

/// Where the check before an error edge failed because of memory, says which it is.
pub(super) fn explain_use(
    recorder: &Recorder,
    error: EdgeId,
    here: Option<&Spot>,
    message: &mut String,
    object: &mut Option<Object>,
) {
    let source = recorder.program.edges[error].source;
    let check = recorder.program.edges.values().find(|e| e.target == source && matches!(e.op, Op::Assume { .. }));
    let Some(&Op::Assume { cond, .. }) = check.map(|e| &e.op) else { return };
    let Some((text, of)) = recorder.vars(cond).iter().find_map(|v| recorder.shadows.get(v)).cloned() else { return };
    if let Some(rest) = message.strip_prefix("a value ") {
        let described =
            || of.as_ref().map_or_else(|| "a value".to_owned(), |o| format!("what is in {}", o.described(here)));
        *message = format!("{} {rest}", text.map_or_else(described, |text| format!("`{text}`")));
    }
    *object = of;
}

/// A place as one says it of another: by its line, and by its file if that is another one.
fn where_from(at: &Spot, here: Option<&Spot>) -> String {
    match here.is_none_or(|here| here.path == at.path) {
        true => format!("in line {}", at.line),
        false => format!("at {}:{}", at.path, at.line),
    }
}

/// What went wrong at `edge`, which people look for `here`.
pub(super) fn fault(
    recorder: &Recorder,
    edge: EdgeId,
    here: Option<&Spot>,
    fault: Fault,
    addr: u64,
    len: u64,
    object: Option<&Object>,
) -> String {
    let op = &recorder.program.edges[edge].op;
    let access = match op {
        Op::Load { .. } => format!("read of {}", bytes(len)),
        Op::Store { .. } | Op::Fill { .. } => format!("write of {}", bytes(len)),
        Op::Copy { .. } => format!("copy of {}", bytes(len)),
        Op::ObjectSize { .. } => "reallocation".to_owned(),
        Op::Free { .. } => "free".to_owned(),
        _ => "call".to_owned(),
    };
    let what = object.map_or_else(|| "an object".to_owned(), |o| o.described(here));
    match fault {
        Fault::NullPointer if addr == 0 => format!("{access} through a null pointer"),
        Fault::NullPointer => format!("{access} at offset {addr} from a null pointer"),
        Fault::OutOfBounds => match object {
            Some(o) if o.offset < 0 => format!("{access} {} before {what}", bytes(o.offset.unsigned_abs())),
            Some(o) => format!("{access} at offset {} of {what}, which has {}", o.offset, bytes(o.size)),
            None => format!("{access} at {addr:#x}, where there is no object"),
        },
        Fault::Dangling => {
            let gone = match object.map(|o| (o.kind, &o.freed)) {
                Some((kind, Some(at))) if kind.is_dynamic() => format!("which was freed {}", where_from(at, here)),
                Some((kind, None)) if kind.is_dynamic() => "which was freed".to_owned(),
                Some((_, Some(_))) => "whose scope has ended".to_owned(),
                _ => "whose function has returned".to_owned(),
            };
            format!("{access} at offset {} of {what}, {gone}", object.map_or(0, |o| o.offset))
        }
        Fault::ReadOnly => format!("{access} to {what}, which is constant"),
        Fault::InvalidFree => match object {
            Some(o) if o.kind.is_dynamic() && o.offset != 0 => {
                format!("{access} at offset {} of {what}, not at its start", o.offset)
            }
            Some(o) => format!("{access} of {what}, which {}", not_its_business(o.kind)),
            None => format!("{access} of {addr:#x}, where there is no object"),
        },
        Fault::DoubleFree => {
            let before = object.and_then(|o| o.freed.as_ref()).map(|at| format!(" {}", where_from(at, here)));
            format!("{access} of {what}, which was freed before{}", before.unwrap_or_default())
        }
        Fault::InvalidCall => format!("call through a pointer to no function ({addr:#x})"),
        Fault::Leak => match recorder.program.edges[edge].op {
            Op::Leak(cfa::Leak::Alive) => format!("{what} is not freed before the program ends"),
            _ => format!("{what} is lost: nothing leads to it any more"),
        },
    }
}

/// Why a function must not end the life of an object that is alive, behind "which".
fn not_its_business(kind: ObjectKind) -> String {
    let ended_by = match kind.family() {
        None | Some(Family::Scope) => return "was not allocated".to_owned(),
        Some(Family::Malloc) => "free",
        Some(Family::Mapping) => "munmap",
        Some(Family::Stream) => "fclose",
        Some(Family::Directory) => "closedir",
        Some(Family::AddressList) => "freeaddrinfo",
        Some(Family::TreeNode) => "tdelete",
        Some(Family::HashTable) => "hdestroy",
        Some(Family::Regex) => "regfree",
        Some(Family::Internal) => return "the C library keeps".to_owned(),
    };
    format!("only '{ended_by}' may end")
}

impl Object {
    fn described(&self, here: Option<&Spot>) -> String {
        match (&self.name, self.kind, &self.allocated) {
            (Some(name), ..) => format!("`{name}`"),
            (None, ObjectKind::Allocated(AllocKind::Heap(_)), Some(at)) => {
                format!("the object allocated {}", where_from(at, here))
            }
            (None, ObjectKind::Allocated(AllocKind::Given), Some(_)) => {
                "an object that the program is given".to_owned()
            }
            (None, ObjectKind::Allocated(AllocKind::Library(_)), Some(at)) => {
                format!("an object of the C library, made {}", where_from(at, here))
            }
            (None, ObjectKind::Global { read_only: true }, _) => "a string".to_owned(),
            _ => "an object".to_owned(),
        }
    }

    /// What there is to say besides: where it comes from, and where it went.
    pub fn notes(&self) -> Vec<(String, Spot)> {
        let mut notes = Vec::new();
        let size = bytes(self.size);
        if let Some(at) = &self.allocated {
            let text = match (&self.name, self.kind) {
                (Some(name), _) => format!("`{name}` has {size} and is declared here"),
                (None, kind) if kind.is_dynamic() => format!("an object of {size} is allocated here"),
                (None, _) => format!("the object has {size} and comes from here"),
            };
            notes.push((text, at.clone()));
        }
        if let Some(at) = &self.freed {
            let text = match self.kind {
                kind if kind.is_dynamic() => "it is freed here",
                _ => "its scope ends here",
            };
            notes.push((text.to_owned(), at.clone()));
        }
        notes
    }
}
