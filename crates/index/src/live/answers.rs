//! What is asked of a live index, and what it answers, whatever its kind.

/// The answer to one search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer<M> {
    /// Live documents, in the order of the kind: the nearest, the most similar, those that share most come first, then the
    /// oldest.
    pub matches: Vec<M>,
    /// Whether a limit left something out.
    pub truncated: bool,
}

impl<M> Default for Answer<M> {
    fn default() -> Self {
        Self { matches: Vec::new(), truncated: false }
    }
}

/// What a check-and-add does when a near document is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnDuplicate {
    /// Nothing.
    #[default]
    Skip,
    /// Adds the item all the same.
    Add,
    /// Renews the age of the near document, in an index with a window; adds nothing.
    Touch,
}

/// How to check and add.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AddOptions {
    /// The item's time; default: the clock, in milliseconds since 1970. Only an index with a window looks at it.
    pub at: Option<u64>,
    /// What to do with a near document.
    pub on_duplicate: OnDuplicate,
}

/// What a check-and-add found and did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome<M> {
    /// The id under which the item was added, if it was.
    pub id: Option<u64>,
    /// The best match that was there already, ties to the lowest id.
    pub duplicate_of: Option<M>,
    /// Whether a bucket limit cut the look: a better match, or one at all, may have been overlooked. Always false in a Hamming
    /// index, which has none, and in one of sentences, where the oldest holders of each decide by definition.
    pub truncated: bool,
}

impl<M> Outcome<M> {
    /// Nothing was near.
    pub fn added(id: u64) -> Self {
        Self { id: Some(id), duplicate_of: None, truncated: false }
    }

    /// This was near, and nothing was added.
    pub fn duplicate(of: M) -> Self {
        Self { id: None, duplicate_of: Some(of), truncated: false }
    }
}
