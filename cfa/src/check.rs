//! What C, its library or a property forbids.

use std::fmt;

/// The kind of an error: which rule it breaks. Named as clang's sanitizers name theirs where they have one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Check {
    /// A function is called that must not be.
    Call,
    /// `+ - * / %`, unary `-`, `++`, `--` or `abs` of signed integers whose result does not fit.
    SignedIntegerOverflow,
    /// `<<` of a signed integer that is negative, loses bits or is shifted too far.
    SignedLeftShift,
    /// Any other shift by a negative number of bits or by more than the type has.
    Shift,
    UnsignedIntegerOverflow,
    IntegerDivideByZero,
    FloatDivideByZero,
    /// A float converted to a type that has no such value.
    FloatCastOverflow,
    /// An implicit conversion that changes the value.
    ImplicitConversion,
    /// An index outside its array.
    Bounds,
    /// A null pointer that is accessed or of which a member is taken.
    Null,
    /// An address that is no multiple of what its type asks for.
    Alignment,
    /// Null for a parameter that must not be.
    NonnullAttribute,
    /// Null returned where that must not be.
    ReturnsNonnullAttribute,
    /// An address computed beyond the address space, or from null.
    PointerOverflow,
    /// `< <= > >=` of pointers that lead into different objects.
    PointerCompare,
    /// The difference of pointers that lead into different objects.
    PointerSubtract,
    /// `__builtin_unreachable` is reached.
    Unreachable,
    /// The result of a function is used that ended without returning one.
    Return,
    /// A variable-length array that has no positive length.
    VlaBound,
    /// A `_Bool` that is neither 0 nor 1.
    Bool,
    /// An enumeration of a fixed type that has none of its values.
    Enum,
    /// A builtin whose argument it does not take (`__builtin_clz(0)`).
    Builtin,
    /// An argument that a function of the C library does not take: memory that overlaps, what is no stream.
    Argument,
    /// An access, or a call through a pointer, that is not wholly within an object that is alive, or writes to a constant.
    Deref,
    /// Something else than an object of the heap that is alive is freed.
    Free,
    /// A value that was not initialised decides where control goes, is an address or a divisor, is passed or returned.
    Memory,
    /// An object of the heap to which no pointer leads any more.
    Memtrack,
    /// An object of the heap that is alive when the program ends.
    Memcleanup,
    /// An execution does not end.
    Termination,
    /// An automaton of the user's has come to an error.
    Automaton,
}

impl Check {
    pub const ALL: [Self; 31] = [
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
    ];

    /// The name that a verdict gives it.
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
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|check| check.name() == name)
    }

    /// Whether it is about what operations do with memory ([`Edge::fault`](crate::Edge::fault)), not about where control comes to.
    pub fn is_fault(self) -> bool {
        matches!(self, Self::Deref | Self::Free | Self::Memtrack | Self::Memcleanup)
    }

    /// Whether clang puts it into the code, with `-fsanitize=`.
    pub fn is_in_code(self) -> bool {
        let is_ours = matches!(self, Self::Argument | Self::Memory | Self::PointerCompare | Self::PointerSubtract);
        !self.is_fault() && !is_ours && self.sanitizer().is_some()
    }

    /// The sanitizer of clang that looks for it.
    pub fn sanitizer(self) -> Option<&'static str> {
        match self {
            Self::Call | Self::Termination | Self::Automaton => None,
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
