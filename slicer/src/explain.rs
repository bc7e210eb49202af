//! Explains why an operation is in a slice, by a chain of dependences.

use crate::criterion::{Criterion, Datum};
use crate::mark::Marks;
use crate::modref::Cell;
use crate::sdg::NodeKind;
use crate::slice::Analysis;
use cfa::{EdgeId, Op};

/// A dependence: the operation of `edge` depends on the operation of `on`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Dependence {
    /// The dependent edge.
    pub edge: EdgeId,
    /// The edge that it depends on.
    pub on: EdgeId,
    /// The kind of the dependence.
    pub kind: DependenceKind,
}

/// The kind of a dependence of `edge` on `on`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DependenceKind {
    /// `edge` uses a value that `on` defines. If it is a parameter, `on` is a call; if it is a result, `on` is a
    /// return.
    Data(Datum),
    /// The branch `on` decides whether, or in which order, `edge` is executed.
    Control,
    /// `on` calls the function that contains `edge`.
    Call,
    /// `edge` follows the call `on`, which may not return.
    Returns,
}

/// A backward slice with the reason for each of its operations.
pub struct Explanation<'a, 'p> {
    analysis: &'a Analysis<'p>,
    marks: Marks,
}

impl<'p> Analysis<'p> {
    /// Computes the operations that the criteria depend on, like [`slice`](Self::slice), with reasons.
    pub fn explain(&self, criteria: &[Criterion]) -> Explanation<'_, 'p> {
        Explanation { analysis: self, marks: self.backward(criteria, &[], true) }
    }
    /// The chain of dependences from a criterion to the edge, as [`Explanation::chain`] returns it.
    pub fn why(&self, criteria: &[Criterion], edge: EdgeId) -> Option<Vec<Dependence>> {
        self.explain(criteria).chain(edge)
    }
}

impl Explanation<'_, '_> {
    /// Returns true if the operation of the edge is in the slice.
    pub fn contains(&self, edge: EdgeId) -> bool {
        self.analysis.sdg.op(edge).is_some_and(|n| self.marks.contains(n))
    }

    /// A shortest chain of dependences from a criterion to the edge.
    ///
    /// The first dependence starts at the edge of a criterion. Each other dependence starts at the edge that the
    /// previous one depends on. The last one depends on `edge`. Empty if `edge` is the edge of a criterion; `None` if
    /// it is not in the slice.
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
                    through =
                        through.filter(|_| !matches!(kind, NodeKind::Entry(_))).or_else(|| self.analysis.passes(kind))
                }
                Some(on) => {
                    let on = if i + 1 == nodes.len() { edge } else { on };
                    if let Some(from) = at
                        && from != on
                    {
                        let kind = through.unwrap_or_else(|| self.analysis.direct(from, on));
                        chain.push(Dependence { edge: from, on, kind });
                    }
                    // The call defines the cell because its callee does.
                    through = match kind {
                        NodeKind::After(..) => {
                            self.analysis.passes(kind).filter(|k| !matches!(k, DependenceKind::Returns))
                        }
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
    /// The kind of a dependence path that passes through a node of this kind.
    pub(crate) fn passes(&self, kind: NodeKind) -> Option<DependenceKind> {
        match kind {
            NodeKind::Control(_) => Some(DependenceKind::Control),
            NodeKind::Entry(_) => Some(DependenceKind::Call),
            NodeKind::Weak(_, cell)
            | NodeKind::Join(_, cell)
            | NodeKind::In(_, cell)
            | NodeKind::Out(_, cell)
            | NodeKind::After(_, cell)
            | NodeKind::Unordered(cell) => self.of_cell(cell),
            NodeKind::Op(_)
            | NodeKind::Argument(..)
            | NodeKind::Returned(_)
            | NodeKind::Observed(_)
            | NodeKind::Gathered => None,
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

    /// The kind of a dependence without intermediate nodes: `from` uses a value that `on` defines, or `on` is a branch.
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

/// The edge of a node, where the next node of the chain is `next`; `None` for nodes that are no operations.
fn site(kind: NodeKind, next: Option<NodeKind>) -> Option<EdgeId> {
    match kind {
        NodeKind::Op(e) | NodeKind::Argument(e, _) | NodeKind::Returned(e) | NodeKind::Observed(e) => Some(e),
        // If the value passes the call unchanged, the call is not a step of the chain.
        NodeKind::After(e, _) if matches!(next, Some(NodeKind::Out(..))) || next == Some(NodeKind::Op(e)) => Some(e),
        _ => None,
    }
}
