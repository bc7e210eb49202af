//! Merging: which states become one.

use super::precision::Item;
use super::state::State;
use super::{Pair, SymbolicExecution};
use crate::control::Control;
use crate::execution::{ObjId, Object, PART, Part, Val};
use cfa::Id;
use std::rc::Rc;

impl SymbolicExecution<'_> {
    pub(super) fn merge_states(&mut self, a: State, b: State, at: Control) -> Result<State, Pair<State>> {
        let alike = a.route.past == b.route.past;
        let places = alike.then(|| self.execution.differences(&a, &b)).flatten();
        let Some(places) = places.filter(|places| !self.tracked_apart(&a, &b, at, places)) else {
            return Err(Box::new((a, b)));
        };
        debug_assert_eq!(a.depth(), b.depth(), "states of one block");
        let path = self.execution.merge(a.path, b.path, at, &places, self.keeps_dead);
        self.note_contents(&a.route);
        Ok(State { path, route: a.route })
    }

    /// Whether the two states have different numbers where the precision tracks values: as in a composite analysis, what
    /// predicates could merge stays apart where values do not agree (Beyer, Henzinger, Théoduloz: Configurable software
    /// verification, CAV 2007, "merge-agree").
    fn tracked_apart(&mut self, a: &State, b: &State, at: Control, places: &[(ObjId, u64)]) -> bool {
        if !self.execution.mode.is_abstract || self.abstracting.precision.is_empty() {
            return false;
        }
        let differ = |x: Val, y: Val| x != y && (matches!(x, Val::Int(_)) || matches!(y, Val::Int(_)));
        let tracks = |this: &Self, item| this.abstracting.precision.tracks(at.loc, item);
        for (slot, (&x, &y)) in a.globals.iter().zip(b.globals.iter()).enumerate() {
            if differ(x, y) && tracks(self, Item::Var(self.execution.slots.globals[slot])) {
                return true;
            }
        }
        let (mut x, mut y) = (&a.frame, &b.frame);
        let mut loc = at.loc;
        while !Rc::ptr_eq(x, y) {
            let live = self.execution.live(x.func);
            for &slot in live.at(loc) {
                let slot = slot as usize;
                if differ(x.vars[slot], y.vars[slot])
                    && tracks(self, Item::Var(self.execution.slots.locals[x.func.index()][slot]))
                {
                    return true;
                }
            }
            let (Some(p), Some(q), Some(call)) = (&x.caller, &y.caller, x.call) else { break };
            loc = self.execution.program.edges[call].target;
            (x, y) = (p, q);
        }
        places.iter().any(|&(object, chunk)| {
            let (x, y) = (a.memory.get(object).expect("in both"), b.memory.get(object).expect("in both"));
            Part::of_chunk(chunk).any(|part| {
                let at = part.start();
                let whole = |o: &Object| o.read_whole(at, PART as u32).unwrap_or(Val::Unknown);
                differ(whole(x), whole(y)) && tracks(self, Item::Memory(x.origin, part))
            })
        })
    }
}
