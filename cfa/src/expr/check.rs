//! Sort checking of expressions.

use super::{Arena, BinOp, Expr, ExprId, Sort};

impl Arena {
    /// The sort of a node whose children are in this pool, or the sort error. `None` for leaves other than constants,
    /// because the node does not contain their sorts.
    pub fn sort_of(&self, node: &Expr) -> Result<Option<Sort>, String> {
        Ok(Some(match *node {
            Expr::Const(ref c) => Sort::Bv(c.width()),
            Expr::Var(_) | Expr::Sym(_) | Expr::GlobalAddr(_) | Expr::FuncAddr(_) => return Ok(None),
            Expr::Content { width, .. } => Sort::Bv(width),
            Expr::Unary(_, a) => Sort::Bv(self.bits(a)?),
            Expr::Binary(BinOp::Concat, a, b) => {
                let width = self.bits(a)?.checked_add(self.bits(b)?);
                Sort::Bv(width.ok_or("a concatenation of more than 2^32 bits")?)
            }
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.bits(a)?, self.bits(b)?);
                if a != b {
                    return Err(format!("{op:?} on {a} and {b} bits"));
                }
                Sort::Bv(if op.is_comparison() { 1 } else { a })
            }
            Expr::Ite(c, t, e) => {
                if self.sort(c) != Sort::Bv(1) {
                    return Err(format!("a condition of {}", name(self.sort(c))));
                }
                if self.sort(t) != self.sort(e) {
                    return Err(format!("a choice of {} and {}", name(self.sort(t)), name(self.sort(e))));
                }
                self.sort(t)
            }
            Expr::Extract { hi, lo, arg } => {
                let width = self.bits(arg)?;
                if lo > hi || hi >= width {
                    return Err(format!("bits {hi} to {lo} of {width} bits"));
                }
                Sort::Bv(hi - lo + 1)
            }
            Expr::Zext { width: wide, arg } | Expr::Sext { width: wide, arg } => {
                let narrow = self.bits(arg)?;
                if wide < narrow {
                    return Err(format!("an extension of {narrow} bits to {wide}"));
                }
                Sort::Bv(wide)
            }
            Expr::Select { .. } | Expr::Store { .. } | Expr::ConstArray { .. } | Expr::Lambda { .. } => {
                self.sort_of_array_operation(node)?
            }
            Expr::Index(width) => Sort::Bv(width),
            _ => self.sort_of_float_operation(node)?,
        }))
    }

    fn sort_of_float_operation(&self, node: &Expr) -> Result<Sort, String> {
        let float = |what: &str, format: crate::FloatFormat, e: ExprId| match self.sort(e) {
            Sort::Bv(w) if w == format.width() => Ok(()),
            sort => Err(format!("{what} of {} on {}", format.name(), name(sort))),
        };
        Ok(match *node {
            Expr::FUnary(op, format, a) => {
                float(&format!("{op:?}"), format, a)?;
                Sort::Bv(format.width())
            }
            Expr::FBinary(op, format, a, b) => {
                float(&format!("{op:?}"), format, a)?;
                float(&format!("{op:?}"), format, b)?;
                Sort::Bv(format.width())
            }
            Expr::Fma(_, format, a, b, c) => {
                [a, b, c].into_iter().try_for_each(|e| float("Fma", format, e))?;
                Sort::Bv(format.width())
            }
            Expr::FCompare(op, format, a, b) => {
                float(&format!("{op:?}"), format, a)?;
                float(&format!("{op:?}"), format, b)?;
                Sort::Bv(1)
            }
            Expr::FIsNan(format, a) => {
                float("IsNan", format, a)?;
                Sort::Bv(1)
            }
            Expr::FConvert { from, to, arg, .. } => {
                float("conversion", from, arg)?;
                Sort::Bv(to.width())
            }
            Expr::IntToF { to, arg, .. } => {
                if self.bits(arg)? > 128 {
                    return Err(format!("conversion of {} bits to {}", self.bits(arg)?, to.name()));
                }
                Sort::Bv(to.width())
            }
            Expr::FToInt { from, width, arg, .. } => {
                float("conversion", from, arg)?;
                if width == 0 || width > 128 {
                    return Err(format!("conversion of {} to {width} bits", from.name()));
                }
                Sort::Bv(width)
            }
            _ => unreachable!("{node:?} is no operation on floats"),
        })
    }

    fn sort_of_array_operation(&self, node: &Expr) -> Result<Sort, String> {
        Ok(match *node {
            Expr::Select { array, index } => {
                let (i, elem) = self.array(array)?;
                if self.bits(index)? != i {
                    return Err(format!("an index of {} bits where {i} are expected", self.bits(index)?));
                }
                Sort::Bv(elem)
            }
            Expr::Store { array, index, value } => {
                let (i, elem) = self.array(array)?;
                if (self.bits(index)?, self.bits(value)?) != (i, elem) {
                    return Err("a store of the wrong width".into());
                }
                self.sort(array)
            }
            Expr::ConstArray { index, value } => Sort::Array { index, elem: self.bits(value)? },
            Expr::Lambda { index, body } => Sort::Array { index, elem: self.bits(body)? },
            _ => unreachable!("{node:?} is no operation on arrays"),
        })
    }

    fn bits(&self, e: ExprId) -> Result<u32, String> {
        match self.sort(e) {
            Sort::Bv(width) => Ok(width),
            sort => Err(format!("{} where a bit-vector is expected", name(sort))),
        }
    }

    fn array(&self, e: ExprId) -> Result<(u32, u32), String> {
        match self.sort(e) {
            Sort::Array { index, elem } => Ok((index, elem)),
            Sort::Bv(width) => Err(format!("{width} bits where an array is expected")),
        }
    }
}

fn name(sort: Sort) -> String {
    match sort {
        Sort::Bv(width) => format!("{width} bits"),
        Sort::Array { index, elem } => format!("an array from {index} to {elem} bits"),
    }
}
