//! The oracle: every rule of the band index in its plainest form, and signatures to try it on.

#![allow(unreachable_pub)]

use simhash_index::bands::{BandItem, BandMatch, BandMatches, BandOptions, BandPlan};

/// A stream of well-mixed numbers (`SplitMix64`).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A signature near the one of this family: each position is its own with a chance of `noise` in 100.
    pub fn signature(&mut self, family: u64, noise: u64, hashes: usize) -> BandItem {
        self.positions(family, noise, hashes).into()
    }

    pub fn positions(&mut self, family: u64, noise: u64, hashes: usize) -> Vec<u32> {
        (0..hashes as u64)
            .map(|at| {
                let own = self.below(100) < noise;
                if own { self.next() as u32 } else { Random(family << 16 | at).next() as u32 }
            })
            .collect()
    }
}

pub fn options(bands: usize, rows: usize) -> BandOptions {
    BandOptions::new(BandPlan::new(bands, rows).unwrap())
}

/// Every signature ever added, and whether it is alive.
pub struct Model {
    pub options: BandOptions,
    pub documents: Vec<(Vec<u32>, bool)>,
}

impl Model {
    pub fn new(options: BandOptions) -> Self {
        Self { options, documents: Vec::new() }
    }

    pub fn add(&mut self, signature: &[u32]) -> u64 {
        self.documents.push((signature.to_vec(), true));
        self.documents.len() as u64 - 1
    }

    pub fn delete(&mut self, id: u64) -> bool {
        let entry = self.documents.get_mut(id as usize);
        entry.is_some_and(|entry| std::mem::replace(&mut entry.1, false))
    }

    pub fn live(&self) -> u64 {
        self.documents.iter().filter(|(_, alive)| *alive).count() as u64
    }

    pub fn search(&self, signature: &[u32], threshold: Option<f64>, limit: usize) -> BandMatches {
        let BandPlan { bands, rows } = self.options.plan;
        let mut matches = Vec::new();
        for (id, (other, _)) in (0..).zip(&self.documents).filter(|(_, (_, alive))| *alive) {
            let shared = |band: &usize| {
                let here = band * rows..(band + 1) * rows;
                signature.get(here.clone()).is_some_and(|own| other.get(here) == Some(own))
            };
            let shared = (0..bands).filter(shared).count() as u32;
            let similarity = self.options.signatures.map(|kept| {
                let equal = signature.iter().zip(other).filter(|(a, b)| a == b).count();
                equal as f64 / kept.hashes as f64
            });
            let least = threshold.or(self.options.signatures.map(|kept| kept.threshold));
            let similar = similarity.is_none_or(|similarity| similarity >= least.unwrap());
            if shared > 0 && similar {
                matches.push(BandMatch { id, bands: shared, similarity });
            }
        }
        matches.sort_by(|a, b| match (a.similarity, b.similarity) {
            (Some(x), Some(y)) => y.total_cmp(&x).then(a.id.cmp(&b.id)),
            _ => b.bands.cmp(&a.bands).then(a.id.cmp(&b.id)),
        });
        let truncated = matches.len() > limit;
        matches.truncate(limit);
        BandMatches { matches, truncated }
    }
}
