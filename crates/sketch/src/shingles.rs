//! The sets that say how alike two texts are.

use crate::{Fingerprinter, Numbers, Scratch};
use simhash_text::{Extractor, Features};

/// What set similarities of a text are taken of; see [`Fingerprinter::shingles_of`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shingles {
    /// Distinct feature hashes, ascending.
    pub features: Vec<u64>,
    /// Hashes of the long shingles, ascending; none but for long texts, Chinese or of numbers, whose features are chosen by
    /// script ([`Extractor::long_shingles`]).
    pub long: Vec<u64>,
    /// The numbers in it.
    pub numbers: Numbers,
}

/// The similarity of texts that are not equal, but of which a measure sees no difference: the largest number below 1.
pub const ALMOST_ONE: f64 = 1.0_f64.next_down();

impl Shingles {
    /// Of a normalised text, of which `features` are the features where they have been cut.
    pub fn of_normalized(by: &Fingerprinter, text: &str, features: Option<Features>) -> Self {
        let features = features.map_or_else(|| Self::cut(by, text), Features::into_set);
        Self::with_features(by, text, features)
    }

    /// The features alone of a normalised text.
    pub fn cut(by: &Fingerprinter, text: &str) -> Vec<u64> {
        let mut features = Vec::new();
        by.extractor().shingles(text, &mut features);
        features
    }

    /// Of a normalised text that has these features, from [`Shingles::cut`].
    pub fn with_features(by: &Fingerprinter, text: &str, features: Vec<u64>) -> Self {
        let mut sets = Self { features, ..Self::default() };
        sets.rest(by.extractor(), text);
        sets
    }

    /// Replaces all but the features.
    fn rest(&mut self, by: &Extractor, text: &str) {
        by.long_shingles(text, &mut self.long);
        self.numbers = Numbers::of(text);
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

    /// The similarity that verification goes by where nothing else is asked for, of two texts that are not equal:
    /// [`similarity`](Self::similarity) by a measure, multiplied by what a difference in numbers leaves of it
    /// ([`Numbers::factor`]), at most [`ALMOST_ONE`].
    pub fn verified(
        &self,
        other: &Self,
        measure: impl FnMut(&[u64], &[u64]) -> Option<f64>,
    ) -> Option<f64> {
        let similarity = self.similarity(other, measure)? * self.numbers.factor(other.numbers);
        Some(similarity.min(ALMOST_ONE))
    }

    /// Gives memory back that holds none of them, for those that are kept.
    pub fn shrink(&mut self) {
        self.features.shrink_to_fit();
        self.long.shrink_to_fit();
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
        self.extractor().shingles(text, &mut out.features);
        out.rest(self.extractor(), text);
    }
}
