//! The hash of a sentence.

use crate::feature;
use md5::{Digest, Md5};

/// How a sentence becomes 64 bits, from its UTF-8 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SentenceHash {
    /// XXH3-64 with seed 0, as for features.
    #[default]
    Xxh3,
    /// The first 64 bits of MD5, the first byte the highest: the first 16 digits of its usual form. For sets of hashes
    /// that other implementations of the method have made; nothing here needs its cryptographic claims.
    Md5,
}

impl SentenceHash {
    /// The hash of a sentence that is normalised already.
    pub fn of(self, sentence: &str) -> u64 {
        match self {
            Self::Xxh3 => feature::hash(sentence.as_bytes()),
            Self::Md5 => {
                let digest = Md5::digest(sentence.as_bytes());
                digest.iter().take(8).fold(0, |hash, &byte| hash << 8 | u64::from(byte))
            }
        }
    }

    /// Its name in options and recipes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Xxh3 => "xxh3",
            Self::Md5 => "md5",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from other implementations: xxHash 0.8 by its Python binding, md5sum of coreutils.
    #[test]
    fn the_hashes_are_frozen() {
        let golden = include_str!("../../tests/golden/sentence_hash.tsv");
        let mut lines = 0;
        for line in golden.lines() {
            let [sentence, xxh3, md5] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            assert_eq!(format!("{:016x}", SentenceHash::Xxh3.of(sentence)), xxh3, "{sentence}");
            assert_eq!(format!("{:016x}", SentenceHash::Md5.of(sentence)), md5, "{sentence}");
            lines += 1;
        }
        assert!(lines >= 8);
    }
}
