//! The candidates of the texts that came with a batch.

use crate::method::Candidate;

/// Lists of the texts from one number on.
#[derive(Default)]
pub(super) struct Lists {
    /// The number of the first text.
    pub(super) first: u32,
    lists: Vec<Vec<Candidate>>,
}

impl Lists {
    /// Drops the lists there are; those that come are of the texts from this number on.
    pub(super) fn start(&mut self, first: u32) {
        self.first = first;
        self.lists.clear();
    }

    /// Adds the list of the next text.
    pub(super) fn push(&mut self, candidates: Vec<Candidate>) {
        self.lists.push(candidates);
    }

    /// The candidates of a text, best first; none for one that came before.
    pub(super) fn get(&self, text: u32) -> &[Candidate] {
        let place = text.checked_sub(self.first).map(|place| place as usize);
        place.and_then(|place| self.lists.get(place)).map_or(&[], Vec::as_slice)
    }
}
