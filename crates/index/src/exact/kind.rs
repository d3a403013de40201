//! Equal texts in a live index.

use simhash_store::{FileError, Section};

use super::texts::Equal;
use crate::IndexError;
use crate::ids::Ids;
use crate::live::{Answer, Keeping, Kind, Live, Nearest, SLICE, State, Window, compact_in_steps};
use std::sync::atomic::AtomicBool;

/// A live index of equal texts.
pub type ExactIndex = Live<Equal>;

/// The answer to a search for equal texts, the oldest first.
pub type EqualMatches = Answer<EqualMatch>;

/// A document, as this index sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Text {
    /// The hash of its normalised text.
    Hash(u128),
    /// An empty text: it gets an id and matches nothing.
    Empty,
}

impl AsRef<Self> for Text {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// A live document with an equal text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EqualMatch {
    /// Its id.
    pub id: u64,
}

/// Options of [`ExactIndex::new`](Live::new).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ExactOptions {
    /// Keeps times and lets old documents leave. Default: documents stay, and no times are kept.
    pub window: Option<Window>,
}

/// Counts and bytes of an index of equal texts at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExactStats {
    /// Live ids.
    pub live: u64,
    /// Bytes of ids and maps: about 24 for each live document, a huge page, and 16 for each of up to 8,191 ids that have left
    /// beside one that has not.
    pub bytes: usize,
    /// Bytes of the times of documents, in an index with a window.
    pub window_bytes: usize,
    /// Searches whose answer a limit cut, so far.
    pub truncated: u64,
}

impl Kind for Equal {
    type Options = ExactOptions;
    type Item = Text;
    type Form<'a> = Option<u128>;
    /// At most so many matches, the oldest first; default: all.
    type Search = Option<usize>;
    type Match = EqualMatch;
    type Hint = ();
    type Background = ();

    fn window(options: &ExactOptions) -> Option<Window> {
        options.window
    }

    fn check(_: &ExactOptions, _: &Text) -> Result<(), IndexError> {
        Ok(())
    }

    fn form(_: &ExactOptions, text: &Text) -> Option<u128> {
        match text {
            Text::Hash(hash) => Some(*hash),
            Text::Empty => None,
        }
    }

    fn search_options(_: &ExactOptions, limit: Option<usize>) -> Result<Option<usize>, IndexError> {
        Ok(limit)
    }

    /// 0: empty | 1: hash u128.
    fn write_item(_: &ExactOptions, item: &Text, out: &mut Vec<u8>) {
        match item {
            Text::Empty => out.push(0),
            Text::Hash(hash) => {
                out.push(1);
                out.extend(hash.to_le_bytes());
            }
        }
    }

    fn read_item(_: &ExactOptions, input: &mut Section) -> Result<Text, FileError> {
        match input.byte()? {
            0 => Ok(Text::Empty),
            1 => Ok(Text::Hash(input.wide()?)),
            kind => Err(input.damaged(format!("an item of kind {kind}"))),
        }
    }

    fn ids(&self) -> &impl Ids {
        self.ids()
    }

    fn id_of(found: &EqualMatch) -> u64 {
        found.id
    }

    fn form_of(&self, _: &ExactOptions, id: u64) -> Option<Option<u128>> {
        Some(self.text(self.ids().short(id)?))
    }

    fn prefetch(&self, form: &Option<u128>) {
        if let Some(text) = *form {
            self.prefetch(text);
        }
    }

    fn near(&self, form: &Option<u128>, limit: Option<usize>) -> EqualMatches {
        let mut found = EqualMatches::default();
        if let Some(text) = *form {
            found.truncated = self.holders(text, limit.unwrap_or(usize::MAX), |id| {
                found.matches.push(EqualMatch { id });
            });
        }
        found
    }

    fn nearest(&self, _: &ExactOptions, form: &Option<u128>) -> Nearest<Self> {
        let first = form.and_then(|text| self.first(text));
        let best = first.map(|short| EqualMatch { id: self.ids().id(short) });
        Nearest { best, truncated: false, hint: () }
    }

    fn check_room(&self, more: u64) -> Result<(), IndexError> {
        self.ids().check_room(more)
    }

    fn insert(&mut self, form: &Option<u128>, (): ()) -> (u64, bool) {
        (self.push(*form), false)
    }

    fn remove(&mut self, id: u64) {
        self.delete(id as u32);
    }
}

impl ExactIndex {
    /// An empty index.
    ///
    /// # Errors
    /// [`IndexError::Window`] for a limit of 0.
    pub fn new(options: &ExactOptions) -> Result<Self, IndexError> {
        Ok(Self::around(*options, Self::empty(options, 0)?))
    }

    pub(super) fn empty(options: &ExactOptions, first: u64) -> Result<State<Equal>, IndexError> {
        options.window.unwrap_or_default().check()?;
        Ok(State::of(Equal::starting_at(first)?, options.window))
    }

    pub(super) fn around(options: ExactOptions, state: State<Equal>) -> Self {
        Self::of(options, state, Keeping::Memory, ())
    }

    /// The text of a live document; none where it is not alive.
    pub fn item_of(&self, id: u64) -> Option<Text> {
        let state = self.shared.state.read();
        let text = state.has(id).then(|| state.kind.form_of(self.options(), id))??;
        Some(text.map_or(Text::Empty, Text::Hash))
    }

    /// Gives back what documents that have left still hold, a little at a time; others come in between.
    ///
    /// # Errors
    /// [`IndexError::Cancelled`].
    pub fn compact(&self, cancel: &AtomicBool) -> Result<(), IndexError> {
        compact_in_steps(cancel, || self.shared.state.write().kind.compact(SLICE))
    }

    /// Counts and bytes.
    pub fn stats(&self) -> ExactStats {
        let state = self.shared.state.read();
        ExactStats {
            live: state.live(),
            bytes: state.kind.bytes(),
            window_bytes: state.ages.bytes(),
            truncated: self.shared.truncated(),
        }
    }
}
