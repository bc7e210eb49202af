//! Measures the time of slicing on generated programs of growing size: `cargo bench -p slicer`. `scripts/bench-slicer`
//! measures real programs.

#[path = "../tests/pointers/mod.rs"]
mod pointers;

use cfa::{EdgeId, Op, Program};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use slicer::pointer::{Mode, Options, PointsTo};
use std::hint::black_box;

fn programs() -> Vec<Program> {
    [10, 100, 1000].map(|functions| pointers::generate(1, functions)).into()
}

fn points_to(c: &mut Criterion) {
    let mut group = c.benchmark_group("points-to");
    for program in programs() {
        group.throughput(Throughput::Elements(program.edges.len() as u64));
        for mode in [Mode::Inclusion, Mode::Unification] {
            let options = Options { mode, ..Options::default() };
            let id = BenchmarkId::new(format!("{mode:?}"), program.edges.len());
            group.bench_function(id, |b| b.iter(|| PointsTo::compute(black_box(&program), &options)));
        }
    }
    group.finish();
}

fn slice(c: &mut Criterion) {
    let mut group = c.benchmark_group("slice");
    for program in programs() {
        group.throughput(Throughput::Elements(program.edges.len() as u64));
        let last_call = program
            .edges
            .iter()
            .filter(|(id, e)| matches!(e.op, Op::Call { .. }) && program.func_of(*id) == program.entry)
            .map(|(id, _)| id)
            .max();
        let criteria: Vec<EdgeId> = last_call.into_iter().collect();
        group.bench_function(BenchmarkId::from_parameter(program.edges.len()), |b| {
            b.iter(|| slicer::slice(black_box(&program), &criteria, &slicer::Options::default()));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = points_to, slice
}
criterion_main!(benches);
