//! What an outcome is about: the program, a part of its paths as a program, or a slice of one of them.

use cfa::{EdgeId, FuncId, Id, LocId, Program};
use cooperate::condition::Condition;
use cooperate::condition::rest::ExploredProgram;
use cooperate::restrict::Restricted;
use engine::Outcome;
use engine::frontier::{Frontier, Open};

pub struct Asked<'a> {
    pub program: &'a Program,
    pub restricted: Option<&'a Restricted>,
    pub slice: Option<&'a slicer::Slice>,
}

impl Asked<'_> {
    fn analysed(&self) -> &Program {
        match (self.slice, self.restricted) {
            (Some(slice), _) => &slice.program,
            (None, Some(restricted)) => &restricted.program,
            (None, None) => self.program,
        }
    }

    /// The edge of the program for one that was analysed.
    fn edge(&self, e: EdgeId) -> Option<EdgeId> {
        let of_part = match self.slice {
            Some(slice) => slice.original[e]?,
            None => e,
        };
        self.restricted.map_or(Some(of_part), |r| r.edges[of_part])
    }

    /// What was explored, where it is known, and paths to places that could not be decided. `counts_on_rest`: paths were left out that are
    /// verified only with the rest.
    pub fn explored(&self, outcome: &Outcome, counts_on_rest: bool) -> (Option<Condition>, Vec<Vec<EdgeId>>) {
        let mut undecided = Vec::new();
        // Where something was left out and nobody says where, nothing is known to be done.
        let is_known = |frontier: &&Frontier| frontier.tells_all && outcome.unconfirmed.is_none();
        let (edge, func) = (|e| self.edge(e), |f: FuncId| self.restricted.map_or(f, |r| r.funcs[f]));
        for frontier in outcome.frontiers.iter().filter(is_known) {
            // Paths to errors that were not decided; one to where something was left out leads to no error.
            let is_undecided = |open: &&Open| open.reason.is_some() && !frontier.is_exact;
            let paths = frontier.open.iter().filter(is_undecided).filter_map(|open| open.path);
            undecided.extend(paths.map(|path| frontier.paths.edges(path).into_iter().filter_map(edge).collect()));
            let explored = ExploredProgram {
                program: self.analysed(),
                simplified: outcome.simplified.as_deref(),
                original: self.program,
                edge: &edge,
                func: &func,
                counts_on_rest,
            };
            let explored = explored.condition(frontier);
            if explored != Condition::nothing() {
                return (Some(explored), undecided);
            }
        }
        (None, undecided)
    }

    /// Where an exploration of a part or a slice came to, in terms of the program itself.
    pub fn tell_of(&self, outcome: &mut Outcome) {
        let (program, analysed) = (self.program, self.analysed());
        let mut original: Vec<Option<LocId>> = vec![None; analysed.locs.len()];
        for (id, of_part) in analysed.edges.iter() {
            if let Some(e) = self.edge(id) {
                original[of_part.source.index()] = Some(program.edges[e].source);
            }
        }
        let mut came: Vec<Option<bool>> = vec![None; program.locs.len()];
        for (&loc, &seen) in original.iter().zip(&outcome.coverage.came) {
            if let Some(loc) = loc {
                came[loc.index()] = came[loc.index()].max(seen);
            }
        }
        outcome.coverage.came = came;
        for state in &mut outcome.arg {
            state.at = state.at.and_then(|loc| original.get(loc.index()).copied().flatten());
        }
    }
}
