//! Operations in C notation, in the terms of the source. The front-end computes parts of an expression in temporaries,
//! which the source does not have. This module replaces a temporary by its definition: `tmp5 == 0` becomes
//! `strcmp(argv[i], "-n") == 0`.

use crate::source::Sources;
use crate::trace::{access_path, in_c, quoted};
use cfa::graph::Predecessors;
use cfa::text::{c_expr_naming, c_operation, var_name};
use cfa::{AllocKind, BinOp, CType, Callee, EdgeId, Expr, ExprId, Family, Op, Out, Program, TypeId, UnOp, VarId};
use rustc_hash::FxHashMap;
use std::cell::{OnceCell, RefCell};

/// The text for a value without a name in the source.
const UNNAMED: &str = "…";
/// The maximal nesting depth of replaced temporaries.
const DEEPEST: u32 = 6;
/// The maximal length of a condition, in characters.
const LONGEST: usize = 100;

/// The definitions of the temporaries of a program.
pub struct Wording<'p> {
    program: &'p Program,
    sources: &'p Sources,
    /// The edges that define each temporary, in order.
    definitions: FxHashMap<VarId, Vec<EdgeId>>,
    /// The edges into each location, once they are needed.
    predecessors: OnceCell<Predecessors>,
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

/// Returns true for the name of a temporary, of a function or variable of the library models, or of a function that
/// creates objects for arguments.
pub fn is_internal(word: &str) -> bool {
    let number = word.strip_prefix("tmp");
    word.trim_start_matches('_').starts_with("proviso_")
        || word.starts_with('<')
        || number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns the facts that contain no internal names. If other facts exist, the list ends with one phrase for all of them.
pub fn facts(all: &[String]) -> Vec<String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut named = all.to_vec();
    named.retain(|fact| {
        !fact.split(|c| !is_part(c)).any(|word| is_internal(word) && in_c(word).is_none_or(is_internal))
    });
    if named.len() < all.len() {
        named.push("values without a name in the source".to_owned());
    }
    named
}

/// Returns a text with [`UNNAMED`] for each internal name.
fn named(text: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let end = rest[start..].find(|c| !is_part(c)).map_or(rest.len(), |n| start + n);
        let word = &rest[start..end];
        out += &rest[..start];
        out += in_c(word).filter(|name| !is_internal(name)).unwrap_or(UNNAMED);
        rest = &rest[end..];
    }
    out + rest
}

/// Returns true if each parenthesis in the text is closed, and none before it is opened.
fn is_balanced(text: &str) -> bool {
    let mut open = 0;
    text.chars().all(|c| {
        open += i32::from(c == '(') - i32::from(c == ')');
        open >= 0
    }) && open == 0
}

/// An address: a base, a constant offset in bytes, and an index with the size of an element in bytes.
struct Address {
    base: ExprId,
    offset: u64,
    index: Option<(ExprId, u64)>,
}

impl<'p> Wording<'p> {
    /// Finds the definitions, in time linear in the size of the program.
    pub fn new(program: &'p Program, sources: &'p Sources) -> Self {
        let mut definitions: FxHashMap<VarId, Vec<EdgeId>> = FxHashMap::default();
        for (id, edge) in program.edges.iter() {
            if let Some(var) = edge.op.def()
                && program.vars[var].name.is_none()
            {
                definitions.entry(var).or_default().push(id);
            }
        }
        Self { program, sources, definitions, predecessors: OnceCell::new(), texts: RefCell::default() }
    }

    /// Returns the only edge that defines a temporary.
    fn definition(&self, var: VarId) -> Option<EdgeId> {
        match self.definitions.get(&var)?[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Returns the operation of an edge as a condition or statement of C. Temporaries in the condition of a branch are
    /// replaced as long as the result has at most [`LONGEST`] characters.
    pub fn operation(&self, edge: EdgeId) -> String {
        let op = &self.program.edges[edge].op;
        let Op::Assume { cond, .. } = *op else {
            return self.statement(edge).unwrap_or_else(|| named(&c_operation(self.program, op)));
        };
        let text = self.short(cond);
        match (classified(&text), self.character(edge, cond)) {
            _ if text == UNNAMED => "the condition holds".to_owned(),
            _ if text.strip_prefix('!') == Some(UNNAMED) => "the condition does not hold".to_owned(),
            (Some(text), _) => text,
            (None, Some(c)) => format!("{text} '{c}'"),
            (None, None) => text,
        }
    }

    /// Returns the operation of an edge as a statement of C. `None` if it only computes a value that is shown where it
    /// is used, or if it has no counterpart in C.
    pub fn statement(&self, edge: EdgeId) -> Option<String> {
        let (program, op) = (self.program, &self.program.edges[edge].op);
        let assigned = |var: VarId, text: String| {
            let name = program.vars[var].name.as_deref().and_then(in_c)?;
            (!name.starts_with('&')).then(|| format!("{name} = {text}"))
        };
        let object = |addr: ExprId, width: u32| {
            let text = self.object(addr, u64::from(width.div_ceil(8)), DEEPEST).map(|(text, _)| text);
            named(&text.unwrap_or_else(|| cfa::text::c_object(program, &program.exprs, addr, width)))
        };
        match *op {
            Op::Skip | Op::ObjectSize { .. } | Op::ObjectOffset { .. } | Op::Shadow(_) | Op::Leak(_) => None,
            Op::Alloc { kind: AllocKind::Stack, .. } | Op::Free { family: Family::Scope, .. } => None,
            Op::Assign { var, value } => assigned(var, self.short(value)),
            Op::Load { var, addr } => assigned(var, object(addr, program.vars[var].width)),
            Op::Store { addr, value } => {
                Some(format!("{} = {}", object(addr, program.exprs.width(value)), self.short(value)))
            }
            Op::Havoc { var, .. } | Op::Alloc { var, .. } => {
                let text = c_operation(program, op);
                let (_, value) = text.split_once(" = ")?;
                Some(assigned(var, named(value)).unwrap_or_else(|| named(value)))
            }
            Op::Call { result, .. } => {
                let text = self.call(edge, DEEPEST).map_or_else(|| c_operation(program, op), |(text, _)| text);
                let text = named(&text);
                Some(result.and_then(|var| assigned(var, text.clone())).unwrap_or(text))
            }
            Op::Return { value: Some(value) } => Some(format!("return {}", self.short(value))),
            Op::Copy { dst, src, len } => {
                let [dst, src, len] = [dst, src, len].map(|e| self.short(e));
                Some(format!("memmove({dst}, {src}, {len})"))
            }
            Op::Fill { dst, byte, len } => {
                let [dst, byte, len] = [dst, byte, len].map(|e| self.short(e));
                Some(format!("memset({dst}, {byte}, {len})"))
            }
            Op::Free { ptr, .. } => Some(format!("free({})", self.short(ptr))),
            _ => Some(named(&c_operation(program, op))),
        }
    }

    /// Returns the text of an expression in which temporaries are replaced by their definitions, to the greatest depth at
    /// which the text has at most [`LONGEST`] characters. The remaining temporaries are [`UNNAMED`].
    fn short(&self, e: ExprId) -> String {
        let texts = (0..=DEEPEST).rev().map(|depth| self.expr(e, depth));
        let text = texts.into_iter().find(|text| text.chars().count() <= LONGEST);
        let text = named(&text.unwrap_or_else(|| self.expr(e, 0)));
        // One pair of parentheses around all is superfluous.
        match text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
            Some(inner) if is_balanced(inner) => inner.to_owned(),
            _ => text,
        }
    }

    /// Returns the text of an argument of a call. The address of an array is written as the name of the array.
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
            return Some((in_c(name)?.to_owned(), ty)).filter(|_| !name.starts_with('&'));
        }
        if depth == 0 {
            return None;
        }
        let Some(edge) = self.definition(var) else { return Some((self.short_circuit(var, depth)?, ty)) };
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
            Op::Call { .. } => self.call(edge, depth),
            _ => None,
        }
    }

    /// Returns the text of a call of a function by its name, and the type of the result. `None` for other operations.
    fn call(&self, edge: EdgeId, depth: u32) -> Option<(String, TypeId)> {
        let edge = &self.program.edges[edge];
        let Op::Call { callee: Callee::Direct(callee), args, varargs, .. } = &edge.op else { return None };
        let function = &self.program.funcs[*callee];
        if is_internal(&function.name) {
            // The model of a function of the library. The source has the name of that function, and other arguments.
            let spot = edge.place.and_then(|place| self.sources.spot(self.program, place));
            let name = spot.and_then(|spot| self.sources.word(&spot)).unwrap_or_else(|| UNNAMED.to_owned());
            return Some((format!("{name}(…)"), function.return_type));
        }
        let mut texts: Vec<String> = args.iter().map(|&arg| self.argument(arg, depth - 1)).collect();
        if varargs.is_some() {
            texts.push("…".to_owned());
        }
        let name = function.name.trim_end_matches(".void");
        let name = name.strip_prefix("__isoc99_").or(name.strip_prefix("__isoc23_")).unwrap_or(name);
        Some((format!("{name}({})", texts.join(", ")), function.return_type))
    }

    /// Returns the text of a temporary that holds the value of `&&` or `||`. Its definitions are the same constant after
    /// each operand but the last, and the last operand. `None` for other temporaries.
    fn short_circuit(&self, var: VarId, depth: u32) -> Option<String> {
        let (program, pool) = (self.program, &self.program.exprs);
        let value = |edge: &EdgeId| match program.edges[*edge].op {
            Op::Assign { value, .. } => Some(value),
            _ => None,
        };
        let values: Vec<ExprId> = self.definitions.get(&var)?.iter().map(value).collect::<Option<_>>()?;
        let constant = |e: ExprId| pool.as_const(e).and_then(cfa::Bv::to_u64);
        let last: Vec<ExprId> = values.iter().copied().filter(|&e| constant(e).is_none()).collect();
        let decided: Vec<u64> = values.iter().filter_map(|&e| constant(e)).collect();
        let ([last], [first, others @ ..]) = (&last[..], &decided[..]) else { return None };
        let holds = match *first {
            0 => false,
            1 => true,
            _ => return None,
        };
        if others.iter().any(|other| other != first) {
            return None;
        }
        let predecessors = self.predecessors.get_or_init(|| Predecessors::new(program));
        // The condition whose value decides before the last operand is evaluated.
        let operand = |edge: EdgeId| {
            let [branch] = predecessors.edges_into(program.edges[edge].source)[..] else { return None };
            let Out::Branch { then_edge, else_edge } = program.locs[program.edges[branch].source].out else {
                return None;
            };
            let decides = if holds { branch } else { [then_edge, else_edge].into_iter().find(|&e| e != branch)? };
            match program.edges[decides].op {
                Op::Assume { cond, .. } => Some(cond),
                _ => None,
            }
        };
        let edges = self.definitions.get(&var)?.iter().zip(&values).filter(|(_, value)| *value != last);
        let mut operands: Vec<ExprId> = edges.map(|(&edge, _)| operand(edge)).collect::<Option<_>>()?;
        operands.push(*last);
        let other = if holds { "&&" } else { "||" };
        let text = |e: ExprId| {
            let text = self.expr(e, depth - 1);
            if text.contains(other) || text.contains('?') { format!("({text})") } else { text }
        };
        let texts: Vec<String> = operands.into_iter().map(text).collect();
        Some(format!("({})", texts.join(if holds { " || " } else { " && " })))
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
            && let Some(edge) = self.definition(var)
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
    fn internal_names_are_left_out() {
        assert_eq!(named("tmp12 != 0 && proviso_errno == 3"), "… != 0 && errno == 3");
        assert_eq!(named("tmp = tmpfile() + __proviso_input"), "tmp = tmpfile() + …");
        assert!(is_balanced("a && (b)") && !is_balanced("a) && (b"));
    }

    #[test]
    fn classes_of_characters_are_calls() {
        assert_eq!(classified("(*__ctype_b_loc()[line[0]] & 2048) != 0").as_deref(), Some("isdigit(line[0])"));
        assert_eq!(classified("(*__ctype_b_loc()[*p] & 8192) == 0").as_deref(), Some("!isspace(*p)"));
        assert_eq!(classified("(*__ctype_b_loc()[*p] & 24) == 0"), None);
        assert_eq!(classified("x != 0"), None);
    }
}
