//! Input that `scanf` reads as its model did.

use super::Stream;
use cfa::Bv;
use frontend_llvm::scan_format::{Directive, directives, is_space};

/// What ends a number or word, and so must not follow it directly.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) enum Last {
    /// Nothing that could go on.
    #[default]
    Closed,
    /// A decimal number.
    Digits,
    /// An octal number, or one of base 16.
    Octal,
    Hex,
    /// A floating-point number.
    Real,
    /// A word of `%s`.
    Word,
    /// Characters of `%[`, which these would continue.
    Set(Vec<bool>),
    /// The input did not fit: what follows must not be what these take.
    Misfit(Vec<bool>),
}

impl Last {
    /// Whether a character may follow.
    pub fn allows(&self, byte: u8) -> bool {
        match self {
            Self::Closed => true,
            Self::Digits => !byte.is_ascii_digit(),
            Self::Octal => !matches!(byte, b'0'..=b'7'),
            Self::Hex => !(byte.is_ascii_hexdigit() || byte == b'x'),
            Self::Real => !(byte.is_ascii_alphanumeric() || byte == b'.'),
            Self::Word => is_space(byte),
            Self::Set(taken) | Self::Misfit(taken) => !taken[usize::from(byte)],
        }
    }
}

/// Lets a stream continue so that a call of `scanf` with this format makes the choices that the model made.
pub(super) fn scan(stream: &mut Stream, format: &[u8], chosen: &[Bv], pointer_width: u32) -> Option<()> {
    let mut chosen = chosen.iter();
    let directives = directives(format).0;
    let counts = directives.iter().any(|d| d.conversion == b'n');
    // The first byte that the call reads, and a place since the last `%n` where white space may stand.
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
        // At the end nothing is asked.
        let Some(fits) = chosen.next() else { return Some(()) };
        if fits.is_zero() {
            // To these everything fits.
            let ends = b"sc".contains(&d.conversion) || !chosen.next()?.is_zero();
            if !ends {
                // A number may break off at the end of the input.
                let breaks_off = !d.is_literal() && d.conversion != b'[' && super::is_true(chosen.next());
                if breaks_off {
                    stream.token(b"-", Last::Closed);
                    stream.stop(super::is_true(chosen.next()), false);
                } else {
                    stream.misfit(taken(&d, format));
                }
            } else {
                if !matches!(stream.last, Last::Closed) && stream.last.allows(b'\n') {
                    stream.byte(b'\n');
                }
                stream.stop(super::is_true(chosen.next()), false);
            }
            return Some(());
        }
        // White space in the format takes any, and so may end what was read before.
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

/// True if white space before what the directive reads is skipped.
fn skips_space(d: &Directive) -> bool {
    d.after_space || !d.is_literal() && !b"c[n".contains(&d.conversion) || d.conversion == b'%'
}

/// Adds white space at a place, so that so many bytes have been read since `start`.
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

/// Bytes that are added so that `%n` counts them, and bytes of a word that is skipped.
const MAX_SPACE: usize = 1 << 16;

/// By byte, whether the directive takes it where it begins.
fn taken(d: &Directive, format: &[u8]) -> Vec<bool> {
    let takes = |c: u8| match d.conversion {
        0 | b'%' => c == d.literal,
        b'[' => contains(d, format, c),
        // What skips white space would take what is behind it.
        _ if is_space(c) || c == b'+' || c == b'-' => true,
        b'x' | b'X' | b'p' => c.is_ascii_hexdigit(),
        b'd' | b'i' | b'u' | b'o' => c.is_ascii_digit(),
        // Also "inf" and "nan".
        _ => c.is_ascii_digit() || matches!(c, b'.' | b'i' | b'I' | b'n' | b'N'),
    };
    (0..=255).map(takes).collect()
}

/// Whether a byte is of the set of a `%[`.
fn contains(d: &Directive, format: &[u8], c: u8) -> bool {
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

/// Writes what a conversion takes. `counts`: the format has a `%n`.
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
            // There may be no more choices where the word had no room.
            while bytes.len() as u64 != u64::from(d.width) && super::is_true(chosen.next()) {
                bytes.push(low_byte(chosen.next()?)?);
            }
            characters(stream, d, format, &bytes);
        }
        _ => {}
    }
    Some(())
}

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

/// A number as `scanf` reads it back: what is stored of it, where no width says how long it may be.
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

fn in_base(conversion: u8, value: u64) -> String {
    match conversion {
        b'o' => format!("{value:o}"),
        b'x' | b'X' => format!("{value:x}"),
        _ => value.to_string(),
    }
}

/// True if the field of a floating-point number has no room for some numbers: the model then chooses how it is written.
fn is_short(d: &Directive) -> bool {
    let enough = match d.length {
        b'L' => 29,
        b'l' => 24,
        _ => 15,
    };
    d.width > 0 && d.width < enough
}

/// What stands in such a field: `proviso_env_form` of the model and what follows it (`models/scanf.c`).
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

/// A floating-point number, exactly.
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
        // The digit would belong to the number.
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
        // While the next character of a number is looked for; then it goes on.
        let five = &[YES, (64, 5), YES, YES][..];
        assert_eq!(failing("%d", &[five, &[YES, (64, 6), NO]]), ("56\n".into(), vec![1], 0));
        // Where the next number is looked for.
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
