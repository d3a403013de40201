//! What this crate uses of the crate that reads: names, and what its values are here.

use crate::error::DedupError;
use crate::keep::Key;
use simhash_corpus::{CorpusError, Rank};

pub(crate) use simhash_corpus::{
    Again, Block, Id, Layout, Line, Opened, Origin, Record, Statement, agree, id_json, id_of_key,
    key_of_id, name_of_id, read_exact_at, spawn, uses_all,
};
pub use simhash_corpus::{Encoding, Fields, Form, Format, Input, MAX_RECORD_BYTES};

impl From<CorpusError> for DedupError {
    fn from(error: CorpusError) -> Self {
        match error {
            CorpusError::Option { argument, value, expected } => {
                Self::Option { argument, value, expected }
            }
            CorpusError::Input { path, source } => Self::Input { path, source },
            CorpusError::Changed { path, what } => Self::InputChanged { path, line: None, what },
        }
    }
}

impl From<Rank<'_>> for Key {
    fn from(rank: Rank<'_>) -> Self {
        match rank {
            Rank::Missing => Self::Missing,
            Rank::Number(number) => Self::number(&number),
            Rank::Text(text) => Self::Text(text.into()),
        }
    }
}
