//! Generates code with objects: of unknown sizes, allocated repeatedly, in scopes and frames. Addresses are moved,
//! compared, stored in memory and returned.

use super::*;

/// The number of pairs in a table.
const TABLE: u64 = 40;

/// Adds local pointers.
pub(super) fn own_pointers(g: &mut Generator) {
    let w = g.width();
    if g.shape.objects {
        for i in 0..2 {
            let v = g.local(false);
            let value = g.program.exprs.global_addr(g.objects[i], w);
            g.assign(v, value);
            g.pointers.push(v);
        }
    }
}
/// A return value of the function.
pub(super) fn result(g: &mut Generator, depth: usize) -> ExprId {
    let func = g.program.locs[g.at].func;
    if g.program.funcs[func].return_type == g.int {
        return g.int_expr(depth);
    }
    let v = g.any_pointer();
    g.program.var_expr(v)
}
/// One of two functions, in some cases through a table.
pub(super) fn one_of(g: &mut Generator, a: ExprId, b: ExprId) -> ExprId {
    let w = g.width();
    let cond = g.condition();
    if !g.shape.objects || g.random.chance(50) {
        return g.program.exprs.ite(cond, a, b);
    }
    let table = sized(g, 16, AllocKind::Stack, false);
    for (offset, value) in [(0, a), (8, b)] {
        let addr = at_offset(g, table, offset);
        g.emit(Op::Store { addr, value });
    }
    let x = &mut g.program.exprs;
    let (zero, eight) = (x.int(w, 0), x.int(w, 8));
    let offset = x.ite(cond, zero, eight);
    let base = g.program.var_expr(table);
    let (var, addr) = (g.local(false), g.program.exprs.add(base, offset));
    g.emit(Op::Load { var, addr });
    g.program.var_expr(var)
}

pub(super) fn object(g: &mut Generator, depth: usize) {
    match g.random.below(20) {
        16..=19 => reaches::reach(g, depth),
        0 | 1 => of_unknown_size(g),
        2 if g.random.chance(50) => append(g),
        2 => grow(g),
        3 if depth > 0 => scope(g, depth),
        4 | 5 => part(g),
        6 => whole(g),
        7 if depth > 0 => walk(g),
        8 => perhaps_null(g),
        9 => difference(g),
        10 => bounded_element(g),
        11 if depth > 0 => again(g),
        12 => look_at_cell(g),
        13 | 14 => of_table(g, depth),
        _ => g.call(),
    }
}

pub(super) fn at_offset(g: &mut Generator, base: VarId, offset: u64) -> ExprId {
    let w = g.width();
    let base = g.program.var_expr(base);
    let offset = g.program.exprs.int(w, offset);
    g.program.exprs.add(base, offset)
}
/// A random number up to `most`, which is one less than a power of two.
pub(super) fn up_to(g: &mut Generator, most: u64) -> ExprId {
    let w = g.width();
    let n = g.int_expr(1);
    let x = &mut g.program.exprs;
    let most = x.int(32, most);
    let n = x.and(n, most);
    x.zext(w, n)
}
fn sized(g: &mut Generator, size: u64, kind: AllocKind, zeroed: bool) -> VarId {
    let w = g.width();
    let var = g.local(false);
    let size = g.program.exprs.int(w, size);
    g.emit(Op::Alloc { var, size, align: 8, kind, zeroed });
    var
}
/// Initialises the pointers in an object.
fn link(g: &mut Generator, object: VarId) {
    for offset in [16, 24] {
        let (addr, to) = (at_offset(g, object, offset), g.any_pointer());
        let value = g.program.var_expr(to);
        g.emit(Op::Store { addr, value });
    }
}
/// Stores the object in a variable that does not outlive it, where possible.
fn keep(g: &mut Generator, object: VarId, kind: AllocKind) {
    let is_local = kind == AllocKind::Stack && !g.pointers.is_empty();
    let to = if is_local { g.pointers[g.random.below(g.pointers.len())] } else { g.any_pointer() };
    let value = g.program.var_expr(object);
    g.assign(to, value);
}
/// Makes the following code conditional, until `end_if` gets the returned location.
pub(super) fn only_if(g: &mut Generator, cond: ExprId) -> LocId {
    let (then, join) = (g.new_loc(), g.new_loc());
    g.program.add_branch(g.at, cond, then, join, None);
    g.at = then;
    join
}
pub(super) fn end_if(g: &mut Generator, join: LocId) {
    g.program.add_edge(g.at, Op::Skip, join, None);
    g.at = join;
}
/// A branch whose sides join immediately.
fn diamond(g: &mut Generator) {
    let cond = g.condition();
    let join = only_if(g, cond);
    end_if(g, join);
}
fn store_or_load(g: &mut Generator, addr: ExprId) {
    if g.random.chance(50) {
        let value = g.int_expr(1);
        g.emit(Op::Store { addr, value });
    } else {
        let var = g.any_int();
        g.emit(Op::Load { var, addr });
    }
}

fn of_unknown_size(g: &mut Generator) {
    let w = g.width();
    let object = g.local(false);
    let n = up_to(g, 7);
    let x = &mut g.program.exprs;
    let least = [32, 32, 32, 32, 24][g.random.below(5)];
    let (eight, base) = (x.int(w, 8), x.int(w, least));
    let rows = x.mul(n, eight);
    let size = x.add(rows, base);
    // The size variable may change later, but the size of the object does not.
    let rows_then = g.local(false);
    g.assign(rows_then, rows);
    let kind = [AllocKind::MALLOC, AllocKind::Stack][g.random.below(2)];
    let zeroed = g.random.chance(40);
    g.emit(Op::Alloc { var: object, size, align: 8, kind, zeroed });
    if g.random.chance(40) {
        let dst = g.program.var_expr(object);
        let (byte, len) = (g.program.exprs.int(8, [0, 0, 3][g.random.below(3)]), base);
        let len = if g.random.chance(70) { len } else { size };
        g.emit(Op::Fill { dst, byte, len });
    }
    link(g, object);
    for _ in 0..2 {
        let row = g.random.below(7) as u64 + 1;
        let bound = g.program.exprs.int(w, 8 * row);
        let rows = g.program.var_expr(rows_then);
        let cond = g.program.exprs.ule(bound, rows);
        let join = only_if(g, cond);
        let addr = at_offset(g, object, least + 8 * (row - 1));
        store_or_load(g, addr);
        end_if(g, join);
    }
    keep(g, object, kind);
}

/// Grows an object, like `realloc`.
fn grow(g: &mut Generator) {
    let w = g.width();
    let (object, next, size_of) = (sized(g, 32, AllocKind::MALLOC, true), g.local(false), g.local(false));
    link(g, object);
    keep(g, object, AllocKind::MALLOC);
    let cond = g.condition();
    let join = only_if(g, cond);
    let n = up_to(g, 3);
    let ptr = g.program.var_expr(object);
    g.emit(Op::ObjectSize { var: size_of, ptr, family: None });
    let old = g.program.var_expr(size_of);
    let x = &mut g.program.exprs;
    let sixteen = x.int(w, 16);
    let more = x.mul(n, sixteen);
    let size = x.add(more, sixteen);
    g.emit(Op::Alloc { var: next, size, align: 8, kind: AllocKind::MALLOC, zeroed: false });
    let is_less = g.program.exprs.ult(old, size);
    let dst = g.program.var_expr(next);
    if g.random.chance(50) {
        let len = g.program.exprs.ite(is_less, old, size);
        g.emit(Op::Copy { dst, src: ptr, len });
    } else {
        let len = g.local(false);
        g.assign(len, size);
        let join = only_if(g, is_less);
        g.assign(len, old);
        end_if(g, join);
        let len = g.program.var_expr(len);
        g.emit(Op::Copy { dst, src: ptr, len });
    }
    if g.random.chance(70) {
        g.emit(Op::Free { ptr, family: Family::Malloc });
    }
    g.assign(object, dst);
    end_if(g, join);
    let offset = 4 * g.random.below(4) as u64;
    let addr = at_offset(g, object, offset);
    store_or_load(g, addr);
    keep(g, object, AllocKind::MALLOC);
    if g.random.chance(30) {
        let ptr = g.program.var_expr(object);
        g.emit(Op::Free { ptr, family: Family::Malloc });
    }
}

/// Appends bytes to an object that is replaced by a larger one when it is full.
fn append(g: &mut Generator) {
    let w = g.width();
    let [object, next, length, room, size_of] = [(); 5].map(|()| g.local(false));
    let (first, turns, slack) = (1 + g.random.below(6) as u64, 2 + g.random.below(20) as u64, g.random.below(3) as u64);
    let x = &mut g.program.exprs;
    let (first, turns, slack) = (x.int(w, first), x.int(w, turns), x.int(w, slack));
    let (zero, one) = (x.int(w, 0), x.int(w, 1));
    g.assign(length, zero);
    g.assign(room, first);
    let [base, larger, n, size] = [object, next, length, room].map(|var| g.program.var_expr(var));
    g.emit(Op::Alloc { var: object, size, align: 8, kind: AllocKind::MALLOC, zeroed: false });
    let (head, body, exit) = (g.new_loc(), g.new_loc(), g.new_loc());
    g.program.add_edge(g.at, Op::Skip, head, None);
    let goes_on = g.program.exprs.ult(n, turns);
    g.program.add_branch(head, goes_on, body, exit, None);
    g.at = body;
    let needed = g.program.exprs.add(n, slack);
    let is_full = match g.random.below(3) {
        0 => g.program.exprs.eq(needed, size),
        1 => g.program.exprs.ult(size, needed),
        _ => g.program.exprs.ule(size, needed),
    };
    let join = only_if(g, is_full);
    let (two, step) = (g.program.exprs.int(w, 2), g.program.exprs.int(w, 1 + g.random.below(8) as u64));
    let more = if g.random.chance(70) { g.program.exprs.mul(size, two) } else { g.program.exprs.add(size, step) };
    g.assign(room, more);
    g.emit(Op::ObjectSize { var: size_of, ptr: base, family: Some(Family::Malloc) });
    g.emit(Op::Alloc { var: next, size, align: 8, kind: AllocKind::MALLOC, zeroed: false });
    let old = g.program.var_expr(size_of);
    let len = g.local(false);
    g.assign(len, size);
    let is_less = g.program.exprs.ult(old, size);
    let copies_all = only_if(g, is_less);
    g.assign(len, old);
    end_if(g, copies_all);
    let len = g.program.var_expr(len);
    g.emit(Op::Copy { dst: larger, src: base, len });
    if g.random.chance(80) {
        g.emit(Op::Free { ptr: base, family: Family::Malloc });
    }
    g.assign(object, larger);
    end_if(g, join);
    let (addr, value) = (g.program.exprs.add(base, n), g.program.exprs.int(8, 1));
    g.emit(Op::Store { addr, value });
    let after = g.program.exprs.add(n, one);
    g.assign(length, after);
    g.program.add_edge(g.at, Op::Skip, head, None);
    g.at = exit;
    keep(g, object, AllocKind::MALLOC);
}

fn scope(g: &mut Generator, depth: usize) {
    let object = sized(g, OBJECT_SIZE, AllocKind::Stack, false);
    link(g, object);
    keep(g, object, AllocKind::Stack);
    g.block(depth - 1);
    let ptr = g.program.var_expr(object);
    g.emit(Op::Free { ptr, family: Family::Scope });
}

/// A pointer, often to the start of a global object.
fn start(g: &mut Generator) -> VarId {
    let w = g.width();
    if g.random.chance(60) {
        return g.any_pointer();
    }
    let (p, object) = (g.local(false), g.objects[g.random.below(3)]);
    let value = g.program.exprs.global_addr(object, w);
    g.assign(p, value);
    p
}

/// Accesses integers of any width that overlap one another.
fn part(g: &mut Generator) {
    let w = g.width();
    let width = [8, 16, 24, 32, 64, 20, 64, 128][g.random.below(8)];
    let len = u64::from(u32::div_ceil(width, 8));
    let base = start(g);
    let offset = g.random.below((17 - len) as usize) as u64;
    let mut addr = at_offset(g, base, offset);
    if g.random.chance(40) {
        let (n, stride) = (up_to(g, 3), [1, 2, 4, 8][g.random.below(4)]);
        let stride = g.program.exprs.int(w, stride);
        let by = g.program.exprs.mul(n, stride);
        let from = g.program.var_expr(base);
        addr = g.program.exprs.add(from, by);
    }
    if g.random.chance(50) {
        let (a, mut b) = (g.int_expr(0), g.int_expr(1));
        if g.random.chance(40) {
            b = g.program.exprs.int(32, 0x01_02_03_04);
        }
        let x = &mut g.program.exprs;
        let pair = x.concat(a, b);
        let four = x.concat(pair, pair);
        let value = x.resize(width, if width > 64 { four } else { pair });
        g.emit(Op::Store { addr, value });
        return;
    }
    let (var, to) = (g.local(true), g.any_int());
    g.program.vars[var].width = width;
    g.emit(Op::Load { var, addr });
    let value = g.program.var_expr(var);
    let value = g.program.exprs.resize(32, value);
    g.assign(to, value);
}

/// Copies or fills memory, usually a whole object.
fn whole(g: &mut Generator) {
    let w = g.width();
    let (a, b) = (start(g), start(g));
    let n = up_to(g, 3);
    let eight = g.program.exprs.int(w, 8);
    let some = g.program.exprs.mul(n, eight);
    let all = g.program.exprs.int(w, [16, 32, 12][g.random.below(3)]);
    let len = if g.random.chance(60) { all } else { some };
    if g.random.chance(70) {
        let offset = [0, 0, 4][g.random.below(3)];
        let (dst, src) = (at_offset(g, a, offset), g.program.var_expr(b));
        g.emit(Op::Copy { dst, src, len });
        return;
    }
    let (dst, byte) = (g.program.var_expr(a), g.program.exprs.int(8, [0, 0, 7][g.random.below(3)]));
    g.emit(Op::Fill { dst, byte, len });
    link(g, a);
}

/// A pointer that traverses an object.
fn walk(g: &mut Generator) {
    let (p, i, read) = (g.local(false), g.local(true), g.local(true));
    let from = g.any_pointer();
    let backwards = g.random.chance(40);
    let stride = [4, 4, 8, 2][g.random.below(4)];
    let turns = [2, 3, 4, 4, 8][g.random.below(5)].min(16 / stride);
    let start = at_offset(g, from, if backwards { stride * turns } else { 0 });
    g.assign(p, start);
    let zero = g.program.exprs.int(32, 0);
    g.assign(i, zero);
    let (head, body, exit) = (g.new_loc(), g.new_loc(), g.new_loc());
    g.program.add_edge(g.at, Op::Skip, head, None);
    let (e, bound) = (g.program.var_expr(i), g.program.exprs.int(32, turns));
    let cond = g.program.exprs.slt(e, bound);
    g.program.add_branch(head, cond, body, exit, None);
    g.at = body;
    let one = g.program.exprs.int(32, 1);
    let next = g.program.exprs.add(e, one);
    g.assign(i, next);
    let moved = at_offset(g, p, if backwards { stride.wrapping_neg() } else { stride });
    if backwards {
        g.assign(p, moved);
    }
    let addr = g.program.var_expr(p);
    g.emit(Op::Load { var: read, addr });
    let value = g.program.var_expr(read);
    let to = g.any_int();
    g.assign(to, value);
    if g.random.chance(40) {
        let end = g.program.exprs.eq(value, zero);
        let next = g.new_loc();
        g.program.add_branch(g.at, end, exit, next, None);
        g.at = next;
    }
    if !backwards {
        g.assign(p, moved);
    }
    g.program.add_edge(g.at, Op::Skip, head, None);
    g.at = exit;
    if g.random.chance(30) {
        let (addr, to) = (g.program.var_expr(p), g.any_int());
        g.emit(Op::Load { var: to, addr });
    }
}

fn perhaps_null(g: &mut Generator) {
    let w = g.width();
    let (p, from) = (g.local(false), g.any_pointer());
    let (cond, address) = (g.condition(), g.program.var_expr(from));
    let null = g.program.exprs.int(w, 0);
    let value = g.program.exprs.ite(cond, address, null);
    g.assign(p, value);
    if g.random.chance(30) {
        g.assign(from, value);
    }
    let e = g.program.var_expr(p);
    let is_null = g.program.exprs.eq(e, null);
    let is_some = g.program.exprs.not(is_null);
    let join = only_if(g, is_some);
    let offset = 4 * g.random.below(4) as u64;
    let addr = at_offset(g, p, offset);
    store_or_load(g, addr);
    end_if(g, join);
}

/// The distance between two pointers into the same object or into different ones.
fn difference(g: &mut Generator) {
    let w = g.width();
    let (a, by, b) = (g.any_pointer(), g.local(false), g.local(false));
    let n = up_to(g, 3);
    let four = g.program.exprs.int(w, 4);
    let n = g.program.exprs.mul(n, four);
    let base = g.program.var_expr(a);
    let moved = g.program.exprs.add(base, n);
    g.assign(b, moved);
    let (other, to) = (g.any_pointer(), g.any_int());
    let is_same = g.random.chance(70);
    let other = if is_same { base } else { g.program.var_expr(other) };
    let end = g.program.var_expr(b);
    let distance = g.program.exprs.sub(end, other);
    g.assign(by, distance);
    let by = g.program.var_expr(by);
    let low = g.program.exprs.extract(31, 0, by);
    g.assign(to, low);
    // In C, no distance leads from one object to another.
    if is_same {
        let addr = g.program.exprs.add(other, by);
        store_or_load(g, addr);
    }
}

/// Accesses an element at an index that a condition bounds, with arithmetic that may wrap around.
fn bounded_element(g: &mut Generator) {
    let w = g.width();
    let (i, p) = (g.local(true), g.any_pointer());
    let e = g.int_expr(2);
    g.assign(i, e);
    let index = g.program.var_expr(i);
    let x = &mut g.program.exprs;
    let (low, bound) = (x.int(32, g.random.below(3) as u64), x.int(32, 4));
    let from = x.sub(index, low);
    let inside = match g.random.below(3) {
        0 => x.ult(from, bound),
        1 => x.slt(from, bound),
        _ => x.ult(index, bound),
    };
    let join = only_if(g, inside);
    let x = &mut g.program.exprs;
    let index = if g.random.chance(50) { from } else { index };
    let wide = if g.random.chance(50) { x.zext(w, index) } else { x.sext(w, index) };
    let four = x.int(w, 4);
    let offset = x.mul(wide, four);
    let base = g.program.var_expr(p);
    let addr = g.program.exprs.add(base, offset);
    store_or_load(g, addr);
    end_if(g, join);
}

/// Allocates objects in a loop. Some are kept, some are freed.
fn again(g: &mut Generator) {
    let w = g.width();
    let i = g.local(true);
    let zero = g.program.exprs.int(32, 0);
    g.assign(i, zero);
    let (head, body, exit) = (g.new_loc(), g.new_loc(), g.new_loc());
    g.program.add_edge(g.at, Op::Skip, head, None);
    let (e, bound) = (g.program.var_expr(i), g.program.exprs.int(32, 1 + g.random.below(5) as u64));
    let cond = g.program.exprs.slt(e, bound);
    g.program.add_branch(head, cond, body, exit, None);
    g.at = body;
    let one = g.program.exprs.int(32, 1);
    let next = g.program.exprs.add(e, one);
    g.assign(i, next);
    let (kind, zeroed) =
        ([AllocKind::MALLOC, AllocKind::MALLOC, AllocKind::Stack][g.random.below(3)], g.random.chance(50));
    let object = sized(g, OBJECT_SIZE, kind, zeroed);
    link(g, object);
    let addr = g.program.var_expr(object);
    if g.random.chance(50) {
        g.emit(Op::Store { addr, value: e });
    }
    if g.random.chance(30) {
        let from = g.any_pointer();
        let (src, len) = (g.program.var_expr(from), g.program.exprs.int(w, 16));
        let cond = g.condition();
        let join = only_if(g, cond);
        g.emit(Op::Copy { dst: addr, src, len });
        diamond(g);
        end_if(g, join);
    }
    let cond = g.condition();
    let join = only_if(g, cond);
    keep(g, object, kind);
    end_if(g, join);
    if kind == AllocKind::MALLOC && g.random.chance(30) || kind == AllocKind::Stack && g.random.chance(50) {
        let cond = g.condition();
        let join = only_if(g, cond);
        let ptr = g.program.var_expr(object);
        g.emit(Op::Free { ptr, family: kind.family().unwrap() });
        end_if(g, join);
    }
    g.program.add_edge(g.at, Op::Skip, head, None);
    g.at = exit;
}

/// A condition on a loaded value also holds for the memory cell, unless one of them has changed.
fn look_at_cell(g: &mut Generator) {
    let (base, var, offset) = (g.any_pointer(), g.any_int(), 4 * g.random.below(4) as u64);
    let addr = at_offset(g, base, offset);
    g.emit(Op::Load { var, addr });
    let value = g.int_expr(1);
    match g.random.below(4) {
        0 => drop(g.assign(var, value)),
        1 => {
            let other = g.any_pointer();
            let addr = at_offset(g, other, offset);
            g.emit(Op::Store { addr, value });
        }
        2 => {
            let other = g.any_pointer();
            let at = offset + g.random.below(7) as u64;
            let addr = at_offset(g, other, at.saturating_sub(3).min(15));
            let value = g.program.exprs.extract(7, 0, value);
            g.emit(Op::Store { addr, value });
        }
        _ => {}
    }
    let (read, bound) = (g.program.var_expr(var), g.random.below(9) as u64);
    let bound = g.program.exprs.int(32, bound);
    let cond = if g.random.chance(50) { g.program.exprs.eq(read, bound) } else { g.program.exprs.ult(read, bound) };
    let join = only_if(g, cond);
    let to = g.any_int();
    g.emit(Op::Load { var: to, addr });
    diamond(g);
    end_if(g, join);
}

/// Accesses an element of a table of pairs: at an index with many values, or through a pointer that moves up and down.
fn of_table(g: &mut Generator, depth: usize) {
    let w = g.width();
    let Some(&table) = g.tables.first() else { return };
    let base = g.program.exprs.global_addr(table, w);
    let half = 4 * g.random.below(2) as u64;
    if depth == 0 || g.random.chance(50) {
        let n = g.int_expr(1);
        let x = &mut g.program.exprs;
        let most = x.int(32, [31, 63, 127][g.random.below(3)]);
        let pairs = x.int(32, TABLE);
        let (n, eight, half) = (x.and(n, most), x.int(w, 8), x.int(w, half));
        let inside = x.ult(n, pairs);
        let wide = x.zext(w, n);
        let offset = x.mul(wide, eight);
        let (at, join) = (x.add(base, half), only_if(g, inside));
        let addr = g.program.exprs.add(at, offset);
        let var = g.any_int();
        let op = match g.random.chance(80) {
            true => Op::Load { var, addr },
            false => Op::Store { addr, value: g.program.exprs.int(32, 5) },
        };
        g.emit(op);
        return end_if(g, join);
    }
    let (p, i) = (g.local(false), g.local(true));
    let turns = [3, 20, 30][g.random.below(3)];
    let x = &mut g.program.exprs;
    let (start, zero, bound) = (x.int(w, 8 * (TABLE / 2) + half), x.int(32, 0), x.int(32, turns));
    let start = x.add(base, start);
    g.assign(p, start);
    g.assign(i, zero);
    let (head, body, exit) = (g.new_loc(), g.new_loc(), g.new_loc());
    g.program.add_edge(g.at, Op::Skip, head, None);
    let e = g.program.var_expr(i);
    let cond = g.program.exprs.slt(e, bound);
    g.program.add_branch(head, cond, body, exit, None);
    g.at = body;
    let one = g.program.exprs.int(32, 1);
    let next = g.program.exprs.add(e, one);
    g.assign(i, next);
    let (up, down) = (at_offset(g, p, 8), at_offset(g, p, 8u64.wrapping_neg()));
    let cond = g.condition();
    let by_condition = g.program.exprs.ite(cond, up, down);
    let moved = [up, down, by_condition][g.random.below(3)];
    g.assign(p, moved);
    let (var, addr) = (g.any_int(), g.program.var_expr(p));
    g.emit(Op::Load { var, addr });
    g.program.add_edge(g.at, Op::Skip, head, None);
    g.at = exit;
}

/// A global object of pairs whose second component is zero.
pub(super) fn table(program: &mut Program, ty: TypeId) -> GlobalId {
    let bytes = (0..TABLE * 8).map(|i| u8::from(i % 8 == 0)).collect();
    let init = Some(GlobalInit { bytes, pointers: Vec::new() });
    let name = "table".into();
    program.globals.push(Global {
        name,
        ty,
        size: TABLE * 8,
        align: 8,
        read_only: false,
        is_static: false,
        init,
        place: None,
    })
}
