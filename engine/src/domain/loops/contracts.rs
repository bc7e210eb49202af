//! Contracts of recursive functions.

use super::state::{Activation, Role, State};
use super::templates::{Column, Effort, Observations, Vocabulary, candidates, is_signed};
use super::{At, Unrolling};
use crate::domain::symbolic::RecursiveFunction;
use crate::invariant::Invariants;
use crate::semantics::Val;
use cfa::{EdgeId, Expr, ExprId, ExprPool, Op, Program, Sort, VarId, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Maximal number of values of an argument with separate candidates.
const FEW_CASES: usize = 8;

/// The postcondition of a recursive function, over variables (their values at the entry) and symbols (values at the
/// return).
#[derive(Clone)]
pub(super) struct Contract {
    /// Conditions that hold.
    pub(super) facts: Vec<ExprId>,
    /// Conditions that have to be proved.
    pub(super) candidates: Vec<ExprId>,
    /// The symbol for the result, if there is one.
    pub(super) result: Option<ExprId>,
    /// The globals that the function may modify, each with the symbol for its value at the return.
    pub(super) after: Vec<(VarId, ExprId)>,
}

impl Contract {
    pub(super) fn new(
        program: &Program,
        pool: &mut ExprPool,
        r: &RecursiveFunction,
        vocabulary: &Vocabulary,
        invariants: Option<&Invariants>,
        effort: Effort,
        known: Option<&Contract>,
    ) -> Self {
        let mut seen = Observations::new(program, pool, &r.watched, &r.samples);
        let mut guards = seen.guards(pool, vocabulary);
        let guarded = matches!(effort, Effort::Many | Effort::Powers);
        for (i, Column { leaf, width, .. }) in seen.columns.iter().enumerate().filter(|_| guarded) {
            // An argument with few values separates the observations.
            let mut values: Vec<u64> = seen.rows.iter().filter_map(|row| row[i]).collect();
            values.sort_unstable();
            values.dedup();
            for &v in values.iter().filter(|_| values.len() <= FEW_CASES) {
                let v = pool.int(*width, v);
                guards.push(pool.eq(*leaf, v));
            }
        }
        for Column { leaf, width, .. } in seen.columns.iter().filter(|_| effort == Effort::Many) {
            for c in [0, 1, 2] {
                let c = pool.int(*width, c);
                guards.push(pool.eq(*leaf, c));
                guards.push(pool.sle(*leaf, c));
                guards.push(pool.slt(c, *leaf));
            }
            let odd = pool.extract(0, 0, *leaf);
            guards.extend([odd, pool.not(odd)]);
        }
        let mut seen_guards = FxHashSet::default();
        guards.retain(|g| seen_guards.insert(*g));
        let result_width = program.funcs[r.func].return_width;
        let result = match known {
            Some(known) => known.result,
            None => result_width.map(|width| pool.fresh_symbol(Sort::Bv(width)).1),
        };
        let mut subjects = Vec::new();
        match (result, result_width) {
            (Some(result), Some(width @ ..=64)) => {
                subjects.push(seen.columns.len());
                let signed = is_signed(program, program.funcs[r.func].return_type);
                seen.columns.push(Column { leaf: result, width, signed });
            }
            _ => seen.rows.iter_mut().for_each(|row| {
                row.remove(r.watched.len());
            }),
        }
        let mut after = Vec::new();
        for (i, &var) in r.written.iter().enumerate() {
            let width = program.vars[var].width;
            let symbol = match known {
                Some(known) => known.after[i].1,
                None => pool.fresh_symbol(Sort::Bv(width)).1,
            };
            subjects.push(seen.columns.len());
            seen.columns.push(Column { leaf: symbol, width, signed: is_signed(program, program.vars[var].ty) });
            after.push((var, symbol));
        }
        let mut candidates = candidates(pool, &seen, &subjects, vocabulary, &guards, effort);
        if let Some(known) = known {
            candidates.retain(|c| !known.facts.contains(c));
            return Self { candidates, ..known.clone() };
        }
        let facts = match (result, invariants.and_then(|i| i.result(r.func))) {
            (Some(result), Some(value)) => value.facts(pool, result),
            _ => Vec::new(),
        };
        Self { facts, candidates, result, after }
    }
}

impl Unrolling<'_> {
    /// Handles a call of a recursive function over `edge`. Its parameters are bound.
    pub(super) fn call_recursive(&mut self, mut st: State, edge: EdgeId, number: u32, out: &mut Vec<(State, At)>) {
        let func = st.frame.func;
        let nested = st.nest.active.iter().filter(|a| a.number == number).count() as u32;
        if self.assumptions.bounded {
            if nested >= self.assumptions.iterations {
                self.assumptions.cut = true;
                return;
            }
            self.activate(&mut st, number, Role::First(nested + 1));
            out.push((st, At::Callee(func)));
            return;
        }
        self.check_candidates(&mut st, number);
        if nested > 0 {
            self.check_pointers(&st, number);
        } else {
            let mut body = st.clone();
            self.anchor(&mut body, number);
            let call = self.assumptions.calls.len() as u32;
            let body = self.any(body, number, Role::Call(call));
            let began = self
                .symbolic
                .loops
                .modified(number)
                .iter()
                .map(|&v| (v, self.symbolic.execution.read_var(&body, v)))
                .collect();
            self.assumptions.calls.push(Rc::new(began));
            out.push((body, At::Callee(func)));
        }
        let after = self.apply_contract(st, edge, number);
        out.push((after, At::Target));
    }

    /// The caller's state after a call of a recursive function, by its contract. `callee` is the state at the entry.
    fn apply_contract(&mut self, callee: State, edge: EdgeId, number: u32) -> State {
        let program = self.symbolic.execution.program;
        let Op::Call { result, .. } = program.edges[edge].op else { panic!("a call edge") };
        let modified = self.symbolic.loops.modified(number).to_vec();
        let began: FxHashMap<VarId, Val> =
            modified.iter().map(|&v| (v, self.symbolic.execution.read_var(&callee, v))).collect();
        let func = callee.frame.func;
        let mut st = callee;
        st.frame = st.frame.caller.clone().expect("a frame that was entered by a call");
        let index = number as usize - self.symbolic.loops.loops.len();
        let contract = self.assumptions.contracts[index].clone();
        let mut meaning: FxHashMap<ExprId, Val> = FxHashMap::default();
        // The fresh symbols, and the variables that hold them.
        let (mut fresh, mut places) = (Vec::new(), Vec::new());
        for var in modified {
            if !matches!(program.vars[var].kind, VarKind::Global { .. }) {
                continue;
            }
            let value = began[&var];
            let width = program.vars[var].width;
            let stays = !self.place(number).roaming.contains(&var);
            let object = if stays { self.symbolic.execution.terms.object_of(value) } else { None };
            let (_, new) = self.symbolic.execution.terms.fresh_symbol(Sort::Bv(width));
            fresh.push(new);
            places.push(var);
            let now = match object {
                Some(object) => {
                    let base = self.symbolic.execution.terms.base(object);
                    self.symbolic.execution.terms.add(base, new)
                }
                None => new,
            };
            self.symbolic.execution.write_var(&mut st, var, Val::Expr(now));
            if let Some(&(_, symbol)) = contract.after.iter().find(|(v, _)| *v == var) {
                meaning.insert(symbol, Val::Expr(now));
            }
        }
        self.forget_written(&mut st, number);
        if let Some(var) = result {
            let width = program.vars[var].width;
            let given = program.funcs[func].return_width.unwrap_or(width);
            let (_, new) = self.symbolic.execution.terms.fresh_symbol(Sort::Bv(given));
            fresh.push(new);
            places.push(var);
            if let Some(symbol) = contract.result {
                meaning.insert(symbol, Val::Expr(new));
            }
            let value = self.symbolic.execution.terms.resized(Val::Expr(new), given, width);
            self.symbolic.execution.write_var(&mut st, var, value);
        }
        let instances = contract.facts.iter().chain(&contract.candidates);
        let terms = instances.filter_map(|&e| match self.instance(e, &began, &meaning) {
            Some(Val::Expr(term)) => Some(term),
            _ => None,
        });
        let terms: Vec<ExprId> = terms.collect();
        self.assume_all(&mut st, terms, fresh, &places);
        st
    }

    /// Instantiates a condition of a contract with the values of the variables at the entry and of the symbols at the
    /// return. `None` if it mentions a symbol without value.
    fn instance(&mut self, e: ExprId, began: &FxHashMap<VarId, Val>, meaning: &FxHashMap<ExprId, Val>) -> Option<Val> {
        let mut terms: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        let mut leaves = Vec::new();
        self.symbolic.execution.terms.visit(e, &mut FxHashSet::default(), |leaf, node| match node {
            Expr::Var(v) => leaves.push((leaf, began.get(v).copied())),
            Expr::Sym(_) => leaves.push((leaf, meaning.get(&leaf).copied())),
            _ => {}
        });
        for (leaf, value) in leaves {
            // Variables and symbols for results are bit-vectors. Other leaves have no value.
            let value = value?;
            let width = self.symbolic.execution.terms.width(leaf);
            terms.insert(leaf, self.symbolic.execution.terms.term(value, width));
        }
        let term =
            self.symbolic.execution.terms.substitute(e, &mut FxHashMap::default(), |_, leaf| terms.get(&leaf).copied());
        Some(self.symbolic.execution.terms.classify(term))
    }

    /// Handles a return. Returns `false` if the path ends here.
    pub(super) fn return_in_induction(&mut self, st: &mut State, edge: EdgeId) -> bool {
        let depth = st.frame.depth;
        let iterations = self.assumptions.iterations;
        while let Some(&Activation { depth: of, role, number, .. }) = st.nest.active.last()
            && of >= depth
        {
            match role {
                Role::Any(iteration) if iteration < iterations => return false,
                Role::Call(call) => {
                    if !self.is_early(&st.nest) {
                        self.check_contract(st, edge, number, call);
                    }
                    return false;
                }
                _ => self.deactivate(st),
            }
        }
        true
    }

    /// Drops the candidates of the postcondition that fail at a return.
    fn check_contract(&mut self, st: &mut State, edge: EdgeId, number: u32, call: u32) {
        let Op::Return { value } = self.symbolic.execution.program.edges[edge].op else { panic!("a return edge") };
        let index = number as usize - self.symbolic.loops.loops.len();
        let began = Rc::clone(&self.assumptions.calls[call as usize]);
        let contract = self.assumptions.contracts[index].clone();
        let mut meaning: FxHashMap<ExprId, Val> = FxHashMap::default();
        if let (Some(symbol), Some(value)) = (contract.result, value) {
            let value = self.symbolic.execution.eval(st, value);
            meaning.insert(symbol, value);
        }
        for &(var, symbol) in &contract.after {
            meaning.insert(symbol, self.symbolic.execution.read_var(st, var));
        }
        let mut wrong = FxHashSet::default();
        let mut open = Vec::new();
        for candidate in contract.candidates {
            match self.instance(candidate, &began, &meaning) {
                Some(value) => open.push((candidate, value)),
                None => {
                    wrong.insert(candidate);
                }
            }
        }
        self.refute(st, open, &mut wrong);
        if !wrong.is_empty() {
            self.assumptions.contracts[index].candidates.retain(|c| !wrong.contains(c));
            self.drop_assumption();
        }
        let globals = self.symbolic.loops.modified(number).to_vec();
        for var in globals {
            if let Val::Ptr(..) | Val::Expr(_) = began[&var]
                && matches!(self.symbolic.execution.program.vars[var].kind, VarKind::Global { .. })
            {
                self.check_pointer(st, number, var);
            }
        }
    }
}
