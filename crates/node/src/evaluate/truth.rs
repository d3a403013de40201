//! The exact truth of a sample, and what of a corpus is near one, for JavaScript.

use crate::columns::{Column, bitmap};
use crate::deduper::string;
use crate::error::{Failure, js};
use crate::fingerprinter::NativeFingerprinter;
use crate::pool;
use crate::task::{self, Cancel, Place};
use crate::text::{Accept, Texts};
use napi::Env;
use napi::bindgen_prelude::{Object, Unknown};
use napi_derive::napi;
use simhash_dedup::evaluate::{Neighbourhood, Truth};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// Groups of equal documents, one behind the other, and pairs of others.
#[napi(object, object_from_js = false)]
pub struct NativeTruth {
    #[napi(ts_type = "Uint32Array")]
    pub offsets: Column<u32>,
    #[napi(ts_type = "Uint32Array")]
    pub numbers: Column<u32>,
    #[napi(ts_type = "Uint32Array")]
    pub a: Column<u32>,
    #[napi(ts_type = "Uint32Array")]
    pub b: Column<u32>,
    #[napi(ts_type = "Float64Array")]
    pub similarity: Column<f64>,
}

impl From<Truth> for NativeTruth {
    fn from(truth: Truth) -> Self {
        let mut end = 0;
        let ends = truth.groups.iter().map(|group| {
            end += group.len() as u32;
            end
        });
        Self {
            offsets: Column(std::iter::once(0).chain(ends).collect()),
            numbers: Column(truth.groups.concat()),
            a: Column(truth.pairs.iter().map(|pair| pair.a).collect()),
            b: Column(truth.pairs.iter().map(|pair| pair.b).collect()),
            similarity: Column(truth.pairs.iter().map(|pair| pair.similarity).collect()),
        }
    }
}

/// A sample, its exact truth, and who is near it.
#[napi]
pub struct NativeSample {
    by: simhash_sketch::Fingerprinter,
    least: f64,
    threads: usize,
    neighbourhood: Arc<OnceLock<Neighbourhood>>,
}

#[napi]
impl NativeSample {
    /// Compares by the features of a fingerprinter, from a Jaccard similarity on.
    #[napi(constructor, catch_unwind)]
    pub fn new(by: &NativeFingerprinter, least: f64, threads: u32) -> Self {
        let threads = pool::tasks(threads);
        Self { by: by.core.clone(), least, threads, neighbourhood: Arc::default() }
    }

    /// All pairs of `texts`.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeTruth>")]
    pub fn truth<'env>(
        &self,
        env: &'env Env,
        texts: Unknown<'_>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let (by, least, threads) = (self.by.clone(), self.least, self.threads);
        start(env, &texts, cancel, move |texts, flag| {
            Ok(NativeTruth::from(Truth::of(texts, &by, least, threads, flag)?))
        })
    }

    /// Takes the sample whose neighbours [`near`](Self::near) finds. Once.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn around<'env>(
        &self,
        env: &'env Env,
        texts: Unknown<'_>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let (by, least, threads) = (self.by.clone(), self.least, self.threads);
        let slot = Arc::clone(&self.neighbourhood);
        start(env, &texts, cancel, move |texts, flag| {
            let made = Neighbourhood::new(texts, &by, least, threads, flag)?;
            slot.set(made).map_err(|_| Failure::internal("a second sample"))
        })
    }

    /// A bit per text: whether a document of the sample is near it.
    #[napi(catch_unwind, ts_return_type = "Promise<Uint8Array>")]
    pub fn near<'env>(
        &self,
        env: &'env Env,
        texts: Unknown<'_>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let slot = Arc::clone(&self.neighbourhood);
        start(env, &texts, cancel, move |texts, flag| {
            let neighbourhood = slot.get().ok_or_else(|| Failure::internal("no sample"))?;
            Ok(bitmap(neighbourhood.near(texts, flag)?.into_iter()))
        })
    }
}

fn start<'env, T: napi::bindgen_prelude::ToNapiValue + Send + 'static>(
    env: &'env Env,
    texts: &Unknown<'_>,
    cancel: &Cancel,
    work: impl FnOnce(&[&str], &AtomicBool) -> Result<T, Failure> + Send + 'static,
) -> js::Result<Object<'env>> {
    let texts = Texts::many(texts, "docs", Accept::Texts)?;
    let work = move |flag: &AtomicBool| {
        let strings: Vec<String> = (0..texts.len()).map(|row| string(&texts, row)).collect();
        work(&strings.iter().map(String::as_str).collect::<Vec<_>>(), flag)
    };
    task::start(env, Place::Shared, cancel, work, |_| {})
}
