//! Sections with a checksum, and the numbers in them.

use std::io::{self, ErrorKind, Read, Write};

use xxhash_rust::xxh3::Xxh3;

use crate::IndexError;
use crate::memory::Words;

/// Bytes read or converted at a time: a length that lies cannot make the reader allocate more than is there.
const PIECE: usize = 1 << 20;

fn io(error: &io::Error) -> IndexError {
    IndexError::Io { message: error.to_string() }
}

/// Numbers on their way out.
#[derive(Debug, Default)]
pub(crate) struct Fields(pub(crate) Vec<u8>);

impl Fields {
    pub(crate) fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// A count, then the numbers.
    pub(crate) fn numbers(&mut self, numbers: impl ExactSizeIterator<Item = u64>) {
        self.number(numbers.len() as u64);
        numbers.for_each(|number| self.number(number));
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }
}

/// Sections on their way out.
pub(crate) struct Output<'a>(&'a mut dyn Write);

impl<'a> Output<'a> {
    pub(crate) fn new(
        out: &'a mut dyn Write,
        magic: [u8; 8],
        version: u32,
    ) -> Result<Self, IndexError> {
        let mut new = Self(out);
        new.put(&magic)?;
        new.put(&u64::from(version).to_le_bytes())?;
        Ok(new)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), IndexError> {
        self.0.write_all(bytes).map_err(|error| io(&error))
    }

    fn begin(&mut self, name: [u8; 4], length: usize) -> Result<Xxh3, IndexError> {
        let mut sum = Xxh3::new();
        let head = u64::from(u32::from_le_bytes(name)).to_le_bytes();
        for bytes in [head, (length as u64).to_le_bytes()] {
            sum.update(&bytes);
            self.put(&bytes)?;
        }
        Ok(sum)
    }

    pub(crate) fn section<'b>(
        &mut self,
        name: [u8; 4],
        parts: impl IntoIterator<Item = &'b [u8]>,
    ) -> Result<(), IndexError> {
        let parts: Vec<&[u8]> = parts.into_iter().collect();
        let mut sum = self.begin(name, parts.iter().map(|part| part.len()).sum())?;
        for part in parts {
            sum.update(part);
            self.put(part)?;
        }
        self.put(&sum.digest().to_le_bytes())
    }

    /// A section of some bytes, then words.
    pub(crate) fn words<'b>(
        &mut self,
        name: [u8; 4],
        head: &[u8],
        parts: impl Iterator<Item = &'b [u64]> + Clone,
    ) -> Result<(), IndexError> {
        let count: usize = parts.clone().map(<[u64]>::len).sum();
        let mut sum = self.begin(name, head.len() + count * 8)?;
        sum.update(head);
        self.put(head)?;
        let mut piece = Vec::with_capacity(PIECE);
        for words in parts.flat_map(|words| words.chunks(PIECE / 8)) {
            piece.clear();
            piece.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            sum.update(&piece);
            self.put(&piece)?;
        }
        self.put(&sum.digest().to_le_bytes())
    }
}

/// Sections on their way in.
pub(crate) struct Input<'a> {
    input: &'a mut dyn Read,
    at: u64,
}

impl<'a> Input<'a> {
    pub(crate) fn new(
        input: &'a mut dyn Read,
        magic: [u8; 8],
        version: u32,
    ) -> Result<Self, IndexError> {
        let mut new = Self { input, at: 0 };
        if new.take(8)? != magic {
            return Err(damaged(0, "this is not a saved index".to_owned()));
        }
        let found = new.number()?;
        if found != u64::from(version) {
            return Err(damaged(8, format!("version {found}; this program reads {version}")));
        }
        Ok(new)
    }

    fn take(&mut self, length: u64) -> Result<Vec<u8>, IndexError> {
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < length {
            let from = bytes.len();
            let more = (length - from as u64).min(PIECE as u64) as usize;
            bytes.resize(from + more, 0);
            self.input.read_exact(&mut bytes[from..]).map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => {
                    damaged(self.at, format!("the file ends within the {length} bytes from here"))
                }
                _ => io(&error),
            })?;
        }
        self.at += length;
        Ok(bytes)
    }

    fn number(&mut self) -> Result<u64, IndexError> {
        let bytes = self.take(8)?;
        Ok(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// The next section, which must have this name, checked.
    pub(crate) fn section(&mut self, name: [u8; 4]) -> Result<Section, IndexError> {
        let start = self.at;
        let shown = String::from_utf8_lossy(&name).into_owned();
        let found = self.number()?;
        if found != u64::from(u32::from_le_bytes(name)) {
            return Err(damaged(start, format!("section {shown} should begin here")));
        }
        let length = self.number()?;
        let bytes = self.take(length)?;
        let mut sum = Xxh3::new();
        sum.update(&found.to_le_bytes());
        sum.update(&length.to_le_bytes());
        sum.update(&bytes);
        if self.number()? != sum.digest() {
            return Err(damaged(start, format!("the checksum of section {shown} is wrong")));
        }
        Ok(Section::new(bytes, start + 16))
    }

    /// The next section, which must have this name, to be read piece by piece; checked when it ends.
    pub(crate) fn stream(&mut self, name: [u8; 4]) -> Result<Stream<'a, '_>, IndexError> {
        let start = self.at;
        let found = self.number()?;
        if found != u64::from(u32::from_le_bytes(name)) {
            let shown = String::from_utf8_lossy(&name).into_owned();
            return Err(damaged(start, format!("section {shown} should begin here")));
        }
        let left = self.number()?;
        let mut sum = Xxh3::new();
        sum.update(&found.to_le_bytes());
        sum.update(&left.to_le_bytes());
        Ok(Stream { input: self, start, left, sum })
    }

    /// Nothing may follow.
    pub(crate) fn end(&mut self) -> Result<(), IndexError> {
        let mut byte = [0];
        match self.input.read(&mut byte).map_err(|error| io(&error))? {
            0 => Ok(()),
            _ => Err(damaged(self.at, "something follows the end".to_owned())),
        }
    }
}

fn damaged(offset: u64, reason: String) -> IndexError {
    IndexError::Damaged { offset, reason }
}

/// A section that is read before its checksum: what it says must be checked for sense, and counts only after the end.
pub(crate) struct Stream<'a, 'b> {
    input: &'b mut Input<'a>,
    start: u64,
    left: u64,
    sum: Xxh3,
}

impl Stream<'_, '_> {
    fn take(&mut self, count: u64) -> Result<Vec<u8>, IndexError> {
        if count > self.left {
            return Err(self.damaged(format!("{count} bytes are wanted, {} are left", self.left)));
        }
        let bytes = self.input.take(count)?;
        self.left -= count;
        self.sum.update(&bytes);
        Ok(bytes)
    }

    /// An error at the section's beginning: what makes no sense here may follow from damage anywhere before.
    pub(crate) fn damaged(&self, reason: String) -> IndexError {
        damaged(self.start, reason)
    }

    pub(crate) fn number(&mut self) -> Result<u64, IndexError> {
        let bytes = self.take(8)?;
        Ok(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// So many words.
    pub(crate) fn words(&mut self, count: u64) -> Result<Words, IndexError> {
        if count > self.left / 8 {
            return Err(
                self.damaged(format!("{count} words are wanted, {} are left", self.left / 8))
            );
        }
        let Some(mut words) = Words::try_zeroed(count as usize) else {
            return Err(self.damaged(format!("no memory for {count} words")));
        };
        for part in words.chunks_mut(PIECE / 8) {
            let bytes = self.take(part.len() as u64 * 8)?;
            for (word, bytes) in part.iter_mut().zip(bytes.chunks_exact(8)) {
                *word = bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
            }
        }
        Ok(words)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Nothing may be left, and the checksum must be right; where the section began.
    pub(crate) fn end(self) -> Result<u64, IndexError> {
        if self.left > 0 {
            return Err(self.damaged(format!("{} bytes too many", self.left)));
        }
        if self.input.number()? != self.sum.digest() {
            return Err(damaged(self.start, "the checksum of a section is wrong".to_owned()));
        }
        Ok(self.start)
    }
}

/// A section that has passed its checksum, being read.
pub(crate) struct Section {
    bytes: Vec<u8>,
    start: u64,
    at: usize,
}

impl Section {
    /// Checked bytes that begin at `start` of their file.
    pub(crate) fn new(bytes: Vec<u8>, start: u64) -> Self {
        Self { bytes, start, at: 0 }
    }

    /// Where in the file the next byte is.
    pub(crate) fn offset(&self) -> u64 {
        self.start + self.at as u64
    }

    pub(crate) fn damaged(&self, reason: String) -> IndexError {
        damaged(self.offset(), reason)
    }

    pub(crate) fn bytes(&mut self, count: u64) -> Result<&[u8], IndexError> {
        let left = (self.bytes.len() - self.at) as u64;
        if count > left {
            return Err(self.damaged(format!("{count} bytes are wanted, {left} are left")));
        }
        let from = self.at;
        self.at += count as usize;
        Ok(&self.bytes[from..self.at])
    }

    pub(crate) fn number(&mut self) -> Result<u64, IndexError> {
        let bytes = self.bytes(8)?;
        Ok(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    pub(crate) fn numbers(&mut self) -> Result<Vec<u64>, IndexError> {
        let count = self.number()?;
        if count > (self.bytes.len() - self.at) as u64 / 8 {
            return Err(self.damaged(format!("a list of {count} numbers")));
        }
        (0..count).map(|_| self.number()).collect()
    }

    /// All that is left, as text.
    pub(crate) fn rest(&mut self) -> Result<String, IndexError> {
        let left = (self.bytes.len() - self.at) as u64;
        let bytes = self.bytes(left)?.to_vec();
        String::from_utf8(bytes).map_err(|_| self.damaged("text that is no UTF-8".to_owned()))
    }

    /// A single byte.
    pub(crate) fn byte(&mut self) -> Result<u8, IndexError> {
        Ok(self.bytes(1)?[0])
    }

    /// A number of four bytes.
    pub(crate) fn half(&mut self) -> Result<u32, IndexError> {
        let bytes = self.bytes(4)?;
        Ok(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte)))
    }

    /// A number below 256.
    pub(crate) fn small(&mut self) -> Result<u32, IndexError> {
        let number = self.number()?;
        u8::try_from(number).map(u32::from).map_err(|_| self.damaged(format!("number {number}")))
    }

    pub(crate) fn smalls(&mut self) -> Result<Vec<u32>, IndexError> {
        let numbers = self.numbers()?;
        let small = |number: u64| u8::try_from(number).map(u32::from);
        let numbers: Result<Vec<u32>, _> = numbers.into_iter().map(small).collect();
        numbers.map_err(|_| self.damaged("a list of too large numbers".to_owned()))
    }

    pub(crate) fn text(&mut self) -> Result<String, IndexError> {
        let length = self.number()?;
        let bytes = self.bytes(length)?.to_vec();
        String::from_utf8(bytes).map_err(|_| self.damaged("a name that is no UTF-8".to_owned()))
    }

    /// A count of words, then the words.
    pub(crate) fn words(&mut self) -> Result<Words, IndexError> {
        let count = self.number()?;
        let bytes = self.bytes(count.saturating_mul(8))?;
        let mut words = Words::zeroed(count as usize);
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
        }
        Ok(words)
    }

    /// All bytes that are left.
    pub(crate) fn left(&mut self) -> &[u8] {
        let from = std::mem::replace(&mut self.at, self.bytes.len());
        &self.bytes[from..]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// Nothing may be left.
    pub(crate) fn end(&self) -> Result<(), IndexError> {
        match self.bytes.len() - self.at {
            0 => Ok(()),
            left => Err(self.damaged(format!("{left} bytes too many"))),
        }
    }
}
