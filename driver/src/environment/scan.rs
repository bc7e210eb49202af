//! Constructs input from which `scanf` reads the values that its model chose.

use super::Stream;
use cfa::Bv;
use frontend_llvm::scan_format::{Directive, directives, is_space};

/// The token that was read last. It determines which characters must not follow directly, because `scanf` would read
/// them as part of the token.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) enum Last {
    /// No token that a further character could continue.
    #[default]
    Closed,
    /// A decimal number.
    Digits,
    /// An octal number.
    Octal,
    /// A hexadecimal number.
    Hex,
    /// A floating-point number.
    Real,
    /// A word of `%s`.
    Word,
    /// Characters of `%[`. The vector marks the bytes that would continue them.
    Set(Vec<bool>),
    /// A mismatch. The next byte must be none of those that the vector marks.
    Mismatch(Vec<bool>),
}

impl Last {
    /// Returns true if the character may follow the token directly.
    pub fn allows(&self, byte: u8) -> bool {
        match self {
            Self::Closed => true,
            Self::Digits => !byte.is_ascii_digit(),
            Self::Octal => !matches!(byte, b'0'..=b'7'),
            Self::Hex => !(byte.is_ascii_hexdigit() || byte == b'x'),
            Self::Real => !(byte.is_ascii_alphanumeric() || byte == b'.'),
            Self::Word => is_space(byte),
            Self::Set(taken) | Self::Mismatch(taken) => !taken[usize::from(byte)],
        }
    }
}

/// Appends input to a stream so that a call of `scanf` with this format makes the choices of the model. Returns `None`
/// if there are too few choices or one is out of range.
pub(super) fn scan(stream: &mut Stream, format: &[u8], chosen: &[Bv], pointer_width: u32) -> Option<()> {
    let mut chosen = chosen.iter();
    let directives = directives(format).0;
    let counts = directives.iter().any(|d| d.conversion == b'n');
    // The offset of the first byte that the call reads, and an offset since the last `%n` where white space may be
    // added.
    let (start, mut space) = (stream.bytes.len(), None);
    for d in directives {
        if skips_space(&d) {
            space = Some(stream.bytes.len());
        }
        if d.conversion == b'n' {
            if !d.suppressed {
                count(stream, chosen.next()?.to_u64()?, start, space.take());
            }
            continue;
        }
        // After the end of the input, the model makes no further choice.
        let Some(fits) = chosen.next() else { return Some(()) };
        if fits.is_zero() {
            // Every character matches `%s` and `%c`, so only the end of the input stops them.
            let ends = b"sc".contains(&d.conversion) || !chosen.next()?.is_zero();
            if !ends {
                // A number may break off at the end of the input.
                let breaks_off = !d.is_literal() && d.conversion != b'[' && super::is_true(chosen.next());
                if breaks_off {
                    stream.token(b"-", Last::Closed);
                    stream.stop(super::is_true(chosen.next()), false);
                } else {
                    stream.mismatch(taken(&d, format));
                }
            } else {
                if !matches!(stream.last, Last::Closed) && stream.last.allows(b'\n') {
                    stream.byte(b'\n');
                }
                stream.stop(super::is_true(chosen.next()), false);
            }
            return Some(());
        }
        // White space in the format skips any white space, so a space may end the last token.
        if d.after_space && !matches!(stream.last, Last::Closed) {
            stream.byte(b' ');
        }
        if d.is_literal() {
            stream.byte(d.literal);
        } else {
            convert(stream, &d, format, &mut chosen, pointer_width, counts)?;
        }
    }
    if super::is_true(chosen.next()) {
        stream.stop(super::is_true(chosen.next()), true);
    }
    Some(())
}

/// Returns true if white space is skipped before the directive.
pub(super) fn skips_space(d: &Directive) -> bool {
    d.after_space || !d.is_literal() && !b"c[n".contains(&d.conversion) || d.conversion == b'%'
}

/// Adds white space at the offset `space`, so that the call has read `count` bytes since `start`.
fn count(stream: &mut Stream, count: u64, start: usize, space: Option<usize>) {
    let read = stream.bytes.len() - start;
    let missing = usize::try_from(count).ok().and_then(|count| count.checked_sub(read));
    match (missing, space) {
        (Some(0), _) => {}
        (Some(missing), Some(at)) if missing <= MAX_SPACE => {
            stream.bytes.splice(at..at, std::iter::repeat_n(b' ', missing));
        }
        _ => stream.doubt("%n of scanf counts other bytes"),
    }
}

/// Maximal number of bytes that are added for a `%n`, and maximal length of a suppressed word.
const MAX_SPACE: usize = 1 << 16;

/// Returns for each byte true if the directive would take it as the first one.
fn taken(d: &Directive, format: &[u8]) -> Vec<bool> {
    let takes = |c: u8| match d.conversion {
        0 | b'%' => c == d.literal,
        b'[' => contains(d, format, c),
        // These directives skip white space and would take the byte after it.
        _ if is_space(c) || c == b'+' || c == b'-' => true,
        b'x' | b'X' | b'p' => c.is_ascii_hexdigit(),
        b'd' | b'i' | b'u' | b'o' => c.is_ascii_digit(),
        // Floating-point numbers may start with a digit or `.`, or be `inf` or `nan`.
        _ => c.is_ascii_digit() || matches!(c, b'.' | b'i' | b'I' | b'n' | b'N'),
    };
    (0..=255).map(takes).collect()
}

/// Returns true if the byte is in the set of a `%[`.
pub(super) fn contains(d: &Directive, format: &[u8], c: u8) -> bool {
    let set = &format[d.set.clone()];
    let (mut found, mut i) = (false, 0);
    while i < set.len() {
        let (low, mut high) = (set[i], set[i]);
        if i + 2 < set.len() && set[i + 1] == b'-' {
            high = set[i + 2];
            i += 2;
        }
        found |= (low..=high).contains(&c);
        i += 1;
    }
    found != d.complement
}

/// Appends the input that a conversion takes. `counts` is true if the format has a `%n`. Returns `None` if there are
/// too few choices or one is out of range.
fn convert<'a>(
    stream: &mut Stream,
    d: &Directive,
    format: &[u8],
    chosen: &mut impl Iterator<Item = &'a Bv>,
    pointer_width: u32,
    counts: bool,
) -> Option<()> {
    let low_byte = |v: &Bv| v.to_u64().map(|v| v as u8);
    let number = match d.conversion {
        _ if d.width > 0 => Last::Closed,
        b'd' | b'u' => Last::Digits,
        b'o' | b'i' => Last::Octal,
        b'x' | b'X' | b'p' => Last::Hex,
        _ => Last::Real,
    };
    match d.conversion {
        b's' | b'[' if d.suppressed => {
            let first = low_byte(chosen.next()?)?;
            let length = if counts { usize::try_from(chosen.next()?.to_u64()?).ok()? } else { 1 };
            characters(stream, d, format, &vec![first; length.min(MAX_SPACE)]);
        }
        b'c' => {
            stream.byte(low_byte(chosen.next()?)?);
            for _ in 1..d.width {
                let Some(more) = chosen.next() else { break };
                if more.is_zero() {
                    stream.end();
                    break;
                }
                stream.byte(low_byte(chosen.next()?)?);
            }
        }
        _ if d.suppressed => stream.token(b"0", number),
        b'd' | b'i' | b'u' | b'o' | b'x' | b'X' => {
            let text = integer(d, chosen.next()?.to_u64()? as i64, pointer_width);
            stream.token(text.as_bytes(), number);
        }
        b'a' | b'e' | b'f' | b'g' | b'A' | b'E' | b'F' | b'G' => {
            let text = if is_short(d) { short_real(d, chosen)? } else { real(chosen.next()?) };
            stream.token(text.as_bytes(), number);
        }
        b'p' => stream.token(format!("{:x}", chosen.next()?.to_u64()?).as_bytes(), number),
        b's' | b'[' => {
            let mut bytes = vec![low_byte(chosen.next()?)?];
            // If the buffer was full, the model may have made no further choice.
            while bytes.len() as u64 != u64::from(d.width) && super::is_true(chosen.next()) {
                bytes.push(low_byte(chosen.next()?)?);
            }
            characters(stream, d, format, &bytes);
        }
        _ => {}
    }
    Some(())
}

/// Appends the bytes of a `%s` or `%[`.
fn characters(stream: &mut Stream, d: &Directive, format: &[u8], bytes: &[u8]) {
    let full = bytes.len() as u64 == u64::from(d.width);
    if d.conversion == b's' {
        stream.token(bytes, if full { Last::Closed } else { Last::Word });
    } else {
        bytes.iter().for_each(|&b| stream.byte(b));
        if !full {
            stream.last = Last::Set((0..=255).map(|c| contains(d, format, c)).collect());
        }
    }
}

/// Returns the text of an integer that `scanf` reads back as `value`. Without a width, the text is the value truncated
/// to the type of the conversion.
fn integer(d: &Directive, value: i64, pointer_width: u32) -> String {
    let bits = match d.length {
        b'H' => 8,
        b'h' => 16,
        b'l' | b'z' | b'Z' | b't' => pointer_width,
        b'q' | b'L' | b'j' => 64,
        _ => 32,
    };
    let value = if d.width > 0 { value } else { value << (64 - bits) >> (64 - bits) };
    let unsigned = value as u64 & (u64::MAX >> (64 - bits));
    match d.conversion {
        b'd' | b'i' => value.to_string(),
        _ if d.width > 0 && value < 0 => format!("-{}", in_base(d.conversion, value.unsigned_abs())),
        _ if d.width > 0 => in_base(d.conversion, value as u64),
        c => in_base(c, unsigned),
    }
}

/// Returns a number in the base of the conversion.
fn in_base(conversion: u8, value: u64) -> String {
    match conversion {
        b'o' => format!("{value:o}"),
        b'x' | b'X' => format!("{value:x}"),
        _ => value.to_string(),
    }
}

/// Returns true if the width of a floating-point conversion is too small for some numbers. The model then chooses the
/// notation.
fn is_short(d: &Directive) -> bool {
    let enough = match d.length {
        b'L' => 29,
        b'l' => 24,
        _ => 15,
    };
    d.width > 0 && d.width < enough
}

/// Returns the text of a number in such a short field, from the model's choice `proviso_env_form` and the choices after
/// it (`models/scanf.c`). Returns `None` if there are too few choices.
fn short_real<'a>(d: &Directive, chosen: &mut impl Iterator<Item = &'a Bv>) -> Option<String> {
    let mut next = || chosen.next().and_then(Bv::to_u64);
    let form = next()?;
    Some(match form {
        0..=2 => {
            let sign = if next()? == 0 { "" } else { "-" };
            let (digits, behind) = (next()?.to_string(), form as usize);
            let zeros = "0".repeat(behind.saturating_sub(digits.len()));
            let digits = zeros + &digits;
            let (before, after) = digits.split_at(digits.len() - behind);
            let point = if behind > 0 { "." } else { "" };
            format!("{sign}{before}{point}{after}")
        }
        3 => format!("{}e{}", next()?, next()?),
        4 => "inf".into(),
        5 => "nan".into(),
        _ => real(chosen.next()?).chars().take(d.width as usize).collect(),
    })
}

/// Returns a floating-point number as text without loss.
fn real(value: &Bv) -> String {
    fn text(value: f64, shortest: String) -> String {
        match value {
            v if v.is_nan() => "nan".into(),
            v if v.is_infinite() => if v < 0.0 { "-inf" } else { "inf" }.into(),
            _ => shortest,
        }
    }
    let bits = value.extract(value.width().min(64) - 1, 0).to_u64().unwrap_or(0);
    match value.width() {
        32 => {
            let number = f32::from_bits(bits as u32);
            text(f64::from(number), format!("{number:e}"))
        }
        64 => text(f64::from_bits(bits), format!("{:e}", f64::from_bits(bits))),
        _ => {
            let high = value.extract(79, 64).to_u64().unwrap_or(0);
            let (sign, exponent) = (if high >> 15 == 1 { "-" } else { "" }, (high & 0x7fff) as i64);
            match (exponent, bits << 1) {
                (0x7fff, 0) => format!("{sign}inf"),
                (0x7fff, _) => "nan".into(),
                _ => format!("{sign}{bits:#x}p{}", exponent.max(1) - 16383 - 63),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(chosen: &[(u32, u64)]) -> Vec<Bv> {
        chosen.iter().map(|&(width, value)| Bv::new(width, value)).collect()
    }
    fn scanned(format: &str, chosen: &[(u32, u64)]) -> (String, usize) {
        let mut stream = Stream::default();
        scan(&mut stream, format.as_bytes(), &values(chosen), 64).unwrap();
        stream.close();
        (String::from_utf8(stream.bytes).unwrap(), stream.doubts.len())
    }

    const YES: (u32, u64) = (1, 1);
    const NO: (u32, u64) = (1, 0);

    #[test]
    fn numbers_and_words_are_separated_where_they_must_be() {
        let (a, b) = ((64, u64::MAX - 6), (64, 255));
        assert_eq!(scanned("%d %u", &[YES, a, YES, b, NO]), ("-7 255\n".into(), 0));
        assert_eq!(scanned("%d,%x", &[YES, a, YES, YES, b, NO]), ("-7,ff\n".into(), 0));
        assert_eq!(scanned("%hhd", &[YES, b, YES]), ("-1".into(), 0));
        let word = [YES, (8, b'a'.into()), YES, (8, b'b'.into()), NO, YES, b, NO];
        assert_eq!(scanned("%s%d", &word), ("ab 255\n".into(), 0));
        assert_eq!(scanned("%2[a-c]%c", &[YES, (8, 97), YES, (8, 98), YES, (8, 99), NO]), ("abc".into(), 0));
    }

    #[test]
    fn what_the_input_cannot_be_is_doubted() {
        // `scanf` would read the digit as part of the number.
        assert_eq!(scanned("%d%c", &[YES, (64, 5), YES, (8, b'1'.into()), NO]).1, 1);
        assert_eq!(scanned("%d%c", &[YES, (64, 5), YES, (8, b'x'.into()), NO]), ("5x".into(), 0));
        assert_eq!(scanned("%d %c", &[YES, (64, 5), YES, (8, b'1'.into()), NO]), ("5 1".into(), 0));
    }

    #[test]
    fn input_that_does_not_fit_or_ends() {
        let five = [YES, (64, 5), NO];
        let mut stream = Stream::default();
        for chosen in [&[NO, NO, NO][..], &five] {
            scan(&mut stream, b"%d", &values(chosen), 64).unwrap();
        }
        assert_eq!((stream.bytes.as_slice(), stream.doubts.len()), (&b"+ 5"[..], 0));
        assert_eq!(scanned("%d", &[NO, YES, NO]), (String::new(), 0));
        assert_eq!(scanned("%d", &[NO, NO]), ("!".into(), 0));
        assert_eq!(scanned("%d%d", &[YES, (64, 1), NO, NO]), ("1!".into(), 0));
    }

    #[test]
    fn reading_that_fails() {
        let failing = |format: &str, calls: &[&[(u32, u64)]]| {
            let mut stream = Stream::default();
            for chosen in calls {
                scan(&mut stream, format.as_bytes(), &values(chosen), 64).unwrap();
            }
            stream.close();
            (String::from_utf8(stream.bytes).unwrap(), stream.failures, stream.doubts.len())
        };
        // Reading fails while `scanf` looks for the next digit of a number. Later reads continue.
        let five = &[YES, (64, 5), YES, YES][..];
        assert_eq!(failing("%d", &[five, &[YES, (64, 6), NO]]), ("56\n".into(), vec![1], 0));
        // Reading fails before the next number.
        assert_eq!(failing("%d", &[&[YES, (64, 5), NO], &[NO, YES, YES]]), ("5\n".into(), vec![2], 0));
    }

    #[test]
    fn floating_point_numbers_are_exact() {
        for number in [0.1, -1.5e300, f64::MIN_POSITIVE / 8.0, 0.0] {
            assert_eq!(real(&Bv::new(64, number.to_bits())).parse::<f64>().unwrap().to_bits(), number.to_bits());
        }
        assert_eq!(real(&Bv::new(32, u64::from(0.1f32.to_bits()))).parse::<f32>().unwrap(), 0.1);
        assert_eq!(real(&Bv::new(64, f64::NEG_INFINITY.to_bits())), "-inf");
        let one = Bv::new(16, 0x3fff).concat(&Bv::new(64, 1 << 63));
        assert_eq!(real(&one), "0x8000000000000000p-63");
    }
}
