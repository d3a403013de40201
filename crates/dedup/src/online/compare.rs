//! The measure that was asked for, with its threshold.

use super::Document;
use crate::Measure;
use crate::verify::Evidence;
use simhash_sketch::Fingerprinter;

/// How candidates are confirmed.
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

/// A text that is compared with others.
pub(super) struct Compared<'a> {
    text: &'a str,
    evidence: Evidence,
    verify: Verify,
    by: &'a Fingerprinter,
}

impl<'a> Compared<'a> {
    /// Of a document; `None` if it has no text.
    pub(super) fn new(
        document: &'a Document,
        verify: Verify,
        by: &'a Fingerprinter,
    ) -> Option<Self> {
        let text = document.text.as_deref()?;
        let evidence = Evidence::new(text, document.features.clone(), verify.measure, by);
        Some(Self { text, evidence, verify, by })
    }

    /// The similarity to another normalised text where it is at least the least one. Texts that are equal have 1.
    pub(super) fn similarity(&self, other: &str) -> Option<f64> {
        if self.text == other {
            return (!other.is_empty()).then_some(1.0);
        }
        let Verify { measure, least } = self.verify;
        let other = Evidence::new(other, None, measure, self.by);
        self.evidence.similarity(&other, measure, least)
    }
}
