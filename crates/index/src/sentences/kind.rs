//! Sentences in a live index: how they come in, who is near, how changes are written down.

use super::map::Canonical;
use super::operation::Operation;
use super::{SentenceItem, SentenceMap, SentenceOptions, Shared, SharedMatches};
use crate::IndexError;
use crate::ids::Ids;
use crate::live::{Change, Kind, Nearest, Window};

/// Sketches of a sentence that an addition looks at: more would let a crafted input make additions slow, and the oldest
/// decide among equals anyway.
const EXAMINED: usize = 256;

/// At most so many matches of a search; default: all.
pub type Limit = Option<usize>;

impl Kind for SentenceMap {
    type Options = SentenceOptions;
    type Item = SentenceItem;
    type Form<'a> = Canonical;
    type Search = Limit;
    type Match = Shared;
    type Hint = ();
    type Background = Opened;

    const OVERLOOKS: bool = true;

    fn window(options: &SentenceOptions) -> Option<Window> {
        options.window
    }

    fn check(_: &SentenceOptions, _: &SentenceItem) -> Result<(), IndexError> {
        Ok(())
    }

    fn form(options: &SentenceOptions, item: &SentenceItem) -> Canonical {
        Canonical::of(item, options.sentences)
    }

    fn search_options(_: &SentenceOptions, limit: Limit) -> Result<Limit, IndexError> {
        Ok(limit)
    }

    fn ids(&self) -> &impl Ids {
        &self.records
    }

    fn id_of(found: &Shared) -> u64 {
        found.id
    }

    fn near(&self, form: &Canonical, limit: Limit) -> SharedMatches {
        self.near_canonical(form, limit.unwrap_or(usize::MAX))
    }

    /// The live document that shares most sentences, ties to the lowest id; of each sentence the oldest holders are looked
    /// at.
    fn nearest(&self, _: &SentenceOptions, form: &Canonical) -> Nearest<Self> {
        Nearest { best: self.best_canonical(form, EXAMINED), truncated: false, hint: () }
    }

    fn check_room(&self, more: u64) -> Result<(), IndexError> {
        self.fits(usize::try_from(more).unwrap_or(usize::MAX))
    }

    fn insert(&mut self, form: &Canonical, (): ()) -> (u64, bool) {
        (self.add_canonical(form), false)
    }

    fn remove(&mut self, id: u64) {
        self.delete(id);
    }

    fn purge(&mut self) {
        self.take_out_dead();
    }

    fn overlook(&mut self, form: &Canonical, near: &Shared) -> bool {
        self.overlook_canonical(form, *near)
    }

    fn write(options: &SentenceOptions, change: &Change<'_, Self>, out: &mut Vec<u8>) {
        Operation::of(change).write(options.sentences, out);
    }
}

/// What is known of the file that an index was opened from.
#[derive(Debug, Default)]
pub struct Opened {
    pub(super) recipe: String,
    pub(super) torn_bytes: u64,
}
