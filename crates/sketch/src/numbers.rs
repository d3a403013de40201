//! How far a difference in numbers tells two texts apart.

use simhash_text::feature;
use simhash_text::numbers::numbers;

/// The numbers of a text as its measure of similarity sees them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Numbers {
    /// Code points of the normalised text, at most 2 × [`Numbers::SHORT`].
    length: u8,
    /// Of the list of numbers.
    hash: u64,
}

/// Code points from which on no number of a text counts.
const LONG: u8 = 2 * Numbers::SHORT as u8;

/// Code points of a text, at most [`LONG`].
fn length(text: &str) -> u8 {
    text.chars().take(LONG.into()).count() as u8
}

impl Numbers {
    /// Code points below which texts with different numbers are two, whatever else they have in common.
    ///
    /// In titles a number is the news: 304 of 1,847 pairs of hot-search titles at a Jaccard similarity of 0.8 or more differ in
    /// digits, and nearly all of these tell of different things. In pages it is furniture: of 143 pairs of reposted news 87 differ in a
    /// date or a count of views. Messages of one or two sentences lie between, and the rule fades out over them. 48 is the
    /// smallest limit, in steps of eight, that gives a precision of 0.98 on the labelled pairs of `__test__/labelled`: 24 gives 0.86,
    /// 32 0.93, 40 0.96, 48 and 56 0.98, at a recall of 0.99 each.
    pub const SHORT: usize = 48;

    /// Of a normalised text.
    pub fn of(text: &str) -> Self {
        Self { length: length(text), hash: feature::hash(numbers(text).as_bytes()) }
    }

    /// [`Numbers::factor`] to another normalised text, which is read to its end only where its numbers count.
    pub fn factor_to(self, other: &str) -> f64 {
        if self.length.min(length(other)) == LONG { 1.0 } else { self.factor(Self::of(other)) }
    }

    /// What the similarity of two texts is multiplied by, 0 to 1: 1 where they have the same numbers in the same order. Else,
    /// with n code points in the shorter one, 0 to n = 48, from there on (n − 48) / 48, and 1 from n = 96.
    ///
    /// ```
    /// use simhash_sketch::Numbers;
    /// let factor = |a: &str, b: &str| Numbers::of(a).factor(Numbers::of(b));
    /// assert_eq!(factor("ep100", "ep1000"), 0.0);
    /// assert_eq!(factor("ep100", "EP 0100!"), 1.0);
    /// let page = "a page with a visitor counter below it, now and then a little longer: ";
    /// assert_eq!(factor(&format!("{page}1"), &format!("{page}22")), 23.0 / 48.0);
    /// ```
    pub fn factor(self, other: Self) -> f64 {
        if self.hash == other.hash {
            return 1.0;
        }
        let shorter = usize::from(self.length.min(other.length));
        shorter.saturating_sub(Self::SHORT) as f64 / Self::SHORT as f64
    }

    /// Equal for texts of which no difference in numbers is seen: those with the same numbers, and those too long for it.
    pub fn class(self) -> Option<u64> {
        (usize::from(self.length) < 2 * Self::SHORT).then_some(self.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::Numbers;
    use proptest::prelude::*;

    #[test]
    fn the_factor_rises_from_48_to_96_code_points() {
        let of = |length: usize, number: u32| {
            let number = number.to_string();
            Numbers::of(&("字".repeat(length - number.len()) + &number))
        };
        for (length, expected) in [
            (2, 0.0),
            (47, 0.0),
            (48, 0.0),
            (54, 0.125),
            (72, 0.5),
            (90, 0.875),
            (96, 1.0),
            (5_000, 1.0),
        ] {
            let [a, b] = [of(length, 1), of(length, 2)];
            assert!((a.factor(b) - expected).abs() < 1e-12, "{length}");
            assert!(
                (a.factor(of(9_000, 2)) - expected).abs() < 1e-12,
                "{length}: the shorter text decides"
            );
            assert!((a.factor(of(length, 1)) - 1.0).abs() < 1e-12);
            assert_eq!(a.class() == b.class(), length >= 96);
        }
    }

    proptest! {
        #[test]
        fn one_more_character_moves_the_factor_by_a_48th_at_most(text in "[字a ]{0,120}", a in 0..100_u32, b in 0..100_u32) {
            let of = |text: &str, number: u32| Numbers::of(&format!("{text}x{number}"));
            let longer = format!("字{text}");
            let change = of(&text, a).factor(of(&text, b)) - of(&longer, a).factor(of(&longer, b));
            prop_assert!(change.abs() <= 1.0 / Numbers::SHORT as f64 + 1e-12);
        }

        #[test]
        fn the_factor_is_symmetric_and_a_share(a in "[0-9第一十月 字]{0,110}", b in "[0-9第一十月 字]{0,110}") {
            let text = b;
            let [a, b] = [Numbers::of(&a), Numbers::of(&text)];
            prop_assert_eq!(a.factor_to(&text).to_bits(), a.factor(b).to_bits());
            prop_assert_eq!(a.factor(b).to_bits(), b.factor(a).to_bits());
            prop_assert!((0.0..=1.0).contains(&a.factor(b)));
        }
    }
}
