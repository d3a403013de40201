//! The tables that the segmenter reads, made at first use in some milliseconds: 9 MB of the package's 3.
//!
//! Slots and their order come from `build.rs`, which took seconds to find a place for every prefix.

use super::dictionary::{Node, OTHER};
use super::packed::{EMPTY, Packed, take, varint};
use std::sync::LazyLock;

/// See the functions of the same names in [`dictionary`](super::dictionary).
pub(super) struct Tables {
    pub(super) nodes: Vec<u64>,
    pub(super) bases: Vec<u32>,
    pub(super) codes: Vec<u16>,
    pub(super) characters: Vec<u16>,
    pub(super) scores: Vec<f64>,
    pub(super) singles: Vec<f64>,
    pub(super) logs: Vec<f64>,
    pub(super) frequencies: Vec<u32>,
    pub(super) idfs: Vec<f64>,
    pub(super) total: u64,
    pub(super) ln_total: f64,
}

/// The tables, made by whoever asks first; others wait.
#[inline]
pub(super) fn tables() -> &'static Tables {
    static TABLES: LazyLock<Tables> =
        LazyLock::new(|| Tables::unpack().expect("bytes of build.rs"));
    &TABLES
}

impl Tables {
    fn unpack() -> Option<Self> {
        let packed = Packed::read(include_bytes!(concat!(env!("OUT_DIR"), "/dictionary.bin")))?;
        let nodes = slots(packed.rest)?;
        // Index 0 is "no word": never an edge, so its score loses against everything.
        let by_frequency = |of: &dyn Fn(f64) -> f64| {
            let known = packed.frequencies.iter().map(|&(_, ln)| of(ln));
            std::iter::once(f64::NEG_INFINITY).chain(known).collect::<Vec<_>>()
        };
        let scores = by_frequency(&|ln| ln - packed.ln_total);
        let logs = by_frequency(&|ln| ln);
        let frequencies = std::iter::once(0).chain(packed.frequencies.iter().map(|&(f, _)| f));
        // Index 0 is "no idf": the median stands in.
        let idfs = std::iter::once(packed.median).chain(packed.idfs.iter().copied());
        let first_level =
            || (0..packed.characters.len() as u16).map(|code| Node::ROOT.step(&nodes, code));
        let bases = first_level().map(|node| node.slot_of_child(0)).collect();
        let mut singles: Vec<f64> = first_level().map(|node| scores[node.frequency()]).collect();
        singles[usize::from(OTHER)] = f64::INFINITY;
        Some(Self {
            bases,
            singles,
            logs,
            frequencies: frequencies.collect(),
            idfs: idfs.collect(),
            scores,
            total: packed.total,
            ln_total: packed.ln_total,
            nodes,
            codes: packed.codes,
            characters: packed.characters,
        })
    }
}

/// The slots of the double array; `build.rs` describes their bytes.
fn slots(mut bytes: &[u8]) -> Option<Vec<u64>> {
    let from = &mut bytes;
    let mut slots = Vec::with_capacity(1 << 20);
    while !from.is_empty() {
        let mut used = u64::from_le_bytes(take(from)?);
        let first = slots.len();
        slots.resize(first + 64, u64::from(EMPTY));
        while used != 0 {
            let slot = first + used.trailing_zeros() as usize;
            used &= used - 1;
            let flagged = u16::from_le_bytes(take(from)?);
            let (mut frequency, mut idf, mut base) = (0, 0, [0; 3]);
            if flagged >> 14 & 1 == 1 {
                (frequency, idf) = (varint(from)?, varint(from)?);
            }
            if flagged >> 15 == 1 {
                base = take(from)?;
            }
            slots[slot] = Node::bits(flagged & EMPTY, frequency, idf, base);
        }
    }
    Some(slots)
}
