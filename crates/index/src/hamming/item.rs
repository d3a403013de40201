//! What goes into the index and what comes out.

use simhash_store::{FileError, Section};

/// One document, as the index sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Item {
    /// A 64-bit fingerprint; any value, 0 and all ones included.
    Fingerprint(u64),
    /// The hash of a normalised text too short for a fingerprint: it matches equal texts only, at distance 0.
    Exact(u128),
    /// An empty text: it gets an id and matches nothing.
    Empty,
}

impl Item {
    /// As it is written down: 0: empty | 1: fingerprint u64 | 2: text u128.
    pub(super) fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::Empty => out.push(0),
            Self::Fingerprint(value) => {
                out.push(1);
                out.extend(value.to_le_bytes());
            }
            Self::Exact(text) => {
                out.push(2);
                out.extend(text.to_le_bytes());
            }
        }
    }

    pub(super) fn read(input: &mut Section) -> Result<Self, FileError> {
        match input.byte()? {
            0 => Ok(Self::Empty),
            1 => Ok(Self::Fingerprint(input.number()?)),
            2 => Ok(Self::Exact(input.wide()?)),
            kind => Err(input.damaged(format!("an item of kind {kind}"))),
        }
    }
}

impl AsRef<Self> for Item {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// A live document within the distance asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Match {
    /// Its id.
    pub id: u64,
    /// Bits that differ, 0 to 16.
    pub distance: u32,
}

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SearchOptions {
    /// Largest distance, inclusive, 0 to 16; default: the index's own.
    pub max_distance: Option<u32>,
    /// At most so many matches, the nearest first; default: all.
    pub limit: Option<usize>,
}

impl SearchOptions {
    /// Distance and limit, once nothing is left out.
    pub(super) fn resolved(self) -> (u32, usize) {
        (self.max_distance.unwrap_or(0), self.limit.unwrap_or(usize::MAX))
    }
}
