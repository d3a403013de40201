//! What a mapped file says of who holds what, and which of it still counts.
//!
//! The file lists the fingerprint of each id ([`Holding::value`]), and beside the first table, place by place, the first id that
//! holds the fingerprint there ([`Holding::first`]); where there are more they are listed apart ([`Holding::holders`]). So
//! nothing is built when it is opened. The file does not change: whatever changes who holds a fingerprint *moves* it to the maps
//! in memory first, and from then on the file is not asked for it. In memory are a bit for each place that has moved, and three
//! for each id: whether it is alive, whether it has no fingerprint, whether others hold the same.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use simhash_store::Blocks;

use crate::IndexError;
use crate::hamming::plan::Plan;
use crate::hamming::segment::Segment;
use crate::ids::Alive;
use crate::ids::Ids;
use crate::ids::records::{BITS, Bare, CHUNK, Values};

/// In place of a first id: no id holds the fingerprint.
pub(crate) const NOBODY: u32 = u32::MAX;

/// A bit for each of some numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bits(pub(crate) Vec<u64>);

impl Bits {
    pub(crate) fn none(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    #[inline]
    pub(crate) fn has(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    pub(crate) fn set(&mut self, at: usize) {
        if let Some(word) = self.0.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }

    /// The numbers that are in it, ascending.
    pub(crate) fn ones(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(number, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| number * 64 + left.trailing_zeros() as usize);
                left &= left.wrapping_sub(1);
                bit
            })
        })
    }

    /// The words of a chunk of ids, zeros behind the end.
    pub(crate) fn chunk(&self, number: usize) -> [u64; BITS] {
        std::array::from_fn(|word| self.0.get(number * BITS + word).copied().unwrap_or(0))
    }
}

/// Where the values of each chunk of ids begin: a chunk of which no id has a fingerprint has none.
pub(crate) fn places(alive: &Bits, other: &Bits, count: usize) -> Vec<Option<u32>> {
    let mut stored = 0;
    let place = |chunk| {
        let (alive, other) = (alive.chunk(chunk), other.chunk(chunk));
        let holds = alive.iter().zip(other).any(|(alive, other)| alive & !other != 0);
        holds.then(|| {
            stored += 1;
            stored - 1
        })
    };
    (0..count.div_ceil(CHUNK)).map(place).collect()
}

/// What the file says. Ids are counted from its first.
#[derive(Debug)]
pub(crate) struct Holding {
    pub(crate) first: u64,
    pub(crate) places: Vec<Option<u32>>,
    /// Which ids are not the only ones with their fingerprint.
    pub(crate) shared: Bits,
    /// How many ids the places of the first table must list.
    pub(crate) listed: usize,
    pub(crate) values: Blocks,
    pub(crate) holders: Blocks,
    pub(crate) copies: Blocks,
    /// None where no fingerprint was sealed.
    pub(crate) segment: Option<Segment>,
    pub(crate) plan: Arc<Plan>,
}

impl Holding {
    /// The fingerprint of an id; 0 where it has none, and where the file is damaged.
    pub(crate) fn value(&self, id: u32) -> u64 {
        let (chunk, at) = (id as usize / CHUNK, id as usize % CHUNK);
        let Some(place) = self.places.get(chunk).copied().flatten() else { return 0 };
        let at = place as usize * CHUNK + at;
        self.values.get(at..at + 1).map_or(0, |words| words[0])
    }

    /// The values of a chunk of ids, the last one perhaps fewer; none where there are none, and where the file is damaged.
    pub(crate) fn chunk(&self, chunk: usize) -> &[u64] {
        let Some(place) = self.places.get(chunk).copied().flatten() else { return &[] };
        let from = place as usize * CHUNK;
        let to = (from + CHUNK).min(self.values.len());
        self.values.get(from..to).unwrap_or_default()
    }

    /// The place of a fingerprint in the first table.
    fn place(&self, value: u64) -> Option<usize> {
        self.segment.as_ref()?.position(value, self.plan.prefixes())
    }

    /// The first id that holds the fingerprint at a place.
    fn first(&self, place: usize) -> Option<u32> {
        let words = self.holders.get(place / 2..place / 2 + 1)?;
        Some((words[0] >> (place % 2 * 32)) as u32).filter(|&id| id != NOBODY)
    }

    /// All ids that hold the fingerprint at a place whose first is this one, ascending.
    fn holders(&self, place: usize, first: u32) -> impl Iterator<Item = u32> {
        let shared = self.shared.has(first as usize);
        let (mut from, mut to) = (0, if shared { self.copies.len() } else { 0 });
        let copy = |at: usize| self.copies.get(at..at + 1).map(|words| words[0]);
        let wanted = (place as u64) << 32;
        while from < to {
            let middle = usize::midpoint(from, to);
            if copy(middle).is_some_and(|copy| copy < wanted) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        let end = if shared { self.copies.len() } else { from };
        let listed = (from..end).map_while(move |at| {
            copy(at).filter(|copy| (copy >> 32) as usize == place).map(|copy| copy as u32)
        });
        (!shared).then_some(first).into_iter().chain(listed)
    }

    /// Calls `on_holders` for every place whose fingerprint has several ids, with these.
    fn shared(&self, mut on_holders: impl FnMut(usize, &[u32])) {
        let Ok(copies) = self.copies.all() else { return };
        let mut ids = Vec::new();
        for equal in copies.chunk_by(|a, b| a >> 32 == b >> 32) {
            ids.clear();
            ids.extend(equal.iter().map(|&copy| copy as u32));
            on_holders((equal[0] >> 32) as usize, &ids);
        }
    }

    /// Checks every block, and that what the file says fits together: that its tables are sound and list the same, and that the
    /// ids beside the first one hold what it lists, each once. About 100 ns for each fingerprint.
    pub(crate) fn verify(&self, cancel: &AtomicBool) -> Result<(), IndexError> {
        let prefixes = self.plan.prefixes();
        let (holders, copies) = (self.holders.all()?, self.copies.all()?);
        self.values.all()?;
        let Some(segment) = &self.segment else { return Ok(()) };
        segment.check(prefixes)?;
        let entries = segment.values();
        let mut seen = Bits::none(self.places.len() * CHUNK);
        let mut listed = 0;
        let mut holds = |place: usize, id: u32, seen: &mut Bits| {
            let fits = self.value(id) == entries[place] && !seen.has(id as usize);
            seen.set(id as usize);
            listed += 1;
            fits && seen.has(id as usize)
        };
        let mut sound = segment.agrees(prefixes);
        for (part, words) in holders.chunks(1 << 16).enumerate() {
            if cancel.load(Ordering::Relaxed) {
                return Err(IndexError::Cancelled);
            }
            for at in 0..words.len() * 2 {
                let (place, id) = ((part << 17) + at, (words[at / 2] >> (at % 2 * 32)) as u32);
                sound &= id == NOBODY || place < entries.len() && holds(place, id, &mut seen);
            }
        }
        let mut last = None;
        for &copy in copies {
            let (place, id) = ((copy >> 32) as usize, copy as u32);
            let first = place < entries.len() && self.first(place) == Some(id);
            let begins = last.is_none_or(|last| last >> 32 != copy >> 32);
            sound &= last.is_none_or(|last| last < copy) && self.shared.has(id as usize);
            // The first is listed beside the table already.
            sound &=
                begins == first && (first || place < entries.len() && holds(place, id, &mut seen));
            last = Some(copy);
        }
        if !sound || listed != self.listed {
            segment.contradicts();
            self.values.map().check()?;
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        let blocks = [&self.values, &self.holders, &self.copies];
        let sums: usize = blocks.iter().map(|blocks| blocks.bytes()).sum();
        sums + self.shared.0.len() * 8 + self.places.len() * size_of::<Option<u32>>()
    }
}

/// The ids of a mapped file but for the last few, see [`Numbers`].
#[derive(Debug)]
struct Base {
    file: Arc<Holding>,
    ids: Bare,
    /// How many ids, and how many of them something still refers to.
    count: u32,
    held: u64,
    moved: Bits,
}

impl Base {
    fn own(&self, short: u32) -> Option<u32> {
        Some(short.wrapping_sub(self.file.first as u32)).filter(|&id| id < self.count)
    }

    fn short(&self, own: u32) -> u32 {
        (self.file.first as u32).wrapping_add(own)
    }

    /// The place of a fingerprint that has not moved, and the first id that holds it.
    fn find(&self, value: u64) -> Option<(usize, u32)> {
        let place = self.file.place(value).filter(|&place| !self.moved.has(place))?;
        let first = self.file.first(place).filter(|&first| first < self.count)?;
        Some((place, first))
    }
}

/// Some ids in a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chunk<'a> {
    /// Their fingerprints, where these are in memory.
    pub(crate) values: Option<&'a [u64]>,
    /// A bit for each that is alive, and for each that has no fingerprint.
    pub(crate) alive: &'a [u64],
    pub(crate) other: &'a [u64],
}

/// Id -> fingerprint: in memory, or in a mapped file for the ids that came before it was written. Of these the last, which do
/// not fill a chunk, are in memory too.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    records: Values,
    base: Option<Box<Base>>,
}

impl Numbers {
    /// No ids yet, the next one being `first`.
    pub(crate) fn starting_at(first: u64) -> Result<Self, IndexError> {
        Ok(Self { records: Values::starting_at(first)?, base: None })
    }

    /// The ids of a file in whole chunks.
    pub(crate) fn mapped(
        file: Arc<Holding>,
        alive: &Bits,
        other: &Bits,
        chunks: usize,
    ) -> Result<Self, IndexError> {
        let count = chunks * CHUNK;
        let mut ids = Bare::starting_at(file.first)?;
        for chunk in 0..chunks {
            ids.push_chunk(&alive.chunk(chunk), &other.chunk(chunk));
        }
        let records = Values::starting_at(file.first + count as u64)?;
        let moved = Bits::none(file.segment.as_ref().map_or(0, Segment::len));
        let held = ids.live();
        let base = Base { file, ids, count: count as u32, held, moved };
        let base = (held > 0).then(|| Box::new(base));
        Ok(Self { records, base })
    }

    /// Ids and fingerprints as they are now, shared until they change; nobody is found by a fingerprint.
    pub(crate) fn copied(&self) -> Self {
        let base = self.base.as_ref().map(|base| {
            let (file, ids) = (Arc::clone(&base.file), base.ids.clone());
            Box::new(Base { file, ids, moved: Bits::default(), ..**base })
        });
        Self { records: self.records.clone(), base }
    }

    pub(crate) fn push(&mut self, value: u64, other: bool) -> u32 {
        self.records.push(value, other)
    }

    #[inline]
    pub(crate) fn value(&self, short: u32) -> u64 {
        self.records.get(short).unwrap_or_else(|| self.mapped_value(short))
    }

    #[cold]
    fn mapped_value(&self, short: u32) -> u64 {
        let Some(base) = &self.base else { return 0 };
        base.own(short).map_or(0, |id| base.file.value(id))
    }

    #[cold]
    fn mapped_life(&self, short: u32) -> bool {
        self.base.as_ref().is_some_and(|base| base.ids.is_alive(short))
    }

    pub(crate) fn prefetch_value(&self, short: u32) {
        self.records.prefetch_value(short);
    }

    pub(crate) fn prefetch(&self, short: u32) {
        self.records.prefetch(short);
    }

    pub(crate) fn is_other(&self, short: u32) -> bool {
        match &self.base {
            Some(base) if base.own(short).is_some() => base.ids.is_other(short),
            _ => self.records.is_other(short),
        }
    }

    pub(crate) fn kill(&mut self, short: u32) {
        match &mut self.base {
            Some(base) if base.own(short).is_some() => base.ids.kill(short),
            _ => self.records.kill(short),
        }
    }

    pub(crate) fn release(&mut self, short: u32) {
        match &mut self.base {
            Some(base) if base.own(short).is_some() => {
                base.ids.release(short);
                base.held -= 1;
                if base.held == 0 {
                    self.base = None;
                }
            }
            _ => self.records.release(short),
        }
    }

    /// The first id, in the file, that holds a fingerprint which has not moved.
    pub(crate) fn find_mapped(&self, value: u64) -> Option<u32> {
        let base = self.base.as_ref()?;
        base.find(value).map(|(_, first)| base.short(first))
    }

    /// All ids, in the file, that hold a fingerprint which has not moved, ascending.
    pub(crate) fn mapped_holders(&self, value: u64) -> impl Iterator<Item = u32> {
        self.base.iter().flat_map(move |base| {
            let found = base.find(value).into_iter();
            found.flat_map(|(place, first)| {
                let holders = base.file.holders(place, first);
                holders.filter(|&id| id < base.count).map(|id| base.short(id))
            })
        })
    }

    /// Whether this id is one of the file.
    pub(crate) fn is_mapped(&self, short: u32) -> bool {
        self.base.as_ref().is_some_and(|base| base.own(short).is_some())
    }

    /// From now on the file is not asked for this fingerprint.
    pub(crate) fn moved(&mut self, value: u64) {
        if let Some(base) = &mut self.base
            && let Some((place, _)) = base.find(value)
        {
            base.moved.set(place);
        }
    }

    /// Calls `on_holders` with the ids of every fingerprint that has several in the file and has not moved.
    pub(crate) fn shared(&self, mut on_holders: impl FnMut(&[u32])) {
        let Some(base) = &self.base else { return };
        let mut own = Vec::new();
        base.file.shared(|place, ids| {
            if !base.moved.has(place) {
                own.clear();
                let kept = ids.iter().filter(|&&id| id < base.count);
                own.extend(kept.map(|&id| base.short(id)));
                if own.len() > 1 {
                    on_holders(&own);
                }
            }
        });
    }

    /// Asks for what [`Numbers::find_mapped`] reads.
    #[inline]
    pub(crate) fn ask(&self, value: u64) {
        if let Some(base) = &self.base
            && let Some(segment) = &base.file.segment
        {
            segment.ask(value, base.file.plan.prefixes());
        }
    }

    /// The file, as long as something refers to its ids.
    pub(crate) fn file(&self) -> Option<&Arc<Holding>> {
        self.base.as_ref().map(|base| &base.file)
    }

    /// The chunk of this id; none: it is gone.
    pub(crate) fn chunk(&self, id: u64) -> Option<Chunk<'_>> {
        if let Some(base) = &self.base
            && base.own(id as u32).is_some()
        {
            let of = |(_, alive, other)| Chunk { values: None, alive, other };
            return base.ids.chunk(id).map(of);
        }
        let of = |(values, alive, other)| Chunk { values: Some(values), alive, other };
        self.records.chunk(id).map(of)
    }

    /// Bytes held, those of the file not among them.
    pub(crate) fn bytes(&self) -> usize {
        let of = |base: &Base| base.file.bytes() + base.ids.bytes() + base.moved.0.len() * 8;
        self.records.bytes() + self.base.as_ref().map_or(0, |base| of(base))
    }

    /// As if so many more chunks of ids had been used and released.
    #[cfg(test)]
    pub(crate) fn skip(&mut self, chunks: usize) {
        self.records.skip(chunks);
    }
}

impl Ids for Numbers {
    fn next(&self) -> u64 {
        self.records.next()
    }

    fn oldest(&self) -> u64 {
        self.base.as_ref().map_or_else(|| self.records.oldest(), |base| base.ids.oldest())
    }

    fn live(&self) -> u64 {
        self.records.live() + self.base.as_ref().map_or(0, |base| base.ids.live())
    }

    fn alive(&self) -> Alive {
        let own = self.records.alive();
        self.base.as_ref().map_or_else(|| own.clone(), |base| base.ids.alive().and(&own))
    }

    #[inline]
    fn is_alive(&self, short: u32) -> bool {
        self.records.life(short).unwrap_or_else(|| self.mapped_life(short))
    }
}
