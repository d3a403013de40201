//! What files of release 0.1 begin with, and the sections that they are made of.
//!
//! ```text
//! "SIMHASH\n"  2 u32  length u32  header …  XXH3-64 of all this u64  body …
//! header: maxAge u64  maxCount u64 (0: none)  windowed u64  recipe, UTF-8
//! section: name [4]  0 u32  length u64  bytes …  XXH3-64 of name, length and bytes u64
//! ```
//! All numbers are little-endian. The window is written again in the options of the body, and read there.

use std::io::Read;

use simhash_store::fields::number;
use simhash_store::{FileError, Input, Section};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Magic, format and length.
const FIXED: u64 = 16;
/// The three numbers of a header.
const NUMBERS: u64 = 24;
/// Where the recipe begins.
pub(super) const RECIPE: u64 = FIXED + NUMBERS;
/// Longer headers are damage: recipes have some 200 bytes.
const LONGEST: u64 = 1 << 16;
/// Bytes passed over at a time.
const PIECE: u64 = 1 << 20;

/// A file of release 0.1 by its first bytes, which are passed.
pub(super) enum Old {
    Sentences(Vec<u8>),
    Other(Vec<u8>),
}

impl Old {
    /// None: it is another file.
    pub(super) fn begin<R: Read>(input: &mut Input<R>) -> Result<Option<Self>, FileError> {
        if input.left() < FIXED {
            return Ok(None);
        }
        let fixed = input.bytes(FIXED)?;
        let (format, length) = (number(&fixed[8..12]), number(&fixed[12..]));
        Ok(match &fixed[..8] {
            b"SIMHSEN\n" if format == 1 => Some(Self::Sentences(fixed)),
            b"SIMHASH\n" if format == 2 && (NUMBERS..=LONGEST).contains(&length) => {
                Some(Self::Other(fixed))
            }
            _ => None,
        })
    }
}

/// What an index of fingerprints or signatures begins with: what made its items of texts, in words.
pub(super) fn recipe<R: Read>(
    input: &mut Input<R>,
    mut bytes: Vec<u8>,
) -> Result<String, FileError> {
    bytes.extend(input.bytes(number(&bytes[12..]))?);
    if number(&input.bytes(8)?) != xxh3_64(&bytes) {
        return Err(FileError::damaged(0, "the checksum of the header is wrong"));
    }
    let recipe = String::from_utf8(bytes.split_off(RECIPE as usize));
    recipe.map_err(|_| FileError::damaged(RECIPE, "text that is no UTF-8"))
}

/// The body of a file: an image, which says what it is, and its sections.
pub(super) struct Sections<'a, R>(&'a mut Input<R>);

impl<'a, R: Read> Sections<'a, R> {
    /// The sections of an image of this name.
    pub(super) fn begin(input: &'a mut Input<R>, magic: [u8; 8]) -> Result<Self, FileError> {
        let start = input.offset();
        let fixed = input.bytes(16)?;
        if fixed[..8] != magic {
            let reason = format!("{} should begin here", magic.escape_ascii());
            return Err(FileError::damaged(start, reason));
        }
        match number(&fixed[8..]) {
            1 => Ok(Self(input)),
            version => Err(FileError::damaged(start + 8, format!("version {version} of 1"))),
        }
    }

    /// Where the next section begins.
    pub(super) fn offset(&self) -> u64 {
        self.0.offset()
    }

    fn head(&mut self, name: [u8; 4]) -> Result<(u64, Xxh3), FileError> {
        let start = self.0.offset();
        let head = self.0.bytes(16)?;
        if number(&head) != u64::from(u32::from_le_bytes(name)) {
            let reason = format!("section {} should begin here", name.escape_ascii());
            return Err(FileError::damaged(start, reason));
        }
        let (length, room) = (number(&head[8..]), self.0.left().saturating_sub(8));
        if length > room {
            let name = name.escape_ascii();
            let reason = format!("section {name} of {length} bytes, the file has {room} for it");
            return Err(FileError::damaged(start, reason));
        }
        let mut sum = Xxh3::new();
        sum.update(&head);
        Ok((length, sum))
    }

    fn check(&mut self, name: [u8; 4], start: u64, sum: &Xxh3) -> Result<(), FileError> {
        if number(&self.0.bytes(8)?) == sum.digest() {
            return Ok(());
        }
        let reason = format!("the checksum of section {} is wrong", name.escape_ascii());
        Err(FileError::damaged(start, reason))
    }

    /// The next section, which must have this name, checked.
    pub(super) fn section(&mut self, name: [u8; 4]) -> Result<Section, FileError> {
        let start = self.0.offset();
        let (length, mut sum) = self.head(name)?;
        let bytes = self.0.bytes(length)?;
        sum.update(&bytes);
        self.check(name, start, &sum)?;
        Ok(Section::new(bytes, start + 16))
    }

    /// Passes the next section over, which must have this name, checked.
    pub(super) fn skip(&mut self, name: [u8; 4]) -> Result<(), FileError> {
        let start = self.0.offset();
        let (mut left, mut sum) = self.head(name)?;
        while left > 0 {
            let piece = self.0.bytes(left.min(PIECE))?;
            sum.update(&piece);
            left -= piece.len() as u64;
        }
        self.check(name, start, &sum)
    }

    /// The last section, and that nothing follows.
    pub(super) fn end(mut self) -> Result<(), FileError> {
        self.section(*b"END!")?.end()?;
        let at = self.0.offset();
        match self.0.bytes(1) {
            Ok(_) => Err(FileError::damaged(at, "something follows the end")),
            Err(FileError::Damaged { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
