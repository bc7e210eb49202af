//! The operations of threads, represented as calls of functions with reserved names.
//!
//! Like all functions, these have bodies. Analyses of a single thread use the bodies: those of
//! [`Start`](ThreadOp::Start) and [`When`](ThreadOp::When) are approximations with a taint, the others do nothing. The
//! [interpreter](crate::interp) ignores the bodies and executes the operations. Numbers are as wide as pointers.

use crate::program::{Callee, FuncId, Op, Program};

/// An operation of a thread that concerns other threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThreadOp {
    /// `(function, argument)`: starts a thread that calls the function with the argument. [`This`](Self::This) returns
    /// the same argument.
    Start,
    /// The thread ends.
    End,
    /// The argument that the thread was started with; 0 in the first thread.
    This,
    /// `(kind)`: begins an atomic section. Other threads do not run between its first access to shared memory and its
    /// end.
    Begin,
    /// The innermost atomic section ends.
    Finish,
    /// `(address, relation, value, interrupt)`: blocks until the `int` at the address is in the [`Relation`] to the
    /// value, or the `int` at `interrupt` is not zero. `interrupt` may be null. Then begins a section of the kind
    /// [`SYNCHRONISES`].
    When,
    /// `(address, exclusive)`: the releases of this address by other threads happen before this operation. If
    /// `exclusive` is not zero, the thread holds the address from here on, and no other thread does.
    Acquire,
    /// `(address)`: this operation happens before later acquisitions of the address by other threads. The thread no
    /// longer holds the address.
    Release,
    /// `(order)`: a fence.
    Fence,
    /// `(address, order)`: the atomic access of the innermost section writes the address after it has read it. From here
    /// on, and for the read, the section has this order.
    Update,
    /// The thread has observed the state of a lock without an operation that orders it after other threads, or it makes
    /// accesses of the program that are not checked for races.
    Observe,
    /// `(address, writes)`: an access to a lock, for race detection. If `writes` is not zero, it initialises or destroys the
    /// lock, and counts as a write that is not atomic. Otherwise it counts as an atomic read. It precedes the acquisition
    /// or release of the lock.
    Lock,
    /// `(address)`: the address of the thread's own copy of a thread-local variable.
    Local,
}

/// The kind of an atomic section of the program. Smaller kinds are atomic accesses; the kind is their memory order in
/// LLVM's numbers.
pub const BLOCK: u64 = 16;
/// A section in the models of locks. Its accesses are not visible to other threads.
pub const SYNCHRONISES: u64 = 17;
/// Like [`SYNCHRONISES`]; the section may test whether a lock is held without waiting for it.
pub const OBSERVES: u64 = 18;
/// Like [`SYNCHRONISES`]; the section only releases locks that the thread holds.
pub const RELEASES: u64 = 19;
/// A call of a library function.
pub const LIBRARY: u64 = 20;
/// A call of a library function that accesses memory that threads share.
pub const SHARED_LIBRARY: u64 = 21;

/// Memory orders in LLVM's numbers.
pub mod order {
    /// `memory_order_relaxed`.
    pub const RELAXED: u64 = 2;
    /// `memory_order_acquire`.
    pub const ACQUIRE: u64 = 4;
    /// `memory_order_release`.
    pub const RELEASE: u64 = 5;
    /// `memory_order_acq_rel`.
    pub const ACQUIRE_RELEASE: u64 = 6;
    /// `memory_order_seq_cst`.
    pub const SEQUENTIAL: u64 = 7;
}

/// The condition that [`ThreadOp::When`] waits for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Relation {
    /// The word equals the value.
    Equal,
    /// The word differs from the value.
    Unequal,
    /// The word is at least the value, as signed numbers.
    AtLeast,
}

impl Relation {
    /// The relation with this number in the models.
    pub fn from_number(number: u64) -> Self {
        match number {
            0 => Self::Equal,
            1 => Self::Unequal,
            _ => Self::AtLeast,
        }
    }
    /// True if the word is in the relation to the value.
    pub fn holds(self, word: i32, value: i32) -> bool {
        match self {
            Self::Equal => word == value,
            Self::Unequal => word != value,
            Self::AtLeast => word >= value,
        }
    }
}

impl ThreadOp {
    /// All operations.
    pub const ALL: [Self; 13] = [
        Self::Start,
        Self::End,
        Self::This,
        Self::Begin,
        Self::Finish,
        Self::When,
        Self::Acquire,
        Self::Release,
        Self::Fence,
        Self::Update,
        Self::Observe,
        Self::Lock,
        Self::Local,
    ];

    /// The name of the function that represents the operation.
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "__proviso_thread_start",
            Self::End => "__proviso_thread_end",
            Self::This => "__proviso_thread_this",
            Self::Begin => "__proviso_atomic_begin",
            Self::Finish => "__proviso_atomic_finish",
            Self::When => "__proviso_atomic_when",
            Self::Acquire => "__proviso_acquire",
            Self::Release => "__proviso_release",
            Self::Fence => "__proviso_fence",
            Self::Update => "__proviso_atomic_update",
            Self::Observe => "__proviso_observe",
            Self::Lock => "__proviso_access_lock",
            Self::Local => "__proviso_thread_local",
        }
    }
    /// The operation that the function with this name represents.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.name() == name)
    }
    /// The number of parameters.
    pub fn parameters(self) -> usize {
        match self {
            Self::End | Self::This | Self::Finish | Self::Observe => 0,
            Self::Begin | Self::Release | Self::Fence | Self::Local => 1,
            Self::Start | Self::Acquire | Self::Update | Self::Lock => 2,
            Self::When => 4,
        }
    }
    /// True if the operation returns a value.
    pub fn has_result(self) -> bool {
        matches!(self, Self::This | Self::Local)
    }
}

impl Program {
    /// Returns whether the program may start threads.
    pub fn starts_threads(&self) -> bool {
        self.thread_op(ThreadOp::Start).is_some()
    }
    /// Returns whether an atomic operation or a fence may have a weaker memory order than sequential consistency.
    pub fn has_weak_orders(&self) -> bool {
        self.edges.values().any(|edge| {
            let Op::Call { callee: Callee::Direct(callee), args, .. } = &edge.op else { return false };
            let number = match ThreadOp::by_name(&self.funcs[*callee].name) {
                Some(ThreadOp::Begin | ThreadOp::Fence) => 0,
                Some(ThreadOp::Update) => 1,
                _ => return false,
            };
            let order = args.get(number).and_then(|&arg| self.exprs.as_const(arg)?.to_u64());
            order.is_none_or(|order| order < order::SEQUENTIAL)
        })
    }
    /// The function that represents the operation. `None` if the program has none.
    pub fn thread_op(&self, op: ThreadOp) -> Option<FuncId> {
        self.func_by_name(op.name())
    }
}
