//! Saved indexes of release 0.1, and saved files of this one, as an index in a directory.
//!
//! ```text
//! first bytes            what it is                                     read by
//! "SIMHASH\n" format 2   an index of fingerprints, with keys and texts  fingerprints
//!                        the same beside FILE.ids.jsonl: the one of     fingerprints, ids
//!                        the command line, whose ids become its keys
//!                        an index of signatures                         signatures
//! "SIMHSEN\n" format 1   an index of sentences: a whole and its log     sentences
//! "SIMHASH\n" format 3   a file that this release saves                 live
//! ```
//! What was saved is read section by section, each against its checksum, and written anew in memory as this release would have
//! saved it (`anew`). Then it is opened as any file is, with every check that opening has, and what is wrong there is reported at
//! the place of the old file that it came from. So no answer rests on bytes that only this room has looked at. It takes as many bytes of
//! memory as the old file has, beside the index.
//!
//! Release 0.1 verified by options of a call, not of the index, and stored short texts only: what is converted answers as the method
//! found it, unverified.

mod anew;
mod fingerprints;
mod ids;
mod sections;
mod sentences;
mod signatures;

use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use simhash_index::IndexError;
use simhash_sketch::ExtractorOptions;
use simhash_store::directory::Directory;
use simhash_store::{FileError, Input, saved};

use self::sections::Old;
use crate::error::DedupError;
use crate::live::LiveIndex;

/// What was converted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Converted {
    /// The method of the index.
    pub method: &'static str,
    /// Its live documents.
    pub documents: u64,
    /// Bytes of an incomplete last change, which was never acknowledged and is not in the directory.
    pub torn_bytes: u64,
}

/// Makes a directory of the index in the file `old`, which release 0.1 or this one has saved, and which stays as it is. The directory
/// holds an index when all of it is there, and none before; it must not exist, or be empty. Of dictionary, stop words and idf table a file has digests alone: those
/// that it was made with are given in `words`.
///
/// # Errors
/// [`FileError`]s in [`DedupError::Index`]: [`FileError::Damaged`] with file and byte, [`FileError::Format`] for a file of a later
/// release, [`FileError::Mismatch`] where `words` are others, [`FileError::Read`], [`FileError::Write`], [`FileError::Locked`];
/// [`DedupError::Cancelled`].
pub fn convert(
    old: &Path,
    directory: &Path,
    words: &ExtractorOptions,
    cancel: &AtomicBool,
) -> Result<Converted, DedupError> {
    // Reading a large index takes minutes.
    Directory::check_free(directory).map_err(IndexError::from)?;
    let (live, torn_bytes) = open_old(old, words, cancel)?;
    let (method, documents) = (live.options().method.name(), live.len());
    live.snapshot().write_directory(directory, cancel)?;
    Ok(Converted { method, documents, torn_bytes })
}

/// The index of the file, in memory; and the bytes of an incomplete last change.
fn open_old(
    path: &Path,
    words: &ExtractorOptions,
    cancel: &AtomicBool,
) -> Result<(LiveIndex, u64), DedupError> {
    let unreadable = |error| FileError::unreadable(error).in_file(path);
    let about = path.metadata().map_err(unreadable)?;
    if !about.is_file() {
        let reason = if about.is_dir() {
            "it is a folder, and an index in a folder needs no conversion; name a file"
        } else {
            "it is no file"
        };
        return Err(unreadable(io::Error::new(ErrorKind::InvalidInput, reason)).into());
    }
    let read = saved::open(path, cancel, |input, _| {
        let ids = || ids::beside(path, cancel);
        read_with(input, about.len(), words, &ids)
    });
    match read.map_err(|error| in_file(error, path))? {
        Some(found) => Ok(found),
        None => Ok((LiveIndex::open_described(path, words, cancel)?, 0)),
    }
}

/// Reads an index that release 0.1 saved: the index, and the bytes of an incomplete last change. None: these are no bytes of such a file.
/// `length` is how many bytes the input has.
///
/// # Errors
/// As [`convert`], without a path.
pub fn read_old(
    input: &mut dyn Read,
    length: u64,
    words: &ExtractorOptions,
) -> Result<Option<(LiveIndex, u64)>, DedupError> {
    read_with(input, length, words, &|| Ok(None))
}

/// The ids of a file beside the index, read when they are needed: each the key of the document with its number.
type Ids<'a> = &'a dyn Fn() -> Result<Option<Vec<String>>, DedupError>;

fn read_with(
    input: &mut dyn Read,
    length: u64,
    words: &ExtractorOptions,
    ids: Ids<'_>,
) -> Result<Option<(LiveIndex, u64)>, DedupError> {
    let mut input = Input::new(input, Some(length));
    let Some(old) = Old::begin(&mut input)? else { return Ok(None) };
    match old {
        Old::Sentences(fixed) => sentences::read(&mut input, fixed, words).map(Some),
        Old::Other(fixed) => {
            let recipe = sections::recipe(&mut input, fixed)?;
            let live = if recipe.starts_with("minhash ") {
                signatures::read(input, &recipe, words)?
            } else {
                fingerprints::read(input, &recipe, words, ids)?
            };
            Ok(Some((live, 0)))
        }
    }
}

/// The same error of this file, where it names none.
fn in_file(error: DedupError, path: &Path) -> DedupError {
    match error {
        DedupError::Index(error) => error.in_file(path).into(),
        other => other,
    }
}
