//! Forward slices: context-sensitive forward reachability in the system dependence graph.
//!
//! Like Horwitz, Reps and Binkley, an *up* walk continues from outputs of a function at all its calls, and a *down*
//! walk enters callees and does not return from them. Values that return from a call that the walk entered are found by
//! tabulation. The walk reaches a node together with the input of its function through which it came. Outputs continue
//! only at the calls that supply this input (Reps, Horwitz, Sagiv: *Precise interprocedural dataflow analysis via graph
//! reachability*, POPL 1995). This yields the summary edges of Horwitz, Reps and Binkley on demand.
//!
//! There may be many pairs of a node and an input. Beyond a fixed number per node, the walk merges the inputs of a
//! function, and the remaining work is linear.

use crate::criterion::Criterion;
use crate::crossing::Input;
use crate::modref::Cell;
use crate::sdg::NodeKind;
use crate::slice::Analysis;
use cfa::graph::{Lists, NONE};
use cfa::{FuncId, Id, Op};
use rustc_hash::{FxHashMap, FxHashSet};

/// The operations that criteria may influence.
pub struct Forward {
    /// By edge, true if its execution or its values may depend on a criterion. True for criteria.
    pub kept: Vec<bool>,
}

impl<'p> Analysis<'p> {
    /// Computes the operations that the operations or values of the criteria may influence. The result is complete only
    /// if the analysis was built without [`Options::cut_off`](crate::Options::cut_off).
    pub fn forward(&self, criteria: &[Criterion]) -> Forward {
        let reversed = self.sdg.deps.reversed(self.sdg.kinds.len());
        let mut walk = Walk {
            analysis: self,
            into_calls: IntoCalls::new(self),
            after: FxHashMap::default(),
            reversed: &reversed,
            reached: FxHashSet::default(),
            suppliers: FxHashMap::default(),
            outputs: FxHashMap::default(),
            budget: PAIRS_PER_NODE * self.sdg.kinds.len(),
            work: Vec::new(),
        };
        for (node, kind) in self.sdg.kinds.iter().enumerate() {
            if let NodeKind::After(call, cell) = *kind
                && let Some(op) = self.sdg.op(call)
            {
                walk.after.insert((op, cell), node as u32);
            }
        }
        for node in self.nodes_of(criteria) {
            // The criterion stands for the definitions of the observed value, so the walk starts at these.
            match self.sdg.kinds[node as usize] {
                NodeKind::Observed(_) => self.sdg.deps.get(node).iter().for_each(|&n| walk.reach(n, UP)),
                _ => walk.reach(node, UP),
            }
        }
        while let Some((node, context)) = walk.work.pop() {
            walk.visit(node, context);
        }
        let mut kept = vec![false; self.program.edges.len()];
        for &(node, _) in &walk.reached {
            match self.sdg.kinds[node as usize] {
                NodeKind::Op(e) => {
                    kept[e.index()] = true;
                    if let Op::Assume { .. } = self.program.edges[e].op {
                        self.program.out_edges(self.program.edges[e].source).for_each(|e| kept[e.index()] = true);
                    }
                }
                NodeKind::Argument(e, _) | NodeKind::Returned(e) => kept[e.index()] = true,
                _ => {}
            }
        }
        criteria.iter().for_each(|c| kept[c.edge.index()] = true);
        Forward { kept }
    }
}

/// The limit on distinct (node, context) pairs, for each node of the graph. Beyond it, all contexts of a function are
/// merged.
const PAIRS_PER_NODE: usize = 16;

/// The input of the function through which the walk reached a node.
type Context = u32;
/// No input: the criterion is in the function or in one of its callees.
const UP: Context = NONE;
/// No input: a call decides whether the function is executed. The call itself carries the effects on its callers.
const CALLED: Context = NONE - 1;
/// Any input of the function in the lower bits.
const ANY: Context = 1 << 31;

/// A forward traversal of the dependence graph.
struct Walk<'a, 'p> {
    analysis: &'a Analysis<'p>,
    reversed: &'a Lists<u32>,
    into_calls: IntoCalls,
    /// The `After` nodes, by the operation of the call and the cell.
    after: FxHashMap<(u32, Cell), u32>,
    reached: FxHashSet<(u32, Context)>,
    /// By context of a callee, the calls through which the walk entered it, with the contexts of these calls.
    suppliers: FxHashMap<Context, Vec<(u32, Context)>>,
    /// By context of a callee, the outputs that the walk reached.
    outputs: FxHashMap<Context, Vec<Cell>>,
    budget: usize,
    work: Vec<(u32, Context)>,
}

impl Walk<'_, '_> {
    fn reach(&mut self, node: u32, context: Context) {
        // The context `UP` subsumes all others.
        if context != UP && self.reached.contains(&(node, UP)) {
            return;
        }
        if self.reached.insert((node, context)) {
            self.work.push((node, context));
        }
    }

    fn visit(&mut self, node: u32, context: Context) {
        let sdg = &self.analysis.sdg;
        match sdg.kinds[node as usize] {
            NodeKind::Op(call) => {
                for &g in self.analysis.calls.callees(call) {
                    self.enter_called(g);
                }
            }
            NodeKind::Out(f, cell) => self.leave(f, cell, context),
            _ => {}
        }
        let reversed = self.reversed;
        for &n in reversed.get(node) {
            match (sdg.kinds[node as usize], sdg.kinds[n as usize]) {
                // Any operation of the program may read an unordered cell.
                (NodeKind::Unordered(_) | NodeKind::Gathered, _) => self.reach(n, UP),
                _ => self.reach(n, context),
            }
        }
        for i in self.into_calls.range(node) {
            self.enter(self.into_calls.inputs[i], context);
        }
    }

    /// The criterion decides whether the function is executed, so all of it may depend on the criterion.
    fn enter_called(&mut self, g: FuncId) {
        let entry = self.analysis.sdg.entries[g.index()];
        self.reach(entry, CALLED);
    }

    /// Continues in a callee at an input that a call supplies.
    fn enter(&mut self, supplied: Input, context: Context) {
        let Input { call, callee, input, .. } = supplied;
        let inner = if self.reached.len() < self.budget { input } else { ANY | callee.0 };
        let suppliers = self.suppliers.entry(inner).or_default();
        if !suppliers.contains(&(call, context)) {
            suppliers.push((call, context));
            for cell in self.outputs.get(&inner).cloned().unwrap_or_default() {
                self.come_back(call, cell, context);
            }
        }
        self.reach(input, inner);
    }

    fn leave(&mut self, f: FuncId, cell: Cell, context: Context) {
        match context {
            CALLED => {}
            UP => {
                for &call in self.analysis.calls.callers(f) {
                    if let Some(op) = self.analysis.sdg.op(call) {
                        self.come_back(op, cell, UP);
                    }
                }
            }
            _ => {
                self.outputs.entry(context).or_default().push(cell);
                for (call, outer) in self.suppliers.get(&context).cloned().unwrap_or_default() {
                    self.come_back(call, cell, outer);
                }
            }
        }
    }
    fn come_back(&mut self, call: u32, cell: Cell, context: Context) {
        if let Some(&after) = self.after.get(&(call, cell)) {
            self.reach(after, context);
        }
    }
}

/// The inputs of functions that each value supplies, sorted by value.
struct IntoCalls {
    inputs: Vec<Input>,
}

impl IntoCalls {
    fn new(analysis: &Analysis) -> Self {
        let mut inputs = analysis.sdg.crossings.inputs().to_vec();
        inputs.sort_unstable_by_key(|i| (i.value, i.call, i.input));
        Self { inputs }
    }
    fn range(&self, node: u32) -> std::ops::Range<usize> {
        let start = self.inputs.partition_point(|i| i.value < node);
        let len = self.inputs[start..].iter().take_while(|i| i.value == node).count();
        start..start + len
    }
}
