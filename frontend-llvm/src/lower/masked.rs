//! Loads and stores of the lanes of vectors. Masked accesses of LLVM's vectorised code access only the lanes whose bits
//! in the mask are set.

use super::builder::Builder;
use super::{arguments, arith};
use crate::ir::{Ty, TypeKind};
use cfa::{ExprId, Op};

/// A masked access, with an address for each lane.
struct MaskedAccess {
    addresses: Vec<ExprId>,
    /// One bit for each lane.
    mask: Vec<ExprId>,
    /// The width of a lane in bits.
    width: u32,
}

impl MaskedAccess {
    /// The lanes of a vector of type `ty`. `address` is the address of the first lane, or a vector of addresses. `None`
    /// if a lane does not occupy whole bytes in memory.
    fn new(b: &mut Builder, ty: Ty, address: ExprId, mask: ExprId) -> Option<Self> {
        let ir = b.ir();
        let TypeKind::Vector(_, count) = *ir.kind(ty) else { return None };
        let width = arith::scalar_width(ir, ty);
        if width < 8 || !width.is_power_of_two() {
            return None;
        }
        let (address, mask, pointer) = (b.share(address), b.share(mask), b.pointer_width());
        let addresses = if count > 1 && b.x().width(address) == count * pointer {
            arith::lanes(b.x(), address, pointer)
        } else {
            (0..count).map(|n| b.offset(address, u64::from(n * (width / 8)))).collect()
        };
        let mask = arith::lanes(b.x(), mask, 1);
        (mask.len() == addresses.len()).then_some(Self { addresses, mask, width })
    }

    /// Emits one access for each lane in order of the lanes. A lane is accessed only if its bit in the mask is set.
    fn access(&self, b: &mut Builder, access: impl Fn(&mut Builder, usize, ExprId)) {
        for (n, (&address, &is_accessed)) in self.addresses.iter().zip(&self.mask).enumerate() {
            b.when(is_accessed, |b| access(b, n, address));
        }
    }
}

impl Builder<'_, '_> {
    /// A loaded value. If it is a pointer or a vector of pointers, each token in it is replaced.
    pub fn followed(&mut self, ty: Ty, value: ExprId) -> ExprId {
        let ir = self.ir();
        match *ir.kind(ty) {
            TypeKind::Pointer => arguments::followed(self, value),
            TypeKind::Vector(lane, _) if self.cx.lazy.is_some() && matches!(ir.kind(lane), TypeKind::Pointer) => {
                let (value, width) = (self.pin(value), self.pointer_width());
                let lanes = arith::lanes(self.x(), value, width);
                let lanes: Vec<ExprId> = lanes.into_iter().map(|lane| arguments::followed(self, lane)).collect();
                arith::from_lanes(self.x(), &lanes)
            }
            _ => value,
        }
    }

    /// The vector whose lanes are loaded if their bits in the mask are set, and those of `passthru` otherwise.
    pub fn load_masked(&mut self, ty: Ty, from: ExprId, mask: ExprId, passthru: ExprId) -> Option<ExprId> {
        let TypeKind::Vector(lane, _) = *self.ir().kind(ty) else { return None };
        let lanes = MaskedAccess::new(self, ty, from, mask)?;
        let passthru = self.share(passthru);
        let passthru = arith::lanes(self.x(), passthru, lanes.width);
        let mut vars = Vec::with_capacity(passthru.len());
        for value in passthru {
            let var = self.temp(lanes.width);
            self.emit(Op::Assign { var, value });
            vars.push(var);
        }
        lanes.access(self, |b, n, addr| {
            b.emit(Op::Load { var: vars[n], addr });
            let loaded = b.var_expr(vars[n]);
            // A lane of `passthru` may have any value, so it is no token.
            let value = b.followed(lane, loaded);
            if value != loaded {
                b.emit(Op::Assign { var: vars[n], value });
            }
        });
        let values: Vec<ExprId> = vars.into_iter().map(|var| self.var_expr(var)).collect();
        Some(arith::from_lanes(self.x(), &values))
    }

    /// Stores the lanes of `value` whose bits in the mask are set.
    pub fn store_masked(&mut self, ty: Ty, value: ExprId, to: ExprId, mask: ExprId) -> Option<()> {
        let lanes = MaskedAccess::new(self, ty, to, mask)?;
        let value = self.share(value);
        let values = arith::lanes(self.x(), value, lanes.width);
        lanes.access(self, |b, n, addr| {
            b.emit(Op::Store { addr, value: values[n] });
        });
        Some(())
    }
}
