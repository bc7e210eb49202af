//! The subject of an outcome: the program, a residual program for some of its paths, or a slice of one of these.
//! Results are mapped back to the program.

use cfa::{EdgeId, FuncId, Id, LocId, Program};
use cooperate::condition::Condition;
use cooperate::condition::rest::ExploredProgram;
use cooperate::restrict::Restricted;
use engine::Outcome;
use engine::frontier::{Frontier, Open};

/// The program of a question, with the residual program and the slice that were analysed instead, if any.
pub struct AnalysedProgram<'a> {
    /// The original program.
    pub program: &'a Program,
    /// The residual program for some of its paths.
    pub restricted: Option<&'a Restricted>,
    /// The slice of the residual program, or else of the program.
    pub slice: Option<&'a slicer::Slice>,
}

impl AnalysedProgram<'_> {
    /// Returns the program that was analysed.
    fn analysed(&self) -> &Program {
        match (self.slice, self.restricted) {
            (Some(slice), _) => &slice.program,
            (None, Some(restricted)) => &restricted.program,
            (None, None) => self.program,
        }
    }

    /// Returns the edge of the original program for an edge of the analysed program.
    fn edge(&self, e: EdgeId) -> Option<EdgeId> {
        let of_part = match self.slice {
            Some(slice) => slice.original[e]?,
            None => e,
        };
        self.restricted.map_or(Some(of_part), |r| r.edges[of_part])
    }

    /// Returns the condition that covers the explored paths, if it is known, and the undecided paths to errors.
    /// `counts_on_rest` is true if the exploration omitted paths that are verified only together with residual paths.
    pub fn explored(&self, outcome: &Outcome, counts_on_rest: bool) -> (Option<Condition>, Vec<Vec<EdgeId>>) {
        let mut undecided = Vec::new();
        // If behaviours were dropped at unknown nodes, no path is known to be verified.
        let is_known = |frontier: &&Frontier| frontier.is_complete && outcome.unconfirmed.is_none();
        let (edge, func) = (|e| self.edge(e), |f: FuncId| self.restricted.map_or(f, |r| r.funcs[f]));
        for frontier in outcome.frontiers.iter().filter(is_known) {
            // An open state with a reason is undecided. In an exact frontier the path leads to dropped behaviours, not
            // to an error.
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

    /// Maps the coverage and the states of the abstract reachability graph in `outcome` to locations of the original
    /// program.
    pub fn map_to_original(&self, outcome: &mut Outcome) {
        let (program, analysed) = (self.program, self.analysed());
        let mut original: Vec<Option<LocId>> = vec![None; analysed.locs.len()];
        for (id, of_part) in analysed.edges.iter() {
            if let Some(e) = self.edge(id) {
                original[of_part.source.index()] = Some(program.edges[e].source);
            }
        }
        let mut visited: Vec<Option<bool>> = vec![None; program.locs.len()];
        for (&loc, &seen) in original.iter().zip(&outcome.coverage.visited) {
            if let Some(loc) = loc {
                visited[loc.index()] = visited[loc.index()].max(seen);
            }
        }
        outcome.coverage.visited = visited;
        for state in &mut outcome.arg {
            state.at = state.at.and_then(|loc| original.get(loc.index()).copied().flatten());
        }
    }
}
