//! The whole band index as one stream of bytes, in the frames of `simhash_store`.
//!
//! ```text
//! HEAD: recipe; bands, rows, hashes (0: no signatures), bits of the threshold, bucket limit, window
//! IDS_: the oldest and the next id
//! DOCS, one per 1024 ids: 16 words of bits, who is alive; their signatures, in order
//! AGES: the latest time; id and time of each document, the oldest first
//! TABS, one per 256 segments of the table: words; how many have entries, segment << 32 | entries of each of these, then
//!   tag << 32 | id of each entry
//! ```
//! All numbers are little-endian and 64 bits, positions of signatures 32. Entries of dead documents are not written. The
//! format fixes the keys of bands and the layout of the table too. Everything is checked when it is opened, as in the other images.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use simhash_store::{Fields, FileError, Input, Kind, Output, Section};

use super::documents::CHUNK;
use super::segment::TAG_BITS;
use super::table::SEGMENTS;
use super::{BandIndex, BandItem, BandOptions, BandPlan, Bands, Signatures};
use crate::IndexError;
use crate::ids::Ids;
use crate::live::saved::{ADVICE, Whole, ages, read_ages, read_ids, read_window, window};
use crate::live::{Keeping, Shared, State};

/// Segments per frame, so that no frame holds more than a sixteenth of the table in memory twice.
const GROUP: usize = 256;

/// About 8 bytes per document and band, and 4 per position where signatures are kept. A copy shares table and signatures with
/// the index, a segment until it changes: it takes some nanoseconds for each 1,024 documents and each crowded key, 12 bytes
/// for each document in an index with a window, and as much memory as changes until it is written.
impl Whole for Bands {
    const FILE: Kind = Kind { name: "minhash", made: "the signatures", advice: ADVICE };
    type Copy = State<Self>;
    type Awaited = ();

    fn written(options: &BandOptions) -> Fields {
        written(options)
    }

    fn copied(_: &BandOptions, state: &State<Self>) -> State<Self> {
        state.clone()
    }

    fn awaited(_: &Arc<Shared<Self>>) {}

    fn write_frames(
        _: &Arc<Shared<Self>>,
        state: State<Self>,
        (): (),
        out: &mut Output<'_>,
        _: &AtomicBool,
    ) -> Result<(), IndexError> {
        let Bands { table, documents, .. } = &state.kind;
        let known = documents.ids();
        let mut ids = Fields::default();
        ids.number(known.oldest());
        ids.number(known.next());
        out.frame(*b"IDS_", &ids.0)?;
        for (alive, signatures) in documents.chunks() {
            let mut fields = Fields::default();
            for word in alive {
                fields.number(word);
            }
            let positions = signatures.iter().copied().flatten();
            fields.0.extend(positions.flat_map(|position| position.to_le_bytes()));
            out.frame(*b"DOCS", &fields.0)?;
        }
        let times = state.ages.entries(|id| known.is_alive(id));
        let times = times.into_iter().map(|(id, at)| (known.id(id), at));
        out.frame(*b"AGES", &ages(state.ages.latest(), times).0)?;
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
            let length = (counts.len() as u64).to_le_bytes();
            out.words(*b"TABS", &length, std::iter::once(&counts[..]))?;
        }
        Ok(())
    }

    fn read_frames<R: Read>(
        fields: Section,
        input: &mut Input<R>,
    ) -> Result<BandIndex, IndexError> {
        let options = options(fields)?;
        let mut ids = input.frame(*b"IDS_")?;
        let (first, count) = read_ids(&mut ids)?;
        ids.end()?;
        let kind = Bands::starting_at(options, first);
        let kind = kind.map_err(|error| ids.damaged(error.to_string()))?;
        let mut state = State::of(kind, options.window);

        for chunk in 0..count.div_ceil(CHUNK as u64) {
            let mut fields = input.frame(*b"DOCS")?;
            let mut alive = [0; CHUNK / 64];
            for word in &mut alive {
                *word = fields.number()?;
            }
            let (rows, more) = fields.left().as_chunks();
            let rows: Vec<u32> = rows.iter().copied().map(u32::from_le_bytes).collect();
            let whole = more.is_empty();
            let here = (count - chunk * CHUNK as u64).min(CHUNK as u64) as usize;
            if !whole || !state.kind.documents.restore(here, alive, &rows) {
                return Err(fields.damaged("documents that contradict themselves").into());
            }
        }

        state.ages = read_ages(input.frame(*b"AGES")?, |id| state.has(id))?;

        let mut left = state.live().saturating_mul(options.plan.bands.max(BandItem::EXACT) as u64);
        for group in 0..SEGMENTS / GROUP {
            let mut section = input.frame(*b"TABS")?;
            let words = section.numbers()?;
            section.end()?;
            let wrong = || section.damaged("a table that contradicts itself");
            let filled = *words.first().ok_or_else(wrong)? as usize;
            let counts = words[1..].get(..filled).ok_or_else(wrong)?;
            let mut entries = words[1 + filled..].iter();
            for &count in counts {
                let (segment, count) = ((count >> 32) as usize, count & u64::from(u32::MAX));
                if segment / GROUP != group {
                    return Err(wrong().into());
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
                        return Err(wrong().into());
                    }
                    last = here;
                    state.kind.table.put(segment, tag, id, |_| true);
                }
            }
            if entries.next().is_some() {
                return Err(wrong().into());
            }
        }
        Ok(BandIndex::of(options, state, Keeping::Memory, ()))
    }
}

fn written(options: &BandOptions) -> Fields {
    let mut fields = Fields::default();
    for number in [
        options.plan.bands as u64,
        options.plan.rows as u64,
        options.signatures.map_or(0, |kept| kept.hashes as u64),
        options.signatures.map_or(0, |kept| kept.threshold.to_bits()),
        options.bucket_limit as u64,
    ] {
        fields.number(number);
    }
    window(options.window, &mut fields);
    fields
}

/// Options as they were written, not checked.
fn options(mut fields: Section) -> Result<BandOptions, FileError> {
    let mut size = || fields.number().map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    let (bands, rows, hashes) = (size()?, size()?, size()?);
    let threshold = f64::from_bits(fields.number()?);
    let bucket_limit = usize::try_from(fields.number()?).unwrap_or(usize::MAX);
    let window = read_window(&mut fields)?;
    fields.end()?;
    let signatures = (hashes > 0).then_some(Signatures { hashes, threshold });
    Ok(BandOptions { plan: BandPlan { bands, rows }, signatures, bucket_limit, window })
}
