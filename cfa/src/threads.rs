//! Threads in a program: functions that stand for what a thread does to others.
//!
//! A program that starts threads calls functions of these names. They have bodies like all functions, for who follows one thread only: that
//! of [`Start`](ThreadOp::Start) and [`When`](ThreadOp::When) is an approximation with a taint, the others do nothing. The
//! [interpreter](crate::interp) does what the names say. Numbers are as wide as pointers.

use crate::program::{FuncId, Program};

/// An operation of a thread that concerns other threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThreadOp {
    /// `(function, argument)`: a new thread calls the function with the argument, which is also what [`This`](Self::This) gives it.
    Start,
    /// The thread ends.
    End,
    /// The argument that the thread was started with; 0 in the first thread.
    This,
    /// `(kind)`: an atomic section begins. Other threads do nothing from the first access of it to shared memory to its end.
    Begin,
    /// The innermost atomic section ends.
    Finish,
    /// `(address, relation, value)`: blocks until the `int` there stands in the [`Relation`] to the value; then a section of the kind
    /// [`SYNCHRONISES`] has begun.
    When,
    /// `(address, exclusive)`: what other threads did before they released this address has happened before. It is held from here on if
    /// `exclusive` is not zero: no other thread holds it.
    Acquire,
    /// `(address)`: what was done so far happens before what other threads do after they acquire the address.
    Release,
    /// `(order)`: a fence.
    Fence,
    /// `(address)`: the address of the thread's own copy of a thread-local variable.
    Local,
}

/// Kinds of atomic sections below this one are accesses with this memory order, in LLVM's numbers.
pub const BLOCK: u64 = 16;
/// What the models of locks do: nobody else sees their accesses.
pub const SYNCHRONISES: u64 = 17;
/// The same, and it may see that a lock is held without waiting for it.
pub const OBSERVES: u64 = 18;
/// The same, and it only gives back what the thread holds.
pub const RELEASES: u64 = 19;
/// A function of the library.
pub const LIBRARY: u64 = 20;
/// The same, and it accesses memory that threads share.
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
    pub fn of(number: u64) -> Self {
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
    pub const ALL: [Self; 10] = [
        Self::Start,
        Self::End,
        Self::This,
        Self::Begin,
        Self::Finish,
        Self::When,
        Self::Acquire,
        Self::Release,
        Self::Fence,
        Self::Local,
    ];

    /// The function that stands for it.
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
            Self::Local => "__proviso_thread_local",
        }
    }
    /// The operation of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.name() == name)
    }
    /// The number of parameters.
    pub fn parameters(self) -> usize {
        match self {
            Self::End | Self::This | Self::Finish => 0,
            Self::Begin | Self::Release | Self::Fence | Self::Local => 1,
            Self::Start | Self::Acquire => 2,
            Self::When => 3,
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
    /// The function that stands for the operation.
    pub fn thread_op(&self, op: ThreadOp) -> Option<FuncId> {
        self.func_by_name(op.name())
    }
}
