//! What the index knows documents by, and that it fits what else it knows of them.

use std::fmt;
use std::sync::atomic::AtomicBool;

use simhash_index::exact::Text;
use simhash_index::sentences::SentenceItem;
use simhash_index::{IndexError, Item};
use simhash_store::FileError;

use super::document::Sketch;
use super::{Any, LiveIndex};
use crate::error::DedupError;
use crate::parallel;

/// Documents between two looks at the flag.
const CHECKED: u64 = 1_024;

/// What an index knows a document by. As text: hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Exported {
    /// It is empty, or nothing is kept of it.
    Nothing,
    Fingerprint(u64),
    Signature(Vec<u32>),
    Sentences(Vec<u64>),
    /// The hash of its normalised text.
    Exact(u128),
}

impl fmt::Display for Exported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::Fingerprint(value) => write!(f, "{value:016x}"),
            Self::Signature(positions) => {
                positions.iter().try_for_each(|one| write!(f, "{one:08x}"))
            }
            Self::Sentences(hashes) => hashes.iter().try_for_each(|hash| write!(f, "{hash:016x}")),
            Self::Exact(hash) => write!(f, "={hash:032x}"),
        }
    }
}

impl LiveIndex {
    /// What it knows a document by; none where it is not alive.
    pub(crate) fn exported(&self, id: u64) -> Option<Exported> {
        if !self.has(id) {
            return None;
        }
        let known = match &self.any {
            Any::SimHash(engine) => match engine.index.item_of(id)? {
                Item::Fingerprint(value) => Exported::Fingerprint(value),
                Item::Exact(hash) => Exported::Exact(hash),
                Item::Empty => Exported::Nothing,
            },
            Any::MinHash(engine) => {
                engine.index.signature_of(id).map_or(Exported::Nothing, Exported::Signature)
            }
            Any::Sentences(engine) => match engine.index.item_of(id)? {
                SentenceItem::Sentences(hashes) => Exported::Sentences(hashes),
                SentenceItem::Exact(hash) => Exported::Exact(hash),
                SentenceItem::Empty => Exported::Nothing,
            },
            Any::Exact(engine) => match engine.index.item_of(id)? {
                Text::Hash(hash) => Exported::Exact(hash),
                Text::Empty => Exported::Nothing,
            },
        };
        Some(known)
    }

    /// That as many documents can be told as there are, and that a stored text has the fingerprint by which it is looked up.
    pub(crate) fn check_documents(&self, cancel: &AtomicBool) -> Result<(), DedupError> {
        let damaged = |reason: String| {
            let error = FileError::damaged(0, reason);
            let named = self.path.as_ref().map(|path| error.clone().in_file(path));
            DedupError::from(IndexError::from(named.unwrap_or(error)))
        };
        let (mut count, mut scratch) = (0, simhash_sketch::Scratch::default());
        for id in self.ids() {
            if id % CHECKED == 0 {
                parallel::check(cancel)?;
            }
            let Some(known) = self.exported(id) else { continue };
            count += 1;
            // Of a normalised text: sentences end at lines, which it has no longer.
            let Any::SimHash(engine) = &self.any else { continue };
            let Some(text) = self.text_of(id) else { continue };
            let made = self.document(&text, &mut scratch).item;
            if engine.index.item_of(id).map(Sketch::SimHash).is_some_and(|item| item != made) {
                return Err(damaged(format!("document {id} is known by {known}, its text is not")));
            }
        }
        if count != self.len() {
            return Err(damaged(format!(
                "{} documents are counted, {count} are there",
                self.len()
            )));
        }
        Ok(())
    }
}
