//! Calls of `scanf`, `fscanf` and `sscanf` with a known format. For each format, this module creates a function that
//! executes the directives in sequence, composed of parts of the model (`scanf.c`). An analysis then need not interpret
//! the format, and each stored value has the type of its directive.

use super::builder::Builder;
use super::by_value::passed_in_memory;
use super::function::FunctionLowering;
use super::output::constant_text;
use super::source::VOID;
use super::{Context, Mutability};
use crate::ir::{Instruction, TypeKind};
use crate::scan_format::{Directive, Source, directives};
use cfa::{AllocKind, CType, Callee, ExprId, FuncId, FunctionOrigin, Op, Var, VarKind};

/// The created functions, by the number of the model and the format.
pub(super) type Readers = rustc_hash::FxHashMap<(usize, Vec<u8>), FuncId>;

/// Lowers a call of function `f`. Returns false if the model must be called instead: if the format is unknown, has a
/// directive that the parts do not support, or does not match the arguments.
pub(super) fn lower(fl: &mut FunctionLowering, n: u32, i: &Instruction, f: usize) -> bool {
    let ir = fl.b.ir();
    let Some(source) = Source::from_name(&ir.functions[f].name) else { return false };
    let TypeKind::Function { variadic: true, params, .. } = ir.kind(ir.extra(i)[0]) else { return false };
    let (fixed, count) = (params.len(), ir.extra(i)[1] as usize);
    let Some(at) = fixed.checked_sub(1) else { return false };
    let Some(format) = constant_text(fl.b.cx, ir.operand(i, at)) else { return false };
    let (directives, space) = directives(&format);
    let wanted = directives.iter().filter(|d| !d.is_literal() && !d.suppressed).count();
    let is_pointer = |k| {
        let ty = ir.operand_type(fl.function, ir.operand(i, k));
        ty.is_some_and(|ty| matches!(ir.kind(ty), TypeKind::Pointer))
    };
    if !directives.iter().all(is_known)
        || fixed + wanted != count
        || !(0..count).all(is_pointer)
        || passed_in_memory(ir, i).next().is_some()
    {
        return false;
    }
    let args: Option<Vec<ExprId>> = (0..count).map(|k| fl.operand(ir.operand(i, k))).collect();
    // An operand without a value is already reported as not modelled.
    let Some(args) = args else { return false };
    let known = fl.b.cx.readers.get(&(f, format.clone())).copied();
    let reader = known.unwrap_or_else(|| {
        let reader = declare(fl.b.cx, f, source, count);
        fl.b.cx.readers.insert((f, format), reader);
        let binary = ir.functions[f].name.starts_with("__isoc23_");
        read(Builder::new(fl.b.cx, reader), source, binary, &directives, space);
        reader
    });
    let result = fl.is_used(n).then(|| fl.b.temp(RESULT));
    fl.before_call();
    fl.b.emit(Op::Call { callee: Callee::Direct(reader), args: args.into(), varargs: None, result });
    if let Some(result) = result {
        let value = fl.b.var_expr(result);
        fl.define_saved(n, value);
    }
    true
}

/// The width of an `int`.
const RESULT: u32 = 32;

/// True if the parts support the directive.
fn is_known(d: &Directive) -> bool {
    let has = d.is_literal() && d.literal != b'%' || d.is_integer() || d.is_real() || b"%csp[n".contains(&d.conversion);
    has && !d.is_wide() && !d.allocates
}

/// Declares a function with the type of the model, function `f`, but with this number of parameters.
fn declare(cx: &mut Context, f: usize, source: Source, params: usize) -> FuncId {
    let names: &[&str] = match source {
        Source::StandardInput => &["format"],
        Source::Stream => &["stream", "format"],
        Source::Text => &["text", "format"],
    };
    let types = &cx.ir.functions[f].c_types;
    let model = &cx.program.funcs[cx.functions[f].expect("it has a body")];
    let (name, ty, place) = (model.name.clone(), model.return_type, model.place);
    let func = cx.program.add_function(&name, ty, Some(RESULT));
    let width = cx.pointer_width;
    let target = cx.program.types.push(CType::Pointer(VOID));
    let params = (0..params)
        .map(|n| {
            let name = names.get(n).map(|&name| name.into());
            let row = types.get(n + 1).filter(|_| name.is_some());
            let ty = row.map_or(target, |&row| cx.source.c_type(row));
            cx.add_var(Var { name, ty, width, kind: VarKind::Param(func), place: None }, Mutability::Fixed)
        })
        .collect();
    let function = &mut cx.program.funcs[func];
    function.params = params;
    function.place = place;
    function.origin = FunctionOrigin::Model;
    func
}

/// Creates the body of a function that reads by a format. If `space`, the format ends with white space.
fn read(mut b: Builder, source: Source, binary: bool, directives: &[Directive], space: bool) {
    let params: Vec<_> = b.cx.program.funcs[b.func].params.to_vec();
    let params: Vec<ExprId> = params.into_iter().map(|var| b.var_expr(var)).collect();
    let fixed = if source == Source::StandardInput { 1 } else { 2 };
    let reader = Reader { format: params[fixed - 1], targets: params[fixed..].iter().copied(), binary };
    match source {
        Source::StandardInput => {
            let stream = part(&mut b, "stdin", &[]);
            from_stream(b, stream, reader, directives, space);
        }
        Source::Stream => from_stream(b, Some(params[0]), reader, directives, space),
        Source::Text => from_text(b, params[0], reader, directives, space),
    }
}

/// The parameters of a call of a `scanf` function.
struct Reader<T> {
    format: ExprId,
    targets: T,
    binary: bool,
}

/// Corresponds to `proviso_scan_stream` of the model.
fn from_stream(
    mut b: Builder,
    stream: Option<ExprId>,
    mut reader: Reader<impl Iterator<Item = ExprId>>,
    directives: &[Directive],
    space: bool,
) {
    let Some(stream) = stream else { return };
    let stream = Argument::Value(stream);
    let (mut items, mut at_limit) = (0, b.x().bool(false));
    let counts = directives.iter().any(|d| d.conversion == b'n');
    let begins = part(&mut b, "begin", &[stream, Argument::Number(counts.into())]);
    let end = b.int(RESULT, EOF);
    let is_none = is_zero(&mut b, begins);
    b.when(is_none, |b| b.finish(Op::Return { value: Some(end) }));
    for d in directives {
        if d.conversion == b'n' {
            let args = reader.conversion(&mut b, d);
            part(&mut b, "convert", &[&[stream][..], &args].concat());
            continue;
        }
        let args = reader.directive(&mut b, d);
        let fits = part(&mut b, "fits", &[&[stream][..], &args].concat()).expect("it has a result");
        let zero = b.int(RESULT, 0);
        let no = b.x().ne(fits, zero);
        b.when(no, |b| {
            part(b, "limit", &[Argument::Value(at_limit)]);
            if items == 0 {
                let is_end = b.x().eq(fits, end);
                b.when(is_end, |b| b.finish(Op::Return { value: Some(end) }));
            }
            let value = b.int(RESULT, items);
            b.finish(Op::Return { value: Some(value) });
        });
        if d.is_literal() {
            continue;
        }
        // A suppressed conversion may also be out of range, without effect.
        let args = reader.conversion(&mut b, d);
        let limit = part(&mut b, "convert", &[&[stream][..], &args].concat()).expect("it has a result");
        let limit = b.x().resize(1, limit);
        at_limit = b.x().or(at_limit, limit);
        items += u64::from(!d.suppressed);
    }
    part(&mut b, "end", &[stream, Argument::Number(space.into())]);
    part(&mut b, "limit", &[Argument::Value(at_limit)]);
    let value = b.int(RESULT, items);
    b.finish(Op::Return { value: Some(value) });
}

/// The value of `EOF` as an `int`.
const EOF: u64 = 0xffff_ffff;

/// Corresponds to `proviso_scan_string` of the model.
fn from_text(
    mut b: Builder,
    s: ExprId,
    mut reader: Reader<impl Iterator<Item = ExprId>>,
    directives: &[Directive],
    space: bool,
) {
    use Argument::{Number, Value};
    // `struct proviso_text`: a pointer, a byte, an `int`.
    let size = u64::from(b.pointer_width() / 8) + 8;
    let size = b.size(size);
    let text = Value(b.alloc(size, 16, AllocKind::Stack, false));
    part(&mut b, "text", &[text, Value(s)]);
    let mut items = 0;
    fn leave(b: &mut Builder, value: u64) {
        let value = b.int(RESULT, value);
        b.finish(Op::Return { value: Some(value) });
    }
    for d in directives {
        part(&mut b, "skip", &[text, Number(d.conversion.into()), Number(d.after_space.into())]);
        if d.conversion == b'n' {
            if !d.suppressed {
                let target = reader.targets.next().expect("as many as there are conversions");
                part(&mut b, "count", &[text, Value(s), Value(target), Number(d.length.into())]);
            }
            continue;
        }
        let more = part(&mut b, "more", &[text]);
        let ends = is_zero(&mut b, more);
        b.when(ends, |b| leave(b, if items > 0 { items } else { EOF }));
        let fits = if d.is_literal() {
            part(&mut b, "literal", &[text, Number(d.literal.into())])
        } else {
            let args = reader.conversion(&mut b, d);
            let (target, rest) = args.split_first().expect("a target");
            part(&mut b, "read", &[&[text, *target, Number(reader.binary.into())][..], rest].concat())
        };
        let misfits = is_zero(&mut b, fits);
        b.when(misfits, |b| leave(b, items));
        items += u64::from(!d.is_literal() && !d.suppressed);
    }
    part(&mut b, "done", &[text, Number(space.into())]);
    leave(&mut b, items);
}

impl<T: Iterator<Item = ExprId>> Reader<T> {
    /// The arguments of the parts for a conversion: the address to store to (or null), and the directive.
    fn conversion(&mut self, b: &mut Builder, d: &Directive) -> Vec<Argument> {
        let target = if d.suppressed { None } else { self.targets.next() };
        let target = target.map_or(Argument::Number(0), Argument::Value);
        [&[target][..], &self.directive(b, d)].concat()
    }

    /// The arguments of the parts for a directive.
    fn directive(&self, b: &mut Builder, d: &Directive) -> Vec<Argument> {
        use Argument::{Number, Value};
        let [set, set_end] = [d.set.start, d.set.end].map(|at| b.offset(self.format, at as u64));
        let characters = [d.conversion, d.literal, d.length].map(|character| Number(character.into()));
        let more = [d.width.into(), d.after_space.into(), d.complement.into()].map(Number);
        [&[Number(d.suppressed.into())][..], &characters, &more, &[Value(set), Value(set_end)]].concat()
    }
}

/// An argument of a part of the model.
#[derive(Clone, Copy)]
enum Argument {
    /// An expression.
    Value(ExprId),
    /// A number with the width of the parameter.
    Number(u64),
}

/// Emits a call of a part of the model. Returns its result, if it has one.
fn part(b: &mut Builder, name: &str, args: &[Argument]) -> Option<ExprId> {
    let func = b.cx.functions[b.cx.scanning[name]].expect("it is a function with a body");
    let params = b.cx.program.funcs[func].params.clone();
    let arg = |(&arg, &param): (&Argument, _)| {
        let width = b.cx.program.vars[param].width;
        match arg {
            Argument::Value(value) => b.x().resize(width, value),
            Argument::Number(number) => b.int(width, number),
        }
    };
    assert_eq!(args.len(), params.len(), "scanf.{name}");
    let args = args.iter().zip(params.iter()).map(arg).collect();
    let result = b.cx.program.funcs[func].return_width.map(|width| b.temp(width));
    b.emit(Op::Call { callee: Callee::Direct(func), args, varargs: None, result });
    result.map(|var| b.var_expr(var))
}

/// True if the result of a part is zero.
fn is_zero(b: &mut Builder, value: Option<ExprId>) -> ExprId {
    let value = value.expect("it has a result");
    let width = b.x().width(value);
    let zero = b.int(width, 0);
    b.x().eq(value, zero)
}
