//! Signatures in a live index: how they come in, who is near, how they leave.

use std::borrow::Cow;
use std::sync::atomic::AtomicBool;

use simhash_store::{FileError, Section};

use super::documents::Documents;
use super::item::BandItem;
use super::key::band_keys;
use super::options::{self, BandOptions, BandSearch, Signatures};
use super::table::{SEGMENTS, Table};
use super::{BandMatch, BandStats};
use crate::IndexError;
use crate::ids::Ids;
use crate::live::{Answer, Keeping, Kind, Live, Nearest, State, Window, compact_in_steps};

/// A live index of `MinHash` signatures by bands; see the [module](super). An empty signature gets an id and matches
/// nothing.
pub type BandIndex = Live<Bands>;

/// The answer to a search by bands: by similarity where signatures are kept, else by number of shared bands, the best first;
/// then the oldest first. `truncated`: by the limit of the search, or because a bucket holds more than the index reads.
pub type BandMatches = Answer<BandMatch>;

/// Segments swept with a deletion, at least: all of them with 512.
const LEAST_SWEPT: usize = SEGMENTS / 512;

/// Segments that [`Live::compact`] sweeps at a time: a fraction of a millisecond in an index of a million.
const COMPACTED: usize = 16;

/// Documents by the keys of their bands.
#[derive(Debug, Clone)]
pub struct Bands {
    options: BandOptions,
    pub(super) table: Table,
    pub(super) documents: Documents,
    sweeping: Option<Sweep>,
}

/// A sweep of the table under way.
#[derive(Debug, Clone)]
struct Sweep {
    /// The next segment.
    next: usize,
    /// Whose entries are swept out.
    died: Vec<u32>,
}

/// A signature and the keys of its bands.
#[derive(Debug)]
pub struct Banded<'a> {
    signature: &'a [u32],
    keys: Cow<'a, [u64]>,
    /// Of a text without a signature.
    is_exact: bool,
}

impl Kind for Bands {
    type Options = BandOptions;
    type Item = BandItem;
    type Form<'a> = Banded<'a>;
    type Search = BandSearch;
    type Match = BandMatch;
    type Hint = ();
    type Background = ();

    fn window(options: &BandOptions) -> Option<Window> {
        options.window
    }

    fn check(options: &BandOptions, item: &BandItem) -> Result<(), IndexError> {
        let given = item.len();
        let fits = match options.signatures {
            Some(kept) => given == kept.hashes,
            None => given >= options.plan.hashes(),
        };
        let fits = fits && (item.keys().is_empty() || item.keys().len() == options.plan.bands);
        if !fits && given > 0 {
            let expected = options.signatures.map_or(options.plan.hashes(), |kept| kept.hashes);
            return Err(IndexError::Signature { given, expected });
        }
        Ok(())
    }

    fn form<'a>(options: &BandOptions, item: &'a BandItem) -> Banded<'a> {
        let keys = match item.keys() {
            [] => {
                let mut keys = Vec::new();
                band_keys(options.plan, item, &mut keys);
                keys.into()
            }
            known => known.into(),
        };
        Banded { signature: item, keys, is_exact: item.is_exact() }
    }

    fn search_options(options: &BandOptions, search: BandSearch) -> Result<BandSearch, IndexError> {
        if let Some(threshold) = search.threshold {
            options::check_threshold(threshold)?;
            if options.signatures.is_none() {
                let range = "left out where no signatures are kept";
                return Err(super::plan::out_of_range("threshold", threshold, range));
            }
        }
        Ok(search)
    }

    fn write_item(options: &BandOptions, item: &BandItem, out: &mut Vec<u8>) {
        item.write(&Self::form(options, item).keys, options.signatures.is_some(), out);
    }

    fn read_item(options: &BandOptions, input: &mut Section) -> Result<BandItem, FileError> {
        let item = BandItem::read(input)?;
        let keys = item.keys().len();
        let known = keys == 0 || keys == BandItem::EXACT || keys == options.plan.bands;
        if !known || Self::check(options, &item).is_err() {
            let what = format!("a signature of {} positions and {keys} keys", item.len());
            return Err(input.damaged(what));
        }
        Ok(item)
    }

    fn ids(&self) -> &impl Ids {
        self.documents.ids()
    }

    fn id_of(found: &BandMatch) -> u64 {
        found.id
    }

    /// Where signatures are kept; a text that has none is not known from one that is empty.
    fn form_of(&self, options: &BandOptions, id: u64) -> Option<Banded<'_>> {
        let signature = self.documents.signature(id);
        let known = signature.iter().any(|&position| position != 0);
        known.then(|| {
            let mut keys = Vec::new();
            band_keys(options.plan, signature, &mut keys);
            Banded { signature, keys: keys.into(), is_exact: false }
        })
    }

    fn prefetch(&self, form: &Banded<'_>) {
        for &key in &*form.keys {
            self.table.prefetch(key);
        }
    }

    fn near(&self, form: &Banded<'_>, search: BandSearch) -> BandMatches {
        let mut found = self.matches(form, search);
        let limit = search.limit.unwrap_or(usize::MAX);
        found.truncated |= found.matches.len() > limit;
        found.matches.truncate(limit);
        found
    }

    fn nearest(&self, _: &BandOptions, form: &Banded<'_>) -> Nearest<Self> {
        let found = self.matches(form, BandSearch::default());
        let best = found.matches.first().copied();
        Nearest { best, truncated: found.truncated, hint: () }
    }

    fn check_room(&self, more: u64) -> Result<(), IndexError> {
        self.documents.ids().check_room(more)
    }

    fn insert(&mut self, form: &Banded<'_>, (): ()) -> (u64, bool) {
        // Hardly ever is anybody in the table who has left.
        let all_alive = self.dead() == 0;
        let Self { table, documents, .. } = self;
        for &key in &*form.keys {
            table.ask_owners(key);
        }
        let id = documents.push(form.signature);
        for &key in &*form.keys {
            table.insert(key, id as u32, |id| all_alive || documents.ids().is_alive(id));
        }
        (id, false)
    }

    fn remove(&mut self, id: u64) {
        self.documents.delete(id);
    }

    /// Sweeps the entries of dead documents out when they are many: some segments with each deletion, more the more there
    /// have been since. Amortised O(bands) per deletion.
    fn removed(&mut self) {
        if self.sweeping.is_some() || self.documents.should_sweep() {
            self.sweep_some(LEAST_SWEPT + self.documents.dead() / 8);
        }
    }

    fn purge(&mut self) {
        while self.dead() > 0 {
            self.sweep_some(SEGMENTS);
        }
    }
}

impl Bands {
    pub(super) fn starting_at(options: BandOptions, first: u64) -> Result<Self, IndexError> {
        options.check()?;
        let hashes = options.signatures.map_or(0, |kept| kept.hashes);
        let documents = Documents::starting_at(first, hashes)?;
        Ok(Self { options, table: Table::new(), documents, sweeping: None })
    }

    /// Those whose entries are not all swept out.
    fn dead(&self) -> usize {
        self.documents.dead() + self.sweeping.as_ref().map_or(0, |sweep| sweep.died.len())
    }

    /// Goes on with a sweep, or begins one.
    fn sweep_some(&mut self, segments: usize) {
        let Self { table, documents, sweeping, .. } = self;
        let sweep = sweeping.get_or_insert_with(|| Sweep { next: 0, died: documents.take_died() });
        let till = SEGMENTS.min(sweep.next + segments);
        table.sweep(sweep.next..till, |id| documents.ids().is_alive(id));
        sweep.next = till;
        if till == SEGMENTS {
            // None of them came into a segment behind: who is dead is not added.
            documents.swept(std::mem::take(&mut sweep.died));
            *sweeping = None;
        }
    }

    /// The live documents of these keys, by age, with the number of bands they share; whether a bucket held more than was
    /// read.
    fn shared(&self, keys: &[u64], most: usize) -> (Vec<(u32, u32)>, bool) {
        let (mut ages, mut truncated) = (Vec::new(), false);
        for &key in keys {
            let mut live = self.table.ids(key).filter(|&id| self.documents.ids().is_alive(id));
            let read = live.by_ref().take(most);
            ages.extend(read.map(|id| self.documents.age(id)));
            truncated |= live.next().is_some();
        }
        ages.sort_unstable();
        let found = ages.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect();
        (found, truncated)
    }

    /// All matches, the best first.
    fn matches(&self, form: &Banded<'_>, search: BandSearch) -> BandMatches {
        let most = search.bucket.unwrap_or(self.options.bucket_limit);
        let (found, truncated) = self.shared(&form.keys, most);
        let threshold = search.threshold.or(self.options.signatures.map(|kept| kept.threshold));
        let mut matches: Vec<BandMatch> = found
            .into_iter()
            .filter(|&(_, bands)| !form.is_exact || bands as usize == BandItem::EXACT)
            .map(|(age, bands)| {
                let similarity = self.similarity(form, age);
                BandMatch { id: self.documents.id(age), bands, similarity }
            })
            .filter(|found| match (found.similarity, threshold) {
                (Some(similarity), Some(threshold)) => similarity >= threshold,
                _ => true,
            })
            .collect();
        matches.sort_by(|a, b| {
            let by_similarity = b.similarity.unwrap_or(0.0).total_cmp(&a.similarity.unwrap_or(0.0));
            by_similarity.then_with(|| match a.similarity {
                None => b.bands.cmp(&a.bands).then(a.id.cmp(&b.id)),
                Some(_) => a.id.cmp(&b.id),
            })
        });
        BandMatches { matches, truncated }
    }

    fn similarity(&self, form: &Banded<'_>, age: u32) -> Option<f64> {
        let Signatures { hashes, .. } = self.options.signatures?;
        if form.is_exact {
            return Some(1.0);
        }
        let signature = form.signature;
        let other = self.documents.signature(self.documents.id(age));
        let equal = signature.iter().zip(other).filter(|(a, b)| a == b).count();
        Some(equal as f64 / hashes as f64)
    }
}

impl Live<Bands> {
    /// The signature of a live document, where signatures are kept and it has one.
    pub fn signature_of(&self, id: u64) -> Option<Vec<u32>> {
        let state = self.shared.state.read();
        let form = state.has(id).then(|| state.kind.form_of(self.options(), id))??;
        Some(form.signature.to_vec())
    }

    /// An empty index.
    ///
    /// # Errors
    /// [`IndexError::Bands`] for bands, rows, hashes, a threshold or a limit out of range, [`IndexError::Window`] for a limit of 0.
    pub fn new(options: &BandOptions) -> Result<Self, IndexError> {
        let kind = Bands::starting_at(*options, 0)?;
        Ok(Self::of(*options, State::of(kind, options.window), Keeping::Memory, ()))
    }

    /// Sweeps everything out that has left, some of the table at a time; others come in between.
    ///
    /// # Errors
    /// [`IndexError::Cancelled`].
    pub fn compact(&self, cancel: &AtomicBool) -> Result<(), IndexError> {
        compact_in_steps(cancel, || {
            let kind = &mut self.shared.state.write().kind;
            if kind.dead() > 0 {
                kind.sweep_some(COMPACTED);
            }
            kind.dead() > 0
        })
    }

    /// Counts and bytes.
    pub fn stats(&self) -> BandStats {
        let state = self.shared.state.read();
        let Bands { table, documents, .. } = &state.kind;
        let (entries, crowded) = table.count();
        let (id_bytes, signature_bytes) = documents.bytes();
        let id_bytes =
            id_bytes + state.kind.sweeping.as_ref().map_or(0, |sweep| sweep.died.len() * 4);
        BandStats {
            live: state.live(),
            dead: state.kind.dead() as u64,
            entries,
            crowded,
            plan: self.options().plan,
            table_bytes: table.bytes(),
            id_bytes,
            signature_bytes,
            window_bytes: state.ages.bytes(),
            truncated: self.shared.truncated(),
        }
    }
}
