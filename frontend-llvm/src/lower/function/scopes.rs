//! The lifetimes of variables in memory, for checks that need them. `llvm.lifetime.*` marks the scopes of variables of
//! fixed size. At the end of the scope of a variable-length array, the stack pointer is restored.

use super::FunctionLowering;
use crate::ir::{Instruction, Operand, op};
use crate::lower::capture::{self, Capture, Captures};
use cfa::{AllocKind, Check, Expr, Family, InputKind, Op, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The scopes of a function.
#[derive(Default)]
pub struct Scopes {
    /// The `alloca`s of variables whose scope starts after the function.
    pub variables: FxHashSet<u32>,
    /// For each `llvm.stackrestore`, the `alloca`s that may have been executed since the stack pointer was saved.
    dynamic: FxHashMap<u32, Vec<u32>>,
    /// The `store`s that keep the address of an object whose scope is not marked, and the calls that may keep it.
    unmarked: FxHashSet<u32>,
    /// For each `alloca` of variable size, the variable with its address. It is null before the `alloca`.
    pub addresses: FxHashMap<u32, VarId>,
}

impl FunctionLowering<'_, '_> {
    /// The name of the function that an instruction calls by name.
    pub(super) fn intrinsic(&self, call: &Instruction) -> Option<&str> {
        if call.opcode != op::CALL {
            return None;
        }
        let callee = self.b.ir().extra(call)[1] as usize;
        match self.b.ir().operand(call, callee) {
            Operand::Constant(c) => self.b.cx.function_of_constant(c).map(|f| self.b.ir().functions[f].name.as_str()),
            _ => None,
        }
    }

    /// Called before instruction `n`. If it is a `store` or call that keeps the address of an object whose scope is not
    /// marked, adds a taint: later uses after the end of the scope are not detected.
    pub fn keep_unmarked(&mut self, n: u32) {
        let watches_ends = self.b.cx.options.checks.iter().any(|check| check.is_fault());
        if watches_ends && self.scopes.unmarked.contains(&n) {
            self.b.approximate(
                "clang does not mark the end of an object whose address may be stored (a compound literal, a jump into a scope)",
                false,
                true,
            );
        }
    }

    /// Lowers the start or the end of a variable's scope. For a variable in memory, the object is created or dies.
    pub fn lower_scope(&mut self, i: &Instruction, begins: bool) {
        let Operand::Instruction(n) = self.b.ir().operand(i, 1) else { return };
        if let Some(var) = self.home(Operand::Instruction(n)) {
            if begins && self.uninitialised.contains(&var) {
                let (name, ty) = (self.b.cx.program.vars[var].name.clone(), self.b.cx.program.vars[var].ty);
                self.b.havoc_var(var, InputKind::Uninit(name), Some(ty));
            }
            // A dead variable is no root of the leak check.
            let width = self.b.cx.program.vars[var].width;
            if !begins && width >= self.b.pointer_width() && self.b.cx.options.checks.contains(&Check::Memtrack) {
                let nowhere = self.b.int(width, 0);
                let place = self.b.place.take();
                self.assign(var, nowhere, Operand::Nothing);
                self.b.place = place;
            }
            return;
        }
        let (true, Some(address)) = (self.scopes.variables.contains(&n), self.operand(Operand::Instruction(n))) else {
            return;
        };
        let &Expr::Var(var) = self.b.x().get(address) else { return };
        if !begins {
            self.b.emit(Op::Free { ptr: address, family: Family::Scope });
            return;
        }
        let alloca = *self.instruction(n);
        let [ty, align, _] = *self.b.ir().extra(&alloca) else { return };
        let size = self.b.size(self.b.ir().types[ty as usize].size);
        self.b.emit(Op::Alloc { var, size, align: align.max(1), kind: AllocKind::Stack, zeroed: false });
        self.b.poison(address, size);
    }

    /// Lowers instruction `n`, which restores the stack pointer.
    pub fn end_dynamic_scope(&mut self, n: u32) {
        for alloca in self.scopes.dynamic.remove(&n).unwrap_or_default() {
            let ptr = self.b.var_expr(self.scopes.addresses[&alloca]);
            self.b.emit(Op::Free { ptr, family: Family::Scope });
        }
    }
}

pub(super) fn find(fl: &mut FunctionLowering) {
    if !fl.b.cx.options.scopes() || fl.function.model {
        return;
    }
    let reachable = (0..fl.body.blocks.len()).filter(|&n| fl.blocks[n].loc.is_some());
    let instructions: Vec<u32> = reachable.flat_map(|n| fl.body.blocks[n].clone()).collect();
    let (mut saves, mut marked) = (Vec::new(), FxHashSet::default());
    for &i in &instructions {
        let instruction = fl.instruction(i);
        match fl.intrinsic(instruction) {
            Some(name) if name.starts_with("llvm.lifetime.start") => {
                if let Operand::Instruction(n) = fl.b.ir().operand(instruction, 1)
                    && fl.instruction(n).opcode == op::ALLOCA
                {
                    marked.insert(n);
                    if fl.homes[n as usize].is_none() {
                        fl.scopes.variables.insert(n);
                    }
                }
            }
            Some(name) if name.starts_with("llvm.stacksave") => saves.push(i),
            _ => {}
        }
    }
    for save in saves {
        find_dynamic(fl, save);
    }
    find_unmarked(fl, &instructions, &marked);
}

/// Finds the instructions that keep, or may keep, addresses of objects whose scopes clang does not mark: compound
/// literals, variables whose scope can be entered by a jump, and all variables of bitcode compiled without markers. A
/// call counts if it may capture an argument. For temporaries, which have no variable and are passed to the calls that
/// fill them, only a `store` counts. Optimised bitcode and bitcode without debug information may have variables that
/// look like temporaries, so all calls count there. Parameters and variables of the outermost block live as long as the
/// function, so they are excluded. (clang does not mark a returned variable of the outermost block, because it is the
/// result.)
fn find_unmarked(fl: &mut FunctionLowering, instructions: &[u32], marked: &FxHashSet<u32>) {
    let ir = fl.b.ir();
    let of = |operand| match operand {
        Operand::Instruction(n) => Some(n),
        _ => None,
    };
    let variables: FxHashSet<u32> =
        fl.body.variables.iter().filter(|v| v.is_address).filter_map(|v| of(v.value)).collect();
    let of_body = fl.body.variables.iter().filter(|v| v.is_address && v.is_of_body);
    let of_body: FxHashSet<u32> = of_body.filter_map(|v| of(v.value)).collect();
    let stores = instructions.iter().map(|&n| fl.instruction(n)).filter(|i| i.opcode == op::STORE);
    let of_arguments = stores.filter(|i| matches!(ir.operand(i, 0), Operand::Argument(_)));
    let mut parameters: FxHashSet<u32> = of_arguments.filter_map(|i| of(ir.operand(i, 1))).collect();
    if fl.b.asks_for(Check::Memory) {
        let not_marked =
            variables.iter().filter(|n| ![marked, &parameters, &of_body].into_iter().any(|all| all.contains(n)));
        let not_marked: FxHashSet<u32> = not_marked.copied().collect();
        find_lasting(fl, instructions, &not_marked);
    }
    let is_unnamed = fl.function.is_optimised() || fl.function.bitcode && fl.function.c_name.is_empty();
    if fl.function.is_optimised() {
        // Passes may replace a load of a parameter by the argument, which is then stored in another variable.
        parameters.clear();
    }
    // For each value that points into such an object, whether a call may keep it.
    let mut within: FxHashMap<u32, bool> = FxHashMap::default();
    let mut captures = Captures::default();
    let found = |within: &FxHashMap<u32, bool>| (within.len(), within.values().filter(|passed| **passed).count());
    // A phi may precede its operands in the order of the text, so the flow is iterated to a fixed point.
    let mut before = None;
    while before != Some(found(&within)) {
        before = Some(found(&within));
        for &n in instructions {
            let i = fl.instruction(n);
            let from = |operand| of(operand).and_then(|v| within.get(&v).copied());
            match i.opcode {
                op::ALLOCA => {
                    let flags = ir.extra(i)[2];
                    // A call of `alloca` allocates bytes that live as long as the function.
                    let one = matches!(ir.operand(i, 0), Operand::Constant(c) if ir.is_one(c));
                    let is_object = fl.homes[n as usize].is_none() && flags & op::IS_STATIC != 0 && one;
                    if is_object && ![marked, &parameters, &of_body].into_iter().any(|lives| lives.contains(&n)) {
                        within.insert(n, flags & op::IS_LITERAL != 0 || is_unnamed || variables.contains(&n));
                    }
                }
                opcode if capture::goes_through(opcode) => {
                    if let Some(passed) = ir.operands(i).filter_map(from).max() {
                        within.insert(n, passed);
                    }
                }
                op::STORE | op::ATOMIC_RMW | op::CMP_XCHG if stored(fl, i).is_some_and(|o| from(o).is_some()) => {
                    fl.scopes.unmarked.insert(n);
                }
                op::CALL if fl.intrinsic(i).is_some_and(|f| f.starts_with("llvm.")) => {
                    if stored(fl, i).is_some_and(|o| from(o).is_some()) {
                        fl.scopes.unmarked.insert(n);
                    } else if let Some(passed) = ir.operands(i).filter_map(from).max() {
                        within.insert(n, passed);
                    }
                }
                // A called function may keep it.
                op::CALL | op::INVOKE if ir.operands(i).any(|o| from(o) == Some(true)) => {
                    match captures.of_call(fl.b.cx, i, |o| from(o) == Some(true)) {
                        Capture::Dropped => {}
                        Capture::Returned => _ = within.insert(n, true),
                        Capture::Kept => _ = fl.scopes.unmarked.insert(n),
                    }
                }
                _ => {}
            }
        }
    }
}

/// The operand that an instruction stores in memory.
fn stored(fl: &FunctionLowering, i: &Instruction) -> Option<Operand> {
    let position = match i.opcode {
        op::STORE => 0,
        op::ATOMIC_RMW => 1,
        op::CMP_XCHG => 2,
        _ => capture::stored_operand(fl.intrinsic(i)?)?,
    };
    Some(fl.b.ir().operand(i, position))
}

/// If a variable without a marked scope is used repeatedly, adds a taint: a later use without initialisation is not
/// detected.
fn find_lasting(fl: &mut FunctionLowering, instructions: &[u32], variables: &FxHashSet<u32>) {
    let uses =
        |i: &Instruction| fl.b.ir().operands(i).any(|o| matches!(o, Operand::Instruction(n) if variables.contains(&n)));
    let repeats = |block: u32| {
        let mut seen = FxHashSet::default();
        let mut work: Vec<u32> = fl.successors(block).collect();
        while let Some(next) = work.pop() {
            if next == block {
                return true;
            }
            if seen.insert(next) {
                work.extend(fl.successors(next));
            }
        }
        false
    };
    let using: Vec<u32> = instructions.iter().copied().filter(|&n| uses(fl.instruction(n))).collect();
    let block_of =
        |n: u32| fl.body.blocks.iter().position(|range| range.contains(&n)).expect("it is in a block") as u32;
    if using.into_iter().any(|n| repeats(block_of(n))) {
        let what =
            "clang does not mark the scope of a variable that may be used uninitialised (after a jump into the scope)";
        fl.b.approximate(what, false, true);
    }
}

/// Follows the control flow from where the stack pointer is saved to where it is restored.
fn find_dynamic(fl: &mut FunctionLowering, save: u32) {
    let ir = fl.b.ir();
    // With -O0, it is saved in a variable.
    let slot = fl.body.instructions.iter().find_map(|i| {
        let stored = i.opcode == op::STORE && ir.operand(i, 0) == Operand::Instruction(save);
        stored.then(|| ir.operand(i, 1))
    });
    let restores = |n: u32| {
        let i = fl.instruction(n);
        let Some("llvm.stackrestore.p0") = fl.intrinsic(i) else { return false };
        match ir.operand(i, 0) {
            Operand::Instruction(from) if from == save => true,
            Operand::Instruction(from) => {
                let load = fl.instruction(from);
                load.opcode == op::LOAD && Some(ir.operand(load, 0)) == slot
            }
            _ => false,
        }
    };
    let (mut found, mut ends) = (Vec::new(), Vec::new());
    let block = fl.body.blocks.iter().position(|range| range.contains(&save)).expect("it is in a block") as u32;
    let mut seen = FxHashSet::default();
    let mut work = vec![(block, save + 1)];
    while let Some((block, start)) = work.pop() {
        let range = start..fl.body.blocks[block as usize].end;
        let end = range.clone().find(|&n| restores(n));
        let inside = range.start..end.unwrap_or(range.end);
        found.extend(inside.filter(|&n| fl.instruction(n).opcode == op::ALLOCA));
        match end {
            Some(end) => ends.push(end),
            None => {
                let next = fl.successors(block).filter(|&b| seen.insert(b));
                work.extend(next.map(|b| (b, fl.body.blocks[b as usize].start)));
            }
        }
    }
    // Allocations of fixed size are executed at the entry.
    found.retain(|&n| fl.homes[n as usize].is_none());
    // A repeated execution creates another object, but only the last one is deallocated.
    let repeats = |n: u32| {
        let own = fl.body.blocks.iter().position(|range| range.contains(&n)).expect("it is in a block") as u32;
        let mut seen = FxHashSet::default();
        let mut work = vec![(own, n + 1)];
        while let Some((block, start)) = work.pop() {
            let range = start..fl.body.blocks[block as usize].end;
            match range.clone().find(|&m| m == n || restores(m)) {
                Some(m) if m == n => return true,
                Some(_) => {}
                None => {
                    let next = fl.successors(block).filter(|&b| seen.insert(b));
                    work.extend(next.map(|b| (b, fl.body.blocks[b as usize].start)));
                }
            }
        }
        false
    };
    let again: Vec<u32> = found.iter().copied().filter(|&n| repeats(n)).collect();
    fl.scopes.unmarked.extend(again);
    for &n in &found {
        // The end of the scope uses the address once more.
        fl.values[n as usize].single = false;
        if !fl.scopes.addresses.contains_key(&n) {
            let width = fl.b.pointer_width();
            let (var, value) = (fl.b.temp(width), fl.b.int(width, 0));
            fl.scopes.addresses.insert(n, var);
            fl.b.emit(Op::Assign { var, value });
        }
    }
    for end in ends {
        let allocas = fl.scopes.dynamic.entry(end).or_default();
        allocas.extend(&found);
        allocas.sort_unstable();
        allocas.dedup();
    }
}
