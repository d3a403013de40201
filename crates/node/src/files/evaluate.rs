//! The commands `eval` and `tune` for JavaScript: what they read of files.

use super::form::NativeForm;
use super::{NativeRejected, inputs};
use crate::check::number;
use crate::error::{Failure, js};
use crate::evaluate::NativeEvaluation;
use crate::fingerprinter::NativeFingerprinterOptions;
use crate::task::{self, Cancel, Place};
use napi::Env;
use napi::bindgen_prelude::Object;
use napi_derive::napi;
use simhash_dedup::{
    EvaluateOptions, ReadOptions, Sample, SampleOptions, Scored, evaluate_files, sample_files,
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

/// A document of a sample.
#[napi(object, object_from_js = false)]
pub struct NativeSampled {
    pub id: String,
    pub text: String,
}

/// A labelled pair, by id.
#[napi(object, object_from_js = false)]
pub struct NativeStatedPair {
    pub a: String,
    pub b: String,
    pub similarity: f64,
}

/// Documents of files, and what is stated of them.
#[napi(object, object_from_js = false)]
pub struct NativeSampleOfFiles {
    pub documents: Vec<NativeSampled>,
    pub clusters: Vec<Vec<String>>,
    pub pairs: Vec<NativeStatedPair>,
    pub rejected: f64,
    pub first_rejected: Vec<NativeRejected>,
}

impl From<Sample> for NativeSampleOfFiles {
    fn from(sample: Sample) -> Self {
        let document = |(id, text)| NativeSampled { id, text };
        let pair = |(a, b, similarity)| NativeStatedPair { a, b, similarity };
        let summary = sample.summary;
        Self {
            documents: sample.documents.into_iter().map(document).collect(),
            clusters: sample.clusters,
            pairs: sample.pairs.into_iter().map(pair).collect(),
            rejected: number(summary.rejected),
            first_rejected: summary.first_rejected.into_iter().map(NativeRejected::from).collect(),
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

/// Draws a sample of the documents of files on threads of its own.
#[napi(catch_unwind, ts_return_type = "Promise<NativeSampleOfFiles>")]
pub fn sample_of_files<'env>(
    env: &'env Env,
    files: NativeStatedFiles<'_>,
    size: u32,
    seed: u32,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let read = files.read()?;
    let fingerprinter = files.fingerprinter.core()?;
    let options = SampleOptions { size, seed, fingerprinter, least: files.least, read };
    let documents = inputs(files.documents.unwrap_or_default());
    let labels = files.labels.map(inputs);
    let work = move |flag: &AtomicBool| {
        let sample = sample_files(&documents, labels.as_deref(), &options, flag)?;
        Ok(NativeSampleOfFiles::from(sample))
    };
    task::start(env, Place::Own(files.threads), cancel, work, |_| {})
}
