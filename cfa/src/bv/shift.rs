//! Shifts. Those by the width and more give what is shifted in.

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

/// The amount if it is below the width.
fn amount(a: &Bv, by: &Bv) -> Option<u32> {
    by.to_u64().filter(|s| *s < u64::from(a.width)).map(|s| s as u32)
}
