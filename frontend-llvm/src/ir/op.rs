//! LLVM's opcodes, and flags of instructions.

pub const RET: u8 = 1;
pub const BR: u8 = 2;
pub const SWITCH: u8 = 3;
pub const INDIRECT_BR: u8 = 4;
pub const INVOKE: u8 = 5;
pub const UNREACHABLE: u8 = 7;
pub const CALL_BR: u8 = 11;
pub const F_NEG: u8 = 12;
pub const ADD: u8 = 13;
pub const F_ADD: u8 = 14;
pub const SUB: u8 = 15;
pub const F_SUB: u8 = 16;
pub const MUL: u8 = 17;
pub const F_MUL: u8 = 18;
/// Flags of integer arithmetic: the operation is a difference of pointers, or of parts of a complex integer.
pub const IS_POINTER_DIFFERENCE: u32 = 2;
pub const IS_COMPLEX: u32 = 4;
pub const U_DIV: u8 = 19;
pub const S_DIV: u8 = 20;
pub const F_DIV: u8 = 21;
pub const U_REM: u8 = 22;
pub const S_REM: u8 = 23;
pub const F_REM: u8 = 24;
pub const SHL: u8 = 25;
pub const L_SHR: u8 = 26;
pub const A_SHR: u8 = 27;
pub const AND: u8 = 28;
pub const OR: u8 = 29;
pub const XOR: u8 = 30;
pub const ALLOCA: u8 = 31;
/// Flags of an `alloca`: it is executed once, or it is a compound literal.
pub const IS_STATIC: u32 = 1;
pub const IS_LITERAL: u32 = 2;
pub const LOAD: u8 = 32;
pub const STORE: u8 = 33;
pub const GEP: u8 = 34;
/// The last word of an address in a stream that is only loaded from and compared, at once.
pub const STREAM_IS_LOADED: u32 = 1;
/// The last word of an address in a stream that is stored to, at once.
pub const STREAM_IS_STORED: u32 = 2;
pub const FENCE: u8 = 35;
pub const CMP_XCHG: u8 = 36;
pub const ATOMIC_RMW: u8 = 37;
pub const TRUNC: u8 = 38;
pub const Z_EXT: u8 = 39;
pub const S_EXT: u8 = 40;
pub const FP_TO_UI: u8 = 41;
pub const FP_TO_SI: u8 = 42;
pub const UI_TO_FP: u8 = 43;
pub const SI_TO_FP: u8 = 44;
pub const FP_TRUNC: u8 = 45;
pub const FP_EXT: u8 = 46;
pub const PTR_TO_INT: u8 = 47;
/// The extra word of a conversion that the program makes, unlike those of pointer differences and of checks.
pub const IS_CONVERSION: u32 = 1;
pub const INT_TO_PTR: u8 = 48;
pub const BIT_CAST: u8 = 49;
pub const ADDR_SPACE_CAST: u8 = 50;
pub const I_CMP: u8 = 53;
pub const F_CMP: u8 = 54;
pub const PHI: u8 = 55;
pub const CALL: u8 = 56;
pub const SELECT: u8 = 57;
pub const EXTRACT_ELEMENT: u8 = 61;
pub const INSERT_ELEMENT: u8 = 62;
pub const SHUFFLE_VECTOR: u8 = 63;
pub const EXTRACT_VALUE: u8 = 64;
pub const INSERT_VALUE: u8 = 65;
pub const FREEZE: u8 = 67;
