//! The file of an index: what makes its items, then the index itself.
//!
//! ```text
//! "SIMHASH\n"  version u32  length u32  header …  XXH3-64 of all this u64  image of the core …
//! header: maxAge u64  maxCount u64 (0: none)  windowed u64  recipe of the fingerprinter, UTF-8
//! ```
//! All numbers are little-endian. An index whose texts became fingerprints in one way gives wrong answers for texts that
//! became fingerprints in another, so the recipe comes first and must be the same. The file is published as a [`Draft`]: at
//! no time does its name stand for half an index.

use super::options::mismatch;
use crate::error::Failure;
use simhash_index::{IndexError, Window};
use simhash_store::{Access, Draft, PublishError};
use simhash_text::feature::hash;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

const MAGIC: [u8; 8] = *b"SIMHASH\n";
/// Version 2: keys and texts of documents come before the image of an index of fingerprints.
const VERSION: u32 = 2;
/// Magic, version and length.
const FIXED: usize = 16;
/// Three numbers of the window.
const NUMBERS: usize = 24;
/// Longer headers are damage: recipes have some 200 bytes.
const LONGEST: u32 = 1 << 16;
/// Bytes read or written at a time.
const PIECE: usize = 1 << 20;

/// A stream that ends with the job, and remembers why it failed: the core keeps the message only.
struct Watched<'a, S> {
    stream: S,
    flag: &'a AtomicBool,
    failed: Option<ErrorKind>,
}

impl<'a, S> Watched<'a, S> {
    fn new(stream: S, flag: &'a AtomicBool) -> Self {
        Self { stream, flag, failed: None }
    }

    fn run<T>(&mut self, work: impl FnOnce(&mut S) -> io::Result<T>) -> io::Result<T> {
        if self.flag.load(Ordering::Relaxed) {
            return Err(io::Error::other("cancelled"));
        }
        let result = work(&mut self.stream);
        self.failed = result.as_ref().err().map(io::Error::kind).or(self.failed);
        result
    }
}

impl<S: Read> Read for Watched<'_, S> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.run(|stream| stream.read(bytes))
    }
}

impl<S: Write> Write for Watched<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.run(|stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.run(Write::flush)
    }
}

/// An error of the core, or of the system, with the file's name; the one place that maps them.
fn failure(path: &Path, error: &IndexError, before: usize) -> Failure {
    let path = path.display();
    match error {
        IndexError::Damaged { offset, reason } => damaged(&path, offset + before as u64, reason),
        other => Failure::from(other.clone()).of(&path),
    }
}

fn damaged(path: &impl std::fmt::Display, offset: u64, reason: &str) -> Failure {
    let message = format!("{path}: the saved index is damaged at byte {offset}: {reason}");
    Failure::new("ERR_SIMHASH_INDEX_DAMAGED", message)
}

fn unreadable(path: &Path, reason: &impl std::fmt::Display) -> Failure {
    Failure::new("ERR_SIMHASH_INPUT", format!("cannot read {}: {reason}", path.display()))
}

fn unwritable(path: &Path, kind: Option<ErrorKind>, reason: &impl std::fmt::Display) -> Failure {
    let full = matches!(kind, Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded));
    let code = if full { "ERR_SIMHASH_DISK_FULL" } else { "ERR_SIMHASH_OUTPUT" };
    Failure::new(code, format!("cannot write {}: {reason}", path.display()))
}

fn unpublished(error: PublishError) -> Failure {
    let (path, source) = error.into_parts();
    unwritable(&path, Some(source.kind()), &source)
}

fn header(window: Option<Window>, recipe: &str) -> Vec<u8> {
    let limits = window.unwrap_or_default();
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(((NUMBERS + recipe.len()) as u32).to_le_bytes());
    for number in
        [limits.max_age.unwrap_or(0), limits.max_count.unwrap_or(0), u64::from(window.is_some())]
    {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(recipe.as_bytes());
    bytes.extend(hash(&bytes).to_le_bytes());
    bytes
}

/// Saves what `image` writes, whole or not at all. `access` is that of a file which is new.
pub(crate) fn save(
    image: impl FnOnce(&mut dyn Write) -> Result<(), IndexError>,
    window: Option<Window>,
    recipe: &str,
    (path, access): (&Path, Access),
    flag: &AtomicBool,
) -> Result<(), Failure> {
    let mut draft = Draft::new(path, access).map_err(unpublished)?;
    let cancelled =
        || if flag.load(Ordering::Relaxed) { Err(Failure::cancelled()) } else { Ok(()) };
    let mut out = Watched::new(BufWriter::with_capacity(PIECE, draft.file()), flag);
    let written = out
        .write_all(&header(window, recipe))
        .map_err(|error| IndexError::Io { message: error.to_string() })
        .and_then(|()| image(&mut out));
    cancelled()?;
    match written {
        Ok(()) => {}
        Err(IndexError::Io { message }) => return Err(unwritable(path, out.failed, &message)),
        Err(other) => return Err(failure(path, &other, 0)),
    }
    let flushed = out.stream.flush();
    flushed.map_err(|error| unwritable(path, Some(error.kind()), &error))?;
    drop(out);
    draft.seal().map_err(unpublished)?;
    cancelled()?;
    draft.publish().map(drop).map_err(unpublished)
}

/// Opens what [`save`] wrote by `image`, if its recipe, which `option` stands for, is this one.
pub(crate) fn open<T>(
    path: &Path,
    (option, recipe): (&str, &str),
    flag: &AtomicBool,
    image: impl FnOnce(&mut dyn Read) -> Result<T, IndexError>,
) -> Result<(T, Option<Window>), Failure> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let mut input = Watched::new(BufReader::with_capacity(PIECE, file), flag);
    let (window, found, length) = read_header(&mut input, path)?;
    if found != recipe {
        return Err(mismatch(path, option, &found, recipe));
    }
    let opened = image(&mut input);
    if flag.load(Ordering::Relaxed) {
        return Err(Failure::cancelled());
    }
    match opened {
        Ok(index) => Ok((index, window)),
        Err(IndexError::Io { message }) => Err(unreadable(path, &message)),
        Err(other) => Err(failure(path, &other, length)),
    }
}

/// Window, recipe, and the bytes that they took.
fn read_header(
    input: &mut impl Read,
    path: &Path,
) -> Result<(Option<Window>, String, usize), Failure> {
    let shown = path.display();
    let mut bytes = Vec::with_capacity(FIXED);
    let fixed = input.by_ref().take(FIXED as u64).read_to_end(&mut bytes);
    fixed.map_err(|error| unreadable(path, &error))?;
    if !bytes.starts_with(&MAGIC) {
        return Err(damaged(&shown, 0, "this is not a saved index; name a file that save() wrote"));
    }
    if bytes.len() < FIXED {
        return Err(damaged(&shown, bytes.len() as u64, "the file ends within its header"));
    }
    let mut take = |bytes: &mut [u8], at: u64| {
        input.read_exact(bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => damaged(&shown, at, "the file ends within its header"),
            _ => unreadable(path, &error),
        })
    };
    let small = |bytes: &[u8]| bytes.iter().rev().fold(0, |all, &byte| all << 8 | u32::from(byte));
    let (version, length) = (small(&bytes[8..12]), small(&bytes[12..16]));
    if version != VERSION {
        let reason = format!("version {version}; this program reads {VERSION}");
        return Err(damaged(&shown, 8, &reason));
    }
    if length > LONGEST || (length as usize) < NUMBERS {
        return Err(damaged(&shown, 12, &format!("a header of {length} bytes")));
    }
    bytes.resize(FIXED + length as usize, 0);
    take(&mut bytes[FIXED..], FIXED as u64)?;
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte));
    let mut sum = [0; 8];
    take(&mut sum, bytes.len() as u64)?;
    if number(&sum) != hash(&bytes) {
        return Err(damaged(&shown, 0, "the checksum of the header is wrong"));
    }
    let field = |at: usize| number(&bytes[FIXED + 8 * at..FIXED + 8 * (at + 1)]);
    let limit = |limit: u64| (limit > 0).then_some(limit);
    let window =
        (field(2) > 0).then(|| Window { max_age: limit(field(0)), max_count: limit(field(1)) });
    let recipe = String::from_utf8_lossy(&bytes[FIXED + NUMBERS..]).into_owned();
    Ok((window, recipe, bytes.len() + sum.len()))
}

#[cfg(test)]
mod tests {
    use super::{header, read_header};
    use simhash_index::Window;
    use std::path::Path;

    #[test]
    fn a_header_is_read_as_it_was_written_and_every_flipped_byte_is_noticed() {
        for window in
            [None, Some(Window::default()), Some(Window { max_age: Some(7), max_count: None })]
        {
            let bytes = header(window, "配方");
            let path = Path::new("file");
            let read = read_header(&mut bytes.as_slice(), path).unwrap();
            assert_eq!(read, (window, "配方".to_owned(), bytes.len()));
            for at in 0..bytes.len() {
                let mut damaged = bytes.clone();
                damaged[at] ^= 0x10;
                assert!(read_header(&mut damaged.as_slice(), path).is_err(), "byte {at}");
                assert!(read_header(&mut &bytes[..at], path).is_err(), "cut at {at}");
            }
        }
    }
}
