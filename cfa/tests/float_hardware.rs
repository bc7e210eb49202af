//! Tests of floats against the hardware: `cfa::float` and a C program (`float_hardware.c`, compiled with clang) execute
//! the same operations on special and random operands. NaN payloads are compared if the hardware determines them.
//!
//! `FLOAT_CASES` sets the number of operands for each operation.

#![cfg(target_arch = "x86_64")]

use cfa::float::{self, FloatFormat as F};
use cfa::{BinOp, Bv, FBinOp, FCmp, FUnOp, Rounding};
use std::io::{Read, Write};
use std::process::{Command, Stdio};

const UNARY: [FUnOp; 8] =
    [FUnOp::Neg, FUnOp::Abs, FUnOp::SQRT, FUnOp::Floor, FUnOp::Ceil, FUnOp::Trunc, FUnOp::RoundEven, FUnOp::RoundAway];
const BINARY: [FBinOp; 7] = [FBinOp::ADD, FBinOp::SUB, FBinOp::MUL, FBinOp::DIV, FBinOp::Rem, FBinOp::Min, FBinOp::Max];
const COMPARE: [FCmp; 3] = [FCmp::Eq, FCmp::Lt, FCmp::Le];
const FMA: u8 = 15;
const CONVERT: u8 = 19;
const FROM_INT: u8 = 20;
const TO_INT: u8 = 21;
/// The formats of the C program, with their numbers there. For `__bf16`, clang needs a newer runtime library than
/// Debian's.
const FORMATS: [(F, u8); 5] = [(F::Half, 0), (F::Single, 2), (F::Double, 3), (F::X87, 4), (F::Quad, 5)];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    fn bits(&mut self, width: u32) -> Bv {
        let (high, low) = (self.next(), self.next());
        Bv::from_u128(128, u128::from(high) << 64 | u128::from(low)).resize(width)
    }
    /// Returns special values, neighbours of integers and ties, and random patterns around a few exponents. Only
    /// encodings that the format defines.
    fn float(&mut self, format: F) -> Bv {
        let width = format.width();
        let value = match self.below(12) {
            0 => Bv::zero(width),
            1 => float::default_nan(format),
            2 => float::binary(FBinOp::DIV, format, &int(format, 1), &Bv::zero(width)),
            3 => Bv::new(width, 1 + self.below(3)),
            4 => int(format, self.below(9) as i64),
            // n + 1/2
            5 => {
                let half = float::binary(FBinOp::DIV, format, &int(format, 1), &int(format, 2));
                let n = int(format, self.below(100) as i64);
                float::binary(FBinOp::ADD, format, &n, &half)
            }
            6 => int(format, self.next() as i64 >> self.below(60)),
            // NaNs, quiet and signalling.
            7 => {
                let payload = self.bits(format.significand_bits() - 1).zext(width);
                let inf = float::binary(FBinOp::DIV, format, &int(format, 1), &Bv::zero(width));
                &inf | &payload
            }
            // Exponents near that of 1.
            8 | 9 => {
                let one = int(format, 1);
                let scale = Bv::one(format.significand_bits()).zext(width);
                let shift = Bv::new(width, u64::from(stored_significand(format)));
                let up = BinOp::Shl.apply(&Bv::new(width, self.below(8)), &shift);
                (&one.add(&up) ^ &self.bits(format.significand_bits() - 1).zext(width)).sub(&scale)
            }
            _ => self.bits(width),
        };
        let value = if self.below(2) == 0 { value } else { &value ^ &Bv::min_signed(width) };
        canonical(format, value)
    }
}

fn int(format: F, value: i64) -> Bv {
    float::from_int(Rounding::Nearest, format, true, &Bv::from_i64(64, value))
}

/// The number of stored significand bits.
fn stored_significand(format: F) -> u32 {
    if format == F::X87 { 64 } else { format.significand_bits() - 1 }
}

/// Sets the integer bit of an x87 pattern according to its exponent.
fn canonical(format: F, value: Bv) -> Bv {
    if format != F::X87 {
        return value;
    }
    let integer_bit = BinOp::Shl.apply(&Bv::one(80), &Bv::new(80, 63));
    if value.extract(78, 64).is_zero() { &value & &integer_bit.not() } else { &value | &integer_bit }
}

struct Request {
    what: String,
    bytes: [u8; 64],
    ours: Bv,
    compare: Compare,
}

#[derive(Clone, Copy, PartialEq)]
enum Compare {
    Exact,
    /// NaNs with any payload and sign are equal (library functions).
    AnyNan(F),
    /// As `AnyNan`, and zeros with any sign are equal.
    AnyZero(F),
}

fn request(header: [u8; 6], operands: &[&Bv], ours: Bv, compare: Compare, what: &dyn std::fmt::Debug) -> Request {
    let mut bytes = [0; 64];
    bytes[..6].copy_from_slice(&header);
    for (i, operand) in operands.iter().enumerate() {
        let field = operand.to_le_bytes();
        bytes[16 * (i + 1)..][..field.len()].copy_from_slice(&field);
    }
    Request { what: format!("{what:?}{operands:?}"), bytes, ours, compare }
}

fn is_signalling(format: F, a: &Bv) -> bool {
    let quiet = float::binary(FBinOp::ADD, format, a, a);
    float::is_nan(format, a) && quiet != *a
}

fn requests(cases: u64) -> Vec<Request> {
    let mut random = Random(7);
    let mut all = Vec::new();
    for (format, number) in FORMATS {
        for case in 0..cases {
            // Rounds to nearest in most cases.
            let rounding =
                [Rounding::Nearest, Rounding::Down, Rounding::Nearest, Rounding::Up, Rounding::Zero][case as usize % 5];
            let mode = Rounding::ALL.into_iter().position(|r| r == rounding).expect("one of all") as u8;
            let (a, b, c) = (random.float(format), random.float(format), random.float(format));
            // The C library computes these operations. Quad is computed in software.
            let library = Compare::AnyNan(format);
            let hardware = if format == F::Quad { library } else { Compare::Exact };
            for (i, op) in UNARY.into_iter().enumerate() {
                // The C program executes `rint`.
                let op = if op == FUnOp::RoundEven { rounding.to_integral() } else { op.with_rounding(rounding) };
                let compare = match op {
                    FUnOp::Neg | FUnOp::Abs => Compare::Exact,
                    FUnOp::Sqrt(_) if format != F::Half => hardware,
                    _ => library,
                };
                // clang's float16 negation and absolute value convert to float, which quiets a NaN.
                if format == F::Half && is_signalling(format, &a) {
                    continue;
                }
                all.push(request(
                    [i as u8, number, 0, 0, 0, mode],
                    &[&a],
                    float::unary(op, format, &a),
                    compare,
                    &(op, format),
                ));
            }
            for (i, op) in BINARY.into_iter().enumerate() {
                let op = op.with_rounding(rounding);
                let compare = match op {
                    FBinOp::Rem => library,
                    // C does not define which of +0 and -0 is less, or the result for a signalling NaN.
                    FBinOp::Min | FBinOp::Max if is_signalling(format, &a) || is_signalling(format, &b) => continue,
                    FBinOp::Min | FBinOp::Max => Compare::AnyZero(format),
                    _ => hardware,
                };
                let ours = float::binary(op, format, &a, &b);
                all.push(request([8 + i as u8, number, 0, 0, 0, mode], &[&a, &b], ours, compare, &(op, format)));
            }
            let ours = float::fma(rounding, format, &a, &b, &c);
            all.push(request([FMA, number, 0, 0, 0, mode], &[&a, &b, &c], ours, library, &("Fma", rounding, format)));
            for (i, op) in COMPARE.into_iter().enumerate() {
                let ours = Bv::new(8, u64::from(float::compare(op, format, &a, &b)));
                all.push(request(
                    [16 + i as u8, number, 0, 0, 0, mode],
                    &[&a, &b],
                    ours,
                    Compare::Exact,
                    &(op, format),
                ));
            }
            for (to, to_number) in FORMATS {
                if to == format {
                    continue;
                }
                let compare = if to == F::Quad || format == F::Quad || to == F::Half || format == F::Half {
                    Compare::AnyNan(to)
                } else {
                    Compare::Exact
                };
                let ours = float::convert(rounding, format, to, &a);
                let what = ("Convert", rounding, format, to);
                all.push(request([CONVERT, number, to_number, 0, 0, mode], &[&a], ours, compare, &what));
            }
            for (width, signed) in [32u8, 64, 128].into_iter().flat_map(|w| [(w, false), (w, true)]) {
                let what = (rounding, format, width, signed);
                let integer =
                    BinOp::LShr.apply(&random.bits(128), &Bv::new(128, random.below(128))).resize(width.into());
                let integer = if random.below(2) == 0 { integer } else { integer.neg() };
                let ours = float::from_int(rounding, format, signed, &integer);
                // clang's code for this conversion subtracts equal numbers, which returns -0 when rounding downwards.
                // IEEE 754 requires +0.
                let quirk = (format, signed, width, rounding) == (F::Double, false, 64, Rounding::Down);
                if quirk && integer.is_zero() {
                    continue;
                }
                let header = [FROM_INT, number, 0, signed.into(), width, mode];
                all.push(request(header, &[&integer], ours, Compare::Exact, &("FromInt", what)));
                // Conversions that are one instruction are compared for all values.
                let ours = match (format, signed, width) {
                    (F::Single | F::Double | F::X87, true, 32 | 64) => {
                        Some(float::to_int(format, true, width.into(), &a))
                    }
                    _ => float::to_int_checked(format, signed, width.into(), &a),
                };
                if let Some(ours) = ours {
                    let header = [TO_INT, number, 0, signed.into(), width, mode];
                    all.push(request(header, &[&a], ours, Compare::Exact, &("ToInt", what)));
                }
            }
        }
    }
    all
}

fn agree(request: &Request, theirs: &Bv) -> bool {
    let ours = &request.ours;
    match request.compare {
        Compare::Exact => ours == theirs,
        Compare::AnyNan(f) => ours == theirs || (float::is_nan(f, ours) && float::is_nan(f, theirs)),
        Compare::AnyZero(f) => {
            float::compare(FCmp::Eq, f, ours, theirs) || (float::is_nan(f, ours) && float::is_nan(f, theirs))
        }
    }
}

/// Compiles the C program. It needs clang, which Proviso needs anyway.
fn compile(folder: &std::path::Path) -> std::path::PathBuf {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/float_hardware.c");
    let program = folder.join("float_hardware");
    for compiler in ["clang-19", "clang"] {
        let arguments = ["-O0", "-w", source, "-lm", "-o"];
        match Command::new(compiler).args(arguments).arg(&program).status() {
            Ok(status) if status.success() => return program,
            _ => {}
        }
    }
    panic!("cannot compile {source} with clang");
}

#[test]
fn floats_agree_with_the_machine() {
    let cases = std::env::var("FLOAT_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(500);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = compile(folder.path());
    let requests = requests(cases);
    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("runs the C program");
    let mut input = child.stdin.take().expect("piped");
    let bytes: Vec<u8> = requests.iter().flat_map(|r| r.bytes).collect();
    let writer = std::thread::spawn(move || input.write_all(&bytes));
    let mut output = Vec::new();
    child.stdout.take().expect("piped").read_to_end(&mut output).expect("its answers");
    writer.join().expect("no panic").expect("writes the requests");
    assert!(child.wait().expect("it ends").success());
    assert_eq!(output.len(), 16 * requests.len());

    let mut different = Vec::new();
    for (request, answer) in requests.iter().zip(output.chunks_exact(16)) {
        let theirs = Bv::from_le_bytes(&answer[..(request.ours.width() / 8) as usize]);
        if !agree(request, &theirs) {
            different.push(format!(
                "{} is {:#x} here, {:#x} there",
                request.what,
                request.ours.to_biguint(),
                theirs.to_biguint()
            ));
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different[..different.len().min(60)].join("\n"));
}
