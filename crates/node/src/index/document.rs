//! What comes along with an item: its key, and how a near one is confirmed.

use crate::error::{Failure, unknown};
use napi_derive::napi;
use simhash_dedup::Measure;
use simhash_dedup::online::{OnlineIndex, Verify};

/// Longest key in bytes: names, not contents.
const LONGEST_KEY: usize = 1 << 16;

/// A key, if the index can keep it.
pub(super) fn checked_key<'a>(
    key: Option<&'a str>,
    online: &OnlineIndex,
) -> Result<Option<&'a str>, Failure> {
    let Some(key) = key else { return Ok(None) };
    if !online.stored().keys {
        let why = "key needs an index that keeps keys; make it with keys: true";
        return Err(Failure::new("ERR_INVALID_ARG_VALUE", why));
    }
    if key.is_empty() || key.len() > LONGEST_KEY {
        return Err(Failure::out_of_range("key", "a string of 1 to 65536 bytes"));
    }
    Ok(Some(key))
}

/// Keys of a batch; none: no item has one.
#[derive(Default)]
pub(super) struct Keys(Vec<Option<String>>);

impl Keys {
    pub(super) fn of(given: Option<Vec<Option<String>>>) -> Self {
        Self(given.unwrap_or_default())
    }

    /// A key, or none, for each of `count` items.
    pub(super) fn each(
        &self,
        count: usize,
        online: &OnlineIndex,
    ) -> Result<&[Option<String>], Failure> {
        if !self.0.is_empty() && self.0.len() != count {
            return Err(Failure::out_of_range("keys", "one for each item, undefined for none"));
        }
        for key in &self.0 {
            checked_key(key.as_deref(), online)?;
        }
        Ok(&self.0)
    }
}

/// How near documents are confirmed.
#[napi(object, object_to_js = false)]
pub struct NativeVerify {
    #[napi(ts_type = "'auto' | 'jaccard' | 'containment' | 'edit' | 'cosine'")]
    pub by: String,
    pub min_similarity: f64,
}

impl NativeVerify {
    pub(super) fn core(&self) -> Result<Verify, Failure> {
        let measure = match self.by.as_str() {
            "auto" => Measure::Auto,
            "jaccard" => Measure::Jaccard,
            "containment" => Measure::Containment,
            "edit" => Measure::Edit,
            "cosine" => Measure::Cosine,
            other => return Err(unknown("verify.by", other)),
        };
        let least = self.min_similarity;
        if !(least > 0.0 && least <= 1.0) {
            return Err(Failure::out_of_range("verify.minSimilarity", "above 0 and at most 1"));
        }
        Ok(Verify { measure, least })
    }
}

/// Verification that has texts to work with.
pub(super) fn checked_verify(
    verify: Option<&NativeVerify>,
    has_texts: bool,
) -> Result<Option<Verify>, Failure> {
    if verify.is_some() && !has_texts {
        let why = "verify needs texts: make the index with storeShortTexts, or pass textOf to checkAndAdd";
        return Err(Failure::new("ERR_INVALID_ARG_VALUE", why));
    }
    verify.map(NativeVerify::core).transpose()
}
