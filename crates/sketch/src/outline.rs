//! A set of features in 36 bytes: enough to tell of most pairs of short texts that they are not similar.

/// Bits of an outline.
const BITS: usize = 256;
/// Features, repeated ones counted, from which on nearly all bits are set and tell nothing.
const MOST: usize = 512;

/// A bit for each feature of a text, by the highest bits of its hash, and how many features there are.
///
/// Two sets differ in at least as many members as their outlines differ in bits. So the outlines bound the Jaccard similarity from
/// above, exactly: what they exclude need not be cut again to be compared (Sandes, Teodoro, Melo, "Bitmap filter", Future
/// Generation Computer Systems 2020).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    bits: [u64; BITS / 64],
    /// Features, repeated ones counted; 0: not known.
    count: u32,
}

impl Outline {
    /// Of the hashes of all features, which may be there more than once. Of more than 512 nothing is known.
    pub fn of(hashes: &[u64]) -> Self {
        if hashes.len() > MOST {
            return Self::default();
        }
        let mut bits = [0; BITS / 64];
        for hash in hashes {
            bits[(hash >> 62) as usize] |= 1 << (hash >> 56 & 63);
        }
        Self { bits, count: hashes.len() as u32 }
    }

    /// Bytes of [`Outline::to_bytes`].
    pub const BYTES: usize = BITS / 8 + size_of::<u32>();

    /// All of it, little-endian, so that [`Outline::from_bytes`] reads it.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        for (bytes, bits) in bytes.as_chunks_mut().0.iter_mut().zip(&self.bits) {
            *bytes = bits.to_le_bytes();
        }
        bytes[BITS / 8..].copy_from_slice(&self.count.to_le_bytes());
        bytes
    }

    /// The outline of these bytes; `None`: they are those of none.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Option<Self> {
        let (words, rest) = bytes.as_chunks();
        let mut bits = [0; BITS / 64];
        for (bits, word) in bits.iter_mut().zip(words) {
            *bits = u64::from_le_bytes(*word);
        }
        let count = u32::from_le_bytes(rest.try_into().ok()?);
        (count as usize <= MOST).then_some(Self { bits, count })
    }

    /// The largest Jaccard similarity that the two sets can have, as the division of two integers.
    ///
    /// ```
    /// use simhash_sketch::Outline;
    /// let [a, b] = [[1 << 56, 2 << 56, 3 << 56], [1 << 56, 2 << 56, 4 << 56]].map(|set| Outline::of(&set));
    /// assert_eq!(a.jaccard_at_most(&b), 0.5);
    /// assert_eq!(a.jaccard_at_most(&Outline::default()), 1.0);
    /// ```
    pub fn jaccard_at_most(&self, other: &Self) -> f64 {
        if self.count == 0 || other.count == 0 {
            return 1.0;
        }
        let differ = self.bits.iter().zip(&other.bits).map(|(a, b)| (a ^ b).count_ones());
        at_most(self.count, other.count, differ.sum())
    }

    /// The same in fewer bits; `None` of more than 64 features, and where nothing is known.
    pub fn folded(&self) -> Option<Folded> {
        let count = u8::try_from(self.count).ok()?;
        let width = Folded::width(count)?;
        let mut words = [0; Folded::WORDS];
        for (at, bits) in self.bits.iter().enumerate() {
            words[(2 * at) & (width - 1)] |= *bits as u32;
            words[(2 * at + 1) & (width - 1)] |= (bits >> 32) as u32;
        }
        Some(Folded { words, count })
    }
}

/// The largest Jaccard similarity of two sets of at most so many members that differ in at least so many.
fn at_most(a: u32, b: u32, differ: u32) -> f64 {
    let either = (a + b).saturating_sub(differ) / 2;
    let common = either.min(a).min(b);
    if differ == 0 { 1.0 } else { f64::from(common) / f64::from(common + differ) }
}

/// The [`Outline`] of a short text for the way to another machine: two bits for each feature, or more. Bits that are put
/// together differ in no more members than before, so it bounds the similarity as well, less closely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folded {
    /// As many as the count says, then zeros.
    words: [u32; Folded::WORDS],
    /// Features, repeated ones counted; not 0.
    count: u8,
}

impl Folded {
    const WORDS: usize = 4;

    /// Words for so many features: a power of two.
    fn width(count: u8) -> Option<usize> {
        match count {
            1..=16 => Some(1),
            17..=32 => Some(2),
            33..=64 => Some(4),
            _ => None,
        }
    }

    /// Appends its bytes: the number of features, then 4, 8 or 16 bytes of bits, little-endian.
    pub fn put(&self, to: &mut Vec<u8>) {
        to.push(self.count);
        let width = Self::width(self.count).unwrap_or_default();
        to.extend(self.words[..width].iter().flat_map(|word| word.to_le_bytes()));
    }

    /// Takes one from the start of bytes that [`Folded::put`] wrote; `None`: there is none.
    pub fn take(bytes: &mut &[u8]) -> Option<Self> {
        let (&count, rest) = bytes.split_first()?;
        let (own, rest) = rest.split_at_checked(4 * Self::width(count)?)?;
        let mut words = [0; Self::WORDS];
        for (word, bytes) in words.iter_mut().zip(own.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        *bytes = rest;
        Some(Self { words, count })
    }

    /// The words of one of so few features that has these bits, too.
    fn to_width_of(self, count: u8) -> [u32; Self::WORDS] {
        let [a, b, c, d] = self.words;
        match count {
            ..=16 => [a | b | c | d, 0, 0, 0],
            17..=32 => [a | c, b | d, 0, 0],
            _ => self.words,
        }
    }

    /// The largest Jaccard similarity that the two sets can have.
    ///
    /// ```
    /// use simhash_sketch::Outline;
    /// let [a, b] = [[1 << 59, 2 << 59, 3 << 59], [1 << 59, 2 << 59, 4 << 59]].map(|set| Outline::of(&set).folded());
    /// assert_eq!(a.unwrap().jaccard_at_most(&b.unwrap()), 0.5);
    /// assert_eq!(Outline::default().folded(), None);
    /// ```
    pub fn jaccard_at_most(&self, other: &Self) -> f64 {
        let count = self.count.min(other.count);
        let (a, b) = (self.to_width_of(count), other.to_width_of(count));
        let differ = a.iter().zip(&b).map(|(a, b)| (a ^ b).count_ones());
        at_most(self.count.into(), other.count.into(), differ.sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::jaccard;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn an_outline_is_read_as_it_was_written(hashes in proptest::collection::vec(any::<u64>(), 0..600)) {
            let outline = Outline::of(&hashes);
            let mut bytes = outline.to_bytes();
            prop_assert_eq!(Outline::from_bytes(&bytes), Some(outline));
            bytes[Outline::BYTES - 1] = 1;
            prop_assert_eq!(Outline::from_bytes(&bytes), None);
        }

        #[test]
        fn a_folded_one_is_read_as_it_was_written(hashes in proptest::collection::vec(any::<u64>(), 0..70)) {
            let folded = Outline::of(&hashes).folded();
            prop_assert_eq!(folded.is_some(), (1..=64).contains(&hashes.len()));
            if let Some(folded) = folded {
                let mut bytes = Vec::new();
                folded.put(&mut bytes);
                prop_assert_eq!(bytes.len(), 1 + [4, 8, 16, 16][(hashes.len() - 1) / 16]);
                for end in 0..bytes.len() {
                    prop_assert_eq!(Folded::take(&mut &bytes[..end]), None);
                }
                bytes.push(7);
                let mut rest = &bytes[..];
                prop_assert_eq!(Folded::take(&mut rest), Some(folded));
                prop_assert_eq!(rest, [7]);
                prop_assert!(folded.jaccard_at_most(&folded) >= 1.0);
            }
        }

        /// Few different hashes, so that sets overlap, and bits too.
        #[test]
        fn no_similarity_is_above_the_bound(
            a in proptest::collection::vec(0u64..40, 0..60),
            b in proptest::collection::vec(0u64..40, 0..60),
            spread in 1u64..9,
        ) {
            let hashes = |set: &[u64]| -> Vec<u64> {
                set.iter().map(|&one| one.wrapping_mul(spread) << 56 | one).collect()
            };
            let (a, b) = (hashes(&a), hashes(&b));
            let outlines = [Outline::of(&a), Outline::of(&b)];
            let bound = outlines[0].jaccard_at_most(&outlines[1]);
            if let [Some(a), Some(b)] = outlines.map(|one| one.folded()) {
                let folded = a.jaccard_at_most(&b);
                prop_assert!(bound <= folded, "{bound} > {folded}");
            }
            let set = |mut hashes: Vec<u64>| {
                hashes.sort_unstable();
                hashes.dedup();
                hashes
            };
            let similarity = jaccard(&set(a), &set(b));
            prop_assert!(similarity <= bound, "{similarity} > {bound}");
        }
    }

    #[test]
    fn what_is_too_long_excludes_nothing() {
        let long: Vec<u64> = (0..513).map(|n| n << 54).collect();
        assert_eq!(Outline::of(&long), Outline::default());
        assert_ne!(Outline::of(&long[..512]), Outline::default());
        assert!(Outline::of(&[]).jaccard_at_most(&Outline::of(&[1])) >= 1.0);
    }
}
