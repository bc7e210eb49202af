//! Operations that fault.

use super::*;

type Case = (Fault, fn(&mut Build));

#[test]
fn accesses_that_fault() {
    let cases: &[Case] = &[
        (Fault::NullPointer, |b| {
            let null = b.ptr(0);
            b.load(null, 8);
        }),
        (Fault::NullPointer, |b| {
            let field = b.ptr(16);
            b.store(field, 8, 1);
        }),
        (Fault::OutOfBounds, |b| {
            let p = b.alloc(10, AllocKind::Stack);
            let end = b.at(p, 10);
            b.load(end, 8);
        }),
        (Fault::OutOfBounds, |b| {
            let p = b.alloc(10, AllocKind::MALLOC);
            let tail = b.at(p, 8);
            b.store(tail, 32, 0);
        }),
        (Fault::OutOfBounds, |b| {
            b.alloc(10, AllocKind::Stack);
            let p = b.alloc(10, AllocKind::Stack);
            let before = b.at(p, -1);
            b.load(before, 8);
        }),
        (Fault::OutOfBounds, |b| {
            let p = b.alloc(0, AllocKind::MALLOC);
            b.load(p, 8);
        }),
        (Fault::OutOfBounds, |b| {
            let (p, q) = (b.alloc(10, AllocKind::Stack), b.alloc(9, AllocKind::Stack));
            let len = b.ptr(10);
            b.op(Op::Copy { dst: p, src: q, len });
        }),
        (Fault::OutOfBounds, |b| {
            let main = b.p.entry;
            let code = b.p.exprs.func_addr(main, b.p.layout.pointer_width);
            b.load(code, 8);
        }),
        (Fault::ReadOnly, |b| {
            let ty = b.ty;
            let g = b.p.globals.push(Global {
                name: "c".into(),
                ty,
                size: 4,
                align: 4,
                read_only: true,
                is_static: false,
                init: Some(GlobalInit { bytes: vec![1, 2], pointers: vec![] }),
                place: None,
            });
            let g = b.p.exprs.global_addr(g, b.p.layout.pointer_width);
            b.load(g, 32);
            b.store(g, 8, 1);
        }),
    ];
    each_faults(cases);
}

#[test]
fn ends_of_objects_and_calls_that_fault() {
    let cases: &[Case] = &[
        (Fault::Dangling, |b| {
            let p = b.alloc(10, AllocKind::MALLOC);
            b.op(Op::Free { ptr: p, family: Family::Malloc });
            b.load(p, 8);
        }),
        (Fault::Dangling, |b| {
            let width = b.p.layout.pointer_width;
            let f = b.function(&[], Some(width), |b, _, _| {
                let p = b.alloc(4, AllocKind::Stack);
                b.op(Op::Return { value: Some(p) });
            });
            let p = b.var(width);
            b.call(Callee::Direct(f), &[], Some(p));
            let p = b.get(p);
            b.store(p, 8, 1);
        }),
        (Fault::DoubleFree, |b| {
            let p = b.alloc(10, AllocKind::MALLOC);
            b.op(Op::Free { ptr: p, family: Family::Malloc });
            b.op(Op::Free { ptr: p, family: Family::Malloc });
        }),
        (Fault::InvalidFree, |b| {
            let p = b.alloc(10, AllocKind::Stack);
            b.op(Op::Free { ptr: p, family: Family::Malloc });
        }),
        (Fault::InvalidFree, |b| {
            let p = b.alloc(10, AllocKind::MALLOC);
            let inner = b.at(p, 4);
            b.op(Op::Free { ptr: inner, family: Family::Malloc });
        }),
        (Fault::InvalidCall, |b| {
            let p = b.alloc(10, AllocKind::MALLOC);
            b.call(Callee::Indirect(p), &[], None);
        }),
        (Fault::InvalidCall, |b| {
            let main = b.p.entry;
            let code = b.p.exprs.func_addr(main, b.p.layout.pointer_width);
            let inner = b.at(code, 1);
            b.call(Callee::Indirect(inner), &[], None);
        }),
        (Fault::Dangling, |b| {
            let p = b.alloc(10, AllocKind::MALLOC);
            b.op(Op::Free { ptr: p, family: Family::Malloc });
            let var = b.var(b.p.layout.pointer_width);
            b.op(Op::ObjectSize { var, ptr: p, family: None });
        }),
        (Fault::InvalidFree, |b| {
            let p = b.alloc(10, AllocKind::MALLOC);
            let (end, var) = (b.at(p, 10), b.var(b.p.layout.pointer_width));
            b.op(Op::ObjectSize { var, ptr: end, family: None });
        }),
    ];
    each_faults(cases);
}

fn each_faults(cases: &[Case]) {
    for &(fault, make) in cases {
        for width in [32, 64] {
            let mut b = build(width);
            make(&mut b);
            let last = EdgeId(b.p.edges.len() as u32 - 1);
            b.exit(ExprId(0));
            assert_eq!(b.fault(), fault);
            let Outcome::Invalid { edge, .. } = b.run() else { unreachable!() };
            assert_eq!(edge, last, "{fault:?}");
        }
    }
}

#[test]
fn offsets_in_objects() {
    let mut b = build(64);
    let (p, dead) = (b.alloc(8, AllocKind::MALLOC), b.alloc(8, AllocKind::MALLOC));
    b.op(Op::Free { ptr: dead, family: Family::Malloc });
    let null = b.ptr(0);
    let pointers = [b.at(p, 5), b.at(p, 8), b.at(p, 9), b.at(dead, 1), null];
    let mut sum = b.ptr(0);
    for (n, ptr) in pointers.into_iter().enumerate() {
        let var = b.var(64);
        b.op(Op::ObjectOffset { var, ptr, writable: false });
        let (offset, factor) = (b.get(var), b.ptr(100u64.pow(n as u32)));
        let digits = b.p.exprs.mul(offset, factor);
        sum = b.p.exprs.add(sum, digits);
    }
    b.exit(sum);
    let expected = 5 + 800u64.wrapping_sub(10_000 + 1_000_000 + 100_000_000);
    assert_eq!(b.run(), Outcome::Exit(expected as i32));
}

#[test]
fn offsets_in_constants() {
    for writable in [false, true] {
        let mut b = build(64);
        let (ty, init) = (b.ty, Some(GlobalInit::default()));
        let [constant, cell] = [true, false].map(|read_only| {
            let (name, init, place) = ("g".to_owned(), init.clone(), None);
            b.p.globals.push(Global { name, ty, size: 8, align: 8, read_only, is_static: false, init, place })
        });
        let mut sum = b.ptr(0);
        for (global, factor) in [(constant, 1), (cell, 100)] {
            let base = b.p.exprs.global_addr(global, 64);
            let (ptr, var, factor) = (b.at(base, 3), b.var(64), b.ptr(factor));
            b.op(Op::ObjectOffset { var, ptr, writable });
            let offset = b.get(var);
            let digits = b.p.exprs.mul(offset, factor);
            sum = b.p.exprs.add(sum, digits);
        }
        b.exit(sum);
        assert_eq!(b.run(), Outcome::Exit(if writable { 300 - 1 } else { 303 }));
    }
}

#[test]
fn no_faults() {
    let mut b = build(64);
    let null = b.ptr(0);
    b.op(Op::Free { ptr: null, family: Family::Malloc });
    let zero = b.ptr(0);
    b.op(Op::Copy { dst: null, src: null, len: zero });
    let byte = b.int(8, 0);
    b.op(Op::Fill { dst: null, byte, len: zero });
    let p = b.alloc(0, AllocKind::MALLOC);
    let q = b.alloc(24, AllocKind::MALLOC);
    let equal = b.p.exprs.eq(p, q);
    let size = b.var(64);
    b.op(Op::ObjectSize { var: size, ptr: q, family: None });
    b.op(Op::Free { ptr: p, family: Family::Malloc });
    let (size, equal) = (b.get(size), b.p.exprs.zext(64, equal));
    let sum = b.p.exprs.add(size, equal);
    b.exit(sum);
    let run = b.run_with(&Inputs::default(), Limits::default());
    assert_eq!((run.outcome, run.live_heap, run.allocs), (Outcome::Exit(24), 1, 2));
}
