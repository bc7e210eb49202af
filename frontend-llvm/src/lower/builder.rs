//! A builder that appends edges to a path, with temporaries, inputs and taints.

use super::{Context, Mutability, WIDTH_OF_STATE};
use crate::hidden::{self, HiddenState};
use crate::ir;
use cfa::{
    AllocKind, Edge, EdgeId, Expr, ExprId, ExprPool, FloatFormat, FuncId, HaltKind, Id, Input, InputKind, LocId, Op,
    Out, PlaceId, Taint, TypeId, Var, VarId, VarKind,
};

/// Properties of an expression as a tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExprInfo {
    /// The number of nodes, saturating.
    pub size: u16,
    /// True if it contains a variable that is assigned at several places.
    pub mutable: bool,
}

impl Context<'_> {
    pub(super) fn info(&mut self, e: ExprId) -> ExprInfo {
        // Subexpressions have smaller ids.
        for n in self.infos.len()..=e.index() {
            let node = self.program.exprs.get(ExprId::from_index(n));
            let mut info = ExprInfo { size: 1, mutable: false };
            if let Expr::Var(var) = *node {
                info.mutable = self.mutability(var) != Mutability::Fixed;
            }
            for child in node.children() {
                let child = self.infos[child.index()];
                info.size = info.size.saturating_add(child.size);
                info.mutable |= child.mutable;
            }
            self.infos.push(info);
        }
        self.infos[e.index()]
    }
}

/// The position of the next edge.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cursor {
    /// At this location.
    At(LocId),
    /// At the target of this edge, whose location is not created yet.
    After(EdgeId),
    /// Unreachable: edges are dropped.
    Dead,
}

/// Builds the edges of a function.
pub(super) struct Builder<'c, 'm> {
    pub cx: &'c mut Context<'m>,
    pub func: FuncId,
    pub cursor: Cursor,
    pub place: Option<PlaceId>,
    /// The instructions that the next edges implement. May contain duplicates.
    pub origin: Vec<u32>,
}

impl<'c, 'm> Builder<'c, 'm> {
    /// A builder at the entry of a function without a body.
    pub fn new(cx: &'c mut Context<'m>, func: FuncId) -> Self {
        let (entry, place) = (cx.program.funcs[func].entry, cx.program.funcs[func].place);
        Self { cx, func, cursor: Cursor::At(entry), place, origin: Vec::new() }
    }
    pub fn ir(&self) -> &'m ir::Module {
        self.cx.ir
    }
    pub fn x(&mut self) -> &mut ExprPool {
        &mut self.cx.program.exprs
    }
    pub fn pointer_width(&self) -> u32 {
        self.cx.pointer_width
    }

    // Edges.

    pub fn new_location(&mut self) -> LocId {
        self.cx.program.add_location(self.func)
    }
    /// The location of the cursor. `None` if it is unreachable.
    pub fn here(&mut self) -> Option<LocId> {
        match self.cursor {
            Cursor::At(loc) => Some(loc),
            Cursor::After(edge) => {
                let loc = self.new_location();
                self.cx.program.edges[edge].target = loc;
                self.cursor = Cursor::At(loc);
                Some(loc)
            }
            Cursor::Dead => None,
        }
    }
    fn sorted_origin(&mut self) -> Box<[u32]> {
        self.origin.sort_unstable();
        self.origin.dedup();
        self.origin.as_slice().into()
    }
    /// Appends an edge.
    pub fn emit(&mut self, op: Op) -> Option<EdgeId> {
        let source = self.here()?;
        if let Op::Alloc { var, .. } = op {
            self.cx.holds_pointers(var);
        }
        let (place, origin) = (self.place, self.sorted_origin());
        let edge = self.cx.program.edges.push(Edge { source, op, target: source, place, fault: None, origin });
        self.cx.program.locs[source].out = Out::One(edge);
        self.cursor = Cursor::After(edge);
        Some(edge)
    }
    /// Appends an edge that ends the path.
    pub fn finish(&mut self, op: Op) {
        self.emit(op);
        self.here();
        self.cursor = Cursor::Dead;
    }
    /// Ends the path at a location that other paths may also enter.
    pub fn goto(&mut self, target: LocId) {
        match self.cursor {
            Cursor::After(edge) => self.cx.program.edges[edge].target = target,
            Cursor::At(_) => {
                if let Some(edge) = self.emit(Op::Skip) {
                    self.cx.program.edges[edge].target = target;
                }
            }
            Cursor::Dead => {}
        }
        self.cursor = Cursor::Dead;
    }
    /// Ends the path with a branch.
    pub fn branch(&mut self, cond: ExprId, then_target: LocId, else_target: LocId) {
        self.branch_meaning(cond, then_target, else_target, [None, None]);
    }
    /// Ends the path with a branch, with the truth value of C's condition on each edge.
    pub fn branch_meaning(&mut self, cond: ExprId, then_target: LocId, else_target: LocId, means: [Option<bool>; 2]) {
        if then_target == else_target || self.x().is_true(cond) {
            return self.goto(then_target);
        }
        if self.x().is_false(cond) {
            return self.goto(else_target);
        }
        fork(self, cond, [then_target, else_target], means);
    }
    /// Ends the path with a branch that the source does not have. It has no place, so tests and coverage ignore it.
    pub fn branch_without_place(&mut self, cond: ExprId, then_target: LocId, else_target: LocId) {
        let place = self.place.take();
        self.branch(cond, then_target, else_target);
        self.place = place;
    }
    /// Runs `body` on the path where `cond` is true. Continues after the end of `body`, and where `cond` is false.
    pub fn when(&mut self, cond: ExprId, body: impl FnOnce(&mut Self)) {
        if self.x().is_false(cond) {
            return;
        }
        let (inside, after) = (self.new_location(), self.new_location());
        self.branch(cond, inside, after);
        self.cursor = Cursor::At(inside);
        body(self);
        self.goto(after);
        self.cursor = Cursor::At(after);
    }

    /// Emits one of two operations, depending on `cond`, and continues after both.
    pub fn either(&mut self, cond: ExprId, then: Op, otherwise: Op) {
        let after = self.new_location();
        self.when(cond, |b| {
            b.emit(then);
            b.goto(after);
        });
        self.emit(otherwise);
        self.goto(after);
        self.cursor = Cursor::At(after);
    }

    // Values.

    pub fn temp(&mut self, width: u32) -> VarId {
        self.cx.add_temp(self.func, width)
    }
    /// A temporary for a pointer. Other temporaries count as numbers: they may be conversions of pointers in the program,
    /// which expose addresses.
    pub fn pointer_temp(&mut self) -> VarId {
        let var = self.temp(self.pointer_width());
        self.cx.holds_pointers(var);
        var
    }
    pub fn var_expr(&mut self, var: VarId) -> ExprId {
        self.cx.program.var_expr(var)
    }
    /// Saves the current value of `e` in a temporary, so that later assignments do not change it.
    pub fn pin(&mut self, e: ExprId) -> ExprId {
        let width = self.x().width(e);
        let var = self.temp(width);
        self.emit(Op::Assign { var, value: e });
        self.var_expr(var)
    }
    /// Like [`pin`](Self::pin), with the type of the value, because bits alone do not show whether they are a float or
    /// an integer.
    pub fn pin_float(&mut self, e: ExprId, format: FloatFormat) -> ExprId {
        let cx = &mut *self.cx;
        let ty = cx.source.float_type(&mut cx.program, format);
        let kind = VarKind::Temp(self.func);
        let var = cx.add_var(Var { name: None, ty, width: format.width(), kind, place: None }, Mutability::Fixed);
        self.emit(Op::Assign { var, value: e });
        self.var_expr(var)
    }
    /// Like [`pin`](Self::pin), but only for an expression of more than a few nodes. For values that are used several
    /// times.
    pub fn share(&mut self, e: ExprId) -> ExprId {
        if self.cx.info(e).size > 4 { self.pin(e) } else { e }
    }
    pub fn int(&mut self, width: u32, value: u64) -> ExprId {
        self.x().int(width, value)
    }
    /// A constant of pointer width.
    pub fn size(&mut self, value: u64) -> ExprId {
        let width = self.pointer_width();
        self.int(width, value)
    }
    /// `e` truncated or zero-extended to the pointer width.
    pub fn as_pointer(&mut self, e: ExprId) -> ExprId {
        let width = self.pointer_width();
        self.x().resize(width, e)
    }
    pub fn offset(&mut self, pointer: ExprId, bytes: u64) -> ExprId {
        let bytes = self.size(bytes);
        self.x().add(pointer, bytes)
    }

    // Inputs and taints.

    /// An unconstrained value from an input.
    pub fn havoc(&mut self, width: u32, kind: InputKind, ty: Option<TypeId>) -> ExprId {
        let var = self.temp(width);
        self.havoc_var(var, kind, ty);
        self.var_expr(var)
    }
    pub fn havoc_var(&mut self, var: VarId, kind: InputKind, ty: Option<TypeId>) {
        let width = self.cx.program.vars[var].width;
        let ty = ty.unwrap_or_else(|| self.cx.unknown_type(Some(width)));
        let from_outside = matches!(kind, InputKind::Environment(_) | InputKind::Unmodelled(_)) && !self.computes();
        let input = self.cx.program.inputs.push(Input { kind, ty, width, place: self.place });
        self.emit(Op::Havoc { var, input });
        if let (true, Some(environment)) = (from_outside, self.cx.hidden[HiddenState::Environment as usize]) {
            let (value, zero) = (self.var_expr(var), self.var_expr(environment));
            let widened = self.x().resize(width, zero);
            let value = self.x().add(value, widened);
            self.emit(Op::Assign { var, value });
            self.change(HiddenState::Environment);
        }
    }
    /// True if the function is a model that chooses values where the library computes them.
    fn computes(&self) -> bool {
        let program = &self.cx.program;
        let place = program.funcs[self.func].place.map(|place| program.places[place]);
        place.is_some_and(|place| hidden::computes(&program.files[place.file].path))
    }
    /// Records that later values of the environment depend on this point, if they are a sequence.
    pub fn change(&mut self, state: HiddenState) {
        if let Some(var) = self.cx.hidden[state as usize] {
            let value = self.var_expr(var);
            self.emit(Op::Assign { var, value });
        }
    }
    /// Records that the computation of `value` changes a hidden state of the library.
    pub fn change_by(&mut self, state: HiddenState, value: ExprId) {
        if let Some(var) = self.cx.hidden[state as usize] {
            let (value, before) = (self.x().resize(WIDTH_OF_STATE, value), self.var_expr(var));
            let value = self.x().add(before, value);
            self.emit(Op::Assign { var, value });
        }
    }
    /// Records that later operations depend on a hidden state of the library.
    pub fn depend_on(&mut self, state: HiddenState) {
        if let Some(var) = self.cx.hidden[state as usize] {
            let value = self.var_expr(var);
            self.pin(value);
        }
    }
    /// Records the hidden states that an unmodelled library function changes and depends on.
    pub fn use_hidden_states(&mut self, function: &str) {
        let options = self.cx.options;
        if options.sequential_environment {
            hidden::read(function, self.cx.shares_files).into_iter().for_each(|state| self.depend_on(state));
            hidden::changed(function, options.reads_back).into_iter().for_each(|state| self.change(state));
        }
    }
    /// Adds a taint: from here on the program adds (`over`) or removes (`under`) behaviours.
    pub fn approximate(&mut self, reason: impl Into<String>, over: bool, under: bool) {
        let taint = self.cx.program.taints.push(Taint { reason: reason.into(), place: self.place, over, under });
        self.emit(Op::Approx { taint });
    }
    /// Records that the program uses addresses as numbers: a variable that is no pointer holds them.
    pub fn use_as_number(&mut self, value: ExprId) {
        self.pin(value);
    }
    /// Records that the environment learns an address: a variable holds a part of it.
    pub fn expose(&mut self, address: ExprId) {
        let part = self.x().extract(7, 0, address);
        self.use_as_number(part);
    }
    /// Handles an operation that is not modelled: adds a taint in both directions, and returns an unconstrained value
    /// if the operation has one.
    pub fn unmodelled(&mut self, what: &str, width: Option<u32>) -> Option<ExprId> {
        self.approximate(format!("{what}: not modelled"), true, true);
        width.map(|width| self.havoc(width, InputKind::Unmodelled(what.to_owned()), None))
    }
    pub fn halt(&mut self, kind: HaltKind) {
        self.finish(Op::Halt(kind));
    }
    /// Emits an assumption: the path exists only if `cond` is true.
    pub fn assume(&mut self, cond: ExprId) {
        if self.x().is_true(cond) {
            return;
        }
        let violated = self.x().not(cond);
        let (inside, after) = (self.new_location(), self.new_location());
        self.branch_meaning(violated, inside, after, [Some(false), Some(true)]);
        self.cursor = Cursor::At(inside);
        self.halt(HaltKind::Assumed);
        self.cursor = Cursor::At(after);
    }

    /// Emits an assumption that a slice may omit.
    pub fn assume_optionally(&mut self, cond: ExprId) {
        let source = self.here();
        self.assume(cond);
        if let Some(source) = source {
            self.cx.program.relax(source);
        }
    }

    // Memory.

    pub fn load(&mut self, addr: ExprId, width: u32) -> ExprId {
        let var = self.temp(width);
        self.emit(Op::Load { var, addr });
        self.var_expr(var)
    }
    pub fn store(&mut self, addr: ExprId, value: ExprId) {
        self.emit(Op::Store { addr, value });
    }
    pub fn alloc(&mut self, size: ExprId, align: u32, kind: AllocKind, zeroed: bool) -> ExprId {
        let width = self.pointer_width();
        let var = self.temp(width);
        self.emit(Op::Alloc { var, size, align: align.max(1), kind, zeroed });
        self.var_expr(var)
    }
}

/// Ends the path with a branch, even if its condition is constant.
pub(super) fn fork(b: &mut Builder<'_, '_>, cond: ExprId, targets: [LocId; 2], means: [Option<bool>; 2]) {
    let Some(source) = b.here() else { return };
    let (place, origin) = (b.place, b.sorted_origin());
    let (then_edge, else_edge) = b.cx.program.add_branch(source, cond, targets[0], targets[1], place);
    for (edge, means) in [then_edge, else_edge].into_iter().zip(means) {
        b.cx.program.edges[edge].origin.clone_from(&origin);
        b.cx.program.set_meaning(edge, means);
    }
    b.cursor = Cursor::Dead;
}
