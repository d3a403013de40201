//! Answers of the index as columns.

use crate::check::number;
use crate::columns::{Column, bitmap};
use crate::error::Failure;
use napi_derive::napi;
use simhash_index::{Matches, Outcome, Stats};

/// Ids of a batch that was added: consecutive.
#[napi(object, object_from_js = false)]
pub struct NativeAdded {
    pub first: f64,
    pub count: f64,
}

/// Matches of row i lie between `offsets[i]` and `offsets[i + 1]`.
#[napi(object, object_from_js = false)]
pub struct NativeMatches {
    #[napi(ts_type = "Uint32Array")]
    pub offsets: Column<u32>,
    #[napi(ts_type = "Float64Array")]
    pub ids: Column<f64>,
    #[napi(ts_type = "Uint8Array")]
    pub distances: Column<u8>,
    #[napi(ts_type = "Uint8Array")]
    pub truncated: Column<u8>,
}

impl NativeMatches {
    pub(super) fn of(found: &[Matches]) -> Result<Self, Failure> {
        let total: usize = found.iter().map(|row| row.matches.len()).sum();
        if u32::try_from(total).is_err() {
            let how =
                "2 ** 32 - 1 matches at most in one answer; set a limit or search fewer items";
            return Err(Failure::new("ERR_OUT_OF_RANGE", how));
        }
        let (mut offsets, mut end) = (Vec::with_capacity(found.len() + 1), 0);
        offsets.push(0);
        for row in found {
            end += row.matches.len() as u32;
            offsets.push(end);
        }
        let all = || found.iter().flat_map(|row| &row.matches);
        Ok(Self {
            offsets: Column(offsets),
            ids: Column(all().map(|found| number(found.id)).collect()),
            distances: Column(all().map(|found| found.distance as u8).collect()),
            truncated: bitmap(found.iter().map(|row| row.truncated)),
        })
    }
}

/// One row per item; NaN where it got no id, or had no match.
#[napi(object, object_from_js = false)]
pub struct NativeChecked {
    #[napi(ts_type = "Float64Array")]
    pub ids: Column<f64>,
    #[napi(ts_type = "Float64Array")]
    pub duplicate_of: Column<f64>,
    #[napi(ts_type = "Uint8Array")]
    pub distances: Column<u8>,
}

impl NativeChecked {
    pub(super) fn of(outcomes: &[Outcome]) -> Self {
        let id = |id: Option<u64>| id.map_or(f64::NAN, number);
        let near = |outcome: &Outcome| outcome.duplicate_of.map(|near| near.id);
        let distance = |outcome: &Outcome| outcome.duplicate_of.map_or(0, |near| near.distance);
        Self {
            ids: Column(outcomes.iter().map(|outcome| id(outcome.id)).collect()),
            duplicate_of: Column(outcomes.iter().map(|outcome| id(near(outcome))).collect()),
            distances: Column(outcomes.iter().map(|outcome| distance(outcome) as u8).collect()),
        }
    }
}

/// The outcome of one check-and-add.
#[napi(object, object_from_js = false)]
pub struct NativeOutcome {
    pub id: Option<f64>,
    pub duplicate_of: Option<f64>,
    pub distance: Option<u32>,
}

impl From<Outcome> for NativeOutcome {
    fn from(outcome: Outcome) -> Self {
        Self {
            id: outcome.id.map(number),
            duplicate_of: outcome.duplicate_of.map(|near| number(near.id)),
            distance: outcome.duplicate_of.map(|near| near.distance),
        }
    }
}

/// Counts and bytes of an index.
#[napi(object, object_from_js = false)]
pub struct NativeStats {
    pub live: f64,
    pub fingerprints: f64,
    pub dead: f64,
    pub front: f64,
    pub runs: Vec<f64>,
    pub plan: String,
    pub tables: u32,
    pub table_bytes: f64,
    pub id_bytes: f64,
    pub window_bytes: f64,
    pub huge_pages: bool,
    pub merging: bool,
    pub truncated: f64,
}

impl From<Stats> for NativeStats {
    fn from(stats: Stats) -> Self {
        let count = |value: usize| number(value as u64);
        Self {
            live: number(stats.live),
            fingerprints: count(stats.fingerprints),
            dead: count(stats.dead),
            front: count(stats.front),
            runs: stats.runs.into_iter().map(count).collect(),
            plan: stats.plan,
            tables: stats.tables as u32,
            table_bytes: count(stats.table_bytes),
            id_bytes: count(stats.id_bytes),
            window_bytes: count(stats.window_bytes),
            huge_pages: stats.huge_pages,
            merging: stats.merging,
            truncated: number(stats.truncated),
        }
    }
}
