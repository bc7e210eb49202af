//! Live locals.

use crate::index::Id;
use crate::program::{FuncId, LocId, Program, VarId};
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximal product of locations and locals of a function for which liveness is computed.
const MOST: usize = 1 << 28;

/// The live locals of a function at each location.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// The live locals at a location, ascending.
    pub at: FxHashMap<LocId, Box<[VarId]>>,
    /// The locals at all other locations. In a function that is too large for the data flow, all locals are assumed
    /// live.
    pub otherwise: Box<[VarId]>,
}

/// The effect of an edge on liveness.
struct Flow {
    def: Option<usize>,
    used: Vec<usize>,
    /// The index of the target in the order.
    target: usize,
}

impl Liveness {
    /// Computes a backward data flow over one function. `locals` are its locals.
    pub fn new(program: &Program, func: FuncId, locals: &[VarId]) -> Self {
        let mut order = Vec::new();
        let mut seen: FxHashSet<LocId> = FxHashSet::default();
        let mut stack = vec![(program.funcs[func].entry, false)];
        while let Some((loc, done)) = stack.pop() {
            if done {
                order.push(loc);
            } else if seen.insert(loc) {
                stack.push((loc, true));
                stack.extend(program.out_edges(loc).map(|e| (program.edges[e].target, false)));
            }
        }
        // Postorder: successors come first, so only loops need a second pass.
        let width = locals.len();
        if order.len() * width > MOST {
            return Self { at: FxHashMap::default(), otherwise: locals.into() };
        }
        let number: FxHashMap<VarId, usize> = locals.iter().zip(0..).map(|(&v, i)| (v, i)).collect();
        let index: FxHashMap<LocId, usize> = order.iter().enumerate().map(|(i, &l)| (l, i)).collect();
        let mut live = vec![FixedBitSet::with_capacity(width); order.len()];
        let mut flows: Vec<Vec<Flow>> = Vec::with_capacity(order.len());
        for &loc in &order {
            let edges = program.out_edges(loc).map(|e| {
                let edge = &program.edges[e];
                let mut used = Vec::new();
                edge.op.for_each_expr(|e| used.extend(program.exprs.vars(e).iter().filter_map(|v| number.get(v))));
                let def = edge.op.def().and_then(|v| number.get(&v).copied());
                Flow { def, used, target: index[&edge.target] }
            });
            flows.push(edges.collect());
        }
        loop {
            let mut changed = false;
            for i in 0..order.len() {
                let mut now = FixedBitSet::with_capacity(width);
                for Flow { def, used, target } in &flows[i] {
                    let mut through = live[*target].clone();
                    if let Some(def) = def {
                        through.set(*def, false);
                    }
                    for &u in used {
                        through.insert(u);
                    }
                    now.union_with(&through);
                }
                if now != live[i] {
                    live[i] = now;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        let at = order.iter().zip(live).map(|(&l, set)| (l, set.ones().map(|i| locals[i]).collect())).collect();
        Self { at, otherwise: Box::default() }
    }

    /// The live locals at a location.
    pub fn at(&self, loc: LocId) -> &[VarId] {
        self.at.get(&loc).unwrap_or(&self.otherwise)
    }
}

/// The locals of each function, ascending.
pub fn locals(program: &Program) -> Vec<Vec<VarId>> {
    let mut locals = vec![Vec::new(); program.funcs.len()];
    for (id, var) in program.vars.iter() {
        if let Some(func) = var.func() {
            locals[func.index()].push(id);
        }
    }
    locals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::*;

    #[test]
    fn a_value_lives_from_its_assignment_to_its_last_use() {
        let mut p = Program::new(DataLayout { pointer_width: 64 });
        let ty = p.types.push(CType::Unknown { width: 32 });
        let kind = VarKind::Temp(p.entry);
        let [a, b] = [(); 2].map(|()| p.vars.push(Var { name: None, ty, width: 32, kind: kind.clone(), place: None }));
        let one = p.exprs.int(32, 1);
        let of_a = p.var_expr(a);
        let entry = p.funcs[p.entry].entry;
        let [second, third, end] = [(); 3].map(|()| p.add_location(p.entry));
        p.add_edge(entry, Op::Assign { var: a, value: one }, second, None);
        p.add_edge(second, Op::Assign { var: b, value: of_a }, third, None);
        p.add_edge(third, Op::Halt(HaltKind::Abort), end, None);
        let live = Liveness::new(&p, p.entry, &locals(&p)[0]);
        assert_eq!([entry, second, third].map(|l| live.at(l).to_vec()), [vec![], vec![a], vec![]]);
    }
}
