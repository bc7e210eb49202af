//! The description of a memory fault in terms of the C program: the object, its size, the positions where it was
//! allocated and freed, and the offset of the access in it.

use crate::source::Spot;
use cfa::interp::{Fault, ObjectKind};
use cfa::wording::counted;
use cfa::{AllocKind, Family, Op};

/// The object that an invalid operation is about.
#[derive(Clone, PartialEq, Debug)]
pub struct Object {
    /// The name of the object, if it is a variable or was created for the entry function.
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
    /// The library function that freed the object because it allocated another one in its place.
    pub moved_by: Option<String>,
    /// The source position after which no pointer to a leaked object is left.
    pub lost: Option<Spot>,
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

/// Returns the error message of a fault of the operation `op`. The message is reported at the position `here`. The fault
/// is an access of `len` bytes at address `addr`, in or near `object`.
#[allow(clippy::too_many_arguments)]
pub(super) fn message(
    op: &Op,
    here: Option<&Spot>,
    fault: Fault,
    addr: u64,
    len: u64,
    object: Option<&Object>,
    by: Option<&Access>,
) -> String {
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
            return format!("{argument} points to {what}, {}", end_of_lifetime(object, here));
        }
        (Fault::Dangling, Some(Access::Expression { text, .. })) if object.is_some_and(|o| o.kind.is_dynamic()) => {
            return format!("{verb} of `{text}` in {what}, {}", end_of_lifetime(object, here));
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
            format!(
                "{access} at offset {} of {what}, {}",
                object.map_or(0, |o| o.offset),
                end_of_lifetime(object, here)
            )
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
        Fault::Leak => match *op {
            Op::Leak(cfa::Leak::Alive) => format!("{what} is not freed before the program ends"),
            _ => format!("{what} is leaked: no pointer to it remains"),
        },
    }
}

/// Returns the relative clause that says how the lifetime of a dead object ended.
fn end_of_lifetime(object: Option<&Object>, here: Option<&Spot>) -> String {
    match object.map(|o| (o.kind, &o.freed)) {
        Some((kind, Some(at))) if kind.is_dynamic() => {
            let by = object.and_then(|o| o.moved_by.as_ref()).map_or_else(|| "was".into(), |f| format!("`{f}`"));
            format!("which {by} freed {}", where_from(at, here))
        }
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
        Some(Family::Locale) => "freelocale",
        Some(Family::Internal) => return "the C library keeps".to_owned(),
    };
    format!("only '{ended_by}' may end")
}

impl Object {
    /// Returns a noun phrase for the object in a message that is reported at the position `here`.
    pub(super) fn described(&self, here: Option<&Spot>) -> String {
        match (&self.name, self.kind, &self.allocated) {
            (Some(name), ..) => format!("`{name}`"),
            (None, ObjectKind::Allocated(AllocKind::Heap(_)), Some(at)) => {
                format!("the object allocated {}", where_from(at, here))
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
                (Some(name), ObjectKind::Allocated(AllocKind::Given)) => {
                    format!("`{name}` has {size} and is created here, for a pointer in the arguments")
                }
                (Some(name), _) => format!("`{name}` has {size} and is declared here"),
                (None, kind) if kind.is_dynamic() => format!("an object of {size} is allocated here"),
                (None, _) => format!("the object has {size} and comes from here"),
            };
            notes.push((text, at.clone()));
        }
        if let Some(at) = &self.freed {
            let text = match (&self.moved_by, self.kind) {
                (Some(function), _) => format!("`{function}` moves it to another address here"),
                (None, kind) if kind.is_dynamic() => "it is freed here".to_owned(),
                _ => "its scope ends here".to_owned(),
            };
            notes.push((text, at.clone()));
        }
        if let Some(at) = &self.lost {
            notes.push(("no pointer to it is left after this".to_owned(), at.clone()));
        }
        notes
    }
}
