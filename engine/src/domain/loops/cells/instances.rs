//! Invariants about all cells in a state: they are assumed as quantified facts, and checked at a fresh index.

use super::*;

impl Unrolling<'_> {
    /// Assumes the facts and candidates about cells at the place of this number.
    pub(in crate::domain::loops) fn assume_cells(&mut self, st: &mut State, number: u32) {
        let place = self.place(number);
        let all: Vec<CellFact> = place.cell_facts.iter().chain(&place.cell_candidates).cloned().collect();
        for fact in all {
            if let Some(quantified) = self.quantify(st, &fact) {
                Rc::make_mut(&mut st.quantified).push(Rc::new(quantified));
            }
        }
    }

    /// Drops the candidates about cells that do not hold in `st`.
    pub(in crate::domain::loops) fn check_cells(&mut self, st: &mut State, number: u32) {
        let candidates = self.place(number).cell_candidates.clone();
        if candidates.is_empty() {
            return;
        }
        let (_, k) =
            self.symbolic.execution.terms.fresh_symbol(Sort::Bv(self.symbolic.execution.program.layout.pointer_width));
        let (mut wrong, mut open) = (FxHashSet::default(), Vec::new());
        for (i, fact) in candidates.iter().enumerate() {
            match self.at_index(st, fact, k) {
                Some(value) => open.push((i, value)),
                None => {
                    wrong.insert(i);
                }
            }
        }
        self.refute(st, open, &mut wrong);
        if !wrong.is_empty() {
            let mut i = 0;
            self.place(number).cell_candidates.retain(|_| {
                i += 1;
                !wrong.contains(&(i - 1))
            });
            self.drop_assumption();
        }
    }

    /// The fact at index `k`, as a condition. `None` if it has no meaning in `st`.
    fn at_index(&mut self, st: &mut State, fact: &CellFact, k: ExprId) -> Option<Val> {
        let mut meaning = FxHashMap::default();
        meaning.insert(fact.index, k);
        let mut guard = self.between(st, fact, k)?;
        for (row, hole) in &fact.rows {
            let object = self.row_object(st, row)?;
            let (offset, inside) = self.place_in_row(st, object, row, k);
            guard = self.symbolic.execution.terms.and(guard, inside);
            if st.memory.get(object).is_some_and(|o| o.array.is_none() && o.extent() <= SMALL) {
                semantics::make_array(&mut self.symbolic.execution, st, object, offset, row.len);
            }
            let value = self.symbolic.execution.read_at(st, object, Val::Expr(offset), row.len);
            let value = self.symbolic.execution.terms.term(value, 8 * row.len);
            meaning.insert(*hole, value);
        }
        let body = self.body(st, fact, &meaning)?;
        let outside = self.symbolic.execution.terms.not(guard);
        let term = self.symbolic.execution.terms.or(outside, body);
        Some(self.symbolic.execution.terms.classify(term))
    }

    /// The fact in `st`, quantified over its index. `None` if it has no meaning there.
    fn quantify(&mut self, st: &mut State, fact: &CellFact) -> Option<Quantified> {
        let mut meaning = FxHashMap::default();
        let mut guard = self.between(st, fact, fact.index)?;
        let mut rows = Vec::new();
        for (row, hole) in &fact.rows {
            let object = self.row_object(st, row)?;
            let (offset, inside) = self.place_in_row(st, object, row, fact.index);
            guard = self.symbolic.execution.terms.and(guard, inside);
            let o = st.memory.get(object)?;
            if o.array.is_none() {
                if o.extent() > SMALL {
                    return None;
                }
                semantics::make_array(&mut self.symbolic.execution, st, object, offset, row.len);
            }
            let array = st.memory.get(object)?.array?;
            let cell = self.symbolic.execution.terms.select_bytes(array, offset, row.len);
            meaning.insert(*hole, cell);
            rows.push(semantics::Row { array, first: row.first, stride: row.stride, len: row.len });
        }
        let body = self.body(st, fact, &meaning)?;
        let outside = self.symbolic.execution.terms.not(guard);
        let formula = self.symbolic.execution.terms.or(outside, body);
        Some(Quantified { formula, index: fact.index, rows })
    }

    /// The condition that `k` is between the bounds of the fact.
    fn between(&mut self, st: &State, fact: &CellFact, k: ExprId) -> Option<ExprId> {
        let width = self.symbolic.execution.program.layout.pointer_width;
        if ![fact.low, fact.high, fact.body].iter().all(|&e| self.is_set(st, e)) {
            return None;
        }
        let (low, high) = (self.symbolic.execution.eval(st, fact.low), self.symbolic.execution.eval(st, fact.high));
        if [low, high].iter().any(|v| matches!(v, Val::Unknown | Val::Unset)) {
            return None;
        }
        let (low, high) =
            (self.symbolic.execution.terms.term(low, width), self.symbolic.execution.terms.term(high, width));
        let (above, below) = (self.symbolic.execution.terms.sle(low, k), self.symbolic.execution.terms.slt(k, high));
        Some(self.symbolic.execution.terms.and(above, below))
    }

    fn body(&mut self, st: &State, fact: &CellFact, meaning: &FxHashMap<ExprId, ExprId>) -> Option<ExprId> {
        let body = match self.symbolic.execution.eval(st, fact.body) {
            Val::Unknown | Val::Unset => return None,
            value => self.symbolic.execution.terms.term(value, 1),
        };
        Some(
            self.symbolic
                .execution
                .terms
                .substitute(body, &mut FxHashMap::default(), |_, leaf| meaning.get(&leaf).copied()),
        )
    }

    /// The live object that contains a row of cells.
    fn row_object(&mut self, st: &State, row: &Cells) -> Option<ObjId> {
        let base = match *self.symbolic.execution.terms.get(row.base) {
            Expr::Var(v) => self.symbolic.execution.read_var(st, v),
            _ => self.symbolic.execution.eval(st, row.base),
        };
        self.symbolic.execution.terms.object_of(base).filter(|&o| st.memory.get(o).is_some())
    }

    /// The offset of the cell at index `k`, and the condition that the cell lies in the object.
    fn place_in_row(&mut self, st: &State, object: ObjId, row: &Cells, k: ExprId) -> (ExprId, ExprId) {
        let width = self.symbolic.execution.program.layout.pointer_width;
        let size = st.memory.get(object).expect("a live object").size;
        let (stride, first) =
            (self.symbolic.execution.terms.int(width, row.stride), self.symbolic.execution.terms.int(width, row.first));
        let offset = self.symbolic.execution.terms.mul(k, stride);
        let offset = self.symbolic.execution.terms.add(offset, first);
        // Only indices so small that the offset does not wrap around.
        let most = match size {
            Val::Int(size) => size.saturating_sub(row.first + u64::from(row.len)) / row.stride,
            _ => 1 << (width / 2),
        };
        let most = self.symbolic.execution.terms.int(width, most);
        let mut inside = self.symbolic.execution.terms.ule(k, most);
        let end = self.symbolic.execution.terms.int(width, u64::from(row.len));
        let end = self.symbolic.execution.terms.add(offset, end);
        let size = self.symbolic.execution.terms.term(size, width);
        let fits = self.symbolic.execution.terms.ule(end, size);
        inside = self.symbolic.execution.terms.and(inside, fits);
        (offset, inside)
    }
}
