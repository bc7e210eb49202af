//! The parser of expressions.

use super::lexer::Token;
use super::{Error, Kind, Parser, Result_, id_in};
use crate::bv::Bv;
use crate::expr::{Expr, ExprId, Sort};
use crate::float::{FloatFormat, Rounding};
use crate::program::{FuncId, GlobalId, VarId};
use crate::text::{BINARY, FLOAT_BINARY, FLOAT_COMPARE, FLOAT_UNARY, UNARY, named};
use num_bigint::{BigInt, BigUint};

/// The maximal nesting depth of an expression. The printer's output is less deep.
const MAX_DEPTH: u32 = 200;
/// The maximal number of digits of a number.
const MAX_DIGITS: usize = 1 << 20;
const MAX_DECIMAL_DIGITS: usize = 1000;

impl Parser<'_> {
    /// Parses the definitions of named subexpressions, if any: `let e0 = …`.
    pub(super) fn lets(&mut self) -> Result_<()> {
        self.lets.clear();
        while self.accept_word("let")? {
            self.cursor.declared("e", self.lets.len())?;
            self.expect("=")?;
            let part = self.expr()?;
            self.lets.push(part);
            self.accept(";")?;
        }
        Ok(())
    }

    /// Parses an expression with the definitions of its named subexpressions.
    pub(super) fn single_expr(&mut self) -> Result_<ExprId> {
        self.lets()?;
        self.expr()
    }

    pub(super) fn expr(&mut self) -> Result_<ExprId> {
        if self.depth == MAX_DEPTH {
            return Err(self.error(format!("an expression nests deeper than {MAX_DEPTH}: name parts of it with 'let'")));
        }
        self.depth += 1;
        let e = self.prefixed();
        self.depth -= 1;
        e
    }

    fn prefixed(&mut self) -> Result_<ExprId> {
        let start = self.start;
        if let Token::Sign(sign) = self.token
            && let Some(op) = named(&UNARY, sign)
        {
            self.advance()?;
            if sign == "-" && self.at_digit() {
                let constant = self.constant(true, start)?;
                return self.bits_of(constant);
            }
            let arg = self.expr()?;
            return self.make(Expr::Unary(op, arg), start);
        }
        let e = self.primary()?;
        self.bits_of(e)
    }

    /// Parses the suffixes `[hi:lo]` of an expression.
    fn bits_of(&mut self, mut e: ExprId) -> Result_<ExprId> {
        while self.is("[") {
            let start = self.start;
            self.advance()?;
            let hi = self.number()?;
            self.expect(":")?;
            let lo = self.number()?;
            self.expect("]")?;
            e = self.make(Expr::Extract { hi, lo, arg: e }, start)?;
        }
        Ok(e)
    }

    fn primary(&mut self) -> Result_<ExprId> {
        let start = self.start;
        if self.accept("(")? {
            return self.parenthesized(start);
        }
        if self.accept("&")? {
            let pointer = Sort::Bv(self.p.layout.pointer_width);
            let Token::Word(word) = self.token else { return Err(self.expected("a global or a function")) };
            let node = if id_in(word, "g").is_some() {
                Expr::GlobalAddr(GlobalId(self.used(Kind::Global)?))
            } else {
                Expr::FuncAddr(FuncId(self.used(Kind::Func)?))
            };
            return Ok(self.p.exprs.intern(node, pointer));
        }
        if self.at_digit() {
            return self.constant(false, start);
        }
        let Token::Word(word) = self.token else { return Err(self.expected("an expression")) };
        if let Some(id) = id_in(word, "v") {
            let Some(var) = self.vars.items.get(&id) else {
                return Err(self.error(format!("v{id} is not declared")));
            };
            let width = var.width;
            self.advance()?;
            return Ok(self.p.exprs.var(VarId(id), width));
        }
        if let Some(id) = id_in(word, "e") {
            let Some(&part) = self.lets.get(id as usize) else {
                return Err(self.error(format!("e{id} is not defined before")));
            };
            self.advance()?;
            return Ok(part);
        }
        if let Some(width) = word.strip_prefix("mem.") {
            return self.content(width, start);
        }
        self.function_of_word(word, start)
    }

    /// `mem.width(global, offset)`.
    fn content(&mut self, width: &str, start: usize) -> Result_<ExprId> {
        let Ok(width) = width.parse() else { return Err(self.expected("an expression")) };
        self.advance()?;
        self.expect("(")?;
        let of = GlobalId(self.used(Kind::Global)?);
        self.expect(",")?;
        let offset = self.number()?;
        self.expect(")")?;
        self.make(Expr::Content { of, offset, width }, start)
    }

    /// After `(`.
    fn parenthesized(&mut self, start: usize) -> Result_<ExprId> {
        let first = self.expr()?;
        if self.accept("?")? {
            let then = self.expr()?;
            self.expect(":")?;
            let otherwise = self.expr()?;
            self.expect(")")?;
            return self.make(Expr::Ite(first, then, otherwise), start);
        }
        if let Token::Sign(sign) = self.token
            && let Some(op) = named(&BINARY, sign)
        {
            self.advance()?;
            let second = self.expr()?;
            self.expect(")")?;
            return self.make(Expr::Binary(op, first, second), start);
        }
        self.expect(")")?;
        Ok(first)
    }

    /// `name.parameter(arguments)`.
    fn function_of_word(&mut self, word: &str, start: usize) -> Result_<ExprId> {
        self.advance()?;
        let unknown = || Error { position: start, message: format!("unknown operation '{word}' in an expression") };
        let mut parts = word.split('.');
        let name = parts.next().unwrap_or_default();
        let first = parts.next().unwrap_or_default();
        let mut rest: Vec<&str> = parts.collect();
        // The name does not contain the mode to nearest.
        let rounding = rest.last().and_then(|last| Rounding::from_name(last)).filter(|r| *r != Rounding::Nearest);
        if rounding.is_some() {
            rest.pop();
        }
        let second = rest.first().copied().unwrap_or_default();
        if rest.len() > 1 {
            return Err(unknown());
        }
        let (format, second_format) = (FloatFormat::from_name(first), FloatFormat::from_name(second));
        let args = self.list("(", ")", Self::expr)?;
        let width = |digits: &str| -> Result_<u32> {
            let width = digits.parse().map_err(|_| unknown())?;
            self.checked_width(width, start)
        };
        let node = match (name, format, &args[..]) {
            ("zext", None, &[arg]) => Expr::Zext { width: width(first)?, arg },
            ("sext", None, &[arg]) => Expr::Sext { width: width(first)?, arg },
            ("fma", Some(format), &[a, b, c]) => Expr::Fma(rounding.unwrap_or_default(), format, a, b, c),
            ("fisnan", Some(format), &[a]) => Expr::FIsNan(format, a),
            ("stof" | "utof", Some(to), &[arg]) => {
                Expr::IntToF { rounding: rounding.unwrap_or_default(), to, signed: name == "stof", arg }
            }
            ("ftos" | "ftou", Some(from), &[arg]) => {
                Expr::FToInt { from, signed: name == "ftos", width: width(second)?, arg }
            }
            ("fconvert", Some(from), &[arg]) => match second_format {
                Some(to) => Expr::FConvert { rounding: rounding.unwrap_or_default(), from, to, arg },
                None => return Err(unknown()),
            },
            (_, Some(format), &[a]) if second.is_empty() => match named(&FLOAT_UNARY, name) {
                Some(op) => Expr::FUnary(op.with_rounding(rounding.unwrap_or_default()), format, a),
                None => return Err(unknown()),
            },
            (_, Some(format), &[a, b]) if second.is_empty() => {
                match (named(&FLOAT_BINARY, name), named(&FLOAT_COMPARE, name)) {
                    (Some(op), _) => Expr::FBinary(op.with_rounding(rounding.unwrap_or_default()), format, a, b),
                    (_, Some(op)) => Expr::FCompare(op, format, a, b),
                    _ => return Err(unknown()),
                }
            }
            _ => return Err(unknown()),
        };
        let takes_rounding = match node {
            Expr::FUnary(op, ..) => op.rounding().is_some(),
            Expr::FBinary(op, ..) => op.rounding().is_some(),
            Expr::Fma(..) | Expr::FConvert { .. } | Expr::IntToF { .. } => true,
            _ => false,
        };
        if rounding.is_some() && !takes_rounding {
            return Err(unknown());
        }
        self.make(node, start)
    }

    /// `value:width`, after the sign if it is negative.
    fn constant(&mut self, negative: bool, start: usize) -> Result_<ExprId> {
        let word = self.word("a number")?;
        let too_long = word.len() > MAX_DIGITS;
        let magnitude = match word.strip_prefix("0x") {
            _ if too_long => None,
            Some(digits) => BigUint::parse_bytes(digits.as_bytes(), 16),
            None if word.len() > MAX_DECIMAL_DIGITS => None,
            None => BigUint::parse_bytes(word.as_bytes(), 10),
        };
        let Some(magnitude) = magnitude else {
            let shown: String = word.chars().take(20).collect();
            return Err(Error { position: start, message: format!("'{shown}' is no number") });
        };
        self.expect(":")?;
        let width = self.width()?;
        let half = BigInt::from(1) << (width - 1);
        let fits =
            if negative { BigInt::from(magnitude.clone()) <= half } else { magnitude.bits() <= u64::from(width) };
        if !fits {
            return Err(Error { position: start, message: format!("the number does not fit into {width} bits") });
        }
        let value = Bv::from_big(width, magnitude);
        let value = if negative { value.neg() } else { value };
        Ok(self.p.exprs.constant(value))
    }

    fn make(&mut self, node: Expr, position: usize) -> Result_<ExprId> {
        let sort = match self.p.exprs.sort_of(&node) {
            Ok(Some(sort)) => sort,
            Ok(None) => unreachable!("operations have sorts"),
            Err(message) => return Err(Error { position, message }),
        };
        if let Sort::Bv(width) = sort {
            self.checked_width(width, position)?;
        }
        Ok(self.p.exprs.intern(node, sort))
    }
}
