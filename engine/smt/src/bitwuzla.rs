//! The Bitwuzla back end: rewriting, bit-blasting and CaDiCaL, incremental. It is the first choice.

use super::path::zero;
use super::translate::{Fun, Rounding, SmtSort, Terms, Translator};
use super::{Answer, Cores, Models, Reason, Solver};
use crate::budget::Budget;
use bitwuzla_sys as sys;
use cfa::{ArrayValue, BinOp, Bv, ExprId, ExprPool, FloatFormat, Sort, Value};
use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_void};
use std::rc::Rc;

/// A Bitwuzla context. It owns a term manager; `reset` and drop free the terms together with it.
pub struct Bitwuzla {
    // Fields are dropped in this order.
    instance: Instance,
    translator: Translator<BitwuzlaTerms>,
    /// The axioms asserted in each open scope, outermost first.
    scopes: Vec<Vec<u32>>,
    active_axioms: FxHashSet<u32>,
    /// The assumptions of the last check, with their terms.
    assumptions: Vec<(ExprId, sys::BitwuzlaTerm)>,
    /// The budget that the termination callback reads.
    budget: Box<Budget>,
}

impl Bitwuzla {
    /// A context without assertions.
    pub fn new() -> Self {
        let terms = BitwuzlaTerms::new();
        let mut budget = Box::default();
        let instance = Instance::new(&terms, &mut budget);
        Self {
            instance,
            translator: Translator::new(terms),
            scopes: vec![Vec::new()],
            active_axioms: FxHashSet::default(),
            assumptions: Vec::new(),
            budget,
        }
    }

    /// Translates the formula `e` and asserts the axioms that it needs.
    fn formula(&mut self, pool: &ExprPool, e: ExprId) -> sys::BitwuzlaTerm {
        let term = self.translator.formula(pool, e);
        for &axiom in self.translator.axioms_below(pool, e).iter() {
            if self.active_axioms.insert(axiom) {
                self.scopes.last_mut().expect("never empty").push(axiom);
                unsafe { sys::bitwuzla_assert(self.instance.0, self.translator.axiom(axiom)) };
            }
        }
        term
    }
}

impl Default for Bitwuzla {
    fn default() -> Self {
        Self::new()
    }
}

impl Solver for Bitwuzla {
    fn name(&self) -> &'static str {
        "Bitwuzla"
    }

    fn push(&mut self) {
        self.scopes.push(Vec::new());
        unsafe { sys::bitwuzla_push(self.instance.0, 1) };
    }

    fn pop(&mut self, n: u32) {
        assert!((n as usize) < self.scopes.len(), "more pops than pushes");
        for _ in 0..n {
            for axiom in self.scopes.pop().expect("never empty") {
                self.active_axioms.remove(&axiom);
            }
        }
        unsafe { sys::bitwuzla_pop(self.instance.0, u64::from(n)) };
    }

    fn assert(&mut self, pool: &ExprPool, e: ExprId) {
        let term = self.formula(pool, e);
        unsafe { sys::bitwuzla_assert(self.instance.0, term) };
    }

    fn check(&mut self, pool: &ExprPool, assumptions: &[ExprId], budget: &Budget) -> Answer {
        if let Some(spent) = budget.spent() {
            return Answer::Unknown(spent.into());
        }
        self.assumptions.clear();
        for &e in assumptions {
            let term = self.formula(pool, e);
            self.assumptions.push((e, term));
        }
        let mut terms: Vec<_> = self.assumptions.iter().map(|a| a.1).collect();
        *self.budget = budget.clone();
        let result =
            unsafe { sys::bitwuzla_check_sat_assuming(self.instance.0, terms.len() as u32, terms.as_mut_ptr()) };
        match result {
            sys::BITWUZLA_SAT => Answer::Sat,
            sys::BITWUZLA_UNSAT => Answer::Unsat,
            _ => Answer::Unknown(match budget.spent() {
                Some(spent) => spent.into(),
                None => Reason::Incomplete("Bitwuzla".into()),
            }),
        }
    }

    fn reset(&mut self) {
        self.instance.delete();
        let terms = BitwuzlaTerms::new();
        self.instance = Instance::new(&terms, &mut self.budget);
        self.translator = Translator::new(terms);
        self.scopes = vec![Vec::new()];
        self.active_axioms.clear();
        self.assumptions.clear();
    }
}

impl Models for Bitwuzla {
    fn leaf_value(&mut self, pool: &ExprPool, leaf: ExprId) -> Value {
        let Some(term) = self.translator.leaf(leaf) else { return zero(pool.sort(leaf)) };
        unsafe {
            let value = sys::bitwuzla_get_value(self.instance.0, term);
            let read = read_value(value, pool.sort(leaf));
            sys::bitwuzla_term_release(value);
            read
        }
    }
}

impl Cores for Bitwuzla {
    fn unsat_core(&mut self) -> Vec<ExprId> {
        let instance = self.instance.0;
        let failed = |term| unsafe { sys::bitwuzla_is_unsat_assumption(instance, term) };
        self.assumptions.iter().filter(|(_, term)| failed(*term)).map(|(e, _)| *e).collect()
    }
}

/// The solver object of a term manager.
struct Instance(*mut sys::Bitwuzla);

impl Instance {
    fn new(terms: &BitwuzlaTerms, budget: &mut Box<Budget>) -> Self {
        unsafe {
            let options = sys::bitwuzla_options_new();
            sys::bitwuzla_set_option(options, sys::BITWUZLA_OPT_PRODUCE_MODELS, 1);
            sys::bitwuzla_set_option(options, sys::BITWUZLA_OPT_PRODUCE_UNSAT_ASSUMPTIONS, 1);
            let instance = sys::bitwuzla_new(terms.manager, options);
            sys::bitwuzla_options_delete(options);
            let state: *mut Budget = &mut **budget;
            sys::bitwuzla_set_termination_callback(instance, Some(should_stop), state.cast());
            Self(instance)
        }
    }
    /// Deletes the solver. Must be called before the term manager is deleted.
    fn delete(&mut self) {
        if !self.0.is_null() {
            unsafe { sys::bitwuzla_delete(self.0) };
            self.0 = std::ptr::null_mut();
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.delete();
    }
}

unsafe extern "C" fn should_stop(budget: *mut c_void) -> i32 {
    let budget: &Budget = unsafe { &*budget.cast() };
    i32::from(budget.spent().is_some())
}

/// Reads a value term. An array value is a chain of stores over a constant array.
///
/// # Safety
/// `term` must be a live value term of the sort `sort`.
unsafe fn read_value(term: sys::BitwuzlaTerm, sort: Sort) -> Value {
    let Sort::Array { index, elem } = sort else {
        return Value::Bv(unsafe { read_bits(term, sort.width()) });
    };
    // The outermost store of an index is the latest one, so it takes precedence.
    let mut entries = BTreeMap::new();
    let mut term = term;
    unsafe {
        while sys::bitwuzla_term_get_kind(term) == sys::BITWUZLA_KIND_ARRAY_STORE {
            let mut n = 0;
            let children = std::slice::from_raw_parts(sys::bitwuzla_term_get_children(term, &mut n), 3);
            let at = read_bits(children[1], index).to_u128().expect("array indices have at most 128 bits");
            let (array, value) = (children[0], children[2]);
            entries.entry(at).or_insert_with(|| read_bits(value, elem));
            term = array;
        }
        let default = if sys::bitwuzla_term_get_kind(term) == sys::BITWUZLA_KIND_CONST_ARRAY {
            let mut n = 0;
            read_bits(*sys::bitwuzla_term_get_children(term, &mut n), elem)
        } else {
            Bv::zero(elem)
        };
        Value::Array(Rc::new(ArrayValue { default, entries }))
    }
}

/// # Safety
/// `term` must be a live bit-vector value of `width` bits.
unsafe fn read_bits(term: sys::BitwuzlaTerm, width: u32) -> Bv {
    let text = unsafe { CStr::from_ptr(sys::bitwuzla_term_value_get_str_fmt(term, 2)) };
    if width <= 64 {
        let value = text.to_bytes().iter().fold(0, |v, b| v << 1 | u64::from(b & 1));
        Bv::new(width, value)
    } else {
        Bv::from_big(width, BigUint::parse_bytes(text.to_bytes(), 2).expect("binary digits"))
    }
}

/// A term manager and its sorts.
struct BitwuzlaTerms {
    manager: *mut sys::BitwuzlaTermManager,
    sorts: FxHashMap<SmtSort, sys::BitwuzlaSort>,
}

impl BitwuzlaTerms {
    fn new() -> Self {
        Self { manager: unsafe { sys::bitwuzla_term_manager_new() }, sorts: FxHashMap::default() }
    }

    fn sort(&mut self, sort: SmtSort) -> sys::BitwuzlaSort {
        if let Some(&made) = self.sorts.get(&sort) {
            return made;
        }
        let made = match sort {
            SmtSort::Bool => unsafe { sys::bitwuzla_mk_bool_sort(self.manager) },
            SmtSort::Bits(width) => unsafe { sys::bitwuzla_mk_bv_sort(self.manager, u64::from(width)) },
            SmtSort::Float(format) => {
                let [exponent, significand] = float_indices(format);
                unsafe { sys::bitwuzla_mk_fp_sort(self.manager, exponent, significand) }
            }
            SmtSort::Array { index, elem } => {
                let (index, elem) = (self.sort(SmtSort::Bits(index)), self.sort(SmtSort::Bits(elem)));
                unsafe { sys::bitwuzla_mk_array_sort(self.manager, index, elem) }
            }
        };
        self.sorts.insert(sort, made);
        made
    }
}

impl Drop for BitwuzlaTerms {
    fn drop(&mut self) {
        unsafe { sys::bitwuzla_term_manager_delete(self.manager) };
    }
}

impl Terms for BitwuzlaTerms {
    type Term = sys::BitwuzlaTerm;

    fn truth(&mut self, value: bool) -> Self::Term {
        unsafe { if value { sys::bitwuzla_mk_true(self.manager) } else { sys::bitwuzla_mk_false(self.manager) } }
    }

    fn bits(&mut self, value: &Bv) -> Self::Term {
        let sort = self.sort(SmtSort::Bits(value.width()));
        if value.width() <= 64 {
            let value = value.to_u64().expect("narrow");
            unsafe { sys::bitwuzla_mk_bv_value_uint64(self.manager, sort, value) }
        } else {
            let digits = CString::new(value.to_biguint().to_str_radix(16)).expect("digits");
            unsafe { sys::bitwuzla_mk_bv_value(self.manager, sort, digits.as_ptr(), 16) }
        }
    }

    fn constant(&mut self, name: &str, sort: SmtSort) -> Self::Term {
        let sort = self.sort(sort);
        let name = CString::new(name).expect("names have no zero bytes");
        unsafe { sys::bitwuzla_mk_const(self.manager, sort, name.as_ptr()) }
    }

    fn const_array(&mut self, index: u32, elem: u32, value: Self::Term) -> Self::Term {
        let sort = self.sort(SmtSort::Array { index, elem });
        unsafe { sys::bitwuzla_mk_const_array(self.manager, sort, value) }
    }

    fn apply(&mut self, fun: Fun, args: &[Self::Term]) -> Self::Term {
        let (kind, rounding, indices, n_indices) = kind(fun);
        let mut all = [0; 4];
        let mut n = 0;
        if let Some(rounding) = rounding {
            all[0] = unsafe { sys::bitwuzla_mk_rm_value(self.manager, rounding) };
            n = 1;
        }
        all[n..n + args.len()].copy_from_slice(args);
        n += args.len();
        let (manager, argc) = (self.manager, n as u32);
        if n_indices == 0 {
            unsafe { sys::bitwuzla_mk_term(manager, kind, argc, all.as_mut_ptr()) }
        } else {
            unsafe { sys::bitwuzla_mk_term_indexed(manager, kind, argc, all.as_mut_ptr(), n_indices, indices.as_ptr()) }
        }
    }
}

fn float_indices(format: FloatFormat) -> [u64; 2] {
    [format.exponent_bits().into(), format.significand_bits().into()]
}

/// The kind, rounding mode, indices and number of indices of a function symbol.
fn kind(fun: Fun) -> (sys::BitwuzlaKind, Option<sys::BitwuzlaRoundingMode>, [u64; 2], u32) {
    use sys::*;
    let plain = |kind| (kind, None, [0; 2], 0);
    let index1 = |kind, n: u32| (kind, None, [n.into(), 0], 1);
    let rounded = |kind, r| (kind, Some(rounding(r)), [0; 2], 0);
    match fun {
        Fun::Not => plain(BITWUZLA_KIND_NOT),
        Fun::And => plain(BITWUZLA_KIND_AND),
        Fun::Or => plain(BITWUZLA_KIND_OR),
        Fun::Xor => plain(BITWUZLA_KIND_XOR),
        Fun::Equal => plain(BITWUZLA_KIND_EQUAL),
        Fun::Ite => plain(BITWUZLA_KIND_ITE),
        Fun::BvNot => plain(BITWUZLA_KIND_BV_NOT),
        Fun::BvNeg => plain(BITWUZLA_KIND_BV_NEG),
        Fun::Bv(op) => plain(match op {
            BinOp::Add => BITWUZLA_KIND_BV_ADD,
            BinOp::Sub => BITWUZLA_KIND_BV_SUB,
            BinOp::Mul => BITWUZLA_KIND_BV_MUL,
            BinOp::UDiv => BITWUZLA_KIND_BV_UDIV,
            BinOp::SDiv => BITWUZLA_KIND_BV_SDIV,
            BinOp::URem => BITWUZLA_KIND_BV_UREM,
            BinOp::SRem => BITWUZLA_KIND_BV_SREM,
            BinOp::Shl => BITWUZLA_KIND_BV_SHL,
            BinOp::LShr => BITWUZLA_KIND_BV_SHR,
            BinOp::AShr => BITWUZLA_KIND_BV_ASHR,
            BinOp::And => BITWUZLA_KIND_BV_AND,
            BinOp::Or => BITWUZLA_KIND_BV_OR,
            BinOp::Xor => BITWUZLA_KIND_BV_XOR,
            BinOp::Eq => BITWUZLA_KIND_EQUAL,
            BinOp::Ult => BITWUZLA_KIND_BV_ULT,
            BinOp::Ule => BITWUZLA_KIND_BV_ULE,
            BinOp::Slt => BITWUZLA_KIND_BV_SLT,
            BinOp::Sle => BITWUZLA_KIND_BV_SLE,
            BinOp::Concat => BITWUZLA_KIND_BV_CONCAT,
        }),
        Fun::Extract { hi, lo } => (BITWUZLA_KIND_BV_EXTRACT, None, [hi.into(), lo.into()], 2),
        Fun::ZeroExtend(n) => index1(BITWUZLA_KIND_BV_ZERO_EXTEND, n),
        Fun::SignExtend(n) => index1(BITWUZLA_KIND_BV_SIGN_EXTEND, n),
        Fun::Select => plain(BITWUZLA_KIND_ARRAY_SELECT),
        Fun::Store => plain(BITWUZLA_KIND_ARRAY_STORE),
        Fun::FpAbs => plain(BITWUZLA_KIND_FP_ABS),
        Fun::FpNeg => plain(BITWUZLA_KIND_FP_NEG),
        Fun::FpAdd(r) => rounded(BITWUZLA_KIND_FP_ADD, r),
        Fun::FpSub(r) => rounded(BITWUZLA_KIND_FP_SUB, r),
        Fun::FpMul(r) => rounded(BITWUZLA_KIND_FP_MUL, r),
        Fun::FpDiv(r) => rounded(BITWUZLA_KIND_FP_DIV, r),
        Fun::FpFma(r) => rounded(BITWUZLA_KIND_FP_FMA, r),
        Fun::FpSqrt(r) => rounded(BITWUZLA_KIND_FP_SQRT, r),
        Fun::FpRem => plain(BITWUZLA_KIND_FP_REM),
        Fun::FpRoundToIntegral(r) => rounded(BITWUZLA_KIND_FP_RTI, r),
        Fun::FpEq => plain(BITWUZLA_KIND_FP_EQUAL),
        Fun::FpLt => plain(BITWUZLA_KIND_FP_LT),
        Fun::FpLe => plain(BITWUZLA_KIND_FP_LEQ),
        Fun::FpIsNan => plain(BITWUZLA_KIND_FP_IS_NAN),
        Fun::FpIsInf => plain(BITWUZLA_KIND_FP_IS_INF),
        Fun::FpIsNegative => plain(BITWUZLA_KIND_FP_IS_NEG),
        Fun::FpIsZero => plain(BITWUZLA_KIND_FP_IS_ZERO),
        Fun::FpFromBits(format) => (BITWUZLA_KIND_FP_TO_FP_FROM_BV, None, float_indices(format), 2),
        Fun::FpFromFp(r, to) => (BITWUZLA_KIND_FP_TO_FP_FROM_FP, Some(rounding(r)), float_indices(to), 2),
        Fun::FpFromSigned(r, to) => (BITWUZLA_KIND_FP_TO_FP_FROM_SBV, Some(rounding(r)), float_indices(to), 2),
        Fun::FpFromUnsigned(r, to) => (BITWUZLA_KIND_FP_TO_FP_FROM_UBV, Some(rounding(r)), float_indices(to), 2),
        Fun::FpToSigned(r, width) => (BITWUZLA_KIND_FP_TO_SBV, Some(rounding(r)), [width.into(), 0], 1),
        Fun::FpToUnsigned(r, width) => (BITWUZLA_KIND_FP_TO_UBV, Some(rounding(r)), [width.into(), 0], 1),
    }
}

fn rounding(mode: Rounding) -> sys::BitwuzlaRoundingMode {
    match mode {
        Rounding::NearestEven => sys::BITWUZLA_RM_RNE,
        Rounding::NearestAway => sys::BITWUZLA_RM_RNA,
        Rounding::Down => sys::BITWUZLA_RM_RTN,
        Rounding::Up => sys::BITWUZLA_RM_RTP,
        Rounding::Zero => sys::BITWUZLA_RM_RTZ,
    }
}
