//! What an operation may do that C does not define.

use super::state::State;
use super::value::ObjId;
use super::{Execution, describe_object};
use cfa::ExprId;

/// A state in which an operation has no effect that C defines, or none that could be told.
pub struct Fault {
    pub kind: FaultKind,
    /// The object accessed, if it is known.
    pub object: Option<ObjId>,
    /// Before the operation.
    pub state: State,
}

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    NullPointer,
    InvalidPointer,
    UndefinedPointer,
    /// The pointer has a value that is not tracked.
    UntrackedPointer,
    /// Nothing is known of the pointer, which is this term.
    UnknownPointer(ExprId),
    /// The pointer, which is this term, may point elsewhere than into the objects that it is made of.
    DerivedPointer(ExprId),
    Outside,
    MaybeOutside,
    Dead,
    ReadOnly,
    NotAllocated,
    FreedTwice,
    InvalidFree,
    InvalidFunction,
    /// Memory to which no variable leads any more.
    Lost,
    /// Memory that was not freed.
    StillAllocated,
    /// Too many to find out whether they lead to memory that is lost otherwise.
    TooManyPointers,
    /// The solver could not say whether the path goes on.
    Undecided,
}

impl FaultKind {
    /// Whether a read that is this fault can be taken to give any value: it accesses memory, though not what it may.
    pub fn reads_anything(self) -> bool {
        use FaultKind::*;
        match self {
            InvalidPointer | UndefinedPointer | UntrackedPointer | UnknownPointer(_) | DerivedPointer(_) | Outside
            | MaybeOutside | Dead => true,
            NullPointer | ReadOnly | NotAllocated | FreedTwice | InvalidFree | InvalidFunction | Lost
            | StillAllocated | TooManyPointers | Undecided => false,
        }
    }

    /// Whether it may be one only because states say less than the program does.
    pub fn is_unknown(self) -> bool {
        matches!(self, Self::UntrackedPointer | Self::UnknownPointer(_))
    }

    /// Whether the state stands for no execution in which the operation is none: nothing that was forgotten could tell otherwise.
    pub fn is_certain(self) -> bool {
        use FaultKind::*;
        match self {
            NullPointer | InvalidPointer | Outside | MaybeOutside | Dead | ReadOnly | NotAllocated | FreedTwice
            | StillAllocated => true,
            UndefinedPointer | UntrackedPointer | UnknownPointer(_) | DerivedPointer(_) | InvalidFree
            | InvalidFunction | Lost | TooManyPointers | Undecided => false,
        }
    }

    /// Whether it says only that something could not be found out.
    pub fn is_undecided(self) -> bool {
        matches!(self, Self::TooManyPointers | Self::Undecided)
    }

    /// In the words that a user reads.
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
            Self::TooManyPointers => "too many pointers may lead to memory that is lost otherwise",
            Self::Undecided => "the solver gave up",
        }
    }
}

impl Execution<'_> {
    /// The operation under way is a fault in `state`.
    pub(super) fn fault(&mut self, state: State, kind: FaultKind, object: Option<ObjId>) {
        self.faults.push(Fault { kind, object, state });
    }

    /// What is wrong with which object, if that is known.
    pub fn describe(&self, fault: &Fault) -> String {
        let what = fault.kind.describe();
        if let Some(object) = fault.object.and_then(|id| fault.state.memory.get(id)) {
            return format!("{what}: {}", describe_object(self.program, object.origin));
        }
        what.into()
    }
}
