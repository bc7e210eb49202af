//! Merges several branches into one.

use super::{locations, only_edge, predecessors, substituted};
use cfa::liveness::Liveness;
use cfa::{EdgeId, ExprId, FuncId, LocId, Op, Out, PlaceId, Program, VarId, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// Largest number of assignments on one side of a branch.
const MOST_ASSIGNMENTS: usize = 6;
/// Largest size of a combined condition.
const MOST_SIZE: usize = 200;

/// Merges branches of a function. Returns whether it has merged any.
pub fn join(program: &mut Program, func: FuncId, locals: &[VarId]) -> bool {
    let order = locations(program, func);
    if !order.iter().any(|&loc| matches!(program.locs[loc].out, Out::Branch { .. })) {
        return false;
    }
    let incoming = predecessors(program, func, &order);
    let mut this = Joining { live: None, locals, program, incoming, touched: FxHashSet::default(), nowhere: None };
    let mut changed = false;
    for loc in order {
        if matches!(this.program.locs[loc].out, Out::Branch { .. }) {
            changed |= this.choice(loc) || this.chain(loc);
        }
    }
    changed
}

/// The simplification of the branches of a function.
struct Joining<'a> {
    program: &'a mut Program,
    /// Number of incoming edges by location.
    incoming: FxHashMap<LocId, u32>,
    /// Liveness, computed on demand. Most functions do not need it.
    live: Option<Liveness>,
    locals: &'a [VarId],
    /// Locations that changed in this round. Facts about them are outdated.
    touched: FxHashSet<LocId>,
    /// A location for edges that are no longer needed.
    nowhere: Option<LocId>,
}

/// One side of a branch: its exclusive assignments, and the location after them.
struct Side {
    /// The values of assigned variables, as expressions at the branch.
    values: FxHashMap<VarId, ExprId>,
    order: Vec<VarId>,
    /// The locations on this side.
    through: Vec<LocId>,
    end: LocId,
}

impl Joining<'_> {
    fn is_live(&mut self, var: VarId, loc: LocId) -> bool {
        if matches!(self.program.vars[var].kind, VarKind::Global { .. }) {
            return true;
        }
        let Self { program, locals, live, .. } = self;
        let live = live.get_or_insert_with(|| Liveness::new(program, program.locs[loc].func, locals));
        live.at.get(&loc).unwrap_or(&live.otherwise).contains(&var)
    }

    /// True for truth values in temporaries that have no C variable.
    fn is_condition(&self, var: VarId) -> bool {
        self.program.vars[var].width == 1 && matches!(self.program.vars[var].kind, VarKind::Temp(_))
    }

    /// Follows one side of a branch over assignments that no other path reaches.
    fn side(&mut self, edge: EdgeId) -> Side {
        let mut side = Side {
            values: FxHashMap::default(),
            order: Vec::new(),
            through: Vec::new(),
            end: self.program.edges[edge].target,
        };
        while self.incoming.get(&side.end) == Some(&1) && !self.touched.contains(&side.end) {
            let Some(next) = only_edge(self.program, side.end) else { break };
            if self.program.edges[next].fault.is_some() || side.order.len() >= MOST_ASSIGNMENTS {
                break;
            }
            match self.program.edges[next].op {
                Op::Skip => {}
                Op::Assign { var, value } => {
                    let value = substituted(self.program, value, &side.values);
                    if self.size(value) > MOST_SIZE {
                        break;
                    }
                    side.values.insert(var, value);
                    side.order.retain(|&v| v != var);
                    side.order.push(var);
                }
                _ => break,
            }
            side.through.push(side.end);
            side.end = self.program.edges[next].target;
        }
        side
    }

    fn size(&self, e: ExprId) -> usize {
        let mut size = 0;
        self.program.exprs.visit(e, &mut Default::default(), |_, _| size += 1);
        size
    }

    fn branch(&self, loc: LocId) -> Option<(EdgeId, EdgeId, ExprId)> {
        let Out::Branch { then_edge, else_edge } = self.program.locs[loc].out else { return None };
        let Op::Assume { cond, .. } = self.program.edges[then_edge].op else { return None };
        let plain = [then_edge, else_edge].into_iter().all(|e| self.program.edges[e].fault.is_none());
        plain.then_some((then_edge, else_edge, cond))
    }

    /// Handles a branch whose sides differ only in one truth value: `v = a || b` becomes an assignment.
    fn choice(&mut self, loc: LocId) -> bool {
        let Some((then_edge, else_edge, cond)) = self.branch(loc) else { return false };
        if self.touched.contains(&loc) {
            return false;
        }
        let (yes, no) = (self.side(then_edge), self.side(else_edge));
        if yes.end != no.end || self.touched.contains(&yes.end) {
            return false;
        }
        let end = yes.end;
        let mut assigned: Vec<VarId> = yes.order.iter().chain(&no.order).copied().collect();
        assigned.sort_unstable();
        assigned.dedup();
        assigned.retain(|&var| self.is_live(var, end));
        if !assigned.iter().all(|&var| self.is_condition(var)) {
            return false;
        }
        let mut chosen = Vec::new();
        for var in assigned {
            let own = self.program.var_expr(var);
            let value = |side: &Side| side.values.get(&var).copied().unwrap_or(own);
            let value = self.program.exprs.ite(cond, value(&yes), value(&no));
            if self.size(value) > MOST_SIZE {
                return false;
            }
            chosen.push((var, value));
        }
        // With several values, one could overwrite a variable that the next one uses.
        if chosen.len() > 1 {
            return false;
        }
        let place = self.program.edges[then_edge].place;
        let passed: Vec<LocId> = yes.through.iter().chain(&no.through).copied().collect();
        passed.iter().for_each(|&loc| self.clear(loc));
        self.touched.extend(passed);
        self.replace(loc, chosen, end, place);
        true
    }

    /// Removes the outgoing edges of a location.
    fn clear(&mut self, loc: LocId) {
        let func = self.program.locs[loc].func;
        let nowhere = *self.nowhere.get_or_insert_with(|| self.program.add_location(func));
        for edge in self.program.out_edges(loc) {
            let edge = &mut self.program.edges[edge];
            (edge.source, edge.target, edge.op) = (nowhere, nowhere, Op::Skip);
        }
        self.program.locs[loc].out = Out::Sink;
    }

    /// Replaces a branch by assignments.
    fn replace(&mut self, loc: LocId, values: Vec<(VarId, ExprId)>, end: LocId, place: Option<PlaceId>) {
        self.clear(loc);
        self.touched.extend([loc, end]);
        let func = self.program.locs[loc].func;
        let mut at = loc;
        let last = values.len().saturating_sub(1);
        for (i, &(var, value)) in values.iter().enumerate() {
            let next = if i == last { end } else { self.program.add_location(func) };
            self.program.add_edge(at, Op::Assign { var, value }, next, place);
            at = next;
        }
        if values.is_empty() {
            self.program.add_edge(loc, Op::Skip, end, place);
        }
    }

    /// Handles a branch to another branch with a common destination: `case 1: case 2:`.
    fn chain(&mut self, loc: LocId) -> bool {
        let Some((then_edge, else_edge, cond)) = self.branch(loc) else { return false };
        if self.touched.contains(&loc) {
            return false;
        }
        for (taken, other, holds) in [(then_edge, else_edge, true), (else_edge, then_edge, false)] {
            // The destination that the first branch takes if its condition equals `holds`.
            let destination = self.program.edges[taken].target;
            let side = self.side(other);
            let second = side.end;
            if second == loc || self.incoming.get(&second) != Some(&1) || self.touched.contains(&second) {
                continue;
            }
            let Some((yes, no, condition)) = self.branch(second) else { continue };
            // The assignments before the second branch must not be visible at the destination of the first.
            if side.order.iter().any(|&var| self.is_live(var, destination)) || self.touched.contains(&destination) {
                continue;
            }
            let (if_yes, if_no) = (self.program.edges[yes].target, self.program.edges[no].target);
            let on_yes = if_yes == destination;
            if on_yes == (if_no == destination) || if_yes == second || if_no == second {
                continue;
            }
            let condition = substituted(self.program, condition, &side.values);
            // The condition for reaching the destination.
            let first = if holds { cond } else { self.program.exprs.not(cond) };
            let later = if on_yes { condition } else { self.program.exprs.not(condition) };
            let both = self.program.exprs.or(first, later);
            if self.size(both) > MOST_SIZE || self.program.exprs.as_const(both).is_some() {
                continue;
            }
            let rest = if on_yes { if_no } else { if_yes };
            // Values that the rest needs are assigned at its start.
            let needed: Vec<(VarId, ExprId)> =
                side.order.iter().filter(|&&v| self.is_live(v, rest)).map(|&v| (v, side.values[&v])).collect();
            if needed.len() > 1 {
                continue;
            }
            let place = self.program.edges[then_edge].place;
            let func = self.program.locs[loc].func;
            let passed: Vec<LocId> = side.through.iter().chain(&[loc, second]).copied().collect();
            passed.iter().for_each(|&loc| self.clear(loc));
            self.touched.extend(passed);
            let begin = match needed.is_empty() {
                true => rest,
                false => self.program.add_location(func),
            };
            self.program.add_branch(loc, both, destination, begin, place);
            for (var, value) in needed {
                self.program.add_edge(begin, Op::Assign { var, value }, rest, place);
            }
            return true;
        }
        false
    }
}
