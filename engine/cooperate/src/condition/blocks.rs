//! Blocks of merged paths (adjustable-block encoding, Beyer, Keremoglu, Wendler, FMCAD 2010): all ways from one head to the next.
//!
//! A condition of what was explored block by block does not tell the ways of a block apart: it reads at which head they end, and ends earlier
//! where no head that is left can be come to any more.

use cfa::{CallGraph, EdgeId, FuncId, Id, LocId, Op, Program};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// What reading an edge says of the block that a way is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// It ends at this head.
    Head(LocId),
    /// It may end, which the edge alone does not tell: a return to one of several callers.
    Unclear,
    /// No head that was asked about will be come to.
    Never,
}

type Exits = Rc<[(EdgeId, Exit)]>;

/// The blocks of a program.
pub struct Blocks<'a> {
    program: &'a Program,
    /// By edge, if the block may end with it.
    ends: FxHashMap<EdgeId, Exit>,
    /// By edge that does not end it, where ways go on.
    steps: FxHashMap<EdgeId, Vec<LocId>>,
    /// By location, the edges that lead there within a block.
    before: Vec<Vec<EdgeId>>,
    known: FxHashMap<(LocId, Vec<LocId>), Exits>,
}

impl<'a> Blocks<'a> {
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

    /// What ends the ways of the block from `from`, for who asks about these heads: all other edges leave open whether one of them will be
    /// come to.
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
        // From where one of the heads may be come to.
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

/// Where execution may go on behind a function.
fn returns_to(program: &Program, calls: &CallGraph, func: FuncId) -> Vec<LocId> {
    let mut after: Vec<LocId> = calls.callers(func).map(|call| program.edges[call].target).collect();
    after.sort_unstable();
    after.dedup();
    after
}
