//! Lowers one function: blocks become locations, cells become variables, and SSA values are folded into the expressions
//! of their users.
//!
//! The value of an instruction remains an expression as long as possible. An expression over SSA temporaries and
//! parameters has the same value at all its uses. An expression over a C variable depends on the current value of the
//! variable. Before an assignment to the variable, the lowering therefore saves the values that contain it and still
//! have uses in temporaries. It saves values with uses in other blocks at once. It also saves large values, so that the
//! expressions on edges remain small.

mod prepare;
mod scopes;

use super::builder::{Builder, Cursor};
use super::liveness::{Accesses, FlowGraph};
use super::{Context, Mutability, globals};
use crate::hidden::HiddenState;
use crate::ir::{Body, ConstantKind, DebugVariable, Function, Instruction, NONE, Operand, TypeKind, op};
use crate::models;
use cfa::{Expr, ExprId, FuncId, InputKind, LocId, Op, TypeId, VarId, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// The maximal number of nodes of an expression that is not saved in a temporary.
const MAX_TREE: u16 = 64;
/// The maximal number of nodes of an expression that is repeated in several users.
const MAX_SHARED_TREE: u16 = 8;
/// The maximal number of instructions that one folded value represents.
const MAX_ORIGIN: u32 = 128;

/// The value of an instruction.
#[derive(Clone, Copy)]
pub(super) struct InstructionValue {
    /// `None` before the definition.
    expr: Option<ExprId>,
    /// The number of uses that are not lowered yet.
    uses: u32,
    /// True if it has exactly one use.
    single: bool,
    /// True if it has uses in other blocks.
    leaves: bool,
    /// True if an assignment may change the value of `expr`.
    pending: bool,
    /// The instructions that it represents: a range of `FunctionLowering::origins`.
    origin: (u32, u32),
}

/// The start of a basic block in the CFA.
#[derive(Clone, Default)]
struct Block {
    loc: Option<LocId>,
    /// The first instruction after the phis.
    first: u32,
}

/// The lowering of a function.
pub(super) struct FunctionLowering<'c, 'm> {
    pub b: Builder<'c, 'm>,
    pub function: &'m Function,
    /// The function's number among the globals of the module.
    pub number: u32,
    pub body: &'m Body,
    pub args: Vec<ExprId>,
    values: Vec<InstructionValue>,
    /// For each `alloca` that became a variable, the variable.
    homes: Vec<Option<VarId>>,
    blocks: Vec<Block>,
    /// The reachable blocks in the order of lowering.
    order: Vec<u32>,
    /// The current block.
    pub block: u32,
    origins: Vec<u32>,
    /// The values that contain a C variable. Some may be outdated.
    pending: FxHashMap<VarId, Vec<u32>>,
    /// The values that contain a global variable. Some may be outdated.
    pending_globals: Vec<u32>,
    /// The plain debug variable of each `alloca`: the first one if there are several.
    addresses: FxHashMap<u32, &'m DebugVariable>,
    /// The stores of parameters into their variables. The call performs them.
    parameter_stores: Vec<u32>,
    pub scopes: scopes::Scopes,
    /// If uninitialised memory is checked: the variables that may be read before they are written.
    pub uninitialised: FxHashSet<VarId>,
    /// If the function may end without its result: the variable that is 1 until the result is written, and the
    /// instructions that write it.
    pub unreturned: Option<(VarId, Vec<u32>)>,
}

impl<'c, 'm> FunctionLowering<'c, 'm> {
    /// The lowering of function `n` of the module at its start. `None` if the function has no body.
    pub fn new(cx: &'c mut Context<'m>, n: usize, func: FuncId) -> Option<Self> {
        let function = &cx.ir.functions[n];
        let body = function.body.as_ref()?;
        let params = cx.program.funcs[func].params.clone();
        let args = params.iter().map(|&var| cx.program.var_expr(var)).collect();
        let unset =
            InstructionValue { expr: None, uses: 0, single: false, leaves: false, pending: false, origin: (0, 0) };
        let number = (cx.ir.variables.len() + n) as u32;
        let mut lowering = Self {
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
            scopes: scopes::Scopes::default(),
            uninitialised: FxHashSet::default(),
            unreturned: None,
        };
        let uninitialised = prepare::prepare(&mut lowering);
        if lowering.b.asks_for(cfa::Check::Memory) && !function.model {
            lowering.uninitialised.extend(&uninitialised);
        }
        for var in uninitialised {
            let (name, ty) = (lowering.b.cx.program.vars[var].name.clone(), lowering.b.cx.program.vars[var].ty);
            lowering.b.havoc_var(var, InputKind::Uninit(name), Some(ty));
        }
        let name = models::stands_for(&function.name);
        if function.model {
            lowering.b.use_hidden_states(name);
        }
        Some(lowering)
    }

    pub fn instruction(&self, n: u32) -> &'m Instruction {
        &self.body.instructions[n as usize]
    }

    // Blocks.

    /// The reachable blocks, in the order in which they must be lowered.
    pub fn order(&self) -> Vec<u32> {
        self.order.clone()
    }

    /// The locations of all blocks. `None` for those that are not reachable.
    pub fn locations(&self) -> Vec<Option<LocId>> {
        self.blocks.iter().map(|block| block.loc).collect()
    }

    /// Begins a block. Returns its instructions after the phis.
    pub fn begin_block(&mut self, block: u32) -> Range<u32> {
        let Some(loc) = self.blocks[block as usize].loc else { return 0..0 };
        self.block = block;
        if block > 0 {
            self.b.cursor = Cursor::At(loc);
        }
        self.pending.clear();
        self.pending_globals.clear();
        self.blocks[block as usize].first..self.body.blocks[block as usize].end
    }

    /// Begins an instruction: the edges that follow implement it. Returns false if it needs no edges, because it stores
    /// a parameter.
    pub fn begin_instruction(&mut self, n: u32) -> bool {
        self.b.place = self.b.cx.source.instruction_place(self.instruction(n).place);
        self.b.origin.clear();
        self.b.origin.push(self.function.first_instruction + n);
        self.parameter_stores.binary_search(&n).is_err()
    }

    /// Records that an operation on floats may raise exceptions, if the program queries them.
    pub fn note_exceptions(&mut self, n: u32, opcode: u8) {
        let is_float = match opcode {
            op::F_ADD | op::F_SUB | op::F_MUL | op::F_DIV | op::F_REM | op::F_CMP | op::FP_TO_UI | op::FP_TO_SI => true,
            op::UI_TO_FP | op::SI_TO_FP | op::FP_TRUNC | op::FP_EXT => true,
            // A call of an intrinsic.
            op::CALL => matches!(self.b.ir().kind(self.instruction(n).ty), TypeKind::Float(_)),
            _ => false,
        };
        let InstructionValue { expr: Some(value), origin: (start, end), .. } = self.values[n as usize] else { return };
        if is_float && self.b.cx.hidden[HiddenState::Exceptions as usize].is_some() {
            self.b.origin.extend_from_slice(&self.origins[start as usize..end as usize]);
            self.b.change_by(HiddenState::Exceptions, value);
        }
    }

    /// The location to continue at for `successor`: its own location, or a new one where
    /// [`finish_landings`](Self::finish_landings) will assign its phis.
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

    /// Continues at a block, after the assignment of its phis.
    pub fn jump(&mut self, successor: u32) {
        self.assign_phis(successor);
        let target = self.blocks[successor as usize].loc.expect("a successor of a reachable block");
        self.b.goto(target);
    }

    /// Assigns the phis of a block simultaneously, for control that comes from the current block.
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
            if let (Some(value), Some(incoming)) = (source, incoming) {
                self.decide_last_operand(i, incoming, value);
            }
            if source != Some(phi) {
                moves.push((var, source, std::mem::take(&mut self.b.origin)));
            }
        }
        // If a source contains a phi that is assigned earlier, it is evaluated first.
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

    /// The value of an operand. An undefined operand is unconstrained. `None` for an operand without a value.
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
                    // The definition is unreachable or has no value.
                    None => self.b.cx.width(self.instruction(n).ty).map(|width| self.undefined(width)),
                }
            }
            Operand::Constant(c) => {
                let width = self.b.cx.width(self.b.ir().constants[c as usize].ty)?;
                let constant = &self.b.ir().constants[c as usize];
                if let Some(value) = self.b.cx.constant(c) {
                    for global in globals::mentioned(self.b.cx, value) {
                        globals::approximate(&mut self.b, global);
                    }
                    let is_integer = matches!(self.b.ir().kind(constant.ty), TypeKind::Int(_));
                    if is_integer && !self.function.model && self.b.x().as_const(value).is_none() {
                        self.b.use_as_number(value);
                    }
                    return Some(value);
                }
                let scalar = matches!(self.b.ir().kind(constant.ty), TypeKind::Int(_) | TypeKind::Float(_));
                // A poison vector or struct is only a container for its parts.
                if scalar && matches!(constant.kind, ConstantKind::Poison) {
                    self.b.approximate("clang computes a constant here that C leaves undefined", true, false);
                }
                if self.b.cx.has_undefined_part(c) {
                    let undefined = self.undefined(width);
                    if let Some(value) = self.b.cx.put_defined_parts(undefined, 0, c) {
                        return Some(value);
                    }
                }
                self.b.unmodelled("this constant address", Some(width))
            }
            Operand::Block(_) | Operand::Assembly(_) | Operand::Nothing => None,
        }
    }

    fn undefined(&mut self, width: u32) -> ExprId {
        self.b.havoc(width, InputKind::Uninit(None), None)
    }

    /// True if the instruction has uses that are not lowered yet.
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

    /// The value of a global that was promoted to a constant.
    pub fn constant_cell(&self, operand: Operand) -> Option<ExprId> {
        let Operand::Constant(c) = operand else { return None };
        match self.b.cx.cells[self.b.ir().variable(c)?] {
            super::Cell::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Sets the value of instruction `n`. It may be an expression over C variables.
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

    /// Sets the value of instruction `n` to an expression over temporaries. Their edges have the origins.
    pub fn define_saved(&mut self, n: u32, expr: ExprId) {
        if let (true, &Expr::Var(var)) = (self.is_pointer(n), self.b.x().get(expr)) {
            self.b.cx.holds_pointers(var);
        }
        self.values[n as usize].expr = Some(expr);
    }

    /// True if the value of an instruction is a pointer, or the number of one for a check or a difference of pointers.
    fn is_pointer(&self, n: u32) -> bool {
        let ir = self.b.cx.ir;
        let i = self.instruction(n);
        let is_number = |i: &Instruction| i.opcode == op::PTR_TO_INT && ir.extra(i).first() != Some(&op::IS_CONVERSION);
        let is_of_number = || match ir.operands(i).next() {
            Some(Operand::Instruction(first)) => is_number(self.instruction(first)),
            _ => false,
        };
        matches!(ir.kind(i.ty), TypeKind::Pointer)
            || is_number(i)
            || matches!(i.opcode, op::ADD | op::AND) && is_of_number()
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
                // The recursion is bounded, because `define` bounds the size of expressions.
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

    /// Prepares for a call, which may assign global variables.
    pub fn before_call(&mut self) {
        let values = std::mem::take(&mut self.pending_globals);
        self.save_all(&values);
    }

    /// Assigns a C variable. `source` is the operand with the value.
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

    /// If the last edge only computes `value`, and this is the only use, changes the edge to assign `var` instead.
    fn redirect(&mut self, var: VarId, value: ExprId, source: Operand) -> bool {
        let (Cursor::After(edge), Operand::Instruction(n)) = (self.b.cursor, source) else { return false };
        let Expr::Var(temp) = *self.b.x().get(value) else { return false };
        if self.b.cx.mutability(temp) != Mutability::Fixed {
            return false;
        }
        let program = &mut self.b.cx.program;
        let is_temp = matches!(program.vars[temp].kind, VarKind::Temp(_)) && program.vars[temp].name.is_none();
        let defines_it = program.edges[edge].op.def() == Some(temp);
        if !defines_it || !is_temp || !self.values[n as usize].single {
            return false;
        }
        let edge = &mut program.edges[edge];
        match &mut edge.op {
            Op::Load { var: target, .. }
            | Op::Alloc { var: target, .. }
            | Op::ObjectSize { var: target, .. }
            | Op::ObjectOffset { var: target, .. }
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

    /// The C type of the function's result, if debug information has it.
    pub fn c_type_of_result(&self, function: &Function) -> Option<TypeId> {
        function.c_types.first().filter(|&&row| row != NONE).map(|&row| self.b.cx.source.c_type(row))
    }

    /// Names the address of an object in memory after its C variable.
    pub fn name_object(&mut self, alloca: u32, address: ExprId) {
        let info = self.addresses.get(&alloca).copied();
        if let (Some(info), &Expr::Var(var)) = (info, self.b.x().get(address)) {
            prepare::set_variable(self, var, info, true);
        }
    }
}

/// The value of an instruction, if it has one. This does not count as a use.
pub(super) fn value_of(fl: &FunctionLowering, n: u32) -> Option<ExprId> {
    fl.values[n as usize].expr
}

/// The variable of a parameter in debug information.
#[derive(Clone)]
pub(super) struct DeclaredParam {
    /// The name of the variable. Empty if it is unknown.
    pub name: String,
    /// The C type of the variable, a row of [`crate::ir::Module::c_types`]; `NONE` if it is unknown.
    pub c_type: u32,
    /// The offset in bytes at which the function stores the parameter in the variable. A small struct is passed in
    /// several parameters. `None` if debug information describes the parameter itself.
    pub offset: Option<u64>,
}

/// Returns the variables of a function's parameters.
pub(super) fn declared_params(ir: &crate::ir::Module, function: &Function) -> Vec<DeclaredParam> {
    let (Some(body), TypeKind::Function { params, .. }) = (&function.body, ir.kind(function.ty)) else {
        return Vec::new();
    };
    let mut declared = vec![DeclaredParam { name: String::new(), c_type: NONE, offset: None }; params.len()];
    let described =
        |info: &DebugVariable, offset| DeclaredParam { name: info.name.clone(), c_type: info.c_type, offset };
    let addresses = debug_addresses(body);
    let first =
        body.blocks.first().map_or(&[][..], |block| &body.instructions[block.start as usize..block.end as usize]);
    // Some parts of a struct are stored in another object, which is then copied to the variable.
    let is_copy =
        |i: &&Instruction| i.opcode == op::CALL && ir.called(i).is_some_and(|name| name.starts_with("llvm.memcpy"));
    let copies: FxHashMap<Operand, Operand> =
        first.iter().filter(is_copy).map(|i| (ir.operand(i, 1), ir.operand(i, 0))).collect();
    let variable = |address: Operand| match address {
        Operand::Instruction(n) => addresses.get(&n).copied(),
        _ => None,
    };
    let stores = first.iter().filter(|i| i.opcode == op::STORE).filter_map(|i| {
        let argument = argument(ir, body, ir.operand(i, 0))?;
        let (object, offset) = object_and_offset(ir, body, ir.operand(i, 1));
        let info = variable(object).or_else(|| variable(*copies.get(&object)?))?;
        Some((argument, described(info, Some(offset))))
    });
    let in_registers = body.variables.iter().filter(|info| info.is_plain).filter_map(|info| match info.value {
        Operand::Argument(a) => Some((a, described(info, None))),
        _ => None,
    });
    for (a, param) in stores.chain(in_registers) {
        if let Some(slot) = declared.get_mut(a as usize).filter(|slot| slot.name.is_empty()) {
            *slot = param;
        }
    }
    declared
}

/// Returns the number of the parameter that is the value, possibly converted to the type of its variable (`_Bool`).
fn argument(ir: &crate::ir::Module, body: &Body, value: Operand) -> Option<u32> {
    match value {
        Operand::Argument(a) => Some(a),
        Operand::Instruction(n) => match body.instructions[n as usize] {
            ref i if matches!(i.opcode, op::TRUNC | op::Z_EXT | op::FP_TRUNC) => match ir.operand(i, 0) {
                Operand::Argument(a) => Some(a),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// Returns the object that contains an address, and the offset in bytes of the address in it. Addresses with variable
/// offsets count as objects.
fn object_and_offset(ir: &crate::ir::Module, body: &Body, mut address: Operand) -> (Operand, u64) {
    let mut offset = 0;
    while let Operand::Instruction(n) = address
        && let i = &body.instructions[n as usize]
        && i.opcode == op::GEP
        && ir.operand_count(i) == 1
    {
        let extra = ir.extra(i);
        offset += u64::from(extra[0]) | u64::from(extra[1]) << 32;
        address = ir.operand(i, 0);
    }
    (address, offset)
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
