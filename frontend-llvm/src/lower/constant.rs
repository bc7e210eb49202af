//! Constants as expressions.

use super::globals::Cell;
use super::{Context, arith};
use crate::ir::{ConstantKind, GlobalRef, NONE, TypeKind};
use cfa::{Bv, ExprId};

impl Context<'_> {
    /// The value of a constant. `None` if a part of it is undefined, or if it has no known value.
    pub(super) fn constant(&mut self, constant: u32) -> Option<ExprId> {
        if let Some(known) = self.constants[constant as usize] {
            return Some(known);
        }
        let value = self.evaluate(constant)?;
        self.constants[constant as usize] = Some(value);
        Some(value)
    }

    /// True if a constant has no value because a part of it is undefined.
    pub(super) fn has_undefined_part(&self, constant: u32) -> bool {
        match &self.ir.constants[constant as usize].kind {
            ConstantKind::Undef | ConstantKind::Poison => true,
            ConstantKind::Aggregate(parts) => parts.iter().any(|&part| self.has_undefined_part(part)),
            _ => false,
        }
    }

    fn evaluate(&mut self, constant: u32) -> Option<ExprId> {
        let ir = self.ir;
        let row = &ir.constants[constant as usize];
        let width = self.width(row.ty)?;
        Some(match &row.kind {
            ConstantKind::Bits(words) => {
                let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                self.program.exprs.constant(Bv::from_le_bytes(&bytes).resize(width))
            }
            ConstantKind::Null => self.program.exprs.int(width, 0),
            ConstantKind::Data(range) => {
                self.program.exprs.constant(Bv::from_le_bytes(&ir.text[range.clone()]).resize(width))
            }
            ConstantKind::Aggregate(elements) => self.aggregate(row.ty, elements, width)?,
            ConstantKind::Global(number) => self.address(*number)?,
            ConstantKind::Block(function, block) => {
                // Small numbers, at which no object is.
                let number = self.block_addresses[&(*function, *block)];
                self.program.exprs.int(width, u64::from(number))
            }
            ConstantKind::Gep { offset, base } => {
                let base = self.constant(*base)?;
                let offset = self.program.exprs.constant(Bv::from_i64(width, *offset));
                self.program.exprs.add(base, offset)
            }
            ConstantKind::Expression { opcode, operands } => {
                let values = operands.iter().map(|&c| self.constant(c)).collect::<Option<Vec<_>>>()?;
                let from = ir.constants[operands[0] as usize].ty;
                arith::constant_expression(&mut self.program.exprs, ir, *opcode as u8, from, row.ty, width, &values)?
            }
            ConstantKind::Undef | ConstantKind::Poison | ConstantKind::Other => return None,
        })
    }

    fn aggregate(&mut self, ty: u32, elements: &[u32], width: u32) -> Option<ExprId> {
        let mut whole = self.program.exprs.int(width, 0);
        for (n, &element) in elements.iter().enumerate() {
            let (bit, ty) = self.part(ty, n)?;
            if self.ir.types[ty as usize].bits > 0 {
                let value = self.constant(element)?;
                whole = arith::insert(&mut self.program.exprs, whole, bit, value);
            }
        }
        Some(whole)
    }

    /// The bit offset of the n-th part of a value, and the type of the part.
    fn part(&self, ty: u32, n: usize) -> Option<(u32, u32)> {
        let (bit, ty) = match self.ir.kind(ty) {
            TypeKind::Vector(lane, _) => (n as u64 * u64::from(self.width(*lane)?), *lane),
            TypeKind::Array(element, _) => (n as u64 * self.ir.types[*element as usize].size * 8, *element),
            TypeKind::Struct(fields) => (fields[n].1 * 8, fields[n].0),
            _ => return None,
        };
        Some((bit as u32, ty))
    }

    /// `whole` with the defined parts of a constant inserted at `bit`.
    pub(super) fn put_defined_parts(&mut self, whole: ExprId, bit: u32, constant: u32) -> Option<ExprId> {
        let row = &self.ir.constants[constant as usize];
        match &row.kind {
            ConstantKind::Undef | ConstantKind::Poison => Some(whole),
            ConstantKind::Aggregate(parts) if self.has_undefined_part(constant) => {
                let mut whole = whole;
                for (n, &part) in parts.iter().enumerate() {
                    let (at, ty) = self.part(row.ty, n)?;
                    if self.ir.types[ty as usize].bits > 0 {
                        whole = self.put_defined_parts(whole, bit + at, part)?;
                    }
                }
                Some(whole)
            }
            _ => {
                let value = self.constant(constant)?;
                Some(arith::insert(&mut self.program.exprs, whole, bit, value))
            }
        }
    }

    /// The address of a variable, function or alias.
    fn address(&mut self, number: u32) -> Option<ExprId> {
        let width = self.pointer_width;
        match self.ir.global(number) {
            GlobalRef::Variable(n) => match self.cells.get(n)? {
                Cell::Object(global) => Some(self.program.exprs.global_addr(*global, width)),
                Cell::Null => Some(self.program.exprs.int(width, 0)),
                Cell::Var(_) | Cell::Constant(_) | Cell::Absent => None,
            },
            GlobalRef::Function(n) => {
                let function = &self.ir.functions[n];
                if function.declaration && function.extern_weak && self.primitive(n).is_none() {
                    return Some(self.program.exprs.int(width, 0));
                }
                let func = self.functions[n]?;
                Some(self.program.exprs.func_addr(func, width))
            }
            GlobalRef::Alias(n) => match self.ir.aliases[n].target {
                NONE => None,
                target => self.constant(target),
            },
        }
    }
}
