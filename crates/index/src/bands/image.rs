//! The whole band index as one stream of bytes, in the frames of a saved [`Index`](crate::Index).
//!
//! ```text
//! "SIMHBND\n"  version u32  0 u32
//! PLAN: bands, rows, hashes (0: no signatures), bits of the threshold, bucket limit, window
//! IDS_: the oldest and the next id
//! DOCS, one per 1024 ids: 16 words of bits, who is alive; their signatures, in order
//! AGES: the latest time; id and time of each document, the oldest first
//! TABS, one per 256 segments of the table: words; how many have entries, segment << 32 | entries of each of these, then
//!   tag << 32 | id of each entry
//! END!
//! ```
//! All numbers are little-endian and 64 bits, positions of signatures 32. Entries of dead documents are not written. Version
//! 1 fixes the keys of bands and the layout of the table. Everything is checked when it is opened, as in the other images.

use std::io::{Read, Write};
use std::sync::Arc;

use super::documents::CHUNK;
use super::segment::TAG_BITS;
use super::table::SEGMENTS;
use super::{BandOptions, BandPlan, Bands, Signatures};
use crate::ids::Ids;
use crate::image::frame::{Fields, Input, Output};
use crate::live::{Asked, Keeping, Live, State};
use crate::{IndexError, Window};

const MAGIC: [u8; 8] = *b"SIMHBND\n";
const VERSION: u32 = 1;

/// Segments per section, so that no section holds more than a sixteenth of the table in memory twice.
const GROUP: usize = 256;

/// An index as it was when [`BandIndex::snapshot`] was called, on its way to a file.
#[derive(Debug)]
pub struct BandSnapshot(Asked<Option<State<Bands>>>);

impl Live<Bands> {
    /// Writes the whole index as it is at the call; nobody waits. About 8 bytes per document and band, and 4 per position
    /// where signatures are kept.
    ///
    /// # Errors
    /// [`IndexError::Io`].
    pub fn save(&self, out: &mut dyn Write) -> Result<(), IndexError> {
        self.write(self.snapshot(), out)
    }

    /// The index as it is now, for [`BandIndex::write`]: what is added or deleted after this call is not in it. O(1): before
    /// the next change it is copied, by the thread of that change or by the one that writes, whichever comes first. The copy
    /// shares table and signatures with the index, a segment until it changes: it takes some nanoseconds for each 1,024
    /// documents and each crowded key, 12 bytes for each document in an index with a window, and as much memory as changes
    /// until it is written.
    pub fn snapshot(&self) -> BandSnapshot {
        let shared = Arc::downgrade(&self.shared);
        let copy = move || Some(shared.upgrade()?.state.read().clone());
        BandSnapshot(self.shared.turns.ask(copy))
    }

    /// Writes a snapshot of this index.
    ///
    /// # Errors
    /// [`IndexError::Io`].
    pub fn write(&self, snapshot: BandSnapshot, out: &mut dyn Write) -> Result<(), IndexError> {
        let state = snapshot.0.made(&self.shared.turns).flatten().ok_or_else(|| {
            IndexError::Io { message: "the index could not be copied".to_owned() }
        })?;
        let Bands { table, documents, .. } = &state.kind;
        let known = documents.ids();
        let mut out = Output::new(out, MAGIC, VERSION)?;
        out.section(*b"PLAN", [plan(self.options()).0.as_slice()])?;
        let mut ids = Fields::default();
        ids.number(known.oldest());
        ids.number(known.next());
        out.section(*b"IDS_", [ids.0.as_slice()])?;
        for (alive, signatures) in documents.chunks() {
            let mut fields = Fields::default();
            for word in alive {
                fields.number(word);
            }
            let positions = signatures.iter().copied().flatten();
            fields.0.extend(positions.flat_map(|position| position.to_le_bytes()));
            out.section(*b"DOCS", [fields.0.as_slice()])?;
        }
        let mut ages = Fields::default();
        ages.number(state.ages.latest());
        for (id, at) in state.ages.entries(|id| known.is_alive(id)) {
            ages.number(known.id(id));
            ages.number(at);
        }
        out.section(*b"AGES", [ages.0.as_slice()])?;
        for group in 0..SEGMENTS / GROUP {
            let (mut counts, mut entries) = (vec![0], Vec::new());
            for segment in group * GROUP..(group + 1) * GROUP {
                let before = entries.len();
                let all = table.entries(segment);
                let live = all.filter(|&(_, id)| known.is_alive(id));
                entries.extend(live.map(|(tag, id)| u64::from(tag) << 32 | u64::from(id)));
                if entries.len() > before {
                    counts.push((segment as u64) << 32 | (entries.len() - before) as u64);
                    counts[0] += 1;
                }
            }
            counts.append(&mut entries);
            out.words(
                *b"TABS",
                &(counts.len() as u64).to_le_bytes(),
                std::iter::once(&counts[..]),
            )?;
        }
        out.section(*b"END!", [])
    }

    /// Reads an index that [`BandIndex::save`] wrote.
    ///
    /// # Errors
    /// [`IndexError::Io`], and [`IndexError::Damaged`] with the byte where the damage was noticed.
    pub fn open(input: &mut dyn Read) -> Result<Self, IndexError> {
        let mut input = Input::new(input, MAGIC, VERSION)?;
        let mut fields = input.section(*b"PLAN")?;
        let mut numbers = [0; 8];
        for number in &mut numbers {
            *number = fields.number()?;
        }
        fields.end()?;
        let options = options(numbers);
        let mut ids = input.section(*b"IDS_")?;
        let (first, next) = (ids.number()?, ids.number()?);
        ids.end()?;
        let count = next.checked_sub(first).filter(|&count| count < u64::from(u32::MAX));
        let count = count.ok_or_else(|| ids.damaged(format!("ids from {first} to {next}")))?;
        let kind = Bands::starting_at(options, first);
        let kind = kind.map_err(|error| ids.damaged(error.to_string()))?;
        let mut state = State::of(kind, options.window);

        for chunk in 0..count.div_ceil(CHUNK as u64) {
            let mut fields = input.section(*b"DOCS")?;
            let mut alive = [0; CHUNK / 64];
            for word in &mut alive {
                *word = fields.number()?;
            }
            let bytes = fields.left();
            let rows: Vec<u32> = bytes
                .chunks(4)
                .map(|bytes| bytes.iter().rev().fold(0, |row, &byte| row << 8 | u32::from(byte)))
                .collect();
            let here = (count - chunk * CHUNK as u64).min(CHUNK as u64) as usize;
            if bytes.len() % 4 != 0 || !state.kind.documents.restore(here, alive, &rows) {
                return Err(fields.damaged("documents that contradict themselves".to_owned()));
            }
        }

        let mut entries = input.section(*b"AGES")?;
        state.ages.advance(entries.number()?);
        let latest = state.ages.latest();
        while !entries.is_empty() {
            let (id, at) = (entries.number()?, entries.number()?);
            if !state.has(id) || at > latest {
                return Err(entries.damaged(format!("time {at} of id {id}")));
            }
            state.ages.restore(id as u32, at);
        }

        let mut left = state.live().saturating_mul(options.plan.bands as u64);
        for group in 0..SEGMENTS / GROUP {
            let mut section = input.section(*b"TABS")?;
            let words = section.words()?;
            section.end()?;
            let wrong = || section.damaged("a table that contradicts itself".to_owned());
            let filled = *words.first().ok_or_else(wrong)? as usize;
            let counts = words[1..].get(..filled).ok_or_else(wrong)?;
            let mut entries = words[1 + filled..].iter();
            for &count in counts {
                let (segment, count) = ((count >> 32) as usize, count & u64::from(u32::MAX));
                if segment / GROUP != group {
                    return Err(wrong());
                }
                let mut last = (0, 0);
                left = left.checked_sub(count).ok_or_else(wrong)?;
                for _ in 0..count {
                    let &entry = entries.next().ok_or_else(wrong)?;
                    let (tag, id) = ((entry >> 32) as u32, entry as u32);
                    let here = (tag, state.kind.documents.age(id));
                    let fits = tag >> TAG_BITS == 0
                        && here >= last
                        && state.kind.documents.ids().is_alive(id);
                    if !fits {
                        return Err(wrong());
                    }
                    last = here;
                    state.kind.table.put(segment, tag, id, |_| true);
                }
            }
            if entries.next().is_some() {
                return Err(wrong());
            }
        }
        input.section(*b"END!")?.end()?;
        input.end()?;
        Ok(Self::of(options, state, Keeping::Memory, ()))
    }
}

fn plan(options: &BandOptions) -> Fields {
    let window = options.window.unwrap_or_default();
    let mut fields = Fields::default();
    for number in [
        options.plan.bands as u64,
        options.plan.rows as u64,
        options.signatures.map_or(0, |kept| kept.hashes as u64),
        options.signatures.map_or(0, |kept| kept.threshold.to_bits()),
        options.bucket_limit as u64,
        u64::from(options.window.is_some()),
        window.max_age.unwrap_or(0),
        window.max_count.unwrap_or(0),
    ] {
        fields.number(number);
    }
    fields
}

/// The options of these numbers, not checked.
fn options(numbers: [u64; 8]) -> BandOptions {
    let [bands, rows, hashes, threshold, bucket_limit, has_window, age, count] = numbers;
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let limit = |limit: u64| (limit > 0).then_some(limit);
    BandOptions {
        plan: BandPlan { bands: size(bands), rows: size(rows) },
        signatures: (hashes > 0)
            .then(|| Signatures { hashes: size(hashes), threshold: f64::from_bits(threshold) }),
        bucket_limit: size(bucket_limit),
        window: (has_window > 0).then(|| Window { max_age: limit(age), max_count: limit(count) }),
    }
}
