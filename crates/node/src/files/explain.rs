//! The command `explain` for JavaScript: two texts, of files or not, and what the engine decides.

use super::form::NativeForm;
use super::{NativeRejected, inputs};
use crate::check::number;
use crate::deduper::NativeDedupOptions;
use crate::error::{Failure, js};
use crate::task::{self, Cancel, Place};
use napi::Env;
use napi::bindgen_prelude::Object;
use napi_derive::napi;
use simhash_dedup::{ReadOptions, find_texts, verdict};
use std::sync::atomic::AtomicBool;

/// The texts of some documents of files.
#[napi(object, object_from_js = false)]
pub struct NativeTextsOfFiles {
    /// By id that was asked for.
    #[napi(ts_type = "(string | undefined | null)[]")]
    pub texts: Vec<Option<String>>,
    pub rejected: f64,
    pub first_rejected: Vec<NativeRejected>,
}

/// Looks documents up by id.
#[napi(catch_unwind, ts_return_type = "Promise<NativeTextsOfFiles>")]
pub fn texts_of_files<'env>(
    env: &'env Env,
    names: Vec<String>,
    ids: Vec<String>,
    form: NativeForm,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let (fields, form) = form.core()?;
    let options = ReadOptions { fields, form, threads: 0 };
    let names = inputs(names);
    let work = move |flag: &AtomicBool| {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let (texts, summary) = find_texts(&names, &ids, &options, flag)?;
        let first_rejected = summary.first_rejected.into_iter().map(NativeRejected::from).collect();
        Ok(NativeTextsOfFiles { texts, rejected: number(summary.rejected), first_rejected })
    };
    task::start(env, Place::Shared, cancel, work, |_| {})
}

/// What the engine decides of two texts, and what it looked at.
#[napi(object, object_from_js = false)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct NativeVerdict {
    pub duplicates: bool,
    pub equal: bool,
    pub empty: bool,
    pub short: bool,
    /// By the measure of the options.
    pub similarity: Option<f64>,
    pub distance: Option<u32>,
    /// Equal bands or sentences, and of how many.
    pub shared: Option<Vec<u32>>,
}

/// Decides two texts as deduplication does.
#[napi(catch_unwind)]
pub fn verdict_of(
    options: NativeDedupOptions<'_>,
    a: String,
    b: String,
) -> js::Result<NativeVerdict> {
    let told = verdict(&options.core()?, &a, &b).map_err(Failure::from)?;
    Ok(NativeVerdict {
        duplicates: told.duplicates,
        equal: told.equal,
        empty: told.empty,
        short: told.short,
        similarity: told.similarity,
        distance: told.distance,
        shared: told.shared.map(|(equal, of)| vec![equal, of]),
    })
}
