//! The calling contexts of heap objects.
//!
//! An allocation has one object per calling context, which is a string of the last `k` calls. Only functions that
//! allocate and return the allocated memory need contexts. These functions have one instance for each context, with
//! separate variables.

use super::graph::NodeId;
use cfa::{AllocKind, Callee, EdgeId, FuncId, Id, Op, Program, VarId};
use rustc_hash::FxHashMap;

/// A function in a calling context. `BASE` represents all functions without contexts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InstanceId(u32);

impl InstanceId {
    /// The instance of all functions without contexts.
    pub const BASE: Self = Self(0);
}

/// The last calls before a function, the latest last.
pub type CallString = Box<[EdgeId]>;

/// A function in a context.
struct Instance {
    calls: CallString,
    /// The node of the function's first variable. The node of the result follows the variables.
    nodes: NodeId,
}

/// Functions with more edges have no contexts.
const LARGE: usize = 400;

/// The instance that a call leads to.
pub enum Called {
    /// An existing one.
    Known(InstanceId),
    /// One with this call string, which does not exist.
    New(CallString),
}

/// The instances of all functions.
pub struct Instances {
    instances: Vec<Instance>,
    ids: FxHashMap<(FuncId, CallString), InstanceId>,
    depth: usize,
    /// By function, true if it may return memory that it allocates.
    allocates: Vec<bool>,
    /// By function, its instances other than [`InstanceId::BASE`].
    of_func: FxHashMap<FuncId, Vec<InstanceId>>,
    /// The number of each variable among the variables of its function.
    local: Vec<u32>,
    /// The number of variables of each function.
    locals: Vec<u32>,
    /// The number of edges that further instances may add.
    room: usize,
}

impl Instances {
    /// The instances before any call is analysed. `depth` is the length of call strings.
    pub fn new(program: &Program, bodies: &[Vec<EdgeId>], depth: u8) -> Self {
        let mut local = vec![0; program.vars.len()];
        let mut locals = vec![0; program.funcs.len()];
        for (v, var) in program.vars.iter() {
            if let Some(f) = var.func() {
                local[v.index()] = locals[f.index()];
                locals[f.index()] += 1;
            }
        }
        let base = Instance { calls: Box::default(), nodes: 0 };
        Self {
            instances: vec![base],
            ids: FxHashMap::default(),
            depth: usize::from(depth),
            allocates: allocators(program, bodies, depth),
            of_func: FxHashMap::default(),
            local,
            locals,
            room: program.edges.len() + 10_000,
        }
    }
    /// The node of a variable.
    pub fn var(&self, program: &Program, instance: InstanceId, v: VarId) -> NodeId {
        if instance == InstanceId::BASE || program.vars[v].func().is_none() {
            return v.0;
        }
        self.instances[instance.0 as usize].nodes + self.local[v.index()]
    }
    /// The node of the result of a function.
    pub fn result(&self, program: &Program, instance: InstanceId, f: FuncId) -> NodeId {
        match instance {
            InstanceId::BASE => program.vars.len() as u32 + f.0,
            _ => self.instances[instance.0 as usize].nodes + self.locals[f.index()],
        }
    }
    /// The instance of `f` that a call in the instance `caller` leads to.
    pub fn called(&self, f: FuncId, call: EdgeId, caller: InstanceId) -> Called {
        if self.depth == 0 || !self.allocates[f.index()] {
            return Called::Known(InstanceId::BASE);
        }
        let before = &self.instances[caller.0 as usize].calls;
        let skip = (before.len() + 1).saturating_sub(self.depth);
        let calls: CallString = before[skip.min(before.len())..].iter().copied().chain([call]).collect();
        self.ids.get(&(f, calls.clone())).map_or(Called::New(calls), |&known| Called::Known(known))
    }
    /// Adds an instance of `f`, whose body has `size` edges. Its [`node_count`](Self::node_count) nodes start at
    /// `nodes`. `None` if there is no room or no body. Then the call string belongs to [`InstanceId::BASE`].
    pub fn add(&mut self, f: FuncId, calls: CallString, size: usize, nodes: NodeId) -> Option<InstanceId> {
        if self.room < size || size == 0 {
            self.ids.insert((f, calls), InstanceId::BASE);
            return None;
        }
        self.room -= size;
        let id = InstanceId(self.instances.len() as u32);
        self.instances.push(Instance { calls: calls.clone(), nodes });
        self.ids.insert((f, calls), id);
        self.of_func.entry(f).or_default().push(id);
        Some(id)
    }
    /// The number of nodes of each instance of a function.
    pub fn node_count(&self, f: FuncId) -> u32 {
        self.locals[f.index()] + 1
    }
    /// The nodes of a variable in all instances.
    pub fn nodes(&self, program: &Program, v: VarId) -> impl Iterator<Item = NodeId> + '_ {
        let instances = program.vars[v].func().and_then(|f| self.of_func.get(&f));
        let more = instances.into_iter().flatten();
        std::iter::once(v.0).chain(more.map(move |i| self.instances[i.0 as usize].nodes + self.local[v.index()]))
    }
}

/// The functions that may return memory that they allocate, or that callees at most `depth - 1` calls below allocate.
fn allocators(program: &Program, bodies: &[Vec<EdgeId>], depth: u8) -> Vec<bool> {
    let mut allocates = vec![false; program.funcs.len()];
    for _ in 0..depth {
        let hands_out = |f: FuncId| {
            let function = &program.funcs[f];
            let body = &bodies[f.index()];
            f != program.entry
                && function.return_width.is_some_and(|w| w >= program.layout.pointer_width)
                && body.len() <= LARGE
                && body.iter().any(|&e| match &program.edges[e].op {
                    Op::Alloc { kind, .. } => *kind != AllocKind::Stack,
                    Op::Call { callee: Callee::Direct(g), .. } => allocates[g.index()],
                    _ => false,
                })
        };
        allocates = program.funcs.ids().map(hands_out).collect();
    }
    allocates
}
