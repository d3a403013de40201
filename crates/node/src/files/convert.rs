//! `convertIndex` for JavaScript.

use crate::check::number;
use crate::error::js;
use crate::fingerprinter::NativeFingerprinterOptions;
use crate::task::{self, Cancel, Place};
use napi::Env;
use napi::bindgen_prelude::Object;
use napi_derive::napi;
use simhash_dedup::convert::convert;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// What was converted.
#[napi(object, object_from_js = false)]
pub struct NativeConverted {
    #[napi(ts_type = "'minhash' | 'simhash' | 'sentences' | 'exact'")]
    pub method: String,
    pub documents: f64,
    pub torn_bytes: f64,
}

/// Makes a directory of the index in a file. Of `words` dictionary, stop words and idf table count.
#[napi(catch_unwind, ts_return_type = "Promise<NativeConverted>")]
pub fn convert_index<'env>(
    env: &'env Env,
    old: String,
    directory: String,
    words: NativeFingerprinterOptions<'_>,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let (old, directory) = (PathBuf::from(old), PathBuf::from(directory));
    let words = words.core()?.extract;
    let work = move |flag: &AtomicBool| {
        let done = convert(&old, &directory, &words, flag)?;
        let (documents, torn_bytes) = (number(done.documents), number(done.torn_bytes));
        Ok(NativeConverted { method: done.method.to_owned(), documents, torn_bytes })
    };
    task::start(env, Place::Shared, cancel, work, |_| {})
}
