//! Answers of the index as columns.

use crate::check::number;
use crate::columns::{Column, bitmap};
use crate::error::Failure;
use napi_derive::napi;
use simhash_index::{Checked, Matches, Stats};

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

/// One row per item: its new id, or the id of the match and the distance to it.
#[napi(object, object_from_js = false)]
pub struct NativeChecked {
    #[napi(ts_type = "Float64Array")]
    pub ids: Column<f64>,
    #[napi(ts_type = "Uint8Array")]
    pub distances: Column<u8>,
    #[napi(ts_type = "Uint8Array")]
    pub duplicate: Column<u8>,
}

impl NativeChecked {
    pub(super) fn of(checked: &[Checked]) -> Self {
        let row = |answer: &Checked| match answer {
            Checked::Added(id) => (*id, 0),
            Checked::Duplicate(near) => (near.id, near.distance),
        };
        Self {
            ids: Column(checked.iter().map(|answer| number(row(answer).0)).collect()),
            distances: Column(checked.iter().map(|answer| row(answer).1 as u8).collect()),
            duplicate: bitmap(checked.iter().map(|answer| matches!(answer, Checked::Duplicate(_)))),
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
            truncated: number(stats.truncated),
        }
    }
}
