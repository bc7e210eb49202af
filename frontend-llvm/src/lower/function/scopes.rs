//! Where the lives of variables in memory begin and end, for checks that ask: `llvm.lifetime.*` marks the scopes of variables of a
//! fixed size; where that of an array of variable length ends, the stack pointer goes back to where it was saved.

use super::FunctionLowering;
use crate::ir::{Instruction, Operand, op};
use cfa::{AllocKind, Expr, Op, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

#[derive(Default)]
pub struct Scopes {
    /// The `alloca`s of variables whose scope begins later than their function.
    pub variables: FxHashSet<u32>,
    /// By `llvm.stackrestore`: the `alloca`s that may have been executed since the stack pointer was saved.
    dynamic: FxHashMap<u32, Vec<u32>>,
    /// `store`s that keep the address of a compound literal, and calls that may.
    literals: FxHashSet<u32>,
    /// Where these put their addresses; null before they are executed.
    pub addresses: FxHashMap<u32, VarId>,
}

impl FunctionLowering<'_, '_> {
    /// The name of the intrinsic that an instruction calls, if it calls a function by name.
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

    pub(super) fn find_scopes(&mut self) {
        if !self.b.cx.options.scopes() || self.function.model {
            return;
        }
        let reachable = (0..self.body.blocks.len()).filter(|&n| self.blocks[n].loc.is_some());
        let instructions: Vec<u32> = reachable.flat_map(|n| self.body.blocks[n].clone()).collect();
        let mut saves = Vec::new();
        for &i in &instructions {
            let instruction = self.instruction(i);
            match self.intrinsic(instruction) {
                Some(name) if name.starts_with("llvm.lifetime.start") => {
                    if let Operand::Instruction(n) = self.b.ir().operand(instruction, 1)
                        && self.instruction(n).opcode == op::ALLOCA
                        && self.homes[n as usize].is_none()
                    {
                        self.scopes.variables.insert(n);
                    }
                }
                Some(name) if name.starts_with("llvm.stacksave") => saves.push(i),
                _ => {}
            }
        }
        for save in saves {
            self.find_dynamic(save);
        }
        self.find_literals(&instructions);
    }

    /// Where addresses of compound literals are or may be kept. Clang says nothing of their scopes, and names them.
    fn find_literals(&mut self, instructions: &[u32]) {
        let ir = self.b.ir();
        let mut within = FxHashSet::default();
        for &n in instructions {
            let i = self.instruction(n);
            let from = |operand| matches!(operand, Operand::Instruction(v) if within.contains(&v));
            match i.opcode {
                op::ALLOCA if self.homes[n as usize].is_none() && ir.extra(i)[2] & op::IS_LITERAL != 0 => {
                    within.insert(n);
                }
                op::GEP | op::BIT_CAST | op::PHI | op::SELECT if ir.operands(i).any(from) => {
                    within.insert(n);
                }
                op::STORE if from(ir.operand(i, 0)) => {
                    self.scopes.literals.insert(n);
                }
                // Whoever is called may keep it.
                op::CALL if ir.operands(i).any(from) && self.intrinsic(i).is_none_or(|f| !f.starts_with("llvm.")) => {
                    self.scopes.literals.insert(n);
                }
                _ => {}
            }
        }
    }

    /// Before instruction `n`, a `store` or call: if it keeps the address of a compound literal, a use after the end of its scope is
    /// not seen from here on.
    pub fn keep_literal(&mut self, n: u32) {
        if self.scopes.literals.contains(&n) {
            self.b.approximate(
                "the address of a compound literal may be kept, whose scope has no end here",
                false,
                true,
            );
        }
    }

    /// Follows control from where the stack pointer is saved to where it is restored.
    fn find_dynamic(&mut self, save: u32) {
        let ir = self.b.ir();
        // -O0 keeps it in a variable.
        let slot = self.body.instructions.iter().find_map(|i| {
            let stored = i.opcode == op::STORE && ir.operand(i, 0) == Operand::Instruction(save);
            stored.then(|| ir.operand(i, 1))
        });
        let restores = |n: u32| {
            let i = self.instruction(n);
            let Some("llvm.stackrestore.p0") = self.intrinsic(i) else { return false };
            match ir.operand(i, 0) {
                Operand::Instruction(from) if from == save => true,
                Operand::Instruction(from) => {
                    let load = self.instruction(from);
                    load.opcode == op::LOAD && Some(ir.operand(load, 0)) == slot
                }
                _ => false,
            }
        };
        let (mut found, mut ends) = (Vec::new(), Vec::new());
        let block = self.body.blocks.iter().position(|range| range.contains(&save)).expect("it is in a block") as u32;
        let mut seen = FxHashSet::default();
        let mut work = vec![(block, save + 1)];
        while let Some((block, start)) = work.pop() {
            let range = start..self.body.blocks[block as usize].end;
            let end = range.clone().find(|&n| restores(n));
            let inside = range.start..end.unwrap_or(range.end);
            found.extend(inside.filter(|&n| self.instruction(n).opcode == op::ALLOCA));
            match end {
                Some(end) => ends.push(end),
                None => {
                    let next = self.successors(block).filter(|&b| seen.insert(b));
                    work.extend(next.map(|b| (b, self.body.blocks[b as usize].start)));
                }
            }
        }
        // Those of a fixed size are executed before.
        found.retain(|&n| self.homes[n as usize].is_none());
        for &n in &found {
            // Its address is used once more: where the scope ends.
            self.values[n as usize].single = false;
            if !self.scopes.addresses.contains_key(&n) {
                let width = self.b.pointer_width();
                let (var, value) = (self.b.temp(width), self.b.int(width, 0));
                self.scopes.addresses.insert(n, var);
                self.b.emit(Op::Assign { var, value });
            }
        }
        for end in ends {
            let allocas = self.scopes.dynamic.entry(end).or_default();
            allocas.extend(&found);
            allocas.sort_unstable();
            allocas.dedup();
        }
    }

    /// The scope of a variable begins or ends. One in memory is an object that lives as long.
    pub fn lower_scope(&mut self, i: &Instruction, begins: bool) {
        let Operand::Instruction(n) = self.b.ir().operand(i, 1) else { return };
        if let Some(var) = self.home(Operand::Instruction(n)) {
            // Nothing is pointed to by a variable that is gone.
            let width = self.b.cx.program.vars[var].width;
            if !begins && width >= self.b.pointer_width() && self.b.cx.options.checks.contains(&cfa::Check::Memtrack) {
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
            self.b.emit(Op::Free { ptr: address, kind: AllocKind::Stack });
            return;
        }
        let alloca = *self.instruction(n);
        let [ty, align, _] = *self.b.ir().extra(&alloca) else { return };
        let size = self.b.size(self.b.ir().types[ty as usize].size);
        self.b.emit(Op::Alloc { var, size, align: align.max(1), kind: AllocKind::Stack, zeroed: false });
    }

    /// Instruction `n` sets the stack pointer back.
    pub fn end_dynamic_scope(&mut self, n: u32) {
        for alloca in self.scopes.dynamic.remove(&n).unwrap_or_default() {
            let ptr = self.b.var_expr(self.scopes.addresses[&alloca]);
            self.b.emit(Op::Free { ptr, kind: AllocKind::Stack });
        }
    }
}
