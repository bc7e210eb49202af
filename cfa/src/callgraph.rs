//! The call graph.

use crate::expr::Expr;
use crate::graph::{Components, Digraph};
use crate::index::{Id, Table};
use crate::program::{Callee, EdgeId, FuncId, FunctionOrigin, Op, Program, VarKind};
use rustc_hash::FxHashSet;

/// The call graph of a program.
///
/// A call through a pointer may call every function whose address the program takes; there is no points-to analysis
/// here. All such calls share one extra node of the graph. The number of edges is therefore linear in the calls and
/// functions of the program.
#[derive(Clone, Debug)]
pub struct CallGraph {
    /// The nodes are the functions by id, then one node for all calls through pointers.
    graph: Digraph,
    components: Components,
    address_taken: Vec<FuncId>,
    /// The call edges in each function, ascending.
    calls: Table<FuncId, Vec<EdgeId>>,
    /// The direct call edges of each function, ascending. `indirect_calls` has the calls through pointers.
    direct_callers: Table<FuncId, Vec<EdgeId>>,
    indirect_calls: Vec<EdgeId>,
    is_address_taken: Table<FuncId, bool>,
    reachable: Vec<bool>,
}

/// The possible callees of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CallTarget {
    Function(FuncId),
    AnyTaken,
}

fn target(program: &Program, callee: Callee) -> CallTarget {
    match callee {
        Callee::Direct(func) => CallTarget::Function(func),
        Callee::Indirect(e) => match *program.exprs.get(e) {
            Expr::FuncAddr(func) => CallTarget::Function(func),
            _ => CallTarget::AnyTaken,
        },
    }
}

impl CallGraph {
    /// Builds the call graph in time linear in the size of the program.
    pub fn new(program: &Program) -> Self {
        let functions = program.funcs.len();
        let indirect_node = functions as u32;
        let address_taken = address_taken(program);
        let mut edges: Vec<_> = address_taken.iter().map(|f| (indirect_node, f.0)).collect();
        let mut calls = Table::filled(Vec::new(), functions);
        let mut direct_callers = Table::filled(Vec::new(), functions);
        let mut indirect_calls = Vec::new();
        for (id, edge) in program.edges.iter() {
            let Op::Call { callee, .. } = edge.op else { continue };
            let caller = program.func_of(id);
            calls[caller].push(id);
            match target(program, callee) {
                CallTarget::Function(func) => {
                    direct_callers[func].push(id);
                    edges.push((caller.0, func.0));
                }
                CallTarget::AnyTaken => {
                    indirect_calls.push(id);
                    edges.push((caller.0, indirect_node));
                }
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let graph = Digraph::new(functions + 1, &edges);
        let mut is_address_taken = Table::filled(false, functions);
        for &func in &address_taken {
            is_address_taken[func] = true;
        }
        let reachable = graph.reachable([program.entry.0]);
        Self {
            components: graph.components(),
            graph,
            address_taken,
            calls,
            direct_callers,
            indirect_calls,
            is_address_taken,
            reachable,
        }
    }

    /// The call edges in a function, ascending.
    pub fn calls_in(&self, func: FuncId) -> &[EdgeId] {
        &self.calls[func]
    }
    /// The functions that a call may call, ascending. Panics if `edge` is not a call.
    pub fn callees<'a>(&'a self, program: &Program, edge: EdgeId) -> Callees<'a> {
        match &program.edges[edge].op {
            Op::Call { callee, .. } => match target(program, *callee) {
                CallTarget::Function(func) => Callees::One(func),
                CallTarget::AnyTaken => Callees::Many(&self.address_taken),
            },
            op => panic!("{op:?} is no call"),
        }
    }
    /// The call edges that may call a function: the direct ones ascending, then those through pointers.
    pub fn callers(&self, func: FuncId) -> impl Iterator<Item = EdgeId> + '_ {
        let indirect = if self.is_address_taken[func] { &self.indirect_calls[..] } else { &[] };
        self.direct_callers[func].iter().chain(indirect).copied()
    }
    /// The calls through pointers, ascending.
    pub fn indirect_calls(&self) -> &[EdgeId] {
        &self.indirect_calls
    }
    /// The functions whose addresses the program takes, ascending.
    pub fn address_taken(&self) -> &[FuncId] {
        &self.address_taken
    }
    /// True if a path in the call graph leads from the program's entry to the function.
    pub fn is_reachable(&self, func: FuncId) -> bool {
        self.reachable[func.index()]
    }
    /// True if an execution may reach an edge that removes behaviours, such as a call of an undefined function. The
    /// removed behaviours may call functions that no modelled code calls. Library models do not count, since they call
    /// only functions that were passed to them.
    pub fn may_lose_behaviours(&self, program: &Program) -> bool {
        program.edges.iter().any(|(id, edge)| {
            let func = program.func_of(id);
            let is_under = matches!(edge.op, Op::Approx { taint } if program.taints[taint].under);
            is_under && self.is_reachable(func) && program.funcs[func].origin != FunctionOrigin::Model
        })
    }
    /// True if a call of the function may lead to another call of it before it returns.
    pub fn is_recursive(&self, func: FuncId) -> bool {
        self.components.on_cycle(&self.graph, func.0)
    }
    /// The strongly connected components of the functions, callees before callers. Each component is ascending. A
    /// component of one function is recursive only if [`is_recursive`](Self::is_recursive) is true.
    pub fn bottom_up(&self) -> impl Iterator<Item = Vec<FuncId>> + '_ {
        let functions = self.calls.len() as u32;
        (0..self.components.len() as u32).filter_map(move |c| {
            let group: Vec<_> =
                self.components.members(c).iter().filter(|&&n| n < functions).map(|&n| FuncId(n)).collect();
            (!group.is_empty()).then_some(group)
        })
    }
    /// The underlying graph. Its nodes are the functions by id, then one node for all calls through pointers.
    pub fn graph(&self) -> &Digraph {
        &self.graph
    }
}

/// The functions that a call may call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callees<'a> {
    /// Exactly one function.
    One(FuncId),
    /// Any of these functions.
    Many(&'a [FuncId]),
}

impl Callees<'_> {
    /// The functions as a slice.
    pub fn as_slice(&self) -> &[FuncId] {
        match self {
            Self::One(func) => std::slice::from_ref(func),
            Self::Many(funcs) => funcs,
        }
    }
}

/// The functions whose addresses occur in an evaluated expression or in the initial value of a global. The callee of a
/// call does not count.
fn address_taken(program: &Program) -> Vec<FuncId> {
    let mut taken = Vec::new();
    let mut seen = FxHashSet::default();
    let mut look = |root| {
        program.exprs.visit(root, &mut seen, |_, node| {
            if let Expr::FuncAddr(func) = node {
                taken.push(*func);
            }
        });
    };
    for edge in program.edges.values() {
        match &edge.op {
            Op::Call { callee, args, varargs, .. } => {
                if let Callee::Indirect(e) = *callee
                    && target(program, *callee) == CallTarget::AnyTaken
                {
                    look(e);
                }
                args.iter().chain(varargs).copied().for_each(&mut look);
            }
            op => op.for_each_expr(&mut look),
        }
    }
    for var in program.vars.values() {
        if let VarKind::Global { init: Some(e), .. } = var.kind {
            look(e);
        }
    }
    for init in program.globals.values().filter_map(|g| g.init.as_ref()) {
        init.pointers.iter().for_each(|(_, e)| look(*e));
    }
    taken.sort_unstable();
    taken.dedup();
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{CType, DataLayout};

    struct Builder(Program);

    impl Builder {
        fn func(&mut self, name: &str) -> FuncId {
            let void = self.0.types.push(CType::Void);
            self.0.add_function(name, void, None)
        }
        /// Appends a call to the body that `caller` has so far.
        fn call(&mut self, caller: FuncId, callee: Callee) -> EdgeId {
            let mut at = self.0.funcs[caller].entry;
            while let Some(edge) = self.0.out_edges(at).next() {
                at = self.0.edges[edge].target;
            }
            let next = self.0.add_location(caller);
            self.0.add_edge(at, Op::Call { callee, args: Box::default(), varargs: None, result: None }, next, None)
        }
    }

    #[test]
    fn direct_and_indirect_calls() {
        let mut b = Builder(Program::new(DataLayout { pointer_width: 64 }));
        let start = b.0.entry;
        let [main, even, odd, handler, dead] = ["main", "even", "odd", "handler", "dead"].map(|n| b.func(n));
        b.call(start, Callee::Direct(main));
        let to_even = b.call(main, Callee::Direct(even));
        let from_even = b.call(even, Callee::Direct(odd));
        b.call(odd, Callee::Direct(even));
        let address = b.0.exprs.func_addr(handler, 64);
        let certain = b.call(main, Callee::Indirect(address));
        b.call(dead, Callee::Direct(dead));

        let graph = CallGraph::new(&b.0);
        assert!(graph.address_taken().is_empty() && graph.indirect_calls().is_empty());
        assert_eq!(graph.callees(&b.0, certain), Callees::One(handler));
        let recursive: Vec<_> = b.0.funcs.ids().filter(|&f| graph.is_recursive(f)).collect();
        assert_eq!(recursive, [even, odd, dead]);
        assert!(!graph.is_reachable(dead) && graph.is_reachable(odd));
        let groups: Vec<_> = graph.bottom_up().collect();
        let position = |f: FuncId| groups.iter().position(|g| g.contains(&f)).unwrap();
        assert!(position(even) == position(odd) && position(even) < position(main) && position(main) < position(start));
        assert_eq!(graph.callers(odd).collect::<Vec<_>>(), [from_even]);
        assert_eq!(graph.calls_in(main), [to_even, certain]);

        // If the address is in a variable, the call may call any function whose address is taken.
        let v = b.0.vars.push(crate::program::Var {
            name: None,
            ty: crate::program::TypeId(0),
            width: 64,
            kind: VarKind::Global { init: Some(address), is_static: false },
            place: None,
        });
        let pointer = b.0.var_expr(v);
        let unknown = b.call(handler, Callee::Indirect(pointer));
        let graph = CallGraph::new(&b.0);
        assert_eq!(graph.callees(&b.0, unknown).as_slice(), [handler]);
        assert!(graph.is_recursive(handler));
        assert_eq!(graph.callers(handler).collect::<Vec<_>>(), [certain, unknown]);
    }
}
