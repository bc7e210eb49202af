//! Where values go into functions and come out of them: the dependences that cross calls.

use crate::call_graph::CallGraph;
use crate::modref::{Cell, CellNumbers};
use cfa::graph::{Lists, NONE};
use cfa::{EdgeId, FuncId, Id, Op, Program};

/// A call supplies an input of a callee.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// The node of the call's operation.
    pub call: u32,
    pub callee: FuncId,
    /// The callee's `In` node.
    pub input: u32,
    /// The value at the call: an argument, or that of the same cell before the call.
    pub value: u32,
}

pub struct Crossings {
    inputs: Vec<Input>,
    /// The inputs by the node of their call, by `In` node, and by value.
    by_call: Lists<u32>,
    by_input: Lists<u32>,
    /// For each `After` node the `Out` nodes of the callees.
    outputs: Lists<u32>,
}

/// What the construction of the graph learns of a call; cells are sorted.
#[derive(Default)]
pub struct Site {
    /// The `Argument` nodes, that of the block of variadic ones last.
    pub arguments: Vec<u32>,
    /// The values of the cells that callees may read, before the call.
    pub before: Vec<(Cell, u32)>,
    /// The `After` nodes.
    pub after: Vec<(Cell, u32)>,
}

/// The nodes of functions on either side.
pub struct Interfaces<'a> {
    pub program: &'a Program,
    pub calls: &'a CallGraph,
    pub cells: CellNumbers,
    pub op_nodes: &'a [u32],
    /// By function, sorted by cell.
    pub ins: &'a [Vec<(Cell, u32)>],
    pub outs: &'a [Vec<(Cell, u32)>],
}

impl Crossings {
    /// The calls in order of id.
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
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }
    /// The inputs that the call with this operation supplies.
    pub fn of_call(&self, op: u32) -> impl Iterator<Item = Input> + '_ {
        self.by_call.get(op).iter().map(|&i| self.inputs[i as usize])
    }
    /// What calls supply for an `In` node.
    pub fn of_input(&self, input: u32) -> impl Iterator<Item = Input> + '_ {
        self.by_input.get(input).iter().map(|&i| self.inputs[i as usize])
    }
    /// The `Out` nodes that an `After` node may have its value from.
    pub fn outputs(&self, after: u32) -> &[u32] {
        self.outputs.get(after)
    }
}

impl Interfaces<'_> {
    /// The arguments of the call with the parameters that they are for.
    fn arguments(&self, call: EdgeId, callee: FuncId, nodes: &[u32], mut visit: impl FnMut(Cell, u32)) {
        let Op::Call { args, .. } = &self.program.edges[call].op else { return };
        let callee = &self.program.funcs[callee];
        let (in_order, block) = nodes.split_at(args.len());
        let parameters = callee.params.iter().zip(in_order).chain(callee.varargs.iter().zip(block));
        parameters.for_each(|(&param, &node)| visit(self.cells.var(param), node));
    }
}

/// The pairs of nodes for the same cell.
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
