//! The pre-check that every optional step shares: skip bytes that cannot begin anything the step changes.

/// A set of bytes. Leading bytes of UTF-8 sequences never occur inside a sequence, so a hit is a character boundary as
/// long as the set holds no continuation bytes (80 to BF).
pub(crate) struct Class([bool; 256]);

impl Class {
    /// The set of these bytes.
    pub(crate) const fn of(bytes: &[u8]) -> Self {
        let mut set = [false; 256];
        let mut i = 0;
        while i < bytes.len() {
            set[bytes[i] as usize] = true;
            i += 1;
        }
        Self(set)
    }

    /// The set with all bytes `low..=high` added.
    pub(crate) const fn with_range(mut self, low: u8, high: u8) -> Self {
        let mut byte = low;
        loop {
            self.0[byte as usize] = true;
            if byte >= high {
                return self;
            }
            byte += 1;
        }
    }

    /// The set without these bytes.
    pub(crate) const fn without(mut self, bytes: &[u8]) -> Self {
        let mut i = 0;
        while i < bytes.len() {
            self.0[bytes[i] as usize] = false;
            i += 1;
        }
        self
    }

    /// Position of the first byte of the set at or after `from`; the length of `bytes` if there is none.
    pub(crate) fn next(&self, bytes: &[u8], from: usize) -> usize {
        let tail = &bytes[from.min(bytes.len())..];
        let mut at = bytes.len() - tail.len();
        // Eight independent look-ups per turn: about one byte per cycle, where a loop with an exit per byte takes two.
        for eight in tail.chunks_exact(8) {
            if eight.iter().fold(false, |hit, &byte| hit | self.0[usize::from(byte)]) {
                break;
            }
            at += 8;
        }
        while at < bytes.len() && !self.0[usize::from(bytes[at])] {
            at += 1;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::Class;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_unrolled_search_finds_what_a_plain_one_finds(
            set in prop::collection::vec(0u8..32, 0..4),
            bytes in prop::collection::vec(0u8..32, 0..64),
            from in 0usize..70,
        ) {
            let plain = (from.min(bytes.len())..bytes.len()).find(|&at| set.contains(&bytes[at]));
            prop_assert_eq!(Class::of(&set).next(&bytes, from), plain.unwrap_or(bytes.len()));
        }
    }
}
