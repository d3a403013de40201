//! `MinHash`: a set of features to a short signature whose equal positions estimate the Jaccard similarity of two sets.
//!
//! Under a random order of all features, the first feature of `A ∪ B` lies in both sets with probability
//! `J = |A ∩ B| / |A ∪ B|`, and exactly then the first features of A and of B are the same (Broder, "On the resemblance
//! and containment of documents", 1997). A signature keeps the hash of the first feature under `hashes` orders; the share
//! of equal positions is an unbiased estimate of J. The [`Scheme`]s differ in where the orders come from:
//!
//! | scheme | work for n features | signature | in bands |
//! |---|---|---|---|
//! | `fast`: a bucket per feature, `permute` where no feature came | `n` to `n * hashes` | `hashes` values | yes |
//! | `permute`: a hash function per position | `n * hashes` | `hashes` values | yes |
//! | `one`: one hash, its range cut into bins | `n + hashes` | `hashes` values | yes |
//! | `bottom`: the smallest values of one hash | `n` | at most `hashes` values, ascending | no: positions shift |
//!
//! Every feature is mixed with the seed first, so callers may pass hashes of any quality, or plain numbers. The values are
//! integers and minima have no order of evaluation: every instruction set, thread and platform gives the same signature,
//! and golden vectors hold them from release to release. The empty set has the empty signature, which resembles nothing.

mod bands;
mod bottom;
mod estimate;
mod fast;
mod one;
mod permute;
#[cfg(test)]
mod tests;
mod value;

use crate::simd::Level;
use simhash_text::OptionsError;
use std::fmt;
use std::sync::Arc;

pub use bands::{band_key, band_keys};
pub use estimate::Estimate;
pub use value::Value;
use value::mix;

/// Most positions of a signature. Densification draws up to `hashes`² numbers for a set of two features: at 1024 a
/// millisecond. The standard error is then below 1.6 %.
pub const MAX_HASHES: usize = 1024;

/// Where the orders of the features come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// One place for each feature, and a hash function for each position that none came to: the least work for sets of any
    /// size, the estimate with the textbook error at most.
    #[default]
    FastSimilarity,
    /// A hash function for each position: the estimate with the textbook error, for sets of any size.
    Permutations,
    /// One hash function, its range cut into bins; empty bins borrow from others: a larger error for sets with fewer features
    /// than positions.
    OnePermutation,
    /// The smallest values of one hash function: little work, and exact for sets smaller than the signature; cannot be cut
    /// into bands.
    BottomK,
}

impl Scheme {
    /// Every scheme.
    pub const ALL: [Self; 4] =
        [Self::FastSimilarity, Self::Permutations, Self::OnePermutation, Self::BottomK];

    /// The name in options and recipes.
    pub fn name(self) -> &'static str {
        match self {
            Self::FastSimilarity => "fast-similarity",
            Self::Permutations => "permutations",
            Self::OnePermutation => "one-permutation",
            Self::BottomK => "bottom-k",
        }
    }

    /// The scheme of a name.
    ///
    /// # Errors
    /// [`OptionsError::Invalid`].
    pub fn named(name: &str) -> Result<Self, OptionsError> {
        Self::ALL.into_iter().find(|scheme| scheme.name() == name).ok_or_else(|| {
            OptionsError::Invalid {
                argument: "scheme",
                value: name.to_owned(),
                expected: "fast-similarity, permutations, one-permutation or bottom-k".to_owned(),
            }
        })
    }
}

/// Options of [`MinHasher::new`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinHashOptions {
    /// Default [`Scheme::Permutations`].
    pub scheme: Scheme,
    /// Positions of a signature, 1 to [`MAX_HASHES`]. Default 128: a standard error of 3.5 % at similarity 0.8.
    pub hashes: usize,
    /// Chooses the hash functions; signatures of different seeds cannot be compared. Default 0. One that others cannot
    /// know keeps them from crafting texts that collide.
    pub seed: u64,
}

impl Default for MinHashOptions {
    fn default() -> Self {
        Self { scheme: Scheme::default(), hashes: 128, seed: 0 }
    }
}

/// Sets of features to signatures. Cheap to clone, shared by threads.
#[derive(Clone, Debug)]
pub struct MinHasher {
    options: MinHashOptions,
    level: Level,
    /// The seed, mixed, and with it every feature.
    salt: u64,
    /// Of each position, then padding; 32-bit signatures use the upper halves.
    multipliers: Arc<(Vec<u32>, Vec<u64>)>,
}

impl MinHasher {
    /// A hasher for these options.
    ///
    /// # Errors
    /// [`OptionsError::OutOfRange`] for `hashes` of 0 or above [`MAX_HASHES`].
    pub fn new(options: &MinHashOptions) -> Result<Self, OptionsError> {
        Self::at(options, Level::current())
    }

    /// A hasher whose kernels use `level`, or [`Level::Scalar`] if this machine cannot run it.
    ///
    /// # Errors
    /// As [`MinHasher::new`].
    pub fn at(options: &MinHashOptions, level: Level) -> Result<Self, OptionsError> {
        if !(1..=MAX_HASHES).contains(&options.hashes) {
            return Err(OptionsError::OutOfRange {
                argument: "hashes",
                value: options.hashes.to_string(),
                expected: format!("from 1 to {MAX_HASHES}"),
            });
        }
        let salt = mix(options.seed ^ value::GOLDEN);
        let wide = permute::multipliers(salt, options.hashes);
        let narrow = wide.iter().map(|&multiplier| multiplier as u32).collect();
        Ok(Self {
            options: options.clone(),
            level: if level.is_available() { level } else { Level::Scalar },
            salt,
            multipliers: Arc::new((narrow, wide)),
        })
    }

    /// The options.
    pub fn options(&self) -> &MinHashOptions {
        &self.options
    }

    /// Replaces `out` with the signature of a set of feature hashes, in any order; repeated ones change nothing. Values are
    /// 32 or 64 bits, as `out` says: `hashes` of them, or for [`Scheme::BottomK`] at most so many, ascending. The empty set has
    /// the empty signature.
    ///
    /// 32 bits are enough for sets of a million features (two different ones meet in a position with probability below
    /// n / 2^32). No allocation once `out` has grown.
    pub fn signature<V: Value>(&self, features: &[u64], out: &mut Vec<V>) {
        out.clear();
        if features.is_empty() {
            return;
        }
        match self.options.scheme {
            Scheme::FastSimilarity => {
                out.resize(self.options.hashes, V::MAX);
                let multipliers = V::multipliers(&self.multipliers);
                fast::minima(self.level, features, self.salt, multipliers, out);
            }
            Scheme::Permutations => {
                let multipliers = V::multipliers(&self.multipliers);
                out.resize(multipliers.len(), V::MAX);
                permute::minima(self.level, features, self.salt, multipliers, out);
                out.truncate(self.options.hashes);
            }
            Scheme::OnePermutation => {
                out.resize(self.options.hashes, V::MAX);
                one::minima(features, self.salt, out);
                one::densify(self.salt, out);
            }
            Scheme::BottomK => bottom::smallest(features, self.salt, self.options.hashes, out),
        }
    }

    /// The Jaccard similarity of the sets of two signatures of this hasher, estimated.
    ///
    /// An empty signature resembles nothing: similarity 0, without error. Positions that only one of the two has (it is
    /// not this hasher's, then) count as different.
    pub fn estimate<V: Value>(&self, a: &[V], b: &[V]) -> Estimate {
        if a.is_empty() || b.is_empty() {
            return Estimate { similarity: 0.0, standard_error: 0.0 };
        }
        match self.options.scheme {
            Scheme::FastSimilarity | Scheme::Permutations => {
                estimate::positions(a, b, self.options.hashes)
            }
            Scheme::OnePermutation => estimate::borrowed(a, b, self.options.hashes),
            Scheme::BottomK => estimate::smallest(a, b, self.options.hashes),
        }
    }
}

/// The recipe: the options in words. Signatures of equal recipes can be compared.
impl fmt::Display for MinHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MinHashOptions { scheme, hashes, seed } = &self.options;
        write!(f, "minhash {}, hashes {hashes}, seed {seed}", scheme.name())
    }
}
