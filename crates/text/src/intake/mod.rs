//! Text as it arrives: UTF-16 from JavaScript, UTF-8 from files.
//!
//! Both may be malformed: a JavaScript string can hold a lone surrogate, a file any bytes. Neither is an error here: what
//! cannot be a character becomes U+FFFD, the outcome that browsers and Rust's standard library share, so that one text
//! has one fingerprint however it came in.

#[cfg(target_arch = "x86_64")]
mod avx512;

use std::borrow::Cow;

/// Units looked at together: only where one of them is half of a pair are they decoded one by one.
const GROUP: usize = 8;

/// Bytes beyond the text that may be written and do not count: as many as a vector has, so that every group can be stored
/// whole.
const SLACK: usize = 64;

/// Replaces the contents of `out` with the text of `units`; each lone surrogate becomes one U+FFFD.
///
/// Cost: one pass; `out` keeps its allocation between calls.
pub fn utf16(units: &[u16], out: &mut String) {
    #[cfg(target_arch = "x86_64")]
    if avx512::is_available() {
        return by_groups(units, out, avx512::groups);
    }
    by_groups(units, out, groups);
}

/// The same with `groups`, which adds the text of leading units as long as none is a surrogate and returns the others.
fn by_groups(
    units: &[u16],
    out: &mut String,
    groups: impl for<'a> Fn(&'a [u16], &mut Vec<u8>) -> &'a [u16],
) {
    let mut bytes = std::mem::take(out).into_bytes();
    bytes.clear();
    // Three bytes per unit bound every case: a BMP character needs at most three, a surrogate pair four for two units.
    bytes.reserve(units.len() * 3 + SLACK);
    let mut rest = units;
    while !rest.is_empty() {
        rest = groups(rest, &mut bytes);
        rest = one_by_one(rest, rest.len().min(GROUP), &mut bytes);
    }
    // SAFETY: `bytes` holds whole characters only: what groups of units that are no surrogates are, and what
    // `char::encode_utf8` wrote.
    *out = unsafe { String::from_utf8_unchecked(bytes) };
}

/// Groups without a branch for each unit: Chinese, digits and Latin follow each other in no order that could be foreseen.
fn groups<'a>(units: &'a [u16], bytes: &mut Vec<u8>) -> &'a [u16] {
    let mut rest = units;
    while let Some((group, after)) = rest.split_first_chunk::<GROUP>() {
        if group.iter().fold(false, |any, &unit| any | is_surrogate(unit)) {
            break;
        }
        let mut encoded = [0; GROUP * 3 + 1];
        let mut end = 0;
        for &unit in group {
            let (four, length) = encode(unit);
            encoded[end..end + 4].copy_from_slice(&four);
            end += length;
        }
        bytes.extend_from_slice(&encoded[..end]);
        rest = after;
    }
    rest
}

fn is_surrogate(unit: u16) -> bool {
    unit & 0xF800 == 0xD800
}

/// The UTF-8 of a unit that is no surrogate: how many of the bytes count, one to three.
fn encode(unit: u16) -> ([u8; 4], usize) {
    let wide = u32::from(unit);
    let two = 0x80C0 | wide >> 6 | wide << 8 & 0x3F00;
    let three = 0x80_80E0 | wide >> 12 | wide << 2 & 0x3F00 | wide << 16 & 0x3F_0000;
    let bytes = match unit {
        0..0x80 => wide,
        0x80..0x800 => two,
        _ => three,
    };
    (bytes.to_le_bytes(), 1 + usize::from(unit >= 0x80) + usize::from(unit >= 0x800))
}

/// Adds the text of at least `count` units, one more where the last of them begins a pair; returns the others.
fn one_by_one<'a>(units: &'a [u16], count: usize, bytes: &mut Vec<u8>) -> &'a [u16] {
    let mut rest = units;
    while units.len() - rest.len() < count {
        let mut decoded = char::decode_utf16(rest.iter().copied());
        let Some(next) = decoded.next() else { break };
        let (character, taken) = match next {
            Ok(character) => (character, character.len_utf16()),
            Err(_) => (char::REPLACEMENT_CHARACTER, 1),
        };
        bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &rest[taken..];
    }
    rest
}

/// The text of `bytes`: borrowed when they are valid UTF-8, otherwise a copy in `scratch` in which each maximal invalid
/// sequence is one U+FFFD (the rule of [`String::from_utf8_lossy`]).
pub fn utf8<'a>(bytes: &'a [u8], scratch: &'a mut String) -> &'a str {
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => text,
        Cow::Owned(text) => {
            *scratch = text;
            scratch
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{by_groups, groups, utf8, utf16};
    use proptest::prelude::*;

    /// By the instructions of this machine and without; both must be what the standard library says.
    fn assert_text(units: &[u16], out: &mut String) {
        let expected = String::from_utf16_lossy(units);
        utf16(units, out);
        assert_eq!(*out, expected);
        by_groups(units, out, groups);
        assert_eq!(*out, expected);
    }

    #[test]
    fn a_lone_surrogate_becomes_one_replacement_character() {
        let mut out = String::from("old");
        utf16(&[0x4E2D, 0xD800, 0x41, 0xDC00], &mut out);
        assert_eq!(out, "中\u{FFFD}A\u{FFFD}");
        utf16(&[0xD83D, 0xDE00], &mut out);
        assert_eq!(out, "😀");
        utf16(&[], &mut out);
        assert_eq!(out, "");
    }

    #[test]
    fn an_invalid_sequence_becomes_one_replacement_character() {
        let mut scratch = String::new();
        assert_eq!(utf8(b"a\xFFb", &mut scratch), "a\u{FFFD}b");
        assert_eq!(utf8(b"\xE4\xB8", &mut scratch), "\u{FFFD}");
        assert_eq!(utf8("中文".as_bytes(), &mut scratch), "中文");
    }

    /// Every unit among others of every kind, at every place of a group.
    #[test]
    fn units_of_every_length_in_any_order_are_those_of_the_standard_library() {
        let kinds =
            [0x41, 0x7F, 0x80, 0x7FF, 0x800, 0x4E2D, 0xD7FF, 0xD83D, 0xDE00, 0xE000, 0xFFFF];
        let mut out = String::new();
        for unit in 0..=u16::MAX {
            assert_text(&[unit; 9], &mut out);
        }
        for first in kinds {
            for other in kinds {
                for place in 0..40 {
                    let mut units = [first; 40];
                    units[place] = other;
                    assert_text(&units, &mut out);
                    assert_text(&units[..=place], &mut out);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn well_formed_text_survives_both_ways(text in any::<String>()) {
            let units: Vec<u16> = text.encode_utf16().collect();
            let (mut out, mut scratch) = (String::new(), String::new());
            utf16(&units, &mut out);
            prop_assert_eq!(&out, &text);
            prop_assert_eq!(utf8(text.as_bytes(), &mut scratch), &text);
        }

        #[test]
        fn any_units_and_bytes_give_text(units in any::<Vec<u16>>(), bytes in any::<Vec<u8>>()) {
            let (mut out, mut scratch) = (String::new(), String::new());
            assert_text(&units, &mut out);
            prop_assert_eq!(utf8(&bytes, &mut scratch), String::from_utf8_lossy(&bytes));
        }
    }
}
