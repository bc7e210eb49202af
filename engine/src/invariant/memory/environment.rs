//! The abstract environment at a location: values of variables, and the effect of expressions and conditions on them.

use crate::invariant::memory::cells::{Count, Memory};
use crate::invariant::memory::distances::Distances;
use crate::invariant::memory::relations::{Recent, minimum};
use crate::invariant::value::Value;
use crate::invariant::value::address::{NULL, leading_within};
use crate::invariant::value::limits::{Limit, Reaches, Same, within};
use crate::semantics::Paged;
use crate::semantics::range as addresses;
use cfa::interp::function_address;
use cfa::{BinOp, Expr, ExprId, ExprPool, FuncId, GlobalId, Id, Program, UnOp, VarId, VarKind};
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;
use smt::bounds::Bounds;
use smt::facts::Facts;
use std::ops::Range;
use std::rc::Rc;

/// Largest depth to which definitions of variables are expanded.
const DEPTH: u32 = 4;
/// Largest number of variables of a condition that are refined.
const LEAVES: usize = 16;
/// Largest size of a constant object whose elements are looked up, in bytes.
const LARGEST_TABLE: usize = 1 << 12;

/// The index of each variable in its row. Globals share a row, and each function has a row of locals.
pub struct Rows {
    /// By variable: whether it is global, and its index in the row.
    of_var: Vec<(bool, u32)>,
    /// The global variables in the order of their row.
    pub globals: Vec<VarId>,
    /// The abstract addresses of global objects.
    objects: Vec<Value>,
    /// The object numbers of functions.
    functions: Range<u32>,
    /// The object numbers of constants.
    constants: FixedBitSet,
    /// The variables that may change at any time. Environments have no facts about them.
    changing: FixedBitSet,
    pointer_width: u32,
    /// True if the analysis tracks the targets of addresses.
    follows: bool,
    /// By global object: the bytes of a constant without pointers. Empty if addresses are not tracked.
    tables: Vec<Option<Rc<[u8]>>>,
    /// The numbers that may be distances between objects. Empty if addresses are not tracked.
    distances: Distances,
}

impl Rows {
    /// Rows for an analysis without memory.
    pub fn new(program: &Program) -> Self {
        let mut next_local = vec![0u32; program.funcs.len()];
        let mut globals = Vec::new();
        let place = |(id, var): (VarId, &cfa::Var)| match var.kind {
            VarKind::Global { .. } => {
                globals.push(id);
                (true, globals.len() as u32 - 1)
            }
            VarKind::Local(f) | VarKind::Param(f) | VarKind::Temp(f) => {
                next_local[f.index()] += 1;
                (false, next_local[f.index()] - 1)
            }
        };
        let of_var = program.vars.iter().map(place).collect();
        let pointer_width = program.layout.pointer_width;
        let address = |(id, object): (GlobalId, &cfa::Global)| {
            Value::address(addresses_of(pointer_width, object.size), object.align, id.0)
        };
        let objects: Vec<Value> = program.globals.iter().map(address).map(|value| value.untargeted()).collect();
        let functions = objects.len() as u32..(objects.len() + program.funcs.len()) as u32;
        let read_only = program.globals.iter().filter(|(_, object)| object.read_only);
        let constants = read_only.map(|(id, _)| id.index()).collect();
        Self {
            of_var,
            globals,
            objects,
            functions,
            constants,
            changing: FixedBitSet::with_capacity(program.vars.len()),
            pointer_width,
            follows: false,
            tables: Vec::new(),
            distances: Distances::default(),
        }
    }

    /// Rows for an analysis that tracks the targets of addresses. The objects are numbered: globals, then functions.
    pub fn following(program: &Program) -> Self {
        let mut rows = Self::new(program);
        for (object, value) in rows.objects.iter_mut().enumerate() {
            *value = value.leading_to(object as u32);
        }
        rows.follows = true;
        let bytes = |object: &cfa::Global| {
            let init = object.init.as_ref().filter(|init| object.read_only && init.pointers.is_empty())?;
            let size = usize::try_from(object.size).ok().filter(|&size| size <= LARGEST_TABLE)?;
            let mut bytes = init.bytes.clone();
            bytes.resize(size, 0);
            Some(bytes.into())
        };
        rows.tables = program.globals.values().map(bytes).collect();
        rows
    }

    /// States which numbers may be distances between objects.
    pub(in crate::invariant) fn set_distances(&mut self, distances: Distances) {
        self.distances = distances;
    }

    /// States that variables may change at any time.
    pub fn let_change(&mut self, vars: impl IntoIterator<Item = VarId>) {
        self.changing.extend(vars.into_iter().map(Id::index));
    }

    /// The index of a global variable in its row; `None` for a local variable.
    pub fn of_global(&self, var: VarId) -> Option<usize> {
        let (is_global, index) = self.of_var[var.index()];
        is_global.then_some(index as usize)
    }

    /// The number of `bytes` bytes at an address in a constant object.
    fn constant(&self, address: &Value, bytes: u32) -> Option<u64> {
        let [(object, at)] = address.targets.as_deref()? else { return None };
        let content = self.tables.get(*object as usize)?.as_ref()?;
        let first = usize::try_from(at.as_constant()?).ok()?;
        let content = content.get(first..first.checked_add(bytes as usize)?)?;
        Some(content.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// The object number of a function.
    pub fn function(&self, func: FuncId) -> u32 {
        self.functions.start + func.0
    }

    /// The abstract address of a function. It may lie anywhere where functions and objects lie.
    fn of_function(&self, func: FuncId) -> Value {
        let (_, high) = addresses(self.pointer_width);
        let at = Bounds::unsigned(self.pointer_width, function_address(FuncId(0)), high);
        let value = Value::address(at.unwrap_or(Bounds::full(self.pointer_width)), 1, self.function(func));
        // Each function has its own address, which differs from those of objects. Only the analysis of memory uses
        // this.
        if self.follows { value } else { Value::full(self.pointer_width) }
    }

    /// Decides whether two addresses are equal, if they point into one object, to functions, or to the starts of objects.
    fn are_equal(&self, a: &Value, b: &Value, memory: &Memory) -> Option<bool> {
        let (x, y) = (a.targets.as_ref()?, b.targets.as_ref()?);
        let may_both_be_null = a.contains(0) && b.contains(0);
        if let ([(object, at)], [(other, to)]) = (&x[..], &y[..])
            && let (Some(at), Some(to)) = (at.as_constant(), to.as_constant())
            && object == other
            && (self.functions.contains(object) || memory.is_one(*object))
        {
            return (!a.contains(0) && !b.contains(0)).then_some(at == to);
        }
        // Objects that are alive have different starts, if they have bytes.
        let is_alive = |object: u32| memory.status(object).is_some_and(|s| s.count != Count::None && !s.may_be_dead);
        let is_start = |(object, at): &(u32, Value)| {
            (self.functions.contains(object) || *object == NULL || is_alive(*object)) && at.as_constant() == Some(0)
        };
        // Constants may share memory.
        let is_constant = |object: &u32| self.constants.contains(*object as usize);
        let has_bytes = |object: &u32| {
            let is_object = !self.functions.contains(object) && *object != NULL;
            !is_object || memory.status(*object).is_some_and(|s| s.size > 0)
        };
        let are_different = |f: &u32, g: &u32| {
            let may_be_one = is_constant(f) && is_constant(g) || !has_bytes(f) && !has_bytes(g);
            f != g && !may_be_one
        };
        let are_apart = x.iter().all(|(f, _)| y.iter().all(|(g, _)| are_different(f, g)));
        let are_starts = x.iter().chain(y.iter()).all(is_start);
        (are_starts && are_apart && !may_both_be_null).then_some(false)
    }
}

/// The possible start addresses of an object of `size` bytes.
pub fn addresses_of(pointer_width: u32, size: u64) -> Bounds {
    let (low, high) = addresses(pointer_width);
    let bounds = Bounds::unsigned(pointer_width, low, high.saturating_sub(size).max(low));
    bounds.unwrap_or(Bounds::full(pointer_width))
}

/// Per function: the parameters that it never writes.
pub fn steady_parameters(program: &Program) -> Vec<Vec<VarId>> {
    let written: FxHashSet<VarId> = program.edges.values().filter_map(|edge| edge.op.def()).collect();
    let steady = |(_, f): (FuncId, &cfa::Function)| {
        f.params.iter().copied().filter(|p| program.vars[*p].width <= 64 && !written.contains(p)).collect()
    };
    program.funcs.iter().map(steady).collect()
}

/// The abstract values of the global variables and of the locals of one function. An absent variable may have any
/// value. Cloning is cheap.
#[derive(Clone)]
pub struct Environment {
    /// The values of globals.
    pub globals: Paged<Value>,
    /// The values of locals.
    pub locals: Paged<Value>,
    /// The abstract memory, if tracked.
    pub memory: Memory,
    /// The must-relations between variables and memory, if tracked.
    pub recent: Recent,
}

impl Environment {
    /// The environment without any facts.
    pub fn new() -> Self {
        Self { globals: Paged::new(), locals: Paged::new(), memory: Memory::new(), recent: Recent::default() }
    }
    /// The part of the environment that a callee shares: everything except locals.
    pub fn shared(&self) -> Self {
        Self { globals: self.globals.clone(), memory: self.memory.clone(), ..Self::new() }
    }
    /// The value of a variable; `None` if it may be any value.
    pub fn get(&self, rows: &Rows, var: VarId) -> Option<&Value> {
        let (global, index) = rows.of_var[var.index()];
        if global { self.globals.get(index as usize) } else { self.locals.get(index as usize) }
    }
    /// Sets the value of a variable.
    pub fn set(&mut self, rows: &Rows, var: VarId, value: Option<Value>) {
        let (global, index) = rows.of_var[var.index()];
        let row = if global { &mut self.globals } else { &mut self.locals };
        let value = value.filter(|v| !v.is_full() && !rows.changing.contains(var.index()));
        if row.get(index as usize) != value.as_ref() {
            row.set(index as usize, value);
        }
    }
    /// True if an object number represents one object. Memory has to be tracked.
    pub(in crate::invariant) fn is_one(&self, object: u32) -> bool {
        self.memory.objects.get(object as usize).is_some_and(|status| status.count == Count::One)
    }
    /// Drops the offset bounds on lengths that the memory does not have, where the environment differs from `before`. A
    /// callee's exit has bounds on lengths that exist for other callers only.
    pub(in crate::invariant) fn keep_defined(&mut self, before: &Self) {
        let memory = &self.memory;
        let undefined = |row: &Paged<Value>, before: &Paged<Value>| -> Vec<(usize, Value)> {
            let pages = row.differing_pages(before);
            let indices = pages.flat_map(|page| page * Paged::<Value>::PAGE..(page + 1) * Paged::<Value>::PAGE);
            let is_lost = |limit: &Limit, owns: bool| !memory.defines(limit, owns);
            indices.filter_map(|index| Some((index, row.get(index)?.without(&is_lost)?))).collect()
        };
        let globals = undefined(&self.globals, &before.globals);
        let locals = undefined(&self.locals, &before.locals);
        let cells = undefined(&memory.cells, &before.memory.cells);
        let rows = [&mut self.globals, &mut self.locals, &mut self.memory.cells];
        for (row, changed) in rows.into_iter().zip([globals, locals, cells]) {
            changed.into_iter().for_each(|(index, value)| row.set(index, Some(value).filter(|v| !v.is_full())));
        }
        self.memory.keep_covers(|memory, cover| memory.defines(cover, false));
    }
    /// An offset bound that refers to a length that the memory does not have.
    #[cfg(test)]
    pub(in crate::invariant) fn undefined_bound(&self) -> Option<Limit> {
        let rows = [&self.globals, &self.locals, &self.memory.cells];
        let found = std::cell::Cell::new(None);
        let is_undefined = |limit: &Limit, owns: bool| {
            let is_undefined = !self.memory.defines(limit, owns);
            found.set(found.get().or(is_undefined.then_some(*limit)));
            is_undefined
        };
        rows.iter().flat_map(|row| row.iter()).for_each(|(_, value)| drop(value.without(&is_undefined)));
        let covers = self.memory.objects.iter().flat_map(|(_, status)| status.covers.iter());
        found.get().or_else(|| covers.copied().find(|cover| !self.memory.defines(cover, false)))
    }
    /// Joins `o` into `self`. Returns whether `self` has changed.
    pub fn join(&mut self, o: &Self) -> bool {
        self.join_where(o, &Same)
    }
    /// Like `join`, with offset bounds joined according to `how`.
    pub fn join_where(&mut self, o: &Self, how: &dyn Reaches) -> bool {
        let join = |a: &Value, b: &Value| a.join_where(b, how);
        let globals = combine(&mut self.globals, &o.globals, join);
        combine(&mut self.locals, &o.locals, join) || globals
    }
    /// Widens `self` by `o`, so that iteration terminates; see [`Value::widen`].
    pub fn widen(&mut self, o: &Self, thresholds: &impl Fn(u32) -> Vec<u64>) -> bool {
        self.widen_where(o, thresholds, &Same)
    }
    /// Like `widen`, with offset bounds joined according to `how`.
    pub fn widen_where(&mut self, o: &Self, thresholds: &impl Fn(u32) -> Vec<u64>, how: &dyn Reaches) -> bool {
        let widen = |a: &Value, b: &Value| a.widen_where(b, &thresholds(a.width()), how);
        let globals = combine(&mut self.globals, &o.globals, widen);
        combine(&mut self.locals, &o.locals, widen) || globals
    }
    /// Joins `o` into `self` and drops all values that change.
    pub fn forget_changes(&mut self, o: &Self) -> bool {
        let forget = |a: &Value, b: &Value| if a.includes(b) { a.clone() } else { Value::full(a.width()) };
        let globals = combine(&mut self.globals, &o.globals, forget);
        combine(&mut self.locals, &o.locals, forget) || globals
    }

    /// The value of a variable, refined by its offset bounds.
    pub(in crate::invariant) fn bounded(&self, rows: &Rows, var: VarId) -> Option<Value> {
        let gaps = self.within_gaps(rows, var).and_then(Value::of_range);
        let value = self.get(rows, var).or(gaps.as_ref())?;
        let mut value = gaps.as_ref().and_then(|bounds| value.meet(bounds)).unwrap_or_else(|| value.clone());
        for limit in self.limits_by_gaps(rows, var) {
            value = value.limited(limit);
        }
        if value.limits.is_empty() && value.targets.is_none() {
            return Some(value);
        }
        let now = within(&value, &|limit| self.memory.most(limit, false));
        // An address points to an object that exists, and its offset bounds refer to that one.
        let most = |object, limit: &Limit| self.memory.most(limit, limit.object == object);
        // Functions lie below all objects.
        let (_, high) = addresses(rows.pointer_width);
        Some(leading_within(&now, &most, (function_address(FuncId(0)), high)))
    }

    /// The value of an expression; `None` if it has more than 64 bits. Recursive: the front-end bounds the depth.
    pub fn eval(&self, rows: &Rows, pool: &ExprPool, e: ExprId) -> Option<Value> {
        eval(rows, pool, e, &self.given(&|var| self.bounded(rows, var)))
    }

    /// The value of an expression under the assumption that a variable has a given value. Recently defined variables
    /// are re-evaluated.
    pub(in crate::invariant) fn eval_given(
        &self,
        rows: &Rows,
        pool: &ExprPool,
        e: ExprId,
        given: (VarId, Value),
    ) -> Option<Value> {
        self.eval_deep(rows, pool, e, &given, DEPTH)
    }

    fn eval_deep(&self, rows: &Rows, pool: &ExprPool, e: ExprId, given: &(VarId, Value), depth: u32) -> Option<Value> {
        let of = |var: VarId| {
            if var == given.0 {
                return Some(given.1.clone());
            }
            let known = self.bounded(rows, var);
            let definition = self.recent.definition(var).filter(|_| depth > 0);
            let made = definition.and_then(|e| self.eval_deep(rows, pool, e, given, depth - 1));
            let made = made.or_else(|| self.constant_at(rows, pool, var, given, depth));
            match (known, made) {
                (Some(known), Some(made)) => Some(made.meet(&known).unwrap_or(made)),
                (known, made) => made.or(known),
            }
        };
        eval(rows, pool, e, &self.given(&of))
    }

    /// The value of a variable that equals an element of a constant table.
    fn constant_at(
        &self,
        rows: &Rows,
        pool: &ExprPool,
        var: VarId,
        given: &(VarId, Value),
        depth: u32,
    ) -> Option<Value> {
        let (read, address) = self.recent.contents.iter().find(|(read, _)| read.var == var && depth > 0)?;
        let bytes = (read.width <= 64 && read.width.is_multiple_of(8)).then_some(read.width / 8)?;
        let address = self.eval_deep(rows, pool, *address, given, depth - 1)?;
        Some(Value::constant(read.width, rows.constant(&address, bytes)?))
    }

    fn given<'a>(&'a self, var: &'a dyn Fn(VarId) -> Option<Value>) -> EvaluationFacts<'a> {
        EvaluationFacts { var, memory: &self.memory, recent: &self.recent }
    }

    /// Refines the environment by the one-bit condition `cond`. Returns `false` if no state satisfies it.
    pub fn assume(&mut self, rows: &Rows, pool: &ExprPool, cond: ExprId) -> bool {
        let value = self.eval(rows, pool, cond);
        if value.as_ref().is_some_and(|value| !value.contains(1)) {
            return false;
        }
        // If the condition certainly holds, it refines no value, but the order of two values may give an offset bound.
        let is_certain = value.is_some_and(|value| !value.contains(0));
        if !is_certain && !self.refine(rows, pool, cond) {
            return false;
        }
        if rows.follows {
            self.relate(rows, pool, cond, true);
        }
        if rows.follows && !is_certain {
            self.relate_reads(rows, pool, Some(cond));
            self.see_nulls(rows, pool);
        }
        self.stands_for(pool, cond).is_none_or(|made| self.assume(rows, pool, made))
    }

    /// Refines the values of the variables of a condition, which holds. Returns `false` if no state satisfies it.
    fn refine(&mut self, rows: &Rows, pool: &ExprPool, cond: ExprId) -> bool {
        let mut leaves: Vec<(ExprId, VarId)> = Vec::new();
        pool.visit(cond, &mut FxHashSet::default(), |e, node| {
            if let Expr::Var(var) = node
                && pool.width(e) <= 64
                && leaves.len() < LEAVES
            {
                leaves.push((e, *var));
            }
        });
        let mut facts = Facts::default();
        for &(leaf, var) in &leaves {
            if let Some(value) = self.bounded(rows, var) {
                facts.set(leaf, value.range);
            }
        }
        if facts.assume(pool, cond).is_err() {
            return false;
        }
        for &(leaf, var) in &leaves {
            let Some(range) = facts.known(leaf) else { continue };
            let before = self.bounded(rows, var).unwrap_or_else(|| Value::full(pool.width(leaf)));
            let Some(now) = Value::of_range(*range).and_then(|r| before.meet(&r)) else { return false };
            for cell in self.recent.cells_of(var).collect::<Vec<u32>>() {
                self.memory.cells.set(cell as usize, Some(now.clone()).filter(|v| !v.is_full()));
            }
            if rows.follows {
                self.bound_reaches(&now);
            }
            self.set(rows, var, Some(now));
            if !self.assume_of_equals(rows, var, range) {
                return false;
            }
        }
        // Check the members of small sets individually.
        for &(_, var) in &leaves {
            let Some(value) = self.get(rows, var).cloned() else { continue };
            let members = value.members.as_ref().filter(|members| members.len() >= 2);
            let Some(members) = members else { continue };
            let width = value.width();
            let possible = |member: u64| {
                let with = |v| if v == var { Some(Value::constant(width, member)) } else { self.get(rows, v).cloned() };
                eval(rows, pool, cond, &self.given(&with)).is_none_or(|value| value.contains(1))
            };
            let left = members.iter().copied().filter(|&m| possible(m)).map(|m| Value::constant(width, m));
            let Some(left) = left.reduce(|a, b| a.join(&b)) else { return false };
            // The offset bounds remain.
            self.set(rows, var, Some(value.meet(&left).unwrap_or(left)));
        }
        true
    }

    /// Refines the variables that equal a variable, whose value is in `range`. Returns `false` if there is no such value.
    fn assume_of_equals(&mut self, rows: &Rows, var: VarId, range: &Bounds) -> bool {
        let equal = self.recent.sums.iter().filter(|(_, of, by)| (*of, *by) == (var, 0)).map(|(sum, ..)| *sum);
        for equal in equal.collect::<Vec<VarId>>() {
            let Some(range) = Value::of_range(*range) else { return false };
            let now = self.get(rows, equal).map_or_else(|| Some(range.clone()), |before| before.meet(&range));
            let Some(now) = now else { return false };
            for cell in self.recent.cells_of(equal).collect::<Vec<u32>>() {
                self.memory.cells.set(cell as usize, Some(now.clone()).filter(|v| !v.is_full()));
            }
            self.set(rows, equal, Some(now));
        }
        true
    }

    /// The condition from which a bit was computed recently, as for `a && b`. For a negated bit, the condition is
    /// returned if the bit was computed from a negation.
    fn stands_for(&self, pool: &ExprPool, bit: ExprId) -> Option<ExprId> {
        match *pool.get(bit) {
            Expr::Var(var) if pool.width(bit) == 1 => self.recent.definition(var),
            Expr::Unary(UnOp::Not, inner) => match *pool.get(self.stands_for(pool, inner)?) {
                Expr::Unary(UnOp::Not, made) => Some(made),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Replaces each entry `x` of `a` by `op(x, y)` with the entry `y` of `b`. Returns whether `a` has changed.
fn combine(a: &mut Paged<Value>, b: &Paged<Value>, op: impl Fn(&Value, &Value) -> Value) -> bool {
    let pages: Vec<usize> = a.differing_pages(b).collect();
    let mut changed = false;
    for page in pages {
        for index in page * Paged::<Value>::PAGE..(page + 1) * Paged::<Value>::PAGE {
            let Some(x) = a.get(index) else { continue };
            let combined = b.get(index).map(|y| op(x, y)).filter(|v| !v.is_full());
            if combined.as_ref() != Some(x) {
                a.set(index, combined);
                changed = true;
            }
        }
    }
    changed
}

/// The facts that an expression is evaluated with.
#[derive(Clone, Copy)]
struct EvaluationFacts<'a> {
    /// The values of variables; `None` is any value.
    var: &'a dyn Fn(VarId) -> Option<Value>,
    memory: &'a Memory,
    recent: &'a Recent,
}

/// The value of an expression.
fn eval(rows: &Rows, pool: &ExprPool, e: ExprId, given: &EvaluationFacts) -> Option<Value> {
    let var = given.var;
    let is_one = &|object: u32| given.memory.is_one(object);
    let width = match pool.sort(e) {
        cfa::Sort::Bv(width @ ..=64) => width,
        _ => return None,
    };
    let of = |e| eval(rows, pool, e, given);
    let value = match *pool.get(e) {
        Expr::Const(ref c) => Value::of_bv(c),
        Expr::Var(v) => var(v),
        Expr::GlobalAddr(global) => Some(rows.objects[global.index()].clone()),
        Expr::FuncAddr(func) => Some(rows.of_function(func)),
        Expr::Unary(UnOp::Not, a) => of(a).map(|a| a.not()),
        Expr::Unary(UnOp::Neg, a) => of(a).map(|a| Value::apply(BinOp::Sub, &Value::constant(width, 0), &a)),
        Expr::Binary(BinOp::Concat, a, b) => of(a).zip(of(b)).map(|(a, b)| a.concat(&b)),
        Expr::Binary(op, a, b) if pool.width(a) > 64 => {
            crate::invariant::value::wide::compare(pool, op, (a, b), &of).map(|holds| Value::constant(1, holds.into()))
        }
        Expr::Binary(op, a, b) => of(a).zip(of(b)).map(|(x, y)| match (op, a == b) {
            (BinOp::Eq | BinOp::Ule | BinOp::Sle, true) => Value::constant(1, 1),
            (BinOp::Ult | BinOp::Slt, true) => Value::constant(1, 0),
            (BinOp::Eq, _) => match rows.are_equal(&x, &y, given.memory) {
                Some(equal) => Value::constant(1, equal.into()),
                None => Value::apply(op, &x, &y),
            },
            (BinOp::Ule | BinOp::Ult, _) => match distance(pool, a, b, &of) {
                Some((base, by)) => {
                    let by = added(if base { &x } else { &y }, by, given.memory);
                    moved_up(&x, &y, op, base, &by)
                }
                None => Value::apply(op, &x, &y),
            },
            (BinOp::Sub, _) if given.recent.is_offset(pool, b, a) => {
                let start = |(object, at): &(u32, Value)| (*object, Value::constant(at.width(), 0));
                let targets = x.targets.as_ref().map(|targets| targets.iter().map(start).collect());
                Value { targets, ..Value::apply(op, &x, &y).untargeted() }
            }
            (BinOp::Sub, _) => {
                let numbers = rows.distances.checked(Value::apply(op, &x, &y), b, &y, given.memory);
                match x.distance(&y, is_one) {
                    Some(distance) => numbers.meet(&distance).unwrap_or(distance),
                    None => numbers,
                }
            }
            (BinOp::Add, _) => {
                let (x, y) = (added(&y, x.clone(), given.memory), added(&x, y, given.memory));
                let (by, value) = if x.targets.is_some() { (b, &y) } else { (a, &x) };
                rows.distances.checked(Value::apply(op, &x, &y), by, value, given.memory)
            }
            _ => Value::apply(op, &x, &y),
        }),
        Expr::Ite(c, then, other) => match of(c)?.truth() {
            (true, false) => of(then),
            (false, true) => of(other),
            _ => {
                // An index may move an address up or down. Evaluate both cases separately.
                let [t, f] = sides(pool, c, var).map_or([of(then), of(other)], |(v, [positive, negative])| {
                    let side = |e: ExprId, value: Value| {
                        let var = |other: VarId| if other == v { Some(value.clone()) } else { var(other) };
                        eval(rows, pool, e, &EvaluationFacts { var: &var, ..*given })
                    };
                    [side(then, positive), side(other, negative)]
                });
                let least = minimum(pool, c, then, other);
                t.zip(f).map(|(t, f)| match least {
                    Some(is_signed) if !is_signed || t.range.min >= 0 && f.range.min >= 0 => t.least(&f),
                    _ => t.join(&f),
                })
            }
        },
        Expr::Extract { hi, lo, arg } => of(arg).map(|a| a.extract(hi, lo)),
        Expr::Zext { arg, .. } => of(arg).map(|a| a.zext(width)),
        Expr::Sext { arg, .. } => of(arg).map(|a| a.sext(width)),
        _ => None,
    };
    Some(value.unwrap_or_else(|| Value::full(width)))
}

/// A number that is added to an address, refined by its offset bounds: the object that the address points to exists.
fn added(address: &Value, by: Value, memory: &Memory) -> Value {
    let Some(targets) = address.targets.as_ref().filter(|_| !by.limits.is_empty() && by.targets.is_none()) else {
        return by;
    };
    let of_target = |(object, _): &(u32, Value)| {
        let is_it = |limit: &Limit| limit.object == *object && memory.is_one(*object);
        (*object != NULL).then(|| within(&by, &|limit| memory.most(limit, true).filter(|_| is_it(limit))))
    };
    let refined: Option<Vec<Value>> = targets.iter().map(of_target).collect();
    refined.and_then(|all| all.into_iter().reduce(|a, b| a.join(&b))).unwrap_or(by)
}

/// If the condition compares a variable with 0, returns the variable, its value if the condition holds, and its value
/// if not.
fn sides(pool: &ExprPool, cond: ExprId, of: &dyn Fn(VarId) -> Option<Value>) -> Option<(VarId, [Value; 2])> {
    let Expr::Binary(BinOp::Sle, zero, number) = *pool.get(cond) else { return None };
    let (Expr::Var(var), width @ ..=64) = (pool.get(number), pool.width(number)) else { return None };
    if !pool.as_const(zero)?.is_zero() {
        return None;
    }
    let value = of(*var).unwrap_or_else(|| Value::full(width));
    let full = Bounds::full(width);
    let side = |low: i64, high: i64| value.meet(&Value::of_range(Bounds::signed(width, low, high)?)?);
    Some((*var, [side(0, full.max)?, side(full.min, -1)?]))
}

/// If `a = b + d` or `b = a + d`, returns whether `a` is the base, and the abstract value of `d`.
fn distance(pool: &ExprPool, a: ExprId, b: ExprId, of: &impl Fn(ExprId) -> Option<Value>) -> Option<(bool, Value)> {
    let rest = |sum: ExprId, base: ExprId| match *pool.get(sum) {
        Expr::Binary(BinOp::Add, x, y) if x == base => of(y),
        Expr::Binary(BinOp::Add, x, y) if y == base => of(x),
        _ => None,
    };
    rest(b, a).map(|by| (true, by)).or_else(|| rest(a, b).map(|by| (false, by)))
}

/// Compares `x` and `y`, where `y = x + by` if `first`, and else `x = y + by`.
fn moved_up(x: &Value, y: &Value, op: BinOp, first: bool, by: &Value) -> Value {
    let base = if first { x } else { y };
    let full = Bounds::full(x.width()).high;
    let stays = base.range.high.checked_add(by.range.high).is_some_and(|sum| sum <= full);
    let wraps = base.range.low.checked_add(by.range.low).is_none_or(|sum| sum > full) && by.range.low > 0;
    match (op, first) {
        // base <= base + by
        (BinOp::Ule, true) if stays => Value::constant(1, 1),
        (BinOp::Ule | BinOp::Ult, true) if wraps => Value::constant(1, 0),
        // base + by < base
        (BinOp::Ult, false) if stays => Value::constant(1, 0),
        (BinOp::Ule | BinOp::Ult, false) if wraps => Value::constant(1, 1),
        _ => Value::apply(op, x, y),
    }
}
