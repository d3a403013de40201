//! The measure that was asked for, with its threshold.

use crate::Measure;
use crate::verify::Evidence;
use simhash_sketch::{Fingerprinter, Scratch};

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
    /// The text is normalised.
    pub(super) fn new(
        text: &'a str,
        verify: Verify,
        by: &'a Fingerprinter,
        scratch: &mut Scratch,
    ) -> Self {
        let evidence = Evidence::of(text, verify.measure, by, scratch);
        Self { text, evidence, verify, by }
    }

    /// The similarity to another normalised text where it is at least the least one. Texts that are equal have 1.
    pub(super) fn similarity(&self, other: &str, scratch: &mut Scratch) -> Option<f64> {
        if self.text == other {
            return (!other.is_empty()).then_some(1.0);
        }
        let Verify { measure, least } = self.verify;
        let other = Evidence::of(other, measure, self.by, scratch);
        self.evidence.similarity(&other, measure, least)
    }
}
