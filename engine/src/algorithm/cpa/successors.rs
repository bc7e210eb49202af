//! The successors of a state over the outgoing edges of its location.

use super::*;

/// A case split on a value counts as this number of edges, because it queries the solver about all splits so far.
const SPLIT: u32 = 64;

impl<C: Cpa, R: Reached<C>> CpaAlgorithm<'_, C, R> {
    /// The successors of a state at `at`.
    pub(super) fn successors(
        &mut self,
        mut state: C::State,
        at: Control,
        node: R::Node,
        taints: &mut Taints,
    ) -> Result<NextOf<C>, Stop> {
        let program = self.program;
        let to = |edge: EdgeId| Control { loc: program.edges[edge].target, ..at };
        let way = |state, edge| Successor { state, at: to(edge), edge, over: edge, moved: true };
        match program.locs[at.loc].out {
            Out::Sink => Ok(Next::Ways),
            Out::Branch { then_edge, else_edge } => Ok(match self.cpa.branch(state, then_edge, else_edge)? {
                (None, None) => Next::Ways,
                (Some(state), None) => Next::One(way(state, then_edge)),
                (None, Some(state)) => Next::One(way(state, else_edge)),
                (Some(then_state), Some(else_state)) => {
                    // The else-side comes first, so that depth-first search takes the then-side next.
                    self.ways.extend([way(else_state, else_edge), way(then_state, then_edge)]);
                    Next::Ways
                }
            }),
            Out::One(edge) => match &program.edges[edge].op {
                &Op::Error(error) => {
                    let goal = Goal::Error { edge, error };
                    Ok(match self.cpa.target(&mut state, edge, error)? {
                        Target::Later => Next::Later(state),
                        Target::Infeasible => Next::Ways,
                        Target::Reached(_) | Target::Undecided
                            if R::ABSTRACT && !self.reached.is_closed(node, edge) =>
                        {
                            Next::Hit { goal, state, before: None, evidence: None }
                        }
                        Target::Reached(evidence) if !R::ABSTRACT => {
                            Next::Hit { goal, state, before: None, evidence: Some(evidence) }
                        }
                        Target::Reached(_) | Target::Undecided => Next::Ways,
                    })
                }
                Op::Halt(_) => {
                    self.cpa.ended(state, edge);
                    Ok(Next::Ways)
                }
                Op::Return { .. } => match self.stacks.pop(at.stack) {
                    None => {
                        self.cpa.ended(state, edge);
                        Ok(Next::Ways)
                    }
                    Some(_) if !self.cpa.returns(&mut state, edge) => Ok(Next::Ways),
                    Some((stack, call)) => {
                        let state = self.cpa.leave(state, edge, call)?;
                        let at = Control { loc: program.edges[call].target, stack };
                        Ok(Next::One(Successor { state, at, edge, over: call, moved: true }))
                    }
                },
                _ => self.transfer(state, at, edge, node, taints),
            },
        }
    }

    /// The successors over an edge other than a branch, a return or an error.
    pub(super) fn transfer(
        &mut self,
        state: C::State,
        at: Control,
        edge: EdgeId,
        node: R::Node,
        taints: &mut Taints,
    ) -> Result<NextOf<C>, Stop> {
        let program = self.program;
        let fault = program.edges[edge].fault;
        let is_plain = matches!(program.edges[edge].op, Op::Assign { .. } | Op::Skip | Op::Havoc { .. });
        let before = if R::ABSTRACT && (!is_plain || fault.is_some()) { self.reached.copy(&state) } else { None };
        let mut step = std::mem::take(&mut self.result);
        step.clear();
        self.cpa.transfer(state, at, edge, &mut step)?;
        let mut next = None;
        let problem = if before.is_some() { step.undecided.first().copied() } else { None };
        if let (Some(problem), Some(state)) = (problem, &before) {
            let state = self.reached.copy(state).expect("copied before");
            next = Some(Next::Hit { goal: Goal::Undecided { edge: problem }, state, before: None, evidence: None });
        } else if let Some(error) = fault
            && !(R::ABSTRACT && self.reached.is_closed(node, edge))
        {
            next = self.fault(edge, error, before, &mut step.faults)?;
        }
        for state in step.postponed.drain(..) {
            match next {
                None => next = Some(Next::Later(state)),
                Some(_) => self.ways.push(Successor { state, at, edge, over: edge, moved: false }),
            }
        }
        if R::ABSTRACT && next.is_some() {
            // The operation is executed again after the target is closed.
            step.successors.clear();
        }
        if next.is_none() && step.successors.len() == 1 && step.successors[0].1 == At::Target {
            let (state, _) = step.successors.pop().expect("one");
            self.result = step;
            let at = Control { loc: program.edges[edge].target, ..at };
            return Ok(Next::One(Successor { state, at, edge, over: edge, moved: true }));
        }
        for (state, to) in step.successors.drain(..) {
            if to == At::Source {
                self.tick += SPLIT;
            }
            if let Some(at) = self.place(at, edge, to, taints) {
                self.ways.push(Successor { state, at, edge, over: edge, moved: to != At::Source });
            }
        }
        self.result = step;
        Ok(match next {
            Some(next) => next,
            None if self.ways.len() == 1 => Next::One(self.ways.pop().expect("one")),
            None => Next::Ways,
        })
    }

    /// The first of the fault states that reaches the error, or may reach it.
    pub(super) fn fault(
        &mut self,
        edge: EdgeId,
        error: ErrorId,
        mut before: Option<C::State>,
        faults: &mut Vec<C::State>,
    ) -> Result<Option<NextOf<C>>, Stop> {
        let goal = Goal::Error { edge, error };
        for mut state in faults.drain(..) {
            match self.cpa.target(&mut state, edge, error)? {
                // If it is executed again, the operation faults again.
                Target::Later => return Ok(Some(Next::Later(before.unwrap_or(state)))),
                Target::Infeasible => self.counters.paths += 1,
                Target::Reached(_) | Target::Undecided if R::ABSTRACT => {
                    return Ok(Some(Next::Hit { goal, state, before: before.take(), evidence: None }));
                }
                Target::Undecided => self.counters.paths += 1,
                Target::Reached(evidence) => {
                    return Ok(Some(Next::Hit { goal, state, before: None, evidence: Some(evidence) }));
                }
            }
        }
        Ok(None)
    }

    /// The position of a successor; `None` beyond the maximal call depth.
    pub(super) fn place(&mut self, at: Control, edge: EdgeId, to: At, taints: &mut Taints) -> Option<Control> {
        match to {
            At::Target => Some(Control { loc: self.program.edges[edge].target, ..at }),
            At::Source => Some(at),
            At::Callee(func) => {
                if self.stacks.depth(at.stack) >= self.parameters.max_call_depth {
                    let place = self.program.edges[edge].place;
                    let text = format!("calls nest deeper than {}", self.parameters.max_call_depth);
                    taints.drop_behaviour(Reason::at(text, place));
                    return None;
                }
                Some(Control { loc: self.program.funcs[func].entry, stack: self.stacks.push(at.stack, edge) })
            }
        }
    }
}
