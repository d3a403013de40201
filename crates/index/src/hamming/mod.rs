//! The Hamming index: fingerprints within k bits, exactly, with short texts and empty documents beside them.
//!
//! [`Hamming`] is the kind, [`Index`] the live index of it. New fingerprints go into a memtable, and merges build on threads of
//! their own ([`background`]), so nothing is built while the state is held.

mod background;
mod base;
mod batch;
mod bulk;
mod documents;
mod image;
mod item;
pub mod join;
mod memtable;
mod options;
pub mod plan;
mod scan;
mod segment;
mod spread;
mod stats;
mod tables;
mod whole;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use simhash_store::{FileError, Mapped, Section};

use self::background::Worker;
pub(crate) use self::documents::Documents;
pub use self::item::{Item, Match, SearchOptions};
pub use self::options::IndexOptions;
use self::plan::{MAX_DISTANCE, Plan};
use self::scan::Hit;
use self::segment::Segment;
use self::spread::spread;
pub use self::stats::Stats;
use self::tables::Tables;
use crate::live::{
    Added, Answer, Keeping, Kind, Live, Nearest, Outcome, SLICE, Shared, State, Writer,
    compact_in_steps,
};
use crate::{IndexError, Window};

/// The answer to a search in a Hamming index, ordered by distance, then id.
pub type Matches = Answer<Match>;

/// An exact Hamming index over 64-bit fingerprints, with short texts and empty documents beside them.
pub type Index = Live<Hamming>;

/// How a Hamming index was made.
#[derive(Debug, Clone)]
pub struct Settings {
    plan: Arc<Plan>,
    max_distance: u32,
    window: Option<Window>,
    /// The file that some of it still lies in.
    map: Option<Arc<Mapped>>,
}

/// Fingerprints in sorted tables, and who holds them.
#[derive(Debug)]
pub struct Hamming {
    tables: Tables,
    ids: Documents,
    /// A batch under way whose fingerprints are not in the tables yet.
    unsealed: Option<Unsealed>,
}

/// Fingerprints that are compared in one hold of the lock: some 5 ms.
const COMPARED: usize = 1 << 25;

#[derive(Debug)]
struct Unsealed {
    /// The first id that may be one of its.
    from: u64,
    /// Fingerprints that have an id and are in no table.
    values: Arc<Vec<u64>>,
    /// The batch has ended without them, cancelled: what was added must be found.
    given_up: bool,
}

/// The item as it is stored.
fn stored(item: Item) -> Item {
    match item {
        Item::Fingerprint(fingerprint) => Item::Fingerprint(spread(fingerprint)),
        other => other,
    }
}

fn stored_all<B: AsRef<Item>>(items: &[B]) -> Vec<Item> {
    items.iter().map(|item| stored(*item.as_ref())).collect()
}

/// What merges are made with.
#[derive(Debug, Default)]
pub struct Beside {
    worker: Worker,
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
    /// A merge knows which of the dead it drops, and has forgotten none of them yet.
    Sorted,
    /// A change is about to wait for merges.
    Behind,
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

impl Beside {
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

impl Kind for Hamming {
    type Options = Settings;
    type Item = Item;
    type Form<'a> = Item;
    type Search = SearchOptions;
    type Match = Match;
    /// An item that no table has.
    type Hint = Option<Item>;
    type Background = Beside;

    const TOGETHER: usize = batch::TURN;

    fn window(options: &Settings) -> Option<Window> {
        options.window
    }

    fn sound(options: &Settings) -> Result<(), IndexError> {
        match &options.map {
            None => Ok(()),
            Some(map) => Ok(map.check()?),
        }
    }

    fn check(_: &Settings, _: &Item) -> Result<(), IndexError> {
        Ok(())
    }

    fn form(_: &Settings, item: &Item) -> Item {
        stored(*item)
    }

    fn search_options(
        options: &Settings,
        search: SearchOptions,
    ) -> Result<SearchOptions, IndexError> {
        let distance = checked_distance(search.max_distance.unwrap_or(options.max_distance))?;
        // A distance asked for the first time may take a moment to plan; no lock is held yet.
        options.plan.schedule(distance);
        let limit = Some(search.limit.unwrap_or(usize::MAX));
        Ok(SearchOptions { max_distance: Some(distance), limit })
    }

    fn write_item(_: &Settings, item: &Item, out: &mut Vec<u8>) {
        item.write(out);
    }

    fn read_item(_: &Settings, input: &mut Section) -> Result<Item, FileError> {
        Item::read(input)
    }

    fn ids(&self) -> &impl crate::ids::Ids {
        self.ids.ids()
    }

    fn id_of(found: &Match) -> u64 {
        found.id
    }

    fn form_of(&self, _: &Settings, id: u64) -> Option<Item> {
        self.ids.item(id)
    }

    fn near(&self, &stored: &Item, search: SearchOptions) -> Matches {
        let (distance, limit) = search.resolved();
        self.matches(stored, &mut self.hits(stored, distance), limit)
    }

    fn at_once(&self) -> usize {
        match &self.unsealed {
            Some(Unsealed { values, given_up: true, .. }) => {
                (COMPARED / values.len().max(1)).clamp(1, SLICE)
            }
            _ => SLICE,
        }
    }

    fn near_each(&self, stored: &[Item], search: SearchOptions) -> Vec<Matches> {
        let (distance, limit) = search.resolved();
        self.each_with_hits(stored, distance, |item, hits| self.matches(item, hits, limit))
    }

    fn nearest(&self, options: &Settings, &stored: &Item) -> Nearest<Self> {
        let (best, unknown) = self.nearest_within(stored, options.max_distance);
        Nearest { best, truncated: false, hint: unknown.then_some(stored) }
    }

    fn check_room(&self, more: u64) -> Result<(), IndexError> {
        crate::ids::Ids::check_room(self.ids.ids(), more)
    }

    fn insert(&mut self, &stored: &Item, hint: Option<Item>) -> (u64, bool) {
        let unknown = hint == Some(stored);
        let Item::Fingerprint(value) = stored else { return (self.ids.add(stored).0, false) };
        if unknown {
            let due = self.tables.push(value);
            return (self.ids.add_unknown(value), due);
        }
        // Written last: by then the lines have come. A search has read them already.
        self.tables.prefetch(value);
        match self.ids.add(stored) {
            (id, true) => (id, self.tables.push(value)),
            (id, false) => (id, false),
        }
    }

    fn remove(&mut self, id: u64) {
        self.ids.delete(id);
    }

    fn reclaim(shared: &Arc<Shared<Self>>) {
        if shared.state.read().kind.ids.known().1 == 0 {
            return;
        }
        if shared.is_hurried() {
            let mut state = shared.state.write();
            if !state.kind.tables.is_requested() {
                drop(state.kind.tables.request());
            }
            drop(state);
            return shared.start();
        }
        // Where merging has failed nothing can be purged.
        let _ = shared.seal(&AtomicBool::new(false));
    }

    fn overdue(shared: &Arc<Shared<Self>>) {
        shared.start();
    }

    fn left(shared: &Arc<Shared<Self>>) -> bool {
        if shared.is_due() {
            shared.start();
        }
        shared.state.read().kind.ids.is_mostly_dead()
    }

    fn settle(shared: &Arc<Shared<Self>>, cancel: &AtomicBool) {
        shared.catch_up(cancel);
    }

    fn add_all<B: AsRef<Item>>(
        writer: &mut Writer<'_, Self>,
        items: &[B],
    ) -> Option<Result<Added, IndexError>> {
        Some(writer.add_items(items))
    }

    fn check_all<B: AsRef<Item> + Sync>(
        live: &Live<Self>,
        items: &[B],
        threads: usize,
        cancel: &AtomicBool,
    ) -> Option<Result<Vec<Outcome<Match>>, IndexError>> {
        Some(live.check_together(items, threads, cancel))
    }
}

impl Hamming {
    fn new(plan: &Arc<Plan>) -> Self {
        Self { tables: Tables::new(Arc::clone(plan)), ids: Documents::new(), unsealed: None }
    }

    /// The hits of a fingerprint in the tables; their ids are asked for as soon as each is found.
    fn hits(&self, stored: Item, distance: u32) -> Vec<Hit> {
        let mut hits = Vec::new();
        if let Item::Fingerprint(value) = stored {
            self.tables.find_each(&[value], distance, |_, hit| {
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
    fn nearest_within(&self, stored: Item, distance: u32) -> (Option<Match>, bool) {
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

impl Live<Hamming> {
    /// What a live document was added as; none where it is not alive.
    pub fn item_of(&self, id: u64) -> Option<Item> {
        let state = self.shared.state.read();
        Some(match state.has(id).then(|| state.kind.ids.item(id))?? {
            Item::Fingerprint(stored) => Item::Fingerprint(spread::unspread(stored)),
            other => other,
        })
    }

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
        let kind = Hamming::new(&plan);
        Ok(Self::around((plan, None), max_distance, window, kind))
    }

    fn around(
        (plan, map): (Arc<Plan>, Option<Arc<Mapped>>),
        max_distance: u32,
        window: Option<Window>,
        kind: Hamming,
    ) -> Self {
        let settings = Settings { plan, max_distance, window, map };
        Self::of(settings, State::of(kind, window), Keeping::Memory, Beside::default())
    }

    /// The plan in use.
    pub fn plan(&self) -> &Plan {
        &self.shared.options.plan
    }

    /// The distance of `check_and_add`, and of `search` by default.
    pub fn max_distance(&self) -> u32 {
        self.shared.options.max_distance
    }

    /// Bytes held. O(1).
    pub fn bytes(&self) -> usize {
        let state = self.shared.state.read();
        state.kind.tables.bytes() + state.kind.ids.bytes() + state.ages.bytes()
    }

    /// Counts and bytes.
    pub fn stats(&self) -> Stats {
        let state = self.shared.state.read();
        let (fingerprints, dead) = state.kind.ids.known();
        Stats {
            live: state.live(),
            fingerprints,
            dead,
            memtable: state.kind.tables.memtable_len(),
            segments: state.kind.tables.segment_lens().collect(),
            plan: self.plan().name().to_owned(),
            tables: self.plan().prefixes().len(),
            table_bytes: state.kind.tables.bytes(),
            merge_bytes: self.shared.background.worker.merge_bytes(),
            id_bytes: state.kind.ids.bytes(),
            window_bytes: state.ages.bytes(),
            mapped_bytes: state.kind.tables.mapped_bytes(),
            huge_pages: state.kind.tables.is_huge(),
            merging: self.shared.background.worker.is_busy(),
            merge_failed: self.shared.background.worker.has_failed(),
            truncated: self.shared.truncated(),
        }
    }

    /// Seals everything into one segment without dead fingerprints, the fastest form to search. Additions and searches go on
    /// meanwhile; what is added then need not be in the segment. On all cores, 10 to 20 ns per fingerprint and table.
    /// Does nothing if merging has failed before, see [`IndexError::Merge`].
    pub fn compact(&self) {
        // Nothing cancels it, and where merging has failed everything is found all the same.
        let _ = self.compact_until(&AtomicBool::new(false));
    }

    /// Checks all of the mapped file that is still in use, what no search has touched yet too: every block, and that what it says
    /// fits together. Searches and additions go on meanwhile. About 100 ns for each fingerprint; of an index in memory nothing is
    /// left to check.
    ///
    /// # Errors
    /// [`IndexError::File`] with file and place, and from then on for every call; [`IndexError::Cancelled`].
    pub fn verify(&self, cancel: &AtomicBool) -> Result<(), IndexError> {
        Hamming::sound(&self.shared.options)?;
        let file = self.read(|documents| documents.ids().file().cloned());
        file.map_or(Ok(()), |file| file.verify(cancel))
    }

    /// [`Index::compact`], waiting only until `cancel` is up. A merge that has begun goes on behind.
    ///
    /// # Errors
    /// [`IndexError::Cancelled`]; [`IndexError::Merge`] if merging has failed.
    pub fn compact_until(&self, cancel: &AtomicBool) -> Result<(), IndexError> {
        self.shared.seal(cancel)?;
        compact_in_steps(cancel, || self.shared.state.write().kind.ids.compact(SLICE))
    }

    /// A segment of everything that is here, after compacting, none if there are no fingerprints; and the id that the next
    /// addition got at that moment.
    pub(crate) fn sealed(&self, cancel: &AtomicBool) -> Result<(Option<Segment>, u64), IndexError> {
        self.shared.seal_before(cancel)
    }

    pub(crate) fn shared_plan(&self) -> Arc<Plan> {
        Arc::clone(&self.shared.options.plan)
    }

    pub(crate) fn checked(&self, distance: Option<u32>) -> Result<u32, IndexError> {
        checked_distance(distance.unwrap_or(self.max_distance()))
    }

    /// A look at the documents while nothing changes.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&Documents) -> T) -> T {
        look(&self.shared.state.read().kind.ids)
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
