//! Inputs that are only compared with constants, or only compared for equality. A few representative values suffice for
//! them.
//!
//! The analysis is flow-insensitive. Variables that are copied to each other, also as arguments and results of calls and
//! through global memory whose address the program does not take, form one class. If every use of a class is a copy or a
//! comparison with a constant, a run depends only on the outcomes of these comparisons. One value then represents all
//! values with the same outcomes. If a class contains only inputs and constants, and every use is a copy or an equality, a
//! run depends only on which values are equal (Wolper: *Expressing interesting properties of programs in propositional
//! temporal logic*, POPL 1986). Then an input is equal to a constant of the class, to an earlier input, or to none of them.

use cfa::threads::ThreadOp;
use cfa::{BinOp, Bv, CallGraph, Callee, Expr, ExprId, GlobalId, Id, InputId, Op, Program, UnOp, VarId, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximal number of representatives of an input. An input that needs more is not treated here.
const MOST_VALUES: usize = 8;

/// A comparison of a variable with a constant: the operation, the constant, and whether the variable is on the left.
type Comparison = (BinOp, Bv, bool);

/// The values of an input that represent all its values.
#[derive(Clone, Debug)]
pub(super) struct Values {
    width: u32,
    fixed: Vec<Bv>,
    /// True if the input may also be equal to an earlier input that differs from the values in `fixed`, or to none.
    is_open: bool,
}

impl Values {
    /// Returns the values to explore after reads of this many open inputs. `None` if there are too many.
    pub fn after(&self, earlier: usize) -> Option<Vec<Bv>> {
        let count = if self.is_open { earlier + 1 } else { 0 };
        if self.fixed.len() + count > MOST_VALUES {
            return None;
        }
        let others = (0..).map(|n| Bv::new(self.width, n)).filter(|value| !self.fixed.contains(value)).take(count);
        Some(self.fixed.iter().cloned().chain(others).collect())
    }
    /// True if a later input may be equal to this one, and to no constant.
    pub fn is_open(&self) -> bool {
        self.is_open
    }
}

/// A part of a global object: its offset and its size in bytes.
type Part = (GlobalId, u64, u32);

/// Returns the parts of global objects that the program accesses only as a whole, by constant addresses.
fn parts(program: &Program) -> FxHashSet<Part> {
    let mut parts: FxHashMap<GlobalId, FxHashSet<(u64, u32)>> = FxHashMap::default();
    let mut taken: FxHashSet<GlobalId> = FxHashSet::default();
    let mut seen = FxHashSet::default();
    let mut take = |e: ExprId| {
        program.exprs.visit(e, &mut seen, |_, node| {
            if let Expr::GlobalAddr(global) = node {
                taken.insert(*global);
            }
        });
    };
    for edge in program.edges.values() {
        match edge.op {
            Op::Load { addr, .. } | Op::Store { addr, .. } => {
                match part(program, &edge.op) {
                    Some((global, at, len)) => drop(parts.entry(global).or_default().insert((at, len))),
                    None => take(addr),
                }
                if let Op::Store { value, .. } = edge.op {
                    take(value);
                }
            }
            ref op => op.for_each_expr(&mut take),
        }
    }
    program.globals.values().flat_map(|g| &g.init).flat_map(|init| &init.pointers).for_each(|&(_, e)| take(e));
    for var in program.vars.values() {
        if let VarKind::Global { init: Some(e), .. } = var.kind {
            take(e);
        }
    }
    let mut found = FxHashSet::default();
    for (global, parts) in parts {
        let overlap = |&(at, len): &(u64, u32), &(other, _): &(u64, u32)| at <= other && other - at < u64::from(len);
        let is_apart = |part: &(u64, u32)| {
            parts.iter().all(|other| part == other || !overlap(part, other) && !overlap(other, part))
        };
        if !taken.contains(&global) {
            found.extend(parts.iter().filter(|part| is_apart(part)).map(|&(at, len)| (global, at, len)));
        }
    }
    found
}

/// The part of a global object that a load or store accesses by a constant address.
fn part(program: &Program, op: &Op) -> Option<Part> {
    let (addr, width) = match *op {
        Op::Load { var, addr } => (addr, program.vars[var].width),
        Op::Store { addr, value } => (addr, program.exprs.width(value)),
        _ => return None,
    };
    let (base, at) = program.exprs.base_and_offset(addr);
    match *program.exprs.get(base) {
        Expr::GlobalAddr(global) => {
            let size = program.globals[global].size;
            let is_inside = at <= size && u64::from(width / 8) <= size - at;
            (is_inside && width % 8 == 0).then_some((global, at, width / 8))
        }
        _ => None,
    }
}

/// Returns the initial value of a part. `None` if it is unknown or contains an address.
fn initial(program: &Program, (global, at, len): Part) -> Option<Bv> {
    let init = program.globals[global].init.as_ref()?;
    let end = at + u64::from(len);
    if init.pointers.iter().any(|&(offset, _)| offset < end && at < offset + 8) {
        return None;
    }
    let bytes: Vec<u8> = (at..end).map(|n| init.bytes.get(n as usize).copied().unwrap_or(0)).collect();
    Some(Bv::from_le_bytes(&bytes))
}

/// Classes of variables with their comparisons.
struct Classes<'p> {
    program: &'p Program,
    /// The parents in a union-find forest. Its nodes are the variables, followed by one node for the result of each
    /// function, and one for each part of global memory.
    parents: Vec<u32>,
    /// The nodes with a use that is neither a copy nor a comparison with a constant.
    used: FxHashSet<u32>,
    /// The comparisons with constants, each with the node that is compared.
    comparisons: Vec<(u32, Comparison)>,
    /// The pairs of nodes that are compared for equality.
    equalities: Vec<(u32, u32)>,
    /// The constants that flow to nodes.
    constants: Vec<(u32, Bv)>,
    /// The nodes to which values flow that are neither inputs nor constants nor copies of them.
    computed: FxHashSet<u32>,
}

impl Classes<'_> {
    fn root(&mut self, mut node: u32) -> u32 {
        while self.parents[node as usize] != node {
            let above = self.parents[self.parents[node as usize] as usize];
            self.parents[node as usize] = above;
            node = above;
        }
        node
    }
    fn roots(&mut self, nodes: impl IntoIterator<Item = u32>) -> FxHashSet<u32> {
        nodes.into_iter().map(|node| self.root(node)).collect()
    }
    fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a as usize] = b;
    }
    fn variable(&self, e: ExprId) -> Option<u32> {
        match self.program.exprs.get(e) {
            Expr::Var(var) => Some(var.index() as u32),
            _ => None,
        }
    }

    /// Records that the value of an expression flows to a node. `None` records a use that is not a copy.
    fn flows(&mut self, e: ExprId, to: Option<u32>) {
        match (self.variable(e), to, self.program.exprs.as_const(e)) {
            (Some(var), Some(to), _) => self.unite(var, to),
            (_, Some(to), Some(constant)) => self.constants.push((to, constant.clone())),
            _ => {
                self.computed.extend(to);
                self.uses(e);
            }
        }
    }

    /// Records that an expression is evaluated. Comparisons with constants, and Boolean combinations of their results,
    /// depend only on the outcomes of the comparisons. In all other expressions, the variables are used.
    fn uses(&mut self, e: ExprId) {
        let exprs = &self.program.exprs;
        match *exprs.get(e) {
            Expr::Unary(UnOp::Not, a) if exprs.width(e) == 1 => self.uses(a),
            Expr::Binary(BinOp::And | BinOp::Or | BinOp::Xor, a, b) if exprs.width(e) == 1 => {
                self.uses(a);
                self.uses(b);
            }
            Expr::Binary(op @ (BinOp::Eq | BinOp::Ult | BinOp::Ule | BinOp::Slt | BinOp::Sle), a, b) => {
                match (self.variable(a), exprs.as_const(b), exprs.as_const(a), self.variable(b)) {
                    (Some(var), Some(constant), ..) => self.comparisons.push((var, (op, constant.clone(), true))),
                    (.., Some(constant), Some(var)) => self.comparisons.push((var, (op, constant.clone(), false))),
                    (Some(a), _, _, Some(b)) if op == BinOp::Eq => self.equalities.push((a, b)),
                    _ => self.is_used(e),
                }
            }
            Expr::Ite(condition, a, b) => {
                self.uses(condition);
                self.uses(a);
                self.uses(b);
            }
            Expr::Zext { arg, .. } | Expr::Sext { arg, .. } if exprs.width(arg) == 1 => self.uses(arg),
            _ => self.is_used(e),
        }
    }
    fn is_used(&mut self, e: ExprId) {
        self.used.extend(self.program.exprs.vars(e).into_iter().map(|var| var.index() as u32));
    }
}

/// The values of the inputs that are only compared with constants or for equality.
pub(super) fn values(program: &Program) -> FxHashMap<InputId, Values> {
    let variables = program.vars.len() as u32;
    let functions = program.funcs.len() as u32;
    let parts: FxHashMap<Part, u32> =
        parts(program).into_iter().enumerate().map(|(n, part)| (part, variables + functions + n as u32)).collect();
    let nodes = variables + functions + parts.len() as u32;
    let mut classes = Classes {
        program,
        parents: (0..nodes).collect(),
        used: FxHashSet::default(),
        comparisons: Vec::new(),
        equalities: Vec::new(),
        constants: Vec::new(),
        computed: FxHashSet::default(),
    };
    for (&part, &node) in &parts {
        match initial(program, part) {
            Some(value) => classes.constants.push((node, value)),
            None => drop(classes.computed.insert(node)),
        }
    }
    for (id, var) in program.vars.iter() {
        if let VarKind::Global { init, .. } = var.kind {
            match init.and_then(|init| program.exprs.as_const(init)) {
                Some(value) => classes.constants.push((id.index() as u32, value.clone())),
                None => drop(classes.computed.insert(id.index() as u32)),
            }
        }
    }
    // Calls by pointers and starts of threads pass any values.
    let graph = CallGraph::new(program);
    let called = graph.address_taken().iter().chain([&program.entry]);
    let passed = called.flat_map(|&func| &program.funcs[func].params).map(|param| param.index() as u32);
    classes.computed.extend(passed);
    // A call through a pointer may return the result of any function with a result of the same width. So these results
    // count as used.
    let mut returned: Vec<(u32, u32)> = Vec::new();
    let mut through_pointers: FxHashSet<u32> = FxHashSet::default();
    let mut read: FxHashMap<InputId, Vec<VarId>> = FxHashMap::default();
    for edge in program.edges.values() {
        let result_of = |func: cfa::FuncId| variables + func.index() as u32;
        let node_of = |op: &Op| part(program, op).and_then(|part| parts.get(&part).copied());
        if let Some(node) = node_of(&edge.op) {
            match edge.op {
                Op::Load { var, .. } => classes.unite(var.index() as u32, node),
                Op::Store { value, .. } => classes.flows(value, Some(node)),
                _ => {}
            }
            continue;
        }
        match &edge.op {
            Op::Havoc { var, input } => read.entry(*input).or_default().push(*var),
            Op::Assign { var, value } => classes.flows(*value, Some(var.index() as u32)),
            Op::Call { callee: Callee::Direct(callee), args, varargs, result }
                if ThreadOp::by_name(&program.funcs[*callee].name).is_none() =>
            {
                for (n, &arg) in args.iter().enumerate() {
                    let param = program.funcs[*callee].params.get(n).map(|param| param.index() as u32);
                    classes.flows(arg, param);
                }
                let others = program.funcs[*callee].params.iter().skip(args.len());
                classes.computed.extend(others.map(|param| param.index() as u32));
                varargs.iter().for_each(|&e| classes.flows(e, None));
                if let Some(result) = result {
                    classes.unite(result.index() as u32, result_of(*callee));
                }
            }
            Op::Return { value: Some(value) } => {
                let func = result_of(program.locs[edge.source].func);
                returned.push((func, program.exprs.width(*value)));
                classes.flows(*value, Some(func));
            }
            op => {
                if let Op::Call { result: Some(result), .. } = op {
                    through_pointers.insert(program.vars[*result].width);
                }
                classes.computed.extend(op.def().map(|var| var.index() as u32));
                op.for_each_expr(|e| classes.flows(e, None));
            }
        }
    }
    let others = returned.into_iter().filter(|(_, width)| through_pointers.contains(width)).map(|(func, _)| func);
    classes.used.extend(others);
    for vars in read.values() {
        vars.iter().for_each(|var| classes.unite(var.index() as u32, vars[0].index() as u32));
    }
    let equalities = std::mem::take(&mut classes.equalities);
    equalities.iter().for_each(|&(a, b)| classes.unite(a, b));
    let equal = classes.roots(equalities.into_iter().map(|(a, _)| a));
    let used = std::mem::take(&mut classes.used);
    let used = classes.roots(used);
    let computed = std::mem::take(&mut classes.computed);
    let computed = classes.roots(computed);
    let mut compared: FxHashMap<u32, Vec<Comparison>> = FxHashMap::default();
    for (var, comparison) in std::mem::take(&mut classes.comparisons) {
        compared.entry(classes.root(var)).or_default().push(comparison);
    }
    let mut constants: FxHashMap<u32, Vec<Bv>> = FxHashMap::default();
    for (node, constant) in std::mem::take(&mut classes.constants) {
        constants.entry(classes.root(node)).or_default().push(constant);
    }
    let mut values = FxHashMap::default();
    for (input, vars) in read {
        let root = classes.root(vars[0].index() as u32);
        let width = program.inputs[input].width;
        let is_same = vars.iter().all(|&var| program.vars[var].width == width);
        if !is_same || !(2..=64).contains(&width) || used.contains(&root) {
            continue;
        }
        let comparisons = compared.get(&root).map_or(&[][..], Vec::as_slice);
        let fixed = match equal.contains(&root) {
            false => representatives(width, comparisons),
            true if computed.contains(&root) => None,
            true => mentioned(width, comparisons, constants.get(&root).map_or(&[][..], Vec::as_slice)),
        };
        if let Some(fixed) = fixed {
            values.insert(input, Values { width, fixed, is_open: equal.contains(&root) });
        }
    }
    values
}

/// The constants that a class of values contains or is compared with. `None` if not all comparisons are equalities.
fn mentioned(width: u32, comparisons: &[Comparison], constants: &[Bv]) -> Option<Vec<Bv>> {
    let compared = comparisons.iter().map(|(_, constant, _)| constant);
    let mut values: Vec<Bv> = Vec::new();
    for value in compared.chain(constants) {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    values.sort_unstable_by_key(Bv::to_u64);
    let is_equality = |(op, ..): &Comparison| *op == BinOp::Eq;
    // There must be enough other values.
    let is_known =
        width >= 8 && comparisons.iter().all(is_equality) && values.iter().all(|value| value.width() == width);
    is_known.then_some(values)
}

/// One value for each combination of outcomes that is possible, 0 first. `None` if there are more than [`MOST_VALUES`].
fn representatives(width: u32, comparisons: &[Comparison]) -> Option<Vec<Bv>> {
    let (zero, one) = (Bv::zero(width), Bv::one(width));
    if comparisons.iter().any(|(_, constant, _)| constant.width() != width) {
        return None;
    }
    // Outcomes change only at a constant, next to it, and at the least and greatest values of the signed and unsigned
    // orders.
    let sign = Bv::new(width, 1 << (width - 1));
    let ends = [zero.clone(), sign.sub(&one), sign, zero.sub(&one)];
    let near = comparisons.iter().flat_map(|(_, c, _)| [c.clone(), c.add(&one), c.sub(&one)]);
    let outcome = |value: &Bv, (op, constant, is_left): &Comparison| {
        let (a, b) = if *is_left { (value, constant) } else { (constant, value) };
        match op {
            BinOp::Eq => a == b,
            BinOp::Ult => a.ult(b),
            BinOp::Ule => a.ule(b),
            BinOp::Slt => a.slt(b),
            _ => !b.slt(a),
        }
    };
    let mut seen: FxHashSet<Vec<bool>> = FxHashSet::default();
    let mut values = Vec::new();
    for value in ends.into_iter().chain(near) {
        if seen.insert(comparisons.iter().map(|comparison| outcome(&value, comparison)).collect()) {
            values.push(value);
        }
    }
    (values.len() <= MOST_VALUES).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_inputs_may_equal_constants_earlier_inputs_or_none() {
        let values = Values { width: 8, fixed: vec![Bv::new(8, 0), Bv::new(8, 2)], is_open: true };
        let after = |earlier| values.after(earlier).map(|all| all.iter().filter_map(Bv::to_u64).collect::<Vec<u64>>());
        assert_eq!(after(0).unwrap(), [0, 2, 1]);
        assert_eq!(after(2).unwrap(), [0, 2, 1, 3, 4]);
        assert_eq!(after(MOST_VALUES), None);
    }

    #[test]
    fn each_outcome_has_a_value() {
        let comparisons: Vec<Comparison> = vec![
            (BinOp::Eq, Bv::new(8, 3), true),
            (BinOp::Slt, Bv::new(8, 100), true),
            (BinOp::Ult, Bv::new(8, 250), false),
        ];
        let outcomes = |value: u64| (value == 3, (value as u8 as i8) < 100, 250 < value);
        let values: Vec<u64> =
            representatives(8, &comparisons).unwrap().iter().map(|value| value.to_u64().unwrap()).collect();
        assert_eq!(values[0], 0);
        for value in 0..256 {
            assert_eq!(values.iter().filter(|&&v| outcomes(v) == outcomes(value)).count(), 1, "{value}: {values:?}");
        }
        assert_eq!(representatives(8, &[]).unwrap(), [Bv::zero(8)]);
    }
}
