//! Options of an index of signatures: how it is made, and whether they agree with a saved one.

use crate::check::whole;
use crate::error::Failure;
use crate::index::options::{NativeWindow, mismatch, shown};
use crate::minhash::NativeMinHashOptions;
use napi_derive::napi;
use simhash_index::bands::{BandIndex, BandOptions, BandPlan, BandSearch, Signatures};
use std::path::Path;

/// The similarity of near-duplicates unless another is given.
const THRESHOLD: f64 = 0.8;

/// The recall at the threshold that a plan must reach unless another is given.
const RECALL: f64 = 0.95;

/// How much finding too much and finding too little weigh.
#[napi(object, object_to_js = false)]
#[derive(Clone, Copy)]
pub struct NativeWeights {
    pub false_positive: f64,
    pub false_negative: f64,
}

/// How bands and rows are chosen; absent means the default.
#[napi(object, object_to_js = false)]
pub struct NativeBandPlanOptions {
    pub threshold: Option<f64>,
    pub recall: Option<f64>,
    pub weights: Option<NativeWeights>,
    pub bands: Option<u32>,
    pub rows: Option<u32>,
}

impl NativeBandPlanOptions {
    pub(super) fn threshold(&self) -> f64 {
        self.threshold.unwrap_or(THRESHOLD)
    }

    /// Whether anything is said about bands and rows.
    fn is_chosen(&self) -> bool {
        self.recall.is_some()
            || self.weights.is_some()
            || self.bands.is_some()
            || self.rows.is_some()
    }

    pub(super) fn plan(&self, hashes: usize) -> Result<BandPlan, Failure> {
        let one = "give bands and rows, or weights, or recall";
        let conflict = || Err(Failure::new("ERR_INVALID_ARG_VALUE", one));
        let plan = match (self.bands, self.rows, self.weights, self.recall) {
            (Some(bands), Some(rows), None, None) => BandPlan::new(bands as usize, rows as usize)?,
            (None, None, Some(weights), None) => BandPlan::for_weights(
                self.threshold(),
                weights.false_positive,
                weights.false_negative,
                hashes,
            )?,
            (None, None, None, recall) => {
                BandPlan::for_recall(self.threshold(), recall.unwrap_or(RECALL), hashes)?
            }
            _ => return conflict(),
        };
        if plan.hashes() > hashes {
            return Err(Failure::out_of_range("hashes", "at least bands * rows"));
        }
        Ok(plan)
    }
}

/// What was given; for a new index absent means the default, for a saved one its own.
#[napi(object, object_to_js = false)]
pub struct NativeMinHashIndexOptions {
    pub minhash: NativeMinHashOptions,
    pub plan: NativeBandPlanOptions,
    pub signatures: Option<bool>,
    pub bucket_limit: Option<f64>,
    pub window: Option<NativeWindow>,
    pub threads: u32,
}

impl NativeMinHashIndexOptions {
    pub(super) fn core(&self) -> Result<BandOptions, Failure> {
        let minhash = self.minhash.core()?;
        if minhash.scheme == simhash_sketch::minhash::Scheme::BottomK {
            let how = "scheme must be 'permutations' or 'one-permutation' in an index: bottom-k has no bands";
            return Err(Failure::new("ERR_INVALID_ARG_VALUE", how));
        }
        let mut options = BandOptions::new(self.plan.plan(minhash.hashes)?);
        let kept = Signatures { hashes: minhash.hashes, threshold: self.plan.threshold() };
        options.signatures = self.signatures.unwrap_or(true).then_some(kept);
        if let Some(limit) = self.bucket_limit {
            options.bucket_limit =
                usize::try_from(whole(limit, "bucketLimit")?).unwrap_or(usize::MAX);
        }
        options.window = self.window.map(NativeWindow::core).transpose()?;
        Ok(options)
    }

    /// Whether a saved index is what was asked for.
    pub(super) fn agree(&self, path: &Path, index: &BandIndex) -> Result<(), Failure> {
        let found = index.options();
        let differ = |option, saved: String, given: String| {
            if saved == given { Ok(()) } else { Err(mismatch(path, option, &saved, &given)) }
        };
        if self.plan.is_chosen() {
            let given = self.plan.plan(self.minhash.core()?.hashes)?;
            let words = |plan: BandPlan| format!("bands {}, rows {}", plan.bands, plan.rows);
            differ("the plan", words(found.plan), words(given))?;
        }
        if let (Some(given), Some(kept)) = (self.plan.threshold, found.signatures) {
            differ("threshold", kept.threshold.to_string(), given.to_string())?;
        }
        if let Some(given) = self.signatures {
            differ("signatures", found.signatures.is_some().to_string(), given.to_string())?;
        }
        if let Some(given) = self.bucket_limit {
            differ("bucketLimit", found.bucket_limit.to_string(), given.to_string())?;
        }
        if let Some(given) = NativeWindow::wanted(self.window)? {
            differ("window", shown(found.window), shown(Some(given)))?;
        }
        Ok(())
    }
}

pub(super) fn search(threshold: Option<f64>, limit: Option<f64>) -> Result<BandSearch, Failure> {
    let limit = limit.map(|limit| whole(limit, "limit")).transpose()?;
    let limit = limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(BandSearch { threshold, limit })
}
