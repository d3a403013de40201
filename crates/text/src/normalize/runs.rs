//! Repeated characters: 哈哈哈哈哈哈 and 哈哈哈哈 say the same, so more than three equal characters in a row become three.
//!
//! Digits of any script are left alone: 10000 is not 1000. White space counts like any other character, which matters
//! only where [`Whitespace::Keep`](super::Whitespace::Keep) leaves runs of it.

use super::cut::Cutter;

/// The longest run that stays. Three keeps emphasis apart from a doubled character (哈哈, "book").
const LONGEST: usize = 3;

/// Writes `text` with long runs shortened to `out`; false, and `out` undefined, if there are none.
pub(super) fn apply(text: &str, out: &mut String) -> bool {
    let bytes = text.as_bytes();
    let mut cutter = Cutter::new(text, out);
    let (mut last, mut count) = (0, 0);
    let mut at = 0;
    while at < bytes.len() {
        let (key, len) = character(bytes, at);
        if key == last {
            count += 1;
            if count > LONGEST && !text[at..].chars().next().is_some_and(char::is_numeric) {
                cutter.delete(at, at + len);
            }
        } else {
            (last, count) = (key, 1);
        }
        at += len;
    }
    cutter.finish()
}

/// The bytes of the character at `at` as one number, never 0, and how many they are.
fn character(bytes: &[u8], at: usize) -> (u32, usize) {
    match bytes[at..] {
        // Shifted, so that U+0000 is not 0, which stands for no character yet.
        [a, ..] if a < 0x80 => (u32::from(a) << 1 | 1, 1),
        [a, b, ..] if a < 0xE0 => (u32::from_le_bytes([a, b, 0, 0]), 2),
        [a, b, c, ..] if a < 0xF0 => (u32::from_le_bytes([a, b, c, 0]), 3),
        [a, b, c, d, ..] => (u32::from_le_bytes([a, b, c, d]), 4),
        _ => (0, 1),
    }
}
