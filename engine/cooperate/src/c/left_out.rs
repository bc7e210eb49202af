//! What a file of C leaves to others: functions of the program that are called and not written, since the library has them. What
//! the program does there, others do in their own way; what it asks there, nobody asks.

use super::file::File;
use super::roles::{self, Role};
use cfa::{CallGraph, Callee, ErrorId, Expr, FuncId, Op, Program, VarId};
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
        let operations = self.0.iter().flat_map(|&f| operations(p, f).map(move |op| (f, op)));
        operations
            .filter_map(|(f, op)| {
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
            .next()
    }

    /// An error that the program has and the file has not.
    pub fn error(&self, file: &File) -> Option<String> {
        let p = file.p;
        let calls = CallGraph::new(p);
        let unsaid = self.errors(p).or_else(|| {
            let faults = p.edges.iter().filter(|&(id, _)| file.watch.is_none() && calls.is_reachable(p.func_of(id)));
            faults.filter_map(|(_, edge)| edge.fault).next()
        });
        unsaid.map(|error| p.errors[error].message.clone())
    }

    /// An error in a function that is left out, or in what such a function calls: what the library calls back it calls for others, too, and
    /// `main` is called by whoever starts the file.
    fn errors(&self, p: &Program) -> Option<ErrorId> {
        let main = roles::plain_main(p);
        let (mut found, mut done) = (self.0.clone(), 0);
        let mut seen: FxHashSet<FuncId> = found.iter().copied().chain(main).collect();
        while let Some(&f) = found.get(done) {
            done += 1;
            for op in operations(p, f) {
                match *op {
                    Op::Error(error) => return Some(error),
                    Op::Call { callee: Callee::Direct(g), .. } if seen.insert(g) => found.push(g),
                    _ => {}
                }
            }
        }
        None
    }
}

/// The operations of a function.
pub fn operations(p: &Program, f: FuncId) -> impl Iterator<Item = &Op> {
    super::Shape::new(p, f).locs.into_iter().flat_map(|loc| p.out_edges(loc)).map(|edge| &p.edges[edge].op)
}
