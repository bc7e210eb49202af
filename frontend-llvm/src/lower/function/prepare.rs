//! Preparation of a function: the order of its blocks, the uses of values, and the promotion of cells to variables.

use super::{Accesses, Block, FlowGraph, FunctionLowering, Mutability, scopes};
use crate::ir::{DebugVariable, Instruction, NONE, Operand, TypeKind, op};
use crate::lower::uses::same_scalar;
use cfa::{CType, Expr, Id, Var, VarId, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

impl<'m> FunctionLowering<'_, 'm> {
    pub(super) fn successors(&self, block: u32) -> impl Iterator<Item = u32> + use<'m> {
        let last = &self.body.instructions[self.body.blocks[block as usize].end as usize - 1];
        self.b.ir().operands(last).filter_map(|operand| match operand {
            Operand::Block(n) => Some(n),
            _ => None,
        })
    }
}

/// Creates the locations of blocks and the names of variables. Returns the variables that are initially uninitialised.
pub(super) fn prepare(fl: &mut FunctionLowering) -> Vec<VarId> {
    let graph = find_reachable(fl);
    count_uses(fl);
    name_parameters(fl);
    let uninitialised = promote(fl, &graph);
    scopes::find(fl);
    make_phis(fl);
    name_values(fl);
    uninitialised
}

/// Creates a location for each reachable block, and determines the order of lowering: each block comes after its
/// dominators, and otherwise as close to the order of the text as a depth-first search permits.
fn find_reachable(fl: &mut FunctionLowering) -> FlowGraph {
    let count = fl.body.blocks.len();
    let mut predecessors = vec![Vec::new(); count];
    let mut seen = vec![false; count];
    seen[0] = true;
    // The entered blocks, each with the successors to visit. The last successor is visited first, so that it is
    // finished first and is last in the order.
    let mut stack = vec![(0u32, fl.successors(0).collect::<Vec<_>>())];
    while let Some((block, rest)) = stack.last_mut() {
        let block = *block;
        match rest.pop() {
            Some(next) => {
                predecessors[next as usize].push(block);
                if !std::mem::replace(&mut seen[next as usize], true) {
                    let successors = fl.successors(next).collect();
                    stack.push((next, successors));
                }
            }
            None => {
                fl.order.push(block);
                stack.pop();
            }
        }
    }
    fl.order.reverse();
    for (n, range) in fl.body.blocks.iter().enumerate() {
        if seen[n] {
            let loc = if n == 0 { fl.b.cx.program.funcs[fl.b.func].entry } else { fl.b.new_location() };
            let phis = range.clone().take_while(|&i| fl.instruction(i).opcode == op::PHI).count() as u32;
            fl.blocks[n] = Block { loc: Some(loc), first: range.start + phis };
        }
    }
    FlowGraph { predecessors }
}

fn count_uses(fl: &mut FunctionLowering) {
    let mut block_of = vec![0; fl.body.instructions.len()];
    for (n, range) in fl.body.blocks.iter().enumerate() {
        block_of[range.start as usize..range.end as usize].fill(n as u32);
    }
    for (n, range) in fl.body.blocks.iter().enumerate() {
        if fl.blocks[n].loc.is_none() {
            continue;
        }
        for i in range.clone() {
            let instruction = fl.instruction(i);
            let is_phi = instruction.opcode == op::PHI;
            let mut operands = fl.b.ir().operands(instruction);
            while let Some(operand) = operands.next() {
                // A phi uses an operand at the end of the block that it comes from.
                let at = match (is_phi, is_phi.then(|| operands.next()).flatten()) {
                    (true, Some(Operand::Block(from))) => from,
                    _ => n as u32,
                };
                if let Operand::Instruction(v) = operand {
                    fl.values[v as usize].uses += 1;
                    fl.values[v as usize].single = fl.values[v as usize].uses == 1;
                    fl.values[v as usize].leaves |= block_of[v as usize] != at;
                }
            }
        }
    }
}

pub(super) fn set_variable(fl: &mut FunctionLowering, var: VarId, info: &DebugVariable, is_pointer_to: bool) {
    let cx = &mut *fl.b.cx;
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
fn name_parameters(fl: &mut FunctionLowering) {
    for info in &fl.body.variables {
        if let Operand::Argument(n) = info.value
            && info.is_plain
            && let Expr::Var(var) = *fl.b.x().get(fl.args[n as usize])
        {
            set_variable(fl, var, info, info.is_address);
        }
    }
}

/// Names the temporaries of phis after their C variables.
fn name_values(fl: &mut FunctionLowering) {
    for info in &fl.body.variables {
        if let Operand::Instruction(n) = info.value
            && info.is_plain
            && !info.is_address
            && fl.instruction(n).opcode == op::PHI
            && let Some(phi) = fl.values[n as usize].expr
            && let Expr::Var(var) = *fl.b.x().get(phi)
            && same_width(fl, var, info.c_type)
        {
            set_variable(fl, var, info, false);
        }
    }
}

fn same_width(fl: &mut FunctionLowering, var: VarId, c_type: u32) -> bool {
    let ty = fl.b.cx.source.c_type(c_type);
    let width = fl.b.cx.program.vars[var].width;
    match fl.b.cx.program.plain_type(ty) {
        CType::Int { width: w, .. } | CType::Enum { width: w, .. } => *w == width,
        CType::Float { format, .. } => format.width() == width,
        CType::Pointer(_) => width == fl.b.cx.pointer_width,
        _ => false,
    }
}

/// Promotes cells to variables. Returns those that may be read before they are written.
fn promote(fl: &mut FunctionLowering, graph: &FlowGraph) -> Vec<VarId> {
    let mut candidates = promotable(fl);
    if fl.b.cx.options.scopes() {
        let outlived = accessed_after_scope(fl, graph, &candidates);
        candidates.retain(|alloca| !outlived.contains(alloca));
    }
    let mut index = vec![NONE; fl.body.instructions.len()];
    for (n, &alloca) in candidates.iter().enumerate() {
        index[alloca as usize] = n as u32;
    }
    // The accesses to each cell by block, and the first access in the entry block.
    let mut accesses = vec![Accesses::default(); candidates.len()];
    let mut last_read = vec![NONE; candidates.len()];
    let mut last_write = vec![NONE; candidates.len()];
    let mut parameter = vec![None; candidates.len()];
    let argument_uses = argument_uses(fl);
    for (block, range) in fl.body.blocks.iter().enumerate() {
        if fl.blocks[block].loc.is_none() {
            continue;
        }
        let block = block as u32;
        for i in range.clone() {
            let instruction = fl.instruction(i);
            let address = match instruction.opcode {
                op::LOAD => 0,
                op::STORE => 1,
                _ => continue,
            };
            let Operand::Instruction(alloca) = fl.b.ir().operand(instruction, address) else { continue };
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
                    && let Operand::Argument(a) = fl.b.ir().operand(instruction, 0)
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
        let info = fl.addresses.get(&alloca).copied();
        let var = match parameter[n] {
            Some((argument, store)) => {
                fl.parameter_stores.push(store);
                parameter_variable(fl, argument, accesses[n].writes.len() > 1 || writes(fl, alloca) > 1)
            }
            None => local_variable(fl, alloca, info.is_some()),
        };
        if let Some(info) = info {
            set_variable(fl, var, info, false);
        }
        fl.homes[alloca as usize] = Some(var);
        if live[n] {
            uninitialised.push(var);
        }
    }
    fl.parameter_stores.sort_unstable();
    uninitialised
}

fn writes(fl: &FunctionLowering, alloca: u32) -> usize {
    // This is only called for parameters, which have few uses.
    let is_write = |i: &&Instruction| i.opcode == op::STORE && fl.b.ir().operand(i, 1) == Operand::Instruction(alloca);
    fl.body.instructions.iter().filter(is_write).take(2).count()
}

fn argument_uses(fl: &FunctionLowering) -> Vec<u32> {
    let mut uses = vec![0; fl.args.len()];
    for instruction in &fl.body.instructions {
        for operand in fl.b.ir().operands(instruction) {
            if let Operand::Argument(n) = operand {
                uses[n as usize] += 1;
            }
        }
    }
    uses
}

/// Scalar cells that are only loaded and stored as a whole.
fn promotable(fl: &FunctionLowering) -> Vec<u32> {
    let ir = fl.b.ir();
    let mut allocated = vec![NONE; fl.body.instructions.len()];
    for i in fl.body.blocks[0].clone() {
        let instruction = fl.instruction(i);
        if instruction.opcode == op::ALLOCA && fl.b.cx.width(ir.extra(instruction)[0]).is_some() {
            let [ty, _, flags] = *ir.extra(instruction) else { continue };
            let one = matches!(ir.operand(instruction, 0), Operand::Constant(c) if ir.is_one(c));
            if flags & op::IS_STATIC != 0 && one && same_scalar(ir, ty, ty) {
                allocated[i as usize] = ty;
            }
        }
    }
    for instruction in &fl.body.instructions {
        for (position, operand) in ir.operands(instruction).enumerate() {
            let Operand::Instruction(n) = operand else { continue };
            let ty = allocated[n as usize];
            if ty == NONE {
                continue;
            }
            let whole = match (instruction.opcode, position) {
                (op::LOAD, 0) => same_scalar(ir, ty, instruction.ty),
                (op::STORE, 1) => ir
                    .operand_type(fl.function, ir.operand(instruction, 0))
                    .is_some_and(|stored| same_scalar(ir, ty, stored)),
                (op::CALL, _) => fl.intrinsic(instruction).is_some_and(|name| name.starts_with("llvm.lifetime.")),
                _ => false,
            };
            if !whole {
                allocated[n as usize] = NONE;
            }
        }
    }
    (0..allocated.len() as u32).filter(|&n| allocated[n as usize] != NONE).collect()
}

/// An event of a cell in a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Event {
    /// The lifetime of the cell begins.
    Begins,
    /// The lifetime of the cell ends.
    Ends,
    /// The cell is accessed.
    Access,
}

/// The cells with an access after an `llvm.lifetime.end` that no `llvm.lifetime.start` follows. In C such an access
/// uses a pointer. In bitcode it may name the cell.
fn accessed_after_scope(fl: &FunctionLowering, graph: &FlowGraph, candidates: &[u32]) -> FxHashSet<u32> {
    let mut events: FxHashMap<u32, BTreeMap<u32, Vec<Event>>> = FxHashMap::default();
    let mut ended = FxHashSet::default();
    for (block, range) in fl.body.blocks.iter().enumerate().filter(|(block, _)| fl.blocks[*block].loc.is_some()) {
        for instruction in range.clone().map(|i| fl.instruction(i)) {
            let (operand, event) = match (instruction.opcode, fl.intrinsic(instruction)) {
                (op::LOAD, _) => (0, Event::Access),
                (op::STORE, _) => (1, Event::Access),
                (_, Some(name)) if name.starts_with("llvm.lifetime.start") => (1, Event::Begins),
                (_, Some(name)) if name.starts_with("llvm.lifetime.end") => (1, Event::Ends),
                _ => continue,
            };
            let Operand::Instruction(cell) = fl.b.ir().operand(instruction, operand) else { continue };
            events.entry(cell).or_default().entry(block as u32).or_default().push(event);
            if event == Event::Ends {
                ended.insert(cell);
            }
        }
    }
    let is_outlived = |cell: &&u32| ended.contains(*cell) && comes_after_end(&events[*cell], graph);
    candidates.iter().filter(is_outlived).copied().collect()
}

/// True if an access follows the end of a scope without a new start.
fn comes_after_end(events: &BTreeMap<u32, Vec<Event>>, graph: &FlowGraph) -> bool {
    let mut todo = Vec::new();
    for (&block, events) in events {
        let follows = |pair: &[Event]| pair[0] == Event::Ends && pair[1] == Event::Access;
        if events.windows(2).any(follows) {
            return true;
        }
        if events.first() == Some(&Event::Access) {
            todo.push(block);
        }
    }
    let mut seen = FxHashSet::default();
    while let Some(block) = todo.pop() {
        for &before in &graph.predecessors[block as usize] {
            let mut marks = events.get(&before).into_iter().flatten().filter(|event| **event != Event::Access);
            match marks.next_back() {
                Some(Event::Ends) => return true,
                Some(_) => {}
                None if seen.insert(before) => todo.push(before),
                None => {}
            }
        }
    }
    false
}

/// The variable of a cell whose first store is a parameter: the parameter itself.
fn parameter_variable(fl: &mut FunctionLowering, argument: u32, assigned: bool) -> VarId {
    let Expr::Var(var) = *fl.b.x().get(fl.args[argument as usize]) else { unreachable!("arguments are variables") };
    if assigned {
        let index = var.0 as usize;
        let table = &mut fl.b.cx.mutability;
        if table.len() <= index {
            table.resize(index + 1, Mutability::Fixed);
        }
        table[index] = Mutability::Local;
        // Its expression already exists and was considered fixed.
        let e = fl.args[argument as usize];
        fl.b.cx.info(e);
        fl.b.cx.infos[e.index()].mutable = true;
    }
    var
}

fn local_variable(fl: &mut FunctionLowering, alloca: u32, named: bool) -> VarId {
    let held = fl.b.ir().extra(fl.instruction(alloca))[0];
    let width = fl.b.cx.width(held).expect("promoted cells are scalars");
    let ty = fl.b.cx.unknown_type(Some(width));
    let kind = if named { VarKind::Local(fl.b.func) } else { VarKind::Temp(fl.b.func) };
    let var = fl.b.cx.add_var(Var { name: None, ty, width, kind, place: None }, Mutability::Local);
    if let TypeKind::Pointer = fl.b.ir().kind(held) {
        fl.b.cx.holds_pointers(var);
    }
    var
}

fn make_phis(fl: &mut FunctionLowering) {
    for n in 0..fl.blocks.len() {
        if fl.blocks[n].loc.is_none() {
            continue;
        }
        for i in fl.body.blocks[n].start..fl.blocks[n].first {
            if let Some(width) = fl.b.cx.width(fl.instruction(i).ty) {
                let var = fl.b.temp(width);
                let value = fl.b.var_expr(var);
                fl.define_saved(i, value);
            }
        }
    }
}
