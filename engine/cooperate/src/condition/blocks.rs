//! Blocks of merged paths (adjustable-block encoding: Beyer, Keremoglu, Wendler, FMCAD 2010). A block consists of all
//! paths from one cut point (head) to the next.
//!
//! A condition from an exploration by blocks does not distinguish the paths of a block. It reads the head at which they
//! end. It stops earlier where no head with open paths is reachable any more.

use cfa::{CallGraph, EdgeId, FuncId, Id, LocId, Op, Program};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The effect of an edge on the block of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// The block ends at this head.
    Head(LocId),
    /// The block may end, but the edge alone does not determine it: a return to one of several callers.
    Unclear,
    /// No queried head is reachable any more.
    Never,
}

/// The edges that may end the block, with its end after each.
type Exits = Rc<[(EdgeId, Exit)]>;

/// The blocks of a program, with a cache of their exits.
pub struct Blocks<'a> {
    program: &'a Program,
    /// By edge that may end a block, how it ends.
    ends: FxHashMap<EdgeId, Exit>,
    /// By edge that does not end the block, the locations after it.
    steps: FxHashMap<EdgeId, Vec<LocId>>,
    /// By location, the edges that lead there within a block.
    before: Vec<Vec<EdgeId>>,
    known: FxHashMap<(LocId, Vec<LocId>), Exits>,
}

impl<'a> Blocks<'a> {
    /// The blocks of a program. `heads` is true for the cut points, by location.
    pub fn new(program: &'a Program, calls: &CallGraph, heads: &[bool]) -> Self {
        let mut this = Self {
            program,
            ends: FxHashMap::default(),
            steps: FxHashMap::default(),
            before: vec![Vec::new(); program.locs.len()],
            known: FxHashMap::default(),
        };
        let mut after: FxHashMap<FuncId, Vec<LocId>> = FxHashMap::default();
        for (id, edge) in program.edges.iter() {
            let to = match edge.op {
                Op::Call { .. } => {
                    calls.callees(program, id).as_slice().iter().map(|f| program.funcs[*f].entry).collect()
                }
                Op::Return { .. } => {
                    let func = program.func_of(id);
                    after.entry(func).or_insert_with(|| returns_to(program, calls, func)).clone()
                }
                _ => vec![edge.target],
            };
            match to[..] {
                [head] if heads[head.index()] => drop(this.ends.insert(id, Exit::Head(head))),
                _ if to.iter().any(|to| heads[to.index()]) => drop(this.ends.insert(id, Exit::Unclear)),
                _ => {
                    for loc in &to {
                        this.before[loc.index()].push(id);
                    }
                    this.steps.insert(id, to);
                }
            }
        }
        this
    }

    /// The edges that end the paths of the block from `from`, with respect to these heads. After all other edges, some
    /// of the heads may still be reachable.
    pub fn exits(&mut self, from: LocId, mut heads: Vec<LocId>) -> Exits {
        heads.sort_unstable();
        heads.dedup();
        let key = (from, heads);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let exits: Exits = self.ways(from, &key.1).into();
        self.known.insert(key, exits.clone());
        exits
    }

    fn ways(&self, from: LocId, heads: &[LocId]) -> Vec<(EdgeId, Exit)> {
        // The locations from which one of the heads may be reachable.
        let mut useful: FxHashSet<LocId> = FxHashSet::default();
        let is_asked = |exit: &Exit| match exit {
            Exit::Head(head) => heads.binary_search(head).is_ok(),
            Exit::Unclear => true,
            Exit::Never => false,
        };
        let mut todo: Vec<EdgeId> = self.ends.iter().filter(|(_, exit)| is_asked(exit)).map(|(id, _)| *id).collect();
        while let Some(edge) = todo.pop() {
            let source = self.program.edges[edge].source;
            if useful.insert(source) {
                todo.extend(&self.before[source.index()]);
            }
        }
        let (mut out, mut todo, mut seen) = (Vec::new(), vec![from], FxHashSet::default());
        while let Some(loc) = todo.pop() {
            if !useful.contains(&loc) || !seen.insert(loc) {
                continue;
            }
            for edge in self.program.out_edges(loc) {
                match (self.ends.get(&edge), self.steps.get(&edge)) {
                    (Some(exit), _) => out.push((edge, if is_asked(exit) { *exit } else { Exit::Never })),
                    (None, Some(to)) if to.iter().any(|to| useful.contains(to)) => todo.extend(to),
                    (None, _) => out.push((edge, Exit::Never)),
                }
            }
        }
        out.sort_unstable_by_key(|(edge, _)| *edge);
        out
    }
}

/// The locations to which a function may return.
fn returns_to(program: &Program, calls: &CallGraph, func: FuncId) -> Vec<LocId> {
    let mut after: Vec<LocId> = calls.callers(func).map(|call| program.edges[call].target).collect();
    after.sort_unstable();
    after.dedup();
    after
}
