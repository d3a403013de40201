//! The live index: many readers, one writer at a time, every answer exact.
//!
//! Two locks. Who has the turn ([`turns`](crate::turns)) knows that nothing is added or deleted meanwhile, so a
//! check-and-add looks and adds as one step, and of two near-duplicates that arrive together exactly one is kept.
//! `state` guards the data: searches share it, and it is taken exclusively only for the moment of a change, never while
//! something is built. Merges build on threads of their own ([`background`]).

mod added;
mod background;
pub(crate) mod batch;
mod bulk;
pub(crate) mod timed;
mod whole;
mod writer;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::RwLock;

pub use self::added::Added;
use self::background::Worker;
pub(crate) use self::batch::each;
pub use self::timed::{AddOptions, OnDuplicate, Outcome};
pub(crate) use self::whole::Parts;
pub use self::whole::Pending;
pub use self::writer::Writer;
use crate::ids::Ids;
use crate::plan::{MAX_DISTANCE, Plan};
use crate::run::Run;
use crate::scan::{self, Hit};
use crate::spread::spread;
use crate::stack::Stack;
use crate::turns::Turns;
use crate::window::{Ages, Skew, Window};
use crate::{Checked, IndexError, IndexOptions, Item, Match, Matches, SearchOptions, Stats};

/// An exact Hamming index over 64-bit fingerprints, with short texts and empty documents beside them.
///
/// Every method takes `&self`; share it between threads as it is.
#[derive(Debug)]
pub struct Index {
    plan: Arc<Plan>,
    max_distance: u32,
    shared: Arc<Shared>,
    truncated: AtomicU64,
}

/// What the index shares with its merges.
#[derive(Debug)]
struct Shared {
    turns: Turns<()>,
    state: RwLock<State>,
    worker: Worker,
    window: Option<Window>,
    skew: Skew,
    /// What a test does at a stage, on the thread that reaches it.
    #[cfg(test)]
    hook: parking_lot::Mutex<Option<Hook>>,
}

/// A moment at which a test can look in; nobody holds a lock then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// A batch has looked its items up and has not decided yet.
    Looked,
    /// The items of a batch that is sealed at once have their ids, and are in no table.
    Assigned,
}

#[cfg(test)]
#[derive(Clone)]
struct Hook(Arc<dyn Fn(Stage) + Send + Sync>);

#[cfg(test)]
impl std::fmt::Debug for Hook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hook")
    }
}

impl Shared {
    #[cfg(test)]
    fn reached(&self, stage: Stage) {
        if let Some(Hook(hook)) = { self.hook.lock().clone() } {
            hook(stage);
        }
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "only tests look in")]
    fn reached(&self, _: Stage) {}
}

#[derive(Debug)]
struct State {
    stack: Stack,
    ids: Ids,
    ages: Ages,
    /// A batch under way whose fingerprints are not in the tables yet.
    unsealed: Option<Unsealed>,
}

#[derive(Debug)]
struct Unsealed {
    /// The first id that may be one of its.
    from: u64,
    /// Fingerprints that have an id and are in no table.
    values: Arc<Vec<u64>>,
}

/// The item as it is stored.
fn stored(item: Item) -> Item {
    match item {
        Item::Fingerprint(fingerprint) => Item::Fingerprint(spread(fingerprint)),
        other => other,
    }
}

impl State {
    /// The new id, and whether merging has become due. `unknown`: a search has found that no table has the fingerprint.
    fn add(&mut self, stored: Item, unknown: bool) -> (u64, bool) {
        match stored {
            Item::Fingerprint(value) if unknown => {
                let due = self.stack.push(value);
                (self.ids.add_unknown(value), due)
            }
            Item::Fingerprint(value) => match self.ids.add(stored) {
                (id, true) => (id, self.stack.push(value)),
                (id, false) => (id, false),
            },
            _ => (self.ids.add(stored).0, false),
        }
    }

    /// The hits of a fingerprint in the tables; their ids are asked for as soon as each is found.
    fn hits(&self, stored: Item, distance: u32) -> Vec<Hit> {
        let mut hits = Vec::new();
        if let Item::Fingerprint(value) = stored {
            self.stack.find_each(&[value], distance, |_, hit| {
                self.ids.prefetch(hit.value);
                hits.push(hit);
            });
            if let Some(Unsealed { values, .. }) = &self.unsealed {
                scan::within(values, value, distance, |at, distance| {
                    hits.push(Hit { distance, value: values[at] });
                });
                // Some may be in tables by now.
                hits.sort_unstable();
                hits.dedup();
            }
            for hit in &hits {
                self.ids.prefetch_records(hit.value);
            }
        }
        hits
    }

    fn search(&self, stored: Item, distance: u32, limit: usize) -> Matches {
        self.matches(stored, &mut self.hits(stored, distance), limit)
    }

    /// The answer to a search whose hits in the tables are these.
    fn matches(&self, stored: Item, hits: &mut [Hit], limit: usize) -> Matches {
        let mut found = Matches::default();
        if let Item::Exact(text) = stored {
            found.truncated = self.ids.text_holders(text, limit, |id| {
                found.matches.push(Match { id, distance: 0 });
            });
        }
        // A limit cuts by distance first, and no hit can contribute more than the limit.
        hits.sort_unstable_by_key(|hit| hit.distance);
        let mut last = None;
        for &mut Hit { distance, value } in hits {
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
        found.matches.sort_unstable_by_key(|found| (found.distance, found.id));
        if found.matches.len() > limit {
            found.matches.truncate(limit);
            found.truncated = true;
        }
        found
    }

    /// The nearest live match, ties to the lowest id, and whether the tables do not have a fingerprint.
    fn nearest(&self, stored: Item, distance: u32) -> (Option<Match>, bool) {
        match stored {
            Item::Fingerprint(value) => {
                // Where it will be written if it is new.
                self.ids.prefetch(value);
                let mut hits = self.hits(stored, distance);
                let unknown = hits.iter().all(|hit| hit.distance > 0);
                (self.nearest_of(&mut hits), unknown)
            }
            Item::Exact(text) => {
                (self.ids.first_text(text).map(|id| Match { id, distance: 0 }), false)
            }
            Item::Empty => (None, false),
        }
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
    /// [`IndexError::Distance`] above 16, [`IndexError::Window`] for a limit of 0, and those of the plan's name.
    pub fn new(options: &IndexOptions) -> Result<Self, IndexError> {
        let max_distance = checked_distance(options.max_distance)?;
        let plan = Arc::new(Plan::choose(&options.plan, max_distance, options.capacity)?);
        plan.schedule(max_distance);
        let window = options.window;
        window.unwrap_or_default().check()?;
        let (stack, ids) = (Stack::new(Arc::clone(&plan)), Ids::new());
        let state = State { stack, ids, ages: Ages::default(), unsealed: None };
        Ok(Self::of(plan, max_distance, window, state))
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
        self.add_at(item, None)
    }

    /// All live documents near `item`, by distance, then id.
    ///
    /// # Errors
    /// [`IndexError::Distance`].
    pub fn search(&self, item: Item, options: SearchOptions) -> Result<Matches, IndexError> {
        let (distance, limit) = self.resolve(options)?;
        let found = self.shared.state.read().search(stored(item), distance, limit);
        self.count_truncated([&found]);
        Ok(found)
    }

    /// Adds the item unless a live document lies within the index's distance: look and add are one step.
    ///
    /// # Errors
    /// [`IndexError::Full`].
    pub fn check_and_add(&self, item: Item) -> Result<Checked, IndexError> {
        self.check_and_add_with(item, AddOptions::default()).map(Checked::from)
    }

    /// Whether this id is alive.
    pub fn has(&self, id: u64) -> bool {
        self.shared.state.read().ids.has(id)
    }

    /// Takes an id away; false if it was not alive. Amortised O(1) but for the rewriting of tables.
    pub fn delete(&self, id: u64) -> bool {
        self.writer().delete(id)
    }

    /// Number of live ids.
    pub fn len(&self) -> u64 {
        self.shared.state.read().ids.live()
    }

    /// Whether no id is alive.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Counts and bytes.
    pub fn stats(&self) -> Stats {
        let state = self.shared.state.read();
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
            merge_bytes: self.shared.worker.merge_bytes(),
            id_bytes: state.ids.bytes(),
            window_bytes: state.ages.bytes(),
            huge_pages: state.stack.is_huge(),
            merging: self.shared.worker.is_busy(),
            truncated: self.truncated.load(Ordering::Relaxed),
        }
    }

    /// Seals everything into one run without dead fingerprints, the fastest form to search. Additions and searches go on
    /// meanwhile; what is added then need not be in the run. On all cores, 10 to 20 ns per fingerprint and table.
    /// Does nothing if merging has failed before, see [`IndexError::Merge`].
    pub fn compact(&self) {
        // Nothing cancels it, and where merging has failed everything is found all the same.
        let _ = self.compact_until(&AtomicBool::new(false));
    }

    /// [`Index::compact`], waiting only until `cancel` is up. A merge that has begun goes on behind.
    ///
    /// # Errors
    /// [`IndexError::Cancelled`]; [`IndexError::Merge`] if merging has failed.
    pub fn compact_until(&self, cancel: &AtomicBool) -> Result<(), IndexError> {
        self.shared.seal(cancel).map(drop)
    }

    /// A run of everything that is here, after compacting, none if there are no fingerprints; and the id that the next
    /// addition got at that moment.
    pub(crate) fn sealed(&self, cancel: &AtomicBool) -> Result<(Option<Run>, u64), IndexError> {
        self.shared.seal_before(cancel)
    }

    pub(crate) fn shared_plan(&self) -> Arc<Plan> {
        Arc::clone(&self.plan)
    }

    /// The id that the next addition gets.
    pub(crate) fn next_id(&self) -> u64 {
        self.shared.state.read().ids.next()
    }

    pub(crate) fn checked(&self, distance: Option<u32>) -> Result<u32, IndexError> {
        checked_distance(distance.unwrap_or(self.max_distance))
    }

    /// A look at the ids while nothing changes.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&Ids) -> T) -> T {
        look(&self.shared.state.read().ids)
    }

    fn resolve(&self, options: SearchOptions) -> Result<(u32, usize), IndexError> {
        let distance = checked_distance(options.max_distance.unwrap_or(self.max_distance))?;
        // A distance asked for the first time may take a moment to plan; no lock is held yet.
        self.plan.schedule(distance);
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

#[cfg(test)]
mod tests;
