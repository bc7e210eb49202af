//! Prints formulas as SMT-LIB 2, for other solvers.

use super::translate::{Fun, Rounding, SmtSort, Terms, Translator};
use cfa::{BinOp, Bv, ExprId, ExprPool};
use std::fmt::Write;

/// Returns the conjunction of `formulas` (one bit each) as a script that ends with `(check-sat)`. Equal pools and
/// formulas yield equal scripts. Linear in the number of distinct sub-terms, because shared sub-terms are defined once.
pub fn script(pool: &ExprPool, formulas: &[ExprId]) -> String {
    let mut translator = Translator::new(Text::default());
    let mut asserted = Vec::new();
    for &e in formulas {
        let term = translator.formula(pool, e);
        let axioms = translator.axioms_below(pool, e);
        asserted.extend(axioms.iter().map(|&n| translator.axiom(n)));
        asserted.push(term);
    }
    let mut listed = vec![false; translator.terms.terms.len()];
    asserted.retain(|&t| !std::mem::replace(&mut listed[t as usize], true));
    translator.terms.print(&asserted)
}

/// The printer. A term is an index into a table of applications.
#[derive(Default)]
struct Text {
    terms: Vec<Application>,
}

/// A term of SMT-LIB.
struct Application {
    /// The function symbol, or the complete text of a constant.
    head: String,
    args: Vec<u32>,
    sort: SmtSort,
    declared: bool,
}

impl Text {
    fn add(&mut self, head: String, args: Vec<u32>, sort: SmtSort) -> u32 {
        self.terms.push(Application { head, args, sort, declared: false });
        self.terms.len() as u32 - 1
    }

    fn print(&self, asserted: &[u32]) -> String {
        let mut uses = vec![0u32; self.terms.len()];
        let mut stack = asserted.to_vec();
        for &t in asserted {
            uses[t as usize] += 1;
        }
        let mut seen = vec![false; self.terms.len()];
        while let Some(t) = stack.pop() {
            if std::mem::replace(&mut seen[t as usize], true) {
                continue;
            }
            for &a in &self.terms[t as usize].args {
                uses[a as usize] += 1;
                stack.push(a);
            }
        }
        let mut text = String::from("(set-logic ALL)\n");
        // Arguments precede the terms that use them. Every other term gets a name, so that the nesting stays shallow
        // enough for recursive parsers.
        let mut inline: Vec<Option<String>> = vec![None; self.terms.len()];
        for (i, term) in self.terms.iter().enumerate() {
            if uses[i] == 0 {
                continue;
            }
            if term.declared {
                let _ = writeln!(text, "(declare-const {} {})", term.head, sort_text(term.sort));
                inline[i] = Some(term.head.clone());
                continue;
            }
            let mut body = String::new();
            if term.args.is_empty() {
                body.push_str(&term.head);
            } else {
                let _ = write!(body, "({}", term.head);
                for &a in &term.args {
                    match &inline[a as usize] {
                        Some(known) => {
                            let _ = write!(body, " {known}");
                        }
                        None => {
                            let _ = write!(body, " t{a}");
                        }
                    }
                }
                body.push(')');
            }
            if term.args.is_empty() || (uses[i] == 1 && body.len() < 80) {
                inline[i] = Some(body);
            } else {
                let _ = writeln!(text, "(define-fun t{i} () {} {body})", sort_text(term.sort));
            }
        }
        for &t in asserted {
            match &inline[t as usize] {
                Some(body) => writeln!(text, "(assert {body})"),
                None => writeln!(text, "(assert t{t})"),
            }
            .expect("writing to a string");
        }
        text.push_str("(check-sat)\n");
        text
    }

    fn sort(&self, t: u32) -> SmtSort {
        self.terms[t as usize].sort
    }
    fn width(&self, t: u32) -> u32 {
        match self.sort(t) {
            SmtSort::Bits(width) => width,
            other => unreachable!("{other:?} has no width"),
        }
    }
}

impl Terms for Text {
    type Term = u32;

    fn truth(&mut self, value: bool) -> u32 {
        self.add(value.to_string(), Vec::new(), SmtSort::Bool)
    }
    fn bits(&mut self, value: &Bv) -> u32 {
        let width = value.width();
        let text = if width.is_multiple_of(4) {
            format!("#x{:0>1$}", value.to_biguint().to_str_radix(16), width as usize / 4)
        } else {
            format!("#b{:0>1$}", value.to_biguint().to_str_radix(2), width as usize)
        };
        self.add(text, Vec::new(), SmtSort::Bits(width))
    }
    fn constant(&mut self, name: &str, sort: SmtSort) -> u32 {
        let t = self.add(name.into(), Vec::new(), sort);
        self.terms[t as usize].declared = true;
        t
    }
    fn const_array(&mut self, index: u32, elem: u32, value: u32) -> u32 {
        let sort = SmtSort::Array { index, elem };
        self.add(format!("(as const {})", sort_text(sort)), vec![value], sort)
    }

    fn apply(&mut self, fun: Fun, args: &[u32]) -> u32 {
        use SmtSort::{Bits, Bool, Float};
        let first = self.sort(args[0]);
        let fp = |name: &str, r: Rounding| format!("{name} {}", rounding(r));
        let (head, sort) = match fun {
            Fun::Not => ("not".into(), Bool),
            Fun::And => ("and".into(), Bool),
            Fun::Or => ("or".into(), Bool),
            Fun::Xor => ("xor".into(), Bool),
            Fun::Equal => ("=".into(), Bool),
            Fun::Ite => ("ite".into(), self.sort(args[1])),
            Fun::BvNot => ("bvnot".into(), first),
            Fun::BvNeg => ("bvneg".into(), first),
            Fun::Bv(op) => {
                let (name, sort) = match op {
                    BinOp::Add => ("bvadd", first),
                    BinOp::Sub => ("bvsub", first),
                    BinOp::Mul => ("bvmul", first),
                    BinOp::UDiv => ("bvudiv", first),
                    BinOp::SDiv => ("bvsdiv", first),
                    BinOp::URem => ("bvurem", first),
                    BinOp::SRem => ("bvsrem", first),
                    BinOp::Shl => ("bvshl", first),
                    BinOp::LShr => ("bvlshr", first),
                    BinOp::AShr => ("bvashr", first),
                    BinOp::And => ("bvand", first),
                    BinOp::Or => ("bvor", first),
                    BinOp::Xor => ("bvxor", first),
                    BinOp::Eq => ("=", Bool),
                    BinOp::Ult => ("bvult", Bool),
                    BinOp::Ule => ("bvule", Bool),
                    BinOp::Slt => ("bvslt", Bool),
                    BinOp::Sle => ("bvsle", Bool),
                    BinOp::Concat => ("concat", Bits(self.width(args[0]) + self.width(args[1]))),
                };
                (name.into(), sort)
            }
            Fun::Extract { hi, lo } => (format!("(_ extract {hi} {lo})"), Bits(hi - lo + 1)),
            Fun::ZeroExtend(n) => (format!("(_ zero_extend {n})"), Bits(self.width(args[0]) + n)),
            Fun::SignExtend(n) => (format!("(_ sign_extend {n})"), Bits(self.width(args[0]) + n)),
            Fun::Select => match first {
                SmtSort::Array { elem, .. } => ("select".into(), Bits(elem)),
                other => unreachable!("select from {other:?}"),
            },
            Fun::Store => ("store".into(), first),
            Fun::FpAbs => ("fp.abs".into(), first),
            Fun::FpNeg => ("fp.neg".into(), first),
            Fun::FpAdd(r) => (fp("fp.add", r), first),
            Fun::FpSub(r) => (fp("fp.sub", r), first),
            Fun::FpMul(r) => (fp("fp.mul", r), first),
            Fun::FpDiv(r) => (fp("fp.div", r), first),
            Fun::FpFma(r) => (fp("fp.fma", r), first),
            Fun::FpSqrt(r) => (fp("fp.sqrt", r), first),
            Fun::FpRem => ("fp.rem".into(), first),
            Fun::FpRoundToIntegral(r) => (fp("fp.roundToIntegral", r), first),
            Fun::FpEq => ("fp.eq".into(), Bool),
            Fun::FpLt => ("fp.lt".into(), Bool),
            Fun::FpLe => ("fp.leq".into(), Bool),
            Fun::FpIsNan => ("fp.isNaN".into(), Bool),
            Fun::FpIsInf => ("fp.isInfinite".into(), Bool),
            Fun::FpIsNegative => ("fp.isNegative".into(), Bool),
            Fun::FpIsZero => ("fp.isZero".into(), Bool),
            Fun::FpFromBits(f) => (to_fp("to_fp", f), Float(f)),
            Fun::FpFromFp(r, f) | Fun::FpFromSigned(r, f) => (fp(&to_fp("to_fp", f), r), Float(f)),
            Fun::FpFromUnsigned(r, f) => (fp(&to_fp("to_fp_unsigned", f), r), Float(f)),
            Fun::FpToSigned(r, width) => (fp(&format!("(_ fp.to_sbv {width})"), r), Bits(width)),
            Fun::FpToUnsigned(r, width) => (fp(&format!("(_ fp.to_ubv {width})"), r), Bits(width)),
        };
        self.add(head, args.to_vec(), sort)
    }
}

fn to_fp(name: &str, f: cfa::FloatFormat) -> String {
    format!("(_ {name} {} {})", f.exponent_bits(), f.significand_bits())
}

fn sort_text(sort: SmtSort) -> String {
    match sort {
        SmtSort::Bool => "Bool".into(),
        SmtSort::Bits(width) => format!("(_ BitVec {width})"),
        SmtSort::Float(f) => format!("(_ FloatingPoint {} {})", f.exponent_bits(), f.significand_bits()),
        SmtSort::Array { index, elem } => format!("(Array (_ BitVec {index}) (_ BitVec {elem}))"),
    }
}

fn rounding(mode: Rounding) -> &'static str {
    match mode {
        Rounding::NearestEven => "RNE",
        Rounding::NearestAway => "RNA",
        Rounding::Down => "RTN",
        Rounding::Up => "RTP",
        Rounding::Zero => "RTZ",
    }
}
