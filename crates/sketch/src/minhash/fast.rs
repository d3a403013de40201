//! Fast similarity sketching: one place for each feature, and every order only where no feature came.
//!
//! Positions are in tiles of [`TILE`]. In each tile a feature has a bucket and a rank: the position of that number keeps the
//! least rank of the features of its bucket. A position without one keeps its least value by k permutations
//! ([`permute`]), halved and above all ranks. So a position is the least of one value per feature, and a feature's
//! values do not depend on others: the estimate is unbiased, signatures of a union are the lesser values, and positions stay
//! aligned. Buckets share the features out among the positions of a tile, which is a sample without replacement: the
//! variance is at most that of independent positions. A set that fills a tile, of about 600 features or more, costs one hash for
//! each feature and tile, a small one as much as by permutations (after Dahlgaard, Knudsen, Thorup, "Fast similarity
//! sketching", FOCS 2017, which has further rounds of buckets instead).
//!
//! A longer signature begins with the shorter one: a tile has all its buckets, also those beyond the last position.

use super::permute::{self, LANES};
use super::value::{Value, mix};
use crate::simd::Level;

/// Positions that share the features out among them. A power of two: a bucket is bits of a hash.
const TILE: usize = 128;

/// Features mixed at a time; those of short texts are mixed once.
const BLOCK: usize = 256;

/// Replaces the values of a signature's positions; all are [`Value::MAX`] before.
pub(super) fn minima<V: Value>(
    level: Level,
    features: &[u64],
    salt: u64,
    multipliers: &[V],
    minima: &mut [V],
) {
    for (tile, (minima, multipliers)) in
        minima.chunks_mut(TILE).zip(multipliers.chunks(TILE)).enumerate()
    {
        Tile { level, features, salt: mix(salt.wrapping_add(tile as u64)), mixed: [0; BLOCK] }
            .minima(multipliers, minima);
    }
}

/// One tile of a signature.
struct Tile<'a> {
    level: Level,
    features: &'a [u64],
    salt: u64,
    /// The block of features that was mixed last.
    mixed: [u64; BLOCK],
}

impl Tile<'_> {
    fn minima<V: Value>(mut self, multipliers: &[V], minima: &mut [V]) {
        let mut least = [V::MAX; TILE];
        for block in self.features.chunks(BLOCK) {
            permute::mix_all(self.level, block, self.salt, &mut self.mixed);
            for &mixed in &self.mixed[..block.len()] {
                let (low, high) = V::halves(mixed);
                let least = &mut least[low.bucket() % TILE];
                *least = high.rank().min(*least);
            }
        }
        minima.copy_from_slice(&least[..minima.len()]);
        let empty = minima.iter().filter(|&&value| value == V::MAX).count();
        if 2 * empty > minima.len() {
            // Most of them: all are computed, with no list of those that count.
            let mut late = [V::MAX; TILE];
            let late = &mut late[..multipliers.len()];
            self.lower(multipliers, late);
            for (minimum, &late) in minima.iter_mut().zip(&*late) {
                *minimum = if *minimum == V::MAX { late.late() } else { *minimum };
            }
        } else if empty > 0 {
            let (mut own, mut late) = ([V::default(); TILE], [V::MAX; TILE]);
            let of_empty = minima.iter().zip(multipliers).filter(|&(&value, _)| value == V::MAX);
            for (own, (_, &multiplier)) in own.iter_mut().zip(of_empty) {
                *own = multiplier;
            }
            let lanes = if empty < LANES { empty } else { empty.next_multiple_of(LANES) };
            self.lower(&own[..lanes], &mut late[..lanes]);
            let empty = minima.iter_mut().filter(|value| **value == V::MAX);
            for (minimum, late) in empty.zip(late) {
                *minimum = late.late();
            }
        }
    }

    /// Lowers `minima` by k permutations of all features.
    fn lower<V: Value>(&mut self, multipliers: &[V], minima: &mut [V]) {
        let (mut low, mut high) = ([V::default(); BLOCK], [V::default(); BLOCK]);
        for block in self.features.chunks(BLOCK) {
            if self.features.len() > BLOCK {
                permute::mix_all(self.level, block, self.salt, &mut self.mixed);
            }
            for ((&mixed, low), high) in self.mixed.iter().zip(&mut low).zip(&mut high) {
                (*low, *high) = V::halves(mixed);
            }
            V::lower(self.level, &low[..block.len()], &high[..block.len()], multipliers, minima);
        }
    }
}
