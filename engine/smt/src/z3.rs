//! The Z3 back end. It is the fallback if Bitwuzla gives up, and confirms answers of Bitwuzla.

use super::path::zero;
use super::translate::{Fun, Rounding, SmtSort, Terms, Translator};
use super::{Answer, Cores, Models, Reason, Solver};
use crate::budget::Budget;
use cfa::{ArrayValue, BinOp, Bv, ExprId, ExprPool, FloatFormat, Sort, Value};
use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::rc::Rc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use z3_sys::*;

/// A Z3 context with one solver. `reset` and drop free the terms together with it.
pub struct Z3 {
    solver: Z3_solver,
    translator: Translator<Z3Terms>,
    /// The assertions in each open scope, outermost first.
    scopes: Vec<Scope>,
    active_axioms: FxHashSet<u32>,
    assumptions: Vec<(ExprId, Z3_ast)>,
    model: Option<Z3_model>,
    starts: u32,
}

/// The number of fresh starts after which the context and its terms are replaced.
const STARTS: u32 = 100;

/// The assertions of a scope.
#[derive(Default)]
struct Scope {
    axioms: Vec<u32>,
    /// The assertions, including axioms.
    terms: Vec<Z3_ast>,
}

impl Z3 {
    /// A context without assertions.
    pub fn new() -> Self {
        let terms = Z3Terms::new();
        Self {
            solver: make_solver(terms.context),
            translator: Translator::new(terms),
            scopes: vec![Scope::default()],
            active_axioms: FxHashSet::default(),
            assumptions: Vec::new(),
            model: None,
            starts: 0,
        }
    }

    fn context(&self) -> Z3_context {
        self.translator.terms.context
    }

    /// Translates the formula `e` and asserts the axioms that it needs.
    fn formula(&mut self, pool: &ExprPool, e: ExprId) -> Z3_ast {
        let term = self.translator.formula(pool, e);
        for &axiom in self.translator.axioms_below(pool, e).iter() {
            if self.active_axioms.insert(axiom) {
                self.scopes.last_mut().expect("never empty").axioms.push(axiom);
                let axiom = self.translator.axiom(axiom);
                self.assert_term(axiom);
            }
        }
        term
    }

    fn assert_term(&mut self, term: Z3_ast) {
        self.scopes.last_mut().expect("never empty").terms.push(term);
        unsafe { Z3_solver_assert(self.context(), self.solver, term) };
    }

    /// Replaces the solver by a new one with the same assertions. An interrupted solver may crash at the next query.
    fn renew(&mut self) {
        let context = self.context();
        unsafe { Z3_solver_dec_ref(context, self.solver) };
        self.solver = make_solver(context);
        for (depth, scope) in self.scopes.iter().enumerate() {
            if depth > 0 {
                unsafe { Z3_solver_push(context, self.solver) };
            }
            for &term in &scope.terms {
                unsafe { Z3_solver_assert(context, self.solver, term) };
            }
        }
    }

    /// Discards all assertions and scopes. Terms are kept, unless there are many.
    pub(super) fn start_anew(&mut self) {
        self.starts += 1;
        if self.starts > STARTS {
            return *self = Self::new();
        }
        self.forget_model();
        self.scopes = vec![Scope::default()];
        self.active_axioms.clear();
        self.assumptions.clear();
        self.renew();
    }

    fn forget_model(&mut self) {
        if let Some(model) = self.model.take() {
            unsafe { Z3_model_dec_ref(self.context(), model) };
        }
    }
}

pub(super) fn make_solver(context: Z3_context) -> Z3_solver {
    unsafe {
        let solver = Z3_mk_solver(context).expect("a solver");
        Z3_solver_inc_ref(context, solver);
        // By default, Z3 catches Ctrl-C while it works: it would end the query without a reason.
        let params = Z3_mk_params(context).expect("parameters");
        Z3_params_inc_ref(context, params);
        let name = Z3_mk_string_symbol(context, c"ctrl_c".as_ptr()).expect("a symbol");
        Z3_params_set_bool(context, params, name, false);
        Z3_solver_set_params(context, solver, params);
        debug_assert_eq!(Z3_get_error_code(context), ErrorCode::Ok);
        Z3_params_dec_ref(context, params);
        solver
    }
}

impl Default for Z3 {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Z3 {
    fn drop(&mut self) {
        self.forget_model();
        unsafe { Z3_solver_dec_ref(self.context(), self.solver) };
    }
}

impl Solver for Z3 {
    fn name(&self) -> &'static str {
        "Z3"
    }

    fn push(&mut self) {
        self.scopes.push(Scope::default());
        unsafe { Z3_solver_push(self.context(), self.solver) };
    }

    fn pop(&mut self, n: u32) {
        assert!((n as usize) < self.scopes.len(), "more pops than pushes");
        for _ in 0..n {
            for axiom in self.scopes.pop().expect("never empty").axioms {
                self.active_axioms.remove(&axiom);
            }
        }
        unsafe { Z3_solver_pop(self.context(), self.solver, n) };
    }

    fn assert(&mut self, pool: &ExprPool, e: ExprId) {
        let term = self.formula(pool, e);
        self.assert_term(term);
    }

    fn check(&mut self, pool: &ExprPool, assumptions: &[ExprId], budget: &Budget) -> Answer {
        if let Some(spent) = budget.spent() {
            return Answer::Unknown(spent.into());
        }
        self.forget_model();
        self.assumptions.clear();
        for &e in assumptions {
            let term = self.formula(pool, e);
            self.assumptions.push((e, term));
        }
        let terms: Vec<_> = self.assumptions.iter().map(|a| a.1).collect();
        let (context, solver) = (self.context(), self.solver);
        let result = interruptible(context, budget, || unsafe {
            match terms.len() {
                0 => Z3_solver_check(context, solver),
                n => Z3_solver_check_assumptions(context, solver, n as u32, terms.as_ptr()),
            }
        });
        match result {
            Z3_L_TRUE => unsafe {
                self.model = Z3_solver_get_model(context, solver);
                if let Some(model) = self.model {
                    Z3_model_inc_ref(context, model);
                }
                Answer::Sat
            },
            Z3_L_FALSE => Answer::Unsat,
            _ => Answer::Unknown(match budget.spent() {
                Some(spent) => {
                    self.renew();
                    spent.into()
                }
                None => unsafe {
                    let why = CStr::from_ptr(Z3_solver_get_reason_unknown(context, solver));
                    Reason::Incomplete(format!("Z3: {}", why.to_string_lossy()))
                },
            }),
        }
    }

    fn reset(&mut self) {
        *self = Self::new();
    }
}

impl Models for Z3 {
    fn leaf_value(&mut self, pool: &ExprPool, leaf: ExprId) -> Value {
        let sort = pool.sort(leaf);
        let (Some(term), Some(model)) = (self.translator.leaf(leaf), self.model) else { return zero(sort) };
        let context = self.context();
        let mut value = term;
        unsafe {
            if !Z3_model_eval(context, model, term, true, &mut value) {
                return zero(sort);
            }
            Z3_inc_ref(context, value);
            let read = read_value(context, value, sort);
            Z3_dec_ref(context, value);
            read
        }
    }
}

impl Cores for Z3 {
    fn unsat_core(&mut self) -> Vec<ExprId> {
        let failed = unsafe { read_core(self.context(), self.solver) };
        self.assumptions.iter().filter(|(_, term)| failed.contains(term)).map(|(e, _)| *e).collect()
    }
}

/// The assumptions that contradict the assertions.
///
/// # Safety
/// The solver must belong to the context.
pub(super) unsafe fn read_core(context: Z3_context, solver: Z3_solver) -> FxHashSet<Z3_ast> {
    let mut failed = FxHashSet::default();
    unsafe {
        let Some(core) = Z3_solver_get_unsat_core(context, solver) else { return failed };
        Z3_ast_vector_inc_ref(context, core);
        for i in 0..Z3_ast_vector_size(context, core) {
            failed.extend(Z3_ast_vector_get(context, core, i));
        }
        Z3_ast_vector_dec_ref(context, core);
    }
    failed
}

/// A context that another thread may pass to `Z3_interrupt`, the only function that permits this.
struct Interruptible(Z3_context);
unsafe impl Sync for Interruptible {}

/// Runs `work` in `context`, and interrupts it when the budget is spent.
pub(super) fn interruptible<R>(context: Z3_context, budget: &Budget, work: impl FnOnce() -> R) -> R {
    let shared = Interruptible(context);
    let shared = &shared;
    let (done, wait) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // `Z3_interrupt` has no effect while no work is running, so a late call is harmless. A call may come before
            // the work begins, so it is repeated.
            while wait.recv_timeout(Duration::from_millis(10)) == Err(RecvTimeoutError::Timeout) {
                if budget.spent().is_some() {
                    unsafe { Z3_interrupt(shared.0) };
                }
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// Reads the value term of a leaf. Any array value other than a chain of stores over a constant array is read as zeros.
/// The evaluator then rejects the model.
///
/// # Safety
/// `term` must be a live value term of the sort `sort`.
unsafe fn read_value(context: Z3_context, term: Z3_ast, sort: Sort) -> Value {
    let Sort::Array { index, elem } = sort else {
        return Value::Bv(unsafe { read_bits(context, term, sort.width()) });
    };
    let mut entries = BTreeMap::new();
    let mut default = Bv::zero(elem);
    let mut next = Some(term);
    while let Some(term) = next.take() {
        unsafe {
            let Some(app) = Z3_to_app(context, term) else { break };
            let Some(decl) = Z3_get_app_decl(context, app) else { break };
            let arg = |i| Z3_get_app_arg(context, app, i).expect("an argument");
            match Z3_get_decl_kind(context, decl) {
                DeclKind::Store => {
                    let at = read_bits(context, arg(1), index).to_u128().expect("array indices have at most 128 bits");
                    // The outermost store of an index is the latest one, so it takes precedence.
                    entries.entry(at).or_insert_with(|| read_bits(context, arg(2), elem));
                    next = Some(arg(0));
                }
                DeclKind::ConstArray => default = read_bits(context, arg(0), elem),
                _ => {}
            }
        }
    }
    Value::Array(Rc::new(ArrayValue { default, entries }))
}

/// # Safety
/// `term` must be a live term of `width` bits.
unsafe fn read_bits(context: Z3_context, term: Z3_ast, width: u32) -> Bv {
    unsafe {
        if !Z3_is_numeral_ast(context, term) {
            return Bv::zero(width);
        }
        let text = CStr::from_ptr(Z3_get_numeral_string(context, term));
        Bv::from_big(width, BigUint::parse_bytes(text.to_bytes(), 10).unwrap_or_default())
    }
}

/// A context with its sorts and terms.
pub(super) struct Z3Terms {
    /// The context.
    pub context: Z3_context,
    sorts: FxHashMap<SmtSort, Z3_sort>,
    kept: RefCell<Vec<Z3_ast>>,
}

/// By default, Z3 ends the process on an error. Callers detect errors by the results of calls.
unsafe extern "C" fn ignore(_: Z3_context, _: Z3_error_code) {}

impl Z3Terms {
    /// A new context.
    pub fn new() -> Self {
        unsafe {
            let config = Z3_mk_config().expect("a configuration");
            let context = Z3_mk_context_rc(config).expect("a context");
            Z3_del_config(config);
            Z3_set_error_handler(context, Some(ignore));
            Self { context, sorts: FxHashMap::default(), kept: RefCell::default() }
        }
    }

    fn sort(&mut self, sort: SmtSort) -> Z3_sort {
        if let Some(&made) = self.sorts.get(&sort) {
            return made;
        }
        let c = self.context;
        let made = match sort {
            SmtSort::Bool => unsafe { Z3_mk_bool_sort(c) },
            SmtSort::Bits(width) => unsafe { Z3_mk_bv_sort(c, width) },
            SmtSort::Float(f) => unsafe { Z3_mk_fpa_sort(c, f.exponent_bits(), f.significand_bits()) },
            SmtSort::Array { index, elem } => {
                let (index, elem) = (self.sort(SmtSort::Bits(index)), self.sort(SmtSort::Bits(elem)));
                unsafe { Z3_mk_array_sort(c, index, elem) }
            }
        };
        let made = made.expect("a sort");
        unsafe { Z3_inc_ref(c, Z3_sort_to_ast(c, made).expect("a sort")) };
        self.sorts.insert(sort, made);
        made
    }

    fn float(&mut self, format: FloatFormat) -> Z3_sort {
        self.sort(SmtSort::Float(format))
    }

    /// Registers a term. It lives as long as the context.
    pub fn keep(&self, term: Option<Z3_ast>) -> Z3_ast {
        let term = term.expect("a well-sorted term");
        unsafe { Z3_inc_ref(self.context, term) };
        self.kept.borrow_mut().push(term);
        term
    }

    fn rounding(&self, mode: Rounding) -> Z3_ast {
        let c = self.context;
        self.keep(unsafe {
            match mode {
                Rounding::NearestEven => Z3_mk_fpa_rne(c),
                Rounding::NearestAway => Z3_mk_fpa_rna(c),
                Rounding::Down => Z3_mk_fpa_rtn(c),
                Rounding::Up => Z3_mk_fpa_rtp(c),
                Rounding::Zero => Z3_mk_fpa_rtz(c),
            }
        })
    }
}

impl Drop for Z3Terms {
    fn drop(&mut self) {
        // A context repeatedly searches all remaining terms for one to free. Deleting a large context took 20 s that
        // way.
        for &term in self.kept.get_mut().iter().rev() {
            unsafe { Z3_dec_ref(self.context, term) };
        }
        unsafe { Z3_del_context(self.context) };
    }
}

impl Terms for Z3Terms {
    type Term = Z3_ast;

    fn truth(&mut self, value: bool) -> Z3_ast {
        self.keep(unsafe { if value { Z3_mk_true(self.context) } else { Z3_mk_false(self.context) } })
    }

    fn bits(&mut self, value: &Bv) -> Z3_ast {
        let sort = self.sort(SmtSort::Bits(value.width()));
        let digits = CString::new(value.to_string()).expect("digits");
        self.keep(unsafe { Z3_mk_numeral(self.context, digits.as_ptr(), sort) })
    }

    fn constant(&mut self, name: &str, sort: SmtSort) -> Z3_ast {
        let sort = self.sort(sort);
        let name = CString::new(name).expect("names have no zero bytes");
        self.keep(unsafe {
            let symbol = Z3_mk_string_symbol(self.context, name.as_ptr()).expect("a symbol");
            Z3_mk_const(self.context, symbol, sort)
        })
    }

    fn const_array(&mut self, index: u32, _elem: u32, value: Z3_ast) -> Z3_ast {
        let index = self.sort(SmtSort::Bits(index));
        self.keep(unsafe { Z3_mk_const_array(self.context, index, value) })
    }

    fn apply(&mut self, fun: Fun, args: &[Z3_ast]) -> Z3_ast {
        let c = self.context;
        let a = args[0];
        // Unary operations ignore the second argument.
        let b = args.get(1).copied().unwrap_or(a);
        let term = unsafe {
            match fun {
                Fun::Not => Z3_mk_not(c, a),
                Fun::And => Z3_mk_and(c, 2, args.as_ptr()),
                Fun::Or => Z3_mk_or(c, 2, args.as_ptr()),
                Fun::Xor => Z3_mk_xor(c, a, b),
                Fun::Equal => Z3_mk_eq(c, a, b),
                Fun::Ite => Z3_mk_ite(c, a, b, args[2]),
                Fun::BvNot => Z3_mk_bvnot(c, a),
                Fun::BvNeg => Z3_mk_bvneg(c, a),
                Fun::Bv(op) => match op {
                    BinOp::Add => Z3_mk_bvadd(c, a, b),
                    BinOp::Sub => Z3_mk_bvsub(c, a, b),
                    BinOp::Mul => Z3_mk_bvmul(c, a, b),
                    BinOp::UDiv => Z3_mk_bvudiv(c, a, b),
                    BinOp::SDiv => Z3_mk_bvsdiv(c, a, b),
                    BinOp::URem => Z3_mk_bvurem(c, a, b),
                    BinOp::SRem => Z3_mk_bvsrem(c, a, b),
                    BinOp::Shl => Z3_mk_bvshl(c, a, b),
                    BinOp::LShr => Z3_mk_bvlshr(c, a, b),
                    BinOp::AShr => Z3_mk_bvashr(c, a, b),
                    BinOp::And => Z3_mk_bvand(c, a, b),
                    BinOp::Or => Z3_mk_bvor(c, a, b),
                    BinOp::Xor => Z3_mk_bvxor(c, a, b),
                    BinOp::Eq => Z3_mk_eq(c, a, b),
                    BinOp::Ult => Z3_mk_bvult(c, a, b),
                    BinOp::Ule => Z3_mk_bvule(c, a, b),
                    BinOp::Slt => Z3_mk_bvslt(c, a, b),
                    BinOp::Sle => Z3_mk_bvsle(c, a, b),
                    BinOp::Concat => Z3_mk_concat(c, a, b),
                },
                Fun::Extract { hi, lo } => Z3_mk_extract(c, hi, lo, a),
                Fun::ZeroExtend(n) => Z3_mk_zero_ext(c, n, a),
                Fun::SignExtend(n) => Z3_mk_sign_ext(c, n, a),
                Fun::Select => Z3_mk_select(c, a, b),
                Fun::Store => Z3_mk_store(c, a, b, args[2]),
                Fun::FpAbs => Z3_mk_fpa_abs(c, a),
                Fun::FpNeg => Z3_mk_fpa_neg(c, a),
                Fun::FpAdd(r) => Z3_mk_fpa_add(c, self.rounding(r), a, b),
                Fun::FpSub(r) => Z3_mk_fpa_sub(c, self.rounding(r), a, b),
                Fun::FpMul(r) => Z3_mk_fpa_mul(c, self.rounding(r), a, b),
                Fun::FpDiv(r) => Z3_mk_fpa_div(c, self.rounding(r), a, b),
                Fun::FpFma(r) => Z3_mk_fpa_fma(c, self.rounding(r), a, b, args[2]),
                Fun::FpSqrt(r) => Z3_mk_fpa_sqrt(c, self.rounding(r), a),
                Fun::FpRem => Z3_mk_fpa_rem(c, a, b),
                Fun::FpRoundToIntegral(r) => Z3_mk_fpa_round_to_integral(c, self.rounding(r), a),
                Fun::FpEq => Z3_mk_fpa_eq(c, a, b),
                Fun::FpLt => Z3_mk_fpa_lt(c, a, b),
                Fun::FpLe => Z3_mk_fpa_leq(c, a, b),
                Fun::FpIsNan => Z3_mk_fpa_is_nan(c, a),
                Fun::FpIsInf => Z3_mk_fpa_is_infinite(c, a),
                Fun::FpIsNegative => Z3_mk_fpa_is_negative(c, a),
                Fun::FpIsZero => Z3_mk_fpa_is_zero(c, a),
                Fun::FpFromBits(format) => Z3_mk_fpa_to_fp_bv(c, a, self.float(format)),
                Fun::FpFromFp(r, to) => Z3_mk_fpa_to_fp_float(c, self.rounding(r), a, self.float(to)),
                Fun::FpFromSigned(r, to) => Z3_mk_fpa_to_fp_signed(c, self.rounding(r), a, self.float(to)),
                Fun::FpFromUnsigned(r, to) => Z3_mk_fpa_to_fp_unsigned(c, self.rounding(r), a, self.float(to)),
                Fun::FpToSigned(r, width) => Z3_mk_fpa_to_sbv(c, self.rounding(r), a, width),
                Fun::FpToUnsigned(r, width) => Z3_mk_fpa_to_ubv(c, self.rounding(r), a, width),
            }
        };
        self.keep(term)
    }
}
