//! String literals that may share memory. C leaves open whether equal literals are one object, and whether one literal
//! is the tail of another (C17, 6.4.5p7). The same holds for constant compound literals (6.5.2.5p7). If the program can
//! observe this by comparing or subtracting addresses, the address of one literal becomes an input: its own address, or
//! one within the other literal. A proof then holds for both choices, and a violation names the choice that it needs.

use super::{are_precise, points_to};
use cfa::{
    BinOp, CType, Expr, ExprId, FuncId, FunctionOrigin, GlobalId, Input, InputKind, LocId, Op, Program, Taint, TypeId,
    Var, VarId, VarKind,
};
use rustc_hash::{FxHashMap, FxHashSet};
use slicer::pointer::{Mode, ObjectKind, PointsTo};

/// The width in bits of the input that chooses the object of a literal.
const CHOICE: u32 = 8;
/// The maximal number of possible places of a literal that are distinguished.
const PLACES: usize = 200;

/// For each literal, the places in other literals that have its content: object and offset in bytes.
type Shared = FxHashMap<GlobalId, Vec<(GlobalId, u64)>>;

/// Turns the addresses of literals into inputs if the program can observe whether they share memory.
pub fn share(program: &mut Program) {
    let shared = shared(program);
    if shared.is_empty() {
        return;
    }
    // Unification is fast, and it usually proves that no two literals are compared.
    for mode in [Mode::Unification, Mode::Inclusion] {
        let points_to = points_to(program, mode);
        let is_precise = are_precise(&points_to, mode);
        let mut meetings = Meetings { program, points_to, is_precise, shared: &shared, found: Shared::default() };
        meetings.find();
        if meetings.found.is_empty() {
            return;
        }
        if mode == Mode::Inclusion {
            let written = meetings.written_constants();
            let met = meetings.found;
            return Sharing::new(program).apply(met, &written);
        }
    }
}

/// Returns the literals that other literals may contain.
fn shared(program: &Program) -> Shared {
    let mut contents: Vec<(GlobalId, Vec<u8>)> = Vec::new();
    for (id, global) in program.globals.iter() {
        // Names in C have no dot.
        let is_literal = global.name.starts_with(".str") || global.name.starts_with(".compoundliteral");
        if let Some(init) = &global.init
            && is_literal
            && global.read_only
            && init.pointers.is_empty()
        {
            let mut bytes = init.bytes.clone();
            bytes.resize(global.size as usize, 0);
            contents.push((id, bytes));
        }
    }
    let align = |id: GlobalId| program.globals[id].align;
    let mut by_content: FxHashMap<(u32, &[u8]), Vec<GlobalId>> = FxHashMap::default();
    for (id, bytes) in &contents {
        by_content.entry((align(*id), bytes)).or_default().push(*id);
    }
    let mut lengths: Vec<usize> = contents.iter().map(|(_, bytes)| bytes.len()).collect();
    lengths.sort_unstable();
    lengths.dedup();
    let mut shared = Shared::default();
    for (host, bytes) in &contents {
        for &length in lengths.iter().take_while(|&&length| length <= bytes.len()) {
            let at = bytes.len() - length;
            for &tail in by_content.get(&(align(*host), &bytes[at..])).into_iter().flatten() {
                // The first of equal literals has its own address; the others may share it.
                if length < bytes.len() || *host < tail {
                    shared.entry(tail).or_default().push((*host, at as u64));
                }
            }
        }
    }
    shared
}

/// A search for the literals whose addresses the program compares.
struct Meetings<'p> {
    program: &'p Program,
    points_to: PointsTo<'p>,
    /// True if the points-to sets have the precision for assumptions about subtracted and ordered pointers.
    is_precise: bool,
    shared: &'p Shared,
    found: Shared,
}

impl Meetings<'_> {
    fn find(&mut self) {
        let program = self.program;
        let mut seen: FxHashSet<(FuncId, ExprId)> = FxHashSet::default();
        for (id, edge) in program.edges.iter() {
            let func = program.func_of(id);
            if !self.points_to.is_reached(func) {
                continue;
            }
            let is_model = program.funcs[func].origin == FunctionOrigin::Model;
            let mut work = Vec::new();
            edge.op.for_each_expr(|e| work.push(e));
            while let Some(e) = work.pop() {
                if !seen.insert((func, e)) {
                    continue;
                }
                let node = program.exprs.get(e);
                work.extend(node.children());
                if let Expr::Binary(op, left, right) = *node {
                    // The results of models do not depend on the layout of objects, unless the models compare the bytes
                    // of pointers.
                    let is_part = program.exprs.width(left) < program.layout.pointer_width;
                    if is_part || !is_model {
                        self.compare(op, left, right);
                    }
                }
            }
        }
    }

    /// Returns the constant objects that a write may reach.
    fn written_constants(&mut self) -> FxHashSet<GlobalId> {
        let program = self.program;
        let mut found = FxHashSet::default();
        for edge in program.edges.values() {
            let (Op::Store { addr: to, .. } | Op::Fill { dst: to, .. } | Op::Copy { dst: to, .. }) = edge.op else {
                continue;
            };
            found.extend(self.globals(to).into_iter().filter(|&global| program.globals[global].read_only));
        }
        found
    }

    fn compare(&mut self, op: BinOp, left: ExprId, right: ExprId) {
        let is_order = matches!(op, BinOp::Sub | BinOp::Ult | BinOp::Ule | BinOp::Slt | BinOp::Sle);
        if !is_order && op != BinOp::Eq {
            return;
        }
        let (left, right) = (self.globals(left), self.globals(right));
        // Pointers that are subtracted or ordered lead to the same object (C17, 6.5.6p9 and 6.5.8p5). If their precise
        // points-to sets are equal, the pass assumes that they do.
        if left.is_empty() || right.is_empty() || is_order && left == right && self.is_precise {
            return;
        }
        for (tails, hosts) in [(&left, &right), (&right, &left)] {
            for tail in tails {
                let places = self.shared.get(tail).into_iter().flatten();
                let met = places.filter(|(host, _)| hosts.binary_search(host).is_ok());
                for &place in met {
                    let found = self.found.entry(*tail).or_default();
                    if !found.contains(&place) {
                        found.push(place);
                    }
                }
            }
        }
    }

    /// Returns the global objects that an expression may point to, sorted.
    fn globals(&mut self, e: ExprId) -> Vec<GlobalId> {
        if self.program.exprs.as_const(e).is_some() {
            return Vec::new();
        }
        let pointees = self.points_to.pointees(e);
        let global = |object| match self.points_to.objects[object].kind {
            ObjectKind::Global(global) => Some(global),
            _ => None,
        };
        let mut found: Vec<GlobalId> = pointees.into_iter().filter_map(global).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// The transformation that adds the choices at the start of a program.
struct Sharing<'p> {
    program: &'p mut Program,
    start: FuncId,
    at: LocId,
}

impl<'p> Sharing<'p> {
    fn new(program: &'p mut Program) -> Self {
        let start = program.entry;
        let at = program.add_location(start);
        Self { program, start, at }
    }

    fn emit(&mut self, op: Op) {
        let next = self.program.add_location(self.start);
        self.program.add_edge(self.at, op, next, None);
        self.at = next;
    }

    fn approximate(&mut self, reason: &str, over: bool) {
        let reason = reason.to_owned();
        let taint = self.program.taints.push(Taint { reason, place: None, over, under: true });
        self.emit(Op::Approx { taint });
    }

    fn apply(mut self, met: Shared, written: &FxHashSet<GlobalId>) {
        let entry = std::mem::replace(&mut self.program.funcs[self.start].entry, self.at);
        let width = self.program.layout.pointer_width;
        let choice = self.program.types.push(CType::Unknown { width: CHOICE });
        let nothing = self.program.types.push(CType::Void);
        let address = self.program.types.push(CType::Pointer(nothing));
        let mut met: Vec<(GlobalId, Vec<(GlobalId, u64)>)> = met.into_iter().collect();
        met.sort_unstable();
        if met.iter().any(|(_, places)| places.len() > PLACES) {
            self.approximate(&format!("{} in more ways than are distinguished", cfa::LITERALS), true);
        }
        let old = self.program.edges.len();
        let mut addresses: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for (literal, _) in &met {
            let own = self.program.exprs.global_addr(*literal, width);
            let kind = VarKind::Global { init: Some(own), is_static: false };
            let var = self.program.vars.push(Var { name: None, ty: address, width, kind, place: None });
            addresses.insert(own, self.program.var_expr(var));
        }
        // Hosts come before the literals that they contain. A host is longer, or it has the smaller number.
        met.sort_by_key(|&(literal, _)| (std::cmp::Reverse(self.program.globals[literal].size), literal));
        for (literal, places) in &met {
            self.choose(*literal, &places[..places.len().min(PLACES)], choice, &addresses);
        }
        self.move_initial_values(&addresses, written);
        let last = self.at;
        self.program.add_edge(last, Op::Skip, entry, None);
        let program = &mut *self.program;
        let mut memo = FxHashMap::default();
        let of_before: Vec<_> = program.edges.ids().take(old).collect();
        for id in of_before {
            let mut op = program.edges[id].op.clone();
            op.for_each_expr_mut(|e| {
                *e = program.exprs.substitute(*e, &mut memo, |_, leaf| addresses.get(&leaf).copied());
            });
            program.edges[id].op = op;
        }
    }

    /// Adds the choice of the address of a literal.
    fn choose(
        &mut self,
        literal: GlobalId,
        places: &[(GlobalId, u64)],
        choice: TypeId,
        addresses: &FxHashMap<ExprId, ExprId>,
    ) {
        let width = self.program.layout.pointer_width;
        let kind = VarKind::Temp(self.start);
        let chosen = self.program.vars.push(Var { name: None, ty: choice, width: CHOICE, kind, place: None });
        let place = self.program.globals[literal].place;
        let input = self.program.inputs.push(Input { kind: InputKind::literals(), ty: choice, width: CHOICE, place });
        self.emit(Op::Havoc { var: chosen, input });
        let chosen = self.program.var_expr(chosen);
        let own = self.program.exprs.global_addr(literal, width);
        let mut value = own;
        for (&(host, offset), number) in places.iter().zip(1..) {
            let x = &mut self.program.exprs;
            let host = x.global_addr(host, width);
            let host = addresses.get(&host).copied().unwrap_or(host);
            let (offset, number) = (x.int(width, offset), x.int(CHOICE, number));
            let (within, is_chosen) = (x.add(host, offset), x.eq(chosen, number));
            value = x.ite(is_chosen, within, value);
        }
        let Expr::Var(var) = *self.program.exprs.get(addresses[&own]) else { return };
        self.emit(Op::Assign { var, value });
    }

    /// Moves addresses in initial values to stores after the choices.
    fn move_initial_values(&mut self, addresses: &FxHashMap<ExprId, ExprId>, written: &FxHashSet<GlobalId>) {
        let mut memo = FxHashMap::default();
        let mut chosen = |program: &mut Program, e: ExprId| {
            let changed = program.exprs.substitute(e, &mut memo, |_, leaf| addresses.get(&leaf).copied());
            (changed != e).then_some(changed)
        };
        let width = self.program.layout.pointer_width;
        let mut ops = Vec::new();
        let holders: Vec<VarId> = self.program.vars.ids().collect();
        for var in holders {
            let VarKind::Global { init: Some(init), .. } = self.program.vars[var].kind else { continue };
            let is_address = |value: &ExprId| matches!(*self.program.exprs.get(*value), Expr::Var(v) if v == var);
            if !addresses.values().any(is_address)
                && let Some(value) = chosen(self.program, init)
            {
                ops.push(Op::Assign { var, value });
            }
        }
        let objects: Vec<GlobalId> = self.program.globals.ids().collect();
        for id in objects {
            let Some(init) = &mut self.program.globals[id].init else { continue };
            let mut constant = std::mem::take(&mut init.pointers);
            let count = constant.len();
            constant.retain(|&(offset, e)| {
                let Some(value) = chosen(self.program, e) else { return true };
                let base = self.program.exprs.global_addr(id, width);
                let offset = self.program.exprs.int(width, offset);
                ops.push(Op::Store { addr: self.program.exprs.add(base, offset), value });
                false
            });
            let is_stored = constant.len() < count;
            let global = &mut self.program.globals[id];
            global.init.as_mut().expect("as before").pointers = constant;
            if is_stored && std::mem::take(&mut global.read_only) && written.contains(&id) {
                let reason = format!("writes to the constant '{}' are not detected as invalid", global.name);
                self.approximate(&reason, true);
            }
        }
        ops.into_iter().for_each(|op| self.emit(op));
    }
}
