//! The slice as a program.

use crate::criterion::Value;
use crate::flow::{End, Flow};
use crate::mark::Marks;
use crate::sdg::{Kind, Sdg};
use cfa::graph::NONE;
use cfa::{
    Bv, Callee, EdgeId, Expr, ExprId, FuncId, GlobalInit, HaltKind, Id, LocId, Op, PlaceId, Program, Table, VarKind,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// A program of the operations in the slice, and for each of its edges the edge it was.
pub struct Built {
    pub program: Program,
    /// `None` for the ends put in where the slice stops.
    pub original: Table<EdgeId, Option<EdgeId>>,
    /// By function, whether anything of it is left.
    pub kept_functions: Vec<bool>,
}

/// Functions, globals, variables and inputs keep their ids; a function that is not in the slice becomes one that
/// returns 0, or one without any edge if nothing refers to it. A global that nothing refers to is zero.
///
/// Paths on which nothing that matters happens any more end where that is so; if `cut_off` is not set, those that
/// never end go on.
pub fn build(program: &Program, sdg: &Sdg, marks: &Marks, cut_off: bool, observed: &[Value]) -> Built {
    let mut out = program.clone();
    out.locs = Table::new();
    out.edges = Table::new();
    let mut b = SliceBuilder {
        program,
        sdg,
        marks,
        cut_off,
        args: results_and_arguments(sdg, marks),
        out,
        original: Table::new(),
    };
    let kept_functions: Vec<bool> = program.funcs.ids().map(|f| b.has_content(f)).collect();
    for f in program.funcs.ids() {
        let entry = b.out.add_location(f);
        b.out.funcs[f].entry = entry;
        if kept_functions[f.index()] {
            let flow = sdg.flows[f.index()].as_ref().expect("a function with live operations");
            FunctionBuilder::new(&mut b, f, flow).build(entry);
        }
    }
    if !kept_functions[program.entry.index()] {
        // No criterion can be reached.
        let (entry, sink) = (b.out.funcs[program.entry].entry, b.out.add_location(program.entry));
        b.add(entry, Op::Halt(HaltKind::Assumed), sink, None, None);
    }
    b.tidy(&kept_functions, observed);
    Built { program: b.out, original: b.original, kept_functions }
}

struct SliceBuilder<'a> {
    program: &'a Program,
    sdg: &'a Sdg,
    marks: &'a Marks,
    cut_off: bool,
    args: Used,
    out: Program,
    original: Table<EdgeId, Option<EdgeId>>,
}

/// The results of calls and the returned values that the slice uses.
struct Used {
    results: FxHashSet<EdgeId>,
    returned: FxHashSet<EdgeId>,
}

fn results_and_arguments(sdg: &Sdg, marks: &Marks) -> Used {
    let mut used = Used { results: FxHashSet::default(), returned: FxHashSet::default() };
    for (n, kind) in sdg.kinds.iter().enumerate() {
        match *kind {
            Kind::After(call, cell) if cell == sdg.cells.result() && marks.contains(n as u32) => {
                used.results.insert(call);
            }
            Kind::Returned(e) if marks.contains(n as u32) => {
                used.returned.insert(e);
            }
            _ => {}
        }
    }
    used
}

impl SliceBuilder<'_> {
    fn is_kept(&self, edge: EdgeId) -> bool {
        self.sdg.op(edge).is_some_and(|n| self.marks.contains(n))
    }
    /// Whether a value is observed there, for the sake of the slice.
    fn is_observed(&self, edge: EdgeId) -> bool {
        let observations = self.sdg.observed_at.get(&edge);
        let nodes = observations.into_iter().flatten().map(|&i| self.sdg.observed[i as usize]);
        nodes.into_iter().any(|n| n != NONE && self.marks.contains(n))
    }
    /// The entry function always has.
    fn has_content(&self, f: FuncId) -> bool {
        let Some(flow) = &self.sdg.flows[f.index()] else { return false };
        f == self.program.entry
            || flow.blocks.iter().any(|block| {
                let branch = match block.end {
                    End::Branch { then_edge, else_edge } => [Some(then_edge), Some(else_edge)],
                    _ => [None, None],
                };
                let edges = block.edges.iter().copied().chain(branch.into_iter().flatten());
                edges.into_iter().any(|e| self.is_kept(e) || self.is_observed(e))
            })
    }
    fn zero(&mut self, width: u32) -> ExprId {
        self.out.exprs.constant(Bv::zero(width))
    }
    fn add(&mut self, source: LocId, op: Op, target: LocId, place: Option<PlaceId>, original: Option<EdgeId>) {
        let id = self.out.add_edge(source, op, target, place);
        if let Some(o) = original {
            self.out.edges[id].origin = self.program.edges[o].origin.clone();
            self.out.edges[id].fault = self.program.edges[o].fault.filter(|_| self.is_kept(o));
        }
        self.original.push(original);
    }

    /// The operation without the parts that are not in the slice.
    fn operation(&mut self, edge: EdgeId) -> Op {
        let mut op = self.program.edges[edge].op.clone();
        match &mut op {
            Op::Call { args, varargs, result, .. } => {
                let in_slice = |i: usize| self.sdg.argument(edge, i as u32).is_some_and(|n| self.marks.contains(n));
                let drop_block = varargs.is_some() && !in_slice(args.len());
                let drop_args: Vec<usize> = (0..args.len()).filter(|&i| !in_slice(i)).collect();
                for i in drop_args {
                    let width = self.program.exprs.width(args[i]);
                    args[i] = self.zero(width);
                }
                if drop_block {
                    *varargs = None;
                }
                if !self.args.results.contains(&edge) {
                    *result = None;
                }
            }
            Op::Return { value: Some(value) } if !self.args.returned.contains(&edge) => {
                let width = self.program.exprs.width(*value);
                *value = self.zero(width);
            }
            Op::Halt(HaltKind::Exit(code) | HaltKind::ExitNow(code)) => {
                let width = self.program.exprs.width(*code);
                *code = self.zero(width);
            }
            Op::Error(_) if !self.is_kept(edge) => op = Op::Halt(HaltKind::Assumed),
            _ => {}
        }
        op
    }

    /// Leaves only what is referred to: globals that nothing refers to lose their content, functions without any
    /// operation in the slice get bodies if something calls them or has their address. `observed` are referred to.
    fn tidy(&mut self, kept: &[bool], observed: &[Value]) {
        let mut functions = vec![false; self.program.funcs.len()];
        let mut globals = vec![false; self.program.globals.len()];
        let mut vars = vec![false; self.program.vars.len()];
        let mut seen = FxHashSet::default();
        let mut exprs = Vec::new();
        for edge in self.out.edges.values() {
            if let Op::Call { callee: Callee::Direct(f), .. } = edge.op {
                functions[f.index()] = true;
            }
            edge.op.for_each_expr(|e| exprs.push(e));
        }
        // Globals and variables whose first values are to be looked at.
        let (mut new_globals, mut new_vars) = (Vec::new(), Vec::new());
        for value in observed {
            match *value {
                Value::Var(v) => new_vars.push(v),
                Value::Global(g) => new_globals.push(g),
                Value::Object(_) => {}
            }
        }
        loop {
            while let Some(e) = exprs.pop() {
                self.out.exprs.visit(e, &mut seen, |_, node| match *node {
                    Expr::FuncAddr(f) => functions[f.index()] = true,
                    Expr::GlobalAddr(g) => new_globals.push(g),
                    Expr::Var(v) => new_vars.push(v),
                    _ => {}
                });
            }
            for g in new_globals.drain(..) {
                if !std::mem::replace(&mut globals[g.index()], true) {
                    let pointers = self.program.globals[g].init.iter().flat_map(|init| &init.pointers);
                    exprs.extend(pointers.map(|p| p.1));
                }
            }
            for v in new_vars.drain(..) {
                if !std::mem::replace(&mut vars[v.index()], true)
                    && let VarKind::Global { init } = self.program.vars[v].kind
                {
                    exprs.extend(init);
                }
            }
            if exprs.is_empty() {
                break;
            }
        }
        for g in self.program.globals.ids().filter(|g| !globals[g.index()]) {
            self.out.globals[g].init = Some(GlobalInit::default());
        }
        for v in self.program.vars.ids().filter(|v| !vars[v.index()]) {
            if let VarKind::Global { .. } = self.program.vars[v].kind {
                let zero = self.zero(self.program.vars[v].width);
                self.out.vars[v].kind = VarKind::Global { init: Some(zero) };
            }
        }
        for f in self.program.funcs.ids() {
            if functions[f.index()] && !kept[f.index()] {
                let entry = self.out.funcs[f].entry;
                let sdg = self.sdg;
                match &sdg.flows[f.index()] {
                    // It returns, or a path through it ends.
                    Some(flow) => FunctionBuilder::new(self, f, flow).build(entry),
                    // No criterion can be reached from within it, nor by its return.
                    None => {
                        let sink = self.out.add_location(f);
                        self.add(entry, Op::Halt(HaltKind::Assumed), sink, None, None);
                    }
                }
            }
        }
    }
}

/// A place in the slice of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Spot {
    /// The edge with this index in a block, or its branch if that is one past the last.
    At(u32, u32),
    /// Nothing that matters happens any more.
    Stop,
    /// Nothing happens any more at all, and for ever.
    Diverge,
}

/// How much a spot matters. Where a branch is not in the slice, its ways lead to the same spot that is in the slice, and
/// none to any other; but they may differ in what is not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Priority {
    InSlice,
    Return,
    End,
    Stop,
    Diverge,
}

struct FunctionBuilder<'b, 'a> {
    b: &'b mut SliceBuilder<'a>,
    f: FuncId,
    flow: &'b Flow,
    /// By block the first spot from its start on.
    first: Vec<(Priority, Spot)>,
    locs: FxHashMap<Spot, LocId>,
    todo: Vec<Spot>,
}

impl<'b, 'a> FunctionBuilder<'b, 'a> {
    fn new(b: &'b mut SliceBuilder<'a>, f: FuncId, flow: &'b Flow) -> Self {
        Self { b, f, flow, first: Vec::new(), locs: FxHashMap::default(), todo: Vec::new() }
    }

    fn build(mut self, entry: LocId) {
        self.find_first();
        let first = self.resolve(0, 0);
        self.locs.insert(first, entry);
        self.todo.push(first);
        while let Some(spot) = self.todo.pop() {
            let source = self.locs[&spot];
            match spot {
                Spot::At(block, i) => self.emit(source, block, i),
                Spot::Stop => {
                    let sink = self.b.out.add_location(self.f);
                    self.b.add(source, Op::Halt(HaltKind::Assumed), sink, None, None);
                }
                Spot::Diverge => self.b.add(source, Op::Skip, source, None, None),
            }
        }
    }

    fn emit(&mut self, source: LocId, block: u32, i: u32) {
        let program = self.b.program;
        let flow = self.flow;
        let b = &flow.blocks[block as usize];
        let (id, op) = match (b.edges.get(i as usize), b.end) {
            (Some(&id), _) if self.b.is_kept(id) || ends(&program.edges[id].op) => (id, self.b.operation(id)),
            (Some(&id), _) => (id, Op::Skip),
            (None, End::Branch { then_edge, else_edge }) if self.b.is_kept(then_edge) => {
                let Op::Assume { cond, .. } = program.edges[then_edge].op else { unreachable!("an assume edge") };
                let then_target = self.branch_target(then_edge);
                let else_target = self.branch_target(else_edge);
                let place = program.edges[then_edge].place;
                let (t, e) = self.b.out.add_branch(source, cond, then_target, else_target, place);
                for (new, old) in [(t, then_edge), (e, else_edge)] {
                    self.b.out.edges[new].origin = program.edges[old].origin.clone();
                    self.b.out.edges[new].place = program.edges[old].place;
                    self.b.original.push(Some(old));
                }
                return;
            }
            (None, End::Branch { then_edge, else_edge }) => {
                (if self.b.is_observed(then_edge) { then_edge } else { else_edge }, Op::Skip)
            }
            (None, _) => unreachable!("a spot is an edge or a branch"),
        };
        let target = if ends(&op) {
            self.b.out.add_location(self.f)
        } else {
            let next = self.resolve(block, i + 1);
            self.loc(next)
        };
        self.b.add(source, op, target, program.edges[id].place, Some(id));
    }

    fn branch_target(&mut self, edge: EdgeId) -> LocId {
        let target = self.b.program.edges[edge].target;
        let spot = match self.flow.block_at(target) {
            Some(block) => self.resolve(block, 0),
            None => Spot::Stop,
        };
        self.loc(spot)
    }

    fn loc(&mut self, spot: Spot) -> LocId {
        if let Some(&loc) = self.locs.get(&spot) {
            return loc;
        }
        let loc = self.b.out.add_location(self.f);
        self.locs.insert(spot, loc);
        self.todo.push(spot);
        loc
    }

    /// Backwards from the spots themselves, those that matter most first.
    fn find_first(&mut self) {
        let flow = self.flow;
        let none = if self.b.cut_off { Spot::Stop } else { Spot::Diverge };
        self.first = vec![(Priority::Diverge, none); flow.blocks.len()];
        let mut own: Vec<(Priority, u32)> = Vec::new();
        for b in 0..flow.blocks.len() as u32 {
            if let Some(found) = self.spot_within(b, 0) {
                self.first[b as usize] = found;
            } else if flow.graph.successors(b).is_empty() {
                self.first[b as usize] = (Priority::Stop, Spot::Stop);
            } else {
                continue;
            }
            own.push((self.first[b as usize].0, b));
        }
        own.sort_unstable();
        let mut work = Vec::new();
        for (priority, b) in own {
            work.push(b);
            while let Some(b) = work.pop() {
                for &p in flow.graph.predecessors(b) {
                    if self.first[p as usize].0 == Priority::Diverge {
                        self.first[p as usize] = (priority, self.first[b as usize].1);
                        work.push(p);
                    }
                }
            }
        }
    }

    /// The first spot of the block from its edge `i` on.
    fn spot_within(&self, block: u32, i: u32) -> Option<(Priority, Spot)> {
        let b = &self.flow.blocks[block as usize];
        for (i, &id) in b.edges.iter().enumerate().skip(i as usize) {
            let priority = match self.b.program.edges[id].op {
                _ if self.b.is_kept(id) || self.b.is_observed(id) => Priority::InSlice,
                Op::Return { .. } => Priority::Return,
                Op::Halt(_) | Op::Error(_) => Priority::End,
                _ => continue,
            };
            return Some((priority, Spot::At(block, i as u32)));
        }
        match b.end {
            End::Branch { then_edge, else_edge }
                if i as usize <= b.edges.len()
                    && (self.b.is_kept(then_edge)
                        || self.b.is_observed(then_edge)
                        || self.b.is_observed(else_edge)) =>
            {
                Some((Priority::InSlice, Spot::At(block, b.edges.len() as u32)))
            }
            _ => None,
        }
    }

    /// The first spot from here on.
    fn resolve(&self, block: u32, i: u32) -> Spot {
        let within = if i == 0 { Some(self.first[block as usize]) } else { self.spot_within(block, i) };
        let after = || {
            let blocks = self.flow.graph.successors(block).iter().filter(|&&b| b != self.flow.returned());
            blocks.map(|&b| self.first[b as usize]).min_by_key(|first| first.0)
        };
        within.or_else(after).map_or(Spot::Stop, |(_, spot)| spot)
    }
}

/// Whether nothing follows the operation.
fn ends(op: &Op) -> bool {
    matches!(op, Op::Return { .. } | Op::Halt(_) | Op::Error(_))
}
