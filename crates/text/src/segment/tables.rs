//! The tables that the segmenter reads, made at first use from `data/jieba/words.bin`, in some milliseconds and 9 MB.
//!
//! The package holds the words once, packed: a third of the tables' size. Where the children of each prefix lie in the double
//! array took `build.rs` seconds to find, so that is stored: `bases.u24`.

use super::dictionary::{Node, OTHER};
use super::packed::{EMPTY, Packed};
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
        LazyLock::new(|| Tables::unpack().expect("build.rs has read the same bytes"));
    &TABLES
}

impl Tables {
    fn unpack() -> Option<Self> {
        let packed = Packed::read(include_bytes!("../../data/jieba/words.bin"))?;
        let nodes = place(&packed)?;
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

/// The double array. `bases.u24` has the base of every prefix that has children, in their order.
fn place(packed: &Packed) -> Option<Vec<u64>> {
    let (bases, _) = include_bytes!(concat!(env!("OUT_DIR"), "/bases.u24")).as_chunks::<3>();
    let mut bases = bases.iter().map(|&[a, b, c]| u32::from_le_bytes([a, b, c, 0]));
    // Base and code of any character lead to a slot, most of them empty.
    let slots = bases.clone().max()? as usize + packed.characters.len();
    let mut nodes = vec![u64::from(EMPTY); slots];
    // The slot and the base of each prefix of the one before; a base of 0 is not read yet.
    let mut path = vec![(None, bases.next()?)];
    let mut missing = false;
    packed.for_each_prefix(|prefix| {
        path.truncate(prefix.depth + 1);
        let Some((parent, base)) = path.last_mut() else { return missing = true };
        if *base == 0 {
            let Some(next) = bases.next() else { return missing = true };
            *base = next;
            if let Some(parent) = *parent {
                nodes[parent] |= Node::base_bits(next);
            }
        }
        let slot = *base as usize + usize::from(prefix.code);
        nodes[slot] = Node::bits(prefix.code, prefix.frequency, prefix.idf);
        path.push((Some(slot), 0));
    })?;
    (!missing && bases.next().is_none()).then_some(nodes)
}
