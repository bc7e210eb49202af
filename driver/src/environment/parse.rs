//! The choices of the `scanf` model that yield a given input: the inverse of [`super::scan`].

use super::scan::{contains, skips_space};
use cfa::Bv;
use frontend_llvm::scan_format::{Directive, directives, is_space};
use std::ops::Range;

/// The bytes of a text on which a value of a run depends.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// The value is the byte at this position.
    Byte(usize),
    /// The value is the decimal number in this range.
    Number {
        /// The positions of its characters.
        range: Range<usize>,
        /// True if the value is signed.
        is_signed: bool,
    },
}

/// A choice of the model.
pub(super) struct Choice {
    pub value: Bv,
    /// The bytes of the text that determine the choice; `None` if the structure of the text does.
    pub place: Option<Place>,
}

impl From<Bv> for Choice {
    fn from(value: Bv) -> Self {
        Self { value, place: None }
    }
}

/// The rest of a stream.
pub(super) struct Text<'a> {
    /// The whole content of the stream.
    pub bytes: &'a [u8],
    /// The number of bytes that were read.
    pub at: usize,
    /// True if the stream has reached its end.
    pub at_end: bool,
}

/// The result of a directive on the input.
enum Item {
    /// It takes input. The fields: the choices of the model, and true if `scanf` reads ahead, so that the end of the
    /// input may end the item.
    Taken(Vec<Bv>, bool),
    /// The input has ended.
    End,
    /// The input does not match. True if it ended after a sign.
    Mismatch(bool),
}

/// Returns the choices by which the model of `scanf` finds the end of the input, or an error, before the first item.
/// `None` if the first directive is not supported.
pub(super) fn choices_at_end(format: &[u8]) -> Option<Vec<Bv>> {
    let (directives, _) = directives(format);
    let first = directives.first().filter(|d| d.conversion != b'n' && !d.allocates && !d.is_wide())?;
    Some(choices_at_end_of(first))
}

/// Returns the choices by which the model finds the end of the input, or an error, instead of an item of a directive.
fn choices_at_end_of(directive: &Directive) -> Vec<Bv> {
    let matches = Bv::zero(1);
    // `%s` and `%c` match every input, so the model does not choose between its end and a mismatch.
    let is_end = (!b"sc".contains(&directive.conversion)).then(|| Bv::new(1, 1));
    std::iter::once(matches).chain(is_end).collect()
}

/// Returns the choices of the model for a call of `scanf` with this format, and moves `text` past the bytes that the
/// call reads. `None` if a directive is not supported.
pub(super) fn choices(text: &mut Text, format: &[u8], pointer_width: u32) -> Option<Vec<Choice>> {
    let bit = |value: bool| Choice::from(Bv::new(1, u64::from(value)));
    let (directives, ends_in_space) = directives(format);
    let counts = directives.iter().any(|d| d.conversion == b'n');
    let start = text.at;
    let (mut out, mut looks_ahead) = (Vec::<Choice>::new(), false);
    for d in &directives {
        if d.conversion == b'n' {
            if d.after_space {
                text.skip_space();
            }
            if !d.suppressed {
                out.push(Bv::new(64, (text.at - start) as u64).into());
            }
            continue;
        }
        if d.allocates || d.is_wide() {
            return None;
        }
        // After the end of the input, the model makes no further choice.
        if text.at_end {
            return Some(out);
        }
        if skips_space(d) {
            text.skip_space();
        }
        let begin = text.at;
        match text.item(d, format, (pointer_width, counts))? {
            Item::Taken(choices, looks) => {
                out.push(bit(true));
                let of_item = begin..text.at;
                let placed = |(n, value)| Choice { place: place(d, text.bytes, &of_item, n), value };
                out.extend(choices.into_iter().enumerate().map(placed));
                looks_ahead = looks;
            }
            Item::End => {
                out.extend(choices_at_end_of(d).into_iter().map(Choice::from));
                // Reading does not fail.
                out.push(bit(false));
                text.at_end = true;
                return Some(out);
            }
            Item::Mismatch(breaks_off) => {
                out.extend([bit(false), bit(false)]);
                if !d.is_literal() && d.conversion != b'[' {
                    out.push(bit(breaks_off));
                    if breaks_off {
                        out.push(bit(false));
                        text.at_end = true;
                    }
                }
                return Some(out);
            }
        }
    }
    if ends_in_space {
        text.skip_space();
    }
    if ends_in_space || looks_ahead {
        let ends = text.rest().is_empty();
        out.push(bit(ends));
        if ends && !text.at_end {
            out.push(bit(false));
            text.at_end = true;
        }
    }
    Some(out)
}

/// Returns the bytes that determine the n-th choice of a directive that takes this range of a text; `None` if the
/// structure of the text does, or if the text is no decimal number.
fn place(d: &Directive, bytes: &[u8], range: &Range<usize>, n: usize) -> Option<Place> {
    match d.conversion {
        // A bit is between two characters.
        b'c' | b's' | b'[' if !d.suppressed && n.is_multiple_of(2) => Some(Place::Byte(range.start + n / 2)),
        b'd' | b'i' | b'u' => {
            let digits = bytes[range.clone()].strip_prefix(b"-").unwrap_or(&bytes[range.clone()]);
            let is_decimal = digits.iter().all(u8::is_ascii_digit) && (digits.len() == 1 || digits[0] != b'0');
            is_decimal.then(|| Place::Number { range: range.clone(), is_signed: d.conversion != b'u' })
        }
        _ => None,
    }
}

impl<'a> Text<'a> {
    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn skip_space(&mut self) {
        self.at += self.rest().iter().take_while(|&&b| is_space(b)).count();
    }

    /// Takes the next byte if it satisfies a condition and the field has room for it.
    fn take(&mut self, room: &mut usize, accepts: impl Fn(u8) -> bool) -> Option<u8> {
        let byte = *self.rest().first().filter(|&&b| *room > 0 && accepts(b))?;
        self.at += 1;
        *room -= 1;
        Some(byte)
    }

    fn item(&mut self, d: &Directive, format: &[u8], (pointer_width, counts): (u32, bool)) -> Option<Item> {
        if self.rest().is_empty() {
            return Some(Item::End);
        }
        let character = |c: u8| Bv::new(8, c.into());
        let bit = |value: bool| Bv::new(1, u64::from(value));
        let mut room = if d.width == 0 { usize::MAX } else { d.width as usize };
        Some(match d.conversion {
            0 | b'%' => match self.take(&mut room, |b| b == d.literal) {
                Some(_) => Item::Taken(Vec::new(), false),
                None => Item::Mismatch(false),
            },
            b'c' => {
                let wanted = d.width.max(1) as usize;
                let bytes = &self.rest()[..wanted.min(self.rest().len())];
                self.at += bytes.len();
                let mut choices = vec![character(bytes[0])];
                bytes[1..].iter().for_each(|&b| choices.extend([bit(true), character(b)]));
                if bytes.len() < wanted {
                    choices.push(bit(false));
                    self.at_end = true;
                }
                Item::Taken(choices, false)
            }
            b's' | b'[' => {
                let accepts = |b: u8| if d.conversion == b's' { !is_space(b) } else { contains(d, format, b) };
                let start = self.at;
                while self.take(&mut room, accepts).is_some() {}
                let bytes = &self.bytes[start..self.at];
                let Some(&first) = bytes.first() else { return Some(Item::Mismatch(false)) };
                let mut choices = vec![character(first)];
                if d.suppressed {
                    if counts {
                        choices.push(Bv::new(64, bytes.len() as u64));
                    }
                } else {
                    bytes[1..].iter().for_each(|&b| choices.extend([bit(true), character(b)]));
                    if room > 0 {
                        choices.push(bit(false));
                    }
                }
                Item::Taken(choices, room > 0 || d.suppressed && d.width > 0)
            }
            _ if d.is_integer() || d.conversion == b'p' => self.integer(d, room, pointer_width),
            _ if d.is_real() => return self.real(d),
            _ => return None,
        })
    }

    fn integer(&mut self, d: &Directive, mut room: usize, pointer_width: u32) -> Item {
        let c = d.conversion | 0x20;
        let sign = self.take(&mut room, |b| b == b'-' || b == b'+');
        let mut base = match c {
            b'o' => 8,
            b'x' | b'p' => 16,
            _ => 10,
        };
        let mut digits = 0;
        let mut value: u128 = 0;
        if (base == 16 || c == b'i') && self.take(&mut room, |b| b == b'0').is_some() {
            digits = 1;
            let is_hex = self.rest().get(1).is_some_and(u8::is_ascii_hexdigit);
            if is_hex && self.take(&mut room, |b| b | 0x20 == b'x').is_some() {
                base = 16;
            } else if c == b'i' {
                base = 8;
            }
        }
        let digit = |b: u8| (b as char).to_digit(base);
        while let Some(b) = self.take(&mut room, |b| digit(b).is_some()) {
            digits += 1;
            value = value.saturating_mul(base.into()).saturating_add(digit(b).unwrap_or(0).into());
        }
        if digits == 0 {
            return Item::Mismatch(sign.is_some() && self.rest().is_empty());
        }
        let bits = if b"qLj".contains(&d.length) { 64 } else { pointer_width };
        let is_negative = sign == Some(b'-');
        let number = if c == b'd' || c == b'i' {
            let most = 1_u128 << (bits - 1);
            match is_negative {
                true => (value.min(most) as u64).wrapping_neg(),
                false => value.min(most - 1) as u64,
            }
        } else {
            let most = (1_u128 << bits) - 1;
            match is_negative && value <= most {
                true => (value as u64).wrapping_neg() & most as u64,
                false => value.min(most) as u64,
            }
        };
        Item::Taken(if d.suppressed { Vec::new() } else { vec![Bv::new(64, number)] }, true)
    }

    /// Reads a decimal floating-point number. `None` for other notations.
    fn real(&mut self, d: &Directive) -> Option<Item> {
        if d.width > 0 {
            return None;
        }
        let start = self.at;
        let sign = self.sign();
        if self.rest().first().is_some_and(|b| b"iInN".contains(b)) {
            return None;
        }
        let mut digits = self.digits();
        if self.take(&mut 1, |b| b == b'.').is_some() {
            digits += self.digits();
        }
        if digits == 0 {
            return Some(Item::Mismatch(sign.is_some() && self.rest().is_empty()));
        }
        if self.rest().first().is_some_and(|b| b"xX".contains(b)) {
            return None;
        }
        if self.take(&mut 1, |b| b | 0x20 == b'e').is_some() {
            self.sign();
            if self.digits() == 0 {
                return None;
            }
        }
        let text = String::from_utf8_lossy(&self.bytes[start..self.at]);
        let text = text.trim_start_matches('+');
        let choice = match d.length {
            b'L' => return None,
            b'l' => Bv::new(64, text.parse::<f64>().ok()?.to_bits()),
            _ => Bv::new(32, text.parse::<f32>().ok()?.to_bits().into()),
        };
        Some(Item::Taken(if d.suppressed { Vec::new() } else { vec![choice] }, true))
    }

    fn sign(&mut self) -> Option<u8> {
        self.take(&mut 1, |b| b == b'-' || b == b'+')
    }

    /// Takes decimal digits and returns their number.
    fn digits(&mut self) -> usize {
        let count = self.rest().iter().take_while(|b| b.is_ascii_digit()).count();
        self.at += count;
        count
    }
}

#[cfg(test)]
mod tests {
    use super::super::Stream;
    use super::super::scan::scan;
    use super::*;

    /// Converts an input to the choices of the model, and these back to an input. `scanf` reads the same values from
    /// both.
    fn back(input: &str, formats: &[&str]) -> String {
        let mut text = Text { bytes: input.as_bytes(), at: 0, at_end: false };
        let mut stream = Stream::default();
        for format in formats {
            let choices = choices(&mut text, format.as_bytes(), 64).unwrap();
            let choices: Vec<Bv> = choices.into_iter().map(|choice| choice.value).collect();
            scan(&mut stream, format.as_bytes(), &choices, 64).unwrap();
        }
        stream.close();
        assert!(stream.doubts.is_empty(), "{:?}", stream.doubts);
        String::from_utf8(stream.bytes).unwrap()
    }

    #[test]
    fn choices_lead_back_to_the_input() {
        assert_eq!(back("12 -7\n", &["%d %d"]), "12 -7\n");
        assert_eq!(back("12 7", &["%d", "%d"]), "12 7");
        assert_eq!(back("ab 0x1f,", &["%s %x,"]), "ab 1f,");
        assert_eq!(back("key=value\n", &["%[a-z]=%s"]), "key=value\n");
        assert_eq!(back("2.5", &["%lf"]), "2.5e0");
        assert_eq!(back("", &["%d"]), "");
        assert_eq!(back("abc", &["%3c"]), "abc");
        assert_eq!(back("-", &["%d"]), "-");
    }

    #[test]
    fn choices_name_the_bytes_that_determine_them() {
        let mut text = Text { bytes: b" -12 ab x", at: 0, at_end: false };
        let places: Vec<_> = choices(&mut text, b"%d %s", 64).unwrap().into_iter().map(|c| c.place).collect();
        let number = Place::Number { range: 1..4, is_signed: true };
        let byte = |at| Some(Place::Byte(at));
        assert_eq!(places, [None, Some(number), None, byte(5), None, byte(6), None, None]);
    }

    #[test]
    fn what_does_not_match_stays() {
        let mut text = Text { bytes: b"x1", at: 0, at_end: false };
        assert_eq!(choices(&mut text, b"%d", 64).unwrap().len(), 3);
        assert_eq!((text.at, text.at_end), (0, false));
        assert!(choices(&mut text, b"%ms", 64).is_none());
        assert_eq!(choices(&mut text, b"%*s", 64).unwrap().len(), 4);
        assert!(text.at_end);
        assert!(choices(&mut text, b"%d", 64).unwrap().is_empty());
    }
}
