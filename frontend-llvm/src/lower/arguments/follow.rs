//! The function that replaces a token by the address of its target.

use super::{CreatedObjects, KIND, NUMBER, call, element_at, whereabouts};
use crate::lower::Context;
use crate::lower::builder::{Builder, Cursor};
use crate::options::EntryPointers;
use cfa::{ExprId, GlobalId, Id, InputKind, Op, TypeId, VarId};

/// Creates the body of that function.
pub(super) fn finish(cx: &mut Context) {
    let Some(lazy) = &cx.lazy else { return };
    let (func, table, made, kinds) = (lazy.follow, lazy.table, lazy.made, lazy.kinds.clone());
    let pointers = cx.options.entry_memory.pointers;
    let param = cx.program.funcs[func].params[0];
    let mut b = Builder::new(cx, func);
    let width = b.pointer_width();
    let token = b.var_expr(param);
    let (_, in_placeholder) = whereabouts(&mut b, token);
    let of_function = b.x().not(in_placeholder);
    b.when(of_function, |b| follow_to_function(b, token, table, pointers));
    let slot = b.offset(token, u64::from(width / 8));
    unless_known(&mut b, slot);
    let which = b.load(token, width);
    let which = b.pin(which);
    let (null, taken) = (b.size(0), b.size(1));
    let object = b.temp(width);
    for (n, kind) in kinds.iter().enumerate().filter(|(_, kind)| !kind.alone) {
        let this = b.size(n as u64);
        let is_this = b.x().eq(which, this);
        let name = b.cx.program.type_name(kind.target);
        let nullable = pointers != EntryPointers::Valid || b.cx.is_recursive(kind.target);
        b.when(is_this, |b| {
            if nullable {
                choose(b, &format!("{name} * is null"), |b| {
                    b.store(slot, taken);
                    b.finish(Op::Return { value: Some(null) });
                });
            }
            if let Some(CreatedObjects { number, list: Some(list) }) = made {
                known_object(b, number, list, kind.target, &format!("{name} * points to an existing object"), slot);
            }
            call(b, kind.make, &[], object);
            let object = b.var_expr(object);
            b.store(slot, object);
            b.finish(Op::Return { value: Some(object) });
        });
    }
    b.halt(cfa::HaltKind::Assumed);
}

/// A function token leads to itself or to null, as chosen on the first dereference.
fn follow_to_function(b: &mut Builder, token: ExprId, table: GlobalId, pointers: EntryPointers) {
    let width = b.pointer_width();
    let number = b.x().extract(KIND - 1, NUMBER, token);
    let number = b.x().resize(width, number);
    let slot = element_at(b, table, number);
    unless_known(b, slot);
    if pointers != EntryPointers::Valid {
        choose(b, "pointer to a function is null", |b| {
            let (null, taken) = (b.size(0), b.size(1));
            b.store(slot, taken);
            b.finish(Op::Return { value: Some(null) });
        });
    }
    b.store(slot, token);
    b.finish(Op::Return { value: Some(token) });
}

/// Returns the address in a slot, if it is set. 1 represents null.
fn unless_known(b: &mut Builder, slot: ExprId) {
    let (null, taken) = (b.size(0), b.size(1));
    let known = b.load(slot, b.pointer_width());
    let is_known = b.x().ne(known, null);
    b.when(is_known, |b| {
        let is_null = b.x().eq(known, taken);
        let value = b.x().ite(is_null, null, known);
        b.finish(Op::Return { value: Some(value) });
    });
}

/// Executes `body` or not, depending on an input.
fn choose(b: &mut Builder, what: &str, body: impl FnOnce(&mut Builder)) {
    let bool_type = b.cx.source.nondet_type(&mut b.cx.program, "bool", 8);
    let choice = b.havoc(8, InputKind::Argument(what.to_owned()), bool_type);
    let zero = b.int(8, 0);
    let chosen = b.x().ne(choice, zero);
    b.when(chosen, body);
}

/// Returns one of the existing objects of a type, or continues, depending on inputs.
fn known_object(
    b: &mut Builder,
    count: VarId,
    (objects, types): (GlobalId, GlobalId),
    target: TypeId,
    what: &str,
    slot: ExprId,
) {
    let width = b.pointer_width();
    let (index_var, zero, one) = (b.temp(width), b.size(0), b.size(1));
    b.emit(Op::Assign { var: index_var, value: zero });
    let Some(head) = b.here() else { return };
    let (body, after) = (b.new_location(), b.new_location());
    let (index, end) = (b.var_expr(index_var), b.var_expr(count));
    let more = b.x().ult(index, end);
    b.branch(more, body, after);
    b.cursor = Cursor::At(body);
    let at = element_at(b, types, index);
    let (ty, wanted) = (b.load(at, width), b.size(target.index() as u64));
    let same = b.x().eq(ty, wanted);
    b.when(same, |b| {
        choose(b, what, |b| {
            let at = element_at(b, objects, index);
            let object = b.load(at, width);
            b.store(slot, object);
            b.finish(Op::Return { value: Some(object) });
        });
    });
    let next = b.x().add(index, one);
    b.emit(Op::Assign { var: index_var, value: next });
    b.goto(head);
    b.cursor = Cursor::At(after);
}
