//! Calls of output functions with a known format. The output itself has no effect. The lowered call only checks that
//! the stream can be written to and reads the printed strings. An analysis then need not interpret the format.

use super::Context;
use super::builder::Builder;
use super::by_value::passed_in_memory;
use super::function::FunctionLowering;
use crate::ir::{Function, Instruction, Operand, TypeKind, op};
use crate::primitives::UNKNOWN_FORMAT;
use cfa::{Bv, Callee, Expr, ExprId, FloatFormat, FuncId, Op, VarId};
use std::iter::{Copied, Peekable};
use std::slice;

/// An argument that a format requires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wanted {
    Int(u32),
    Float(FloatFormat),
    Pointer,
    String(Precision),
}

/// The maximal number of bytes of a string that is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Precision {
    /// No limit.
    None,
    Known(u16),
    /// The value of the argument before the string.
    Before,
}

/// Lowers a call of function `f`, which prints and whose result is unused. Returns false if the model must be called
/// instead: if the format is unknown, does more than print, or does not match the arguments.
pub(super) fn lower(fl: &mut FunctionLowering, i: &Instruction, f: usize) -> bool {
    let ir = fl.b.ir();
    let name = ir.functions[f].name.as_str();
    let (Some(&plain), Some(string)) = (fl.b.cx.plain.get(name), fl.b.cx.reading_string) else { return false };
    let (Some(plain), Some(string)) = (fl.b.cx.functions[plain], fl.b.cx.functions[string]) else { return false };
    let Some((fixed, wanted)) = wanted(fl.b.cx, fl.function, i) else { return false };
    let args: Option<Vec<ExprId>> = (0..fixed + wanted.len()).map(|k| fl.operand(ir.operand(i, k))).collect();
    // An operand without a value is already reported as not modelled.
    let Some(args) = args else { return true };
    fl.before_call();
    let b = &mut fl.b;
    for (k, _) in wanted.iter().enumerate().filter(|(_, wanted)| **wanted == Wanted::Pointer) {
        b.expose(args[fixed + k]);
    }
    let strings = wanted.iter().enumerate().filter_map(|(k, &wanted)| match wanted {
        Wanted::String(precision) => Some((fixed + k, precision)),
        _ => None,
    });
    let strings: Vec<(usize, Precision)> = strings.collect();
    if b.cx.options.sequential_environment {
        // The number of printed bytes depends on all arguments and on the content of strings.
        let mut all = args.clone();
        for (k, precision) in strings {
            let width = b.cx.program.funcs[string].return_width;
            let result = width.map(|width| b.temp(width));
            read_string(b, string, &args, (k, precision), result);
            all.extend(result.map(|var| b.var_expr(var)));
        }
        b.emit(Op::Call { callee: Callee::Direct(plain), args: all.into(), varargs: None, result: None });
        return true;
    }
    let width = b.cx.program.funcs[plain].return_width.filter(|_| !strings.is_empty());
    let result = width.map(|width| b.temp(width));
    b.emit(Op::Call { callee: Callee::Direct(plain), args: args[..fixed - 1].into(), varargs: None, result });
    let (Some(var), Some(width)) = (result, width) else { return true };
    let (prints, no) = (b.var_expr(var), b.int(width, 0));
    let prints = b.x().ne(prints, no);
    b.when(prints, |b| {
        for argument in strings {
            read_string(b, string, &args, argument, None);
        }
    });
    true
}

/// Reads the printed part of a string argument.
fn read_string(
    b: &mut Builder,
    string: FuncId,
    args: &[ExprId],
    (k, precision): (usize, Precision),
    result: Option<VarId>,
) {
    let precision = match precision {
        Precision::None => b.x().constant(Bv::ones(32)),
        Precision::Known(precision) => b.int(32, precision.into()),
        Precision::Before => args[k - 1],
    };
    let args = [args[k], precision].into();
    b.emit(Op::Call { callee: Callee::Direct(string), args, varargs: None, result });
}

/// True if all formats of the program are known and the models support their conversions: every function that may lead
/// to [`UNKNOWN_FORMAT`] is called directly with such a format.
pub(super) fn knows_all_formats(cx: &mut Context) -> bool {
    let ir = cx.ir;
    let calls = |cx: &Context, f: &Function| -> Vec<(Instruction, usize)> {
        let all = f.body.iter().flat_map(|body| &body.instructions);
        let all = all.filter(|i| matches!(i.opcode, op::CALL | op::INVOKE | op::CALL_BR));
        let callee = |i: &Instruction| match ir.operand(i, ir.extra(i)[1] as usize) {
            Operand::Constant(c) => cx.function_of_constant(c),
            _ => None,
        };
        all.filter_map(|i| Some((*i, callee(i)?))).collect()
    };
    let mut prints: Vec<bool> = ir.functions.iter().map(|f| f.name == UNKNOWN_FORMAT).collect();
    let models: Vec<(usize, Vec<(Instruction, usize)>)> =
        ir.functions.iter().enumerate().filter(|(_, f)| f.model).map(|(n, f)| (n, calls(cx, f))).collect();
    while let Some(&(n, _)) = models.iter().find(|(n, calls)| !prints[*n] && calls.iter().any(|&(_, f)| prints[f])) {
        prints[n] = true;
    }
    let is_taken = prints.iter().zip(&cx.uses.address_taken).any(|(&prints, &is_taken)| prints && is_taken);
    !is_taken
        && ir.functions.iter().filter(|f| !f.model).all(|f| {
            calls(cx, f)
                .iter()
                .all(|(i, callee)| !prints[*callee] || i.opcode == op::CALL && wanted(cx, f, i).is_some())
        })
}

/// For a call with a format: the number of parameters up to the format, and the arguments that the format requires.
/// `None` if the format is unknown, does more than print, or does not match the arguments.
fn wanted(cx: &mut Context, function: &Function, call: &Instruction) -> Option<(usize, Vec<Wanted>)> {
    let ir = cx.ir;
    let TypeKind::Function { variadic: true, params, .. } = ir.kind(ir.extra(call)[0]) else { return None };
    let at = params.len().checked_sub(1)?;
    let wanted = constant_text(cx, ir.operand(call, at)).and_then(|text| parse(&text, cx.pointer_width))?;
    let is_given = |(k, wanted): (usize, &Wanted)| {
        let ty = ir.operand_type(function, ir.operand(call, params.len() + k)).map(|ty| ir.kind(ty));
        match (wanted, ty) {
            (Wanted::Int(wanted), Some(TypeKind::Int(given))) => wanted == given,
            (Wanted::Float(wanted), Some(TypeKind::Float(given))) => wanted == given,
            (Wanted::Pointer | Wanted::String(_), Some(TypeKind::Pointer)) => true,
            _ => false,
        }
    };
    // If a call has more arguments than the format requires, some may have no value.
    let are_given =
        params.len() + wanted.len() == ir.extra(call)[1] as usize && wanted.iter().enumerate().all(is_given);
    (are_given && passed_in_memory(ir, call).next().is_none()).then_some((params.len(), wanted))
}

/// The text of a constant string.
pub(super) fn constant_text(cx: &mut Context, operand: Operand) -> Option<Vec<u8>> {
    let Operand::Constant(constant) = operand else { return None };
    let address = cx.constant(constant)?;
    let Expr::GlobalAddr(global) = *cx.program.exprs.get(address) else { return None };
    let global = &cx.program.globals[global];
    let init = global.init.as_ref().filter(|init| global.read_only && init.pointers.is_empty())?;
    // Trailing zeros are not stored.
    let end = init.bytes.iter().position(|&byte| byte == 0).unwrap_or(init.bytes.len());
    ((end as u64) < global.size).then(|| init.bytes[..end].to_vec())
}

/// The arguments that a format requires, in order. `None` if the format does more than print them.
fn parse(format: &[u8], pointer_width: u32) -> Option<Vec<Wanted>> {
    let mut wanted = Vec::new();
    let mut rest: Rest = format.iter().copied().peekable();
    while let Some(c) = rest.next() {
        if c != b'%' {
            continue;
        }
        while rest.next_if(|c| b"-+ #0'".contains(c)).is_some() {}
        number(&mut rest, &mut wanted)?;
        let precision = match rest.next_if_eq(&b'.') {
            Some(_) => number(&mut rest, &mut wanted)?,
            None => Precision::None,
        };
        let mut length = Vec::new();
        while let Some(c) = rest.next_if(|c| b"hlLqjzt".contains(c)) {
            length.push(c);
        }
        let bits = match &length[..] {
            b"" | b"h" | b"hh" => Some(32),
            b"l" | b"z" | b"t" => Some(pointer_width),
            b"ll" | b"q" | b"j" => Some(64),
            _ => None,
        };
        wanted.push(match (rest.next()?, &length[..]) {
            (b'd' | b'i' | b'u' | b'o' | b'x' | b'X', _) => Wanted::Int(bits?),
            (b'c', b"") => Wanted::Int(32),
            (b's', b"") => Wanted::String(precision),
            (b'p', b"") => Wanted::Pointer,
            (b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A', b"" | b"l") => Wanted::Float(FloatFormat::Double),
            (b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A', b"L") => Wanted::Float(FloatFormat::X87),
            (b'%', b"") => continue,
            _ => return None,
        });
    }
    Some(wanted)
}

type Rest<'a> = Peekable<Copied<slice::Iter<'a, u8>>>;

/// Parses a number, or `*` for an argument.
fn number(rest: &mut Rest, wanted: &mut Vec<Wanted>) -> Option<Precision> {
    if rest.next_if_eq(&b'*').is_some() {
        wanted.push(Wanted::Int(32));
        return Some(Precision::Before);
    }
    let mut n = 0u16;
    while let Some(digit) = rest.next_if(u8::is_ascii_digit) {
        n = n.checked_mul(10)?.checked_add(u16::from(digit - b'0'))?;
    }
    Some(Precision::Known(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        let parse = |format: &str| parse(format.as_bytes(), 64);
        assert_eq!(parse("no conversion, 100%%\n"), Some(vec![]));
        assert_eq!(parse("%-5d|%+.3ld|%#llx|%zu|%hhd"), Some([32, 64, 64, 64, 32].map(Wanted::Int).into()));
        let star = Wanted::Int(32);
        assert_eq!(parse("%*d"), Some(vec![star, star]));
        assert_eq!(parse("%s%p"), Some(vec![Wanted::String(Precision::None), Wanted::Pointer]));
        assert_eq!(parse("%.3s"), Some(vec![Wanted::String(Precision::Known(3))]));
        assert_eq!(parse("%.s"), Some(vec![Wanted::String(Precision::Known(0))]));
        assert_eq!(parse("%*.*s"), Some(vec![star, star, Wanted::String(Precision::Before)]));
        let floats = [FloatFormat::Double, FloatFormat::Double, FloatFormat::X87].map(Wanted::Float);
        assert_eq!(parse("%f %lg %Le"), Some(floats.into()));
        for other in ["%n", "%m", "%ls", "%lc", "%S", "%1$d", "%", "%5", "%Lf%", "%v", "%ld%hs", "%99999s"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
