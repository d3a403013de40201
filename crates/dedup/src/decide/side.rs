//! One of two texts that are compared: as it is, until more is asked for.
//!
//! A text that is equal to another one but for some passages is told by these from what is known of the other one
//! ([`Evidence::jaccard_by_differences`]). So only one of the texts of a cluster is cut into features. Of long texts that differ in more
//! most are candidates by chance: they are cut, and their bitmaps exclude nearly all of them before a set is made.

use super::Texts;
use super::comparer::Comparer;
use super::verifier::Verifier;
use crate::error::DedupError;
use crate::verify::{Evidence, bitmap_of};
use parking_lot::Mutex;
use simhash_sketch::{Bitmap, Features, Kept, Material, Scratch};
use std::sync::{Arc, OnceLock};

/// A text that is compared with others.
#[derive(Debug)]
pub(crate) struct Side {
    /// By which others may ask for its evidence, too.
    number: Option<u32>,
    /// The normalised text; none if it was not read, because its evidence was there.
    text: Box<str>,
    /// Its features, where they have been cut, until its evidence is made of them.
    features: Mutex<Option<Features>>,
    /// Made of its features before its evidence is.
    bitmap: OnceLock<Option<Arc<Bitmap>>>,
    evidence: OnceLock<Arc<Evidence>>,
}

/// One that is like nothing.
impl Default for Side {
    fn default() -> Self {
        Self { evidence: OnceLock::from(Arc::default()), ..Self::of(None, Box::default()) }
    }
}

impl Side {
    fn of(number: Option<u32>, text: Box<str>) -> Self {
        Self {
            number,
            text,
            features: Mutex::default(),
            bitmap: OnceLock::new(),
            evidence: OnceLock::new(),
        }
    }

    /// Of a text that was prepared; `given` is what it was prepared of.
    pub(super) fn prepared(given: &str, mut material: Material) -> Self {
        let features = Mutex::new(material.features.take());
        Self { features, ..Self::of(None, material.into_text(given).unwrap_or_default()) }
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
        let mut side = Side::of(Some(number), Box::default());
        match self.known(number) {
            Some(evidence) => side.evidence = evidence.into(),
            None => texts.with_text(number, &mut |text| {
                let material = self.plain().prepare(text, Kept::Text, scratch).material;
                side.text = material.into_text(text).unwrap_or_default();
            })?,
        }
        Ok(side)
    }

    /// Cuts a text that others will probably be compared with.
    pub(crate) fn make(&self, side: &Side) {
        if let Some(verifier) = &self.verifier {
            self.made(verifier, side);
        }
    }

    fn made<'a>(&self, verifier: &Verifier, side: &'a Side) -> &'a Arc<Evidence> {
        side.evidence.get_or_init(|| {
            let features = side.features.lock().take();
            let evidence = Arc::new(verifier.evidence(&side.text, features));
            if let Some(number) = side.number {
                self.remember(number, &evidence);
            }
            evidence
        })
    }

    /// The bitmap of a text, if it has one; what it is made of is kept for its evidence.
    fn seen(&self, verifier: &Verifier, side: &Side) -> Option<Arc<Bitmap>> {
        if !verifier.has_bound() {
            return None;
        }
        if let Some(evidence) = side.evidence.get() {
            return evidence.bitmap().cloned();
        }
        let made = || {
            // Made when it was compared before.
            let known = side.number.and_then(|number| self.bitmap(number));
            if known.is_some() {
                return known;
            }
            let mut features = side.features.lock();
            let bitmap = bitmap_of(features.get_or_insert_with(|| verifier.cut(&side.text)));
            if let Some((number, bitmap)) = side.number.zip(bitmap.as_ref()) {
                self.see(number, bitmap);
            }
            bitmap
        };
        side.bitmap.get_or_init(made).clone()
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
        if let Some(theirs) = self.known(number) {
            return Ok(self.similarity_of(verifier, &theirs, own, least));
        }
        if let Some(theirs) = self.bitmap(number)
            && self.seen(verifier, own).is_some_and(|own| !verifier.may_be(&own, &theirs, least))
        {
            return Ok(None);
        }
        let theirs = self.side(number, texts, scratch)?;
        Ok(self.similarity_of_sides(own, &theirs, Some(least)))
    }

    /// [`Comparer::similarity_to`] another side.
    pub(crate) fn similarity_of_sides(
        &self,
        own: &Side,
        other: &Side,
        least: Option<f64>,
    ) -> Option<f64> {
        let Some(verifier) = &self.verifier else { return Some(0.0) };
        let least = least.unwrap_or(verifier.least);
        let (known, side) = if own.evidence.get().is_some() { (own, other) } else { (other, own) };
        let is_known = known.evidence.get().is_some();
        if !is_known && !verifier.can_tell(&known.text, &side.text) {
            let both = self.seen(verifier, known).zip(self.seen(verifier, side));
            if both.is_some_and(|(known, side)| !verifier.may_be(&known, &side, least)) {
                return None;
            }
        }
        self.similarity_of(verifier, self.made(verifier, known), side, least)
    }

    fn similarity_of(
        &self,
        verifier: &Verifier,
        known: &Evidence,
        side: &Side,
        least: f64,
    ) -> Option<f64> {
        if side.evidence.get().is_none()
            && let Some(found) = verifier.jaccard_by_differences(known, &side.text)
        {
            return verifier.reaching(found, least);
        }
        if let Some(theirs) = known.bitmap()
            && self.seen(verifier, side).is_some_and(|own| !verifier.may_be(&own, theirs, least))
        {
            return None;
        }
        verifier.similarity(self.made(verifier, side), known, least)
    }
}
