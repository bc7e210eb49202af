//! Words that no message, result or page may contain.

/// Finds a word that only the program representation and the engine use: a variable without a C name, a name of the
/// models, or a kind of result.
pub fn internal_word(text: &str) -> Option<&str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '#';
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_internal = |word: &str| {
        word.trim_start_matches('_').starts_with("proviso_")
            || word.strip_prefix("tmp").is_some_and(is_number)
            || word.starts_with("heap#")
            || ["abstraction", "abstractions"].contains(&word)
    };
    let values = ["Unplaced(", "Alloc(", "Global(", "Limit(", "Exit(", "Some("];
    let value = |name: &&str| {
        let mut found = text.match_indices(*name);
        found.any(|(at, _)| !text[..at].ends_with(is_part))
    };
    text.split(|c| !is_part(c)).find(|word| is_internal(word)).or_else(|| values.into_iter().find(value))
}

#[test]
fn internal_words_are_found() {
    for text in
        ["true (tmp43 = 1)", "proviso_bits[82] = 1", "p = heap#2", "ends: Unplaced(Alloc(0))", "the abstraction"]
    {
        assert!(internal_word(text).is_some(), "{text}");
    }
    for text in ["tmp = 1", "error: proviso: reach_error is called", "p = block #2", "fclose(stream = block #1)"] {
        assert_eq!(internal_word(text), None);
    }
}
