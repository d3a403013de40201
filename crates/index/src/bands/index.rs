//! The live index: many readers, one writer at a time.
//!
//! The locks are those of [`Index`](crate::Index): who has the turn knows that nothing is added or deleted meanwhile, so a
//! check-and-add looks and adds as one step; `state` guards the data and is taken exclusively only for a change.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::RwLock;

use super::state::State;
use super::{BandMatches, BandOptions, BandOutcome, BandSearch, BandStats, options};
use crate::index::each;
use crate::turns::Turns;
use crate::window::{Skew, clock};
use crate::{AddOptions, Added, IndexError};

/// An index of `MinHash` signatures by bands; see the [module](super).
///
/// Every method takes `&self`; share it between threads as it is. An empty signature gets an id and matches nothing.
#[derive(Debug)]
pub struct BandIndex {
    pub(super) options: BandOptions,
    pub(super) turns: Turns<()>,
    pub(super) state: Arc<RwLock<State>>,
    pub(super) skew: Skew,
    truncated: AtomicU64,
}

impl BandIndex {
    /// An empty index.
    ///
    /// # Errors
    /// [`IndexError::Bands`] for bands, rows, hashes, a threshold or a limit out of range, [`IndexError::Window`] for a limit of 0.
    pub fn new(options: &BandOptions) -> Result<Self, IndexError> {
        Self::starting_at(*options, 0)
    }

    pub(super) fn starting_at(options: BandOptions, first: u64) -> Result<Self, IndexError> {
        Ok(Self::of(options, State::starting_at(options, first)?))
    }

    pub(super) fn of(options: BandOptions, state: State) -> Self {
        let (turns, skew) = (Turns::default(), Skew::default());
        let state = Arc::new(RwLock::new(state));
        Self { options, turns, state, skew, truncated: AtomicU64::new(0) }
    }

    /// How far ahead of the clock a time may be, as [`Index::set_max_skew`](crate::Index::set_max_skew).
    pub fn set_max_skew(&self, most: Option<u64>) {
        self.skew.set(most);
    }

    /// The options it was made with.
    pub fn options(&self) -> &BandOptions {
        &self.options
    }

    /// Adds a signature without looking for similar ones and returns its id. Amortised O(bands).
    ///
    /// # Errors
    /// [`IndexError::Signature`] for one of another length, [`IndexError::Full`], [`IndexError::Skew`] with a time.
    pub fn add(&self, signature: &[u32]) -> Result<u64, IndexError> {
        self.add_at(signature, None)
    }

    /// Adds many in order; other calls may come between two of them, other batches do not. `times` has one for each, or is
    /// empty for the clock.
    ///
    /// # Errors
    /// As [`BandIndex::add`]; nothing was added then.
    pub fn add_many_at<S: AsRef<[u32]>>(
        &self,
        signatures: &[S],
        times: &[u64],
    ) -> Result<Added, IndexError> {
        let mut turn = self.batch(signatures, times, &AtomicBool::new(false))?;
        let mut added = Added::from(self.state.read().documents.next());
        let (mut keys, now) = (Vec::new(), clock());
        for (number, signature) in signatures.iter().enumerate() {
            turn.next(1);
            let at = self.advance(&mut turn, Some(times.get(number).copied().unwrap_or(now)));
            State::keys(&self.options, signature.as_ref(), &mut keys)?;
            let id = self.add_now(&mut turn, signature.as_ref(), &keys, at)?;
            added.push(id..id + 1);
        }
        Ok(added)
    }

    /// Live documents that share at least one band, and with signatures kept are at least as similar as the index's threshold:
    /// the best first, then the oldest, at most `limit`.
    ///
    /// # Errors
    /// [`IndexError::Signature`].
    pub fn search(&self, signature: &[u32], limit: usize) -> Result<BandMatches, IndexError> {
        self.search_with(signature, BandSearch { threshold: None, limit: Some(limit) })
    }

    /// [`BandIndex::search`] with a threshold of its own.
    ///
    /// # Errors
    /// [`IndexError::Signature`]; [`IndexError::Bands`] for a threshold out of range, or in an index without signatures.
    pub fn search_with(
        &self,
        signature: &[u32],
        search: BandSearch,
    ) -> Result<BandMatches, IndexError> {
        let (threshold, limit) = self.resolve(search)?;
        let mut keys = Vec::new();
        State::keys(&self.options, signature, &mut keys)?;
        let state = self.state.read();
        state.prefetch(&keys);
        let found = state.search(signature, &keys, threshold, limit);
        drop(state);
        self.count_truncated([found.truncated]);
        Ok(found)
    }

    /// One answer per signature, in order. Runs on the current rayon pool on at most `threads` tasks (0: all of it).
    ///
    /// # Errors
    /// As [`BandIndex::search_with`], and [`IndexError::Cancelled`].
    pub fn search_many<S: AsRef<[u32]> + Sync>(
        &self,
        signatures: &[S],
        search: BandSearch,
        threads: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<BandMatches>, IndexError> {
        let (threshold, limit) = self.resolve(search)?;
        let found = each(signatures, threads, cancel, |slice| {
            let mut keys = vec![Vec::new(); slice.len()];
            let read = slice.iter().zip(&mut keys).try_for_each(|(signature, keys)| {
                State::keys(&self.options, signature.as_ref(), keys)
            });
            let state = self.state.read();
            let answer = |(number, (signature, own)): (usize, (&S, &Vec<u64>))| {
                // The next one's lines are on their way while this one is answered.
                state.prefetch(keys.get(number + 1).map_or(&[], Vec::as_slice));
                state.search(signature.as_ref(), own, threshold, limit)
            };
            match read {
                Ok(()) => slice.iter().zip(&keys).enumerate().map(answer).map(Ok).collect(),
                Err(error) => vec![Err(error)],
            }
        })?;
        let found: Vec<BandMatches> = found.into_iter().collect::<Result<_, _>>()?;
        self.count_truncated(found.iter().map(|found| found.truncated));
        Ok(found)
    }

    /// Adds the signature unless a match is there; looking and adding are one step. With signatures kept a match is confirmed
    /// by the estimated similarity; without, a shared band is the claim.
    ///
    /// # Errors
    /// As [`BandIndex::add`].
    pub fn check_and_add(&self, signature: &[u32]) -> Result<BandOutcome, IndexError> {
        self.check_and_add_with(signature, AddOptions::default())
    }

    /// Whether this id is alive.
    pub fn has(&self, id: u64) -> bool {
        self.state.read().documents.has(id)
    }

    /// Takes an id away; false if it was not alive. Amortised O(bands).
    pub fn delete(&self, id: u64) -> bool {
        let _turn = self.turns.turn();
        let mut state = self.state.write();
        let deleted = state.documents.delete(id);
        state.tidy();
        deleted
    }

    /// Number of live ids.
    pub fn len(&self) -> u64 {
        self.state.read().documents.live()
    }

    /// Whether no id is alive.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Counts and bytes.
    pub fn stats(&self) -> BandStats {
        let state = self.state.read();
        let (entries, crowded) = state.table.count();
        let (id_bytes, signature_bytes) = state.documents.bytes();
        BandStats {
            live: state.documents.live(),
            dead: state.documents.dead(),
            entries,
            crowded,
            plan: self.options.plan,
            table_bytes: state.table.bytes(),
            id_bytes,
            signature_bytes,
            window_bytes: state.ages.bytes(),
            truncated: self.truncated.load(Ordering::Relaxed),
        }
    }

    fn resolve(&self, search: BandSearch) -> Result<(Option<f64>, usize), IndexError> {
        if let Some(threshold) = search.threshold {
            options::check_threshold(threshold)?;
            if self.options.signatures.is_none() {
                let range = "left out where no signatures are kept";
                return Err(super::plan::out_of_range("threshold", threshold, range));
            }
        }
        Ok((search.threshold, search.limit.unwrap_or(usize::MAX)))
    }

    pub(super) fn count_truncated(&self, found: impl IntoIterator<Item = bool>) {
        let cut = found.into_iter().filter(|&truncated| truncated).count();
        if cut > 0 {
            self.truncated.fetch_add(cut as u64, Ordering::Relaxed);
        }
    }
}
