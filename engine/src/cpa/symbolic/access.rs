//! Reading and writing memory through symbolic pointers.
//!
//! A pointer is resolved to an object and an offset by its structure: it is the object's base plus something. Where
//! the structure does not tell (a choice between pointers, an address computed with masks), the path splits. What
//! may lie outside its object splits off: a read there gives anything, any other access ends the path and is recorded.

use super::induction::Change;
use super::memory::{CHUNK, MAX_CELL, Object, Piece};
use super::precision::describe_object;
use super::state::{Event, State};
use super::value::{ObjId, Val};
use super::{Stop, SymbolicExecution};
use crate::verdict::Reason;
use cfa::{BinOp, EdgeId, Expr, ExprId, Sort};

/// Candidate places of an access at an unknown offset that are enumerated; beyond that the object becomes an array.
const CANDIDATES: u64 = 256;

/// A place in an object of a path.
pub(super) struct Access {
    pub st: State,
    pub object: ObjId,
    pub offset: Val,
}

/// Where an access of some bytes may go.
pub(super) struct Resolved {
    len: Val,
    pub inside: Vec<Access>,
    /// If it can be followed, the states in which C does not define the access.
    pub outside: Option<Vec<State>>,
    /// States in which no byte is accessed, though the pointer may point anywhere.
    pub empty: Vec<State>,
    /// If the program asks where the pointer points without using it: then `outside` are the states in which it points
    /// into no live object, and these those in which nothing is known of it.
    pub anywhere: Option<Vec<State>>,
    /// Choices between pointers that were split on.
    splits: u32,
}

/// Beyond so many splits, all objects of a choice are tried: choices may share parts, and have many more paths than parts.
const MOST_SPLITS: u32 = 128;

impl Resolved {
    pub fn new(len: Val) -> Self {
        Self { len, inside: Vec::new(), outside: None, empty: Vec::new(), anywhere: None, splits: 0 }
    }
    /// Of an access that can be followed wherever it goes.
    pub fn with_outside(len: Val) -> Self {
        Self { outside: Some(Vec::new()), ..Self::new(len) }
    }
    /// Of a question where the pointer points.
    pub fn asking() -> Self {
        Self { anywhere: Some(Vec::new()), ..Self::with_outside(Val::Int(0)) }
    }
}

impl SymbolicExecution<'_> {
    /// Splits `st` by the object that `addr` points into. `write` forbids read-only ones.
    pub(super) fn resolve(
        &mut self,
        st: State,
        addr: Val,
        write: bool,
        edge: EdgeId,
        out: &mut Resolved,
    ) -> Result<(), Stop> {
        let pointer_width = self.program.layout.pointer_width;
        let len = out.len;
        if self.abstracting.values_only && !self.is_plain(&st, addr, len) {
            self.untracked(st, edge, "a pointer is used whose value is not tracked", out);
            return Ok(());
        }
        match addr {
            Val::Ptr(object, offset) => {
                let Some(st) = self.accessible(st, object, write, edge, out)? else { return Ok(()) };
                let size = st.memory.get(object).expect("it is alive").size;
                if let (Val::Int(size), Val::Int(len)) = (size, len) {
                    if len <= size && offset <= size - len {
                        out.inside.push(Access { st, object, offset: Val::Int(offset) });
                    } else {
                        self.stray(st, edge, "the access is outside its object", out);
                    }
                    return Ok(());
                }
                self.resolve_in(st, object, Val::Int(offset), edge, out)
            }
            Val::Int(address) => {
                match self.accesses_some(st, out)? {
                    None => {}
                    Some(st) if address == 0 && out.anywhere.is_none() => {
                        self.invalid(&st, edge, "a null pointer is used");
                    }
                    Some(st) => self.stray(st, edge, "an invalid pointer is used", out),
                }
                Ok(())
            }
            Val::Unset | Val::Unknown => {
                if let Some(st) = self.accesses_some(st, out)? {
                    self.nowhere_known(st, edge, "an undefined pointer is used", out);
                }
                Ok(())
            }
            Val::Expr(e) => {
                let mut terms = Vec::new();
                self.sum_terms(e, &mut terms);
                // A base among the terms: the rest is the offset.
                for (i, &term) in terms.iter().enumerate() {
                    if let Val::Ptr(object, k) = self.classify(term) {
                        let mut offset = self.pool.int(pointer_width, k);
                        for (j, &other) in terms.iter().enumerate() {
                            if j != i {
                                offset = self.pool.add(offset, other);
                            }
                        }
                        let Some(st) = self.accessible(st, object, write, edge, out)? else { return Ok(()) };
                        let offset = self.classify(offset);
                        return self.resolve_in(st, object, offset, edge, out);
                    }
                }
                // A choice among the terms: split on it.
                for (i, &term) in terms.iter().enumerate() {
                    if out.splits < MOST_SPLITS
                        && let Expr::Ite(c, t, f) = *self.pool.get(term)
                    {
                        out.splits += 1;
                        let (yes, no) = self.decide(st, c)?;
                        for (side, chosen) in [(yes, t), (no, f)] {
                            let Some(side) = side else { continue };
                            let mut sum = chosen;
                            for (j, &other) in terms.iter().enumerate() {
                                if j != i {
                                    sum = self.pool.add(sum, other);
                                }
                            }
                            let addr = self.classify(sum);
                            self.resolve(side, addr, write, edge, out)?;
                        }
                        return Ok(());
                    }
                }
                self.resolve_by_search(st, e, write, edge, out)
            }
        }
    }

    /// The part of `st` in which bytes are accessed, if there is one.
    fn accesses_some(&mut self, st: State, out: &mut Resolved) -> Result<Option<State>, Stop> {
        let Val::Expr(len) = out.len else { return Ok(Some(st)) };
        let zero = self.pool.int(self.program.layout.pointer_width, 0);
        let none = self.pool.eq(len, zero);
        let (empty, some) = self.decide(st, none)?;
        out.empty.extend(empty);
        Ok(some)
    }

    /// `st`, if the object is alive and may be accessed so.
    fn accessible(
        &mut self,
        st: State,
        object: ObjId,
        write: bool,
        edge: EdgeId,
        out: &mut Resolved,
    ) -> Result<Option<State>, Stop> {
        let problem = match st.memory.get(object) {
            Some(o) if write && o.read_only => true,
            Some(_) => return Ok(Some(st)),
            None => false,
        };
        match self.accesses_some(st, out)? {
            Some(st) if problem => self.invalid(&st, edge, "a constant is written to"),
            Some(st) => self.stray(st, edge, "the object accessed is not alive", out),
            None => {}
        }
        Ok(None)
    }

    /// The terms whose sum `e` is.
    pub(super) fn sum_terms(&mut self, e: ExprId, terms: &mut Vec<ExprId>) {
        let mut stack = vec![e];
        while let Some(e) = stack.pop() {
            match *self.pool.get(e) {
                Expr::Binary(BinOp::Add, a, b) => stack.extend([b, a]),
                Expr::Binary(BinOp::Sub, a, b) if self.pool.as_const(b).is_none() => {
                    let negated = self.pool.neg(b);
                    if matches!(self.pool.get(negated), Expr::Binary(BinOp::Sub | BinOp::Add, ..)) {
                        terms.push(negated);
                    } else {
                        stack.push(negated);
                    }
                    stack.push(a);
                }
                _ => terms.push(e),
            }
        }
    }

    /// Keeps the part of `st` in which `len` bytes at `offset` lie within the object.
    fn resolve_in(
        &mut self,
        st: State,
        object: ObjId,
        offset: Val,
        edge: EdgeId,
        out: &mut Resolved,
    ) -> Result<(), Stop> {
        let w = self.program.layout.pointer_width;
        let len = out.len;
        let size = st.memory.get(object).expect("resolved to a live object").size;
        let (offset_e, len_e, size_e) = (self.term(offset, w), self.term(len, w), self.term(size, w));
        let fits = self.pool.ule(len_e, size_e);
        let last = self.pool.sub(size_e, len_e);
        let inside = self.pool.ule(offset_e, last);
        let inside = self.pool.and(fits, inside);
        let (valid, invalid) = self.decide(st, inside)?;
        if let Some(st) = invalid
            && let Some(st) = self.accesses_some(st, out)?
        {
            self.stray(st, edge, "the access may be outside its object", out);
        }
        if let Some(st) = valid {
            out.inside.push(Access { st, object, offset });
        }
        Ok(())
    }

    /// A pointer whose structure does not tell its object: tries every object whose address occurs in it.
    fn resolve_by_search(
        &mut self,
        st: State,
        e: ExprId,
        write: bool,
        edge: EdgeId,
        out: &mut Resolved,
    ) -> Result<(), Stop> {
        let w = self.program.layout.pointer_width;
        let Some(st) = self.accesses_some(st, out)? else { return Ok(()) };
        let len = out.len;
        let bases = self.bases_in(e);
        if bases.is_empty() {
            let what = self.anywhere(&st, e);
            self.untracked(st, edge, &what, out);
            return Ok(());
        }
        let mut rest = Some(st);
        for object in bases {
            let Some(st) = rest.take() else { break };
            let Some(o) = st.memory.get(object) else {
                rest = Some(st);
                continue;
            };
            let (size, read_only) = (o.size, o.read_only);
            let base = self.bases.symbol(&mut self.pool, object, w);
            let offset = self.pool.sub(e, base);
            let (len_e, size_e) = (self.term(len, w), self.term(size, w));
            let fits = self.pool.ule(len_e, size_e);
            let last = self.pool.sub(size_e, len_e);
            let inside = self.pool.ule(offset, last);
            let inside = self.pool.and(fits, inside);
            let (yes, no) = self.decide(st, inside)?;
            if let Some(st) = yes {
                if write && read_only {
                    self.invalid(&st, edge, "a constant is written to");
                } else {
                    let offset = self.classify(offset);
                    out.inside.push(Access { st, object, offset });
                }
            }
            rest = no;
        }
        if let Some(st) = rest {
            let what = self.anywhere(&st, e);
            self.nowhere_known(st, edge, &what, out);
        }
        Ok(())
    }

    /// Says of a pointer that may point anywhere which value it is made of.
    fn anywhere(&mut self, st: &State, pointer: ExprId) -> String {
        const WHAT: &str = "a pointer is used that may point anywhere";
        if self.abstracting.on {
            // What an abstract state does not know is checked at full precision before it is told.
            return WHAT.into();
        }
        let symbols = self.symbols_of(pointer);
        let events = st.trail.events(|_| true).into_iter().chain(st.trail.events(|_| false));
        let mut from_input = false;
        for event in events {
            match event {
                Event::Unknown { object, symbol, .. } if symbols.contains(&symbol) => {
                    if let Some(origin) = st.memory.get(object).map(|o| o.origin) {
                        let object = describe_object(self.program, origin);
                        return format!("{WHAT}: it was read from {object}, where nothing was written before");
                    }
                }
                Event::Global { var, symbol } if symbols.contains(&symbol) => {
                    let name = self.program.vars[var].name.as_deref().unwrap_or("a variable");
                    return format!("{WHAT}: it is the first value of `{name}`, which is defined elsewhere");
                }
                Event::Input(symbol) => from_input |= symbols.contains(&symbol),
                _ => {}
            }
        }
        match from_input {
            true => format!("{WHAT}: it is an input, or what a function gives that nobody defines"),
            false => WHAT.into(),
        }
    }

    // Content.

    /// `len` bytes at a constant offset, which lie within the object.
    pub(super) fn read(&mut self, st: &mut State, object: ObjId, offset: u64, len: u32) -> Val {
        let o = st.memory.get(object).expect("a live object");
        if o.array.is_none() {
            if let Some(value) = o.read_whole(offset, len) {
                return value;
            }
        } else {
            let w = self.program.layout.pointer_width;
            let offset = self.pool.int(w, offset);
            return self.read_array(st, object, offset, len);
        }
        let mut value: Option<ExprId> = None;
        let mut at = 0;
        while at < len {
            let o = st.memory.get(object).expect("a live object");
            if self.abstracting.values_only
                && matches!(
                    o.piece(offset + u64::from(at)),
                    Piece::Default | Piece::Cell { value: Val::Unknown | Val::Expr(_), .. }
                )
            {
                return Val::Unknown;
            }
            let (part, n) = match o.piece(offset + u64::from(at)) {
                Piece::Byte(byte) => (self.pool.int(8, u64::from(byte)), 1),
                Piece::Default => {
                    // The longest run of unknown bytes within the read becomes one symbol, kept in memory.
                    let mut n = 1;
                    while at + n < len
                        && (n as usize) < MAX_CELL
                        && Object::fits_cell(offset + u64::from(at), n + 1)
                        && o.piece(offset + u64::from(at + n)) == Piece::Default
                    {
                        n += 1;
                    }
                    (self.unknown_bytes(st, object, offset + u64::from(at), n), n)
                }
                Piece::Cell { value, len: cell_len, index } => {
                    let n = (u32::from(cell_len - index)).min(len - at);
                    let width = 8 * u32::from(cell_len);
                    let lo = 8 * u32::from(index);
                    let part = self.extract(value, width, lo + 8 * n - 1, lo);
                    (self.term(part, 8 * n), n)
                }
            };
            value = Some(match value {
                None => part,
                Some(low) => self.pool.concat(part, low),
            });
            at += n;
        }
        self.classify(value.expect("at least one byte is read"))
    }

    /// A fresh symbol for `len` bytes never written, stored in their place.
    fn unknown_bytes(&mut self, st: &mut State, object: ObjId, offset: u64, len: u32) -> ExprId {
        let (symbol, e) = self.pool.fresh_symbol(Sort::Bv(8 * len));
        st.trail.push(Event::Unknown { object, offset, len, symbol });
        self.note_content(st, object, offset, len, e);
        st.memory.get_mut(object).expect("a live object").write_cell(offset, len, Val::Expr(e));
        e
    }

    /// Writes `len` bytes at a constant offset within the object.
    pub(super) fn write(&mut self, st: &mut State, object: ObjId, offset: u64, len: u32, value: Val) {
        self.changes(st, object, Change::Written);
        self.put(st, object, offset, len, value);
    }

    /// As [`write`](Self::write), where no operation of the program writes.
    pub(super) fn put(&mut self, st: &mut State, object: ObjId, offset: u64, len: u32, value: Val) {
        let o = st.memory.get(object).expect("a live object");
        if o.array.is_some() {
            let w = self.program.layout.pointer_width;
            let offset = self.pool.int(w, offset);
            return self.write_array(st, object, offset, len, value);
        }
        self.split_cells(st, object, offset, u64::from(len));
        let width = 8 * len;
        if let Val::Int(v) = value
            && len <= 8
        {
            st.memory.get_mut(object).expect("a live object").write_int(offset, len, v);
        } else if Object::fits_cell(offset, len) && self.pool_const(value).is_none() {
            st.memory.get_mut(object).expect("a live object").write_cell(offset, len, value);
        } else if let Some(bytes) = self.pool_const(value) {
            st.memory.get_mut(object).expect("a live object").write_bytes(offset, &bytes);
        } else {
            // Long, or across chunks: in pieces that do not cross.
            let mut at = 0;
            while at < len {
                let room = (CHUNK as u64 - (offset + u64::from(at)) % CHUNK as u64) as u32;
                let n = (len - at).min(8).min(room);
                let part = self.extract(value, width, 8 * (at + n) - 1, 8 * at);
                let o = st.memory.get_mut(object).expect("a live object");
                match part {
                    Val::Int(v) => o.write_int(offset + u64::from(at), n, v),
                    _ => o.write_cell(offset + u64::from(at), n, part),
                }
                at += n;
            }
        }
    }

    /// The bytes of a wide constant.
    fn pool_const(&self, value: Val) -> Option<Vec<u8>> {
        match value {
            Val::Expr(e) => self.pool.as_const(e).map(|c| c.to_le_bytes()),
            _ => None,
        }
    }

    /// Splits cells that lie partly in the range into bytes.
    pub(super) fn split_cells(&mut self, st: &mut State, object: ObjId, offset: u64, len: u64) {
        let straddling = st.memory.get(object).expect("a live object").straddling(offset, len);
        for (start, cell_len, value) in straddling {
            let width = 8 * u32::from(cell_len);
            for i in 0..u32::from(cell_len) {
                let byte = self.extract(value, width, 8 * i + 7, 8 * i);
                let o = st.memory.get_mut(object).expect("a live object");
                match byte {
                    Val::Int(v) => o.write_int(start + u64::from(i), 1, v),
                    _ => o.write_cell(start + u64::from(i), 1, byte),
                }
            }
        }
    }

    /// `len` bytes at an offset that the path condition keeps within the object.
    pub(super) fn read_at(&mut self, st: &mut State, object: ObjId, offset: Val, len: u32) -> Val {
        let offset = match offset {
            Val::Int(offset) => return self.read(st, object, offset, len),
            other => self.term(other, self.program.layout.pointer_width),
        };
        match self.candidates(st, object, offset, len) {
            Some(places) => self.read_choice(st, object, offset, len, places),
            None => {
                self.make_array(st, object, offset, len);
                self.read_array(st, object, offset, len)
            }
        }
    }

    /// A choice between `len` bytes at some places, of which one is at `offset`.
    pub(super) fn read_choice(
        &mut self,
        st: &mut State,
        object: ObjId,
        offset: ExprId,
        len: u32,
        (first, stride, count): (u64, u64, u64),
    ) -> Val {
        let mut values = Vec::with_capacity(count as usize);
        for i in 0..count {
            let value = self.read(st, object, first + i * stride, len);
            values.push(self.term(value, 8 * len));
        }
        let w = self.program.layout.pointer_width;
        let first = self.pool.int(w, first);
        let relative = self.pool.sub(offset, first);
        let e = self.select_by_bits(&values, relative, stride.trailing_zeros());
        self.classify(e)
    }

    /// `values[index >> shift]`, as a tree over the bits of the index: its conditions are single bits.
    fn select_by_bits(&mut self, values: &[ExprId], index: ExprId, shift: u32) -> ExprId {
        let mut level = values.to_vec();
        let mut bit = shift;
        while level.len() > 1 {
            let condition = self.pool.extract(bit, bit, index);
            level = level
                .chunks(2)
                .map(|pair| match *pair {
                    [even, odd] => self.pool.ite(condition, odd, even),
                    // Beyond the last candidate the offset never is.
                    [even] => even,
                    _ => unreachable!("chunks of two"),
                })
                .collect();
            bit += 1;
        }
        level[0]
    }

    /// First, stride and number of the places where an access of `len` bytes at `offset` may be; `None` if there are
    /// too many or the object's size or content is not plain.
    pub(super) fn candidates(&self, st: &State, object: ObjId, offset: ExprId, len: u32) -> Option<(u64, u64, u64)> {
        let o = st.memory.get(object).expect("a live object");
        let Val::Int(size) = o.size else { return None };
        if o.array.is_some() {
            return None;
        }
        // offset = variable part + constant: the variable part's low zero bits give the stride.
        let (variable, constant) = match *self.pool.get(offset) {
            Expr::Binary(BinOp::Add, v, c) => match self.pool.as_const(c) {
                Some(c) => (v, c.to_u64()?),
                None => (offset, 0),
            },
            _ => (offset, 0),
        };
        let shift = self.trailing_zeros(variable).min(16);
        let stride = 1u64 << shift;
        let first = constant % stride;
        let last = size.checked_sub(u64::from(len))?;
        let count = last.checked_sub(first).map_or(0, |room| room / stride + 1);
        (1..=CANDIDATES).contains(&count).then_some((first, stride, count))
    }

    /// Writes `len` bytes at an offset that the path condition keeps within the object.
    pub(super) fn write_at(&mut self, st: &mut State, object: ObjId, offset: Val, len: u32, value: Val) {
        let w = self.program.layout.pointer_width;
        let offset = match offset {
            Val::Int(offset) => return self.write(st, object, offset, len, value),
            other => self.term(other, w),
        };
        match self.candidates(st, object, offset, len) {
            Some((first, stride, count)) if stride >= u64::from(len) => {
                let value = self.term(value, 8 * len);
                for i in 0..count {
                    let at = first + i * stride;
                    let old = self.read(st, object, at, len);
                    let old = self.term(old, 8 * len);
                    let at_e = self.pool.int(w, at);
                    let here = self.pool.eq(offset, at_e);
                    let new = self.pool.ite(here, value, old);
                    let new = self.classify(new);
                    self.write(st, object, at, len, new);
                }
            }
            Some(_) if len > 1 => {
                // The places overlap: byte by byte they do not.
                for i in 0..len {
                    let byte = self.extract(value, 8 * len, 8 * i + 7, 8 * i);
                    let i = self.pool.int(w, u64::from(i));
                    let at = self.pool.add(offset, i);
                    self.write_at(st, object, Val::Expr(at), 1, byte);
                }
            }
            _ => {
                self.make_array(st, object, offset, len);
                self.write_array(st, object, offset, len, value);
            }
        }
    }

    /// The path accesses what it may not.
    fn stray(&mut self, st: State, edge: EdgeId, what: &str, out: &mut Resolved) {
        match &mut out.outside {
            Some(outside) if out.anywhere.is_some() => outside.push(st),
            _ if self.is_watched(edge) => self.faults.push(st),
            Some(outside) if !self.abstracting.watching || self.is_settled(edge) => outside.push(st),
            _ => self.invalid(&st, edge, what),
        }
    }

    /// The path accesses what may only be unknown because states are abstract: a read gives anything, which is more than
    /// it gives wherever the pointer really points.
    fn untracked(&mut self, st: State, edge: EdgeId, what: &str, out: &mut Resolved) {
        match &mut out.outside {
            Some(outside) if self.abstracting.on && out.anywhere.is_none() => {
                if self.is_watched(edge) {
                    self.faults.push(st.clone());
                }
                outside.push(st);
            }
            _ => self.nowhere_known(st, edge, what, out),
        }
    }

    /// The path accesses it is not known what.
    fn nowhere_known(&mut self, st: State, edge: EdgeId, what: &str, out: &mut Resolved) {
        match &mut out.anywhere {
            Some(anywhere) => anywhere.push(st),
            None => self.stray(st, edge, what, out),
        }
    }

    /// Whether a fault of the operation is an error.
    pub(super) fn is_watched(&self, edge: EdgeId) -> bool {
        self.program.edges[edge].fault.is_some()
    }

    /// Records that the path performs an operation whose effect C does not define; the path ends.
    pub(super) fn invalid(&mut self, st: &State, edge: EdgeId, what: &str) {
        if self.is_watched(edge) {
            return self.faults.push(st.clone());
        }
        let reason = Reason::at(what, self.program.edges[edge].place);
        // Where states are abstract, a look now spares a refinement later.
        if self.abstracting.watching
            && !self.abstracting.values_only
            && self.solver.model(&mut self.pool, &st.pc).is_infeasible()
        {
            return;
        }
        self.problem(edge, reason);
    }

    /// Whether an access needs no symbols to be understood.
    fn is_plain(&self, st: &State, addr: Val, len: Val) -> bool {
        let Val::Int(_) = len else { return false };
        match addr {
            Val::Ptr(object, _) => st.memory.get(object).is_none_or(|o| matches!(o.size, Val::Int(_))),
            Val::Int(_) | Val::Unset => true,
            Val::Expr(_) | Val::Unknown => false,
        }
    }
}
