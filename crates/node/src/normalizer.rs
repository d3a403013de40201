//! Normalisation for JavaScript: where to start, and what to change of it.

use crate::error::{Failure, unknown};
use napi_derive::napi;
use simhash_text::{Normalizer, Punctuation, Whitespace};

/// Steps of normalisation; absent means as in `base`.
#[napi(object, object_to_js = false)]
#[derive(Clone, Default)]
pub struct NativeNormalizer {
    /// `default`, `web`, `microblog` or `off`; absent means the steps of the preset.
    pub base: Option<String>,
    pub html: Option<bool>,
    pub noise: Option<bool>,
    pub emoji: Option<bool>,
    pub nfkc: Option<bool>,
    pub case: Option<bool>,
    pub simplified: Option<bool>,
    pub invisible: Option<bool>,
    pub punctuation: Option<String>,
    pub whitespace: Option<String>,
    pub runs: Option<bool>,
}

impl NativeNormalizer {
    /// The steps, starting from `preset` where no base is named.
    pub(crate) fn core(&self, preset: Normalizer) -> Result<Normalizer, Failure> {
        let base = match self.base.as_deref() {
            None => preset,
            Some("default") => Normalizer::default(),
            Some("web") => Normalizer::web(),
            Some("microblog") => Normalizer::microblog(),
            Some("off") => Normalizer::OFF,
            Some(other) => return Err(unknown("normalize.base", other)),
        };
        Ok(Normalizer {
            html: self.html.unwrap_or(base.html),
            noise: self.noise.unwrap_or(base.noise),
            emoji: self.emoji.unwrap_or(base.emoji),
            nfkc: self.nfkc.unwrap_or(base.nfkc),
            case: self.case.unwrap_or(base.case),
            simplified: self.simplified.unwrap_or(base.simplified),
            invisible: self.invisible.unwrap_or(base.invisible),
            punctuation: punctuation(self.punctuation.as_deref())?.unwrap_or(base.punctuation),
            whitespace: whitespace(self.whitespace.as_deref())?.unwrap_or(base.whitespace),
            runs: self.runs.unwrap_or(base.runs),
        })
    }
}

fn punctuation(name: Option<&str>) -> Result<Option<Punctuation>, Failure> {
    match name {
        None => Ok(None),
        Some("keep") => Ok(Some(Punctuation::Keep)),
        Some("fold") => Ok(Some(Punctuation::Fold)),
        Some("drop") => Ok(Some(Punctuation::Drop)),
        Some(other) => Err(unknown("normalize.punctuation", other)),
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
