//! Frames: bytes with a name, their length, and a checksum of all this and of their place.
//!
//! ```text
//! name [4]  0 u32  length u64  body …  XXH3-64 of all this u64, its seed the place of the frame
//! ```
//! All numbers are little-endian. A frame that is whole in itself does not count elsewhere in the file.

use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};

use xxhash_rust::xxh3::Xxh3;

use crate::fields::number;
use crate::{FileError, Section};

/// Four letters.
pub type Name = [u8; 4];

/// Bytes around a body.
pub const AROUND: u64 = 24;

/// The last frame of a file that is written whole.
const END: Name = *b"END!";

/// Bytes read or converted at a time: a length that lies cannot make the reader allocate more than is there.
const PIECE: usize = 1 << 20;

/// What a frame is called and where it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    /// Its name.
    pub name: Name,
    /// The place of its first byte in the file.
    pub at: u64,
}

impl Frame {
    /// What comes before a body of this length, and the checksum so far.
    fn head(self, length: u64) -> ([u8; 16], Xxh3) {
        let mut head = [0; 16];
        head[..4].copy_from_slice(&self.name);
        head[8..].copy_from_slice(&length.to_le_bytes());
        let mut sum = Xxh3::with_seed(self.at);
        sum.update(&head);
        (head, sum)
    }

    /// The whole frame.
    pub fn bytes(self, body: &[u8]) -> Vec<u8> {
        let (head, mut sum) = self.head(body.len() as u64);
        sum.update(body);
        [&head[..], body, &sum.digest().to_le_bytes()].concat()
    }
}

/// Frames on their way out.
pub struct Output<'a> {
    out: &'a mut dyn Write,
    at: u64,
}

impl<'a> Output<'a> {
    /// Frames of a file of which `at` bytes have been written.
    pub fn new(out: &'a mut dyn Write, at: u64) -> Self {
        Self { out, at }
    }

    /// Where the next byte will be.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.out.write_all(bytes).map_err(FileError::unwritable)?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// Writes a frame.
    ///
    /// # Errors
    /// [`FileError::Write`].
    pub fn frame(&mut self, name: Name, body: &[u8]) -> Result<(), FileError> {
        self.words(name, body, std::iter::empty())
    }

    /// Writes a frame of some bytes, then words.
    ///
    /// # Errors
    /// [`FileError::Write`].
    pub fn words<'b>(
        &mut self,
        name: Name,
        first: &[u8],
        parts: impl Iterator<Item = &'b [u64]> + Clone,
    ) -> Result<(), FileError> {
        self.summed(name, first, parts, |_| ())
    }

    /// [`Output::words`]; `see` is shown the bytes of the words.
    pub(crate) fn summed<'b>(
        &mut self,
        name: Name,
        first: &[u8],
        parts: impl Iterator<Item = &'b [u64]> + Clone,
        mut see: impl FnMut(&[u8]),
    ) -> Result<(), FileError> {
        let count: usize = parts.clone().map(<[u64]>::len).sum();
        let (head, mut sum) =
            Frame { name, at: self.at }.head(first.len() as u64 + count as u64 * 8);
        self.put(&head)?;
        sum.update(first);
        self.put(first)?;
        let mut room = vec![0; PIECE.min(count * 8)];
        for words in parts.flat_map(|words| words.chunks(PIECE / 8)) {
            let piece = &mut room[..words.len() * 8];
            for (bytes, word) in piece.as_chunks_mut().0.iter_mut().zip(words) {
                *bytes = word.to_le_bytes();
            }
            sum.update(piece);
            see(piece);
            self.put(piece)?;
        }
        self.put(&sum.digest().to_le_bytes())
    }

    /// Says that the file is whole.
    ///
    /// # Errors
    /// [`FileError::Write`].
    pub fn end(mut self) -> Result<(), FileError> {
        self.frame(END, &[])
    }
}

/// Frames on their way in.
#[derive(Debug)]
pub struct Input<R> {
    source: R,
    at: u64,
    length: Option<u64>,
}

impl<R: Read> Input<R> {
    /// A file from its beginning on; its length where that is known.
    pub fn new(source: R, length: Option<u64>) -> Self {
        Self { source, at: 0, length }
    }

    /// What is read.
    pub(crate) fn source(&self) -> &R {
        &self.source
    }

    pub(crate) fn into_source(self) -> R {
        self.source
    }

    /// The file has become longer.
    pub(crate) fn set_length(&mut self, length: u64) {
        self.length = Some(length);
    }

    /// Where the next byte is.
    pub fn offset(&self) -> u64 {
        self.at
    }

    /// Bytes that the file has left, as far as that is known.
    pub fn left(&self) -> u64 {
        self.length.map_or(u64::MAX, |length| length.saturating_sub(self.at))
    }

    /// So many bytes, outside of any frame.
    ///
    /// # Errors
    /// [`FileError::Read`]; [`FileError::Damaged`] where there are fewer.
    pub fn bytes(&mut self, count: u64) -> Result<Vec<u8>, FileError> {
        self.take(count, self.at)
    }

    /// So many bytes; `named` is the place of what they belong to.
    fn take(&mut self, count: u64, named: u64) -> Result<Vec<u8>, FileError> {
        let left = self.left();
        if count > left {
            let reason = format!("{count} bytes are wanted here, the file has {left}");
            return Err(FileError::damaged(named, reason));
        }
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < count {
            let from = bytes.len();
            let more = (count - from as u64).min(PIECE as u64) as usize;
            bytes.resize(from + more, 0);
            self.fill(&mut bytes[from..], named)?;
        }
        self.at += count;
        Ok(bytes)
    }

    /// The next bytes, at most so many.
    pub(crate) fn some(&mut self, most: u64) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::new();
        let read = self.source.by_ref().take(most).read_to_end(&mut bytes);
        self.at += read.map_err(FileError::unreadable)? as u64;
        Ok(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8], named: u64) -> Result<(), FileError> {
        self.source.read_exact(bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => {
                FileError::damaged(named, "the file ends within what begins here")
            }
            _ => FileError::unreadable(error),
        })
    }

    fn number(&mut self, named: u64) -> Result<u64, FileError> {
        Ok(number(&self.take(8, named)?))
    }

    /// The next frame, which must have this name, checked.
    ///
    /// # Errors
    /// [`FileError::Read`], and [`FileError::Damaged`] with the place where the frame begins.
    pub fn frame(&mut self, name: Name) -> Result<Section, FileError> {
        let mut stream = self.stream(name)?;
        let (start, length) = (stream.frame.at, stream.left);
        let bytes = stream.bytes(length)?;
        stream.end()?;
        Ok(Section::new(bytes, start + 16))
    }

    /// The next frame, which must have this name, to be read piece by piece; checked when it ends.
    ///
    /// # Errors
    /// As [`Input::frame`].
    pub fn stream(&mut self, name: Name) -> Result<Stream<'_, R>, FileError> {
        let frame = Frame { name, at: self.at };
        if self.number(frame.at)? != u64::from(u32::from_le_bytes(name)) {
            let reason = format!("frame {} should begin here", name.escape_ascii());
            return Err(FileError::damaged(frame.at, reason));
        }
        let left = self.number(frame.at)?;
        let room = self.left().saturating_sub(8);
        if left > room {
            let name = name.escape_ascii();
            let reason = format!("frame {name} of {left} bytes, the file has {room} for it");
            return Err(FileError::damaged(frame.at, reason));
        }
        let (_, sum) = frame.head(left);
        Ok(Stream { input: self, frame, left, sum })
    }

    /// That the file was written to its end, and that nothing follows.
    ///
    /// # Errors
    /// As [`Input::frame`].
    pub fn end(mut self) -> Result<(), FileError> {
        self.frame(END)?.end()?;
        let mut byte = [0];
        let read = loop {
            match self.source.read(&mut byte) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        match read.map_err(FileError::unreadable)? {
            0 => Ok(()),
            _ => Err(FileError::damaged(self.at, "something follows the end")),
        }
    }
}

impl<R: Read + Seek> Input<R> {
    /// Goes on at another place of the file.
    ///
    /// # Errors
    /// [`FileError::Read`].
    pub fn go_to(&mut self, at: u64) -> Result<(), FileError> {
        let sought: io::Result<u64> = self.source.seek(SeekFrom::Start(at));
        self.at = sought.map_err(FileError::unreadable)?;
        Ok(())
    }
}

/// A frame that is read before its checksum: what it says must be checked for sense, and counts only after the end.
pub struct Stream<'a, R> {
    input: &'a mut Input<R>,
    frame: Frame,
    left: u64,
    sum: Xxh3,
}

impl<R: Read> Stream<'_, R> {
    /// An error at the frame's beginning: what makes no sense here may follow from damage anywhere before.
    pub fn damaged(&self, reason: impl Into<String>) -> FileError {
        FileError::damaged(self.frame.at, reason)
    }

    /// Where the frame begins.
    pub(crate) fn start(&self) -> u64 {
        self.frame.at
    }

    /// Passes so many bytes over, behind which only words may lie; how many words.
    pub(crate) fn skip(&mut self, count: u64) -> Result<u64, FileError> {
        self.bytes(count)?;
        if !self.left.is_multiple_of(8) {
            return Err(self.damaged(format!("{} bytes are no words", self.left)));
        }
        Ok(self.left / 8)
    }

    fn take(&mut self, count: u64) -> Result<(), FileError> {
        let more = self.left.checked_sub(count);
        let few = || self.damaged(format!("{count} bytes are wanted, {} are left", self.left));
        self.left = more.ok_or_else(few)?;
        Ok(())
    }

    fn bytes(&mut self, count: u64) -> Result<Vec<u8>, FileError> {
        self.take(count)?;
        let bytes = self.input.take(count, self.frame.at)?;
        self.sum.update(&bytes);
        Ok(bytes)
    }

    /// A number.
    ///
    /// # Errors
    /// [`FileError::Read`], and [`FileError::Damaged`] where the frame or the file has fewer bytes; so do all that read
    /// from here.
    pub fn number(&mut self) -> Result<u64, FileError> {
        Ok(number(&self.bytes(8)?))
    }

    /// That so many words are left, by the length of the frame: room for them may be made.
    ///
    /// # Errors
    /// As [`Stream::number`].
    pub fn has_words(&self, count: u64) -> Result<(), FileError> {
        let left = self.left / 8;
        let few = || self.damaged(format!("{count} words are wanted, {left} are left"));
        if count > left { Err(few()) } else { Ok(()) }
    }

    /// Words, as many as there is room for.
    ///
    /// # Errors
    /// As [`Stream::number`].
    pub fn words(&mut self, words: &mut [u64]) -> Result<(), FileError> {
        self.take(words.len() as u64 * 8)?;
        let mut piece = vec![0; PIECE.min(words.len() * 8)];
        for part in words.chunks_mut(PIECE / 8) {
            let bytes = &mut piece[..part.len() * 8];
            self.input.fill(bytes, self.frame.at)?;
            self.input.at += bytes.len() as u64;
            self.sum.update(bytes);
            for (word, &bytes) in part.iter_mut().zip(bytes.as_chunks().0) {
                *word = u64::from_le_bytes(bytes);
            }
        }
        Ok(())
    }

    /// Whether everything has been read.
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// That nothing is left, and the checksum right; where the frame began.
    ///
    /// # Errors
    /// [`FileError::Read`], [`FileError::Damaged`].
    pub fn end(self) -> Result<u64, FileError> {
        if self.left > 0 {
            return Err(self.damaged(format!("{} bytes too many", self.left)));
        }
        if self.input.number(self.frame.at)? != self.sum.digest() {
            let name = self.frame.name.escape_ascii();
            return Err(self.damaged(format!("the checksum of frame {name} is wrong")));
        }
        Ok(self.frame.at)
    }
}

#[cfg(test)]
mod tests;
