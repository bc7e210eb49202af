//! Formats of `scanf`, as its model interprets them (`models/scanf.c`).

use std::ops::Range;

/// The source from which a function of the `scanf` family reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    StandardInput,
    Stream,
    Text,
}

impl Source {
    /// The source of a function by its name. Headers may rename the functions.
    pub(crate) fn from_name(function: &str) -> Option<Self> {
        match function.trim_start_matches("__isoc99_").trim_start_matches("__isoc23_") {
            "scanf" => Some(Self::StandardInput),
            "fscanf" => Some(Self::Stream),
            "sscanf" => Some(Self::Text),
            _ => None,
        }
    }
}

/// A directive of a format: a conversion, or a literal character.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Directive {
    /// The conversion character. 0 for a literal character.
    pub conversion: u8,
    /// The literal character. `%` for a conversion.
    pub literal: u8,
    /// The conversion has a `*`: its result is not stored.
    pub suppressed: bool,
    /// The conversion has an `m`: it allocates the target.
    pub allocates: bool,
    /// The maximal field width. 0 if absent or above `INT_MAX`.
    pub width: u32,
    /// The length modifier: `H` for `hh`, `q` for `ll`, 0 if absent.
    pub length: u8,
    /// White space precedes the directive in the format. A `%n` in between does not matter.
    pub after_space: bool,
    /// For `%[`: the range of the set in the format, after the bracket or the `^`, and before the closing bracket.
    pub set: Range<usize>,
    /// For `%[`: the set is complemented.
    pub complement: bool,
}

impl Directive {
    /// True for a conversion to an integer.
    pub fn is_integer(&self) -> bool {
        b"diuoxX".contains(&self.conversion)
    }
    /// True for a conversion to a floating-point number.
    pub fn is_real(&self) -> bool {
        b"aAeEfFgG".contains(&self.conversion)
    }
    /// True for a conversion to wide characters.
    pub fn is_wide(&self) -> bool {
        b"CS".contains(&self.conversion) || self.length == b'l' && b"cs[".contains(&self.conversion)
    }
    /// True for a literal character.
    pub fn is_literal(&self) -> bool {
        self.conversion == 0 || self.conversion == b'%'
    }
}

/// The directives of a format in order, and whether white space follows the last one.
pub fn directives(format: &[u8]) -> (Vec<Directive>, bool) {
    let mut found = Vec::new();
    let (mut f, mut space) = (0, false);
    while let Some(&literal) = format.get(f) {
        f += 1;
        if is_space(literal) {
            space = true;
            continue;
        }
        let mut directive = Directive { literal, after_space: space, ..Directive::default() };
        if literal == b'%' {
            f = conversion(&mut directive, format, f);
        }
        space &= directive.conversion == b'n';
        found.push(directive);
    }
    (found, space)
}

/// White space of the C locale.
pub fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Parses a conversion after `%`. Returns its end.
fn conversion(d: &mut Directive, format: &[u8], mut f: usize) -> usize {
    let at = |f: usize| format.get(f).copied().unwrap_or(0);
    d.suppressed = at(f) == b'*';
    f += usize::from(d.suppressed);
    while at(f).is_ascii_digit() {
        d.width = d.width.saturating_mul(10).saturating_add(u32::from(at(f) - b'0'));
        f += 1;
    }
    if d.width > i32::MAX as u32 {
        d.width = 0;
    }
    d.allocates = at(f) == b'm';
    f += usize::from(d.allocates);
    match at(f) {
        c @ (b'h' | b'l') => {
            d.length = c;
            f += 1;
            if at(f) == c {
                d.length = if c == b'h' { b'H' } else { b'q' };
                f += 1;
            }
        }
        c @ (b'L' | b'q' | b'j' | b'z' | b'Z' | b't') => {
            d.length = c;
            f += 1;
        }
        _ => {}
    }
    d.conversion = at(f);
    f += usize::from(d.conversion != 0);
    if d.conversion == b'[' {
        d.complement = at(f) == b'^';
        f += usize::from(d.complement);
        let start = f;
        // A closing bracket at the start is an element of the set.
        f += usize::from(at(f) == b']');
        while at(f) != 0 && at(f) != b']' {
            f += 1;
        }
        d.set = start..f;
        f += usize::from(at(f) != 0);
    }
    f
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_of_formats() {
        let one = |format: &str| {
            let (mut found, space) = directives(format.as_bytes());
            assert!(found.len() == 1 && !space, "{format}: {found:?}");
            found.remove(0)
        };
        let d = Directive { conversion: b'd', literal: b'%', ..Directive::default() };
        assert_eq!(one("%d"), d);
        assert_eq!(
            one(" %*12hhd"),
            Directive { suppressed: true, width: 12, length: b'H', after_space: true, ..d.clone() }
        );
        assert_eq!(one("%lld"), Directive { length: b'q', ..d.clone() });
        assert_eq!(one("x"), Directive { literal: b'x', ..Directive::default() });
        let set = |set, complement, width| Directive { conversion: b'[', set, complement, width, ..d.clone() };
        assert_eq!(one("%[a-z]"), set(2..5, false, 0));
        assert_eq!(one("%3[^]x]"), set(4..6, true, 3));
        assert!(one("%ms").allocates && one("%ls").is_wide() && one("%S").is_wide() && !one("%ld").is_wide());
        assert!(one("%%").is_literal() && one("%Lf").is_real() && one("%").conversion == 0);
    }

    #[test]
    fn white_space() {
        let (found, space) = directives(b" %n%d \n");
        assert!(space && found.len() == 2 && found[0].after_space && found[1].after_space);
        let (found, space) = directives(b"%d,%d");
        assert!(!space && found.iter().all(|d| !d.after_space));
    }
}
