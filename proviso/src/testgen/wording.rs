//! Conditions of branches in the terms of the source. The front-end computes parts of a condition in temporaries that
//! do not occur in the source. This module replaces a temporary by its definition: `tmp5 == 0` becomes `strcmp(argv[i],
//! "-n") == 0`.

use cfa::text::{c_expr_naming, c_operation, var_name};
use cfa::{BinOp, CType, Callee, EdgeId, Expr, ExprId, Op, Program, TypeId, UnOp, VarId};
use driver::source::Sources;
use driver::trace::{access_path, quoted};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// The maximal depth of nested replacements.
const DEEPEST: u32 = 6;
/// The maximal length of a condition, in characters.
const LONGEST: usize = 100;

/// The definitions of the temporaries of a program.
pub struct Wording<'p> {
    program: &'p Program,
    sources: &'p Sources,
    /// The only edge that defines each temporary.
    definitions: FxHashMap<VarId, EdgeId>,
    /// The texts of source files, for their character constants.
    texts: RefCell<FxHashMap<String, Option<String>>>,
}

/// Rewrites a condition on glibc's table of character classes (the expansion of a macro of `ctype.h`) as a call of the
/// function of `ctype.h`, such as `isdigit(c)`. `None` for other conditions.
fn classified(condition: &str) -> Option<String> {
    /// The functions by the bits of the table (`ctype.h`, on little-endian machines).
    const CLASSES: [(u32, &str); 12] = [
        (0x100, "isupper"),
        (0x200, "islower"),
        (0x400, "isalpha"),
        (0x800, "isdigit"),
        (0x1000, "isxdigit"),
        (0x2000, "isspace"),
        (0x4000, "isprint"),
        (0x8000, "isgraph"),
        (1, "isblank"),
        (2, "iscntrl"),
        (4, "ispunct"),
        (8, "isalnum"),
    ];
    let (rest, holds) = match condition.strip_suffix(" != 0") {
        Some(rest) => (rest, true),
        None => (condition.strip_suffix(" == 0")?, false),
    };
    let inner = rest.strip_prefix("(*__ctype_b_loc()[").or(rest.strip_prefix("((*__ctype_b_loc())["))?;
    let (argument, mask) = inner.strip_suffix(')')?.rsplit_once("] & ")?;
    let mask: u32 = mask.parse().ok()?;
    let (_, function) = CLASSES.iter().find(|(bit, _)| *bit == mask)?;
    Some(format!("{}{function}({argument})", if holds { "" } else { "!" }))
}

/// An address: `base + offset + index * size`. The offset and the size are constants, in bytes.
struct Address {
    base: ExprId,
    offset: u64,
    index: Option<(ExprId, u64)>,
}

impl<'p> Wording<'p> {
    /// Finds the definitions, in time linear in the size of the program.
    pub fn new(program: &'p Program, sources: &'p Sources) -> Self {
        let mut definitions: FxHashMap<VarId, Option<EdgeId>> = FxHashMap::default();
        for (id, edge) in program.edges.iter() {
            if let Some(var) = edge.op.def()
                && program.vars[var].name.is_none()
            {
                definitions.entry(var).and_modify(|only| *only = None).or_insert(Some(id));
            }
        }
        let definitions = definitions.into_iter().filter_map(|(var, edge)| Some((var, edge?))).collect();
        Self { program, sources, definitions, texts: RefCell::default() }
    }

    /// Returns the operation of an edge as a condition or statement of C. Temporaries in the condition of a branch are
    /// replaced as deeply as the result has at most [`LONGEST`] characters.
    pub fn of(&self, edge: EdgeId) -> String {
        let op = &self.program.edges[edge].op;
        let Op::Assume { cond, .. } = *op else { return c_operation(self.program, op) };
        let text = (0..=DEEPEST).rev().map(|depth| self.expr(cond, depth)).find(|text| text.chars().count() <= LONGEST);
        let text = text.unwrap_or_else(|| c_operation(self.program, op));
        match (classified(&text), self.character(edge, cond)) {
            (Some(text), _) => text,
            (None, Some(c)) => format!("{text} '{c}'"),
            (None, None) => text,
        }
    }

    /// Returns the text of an argument of a call. An array argument is written as its name, without `&`.
    fn argument(&self, e: ExprId, depth: u32) -> String {
        let text = self.expr(e, depth);
        let is_array = |var: &VarId| {
            let of = self.pointee(self.program.vars[*var].ty);
            of.is_some_and(|of| matches!(self.program.plain_type(of), CType::Array(..)))
        };
        match self.program.exprs.get(e) {
            Expr::Var(var) if is_array(var) => text.trim_start_matches('&').to_owned(),
            _ => text,
        }
    }

    fn expr(&self, e: ExprId, depth: u32) -> String {
        if let Expr::GlobalAddr(global) = self.program.exprs.get(e)
            && self.program.globals[*global].name.starts_with(".str")
            && let Some(init) = &self.program.globals[*global].init
        {
            return quoted(init.bytes.split(|&b| b == 0).next().unwrap_or_default());
        }
        c_expr_naming(self.program, e, &|var| self.value(var, depth))
    }

    /// Returns the text and type of a variable: its name, or the definition of a temporary, replaced up to `depth`
    /// levels. `None` for a variable that represents an address (`&x`), and for a temporary without a usable
    /// definition.
    fn value(&self, var: VarId, depth: u32) -> Option<(String, TypeId)> {
        let ty = self.program.vars[var].ty;
        if let Some(name) = &self.program.vars[var].name {
            return Some((name.clone(), ty)).filter(|_| !name.starts_with('&'));
        }
        let edge = *self.definitions.get(&var).filter(|_| depth > 0)?;
        match &self.program.edges[edge].op {
            Op::Assign { value, .. } => {
                let text = self.expr(*value, depth - 1);
                let is_one = text.chars().all(|c| c.is_alphanumeric() || "_()[].".contains(c));
                Some((if is_one { text } else { format!("({text})") }, ty))
            }
            Op::Load { addr, .. } => {
                let len = u64::from(self.program.vars[var].width.div_ceil(8));
                let (text, known) = self.object(*addr, len, depth - 1)?;
                Some((text, known.unwrap_or(ty)))
            }
            Op::Call { callee: Callee::Direct(callee), args, varargs, .. } => {
                let function = &self.program.funcs[*callee];
                let mut texts: Vec<String> = args.iter().map(|&arg| self.argument(arg, depth - 1)).collect();
                if varargs.is_some() {
                    texts.push("…".to_owned());
                }
                let name = function.name.trim_end_matches(".void");
                let name = name.strip_prefix("__isoc99_").or(name.strip_prefix("__isoc23_")).unwrap_or(name);
                Some((format!("{name}({})", texts.join(", ")), function.return_type))
            }
            _ => None,
        }
    }

    /// Splits an address. `None` if it has two indices.
    fn address(&self, e: ExprId) -> Option<Address> {
        let pool = &self.program.exprs;
        let number = |e: ExprId| pool.as_const(e).and_then(cfa::Bv::to_u64);
        if let Expr::Binary(BinOp::Add, a, b) = *pool.get(e) {
            if let Some(n) = number(b) {
                let address = self.address(a)?;
                return Some(Address { offset: address.offset.wrapping_add(n), ..address });
            }
            let is_base = |e: ExprId| matches!(pool.get(e), Expr::Var(_) | Expr::GlobalAddr(_));
            let (base, rest) = if self.scaled(b).is_some() || !is_base(b) { (a, b) } else { (b, a) };
            let address = self.address(base)?;
            let index = self.scaled(rest).unwrap_or((rest, 1));
            return address.index.is_none().then_some(Address { index: Some(index), ..address });
        }
        // The address is in a temporary: split its definition.
        if let Expr::Var(var) = *pool.get(e)
            && self.program.vars[var].name.is_none()
            && let Some(&edge) = self.definitions.get(&var)
            && let Op::Assign { value, .. } = self.program.edges[edge].op
        {
            return self.address(value);
        }
        Some(Address { base: e, offset: 0, index: None })
    }

    /// Splits a product or a shift into an expression and a constant factor.
    fn scaled(&self, e: ExprId) -> Option<(ExprId, u64)> {
        let pool = &self.program.exprs;
        let number = |e: ExprId| pool.as_const(e).and_then(cfa::Bv::to_u64);
        match *pool.get(e) {
            Expr::Binary(BinOp::Mul, a, b) => number(b).map(|n| (a, n)).or_else(|| number(a).map(|n| (b, n))),
            Expr::Binary(BinOp::Shl, a, b) => Some((a, 1 << number(b).filter(|&n| n < 32)?)),
            _ => None,
        }
    }

    /// Returns the C expression for the `len` bytes at an address, and their type if known. `None` if C has none.
    fn object(&self, addr: ExprId, len: u64, depth: u32) -> Option<(String, Option<TypeId>)> {
        let program = self.program;
        let Address { base, offset, index } = self.address(addr)?;
        // The base is the address of an object, or a pointer.
        let (name, ty, is_object) = match *program.exprs.get(base) {
            Expr::GlobalAddr(global) => (program.globals[global].name.clone(), program.globals[global].ty, true),
            Expr::Var(var) => match program.vars[var].name.as_deref().and_then(|name| name.strip_prefix('&')) {
                Some(name) => (name.to_owned(), self.pointee(program.vars[var].ty)?, true),
                None => {
                    let named = self.value(var, depth).or_else(|| Some((var_name(program, var), program.vars[var].ty)));
                    let (name, ty) = named?;
                    (name, self.pointee(ty)?, false)
                }
            },
            _ => return None,
        };
        let size = program.size_of(ty)?;
        let (text, of) = match (is_object, index) {
            (true, None) => {
                let (path, of) = access_path(program, ty, offset, len);
                (name + &path, of)
            }
            (true, Some((index, scale))) => {
                let CType::Array(element, _) = *program.plain_type(ty) else { return None };
                self.element(&name, element, (index, scale), offset, len, depth)?
            }
            (false, Some((index, scale))) => self.element(&name, ty, (index, scale), offset, len, depth)?,
            (false, None) => match access_path(program, ty, offset % size.max(1), len) {
                (path, of) if offset < size && path.starts_with('.') => (format!("{name}->{}", &path[1..]), of),
                (path, of) if path.is_empty() && offset == 0 => (format!("*{name}"), of),
                (path, of) if size > 0 => (format!("{name}[{}]{path}", (offset as i64) / size as i64), of),
                _ => return None,
            },
        };
        (!text.contains('<')).then_some((text, of))
    }

    /// Returns the C expression for a part of an element of an array.
    fn element(
        &self,
        name: &str,
        element: TypeId,
        (index, scale): (ExprId, u64),
        offset: u64,
        len: u64,
        depth: u32,
    ) -> Option<(String, Option<TypeId>)> {
        let size = self.program.size_of(element).filter(|&size| size > 0 && size == scale)?;
        let more = (offset as i64).div_euclid(size as i64);
        let (path, of) = access_path(self.program, element, (offset as i64).rem_euclid(size as i64) as u64, len);
        let index = self.expr(index, depth);
        let index = match more {
            0 => index,
            more if more < 0 => format!("{index} - {}", -more),
            more => format!("{index} + {more}"),
        };
        Some((format!("{name}[{index}]{path}"), of))
    }

    fn pointee(&self, ty: TypeId) -> Option<TypeId> {
        match self.program.plain_type(ty) {
            CType::Pointer(to) => Some(*to),
            _ => None,
        }
    }

    /// Returns the character that a condition compares with, if the file has it as a character constant.
    fn character(&self, edge: EdgeId, cond: ExprId) -> Option<char> {
        let pool = &self.program.exprs;
        let cond = match *pool.get(cond) {
            Expr::Unary(UnOp::Not, inner) => inner,
            _ => cond,
        };
        let Expr::Binary(BinOp::Eq, a, b) = *pool.get(cond) else { return None };
        let constant = pool.as_const(b).or(pool.as_const(a))?.to_u64()?;
        let c = char::from_u32(constant as u32).filter(|c| ('!'..='~').contains(c))?;
        let path = self.sources.spot(self.program, self.program.edges[edge].place?)?.path;
        let mut texts = self.texts.borrow_mut();
        let text = texts.entry(path).or_insert_with_key(|path| self.sources.text(path));
        let literal = if c == '\'' || c == '\\' { format!("'\\{c}'") } else { format!("'{c}'") };
        text.as_ref().is_some_and(|text| text.contains(&literal)).then_some(c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_characters_are_calls() {
        assert_eq!(classified("(*__ctype_b_loc()[line[0]] & 2048) != 0").as_deref(), Some("isdigit(line[0])"));
        assert_eq!(classified("(*__ctype_b_loc()[*p] & 8192) == 0").as_deref(), Some("!isspace(*p)"));
        assert_eq!(classified("(*__ctype_b_loc()[*p] & 24) == 0"), None);
        assert_eq!(classified("x != 0"), None);
    }
}
