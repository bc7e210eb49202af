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
    /// Another number.
    Number,
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
            Self::Number => !(byte.is_ascii_alphanumeric() || byte == b'.'),
            Self::Word => is_space(byte),
            Self::Set(taken) | Self::Misfit(taken) => !taken[usize::from(byte)],
        }
    }
}

/// Lets a stream continue so that a call of `scanf` with this format makes the choices that the model made.
pub(super) fn scan(stream: &mut Stream, format: &[u8], chosen: &[Bv], pointer_width: u32) -> Option<()> {
    let mut chosen = chosen.iter();
    for d in directives(format).0 {
        if d.conversion == b'n' {
            // How much was read is what it is.
            if !d.suppressed {
                chosen.next()?;
            }
            continue;
        }
        // At the end nothing is asked.
        let Some(fits) = chosen.next() else { return Some(()) };
        if fits.is_zero() {
            // To these everything fits.
            let ends = b"sc".contains(&d.conversion) || !chosen.next()?.is_zero();
            if !ends {
                stream.misfit(taken(&d, format));
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
            convert(stream, &d, format, &mut chosen, pointer_width)?;
        }
    }
    if super::is_true(chosen.next()) {
        stream.stop(super::is_true(chosen.next()), true);
    }
    Some(())
}

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

/// Writes what a conversion takes.
fn convert<'a>(
    stream: &mut Stream,
    d: &Directive,
    format: &[u8],
    chosen: &mut impl Iterator<Item = &'a Bv>,
    pointer_width: u32,
) -> Option<()> {
    let low_byte = |v: &Bv| v.to_u64().map(|v| v as u8);
    match d.conversion {
        // What is skipped is any of its kind.
        b's' | b'[' if d.suppressed => {
            let any = (b'!'..=b'~').find(|&c| d.conversion == b's' || contains(d, format, c)).unwrap_or(b'x');
            characters(stream, d, format, &[any]);
        }
        b'c' if d.suppressed => (0..d.width.max(1)).for_each(|_| stream.byte(b'x')),
        _ if d.suppressed => stream.token(b"0", Last::Number),
        b'd' | b'i' | b'u' | b'o' | b'x' | b'X' => {
            let text = integer(d, chosen.next()?.to_u64()? as i64, pointer_width);
            let decimal = matches!(d.conversion, b'd' | b'u');
            stream.token(text.as_bytes(), if decimal { Last::Digits } else { Last::Number });
        }
        b'a' | b'e' | b'f' | b'g' | b'A' | b'E' | b'F' | b'G' => {
            stream.token(real(chosen.next()?).as_bytes(), Last::Number);
        }
        b'p' => stream.token(format!("{:#x}", chosen.next()?.to_u64()?).as_bytes(), Last::Number),
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
