//! Lowers C files one by one and checks each program: it is valid, its text form parses to the same program, and the
//! analyses of `cfa` run on it. Prints a line for each file that fails, and the total times.
//!
//! `cargo run -p frontend-llvm --example check < LIST`, where each line of LIST is `ILP32 FILE` or `LP64 FILE`.

use cfa::callgraph::CallGraph;
use cfa::dominators::Dominators;
use cfa::graph::CfaGraphs;
use cfa::loops::LoopForest;
use cfa::{Program, text};
use frontend_llvm::{DataModel, Options, load};
use std::time::{Duration, Instant};

#[derive(Default)]
struct Totals {
    files: u32,
    failed: u32,
    edges: usize,
    bytes: usize,
    load: Duration,
    lower: Duration,
    validate: Duration,
    print: Duration,
    parse: Duration,
    graphs: Duration,
}

fn timed<T>(sum: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *sum += start.elapsed();
    result
}

fn main() {
    let mut totals = Totals::default();
    for line in std::io::stdin().lines() {
        let line = line.expect("standard input is text");
        let Some((model, path)) = line.split_once(' ') else { continue };
        totals.files += 1;
        if let Err(problem) = check(model, path, &mut totals) {
            totals.failed += 1;
            println!("{path}: {problem}");
        }
    }
    let t = &totals;
    println!("{} files, {} failed, {} edges, {} bytes of text", t.files, t.failed, t.edges, t.bytes);
    println!(
        "load {:?}, lower {:?}, validate {:?}, print {:?}, parse {:?}, graphs {:?}",
        t.load, t.lower, t.validate, t.print, t.parse, t.graphs
    );
}

fn check(model: &str, path: &str, t: &mut Totals) -> Result<(), String> {
    let data_model = Some(if model == "ILP32" { DataModel::Ilp32 } else { DataModel::Lp64 });
    let options = Options { inputs: vec![path.into()], data_model, ..Options::default() };
    let module = timed(&mut t.load, || load(&options)).map_err(|e| e.to_string())?;
    let program = timed(&mut t.lower, || module.lower()).map_err(|e| e.to_string())?;
    t.edges += program.edges.len();
    if let Err(violations) = timed(&mut t.validate, || cfa::validate::validate(&program)) {
        let shown: Vec<_> = violations.iter().take(3).map(ToString::to_string).collect();
        return Err(format!("{} violations: {}", violations.len(), shown.join("; ")));
    }
    let printed = timed(&mut t.print, || text::print(&program));
    t.bytes += printed.len();
    let again = timed(&mut t.parse, || text::parse(&printed)).map_err(|e| format!("does not read back: {e}"))?;
    if text::print(&again) != printed {
        return Err("reads back as another program".into());
    }
    cfa::validate::validate(&again).map_err(|v| format!("is not valid when read back: {}", v[0]))?;
    timed(&mut t.graphs, || graphs(&program));
    for edge in program.edges.values() {
        text::c_operation(&program, &edge.op);
    }
    Ok(())
}

fn graphs(program: &Program) {
    CallGraph::new(program);
    for graph in CfaGraphs::new(program).funcs.values() {
        if !graph.graph.is_empty() {
            LoopForest::new(&graph.graph, 0);
            Dominators::new(&graph.graph, 0).frontiers(&graph.graph);
        }
    }
}
