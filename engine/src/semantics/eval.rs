//! Evaluation of expressions in a state.

use super::Execution;
use super::addresses::range;
use super::state::State;
use super::terms::Terms;
use super::value::{ObjId, Val, binary_int, mask, sign_extend, unary_int};
use cfa::interp::function_address;
use cfa::{BinOp, Expr, ExprId, Id, Sort, VarId};

impl Execution<'_> {
    /// The value of a variable.
    #[inline]
    pub fn read_var(&self, st: &State, var: VarId) -> Val {
        let slot = self.slots.of_var[var.index()];
        match slot.global() {
            Some(i) => st.globals[i],
            None => st.frame.vars[slot.local()],
        }
    }
    /// Sets a variable.
    #[inline]
    pub fn write_var(&self, st: &mut State, var: VarId, value: Val) {
        let slot = self.slots.of_var[var.index()];
        match slot.global() {
            Some(i) => std::rc::Rc::make_mut(&mut st.globals)[i] = value,
            None => std::rc::Rc::make_mut(&mut st.frame).vars[slot.local()] = value,
        }
    }

    /// Evaluates an expression of the program, or a predicate of the refinement, which may contain arrays. The
    /// recursion is bounded: the front end bounds the depth of the program's expressions, the refinement the size of
    /// its predicates.
    pub fn eval(&mut self, st: &State, e: ExprId) -> Val {
        match *self.terms.get(e) {
            Expr::Const(ref c) => match c.to_u64() {
                Some(v) if c.width() <= 64 => Val::Int(v),
                _ => Val::Expr(e),
            },
            Expr::Var(v) => match self.read_var(st, v) {
                // A slice skips the assignment, and an abstract state may forget the value.
                Val::Unset if self.mode.is_abstract => Val::Unknown,
                Val::Unset => {
                    // The front end writes variables before reads. If it cannot prove that, any value is possible.
                    let width = self.terms.width(e);
                    let (_, fresh) = self.terms.fresh_symbol(Sort::Bv(width));
                    self.unset.push(v);
                    Val::Expr(fresh)
                }
                value => value,
            },
            Expr::Sym(_) => self.terms.classify(e),
            Expr::GlobalAddr(g) => Val::Ptr(ObjId(g.0), 0),
            Expr::FuncAddr(f) => Val::Int(function_address(f)),
            Expr::Binary(op, a, b) => {
                let width = self.terms.width(a);
                let x = self.eval(st, a);
                let y = self.eval(st, b);
                self.binary(st, op, width, x, y, b)
            }
            Expr::Unary(op, a) => {
                let width = self.terms.width(a);
                let a = self.eval(st, a);
                self.unary(a, width, |x| Some(unary_int(op, width, x)), |terms, a| terms.unary(op, a))
            }
            Expr::Ite(c, t, f) => choice(self, st, c, t, f),
            Expr::Extract { hi, lo, arg } => {
                let width = self.terms.width(arg);
                let part = |x| mask(hi - lo + 1, x >> lo);
                match self.eval(st, arg) {
                    // The alignment of the object determines the low bits of its address.
                    Val::Ptr(object, offset) if is_aligned(st, object, hi + 1) => Val::Int(part(offset)),
                    x => self.unary(x, width, |x| Some(part(x)), |terms, x| terms.extract(hi, lo, x)),
                }
            }
            Expr::Zext { width, arg } => {
                let (narrow, arg) = (self.terms.width(arg), self.eval(st, arg));
                self.unary(arg, narrow, |x| (width <= 64).then_some(x), |terms, x| terms.zext(width, x))
            }
            Expr::Sext { width, arg } => {
                let (narrow, arg) = (self.terms.width(arg), self.eval(st, arg));
                let extended = |x| (width <= 64).then(|| mask(width, sign_extend(narrow, x) as u64));
                self.unary(arg, narrow, extended, |terms, x| terms.sext(width, x))
            }
            _ => on_terms(self, st, e),
        }
    }

    /// Applies a unary operation to a value of `width` bits: on a machine word if possible, else on a term.
    #[inline]
    fn unary(
        &mut self,
        value: Val,
        width: u32,
        on_word: impl FnOnce(u64) -> Option<u64>,
        on_term: impl FnOnce(&mut Terms, ExprId) -> ExprId,
    ) -> Val {
        match value {
            Val::Int(word) if let Some(result) = on_word(word) => Val::Int(result),
            Val::Unknown => Val::Unknown,
            value => {
                let term = self.terms.term(value, width);
                let e = on_term(&mut self.terms, term);
                self.terms.classify(e)
            }
        }
    }

    /// Applies `op` to two values. `width` is the width of the first operand. `second` is the program's expression of
    /// the second operand.
    fn binary(&mut self, st: &State, op: BinOp, width: u32, x: Val, y: Val, second: ExprId) -> Val {
        match (x, y) {
            (Val::Unknown, Val::Int(0)) | (Val::Int(0), Val::Unknown) if matches!(op, BinOp::And | BinOp::Mul) => {
                return Val::Int(0);
            }
            (Val::Unknown, Val::Int(v)) | (Val::Int(v), Val::Unknown)
                if op == BinOp::Or && v == mask(width, u64::MAX) =>
            {
                return Val::Int(v);
            }
            (Val::Unknown, _) | (_, Val::Unknown) => return Val::Unknown,
            (Val::Int(a), Val::Int(b)) if op != BinOp::Concat => {
                if let Some(v) = binary_int(op, width, a, b) {
                    return Val::Int(v);
                }
            }
            (Val::Int(a), Val::Int(b)) => {
                let low = self.terms.width(second);
                if width + low <= 64 {
                    return Val::Int(a << low | b);
                }
            }
            (Val::Ptr(o, k), Val::Int(i)) => match op {
                BinOp::Add => return Val::Ptr(o, mask(width, k.wrapping_add(i))),
                BinOp::Sub => return Val::Ptr(o, mask(width, k.wrapping_sub(i))),
                BinOp::Eq if self.is_outside(i) && is_within(st, o, k) => return Val::Int(0),
                _ => {}
            },
            (Val::Int(i), Val::Ptr(o, k)) => match op {
                BinOp::Add => return Val::Ptr(o, mask(width, k.wrapping_add(i))),
                BinOp::Eq if self.is_outside(i) && is_within(st, o, k) => return Val::Int(0),
                BinOp::Ult if i < 0x1000 && is_within(st, o, k) => return Val::Int(1),
                _ => {}
            },
            (Val::Ptr(o, a), Val::Ptr(p, b)) if o == p => match op {
                BinOp::Sub => return Val::Int(mask(width, a.wrapping_sub(b))),
                BinOp::Eq => return Val::Int(u64::from(a == b)),
                BinOp::Ult | BinOp::Ule | BinOp::Slt | BinOp::Sle
                    if is_within(st, o, a)
                        && is_within(st, o, b)
                        && (width == 64 || matches!(op, BinOp::Ult | BinOp::Ule)) =>
                {
                    // An object does not wrap around the address space. With 64 bits, it does not cross its middle
                    // either.
                    let strict = matches!(op, BinOp::Ult | BinOp::Slt);
                    return Val::Int(u64::from(if strict { a < b } else { a <= b }));
                }
                _ => {}
            },
            // Live objects are disjoint, but one may begin at the end of another.
            (Val::Ptr(o, a), Val::Ptr(p, b))
                if op == BinOp::Eq && is_inside(st, o, a) && is_inside(st, p, b) && self.are_disjoint(st, o, p) =>
            {
                return Val::Int(0);
            }
            // An object that lives longer than a dead one never shared its memory.
            (Val::Ptr(dead, 0), Val::Ptr(o, k)) | (Val::Ptr(o, k), Val::Ptr(dead, 0))
                if op == BinOp::Eq && is_inside(st, o, k) && self.outlives(st, o, dead) =>
            {
                return Val::Int(0);
            }
            _ => {}
        }
        let second_width = if op == BinOp::Concat { self.terms.width(second) } else { width };
        let (x, y) = (self.terms.term(x, width), self.terms.term(y, second_width));
        let e = self.terms.binary(op, x, y);
        self.terms.classify(e)
    }
}

impl Execution<'_> {
    /// True if no object can lie at an address. That holds for null, and for null minus the offset of a member.
    fn is_outside(&self, address: u64) -> bool {
        let (lowest, highest) = range(self.program.layout.pointer_width);
        address < lowest || address > highest
    }
}

/// True if the object is live and `offset` is less than its size.
fn is_inside(st: &State, object: ObjId, offset: u64) -> bool {
    matches!(st.memory.get(object), Some(o) if matches!(o.size, Val::Int(size) if offset < size))
}

/// True if the object is live and `offset` is at most its size.
fn is_within(st: &State, object: ObjId, offset: u64) -> bool {
    matches!(st.memory.get(object), Some(o) if matches!(o.size, Val::Int(size) if offset <= size))
}

/// True if the alignment of the object implies that the low `bits` bits of its address are zero.
fn is_aligned(st: &State, object: ObjId, bits: u32) -> bool {
    bits < 32 && st.memory.get(object).is_some_and(|o| o.align >= 1 << bits)
}

/// Evaluates an if-then-else expression.
fn choice(ex: &mut Execution, st: &State, c: ExprId, t: ExprId, f: ExprId) -> Val {
    let c = match ex.eval(st, c) {
        Val::Int(0) => return ex.eval(st, f),
        Val::Int(_) => return ex.eval(st, t),
        c => c,
    };
    let sort = ex.terms.sort(t);
    let (t, f) = (ex.eval(st, t), ex.eval(st, f));
    if t == f {
        return t;
    }
    if [c, t, f].contains(&Val::Unknown) {
        return Val::Unknown;
    }
    let (c, t, f) = (ex.terms.term(c, 1), ex.terms.term_of(t, sort), ex.terms.term_of(f, sort));
    let e = ex.terms.ite(c, t, f);
    ex.terms.classify(e)
}

/// Evaluates an operation that only terms support.
fn on_terms(ex: &mut Execution, st: &State, e: ExprId) -> Val {
    let node = ex.terms.get(e).clone();
    let mut children = [ExprId(0); 3];
    let mut n = 0;
    for child in node.children() {
        let sort = ex.terms.sort(child);
        let value = ex.eval(st, child);
        if value == Val::Unknown {
            return Val::Unknown;
        }
        children[n] = ex.terms.term_of(value, sort);
        n += 1;
    }
    let e = ex.terms.rebuild(&node, &children[..n]);
    ex.terms.classify(e)
}
