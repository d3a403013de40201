//! Scores of a result for JavaScript: columns of document numbers in, figures out.

mod truth;

use crate::check::number;
use crate::error::{Failure, js};
use crate::fingerprinter::NativeFingerprinter;
use crate::pool;
use crate::task::{self, Cancel, Place};
use crate::text::{Accept, Given, Texts};
use napi::Env;
use napi::bindgen_prelude::{Float64Array, Object, Uint32Array, Unknown};
use napi_derive::napi;
use simhash_dedup::evaluate::{
    DocumentTexts, Evaluation, LabelledPair, Labels, Reported, Verification, evaluate as core,
};
use std::sync::atomic::AtomicBool;

/// List i has the numbers between `offsets[i]` and `offsets[i + 1]`.
#[napi(object, object_to_js = false)]
pub struct NativeLists {
    pub offsets: Uint32Array,
    pub numbers: Uint32Array,
}

/// The same, copied: what JavaScript holds may change while the job runs.
struct Lists {
    offsets: Vec<u32>,
    numbers: Vec<u32>,
}

impl From<NativeLists> for Lists {
    fn from(given: NativeLists) -> Self {
        Self { offsets: given.offsets.to_vec(), numbers: given.numbers.to_vec() }
    }
}

impl Lists {
    fn core(&self) -> Result<Vec<Vec<u32>>, Failure> {
        let list = |ends: &[u32]| {
            let numbers = self.numbers.get(ends[0] as usize..ends[1] as usize);
            numbers.map(<[u32]>::to_vec).ok_or_else(|| Failure::internal("offsets beyond numbers"))
        };
        self.offsets.windows(2).map(list).collect()
    }
}

/// What is known to be true of documents `0..documents`.
#[napi(object, object_to_js = false)]
pub struct NativeLabels {
    pub documents: u32,
    pub least: f64,
    pub groups: NativeLists,
    pub a: Uint32Array,
    pub b: Uint32Array,
    pub similarity: Float64Array,
}

impl NativeLabels {
    fn pairs(&self) -> Vec<LabelledPair> {
        let ends = self.a.iter().zip(&*self.b).zip(&*self.similarity);
        ends.map(|((&a, &b), &similarity)| LabelledPair { a, b, similarity }).collect()
    }
}

/// What a result says.
#[napi(object, object_to_js = false)]
pub struct NativeReported {
    pub kept: Uint32Array,
    pub removed: Uint32Array,
    pub clusters: NativeLists,
}

impl NativeReported {
    fn links(&self) -> Vec<(u32, u32)> {
        self.kept.iter().copied().zip(self.removed.iter().copied()).collect()
    }
}

/// Texts to verify by: `texts[i]` is that of document `numbers[i]`.
#[napi(object, object_to_js = false)]
pub struct NativeDocumentTexts<'env> {
    pub numbers: Uint32Array,
    pub texts: Unknown<'env>,
    pub threads: u32,
}

/// The figures.
#[napi(object, object_from_js = false)]
pub struct NativeEvaluation {
    pub documents: f64,
    pub redundant: f64,
    pub removed: f64,
    pub pairs: f64,
    pub apart: f64,
    pub merged: f64,
    pub document_recall: f64,
    pub removal_recall: f64,
    pub pair_recall: f64,
    pub labelled_precision: Option<f64>,
    pub pair_precision: Option<f64>,
    pub half_precision: Option<f64>,
    pub kept_precision: Option<f64>,
    pub bcubed_precision: f64,
    pub bcubed_recall: f64,
    pub bcubed_f1: f64,
    pub adjusted_rand: f64,
}

impl From<Evaluation> for NativeEvaluation {
    fn from(of: Evaluation) -> Self {
        Self {
            documents: number(of.documents),
            redundant: number(of.redundant),
            removed: number(of.removed),
            pairs: number(of.pairs),
            apart: number(of.apart),
            merged: number(of.merged),
            document_recall: of.document_recall,
            removal_recall: of.removal_recall,
            pair_recall: of.pair_recall,
            labelled_precision: of.labelled_precision,
            pair_precision: of.verified.map(|verified| verified.precision),
            half_precision: of.verified.map(|verified| verified.half_precision),
            kept_precision: of.verified.map(|verified| verified.kept_precision),
            bcubed_precision: of.bcubed_precision,
            bcubed_recall: of.bcubed_recall,
            bcubed_f1: of.bcubed_f1,
            adjusted_rand: of.adjusted_rand,
        }
    }
}

/// Texts of some documents.
struct Rows {
    texts: Texts,
    /// By document: its row.
    rows: Vec<Option<u32>>,
}

impl Rows {
    fn new(numbers: &[u32], texts: Texts, documents: u32) -> Self {
        let mut rows = vec![None; documents as usize];
        for (row, &number) in (0..texts.len() as u32).zip(numbers) {
            if let Some(slot) = rows.get_mut(number as usize) {
                *slot = Some(row);
            }
        }
        Self { texts, rows }
    }
}

impl DocumentTexts for Rows {
    fn with_text(&self, document: u32, read: &mut dyn FnMut(&str)) {
        let Some(Some(row)) = self.rows.get(document as usize) else { return };
        if let Given::Text(text) = self.texts.get(*row as usize, &mut String::new()) {
            read(text);
        }
    }
}

/// Scores a result on the pool; links are verified where a fingerprinter is given.
#[napi(catch_unwind, ts_return_type = "Promise<NativeEvaluation>")]
pub fn evaluate<'env>(
    env: &'env Env,
    labels: NativeLabels,
    reported: NativeReported,
    by: Option<&NativeFingerprinter>,
    texts: NativeDocumentTexts<'_>,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let fingerprinter = by.map(|by| by.core.clone());
    let (numbers, threads) = (texts.numbers.to_vec(), texts.threads);
    let texts = Texts::many(&texts.texts, "documents", Accept::Texts)?;
    let (documents, least) = (labels.documents, labels.least);
    let (pairs, groups) = (labels.pairs(), Lists::from(labels.groups));
    let (links, clusters) = (reported.links(), Lists::from(reported.clusters));
    let work = move |flag: &AtomicBool| {
        let labels = Labels::new(documents, &groups.core()?, &pairs, least)?;
        let reported = Reported::new(documents, &links, &clusters.core()?)?;
        let rows = Rows::new(&numbers, texts, documents);
        let verification = fingerprinter.as_ref().map(|fingerprinter| Verification {
            fingerprinter,
            texts: &rows,
            threads: pool::tasks(threads),
        });
        Ok(NativeEvaluation::from(core(&labels, &reported, verification.as_ref(), flag)?))
    };
    task::start(env, Place::Shared, cancel, work, |_| {})
}
