//! How much a text looks like Chinese that somebody has written.

use crate::encoding::Encoding;
use std::sync::LazyLock;

/// A text read in one of the two encodings.
pub(super) struct Reading {
    pub(super) score: isize,
    /// Beyond ASCII and punctuation.
    pub(super) characters: usize,
    /// Of the first level of this encoding.
    pub(super) common: usize,
    /// Of the most frequent ones.
    pub(super) frequent: usize,
    /// Ideographs of the first level of neither.
    pub(super) rare: usize,
    /// Private, unassigned or damaged.
    pub(super) unreadable: usize,
}

impl Reading {
    /// Whether all of it can be read, and no less of it is common than rare.
    pub(super) fn is_sound(&self) -> bool {
        self.unreadable == 0 && self.score >= 0
    }

    /// `own`: whose characters are the common ones, 0 of GB2312, 1 of Big5.
    pub(super) fn of(text: &str, own: usize) -> Self {
        let mut found =
            Self { score: 0, characters: 0, common: 0, frequent: 0, rare: 0, unreadable: 0 };
        for character in text.chars() {
            // ASCII; letters and signs of Europe, Pinyin; dashes and quotes; punctuation of Chinese; full-width forms; emoji.
            let is_mark = matches!(
                character,
                '\0'..='\u{7f}' | '\u{a0}'..='\u{ff}' | 'ā'..='ǜ' | '\u{370}'..='\u{3ff}' | '\u{2010}'..='\u{27bf}' | '\u{3000}'..='\u{303f}'
                    | '\u{fe00}'..='\u{fe4f}' | '\u{ff00}'..='\u{ffef}' | '\u{1f000}'..='\u{1faff}'
            );
            if is_mark {
                continue;
            }
            found.characters += 1;
            found.frequent += usize::from(FREQUENT.has(character));
            found.score += if matches!(character, '\u{e000}'..='\u{f8ff}' | '\u{fffd}') {
                found.unreadable += 1;
                -4
            } else if COMMON[own].has(character) {
                found.common += 1;
                1
            } else if COMMON[1 - own].has(character) {
                // Traditional Chinese in GB18030.
                0
            } else {
                found.rare += usize::from(('\u{3400}'..='\u{9fff}').contains(&character));
                -1
            };
        }
        found
    }
}

/// The first level of GB2312, and of Big5.
static COMMON: LazyLock<[Characters; 2]> = LazyLock::new(|| {
    let gb2312 = Characters::of(Encoding::GB18030, 0xb0..=0xd7, |lead, trail| {
        trail >= 0xa1 && !(lead == 0xd7 && trail > 0xf9)
    });
    let big5 = Characters::of(Encoding::BIG5, 0xa4..=0xc6, |lead, trail| {
        (0x40..=0x7e).contains(&trail) || lead < 0xc6 && trail >= 0xa1
    });
    [gb2312, big5]
});

/// The 600 that news and headlines of today have most, and what those are in traditional Chinese.
static FREQUENT: LazyLock<Characters> =
    LazyLock::new(|| Characters::of_text(include_str!("frequent.txt")));

/// Some of the characters U+4E00 to U+9FFF: a bit for each.
pub(super) struct Characters(Vec<u64>);

impl Characters {
    const FIRST: u32 = 0x4e00;
    const ALL: u32 = 0x5200;

    pub(super) fn of(
        encoding: Encoding,
        leads: std::ops::RangeInclusive<u8>,
        is_one: impl Fn(u8, u8) -> bool,
    ) -> Self {
        let mut pairs = Vec::new();
        for lead in leads {
            pairs.extend(
                (0x40..=0xfe).filter(|&trail| is_one(lead, trail)).flat_map(|trail| [lead, trail]),
            );
        }
        Self::of_text(&encoding.sketched(&pairs))
    }

    pub(super) fn of_text(text: &str) -> Self {
        let mut bits = vec![0; (Self::ALL / 64) as usize];
        for character in text.chars() {
            let place = u32::from(character).wrapping_sub(Self::FIRST);
            if place < Self::ALL {
                bits[(place / 64) as usize] |= 1 << (place % 64);
            }
        }
        Self(bits)
    }

    pub(super) fn has(&self, character: char) -> bool {
        let place = u32::from(character).wrapping_sub(Self::FIRST);
        place < Self::ALL && self.0[(place / 64) as usize] >> (place % 64) & 1 == 1
    }
}
