//! Fingerprints to fill an index with: uniform ones, and ones with the skew of real short texts.

use crate::corpus::Corpus;
use crate::report::Random;
use simhash_sketch::{Fingerprinter, FingerprinterOptions, Scratch};

/// `count` random fingerprints.
pub(crate) fn uniform(count: usize, random: &mut Random) -> Vec<u64> {
    (0..count).map(|_| random.next()).collect()
}

/// `count` fingerprints with the bias of Chinese titles, and a name for them.
///
/// The distinct fingerprints of the hot-search titles, and beyond their number mixtures: each bit from one of two
/// titles whose own fingerprints are near in order, so that both the bias of single bits and much of their correlation
/// stay. Mixtures are no documents; they only load the tables as more documents of the kind would.
pub(crate) fn skewed(count: usize, random: &mut Random) -> Result<(Vec<u64>, String), String> {
    let corpus = Corpus::load("zh-hotsearch-titles")?;
    let fingerprinter =
        Fingerprinter::new(&FingerprinterOptions::default()).map_err(|error| error.to_string())?;
    let mut scratch = Scratch::default();
    let mut real: Vec<u64> = corpus
        .texts
        .iter()
        .filter_map(|text| fingerprinter.sketch(text, &mut scratch).fingerprint)
        .collect();
    real.sort_unstable();
    real.dedup();
    let mut values: Vec<u64> = real.iter().copied().take(count).collect();
    while values.len() < count {
        let at = (random.next() % real.len() as u64) as usize;
        let other = (at + 1 + (random.next() % 64) as usize) % real.len();
        let from = random.next() & random.next();
        values.push((real[at] & !from) | (real[other] & from));
    }
    Ok((
        values,
        format!("{} real fingerprints of {}, mixtures beyond", real.len().min(count), corpus.name),
    ))
}

/// `value` with exactly `flips` bits turned.
pub(crate) fn near(value: u64, flips: u32, random: &mut Random) -> u64 {
    let mut mask = 0u64;
    while mask.count_ones() < flips {
        mask |= 1 << (random.next() % 64);
    }
    value ^ mask
}
