//! The functions that a C file calls but does not contain, because the library defines them. The library implements
//! them in its own way, and does not contain the program's checks in them.

use super::file::File;
use super::roles::{self, Role};
use super::shape::operations;
use cfa::{CallGraph, Callee, ErrorId, Expr, FuncId, Op, Program, VarId};
use rustc_hash::FxHashSet;

/// The reachable functions that the file does not contain.
pub struct LeftOut(Vec<FuncId>);

impl LeftOut {
    /// Computes all reachable functions of the program except those in the file.
    pub fn compute(file: &File) -> Self {
        let p = file.p;
        let calls = CallGraph::new(p);
        let written = file.requested().functions().iter().filter(|&&f| roles::role(p, f) != Role::External);
        let written: FxHashSet<FuncId> = written.copied().collect();
        Self(p.funcs.ids().filter(|f| calls.is_reachable(*f) && !written.contains(f)).collect())
    }

    /// State that these functions change and the file reads. The library's changes would not be visible there, for
    /// example the rounding mode that `fesetround` sets.
    pub fn shared_state(&self, file: &File) -> Option<String> {
        let p = file.p;
        let read: FxHashSet<VarId> =
            file.requested().variables().iter().copied().filter(|&v| !roles::is_library_variable(p, v)).collect();
        let operations = self.0.iter().flat_map(|&f| operations(p, f).map(move |op| (f, op)));
        operations
            .filter_map(|(f, op)| {
                let changed = match op {
                    Op::Store { addr, .. } | Op::Copy { dst: addr, .. } | Op::Fill { dst: addr, .. } => {
                        let mut object = None;
                        p.exprs.visit(*addr, &mut FxHashSet::default(), |_, node| match *node {
                            Expr::GlobalAddr(g) if file.requested().objects().contains(&g) => object = Some(g),
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

    /// The message of an error that the program has and the file does not have.
    pub fn error(&self, file: &File) -> Option<String> {
        let p = file.p;
        let calls = CallGraph::new(p);
        let unsaid = self.errors(p).or_else(|| {
            let faults = p.edges.iter().filter(|&(id, _)| file.watch.is_none() && calls.is_reachable(p.func_of(id)));
            faults.filter_map(|(_, edge)| edge.fault).next()
        });
        unsaid.map(|error| p.errors[error].message.clone())
    }

    /// An error in an omitted function, or in a function that it calls. The library may call its callbacks on behalf of
    /// others as well. `main` is excluded, since the environment calls it.
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
