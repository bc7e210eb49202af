//! Tests that exact C text, compiled by clang, has the value that the evaluator computes.

use cfa::{
    BinOp, Bv, CType, DataLayout, Evaluator, Expr, ExprId, FBinOp, FCmp, FUnOp, FloatFormat, Program, Rounding, UnOp,
    Value, Var, VarId, VarKind, text,
};
use std::fmt::Write;
use std::process::Command;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
    fn below(&mut self, n: u32) -> u32 {
        (self.next() >> 20) as u32 % n
    }
    fn choose<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u32) as usize]
    }
    fn bv(&mut self, width: u32) -> Bv {
        match self.below(6) {
            0 => Bv::from_i64(width, i64::from(self.below(7)) - 3),
            1 => Bv::min_signed(width),
            2 => Bv::min_signed(width).not(),
            3 => BinOp::Shl.apply(&Bv::one(width), &Bv::new(width, u64::from(self.below(width)))),
            _ => Bv::from_u128(width, u128::from(self.next())),
        }
    }
}

/// The C types of the variables, with width and signedness.
const TYPES: [(&str, u32, bool); 8] = [
    ("signed char", 8, true),
    ("unsigned char", 8, false),
    ("short", 16, true),
    ("unsigned short", 16, false),
    ("int", 32, true),
    ("unsigned int", 32, false),
    ("long long", 64, true),
    ("unsigned long long", 64, false),
];

struct Builder {
    p: Program,
    random: Random,
    vars: Vec<VarId>,
    floats: Vec<VarId>,
}

impl Builder {
    fn new() -> Self {
        let mut b =
            Self { p: Program::new(DataLayout { pointer_width: 64 }), random: Random(3), vars: vec![], floats: vec![] };
        let func = b.p.entry;
        let add = |p: &mut Program, ty: CType, width: u32, name: String| {
            let ty = p.types.push(ty);
            p.vars.push(Var { name: Some(name), ty, width, kind: VarKind::Local(func), place: None })
        };
        for (i, (name, width, signed)) in TYPES.into_iter().enumerate() {
            for copy in ['a', 'b'] {
                let ty = CType::Int { name: name.into(), width, signed };
                let var = add(&mut b.p, ty, width, format!("{copy}{i}"));
                b.vars.push(var);
            }
        }
        for (name, format) in [("float", FloatFormat::Single), ("double", FloatFormat::Double)] {
            let var = add(&mut b.p, CType::Float { name: name.into(), format }, format.width(), format!("x_{name}"));
            b.floats.push(var);
        }
        b
    }
    fn bv(&mut self, width: u32, depth: u32) -> ExprId {
        let d = depth.saturating_sub(1);
        let kind = if depth == 0 { self.random.below(2) } else { self.random.below(9) };
        match kind {
            0 if width > 1 => {
                let value = self.random.bv(width);
                self.p.exprs.constant(value)
            }
            0..=2 if width > 1 => {
                let fitting: Vec<_> = self.vars.iter().copied().filter(|&v| self.p.vars[v].width >= width).collect();
                let var = self.random.choose(&fitting);
                let e = self.p.var_expr(var);
                let wide = self.p.vars[var].width;
                let lo = self.random.below(wide - width + 1);
                self.p.exprs.extract(lo + width - 1, lo, e)
            }
            _ if width == 1 => self.condition(d),
            3 => {
                let op = self.random.choose(&[UnOp::Not, UnOp::Neg]);
                let a = self.bv(width, d);
                self.p.exprs.unary(op, a)
            }
            4 => {
                let narrow = 1 + self.random.below(width);
                let a = self.bv(narrow, d);
                if self.random.below(2) == 0 { self.p.exprs.zext(width, a) } else { self.p.exprs.sext(width, a) }
            }
            5 => {
                let high = 1 + self.random.below(width - 1);
                let (a, b) = (self.bv(high, d), self.bv(width - high, d));
                self.p.exprs.concat(a, b)
            }
            6 => {
                let c = self.bv(1, d);
                let (t, e) = (self.bv(width, d), self.bv(width, d));
                self.p.exprs.ite(c, t, e)
            }
            _ => {
                let op = BinOp::ALL[self.random.below(13) as usize];
                let (a, mut b) = (self.bv(width, d), self.bv(width, d));
                if self.random.below(2) == 0 {
                    let value = self.random.bv(width);
                    b = self.p.exprs.constant(value);
                }
                self.p.exprs.binary(op, a, b)
            }
        }
    }
    fn condition(&mut self, depth: u32) -> ExprId {
        match self.random.below(8) {
            0 => {
                let a = self.condition(depth.saturating_sub(1).min(2));
                self.p.exprs.not(a)
            }
            1 if depth > 0 => {
                let (a, b) = (self.bv(1, depth - 1), self.bv(1, depth - 1));
                let op = self.random.choose(&[BinOp::And, BinOp::Or, BinOp::Xor, BinOp::Add, BinOp::Eq]);
                self.p.exprs.binary(op, a, b)
            }
            2 => {
                let format = self.random.choose(&[FloatFormat::Single, FloatFormat::Double]);
                let (a, b) = (self.float(format, depth), self.float(format, depth));
                let op = self.random.choose(&[FCmp::Eq, FCmp::Lt, FCmp::Le]);
                if self.random.below(4) == 0 {
                    self.p.exprs.f_is_nan(format, a)
                } else {
                    self.p.exprs.f_compare(op, format, a, b)
                }
            }
            _ => {
                let width = self.random.choose(&[2, 8, 13, 16, 32, 40, 64]);
                let op = self.random.choose(&[BinOp::Eq, BinOp::Ult, BinOp::Ule, BinOp::Slt, BinOp::Sle]);
                let (a, b) = (self.bv(width, depth), self.bv(width, depth));
                self.p.exprs.binary(op, a, b)
            }
        }
    }
    fn float(&mut self, format: FloatFormat, depth: u32) -> ExprId {
        let d = depth.saturating_sub(1);
        match if depth == 0 { self.random.below(2) } else { self.random.below(6) } {
            0 => {
                let var = self.floats[usize::from(format == FloatFormat::Double)];
                self.p.var_expr(var)
            }
            1 => {
                let value = self.random.bv(format.width());
                self.p.exprs.constant(value)
            }
            2 => {
                let a = self.float(format, d);
                self.p.exprs.f_unary(FUnOp::Neg, format, a)
            }
            3 => {
                let (a, signed) = (self.bv(32, d), self.random.below(2) == 0);
                self.p.exprs.int_to_f(Rounding::Nearest, format, signed, a)
            }
            4 => {
                let from = self.random.choose(&[FloatFormat::Single, FloatFormat::Double]);
                let a = self.float(from, d);
                self.p.exprs.f_convert(Rounding::Nearest, from, format, a)
            }
            _ => {
                let op = self.random.choose(&[FBinOp::ADD, FBinOp::SUB, FBinOp::MUL, FBinOp::DIV]);
                let (a, b) = (self.float(format, d), self.float(format, d));
                self.p.exprs.f_binary(op, format, a, b)
            }
        }
    }
}

#[test]
fn exact_c_has_the_value_of_the_expression() {
    let mut b = Builder::new();
    let widths = [1, 2, 8, 13, 16, 32, 40, 64];
    let expressions: Vec<_> = (0..1500)
        .map(|_| {
            let width = b.random.choose(&widths);
            b.bv(width, 4)
        })
        .collect();
    // The values of the variables, and a C program with these values.
    let values: Vec<Bv> =
        b.p.vars.values().map(|v| v.width).collect::<Vec<_>>().into_iter().map(|w| b.random.bv(w)).collect();
    let mut c = String::from("#include <stdio.h>\n#include <string.h>\nint main(void) {\n");
    for (id, var) in b.p.vars.iter() {
        let (ty, name) = (b.p.type_name(var.ty), var.name.as_deref().expect("named"));
        let bits = values[id.0 as usize].to_u64().expect("at most 64 bits");
        let carrier = if var.width == 32 { "unsigned int" } else { "unsigned long long" };
        match b.p.types[var.ty] {
            CType::Float { .. } => {
                writeln!(
                    c,
                    "{carrier} bits_{name} = {bits}ULL; {ty} {name}; memcpy(&{name}, &bits_{name}, sizeof {name});"
                )
                .unwrap();
            }
            _ => writeln!(c, "{ty} {name} = ({ty}){bits}ULL;").unwrap(),
        }
    }
    let mut expected = Vec::new();
    for e in expressions {
        let Some(text) = text::c_exact(&b.p, &b.p.exprs, e, &|_| true) else { continue };
        writeln!(c, "printf(\"%llu\\n\", (unsigned long long){text});").unwrap();
        let leaf = |_: ExprId, node: &Expr| match node {
            Expr::Var(v) => Value::Bv(values[v.0 as usize].clone()),
            _ => panic!("only variables"),
        };
        expected.push((Evaluator::new(&b.p.exprs, leaf).eval(e), text, e));
    }
    c += "return 0; }\n";
    assert!(expected.len() > 1000, "only {} have a form", expected.len());

    let folder = tempfile::tempdir().expect("a temporary folder");
    let (source, program) = (folder.path().join("exact.c"), folder.path().join("exact"));
    std::fs::write(&source, c).expect("writes the program");
    // Undefined behaviour traps.
    let arguments =
        ["-O1", "-w", "-fsanitize=undefined", "-fsanitize-trap=undefined", "-fno-sanitize=float-divide-by-zero", "-o"];
    let compiled = ["clang-19", "clang"].into_iter().any(|clang| {
        Command::new(clang).args(arguments).arg(&program).arg(&source).status().is_ok_and(|s| s.success())
    });
    assert!(compiled, "clang does not compile the expressions");
    let output = Command::new(program).output().expect("runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = String::from_utf8(output.stdout).expect("numbers");
    assert_eq!(output.lines().count(), expected.len());
    for (line, (value, text, e)) in output.lines().zip(&expected) {
        assert_eq!(line, value.to_string(), "{text} for {}", text::expression(&b.p, &b.p.exprs, *e));
    }
}

#[test]
fn what_c_cannot_say_has_no_form() {
    let mut b = Builder::new();
    let temp =
        b.p.vars.push(Var { name: None, ty: cfa::TypeId(0), width: 32, kind: VarKind::Temp(b.p.entry), place: None });
    let (t, int) = (b.p.var_expr(temp), b.p.var_expr(b.vars[8]));
    let one = b.p.exprs.int(32, 1);
    let [sum, division] = [BinOp::Add, BinOp::SDiv].map(|op| b.p.exprs.binary(op, int, t));
    let by_int = b.p.exprs.binary(BinOp::SDiv, one, int);
    for e in [t, sum, division, by_int] {
        assert_eq!(text::c_exact(&b.p, &b.p.exprs, e, &|_| true), None);
    }
    let less = b.p.exprs.slt(int, one);
    assert_eq!(text::c_exact(&b.p, &b.p.exprs, less, &|_| true).as_deref(), Some("(a4 < 1)"));
    assert_eq!(text::c_exact(&b.p, &b.p.exprs, less, &|_| false), None);
}
