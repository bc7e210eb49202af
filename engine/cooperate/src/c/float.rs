//! Writes literals of floats, calls of the math library, and floats with given bits.

use super::file::File;
use cfa::text::exact::{container, literal};
use cfa::{Bv, FloatFormat, float};

impl File<'_> {
    /// The float with these bits.
    pub fn float_of_bits(&mut self, format: FloatFormat, text: &str) -> String {
        let (name, ty, bytes) = (format!("proviso_{}_of_bits", format.name()), format.c_name(), format.width() / 8);
        let (bits, ..) = container(format.width());
        self.memcpy();
        self.helper(&name, format!("static {ty} {name}({bits} bits) {{\n    {ty} x = 0;\n    memcpy(&x, &bits, {bytes});\n    return x;\n}}\n"));
        format!("{name}({text})")
    }

    /// A call of a function of the math library. Refuses formats that the library does not support.
    pub fn math(&mut self, name: &str, format: FloatFormat, args: &[String]) -> String {
        let (suffix, ty) = match format {
            FloatFormat::Double => ("", "double"),
            FloatFormat::Single => ("f", "float"),
            FloatFormat::X87 => ("l", "long double"),
            _ => {
                self.refuse(format!("the function '{name}' for {}", format.c_name()));
                ("", "double")
            }
        };
        let name = format!("{name}{suffix}");
        let parameters = vec![ty; args.len()].join(", ");
        self.library(&name, format!("extern {ty} {name}({parameters});"));
        format!("{name}({})", args.join(", "))
    }

    /// The literal of a float.
    pub fn float_literal(&mut self, format: FloatFormat, c: &Bv) -> String {
        if float::is_nan(format, c) {
            return match format {
                FloatFormat::X87 => self.extended(c),
                _ => self.float_of_bits(format, &literal(c)),
            };
        }
        let mut shown = float::show(format, c);
        if !shown.contains(['.', 'e', 'i']) {
            shown += ".0";
        }
        let (before, after) = match format {
            FloatFormat::Single => ("", "f"),
            FloatFormat::Double => ("", ""),
            FloatFormat::X87 => ("", "L"),
            FloatFormat::Half => ("(_Float16)", ""),
            FloatFormat::BFloat | FloatFormat::Quad => return self.float_of_bits(format, &literal(c)),
        };
        match shown.as_str() {
            "inf" | "+inf" => format!("({before}1.0{after} / 0.0{after})"),
            "-inf" => format!("({before}-1.0{after} / 0.0{after})"),
            decimal => format!("{before}({decimal}{after})"),
        }
    }

    /// A `long double` from its bytes: not all targets have integers of that width.
    fn extended(&mut self, c: &Bv) -> String {
        let name = "proviso_extended";
        self.memcpy();
        self.helper(name, format!(
                "static long double {name}(unsigned long long low, unsigned short high) {{\n    long double x = 0;\n    \
                 memcpy(&x, &low, 8);\n    memcpy((char *)&x + 8, &high, 2);\n    return x;\n}}\n"
            ));
        let bytes = c.to_le_bytes();
        let low = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
        let high = u16::from_le_bytes(bytes[8..10].try_into().expect("two bytes"));
        format!("{name}({low}ULL, {high})")
    }
}
