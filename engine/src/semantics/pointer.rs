//! Resolution of pointers to objects and offsets.
//!
//! The structure of a pointer usually determines its object: the pointer is the object's address plus an offset. If it
//! does not (a choice between pointers, an address computed with masks), the path splits. States in which the access
//! may be outside its object split off as faults.

use super::Execution;
use super::fault::FaultKind;
use super::state::State;
use super::value::{ObjId, Val};
use cfa::{Expr, ExprId};

/// Maximal number of splits on if-then-else terms. Beyond it, all objects in the term are tried one by one. The
/// alternatives may share subterms, so a term has up to exponentially many paths.
const MOST_SPLITS: u32 = 128;

/// Maximal number of exposed objects that are tried for a pointer whose term contains no address.
const MOST_EXPOSED: usize = 16;

/// An offset in an object, with the state in which the pointer points there.
pub(super) struct Access {
    /// The state.
    pub st: State,
    /// The object.
    pub object: ObjId,
    /// The offset in the object, in bytes.
    pub offset: Val,
}

/// The possible targets of an access. States in which the access is invalid are faults of the step.
pub(super) struct Resolution {
    /// The number of bytes accessed.
    len: Val,
    /// If true, the access writes, which read-only objects do not permit.
    write: bool,
    /// If true, the program queries where the pointer points without an access.
    asks: bool,
    /// States in which the access is valid.
    pub inside: Vec<Access>,
    /// States in which the length is zero, so that any pointer is valid.
    pub empty: Vec<State>,
    /// For a query only: states in which the pointer points into no live object.
    pub outside: Vec<State>,
    /// The number of splits on if-then-else terms so far.
    splits: u32,
}

impl Resolution {
    fn new(len: Val, write: bool, asks: bool) -> Self {
        Self { len, write, asks, inside: Vec::new(), empty: Vec::new(), outside: Vec::new(), splits: 0 }
    }
    /// Resolves a read of `len` bytes at `addr`.
    pub fn read(ex: &mut Execution, st: State, addr: Val, len: Val) -> Self {
        let mut all = Self::new(len, false, false);
        all.resolve(ex, st, addr);
        all
    }
    /// Resolves a write of `len` bytes at `addr`.
    pub fn write(ex: &mut Execution, st: State, addr: Val, len: Val) -> Self {
        let mut all = Self::new(len, true, false);
        all.resolve(ex, st, addr);
        all
    }
    /// Resolves a query where `addr` points.
    pub fn asking(ex: &mut Execution, st: State, addr: Val) -> Self {
        let mut all = Self::new(Val::Int(0), false, true);
        all.resolve(ex, st, addr);
        all
    }

    /// Splits `st` by the object that `addr` points into.
    fn resolve(&mut self, ex: &mut Execution, st: State, addr: Val) {
        if !ex.mode.names_unknowns && !is_plain(&st, addr, self.len) {
            return ex.fault(st, FaultKind::UntrackedPointer, None);
        }
        match addr {
            Val::Ptr(object, offset) => {
                let Some(st) = self.accessible(ex, st, object) else { return };
                let size = st.memory.get(object).expect("it is alive").size;
                match (size, self.len) {
                    (Val::Int(size), Val::Int(len)) if len <= size && offset <= size - len => {
                        self.inside.push(Access { st, object, offset: Val::Int(offset) });
                    }
                    (Val::Int(_), Val::Int(_)) => self.invalid(ex, st, FaultKind::Outside, Some(object)),
                    _ => self.resolve_in(ex, st, object, Val::Int(offset)),
                }
            }
            Val::Int(address) => match self.accesses_some(ex, st) {
                None => {}
                Some(st) if address == 0 && !self.asks => ex.fault(st, FaultKind::NullPointer, None),
                Some(st) => self.invalid(ex, st, FaultKind::InvalidPointer, None),
            },
            Val::Unset | Val::Unknown => {
                if let Some(st) = self.accesses_some(ex, st) {
                    ex.fault(st, FaultKind::UndefinedPointer, None);
                }
            }
            Val::Expr(e) => self.resolve_term(ex, st, e),
        }
    }

    fn resolve_term(&mut self, ex: &mut Execution, st: State, e: ExprId) {
        let mut terms = Vec::new();
        ex.terms.sum_terms(e, &mut terms);
        // If a summand is an object's address, the other summands are the offset.
        for (i, &term) in terms.iter().enumerate() {
            if let Val::Ptr(object, k) = ex.terms.classify(term) {
                let mut offset = ex.terms.int(ex.program.layout.pointer_width, k);
                for (j, &other) in terms.iter().enumerate() {
                    if j != i {
                        offset = ex.terms.add(offset, other);
                    }
                }
                let Some(st) = self.accessible(ex, st, object) else { return };
                let offset = ex.terms.classify(offset);
                return self.resolve_in(ex, st, object, offset);
            }
        }
        // If a summand is an if-then-else term, the state splits on its condition.
        for (i, &term) in terms.iter().enumerate() {
            if self.splits < MOST_SPLITS
                && let Expr::Ite(c, t, f) = *ex.terms.get(term)
            {
                self.splits += 1;
                let (yes, no) = ex.decide(st, c);
                for (side, chosen) in [(yes, t), (no, f)] {
                    let Some(side) = side else { continue };
                    let mut sum = chosen;
                    for (j, &other) in terms.iter().enumerate() {
                        if j != i {
                            sum = ex.terms.add(sum, other);
                        }
                    }
                    let addr = ex.terms.classify(sum);
                    self.resolve(ex, side, addr);
                }
                return;
            }
        }
        self.resolve_by_search(ex, st, e);
    }

    /// The state in which the length is not zero, if it is feasible. Keeps the state with length zero.
    fn accesses_some(&mut self, ex: &mut Execution, st: State) -> Option<State> {
        let Val::Expr(len) = self.len else { return Some(st) };
        let zero = ex.terms.int(ex.program.layout.pointer_width, 0);
        let none = ex.terms.eq(len, zero);
        let (empty, some) = ex.decide(st, none);
        self.empty.extend(empty);
        some
    }

    /// Returns `st` if the object is live and permits the access.
    fn accessible(&mut self, ex: &mut Execution, st: State, object: ObjId) -> Option<State> {
        let is_constant = match st.memory.get(object) {
            Some(o) if self.write && o.read_only => true,
            Some(_) => return Some(st),
            None => false,
        };
        match self.accesses_some(ex, st) {
            Some(st) if is_constant => ex.fault(st, FaultKind::ReadOnly, Some(object)),
            Some(st) => self.invalid(ex, st, FaultKind::Dead, Some(object)),
            None => {}
        }
        None
    }

    /// Records the state in which the bytes at `offset` lie within the object, and a fault for the rest.
    fn resolve_in(&mut self, ex: &mut Execution, st: State, object: ObjId, offset: Val) {
        let w = ex.program.layout.pointer_width;
        let offset_e = ex.terms.term(offset, w);
        let inside = self.lies_inside(ex, &st, object, offset_e);
        let (valid, invalid) = ex.decide(st, inside);
        if let Some(st) = invalid
            && let Some(st) = self.accesses_some(ex, st)
        {
            self.invalid(ex, st, FaultKind::MaybeOutside, Some(object));
        }
        if let Some(st) = valid {
            self.inside.push(Access { st, object, offset });
        }
    }

    /// The condition that the bytes at `offset` lie within the object, which is live.
    fn lies_inside(&self, ex: &mut Execution, st: &State, object: ObjId, offset: ExprId) -> ExprId {
        let w = ex.program.layout.pointer_width;
        let size = st.memory.get(object).expect("a live object").size;
        let (len, size) = (ex.terms.term(self.len, w), ex.terms.term(size, w));
        let fits = ex.terms.ule(len, size);
        let last = ex.terms.sub(size, len);
        let inside = ex.terms.ule(offset, last);
        ex.terms.and(fits, inside)
    }

    /// Resolves a pointer whose structure does not determine its object: tries every object whose address occurs in the
    /// term. A pointer without such an address may still equal an address that the program observed, so exposed objects
    /// are tried (provenance of pointers in C, TS 6010).
    fn resolve_by_search(&mut self, ex: &mut Execution, st: State, e: ExprId) {
        let Some(st) = self.accesses_some(ex, st) else { return };
        let mut bases = ex.terms.bases_in(e);
        let mut otherwise = FaultKind::DerivedPointer(e);
        if bases.is_empty() {
            otherwise = FaultKind::UnknownPointer(e);
            bases = st.exposed.iter().copied().take(MOST_EXPOSED).collect();
        }
        let mut rest = Some(st);
        for object in bases {
            let Some(st) = rest.take() else { break };
            let Some(o) = st.memory.get(object) else {
                rest = Some(st);
                continue;
            };
            let read_only = o.read_only;
            let base = ex.terms.base(object);
            let offset = ex.terms.sub(e, base);
            let inside = self.lies_inside(ex, &st, object, offset);
            let (yes, no) = ex.decide(st, inside);
            if let Some(st) = yes {
                if self.write && read_only {
                    ex.fault(st, FaultKind::ReadOnly, Some(object));
                } else {
                    let offset = ex.terms.classify(offset);
                    self.inside.push(Access { st, object, offset });
                }
            }
            rest = no;
        }
        if let Some(st) = rest {
            ex.fault(st, otherwise, None);
        }
    }

    /// Records that the pointer points into no live object, or outside its object.
    fn invalid(&mut self, ex: &mut Execution, st: State, kind: FaultKind, object: Option<ObjId>) {
        match self.asks {
            true => self.outside.push(st),
            false => ex.fault(st, kind, object),
        }
    }
}

/// True if the access can be resolved without symbols.
fn is_plain(st: &State, addr: Val, len: Val) -> bool {
    let Val::Int(_) = len else { return false };
    match addr {
        Val::Ptr(object, _) => {
            st.memory.get(object).is_none_or(|o| matches!(o.size, Val::Int(_)) && o.summary.is_none())
        }
        Val::Int(_) | Val::Unset => true,
        Val::Expr(_) | Val::Unknown => false,
    }
}
