//! Relative lookup tables, to which LLVM converts tables of addresses in position-independent code. An entry has 32
//! bits: the distance of an object from the table.

use super::Context;
use super::builder::{Builder, Cursor};
use crate::ir::{ConstantKind, NONE, Operand, TypeKind, op};
use cfa::{BinOp, ExprId, Global, GlobalId, GlobalInit, Op};

/// The size of an entry in bytes.
const ENTRY: u64 = 4;

impl Context<'_> {
    /// The targets of a table of relative addresses, in order. `None` if an entry is something else.
    fn relative_targets(&mut self, variable: usize) -> Option<Vec<ExprId>> {
        let ir = self.ir;
        let table = &ir.variables[variable];
        if !table.constant || table.init == NONE {
            return None;
        }
        let constant = |number: u32| &ir.constants[number as usize];
        let operands = |number: u32, wanted: u8| match &constant(number).kind {
            ConstantKind::Expression { opcode, operands } if *opcode as u8 == wanted => Some(&operands[..]),
            _ => None,
        };
        let ConstantKind::Aggregate(entries) = &constant(table.init).kind else { return None };
        let mut targets = Vec::with_capacity(entries.len());
        for &entry in entries {
            let (&[difference], TypeKind::Int(32)) = (operands(entry, op::TRUNC)?, ir.kind(constant(entry).ty)) else {
                return None;
            };
            let &[target, base] = operands(difference, op::SUB)? else { return None };
            let (&[target], &[base]) = (operands(target, op::PTR_TO_INT)?, operands(base, op::PTR_TO_INT)?) else {
                return None;
            };
            if ir.variable(base) != Some(variable) {
                return None;
            }
            let target = self.constant(target)?;
            // The distance of an absolute address from the table may need more bits.
            if self.program.exprs.as_const(target).is_some() {
                return None;
            }
            targets.push(target);
        }
        Some(targets)
    }

    /// An object with the addresses themselves instead of their distances from the table, and the number of them.
    fn table_of_addresses(&mut self, variable: usize) -> Option<(GlobalId, u64)> {
        if let Some(&known) = self.tables_of_addresses.get(&variable) {
            return Some(known);
        }
        let targets = self.relative_targets(variable)?;
        let (count, bytes) = (targets.len() as u64, u64::from(self.pointer_width / 8));
        let pointers = targets.into_iter().enumerate().map(|(n, target)| (n as u64 * bytes, target)).collect();
        let ty = self.unknown_type(None);
        let name = format!("{}.addresses", self.ir.variables[variable].name);
        let table = self.program.globals.push(Global {
            name,
            ty,
            size: count * bytes,
            align: self.pointer_width / 8,
            read_only: true,
            is_static: false,
            init: Some(GlobalInit { bytes: Vec::new(), pointers }),
            place: None,
        });
        self.tables_of_addresses.insert(variable, (table, count));
        Some((table, count))
    }
}

impl Builder<'_, '_> {
    /// The sum of `table`, which is the value of the operand, and of the distance that the table has at this offset, in
    /// bytes. `None` if the operand is not the address of a table of relative addresses, or if pointers do not have 64 bits.
    pub fn load_relative(&mut self, operand: Operand, table: ExprId, offset: ExprId) -> Option<ExprId> {
        let ir = self.ir();
        let Operand::Constant(constant) = operand else { return None };
        let variable = ir.variable(constant)?;
        let pointer = self.pointer_width();
        if pointer != 64 || self.x().width(offset) != pointer {
            return None;
        }
        let (addresses, count) = self.cx.table_of_addresses(variable)?;
        let offset = self.share(offset);
        let (size, zero, one) = (self.size(count * ENTRY), self.int(2, 0), self.size(1));
        let (is_aligned, is_inside) = {
            let x = self.x();
            let low = x.extract(1, 0, offset);
            (x.eq(low, zero), x.ult(offset, size))
        };
        let is_entry = self.x().and(is_aligned, is_inside);
        let result = self.temp(pointer);
        let (inside, outside, after) = (self.new_location(), self.new_location(), self.new_location());
        self.branch_without_place(is_entry, inside, outside);
        self.cursor = Cursor::At(inside);
        let x = self.x();
        let doubled = x.binary(BinOp::Shl, offset, one);
        let addresses = x.global_addr(addresses, pointer);
        let addr = x.add(addresses, doubled);
        self.emit(Op::Load { var: result, addr });
        self.goto(after);
        // The access is out of bounds or unaligned.
        self.cursor = Cursor::At(outside);
        let addr = self.x().add(table, offset);
        let distance = self.load(addr, 32);
        let is_unaligned = self.x().not(is_aligned);
        self.when(is_unaligned, |b| {
            b.approximate("a part of an entry of a table of relative addresses is read: not modelled", true, true);
        });
        let x = self.x();
        let distance = x.sext(pointer, distance);
        let value = x.add(table, distance);
        self.emit(Op::Assign { var: result, value });
        self.goto(after);
        self.cursor = Cursor::At(after);
        Some(self.var_expr(result))
    }
}
