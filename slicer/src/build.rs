//! Builds the slice as a program.

use crate::criterion::Value;
use crate::flow::{BlockEnd, Flow};
use crate::mark::Marks;
use crate::sdg::{NodeKind, Sdg};
use cfa::graph::NONE;
use cfa::{
    Bv, Callee, EdgeId, Expr, ExprId, FuncId, GlobalInit, HaltKind, Id, LocId, Op, PlaceId, Program, Table, VarKind,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The program of a slice, with a map from its edges to the original edges.
pub struct Built {
    /// The slice.
    pub program: Program,
    /// For each edge of the slice, the original edge; `None` for inserted edges that end a path.
    pub original: Table<EdgeId, Option<EdgeId>>,
    /// For each function, true if the slice has any of its operations.
    pub kept_functions: Vec<bool>,
}

/// Builds the program of the marked nodes.
///
/// Functions, globals, variables and inputs keep their ids. If the slice has no operation of a function, its body only
/// returns 0 or ends the path. If nothing refers to such a function, it has no edge at all. A global that nothing refers
/// to becomes zero.
///
/// A path on which no marked operation can follow ends there. If `cut_off` is false, a path that never ends becomes an
/// endless loop instead.
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
        // The criteria are unreachable.
        let (entry, sink) = (b.out.funcs[program.entry].entry, b.out.add_location(program.entry));
        b.add(entry, Op::Halt(HaltKind::Assumed), sink, None, None);
    }
    b.tidy(&kept_functions, observed);
    Built { program: b.out, original: b.original, kept_functions }
}

/// The program of a slice under construction.
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
            NodeKind::After(call, cell) if cell == sdg.cells.result() && marks.contains(n as u32) => {
                used.results.insert(call);
            }
            NodeKind::Returned(e) if marks.contains(n as u32) => {
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
    /// True if the slice observes a value at this edge.
    fn is_observed(&self, edge: EdgeId) -> bool {
        let observations = self.sdg.observed_at.get(&edge);
        let nodes = observations.into_iter().flatten().map(|&i| self.sdg.observed[i as usize]);
        nodes.into_iter().any(|n| n != NONE && self.marks.contains(n))
    }
    /// True if the slice has any operation of the function. Always true for the entry function.
    fn has_content(&self, f: FuncId) -> bool {
        let Some(flow) = &self.sdg.flows[f.index()] else { return false };
        f == self.program.entry
            || flow.blocks.iter().any(|block| {
                let branch = match block.end {
                    BlockEnd::Branch { then_edge, else_edge } => [Some(then_edge), Some(else_edge)],
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

    /// Copies the operation; arguments and results outside the slice become zero or disappear.
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
            // An omitted assumption.
            Op::Assume { .. } => op = Op::Skip,
            _ => {}
        }
        op
    }

    /// Clears everything that nothing refers to. Unreferenced globals lose their initial values. A function without
    /// operations in the slice gets a body if something calls it or takes its address. The values in `observed` count
    /// as referenced.
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
        // Globals and variables whose initial values have not been scanned for references yet.
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
                    && let VarKind::Global { init, .. } = self.program.vars[v].kind
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
            if let VarKind::Global { is_static, .. } = self.program.vars[v].kind {
                let zero = self.zero(self.program.vars[v].width);
                self.out.vars[v].kind = VarKind::Global { init: Some(zero), is_static };
            }
        }
        for f in self.program.funcs.ids() {
            if functions[f.index()] && !kept[f.index()] {
                let entry = self.out.funcs[f].entry;
                let sdg = self.sdg;
                match &sdg.flows[f.index()] {
                    // The function returns, or a path through it ends.
                    Some(flow) => FunctionBuilder::new(self, f, flow).build(entry),
                    // No criterion is reachable from the function or after its return.
                    None => {
                        let sink = self.out.add_location(f);
                        self.add(entry, Op::Halt(HaltKind::Assumed), sink, None, None);
                    }
                }
            }
        }
    }
}

/// A position in the slice of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Spot {
    /// The edge with this index in a block, or the branch of the block if the index is one past the last edge.
    At(u32, u32),
    /// The path ends: no operation of the slice can follow.
    Stop,
    /// An endless loop: the path continues forever, without any operation of the slice.
    Diverge,
}

/// The order in which positions are preferred. If a branch is not in the slice, its successors lead to at most one
/// common position in the slice. They may differ in positions outside the slice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Priority {
    InSlice,
    Return,
    End,
    Stop,
    Diverge,
}

/// A function of a slice under construction.
struct FunctionBuilder<'b, 'a> {
    b: &'b mut SliceBuilder<'a>,
    f: FuncId,
    flow: &'b Flow,
    /// For each block, the first position on the paths from its start.
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
            (None, BlockEnd::Branch { then_edge, else_edge }) if self.b.is_kept(then_edge) => {
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
            (None, BlockEnd::Branch { then_edge, else_edge }) => {
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

    /// Propagates positions backwards through the blocks, in the order of their priority.
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

    /// The first position of the block from its edge `i` on, if it has one.
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
            BlockEnd::Branch { then_edge, else_edge }
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

    /// The first position on the paths from edge `i` of the block.
    fn resolve(&self, block: u32, i: u32) -> Spot {
        let within = if i == 0 { Some(self.first[block as usize]) } else { self.spot_within(block, i) };
        let after = || {
            let blocks = self.flow.graph.successors(block).iter().filter(|&&b| b != self.flow.returned());
            blocks.map(|&b| self.first[b as usize]).min_by_key(|first| first.0)
        };
        within.or_else(after).map_or(Spot::Stop, |(_, spot)| spot)
    }
}

/// True if no operation can follow this one in its function.
fn ends(op: &Op) -> bool {
    matches!(op, Op::Return { .. } | Op::Halt(_) | Op::Error(_))
}
