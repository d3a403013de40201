//! The decision maker behind `dedup()`.

use crate::check::number;
use crate::columns::Column;
use crate::error::{Failure, caught, js};
use crate::files::NativeSummary;
use crate::fingerprinter::NativeFingerprinterOptions;
use crate::task::{self, Cancel, Place};
use crate::text::{Accept, Given, Texts};
use napi::Env;
use napi::bindgen_prelude::{Object, Unknown};
use napi_derive::napi;
use parking_lot::Mutex;
use simhash_dedup::{Decision, DedupOptions, Deduper};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How documents are compared.
#[napi(object, object_to_js = false)]
pub struct NativeDedupOptions<'env> {
    pub fingerprinter: NativeFingerprinterOptions<'env>,
    pub max_distance: Option<u32>,
    /// 0: no verification.
    pub min_similarity: Option<f64>,
    pub max_verifications: Option<u32>,
    pub threads: u32,
}

impl NativeDedupOptions<'_> {
    pub(crate) fn core(&self) -> Result<DedupOptions, Failure> {
        let default = DedupOptions::default();
        Ok(DedupOptions {
            fingerprinter: self.fingerprinter.core()?,
            max_distance: self.max_distance.unwrap_or(default.max_distance),
            min_similarity: match self.min_similarity {
                Some(0.0) => None,
                Some(least) => Some(least),
                None => default.min_similarity,
            },
            max_verifications: self
                .max_verifications
                .map_or(default.max_verifications, |most| most as usize),
            threads: self.threads as usize,
        })
    }
}

/// One row per document; NaN means none.
#[napi(object, object_from_js = false)]
pub struct NativeDecisions {
    #[napi(ts_type = "Float64Array")]
    pub duplicate_of: Column<f64>,
    #[napi(ts_type = "Float64Array")]
    pub similarity: Column<f64>,
    #[napi(ts_type = "Float64Array")]
    pub distance: Column<f64>,
}

impl NativeDecisions {
    fn of(decisions: &[Decision]) -> Self {
        let column = |value: fn(&Decision) -> Option<f64>| {
            Column(decisions.iter().map(|decision| value(decision).unwrap_or(f64::NAN)).collect())
        };
        Self {
            duplicate_of: column(|decision| decision.duplicate_of.map(number)),
            similarity: column(|decision| decision.similarity),
            distance: column(|decision| decision.distance.map(f64::from)),
        }
    }
}

/// Decides batches of documents in order.
#[napi]
pub struct NativeDeduper {
    core: Arc<Mutex<Deduper>>,
}

#[napi]
impl NativeDeduper {
    /// An empty state.
    #[napi(constructor, catch_unwind)]
    pub fn new(options: NativeDedupOptions<'_>) -> js::Result<Self> {
        let core = caught(|| Ok(Deduper::new(&options.core()?)?))?;
        Ok(Self { core: Arc::new(Mutex::new(core)) })
    }

    /// Decides the next documents, on the pool. One call at a time.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeDecisions>")]
    pub fn push<'env>(
        &self,
        env: &'env Env,
        texts: Unknown<'_>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let texts = Texts::many(&texts, "docs", Accept::Texts)?;
        let core = Arc::clone(&self.core);
        let work = move |flag: &AtomicBool| {
            let strings: Vec<String> = (0..texts.len()).map(|row| string(&texts, row)).collect();
            let borrowed: Vec<&str> = strings.iter().map(String::as_str).collect();
            // Waiting here could wait for this very thread: a pool's thread takes other jobs while it waits.
            let mut deduper = core.try_lock().ok_or_else(busy)?;
            Ok(NativeDecisions::of(&deduper.push(&borrowed, flag)?))
        };
        task::start(env, Place::Shared, cancel, work, |_| {})
    }

    /// The figures so far.
    #[napi(catch_unwind)]
    pub fn summary(&self) -> js::Result<NativeSummary> {
        let summary = self.core.try_lock().ok_or_else(busy)?.summary();
        Ok(NativeSummary::from(summary))
    }
}

fn string(texts: &Texts, row: usize) -> String {
    let mut scratch = String::new();
    match texts.get(row, &mut scratch) {
        Given::Text(text) => text.to_owned(),
        Given::Fingerprint(_) => String::new(),
    }
}

fn busy() -> Failure {
    Failure::internal("two batches of one stream at a time")
}
