//! The dependences within one function, in static single assignment form.

use super::{Builder, NodeKind, VARIADIC};
use crate::crossing::Site;
use crate::flow::{BlockEnd, Flow};
use crate::modref::Cell;
use cfa::dominators::Dominators;
use cfa::graph::{Lists, NONE};
use cfa::{Callee, EdgeId, ExprId, FuncId, FunctionOrigin, Id, Op, VarId, VarKind};
use rustc_hash::FxHashMap;

/// A cell that the function uses or defines.
struct Tracked {
    cell: Cell,
    defined_in: Vec<u32>,
    used: bool,
}

/// Builds the nodes of one function.
pub struct FunctionBuilder<'b, 'a> {
    b: &'b mut Builder<'a>,
    f: FuncId,
    /// The first node of the function.
    first: u32,
    flow: &'b Flow,
    tracked: Vec<Tracked>,
    /// The current value of each tracked cell.
    value: Vec<u32>,
    undo: Vec<(u32, u32)>,
    ins: FxHashMap<Cell, u32>,
    /// For each block, the joins at its start: (dense cell, node).
    joins: Vec<Vec<(u32, u32)>>,
    controls: Vec<u32>,
    /// Pairs (node that defines a cell, older value that may remain), for cells that outlive the function.
    kept: Vec<(u32, u32)>,
    returned: Vec<u32>,
    /// The node of the behaviour of an undefined function, if the function is undefined.
    external: u32,
}

impl<'b, 'a> FunctionBuilder<'b, 'a> {
    /// A builder for function `f`.
    pub fn new(b: &'b mut Builder<'a>, f: FuncId, flow: &'b Flow) -> Self {
        Self {
            first: b.kinds.len() as u32,
            b,
            f,
            flow,
            tracked: Vec::new(),
            value: Vec::new(),
            undo: Vec::new(),
            ins: FxHashMap::default(),
            joins: vec![Vec::new(); flow.blocks.len() + 1],
            controls: Vec::new(),
            kept: Vec::new(),
            returned: Vec::new(),
            external: NONE,
        }
    }

    /// Builds all nodes and dependences of the function.
    pub fn build(mut self) {
        self.operations();
        self.collect();
        let dominators = Dominators::new(&self.flow.graph, 0);
        self.place_joins(&dominators);
        self.rename(&dominators);
        self.outputs();
        for t in &self.tracked {
            self.b.dense[t.cell as usize] = NONE;
        }
        let mut ins: Vec<(Cell, u32)> = self.ins.iter().map(|(&cell, &node)| (cell, node)).collect();
        ins.sort_unstable();
        self.b.ins[self.f.index()] = ins;
        self.b.built[self.f.index()] = true;
    }

    /// Creates the nodes of blocks and operations, with their control dependences.
    fn operations(&mut self) {
        let flow = self.flow;
        let entry = self.b.entries[self.f.index()];
        let returning = self.b.parts.cells.returning();
        for block in &flow.blocks {
            let control = self.b.node(NodeKind::Control(block.first));
            self.controls.push(control);
            self.b.depend(control, entry);
            for &e in &block.edges {
                let n = self.b.node(NodeKind::Op(e));
                self.b.op_nodes[e.index()] = n;
                self.b.depend(n, control);
            }
            if let BlockEnd::Branch { then_edge, else_edge } = block.end {
                let n = self.b.node(NodeKind::Op(then_edge));
                self.b.op_nodes[then_edge.index()] = n;
                self.b.op_nodes[else_edge.index()] = n;
                self.b.depend(n, control);
            }
        }
        // For each block, the node that decides at its end.
        let decisions: Vec<u32> = flow
            .blocks
            .iter()
            .zip(&self.controls)
            .map(|(block, &control)| match block.end {
                BlockEnd::Branch { then_edge, .. } => self.b.op_nodes[then_edge.index()],
                BlockEnd::Call(call) => {
                    let after = self.b.node(NodeKind::After(call, returning));
                    let op = self.b.op_nodes[call.index()];
                    self.b.depend(after, op);
                    self.b.returning.insert(call, after);
                    after
                }
                // These ends count as branches to `end`, because an endless loop needs a path there.
                BlockEnd::Goto | BlockEnd::Return | BlockEnd::Stop => control,
            })
            .collect();
        for b in 0..flow.blocks.len() as u32 {
            for &c in flow.controls.get(b) {
                self.b.depend(self.controls[b as usize], decisions[c as usize]);
            }
        }
        let out = self.b.node(NodeKind::Out(self.f, returning));
        for &c in flow.controls.get(flow.returned()) {
            self.b.depend(out, decisions[c as usize]);
        }
        self.b.outs[self.f.index()].push((returning, out));
    }

    fn track(&mut self, cell: Cell) -> usize {
        let d = &mut self.b.dense[cell as usize];
        if *d == NONE {
            *d = self.tracked.len() as u32;
            self.tracked.push(Tracked { cell, defined_in: Vec::new(), used: false });
            self.value.push(NONE);
        }
        *d as usize
    }
    fn note_def(&mut self, cell: Cell, block: u32) {
        let t = self.track(cell);
        if self.tracked[t].defined_in.last() != Some(&block) {
            self.tracked[t].defined_in.push(block);
        }
    }
    fn note_use(&mut self, cell: Cell) {
        let t = self.track(cell);
        self.tracked[t].used = true;
    }
    fn is_unordered(&self, cell: Cell) -> bool {
        self.b.parts.modref.unordered.contains(cell)
    }
    fn written_by_call(&self, call: EdgeId) -> Vec<Cell> {
        let parts = self.b.parts;
        union(parts.calls.callees(call).iter().map(|&g| parts.modref.writes(g)))
    }
    fn read_by_call(&self, call: EdgeId) -> Vec<Cell> {
        let parts = self.b.parts;
        union(parts.calls.callees(call).iter().map(|&g| parts.modref.reads(g)))
    }
    /// True if the cell may keep its old value at a call that may write it.
    fn transparent(&self, call: EdgeId, cell: Cell) -> bool {
        let may_not_be = !matches!(self.b.parts.program.edges[call].op, Op::Call { .. });
        may_not_be
            || self.b.parts.calls.callees(call).iter().any(|&g| {
                !self.b.built[g.index()]
                    || !self.b.parts.modref.writes(g).contains(cell)
                    || self.b.transparent[g.index()].binary_search(&cell).is_ok()
            })
    }

    /// Collects the cells that are used, and the blocks that define them.
    fn collect(&mut self) {
        let parts = self.b.parts;
        let cells = parts.cells;
        let f = self.f;
        for o in parts.observations.iter().filter(|o| parts.program.func_of(o.edge) == f) {
            o.cells.iter().for_each(|&cell| self.note_use(cell));
        }
        for (b, block) in self.flow.blocks.iter().enumerate() {
            let b = b as u32;
            let ends = if let BlockEnd::Branch { then_edge, .. } = block.end { Some(then_edge) } else { None };
            for e in block.edges.iter().copied().chain(ends) {
                let op = &parts.program.edges[e].op;
                op.for_each_expr(|x| {
                    for v in self.b.vars.variables(parts.program, x).to_vec() {
                        self.note_use(cells.var(v));
                    }
                });
                if let Some(v) = op.def() {
                    self.note_def(cells.var(v), b);
                }
                let (reads, writes) = parts.regions.set_numbers(e);
                self.b.ordered(reads).iter().for_each(|&r| self.note_use(r));
                self.b.ordered(writes).iter().for_each(|&r| self.note_def(r, b));
                for cell in self.read_by_call(e) {
                    self.note_use(cell);
                }
                for cell in self.written_by_call(e) {
                    self.note_def(cell, b);
                }
                if self.is_external(e) {
                    self.parameters().for_each(|v| self.note_use(cells.var(v)));
                }
            }
        }
        for cell in parts.modref.writes(self.f).iter() {
            self.note_use(cell);
        }
    }

    /// True if the edge represents the behaviour of an undefined function.
    fn is_external(&self, e: EdgeId) -> bool {
        let parts = self.b.parts;
        parts.undefined
            && parts.program.funcs[self.f].origin == FunctionOrigin::Undefined
            && matches!(parts.program.edges[e].op, Op::Approx { .. })
    }
    fn parameters(&self) -> impl Iterator<Item = VarId> + use<'a> {
        let f = &self.b.parts.program.funcs[self.f];
        f.params.iter().copied().chain(f.varargs)
    }

    /// Places joins at the iterated dominance frontiers of the definitions (Cytron et al. 1991).
    fn place_joins(&mut self, dominators: &Dominators) {
        let graph = &self.flow.graph;
        let frontier = dominators.frontiers(graph);
        let mut joined = vec![NONE; graph.len()];
        let mut queued = vec![NONE; graph.len()];
        let returned = self.flow.returned();
        for t in 0..self.tracked.len() {
            let mut work = self.tracked[t].defined_in.clone();
            let cell = self.tracked[t].cell;
            if self.is_unordered(cell) {
                continue;
            }
            work.iter().for_each(|&b| queued[b as usize] = t as u32);
            while let Some(b) = work.pop() {
                for &j in frontier.get(b) {
                    if joined[j as usize] != t as u32 {
                        joined[j as usize] = t as u32;
                        let loc = self
                            .flow
                            .blocks
                            .get(j as usize)
                            .map_or_else(|| self.b.parts.program.funcs[self.f].entry, |block| block.first);
                        if j != returned || self.tracked[t].used {
                            let n = self.b.node(NodeKind::Join(loc, cell));
                            self.joins[j as usize].push((t as u32, n));
                        }
                        if queued[j as usize] != t as u32 {
                            queued[j as usize] = t as u32;
                            work.push(j);
                        }
                    }
                }
            }
        }
    }

    fn lookup(&mut self, cell: Cell) -> u32 {
        if self.is_unordered(cell) {
            return self.b.unordered(cell);
        }
        let t = self.b.dense[cell as usize] as usize;
        if self.value[t] != NONE {
            return self.value[t];
        }
        let parts = self.b.parts;
        let from_outside = match parts.cells.as_var(cell) {
            Some(v) => match parts.program.vars[v].kind {
                VarKind::Global { .. } => true,
                VarKind::Param(f) => f == self.f,
                _ => parts.program.funcs[self.f].varargs == Some(v),
            },
            None => parts.regions.owner[cell as usize] != Some(self.f),
        };
        if !from_outside {
            return NONE;
        }
        if let Some(&n) = self.ins.get(&cell) {
            return n;
        }
        let n = self.b.node(NodeKind::In(self.f, cell));
        self.ins.insert(cell, n);
        n
    }
    fn set(&mut self, cell: Cell, node: u32) {
        let t = self.b.dense[cell as usize];
        self.undo.push((t, self.value[t as usize]));
        self.value[t as usize] = node;
    }
    fn use_cell(&mut self, node: u32, cell: Cell) {
        let on = self.lookup(cell);
        self.b.depend(node, on);
    }
    fn use_expr(&mut self, node: u32, e: ExprId) {
        for i in 0..self.b.vars.variables(self.b.parts.program, e).len() {
            let v = self.b.vars.variables(self.b.parts.program, e)[i];
            self.use_cell(node, self.b.parts.cells.var(v));
        }
    }
    /// Adds the old value of the cell as a dependence of `node`, a write that may preserve (part of) it.
    fn keep_old(&mut self, node: u32, cell: Cell) {
        let old = self.lookup(cell);
        self.b.depend(node, old);
        self.kept.push((node, old));
    }

    /// Walks the dominator tree with the current value of every cell.
    fn rename(&mut self, dominators: &Dominators) {
        enum Step {
            Enter(u32),
            Leave(usize),
        }
        let mut stack = vec![Step::Enter(0)];
        while let Some(step) = stack.pop() {
            match step {
                Step::Leave(mark) => {
                    while self.undo.len() > mark {
                        let (t, old) = self.undo.pop().expect("longer than the mark");
                        self.value[t as usize] = old;
                    }
                }
                Step::Enter(n) => {
                    stack.push(Step::Leave(self.undo.len()));
                    if n == 0 {
                        self.join_values(0);
                    }
                    for i in 0..self.joins[n as usize].len() {
                        let (t, node) = self.joins[n as usize][i];
                        self.set(self.tracked[t as usize].cell, node);
                    }
                    if n == self.flow.returned() {
                        self.out_cells();
                    } else {
                        self.block(n);
                    }
                    let flow = self.flow;
                    flow.graph.successors(n).iter().for_each(|&s| self.join_values(s));
                    stack.extend(dominators.children(n).iter().map(|&c| Step::Enter(c)));
                }
            }
        }
    }

    /// Adds the current values of cells to the joins of a block.
    fn join_values(&mut self, block: u32) {
        for i in 0..self.joins[block as usize].len() {
            let (t, join) = self.joins[block as usize][i];
            self.keep_old(join, self.tracked[t as usize].cell);
        }
    }

    fn block(&mut self, n: u32) {
        let flow = self.flow;
        let block = &flow.blocks[n as usize];
        for &e in &block.edges {
            self.observe(e, n);
            self.edge(e);
        }
        if let BlockEnd::Branch { then_edge, else_edge } = block.end {
            self.observe(then_edge, n);
            self.observe(else_edge, n);
            let node = self.b.op_nodes[then_edge.index()];
            let Op::Assume { cond, .. } = self.b.parts.program.edges[then_edge].op else {
                unreachable!("branches are assume edges")
            };
            self.use_expr(node, cond);
        }
    }

    fn observe(&mut self, e: EdgeId, block: u32) {
        let Some(observations) = self.b.observed_at.get(&e).cloned() else { return };
        for i in observations {
            let node = self.b.node(NodeKind::Observed(e));
            self.b.depend(node, self.controls[block as usize]);
            let parts = self.b.parts;
            for &cell in &parts.observations[i as usize].cells {
                self.use_cell(node, cell);
            }
            self.b.observed[i as usize] = node;
        }
    }

    fn edge(&mut self, e: EdgeId) {
        let parts = self.b.parts;
        let op = &parts.program.edges[e].op;
        let node = self.b.op_nodes[e.index()];
        match op {
            Op::Call { .. } => return self.call(e),
            Op::Return { value } => {
                if let Some(value) = *value {
                    let returned = self.b.node(NodeKind::Returned(e));
                    self.b.depend(returned, node);
                    self.use_expr(returned, value);
                    self.returned.push(returned);
                }
                return;
            }
            // Nothing depends on an exit status.
            Op::Halt(_) => return,
            Op::Approx { .. } if self.is_external(e) => {
                self.external = node;
                self.parameters().for_each(|v| self.use_cell(node, parts.cells.var(v)));
            }
            // The value that an undefined function returns.
            Op::Havoc { .. } => self.b.depend(node, self.external),
            _ => op.for_each_expr(|x| self.use_expr(node, x)),
        }
        let (reads, writes) = parts.regions.set_numbers(e);
        self.b.ordered(reads).iter().for_each(|&r| self.use_cell(node, r));
        let unordered = self.b.gathered(reads, false);
        self.b.depend(node, unordered);
        if let Some(v) = op.def() {
            self.define(node, parts.cells.var(v));
        }
        if !parts.calls.callees(e).is_empty() {
            let mut site = Site::default();
            self.callees_effects(e, node, &mut site);
            site.after.extend(self.b.returning.get(&e).map(|&after| (parts.cells.returning(), after)));
            self.b.sites.push((e, site));
        }
        for &r in self.b.ordered(writes).iter() {
            if parts.regions.kills(e).binary_search(&r).is_ok() {
                self.define(node, r);
            } else {
                let weak = self.b.node(NodeKind::Weak(e, r));
                self.b.depend(weak, node);
                self.keep_old(weak, r);
                self.set(r, weak);
            }
        }
        let unordered = self.b.gathered(writes, true);
        if unordered != NONE {
            self.b.depend(unordered, node);
        }
    }
    fn define(&mut self, node: u32, cell: Cell) {
        if self.is_unordered(cell) {
            let all = self.b.unordered(cell);
            self.b.depend(all, node);
        } else {
            self.set(cell, node);
        }
    }

    fn call(&mut self, e: EdgeId) {
        let parts = self.b.parts;
        let node = self.b.op_nodes[e.index()];
        let Op::Call { callee, args, varargs, result } = &parts.program.edges[e].op else {
            unreachable!("a call edge")
        };
        if let Callee::Indirect(target) = *callee {
            self.use_expr(node, target);
        }
        let index = (0..args.len() as u32).chain(varargs.map(|_| VARIADIC));
        let mut site =
            Site { arguments: index.map(|i| self.b.node(NodeKind::Argument(e, i))).collect(), ..Site::default() };
        for (k, &arg) in args.iter().chain(varargs).enumerate() {
            self.b.depend(site.arguments[k], node);
            self.use_expr(site.arguments[k], arg);
        }
        self.callees_effects(e, node, &mut site);
        if let Some(v) = *result {
            let after = self.b.node(NodeKind::After(e, parts.cells.result()));
            self.b.depend(after, node);
            self.define(after, parts.cells.var(v));
            site.after.push((parts.cells.result(), after));
        }
        site.after.extend(self.b.returning.get(&e).map(|&after| (parts.cells.returning(), after)));
        self.b.sites.push((e, site));
    }

    /// Adds the cells that callees may read and write.
    fn callees_effects(&mut self, e: EdgeId, node: u32, site: &mut Site) {
        site.before = self.read_by_call(e).into_iter().map(|c| (c, self.lookup(c))).collect();
        for cell in self.written_by_call(e) {
            let after = self.b.node(NodeKind::After(e, cell));
            self.b.depend(after, node);
            if self.transparent(e, cell) {
                self.keep_old(after, cell);
            }
            self.set(cell, after);
            site.after.push((cell, after));
        }
    }

    /// Adds the values of cells at the return.
    fn out_cells(&mut self) {
        let parts = self.b.parts;
        for cell in parts.modref.writes(self.f).iter() {
            let out = self.b.node(NodeKind::Out(self.f, cell));
            self.keep_old(out, cell);
            self.b.outs[self.f.index()].push((cell, out));
        }
    }

    fn outputs(&mut self) {
        let f = self.f.index();
        if !self.returned.is_empty() {
            let result = self.b.parts.cells.result();
            let out = self.b.node(NodeKind::Out(self.f, result));
            for &r in &self.returned {
                self.b.deps.push((out, r));
            }
            self.b.outs[f].push((result, out));
        }
        self.b.outs[f].sort_unstable();
        // Computes the cells whose values on entry may remain.
        let base = self.first;
        let count = self.b.kinds.len() - base as usize;
        let inside: Vec<_> =
            self.kept.iter().filter(|k| k.1 != NONE && k.1 >= base).map(|k| (k.0 - base, k.1 - base)).collect();
        let kept = Lists::of_pairs(count, &inside);
        let mut transparent = Vec::new();
        let mut seen = vec![false; count];
        for &(cell, out) in &self.b.outs[f] {
            if self.b.parts.cells.result() <= cell {
                continue;
            }
            let mut stack = vec![out - base];
            let mut found = false;
            while let Some(n) = stack.pop() {
                if !std::mem::replace(&mut seen[n as usize], true) {
                    found |= matches!(self.b.kinds[(n + base) as usize], NodeKind::In(..));
                    stack.extend(kept.get(n));
                }
            }
            if found {
                transparent.push(cell);
            }
        }
        self.b.transparent[f] = transparent;
    }
}

fn union<'s>(mut sets: impl Iterator<Item = &'s crate::sparse_set::SparseSet>) -> Vec<Cell> {
    let Some(first) = sets.next() else { return Vec::new() };
    match sets.next() {
        None => first.iter().collect(),
        Some(second) => {
            let mut all = first.clone();
            all.union(second);
            sets.for_each(|s| {
                all.union(s);
            });
            all.iter().collect()
        }
    }
}
