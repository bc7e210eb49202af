//! Operations.

use super::*;

/// An operation of an edge. Its operands are evaluated in the state before the edge.
#[derive(Clone, PartialEq, Debug)]
pub enum Op {
    /// No effect.
    Skip,
    /// An assignment.
    Assign {
        /// The variable.
        var: VarId,
        /// The new value.
        value: ExprId,
    },
    /// The edge is taken if and only if `cond` is 1.
    Assume {
        /// The condition, one bit.
        cond: ExprId,
        /// True for the then-edge.
        branch: bool,
        /// The truth value of C's condition on this edge, if known. The compiler may have swapped the branches, so
        /// `means` may differ from `branch`.
        means: Option<bool>,
        /// True if the branch is an optional assumption (see [`Program::relax`]).
        optional: bool,
    },
    /// Reads `ceil(width / 8)` bytes. The variable takes the low `width` bits.
    Load {
        /// The variable.
        var: VarId,
        /// The address.
        addr: ExprId,
    },
    /// Writes `ceil(width / 8)` bytes. The bits above the width are zero.
    Store {
        /// The address.
        addr: ExprId,
        /// The value.
        value: ExprId,
    },
    /// Allocates an object. Its bytes are zero if `zeroed`, else unknown. Allocation never fails; the front-end
    /// branches on an input before it.
    Alloc {
        /// The variable that takes the address.
        var: VarId,
        /// The size in bytes.
        size: ExprId,
        /// The alignment of the address in bytes, a power of two.
        align: u32,
        /// The deallocation rules of the object.
        kind: AllocKind,
        /// True if the bytes are zero.
        zeroed: bool,
    },
    /// Deallocates the object at `ptr`. A null `ptr` has no effect. Any other pointer than the start of a live object
    /// of the family is an invalid free. For [`Family::Scope`], a pointer to no object of the current function has no
    /// effect.
    Free {
        /// The pointer.
        ptr: ExprId,
        /// The family that the object must have.
        family: Family,
    },
    /// A leak check. It has no effect on the state. If leaks are errors, it fails when a live heap object leaks.
    Leak(Leak),
    /// Assigns the size in bytes of the live object that starts at `ptr`. Any other pointer is an invalid access.
    ObjectSize {
        /// The variable.
        var: VarId,
        /// The pointer.
        ptr: ExprId,
        /// The family that the object must have, if any. An object of another family is an invalid access. (`realloc`
        /// takes only objects of `malloc`.)
        family: Option<Family>,
    },
    /// Assigns the offset of `ptr` from the start of the live object that contains `ptr` or ends at it. The value is
    /// [`NOWHERE`](Op::NOWHERE) if there is no such object, and [`IN_PLACEHOLDER`](Op::IN_PLACEHOLDER) in a placeholder.
    ObjectOffset {
        /// The variable.
        var: VarId,
        /// The pointer.
        ptr: ExprId,
        /// True if constant objects do not count: the value in them is [`NOWHERE`](Op::NOWHERE).
        writable: bool,
    },
    /// Assigns an unconstrained value.
    Havoc {
        /// The variable.
        var: VarId,
        /// The input that describes the value.
        input: InputId,
    },
    /// Copies bytes. The ranges may overlap.
    Copy {
        /// The address to write to.
        dst: ExprId,
        /// The address to read from.
        src: ExprId,
        /// The number of bytes.
        len: ExprId,
    },
    /// Sets bytes to a value.
    Fill {
        /// The address.
        dst: ExprId,
        /// The value, 8 bits.
        byte: ExprId,
        /// The number of bytes.
        len: ExprId,
    },
    /// Applies a load, store, copy or fill to shadow memory. Each bit of memory has a shadow bit. The shadow bits of
    /// new objects and of globals are 0. The instrumentation that adds such operations defines the meaning of the bits.
    Shadow(Box<Op>),
    /// Calls a function. Execution continues in the callee, and after its return at the target of this edge.
    Call {
        /// The callee.
        callee: Callee,
        /// The arguments.
        args: Box<[ExprId]>,
        /// For a call of a variadic function: the address of the variadic arguments.
        varargs: Option<ExprId>,
        /// The variable that takes the result.
        result: Option<VarId>,
    },
    /// Returns from the function. The target is a sink.
    Return {
        /// The result. It is present if and only if the function has a `return_width`.
        value: Option<ExprId>,
    },
    /// Ends the program. The target is a sink.
    Halt(HaltKind),
    /// Violates the property. The target is a sink.
    Error(ErrorId),
    /// From this edge on, the represented program approximates the source program.
    Approx {
        /// The direction and the reason of the approximation.
        taint: TaintId,
    },
}

impl Op {
    /// The result of [`ObjectOffset`](Op::ObjectOffset) for a pointer into no object, truncated to the pointer width.
    pub const NOWHERE: u64 = u64::MAX;
    /// The result of [`ObjectOffset`](Op::ObjectOffset) for a pointer into a [placeholder](AllocKind::Placeholder),
    /// truncated to the pointer width.
    pub const IN_PLACEHOLDER: u64 = u64::MAX - 1;

    /// True if the operation allocates a [placeholder](AllocKind::Placeholder).
    pub fn allocates_placeholder(&self) -> bool {
        matches!(self, Op::Alloc { kind: AllocKind::Placeholder, .. })
    }

    /// True if the operation is a memory fault for some values of its operands.
    pub fn may_fault(&self) -> bool {
        matches!(
            self,
            Op::Load { .. }
                | Op::Store { .. }
                | Op::Copy { .. }
                | Op::Fill { .. }
                | Op::ObjectSize { .. }
                | Op::Leak(_)
                | Op::Call { callee: Callee::Indirect(_), .. }
        ) || matches!(self, Op::Free { family, .. } if *family != Family::Scope)
    }
    /// The operation, or the operation inside [`Op::Shadow`].
    pub fn unshadowed(&self) -> &Op {
        match self {
            Op::Shadow(op) => op,
            op => op,
        }
    }
    /// The variable that the operation itself writes. The variables that a callee writes do not count.
    pub fn def(&self) -> Option<VarId> {
        match *self {
            Op::Assign { var, .. }
            | Op::Load { var, .. }
            | Op::Alloc { var, .. }
            | Op::ObjectSize { var, .. }
            | Op::ObjectOffset { var, .. }
            | Op::Havoc { var, .. } => Some(var),
            Op::Call { result, .. } => result,
            Op::Shadow(ref op) => op.def(),
            _ => None,
        }
    }
    /// The variable of [`def`](Self::def), mutable.
    pub fn def_mut(&mut self) -> Option<&mut VarId> {
        match self {
            Op::Assign { var, .. }
            | Op::Load { var, .. }
            | Op::Alloc { var, .. }
            | Op::ObjectSize { var, .. }
            | Op::ObjectOffset { var, .. }
            | Op::Havoc { var, .. } => Some(var),
            Op::Call { result, .. } => result.as_mut(),
            Op::Shadow(op) => op.def_mut(),
            _ => None,
        }
    }
    /// Calls `visit` with every expression that the operation evaluates.
    pub fn for_each_expr(&self, mut visit: impl FnMut(ExprId)) {
        match self.unshadowed() {
            Op::Shadow(_) => unreachable!("a shadow has none"),
            Op::Skip | Op::Havoc { .. } | Op::Error(_) | Op::Approx { .. } | Op::Leak(_) => {}
            Op::Assign { value: e, .. }
            | Op::Assume { cond: e, .. }
            | Op::Load { addr: e, .. }
            | Op::Alloc { size: e, .. }
            | Op::ObjectSize { ptr: e, .. }
            | Op::ObjectOffset { ptr: e, .. }
            | Op::Free { ptr: e, .. } => visit(*e),
            Op::Store { addr, value } => [*addr, *value].into_iter().for_each(visit),
            Op::Copy { dst, src, len } => [*dst, *src, *len].into_iter().for_each(visit),
            Op::Fill { dst, byte, len } => [*dst, *byte, *len].into_iter().for_each(visit),
            Op::Call { callee, args, varargs, .. } => {
                if let Callee::Indirect(e) = callee {
                    visit(*e);
                }
                args.iter().chain(varargs).copied().for_each(visit);
            }
            Op::Return { value } => value.iter().copied().for_each(visit),
            Op::Halt(kind) => {
                if let HaltKind::Exit(code) | HaltKind::ExitNow(code) = kind {
                    visit(*code);
                }
            }
        }
    }
    /// Calls `visit` with every expression of [`for_each_expr`](Self::for_each_expr), mutable.
    pub fn for_each_expr_mut(&mut self, mut visit: impl FnMut(&mut ExprId)) {
        let op = match self {
            Op::Shadow(op) => op,
            op => op,
        };
        match op {
            Op::Shadow(_) => unreachable!("a shadow has none"),
            Op::Skip | Op::Havoc { .. } | Op::Error(_) | Op::Approx { .. } | Op::Leak(_) => {}
            Op::Assign { value: e, .. }
            | Op::Assume { cond: e, .. }
            | Op::Load { addr: e, .. }
            | Op::Alloc { size: e, .. }
            | Op::ObjectSize { ptr: e, .. }
            | Op::ObjectOffset { ptr: e, .. }
            | Op::Free { ptr: e, .. } => visit(e),
            Op::Store { addr, value } => [addr, value].into_iter().for_each(visit),
            Op::Copy { dst, src, len } => [dst, src, len].into_iter().for_each(visit),
            Op::Fill { dst, byte, len } => [dst, byte, len].into_iter().for_each(visit),
            Op::Call { callee, args, varargs, .. } => {
                if let Callee::Indirect(e) = callee {
                    visit(e);
                }
                args.iter_mut().chain(varargs).for_each(visit);
            }
            Op::Return { value } => value.iter_mut().for_each(visit),
            Op::Halt(kind) => {
                if let HaltKind::Exit(code) | HaltKind::ExitNow(code) = kind {
                    visit(code);
                }
            }
        }
    }
}

/// The condition under which a heap object leaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leak {
    /// An object leaks if it is unreachable. The roots are all variables of C in all frames, live temporaries, and all
    /// objects outside the heap.
    Lost,
    /// An object leaks if it is live.
    Alive,
}

/// A set of functions that allocate objects, with the functions that may deallocate them. GCC's attribute
/// `malloc(deallocator)` and the allocation families of clang's MallocChecker are the same concept.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Family {
    /// Variables of a function. The end of their scope deallocates them.
    Scope,
    /// `malloc`, `strdup`, `getline`, ...; deallocated by `free` and `realloc`.
    Malloc,
    /// `mmap`; deallocated by `munmap`.
    Mapping,
    /// `fopen`, `fdopen`, ...; deallocated by `fclose` and `pclose`.
    Stream,
    /// `opendir`, `fdopendir`; deallocated by `closedir`.
    Directory,
    /// `getaddrinfo`; deallocated by `freeaddrinfo`.
    AddressList,
    /// `tsearch`; deallocated by `tdelete` and `tdestroy`.
    TreeNode,
    /// `hcreate`; deallocated by `hdestroy`.
    HashTable,
    /// `regcomp`; deallocated by `regfree`.
    Regex,
    /// `newlocale`, `duplocale`; deallocated by `freelocale`.
    Locale,
    /// Objects of the C library itself, for example the strings of `getenv` and `getpwnam`. The program cannot
    /// deallocate them.
    Internal,
}

impl Family {
    const NAMES: [(Self, &str); 11] = [
        (Self::Scope, "stack"),
        (Self::Malloc, "malloc"),
        (Self::Mapping, "mapping"),
        (Self::Stream, "stream"),
        (Self::Directory, "directory"),
        (Self::AddressList, "address_list"),
        (Self::TreeNode, "tree_node"),
        (Self::HashTable, "hash_table"),
        (Self::Regex, "regex"),
        (Self::Locale, "locale"),
        (Self::Internal, "internal"),
    ];

    /// All families.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::NAMES.iter().map(|(family, _)| *family)
    }
    /// The name in the text form and in the primitives of library models.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(family, _)| *family == self).expect("each family has a name").1
    }
    /// The family with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, n)| *n == name).map(|(family, _)| *family)
    }
}

/// The lifetime of an object, and whether the program must deallocate it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AllocKind {
    /// Dies when the function that allocated it returns, or earlier at the end of its scope.
    Stack,
    /// A heap object. The program must deallocate it with a function of the family. Otherwise the object leaks.
    Heap(Family),
    /// An object of the library. The program may deallocate it with a function of the family.
    Library(Family),
    /// A heap object that the caller of the entry function created. The program may free it.
    Given,
    /// A placeholder: its address is the value of a pointer of the entry function that was not dereferenced yet (lazy
    /// initialisation). It is no object of C and never dies. The text form calls it `standin`.
    Placeholder,
}

impl AllocKind {
    /// The kind of an object of `malloc`.
    pub const MALLOC: Self = Self::Heap(Family::Malloc);

    /// The kind of an object that a function of this family allocates.
    pub fn from_family(family: Family) -> Self {
        match family {
            Family::Scope => Self::Stack,
            Family::Malloc | Family::TreeNode | Family::AddressList | Family::Locale => Self::Heap(family),
            Family::Mapping
            | Family::Stream
            | Family::Directory
            | Family::HashTable
            | Family::Regex
            | Family::Internal => Self::Library(family),
        }
    }
    /// The family of functions that may deallocate the object.
    pub fn family(self) -> Option<Family> {
        match self {
            Self::Stack => Some(Family::Scope),
            Self::Heap(family) | Self::Library(family) => Some(family),
            Self::Given => Some(Family::Malloc),
            Self::Placeholder => None,
        }
    }
    /// True if the object leaks when no pointer leads to it any more.
    pub fn may_leak(self) -> bool {
        matches!(self, Self::Heap(_))
    }
}

/// The callee of a call.
///
/// The callee's parameters take `args` in order. Surplus arguments are dropped. Missing arguments are unknown. An
/// argument of another width is truncated or zero-extended. (Such calls use unprototyped or wrongly typed function
/// pointers.) A variadic callee's `varargs` variable takes the call's `varargs`, or 0 if the call has none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callee {
    /// This function.
    Direct(FuncId),
    /// The function at this address. If there is no function at the address, the call is invalid.
    Indirect(ExprId),
}

/// The way in which a program ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HaltKind {
    /// `exit` or the end of `main`, with the status (32 bits). The functions registered for the exit have run.
    Exit(ExprId),
    /// `_Exit` and similar functions, with the status (32 bits). Streams are not flushed.
    ExitNow(ExprId),
    /// `abort`, a trap, or a failed `assert` that is not part of the property.
    Abort,
    /// `__VERIFIER_assume` with a false condition: the path does not exist.
    Assumed,
    /// Control reached code that the compiler declared unreachable: undefined behaviour.
    Unreachable,
}
