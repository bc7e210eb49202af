//! Inputs that are only compared with constants. A few representative values suffice for them.
//!
//! The analysis is flow-insensitive. Variables that are copied to each other, also as arguments and results of calls,
//! form one class. If every use of a class is a copy or a comparison with a constant, a run depends only on the
//! outcomes of these comparisons. One value then represents all values with the same outcomes.

use cfa::threads::ThreadOp;
use cfa::{BinOp, Bv, Callee, Expr, ExprId, Id, InputId, Op, Program, UnOp, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximal number of representatives of an input. An input that needs more is not treated here.
const MOST_VALUES: usize = 8;

/// A comparison of a variable with a constant: the operation, the constant, and whether the variable is on the left.
type Comparison = (BinOp, Bv, bool);

/// Classes of variables with their comparisons.
struct Classes<'p> {
    program: &'p Program,
    /// The parents in a union-find forest. Its nodes are the variables, followed by one node for the result of each
    /// function.
    parents: Vec<u32>,
    /// The nodes with a use that is neither a copy nor a comparison with a constant.
    used: FxHashSet<u32>,
    /// The comparisons with constants, each with the node that is compared.
    comparisons: Vec<(u32, Comparison)>,
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
        match (self.variable(e), to) {
            (Some(var), Some(to)) => self.unite(var, to),
            _ => self.uses(e),
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

/// For each input that is only compared with constants, one value for each combination of outcomes, 0 first.
pub(super) fn values(program: &Program) -> FxHashMap<InputId, Vec<Bv>> {
    let variables = program.vars.len() as u32;
    let nodes = variables + program.funcs.len() as u32;
    let mut classes =
        Classes { program, parents: (0..nodes).collect(), used: FxHashSet::default(), comparisons: Vec::new() };
    // A call through a pointer may return the result of any function with a result of the same width. So these results
    // count as used.
    let mut returned: Vec<(u32, u32)> = Vec::new();
    let mut through_pointers: FxHashSet<u32> = FxHashSet::default();
    let mut read: FxHashMap<InputId, Vec<VarId>> = FxHashMap::default();
    for edge in program.edges.values() {
        let result_of = |func: cfa::FuncId| variables + func.index() as u32;
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
                op.for_each_expr(|e| classes.flows(e, None));
            }
        }
    }
    let others = returned.into_iter().filter(|(_, width)| through_pointers.contains(width)).map(|(func, _)| func);
    classes.used.extend(others);
    let used: FxHashSet<u32> = classes.used.clone().into_iter().map(|node| classes.root(node)).collect();
    let mut compared: FxHashMap<u32, Vec<Comparison>> = FxHashMap::default();
    for (var, comparison) in std::mem::take(&mut classes.comparisons) {
        compared.entry(classes.root(var)).or_default().push(comparison);
    }
    let mut values = FxHashMap::default();
    for (input, vars) in read {
        let roots: FxHashSet<u32> = vars.iter().map(|var| classes.root(var.index() as u32)).collect();
        let width = program.inputs[input].width;
        let is_same = vars.iter().all(|&var| program.vars[var].width == width);
        if !is_same || !(2..=64).contains(&width) || roots.iter().any(|root| used.contains(root)) {
            continue;
        }
        let comparisons: Vec<Comparison> =
            roots.iter().filter_map(|root| compared.get(root)).flatten().cloned().collect();
        if let Some(representatives) = representatives(width, &comparisons) {
            values.insert(input, representatives);
        }
    }
    values
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
