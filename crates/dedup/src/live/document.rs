//! A document on its way in, and what is found of those that are there.

use std::sync::atomic::{AtomicUsize, Ordering};

use simhash_index::Item;
use simhash_index::bands::BandItem;
use simhash_index::exact::Text;
use simhash_index::sentences::SentenceItem;
use simhash_sketch::Features;

/// A document as an index takes it: made by [`LiveIndex::document`](super::LiveIndex::document), or of what stands for a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    pub(super) item: Sketch,
    /// The normalised text, where it is needed and known.
    pub(super) text: Option<Box<str>>,
    /// The hash of the normalised text, where that is known.
    pub(super) exact: u128,
    /// Its features, where they were cut for the sketch and are compared.
    pub(super) features: Option<Features>,
}

/// What the index of a method stores of a document.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Sketch {
    SimHash(Item),
    MinHash(BandItem),
    Sentences(SentenceItem),
    Exact(Text),
}

impl Sketch {
    /// Whether it stands for a text as a whole: what is near it is equal.
    pub(super) fn is_exact(&self) -> bool {
        match self {
            Self::SimHash(item) => matches!(item, Item::Exact(_)),
            Self::MinHash(item) => item.is_exact(),
            Self::Sentences(item) => matches!(item, SentenceItem::Exact(_)),
            Self::Exact(item) => matches!(item, Text::Hash(_)),
        }
    }
}

impl Document {
    /// A fingerprint, for an index of method simhash.
    pub fn fingerprint(value: u64) -> Self {
        Self::bare(Sketch::SimHash(Item::Fingerprint(value)))
    }

    /// A signature, for an index of method minhash that has its length; an empty one matches nothing.
    pub fn signature(positions: Vec<u32>) -> Self {
        Self::bare(Sketch::MinHash(positions.into()))
    }

    /// Whether it is too short for the method, and compared as a whole; and whether it is empty.
    pub(crate) fn shape(&self) -> (bool, bool) {
        match &self.item {
            Sketch::SimHash(item) => (matches!(item, Item::Exact(_)), matches!(item, Item::Empty)),
            Sketch::MinHash(item) => (item.is_exact(), *item == BandItem::default()),
            Sketch::Sentences(item) => {
                (matches!(item, SentenceItem::Exact(_)), matches!(item, SentenceItem::Empty))
            }
            Sketch::Exact(item) => (false, matches!(item, Text::Empty)),
        }
    }

    pub(super) fn bare(item: Sketch) -> Self {
        Self { item, text: None, exact: 0, features: None }
    }
}

/// How many bytes of features the documents of a batch may keep together: what comes after that is cut again where it is
/// compared.
#[derive(Debug)]
pub struct Room(AtomicUsize);

impl Room {
    /// So many bytes.
    pub fn new(bytes: usize) -> Self {
        Self(AtomicUsize::new(bytes))
    }

    /// Whether there was room for so many.
    pub(super) fn take(&self, bytes: usize) -> bool {
        let less = |left: usize| left.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

impl Default for Room {
    /// 64 MiB.
    fn default() -> Self {
        Self::new(64 << 20)
    }
}

/// A live document that is near.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// Its id.
    pub id: u64,
    /// Similarity of the two, 0 to 1: measured where it is `verified`, else estimated where the method can.
    pub similarity: Option<f64>,
    /// Whether the texts were compared, or are known to be equal.
    pub verified: bool,
    /// By the method: the Hamming distance, how many bands or how many sentences are equal; 0 for `exact`.
    pub measure: u32,
}

/// What a check-and-add found and did.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Checked {
    /// The id under which the document was added, if it was.
    pub id: Option<u64>,
    /// The document that was there already.
    pub duplicate_of: Option<Near>,
    /// A limit cut the candidates: a better match, or one at all, may have been missed.
    pub truncated: bool,
    /// The key was checked before, and this is what was answered then, see [`OnSameKey::Repeat`](super::OnSameKey::Repeat).
    /// Nothing was looked for and nothing has changed.
    pub repeated: bool,
}

/// What a batch of checks found and did.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CheckedMany {
    /// One for each document, in order.
    pub checked: Vec<Checked>,
    /// For each document the key of the one that was there already, if that has one, as it was right after the document was checked: one
    /// that came later in the batch may have taken it out of the window. One that left for the document itself has none. None
    /// where the index has no keys.
    pub keys: Option<Vec<Option<String>>>,
}

/// The end of a check.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// It is done.
    Done(Checked),
    /// Nothing was added: the texts of these documents are needed. Ask again with them. In an index with a window the time of
    /// the check counts, and documents may have left for it.
    Texts(Vec<u64>),
}

/// What a caller knows of the text of a document that the index has not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texts<'a> {
    /// The normalised text.
    Known(&'a str),
    /// There is none: the document counts unverified.
    None,
    /// It can be found: end with [`Step::Texts`].
    Ask,
}

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// At most so many matches; default: all.
    pub limit: Option<usize>,
    /// Largest distance, 0 to 16, for simhash; default: that of the index.
    pub max_distance: Option<u32>,
    /// Least similarity, 0 to 1; default: that of the index. Not where nothing is compared.
    pub min_similarity: Option<f64>,
    /// Whether candidates are compared, in an index that does. False: they come as they are.
    pub verified: bool,
}

impl Default for Search {
    fn default() -> Self {
        Self { limit: None, max_distance: None, min_similarity: None, verified: true }
    }
}
