//! The checks: rules of C, of its library, or of a property that a program may violate.

use std::fmt;

/// The kind of an error. Kinds that a sanitizer of clang checks have the sanitizer's name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Check {
    /// A call of a function that must not be called.
    Call,
    /// `+ - * / %`, unary `-`, `++`, `--` or `abs` of signed integers whose result does not fit.
    SignedIntegerOverflow,
    /// `<<` of a signed integer that is negative, that loses bits, or that is shifted by too many bits.
    SignedLeftShift,
    /// Any other shift by a negative amount or by at least the width of the type.
    Shift,
    /// Arithmetic on unsigned integers that wraps around. C permits it.
    UnsignedIntegerOverflow,
    /// Division or remainder of integers by zero.
    IntegerDivideByZero,
    /// Division of floats by zero.
    FloatDivideByZero,
    /// A conversion of a float to a type that cannot represent its value.
    FloatCastOverflow,
    /// An implicit conversion that changes the value.
    ImplicitConversion,
    /// An index outside its array.
    Bounds,
    /// An access, or a member access, through a null pointer.
    Null,
    /// An address that is not a multiple of the alignment of its type.
    Alignment,
    /// A null argument for a parameter that is declared nonnull.
    NonnullAttribute,
    /// A null result of a function that is declared to return nonnull.
    ReturnsNonnullAttribute,
    /// Pointer arithmetic that leaves the address space, or that starts at null.
    PointerOverflow,
    /// `< <= > >=` on pointers into different objects.
    PointerCompare,
    /// The difference of pointers into different objects.
    PointerSubtract,
    /// Control reaches `__builtin_unreachable`.
    Unreachable,
    /// A use of the result of a function that ended without a `return`.
    Return,
    /// A variable-length array whose length is not positive.
    VlaBound,
    /// A `_Bool` whose value is neither 0 nor 1.
    Bool,
    /// A value of an enumeration with a fixed type that is none of its enumerators.
    Enum,
    /// An argument outside the domain of a builtin, as in `__builtin_clz(0)`.
    Builtin,
    /// An argument outside the domain of a C library function, for example overlapping memory or an invalid stream.
    Argument,
    /// An access, or a call through a pointer, outside live objects; or a write to a constant.
    Deref,
    /// A `free` of anything but a live heap object.
    Free,
    /// An uninitialised value that is a branch condition, an address, a divisor, an argument, or a result.
    Memory,
    /// A live heap object to which no pointer leads any more.
    Memtrack,
    /// A heap object that is live when the program ends.
    Memcleanup,
    /// An execution does not end.
    Termination,
    /// A specification automaton of the user reaches its error state.
    Automaton,
    /// Two threads access the same memory, one of them writes, and the accesses are not ordered by happens-before.
    DataRace,
    /// No thread can continue, and some are waiting.
    Deadlock,
}

impl Check {
    /// All kinds, in the order of declaration.
    pub const ALL: [Self; 33] = [
        Self::Call,
        Self::SignedIntegerOverflow,
        Self::SignedLeftShift,
        Self::Shift,
        Self::UnsignedIntegerOverflow,
        Self::IntegerDivideByZero,
        Self::FloatDivideByZero,
        Self::FloatCastOverflow,
        Self::ImplicitConversion,
        Self::Bounds,
        Self::Null,
        Self::Alignment,
        Self::NonnullAttribute,
        Self::ReturnsNonnullAttribute,
        Self::PointerOverflow,
        Self::PointerCompare,
        Self::PointerSubtract,
        Self::Unreachable,
        Self::Return,
        Self::VlaBound,
        Self::Bool,
        Self::Enum,
        Self::Builtin,
        Self::Argument,
        Self::Deref,
        Self::Free,
        Self::Memory,
        Self::Memtrack,
        Self::Memcleanup,
        Self::Termination,
        Self::Automaton,
        Self::DataRace,
        Self::Deadlock,
    ];

    /// The name in verdicts and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Call => "unreach-call",
            Self::SignedIntegerOverflow => "signed-integer-overflow",
            Self::SignedLeftShift => "signed-left-shift",
            Self::Shift => "shift",
            Self::UnsignedIntegerOverflow => "unsigned-integer-overflow",
            Self::IntegerDivideByZero => "integer-divide-by-zero",
            Self::FloatDivideByZero => "float-divide-by-zero",
            Self::FloatCastOverflow => "float-cast-overflow",
            Self::ImplicitConversion => "implicit-conversion",
            Self::Bounds => "bounds",
            Self::Null => "null",
            Self::Alignment => "alignment",
            Self::NonnullAttribute => "nonnull-attribute",
            Self::ReturnsNonnullAttribute => "returns-nonnull-attribute",
            Self::PointerOverflow => "pointer-overflow",
            Self::PointerCompare => "pointer-compare",
            Self::PointerSubtract => "pointer-subtract",
            Self::Unreachable => "unreachable",
            Self::Return => "return",
            Self::VlaBound => "vla-bound",
            Self::Bool => "bool",
            Self::Enum => "enum",
            Self::Builtin => "builtin",
            Self::Argument => "argument",
            Self::Deref => "valid-deref",
            Self::Free => "valid-free",
            Self::Memory => "memory",
            Self::Memtrack => "valid-memtrack",
            Self::Memcleanup => "valid-memcleanup",
            Self::Termination => "termination",
            Self::Automaton => "automaton",
            Self::DataRace => "no-data-race",
            Self::Deadlock => "deadlock",
        }
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|check| check.name() == name)
    }

    /// True if the check is a memory fault, which an edge names in [`Edge::fault`](crate::Edge::fault). The violations
    /// of all other checks are reachable error edges.
    pub fn is_fault(self) -> bool {
        matches!(self, Self::Deref | Self::Free | Self::Memtrack | Self::Memcleanup)
    }

    /// True if an unchecked program usually goes on after a violation, with some result of the operation.
    pub fn is_passable(self) -> bool {
        match self {
            Self::SignedIntegerOverflow
            | Self::SignedLeftShift
            | Self::Shift
            | Self::UnsignedIntegerOverflow
            | Self::FloatDivideByZero
            | Self::FloatCastOverflow
            | Self::ImplicitConversion
            | Self::Bounds
            | Self::Null
            | Self::Alignment
            | Self::NonnullAttribute
            | Self::ReturnsNonnullAttribute
            | Self::PointerOverflow
            | Self::PointerCompare
            | Self::PointerSubtract
            | Self::Bool
            | Self::Enum
            | Self::Builtin => true,
            Self::Call
            | Self::IntegerDivideByZero
            | Self::Unreachable
            | Self::Return
            | Self::VlaBound
            | Self::Argument
            | Self::Deref
            | Self::Free
            | Self::Memory
            | Self::Memtrack
            | Self::Memcleanup
            | Self::Termination
            | Self::Automaton
            | Self::DataRace
            | Self::Deadlock => false,
        }
    }

    /// True if clang inserts the check into the code with `-fsanitize=`.
    pub fn is_in_code(self) -> bool {
        let is_ours = matches!(self, Self::Argument | Self::Memory | Self::PointerCompare | Self::PointerSubtract);
        !self.is_fault() && !is_ours && self != Self::DataRace && self.sanitizer().is_some()
    }

    /// The sanitizer of clang that covers the check.
    pub fn sanitizer(self) -> Option<&'static str> {
        match self {
            Self::Call | Self::Termination | Self::Automaton | Self::Deadlock => None,
            Self::DataRace => Some("thread"),
            Self::SignedLeftShift => Some("shift"),
            Self::Argument | Self::Deref | Self::Free => Some("address"),
            Self::Memtrack | Self::Memcleanup => Some("leak"),
            other => Some(other.name()),
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for check in Check::ALL {
            assert_eq!(Check::from_name(check.name()), Some(check));
        }
        assert_eq!(Check::from_name("nothing"), None);
    }
}
