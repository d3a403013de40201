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
use simhash_text::Normalizer;
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
        self.given()?.over(FingerprinterOptions::default())
    }

    /// The options that were given.
    pub(crate) fn given(&self) -> Result<GivenOptions, Failure> {
        if let (Some("auto"), Some(ngram)) = (self.features.as_deref(), self.ngram) {
            return Err(OptionsError::Invalid {
                argument: "ngram",
                value: ngram.to_string(),
                expected: "left out when features are auto".to_owned(),
            }
            .into());
        }
        let preset = self.preset.as_deref().map(FingerprinterOptions::preset).transpose()?;
        let normalize = self.normalize.clone().unwrap_or_default();
        // A name that nothing has is an error here, whatever it stands beside.
        normalize.core(Normalizer::default())?;
        Ok(GivenOptions {
            preset,
            normalize,
            unit: unit(self.features.as_deref())?,
            segmenter: segmenter(self.segmenter.as_deref())?,
            min_features: self.min_features.map(|least| least as usize),
            extract: ExtractorOptions {
                ngram: self.ngram.map(|n| n as usize),
                weighting: weighting(self.weighting.as_deref())?,
                top_k: top_k(self.top_k.as_ref())?,
                hmm: self.hmm,
                dictionary: self.dictionary.as_ref().map(|words| words.now()),
                stop_words: self.stop_words.as_ref().map(|given| Arc::clone(&given.words)),
                idf: self.idf.as_ref().map(|given| Arc::clone(&given.table)),
                ..ExtractorOptions::default()
            },
        })
    }
}

/// Options of a fingerprinter that were given, to be sent to other threads.
pub(crate) struct GivenOptions {
    preset: Option<FingerprinterOptions>,
    normalize: NativeNormalizer,
    unit: Option<Unit>,
    segmenter: Option<Segmenter>,
    /// The others: each of them may be absent by itself.
    extract: ExtractorOptions,
    min_features: Option<usize>,
}

impl GivenOptions {
    /// An n-gram that was given without features, where those of `base` have none.
    pub(crate) fn ngram_alone(&self, base: &FingerprinterOptions) -> Option<usize> {
        let is_alone = self.unit.is_none() && self.preset.is_none();
        let has_none = base.extract.unit == Unit::Auto && base.extract.ngram.is_none();
        self.extract.ngram.filter(|_| is_alone && has_none)
    }

    /// What was not given is the preset's, and without one as in `base`.
    pub(crate) fn over(&self, base: FingerprinterOptions) -> Result<FingerprinterOptions, Failure> {
        let base = self.preset.clone().unwrap_or(base);
        let (given, rest) = (self.extract.clone(), base.extract);
        Ok(FingerprinterOptions {
            normalize: self.normalize.core(base.normalize)?,
            extract: ExtractorOptions {
                unit: self.unit.unwrap_or(rest.unit),
                // `auto` is given alone.
                ngram: given.ngram.or(rest.ngram.filter(|_| self.unit != Some(Unit::Auto))),
                weighting: given.weighting.or(rest.weighting),
                top_k: given.top_k.or(rest.top_k),
                segmenter: self.segmenter.unwrap_or(rest.segmenter),
                hmm: given.hmm.or(rest.hmm),
                dictionary: given.dictionary,
                stop_words: given.stop_words,
                idf: given.idf,
            },
            min_features: self.min_features.or(base.min_features),
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
