//! Continues past a reported violation, so that it does not hide others.

use super::lost::{Allocation, keep, lost};
use cfa::graph::Predecessors;
use cfa::interp::{Inputs, Limits};
use cfa::{
    BinOp, CType, Callee, Check, Edge, EdgeId, ErrorId, ExprId, FuncId, FunctionOrigin, HaltKind, Input, InputKind,
    LocId, Op, Out, Program, Var, VarId, VarKind,
};
use rustc_hash::FxHashSet;

/// A program point that may violate a check.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Site {
    /// An operation whose fault is an error.
    Fault(EdgeId),
    /// An error edge of a check.
    Check(EdgeId),
    /// A call of a function that must not be called.
    Call(EdgeId),
    /// An allocation whose object leaks.
    Lost(Allocation),
}

impl Site {
    /// The site of the violation at the end of a path to `error`.
    pub fn of_path(program: &Program, path: &[EdgeId], error: ErrorId) -> Option<Self> {
        // Each operation has its own error. An operation that faults is not executed, so it is not on the path.
        if let Some((edge, _)) = program.edges.iter().find(|(_, e)| e.fault == Some(error)) {
            return Some(Self::Fault(edge));
        }
        let (&last, before) = path.split_last()?;
        if program.edges[last].op != Op::Error(error) {
            return None;
        }
        let is_entry = program.edges[last].source == program.funcs[program.func_of(last)].entry;
        // A call through a pointer may call another function at another time.
        let is_direct = |call: EdgeId| matches!(program.edges[call].op, Op::Call { callee: Callee::Direct(_), .. });
        let call = before.last().filter(|&&call| is_entry && is_direct(call));
        Some(call.map_or(Self::Check(last), |&call| Self::Call(call)))
    }

    /// For a leak: the allocation of the object that leaks in a run on these inputs. Otherwise the site itself.
    pub fn at_origin(self, program: &Program, inputs: &Inputs, limits: Limits) -> Self {
        match self {
            Self::Fault(edge) => lost(program, edge, inputs, limits).map_or(self, Self::Lost),
            _ => self,
        }
    }
}

/// An edge of executions that continue after a violation whose error was removed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Continuation {
    /// The edge. An execution takes it if and only if it violates the check.
    pub edge: EdgeId,
    /// True if the execution skips an invalid access. False if a check fails.
    pub skips_access: bool,
}

/// Removes the errors of these sites. After a check, execution continues, as it does after clang's sanitizers with
/// `-fsanitize-recover`. A memory operation that would fault is skipped, and a read returns any value. A function that
/// must not be called does not return. Returns the edges on which executions continue.
pub fn let_pass(program: &mut Program, sites: &[Site]) -> Vec<Continuation> {
    let predecessors = Predecessors::new(program);
    let mut continuations = Vec::new();
    for &site in sites {
        match site {
            Site::Fault(edge) => {
                program.edges[edge].fault = None;
                continuations.extend(guard(program, edge).map(|edge| Continuation { edge, skips_access: true }));
            }
            Site::Call(edge) => end(program, edge),
            Site::Lost(allocation) => keep(program, allocation),
            // MemorySanitizer does not recover either: after a use of uninitialised memory, the behaviour is undefined.
            Site::Check(edge) if is_of_memory(program, edge) => program.edges[edge].op = Op::Halt(HaltKind::Abort),
            Site::Check(edge) => match continuation(program, &predecessors, edge) {
                Some(to) => {
                    (program.edges[edge].op, program.edges[edge].target) = (Op::Skip, to);
                    continuations.push(Continuation { edge, skips_access: false });
                }
                None => program.edges[edge].op = Op::Halt(HaltKind::Abort),
            },
        }
    }
    continuations
}

/// Ends executions at these edges, instead of continuing after the violations. Returns the edges as they were before.
pub fn end_at(program: &mut Program, continuations: &[Continuation]) -> Vec<(EdgeId, Edge)> {
    let before = continuations.iter().map(|continuation| (continuation.edge, program.edges[continuation.edge].clone()));
    let before: Vec<(EdgeId, Edge)> = before.collect();
    continuations.iter().for_each(|continuation| end(program, continuation.edge));
    before
}

/// True if the edge is an error of the check for uninitialised memory.
fn is_of_memory(program: &Program, edge: EdgeId) -> bool {
    matches!(program.edges[edge].op, Op::Error(error) if program.errors[error].check == Check::Memory)
}

/// A memory operation, identified by its kind and source position. The identity is the same in all programs derived
/// from one source.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Operation {
    kind: std::mem::Discriminant<Op>,
    file: String,
    line: u32,
    column: u32,
}

impl Operation {
    /// The identity of an operation. `None` if it has no source position.
    pub fn from_edge(program: &Program, edge: EdgeId) -> Option<Self> {
        let edge = &program.edges[edge];
        let place = &program.places[edge.place?];
        let file = program.files[place.file].path.clone();
        Some(Self { kind: std::mem::discriminant(edge.op.unshadowed()), file, line: place.line, column: place.column })
    }
}

/// Skips these memory operations if they would fault. Valid executions do not change. Returns the edges on which
/// executions continue after a skipped operation.
pub fn guard_all(program: &mut Program, operations: &FxHashSet<Operation>) -> Vec<Continuation> {
    let all: Vec<EdgeId> = program.edges.ids().collect();
    let mut continuations = Vec::new();
    for edge in all {
        // Includes operations on shadow memory.
        if program.edges[edge].op.unshadowed().may_fault()
            && Operation::from_edge(program, edge).is_some_and(|o| operations.contains(&o))
        {
            continuations.extend(guard(program, edge).map(|edge| Continuation { edge, skips_access: true }));
        }
    }
    continuations
}

/// Skips a memory operation if its addresses are not inside live objects. Returns the edge that executions take instead
/// of it, unless the operation has no address.
pub(crate) fn guard(program: &mut Program, edge: EdgeId) -> Option<EdgeId> {
    let pointer = program.layout.pointer_width;
    let bytes = |program: &mut Program, width: u32| program.exprs.int(pointer, u64::from(width.div_ceil(8)));
    let accesses: Vec<(ExprId, ExprId)> = match *program.edges[edge].op.unshadowed() {
        Op::Load { var, addr } => {
            let width = program.vars[var].width;
            vec![(addr, bytes(program, width))]
        }
        Op::Store { addr, value } => {
            let width = program.exprs.width(value);
            vec![(addr, bytes(program, width))]
        }
        Op::Copy { dst, src, len } => vec![(dst, len), (src, len)],
        Op::Fill { dst, len, .. } => vec![(dst, len)],
        Op::Free { ptr, .. } => return Some(guard_free(program, edge, ptr)),
        _ => return None,
    };
    let (func, place) = (program.func_of(edge), program.edges[edge].place);
    let bad = program.add_location(func);
    let mut at = program.detach(edge);
    for (address, len) in accesses {
        let [offset, size] = [(); 2].map(|()| number(program, func));
        let [known, sized, inside] = [(); 3].map(|()| program.add_location(func));
        at = is_in_object(program, at, address, offset, bad, known);
        let offset = program.var_expr(offset);
        let start = program.exprs.binary(BinOp::Sub, address, offset);
        program.add_edge(at, Op::ObjectSize { var: size, ptr: start, family: None }, sized, place);
        let size = program.var_expr(size);
        let room = program.exprs.binary(BinOp::Sub, size, offset);
        let fits = program.exprs.binary(BinOp::Ule, len, room);
        program.add_branch(sized, fits, inside, bad, place);
        at = inside;
    }
    program.attach(edge, at);
    let (op, target) = (program.edges[edge].op.clone(), program.edges[edge].target);
    let instead = match op {
        // The shadow of a skipped read is 0, so its value counts as initialised.
        Op::Shadow(ref load) if load.def().is_some() => {
            let var = load.def().expect("it loads");
            let value = program.exprs.int(program.vars[var].width, 0);
            Op::Assign { var, value }
        }
        Op::Load { var, .. } => {
            let (ty, width) = (program.vars[var].ty, program.vars[var].width);
            let input = program.inputs.push(Input { kind: InputKind::Uninit(None), ty, width, place });
            Op::Havoc { var, input }
        }
        _ => Op::Skip,
    };
    Some(program.add_edge(bad, instead, target, place))
}

/// Skips a `free` of anything except null and the start of a live object. Returns the edge that executions take instead
/// of it.
fn guard_free(program: &mut Program, edge: EdgeId, ptr: ExprId) -> EdgeId {
    let (func, place) = (program.func_of(edge), program.edges[edge].place);
    let (zero, offset) = (program.exprs.int(program.layout.pointer_width, 0), number(program, func));
    let [bad, known, good, other] = [(); 4].map(|()| program.add_location(func));
    let at = program.detach(edge);
    let is_null = program.exprs.eq(ptr, zero);
    program.add_branch(at, is_null, good, other, place);
    let at = is_in_object(program, other, ptr, offset, bad, known);
    let offset = program.var_expr(offset);
    let is_start = program.exprs.eq(offset, zero);
    program.add_branch(at, is_start, good, bad, place);
    program.attach(edge, good);
    let target = program.edges[edge].target;
    program.add_edge(bad, Op::Skip, target, place)
}

/// Leads from `at` to `known` if the address is in a live object, and stores its offset there. Otherwise leads to
/// `bad`.
fn is_in_object(program: &mut Program, at: LocId, ptr: ExprId, offset: VarId, bad: LocId, known: LocId) -> LocId {
    let asked = program.add_location(program.locs[at].func);
    program.add_edge(at, Op::ObjectOffset { var: offset, ptr, writable: false }, asked, None);
    let pointer = program.layout.pointer_width;
    let (offset, none) = (program.var_expr(offset), program.exprs.int(pointer, u64::MAX >> (64 - pointer)));
    let is_none = program.exprs.eq(offset, none);
    program.add_branch(asked, is_none, bad, known, None);
    known
}

/// Adds a temporary of pointer width.
fn number(program: &mut Program, func: FuncId) -> VarId {
    let width = program.layout.pointer_width;
    let ty = program.types.push(CType::Unknown { width });
    program.vars.push(Var { name: None, ty, width, kind: VarKind::Temp(func), place: None })
}

/// Ends all executions at the source of an edge that is the only one there.
fn end(program: &mut Program, edge: EdgeId) {
    let sink = program.add_location(program.func_of(edge));
    (program.edges[edge].op, program.edges[edge].target) = (Op::Halt(HaltKind::Abort), sink);
}

/// The location where execution continues if the check of this error succeeds: the other side of the branch after which
/// all paths lead to errors.
fn continuation(program: &Program, predecessors: &Predecessors, error: EdgeId) -> Option<LocId> {
    let (place, mut loc) = (program.edges[error].place, program.edges[error].source);
    loop {
        let &[edge] = predecessors.edges_into(loc) else { return None };
        loc = program.edges[edge].source;
        match (program.locs[loc].out, &program.edges[edge].op) {
            // A branch of the program itself has a known meaning in C, or is at another source position.
            (Out::Branch { then_edge, else_edge }, Op::Assume { means: None, .. })
                if program.edges[edge].place == place =>
            {
                let other = if edge == then_edge { else_edge } else { then_edge };
                let target = program.edges[other].target;
                if !fails(program, target) {
                    return Some(target);
                }
            }
            (_, Op::Skip) => {}
            // Arguments that the check stores in memory for the error report.
            (_, Op::Store { .. }) if program.edges[edge].place == place => {}
            _ => return None,
        }
    }
}

/// True if all paths from the location lead to errors without an operation in between.
fn fails(program: &Program, loc: LocId) -> bool {
    let mut seen = FxHashSet::default();
    let mut todo = vec![loc];
    while let Some(loc) = todo.pop() {
        if !seen.insert(loc) {
            continue;
        }
        match program.locs[loc].out {
            Out::Sink => return false,
            Out::One(edge) => match program.edges[edge].op {
                Op::Error(_) => {}
                Op::Skip => todo.push(program.edges[edge].target),
                _ => return false,
            },
            Out::Branch { then_edge, else_edge } => {
                todo.extend([then_edge, else_edge].map(|e| program.edges[e].target));
            }
        }
        if seen.len() > NEAR {
            return false;
        }
    }
    true
}

/// The maximal number of locations between a check and its errors.
const NEAR: usize = 16;

/// The sites of a program with their errors. Under-approximated code (an undefined function, a signal) may call any
/// function of the source, so then all of them count as called.
pub fn sites(program: &Program) -> Vec<(Site, ErrorId)> {
    let calls = cfa::CallGraph::new(program);
    let is_blind = program.edges.iter().any(|(id, edge)| {
        let loses = matches!(edge.op, Op::Approx { taint } if program.taints[taint].under);
        loses && calls.is_reachable(program.func_of(id))
    });
    let is_called =
        |func: FuncId| calls.is_reachable(func) || is_blind && program.funcs[func].origin == FunctionOrigin::Source;
    let mut found = Vec::new();
    for (id, edge) in program.edges.iter() {
        let func = program.func_of(id);
        match edge.op {
            Op::Error(error) if edge.source == program.funcs[func].entry => {
                let of_callers = calls.callers(func).filter(|&call| is_called(program.func_of(call)));
                found.extend(of_callers.map(|call| (Site::Call(call), error)));
            }
            _ if !is_called(func) => {}
            Op::Error(error) => found.push((Site::Check(id), error)),
            _ => found.extend(edge.fault.map(|error| (Site::Fault(id), error))),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::{CType, DataLayout, ErrorInfo};

    /// A program that checks `x` for 0 and then for 1, with one error each, before it ends.
    fn program() -> (Program, [EdgeId; 2]) {
        let mut p = Program::new(DataLayout { pointer_width: 64 });
        let ty = p.types.push(CType::Unknown { width: 8 });
        let x = cfa::Var {
            name: None,
            ty,
            width: 8,
            kind: cfa::VarKind::Global { init: None, is_static: false },
            place: None,
        };
        let x = p.vars.push(x);
        let x = p.exprs.var(x, 8);
        let [zero, two] = [0, 2].map(|n| p.exprs.int(8, n));
        let (is_small, is_zero) = (p.exprs.binary(cfa::BinOp::Ult, x, two), p.exprs.eq(x, zero));
        let [failed, first, second, after, end] = [(); 5].map(|()| p.add_location(p.entry));
        let entry = p.funcs[p.entry].entry;
        p.add_branch(entry, is_small, failed, after, None);
        p.add_branch(failed, is_zero, first, second, None);
        let error = |p: &mut Program, loc, check| {
            let error = p.errors.push(ErrorInfo { check, message: String::new(), place: None });
            let sink = p.add_location(p.entry);
            p.add_edge(loc, Op::Error(error), sink, None)
        };
        let errors = [error(&mut p, first, Check::Null), error(&mut p, second, Check::Alignment)];
        p.add_edge(after, Op::Halt(HaltKind::Abort), end, None);
        (p, errors)
    }

    #[test]
    fn behind_a_check_execution_goes_on() {
        let (mut p, [first, second]) = program();
        assert_eq!(sites(&p).len(), 2);
        let after = p.out_edges(p.funcs[p.entry].entry).nth(1).unwrap();
        let after = p.edges[after].target;
        let site = Site::of_path(&p, &[first], ErrorId(0)).unwrap();
        let continues = let_pass(&mut p, &[site]);
        assert_eq!(continues, [Continuation { edge: first, skips_access: false }]);
        assert_eq!((p.edges[first].op.clone(), p.edges[first].target), (Op::Skip, after));
        assert!(matches!(p.edges[second].op, Op::Error(_)));
        assert_eq!(cfa::validate::validate(&p), Ok(()));
        let_pass(&mut p, &[Site::Check(second)]);
        // The continuation leads through the first check, whose error is removed.
        assert_eq!((sites(&p).len(), p.edges[second].target), (0, p.edges[first].source));
        assert_eq!(cfa::validate::validate(&p), Ok(()));
    }

    #[test]
    fn a_call_that_must_not_be_is_one_site() {
        let mut p = Program::new(DataLayout { pointer_width: 64 });
        let void = p.types.push(CType::Void);
        let fail = p.add_function("fail", void, None);
        let [behind, end, out] = [p.entry, p.entry, fail].map(|f| p.add_location(f));
        let (entry, body) = (p.funcs[p.entry].entry, p.funcs[fail].entry);
        let op = Op::Call { callee: Callee::Direct(fail), args: Box::default(), varargs: None, result: None };
        let call = p.add_edge(entry, op, behind, None);
        p.add_edge(behind, Op::Halt(HaltKind::Abort), end, None);
        p.add_edge(body, Op::Return { value: None }, out, None);
        crate::unreach_call(&mut p, &["fail".to_owned()]);
        let error = p.out_edges(p.funcs[fail].entry).next().unwrap();
        assert_eq!(sites(&p).iter().map(|s| s.0).collect::<Vec<_>>(), [Site::Call(call)]);
        let site = Site::of_path(&p, &[call, error], ErrorId(0)).unwrap();
        assert_eq!(site, Site::Call(call));
        let_pass(&mut p, &[site]);
        assert!(matches!(p.edges[call].op, Op::Halt(_)));
        assert_eq!(cfa::validate::validate(&p), Ok(()));
        assert!(sites(&p).is_empty());
    }
}
