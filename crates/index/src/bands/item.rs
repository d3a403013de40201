//! What a band index is given of a document.

use std::ops::Deref;

use simhash_store::{FileError, Section};

/// A document, as a band index sees it; the default is an empty one, which gets an id and matches nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct BandItem {
    positions: Box<[u32]>,
    /// Where they are known already, or there are no positions.
    keys: Box<[u64]>,
}

impl BandItem {
    /// Keys of a text that has no signature: so many that what tells keys apart in the table tells 128 bits apart.
    pub const EXACT: usize = 3;

    /// A signature and the keys of its bands ([`band_keys`](super::band_keys)) for the plan of the index.
    pub fn with_keys(positions: Box<[u32]>, keys: Box<[u64]>) -> Self {
        Self { positions, keys }
    }

    /// A text with too few features for a signature, by the hash of the normalised text: it matches equal texts only.
    pub fn exact(text: u128) -> Self {
        let (low, high) = (text as u64, (text >> 64) as u64);
        // The highest 43 bits of a key count. Each key is of its own, so that no text has one twice.
        let keys = [low, low << 43 | high >> 21, high << 22];
        let salts = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f, 0x1656_67b1_9e37_79f9];
        let keys = keys.iter().zip(salts).map(|(key, salt)| key ^ salt).collect();
        Self { positions: Box::default(), keys }
    }

    /// Whether it is a text without a signature.
    pub fn is_exact(&self) -> bool {
        self.positions.is_empty() && !self.keys.is_empty()
    }

    /// As it is written down: keys u32, each u64, then positions u32, each u32. Positions only where they are `kept`: the keys of
    /// the bands are made of them again; else the keys.
    pub(super) fn write(&self, keys: &[u64], kept: bool, out: &mut Vec<u8>) {
        let positions = if kept { &*self.positions } else { &[] };
        let keys = if positions.is_empty() { keys } else { &[] };
        out.extend((keys.len() as u32).to_le_bytes());
        out.extend(keys.iter().flat_map(|key| key.to_le_bytes()));
        out.extend((positions.len() as u32).to_le_bytes());
        out.extend(positions.iter().flat_map(|position| position.to_le_bytes()));
    }

    pub(super) fn read(input: &mut Section) -> Result<Self, FileError> {
        let keys = u64::from(input.half()?);
        let keys = input.bytes(keys * 8)?.as_chunks().0.iter().copied().map(u64::from_le_bytes);
        let keys: Box<[u64]> = keys.collect();
        let positions = u64::from(input.half()?);
        let positions = input.bytes(positions * 4)?.as_chunks().0;
        let positions = positions.iter().copied().map(u32::from_le_bytes).collect();
        Ok(Self { positions, keys })
    }

    pub(super) fn keys(&self) -> &[u64] {
        &self.keys
    }
}

impl From<Vec<u32>> for BandItem {
    fn from(positions: Vec<u32>) -> Self {
        Self { positions: positions.into(), keys: Box::default() }
    }
}

/// The positions of the signature.
impl Deref for BandItem {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.positions
    }
}

impl AsRef<Self> for BandItem {
    fn as_ref(&self) -> &Self {
        self
    }
}
