//! What a plan will cost, before anything is built.

use super::options::{NativeIndexOptions, choice};
use crate::check::{number, whole};
use crate::columns::Column;
use crate::error::{Failure, caught, js};
use napi_derive::napi;
use simhash_dedup::live::{LiveIndex, LiveMethod};
use simhash_index::Plan;

/// Points of the S-curve between similarity 0 and 1.
const STEPS: u32 = 20;

/// A plan, and what searches with it cost.
#[napi(object, object_from_js = false)]
pub struct NativePlan {
    pub plan: String,
    pub max_distance: u32,
    pub capacity: f64,
    pub tables: u32,
    #[napi(ts_type = "Uint32Array")]
    pub table_bits: Column<u32>,
    pub prefix_bits: u32,
    pub mean_prefix_bits: f64,
    pub table_bytes: f64,
    pub id_bytes: f64,
    pub lookups: f64,
    pub candidates: f64,
    pub scans: bool,
}

/// Chooses a plan as an index would, and estimates it.
#[napi(catch_unwind)]
pub fn plan(max_distance: u32, capacity: f64, plan: String) -> js::Result<NativePlan> {
    let estimate = || {
        let capacity = whole(capacity, "capacity")?;
        let plan = Plan::choose(&choice(Some(&plan)), max_distance, Some(capacity))?;
        let estimate = plan.estimate(capacity, max_distance)?;
        Ok(NativePlan {
            plan: plan.name().to_owned(),
            max_distance: estimate.distance,
            capacity: number(estimate.count),
            tables: estimate.tables as u32,
            table_bits: Column(
                plan.prefixes().iter().map(simhash_index::plan::Prefix::bits).collect(),
            ),
            prefix_bits: estimate.prefix_bits,
            mean_prefix_bits: estimate.mean_prefix_bits,
            table_bytes: estimate.table_bytes,
            id_bytes: estimate.id_bytes,
            lookups: number(estimate.lookups as u64),
            candidates: estimate.candidates,
            scans: estimate.scans,
        })
    };
    Ok(caught(estimate)?)
}

/// Names of the plans that `plan` takes, beside `auto` and `classic`.
#[napi(catch_unwind)]
pub fn plan_names() -> Vec<String> {
    simhash_index::plan::names().map(str::to_owned).collect()
}

/// A plan of bands, and its S-curve.
#[napi(object, object_from_js = false)]
pub struct NativeBandPlan {
    pub bands: u32,
    pub rows: u32,
    /// Positions of a kept signature; 0: none is kept.
    pub hashes: u32,
    /// The similarity that the recall is for.
    pub threshold: f64,
    /// The probability at the threshold.
    pub recall: f64,
    /// The similarity at which half of the pairs are found.
    pub half: f64,
    /// Probabilities at 0, 0.05, … 1.
    #[napi(ts_type = "Float64Array")]
    pub curve: Column<f64>,
}

/// Chooses bands and rows as an index of method `minhash` would.
#[napi(catch_unwind)]
pub fn band_plan(options: NativeIndexOptions<'_>) -> js::Result<NativeBandPlan> {
    Ok(caught(|| {
        let live = LiveIndex::new(&options.core()?)?;
        let LiveMethod::MinHash { plan: Some(plan), minhash, signatures, .. } =
            &live.options().method
        else {
            return Err(Failure::internal("a plan of bands was asked of another method"));
        };
        let threshold = live.options().verify.unwrap_or_default().least;
        let at = |step: u32| plan.probability(f64::from(step) / f64::from(STEPS));
        Ok(NativeBandPlan {
            bands: plan.bands as u32,
            rows: plan.rows as u32,
            hashes: if *signatures == Some(true) { minhash.hashes as u32 } else { 0 },
            threshold,
            recall: plan.probability(threshold),
            half: plan.similarity(0.5),
            curve: Column((0..=STEPS).map(at).collect()),
        })
    })?)
}
