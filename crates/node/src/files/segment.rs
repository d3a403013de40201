//! The command `segment` for JavaScript.

use super::form::NativeForm;
use super::{NativeProgress, NativeSummary, inputs, start, target};
use crate::error::js;
use crate::lexicon::NativeDictionary;
use crate::task::Cancel;
use napi::Env;
use napi::bindgen_prelude::{ClassInstance, Function, Object};
use napi::threadsafe_function::UnknownReturnValue;
use napi_derive::napi;
use simhash_dedup::{
    LineOutputs, Progress, ReadOptions, SegmentOptions, Summary, segment_files as core,
};
use std::sync::atomic::AtomicBool;

/// A run over files that says the words of each document.
#[napi(object, object_to_js = false)]
pub struct NativeSegmentOptions<'env> {
    pub inputs: Vec<String>,
    pub output: String,
    pub rejects: Option<String>,
    pub dictionary: Option<ClassInstance<'env, NativeDictionary>>,
    pub hmm: bool,
    pub json: bool,
    pub form: NativeForm,
    pub threads: u32,
}

/// Writes the words of each document of files, on threads of its own.
#[napi(catch_unwind, ts_return_type = "Promise<NativeSummary>")]
pub fn segment_files<'env>(
    env: &'env Env,
    options: NativeSegmentOptions<'_>,
    on_progress: Option<Function<'_, NativeProgress, UnknownReturnValue>>,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let NativeSegmentOptions { hmm, json, threads, .. } = options;
    let (fields, form) = options.form.core()?;
    let dictionary = options.dictionary.as_ref().map(|words| words.now());
    let read = ReadOptions { fields, form, threads: threads as usize };
    let segment = SegmentOptions { dictionary, hmm, json, read };
    let inputs = inputs(options.inputs);
    let outputs = LineOutputs {
        lines: Some(target(options.output, cancel)),
        rejects: options.rejects.map(|name| target(name, cancel)),
    };
    let work = move |report: &dyn Fn(&Progress), flag: &AtomicBool| {
        core(&inputs, &outputs, &segment, report, flag)
    };
    start::<Summary, NativeSummary>(env, threads, on_progress, cancel, work)
}
