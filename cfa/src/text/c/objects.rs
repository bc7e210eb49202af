//! Memory accesses as C members and array elements.

use super::*;
use crate::expr::Address;

impl Printer<'_> {
    pub(super) fn object(&mut self, addr: ExprId, width: u32) -> String {
        self.typed_object(addr, width).unwrap_or_else(|| {
            let ty = int_name(width, false);
            format!("*({ty} *){}", self.expr(addr, UNARY))
        })
    }

    /// Prints the bytes of a global as a member or element, if one has exactly these bytes.
    pub(super) fn content(&mut self, of: GlobalId, offset: u32, width: u32) -> String {
        let Global { name, ty, .. } = &self.p.globals[of];
        let member = self.member(name.clone(), *ty, offset.into(), None, width);
        member.unwrap_or_else(|| format!("{name}[{offset}..{}]", offset + width / 8))
    }

    /// Prints an object as a member or element of the C type of the address's base. Returns `None` if no member or
    /// element fits.
    fn typed_object(&mut self, addr: ExprId, width: u32) -> Option<String> {
        let Address { base, mut offset, index: mut scaled } = Address::split(self.pool, addr, |e| self.is_base(e))?;
        let (mut text, ty, direct) = match *self.pool.get(base) {
            Expr::GlobalAddr(g) => (self.p.globals[g].name.clone(), self.p.globals[g].ty, true),
            Expr::Var(v) => {
                let (name, ty) = self.variable(v);
                let CType::Pointer(to) = *self.p.plain_type(ty) else { return None };
                // The variable is a name for the address of an object in the frame.
                match name.strip_prefix('&') {
                    Some(object) => (object.to_owned(), to, true),
                    None => (name, to, false),
                }
            }
            _ => return None,
        };
        if !direct {
            let size = self.p.size_of(ty)?;
            let steps = scaled.filter(|(_, factor)| *factor == size);
            if steps.is_some() || (size > 0 && offset >= size && offset % size == 0) {
                let index = self.index(steps.map(|(i, _)| i), offset / size);
                text = format!("{text}[{index}]");
                offset %= size;
                if steps.is_some() {
                    scaled = None;
                }
            } else if matches!(self.p.plain_type(ty), CType::Struct { .. }) {
                text += "->";
            } else {
                text = format!("*{text}");
            }
        }
        self.member(text, ty, offset, scaled, width)
    }

    /// Prints the member at an offset in an object of type `ty`.
    fn member(
        &mut self,
        mut text: String,
        mut ty: TypeId,
        mut offset: u64,
        mut scaled: Option<(ExprId, u64)>,
        width: u32,
    ) -> Option<String> {
        for _ in 0..20 {
            match self.p.plain_type(ty) {
                CType::Struct { fields, .. } => {
                    let field = fields.iter().find(|f| {
                        f.bit_offset <= 8 * offset
                            && 8 * offset < f.bit_offset + f.bit_width.max(1)
                            && f.bit_offset.is_multiple_of(8)
                            && u64::from(width) <= f.bit_width
                    })?;
                    let arrow = text.ends_with("->");
                    text = format!("{text}{}{}", if arrow { "" } else { "." }, field.name);
                    offset -= field.bit_offset / 8;
                    ty = field.ty;
                }
                &CType::Array(of, _) => {
                    let size = self.p.size_of(of).filter(|&s| s > 0)?;
                    let steps = scaled.filter(|(_, factor)| *factor == size);
                    let index = self.index(steps.map(|(i, _)| i), offset / size);
                    text = format!("{text}[{index}]");
                    if steps.is_some() {
                        scaled = None;
                    }
                    offset %= size;
                    ty = of;
                }
                _ => break,
            }
        }
        let fits = self.p.size_of(ty).is_some_and(|s| s == u64::from(width.div_ceil(8)));
        (offset == 0 && scaled.is_none() && fits).then_some(text)
    }

    fn index(&mut self, symbolic: Option<ExprId>, constant: u64) -> String {
        match symbolic {
            None => constant.to_string(),
            Some(i) if constant == 0 => self.expr(i, LOWEST),
            Some(i) => format!("{} + {constant}", self.expr(i, SUM)),
        }
    }

    fn is_base(&self, e: ExprId) -> bool {
        match *self.pool.get(e) {
            Expr::GlobalAddr(_) => true,
            Expr::Var(v) => matches!(self.p.plain_type(self.variable(v).1), CType::Pointer(_)),
            _ => false,
        }
    }
}
