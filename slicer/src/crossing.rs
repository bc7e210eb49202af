//! The dependences that cross calls: inputs that callers supply, and outputs that callees return.

use crate::call_graph::CallGraph;
use crate::modref::{Cell, CellNumbers};
use cfa::graph::{Lists, NONE};
use cfa::{EdgeId, FuncId, Id, Op, Program};

/// One input of a callee at one call.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// The node of the call's operation.
    pub call: u32,
    /// The callee.
    pub callee: FuncId,
    /// The callee's `In` node.
    pub input: u32,
    /// The node of the value at the call: an argument, or the same cell before the call.
    pub value: u32,
}

/// The dependences between the calls of a program and their callees.
pub struct Crossings {
    inputs: Vec<Input>,
    /// Indices into `inputs`, by the node of the call, by `In` node, and by value.
    by_call: Lists<u32>,
    by_input: Lists<u32>,
    /// For each `After` node, the `Out` nodes of the callees.
    outputs: Lists<u32>,
}

/// The nodes of one call, collected while the graph is built. Cells are sorted.
#[derive(Default)]
pub struct Site {
    /// The `Argument` nodes. The node of the variadic block is the last.
    pub arguments: Vec<u32>,
    /// The values of the cells that callees may read, before the call.
    pub before: Vec<(Cell, u32)>,
    /// The `After` nodes of the cells that callees may write.
    pub after: Vec<(Cell, u32)>,
}

/// The interface nodes of all functions.
pub struct Interfaces<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its call graph.
    pub calls: &'a CallGraph,
    /// The numbering of cells.
    pub cells: CellNumbers,
    /// By edge, the node of its operation.
    pub op_nodes: &'a [u32],
    /// By function, the `In` nodes, sorted by cell.
    pub ins: &'a [Vec<(Cell, u32)>],
    /// By function, the `Out` nodes, sorted by cell.
    pub outs: &'a [Vec<(Cell, u32)>],
}

impl Crossings {
    /// Connects the `sites`, which are in the order of their edge ids. `nodes` is the number of nodes in the graph.
    pub fn new(interfaces: &Interfaces, sites: &[(EdgeId, Site)], nodes: usize) -> Self {
        let mut inputs = Vec::new();
        let mut outputs = Vec::new();
        for (call, site) in sites {
            let node = interfaces.op_nodes[call.index()];
            for &callee in interfaces.calls.callees(*call) {
                let ins = &interfaces.ins[callee.index()];
                let mut supply = |input, value| {
                    if value != NONE {
                        inputs.push(Input { call: node, callee, input, value });
                    }
                };
                in_both(&site.before, ins, |value, input| supply(input, value));
                interfaces.arguments(*call, callee, &site.arguments, |cell, value| {
                    if let Ok(i) = ins.binary_search_by_key(&cell, |e| e.0) {
                        supply(ins[i].1, value);
                    }
                });
                in_both(&site.after, &interfaces.outs[callee.index()], |after, out| outputs.push((after, out)));
            }
        }
        let by = |key: fn(&Input) -> u32| {
            let pairs: Vec<(u32, u32)> = inputs.iter().zip(0..).map(|(input, i)| (key(input), i)).collect();
            Lists::of_pairs(nodes, &pairs)
        };
        Self { by_call: by(|i| i.call), by_input: by(|i| i.input), outputs: Lists::of_pairs(nodes, &outputs), inputs }
    }
    /// All inputs of callees.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }
    /// The inputs that the call with the operation node `op` supplies.
    pub fn of_call(&self, op: u32) -> impl Iterator<Item = Input> + '_ {
        self.by_call.get(op).iter().map(|&i| self.inputs[i as usize])
    }
    /// The inputs that calls supply for an `In` node.
    pub fn of_input(&self, input: u32) -> impl Iterator<Item = Input> + '_ {
        self.by_input.get(input).iter().map(|&i| self.inputs[i as usize])
    }
    /// The `Out` nodes whose values an `After` node may take.
    pub fn outputs(&self, after: u32) -> &[u32] {
        self.outputs.get(after)
    }
}

impl Interfaces<'_> {
    /// Visits the arguments of a call with the callee's parameter of each.
    fn arguments(&self, call: EdgeId, callee: FuncId, nodes: &[u32], mut visit: impl FnMut(Cell, u32)) {
        let Op::Call { args, .. } = &self.program.edges[call].op else { return };
        let callee = &self.program.funcs[callee];
        let (in_order, block) = nodes.split_at(args.len());
        let parameters = callee.params.iter().zip(in_order).chain(callee.varargs.iter().zip(block));
        parameters.for_each(|(&param, &node)| visit(self.cells.var(param), node));
    }
}

/// Visits the pairs of nodes with the same cell. Both slices are sorted by cell.
fn in_both(a: &[(Cell, u32)], b: &[(Cell, u32)], mut visit: impl FnMut(u32, u32)) {
    let (mut i, mut k) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(k)) {
        if x.0 == y.0 {
            visit(x.1, y.1);
        }
        i += usize::from(x.0 <= y.0);
        k += usize::from(y.0 <= x.0);
    }
}
