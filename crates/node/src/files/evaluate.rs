//! The commands `eval` and `tune` for JavaScript.

use super::form::NativeForm;
use super::{NativeRejected, inputs, telling};
use crate::check::number;
use crate::deduper::NativeDedupOptions;
use crate::error::{Failure, js};
use crate::evaluate::NativeEvaluation;
use crate::fingerprinter::NativeFingerprinterOptions;
use crate::task::{self, Cancel, Place};
use napi::Env;
use napi::bindgen_prelude::{Function, Object};
use napi::threadsafe_function::UnknownReturnValue;
use napi_derive::napi;
use simhash_dedup::{
    DedupOptions, EvaluateOptions, ReadOptions, SampleOptions, Scored, Trial, Tuned,
    evaluate_files, tune_files as core,
};
use std::sync::atomic::AtomicBool;

/// Files with labels or results, and perhaps documents.
#[napi(object, object_to_js = false)]
pub struct NativeStatedFiles<'env> {
    pub fingerprinter: NativeFingerprinterOptions<'env>,
    /// Similarity from which two documents are duplicates.
    pub least: f64,
    pub labels: Option<Vec<String>>,
    pub documents: Option<Vec<String>>,
    pub form: NativeForm,
    pub threads: u32,
}

impl NativeStatedFiles<'_> {
    fn read(&self) -> Result<ReadOptions, Failure> {
        let (fields, form) = self.form.core()?;
        Ok(ReadOptions { fields, form, threads: self.threads as usize })
    }
}

/// The scores of a result, and what of the files they leave out.
#[napi(object, object_from_js = false)]
pub struct NativeScored {
    pub figures: NativeEvaluation,
    pub unknown_decisions: f64,
    pub unknown_labels: f64,
    pub rejected: f64,
    pub first_rejected: Vec<NativeRejected>,
}

impl From<Scored> for NativeScored {
    fn from(scored: Scored) -> Self {
        Self {
            figures: scored.evaluation.into(),
            unknown_decisions: number(scored.unknown_decisions),
            unknown_labels: number(scored.unknown_labels),
            rejected: number(scored.rejected),
            first_rejected: scored.first_rejected.into_iter().map(NativeRejected::from).collect(),
        }
    }
}

/// What a way to deduplicate a sample has come to.
#[napi(object, object_from_js = false)]
pub struct NativeTrial {
    pub figures: NativeEvaluation,
    pub unknown_labels: f64,
    pub index_bytes: f64,
    pub seconds: f64,
}

impl From<&Trial> for NativeTrial {
    fn from(trial: &Trial) -> Self {
        Self {
            figures: trial.evaluation.clone().into(),
            unknown_labels: number(trial.unknown_labels),
            index_bytes: number(trial.index_bytes),
            seconds: trial.seconds,
        }
    }
}

/// What all of them have come to.
#[napi(object, object_from_js = false)]
pub struct NativeTuned {
    pub documents: f64,
    pub trials: Vec<NativeTrial>,
    pub rejected: f64,
    pub first_rejected: Vec<NativeRejected>,
}

impl From<Tuned> for NativeTuned {
    fn from(tuned: Tuned) -> Self {
        Self {
            documents: number(tuned.documents),
            trials: tuned.trials.iter().map(NativeTrial::from).collect(),
            rejected: number(tuned.rejected),
            first_rejected: tuned.first_rejected.into_iter().map(NativeRejected::from).collect(),
        }
    }
}

/// Scores the result in a file on threads of its own.
#[napi(catch_unwind, ts_return_type = "Promise<NativeScored>")]
pub fn evaluate_result_file<'env>(
    env: &'env Env,
    result: String,
    files: NativeStatedFiles<'_>,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let read = files.read()?;
    let fingerprinter = files.fingerprinter.core()?;
    let options = EvaluateOptions { fingerprinter, least: files.least, read };
    let result = inputs(vec![result]);
    let labels = inputs(files.labels.unwrap_or_default());
    let documents = files.documents.map(inputs);
    let work = move |flag: &AtomicBool| {
        let scored = evaluate_files(&result, &labels, documents.as_deref(), &options, flag)?;
        Ok(NativeScored::from(scored))
    };
    task::start(env, Place::Own(files.threads), cancel, work, |_| {})
}

/// Tries ways to deduplicate files on a sample of `size` documents and those near them, on threads of its own. `on_trial` is called
/// after each.
#[napi(catch_unwind, ts_return_type = "Promise<NativeTuned>")]
pub fn tune_files<'env>(
    env: &'env Env,
    files: NativeStatedFiles<'_>,
    size: u32,
    seed: u32,
    trials: Vec<NativeDedupOptions<'_>>,
    on_trial: Option<Function<'_, NativeTrial, UnknownReturnValue>>,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let read = files.read()?;
    let fingerprinter = files.fingerprinter.core()?;
    let options = SampleOptions { size, seed, fingerprinter, least: files.least, read };
    let documents = inputs(files.documents.unwrap_or_default());
    let labels = files.labels.map(inputs);
    let trials: Vec<DedupOptions> =
        trials.iter().map(NativeDedupOptions::core).collect::<Result<_, _>>()?;
    let told = telling::<Trial, NativeTrial, 0>(on_trial)?;
    let work = move |flag: &AtomicBool| {
        let tuned = core(&documents, labels.as_deref(), &options, &trials, &told, flag)?;
        Ok(NativeTuned::from(tuned))
    };
    task::start(env, Place::Own(files.threads), cancel, work, |_| {})
}
