//! Before a function is lowered: the order of its blocks, who uses what, and which cells become variables.

use super::{Accesses, Block, FlowGraph, FunctionLowering, Mutability};
use crate::ir::{ConstantKind, DebugVariable, Instruction, Module, NONE, Operand, op};
use crate::lower::uses::same_scalar;
use cfa::{CType, Expr, Id, Var, VarId, VarKind};

impl<'m> FunctionLowering<'_, 'm> {
    pub(super) fn successors(&self, block: u32) -> impl Iterator<Item = u32> + use<'m> {
        let last = &self.body.instructions[self.body.blocks[block as usize].end as usize - 1];
        self.b.ir().operands(last).filter_map(|operand| match operand {
            Operand::Block(n) => Some(n),
            _ => None,
        })
    }

    /// Gives reachable blocks a location, and the order in which they are lowered: every block after those that
    /// dominate it, and otherwise as near to the order of the text as a depth-first search comes.
    pub(super) fn find_reachable(&mut self) -> FlowGraph {
        let count = self.body.blocks.len();
        let mut predecessors = vec![Vec::new(); count];
        let mut seen = vec![false; count];
        seen[0] = true;
        // Blocks entered, each with the successors still to be visited. The last successor comes first, so
        // that it is finished first and stands last.
        let mut stack = vec![(0u32, self.successors(0).collect::<Vec<_>>())];
        while let Some((block, rest)) = stack.last_mut() {
            let block = *block;
            match rest.pop() {
                Some(next) => {
                    predecessors[next as usize].push(block);
                    if !std::mem::replace(&mut seen[next as usize], true) {
                        let successors = self.successors(next).collect();
                        stack.push((next, successors));
                    }
                }
                None => {
                    self.order.push(block);
                    stack.pop();
                }
            }
        }
        self.order.reverse();
        for (n, range) in self.body.blocks.iter().enumerate() {
            if seen[n] {
                let loc = if n == 0 { self.b.cx.program.funcs[self.b.func].entry } else { self.b.new_location() };
                let phis = range.clone().take_while(|&i| self.instruction(i).opcode == op::PHI).count() as u32;
                self.blocks[n] = Block { loc: Some(loc), first: range.start + phis };
            }
        }
        FlowGraph { predecessors }
    }

    pub(super) fn count_uses(&mut self) {
        let mut block_of = vec![0; self.body.instructions.len()];
        for (n, range) in self.body.blocks.iter().enumerate() {
            block_of[range.start as usize..range.end as usize].fill(n as u32);
        }
        for (n, range) in self.body.blocks.iter().enumerate() {
            if self.blocks[n].loc.is_none() {
                continue;
            }
            for i in range.clone() {
                let instruction = self.instruction(i);
                let is_phi = instruction.opcode == op::PHI;
                let mut operands = self.b.ir().operands(instruction);
                while let Some(operand) = operands.next() {
                    // A phi uses its operands at the end of the block they come from.
                    let at = match (is_phi, is_phi.then(|| operands.next()).flatten()) {
                        (true, Some(Operand::Block(from))) => from,
                        _ => n as u32,
                    };
                    if let Operand::Instruction(v) = operand {
                        self.values[v as usize].uses += 1;
                        self.values[v as usize].single = self.values[v as usize].uses == 1;
                        self.values[v as usize].leaves |= block_of[v as usize] != at;
                    }
                }
            }
        }
    }

    pub(super) fn set_variable(&mut self, var: VarId, info: &DebugVariable, is_pointer_to: bool) {
        let cx = &mut *self.b.cx;
        let place = cx.source.place(&mut cx.program, info.file, info.line);
        if cx.program.vars[var].name.is_some() {
            return;
        }
        let mut ty = cx.source.c_type(info.c_type);
        if is_pointer_to {
            ty = cx.program.types.push(CType::Pointer(ty));
        }
        let entry = &mut cx.program.vars[var];
        entry.name = Some(if is_pointer_to { format!("&{}", info.name) } else { info.name.clone() });
        entry.place = place;
        if info.c_type != NONE {
            entry.ty = ty;
        }
    }

    /// Names parameters that debug information describes directly (optimised code, structs passed in memory).
    pub(super) fn name_parameters(&mut self) {
        for info in &self.body.variables {
            if let Operand::Argument(n) = info.value
                && info.is_plain
                && let Expr::Var(var) = *self.b.x().get(self.args[n as usize])
            {
                self.set_variable(var, info, info.is_address);
            }
        }
    }

    /// Names the temporaries of phis after the C variable they hold.
    pub(super) fn name_values(&mut self) {
        for info in &self.body.variables {
            if let Operand::Instruction(n) = info.value
                && info.is_plain
                && !info.is_address
                && self.instruction(n).opcode == op::PHI
                && let Some(phi) = self.values[n as usize].expr
                && let Expr::Var(var) = *self.b.x().get(phi)
                && self.same_width(var, info.c_type)
            {
                self.set_variable(var, info, false);
            }
        }
    }

    fn same_width(&mut self, var: VarId, c_type: u32) -> bool {
        let ty = self.b.cx.source.c_type(c_type);
        let width = self.b.cx.program.vars[var].width;
        match self.b.cx.program.plain_type(ty) {
            CType::Int { width: w, .. } | CType::Enum { width: w, .. } => *w == width,
            CType::Float { format, .. } => format.width() == width,
            CType::Pointer(_) => width == self.b.cx.pointer_width,
            _ => false,
        }
    }

    /// Turns cells into variables and returns those that may be read before they are written.
    pub(super) fn promote(&mut self, graph: &FlowGraph) -> Vec<VarId> {
        let candidates = self.promotable();
        let mut index = vec![NONE; self.body.instructions.len()];
        for (n, &alloca) in candidates.iter().enumerate() {
            index[alloca as usize] = n as u32;
        }
        // Who accesses what, in which block; and the first access in the entry block.
        let mut accesses = vec![Accesses::default(); candidates.len()];
        let mut last_read = vec![NONE; candidates.len()];
        let mut last_write = vec![NONE; candidates.len()];
        let mut parameter = vec![None; candidates.len()];
        let argument_uses = self.argument_uses();
        for (block, range) in self.body.blocks.iter().enumerate() {
            if self.blocks[block].loc.is_none() {
                continue;
            }
            let block = block as u32;
            for i in range.clone() {
                let instruction = self.instruction(i);
                let address = match instruction.opcode {
                    op::LOAD => 0,
                    op::STORE => 1,
                    _ => continue,
                };
                let Operand::Instruction(alloca) = self.b.ir().operand(instruction, address) else { continue };
                let n = index[alloca as usize];
                if n == NONE {
                    continue;
                }
                let n = n as usize;
                let first = last_read[n] != block && last_write[n] != block;
                if instruction.opcode == op::LOAD {
                    if first {
                        accesses[n].read_first.push(block);
                    }
                    last_read[n] = block;
                } else {
                    if last_write[n] != block {
                        accesses[n].writes.push(block);
                    }
                    last_write[n] = block;
                    if first
                        && block == 0
                        && let Operand::Argument(a) = self.b.ir().operand(instruction, 0)
                        && argument_uses[a as usize] == 1
                    {
                        parameter[n] = Some((a, i));
                    }
                }
            }
        }
        let live = graph.live_at_entry(&accesses);
        let mut uninitialised = Vec::new();
        for (n, &alloca) in candidates.iter().enumerate() {
            let info = self.addresses.get(&alloca).copied();
            let var = match parameter[n] {
                Some((argument, store)) => {
                    self.parameter_stores.push(store);
                    self.parameter_variable(argument, accesses[n].writes.len() > 1 || self.writes(alloca) > 1)
                }
                None => self.local_variable(alloca, info.is_some()),
            };
            if let Some(info) = info {
                self.set_variable(var, info, false);
            }
            self.homes[alloca as usize] = Some(var);
            if live[n] {
                uninitialised.push(var);
            }
        }
        self.parameter_stores.sort_unstable();
        uninitialised
    }

    fn writes(&self, alloca: u32) -> usize {
        // Only asked of parameters: their uses are few.
        let is_write =
            |i: &&Instruction| i.opcode == op::STORE && self.b.ir().operand(i, 1) == Operand::Instruction(alloca);
        self.body.instructions.iter().filter(is_write).take(2).count()
    }

    fn argument_uses(&self) -> Vec<u32> {
        let mut uses = vec![0; self.args.len()];
        for instruction in &self.body.instructions {
            for operand in self.b.ir().operands(instruction) {
                if let Operand::Argument(n) = operand {
                    uses[n as usize] += 1;
                }
            }
        }
        uses
    }

    /// Scalar cells that are only loaded and stored whole.
    fn promotable(&self) -> Vec<u32> {
        let ir = self.b.ir();
        let mut allocated = vec![NONE; self.body.instructions.len()];
        for i in self.body.blocks[0].clone() {
            let instruction = self.instruction(i);
            if instruction.opcode == op::ALLOCA && self.b.cx.width(ir.extra(instruction)[0]).is_some() {
                let [ty, _, flags] = *ir.extra(instruction) else { continue };
                let one = matches!(ir.operand(instruction, 0), Operand::Constant(c) if is_one(ir, c));
                if flags & op::IS_STATIC != 0 && one && same_scalar(ir, ty, ty) {
                    allocated[i as usize] = ty;
                }
            }
        }
        for instruction in &self.body.instructions {
            for (position, operand) in ir.operands(instruction).enumerate() {
                let Operand::Instruction(n) = operand else { continue };
                let ty = allocated[n as usize];
                if ty == NONE {
                    continue;
                }
                let whole = match (instruction.opcode, position) {
                    (op::LOAD, 0) => same_scalar(ir, ty, instruction.ty),
                    (op::STORE, 1) => ir
                        .operand_type(self.function, ir.operand(instruction, 0))
                        .is_some_and(|stored| same_scalar(ir, ty, stored)),
                    (op::CALL, _) => self.intrinsic(instruction).is_some_and(|name| name.starts_with("llvm.lifetime.")),
                    _ => false,
                };
                if !whole {
                    allocated[n as usize] = NONE;
                }
            }
        }
        (0..allocated.len() as u32).filter(|&n| allocated[n as usize] != NONE).collect()
    }

    /// The variable of a cell that its parameter is stored in first: the parameter itself.
    fn parameter_variable(&mut self, argument: u32, assigned: bool) -> VarId {
        let Expr::Var(var) = *self.b.x().get(self.args[argument as usize]) else {
            unreachable!("arguments are variables")
        };
        if assigned {
            let index = var.0 as usize;
            let table = &mut self.b.cx.mutability;
            if table.len() <= index {
                table.resize(index + 1, Mutability::Fixed);
            }
            table[index] = Mutability::Local;
            // Its expression exists already and was taken for fixed.
            let e = self.args[argument as usize];
            self.b.cx.info(e);
            self.b.cx.infos[e.index()].mutable = true;
        }
        var
    }

    fn local_variable(&mut self, alloca: u32, named: bool) -> VarId {
        let width =
            self.b.cx.width(self.b.ir().extra(self.instruction(alloca))[0]).expect("promoted cells are scalars");
        let ty = self.b.cx.unknown_type(Some(width));
        let kind = if named { VarKind::Local(self.b.func) } else { VarKind::Temp(self.b.func) };
        self.b.cx.add_var(Var { name: None, ty, width, kind, place: None }, Mutability::Local)
    }

    pub(super) fn make_phis(&mut self) {
        for n in 0..self.blocks.len() {
            if self.blocks[n].loc.is_none() {
                continue;
            }
            for i in self.body.blocks[n].start..self.blocks[n].first {
                if let Some(width) = self.b.cx.width(self.instruction(i).ty) {
                    let var = self.b.temp(width);
                    self.values[i as usize].expr = Some(self.b.var_expr(var));
                }
            }
        }
    }
}

pub(super) fn is_one(ir: &Module, constant: u32) -> bool {
    matches!(&ir.constants[constant as usize].kind, ConstantKind::Bits(words) if words[..] == [1])
}
