//! Parts of messages: counts with nouns, lists of names, and suggestions for misspelt names.

use std::fmt::Display;

/// The maximal number of names that a message lists.
const LISTED: usize = 12;

/// A count and its noun, which takes an `s` unless the count is 1.
pub fn counted(count: impl Display, noun: &str) -> String {
    let count = count.to_string();
    let ending = if count == "1" { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// The system's message for an error, without its number.
pub fn of_system(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

/// Suggestions for a misspelt name: at most five of `names`, the most similar first.
pub fn near<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let limit = name.chars().count().div_ceil(3).max(1);
    let mut found: Vec<(usize, &str)> = names
        .map(|other| (distance(name, other), other))
        .filter(|&(d, other)| d <= limit || (name.len() > 2 && other.contains(name)))
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|(_, other)| other).take(5).collect()
}

/// A question for a message about an unknown name, such as ` (did you mean 'shift'?)`. Empty if no name is similar.
pub fn did_you_mean<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = near(name, names).iter().map(|other| format!("'{other}'")).collect();
    if quoted.is_empty() { String::new() } else { format!(" (did you mean {}?)", quoted.join(" or ")) }
}

/// A list of the first names, with the total number if some are left out.
pub fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let all: Vec<&str> = names.into_iter().collect();
    let shown = all[..all.len().min(LISTED)].join(", ");
    if all.len() > LISTED { format!("{shown}, … ({} in all)", all.len()) } else { shown }
}

/// The edit distance of Levenshtein.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &cb) in b.iter().enumerate() {
            let changed = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_are_near() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(near("reach_eror", ["reach_error", "main"].into_iter()), ["reach_error"]);
        assert!(near("x", ["completely", "other"].into_iter()).is_empty());
        assert_eq!(did_you_mean("adress", ["address", "shift"].into_iter()), " (did you mean 'address'?)");
        assert_eq!(did_you_mean("x", ["completely"].into_iter()), "");
    }

    #[test]
    fn nouns_agree_with_their_counts() {
        assert_eq!([0, 1, 2].map(|n: u32| counted(n, "test")), ["0 tests", "1 test", "2 tests"]);
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(list(["a", "b"]), "a, b");
        assert!(list(["f"; 20]).ends_with("f, … (20 in all)"));
    }
}
