//! Text as it arrives: UTF-16 from JavaScript, UTF-8 from files.
//!
//! Both may be malformed: a JavaScript string can hold a lone surrogate, a file any bytes. Neither is an error here: what
//! cannot be a character becomes U+FFFD, the outcome that browsers and Rust's standard library share, so that one text
//! has one fingerprint however it came in.

use std::borrow::Cow;

/// Replaces the contents of `out` with the text of `units`; each lone surrogate becomes one U+FFFD.
///
/// Cost: one pass; `out` keeps its allocation between calls.
pub fn utf16(units: &[u16], out: &mut String) {
    out.clear();
    // Three bytes per unit bound every case: a BMP character needs at most three, a surrogate pair four for two units.
    out.reserve(units.len() * 3);
    out.extend(char::decode_utf16(units.iter().copied()).map(|unit| unit.unwrap_or('\u{FFFD}')));
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
    use super::{utf8, utf16};
    use proptest::prelude::*;

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
            utf16(&units, &mut out);
            prop_assert_eq!(out, String::from_utf16_lossy(&units));
            prop_assert_eq!(utf8(&bytes, &mut scratch), String::from_utf8_lossy(&bytes));
        }
    }
}
