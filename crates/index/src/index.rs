//! The live index: many readers, one writer at a time, every answer exact.
//!
//! One lock guards the tables' stack and the ids. Searches share it; a check-and-add holds it *upgradably*, that is
//! against other writers but not against searches, while it looks, and exclusively only for the moment of adding.
//! So of two near-duplicates that arrive together exactly one is kept.

mod batch;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{RwLock, RwLockUpgradableReadGuard};

use crate::ids::Ids;
use crate::plan::{MAX_DISTANCE, Plan};
use crate::scan::Hit;
use crate::spread::spread;
use crate::stack::Stack;
use crate::{Checked, IndexError, IndexOptions, Item, Match, Matches, SearchOptions, Stats};

/// An exact Hamming index over 64-bit fingerprints, with short texts and empty documents beside them.
///
/// Every method takes `&self`; share it between threads as it is.
#[derive(Debug)]
pub struct Index {
    plan: Arc<Plan>,
    max_distance: u32,
    state: RwLock<State>,
    truncated: AtomicU64,
}

#[derive(Debug)]
struct State {
    stack: Stack,
    ids: Ids,
}

/// The item as it is stored.
fn stored(item: Item) -> Item {
    match item {
        Item::Fingerprint(fingerprint) => Item::Fingerprint(spread(fingerprint)),
        other => other,
    }
}

/// Dead fingerprints are purged when they are a quarter of the live ones and at least so many: rewriting all tables
/// then costs a constant per deletion.
const PURGE: usize = 4096;

impl State {
    fn add(&mut self, stored: Item) -> u64 {
        let (id, fresh) = self.ids.add(stored);
        if let (Item::Fingerprint(value), true) = (stored, fresh) {
            self.stack.push(value);
        }
        id
    }

    fn delete(&mut self, id: u64) -> bool {
        let deleted = self.ids.delete(id);
        let (known, dead) = self.ids.known();
        if dead > PURGE.max(known / 5) {
            let ids = &self.ids;
            self.stack.retain(&|value| ids.first(value).is_some());
            self.ids.purge();
        }
        deleted
    }

    fn search(&self, stored: Item, distance: u32, limit: usize) -> Matches {
        let mut found = Matches::default();
        match stored {
            Item::Fingerprint(value) => {
                let mut hits = Vec::new();
                self.stack.find(value, distance, &mut hits);
                // A limit cuts by distance first, and no hit can contribute more than the limit.
                hits.sort_unstable_by_key(|hit| hit.distance);
                let mut last = None;
                for Hit { distance, value } in hits {
                    if last.is_some_and(|last| distance > last) {
                        found.truncated |= self.ids.first(value).is_some();
                        if found.truncated {
                            break;
                        }
                        continue;
                    }
                    let more = self.ids.holders(value, limit, |id| {
                        found.matches.push(Match { id, distance });
                    });
                    found.truncated |= more;
                    if found.matches.len() >= limit {
                        last = Some(distance);
                    }
                }
            }
            Item::Exact(text) => {
                found.truncated = self.ids.text_holders(text, limit, |id| {
                    found.matches.push(Match { id, distance: 0 });
                });
            }
            Item::Empty => {}
        }
        found.matches.sort_unstable_by_key(|found| (found.distance, found.id));
        if found.matches.len() > limit {
            found.matches.truncate(limit);
            found.truncated = true;
        }
        found
    }

    /// The nearest live match, ties to the lowest id.
    fn nearest(&self, stored: Item, distance: u32) -> Option<Match> {
        let value = match stored {
            Item::Fingerprint(value) => value,
            Item::Exact(text) => {
                return self.ids.first_text(text).map(|id| Match { id, distance: 0 });
            }
            Item::Empty => return None,
        };
        if let Some(id) = self.ids.first(value) {
            return Some(Match { id, distance: 0 });
        }
        let mut hits = Vec::new();
        self.stack.find(value, distance, &mut hits);
        self.nearest_of(&mut hits)
    }

    fn nearest_of(&self, hits: &mut [Hit]) -> Option<Match> {
        hits.sort_unstable_by_key(|hit| hit.distance);
        let mut best: Option<Match> = None;
        for hit in hits {
            if best.is_some_and(|best| best.distance < hit.distance) {
                break;
            }
            if let Some(id) = self.ids.first(hit.value)
                && best.is_none_or(|best| id < best.id)
            {
                best = Some(Match { id, distance: hit.distance });
            }
        }
        best
    }
}

impl Index {
    /// An empty index.
    ///
    /// # Errors
    /// [`IndexError::Distance`] above 16, and those of the plan's name.
    pub fn new(options: &IndexOptions) -> Result<Self, IndexError> {
        let max_distance = checked_distance(options.max_distance)?;
        let plan = Arc::new(Plan::choose(&options.plan, max_distance, options.capacity)?);
        let state = State { stack: Stack::new(Arc::clone(&plan)), ids: Ids::new() };
        Ok(Self { plan, max_distance, state: RwLock::new(state), truncated: AtomicU64::new(0) })
    }

    /// The plan in use.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The distance of `check_and_add`, and of `search` by default.
    pub fn max_distance(&self) -> u32 {
        self.max_distance
    }

    /// Adds an item without looking for near ones and returns its id. Amortised O(log n).
    ///
    /// # Errors
    /// [`IndexError::Full`].
    pub fn add(&self, item: Item) -> Result<u64, IndexError> {
        let mut state = self.state.write();
        state.ids.check_room(1)?;
        Ok(state.add(stored(item)))
    }

    /// All live documents near `item`, by distance, then id.
    ///
    /// # Errors
    /// [`IndexError::Distance`].
    pub fn search(&self, item: Item, options: SearchOptions) -> Result<Matches, IndexError> {
        let (distance, limit) = self.resolve(options)?;
        let found = self.state.read().search(stored(item), distance, limit);
        self.count_truncated([&found]);
        Ok(found)
    }

    /// Adds the item unless a live document lies within the index's distance: look and add are one step.
    ///
    /// # Errors
    /// [`IndexError::Full`].
    pub fn check_and_add(&self, item: Item) -> Result<Checked, IndexError> {
        let stored = stored(item);
        let state = self.state.upgradable_read();
        if let Some(near) = state.nearest(stored, self.max_distance) {
            return Ok(Checked::Duplicate(near));
        }
        state.ids.check_room(1)?;
        Ok(Checked::Added(RwLockUpgradableReadGuard::upgrade(state).add(stored)))
    }

    /// Whether this id is alive.
    pub fn has(&self, id: u64) -> bool {
        self.state.read().ids.has(id)
    }

    /// Takes an id away; false if it was not alive. Amortised O(1) but for the rewriting of tables.
    pub fn delete(&self, id: u64) -> bool {
        self.state.write().delete(id)
    }

    /// Number of live ids.
    pub fn len(&self) -> u64 {
        self.state.read().ids.live()
    }

    /// Whether no id is alive.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Counts and bytes.
    pub fn stats(&self) -> Stats {
        let state = self.state.read();
        let (fingerprints, dead) = state.ids.known();
        Stats {
            live: state.ids.live(),
            fingerprints,
            dead,
            front: state.stack.front_len(),
            runs: state.stack.run_lens().collect(),
            plan: self.plan.name().to_owned(),
            tables: self.plan.prefixes().len(),
            table_bytes: state.stack.bytes(),
            id_bytes: state.ids.bytes(),
            truncated: self.truncated.load(Ordering::Relaxed),
        }
    }

    fn resolve(&self, options: SearchOptions) -> Result<(u32, usize), IndexError> {
        let distance = checked_distance(options.max_distance.unwrap_or(self.max_distance))?;
        Ok((distance, options.limit.unwrap_or(usize::MAX)))
    }

    fn count_truncated<'a>(&self, found: impl IntoIterator<Item = &'a Matches>) {
        let cut = found.into_iter().filter(|found| found.truncated).count();
        if cut > 0 {
            self.truncated.fetch_add(cut as u64, Ordering::Relaxed);
        }
    }
}

fn checked_distance(given: u32) -> Result<u32, IndexError> {
    if given > MAX_DISTANCE {
        return Err(IndexError::Distance { given, max: MAX_DISTANCE });
    }
    Ok(given)
}
