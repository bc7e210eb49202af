//! The check for functions that end without returning a value.
//!
//! Clang inserts this check (`-fsanitize=return`) only in C++, where the end of such a function is undefined. In C, the
//! use of the value by the caller is undefined (C17, 6.9.1p12). Clang's code stores a result into a variable without a
//! name, or into memory of the caller, and only `return` stores to it. A function that may end without a store records
//! in a global variable whether it did. The caller checks that variable where it uses the result.

use super::Context;
use super::builder::Builder;
use super::function::FunctionLowering;
use crate::ir::{Body, Function, Instruction, Module, NONE, Operand, TypeKind, op};
use cfa::{Callee, Check, ExprId, FuncId, Op, Var, VarId, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// The functions of a module that may end without returning a value.
pub(super) struct Unreturned {
    /// For each function, the instructions that store the result.
    writes: FxHashMap<usize, Vec<u32>>,
    functions: FxHashSet<FuncId>,
    /// True if such a function may be called through a pointer.
    through_pointers: bool,
    /// 1 between the end of a function without a result and the continuation of its caller.
    signal: VarId,
}

/// The storage of a result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slot {
    /// The variable that this instruction allocates.
    Alloca(u32),
    /// The memory that the caller provides for a result.
    Given,
}

impl Context<'_> {
    /// Finds these functions, if the check is enabled.
    pub(super) fn find_unreturned(&mut self) {
        if !self.options.checks.contains(&Check::Return) {
            return;
        }
        let ir = self.ir;
        let (mut writes, mut functions, mut through_pointers) = (FxHashMap::default(), FxHashSet::default(), false);
        for (n, function) in ir.functions.iter().enumerate().filter(|(_, f)| !f.model) {
            let (Some(func), Some(found)) = (self.functions[n], unreturned(ir, function)) else { continue };
            writes.insert(n, found);
            functions.insert(func);
            through_pointers |= self.uses.address_taken[n];
        }
        if functions.is_empty() {
            return;
        }
        let (ty, zero) = (self.unknown_type(Some(1)), self.program.exprs.int(1, 0));
        let kind = VarKind::Global { init: Some(zero), is_static: false };
        let signal = self.add_var(Var { name: None, ty, width: 1, kind, place: None }, super::Mutability::Global);
        self.unreturned = Some(Unreturned { writes, functions, through_pointers, signal });
    }
}

/// The instructions that store the result, if a path to the end has none. Otherwise `None`.
fn unreturned(ir: &Module, function: &Function) -> Option<Vec<u32>> {
    let body = function.body.as_ref()?;
    if function.c_types.first().is_none_or(|&row| row == NONE) {
        return None;
    }
    let slot = slot(ir, function, body)?;
    let derived = derived(ir, body, slot);
    let is_write = |i: &Instruction| !matches!(i.opcode, op::LOAD | op::GEP) && !is_marker(ir, i);
    let touches = |i: &Instruction| ir.operands(i).any(|operand| derived.contains(&operand));
    let writes: Vec<u32> = (0u32..)
        .zip(&body.instructions)
        .filter(|(_, i)| is_write(i) && touches(i) && !reads_only(ir, i, &derived))
        .map(|(n, _)| n)
        .collect();
    let mut seen = vec![false; body.blocks.len()];
    let mut stack = vec![0u32];
    while let Some(block) = stack.pop() {
        let range = body.blocks[block as usize].clone();
        if std::mem::replace(&mut seen[block as usize], true) || writes.iter().any(|n| range.contains(n)) {
            continue;
        }
        let last = &body.instructions[range.end as usize - 1];
        if last.opcode == op::RET {
            return Some(writes);
        }
        stack.extend(ir.operands(last).filter_map(|operand| match operand {
            Operand::Block(next) => Some(next),
            _ => None,
        }));
    }
    None
}

/// The storage of the result: memory of the caller, or the variable without a C name that the return reads.
fn slot(ir: &Module, function: &Function, body: &Body) -> Option<Slot> {
    let TypeKind::Function { result, .. } = ir.kind(function.ty) else { return None };
    if matches!(ir.kind(*result), TypeKind::Void) {
        return Some(Slot::Given);
    }
    let block = body.blocks.iter().find(|b| body.instructions[b.end as usize - 1].opcode == op::RET)?;
    let Operand::Instruction(value) = ir.operands(&body.instructions[block.end as usize - 1]).next()? else {
        return None;
    };
    let load = &body.instructions[value as usize];
    let mut slot = (load.opcode == op::LOAD).then(|| root(ir, body, ir.operand(load, 0)))??;
    // A result that does not fit registers directly is copied through another variable.
    for i in &body.instructions[block.start as usize..block.end as usize] {
        if i.opcode == op::CALL && ir.called(i).is_some_and(|name| name.starts_with("llvm.memcpy")) {
            let [to, from] = [0, 1].map(|k| root(ir, body, ir.operand(i, k)));
            slot = from.filter(|_| to == Some(slot)).unwrap_or(slot);
        }
    }
    let is_named = body.variables.iter().any(|v| v.is_address && v.value == Operand::Instruction(slot));
    (!is_named).then_some(Slot::Alloca(slot))
}

/// The `alloca` that contains an address.
fn root(ir: &Module, body: &Body, mut address: Operand) -> Option<u32> {
    loop {
        let Operand::Instruction(n) = address else { return None };
        let i = &body.instructions[n as usize];
        match i.opcode {
            op::ALLOCA => return Some(n),
            op::GEP => address = ir.operand(i, 0),
            _ => return None,
        }
    }
}

/// The addresses inside a slot.
fn derived(ir: &Module, body: &Body, slot: Slot) -> FxHashSet<Operand> {
    let first = match slot {
        Slot::Alloca(n) => Operand::Instruction(n),
        Slot::Given => Operand::Argument(0),
    };
    let mut derived = FxHashSet::from_iter([first]);
    loop {
        let before = derived.len();
        for (n, i) in (0u32..).zip(&body.instructions) {
            if i.opcode == op::GEP && derived.contains(&ir.operand(i, 0)) {
                derived.insert(Operand::Instruction(n));
            }
        }
        if derived.len() == before {
            return derived;
        }
    }
}

/// True for an instruction that marks the start or end of a scope.
fn is_marker(ir: &Module, i: &Instruction) -> bool {
    i.opcode == op::CALL && ir.called(i).is_some_and(|name| name.starts_with("llvm.lifetime."))
}

/// True if the instruction copies from these addresses but not to them.
fn reads_only(ir: &Module, i: &Instruction, derived: &FxHashSet<Operand>) -> bool {
    i.opcode == op::CALL
        && ir.called(i).is_some_and(|name| name.starts_with("llvm.memcpy"))
        && !derived.contains(&ir.operand(i, 0))
}

/// Called at the entry of a function. If it may end without a result, starts to track the stores.
pub(super) fn begin(fl: &mut FunctionLowering, n: usize) {
    let Some(writes) = fl.b.cx.unreturned.as_ref().and_then(|u| u.writes.get(&n)).cloned() else { return };
    let (func, ty) = (fl.b.func, fl.b.cx.unknown_type(Some(1)));
    let var = Var { name: None, ty, width: 1, kind: VarKind::Temp(func), place: None };
    let open = fl.b.cx.add_var(var, super::Mutability::Local);
    set(&mut fl.b, open, true);
    fl.unreturned = Some((open, writes));
}

/// Called after an instruction. If it stores the result, records that.
pub(super) fn note_write(fl: &mut FunctionLowering, i: u32) {
    if let Some((open, writes)) = &fl.unreturned
        && writes.binary_search(&i).is_ok()
    {
        let open = *open;
        set(&mut fl.b, open, false);
    }
}

/// Must be called before the return. Sets the variable by which the caller tests whether the result is missing.
pub(super) fn record_missing_result(fl: &mut FunctionLowering) {
    if let (Some((open, _)), Some(u)) = (&fl.unreturned, &fl.b.cx.unreturned) {
        let (var, open) = (u.signal, *open);
        let value = fl.b.var_expr(open);
        fl.b.emit(Op::Assign { var, value });
    }
}

/// Wraps a call, which `call` emits. If the callee may end without a result and the result is used, emits a check.
pub(super) fn with_result(fl: &mut FunctionLowering, n: u32, callee: Callee, call: impl FnOnce(&mut FunctionLowering)) {
    let is_one = fl.b.cx.unreturned.as_ref().and_then(|u| match callee {
        Callee::Direct(func) => u.functions.contains(&func).then_some(u.signal),
        Callee::Indirect(_) => u.through_pointers.then_some(u.signal),
    });
    let Some(signal) = is_one else { return call(fl) };
    call(fl);
    if is_result_used(fl, n) {
        let of = match callee {
            Callee::Direct(func) => format!("`{}`", fl.b.cx.program.funcs[func].name),
            Callee::Indirect(_) => "a function".to_owned(),
        };
        let violated: ExprId = fl.b.var_expr(signal);
        let message = format!("the result of {of} is used, but it returned no value");
        fl.b.when_violated(violated, Check::Return, message);
    }
    set(&mut fl.b, signal, false);
}

/// True if the result of a call is used in another way than to be stored where nothing reads it.
fn is_result_used(fl: &FunctionLowering, n: u32) -> bool {
    let (ir, body) = (fl.b.ir(), fl.body);
    let call = fl.instruction(n);
    if matches!(ir.kind(call.ty), TypeKind::Void) {
        return is_read(ir, body, ir.operand(call, 0), n);
    }
    let users = |value: u32| {
        let is_user = move |(_, i): &(u32, &Instruction)| ir.operands(i).any(|o| o == Operand::Instruction(value));
        (0u32..).zip(&body.instructions).filter(is_user)
    };
    let is_put = |(n, i): (u32, &Instruction)| i.opcode == op::STORE && !is_read(ir, body, ir.operand(i, 1), n);
    users(n).any(|(k, i)| match i.opcode {
        op::EXTRACT_VALUE => users(k).any(|user| !is_put(user)),
        _ => !is_put((k, i)),
    })
}

/// True if memory that instruction `n` writes is read, there or in a copy.
fn is_read(ir: &Module, body: &Body, address: Operand, n: u32) -> bool {
    let Some(first) = root(ir, body, address) else { return true };
    let (mut slots, mut writers, mut done) = (vec![first], vec![n], 0);
    while let Some(&slot) = slots.get(done) {
        done += 1;
        if body.variables.iter().any(|v| v.is_address && v.value == Operand::Instruction(slot)) {
            return true;
        }
        let derived = derived(ir, body, Slot::Alloca(slot));
        for (k, i) in (0u32..).zip(&body.instructions) {
            if writers.contains(&k) || !ir.operands(i).any(|operand| derived.contains(&operand)) {
                continue;
            }
            match i.opcode {
                op::GEP => {}
                op::STORE if !derived.contains(&ir.operand(i, 0)) => {}
                op::CALL if is_marker(ir, i) => {}
                op::CALL if reads_only(ir, i, &derived) => {
                    let Some(copy) = root(ir, body, ir.operand(i, 0)) else { return true };
                    writers.push(k);
                    if !slots.contains(&copy) {
                        slots.push(copy);
                    }
                }
                _ => return true,
            }
        }
    }
    false
}

fn set(b: &mut Builder, var: VarId, to: bool) {
    let value = b.int(1, to.into());
    b.emit(Op::Assign { var, value });
}
