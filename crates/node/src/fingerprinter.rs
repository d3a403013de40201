//! `Fingerprinter` for JavaScript.

use crate::columns::{Column, bitmap};
use crate::error::{Failure, caught, js, unknown};
use crate::lexicon::{NativeDictionary, NativeIdf, NativeStopWords};
use crate::normalizer::NativeNormalizer;
use crate::sketch::{Memory, item, items, with_memory};
use crate::task::{self, Cancel, Place};
use crate::text::{Accept, Given, Texts};
use napi::Env;
use napi::bindgen_prelude::{BigInt, ClassInstance, Either, Object, Unknown};
use napi_derive::napi;
use simhash_index::Item;
use simhash_sketch::{
    ExtractorOptions, FingerprinterOptions, OptionsError, Segmenter, Token, TopK, Unit, Weighting,
};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Options with every choice spelled out; absent means as in the preset.
#[napi(object, object_to_js = false)]
pub struct NativeFingerprinterOptions<'env> {
    /// Absent means `auto`, the default options.
    pub preset: Option<String>,
    pub features: Option<String>,
    pub ngram: Option<u32>,
    pub weighting: Option<String>,
    /// A number, or `auto`.
    pub top_k: Option<Either<u32, String>>,
    pub segmenter: Option<String>,
    pub hmm: Option<bool>,
    pub dictionary: Option<ClassInstance<'env, NativeDictionary>>,
    pub stop_words: Option<ClassInstance<'env, NativeStopWords>>,
    pub idf: Option<ClassInstance<'env, NativeIdf>>,
    pub normalize: Option<NativeNormalizer>,
    pub min_features: Option<u32>,
}

impl NativeFingerprinterOptions<'_> {
    pub(crate) fn core(&self) -> Result<FingerprinterOptions, Failure> {
        let preset = match &self.preset {
            None => FingerprinterOptions::default(),
            Some(name) => FingerprinterOptions::preset(name)?,
        };
        let base = preset.extract;
        if let (Some("auto"), Some(ngram)) = (self.features.as_deref(), self.ngram) {
            return Err(OptionsError::Invalid {
                argument: "ngram",
                value: ngram.to_string(),
                expected: "left out when features are auto".to_owned(),
            }
            .into());
        }
        let normalize = match &self.normalize {
            None => preset.normalize,
            Some(steps) => steps.core(preset.normalize)?,
        };
        Ok(FingerprinterOptions {
            normalize,
            extract: ExtractorOptions {
                unit: unit(self.features.as_deref())?.unwrap_or(base.unit),
                ngram: self.ngram.map(|n| n as usize).or(base.ngram),
                weighting: weighting(self.weighting.as_deref())?.or(base.weighting),
                top_k: top_k(self.top_k.as_ref())?.or(base.top_k),
                segmenter: segmenter(self.segmenter.as_deref())?.unwrap_or(base.segmenter),
                hmm: self.hmm.or(base.hmm),
                dictionary: self.dictionary.as_ref().map(|words| words.now()),
                stop_words: self.stop_words.as_ref().map(|given| Arc::clone(&given.words)),
                idf: self.idf.as_ref().map(|given| Arc::clone(&given.table)),
            },
            min_features: self.min_features.map(|least| least as usize).or(preset.min_features),
        })
    }
}

fn unit(name: Option<&str>) -> Result<Option<Unit>, Failure> {
    match name {
        None => Ok(None),
        Some("auto") => Ok(Some(Unit::Auto)),
        Some("chars") => Ok(Some(Unit::Chars)),
        Some("words") => Ok(Some(Unit::Words)),
        Some("jieba") => Ok(Some(Unit::Jieba)),
        Some("tokens") => Ok(Some(Unit::Tokens)),
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

fn top_k(given: Option<&Either<u32, String>>) -> Result<Option<TopK>, Failure> {
    match given {
        None => Ok(None),
        Some(Either::A(count)) => Ok(Some(TopK::Count(*count as usize))),
        Some(Either::B(name)) if name == "auto" => Ok(Some(TopK::Half)),
        Some(Either::B(other)) => Err(unknown("topK", other)),
    }
}

fn segmenter(name: Option<&str>) -> Result<Option<Segmenter>, Failure> {
    match name {
        None => Ok(None),
        Some("own") => Ok(Some(Segmenter::Own)),
        Some("jieba-rs") => Ok(Some(Segmenter::JiebaRs)),
        Some(other) => Err(unknown("segmenter", other)),
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
    pub fn new(options: NativeFingerprinterOptions<'_>) -> js::Result<Self> {
        let make = || Ok(simhash_sketch::Fingerprinter::new(&options.core()?)?);
        Ok(Self { core: caught(make)? })
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

    /// One text after normalisation.
    #[napi(catch_unwind)]
    pub fn normalize(&self, text: Unknown<'_>) -> js::Result<String> {
        let texts = Texts::one(&text, "text", Accept::Texts)?;
        Ok(caught(|| {
            Ok(with_memory(|Memory { text, scratch }| match texts.get(0, text) {
                Given::Text(text) => self.core.normalize(text, scratch).to_owned(),
                Given::Fingerprint(_) => String::new(),
            }))
        })?)
    }
}
