//! How a band index is made and searched.

use super::plan::{BandPlan, out_of_range};
use crate::{IndexError, Window};

/// Options of [`BandIndex::new`](super::BandIndex::new).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct BandOptions {
    /// Bands and rows.
    pub plan: BandPlan,
    /// Keeps signatures, so that what shares a band is confirmed by the estimated similarity. Default: only the bands are
    /// kept, and a shared band is all that is known of a match.
    pub signatures: Option<Signatures>,
    /// Most live documents read from one bucket, the oldest first; what lies beyond makes an answer `truncated`. At least 1.
    /// Default 1024: what near-duplicates share beside a crowded band (a boilerplate) is in the bands that are not crowded, and
    /// a query reads at most `bands * 1024` ids.
    pub bucket_limit: usize,
    /// Keeps times and lets old documents leave. Default: documents stay, and no times are kept.
    pub window: Option<Window>,
}

impl BandOptions {
    /// The default options for this plan.
    pub fn new(plan: BandPlan) -> Self {
        Self { plan, signatures: None, bucket_limit: 1024, window: None }
    }

    pub(super) fn check(&self) -> Result<(), IndexError> {
        self.plan.check()?;
        self.window.unwrap_or_default().check()?;
        if self.bucket_limit == 0 {
            return Err(out_of_range("bucket_limit", 0, "at least 1"));
        }
        if let Some(Signatures { hashes, threshold }) = self.signatures {
            check_threshold(threshold)?;
            if hashes < self.plan.hashes() || hashes > 1024 {
                return Err(out_of_range("hashes", hashes, "from bands * rows to 1024"));
            }
        }
        Ok(())
    }
}

/// What signatures are kept for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Signatures {
    /// Positions of a signature: at least `bands * rows`, at most 1024. Four bytes each per document.
    pub hashes: usize,
    /// Least share of equal positions of a match, 0 to 1.
    pub threshold: f64,
}

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BandSearch {
    /// Least share of equal positions, 0 to 1; default: the index's own. Only for an index with signatures.
    pub threshold: Option<f64>,
    /// At most so many matches, the best first; default: all.
    pub limit: Option<usize>,
    /// At most so many live documents of a bucket; default: [`BandOptions::bucket_limit`].
    pub bucket: Option<usize>,
}

pub(super) fn check_threshold(threshold: f64) -> Result<(), IndexError> {
    if (0.0..=1.0).contains(&threshold) {
        return Ok(());
    }
    Err(out_of_range("threshold", threshold, "from 0 to 1"))
}
