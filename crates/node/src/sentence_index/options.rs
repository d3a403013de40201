//! Options of an index of sentences: how it is made, and whether they agree with a file.

use crate::check::whole;
use crate::error::{Failure, unknown};
use crate::index::options::{NativeWindow, mismatch, shown};
use crate::normalizer::NativeNormalizer;
use crate::sentences::hash_named;
use napi_derive::napi;
use simhash_index::sentences::{Common, Durability, SentenceIndex, SentenceOptions, StoreOptions};
use simhash_sketch::sentences::{MIN_LENGTH, SentenceSketcher};
use simhash_text::Normalizer;
use simhash_text::sentence;
use std::path::Path;

/// What was given; for a new index absent means the default, for a file its own.
#[napi(object, object_to_js = false)]
pub struct NativeSentenceIndexOptions {
    pub count: Option<u32>,
    pub min_length: Option<u32>,
    pub normalize: NativeNormalizer,
    pub hash: Option<String>,
    pub common_share: Option<f64>,
    pub common_count: Option<u32>,
    pub window: Option<NativeWindow>,
    pub durability: Option<String>,
    pub threads: u32,
}

impl NativeSentenceIndexOptions {
    /// What the core needs for a new index.
    pub(super) fn core(&self) -> Result<SentenceOptions, Failure> {
        let mut options = SentenceOptions::default();
        let usual = options.common;
        options.sentences = self.count.map_or(options.sentences, |count| count as usize);
        options.common = Common {
            share: self.common_share.unwrap_or(usual.share),
            count: self.common_count.unwrap_or(usual.count),
        };
        options.window = self.window.map(NativeWindow::core).transpose()?;
        Ok(options)
    }

    /// What makes sentences of texts, `count` of them.
    pub(super) fn sketcher(&self, count: usize) -> Result<SentenceSketcher, Failure> {
        Ok(SentenceSketcher::new(&sentence::SentenceOptions {
            count,
            min_length: self.min_length.map_or(MIN_LENGTH, |length| length as usize),
            normalizer: self.normalize.core(Normalizer::default())?,
            hash: hash_named(self.hash.as_deref())?,
        }))
    }

    pub(super) fn store(&self) -> Result<StoreOptions, Failure> {
        let core = self.core()?;
        let recipe = self.sketcher(core.sentences)?.to_string();
        let mut options = StoreOptions::new(core, recipe);
        options.durability = match self.durability.as_deref() {
            None | Some("commit") => Durability::Commit,
            Some("system") => Durability::System,
            Some(other) => return Err(unknown("durability", other)),
        };
        Ok(options)
    }

    /// Whether an index of a file is what was asked for.
    pub(super) fn agree(&self, path: &Path, index: &SentenceIndex) -> Result<(), Failure> {
        let found = index.options();
        let differ = |option: &'static str, saved: String, given: String| {
            Err(mismatch(path, option, &saved, &given))
        };
        if let Some(given) = self.count.filter(|&given| given as usize != found.sentences) {
            return differ("count", found.sentences.to_string(), given.to_string());
        }
        let common = found.common;
        #[expect(clippy::float_cmp, reason = "the same number or another one")]
        if let Some(given) = self.common_share.filter(|&given| given != common.share) {
            return differ("common.share", common.share.to_string(), given.to_string());
        }
        if let Some(given) = self.common_count.filter(|&given| given != common.count) {
            return differ("common.count", common.count.to_string(), given.to_string());
        }
        if let Some(given) = NativeWindow::wanted(self.window)?
            && Some(given) != found.window
        {
            return differ("window", shown(found.window), shown(Some(given)));
        }
        Ok(())
    }
}

/// A limit of a search; none: all.
pub(super) fn limit(given: Option<f64>) -> Result<usize, Failure> {
    let limit = given.map(|limit| whole(limit, "limit")).transpose()?;
    Ok(limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX)))
}
