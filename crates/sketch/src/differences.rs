//! Where two long texts differ.
//!
//! Most near-duplicates are equal but for some passages: a title, a name, a source at the end. What lies between these is found by
//! comparing bytes, and need not be cut into features. The parts that are told apart need not be the smallest
//! ones: whatever they are, all else is equal.

use memchr::memmem;
use simhash_text::extract::APART;
use std::ops::Range;

/// Bytes that must be equal where two texts go on together.
const SAME: usize = 16;
/// Characters that one of them is ahead of the other at most.
const AHEAD: usize = 96;
/// Characters between those of them whose place is looked for farther away.
const STEP: usize = 16;
/// Of both texts, a part of this size may differ: a quarter. Where more does, the whole texts are looked at instead.
const SHARE: usize = 4;
/// What each difference counts beside its bytes: the features around it.
const BESIDE: usize = 64;
/// Parts that are looked for in texts that begin unlike each other. Where none is found the texts are taken for ones that differ in too much,
/// as nearly all such texts do.
const PARTS: usize = 4;
/// What looking for places where the texts go on together may cost, for each of their bytes: comparisons of words, and bytes passed over.
const LOOKS: usize = 8;

/// A part of each text, of which either may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) own: Range<usize>,
    pub(crate) other: Range<usize>,
}

/// The differences of two texts, in order; what lies between two of them is equal. The last one goes to the ends of both, and
/// has [`APART`] characters of each, or all of it. `None`: they differ in too much, or begin unlike each other and have none of some parts in
/// common.
///
/// Cost: one pass over the bytes, [`PARTS`] more over the other text at most, and at most [`LOOKS`] comparisons of words for each of them.
pub(crate) fn differences(own: &str, other: &str) -> Option<Vec<Difference>> {
    let (a, b) = (own.as_bytes(), other.as_bytes());
    let ends = (tail(own), tail(other));
    let most = (a.len() + b.len()) / SHARE;
    let (mut all, mut count) = (Vec::new(), 0);
    let mut looks = LOOKS * (a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    loop {
        // A character that is equal in part is none.
        let equal = floor(own, i + common(&a[i..ends.0], &b[j..ends.1])) - i;
        (i, j) = (i + equal, j + equal);
        if all.is_empty() && i < a.len() / SHARE && !have_common_parts(a, b) {
            return None;
        }
        let is_last = i == ends.0 || j == ends.1;
        let next = if is_last {
            None
        } else {
            // One that is farther away is too far.
            let far = (most - count).min(looks);
            let near = [i.saturating_add(far).min(ends.0), j.saturating_add(far).min(ends.1)];
            goes_on(own, other, (i, j), near.into(), &mut looks)
        };
        let (to_own, to_other) = next.unwrap_or((a.len(), b.len()));
        count += (to_own - i) + (to_other - j) + BESIDE;
        if count > most {
            return None;
        }
        all.push(Difference { own: i..to_own, other: j..to_other });
        if next.is_none() {
            return Some(all);
        }
        (i, j) = (to_own, to_other);
    }
}

/// Whether one of some parts of a text is found in another text.
fn have_common_parts(a: &[u8], b: &[u8]) -> bool {
    let step = a.len() / (PARTS + 1);
    let mut parts = (1..=PARTS).filter_map(|number| a.get(number * step..number * step + SAME));
    parts.any(|part| memmem::find(b, part).is_some())
}

/// Where the last characters begin, which always count as different.
fn tail(text: &str) -> usize {
    text.char_indices().rev().nth(APART - 1).map_or(0, |(at, _)| at)
}

/// How many bytes two texts begin with alike.
fn common(a: &[u8], b: &[u8]) -> usize {
    const WORD: usize = size_of::<u64>();
    let word = |bytes: &[u8; WORD]| u64::from_le_bytes(*bytes);
    let words = a.as_chunks().0.iter().zip(b.as_chunks().0);
    let equal = WORD * words.take_while(|(a, b)| word(a) == word(b)).count();
    let rest = a[equal..].iter().zip(&b[equal..]);
    equal + rest.take_while(|(a, b)| a == b).count()
}

/// Where two texts that differ from `from` on go on together, before `ends`: the nearest place, or one that is farther away. `looks` is
/// lessened by what it takes, and nothing is found when it is used up.
fn goes_on(
    own: &str,
    other: &str,
    from: (usize, usize),
    ends: (usize, usize),
    looks: &mut usize,
) -> Option<(usize, usize)> {
    let (a, b) = (Ahead::new(own, from.0, ends.0), Ahead::new(other, from.1, ends.1));
    for sum in 1..a.count + b.count {
        let places = (sum + 1).saturating_sub(b.count)..(sum + 1).min(a.count);
        *looks = looks.checked_sub(places.len())?;
        for x in places {
            let y = sum - x;
            if a.words[x] == b.words[y]
                && own.as_bytes()[a.starts[x]..][..SAME] == other.as_bytes()[b.starts[y]..][..SAME]
            {
                return Some((a.starts[x], b.starts[y]));
            }
        }
    }
    // Something long was put in or left out: what comes in one of them comes later in the other.
    let mut later = |ahead: &Ahead, text: &str, other: &str, from: usize, end: usize| {
        ahead.starts[..ahead.count].iter().step_by(STEP).find_map(|&at| {
            *looks = looks.checked_sub(end - from)?;
            let part = &text.as_bytes()[at..at + SAME];
            let found = memmem::find(&other.as_bytes()[from..end], part)?;
            Some((at, from + found))
        })
    };
    let put_in = later(&a, own, other, from.1, ends.1);
    // Nearer than that.
    let end = put_in.map_or(ends.0, |(_, j)| ends.0.min(from.0 + (j - from.1)));
    let left_out = later(&b, other, own, from.0, end).map(|(j, i)| (i, j));
    let apart = |&(i, j): &(usize, usize)| (i - from.0) + (j - from.1);
    let (i, j) = put_in.into_iter().chain(left_out).min_by_key(apart)?;
    // What is equal before it.
    let [a, b] = [&own.as_bytes()[from.0..i], &other.as_bytes()[from.1..j]];
    let equal = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let start = (i - equal..=i).find(|&at| own.is_char_boundary(at)).unwrap_or(i);
    Some((start, j - (i - start)))
}

/// The last start of a character up to here.
fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default()
}

/// The next characters of a text that have [`SAME`] bytes of it from them on.
struct Ahead {
    count: usize,
    starts: [usize; AHEAD],
    /// The first eight bytes from each on.
    words: [u64; AHEAD],
}

impl Ahead {
    fn new(text: &str, from: usize, end: usize) -> Self {
        let mut all = Self { count: 0, starts: [0; AHEAD], words: [0; AHEAD] };
        let bytes = &text.as_bytes()[..end];
        let starts = text[from..].char_indices().map(|(at, _)| from + at);
        for (place, start) in starts.take(AHEAD).enumerate() {
            let Some(&word) = bytes.get(start..start + SAME).and_then(<[u8]>::first_chunk) else {
                break;
            };
            all.starts[place] = start;
            all.words[place] = u64::from_le_bytes(word);
            all.count = place + 1;
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::{Difference, LOOKS, differences, goes_on};
    use proptest::prelude::*;
    use simhash_text::extract::APART;

    #[test]
    fn texts_are_told_apart_where_they_differ() {
        let part = |from: u32| -> String {
            (from..from + 200).filter_map(|n| char::from_u32(0x4e00 + n)).collect()
        };
        let [a, b, c, d, new] = [0, 200, 400, 600, 800].map(part);
        let [c, new] = [&c, &new].map(|long| &long[..3 * 120]);
        let [before_last, last] = [&d[..600 - 3 * APART], &d[600 - 3 * APART..]];
        let own = format!("{a}改{b}{c}{d}");
        // A passage left out after it, as another one is put in before: both longer than what is looked ahead.
        let other = format!("{a}另外{new}{b}{before_last}{}", &last[3..]);
        let found = differences(&own, &other).unwrap();
        let texts: Vec<(&str, &str)> =
            found.iter().map(|one| (&own[one.own.clone()], &other[one.other.clone()])).collect();
        let replaced = format!("另外{new}");
        assert_eq!(texts[0], ("改", replaced.as_str()));
        assert_eq!(texts[1], (c, ""));
        let (own_tail, other_tail) = texts[2];
        assert_eq!(texts.len(), 3);
        assert!(own_tail.ends_with(last) && other_tail.ends_with(&last[3..]));
        let counts = [own_tail, other_tail].map(|tail| tail.chars().count());
        assert_eq!(counts, [APART + 1, APART]);
        // More than a quarter of both.
        assert_eq!(differences(&own, &format!("{a}{b}{c}{d}{}", new.repeat(5))), None);
        assert_eq!(differences(&own, &new.repeat(5)), None);
        assert_eq!(differences(&own, &own).map(|all| all.len()), Some(1));
    }

    /// Texts that go on together again and again, each time a little farther away than what is looked ahead.
    #[test]
    fn looking_ends() {
        let letters = |seed: usize, count: usize| -> String {
            let letter = |n: usize| (b'a' + ((seed * 7_919 + n) * (n + seed) % 26) as u8) as char;
            (0..count).map(letter).collect()
        };
        let parts: Vec<String> = (0..3_000).map(|seed| letters(seed, 290)).collect();
        let own = parts.concat();
        let other: String = parts
            .iter()
            .enumerate()
            .flat_map(|(at, part)| [letters(at + 9_000, 97), part.clone()])
            .collect();
        let mut looks = LOOKS * (own.len() + other.len());
        let before = looks;
        let (mut at, mut found) = ((0, 0), 0);
        while let Some(next) = goes_on(&own, &other, at, (own.len(), other.len()), &mut looks) {
            at = (next.0 + 290, next.1 + 290);
            found += 1;
        }
        assert!((1..3_000).contains(&found), "{found}");
        assert!(looks < before);
        assert_eq!(differences(&own, &other), None);
    }

    proptest! {
        #[test]
        fn all_else_is_equal(
            text in "[中文a1é😀，。新闻]{20,60}",
            times in 1..12_usize,
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0..9_usize, "[中文a1é😀，]{0,120}"), 0..4),
        ) {
            let own: Vec<char> = text.repeat(times).chars().collect();
            let mut other = own.clone();
            for (at, gone, new) in changes {
                let at = at.index(other.len() + 1);
                let end = (at + gone).min(other.len());
                other.splice(at..end, new.chars());
            }
            let [own, other]: [String; 2] = [own.into_iter().collect(), other.into_iter().collect()];
            if let Some(all) = differences(&own, &other) {
                let (mut i, mut j) = (0, 0);
                for Difference { own: a, other: b } in &all {
                    prop_assert_eq!(&own[i..a.start], &other[j..b.start]);
                    prop_assert!(!own[a.clone()].is_empty() || !other[b.clone()].is_empty());
                    (i, j) = (a.end, b.end);
                }
                prop_assert_eq!((i, j), (own.len(), other.len()));
                if let Some(last) = all.last() {
                    let counts = [&own[last.own.clone()], &other[last.other.clone()]].map(|text| text.chars().count());
                    let wholes = [&own, &other].map(|text| text.chars().count());
                    prop_assert!((0..2).all(|side| counts[side] >= APART.min(wholes[side])));
                }
            }
        }
    }
}
