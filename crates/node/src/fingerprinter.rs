//! `Fingerprinter` for JavaScript.

use crate::columns::{Column, bitmap};
use crate::error::{Failure, caught, js};
use crate::sketch::{Memory, item, items, with_memory};
use crate::task::{self, Cancel, Place};
use crate::text::{Accept, Given, Texts};
use napi::Env;
use napi::bindgen_prelude::{BigInt, Object, Unknown};
use napi_derive::napi;
use simhash_index::Item;
use simhash_sketch::{
    ExtractorOptions, FingerprinterOptions, Normalizer, Token, Unit, Weighting, Whitespace,
};
use std::sync::atomic::AtomicBool;

/// Options with every choice spelled out; absent means the core's default.
#[napi(object, object_to_js = false)]
pub struct NativeFingerprinterOptions {
    pub features: Option<String>,
    pub ngram: Option<u32>,
    pub weighting: Option<String>,
    pub top_k: Option<u32>,
    /// False: no step at all.
    pub normalize: Option<bool>,
    pub nfkc: Option<bool>,
    pub case: Option<bool>,
    pub whitespace: Option<String>,
    pub min_features: Option<u32>,
}

impl NativeFingerprinterOptions {
    pub(crate) fn core(&self) -> Result<FingerprinterOptions, Failure> {
        let off = self.normalize == Some(false);
        let base = if off { Normalizer::OFF } else { Normalizer::default() };
        Ok(FingerprinterOptions {
            normalize: Normalizer {
                nfkc: self.nfkc.unwrap_or(base.nfkc),
                case: self.case.unwrap_or(base.case),
                whitespace: whitespace(self.whitespace.as_deref())?.unwrap_or(base.whitespace),
                ..base
            },
            extract: ExtractorOptions {
                unit: unit(self.features.as_deref())?,
                ngram: self.ngram.map(|n| n as usize),
                weighting: weighting(self.weighting.as_deref())?,
                top_k: self.top_k.map(|k| k as usize),
                ..ExtractorOptions::default()
            },
            min_features: self.min_features.map(|least| least as usize),
        })
    }
}

fn unknown(name: &str, value: &str) -> Failure {
    Failure::new("ERR_INVALID_ARG_VALUE", format!("{name} has no choice {value:?}"))
}

fn unit(name: Option<&str>) -> Result<Unit, Failure> {
    match name {
        None => Ok(Unit::default()),
        Some("chars") => Ok(Unit::Chars),
        Some("words") => Ok(Unit::Words),
        Some("jieba") => Ok(Unit::Jieba),
        Some(other) => Err(unknown("features", other)),
    }
}

fn weighting(name: Option<&str>) -> Result<Option<Weighting>, Failure> {
    match name {
        None => Ok(None),
        Some("count") => Ok(Some(Weighting::Count)),
        Some("binary") => Ok(Some(Weighting::Binary)),
        Some("tfidf") => Ok(Some(Weighting::TfIdf)),
        Some(other) => Err(unknown("weighting", other)),
    }
}

fn whitespace(name: Option<&str>) -> Result<Option<Whitespace>, Failure> {
    match name {
        None => Ok(None),
        Some("auto") => Ok(Some(Whitespace::Auto)),
        Some("collapse") => Ok(Some(Whitespace::Collapse)),
        Some("remove") => Ok(Some(Whitespace::Remove)),
        Some("keep") => Ok(Some(Whitespace::Keep)),
        Some(other) => Err(unknown("normalize.whitespace", other)),
    }
}

/// A token of a text.
#[napi(object, object_from_js = false)]
pub struct NativeToken {
    pub token: String,
    pub weight: f64,
    pub hash: BigInt,
}

impl From<Token> for NativeToken {
    fn from(token: Token) -> Self {
        Self { token: token.token, weight: token.weight, hash: token.hash.into() }
    }
}

/// One row per text.
#[napi(object, object_from_js = false)]
pub struct NativeFingerprints {
    #[napi(ts_type = "BigUint64Array")]
    pub values: Column<u64>,
    #[napi(ts_type = "Uint8Array")]
    pub valid: Column<u8>,
}

impl NativeFingerprints {
    fn of(items: &[Item]) -> Self {
        let value = |item: &Item| match item {
            Item::Fingerprint(value) => Some(*value),
            _ => None,
        };
        Self {
            values: Column(items.iter().map(|item| value(item).unwrap_or(0)).collect()),
            valid: bitmap(items.iter().map(|item| value(item).is_some())),
        }
    }
}

/// Text to fingerprint.
#[napi]
pub struct NativeFingerprinter {
    pub(crate) core: simhash_sketch::Fingerprinter,
}

#[napi]
impl NativeFingerprinter {
    /// From options.
    #[napi(constructor, catch_unwind)]
    pub fn new(options: NativeFingerprinterOptions) -> js::Result<Self> {
        let make = || Ok(simhash_sketch::Fingerprinter::new(&options.core()?)?);
        Ok(Self { core: caught(make)? })
    }

    /// From the name of a preset.
    #[napi(factory, catch_unwind)]
    pub fn preset(name: String) -> js::Result<Self> {
        Ok(Self { core: caught(|| Ok(simhash_sketch::Fingerprinter::preset(&name)?))? })
    }

    /// The fingerprint of one text.
    #[napi(catch_unwind)]
    pub fn fingerprint(&self, text: Unknown<'_>) -> js::Result<Option<BigInt>> {
        let texts = Texts::one(&text, "text", Accept::Texts)?;
        Ok(match caught(|| Ok(item(&self.core, &texts, 0)))? {
            Item::Fingerprint(value) => Some(value.into()),
            _ => None,
        })
    }

    /// Fingerprints of many texts, on the calling thread and the pool.
    #[napi(catch_unwind)]
    pub fn fingerprint_many(
        &self,
        texts: Unknown<'_>,
        threads: u32,
    ) -> js::Result<NativeFingerprints> {
        let texts = Texts::many(&texts, "texts", Accept::Texts)?;
        let never = AtomicBool::new(false);
        let items = caught(|| items(&self.core, &texts, threads, &never))?;
        Ok(NativeFingerprints::of(&items))
    }

    /// Fingerprints of many texts, on the pool.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeFingerprints>")]
    pub fn fingerprint_many_async<'env>(
        &self,
        env: &'env Env,
        texts: Unknown<'_>,
        threads: u32,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let texts = Texts::many(&texts, "texts", Accept::Texts)?;
        let core = self.core.clone();
        let work = move |flag: &AtomicBool| {
            items(&core, &texts, threads, flag).map(|items| NativeFingerprints::of(&items))
        };
        task::start(env, Place::Shared, cancel, work, |_| {})
    }

    /// What the fingerprint of one text is made of.
    #[napi(catch_unwind)]
    pub fn features(&self, text: Unknown<'_>) -> js::Result<Vec<NativeToken>> {
        let texts = Texts::one(&text, "text", Accept::Texts)?;
        let tokens = caught(|| {
            Ok(with_memory(|Memory { text, .. }| match texts.get(0, text) {
                Given::Text(text) => self.core.tokens(text),
                Given::Fingerprint(_) => Vec::new(),
            }))
        })?;
        Ok(tokens.into_iter().map(NativeToken::from).collect())
    }
}
