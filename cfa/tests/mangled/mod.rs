//! Mutated texts for tests of parsers.

/// Mutations of `text`: truncated at each byte, with a multi-byte character inserted at each position, or with one in
/// place of each character. A text truncated inside a character ends with the replacement character.
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

/// `inner` between many copies of `open` and as many of `close`.
#[allow(dead_code)]
pub fn nested(open: &str, inner: &str, close: &str) -> String {
    const DEEP: usize = 100_000;
    format!("{}{inner}{}", open.repeat(DEEP), close.repeat(DEEP))
}
