//! Answers of an index of signatures as columns.

use crate::check::number;
use crate::columns::{Column, bitmap};
use crate::error::Failure;
use napi_derive::napi;
use simhash_index::Outcome;
use simhash_index::bands::{BandMatch, BandMatches, BandStats};

/// Matches of row i lie between `offsets[i]` and `offsets[i + 1]`. Similarities are NaN where no signatures are kept.
#[napi(object, object_from_js = false)]
pub struct NativeBandMatches {
    #[napi(ts_type = "Uint32Array")]
    pub offsets: Column<u32>,
    #[napi(ts_type = "Float64Array")]
    pub ids: Column<f64>,
    #[napi(ts_type = "Float64Array")]
    pub similarities: Column<f64>,
    #[napi(ts_type = "Uint32Array")]
    pub bands: Column<u32>,
    #[napi(ts_type = "Uint8Array")]
    pub truncated: Column<u8>,
}

fn similarity(found: &BandMatch) -> f64 {
    found.similarity.unwrap_or(f64::NAN)
}

impl NativeBandMatches {
    pub(super) fn of(found: &[BandMatches]) -> Result<Self, Failure> {
        let (mut offsets, mut end) = (vec![0], 0_usize);
        for row in found {
            end += row.matches.len();
            offsets.push(u32::try_from(end).map_err(|_| {
                let how =
                    "2 ** 32 - 1 matches at most in one answer; set a limit or search fewer items";
                Failure::new("ERR_OUT_OF_RANGE", how)
            })?);
        }
        let all = || found.iter().flat_map(|row| &row.matches);
        Ok(Self {
            offsets: Column(offsets),
            ids: Column(all().map(|found| number(found.id)).collect()),
            similarities: Column(all().map(similarity).collect()),
            bands: Column(all().map(|found| found.bands).collect()),
            truncated: bitmap(found.iter().map(|row| row.truncated)),
        })
    }
}

/// One row per item; NaN where it got no id, or had no match.
#[napi(object, object_from_js = false)]
pub struct NativeBandChecked {
    #[napi(ts_type = "Float64Array")]
    pub ids: Column<f64>,
    #[napi(ts_type = "Float64Array")]
    pub duplicate_of: Column<f64>,
    #[napi(ts_type = "Float64Array")]
    pub similarities: Column<f64>,
    #[napi(ts_type = "Uint32Array")]
    pub bands: Column<u32>,
    #[napi(ts_type = "Uint8Array")]
    pub truncated: Column<u8>,
}

impl NativeBandChecked {
    pub(super) fn of(outcomes: &[Outcome<BandMatch>]) -> Self {
        let id = |id: Option<u64>| id.map_or(f64::NAN, number);
        let near = || outcomes.iter().map(|outcome| outcome.duplicate_of);
        Self {
            ids: Column(outcomes.iter().map(|outcome| id(outcome.id)).collect()),
            duplicate_of: Column(near().map(|near| id(near.map(|near| near.id))).collect()),
            similarities: Column(
                near().map(|near| near.as_ref().map_or(f64::NAN, similarity)).collect(),
            ),
            bands: Column(near().map(|near| near.map_or(0, |near| near.bands)).collect()),
            truncated: bitmap(outcomes.iter().map(|outcome| outcome.truncated)),
        }
    }
}

/// The outcome of one check-and-add.
#[napi(object, object_from_js = false)]
pub struct NativeBandOutcome {
    pub id: Option<f64>,
    pub duplicate_of: Option<f64>,
    pub similarity: Option<f64>,
    pub bands: Option<u32>,
    pub truncated: bool,
}

impl From<Outcome<BandMatch>> for NativeBandOutcome {
    fn from(outcome: Outcome<BandMatch>) -> Self {
        let near = outcome.duplicate_of;
        Self {
            id: outcome.id.map(number),
            duplicate_of: near.map(|near| number(near.id)),
            similarity: near.and_then(|near| near.similarity),
            bands: near.map(|near| near.bands),
            truncated: outcome.truncated,
        }
    }
}

/// Counts and bytes of an index.
#[napi(object, object_from_js = false)]
pub struct NativeBandStats {
    pub live: f64,
    pub dead: f64,
    pub entries: f64,
    pub crowded: f64,
    pub bands: u32,
    pub rows: u32,
    pub table_bytes: f64,
    pub id_bytes: f64,
    pub signature_bytes: f64,
    pub window_bytes: f64,
    pub truncated: f64,
}

impl From<BandStats> for NativeBandStats {
    fn from(stats: BandStats) -> Self {
        let bytes = |bytes: usize| number(bytes as u64);
        Self {
            live: number(stats.live),
            dead: number(stats.dead),
            entries: number(stats.entries),
            crowded: number(stats.crowded),
            bands: stats.plan.bands as u32,
            rows: stats.plan.rows as u32,
            table_bytes: bytes(stats.table_bytes),
            id_bytes: bytes(stats.id_bytes),
            signature_bytes: bytes(stats.signature_bytes),
            window_bytes: bytes(stats.window_bytes),
            truncated: number(stats.truncated),
        }
    }
}
