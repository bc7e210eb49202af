//! What was violated is not asked again: so that one violation does not hide the others, executions go on behind it.

use super::lost::{Allocation, keep, lost};
use cfa::graph::Predecessors;
use cfa::interp::{Inputs, Limits};
use cfa::{
    BinOp, CType, Callee, Check, EdgeId, ErrorId, ExprId, FuncId, FunctionOrigin, HaltKind, Input, InputKind, LocId,
    Op, Out, Program, Var, VarId, VarKind,
};
use rustc_hash::FxHashSet;

/// Where a program violates what is asked of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Site {
    /// An operation whose fault is the error.
    Fault(EdgeId),
    /// A check.
    Check(EdgeId),
    /// A call of a function that must not be called.
    Call(EdgeId),
    /// What allocates memory that is lost.
    Lost(Allocation),
}

impl Site {
    /// Where a path violates, which comes to this error.
    pub fn of_path(program: &Program, path: &[EdgeId], error: ErrorId) -> Option<Self> {
        // Each operation has an error of its own, and is not executed if it is a fault.
        if let Some((edge, _)) = program.edges.iter().find(|(_, e)| e.fault == Some(error)) {
            return Some(Self::Fault(edge));
        }
        let (&last, before) = path.split_last()?;
        if program.edges[last].op != Op::Error(error) {
            return None;
        }
        let is_entry = program.edges[last].source == program.funcs[program.func_of(last)].entry;
        // What is called through a pointer may be another function another time.
        let is_direct = |call: EdgeId| matches!(program.edges[call].op, Op::Call { callee: Callee::Direct(_), .. });
        let call = before.last().filter(|&&call| is_entry && is_direct(call));
        Some(call.map_or(Self::Check(last), |&call| Self::Call(call)))
    }

    /// What allocated the memory, where this is where it was seen to be lost, in a run on such inputs.
    pub fn at_origin(self, program: &Program, inputs: &Inputs, limits: Limits) -> Self {
        match self {
            Self::Fault(edge) => lost(program, edge, inputs, limits).map_or(self, Self::Lost),
            _ => self,
        }
    }
}

/// Makes no error any more of what happens here. Behind a check execution goes on, as it does behind clang's sanitizers if they
/// are told to recover; an operation on memory that would be a fault is left out (a read gives any value); a function that must not
/// be called does not return.
pub fn let_pass(program: &mut Program, sites: &[Site]) {
    let predecessors = Predecessors::new(program);
    for &site in sites {
        match site {
            Site::Fault(edge) => {
                program.edges[edge].fault = None;
                guard(program, edge);
            }
            Site::Call(edge) => end(program, edge),
            Site::Lost(allocation) => keep(program, allocation),
            // As behind MemorySanitizer, which does not recover: what is not initialised may do anything from here on.
            Site::Check(edge) if is_of_memory(program, edge) => program.edges[edge].op = Op::Halt(HaltKind::Abort),
            Site::Check(edge) => match continuation(program, &predecessors, edge) {
                Some(to) => (program.edges[edge].op, program.edges[edge].target) = (Op::Skip, to),
                None => program.edges[edge].op = Op::Halt(HaltKind::Abort),
            },
        }
    }
}

/// Whether an edge says that something is used which is not initialised.
fn is_of_memory(program: &Program, edge: EdgeId) -> bool {
    matches!(program.edges[edge].op, Op::Error(error) if program.errors[error].check == Check::Memory)
}

/// An operation by what stands in the source: the same in all programs made of it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Operation {
    kind: std::mem::Discriminant<Op>,
    file: String,
    line: u32,
    column: u32,
}

impl Operation {
    pub fn of(program: &Program, edge: EdgeId) -> Option<Self> {
        let edge = &program.edges[edge];
        let place = &program.places[edge.place?];
        let file = program.files[place.file].path.clone();
        Some(Self { kind: std::mem::discriminant(edge.op.unshadowed()), file, line: place.line, column: place.column })
    }
}

/// Leaves these operations on memory out where they would be faults. Where they are valid, that changes nothing.
pub fn guard_all(program: &mut Program, operations: &FxHashSet<Operation>) {
    let all: Vec<EdgeId> = program.edges.ids().collect();
    for edge in all {
        // With what it does to shadows.
        if program.edges[edge].op.unshadowed().may_fault()
            && Operation::of(program, edge).is_some_and(|o| operations.contains(&o))
        {
            guard(program, edge);
        }
    }
}

/// Leaves an operation on memory out where its addresses are not within objects that are alive.
pub(crate) fn guard(program: &mut Program, edge: EdgeId) {
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
        Op::Free { ptr, .. } => return guard_free(program, edge, ptr),
        _ => return,
    };
    let (func, place) = (program.func_of(edge), program.edges[edge].place);
    let bad = program.add_location(func);
    let mut at = detach(program, edge);
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
    attach(program, edge, at);
    let (op, target) = (program.edges[edge].op.clone(), program.edges[edge].target);
    let instead = match op {
        // Any value, but one.
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
    program.add_edge(bad, instead, target, place);
}

/// Leaves a `free` out of anything but null and the start of an object.
fn guard_free(program: &mut Program, edge: EdgeId, ptr: ExprId) {
    let (func, place) = (program.func_of(edge), program.edges[edge].place);
    let (zero, offset) = (program.exprs.int(program.layout.pointer_width, 0), number(program, func));
    let [bad, known, good, other] = [(); 4].map(|()| program.add_location(func));
    let at = detach(program, edge);
    let is_null = program.exprs.eq(ptr, zero);
    program.add_branch(at, is_null, good, other, place);
    let at = is_in_object(program, other, ptr, offset, bad, known);
    let offset = program.var_expr(offset);
    let is_start = program.exprs.eq(offset, zero);
    program.add_branch(at, is_start, good, bad, place);
    attach(program, edge, good);
    let target = program.edges[edge].target;
    program.add_edge(bad, Op::Skip, target, place);
}

/// From `at` to `known` if an address is in an object that is alive, with its offset there, else to `bad`.
fn is_in_object(program: &mut Program, at: LocId, ptr: ExprId, offset: VarId, bad: LocId, known: LocId) -> LocId {
    let asked = program.add_location(program.locs[at].func);
    program.add_edge(at, Op::ObjectOffset { var: offset, ptr }, asked, None);
    let pointer = program.layout.pointer_width;
    let (offset, none) = (program.var_expr(offset), program.exprs.int(pointer, u64::MAX >> (64 - pointer)));
    let is_none = program.exprs.eq(offset, none);
    program.add_branch(asked, is_none, bad, known, None);
    known
}

/// A temporary as wide as a pointer.
fn number(program: &mut Program, func: FuncId) -> VarId {
    let width = program.layout.pointer_width;
    let ty = program.types.push(CType::Unknown { width });
    program.vars.push(Var { name: None, ty, width, kind: VarKind::Temp(func), place: None })
}

/// Takes an edge from its source, which comes back without any.
pub(super) fn detach(program: &mut Program, edge: EdgeId) -> LocId {
    let source = program.edges[edge].source;
    program.locs[source].out = Out::Sink;
    source
}

pub(super) fn attach(program: &mut Program, edge: EdgeId, source: LocId) {
    program.edges[edge].source = source;
    program.locs[source].out = Out::One(edge);
}

/// Ends executions that come to an edge alone at its source.
fn end(program: &mut Program, edge: EdgeId) {
    let sink = program.add_location(program.func_of(edge));
    (program.edges[edge].op, program.edges[edge].target) = (Op::Halt(HaltKind::Abort), sink);
}

/// Where executions go for which the checks hold of which this error is one: the other side of the branch behind which all
/// ways lead to errors.
fn continuation(program: &Program, predecessors: &Predecessors, error: EdgeId) -> Option<LocId> {
    let (place, mut loc) = (program.edges[error].place, program.edges[error].source);
    loop {
        let &[edge] = predecessors.of(loc) else { return None };
        loc = program.edges[edge].source;
        match (program.locs[loc].out, &program.edges[edge].op) {
            // A branch of the program itself says what it means in C, or stands elsewhere.
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
            // What the check hands over to be told, in memory.
            (_, Op::Store { .. }) if program.edges[edge].place == place => {}
            _ => return None,
        }
    }
}

/// Whether all ways from here lead to errors, without anything in between.
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

/// The checks at one place have few locations.
const NEAR: usize = 16;

/// The places where the program may violate something, each with the error. What is called behind the back of the automata (a
/// function that nobody defines calls back, a signal comes) may be any function.
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

    /// `x` is checked for 0 and then for 1, one error each, before the program ends.
    fn program() -> (Program, [EdgeId; 2]) {
        let mut p = Program::new(DataLayout { pointer_width: 64 });
        let ty = p.types.push(CType::Unknown { width: 8 });
        let x = cfa::Var { name: None, ty, width: 8, kind: cfa::VarKind::Global { init: None }, place: None };
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
        let_pass(&mut p, &[site]);
        assert_eq!((p.edges[first].op.clone(), p.edges[first].target), (Op::Skip, after));
        assert!(matches!(p.edges[second].op, Op::Error(_)));
        assert_eq!(cfa::validate::validate(&p), Ok(()));
        let_pass(&mut p, &[Site::Check(second)]);
        // By way of the first, which is an error no more.
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
