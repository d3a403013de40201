//! Bytes without a mark: UTF-8, GB18030, Big5, or none of them.
//!
//! ```text
//! valid UTF-8 ──► nearly all characters common in one of the two, by their bytes ──► mostly valid UTF-8, damaged
//!             └─► which reading has more common characters, and fewer rare, private and unassigned ones
//!                 (`chardetng` says whether it is Chinese at all where that is not clear, and decides what is still even)
//! ```
//!
//! The common characters are the first level of each standard: 3,755 of GB2312, 5,401 of Big5. Most guesses need one pass over the
//! first kilobytes and no decoder: a folder has a guess for each file.

mod reading;
mod tally;

use crate::encoding::Encoding;
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use reading::Reading;
use simdutf8::compat::from_utf8;
use std::borrow::Cow;
use std::cmp::Ordering::{Greater, Less};
use tally::Tally;

/// Bytes of the head that may be looked at for UTF-8.
const LOOKED_AT: usize = 1 << 20;

/// Bytes of lines that are weighed, and as many of them as mostly are enough.
const WEIGHED: usize = 16 << 10;
const WEIGHED_FIRST: usize = 1 << 10;

/// Characters that make a text no short one.
const MANY: usize = 16;

/// What bytes are, and how sure that is.
#[derive(Debug)]
pub(crate) struct Guess {
    pub(crate) encoding: Encoding,
    /// Characters that say so, [`MANY`] at most; of UTF-8 those of three bytes or more.
    pub(crate) weight: usize,
    /// What they may be as well, where the bytes themselves hardly say it: of GB18030 and Big5.
    open: [bool; 2],
    /// All of it is UTF-8.
    is_valid: bool,
}

impl Guess {
    /// Of bytes of which some are no ASCII; `None` where all are. `ended`: no more of them come.
    pub(crate) fn of(bytes: &[u8], ended: bool) -> Option<Self> {
        let from = bytes.iter().position(|byte| !byte.is_ascii())?;
        // From the first of them: a long beginning of ASCII says nothing.
        let cut = bytes.len() - from > LOOKED_AT;
        let looked_at = &bytes[from..(from + LOOKED_AT).min(bytes.len())];
        let whole = ended && !cut;
        match from_utf8(looked_at) {
            Ok(_) => return Some(Self::valid(&bytes[..from + looked_at.len()])),
            // The last character may be cut.
            Err(error) if error.error_len().is_none() && !whole => {
                return Some(Self::valid(&bytes[..from + looked_at.len()]));
            }
            Err(_) => {}
        }
        let first = &looked_at[..looked_at.len().min(WEIGHED_FIRST)];
        if is_clean(first, whole && first.len() == looked_at.len())
            && let Some(sure) = Tally::of(first).sure()
        {
            return Some(Self::sure(sure));
        }
        let sample = Sample::of(looked_at, whole);
        let tally = Tally::of(&sample.bytes);
        if let Some(sure) = tally.sure().filter(|_| sample.all_clean) {
            return Some(Self::sure(sure));
        }
        let is_chinese = sample.all_clean && tally.is_short_chinese();
        // Single damaged bytes make no other encoding. Of GB18030 read as UTF-8 a seventh is valid, of some words more than half.
        let is_common = sample.all_clean && tally.is_common();
        let is_common = is_common || sample.all_clean && tally.is_short_big5();
        let is_damaged = !is_common && is_damaged_utf_8(looked_at, whole);
        if sample.bytes.is_empty() || is_damaged && tally.all >= MANY {
            return Some(Self::UTF_8);
        }
        Some(Self::weighed(&sample.bytes, &tally, is_chinese, is_damaged))
    }

    /// Of valid UTF-8. `谢谢` in GB18030 is that as well: letters of two bytes, and nothing else. Of three bytes nothing else is.
    fn valid(bytes: &[u8]) -> Self {
        let weight = bytes.iter().filter(|&&byte| byte >= 0xe0).take(MANY).count();
        let is_word = weight == 0 && bytes.len() < 2 * MANY && {
            let tally = Tally::of(bytes);
            let others = bytes.iter().filter(|byte| !byte.is_ascii_whitespace()).count();
            tally.first_level * 2 == others
        };
        Self { encoding: Encoding::UTF_8, weight, open: [is_word, false], is_valid: true }
    }

    const fn sure(encoding: Encoding) -> Self {
        Self { encoding, weight: MANY, open: [false; 2], is_valid: false }
    }

    const UTF_8: Self =
        Self { encoding: Encoding::UTF_8, weight: 0, open: [false; 2], is_valid: false };

    /// The same beside other files.
    pub(crate) fn beside(&self, usual: Usual) -> Encoding {
        // What is valid UTF-8 stays it where any other file is.
        if self.encoding == Encoding::UTF_8 && self.is_valid && usual.utf_8 > 0 {
            return self.encoding;
        }
        match usual.gb18030.cmp(&usual.big5) {
            Greater if self.open[0] => Encoding::GB18030,
            Less if self.open[1] => Encoding::BIG5,
            _ => self.encoding,
        }
    }

    /// Whether other files are worth a look.
    pub(crate) fn is_open(&self) -> bool {
        self.open != [false; 2]
    }

    fn weighed(sample: &[u8], tally: &Tally, is_chinese: bool, is_damaged: bool) -> Self {
        let read = |encoding: Encoding, common| Reading::of(&encoding.sketched(sample), common);
        let gb18030 = read(Encoding::GB18030, 0);
        let big5 = read(Encoding::BIG5, 1);
        // Kana of GB2312 and EUC-JP have the bytes of the most common characters of Big5.
        // Nothing but signs, frames or dashes in English: those of GB18030 are common characters of Big5.
        let letters = || sample.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
        let are_signs = gb18030.characters == 0
            && gb18030.unreadable == 0
            && (tally.all >= MANY || letters() >= 4 * tally.all);
        let ahead = if tally.are_kana() || are_signs {
            1
        } else if gb18030.is_sound() != big5.is_sound() && gb18030.unreadable != big5.unreadable {
            // Frames and dashes of GB18030 are common characters of Big5, but for some that are none.
            if gb18030.is_sound() { gb18030.score + 1 } else { -(big5.score + 1) }
        } else {
            gb18030.score - big5.score
        };
        let best = if ahead < 0 { &big5 } else { &gb18030 };
        // Long enough, far ahead, and not Hangul or kana, of which the common characters of both standards have the bytes.
        let is_plain = best.characters >= MANY
            && best.unreadable == 0
            && best.score * 3 >= best.characters.cast_signed()
            && ahead.unsigned_abs() * 2 >= best.characters
            && if ahead < 0 { tally.has_rows_of_big5() } else { tally.is_behind_hangul() };
        let asked = Asked::of(sample, ahead == 0 || !is_plain && !is_chinese);
        // Even: words of some characters. Simplified Chinese is met more often, so it takes two to say that it is not.
        let is_big5 = match ahead {
            0 if big5.frequent > gb18030.frequent + 1 => true,
            0 => asked.is_big5(tally),
            ahead => ahead < 0,
        };
        let best = if is_big5 { &big5 } else { &gb18030 };
        let is_neither = !is_plain
            && (is_damaged
                || tally.are_hangul()
                || !is_chinese && !asked.is_chinese()
                || best.unreadable * 2 > best.characters
                || best.characters > 0
                    && best.common == 0
                    && !tally.is_gb2312()
                    && !tally.are_kana()
                || !is_big5 && tally.is_beyond_gb2312(gb18030.rare));
        // A text of some characters may be the other one; one that is neither may be a rare word of either.
        let is_close = best.characters < MANY && (is_neither || are_signs || ahead.abs() <= 1);
        let open = [&gb18030, &big5]
            .map(|reading| is_close && reading.unreadable == 0 && reading.score >= 0);
        let encoding = if is_big5 { Encoding::BIG5 } else { Encoding::GB18030 };
        let encoding = if is_neither { Encoding::UTF_8 } else { encoding };
        let weight = if is_neither { 0 } else { best.common.min(MANY) };
        Self { encoding, weight, open, is_valid: false }
    }
}

/// What files beside a file are in: each counts as much as its characters say, and none for more than a few.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usual {
    utf_8: usize,
    gb18030: usize,
    big5: usize,
}

impl Usual {
    pub(crate) fn count(&mut self, guess: &Guess) {
        *match guess.encoding {
            found if found == Encoding::GB18030 => &mut self.gb18030,
            found if found == Encoding::BIG5 => &mut self.big5,
            _ => &mut self.utf_8,
        } += guess.weight;
    }
}

/// Whether more of the bytes beyond ASCII are UTF-8 than are not.
fn is_damaged_utf_8(bytes: &[u8], whole: bool) -> bool {
    let (mut valid, mut invalid) = (0, 0);
    let mut chunks = bytes.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        valid += chunk.valid().bytes().filter(|byte| !byte.is_ascii()).count();
        // The last character may be cut.
        if chunks.peek().is_some() || whole {
            invalid += chunk.invalid().len();
        }
    }
    valid > invalid
}

/// The first lines of which some byte is no ASCII, without those that are damaged: one damaged byte rules out what it is in. Where all
/// are damaged it is no encoding of these.
struct Sample<'a> {
    bytes: Cow<'a, [u8]>,
    all_clean: bool,
}

impl<'a> Sample<'a> {
    fn of(bytes: &'a [u8], whole: bool) -> Self {
        let head = &bytes[..bytes.len().min(WEIGHED)];
        let whole_head = whole && head.len() == bytes.len();
        // As nearly always: no line need be cut out.
        if is_clean(head, whole_head) {
            return Self { bytes: head.into(), all_clean: true };
        }
        let (mut sample, mut all_clean) = (Vec::new(), true);
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            let taken = &line[..line.len().min(WEIGHED - sample.len())];
            let ends = taken.len() == line.len() && (whole || line.ends_with(b"\n"));
            if taken.is_ascii() {
                continue;
            }
            if is_clean(taken, ends) {
                sample.extend_from_slice(taken);
            } else {
                all_clean = false;
            }
            if sample.len() == WEIGHED {
                break;
            }
        }
        Self { bytes: sample.into(), all_clean }
    }
}

/// Whether all of it is characters as GB18030 writes them, of which Big5 has a part; `whole`: so is the last one.
fn is_clean(mut bytes: &[u8], whole: bool) -> bool {
    while let Some((&lead, rest)) = bytes.split_first() {
        let length = match (lead, rest) {
            (..=0x80, _) => 1,
            (0xff, _) => return false,
            (_, [] | [b'0'..=b'9'] | [b'0'..=b'9', 0x81..=0xfe]) => return !whole,
            (_, [b'0'..=b'9', 0x81..=0xfe, b'0'..=b'9', ..]) => 4,
            (_, [0x40..=0x7e | 0x80..=0xfe, ..]) => 2,
            _ => return false,
        };
        bytes = &bytes[length..];
    }
    true
}

/// What `chardetng` says, asked for a place in mainland China and for Taiwan.
#[derive(Default)]
struct Asked {
    mainland: Option<&'static encoding_rs::Encoding>,
    taiwan: Option<&'static encoding_rs::Encoding>,
}

impl Asked {
    fn of(sample: &[u8], needed: bool) -> Self {
        if !needed {
            return Self::default();
        }
        #[cfg(test)]
        tests::DETECTORS.set(tests::DETECTORS.get() + 1);
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
        // Never as the end: that makes a cut character an error, which rules out what it is.
        detector.feed(sample, false);
        let guess = |place: &[u8]| Some(detector.guess(Some(place), Utf8Detection::Deny));
        Self { mainland: guess(b"cn"), taiwan: guess(b"tw") }
    }

    fn is_chinese(&self) -> bool {
        let ours = [encoding_rs::GBK, encoding_rs::GB18030, encoding_rs::BIG5];
        [self.mainland, self.taiwan].into_iter().flatten().any(|found| ours.contains(&found))
    }

    fn is_big5(&self, tally: &Tally) -> bool {
        let big5 = Some(encoding_rs::BIG5);
        match (self.mainland == big5, self.taiwan == big5) {
            (false, true) => tally.has_rows_of_big5(),
            (one, _) => one,
        }
    }
}

#[cfg(test)]
mod tests;
