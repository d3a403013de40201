//! Answers of an index of sentences as columns.

use crate::check::number;
use crate::columns::{Column, bitmap};
use crate::error::Failure;
use napi_derive::napi;
use simhash_index::Outcome;
use simhash_index::sentences::{SentenceStats, Shared, SharedMatches};

/// Matches of row i lie between `offsets[i]` and `offsets[i + 1]`.
#[napi(object, object_from_js = false)]
pub struct NativeSentenceMatches {
    #[napi(ts_type = "Uint32Array")]
    pub offsets: Column<u32>,
    #[napi(ts_type = "Float64Array")]
    pub ids: Column<f64>,
    #[napi(ts_type = "Uint8Array")]
    pub shared: Column<u8>,
    #[napi(ts_type = "Uint8Array")]
    pub truncated: Column<u8>,
}

impl NativeSentenceMatches {
    pub(super) fn of(found: &[SharedMatches]) -> Result<Self, Failure> {
        let (mut offsets, mut end) = (Vec::with_capacity(found.len() + 1), 0usize);
        offsets.push(0);
        for row in found {
            end += row.matches.len();
            offsets.push(u32::try_from(end).map_err(|_| {
                let how =
                    "2 ** 32 - 1 matches at most in one answer; set a limit or search fewer texts";
                Failure::new("ERR_OUT_OF_RANGE", how)
            })?);
        }
        let all = || found.iter().flat_map(|row| &row.matches);
        Ok(Self {
            offsets: Column(offsets),
            ids: Column(all().map(|found| number(found.id)).collect()),
            shared: Column(all().map(|found| found.shared as u8).collect()),
            truncated: bitmap(found.iter().map(|row| row.truncated)),
        })
    }
}

/// One row per text; NaN where it got no id, or had no match.
#[napi(object, object_from_js = false)]
pub struct NativeSentenceChecked {
    #[napi(ts_type = "Float64Array")]
    pub ids: Column<f64>,
    #[napi(ts_type = "Float64Array")]
    pub duplicate_of: Column<f64>,
    #[napi(ts_type = "Uint8Array")]
    pub shared: Column<u8>,
}

impl NativeSentenceChecked {
    pub(super) fn of(outcomes: &[Outcome<Shared>]) -> Self {
        let id = |id: Option<u64>| id.map_or(f64::NAN, number);
        let near = outcomes.iter().map(|outcome| outcome.duplicate_of);
        Self {
            ids: Column(outcomes.iter().map(|outcome| id(outcome.id)).collect()),
            duplicate_of: Column(near.clone().map(|near| id(near.map(|near| near.id))).collect()),
            shared: Column(near.map(|near| near.map_or(0, |near| near.shared as u8)).collect()),
        }
    }
}

/// The outcome of one text.
#[napi(object, object_from_js = false)]
pub struct NativeSentenceOutcome {
    pub id: Option<f64>,
    pub duplicate_of: Option<f64>,
    pub shared: Option<u32>,
}

impl From<Outcome<Shared>> for NativeSentenceOutcome {
    fn from(Outcome { id, duplicate_of, .. }: Outcome<Shared>) -> Self {
        Self {
            id: id.map(number),
            duplicate_of: duplicate_of.map(|near| number(near.id)),
            shared: duplicate_of.map(|near| near.shared),
        }
    }
}

/// Counts and bytes.
#[napi(object, object_from_js = false)]
pub struct NativeSentenceStats {
    pub live: f64,
    pub groups: f64,
    pub sketches: f64,
    pub bytes: f64,
    pub window_bytes: f64,
    pub file_bytes: f64,
    pub torn_bytes: f64,
    pub truncated: f64,
}

impl From<SentenceStats> for NativeSentenceStats {
    fn from(stats: SentenceStats) -> Self {
        Self {
            live: number(stats.live),
            groups: number(stats.groups as u64),
            sketches: number(stats.sketches as u64),
            bytes: number(stats.bytes as u64),
            window_bytes: number(stats.window_bytes as u64),
            file_bytes: number(stats.file_bytes),
            torn_bytes: number(stats.torn_bytes),
            truncated: number(stats.truncated),
        }
    }
}
