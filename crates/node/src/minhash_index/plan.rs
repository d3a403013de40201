//! What a plan will find, before anything is built.

use super::options::NativeBandPlanOptions;
use crate::columns::Column;
use crate::error::{caught, js};
use napi_derive::napi;
use simhash_sketch::minhash::MinHashOptions;

/// Points of the curve between similarity 0 and 1.
const STEPS: u32 = 20;

/// A plan, and its S-curve.
#[napi(object, object_from_js = false)]
pub struct NativeBandPlan {
    pub bands: u32,
    pub rows: u32,
    pub hashes: u32,
    pub threshold: f64,
    /// The probability at the threshold.
    pub recall: f64,
    /// The similarity at which half of the pairs are found.
    pub half: f64,
    /// Probabilities at 0, 0.05, … 1.
    #[napi(ts_type = "Float64Array")]
    pub curve: Column<f64>,
}

/// Chooses bands and rows as an index would.
#[napi(catch_unwind)]
pub fn band_plan(
    options: NativeBandPlanOptions,
    hashes: Option<u32>,
) -> js::Result<NativeBandPlan> {
    Ok(caught(|| {
        let hashes = hashes.map_or(MinHashOptions::default().hashes, |hashes| hashes as usize);
        let plan = options.plan(hashes)?;
        let at = |step: u32| plan.probability(f64::from(step) / f64::from(STEPS));
        Ok(NativeBandPlan {
            bands: plan.bands as u32,
            rows: plan.rows as u32,
            hashes: hashes as u32,
            threshold: options.threshold(),
            recall: plan.probability(options.threshold()),
            half: plan.similarity(0.5),
            curve: Column((0..=STEPS).map(at).collect()),
        })
    })?)
}
