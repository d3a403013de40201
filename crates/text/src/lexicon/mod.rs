//! What a user adds to jieba's data: words, stop words, and idf values of a corpus of their own.
//!
//! jieba's own tables are made once and shared by everybody; these hold only the differences, so any number
//! of them can exist side by side. They are values: change one, and give it to a new extractor.

mod dictionary;
mod idf;
mod lines;
mod stop_words;

pub use dictionary::Dictionary;
pub use idf::{Idf, IdfTrainer};
pub use stop_words::StopWords;
pub(crate) use stop_words::is_default as is_default_stop_word;
