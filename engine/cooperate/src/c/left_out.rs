//! What a file of C leaves to others: functions of the program that are called and not written, since the library has them. What
//! the program does there, others do in their own way; what it asks there, nobody asks.

use super::file::File;
use super::roles::{self, Role};
use cfa::{CallGraph, Expr, FuncId, Op, Program, VarId};
use rustc_hash::FxHashSet;

pub struct LeftOut(Vec<FuncId>);

impl LeftOut {
    /// All functions that the program may come to, but those of the file.
    pub fn of(file: &File) -> Self {
        let p = file.p;
        let calls = CallGraph::new(p);
        let written = file.wanted_functions.iter().filter(|&&f| roles::role(p, f) != Role::External);
        let written: FxHashSet<FuncId> = written.copied().collect();
        Self(p.funcs.ids().filter(|f| calls.is_reachable(*f) && !written.contains(f)).collect())
    }

    /// State that they change and that the file reads: their changes are not seen there (the rounding mode, which `fesetround` sets).
    pub fn shared_state(&self, file: &File) -> Option<String> {
        let p = file.p;
        let read: FxHashSet<VarId> =
            file.wanted_variables.iter().copied().filter(|&v| !roles::is_library_variable(p, v)).collect();
        self.operations(p).find_map(|(f, op)| {
            let changed = match op {
                Op::Store { addr, .. } | Op::Copy { dst: addr, .. } | Op::Fill { dst: addr, .. } => {
                    let mut object = None;
                    p.exprs.visit(*addr, &mut FxHashSet::default(), |_, node| match *node {
                        Expr::GlobalAddr(g) if file.wanted_globals.contains(&g) => object = Some(g),
                        _ => {}
                    });
                    Some(p.globals[object?].name.clone())
                }
                op => p.vars[op.def().filter(|v| read.contains(v))?].name.clone(),
            };
            let (state, by) = (changed.unwrap_or_default(), roles::public_name(&p.funcs[f]));
            Some(format!("`{state}`, which `{by}` changes, a function of the library"))
        })
    }

    /// An error that the program has and the file has not.
    pub fn error(&self, file: &File) -> Option<String> {
        let p = file.p;
        let is_left_out: FxHashSet<FuncId> = self.0.iter().copied().collect();
        let calls = CallGraph::new(p);
        p.edges.iter().find_map(|(id, edge)| {
            let f = p.func_of(id);
            let error = match edge.op {
                Op::Error(error) if is_left_out.contains(&f) => error,
                _ if file.watch.is_none() && calls.is_reachable(f) => edge.fault?,
                _ => return None,
            };
            Some(p.errors[error].message.clone())
        })
    }

    fn operations<'p>(&self, p: &'p Program) -> impl Iterator<Item = (FuncId, &'p Op)> {
        self.0.iter().flat_map(move |&f| {
            let edges = super::Shape::new(p, f).locs.into_iter().flat_map(|loc| p.out_edges(loc));
            edges.map(move |edge| (f, &p.edges[edge].op))
        })
    }
}
