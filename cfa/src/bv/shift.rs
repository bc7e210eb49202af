//! Shifts. A shift by the width or more returns only bits that were shifted in.

use super::{Big, Bv, Small};

pub(crate) fn shl(a: &Bv, by: &Bv) -> Bv {
    match (amount(a, by), &a.repr) {
        (None, _) => Bv::zero(a.width),
        (Some(s), Small(v)) => Bv::new(a.width, v << s),
        (Some(s), Big(b)) => Bv::from_big(a.width, &**b << s),
    }
}

pub(crate) fn lshr(a: &Bv, by: &Bv) -> Bv {
    match (amount(a, by), &a.repr) {
        (None, _) => Bv::zero(a.width),
        (Some(s), Small(v)) => Bv::new(a.width, v >> s),
        (Some(s), Big(b)) => Bv::from_big(a.width, &**b >> s),
    }
}

pub(crate) fn ashr(a: &Bv, by: &Bv) -> Bv {
    if !a.sign() {
        return lshr(a, by);
    }
    lshr(&a.not(), by).not()
}

/// The shift amount, or `None` if it is at least the width.
fn amount(a: &Bv, by: &Bv) -> Option<u32> {
    by.to_u64().filter(|s| *s < u64::from(a.width)).map(|s| s as u32)
}
