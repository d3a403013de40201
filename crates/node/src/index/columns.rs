//! Answers of an index as columns.

use crate::check::number;
use crate::columns::{Column, bitmap};
use crate::error::Failure;
use napi_derive::napi;
use simhash_dedup::DedupError;
use simhash_dedup::live::{CheckedMany, LiveIndex, Near};
use simhash_index::{Added, Answer};

/// Ids of a batch that was added.
#[napi(object, object_from_js = false)]
pub struct NativeAdded {
    pub first: f64,
    pub count: f64,
    /// First id and number of each stretch, where other calls added in between and the ids are not consecutive.
    #[napi(ts_type = "Float64Array")]
    pub ranges: Option<Column<f64>>,
    /// Why the items behind these were not added.
    pub stopped: Option<NativeStopped>,
}

/// Why a batch has ended before its end.
#[napi(object, object_from_js = false)]
pub struct NativeStopped {
    pub code: String,
    pub message: String,
}

impl From<DedupError> for NativeStopped {
    fn from(error: DedupError) -> Self {
        let (code, message) = Failure::from(error).into_parts();
        Self { code: code.to_owned(), message }
    }
}

impl From<Added> for NativeAdded {
    fn from(added: Added) -> Self {
        let ranges = added.ranges();
        let each = ranges.iter().flat_map(|ids| [number(ids.start), number(ids.end - ids.start)]);
        Self {
            first: number(added.first()),
            count: number(added.len()),
            ranges: (ranges.len() > 1).then(|| Column(each.collect())),
            stopped: None,
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
    /// NaN where none is known.
    #[napi(ts_type = "Float64Array")]
    pub similarities: Column<f64>,
    #[napi(ts_type = "Uint32Array")]
    pub measures: Column<u32>,
    /// A bit for each match.
    #[napi(ts_type = "Uint8Array")]
    pub verified: Column<u8>,
    /// A bit for each row.
    #[napi(ts_type = "Uint8Array")]
    pub truncated: Column<u8>,
    /// One for each id, in an index that keeps keys.
    #[napi(ts_type = "Array<string | null>")]
    pub keys: Option<Vec<Option<String>>>,
}

impl NativeMatches {
    pub(super) fn of(found: &[Answer<Near>], live: &LiveIndex) -> Result<Self, Failure> {
        let all: Vec<Near> = found.iter().flat_map(|row| row.matches.iter().copied()).collect();
        if u32::try_from(all.len()).is_err() {
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
        let keys = live.options().stored.keys;
        Ok(Self {
            offsets: Column(offsets),
            ids: Column(all.iter().map(|near| number(near.id)).collect()),
            similarities: Column(all.iter().map(similarity).collect()),
            measures: Column(all.iter().map(|near| near.measure).collect()),
            verified: bitmap(all.iter().map(|near| near.verified)),
            truncated: bitmap(found.iter().map(|row| row.truncated)),
            keys: keys.then(|| all.iter().map(|near| live.key_of(near.id)).collect()),
        })
    }
}

pub(super) fn similarity(near: &Near) -> f64 {
    near.similarity.unwrap_or(f64::NAN)
}

/// One row per item; NaN where it got no id, or had no match.
#[napi(object, object_from_js = false)]
pub struct NativeChecked {
    #[napi(ts_type = "Float64Array")]
    pub ids: Column<f64>,
    #[napi(ts_type = "Float64Array")]
    pub duplicate_of: Column<f64>,
    /// NaN where none is known.
    #[napi(ts_type = "Float64Array")]
    pub similarities: Column<f64>,
    #[napi(ts_type = "Uint32Array")]
    pub measures: Column<u32>,
    #[napi(ts_type = "Uint8Array")]
    pub verified: Column<u8>,
    #[napi(ts_type = "Uint8Array")]
    pub truncated: Column<u8>,
    /// That of each match, in an index that keeps keys.
    #[napi(ts_type = "Array<string | null>")]
    pub keys: Option<Vec<Option<String>>>,
    /// A bit for each row: it was answered as before.
    #[napi(ts_type = "Uint8Array")]
    pub repeated: Column<u8>,
    /// Why the items behind these were not looked at.
    pub stopped: Option<NativeStopped>,
}

impl From<CheckedMany> for NativeChecked {
    fn from(CheckedMany { checked: all, keys }: CheckedMany) -> Self {
        let near = || all.iter().map(|checked| checked.duplicate_of);
        Self {
            ids: Column(all.iter().map(|checked| id(checked.id)).collect()),
            duplicate_of: Column(near().map(|near| id(near.map(|near| near.id))).collect()),
            similarities: Column(
                near().map(|near| near.as_ref().map_or(f64::NAN, similarity)).collect(),
            ),
            measures: Column(near().map(|near| near.map_or(0, |near| near.measure)).collect()),
            verified: bitmap(near().map(|near| near.is_some_and(|near| near.verified))),
            truncated: bitmap(all.iter().map(|checked| checked.truncated)),
            keys,
            repeated: bitmap(all.iter().map(|checked| checked.repeated)),
            stopped: None,
        }
    }
}

/// An id, or NaN.
pub(super) fn id(id: Option<u64>) -> f64 {
    id.map_or(f64::NAN, number)
}
