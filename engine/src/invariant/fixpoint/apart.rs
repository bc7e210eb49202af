//! Functions one by one: a call of a function that is analysed by itself may do anything to memory and gives any result back. Each function
//! then is a problem of its own, so that all work is linear in the number of functions, and what is found of one holds however long the
//! others take. Small functions, and those with one call, are analysed where they are called.
//!
//! Code that is not there is a call of that kind, too.

use super::contexts::{Contexts, SMALL};
use cfa::{CallGraph, Callee, EdgeId, FuncId, FunctionOrigin, Harm, Id, LocId, Op, Program};
use fixedbitset::FixedBitSet;

/// The front-end's function that runs what runs at the program's end: code that is not there may end the program.
const AT_EXIT: &str = "__proviso_exit_handlers";

/// Which functions are analysed by themselves.
pub struct Apart {
    /// Calls of these, calls through pointers, and code that is not there.
    edges: FixedBitSet,
    /// Functions that execute such an edge, themselves or in what is analysed with them.
    wild: FixedBitSet,
    /// By function analysed by itself, the smallest first: it and what is analysed with it.
    pub roots: Vec<Vec<FuncId>>,
    /// The functions of all of these.
    called: Vec<FuncId>,
    /// By function, its locations.
    pub locations: Vec<Vec<LocId>>,
}

impl Apart {
    pub fn of(contexts: &Contexts, calls: &CallGraph) -> Self {
        let program = &contexts.program;
        let mut locations = vec![Vec::new(); program.funcs.len()];
        let mut sizes = vec![0usize; program.funcs.len()];
        for (id, loc) in program.locs.iter() {
            locations[loc.func.index()].push(id);
            sizes[loc.func.index()] += program.out_edges(id).count();
        }
        let is_taken = |func: FuncId| calls.address_taken().binary_search(&func).is_ok();
        let is_by_itself = |func: FuncId| {
            func.index() < contexts.originals
                && (program.funcs[func].name == AT_EXIT
                    || calls.callers(func).nth(1).is_some()
                    || sizes[func.index()] > SMALL
                    || calls.is_recursive(func)
                    || is_taken(func))
        };
        let mut edges = FixedBitSet::with_capacity(program.edges.len());
        let mut wild = FixedBitSet::with_capacity(program.funcs.len());
        for (id, edge) in program.edges.iter() {
            let is_apart = match edge.op {
                Op::Call { callee: Callee::Direct(func), .. } => is_by_itself(func),
                Op::Call { callee: Callee::Indirect(_), .. } => true,
                Op::Approx { taint } => {
                    let is_of_model = program.funcs[program.func_of(id)].origin == FunctionOrigin::Model;
                    let harm = program.taints[taint].harm();
                    program.taints[taint].under && (is_of_model || matches!(harm, Harm::Bounded | Harm::Again))
                }
                _ => false,
            };
            if is_apart {
                edges.insert(id.index());
                wild.insert(program.func_of(id).index());
            }
        }
        let mut this = Self { edges, wild, roots: Vec::new(), called: Vec::new(), locations };
        this.spread_wildness(program, calls);
        this.find_roots(program, calls, &sizes);
        this
    }

    /// Whether an edge is a call of a function that is analysed by itself, or stands for code that is not there.
    pub fn contains(&self, edge: EdgeId) -> bool {
        self.edges.contains(edge.index())
    }

    pub fn is_wild(&self, func: FuncId) -> bool {
        self.wild.contains(func.index())
    }

    /// Functions that are called, by other functions or by code that is not there, and are not among those that are done.
    pub fn open_functions(&self, program: &Program, done: &[FuncId]) -> FixedBitSet {
        let mut open = FixedBitSet::with_capacity(program.funcs.len());
        open.extend(self.called.iter().map(|func| func.index()));
        for func in done {
            open.remove(func.index());
        }
        open
    }

    fn spread_wildness(&mut self, program: &Program, calls: &CallGraph) {
        let mut todo: Vec<FuncId> = self.wild.ones().map(|func| FuncId(func as u32)).collect();
        while let Some(func) = todo.pop() {
            for call in calls.callers(func).filter(|call| !self.edges.contains(call.index())) {
                let caller = program.func_of(call);
                if !self.wild.put(caller.index()) {
                    todo.push(caller);
                }
            }
        }
    }

    /// Code that is not there may call every function whose address is taken.
    fn find_roots(&mut self, program: &Program, calls: &CallGraph, sizes: &[usize]) {
        let mut found = FixedBitSet::with_capacity(program.funcs.len());
        let mut todo: Vec<FuncId> = vec![program.entry];
        todo.extend(calls.address_taken());
        todo.extend(program.func_by_name(AT_EXIT));
        let mut roots: Vec<(usize, Vec<FuncId>)> = Vec::new();
        while let Some(root) = todo.pop() {
            if found.put(root.index()) {
                continue;
            }
            let mut group = vec![root];
            let mut next = 0;
            while let Some(&func) = group.get(next) {
                next += 1;
                for &call in calls.calls_in(func) {
                    for &callee in calls.callees(program, call).as_slice() {
                        if self.contains(call) {
                            todo.push(callee);
                        } else if !found.put(callee.index()) {
                            group.push(callee);
                        }
                    }
                }
            }
            roots.push((group.iter().map(|func| sizes[func.index()]).sum(), group));
        }
        roots.sort_by_key(|(size, group)| (*size, group[0]));
        self.called = roots.iter().flat_map(|(_, group)| group.iter().copied()).collect();
        self.roots = roots.into_iter().map(|(_, group)| group).collect();
    }
}
