//! Words of the user's for JavaScript: dictionaries, stop words and idf tables, and how idf is learnt.
//!
//! Files are read by the typed layer; here they are bytes. The core's types are values, so a fingerprinter takes the words as
//! they are when it is made, and what is added later is for later ones.

mod train;

use crate::error::{Failure, caught, js};
use crate::text::{Accept, Texts};
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;
use parking_lot::RwLock;
use simhash_text::lexicon::{Dictionary, Idf, StopWords};
use std::sync::Arc;

/// The bytes of a file.
fn bytes(file: &Unknown<'_>, name: &str) -> Result<Texts, Failure> {
    Texts::one(file, name, Accept::Texts)
}

/// Words beside jieba's own.
#[napi]
#[derive(Default)]
pub struct NativeDictionary {
    words: RwLock<Arc<Dictionary>>,
}

impl NativeDictionary {
    /// The words as they are now.
    pub(crate) fn now(&self) -> Arc<Dictionary> {
        Arc::clone(&self.words.read())
    }
}

#[napi]
impl NativeDictionary {
    /// jieba's own words.
    #[napi(constructor, catch_unwind)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the words of a file; all or, at a bad line, none.
    #[napi(catch_unwind)]
    pub fn load(&self, file: Unknown<'_>) -> js::Result<()> {
        let file = bytes(&file, "dictionary")?;
        Ok(caught(|| Ok(Arc::make_mut(&mut self.words.write()).load(file.bytes(0))?))?)
    }

    /// Adds a word.
    #[napi(catch_unwind)]
    pub fn add(&self, word: String, frequency: Option<u32>) -> js::Result<()> {
        let add = || {
            Arc::make_mut(&mut self.words.write()).add(&word, frequency);
            Ok(())
        };
        Ok(caught(add)?)
    }

    /// Takes a word away.
    #[napi(catch_unwind)]
    pub fn remove(&self, word: String) -> js::Result<()> {
        self.add(word, Some(0))
    }

    /// The frequency of a word; 0 for one that was taken away.
    #[napi(catch_unwind)]
    pub fn frequency(&self, word: String) -> js::Result<Option<u32>> {
        Ok(caught(|| Ok(self.now().frequency(&word)))?)
    }

    /// The least frequency with which a word would be cut as a whole.
    #[napi(catch_unwind)]
    pub fn suggest_frequency(&self, word: String) -> js::Result<u32> {
        Ok(caught(|| Ok(self.now().suggest_frequency(&word)))?)
    }
}

/// Words that never become keywords.
#[napi]
pub struct NativeStopWords {
    pub(crate) words: Arc<StopWords>,
}

#[napi]
impl NativeStopWords {
    /// jieba's own and those of a file.
    #[napi(factory, catch_unwind)]
    pub fn load(file: Unknown<'_>) -> js::Result<Self> {
        let file = bytes(&file, "stopWords")?;
        let mut words = StopWords::default();
        caught(|| Ok(words.load(file.bytes(0))?))?;
        Ok(Self { words: Arc::new(words) })
    }

    /// None at all.
    #[napi(factory, catch_unwind)]
    pub fn none() -> Self {
        Self { words: Arc::new(StopWords::none()) }
    }
}

/// How rare words are.
#[napi]
pub struct NativeIdf {
    pub(crate) table: Arc<Idf>,
}

#[napi]
impl NativeIdf {
    /// From a file.
    #[napi(factory, catch_unwind)]
    pub fn load(file: Unknown<'_>) -> js::Result<Self> {
        let file = bytes(&file, "idf")?;
        Ok(Self { table: Arc::new(caught(|| Ok(Idf::load(file.bytes(0))?))?) })
    }

    /// As the text of a file.
    #[napi(catch_unwind)]
    pub fn save(&self) -> js::Result<String> {
        Ok(caught(|| Ok(self.table.save()))?)
    }

    /// The value of a word.
    #[napi(catch_unwind)]
    pub fn get(&self, word: String) -> js::Result<f64> {
        Ok(caught(|| Ok(self.table.get(&word)))?)
    }

    /// Number of words.
    #[napi(catch_unwind)]
    pub fn size(&self) -> f64 {
        self.table.len() as f64
    }
}
