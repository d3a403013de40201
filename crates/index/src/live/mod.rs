//! The live index: many readers, one writer at a time, whatever finds what is near.
//!
//! ```text
//!  add, delete … ──► turns ──► state: a kind, and the times of its documents ──► log
//!  search ──────────────────────┘ read                                  (memory, a file, or somebody else)
//! ```
//! [`Live`] is the shell of every index. A [`Kind`] is what it is built around: the Hamming index, bands, sentences, equal
//! texts.
//! Two locks: who has the turn (`turns`) knows that nothing is added or deleted meanwhile, so a check-and-add looks and
//! adds as one step, and of two near-duplicates that arrive together exactly one is kept. `state` guards the data: searches
//! share it, and it is taken exclusively only for the moment of a change, which may be the one that tidies up: never while
//! sorted tables are built or a file is written. A search
//! may see a change before it is kept.

mod added;
mod answers;
mod batch;
mod change;
mod hurry;
mod kind;
mod log;
mod queue;
pub(crate) mod saved;
mod state;
mod together;
mod turns;
mod window;
mod writer;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use parking_lot::RwLock;

pub use self::added::Added;
pub use self::answers::{AddOptions, Answer, OnDuplicate, Outcome};
pub(crate) use self::batch::{SLICE, compact_in_steps, each};
pub use self::change::{Change, Kept};
pub use self::hurry::Hurry;
pub use self::kind::{Kind, Nearest};
pub(crate) use self::log::{Keeping, Log};
pub use self::saved::{Later, Snapshot, Whole};
pub use self::state::State;
pub(crate) use self::turns::Turns;
pub(crate) use self::window::{Ages, Skew};
pub use self::window::{MAX_SKEW, Window};
pub use self::writer::Writer;
use crate::IndexError;

/// A live index of some kind.
///
/// Every method takes `&self`; share it between threads as it is. Ids grow by one from 0 and are never reused.
pub struct Live<K: Kind> {
    pub(crate) shared: Arc<Shared<K>>,
}

impl<K: Kind> fmt::Debug for Live<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("options", &self.shared.options).finish_non_exhaustive()
    }
}

/// No position.
pub(crate) const NOWHERE: u64 = u64::MAX;

/// What an index shares with its background and its snapshots.
#[derive(Debug)]
pub struct Shared<K: Kind> {
    pub(crate) options: K::Options,
    pub(crate) turns: Turns<Log>,
    pub(crate) state: RwLock<State<K>>,
    pub(crate) background: K::Background,
    /// How far the caller says it has come; [`NOWHERE`] where it never said.
    pub(crate) position: AtomicU64,
    skew: Skew,
    truncated: AtomicU64,
    /// Callers that keep changes from waiting.
    hurried: AtomicU32,
}

impl<K: Kind> Shared<K> {
    pub(crate) fn window(&self) -> Option<Window> {
        K::window(&self.options)
    }

    /// Answers so far that a limit has cut.
    pub(crate) fn truncated(&self) -> u64 {
        self.truncated.load(Ordering::Relaxed)
    }

    fn count_truncated(&self, cut: impl IntoIterator<Item = bool>) {
        let cut = cut.into_iter().filter(|&cut| cut).count();
        if cut > 0 {
            self.truncated.fetch_add(cut as u64, Ordering::Relaxed);
        }
    }
}

impl<K: Kind> Live<K> {
    /// An index of this state, whose changes go where `keeping` says.
    pub(crate) fn of(
        options: K::Options,
        state: State<K>,
        keeping: Keeping,
        background: K::Background,
    ) -> Self {
        let shared = Shared {
            options,
            turns: Turns::new(Log::new(keeping)),
            state: RwLock::new(state),
            background,
            position: AtomicU64::new(NOWHERE),
            skew: Skew::default(),
            truncated: AtomicU64::new(0),
            hurried: AtomicU32::new(0),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The options it was made with.
    pub fn options(&self) -> &K::Options {
        &self.shared.options
    }

    /// The window that it was made with.
    pub fn window(&self) -> Option<Window> {
        self.shared.window()
    }

    /// Whether documents of all these times may be added: to be asked before anything is changed.
    ///
    /// # Errors
    /// [`IndexError::Skew`].
    pub fn admit(&self, times: &[u64]) -> Result<(), IndexError> {
        self.shared.skew.admit(self.shared.window(), times)
    }

    /// How many milliseconds a time may be ahead of the system's clock, in an index with a window; none: any number, for
    /// times that are not milliseconds since 1970. Default [`MAX_SKEW`]. Not saved with the index.
    pub fn set_max_skew(&self, most: Option<u64>) {
        self.shared.skew.set(most);
    }

    /// Runs one change and keeps what it changed, even if it fails half-way.
    pub(crate) fn change<T>(
        &self,
        times: &[u64],
        work: impl FnOnce(&mut Writer<'_, K>) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        self.admit(times)?;
        let mut writer = self.writer()?;
        let done = work(&mut writer);
        writer.keep()?;
        let done = done?;
        K::sound(&self.shared.options)?;
        Ok(done)
    }

    /// An item as it is looked up, if it fits; no lock is held.
    fn form<'a>(&self, item: &'a K::Item) -> Result<K::Form<'a>, IndexError> {
        K::check(&self.shared.options, item)?;
        Ok(K::form(&self.shared.options, item))
    }

    /// Adds an item without looking for near ones and returns its id.
    ///
    /// # Errors
    /// [`IndexError::Full`], [`IndexError::File`], [`IndexError::Stopped`], and those of an item that does not fit the index.
    pub fn add(&self, item: impl AsRef<K::Item>) -> Result<u64, IndexError> {
        self.add_at(item, None)
    }

    /// [`Live::add`] of a document of this time (default: the clock in milliseconds since 1970; a time before the latest counts
    /// as the latest). In an index with a window the documents that are then too old or too many leave.
    ///
    /// # Errors
    /// As [`Live::add`], and [`IndexError::Skew`].
    pub fn add_at(&self, item: impl AsRef<K::Item>, at: Option<u64>) -> Result<u64, IndexError> {
        let item = item.as_ref();
        let form = self.form(item)?;
        self.change(at.as_slice(), |writer| {
            writer.advance(at)?;
            writer.add_form(item, &form)
        })
    }

    /// All live documents near an item, in the order of the kind: see [`Kind::near`].
    ///
    /// # Errors
    /// Those of an item or an option that does not fit the index.
    pub fn search(
        &self,
        item: impl AsRef<K::Item>,
        search: K::Search,
    ) -> Result<Answer<K::Match>, IndexError> {
        let found = self.look(item, search)?;
        self.shared.count_truncated([found.truncated]);
        Ok(found)
    }

    /// [`Live::search`] that is not counted where a limit cut it: for who makes an answer of several.
    ///
    /// # Errors
    /// As [`Live::search`].
    pub fn look(
        &self,
        item: impl AsRef<K::Item>,
        search: K::Search,
    ) -> Result<Answer<K::Match>, IndexError> {
        let search = K::search_options(&self.shared.options, search)?;
        let form = self.form(item.as_ref())?;
        let found = {
            let state = self.shared.state.read();
            state.kind.prefetch(&form);
            state.kind.near(&form, search)
        };
        K::sound(&self.shared.options)?;
        Ok(found)
    }

    /// [`Live::search`] for what a live document is itself: it is among the matches. None where it is not alive, or too little of
    /// it is kept ([`Kind::form_of`]).
    ///
    /// # Errors
    /// Those of an option that does not fit the index.
    pub fn search_id(
        &self,
        id: u64,
        search: K::Search,
    ) -> Result<Option<Answer<K::Match>>, IndexError> {
        let search = K::search_options(&self.shared.options, search)?;
        let state = self.shared.state.read();
        if !state.has(id) {
            return Ok(None);
        }
        let form = state.kind.form_of(&self.shared.options, id);
        let found = form.map(|form| state.kind.near(&form, search));
        K::sound(&self.shared.options)?;
        Ok(found)
    }

    /// Adds the item unless a live document is near: look and add are one step.
    ///
    /// # Errors
    /// As [`Live::add`].
    pub fn check_and_add(
        &self,
        item: impl AsRef<K::Item>,
    ) -> Result<Outcome<K::Match>, IndexError> {
        self.check_and_add_with(item, AddOptions::default())
    }

    /// [`Live::check_and_add`] with a time and a choice of what a duplicate does.
    ///
    /// # Errors
    /// As [`Live::add_at`].
    pub fn check_and_add_with(
        &self,
        item: impl AsRef<K::Item>,
        how: AddOptions,
    ) -> Result<Outcome<K::Match>, IndexError> {
        let item = item.as_ref();
        let form = self.form(item)?;
        let outcome = self.change(how.at.as_slice(), |writer| writer.check(item, &form, how))?;
        self.shared.count_truncated([outcome.truncated]);
        Ok(outcome)
    }

    /// Whether this id is alive.
    pub fn has(&self, id: u64) -> bool {
        self.shared.state.read().has(id)
    }

    /// Takes an id away; false if it was not alive. Amortised O(1) but for the rewriting of tables.
    ///
    /// # Errors
    /// [`IndexError::File`], [`IndexError::Stopped`].
    pub fn delete(&self, id: u64) -> Result<bool, IndexError> {
        self.change(&[], |writer| Ok(writer.delete(id)))
    }

    /// Deletes every document with a time before `before` and returns how many they were.
    ///
    /// # Errors
    /// [`IndexError::NoWindow`] if the index keeps no times, [`IndexError::File`], [`IndexError::Stopped`].
    pub fn expire(&self, before: u64) -> Result<u64, IndexError> {
        if self.shared.window().is_none() {
            return Err(IndexError::NoWindow);
        }
        self.change(&[], |writer| writer.expire_before(before))
    }

    /// How far the caller has come, by what it said with its changes; none: it never said.
    pub fn position(&self) -> Option<u64> {
        Some(self.shared.position.load(Ordering::Acquire)).filter(|&position| position != NOWHERE)
    }

    /// The latest time that an addition has brought; 0 in an index without a window.
    pub fn latest(&self) -> u64 {
        self.shared.state.read().ages.latest()
    }

    /// Number of live ids.
    pub fn len(&self) -> u64 {
        self.shared.state.read().live()
    }

    /// Whether no id is alive.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The id that the next addition gets.
    pub fn next_id(&self) -> u64 {
        self.shared.next_id()
    }

    /// The oldest id that may be alive.
    pub fn oldest_id(&self) -> u64 {
        crate::ids::Ids::oldest(self.shared.state.read().kind.ids())
    }
}

#[cfg(test)]
mod tests;
