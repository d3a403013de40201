//! Which instruction set the kernels use: decided once per process, at run time.
//!
//! The best level that the machine has, unless the environment variable `SIMHASH_SIMD` names another (`scalar`, `avx2`,
//! `avx512`, `neon`): then that one, or `scalar` if this machine cannot run it or the name is unknown, which whoever shows
//! people what is in use should say. An empty value is none. Results do not depend on the level; the variable exists for tests and
//! for measuring.

use std::sync::OnceLock;

/// A set of instructions that a kernel may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// Nothing beyond the target's baseline, but for POPCNT where the machine has it ([`hamming`](crate::hamming)).
    Scalar,
    /// x86-64 with AVX2.
    Avx2,
    /// x86-64 with AVX-512 F, BW, DQ and VL (Skylake-X, Zen 4 and later).
    Avx512,
    /// 64-bit Arm, where NEON is part of the baseline; only in a build with the cargo feature `neon`, which no release has until the
    /// workflow that builds for Arm has tested these kernels on such a processor. Without it [`Scalar`](Self::Scalar) is used there.
    Neon,
}

impl Level {
    /// Every level, the preferred ones last.
    pub const ALL: [Self; 4] = [Self::Scalar, Self::Neon, Self::Avx2, Self::Avx512];

    /// The level used by every dispatching function of this crate.
    pub fn current() -> Self {
        static CURRENT: OnceLock<Level> = OnceLock::new();
        *CURRENT.get_or_init(|| Self::choose(std::env::var("SIMHASH_SIMD").ok().as_deref()))
    }

    /// The level for a value of `SIMHASH_SIMD`.
    fn choose(forced: Option<&str>) -> Self {
        let best = || Self::available().next_back().unwrap_or(Self::Scalar);
        forced.filter(|name| !name.is_empty()).map_or_else(best, |name| {
            Self::available().find(|level| level.name() == name).unwrap_or(Self::Scalar)
        })
    }

    /// The levels that this machine can run, the preferred ones last.
    pub fn available() -> impl DoubleEndedIterator<Item = Self> {
        Self::ALL.into_iter().filter(|level| level.is_available())
    }

    /// Whether this machine can run kernels of this level.
    pub fn is_available(self) -> bool {
        match self {
            Self::Scalar => true,
            Self::Neon => cfg!(all(target_arch = "aarch64", feature = "neon")),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }

    /// The name that `SIMHASH_SIMD` takes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Neon => "neon",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Level;

    #[test]
    fn a_forced_level_is_used_if_the_machine_has_it() {
        for level in Level::available() {
            assert_eq!(Level::choose(Some(level.name())), level);
        }
        assert_eq!(Level::choose(Some("mmx")), Level::Scalar);
        assert_eq!(Level::choose(Some("")), Level::choose(None));
        assert!(Level::choose(None).is_available());
    }
}
