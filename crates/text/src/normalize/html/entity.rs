//! Character references: `&lt;`, `&#60;`, `&#x3C;`, with or without the semicolon.

use std::sync::LazyLock;

/// The longest name in the table.
const LONGEST: usize = 8;
/// The shortest and longest names that count without a semicolon (`lt`, `Aacute`).
const BARE: std::ops::RangeInclusive<usize> = 2..=6;

struct Named {
    name: &'static str,
    character: char,
    /// Whether the name counts without its semicolon.
    bare: bool,
}

static NAMES: LazyLock<Vec<Named>> = LazyLock::new(|| {
    let table = include_str!("../../../data/html_entities.txt");
    let mut names: Vec<Named> = table.lines().filter_map(named).collect();
    names.sort_unstable_by_key(|named| named.name);
    names
});

fn named(line: &'static str) -> Option<Named> {
    let mut fields = line.split(' ').filter(|_| !line.starts_with('#'));
    let (name, code) = (fields.next()?, fields.next()?);
    let character = u32::from_str_radix(code, 16).ok().and_then(char::from_u32)?;
    Some(Named { name, character, bare: fields.next() == Some("!") })
}

fn look_up(name: &[u8]) -> Option<&'static Named> {
    let names = &*NAMES;
    names.binary_search_by(|named| named.name.as_bytes().cmp(name)).ok().map(|at| &names[at])
}

/// The character that a reference stands for, given the bytes after its `&`, and how many of them belong to it.
pub(super) fn decode(tail: &[u8]) -> Option<(char, usize)> {
    match tail.first()? {
        b'#' => numeric(tail),
        byte if byte.is_ascii_alphabetic() => {
            let run = tail.iter().take(LONGEST).take_while(|b| b.is_ascii_alphanumeric()).count();
            if tail.get(run) == Some(&b';')
                && let Some(named) = look_up(&tail[..run])
            {
                return Some((named.character, run + 1));
            }
            let longest = run.min(*BARE.end());
            (*BARE.start()..=longest).rev().find_map(|len| {
                look_up(&tail[..len]).filter(|named| named.bare).map(|named| (named.character, len))
            })
        }
        _ => None,
    }
}

fn numeric(tail: &[u8]) -> Option<(char, usize)> {
    let (base, start) = if matches!(tail.get(1), Some(b'x' | b'X')) { (16, 2) } else { (10, 1) };
    let mut code = 0u32;
    let mut at = start;
    while let Some(digit) = tail.get(at).and_then(|&byte| (byte as char).to_digit(base)) {
        code = code.saturating_mul(base).saturating_add(digit);
        at += 1;
    }
    if at == start {
        return None;
    }
    Some((character(code), at + usize::from(tail.get(at) == Some(&b';'))))
}

/// The WHATWG rule: zero, surrogates and codes beyond Unicode are U+FFFD, 80 to 9F mean what windows-1252 has there.
fn character(code: u32) -> char {
    /// windows-1252, 80 to 9F; the five unassigned bytes stand for themselves.
    const WINDOWS_1252: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž',
        '\u{8F}', '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}',
        'ž', 'Ÿ',
    ];
    match code {
        0 => '\u{FFFD}',
        0x80..=0x9F => WINDOWS_1252[(code - 0x80) as usize],
        _ => char::from_u32(code).unwrap_or('\u{FFFD}'),
    }
}

#[cfg(test)]
mod tests {
    use super::{BARE, LONGEST, NAMES, decode};

    #[test]
    fn the_table_is_read_whole_within_the_bounds() {
        let lines = include_str!("../../../data/html_entities.txt").lines().count();
        assert_eq!(NAMES.len(), lines - 1);
        assert_eq!(NAMES.iter().map(|named| named.name.len()).max(), Some(LONGEST));
        assert!(NAMES.iter().filter(|named| named.bare).all(|n| BARE.contains(&n.name.len())));
    }

    #[test]
    fn references_follow_the_standard() {
        let golden = [
            ("lt;b", Some(('<', 3))),
            ("ltb", Some(('<', 2))),
            ("notit;", Some(('¬', 3))),
            ("notin;", Some(('∉', 6))),
            ("hellip", None),
            ("thetasym;", Some(('ϑ', 9))),
            ("AMP", Some(('&', 3))),
            ("#65;", Some(('A', 4))),
            ("#x4e2Dx", Some(('中', 6))),
            ("#128;", Some(('€', 5))),
            ("#0;", Some(('\u{FFFD}', 3))),
            ("#xD800;", Some(('\u{FFFD}', 7))),
            ("#99999999999999;", Some(('\u{FFFD}', 16))),
            ("#;", None),
            ("#x;", None),
            (" amp;", None),
            ("T", None),
        ];
        for (tail, expected) in golden {
            assert_eq!(decode(tail.as_bytes()), expected, "&{tail}");
        }
    }
}
