//! Refinement of predicates: formulas for the blocks of a path, and sequence interpolants of them (Henzinger, Jhala,
//! Majumdar, McMillan: Abstractions from proofs, POPL 2004). Each sequence is checked to be one before it is used.

use super::PredicateAbstraction;
use super::state::{ByteRange, Cut, Seen};
use crate::analysis::{Decision, Goal, Increment, Refinement, Stop};
use crate::semantics::{Event, Execution, Origin, State, describe_object};
use crate::verdict::Reason;
use cfa::{BinOp, Expr, ExprId, ExprPool, FuncId, LocId, SymId, UnOp, Value, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};
use smt::budget::{Budget, Spent};
use smt::{Answer, Choice, conjuncts, interpolate};
use std::rc::Rc;

/// Maximal number of subterms of a predicate.
const MOST_SIZE: usize = 400;

/// The contents of globals that occur in a condition, with their places.
fn contents(pool: &ExprPool, condition: ExprId) -> Vec<(ExprId, ByteRange)> {
    let mut found = Vec::new();
    pool.visit(condition, &mut FxHashSet::default(), |e, node| {
        if let Expr::Content { of, offset, width } = *node {
            found.push((e, ByteRange { origin: Origin::Global(of), offset: offset.into(), len: width / 8 }));
        }
    });
    found
}

/// The context in which formulas of blocks are built and interpolated.
pub struct Blocks<'a, 'p> {
    /// The execution that owns the terms.
    pub execution: &'a mut Execution<'p>,
    /// The solver to use.
    pub solvers: &'a Choice,
    /// The predicates and their names.
    pub predicate: &'a mut PredicateAbstraction,
}

/// A state with the abstraction points on the path to it.
#[derive(Clone, Copy)]
pub struct AbstractPath<'a> {
    /// The last state of the path.
    pub state: &'a State,
    /// Its abstraction points.
    pub history: &'a Option<Rc<Cut>>,
}

impl Blocks<'_, '_> {
    /// Translates a predicate into a condition of another pool. `None` if it mentions memory that no expression can
    /// name.
    pub(crate) fn condition(&mut self, pool: &mut ExprPool, predicate: ExprId) -> Option<ExprId> {
        let terms = &mut self.execution.terms;
        let mut names = FxHashMap::default();
        for symbol in terms.symbols_of(predicate) {
            let ByteRange { origin: Origin::Global(of), offset, len } = self.predicate.place_of(symbol)? else {
                return None;
            };
            // The interpreter cannot evaluate a condition on unknown content, or on content that is no number.
            if len > 8 || self.execution.program.globals[of].init.is_none() {
                return None;
            }
            let content = terms.content(of, u32::try_from(offset).ok()?, 8 * len);
            names.insert(terms.symbol(symbol), content);
        }
        let condition = terms.substitute(predicate, &mut names, |_, _| None);
        pool.import(terms, condition)
    }

    /// The formulas of the blocks on the path to the state. Each block has its own symbols. Equalities at the end of a
    /// block define the symbols at the start of the next.
    fn blocks(&mut self, way: AbstractPath<'_>) -> Vec<ExprId> {
        let mut later = self.conjunction(way.state.pc.conjuncts(), &[]);
        let mut blocks = vec![later];
        // The memory contents that later blocks have read.
        let mut read: FxHashSet<ExprId> = FxHashSet::default();
        let mut cut = way.history.clone();
        while let Some(c) = cut {
            self.execution.terms.visit(later, &mut FxHashSet::default(), |e, node| {
                if matches!(node, Expr::Sym(_)) {
                    read.insert(e);
                }
            });
            // A copy of the state with the memory at that abstraction.
            let mut then = way.state.clone();
            then.memory = c.memory.clone();
            let mut equalities = c.replaced.clone();
            let mut contents: Vec<(ExprId, Seen)> =
                read.iter().filter_map(|&e| Some((e, self.predicate.content_of(e)?))).collect();
            contents.retain(|(_, seen)| seen.depth == c.depth + 1 && then.memory.get(seen.object).is_some());
            contents.sort_unstable_by_key(|&(e, _)| e);
            for (symbol, Seen { object, place, .. }) in contents {
                let content = self.execution.read(&mut then, object, place.offset, place.len);
                self.predicate.note_contents(self.execution, &c.before);
                equalities.push((symbol, self.execution.terms.term(content, 8 * place.len)));
            }
            later = self.conjunction(c.pc.conjuncts(), &equalities);
            blocks.push(later);
            cut = c.before.clone();
        }
        blocks.reverse();
        blocks
    }

    fn conjunction(&mut self, conjuncts: Vec<ExprId>, equalities: &[(ExprId, ExprId)]) -> ExprId {
        let mut all = self.execution.terms.bool(true);
        for e in conjuncts {
            all = self.execution.terms.and(all, e);
        }
        for &(symbol, value) in equalities {
            let equal = self.execution.terms.eq(symbol, value);
            all = self.execution.terms.and(all, equal);
        }
        all
    }

    /// The decisions of an execution through all blocks, by block. `None` if the blocks are contradictory. An error if
    /// the solver cannot decide.
    pub fn decisions(&mut self, way: AbstractPath<'_>, budget: &Budget) -> Result<Option<Vec<Vec<Decision>>>, Stop> {
        let blocks = self.blocks(way);
        let mut solver = self.solvers.open();
        match solver.check(&self.execution.terms, &blocks, budget) {
            Answer::Unsat => return Ok(None),
            Answer::Unknown(_) if budget.spent().is_some() => return Err(Stop::Spent(Spent::Time)),
            Answer::Unknown(reason) => {
                return Err(Stop::Fatal(Reason::new(format!("a path to an error is undecided: {reason}"))));
            }
            Answer::Sat => {}
        }
        let mut trails = vec![way.state.trail.clone()];
        let mut cut = way.history.clone();
        while let Some(c) = cut {
            trails.push(c.trail.clone());
            cut = c.before.clone();
        }
        trails.reverse();
        let all = trails.iter().map(|trail| {
            let events =
                trail.events(|cond| matches!(solver.value(&self.execution.terms, cond), Value::Bv(b) if b.is_true()));
            events.into_iter().filter_map(|e| if let Event::Decision(d) = e { Some(d) } else { None }).collect()
        });
        Ok(Some(all.collect()))
    }

    /// The sequence interpolants of the contradictory blocks, as conditions on variables and memory, each with the
    /// number of its cut. Trivial ones are left out. `None` if there are none.
    pub fn interpolants(&mut self, way: AbstractPath<'_>, budget: &Budget) -> Option<Vec<(usize, ExprId)>> {
        let steps = self.blocks(way);
        let mut solver = self.solvers.open();
        let direction = interpolate::Direction::Backward;
        let terms = &mut self.execution.terms;
        let found = interpolate::interpolants(terms, &mut *solver, &steps, direction, budget).ok()?;
        let says = |e: ExprId| !terms.is_true(e) && !terms.is_false(e);
        let found: Vec<_> = found.into_iter().enumerate().filter(|&(_, e)| says(e)).collect();
        Some(found.into_iter().map(|(k, interpolant)| (k, self.named(interpolant, k as u32 + 1))).collect())
    }

    /// Finds predicates that refute the contradictory blocks on a path with abstractions at `cuts`, and tracks them: at
    /// the cuts only if `is_local`. Returns the refinement and what it learned.
    pub fn refine(
        &mut self,
        way: AbstractPath<'_>,
        cuts: &[LocId],
        is_local: bool,
        goal: Goal,
        budget: &Budget,
    ) -> (Refinement, Option<Increment>) {
        let Some(found) = self.interpolants(way, budget) else { return (Refinement::Impossible, None) };
        let first = found.first().map(|&(k, _)| k);
        let mut learned: Vec<ExprId> = Vec::new();
        for (k, named) in found {
            let mut atoms = Vec::new();
            for conjunct in conjuncts(&mut self.execution.terms, named) {
                self.atoms(conjunct, &mut atoms);
            }
            for atom in atoms {
                if let Some(func) = self.scope(atom)
                    && self.predicate.precision_mut().add(func, cuts.get(k).copied().filter(|_| is_local), atom)
                {
                    learned.push(atom);
                }
            }
        }
        let Some(from) = first else { return (Refinement::Impossible, None) };
        let changed = !learned.is_empty();
        let program = self.execution.program;
        let describe = |&p: &ExprId| {
            format!("whether `{}`", cfa::text::c_expr_with(program, &self.execution.terms, p, &|s| self.name_of(s)))
        };
        let tracked = learned.iter().map(describe).collect();
        let increment = changed.then(|| Increment { goal: program.edges[goal.edge()].place, tracked });
        (Refinement::Refined { from, changed }, increment)
    }

    /// Translates an interpolant over the symbols after `depth` abstractions into a condition on variables and memory.
    fn named(&mut self, interpolant: ExprId, depth: u32) -> ExprId {
        let mut names = FxHashMap::default();
        for symbol in self.execution.terms.symbols_of(interpolant) {
            let e = self.execution.terms.symbol(symbol);
            if let Some(var) = self.predicate.name_of(e, depth) {
                names.insert(symbol, var);
            } else if let Some(seen) = self.predicate.content_of(e).filter(|seen| seen.depth == depth) {
                let name = self.predicate.place_symbol(self.execution, seen.place);
                names.insert(symbol, name);
            }
        }
        self.execution.terms.substitute(interpolant, &mut FxHashMap::default(), |pool, leaf| match pool.get(leaf) {
            Expr::Sym(s) => names.get(s).copied(),
            _ => None,
        })
    }

    /// The place that a symbol in predicates represents, as text for the user.
    fn name_of(&self, symbol: SymId) -> Option<String> {
        let place = self.predicate.place_of(symbol)?;
        let object = describe_object(self.execution.program, place.origin);
        Some(format!("{}[{}..{}]", object.trim_matches('`'), place.offset, place.offset + u64::from(place.len)))
    }

    /// The scope of a predicate: the function of its locals, or `Some(None)` for globals only. `None` if it mentions
    /// locals of two functions or symbols of one path, or is too large.
    fn scope(&self, predicate: ExprId) -> Option<Option<FuncId>> {
        let mut size = 0;
        let mut plain = true;
        self.execution.terms.visit(predicate, &mut FxHashSet::default(), |_, node| {
            size += 1;
            plain &= !matches!(node, Expr::Sym(s) if self.predicate.place_of(*s).is_none());
        });
        let mut func = None;
        for var in self.execution.terms.vars(predicate) {
            let owner = match self.execution.program.vars[var].kind {
                VarKind::Global { .. } => continue,
                VarKind::Local(f) | VarKind::Param(f) | VarKind::Temp(f) => f,
            };
            if func.is_some_and(|f| f != owner) {
                return None;
            }
            func = Some(owner);
        }
        (plain && size <= MOST_SIZE).then_some(func)
    }

    /// Tracks the atoms of a condition of another pool at all locations.
    pub fn track(&mut self, pool: &ExprPool, condition: ExprId) {
        let Some(own) = self.execution.terms.import(pool, condition) else { return };
        let mut names = FxHashMap::default();
        for (e, place) in contents(&self.execution.terms, own) {
            names.insert(e, self.predicate.place_symbol(self.execution, place));
        }
        let own = self.execution.terms.substitute(own, &mut names, |_, _| None);
        let mut atoms = Vec::new();
        self.atoms(own, &mut atoms);
        for atom in atoms {
            if let Some(func) = self.scope(atom) {
                self.predicate.precision_mut().add(func, None, atom);
            }
        }
    }

    /// Appends the atoms of a boolean combination to `atoms`.
    fn atoms(&mut self, e: ExprId, atoms: &mut Vec<ExprId>) {
        let mut stack = vec![e];
        let mut seen = FxHashSet::default();
        while let Some(e) = stack.pop() {
            if !seen.insert(e) {
                continue;
            }
            match *self.execution.terms.get(e) {
                Expr::Unary(UnOp::Not, a) => stack.push(a),
                Expr::Binary(BinOp::And | BinOp::Or | BinOp::Xor, a, b) if self.execution.terms.width(a) == 1 => {
                    stack.extend([a, b])
                }
                Expr::Binary(BinOp::Eq, a, b) if self.execution.terms.width(a) == 1 => stack.extend([a, b]),
                Expr::Ite(c, t, f) if self.execution.terms.width(t) == 1 => stack.extend([c, t, f]),
                Expr::Const(_) => {}
                _ if !atoms.contains(&e) => atoms.push(e),
                _ => {}
            }
        }
    }
}
