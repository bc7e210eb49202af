//! The description of a memory fault in terms of the C program: the object, its size, the positions where it was
//! allocated and freed, and the offset of the access in it.

use super::recorder::Recorder;
use crate::source::Spot;
use cfa::interp::{Fault, Neighbour, ObjectKind, ObjectSeq, State};
use cfa::wording::counted;
use cfa::{AllocKind, BinOp, CType, Callee, EdgeId, Expr, ExprId, Family, FunctionOrigin, Op, Program, VarId};

/// The object that an invalid operation is about.
#[derive(Clone, PartialEq, Debug)]
pub struct Object {
    /// The name of the object, if it is a variable.
    pub name: Option<String>,
    /// The kind of the object.
    pub kind: ObjectKind,
    /// The size in bytes.
    pub size: u64,
    /// The offset of the accessed address from the start of the object, in bytes.
    pub offset: i64,
    /// The source position of the allocation, or of the declaration of a variable.
    pub allocated: Option<Spot>,
    /// The source position where the object was freed or its scope ended.
    pub freed: Option<Spot>,
    /// The source position after which no pointer to a leaked object is left.
    pub lost: Option<Spot>,
}

/// The lifetime of an object that an `Alloc` edge created.
pub(super) struct Life {
    /// The edge in the user's code that allocated the object.
    pub by: EdgeId,
    /// The source position of the allocation, or of the declaration of a variable.
    pub allocated: Option<Spot>,
    /// The source position where the object was freed or its scope ended.
    pub freed: Option<Spot>,
}

/// Returns a number of bytes with its unit.
fn bytes(n: u64) -> String {
    counted(n, "byte")
}

/// Returns a number of bytes with its unit. If it is the conversion of a negative number to `size_t`, that number
/// follows.
fn length(n: u64) -> String {
    match i64::try_from(n) {
        Ok(_) => bytes(n),
        Err(_) => format!("{} ({} converted to size_t)", bytes(n), n as i64),
    }
}

/// Returns the description of an object near an accessed address.
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
    Object { name, kind, size, offset, allocated, freed, lost: None }
}

impl Recorder<'_> {
    /// Records a load from shadow memory. If the loaded shadow value is not 0, the memory is not initialised. The
    /// variable then keeps the C expression and the object of that memory.
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

    /// Records an assignment of a shadow value. If it is not 0, the uninitialised memory of a variable in `value`
    /// passes to `var`.
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

/// Explains the use of an uninitialised value. If the check before the error edge failed because of memory that is not
/// initialised, the function stores the object of this memory. It also replaces "a value" in the message by the memory.
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

/// Returns a position relative to `here`: its line, and its file if that differs.
fn where_from(at: &Spot, here: Option<&Spot>) -> String {
    match here.is_none_or(|here| here.path == at.path) {
        true => format!("in line {}", at.line),
        false => format!("at {}:{}", at.path, at.line),
    }
}

/// An invalid access, in terms of C.
pub(super) enum Access {
    /// A library function accesses the target of its parameter, for example "`stream` of `fgets`".
    Argument(String),
    /// The program accesses an element before or after an array.
    Element {
        /// The C expression of the element.
        text: String,
        /// The name of the array.
        array: String,
        /// The number of elements of the array.
        count: u64,
    },
    /// The program accesses memory through a pointer, or calls the function that a pointer points to.
    Expression {
        /// The C expression of the accessed memory. For a call, it is the pointer.
        text: String,
        /// The pointer in the expression.
        pointer: String,
        /// True if the pointer is null.
        is_null: bool,
    },
}

/// Returns the invalid access of `edge` to the address `addr` in `state`, and the source of a bad address. The access
/// is `None` if it has no description in terms of C. The source is `None` if it is not known to be bad.
pub(super) fn access(
    recorder: &Recorder,
    edge: EdgeId,
    addr: u64,
    state: &State,
) -> (Option<Access>, Option<super::origin::FaultSource>) {
    let program = recorder.program;
    let op = program.edges[edge].op.unshadowed();
    let addresses: Vec<ExprId> = match *op {
        Op::Load { addr, .. } | Op::Store { addr, .. } => vec![addr],
        Op::Copy { dst, src, .. } => vec![dst, src],
        Op::Fill { dst, .. } => vec![dst],
        Op::Free { ptr, .. } | Op::ObjectSize { ptr, .. } => vec![ptr],
        Op::Call { callee: Callee::Indirect(pointer), .. } => vec![pointer],
        _ => Vec::new(),
    };
    let is_at = |&&e: &&ExprId| state.eval(e).to_u64().is_some_and(|at| at <= addr);
    let Some(&address) = addresses.iter().filter(is_at).max_by_key(|&&e| state.eval(e).to_u64()) else {
        return (None, None);
    };
    let source = recorder.bad_address(address, &state.eval(address));
    if program.funcs[program.func_of(edge)].origin == FunctionOrigin::Model {
        return (of_library(recorder, addr, state), source);
    }
    let len = match *op {
        Op::Load { var, .. } => u64::from(program.vars[var].width.div_ceil(8)),
        Op::Store { value, .. } => u64::from(program.exprs.width(value).div_ceil(8)),
        Op::Call { .. } => {
            let pointer = recorder.named(address);
            let access = |pointer: String| Access::Expression { text: pointer.clone(), pointer, is_null: addr == 0 };
            return (pointer.map(access), source);
        }
        _ => return (None, source),
    };
    let near = base(program, address, addr, state).or_else(|| state.neighbour(addr));
    if let Some((text, array, count)) = near.and_then(|near| recorder.names.outside_array(&near, len)) {
        return (Some(Access::Element { text, array, count }), source);
    }
    let found = recorder.dereferenced(address, addr, len, state);
    (found.map(|(text, pointer, is_null)| Access::Expression { text, pointer, is_null }), source)
}

/// Returns the global variable from whose address `address` is computed by additions. Its value `addr` may be far from
/// the variable.
fn base(program: &Program, address: ExprId, addr: u64, state: &State) -> Option<Neighbour> {
    let mut rest = vec![address];
    while let Some(e) = rest.pop() {
        match *program.exprs.get(e) {
            Expr::GlobalAddr(global) => {
                let offset = addr.wrapping_sub(state.eval(e).to_u64()?) as i64;
                let (object, kind) = (ObjectSeq::Global(global), ObjectKind::Global { read_only: false });
                return Some(Neighbour { object, kind, size: program.globals[global].size, live: true, offset });
            }
            Expr::Binary(BinOp::Add | BinOp::Sub, a, b) => rest.extend([a, b]),
            _ => {}
        }
    }
    None
}

/// Returns the parameter through which the called library function reaches an address. `None` if no library model runs
/// or no pointer argument leads to the address.
fn of_library(recorder: &Recorder, addr: u64, state: &State) -> Option<Access> {
    let call = recorder.library.last()?;
    let function = &recorder.program.funcs[recorder.frames.get(call.depth - 1)?.func];
    let object = state.neighbour(addr).map(|near| near.object);
    let leads_there = |at: u64| match object {
        Some(object) => at != 0 && state.neighbour(at).is_some_and(|near| near.object == object),
        None => at <= addr && addr - at < NULL_PAGE,
    };
    let mut arguments = function.params.iter().zip(&call.args).filter(|&(&param, &at)| {
        let ty = recorder.program.vars[param].ty;
        matches!(recorder.program.plain_type(ty), CType::Pointer(_)) && leads_there(at)
    });
    let (&param, _) = arguments.next()?;
    let parameter = recorder.program.vars[param].name.as_ref().filter(|_| !super::recorder::is_internal(function));
    let parameter = parameter.map_or_else(|| "an argument".to_owned(), |name| format!("`{name}`"));
    Some(Access::Argument(format!("{parameter} of `{}`", recorder.called_here(call.edge, function))))
}

/// An upper bound of offsets from a null pointer, in bytes.
const NULL_PAGE: u64 = 4096;

/// Returns the error message of a fault at `edge`. The message is reported at the position `here`. The fault is an
/// access of `len` bytes at address `addr`, in or near `object`.
#[allow(clippy::too_many_arguments)]
pub(super) fn fault(
    recorder: &Recorder,
    edge: EdgeId,
    here: Option<&Spot>,
    fault: Fault,
    addr: u64,
    len: u64,
    object: Option<&Object>,
    by: Option<&Access>,
) -> String {
    let op = &recorder.program.edges[edge].op;
    let access = match op {
        Op::Load { .. } => format!("read of {}", bytes(len)),
        Op::Store { .. } | Op::Fill { .. } => format!("write of {}", length(len)),
        Op::Copy { .. } => format!("copy of {}", length(len)),
        Op::ObjectSize { .. } => "reallocation".to_owned(),
        Op::Free { .. } => "free".to_owned(),
        _ => "call".to_owned(),
    };
    let verb = if matches!(op, Op::Load { .. }) { "read" } else { "write" };
    let what = object.map_or_else(|| "an object".to_owned(), |o| o.described(here));
    match (fault, by) {
        (Fault::NullPointer, Some(Access::Argument(argument))) => return format!("{argument} is null"),
        (Fault::NullPointer, Some(Access::Expression { text, pointer, is_null: true })) => {
            return format!("{verb} of `{text}`, but `{pointer}` is null");
        }
        (Fault::NullPointer | Fault::OutOfBounds, Some(Access::Expression { text, pointer, .. }))
            if object.is_none() =>
        {
            return format!("{verb} of `{text}`, but `{pointer}` points to no object");
        }
        (Fault::InvalidCall, Some(Access::Expression { pointer, is_null: true, .. })) => {
            return format!("call of `{pointer}`, which is null");
        }
        (Fault::InvalidCall, Some(Access::Expression { pointer, .. })) => {
            return format!("call of `{pointer}`, which points to no function");
        }
        (Fault::OutOfBounds, Some(Access::Element { text, array, count })) => {
            let elements = if *count == 1 { "1 element".to_owned() } else { format!("{count} elements") };
            return format!("{verb} of `{text}`, but `{array}` has {elements}");
        }
        (Fault::OutOfBounds, Some(Access::Expression { text, .. })) if object.is_some_and(|o| o.offset >= 0) => {
            let Object { offset, size, .. } = object.expect("just seen");
            return format!("{verb} of `{text}` at offset {offset} of {what}, which has {}", bytes(*size));
        }
        (Fault::OutOfBounds, Some(Access::Expression { text, .. })) if object.is_some() => {
            let before = object.map_or(0, |o| o.offset.unsigned_abs());
            return format!("{verb} of `{text}`, {} before {what}", bytes(before));
        }
        (Fault::Dangling, Some(Access::Argument(argument))) => {
            return format!("{argument} points to {what}, {}", gone(object, here));
        }
        (Fault::Dangling, Some(Access::Expression { text, .. })) if object.is_some_and(|o| o.kind.is_dynamic()) => {
            return format!("{verb} of `{text}` in {what}, {}", gone(object, here));
        }
        _ => {}
    }
    match fault {
        Fault::NullPointer if addr == 0 => format!("{access} through a null pointer"),
        Fault::NullPointer => format!("{access} at offset {addr} from a null pointer"),
        Fault::OutOfBounds => match object {
            Some(o) if o.offset < 0 => format!("{access} {} before {what}", bytes(o.offset.unsigned_abs())),
            Some(o) => format!("{access} at offset {} of {what}, which has {}", o.offset, bytes(o.size)),
            None => format!("{access} at {addr:#x}, where there is no object"),
        },
        Fault::Dangling => {
            format!("{access} at offset {} of {what}, {}", object.map_or(0, |o| o.offset), gone(object, here))
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
            _ => format!("{what} is leaked: no pointer to it remains"),
        },
    }
}

/// Returns the relative clause that says how the lifetime of a dead object ended.
fn gone(object: Option<&Object>, here: Option<&Spot>) -> String {
    match object.map(|o| (o.kind, &o.freed)) {
        Some((kind, Some(at))) if kind.is_dynamic() => format!("which was freed {}", where_from(at, here)),
        Some((kind, None)) if kind.is_dynamic() => "which was freed".to_owned(),
        Some((_, Some(_))) => "whose scope has ended".to_owned(),
        _ => "whose function has returned".to_owned(),
    }
}

/// Returns the reason why a function must not deallocate a live object. The text continues a clause with "which".
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
    /// Returns a noun phrase for the object in a message that is reported at the position `here`.
    fn described(&self, here: Option<&Spot>) -> String {
        match (&self.name, self.kind, &self.allocated) {
            (Some(name), ..) => format!("`{name}`"),
            (None, ObjectKind::Allocated(AllocKind::Heap(_)), Some(at)) => {
                format!("the object allocated {}", where_from(at, here))
            }
            (None, ObjectKind::Allocated(AllocKind::Given), Some(_)) => {
                "an object that an argument points to".to_owned()
            }
            (None, ObjectKind::Allocated(AllocKind::Library(_)), Some(at)) => {
                format!("an object of the C library, created {}", where_from(at, here))
            }
            (None, ObjectKind::Global { read_only: true }, _) => "a string".to_owned(),
            _ => "an object".to_owned(),
        }
    }

    /// Returns notes on the allocation of the object and on the end of its lifetime, with their source positions.
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
        if let Some(at) = &self.lost {
            notes.push(("no pointer to it is left after this".to_owned(), at.clone()));
        }
        notes
    }
}
