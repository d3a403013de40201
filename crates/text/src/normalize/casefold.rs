//! Full case folding from a table of our own.
//!
//! The standard library has upper and lower case, which change with the compiler's Unicode version and, for lower case,
//! with neighbours (final sigma). The table in `data/casefold.txt` (made by `data/casefold.py`) is fixed, so the same text
//! folds the same way in every build.

use ahash::AHashMap;
use std::sync::LazyLock;

static FOLDINGS: LazyLock<AHashMap<char, String>> = LazyLock::new(|| {
    let table = include_str!("../../data/casefold.txt");
    table.lines().filter(|line| !line.starts_with('#')).filter_map(folding).collect()
});

/// One line of the table: the character, then its folding, in hexadecimal.
fn folding(line: &str) -> Option<(char, String)> {
    let mut codes =
        line.split(' ').map(|hex| u32::from_str_radix(hex, 16).ok().and_then(char::from_u32));
    let from = codes.next()??;
    Some((from, codes.collect::<Option<String>>()?))
}

/// Appends the case folding of `c`, which is `c` itself for most characters.
pub(super) fn fold(c: char, out: &mut String) {
    match FOLDINGS.get(&c) {
        Some(folded) => out.push_str(folded),
        None => out.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::{FOLDINGS, fold};

    fn folded(text: &str) -> String {
        let mut out = String::new();
        text.chars().for_each(|c| fold(c, &mut out));
        out
    }

    #[test]
    fn every_line_of_the_table_is_read() {
        let lines = include_str!("../../data/casefold.txt").lines().count();
        assert_eq!(FOLDINGS.len(), lines - 1);
    }

    #[test]
    fn folding_expands_and_ignores_position() {
        assert_eq!(folded("Straße ΟΔΟΣ ὈΔΥΣΣΕΎΣ οδος"), "strasse οδοσ ὀδυσσεύσ οδοσ");
    }

    #[test]
    fn folding_is_idempotent_on_every_character() {
        for c in '\0'..=char::MAX {
            let once = folded(c.encode_utf8(&mut [0; 4]));
            assert_eq!(folded(&once), once, "{c:?}");
        }
    }
}
