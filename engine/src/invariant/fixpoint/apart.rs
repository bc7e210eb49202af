//! The partition of a program for the analysis function by function.
//!
//! A call of a function that is analysed separately may do anything to memory and return any value. So each function is
//! a problem of its own: the work is linear in the number of functions, and the result for one does not depend on the
//! others. Small functions and functions with one call are not separate; they are analysed with their callers.
//!
//! Code without a definition is treated like a call of a separate function.

use super::contexts::{Contexts, SMALL};
use crate::invariant::undefined::AT_EXIT;
use cfa::{CallGraph, Callee, EdgeId, FuncId, FunctionOrigin, Harm, Id, LocId, Op, Program};
use fixedbitset::FixedBitSet;

/// The functions that are analysed separately.
pub struct Apart {
    /// The edges after which nothing is known: calls of separate functions, calls through pointers, and code without a
    /// definition.
    edges: FixedBitSet,
    /// The functions that execute such an edge, directly or in callees that are analysed with them.
    wild: FixedBitSet,
    /// The groups of functions that are analysed together, the smallest first. The first function of a group is the
    /// separate one.
    pub roots: Vec<Vec<FuncId>>,
    /// The functions of all groups.
    called: Vec<FuncId>,
    /// By function: its locations.
    pub locations: Vec<Vec<LocId>>,
}

impl Apart {
    /// Partitions the program with copies of small functions.
    pub fn compute(contexts: &Contexts, calls: &CallGraph) -> Self {
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
                    let is_included = harm == Harm::Included;
                    let may_disturb = is_of_model && !is_included || matches!(harm, Harm::Bounded | Harm::Again);
                    program.taints[taint].under && may_disturb
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

    /// True if nothing is known after the edge: it calls a separate function or through a pointer, or represents code
    /// without a definition.
    pub fn contains(&self, edge: EdgeId) -> bool {
        self.edges.contains(edge.index())
    }

    /// True if a call of the function may execute an edge after which nothing is known.
    pub fn is_wild(&self, func: FuncId) -> bool {
        self.wild.contains(func.index())
    }

    /// The functions that may be called, by the program or by code without a definition, except those in `done`.
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

    /// Finds the groups. Code without a definition may call every function whose address is taken, so these are roots,
    /// too.
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
