//! Files that are read where they lie: a published file is mapped, and each block of it is checked when it is first touched.
//!
//! ```text
//! frame NAME   zeros up to the next multiple of 64 bytes of the file, then the words
//! frame SUMS   place of NAME u64  its length u64  XXH3-64 u64 of each 64 KiB of the words, its seed the place of the block
//! ```
//! A reader that takes the whole file in order ([`Input::words_of`]) checks the frame and needs no blocks. One that maps it
//! ([`Input::blocks`]) reads the sums, which are a frame and are checked at once, and gets words from no block that has not
//! passed. What is found damaged is kept ([`Mapped::check`]): whoever answers from such words asks before he does.
//!
//! A file must not be changed or cut while it is mapped. Files that this library publishes are only replaced and unlinked,
//! which leaves the mapping what it was; a file that others may cut is to be read and not mapped.

mod region;

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use xxhash_rust::xxh3::Xxh3;

use self::region::Region;
use crate::frame::{Name, Stream};
use crate::{FileError, Input, Output};

/// Words of a block: 64 KiB. A first touch costs some 6 µs of hashing, and the sums of a gigabyte 128 KiB.
const BLOCK: usize = 8192;

/// Words begin at a multiple of so many bytes: a cache line.
const ALIGNED: u64 = 64;

const SUMS: Name = *b"SUMS";

/// Zeros between the head of a frame that begins here and its words.
fn padding(frame: u64) -> u64 {
    let body = frame + 16;
    body.next_multiple_of(ALIGNED) - body
}

/// Checksums of blocks while their words go by.
pub(crate) struct Sums {
    /// Where the next byte lies in the file.
    at: u64,
    sum: Xxh3,
    /// Bytes of the block so far.
    taken: usize,
    done: Vec<u64>,
}

impl Sums {
    /// Of words that begin at this place.
    pub(crate) fn new(at: u64) -> Self {
        Self { at, sum: Xxh3::with_seed(at), taken: 0, done: Vec::new() }
    }

    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK * 8 - self.taken));
            self.sum.update(now);
            self.taken += now.len();
            self.at += now.len() as u64;
            bytes = later;
            if self.taken == BLOCK * 8 {
                self.close();
            }
        }
    }

    fn close(&mut self) {
        self.done.push(self.sum.digest());
        self.sum = Xxh3::with_seed(self.at);
        self.taken = 0;
    }

    fn finish(mut self) -> Vec<u64> {
        if self.taken > 0 {
            self.close();
        }
        self.done
    }
}

impl Output<'_> {
    /// Writes a frame of words that can be mapped, and the sums of its blocks behind it.
    ///
    /// # Errors
    /// [`FileError::Write`].
    pub fn blocks<'b>(
        &mut self,
        name: Name,
        parts: impl Iterator<Item = &'b [u64]> + Clone,
    ) -> Result<(), FileError> {
        let frame = self.at();
        let zeros = vec![0; padding(frame) as usize];
        let mut sums = Sums::new(frame + 16 + zeros.len() as u64);
        self.summed(name, &zeros, parts, |bytes| sums.update(bytes))?;
        let length = self.at() - frame;
        let sums = [&[frame, length][..], &sums.finish()].concat();
        self.words(SUMS, &[], std::iter::once(&sums[..]))
    }
}

impl<R: Read> Input<R> {
    /// Reads a frame that [`Output::blocks`] wrote, in order: `read` is told how many words there are, and must read them
    /// all. The place of the frame, checked, and what `read` says.
    ///
    /// # Errors
    /// As [`Input::stream`].
    pub fn words_of<T>(
        &mut self,
        name: Name,
        read: impl FnOnce(&mut Stream<'_, R>, u64) -> Result<T, FileError>,
    ) -> Result<(u64, T), FileError> {
        let mut stream = self.stream(name)?;
        let count = stream.skip(padding(stream.start()))?;
        let done = read(&mut stream, count)?;
        let start = stream.end()?;
        self.sums(start)?;
        Ok((start, done))
    }

    /// The sums of the frame that began at `start` and has just been passed.
    fn sums(&mut self, start: u64) -> Result<Vec<u64>, FileError> {
        let end = self.offset();
        let mut section = self.frame(SUMS)?;
        let (frame, length) = (section.number()?, section.number()?);
        if (frame, length) != (start, end - start) {
            let reason = format!("sums of {length} bytes at {frame}, not of what is before");
            return Err(section.damaged(reason));
        }
        let mut sums = Vec::new();
        while !section.is_empty() {
            sums.push(section.number()?);
        }
        Ok(sums)
    }
}

impl<R: Read + Seek> Input<R> {
    /// The words of the next frame, which [`Output::blocks`] wrote, in the file that is mapped. They are not read now.
    ///
    /// # Errors
    /// [`FileError::Read`]; [`FileError::Damaged`] where the head of the frame or the sums are.
    pub fn blocks(&mut self, name: Name, map: &Arc<Mapped>) -> Result<Blocks, FileError> {
        let (start, count) = {
            let mut stream = self.stream(name)?;
            (stream.start(), stream.skip(padding(stream.start()))?)
        };
        let at = start + 16 + padding(start);
        let end = at + count * 8 + 8;
        self.go_to(end)?;
        let sums = self.sums(start)?;
        if sums.len() as u64 != count.div_ceil(BLOCK as u64) {
            return Err(FileError::damaged(end, format!("{} sums of {count} words", sums.len())));
        }
        if !map.region.has(at, count) {
            return Err(FileError::damaged(start, "the file has become shorter"));
        }
        let seen = (0..sums.len().div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let map = Arc::clone(map);
        Ok(Blocks { map, at, count: count as usize, sums, seen, whole: AtomicBool::new(false) })
    }
}

/// A file that is mapped, or where that cannot be done read as a whole.
#[derive(Debug)]
pub struct Mapped {
    path: PathBuf,
    region: Region,
    /// The first damage that was found.
    damage: OnceLock<FileError>,
}

impl Mapped {
    /// Maps a file as long as it is now, and begins to read it.
    ///
    /// # Errors
    /// [`FileError::Read`], also where it is no regular file.
    pub fn open(path: &Path) -> Result<(Arc<Self>, Input<BufReader<File>>), FileError> {
        let file = File::open(path).map_err(FileError::unreadable)?;
        let known = file.metadata().map_err(FileError::unreadable)?;
        if !known.is_file() {
            let reason = std::io::Error::other("only a regular file can be mapped");
            return Err(FileError::unreadable(reason));
        }
        let region = Region::of(&file, known.len()).map_err(FileError::unreadable)?;
        let map = Self { path: path.to_owned(), region, damage: OnceLock::new() };
        Ok((Arc::new(map), Input::new(BufReader::new(file), Some(known.len()))))
    }

    /// Whether all that has been touched so far is sound. To be asked after words were used and before an answer is given.
    ///
    /// # Errors
    /// The first damage, with file and offset.
    #[inline]
    pub fn check(&self) -> Result<(), FileError> {
        self.damage.get().map_or(Ok(()), |damage| Err(damage.clone()))
    }

    /// Bytes of the file.
    pub fn len(&self) -> u64 {
        self.region.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn report(&self, at: u64, reason: impl Into<String>) {
        // One damage is as good as another.
        let _ = self.damage.set(FileError::damaged(at, reason).in_file(&self.path));
    }
}

/// Words in a file that is mapped, in blocks that are checked at first touch.
#[derive(Debug)]
pub struct Blocks {
    map: Arc<Mapped>,
    /// Place of the first word.
    at: u64,
    count: usize,
    sums: Vec<u64>,
    /// A bit for each block that has passed.
    seen: Vec<AtomicU64>,
    whole: AtomicBool,
}

impl Blocks {
    /// How many words.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The file.
    pub fn map(&self) -> &Arc<Mapped> {
        &self.map
    }

    /// Some words, of blocks that have passed. None where one has not, or where there are no such words: then the damage is
    /// kept, and [`Mapped::check`] is an error from now on.
    #[inline]
    pub fn get(&self, words: Range<usize>) -> Option<&[u64]> {
        if words.start > words.end || words.end > self.count {
            self.contradicts(words.start);
            return None;
        }
        if words.start < words.end {
            let blocks = words.start / BLOCK..=(words.end - 1) / BLOCK;
            for block in blocks {
                if !self.has_passed(block) && !self.check_block(block) {
                    return None;
                }
            }
        }
        Some(&self.words()[words])
    }

    /// All words, every block checked.
    ///
    /// # Errors
    /// The damage.
    pub fn all(&self) -> Result<&[u64], FileError> {
        if !self.whole.load(Ordering::Relaxed) {
            for block in 0..self.sums.len() {
                if !self.has_passed(block) && !self.check_block(block) {
                    self.map.check()?;
                }
            }
            self.whole.store(true, Ordering::Relaxed);
        }
        Ok(self.words())
    }

    /// The words as they lie there, unchecked: for asking the memory for them, and nothing else.
    #[inline]
    pub fn unchecked(&self) -> &[u64] {
        self.words()
    }

    /// What is sound in itself makes no sense at this word.
    #[cold]
    pub fn contradicts(&self, word: usize) {
        let at = self.at + word.min(self.count) as u64 * 8;
        self.map.report(at, "what is here contradicts the rest of the file");
    }

    /// Bytes of memory beside the file.
    pub fn bytes(&self) -> usize {
        (self.sums.len() + self.seen.len()) * 8
    }

    #[inline]
    fn words(&self) -> &[u64] {
        self.map.region.words(self.at, self.count)
    }

    #[inline]
    fn has_passed(&self, block: usize) -> bool {
        self.seen[block / 64].load(Ordering::Relaxed) >> (block % 64) & 1 == 1
    }

    /// Two threads may check one block at once; they find the same.
    #[cold]
    fn check_block(&self, block: usize) -> bool {
        let from = block * BLOCK;
        let at = self.at + from as u64 * 8;
        let count = BLOCK.min(self.count - from);
        let passed = self.map.region.sum(at, count, at) == self.sums[block];
        if passed {
            self.seen[block / 64].fetch_or(1 << (block % 64), Ordering::Relaxed);
        } else {
            self.map.report(at, "the checksum of the block that begins here is wrong");
        }
        passed
    }
}

#[cfg(test)]
mod tests;
