//! Location-consistent partitions of a parallel composition (Definition 5).

use super::Reducer;
use crate::restrict::Restricted;
use cfa::loops::LoopForest;
use cfa::{EdgeId, FuncId, Id, LocId, Op, Program, Table};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The elements of a partition. All locations of an element belong to the same program location.
pub type Partition = Vec<Vec<LocId>>;

/// The key by which locations are merged.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    loc: LocId,
    func: Option<FuncId>,
    context: u32,
    iterations: Vec<(LocId, u32)>,
}

/// The elements with several locations; `None` if nothing has to be folded.
pub fn compute(composed: &Restricted, program: &Program, reducer: Reducer) -> Option<Partition> {
    if reducer == Reducer::Separate {
        return None;
    }
    let heads = Loops::new(program);
    let mut elements: FxHashMap<Key, Vec<LocId>> = FxHashMap::default();
    let mut add = |key: Key, loc: LocId| elements.entry(key).or_default().push(loc);
    if reducer == Reducer::Locations {
        for (new, old) in composed.locs.iter().filter(|(new, _)| is_copy(composed, program, *new)) {
            let Some(loc) = *old else { continue };
            add(Key { loc, func: None, context: 0, iterations: Vec::new() }, new);
        }
    } else {
        let mut walk = Walk::new(composed, program, &heads);
        walk.run();
        for (new, old) in composed.locs.iter() {
            let (Some(loc), Some(at)) = (*old, walk.at[new.index()].clone()) else { continue };
            let func = Some(composed.program.locs[new].func);
            let is_head = heads.is_head[loc];
            let iteration = |bound: u32| at.iterations.last().map_or(0, |&(_, n)| n.min(bound));
            let key = match reducer {
                Reducer::Iterations => Key { loc, func, context: 0, iterations: at.iterations },
                _ if !is_head => continue,
                Reducer::LoopHeads => Key { loc, func, context: 0, iterations: Vec::new() },
                Reducer::LoopHeadsByContext => Key { loc, func, context: at.context, iterations: Vec::new() },
                Reducer::LoopHeadsByIteration(bound) => {
                    Key { loc, func, context: 0, iterations: vec![(loc, iteration(bound))] }
                }
                Reducer::LoopHeadsByIterationAndContext(bound) => {
                    Key { loc, func, context: at.context, iterations: vec![(loc, iteration(bound))] }
                }
                Reducer::Separate | Reducer::Locations => unreachable!("treated above"),
            };
            add(key, new);
        }
    }
    let mut elements: Partition = elements.into_values().filter(|element| element.len() > 1).collect();
    elements.sort_unstable();
    Some(elements)
}

/// Returns true if the location belongs to a copy, not to a function of the original program.
fn is_copy(composed: &Restricted, program: &Program, loc: LocId) -> bool {
    composed.program.locs[loc].func.index() >= program.funcs.len()
}

/// The loops of the program.
struct Loops {
    is_head: Table<LocId, bool>,
    /// By location, the heads of the loops around it, the outermost first.
    around: Vec<Vec<LocId>>,
}

impl Loops {
    fn new(program: &Program) -> Self {
        let mut is_head = Table::filled(false, program.locs.len());
        let mut around = vec![Vec::new(); program.locs.len()];
        for f in program.funcs.ids() {
            let shape = crate::c::FunctionGraph::new(program, f);
            let forest = LoopForest::new(&shape.graph, 0);
            for l in forest.loops() {
                is_head[shape.locs[l.head as usize]] = true;
            }
            for (n, &loc) in (0u32..).zip(&shape.locs) {
                let mut inner = forest.innermost(n);
                while let Some(l) = inner {
                    around[loc.index()].push(shape.locs[forest.get(l).head as usize]);
                    inner = forest.get(l).parent;
                }
                around[loc.index()].reverse();
            }
        }
        Self { is_head, around }
    }
}

/// The position of a location of a copy: its first visit from the entry of the copy.
#[derive(Clone)]
struct At {
    /// The heads of the loops around it, with the number of visits of each.
    iterations: Vec<(LocId, u32)>,
    /// The branches on the path, except those in loops that it has left.
    context: u32,
    /// The contexts in which the loops around it were entered.
    entered: Vec<u32>,
}

/// A traversal of the residual program that determines the position of each location.
struct Walk<'a> {
    composed: &'a Restricted,
    program: &'a Program,
    loops: &'a Loops,
    at: Vec<Option<At>>,
    /// Contexts are lists of branches: the number of a context plus one more branch.
    contexts: FxHashMap<(u32, EdgeId), u32>,
}

impl<'a> Walk<'a> {
    fn new(composed: &'a Restricted, program: &'a Program, loops: &'a Loops) -> Self {
        let at = vec![None; composed.program.locs.len()];
        Self { composed, program, loops, at, contexts: FxHashMap::default() }
    }

    /// Breadth first, so that a shortest path determines the position.
    fn run(&mut self) {
        let p = &self.composed.program;
        let mut queue = VecDeque::new();
        for f in p.funcs.ids().skip(self.program.funcs.len()) {
            let entry = p.funcs[f].entry;
            let start = At { iterations: Vec::new(), context: 0, entered: Vec::new() };
            self.at[entry.index()] = Some(self.arrive(start, entry, None));
            queue.push_back(entry);
        }
        while let Some(loc) = queue.pop_front() {
            for edge in p.out_edges(loc) {
                let target = p.edges[edge].target;
                if self.at[target.index()].is_some() {
                    continue;
                }
                let here = self.at[loc.index()].clone().expect("come to");
                self.at[target.index()] = Some(self.arrive(here, target, Some(edge)));
                queue.push_back(target);
            }
        }
    }

    fn arrive(&mut self, mut at: At, target: LocId, edge: Option<EdgeId>) -> At {
        if let Some(old) = edge.and_then(|e| self.composed.edges[e])
            && matches!(self.program.edges[old].op, Op::Assume { .. })
        {
            let next = self.contexts.len() as u32 + 1;
            at.context = *self.contexts.entry((at.context, old)).or_insert(next);
        }
        let Some(old) = self.composed.locs[target] else { return at };
        let around = &self.loops.around[old.index()];
        // Leaving a loop removes the branches inside it from the context.
        while at.iterations.last().is_some_and(|(head, _)| !around.contains(head)) {
            at.iterations.pop();
            at.context = at.entered.pop().expect("one for each loop");
        }
        for &head in around {
            if !at.iterations.iter().any(|&(h, _)| h == head) {
                at.iterations.push((head, 0));
                at.entered.push(at.context);
            }
        }
        if self.loops.is_head[old]
            && let (Some((_, iterations)), Some(&entered)) = (at.iterations.last_mut(), at.entered.last())
        {
            // A finished iteration is a completed path through the loop.
            *iterations += 1;
            at.context = entered;
        }
        at
    }
}
