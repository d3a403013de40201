//! Additions with a time, what a duplicate does, and the documents that leave the window.

use std::sync::atomic::AtomicBool;

use super::Index;
use crate::{Checked, IndexError, Item, Match};

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
pub struct Outcome {
    /// The id under which the item was added, if it was.
    pub id: Option<u64>,
    /// The nearest document that was there already, ties to the lowest id.
    pub duplicate_of: Option<Match>,
}

impl Index {
    /// [`Index::add`] of a document of this time (default: the clock). In an index with a window the documents that
    /// are then too old or too many leave.
    ///
    /// # Errors
    /// [`IndexError::Full`], [`IndexError::Skew`].
    pub fn add_at(&self, item: Item, at: Option<u64>) -> Result<u64, IndexError> {
        self.admit(at.as_slice())?;
        let mut writer = self.writer();
        let at = writer.advance(at);
        writer.add(item, at)
    }

    /// [`Index::check_and_add`] with a time and a choice of what a duplicate does.
    ///
    /// # Errors
    /// [`IndexError::Full`], [`IndexError::Skew`].
    pub fn check_and_add_with(
        &self,
        item: Item,
        options: AddOptions,
    ) -> Result<Outcome, IndexError> {
        self.admit(options.at.as_slice())?;
        self.writer().check(item, options)
    }

    /// As if [`Index::check_and_add_with`] were called for every item in order; other calls may come between two items,
    /// other batches do not. `times` has one for each item, or is empty for the clock. Items are taken one at a time: where
    /// every item is new or to be skipped and there is no window, [`Index::check_and_add_many`] is faster.
    ///
    /// # Errors
    /// [`IndexError::Full`], [`IndexError::Skew`], [`IndexError::Cancelled`] if the flag is up at the start; nothing was
    /// added then.
    pub fn check_and_add_many_with(
        &self,
        items: &[Item],
        times: &[u64],
        on_duplicate: OnDuplicate,
        cancel: &AtomicBool,
    ) -> Result<Vec<Outcome>, IndexError> {
        self.admit(times)?;
        let mut writer = self.batch(items.len(), cancel)?;
        let times = times.iter().copied().map(Some).chain(std::iter::repeat(None));
        let check = |(&item, at)| {
            writer.next(1);
            writer.check(item, AddOptions { at, on_duplicate })
        };
        items.iter().zip(times).map(check).collect()
    }

    /// Deletes every document with a time before `before` and returns how many they were.
    ///
    /// # Errors
    /// [`IndexError::NoWindow`] if the index keeps no times.
    pub fn expire(&self, before: u64) -> Result<u64, IndexError> {
        if self.shared.window.is_none() {
            return Err(IndexError::NoWindow);
        }
        Ok(self.writer().expire(before, 0))
    }
}

impl From<Outcome> for Checked {
    fn from(outcome: Outcome) -> Self {
        match (outcome.id, outcome.duplicate_of) {
            (None, Some(near)) => Self::Duplicate(near),
            (id, _) => Self::Added(id.unwrap_or_default()),
        }
    }
}
