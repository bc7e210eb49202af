//! Operations.

use super::*;

/// What an edge does. Operands are evaluated in the state before the edge.
#[derive(Clone, PartialEq, Debug)]
pub enum Op {
    Skip,
    Assign {
        var: VarId,
        value: ExprId,
    },
    /// The edge is taken exactly if `cond`, one bit, is 1. `branch` tells the then-edge from the else-edge. The compiler
    /// may have exchanged the two; `means` is whether the condition that C has there is true, where that is known.
    Assume {
        cond: ExprId,
        branch: bool,
        means: Option<bool>,
    },
    /// Reads `ceil(width / 8)` bytes, of which the variable takes the low `width` bits.
    Load {
        var: VarId,
        addr: ExprId,
    },
    /// Writes `ceil(width / 8)` bytes; bits above the width are zero.
    Store {
        addr: ExprId,
        value: ExprId,
    },
    /// A new object of `size` bytes; `var` becomes its address, a multiple of `align` (a power of two).
    /// Its bytes are zero if `zeroed`, else of unknown content. Allocation never fails.
    Alloc {
        var: VarId,
        size: ExprId,
        align: u32,
        kind: AllocKind,
        zeroed: bool,
    },
    /// Ends the life of the object at `ptr`. A null `ptr` is a no-op; anything else but the start of a live object of the
    /// family is an invalid free. At the end of a scope ([`Family::Scope`]), a `ptr` to no object of the present function has
    /// no effect.
    Free {
        ptr: ExprId,
        family: Family,
    },
    /// Does nothing, but where faults of it are errors, it is one if an object of the heap that is alive leaks.
    Leak(Leak),
    /// `var` becomes the number of bytes of the live object that starts at `ptr`. Any other `ptr` is an invalid access, and
    /// so is an object of another family if `family` names one (`realloc` takes objects of `malloc` alone).
    ObjectSize {
        var: VarId,
        ptr: ExprId,
        family: Option<Family>,
    },
    /// `var` becomes how many bytes `ptr` lies behind the start of the live object that it points into, or to the
    /// end of; [`NOWHERE`](Op::NOWHERE) if there is none, [`IN_STAND_IN`](Op::IN_STAND_IN) in one that is none of C.
    ObjectOffset {
        var: VarId,
        ptr: ExprId,
    },
    /// `var` becomes an unconstrained value of its width.
    Havoc {
        var: VarId,
        input: InputId,
    },
    /// Copies `len` bytes as if through a buffer, whether or not the two overlap.
    Copy {
        dst: ExprId,
        src: ExprId,
        len: ExprId,
    },
    /// Sets `len` bytes to `byte` (8 bits).
    Fill {
        dst: ExprId,
        byte: ExprId,
        len: ExprId,
    },
    /// Does to the shadow of memory what a load, store, copy or fill does to memory. Each bit of memory has a bit in the
    /// shadow; those of new and of global objects are 0. What they mean is the business of who puts such operations into a program.
    Shadow(Box<Op>),
    /// Execution goes on in the callee and comes back to this edge's target.
    Call {
        callee: Callee,
        args: Box<[ExprId]>,
        varargs: Option<ExprId>,
        result: Option<VarId>,
    },
    /// The value is present exactly if the function has a `return_width`. The target is a sink.
    Return {
        value: Option<ExprId>,
    },
    /// The program ends. The target is a sink.
    Halt(HaltKind),
    /// The property is violated. The target is a sink.
    Error(ErrorId),
    /// From here on the program represented differs from the program given, as the taint says.
    Approx {
        taint: TaintId,
    },
}

impl Op {
    /// What [`ObjectOffset`](Op::ObjectOffset) gives, in as many bits as pointers have, where there is no object.
    pub const NOWHERE: u64 = u64::MAX;
    /// And in an object that is a [stand-in](AllocKind::StandIn).
    pub const IN_STAND_IN: u64 = u64::MAX - 1;

    pub fn allocates_stand_in(&self) -> bool {
        matches!(self, Op::Alloc { kind: AllocKind::StandIn, .. })
    }

    /// Whether there are addresses or pointers with which it cannot be executed.
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
    /// The operation itself, or what it does to the shadow of memory.
    pub fn unshadowed(&self) -> &Op {
        match self {
            Op::Shadow(op) => op,
            op => op,
        }
    }
    /// The variable that this operation itself writes in the frame of its function (or globally).
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
    /// [`def`](Self::def), to change it.
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
    /// Calls `visit` with every expression that this operation evaluates.
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
    /// As [`for_each_expr`](Self::for_each_expr), to change them.
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

/// When an object of the heap leaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leak {
    /// When no variable leads to it: nothing points to it, or into it, but what is in objects that leak. Variables are those of
    /// the C program, in all frames, temporaries that are still needed, and all objects that are not of the heap.
    Lost,
    /// When it is alive.
    Alive,
}

/// Functions that allocate, with the functions that may end the life of what they allocate. GCC's attribute `malloc(deallocator)`
/// and the allocation families of clang's MallocChecker mean the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Family {
    /// Variables of a function: the end of their scope.
    Scope,
    /// `malloc`, `strdup`, `getline`, ...: `free`, `realloc`.
    Malloc,
    /// `mmap`: `munmap`.
    Mapping,
    /// `fopen`, `fdopen`, ...: `fclose`, `pclose`.
    Stream,
    /// `opendir`, `fdopendir`: `closedir`.
    Directory,
    /// `getaddrinfo`: `freeaddrinfo`.
    AddressList,
    /// `tsearch`: `tdelete`, `tdestroy`.
    TreeNode,
    /// `hcreate`: `hdestroy`.
    HashTable,
    /// `regcomp`: `regfree`.
    Regex,
    /// What the C library keeps for itself (strings of `getenv`, of `getpwnam`): no function that a program may call.
    Internal,
}

impl Family {
    const NAMES: [(Self, &str); 10] = [
        (Self::Scope, "stack"),
        (Self::Malloc, "malloc"),
        (Self::Mapping, "mapping"),
        (Self::Stream, "stream"),
        (Self::Directory, "directory"),
        (Self::AddressList, "address_list"),
        (Self::TreeNode, "tree_node"),
        (Self::HashTable, "hash_table"),
        (Self::Regex, "regex"),
        (Self::Internal, "internal"),
    ];

    pub fn all() -> impl Iterator<Item = Self> {
        Self::NAMES.iter().map(|(family, _)| *family)
    }
    /// The name in the text form and in the primitives of library models.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(family, _)| *family == self).expect("each family has a name").1
    }
    pub fn by_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, n)| *n == name).map(|(family, _)| *family)
    }
}

/// When an object dies, and whose duty that is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AllocKind {
    /// Dies when the function that allocated it returns, if its scope has not ended before.
    Stack,
    /// Dies when a function of its family ends its life, which is the program's duty: else it is a leak.
    Heap(Family),
    /// Dies when a function of its family ends its life, which is nobody's duty.
    Library(Family),
    /// Dies when it is freed, which the program may do and need not: it was given the object.
    Given,
    /// Never dies, and is no object of C: it stands for one that nothing has looked at yet.
    StandIn,
}

impl AllocKind {
    /// What `malloc` allocates.
    pub const MALLOC: Self = Self::Heap(Family::Malloc);

    /// The kind of what a function of this family allocates.
    pub fn of(family: Family) -> Self {
        match family {
            Family::Scope => Self::Stack,
            Family::Malloc | Family::TreeNode | Family::AddressList => Self::Heap(family),
            Family::Mapping
            | Family::Stream
            | Family::Directory
            | Family::HashTable
            | Family::Regex
            | Family::Internal => Self::Library(family),
        }
    }
    /// The family whose functions may end the life of such an object.
    pub fn family(self) -> Option<Family> {
        match self {
            Self::Stack => Some(Family::Scope),
            Self::Heap(family) | Self::Library(family) => Some(family),
            Self::Given => Some(Family::Malloc),
            Self::StandIn => None,
        }
    }
    /// True if it is a leak when nothing leads to such an object any more.
    pub fn may_leak(self) -> bool {
        matches!(self, Self::Heap(_))
    }
}

/// Whom a call calls.
///
/// The callee's parameters take `args` in order; surplus arguments are dropped, missing ones are unknown,
/// and one of another width is truncated or zero-extended (calls through unprototyped or wrongly typed
/// function pointers). A variadic callee's `varargs` variable takes the call's `varargs` (0 if absent).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callee {
    Direct(FuncId),
    /// The function at this address; any other address is an invalid call.
    Indirect(ExprId),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HaltKind {
    /// `exit` or the end of `main`, with the status (32 bits). What runs at exit has run.
    Exit(ExprId),
    /// `_Exit` and its like, with the status (32 bits): streams are not written out.
    ExitNow(ExprId),
    /// `abort`, a failed `assert` that is not the property, a trap.
    Abort,
    /// `__VERIFIER_assume` of something false: the path does not exist.
    Assumed,
    /// Control reached what the compiler declared unreachable: undefined behaviour.
    Unreachable,
}
