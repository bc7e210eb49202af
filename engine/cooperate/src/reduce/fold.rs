//! Deterministic folding (Definitions 6 and 8, Algorithm 1). Locations of the composition are merged, and then all
//! locations that the same operation leads to from merged ones.
//!
//! A merged location behaves like any of its members. It continues with an edge if some member does. The composition
//! adds tests of assumptions and of the exits of copies. Such a test is removed if it would separate locations that are
//! merged.

mod output;

use super::partition::Partition;
use crate::restrict::Restricted;
use cfa::{Callee, EdgeId, FuncId, HaltKind, Id, LocId, Op, Out, Program};
use rustc_hash::{FxHashMap, FxHashSet};

/// The step of an element: an edge of the program and, for a call, the function.
type Step = (EdgeId, Option<FuncId>);

/// Merged locations. Their common steps are stored, so that merging takes time linear in the smaller class.
#[derive(Default)]
struct Class {
    members: Vec<LocId>,
    steps: Steps,
    /// The members that call the program's own function, or an unknown one through a pointer.
    callers: Vec<LocId>,
    /// True if a member assigns the exit of its copy.
    returns: bool,
}

/// The target of each step, and the copy that it calls.
type Steps = FxHashMap<Step, (LocId, Option<FuncId>)>;

/// A folding of a residual program.
struct Fold<'a> {
    original: &'a Program,
    r: &'a Restricted,
    parent: Vec<u32>,
    /// The classes with several members, by representative.
    classes: FxHashMap<u32, Class>,
    func_parent: Vec<u32>,
    /// The entries of copies that represent several others: an uncovered location, if there is one.
    entries: FxHashMap<FuncId, LocId>,
    /// The copies whose exits are not distinguished.
    blurred: FxHashSet<u32>,
    /// The copies that are replaced by the program's own function.
    free: FxHashSet<u32>,
    /// The return locations of the calls of each copy.
    sites: FxHashMap<FuncId, Vec<LocId>>,
    todo: Vec<(LocId, LocId)>,
}

/// Folds the composition by a partition, which is coarsened until the result is deterministic.
pub fn fold(original: &Program, r: &Restricted, partition: &Partition) -> Restricted {
    let mut sites: FxHashMap<FuncId, Vec<LocId>> = FxHashMap::default();
    for edge in r.program.edges.values() {
        if let Op::Call { callee: Callee::Direct(f), .. } = edge.op
            && f.index() >= original.funcs.len()
        {
            sites.entry(f).or_default().push(edge.target);
        }
    }
    let mut fold = Fold {
        original,
        r,
        parent: (0..r.program.locs.len() as u32).collect(),
        classes: FxHashMap::default(),
        func_parent: (0..r.program.funcs.len() as u32).collect(),
        entries: FxHashMap::default(),
        blurred: FxHashSet::default(),
        free: FxHashSet::default(),
        sites,
        todo: Vec::new(),
    };
    for element in partition {
        debug_assert!(element.iter().all(|&l| r.locs[l] == r.locs[element[0]]), "a partition is location-consistent");
        let open: Vec<LocId> = element.iter().copied().filter(|&l| !fold.is_covered(l)).collect();
        fold.todo.extend(open.windows(2).map(|pair| (pair[0], pair[1])));
    }
    fold.close();
    output::Output::new(fold).build()
}

fn find(parent: &mut [u32], mut n: u32) -> u32 {
    while parent[n as usize] != n {
        parent[n as usize] = parent[parent[n as usize] as usize];
        n = parent[n as usize];
    }
    n
}

impl Fold<'_> {
    fn class(&mut self, loc: LocId) -> u32 {
        find(&mut self.parent, loc.0)
    }
    fn func_class(&mut self, func: FuncId) -> FuncId {
        FuncId(find(&mut self.func_parent, func.0))
    }
    fn members(&self, class: u32) -> Vec<LocId> {
        self.classes.get(&class).map_or_else(|| vec![LocId(class)], |c| c.members.clone())
    }

    /// Returns true if the location only ends a covered path.
    fn is_covered(&self, loc: LocId) -> bool {
        match self.r.program.locs[loc].out {
            Out::One(edge) => {
                self.r.edges[edge].is_none() && self.r.program.edges[edge].op == Op::Halt(HaltKind::Assumed)
            }
            _ => false,
        }
    }

    /// Merges pending pairs until none are left.
    fn close(&mut self) {
        while let Some((a, b)) = self.todo.pop() {
            let (mut x, mut y) = (self.class(a), self.class(b));
            if x == y || self.is_covered(a) || self.is_covered(b) {
                continue;
            }
            let (f, g) = (self.r.program.locs[a].func, self.r.program.locs[b].func);
            self.join_functions(f, g);
            let (mut large, mut small) = (self.take(x), self.take(y));
            if large.members.len() < small.members.len() {
                std::mem::swap(&mut x, &mut y);
                std::mem::swap(&mut large, &mut small);
            }
            let mut new = Steps::default();
            for (step, to) in small.steps {
                if self.add_step(&mut large.steps, step, to) {
                    new.insert(step, to);
                }
            }
            for &m in &small.callers {
                self.call_without_copy(m, &large.steps);
            }
            if !new.is_empty() {
                for &m in &large.callers {
                    self.call_without_copy(m, &new);
                }
            }
            large.returns |= small.returns;
            if large.returns {
                let func = self.func_class(f);
                self.blur(func);
            }
            large.members.append(&mut small.members);
            large.callers.append(&mut small.callers);
            self.parent[y as usize] = x;
            self.classes.insert(x, large);
        }
    }

    /// Removes a class to merge it with another.
    fn take(&mut self, class: u32) -> Class {
        if let Some(known) = self.classes.remove(&class) {
            return known;
        }
        let loc = LocId(class);
        let mut single = Class { members: vec![loc], returns: self.returns(loc), ..Class::default() };
        // The merged location does not depend on the test, so both sides are merged as well.
        if self.r.locs[loc].is_none() {
            let p = &self.r.program;
            self.todo.extend(p.out_edges(loc).map(|e| (loc, p.edges[e].target)));
        }
        for (step, target, callee) in self.steps(loc) {
            self.add_step(&mut single.steps, step, (target, callee));
        }
        let is_call = |edge: EdgeId| matches!(self.original.edges[edge].op, Op::Call { .. });
        if single.steps.keys().any(|&(edge, callee)| callee.is_none() && is_call(edge)) {
            single.callers.push(loc);
        }
        single
    }

    /// Adds a step to a class. If the class already has the step, the targets are merged. Returns true if the class did
    /// not have the step, or only to a covered location.
    fn add_step(&mut self, steps: &mut Steps, step: Step, (target, callee): (LocId, Option<FuncId>)) -> bool {
        if let Some(&(other, of)) = steps.get(&step)
            && (!self.is_covered(other) || of != callee)
        {
            if let (Some(f), Some(g)) = (callee, of) {
                self.join_functions(f, g);
            }
            self.todo.push((other, target));
            if !self.is_covered(other) {
                return false;
            }
        }
        steps.insert(step, (target, callee));
        true
    }

    /// A call through a pointer may enter the program's own function from one member and a copy of it from another.
    /// Merges both.
    fn call_without_copy(&mut self, member: LocId, steps: &Steps) {
        let own = self.steps(member);
        let Some(&((edge, _), target, _)) = own.iter().find(|((_, callee), ..)| callee.is_none()) else { return };
        let others = steps.iter().filter(|((e, callee), _)| *e == edge && callee.is_some());
        for (step, &(after, copy)) in others {
            if !own.iter().any(|(s, ..)| s == step)
                && let Some(copy) = copy
            {
                self.join_functions(copy, self.r.funcs[copy]);
                self.todo.push((target, after));
            }
        }
    }

    /// Returns true if the location assigns the exit of its copy.
    fn returns(&self, loc: LocId) -> bool {
        match self.r.program.locs[loc].out {
            Out::One(edge) => {
                self.r.edges[edge].is_none() && matches!(self.r.program.edges[edge].op, Op::Assign { .. })
            }
            _ => false,
        }
    }

    /// The steps of a location, after the tests that the composition adds for calls through pointers.
    fn steps(&self, loc: LocId) -> Vec<(Step, LocId, Option<FuncId>)> {
        let p = &self.r.program;
        let (mut found, mut work) = (Vec::new(), vec![loc]);
        if self.r.locs[loc].is_none() {
            return found;
        }
        while let Some(at) = work.pop() {
            for edge in p.out_edges(at) {
                let target = p.edges[edge].target;
                match self.r.edges[edge] {
                    Some(old) => {
                        let callee = match p.edges[edge].op {
                            Op::Call { callee: Callee::Direct(f), .. } => Some(f),
                            _ => None,
                        };
                        found.push(((old, callee.map(|f| self.r.funcs[f])), target, callee));
                    }
                    // A test of a pointer, or the assignment before a return.
                    None if self.r.locs[target].is_none() && !self.is_covered(target) => work.push(target),
                    None => {}
                }
            }
        }
        found
    }

    fn join_functions(&mut self, f: FuncId, g: FuncId) {
        let copies = self.original.funcs.len();
        let (f, g) = (self.func_class(f), self.func_class(g));
        if f == g {
            return;
        }
        // The program's own functions are called where nothing is covered any more. They behave like any copy.
        if f.index() < copies || g.index() < copies {
            let copy = f.max(g);
            if copy.index() >= copies && self.free.insert(copy.0) {
                self.blur(copy);
            }
            return;
        }
        self.func_parent[g.index()] = f.0;
        // After calls of either function, their exits are not distinguished.
        self.blur(f);
        self.blur(g);
        let (mut sites, mut others) =
            (self.sites.remove(&f).unwrap_or_default(), self.sites.remove(&g).unwrap_or_default());
        if sites.len() < others.len() {
            std::mem::swap(&mut sites, &mut others);
        }
        sites.append(&mut others);
        self.sites.insert(f, sites);
        if self.free.contains(&g.0) {
            self.free.insert(f.0);
        }
        let (a, b) = (self.entry(f), self.entry(g));
        self.entries.insert(f, if self.is_covered(a) { b } else { a });
        self.todo.push((a, b));
    }

    fn entry(&self, class: FuncId) -> LocId {
        self.entries.get(&class).copied().unwrap_or(self.r.program.funcs[class].entry)
    }

    /// Stops distinguishing the exits of the function after its calls.
    fn blur(&mut self, func: FuncId) {
        if !self.blurred.insert(func.0) {
            return;
        }
        let p = &self.r.program;
        for after in self.sites.get(&func).cloned().unwrap_or_default() {
            let mut work = vec![after];
            while let Some(at) = work.pop() {
                if self.r.locs[at].is_some() {
                    continue;
                }
                for edge in p.out_edges(at) {
                    let target = p.edges[edge].target;
                    if self.r.edges[edge].is_none() && !self.is_covered(target) {
                        self.todo.push((at, target));
                        work.push(target);
                    }
                }
            }
        }
    }
}
