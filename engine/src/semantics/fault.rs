//! Faults: operations whose effect C leaves undefined.

use super::state::State;
use super::value::ObjId;
use super::{Execution, describe_object};
use cfa::ExprId;
use cfa::interp::UNDECIDED_LEAK;

/// A state in which the effect of an operation is undefined, or could not be determined.
pub struct Fault {
    /// The kind of fault.
    pub kind: FaultKind,
    /// The object accessed, if it is determined.
    pub object: Option<ObjId>,
    /// The state before the operation.
    pub state: State,
}

/// The kind of a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// A null pointer is dereferenced.
    NullPointer,
    /// A number other than null is used as a pointer.
    InvalidPointer,
    /// The pointer has no value, or an unknown one.
    UndefinedPointer,
    /// The value of the pointer is not tracked.
    UntrackedPointer,
    /// Nothing is known of the pointer, which is this term.
    UnknownPointer(ExprId),
    /// The pointer, which is this term, may point outside all objects whose addresses occur in the term.
    DerivedPointer(ExprId),
    /// The access is outside its object.
    Outside,
    /// The access is outside its object, by a constraint that was added to the path condition of the fault. The solver
    /// may not know whether the path is feasible.
    MaybeOutside,
    /// The object is dead.
    Dead,
    /// The access writes a read-only object.
    ReadOnly,
    /// The object was not allocated by the family that frees it.
    NotAllocated,
    /// The object is freed a second time.
    FreedTwice,
    /// A pointer that is no start of an object is freed.
    InvalidFree,
    /// An indirect call has a pointer that is no function.
    InvalidFunction,
    /// Live heap memory is unreachable.
    Lost,
    /// Heap memory was not freed.
    StillAllocated,
    /// Live heap memory is unreachable, unless a C variable that the code lacks points to it.
    MaybeLost,
    /// Too many pointers may point to otherwise unreachable memory.
    TooManyPointers,
    /// The solver did not decide whether the path continues, or a value that the operation needs is not tracked.
    Undecided,
}

impl FaultKind {
    /// True if a read with this fault can be approximated by an arbitrary value.
    pub fn reads_anything(self) -> bool {
        use FaultKind::*;
        match self {
            InvalidPointer | UndefinedPointer | UntrackedPointer | UnknownPointer(_) | DerivedPointer(_) | Outside
            | MaybeOutside | Dead => true,
            NullPointer | ReadOnly | NotAllocated | FreedTwice | InvalidFree | InvalidFunction | Lost
            | StillAllocated | MaybeLost | TooManyPointers | Undecided => false,
        }
    }

    /// True if the fault may be an artefact of an abstraction that lost the value of the pointer.
    pub fn is_unknown(self) -> bool {
        matches!(self, Self::UntrackedPointer | Self::UnknownPointer(_))
    }

    /// True if the fault is certain: no concrete execution that the state represents performs the operation without a
    /// fault.
    pub fn is_certain(self) -> bool {
        use FaultKind::*;
        match self {
            NullPointer | InvalidPointer | Outside | MaybeOutside | Dead | ReadOnly | NotAllocated | FreedTwice
            | StillAllocated => true,
            UndefinedPointer | UntrackedPointer | UnknownPointer(_) | DerivedPointer(_) | InvalidFree
            | InvalidFunction | Lost | MaybeLost | TooManyPointers | Undecided => false,
        }
    }

    /// True if the fault means that the analysis gave up, not that C leaves the operation undefined.
    pub fn is_undecided(self) -> bool {
        matches!(self, Self::MaybeLost | Self::TooManyPointers | Self::Undecided)
    }

    /// A description for the user.
    pub fn describe(self) -> &'static str {
        match self {
            Self::NullPointer => "a null pointer is used",
            Self::InvalidPointer => "an invalid pointer is used",
            Self::UndefinedPointer => "an undefined pointer is used",
            Self::UntrackedPointer => "a pointer is used whose value is not tracked",
            Self::UnknownPointer(_) | Self::DerivedPointer(_) => "a pointer is used that may point anywhere",
            Self::Outside => "the access is outside its object",
            Self::MaybeOutside => "the access may be outside its object",
            Self::Dead => "the object accessed is not alive",
            Self::ReadOnly => "a constant is written to",
            Self::NotAllocated => "memory is freed that was not allocated",
            Self::FreedTwice => "memory is freed twice",
            Self::InvalidFree => "an invalid pointer is freed",
            Self::InvalidFunction => "an invalid function pointer is called",
            Self::Lost => "memory is lost",
            Self::StillAllocated => "memory is not freed",
            Self::MaybeLost => UNDECIDED_LEAK,
            Self::TooManyPointers => "it is undecided whether memory is lost: too many pointers may lead to it",
            Self::Undecided => "the solver gave up",
        }
    }
}

impl Execution<'_> {
    /// Records that the operation is a fault in `state`.
    pub(super) fn fault(&mut self, state: State, kind: FaultKind, object: Option<ObjId>) {
        self.faults.push(Fault { kind, object, state });
    }

    /// A description of the fault for the user, with the object if it is determined.
    pub fn describe(&self, fault: &Fault) -> String {
        let what = fault.kind.describe();
        if let Some(object) = fault.object.and_then(|id| fault.state.memory.get(id)) {
            return format!("{what}: {}", describe_object(self.program, object.origin));
        }
        what.into()
    }
}
