//! `MinHasher` for JavaScript.

use crate::columns::Column;
use crate::error::{Failure, caught, js};
use crate::fingerprinter::NativeFingerprinter;
use crate::held::NEVER;
use crate::sketch::{Memory, rows, with_memory};
use crate::task::{self, Cancel, Place};
use crate::text::{Accept, Given, Texts};
use napi::Env;
use napi::bindgen_prelude::{BigInt, BigUint64Array, Object, Uint32Array, Unknown};
use napi_derive::napi;
use simhash_sketch::Fingerprinter;
use simhash_sketch::minhash::{Estimate, MinHashOptions, MinHasher, Scheme, Value};
use std::cell::RefCell;
use std::sync::atomic::AtomicBool;

/// How signatures are made; absent means the default.
#[napi(object, object_to_js = false)]
pub struct NativeMinHashOptions {
    pub scheme: Option<String>,
    pub hashes: Option<u32>,
    pub seed: Option<BigInt>,
}

impl NativeMinHashOptions {
    pub(crate) fn core(&self) -> Result<MinHashOptions, Failure> {
        let default = MinHashOptions::default();
        let seed = self.seed.as_ref().map(|seed| crate::check::fingerprint(seed, "seed"));
        Ok(MinHashOptions {
            scheme: match &self.scheme {
                None => default.scheme,
                Some(name) => Scheme::named(name)?,
            },
            hashes: self.hashes.map_or(default.hashes, |hashes| hashes as usize),
            seed: seed.transpose()?.unwrap_or(default.seed),
        })
    }
}

/// A similarity and how far it may be off.
#[napi(object, object_from_js = false)]
pub struct NativeEstimate {
    pub similarity: f64,
    pub standard_error: f64,
}

impl From<Estimate> for NativeEstimate {
    fn from(Estimate { similarity, standard_error }: Estimate) -> Self {
        Self { similarity, standard_error }
    }
}

/// Signature of row i lies between `offsets[i]` and `offsets[i + 1]`.
#[napi(object, object_from_js = false)]
pub struct NativeSignatures {
    #[napi(ts_type = "Float64Array")]
    pub offsets: Column<f64>,
    #[napi(ts_type = "Uint32Array")]
    pub values: Column<u32>,
}

impl NativeSignatures {
    fn of(signatures: &[Vec<u32>]) -> Self {
        let (mut offsets, mut end) = (vec![0.0], 0.0);
        for signature in signatures {
            end += signature.len() as f64;
            offsets.push(end);
        }
        Self { offsets: Column(offsets), values: Column(signatures.concat()) }
    }
}

thread_local! {
    /// The features of one text, kept between calls.
    static FEATURES: RefCell<Vec<u64>> = RefCell::default();
}

/// Text to signature.
#[derive(Clone)]
struct TextHasher {
    fingerprinter: Fingerprinter,
    hasher: MinHasher,
}

impl TextHasher {
    fn new(
        fingerprinter: &NativeFingerprinter,
        options: &NativeMinHashOptions,
    ) -> Result<Self, Failure> {
        let hasher = MinHasher::new(&options.core()?)?;
        Ok(Self { fingerprinter: fingerprinter.core.clone(), hasher })
    }

    /// The signature of a row.
    fn signature<V: Value>(&self, texts: &Texts, row: usize) -> Vec<V> {
        let sign = |features: &mut Vec<u64>| {
            with_memory(|Memory { text, scratch }| match texts.get(row, text) {
                Given::Text(text) => self.fingerprinter.shingles(text, scratch, features),
                Given::Fingerprint(_) => features.clear(),
            });
            let mut signature = Vec::new();
            self.hasher.signature(features, &mut signature);
            signature
        };
        FEATURES.with(|features| match features.try_borrow_mut() {
            Ok(mut features) => sign(&mut features),
            Err(_) => sign(&mut Vec::new()),
        })
    }

    /// All rows, on all cores where that pays.
    fn signatures(
        &self,
        texts: &Texts,
        threads: u32,
        cancel: &AtomicBool,
    ) -> Result<Vec<Vec<u32>>, Failure> {
        rows(texts, threads, cancel, |row| self.signature(texts, row))
    }
}

/// Text to `MinHash` signature.
#[napi]
pub struct NativeMinHasher {
    core: TextHasher,
}

#[napi]
impl NativeMinHasher {
    /// From a maker of features and options.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        fingerprinter: &NativeFingerprinter,
        options: NativeMinHashOptions,
    ) -> js::Result<Self> {
        Ok(Self { core: caught(|| TextHasher::new(fingerprinter, &options))? })
    }

    /// The signature of one text, 32 bits each.
    #[napi(catch_unwind, ts_return_type = "Uint32Array")]
    pub fn signature(&self, text: Unknown<'_>) -> js::Result<Column<u32>> {
        let texts = Texts::one(&text, "text", Accept::Texts)?;
        Ok(Column(caught(|| Ok(self.core.signature(&texts, 0)))?))
    }

    /// The signature of one text, 64 bits each.
    #[napi(catch_unwind, ts_return_type = "BigUint64Array")]
    pub fn signature64(&self, text: Unknown<'_>) -> js::Result<Column<u64>> {
        let texts = Texts::one(&text, "text", Accept::Texts)?;
        Ok(Column(caught(|| Ok(self.core.signature(&texts, 0)))?))
    }

    /// Signatures of many texts, on the calling thread and the pool.
    #[napi(catch_unwind)]
    pub fn signature_many(&self, texts: Unknown<'_>, threads: u32) -> js::Result<NativeSignatures> {
        let texts = Texts::many(&texts, "texts", Accept::Texts)?;
        let signatures = caught(|| self.core.signatures(&texts, threads, &NEVER))?;
        Ok(NativeSignatures::of(&signatures))
    }

    /// Signatures of many texts, on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeSignatures>")]
    pub fn signature_many_async<'env>(
        &self,
        env: &'env Env,
        texts: Unknown<'_>,
        threads: u32,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let texts = Texts::many(&texts, "texts", Accept::Texts)?;
        let core = self.core.clone();
        let work = move |flag: &AtomicBool| {
            Ok(NativeSignatures::of(&core.signatures(&texts, threads, flag)?))
        };
        task::start(env, Place::Shared, cancel, work, |_| {})
    }

    /// The similarity of two signatures.
    #[napi(catch_unwind)]
    pub fn estimate(&self, a: Uint32Array, b: Uint32Array) -> js::Result<NativeEstimate> {
        Ok(caught(|| self.estimated(&a, &b))?)
    }

    /// The similarity of two signatures of 64 bits.
    #[napi(catch_unwind)]
    pub fn estimate64(&self, a: BigUint64Array, b: BigUint64Array) -> js::Result<NativeEstimate> {
        Ok(caught(|| self.estimated(&a, &b))?)
    }

    fn estimated<V: Value>(&self, a: &[V], b: &[V]) -> Result<NativeEstimate, Failure> {
        let MinHashOptions { scheme, hashes, .. } = *self.core.hasher.options();
        for (name, signature) in [("a", a), ("b", b)] {
            let fits = match scheme {
                Scheme::BottomK => signature.len() <= hashes,
                _ => signature.is_empty() || signature.len() == hashes,
            };
            if !fits {
                let expected = format!("a signature of this hasher, of {hashes} positions");
                return Err(Failure::out_of_range(name, &expected));
            }
        }
        Ok(self.core.hasher.estimate(a, b).into())
    }
}
