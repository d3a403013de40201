//! The sets that say how alike two texts are.

use crate::{Fingerprinter, Scratch};
use simhash_text::Extractor;

/// What set similarities of a text are taken of; see [`Fingerprinter::shingles_of`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shingles {
    /// Distinct feature hashes, ascending.
    pub features: Vec<u64>,
    /// Hashes of the long shingles, ascending; none but for long texts, Chinese or of numbers, whose features are chosen by
    /// script ([`Extractor::long_shingles`]).
    pub long: Vec<u64>,
}

impl Shingles {
    /// Replaces the sets with those of a normalised text.
    pub(crate) fn fill(&mut self, by: &Extractor, text: &str) {
        by.shingles(text, &mut self.features);
        by.long_shingles(text, &mut self.long);
    }

    /// The similarity by a measure of two sets: that of the features, or, where both texts have long shingles, that of
    /// these if it is lower. `None` where the measure gives none for either.
    pub fn similarity(
        &self,
        other: &Self,
        mut measure: impl FnMut(&[u64], &[u64]) -> Option<f64>,
    ) -> Option<f64> {
        let similarity = measure(&self.features, &other.features)?;
        if self.long.is_empty() || other.long.is_empty() {
            return Some(similarity);
        }
        Some(measure(&self.long, &other.long)?.min(similarity))
    }

    /// Hashes held.
    #[expect(clippy::len_without_is_empty, reason = "a size, not a collection")]
    pub fn len(&self) -> usize {
        self.features.len() + self.long.len()
    }
}

impl Fingerprinter {
    /// Replaces `out` with the sets of the normalised text.
    pub fn shingles_of(&self, text: &str, scratch: &mut Scratch, out: &mut Shingles) {
        let text = self.normalizer().apply(text, &mut scratch.normalize);
        out.fill(self.extractor(), text);
    }
}
