//! What this build has, and what it uses of this machine: for people who ask why it is slow, or what runs at all.

use napi_derive::napi;
use simhash_sketch::simd::Level;
use simhash_text::lexicon::Dictionary;

/// What there is.
#[napi(object, object_from_js = false)]
pub struct NativeMachine {
    /// The instruction set in use.
    pub simd: String,
    /// Those that this machine has, the preferred ones last.
    pub simd_available: Vec<String>,
    /// Words of the dictionary.
    pub words: u32,
    /// Who can cut words.
    pub segmenters: Vec<String>,
    /// Optimised, as releases are.
    pub optimized: bool,
}

/// What this build has, and what it uses of this machine.
#[napi(catch_unwind)]
pub fn machine() -> NativeMachine {
    let name = |level: Level| level.name().to_owned();
    let mut segmenters = vec!["own".to_owned()];
    if cfg!(feature = "jieba-rs") {
        segmenters.push("jieba-rs".to_owned());
    }
    NativeMachine {
        simd: name(Level::current()),
        simd_available: Level::available().map(name).collect(),
        words: Dictionary::built_in() as u32,
        segmenters,
        optimized: !cfg!(debug_assertions),
    }
}
