//! Merging the memtables into the segment, beside searches and additions, table by table.
//!
//! A rewritten table replaces the one before at once. So while a merge is half done, a table holds the fingerprints of
//! the memtables already or does not yet; the memtables stay searchable until all do. Each fingerprint is then found by every
//! table, if perhaps twice, and searches drop what comes twice ([`Tables::is_halfway`]). Beside the segment itself there is
//! never more than one table for each thread, and its memory is that of the table replaced before.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use ahash::AHashSet;
use parking_lot::Mutex;
use simhash_store::FileError;

use super::{Sealed, Tables, Waiting};
use crate::hamming::memtable::Memtable;
use crate::hamming::plan::Plan;
use crate::hamming::segment::{Segment, Sorted, Sources, table_bytes};
use crate::memory::Words;

/// Output of a merge that takes a moment only: at 4 ns per fingerprint and table, about 10 ms for six tables.
const SMALL: usize = 1 << 19;

/// Who asked for everything to be sealed, and gets the segment when it is.
pub(super) type Request = Sender<Option<Segment>>;

/// Inputs of a merge, and what it leaves out.
#[derive(Debug)]
pub(crate) struct Job {
    plan: Arc<Plan>,
    memtables: Vec<Arc<Memtable>>,
    bulk: Vec<Arc<Vec<u64>>>,
    run: Option<Segment>,
    /// What has died, and what of it is left out.
    died: Vec<u64>,
    dropped: AHashSet<u64>,
    requests: Vec<Request>,
}

impl Job {
    /// Is to leave out those of these fingerprints that are dead.
    pub(crate) fn purging(mut self, died: Vec<u64>) -> Self {
        self.died = died;
        self
    }

    pub(crate) fn died(&self) -> &[u64] {
        &self.died
    }

    /// Leaves these fingerprints out.
    pub(crate) fn without(mut self, dropped: AHashSet<u64>) -> Self {
        self.dropped = dropped;
        self
    }

    /// Checks what it is going to read.
    ///
    /// # Errors
    /// The damage of a mapped segment.
    pub(crate) fn check(&self) -> Result<(), FileError> {
        self.run.as_ref().map_or(Ok(()), |run| run.check(self.plan.prefixes()))
    }

    /// Unsorted inputs.
    fn fresh(&self) -> impl Iterator<Item = &[u64]> {
        fresh(&self.memtables, &self.bulk)
    }

    /// Fingerprints of all inputs.
    fn len(&self) -> usize {
        self.fresh().map(<[u64]>::len).sum::<usize>() + self.run.as_ref().map_or(0, Segment::len)
    }

    /// Bytes that [`Job::run`] takes beside the segment and the memtables, at most: a table for each thread, what building it
    /// takes, and the new fingerprints where they have to be put together.
    pub(crate) fn bytes(&self, threads: usize) -> usize {
        let (all, fresh) = (self.len(), self.fresh().map(<[u64]>::len).sum::<usize>());
        let table = |count: usize| {
            self.plan.prefixes().iter().map(|prefix| table_bytes(count, prefix)).max().unwrap_or(0)
        };
        let sorted = if self.run.is_some() { table(fresh) } else { 0 };
        let threads = threads.clamp(1, self.plan.prefixes().len());
        let bulk: usize = self.bulk.iter().map(|values| values.capacity()).sum();
        let together = if self.fresh().nth(1).is_some() { fresh } else { 0 };
        threads * (table(all) + sorted + fresh * 8) + (bulk + together) * 8
    }

    /// Whether leaving out so many would be little beside what is rewritten anyway.
    pub(crate) fn drops_easily(&self, dead: usize) -> bool {
        self.len() <= SMALL && (1..=self.len()).contains(&dead)
    }

    /// The last of its memtables, after the commit, if nothing else looks at it.
    pub(crate) fn take_memtable(&mut self) -> Option<Memtable> {
        self.memtables.pop().and_then(Arc::into_inner)
    }

    /// Whether somebody waits for it.
    pub(crate) fn is_requested(&self) -> bool {
        !self.requests.is_empty()
    }

    /// The fingerprints of the inputs that it leaves out.
    pub(crate) fn dropped(&self) -> Vec<u64> {
        if self.dropped.is_empty() {
            return Vec::new();
        }
        let all = self.fresh().chain(self.run.iter().map(Segment::values)).flatten();
        all.copied().filter(|value| self.dropped.contains(value)).collect()
    }

    /// Builds the tables one after the other, as many at once as `threads`: 2 to 4 ns per fingerprint and table. `put`
    /// gets each with its number and puts it in place.
    pub(crate) fn run(&mut self, threads: usize, mut put: impl FnMut(usize, Sorted)) {
        let Self { plan, memtables, bulk, run, dropped, .. } = self;
        let parts: Vec<&[u64]> = fresh(memtables, bulk).collect();
        let fresh = match parts[..] {
            [only] => Cow::Borrowed(only),
            _ => Cow::Owned(parts.concat()),
        };
        let mut spare: Vec<Words> = Vec::new();
        let scratch = Mutex::default();
        let count = plan.prefixes().len();
        for first in (0..count).step_by(threads.max(1)) {
            let numbers = first..(first + threads.max(1)).min(count);
            let keep = |value: u64| !dropped.contains(&value);
            let keep: Option<&(dyn Fn(u64) -> bool + Sync)> =
                if dropped.is_empty() { None } else { Some(&keep) };
            let runs = run.iter().collect();
            let sources = Sources { plan: &*plan, runs, fresh: &fresh, keep, scratch: &scratch };
            let tables = sources.tables(numbers.clone(), std::mem::take(&mut spare));
            for (number, table) in numbers.zip(tables) {
                put(number, table);
                // Searches that began before hold the lock that `put` has waited for; joins hold the table itself.
                let old = run.as_mut().map(|run| run.forgo(number));
                spare.extend(old.and_then(Arc::into_inner).and_then(Sorted::into_words));
            }
        }
    }
}

fn fresh<'a>(
    memtables: &'a [Arc<Memtable>],
    bulk: &'a [Arc<Vec<u64>>],
) -> impl Iterator<Item = &'a [u64]> {
    memtables
        .iter()
        .map(|memtable| memtable.values())
        .chain(bulk.iter().map(|values| values.as_slice()))
}

impl Tables {
    /// Whether a merge is wanted and none under way.
    pub(crate) fn is_due(&self) -> bool {
        self.is_idle() && !(self.waiting.is_empty() && self.requests.is_empty())
    }

    /// Whether no merge is using anything.
    pub(crate) fn is_idle(&self) -> bool {
        let sealed = self.sealed.as_ref().is_some_and(|sealed| sealed.busy);
        !sealed && !self.waiting.iter().any(|waiting| waiting.busy)
    }

    /// Whether a merge has replaced some tables and not yet all, or has forgotten what it drops.
    pub(crate) fn is_halfway(&self) -> bool {
        self.halfway
    }

    /// Asks for one segment of everything that is here, without what is dead when its merge begins; it comes at the end of
    /// that merge.
    pub(crate) fn request(&mut self) -> Receiver<Option<Segment>> {
        let (request, sealed) = channel();
        self.set_aside();
        self.requests.push(request);
        sealed
    }

    /// [`Tables::request`] with fingerprints that the tables does not hold, for the same merge.
    pub(crate) fn request_with(&mut self, values: Arc<Vec<u64>>) -> Receiver<Option<Segment>> {
        self.bulk.push(values);
        self.request()
    }

    /// Answers who has asked for everything, if that is in the segment already; nothing in it must be dead.
    pub(crate) fn answer(&mut self) {
        if self.is_idle() && self.waiting.is_empty() && self.bulk.is_empty() {
            if self.is_requested() {
                self.trim();
            }
            for request in std::mem::take(&mut self.requests) {
                // Who asked may have gone.
                let _ = request.send(self.run().cloned());
            }
        }
    }

    /// Whether a merge of everything has been asked for.
    pub(crate) fn is_requested(&self) -> bool {
        !self.requests.is_empty()
    }

    /// A merge of the full memtables and the segment, busy until the commit. The tables must be idle.
    pub(crate) fn job(&mut self) -> Job {
        let take = |waiting: &mut Waiting| {
            waiting.busy = true;
            Arc::clone(&waiting.memtable)
        };
        let memtables = self.waiting.iter_mut().map(take).collect();
        let run = self.sealed.as_mut().map(|sealed| {
            sealed.busy = true;
            sealed.run.clone()
        });
        let bulk = std::mem::take(&mut self.bulk);
        let (plan, requests) = (Arc::clone(&self.plan), std::mem::take(&mut self.requests));
        Job { plan, memtables, bulk, run, died: Vec::new(), dropped: AHashSet::new(), requests }
    }

    /// From now on a fingerprint may be found twice.
    pub(crate) fn begin(&mut self) {
        self.halfway = true;
    }

    /// Puts a merged table where it belongs.
    pub(crate) fn put_table(&mut self, number: usize, table: Sorted) {
        let table = Arc::new(table);
        match &mut self.sealed {
            Some(sealed) => drop(sealed.run.replace(number, table)),
            None => self.begun.push(table),
        }
    }

    /// All tables have been put in place: the memtables have served.
    pub(crate) fn commit(&mut self, job: &Job) {
        self.waiting.retain(|waiting| {
            !job.memtables.iter().any(|used| Arc::ptr_eq(used, &waiting.memtable))
        });
        let begun = std::mem::take(&mut self.begun);
        let new = (!begun.is_empty()).then(|| Segment::new(begun));
        let run = self.sealed.take().map(|sealed| sealed.run).or(new);
        self.sealed = run.filter(|run| run.len() > 0).map(|run| Sealed { run, busy: false });
        self.halfway = false;
        if job.is_requested() {
            self.trim();
        }
        for request in &job.requests {
            // Who asked may have gone.
            let _ = request.send(self.run().cloned());
        }
    }
}
