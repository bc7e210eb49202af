//! Attribution of memory leaks to allocations. After a leak is reported, its allocation is exempt, so that other leaks
//! at the same location are found.

use cfa::interp::{Inputs, Interpreter, Limits, ObjectSeq, Observer, State};
use cfa::{AllocKind, BinOp, CType, EdgeId, FunctionOrigin, Leak, Op, Program, Var, VarKind};

/// An allocation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Allocation {
    /// The edge that allocates.
    pub edge: EdgeId,
    /// If the edge is in a library model: the call from the program that led to it.
    pub call: Option<EdgeId>,
}

/// Records the allocations of a run in order.
struct Allocations<'p> {
    program: &'p Program,
    calls: Vec<EdgeId>,
    found: Vec<Allocation>,
}

impl Observer for Allocations<'_> {
    fn executed(&mut self, edge: EdgeId, _: &State) {
        match self.program.edges[edge].op {
            Op::Call { .. } => self.calls.push(edge),
            Op::Return { .. } => {
                self.calls.pop();
            }
            Op::Alloc { .. } => {
                let is_model = |e: EdgeId| self.program.funcs[self.program.func_of(e)].origin == FunctionOrigin::Model;
                let call = self.calls.iter().rev().copied().find(|&call| !is_model(call));
                self.found.push(Allocation { edge, call: call.filter(|_| is_model(edge)) });
            }
            _ => {}
        }
    }
}

/// The allocation of the object that leaks at `edge`. `None` if the run ends in another way.
pub(super) fn lost(program: &Program, edge: EdgeId, inputs: &Inputs, limits: Limits) -> Option<Allocation> {
    if program.edges[edge].op != Op::Leak(Leak::Lost) {
        return None;
    }
    let mut allocations = Allocations { program, calls: Vec::new(), found: Vec::new() };
    let run = Interpreter::new(program).run(&mut inputs.source(), limits, &mut allocations);
    run.outcome.error(program).filter(|&(_, at)| at == edge)?;
    match run.object?.object {
        ObjectSeq::Alloc(n) => allocations.found.get(usize::try_from(n).ok()?).copied(),
        ObjectSeq::Global(_) => None,
    }
}

/// Exempts the objects of an allocation from leak checks.
pub(super) fn keep(program: &mut Program, allocation: Allocation) {
    let Allocation { edge, call } = allocation;
    let Op::Alloc { var, size, align, kind: AllocKind::Heap(family), zeroed } = program.edges[edge].op else { return };
    let kept = Op::Alloc { var, size, align, kind: AllocKind::Library(family), zeroed };
    let Some(call) = call else {
        program.edges[edge].op = kept;
        return;
    };
    // Other calls use the same model. So a flag records whether the exempt call is being executed.
    let [no, yes] = [0, 1].map(|n| program.exprs.int(8, n));
    let ty = program.types.push(CType::Unknown { width: 8 });
    let kind = VarKind::Global { init: Some(no), is_static: true };
    let is_kept = program.vars.push(Var { name: None, ty, width: 8, kind, place: None });
    let place = program.edges[call].place;
    let [before, behind] = [(); 2].map(|()| program.add_location(program.func_of(call)));
    let (source, target) = (program.detach(call), program.edges[call].target);
    program.add_edge(source, Op::Assign { var: is_kept, value: yes }, before, place);
    program.attach(call, before);
    program.edges[call].target = behind;
    program.add_edge(behind, Op::Assign { var: is_kept, value: no }, target, place);

    let place = program.edges[edge].place;
    let [for_it, for_others] = [(); 2].map(|()| program.add_location(program.func_of(edge)));
    let (source, target) = (program.detach(edge), program.edges[edge].target);
    let told = program.var_expr(is_kept);
    let told = program.exprs.binary(BinOp::Eq, told, yes);
    program.add_branch(source, told, for_it, for_others, place);
    program.add_edge(for_it, kept, target, place);
    program.attach(edge, for_others);
}
