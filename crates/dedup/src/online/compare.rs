//! Two normalised texts by the measure that was asked for.

use simhash_sketch::{Fingerprinter, Scratch};

use crate::Measure;
use crate::verify::{containment, cosine_at_least, edit_similarity_at_least, jaccard_at_least};

/// How candidates are confirmed. [`Measure::Auto`] is [`Measure::Edit`] where both texts have at most 18 characters, else
/// [`Measure::Jaccard`]; texts too short for a fingerprint are always compared by edit similarity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verify {
    /// What is measured.
    pub measure: Measure,
    /// Least similarity, above 0 and at most 1.
    pub least: f64,
}

impl Default for Verify {
    /// [`Measure::Auto`], 0.8 or more.
    fn default() -> Self {
        Self { measure: Measure::Auto, least: 0.8 }
    }
}

/// Characters up to which a text is short for [`Measure::Auto`]: 18 characters have 17 pairs of neighbours, and one that
/// changes leaves a Jaccard similarity of (17 - 2) / (17 + 2), below 0.8. As an edit it is an eighteenth.
pub(super) const SHORT: usize = 18;

impl Verify {
    /// The similarity of two texts where it is at least the least one. Texts that are equal have 1.
    pub(super) fn similarity(
        self,
        by: &Fingerprinter,
        a: &str,
        b: &str,
        scratch: &mut Scratch,
    ) -> Option<f64> {
        if a == b {
            return (!a.is_empty()).then_some(1.0);
        }
        match self.measure {
            Measure::Edit => edit_similarity_at_least(a, b, self.least),
            Measure::Auto if is_short(a) && is_short(b) => {
                edit_similarity_at_least(a, b, self.least)
            }
            Measure::Auto | Measure::Jaccard => {
                let (mut x, mut y) = (Vec::new(), Vec::new());
                by.shingles(a, scratch, &mut x);
                by.shingles(b, scratch, &mut y);
                jaccard_at_least(&x, &y, self.least)
            }
            Measure::Containment => {
                let (mut x, mut y) = (Vec::new(), Vec::new());
                by.shingles(a, scratch, &mut x);
                by.shingles(b, scratch, &mut y);
                Some(containment(&x, &y)).filter(|similarity| *similarity >= self.least)
            }
            Measure::Cosine => {
                let (mut x, mut y) = (Vec::new(), Vec::new());
                by.vector(a, scratch, &mut x);
                by.vector(b, scratch, &mut y);
                cosine_at_least(&x, &y, self.least)
            }
        }
    }
}

fn is_short(text: &str) -> bool {
    text.len() <= SHORT * 4 && text.chars().count() <= SHORT
}
