//! `__start`: what runs before and after `main`.

use super::builder::Builder;
use super::{Context, arguments, globals, primitive};
use crate::error::Error;
use crate::ir::{ConstantKind, Function, NONE, Operand, TypeKind, op};
use crate::models::AT_EXIT;
use cfa::{AllocKind, Callee, ExprId, FuncId, InputKind, Op};

/// Program arguments, and environment strings, that are modelled.
const MAX_ARGUMENTS: u64 = 8;
/// More strings than Linux passes to a program: they and the pointers to them take at most 6 MiB.
const MAX_STRINGS: u64 = 1 << 21;
/// Bytes of the longest argument: what Linux allows.
const MAX_ARGUMENT_SIZE: u64 = 131_072;

/// The function whose parameters are the program's arguments and environment.
pub(super) const MAIN: &str = "main";

pub(super) fn lower(cx: &mut Context) -> Result<(), Error> {
    let ir = cx.ir;
    let entry = ir.functions.iter().position(|f| f.name == cx.options.entry && !f.declaration);
    let Some((n, main)) = entry.and_then(|n| cx.functions[n].map(|func| (n, func))) else {
        return Err(Error::Usage(format!("the program has no function '{}'", cx.options.entry)));
    };
    let constructors = listed_functions(cx, "llvm.global_ctors");
    let unknown = std::mem::take(&mut cx.unknown_initialisers);
    let mut open = std::mem::take(&mut cx.open_initialisers);
    open.sort_unstable();
    open.dedup();
    let used = used_parameters(cx, n);
    let start = cx.program.entry;
    let mut b = Builder::new(cx, start);
    for name in unknown {
        b.approximate(format!("the initial value of '{name}' is not known"), true, true);
    }
    open.into_iter().for_each(|global| globals::approximate(&mut b, global));
    for func in constructors {
        b.emit(Op::Call { callee: Callee::Direct(func), args: Box::default(), varargs: None, result: None });
    }
    b.place = b.cx.program.funcs[main].place;
    let args = if b.cx.options.entry == MAIN {
        arguments(&mut b, main, &used)
    } else {
        arguments::any_globals(&mut b);
        arguments::any(&mut b, n, main)
    };
    let width = b.cx.program.funcs[main].return_width;
    let result = width.map(|width| b.temp(width));
    b.emit(Op::Call { callee: Callee::Direct(main), args: args.into(), varargs: None, result });
    let status = result.map(|var| b.var_expr(var));
    primitive::exit(&mut b, status);
    arguments::finish(cx);
    Ok(())
}

/// The functions of a table of LLVM's (`llvm.global_ctors`, `llvm.global_dtors`) in order of priority.
fn listed_functions(cx: &Context, table: &str) -> Vec<FuncId> {
    let ir = cx.ir;
    let Some(table) = ir.variables.iter().find(|v| v.name == table && v.init != NONE) else {
        return Vec::new();
    };
    let ConstantKind::Aggregate(rows) = &ir.constants[table.init as usize].kind else { return Vec::new() };
    let mut found: Vec<(u64, FuncId)> = rows
        .iter()
        .filter_map(|&row| {
            let ConstantKind::Aggregate(fields) = &ir.constants[row as usize].kind else { return None };
            let &[priority, function, ..] = &fields[..] else { return None };
            let priority = match &ir.constants[priority as usize].kind {
                ConstantKind::Bits(words) => words[0],
                _ => 0,
            };
            Some((priority, cx.functions[cx.function_of_constant(function)?]?))
        })
        .collect();
    found.sort_by_key(|&(priority, _)| priority);
    found.into_iter().map(|(_, func)| func).collect()
}

/// What runs when the program ends through `exit` or the end of `main`: the handlers that the model of `atexit`
/// keeps, then the destructors, the last constructed first.
pub(super) fn exit_functions(cx: &Context) -> Vec<FuncId> {
    let defined = |f: &Function| f.name == AT_EXIT && !f.declaration;
    let handlers = cx.ir.functions.iter().position(defined).and_then(|n| cx.functions[n]);
    handlers.into_iter().chain(listed_functions(cx, "llvm.global_dtors").into_iter().rev()).collect()
}

/// By parameter: whether the function reads it. Unoptimised code stores every parameter first.
fn used_parameters(cx: &Context, n: usize) -> Vec<bool> {
    let function = &cx.ir.functions[n];
    let params = match cx.ir.kind(function.ty) {
        TypeKind::Function { params, .. } => params.len(),
        _ => 0,
    };
    let Some(body) = &function.body else { return vec![false; params] };
    // Uses of each instruction's value; and of each cell, those other than stores into it and idle loads.
    let mut uses = vec![0u32; body.instructions.len()];
    for operand in body.instructions.iter().flat_map(|i| cx.ir.operands(i)) {
        if let Operand::Instruction(n) = operand {
            uses[n as usize] += 1;
        }
    }
    let mut reads = vec![0u32; body.instructions.len()];
    let mut used = vec![false; params];
    for (n, instruction) in body.instructions.iter().enumerate() {
        let idle = instruction.opcode == op::LOAD && uses[n] == 0;
        for (position, operand) in cx.ir.operands(instruction).enumerate() {
            if let Operand::Instruction(cell) = operand
                && !idle
                && !(instruction.opcode == op::STORE && position == 1)
            {
                reads[cell as usize] += 1;
            }
        }
    }
    for instruction in &body.instructions {
        for (position, operand) in cx.ir.operands(instruction).enumerate() {
            let Operand::Argument(argument) = operand else { continue };
            let only_stored = instruction.opcode == op::STORE
                && position == 0
                && matches!(cx.ir.operand(instruction, 1), Operand::Instruction(cell) if reads[cell as usize] == 0);
            used[argument as usize] |= !only_stored;
        }
    }
    used
}

/// `argc`, `argv` and `envp` as far as they are read.
fn arguments(b: &mut Builder, main: FuncId, used: &[bool]) -> Vec<ExprId> {
    let params = b.cx.program.funcs[main].params.clone();
    let widths: Vec<u32> = params.iter().map(|&var| b.cx.program.vars[var].width).collect();
    let is_used = |k: usize| used.get(k).copied().unwrap_or(false);
    let mut args = Vec::new();
    if let Some(&width) = widths.first() {
        let count = if is_used(0) || is_used(1) { number_of_strings(b, width, is_used(1)) } else { b.int(width, 1) };
        args.push(count);
        if let Some(&width) = widths.get(1) {
            let vector = if is_used(1) { strings(b, count, "program arguments") } else { b.size(0) };
            args.push(b.x().resize(width, vector));
        }
    }
    if let Some(&width) = widths.get(2) {
        let vector = if is_used(2) {
            let count = number_of_strings(b, 32, true);
            strings(b, count, "environment variables")
        } else {
            b.size(0)
        };
        args.push(b.x().resize(width, vector));
    }
    args.extend(widths.iter().skip(3).map(|&width| b.int(width, 0)));
    args
}

/// Any number of strings; if there is to be an array of them, one that fits into memory.
fn number_of_strings(b: &mut Builder, width: u32, with_array: bool) -> ExprId {
    let count = b.havoc(width, InputKind::Environment("main".into()), None);
    let max = if with_array { b.int(width, MAX_STRINGS) } else { b.x().constant(cfa::Bv::min_signed(width).not()) };
    let valid = b.x().ule(count, max);
    b.assume(valid);
    count
}

/// The address of an array of `count` strings and a null pointer. The strings are of any content and length.
/// Where there are more than a few of them, the pointers to the others are of unknown value.
fn strings(b: &mut Builder, count: ExprId, what: &str) -> ExprId {
    let count = b.as_pointer(count);
    let max = b.size(MAX_ARGUMENTS);
    let too_many = b.x().ult(max, count);
    let pointer = u64::from(b.pointer_width() / 8);
    let [known_end, one] = [MAX_ARGUMENTS * pointer, pointer].map(|bytes| b.size(bytes));
    let x = b.x();
    let end = x.mul(count, one);
    let size = x.add(end, one);
    let room = x.add(size, known_end);
    let vector = b.alloc(size, 16, AllocKind::Stack, false);
    // More than the array has, so that all of that is copied at once: it is seen to hold nothing else before its last element.
    let known = b.alloc(room, 16, AllocKind::Stack, false);
    for n in 0..MAX_ARGUMENTS {
        let string = string(b);
        let slot = b.offset(known, n * pointer);
        b.store(slot, string);
    }
    b.when(too_many, |b| {
        b.approximate(format!("more than {MAX_ARGUMENTS} {what}: the others are not modelled"), true, false);
    });
    b.emit(Op::Copy { dst: vector, src: known, len: size });
    let (last, null) = (b.x().add(vector, end), b.size(0));
    b.store(last, null);
    vector
}

/// A string of any content and length.
fn string(b: &mut Builder) -> ExprId {
    let width = b.pointer_width();
    let size = b.havoc(width, InputKind::Environment("main".into()), None);
    let (one, max) = (b.size(1), b.size(MAX_ARGUMENT_SIZE));
    let (not_empty, not_too_long) = (b.x().ule(one, size), b.x().ule(size, max));
    let valid = b.x().and(not_empty, not_too_long);
    b.assume(valid);
    let string = b.alloc(size, 1, AllocKind::Stack, false);
    let end = b.x().add(string, size);
    let last = b.x().sub(end, one);
    let zero = b.int(8, 0);
    b.store(last, zero);
    string
}
