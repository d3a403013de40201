//! Links against the texts.

use super::reported::Links;
use super::{Verified, ratio};
use crate::error::DedupError;
use crate::parallel;
use simhash_sketch::measure::jaccard;
use simhash_sketch::{ALMOST_ONE, Fingerprinter, Scratch, Shingles};
use std::sync::atomic::AtomicBool;

/// The texts of documents that a result names.
pub trait DocumentTexts: Sync {
    /// Calls `read` with the text of a document; does not call it where there is none.
    fn with_text(&self, document: u32, read: &mut dyn FnMut(&str));
}

/// How links are verified: the similarity of the two texts by [`Measure::Auto`](crate::Measure), exactly.
#[derive(Clone, Copy)]
pub struct Verification<'a> {
    /// Makes the features.
    pub fingerprinter: &'a Fingerprinter,
    /// The texts of the documents; one that is missing resembles nothing.
    pub texts: &'a dyn DocumentTexts,
    /// Most tasks at a time on the current rayon pool; 0: as many as it has threads. Changes no result.
    pub threads: usize,
}

/// Links per task: the features of a kept document are made once for all of them.
const RUN: usize = 64;

impl Verification<'_> {
    /// `None` where there are no links.
    pub(super) fn of(
        &self,
        links: &Links,
        least: f64,
        cancel: &AtomicBool,
    ) -> Result<Option<Verified>, DedupError> {
        let mut pairs: Vec<(u32, u32)> = links.tree.iter().chain(&links.stars).copied().collect();
        pairs.sort_unstable();
        pairs.dedup();
        let similarities = self.similarities(&pairs, cancel)?;
        let least = least.min(ALMOST_ONE);
        let share = |links: &[(u32, u32)], least: f64| {
            let similarity = |link| pairs.binary_search(link).map_or(0.0, |at| similarities[at]);
            let right = links.iter().filter(|link| similarity(link) >= least).count();
            ratio(right as u64, links.len() as u64)
        };
        Ok(share(&links.tree, least).map(|precision| Verified {
            precision,
            half_precision: share(&links.tree, 0.5).unwrap_or(precision),
            kept_precision: share(&links.stars, least).unwrap_or(precision),
        }))
    }

    fn similarities(
        &self,
        pairs: &[(u32, u32)],
        cancel: &AtomicBool,
    ) -> Result<Vec<f64>, DedupError> {
        let mut similarities = vec![0.0; pairs.len()];
        let mut runs: Vec<_> = pairs.chunks(RUN).zip(similarities.chunks_mut(RUN)).collect();
        parallel::for_each(&mut runs, self.threads, cancel, Scratch::default, |scratch, run| {
            let (mut first, mut second) = (Shingles::default(), Shingles::default());
            let mut known = None;
            for (&(a, b), similarity) in run.0.iter().zip(run.1.iter_mut()) {
                if known != Some(a) {
                    self.shingles(a, scratch, &mut first);
                    known = Some(a);
                }
                self.shingles(b, scratch, &mut second);
                let measure = |a: &[u64], b: &[u64]| Some(jaccard(a, b));
                *similarity = first.verified(&second, measure).unwrap_or_default();
            }
            Ok(())
        })?;
        Ok(similarities)
    }

    fn shingles(&self, document: u32, scratch: &mut Scratch, out: &mut Shingles) {
        *out = Shingles::default();
        self.texts.with_text(document, &mut |text| {
            self.fingerprinter.shingles_of(text, scratch, out);
        });
    }
}
