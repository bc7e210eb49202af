//! Coverage of the content of one object by that of another. The substitution θ in comments is that of
//! `semantics/order`.

use super::*;

impl Object {
    /// True if this object represents all content that `other` represents, under conditions that the function appends to
    /// `pairs`. A pair (ours, theirs, bits) is the condition that θ maps our value to theirs. Arrays have 0 bits.
    /// The result may be false although this object covers the other one, if they represent the same content differently.
    pub fn may_cover(&self, other: &Object, pairs: &mut Vec<(Val, Val, u32)>) -> bool {
        if self.origin != other.origin || self.zeroed != other.zeroed {
            return false;
        }
        if !Summary::may_cover(self.summary, other.summary) {
            return false;
        }
        pairs.push((self.size, other.size, 64));
        match (self.array, other.array) {
            (None, None) => {}
            // Even if they are equal, θ has to map the one to the other.
            (Some(a), Some(b)) => pairs.push((Val::Expr(a), Val::Expr(b), 0)),
            _ => return false,
        }
        let n = self.chunks.len().max(other.chunks.len());
        (0..n).all(|i| {
            let (a, b) = (self.chunks.get(i).and_then(Option::as_ref), other.chunks.get(i).and_then(Option::as_ref));
            match (a, b) {
                (None, None) => true,
                (Some(a), Some(b)) if Rc::ptr_eq(a, b) => {
                    // The chunk is shared, but θ must map its symbols to themselves.
                    pairs.extend(a.cells.iter().map(|c| (c.value, c.value, 8 * u32::from(c.len))));
                    true
                }
                (a, b) => {
                    let never_written = Chunk::EMPTY;
                    let [a, b] = [a, b].map(|chunk| chunk.map_or(&never_written, |c| &**c));
                    a.may_cover(b, self.zeroed, pairs)
                }
            }
        })
    }
}

impl Chunk {
    /// Like [`Object::may_cover`], for chunks.
    fn may_cover(&self, other: &Chunk, zeroed: bool, pairs: &mut Vec<(Val, Val, u32)>) -> bool {
        let mut at = 0;
        while at < CHUNK {
            match (self.tags[at], other.tags[at]) {
                (DEFAULT, DEFAULT) => at += 1,
                (DEFAULT, _) | (_, DEFAULT) if zeroed => return false,
                // Unknown bytes cover all bytes except addresses, which an abstraction never forgets.
                (DEFAULT, CONCRETE) => at += 1,
                (DEFAULT, CELL) => {
                    let theirs = other.cell_at(at);
                    let all_unknown = self.tags[at..at + usize::from(theirs.len)].iter().all(|&t| t == DEFAULT);
                    if matches!(theirs.value, Val::Ptr(..)) || !all_unknown {
                        return false;
                    }
                    at += usize::from(theirs.len);
                }
                (CONCRETE, CONCRETE) if self.bytes[at] == other.bytes[at] => at += 1,
                (CELL, tag) => {
                    let ours = self.cell_at(at);
                    let n = usize::from(ours.len);
                    let theirs = match tag {
                        CELL if other.cell_at(at).len == ours.len => other.cell_at(at).value,
                        CONCRETE if n <= 8 && other.tags[at..at + n].iter().all(|&t| t == CONCRETE) => {
                            let mut word = [0; 8];
                            word[..n].copy_from_slice(&other.bytes[at..at + n]);
                            Val::Int(u64::from_le_bytes(word))
                        }
                        _ => return false,
                    };
                    pairs.push((ours.value, theirs, 8 * u32::from(ours.len)));
                    at += n;
                }
                _ => return false,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::{ExprPool, Id, Sort};

    #[test]
    fn a_covering_object_represents_all_contents_of_the_other() {
        let mut pool = ExprPool::new();
        let (_, x) = pool.fresh_symbol(Sort::Bv(32));
        let object = |zeroed| Object::new(Val::Int(16), 4, Origin::Global(GlobalId::from_index(0)), zeroed);
        let with = |zeroed: bool, write: &dyn Fn(&mut Object)| {
            let mut o = object(zeroed);
            write(&mut o);
            o
        };
        let covers = |a: &Object, b: &Object| {
            let mut pairs = Vec::new();
            a.may_cover(b, &mut pairs).then(|| pairs.split_off(1))
        };
        let number = with(false, &|o| o.write_int(4, 4, 7));
        let symbol = with(false, &|o| o.write_cell(4, 4, Val::Expr(x)));
        let address = with(false, &|o| o.write_cell(4, 4, Val::Ptr(ObjId(3), 0)));
        let nothing = object(false);
        assert_eq!(covers(&nothing, &number), Some(vec![]));
        assert_eq!(covers(&nothing, &symbol), Some(vec![]));
        assert_eq!(covers(&symbol, &number), Some(vec![(Val::Expr(x), Val::Int(7), 32)]));
        for (general, special) in [(&number, &nothing), (&symbol, &nothing), (&number, &symbol), (&nothing, &address)] {
            assert_eq!(covers(general, special), None);
        }
        // Half of a number, another number, and a range that overlaps a symbol.
        assert_eq!(covers(&with(false, &|o| o.write_int(4, 2, 7)), &number), Some(vec![]));
        assert_eq!(covers(&with(false, &|o| o.write_int(4, 2, 8)), &number), None);
        assert_eq!(covers(&symbol, &with(false, &|o| o.write_int(6, 4, 7))), None);
        // Unwritten bytes are zero in one object and unknown in the other.
        let zeros = object(true);
        assert_eq!(covers(&zeros, &with(true, &|o| o.write_int(4, 4, 7))), None);
        assert_eq!(covers(&zeros, &with(true, &|o| o.write_cell(4, 4, Val::Expr(x)))), None);
        assert_eq!(covers(&nothing, &zeros), None);
    }
}
