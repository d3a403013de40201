//! What a plan will cost, before anything is built.

use super::options::choice;
use crate::check::{number, whole};
use crate::columns::Column;
use crate::error::{caught, js};
use napi_derive::napi;
use simhash_index::Plan;

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
        let plan = Plan::choose(&choice(Some(plan)), max_distance, Some(capacity))?;
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
