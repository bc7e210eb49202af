//! Generates code that accesses objects and strings up to their ends: variable sizes, searches for null bytes, and
//! modifications on the way.

use super::objects::{at_offset, end_if, only_if, up_to};
use super::*;

/// One of these patterns.
pub(super) fn reach(g: &mut Generator, depth: usize) {
    match g.random.below(7) {
        0 | 1 => string(g, depth),
        2 | 3 => elements(g, depth),
        4 | 5 => walked(g),
        _ => {
            let object = g.any_pointer();
            change(g, object);
        }
    }
}

/// A variable of the given width with a value.
fn with_value(g: &mut Generator, width: u32, value: ExprId) -> VarId {
    let var = g.local(false);
    g.program.vars[var].width = width;
    g.assign(var, value);
    var
}
fn store_byte(g: &mut Generator, addr: ExprId) {
    let any = g.int_expr(0);
    let x = &mut g.program.exprs;
    let value = [x.int(8, 0), x.int(8, 0), x.int(8, 3), x.resize(8, any)][g.random.below(4)];
    g.emit(Op::Store { addr, value });
}
fn load_byte(g: &mut Generator, addr: ExprId) -> VarId {
    let w = g.width();
    let var = g.local(true);
    g.program.vars[var].width = 8;
    g.emit(Op::Load { var, addr });
    let byte = g.program.var_expr(var);
    if g.random.chance(60) {
        return var;
    }
    let wide = g.program.exprs.zext(w, byte);
    with_value(g, w, wide)
}
/// A loop that runs while the value of `cond` is not 0. The condition and the body share a frame.
fn while_not_null(
    g: &mut Generator,
    mut cond: impl FnMut(&mut Generator) -> ExprId,
    body: impl FnOnce(&mut Generator),
) {
    let (head, inner, exit) = (g.new_loc(), g.new_loc(), g.new_loc());
    g.program.add_edge(g.at, Op::Skip, head, None);
    g.at = head;
    let cond = cond(g);
    g.program.add_branch(g.at, cond, inner, exit, None);
    g.at = inner;
    body(g);
    g.program.add_edge(g.at, Op::Skip, head, None);
    g.at = exit;
}
fn perhaps(g: &mut Generator, percent: usize, what: impl FnOnce(&mut Generator)) {
    if g.random.chance(percent) {
        let cond = g.condition();
        let join = only_if(g, cond);
        what(g);
        end_if(g, join);
    }
}

/// Changes bytes of an object. Its null byte may disappear or move.
fn change(g: &mut Generator, object: VarId) {
    let w = g.width();
    let (dst, len) = (g.program.var_expr(object), 1 + g.random.below(6) as u64);
    if g.random.chance(70) {
        let (byte, len) = (g.program.exprs.int(8, 5), g.program.exprs.int(w, len));
        g.emit(Op::Fill { dst, byte, len });
    }
    if g.random.chance(70) {
        let by = up_to(g, 3);
        let addr = g.program.exprs.add(dst, by);
        let value = g.program.exprs.int(8, 0);
        g.emit(Op::Store { addr, value });
    }
}

/// Stores the address of the object in other pointers, and uses these.
fn lend(g: &mut Generator, object: VarId) {
    for _ in 0..2 {
        let (to, value) = (g.any_pointer(), g.program.var_expr(object));
        g.assign(to, value);
    }
    match (g.random.below(3), g.eraser) {
        (0, _) => g.call(),
        (1, Some(eraser)) => {
            let args = [object, g.any_int()].map(|var| g.program.var_expr(var)).into();
            g.emit(Op::Call { callee: Callee::Direct(eraser), args, varargs: None, result: None });
        }
        _ => {
            let object = g.any_pointer();
            change(g, object);
        }
    }
}

/// A function that changes the object that its argument points to.
pub(super) fn eraser(g: &mut Generator) -> FuncId {
    let id = g.program.add_function("erase", g.int, Some(32));
    let [object, n] = [(g.pointer, g.width()), (g.int, 32)].map(|(ty, width)| {
        let param = g.program.vars.push(Var { name: None, ty, width, kind: VarKind::Param(id), place: None });
        g.program.funcs[id].params.push(param);
        param
    });
    (g.at, g.ints, g.pointers) = (g.program.funcs[id].entry, vec![n], vec![object]);
    change(g, object);
    let (zero, sink) = (g.program.exprs.int(32, 0), g.new_loc());
    g.program.add_edge(g.at, Op::Return { value: Some(zero) }, sink, None);
    id
}

/// Writes a string into a new object, or into an existing object that other pointers may point to.
fn text(g: &mut Generator) -> (VarId, Option<AllocKind>) {
    let w = g.width();
    let size = 4 + g.random.below(8) as u64;
    let (base, kind) = (g.local(false), [AllocKind::MALLOC, AllocKind::Stack][g.random.below(2)]);
    let (bytes, zeroed) = (g.program.exprs.int(w, size), g.random.chance(20));
    let is_new = g.random.chance(75);
    if is_new {
        g.emit(Op::Alloc { var: base, size: bytes, align: 1, kind, zeroed });
    } else {
        let addr = g.pointer_addr();
        g.emit(Op::Load { var: base, addr });
    }
    let dst = g.program.var_expr(base);
    if g.random.chance(80) {
        let byte = g.program.exprs.int(8, [5, 5, 5, 0][g.random.below(4)]);
        g.emit(Op::Fill { dst, byte, len: bytes });
    }
    if g.random.chance(80) {
        let by = up_to(g, 3);
        let addr = g.program.exprs.add(dst, by);
        let value = g.program.exprs.int(8, 0);
        g.emit(Op::Store { addr, value });
    }
    perhaps(g, 30, |g| {
        let addr = at_offset(g, base, 1);
        store_byte(g, addr);
    });
    (base, is_new.then_some(kind))
}

/// Traverses a string and may change it meanwhile.
fn string(g: &mut Generator, depth: usize) {
    let w = g.width();
    let (base, kind) = text(g);
    let dst = g.program.var_expr(base);
    if depth > 0 && g.random.chance(30) {
        lend(g, base);
    }
    let skipped = g.random.below(2) as u64;
    let from = at_offset(g, base, skipped);
    let by_index = g.random.chance(40);
    let start = if by_index { g.program.exprs.int(w, 0) } else { from };
    let at = with_value(g, w, start);
    let ahead = g.random.chance(30);
    let address = |g: &mut Generator| {
        let at = g.program.var_expr(at);
        if by_index { g.program.exprs.add(from, at) } else { at }
    };
    let changes = g.random.chance(40);
    let stride = [1, 1, 1, 1, 2][g.random.below(5)];
    let read = |g: &mut Generator| {
        let addr = address(g);
        // As in `*p++`.
        let addr = match ahead {
            false => addr,
            true => {
                let before = with_value(g, w, addr);
                let next = at_offset(g, at, 1);
                g.assign(at, next);
                g.program.var_expr(before)
            }
        };
        let byte = load_byte(g, addr);
        let e = g.program.var_expr(byte);
        let zero = g.program.exprs.int(g.program.vars[byte].width, 0);
        let is_null = g.program.exprs.eq(e, zero);
        g.program.exprs.not(is_null)
    };
    while_not_null(g, read, |g| {
        if changes {
            perhaps(g, 100, |g| {
                let addr = if g.random.chance(50) { address(g) } else { at_offset(g, base, 2) };
                store_byte(g, addr);
            });
        }
        if !ahead {
            let next = at_offset(g, at, stride);
            g.assign(at, next);
        }
    });
    let end = address(g);
    if depth > 0 && g.random.chance(40) {
        lend(g, base);
    }
    match g.random.below(5) {
        0 => store_byte(g, end),
        1 => {
            let one = g.program.exprs.int(w, 1);
            let addr = g.program.exprs.add(end, one);
            load_byte(g, addr);
        }
        2 | 3 => {
            // The length of the string, and an allocation of that size.
            let length = g.program.exprs.sub(end, from);
            let length = with_value(g, w, length);
            let [more, too] = [(); 2].map(|()| g.random.below(2) as u64);
            let size = at_offset(g, length, more);
            let copy = g.local(false);
            g.emit(Op::Alloc { var: copy, size, align: 1, kind: AllocKind::MALLOC, zeroed: false });
            let dst = g.program.var_expr(copy);
            let len = at_offset(g, length, too);
            g.emit(Op::Copy { dst, src: from, len });
        }
        _ => {
            load_byte(g, end);
        }
    }
    let to = g.any_pointer();
    g.assign(to, dst);
    if let Some(kind) = kind.filter(|_| g.random.chance(30)) {
        g.emit(Op::Free { ptr: dst, family: kind.family().unwrap() });
    }
}

/// An object with a variable number of elements. The code visits these, and sometimes a few more.
fn elements(g: &mut Generator, depth: usize) {
    let w = g.width();
    let count = up_to(g, 7);
    let n = with_value(g, w, count);
    let base = g.local(false);
    let stride = [1, 4, 8, 12][g.random.below(4)];
    let size = |g: &mut Generator, more: u64| {
        let (n, stride) = (g.program.var_expr(n), g.program.exprs.int(w, stride));
        let product = g.program.exprs.mul(n, stride);
        let more = g.program.exprs.int(w, more);
        g.program.exprs.add(product, more)
    };
    let more = [0, 0, 4, 8][g.random.below(4)];
    let bytes = size(g, more);
    let kind = [AllocKind::MALLOC, AllocKind::Stack][g.random.below(2)];
    let zeroed = g.random.chance(50);
    g.emit(Op::Alloc { var: base, size: bytes, align: 4, kind, zeroed });
    if depth > 0 && g.random.chance(30) {
        g.call();
    }
    perhaps(g, 30, |g| {
        let by = [1, u64::MAX][g.random.below(2)];
        let next = at_offset(g, n, by);
        g.assign(n, next);
    });
    let zero = g.program.exprs.int(w, 0);
    let i = with_value(g, w, zero);
    let order = g.random.below(4);
    let goes_on = |g: &mut Generator| {
        let (i, n) = (g.program.var_expr(i), g.program.var_expr(n));
        let x = &mut g.program.exprs;
        match order {
            0 => x.ule(i, n),
            1 => {
                let is_end = x.eq(i, n);
                x.not(is_end)
            }
            _ => x.ult(i, n),
        }
    };
    while_not_null(g, goes_on, |g| {
        let (at, by) = (g.program.var_expr(i), g.program.exprs.int(w, stride));
        let at = g.program.exprs.mul(at, by);
        let base = g.program.var_expr(base);
        let addr = g.program.exprs.add(base, at);
        let width = [8, 32, 64][g.random.below(3)];
        let value = g.program.exprs.int(width, 7);
        g.emit(Op::Store { addr, value });
        perhaps(g, 30, |g| {
            let by = [1, u64::MAX][g.random.below(2)];
            let next = at_offset(g, n, by);
            g.assign(n, next);
        });
        let next = at_offset(g, i, 1);
        g.assign(i, next);
    });
    if g.random.chance(40) {
        let end = size(g, 0);
        let base = g.program.var_expr(base);
        let addr = g.program.exprs.add(base, end);
        load_byte(g, addr);
    }
    let (to, value) = (g.any_pointer(), g.program.var_expr(base));
    g.assign(to, value);
    if g.random.chance(30) {
        g.emit(Op::Free { ptr: value, family: kind.family().unwrap() });
    }
}

/// A pointer that moves from one location of an object to another, upwards or downwards.
fn walked(g: &mut Generator) {
    let w = g.width();
    let (base, stride) = (g.local(false), [1, 4, 8][g.random.below(3)]);
    let count = up_to(g, 7);
    let size = match g.random.chance(50) {
        true => {
            let stride = g.program.exprs.int(w, stride);
            g.program.exprs.mul(count, stride)
        }
        false => g.program.exprs.int(w, [24, 32][g.random.below(2)]),
    };
    let size = with_value(g, w, size);
    let (bytes, kind) = (g.program.var_expr(size), [AllocKind::MALLOC, AllocKind::Stack][g.random.below(2)]);
    let zeroed = g.random.chance(50);
    g.emit(Op::Alloc { var: base, size: bytes, align: 4, kind, zeroed });
    let start = [0, 0, stride, u64::MAX][g.random.below(4)];
    let start = at_offset(g, base, start);
    let p = with_value(g, w, start);
    let last = g.program.var_expr(base);
    let last = g.program.exprs.add(last, bytes);
    let end = with_value(g, w, last);
    perhaps(g, 20, |g| {
        let by = [4, u64::MAX][g.random.below(2)];
        let moved = at_offset(g, end, by);
        g.assign(end, moved);
    });
    let (order, more, is_down) = (g.random.below(5), [0, 0, 1, stride][g.random.below(4)], g.random.chance(30));
    let goes_on = |g: &mut Generator| {
        let (p, end) = (at_offset(g, p, more), g.program.var_expr(end));
        let x = &mut g.program.exprs;
        match order {
            0 => x.ule(p, end),
            1 | 2 => {
                let is_end = x.eq(p, end);
                x.not(is_end)
            }
            _ => x.ult(p, end),
        }
    };
    while_not_null(g, goes_on, |g| {
        let ahead = [0, 0, 0, more][g.random.below(4)];
        let next = if is_down { at_offset(g, end, stride.wrapping_neg()) } else { at_offset(g, p, stride) };
        let at = match is_down {
            true => next,
            false => at_offset(g, p, ahead),
        };
        let at = with_value(g, w, at);
        let is_first = g.random.chance(50);
        let to = if is_down { end } else { p };
        if is_first {
            g.assign(to, next);
        }
        let (addr, value) = (g.program.var_expr(at), g.program.exprs.int([8, 32][g.random.below(2)], 7));
        g.emit(Op::Store { addr, value });
        if !is_first {
            g.assign(to, next);
        }
    });
    let (to, from) = (g.any_pointer(), [base, p, end][g.random.below(3)]);
    let value = g.program.var_expr(from);
    g.assign(to, value);
}
