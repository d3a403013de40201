//! Answers of the index as columns.

use super::shared::Shared;
use crate::check::number;
use crate::columns::{Column, bitmap};
use crate::error::Failure;
use napi_derive::napi;
use simhash_dedup::online::Checked;
use simhash_index::{Added, Matches, Stats};

/// Ids of a batch that was added.
#[napi(object, object_from_js = false)]
pub struct NativeAdded {
    pub first: f64,
    pub count: f64,
    /// First id and number of each stretch, where other calls added in between and the ids are not consecutive.
    #[napi(ts_type = "Float64Array")]
    pub ranges: Option<Column<f64>>,
}

impl From<Added> for NativeAdded {
    fn from(added: Added) -> Self {
        let ranges = added.ranges();
        let each = ranges.iter().flat_map(|ids| [number(ids.start), number(ids.end - ids.start)]);
        Self {
            first: number(added.first()),
            count: number(added.len()),
            ranges: (ranges.len() > 1).then(|| Column(each.collect())),
        }
    }
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
    /// One for each id, in an index that keeps keys.
    #[napi(ts_type = "Array<string | null>")]
    pub keys: Option<Vec<Option<String>>>,
}

impl NativeMatches {
    pub(super) fn of(
        found: &[Matches],
        key_of: Option<&dyn Fn(u64) -> Option<String>>,
    ) -> Result<Self, Failure> {
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
            keys: key_of.map(|key_of| all().map(|found| key_of(found.id)).collect()),
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
    /// NaN where no texts were compared.
    #[napi(ts_type = "Float64Array")]
    pub similarities: Column<f64>,
}

impl NativeChecked {
    pub(super) fn of(all: &[Checked]) -> Self {
        let id = |id: Option<u64>| id.map_or(f64::NAN, number);
        let near = |of: &Checked| of.outcome.duplicate_of.map(|near| near.id);
        let distance = |of: &Checked| of.outcome.duplicate_of.map_or(0, |near| near.distance);
        Self {
            ids: Column(all.iter().map(|of| id(of.outcome.id)).collect()),
            duplicate_of: Column(all.iter().map(|of| id(near(of))).collect()),
            distances: Column(all.iter().map(|of| distance(of) as u8).collect()),
            similarities: Column(all.iter().map(|of| of.similarity.unwrap_or(f64::NAN)).collect()),
        }
    }
}

/// The outcome of one check-and-add.
#[napi(object, object_from_js = false)]
pub struct NativeOutcome {
    pub id: Option<f64>,
    pub duplicate_of: Option<f64>,
    pub distance: Option<u32>,
    pub similarity: Option<f64>,
}

impl From<Checked> for NativeOutcome {
    fn from(Checked { outcome, similarity }: Checked) -> Self {
        Self {
            similarity,
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
    pub memtable: f64,
    pub segments: Vec<f64>,
    pub plan: String,
    pub tables: u32,
    pub table_bytes: f64,
    pub id_bytes: f64,
    pub window_bytes: f64,
    pub key_bytes: f64,
    pub text_bytes: f64,
    pub huge_pages: bool,
    pub merging: bool,
    pub truncated: f64,
}

impl NativeStats {
    pub(super) fn of(stats: Stats, shared: &Shared) -> Self {
        let (keys, texts) = shared.online.bytes();
        let count = |value: usize| number(value as u64);
        Self {
            live: number(stats.live),
            fingerprints: count(stats.fingerprints),
            dead: count(stats.dead),
            memtable: count(stats.memtable),
            segments: stats.segments.into_iter().map(count).collect(),
            plan: stats.plan,
            tables: stats.tables as u32,
            table_bytes: count(stats.table_bytes),
            id_bytes: count(stats.id_bytes),
            window_bytes: count(stats.window_bytes),
            key_bytes: count(keys),
            text_bytes: count(texts),
            huge_pages: stats.huge_pages,
            merging: stats.merging,
            truncated: number(stats.truncated + shared.online.truncated()),
        }
    }
}
