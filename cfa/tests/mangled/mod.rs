//! Texts that are wrong in one place, for tests of whatever reads text.

/// Texts like `text`: cut off at each byte, with a character of several bytes put in at each place, or with one in the place of each character.
/// What is cut within a character ends with the mark that stands for that.
pub fn mangled(text: &str) -> impl Iterator<Item = String> + '_ {
    let cut = (0..text.len()).map(|at| String::from_utf8_lossy(&text.as_bytes()[..at]).into_owned());
    let put_in = text.char_indices().flat_map(move |(at, c)| {
        let (before, after) = text.split_at(at);
        let behind = &after[c.len_utf8()..];
        ["…", "é", "\u{1f980}"].into_iter().flat_map(move |wide| {
            [
                format!("{before}{wide}{after}"),
                format!("{before}{wide}{behind}"),
                format!("{before}{wide}{wide}{wide}{after}"),
            ]
        })
    });
    cut.chain(put_in)
}

/// So many of `open` around `inner`, and as many of `close`.
#[allow(dead_code)]
pub fn nested(open: &str, inner: &str, close: &str) -> String {
    const DEEP: usize = 100_000;
    format!("{}{inner}{}", open.repeat(DEEP), close.repeat(DEEP))
}
