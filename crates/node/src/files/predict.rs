//! What a run over files will take, for JavaScript.

use super::{NativeFileOptions, Run, number, start};
use crate::check;
use crate::error::js;
use crate::task::Cancel;
use napi::Env;
use napi::bindgen_prelude::Object;
use napi_derive::napi;
use simhash_dedup::{Prediction, Progress, predict_files as core};
use std::sync::atomic::AtomicBool;

/// What a run will take.
#[napi(object, object_from_js = false)]
pub struct NativePrediction {
    pub documents: f64,
    pub sampled: f64,
    pub is_whole: bool,
    pub bytes: f64,
    pub memory: f64,
    pub disk: f64,
    pub copies: f64,
    pub least_seconds: f64,
    pub most_seconds: f64,
}

impl From<Prediction> for NativePrediction {
    fn from(found: Prediction) -> Self {
        Self {
            documents: number(found.documents),
            sampled: number(found.sampled),
            is_whole: found.is_whole,
            bytes: number(found.bytes),
            memory: number(found.memory),
            disk: number(found.disk),
            copies: number(found.copies),
            least_seconds: found.cpu_seconds.0,
            most_seconds: found.cpu_seconds.1,
        }
    }
}

/// Says from a sample what a run over files will take, on threads of its own; of `whole` bytes, where the inputs themselves are a sample of so many.
#[napi(catch_unwind, ts_return_type = "Promise<NativePrediction>")]
pub fn predict_files<'env>(
    env: &'env Env,
    options: NativeFileOptions<'_>,
    whole: Option<f64>,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let threads = options.dedup.threads;
    let Run { inputs, known, options, .. } = Run::new(options, cancel)?;
    let known = known.unwrap_or_default();
    let of = whole.map(|bytes| check::whole(bytes, "whole")).transpose()?;
    let work =
        move |_: &dyn Fn(&Progress), flag: &AtomicBool| core(&inputs, &known, &options, of, flag);
    start::<Prediction, NativePrediction>(env, threads, None, cancel, work)
}
