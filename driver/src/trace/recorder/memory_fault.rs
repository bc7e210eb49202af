//! The recorder's view of a memory fault: the object, the lifetimes of objects, and the invalid access in terms of C.

use super::bad_value::FaultSource;
use super::library::is_internal;
use super::{NULL_PAGE, Recorder};
use crate::source::Spot;
use crate::trace::fault::{Access, Object};
use cfa::interp::{Neighbour, ObjectKind, ObjectSeq, State};
use cfa::{BinOp, CType, Callee, EdgeId, Expr, ExprId, FunctionOrigin, Op, Program, VarId};

/// The lifetime of an object that an `Alloc` edge created.
pub(super) struct Life {
    /// The edge in the user's code that allocated the object.
    pub(super) by: EdgeId,
    /// The source position of the allocation, or of the declaration of a variable.
    pub(super) allocated: Option<Spot>,
    /// The source position where the object was freed or its scope ended.
    pub(super) freed: Option<Spot>,
    /// The library function that freed the object because it allocated another one in its place.
    pub(super) moved_by: Option<String>,
}

/// The functions that may replace an object by another one.
const MOVING: [&str; 2] = ["realloc", "reallocarray"];

impl Recorder<'_> {
    /// Returns the description of an object near an accessed address.
    pub(super) fn object_near(&self, near: &Neighbour) -> Object {
        let Neighbour { kind, size, offset, .. } = *near;
        let name = self.names.object(near.object).map(|(name, _)| name);
        let name = name.filter(|name| !name.is_empty() && !name.starts_with('.'));
        let name = name.or_else(|| self.making.name_of(near.object));
        let (allocated, freed, moved_by) = match near.object {
            ObjectSeq::Global(g) => (self.spot(self.program.globals[g].place), None, None),
            ObjectSeq::Alloc(n) => match self.lives.get(n as usize) {
                Some(life) => (life.allocated.clone(), life.freed.clone(), life.moved_by.clone()),
                None => (None, None, None),
            },
        };
        Object { name, kind, size, offset, allocated, freed, moved_by, lost: None }
    }

    /// Returns the called library function, if it may replace an object by another one.
    pub(super) fn moving(&self) -> Option<String> {
        let call = self.library.first()?;
        let function = &self.program.funcs[self.frames.get(call.depth - 1)?.func];
        MOVING.contains(&function.name.as_str()).then(|| function.name.clone())
    }

    /// Records a load from shadow memory. If the loaded shadow value is not 0, the memory is not initialised. The
    /// variable then keeps the C expression and the object of that memory.
    pub(super) fn shadow(&mut self, op: &Op, state: &State) {
        let Op::Load { var, addr } = *op else { return };
        let at = state.eval(addr).to_u64().unwrap_or(0);
        if state.var(var).is_none_or(|shadow| shadow.is_zero()) {
            self.shadows.remove(&var);
            return;
        }
        let len = u64::from(self.program.vars[var].width.div_ceil(8));
        let text = self.target(addr, at, len, state).map(|(text, _)| text);
        let object = state.neighbour(at).map(|near| self.object_near(&near));
        self.shadows.insert(var, (text, object));
    }

    /// Records an assignment of a shadow value. If it is not 0, the uninitialised memory of a variable in `value`
    /// passes to `var`.
    pub(super) fn pass_shadow(&mut self, var: VarId, value: ExprId, state: &State) {
        if self.shadows.is_empty() {
            return;
        }
        let from = self.vars(value).iter().find_map(|v| self.shadows.get(v)).cloned();
        match from.filter(|_| state.var(var).is_some_and(|value| !value.is_zero())) {
            Some(from) => drop(self.shadows.insert(var, from)),
            None => drop(self.shadows.remove(&var)),
        }
    }

    /// Explains the use of an uninitialised value. If the check before the error edge failed because of memory that is not
    /// initialised, the function stores the object of this memory. It also replaces "a value" in the message by the memory.
    pub(super) fn explain_use(
        &self,
        error: EdgeId,
        here: Option<&Spot>,
        message: &mut String,
        object: &mut Option<Object>,
    ) {
        let source = self.program.edges[error].source;
        let check = self.program.edges.values().find(|e| e.target == source && matches!(e.op, Op::Assume { .. }));
        let Some(&Op::Assume { cond, .. }) = check.map(|e| &e.op) else { return };
        let Some((text, of)) = self.vars(cond).iter().find_map(|v| self.shadows.get(v)).cloned() else { return };
        if let Some(rest) = message.strip_prefix("a value ") {
            let described =
                || of.as_ref().map_or_else(|| "a value".to_owned(), |o| format!("what is in {}", o.described(here)));
            *message = format!("{} {rest}", text.map_or_else(described, |text| format!("`{text}`")));
        }
        *object = of;
    }

    /// Returns the invalid access of `edge` to the address `addr` in `state`, and the source of a bad address. The access
    /// is `None` if it has no description in terms of C. The source is `None` if it is not known to be bad.
    pub(super) fn invalid_access(
        &self,
        edge: EdgeId,
        addr: u64,
        state: &State,
    ) -> (Option<Access>, Option<FaultSource>) {
        let program = self.program;
        let op = program.edges[edge].op.unshadowed();
        let addresses: Vec<ExprId> = match *op {
            Op::Load { addr, .. } | Op::Store { addr, .. } => vec![addr],
            Op::Copy { dst, src, .. } => vec![dst, src],
            Op::Fill { dst, .. } => vec![dst],
            Op::Free { ptr, .. } | Op::ObjectSize { ptr, .. } => vec![ptr],
            Op::Call { callee: Callee::Indirect(pointer), .. } => vec![pointer],
            _ => Vec::new(),
        };
        let is_at = |&&e: &&ExprId| state.eval(e).to_u64().is_some_and(|at| at <= addr);
        let Some(&address) = addresses.iter().filter(is_at).max_by_key(|&&e| state.eval(e).to_u64()) else {
            return (None, None);
        };
        let source = self.bad_address(address, &state.eval(address));
        if program.funcs[program.func_of(edge)].origin == FunctionOrigin::Model {
            return (self.argument_of_library(addr, state), source);
        }
        let len = match *op {
            Op::Load { var, .. } => u64::from(program.vars[var].width.div_ceil(8)),
            Op::Store { value, .. } => u64::from(program.exprs.width(value).div_ceil(8)),
            Op::Call { .. } => {
                let pointer = self.named(address);
                let access =
                    |pointer: String| Access::Expression { text: pointer.clone(), pointer, is_null: addr == 0 };
                return (pointer.map(access), source);
            }
            _ => return (None, source),
        };
        let near = base(program, address, addr, state).or_else(|| state.neighbour(addr));
        if let Some((text, array, count)) = near.and_then(|near| self.names.outside_array(&near, len)) {
            return (Some(Access::Element { text, array, count }), source);
        }
        let found = self.dereferenced(address, addr, len, state);
        (found.map(|(text, pointer, is_null)| Access::Expression { text, pointer, is_null }), source)
    }

    /// Returns the parameter through which the called library function reaches an address. `None` if no library model runs
    /// or no pointer argument leads to the address.
    fn argument_of_library(&self, addr: u64, state: &State) -> Option<Access> {
        let call = self.library.last()?;
        let function = &self.program.funcs[self.frames.get(call.depth - 1)?.func];
        let object = state.neighbour(addr).map(|near| near.object);
        let leads_there = |at: u64| match object {
            Some(object) => at != 0 && state.neighbour(at).is_some_and(|near| near.object == object),
            None => at <= addr && addr - at < NULL_PAGE,
        };
        let mut arguments = function.params.iter().zip(&call.args).filter(|&(&param, &at)| {
            let ty = self.program.vars[param].ty;
            matches!(self.program.plain_type(ty), CType::Pointer(_)) && leads_there(at)
        });
        let (&param, _) = arguments.next()?;
        let parameter = self.program.vars[param].name.as_ref().filter(|_| !is_internal(function));
        let parameter = parameter.map_or_else(|| "an argument".to_owned(), |name| format!("`{name}`"));
        Some(Access::Argument(format!("{parameter} of `{}`", self.called_here(call.edge, function))))
    }
}

/// Returns the global variable from whose address `address` is computed by additions. Its value `addr` may be far from
/// the variable.
fn base(program: &Program, address: ExprId, addr: u64, state: &State) -> Option<Neighbour> {
    let mut rest = vec![address];
    while let Some(e) = rest.pop() {
        match *program.exprs.get(e) {
            Expr::GlobalAddr(global) => {
                let offset = addr.wrapping_sub(state.eval(e).to_u64()?) as i64;
                let (object, kind) = (ObjectSeq::Global(global), ObjectKind::Global { read_only: false });
                return Some(Neighbour { object, kind, size: program.globals[global].size, live: true, offset });
            }
            Expr::Binary(BinOp::Add | BinOp::Sub, a, b) => rest.extend([a, b]),
            _ => {}
        }
    }
    None
}
