//! The function `__start`: the code that runs before and after `main`.

use super::builder::Builder;
use super::source::VOID;
use super::{Context, MAIN, Mutability, arguments, globals, inlined, primitive};
use crate::error::Error;
use crate::ir::{ConstantKind, Function, NONE, Operand, TypeKind, op};
use crate::models::{AT_EXIT, AT_QUICK_EXIT};
use cfa::{
    AllocKind, Callee, Expr, ExprId, FILE_ASSEMBLY, FuncId, FunctionOrigin, InputKind, Op, StringArray, Var, VarId,
    VarKind,
};

/// The number of program arguments, and of environment strings, that are modelled exactly.
const MAX_ARGUMENTS: u64 = 8;
/// The width of `argc` in bits.
const COUNT_WIDTH: u32 = 32;
/// The priority of constructors and destructors without a priority.
const DEFAULT_PRIORITY: u64 = 65535;
/// The maximal number of strings. Linux passes fewer: the strings and their pointers take at most 6 MiB.
const MAX_STRINGS: u64 = 1 << 21;
/// The maximal size of an argument in bytes, as in Linux.
const MAX_ARGUMENT_SIZE: u64 = 131_072;

pub(super) fn lower(cx: &mut Context) -> Result<(), Error> {
    let ir = cx.ir;
    let entry = ir.functions.iter().position(|f| f.name == cx.options.entry && !f.declaration);
    let Some((n, main)) = entry.and_then(|n| cx.functions[n].map(|func| (n, func))) else {
        return Err(Error::NoFunction { name: cx.options.entry.clone(), defined: Vec::new() });
    };
    let constructors: Vec<Listed> =
        prioritised(cx, "llvm.global_ctors").into_iter().map(|(_, listed)| listed).collect();
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
    for assembly in &b.ir().file_assembly {
        let cx = &mut *b.cx;
        b.place = assembly.line.map(|line| cx.source.place_in(&mut cx.program, &assembly.path, line));
        b.approximate(format!("{FILE_ASSEMBLY} (`{}`): not modelled", assembly.statement), true, true);
    }
    b.place = None;
    if b.ir().aliases.iter().any(|alias| alias.target == NONE) {
        b.approximate("the resolver of an ifunc, which the loader calls, is not modelled", true, true);
    }
    inlined::at_start(&mut b);
    open.into_iter().for_each(|global| globals::approximate(&mut b, global));
    let is_main = b.cx.options.entry == MAIN;
    let mut needed = if is_main { used.clone() } else { Vec::new() };
    for called in &constructors {
        let Listed::Function(n) = *called else { continue };
        let of_constructor = used_parameters(b.cx, n);
        needed.resize(needed.len().max(of_constructor.len()), false);
        needed.iter_mut().zip(of_constructor).for_each(|(needed, used)| *needed |= used);
    }
    let place = b.cx.program.funcs[main].place;
    b.place = if is_main { place } else { None };
    let arguments = Arguments::new(&mut b, &needed);
    b.place = None;
    for called in constructors {
        let Some(callee) = callee(&mut b, &called) else { continue };
        let args = match (called, &callee) {
            (Listed::Function(n), &Callee::Direct(func)) => arguments.of_constructor(&mut b, n, func),
            _ => Vec::new(),
        };
        b.emit(Op::Call { callee, args: args.into(), varargs: None, result: None });
    }
    b.place = place;
    let args = if is_main {
        arguments.of_main(&mut b, main)
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

/// An entry of a table of LLVM.
enum Listed {
    /// A function of the module.
    Function(usize),
    /// A constant of the module that is no function.
    Address(u32),
}

/// The rows of a table of LLVM (`llvm.global_ctors`, `llvm.global_dtors`) with their priorities, in ascending order.
fn prioritised(cx: &Context, table: &str) -> Vec<(u64, Listed)> {
    let ir = cx.ir;
    let Some(table) = ir.variables.iter().find(|v| v.name == table && v.init != NONE) else {
        return Vec::new();
    };
    let ConstantKind::Aggregate(rows) = &ir.constants[table.init as usize].kind else { return Vec::new() };
    let mut found: Vec<(u64, Listed)> = rows
        .iter()
        .filter_map(|&row| {
            let ConstantKind::Aggregate(fields) = &ir.constants[row as usize].kind else { return None };
            let &[priority, function, ..] = &fields[..] else { return None };
            let priority = match &ir.constants[priority as usize].kind {
                ConstantKind::Bits(words) => words[0],
                _ => 0,
            };
            Some((priority, cx.function_of_constant(function).map_or(Listed::Address(function), Listed::Function)))
        })
        .collect();
    found.sort_by_key(|&(priority, _)| priority);
    found
}

/// The callee of a row. `None` for a function that is unreachable.
fn callee(b: &mut Builder, listed: &Listed) -> Option<Callee> {
    match *listed {
        Listed::Function(n) => b.cx.functions[n].map(Callee::Direct),
        Listed::Address(constant) => {
            let address = b.cx.constant(constant);
            if address.is_none() {
                b.approximate("the functions that the loader calls before or after main are unknown", true, true);
            }
            address.map(Callee::Indirect)
        }
    }
}

/// The name of the function that [`declare_exit`] creates.
const EXIT: &str = "__proviso_exit_handlers";

/// The function that runs exit handlers at `exit` and the end of `main`. [`lower_exit`] creates its body.
pub(super) struct AtExit {
    function: FuncId,
    /// Its parameter.
    status: VarId,
    /// 1 after destructors have started to run.
    ran: VarId,
    /// The function that runs the handlers of the model of `atexit`.
    handlers: Option<FuncId>,
    /// The destructors without a priority, which run first, and those with one, in reverse order of construction.
    destructors: [Vec<Listed>; 2],
}

/// Declares the functions that run at `exit`, at the end of `main`, and at `quick_exit`.
pub(super) fn declare_exit(cx: &mut Context) -> Option<AtExit> {
    let defined = |name: &str| {
        let found = cx.ir.functions.iter().position(|f: &Function| f.name == name && !f.declaration);
        found.and_then(|n| cx.functions[n])
    };
    cx.quick_exit_function = defined(AT_QUICK_EXIT);
    let handlers = defined(AT_EXIT);
    let destructors = prioritised(cx, "llvm.global_dtors");
    if destructors.is_empty() {
        cx.exit_function = handlers;
        return None;
    }
    let (with_priority, without): (Vec<_>, Vec<_>) =
        destructors.into_iter().rev().partition(|&(priority, _)| priority < DEFAULT_PRIORITY);
    let destructors = [without, with_priority].map(|group| group.into_iter().map(|(_, listed)| listed).collect());
    let function = cx.program.add_function(EXIT, VOID, None);
    let (ty, bool) = (cx.unknown_type(Some(32)), cx.unknown_type(Some(1)));
    let parameter = Var { name: Some("status".into()), ty, width: 32, kind: VarKind::Param(function), place: None };
    let status = cx.add_var(parameter, Mutability::Fixed);
    let kind = VarKind::Global { init: Some(cx.program.exprs.bool(false)), is_static: false };
    let name = Some("proviso_destructors_ran".into());
    let ran = cx.add_var(Var { name, ty: bool, width: 1, kind, place: None }, Mutability::Global);
    cx.program.funcs[function].params = vec![status];
    cx.program.funcs[function].origin = FunctionOrigin::Model;
    cx.exit_function = Some(function);
    Some(AtExit { function, status, ran, handlers, destructors })
}

/// Runs the handlers, then the destructors. As in glibc, a destructor that calls `exit` is the last one. Handlers that
/// destructors register run after the destructors without a priority, where the C library's own destructor runs, and at
/// the end.
pub(super) fn lower_exit(cx: &mut Context, exit: &AtExit) {
    let mut b = Builder::new(cx, exit.function);
    let status = b.var_expr(exit.status);
    let run_handlers = |b: &mut Builder| {
        if let Some(handlers) = exit.handlers {
            let args = Box::new([status]);
            b.emit(Op::Call { callee: Callee::Direct(handlers), args, varargs: None, result: None });
        }
    };
    run_handlers(&mut b);
    let ran_before = b.var_expr(exit.ran);
    let first_time = b.x().not(ran_before);
    b.when(first_time, |b| {
        let value = b.x().bool(true);
        b.emit(Op::Assign { var: exit.ran, value });
        for group in exit.destructors.iter().filter(|group| !group.is_empty()) {
            for listed in group {
                if let Some(callee) = callee(b, listed) {
                    b.emit(Op::Call { callee, args: Box::default(), varargs: None, result: None });
                }
            }
            run_handlers(b);
        }
    });
    b.finish(Op::Return { value: None });
}

/// For each parameter, whether the function reads it. Unoptimised code first stores every parameter.
fn used_parameters(cx: &Context, n: usize) -> Vec<bool> {
    let function = &cx.ir.functions[n];
    let params = match cx.ir.kind(function.ty) {
        TypeKind::Function { params, .. } => params.len(),
        _ => 0,
    };
    let Some(body) = &function.body else { return vec![false; params] };
    // The number of uses of each instruction's value. For a cell, stores into it and unused loads do not count.
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

/// `argc`, `argv` and `envp`, as far as the program reads them. The C library passes them to `main` and to
/// constructors.
struct Arguments {
    values: [ExprId; 3],
}

impl Arguments {
    fn new(b: &mut Builder, needed: &[bool]) -> Self {
        let needs = |k: usize| needed.get(k).copied().unwrap_or(false);
        let count = if needs(0) || needs(1) { number_of_arguments(b, needs(1)) } else { b.int(COUNT_WIDTH, 1) };
        let vector = if needs(1) { strings(b, count, "program arguments") } else { b.size(0) };
        let environment = if needs(2) {
            let count = number_of_strings(b, true);
            strings(b, count, "environment variables")
        } else {
            b.size(0)
        };
        Self { values: [count, vector, environment] }
    }

    fn of_main(&self, b: &mut Builder, main: FuncId) -> Vec<ExprId> {
        let widths = widths_of_parameters(b, main).into_iter().enumerate();
        let pass = |(k, width)| match self.values.get(k) {
            Some(&value) => b.x().resize(width, value),
            None => b.int(width, 0),
        };
        widths.map(pass).collect()
    }

    /// The arguments of constructor `n`. Further parameters and floats are in registers that are not initialised.
    fn of_constructor(&self, b: &mut Builder, n: usize, func: FuncId) -> Vec<ExprId> {
        let ir = b.ir();
        let is_float = |k: usize| match ir.kind(ir.functions[n].ty) {
            TypeKind::Function { params, .. } => matches!(ir.kind(params[k]), TypeKind::Float(_)),
            _ => false,
        };
        let widths = widths_of_parameters(b, func).into_iter().enumerate();
        let pass = |(k, width)| match self.values.get(k) {
            Some(&value) if !is_float(k) => b.x().resize(width, value),
            _ => b.havoc(width, InputKind::Uninit(None), None),
        };
        widths.map(pass).collect()
    }
}

fn widths_of_parameters(b: &Builder, func: FuncId) -> Vec<u32> {
    b.cx.program.funcs[func].params.iter().map(|&var| b.cx.program.vars[var].width).collect()
}

/// The number of program arguments, which include the program's name unless the options allow none.
fn number_of_arguments(b: &mut Builder, with_array: bool) -> ExprId {
    let count = number_of_strings(b, with_array);
    if !b.cx.options.argc_may_be_zero {
        let one = b.int(COUNT_WIDTH, 1);
        let has_name = b.x().ule(one, count);
        b.assume(has_name);
    }
    count
}

/// An arbitrary number of strings. If `with_array`, an array of their pointers fits into memory.
fn number_of_strings(b: &mut Builder, with_array: bool) -> ExprId {
    let count = b.havoc(COUNT_WIDTH, InputKind::Environment("main".into()), None);
    let most = cfa::Bv::min_signed(COUNT_WIDTH).not();
    let max = if with_array { b.int(COUNT_WIDTH, MAX_STRINGS) } else { b.x().constant(most) };
    let valid = b.x().ule(count, max);
    b.assume(valid);
    count
}

/// The address of an array of `count` strings and a null pointer. The strings have arbitrary content and length. If
/// there are more than [`MAX_ARGUMENTS`], the pointers to the others are arbitrary.
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
    // The array is longer than needed, so that one copy fills it. An analysis then knows that all elements before the
    // last one are strings.
    let known = b.alloc(room, 16, AllocKind::Stack, false);
    let mut found = Vec::new();
    for n in 0..MAX_ARGUMENTS {
        let string = string(b);
        found.push(string);
        let slot = b.offset(known, n * pointer);
        b.store(slot, string);
    }
    b.when(too_many, |b| {
        b.approximate(format!("more than {MAX_ARGUMENTS} {what}: the others are not modelled"), true, false);
    });
    let var = |e: ExprId| match *b.cx.program.exprs.get(e) {
        Expr::Var(var) => Some(var),
        _ => None,
    };
    if let (Some(array), Some(strings)) = (var(known), found.into_iter().map(var).collect()) {
        b.cx.program.add_string_array(StringArray { array, strings });
    }
    b.emit(Op::Copy { dst: vector, src: known, len: size });
    let (last, null) = (b.x().add(vector, end), b.size(0));
    b.store(last, null);
    vector
}

/// A string of arbitrary content and length.
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
