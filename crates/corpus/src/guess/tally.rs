//! Which of two-byte encodings bytes may be, without reading them as characters.

use super::MANY;
use crate::encoding::Encoding;

/// What characters of two bytes a text has, by their bytes alone.
#[derive(Default)]
pub(super) struct Tally {
    /// All but punctuation, digits and full-width forms.
    pub(super) all: usize,
    /// B0–D7 of GB2312: the 3,755 in common use.
    pub(super) first_level: usize,
    /// Which of B0–D7 these have.
    pub(super) rows: u64,
    /// C9–D7 of these: EUC-KR has Hangul up to C8, and hardly anything later.
    pub(super) behind_hangul: usize,
    /// D8–F7 of GB2312.
    pub(super) second_level: usize,
    /// A4–C6 of Big5: the 5,401 in common use.
    pub(super) big5: usize,
    /// A4 and A5 of GB2312.
    pub(super) kana: usize,
    /// Second bytes where two fifths of those of Big5 lie, and hardly any of GB2312.
    pub(super) low: usize,
}

impl Tally {
    pub(super) fn of(mut bytes: &[u8]) -> Self {
        let mut found = Self::default();
        loop {
            let (lead, trail) = match bytes {
                // ASCII; beyond GB2312: emoji.
                [..=0x80, rest @ ..] | [_, b'0'..=b'9', _, _, rest @ ..] => {
                    bytes = rest;
                    continue;
                }
                [lead, trail, rest @ ..] => {
                    bytes = rest;
                    (*lead, *trail)
                }
                // The last character may be cut.
                _ => return found,
            };
            let is_low = trail < 0x7f;
            let is_gb2312 = trail >= 0xa1;
            if is_gb2312 && (0xa1..=0xa3).contains(&lead) {
                continue;
            }
            found.all += 1;
            found.kana += usize::from(is_gb2312 && (0xa4..=0xa5).contains(&lead));
            found.low += usize::from(is_low);
            found.first_level += usize::from(is_gb2312 && (0xb0..=0xd7).contains(&lead));
            if is_gb2312 && (0xb0..=0xd7).contains(&lead) {
                found.rows |= 1 << (lead - 0xb0);
            }
            found.behind_hangul += usize::from(is_gb2312 && (0xc9..=0xd7).contains(&lead));
            found.second_level += usize::from(is_gb2312 && (0xd8..=0xf7).contains(&lead));
            let is_common = match lead {
                0xa4..=0xc5 => is_low || is_gb2312,
                0xc6 => is_low,
                _ => false,
            };
            found.big5 += usize::from(is_common);
        }
    }

    /// What it is without doubt.
    pub(super) fn sure(&self) -> Option<Encoding> {
        if self.is_gb18030() {
            Some(Encoding::GB18030)
        } else {
            self.is_big5().then_some(Encoding::BIG5)
        }
    }

    /// Whether it is simplified Chinese without doubt: four fifths of it common, of which Chinese has two fifths behind C8.
    fn is_gb18030(&self) -> bool {
        self.all >= MANY
            && self.first_level * 5 >= self.all * 4
            && self.behind_hangul * 4 >= self.first_level
    }

    /// Whether it is traditional Chinese in Big5 without doubt.
    fn is_big5(&self) -> bool {
        self.all >= MANY && self.big5 * 5 >= self.all * 4 && self.low * 5 >= self.all
    }

    /// Whether it may be a word in Big5.
    pub(super) fn is_short_big5(&self) -> bool {
        (1..MANY).contains(&self.all) && self.big5 == self.all
    }

    /// Whether it is characters of GB2312 alone and Chinese as it is written, `收到` (CA D5 B5 BD) too: nine of ten of the first level, and of more than
    /// eight a fifth behind C8.
    pub(super) fn is_short_chinese(&self) -> bool {
        self.all > 0
            && self.is_gb2312()
            && self.first_level * 10 >= self.all * 9
            && (self.all <= 8 || self.is_behind_hangul())
    }

    /// Whether most of it is common in GB2312, of many rows: letters of UTF-8 that look like that (`é` is C3 A9) have two or three first bytes.
    pub(super) fn is_common(&self) -> bool {
        let rows = self.rows.count_ones() as usize;
        self.all > 0 && self.first_level * 3 >= self.all * 2 && rows * 2 >= self.all.min(MANY)
    }

    /// Whether a fifth of the common characters of GB2312 is behind C8, where Chinese has two fifths.
    pub(super) fn is_behind_hangul(&self) -> bool {
        self.behind_hangul * 5 >= self.first_level
    }

    /// Whether half of it is kana, a quarter of many characters, and none of it can be Big5 alone.
    pub(super) fn are_kana(&self) -> bool {
        let part = if self.all < MANY { 2 } else { 4 };
        self.all > 4 && self.low == 0 && self.kana * part >= self.all
    }

    /// Whether it can be no Chinese, of which one in three thousand texts of this length had so few behind C8.
    pub(super) fn are_hangul(&self) -> bool {
        self.all >= MANY && self.is_gb2312() && self.behind_hangul * 20 < self.all
    }

    /// Whether most of it are ideographs that only GBK has, and of these not the traditional ones: `Shift_JIS` read as GB18030.
    pub(super) fn is_beyond_gb2312(&self, rare: usize) -> bool {
        self.all > 2 && rare.saturating_sub(self.second_level) * 2 > self.all
    }

    pub(super) fn is_gb2312(&self) -> bool {
        self.first_level + self.second_level == self.all
    }

    /// Whether the second bytes of characters lie where two fifths of those of Big5 do.
    pub(super) fn has_rows_of_big5(&self) -> bool {
        self.low > 0 && self.low * 5 >= self.all
    }
}
