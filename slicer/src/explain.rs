//! Why something is in a slice, in terms of operations.

use crate::criterion::{Criterion, Datum};
use crate::mark::Marks;
use crate::modref::Cell;
use crate::sdg::Kind;
use crate::slice::Analysis;
use cfa::{EdgeId, Op};

/// The operation of `edge` depends on that of `on`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Dependence {
    pub edge: EdgeId,
    pub on: EdgeId,
    pub kind: DependenceKind,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DependenceKind {
    /// `edge` takes a value that `on` gives: of a parameter, `on` is a call; of a result, a return.
    Data(Datum),
    /// The branch `on` decides whether (or in which order) `edge` is executed.
    Control,
    /// `on` calls the function that `edge` is in.
    Call,
    /// `edge` comes after the call `on`, which may not return.
    Returns,
}

/// What criteria depend on, with reasons.
pub struct Explanation<'a, 'p> {
    analysis: &'a Analysis<'p>,
    marks: Marks,
}

impl<'p> Analysis<'p> {
    /// Walks backwards from the criteria, as [`slice`](Self::slice) does.
    pub fn explain(&self, criteria: &[Criterion]) -> Explanation<'_, 'p> {
        Explanation { analysis: self, marks: self.backward(criteria, true) }
    }
    /// See [`Explanation::chain`].
    pub fn why(&self, criteria: &[Criterion], edge: EdgeId) -> Option<Vec<Dependence>> {
        self.explain(criteria).chain(edge)
    }
}

impl Explanation<'_, '_> {
    pub fn contains(&self, edge: EdgeId) -> bool {
        self.analysis.sdg.op(edge).is_some_and(|n| self.marks.contains(n))
    }

    /// A shortest chain of dependences from a criterion to the edge: the first is of a criterion's edge, each other of
    /// the edge that the one before it is on, the last is on `edge`. Empty for a criterion itself; `None` for an edge
    /// that is not in the slice.
    pub fn chain(&self, edge: EdgeId) -> Option<Vec<Dependence>> {
        let nodes = self.marks.chain(self.analysis.sdg.op(edge)?)?;
        let kinds = &self.analysis.sdg.kinds;
        let mut chain: Vec<Dependence> = Vec::new();
        let mut at: Option<EdgeId> = None;
        let mut through = None;
        for (i, &node) in nodes.iter().enumerate() {
            let kind = kinds[node as usize];
            let next = nodes.get(i + 1).map(|&n| kinds[n as usize]);
            match site(kind, next) {
                None => {
                    through = through.filter(|_| !matches!(kind, Kind::Entry(_))).or_else(|| self.analysis.passes(kind))
                }
                Some(on) => {
                    let on = if i + 1 == nodes.len() { edge } else { on };
                    if let Some(from) = at
                        && from != on
                    {
                        let kind = through.unwrap_or_else(|| self.analysis.direct(from, on));
                        chain.push(Dependence { edge: from, on, kind });
                    }
                    // A call gives the value of a cell because the callee does.
                    through = match kind {
                        Kind::After(..) => self.analysis.passes(kind).filter(|k| !matches!(k, DependenceKind::Returns)),
                        _ => None,
                    };
                    at = Some(on);
                }
            }
        }
        Some(chain)
    }
}

impl Analysis<'_> {
    /// What it says of a dependence that it goes through a node.
    pub(crate) fn passes(&self, kind: Kind) -> Option<DependenceKind> {
        match kind {
            Kind::Control(_) => Some(DependenceKind::Control),
            Kind::Entry(_) => Some(DependenceKind::Call),
            Kind::Weak(_, cell)
            | Kind::Join(_, cell)
            | Kind::In(_, cell)
            | Kind::Out(_, cell)
            | Kind::After(_, cell)
            | Kind::Unordered(cell) => self.of_cell(cell),
            Kind::Op(_) | Kind::Argument(..) | Kind::Returned(_) | Kind::Observed(_) | Kind::Gathered => None,
        }
    }
    pub(crate) fn of_cell(&self, cell: Cell) -> Option<DependenceKind> {
        let cells = self.sdg.cells;
        Some(match (cells.as_var(cell), cells.as_region(cell)) {
            (Some(v), _) => DependenceKind::Data(Datum::Var(v)),
            (_, Some(r)) => DependenceKind::Data(Datum::Memory(r)),
            _ if cell == cells.returning() => DependenceKind::Returns,
            _ => DependenceKind::Data(Datum::Result),
        })
    }

    /// The dependence of an operation on another with nothing between: a value given by the one to the other.
    pub(crate) fn direct(&self, from: EdgeId, on: EdgeId) -> DependenceKind {
        let (program, regions) = (self.program, &self.regions);
        let op = &program.edges[on].op;
        if let Op::Assume { .. } = op {
            return DependenceKind::Control;
        }
        let mut used = false;
        if let Some(v) = op.def() {
            program.edges[from].op.for_each_expr(|e| used |= program.exprs.vars(e).contains(&v));
            if used {
                return DependenceKind::Data(Datum::Var(v));
            }
        }
        let shared = regions.writes(on).iter().find(|r| regions.reads(from).contains(r));
        match (shared.or(regions.writes(on).first()), op.def()) {
            (Some(&r), _) => DependenceKind::Data(Datum::Memory(r)),
            (None, Some(v)) => DependenceKind::Data(Datum::Var(v)),
            (None, None) => DependenceKind::Control,
        }
    }
}

/// The edge that a node stands for on the way to the next node.
fn site(kind: Kind, next: Option<Kind>) -> Option<EdgeId> {
    match kind {
        Kind::Op(e) | Kind::Argument(e, _) | Kind::Returned(e) | Kind::Observed(e) => Some(e),
        // Where an older value comes through a call, the call does nothing.
        Kind::After(e, _) if matches!(next, Some(Kind::Out(..))) || next == Some(Kind::Op(e)) => Some(e),
        _ => None,
    }
}
