//! One function: blocks to locations, variables from cells, SSA values folded into the expressions of their users.
//!
//! The value of an instruction is an expression until something needs it otherwise. An expression over SSA
//! temporaries and parameters means the same wherever the value may be used. One over a C variable means what
//! the variable is *now*; so before an assignment to the variable, the values that mention it and still have
//! users are saved in temporaries, and values with users in other blocks are saved at once. Large
//! values are saved too, so that expressions on edges stay small trees.

use super::builder::{Builder, Cursor};
use super::liveness::{Accesses, FlowGraph};
use super::{Context, Mutability};
use crate::ir::{Body, DebugVariable, Function, Instruction, NONE, Operand, op};
use cfa::{Expr, ExprId, FuncId, InputKind, LocId, Op, TypeId, Var, VarId, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// Nodes of the largest tree that is not saved in a temporary.
const MAX_TREE: u16 = 64;
/// Nodes of the largest tree that is repeated in several users.
const MAX_SHARED_TREE: u16 = 8;
/// Instructions that one folded value may stand for.
const MAX_ORIGIN: u32 = 128;

/// The value of an instruction.
#[derive(Clone, Copy)]
pub(super) struct Value {
    /// `None` before its definition.
    expr: Option<ExprId>,
    /// Uses not lowered yet.
    uses: u32,
    /// Whether it has uses in other blocks.
    leaves: bool,
    /// Whether an assignment may change the meaning of `expr`.
    pending: bool,
    /// The instructions it stands for: a range of `FunctionLowering::origins`.
    origin: (u32, u32),
}

#[derive(Clone, Default)]
struct Block {
    loc: Option<LocId>,
    /// The instructions behind the phis.
    first: u32,
}

pub(super) struct FunctionLowering<'c, 'm> {
    pub b: Builder<'c, 'm>,
    pub function: &'m Function,
    /// Its number among the globals of the module.
    pub number: u32,
    pub body: &'m Body,
    pub args: Vec<ExprId>,
    values: Vec<Value>,
    /// The variable that an `alloca` became, by instruction.
    homes: Vec<Option<VarId>>,
    blocks: Vec<Block>,
    /// Reachable blocks in the order they are lowered.
    order: Vec<u32>,
    /// The block being lowered.
    block: u32,
    origins: Vec<u32>,
    /// Values that mention a C variable, some of them outdated.
    pending: FxHashMap<VarId, Vec<u32>>,
    /// Values that mention a global variable, some of them outdated.
    pending_globals: Vec<u32>,
    /// The plain debug variable at each `alloca`; the first if there are several.
    addresses: FxHashMap<u32, &'m DebugVariable>,
    /// Stores of parameters into their variables, which the call does.
    parameter_stores: Vec<u32>,
}

pub(super) fn lower(cx: &mut Context, n: usize, func: FuncId) {
    let function = &cx.ir.functions[n];
    let Some(body) = &function.body else { return };
    let params = cx.program.funcs[func].params.clone();
    let args = params.iter().map(|&var| cx.program.var_expr(var)).collect();
    let unset = Value { expr: None, uses: 0, leaves: false, pending: false, origin: (0, 0) };
    let number = (cx.ir.variables.len() + n) as u32;
    let mut lowering = FunctionLowering {
        b: Builder::new(cx, func),
        function,
        number,
        body,
        args,
        values: vec![unset; body.instructions.len()],
        homes: vec![None; body.instructions.len()],
        blocks: vec![Block::default(); body.blocks.len()],
        order: Vec::new(),
        block: 0,
        origins: Vec::new(),
        pending: FxHashMap::default(),
        pending_globals: Vec::new(),
        addresses: debug_addresses(body),
        parameter_stores: Vec::new(),
    };
    let graph = lowering.find_reachable();
    lowering.count_uses();
    lowering.name_parameters();
    let uninitialised = lowering.promote(&graph);
    lowering.make_phis();
    lowering.name_values();
    for var in uninitialised {
        let (name, ty) = (lowering.b.cx.program.vars[var].name.clone(), lowering.b.cx.program.vars[var].ty);
        lowering.b.havoc_var(var, InputKind::Uninit(name), Some(ty));
    }
    for block in std::mem::take(&mut lowering.order) {
        lowering.lower_block(block);
    }
}

impl<'c, 'm> FunctionLowering<'c, 'm> {
    // Preparation.

    pub fn instruction(&self, n: u32) -> &'m Instruction {
        &self.body.instructions[n as usize]
    }

    fn successors(&self, block: u32) -> impl Iterator<Item = u32> + use<'m> {
        let last = &self.body.instructions[self.body.blocks[block as usize].end as usize - 1];
        self.b.ir().operands(last).filter_map(|operand| match operand {
            Operand::Block(n) => Some(n),
            _ => None,
        })
    }

    /// Gives reachable blocks a location, and the order in which they are lowered: every block after those that
    /// dominate it, and otherwise as near to the order of the text as a depth-first search comes.
    fn find_reachable(&mut self) -> FlowGraph {
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

    fn count_uses(&mut self) {
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
                        self.values[v as usize].leaves |= block_of[v as usize] != at;
                    }
                }
            }
        }
    }

    fn set_variable(&mut self, var: VarId, info: &DebugVariable, is_pointer_to: bool) {
        let cx = &mut *self.b.cx;
        let place = cx.source.place(&mut cx.program, info.file, info.line);
        if cx.program.vars[var].name.is_some() {
            return;
        }
        let mut ty = cx.source.c_type(info.c_type);
        if is_pointer_to {
            ty = cx.program.types.push(cfa::CType::Pointer(ty));
        }
        let entry = &mut cx.program.vars[var];
        entry.name = Some(if is_pointer_to { format!("&{}", info.name) } else { info.name.clone() });
        entry.place = place;
        if info.c_type != NONE {
            entry.ty = ty;
        }
    }

    /// Names parameters that debug information describes directly (optimised code, structs passed in memory).
    fn name_parameters(&mut self) {
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
    fn name_values(&mut self) {
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
            cfa::CType::Int { width: w, .. } | cfa::CType::Enum { width: w, .. } => *w == width,
            cfa::CType::Float { format, .. } => format.width() == width,
            cfa::CType::Pointer(_) => width == self.b.cx.pointer_width,
            _ => false,
        }
    }

    /// Turns cells into variables and returns those that may be read before they are written.
    fn promote(&mut self, graph: &FlowGraph) -> Vec<VarId> {
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
                let [ty, _, is_static] = *ir.extra(instruction) else { continue };
                let one = matches!(ir.operand(instruction, 0), Operand::Constant(c) if is_one(ir, c));
                if is_static != 0 && one && super::uses::same_scalar(ir, ty, ty) {
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
                    (op::LOAD, 0) => super::uses::same_scalar(ir, ty, instruction.ty),
                    (op::STORE, 1) => ir
                        .operand_type(self.function, ir.operand(instruction, 0))
                        .is_some_and(|stored| super::uses::same_scalar(ir, ty, stored)),
                    (op::CALL, _) => self.is_lifetime_marker(instruction),
                    _ => false,
                };
                if !whole {
                    allocated[n as usize] = NONE;
                }
            }
        }
        (0..allocated.len() as u32).filter(|&n| allocated[n as usize] != NONE).collect()
    }

    fn is_lifetime_marker(&self, call: &Instruction) -> bool {
        let callee = self.b.ir().extra(call)[1] as usize;
        match self.b.ir().operand(call, callee) {
            Operand::Constant(c) => self
                .b
                .cx
                .function_of_constant(c)
                .is_some_and(|f| self.b.ir().functions[f].name.starts_with("llvm.lifetime.")),
            _ => false,
        }
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
            self.b.cx.infos[cfa::Id::index(e)].mutable = true;
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

    fn make_phis(&mut self) {
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

    // Blocks.

    fn lower_block(&mut self, block: u32) {
        let Some(loc) = self.blocks[block as usize].loc else { return };
        self.block = block;
        if block > 0 {
            self.b.cursor = Cursor::At(loc);
        }
        self.pending.clear();
        self.pending_globals.clear();
        for i in self.blocks[block as usize].first..self.body.blocks[block as usize].end {
            let instruction = self.instruction(i);
            self.b.place = self.b.cx.source.instruction_place(instruction.place);
            self.b.origin.clear();
            self.b.origin.push(self.function.first_instruction + i);
            if self.parameter_stores.binary_search(&i).is_err() {
                self.lower_instruction(i, instruction);
            }
        }
    }

    /// The location to go to for `successor`: its own, or that of the assignments to its phis, to be made with
    /// [`finish_landings`](Self::finish_landings).
    pub fn landing(&mut self, successor: u32, landings: &mut Vec<(u32, LocId)>) -> LocId {
        let own = self.blocks[successor as usize].loc.expect("a successor of a reachable block");
        if self.blocks[successor as usize].first == self.body.blocks[successor as usize].start {
            return own;
        }
        if let Some(&(_, known)) = landings.iter().find(|&&(block, _)| block == successor) {
            return known;
        }
        let loc = self.b.new_location();
        landings.push((successor, loc));
        loc
    }

    pub fn finish_landings(&mut self, landings: &[(u32, LocId)]) {
        for &(successor, loc) in landings {
            self.b.cursor = Cursor::At(loc);
            self.assign_phis(successor);
            let target = self.blocks[successor as usize].loc.expect("a successor of a reachable block");
            self.b.goto(target);
        }
    }

    /// Goes to a block, assigning its phis.
    pub fn jump(&mut self, successor: u32) {
        self.assign_phis(successor);
        let target = self.blocks[successor as usize].loc.expect("a successor of a reachable block");
        self.b.goto(target);
    }

    /// Assigns the phis of a block, all at once, as control comes from the present one.
    fn assign_phis(&mut self, successor: u32) {
        let range = self.body.blocks[successor as usize].start..self.blocks[successor as usize].first;
        let ir = self.b.ir();
        let terminator = self.b.origin.clone();
        let mut moves: Vec<(VarId, Option<ExprId>, Vec<u32>)> = Vec::new();
        for i in range {
            let Some(phi) = self.values[i as usize].expr else { continue };
            let Expr::Var(var) = *self.b.x().get(phi) else { continue };
            let mut operands = ir.operands(self.instruction(i));
            let mut incoming = None;
            while let (Some(value), Some(from)) = (operands.next(), operands.next()) {
                if from == Operand::Block(self.block) {
                    incoming = Some(value);
                    break;
                }
            }
            self.b.origin.clear();
            self.b.origin.push(self.function.first_instruction + i);
            let source = match incoming {
                Some(Operand::Constant(c)) => self.b.cx.constant(c),
                Some(value) => self.operand(value),
                None => None,
            };
            if source != Some(phi) {
                moves.push((var, source, std::mem::take(&mut self.b.origin)));
            }
        }
        // A source that mentions a phi assigned before it is evaluated first.
        let mut assigned = FxHashSet::default();
        for (var, source, origin) in &mut moves {
            if let Some(e) = *source
                && self.mentions_any(e, &assigned)
            {
                self.b.origin.clone_from(origin);
                *source = Some(self.b.pin(e));
            }
            assigned.insert(*var);
        }
        for (var, source, origin) in moves {
            self.b.origin = origin;
            match source {
                Some(value) => {
                    self.b.emit(Op::Assign { var, value });
                }
                None => self.b.havoc_var(var, InputKind::Uninit(None), None),
            }
        }
        self.b.origin = terminator;
    }

    // Values.

    /// The value of an operand; a fresh one where it is undefined. `None` for what is no value.
    pub fn operand(&mut self, operand: Operand) -> Option<ExprId> {
        match operand {
            Operand::Argument(n) => self.args.get(n as usize).copied(),
            Operand::Instruction(n) => {
                let value = &mut self.values[n as usize];
                value.uses = value.uses.saturating_sub(1);
                let (start, end) = value.origin;
                let expr = value.expr;
                self.b.origin.extend_from_slice(&self.origins[start as usize..end as usize]);
                match expr {
                    Some(expr) => Some(expr),
                    // The definition could not be reached, or has no value.
                    None => self.b.cx.width(self.instruction(n).ty).map(|width| self.undefined(width)),
                }
            }
            Operand::Constant(c) => {
                let width = self.b.cx.width(self.b.ir().constants[c as usize].ty)?;
                if let Some(value) = self.b.cx.constant(c) {
                    return Some(value);
                }
                if self.b.cx.has_undefined_part(c) {
                    Some(self.undefined(width))
                } else {
                    self.b.unmodelled("this constant address", Some(width))
                }
            }
            Operand::Block(_) | Operand::Assembly(_) | Operand::Nothing => None,
        }
    }

    fn undefined(&mut self, width: u32) -> ExprId {
        self.b.havoc(width, InputKind::Uninit(None), None)
    }

    /// Whether an instruction's value is used by what is not lowered yet.
    pub fn is_used(&self, n: u32) -> bool {
        self.values[n as usize].uses > 0
    }

    pub fn home(&self, operand: Operand) -> Option<VarId> {
        match operand {
            Operand::Instruction(n) => self.homes[n as usize],
            Operand::Constant(c) => match self.b.ir().constants[c as usize].kind {
                crate::ir::ConstantKind::Global(number) => match self.b.ir().global(number) {
                    crate::ir::GlobalRef::Variable(v) => match self.b.cx.cells[v] {
                        super::Cell::Var(var) => Some(var),
                        _ => None,
                    },
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    /// The value of a promoted constant.
    pub fn constant_cell(&self, operand: Operand) -> Option<ExprId> {
        let Operand::Constant(c) = operand else { return None };
        let crate::ir::ConstantKind::Global(number) = self.b.ir().constants[c as usize].kind else { return None };
        let crate::ir::GlobalRef::Variable(v) = self.b.ir().global(number) else { return None };
        match self.b.cx.cells[v] {
            super::Cell::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Gives instruction `n` its value, which may be an expression over C variables.
    pub fn define(&mut self, n: u32, expr: ExprId) {
        let info = self.b.cx.info(expr);
        let value = self.values[n as usize];
        let start = self.origins.len() as u32;
        self.b.origin.sort_unstable();
        self.b.origin.dedup();
        let repeated = value.uses > 1 && info.size > MAX_SHARED_TREE;
        let large = info.size > MAX_TREE || self.b.origin.len() as u32 > MAX_ORIGIN;
        if value.uses > 0 && (large || repeated || (info.mutable && value.leaves)) {
            let saved = self.b.pin(expr);
            self.define_saved(n, saved);
            return;
        }
        self.origins.extend_from_slice(&self.b.origin);
        let entry = &mut self.values[n as usize];
        entry.expr = Some(expr);
        entry.origin = (start, self.origins.len() as u32);
        if info.mutable && value.uses > 0 {
            entry.pending = true;
            self.register(n, expr);
        }
    }

    /// Gives instruction `n` a value over temporaries whose edges carry the origins.
    pub fn define_saved(&mut self, n: u32, expr: ExprId) {
        self.values[n as usize].expr = Some(expr);
    }

    fn register(&mut self, n: u32, expr: ExprId) {
        match *self.b.x().get(expr) {
            Expr::Var(var) => match self.b.cx.mutability(var) {
                Mutability::Fixed => {}
                Mutability::Local => self.pending.entry(var).or_default().push(n),
                Mutability::Global => {
                    self.pending.entry(var).or_default().push(n);
                    self.pending_globals.push(n);
                }
            },
            ref node => {
                // Trees are small: `define` saw to it.
                let children = node.children();
                children.for_each(|child| self.register(n, child));
            }
        }
    }

    fn mentions_any(&self, e: ExprId, vars: &FxHashSet<VarId>) -> bool {
        match *self.b.cx.program.exprs.get(e) {
            Expr::Var(var) => vars.contains(&var),
            ref node => node.children().any(|child| self.mentions_any(child, vars)),
        }
    }

    fn must_save(&self, n: u32) -> bool {
        self.values[n as usize].pending && self.values[n as usize].uses > 0
    }

    fn save_all(&mut self, values: &[u32]) {
        let mut saved: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        let origin = std::mem::take(&mut self.b.origin);
        for &n in values {
            if !self.must_save(n) {
                continue;
            }
            let value = self.values[n as usize];
            let Some(expr) = value.expr else { continue };
            let temp = match saved.get(&expr) {
                Some(&temp) => temp,
                None => {
                    let (start, end) = value.origin;
                    self.b.origin.clear();
                    self.b.origin.extend_from_slice(&self.origins[start as usize..end as usize]);
                    let temp = self.b.pin(expr);
                    saved.insert(expr, temp);
                    temp
                }
            };
            let entry = &mut self.values[n as usize];
            entry.expr = Some(temp);
            entry.pending = false;
            entry.origin = (0, 0);
        }
        self.b.origin = origin;
    }

    /// Before a call, which may assign global variables.
    pub fn before_call(&mut self) {
        let values = std::mem::take(&mut self.pending_globals);
        self.save_all(&values);
    }

    /// Assigns a C variable. `source` is the operand that gave `value`.
    pub fn assign(&mut self, var: VarId, value: ExprId, source: Operand) {
        let values = self.pending.remove(&var).unwrap_or_default();
        if !values.iter().any(|&n| self.must_save(n)) {
            if self.redirect(var, value, source) {
                return;
            }
        } else {
            self.save_all(&values);
        }
        self.b.emit(Op::Assign { var, value });
    }

    /// Lets the last edge, if it computes nothing but `value` and nothing else uses it, write `var` instead.
    fn redirect(&mut self, var: VarId, value: ExprId, source: Operand) -> bool {
        let (Cursor::After(edge), Operand::Instruction(n)) = (self.b.cursor, source) else { return false };
        let Expr::Var(temp) = *self.b.x().get(value) else { return false };
        if self.b.cx.mutability(temp) != Mutability::Fixed {
            return false;
        }
        let program = &mut self.b.cx.program;
        let is_temp = matches!(program.vars[temp].kind, VarKind::Temp(_)) && program.vars[temp].name.is_none();
        let defines_it = program.edges[edge].op.def() == Some(temp);
        if !defines_it || !is_temp || self.values[n as usize].uses > 0 {
            return false;
        }
        let edge = &mut program.edges[edge];
        match &mut edge.op {
            Op::Load { var: target, .. }
            | Op::Alloc { var: target, .. }
            | Op::ObjectSize { var: target, .. }
            | Op::Havoc { var: target, .. }
            | Op::Call { result: Some(target), .. } => *target = var,
            _ => return false,
        }
        let mut origin = edge.origin.to_vec();
        origin.extend_from_slice(&self.b.origin);
        origin.sort_unstable();
        origin.dedup();
        edge.origin = origin.into();
        true
    }

    /// The C type of a parameter or the result (0), if debug information has it.
    pub fn c_type_of_result(&self, function: &Function) -> Option<TypeId> {
        function.c_types.first().filter(|&&row| row != NONE).map(|&row| self.b.cx.source.c_type(row))
    }

    /// Names the address of an object in memory after its C variable.
    pub fn name_object(&mut self, alloca: u32, address: ExprId) {
        let info = self.addresses.get(&alloca).copied();
        if let (Some(info), &Expr::Var(var)) = (info, self.b.x().get(address)) {
            self.set_variable(var, info, true);
        }
    }
}

fn is_one(ir: &crate::ir::Module, constant: u32) -> bool {
    matches!(&ir.constants[constant as usize].kind, crate::ir::ConstantKind::Bits(words) if words[..] == [1])
}

fn debug_addresses(body: &Body) -> FxHashMap<u32, &DebugVariable> {
    let mut addresses = FxHashMap::default();
    for info in &body.variables {
        if let Operand::Instruction(n) = info.value
            && info.is_address
            && info.is_plain
        {
            addresses.entry(n).or_insert(info);
        }
    }
    addresses
}
