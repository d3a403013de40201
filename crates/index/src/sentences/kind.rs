//! Sentences in a live index: how they come in, who is near, how changes are written down.

use super::map::Canonical;
use simhash_store::{FileError, Section};

use super::{SentenceItem, SentenceMap, SentenceOptions, Shared, SharedMatches, written};
use crate::IndexError;
use crate::ids::Ids;
use crate::live::{Kind, Nearest, Window};

/// Sketches of a sentence that an addition looks at: more would let a crafted input make additions slow, and the oldest
/// decide among equals anyway.
const EXAMINED: usize = 256;

/// How to search by sentences.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SentenceSearch {
    /// At most so many matches, those that share most first; default: all.
    pub limit: Option<usize>,
    /// Of each sentence at most so many sketches are looked at, the oldest; what lies beyond makes an answer `truncated`.
    /// Default: all.
    pub bucket: Option<usize>,
}

impl SentenceSearch {
    /// At most so many matches of all holders.
    pub fn at_most(limit: usize) -> Self {
        Self { limit: Some(limit), ..Self::default() }
    }
}

impl Kind for SentenceMap {
    type Options = SentenceOptions;
    type Item = SentenceItem;
    type Form<'a> = Canonical;
    type Search = SentenceSearch;
    type Match = Shared;
    type Hint = ();
    type Background = ();

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

    fn search_options(
        _: &SentenceOptions,
        search: SentenceSearch,
    ) -> Result<SentenceSearch, IndexError> {
        Ok(search)
    }

    fn ids(&self) -> &impl Ids {
        &self.records
    }

    fn id_of(found: &Shared) -> u64 {
        found.id
    }

    fn form_of(&self, _: &SentenceOptions, id: u64) -> Option<Canonical> {
        let entry = self.entry_of(self.short(id)?);
        Some(match (self.sketches.sentences(entry), self.text_of.get(entry)) {
            (_, Some(&text)) => Canonical::Text(text),
            ([], None) => Canonical::Nothing,
            (sentences, None) => Canonical::Sketch(sentences.to_vec()),
        })
    }

    fn near(&self, form: &Canonical, search: SentenceSearch) -> SharedMatches {
        let [bucket, limit] = [search.bucket, search.limit].map(|most| most.unwrap_or(usize::MAX));
        self.shared(form, bucket, limit)
    }

    /// The live document that shares most sentences, ties to the lowest id; of each sentence the oldest holders are looked
    /// at.
    fn nearest(&self, _: &SentenceOptions, form: &Canonical) -> Nearest<Self> {
        Nearest { best: self.best(form, EXAMINED), truncated: false, hint: () }
    }

    fn check_room(&self, more: u64) -> Result<(), IndexError> {
        self.fits(usize::try_from(more).unwrap_or(usize::MAX))
    }

    fn insert(&mut self, form: &Canonical, (): ()) -> (u64, bool) {
        (self.append(form), false)
    }

    fn remove(&mut self, id: u64) {
        self.delete(id);
    }

    fn purge(&mut self) {
        self.take_out_dead();
    }

    fn overlook(&mut self, form: &Canonical, near: &Shared) -> bool {
        self.pass_over(form, *near)
    }

    fn write_item(options: &SentenceOptions, item: &SentenceItem, out: &mut Vec<u8>) {
        written::write_item(item, options.sentences, out);
    }

    fn read_item(
        options: &SentenceOptions,
        input: &mut Section,
    ) -> Result<SentenceItem, FileError> {
        written::read_item(input, options.sentences)
    }

    fn measure_of(near: &Shared) -> u64 {
        near.shared.into()
    }

    fn measured(measure: u64) -> Option<Shared> {
        Some(Shared { id: 0, shared: u32::try_from(measure).unwrap_or(u32::MAX) })
    }
}
