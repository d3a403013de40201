//! A live index as one file: what is kept of documents beside the index of the method, in the same file.
//!
//! ```text
//! keyed u64 (0: not, else 1 more than the place of what a key does that comes again)  longest text u64 (0: none)  measure u64 (0: nothing is compared)  least f64  most verifications u64  positions u64
//! documents u64, each that is alive and has a key or a text, by id:
//!   id u64  length of the key u32  length of the text u32  key  text
//! long texts u64, each, by id: id u64  positions u32 …
//! where keys are answered as they were first: those answers, see `answers`
//! ```
//! What is copied between two changes shares keys and texts with the index until it changes them. They are put together in
//! memory when the file is written: as many bytes as keys and texts have, and 16 for each document.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use simhash_index::live::Later;
use simhash_index::{Alive, IndexError, Live, durable};
use simhash_store::directory::{Directory, Manifest};
use simhash_store::{Access, Fields, FileError, Input, Section, saved};
use simhash_text::feature;

use super::answers::Answers;
use super::described::by_option;
use super::engine::{Around, Engine};
use super::kind::Method;
use super::options::{OnSameKey, Stored, Verify};
use super::store::Copied;
use crate::error::DedupError;
use crate::options::Measure;

/// Every measure, by its number in files.
const MEASURES: [Measure; 5] =
    [Measure::Auto, Measure::Jaccard, Measure::Containment, Measure::Edit, Measure::Cosine];

/// What an index was made with that its kind does not know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Made {
    pub(crate) stored: Stored,
    pub(crate) on_same_key: OnSameKey,
    pub(crate) verify: Option<Verify>,
    pub(crate) max_verifications: usize,
    /// Positions of a signature, for minhash.
    pub(crate) hashes: usize,
}

impl Made {
    pub(crate) fn write(&self) -> Fields {
        let mut out = Fields::default();
        out.number(if self.stored.keys { self.on_same_key.number() } else { 0 });
        out.number(u64::from(self.stored.longest_text.unwrap_or(0)));
        let measure = self.verify.and_then(|verify| {
            MEASURES.iter().position(|&measure| measure == verify.measure).map(|at| at as u64 + 1)
        });
        out.number(measure.unwrap_or(0));
        out.number(self.verify.map_or(0, |verify| verify.least.to_bits()));
        out.number(self.max_verifications as u64);
        out.number(self.hashes as u64);
        out
    }

    fn read(kept: &mut Section) -> Result<Self, FileError> {
        let keyed = kept.number()?;
        let keys = keyed > 0;
        let on_same_key = OnSameKey::numbered(keyed.max(1))
            .ok_or_else(|| kept.damaged(format!("keys of kind {keyed}")))?;
        let longest = u32::try_from(kept.number()?);
        let longest =
            longest.map_err(|_| kept.damaged("a longest text of more than 2^32 bytes"))?;
        let longest_text = (longest > 0).then_some(longest);
        let (measure, least) = (kept.number()?, f64::from_bits(kept.number()?));
        let verify = match measure {
            0 => None,
            number => {
                let measure = MEASURES.get(number as usize - 1).copied();
                let measure = measure.filter(|_| least > 0.0 && least <= 1.0).ok_or_else(|| {
                    kept.damaged(format!("measure {number} from a similarity of {least}"))
                })?;
                Some(Verify { measure, least })
            }
        };
        let mut size = || kept.number().map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        let (max_verifications, hashes) = (size()?, size()?);
        if max_verifications == 0 || longest > 1 << 24 {
            let what = format!("texts of {longest} bytes, {max_verifications} comparisons");
            return Err(kept.damaged(what));
        }
        let stored = Stored { keys, longest_text };
        Ok(Self { stored, on_same_key, verify, max_verifications, hashes })
    }
}

impl<K: Method> Engine<K> {
    /// Keys, texts and index as they are now, for saving: what is added or deleted after this call is not in it.
    pub(super) fn snapshot(&self, recipe: String, hashes: usize) -> Snapshot {
        let snapshot = self.index.snapshot_with(self.beside(hashes));
        let access = self.stored.longest_text.map_or(Access::Usual, |_| Access::Private);
        let write = move |to: To<'_>, cancel: &AtomicBool| match to {
            To::File(path) => snapshot.write_file((path, access), &recipe, cancel),
            To::Stream(out) => snapshot.write(out, &recipe, cancel),
            To::Directory(directory, also) => {
                durable::write_directory(directory, snapshot, &recipe, cancel, also)
            }
        };
        Snapshot { write: Box::new(write), runs: None }
    }

    /// What is kept beside the index: copied at once while other writers are kept out, put together later.
    pub(super) fn beside(&self, hashes: usize) -> impl Fn() -> Later + Send + Sync + use<K> {
        let Self { stored, on_same_key, verify, max_verifications, .. } = *self;
        let made = Made { stored, on_same_key, verify, max_verifications, hashes };
        let is_windowed = self.index.window().is_some();
        let store = Arc::clone(&self.store);
        move || {
            let copied = store.read().copied();
            Box::new(move |alive: &Alive| kept(&made, copied, is_windowed, alive))
        }
    }

    /// Reads what a [`Snapshot`] wrote. `around` says how documents are made, of what the file says of itself.
    pub(super) fn open(
        from: Source<'_>,
        recipe: &str,
        around: impl FnOnce(&K::Options, Made) -> Result<Around, DedupError>,
    ) -> Result<(Self, Made), DedupError> {
        let whole = |input: &mut dyn Read, length| {
            Live::<K>::open_with(Input::new(input, length), Some(recipe))
        };
        let (read, path): (Result<_, IndexError>, _) = match from {
            Source::File(path, cancel) => (saved::open(path, cancel, whole), Some(path.to_owned())),
            Source::Stream(input) => (whole(input, None), None),
            Source::Directory(directory, manifest, mmap, cancel) => {
                let path = directory.checkpoint(manifest.checkpoint);
                (durable::read(directory, manifest, recipe, mmap, cancel), Some(path))
            }
        };
        let named = |error: IndexError| {
            let error = match error {
                IndexError::File(error) => by_option(error).into(),
                IndexError::Cancelled => error,
                // Options that no index is made with.
                other => FileError::damaged(0, other.to_string()).into(),
            };
            path.as_ref().map_or(error.clone(), |path| error.in_file(path))
        };
        let (index, mut kept) = read.map_err(named)?;
        if kept.is_empty() {
            let foreign = kept.damaged("an index of another program");
            return Err(named(foreign.into()).into());
        }
        let made = Made::read(&mut kept).map_err(|error| named(error.into()))?;
        let around = around(index.options(), made).map_err(|error| match error {
            DedupError::Index(error) => named(error).into(),
            other => DedupError::from(named(FileError::damaged(0, other.to_string()).into())),
        })?;
        let engine = Self::new(index, around);
        engine.restore(&mut kept).map_err(|error| named(error.into()))?;
        Ok((engine, made))
    }

    fn restore(&self, kept: &mut Section) -> Result<(), FileError> {
        let mut store = self.store.write();
        let is_alive = |id| self.index.has(id);
        let mut after = 0;
        for _ in 0..kept.number()? {
            let (id, key, text) = (kept.number()?, kept.half()?, kept.half()?);
            if id < after || !is_alive(id) {
                return Err(kept.damaged(format!("a key or text of id {id}")));
            }
            after = id + 1;
            let longest = self.stored.longest_text.unwrap_or(0);
            if (key > 0 && store.keys.is_none()) || text > longest {
                return Err(kept.damaged("a key or text that the index does not keep"));
            }
            let key = kept.text_of(key.into())?;
            if let Some(keys) = store.keys.as_mut().filter(|_| !key.is_empty()) {
                keys.add(id, key, is_alive);
            }
            let text = kept.text_of(text.into())?;
            if !text.is_empty() {
                store.add_text(id, text, feature::exact(text));
            }
        }
        for _ in 0..kept.number()? {
            let (id, length) = (kept.number()?, kept.half()?);
            let positions = kept.bytes(u64::from(length) * 4)?;
            let (positions, _) = positions.as_chunks();
            let signature: Vec<u32> = positions.iter().copied().map(u32::from_le_bytes).collect();
            let fits = signature.len() == self.positions() && store.texts.is_some();
            if !is_alive(id) || !fits || store.long(id).is_some() {
                return Err(kept.damaged(format!("a signature of id {id}")));
            }
            store.add_long(id, &signature, is_alive);
        }
        if self.on_same_key == OnSameKey::Repeat {
            store.answers = Answers::read(kept, self.index.next_id())?;
        }
        kept.end()
    }
}

/// Where a snapshot goes.
enum To<'a> {
    File(&'a Path),
    Stream(&'a mut dyn Write),
    /// What else belongs there is written before the index counts.
    Directory(&'a Directory, &'a mut Also<'a>),
}

type Also<'a> = dyn FnMut(&Manifest) -> Result<(), IndexError> + 'a;

/// Where an index is read from.
pub(super) enum Source<'a> {
    File(&'a Path, &'a AtomicBool),
    Stream(&'a mut dyn Read),
    /// The checkpoint of a directory, mapped or not.
    Directory(&'a Directory, &'a Manifest, bool, &'a AtomicBool),
}

type Writing = Box<dyn FnOnce(To<'_>, &AtomicBool) -> Result<(), IndexError> + Send>;

/// An index as it was at one moment, on its way to a file.
pub struct Snapshot {
    write: Writing,
    /// The directory of the index and its next id: what runs have left there goes along.
    runs: Option<(PathBuf, u64)>,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot").finish_non_exhaustive()
    }
}

impl Snapshot {
    /// Writes it to a file, whole or not at all; additions and searches go on. A new one that holds texts is readable by its
    /// owner only.
    ///
    /// # Errors
    /// [`FileError::Write`], [`IndexError::Cancelled`]; [`IndexError::Merge`] if merging has failed.
    pub fn write_file(self, path: &Path, cancel: &AtomicBool) -> Result<(), DedupError> {
        Ok((self.write)(To::File(path), cancel)?)
    }

    /// Writes it to a directory, which is made, or is empty: an index that [`LiveIndex::open_directory`](super::LiveIndex::open_directory)
    /// opens. After an error nothing of it is there.
    ///
    /// # Errors
    /// As [`Snapshot::write_file`]; where the directory holds something else.
    pub fn write_directory(self, path: &Path, cancel: &AtomicBool) -> Result<(), DedupError> {
        Directory::check_free(path).map_err(IndexError::from)?;
        let was_there = path.is_dir();
        let (directory, there) = Directory::claim(path, true).map_err(IndexError::from)?;
        if there.is_some() {
            // Made by another process a moment ago.
            return Err(Directory::check_free(path)
                .err()
                .map_or(DedupError::Stopped, |error| IndexError::from(error).into()));
        }
        let written = self.write_to(&directory, cancel);
        if written.is_err() {
            directory.abandon(!was_there);
        }
        written
    }

    fn write_to(self, directory: &Directory, cancel: &AtomicBool) -> Result<(), DedupError> {
        let Self { write, runs } = self;
        let mut also = |manifest: &Manifest| match &runs {
            None => Ok(()),
            Some((path, next)) => {
                let (own, made) = Directory::look(path)?;
                durable::copy_records((&own, &made), (directory, manifest), *next)
            }
        };
        Ok(write(To::Directory(directory, &mut also), cancel)?)
    }

    /// Has what runs have left in the directory of the index go along.
    pub(super) fn with_runs(self, runs: Option<(PathBuf, u64)>) -> Self {
        Self { runs, ..self }
    }

    /// Writes it to a stream.
    ///
    /// # Errors
    /// As [`Snapshot::write_file`].
    pub fn write(self, out: &mut dyn Write, cancel: &AtomicBool) -> Result<(), DedupError> {
        Ok((self.write)(To::Stream(out), cancel)?)
    }
}

/// What is kept of live documents.
fn kept(made: &Made, copied: Copied, is_windowed: bool, alive: &Alive) -> Fields {
    let Copied { keys, texts, mut long, answers } = copied;
    let mut kept = made.write();
    let counted = kept.0.len();
    kept.number(0);
    let mut count = 0u64;
    let mut put = |id: u64, key: &str, text: &str| {
        if alive.has(id) && !(key.is_empty() && text.is_empty()) {
            kept.number(id);
            kept.half(key.len() as u32);
            kept.half(text.len() as u32);
            kept.0.extend(key.bytes().chain(text.bytes()));
            count += 1;
        }
    };
    let mut keys = keys.as_ref().map(|keys| keys.iter().peekable());
    let mut keys_till = |end: u64, put: &mut dyn FnMut(u64, &str)| {
        let Some(keys) = &mut keys else { return };
        while let Some((id, key)) = keys.next_if(|&(id, _)| id < end) {
            put(id, key);
        }
    };
    if let Some(texts) = &texts {
        texts.each(|id, text| {
            keys_till(id, &mut |id, key| put(id, key, ""));
            let mut own = String::new();
            keys_till(id + 1, &mut |_, key| key.clone_into(&mut own));
            put(id, &own, text);
        });
    }
    keys_till(u64::MAX, &mut |id, key| put(id, key, ""));
    kept.0[counted..counted + 8].copy_from_slice(&count.to_le_bytes());
    long.retain(|&(id, _)| alive.has(id));
    long.sort_unstable_by_key(|&(id, _)| id);
    kept.number(long.len() as u64);
    for (id, signature) in long {
        kept.number(id);
        kept.half(signature.len() as u32);
        kept.0.extend(signature.iter().flat_map(|position| position.to_le_bytes()));
    }
    if made.on_same_key == OnSameKey::Repeat {
        answers.write(&mut kept, is_windowed, |id| alive.has(id));
    }
    kept
}
