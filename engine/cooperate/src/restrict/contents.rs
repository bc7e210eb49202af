//! Loads memory contents that assumptions refer to into variables before the branches on them. Programs can read memory
//! only by loads.

use crate::copies::Restricted;
use cfa::{CType, Expr, ExprId, LocId, Op, Out, Program, Var, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};

impl Restricted {
    /// Inserts the loads before all branches whose condition refers to memory contents.
    pub(crate) fn with_loads(mut self) -> Self {
        for loc in self.program.locs.ids().collect::<Vec<_>>() {
            if let Out::Branch { then_edge, .. } = self.program.locs[loc].out
                && let Op::Assume { cond, .. } = self.program.edges[then_edge].op
                && let contents = contents(&self.program, cond)
                && !contents.is_empty()
            {
                load(&mut self.program, loc, &contents);
            }
        }
        self.locs.extend_to(self.program.locs.len(), None);
        self.edges.extend_to(self.program.edges.len(), None);
        self.vars.extend_to(self.program.vars.len(), None);
        self
    }
}

/// The memory contents that a condition refers to.
fn contents(program: &Program, cond: ExprId) -> Vec<ExprId> {
    let mut found = Vec::new();
    program.exprs.visit(cond, &mut FxHashSet::default(), |e, node| {
        if matches!(node, Expr::Content { .. }) {
            found.push(e);
        }
    });
    found
}

/// Inserts loads of these contents before the branch at a location, and replaces the contents in its condition by
/// the loaded variables.
fn load(p: &mut Program, loc: LocId, contents: &[ExprId]) {
    let func = p.locs[loc].func;
    let branch = std::mem::replace(&mut p.locs[loc].out, Out::Sink);
    let (mut at, mut loaded) = (loc, FxHashMap::default());
    for &content in contents {
        let Expr::Content { of, offset, width } = *p.exprs.get(content) else { unreachable!("a content") };
        let ty = p.types.push(CType::Int { name: format!("unsigned _BitInt({width})"), width, signed: false });
        let var = p.vars.push(Var { name: None, ty, width, kind: VarKind::Temp(func), place: None });
        let pointer = p.layout.pointer_width;
        let (base, offset) = (p.exprs.global_addr(of, pointer), p.exprs.int(pointer, offset.into()));
        let (addr, next) = (p.exprs.add(base, offset), p.add_location(func));
        p.add_edge(at, Op::Load { var, addr }, next, None);
        (_, at) = (loaded.insert(content, p.var_expr(var)), next);
    }
    p.locs[at].out = branch;
    for edge in p.out_edges(at).collect::<Vec<_>>() {
        p.edges[edge].source = at;
        let Op::Assume { cond, branch, means, optional } = p.edges[edge].op else { unreachable!("a branch") };
        let cond = p.exprs.substitute(cond, &mut loaded, |_, _| None);
        p.edges[edge].op = Op::Assume { cond, branch, means, optional };
    }
}
