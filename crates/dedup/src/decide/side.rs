//! One of two texts that are compared: as it is, until more is asked for.
//!
//! A text that is equal to another one but for some passages is told by these from what is known of the other one
//! ([`Evidence::by_differences`]). So only one of the texts of a cluster is cut into features, and those that are not like it.

use super::Texts;
use super::comparer::Comparer;
use super::verifier::Verifier;
use crate::error::DedupError;
use crate::verify::Evidence;
use simhash_sketch::{Kept, Scratch};
use std::sync::{Arc, OnceLock};

/// A text that is compared with others.
#[derive(Debug)]
pub(crate) struct Side {
    number: u32,
    /// The normalised text; none if it was not read, because its evidence was there.
    text: Box<str>,
    evidence: OnceLock<Arc<Evidence>>,
}

/// One that is like nothing.
impl Default for Side {
    fn default() -> Self {
        Self { number: 0, text: Box::default(), evidence: OnceLock::from(Arc::default()) }
    }
}

impl Comparer {
    /// A text as a side of comparisons, read if nothing is known of it any more and it will be compared.
    pub(crate) fn side(
        &self,
        number: u32,
        texts: &dyn Texts,
        scratch: &mut Scratch,
    ) -> Result<Side, DedupError> {
        if self.verifier.is_none() {
            return Ok(Side::default());
        }
        let mut side = Side { number, text: Box::default(), evidence: OnceLock::new() };
        match self.known(number) {
            Some(evidence) => side.evidence = evidence.into(),
            None => texts.with_text(number, &mut |text| {
                let material = self.plain().prepare(text, Kept::Text, scratch).material;
                side.text = material.into_text(text).unwrap_or_default();
            })?,
        }
        Ok(side)
    }

    fn made<'a>(&self, verifier: &Verifier, side: &'a Side) -> &'a Arc<Evidence> {
        side.evidence.get_or_init(|| {
            let evidence = Arc::new(verifier.evidence_of(&side.text));
            self.remember(side.number, &evidence);
            evidence
        })
    }

    /// The similarity of a text and the one of a number where it reaches the threshold, and `least` where that is given; 0 without
    /// verification.
    ///
    /// A text that by the bitmaps of both cannot be so similar is not read. Texts on one subject, of which method simhash makes crowds of
    /// candidates, are cut again and again otherwise.
    pub(crate) fn similarity_to(
        &self,
        own: &Side,
        number: u32,
        least: Option<f64>,
        texts: &dyn Texts,
        scratch: &mut Scratch,
    ) -> Result<Option<f64>, DedupError> {
        let Some(verifier) = &self.verifier else { return Ok(Some(0.0)) };
        let least = least.unwrap_or(verifier.least);
        let known = self.known(number);
        if (known.is_none() || own.evidence.get().is_some())
            && let Some(theirs) = self.bitmap(number)
            && !verifier.may_be(self.made(verifier, own), &theirs, least)
        {
            return Ok(None);
        }
        let theirs = known.map_or_else(|| self.evidence(number, texts, scratch), Ok)?;
        Ok(self.similarity_of(verifier, &theirs, own, least))
    }

    /// [`Comparer::similarity_to`] another side.
    pub(crate) fn similarity_of_sides(
        &self,
        own: &Side,
        other: &Side,
        least: Option<f64>,
    ) -> Option<f64> {
        let Some(verifier) = &self.verifier else { return Some(0.0) };
        let (known, side) = if own.evidence.get().is_some() { (own, other) } else { (other, own) };
        self.similarity_of(
            verifier,
            self.made(verifier, known),
            side,
            least.unwrap_or(verifier.least),
        )
    }

    fn similarity_of(
        &self,
        verifier: &Verifier,
        known: &Evidence,
        side: &Side,
        least: f64,
    ) -> Option<f64> {
        match side.evidence.get() {
            Some(evidence) => verifier.similarity(evidence, known, least),
            None => match verifier.jaccard_by_differences(known, &side.text) {
                Some(found) => verifier.reaching(found, least),
                None => verifier.similarity(self.made(verifier, side), known, least),
            },
        }
    }
}
