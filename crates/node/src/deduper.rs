//! The decision maker behind `dedup()`.

use crate::check::number;
use crate::columns::{Column, bitmap};
use crate::error::{Failure, caught, js, unknown};
use crate::files::NativeSummary;
use crate::fingerprinter::NativeFingerprinterOptions;
use crate::index::NativeIndex;
use crate::measure;
use crate::task::{self, Cancel, Place};
use crate::text::{Accept, Given, Texts};
use napi::Env;
use napi::bindgen_prelude::{Either3, Object, Uint32Array, Unknown};
use napi_derive::napi;
use parking_lot::Mutex;
use simhash_dedup::{Cluster, Decision, DedupOptions, Deduper, Keep, Key, Method};
use simhash_index::bands::BandPlan;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A whole number of any size.
#[napi(object, object_to_js = false)]
pub struct NativeInteger {
    pub decimal: String,
}

/// How documents are compared.
#[napi(object, object_to_js = false)]
pub struct NativeDedupOptions<'env> {
    pub fingerprinter: NativeFingerprinterOptions<'env>,
    #[napi(ts_type = "'simhash' | 'minhash' | 'sentences' | 'brute-force' | 'exact'")]
    pub method: Option<String>,
    /// For `simhash`.
    pub max_distance: Option<u32>,
    /// For `minhash`, both or neither.
    pub bands: Option<u32>,
    pub rows: Option<u32>,
    /// For `sentences`.
    pub sentences: Option<u32>,
    #[napi(ts_type = "'representative' | 'components'")]
    pub cluster: Option<String>,
    #[napi(ts_type = "'first' | 'last' | 'longest' | 'largest' | 'smallest' | 'chosen'")]
    pub keep: Option<String>,
    /// For `largest` and `smallest`.
    pub keep_field: Option<String>,
    #[napi(ts_type = "'auto' | 'jaccard' | 'containment' | 'edit' | 'cosine'")]
    pub verify: Option<String>,
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
            method: self.method()?,
            cluster: match self.cluster.as_deref() {
                None | Some("representative") => Cluster::Representative,
                Some("components") => Cluster::Components,
                Some(other) => return Err(unknown("cluster", other)),
            },
            keep: self.keep()?,
            measure: measure::named(self.verify.as_deref())?,
            min_similarity: match self.min_similarity {
                Some(0.0) => None,
                Some(least) => Some(least),
                None => default.min_similarity,
            },
            max_verifications: self
                .max_verifications
                .map_or(default.max_verifications, |most| most as usize),
            max_bucket: default.max_bucket,
            threads: self.threads as usize,
        })
    }

    fn method(&self) -> Result<Method, Failure> {
        Ok(match self.method.as_deref() {
            None => Method::default(),
            Some("simhash") => {
                let default = Method::default_distance(self.min_similarity != Some(0.0));
                Method::SimHash { max_distance: self.max_distance.unwrap_or(default) }
            }
            Some("minhash") => Method::MinHash {
                plan: match self.bands.zip(self.rows) {
                    Some((bands, rows)) => {
                        Some(BandPlan::new(bands as usize, rows as usize).map_err(Failure::from)?)
                    }
                    None => None,
                },
            },
            Some("sentences") => Method::Sentences {
                count: self.sentences.map_or(Method::SENTENCES, |count| count as usize),
            },
            Some("brute-force") => Method::BruteForce,
            Some("exact") => Method::Exact,
            Some(other) => return Err(unknown("method", other)),
        })
    }

    fn keep(&self) -> Result<Keep, Failure> {
        let field =
            |largest| Keep::Field { path: self.keep_field.clone().unwrap_or_default(), largest };
        Ok(match self.keep.as_deref() {
            None | Some("first") => Keep::First,
            Some("last") => Keep::Last,
            Some("longest") => Keep::Longest,
            Some("largest") => field(true),
            Some("smallest") => field(false),
            Some("chosen") => Keep::Chosen,
            Some(other) => return Err(unknown("keep", other)),
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
    /// A bit for each row.
    #[napi(ts_type = "Uint8Array")]
    pub truncated: Column<u8>,
    /// Where they were asked for, and which rows have one.
    #[napi(ts_type = "BigUint64Array")]
    pub fingerprints: Option<Column<u64>>,
    #[napi(ts_type = "Uint8Array")]
    pub valid: Option<Column<u8>>,
}

impl NativeDecisions {
    fn of(decisions: &[Decision], fingerprints: bool) -> Self {
        let fingerprint = |decision: &Decision| decision.fingerprint;
        let column = |value: fn(&Decision) -> Option<f64>| {
            Column(decisions.iter().map(|decision| value(decision).unwrap_or(f64::NAN)).collect())
        };
        Self {
            duplicate_of: column(|decision| decision.duplicate_of.map(number)),
            similarity: column(|decision| decision.similarity),
            distance: column(|decision| decision.distance.map(f64::from)),
            truncated: bitmap(decisions.iter().map(|decision| decision.truncated)),
            fingerprints: fingerprints.then(|| {
                let values = decisions.iter().map(fingerprint).map(Option::unwrap_or_default);
                Column(values.collect())
            }),
            valid: fingerprints
                .then(|| bitmap(decisions.iter().map(|each| fingerprint(each).is_some()))),
        }
    }
}

/// Clusters in columns.
#[napi(object, object_from_js = false)]
pub struct NativeDocumentClusters {
    #[napi(ts_type = "Uint32Array")]
    pub offsets: Column<u32>,
    #[napi(ts_type = "Uint32Array")]
    pub members: Column<u32>,
}

/// Decides batches of documents in order.
#[napi]
pub struct NativeDeduper {
    core: Arc<Mutex<Deduper>>,
    fingerprints: bool,
}

#[napi]
impl NativeDeduper {
    /// An empty state. `fingerprints`: decisions carry them.
    #[napi(constructor, catch_unwind)]
    pub fn new(options: NativeDedupOptions<'_>, fingerprints: bool) -> js::Result<Self> {
        let core = caught(|| {
            let core = Deduper::new(&options.core()?)?;
            Ok(if fingerprints { core.with_fingerprints() } else { core })
        })?;
        Ok(Self { core: Arc::new(Mutex::new(core)), fingerprints })
    }

    /// The live documents of an index are there already, see `endKnown`; the id of each position. On the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<Float64Array>")]
    pub fn push_index<'env>(
        &self,
        env: &'env Env,
        index: &NativeIndex,
        is_state: bool,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let (core, index) = (Arc::clone(&self.core), index.shared()?);
        let work = move |flag: &AtomicBool| {
            index.guarded(|index| {
                let mut deduper = core.try_lock().ok_or_else(busy)?;
                let ids = deduper.push_index(&index.live, flag);
                let ids = if is_state { ids.map_err(Failure::of_state)? } else { ids? };
                Ok(Column(ids.into_iter().map(number).collect::<Vec<f64>>()))
            })
        };
        task::start(env, Place::Shared, cancel, work, |_| {})
    }

    /// What was pushed so far was there already: figures begin anew, positions go on.
    #[napi(catch_unwind)]
    pub fn end_known(&self) -> js::Result<()> {
        let mut deduper = self.core.try_lock().ok_or_else(busy)?;
        Ok(deduper.end_known().map_err(Failure::from)?)
    }

    /// Decides the next documents, on the pool; no rows where everything is decided at the end. `keys` has a value of
    /// the keep rule's field for each. One call at a time.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeDecisions>")]
    pub fn push<'env>(
        &self,
        env: &'env Env,
        texts: Unknown<'_>,
        #[napi(ts_arg_type = "(number | string | NativeInteger | undefined)[]")] keys: Vec<
            Option<Either3<f64, String, NativeInteger>>,
        >,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let texts = Texts::many(&texts, "docs", Accept::Texts)?;
        let keys: Vec<Key> = keys.into_iter().map(key).collect();
        let (core, fingerprints) = (Arc::clone(&self.core), self.fingerprints);
        let work = move |flag: &AtomicBool| {
            let strings: Vec<String> = (0..texts.len()).map(|row| string(&texts, row)).collect();
            let borrowed: Vec<&str> = strings.iter().map(String::as_str).collect();
            // Waiting here could wait for this very thread: a pool's thread takes other jobs while it waits.
            let mut deduper = core.try_lock().ok_or_else(busy)?;
            let decisions = deduper.push_keyed(&borrowed, &keys, flag)?;
            Ok(NativeDecisions::of(&decisions, fingerprints))
        };
        task::start(env, Place::Shared, cancel, work, |_| {})
    }

    /// The clusters of two or more, to choose from: members of cluster i are at `offsets[i]` to `offsets[i + 1] - 1`.
    #[napi(catch_unwind)]
    pub fn clusters(&self) -> js::Result<NativeDocumentClusters> {
        let clusters = self.core.try_lock().ok_or_else(busy)?.clusters();
        let mut offsets = vec![0];
        let mut members = Vec::new();
        for cluster in clusters {
            members.extend(cluster);
            offsets.push(members.len() as u32);
        }
        Ok(NativeDocumentClusters { offsets: Column(offsets), members: Column(members) })
    }

    /// Keeps these documents of their clusters.
    #[napi(catch_unwind)]
    pub fn choose(&self, positions: Uint32Array) -> js::Result<()> {
        let mut deduper = self.core.try_lock().ok_or_else(busy)?;
        Ok(deduper.choose(&positions).map_err(Failure::from)?)
    }

    /// The decisions that are due at the end, of all documents in order.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeDecisions>")]
    pub fn finish<'env>(&self, env: &'env Env, cancel: &Cancel) -> js::Result<Object<'env>> {
        let (core, fingerprints) = (Arc::clone(&self.core), self.fingerprints);
        let work = move |flag: &AtomicBool| {
            let mut deduper = core.try_lock().ok_or_else(busy)?;
            Ok(NativeDecisions::of(&deduper.finish(flag)?, fingerprints))
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

fn key(value: Option<Either3<f64, String, NativeInteger>>) -> Key {
    match value {
        None => Key::Missing,
        Some(Either3::A(number)) => Key::Number(number),
        Some(Either3::B(text)) => Key::Text(text.into()),
        Some(Either3::C(NativeInteger { decimal })) => Key::number(&decimal),
    }
}

pub(crate) fn string(texts: &Texts, row: usize) -> String {
    let mut scratch = String::new();
    match texts.get(row, &mut scratch) {
        Given::Text(text) => text.to_owned(),
        Given::Fingerprint(_) => String::new(),
    }
}

fn busy() -> Failure {
    Failure::internal("two batches of one stream at a time")
}
