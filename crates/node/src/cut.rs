//! The words of texts for JavaScript: where they are, not what they are, for JavaScript cuts strings faster than they cross.

use crate::columns::Column;
use crate::error::{Failure, caught, js};
use crate::lexicon::NativeDictionary;
use crate::sketch::{Memory, rows, with_memory};
use crate::task::{self, Cancel, Place};
use crate::text::{Accept, Given, Texts};
use napi::Env;
use napi::bindgen_prelude::{ClassInstance, Object, Unknown};
use napi_derive::napi;
use simhash_text::lexicon::Dictionary;
use simhash_text::segment::cut_with;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How texts are cut.
#[napi(object, object_to_js = false)]
pub struct NativeCutOptions<'env> {
    pub hmm: bool,
    pub dictionary: Option<ClassInstance<'env, NativeDictionary>>,
    pub threads: u32,
}

/// Where words begin and end, text after text.
#[napi(object, object_from_js = false)]
pub struct NativeCuts {
    /// In UTF-16 code units: of each text 0, then the end of each word.
    #[napi(ts_type = "Uint32Array")]
    pub offsets: Column<u32>,
    /// How many offsets each text has: its words and one more.
    #[napi(ts_type = "Uint32Array")]
    pub counts: Column<u32>,
}

/// Cuts texts into words.
struct Cutter {
    hmm: bool,
    dictionary: Option<Arc<Dictionary>>,
    threads: u32,
}

impl Cutter {
    fn new(options: NativeCutOptions<'_>) -> Self {
        let NativeCutOptions { hmm, dictionary, threads } = options;
        Self { hmm, dictionary: dictionary.map(|words| words.now()), threads }
    }

    fn cut(&self, texts: &Texts, cancel: &AtomicBool) -> Result<NativeCuts, Failure> {
        let found = rows(texts, self.threads, cancel, |row| self.one(texts, row))?;
        let counts = found.iter().map(|offsets| offsets.len() as u32).collect();
        Ok(NativeCuts { offsets: Column(found.concat()), counts: Column(counts) })
    }

    fn one(&self, texts: &Texts, row: usize) -> Vec<u32> {
        with_memory(|Memory { text, scratch }| {
            let Given::Text(text) = texts.get(row, text) else { return vec![0] };
            // A word has two characters or so: seldom more offsets, and then the vector grows.
            let mut offsets = Vec::with_capacity(text.len() / 5 + 2);
            offsets.push(0);
            // A string of JavaScript has fewer than 2^30 units.
            let mut end = 0;
            cut_with(self.dictionary.as_deref(), text, self.hmm, scratch.segment(), |word| {
                end += word.utf16_len() as u32;
                offsets.push(end);
            });
            offsets
        })
    }
}

/// The words of many strings, on the calling thread and the pool.
#[napi(catch_unwind)]
pub fn cut_many(texts: Unknown<'_>, options: NativeCutOptions<'_>) -> js::Result<NativeCuts> {
    let texts = Texts::many(&texts, "texts", Accept::Strings)?;
    let cutter = Cutter::new(options);
    Ok(caught(|| cutter.cut(&texts, &AtomicBool::new(false)))?)
}

/// The words of many strings, on the pool.
#[napi(catch_unwind, ts_return_type = "Promise<NativeCuts>")]
pub fn cut_many_async<'env>(
    env: &'env Env,
    texts: Unknown<'_>,
    options: NativeCutOptions<'_>,
    cancel: &Cancel,
) -> js::Result<Object<'env>> {
    let texts = Texts::many(&texts, "texts", Accept::Strings)?;
    let cutter = Cutter::new(options);
    let work = move |flag: &AtomicBool| cutter.cut(&texts, flag);
    task::start(env, Place::Shared, cancel, work, |_| {})
}
