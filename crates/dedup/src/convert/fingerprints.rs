//! An index of fingerprints, as release 0.1 saved it.
//!
//! ```text
//! length u64  keys and texts …  XXH3-64 of them u64
//! "SIMHIDX\n"  1 u64  sections PLAN  RECS  TEXT  AGES  TABS  END!
//! keys and texts: keyed u64  longest text u64, in code points (0: none)  then for each live document with a key or a text, by id:
//!       id u64  length of the key u32  length of the text u32  key  text
//! PLAN  name, radius, widths, tables and their blocks, distance of the index, window
//! RECS  first id u64  next id u64  a byte for each id: 0 gone, 1 empty, 2 short text, 3 fingerprint;  the fingerprints u64 …
//! TEXT  hashes of the short texts u128 …
//! AGES  latest time u64  id u64 time u64 …, oldest first
//! TABS  the tables
//! ```
//! The tables are made anew, of the records.

use std::io::Read;

use simhash_index::{Hamming, Whole as _};
use simhash_sketch::ExtractorOptions;
use simhash_store::fields::number;
use simhash_store::{Fields, FileError, Input, Section};
use xxhash_rust::xxh3::xxh3_64;

use super::Ids;
use super::anew::Anew;
use super::sections::Sections;
use crate::error::DedupError;
use crate::live::{LiveIndex, LiveOptions, Made, OnSameKey, Stored, Verify};

/// Ids whose fingerprints lie together in a saved index.
const CHUNK: usize = 8192;
/// The longest text that an index may store, in bytes.
const LONGEST: u64 = 1 << 24;

pub(super) fn read<R: Read>(
    mut input: Input<R>,
    recipe: &str,
    words: &ExtractorOptions,
    ids: Ids<'_>,
) -> Result<LiveIndex, DedupError> {
    let options = LiveOptions::described("simhash", recipe, words)?;
    let mut kept = Kept::read(&mut input)?;
    let (anew, ids_in_file) = image(&mut input, recipe)?;
    if !kept.stored.keys
        && kept.stored.longest_text.is_none()
        && let Some(ids) = ids()?
    {
        kept.take_ids(&ids, ids_in_file)?;
    }
    let verify = kept.stored.longest_text.is_none().then(Verify::default);
    let Kept { stored, documents, count, from } = kept;
    let on_same_key = OnSameKey::default();
    let made = Made {
        stored,
        on_same_key,
        verify,
        max_verifications: options.max_verifications,
        hashes: 0,
    };
    anew.open(&made, (&documents, count, from), &options)
}

/// Keys and texts, as they are written: in both releases the same for each document.
struct Kept {
    stored: Stored,
    documents: Vec<u8>,
    count: u64,
    /// Where they begin.
    from: u64,
}

impl Kept {
    fn read<R: Read>(input: &mut Input<R>) -> Result<Self, FileError> {
        let start = input.offset();
        let length = number(&input.bytes(8)?);
        let room = input.left().saturating_sub(8);
        if length > room {
            let reason = format!("keys and texts of {length} bytes, the file has {room} for them");
            return Err(FileError::damaged(start, reason));
        }
        let from = input.offset();
        let body = input.bytes(length)?;
        if number(&input.bytes(8)?) != xxh3_64(&body) {
            let reason = "the checksum of keys and texts is wrong";
            return Err(FileError::damaged(start, reason));
        }
        let mut fields = Section::new(body, from);
        let (keyed, longest) = (fields.number()? > 0, fields.number()?);
        // A character has at most four bytes.
        let longest = longest.saturating_mul(4).min(LONGEST) as u32;
        let stored = Stored { keys: keyed, longest_text: (longest > 0).then_some(longest) };
        let (mut documents, mut count) = (Fields::default(), 0);
        while !fields.is_empty() {
            let (id, key, text) = (fields.number()?, fields.half()?, fields.half()?);
            // A text of more than 16 MiB is stored no longer: its document stays.
            let stays = if text > longest { 0 } else { text };
            let (key, text) = (fields.bytes(key.into())?.to_vec(), fields.bytes(text.into())?);
            if key.is_empty() && stays == 0 {
                continue;
            }
            documents.number(id);
            documents.half(key.len() as u32);
            documents.half(stays);
            documents.0.extend(key);
            documents.0.extend(&text[..stays as usize]);
            count += 1;
        }
        Ok(Self { stored, documents: documents.0, count, from })
    }

    /// Takes the ids of a file beside the index for keys.
    fn take_ids(&mut self, ids: &[String], in_file: std::ops::Range<u64>) -> Result<(), FileError> {
        if in_file != (0..ids.len() as u64) {
            let reason = format!(
                "documents {} to {}, and the file of ids beside it has {}",
                in_file.start,
                in_file.end,
                ids.len()
            );
            return Err(FileError::damaged(self.from, reason));
        }
        self.stored.keys = true;
        let mut documents = Fields::default();
        for (id, key) in (0..).zip(ids) {
            documents.number(id);
            documents.half(key.len() as u32);
            documents.half(0);
            documents.0.extend(key.as_bytes());
        }
        (self.documents, self.count) = (documents.0, ids.len() as u64);
        Ok(())
    }
}

/// The index, written anew; and its ids.
fn image<R: Read>(
    input: &mut Input<R>,
    recipe: &str,
) -> Result<(Anew, std::ops::Range<u64>), FileError> {
    let mut sections = Sections::begin(input, *b"SIMHIDX\n")?;
    let from = sections.offset();
    let options = Fields(sections.section(*b"PLAN")?.left().to_vec());
    let mut anew = Anew::begin(Hamming::FILE, recipe, (&options, from))?;

    let from = sections.offset();
    let mut records = sections.section(*b"RECS")?;
    let (first, next) = (records.number()?, records.number()?);
    let count = next.checked_sub(first).filter(|&count| count < u64::from(u32::MAX));
    let count = count.ok_or_else(|| records.damaged(format!("ids from {first} to {next}")))?;
    let kinds = records.bytes(count)?.to_vec();
    let texts_from = sections.offset();
    let mut texts = sections.section(*b"TEXT")?;
    let written = Documents::read(first, &kinds, &mut records, &mut texts)?;
    records.end()?;
    texts.end()?;
    anew.frame(*b"RECS", (&written.ids.0, from))?;
    anew.frame(*b"TEXT", (&written.texts.0, texts_from))?;

    let ages = sections.offset();
    let times = sections.section(*b"AGES")?.left().to_vec();
    anew.frame(*b"AGES", (&times, ages))?;
    sections.skip(*b"TABS")?;
    sections.end()?;

    anew.frames(from, |out| {
        let mut tables = Fields::default();
        tables.numbers(written.late.iter().copied());
        tables.numbers(std::iter::empty());
        out.frame(*b"TABS", &tables.0)?;
        out.blocks(*b"VALS", std::iter::once(written.values.as_slice()))?;
        out.blocks(*b"HOLD", std::iter::empty())?;
        out.blocks(*b"COPY", std::iter::empty())
    })?;
    Ok((anew, first..next))
}

/// Documents as this release writes them; no fingerprint is in a table yet.
struct Documents {
    ids: Fields,
    texts: Fields,
    values: Vec<u64>,
    late: Vec<u64>,
}

impl Documents {
    fn read(
        first: u64,
        kinds: &[u8],
        fingerprints: &mut Section,
        hashes: &mut Section,
    ) -> Result<Self, FileError> {
        let words = kinds.len().div_ceil(64);
        let (mut alive, mut other) = (vec![0_u64; words], vec![0_u64; words]);
        let (mut texts, mut values, mut late) = (Fields::default(), Vec::new(), Vec::new());
        for (chunk, kinds) in kinds.chunks(CHUNK).enumerate() {
            let mut own = vec![0; kinds.len()];
            for (row, &kind) in kinds.iter().enumerate() {
                let at = chunk * CHUNK + row;
                let (id, bit) = (first + at as u64, 1 << (at % 64));
                match kind {
                    0 => continue,
                    1 => other[at / 64] |= bit,
                    2 => {
                        other[at / 64] |= bit;
                        for number in [id, hashes.number()?, hashes.number()?] {
                            texts.number(number);
                        }
                    }
                    3 => {
                        own[row] = fingerprints.number()?;
                        late.push(id);
                    }
                    kind => {
                        let reason = format!("a document of kind {kind}");
                        return Err(fingerprints.damaged(reason));
                    }
                }
                alive[at / 64] |= bit;
            }
            if kinds.contains(&3) {
                values.extend(own);
            }
        }
        let mut ids = Fields::default();
        ids.number(first);
        ids.number(first + kinds.len() as u64);
        for word in alive.into_iter().chain(other).chain(vec![0; words]) {
            ids.number(word);
        }
        Ok(Self { ids, texts, values, late })
    }
}
