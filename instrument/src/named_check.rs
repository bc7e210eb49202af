//! The checks that a user can select by name. The names are those of clang's sanitizers, which C developers know.

use cfa::Check;
use std::fmt;

/// A check that can be selected by name. It has its own result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NamedCheck {
    /// The name on the command line.
    pub name: &'static str,
    /// The kinds of errors that violate the check.
    pub checks: &'static [Check],
    /// The statement that holds if the check succeeds, for the user.
    pub what: &'static str,
    /// True if clang's group `undefined` contains the check.
    undefined: bool,
}

/// A name that is neither a check nor a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownCheck(pub String);

const fn question(name: &'static str, checks: &'static [Check], what: &'static str) -> NamedCheck {
    NamedCheck { name, checks, what, undefined: false }
}

const fn undefined(name: &'static str, checks: &'static [Check], what: &'static str) -> NamedCheck {
    NamedCheck { name, checks, what, undefined: true }
}

impl NamedCheck {
    /// All checks, in the order of result tables.
    pub const ALL: [Self; 27] = [
        question("unreach-call", &[Check::Call], "assertions hold, and no error function is called"),
        question(
            "address",
            &[Check::Deref, Check::Free, Check::Argument],
            "accesses stay within live objects, only live heap objects are freed, and copied memory does not overlap",
        ),
        question("memory", &[Check::Memory], "no branch, address or divisor depends on uninitialised memory"),
        question("leak", &[Check::Memtrack], "every heap object is reachable by pointers until it is freed"),
        undefined(
            "signed-integer-overflow",
            &[Check::SignedIntegerOverflow],
            "results of signed arithmetic fit their types",
        ),
        question(
            "unsigned-integer-overflow",
            &[Check::UnsignedIntegerOverflow],
            "unsigned arithmetic does not wrap around",
        ),
        undefined(
            "shift",
            &[Check::Shift, Check::SignedLeftShift],
            "shift amounts are less than the width, and signed shifts lose no bits",
        ),
        undefined("integer-divide-by-zero", &[Check::IntegerDivideByZero], "no integer is divided by zero"),
        question("float-divide-by-zero", &[Check::FloatDivideByZero], "no float is divided by zero"),
        undefined(
            "float-cast-overflow",
            &[Check::FloatCastOverflow],
            "floats are converted only to types that can represent their values",
        ),
        question("implicit-conversion", &[Check::ImplicitConversion], "implicit conversions keep the value"),
        undefined("bounds", &[Check::Bounds], "indices are within their arrays"),
        undefined("null", &[Check::Null], "no null pointer is accessed"),
        undefined("alignment", &[Check::Alignment], "addresses are aligned as their types require"),
        undefined(
            "nonnull-attribute",
            &[Check::NonnullAttribute],
            "null is not passed for parameters declared nonnull",
        ),
        undefined(
            "returns-nonnull-attribute",
            &[Check::ReturnsNonnullAttribute],
            "functions declared returns_nonnull do not return null",
        ),
        undefined("pointer-overflow", &[Check::PointerOverflow], "pointer arithmetic does not wrap around"),
        question("pointer-compare", &[Check::PointerCompare], "ordered pointers point into the same object"),
        question("pointer-subtract", &[Check::PointerSubtract], "subtracted pointers point into the same object"),
        undefined("unreachable", &[Check::Unreachable], "__builtin_unreachable is not reached"),
        undefined("return", &[Check::Return], "functions whose result is used return a value"),
        undefined("vla-bound", &[Check::VlaBound], "lengths of variable-length arrays are positive"),
        undefined("bool", &[Check::Bool], "a _Bool is 0 or 1"),
        undefined("enum", &[Check::Enum], "an enumeration of a fixed type has one of its values"),
        undefined("builtin", &[Check::Builtin], "builtins are not called with zero if that is undefined"),
        question("thread", &[Check::DataRace], "conflicting accesses of threads to shared memory are ordered"),
        question("deadlock", &[Check::Deadlock], "some thread can continue until the program ends"),
    ];

    /// The checks that run if the user selects none: assertions, `address` and `undefined`.
    pub fn by_default() -> Vec<Self> {
        Self::chosen(|a| a.undefined || matches!(a.name, "unreach-call" | "address"))
    }

    /// The checks that run in addition by default if the program starts threads: `thread` and `deadlock`.
    pub fn of_threads() -> Vec<Self> {
        Self::chosen(|a| matches!(a.name, "thread" | "deadlock"))
    }

    /// The checks with this name: one check, or those of a group.
    pub fn by_name(name: &str) -> Result<Vec<Self>, UnknownCheck> {
        let found = match name {
            "all" => Self::ALL.to_vec(),
            "default" => Self::by_default(),
            "undefined" => Self::chosen(|a| a.undefined),
            "assertions" => Self::chosen(|a| a.name == "unreach-call"),
            _ => Self::chosen(|a| a.name == name),
        };
        if found.is_empty() { Err(UnknownCheck(name.to_owned())) } else { Ok(found) }
    }

    fn chosen(is_wanted: impl Fn(&Self) -> bool) -> Vec<Self> {
        Self::ALL.into_iter().filter(is_wanted).collect()
    }
}

impl fmt::Display for UnknownCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = NamedCheck::ALL.iter().map(|a| a.name).collect();
        let groups = "and the groups default, undefined and all";
        let meant = cfa::wording::did_you_mean(&self.0, names.iter().copied());
        write!(f, "there is no check '{}'{meant}; checks are {}, {groups}", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownCheck {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_sanitizers() {
        for named in NamedCheck::ALL {
            assert_eq!(NamedCheck::by_name(named.name), Ok(vec![named]));
            for check in named.checks {
                let other = if *check == Check::Deadlock { "deadlock" } else { "unreach-call" };
                let sanitizer = check.sanitizer().unwrap_or(other);
                assert_eq!(sanitizer, named.name, "{check}");
            }
        }
        let undefined = NamedCheck::by_name("undefined").unwrap();
        assert!(undefined.iter().any(|a| a.name == "shift") && undefined.iter().all(|a| a.name != "address"));
        assert_eq!(NamedCheck::by_default().len(), undefined.len() + 2);
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let text = NamedCheck::by_name("shifts").unwrap_err().to_string();
        assert!(text.contains("'shifts'") && text.contains("vla-bound") && text.contains("all"), "{text}");
    }
}
