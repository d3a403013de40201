//! The longest sentences of a text, for JavaScript.

use crate::error::{Failure, caught, js, unknown};
use crate::normalizer::NativeNormalizer;
use crate::text::{Accept, Given, Texts};
use napi::bindgen_prelude::{BigInt, Unknown};
use napi_derive::napi;
use simhash_text::Normalizer;
use simhash_text::sentence::{Longest, Sentence, SentenceHash, SentenceOptions, SentenceScratch};

/// A sentence of a text.
#[napi(object, object_from_js = false)]
pub struct NativeSentence {
    pub hash: BigInt,
    pub length: u32,
    pub index: u32,
}

impl From<Sentence> for NativeSentence {
    fn from(sentence: Sentence) -> Self {
        Self { hash: sentence.hash.into(), length: sentence.length, index: sentence.index }
    }
}

/// A hash by its name; absent means XXH3.
pub(crate) fn hash_named(name: Option<&str>) -> Result<SentenceHash, Failure> {
    match name {
        None | Some("xxh3") => Ok(SentenceHash::Xxh3),
        Some("md5") => Ok(SentenceHash::Md5),
        Some(other) => Err(unknown("hash", other)),
    }
}

/// The longest sentences of a text, the longest first.
#[napi(catch_unwind)]
pub fn sentences(
    text: Unknown<'_>,
    count: u32,
    min_length: u32,
    normalize: NativeNormalizer,
    hash: Option<String>,
) -> js::Result<Vec<NativeSentence>> {
    let texts = Texts::one(&text, "text", Accept::Texts)?;
    let options = SentenceOptions {
        count: count as usize,
        min_length: min_length as usize,
        normalizer: normalize.core(Normalizer::default())?,
        hash: hash_named(hash.as_deref())?,
    };
    let found = caught(|| {
        let mut scratch = SentenceScratch::default();
        Ok(match texts.get(0, &mut String::new()) {
            Given::Text(text) => Longest::new(&options).of(text, &mut scratch).to_vec(),
            Given::Fingerprint(_) => Vec::new(),
        })
    })?;
    Ok(found.into_iter().map(NativeSentence::from).collect())
}
