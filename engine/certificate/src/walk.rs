//! The interpretation of automata: functions, and loops by k-induction.
//!
//! A loop is interpreted twice. The base case consists of the *first* `k - 1` iterations after the entry. The induction
//! step consists of any `k` consecutive iterations: everything that the loop may change becomes unknown except for the
//! conditions of the certificate. In the step, all iterations except the last one are *early*: conditions are assumed
//! there, and the loop is not left (Sheeran, Singh, Stålmarck: Checking safety properties using induction and a
//! SAT-solver, FMCAD 2000). Every execution with a first violation is covered by one of the two, at each loop that it
//! is in or has left.

use super::*;
use cfa::{Op, Out};

/// Limit on the number of interpreted nodes, and the number of nodes between checks of the budget.
const STEPS: u32 = 400_000;
const TICK: u32 = 8;
/// Limits on the iterations of an unrolled loop, and on nested calls of an inlined recursive function.
const FOLLOWED: u32 = 1 << 10;
const NESTED: usize = 64;
/// Largest `k` of an induction.
const ITERATIONS: u32 = 8;

/// The loops of a function.
pub(super) struct FunctionLoops {
    locs: Vec<LocId>,
    /// The loop index by head node.
    head: FxHashMap<u32, usize>,
    loops: Vec<Loop>,
}

/// A loop of a function.
struct Loop {
    head: LocId,
    body: FxHashSet<u32>,
    /// Globals and locals that may change in the loop, ascending.
    changed: Vec<VarId>,
}

/// A surrounding loop or recursion. Objects that existed at its entry may change only as its frame permits.
pub(super) struct Around {
    /// The head of the loop, or the entry of the function.
    pub place: LocId,
    /// Number of objects at the entry.
    pub objects: Object,
}

/// A pointer that stays in the same object, with the possible objects and their conditions.
pub(super) struct Anchor {
    var: VarId,
    into: Vec<(ExprId, Object)>,
}

/// The state after a call, with the value that it returns. `None` if the call does not return.
type Returned = Option<(State, Option<ExprId>)>;

/// An interpretation in progress: the body of a function, or an iteration of a loop.
struct Part<'s> {
    shape: &'s FunctionLoops,
    /// The loop, if it is an iteration.
    within: Option<&'s Loop>,
    /// The states by node: those that wait in the part, and those that have left the loop.
    waiting: BTreeMap<u32, State>,
    out: BTreeMap<u32, State>,
    /// The state that has returned to the head.
    back: Option<State>,
    returned: Returned,
}

impl Checker<'_> {
    fn shape(&mut self, func: FuncId) -> Checked<Rc<FunctionLoops>> {
        if let Some(shape) = self.shapes.get(&func) {
            return Ok(Rc::clone(shape));
        }
        let graph = &self.graphs.funcs[func];
        let forest = LoopForest::new(&graph.graph, 0);
        let mut shape = FunctionLoops { locs: graph.locs.clone(), head: FxHashMap::default(), loops: Vec::new() };
        for (number, l) in forest.loops().iter().enumerate() {
            if l.irreducible {
                return declined("a loop has two entries");
            }
            let body: FxHashSet<u32> = forest.body(number as u32).into_iter().collect();
            let mut changed = FxHashSet::default();
            for &node in &body {
                for edge in self.program.out_edges(graph.locs[node as usize]) {
                    changed.extend(self.program.edges[edge].op.def());
                    if let Op::Call { .. } = self.program.edges[edge].op {
                        for callee in self.calls.callees(self.program, edge).as_slice() {
                            changed.extend(&self.changes[callee.index()]);
                        }
                    }
                }
            }
            let mut changed: Vec<VarId> = changed.into_iter().collect();
            changed.sort_unstable();
            shape.head.insert(l.head, shape.loops.len());
            shape.loops.push(Loop { head: graph.locs[l.head as usize], body, changed });
        }
        let shape = Rc::new(shape);
        self.shapes.insert(func, Rc::clone(&shape));
        Ok(shape)
    }

    /// Number of active inlined calls of a function.
    pub(super) fn nested(&self, func: FuncId) -> usize {
        self.frames.iter().filter(|(_, f)| *f == func).count()
    }

    /// Interprets the body of a function from state `entry`. Returns the state and the result at the return.
    pub(super) fn body(&mut self, func: FuncId, entry: State) -> Checked<Returned> {
        let shape = self.shape(func)?;
        if self.nested(func) > NESTED {
            return declined("a recursion is too deep to be unrolled");
        }
        self.entered += 1;
        let frame = self.entered;
        self.frames.push((frame, func));
        let part = self.part(&shape, None, 0, entry)?;
        self.frames.pop();
        let mut returned = part.returned;
        if let Some((st, _)) = &mut returned {
            access::end_frame(self, st, frame);
        }
        Ok(returned)
    }

    /// Interprets the body of a function, or one iteration of a loop, from a node.
    fn part<'s>(
        &mut self,
        shape: &'s FunctionLoops,
        within: Option<&'s Loop>,
        start: u32,
        entry: State,
    ) -> Checked<Part<'s>> {
        let waiting = BTreeMap::from([(start, entry)]);
        let mut part = Part { shape, within, waiting, out: BTreeMap::new(), back: None, returned: None };
        while let Some((node, st)) = part.waiting.pop_first() {
            self.steps += 1;
            if self.steps > STEPS || self.steps.is_multiple_of(TICK) && self.budget.spent().is_some() {
                return declined("the checker ran out of time");
            }
            match shape.head.get(&node).map(|&number| &shape.loops[number]) {
                Some(l) if within.is_none_or(|around| around.head != l.head) => {
                    for (to, st) in self.enter(shape, l, node, st)? {
                        self.flow(&mut part, node, to, st)?;
                    }
                }
                _ => self.leave_node(&mut part, node, st)?,
            }
        }
        Ok(part)
    }

    /// Applies the outgoing edges of a node.
    fn leave_node(&mut self, part: &mut Part<'_>, node: u32, mut st: State) -> Checked {
        let program = self.program;
        let target = |this: &Self, edge: EdgeId| this.graphs.node(program.edges[edge].target).expect("behind an edge");
        match program.locs[part.shape.locs[node as usize]].out {
            Out::Sink => {}
            Out::Branch { then_edge, else_edge } => {
                for edge in [then_edge, else_edge] {
                    let Op::Assume { cond, .. } = program.edges[edge].op else { unreachable!("assumes") };
                    let cond = self.eval(&st, cond);
                    let pc = self.pool.and(st.pc, cond);
                    let to = target(self, edge);
                    self.flow(part, node, to, State { pc, ..st.clone() })?;
                }
            }
            Out::One(edge) => match program.edges[edge].op {
                Op::Return { value } => {
                    let value = value.map(|e| self.eval(&st, e));
                    part.returned = Some(match part.returned.take() {
                        None => (st, value),
                        Some((other, other_value)) => {
                            let value = value.zip(other_value).map(|(x, y)| self.pool.ite(st.pc, x, y));
                            (self.join(st, &other), value)
                        }
                    });
                }
                Op::Halt(_) => {}
                Op::Error(_) => {
                    let never = self.pool.bool(false);
                    self.claim(&mut st, never, "an error can be reached")?;
                }
                _ => {
                    if let Some(st) = self.step(st, edge)? {
                        let to = target(self, edge);
                        self.flow(part, node, to, st)?;
                    }
                }
            },
        }
        Ok(())
    }

    /// Passes a state on to a node.
    fn flow(&mut self, part: &mut Part<'_>, node: u32, to: u32, st: State) -> Checked {
        if self.pool.is_false(st.pc) {
            return Ok(());
        }
        if part.within.is_some_and(|l| l.head == part.shape.locs[to as usize]) {
            part.back = Some(match part.back.take() {
                None => st,
                Some(other) => self.join(st, &other),
            });
            return Ok(());
        }
        let place = match part.within {
            Some(l) if !l.body.contains(&to) => &mut part.out,
            _ if to <= node => return declined("a backward edge does not belong to a loop"),
            _ => &mut part.waiting,
        };
        self.add(place, BTreeMap::from([(to, st)]));
        Ok(())
    }

    /// Interprets a loop. Returns the states that leave it, by their target nodes.
    fn enter(&mut self, shape: &FunctionLoops, l: &Loop, node: u32, mut st: State) -> Checked<BTreeMap<u32, State>> {
        let mut out = BTreeMap::new();
        let frame = self.certificate.frames.get(&l.head);
        if frame.is_some_and(|f| f.followed) {
            let mut next = Some(st);
            for iteration in 1..=FOLLOWED {
                let Some(st) = next.take() else { break };
                let part = self.part(shape, Some(l), node, st)?;
                self.add(&mut out, part.out);
                next = part.back;
                if iteration.is_power_of_two()
                    && let Some(st) = &mut next
                {
                    let ends = self.never(st, "a loop has too many iterations to be unrolled");
                    match ends {
                        Ok(()) => next = None,
                        Err(why) if iteration == FOLLOWED => return Err(why),
                        Err(_) => {}
                    }
                }
            }
            return Ok(out);
        }
        let k = self.certificate.iterations;
        if k > ITERATIONS {
            return declined("its invariants are inductive only over many iterations");
        }
        self.claim_place(&mut st, l.head, "an invariant does not hold when its loop is entered")?;
        let anchors = self.anchors(&st, l);
        self.around.push(Around { place: l.head, objects: self.objects.len() as Object });
        let kept = "an invariant is not preserved by its loop";
        if k > 1 {
            // `choice` selects either the base case or the induction step.
            let choice = self.fresh(1);
            let others = self.pool.not(choice);
            let mut next = Some(State { pc: self.pool.and(st.pc, choice), ..st.clone() });
            self.assume(&mut st, others);
            for _ in 1..k {
                let Some(st) = next.take() else { break };
                let part = self.part(shape, Some(l), node, st)?;
                self.add(&mut out, part.out);
                next = part.back;
                if let Some(st) = &mut next {
                    self.claim_anchors(st, &anchors)?;
                    self.claim_place(st, l.head, kept)?;
                }
            }
        }
        self.forget(&mut st, l.head, &l.changed, &anchors)?;
        self.assume_place(&mut st, l.head)?;
        for iteration in 1..=k {
            let is_early = u32::from(iteration < k);
            self.early += is_early;
            let part = self.part(shape, Some(l), node, st)?;
            let back = match part.back {
                None => None,
                Some(mut st) => {
                    self.claim_anchors(&mut st, &anchors)?;
                    self.claim_place(&mut st, l.head, kept)?;
                    Some(st)
                }
            };
            self.early -= is_early;
            if iteration == k {
                self.add(&mut out, part.out);
            }
            match back {
                Some(next) => st = next,
                None => break,
            }
        }
        self.around.pop();
        Ok(out)
    }

    fn add(&mut self, all: &mut BTreeMap<u32, State>, more: BTreeMap<u32, State>) {
        for (to, st) in more {
            let joined = match all.remove(&to) {
                None => st,
                Some(other) => self.join(st, &other),
            };
            all.insert(to, joined);
        }
    }

    /// Proves the conditions of the certificate at a loop head.
    fn claim_place(&mut self, st: &mut State, head: LocId, what: &str) -> Checked {
        let invariant = self.certificate.heads.get(&head).cloned().unwrap_or_default();
        let holds = self.all(st, &invariant);
        self.claim(st, holds, what)?;
        cells::claim_cells(self, st, head)
    }

    fn assume_place(&mut self, st: &mut State, head: LocId) -> Checked {
        let invariant = self.certificate.heads.get(&head).cloned().unwrap_or_default();
        let holds = self.all(st, &invariant);
        self.assume(st, holds);
        cells::assume_cells(self, st, head)
    }

    /// The pointers that stay in their objects, according to the frame of a loop.
    fn anchors(&mut self, st: &State, l: &Loop) -> Vec<Anchor> {
        let Some(frame) = self.certificate.frames.get(&l.head) else { return Vec::new() };
        let width = self.pointer_width();
        let mut anchors = Vec::new();
        for &var in l.changed.iter().filter(|var| !frame.roaming.contains(var)) {
            if self.program.vars[var].width == width
                && let Some(into) = access::objects_of(self, self.get(st, var))
            {
                anchors.push(Anchor { var, into });
            }
        }
        anchors
    }

    /// Makes unknown everything that a loop or a recursion changes. Anchored pointers stay in their objects.
    pub(super) fn forget(&mut self, st: &mut State, place: LocId, changed: &[VarId], anchors: &[Anchor]) -> Checked {
        for &var in changed {
            let mut value = self.fresh(self.program.vars[var].width);
            if let Some(anchor) = anchors.iter().find(|anchor| anchor.var == var) {
                let offset = value;
                value = access::choice(self, &anchor.into, |this, object| {
                    let base = this.objects[object as usize].base;
                    this.pool.add(base, offset)
                });
            }
            self.set(st, var, value);
        }
        access::forget_written(self, st, self.certificate.frames.get(&place))
    }

    /// Proves that anchored pointers are still in their objects.
    fn claim_anchors(&mut self, st: &mut State, anchors: &[Anchor]) -> Checked {
        let mut holds = self.pool.bool(true);
        for anchor in anchors {
            let value = self.get(st, anchor.var);
            let Some(now) = access::objects_of(self, value) else {
                return self.never(st, "a pointer may leave its object in a loop");
            };
            for &(was_there, before) in &anchor.into {
                for &(is_there, object) in &now {
                    if object != before {
                        let both = self.pool.and(was_there, is_there);
                        let not_both = self.pool.not(both);
                        holds = self.pool.and(holds, not_both);
                    }
                }
            }
        }
        self.claim(st, holds, "a pointer may leave its object in a loop")
    }
}

/// Per function: the globals that it or its callees may change.
pub(super) fn changes(program: &Program, calls: &CallGraph) -> Vec<FxHashSet<VarId>> {
    let mut changes: Vec<FxHashSet<VarId>> = vec![FxHashSet::default(); program.funcs.len()];
    for (id, edge) in program.edges.iter() {
        if let Some(var) = edge.op.def()
            && program.vars[var].func().is_none()
        {
            changes[program.func_of(id).index()].insert(var);
        }
    }
    // Callees come before callers, except in recursions.
    let order: Vec<FuncId> = calls.bottom_up().flatten().collect();
    loop {
        let mut grown = false;
        for &func in &order {
            for &call in calls.calls_in(func) {
                for callee in calls.callees(program, call).as_slice() {
                    let more: Vec<VarId> =
                        changes[callee.index()].difference(&changes[func.index()]).copied().collect();
                    grown |= !more.is_empty();
                    changes[func.index()].extend(more);
                }
            }
        }
        if !grown {
            return changes;
        }
    }
}
