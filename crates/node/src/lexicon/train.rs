//! An idf table learnt from a corpus, a batch at a time.

use super::{NativeDictionary, NativeIdf};
use crate::check::{number, whole};
use crate::error::{Failure, caught, js};
use crate::normalizer::NativeNormalizer;
use crate::task::{self, Cancel, Place};
use crate::text::{Accept, Given, Texts};
use napi::Env;
use napi::bindgen_prelude::{Object, Unknown};
use napi_derive::napi;
use parking_lot::Mutex;
use simhash_text::lexicon::{Dictionary, IdfTrainer};
use simhash_text::{NormalizeScratch, Normalizer};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Counts in how many documents words occur.
#[napi]
pub struct NativeIdfTrainer {
    shared: Arc<Shared>,
}

struct Shared {
    trainer: Mutex<IdfTrainer>,
    normalizer: Normalizer,
    dictionary: Option<Dictionary>,
}

#[napi]
impl NativeIdfTrainer {
    /// Nothing counted; documents will be seen as a fingerprinter with these options sees them.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        normalize: NativeNormalizer,
        dictionary: Option<&NativeDictionary>,
    ) -> js::Result<Self> {
        let normalizer = normalize.core(Normalizer::default())?;
        let dictionary = dictionary.map(|words| words.now().normalized(&normalizer));
        let trainer = Mutex::default();
        Ok(Self { shared: Arc::new(Shared { trainer, normalizer, dictionary }) })
    }

    /// Counts the next documents, on the pool. One call at a time.
    #[napi(catch_unwind, ts_return_type = "Promise<number>")]
    pub fn push<'env>(
        &self,
        env: &'env Env,
        texts: Unknown<'_>,
        cancel: &Cancel,
    ) -> js::Result<Object<'env>> {
        let texts = Texts::many(&texts, "texts", Accept::Texts)?;
        let shared = Arc::clone(&self.shared);
        let work = move |flag: &AtomicBool| shared.count(&texts, flag).map(number);
        task::start(env, Place::Shared, cancel, work, |_| {})
    }

    /// The table of what was counted.
    #[napi(catch_unwind)]
    pub fn finish(&self, min_documents: f64) -> js::Result<NativeIdf> {
        let least = whole(min_documents, "minDocuments")?;
        let table = caught(|| Ok(self.shared.trainer.lock().finish(least)?))?;
        Ok(NativeIdf { table: Arc::new(table) })
    }
}

impl Shared {
    /// The number of documents counted so far.
    fn count(&self, texts: &Texts, cancel: &AtomicBool) -> Result<u64, Failure> {
        // Waiting here could wait for this very thread: a pool's thread takes other jobs while it waits.
        let busy = || Failure::internal("two batches of one corpus at a time");
        let mut trainer = self.trainer.try_lock().ok_or_else(busy)?;
        let (mut memory, mut scratch) = (String::new(), NormalizeScratch::default());
        for row in 0..texts.len() {
            if cancel.load(Ordering::Relaxed) {
                return Err(Failure::cancelled());
            }
            if let Given::Text(text) = texts.get(row, &mut memory) {
                trainer.add(self.normalizer.apply(text, &mut scratch), self.dictionary.as_ref());
            }
        }
        Ok(trainer.documents())
    }
}
