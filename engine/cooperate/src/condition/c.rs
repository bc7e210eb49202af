//! Parses C conditions without side effects: assumptions in files, and state invariants in witnesses of other tools.
//! The results are expressions over variables, which are found by their C names.
//!
//! Only integers are supported, with C's conversions. Everything else is an error with its text, because a condition
//! with another meaning would be worse than none.

use cfa::{BinOp, Bv, CType, ExprId, FuncId, Program, UnOp, VarId};

/// A value with its C type.
#[derive(Clone, Copy)]
struct Value {
    e: ExprId,
    width: u32,
    signed: bool,
}

/// The maximal nesting depth of parentheses, prefix operators and conditional operators.
const DEEPEST: usize = 200;
/// The maximal number of tokens, because expressions are evaluated recursively.
const LONGEST: usize = 10_000;

/// Parses a constant expression. The result has 64 bits. Fails if the text is not a constant.
pub fn constant(text: &str, func: Option<FuncId>, program: &mut Program) -> Result<Bv, String> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0, func, program };
    let value = parser.conditional()?;
    let all = parser.at == tokens.len();
    let wide = parser.converted(value, 64, value.signed);
    let constant = program.exprs.as_const(wide.e).filter(|_| all);
    constant.cloned().ok_or_else(|| format!("'{text}' is no constant"))
}

/// Parses a condition as an expression of one bit. `func` is the function whose local variables are in scope. Fails if
/// the text is not supported.
pub fn parse(text: &str, func: Option<FuncId>, program: &mut Program) -> Result<ExprId, String> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0, func, program };
    let value = parser.conditional()?;
    match parser.tokens.get(parser.at) {
        None => Ok(parser.truth(value)),
        Some(token) => Err(format!("'{token}' is not understood")),
    }
}

fn tokens(text: &str) -> Result<Vec<&str>, String> {
    const OPERATORS: [&str; 27] = [
        "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!",
        "(", ")", "?", ":", ",", "[", "]",
    ];
    let mut rest = text.trim_start();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let length = match word {
            0 => OPERATORS.iter().find(|op| rest.starts_with(**op)).map(|op| op.len()),
            n => Some(n),
        };
        let length =
            length.ok_or_else(|| format!("'{}' is not understood", rest.chars().take(8).collect::<String>()))?;
        let (token, behind) = rest.split_at(length);
        found.push(token);
        rest = behind.trim_start();
        if found.len() > LONGEST {
            return Err(format!("a condition has more than {LONGEST} words and operators"));
        }
    }
    Ok(found)
}

/// Binary operators, in the order of increasing precedence.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// A parser of C expressions.
struct Parser<'t, 'p> {
    tokens: &'t [&'t str],
    at: usize,
    depth: usize,
    /// The function whose local variables are in scope.
    func: Option<FuncId>,
    program: &'p mut Program,
}

impl Parser<'_, '_> {
    fn take(&mut self, token: &str) -> bool {
        let is_next = self.tokens.get(self.at) == Some(&token);
        self.at += usize::from(is_next);
        is_next
    }

    /// Parses a nested expression. Fails if the nesting is too deep.
    fn inside(&mut self, parse: impl FnOnce(&mut Self) -> Result<Value, String>) -> Result<Value, String> {
        if self.depth >= DEEPEST {
            return Err(format!("a condition nests deeper than {DEEPEST}"));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn conditional(&mut self) -> Result<Value, String> {
        self.inside(Self::conditional_inside)
    }

    fn conditional_inside(&mut self) -> Result<Value, String> {
        let condition = self.binary(0)?;
        if !self.take("?") {
            return Ok(condition);
        }
        let condition = self.truth(condition);
        let yes = self.conditional()?;
        if !self.take(":") {
            return Err("':' is missing".into());
        }
        let no = self.conditional()?;
        let (yes, no) = self.usual(yes, no);
        Ok(Value { e: self.program.exprs.ite(condition, yes.e, no.e), ..yes })
    }

    fn binary(&mut self, level: usize) -> Result<Value, String> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = operators.iter().copied().find(|op| self.take(op)) {
            let right = self.binary(level + 1)?;
            left = self.apply(operator, left, right)?;
        }
        Ok(left)
    }

    fn apply(&mut self, operator: &str, a: Value, b: Value) -> Result<Value, String> {
        if matches!(operator, "&&" | "||") {
            let (a, b) = (self.truth(a), self.truth(b));
            let e = if operator == "&&" { self.program.exprs.and(a, b) } else { self.program.exprs.or(a, b) };
            return Ok(self.integer(e));
        }
        if matches!(operator, "<<" | ">>") {
            let (a, b) = (self.promoted(a), self.promoted(b));
            let by = self.program.exprs.as_const(b.e).and_then(Bv::to_u64).filter(|&n| n < u64::from(a.width));
            let by = by.ok_or("only shifts by constants are understood")?;
            let op = match (operator, a.signed) {
                ("<<", _) => BinOp::Shl,
                (_, true) => BinOp::AShr,
                (_, false) => BinOp::LShr,
            };
            let by = self.program.exprs.int(a.width, by);
            return Ok(Value { e: self.program.exprs.binary(op, a.e, by), ..a });
        }
        let (a, b) = self.usual(a, b);
        let exprs = &mut self.program.exprs;
        let compared = match (operator, a.signed) {
            ("==", _) => Some(exprs.eq(a.e, b.e)),
            ("!=", _) => Some(exprs.ne(a.e, b.e)),
            ("<", true) => Some(exprs.slt(a.e, b.e)),
            ("<", false) => Some(exprs.ult(a.e, b.e)),
            ("<=", true) => Some(exprs.sle(a.e, b.e)),
            ("<=", false) => Some(exprs.ule(a.e, b.e)),
            (">", true) => Some(exprs.slt(b.e, a.e)),
            (">", false) => Some(exprs.ult(b.e, a.e)),
            (">=", true) => Some(exprs.sle(b.e, a.e)),
            (">=", false) => Some(exprs.ule(b.e, a.e)),
            _ => None,
        };
        if let Some(e) = compared {
            return Ok(self.integer(e));
        }
        let op = match (operator, a.signed) {
            ("+", _) => BinOp::Add,
            ("-", _) => BinOp::Sub,
            ("*", _) => BinOp::Mul,
            ("&", _) => BinOp::And,
            ("|", _) => BinOp::Or,
            ("^", _) => BinOp::Xor,
            ("/", true) => BinOp::SDiv,
            ("/", false) => BinOp::UDiv,
            ("%", true) => BinOp::SRem,
            _ => BinOp::URem,
        };
        let divides = matches!(op, BinOp::SDiv | BinOp::UDiv | BinOp::SRem | BinOp::URem);
        if divides && exprs.as_const(b.e).is_none_or(|c| c.is_zero() || a.signed && c.is_ones()) {
            return Err("only divisions by constants are understood".into());
        }
        Ok(Value { e: exprs.binary(op, a.e, b.e), ..a })
    }

    fn unary(&mut self) -> Result<Value, String> {
        self.inside(Self::unary_inside)
    }

    fn unary_inside(&mut self) -> Result<Value, String> {
        if self.take("!") {
            let value = self.unary()?;
            let truth = self.truth(value);
            let not = self.program.exprs.not(truth);
            return Ok(self.integer(not));
        }
        if let Some(operator) = ["-", "+", "~"].into_iter().find(|op| self.take(op)) {
            let value = self.unary()?;
            let value = self.promoted(value);
            let e = match operator {
                "-" => self.program.exprs.neg(value.e),
                "~" => self.program.exprs.unary(UnOp::Not, value.e),
                _ => value.e,
            };
            return Ok(Value { e, ..value });
        }
        if self.take("(") {
            if let Some((width, signed)) = self.type_name()? {
                let value = self.unary()?;
                return Ok(self.converted(value, width, signed));
            }
            let value = self.conditional()?;
            return if self.take(")") { Ok(value) } else { Err("')' is missing".into()) };
        }
        let token = *self.tokens.get(self.at).ok_or("the condition ends too soon")?;
        self.at += 1;
        match token.starts_with(|c: char| c.is_ascii_digit()) {
            true => self.literal(token),
            false => self.variable(token),
        }
    }

    /// Parses the type of a cast, if there is one.
    fn type_name(&mut self) -> Result<Option<(u32, bool)>, String> {
        const WORDS: [&str; 8] = ["unsigned", "signed", "char", "short", "int", "long", "_Bool", "const"];
        let start = self.at;
        let mut words = Vec::new();
        while let Some(word) = self.tokens.get(self.at).filter(|t| WORDS.contains(t)) {
            words.push(*word);
            self.at += 1;
        }
        if words.is_empty() {
            self.at = start;
            return Ok(None);
        }
        if !self.take(")") {
            return Err("this type is not understood".into());
        }
        let longs = words.iter().filter(|w| **w == "long").count();
        let width = match longs {
            _ if words.contains(&"_Bool") => return Err("conversions to _Bool are not understood".into()),
            _ if words.contains(&"char") => 8,
            _ if words.contains(&"short") => 16,
            0 => 32,
            1 => self.program.layout.pointer_width,
            _ => 64,
        };
        Ok(Some((width, !words.contains(&"unsigned"))))
    }

    fn literal(&mut self, token: &str) -> Result<Value, String> {
        let digits = token.trim_end_matches(['u', 'U', 'l', 'L']);
        let suffix = token[digits.len()..].to_ascii_lowercase();
        let (digits, radix) = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
            Some(hex) => (hex, 16),
            None if digits.len() > 1 && digits.starts_with('0') => (&digits[1..], 8),
            None => (digits, 10),
        };
        let value = u64::from_str_radix(digits, radix).ok().ok_or_else(|| format!("'{token}' is no integer"))?;
        let long = if suffix.contains("ll") { 64 } else { self.program.layout.pointer_width };
        let least = if suffix.contains('l') { long } else { 32 };
        let unsigned = suffix.contains('u');
        let bits = 64 - value.leading_zeros();
        // The first type that can represent the value. Hexadecimal literals may be unsigned.
        let fits = |width: u32, signed: bool| bits <= width - u32::from(signed);
        let types = [least, 64].into_iter().flat_map(|width| [(width, true), (width, false)]);
        let mut types = types.filter(|&(_, signed)| if unsigned { !signed } else { signed || radix != 10 });
        let (width, signed) =
            types.find(|&(w, s)| fits(w, s)).ok_or_else(|| format!("'{token}' has no type of integers"))?;
        let e = self.program.exprs.constant(Bv::new(width, value));
        Ok(Value { e, width, signed })
    }

    fn variable(&mut self, name: &str) -> Result<Value, String> {
        let program = &*self.program;
        let of = |func: Option<FuncId>| -> Vec<VarId> {
            let named = |v: &cfa::Var| v.func() == func && v.name.as_deref() == Some(name);
            program.vars.iter().filter(|(_, v)| named(v)).map(|(id, _)| id).collect()
        };
        let locals = self.func.map(|func| of(Some(func))).unwrap_or_default();
        let found = if locals.is_empty() { of(None) } else { locals };
        let [var] = found[..] else {
            return Err(match found.is_empty() {
                true => format!("there is no variable '{name}' (or it is in memory)"),
                false => format!("there are several variables '{name}'"),
            });
        };
        let width = program.vars[var].width;
        let signed = match *program.plain_type(program.vars[var].ty) {
            CType::Int { width: w, signed, .. } | CType::Enum { width: w, signed, .. } if w == width => signed,
            CType::Bool | CType::Pointer(_) => false,
            _ => return Err(format!("'{name}' is no integer")),
        };
        Ok(Value { e: self.program.var_expr(var), width, signed })
    }

    fn converted(&mut self, value: Value, width: u32, signed: bool) -> Value {
        let exprs = &mut self.program.exprs;
        let e = match width.cmp(&value.width) {
            std::cmp::Ordering::Equal => value.e,
            std::cmp::Ordering::Less => exprs.extract(width - 1, 0, value.e),
            std::cmp::Ordering::Greater if value.signed => exprs.sext(width, value.e),
            std::cmp::Ordering::Greater => exprs.zext(width, value.e),
        };
        Value { e, width, signed }
    }

    fn promoted(&mut self, value: Value) -> Value {
        if value.width < 32 { self.converted(value, 32, true) } else { value }
    }

    /// The usual arithmetic conversions.
    fn usual(&mut self, a: Value, b: Value) -> (Value, Value) {
        let (a, b) = (self.promoted(a), self.promoted(b));
        let width = a.width.max(b.width);
        let signed = [a, b].iter().filter(|v| v.width == width).all(|v| v.signed);
        (self.converted(a, width, signed), self.converted(b, width, signed))
    }

    fn truth(&mut self, value: Value) -> ExprId {
        if value.width == 1 {
            return value.e;
        }
        let zero = self.program.exprs.int(value.width, 0);
        self.program.exprs.ne(value.e, zero)
    }

    /// A truth value as an `int`.
    fn integer(&mut self, truth: ExprId) -> Value {
        Value { e: self.program.exprs.zext(32, truth), width: 32, signed: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::{DataLayout, VarKind};

    #[test]
    fn conditions_mean_what_c_means() {
        let mut program = Program::new(DataLayout { pointer_width: 64 });
        let func = Some(program.entry);
        let mut variable = |name: &str, width: u32, signed: bool| {
            let ty = program.types.push(CType::Int { name: name.into(), width, signed });
            program.vars.push(cfa::Var {
                name: Some(name.into()),
                ty,
                width,
                kind: VarKind::Local(program.entry),
                place: None,
            });
        };
        variable("x", 32, true);
        variable("u", 32, false);
        variable("c", 8, true);
        let mut same = |a: &str, b: &str| {
            let e = parse(a, func, &mut program).unwrap();
            assert_eq!(
                cfa::text::expression(&program, &program.exprs, e)
                    .replace(".v0", "")
                    .replace(".v1", "")
                    .replace(".v2", ""),
                b,
                "{a}"
            );
        };
        same("x == 0", "(x == 0:32)");
        same("x > -1", "(-1:32 <s x)");
        // Mixed signed and unsigned operands.
        same("u < 2 + 1", "(u <u 3:32)");
        same("!(x != 7) || 0", "(x == 7:32)");
        for wrong in ["x = 1", "y == 1", "f(x)", "x ==", "x / u == 1", "(x"] {
            assert!(parse(wrong, func, &mut program).is_err(), "{wrong}");
        }
        let constant = |text: &str, program: &mut Program| {
            let e = parse(text, func, program).unwrap();
            program.exprs.as_const(e).map(Bv::is_true)
        };
        assert_eq!(constant("-1 < 1U", &mut program), Some(false));
        assert_eq!(constant("-1 < 1LL && 0x80000000 > 0", &mut program), Some(true));
        assert_eq!(constant("(unsigned char)257 == 1 && 7 % 4 == 3 && 1 << 3 == 010", &mut program), Some(true));
        assert_eq!(constant("(1 ? 2 : 3) - 2 ? 1 : 0", &mut program), Some(false));
    }
}
